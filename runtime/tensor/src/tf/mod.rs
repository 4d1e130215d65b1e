//! TensorFlow's operators on host tensors: plain, correct, for every dtype.
//!
//! Each function carries TensorFlow's name and meaning, allocates its result through the allocator given, and answers a bad operand
//! with a [`crate::TensorError`] that has the shapes in it. They are the oracle of the fast functions in [`crate::math`], fold constants, and
//! serve where speed does not matter.
//!
//! ```text
//! numeric (kinds of numbers) ──▶ unary, binary (tables)          walk (where elements come from) ──▶ movement, create, index
//!                           └──▶ reduce (sums, scans), order      nn (softmax, entropies, normalization, pooling)
//! ```
//!
//! Rules for all: empty tensors give empty results, or the neutral element of a reduction; a negative axis counts from the end;
//! indices out of range are errors that name the index. Nothing is allocated in proportion to a number that is not a shape's.
//!
//! Not here: variables, control flow, strings; matrix products and convolutions (`math`).

mod binary;
mod create;
mod index;
mod movement;
mod nn;
mod numeric;
mod reduce;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth;
mod unary;
mod walk;

pub use binary::{Binary, Compare, add_n, binary, compare, leaky_relu_grad, select};
pub use create::{diag, eye, fill, lin_space, range, shape_of};
pub use index::{
    Scatter, gather_nd, one_hot, scatter_nd, tensor_scatter, unique, unsorted_segment_sum, where_true,
};
pub use movement::{
    PadMode, SliceMasks, broadcast_to, concat, depth_to_space, expand_dims, gather, pack, pad, reshape,
    reverse, roll, slice, space_to_depth, split, split_v, squeeze, strided_slice, tile, transpose, unpack,
};
pub use nn::{
    BatchNorm, Padding, Pool, apply_gradient_descent, batch_norm, batch_norm_grad, batch_norm_training,
    bias_add, bias_add_grad, log_softmax, pool, pool_grad, softmax, softmax_cross_entropy,
    sparse_softmax_cross_entropy,
};
pub use reduce::{Reduce, Scan, arg_extreme, in_top_k, reduce, scan, sort, top_k};
pub use unary::{Test, Unary, bitcast, cast, leaky_relu, test, unary};
