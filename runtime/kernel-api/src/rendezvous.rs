//! Rendezvous: exchange of values between the parts of a program.
//!
//! ```text
//! send(key, value) ─▶ ┌ key: Sent(value)      ┐ ─▶ recv(key): taken
//!                     └ key: Awaited(waiting) ┘ ─▶ woken with the value
//! ```
//!
//! A [`StepTable`] belongs to one step: one call of all parts together. A key is a channel and a [`FrameId`].
//! A value is sent once and received once. When the last part drops the table, no value can be sent any more:
//! values in it are dropped, and receivers that wait get an error. They also get one when the execution can
//! only wait ([`Activity`](crate::activity::Activity)). [`StepTable::abort`] drops the values in the table
//! and gives its error to receivers that wait and to all later ones.
//!
//! A value is handed over under the lock, or to a receiver that was removed under it. So in any order of a
//! send, a receive and an abort, the receiver gets the value or the error, once.
//!
//! A frame is a path of loops and their iterations, outermost first. Each part computes its frames by itself,
//! so a frame is identified by a 128-bit hash of its path, not by a number.

use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Wake, Waker};

use rustc_hash::FxHashMap;

use crate::activity::Meeting;
use crate::cancellation::OnCancel;
use crate::context::Cancellation;
use crate::error::KernelError;
use crate::sync::{Mutex, lock};
use crate::value::Value;

/// Identity of a value in a step: its channel and its frame.
pub type MeetingKey = (i64, FrameId);

/// Identity of a frame: a hash of its path, and its iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameId {
    path: [u64; 2],
    iteration: u64,
}

impl FrameId {
    /// The first iteration of a frame inside of this one.
    pub fn enter(self, name: &str) -> FrameId {
        let part = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, self, name).hash(&mut hasher);
            hasher.finish()
        };
        FrameId { path: [part(1), part(2)], iteration: 0 }
    }

    /// The next iteration.
    pub fn next(self) -> FrameId {
        FrameId { iteration: self.iteration.wrapping_add(1), ..self }
    }

    /// The number of the iteration.
    pub fn iteration(self) -> u64 {
        self.iteration
    }
}

/// The state of a key.
#[derive(Debug)]
enum AtKey {
    Sent(Value),
    Awaited(Arc<Waiting>),
}

/// A waiting receiver.
#[derive(Debug)]
struct Waiting {
    value: Mutex<Option<Result<Value, NotReceived>>>,
    waker: Waker,
}

/// The values that were sent and not received in one call of all parts, and the receivers that wait.
#[derive(Default)]
pub struct StepTable {
    state: Mutex<StepState>,
    /// The registration with the cancellation of the execution.
    on_cancel: OnceLock<OnCancel>,
}

#[derive(Debug, Default)]
struct StepState {
    /// Not a keyed hash: a program has at most 2^20 channels, which its compiler numbers, and the path of a
    /// frame is a hash.
    meetings: FxHashMap<MeetingKey, AtKey>,
    /// The error of a step that was aborted.
    aborted: Option<KernelError>,
}

/// The reason why a receiver gets no value.
#[derive(Debug)]
pub enum NotReceived {
    /// No sender is left.
    NeverSent,
    /// The step was aborted with this error.
    Aborted(KernelError),
}

/// The fate of a value that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// It was received, or will be.
    Done,
    /// The key has a value already; this one was dropped.
    Twice,
    /// The step was aborted; the value was dropped.
    Aborted,
}

/// Aborts a step when its execution is cancelled, with the error of the cancellation. It holds the
/// cancellation while it is registered there, which the step ends.
struct AbortStep {
    step: Weak<StepTable>,
    cancellation: Cancellation,
}

impl Wake for AbortStep {
    fn wake(self: Arc<AbortStep>) {
        if let (Some(step), Some(error)) = (self.step.upgrade(), self.cancellation.error()) {
            step.abort(&KernelError::new(error.code(), error.message()));
        }
    }
}

impl StepTable {
    /// A step that is aborted when its execution is cancelled.
    pub fn of_execution(cancellation: &Cancellation) -> Arc<StepTable> {
        let step = Arc::<StepTable>::default();
        let abort = AbortStep { step: Arc::downgrade(&step), cancellation: cancellation.clone() };
        let abort = Arc::new(abort);
        _ = step.on_cancel.set(cancellation.on_cancel(abort.into()));
        step
    }

    /// Hands a value over.
    pub fn send(&self, key: MeetingKey, value: Value) -> Sending {
        let waiting = {
            let mut state = lock(&self.state);
            if state.aborted.is_some() {
                drop(state);
                // Outside of the lock: dropping a value may run anything.
                drop(value);
                return Sending::Aborted;
            }
            match state.meetings.entry(key) {
                Entry::Vacant(free) => {
                    free.insert(AtKey::Sent(value));
                    return Sending::Done;
                }
                Entry::Occupied(taken) => match taken.get() {
                    AtKey::Sent(_) => return Sending::Twice,
                    AtKey::Awaited(_) => taken.remove(),
                },
            }
        };
        if let AtKey::Awaited(waiting) = waiting {
            arrive(&waiting, Ok(value));
        }
        Sending::Done
    }

    /// Takes a value, or waits for it; `None` if another receiver waits for it. One that waits is woken when
    /// its arrival has ended.
    ///
    /// # Errors
    /// The error of a step that was aborted.
    pub fn recv(
        &self,
        key: MeetingKey,
        waker: impl FnOnce() -> Waker,
    ) -> Result<Option<Received>, KernelError> {
        let mut state = lock(&self.state);
        if let Some(error) = &state.aborted {
            return Err(copy_of(error));
        }
        Ok(match state.meetings.entry(key) {
            Entry::Vacant(free) => {
                let waiting = Arc::new(Waiting { value: Mutex::default(), waker: waker() });
                free.insert(AtKey::Awaited(waiting.clone()));
                Some(Received::Later(Arrival(waiting)))
            }
            Entry::Occupied(taken) => match taken.get() {
                AtKey::Sent(_) => match taken.remove() {
                    AtKey::Sent(value) => Some(Received::Now(value)),
                    AtKey::Awaited(_) => None,
                },
                AtKey::Awaited(_) => None,
            },
        })
    }

    /// Ends the step: receivers that wait and all later ones get the error. The first error counts.
    pub fn abort(&self, error: &KernelError) {
        let meetings = {
            let mut state = lock(&self.state);
            state.aborted.get_or_insert_with(|| copy_of(error));
            std::mem::take(&mut state.meetings)
        };
        for meeting in meetings.into_values() {
            if let AtKey::Awaited(waiting) = meeting {
                arrive(&waiting, Err(NotReceived::Aborted(copy_of(error))));
            }
        }
    }

    /// True if no value and no receiver is left.
    pub fn is_empty(&self) -> bool {
        lock(&self.state).meetings.is_empty()
    }
}

/// The same error for another receiver.
fn copy_of(error: &KernelError) -> KernelError {
    KernelError::new(error.code(), error.message())
}

impl Meeting for StepTable {
    /// Ends the waits with an error. Sent values stay, because a receiver may still come.
    fn end_waits(&self) {
        let waits: Vec<_> = {
            let mut state = lock(&self.state);
            state.meetings.extract_if(|_, at| matches!(at, AtKey::Awaited(_))).collect()
        };
        end(waits.into_iter());
    }
}

/// Ends the waits among these meetings: no sender is left.
fn end(meetings: impl Iterator<Item = (MeetingKey, AtKey)>) {
    for (_, meeting) in meetings {
        if let AtKey::Awaited(waiting) = meeting {
            arrive(&waiting, Err(NotReceived::NeverSent));
        }
    }
}

/// Ends a wait.
fn arrive(waiting: &Waiting, value: Result<Value, NotReceived>) {
    *lock(&waiting.value) = Some(value);
    // Outside of all locks: it may run anything.
    waiting.waker.wake_by_ref();
}

impl Drop for StepTable {
    /// Ends the receivers that wait: no value can be sent any more.
    fn drop(&mut self) {
        end(std::mem::take(&mut lock(&self.state).meetings).into_iter());
    }
}

/// A received value.
pub enum Received {
    /// It had been sent.
    Now(Value),
    /// It has not been sent yet.
    Later(Arrival),
}

/// A value that has not been sent yet.
pub struct Arrival(Arc<Waiting>);

impl Arrival {
    /// The value, or why there is none; nothing until the receiver is woken.
    pub fn take(&mut self) -> Option<Result<Value, NotReceived>> {
        lock(&self.0.value).take()
    }
}

impl fmt::Debug for StepTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorCode};
    use crate::object::Object;

    /// A value whose count shows whether it was dropped.
    #[derive(Debug)]
    struct Counted(#[expect(dead_code, reason = "held, not read")] Arc<()>);

    impl Object for Counted {
        const TYPES: &'static [&'static str] = &["!test.counted"];

        fn display(&self) -> String {
            "counted".to_owned()
        }
    }

    fn recv(step: &StepTable, key: MeetingKey) -> Result<Option<Received>, KernelError> {
        step.recv(key, || Waker::noop().clone())
    }

    fn waits(step: &StepTable, key: MeetingKey) -> Arrival {
        match recv(step, key) {
            Ok(Some(Received::Later(arrival))) => arrival,
            _ => panic!("nobody has sent"),
        }
    }

    fn arrived(arrival: &mut Arrival) -> Result<Value, NotReceived> {
        arrival.take().expect("it has ended")
    }

    #[test]
    fn a_value_meets_its_receiver_in_either_order() {
        let step = StepTable::default();
        let key = (3, FrameId::default());
        assert_eq!(step.send(key, Value::I32(7)), Sending::Done);
        assert_eq!(step.send(key, Value::I32(8)), Sending::Twice);
        assert!(matches!(recv(&step, key), Ok(Some(Received::Now(Value::I32(7))))));
        let mut arrival = waits(&step, key);
        assert!(matches!(recv(&step, key), Ok(None)), "a second receiver");
        assert!(arrival.take().is_none());
        assert_eq!(step.send(key, Value::Dead), Sending::Done);
        assert!(matches!(arrived(&mut arrival), Ok(Value::Dead)));
        assert!(step.is_empty());
    }

    #[test]
    fn a_step_that_ends_ends_all_waits() {
        let step = StepTable::default();
        let mut arrival = waits(&step, (5, FrameId::default().enter("w").next()));
        drop(step);
        assert!(matches!(arrived(&mut arrival), Err(NotReceived::NeverSent)));
    }

    #[test]
    fn waits_that_are_in_vain_end_and_what_was_sent_stays() {
        let step = StepTable::default();
        let key = |channel| (channel, FrameId::default());
        let mut arrival = waits(&step, key(0));
        assert_eq!(step.send(key(1), Value::I32(1)), Sending::Done);
        step.end_waits();
        assert!(matches!(arrived(&mut arrival), Err(NotReceived::NeverSent)));
        assert!(matches!(recv(&step, key(1)), Ok(Some(Received::Now(Value::I32(1))))));
    }

    #[test]
    fn an_abort_ends_what_waits_and_what_comes() {
        let step = StepTable::default();
        let key = |channel| (channel, FrameId::default());
        let owned = Arc::new(());
        let error = KernelError::new(ErrorCode::Cancelled, "enough");
        let mut arrival = waits(&step, key(0));
        assert_eq!(step.send(key(1), Value::object(Counted(owned.clone()))), Sending::Done);
        step.abort(&error);
        step.abort(&KernelError::invalid("too late"));
        assert!(
            matches!(arrived(&mut arrival), Err(NotReceived::Aborted(error)) if error.message() == "enough")
        );
        assert_eq!(recv(&step, key(1)).err().map(|error| error.code()), Some(ErrorCode::Cancelled));
        assert_eq!(step.send(key(2), Value::object(Counted(owned.clone()))), Sending::Aborted);
        assert!(step.is_empty() && Arc::strong_count(&owned) == 1);
    }

    #[test]
    fn a_cancellation_aborts_the_step() {
        let cancellation = Cancellation::default();
        let step = StepTable::of_execution(&cancellation);
        let mut arrival = waits(&step, (0, FrameId::default()));
        cancellation.cancel();
        assert!(
            matches!(arrived(&mut arrival), Err(NotReceived::Aborted(error)) if error.code() == ErrorCode::Cancelled)
        );
        assert_eq!(Arc::strong_count(&step), 1);
        // By its error, which is that of a deadline.
        let late = Cancellation::default();
        let step = StepTable::of_execution(&late);
        let mut arrival = waits(&step, (0, FrameId::default()));
        late.cancel_with(Error::new(ErrorCode::DeadlineExceeded, "too late", Vec::new()));
        assert!(
            matches!(arrived(&mut arrival), Err(NotReceived::Aborted(error)) if error.message() == "too late")
        );
        let after = StepTable::of_execution(&late);
        assert!(
            recv(&after, (0, FrameId::default())).is_err_and(|e| e.code() == ErrorCode::DeadlineExceeded)
        );
    }

    #[test]
    fn many_steps_at_once_are_not_mixed_up() {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                std::thread::spawn(move || {
                    for n in 0..crate::fewer(10_000) as i32 {
                        let step = Arc::new(StepTable::default());
                        let key = (i64::from(n % 3), FrameId::default().enter("loop"));
                        let (mine, theirs) = (Value::I32(n), step.clone());
                        let mut arrival = if n % 2 == 0 { Some(waits(&step, key)) } else { None };
                        assert_eq!(theirs.send(key, mine), Sending::Done, "thread {thread}");
                        let got = match &mut arrival {
                            Some(arrival) => Some(arrived(arrival).unwrap()),
                            None => match recv(&step, key) {
                                Ok(Some(Received::Now(value))) => Some(value),
                                _ => None,
                            },
                        };
                        assert!(matches!(got, Some(Value::I32(value)) if value == n));
                        assert!(step.is_empty());
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
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

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::activity::{Activity, Going};
    use std::sync::Weak;

    #[test]
    fn loom_a_receiver_gets_the_value_or_the_abort() {
        loom::model(|| {
            let step = Arc::new(StepTable::default());
            let key = (0, FrameId::default());
            let (sender, aborter) = (step.clone(), step.clone());
            let send = loom::thread::spawn(move || sender.send(key, Value::I32(7)));
            let abort = loom::thread::spawn(move || aborter.abort(&KernelError::invalid("enough")));
            let received = step.recv(key, || Waker::noop().clone());
            let (sent, _) = (send.join().unwrap(), abort.join().unwrap());
            let ended = match received {
                Err(error) => Err(NotReceived::Aborted(error)),
                Ok(Some(Received::Now(value))) => Ok(value),
                Ok(Some(Received::Later(mut arrival))) => {
                    arrival.take().expect("the receiver was not forgotten")
                }
                Ok(None) => panic!("there is one receiver"),
            };
            match ended {
                Ok(value) => {
                    assert!(matches!(value, Value::I32(7)));
                    assert_eq!(sent, Sending::Done);
                }
                Err(NotReceived::Aborted(error)) => assert_eq!(error.message(), "enough"),
                Err(NotReceived::NeverSent) => panic!("it was sent"),
            }
            assert!(step.is_empty());
        });
    }

    #[test]
    fn loom_the_last_activity_ends_the_waits() {
        loom::model(|| {
            let (activity, step) = (Arc::<Activity>::default(), Arc::<StepTable>::default());
            let table: Weak<StepTable> = Arc::downgrade(&step);
            activity.watch(table);
            let (one, two) = (Going::new(activity.clone()), Going::new(activity));
            let receiver = step.clone();
            let waits = loom::thread::spawn(move || {
                let received = receiver.recv((0, FrameId::default()), || Waker::noop().clone());
                drop(one);
                received
            });
            // The other goes on meanwhile, and sends nothing.
            drop(two);
            let Ok(Some(Received::Later(mut arrival))) = waits.join().unwrap() else {
                panic!("nobody has sent")
            };
            assert!(matches!(arrival.take(), Some(Err(NotReceived::NeverSent))));
        });
    }
}
