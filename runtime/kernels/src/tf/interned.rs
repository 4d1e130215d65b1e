//! Operators on tensors of strings that move elements or compare them for equality.
//!
//! ```text
//! strings ──▶ i64 numbers, equal ones for equal strings ──the operator's function──▶ numbers ──▶ strings
//! ```
//!
//! The number of the empty string is 0, so that zeros which an operator adds are empty strings, as in
//! TensorFlow.

use std::collections::HashMap;
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::{collected, no_room, push};
use befrost_tensor::tf::op::{Op, Operands};
use befrost_tensor::{DType, HostTensor, StringTensor};

use super::action::tensor;
use super::operands::dense;
use crate::objects::{Strings, refused};

/// The operators that take strings.
const OPS: &[Op] = &[
    Op::BroadcastTo,
    Op::Concat,
    Op::ConcatV2,
    Op::DenseToDenseSetOperation,
    Op::DenseToSparseSetOperation,
    Op::DynamicPartition,
    Op::DynamicStitch,
    Op::EditDistance,
    Op::EnsureShape,
    Op::Equal,
    Op::ExpandDims,
    Op::Fill,
    Op::Gather,
    Op::GatherNd,
    Op::GatherV2,
    Op::InplaceUpdate,
    Op::ListDiff,
    Op::MirrorPad,
    Op::NotEqual,
    Op::OneHot,
    Op::Pack,
    Op::Pad,
    Op::PadV2,
    Op::ParallelConcat,
    Op::ParallelDynamicStitch,
    Op::RaggedGather,
    Op::RaggedTensorToSparse,
    Op::RaggedTensorToTensor,
    Op::Rank,
    Op::Reshape,
    Op::Reverse,
    Op::ReverseV2,
    Op::Roll,
    Op::Select,
    Op::SelectV2,
    Op::SetSize,
    Op::Shape,
    Op::ShapeN,
    Op::Size,
    Op::Slice,
    Op::SparseConcat,
    Op::SparseFillEmptyRows,
    Op::SparseReorder,
    Op::SparseSlice,
    Op::SparseToDense,
    Op::SparseToSparseSetOperation,
    Op::Split,
    Op::SplitV,
    Op::Squeeze,
    Op::StridedSlice,
    Op::TensorStridedSliceUpdate,
    Op::Tile,
    Op::Transpose,
    Op::Unique,
    Op::UniqueV2,
    Op::UniqueWithCounts,
    Op::UniqueWithCountsV2,
    Op::Unpack,
    Op::ZerosLike,
];

/// The operators whose results are in the order of the strings.
const ORDERED: &[Op] =
    &[Op::DenseToDenseSetOperation, Op::DenseToSparseSetOperation, Op::SparseToSparseSetOperation];

/// The results of an operator that takes strings.
pub(super) struct StringResults {
    /// True for each result that is strings.
    pub(super) are_strings: Vec<bool>,
    /// True if the numbers of strings must have their order.
    pub(super) is_ordered: bool,
}

impl StringResults {
    /// One result, which is strings.
    pub(super) fn one() -> StringResults {
        StringResults { are_strings: vec![true], is_ordered: false }
    }

    /// The results of the operator, if it takes strings.
    pub(super) fn of(op: Option<Op>, are_strings: impl FnOnce() -> Vec<bool>) -> Option<StringResults> {
        let op = op.filter(|op| OPS.contains(op))?;
        Some(StringResults { are_strings: are_strings(), is_ordered: ORDERED.contains(&op) })
    }
}

/// True if any operand is a tensor of strings.
pub(super) fn has_strings(operands: &[Value]) -> bool {
    operands.iter().any(|value| value.downcast_ref::<Strings>().is_some())
}

/// Calls `f` with numbers for strings. Results that are strings of the operator are strings again.
pub(super) fn by_numbers(
    operands: &[Value],
    made: &StringResults,
    allocator: &Arc<dyn Allocator>,
    f: impl FnOnce(Operands) -> Result<Vec<HostTensor>, KernelError>,
) -> Result<Vec<Value>, KernelError> {
    let strings: Vec<Option<&StringTensor>> =
        operands.iter().map(|value| value.downcast_ref::<Strings>().map(|strings| &strings.0)).collect();
    let read = strings.iter().map(|x| x.map(StringTensor::read).transpose());
    let read = read.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let mut texts: Vec<&[u8]> = vec![b""];
    if made.is_ordered {
        // The empty string is the first in the order of strings, too.
        for text in read.iter().flatten().flat_map(|read| read.iter()) {
            push(&mut texts, text).map_err(refused)?;
        }
        texts.sort_unstable();
        texts.dedup();
    }
    let mut numbers: HashMap<&[u8], i64> = HashMap::new();
    numbers.try_reserve(texts.len()).map_err(|_| refused(no_room::<(&[u8], i64)>(texts.len())))?;
    numbers.extend(texts.iter().copied().zip(0..));
    let mut converted = Operands::new();
    for ((value, x), read) in operands.iter().zip(&strings).zip(&read) {
        let (Some(x), Some(read)) = (x, read) else {
            converted.push(dense(value)?.clone());
            continue;
        };
        let all = HostTensor::allocate(DType::I64, x.shape().clone(), allocator).map_err(refused)?;
        for (to, text) in all.write::<i64>().map_err(refused)?.iter_mut().zip(read.iter()) {
            numbers.try_reserve(1).map_err(|_| refused(no_room::<(&[u8], i64)>(texts.len())))?;
            let next = texts.len() as i64;
            *to = *numbers.entry(text).or_insert(next);
            if *to == next {
                push(&mut texts, text).map_err(refused)?;
            }
        }
        converted.push(all);
    }
    let results = f(converted)?;
    let results = results.into_iter().enumerate().map(|(i, result)| {
        if !made.are_strings.get(i).copied().unwrap_or(false) {
            return Ok(tensor(result));
        }
        let numbers = result.read::<i64>()?;
        let chosen = numbers.iter().filter_map(|&number| texts.get(usize::try_from(number).ok()?).copied());
        let chosen = collected(chosen)?;
        let made = StringTensor::new(result.shape().clone(), &chosen, allocator)?;
        Ok(Value::object(Strings(made)))
    });
    results.collect::<Result<_, _>>().map_err(refused)
}
