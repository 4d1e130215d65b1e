//! Frames of the general plan: registers, ready counters, and who may touch them when.
//!
//! Registers are plain memory, shared by all threads that work on the frame. What makes that sound is who holds which token. Tokens cannot be
//! copied, are made only here, and each is used up by what it permits:
//!
//! ```text
//! start ──▶ Ready(k) ──gather──▶ Running(k) ──publish──▶ Ready(users)...   the kernel's count has reached zero
//!                                              └───────▶ Later(r) ──release──▶ Ready(users)...   r's value was not final yet
//! ```
//!
//! 1. `Ready(k)` is made when the last of the events that kernel k counts has happened; counts are decremented with AcqRel, so
//!    whoever makes the token sees the registers that those events published. There is one event per counted operand (validated), so
//!    there is one `Ready(k)`.
//! 2. Only `gather`, which uses up `Ready(k)`, reads registers for k: those of its counted operands (published, by 1), and of its lenient
//!    ones, which hold an AsyncValue, or an argument, from the start and never change.
//! 3. Only `publish`, which uses up `Running(k)`, writes the registers of k's results, each of which k alone writes (validated): before
//!    their users are told. Registers of rule 2's second kind are not written; their promise is kept instead.
//! 4. A register whose value is worth freeing counts the reads that are left. Whoever brings the count to zero is the last one to read it, and
//!    takes the value.
//!
//! A frame ends when all its kernels have completed. Its caller's kernel completes then, not earlier.

#![allow(unsafe_code, reason = "registers shared between threads; the essay is the proof")]

use std::sync::Arc;

use bef_format::OperandMode;

use super::{Execution, Instead, resolved};
use crate::async_value::{AsyncRef, Promise};
use crate::kernel::{Again, KernelRef};
use crate::program::{FunctionPlan, General};
use crate::queue::Latch;
use crate::sync::{AtomicU32, AtomicUsize, Ordering, UnsafeCell};
use crate::value::Value;

/// The right and the duty to run a kernel.
#[derive(Debug)]
#[must_use]
pub(super) struct Ready {
    frame: *const Frame,
    kernel: u32,
}

// SAFETY: the pointer is only ever compared.
unsafe impl Send for Ready {}

/// A kernel that has taken its operands and owes its results.
#[derive(Debug)]
#[must_use]
pub(super) struct Running {
    frame: *const Frame,
    kernel: u32,
}

// SAFETY: the pointer is only ever compared.
unsafe impl Send for Running {}

/// A register whose users are to be told when its value is final.
#[derive(Debug)]
#[must_use]
pub(super) struct Later {
    frame: *const Frame,
    register: u32,
}

// SAFETY: the pointer is only ever compared.
unsafe impl Send for Later {}

impl Ready {
    pub(super) fn kernel(&self) -> u32 {
        self.kernel
    }
}

impl Running {
    pub(super) fn kernel(&self) -> u32 {
        self.kernel
    }
}

/// The rest of a loop: the function is run again, or the kernel that asked for it gets its results.
#[derive(Debug)]
pub(super) struct Looping {
    pub(super) running: Running,
    pub(super) again: Again,
}

/// One call of a function.
pub(super) struct Frame {
    pub(super) execution: Arc<Execution>,
    pub(super) function: u32,
    /// The frame and kernel that called.
    pub(super) parent: Option<(Arc<Frame>, u32)>,
    /// If the function is an iteration of a loop: what follows when the frame ends. Taken by whoever finds the end.
    looping: UnsafeCell<Option<Looping>>,
    pub(super) depth: usize,
    registers: Box<[UnsafeCell<Value>]>,
    /// The promises of the async registers, by register; empty for the others.
    promises: Box<[UnsafeCell<Option<Promise>>]>,
    /// How many events each kernel still waits for.
    left: Box<[AtomicU32]>,
    /// How many reads of each register are left; 0 where nobody counts.
    reads: Box<[AtomicU32]>,
    /// Per kernel that runs when its first operand is final: how many are not yet, and [`FIRED`]. Empty if there is none.
    any: Box<[AtomicU32]>,
    /// How many kernels have not completed, and one more while the first visit lasts.
    unfinished: AtomicUsize,
    /// Opened when the frame ends: for whoever called from outside.
    ended: Option<Arc<Latch>>,
}

// SAFETY: `registers` and `promises` are accessed by the rules of the essay; everything else is Sync.
unsafe impl Sync for Frame {}
// SAFETY: all fields are Send; the cells' contents are.
unsafe impl Send for Frame {}

/// Whether a frame has ended.
pub(super) enum End {
    NotYet,
    /// Its caller's kernel is complete.
    Frame,
    /// It was an iteration.
    Iteration(Looping),
}

/// A kernel that runs when its first operand is final has been told that there is one.
const FIRED: u32 = 1 << 31;

/// What starts with a frame.
pub(super) struct Started {
    pub(super) frame: Arc<Frame>,
    /// In the order in which they become ready.
    pub(super) ready: Vec<Ready>,
    /// Arguments that are not final yet.
    pub(super) later: Vec<(Later, AsyncRef)>,
}

impl Frame {
    /// Makes a frame. Its arguments may be in any state.
    pub(super) fn start(
        execution: &Arc<Execution>,
        function: u32,
        arguments: impl Iterator<Item = Value>,
        parent: Option<(Arc<Frame>, u32)>,
        looping: Option<Looping>,
        ended: Option<Arc<Latch>>,
    ) -> Started {
        let plan = execution.program.plan(function);
        let general = general(execution, function);
        let mut values: Vec<Value> = arguments.take(plan.n_args as usize).collect();
        values.resize_with(plan.n_registers as usize, Value::default);
        let mut promises = Vec::new();
        if general.n_async > 0 {
            promises.resize_with(values.len(), || UnsafeCell::new(None));
            for (register, _) in general.is_async.iter().enumerate().filter(|(_, is_async)| **is_async) {
                let (promise, value) = AsyncRef::pending();
                values[register] = Value::Async(value);
                promises[register] = UnsafeCell::new(Some(promise));
            }
        }
        let n_kernels = general.ready_counts.len();
        let depth = parent.as_ref().map_or(0, |(parent, _)| parent.depth + 1);
        let frame = Arc::new(Frame {
            execution: execution.clone(),
            function,
            parent,
            looping: UnsafeCell::new(looping),
            depth,
            registers: values.into_iter().map(UnsafeCell::new).collect(),
            promises: promises.into(),
            left: general.ready_counts.iter().map(|&count| AtomicU32::new(count)).collect(),
            reads: general.reads.iter().map(|&count| AtomicU32::new(count)).collect(),
            any: if general.has_any {
                general.gatherings.iter().map(|gathering| AtomicU32::new(gathering.n_any)).collect()
            } else {
                Box::default()
            },
            unfinished: AtomicUsize::new(n_kernels + 1),
            ended,
        });
        let mut ready = Vec::new();
        let mut later = Vec::new();
        // Kernels without operands; each is made ready here and nowhere else, as no event counts for it.
        let idle = general.ready_counts.iter().enumerate().filter(|(_, count)| **count == 0);
        ready.extend(idle.map(|(kernel, _)| Ready { frame: &*frame, kernel: kernel as u32 }));
        for register in 0..plan.n_args {
            let (pending, is_dead) = frame.registers[register as usize].with(|value| {
                // SAFETY: nobody else has the frame yet.
                match unsafe { &*value } {
                    Value::Async(value) if value.value().is_none() => (Some(value.clone()), false),
                    value => (None, matches!(value.final_value(), Some(Value::Dead))),
                }
            });
            match pending {
                Some(value) => later.push((Later { frame: &*frame, register }, value)),
                None => frame.tell_users(register, is_dead, &mut ready),
            }
            // An argument has no kernel that writes it, so nothing has to complete.
            frame.tell(general.after_users(register), &mut ready);
        }
        Started { frame, ready, later }
    }

    pub(super) fn plan(&self) -> &FunctionPlan {
        self.execution.program.plan(self.function)
    }

    pub(super) fn general(&self) -> &General {
        general(&self.execution, self.function)
    }

    pub(super) fn at(&self, kernel: u32) -> KernelRef {
        KernelRef { function: self.function, kernel }
    }

    /// Counts an event for each of `kernels`, and makes those ready for which it was the last.
    fn tell(&self, kernels: &[u32], ready: &mut Vec<Ready>) {
        for &kernel in kernels {
            let left = &self.left[kernel as usize];
            // Acquire pairs with the Release half of the other tellers' decrements: what they published is visible to who gathers.
            // Seeing one means that this event is the last, so that the store can be spared.
            if left.load(Ordering::Acquire) == 1 || left.fetch_sub(1, Ordering::AcqRel) == 1 {
                ready.push(Ready { frame: self, kernel });
            }
        }
    }

    /// Tells the users of a register whose value is final.
    fn tell_users(&self, register: u32, is_dead: bool, ready: &mut Vec<Ready>) {
        let general = self.general();
        self.tell(general.users(register), ready);
        if !general.has_any {
            return;
        }
        for &kernel in general.any_users(register) {
            let step = |left: u32| {
                let more = (left & !FIRED) - 1;
                let fires = left & FIRED != 0 || !is_dead || more == 0;
                Some(more | if fires { FIRED } else { 0 })
            };
            // Relaxed: it guards no data; what is read are AsyncValues, and `tell` orders the rest.
            let told = self.any[kernel as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
            // The first that is not dead, or the last of all.
            if told.is_ok_and(|left| left & FIRED == 0 && (!is_dead || left == 1)) {
                self.tell(&[kernel], ready);
            }
        }
    }

    /// Takes the operands that are passed to a kernel and appends them to `operands`. If one that must be concrete is an error or dead,
    /// returns what the kernel's results become instead.
    pub(super) fn gather(&self, ready: Ready, operands: &mut Vec<Value>) -> (Running, Option<Value>) {
        assert!(std::ptr::eq(ready.frame, self), "a kernel of another frame");
        let kernel = ready.kernel;
        let general = self.general();
        let mut instead = Instead::default();
        let mut all_are_dead = general.gatherings[kernel as usize].n_any > 0;
        for operand in general.operands(kernel) {
            let value = match operand.mode {
                OperandMode::Required => {
                    let value = resolved(self.read(operand.register));
                    instead.consider(&value);
                    value
                }
                OperandMode::Lenient => {
                    let value = resolved(self.read(operand.register));
                    all_are_dead &= matches!(value, Value::Dead);
                    value
                }
                OperandMode::Order => {
                    instead.consider(&resolved(self.read(operand.register)));
                    Value::Chain
                }
                OperandMode::After => Value::Chain,
            };
            if operand.is_passed {
                operands.push(value);
            }
        }
        let instead = if all_are_dead { Some(Value::Dead) } else { instead.value() };
        (Running { frame: self, kernel }, instead)
    }

    /// Reads a register for `gather`, under its rules.
    fn read(&self, register: u32) -> Value {
        let reads = &self.reads[register as usize];
        let cell = &self.registers[register as usize];
        // Acquire pairs with the Release decrements below: the other readers are done. Relaxed would do for "nobody counts".
        let left = reads.load(Ordering::Acquire);
        if left == 1 {
            // SAFETY: rule 4: this is the last read, by a token that was used up for it; so nobody else has access.
            return cell.with_mut(|value| std::mem::take(unsafe { &mut *value }));
        }
        // SAFETY: rule 2: the register is published and nobody writes it; nobody takes it while this read is counted.
        let value = cell.with(|value| unsafe { &*value }.clone());
        // Release: this read happens before the taking; Acquire: so do the others', if this turns out to be the last.
        if left > 1 && reads.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: rule 4, as above.
            return cell.with_mut(|value| std::mem::take(unsafe { &mut *value }));
        }
        value
    }

    /// Stores a kernel's results, tells their users, and says which ones are to be told later. Results that are missing are `missing`.
    pub(super) fn publish(
        &self,
        running: Running,
        mut results: impl Iterator<Item = Value>,
        ready: &mut Vec<Ready>,
        later: &mut Vec<(Later, AsyncRef)>,
    ) {
        assert!(std::ptr::eq(running.frame, self), "a kernel of another frame");
        let plan = self.plan().kernels[running.kernel as usize];
        for register in plan.first_result..plan.first_result + u32::from(plan.n_results) {
            let value = resolved(results.next().unwrap_or_default());
            let (pending, is_dead) = match &value {
                Value::Async(value) => (Some(value.clone()), false),
                value => (None, matches!(value, Value::Dead)),
            };
            let promise = self.promises.get(register as usize).and_then(|promise| {
                // SAFETY: rule 3: this kernel alone writes the register, and `running` is used up.
                promise.with_mut(|promise| unsafe { &mut *promise }.take())
            });
            match promise {
                Some(promise) => promise.set(value),
                // SAFETY: rule 3, as above; nobody reads it before the users are told below.
                None => self.registers[register as usize].with_mut(|slot| unsafe { *slot = value }),
            }
            match pending {
                Some(value) => later.push((Later { frame: self, register }, value)),
                None => self.tell_users(register, is_dead, ready),
            }
        }
    }

    /// Tells the users of a register whose value has become final.
    pub(super) fn release(&self, later: Later, is_dead: bool, ready: &mut Vec<Ready>) {
        assert!(std::ptr::eq(later.frame, self), "a register of another frame");
        self.tell_users(later.register, is_dead, ready);
    }

    /// Tells those that wait for the completion of `kernel`. Called once per kernel.
    pub(super) fn complete(&self, kernel: u32, ready: &mut Vec<Ready>) {
        let general = self.general();
        if general.has_after {
            let plan = self.plan().kernels[kernel as usize];
            for register in plan.first_result..plan.first_result + u32::from(plan.n_results) {
                self.tell(general.after_users(register), ready);
            }
        }
    }

    /// The function's results, which may be in any state. Called once, after the first visit.
    pub(super) fn results(&self) -> impl Iterator<Item = Value> {
        self.plan().results.iter().map(|&register| {
            // SAFETY: a result is an argument, or an async register: neither is written after the start. A read of it is counted for
            // the return and never given up, so nobody takes it.
            resolved(self.registers[register as usize].with(|value| unsafe { &*value }.clone()))
        })
    }

    /// Counts `n` completions.
    #[must_use]
    pub(super) fn finish(&self, n: usize) -> End {
        // AcqRel: what the kernels did happens before what follows the end of the frame.
        if n == 0 || self.unfinished.fetch_sub(n, Ordering::AcqRel) != n {
            return End::NotYet;
        }
        if let Some(latch) = &self.ended {
            latch.count_down();
        }
        // SAFETY: the count reaches zero once, so nobody else gets here; nobody else looks.
        match self.looping.with_mut(|looping| unsafe { &mut *looping }.take()) {
            Some(looping) => End::Iteration(looping),
            None => End::Frame,
        }
    }

    /// The calls that led to a kernel of this frame and the kernel itself, innermost first.
    pub(super) fn trace(&self, kernel: u32) -> Vec<String> {
        let mut trace: Vec<String> =
            self.execution.program.location_string(self.at(kernel)).into_iter().collect();
        let mut next = self.parent.as_ref();
        while let Some((frame, kernel)) = next
            && trace.len() < super::MAX_TRACE
        {
            trace.extend(frame.execution.program.location_string(frame.at(*kernel)));
            next = frame.parent.as_ref();
        }
        trace
    }
}

impl Drop for Frame {
    /// A loop, not recursion: calls may be deep.
    fn drop(&mut self) {
        self.execution.give_back(self.registers.len());
        let mut next = self.parent.take();
        while let Some(mut frame) = next.and_then(|(parent, _)| Arc::into_inner(parent)) {
            next = frame.parent.take();
        }
    }
}

fn general(execution: &Execution, function: u32) -> &General {
    execution.program.plan(function).general(execution.program.image())
}
