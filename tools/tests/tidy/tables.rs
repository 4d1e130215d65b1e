//! The exceptions to the rules. An entry is a path from the root and a short reason.

/// A path and the reason for its entry.
pub(crate) type Exception = (&'static str, &'static str);

/// Files with unsafe code.
pub(crate) const UNSAFE: &[Exception] = &[
    ("runtime/mem/src/system.rs", "allocates and frees aligned blocks"),
    ("runtime/mem/src/arena.rs", "parts of one block, each given out once at a time"),
    ("runtime/mem/src/buffer.rs", "counted buffers and views into their bytes"),
    ("runtime/host/src/object.rs", "counted objects behind one thin pointer"),
    ("runtime/host/src/async_value.rs", "the shared cell and its list of waiters"),
    ("runtime/host/src/async_value/waiters.rs", "closures in nodes that link themselves"),
    ("runtime/host/src/async_value/tests.rs", "loom's cell in a model hands out pointers"),
    ("runtime/host/src/pool.rs", "places for small objects, by size"),
    ("runtime/host/src/kernel/job.rs", "closures that lie in the job"),
    ("runtime/host/src/queue/task.rs", "closures that lie in the task"),
    ("runtime/host/src/parallel.rs", "helpers borrow what their caller owns"),
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
    ("runtime/host/src/kernel/frame.rs", "registers as a kernel sees them, found by the numbers in its step"),
    ("runtime/host/src/value/words.rs", "copies values word by word"),
    ("runtime/host/src/mapping.rs", "maps a file that must not change"),
    ("runtime/host/src/program/open.rs", "passes the contract of mapping a file on to the caller"),
    ("runtime/befrost/src/runtime.rs", "passes the contract of mapping a file on to the caller"),
    ("tools/src/bin/bef-exec.rs", "maps the file that the user names, promising that it does not change"),
    ("bef-format/tests/memory.rs", "an allocator that counts"),
    ("compiler/tests/memory.rs", "an allocator that counts"),
    ("tools/tests/bef/large.rs", "maps files that only the test changes"),
    ("runtime/tensor/src/gemm.rs", "calls the matrix product, which takes pointers"),
    (
        "runtime/tensor/src/simd/mod.rs",
        "calls functions for the instructions that the machine was found to have",
    ),
    ("runtime/tensor/src/simd/planes.rs", "loops over registers"),
    ("runtime/tensor/src/simd/tile.rs", "loads and stores of vector registers take pointers"),
    ("runtime/tensor/src/simd/vector.rs", "a register as a type"),
    ("runtime/tensor/src/simd/window.rs", "loops over registers"),
    ("runtime/tensor/src/simd/winograd.rs", "loops over registers"),
];

/// Folders whose files hold no locks: AsyncValue, registers, dispatch.
pub(crate) const LOCK_FREE: &[&str] = &["runtime/host/src/"];

/// Files below [`LOCK_FREE`] that may hold locks: none of them is on the way of a value or a ready kernel.
pub(crate) const LOCKS: &[Exception] = &[
    ("runtime/host/src/kernel/calling.rs", "a function called once that another one has to wait for"),
    ("runtime/host/src/sync.rs", "names the lock for those below"),
    (
        "runtime/host/src/resources.rs",
        "named resources, looked up by the few kernels that ask for one by name",
    ),
    ("runtime/host/src/live.rs", "a thread that starts to count, or meets a new type"),
    ("runtime/host/src/cancellation.rs", "futures that wait, woken by a cancellation"),
    ("runtime/host/src/queue/parking.rs", "a future between two polls"),
    ("runtime/host/src/queue/sleepers.rs", "a worker that falls asleep or is woken"),
    ("runtime/host/src/parallel.rs", "a block that failed"),
    ("runtime/host/src/queue/timers.rs", "a timer that is set or dropped"),
];

/// Files of more than 800 lines.
pub(crate) const LONG: &[Exception] = &[];

/// Crates with a circle of more than six files: its size today.
pub(crate) const KNOTS: &[super::circles::Knot] = &[];

/// Permitted faults of comments: folder, lines that are too wide, headings that begin with "What". A number
/// may only fall.
pub(crate) const COMMENTS: &[super::language::Comments] = &[
    ("compiler/src/graph", 19, 35),
    ("compiler/src/pass", 1, 21),
    ("runtime/befrost", 3, 1),
    ("runtime/host", 15, 42),
    ("runtime/kernels", 3, 16),
    ("runtime/mem", 1, 0),
    ("runtime/tensor", 1, 0),
    ("tools", 4, 6),
];

/// Permitted duplicates of type names, by crate. A list may only become shorter.
pub(crate) const DUPLICATES: &[super::language::Duplicates] = &[
    ("compiler", &["Known", "Layout", "Loop", "Order"]),
    ("runtime/host", &["Chain", "Failure", "Header", "Request", "Types", "WithClosure"]),
    ("runtime/kernels", &["Handle"]),
    (
        "runtime/tensor",
        &[
            "Axis", "Band", "Blocks", "Columns", "Cx", "Epilogue", "Float", "Geometry", "Integer", "Layout",
            "Plain", "Space", "Step", "Sums", "Turn", "Windows",
        ],
    ),
    (
        "tools",
        &[
            "Args",
            "Command",
            "Definition",
            "Event",
            "Failure",
            "Format",
            "Named",
            "Parser",
            "Part",
            "Place",
            "Program",
            "Reader",
            "Report",
            "Stream",
            "Value",
        ],
    ),
];
