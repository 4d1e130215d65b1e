//! Planned memory: the arena of a frame, and the offsets in it of results.
//!
//! ```text
//! %arena = cpu.arena {bytes = 4096}
//! %1 = tf.Conv2D(%x, %w, %arena) {memory = [0, 0, 1088]}   result at 0, 1,088 bytes; not in place
//! %2 = tf.Relu(%1) {memory = [1]}                          in place
//!
//! %arena = cpu.scaled_arena(%x) {axes = [0], bytes = 4096}  times the rows of %x, S:
//! %1 = tf.Conv2D(%x, %w, %arena) {memory = [0, 64, 1088]}  result at 64*S, 1,024*S + 64 bytes
//! ```
//!
//! The memory of a scaled arena is kept too, for the largest scale since it was last allocated, so calls with
//! different numbers of rows share it. The places of an operator are remembered for one scale.
//!
//! A plan cannot cause errors (`befrost_mem::Arena`): a result that does not fit its place is allocated
//! elsewhere.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use befrost_kernel_api::kernel::{Attr, KernelUse, Prepare, Prepared, RawAttr, Rest};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::mem::{Allocator, Arena, ArenaCache, Placed};
use smallvec::SmallVec;

use super::attrs::{MEMORY, ints};
use super::operands::dense;
use crate::objects::refused;

/// The type of an arena.
pub(super) const ARENA: &str = "!cpu.arena";

/// An arena, and the factor of places in it.
#[derive(Debug)]
struct ArenaValue {
    arena: Arc<Arena>,
    scale: usize,
}

impl Object for ArenaValue {
    const TYPES: &'static [&'static str] = &[ARENA];

    fn display(&self) -> String {
        format!("Arena<{} bytes>", self.arena.size())
    }
}

impl ArenaValue {
    /// An arena of `bytes` times `scale` bytes.
    fn new(bytes: i64, scale: usize, kept: &KeptMemory, cx: &ExecContext) -> Result<ArenaValue, KernelError> {
        let size =
            usize::try_from(bytes).map_err(|_| KernelError::invalid(format!("an arena of {bytes} bytes")))?;
        // Without memory for a plan, results are allocated one by one.
        let size = size.checked_mul(scale).unwrap_or(0);
        let arena = kept.0.arena(size, cx.allocator()).map_err(|error| refused(error.into()))?;
        Ok(ArenaValue { arena, scale })
    }
}

/// The memory that a use of an arena's kernel keeps from call to call.
#[derive(Default)]
struct KeptMemory(Arc<ArenaCache>);

impl Prepare for KeptMemory {
    fn prepare(_: &KernelUse<'_>) -> Result<KeptMemory, String> {
        Ok(KeptMemory::default())
    }
}

/// The same for an arena whose size depends on tensors.
struct ScaledMemory {
    kept: KeptMemory,
    /// For each tensor the axis that is a factor of the size.
    axes: Vec<usize>,
}

impl Prepare for ScaledMemory {
    fn prepare(site: &KernelUse<'_>) -> Result<ScaledMemory, String> {
        let axes = site.attr(0).and_then(|axes| ints(&axes));
        let axes = axes.and_then(|axes| axes.into_iter().map(|axis| usize::try_from(axis).ok()).collect());
        let axes = axes.ok_or("the attribute 'axes' is no list of axes")?;
        Ok(ScaledMemory { kept: KeptMemory::default(), axes })
    }
}

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("cpu.arena", |bytes: Attr<i64>, kept: Prepared<KeptMemory>, cx: &ExecContext| {
        ArenaValue::new(bytes.0, 1, kept.0, cx)
    }));
    registry.add(kernel!(
        "cpu.scaled_arena",
        |_axes: RawAttr<'_>,
         bytes: Attr<i64>,
         scaled: Prepared<ScaledMemory>,
         cx: &ExecContext,
         tensors: Rest<'_, Value>| {
            // A tensor without this axis or in another memory, or a product out of range, leaves the arena
            // empty.
            let ScaledMemory { kept, axes } = scaled.0;
            ArenaValue::new(bytes.0, scale(axes, &tensors).unwrap_or(0), kept, cx)
        }
    ));
}

/// The product of one dimension of each tensor.
fn scale(axes: &[usize], tensors: &Rest<'_, Value>) -> Option<usize> {
    axes.iter().zip(tensors.iter()).try_fold(1usize, |product, (&axis, tensor)| {
        product.checked_mul(*dense(tensor).ok()?.shape().dims().get(axis)?)
    })
}

/// The decoded attribute `memory` of a use.
pub(super) struct Memory {
    /// True if an unshared operand may be overwritten by the result.
    pub(super) may_overwrite: bool,
    places: Places,
    /// The places for the scale of the last call.
    scaled: Mutex<(usize, Places)>,
}

/// Places in an arena.
type Places = Arc<[Range<usize>]>;

/// The size of a buffer's header, which a scale does not multiply.
const HEADER: usize = 64;

impl Memory {
    /// No plan: results are allocated, or overwrite an operand.
    pub(super) fn unplanned() -> Memory {
        Memory::with(true, Arc::default())
    }

    fn with(may_overwrite: bool, places: Places) -> Memory {
        Memory { may_overwrite, scaled: Mutex::new((1, places.clone())), places }
    }

    /// The places times `scale`.
    fn places(&self, scale: usize) -> Places {
        // Another call may be here with another scale: then each makes its own.
        let Ok(mut scaled) = self.scaled.try_lock() else { return self.scaled_by(scale) };
        if scaled.0 != scale {
            *scaled = (scale, self.scaled_by(scale));
        }
        scaled.1.clone()
    }

    fn scaled_by(&self, scale: usize) -> Places {
        // What is out of range is no place in any arena.
        let times = |bytes: usize| bytes.saturating_mul(scale);
        let place = |place: &Range<usize>| {
            let (start, len) = (times(place.start), times(place.len().saturating_sub(HEADER)));
            start..start.saturating_add(len).saturating_add(HEADER)
        };
        self.places.iter().map(place).collect()
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
            Some(places) if rest.is_empty() => Ok(Memory::with(may_overwrite != 0, places)),
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
        let places = if arena.scale == 1 { self.places.clone() } else { self.places(arena.scale) };
        Ok(Some(Arc::new(Placed::new(arena.arena.clone(), places, cx.allocator().clone()))))
    }
}
