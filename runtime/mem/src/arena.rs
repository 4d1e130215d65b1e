//! Arenas: one block of memory, parts of which are handed out at planned places.
//!
//! ```text
//! plan:    a at 0..128    b at 128..256    c at 0..192, when a and b are dead
//! Arena  ──take(0..128)──▶ Block ──dropped──▶ the place is free again
//!        ──take(0..192)──▶ None, as long as any of it is taken
//! Placed ──allocate(size)──▶ the place planned for a request of this size, else the fallback allocator
//! ```
//!
//! A plan comes from a file and may be wrong. So the arena records the taken parts, and a request for a place
//! that is not free is served by the fallback. Blocks never overlap, whatever the plan; a good plan only
//! saves memory.
//!
//! In builds with debug assertions a freed place is filled with 0xff bytes, NaN for floats.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::{ALIGNMENT, AllocError, Allocator, Block};

/// See the module's documentation.
pub struct Arena {
    /// Present until the arena is dropped.
    memory: Option<Block>,
    below: Arc<dyn Allocator>,
    /// The address of the memory.
    address: usize,
    /// The taken parts, few at any time.
    taken: Mutex<Vec<Range<usize>>>,
}

impl Arena {
    /// An arena of `size` bytes.
    pub fn new(size: usize, below: &Arc<dyn Allocator>) -> Result<Arc<Arena>, AllocError> {
        let memory = below.allocate(size, ALIGNMENT)?;
        // The trait is safe to implement, so its result is checked.
        if memory.size() < size || !memory.start().as_ptr().addr().is_multiple_of(ALIGNMENT) {
            below.release(memory);
            return Err(AllocError::Alignment { align: ALIGNMENT });
        }
        let address = memory.start().as_ptr().addr();
        Ok(Arc::new(Arena { memory: Some(memory), below: below.clone(), address, taken: Mutex::default() }))
    }

    pub(crate) fn memory(&self) -> &Block {
        match &self.memory {
            Some(memory) => memory,
            None => unreachable!("taken in `drop` only"),
        }
    }

    /// The size in bytes.
    pub fn size(&self) -> usize {
        self.memory().size()
    }

    /// The number of taken parts.
    pub fn n_taken(&self) -> usize {
        self.taken().len()
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Range<usize>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A part, if it is in the arena, free, and begins at a multiple of 64.
    pub fn take(self: &Arc<Arena>, part: Range<usize>) -> Option<Block> {
        if part.is_empty() || part.end > self.size() || !part.start.is_multiple_of(ALIGNMENT) {
            return None;
        }
        let mut taken = self.taken();
        if taken.iter().any(|other| other.start < part.end && part.start < other.end) {
            return None;
        }
        taken.push(part.clone());
        drop(taken);
        // SAFETY: the part is in the memory; it was free and is taken until `came_back`.
        #[allow(unsafe_code, reason = "the list of what is taken is the proof")]
        Some(unsafe { Block::part(self, part.start, part.len()) })
    }

    /// Marks the part that begins at this address as free.
    pub(crate) fn came_back(&self, address: usize) {
        let at = address.wrapping_sub(self.address);
        let mut taken = self.taken();
        if let Some(i) = taken.iter().position(|part| part.start == at) {
            taken.swap_remove(i);
        }
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arena({} bytes, {} parts taken)", self.size(), self.n_taken())
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // Parts keep the arena alive, so there are none now.
        if let Some(memory) = self.memory.take() {
            self.below.release(memory);
        }
    }
}

/// The most places of one allocator.
const MOST: usize = usize::BITS as usize;

/// An allocator for one step of a plan: a request takes an unused place planned for its size; others go to
/// `rest`.
pub struct Placed {
    arena: Arc<Arena>,
    places: Box<[Range<usize>]>,
    /// One bit per place that was handed out.
    used: AtomicUsize,
    rest: Arc<dyn Allocator>,
}

impl Placed {
    /// An allocator of these places in the arena; those beyond the 64th are not used.
    pub fn new(arena: Arc<Arena>, places: &[Range<usize>], rest: Arc<dyn Allocator>) -> Placed {
        let places = places.iter().take(MOST).cloned().collect();
        Placed { arena, places, used: AtomicUsize::new(0), rest }
    }
}

impl Allocator for Placed {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        if align <= ALIGNMENT {
            for (i, place) in self.places.iter().enumerate().filter(|(_, place)| place.len() == size) {
                // Relaxed: the bit only assigns the place; the arena's lock guards the memory.
                if self.used.fetch_or(1 << i, Relaxed) & 1 << i == 0
                    && let Some(block) = self.arena.take(place.clone())
                {
                    return Ok(block);
                }
            }
        }
        self.rest.allocate(size, align)
    }

    fn release(&self, block: Block) {
        if block.is_part() { drop(block) } else { self.rest.release(block) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Buffer, LeakCheck, Malloc};

    #[test]
    fn parts_never_overlap_and_come_back() {
        let leaks = Arc::new(LeakCheck::new(Malloc::shared()));
        let below: Arc<dyn Allocator> = leaks.clone();
        let arena = Arena::new(1024, &below).unwrap();
        let a = arena.take(0..128).unwrap();
        let b = arena.take(128..256).unwrap();
        assert!(arena.take(64..192).is_none() && arena.take(0..1024).is_none());
        assert!(
            arena.take(32..40).is_none()
                && arena.take(1024..1088).is_none()
                && arena.take(256..256).is_none()
        );
        assert!(arena.take(960..1025).is_none());
        drop(a);
        assert!(arena.take(64..192).is_none());
        drop(b);
        let all = arena.take(0..1024).unwrap();
        assert_eq!(arena.n_taken(), 1);
        drop(arena);
        assert_eq!(leaks.live().blocks, 1);
        drop(all);
        assert_eq!(leaks.live().blocks, 0);
    }

    #[test]
    fn buffers_lie_where_it_is_planned_and_elsewhere_if_that_is_taken() {
        let leaks = Arc::new(LeakCheck::new(Malloc::shared()));
        let below: Arc<dyn Allocator> = leaks.clone();
        let arena = Arena::new(512, &below).unwrap();
        let first: Arc<dyn Allocator> =
            Arc::new(Placed::new(arena.clone(), &[0..192, 192..384], below.clone()));
        let [a, b, c] = [(); 3].map(|()| Buffer::allocate(128, &first).unwrap());
        assert_eq!((a.address() + 192, leaks.live().blocks), (b.address(), 2));
        let second: Arc<dyn Allocator> =
            Arc::new(Placed::new(arena.clone(), std::slice::from_ref(&(0..192)), below.clone()));
        let address = a.address();
        a.try_write().unwrap().fill(7);
        let instead = Buffer::allocate(128, &second).unwrap();
        assert_ne!(instead.address(), address);
        drop((a, instead));
        let third: Arc<dyn Allocator> =
            Arc::new(Placed::new(arena.clone(), std::slice::from_ref(&(0..192)), below.clone()));
        let again = Buffer::allocate(128, &third).unwrap();
        assert_eq!(again.address(), address);
        if cfg!(debug_assertions) {
            assert!(again.try_read().unwrap().iter().all(|&byte| byte == 0xff));
        }
        drop((b, c, again, first, second, third));
        assert_eq!((arena.n_taken(), leaks.live().blocks), (0, 1));
    }

    #[test]
    fn threads_take_and_give_back() {
        let arena = Arena::new(64 * 8, &Malloc::shared()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4usize {
                let arena = &arena;
                scope.spawn(move || {
                    for i in 0..500usize {
                        let at = (thread + i) % 8 * 64;
                        if let Some(block) = arena.take(at..at + 64) {
                            assert_eq!(block.size(), 64);
                        }
                    }
                });
            }
        });
        assert_eq!(arena.n_taken(), 0);
    }
}
