//! Numbers of live AsyncValues and objects, by type, for `--leak-check`.
//!
//! Every thread counts in a shard that only it writes; a query adds the shards up. So counting costs neither
//! an atomic read-modify-write nor a shared cache line. The count of one thread may be negative, because it
//! may drop objects that another thread made. The sum is exact while no thread makes or drops objects.
//!
//! A shard has [`TYPES`] counters: one for AsyncValues, one per type of object, and the last one for all
//! types that came after the others were taken.

use std::any::TypeId;
use std::cell::RefCell;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of counters of a shard.
const TYPES: usize = 64;
/// The counter of AsyncValues.
const ASYNC_VALUE: usize = 0;
/// The counter that further types share.
const OTHERS: usize = TYPES - 1;

type Counts = [AtomicIsize; TYPES];

/// Data of all threads. Used when a thread starts to count, meets a new type, ends, or adds up.
struct Global {
    /// The types of objects with their names, in the order of their first object: type `i` has counter `i +
    /// 1`, but at most [`OTHERS`].
    types: Vec<(TypeId, &'static str)>,
    shards: Vec<Arc<Counts>>,
}

static GLOBAL: Mutex<Global> = Mutex::new(Global { types: Vec::new(), shards: Vec::new() });
/// The counts of threads that have ended.
static ENDED: Counts = [const { AtomicIsize::new(0) }; TYPES];

fn global() -> std::sync::MutexGuard<'static, Global> {
    GLOBAL.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Shard {
    counts: Arc<Counts>,
    /// The types that this thread has counted, and their numbers.
    numbers: RefCell<Vec<(TypeId, usize)>>,
}

impl Shard {
    fn new() -> Shard {
        let counts: Arc<Counts> = Arc::new([const { AtomicIsize::new(0) }; TYPES]);
        global().shards.push(counts.clone());
        Shard { counts, numbers: RefCell::new(Vec::new()) }
    }

    fn number(&self, ty: TypeId, name: &'static str) -> usize {
        let mut numbers = self.numbers.borrow_mut();
        if let Some(&(_, number)) = numbers.iter().find(|(known, _)| *known == ty) {
            return number;
        }
        let number = number(ty, name);
        numbers.push((ty, number));
        number
    }
}

/// The number of the counter of a type of objects.
fn number(ty: TypeId, name: &'static str) -> usize {
    let types = &mut global().types;
    let at = types.iter().position(|(known, _)| *known == ty).unwrap_or_else(|| {
        types.push((ty, name));
        types.len() - 1
    });
    (at + 1).min(OTHERS)
}

impl Drop for Shard {
    fn drop(&mut self) {
        let mut global = global();
        for (ended, count) in ENDED.iter().zip(self.counts.iter()) {
            // Relaxed: numbers that guard no data. The lock excludes readers of the sum.
            ended.fetch_add(count.load(Relaxed), Relaxed);
        }
        global.shards.retain(|shard| !Arc::ptr_eq(shard, &self.counts));
    }
}

thread_local! {
    static SHARD: Shard = Shard::new();
}

#[inline]
fn add(count: &AtomicIsize, n: isize) {
    // Relaxed: a number that guards no data. No read-modify-write: only this thread writes the count.
    count.store(count.load(Relaxed).wrapping_add(n), Relaxed);
}

/// Counts an AsyncValue that was made (1) or dropped (-1).
#[inline]
pub(crate) fn count_async_value(n: isize) {
    if SHARD.try_with(|shard| add(&shard.counts[ASYNC_VALUE], n)).is_err() {
        // The thread is ending. Relaxed: a number that guards no data.
        ENDED[ASYNC_VALUE].fetch_add(n, Relaxed);
    }
}

/// Counts an object of type `ty`, called `name`, that was made (1) or dropped (-1).
#[inline]
pub(crate) fn count_object(ty: TypeId, name: &'static str, n: isize) {
    if SHARD.try_with(|shard| add(&shard.counts[shard.number(ty, name)], n)).is_err() {
        // The thread is ending. Relaxed: a number that guards no data.
        ENDED[number(ty, name)].fetch_add(n, Relaxed);
    }
}

/// The numbers of live AsyncValues and objects of this process, with the names of their types. Types
/// without live objects are omitted.
pub fn live_objects() -> Vec<(&'static str, usize)> {
    let global = global();
    let name = |number: usize| match number {
        ASYNC_VALUE => Some("AsyncValue"),
        OTHERS => Some("other objects"),
        _ => global.types.get(number - 1).map(|(_, name)| *name),
    };
    let sum = |number: usize| {
        let counts = global.shards.iter().map(|shard| shard[number].load(Relaxed));
        counts.fold(ENDED[number].load(Relaxed), isize::wrapping_add)
    };
    let alive = (0..TYPES).filter_map(|number| Some((name(number)?, usize::try_from(sum(number)).ok()?)));
    let mut alive: Vec<_> = alive.filter(|(_, n)| *n > 0).collect();
    alive.sort_unstable();
    alive
}

/// The number of live AsyncValues of this process.
pub fn live_async_values() -> usize {
    live_objects().iter().find(|(name, _)| *name == "AsyncValue").map_or(0, |(_, n)| *n)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn live_objects_are_counted_by_type() {
        #[derive(Debug)]
        struct Leaky;
        impl crate::object::Object for Leaky {
            const TYPES: &'static [&'static str] = &["!test.leaky"];
            fn display(&self) -> String {
                String::new()
            }
        }
        let live =
            || live_objects().into_iter().find(|(name, _)| *name == "!test.leaky").map_or(0, |(_, n)| n);
        assert_eq!(live(), 0);
        let kept = crate::object::ObjRef::new(Leaky);
        let elsewhere = std::thread::spawn(|| crate::object::ObjRef::new(Leaky)).join().unwrap();
        assert_eq!(live(), 2);
        std::thread::spawn(move || drop(kept)).join().unwrap();
        assert_eq!(live(), 1);
        // A leak on purpose.
        std::mem::forget(elsewhere);
        assert_eq!(live(), 1);
    }
}
