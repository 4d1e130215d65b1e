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
//! The memory of an arena from an [`ArenaCache`] goes back to it, for the next call of the same function: it
//! is neither mapped, nor cleared, nor faulted in again.
//!
//! In builds with debug assertions a freed place is filled with 0xff bytes, NaN for floats.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::{ALIGNMENT, AllocError, Allocator, Block};

/// A block of memory whose parts are handed out at planned places.
pub struct Arena {
    /// Present until the arena is dropped.
    memory: Option<Block>,
    below: Arc<dyn Allocator>,
    /// Takes the memory back.
    cache: Weak<ArenaCache>,
    /// The address of the memory.
    address: usize,
    /// The taken parts, few at any time.
    taken: Mutex<Vec<Range<usize>>>,
}

/// `size` bytes of an allocator, for an arena.
fn allocate(size: usize, below: &Arc<dyn Allocator>) -> Result<Block, AllocError> {
    let memory = below.allocate(size, ALIGNMENT)?;
    // The trait is safe to implement, so its result is checked.
    if memory.size() < size || !memory.start().as_ptr().addr().is_multiple_of(ALIGNMENT) {
        below.release(memory);
        return Err(AllocError::Alignment { align: ALIGNMENT });
    }
    Ok(memory)
}

impl Arena {
    /// An arena of `size` bytes.
    ///
    /// # Errors
    /// If `below` refuses the memory.
    pub fn new(size: usize, below: &Arc<dyn Allocator>) -> Result<Arc<Arena>, AllocError> {
        Ok(Arena::of(allocate(size, below)?, below, Weak::new()))
    }

    fn of(memory: Block, below: &Arc<dyn Allocator>, cache: Weak<ArenaCache>) -> Arc<Arena> {
        let address = memory.start().as_ptr().addr();
        Arc::new(Arena {
            memory: Some(memory),
            below: below.clone(),
            cache,
            address,
            taken: Mutex::default(),
        })
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
        let Some(memory) = self.memory.take() else { return };
        match self.cache.upgrade() {
            Some(cache) => cache.put(Idle { memory, below: self.below.clone() }),
            None => self.below.release(memory),
        }
    }
}

/// The memory of a dropped arena, and its allocator.
struct Idle {
    memory: Block,
    below: Arc<dyn Allocator>,
}

impl Idle {
    fn release(self) {
        self.below.release(self.memory);
    }
}

/// The maximal number of idle blocks in a cache: calls of one function that run side by side.
const MAX_IDLE: usize = 16;

/// The memory of one function's arenas between their uses.
///
/// A block goes back to its allocator when the cache is dropped, when there are more than 16, or when a
/// larger arena or one of another allocator is asked for. Until then it counts against that allocator's
/// budget.
#[derive(Default)]
pub struct ArenaCache(Mutex<Vec<Idle>>);

impl ArenaCache {
    /// An arena of `size` bytes of `below`. Its contents are unspecified.
    ///
    /// # Errors
    /// If `below` refuses the memory.
    pub fn arena(
        self: &Arc<ArenaCache>,
        size: usize,
        below: &Arc<dyn Allocator>,
    ) -> Result<Arc<Arena>, AllocError> {
        let idle = self.idle().pop();
        let memory = match idle {
            Some(idle) if Arc::ptr_eq(&idle.below, below) && idle.memory.size() >= size => idle.memory,
            other => {
                other.into_iter().for_each(Idle::release);
                allocate(size, below)?
            }
        };
        Ok(Arena::of(memory, below, Arc::downgrade(self)))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, memory: Idle) {
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            return idle.push(memory);
        }
        drop(idle);
        memory.release();
    }
}

impl Drop for ArenaCache {
    fn drop(&mut self) {
        std::mem::take(&mut *self.idle()).into_iter().for_each(Idle::release);
    }
}

/// Limit of the places of one allocator: the bits of `used`.
const MAX_PLACES: usize = usize::BITS as usize;

/// An allocator for one step of a plan: a request takes an unused place planned for its size; others go to
/// `rest`.
pub struct Placed {
    arena: Arc<Arena>,
    places: Arc<[Range<usize>]>,
    /// One bit per place that was handed out.
    used: AtomicUsize,
    rest: Arc<dyn Allocator>,
}

impl Placed {
    /// An allocator of these places in the arena; those beyond the 64th are not used.
    pub fn new(arena: Arc<Arena>, places: Arc<[Range<usize>]>, rest: Arc<dyn Allocator>) -> Placed {
        Placed { arena, places, used: AtomicUsize::new(0), rest }
    }
}

impl Allocator for Placed {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        if align <= ALIGNMENT {
            for (i, place) in
                self.places.iter().take(MAX_PLACES).enumerate().filter(|(_, place)| place.len() == size)
            {
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
            Arc::new(Placed::new(arena.clone(), [0..192, 192..384].into(), below.clone()));
        let [a, b, c] = [(); 3].map(|()| Buffer::allocate(128, &first).unwrap());
        assert_eq!((a.address() + 192, leaks.live().blocks), (b.address(), 2));
        let second: Arc<dyn Allocator> =
            Arc::new(Placed::new(arena.clone(), std::iter::once(0..192).collect(), below.clone()));
        let address = a.address();
        a.try_write().unwrap().fill(7);
        let instead = Buffer::allocate(128, &second).unwrap();
        assert_ne!(instead.address(), address);
        drop((a, instead));
        let third: Arc<dyn Allocator> =
            Arc::new(Placed::new(arena.clone(), std::iter::once(0..192).collect(), below.clone()));
        let again = Buffer::allocate(128, &third).unwrap();
        assert_eq!(again.address(), address);
        if cfg!(debug_assertions) {
            assert!(again.try_read().unwrap().iter().all(|&byte| byte == 0xff));
        }
        drop((b, c, again, first, second, third));
        assert_eq!((arena.n_taken(), leaks.live().blocks), (0, 1));
    }

    #[test]
    fn a_cache_keeps_the_memory_of_one_allocator() {
        let leaks = [(); 2].map(|()| Arc::new(LeakCheck::new(Malloc::shared())));
        let [first, second]: [Arc<dyn Allocator>; 2] = [leaks[0].clone(), leaks[1].clone()];
        let live = || [leaks[0].live().blocks, leaks[1].live().blocks];
        let cache = Arc::<ArenaCache>::default();
        let address = cache.arena(1024, &first).unwrap().address;
        assert_eq!(live(), [1, 0]);
        let arena = cache.arena(1024, &first).unwrap();
        assert_eq!((arena.address, live()), (address, [1, 0]));
        let part = arena.take(0..64).unwrap();
        drop(arena);
        let beside = cache.arena(1024, &first).unwrap();
        assert_eq!(live(), [2, 0]);
        drop((part, beside));
        let other = cache.arena(1024, &second).unwrap();
        assert_eq!(live(), [1, 1]);
        drop(cache);
        assert_eq!(live(), [0, 1]);
        drop(other);
        assert_eq!(live(), [0, 0]);
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
