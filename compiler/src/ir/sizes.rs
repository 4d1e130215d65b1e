//! Symbolic sizes of values, as a module keeps them: `build::sizes` finds them.

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

/// Symbols that are multiplied, in order. A symbol is a dimension that was found first.
pub type Symbols = SmallVec<[u32; 2]>;

impl SymbolicSize {
    /// A size that is written in a type.
    pub(crate) fn known(n: i64) -> SymbolicSize {
        SymbolicSize { factor: n.unsigned_abs(), symbols: Symbols::new() }
    }
}

/// The sizes that were asked for, of a module.
#[derive(Debug, Default)]
pub(crate) struct KnownSizes {
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
