//! Bytes of a caller as a buffer for the time of a call, and bytes of a buffer for code without guards.
//!
//! ```text
//! caller's bytes ──Lease::begin──▶ Buffer (lent) ... kernels ... ──drop of the Lease──▶ caller's again
//! Buffer ──export──▶ Exported: a pointer for code without guards, until it is dropped
//! ```
//!
//! A lease is sound whatever kernels do with their operands: its end waits for the guards that exist, and
//! makes all later reads fail. So a handle may outlive its call.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Duration;

use super::{BorrowError, Buffer, Owner};
use crate::state::Revoked;

/// Number of looks of a lease's end before it yields to other threads.
const SPINS: u32 = 64;
/// Number of looks before it sleeps.
const YIELDS: u32 = 256;
/// Time of each sleep.
const NAP: Duration = Duration::from_micros(50);

/// Memory that is lent for as long as this lives.
#[must_use = "the bytes are taken back with it"]
pub struct Lease<'a> {
    buffer: ManuallyDrop<Buffer>,
    _of: PhantomData<&'a [u8]>,
}

impl Lease<'_> {
    /// Lends bytes until the lease is dropped.
    ///
    /// # Safety
    /// `data` must be the start of `len` initialized bytes that stay valid and unchanged until the lease is
    /// dropped. The lease must be dropped, not forgotten.
    pub unsafe fn begin<'a>(data: NonNull<u8>, len: usize) -> Lease<'a> {
        let buffer = Buffer::boxed(len, Owner::Lent { data, keep: None });
        Lease { buffer: ManuallyDrop::new(buffer), _of: PhantomData }
    }

    /// The bytes. A read through a handle that outlives the lease is an error.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // SAFETY: it is taken here only, and not used afterwards.
        let buffer = unsafe { ManuallyDrop::take(&mut self.buffer) };
        // Guards borrow from handles: without another handle there is none.
        if !buffer.header().refs.is_unique() {
            end(&buffer);
        }
    }
}

/// Revokes the bytes and waits for their readers.
#[cold]
fn end(buffer: &Buffer) {
    let borrows = &buffer.header().borrows;
    match borrows.revoke() {
        Revoked::Unread => return,
        Revoked::Read => {}
    }
    let mut n: u32 = 0;
    while !borrows.is_unread() {
        n = n.saturating_add(1);
        match n {
            0..SPINS => std::hint::spin_loop(),
            SPINS..YIELDS => std::thread::yield_now(),
            _ => std::thread::sleep(NAP),
        }
    }
}

impl fmt::Debug for Lease<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&*self.buffer).finish()
    }
}

impl Buffer {
    /// Lends bytes to `f` as a read-only buffer, without a copy. A read through a handle that outlives the
    /// call is an error.
    ///
    /// ```
    /// use befrost_mem::{BorrowError, Buffer};
    ///
    /// let bytes = [1, 2, 3];
    /// let kept = Buffer::lend(&bytes, |buffer| {
    ///     assert_eq!(*buffer.try_read().unwrap(), [1, 2, 3]);
    ///     buffer.clone()
    /// });
    /// assert_eq!(kept.try_read().err(), Some(BorrowError::Revoked));
    /// ```
    pub fn lend<R>(bytes: &[u8], f: impl FnOnce(&Buffer) -> R) -> R {
        // SAFETY: the bytes are borrowed beyond this function, in which the lease is dropped, also when `f`
        // panics.
        let lease = unsafe { Lease::begin(NonNull::from(bytes).cast(), bytes.len()) };
        f(lease.buffer())
    }

    /// The bytes for code without guards: for writing if this is the only handle, else for reading.
    ///
    /// # Errors
    /// While the bytes are being written, and if they are lent for a call.
    pub fn export(self) -> Result<Exported, BorrowError> {
        if matches!(self.owning().owner, Owner::Lent { keep: None, .. }) {
            return Err(BorrowError::Revoked);
        }
        let is_writable = self.is_unique();
        if let Some(borrows) = self.borrows() {
            let begun = if is_writable { borrows.try_write() } else { borrows.try_read() };
            begun.map_err(super::refused)?;
        }
        Ok(Exported { buffer: self, is_writable })
    }
}

/// Access to the bytes of a buffer by their address, for as long as this lives.
#[derive(Debug)]
pub struct Exported {
    buffer: Buffer,
    is_writable: bool,
}

impl Exported {
    /// The start of the bytes. While this lives, nobody else writes to them, and if they are writable nobody
    /// else reads them either.
    pub fn data(&self) -> NonNull<u8> {
        self.buffer.data()
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// True if the holder may write to the bytes.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        if let Some(borrows) = self.buffer.borrows() {
            if self.is_writable { borrows.end_write() } else { borrows.end_read() }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{Allocator, LeakCheck, Live, Malloc};

    #[test]
    fn handles_that_outlive_a_lease_read_nothing() {
        let mut bytes = vec![7u8; 100];
        let (whole, view, part) = Buffer::lend(&bytes, |lent| {
            assert!(lent.is_lent() && !lent.is_unique() && !lent.is_writable());
            assert_eq!(lent.try_write().err(), Some(BorrowError::ReadOnly));
            assert_eq!(lent.freeze().err(), Some(BorrowError::Revoked));
            assert_eq!(lent.clone().export().err(), Some(BorrowError::Revoked));
            let (view, part) = (lent.view(10..20).unwrap(), lent.part(0..1).unwrap());
            assert!(view.is_lent() && *view.try_read().unwrap() == [7; 10]);
            (lent.clone(), view, part)
        });
        bytes.fill(0);
        for handle in [whole.view(1..2).unwrap(), whole, view, part] {
            assert_eq!(handle.try_read().err(), Some(BorrowError::Revoked));
            assert_eq!(handle.try_write().err(), Some(BorrowError::ReadOnly));
        }
    }

    #[test]
    fn the_end_of_a_lease_waits_for_guards() {
        let (reads, mut bytes) = (AtomicBool::new(false), vec![7u8; 1000]);
        std::thread::scope(|scope| {
            Buffer::lend(&bytes, |lent| {
                let (other, reads) = (lent.clone(), &reads);
                scope.spawn(move || {
                    let guard = other.try_read().unwrap();
                    reads.store(true, Ordering::Release);
                    std::thread::sleep(Duration::from_millis(20));
                    assert_eq!(*guard, [7; 1000]);
                    reads.store(false, Ordering::Release);
                    drop(guard);
                    assert_eq!(other.try_read().err(), Some(BorrowError::Revoked));
                });
                while !reads.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            });
            assert!(!reads.load(Ordering::Acquire));
        });
        bytes.fill(0);
    }

    #[test]
    fn shared_bytes_live_as_long_as_their_handles() {
        let owner = Arc::new([5u8; 8]);
        let data = NonNull::from(&*owner).cast();
        // SAFETY: the owner has these bytes, and nobody writes to them.
        let buffer = unsafe { Buffer::shared(data, 8, owner.clone()) };
        assert!(buffer.is_lent() && *buffer.try_read().unwrap() == [5; 8]);
        let exported = buffer.view(1..3).unwrap().export().unwrap();
        assert!(!exported.is_writable() && exported.len() == 2);
        drop(buffer);
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(exported);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn exported_bytes_are_writable_if_nobody_else_holds_them() {
        let check = Arc::new(LeakCheck::new(Malloc::shared()));
        let allocator: Arc<dyn Allocator> = check.clone();
        let exported = Buffer::copy_of(b"abc", &allocator).unwrap().export().unwrap();
        assert!(exported.is_writable() && !exported.is_empty());
        drop(exported);
        let buffer = Buffer::copy_of(b"abc", &allocator).unwrap();
        let exported = buffer.clone().export().unwrap();
        assert!(!exported.is_writable());
        assert_eq!(&*buffer.try_read().unwrap(), b"abc");
        assert_eq!(buffer.try_write().err(), Some(BorrowError::Read));
        drop(exported);
        assert!(buffer.try_write().is_ok());
        let writing = buffer.try_write().unwrap();
        assert_eq!(buffer.clone().export().err(), Some(BorrowError::Written));
        drop(writing);
        drop(buffer);
        assert_eq!(check.live(), Live::default());
    }
}
