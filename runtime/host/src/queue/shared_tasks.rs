//! Open tasks: those that any worker may take.
//!
//! ```text
//! the inbox:       pushed by any thread ─▶ popped by any worker
//! worker's deque:  what the worker does not keep for itself ─▶ popped by it, first come, first served
//!                                                           ─▶ stolen by a worker that has nothing to do, up to half of it at once
//! ```
//!
//! What a worker has left over, it most often runs itself, and then no other thread writes what it writes:
//! that costs no contended atomic operation. To bring a task to another core takes longer than many a task
//! itself; so one who steals looks first how quickly the other one gets on, and leaves it alone while its
//! tasks are so small that they are not worth the way ([`WORTHWHILE`]).
//!
//! A thread has its deque where it has all it knows of its queue (`here`): it is lent one when it has
//! something to put there, and gives it back when it is a worker no longer, with what is left in there, for
//! others to steal.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_deque::{Steal, Stealer, Worker};
use crossbeam_queue::SegQueue;

use super::Task;
use super::local::{self, QueueScope};

/// How long tasks must take, by what the worker has done lately, to be stolen from it.
const WORTHWHILE: Duration = Duration::from_nanos(250);
/// How long one who has nothing to do looks for a task before it sleeps: about as long as waking a thread
/// takes.
const PATIENCE: Duration = Duration::from_micros(4);
/// How often those who have nothing to do look at the others' deques, at first and at last. What they look
/// at, others write, and these have to wait.
const LOOKS: (Duration, Duration) = (Duration::from_micros(1), Duration::from_micros(16));

/// The tasks that a worker has opened.
pub(super) struct Deque {
    tasks: Worker<Task>,
    /// Which one it is.
    index: usize,
}

/// What other workers see of a deque.
#[repr(align(128))]
struct Peer {
    tasks: Stealer<Task>,
    /// How often the worker has opened tasks or taken one back.
    steps: AtomicUsize,
}

pub(super) struct SharedTasks {
    inbox: SegQueue<Task>,
    peers: Box<[Peer]>,
    /// Deques that nobody has.
    spare: SegQueue<Deque>,
}

/// Where a worker begins to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Own,
    Inbox,
}

/// What has been seen by a worker that has nothing to do.
pub(super) struct Idle {
    /// Since when there have been no tasks at all.
    since: Instant,
    /// When it last looked at the others' deques, and how long it waits until it looks again.
    looked: Instant,
    wait: Duration,
    /// Each one's steps by then, if it had tasks.
    steps: Box<[Option<usize>]>,
}

/// What a look has shown.
pub(super) enum Search {
    Task(Task),
    /// It is to look again.
    Again,
    /// There has been nothing for long.
    Nothing,
}

impl SharedTasks {
    /// No tasks; for so many workers, with as many more from outside.
    pub(super) fn new(workers: usize) -> SharedTasks {
        let spare = SegQueue::new();
        let lend = |index| {
            let tasks = Worker::new_fifo();
            let peer = Peer { tasks: tasks.stealer(), steps: AtomicUsize::new(0) };
            spare.push(Deque { tasks, index });
            peer
        };
        let peers = (0..2 * workers).map(lend).collect();
        SharedTasks { inbox: SegQueue::new(), peers, spare }
    }

    /// Adds a task for whoever comes first.
    pub(super) fn push(&self, task: Task) {
        self.inbox.push(task);
    }

    /// Opens what the calling thread keeps for itself. How many tasks that are.
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

    /// The deque of a worker.
    #[inline]
    fn lend<'d>(&self, deque: &'d mut Option<Deque>) -> &'d Option<Deque> {
        if deque.is_none() {
            *deque = self.spare.pop();
        }
        deque
    }

    /// The task that the calling thread would run next, if it keeps no other one; if it is not one that it
    /// `wants`, it is kept.
    #[inline]
    pub(super) fn take_next(&self, queue: usize, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        local::with(queue, |own, deque| {
            let task = match own.len() {
                0 => self.pop(deque)?,
                1 => own.pop_front()?,
                // They are to be opened first.
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

    /// The deque's owner gets on.
    #[inline]
    fn step(&self, deque: &Deque) {
        let steps = &self.peers[deque.index].steps;
        // Relaxed: a hint for others; nobody else writes it.
        steps.store(steps.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The calling thread is a worker no longer.
    pub(super) fn leave(&self, scope: QueueScope) {
        if let Some(deque) = scope.leave() {
            self.spare.push(deque);
        }
    }

    /// Takes a task that nobody has to steal.
    pub(super) fn take(&self, queue: usize, first: First) -> Option<Task> {
        // To pop where there is nothing costs more than to see that there is nothing.
        let inbox = || if self.inbox.is_empty() { None } else { self.inbox.pop() };
        let own = || local::with(queue, |_, deque| self.pop(deque))?;
        match first {
            First::Own => own().or_else(inbox),
            First::Inbox => inbox().or_else(own),
        }
    }

    /// Looks for a task elsewhere, where the calling worker has found none in its own places.
    pub(super) fn search(&self, queue: usize, idle: &mut Option<Idle>) -> Search {
        let now = Instant::now();
        let idle = idle.get_or_insert_with(|| Idle {
            since: now,
            looked: now,
            wait: Duration::ZERO,
            steps: vec![None; self.peers.len()].into(),
        });
        let passed = now - idle.looked;
        if passed < idle.wait {
            std::hint::spin_loop();
            return Search::Again;
        }
        let mut are_empty = true;
        for (peer, steps) in self.peers.iter().zip(&mut idle.steps) {
            let is_empty = peer.tasks.is_empty();
            // Relaxed: a hint.
            let now = (!is_empty).then(|| peer.steps.load(Ordering::Relaxed));
            if let (Some(now), Some(before)) = (now, std::mem::replace(steps, now))
                && WORTHWHILE * now.wrapping_sub(before).min(1 << 20) as u32 <= passed
                && let Some(task) = self.steal(queue, &peer.tasks)
            {
                return Search::Task(task);
            }
            are_empty &= is_empty;
        }
        if !are_empty {
            idle.since = now;
        }
        idle.looked = now;
        idle.wait = (idle.wait * 2).clamp(LOOKS.0, if are_empty { LOOKS.0 } else { LOOKS.1 });
        if now - idle.since >= PATIENCE { Search::Nothing } else { Search::Again }
    }

    /// Takes a task of another worker. If the thread has a deque, more may come with it: the others are in
    /// there.
    fn steal(&self, queue: usize, from: &Stealer<Task>) -> Option<Task> {
        local::with(queue, |_, deque| {
            let deque = self.lend(deque);
            let steal = || match deque {
                Some(deque) => from.steal_batch_and_pop(&deque.tasks),
                None => from.steal(),
            };
            // Where somebody else was quicker, at least one of us has got something.
            std::iter::repeat_with(steal).find(|stolen| !stolen.is_retry()).and_then(Steal::success)
        })?
    }

    /// Whether there is none. Tasks on their way from one deque to another are not seen.
    pub(super) fn is_empty(&self) -> bool {
        self.inbox.is_empty() && self.peers.iter().all(|peer| peer.tasks.is_empty())
    }
}
