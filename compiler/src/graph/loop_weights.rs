//! `tf-pack-loop-weights`: a matrix with which each iteration of a loop multiplies is packed once.
//!
//! ```text
//! @body(%x, %w):                                    @body(%x, %w):
//!   %y = MatMul(%x, %w)                               %p = _PackMatrix(%w)
//!   return %y, %w                            ──▶      %y = _PackedMatMul(%x, %p)
//!                                                     return %y, %w
//! ```
//!
//! `tf-loop-invariant-code-motion` computes the packed matrix before the loop. A product of few rows, as in a
//! recurrent layer, would spend its time on reading the matrix in rows, or on transposing it.
//!
//! Constants are left to `tf-pack-weights`, and products on devices to these.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::licm::{WhileLoop, each_loop};
use super::pack_weights::MIN_COLUMNS;
use crate::build::Builder;
use crate::build::query::{dims, dtype, flag, has_no_edges};
use crate::device::device_of;
use crate::dialects::tf;
use crate::fold::constant_of;
use crate::ir::{OpId, ValueId};
use crate::pass::licm::IsolatedLoop;
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-pack-loop-weights",
    title: "TFPackLoopWeights",
    summary: "packs matrices that do not change in a loop for the products of its iterations",
    options: &[],
    statistics: &[("num-packed", "Number of products that read packed weights")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    each_loop(r, |r, of| cx.count("num-packed", pack(r, of)));
    r.change()
}

/// Packs the matrices of a loop; returns the number of products that read them.
fn pack(r: &mut Rewriter<'_>, of: &WhileLoop) -> u64 {
    let m = r.ir();
    let outside = of.invariants(m);
    let products: Vec<OpId> = m
        .ops_in(of.body())
        .filter(|&op| {
            tf::operator(m, op) == Some(Op::MatMul)
                && has_no_edges(m, op)
                && device_of(m, op).is_none()
                && !flag(m, op, "transpose_a")
                && dtype(m, m.operand(op, 1)) == Some(DType::F32)
                && outside.get(&m.operand(op, 1)).is_some_and(|&value| constant_of(m, value).is_none())
        })
        .collect();
    products.into_iter().filter(|&op| replace(r, op).is_some()).count() as u64
}

fn replace(r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let m = r.ir();
    let (x, w, result) = (m.operand(op, 0), m.operand(op, 1), m.result(op, 0));
    let is_transposed = flag(m, op, "transpose_b");
    let (k, n) = match *dims(m, w)? {
        [n, k] if is_transposed => (k, n),
        [k, n] => (k, n),
        _ => return None,
    };
    if k == 0 || n < MIN_COLUMNS {
        return None;
    }
    let mut b = Builder::before(r, op);
    let weights = b.op(Op::_PackMatrix, &[w]).bool("transpose", is_transposed).one().ok()?;
    let product: ValueId = b
        .op(Op::_PackedMatMul, &[x, weights])
        .int("contracted", 1)
        .int("num_args", 0)
        .int("num_residuals", 0)
        .ints("shape", &[k, n])
        .like(result)
        .one()
        .ok()?;
    r.replace_op(op, &[product]);
    Some(())
}
