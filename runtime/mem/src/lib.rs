//! Memory for tensors and values. A leaf crate that depends on neither.
//!
//! ```text
//! Allocator ──allocate──▶ Block ──▶ Buffer ──view──▶ Buffer (a part of it, read only)
//!     ▲                               ▲
//!     └───────────release─────────────┴── foreign read-only memory (a mapped file), kept alive by its owner
//! ```
//!
//! * Every request goes through an [`Allocator`]. A refused request is an [`AllocError`], which the runtime
//!   converts to an error value; nothing here aborts for lack of memory.
//! * [`Block`] is owned, initialized memory that frees itself. Since a block cannot be forged or freed twice,
//!   the trait is safe to implement: budgets ([`Limited`]), leak checks ([`LeakCheck`]) and pools
//!   ([`Pooled`]) are ordinary safe code.
//! * [`Buffer`] is one pointer to counted, 64-byte aligned bytes with run-time borrow tracking: kernels of an
//!   asynchronous graph with wrong chains get an error, not a data race.
//!
//! Memory is never handed out uninitialized: blocks from the system are zeroed (which costs nothing for fresh
//! pages), and reused blocks, of an allocator or of the process, hold old bytes.
//!
//! * A [`Lease`] makes a buffer of the caller's memory for the time of a call; an [`Exported`] buffer is
//!   memory for code that knows no guards.
//!
//! * [`Arena`] is one block of memory with planned places: the run-time form of a compiler's memory plan.
//!
//! `unsafe` lives in `system.rs` (blocks), `arena.rs` (their parts), `buffer.rs` and `buffer/lease.rs`. Not
//! here: types, shapes, values, devices.

mod allocator;
mod arena;
#[allow(unsafe_code, reason = "counted raw memory; the module's essay gives the rules")]
mod buffer;
mod pooled;
mod recycled;
mod state;
mod sync;
#[allow(unsafe_code, reason = "the one place that asks the system for memory")]
mod system;

pub use allocator::{AllocError, Allocator, LeakCheck, Limited, Live, Malloc};
pub use arena::{Arena, ArenaCache, Placed};
pub use buffer::{ALIGNMENT, BorrowError, Buffer, Exported, Frozen, Lease, ReadGuard, ViewError, WriteGuard};
pub use pooled::Pooled;
pub use recycled::release_kept_blocks;
pub use system::{Block, prefer_large_pages};
