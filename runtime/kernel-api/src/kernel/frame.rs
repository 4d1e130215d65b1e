//! [`KernelFrame`]: the interface between a running kernel and the executor.
//!
//! A [`KernelFrame`] refers to the slots of a frame: its registers, followed by one that always contains a
//! chain. It does not depend on plans: the executor gives it a [`Step`] and a [`KernelTable`]. Slots are
//! addressed by the numbers in the step without bounds checks. The numbers of a step were compared with the
//! size of a frame when the step was made, and the constructors (`control`) take or demand a frame of that
//! size.

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
use super::prepare::Prepared;
use super::result::ResultValue;
use super::step::{Step, StraightStep};
use super::table::{KernelTable, is_in};
use crate::context::{ExecContext, FramePath, KernelRef, Origin};
use crate::error::{Error, ErrorCode, KernelError};
use crate::value::Value;

mod control;

/// The code of a kernel.
pub type KernelFn = fn(&mut KernelFrame<'_>) -> Outcome;

/// The outcome of a kernel.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// The results are stored.
    Done,
    /// An operand is not a concrete value of its type: an error, dead, or something else. The executor
    /// decides the results.
    Operand,
    /// The kernel failed. Results that are not stored become the error.
    Error(KernelError),
    /// The executor is to run a function. Returned by the methods of [`KernelFrame`] that request it.
    Request,
    /// A job computes the results later.
    Later(Job),
}

// Returned in two machine registers.
const _: () = assert!(size_of::<Outcome>() == 16);

/// A request to the executor: to run a function on its own stack, whose results are the kernel's.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest {
    /// The function and its arguments.
    pub call: Call,
    /// The number of runs.
    pub runs: Runs,
}

// Passed in two machine registers.
const _: () = assert!(size_of::<CallRequest>() == 16);

impl CallRequest {
    /// A request that no kernel can make: there is no such function.
    const NONE: CallRequest =
        CallRequest { call: Call { function: u32::MAX, first_operand: 0 }, runs: Runs::More(0) };
}

/// The number of runs of a requested function, each on the results of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Once, and this many times more; at most [`Runs::MAX_MORE`].
    More(u32),
    /// While one more result, the last, is true.
    WhileTrue {
        /// Limit of the iterations in flight.
        in_flight: u32,
    },
}

impl Runs {
    /// Limit of the number in [`Runs::More`].
    pub const MAX_MORE: u32 = (1 << 31) - 1;
}

/// A function and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Number of the function among those of the kernel.
    pub function: u32,
    /// The operand that is its first argument. The others follow.
    pub first_operand: u32,
}

impl Outcome {
    /// The operand, or [`Outcome::Operand`] if there is none. (`Option::ok_or` would construct the outcome in
    /// both cases, and drop it in one.)
    #[inline(always)]
    pub fn required<T>(operand: Option<T>) -> Result<T, Outcome> {
        match operand {
            Some(operand) => Ok(operand),
            None => Err(Outcome::Operand),
        }
    }

    /// The outcome of a kernel that failed.
    pub fn error(error: impl Into<KernelError>) -> Outcome {
        Outcome::Error(error.into())
    }
}

/// The chain of callers of a running kernel. The executor walks it on request.
pub trait CallChain {
    /// The locations of the kernel and of the calls that led to it, innermost first.
    fn trace(&self) -> Vec<String>;
    /// The path of the kernel's frame.
    fn path(&self) -> FramePath;
}

/// Source of the slots of a kernel's operands.
#[derive(Clone, Copy)]
enum Operands<'f> {
    /// The table of the function.
    Planned,
    /// This list. The operands are copies for this kernel only.
    Copies(&'f [u32]),
    /// A kernel of a straight line, in these lists.
    Straight(&'f StraightStep, &'f [u32]),
    /// The operands were dropped.
    Gone,
}

/// References that all kernels of an execution share.
#[derive(Clone, Copy)]
pub struct Surroundings<'f> {
    /// The file of the program.
    pub file: &'f Arc<LoadedFile>,
    /// The functions of the program.
    pub functions: &'f dyn Functions,
    /// The execution.
    pub context: &'f ExecContext,
}

/// A running kernel's view of its operands, attributes, functions and results.
pub struct KernelFrame<'f> {
    slots: NonNull<Value>,
    n_slots: usize,
    step: &'f Step,
    table: &'f KernelTable,
    operands: Operands<'f>,
    request: CallRequest,
    owns: bool,
    around: Surroundings<'f>,
    /// The callers. In a sequential plan, only for a kernel that needs its path.
    callers: Option<&'f dyn CallChain>,
    _slots: PhantomData<&'f mut [Value]>,
}

impl<'f> KernelFrame<'f> {
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

    /// The slot of a result, to be written without dropping its content. `owns`: the result may own
    /// something. `None` if the use does not have the result.
    #[inline(always)]
    fn place_of(&mut self, i: usize, owns: bool) -> Option<NonNull<Value>> {
        if i >= usize::from(self.step.n_results) {
            return None;
        }
        self.owns |= owns;
        // SAFETY: the first result of a step is a slot of its frame, as in `slot`.
        let first = unsafe { self.slots.byte_add(self.step.first_result.bytes()) };
        // SAFETY: the step's frame has the slots of all `n_results`, of which this is one.
        Some(unsafe { first.add(i) })
    }

    /// Stores a result without dropping the content of its slot.
    #[inline(always)]
    pub fn store<T: ResultValue>(&mut self, i: usize, result: T) {
        if let Some(slot) = self.place_of(i, !T::IS_PLAIN) {
            // SAFETY: the frame may write its slots, as in `slots_mut`. The content owns nothing, unless the
            // kernel stores twice, which leaks.
            unsafe { result.into_value().place(slot) };
        }
    }

    /// Stores a copy of an operand as a result, if the operand is concrete and owns nothing. Returns whether
    /// it did. Also true if the use does not have the result.
    #[inline(always)]
    pub fn copy_operand(&mut self, operand: usize, result: usize) -> bool {
        let from = NonNull::from(self.slot(operand));
        let Some(to) = self.place_of(result, false) else { return true };
        // SAFETY: `from` was made from a reference to an operand, and `place_of` writes no slot.
        let from = unsafe { from.as_ref() };
        // SAFETY: the frame may write its slots, as in `slots_mut`, and a result is in another slot than an
        // operand. The content owns nothing, as in `store`.
        unsafe { from.copy_concrete_to(to) }
    }

    /// [`KernelFrame::store`] in a job's frame, from which results are copied as they are.
    #[inline(always)]
    pub(crate) fn store_to_copy<T: ResultValue>(&mut self, i: usize, result: T) {
        if let Some(slot) = self.place_of(i, !T::IS_PLAIN) {
            // SAFETY: as in `store`.
            unsafe { result.into_value().place_to_copy(slot) };
        }
    }

    /// The number of operands that are passed.
    #[inline]
    pub fn n_operands(&self) -> usize {
        self.operand_slots().len()
    }

    /// An operand; for a final AsyncValue, its value. `None` while it is unavailable.
    #[inline]
    pub fn operand(&self, i: usize) -> Option<&Value> {
        self.raw_operand(i)?.final_value()
    }

    /// An operand in any state, possibly an AsyncValue that is not final.
    pub fn raw_operand(&self, i: usize) -> Option<&Value> {
        self.slots().get(*self.operand_slots().get(i)? as usize)
    }

    /// An operand as an owned value. It is moved out if this is its last use, so that the only owner may
    /// reuse its memory; otherwise it is cloned. A second call does not find a moved operand. `None` if there
    /// is no such operand, or it is not final.
    pub fn take_operand(&mut self, i: usize) -> Option<Value> {
        let slot = *self.operand_slots().get(i)? as usize;
        let moves = match self.operands {
            Operands::Planned => is_in(self.kernel().last_uses.of(&self.table.lists), i),
            Operands::Copies(_) => true,
            Operands::Straight(step, lists) => is_in(step.last_uses(lists), i),
            Operands::Gone => false,
        };
        let value = self.slots_mut().get_mut(slot)?;
        // An operand that is not concrete stays, because it may decide the results. A plain one need not
        // move.
        if moves && value.is_concrete() && !value.is_plain() {
            return Some(std::mem::take(value));
        }
        value.final_value().cloned()
    }

    /// The number of results of the kernel's use.
    #[inline]
    pub fn n_results(&self) -> usize {
        usize::from(self.step.n_results)
    }

    /// Stores a result. A result that the use does not have is dropped.
    pub fn set_result(&mut self, i: usize, value: Value) {
        let first = self.step.first_result.index();
        self.owns |= !value.is_plain();
        if i < self.n_results()
            && let Some(slot) = self.slots_mut().get_mut(first + i)
        {
            *slot = value;
        }
    }

    /// Clones of the operands from `first` on, to be kept beyond the kernel's run.
    pub(crate) fn operands_from(&self, first: usize) -> Vec<Value> {
        (first..self.n_operands()).filter_map(|i| self.raw_operand(i)).cloned().collect()
    }

    /// Sets operands in a job's frame, for a function that it requests.
    pub(crate) fn set_operands(&mut self, operands: Vec<Value>) {
        let first_result = self.step.first_result.index();
        let slots = self.slots_mut().iter_mut().take(first_result);
        slots.zip(operands).for_each(|(slot, operand)| *slot = operand);
    }

    /// Requests a run of a function, whose results are the kernel's.
    #[inline]
    pub fn call(&mut self, call: Call) -> Outcome {
        self.ask(call, Runs::More(0))
    }

    /// Requests `times` runs of a function, at most 2^31, each on the results of the previous one. The last
    /// results are the kernel's.
    pub fn repeat(&mut self, call: Call, times: u32) -> Outcome {
        match times.checked_sub(1) {
            Some(more @ ..=Runs::MAX_MORE) => self.ask(call, Runs::More(more)),
            Some(_) => Outcome::error(KernelError::invalid(format!("{times} iterations are too many"))),
            None => self.pass(call.first_operand),
        }
    }

    /// Requests runs of a function on all of its results but the last, while the last is true. The others are
    /// the kernel's results. At most `in_flight` iterations are in flight: an iteration may begin when the
    /// condition of the previous one is known.
    pub fn repeat_while(&mut self, call: Call, in_flight: u32) -> Outcome {
        self.ask(call, Runs::WhileTrue { in_flight })
    }

    /// Stores the operands from `first` on as results, in any state.
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
        self.request = CallRequest { call, runs };
        Outcome::Request
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
    pub fn immediate(&self, i: usize) -> Option<&Value> {
        self.kernel().immediates.of(&self.table.immediates).get(i)
    }

    /// The data that was computed for the kernel's use.
    ///
    /// # Errors
    /// The outcome to return if the signature does not prepare a `T`.
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

    /// The number of functions that the kernel may call.
    pub fn n_functions(&self) -> usize {
        self.kernel().functions.of(&self.table.lists).len()
    }

    /// The file of the kernel.
    pub fn image(&self) -> &Image<'_> {
        self.around.file.image()
    }

    /// The loaded file of the kernel.
    pub fn file(&self) -> &'f Arc<LoadedFile> {
        self.around.file
    }

    /// The functions of the file.
    pub fn functions(&self) -> &'f dyn Functions {
        self.around.functions
    }

    /// A part of the file as a buffer that keeps the file alive. No copy.
    ///
    /// # Errors
    /// If `data` is not a part of the file.
    pub fn mapped(&self, data: &[u8]) -> Result<Buffer, ViewError> {
        self.around.file.mapped(data)
    }

    /// The execution, on the kernel's device.
    #[inline]
    pub fn context(&self) -> &'f ExecContext {
        self.around.context.on(self.kernel().device)
    }

    /// The path of the kernel's frame.
    ///
    /// # Errors
    /// The outcome to return if it is unknown: the signature must declare that the kernel takes its frame.
    pub fn path(&self) -> Result<FramePath, Outcome> {
        self.callers.map(CallChain::path).ok_or_else(|| {
            let message = "the kernel asks for its frame, which its signature does not say";
            Outcome::error(KernelError::new(ErrorCode::Internal, message))
        })
    }

    /// The kernel as the origin of executions of `function`. `None` if no kernel there takes its frame.
    pub(crate) fn origin_of(&self, function: FunctionId) -> Option<Arc<Origin>> {
        let callers = self.callers.filter(|_| self.around.functions.needs_path(function))?;
        Some(Origin::new(callers.path(), self.at()))
    }

    /// The error of a function that the kernel has called, with the kernel's location and its callers.
    pub(crate) fn error_of_call(&self, error: &Error) -> Error {
        if error.trace().is_empty() {
            return error.clone();
        }
        let trace = self.callers.map_or_else(Vec::new, CallChain::trace);
        self.around.context.raise(&KernelError::of_call(error), trace)
    }

    /// The kernel's location, to be kept beyond its run.
    pub fn site(&self) -> Site {
        Site { file: self.around.file.clone(), at: self.at() }
    }
}

/// A location in a program. Asynchronous kernels keep it for their errors.
#[derive(Clone)]
pub struct Site {
    file: Arc<LoadedFile>,
    at: KernelRef,
}

impl Site {
    /// As `file:line:col`, if the file has it.
    pub fn location(&self) -> Option<String> {
        self.file.location_string(self.at)
    }

    /// The name of the location in the source, as in `loc("name")`. The name of fused locations consists of
    /// the names of their parts and may be empty.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        self.file.location_name(self.at)
    }

    /// Attribute number `i` of the kernel.
    pub fn attr(&self, i: u32) -> Option<AttrView<'_>> {
        let kernel = self.file.kernel_view(self.at);
        (i < kernel.n_attrs()).then(|| kernel.attr(i))
    }

    /// An error at this location.
    pub fn error(&self, error: KernelError) -> Error {
        let mut trace = Vec::new();
        self.file.extend_trace(self.at, &mut trace);
        Error::new(error.code(), error.message(), trace)
    }
}
