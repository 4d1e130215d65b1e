//! Poolings: the largest or the mean element of each window, and their gradients.
//!
//! Windows are cut off at the border: padding does not contribute, neither to maxima nor to means. Images are
//! NHWC or NCHW. Integers have maxima only.

use std::cmp::Ordering;
use std::sync::Arc;

use super::index::{self, slices_at};
use super::numeric::{Domain, Number};
use super::real::{expect_float, reals};
use super::reduce::far_end;
use super::unary::cast;
use super::window::{ImageFormat, ImageLayout, ImageWindows, Padding};
use crate::element::with_element;
use crate::interrupt::is_interrupted;
use crate::mem::Allocator;
use crate::scratch::with_room;
use crate::{DType, HostTensor, Shape, TensorError};

/// The reduction of a pooling window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// `MaxPool`: the first largest element, or the first NaN; the lowest number if the whole window is
    /// outside of the image.
    Max,
    /// `AvgPool`: the mean of the part of the window inside the image.
    Avg,
}

/// The attributes of a pooling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool2dAttrs {
    /// Height and width of a window: `ksize`.
    pub window: (usize, usize),
    /// The distance of neighbouring windows, down and across.
    pub strides: (usize, usize),
    /// The padding at the borders.
    pub padding: Padding,
    /// The order of the axes of the images.
    pub format: ImageFormat,
}

/// The shapes of a pooling.
pub(super) struct PoolGeometry {
    pub(super) image: ImageLayout,
    result: ImageLayout,
    pub(super) result_shape: Shape,
    pub(super) windows: ImageWindows,
}

impl PoolGeometry {
    pub(super) fn new(
        op: &'static str,
        shape: &Shape,
        attrs: &Pool2dAttrs,
    ) -> Result<PoolGeometry, TensorError> {
        let Pool2dAttrs { window, strides, padding, format } = *attrs;
        let image = ImageLayout::new(op, shape, format)?;
        let windows =
            ImageWindows::new(op, shape, (image.height, image.width), window, strides, (1, 1), padding)?;
        let result_shape = format.shape(image.batch, windows.counts, image.channels)?;
        let result = ImageLayout::new(op, &result_shape, format)?;
        Ok(PoolGeometry { image, result, result_shape, windows })
    }

    /// Calls `f` for each element of the result, until interrupted. The arguments are its position and the
    /// positions of the image elements in its window.
    fn for_each(&self, f: &mut dyn FnMut(usize, &[usize])) -> Result<(), TensorError> {
        if self.result_shape.num_elements() == 0 {
            return Ok(());
        }
        let ImageWindows { rows, cols, .. } = &self.windows;
        let most = rows.filter.min(rows.input).saturating_mul(cols.filter.min(cols.input));
        let mut covered = with_room(most)?;
        for (n, y, x) in self.result.pixels() {
            for c in 0..self.image.channels {
                if is_interrupted() {
                    return Ok(());
                }
                covered.clear();
                self.windows.for_each_tap((y, x), |_, (row, col)| {
                    covered.push(self.image.pixel(n, row, col) + c * self.image.channel_step());
                });
                f(self.result.pixel(n, y, x) + c * self.result.channel_step(), &covered);
            }
        }
        Ok(())
    }
}

/// The first largest of the elements at these positions, or the first NaN.
fn largest<T: Number>(x: &[T], covered: &[usize]) -> Option<usize> {
    covered.iter().copied().reduce(|best, at| {
        let (b, w) = (x[best].widen(), x[at].widen());
        if !b.is_nan() && (w.is_nan() || w.order(b) == Some(Ordering::Greater)) { at } else { best }
    })
}

/// `MaxPool` of ordered dtypes, `AvgPool` of floats. Fails if a window is larger than the padded image.
pub fn pool(
    kind: Pool,
    x: &HostTensor,
    attrs: &Pool2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = if kind == Pool::Max { "MaxPool" } else { "AvgPool" };
    if kind == Pool::Avg {
        expect_float(op, x)?;
    }
    let geometry = PoolGeometry::new(op, x.shape(), attrs)?;
    let out = HostTensor::allocate(x.dtype(), geometry.result_shape.clone(), allocator)?;
    with_element!(x.dtype(), T => {
        type Wide = <T as Number>::Wide;
        if !Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: x.dtype() });
        }
        let (from, mut to) = (x.read::<T>()?, out.write::<T>()?);
        geometry.for_each(&mut |at, covered| {
            to[at] = match kind {
                Pool::Max => largest(&from, covered).map_or_else(|| far_end(Ordering::Greater), |best| from[best]),
                Pool::Avg => {
                    let sum = covered.iter().fold(Wide::ZERO, |sum, &i| sum.plus(from[i].widen()));
                    T::narrow(sum.over(covered.len()))
                }
            };
        })?;
    });
    Ok(out)
}

/// Calls `f(gradient, window, sums)` for each element of the pooled shape, where `window` has the positions
/// of the window's elements. `f` adds parts of the gradient to `sums`, which are rounded at the end.
fn spread(
    geometry: &PoolGeometry,
    dtype: DType,
    shape: &Shape,
    dy: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn(f64, &[usize], &mut [f64]),
) -> Result<HostTensor, TensorError> {
    let sums = HostTensor::zeros(DType::F64, shape.clone(), allocator)?;
    {
        let (dy, mut to) = (dy.read::<f64>()?, sums.write::<f64>()?);
        geometry.for_each(&mut |at, covered| f(dy[at], covered, &mut to))?;
    }
    cast(&sums, dtype, allocator)
}

/// `MaxPoolGrad` of float images `x`, from the gradient `dy` by the pooled images: the first largest element
/// of each window gets the window's gradient. The pooled images, TensorFlow's `orig_output`, are not needed.
pub fn max_pool_grad(
    x: &HostTensor,
    dy: &HostTensor,
    attrs: &Pool2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MaxPoolGrad";
    let geometry = PoolGeometry::new(op, x.shape(), attrs)?;
    dy.expect_dtype("grad", x.dtype())?;
    dy.expect_shape("grad", &geometry.result_shape)?;
    let gradients = reals(op, dy, allocator)?;
    with_element!(x.dtype(), T => {
        let from = x.read::<T>()?;
        spread(&geometry, x.dtype(), x.shape(), &gradients, allocator, |dy, covered, to| {
            if let Some(best) = largest(&from, covered) {
                to[best] += dy;
            }
        })
    })
}

/// `MaxPoolGradGrad`, the gradient of `MaxPoolGrad` by the gradient that it distributes: for each window, the
/// element of `grads` at the position of the first largest element of `x`.
pub fn max_pool_grad_grad(
    x: &HostTensor,
    grads: &HostTensor,
    attrs: &Pool2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MaxPoolGradGrad";
    let geometry = PoolGeometry::new(op, x.shape(), attrs)?;
    grads.expect_dtype("grad", x.dtype())?;
    grads.expect_shape("grad", x.shape())?;
    let out = HostTensor::zeros(x.dtype(), geometry.result_shape.clone(), allocator)?;
    with_element!(x.dtype(), T => {
        let (from, grads, mut to) = (x.read::<T>()?, grads.read::<T>()?, out.write::<T>()?);
        geometry.for_each(&mut |at, covered| {
            if let Some(best) = largest(&from, covered) {
                to[at] = grads[best];
            }
        })?;
    });
    Ok(out)
}

/// `AvgPoolGrad` by images of shape `input`, from the gradient `dy` by the pooled images: the elements of a
/// window get equal parts of its gradient.
pub fn avg_pool_grad(
    input: &Shape,
    dy: &HostTensor,
    attrs: &Pool2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "AvgPoolGrad";
    let geometry = PoolGeometry::new(op, input, attrs)?;
    dy.expect_shape("grad", &geometry.result_shape)?;
    let gradients = reals(op, dy, allocator)?;
    spread(&geometry, dy.dtype(), input, &gradients, allocator, |dy, covered, to| {
        let part = dy / covered.len() as f64;
        covered.iter().for_each(|&i| to[i] += part);
    })
}

/// `MaxPoolWithArgmax` of NHWC images: the first largest element of each window, and its position in the
/// image, or in all images if `counts_images`, as i32 or i64. A NaN is the largest only as the first element.
pub fn max_pool_with_argmax(
    x: &HostTensor,
    attrs: &Pool2dAttrs,
    to: DType,
    counts_images: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "MaxPoolWithArgmax";
    let geometry = PoolGeometry::new(op, x.shape(), attrs)?;
    let out = HostTensor::allocate(x.dtype(), geometry.result_shape.clone(), allocator)?;
    let places = HostTensor::zeros(DType::I64, geometry.result_shape.clone(), allocator)?;
    if to == DType::I32 && i32::try_from(x.num_elements()).is_err() {
        return Err(TensorError::IndexRange { n: x.num_elements() });
    }
    let image = if counts_images { usize::MAX } else { x.num_elements() / geometry.image.batch.max(1) };
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: x.dtype() });
        }
        let (from, mut max, mut at) = (x.read::<T>()?, out.write::<T>()?, places.write::<i64>()?);
        let is_less = |a: usize, b: usize| from[a].widen().order(from[b].widen()) == Some(Ordering::Less);
        geometry.for_each(&mut |i, covered| {
            let best = covered.iter().copied().reduce(|best, next| if is_less(best, next) { next } else { best });
            (max[i], at[i]) = match best {
                Some(best) => (from[best], (best % image.max(1)) as i64),
                None => (far_end(Ordering::Greater), -1),
            };
        })?;
    });
    Ok([out, cast(&places, to, allocator)?])
}

/// `MaxPoolGradWithArgmax`: each element of `dy` is added to the element of the images at its position.
pub fn max_pool_grad_with_argmax(
    x: &HostTensor,
    dy: &HostTensor,
    places: &HostTensor,
    attrs: &Pool2dAttrs,
    counts_images: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MaxPoolGradWithArgmax";
    let places = argmax_places(op, (x, dy.shape()), places, attrs, counts_images)?;
    dy.expect_dtype("grad", x.dtype())?;
    let out = HostTensor::zeros(x.dtype(), x.shape().clone(), allocator)?;
    with_element!(x.dtype(), T => {
        let (dy, mut to) = (dy.read::<T>()?, out.write::<T>()?);
        for (&place, dy) in places.iter().zip(dy.iter()) {
            to[place] = T::narrow(to[place].widen().plus(dy.widen()));
        }
    });
    Ok(out)
}

/// `MaxPoolGradGradWithArgmax`: the elements of `grads`, shaped like the images, at the positions.
pub fn max_pool_grad_grad_with_argmax(
    x: &HostTensor,
    grads: &HostTensor,
    places: &HostTensor,
    attrs: &Pool2dAttrs,
    counts_images: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MaxPoolGradGradWithArgmax";
    grads.expect_dtype("grad", x.dtype())?;
    grads.expect_shape("grad", x.shape())?;
    let shape = places.shape().clone();
    let places = argmax_places(op, (x, &shape), places, attrs, counts_images)?;
    slices_at(x.dtype(), shape, (&grads.read_bytes()?, x.dtype().size()), &places, allocator)
}

/// The positions in all images of the elements that a pooling selected; `dy` is the shape of its result.
fn argmax_places(
    op: &'static str,
    (x, dy): (&HostTensor, &Shape),
    places: &HostTensor,
    attrs: &Pool2dAttrs,
    counts_images: bool,
) -> Result<Vec<usize>, TensorError> {
    let geometry = PoolGeometry::new(op, x.shape(), attrs)?;
    places.expect_shape("argmax", &geometry.result_shape)?;
    if *dy != geometry.result_shape {
        let problem = format!("`grad` has shape {dy}, expected {}", geometry.result_shape);
        return Err(TensorError::Invalid { op, problem });
    }
    let batch = geometry.image.batch.max(1);
    let (image, each) = (x.num_elements() / batch, places.num_elements() / batch);
    let limit = if counts_images { x.num_elements() } else { image };
    let mut places = index::positions(op, places, limit, x.shape())?;
    if !counts_images {
        places.iter_mut().enumerate().for_each(|(i, place)| *place += i / each * image);
    }
    Ok(places)
}
