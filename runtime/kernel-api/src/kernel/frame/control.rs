//! The executor's side of a [`KernelFrame`]: construction, selection of the running kernel, requests and
//! results.

#![allow(
    unsafe_code,
    reason = "slots are found by validated numbers; the essay of the module above is the proof"
)]

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::{CallChain, CallRequest, KernelFrame, Operands, Outcome, Surroundings};
use crate::context::KernelRef;
use crate::kernel::step::{CopyStep, INLINE_OPERANDS, Step, StraightStep};
use crate::kernel::table::{KernelEntry, KernelTable};
use crate::value::Value;

#[doc(hidden)]
impl<'f> KernelFrame<'f> {
    /// A frame of copied registers. `operands` are the slots of the operands; those of the results follow.
    ///
    /// # Panics
    /// If the number of slots is not that of `step`.
    #[inline]
    pub fn of_copies(
        slots: &'f mut [Value],
        operands: &'f [u32],
        step: &'f CopyStep,
        table: &'f KernelTable,
        around: Surroundings<'f>,
        callers: &'f dyn CallChain,
    ) -> KernelFrame<'f> {
        assert!(slots.len() == step.n_slots(), "a kernel of another frame");
        KernelFrame {
            n_slots: slots.len(),
            slots: NonNull::from(slots).cast(),
            step: step.step(),
            table,
            operands: Operands::Copies(operands),
            request: CallRequest::NONE,
            owns: false,
            around,
            callers: Some(callers),
            _slots: PhantomData,
        }
    }

    /// A frame of a straight line's slots. No kernel is selected yet.
    ///
    /// # Panics
    /// If there are no slots.
    pub fn of_straight(
        slots: &'f mut [Value],
        table: &'f KernelTable,
        around: Surroundings<'f>,
        callers: &'f dyn CallChain,
    ) -> KernelFrame<'f> {
        // `Step::NONE` names slot 0.
        assert!(!slots.is_empty(), "a frame without slots");
        KernelFrame {
            n_slots: slots.len(),
            slots: NonNull::from(slots).cast(),
            callers: Some(callers),
            // SAFETY: the fields above are valid slots, and `Step::NONE` names only the first of them.
            ..unsafe { KernelFrame::of_line(table, around) }
        }
    }

    /// Selects a kernel of a straight line as the running one.
    ///
    /// # Panics
    /// If the number of its slots is not that of the frame.
    #[inline]
    pub fn select_straight(&mut self, step: &'f StraightStep, lists: &'f [u32]) {
        assert!(self.n_slots == step.n_slots(), "a kernel of another straight line");
        self.step = step.step();
        self.operands = Operands::Straight(step, lists);
    }

    /// Makes a slot empty.
    pub fn free(&mut self, slot: u32) {
        self.slots_mut()[slot as usize].clear();
    }

    /// True if a result is not stored.
    pub fn misses_results(&self) -> bool {
        (0..self.n_results()).any(|i| self.result(i).is_none())
    }

    /// Sets the results that are not stored to `value`.
    pub fn fill_results(&mut self, value: &Value) {
        for i in 0..self.n_results() {
            if self.result(i).is_none() {
                self.set_result(i, value.clone());
            }
        }
    }

    /// Moves a stored result out.
    pub fn take_result(&mut self, i: usize) -> Option<Value> {
        let slot = self.step.first_result.index() + i;
        self.slots_mut().get_mut(slot).map(std::mem::take).filter(|value| !matches!(value, Value::Empty))
    }

    /// A frame of a sequential plan, without slots and step.
    ///
    /// # Safety
    /// Before anything is read from it or stored in it, [`KernelFrame::enter`] and [`KernelFrame::select`]
    /// must give it slots and a step.
    pub unsafe fn of_line(table: &'f KernelTable, around: Surroundings<'f>) -> KernelFrame<'f> {
        KernelFrame {
            slots: NonNull::dangling(),
            n_slots: 0,
            step: &Step::NONE,
            table,
            operands: Operands::Planned,
            request: CallRequest::NONE,
            owns: false,
            around,
            callers: None,
            _slots: PhantomData,
        }
    }

    /// Moves to the frame of a function with a sequential plan. `owns`: its values may own something.
    ///
    /// # Safety
    /// While a kernel runs in this frame, `slots` must be valid for reading and writing the table's number of
    /// slots, and nothing else may access them. The selected step must be one of that function's plan.
    #[inline(always)]
    pub unsafe fn enter(&mut self, table: &'f KernelTable, slots: NonNull<Value>, owns: bool) {
        self.slots = slots;
        self.n_slots = table.n_slots;
        self.table = table;
        self.owns = owns;
    }

    /// The address of the first slot.
    #[inline(always)]
    pub fn first_slot(&self) -> NonNull<Value> {
        self.slots
    }

    /// Selects a step as the running one.
    ///
    /// # Safety
    /// As for [`run`](KernelFrame::run). The second operand of a step of a form is not to be read: its code
    /// is run by [`run_placed`](KernelFrame::run_placed).
    #[inline]
    pub unsafe fn select(&mut self, step: &'f Step) {
        self.step = step;
    }

    /// Runs a step.
    ///
    /// # Safety
    /// It must be a step of the sequential plan of the frame's function. If it is one of a form, see
    /// [`select`](KernelFrame::select).
    #[inline(always)]
    pub unsafe fn run(&mut self, step: &'f Step) -> Outcome {
        self.step = step;
        (step.run)(self)
    }

    /// Runs the code of the selected step's kernel, whatever the step's kind, with its callers. None of its
    /// results are stored before.
    pub fn run_placed(&mut self, callers: &dyn CallChain) -> Outcome {
        self.clear_results();
        // Set before the run, because a panic skips the rest of this function.
        self.owns = true;
        let step = self.step.in_full(self.operand_slots(), self.n_slots);
        let mut placed = KernelFrame { callers: Some(callers), step: &step, ..*self };
        let outcome = (placed.kernel().run)(&mut placed);
        self.request = placed.request;
        outcome
    }

    /// The selected step.
    #[inline]
    pub fn step(&self) -> &'f Step {
        self.step
    }

    #[inline]
    pub fn table(&self) -> &'f KernelTable {
        self.table
    }

    pub fn at(&self) -> KernelRef {
        KernelRef { function: self.table.function, kernel: self.step.kernel }
    }

    /// The table's entry of the running kernel.
    #[inline]
    pub fn kernel(&self) -> &'f KernelEntry {
        &self.table.kernels[self.step.kernel as usize]
    }

    #[inline]
    pub fn slots(&self) -> &[Value] {
        // SAFETY: by the contract of `enter`, or by the slice of a constructor, the frame may access these
        // slots alone. The result borrows `self`.
        unsafe { std::slice::from_raw_parts(self.slots.as_ptr(), self.n_slots) }
    }

    #[inline]
    pub fn slots_mut(&mut self) -> &mut [Value] {
        // SAFETY: as in `slots`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.slots.as_ptr(), self.n_slots) }
    }

    /// An operand in any state; an arbitrary value for one that is not passed.
    #[inline(always)]
    pub fn slot(&self, i: usize) -> &Value {
        static NOTHING: Value = Value::Empty;
        if i < INLINE_OPERANDS {
            // SAFETY: `Step::new` compared the slots in `inline` with the size of the step's frame. This
            // frame has that size: by the contract of `run`, or by the assertion of `of_copies` or
            // `select_straight`. A step of a form, whose second number is no slot, is not selected while code
            // runs that reads more than the first operand: by the contract of `select`.
            let slot = unsafe { self.slots.byte_add(self.step.inline[i].bytes()) };
            // SAFETY: the frame may access its slots, as in `slots`.
            return unsafe { slot.as_ref() };
        }
        self.raw_operand(i).unwrap_or(&NOTHING)
    }

    /// True if a value that owns something may have been stored in this frame.
    #[inline]
    pub fn owns(&self) -> bool {
        self.owns
    }

    /// A stored result.
    pub fn result(&self, i: usize) -> Option<&Value> {
        let value = self.slots().get(self.step.first_result.index() + i)?;
        (!matches!(value, Value::Empty)).then_some(value)
    }

    /// Empties all results: none is stored afterwards.
    pub fn clear_results(&mut self) {
        let (first, n) = (self.step.first_result.index(), self.n_results());
        self.slots_mut()[first..first + n].iter_mut().for_each(Value::clear);
    }

    /// Drops the operands of a frame of copies, for a job.
    #[inline]
    pub fn drop_operands(&mut self) {
        let first_result = self.step.first_result.index();
        self.slots_mut().iter_mut().take(first_result).for_each(Value::release);
        self.operands = Operands::Gone;
    }

    /// Takes the kernel's request. Without one, the result names no function.
    #[inline]
    pub fn take_request(&mut self) -> CallRequest {
        std::mem::replace(&mut self.request, CallRequest::NONE)
    }

    /// The kernel's last request.
    #[inline]
    pub fn request(&self) -> CallRequest {
        self.request
    }

    /// References that all kernels of the execution share.
    pub fn around(&self) -> Surroundings<'f> {
        self.around
    }
}
