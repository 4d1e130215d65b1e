//! Grouped convolutions and their gradients. A depthwise convolution has one group per channel.
//!
//! ```text
//! out[n, y, x, o]    = sum over i, j, c of
//!                      in[n, y*stride + i*dilation - pad, ..., group(o) + c] * filter[i, j, c, o]
//! by_input[n, y, x]  = the same products, summed over the windows that contain the pixel
//! by_filter[i, j, c] = the same products, summed over all windows
//! ```
//!
//! Images are NHWC or NCHW; filters are (height, width, channels of a group, out channels) in either case.
//! Every element of a result is one sum in the wide type of `numeric.rs`, rounded once. Every dtype except
//! i1.
//!
//! Not here: speed (`crate::conv`).

use std::sync::Arc;

use super::numeric::{Domain, Number};
use super::window::{ImageFormat, ImageLayout, ImageWindows, Padding, window_of};
use crate::element::with_element;
use crate::interrupt::is_interrupted;
use crate::mem::Allocator;
use crate::scratch::filled;
use crate::{DType, HostTensor, Shape, TensorError};

/// The attributes of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2dAttrs {
    /// The distance of neighbouring windows, down and across.
    pub strides: (usize, usize),
    /// The distance of neighbouring taps of a window.
    pub dilations: (usize, usize),
    /// The padding at the borders.
    pub padding: Padding,
    /// The order of the axes of the images.
    pub format: ImageFormat,
}

impl Default for Conv2dAttrs {
    fn default() -> Conv2dAttrs {
        Conv2dAttrs { strides: (1, 1), dilations: (1, 1), padding: Padding::Valid, format: ImageFormat::Nhwc }
    }
}

/// The shapes of a convolution, checked against each other.
pub(super) struct ConvGeometry {
    pub(super) image: ImageLayout,
    pub(super) result: ImageLayout,
    pub(super) result_shape: Shape,
    pub(super) windows: ImageWindows,
    /// The width of a filter.
    width: usize,
    /// Input channels and out channels of a group.
    pub(super) from: usize,
    pub(super) to: usize,
}

impl ConvGeometry {
    pub(super) fn new(
        op: &'static str,
        image: &Shape,
        filter: &Shape,
        attrs: &Conv2dAttrs,
    ) -> Result<ConvGeometry, TensorError> {
        let layout = ImageLayout::new(op, image, attrs.format)?;
        let &[height, width, from, channels] = filter.dims() else {
            return Err(TensorError::Rank { what: "filter", want: 4, got: filter.clone() });
        };
        let groups = layout.channels.checked_div(from).unwrap_or(0);
        if groups * from != layout.channels || groups == 0 || !channels.is_multiple_of(groups) {
            let problem = format!(
                "the channels of images of shape {image} ({:?}) and of filters of shape {filter} do not fit",
                attrs.format
            );
            return Err(TensorError::Invalid { op, problem });
        }
        let plane = (layout.height, layout.width);
        let Conv2dAttrs { strides, dilations, padding, format } = *attrs;
        let windows = ImageWindows::new(op, image, plane, (height, width), strides, dilations, padding)?;
        let result_shape = format.shape(layout.batch, windows.counts, channels)?;
        let result = ImageLayout::new(op, &result_shape, format)?;
        Ok(ConvGeometry { image: layout, result, result_shape, windows, width, from, to: channels / groups })
    }

    /// The number of groups.
    pub(super) fn groups(&self) -> usize {
        self.image.channels / self.from
    }

    /// The number of pixels of all images.
    pub(super) fn pixels(&self) -> usize {
        self.image.batch * self.image.height * self.image.width
    }

    /// The number of windows of all images.
    pub(super) fn rows(&self) -> usize {
        self.image.batch * self.windows.counts.0 * self.windows.counts.1
    }

    /// The number of taps of a window.
    pub(super) fn taps(&self) -> usize {
        self.windows.rows.filter * self.windows.cols.filter
    }

    /// The same geometry with `channels` channels, for `crate::conv`.
    pub(super) fn images(&self, channels: usize) -> Result<crate::conv::Conv2d, TensorError> {
        crate::conv::Conv2d::new(self.image.batch, channels, self.windows.rows, self.windows.cols)
    }

    /// The position in the filters of the weights of a tap and an input channel: one weight per out channel.
    fn filter_row(&self, (i, j): (usize, usize), channel: usize) -> usize {
        ((i * self.width + j) * self.from + channel % self.from) * self.result.channels
    }

    /// The out channels in the group of an input channel.
    fn outs(&self, channel: usize) -> std::ops::Range<usize> {
        let first = channel / self.from * self.to;
        first..first + self.to
    }

    fn forward<T: Number>(&self, image: &[T], filter: &[T], out: &mut [T]) -> Result<(), TensorError> {
        let mut sums = filled(self.result.channels, T::Wide::ZERO)?;
        for (n, y, x) in self.result.pixels() {
            sums.fill(T::Wide::ZERO);
            self.windows.for_each_tap((y, x), |tap, (row, col)| {
                let pixel = self.image.pixel(n, row, col);
                for c in 0..self.image.channels {
                    let value = image[pixel + c * self.image.channel_step()].widen();
                    let (row, outs) = (self.filter_row(tap, c), self.outs(c));
                    let filter = &filter[row + outs.start..row + outs.end];
                    for (sum, f) in sums[outs].iter_mut().zip(filter) {
                        *sum = sum.plus(value.times(f.widen()));
                    }
                }
            });
            let at = self.result.pixel(n, y, x);
            for (o, sum) in sums.iter().enumerate() {
                out[at + o * self.result.channel_step()] = T::narrow(*sum);
            }
        }
        Ok(())
    }

    fn by_input<T: Number>(
        &self,
        taps: (usize, usize),
        filter: &[T],
        dy: &[T],
        out: &mut [T],
    ) -> Result<(), TensorError> {
        let mut sums = filled(self.image.channels, T::Wide::ZERO)?;
        let ImageWindows { rows, cols, counts } = &self.windows;
        for (n, row, col) in self.image.pixels() {
            sums.fill(T::Wide::ZERO);
            for i in 0..taps.0 {
                if is_interrupted() {
                    return Ok(());
                }
                let Some(y) = window_of(rows, counts.0, row, i) else { continue };
                for j in 0..taps.1 {
                    let Some(x) = window_of(cols, counts.1, col, j) else { continue };
                    let at = self.result.pixel(n, y, x);
                    for (c, sum) in sums.iter_mut().enumerate() {
                        let filter_row = self.filter_row((i, j), c);
                        for o in self.outs(c) {
                            let dy = dy[at + o * self.result.channel_step()].widen();
                            *sum = sum.plus(dy.times(filter[filter_row + o].widen()));
                        }
                    }
                }
            }
            let at = self.image.pixel(n, row, col);
            for (c, sum) in sums.iter().enumerate() {
                out[at + c * self.image.channel_step()] = T::narrow(*sum);
            }
        }
        Ok(())
    }

    fn by_filter<T: Number>(
        &self,
        taps: (usize, usize),
        image: &[T],
        dy: &[T],
        out: &mut [T],
    ) -> Result<(), TensorError> {
        let mut sums = filled(self.result.channels, T::Wide::ZERO)?;
        let ImageWindows { rows, cols, counts } = &self.windows;
        for (i, j) in (0..taps.0).flat_map(|i| (0..taps.1).map(move |j| (i, j))) {
            for channel in 0..self.from {
                sums.fill(T::Wide::ZERO);
                for (n, row, col) in self.image.pixels() {
                    if col == 0 && is_interrupted() {
                        return Ok(());
                    }
                    let window = window_of(rows, counts.0, row, i).zip(window_of(cols, counts.1, col, j));
                    let Some((y, x)) = window else { continue };
                    let (pixel, at) = (self.image.pixel(n, row, col), self.result.pixel(n, y, x));
                    for (o, sum) in sums.iter_mut().enumerate() {
                        let c = o / self.to * self.from + channel;
                        let value = image[pixel + c * self.image.channel_step()].widen();
                        let dy = dy[at + o * self.result.channel_step()].widen();
                        *sum = sum.plus(value.times(dy));
                    }
                }
                let row = self.filter_row((i, j), channel);
                for (out, sum) in out[row..].iter_mut().zip(&sums) {
                    *out = T::narrow(*sum);
                }
            }
        }
        Ok(())
    }
}

/// A new tensor computed from two tensors of one dtype; zeros if one of them is empty.
fn computed(
    op: &'static str,
    a: &HostTensor,
    b: &HostTensor,
    shape: Shape,
    allocator: &Arc<dyn Allocator>,
    f: impl FnOnce(&HostTensor) -> Result<(), TensorError>,
) -> Result<HostTensor, TensorError> {
    b.expect_dtype("filter", a.dtype())?;
    if a.dtype() == DType::I1 {
        return Err(TensorError::Unsupported { op, dtype: DType::I1 });
    }
    let out = HostTensor::zeros(a.dtype(), shape, allocator)?;
    if out.num_elements() > 0 && a.num_elements() > 0 && b.num_elements() > 0 {
        f(&out)?;
    }
    Ok(out)
}

fn plane_of(filter: &Shape) -> (usize, usize) {
    (filter.dims()[0], filter.dims()[1]) // rank 4, as `ConvGeometry::new` checked
}

/// `Conv2D` of images with filters of shape (height, width, channels of a group, out channels). The number of
/// groups is the number of image channels divided by the channels of a group. Fails if the channels do not
/// match or the window is larger than the padded image.
pub fn conv2d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &Conv2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv2D";
    let geometry = ConvGeometry::new(op, x.shape(), filter.shape(), attrs)?;
    computed(op, x, filter, geometry.result_shape.clone(), allocator, |out| {
        with_element!(x.dtype(), T => {
            geometry.forward::<T>(&x.read::<T>()?, &filter.read::<T>()?, &mut out.write::<T>()?)?;
        });
        Ok(())
    })
}

/// `Conv2DBackpropInput`, the transposed convolution: the gradient by images of shape `input`, from the
/// gradient by the result.
pub fn conv2d_backprop_input(
    input: &Shape,
    filter: &HostTensor,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv2DBackpropInput";
    let geometry = ConvGeometry::new(op, input, filter.shape(), attrs)?;
    dy.expect_shape("out_backprop", &geometry.result_shape)?;
    computed(op, dy, filter, input.clone(), allocator, |out| {
        let taps = plane_of(filter.shape());
        with_element!(dy.dtype(), T => {
            geometry.by_input::<T>(taps, &filter.read::<T>()?, &dy.read::<T>()?, &mut out.write::<T>()?)?;
        });
        Ok(())
    })
}

/// `Conv2DBackpropFilter`: the gradient by filters of shape `filter`, from the gradient by the result.
pub fn conv2d_backprop_filter(
    x: &HostTensor,
    filter: &Shape,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv2DBackpropFilter";
    let geometry = ConvGeometry::new(op, x.shape(), filter, attrs)?;
    dy.expect_shape("out_backprop", &geometry.result_shape)?;
    computed(op, x, dy, filter.clone(), allocator, |out| {
        with_element!(x.dtype(), T => {
            geometry.by_filter::<T>(plane_of(filter), &x.read::<T>()?, &dy.read::<T>()?, &mut out.write::<T>()?)?;
        });
        Ok(())
    })
}

/// The shape of depthwise filters (height, width, channels, multiplier) as filters of a convolution with one
/// group per channel: the same bytes.
pub(super) fn grouped(image: &Shape, filter: &Shape, format: ImageFormat) -> Result<Shape, TensorError> {
    let op = "DepthwiseConv2dNative";
    let channels = ImageLayout::new(op, image, format)?.channels;
    match filter.dims() {
        &[height, width, c, multiplier] if c == channels => Shape::new(&[height, width, 1, c * multiplier]),
        _ => {
            let problem =
                format!("filters of shape {filter} are not for images of shape {image} ({format:?})");
            Err(TensorError::Invalid { op, problem })
        }
    }
}

/// `DepthwiseConv2dNative`: every channel is convolved with its own filters of shape (height, width,
/// channels, multiplier). Out channel `c * multiplier + k` is the result of filter `k` of channel `c`.
pub fn depthwise_conv2d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &Conv2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let shape = grouped(x.shape(), filter.shape(), attrs.format)?;
    conv2d(x, &filter.reshaped(shape)?, attrs, allocator)
}

/// `DepthwiseConv2dNativeBackpropInput`: the gradient by images of shape `input`.
pub fn depthwise_conv2d_backprop_input(
    input: &Shape,
    filter: &HostTensor,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let shape = grouped(input, filter.shape(), attrs.format)?;
    conv2d_backprop_input(input, &filter.reshaped(shape)?, dy, attrs, allocator)
}

/// `DepthwiseConv2dNativeBackpropFilter`: the gradient by filters of shape `filter`.
pub fn depthwise_conv2d_backprop_filter(
    x: &HostTensor,
    filter: &Shape,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let shape = grouped(x.shape(), filter, attrs.format)?;
    conv2d_backprop_filter(x, &shape, dy, attrs, allocator)?.reshaped(filter.clone())
}
