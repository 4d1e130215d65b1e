//! Tokens: access rights to a frame, each of which keeps it alive.
//!
//! ```text
//! NewFrame ──begin──▶ Done(1), Ready...                    a new frame and its first activation
//! Ready(k) ──read_operands──▶ Running(k) ──write_results──▶ Completing(k) ──complete──▶ Done(1)
//! Done(n)  ──finish──▶ subtracts n from the count of unfinished items; at zero the frame ends and is freed
//! ```
//!
//! A frame counts its unfinished items: each kernel that has not completed, its first activation, and what
//! [`Done::hold`] adds. Each token stands for at least one item that is still counted:
//!
//! * `StraightRun`: all kernels of its line.
//! * `Ready`, `Running` and `Completing`: their kernel. There is one of the three per kernel at any time, and
//!   `Completing` only turns into a `Done`.
//! * `Done(n)`: n of the items. Only `finish` subtracts them.
//!
//! So the count is not zero and the frame is alive as long as there is a token: a token is a reference that
//! is passed on at no cost. Tokens cannot be copied, and each is consumed by what it permits. A token lost in
//! a panic keeps its frame for ever: nothing is freed too early.
//!
//! [`PendingRegister`] and [`ResultsToken`] permit something but keep nothing alive: they are used together
//! with another token.

#![allow(unsafe_code, reason = "tokens refer to frames; the essay is the proof")]

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::Waker;

use super::super::trip_count::TripCount;
use super::{Frame, InFlight, Sink};
use crate::program::{GeneralKernel, StraightKernel, StraightLine, User};
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::context::FramePath;
use befrost_kernel_api::error::{Error, KernelError};
use befrost_kernel_api::executor::CallChain;
use befrost_kernel_api::executor::KernelRef;
use befrost_kernel_api::executor::pool;
use befrost_kernel_api::executor::sync::Ordering;
use befrost_kernel_api::queue::Latch;
use befrost_kernel_api::value::Value;

/// A kernel of a frame that is alive.
#[derive(Debug, PartialEq)]
struct KernelInFrame {
    frame: NonNull<Frame>,
    user: User,
}

// SAFETY: a frame is Sync, and may be freed by any thread.
unsafe impl Send for KernelInFrame {}
// SAFETY: a frame is Sync, and may be freed by any thread.
unsafe impl Sync for KernelInFrame {}

impl KernelInFrame {
    #[inline]
    fn frame(&self) -> &Frame {
        // SAFETY: by the module's essay, only tokens own a `KernelInFrame`, and none outlives the frame.
        unsafe { self.frame.as_ref() }
    }

    #[inline]
    fn info(&self) -> &GeneralKernel {
        // SAFETY: a `User` of a frame comes from the frame's own plan, and its number is the index of one of
        // the plan's kernels.
        unsafe { self.frame().general().kernels.get_unchecked(self.user.kernel() as usize) }
    }
}

/// The right and the duty to run a kernel.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Ready(KernelInFrame);

/// A kernel that has read its operands. Its results are still to be written.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Running(KernelInFrame);

/// A straight line that has read its inputs. Holds the counts of all its kernels; the results of the kernels
/// from `next` on are still to be written.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct StraightRun {
    /// The first kernel.
    at: KernelInFrame,
    /// Range of the kernels in `GeneralPlan::members`.
    first: u32,
    end: u32,
    /// Index of the next kernel in `GeneralPlan::members`.
    next: Cell<u32>,
    /// Number of slots of the line.
    n_slots: usize,
}

/// A kernel that has written its results. Its completion is still to be announced.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Completing(KernelInFrame);

/// A new frame.
#[must_use]
pub(in crate::exec) struct NewFrame {
    done: Done,
    results_token: Option<ResultsToken>,
}

/// The right to take a function's results once. Keeps nothing alive.
#[derive(Debug)]
pub(in crate::exec) struct ResultsToken {
    frame: *const Frame,
}

// SAFETY: the pointer is only ever compared.
unsafe impl Send for ResultsToken {}

/// Finished items of a frame that are not subtracted from its count yet.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Done {
    frame: NonNull<Frame>,
    n: usize,
}

// SAFETY: a frame is Sync, and may be freed by any thread.
unsafe impl Send for Done {}

/// A register whose users are to be notified when its value is final.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct PendingRegister {
    frame: *const Frame,
    pub(super) register: u32,
}

// SAFETY: the pointer is only ever compared.
unsafe impl Send for PendingRegister {}

/// The kernel that called a frame, for traces and paths, with the frame's depth and the iteration of the
/// kernel's loop.
#[derive(Debug)]
pub(in crate::exec) struct Caller {
    at: KernelInFrame,
    pub(super) depth: usize,
    pub(super) iteration: u64,
}

/// A loop with one iteration in flight, between two iterations: either the function runs again, or the kernel
/// that asked for the loop gets its results.
#[derive(Debug)]
pub(in crate::exec) struct SequentialLoop {
    pub(in crate::exec) running: Running,
    pub(in crate::exec) trips: TripCount,
}

/// Action at the end of a frame.
#[derive(Debug)]
pub(in crate::exec) enum Continuation {
    Nothing,
    /// Wakes a thread outside of the executor.
    OpenLatch(Arc<Latch>),
    /// Wakes an asynchronous caller.
    Wake(Waker),
    /// Completes the kernel that called.
    CompleteCaller(Completing),
    /// The frame was the only iteration in flight of a loop: starts the next one or ends the loop.
    NextIteration(SequentialLoop),
    /// The frame was one of several iterations in flight.
    EndInFlight(InFlight),
}

/// Result of [`Done::finish`]: whether the frame has ended, and what its worker has to do then.
#[derive(Debug)]
pub(in crate::exec) enum FrameEnd {
    NotYet,
    /// The kernel that called is to be completed.
    CompleteCaller(Completing),
    /// The frame was one of several iterations in flight.
    InFlight(InFlight),
    /// The frame was an iteration of a function, with these results.
    Iteration {
        looping: SequentialLoop,
        function: u32,
        results: Vec<Value>,
    },
}

impl Ready {
    /// For the last event that a kernel waits for.
    #[inline]
    pub(super) fn new(frame: &Frame, user: User) -> Ready {
        Ready(KernelInFrame { frame: frame.me, user })
    }

    #[inline]
    pub(in crate::exec) fn frame(&self) -> &Frame {
        self.0.frame()
    }

    #[inline]
    pub(in crate::exec) fn info(&self) -> &GeneralKernel {
        self.0.info()
    }

    #[inline]
    pub(in crate::exec) fn stream(&self) -> u32 {
        self.0.user.stream()
    }

    /// The device on whose queue the kernel runs.
    #[inline]
    pub(in crate::exec) fn queue(&self) -> u16 {
        self.frame().general().queue_of(self.stream())
    }

    /// The straight line that begins with the kernel.
    #[inline]
    pub(in crate::exec) fn straight_line(&self) -> Option<&StraightLine> {
        self.frame().general().straight_line(self.info())
    }

    /// Reads the operands that are passed to the kernel. If one that must be concrete is an error or dead,
    /// `substitute` is set to the value that replaces the kernel's results.
    #[inline]
    pub(in crate::exec) fn read_operands(
        self,
        operands: &mut [Value],
        substitute: &mut Option<Value>,
    ) -> Running {
        // SAFETY: the token is consumed here.
        unsafe { self.0.frame().read_operands(self.0.info(), operands, substitute) };
        Running(self.0)
    }
}

impl Running {
    #[inline]
    pub(in crate::exec) fn frame(&self) -> &Frame {
        self.0.frame()
    }

    #[inline]
    pub(in crate::exec) fn info(&self) -> &GeneralKernel {
        self.0.info()
    }

    /// The straight line that begins with the kernel. `None` if there is none.
    pub(in crate::exec) fn into_straight_run(self) -> Option<StraightRun> {
        let &StraightLine { n_slots, first, end, n_inputs: _ } =
            self.frame().general().straight_line(self.info())?;
        Some(StraightRun { at: self.0, first, end, next: Cell::new(first), n_slots })
    }

    pub(in crate::exec) fn kernel(&self) -> u32 {
        self.0.user.kernel()
    }

    #[inline]
    pub(in crate::exec) fn stream(&self) -> u32 {
        self.0.user.stream()
    }

    /// The device on whose queue the kernel runs.
    #[inline]
    pub(in crate::exec) fn queue(&self) -> u16 {
        self.frame().general().queue_of(self.stream())
    }

    /// Path of a frame of `function` that the kernel calls.
    pub(in crate::exec) fn path_of_callee(&self, function: u32, iteration: u64) -> FramePath {
        let mut path = self.path();
        let at = KernelRef { function: self.frame().plan().index(), kernel: self.kernel() };
        path.push(at, function, iteration);
        path
    }

    /// The kernel as the caller of a frame. `iteration` is that of its loop, if it is one.
    pub(in crate::exec) fn caller(&self, iteration: u64) -> Caller {
        Caller { at: KernelInFrame { ..self.0 }, depth: self.frame().depth + 1, iteration }
    }

    /// `error` of the kernel, with its trace.
    #[cold]
    pub(in crate::exec) fn located(&self, error: &KernelError) -> Error {
        let frame = self.frame();
        frame.execution.context.raise(error, self.trace())
    }

    /// Writes the results, notifies the users of those that are final, and appends the others to
    /// `unresolved`.
    #[inline]
    pub(in crate::exec) fn write_results(
        self,
        results: impl Iterator<Item = Value>,
        sink: &mut Sink<'_>,
        unresolved: &mut Vec<(PendingRegister, AsyncRef)>,
    ) -> Completing {
        // SAFETY: the token is consumed here.
        unsafe { self.0.frame().write_results(self.0.info(), results, sink, unresolved) };
        Completing(self.0)
    }

    /// [`Running::write_results`] for a kernel with a plain result, which completes the kernel. The result is
    /// concrete; it is moved or copied.
    #[inline(always)]
    pub(in crate::exec) fn write_plain_result(self, result: &mut Value, sink: &mut Sink<'_>) -> Done {
        // SAFETY: the token is consumed here.
        unsafe { self.0.frame().write_plain_result(self.0.info(), result, sink) };
        Done { frame: self.0.frame, n: 1 }
    }
}

impl CallChain for Running {
    fn trace(&self) -> Vec<String> {
        self.frame().trace(self.kernel())
    }

    fn path(&self) -> FramePath {
        self.frame().path()
    }
}

/// Trace and path of the next kernel.
impl CallChain for StraightRun {
    fn trace(&self) -> Vec<String> {
        self.frame().trace(self.kernel())
    }

    fn path(&self) -> FramePath {
        self.frame().path()
    }
}

impl StraightRun {
    #[inline]
    pub(in crate::exec) fn frame(&self) -> &Frame {
        self.at.frame()
    }

    pub(in crate::exec) fn n_slots(&self) -> usize {
        self.n_slots
    }

    /// The next kernel.
    #[inline]
    pub(in crate::exec) fn member(&self) -> Option<&StraightKernel> {
        let next = self.next.get();
        if next < self.end { self.frame().general().members.get(next as usize) } else { None }
    }

    /// Number of the next kernel in the function.
    pub(in crate::exec) fn kernel(&self) -> u32 {
        self.member().map_or(self.at.user.kernel(), |member| member.step.step().kernel)
    }

    /// `error` of the next kernel, with its trace.
    #[cold]
    pub(in crate::exec) fn located(&self, error: &KernelError) -> Error {
        let frame = self.frame();
        frame.execution.context.raise(error, self.trace())
    }

    /// Writes the results of the next kernel and notifies their users.
    pub(in crate::exec) fn write_results(
        &self,
        results: impl Iterator<Item = Value>,
        sink: &mut Sink<'_>,
        unresolved: &mut Vec<(PendingRegister, AsyncRef)>,
    ) {
        let Some(member) = self.member() else { return };
        let kernel = &self.frame().general().kernels[member.step.step().kernel as usize];
        self.skip();
        // SAFETY: rule 3 of `frame`: the kernel is in this line only, and the line has just advanced past it,
        // so its results are written once.
        unsafe { self.frame().write_results(kernel, results, sink, unresolved) };
    }

    /// Advances past the next kernel, whose results are not used outside of the line.
    #[inline]
    pub(in crate::exec) fn skip(&self) {
        self.next.set(self.next.get() + 1);
    }

    /// Ends the line. All its kernels are complete.
    pub(in crate::exec) fn finish(self) -> Done {
        assert!(self.next.get() >= self.end, "a kernel is left of a straight line");
        Done { frame: self.at.frame, n: (self.end - self.first) as usize }
    }
}

impl Completing {
    pub(in crate::exec) fn frame(&self) -> &Frame {
        self.0.frame()
    }

    pub(in crate::exec) fn stream(&self) -> u32 {
        self.0.user.stream()
    }

    /// Notifies the kernels that wait for this one's completion.
    #[inline]
    pub(in crate::exec) fn complete(self, sink: &mut Sink<'_>) -> Done {
        self.frame().complete(self.0.info(), sink);
        Done { frame: self.0.frame, n: 1 }
    }

    /// [`Completing::complete`] in a frame without kernels that wait for completions.
    pub(in crate::exec) fn complete_alone(self) -> Done {
        debug_assert!(!self.frame().general().has_after, "a kernel waits for the completion");
        Done { frame: self.0.frame, n: 1 }
    }
}

impl Caller {
    /// The frame and the number of the calling kernel.
    ///
    /// # Safety
    /// The called frame must be alive.
    pub(super) unsafe fn get(&self) -> (&Frame, u32) {
        // The calling kernel does not complete before the called frame has ended and its `Continuation`
        // completes it. So the calling frame is alive too.
        (self.at.frame(), self.at.user.kernel())
    }
}

impl PendingRegister {
    pub(super) fn new(frame: &Frame, register: u32) -> PendingRegister {
        PendingRegister { frame, register }
    }

    /// Whether the register belongs to `frame`.
    pub(super) fn is_of(&self, frame: &Frame) -> bool {
        std::ptr::eq(self.frame, frame)
    }
}

impl NewFrame {
    /// A frame whose count includes its first activation.
    pub(super) fn new(frame: Frame) -> NewFrame {
        let frame = pool::boxed(frame);
        // SAFETY: the frame has just been made; nothing else refers to it.
        unsafe { (*frame.as_ptr()).me = frame };
        NewFrame { done: Done { frame, n: 1 }, results_token: None }
    }

    /// Adds a [`ResultsToken`], for a frame whose end does not take its results.
    pub(super) fn with_results_token(self) -> NewFrame {
        let results_token = Some(ResultsToken { frame: self.frame() });
        NewFrame { results_token, ..self }
    }

    pub(in crate::exec) fn frame(&self) -> &Frame {
        self.done.frame()
    }

    /// The right to take the results. `None` if it was taken before or does not exist.
    pub(in crate::exec) fn take_results_token(&mut self) -> Option<ResultsToken> {
        self.results_token.take()
    }

    /// Makes the first kernels ready, and appends the arguments that are not final to `unresolved`.
    pub(in crate::exec) fn begin(
        self,
        sink: &mut Sink<'_>,
        unresolved: &mut Vec<(PendingRegister, AsyncRef)>,
    ) -> Done {
        // SAFETY: there is one `NewFrame` of each frame, and it is consumed here.
        unsafe { self.done.frame().begin(sink, unresolved) };
        self.done
    }
}

impl ResultsToken {
    /// Results of the function that `frame` runs, in any state. A value without further readers is moved.
    pub(in crate::exec) fn results(self, frame: &Frame) -> impl Iterator<Item = Value> {
        assert!(std::ptr::eq(self.frame, frame), "the results of another frame");
        // SAFETY: there is at most one `ResultsToken` of each frame, and it is consumed here.
        unsafe { frame.results() }
    }
}

impl Done {
    pub(in crate::exec) fn frame(&self) -> &Frame {
        // SAFETY: by the module's essay: n is not zero, so the frame's count is not zero.
        unsafe { self.frame.as_ref() }
    }

    /// Adds one unfinished item to a frame.
    pub(in crate::exec) fn hold(frame: &Frame) -> Done {
        // Relaxed: the count is not zero, because the caller has a token.
        frame.unfinished.fetch_add(1, Ordering::Relaxed);
        Done { frame: frame.me, n: 1 }
    }

    /// Adds this to `all`, which must belong to the same frame.
    #[inline]
    pub(in crate::exec) fn add_to(self, all: &mut Option<Done>) {
        match all {
            Some(all) => {
                assert!(self.frame == all.frame, "of another frame");
                all.n += self.n;
            }
            None => *all = Some(self),
        }
    }

    /// Sets the frame's continuation to the completion of the calling kernel. Called when the first
    /// activation ends.
    pub(in crate::exec) fn set_continuation(&self, completing: Completing) {
        self.frame().continuation.with_mut(|continuation| {
            // SAFETY: only the thread of the first activation does this, before it subtracts the activation
            // from the count. So the frame has not ended and the continuation is not read yet.
            unsafe { *continuation = Continuation::CompleteCaller(completing) };
        });
    }

    /// Subtracts the items from the frame's count, and ends the frame at zero.
    pub(in crate::exec) fn finish(self) -> FrameEnd {
        let frame = self.frame;
        // SAFETY: the frame is alive. Only this field is borrowed, because another thread may free the frame
        // as soon as the count is decremented.
        let unfinished = unsafe { &(*frame.as_ptr()).unfinished };
        // Acquire pairs with the Release half of the other threads' decrements: what the kernels did happens
        // before what follows the frame's end. If nothing else is left, the decrement can be omitted: only
        // the owner of a token could add to the count.
        if unfinished.load(Ordering::Acquire) != self.n
            && unfinished.fetch_sub(self.n, Ordering::AcqRel) != self.n
        {
            return FrameEnd::NotYet;
        }
        // SAFETY: the count is zero, so there is no other token: this thread owns the frame.
        unsafe { pool::unbox(frame) }.end()
    }
}
