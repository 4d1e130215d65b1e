//! Where the values meet that parts of a program send each other.
//!
//! ```text
//! send(key, value) ─▶ ┌ key: Sent(value)      ┐ ─▶ recv(key): taken
//!                     └ key: Awaited(waiting) ┘ ─▶ woken with the value
//! ```
//!
//! A [`Step`] is one call of all parts together, with its own table; its keys are channel and [`Frame`]. A
//! value is sent once and received once, then it is gone. What nobody takes goes with the step, and so do
//! those who wait, with an error: when nobody has the step any more, nobody can send.
//!
//! A frame is a path: which loop, which iteration, inside of which. Parts make their frames apart from each
//! other, so a frame is known by a hash of 128 bits of its path, not by a number.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{KernelError, Value};

/// Identity of a value among those of a step.
pub(super) type Key = (i64, FrameId);

/// Hash of a frame's path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FrameId {
    path: [u64; 2],
    iteration: u64,
}

impl FrameId {
    /// The first iteration of a frame inside of this one.
    pub(super) fn enter(self, name: &str) -> FrameId {
        let part = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, self, name).hash(&mut hasher);
            hasher.finish()
        };
        FrameId { path: [part(1), part(2)], iteration: 0 }
    }

    /// The next iteration.
    pub(super) fn next(self) -> FrameId {
        FrameId { iteration: self.iteration.wrapping_add(1), ..self }
    }

    /// The number of the iteration.
    pub(super) fn iteration(self) -> u64 {
        self.iteration
    }
}

/// The state of a key.
#[derive(Debug)]
enum Meeting {
    Sent(Value),
    Awaited(Arc<Mutex<Waiting>>),
}

/// A receiver that waits.
#[derive(Debug, Default)]
struct Waiting {
    value: Option<Result<Value, KernelError>>,
    waker: Option<Waker>,
}

/// The values on their way in one call of all parts.
#[derive(Debug, Default)]
pub(super) struct StepTable {
    meetings: Mutex<HashMap<Key, Meeting>>,
}

/// A poisoned lock protects a state that is whole: nothing here panics between two changes.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StepTable {
    /// Hands a value over; false if the key has one already.
    pub(super) fn send(&self, key: Key, value: Value) -> bool {
        let waiting = match locked(&self.meetings).entry(key) {
            Entry::Vacant(free) => {
                free.insert(Meeting::Sent(value));
                return true;
            }
            Entry::Occupied(taken) => match taken.get() {
                Meeting::Sent(_) => return false,
                Meeting::Awaited(_) => taken.remove(),
            },
        };
        if let Meeting::Awaited(waiting) = waiting {
            arrive(&waiting, Ok(value));
        }
        true
    }

    /// Takes a value, or waits for it; `None` if somebody else waits for it.
    pub(super) fn recv(&self, key: Key) -> Option<Received> {
        match locked(&self.meetings).entry(key) {
            Entry::Vacant(free) => {
                let waiting = Arc::<Mutex<Waiting>>::default();
                free.insert(Meeting::Awaited(waiting.clone()));
                Some(Received::Later(Arrival(waiting)))
            }
            Entry::Occupied(taken) => match taken.get() {
                Meeting::Sent(_) => match taken.remove() {
                    Meeting::Sent(value) => Some(Received::Now(value)),
                    Meeting::Awaited(_) => None,
                },
                Meeting::Awaited(_) => None,
            },
        }
    }
}

/// Ends a wait.
fn arrive(waiting: &Mutex<Waiting>, value: Result<Value, KernelError>) {
    let waker = {
        let mut waiting = locked(waiting);
        waiting.value = Some(value);
        waiting.waker.take()
    };
    // Outside of all locks: it may run anything.
    waker.into_iter().for_each(Waker::wake);
}

impl Drop for StepTable {
    /// Nobody can send any more: whoever still waits gets an error.
    fn drop(&mut self) {
        let meetings = self.meetings.get_mut().unwrap_or_else(PoisonError::into_inner);
        for ((channel, frame), meeting) in std::mem::take(meetings) {
            if let Meeting::Awaited(waiting) = meeting {
                let message = format!("never sent: channel {channel}, iteration {}", frame.iteration());
                arrive(&waiting, Err(KernelError::new(ErrorCode::Internal, message)));
            }
        }
    }
}

/// A received value.
pub(super) enum Received {
    /// It was there.
    Now(Value),
    /// It is awaited.
    Later(Arrival),
}

/// The future of a value that has not been sent yet.
pub(super) struct Arrival(Arc<Mutex<Waiting>>);

impl Future for Arrival {
    type Output = Result<Vec<Value>, KernelError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut waiting = locked(&self.0);
        match waiting.value.take() {
            Some(value) => Poll::Ready(value.map(|value| vec![value])),
            None => {
                waiting.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_meets_its_receiver_in_either_order() {
        let step = StepTable::default();
        let key = (3, FrameId::default());
        assert!(step.send(key, Value::I32(7)));
        assert!(!step.send(key, Value::I32(8)), "a second value of a key");
        assert!(matches!(step.recv(key), Some(Received::Now(Value::I32(7)))));
        let Some(Received::Later(mut arrival)) = step.recv(key) else { panic!("it was taken") };
        assert!(step.recv(key).is_none(), "a second receiver");
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut arrival).poll(&mut cx).is_pending());
        assert!(step.send(key, Value::Dead));
        let Poll::Ready(values) = Pin::new(&mut arrival).poll(&mut cx) else { panic!("it was sent") };
        assert!(matches!(values.as_deref(), Ok([Value::Dead])));
    }

    #[test]
    fn a_step_that_ends_ends_all_waits() {
        let step = StepTable::default();
        let Some(Received::Later(mut arrival)) = step.recv((5, FrameId::default().enter("w").next())) else {
            panic!("nobody has sent")
        };
        drop(step);
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Err(error)) = Pin::new(&mut arrival).poll(&mut cx) else { panic!("it ended") };
        assert_eq!(error.message(), "never sent: channel 5, iteration 1");
    }

    #[test]
    fn paths_of_frames_differ() {
        let root = FrameId::default();
        let (a, b) = (root.enter("a"), root.enter("b"));
        assert_ne!(a, b);
        assert_eq!(a, root.enter("a"));
        assert_ne!(a.next(), a);
        assert_ne!(a.enter("b"), a.next().enter("b"));
        assert_ne!(a.enter("b"), b.enter("a"));
        assert_eq!(a.next().next().iteration(), 2);
    }
}
