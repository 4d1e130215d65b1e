//! Operators that gather and scatter by index. Rows of a first axis become slices.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Grad, Slices, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::Gather => Rule(|g| rows(g, g.x(0).size(0))),
        Op::GatherV2 => Rule(gather),
        Op::RaggedGather => Rule(ragged_gather),
        Op::ResourceGather => Rule(|g| match g.int("batch_dims").unwrap_or(0) {
            0 => rows(g, g.x(0).shape().element_at(0)),
            batch => along(g, g.int_value(batch), g.int_value(batch)),
        }),
        Op::GatherNd | Op::ResourceGatherNd => Rule(|g| {
            let (x, indices) = (g.x(0), g.x(1));
            let shape = x.shape_as(indices.dtype());
            g.dx(0, g.op(Op::ScatterNd, &[indices, g.d(), shape], &[]));
        }),
        Op::ScatterNd => Rule(|g| g.dx(1, at(g, g.d(), g.x(0)))),
        Op::ScatterNdNonAliasingAdd | Op::TensorScatterAdd => Rule(|g| {
            g.dx(0, g.d());
            if g.wants(2) {
                g.dx(2, at(g, g.d(), g.x(1)));
            }
        }),
        Op::TensorScatterSub => Rule(|g| {
            g.dx(0, g.d());
            if g.wants(2) {
                g.dx(2, -at(g, g.d(), g.x(1)));
            }
        }),
        Op::TensorScatterUpdate => Rule(|g| {
            if g.wants(0) {
                g.dx(0, g.op(Op::TensorScatterUpdate, &[g.d(), g.x(1), g.x(2).zeros()], &[]));
            }
            if g.wants(2) {
                g.dx(2, at(g, g.d(), g.x(1)));
            }
        }),
        Op::TensorScatterMax | Op::TensorScatterMin => Rule(|g| {
            let indices = g.x(1);
            let add = |x, updates| g.op(Op::TensorScatterAdd, &[x, indices, updates], &[]);
            extreme(g, |value| at(g, value, indices), add);
        }),
        Op::DynamicPartition => Rule(|g| {
            let (x, which) = (g.x(0), g.x(1));
            let numbers = x.range(which.count()).reshape_like(which);
            let operands = [numbers, which];
            let parts = g.ops(
                Op::DynamicPartition,
                &operands,
                &[("num_partitions", At::Int(g.n_y() as i64))],
                g.n_y(),
            );
            let operands: Vec<Val<'_>> = parts.into_iter().chain(g.ds()).collect();
            g.dx(0, g.op(Op::DynamicStitch, &operands, &[]).reshape_like(x));
        }),
        Op::DynamicStitch | Op::ParallelDynamicStitch => Rule(|g| {
            let n = g.n_x() / 2;
            for i in 0..n {
                if g.wants(n + i) {
                    g.dx(n + i, g.d().gather(g.x(i)));
                }
            }
        }),
        Op::SparseToDense => Rule(|g| {
            let indices = match g.x(0).rank() {
                Some(0) => g.x(0).reshaped(&[1, 1]),
                Some(1) => g.x(0).expand(-1),
                _ => g.x(0),
            };
            let values = at(g, g.d(), indices);
            if g.wants(2) {
                g.dx(2, if g.x(2).rank() == Some(0) { values.sum_all() } else { values });
            }
            if g.wants(3) {
                g.dx(3, g.d().sum_all() - values.sum_all());
            }
        }),
        Op::SparseTensorDenseMatMul => Rule(sparse_product),
        _ => return None,
    })
}

/// The gradient of maxima or minima of elements and of updates at positions, which `take` reads and `add`
/// adds to. Those equal to the result share its gradient.
pub(super) fn extreme<'g>(
    g: &'g Vjp<'_, '_>,
    take: impl Fn(Val<'g>) -> Val<'g>,
    add: impl Fn(Val<'g>, Val<'g>) -> Val<'g>,
) {
    let (x, updates, y) = (g.x(0), g.x(2), g.y(0));
    let x_is_it = x.bin(Op::Equal, y).cast_like(g.d());
    let update_is_it = updates.bin(Op::Equal, take(y)).cast_like(g.d());
    let d = g.d() / add(x_is_it, update_is_it);
    if g.wants(0) {
        g.dx(0, d * x_is_it);
    }
    if g.wants(2) {
        g.dx(2, take(d) * update_is_it);
    }
}

/// The slices at vectors of indices.
fn at<'g>(g: &'g Vjp<'_, '_>, value: Val<'g>, indices: Val<'g>) -> Val<'g> {
    g.op(Op::GatherNd, &[value, indices], &[])
}

/// The gradient of the values of a ragged tensor whose rows were gathered: the rows of their positions tell
/// which values went where.
fn ragged_gather(g: &Vjp<'_, '_>) {
    let (values, last) = (g.n_x() - 2, g.n_y() - 1);
    let Some(d) = g.dy(last).filter(|_| g.wants(values)) else { return };
    let n = g.x(values).size(0);
    let splits = (0..values).map(|i| g.x(i));
    let operands: Vec<Val<'_>> = splits.chain([n.range(n), g.x(values + 1)]).collect();
    let ranks = ["OUTPUT_RAGGED_RANK", "PARAMS_RAGGED_RANK"].map(|name| (name, At::Of(name)));
    let positions = g.ops(Op::RaggedGather, &operands, &ranks, last + 1)[last];
    g.dx_any(values, Grad::Slices(Slices { values: d.id, indices: positions.id, rows: n.id }));
}

/// The gradient of the rows that were gathered, as slices; `n` is the number of all rows.
fn rows(g: &Vjp<'_, '_>, n: Val<'_>) {
    if !g.wants(0) {
        return;
    }
    let (indices, d) = (g.x(1), g.d());
    if indices.rank() == Some(1) {
        let slices = Slices { values: d.id, indices: indices.id, rows: n.id };
        return g.dx_any(0, Grad::Slices(slices));
    }
    let flat = indices.reshaped(&[-1]);
    let shape = g.x(0).shape();
    let row = shape.slice(g.ints_value(&[1]), g.ints_value(&[-1]));
    let values = d.reshape(Val::concat(&[flat.count().expand(0), row], 0));
    g.dx_any(0, Grad::Slices(Slices { values: values.id, indices: flat.id, rows: n.id }));
}

fn gather<'g>(g: &'g Vjp<'_, '_>) {
    let (x, indices, axis) = (g.x(0), g.x(1), g.x(2).cast(DType::I32));
    let batch = g.int("batch_dims").unwrap_or(0);
    let from_end = |i: i64, of: Val<'g>| match of.rank() {
        Some(rank) => g.int_value(i + rank as i64),
        None => of.rank_value() + g.int_value(i),
    };
    let batch = if batch < 0 { from_end(batch, indices) } else { g.int_value(batch) };
    let axis = match axis.known_ints().as_deref() {
        Some(&[axis]) if axis < 0 => from_end(axis, x),
        Some(&[axis]) => g.int_value(axis),
        _ => axis.bin(Op::FloorMod, x.rank_value()),
    };
    let is_zero = |value: Val<'_>| value.known_ints().as_deref() == Some(&[0]);
    if is_zero(axis) && is_zero(batch) { rows(g, x.size(0)) } else { along(g, axis, batch) }
}

/// The gradient of slices gathered along an axis, in each element of a batch. The slices are rows of one
/// table.
///
/// ```text
/// d: [batch, before, indices, after] ─▶ [batch * indices, before, after]
///     ─sum by batch and index─▶ [batch * size, before, after] ─▶ [batch, before, size, after]
/// ```
fn along<'g>(g: &'g Vjp<'_, '_>, axis: Val<'g>, batch: Val<'g>) {
    let (x, indices, d) = (g.x(0), g.x(1), g.d());
    // An axis, and its number if that is known.
    let place = |value: Val<'g>| {
        let known = value.known_ints().and_then(|ints| usize::try_from(*ints.first()?).ok());
        (value, known)
    };
    // The number of elements of the axes from one on to another one, or to the last.
    let n = |of: Val<'_>, from: (Val<'g>, Option<usize>), to: Option<(Val<'g>, Option<usize>)>| {
        let known = of.dims().filter(|_| of.element() != Type::Resource).and_then(|dims| {
            let to = to.map_or(Some(dims.len()), |to| to.1)?;
            Some(dims.get(from.1?..to)?.iter().product())
        });
        known.map_or_else(
            || {
                let size = to.map_or(g.int_value(-1), |to| to.0 - from.0);
                let sizes = of.shape().slice(from.0.expand(0), size.expand(0));
                g.op(Op::Prod, &[sizes, g.int_value(0)], &[])
            },
            |n| g.int_value(n),
        )
    };
    let (axis, batch) = (place(axis), place(batch));
    let after_axis = (axis.0 + g.int_value(1), axis.1.map(|axis| axis + 1));
    let (batches, before) = (n(indices, (g.int_value(0), Some(0)), Some(batch)), n(x, batch, Some(axis)));
    let (size, after) = (n(x, axis, Some(after_axis)), n(x, after_axis, None));
    let each = n(indices, batch, None);
    let shape = |sizes: &[Val<'_>]| g.op(Op::Pack, sizes, &[]);
    let turned = |value: Val<'_>| g.x(0).with(value.id).transpose(g.ints_value(&[0, 2, 1, 3]));
    let table = turned(d.reshape(shape(&[batches, before, each, after])));
    let table = table.reshape(shape(&[batches * each, before, after]));
    let first = x.range(batches) * size;
    let numbers = indices.cast(DType::I32).reshape(shape(&[batches, each])) + first.expand(-1);
    let numbers = numbers.reshape((batches * each).expand(0));
    let sums = g.op(Op::UnsortedSegmentSum, &[table, numbers, batches * size], &[]);
    g.dx(0, turned(sums.reshape(shape(&[batches, size, before, after]))).reshape_like(x));
}

/// The gradient of a product with a sparse matrix: by the dense matrix, and by the sparse matrix's values.
fn sparse_product(g: &Vjp<'_, '_>) {
    let (indices, values, shape, b) = (g.x(0), g.x(1), g.x(2), g.x(3));
    let (adj_a, adj_b) = (g.flag("adjoint_a"), g.flag("adjoint_b"));
    if g.wants(3) {
        let attrs = [("adjoint_a", At::Bool(!adj_a))];
        let product = g.op(Op::SparseTensorDenseMatMul, &[indices, values, shape, g.d()], &attrs);
        g.dx(3, if adj_b { product.adjoint() } else { product });
    }
    if g.wants(1) {
        let column = |i: i64| indices.slice(g.ints_value(&[0, i]), g.ints_value(&[-1, 1])).reshaped(&[-1]);
        let (rows, columns) = if adj_a { (column(1), column(0)) } else { (column(0), column(1)) };
        let b = if adj_b { b.adjoint() } else { b };
        let products = g.d().gather(rows) * b.gather(columns).conj();
        let sums = products.sum(g.ints_value(&[-1]), false);
        g.dx(1, if adj_a { sums.conj() } else { sums });
    }
}
