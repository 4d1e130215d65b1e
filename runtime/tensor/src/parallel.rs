//! Division of one function's work among the caller's threads.
//!
//! ```text
//! work in ns ─▶ Parallel::workers ─1─▶ one part, on the calling thread
//!                                └─n─▶ 4n even parts ─▶ Parallel::parallel_for
//! ```
//!
//! A function estimates the time that one thread takes for its work, and asks the caller for the number of
//! threads to use. The answer depends on the state of the caller's threads at that moment: waking one costs
//! more than a short function takes. The work is divided only if the answer is more than one thread. Results
//! never depend on the division.
//!
//! The estimates assume a fast core and data in caches. Slower cores and data gain more from a second thread.

use std::ops::Range;
use std::sync::Mutex;

use crate::interrupt::is_interrupted;

/// A parallel-for, implemented by the caller's thread pool.
pub trait Parallel: Sync {
    /// The number of threads to use, at least 1, for work that takes one thread about `work` nanoseconds.
    fn workers(&self, work: u64) -> usize;

    /// Calls `block(i)` once for each i below `blocks`, in any order, on any threads. Returns after all calls
    /// have returned.
    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync));
}

/// Runs everything on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Parallel for Serial {
    fn workers(&self, _: u64) -> usize {
        1
    }

    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync)) {
        (0..blocks).for_each(block);
    }
}

/// Multiplications with additions of a matrix product per nanosecond.
pub(crate) const PRODUCTS_PER_NS: usize = 64;
/// Additions of vectors per nanosecond.
pub(crate) const ADDITIONS_PER_NS: usize = 8;
/// The least work of a part, in nanoseconds. Handing a part to another thread takes a quarter of that time.
const MIN_PART: u64 = 2000;

/// Nanoseconds for `operations` at a rate of `per_ns` per nanosecond.
pub(crate) fn nanoseconds(operations: usize, per_ns: usize) -> u64 {
    (operations / per_ns) as u64
}

/// The number of parts of `units` units that take one thread `work` nanoseconds. Four per worker, so that a
/// slow worker does not delay the others; 1 for one worker.
pub(crate) fn parts(units: usize, work: u64, parallel: &dyn Parallel) -> usize {
    parts_of(units, work, (parallel.workers(work), 4))
}

/// [`parts`], with this number of parts for each worker.
pub(crate) fn parts_of(units: usize, work: u64, (workers, each): (usize, usize)) -> usize {
    let most = usize::try_from(work / MIN_PART).unwrap_or(usize::MAX).min(units);
    match workers {
        0 | 1 => 1,
        // A multiple of the number of workers.
        _ if most >= workers => most.min(workers.saturating_mul(each)) / workers * workers,
        _ => most.max(1),
    }
}

/// Part `i` of `parts` of `all` units. Parts differ in size by one at most.
pub(crate) fn part(all: usize, parts: usize, i: usize) -> Range<usize> {
    let (each, more) = (all / parts.max(1), all % parts.max(1));
    let start = |i: usize| i * each + i.min(more);
    start(i)..start(i + 1)
}

/// The work on the part of the given number. A trait object, so that each function is compiled once for one
/// thread and for many.
pub(crate) type PartFn<'a, T> = &'a (dyn Fn(usize, &mut [T]) + Sync);

/// The work on some units. A trait object, as [`PartFn`].
pub(crate) type UnitsFn<'a, T> = &'a (dyn Fn(Range<usize>, &mut [T]) + Sync);

/// Splits `out` into `parts` parts, and calls `block(units, part)` for each: on the calling thread if there
/// is only one part. A unit has `len` elements; the last may be shorter.
pub(crate) fn in_parts<T: Send>(
    out: &mut [T],
    len: usize,
    parts: usize,
    parallel: &dyn Parallel,
    block: UnitsFn<'_, T>,
) {
    let units = out.len().div_ceil(len.max(1));
    if parts <= 1 {
        return block(0..units, out);
    }
    let mut rest = out;
    let parts_out = (0..parts).map(|i| {
        let len = part(units, parts, i).len().saturating_mul(len).min(rest.len());
        rest.split_off_mut(..len).unwrap_or_default()
    });
    share(parts_out, parallel, &|i, out| block(part(units, parts, i), out));
}

/// Calls `block(i, part)` for each of the given parts: on the calling thread until interrupted if `workers`
/// is at most 1, else by `parallel`.
pub(crate) fn each_part<'o, T: Send + 'o>(
    parts: impl Iterator<Item = &'o mut [T]>,
    workers: usize,
    parallel: &dyn Parallel,
    block: PartFn<'_, T>,
) {
    if workers <= 1 {
        return one_by_one(parts, block);
    }
    share(parts, parallel, block);
}

fn one_by_one<'o, T: 'o>(parts: impl Iterator<Item = &'o mut [T]>, block: PartFn<'_, T>) {
    parts.enumerate().take_while(|_| !is_interrupted()).for_each(|(i, part)| block(i, part));
}

fn share<'o, T: Send + 'o>(
    parts: impl Iterator<Item = &'o mut [T]>,
    parallel: &dyn Parallel,
    block: PartFn<'_, T>,
) {
    let mut shared = Vec::new();
    // Without memory for the list of parts, this thread processes all of them.
    if shared.try_reserve_exact(parts.size_hint().0).is_err() {
        return one_by_one(parts, block);
    }
    shared.extend(parts.map(|part| Mutex::new(Some(part))));
    parallel.parallel_for(shared.len(), &|i| {
        let part = shared.get(i).and_then(|part| part.lock().ok()?.take());
        if let Some(part) = part {
            block(i, part);
        }
    });
}
