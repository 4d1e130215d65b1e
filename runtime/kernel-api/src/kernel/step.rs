//! Steps: kernels with the slots that they read and write, in the layout of a frame.
//!
//! The slots of a step are compared with the size of the frame when the step is made, and never again. A
//! [`Step`] does not contain that size. [`CopyStep`] and [`StraightStep`] do, and the steps of a sequential
//! plan belong to one function.

use super::frame::{KernelFn, Outcome};
use super::table::Span;
use crate::value::Value;

/// Number of operands whose slots a [`Step`] contains.
pub(crate) const INLINE_OPERANDS: usize = 3;

/// A slot of a frame, as its distance in bytes from the first: one addition gives the address.
#[derive(Clone, Copy, Debug)]
pub struct Slot(u32);

/// Limit of the number of slots of a frame.
pub(crate) const MAX_SLOTS: usize = 1 << 28;

impl Slot {
    /// Slot number `index`, which is less than [`MAX_SLOTS`].
    pub fn new(index: usize) -> Slot {
        assert!(index < MAX_SLOTS, "a slot that no frame has");
        Slot((index * size_of::<Value>()) as u32)
    }

    /// The distance in bytes.
    #[inline(always)]
    pub fn bytes(self) -> usize {
        self.0 as usize
    }

    /// The number of the slot.
    #[inline]
    pub fn index(self) -> usize {
        self.bytes() / size_of::<Value>()
    }
}

/// Execution of a [`Step`]. Only `Kernel` and `Registers` steps run code. The code of the others returns
/// [`Outcome::Request`], and the executor interprets them. A step of a form has one target per function that
/// the form selects from; a [`StepKind::Case`] may select one that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A kernel whose code is run.
    Kernel,
    /// Not a kernel: prepares or frees registers.
    Registers,
    /// A kernel of [`Form::Call`](super::Form::Call).
    Call,
    /// A kernel of [`Form::Branch`](super::Form::Branch).
    Branch,
    /// A kernel of [`Form::Case`](super::Form::Case).
    Case,
    /// A kernel of [`Form::Repeat`](super::Form::Repeat).
    Repeat,
    /// A kernel of [`Form::While`](super::Form::While).
    While,
    /// A kernel of its own form that needs the path of its frame.
    Placed,
    /// The end of a sequential plan.
    End,
}

/// One step: all data of a small kernel, in half a cache line.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The code.
    pub run: KernelFn,
    /// The slots of the first operands. In place of missing operands, the last slot.
    pub inline: [Slot; INLINE_OPERANDS],
    /// The slot of the first result. Without results, the last slot.
    pub first_result: Slot,
    /// The kernel, or the number of the list of registers to free.
    pub kernel: u32,
    /// The number of results.
    pub n_results: u16,
    /// The kind of execution.
    pub kind: StepKind,
}

const _: () = assert!(size_of::<Step>() == 32);

impl Step {
    /// The end of an empty plan.
    pub const NONE: Step = Step {
        run: |_| Outcome::Request,
        inline: [Slot(0); INLINE_OPERANDS],
        first_result: Slot(0),
        kernel: 0,
        n_results: 0,
        kind: StepKind::End,
    };

    /// Kernel number `kernel`, with these operands and `n_results` results from slot `first_result` on, in a
    /// frame with `n_slots` slots.
    ///
    /// # Panics
    /// If the frame does not have the slots.
    pub fn new(
        run: KernelFn,
        kernel: u32,
        operands: &[u32],
        (first_result, n_results): (u32, u16),
        n_slots: usize,
    ) -> Step {
        let last = Slot::new(n_slots - 1);
        let mut inline = [last; INLINE_OPERANDS];
        for (slot, &operand) in inline.iter_mut().zip(operands) {
            *slot = Slot::new(operand as usize);
        }
        let first_result = if n_results == 0 { last } else { Slot::new(first_result as usize) };
        let step = Step { run, inline, first_result, kernel, n_results, kind: StepKind::Kernel };
        assert!(step.fits(n_slots), "a register that the frame does not have");
        step
    }

    /// A step that prepares or frees registers, in a frame with `n_slots` slots.
    pub fn registers(run: KernelFn, n_slots: usize) -> Step {
        let last = Slot::new(n_slots - 1);
        let inline = [last; INLINE_OPERANDS];
        Step { run, inline, first_result: last, kind: StepKind::Registers, ..Step::NONE }
    }

    /// The step of a kernel that the executor interprets as `kind`, with the number of its first target. Of
    /// its operands only the first may be read by the step's numbers; [`Step::in_full`] has all.
    pub fn of_form(self, kind: StepKind, first_target: u32) -> Step {
        let [decides, _, unused] = self.inline;
        Step { run: Step::NONE.run, inline: [decides, Slot(first_target), unused], kind, ..self }
    }

    /// The step with the slots of its kernel's operands, whatever its kind, in a frame with `n_slots` slots.
    ///
    /// # Panics
    /// If the frame does not have the slots.
    pub(crate) fn in_full(&self, operands: &[u32], n_slots: usize) -> Step {
        let results = (self.first_result.index() as u32, self.n_results);
        Step::new(self.run, self.kernel, operands, results, n_slots)
    }

    /// The step of a kernel that needs its path. The executor runs its code.
    pub fn placed(self) -> Step {
        Step { run: Step::NONE.run, kind: StepKind::Placed, ..self }
    }

    /// The number of the first target of a step of a form. It takes the place of the second operand.
    #[inline(always)]
    pub fn first_target(&self) -> usize {
        self.inline[1].0 as usize
    }

    /// The end of a plan. Another iteration begins `n_again` steps before it if the frame keeps its values:
    /// the steps before those run once.
    pub fn end(n_again: u32) -> Step {
        Step { inline: [Slot(0), Slot(n_again), Slot(0)], ..Step::NONE }
    }

    /// The number of steps before an end that run in every iteration. It takes the place of the second
    /// operand.
    #[inline(always)]
    pub fn n_again(&self) -> usize {
        self.inline[1].0 as usize
    }

    /// True if a frame with `n_slots` slots has all slots of the step.
    pub(crate) fn fits(&self, n_slots: usize) -> bool {
        self.first_result.index() + usize::from(self.n_results.max(1)) <= n_slots
            && self.inline.iter().all(|slot| slot.index() < n_slots)
    }
}

/// A step on copies of a kernel's registers: the operands in order, the results, a chain.
pub struct CopyStep(Step);

impl CopyStep {
    /// Kernel number `kernel`.
    pub fn new(run: KernelFn, kernel: u32, n_operands: u32, n_results: u16) -> CopyStep {
        let operands: Vec<u32> = (0..n_operands.min(INLINE_OPERANDS as u32)).collect();
        let n_slots = n_operands as usize + usize::from(n_results) + 1;
        CopyStep(Step::new(run, kernel, &operands, (n_operands, n_results), n_slots))
    }

    /// The step.
    #[inline]
    pub fn step(&self) -> &Step {
        &self.0
    }

    /// The number of operands.
    #[inline]
    pub fn n_operands(&self) -> usize {
        // The slot of the first result, or of the chain if there are no results.
        self.0.first_result.index()
    }

    /// The number of results.
    #[inline]
    pub fn n_results(&self) -> usize {
        usize::from(self.0.n_results)
    }

    /// The number of slots of its frame.
    #[inline]
    pub fn n_slots(&self) -> usize {
        self.n_operands() + self.n_results() + 1
    }
}

/// A step of a straight line, on the slots of the line.
pub struct StraightStep {
    step: Step,
    n_slots: usize,
    /// The slots of the operands.
    passed: Span,
    /// The operands that the kernel may keep, as in [`KernelEntry::last_uses`](super::table::KernelEntry).
    last_uses: Span,
}

impl StraightStep {
    /// `step` of a line with `n_slots` slots.
    ///
    /// # Panics
    /// If the line does not have the slots that the step names.
    pub fn new(step: Step, n_slots: usize, passed: Span, last_uses: Span) -> StraightStep {
        assert!(step.fits(n_slots), "a slot that the line does not have");
        StraightStep { step, n_slots, passed, last_uses }
    }

    /// The step.
    #[inline]
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// The number of slots of its frame.
    #[inline]
    pub fn n_slots(&self) -> usize {
        self.n_slots
    }

    /// The slots of the operands, in the lists of the line.
    pub fn passed<'l>(&self, lists: &'l [u32]) -> &'l [u32] {
        self.passed.of(lists)
    }

    /// The operands that the kernel may keep, in the lists of the line.
    pub fn last_uses<'l>(&self, lists: &'l [u32]) -> &'l [u32] {
        self.last_uses.of(lists)
    }
}
