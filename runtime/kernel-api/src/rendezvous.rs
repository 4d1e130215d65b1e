//! Rendezvous: exchange of values between the parts of a program.
//!
//! ```text
//! send(key, value) ─▶ ┌ key: Sent(value)       ┐ ─▶ recv(key): taken
//!                     └ key: Awaited(receiver) ┘ ─▶ the receiver gets the value
//! ```
//!
//! A [`StepTable`] belongs to one step: one call of all parts together. A key is a channel and a [`FrameId`].
//! A value is sent once and received once. When the last part drops the table, no value can be sent any more:
//! values in it are dropped, and receivers that wait get an error. They also get one when the execution can
//! only wait ([`Activity`]). If the execution has failed, it is the execution's first error: a part that has
//! failed does not send what others wait for. [`StepTable::abort`] drops the values in the table and gives
//! its error to receivers that wait and to all later ones.
//!
//! A value is handed over under the lock, or to a receiver that was removed under it. So in any order of a
//! send, a receive and an abort, the receiver gets the value or the error, once. It gets it outside of the
//! lock, on the thread that ends its wait, which does not run the receiver's kernel.
//!
//! A frame is a path of loops and their iterations, outermost first. Each part computes its frames by itself,
//! so a frame is identified by a 128-bit hash of its path, not by a number.

use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Wake;

use rustc_hash::FxHashMap;

use crate::activity::{Activity, Meeting};
use crate::cancellation::OnCancel;
use crate::context::Cancellation;
use crate::error::KernelError;
use crate::sync::{Mutex, lock, thread_local_const};
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

/// The value that a receiver gets, or the reason why it gets none.
pub type Delivery = Result<Value, NotReceived>;

/// Who waits for a value.
pub trait Receiver: Send {
    /// Takes the value, or the reason why there is none, and returns soon: what it is for becomes a task.
    fn receive(self: Box<Self>, delivery: Delivery);
}

/// The state of a key.
enum AtKey {
    Sent(Value),
    Awaited(Box<dyn Receiver>),
}

/// The values that were sent and not received in one call of all parts, and the receivers that wait.
pub struct StepTable {
    state: Mutex<StepState>,
    /// The activity of the execution, which knows whether it has failed.
    activity: Option<Arc<Activity>>,
    /// The registration with the cancellation of the execution.
    on_cancel: OnceLock<OnCancel>,
}

/// Not a keyed hash: a program has at most 2^20 channels, which its compiler numbers, and the path of a frame
/// is a hash.
type Meetings = FxHashMap<MeetingKey, AtKey>;

/// Limit of the meetings for which a table without a step keeps memory.
const MAX_KEPT: usize = 1 << 12;

thread_local_const! {
    /// The empty table of a step that has ended, for the next step.
    static UNUSED_MEETINGS: Cell<Option<Meetings>> = Cell::new(None);
}

struct StepState {
    meetings: Meetings,
    /// The error of a step that was aborted.
    aborted: Option<KernelError>,
}

/// The reason why a receiver gets no value.
#[derive(Debug)]
pub enum NotReceived {
    /// No sender is left.
    NeverSent,
    /// Another receiver waits for it.
    Twice,
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

impl Default for StepTable {
    fn default() -> StepTable {
        StepTable::new(None)
    }
}

impl StepTable {
    fn new(activity: Option<Arc<Activity>>) -> StepTable {
        let meetings = UNUSED_MEETINGS.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let state = Mutex::new(StepState { meetings, aborted: None });
        StepTable { state, activity, on_cancel: OnceLock::new() }
    }

    /// A step that is aborted when its execution is cancelled, and whose waits end when the execution can
    /// only wait.
    pub fn of_execution(cancellation: &Cancellation, activity: Option<&Arc<Activity>>) -> Arc<StepTable> {
        let step = Arc::new(StepTable::new(activity.cloned()));
        if let Some(activity) = activity {
            let table: Weak<StepTable> = Arc::downgrade(&step);
            activity.watch(table);
        }
        let abort = AbortStep { step: Arc::downgrade(&step), cancellation: cancellation.clone() };
        let abort = Arc::new(abort);
        _ = step.on_cancel.set(cancellation.on_cancel(abort.into()));
        step
    }

    /// Hands a value over.
    pub fn send(&self, key: MeetingKey, value: Value) -> Sending {
        let receiver = {
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
        if let AtKey::Awaited(receiver) = receiver {
            receiver.receive(Ok(value));
        }
        Sending::Done
    }

    /// Takes a value, or lets `receiver` wait for it; then nothing is returned.
    pub fn recv(&self, key: MeetingKey, receiver: impl FnOnce() -> Box<dyn Receiver>) -> Option<Delivery> {
        let mut state = lock(&self.state);
        if let Some(error) = &state.aborted {
            return Some(Err(NotReceived::Aborted(copy_of(error))));
        }
        match state.meetings.entry(key) {
            Entry::Vacant(free) => {
                free.insert(AtKey::Awaited(receiver()));
                None
            }
            Entry::Occupied(taken) => Some(match taken.get() {
                AtKey::Awaited(_) => Err(NotReceived::Twice),
                AtKey::Sent(_) => match taken.remove() {
                    AtKey::Sent(value) => Ok(value),
                    AtKey::Awaited(_) => Err(NotReceived::Twice),
                },
            }),
        }
    }

    /// Ends the step: receivers that wait and all later ones get the error. The first error counts.
    pub fn abort(&self, error: &KernelError) {
        let meetings = {
            let mut state = lock(&self.state);
            state.aborted.get_or_insert_with(|| copy_of(error));
            std::mem::take(&mut state.meetings)
        };
        for meeting in meetings.into_values() {
            if let AtKey::Awaited(receiver) = meeting {
                receiver.receive(Err(NotReceived::Aborted(copy_of(error))));
            }
        }
    }

    /// Ends the waits among these meetings: no sender is left. Receivers get the error of an execution that
    /// has failed as if it had been sent, and else one of their own.
    fn end(&self, meetings: impl Iterator<Item = (MeetingKey, AtKey)>) {
        // Once, before receivers add errors of their own.
        let failure = self.activity.as_ref().and_then(|activity| activity.failure());
        for (_, meeting) in meetings {
            if let AtKey::Awaited(receiver) = meeting {
                receiver.receive(match failure {
                    Some(error) => Ok(Value::Error(error.clone())),
                    None => Err(NotReceived::NeverSent),
                });
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
        self.end(waits.into_iter());
    }
}

impl Drop for StepTable {
    /// Ends the receivers that wait: no value can be sent any more.
    fn drop(&mut self) {
        let mut meetings = std::mem::take(&mut lock(&self.state).meetings);
        self.end(meetings.drain());
        if meetings.capacity() <= MAX_KEPT {
            _ = UNUSED_MEETINGS.try_with(|unused| unused.set(Some(meetings)));
        }
    }
}

impl fmt::Debug for StepTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.state);
        let n_sent = state.meetings.values().filter(|at| matches!(at, AtKey::Sent(_))).count();
        f.debug_struct("StepTable")
            .field("n_sent", &n_sent)
            .field("n_awaited", &(state.meetings.len() - n_sent))
            .field("aborted", &state.aborted)
            .finish()
    }
}

#[cfg(test)]
mod test_receiver {
    use super::*;

    /// Where a value arrives.
    #[derive(Clone, Default)]
    pub(super) struct Arrival(Arc<Mutex<Option<Delivery>>>);

    impl Receiver for Arrival {
        fn receive(self: Box<Arrival>, delivery: Delivery) {
            let before = lock(&self.0).replace(delivery);
            assert!(before.is_none(), "it receives once");
        }
    }

    impl Arrival {
        pub(super) fn take(&self) -> Option<Delivery> {
            lock(&self.0).take()
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::test_receiver::Arrival;
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

    fn recv(step: &StepTable, key: MeetingKey) -> Option<Delivery> {
        step.recv(key, || Box::new(Arrival::default()))
    }

    fn waits(step: &StepTable, key: MeetingKey) -> Arrival {
        let arrival = Arrival::default();
        let delivery = step.recv(key, || Box::new(arrival.clone()));
        assert!(delivery.is_none(), "nobody has sent");
        arrival
    }

    fn arrived(arrival: &Arrival) -> Delivery {
        arrival.take().expect("it has ended")
    }

    #[test]
    fn a_value_meets_its_receiver_in_either_order() {
        let step = StepTable::default();
        let key = (3, FrameId::default());
        assert_eq!(step.send(key, Value::I32(7)), Sending::Done);
        assert_eq!(step.send(key, Value::I32(8)), Sending::Twice);
        assert!(matches!(recv(&step, key), Some(Ok(Value::I32(7)))));
        let arrival = waits(&step, key);
        assert!(matches!(recv(&step, key), Some(Err(NotReceived::Twice))), "a second receiver");
        assert!(arrival.take().is_none());
        assert_eq!(step.send(key, Value::Dead), Sending::Done);
        assert!(matches!(arrived(&arrival), Ok(Value::Dead)));
        assert!(step.is_empty());
    }

    #[test]
    fn a_step_that_ends_ends_all_waits() {
        let step = StepTable::default();
        let arrival = waits(&step, (5, FrameId::default().enter("w").next()));
        drop(step);
        assert!(matches!(arrived(&arrival), Err(NotReceived::NeverSent)));
    }

    #[test]
    fn waits_that_are_in_vain_end_and_what_was_sent_stays() {
        let step = StepTable::default();
        let key = |channel| (channel, FrameId::default());
        let arrival = waits(&step, key(0));
        assert_eq!(step.send(key(1), Value::I32(1)), Sending::Done);
        step.end_waits();
        assert!(matches!(arrived(&arrival), Err(NotReceived::NeverSent)));
        assert!(matches!(recv(&step, key(1)), Some(Ok(Value::I32(1)))));
    }

    #[test]
    fn waits_that_are_in_vain_get_the_first_error_of_the_execution() {
        let activity = Arc::<Activity>::default();
        let step = StepTable::of_execution(&Cancellation::default(), Some(&activity));
        let key = |channel| (channel, FrameId::default());
        let first = waits(&step, key(0));
        activity.begin();
        activity.end();
        assert!(matches!(arrived(&first), Err(NotReceived::NeverSent)), "nothing has failed");
        for message in ["the copy failed", "later"] {
            activity.fail(&Error::new(ErrorCode::Unavailable, message, vec!["f:1:2".to_owned()]));
        }
        let (second, third) = (waits(&step, key(1)), waits(&step, key(2)));
        activity.begin();
        activity.end();
        let is_first = |delivery: Delivery| {
            let error = delivery.as_ref().ok().and_then(Value::error);
            error.is_some_and(|it| it.message() == "the copy failed" && it.location() == Some("f:1:2"))
        };
        assert!(is_first(arrived(&second)) && is_first(arrived(&third)));
        let fourth = waits(&step, key(3));
        drop(step);
        assert!(is_first(arrived(&fourth)), "also at the end of the step");
    }

    #[test]
    fn an_abort_ends_what_waits_and_what_comes() {
        let step = StepTable::default();
        let key = |channel| (channel, FrameId::default());
        let owned = Arc::new(());
        let error = KernelError::new(ErrorCode::Cancelled, "enough");
        let arrival = waits(&step, key(0));
        assert_eq!(step.send(key(1), Value::object(Counted(owned.clone()))), Sending::Done);
        step.abort(&error);
        step.abort(&KernelError::invalid("too late"));
        assert!(matches!(arrived(&arrival), Err(NotReceived::Aborted(error)) if error.message() == "enough"));
        assert!(
            matches!(recv(&step, key(1)), Some(Err(NotReceived::Aborted(error))) if error.code() == ErrorCode::Cancelled)
        );
        assert_eq!(step.send(key(2), Value::object(Counted(owned.clone()))), Sending::Aborted);
        assert!(step.is_empty() && Arc::strong_count(&owned) == 1);
    }

    #[test]
    fn a_cancellation_aborts_the_step() {
        let cancellation = Cancellation::default();
        let step = StepTable::of_execution(&cancellation, None);
        let arrival = waits(&step, (0, FrameId::default()));
        cancellation.cancel();
        assert!(
            matches!(arrived(&arrival), Err(NotReceived::Aborted(error)) if error.code() == ErrorCode::Cancelled)
        );
        assert_eq!(Arc::strong_count(&step), 1);
        // By its error, which is that of a deadline.
        let late = Cancellation::default();
        let step = StepTable::of_execution(&late, None);
        let arrival = waits(&step, (0, FrameId::default()));
        late.cancel_with(Error::new(ErrorCode::DeadlineExceeded, "too late", Vec::new()));
        assert!(
            matches!(arrived(&arrival), Err(NotReceived::Aborted(error)) if error.message() == "too late")
        );
        let after = StepTable::of_execution(&late, None);
        assert!(
            matches!(recv(&after, (0, FrameId::default())), Some(Err(NotReceived::Aborted(error))) if error.code() == ErrorCode::DeadlineExceeded)
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
                        let arrival = if n % 2 == 0 { Some(waits(&step, key)) } else { None };
                        assert_eq!(theirs.send(key, mine), Sending::Done, "thread {thread}");
                        let got = match &arrival {
                            Some(arrival) => Some(arrived(arrival)),
                            None => recv(&step, key),
                        };
                        assert!(matches!(got, Some(Ok(Value::I32(value))) if value == n));
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
    use super::test_receiver::Arrival;
    use super::*;
    use crate::activity::Going;

    #[test]
    fn loom_a_receiver_gets_the_value_or_the_abort() {
        loom::model(|| {
            let step = Arc::<StepTable>::default();
            let key = (0, FrameId::default());
            let (sender, aborter) = (step.clone(), step.clone());
            let send = loom::thread::spawn(move || sender.send(key, Value::I32(7)));
            let abort = loom::thread::spawn(move || aborter.abort(&KernelError::invalid("enough")));
            let arrival = Arrival::default();
            let received = step.recv(key, || Box::new(arrival.clone()));
            let (sent, _) = (send.join().unwrap(), abort.join().unwrap());
            let ended = received.or_else(|| arrival.take());
            match ended.expect("the receiver was not forgotten") {
                Ok(value) => {
                    assert!(matches!(value, Value::I32(7)));
                    assert_eq!(sent, Sending::Done);
                }
                Err(NotReceived::Aborted(error)) => assert_eq!(error.message(), "enough"),
                Err(NotReceived::NeverSent | NotReceived::Twice) => panic!("it was sent to one receiver"),
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
            let (receiver, arrival) = (step.clone(), Arrival::default());
            let arrives = arrival.clone();
            let waits = loom::thread::spawn(move || {
                let received = receiver.recv((0, FrameId::default()), || Box::new(arrives));
                drop(one);
                received
            });
            // The other goes on meanwhile, and sends nothing.
            drop(two);
            assert!(waits.join().unwrap().is_none(), "nobody has sent");
            assert!(matches!(arrival.take(), Some(Err(NotReceived::NeverSent))));
        });
    }
}
