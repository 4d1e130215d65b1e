//! [`Activity`]: detection of executions whose kernels can only wait for each other.
//!
//! ```text
//! +1  a task of the execution is given to a queue        -1  it has run
//! +1  a result, a future, a caller's argument is awaited  -1  it is there, and its users are notified
//!  0  nothing runs, is ready, or is awaited: a receiver in a rendezvous waits in vain
//! ```
//!
//! A kernel that waits for another kernel of its execution does not count ([`Meeting`]). Its task counts
//! again when it is woken. So the count is zero only if no value can come any more, or the execution has
//! ended. Executions without such kernels have no `Activity` and pay nothing.
//!
//! An error may be the reason why no value can come: a part that has it does not run the branch or the loop
//! in which another part waits. So the first error of the execution is kept for those that wait in vain.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use crate::error::Error;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// A place where kernels wait for others of their execution.
pub trait Meeting: Send + Sync {
    /// Ends all waits with an error, because no value can come any more.
    fn end_waits(&self);
}

/// The tasks and awaited values of an execution.
#[derive(Default)]
pub struct Activity {
    count: AtomicUsize,
    meetings: Mutex<Vec<Weak<dyn Meeting>>>,
    /// The first error of the execution.
    failure: OnceLock<Error>,
}

impl Activity {
    /// Lets kernels that wait in `meeting` fail when nothing else goes on.
    pub fn watch(&self, meeting: Weak<dyn Meeting>) {
        let mut meetings = lock(&self.meetings);
        meetings.retain(|known| known.strong_count() > 0);
        meetings.push(meeting);
    }

    /// Keeps an error of the execution if it is the first one, before anything learns of it.
    pub fn fail(&self, error: &Error) {
        self.failure.get_or_init(|| error.clone());
    }

    /// The first error of the execution. Whoever sees the count at zero, or ends the last user of a meeting,
    /// sees an error that was kept before that.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.get()
    }

    /// Counts a task, before it is given to a queue, or an awaited value.
    pub fn begin(&self) {
        // Relaxed: publishes nothing. The count cannot reach zero in between, because the caller is counted
        // itself, or the execution has not started.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a counted task or value, after all calls of [`Activity::begin`] that it makes.
    pub fn end(&self) {
        // AcqRel: Release publishes the waits that this thread leaves. Acquire shows those of all other
        // threads to the one that sees zero; pairs with the Release halves of their decrements.
        if self.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            let meetings: Vec<_> = lock(&self.meetings).iter().filter_map(Weak::upgrade).collect();
            meetings.iter().for_each(|meeting| meeting.end_waits());
        }
    }
}

impl fmt::Debug for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Activity").field(&self.count).finish()
    }
}

/// A counted task or awaited value, until it is dropped.
#[derive(Debug)]
pub struct Going(Arc<Activity>);

impl Going {
    /// Counts a task or an awaited value.
    pub fn new(activity: Arc<Activity>) -> Going {
        activity.begin();
        Going(activity)
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Ended(AtomicUsize);

    impl Meeting for Ended {
        fn end_waits(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn waits_end_when_nothing_goes_on() {
        let (activity, ended) = (Arc::<Activity>::default(), Arc::<Ended>::default());
        let meeting: Arc<dyn Meeting> = ended.clone();
        activity.watch(Arc::downgrade(&meeting));
        let n_ended = || ended.0.load(Ordering::Relaxed);
        let one = Going::new(activity.clone());
        let two = Going::new(activity.clone());
        drop(one);
        assert_eq!(n_ended(), 0);
        drop(two);
        assert_eq!(n_ended(), 1);
        drop(Going::new(activity.clone()));
        assert_eq!(n_ended(), 2, "each time");
        // A meeting that was dropped is not called, and is removed.
        activity.watch(Weak::<Ended>::new());
        drop(Going::new(activity.clone()));
        activity.watch(Weak::<Ended>::new());
        assert_eq!((n_ended(), lock(&activity.meetings).len()), (3, 2));
    }
}
