//! Frames of the general plan: registers, ready counters, and who may touch them when.
//!
//! Registers are plain memory, shared by all threads that work on the frame. What makes that sound is who
//! holds which token (`token`):
//!
//! 1. `Ready(k)` is made when the last of the events that kernel k counts has happened; counts are decremented with AcqRel, so
//!    whoever makes the token sees the registers that those events published. There is one event per counted
//!    operand (validated), so there is one `Ready(k)`.
//! 2. Only `gather`, which uses up `Ready(k)`, reads registers for k: those of its counted operands (published, by 1), and of its lenient
//!    ones, which hold an AsyncValue, or an argument, from the start and never change.
//! 3. Only `publish`, which uses up `Running(k)`, writes the registers of k's results, each of which k alone writes (validated): before
//!    their users are told. Registers of rule 2's second kind are not written; their promise is kept instead.
//!    The kernels of a straight line are told of no events, but the first: its `Running` stands for all of
//!    them, one after the other. What only the line uses is in no register.
//! 4. A register whose value is worth freeing counts the reads that are left. Whoever brings the count to zero is the last one to read it, and
//!    takes the value.
//!
//! A frame ends when all its kernels have completed. Its caller's kernel completes then, not earlier. The
//! room that its registers and counters took goes to the thread's next frame.

#![allow(unsafe_code, reason = "registers shared between threads; the essay is the proof")]

mod overlap;
mod token;

use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::Arc;

use bef_format::OperandMode;

use super::execution::Execution;
use super::operands::Instead;
use crate::program::{FunctionPlan, General, GeneralKernel, Operand, User};
use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::context::{FramePath, FrameStep};
use befrost_kernel_api::executor::sync::{AtomicU32, AtomicUsize, Ordering, UnsafeCell};
use befrost_kernel_api::executor::{KernelRef, MAX_TRACE};
use befrost_kernel_api::value::Value;

pub(super) use overlap::{Head, Turn, TurnEnd};
use token::Caller;
pub(super) use token::{
    Completing, Done, End, Later, Looping, Ready, Returns, Running, Started, StraightRun, Then,
};

/// One call of a function.
pub(super) struct Frame {
    /// Where it lies, for tokens: who has the last of them may free it, which a reference would not permit.
    me: NonNull<Frame>,
    pub(super) execution: Arc<Execution>,
    /// Of the execution's program.
    plan: NonNull<FunctionPlan>,
    /// That of `plan`.
    general: NonNull<General>,
    /// The kernel that called.
    caller: Option<Caller>,
    /// Written before the first visit ends, and taken at the frame's end.
    then: UnsafeCell<Then>,
    pub(super) depth: usize,
    slots: Slots,
    /// See `token`.
    unfinished: AtomicUsize,
}

// SAFETY: `slots` and `then` are accessed by the rules of the essay, the plans are Sync and live as long as
// the execution's program; everything else is Sync.
unsafe impl Sync for Frame {}
// SAFETY: all fields are Send, with what the pointers point to; the cells' contents are.
unsafe impl Send for Frame {}

/// What a frame has per register and per kernel.
#[derive(Default)]
struct Slots {
    registers: Vec<UnsafeCell<Value>>,
    /// The promises of the async registers, as the plan numbers them.
    promises: Vec<UnsafeCell<Option<Promise>>>,
    /// How many events each kernel still waits for.
    left: Vec<AtomicU32>,
    /// How many reads of each register are left; 0 where nobody counts. Empty if nobody counts any.
    reads: Vec<AtomicU32>,
    /// Per kernel that runs when its first operand is final: how many are not yet, and [`FIRED`]. Empty if
    /// there is none.
    any: Vec<AtomicU32>,
}

/// A kernel that runs when its first operand is final has been told that there is one.
const FIRED: u32 = 1 << 31;
/// How many registers a thread keeps room for, and in how many pieces.
const MAX_KEPT: (usize, usize) = (1 << 15, 64);

/// The room of frames that have ended.
#[derive(Default)]
struct Kept {
    slots: Vec<Slots>,
    /// How many registers and kernels they have room for.
    n: usize,
}

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept { slots: Vec::new(), n: 0 }) };
}

impl Slots {
    fn size(&self) -> usize {
        self.registers.capacity() + self.left.capacity()
    }

    /// Empty ones, with room if there is.
    fn new() -> Slots {
        KEPT.with(|kept| {
            let mut kept = kept.borrow_mut();
            let slots = kept.slots.pop().unwrap_or_default();
            kept.n -= slots.size();
            slots
        })
    }

    /// Drops the values, and keeps the room for the next frame.
    fn recycle(mut self) {
        let Slots { registers, promises, left, reads, any } = &mut self;
        // Their ends may be anything, other frames' even.
        registers.clear();
        promises.clear();
        left.clear();
        reads.clear();
        any.clear();
        // Where the thread is ending, it keeps nothing.
        _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let n = kept.n + self.size();
            if n <= MAX_KEPT.0 && kept.slots.len() < MAX_KEPT.1 {
                kept.n = n;
                kept.slots.push(std::mem::take(&mut self));
            }
        });
    }
}

/// Where kernels go that become ready: into the stream that the thread is in, or to those that other threads
/// may take.
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
        then: Then,
    ) -> Started {
        let plan = execution.program.plan(function);
        let general = plan.general(execution.program.image(), execution.is_seeded);
        let mut slots = Slots::new();
        let Slots { registers, promises, left, reads, any } = &mut slots;
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
        left.extend(general.ready_counts.iter().map(|&count| AtomicU32::new(count)));
        if general.counts_reads {
            reads.extend(general.reads.iter().map(|&count| AtomicU32::new(count)));
        }
        if general.has_any {
            any.extend(general.n_any.iter().map(|&n| AtomicU32::new(n)));
        }
        // One more for the first visit.
        let unfinished = AtomicUsize::new(general.ready_counts.len() + 1);
        let (plan, general) = (NonNull::from(plan), NonNull::from(general));
        let depth = caller.as_ref().map_or(0, |caller| caller.depth);
        let is_iterating = matches!(then, Then::Iterates(_));
        let then = UnsafeCell::new(then);
        let started = Started::new(Frame {
            me: NonNull::dangling(),
            execution,
            plan,
            general,
            caller,
            then,
            depth,
            slots,
            unfinished,
        });
        if is_iterating { started } else { started.with_returns() }
    }

    /// Tells frames apart that are alive.
    #[inline]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline]
    pub(super) fn plan(&self) -> &FunctionPlan {
        // SAFETY: a plan of the program, which the execution keeps, and plans are never changed.
        unsafe { self.plan.as_ref() }
    }

    #[inline]
    pub(super) fn general(&self) -> &General {
        // SAFETY: as in `plan`.
        unsafe { self.general.as_ref() }
    }

    /// Makes those kernels ready that wait for nothing, or only for arguments.
    ///
    /// # Safety
    /// To be called once, before anything else is done with the frame.
    unsafe fn begin(&self, sink: &mut Sink<'_>, late: &mut Vec<(Later, AsyncRef)>) {
        let general = self.general();
        // Each is made ready here and nowhere else, as no event counts for it.
        for &kernel in &general.idle {
            sink.push(Ready::new(self, kernel));
        }
        for register in 0..self.plan().n_args {
            let (pending, is_dead) = self.slots.registers[register as usize].with(|value| {
                // SAFETY: nobody writes an argument; nobody takes it, as no kernel has started.
                match unsafe { &*value } {
                    Value::Async(value) if value.value().is_none() => (Some(value.clone()), false),
                    value => (None, matches!(value.final_value(), Some(Value::Dead))),
                }
            });
            match pending {
                // What nobody reads need not keep the frame.
                Some(value) if self.has_users(register) => late.push((Later::new(self, register), value)),
                Some(_) => {}
                None => self.tell_users(register, is_dead, sink),
            }
            // An argument has no kernel that writes it, so nothing has to complete.
            self.tell_after(register, sink);
        }
    }

    /// Counts an event for each of `users`, and makes those ready for which it was the last.
    #[inline(always)]
    fn tell(&self, users: &[User], sink: &mut Sink<'_>) {
        for &user in users {
            let left = &self.slots.left[user.kernel() as usize];
            // Acquire pairs with the Release half of the other tellers' decrements: what they published is
            // visible to who gathers. Seeing one means that this event is the last, so that the store can be
            // spared.
            if left.load(Ordering::Acquire) == 1 || left.fetch_sub(1, Ordering::AcqRel) == 1 {
                sink.push(Ready::new(self, user));
            }
        }
    }

    /// Tells the users of a register whose value is final.
    #[inline]
    fn tell_users(&self, register: u32, is_dead: bool, sink: &mut Sink<'_>) {
        let general = self.general();
        self.tell(general.users(register), sink);
        if general.has_any {
            self.tell_any(register, is_dead, sink);
        }
    }

    /// Tells those that run when their first operand is final.
    fn tell_any(&self, register: u32, is_dead: bool, sink: &mut Sink<'_>) {
        for &kernel in self.general().any_users(register) {
            let step = |left: u32| {
                let more = (left & !FIRED) - 1;
                let fires = left & FIRED != 0 || !is_dead || more == 0;
                Some(more | if fires { FIRED } else { 0 })
            };
            // Relaxed: it guards no data; what is read are AsyncValues, and `tell` orders the rest.
            let told =
                self.slots.any[kernel as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
            // The first that is not dead, or the last of all.
            if told.is_ok_and(|left| left & FIRED == 0 && (!is_dead || left == 1)) {
                self.tell(&[self.general().user(kernel)], sink);
            }
        }
    }

    /// Tells those that wait for the completion of the kernel that writes a register.
    fn tell_after(&self, register: u32, sink: &mut Sink<'_>) {
        for &kernel in self.general().after_users(register) {
            self.tell(&[self.general().user(kernel)], sink);
        }
    }

    /// See [`Ready::gather`].
    ///
    /// # Safety
    /// Only with the kernel's `Ready`, which is used up.
    #[inline(always)]
    unsafe fn gather(&self, kernel: &GeneralKernel, operands: &mut [Value], instead: &mut Option<Value>) {
        let all = self.general().operands(kernel);
        if !kernel.gathers_plainly {
            // SAFETY: the caller's contract.
            *instead = unsafe { self.gather_all(kernel, all, operands) };
            return;
        }
        let mut are_concrete = true;
        for (operand, value) in all.iter().zip(&mut *operands) {
            let cell = &self.slots.registers[operand.register as usize];
            cell.with(|register| {
                // SAFETY: rule 2: the register is published and nobody writes it; nobody takes it, as nobody
                // counts.
                let register = unsafe { &*register };
                // SAFETY: a reference can be written, and nothing is there that owns anything.
                unsafe { register.copy_to(NonNull::from(&mut *value)) };
            });
            are_concrete &= value.is_concrete();
        }
        if !are_concrete {
            *instead = Self::look(operands.iter_mut().take(all.len()));
        }
    }

    /// What a kernel's results become because of its operands, which are resolved.
    #[cold]
    fn look<'v>(operands: impl Iterator<Item = &'v mut Value>) -> Option<Value> {
        let mut instead = Instead::default();
        for value in operands {
            value.resolve();
            instead.consider(value);
        }
        instead.value()
    }

    /// [`Frame::gather`] for any modes.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn gather_all(
        &self,
        kernel: &GeneralKernel,
        all: &[Operand],
        operands: &mut [Value],
    ) -> Option<Value> {
        let mut instead = Instead::default();
        let mut all_are_dead = kernel.is_any;
        let mut slots = operands.iter_mut();
        for operand in all {
            let mut hidden = Value::Empty;
            let passed = if operand.is_passed { slots.next() } else { None };
            let value = passed.unwrap_or(&mut hidden);
            if operand.mode != OperandMode::After {
                // SAFETY: an operand that was counted or is lenient, read once: the caller's contract.
                *value = unsafe { self.read(operand.register) };
                value.resolve();
            }
            match operand.mode {
                OperandMode::Required => instead.consider(value),
                OperandMode::Lenient => all_are_dead &= matches!(value, Value::Dead),
                OperandMode::Order => {
                    instead.consider(value);
                    *value = Value::Chain;
                }
                OperandMode::After => *value = Value::Chain,
            }
        }
        if all_are_dead { Some(Value::Dead) } else { instead.value() }
    }

    /// Reads a register.
    ///
    /// # Safety
    /// Only under rule 2, and as often as reads are counted.
    #[inline]
    unsafe fn read(&self, register: u32) -> Value {
        let cell = &self.slots.registers[register as usize];
        let Some(reads) = self.slots.reads.get(register as usize) else {
            let mut copy = Value::Empty;
            cell.with(|value| {
                // SAFETY: rule 2: the register is published and nobody writes it; nobody takes it, as nobody
                // counts.
                let value = unsafe { &*value };
                // SAFETY: a reference can be written, and nothing is there.
                unsafe { value.copy_to(NonNull::from(&mut copy)) };
            });
            return copy;
        };
        // Acquire pairs with the Release decrements below: the other readers are done. Relaxed would do for
        // "nobody counts".
        let left = reads.load(Ordering::Acquire);
        if left == 1 {
            // SAFETY: rule 4: this is the last read, by a token that was used up for it; so nobody else has
            // access.
            return cell.with_mut(|value| std::mem::take(unsafe { &mut *value }));
        }
        // SAFETY: rule 2: the register is published and nobody writes it; nobody takes it while this read is
        // counted.
        let value = cell.with(|value| unsafe { &*value }.clone());
        // Release: this read happens before the taking; Acquire: so do the others', if this turns out to be
        // the last.
        if left > 1 && reads.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: rule 4, as above.
            return cell.with_mut(|value| std::mem::take(unsafe { &mut *value }));
        }
        value
    }

    /// See [`Running::publish`].
    ///
    /// # Safety
    /// Only with the kernel's `Running`, which is used up.
    unsafe fn publish(
        &self,
        kernel: &GeneralKernel,
        mut results: impl Iterator<Item = Value>,
        sink: &mut Sink<'_>,
        late: &mut Vec<(Later, AsyncRef)>,
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
                    // SAFETY: rule 3: this kernel alone writes the register, and its token is used up.
                    let promise = promise.with_mut(|promise| unsafe { &mut *promise }.take());
                    promise.into_iter().for_each(|promise| promise.set(std::mem::take(&mut value)));
                }
                None => cell.with_mut(|slot| {
                    // SAFETY: rule 3, as above; nobody reads it before the users are told below.
                    *unsafe { &mut *slot } = value;
                }),
            }
            match pending {
                Some(value) => late.push((Later::new(self, register), value)),
                None => self.tell_users(register, is_dead, sink),
            }
        }
    }

    /// See [`Running::publish_plainly`].
    ///
    /// # Safety
    /// Only with the kernel's `Running`, which is used up.
    #[inline(always)]
    unsafe fn publish_plainly(&self, kernel: &GeneralKernel, result: &mut Value, sink: &mut Sink<'_>) {
        debug_assert!(kernel.publishes_plainly && result.is_concrete(), "not so plain");
        let cell = &self.slots.registers[kernel.registers().start as usize];
        cell.with_mut(|slot| {
            // SAFETY: rule 3: this kernel alone writes the register; nobody reads it before the users are
            // told below.
            let slot = unsafe { &mut *slot };
            // SAFETY: a reference can be written, and the register is empty.
            if !unsafe { result.copy_concrete_to(NonNull::from(&mut *slot)) } {
                *slot = std::mem::take(result);
            }
        });
        self.tell(self.general().users_of(kernel), sink);
    }

    /// Whether somebody is to be told when a register is final.
    fn has_users(&self, register: u32) -> bool {
        let general = self.general();
        !general.users(register).is_empty() || !general.any_users(register).is_empty()
    }

    /// [`has_users`](Frame::has_users) of one that is to be told later.
    pub(super) fn wants(&self, later: &Later) -> bool {
        self.has_users(later.register)
    }

    /// Tells the users of a register whose value has become final.
    pub(super) fn release(&self, later: Later, is_dead: bool, sink: &mut Sink<'_>) {
        assert!(later.is_of(self), "a register of another frame");
        self.tell_users(later.register, is_dead, sink);
    }

    /// Tells those that wait for the completion of `kernel`. Called once per kernel.
    #[inline]
    fn complete(&self, kernel: &GeneralKernel, sink: &mut Sink<'_>) {
        if self.general().has_after {
            for register in kernel.registers() {
                self.tell_after(register, sink);
            }
        }
    }

    /// The function's results, which may be in any state.
    ///
    /// # Safety
    /// To be called once: by who has the `Returns`, or at the end of a frame that has none.
    unsafe fn results(&self) -> impl Iterator<Item = Value> {
        self.plan().results.iter().map(|&register| {
            // SAFETY: a result is an argument, or an async register: neither is written after the start. Each
            // read for the return is counted, and this is it: the caller's contract.
            unsafe { self.read(register) }.resolved()
        })
    }

    /// What follows, after the last token.
    fn end(self) -> End {
        // SAFETY: the frame is owned, and whoever wrote it did so before it ended.
        let then = self.then.with_mut(|then| std::mem::replace(unsafe { &mut *then }, Then::Nothing));
        let end = match then {
            Then::Iterates(looping) => {
                // SAFETY: a frame of an iteration after which it is not known what follows has no `Returns`.
                let results = unsafe { self.results() }.collect();
                let function = self.plan().index();
                End::Iteration { looping, function, results }
            }
            Then::Turns(turn) => End::Turn(turn),
            Then::Completes(completing) => End::Call(completing),
            Then::Opens(latch) => {
                self.free();
                latch.count_down();
                return End::NotYet;
            }
            Then::Wakes(waker) => {
                self.free();
                waker.wake();
                return End::NotYet;
            }
            Then::Nothing => End::NotYet,
        };
        self.free();
        end
    }

    fn free(self) {
        let Frame { execution, slots, .. } = self;
        // Freeing is a write, and loom is to know.
        #[cfg(loom)]
        slots.registers.iter().for_each(|register| register.with_mut(|_| ()));
        execution.give_back(slots.registers.len());
        slots.recycle();
    }

    /// The calls that led to a kernel of this frame and the kernel itself, innermost first.
    pub(super) fn trace(&self, kernel: u32) -> Vec<String> {
        let (mut frame, mut kernel) = (self, kernel);
        let mut trace = Vec::new();
        loop {
            let at = KernelRef { function: frame.plan().index(), kernel };
            trace.extend(frame.execution.program.file().location_string(at));
            match &frame.caller {
                // SAFETY: `frame` is alive: this one, or one that called such.
                Some(caller) if trace.len() < MAX_TRACE => (frame, kernel) = unsafe { caller.get() },
                _ => return trace,
            }
        }
    }

    /// The calls that led to this frame.
    pub(super) fn path(&self) -> FramePath {
        let (mut frame, mut steps) = (self, Vec::new());
        while let Some(caller) = &frame.caller {
            let callee = frame.plan().index();
            // SAFETY: `frame` is alive: this one, or one that called such.
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
