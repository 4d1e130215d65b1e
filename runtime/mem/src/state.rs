//! The two protocols of a buffer: who keeps it alive, and who may touch its bytes. Nobody else loads these words.
//!
//! ```text
//! RefCount   1 ──retain──▶ 2 ──release──▶ 1 ──release──▶ LastRef: the caller frees, alone
//!
//! Borrows    FREE ──try_read──▶ 1 reader ──try_read──▶ 2 readers ... ──end_read──▶ FREE
//!              └────try_write──▶ WRITER ──end_write──▶ FREE
//! ```
//!
//! Invariants: whoever gets `LastRef` sees every access made through any other handle; whoever starts to write sees the end of
//! every earlier access; whoever starts to read sees every earlier write. Nothing ever waits: a conflict is an answer.
//!
//! Not here: what is counted (`buffer.rs`) and what a conflict means (the tensor library).

use crate::sync::AtomicU32;
use crate::sync::Ordering::{Acquire, Relaxed, Release};

/// What a handle that goes away has to do.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// Others hold it: nothing.
    StillHeld,
    /// It was the last one: free the memory, now.
    LastRef,
}

/// How many handles there are.
pub(crate) struct RefCount(AtomicU32);

/// More handles than this can only be a program that forgets them in a loop; one more could wrap around to a freed buffer.
const MAX_REFS: u32 = i32::MAX as u32;

impl RefCount {
    pub(crate) fn one() -> RefCount {
        RefCount(AtomicU32::new(1))
    }

    /// One handle more, made from one that exists.
    pub(crate) fn retain(&self) {
        // Relaxed: the new handle comes from a live one, and how it reaches another thread is that channel's synchronization.
        let before = self.0.fetch_add(1, Relaxed);
        if before > MAX_REFS {
            std::process::abort();
        }
    }

    /// One handle less.
    pub(crate) fn release(&self) -> Dropped {
        // Release publishes this handle's accesses; pairs with the Acquire load below in the thread that frees, and with the
        // one in `is_unique`.
        if self.0.fetch_sub(1, Release) != 1 {
            return Dropped::StillHeld;
        }
        // Acquire: pairs with the Release decrements of all other handles, whose accesses are over before memory is freed.
        // A load instead of a fence: it reads the end of their release sequence, and loom models it.
        let _ = self.0.load(Acquire);
        Dropped::LastRef
    }

    /// Whether the asking handle is the only one, hence nobody else can make a new one.
    pub(crate) fn is_unique(&self) -> bool {
        // Acquire: pairs with the Release decrement of the handle that went before, whose reads must precede our writes.
        self.0.load(Acquire) == 1
    }
}

/// Why an access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// Somebody writes.
    Written,
    /// Somebody reads.
    Read,
}

/// Who accesses the bytes: nobody, some readers, or one writer.
pub(crate) struct Borrows(AtomicU32);

const FREE: u32 = 0;
const WRITER: u32 = u32::MAX;

impl Borrows {
    pub(crate) fn free() -> Borrows {
        Borrows(AtomicU32::new(FREE))
    }

    /// Enter as a reader.
    pub(crate) fn try_read(&self) -> Result<(), Conflict> {
        let mut seen = self.0.load(Relaxed);
        loop {
            // The word before WRITER is kept free, so that no number of readers reads as a writer.
            if seen >= WRITER - 1 {
                return Err(Conflict::Written);
            }
            // Acquire: pairs with the Release store in `end_write`; the bytes written are visible. Relaxed on failure: we retry.
            match self.0.compare_exchange_weak(seen, seen + 1, Acquire, Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
    }

    /// Leave as a reader.
    pub(crate) fn end_read(&self) {
        // Release: our reads are over; pairs with the Acquire exchange in `try_write`.
        self.0.fetch_sub(1, Release);
    }

    /// Enter as the writer.
    pub(crate) fn try_write(&self) -> Result<(), Conflict> {
        // Acquire: pairs with the Release in `end_read` and `end_write` of whoever came before. Relaxed on failure: no access follows.
        match self.0.compare_exchange(FREE, WRITER, Acquire, Relaxed) {
            Ok(_) => Ok(()),
            Err(WRITER) => Err(Conflict::Written),
            Err(_) => Err(Conflict::Read),
        }
    }

    /// Leave as the writer.
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
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::Cell;
    use loom::sync::Arc;
    use loom::thread;

    /// A cell whose accesses loom checks for races, behind the protocol under test. loom's threads are all one, so it need not be Sync.
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
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    let other = shared.clone();
                    thread::spawn(move || {
                        if other.borrows.try_read().is_ok() {
                            look(&other.cell);
                            other.borrows.end_read();
                        }
                    })
                })
                .collect();
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
}
