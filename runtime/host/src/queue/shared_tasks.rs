//! Shared tasks, which any worker may take.
//!
//! ```text
//! inbox:           pushed by any thread ─▶ popped by any worker
//! worker's deque:  local tasks that the worker shares ─▶ popped by it, first come, first served
//!                                                     ─▶ stolen by an idle worker, up to half at once
//! ```
//!
//! A worker usually runs its shared tasks itself. Then no other thread writes to its deque, so that costs no
//! contended atomic operation. Moving a task to another core takes longer than many tasks run. So a thief
//! first measures how quickly the owner proceeds, and does not steal while the owner's tasks are too small
//! ([`MIN_STOLEN_DURATION`]).
//!
//! The deque of a thread is part of its thread-local state (`local`). It is lent to the thread when it first
//! shares tasks, and returned when the thread is a worker no longer. Remaining tasks stay in it, for others
//! to steal.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use befrost_kernel_api::parallel::WAKE_TIME;
use crossbeam_deque::{Steal, Stealer, Worker};
use crossbeam_queue::SegQueue;

use super::Task;
use super::local::{self, QueueScope};

/// Duration that tasks must have to be stolen, as measured by the owner's recent steps.
const MIN_STOLEN_DURATION: Duration = Duration::from_nanos(250);
/// Intervals between an idle worker's looks at the others' deques, at first and at most. Reading what their
/// owners write slows the owners down.
const LOOK_INTERVALS: (Duration, Duration) = (Duration::from_micros(1), Duration::from_micros(16));

/// The tasks that a worker has shared.
pub(super) struct Deque {
    tasks: Worker<Task>,
    /// Index of the deque's `Peer`.
    index: usize,
}

/// The part of a deque that other workers see.
#[repr(align(128))]
struct Peer {
    tasks: Stealer<Task>,
    /// Number of times that the owner has shared tasks or taken one back.
    steps: AtomicUsize,
}

/// The count of a worker that searches.
struct Searching<'s>(&'s AtomicUsize);

impl<'s> Searching<'s> {
    fn begin(searching: &'s AtomicUsize) -> Searching<'s> {
        // Relaxed: the fences in `Permits` order the count against the list.
        searching.fetch_add(1, Ordering::Relaxed);
        Searching(searching)
    }
}

impl Drop for Searching<'_> {
    fn drop(&mut self) {
        // Relaxed: as in `begin`.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) struct SharedTasks {
    inbox: SegQueue<Task>,
    peers: Box<[Peer]>,
    /// Deques that are not lent to a thread.
    spare: SegQueue<Deque>,
    /// Number of workers that search.
    searching: AtomicUsize,
}

/// Source in which a worker looks for a task first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstSource {
    Own,
    Inbox,
}

/// Observations of an idle worker.
pub(super) struct IdleState<'s> {
    /// Counts the worker as searching.
    _searching: Searching<'s>,
    /// Time since which there have been no tasks at all.
    since: Instant,
    /// Time of the last look at the others' deques, and the wait until the next one.
    looked: Instant,
    wait: Duration,
    /// Steps of each peer at that time, if it had tasks.
    steps: Box<[Option<usize>]>,
}

/// Result of a search.
pub(super) enum SearchResult {
    Task(Task),
    /// The worker has to search again.
    Retry,
    /// There have been no tasks for long.
    Empty,
}

impl SharedTasks {
    /// An empty list for `workers` workers, and as many threads from outside.
    pub(super) fn new(workers: usize) -> SharedTasks {
        let spare = SegQueue::new();
        let lend = |index| {
            let tasks = Worker::new_fifo();
            let peer = Peer { tasks: tasks.stealer(), steps: AtomicUsize::new(0) };
            spare.push(Deque { tasks, index });
            peer
        };
        let peers = (0..2 * workers).map(lend).collect();
        SharedTasks { inbox: SegQueue::new(), peers, spare, searching: AtomicUsize::new(0) }
    }

    /// Adds a task to the inbox.
    pub(super) fn push(&self, task: Task) {
        self.inbox.push(task);
    }

    /// Number of workers that search for a task. A hint, unless a fence of `Permits` is before it.
    pub(super) fn n_searching(&self) -> usize {
        // Relaxed: as in `Searching::begin`.
        self.searching.load(Ordering::Relaxed)
    }

    /// Shares the local tasks of the calling thread. Returns their number.
    #[inline]
    pub(super) fn share_own(&self, queue: usize) -> usize {
        local::with(queue, |own, deque| {
            let n = own.len();
            if n > 0 {
                match self.lend(deque) {
                    Some(deque) => {
                        own.drain(..).for_each(|task| deque.tasks.push(task));
                        self.step(deque);
                    }
                    None => own.drain(..).for_each(|task| self.inbox.push(task)),
                }
            }
            n
        })
        .unwrap_or(0)
    }

    /// The deque of a worker, lent if there is a spare one.
    #[inline]
    fn lend<'d>(&self, deque: &'d mut Option<Deque>) -> &'d Option<Deque> {
        if deque.is_none() {
            *deque = self.spare.pop();
        }
        deque
    }

    /// Takes the task that the calling thread would run next, if it has at most one local task and `wants`
    /// accepts the task. A task that is not accepted becomes a local one.
    #[inline]
    pub(super) fn take_next(&self, queue: usize, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        local::with(queue, |own, deque| {
            let task = match own.len() {
                0 => self.pop(deque)?,
                1 => own.pop_front()?,
                // The local tasks are to be shared first.
                _ => return None,
            };
            if wants(&task) {
                return Some(task);
            }
            own.push_front(task);
            None
        })?
    }

    #[inline]
    fn pop(&self, deque: &Option<Deque>) -> Option<Task> {
        let deque = deque.as_ref()?;
        let task = deque.tasks.pop()?;
        self.step(deque);
        Some(task)
    }

    /// Counts a step of the deque's owner.
    #[inline]
    fn step(&self, deque: &Deque) {
        let steps = &self.peers[deque.index].steps;
        // Relaxed: a hint for other threads; only this thread writes it.
        steps.store(steps.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Ends the period in which the calling thread was a worker.
    pub(super) fn leave(&self, scope: QueueScope) {
        if let Some(deque) = scope.leave() {
            self.spare.push(deque);
        }
    }

    /// Takes a task without stealing.
    pub(super) fn take(&self, queue: usize, first: FirstSource) -> Option<Task> {
        // The check for emptiness is cheaper than a pop that finds nothing.
        let inbox = || if self.inbox.is_empty() { None } else { self.inbox.pop() };
        let own = || local::with(queue, |_, deque| self.pop(deque))?;
        match first {
            FirstSource::Own => own().or_else(inbox),
            FirstSource::Inbox => inbox().or_else(own),
        }
    }

    /// Searches the other workers' deques, for a worker that has found no task without stealing.
    pub(super) fn search<'s>(&'s self, queue: usize, idle: &mut Option<IdleState<'s>>) -> SearchResult {
        let now = Instant::now();
        let idle = idle.get_or_insert_with(|| IdleState {
            _searching: Searching::begin(&self.searching),
            since: now,
            looked: now,
            wait: Duration::ZERO,
            steps: vec![None; self.peers.len()].into(),
        });
        let passed = now - idle.looked;
        if passed < idle.wait {
            std::hint::spin_loop();
            return SearchResult::Retry;
        }
        let mut are_empty = true;
        for (peer, steps) in self.peers.iter().zip(&mut idle.steps) {
            let is_empty = peer.tasks.is_empty();
            // Relaxed: a hint.
            let now = (!is_empty).then(|| peer.steps.load(Ordering::Relaxed));
            if let (Some(now), Some(before)) = (now, std::mem::replace(steps, now))
                && MIN_STOLEN_DURATION * now.wrapping_sub(before).min(1 << 20) as u32 <= passed
                && let Some(task) = self.steal(queue, &peer.tasks)
            {
                return SearchResult::Task(task);
            }
            are_empty &= is_empty;
        }
        if !are_empty {
            idle.since = now;
        }
        idle.looked = now;
        idle.wait = (idle.wait * 2)
            .clamp(LOOK_INTERVALS.0, if are_empty { LOOK_INTERVALS.0 } else { LOOK_INTERVALS.1 });
        if now - idle.since >= WAKE_TIME { SearchResult::Empty } else { SearchResult::Retry }
    }

    /// Steals a task of another worker. If the thread has a deque, further tasks may be moved to it.
    fn steal(&self, queue: usize, from: &Stealer<Task>) -> Option<Task> {
        local::with(queue, |_, deque| {
            let deque = self.lend(deque);
            let steal = || match deque {
                Some(deque) => from.steal_batch_and_pop(&deque.tasks),
                None => from.steal(),
            };
            // Retried only when another thief was faster, so that one of the two has got a task.
            std::iter::repeat_with(steal).find(|stolen| !stolen.is_retry()).and_then(Steal::success)
        })?
    }

    /// Whether there are no tasks. Tasks on their way from one deque to another are not seen.
    pub(super) fn is_empty(&self) -> bool {
        self.inbox.is_empty() && self.peers.iter().all(|peer| peer.tasks.is_empty())
    }
}
