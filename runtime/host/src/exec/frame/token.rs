//! Tokens: who may do what with a frame, and that it is still there.
//!
//! ```text
//! Started ──begin──▶ Done(1), Ready...                     a new frame and its first visit
//! Ready(k) ──gather──▶ Running(k) ──publish──▶ Completing(k) ──complete──▶ Done(1)
//! Done(n) ──finish──▶ the count of what is unfinished, less n; at zero the frame ends and is freed
//! ```
//!
//! A frame counts what is unfinished: each kernel that has not completed, its first visit, and what
//! [`Done::hold`] adds. Each token stands for at least one of these that nobody has given back:
//!
//! * `StraightRun`: all kernels of its line.
//! * `Ready`, `Running` and `Completing`: their kernel. There is one of the three per kernel at any time, and
//!   only a `Done` comes of the last.
//! * `Done(n)`: n of them. Only `finish` gives them back.
//!
//! So as long as somebody has a token the count is not zero and the frame is alive: a token is a reference
//! that costs nothing to pass on. None can be copied, and each is used up by what it permits. One that is
//! lost, by a panic, keeps its frame for ever: nothing is freed too early.
//!
//! [`Later`] permits something, but keeps nothing alive: whoever uses it shows another token.

#![allow(unsafe_code, reason = "tokens refer to frames; the essay is the proof")]

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::Waker;

use super::super::again::Again;
use super::{Frame, Sink, Turn};
use crate::program::{GeneralKernel, Member, Straight, User};
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::context::FramePath;
use befrost_kernel_api::error::{Error, KernelError};
use befrost_kernel_api::executor::sync::Ordering;
use befrost_kernel_api::executor::{CallChain, KernelRef, pool};
use befrost_kernel_api::queue::Latch;
use befrost_kernel_api::value::Value;

/// A kernel of a frame that is alive.
#[derive(Debug, PartialEq)]
struct At {
    frame: NonNull<Frame>,
    user: User,
}

// SAFETY: a frame is Sync, and may be freed by any thread.
unsafe impl Send for At {}
// SAFETY: as above.
unsafe impl Sync for At {}

impl At {
    #[inline]
    fn frame(&self) -> &Frame {
        // SAFETY: the essay: a token has this, and none outlives the frame.
        unsafe { self.frame.as_ref() }
    }

    #[inline]
    fn info(&self) -> &GeneralKernel {
        // SAFETY: users are numbered by the plan of the frame that they are of, which has as many kernels.
        unsafe { self.frame().general().kernels.get_unchecked(self.user.kernel() as usize) }
    }
}

/// The right and the duty to run a kernel.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Ready(At);

/// A kernel that has taken its operands and owes its results.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Running(At);

/// A straight line that has taken what enters, owes the results of its kernels from the next on, and keeps
/// the counts of all of them.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct StraightRun {
    /// The first kernel.
    at: At,
    /// Its kernels, in `General::members`.
    first: u32,
    end: u32,
    /// The next of them.
    next: Cell<u32>,
    /// How many slots the kernels have.
    n_slots: usize,
}

/// A kernel that has given its results and owes its completion.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Completing(At);

/// A new frame.
#[must_use]
pub(in crate::exec) struct Started {
    done: Done,
    returns: Option<Returns>,
}

/// The right to take a function's results, whoever is given it: once. Keeps nothing alive.
#[derive(Debug)]
pub(in crate::exec) struct Returns {
    frame: *const Frame,
}

// SAFETY: the pointer is only ever compared.
unsafe impl Send for Returns {}

/// What is finished of a frame that has not been told so.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Done {
    frame: NonNull<Frame>,
    n: usize,
}

// SAFETY: as for `At`.
unsafe impl Send for Done {}

/// A register whose users are to be told when its value is final.
#[derive(Debug)]
#[must_use]
pub(in crate::exec) struct Later {
    frame: *const Frame,
    pub(super) register: u32,
}

// SAFETY: the pointer is only ever compared.
unsafe impl Send for Later {}

/// The kernel that called a frame, for traces and paths, how deep that frame is, and which iteration of the
/// kernel's loop.
#[derive(Debug)]
pub(in crate::exec) struct Caller {
    at: At,
    pub(super) depth: usize,
    pub(super) iteration: u64,
}

/// The rest of a loop: the function is run again, or the kernel that asked for it gets its results.
#[derive(Debug)]
pub(in crate::exec) struct Looping {
    pub(in crate::exec) running: Running,
    pub(in crate::exec) again: Again,
}

/// What follows the end of a frame.
#[derive(Debug)]
pub(in crate::exec) enum Then {
    Nothing,
    /// A thread outside goes on.
    Opens(Arc<Latch>),
    /// What waits for it without a thread goes on.
    Wakes(Waker),
    /// The kernel that called is complete.
    Completes(Completing),
    /// It was an iteration, the only one in flight.
    Iterates(Looping),
    /// It was one of several iterations in flight.
    Turns(Turn),
}

/// Whether a frame has ended.
#[derive(Debug)]
pub(in crate::exec) enum End {
    NotYet,
    /// Its caller's kernel is to be completed.
    Call(Completing),
    /// It was one of several iterations in flight.
    Turn(Turn),
    /// It was an iteration of a function, with these results.
    Iteration {
        looping: Looping,
        function: u32,
        results: Vec<Value>,
    },
}

impl Ready {
    /// For the event that was the last one that a kernel waits for.
    #[inline]
    pub(super) fn new(frame: &Frame, user: User) -> Ready {
        Ready(At { frame: frame.me, user })
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

    /// The straight line that the kernel begins.
    #[inline]
    pub(in crate::exec) fn line(&self) -> Option<&Straight> {
        self.frame().general().line(self.info())
    }

    /// Takes the operands that are passed to the kernel. If one that must be concrete is an error or dead,
    /// `instead` is what the kernel's results become instead.
    #[inline]
    pub(in crate::exec) fn gather(self, operands: &mut [Value], instead: &mut Option<Value>) -> Running {
        // SAFETY: the token is used up here.
        unsafe { self.0.frame().gather(self.0.info(), operands, instead) };
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

    /// The straight line that the kernel begins; it must.
    pub(in crate::exec) fn straight(self) -> Option<StraightRun> {
        let &Straight { n_slots, first, end, n_entering: _ } = self.frame().general().line(self.info())?;
        Some(StraightRun { at: self.0, first, end, next: Cell::new(first), n_slots })
    }

    pub(in crate::exec) fn kernel(&self) -> u32 {
        self.0.user.kernel()
    }

    #[inline]
    pub(in crate::exec) fn stream(&self) -> u32 {
        self.0.user.stream()
    }

    /// The path of a frame of `function` that the kernel calls.
    pub(in crate::exec) fn path_of_callee(&self, function: u32, iteration: u64) -> FramePath {
        let mut path = self.path();
        let at = KernelRef { function: self.frame().plan().index(), kernel: self.kernel() };
        path.push(at, function, iteration);
        path
    }

    /// Names the kernel in a frame that it calls for an iteration of its loop, if it is one.
    pub(in crate::exec) fn caller(&self, iteration: u64) -> Caller {
        Caller { at: At { ..self.0 }, depth: self.frame().depth + 1, iteration }
    }

    /// An error of the kernel.
    #[cold]
    pub(in crate::exec) fn located(&self, error: &KernelError) -> Error {
        let frame = self.frame();
        frame.execution.context.raise(error, self.trace())
    }

    /// Stores the results, tells their users, and says which ones are to be told later.
    #[inline]
    pub(in crate::exec) fn publish(
        self,
        results: impl Iterator<Item = Value>,
        sink: &mut Sink<'_>,
        late: &mut Vec<(Later, AsyncRef)>,
    ) -> Completing {
        // SAFETY: the token is used up here.
        unsafe { self.0.frame().publish(self.0.info(), results, sink, late) };
        Completing(self.0)
    }

    /// The same for the only result of a kernel that publishes plainly, which is complete then. The result is
    /// concrete; it is moved or copied.
    #[inline(always)]
    pub(in crate::exec) fn publish_plainly(self, result: &mut Value, sink: &mut Sink<'_>) -> Done {
        // SAFETY: the token is used up here.
        unsafe { self.0.frame().publish_plainly(self.0.info(), result, sink) };
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

/// Of the next kernel.
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
    pub(in crate::exec) fn member(&self) -> Option<&Member> {
        let next = self.next.get();
        if next < self.end { self.frame().general().members.get(next as usize) } else { None }
    }

    /// Its number.
    pub(in crate::exec) fn kernel(&self) -> u32 {
        self.member().map_or(self.at.user.kernel(), |member| member.step.step().kernel)
    }

    /// An error of the next kernel.
    #[cold]
    pub(in crate::exec) fn located(&self, error: &KernelError) -> Error {
        let frame = self.frame();
        frame.execution.context.raise(error, self.trace())
    }

    /// Stores the results of the next kernel and tells their users.
    pub(in crate::exec) fn publish(
        &self,
        results: impl Iterator<Item = Value>,
        sink: &mut Sink<'_>,
        late: &mut Vec<(Later, AsyncRef)>,
    ) {
        let Some(member) = self.member() else { return };
        let kernel = &self.frame().general().kernels[member.step.step().kernel as usize];
        self.skip();
        // SAFETY: the kernel is in this line only, and the line is past it now.
        unsafe { self.frame().publish(kernel, results, sink, late) };
    }

    /// Passes over the next kernel, whose results nobody outside uses.
    #[inline]
    pub(in crate::exec) fn skip(&self) {
        self.next.set(self.next.get() + 1);
    }

    /// All kernels are complete.
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

    /// Tells those that wait for the kernel's completion.
    #[inline]
    pub(in crate::exec) fn complete(self, sink: &mut Sink<'_>) -> Done {
        self.frame().complete(self.0.info(), sink);
        Done { frame: self.0.frame, n: 1 }
    }

    /// [`Completing::complete`] in a frame where nobody waits for completions.
    pub(in crate::exec) fn complete_alone(self) -> Done {
        debug_assert!(!self.frame().general().has_after, "somebody waits");
        Done { frame: self.0.frame, n: 1 }
    }
}

impl Caller {
    /// The frame of the kernel, and its number.
    ///
    /// # Safety
    /// The frame that it called must be alive.
    pub(super) unsafe fn get(&self) -> (&Frame, u32) {
        // A kernel that calls is not complete before the frame that it called has ended, whose `Then`
        // completes it.
        (self.at.frame(), self.at.user.kernel())
    }
}

impl Later {
    pub(super) fn new(frame: &Frame, register: u32) -> Later {
        Later { frame, register }
    }

    /// Whether it is about a register of `frame`.
    pub(super) fn is_of(&self, frame: &Frame) -> bool {
        std::ptr::eq(self.frame, frame)
    }
}

impl Started {
    /// A frame whose count has one for its first visit.
    pub(super) fn new(frame: Frame) -> Started {
        let frame = pool::boxed(frame);
        // SAFETY: nobody else has it yet.
        unsafe { (*frame.as_ptr()).me = frame };
        Started { done: Done { frame, n: 1 }, returns: None }
    }

    /// The same for a frame whose end does not take its results.
    pub(super) fn with_returns(self) -> Started {
        let returns = Some(Returns { frame: self.frame() });
        Started { returns, ..self }
    }

    pub(in crate::exec) fn frame(&self) -> &Frame {
        self.done.frame()
    }

    /// The right to take the results, if nobody has it yet.
    pub(in crate::exec) fn returns(&mut self) -> Option<Returns> {
        self.returns.take()
    }

    /// Finds the kernels that are ready, and the arguments that are not.
    pub(in crate::exec) fn begin(self, sink: &mut Sink<'_>, late: &mut Vec<(Later, AsyncRef)>) -> Done {
        // SAFETY: there is one `Started` of each frame, and it is used up here.
        unsafe { self.done.frame().begin(sink, late) };
        self.done
    }
}

impl Returns {
    /// The results of `frame`, which is the function's, in whatever state. A value that nobody else will read
    /// is moved.
    pub(in crate::exec) fn results(self, frame: &Frame) -> impl Iterator<Item = Value> {
        assert!(std::ptr::eq(self.frame, frame), "the results of another frame");
        // SAFETY: there is at most one `Returns` of each frame, and it is used up here.
        unsafe { frame.results() }
    }
}

impl Done {
    pub(in crate::exec) fn frame(&self) -> &Frame {
        // SAFETY: the essay: n is not zero, so the frame's count is not.
        unsafe { self.frame.as_ref() }
    }

    /// One thing more that is unfinished until it is given back.
    pub(in crate::exec) fn hold(frame: &Frame) -> Done {
        // Relaxed: the count is not zero, as somebody has a token.
        frame.unfinished.fetch_add(1, Ordering::Relaxed);
        Done { frame: frame.me, n: 1 }
    }

    /// Adds it to `all`, which must be of the same frame.
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

    /// Says what is to follow the frame's end: for the kernel that called, when the first visit has ended.
    pub(in crate::exec) fn set_then(&self, completing: Completing) {
        self.frame().then.with_mut(|then| {
            // SAFETY: only the first visit's thread does this, before it gives back its count; so nobody
            // reads it yet.
            unsafe { *then = Then::Completes(completing) };
        });
    }

    /// Counts it.
    pub(in crate::exec) fn finish(self) -> End {
        let frame = self.frame;
        // SAFETY: the frame is alive; only this field is borrowed, as another thread may free the frame as
        // soon as the count is decremented.
        let unfinished = unsafe { &(*frame.as_ptr()).unfinished };
        // Acquire pairs with the Release half of the others' decrements: what the kernels did happens before
        // what follows the end. Seeing that nothing else is left spares the decrement: nobody can add to it
        // who has no token.
        if unfinished.load(Ordering::Acquire) != self.n
            && unfinished.fetch_sub(self.n, Ordering::AcqRel) != self.n
        {
            return End::NotYet;
        }
        // SAFETY: the count is zero, so there is no token any more: the frame is this thread's.
        unsafe { pool::unbox(frame) }.end()
    }
}
