//! Storages: values that share memory, their producer and readers.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{OpRow, Traits};
use rustc_hash::FxHashMap;

use super::order::Ancestors;
use crate::build::query::dtype;
use crate::build::sizes::{self, Symbols, same_type};
use crate::device::is_in_other_memory;
use crate::dialects::tf;
use crate::ir::{Module, OpId, ValueId};

/// Size of the header of a buffer.
const HEADER: usize = 64;

/// Limit on planned sizes, so that sums cannot overflow.
const MAX_BYTES: usize = 1 << 40;

/// Ops without a row that read an operand and retain nothing: their results are scalars.
const READ_ONLY: &[&str] = &[tf::BRANCH_INDEX, tf::PREDICATE];

/// The memory of one tensor, or of several in sequence.
pub(super) struct Storage {
    /// The op that writes it first.
    pub(super) maker: usize,
    /// The ops that read or overwrite it.
    pub(super) readers: Vec<usize>,
    /// Size with the buffer's header if all unknown dimensions are 1; 0 if it is not known even so.
    pub(super) bytes: usize,
    /// The unknown dimensions by which the size is multiplied.
    pub(super) scale: Symbols,
    /// True if the value may leave the function or be retained.
    pub(super) escapes: bool,
}

impl Storage {
    /// The ops that must be complete before the memory is reused.
    pub(super) fn events(&self) -> impl Iterator<Item = usize> {
        self.readers.iter().copied().chain([self.maker])
    }

    /// The last of them in program order.
    pub(super) fn last(&self) -> usize {
        self.events().max().unwrap_or(self.maker)
    }

    /// True if it is in the arena.
    pub(super) fn is_placed(&self) -> bool {
        !self.escapes && self.bytes > 0
    }
}

/// The storages of a block.
pub(super) struct Storages {
    all: Vec<Storage>,
    /// The storages that each op writes first, in the order of its results.
    made: FxHashMap<usize, Vec<usize>>,
    in_place: Vec<bool>,
}

/// True if the op's kernel allocates its results in the host's memory. An arena is for one memory: devices
/// with a memory of their own allocate there.
pub(super) fn allocates_results(m: &Module, op: OpId) -> bool {
    let row = tf::row(m, op);
    row.is_some_and(|row| row.has_function() && !row.has(Traits::CONSTANT) && !row.has(Traits::PASSING))
        && !is_in_other_memory(m, op)
}

/// True if values that an op reads may leave the function with its results, or be retained.
pub(super) fn keeps_operands(m: &Module, op: OpId) -> bool {
    let only_reads = tf::row(m, op).is_some_and(|row| row.has(Traits::READS));
    !allocates_results(m, op)
        && !tf::is_passing(m, op)
        && !READ_ONLY.contains(&m.op_name_str(op))
        && !only_reads
}

impl Storages {
    pub(super) fn of(m: &Module, ops: &[OpId], before: &Ancestors) -> Storages {
        let mut all: Vec<Storage> = Vec::new();
        let mut of: FxHashMap<ValueId, usize> = FxHashMap::default();
        let mut made: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let number: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        for (i, &op) in ops.iter().enumerate() {
            let passes = tf::is_passing(m, op);
            let keeps = keeps_operands(m, op);
            for value in m.operands(op) {
                if let Some(&storage) = of.get(&value) {
                    all[storage].readers.push(i);
                    all[storage].escapes |= keeps;
                }
            }
            if passes || tf::row(m, op).is_some_and(|row| row.has(Traits::VIEW)) {
                let n = if passes { tf::n_data_operands(m, op) } else { 1 };
                for (operand, result) in m.operands(op).take(n).zip(m.results(op)) {
                    if let Some(&storage) = of.get(&operand) {
                        of.insert(result, storage);
                    }
                }
            } else if allocates_results(m, op) {
                for result in m.results(op).take(tf::n_data_results(m, op)) {
                    // The arena of a scale is made when the dimensions are known.
                    let is_early = |&symbol: &u32| {
                        let anchor = sizes::anchor(m, symbol).and_then(|(value, _)| m.defining_op(value));
                        anchor.is_none_or(|anchor| number.get(&anchor).is_some_and(|&at| at < i))
                    };
                    let (bytes, scale) = size_of(m, result)
                        .filter(|(_, scale)| scale.iter().all(is_early))
                        .map_or((0, Symbols::new()), |(bytes, scale)| (bytes + HEADER, scale));
                    made.entry(i).or_default().push(all.len());
                    of.insert(result, all.len());
                    all.push(Storage { maker: i, readers: Vec::new(), bytes, scale, escapes: false });
                }
            }
        }
        let mut storages = Storages { all, made, in_place: vec![false; ops.len()] };
        storages.overwrite(m, ops, &of, before);
        storages
    }

    /// Lets ops overwrite dead operands.
    fn overwrite(&mut self, m: &Module, ops: &[OpId], of: &FxHashMap<ValueId, usize>, before: &Ancestors) {
        // The storage that holds the contents of each result that overwrites an operand.
        let mut moved: FxHashMap<usize, usize> = FxHashMap::default();
        for (i, &op) in ops.iter().enumerate() {
            let Some(&[result]) = self.made.get(&i).map(Vec::as_slice) else { continue };
            let may = |at| tf::row(m, op).is_some_and(|row: &OpRow| row.overwrites(at));
            let contents = m.result(op, 0);
            if self.all[result].bytes == 0 || dtype(m, contents) != Some(DType::F32) {
                continue;
            }
            let place = |value: &ValueId| {
                let &storage = of.get(value)?;
                Some(moved.get(&storage).copied().unwrap_or(storage))
            };
            let found = m.operands(op).enumerate().find_map(|(at, value)| {
                let storage = place(&value)?;
                let is_last = |&reader: &usize| reader == i || before.is_before(reader, i);
                let once = m.operands(op).filter(|other| place(other) == Some(storage)).count() == 1;
                let fits = may(at) && once && !self.all[storage].escapes && same_type(m, value, contents);
                (fits && self.all[storage].readers.iter().all(is_last)).then_some(storage)
            });
            let Some(storage) = found else { continue };
            self.in_place[i] = true;
            self.made.remove(&i);
            let readers = std::mem::take(&mut self.all[result].readers);
            self.all[result].bytes = 0;
            let escapes = self.all[result].escapes;
            self.all[storage].readers.extend(readers);
            self.all[storage].escapes |= escapes;
            moved.insert(result, storage);
        }
    }

    /// The storages with a known size that do not escape, in order of creation, with their indices.
    pub(super) fn placed(&self) -> impl Iterator<Item = (usize, &Storage)> {
        self.all.iter().enumerate().filter(|(_, storage)| storage.is_placed())
    }

    /// Indices of the storages that an op writes first.
    pub(super) fn producer_if(&self, op: usize) -> impl Iterator<Item = usize> {
        self.made.get(&op).into_iter().flatten().copied()
    }

    pub(super) fn get(&self, storage: usize) -> &Storage {
        &self.all[storage]
    }

    /// True if the op overwrites an operand.
    pub(super) fn is_in_place(&self, op: usize) -> bool {
        self.in_place[op]
    }
}

/// The number of bytes of a value if all unknown dimensions are 1, and these dimensions.
fn size_of(m: &Module, value: ValueId) -> Option<(usize, Symbols)> {
    let (n, scale) = sizes::n_elements(m, value)?;
    let bytes = dtype(m, value)?.size().checked_mul(usize::try_from(n).ok()?)?;
    (1..=MAX_BYTES).contains(&bytes).then_some((bytes, scale))
}
