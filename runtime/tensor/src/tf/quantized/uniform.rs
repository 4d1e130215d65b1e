//! `UniformQuantize` and the `UniformQuantized` operators: integers that stand for `(integer - zero point) *
//! scale`.
//!
//! ```text
//! f32 ─UniformQuantize─▶ i8, ui8, i32 ─UniformQuantizedDot, ..Add─▶ i32 ─UniformDequantize─▶ f32
//! ```
//!
//! Scales and zero points are scalars, or one for each index of an axis. A change of scale multiplies by a
//! fixed-point number of 31 bits and rounds once, in TensorFlow's order, so that the integers are equal.

use crate::error::invalid;
use crate::scratch::{collected, filled, try_collected};
use crate::tf::fast::Cx;
use crate::tf::walk::{broadcast_axes, broadcast_shape, offsets};
use crate::{DType, Element, HostTensor, Ref, Shape, TensorError};

/// The scales and zero points of a tensor in an operator's operands.
#[derive(Clone, Copy, Debug)]
pub struct UniformOperands<'a> {
    /// The scales.
    pub scales: &'a HostTensor,
    /// The zero points.
    pub zero_points: &'a HostTensor,
    /// The axis that they belong to; `None` if there is one for all elements.
    pub axis: Option<usize>,
}

/// Scales and zero points for the elements of a tensor.
struct Uniform<'a> {
    scales: Ref<'a, f32>,
    zero_points: Ref<'a, i32>,
    /// The number of neighbouring elements with the same ones.
    inner: usize,
}

impl<'a> UniformOperands<'a> {
    /// The scales and zero points for a tensor of this shape.
    fn of(&self, op: &'static str, shape: &Shape) -> Result<Uniform<'a>, TensorError> {
        let (scales, zero_points) = (self.scales.shape(), self.zero_points.shape());
        let is_valid = scales == zero_points
            && match self.axis {
                None => scales.rank() == 0,
                Some(axis) => shape.dims().get(axis).is_some_and(|&n| *scales.dims() == [n]),
            };
        if !is_valid {
            let problem = format!("scales of shape {scales}, zero points of shape {zero_points}");
            return invalid(op, format!("{problem}, axis {:?} of a tensor of shape {shape}", self.axis));
        }
        let after = self.axis.map_or(&[][..], |axis| &shape.dims()[axis + 1..]);
        Ok(Uniform {
            scales: self.scales.read_as::<f32>("scales")?,
            zero_points: self.zero_points.read_as::<i32>("zero_points")?,
            inner: after.iter().product::<usize>().max(1),
        })
    }

    /// [`UniformOperands::of`], with positive scales.
    fn positive(&self, op: &'static str, shape: &Shape) -> Result<Uniform<'a>, TensorError> {
        let uniform = self.of(op, shape)?;
        match uniform.scales.iter().all(|&scale| scale > 0.0) {
            true => Ok(uniform),
            false => invalid(op, "the scales must be positive".to_owned()),
        }
    }

    /// For the columns of a matrix, or for all of it if the scales are a scalar.
    fn columns(&self) -> UniformOperands<'a> {
        UniformOperands { axis: (self.scales.shape().rank() > 0).then_some(1), ..*self }
    }
}

impl Uniform<'_> {
    /// The index of the scale of an element.
    fn index(&self, at: usize) -> usize {
        at / self.inner % self.scales.len().max(1)
    }

    /// The scale and the zero point at an index; the only ones at any index.
    fn get(&self, index: usize) -> (f32, i32) {
        let index = index.min(self.scales.len() - 1);
        (self.scales[index], self.zero_points[index])
    }
}

/// The ends of the integers of a result.
pub type UniformLimits = (i32, i32);

/// A positive number as a 31-bit fraction and a power of two.
#[derive(Clone, Copy)]
struct ScaleChange {
    fraction: i64,
    shift: i32,
}

impl ScaleChange {
    fn new(op: &'static str, x: f64) -> Result<ScaleChange, TensorError> {
        if !x.is_finite() || x <= 0.0 {
            return invalid(op, format!("a change of scale by {x}"));
        }
        // x = part * 2^exponent, with part in [0.5, 1).
        let exponent = (x.log2().floor() as i32).clamp(-1070, 1030) + 1;
        let part = |exponent: i32| x * 2f64.powi(-exponent / 2) * 2f64.powi(-exponent - -exponent / 2);
        let exponent = match part(exponent) {
            part if part >= 1.0 => exponent + 1,
            part if part < 0.5 => exponent - 1,
            _ => exponent,
        };
        let fraction = (part(exponent) * f64::from(1u32 << 31)).round() as i64;
        let (fraction, exponent) =
            if fraction == 1 << 31 { (fraction / 2, exponent + 1) } else { (fraction, exponent) };
        Ok(match exponent {
            ..-31 => ScaleChange { fraction: 0, shift: 0 },
            -31..=30 => ScaleChange { fraction, shift: exponent },
            31.. => ScaleChange { fraction: (1 << 31) - 1, shift: 30 },
        })
    }

    /// The product, rounded once and clamped to an i32.
    fn times(self, x: i32) -> i32 {
        let shift = 31 - self.shift;
        let product = (i64::from(x) * self.fraction + (1i64 << (shift - 1))) >> shift;
        product.clamp(i32::MIN.into(), i32::MAX.into()) as i32
    }

    /// An integer without a zero point in another scale, with the zero point there, within limits.
    fn moved(self, x: i32, zero_point: i32, (low, high): UniformLimits) -> i32 {
        self.times(x).wrapping_add(zero_point).min(high).max(low)
    }
}

/// The integers of a quantized tensor.
fn integers(op: &'static str, x: &HostTensor) -> Result<Vec<i32>, TensorError> {
    match x.dtype() {
        DType::I8 => collected(x.read::<i8>()?.iter().map(|&x| x.into())),
        DType::UI8 => collected(x.read::<u8>()?.iter().map(|&x| x.into())),
        DType::I32 => collected(x.read::<i32>()?.iter().copied()),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// A tensor of integers, which keep their lowest bits.
fn stored(
    op: &'static str,
    shape: Shape,
    integers: impl Iterator<Item = i32>,
    dtype: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    fn filled_with<T: Element>(
        shape: Shape,
        integers: impl Iterator<Item = i32>,
        cut: impl Fn(i32) -> T,
        cx: &Cx<'_>,
    ) -> Result<HostTensor, TensorError> {
        let out = HostTensor::zeros(T::DTYPE, shape, cx.allocator)?;
        out.write::<T>()?.iter_mut().zip(integers).for_each(|(out, x)| *out = cut(x));
        Ok(out)
    }
    match dtype {
        DType::I8 => filled_with(shape, integers, |x| x as i8, cx),
        DType::UI8 => filled_with(shape, integers, |x| x as u8, cx),
        DType::I32 => filled_with(shape, integers, |x| x, cx),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// The integer for a number. Numbers out of range become the lowest one, as on x86.
fn quantized(x: f32, inverse: f32, zero_point: i32, (low, high): UniformLimits) -> i32 {
    let level = (x * inverse + 0.5).floor();
    let level = if (-2147483648.0..2147483648.0).contains(&level) { level as i32 } else { i32::MIN };
    level.wrapping_add(zero_point).min(high).max(low)
}

/// `UniformQuantize`: the integers for numbers.
pub fn uniform_quantize(
    x: &HostTensor,
    by: &UniformOperands<'_>,
    limits: UniformLimits,
    to: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "UniformQuantize";
    let (uniform, x_) = (by.of(op, x.shape())?, x.read_as::<f32>("input")?);
    let level = |(at, &x): (usize, &f32)| {
        let (scale, zero_point) = uniform.get(uniform.index(at));
        quantized(x, 1.0 / scale, zero_point, limits)
    };
    stored(op, x.shape().clone(), x_.iter().enumerate().map(level), to, cx)
}

/// `UniformDequantize`: the numbers for integers.
pub fn uniform_dequantize(
    x: &HostTensor,
    by: &UniformOperands<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "UniformDequantize";
    let (uniform, levels) = (by.of(op, x.shape())?, integers(op, x)?);
    let out = HostTensor::zeros(DType::F32, x.shape().clone(), cx.allocator)?;
    for (at, (out, level)) in out.write::<f32>()?.iter_mut().zip(levels).enumerate() {
        let (scale, zero_point) = uniform.get(uniform.index(at));
        *out = level.wrapping_sub(zero_point) as f32 * scale;
    }
    Ok(out)
}

/// The integers of a tensor in another scale, with the given zero points there.
fn rescaled(
    op: &'static str,
    levels: &[i32],
    [from, to]: [&Uniform<'_>; 2],
    zero_points: Option<&[i32]>,
    limits: UniformLimits,
) -> Result<Vec<i32>, TensorError> {
    let n = from.scales.len().max(to.scales.len());
    let factors = try_collected(
        (0..n).map(|i| ScaleChange::new(op, f64::from(from.get(i).0) / f64::from(to.get(i).0))),
    )?;
    let wider = if from.scales.len() == n { from } else { to };
    collected(levels.iter().enumerate().map(|(at, level)| {
        let i = wider.index(at);
        let zero_point = zero_points.map_or(0, |all| all[i.min(all.len() - 1)]);
        factors[i].moved(level.wrapping_sub(from.get(i).1), zero_point, limits)
    }))
}

fn expect_one_axis(op: &'static str, a: Option<usize>, b: Option<usize>) -> Result<(), TensorError> {
    match a.zip(b) {
        Some((a, b)) if a != b => {
            invalid(op, format!("scales of the axes {a} and {b}, counted from one end"))
        }
        _ => Ok(()),
    }
}

/// `UniformRequantize`: the integers for the same numbers with other scales and zero points.
pub fn uniform_requantize(
    x: &HostTensor,
    [from, to]: [&UniformOperands<'_>; 2],
    limits: UniformLimits,
    dtype: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "UniformRequantize";
    expect_one_axis(op, from.axis, to.axis)?;
    let (from, to) = (from.positive(op, x.shape())?, to.positive(op, x.shape())?);
    let found = rescaled(op, &integers(op, x)?, [&from, &to], Some(&to.zero_points), limits)?;
    stored(op, x.shape().clone(), found.into_iter(), dtype, cx)
}

/// `UniformQuantizedClipByValue`: integers clamped to ends of the shape of the scales.
pub fn uniform_clip(
    x: &HostTensor,
    [low, high]: [&HostTensor; 2],
    by: &UniformOperands<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "UniformQuantizedClipByValue";
    let uniform = by.of(op, x.shape())?;
    low.expect_shape("min", by.scales.shape())?;
    high.expect_shape("max", by.scales.shape())?;
    let (levels, low, high) = (integers(op, x)?, low.read_as::<i32>("min")?, high.read_as::<i32>("max")?);
    let clipped = |(at, x): (usize, i32)| {
        let i = uniform.index(at);
        x.max(low[i]).min(high[i])
    };
    stored(op, x.shape().clone(), levels.into_iter().enumerate().map(clipped), x.dtype(), cx)
}

/// `UniformQuantizedAdd`: the sums of integers, with the scales and zero points of the result. Shapes
/// broadcast.
pub fn uniform_add(
    [a, b]: [&HostTensor; 2],
    [by_a, by_b, by_out]: [&UniformOperands<'_>; 3],
    (low, high): UniformLimits,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "UniformQuantizedAdd";
    b.expect_dtype("rhs", a.dtype())?;
    let shape = broadcast_shape(a.shape(), b.shape())?;
    let from_end = |x: &Shape, by: &UniformOperands<'_>| by.axis.map(|axis| x.rank().wrapping_sub(axis));
    let end = from_end(&shape, by_out);
    expect_one_axis(op, from_end(a.shape(), by_a), end)?;
    expect_one_axis(op, from_end(b.shape(), by_b), end)?;
    let (of_a, of_b) = (by_a.positive(op, a.shape())?, by_b.positive(op, b.shape())?);
    let of_out = by_out.positive(op, &shape)?;
    let (x, y) = (integers(op, a)?, integers(op, b)?);
    if shape.num_elements() == 0 {
        return stored(op, shape, std::iter::empty(), a.dtype(), cx);
    }
    let factors = |of: &Uniform<'_>| {
        let n = of.scales.len().max(of_out.scales.len());
        let factor = |i| ScaleChange::new(op, f64::from(of.get(i).0) / f64::from(of_out.get(i).0));
        try_collected((0..n).map(factor))
    };
    let (by_a, by_b) = (factors(&of_a)?, factors(&of_b)?);
    // Where both have an axis of scales, the indices are equal, or one is that of the only element.
    let moved = |of: &Uniform<'_>, by: &[ScaleChange], x: i32, at: usize, out: usize| {
        let i = of.index(at);
        by[i.max(out).min(by.len() - 1)].moved(x.wrapping_sub(of.get(i).1), 0, (i32::MIN, i32::MAX))
    };
    let axes = broadcast_axes(a.shape(), b.shape(), &shape);
    let places = offsets(&axes, |axis| axis.a).zip(offsets(&axes, |axis| axis.b));
    let sums = places.enumerate().map(|(at, (i, j))| {
        let out = of_out.index(at);
        let (x, y) = (moved(&of_a, &by_a, x[i], i, out), moved(&of_b, &by_b, y[j], j, out));
        x.wrapping_add(y).wrapping_add(of_out.get(out).1).min(high).max(low)
    });
    stored(op, shape, sums, a.dtype(), cx)
}

/// The rows, the inner size and the columns of a product of matrices of i8.
fn sizes(op: &'static str, a: &Shape, b: &Shape) -> Result<[usize; 3], TensorError> {
    match (a.dims(), b.dims()) {
        (&[rows, inner], &[n, columns]) if n == inner => Ok([rows, inner, columns]),
        _ => invalid(op, format!("the product of matrices of shapes {a} and {b}")),
    }
}

/// The sums of products of matrices of integers without their zero points, which wrap around as i32.
fn products(
    [rows, inner, columns]: [usize; 3],
    (x, zero_of_row): (&[i32], impl Fn(usize) -> i32),
    (y, of_columns): (&[i32], &Uniform<'_>),
) -> Result<Vec<i32>, TensorError> {
    let mut sums = filled(rows * columns, 0i32)?;
    for (row, sums) in sums.chunks_exact_mut(columns.max(1)).enumerate() {
        for k in 0..inner {
            let x = x[row * inner + k].wrapping_sub(zero_of_row(row));
            for (column, (sum, &y)) in sums.iter_mut().zip(&y[k * columns..][..columns]).enumerate() {
                *sum = sum.wrapping_add(x.wrapping_mul(y.wrapping_sub(of_columns.get(column).1)));
            }
        }
    }
    Ok(sums)
}

/// `UniformQuantizedDot`: the product of matrices of i8, with the scales and zero points of the result.
pub fn uniform_dot(
    [a, b]: [&HostTensor; 2],
    [by_a, by_b, by_out]: [&UniformOperands<'_>; 3],
    limits: UniformLimits,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "UniformQuantizedDot";
    a.expect_dtype("lhs", DType::I8)?;
    b.expect_dtype("rhs", DType::I8)?;
    let [rows, inner, columns] = sizes(op, a.shape(), b.shape())?;
    let shape = Shape::new(&[rows, columns])?;
    let of_a = UniformOperands { axis: None, ..*by_a }.positive(op, a.shape())?;
    let (of_b, of_out) = (by_b.columns().positive(op, b.shape())?, by_out.columns().positive(op, &shape)?);
    if by_b.columns().axis.is_none() && by_out.columns().axis.is_some() {
        return invalid(op, "one scale of `rhs`, but many of the result".to_owned());
    }
    let (scale, zero_point) = of_a.get(0);
    let (x, y) = (integers(op, a)?, integers(op, b)?);
    let sums = products([rows, inner, columns], (&x, |_| zero_point), (&y, &of_b))?;
    let factor =
        |i| ScaleChange::new(op, f64::from(scale) * f64::from(of_b.get(i).0) / f64::from(of_out.get(i).0));
    let factors = try_collected((0..columns).map(factor))?;
    let found = sums.iter().enumerate().map(|(at, &sum)| {
        let column = at % columns;
        factors[column].moved(sum, of_out.get(column).1, limits)
    });
    stored(op, shape, found, DType::I32, cx)
}

/// `UniformQuantizedDotHybrid`: the product of a matrix of f32, whose rows are quantized to i8 each, with a
/// matrix of i8.
pub fn uniform_dot_hybrid(
    a: &HostTensor,
    b: &HostTensor,
    by_b: &UniformOperands<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "UniformQuantizedDotHybrid";
    b.expect_dtype("rhs", DType::I8)?;
    let [rows, inner, columns] = sizes(op, a.shape(), b.shape())?;
    let (given, of_b) = (a.read_as::<f32>("lhs")?, by_b.columns().positive(op, b.shape())?);
    let mut levels = filled(given.len(), 0i32)?;
    let mut of_rows = filled(rows, (1.0f32, 0i32))?;
    for ((x, levels), of_row) in
        given.chunks_exact(inner.max(1)).zip(levels.chunks_exact_mut(inner.max(1))).zip(&mut of_rows)
    {
        *of_row = quantize_row(x, levels);
    }
    let sums =
        products([rows, inner, columns], (&levels, |row: usize| of_rows[row].1), (&integers(op, b)?, &of_b))?;
    let out = HostTensor::zeros(DType::F32, Shape::new(&[rows, columns])?, cx.allocator)?;
    for (at, (out, sum)) in out.write::<f32>()?.iter_mut().zip(sums).enumerate() {
        *out = sum as f32 * of_rows[at / columns].0 * of_b.get(at % columns).0;
    }
    Ok(out)
}

/// Quantizes numbers to all i8, such that 0 is an integer. Returns the scale and the zero point.
fn quantize_row(x: &[f32], levels: &mut [i32]) -> (f32, i32) {
    const ENDS: (f64, f64) = (-128.0, 127.0);
    let end = |by: fn(f32, f32) -> f32| f64::from(x.iter().copied().fold(0.0, by));
    let (low, high) = (end(f32::min), end(f32::max));
    let scale = ((high - low) / (ENDS.1 - ENDS.0)) as f32;
    let inverse = ((ENDS.1 - ENDS.0) / (high - low)) as f32;
    if scale == 0.0 || !inverse.is_finite() {
        levels.fill(0);
        return (1.0, 0);
    }
    let (below, above) = (low / f64::from(scale), high / f64::from(scale));
    // The end with less rounding decides.
    let zero_point =
        if ENDS.0.abs() + below.abs() < ENDS.1.abs() + above.abs() { ENDS.0 - below } else { ENDS.1 - above };
    let zero_point = zero_point.round().clamp(ENDS.0, ENDS.1) as i32;
    levels.iter_mut().zip(x).for_each(|(level, &x)| *level = quantized(x, inverse, zero_point, (-128, 127)));
    (scale, zero_point)
}
