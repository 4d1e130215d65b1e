//! Programs for sizes of their own: shapes are constants in them, and memory is planned.
//!
//! ```text
//! sizes seen ──once, twice──▶ the program for all sizes runs
//!       └──a third time──▶ compiled on a thread for blocking work ──ready──▶ used from then on
//!                                          └──refused──▶ the program for all sizes, for good
//! ```
//!
//! With [`Shapes::Exact`] they are compiled before their first run. A queue without threads compiles at once.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use befrost_kernel_api::queue::{Task, WhenFull};
use befrost_kernel_api::{Error, Value};
use befrost_kernels::Tensor;
use befrost_tensor::Shape;
use befrost_tensor::tf::PartialShape;

use super::executable::Executable;
use super::once::MadeOnce;
use super::{SessionState, Shapes};
use crate::port::Port;
use crate::prepared::PreparedFunction;

/// The run of the same sizes that starts their compilation.
const OFTEN: u32 = 3;

/// The sizes of an executable that were seen.
pub(super) struct Sizes {
    shapes: Shapes,
    limit: usize,
    seen: RwLock<Vec<Arc<OfSizes>>>,
}

/// Sizes of all feeds, and their program.
pub(super) struct OfSizes {
    shapes: Vec<Shape>,
    n_runs: AtomicU32,
    used: AtomicU64,
    made: MadeOnce<PreparedFunction>,
}

impl OfSizes {
    /// The program, if it is ready.
    pub(super) fn function(&self) -> Option<&PreparedFunction> {
        self.made.get()
    }

    fn compile(&self, executable: &Executable, session: &SessionState) -> Result<&PreparedFunction, Error> {
        self.made.get_or_make(|| {
            session.program(&executable.names, self.shapes.iter().map(PartialShape::from).collect())
        })
    }
}

impl Sizes {
    /// Of a function with these arguments. At most `limit` sizes are remembered; none if no argument's size
    /// differs from call to call.
    pub(super) fn new(arguments: &[Port], shapes: Shapes, limit: usize) -> Sizes {
        let varies = |port: &Port| port.shape().shape().is_none();
        let is_varied = arguments.iter().filter(|port| !port.is_chain()).any(varies);
        Sizes { shapes: if is_varied { shapes } else { Shapes::Declared }, limit, seen: RwLock::default() }
    }

    /// The entry of the feeds' sizes; none if they are not distinguished.
    ///
    /// # Errors
    /// If a program of these sizes must be there, and cannot be compiled.
    pub(super) fn find(
        &self,
        executable: &Arc<Executable>,
        session: &Arc<SessionState>,
        feeds: &[Value],
    ) -> Result<Option<Arc<OfSizes>>, Error> {
        if self.shapes == Shapes::Declared || self.limit == 0 {
            return Ok(None);
        }
        let Some(found) = self.entry(executable, feeds) else { return Ok(None) };
        session.clock.mark(&found.used);
        if self.shapes == Shapes::Exact {
            found.compile(executable, session)?;
        } else if found.n_runs.fetch_add(1, Ordering::Relaxed).saturating_add(1) == OFTEN {
            begin(&found, executable, session);
        }
        Ok(Some(found))
    }

    /// Compiles the program of the feeds' sizes, unless they are not distinguished.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub(super) fn warm(
        &self,
        executable: &Executable,
        session: &SessionState,
        feeds: &[Value],
    ) -> Result<(), Error> {
        if self.shapes == Shapes::Declared || self.limit == 0 {
            return Ok(());
        }
        let Some(found) = self.entry(executable, feeds) else { return Ok(()) };
        session.clock.mark(&found.used);
        found.compile(executable, session).map(|_| ())
    }

    /// The entry of the feeds' sizes, made if it is new; none if a feed has not the declared type, or is no
    /// tensor of numbers.
    fn entry(&self, executable: &Executable, feeds: &[Value]) -> Option<Arc<OfSizes>> {
        fn shape(value: &Value) -> Option<&Shape> {
            Some(value.downcast_ref::<Tensor>()?.0.shape())
        }
        if feeds.iter().any(|value| shape(value).is_none()) {
            return None;
        }
        let is_of = |entry: &OfSizes| {
            entry.shapes.len() == feeds.len()
                && entry.shapes.iter().zip(feeds).all(|(own, feed)| shape(feed) == Some(own))
        };
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = seen.iter().find(|entry| is_of(entry)) {
            return Some(found.clone());
        }
        drop(seen);
        let mut declared = executable.inputs().iter().filter(|port| !port.is_chain()).zip(feeds);
        if declared.any(|(port, feed)| port.check(0, feed).is_err()) {
            return None;
        }
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = seen.iter().find(|entry| is_of(entry)) {
            return Some(found.clone());
        }
        if seen.len() >= self.limit {
            let used = |entry: &Arc<OfSizes>| entry.used.load(Ordering::Relaxed);
            let oldest = seen.iter().enumerate().min_by_key(|(_, entry)| used(entry)).map(|(at, _)| at);
            oldest.map(|at| seen.swap_remove(at));
        }
        let new = Arc::new(OfSizes {
            shapes: feeds.iter().filter_map(shape).cloned().collect(),
            n_runs: AtomicU32::new(0),
            used: AtomicU64::new(u64::MAX),
            made: MadeOnce::default(),
        });
        seen.push(new.clone());
        Some(new)
    }

    /// The programs that are ready.
    pub(super) fn ready(&self) -> Vec<Arc<OfSizes>> {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        seen.iter().filter(|entry| entry.function().is_some()).cloned().collect()
    }
}

/// Begins to compile the program of these sizes.
fn begin(found: &Arc<OfSizes>, executable: &Arc<Executable>, session: &Arc<SessionState>) {
    let queue = &session.runtime.queue;
    if !queue.has_threads() {
        _ = found.compile(executable, session);
        return;
    }
    let (found, executable, session) = (found.clone(), executable.clone(), session.clone());
    let again = found.clone();
    let task = Task::new(move || _ = found.compile(&executable, &session));
    if queue.add_blocking_task(task, WhenFull::Refuse).is_err() {
        // All threads are busy: these sizes are counted anew.
        again.n_runs.store(0, Ordering::Relaxed);
    }
}
