//! Operators of ONNX that TensorFlow does not have: elements by index along an axis, windows of any number of
//! spatial axes, and the scales of integers.
//!
//! ```text
//! maximum     d ──ScatterNd──▶ the positions of the maxima
//! average     d / elements of the window ──_Col2Im──▶ all elements of the window
//! p-norm      d / y^(p-1)                ──_Col2Im──▶ all elements of the window, times |x|^(p-1) sign(x)
//! resampled   along each axis, d times the unit matrix resampled
//! windows     `_Im2Col` and `_Col2Im` are each other's
//! ```

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Expands, Rule};
use crate::grad::vjp::{At, Vjp};

use super::scatter::extreme;

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
        Op::_Resize => Rule(resampled),
        Op::_GridSample => Rule(|g| {
            for (i, op) in [Op::_GridSampleGradImage, Op::_GridSampleGradGrid].into_iter().enumerate() {
                if g.wants(i) {
                    g.dx(i, g.op(op, &[g.d(), g.x(0), g.x(1)], &g.common(op, &[])));
                }
            }
        }),
        Op::_Col2Im => Rule(|g| g.dx(0, g.same(Op::_Im2Col, &[g.d(), g.x(2)]))),
        Op::_Im2Col => Rule(|g| {
            let image = g.x(0).shape_as(DType::I64).slice(g.ints_value(&[2]), g.ints_value(&[-1]));
            g.dx(0, g.same(Op::_Col2Im, &[g.d(), image, g.x(1)]));
        }),
        Op::_RoiAlign => Rule(|g| {
            for (i, op) in [Op::_RoiAlignGradImage, Op::_RoiAlignGradRois].into_iter().enumerate() {
                if g.wants(i) {
                    g.dx(i, g.same(op, &[g.d(), g.x(0), g.x(1), g.x(2)]));
                }
            }
        }),
        // Its regions are of whole pixels.
        Op::_MaxRoiPool => Rule(|g| {
            g.dx(0, g.same(Op::_MaxRoiPoolGrad, &[g.d(), g.x(0), g.x(1)]));
            g.dx(1, g.x(1).zeros());
        }),
        Op::_DeformConv => Expands(|g| vec![deformed(g)]),
        _ => return None,
    })
}

/// A convolution with displaced taps, of plain operators: the four pixels around each tap are gathered, their
/// weighted sums are the columns of a product.
///
/// ```text
/// [batch, offset groups, channels each, height * width]
///     ─gather─▶ [batch, offset groups, channels each, taps * windows]
///     ─▶ [batch, groups, channels each * taps, windows] ─filters *─▶ [batch, groups, results each, windows]
/// ```
fn deformed<'g>(g: &'g Vjp<'_, '_>) -> Val<'g> {
    // Positions are not computed in narrow types.
    let wide = if g.x(0).dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let [x, w, offset, bias, mask] = [0, 1, 2, 3, 4].map(|i| g.x(i).cast(wide));
    let [batch, height, width] = [0, 2, 3].map(|axis| x.size(axis));
    let [down, across] = [2, 3].map(|axis| w.size(axis));
    let [rows, columns] = [2, 3].map(|axis| offset.size(axis));
    let groups = g.int_value(g.int("group").unwrap_or(1));
    let offset_groups = g.int_value(g.int("offset_group").unwrap_or(1));
    let (one, rest) = (g.int_value(1), g.int_value(-1));
    let shape = |sizes: &[Val<'g>]| g.op(Op::Pack, sizes, &[]);
    let number =
        |name: &str, i: usize, missing: i64| g.int_value(g.ints(name).get(i).copied().unwrap_or(missing));
    // The position of each tap of each window along an axis: [.., taps down, taps across, rows, columns].
    let positions = |axis: usize, offsets: Val<'g>| {
        let (taps, windows) = ([down, across][axis], [rows, columns][axis]);
        let starts = x.range(windows) * number("strides", axis, 1) - number("pads", axis, 0);
        let steps = x.range(taps) * number("dilations", axis, 1);
        let along = |value: Val<'g>, at: usize| {
            let mut sizes = [one; 4];
            sizes[at] = rest;
            value.reshape(shape(&sizes))
        };
        offsets + (along(starts, 2 + axis) + along(steps, axis)).cast(wide)
    };
    let sizes = [batch, offset_groups, down, across, g.int_value(2), rows, columns];
    let offsets = offset.reshape(shape(&sizes));
    let offsets = g.ops(Op::Unpack, &[offsets], &[("num", At::Int(2)), ("axis", At::Int(4))], 2);
    let (y, x_at) = (positions(0, offsets[0]), positions(1, offsets[1]));
    let pixels = x.reshape(shape(&[batch, offset_groups, rest, height * width]));
    let (top, left) = (y.un(Op::Floor), x_at.un(Op::Floor));
    let (v, u) = (y - top, x_at - left);
    let each = shape(&[batch, offset_groups, rest]);
    let corner = |row: Val<'g>, column: Val<'g>, weight: Val<'g>| {
        let inside = |at: Val<'g>, n: Val<'g>| {
            at.bin(Op::GreaterEqual, at.number(0.0)).bin(Op::LogicalAnd, at.bin(Op::Less, n.cast(wide)))
        };
        let is_inside = inside(row, height).bin(Op::LogicalAnd, inside(column, width));
        let index = |at: Val<'g>| is_inside.select(at, at.number(0.0)).cast(DType::I32);
        let at = (index(row) * width + index(column)).reshape(each);
        let found = g.op(Op::GatherV2, &[pixels, at, g.int_value(3)], &[("batch_dims", At::Int(2))]);
        let found = is_inside.reshape(each).expand(2).select(found, found.number(0.0));
        found * weight.reshape(each).expand(2)
    };
    let above = corner(top, left, (1.0 - v) * (1.0 - u)) + corner(top, left + 1.0, (1.0 - v) * u);
    let below = corner(top + 1.0, left, v * (1.0 - u)) + corner(top + 1.0, left + 1.0, v * u);
    let sampled = (above + below) * mask.reshape(each).expand(2);
    let sampled = sampled.reshape(shape(&[batch, groups, rest, rows * columns]));
    let filters = w.reshape(shape(&[groups, w.size(0).bin(Op::FloorDiv, groups), rest]));
    let sums = g.op(Op::BatchMatMulV2, &[filters, sampled], &[]);
    let y = sums.reshape(shape(&[batch, w.size(0), rows, columns])) + bias.expand(-1).expand(-1);
    y.cast_like(g.x(0))
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

/// The gradient of a tensor resampled along axes, one after the other: along each it was multiplied by a
/// matrix, which is the unit matrix resampled.
fn resampled(g: &Vjp<'_, '_>) {
    let x = g.x(0);
    if !matches!(g.text("keep_aspect_ratio_policy").as_deref(), None | Some("stretch")) {
        return g.refuse("sizes that keep an aspect ratio have no gradient");
    }
    let is_empty = |operand: usize| g.x(operand).dims().map(|dims| dims == [0]);
    let (Some(rank), Some(no_region), Some(no_scales), Some(no_sizes)) =
        (x.rank().map(|rank| rank as i64), is_empty(1), is_empty(2), is_empty(3))
    else {
        return g.refuse("its rank is not known");
    };
    let (axes, scales) = (g.ints("axes"), g.x(2).known_floats());
    let is_crop = g.text("coordinate_transformation_mode").as_deref() == Some("tf_crop_and_resize");
    let mut d = g.d();
    for (i, axis) in axes.iter().map(|axis| axis.rem_euclid(rank)).enumerate() {
        let size = |of: Val<'_>| of.dims().map(|dims| dims[axis as usize]);
        let has_scale = no_scales || scales.as_ref().is_some_and(|scales| scales.get(i) == Some(&1.0));
        if size(x).is_some() && size(x) == size(g.y(0)) && has_scale && !is_crop {
            continue;
        }
        let at = |operand: usize, i: usize| g.x(operand).slice(g.ints_value(&[i as i64]), g.ints_value(&[1]));
        let one = |operand: usize, is_empty: bool| if is_empty { g.x(operand) } else { at(operand, i) };
        let region = if no_region { g.x(1) } else { Val::concat(&[at(1, i), at(1, i + axes.len())], 0) };
        let diagonal = x.op(Op::Fill, &[x.size(axis).expand(0), x.number(1.0)], &[]);
        let operands = [diagonal.un(Op::MatrixDiag), region, one(2, no_scales), one(3, no_sizes)];
        // Without an extrapolation value: beyond the original there is no gradient.
        let attrs = g.common(Op::_Resize, &[("axes", At::Ints(&[0]))]).into_iter();
        let attrs: Vec<_> = attrs.filter(|(name, _)| *name != "extrapolation_value").collect();
        let matrix = g.op(Op::_Resize, &operands, &attrs);
        d = multiplied(g, d, matrix, axis, rank);
    }
    g.dx(0, d);
}

/// The product with a matrix along an axis.
fn multiplied<'g>(g: &'g Vjp<'_, '_>, d: Val<'g>, matrix: Val<'g>, axis: i64, rank: i64) -> Val<'g> {
    if rank == 1 {
        return d.expand(0).matmul(matrix, false, false).reshaped(&[-1]);
    }
    let others = (0..rank).filter(|&other| other != axis);
    let order: Vec<i64> = others.chain([axis]).collect();
    let back: Vec<i64> = (0..rank)
        .map(|i| {
            if i < axis {
                i
            } else if i == axis {
                rank - 1
            } else {
                i - 1
            }
        })
        .collect();
    let turned = d.transpose(g.ints_value(&order)).matmul(matrix, false, false);
    turned.transpose(g.ints_value(&back))
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
        Some("mul") => return factors(g, op, take),
        Some(_) => return extreme(g, take, |x, updates| put(g, op, "add", x, updates)),
    }
    if g.wants(2) {
        g.dx(2, take(g.d()));
    }
}

/// Updates of `x` at the same positions, reduced in another way.
fn put<'g>(g: &'g Vjp<'_, '_>, op: Op, reduction: &str, x: Val<'g>, updates: Val<'g>) -> Val<'g> {
    g.same_but(op, &[x, g.x(1), updates], &[("reduction", At::Str(reduction))])
}

/// An element's derivative is the product of the other factors at its position. For a single zero it is the
/// product of the nonzero factors; at a position with two zeros it is zero.
fn factors<'g>(g: &'g Vjp<'_, '_>, op: Op, take: impl Fn(Val<'g>) -> Val<'g>) {
    let (x, updates, y, d) = (g.x(0), g.x(2), g.y(0), g.d());
    let [x_is_zero, update_is_zero] = [x, updates].map(|value| value.bin(Op::Equal, value.number(0.0)));
    let n_zeros = put(g, op, "add", x_is_zero.cast_like(d), update_is_zero.cast_like(d));
    let without_zeros = put(
        g,
        op,
        "mul",
        x_is_zero.select(x.number(1.0), x),
        update_is_zero.select(updates.number(1.0), updates),
    );
    let d = n_zeros.bin(Op::Greater, n_zeros.number(1.0)).select(d.number(0.0), d);
    if g.wants(0) {
        g.dx(0, d * x_is_zero.select(without_zeros, y.bin(Op::DivNoNan, x)));
    }
    if g.wants(2) {
        let quotient = take(y).bin(Op::DivNoNan, updates);
        g.dx(2, take(d) * update_is_zero.select(take(without_zeros), quotient));
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
