//! The fast versions of TensorFlow's operators.
//!
//! ```text
//! tf::name(&x, .., allocator) ─▶ fast::name(x, .., cx) ─┬─▶ simd, matmul, conv     if the dtype is supported
//!                                                        └─▶ reference::name(&x, ..)        otherwise
//! ```
//!
//! A [`Cx`] has the allocator for results and the threads. An operand that may become the result is passed by
//! value, and it is overwritten if it has no other handle; a caller that needs it later passes a clone.
//! Errors are those of the reference, detected before anything is written.
//!
//! Results differ from the reference by rounding only. Functions of f32 are as accurate as
//! [`Function`](crate::simd::Function) states, sines, cosines and powers of f32 and functions of f64 as
//! `simd::Wide`. Sums of f32 products are computed in f32; sums, means and products of f32 are computed in
//! f64. NaN and infinities are those of the reference, but for products of many floats (see [`reduce`]).
//! Results do not depend on the number of workers.
//!
//! ```text
//! elementwise (unary, binary, compare, select, cast) ──▶ rows (traversal of broadcast operands)
//!   f32: simd's functions and arithmetic    others, and comparisons: simd::Native    f64: simd::Wide
//! product (MatMul, BatchMatMul, Einsum)  images (convolutions, poolings)  reduce (with extremes, softmax)
//! norm (biases, batch normalization)        gradients (of images)               movement (transposes)
//! concatenations and slices are the reference's, on several threads
//! ```

mod elementwise;
mod gradients;
mod images;
mod movement;
mod norm;
mod product;
mod reduce;
mod rows;

use std::fmt;
use std::sync::Arc;

pub use elementwise::{add_n, binary, cast, clip_by_value, compare, leaky_relu, map, select, unary};
pub(in crate::tf) use elementwise::{arithmetic_of, function_of, is_square, wide_of};
pub use gradients::{
    avg_pool_grad, conv2d_backprop_filter, conv2d_backprop_input, depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input, max_pool_grad,
};
pub use images::{conv2d, depthwise_conv2d, pool};
pub(in crate::tf) use images::{from_nhwc, to_nhwc};
pub use movement::transpose;
pub use norm::{
    AfterNorm, batch_norm, batch_norm_grad, batch_norm_then, batch_norm_training, batch_norm_training_then,
    bias_add, bias_add_grad,
};
pub(in crate::tf) use product::one_f32;
pub use product::{batch_matmul, einsum, matmul};
pub(super) use reduce::each_row;
pub use reduce::{arg_extreme, l2_loss, log_softmax, reduce, softmax};

pub use super::joins::{concat_on as concat, pack_on as pack};
pub use super::slices::{slice_on as slice, strided_slice_on as strided_slice};

use crate::cache::CACHE;
use crate::interrupt::{STEPS, is_interrupted};

use crate::mem::Allocator;
use crate::parallel::{ADDITIONS_PER_NS, Parallel, PartFn, Serial, in_parts, nanoseconds, parts};

/// The number of elements per block, which stays in the L1 cache.
const BLOCK: usize = CACHE.l1_floats(4);

/// The execution context of an operator: allocator and threads.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    /// The allocator for results and scratch tensors.
    pub allocator: &'a Arc<dyn Allocator>,
    /// The caller's threads.
    pub parallel: &'a dyn Parallel,
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cx")
    }
}

impl<'a> Cx<'a> {
    /// A context that runs on the calling thread.
    pub fn serial(allocator: &'a Arc<dyn Allocator>) -> Cx<'a> {
        Cx { allocator, parallel: &Serial }
    }

    /// Splits `out` into parts of whole units and calls `block(first, part)` for each, until interrupted;
    /// `first` is the position of the part's first element. `cost` is the cost per element in additions.
    pub(in crate::tf) fn parts<T: Send>(
        &self,
        out: &mut [T],
        (unit, cost): (usize, usize),
        block: PartFn<'_, T>,
    ) {
        let unit = unit.max(1);
        // An interruption is checked between pieces only.
        let piece = (STEPS / cost.max(1)).div_ceil(unit).max(1).saturating_mul(unit);
        self.large_parts(out, (unit, cost), &|first, part| {
            for (i, piece) in (0..).step_by(piece).zip(part.chunks_mut(piece)) {
                if i > 0 && is_interrupted() {
                    return;
                }
                block(first + i, piece);
            }
        });
    }

    /// [`Cx::parts`] for a `block` that checks for an interruption itself.
    fn large_parts<T: Send>(&self, out: &mut [T], (unit, cost): (usize, usize), block: PartFn<'_, T>) {
        let unit = unit.max(1);
        let work = nanoseconds(out.len().saturating_mul(cost.max(1)), ADDITIONS_PER_NS);
        let parts = parts(out.len().div_ceil(unit), work, self.parallel);
        in_parts(out, unit, parts, self.parallel, &|units, part| block(units.start * unit, part));
    }
}
