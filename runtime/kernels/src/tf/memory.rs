//! Planned memory: the arena of a frame, and the places in it that a compiler has chosen for results.
//!
//! ```text
//! %arena = cpu.arena {bytes = 4096}
//! %1 = tf.Conv2D(%x, %w, %arena) {memory = [0, 0, 1088]}       not in place; its result at 0, of 1,088 bytes with the buffer's header
//! %2 = tf.Relu(%1) {memory = [1]}                              in place
//! ```
//!
//! The plan is only a plan (`befrost_mem::Arena`): what does not lie where it says, lies elsewhere.

use std::ops::Range;
use std::sync::Arc;

use befrost_kernel_api::kernel::{Attr, KernelUse};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::mem::{Allocator, Arena, Placed};
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

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("cpu.arena", |bytes: Attr<i64>, cx: &ExecContext| {
        let size = usize::try_from(bytes.0)
            .map_err(|_| KernelError::invalid(format!("an arena of {} bytes", bytes.0)))?;
        let arena = Arena::new(size, cx.allocator()).map_err(|error| refused(error.into()))?;
        Ok::<_, KernelError>(ArenaValue(arena))
    }));
}

/// What the attribute `memory` of a use says.
pub(super) struct Memory {
    /// Whether an operand that nobody else has may become the result.
    pub(super) may_overwrite: bool,
    places: Vec<Range<usize>>,
}

impl Memory {
    pub(super) fn of(site: &KernelUse<'_>) -> Result<Memory, String> {
        let unplanned = Memory { may_overwrite: true, places: Vec::new() };
        let Some(list) = site.attr_named(MEMORY).and_then(|attr| ints(&attr)) else { return Ok(unplanned) };
        let Some((&may_overwrite, pairs)) = list.split_first() else { return Ok(unplanned) };
        let (pairs, rest) = pairs.as_chunks::<2>();
        let places: Option<Vec<Range<usize>>> = pairs
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

    /// What serves the requests of one run, if places are planned; takes the arena out of the operands.
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
        Ok(Some(Arc::new(Placed::new(arena.0.clone(), &self.places, cx.allocator().clone()))))
    }
}
