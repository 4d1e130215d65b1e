//! Buffers: reference-counted, 64-byte aligned bytes with run-time borrow tracking.
//!
//! ```text
//! Buffer ──▶ Header { refs, borrows, len, owner } [bytes ...]   allocated: header and bytes are one block
//! Buffer ──▶ Header ──data──▶ bytes of `_keep`                   foreign: read-only memory of another owner
//! Buffer ──▶ Header ──data──▶ bytes of the caller                lent: read-only until the lease ends
//! Buffer ──▶ Header ──data──▶ bytes inside `root`                view: a part of another buffer
//! ```
//!
//! Rules:
//! 1. A `Buffer` is one counted reference; cloning is one atomic increment. The header is freed with the last
//!    reference.
//! 2. Bytes are accessed only through a guard. The borrow word of the buffer that *owns* the bytes decides (a
//!    view asks its root), so accesses through a view and its root conflict. Foreign bytes never change, so
//!    reading them costs nothing.
//! 3. Only allocated bytes can be written: through a handle of the buffer itself, or of a
//!    [part](Buffer::part), but not of a view. Several handles do not forbid writing: destination-passing
//!    kernels write through a shared handle, and the borrow word detects conflicts.
//! 4. Whether a kernel may *reuse* the bytes of its input for its output is a separate question:
//!    [`Buffer::is_unique`].
//! 5. Views are of depth one: a view of a view refers to the root. Hence nothing here recurses.
//! 6. [Frozen](Frozen) bytes are read without a guard: the borrow word counts a permanent reader.
//! 7. Lent bytes are read through guards like all others. The end of a [`Lease`] waits for the guards that
//!    are held and refuses later ones, so it does not matter who still has a handle. What is to be kept
//!    beyond it is copied in time ([`Buffer::is_lent`]).
//!
//! The bytes are always initialized (see the crate's documentation), hence safe to read as numbers.
//!
//! Not here: the orderings (`state.rs`), the meaning of the bytes (the tensor library).

mod lease;

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::Arc;

pub use lease::{Exported, Lease};

use crate::recycled::give;
use crate::state::{Borrows, Conflict, Dropped, RefCount};
use crate::{AllocError, Allocator, Block};

/// The alignment of the bytes of an allocated buffer: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// The offset of the bytes in a block that holds a header and bytes.
const DATA_AT: usize = size_of::<Header>().next_multiple_of(ALIGNMENT);

#[cfg(not(loom))]
const _: () = assert!(DATA_AT == 64);
const _: () = assert!(align_of::<Header>() <= ALIGNMENT);

struct Header {
    refs: RefCount,
    borrows: Borrows,
    len: usize,
    owner: Owner,
}

enum Owner {
    /// This header and its bytes lie in `block`, the bytes DATA_AT after its start.
    /// The allocator is that of the block, unless it is the system's.
    Allocated { block: Block, allocator: Option<Arc<dyn Allocator>> },
    /// The bytes belong to `_keep`, which never changes them.
    Foreign { data: NonNull<u8>, _keep: Arc<dyn Any + Send + Sync> },
    /// The bytes belong to who lends them: until the lease ends, or for as long as `keep` lives.
    Lent { data: NonNull<u8>, keep: Option<Arc<dyn Any + Send + Sync>> },
    /// The bytes are inside those of `root`, which is not a view, and which is allocated if the bytes are
    /// writable.
    View { data: NonNull<u8>, root: Buffer, is_writable: bool },
}

/// A counted reference to bytes.
pub struct Buffer {
    header: NonNull<Header>,
}

// SAFETY: the header's words are atomic, its other fields never change, the owners are Send and Sync, and the
// bytes are only reached through guards, whose exclusion is the borrow word's.
unsafe impl Send for Buffer {}

// SAFETY: as for Send.
unsafe impl Sync for Buffer {}

/// The reason why bytes cannot be accessed now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BorrowError {
    /// They are being written.
    Written,
    /// A write was requested while they are being read.
    Read,
    /// They are read-only: a view, or foreign memory.
    ReadOnly,
    /// They were lent, and the lease has ended.
    Revoked,
}

impl fmt::Display for BorrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BorrowError::Written => "the buffer is being written by another kernel: a chain is missing",
            BorrowError::Read => "the buffer is being read by another kernel: a chain is missing",
            BorrowError::ReadOnly => "the buffer is read-only: a view or a constant",
            BorrowError::Revoked => "the buffer was lent for a call that has ended",
        })
    }
}

impl std::error::Error for BorrowError {}

/// The error for a view that would reach outside of its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewError {
    /// The requested range.
    pub range: Range<usize>,
    /// The length of the buffer.
    pub len: usize,
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {}..{} are not in a buffer of {} bytes", self.range.start, self.range.end, self.len)
    }
}

impl std::error::Error for ViewError {}

impl Buffer {
    /// A writable buffer of `len` initialized bytes of unspecified contents.
    pub fn allocate(len: usize, allocator: &Arc<dyn Allocator>) -> Result<Buffer, AllocError> {
        let size = len.checked_add(DATA_AT).ok_or(AllocError::TooLarge { size: len })?;
        if allocator.is_system() {
            return Buffer::of_block(Block::recycled(size)?, len, allocator);
        }
        Buffer::of_block(allocator.allocate(size, ALIGNMENT)?, len, allocator)
    }

    /// A buffer in a block with room for a header and `len` bytes.
    fn of_block(block: Block, len: usize, allocator: &Arc<dyn Allocator>) -> Result<Buffer, AllocError> {
        let start = block.start();
        // The trait is safe to implement, so its result is checked.
        if block.size().saturating_sub(DATA_AT) < len || !start.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            allocator.release(block);
            return Err(AllocError::Alignment { align: ALIGNMENT });
        }
        let header = start.cast::<Header>();
        let allocator = (!allocator.is_system()).then(|| allocator.clone());
        let owner = Owner::Allocated { block, allocator };
        // SAFETY: the block is exclusively ours, aligned, and holds at least DATA_AT bytes, room for a
        // header.
        unsafe { header.write(Header { refs: RefCount::one(), borrows: Borrows::free(), len, owner }) };
        Ok(Buffer { header })
    }

    /// A writable buffer with these bytes.
    pub fn copy_of(bytes: &[u8], allocator: &Arc<dyn Allocator>) -> Result<Buffer, AllocError> {
        if allocator.is_system() {
            return Buffer::of_block(Block::copied(DATA_AT, bytes)?, bytes.len(), allocator);
        }
        let buffer = Buffer::allocate(bytes.len(), allocator)?;
        if let Ok(mut guard) = buffer.try_write() {
            guard.copy_from_slice(bytes); // no other handle exists yet
        }
        Ok(buffer)
    }

    /// A read-only buffer over memory that `owner` keeps alive and unchanged, such as a mapped file. Nothing
    /// is copied, and the alignment is the owner's.
    pub fn from_owner<T: AsRef<[u8]> + Send + Sync + 'static>(owner: Arc<T>) -> Buffer {
        // The slice borrows from `*owner`. It stays borrowed for as long as `_keep` lives: no `&mut T` can
        // exist meanwhile.
        let bytes: &[u8] = (*owner).as_ref();
        let (data, len) = (NonNull::from(bytes).cast::<u8>(), bytes.len());
        Buffer::boxed(len, Owner::Foreign { data, _keep: owner })
    }

    /// A read-only buffer over memory that `owner` keeps alive, and which others may change when no kernel
    /// runs, such as a tensor of another library: [lent](Buffer::is_lent) without an end.
    ///
    /// # Safety
    /// `data` must be the start of `len` initialized bytes for as long as `owner` lives, and nobody may write
    /// to them while a guard is held.
    pub unsafe fn shared(data: NonNull<u8>, len: usize, owner: Arc<dyn Any + Send + Sync>) -> Buffer {
        Buffer::boxed(len, Owner::Lent { data, keep: Some(owner) })
    }

    fn boxed(len: usize, owner: Owner) -> Buffer {
        let header = Box::new(Header { refs: RefCount::one(), borrows: Borrows::free(), len, owner });
        Buffer { header: NonNull::from(Box::leak(header)) }
    }

    /// A read-only view of a part, which keeps the whole alive.
    pub fn view(&self, range: Range<usize>) -> Result<Buffer, ViewError> {
        self.sub_range(range, false)
    }

    /// A part, which keeps the whole alive and is writable if this buffer is. While one part is being
    /// written, all others are inaccessible.
    pub fn part(&self, range: Range<usize>) -> Result<Buffer, ViewError> {
        self.sub_range(range, self.is_writable())
    }

    fn sub_range(&self, range: Range<usize>, is_writable: bool) -> Result<Buffer, ViewError> {
        let len = self.len();
        if range.start > range.end || range.end > len {
            return Err(ViewError { range, len });
        }
        // SAFETY: `range.start <= len`, so the result is within the bytes or just behind them.
        let data = unsafe { self.data().add(range.start) };
        Ok(Buffer::boxed(range.end - range.start, Owner::View { data, root: self.root(), is_writable }))
    }

    /// The buffer itself, or the root of a view.
    fn root(&self) -> Buffer {
        match &self.header().owner {
            Owner::View { root, .. } => root.clone(),
            Owner::Allocated { .. } | Owner::Foreign { .. } | Owner::Lent { .. } => self.clone(),
        }
    }

    /// The header of the buffer that owns the bytes.
    fn owning(&self) -> &Header {
        match &self.header().owner {
            Owner::View { root, .. } => root.header(),
            Owner::Allocated { .. } | Owner::Foreign { .. } | Owner::Lent { .. } => self.header(),
        }
    }

    /// True if the bytes are somebody else's, who may change them after the call for which they are lent:
    /// who keeps them beyond it keeps a copy.
    #[inline]
    pub fn is_lent(&self) -> bool {
        matches!(self.owning().owner, Owner::Lent { .. })
    }

    /// The bytes, frozen permanently: no handle can write them again, nor any other bytes of the same root.
    ///
    /// # Errors
    /// While the bytes are being written, and if they are lent.
    pub fn freeze(&self) -> Result<Frozen, BorrowError> {
        if self.is_lent() {
            return Err(BorrowError::Revoked);
        }
        if let Some(borrows) = self.borrows() {
            borrows.try_read().map_err(refused)?; // no `end_read` follows
        }
        if !self.is_writable() {
            return Ok(Frozen { buffer: self.clone() });
        }
        let view = Owner::View { data: self.data(), root: self.root(), is_writable: false };
        Ok(Frozen { buffer: Buffer::boxed(self.len(), view) })
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.header().len
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address of the first byte, for checks of alignment.
    pub fn address(&self) -> usize {
        self.data().as_ptr().addr()
    }

    /// True if this is the only handle of writable memory: a kernel that holds it may put its result there.
    pub fn is_unique(&self) -> bool {
        self.is_allocated() && self.header().refs.is_unique()
    }

    /// True if the bytes can be written through this handle.
    pub fn is_writable(&self) -> bool {
        self.is_allocated() || matches!(self.header().owner, Owner::View { is_writable: true, .. })
    }

    /// True if header and bytes are one block.
    fn is_allocated(&self) -> bool {
        matches!(self.header().owner, Owner::Allocated { .. })
    }

    /// True if both are handles of one buffer. A view and its root are two.
    pub fn is_same(&self, other: &Buffer) -> bool {
        self.header == other.header
    }

    /// Read access. Fails while the bytes are being written.
    pub fn try_read(&self) -> Result<ReadGuard<'_>, BorrowError> {
        let borrows = self.borrows();
        if let Some(borrows) = borrows {
            borrows.try_read().map_err(refused)?;
        }
        Ok(ReadGuard { bytes: self.bytes(), borrows, _of: PhantomData })
    }

    /// Write access. Fails while the bytes are borrowed, and for read-only bytes.
    pub fn try_write(&self) -> Result<WriteGuard<'_>, BorrowError> {
        let borrows = self.borrows().filter(|_| self.is_writable()).ok_or(BorrowError::ReadOnly)?;
        borrows.try_write().map_err(refused)?;
        Ok(WriteGuard { bytes: self.bytes(), borrows, _of: PhantomData })
    }

    fn header(&self) -> &Header {
        // SAFETY: this handle's reference keeps the header alive, and it is only shared after it was written.
        unsafe { self.header.as_ref() }
    }

    /// The word that guards the bytes; `None` if they cannot change.
    fn borrows(&self) -> Option<&Borrows> {
        let owning = self.owning();
        (!matches!(owning.owner, Owner::Foreign { .. })).then_some(&owning.borrows)
    }

    fn data(&self) -> NonNull<u8> {
        match &self.header().owner {
            // SAFETY: the block has at least DATA_AT bytes.
            Owner::Allocated { block, .. } => unsafe { block.start().add(DATA_AT) },
            Owner::Foreign { data, .. } | Owner::Lent { data, .. } | Owner::View { data, .. } => *data,
        }
    }

    fn bytes(&self) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.data(), self.len())
    }
}

fn refused(conflict: Conflict) -> BorrowError {
    match conflict {
        Conflict::Written => BorrowError::Written,
        Conflict::Read => BorrowError::Read,
        Conflict::Revoked => BorrowError::Revoked,
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Buffer {
        self.header().refs.retain();
        Buffer { header: self.header }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match self.header().refs.release() {
            Dropped::StillHeld => return,
            Dropped::LastRef => {}
        }
        if !self.is_allocated() {
            // SAFETY: headers of foreign buffers and views come from `Buffer::boxed`, and this was the last
            // reference.
            drop(unsafe { Box::from_raw(self.header.as_ptr()) });
            return;
        }
        // SAFETY: this was the last reference; the header is moved out of the block and not accessed again.
        let Header { refs: _, borrows: _, len: _, owner } = unsafe { self.header.read() };
        match owner {
            Owner::Allocated { block, allocator: Some(allocator) } => allocator.release(block),
            Owner::Allocated { block, allocator: None } => give(block),
            owner => drop(owner),
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.header().owner {
            Owner::Allocated { .. } => "allocated",
            Owner::Foreign { .. } => "foreign",
            Owner::Lent { .. } => "lent",
            Owner::View { .. } => "view",
        };
        write!(f, "Buffer({kind}, {} bytes)", self.len())
    }
}

/// Read access to the bytes of a buffer. While it lives they cannot be written.
pub struct ReadGuard<'a> {
    // A pointer, not a reference: while `drop` runs, the access has ended already.
    bytes: NonNull<[u8]>,
    borrows: Option<&'a Borrows>,
    _of: PhantomData<&'a [u8]>,
}

impl Deref for ReadGuard<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: initialized bytes of a live buffer; the borrow word, or their being foreign, keeps writers
        // out.
        unsafe { self.bytes.as_ref() }
    }
}

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        if let Some(borrows) = self.borrows {
            borrows.end_read();
        }
    }
}

/// Bytes that never change again. Clones share them.
#[derive(Clone, Debug)]
pub struct Frozen {
    /// Read-only: a view, or foreign.
    buffer: Buffer,
}

impl Frozen {
    /// [`Buffer::from_owner`], whose bytes never change.
    pub fn from_owner<T: AsRef<[u8]> + Send + Sync + 'static>(owner: Arc<T>) -> Frozen {
        Frozen { buffer: Buffer::from_owner(owner) }
    }

    /// The bytes as a read-only buffer, which is never unique.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

impl Deref for Frozen {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: initialized bytes of a live buffer; the permanent reader, or their being foreign, keeps
        // writers out.
        unsafe { self.buffer.bytes().as_ref() }
    }
}

/// Exclusive access to the bytes of a buffer.
pub struct WriteGuard<'a> {
    bytes: NonNull<[u8]>,
    borrows: &'a Borrows,
    _of: PhantomData<&'a mut [u8]>,
}

impl Deref for WriteGuard<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: initialized bytes of a live buffer; the borrow word keeps all others out.
        unsafe { self.bytes.as_ref() }
    }
}

impl DerefMut for WriteGuard<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and only allocated memory gets here.
        unsafe { self.bytes.as_mut() }
    }
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        self.borrows.end_write();
    }
}

#[cfg(test)]
mod tests;
