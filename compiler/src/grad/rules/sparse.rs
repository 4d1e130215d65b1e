//! Sparse tensors, and reductions of selected rows by segment. Only values have gradients, not coordinates.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::reductions::kept_shape;
use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::SparseSegmentSum | Op::SparseSegmentSumWithNumSegments => {
            Rule(|g| of_segments(g, Op::SparseSegmentSumGrad))
        }
        Op::SparseSegmentMean | Op::SparseSegmentMeanWithNumSegments => {
            Rule(|g| of_segments(g, Op::SparseSegmentMeanGrad))
        }
        Op::SparseSegmentSqrtN | Op::SparseSegmentSqrtNWithNumSegments => {
            Rule(|g| of_segments(g, Op::SparseSegmentSqrtNGrad))
        }
        Op::SparseSegmentSumGrad => Rule(|g| of_rows(g, Op::SparseSegmentSumWithNumSegments)),
        Op::SparseSegmentMeanGrad => Rule(|g| of_rows(g, Op::SparseSegmentMeanWithNumSegments)),
        Op::SparseSegmentSqrtNGrad => Rule(|g| of_rows(g, Op::SparseSegmentSqrtNWithNumSegments)),
        Op::SparseSegmentSumGradV2 => Rule(|g| of_selected_rows(g, Op::SparseSegmentSumWithNumSegments)),
        Op::SparseSegmentMeanGradV2 => Rule(|g| of_selected_rows(g, Op::SparseSegmentMeanWithNumSegments)),
        Op::SparseSegmentSqrtNGradV2 => Rule(|g| of_selected_rows(g, Op::SparseSegmentSqrtNWithNumSegments)),
        Op::RaggedTensorToSparse => Rule(|g| {
            let Some(last) = g.n_x().checked_sub(1) else { return };
            if let Some(d) = g.dy(1) {
                g.dx(last, d.reshape_like(g.x(last)));
            }
        }),
        Op::RaggedTensorToTensor => Rule(of_padded_rows),
        Op::SparseReorder => Rule(|g| {
            let Some(d) = g.dy(1) else { return };
            let order = d.range(g.x(1).size(0));
            let order = g.ops(Op::SparseReorder, &[g.x(0), order, g.x(2)], &[], 2)[1];
            g.dx(1, d.gather(order.un(Op::InvertPermutation)));
        }),
        Op::SparseSlice => Rule(|g| {
            let Some(d) = g.dy(1) else { return };
            g.dx(1, g.op(Op::SparseSliceGrad, &[d, g.x(0), g.x(3), g.y(0)], &[]));
        }),
        Op::SparseSliceGrad => Rule(|g| {
            let at = g.op(Op::SparseSliceGrad, &[ordinals(g.x(0)), g.x(1), g.x(2), g.x(3)], &[]);
            g.dx(0, sums_at(g.d(), at, g.x(0)));
        }),
        Op::SparseFillEmptyRows => Rule(|g| {
            let Some(d) = g.dy(1) else { return };
            let dxs = g.ops(Op::SparseFillEmptyRowsGrad, &[g.y(3), d], &[], 2);
            g.dx(1, dxs[0]);
            g.dx(3, dxs[1]);
        }),
        // Each default entry has the gradient of the default.
        Op::SparseFillEmptyRowsGrad => Rule(|g| {
            let ds = g.ds();
            let defaults = ds[1].broadcast_like(g.x(1));
            g.dx(1, g.op(Op::TensorScatterUpdate, &[defaults, g.x(0).expand(-1), ds[0]], &[]));
        }),
        Op::SparseAdd => Rule(|g| {
            let Some(d) = g.dy(1) else { return };
            let dxs = g.ops(Op::SparseAddGrad, &[d, g.x(0), g.x(3), g.y(0)], &[], 2);
            g.dx(1, dxs[0]);
            g.dx(4, dxs[1]);
        }),
        Op::SparseAddGrad => Rule(|g| {
            let numbers = ordinals(g.x(0));
            let at = g.ops(Op::SparseAddGrad, &[numbers, g.x(1), g.x(2), g.x(3)], &[], 2);
            let ds = g.ds();
            g.dx(0, sums_at(ds[0], at[0], g.x(0)) + sums_at(ds[1], at[1], g.x(0)));
        }),
        Op::SparseTensorDenseAdd => Rule(|g| {
            if g.wants(1) {
                g.dx(1, g.d().bin(Op::GatherNd, g.x(0)));
            }
            g.dx(3, g.d());
        }),
        Op::SparseDenseCwiseAdd => Rule(|g| {
            g.dx(1, g.d());
            Broadcast::new(g).dx(g, |_| g.d());
        }),
        Op::SparseDenseCwiseMul => Rule(|g| {
            let dense = Broadcast::new(g);
            g.dx(1, g.d() * dense.values(g).conj());
            dense.dx(g, |_| g.d() * g.x(1).conj());
        }),
        Op::SparseDenseCwiseDiv => Rule(|g| {
            let dense = Broadcast::new(g);
            g.dx(1, g.d() / dense.values(g).conj());
            dense.dx(g, |values| -(g.d() * (g.x(1) / (values * values)).conj()));
        }),
        Op::SparseSoftmax => Rule(|g| {
            let (indices, y, d, shape) = (g.x(0), g.y(0), g.d(), g.x(2));
            let last = g.ints_value(&[-1]);
            let sums =
                g.op(Op::SparseReduceSum, &[indices, y * d, shape, last], &[("keep_dims", At::Bool(true))]);
            g.dx(1, g.op(Op::SparseDenseCwiseAdd, &[indices, d, shape, -sums], &[]) * y);
        }),
        Op::SparseReduceSum => Rule(|g| g.dx(1, Reduced::new(g).spread(g.d()))),
        // Entries equal to the result share its gradient.
        Op::SparseReduceMax => Rule(|g| {
            let reduced = Reduced::new(g);
            let is_it = g.x(1).bin(Op::Equal, reduced.spread(g.y(0))).cast_like(g.d());
            let n = g.same(Op::SparseReduceSum, &[g.x(0), is_it, g.x(2), g.x(3)]);
            g.dx(1, is_it / reduced.spread(n) * reduced.spread(g.d()));
        }),
        _ => return None,
    })
}

/// The gradient of a reduction by its rows.
fn of_segments(g: &Vjp<'_, '_>, grad: Op) {
    g.dx(0, g.op(grad, &[g.d(), g.x(1), g.x(2), g.x(0).size(0)], &[]));
}

/// The gradient of a gradient of a reduction: the reduction.
fn of_rows(g: &Vjp<'_, '_>, reduction: Op) {
    g.dx(0, g.op(reduction, &[g.d(), g.x(1), g.x(2), g.x(0).size(0)], &[]));
}

/// [`of_rows`] where only the rows of the sorted distinct indices are there.
fn of_selected_rows(g: &Vjp<'_, '_>, reduction: Op) {
    let (indices, unique) = (g.x(1), g.y(1));
    let at = g.op(Op::LowerBound, &[unique.expand(0), indices.expand(0)], &[]).reshape_like(indices);
    g.dx(0, g.op(reduction, &[g.d(), at, g.x(2), g.x(0).size(0)], &[]));
}

/// The gradients of a ragged tensor's values and of the default behind shorter rows. Padded in the same way,
/// the ordinals of the values say whose each gradient is: 0 is the default's.
fn of_padded_rows(g: &Vjp<'_, '_>) {
    let (d, values, default) = (g.d(), g.x(1), g.x(2));
    let types = g.texts("row_partition_types");
    let n_rows = types.iter().filter(|ty| *ty != "FIRST_DIM_SIZE").count() as i64;
    let outer = d.shape().slice(d.ints(&[0], DType::I32), d.ints(&[1 + n_rows], DType::I32));
    let mut operands = vec![outer, ordinals(values), d.int(0)];
    operands.extend((3..g.n_x()).map(|i| g.x(i)));
    let from = g.same(Op::RaggedTensorToTensor, &operands).reshaped(&[-1]);
    let inner = values.shape().slice(d.ints(&[1], DType::I32), d.ints(&[-1], DType::I32));
    let rows = d.reshape(Val::concat(&[d.ints(&[-1], DType::I32), inner], 0));
    g.dx(1, sums_at(rows, from, values));
    if g.wants(2) {
        let of_default = -from.bin(Op::Minimum, d.int(1));
        let sum = d.op(Op::UnsortedSegmentSum, &[rows, of_default, d.int(1)], &[]).reshape(inner);
        g.dx(2, sum.unbroadcast(default));
    }
}

/// The numbers from 1 of the elements of a vector, or of the rows of a tensor.
fn ordinals<'g>(x: Val<'g>) -> Val<'g> {
    x.op(Op::Range, &[x.int(1), x.size(0) + x.int(1), x.int(1)], &[])
}

/// The sums of `x` by ordinal, for all elements of `all`. The ordinal 0 means none.
fn sums_at<'g>(x: Val<'g>, ordinals: Val<'g>, all: Val<'g>) -> Val<'g> {
    x.op(Op::UnsortedSegmentSum, &[x, ordinals - ordinals.number(1.0), all.size(0)], &[])
}

/// The dense operand of a function of the entries of a sparse tensor.
struct Broadcast<'g> {
    dense: Val<'g>,
    /// The sizes of the dense operand, with leading ones for axes that it lacks.
    sizes: Val<'g>,
    /// For each entry, the coordinates of its element in that shape.
    at: Val<'g>,
}

impl<'g> Broadcast<'g> {
    fn new(g: &'g Vjp<'_, '_>) -> Broadcast<'g> {
        let (at, shape, dense) = (g.x(0), g.x(2), g.x(3));
        let missing = (shape.size(0) - dense.rank_value()).expand(0);
        let ones = g.op(Op::Fill, &[missing, shape.number(1.0)], &[]);
        let sizes = Val::concat(&[ones, dense.shape_as(DType::I64)], 0);
        let repeats = shape.bin(Op::FloorDiv, at_least_one(sizes));
        Broadcast { dense, sizes, at: at.bin(Op::FloorDiv, repeats) }
    }

    /// The element for each entry.
    fn values(&self, g: &'g Vjp<'_, '_>) -> Val<'g> {
        g.op(Op::GatherNd, &[self.dense.reshape(self.sizes), self.at], &[])
    }

    /// Sets the gradient of the dense operand, from the gradients of the elements for the entries.
    fn dx(&self, g: &'g Vjp<'_, '_>, of_entries: impl FnOnce(Val<'g>) -> Val<'g>) {
        if g.wants(3) {
            let d = of_entries(self.values(g));
            let sums = g.op(Op::ScatterNd, &[self.at, d, self.sizes], &[]);
            g.dx(3, sums.reshape_like(self.dense));
        }
    }
}

fn at_least_one(sizes: Val<'_>) -> Val<'_> {
    sizes.bin(Op::Maximum, sizes.number(1.0))
}

/// The result of a reduction of a sparse tensor.
struct Reduced<'g> {
    /// The sizes of the result, with ones for reduced axes.
    sizes: Val<'g>,
    /// For each entry, the coordinates of its result in that shape.
    at: Val<'g>,
}

impl<'g> Reduced<'g> {
    fn new(g: &'g Vjp<'_, '_>) -> Reduced<'g> {
        let (at, shape, axes) = (g.x(0), g.x(2), g.x(3));
        let sizes = kept_shape(g, shape, axes);
        let repeats = shape.bin(Op::FloorDiv, at_least_one(sizes));
        Reduced { sizes, at: at.bin(Op::FloorDiv, repeats) }
    }

    /// For each entry the element of a tensor like the result.
    fn spread(&self, result: Val<'g>) -> Val<'g> {
        result.reshape(self.sizes).bin(Op::GatherNd, self.at)
    }
}
