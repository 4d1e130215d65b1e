//! Sparse and ragged operands.

use super::{ints_in, of, of_many, shape_in};
use crate::error::invalid;
use crate::tf;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;

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
