//! Waiters: closures that run when an AsyncValue becomes final.
//!
//! ```text
//! List ──▶ node { next, kind, closure } ──▶ node ──▶ ...        newest first
//! ```
//!
//! A waiter is one node that contains its closure, from the pool of the thread that made it. Lists are
//! intrusive, so a list is one pointer and needs no other memory. All waiters of a forwarded value are one
//! node of the target's list.
//!
//! Waiters that set further values nest. At [`MAX_DEPTH`] they are deferred until the outermost one returns,
//! in the order in which they would have run. So no chain of continuations overflows the machine's stack:
//! neither of values that become final, nor of waiters that are added to final values.

use std::cell::{Cell as Counter, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut};

#[cfg(not(loom))]
use crate::error::drop_payload;
use crate::error::quietly;
use crate::pool;
use crate::sync::thread_local_const;
use crate::value::Value;

/// Limit of the nesting of waiters on the machine's stack.
#[cfg(not(loom))]
pub(super) const MAX_DEPTH: u32 = 64;
/// Small, so that loom's tests reach it.
#[cfg(loom)]
pub(super) const MAX_DEPTH: u32 = 1;

/// Header of every node. Its alignment leaves two bits of the address free.
#[repr(align(8))]
pub(super) struct Node {
    next: *mut Node,
    kind: NodeKind,
}

enum NodeKind {
    /// A closure follows the node. The function moves it out, frees the node, and calls the closure if there
    /// is a value.
    Call(unsafe fn(NonNull<Node>, Option<&Value>)),
    /// The waiters of a value that was forwarded here.
    Moved(List),
}

#[repr(C)]
struct WithClosure<F> {
    node: Node,
    closure: F,
}

/// An owned waiter. Dropping it without running it drops its closure.
pub(super) struct Waiter(NonNull<Node>);

/// A list of waiters, owned as a whole.
pub(super) struct List(*mut Node);

// SAFETY: closures are Send, and a list or waiter owns its nodes.
unsafe impl Send for List {}
// SAFETY: as above.
unsafe impl Send for Waiter {}

/// # Safety
/// `node` must point to a `WithClosure<F>` from the pool, owned by the caller. It is freed.
unsafe fn call<F: FnOnce(&Value)>(node: NonNull<Node>, value: Option<&Value>) {
    // SAFETY: the caller's contract: a node of this type from the pool, which is freed once.
    let WithClosure { closure, node: _ } = unsafe { pool::unbox(node.cast::<WithClosure<F>>()) };
    if let Some(value) = value {
        closure(value);
    }
}

impl Waiter {
    pub(super) fn new<F: FnOnce(&Value) + Send + 'static>(closure: F) -> Waiter {
        let node = Node { next: null_mut(), kind: NodeKind::Call(call::<F>) };
        Waiter(pool::boxed(WithClosure { node, closure }).cast())
    }

    /// One node for all of `list`.
    pub(super) fn moved(list: List) -> Waiter {
        Waiter(pool::boxed(Node { next: null_mut(), kind: NodeKind::Moved(list) }))
    }

    /// Links the waiter in front of `head`, the first node of a list, and returns the new head. The waiter
    /// belongs to that list once the caller has published it. [`Waiter::take_back`] undoes it if publication
    /// failed.
    pub(super) fn link(self, head: *mut Node) -> *mut Node {
        let node = ManuallyDrop::new(self).0;
        // SAFETY: the node is owned, so no other thread has it.
        unsafe { (*node.as_ptr()).next = head };
        node.as_ptr()
    }

    /// # Safety
    /// `node` must come from [`Waiter::link`] and must not have been published.
    pub(super) unsafe fn take_back(node: *mut Node) -> Waiter {
        // SAFETY: `link` returns no null.
        Waiter(unsafe { NonNull::new_unchecked(node) })
    }

    /// A list of this waiter only.
    pub(super) fn alone(self) -> List {
        List(self.link(null_mut()))
    }

    /// Runs the waiter. A panic ends only this waiter, neither the next ones nor the thread.
    fn run(self, value: &Value) {
        let node = ManuallyDrop::new(self).0;
        // SAFETY: the node is owned, so it is alive.
        let kind = unsafe { &node.as_ref().kind };
        let NodeKind::Call(call) = *kind else { return drop(Waiter(node)) };
        // The panic hook has reported the panic. The closure was dropped; promises in it became errors.
        // SAFETY: `call` was stored for this node's type. The node is not dropped, so it is freed once.
        let ended = catch_unwind(AssertUnwindSafe(|| unsafe { call(node, Some(value)) }));
        // Under loom a panic is a failed model.
        #[cfg(loom)]
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        #[cfg(not(loom))]
        ended.unwrap_or_else(drop_payload);
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        // SAFETY: the node is owned, so it is alive.
        match unsafe { &self.0.as_ref().kind } {
            // SAFETY: `call` was stored for this node's type. The node is not used afterwards.
            NodeKind::Call(call) => quietly(|| unsafe { call(self.0, None) }),
            // SAFETY: such a node is a `Node` of the pool. It is not used afterwards.
            NodeKind::Moved(_) => drop(unsafe { pool::unbox(self.0) }),
        }
    }
}

impl List {
    /// # Safety
    /// `head` must be null or the first node of a list that the caller owns. The result owns it.
    pub(super) unsafe fn from_head(head: *mut Node) -> List {
        List(head)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// Takes the next waiter, also out of the lists of forwarded values.
    fn pop(&mut self) -> Option<Waiter> {
        loop {
            let node = NonNull::new(self.0)?;
            // SAFETY: the list owns its nodes.
            let Node { next, kind } = unsafe { &mut *node.as_ptr() };
            self.0 = *next;
            let NodeKind::Moved(moved) = kind else { return Some(Waiter(node)) };
            let first = std::mem::replace(&mut moved.0, null_mut());
            drop(Waiter(node));
            let Some(mut last) = NonNull::new(first) else { continue };
            // SAFETY: the moved list owned its nodes, which belong to this list now. Each node is visited
            // once.
            while let Some(next) = NonNull::new(unsafe { last.as_ref() }.next) {
                last = next;
            }
            // SAFETY: `last` is one of these nodes.
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

/// A thread's state of nested and deferred waiters.
struct WaiterState {
    /// The depth of nesting.
    depth: Counter<u32>,
    /// Deferred waiters with their values, the next ones last.
    deferred: RefCell<Vec<(List, Value)>>,
}

thread_local_const! {
    static STATE: WaiterState = WaiterState { depth: Counter::new(0), deferred: RefCell::new(Vec::new()) };
}

/// One level of nesting. Deferred waiters run at the end of the outermost.
struct Level {
    depth: u32,
}

impl Level {
    /// `None` at the limit of nesting.
    fn enter() -> Option<Level> {
        STATE.with(|state| {
            let depth = state.depth.get();
            (depth < MAX_DEPTH).then(|| {
                state.depth.set(depth + 1);
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
        STATE.with(|state| state.depth.set(self.depth));
    }
}

fn defer(list: List, value: &Value) {
    STATE.with(|state| state.deferred.borrow_mut().push((list, value.clone())));
}

fn next_deferred() -> Option<(Waiter, Value)> {
    STATE.with(|state| {
        loop {
            let mut deferred = state.deferred.borrow_mut();
            let (list, value) = deferred.last_mut()?;
            if let Some(waiter) = list.pop() {
                return Some((waiter, value.clone()));
            }
            // Dropped without the borrow, because destructors of values may run waiters, which may be
            // deferred.
            let done = deferred.pop();
            drop(deferred);
            drop(done);
        }
    })
}

/// Runs a detached list of waiters on this thread, now or deferred.
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

/// Runs the waiter of a final value on this thread, now or deferred.
pub(super) fn run_one(waiter: impl FnOnce(&Value) + Send + 'static, value: &Value) {
    match Level::enter() {
        Some(_level) => waiter(value),
        None => defer(Waiter::new(waiter).alone(), value),
    }
}
