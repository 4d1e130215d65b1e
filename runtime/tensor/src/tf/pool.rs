//! Poolings: the largest or the mean element of each window, and their gradients.
//!
//! Windows are cut off at the border: padding does not contribute, neither to maxima nor to means. Images are
//! NHWC or NCHW. Integers have maxima only.

use std::cmp::Ordering;
use std::sync::Arc;

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
