//! Waiters: what runs when an AsyncValue becomes final, and when it runs.
//!
//! ```text
//! List ──▶ node { next, what, closure } ──▶ node ──▶ ...        newest first
//! ```
//!
//! A waiter is one node, from the pool of the thread that made it; the closure lies in it. Nodes link
//! themselves, so a list is one pointer and needs no memory of its own; the waiters of a value that was
//! forwarded are one node of the target's list, however many they are.
//!
//! Waiters that set further values nest. At [`MAX_DEPTH`] they are put off until the outermost one returns,
//! in the order in which they would have run, so no chain of continuations can overflow the machine's stack:
//! neither of values that become final, nor of waiters that are added to values that already are.

use std::cell::{Cell as Counter, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut};

use crate::pool;
use crate::sync::thread_local_const;
use crate::value::Value;

/// How deep waiters may nest on the machine's stack.
#[cfg(not(loom))]
pub(super) const MAX_DEPTH: u32 = 64;
/// Small, so that loom's tests reach it.
#[cfg(loom)]
pub(super) const MAX_DEPTH: u32 = 1;

/// What every node begins with. Aligned so that two bits of its address are free.
#[repr(align(8))]
pub(super) struct Node {
    next: *mut Node,
    what: What,
}

enum What {
    /// A closure follows. The function moves it out of the node, frees that, and calls it, if there is a
    /// value.
    Call(unsafe fn(NonNull<Node>, Option<&Value>)),
    /// The waiters of a value that was forwarded here.
    Moved(List),
}

#[repr(C)]
struct WithClosure<F> {
    node: Node,
    closure: F,
}

/// A waiter, owned: dropped without being run, it drops what its closure owns.
pub(super) struct Waiter(NonNull<Node>);

/// A list of waiters, owned as a whole.
pub(super) struct List(*mut Node);

// SAFETY: closures are Send, and a list or waiter owns its nodes.
unsafe impl Send for List {}
// SAFETY: as above.
unsafe impl Send for Waiter {}

/// # Safety
/// `node` must begin a `WithClosure<F>` from the pool, owned by the caller, who gives it up.
unsafe fn call<F: FnOnce(&Value)>(node: NonNull<Node>, value: Option<&Value>) {
    // SAFETY: the caller's contract.
    let WithClosure { closure, node: _ } = unsafe { pool::unbox(node.cast::<WithClosure<F>>()) };
    if let Some(value) = value {
        closure(value);
    }
}

impl Waiter {
    pub(super) fn new<F: FnOnce(&Value) + Send + 'static>(closure: F) -> Waiter {
        let node = Node { next: null_mut(), what: What::Call(call::<F>) };
        Waiter(pool::boxed(WithClosure { node, closure }).cast())
    }

    /// One node for all of `list`.
    pub(super) fn moved(list: List) -> Waiter {
        Waiter(pool::boxed(Node { next: null_mut(), what: What::Moved(list) }))
    }

    /// Puts the waiter before `head`, the first node of a list, and gives the new head; the waiter belongs to
    /// that list when the caller has published it, and [`Waiter::take_back`] undoes it if that failed.
    pub(super) fn link(self, head: *mut Node) -> *mut Node {
        let node = ManuallyDrop::new(self).0;
        // SAFETY: the node is owned, so nobody else sees it.
        unsafe { (*node.as_ptr()).next = head };
        node.as_ptr()
    }

    /// # Safety
    /// `node` must come from [`Waiter::link`], and nobody else may have seen it.
    pub(super) unsafe fn take_back(node: *mut Node) -> Waiter {
        // SAFETY: `link` gives no null.
        Waiter(unsafe { NonNull::new_unchecked(node) })
    }

    /// A list of this one only.
    pub(super) fn alone(self) -> List {
        List(self.link(null_mut()))
    }

    /// Runs it. A panic ends it, but neither those behind it nor whoever made the value final.
    fn run(self, value: &Value) {
        let node = ManuallyDrop::new(self).0;
        // SAFETY: the node is owned; `List::pop` gives only such whose `what` is a call, and so is every
        // single one that is run.
        let what = unsafe { &node.as_ref().what };
        let What::Call(call) = *what else { return drop(Waiter(node)) };
        // The panic hook has reported it; what the waiter owned was dropped, and promises among it became
        // errors. SAFETY: `call` was stored for this node, which is given up.
        let ended = catch_unwind(AssertUnwindSafe(|| unsafe { call(node, Some(value)) }));
        // Under loom it is a model that failed.
        #[cfg(loom)]
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        #[cfg(not(loom))]
        drop(ended);
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        // SAFETY: the node is owned.
        match unsafe { &self.0.as_ref().what } {
            // SAFETY: stored for this node, which is given up.
            What::Call(call) => unsafe { call(self.0, None) },
            // SAFETY: such nodes are `Node`s of the pool, and this one is given up.
            What::Moved(_) => drop(unsafe { pool::unbox(self.0) }),
        }
    }
}

impl List {
    /// # Safety
    /// `head` must be null or the first node of a list that the caller owns and gives up.
    pub(super) unsafe fn from_head(head: *mut Node) -> List {
        List(head)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// Takes the next waiter, looking into the lists of forwarded values.
    fn pop(&mut self) -> Option<Waiter> {
        loop {
            let node = NonNull::new(self.0)?;
            // SAFETY: the list owns its nodes.
            let Node { next, what } = unsafe { &mut *node.as_ptr() };
            self.0 = *next;
            let What::Moved(moved) = what else { return Some(Waiter(node)) };
            let first = std::mem::replace(&mut moved.0, null_mut());
            drop(Waiter(node));
            let Some(mut last) = NonNull::new(first) else { continue };
            // SAFETY: the moved list's nodes were its own and are this list's now. Each node is walked over
            // once.
            while let Some(next) = NonNull::new(unsafe { last.as_ref() }.next) {
                last = next;
            }
            // SAFETY: as above.
            unsafe { last.as_mut() }.next = self.0;
            self.0 = first;
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

/// What a thread knows of its waiters.
struct Here {
    /// How many of them nest.
    depth: Counter<u32>,
    /// Those that were put off, with their values, the next ones last.
    deferred: RefCell<Vec<(List, Value)>>,
}

thread_local_const! {
    static HERE: Here = Here { depth: Counter::new(0), deferred: RefCell::new(Vec::new()) };
}

/// One level of nesting. When the outermost ends, what was put off runs.
struct Level {
    depth: u32,
}

impl Level {
    /// Nothing if waiters nest too deep already.
    fn enter() -> Option<Level> {
        HERE.with(|here| {
            let depth = here.depth.get();
            (depth < MAX_DEPTH).then(|| {
                here.depth.set(depth + 1);
                Level { depth }
            })
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        if self.depth == 0 {
            while let Some((waiter, value)) = next_deferred() {
                waiter.run(&value);
            }
        }
        HERE.with(|here| here.depth.set(self.depth));
    }
}

fn defer(list: List, value: &Value) {
    HERE.with(|here| here.deferred.borrow_mut().push((list, value.clone())));
}

fn next_deferred() -> Option<(Waiter, Value)> {
    HERE.with(|here| {
        let mut deferred = here.deferred.borrow_mut();
        loop {
            let (list, value) = deferred.last_mut()?;
            if let Some(waiter) = list.pop() {
                return Some((waiter, value.clone()));
            }
            deferred.pop();
        }
    })
}

/// Runs a detached list of waiters on this thread, now or soon.
pub(super) fn run(mut list: List, value: &Value) {
    if list.is_empty() {
        return;
    }
    match Level::enter() {
        Some(_level) => {
            while let Some(waiter) = list.pop() {
                waiter.run(value);
            }
        }
        None => defer(list, value),
    }
}

/// Runs the waiter of a value that is final already, on this thread, now or soon.
pub(super) fn run_one(waiter: impl FnOnce(&Value) + Send + 'static, value: &Value) {
    match Level::enter() {
        Some(_level) => waiter(value),
        None => defer(Waiter::new(waiter).alone(), value),
    }
}
