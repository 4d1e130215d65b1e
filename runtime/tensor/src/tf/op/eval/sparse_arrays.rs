//! Sparse tensors: movement, arithmetic, and reductions of selected rows by segment.

use super::{count_in, int_in, ints_in, of, of_many, owning};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, Binary, SegmentDivisor, SetOperand, SetOperation};
use crate::{Shape, TensorError};

pub(in crate::tf::op) fn sparse_reorder(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[indices, values, shape], m| tf::sparse_reorder(indices, values, shape.num_elements(), m))
}

pub(in crate::tf::op) fn sparse_reshape(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[indices, shape, new_shape], m| {
        let [shape, new_shape] = [ints_in(op, "input_shape", shape)?, ints_in(op, "new_shape", new_shape)?];
        tf::sparse_reshape(indices, &shape, &new_shape, m)
    })
}

pub(in crate::tf::op) fn sparse_concat(attrs: &Attributes<'_>) -> Made {
    let (op, axis) = (attrs.op(), attrs.int("concat_dim")?);
    of_many(attrs, 3, move |operands, m| {
        let n = operands.len() / 3;
        if operands.len() != 3 * n {
            return invalid(op, format!("{} operands, expected three lists of one length", operands.len()));
        }
        let (indices, rest) = operands.split_at(n);
        let (values, shapes) = rest.split_at(n);
        let shapes =
            shapes.iter().map(|shape| ints_in(op, "shapes", shape)).collect::<Result<Vec<_>, _>>()?;
        tf::sparse_concat(axis, indices, values, &shapes, m)
    })
}

pub(in crate::tf::op) fn sparse_split(attrs: &Attributes<'_>) -> Made {
    let (op, n) = (attrs.op(), attrs.count("num_split")?);
    of(attrs, move |[axis, indices, values, shape], m| {
        axis.expect_shape("split_dim", &Shape::scalar())?;
        tf::sparse_split(
            int_in(op, "split_dim", axis)?,
            [indices, values],
            &ints_in(op, "shape", shape)?,
            n,
            m,
        )
    })
}

pub(in crate::tf::op) fn sparse_extreme(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let by = if op == "SparseSparseMaximum" { Binary::Maximum } else { Binary::Minimum };
    of(attrs, move |[a_indices, a_values, a_shape, b_indices, b_values, b_shape], m| {
        let [a_shape, b_shape] = [ints_in(op, "a_shape", a_shape)?, ints_in(op, "b_shape", b_shape)?];
        tf::sparse_extreme(op, by, [a_indices, a_values, b_indices, b_values], [&a_shape, &b_shape], m)
    })
}

pub(in crate::tf::op) fn sparse_softmax(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[indices, values, shape], m| tf::sparse_softmax([indices, values], shape.num_elements(), m))
}

pub(in crate::tf::op) fn sparse_bincount(attrs: &Attributes<'_>) -> Made {
    let (op, is_binary) = (attrs.op(), attrs.bool("binary_output")?);
    of(attrs, move |[indices, values, shape, size, weights], m| {
        let (shape, size) = (ints_in(op, "dense_shape", shape)?, count_in(op, "size", size)?);
        tf::sparse_bincount([indices, values], &shape, size, weights, is_binary, m)
    })
}

pub(in crate::tf::op) fn sparse_slice(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[indices, values, shape, start, size], m| {
        let [shape, start, size] =
            [ints_in(op, "shape", shape)?, ints_in(op, "start", start)?, ints_in(op, "size", size)?];
        tf::sparse_slice([indices, values], &shape, &start, &size, m)
    })
}

pub(in crate::tf::op) fn sparse_slice_grad(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[dy, indices, start, slice], m| {
        tf::sparse_slice_grad(dy, indices, &ints_in(op, "input_start", start)?, slice, m)
    })
}

pub(in crate::tf::op) fn sparse_fill_empty_rows(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[indices, values, shape, default], m| {
        tf::sparse_fill_empty_rows(indices, values, &ints_in(op, "dense_shape", shape)?, default, m)
    })
}

pub(in crate::tf::op) fn sparse_fill_empty_rows_grad(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[map, dy], m| tf::sparse_fill_empty_rows_grad(map, dy, m))
}

pub(in crate::tf::op) fn sparse_reduce(attrs: &Attributes<'_>) -> Made {
    let (op, keep_dims) = (attrs.op(), attrs.bool("keep_dims")?);
    let is_max = op == "SparseReduceMax";
    of(attrs, move |[indices, values, shape, axes], m| {
        let [shape, axes] = [ints_in(op, "input_shape", shape)?, ints_in(op, "reduction_axes", axes)?];
        tf::sparse_reduce(op, is_max, [indices, values], &shape, &axes, keep_dims, m)
    })
}

pub(in crate::tf::op) fn sparse_add(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[a_indices, a_values, a_shape, b_indices, b_values, b_shape, threshold], m| {
        let [a_shape, b_shape] = [ints_in(op, "a_shape", a_shape)?, ints_in(op, "b_shape", b_shape)?];
        let operands = [a_indices, a_values, b_indices, b_values];
        tf::sparse_add(operands, [&a_shape, &b_shape], threshold, m)
    })
}

pub(in crate::tf::op) fn sparse_add_grad(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[dy, a, b, sum], m| {
        Ok([tf::sparse_add_grad(dy, a, sum, m)?, tf::sparse_add_grad(dy, b, sum, m)?])
    })
}

pub(in crate::tf::op) fn sparse_dense_add(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[indices, values, shape, dense], m| {
        tf::sparse_dense_add([indices, values], &ints_in(op, "a_shape", shape)?, dense, m)
    })
}

pub(in crate::tf::op) fn sparse_dense_cwise(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let by = match op {
        "SparseDenseCwiseAdd" => Binary::Add,
        "SparseDenseCwiseMul" => Binary::Mul,
        _ => Binary::Div,
    };
    of(attrs, move |[indices, values, shape, dense], m| {
        tf::sparse_dense_cwise(op, by, [indices, values], &ints_in(op, "sp_shape", shape)?, dense, m)
    })
}

fn divisor(op: &str) -> SegmentDivisor {
    match op.strip_prefix("SparseSegment") {
        Some(op) if op.starts_with("Mean") => SegmentDivisor::Count,
        Some(op) if op.starts_with("SqrtN") => SegmentDivisor::RootOfCount,
        _ => SegmentDivisor::One,
    }
}

pub(in crate::tf::op) fn sparse_segment(attrs: &Attributes<'_>) -> Made {
    let (op, by) = (attrs.op(), divisor(attrs.op()));
    if !op.ends_with("WithNumSegments") {
        return owning(attrs, move |[x, indices, ids], cx| {
            tf::sparse_segment(op, by, [&x, &indices, &ids], None, cx)
        });
    }
    owning(attrs, move |[x, indices, ids, n], cx| {
        tf::sparse_segment(op, by, [&x, &indices, &ids], Some(count_in(op, "num_segments", &n)?), cx)
    })
}

pub(in crate::tf::op) fn sparse_segment_grad(attrs: &Attributes<'_>) -> Made {
    let (op, by) = (attrs.op(), divisor(attrs.op()));
    owning(attrs, move |[dy, indices, ids, n], cx| {
        tf::sparse_segment_grad(op, by, [&dy, &indices, &ids], count_in(op, "output_dim0", &n)?, cx)
    })
}

pub(in crate::tf::op) fn sparse_segment_grad_rows(attrs: &Attributes<'_>) -> Made {
    let (op, by) = (attrs.op(), divisor(attrs.op()));
    owning(attrs, move |[dy, indices, ids, n], cx| {
        let n_rows = count_in(op, "dense_output_dim0", &n)?;
        tf::sparse_segment_grad_rows(op, by, [&dy, &indices, &ids], n_rows, cx)
    })
}

/// The operation of sets that an attribute names, in upper or lower case.
fn set_operator(attrs: &Attributes<'_>) -> Result<SetOperation, TensorError> {
    let name = attrs.string("set_operation")?;
    Ok(match &name.to_ascii_lowercase()[..] {
        "a-b" => SetOperation::FirstWithoutSecond,
        "b-a" => SetOperation::SecondWithoutFirst,
        "intersection" => SetOperation::Intersection,
        "union" => SetOperation::Union,
        _ => {
            let name: String = name.chars().take(32).collect();
            return invalid(attrs.op(), format!("there is no set operation \"{name}\""));
        }
    })
}

pub(in crate::tf::op) fn dense_sets(attrs: &Attributes<'_>) -> Made {
    let (op, by, is_checked) = (attrs.op(), set_operator(attrs)?, attrs.bool("validate_indices")?);
    of(attrs, move |[a, b], m| {
        tf::set_operation(op, by, [SetOperand::Dense(a), SetOperand::Dense(b)], is_checked, m)
    })
}

pub(in crate::tf::op) fn dense_and_sparse_sets(attrs: &Attributes<'_>) -> Made {
    let (op, by, is_checked) = (attrs.op(), set_operator(attrs)?, attrs.bool("validate_indices")?);
    of(attrs, move |[a, indices, values, shape], m| {
        let shape = &ints_in(op, "set2_shape", shape)?;
        let b = SetOperand::Sparse { indices, values, shape };
        tf::set_operation(op, by, [SetOperand::Dense(a), b], is_checked, m)
    })
}

pub(in crate::tf::op) fn sparse_sets(attrs: &Attributes<'_>) -> Made {
    let (op, by, is_checked) = (attrs.op(), set_operator(attrs)?, attrs.bool("validate_indices")?);
    of(attrs, move |[indices, values, shape, other_indices, other_values, other_shape], m| {
        let shape = &ints_in(op, "set1_shape", shape)?;
        let other_shape = &ints_in(op, "set2_shape", other_shape)?;
        let a = SetOperand::Sparse { indices, values, shape };
        let b = SetOperand::Sparse { indices: other_indices, values: other_values, shape: other_shape };
        tf::set_operation(op, by, [a, b], is_checked, m)
    })
}

pub(in crate::tf::op) fn set_size(attrs: &Attributes<'_>) -> Made {
    let (op, is_checked) = (attrs.op(), attrs.bool("validate_indices")?);
    of(attrs, move |[indices, values, shape], m| {
        tf::set_size(indices, values, &ints_in(op, "set_shape", shape)?, is_checked, m)
    })
}
