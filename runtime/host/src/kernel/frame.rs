//! [`KernelFrame`]: the interface between a kernel that runs and the executor.
//!
//! A [`KernelFrame`] looks at the slots of a frame: its registers, and behind them one that always holds a
//! chain. It knows nothing of plans and executors: they give it a [`Step`] and a [`KernelTable`]. Slots are
//! found by the numbers in the step, without comparing them with anything. A step has been compared with the
//! size of a frame when it was made, and the constructors here take or demand a frame of that size.

#![allow(unsafe_code, reason = "slots are found by validated numbers; the essay is the proof")]

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use bef_format::{AttrId, AttrView, FunctionId, Image};
use befrost_mem::{Buffer, ViewError};

use super::file::LoadedFile;
use super::functions::Functions;
use super::job::Job;
use super::one::One;
use super::prepare::Prepared;
use super::step::{CopyStep, INLINE_OPERANDS, Step, StraightStep};
use super::table::{KernelEntry, KernelTable, is_in};
use crate::context::{ExecContext, FramePath, KernelRef, Origin};
use crate::error::{Error, ErrorCode, KernelError};
use crate::value::Value;

/// The code of a kernel.
pub type KernelFn = fn(&mut KernelFrame<'_>) -> Outcome;

/// A kernel's answer.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// The results are stored.
    Done,
    /// An operand is not a concrete value of its type: an error, dead, or something else. The executor knows
    /// what to do.
    Operand,
    /// It failed: all results that are not stored become the error.
    Error(KernelError),
    /// It has asked the executor for something: the answer of the `KernelFrame`'s methods that do.
    Request,
    /// Its results come later, of a job.
    Later(Job),
}

// Two registers.
const _: () = assert!(size_of::<Outcome>() == 16);

/// What a kernel asks the executor to do on its own stack: to run a function, whose results are the kernel's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) call: Call,
    pub(crate) runs: Runs,
}

// Two registers.
const _: () = assert!(size_of::<Request>() == 16);

impl Request {
    /// No kernel has such a function.
    const NONE: Request =
        Request { call: Call { function: u32::MAX, first_operand: 0 }, runs: Runs::More(0) };
}

/// How often a kernel asks for a function to be run, each time on the results of the time before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Once and as many times more; at most [`Runs::MAX_MORE`].
    More(u32),
    /// As long as one more result, the last, is true. So many iterations may be in flight at once.
    WhileTrue { in_flight: u32 },
}

impl Runs {
    /// How many times more a function may be run.
    pub(crate) const MAX_MORE: u32 = (1 << 31) - 1;
}

/// A function and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Which of the kernel's functions.
    pub function: u32,
    /// The operand that is its first argument; the others follow.
    pub first_operand: u32,
}

impl Outcome {
    /// An error answer.
    pub fn error(error: impl Into<KernelError>) -> Outcome {
        Outcome::Error(error.into())
    }
}

/// The chain of callers of a kernel that runs. The executor keeps it for other purposes, and walks it when
/// asked.
pub(crate) trait CallChain {
    /// The locations of the kernel and of the calls that led to it, innermost first.
    fn trace(&self) -> Vec<String>;
    /// The path of the frame that the kernel runs in.
    fn path(&self) -> FramePath;
}

/// Where the slots of a kernel's operands are named.
#[derive(Clone, Copy)]
enum Operands<'f> {
    /// In the table of the function.
    Planned,
    /// Here: they are copies for this kernel only.
    Copies(&'f [u32]),
    /// By a kernel of a straight line, in these lists.
    Straight(&'f StraightStep, &'f [u32]),
    /// There are none any more.
    Gone,
}

/// The surroundings of all kernels of an execution.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'f> {
    pub(crate) file: &'f Arc<LoadedFile>,
    pub(crate) functions: &'f dyn Functions,
    pub(crate) context: &'f ExecContext,
}

/// What a kernel sees while it runs: its operands, attributes and functions, and where its results go.
pub struct KernelFrame<'f> {
    slots: NonNull<Value>,
    n_slots: usize,
    step: &'f Step,
    table: &'f KernelTable,
    operands: Operands<'f>,
    request: Request,
    owns: bool,
    around: Surroundings<'f>,
    /// Its callers; in a line, only of a kernel that needs its path.
    callers: Option<&'f dyn CallChain>,
    _slots: PhantomData<&'f mut [Value]>,
}

impl<'f> KernelFrame<'f> {
    /// A frame whose registers were copied: `operands` are the slots of the operands, and the results'
    /// follow.
    ///
    /// # Panics
    /// If these are not as many slots as `step` has.
    #[inline]
    pub(crate) fn of_copies(
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
            request: Request::NONE,
            owns: false,
            around,
            callers: Some(callers),
            _slots: PhantomData,
        }
    }

    /// A frame of a straight line's slots, without a kernel so far.
    pub(crate) fn of_straight(
        slots: &'f mut [Value],
        table: &'f KernelTable,
        around: Surroundings<'f>,
        callers: &'f dyn CallChain,
    ) -> KernelFrame<'f> {
        KernelFrame {
            n_slots: slots.len(),
            slots: NonNull::from(slots).cast(),
            callers: Some(callers),
            ..KernelFrame::of_line(table, around)
        }
    }

    /// Makes a kernel of a straight line the one that runs.
    ///
    /// # Panics
    /// If its slots are not those of the frame.
    #[inline]
    pub(crate) fn select_straight(&mut self, step: &'f StraightStep, lists: &'f [u32]) {
        assert!(self.n_slots == step.n_slots(), "a kernel of another straight line");
        self.step = step.step();
        self.operands = Operands::Straight(step, lists);
    }

    /// Makes a slot empty.
    pub(crate) fn free(&mut self, slot: u32) {
        self.slots_mut()[slot as usize].clear();
    }

    /// Whether a result is not stored.
    pub(crate) fn misses_results(&self) -> bool {
        (0..self.n_results()).any(|i| self.result(i).is_none())
    }

    /// Makes those results `value` that are not stored.
    pub(crate) fn fill_results(&mut self, value: &Value) {
        for i in 0..self.n_results() {
            if self.result(i).is_none() {
                self.set_result(i, value.clone());
            }
        }
    }

    /// A result that is stored, moved.
    pub(crate) fn take_result(&mut self, i: usize) -> Option<Value> {
        let slot = self.step.first_result.index() + i;
        self.slots_mut().get_mut(slot).map(std::mem::take).filter(|value| !matches!(value, Value::Empty))
    }

    /// A frame of a line, without slots and steps so far.
    pub(crate) fn of_line(table: &'f KernelTable, around: Surroundings<'f>) -> KernelFrame<'f> {
        KernelFrame {
            slots: NonNull::dangling(),
            n_slots: 0,
            step: &Step::NONE,
            table,
            operands: Operands::Planned,
            request: Request::NONE,
            owns: false,
            around,
            callers: None,
            _slots: PhantomData,
        }
    }

    /// Moves to the frame of a function that has a line, whose values may own something or do not.
    ///
    /// # Safety
    /// Whenever a kernel runs on this, `slots` must be valid for reading and writing the table's number of
    /// slots, and nothing else may access them.
    #[inline(always)]
    pub(crate) unsafe fn enter(&mut self, table: &'f KernelTable, slots: NonNull<Value>, owns: bool) {
        self.slots = slots;
        self.n_slots = table.n_slots;
        self.table = table;
        self.owns = owns;
    }

    /// Where the slots are.
    #[inline(always)]
    pub(crate) fn first_slot(&self) -> NonNull<Value> {
        self.slots
    }

    /// Makes a step the one that runs.
    ///
    /// # Safety
    /// As for [`run`](KernelFrame::run).
    #[inline]
    pub(crate) unsafe fn select(&mut self, step: &'f Step) {
        self.step = step;
    }

    /// Runs a step.
    ///
    /// # Safety
    /// It must be a step of the line of the function that this is the frame of.
    #[inline(always)]
    pub(crate) unsafe fn run(&mut self, step: &'f Step) -> Outcome {
        self.step = step;
        (step.run)(self)
    }

    /// Runs the code of the kernel of the step that runs, which knows its callers.
    pub(crate) fn run_placed(&mut self, callers: &dyn CallChain) -> Outcome {
        // It does not say so if it panics.
        self.owns = true;
        let mut placed = KernelFrame { callers: Some(callers), operands: self.operands, ..*self };
        let outcome = (placed.kernel().run)(&mut placed);
        self.request = placed.request;
        outcome
    }

    /// The step that runs.
    #[inline]
    pub(crate) fn step(&self) -> &'f Step {
        self.step
    }

    #[inline]
    pub(crate) fn table(&self) -> &'f KernelTable {
        self.table
    }

    pub(crate) fn at(&self) -> KernelRef {
        KernelRef { function: self.table.function, kernel: self.step.kernel }
    }

    /// The table's entry of the kernel that runs.
    #[inline]
    pub(crate) fn kernel(&self) -> &'f KernelEntry {
        &self.table.kernels[self.step.kernel as usize]
    }

    #[inline]
    pub(crate) fn slots(&self) -> &[Value] {
        // SAFETY: the contract of `enter`, or the slice of `of_copies`: the slots are ours; `self` is
        // borrowed as long as they.
        unsafe { std::slice::from_raw_parts(self.slots.as_ptr(), self.n_slots) }
    }

    #[inline]
    pub(crate) fn slots_mut(&mut self) -> &mut [Value] {
        // SAFETY: as in `slots`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.slots.as_ptr(), self.n_slots) }
    }

    /// The slots of the operands.
    #[inline]
    pub(crate) fn operand_slots(&self) -> &'f [u32] {
        match self.operands {
            Operands::Planned => self.kernel().operands.of(&self.table.lists),
            Operands::Copies(operands) => operands,
            Operands::Straight(step, lists) => step.passed(lists),
            Operands::Gone => &[],
        }
    }

    /// The operand as it is; for one that is not passed, some value.
    #[inline(always)]
    pub(crate) fn slot(&self, i: usize) -> &Value {
        static NOTHING: Value = Value::Empty;
        if i < INLINE_OPERANDS {
            // SAFETY: `inline` names slots of frames of the step's size only (`Step::new`), of which this is
            // one: the contract of `run`, the assertions of `of_copies` and `select_straight`.
            let slot = unsafe { self.slots.byte_add(self.step.inline[i].bytes()) };
            // SAFETY: the slots are ours, as in `slots`.
            return unsafe { slot.as_ref() };
        }
        self.raw_operand(i).unwrap_or(&NOTHING)
    }

    /// Where a result is stored, over nothing; what it stores may own something, if so it `owns`. Nothing if
    /// the use does not want it.
    #[inline(always)]
    fn place_of(&mut self, i: usize, owns: bool) -> Option<NonNull<Value>> {
        // Every step has a slot for a first result, wanted or not.
        if i != 0 && i >= usize::from(self.step.n_results) {
            return None;
        }
        self.owns |= owns;
        // SAFETY: the first result of a step is a slot of its frame, as in `slot`.
        let first = unsafe { self.slots.byte_add(self.step.first_result.bytes()) };
        // SAFETY: so are all `n_results` from there on, or there is one.
        Some(unsafe { first.add(i) })
    }

    /// Stores a result over nothing.
    #[inline(always)]
    pub(crate) fn store<T: One>(&mut self, i: usize, result: T) {
        if let Some(slot) = self.place_of(i, !T::IS_PLAIN) {
            // SAFETY: the slots are ours, as in `slots`. What was there is a plain value or nothing, or the
            // kernel stores twice, and leaks.
            unsafe { result.into_value().place(slot) };
        }
    }

    /// [`KernelFrame::store`] in a job's frame, where results are taken from as they are.
    #[inline(always)]
    pub(crate) fn store_to_copy<T: One>(&mut self, i: usize, result: T) {
        if let Some(slot) = self.place_of(i, !T::IS_PLAIN) {
            // SAFETY: as in `store`.
            unsafe { result.into_value().place_to_copy(slot) };
        }
    }

    /// Whether a value may have been stored in this frame that owns something.
    #[inline]
    pub(crate) fn owns(&self) -> bool {
        self.owns
    }

    /// How many operands are passed.
    #[inline]
    pub fn n_operands(&self) -> usize {
        self.operand_slots().len()
    }

    /// An operand, looking through an AsyncValue that is final. `None` if there is none so far.
    #[inline]
    pub fn operand(&self, i: usize) -> Option<&Value> {
        self.raw_operand(i)?.final_value()
    }

    /// An operand as it is: perhaps an AsyncValue that is not final.
    pub fn raw_operand(&self, i: usize) -> Option<&Value> {
        self.slots().get(*self.operand_slots().get(i)? as usize)
    }

    /// An operand, to keep: moved if nobody reads it after this kernel, so that who holds it alone may reuse
    /// its memory; else a clone. What is moved is not there any more. `None` if there is none, or it is not
    /// final.
    pub fn take_operand(&mut self, i: usize) -> Option<Value> {
        let slot = *self.operand_slots().get(i)? as usize;
        let moves = match self.operands {
            Operands::Planned => is_in(self.kernel().yields.of(&self.table.lists), i),
            Operands::Copies(_) => true,
            Operands::Straight(step, lists) => is_in(step.yields(lists), i),
            Operands::Gone => false,
        };
        let value = self.slots_mut().get_mut(slot)?;
        // What is not concrete stays: it may decide what the results are. What is plain may stay.
        if moves && value.is_concrete() && !value.is_plain() {
            return Some(std::mem::take(value));
        }
        value.final_value().cloned()
    }

    /// How many results the use of the kernel wants.
    #[inline]
    pub fn n_results(&self) -> usize {
        usize::from(self.step.n_results)
    }

    /// A result that is stored.
    pub(crate) fn result(&self, i: usize) -> Option<&Value> {
        let value = self.slots().get(self.step.first_result.index() + i)?;
        (!matches!(value, Value::Empty)).then_some(value)
    }

    /// Makes all results such as are not stored.
    pub(crate) fn clear_results(&mut self) {
        let (first, n) = (self.step.first_result.index(), self.n_results());
        self.slots_mut()[first..first + n].iter_mut().for_each(Value::clear);
    }

    /// Stores a result. One that the use does not want is dropped.
    pub fn set_result(&mut self, i: usize, value: Value) {
        let first = self.step.first_result.index();
        self.owns |= !value.is_plain();
        if i < self.n_results()
            && let Some(slot) = self.slots_mut().get_mut(first + i)
        {
            *slot = value;
        }
    }

    /// The operands from `first` on, to be kept beyond the kernel's run.
    pub(crate) fn operands_from(&self, first: usize) -> Vec<Value> {
        (first..self.n_operands()).filter_map(|i| self.raw_operand(i)).cloned().collect()
    }

    /// Drops the operands of a frame of copies. A job's frame has none.
    #[inline]
    pub(crate) fn drop_operands(&mut self) {
        let first_result = self.step.first_result.index();
        self.slots_mut().iter_mut().take(first_result).for_each(Value::release);
        self.operands = Operands::Gone;
    }

    /// Gives a job's frame operands again, for a function that it asks for.
    pub(crate) fn set_operands(&mut self, operands: Vec<Value>) {
        let first_result = self.step.first_result.index();
        let slots = self.slots_mut().iter_mut().take(first_result);
        slots.zip(operands).for_each(|(slot, operand)| *slot = operand);
    }

    /// Asks for a function to be run; its results are the kernel's.
    #[inline]
    pub fn call(&mut self, call: Call) -> Outcome {
        self.ask(call, Runs::More(0))
    }

    /// Asks for a function to be run `times` times, at most 2^31, each time on the results of the time
    /// before; those of the last time are the kernel's.
    pub fn repeat(&mut self, call: Call, times: u32) -> Outcome {
        match times.checked_sub(1) {
            Some(more @ ..=Runs::MAX_MORE) => self.ask(call, Runs::More(more)),
            Some(_) => Outcome::error(KernelError::invalid(format!("{times} iterations are too many"))),
            None => self.pass(call.first_operand),
        }
    }

    /// Asks for a function to be run, and again on all of its results but the last as long as that is true.
    /// The others are the kernel's then. At most `in_flight` iterations are in flight: one may begin when the
    /// condition of the one before is known.
    pub fn repeat_while(&mut self, call: Call, in_flight: u32) -> Outcome {
        self.ask(call, Runs::WhileTrue { in_flight })
    }

    /// Gives the operands from `first` on as results, in whatever state.
    pub fn pass(&mut self, first: u32) -> Outcome {
        for i in 0..self.n_results() {
            let operand = first as usize + i;
            let value = self.take_operand(operand).or_else(|| self.raw_operand(operand).cloned());
            self.set_result(i, value.unwrap_or_default());
        }
        Outcome::Done
    }

    #[inline]
    fn ask(&mut self, call: Call, runs: Runs) -> Outcome {
        self.request = Request { call, runs };
        Outcome::Request
    }

    /// What the kernel has asked for; nothing that can be done, if it has asked for nothing.
    #[inline]
    pub(crate) fn take_request(&mut self) -> Request {
        std::mem::replace(&mut self.request, Request::NONE)
    }

    /// What the kernel has asked for last.
    #[inline]
    pub(crate) fn request(&self) -> Request {
        self.request
    }

    /// The name of the kernel that runs.
    pub fn name(&self) -> &'f str {
        self.around.file.kernel_view(self.at()).name()
    }

    /// An attribute, by its position in the op's definition.
    pub fn attr(&self, i: usize) -> Option<AttrView<'_>> {
        Some(self.image().attr(self.attr_id(i)?))
    }

    /// The attribute's id in the file.
    pub(super) fn attr_id(&self, i: usize) -> Option<AttrId> {
        self.kernel().attrs.of(&self.table.lists).get(i).copied().map(AttrId)
    }

    /// An attribute as a value, if it is a scalar.
    #[inline]
    pub(crate) fn immediate(&self, i: usize) -> Option<&Value> {
        self.kernel().immediates.of(&self.table.immediates).get(i)
    }

    /// What the kernel has made of its use.
    ///
    /// # Errors
    /// The answer to give if its signature does not say that it makes such a `T`.
    #[inline]
    pub fn prepared<T: 'static>(&self) -> Result<Prepared<'f, T>, Outcome> {
        let made = self.kernel().prepared.and_then(|i| self.around.file.prepared(i)?.downcast_ref());
        made.map(Prepared).ok_or_else(|| {
            Outcome::error(KernelError::new(ErrorCode::Internal, "the kernel was not prepared"))
        })
    }

    /// A function that the kernel may call.
    pub fn function(&self, i: usize) -> Option<FunctionId> {
        self.kernel().functions.of(&self.table.lists).get(i).copied().map(FunctionId)
    }

    /// How many functions the kernel may call.
    pub fn n_functions(&self) -> usize {
        self.kernel().functions.of(&self.table.lists).len()
    }

    /// The file that the kernel stands in.
    pub fn image(&self) -> &Image<'_> {
        self.around.file.image()
    }

    /// The file that the kernel stands in.
    pub(crate) fn file(&self) -> &'f Arc<LoadedFile> {
        self.around.file
    }

    /// The functions of the file.
    pub(crate) fn functions(&self) -> &'f dyn Functions {
        self.around.functions
    }

    /// What it shares with the other kernels of the execution.
    pub(crate) fn around(&self) -> Surroundings<'f> {
        self.around
    }

    /// A part of the file as a buffer that keeps the file alive. No copy.
    ///
    /// # Errors
    /// If `data` is not a part of the file.
    pub fn mapped(&self, data: &[u8]) -> Result<Buffer, ViewError> {
        self.around.file.mapped(data)
    }

    /// The execution.
    pub fn context(&self) -> &'f ExecContext {
        self.around.context
    }

    /// The path of the frame that the kernel runs in.
    ///
    /// # Errors
    /// The answer to give if it is not known: the kernel's signature must say that it takes its frame.
    pub fn path(&self) -> Result<FramePath, Outcome> {
        self.callers.map(CallChain::path).ok_or_else(|| {
            let message = "the kernel asks for its frame, which its signature does not say";
            Outcome::error(KernelError::new(ErrorCode::Internal, message))
        })
    }

    /// The kernel as the one that begins executions of `function`; `None` if nothing there asks for its
    /// frame.
    pub(crate) fn origin_of(&self, function: FunctionId) -> Option<Arc<Origin>> {
        let callers = self.callers.filter(|_| self.around.functions.needs_path(function))?;
        Some(Origin::new(callers.path(), self.at()))
    }

    /// The error of a function that the kernel has called, with the kernel's place and the calls that led to
    /// it.
    pub(crate) fn error_of_call(&self, error: &Error) -> Error {
        if error.trace().is_empty() {
            return error.clone();
        }
        let trace = self.callers.map_or_else(Vec::new, CallChain::trace);
        self.around.context.raise(&KernelError::of_call(error), trace)
    }

    /// Where this kernel stands, to be kept beyond its run.
    pub fn site(&self) -> Site {
        Site { file: self.around.file.clone(), at: self.at() }
    }
}

/// A place in a program. Asynchronous kernels keep it to say where an error happened.
#[derive(Clone)]
pub struct Site {
    file: Arc<LoadedFile>,
    at: KernelRef,
}

impl Site {
    /// As `file:line:col`, if the file says so.
    pub fn location(&self) -> Option<String> {
        self.file.location_string(self.at)
    }

    /// The name that the source gives to the place, as `loc("name")`. That of fused locations is made of the
    /// names of their parts and may be empty.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        self.file.location_name(self.at)
    }

    /// The error that happened here.
    pub fn error(&self, error: KernelError) -> Error {
        let trace = self.file.location_string(self.at).into_iter().collect();
        Error::new(error.code(), error.message(), trace)
    }
}
