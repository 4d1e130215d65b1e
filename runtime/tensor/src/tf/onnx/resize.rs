//! ONNX's `Resize`: the resampling of a tensor along any axes.
//!
//! ```text
//! scales or sizes ─▶ per axis, for each position of the result: position in the original ─▶ weighted taps
//! image ─▶ along one axis after the other: sums of taps ─▶ result
//! ```
//!
//! A tap outside of the image takes the element at the border. Nearest elements are gathered, in any type.
//! The other interpolations compute in f64 for f64 and in f32 for other types; results of integer types are
//! rounded towards zero.

use std::sync::Arc;

use super::super::fast::{self, Cx};
use super::super::{cast, gather};
use super::{WideFloat, with_float};
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::try_collected;
use crate::{DType, HostTensor, Shape, TensorError, resolve_axis};

/// The interpolation of [`resize_axes`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisInterpolation {
    /// One of the two neighbours along each axis.
    Nearest(NearestMode),
    /// Between two neighbours along each axis.
    Linear,
    /// By cubic polynomials of four neighbours along each axis; the number is ONNX's `cubic_coeff_a`.
    Cubic(f64),
}

/// The choice between the two neighbours of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearestMode {
    /// The nearer one; the first if both are equally near.
    PreferFloor,
    /// The nearer one; the second if both are equally near.
    PreferCeil,
    /// The first.
    Floor,
    /// The second.
    Ceil,
}

/// The map from positions in the result to positions in the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Centers of pixels correspond.
    HalfPixel,
    /// As [`Coordinates::HalfPixel`], shifted so that the centers of both images correspond.
    HalfPixelSymmetric,
    /// As [`Coordinates::HalfPixel`]; a single position is at 0.
    PytorchHalfPixel,
    /// The outermost pixels correspond.
    AlignCorners,
    /// The edges of pixels correspond.
    Asymmetric,
    /// The result covers a region of the original; positions outside of the original have one value.
    CropAndResize,
}

/// The scale of axes whose sizes imply different scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AspectRatio {
    /// Each axis has its own scale.
    Stretch,
    /// All axes have the smallest scale.
    NotLarger,
    /// All axes have the largest scale.
    NotSmaller,
}

/// The attributes of [`resize_axes`].
#[derive(Clone, Debug, PartialEq)]
pub struct ResizeAxesAttrs {
    /// The axes to which the entries of scales, sizes and regions belong.
    pub axes: Vec<i64>,
    /// The interpolation.
    pub interpolation: AxisInterpolation,
    /// The map of positions.
    pub coordinates: Coordinates,
    /// True if taps outside of the image have weight 0 and the other weights are normalized.
    pub exclude_outside: bool,
    /// The value outside of the original, for [`Coordinates::CropAndResize`].
    pub extrapolation: f64,
    /// True if downscaling stretches the weights, so that each element of the original contributes.
    pub antialias: bool,
    /// The scale for given sizes.
    pub aspect: AspectRatio,
}

/// A resized axis.
#[derive(Clone, Copy, Debug)]
pub(in crate::tf) struct AxisResize {
    axis: usize,
    from: usize,
    /// The new size.
    pub(in crate::tf) to: usize,
    scale: f64,
    /// The ends of the region, as fractions of the original.
    region: [f64; 2],
}

impl ResizeAxesAttrs {
    /// The resized axes. One of `scales` and `sizes` is empty; `roi` has all begins, then all ends.
    pub(in crate::tf) fn axes(
        &self,
        op: &'static str,
        x: &Shape,
        roi: &[f64],
        scales: &[f64],
        sizes: &[i64],
    ) -> Result<Vec<AxisResize>, TensorError> {
        let n = self.axes.len();
        let given = if scales.is_empty() { sizes.len() } else { scales.len() };
        if given != n || !(scales.is_empty() || sizes.is_empty()) {
            return invalid(op, format!("{} scales and {} sizes for {n} axes", scales.len(), sizes.len()));
        }
        let is_region = self.coordinates == Coordinates::CropAndResize;
        if is_region && roi.len() != 2 * n {
            return invalid(op, format!("a region of {} numbers for {n} axes", roi.len()));
        }
        let mut axes: Vec<AxisResize> = Vec::with_capacity(n);
        for (i, &axis) in self.axes.iter().enumerate() {
            let axis = resolve_axis(x, axis)?;
            if axes.iter().any(|other| other.axis == axis) {
                return invalid(op, format!("axis {axis} is given twice"));
            }
            let from = x.dims()[axis];
            let scale = match (scales.get(i), sizes.get(i)) {
                (Some(&scale), _) => scale,
                (None, Some(&size)) if size >= 0 && from > 0 => size as f64 / from as f64,
                (None, Some(0)) => 1.0,
                _ => return invalid(op, format!("sizes {sizes:?} for shape {x}")),
            };
            if !scale.is_finite() || scale < 0.0 {
                return invalid(op, format!("scale {scale}"));
            }
            let to = match sizes.get(i) {
                Some(&size) => size as f64,
                None => (scale * from as f64).floor(),
            };
            let region = if is_region { [roi[i], roi[i + n]] } else { [0.0, 1.0] };
            axes.push(AxisResize { axis, from, to: to as usize, scale, region });
        }
        if !sizes.is_empty() && self.aspect != AspectRatio::Stretch {
            let all = axes.iter().map(|axis| axis.scale);
            let scale = if self.aspect == AspectRatio::NotLarger {
                all.fold(f64::INFINITY, f64::min)
            } else {
                all.fold(0.0, f64::max)
            };
            for axis in &mut axes {
                (axis.scale, axis.to) = (scale, (scale * axis.from as f64 + 0.5).floor() as usize);
            }
        }
        if let Some(axis) = axes.iter().find(|axis| axis.from == 0 && axis.to > 0) {
            return invalid(op, format!("axis {} of size 0 cannot have size {}", axis.axis, axis.to));
        }
        Ok(axes)
    }

    /// The position in the original for position `at` of the result; `None` if it is outside of the original,
    /// for [`Coordinates::CropAndResize`]. Computed in f32, as ONNX Runtime does: rounding decides between
    /// neighbours.
    fn position(&self, axis: &AxisResize, at: usize) -> Option<f64> {
        let (at, from, scale) = (at as f32, axis.from as f32, axis.scale as f32);
        let to = scale * from;
        let half_pixel = (at + 0.5) / scale - 0.5;
        Some(f64::from(match self.coordinates {
            Coordinates::HalfPixel => half_pixel,
            Coordinates::HalfPixelSymmetric => {
                from / 2.0 * (1.0 - axis.to as f32 / to) + (at + 0.5) / scale - 0.5
            }
            // As ONNX defines it, and ONNX Runtime; ONNX's reference implementation has -0.5.
            Coordinates::PytorchHalfPixel if axis.to == 1 => 0.0,
            Coordinates::PytorchHalfPixel => half_pixel,
            Coordinates::AlignCorners if to == 1.0 => 0.0,
            Coordinates::AlignCorners => at * (from - 1.0) / (to - 1.0),
            Coordinates::Asymmetric => at / scale,
            Coordinates::CropAndResize => {
                let [begin, end] = axis.region.map(|end| end as f32);
                let within = if to == 1.0 {
                    (end - begin) * (from - 1.0) / 2.0
                } else {
                    at * (end - begin) * (from - 1.0) / (to - 1.0)
                };
                let position = within + begin * (from - 1.0);
                return (position >= 0.0 && position <= from - 1.0).then_some(position.into());
            }
        }))
    }

    /// The factor by which distances shrink for downscaling.
    fn shrink(&self, scale: f64) -> f64 {
        if self.antialias { scale.min(1.0) } else { 1.0 }
    }

    /// The first tap of a result, relative to the element before its position.
    fn first_tap(&self, scale: f64) -> i64 {
        let reach = match self.interpolation {
            AxisInterpolation::Nearest(_) => 0.0,
            AxisInterpolation::Linear => 1.0,
            AxisInterpolation::Cubic(_) => 2.0,
        };
        (-reach / self.shrink(scale)).floor() as i64 + 1
    }

    /// The number of taps of each result.
    fn n_taps(&self, scale: f64) -> usize {
        (2 - 2 * self.first_tap(scale)) as usize
    }

    /// Sets the weights of the [`n_taps`](Self::n_taps) taps around a position, and returns the first tap,
    /// which may be outside of the image.
    fn weights(&self, position: f64, scale: f64, weights: &mut [f64]) -> i64 {
        // A position on an element lies at distance 1 from the tap before it.
        let first = position.ceil() - 1.0;
        let ratio = position - first;
        let (begin, shrink) = (self.first_tap(scale), self.shrink(scale));
        for (weight, tap) in weights.iter_mut().zip(begin..) {
            let distance = ((tap as f64 - ratio) * shrink).abs();
            *weight = match self.interpolation {
                AxisInterpolation::Cubic(a) if distance <= 1.0 => {
                    ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1.0
                }
                AxisInterpolation::Cubic(a) if distance < 2.0 => {
                    ((a * distance - 5.0 * a) * distance + 8.0 * a) * distance - 4.0 * a
                }
                AxisInterpolation::Cubic(_) => 0.0,
                _ => (1.0 - distance).max(0.0),
            };
        }
        if self.antialias {
            normalize(weights);
        }
        first as i64 + begin
    }

    fn nearest(&self, mode: NearestMode, position: f64) -> f64 {
        let (floor, ratio) = (position.floor(), position - position.floor());
        let up = match mode {
            NearestMode::PreferFloor => ratio > 0.5,
            NearestMode::PreferCeil => ratio >= 0.5,
            NearestMode::Floor => false,
            NearestMode::Ceil => ratio > 0.0,
        };
        if up { floor + 1.0 } else { floor }
    }
}

fn normalize(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

/// The taps of the results along an axis, as many for each result.
struct AxisWeights {
    /// The first tap of each result.
    firsts: HostTensor,
    /// The weights of each result's taps.
    weights: HostTensor,
    n_taps: usize,
}

impl AxisWeights {
    fn new(
        attrs: &ResizeAxesAttrs,
        axis: &AxisResize,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<AxisWeights, TensorError> {
        let n_taps = attrs.n_taps(axis.scale);
        let firsts = HostTensor::allocate(DType::I64, Shape::new(&[axis.to])?, allocator)?;
        let weights = HostTensor::allocate(DType::F64, Shape::new(&[axis.to, n_taps])?, allocator)?;
        let last = axis.from as i64 - 1;
        {
            let (mut firsts, mut weights) = (firsts.write::<i64>()?, weights.write::<f64>()?);
            let results = firsts.iter_mut().zip(weights.chunks_exact_mut(n_taps));
            for (at, (first, weights)) in results.enumerate() {
                // `outside` overwrites results without a position.
                let position = attrs.position(axis, at).unwrap_or(0.0);
                *first = attrs.weights(position, axis.scale, weights);
                if attrs.exclude_outside {
                    for (tap, weight) in (*first..).zip(&mut *weights) {
                        if tap < 0 || tap > last {
                            *weight = 0.0;
                        }
                    }
                    normalize(weights);
                }
            }
        }
        Ok(AxisWeights { firsts, weights, n_taps })
    }

    /// The tensor with the axis resized.
    fn apply<T: WideFloat>(
        &self,
        x: &HostTensor,
        axis: &AxisResize,
        cx: &Cx<'_>,
    ) -> Result<HostTensor, TensorError> {
        let mut dims = x.shape().dims().to_vec();
        dims[axis.axis] = axis.to;
        let inner: usize = dims[axis.axis + 1..].iter().product();
        let out = HostTensor::allocate(x.dtype(), Shape::new(&dims)?, cx.allocator)?;
        if out.num_elements() > 0 {
            let (from, mut to) = (x.read::<T>()?, out.write::<T>()?);
            let (firsts, weights) = (self.firsts.read::<i64>()?, self.weights.read::<f64>()?);
            let (from, firsts, weights): (&[T], &[i64], &[f64]) = (&from, &firsts, &weights);
            let last = axis.from as i64 - 1;
            cx.parts(&mut to, (inner, self.n_taps), &|first, part| {
                for (row, number) in part.chunks_exact_mut(inner).zip(first / inner..) {
                    let (plane, at) = (number / axis.to * axis.from, number % axis.to);
                    row.fill(T::ZERO);
                    let weights = &weights[at * self.n_taps..][..self.n_taps];
                    // A tap without weight does not count, even if its element is not finite.
                    for (tap, &weight) in (firsts[at]..).zip(weights).filter(|(_, weight)| **weight != 0.0) {
                        let weight = T::rounded(weight);
                        let line = &from[(plane + tap.clamp(0, last) as usize) * inner..][..inner];
                        row.iter_mut().zip(line).for_each(|(sum, &x)| *sum += x * weight);
                    }
                }
            });
        }
        Ok(out)
    }
}

/// `_Resize`: a tensor resampled along axes. `roi` has the begins of the region along the axes, then its
/// ends. One of `scales` and `sizes` is empty.
///
/// # Errors
/// If the operands do not fit the attributes, or a size is impossible.
pub fn resize_axes(
    x: &HostTensor,
    roi: &[f64],
    scales: &[f64],
    sizes: &[i64],
    attrs: &ResizeAxesAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_Resize";
    let axes = attrs.axes(op, x.shape(), roi, scales, sizes)?;
    let mut dims = x.shape().dims().to_vec();
    axes.iter().for_each(|axis| dims[axis.axis] = axis.to);
    let shape = Shape::new(&dims)?;
    let is_region = attrs.coordinates == Coordinates::CropAndResize;
    let changes = |axis: &&AxisResize| axis.from != axis.to || axis.scale != 1.0 || is_region;
    if shape.num_elements() == 0 {
        return HostTensor::allocate(x.dtype(), shape, cx.allocator);
    }
    let resized = if let AxisInterpolation::Nearest(mode) = attrs.interpolation {
        let mut y = x.clone();
        for axis in axes.iter().filter(changes) {
            let last = axis.from as f64 - 1.0;
            let indices = HostTensor::allocate(DType::I64, Shape::new(&[axis.to])?, cx.allocator)?;
            for (at, index) in indices.write::<i64>()?.iter_mut().enumerate() {
                let position = attrs.position(axis, at).unwrap_or(0.0);
                *index = attrs.nearest(mode, position).clamp(0.0, last) as i64;
            }
            y = gather(&y, &indices, axis.axis as i64, 0, cx.allocator)?;
        }
        y
    } else {
        let to = if x.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
        let mut y = fast::cast(x, to, cx)?;
        for axis in axes.iter().filter(changes) {
            let weights = AxisWeights::new(attrs, axis, cx.allocator)?;
            y = with_float!(y, T => weights.apply::<T>(&y, axis, cx)?);
        }
        fast::cast(&y, x.dtype(), cx)?
    };
    if is_region { outside(&resized, attrs, &axes, cx) } else { Ok(resized) }
}

/// The result, with the extrapolation value at positions outside of the original.
fn outside(
    x: &HostTensor,
    attrs: &ResizeAxesAttrs,
    axes: &[AxisResize],
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let value = HostTensor::from_slice(Shape::scalar(), &[attrs.extrapolation], cx.allocator)?;
    let value = cast(&value, x.dtype(), cx.allocator)?;
    let mut y = x.clone();
    for axis in axes {
        let inside =
            try_collected((0..axis.to).map(|at| Ok(crate::I1::from(attrs.position(axis, at).is_some()))))?;
        if inside.iter().all(|&inside| inside == crate::I1::from(true)) {
            continue;
        }
        let mut dims = vec![1; x.shape().rank()];
        dims[axis.axis] = axis.to;
        let inside = HostTensor::from_slice(Shape::new(&dims)?, &inside, cx.allocator)?;
        y = super::super::select(&inside, &y, &value, cx.allocator)?;
    }
    Ok(y)
}
