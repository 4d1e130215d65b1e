//! Symbolic sizes: which unknown dimensions of values are equal in every execution.
//!
//! ```text
//! %a : tensor<?x128xf32>              N x 128              an argument: a symbol per unknown dimension
//! %b = MatMul(%a, w)                  N x 384              an op: what its shape rule makes of the symbols
//! %c = Reshape(%b, [-1, 12, 32])      N x 12 x 32
//! %d = Reshape(%c, [-1, 32])          12*N x 32            a number times symbols
//! %e = Unique(%d)                     M x 32               a new symbol where nothing is known
//! ```
//!
//! The shape rules of the tensor library compute with numbers, so each rule is evaluated twice, with two
//! different primes in place of each symbol. A dimension of the result whose prime factors are the same
//! number times the same symbols both times has that size. A rule that refuses the primes, such as that of a
//! sum of tensors of two unrelated sizes, gives no information. Primes are far larger than dimensions that
//! are written in programs. For rules that limit a dimension by a number from the program, which may be large
//! ([`LIMITED`]), they are larger than any dimension.
//!
//! Operators that join tensors ([`JOINS`]) fail unless the operands have the same sizes, so their results
//! have the sizes of any operand: those that a program knows, or else those of the first argument or op.
//!
//! The sizes of a value are computed on request, together with those that they depend on, and remembered in
//! the module ([`KnownSizes`]). They stay true when ops are replaced by others with equal results. A pass
//! that requests sizes begins with [`forget`].
//!
//! Not here: shapes in types, which `tf-shape-inference` finds; and relations other than equality.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, MutexGuard, PoisonError};

use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Op, Traits};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::query::{infer, int_list, ints, partial_shape, shape};
use crate::dialects::tf::{self, operator};
use crate::ir::sizes::KnownSizes;
pub use crate::ir::sizes::{SymbolicSize, Symbols};
use crate::ir::{DYNAMIC, Module, OpId, ValueId};

/// The primes that stand for the symbols of an op, in two rounds. The order is reversed, so that a minimum is
/// not the same symbol both times.
const PRIMES: [[u64; 4]; 2] =
    [[1_000_003, 1_100_009, 1_200_007, 1_300_021], [2_300_003, 2_200_013, 2_100_001, 2_000_003]];

/// The same for operators that limit a dimension: beyond any dimension, so that a limit has an effect.
const LARGE: [[u64; 4]; 2] = [
    [8_589_934_609, 8_589_934_621, 8_589_934_627, 8_589_934_631],
    [17_179_869_337, 17_179_869_269, 17_179_869_263, 17_179_869_209],
];

/// The operators whose rules compute the minimum of a dimension and a number from the program.
const LIMITED: [Op; 5] =
    [Op::StridedSlice, Op::Qr, Op::Svd, Op::MatrixDiagPart, Op::CombinedNonMaxSuppression];

/// The operators whose operands have the same sizes, along all axes but one or along those that an attribute
/// names, in every execution that succeeds.
const JOINS: [Op; 4] = [Op::Concat, Op::ConcatV2, Op::Pack, Op::_EnsureSameSizes];

fn table(m: &Module) -> MutexGuard<'_, KnownSizes> {
    m.sizes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets all sizes, since the passes before may have changed values.
pub fn forget(m: &Module) {
    *table(m) = KnownSizes::default();
}

/// The sizes of a value of known rank.
pub fn sizes(m: &Module, value: ValueId) -> Option<Arc<[SymbolicSize]>> {
    let dims = shape(m, value)?;
    if !dims.contains(&DYNAMIC) {
        return Some(dims.iter().map(|&dim| SymbolicSize::known(dim)).collect());
    }
    let mut todo = vec![value];
    let mut begun = FxHashSet::default();
    while let Some(&value) = todo.last() {
        if table(m).of.contains_key(&value) {
            todo.pop();
            continue;
        }
        begun.insert(value);
        let found = match m.defining_op(value) {
            Some(op) => of_result(m, op, value),
            None => Ok(None),
        };
        let found = match found {
            Ok(found) => found,
            // In a loop of a dataflow graph a value depends on itself.
            Err(missing) if missing.iter().all(|value| begun.contains(value)) => None,
            Err(missing) => {
                todo.extend(missing.into_iter().filter(|value| !begun.contains(value)));
                continue;
            }
        };
        remember(m, value, found);
        todo.pop();
    }
    table(m).of.get(&value).cloned()
}

/// The number of elements of a value of known rank: a number times symbols. `None` if it is too large.
pub fn n_elements(m: &Module, value: ValueId) -> Option<(u64, Symbols)> {
    let sizes = sizes(m, value)?;
    let factor = sizes.iter().try_fold(1u64, |n, size| n.checked_mul(size.factor))?;
    let mut symbols: Symbols = sizes.iter().flat_map(|size| size.symbols.iter().copied()).collect();
    symbols.sort_unstable();
    Some((factor, symbols))
}

/// The dimension that a symbol was made for: a value, and an axis.
pub fn anchor(m: &Module, symbol: u32) -> Option<(ValueId, usize)> {
    table(m).anchors.get(symbol as usize).copied()
}

/// True if two values have the same element type and, in every execution, the same shape.
pub fn same_type(m: &Module, a: ValueId, b: ValueId) -> bool {
    a == b || m.cx.element(m.value_type(a)) == m.cx.element(m.value_type(b)) && same_shape(m, a, b)
}

/// True if two values have the same shape in every execution.
pub fn same_shape(m: &Module, a: ValueId, b: ValueId) -> bool {
    if a == b {
        return true;
    }
    let (Some(dims), Some(others)) = (shape(m, a), shape(m, b)) else { return false };
    let is_known = |&dim: &i64| dim != DYNAMIC;
    if dims.iter().all(is_known) && others.iter().all(is_known) {
        return dims == others;
    }
    // Known dimensions are compared first: that is cheap.
    let fits = |(a, b): (&i64, &i64)| a == b || !is_known(a) || !is_known(b);
    dims.len() == others.len() && dims.iter().zip(others).all(fits) && sizes(m, a) == sizes(m, b)
}

/// The sizes of a value, as far as they are found; `None` if nothing is.
type FoundSizes = Option<Vec<Option<SymbolicSize>>>;

/// Records the sizes of a value: its known dimensions, those that were found, and new symbols for the others.
fn remember(m: &Module, value: ValueId, found: FoundSizes) {
    let Some(dims) = shape(m, value) else { return };
    let mut found = found.unwrap_or_default().into_iter();
    let mut known = table(m);
    let sizes = dims.iter().enumerate().map(|(axis, &dim)| match found.next().flatten() {
        _ if dim != DYNAMIC => SymbolicSize::known(dim),
        Some(size) => size,
        None => known.symbol(value, axis),
    });
    let sizes: Arc<[SymbolicSize]> = sizes.collect();
    known.of.insert(value, sizes);
}

/// The sizes of an op's result, as far as they follow from those of other values; `Err` has values whose
/// sizes must be known first.
fn of_result(m: &Module, op: OpId, value: ValueId) -> Result<FoundSizes, Vec<ValueId>> {
    let Some(at) = m.results(op).position(|result| result == value) else { return Ok(None) };
    let Some(row) = tf::row(m, op).filter(|row| !row.has(Traits::LOWERED)) else { return Ok(None) };
    let joined = joined_sizes(m, op)?;
    let round = |primes: &[u64; 4]| -> Result<FoundSizes, Vec<ValueId>> {
        let sample = Sample {
            m,
            primes,
            joined: &joined,
            seen: RefCell::default(),
            is_incomplete: Cell::default(),
            missing: RefCell::default(),
        };
        let operands: Vec<ValueId> = m.operands(op).take(tf::n_data_operands(m, op)).collect();
        let result = if row.has(Traits::PASSING) {
            operands.get(at).map(|&operand| sample.shape(operand))
        } else {
            let attrs = tf::attrs_of(m, op, row.signature());
            let results = infer(m, row, &attrs, &operands, &|value| sample.shape(value));
            results.ok().and_then(|mut results| (at < results.len()).then(|| results.swap_remove(at).shape))
        };
        match sample.missing.take() {
            missing if missing.is_empty() && sample.is_incomplete.get() => Ok(None),
            missing if missing.is_empty() => Ok(result.and_then(|shape| sample.sizes(&shape))),
            missing => Err(missing),
        }
    };
    let rounds = if operator(m, op).is_some_and(|op| LIMITED.contains(&op)) { &LARGE } else { &PRIMES };
    let Some(first) = round(&rounds[0])? else { return Ok(None) };
    let Some(second) = round(&rounds[1])? else { return Ok(None) };
    let both = first.into_iter().zip(second).map(|(a, b)| if a == b { a } else { None });
    Ok(Some(both.collect()))
}

/// Sizes by value.
type SizesOf = FxHashMap<ValueId, Arc<[SymbolicSize]>>;

/// The sizes of the operands of an operator that joins them, as far as they are equal in every execution that
/// succeeds; `Err` has values whose sizes must be known first. Empty for other operators.
fn joined_sizes(m: &Module, op: OpId) -> Result<SizesOf, Vec<ValueId>> {
    let Some(kind) = operator(m, op).filter(|kind| JOINS.contains(kind)) else {
        return Ok(SizesOf::default());
    };
    if kind == Op::_EnsureSameSizes {
        return same_sizes(m, op);
    }
    let n = tf::n_data_operands(m, op);
    let (operands, axis) = match kind {
        Op::Concat => (1..n, Some(0)),
        Op::ConcatV2 => (0..n.saturating_sub(1), n.checked_sub(1)),
        _ => (0..n, None),
    };
    let operands: Vec<ValueId> = operands.map(|i| m.operand(op, i)).collect();
    let ranks = || operands.iter().map(|&value| shape(m, value).map(<[i64]>::len));
    let Some(rank) = ranks().next().flatten().filter(|&rank| ranks().all(|other| other == Some(rank))) else {
        return Ok(SizesOf::default());
    };
    // The axis along which sizes differ.
    let along = match axis.map(|at| ints(m, m.operand(op, at))) {
        None => None,
        Some(Some(at)) => at.first().map(|&at| if at < 0 { at + rank as i64 } else { at }),
        Some(None) => return Ok(SizesOf::default()),
    };
    let known = table(m);
    let mut missing = Vec::new();
    let mut all: Vec<(ValueId, Vec<SymbolicSize>)> = Vec::new();
    for &value in &operands {
        let dims = shape(m, value).unwrap_or_default();
        match known.of.get(&value) {
            Some(sizes) => all.push((value, sizes.to_vec())),
            None if !dims.contains(&DYNAMIC) => {
                all.push((value, dims.iter().map(|&dim| SymbolicSize::known(dim)).collect()));
            }
            None => missing.push(value),
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    // A known number comes first, then the size whose symbols were found first in the program.
    let place = |size: &SymbolicSize| -> Vec<(u32, usize)> {
        size.symbols
            .iter()
            .map(|&symbol| known.anchors[symbol as usize])
            .map(|(v, axis)| (v.0, axis))
            .collect()
    };
    for axis in (0..rank).filter(|&axis| along != Some(axis as i64)) {
        let first = all.iter().map(|(_, sizes)| &sizes[axis]).min_by_key(|size| place(size)).cloned();
        if let Some(first) = first {
            all.iter_mut().for_each(|(_, sizes)| sizes[axis].clone_from(&first));
        }
    }
    Ok(all.into_iter().map(|(value, sizes)| (value, sizes.into())).collect())
}

/// The sizes of the first operand of an `_EnsureSameSizes`, which along some axes are those of the second;
/// `Err` has values whose sizes must be known first.
fn same_sizes(m: &Module, op: OpId) -> Result<SizesOf, Vec<ValueId>> {
    let operands = [m.operand(op, 0), m.operand(op, 1)];
    let known = table(m);
    let found = operands.map(|value| match (known.of.get(&value), shape(m, value)) {
        (Some(sizes), _) => Ok(sizes.to_vec()),
        (None, Some(dims)) if !dims.contains(&DYNAMIC) => {
            Ok(dims.iter().map(|&dim| SymbolicSize::known(dim)).collect())
        }
        (None, Some(_)) => Err(Some(value)),
        (None, None) => Err(None),
    });
    let (mut sizes, like) = match found {
        [Ok(sizes), Ok(like)] => (sizes, like),
        [Err(None), _] | [_, Err(None)] => return Ok(SizesOf::default()),
        missing => return Err(missing.into_iter().filter_map(Result::err).flatten().collect()),
    };
    let axes = |name| int_list(m, op, name).unwrap_or_default();
    for (axis, like_axis) in axes("axes").into_iter().zip(axes("like_axes")) {
        let at = |axis: i64| usize::try_from(axis).ok();
        let other = at(like_axis).and_then(|axis| like.get(axis));
        if let (Some(size), Some(other)) = (at(axis).and_then(|axis| sizes.get_mut(axis)), other) {
            size.clone_from(other);
        }
    }
    Ok([(operands[0], sizes.into())].into_iter().collect())
}

/// Primes in place of symbols.
struct Sample<'m> {
    m: &'m Module,
    primes: &'m [u64; 4],
    /// The sizes of values that the op joins, instead of those that the table has.
    joined: &'m SizesOf,
    /// The symbols that were replaced, parallel to the primes.
    seen: RefCell<SmallVec<[u32; 4]>>,
    /// True if a symbol of an operand was not replaced.
    is_incomplete: Cell<bool>,
    /// Values whose sizes are not known yet.
    missing: RefCell<Vec<ValueId>>,
}

impl Sample<'_> {
    /// The shape of a value with its symbols replaced.
    fn shape(&self, value: ValueId) -> PartialShape {
        let written = partial_shape(self.m, self.m.value_type(value));
        if written.rank().is_none() || written.shape().is_some() {
            return written;
        }
        let table = table(self.m);
        match self.joined.get(&value).or_else(|| table.of.get(&value)) {
            Some(sizes) => {
                let dims: Vec<Option<usize>> = sizes.iter().map(|size| self.number(size)).collect();
                // A rule takes an unknown dimension beside a prime for an equal one. The dimension may be
                // larger: the symbol may stand for 1.
                self.is_incomplete.set(self.is_incomplete.get() || dims.contains(&None));
                PartialShape::new(dims)
            }
            None => {
                self.missing.borrow_mut().push(value);
                written
            }
        }
    }

    /// A size with its symbols replaced; `None` if it is too large, or there are not enough primes.
    fn number(&self, size: &SymbolicSize) -> Option<usize> {
        let mut seen = self.seen.borrow_mut();
        let prime = |&symbol: &u32| {
            let at = seen.iter().position(|&other| other == symbol).unwrap_or_else(|| {
                seen.push(symbol);
                seen.len() - 1
            });
            self.primes.get(at).copied()
        };
        let primes = size.symbols.iter().map(prime).collect::<Option<SmallVec<[u64; 4]>>>()?;
        let number = primes.iter().try_fold(size.factor, |number, &prime| number.checked_mul(prime))?;
        usize::try_from(number).ok()
    }

    /// The sizes that have these numbers, of at least one symbol each.
    fn sizes(&self, shape: &PartialShape) -> FoundSizes {
        let seen = self.seen.borrow();
        let size = |dim: &Option<usize>| {
            let mut factor = u64::try_from((*dim)?).ok().filter(|&number| number > 0)?;
            let mut symbols = Symbols::new();
            for (&symbol, &prime) in seen.iter().zip(self.primes) {
                while factor.is_multiple_of(prime) {
                    factor /= prime;
                    symbols.push(symbol);
                }
            }
            symbols.sort_unstable();
            (!symbols.is_empty()).then_some(SymbolicSize { factor, symbols })
        };
        Some(shape.as_slice()?.iter().map(size).collect())
    }
}
