//! Sparse and ragged operands.

use super::{count_in, ints_in, of, of_many, shape_in};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, CountAttrs, CountRows, RowPartition};
use crate::{DType, TensorError};

pub(in crate::tf::op) fn sparse_to_dense(attrs: &Attributes<'_>) -> Made {
    let (op, is_checked) = (attrs.op(), attrs.bool("validate_indices")?);
    of(attrs, move |[indices, shape, values, default], m| {
        tf::sparse_to_dense(indices, shape_in(op, "output_shape", shape)?, values, default, is_checked, m)
    })
}

pub(in crate::tf::op) fn sparse_dense_matmul(attrs: &Attributes<'_>) -> Made {
    let (op, is_adjoint) = (attrs.op(), [attrs.bool("adjoint_a")?, attrs.bool("adjoint_b")?]);
    of(attrs, move |[indices, values, shape, b], m| {
        tf::sparse_dense_matmul(indices, values, &ints_in(op, "a_shape", shape)?, b, is_adjoint, m)
    })
}

pub(in crate::tf::op) fn ragged_gather(attrs: &Attributes<'_>) -> Made {
    let (op, n_results) = (attrs.op(), attrs.count("OUTPUT_RAGGED_RANK")?);
    of_many(attrs, 3, move |operands, m| {
        let [splits @ .., values, indices] = operands else {
            return invalid(op, format!("{} operands, expected 3 or more", operands.len()));
        };
        let results = tf::ragged_gather(splits, values, indices, m)?;
        match results.len() == n_results + 1 {
            true => Ok(results),
            false => {
                invalid(op, format!("OUTPUT_RAGGED_RANK is {n_results}, expected {}", results.len() - 1))
            }
        }
    })
}

pub(in crate::tf::op) fn ragged_bincount(attrs: &Attributes<'_>) -> Made {
    let (op, is_binary) = (attrs.op(), attrs.bool("binary_output")?);
    of(attrs, move |[splits, values, size, weights], m| {
        tf::ragged_bincount(splits, values, count_in(op, "size", size)?, weights, is_binary, m)
    })
}

pub(in crate::tf::op) fn ragged_to_tensor(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let form = |name: &String| match name.as_str() {
        "FIRST_DIM_SIZE" => Ok(RowPartition::FirstDimSize),
        "VALUE_ROWIDS" => Ok(RowPartition::ValueRowids),
        "ROW_LENGTHS" => Ok(RowPartition::RowLengths),
        "ROW_SPLITS" => Ok(RowPartition::RowSplits),
        other => invalid(op, format!("there is no partition of rows {other:?}")),
    };
    let forms = attrs.strings("row_partition_types")?.iter().map(form).collect::<Result<Vec<_>, _>>()?;
    of_many(attrs, 3, move |operands, m| {
        let [shape, values, default, partitions @ ..] = operands else {
            return invalid(op, format!("{} operands, expected 4 or more", operands.len()));
        };
        if partitions.len() != forms.len() {
            return invalid(op, format!("{} partitions of {} types", partitions.len(), forms.len()));
        }
        // A scalar shape is unknown: it must be -1.
        let shape = if shape.shape().rank() == 0 { None } else { Some(ints_in(op, "shape", shape)?) };
        let partitions: Vec<_> = forms.iter().copied().zip(partitions.iter().copied()).collect();
        tf::ragged_to_tensor(shape.as_deref(), values, default, &partitions, m).map(|y| vec![y])
    })
}

pub(in crate::tf::op) fn ragged_range(attrs: &Attributes<'_>) -> Made {
    let splits = splits_type(attrs)?;
    of(attrs, move |operands, m| tf::ragged_range(operands, splits, m))
}

/// The type of row splits.
fn splits_type(attrs: &Attributes<'_>) -> Result<DType, TensorError> {
    match attrs.dtype("Tsplits")? {
        dtype @ (DType::I32 | DType::I64) => Ok(dtype),
        dtype => Err(TensorError::Unsupported { op: attrs.op(), dtype }),
    }
}

pub(in crate::tf::op) fn ragged_to_sparse(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of_many(attrs, 2, move |operands, m| match operands {
        [splits @ .., values] => tf::ragged_to_sparse(splits, values, m),
        [] => invalid(op, "no operands".to_owned()),
    })
}

/// The attributes of operators that count.
fn count_attrs(attrs: &Attributes<'_>) -> Result<CountAttrs, TensorError> {
    Ok(CountAttrs {
        min_length: attrs.int("minlength")?,
        max_length: attrs.int("maxlength")?,
        is_binary: attrs.bool("binary_output")?,
        dtype: attrs.dtype("output_type")?,
    })
}

pub(in crate::tf::op) fn dense_counts(attrs: &Attributes<'_>) -> Made {
    let (op, by) = (attrs.op(), count_attrs(attrs)?);
    of(attrs, move |[values, weights], m| tf::sparse_counts(op, values, weights, CountRows::Dense, by, m))
}

pub(in crate::tf::op) fn sparse_counts(attrs: &Attributes<'_>) -> Made {
    let (op, by) = (attrs.op(), count_attrs(attrs)?);
    of(attrs, move |[indices, values, shape, weights], m| {
        tf::sparse_counts(op, values, weights, CountRows::Sparse(indices, shape), by, m)
    })
}

pub(in crate::tf::op) fn ragged_counts(attrs: &Attributes<'_>) -> Made {
    let (op, by) = (attrs.op(), count_attrs(attrs)?);
    of(attrs, move |[splits, values, weights], m| {
        tf::sparse_counts(op, values, weights, CountRows::Ragged(splits), by, m)
    })
}
