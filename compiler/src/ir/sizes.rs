//! The table of symbolic sizes of a module's values; `build::sizes` computes them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::ValueId;

/// A size: a number times symbols, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicSize {
    pub(crate) factor: u64,
    pub(crate) symbols: Symbols,
}

/// Symbols that are multiplied, in ascending order. A symbol stands for an unknown dimension.
pub type Symbols = SmallVec<[u32; 2]>;

impl SymbolicSize {
    /// A size that is written in a type.
    pub(crate) fn known(n: i64) -> SymbolicSize {
        SymbolicSize { factor: n.unsigned_abs(), symbols: Symbols::new() }
    }
}

/// The symbolic sizes of a module's values, as far as they were computed.
#[derive(Debug, Default)]
pub(crate) struct KnownSizes {
    /// By value: the size of each dimension.
    pub(crate) of: FxHashMap<ValueId, Arc<[SymbolicSize]>>,
    /// For each symbol the dimension that it was made for.
    pub(crate) anchors: Vec<(ValueId, usize)>,
}

impl KnownSizes {
    /// A new symbol, for a dimension of a value.
    pub(crate) fn symbol(&mut self, value: ValueId, axis: usize) -> SymbolicSize {
        self.anchors.push((value, axis));
        SymbolicSize { factor: 1, symbols: Symbols::from_slice(&[self.anchors.len() as u32 - 1]) }
    }
}
