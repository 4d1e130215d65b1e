//! [`Memory`]: the memory of a device.

use std::fmt;
use std::sync::Arc;

use befrost_mem::{Allocator, Limited};

/// Identity of a memory within a set of devices. Kernels read values in the memory of their device, and those
/// operands in the host's memory that their signatures name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(pub u16);

impl Space {
    /// The host's memory.
    pub const HOST: Space = Space(0);
}

/// The memory of a device: space, allocator, capacity, bytes in use.
pub struct Memory {
    space: Space,
    own: Option<Own>,
}

struct Own {
    allocator: Arc<dyn Allocator>,
    limited: Arc<Limited>,
    capacity: Option<u64>,
}

impl Memory {
    /// The host's memory, with the allocator of each request.
    pub const HOST: Memory = Memory { space: Space::HOST, own: None };

    /// Memory of `space` from `source`, with a capacity if there is one.
    pub fn new(space: Space, source: Arc<dyn Allocator>, capacity: Option<u64>) -> Memory {
        let budget = capacity.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX);
        let limited = Arc::new(Limited::new(source, budget));
        Memory { space, own: Some(Own { allocator: limited.clone(), limited, capacity }) }
    }

    /// The same memory with the allocator that `around` makes of its own.
    #[must_use]
    pub fn within(self, around: impl FnOnce(Arc<dyn Allocator>) -> Arc<dyn Allocator>) -> Memory {
        let own = self.own.map(|own| Own { allocator: around(own.allocator.clone()), ..own });
        Memory { own, ..self }
    }

    /// Its identity.
    pub fn space(&self) -> Space {
        self.space
    }

    /// The allocator. `None`: that of the request.
    pub fn allocator(&self) -> Option<&Arc<dyn Allocator>> {
        self.own.as_ref().map(|own| &own.allocator)
    }

    /// Its size in bytes, if it is limited.
    pub fn capacity(&self) -> Option<u64> {
        self.own.as_ref()?.capacity
    }

    /// The bytes in use; 0 if it is not counted.
    pub fn bytes_in_use(&self) -> usize {
        self.own.as_ref().map_or(0, |own| own.limited.used())
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({}, {} bytes in use", self.space.0, self.bytes_in_use())?;
        self.capacity().map_or(Ok(()), |capacity| write!(f, " of {capacity}"))?;
        f.write_str(")")
    }
}
