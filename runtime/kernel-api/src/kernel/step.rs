//! Steps: kernels with the slots that they read and write, as a plan lays them out in a frame.
//!
//! The slots that a step names are checked against the size of the frame when it is made, and never again. A
//! [`Step`] does not know that size: [`CopyStep`] and [`StraightStep`] do, and the steps of a line are those
//! of one plan.

use super::frame::{KernelFn, Outcome};
use super::table::Span;
use crate::value::Value;

/// How many operands a [`Step`] has at hand.
pub(crate) const INLINE_OPERANDS: usize = 3;

/// A slot of a frame, as the distance in bytes from the first: what an address is made of with one addition.
#[derive(Clone, Copy, Debug)]
pub struct Slot(u32);

/// More slots than this no frame has.
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

/// How a [`Step`] is executed. Only the steps of kernels and registers have code that does something: the
/// code of the others answers with a request, and the executor of the line does what they stand for. Steps of
/// forms have as many targets as the form chooses from; a [`StepKind::Case`] may be asked for one that it
/// does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A kernel whose code is run.
    Kernel,
    /// No kernel: it prepares or frees registers.
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
    /// The last of a line.
    End,
}

/// One step, with all that a small kernel needs in half a cache line.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The code.
    pub run: KernelFn,
    /// The slots of the first operands; where there is none, the last slot.
    pub inline: [Slot; INLINE_OPERANDS],
    /// The slot of the first result; if there is none, the last slot.
    pub first_result: Slot,
    /// The kernel, or the number of the list of registers to free.
    pub kernel: u32,
    /// The number of results.
    pub n_results: u16,
    /// How it is executed.
    pub kind: StepKind,
}

const _: () = assert!(size_of::<Step>() == 32);

impl Step {
    /// The end of an empty line.
    pub const NONE: Step = Step {
        run: |_| Outcome::Request,
        inline: [Slot(0); INLINE_OPERANDS],
        first_result: Slot(0),
        kernel: 0,
        n_results: 0,
        kind: StepKind::End,
    };

    /// Kernel number `kernel`, with these operands and as many results from slot `first_result` on, in a
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

    /// The same for a kernel that the executor runs as `kind`, whose first target has this number.
    pub fn of_form(self, kind: StepKind, first_target: u32) -> Step {
        let [decides, _, unused] = self.inline;
        Step { run: Step::NONE.run, inline: [decides, Slot(first_target), unused], kind, ..self }
    }

    /// The same for a kernel that needs its path: the executor of the line runs its code.
    pub fn placed(self) -> Step {
        Step { run: Step::NONE.run, kind: StepKind::Placed, ..self }
    }

    /// Of a step of a form: the number of its first target. It stands where others have their second operand.
    #[inline(always)]
    pub fn first_target(&self) -> usize {
        self.inline[1].0 as usize
    }

    /// Whether a frame with so many slots has all those that the step names.
    pub(crate) fn fits(&self, n_slots: usize) -> bool {
        self.first_result.index() + usize::from(self.n_results.max(1)) <= n_slots
            && self.inline.iter().all(|slot| slot.index() < n_slots)
    }
}

/// A step on copies of a kernel's registers: the operands in order, then the results, then a chain.
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
        // The slot of the first result, or without one of the chain.
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
    /// The operands that the kernel may keep, as [`KernelEntry::yields`](super::table::KernelEntry).
    yields: Span,
}

impl StraightStep {
    /// `step` of a line with `n_slots` slots.
    ///
    /// # Panics
    /// If the line does not have the slots that the step names.
    pub fn new(step: Step, n_slots: usize, passed: Span, yields: Span) -> StraightStep {
        assert!(step.fits(n_slots), "a slot that the line does not have");
        StraightStep { step, n_slots, passed, yields }
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
    pub fn yields<'l>(&self, lists: &'l [u32]) -> &'l [u32] {
        self.yields.of(lists)
    }
}
