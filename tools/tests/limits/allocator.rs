//! The process's allocator. On demand it refuses one large request of a thread, or all that are too large.

#![allow(unsafe_code, reason = "an allocator that refuses requests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with refusals.
struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// The refusals on a thread.
#[derive(Clone, Copy)]
enum Rule {
    None,
    /// Requests of at least this size are counted; the one with this index is refused.
    Nth(usize, u64),
    /// Requests larger than this are refused.
    Beyond(usize),
}

thread_local! {
    static RULE: Cell<Rule> = const { Cell::new(Rule::None) };
    /// The requests counted or refused since the rule was set.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn refuses(size: usize) -> bool {
    match RULE.get() {
        Rule::Nth(least, nth) if size >= least => {
            let count = COUNT.get();
            COUNT.set(count + 1);
            count == nth
        }
        Rule::Beyond(most) if size > most => {
            COUNT.set(COUNT.get() + 1);
            true
        }
        _ => false,
    }
}

/// Runs `work` under a rule. Returns its result, and the number of requests counted or refused.
fn under<R>(rule: Rule, work: impl FnOnce() -> R) -> (R, u64) {
    COUNT.set(0);
    RULE.set(rule);
    let result = work();
    RULE.set(Rule::None);
    (result, COUNT.get())
}

/// Runs `work`, while the `nth` request of this thread for at least `least` bytes is refused. Returns its
/// result, and the number of requests of that size.
pub(crate) fn refusing_nth<R>(least: usize, nth: u64, work: impl FnOnce() -> R) -> (R, u64) {
    under(Rule::Nth(least, nth), work)
}

/// Runs `work`, while requests of this thread for more than `most` bytes are refused. Returns its result, and
/// the number of refusals.
pub(crate) fn refusing_beyond<R>(most: usize, work: impl FnOnce() -> R) -> (R, u64) {
    under(Rule::Beyond(most), work)
}

// SAFETY: each request goes to the system allocator unchanged, or is refused with a null pointer. `refuses`
// neither allocates nor unwinds: its thread-local cells have constant initializers and no
// destructors.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && refuses(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract is the same.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}
