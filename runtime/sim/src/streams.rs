//! Streams: launches in order, one thread per stream.
//!
//! ```text
//! add ──▶ waiting: [item, item, ...] ──thread──▶ positions of others reached? ─▶ work ─▶ done += 1
//!           issued: positions given out                                            └─▶ promises of `reached`
//! ```
//!
//! A position waits only for positions that were given out before it, so streams do not wait for each other
//! in a circle. A fault poisons its stream: the work of all later items is called with the fault.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bef_format::device::DeviceName;
use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::device::{LaunchWork, Position};
use befrost_kernel_api::error::drop_payload;
use befrost_kernel_api::{Error, ErrorCode, Value};

/// The streams of a device.
pub(super) struct Streams {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    name: DeviceName,
    /// Speed of kernels as a fraction of the host's.
    speed: f64,
    /// The launch that faults.
    fail_after: Option<u32>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    streams: Vec<Stream>,
    n_launches: u64,
    is_closed: bool,
}

#[derive(Default)]
struct Stream {
    waiting: VecDeque<Item>,
    /// The number of positions given out.
    issued: u64,
    /// The number of positions reached.
    done: u64,
    fault: Option<Error>,
    /// The promises for positions.
    reached: Vec<(u64, Promise)>,
}

/// Work at a position.
struct Item {
    after: Vec<Position>,
    work: LaunchWork,
    /// The fault that it causes.
    fault: Option<Error>,
    /// True for a kernel, whose time depends on the speed.
    is_kernel: bool,
}

/// Waits for a time: sleeps, and spins at the end, where the system's clock is too coarse.
pub(super) fn pass_time(time: Duration) {
    let start = Instant::now();
    if time > Duration::from_micros(200) {
        std::thread::sleep(time - Duration::from_micros(100));
    }
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

impl Shared {
    /// A panic leaves the state whole: nothing that may panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Body of the thread of stream number `i`.
    fn serve(&self, i: usize) {
        let mut state = self.lock();
        loop {
            let Some(item) = state.streams[i].waiting.pop_front() else {
                if state.is_closed {
                    return;
                }
                state = self.wait(state);
                continue;
            };
            while !item.after.iter().all(|at| state.has_reached(*at)) {
                state = self.wait(state);
            }
            let stream = &mut state.streams[i];
            if stream.fault.is_none() {
                stream.fault = item.fault;
            }
            let fault = stream.fault.clone();
            drop(state);
            let start = Instant::now();
            let work = item.work;
            // Work that panics has ended too: the promises that it owns are dropped.
            catch_unwind(AssertUnwindSafe(|| work(fault.as_ref().map_or(Ok(()), Err))))
                .unwrap_or_else(drop_payload);
            if item.is_kernel && self.speed < 1.0 {
                pass_time(start.elapsed().mul_f64(1.0 / self.speed - 1.0));
            }
            state = self.lock();
            let stream = &mut state.streams[i];
            stream.done += 1;
            let done = stream.done;
            let reached: Vec<(u64, Promise)> = stream.reached.extract_if(.., |(at, _)| *at <= done).collect();
            self.changed.notify_all();
            if !reached.is_empty() {
                drop(state);
                for (_, promise) in reached {
                    promise.set(fault.clone().map_or(Value::Chain, Value::Error));
                }
                state = self.lock();
            }
        }
    }
}

impl State {
    fn has_reached(&self, at: Position) -> bool {
        self.streams.get(at.stream as usize).is_none_or(|stream| stream.done >= at.at)
    }
}

impl Streams {
    /// `n` streams, each with a thread.
    pub(super) fn start(
        name: &DeviceName,
        n: u32,
        speed: f64,
        fail_after: Option<u32>,
    ) -> std::io::Result<Streams> {
        let streams = (0..n).map(|_| Stream::default()).collect();
        let state = Mutex::new(State { streams, ..State::default() });
        let shared = Shared { name: name.clone(), speed, fail_after, state, changed: Condvar::new() };
        let mut streams = Streams { shared: Arc::new(shared), threads: Vec::new() };
        for i in 0..n as usize {
            let shared = streams.shared.clone();
            let builder = std::thread::Builder::new().name(format!("befrost-sim-{i}"));
            // If the system refuses one, dropping `streams` ends those before.
            streams.threads.push(builder.spawn(move || shared.serve(i))?);
        }
        Ok(streams)
    }

    pub(super) fn len(&self) -> u32 {
        // A number of type `u32` in `start`.
        self.threads.len() as u32
    }

    /// Adds the launch of a kernel.
    pub(super) fn launch(&self, stream: u32, after: &[Position], work: LaunchWork) -> Position {
        self.push(stream, after, work, true)
    }

    /// Adds other work.
    pub(super) fn add(&self, stream: u32, after: &[Position], work: LaunchWork) -> Position {
        self.push(stream, after, work, false)
    }

    fn push(&self, stream: u32, after: &[Position], work: LaunchWork, is_kernel: bool) -> Position {
        let shared = &*self.shared;
        let mut state = shared.lock();
        let mut fault = None;
        if is_kernel {
            state.n_launches += 1;
            if shared.fail_after.is_some_and(|n| u64::from(n) == state.n_launches) {
                let message = format!("{}: launch {} faulted", shared.name, state.n_launches);
                fault = Some(Error::new(ErrorCode::Unavailable, message, Vec::new()));
            }
        }
        let i = stream as usize % state.streams.len();
        let of = &mut state.streams[i];
        of.issued += 1;
        of.waiting.push_back(Item { after: after.to_vec(), work, fault, is_kernel });
        let at = of.issued;
        drop(state);
        shared.changed.notify_all();
        // The number of streams is a `u32`.
        Position { stream: i as u32, at }
    }

    /// A chain for a position.
    pub(super) fn reached(&self, at: Position) -> AsyncRef {
        let (promise, value) = AsyncRef::pending();
        let mut state = self.shared.lock();
        let is_reached = state.has_reached(at);
        match state.streams.get_mut(at.stream as usize) {
            Some(stream) if !is_reached => stream.reached.push((at.at, promise)),
            stream => {
                let fault = stream.and_then(|stream| stream.fault.clone());
                drop(state);
                promise.set(fault.map_or(Value::Chain, Value::Error));
            }
        }
        value
    }

    /// Waits until all positions that were given out are reached.
    pub(super) fn quiesce(&self) {
        let me = std::thread::current().id();
        if self.threads.iter().any(|thread| thread.thread().id() == me) {
            return;
        }
        let mut state = self.shared.lock();
        while state.streams.iter().any(|stream| stream.done < stream.issued) {
            state = self.shared.wait(state);
        }
    }

    pub(super) fn n_launches(&self) -> u64 {
        self.shared.lock().n_launches
    }

    /// The first fault.
    pub(super) fn health(&self) -> Result<(), Error> {
        self.shared.lock().streams.iter().find_map(|stream| stream.fault.clone()).map_or(Ok(()), Err)
    }
}

impl Drop for Streams {
    /// Ends the threads after all work. If one of them drops the last handle of the device, it is not waited
    /// for: it ends after its current work.
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        let me = std::thread::current().id();
        for thread in self.threads.drain(..) {
            if thread.thread().id() != me {
                // A thread that panicked has ended.
                _ = thread.join();
            }
        }
    }
}
