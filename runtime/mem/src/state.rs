//! The two protocols of a buffer: its reference count, and the borrow state of its bytes. No other code loads
//! these words.
//!
//! ```text
//! RefCount   1 ──retain──▶ 2 ──release──▶ 1 ──release──▶ LastRef: the caller frees, alone
//!
//! Borrows    FREE ──try_read──▶ 1 reader ──try_read──▶ 2 readers ... ──end_read──▶ FREE
//!              ├────try_write──▶ WRITER ──end_write──▶ FREE
//!              └─────revoke────▶ REVOKED, for good; behind readers when the last of them ends
//! ```
//!
//! Invariants: the thread that gets `LastRef` sees every access made through any other handle. A writer sees
//! the end of every earlier access. A reader sees every earlier write. A thread that finds revoked bytes
//! unread sees the end of every read. A conflict is a return value: only the end of a lease waits, in
//! `buffer/lease.rs`.
//!
//! Not here: the counted data (`buffer.rs`), and the consequence of a conflict (the tensor library).

use crate::sync::AtomicU32;
use crate::sync::Ordering::{Acquire, Relaxed, Release};

/// The duty of a dropped handle.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// Other handles exist: nothing to do.
    StillHeld,
    /// It was the last handle: free the memory, now.
    LastRef,
}

/// The number of handles.
pub(crate) struct RefCount(AtomicU32);

/// Limit of the handles. Without it a program that leaks handles in a loop could make the count wrap around,
/// and the buffer be freed early.
const MAX_REFS: u32 = i32::MAX as u32;

impl RefCount {
    pub(crate) fn one() -> RefCount {
        RefCount(AtomicU32::new(1))
    }

    /// Adds a handle, cloned from an existing one.
    pub(crate) fn retain(&self) {
        // Relaxed: the new handle comes from a live one, and how it reaches another thread is that channel's
        // synchronization.
        let before = self.0.fetch_add(1, Relaxed);
        if before > MAX_REFS {
            std::process::abort();
        }
    }

    /// Removes a handle.
    pub(crate) fn release(&self) -> Dropped {
        // The only handle needs no decrement, because no other thread can clone it.
        if self.is_unique() {
            return Dropped::LastRef;
        }
        // Release publishes this handle's accesses; pairs with the Acquire load below in the thread that
        // frees, and with the one in `is_unique`.
        if self.0.fetch_sub(1, Release) != 1 {
            return Dropped::StillHeld;
        }
        // Acquire: pairs with the Release decrements of all other handles, whose accesses are over before
        // memory is freed. A load instead of a fence: it reads the end of their release sequence, and loom
        // models it.
        let _ = self.0.load(Acquire);
        Dropped::LastRef
    }

    /// True if the asking handle is the only one, hence no other thread can clone one.
    pub(crate) fn is_unique(&self) -> bool {
        // Acquire: pairs with the Release decrement of the previously dropped handle, whose reads must
        // precede our writes.
        self.0.load(Acquire) == 1
    }
}

/// The reason why an access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// A writer exists.
    Written,
    /// A reader exists.
    Read,
    /// The lease of the bytes has ended.
    Revoked,
}

/// The duty of the caller of [`Borrows::revoke`].
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revoked {
    /// No reader exists, and none can begin: nothing to do.
    Unread,
    /// Readers exist: wait until [`Borrows::is_unread`].
    Read,
}

/// The borrow state of the bytes: free, some readers, or one writer.
pub(crate) struct Borrows(AtomicU32);

const FREE: u32 = 0;
const WRITER: u32 = u32::MAX;
/// Set beside the number of readers. Bytes that are revoked are never written.
const REVOKED: u32 = 1 << 31;

impl Borrows {
    pub(crate) fn free() -> Borrows {
        Borrows(AtomicU32::new(FREE))
    }

    /// Begins a read.
    pub(crate) fn try_read(&self) -> Result<(), Conflict> {
        let mut seen = self.0.load(Relaxed);
        loop {
            // The value before REVOKED is kept free, so that no number of readers sets its bit.
            if seen >= REVOKED - 1 {
                let is_revoked = seen != WRITER && seen & REVOKED != 0;
                return Err(if is_revoked { Conflict::Revoked } else { Conflict::Written });
            }
            // Acquire: pairs with the Release store in `end_write`; the bytes written are visible. Relaxed on
            // failure: we retry.
            match self.0.compare_exchange_weak(seen, seen + 1, Acquire, Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
    }

    /// Ends a read.
    pub(crate) fn end_read(&self) {
        // Release: our reads are over; pairs with the Acquire exchange in `try_write`.
        self.0.fetch_sub(1, Release);
    }

    /// Begins a write.
    pub(crate) fn try_write(&self) -> Result<(), Conflict> {
        // Acquire: pairs with the Release in `end_read` and `end_write` of the previous accesses. Relaxed on
        // failure: no access follows.
        match self.0.compare_exchange(FREE, WRITER, Acquire, Relaxed) {
            Ok(_) => Ok(()),
            Err(WRITER) => Err(Conflict::Written),
            Err(seen) if seen & REVOKED != 0 => Err(Conflict::Revoked),
            Err(_) => Err(Conflict::Read),
        }
    }

    /// Refuses all later accesses, to bytes that are never written.
    pub(crate) fn revoke(&self) -> Revoked {
        // Acquire: as `is_unread`, for readers that have ended already.
        match self.0.fetch_or(REVOKED, Acquire) & !REVOKED {
            0 => Revoked::Unread,
            _ => Revoked::Read,
        }
    }

    /// True if the readers of revoked bytes have ended.
    pub(crate) fn is_unread(&self) -> bool {
        // Acquire: pairs with the Release in `end_read`, so the memory may be reused.
        self.0.load(Acquire) == REVOKED
    }

    /// Ends a write.
    pub(crate) fn end_write(&self) {
        // Release publishes the bytes; pairs with the Acquire exchanges in `try_read` and `try_write`.
        self.0.store(FREE, Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_handle_frees() {
        let refs = RefCount::one();
        assert!(refs.is_unique());
        refs.retain();
        assert!(!refs.is_unique());
        assert_eq!(refs.release(), Dropped::StillHeld);
        assert!(refs.is_unique());
        assert_eq!(refs.release(), Dropped::LastRef);
    }

    #[test]
    fn many_readers_or_one_writer() {
        let borrows = Borrows::free();
        assert_eq!(borrows.try_read(), Ok(()));
        assert_eq!(borrows.try_read(), Ok(()));
        assert_eq!(borrows.try_write(), Err(Conflict::Read));
        borrows.end_read();
        assert_eq!(borrows.try_write(), Err(Conflict::Read));
        borrows.end_read();
        assert_eq!(borrows.try_write(), Ok(()));
        assert_eq!(borrows.try_write(), Err(Conflict::Written));
        assert_eq!(borrows.try_read(), Err(Conflict::Written));
        borrows.end_write();
        assert_eq!(borrows.try_read(), Ok(()));
    }

    #[test]
    fn revoked_bytes_are_unread_when_the_last_reader_ends() {
        let borrows = Borrows::free();
        assert_eq!(borrows.try_read(), Ok(()));
        assert_eq!(borrows.revoke(), Revoked::Read);
        assert!(!borrows.is_unread());
        assert_eq!(borrows.try_read(), Err(Conflict::Revoked));
        assert_eq!(borrows.try_write(), Err(Conflict::Revoked));
        borrows.end_read();
        assert!(borrows.is_unread());
        assert_eq!(borrows.revoke(), Revoked::Unread);
        assert_eq!(borrows.try_read(), Err(Conflict::Revoked));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::Cell;
    use loom::sync::Arc;
    use loom::thread;

    /// A cell whose accesses loom checks for races, behind the protocol under test. loom's threads are all
    /// one, so it need not be Sync.
    struct Shared {
        refs: RefCount,
        borrows: Borrows,
        cell: Cell<usize>,
    }

    fn shared() -> Arc<Shared> {
        Arc::new(Shared { refs: RefCount::one(), borrows: Borrows::free(), cell: Cell::new(0) })
    }

    fn touch(cell: &Cell<usize>) {
        cell.set(cell.get() + 1);
    }

    fn look(cell: &Cell<usize>) -> usize {
        cell.get()
    }

    /// Two threads that read the cell, if they may, and check its value.
    fn readers(shared: &Arc<Shared>, check: fn(usize)) -> [thread::JoinHandle<()>; 2] {
        [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || {
                if shared.borrows.try_read().is_ok() {
                    check(look(&shared.cell));
                    shared.borrows.end_read();
                }
            })
        })
    }

    #[test]
    fn loom_the_last_reference_frees_after_all_accesses() {
        loom::model(|| {
            let shared = shared();
            shared.refs.retain();
            let other = shared.clone();
            let thread = thread::spawn(move || {
                look(&other.cell);
                if other.refs.release() == Dropped::LastRef {
                    touch(&other.cell); // stands for the deallocation
                }
            });
            look(&shared.cell);
            if shared.refs.release() == Dropped::LastRef {
                touch(&shared.cell);
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn loom_a_unique_handle_may_write_without_a_borrow() {
        loom::model(|| {
            let shared = shared();
            shared.refs.retain();
            let other = shared.clone();
            let thread = thread::spawn(move || {
                look(&other.cell);
                let _ = other.refs.release();
            });
            if shared.refs.is_unique() {
                touch(&shared.cell);
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn loom_a_reader_sees_the_writer_finished_or_is_refused() {
        loom::model(|| {
            let shared = shared();
            let other = shared.clone();
            let thread = thread::spawn(move || {
                if other.borrows.try_write().is_ok() {
                    touch(&other.cell);
                    touch(&other.cell);
                    other.borrows.end_write();
                }
            });
            if shared.borrows.try_read().is_ok() {
                assert_eq!(look(&shared.cell) % 2, 0);
                shared.borrows.end_read();
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn loom_a_writer_waits_for_no_reader_and_overlaps_none() {
        loom::model(|| {
            let shared = shared();
            let readers = readers(&shared, |_| ());
            if shared.borrows.try_write().is_ok() {
                touch(&shared.cell);
                shared.borrows.end_write();
            }
            for reader in readers {
                reader.join().unwrap();
            }
            assert_eq!(shared.borrows.try_write(), Ok(()));
        });
    }

    #[test]
    fn loom_two_writers_never_overlap() {
        loom::model(|| {
            let shared = shared();
            let other = shared.clone();
            let write = |shared: &Shared| {
                let won = shared.borrows.try_write().is_ok();
                if won {
                    touch(&shared.cell);
                    shared.borrows.end_write();
                }
                usize::from(won)
            };
            let thread = thread::spawn(move || write(&other));
            let mine = write(&shared);
            let theirs = thread.join().unwrap();
            assert_eq!(shared.borrows.try_read(), Ok(()));
            assert_eq!(look(&shared.cell), mine + theirs);
        });
    }

    #[test]
    fn loom_revoked_bytes_are_changed_after_all_reads() {
        loom::model(|| {
            let shared = shared();
            let readers = readers(&shared, |value| assert_eq!(value, 0));
            if shared.borrows.revoke() == Revoked::Read {
                while !shared.borrows.is_unread() {
                    thread::yield_now();
                }
            }
            touch(&shared.cell); // stands for the lender's next write
            for reader in readers {
                reader.join().unwrap();
            }
            assert_eq!(shared.borrows.try_read(), Err(Conflict::Revoked));
        });
    }
}
