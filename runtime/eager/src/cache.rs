//! Cache of operators: a small table per thread in front of a shared one.
//!
//! ```text
//! name, attributes ──recent──▶ weak reference, if this thread asked for it lately
//!                  ──shared──▶ operator, with the time of its last use; a full table evicts the oldest
//! ```
//!
//! Attributes with tensors have no key, since their text does not contain the elements.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::attrs::OpAttrsRef;
use crate::handler::Dispatch;

/// Limit of the operators in a cache.
const MAX_CACHED: usize = 4096;

/// Entries of the table of a thread.
const RECENT: usize = 64;

/// Counts of a cache of operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Operators in the cache.
    pub entries: usize,
    /// Requests that the shared table answered. Those that the table of a thread answers are not counted.
    pub hits: u64,
    /// Requests for which an operator was made.
    pub misses: u64,
    /// Operators that were evicted for others.
    pub evictions: u64,
}

/// Key of an operator: its name and all of its attributes as text.
type CacheKey = (String, String);

#[derive(Default)]
struct Shared {
    ops: BTreeMap<CacheKey, (Arc<dyn Dispatch>, u64)>,
    time: u64,
    stats: CacheStats,
}

/// The operators of one core runtime.
pub(crate) struct Cache {
    /// Unique in the process.
    id: u64,
    shared: Mutex<Shared>,
}

/// An entry of the table of a thread.
struct Recent {
    cache: u64,
    name: Box<str>,
    op: Weak<dyn Dispatch>,
}

thread_local! {
    /// Operators without attributes.
    static TABLE: RefCell<[Option<Recent>; RECENT]> = const { RefCell::new([const { None }; RECENT]) };
}

static NEXT: AtomicU64 = AtomicU64::new(1);

fn place(cache: u64, name: &str) -> usize {
    // FNV-1a: names are short.
    let hash = name.bytes().fold(cache ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash >> 8) as usize % RECENT
}

impl Cache {
    pub(crate) fn new() -> Cache {
        // Relaxed: only uniqueness matters.
        Cache { id: NEXT.fetch_add(1, Ordering::Relaxed), shared: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // Nothing panics under the lock.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The operator of this name without attributes, if this thread asked for it lately.
    #[inline]
    pub(crate) fn recent(&self, name: &str) -> Option<Arc<dyn Dispatch>> {
        TABLE
            .try_with(|table| {
                let table = table.try_borrow().ok()?;
                let found = table.get(place(self.id, name))?.as_ref()?;
                if found.cache == self.id && *found.name == *name { found.op.upgrade() } else { None }
            })
            .ok()?
    }

    /// Remembers an operator without attributes for this thread.
    pub(crate) fn remember(&self, name: &str, op: &Arc<dyn Dispatch>) {
        let entry = Recent { cache: self.id, name: name.into(), op: Arc::downgrade(op) };
        // A thread that is ending has no table.
        _ = TABLE.try_with(|table| {
            let mut table = table.borrow_mut();
            let slot = &mut table[place(self.id, name)];
            let before = slot.replace(entry);
            drop(table);
            // Outside of the borrow: the last reference may free anything.
            drop(before);
        });
    }

    /// The operator with this full name and these attributes, made if the cache does not have it.
    pub(crate) fn get_or_make<E>(
        &self,
        name: &str,
        attrs: &OpAttrsRef,
        make: impl FnOnce() -> Result<Arc<dyn Dispatch>, E>,
    ) -> Result<Arc<dyn Dispatch>, E> {
        if attrs.has_tensors() {
            self.lock().stats.misses += 1;
            return make();
        }
        let key = (name.to_owned(), format!("{attrs:?}"));
        {
            let shared = &mut *self.lock();
            shared.time += 1;
            if let Some((op, used)) = shared.ops.get_mut(&key) {
                *used = shared.time;
                shared.stats.hits += 1;
                return Ok(op.clone());
            }
        }
        // Without the lock: a handler may be slow, or use the core runtime.
        let op = make()?;
        drop(self.insert(key, op.clone()));
        Ok(op)
    }

    /// Adds an operator. Returns the one that it replaces or evicts, to be dropped without the lock.
    fn insert(&self, key: CacheKey, op: Arc<dyn Dispatch>) -> Option<(Arc<dyn Dispatch>, u64)> {
        let shared = &mut *self.lock();
        shared.stats.misses += 1;
        let mut gone = None;
        if shared.ops.len() >= MAX_CACHED {
            let oldest = shared.ops.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            gone = oldest.and_then(|key| shared.ops.remove(&key));
            shared.stats.evictions += 1;
        }
        // Another thread may have made it meanwhile.
        shared.ops.insert(key, (op, shared.time)).or(gone)
    }

    pub(crate) fn stats(&self) -> CacheStats {
        let shared = self.lock();
        CacheStats { entries: shared.ops.len(), ..shared.stats }
    }
}
