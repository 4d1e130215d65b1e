//! Operators of ONNX that TensorFlow does not have: elements by index along an axis, windows of any number of
//! spatial axes, and the scales of integers.
//!
//! ```text
//! maximum     d ──ScatterNd──▶ the positions of the maxima
//! average     d / elements of the window ──_Col2Im──▶ all elements of the window
//! p-norm      d / y^(p-1)                ──_Col2Im──▶ all elements of the window, times |x|^(p-1) sign(x)
//! ```

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::_GatherElements => Rule(|g| {
            let attrs = [("axis", At::Of("axis")), ("reduction", At::Str("add"))];
            g.dx(0, g.op(Op::_ScatterElements, &[g.x(0).zeros(), g.x(1), g.d()], &attrs));
        }),
        Op::_ScatterElements => Rule(|g| {
            let axis = [("axis", At::Of("axis"))];
            scattered(g, Op::_ScatterElements, |d| g.op(Op::_GatherElements, &[d, g.x(1)], &axis));
        }),
        Op::_ScatterNdReduce => Rule(|g| {
            scattered(g, Op::_ScatterNdReduce, |d| g.op(Op::GatherNd, &[d, g.x(1)], &[]));
        }),
        Op::_MaxPoolWithIndices => Rule(|g| match g.int("storage_order") {
            None | Some(0) => maxima(g, g.y(1)),
            Some(_) => g.refuse("positions in column-major order have no gradient"),
        }),
        Op::_Pool => Rule(|g| match g.text("mode").as_deref() {
            None | Some("max") => {
                let attrs = g.common(Op::_MaxPoolWithIndices, &[]);
                maxima(g, g.ops(Op::_MaxPoolWithIndices, &[g.x(0)], &attrs, 2)[1]);
            }
            Some("average") => {
                let ones = g.x(0).ones();
                let share = g.same(Op::_Pool, &[ones]).bin(Op::DivNoNan, n_elements(g, ones));
                windows(g, g.d() * share, |d| d);
            }
            Some(_) => {
                let (x, power) = (g.x(0), (g.int("p").unwrap_or(2) - 1) as f64);
                let raised = |x: Val<'_>| g.x(0).with(x.id).bin(Op::Pow, x.number(power));
                let d = g.d().bin(Op::DivNoNan, raised(g.y(0)));
                windows(g, d, |d| d * raised(x.un(Op::Abs)) * x.un(Op::Sign));
            }
        }),
        Op::_DequantizeLinear => Rule(dequantized),
        _ => return None,
    })
}

/// The gradient of the scales, to which the numbers are proportional. Integers have none.
fn dequantized(g: &Vjp<'_, '_>) {
    let scale = g.x(1);
    let parts = g.d() * g.same(Op::_DequantizeLinear, &[g.x(0), scale.ones(), g.x(2)]);
    match (scale.dims().as_deref(), g.x(0).rank()) {
        (Some([]), _) => g.dx_sum(1, parts),
        (Some([1]), _) => g.dx(1, parts.sum_all().reshape_like(scale)),
        (Some([_]), Some(rank)) => {
            let (rank, axis) = (rank as i64, g.int("axis").unwrap_or(1));
            let axis = if axis < 0 { axis + rank } else { axis };
            let others: Vec<i64> = (0..rank).filter(|&other| other != axis).collect();
            g.dx(1, parts.sum(g.ints_value(&others), false));
        }
        _ => g.refuse("the rank of its operand is not known"),
    }
}

/// The gradient of updates at positions, which `op` writes and `take` reads.
fn scattered<'g>(g: &'g Vjp<'_, '_>, op: Op, take: impl Fn(Val<'g>) -> Val<'g>) {
    match g.text("reduction").as_deref() {
        Some("add") => g.dx(0, g.d()),
        None | Some("none") => {
            if g.wants(0) {
                g.dx(0, g.same(op, &[g.d(), g.x(1), g.x(2).zeros()]));
            }
        }
        Some(_) => return g.refuse("its `reduction` has no gradient, only those of none and add"),
    }
    if g.wants(2) {
        g.dx(2, take(g.d()));
    }
}

/// The gradient of maxima at positions among all elements.
fn maxima(g: &Vjp<'_, '_>, positions: Val<'_>) {
    let x = g.x(0);
    let (positions, d) = (positions.reshaped(&[-1]).expand(-1), g.d().reshaped(&[-1]));
    let n = x.count().cast(DType::I64).expand(0);
    g.dx(0, g.op(Op::ScatterNd, &[positions, d, n], &[]).reshape_like(x));
}

/// The number of elements of each window, given ones: their 1-norm.
fn n_elements<'g>(g: &'g Vjp<'_, '_>, ones: Val<'g>) -> Val<'g> {
    g.same_but(Op::_Pool, &[ones], &[("mode", At::Str("lp")), ("p", At::Int(1))])
}

/// Adds the gradients `d` of windows to all elements of the windows; `each` makes gradients of the sums.
fn windows<'g>(g: &'g Vjp<'_, '_>, d: Val<'g>, each: impl FnOnce(Val<'g>) -> Val<'g>) {
    let (x, kernel) = (g.x(0), g.ints("kernel_shape"));
    let n_taps: i64 = kernel.iter().product();
    let Some(pads) = pads(g) else {
        return g.refuse("with ceil_mode, gradients need sizes that are known");
    };
    // [batch, channels, windows..] ─▶ [batch, channels, taps, windows] ─▶ [batch, channels * taps, windows]
    let (batch, channels) = (x.size(0).expand(0), x.size(1).expand(0));
    let flat = d.reshape(Val::concat(&[batch, channels, g.ints_value(&[1, -1])], 0));
    let n_windows = flat.size(-1).expand(0);
    let repeated = flat.broadcast(Val::concat(&[batch, channels, g.ints_value(&[n_taps]), n_windows], 0));
    let planes = (x.size(1) * x.int(n_taps)).expand(0);
    let columns = repeated.reshape(Val::concat(&[batch, planes, n_windows], 0));
    let image = x.shape_as(DType::I64).slice(g.ints_value(&[2]), g.ints_value(&[-1]));
    let block = x.ints(&kernel, DType::I64);
    let attrs =
        [("dilations", At::Of("dilations")), ("pads", At::Ints(&pads)), ("strides", At::Of("strides"))];
    let sums = g.op(Op::_Col2Im, &[columns, image, block], &attrs);
    g.dx(0, each(sums.reshape_like(x)));
}

/// The pads with which the last windows end within the padding.
fn pads(g: &Vjp<'_, '_>) -> Option<Vec<i64>> {
    let kernel = g.ints("kernel_shape");
    let n = kernel.len();
    let or = |numbers: Vec<i64>, n: usize, default: i64| {
        if numbers.is_empty() { vec![default; n] } else { numbers }
    };
    let mut pads = or(g.ints("pads"), 2 * n, 0);
    if !g.flag("ceil_mode") {
        return Some(pads);
    }
    let (strides, dilations) = (or(g.ints("strides"), n, 1), or(g.ints("dilations"), n, 1));
    let (sizes, counts) = (g.x(0).dims()?, g.y(0).dims()?);
    for (i, size) in kernel.iter().enumerate() {
        let reach = (counts.get(i + 2)? - 1) * strides.get(i)? + dilations.get(i)? * (size - 1) + 1;
        let beyond = reach - sizes.get(i + 2)? - *pads.get(i)?;
        let after = pads.get_mut(n + i)?;
        *after = beyond.max(*after);
    }
    Some(pads)
}
