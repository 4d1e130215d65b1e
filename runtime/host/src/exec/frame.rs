//! Frames of the general plan: registers, ready counters, and access rights to them.
//!
//! Registers are plain memory, shared by all threads that work on the frame. Access is sound because of the
//! tokens (`token`):
//!
//! 1. `Ready(k)` is made when the last of the events counted by kernel k has happened. Counts are decremented
//!    with AcqRel, so the maker of the token sees the registers that those events published. There is one
//!    event per counted operand (validated), so there is one `Ready(k)`.
//! 2. Only `read_operands`, which consumes `Ready(k)`, reads registers for k: those of its counted operands
//!    (published, by rule 1), and those of its lenient operands, which hold an AsyncValue or an argument from
//!    the start and never change.
//! 3. Only `write_results`, which consumes `Running(k)`, writes the registers of k's results, before their
//!    users are notified. Each register is written by k alone (validated). Async registers, among them those
//!    of lenient operands (rule 2), are not written; their promise is set instead. Of a straight line, only
//!    the first kernel receives events: its `Running` stands for all kernels of the line, one after the
//!    other. Values used only inside the line are in no register.
//! 4. A register whose value is worth freeing counts its remaining reads. The reader that brings the count to
//!    zero is the last one and takes the value. A result that is never read is dropped instead of written.
//!
//! | field of `Frame` | written | read |
//! |---|---|---|
//! | `slots.registers` | rule 3, and by the last read (rule 4) | rules 2 and 4 |
//! | `slots.promises` | rule 3 (taken) | rule 3 |
//! | the counts in `slots` | atomically, with a token | atomically, with a token |
//! | `continuation` | before the first activation ends | at the frame's end |
//! | `unfinished` | atomically, with a token | atomically, with a token |
//! | all others | before the first token exists | with a token |
//!
//! A frame ends when all its kernels have completed. The calling kernel completes then, not earlier. The
//! memory of the registers and counters is reused for the thread's next frame.

#![allow(unsafe_code, reason = "registers shared between threads; the essay is the proof")]

mod overlap;
mod token;

use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::Arc;

use bef_format::OperandMode;

use super::execution::Execution;
use super::operands::Blocked;
use crate::program::{FunctionPlan, GeneralKernel, GeneralPlan, Operand, User};
use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::context::{FramePath, FrameStep};
use befrost_kernel_api::executor::sync::{AtomicU32, AtomicUsize, Ordering, UnsafeCell};
use befrost_kernel_api::executor::{KernelRef, MAX_TRACE};
use befrost_kernel_api::value::Value;

pub(super) use overlap::{InFlight, InFlightEnd, LoopHead};
use token::Caller;
pub(super) use token::{
    Completing, Continuation, Done, FrameEnd, NewFrame, PendingRegister, Ready, ResultsToken, Running,
    SequentialLoop, StraightRun,
};

/// One call of a function.
pub(super) struct Frame {
    /// Address of the frame, for tokens. The owner of the last token may free the frame, which a reference
    /// would not permit.
    me: NonNull<Frame>,
    pub(super) execution: Arc<Execution>,
    /// Plan of the function, owned by the execution's program.
    plan: NonNull<FunctionPlan>,
    /// General plan of the function, owned by `plan`.
    general: NonNull<GeneralPlan>,
    /// The kernel that called.
    caller: Option<Caller>,
    /// Written before the first activation ends, and taken at the frame's end.
    continuation: UnsafeCell<Continuation>,
    pub(super) depth: usize,
    slots: Slots,
    /// Number of unfinished items; see `token`.
    unfinished: AtomicUsize,
}

// SAFETY: `slots` and `continuation` are accessed by the rules of the module's essay. The plans are Sync and
// live as long as the execution's program. Everything else is Sync.
unsafe impl Sync for Frame {}
// SAFETY: all fields are Send, as are the targets of the pointers and the contents of the cells.
unsafe impl Send for Frame {}

/// State of a frame per register and per kernel.
#[derive(Default)]
struct Slots {
    registers: Vec<UnsafeCell<Value>>,
    /// Promises of the async registers, in the order of `GeneralPlan::async_registers`.
    promises: Vec<UnsafeCell<Option<Promise>>>,
    /// Per kernel: number of events that have not happened yet.
    ready_counts: Vec<AtomicU32>,
    /// Per register: number of remaining reads; 0 for a register that is not counted. Empty if no register is
    /// counted.
    read_counts: Vec<AtomicU32>,
    /// Per kernel that runs when its first operand is final: number of operands that are not final, and
    /// [`FIRED`]. Empty if there is no such kernel.
    any_counts: Vec<AtomicU32>,
}

/// Flag of a kernel that runs when its first operand is final: the kernel has been notified of that operand.
const FIRED: u32 = 1 << 31;
/// Limits of the memory that a thread keeps: number of registers and kernels, and number of `Slots`.
const MAX_CACHED: (usize, usize) = (1 << 15, 64);

/// Memory of frames that have ended, kept by a thread.
#[derive(Default)]
struct SlotsCache {
    slots: Vec<Slots>,
    /// Number of registers and kernels that `slots` have capacity for.
    n: usize,
}

thread_local! {
    static SLOTS_CACHE: RefCell<SlotsCache> = const { RefCell::new(SlotsCache { slots: Vec::new(), n: 0 }) };
}

impl Slots {
    fn size(&self) -> usize {
        self.registers.capacity() + self.ready_counts.capacity()
    }

    /// Empty slots, with kept memory if there is any.
    fn new() -> Slots {
        SLOTS_CACHE.with(|cache| {
            let mut cache = cache.borrow_mut();
            let slots = cache.slots.pop().unwrap_or_default();
            cache.n -= slots.size();
            slots
        })
    }

    /// Drops the values and keeps the memory for the next frame.
    fn recycle(mut self) {
        let Slots { registers, promises, ready_counts, read_counts, any_counts } = &mut self;
        // Destructors may run any code, even frames that use `SLOTS_CACHE`; so it is not borrowed here.
        registers.clear();
        promises.clear();
        ready_counts.clear();
        read_counts.clear();
        any_counts.clear();
        // A thread that is being destroyed keeps nothing.
        _ = SLOTS_CACHE.try_with(|cache| {
            let mut cache = cache.borrow_mut();
            let n = cache.n + self.size();
            if n <= MAX_CACHED.0 && cache.slots.len() < MAX_CACHED.1 {
                cache.n = n;
                cache.slots.push(std::mem::take(&mut self));
            }
        });
    }
}

/// Lists for kernels that become ready: `inline` for those of the thread's current stream, `outline` for
/// those of other streams, which other threads may take.
pub(super) struct Sink<'w> {
    pub(super) stream: u32,
    pub(super) inline: &'w mut Vec<Ready>,
    pub(super) outline: &'w mut Vec<Ready>,
}

impl Sink<'_> {
    #[inline]
    fn push(&mut self, ready: Ready) {
        let list = if ready.stream() == self.stream { &mut *self.inline } else { &mut *self.outline };
        list.push(ready);
    }
}

impl Frame {
    /// Makes a frame. Its arguments may be in any state.
    pub(super) fn start(
        execution: Arc<Execution>,
        function: u32,
        arguments: impl Iterator<Item = Value>,
        caller: Option<Caller>,
        continuation: Continuation,
    ) -> NewFrame {
        let plan = execution.program.plan(function);
        let general = plan.general(execution.program.image(), execution.is_seeded);
        let mut slots = Slots::new();
        let Slots { registers, promises, ready_counts, read_counts, any_counts } = &mut slots;
        registers.reserve(plan.n_registers as usize);
        registers.extend(arguments.take(plan.n_args as usize).map(UnsafeCell::new));
        registers.resize_with(plan.n_registers as usize, || UnsafeCell::new(Value::Empty));
        for &register in &general.unread_arguments {
            registers[register as usize] = UnsafeCell::new(Value::Empty);
        }
        for &register in &general.async_registers {
            let (promise, value) = AsyncRef::pending();
            registers[register as usize] = UnsafeCell::new(Value::Async(value));
            promises.push(UnsafeCell::new(Some(promise)));
        }
        ready_counts.extend(general.ready_counts.iter().map(|&count| AtomicU32::new(count)));
        if general.counts_reads {
            read_counts.extend(general.reads.iter().map(|&count| AtomicU32::new(count)));
        }
        if general.has_any {
            any_counts.extend(general.n_any.iter().map(|&n| AtomicU32::new(n)));
        }
        // One more for the first activation.
        let unfinished = AtomicUsize::new(general.ready_counts.len() + 1);
        let (plan, general) = (NonNull::from(plan), NonNull::from(general));
        let depth = caller.as_ref().map_or(0, |caller| caller.depth);
        let is_iterating = matches!(continuation, Continuation::NextIteration(_));
        let continuation = UnsafeCell::new(continuation);
        let new_frame = NewFrame::new(Frame {
            me: NonNull::dangling(),
            execution,
            plan,
            general,
            caller,
            continuation,
            depth,
            slots,
            unfinished,
        });
        if is_iterating { new_frame } else { new_frame.with_results_token() }
    }

    /// Address of the frame, which identifies it among frames that are alive.
    #[inline]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline]
    pub(super) fn plan(&self) -> &FunctionPlan {
        // SAFETY: the plan belongs to the program, which the execution keeps alive. Plans never change.
        unsafe { self.plan.as_ref() }
    }

    #[inline]
    pub(super) fn general(&self) -> &GeneralPlan {
        // SAFETY: as in `plan`.
        unsafe { self.general.as_ref() }
    }

    /// Makes those kernels ready that wait for nothing, or only for arguments that are final.
    ///
    /// # Safety
    /// Must be called once, before anything else is done with the frame.
    unsafe fn begin(&self, sink: &mut Sink<'_>, unresolved: &mut Vec<(PendingRegister, AsyncRef)>) {
        let general = self.general();
        // Each is made ready here and nowhere else, because no event is counted for it.
        for &kernel in &general.idle {
            sink.push(Ready::new(self, kernel));
        }
        for register in 0..self.plan().n_args {
            let (pending, is_dead) = self.slots.registers[register as usize].with(|value| {
                // SAFETY: no kernel writes an argument, and none takes it, because no kernel has started.
                match unsafe { &*value } {
                    Value::Async(value) if value.value().is_none() => (Some(value.clone()), false),
                    value => (None, matches!(value.final_value(), Some(Value::Dead))),
                }
            });
            match pending {
                // An argument without users need not keep the frame alive.
                Some(value) if self.has_users(register) => {
                    unresolved.push((PendingRegister::new(self, register), value));
                }
                Some(_) => {}
                None => self.notify_users(register, is_dead, sink),
            }
            // No kernel writes an argument, so there is no completion to wait for.
            if general.has_after {
                self.notify_after_users(register, sink);
            }
        }
    }

    /// Counts an event for each of `users`, and makes those ready for which it was the last.
    #[inline(always)]
    fn notify(&self, users: &[User], sink: &mut Sink<'_>) {
        for &user in users {
            let count = &self.slots.ready_counts[user.kernel() as usize];
            // Acquire pairs with the Release half of the decrements by other notifiers: what they published
            // is visible to the reader of the operands. A count of one means that this event is the last, so
            // the store can be omitted.
            if count.load(Ordering::Acquire) == 1 || count.fetch_sub(1, Ordering::AcqRel) == 1 {
                sink.push(Ready::new(self, user));
            }
        }
    }

    /// Notifies the users of a register whose value is final.
    #[inline]
    fn notify_users(&self, register: u32, is_dead: bool, sink: &mut Sink<'_>) {
        let general = self.general();
        self.notify(general.users(register), sink);
        if general.has_any {
            self.notify_any_users(register, is_dead, sink);
        }
    }

    /// Notifies the kernels that run when their first operand is final.
    fn notify_any_users(&self, register: u32, is_dead: bool, sink: &mut Sink<'_>) {
        for &kernel in self.general().any_users(register) {
            let step = |left: u32| {
                let more = (left & !FIRED) - 1;
                let fires = left & FIRED != 0 || !is_dead || more == 0;
                Some(more | if fires { FIRED } else { 0 })
            };
            // Relaxed: the count guards no data. The operands are AsyncValues, and `notify` orders the rest.
            let notified = self.slots.any_counts[kernel as usize].fetch_update(
                Ordering::Relaxed,
                Ordering::Relaxed,
                step,
            );
            // The first operand that is not dead, or the last of all.
            if notified.is_ok_and(|left| left & FIRED == 0 && (!is_dead || left == 1)) {
                self.notify(&[self.general().user(kernel)], sink);
            }
        }
    }

    /// Notifies the kernels that wait for the completion of the kernel that writes a register.
    fn notify_after_users(&self, register: u32, sink: &mut Sink<'_>) {
        for &kernel in self.general().after_users(register) {
            self.notify(&[self.general().user(kernel)], sink);
        }
    }

    /// See [`Ready::read_operands`].
    ///
    /// # Safety
    /// The kernel's `Ready` must be consumed by this call.
    #[inline(always)]
    unsafe fn read_operands(
        &self,
        kernel: &GeneralKernel,
        operands: &mut [Value],
        substitute: &mut Option<Value>,
    ) {
        let all = self.general().operands(kernel);
        if !kernel.has_required_operands {
            // SAFETY: the caller consumes the kernel's `Ready`, which is this function's contract too.
            *substitute = unsafe { self.read_operands_by_mode(kernel, all, operands) };
            return;
        }
        let mut are_concrete = true;
        for (operand, value) in all.iter().zip(&mut *operands) {
            if kernel.has_plain_operands {
                let cell = &self.slots.registers[operand.register as usize];
                cell.with(|register| {
                    // SAFETY: rule 2: the register is published and no kernel writes it. No kernel takes it,
                    // because its reads are not counted.
                    let register = unsafe { &*register };
                    // SAFETY: `value` is a reference and so valid for writing; it holds nothing that needs to
                    // be dropped.
                    unsafe { register.copy_to(NonNull::from(&mut *value)) };
                });
            } else {
                // SAFETY: the operand is read once, with the `Ready` that the caller consumes.
                value.overwrite(unsafe { self.read(operand.register) });
            }
            are_concrete &= value.is_concrete();
        }
        if !are_concrete {
            let blocked = Self::blocked_by(operands.iter_mut().take(all.len()));
            *substitute = blocked.filter(|_| !kernel.observes);
        }
    }

    /// Resolves operands, and returns the value that replaces the kernel's results if it does not observe
    /// them, if an operand is not concrete.
    #[cold]
    fn blocked_by<'v>(operands: impl Iterator<Item = &'v mut Value>) -> Option<Value> {
        let mut blocked = Blocked::default();
        for value in operands {
            value.resolve();
            blocked.consider(value);
        }
        blocked.value()
    }

    /// [`Frame::read_operands`] for operands of any mode.
    ///
    /// # Safety
    /// As [`Frame::read_operands`].
    #[inline(never)]
    unsafe fn read_operands_by_mode(
        &self,
        kernel: &GeneralKernel,
        all: &[Operand],
        operands: &mut [Value],
    ) -> Option<Value> {
        let mut blocked = Blocked::default();
        let mut all_are_dead = kernel.is_any;
        let mut slots = operands.iter_mut();
        for operand in all {
            let mut hidden = Value::Empty;
            let passed = if operand.is_passed { slots.next() } else { None };
            let value = passed.unwrap_or(&mut hidden);
            if operand.mode != OperandMode::After {
                // SAFETY: the operand is counted or lenient, and is read once, with the `Ready` that the
                // caller consumes.
                *value = unsafe { self.read(operand.register) };
                value.resolve();
            }
            match operand.mode {
                OperandMode::Required if kernel.observes => {}
                OperandMode::Required => blocked.consider(value),
                OperandMode::Lenient => all_are_dead &= matches!(value, Value::Dead),
                OperandMode::Order => {
                    blocked.consider(value);
                    *value = Value::Chain;
                }
                OperandMode::After => *value = Value::Chain,
            }
        }
        if all_are_dead { Some(Value::Dead) } else { blocked.value() }
    }

    /// Reads a register.
    ///
    /// # Safety
    /// Only under rule 2, and at most as often as the register's reads are counted.
    #[inline]
    unsafe fn read(&self, register: u32) -> Value {
        let cell = &self.slots.registers[register as usize];
        let Some(reads) = self.slots.read_counts.get(register as usize) else {
            let mut copy = Value::Empty;
            cell.with(|value| {
                // SAFETY: rule 2: the register is published and no kernel writes it. No kernel takes it,
                // because its reads are not counted.
                let value = unsafe { &*value };
                // SAFETY: `copy` is valid for writing and empty.
                unsafe { value.copy_to(NonNull::from(&mut copy)) };
            });
            return copy;
        };
        // Acquire pairs with the Release decrements below: with a count of one, all other readers are done.
        // For a count of zero, which means "not counted", Relaxed would suffice.
        let left = reads.load(Ordering::Acquire);
        if left == 1 {
            // SAFETY: rule 4: this is the last read, with a token consumed for it, so nothing else accesses
            // the register.
            return cell.with_mut(|value| std::mem::take(unsafe { &mut *value }));
        }
        // SAFETY: rule 2: the register is published and no kernel writes it. No kernel takes it while this
        // read is still counted.
        let value = cell.with(|value| unsafe { &*value }.clone());
        // Release: this read happens before the taking by the last reader. Acquire: if this read turns out to
        // be the last, the other reads happened before.
        if left > 1 && reads.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: rule 4: the count has just become zero, so this is the last read and nothing else
            // accesses the register.
            return cell.with_mut(|value| std::mem::take(unsafe { &mut *value }));
        }
        value
    }

    /// See [`Running::write_results`].
    ///
    /// # Safety
    /// The kernel's `Running` must be consumed by this call.
    unsafe fn write_results(
        &self,
        kernel: &GeneralKernel,
        mut results: impl Iterator<Item = Value>,
        sink: &mut Sink<'_>,
        unresolved: &mut Vec<(PendingRegister, AsyncRef)>,
    ) {
        let general = self.general();
        for register in kernel.registers() {
            let mut value = results.next().unwrap_or_default();
            value.resolve();
            let pending = match &value {
                Value::Async(value) => Some(value.clone()),
                _ => None,
            };
            let is_dead = matches!(value, Value::Dead);
            let cell = &self.slots.registers[register as usize];
            match general.promise_of(register).and_then(|i| self.slots.promises.get(i)) {
                Some(promise) => {
                    // SAFETY: rule 3: only this kernel accesses the register's promise, and its token is
                    // consumed.
                    let promise = promise.with_mut(|promise| unsafe { &mut *promise }.take());
                    promise.into_iter().for_each(|promise| promise.set(std::mem::take(&mut value)));
                }
                None if general.is_unread_result(register) => drop(value),
                None => cell.with_mut(|slot| {
                    // SAFETY: rule 3: only this kernel writes the register, and nothing reads it before its
                    // users are notified below.
                    *unsafe { &mut *slot } = value;
                }),
            }
            match pending {
                Some(value) => unresolved.push((PendingRegister::new(self, register), value)),
                None => self.notify_users(register, is_dead, sink),
            }
        }
    }

    /// See [`Running::write_plain_result`].
    ///
    /// # Safety
    /// The kernel's `Running` must be consumed by this call.
    #[inline(always)]
    unsafe fn write_plain_result(&self, kernel: &GeneralKernel, result: &mut Value, sink: &mut Sink<'_>) {
        debug_assert!(kernel.has_plain_result && result.is_concrete(), "not so plain");
        let cell = &self.slots.registers[kernel.registers().start as usize];
        cell.with_mut(|slot| {
            // SAFETY: rule 3: only this kernel writes the register, and nothing reads it before its users are
            // notified below.
            let slot = unsafe { &mut *slot };
            // SAFETY: `slot` is a reference and so valid for writing; the register is empty.
            if !unsafe { result.copy_concrete_to(NonNull::from(&mut *slot)) } {
                *slot = std::mem::take(result);
            }
        });
        self.notify(self.general().users_of(kernel), sink);
    }

    /// Whether a register has users that wait until it is final.
    fn has_users(&self, register: u32) -> bool {
        let general = self.general();
        !general.users(register).is_empty() || !general.any_users(register).is_empty()
    }

    /// [`has_users`](Frame::has_users) for a pending register.
    pub(super) fn has_pending_users(&self, pending: &PendingRegister) -> bool {
        self.has_users(pending.register)
    }

    /// Notifies the users of a register that was pending and is final now.
    pub(super) fn notify_pending(&self, pending: PendingRegister, is_dead: bool, sink: &mut Sink<'_>) {
        assert!(pending.is_of(self), "a register of another frame");
        self.notify_users(pending.register, is_dead, sink);
    }

    /// Notifies the kernels that wait for the completion of `kernel`. Called once per kernel.
    #[inline]
    fn complete(&self, kernel: &GeneralKernel, sink: &mut Sink<'_>) {
        if self.general().has_after {
            for register in kernel.registers() {
                self.notify_after_users(register, sink);
            }
        }
    }

    /// Results of the function, in any state.
    ///
    /// # Safety
    /// Must be called at most once: with the frame's `ResultsToken`, or at the end of a frame that has none.
    unsafe fn results(&self) -> impl Iterator<Item = Value> {
        self.plan().results.iter().map(|&register| {
            // SAFETY: a result is an argument or an async register, neither of which is written after the
            // start. The read for the return is counted, and this is that read, because the caller calls this
            // once.
            unsafe { self.read(register) }.resolved()
        })
    }

    /// Frees the frame, after its last token, and returns the continuation.
    fn end(self) -> FrameEnd {
        // SAFETY: the frame is owned by this thread; its continuation was written before the frame ended.
        let continuation = self
            .continuation
            .with_mut(|continuation| std::mem::replace(unsafe { &mut *continuation }, Continuation::Nothing));
        let end = match continuation {
            Continuation::NextIteration(looping) => {
                // SAFETY: a frame whose continuation is a next iteration has no `ResultsToken`.
                let results = unsafe { self.results() }.collect();
                let function = self.plan().index();
                FrameEnd::Iteration { looping, function, results }
            }
            Continuation::EndInFlight(in_flight) => FrameEnd::InFlight(in_flight),
            Continuation::CompleteCaller(completing) => FrameEnd::CompleteCaller(completing),
            Continuation::OpenLatch(latch) => {
                self.free();
                latch.count_down();
                return FrameEnd::NotYet;
            }
            Continuation::Wake(waker) => {
                self.free();
                waker.wake();
                return FrameEnd::NotYet;
            }
            Continuation::Nothing => FrameEnd::NotYet,
        };
        self.free();
        end
    }

    fn free(self) {
        let Frame { execution, slots, .. } = self;
        // Freeing is a write; this makes loom see it.
        #[cfg(loom)]
        slots.registers.iter().for_each(|register| register.with_mut(|_| ()));
        execution.release(slots.registers.len());
        slots.recycle();
    }

    /// Locations of a kernel of this frame and of the calls that led to it, innermost first.
    pub(super) fn trace(&self, kernel: u32) -> Vec<String> {
        let (mut frame, mut kernel) = (self, kernel);
        let mut trace = Vec::new();
        loop {
            let at = KernelRef { function: frame.plan().index(), kernel };
            frame.execution.program.file().extend_trace(at, &mut trace);
            match &frame.caller {
                // SAFETY: `frame` is alive: it is this frame or a caller of one that is alive.
                Some(caller) if trace.len() < MAX_TRACE => (frame, kernel) = unsafe { caller.get() },
                _ => return trace,
            }
        }
    }

    /// Path of this frame: the calls that led to it.
    pub(super) fn path(&self) -> FramePath {
        let (mut frame, mut steps) = (self, Vec::new());
        while let Some(caller) = &frame.caller {
            let callee = frame.plan().index();
            // SAFETY: `frame` is alive: it is this frame or a caller of one that is alive.
            let (below, kernel) = unsafe { caller.get() };
            let (caller, iteration) = (below.plan().index(), caller.iteration);
            steps.push(FrameStep { caller, kernel, callee, iteration });
            frame = below;
        }
        let mut path = frame.execution.context.path(frame.plan().index(), frame.execution.iteration);
        path.extend(steps.into_iter().rev());
        path
    }
}
