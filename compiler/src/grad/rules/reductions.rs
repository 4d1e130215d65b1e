//! Reductions along axes, running reductions, and the largest elements.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::Sum => Rule(|g| g.dx(0, kept(g, g.d()).broadcast_like(g.x(0)))),
        Op::Mean => Rule(|g| {
            let (x, y) = (g.x(0), g.y(0));
            let d = kept(g, g.d()).broadcast_like(x);
            let n = match (x.known_count(), y.known_count()) {
                (Some(x), Some(y)) => d.number((x / y.max(1)).max(1) as f64),
                _ => x.count().bin(Op::FloorDiv, y.count().bin(Op::Maximum, g.int_value(1))).cast_like(d),
            };
            g.dx(0, d / n);
        }),
        // Elements equal to the result share its gradient.
        Op::Max | Op::Min => Rule(|g| {
            let (x, axes) = (g.x(0), g.x(1));
            let is_it = x.bin(Op::Equal, kept(g, g.y(0))).cast_like(g.d());
            let n = is_it.sum(axes, true);
            g.dx(0, is_it / n * kept(g, g.d()));
        }),
        Op::Prod => Rule(product),
        Op::EuclideanNorm => Rule(|g| {
            let (d, y) = (kept(g, g.d()), kept(g, g.y(0)));
            g.dx(0, g.x(0) / (y / d));
        }),
        Op::Cumsum => Rule(|g| g.dx(0, backwards(g, Op::Cumsum, g.d()))),
        Op::Cumprod => Rule(|g| {
            let out = backwards(g, Op::Cumsum, g.y(0) * g.d());
            g.dx(0, out.bin(Op::DivNoNan, g.x(0)));
        }),
        // The logarithms of positive and of negative gradients, separately.
        Op::CumulativeLogsumexp => Rule(|g| {
            let (x, y, d) = (g.x(0), g.y(0), g.d());
            let part = |sign: f64| {
                let d = if sign < 0.0 { -d } else { d };
                let is_positive = d.bin(Op::Greater, d.number(0.0));
                let log = is_positive.select(d.un(Op::Log), d.number(lowest(d.dtype())));
                (backwards(g, Op::CumulativeLogsumexp, log - y) + x).un(Op::Exp)
            };
            g.dx(0, part(1.0) - part(-1.0));
        }),
        // Elements equal to the selected one share its gradient.
        Op::NthElement => Rule(|g| {
            let is_it = g.x(0).bin(Op::Equal, g.y(0).expand(-1)).cast_like(g.d());
            g.dx(0, is_it / is_it.sum_last().expand(-1) * g.d().expand(-1));
        }),
        // Only by the last operand, as in TensorFlow.
        Op::Betainc => Rule(|g| {
            let (a, b, x, one) = (g.x(0), g.x(1), g.x(2), g.x(2).number(1.0));
            let beta = a.un(Op::Lgamma) + b.un(Op::Lgamma) - (a + b).un(Op::Lgamma);
            let density = (b - one).bin(Op::Xlog1py, -x) + (a - one).bin(Op::Xlogy, x) - beta;
            g.dx(0, a.zeros());
            g.dx(1, b.zeros());
            g.dx_sum(2, g.d() * density.un(Op::Exp));
        }),
        Op::L2Loss => Rule(|g| g.dx(0, g.x(0) * g.d())),
        Op::TopK | Op::TopKV2 => Rule(|g| {
            let Some(d) = g.dy(0) else { return };
            let (x, at) = (g.x(0), g.y(1).cast(DType::I32));
            let (row, n) = (x.size(-1), at.size(-1));
            let leading = x.shape().slice(g.ints_value(&[0]), (x.rank_value() - g.int_value(1)).expand(0));
            let n_rows = g.op(Op::Prod, &[leading, g.int_value(0)], &[]);
            let rows = at.reshape(Val::concat(&[n_rows.expand(0), n.expand(0)], 0));
            let first = rows.range(n_rows) * row;
            let at = (rows + first.expand(-1)).reshaped(&[-1]);
            let flat = d.op(Op::ScatterNd, &[at.expand(-1), d.reshaped(&[-1]), x.count().expand(0)], &[]);
            g.dx(0, flat.reshape_like(x));
        }),
        _ => return None,
    })
}

/// The least finite number.
fn lowest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => -65504.0,
        DType::F64 => f64::MIN,
        DType::BF16 => -3.3895313892515355e38,
        _ => f64::from(f32::MIN),
    }
}

/// A value shaped like the reduction's result, with the reduced axes inserted as axes of size 1.
fn kept<'g>(g: &'g Vjp<'_, '_>, value: Val<'g>) -> Val<'g> {
    let (x, axes) = (g.x(0), g.x(1));
    if g.flag("keep_dims") {
        return value;
    }
    if let (Some(axes), Some(sizes)) = (axes.known_ints(), x.sizes()) {
        let rank = sizes.len() as i64;
        let mut axes: Vec<i64> = axes.iter().map(|&axis| if axis < 0 { axis + rank } else { axis }).collect();
        axes.sort_unstable();
        axes.dedup();
        let sizes: Vec<i64> =
            (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { sizes[axis as usize] }).collect();
        if sizes.iter().filter(|&&size| size < 0).count() <= 1 && !sizes.contains(&0) {
            return value.reshaped(&sizes);
        }
        return axes.iter().fold(value, |value, &axis| value.expand(axis));
    }
    value.reshape(kept_shape(g, x.shape(), axes))
}

/// The sizes in a shape, with 1 for the reduced axes.
pub(super) fn kept_shape<'g>(g: &'g Vjp<'_, '_>, shape: Val<'g>, axes: Val<'g>) -> Val<'g> {
    let rank = shape.size(0);
    let axes = axes.cast(DType::I32).reshaped(&[-1]);
    let axes = (axes + rank).bin(Op::FloorMod, rank);
    let ones = axes.cast_like(shape).ones();
    g.op(Op::DynamicStitch, &[shape.range(rank), axes, shape, ones], &[])
}

/// A running reduction of the opposite direction.
fn backwards<'g>(g: &'g Vjp<'_, '_>, op: Op, value: Val<'g>) -> Val<'g> {
    g.same_but(op, &[value, g.x(1)], &[("reverse", At::Bool(!g.flag("reverse")))])
}

/// Each element's derivative is the product of the others: of those before and those after it, so that zeros
/// are no special case.
fn product(g: &Vjp<'_, '_>) {
    let (x, d) = (g.x(0), kept(g, g.d()).broadcast_like(g.x(0)));
    let (shape, rank) = (x.shape(), x.rank_value());
    let axes = g.x(1).cast(DType::I32).reshaped(&[-1]);
    let reduced = (axes + rank).bin(Op::FloorMod, rank);
    let others = g.ops(Op::ListDiff, &[x.range(rank), reduced], &[], 2)[0];
    let order = Val::concat(&[reduced, others], 0);
    let n = |axes: Val<'_>| {
        shape.op(Op::Prod, &[shape.gather(axes), g.int_value(0)], &[("keep_dims", At::Bool(true))])
    };
    let turned = x.transpose(order);
    let table = turned.reshape(Val::concat(&[n(reduced), n(others)], 0));
    let others_of = |reverse| {
        let attrs = [("exclusive", At::Bool(true)), ("reverse", At::Bool(reverse))];
        table.op(Op::Cumprod, &[table, g.int_value(0)], &attrs).conj()
    };
    let product = (others_of(false) * others_of(true)).reshape_like(turned);
    g.dx(0, (d * product.transpose(order.un(Op::InvertPermutation))).reshape_like(x));
}
