//! Planned memory: the arena of a frame, and the offsets in it of results.
//!
//! ```text
//! %arena = cpu.arena {bytes = 4096}
//! %1 = tf.Conv2D(%x, %w, %arena) {memory = [0, 0, 1088]}   result at 0, 1,088 bytes; not in place
//! %2 = tf.Relu(%1) {memory = [1]}                          in place
//! ```
//!
//! A plan cannot cause errors (`befrost_mem::Arena`): a result that does not fit its place is allocated
//! elsewhere.

use std::ops::Range;
use std::sync::Arc;

use befrost_kernel_api::kernel::{Attr, KernelUse, Prepare, Prepared};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::mem::{Allocator, Arena, ArenaCache, Placed};
use smallvec::SmallVec;

use super::attrs::{MEMORY, ints};
use crate::objects::refused;

/// The type of an arena.
pub(super) const ARENA: &str = "!cpu.arena";

#[derive(Debug)]
struct ArenaValue(Arc<Arena>);

impl Object for ArenaValue {
    const TYPES: &'static [&'static str] = &[ARENA];

    fn display(&self) -> String {
        format!("Arena<{} bytes>", self.0.size())
    }
}

/// The memory that a use of `cpu.arena` keeps from call to call.
#[derive(Default)]
struct KeptMemory(Arc<ArenaCache>);

impl Prepare for KeptMemory {
    fn prepare(_: &KernelUse<'_>) -> Result<KeptMemory, String> {
        Ok(KeptMemory::default())
    }
}

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("cpu.arena", |bytes: Attr<i64>, kept: Prepared<KeptMemory>, cx: &ExecContext| {
        let size = usize::try_from(bytes.0)
            .map_err(|_| KernelError::invalid(format!("an arena of {} bytes", bytes.0)))?;
        let arena = kept.0.0.arena(size, cx.allocator()).map_err(|error| refused(error.into()))?;
        Ok::<_, KernelError>(ArenaValue(arena))
    }));
}

/// The decoded attribute `memory` of a use.
pub(super) struct Memory {
    /// True if an unshared operand may be overwritten by the result.
    pub(super) may_overwrite: bool,
    places: Arc<[Range<usize>]>,
}

impl Memory {
    /// No plan: results are allocated, or overwrite an operand.
    pub(super) fn unplanned() -> Memory {
        Memory { may_overwrite: true, places: Arc::default() }
    }

    pub(super) fn of(site: &KernelUse<'_>) -> Result<Memory, String> {
        let unplanned = Memory::unplanned();
        let Some(list) = site.attr_named(MEMORY).and_then(|attr| ints(&attr)) else { return Ok(unplanned) };
        let Some((&may_overwrite, pairs)) = list.split_first() else { return Ok(unplanned) };
        let (pairs, rest) = pairs.as_chunks::<2>();
        let places: Option<Arc<[Range<usize>]>> = pairs
            .iter()
            .map(|&[at, size]| {
                let at = usize::try_from(at).ok()?;
                Some(at..at.checked_add(usize::try_from(size).ok()?)?)
            })
            .collect();
        match places {
            Some(places) if rest.is_empty() => Ok(Memory { may_overwrite: may_overwrite != 0, places }),
            _ => Err(format!("the attribute 'memory' is {list:?}")),
        }
    }

    /// The allocator of one call, if places are planned; removes the arena from the operands.
    pub(super) fn allocator(
        &self,
        values: &mut SmallVec<[Value; 4]>,
        cx: &ExecContext,
    ) -> Result<Option<Arc<dyn Allocator>>, KernelError> {
        if self.places.is_empty() {
            return Ok(None);
        }
        let last = values.pop();
        let arena = last.as_ref().and_then(|value| value.downcast_ref::<ArenaValue>()).ok_or_else(|| {
            KernelError::invalid("the last operand of an operator with planned memory is no arena")
        })?;
        Ok(Some(Arc::new(Placed::new(arena.0.clone(), self.places.clone(), cx.allocator().clone()))))
    }
}
