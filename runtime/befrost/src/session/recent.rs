//! The executables that a thread ran lately: found without a lock, and without a copy of the names.
//!
//! ```text
//! session, names ──hash──▶ a place of the thread's table ─┬─ these names: the executable, unless it is gone
//!                                                         └─ others: the session's own table, under a lock
//! ```

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::Entry;
use super::executable::Names;

/// Places of the table of a thread.
const PLACES: usize = 64;

/// An entry of the table of a thread.
struct Recent {
    session: u64,
    names: Names,
    entry: Weak<Entry>,
}

thread_local! {
    static TABLE: RefCell<[Option<Recent>; PLACES]> = const { RefCell::new([const { None }; PLACES]) };
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The names of a run, as its caller has them.
#[derive(Clone, Copy)]
pub(super) struct NamesOfRun<'n> {
    pub(super) feeds: &'n [&'n str],
    pub(super) fetches: &'n [&'n str],
    pub(super) targets: &'n [&'n str],
}

impl NamesOfRun<'_> {
    fn are(&self, names: &Names) -> bool {
        let Names { feeds, fetches, targets, ranks } = names;
        ranks.is_empty() && feeds == self.feeds && fetches == self.fetches && targets == self.targets
    }
}

/// The number of a session, unique in the process.
pub(super) struct SessionNumber(u64);

impl SessionNumber {
    pub(super) fn new() -> SessionNumber {
        // Relaxed: only uniqueness matters.
        SessionNumber(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn place(&self, names: &NamesOfRun<'_>) -> usize {
        let NamesOfRun { feeds, fetches, targets } = *names;
        let all = feeds.iter().chain(fetches).chain(targets);
        // A product per word: names are short, and all that a collision costs is a search.
        let hash = all.flat_map(|name| name.as_bytes().chunks(8)).fold(self.0, |hash, bytes| {
            let word = bytes.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
            (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        (hash >> 32) as usize % PLACES
    }

    /// The entry of these names, if this thread ran it lately.
    pub(super) fn recent(&self, names: &NamesOfRun<'_>) -> Option<Arc<Entry>> {
        // A thread that is ending has no table.
        let found = TABLE.try_with(|table| {
            let table = table.try_borrow().ok()?;
            let found = table.get(self.place(names))?.as_ref()?;
            if found.session == self.0 && names.are(&found.names) { found.entry.upgrade() } else { None }
        });
        found.ok()?
    }

    /// Remembers the entry of these names for this thread.
    pub(super) fn remember(&self, names: &NamesOfRun<'_>, entry: &Arc<Entry>) {
        let NamesOfRun { feeds, fetches, targets } = *names;
        let (names_of, entry) = (Names::new(feeds, fetches, targets), Arc::downgrade(entry));
        let recent = Recent { session: self.0, names: names_of, entry };
        let before = TABLE.try_with(|table| {
            let mut table = table.try_borrow_mut().ok()?;
            table.get_mut(self.place(names))?.replace(recent)
        });
        // Outside of the borrow: the last reference may free anything.
        drop(before);
    }
}
