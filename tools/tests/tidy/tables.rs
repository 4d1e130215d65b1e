//! The exceptions to the rules.

/// A path from the root and the reason for its entry.
pub(crate) type Exception = (&'static str, &'static str);

/// Files with unsafe code.
pub(crate) const UNSAFE: &[Exception] = &[
    ("runtime/mem/src/system.rs", "allocates and frees aligned blocks"),
    ("runtime/mem/src/arena.rs", "parts of one block, each given out once at a time"),
    ("runtime/mem/src/buffer.rs", "counted buffers and views into their bytes"),
    ("runtime/mem/src/buffer/lease.rs", "memory of callers, until a lease ends"),
    ("runtime/kernel-api/src/object.rs", "counted objects behind one thin pointer"),
    ("runtime/kernel-api/src/async_value.rs", "the shared cell and its list of waiters"),
    ("runtime/kernel-api/src/async_value/waiters.rs", "closures in nodes that link themselves"),
    ("runtime/kernel-api/src/async_value/tests.rs", "loom's cell in a model hands out pointers"),
    ("runtime/kernel-api/src/pool.rs", "places for small objects, by size"),
    ("runtime/kernel-api/src/kernel/job.rs", "closures that lie in the job"),
    ("runtime/kernel-api/src/queue/task.rs", "closures that lie in the task"),
    ("runtime/kernel-api/src/parallel.rs", "helpers borrow what their caller owns"),
    ("runtime/c/src/ffi/mod.rs", "pointers and handles from C"),
    ("runtime/c/src/ffi/attrs.rs", "functions for C"),
    ("runtime/c/src/ffi/eager.rs", "functions for C"),
    ("runtime/c/src/ffi/library.rs", "functions for C; loads kernel libraries"),
    ("runtime/c/src/ffi/model.rs", "functions for C"),
    ("runtime/c/src/ffi/ports.rs", "functions for C"),
    ("runtime/c/src/ffi/program.rs", "functions for C"),
    ("runtime/c/src/ffi/run.rs", "functions for C"),
    ("runtime/c/src/ffi/runtime.rs", "functions for C; loads kernel libraries"),
    ("runtime/c/src/ffi/session.rs", "functions for C"),
    ("runtime/c/src/ffi/tensor.rs", "pointers from C"),
    ("runtime/c/src/ffi/variables.rs", "functions for C"),
    ("runtime/python/src/array.rs", "memory of NumPy's arrays"),
    ("runtime/python/src/dlpack.rs", "capsules with structures of other libraries"),
    ("runtime/python/src/interrupt.rs", "handles a signal"),
    ("runtime/python/src/libraries.rs", "loads kernel libraries"),
    ("runtime/python/src/tensor.rs", "fills in views of the buffer protocol"),
    ("runtime/host/src/exec/frame.rs", "registers that the ready counters give to one kernel at a time"),
    (
        "runtime/host/src/exec/frame/overlap.rs",
        "a cell that a semaphore hands from the thread that waits for a permit to the one that returns it",
    ),
    (
        "runtime/host/src/exec/frame/token.rs",
        "refers to frames that the count of unfinished items keeps alive",
    ),
    (
        "runtime/host/src/exec/stack.rs",
        "registers of sequential executions, found by the numbers in their plan",
    ),
    (
        "runtime/kernel-api/src/kernel/frame.rs",
        "registers as a kernel sees them, found by the numbers in its step",
    ),
    ("runtime/kernel-api/src/kernel/frame/control.rs", "registers that the executor gives to kernels"),
    ("runtime/kernel-api/src/image.rs", "an image that refers to the bytes beside it"),
    ("runtime/kernel-api/src/value/words.rs", "copies values word by word"),
    ("runtime/host/src/mapping.rs", "maps a file that must not change"),
    ("runtime/host/src/program/open.rs", "passes the contract of mapping a file on to the caller"),
    ("runtime/befrost/src/access.rs", "passes the contract of mapping a file on to the caller"),
    ("runtime/befrost/src/session/builder.rs", "passes the contracts of mapping and of loading code on"),
    ("runtime/befrost/src/dlpack.rs", "structures that other libraries read and write"),
    ("runtime/befrost/src/runtime.rs", "passes the contract of mapping a file on to the caller"),
    ("runtime/befrost/src/library.rs", "loads kernel libraries and calls them"),
    ("runtime/befrost/src/library/guest.rs", "pointers from the host of a kernel library"),
    ("runtime/befrost/src/library/abi.rs", "pointers from kernel libraries"),
    ("tools/src/bin/ir-translate.rs", "maps models"),
    ("tools/src/bin/bef-exec.rs", "maps the file that the user names, promising that it does not change"),
    ("tools/src/bin/parts/interrupts.rs", "handles a signal"),
    ("tools/src/bin/parts/libraries.rs", "loads the kernel libraries that the user names"),
    ("bef-format/tests/memory.rs", "an allocator that counts"),
    ("runtime/befrost/tests/steady.rs", "an allocator that counts"),
    ("compiler/tests/memory.rs", "an allocator that counts"),
    ("tools/tests/bef/large.rs", "maps files that only the test changes"),
    ("testdata/library/sample.rs", "a kernel library, which talks C"),
    ("runtime/befrost/tests/library.rs", "loads the example of a library, and maps models"),
    ("tools/tests/libraries.rs", "loads the libraries that it has compiled"),
    ("tools/tests/limits/allocator.rs", "an allocator that refuses requests"),
    ("runtime/tensor/src/gemm.rs", "calls the matrix product, which takes pointers"),
    ("runtime/tensor/src/interrupt.rs", "the flag of a thread, borrowed by a call"),
    (
        "runtime/tensor/src/simd/mod.rs",
        "calls functions for the instructions that the machine was found to have",
    ),
    ("runtime/tensor/src/simd/bytes.rs", "loads and stores of vector registers take pointers"),
    ("runtime/tensor/src/simd/halves.rs", "loads and stores of vector registers take pointers"),
    ("runtime/tensor/src/simd/matrix_unit.rs", "instructions without intrinsics, and a system call for them"),
    ("runtime/tensor/src/simd/correlate.rs", "loops over registers"),
    ("runtime/tensor/src/simd/planes.rs", "loops over registers"),
    ("runtime/tensor/src/simd/short.rs", "loops over registers"),
    ("runtime/tensor/src/simd/transpose.rs", "loops over registers"),
    ("runtime/tensor/src/simd/tile.rs", "loads and stores of vector registers take pointers"),
    ("runtime/tensor/src/simd/vector.rs", "a register as a type"),
    ("runtime/tensor/src/simd/window.rs", "loops over registers"),
    ("runtime/tensor/src/simd/winograd.rs", "loops over registers"),
];

/// Folders whose files hold no locks: AsyncValue, registers, dispatch.
pub(crate) const LOCK_FREE: &[&str] = &["runtime/host/src/", "runtime/kernel-api/src/"];

/// Files below [`LOCK_FREE`] that may hold locks: no value and no ready kernel passes through them.
pub(crate) const LOCKS: &[Exception] = &[
    ("runtime/kernel-api/src/kernel/calling.rs", "a function called once that another one has to wait for"),
    ("runtime/kernel-api/src/kernel/table.rs", "copies of constants, for launches on devices with streams"),
    ("runtime/kernel-api/src/sync.rs", "names the lock for those below"),
    ("runtime/kernel-api/src/executor.rs", "names the lock for those of the executor"),
    (
        "runtime/kernel-api/src/resources.rs",
        "named resources, looked up by the few kernels that ask for one by name",
    ),
    ("runtime/kernel-api/src/live.rs", "a thread that starts to count, or meets a new type"),
    ("runtime/kernel-api/src/cancellation.rs", "futures that wait, woken by a cancellation"),
    ("runtime/kernel-api/src/queue/parking.rs", "a future between two polls"),
    ("runtime/host/src/queue/sleepers.rs", "a worker that falls asleep or is woken"),
    ("runtime/kernel-api/src/parallel.rs", "a block that failed"),
    ("runtime/kernel-api/src/queue/timers.rs", "a timer that is set or dropped"),
    ("runtime/kernel-api/src/activity.rs", "the steps of an execution, asked when it can only wait"),
    ("runtime/kernel-api/src/rendezvous.rs", "a value that crosses between two parts of a program"),
];

/// Files of more than 800 lines.
pub(crate) const LONG: &[Exception] = &[];

/// Crates with a circle of too many files, and its size.
pub(crate) const KNOTS: &[super::circles::Knot] = &[];

/// Permitted faults of comments: folder, lines that are too wide, headings that begin with "What". A number
/// may only fall.
pub(crate) const COMMENTS: &[super::language::Comments] = &[];

/// Permitted duplicates of type names, by crate. A list may only become shorter.
pub(crate) const DUPLICATES: &[super::language::Duplicates] = &[];
