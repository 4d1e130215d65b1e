//! Convolutions and poolings of volumes: `[batch, depth, height, width, channels]`.
//!
//! A volume is an image with a depth axis. The windows along each axis are those of images. The channels are
//! the last axis, as in TensorFlow's CPU kernels.

use super::fast::{self, Cx};
use super::real::{expect_float, reals};
use super::window::{axis, taps, window_of};
use crate::conv::Window;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::filled;
use crate::{DType, HostTensor, Shape, TensorError};

/// Three numbers: along depth, height and width.
pub type Volume = [usize; 3];

/// The attributes of a convolution or pooling of volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeAttrs {
    /// The distances of neighbouring windows.
    pub strides: Volume,
    /// The distances of the elements of a window.
    pub dilations: Volume,
    /// True for padding `SAME`: one window per stride, with padding around the volume. False for `VALID`:
    /// only windows inside.
    pub same: bool,
}

/// The windows over volumes, their counts, and the other dimensions of the volumes.
struct Windows {
    axes: [Window; 3],
    counts: Volume,
    batch: usize,
    channels: usize,
}

impl Windows {
    /// The windows of `size` over a tensor of this shape.
    fn new(
        op: &'static str,
        shape: &Shape,
        size: Volume,
        attrs: &VolumeAttrs,
    ) -> Result<Windows, TensorError> {
        let &[batch, depth, height, width, channels] = shape.dims() else {
            return invalid(op, format!("shape {shape} has rank {}, expected 5", shape.rank()));
        };
        let of = |i: usize| {
            let window = (size[i], attrs.strides[i], attrs.dilations[i]);
            axis(op, shape, [depth, height, width][i], window, attrs.same, None)
        };
        let ((a, n_a), (b, n_b), (c, n_c)) = (of(0)?, of(1)?, of(2)?);
        Ok(Windows { axes: [a, b, c], counts: [n_a, n_b, n_c], batch, channels })
    }

    /// The shape of a result with one element per window and channel.
    fn result(&self, channels: usize) -> Result<Shape, TensorError> {
        let [depth, height, width] = self.counts;
        Shape::new(&[self.batch, depth, height, width, channels])
    }

    /// The number of a pixel among those of all volumes.
    fn pixel(&self, batch: usize, [z, y, x]: Volume) -> usize {
        let [depth, height, width] = self.axes.map(|window| window.input);
        ((batch * depth + z) * height + y) * width + x
    }

    /// The batch index of a pixel of the result, and the window along each axis.
    fn window(&self, at: usize) -> (usize, Volume) {
        let [depth, height, width] = self.counts;
        (at / (depth * height * width), [at / (height * width) % depth, at / width % height, at % width])
    }

    /// The number of the pixel at which a window starts, or of the first one behind the padding.
    fn first_pixel(&self, batch: usize, at: Volume) -> usize {
        let start = |i: usize| (at[i] * self.axes[i].stride).saturating_sub(self.axes[i].pad.0);
        self.pixel(batch, [start(0), start(1), start(2)])
    }

    /// Calls `f` for each tap of a window inside of the volume, with the number of the tap in the window and
    /// the number of its pixel. The number of the tap wraps around for pooling windows that are larger than
    /// any filter; poolings do not use it.
    fn each_tap(&self, batch: usize, at: Volume, mut f: impl FnMut(usize, usize)) {
        let [_, b, c] = self.axes.map(|window| window.filter);
        let number =
            |i: usize, j: usize, k: usize| i.wrapping_mul(b).wrapping_add(j).wrapping_mul(c).wrapping_add(k);
        for (i, z) in taps(&self.axes[0], at[0]) {
            for (j, y) in taps(&self.axes[1], at[1]) {
                if is_interrupted() {
                    return;
                }
                for (k, x) in taps(&self.axes[2], at[2]) {
                    f(number(i, j, k), self.pixel(batch, [z, y, x]));
                }
            }
        }
    }

    /// The number of taps of a window; saturates.
    fn n_taps(&self) -> usize {
        self.axes.iter().fold(1, |n, window| window.filter.saturating_mul(n))
    }
}

/// The sizes and the number of out channels of filters `[depth, height, width, channels, out channels]`.
fn filter_dims(op: &'static str, shape: &Shape, channels: usize) -> Result<(Volume, usize), TensorError> {
    match *shape.dims() {
        [a, b, c, from, to] if from == channels => Ok(([a, b, c], to)),
        _ => invalid(op, format!("filters of shape {shape} for volumes of {channels} channels")),
    }
}

fn channels_of(shape: &Shape) -> usize {
    shape.dims().last().copied().unwrap_or(0)
}

/// A float tensor in the type of the sums: f64 for f64, f32 for all others.
fn wide(op: &'static str, x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    expect_float(op, x)?;
    fast::cast(x, if x.dtype() == DType::F64 { DType::F64 } else { DType::F32 }, cx)
}

/// Evaluates a block in which `$t` is the type of the elements: f32 or f64.
macro_rules! with_float {
    ($x:expr, $t:ident => $body:expr) => {
        match $x.dtype() {
            DType::F64 => {
                type $t = f64;
                $body
            }
            _ => {
                type $t = f32;
                $body
            }
        }
    };
}

/// `ExtractVolumePatches`: the elements of each window of a volume of any dtype, side by side in one element
/// of the result. Those outside of the volume are 0.
pub fn extract_volume_patches(
    x: &HostTensor,
    size: Volume,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let windows = Windows::new("ExtractVolumePatches", x.shape(), size, attrs)?;
    let patch = size.iter().try_fold(windows.channels, |n, &size| n.checked_mul(size));
    let shape = windows.result(patch.ok_or(TensorError::TooLarge)?)?;
    let out = HostTensor::zeros(x.dtype(), shape, cx.allocator)?;
    if out.num_elements() > 0 {
        let element = windows.channels * x.dtype().size();
        let from = x.read_bytes()?;
        let from: &[u8] = &from;
        let n_bytes = windows.n_taps() * element;
        cx.parts(&mut out.write_bytes()?, (n_bytes, 16), &|first, part| {
            for (i, out) in part.chunks_exact_mut(n_bytes).enumerate() {
                let (batch, at) = windows.window(first / n_bytes + i);
                windows.each_tap(batch, at, |tap, pixel| {
                    out[tap * element..][..element].copy_from_slice(&from[pixel * element..][..element]);
                });
            }
        });
    }
    Ok(out)
}

/// `Conv3D`: the convolution of float volumes with filters.
pub fn conv3d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv3D";
    filter.expect_dtype("filter", x.dtype())?;
    let (size, to) = filter_dims(op, filter.shape(), channels_of(x.shape()))?;
    let windows = Windows::new(op, x.shape(), size, attrs)?;
    let (wide_x, wide_filter) = (wide(op, x, cx)?, wide(op, filter, cx)?);
    let sums = HostTensor::zeros(wide_x.dtype(), windows.result(to)?, cx.allocator)?;
    if sums.num_elements() > 0 {
        with_float!(wide_x, T => {
            let (x, filter, mut sums) = (wide_x.read::<T>()?, wide_filter.read::<T>()?, sums.write::<T>()?);
            let (x, filter): (&[T], &[T]) = (&x, &filter);
            let (from, cost) = (windows.channels, windows.n_taps().saturating_mul(windows.channels));
            cx.parts(&mut sums, (to, cost), &|first, part| {
                for (i, sums) in part.chunks_exact_mut(to).enumerate() {
                    let (batch, at) = windows.window(first / to + i);
                    windows.each_tap(batch, at, |tap, pixel| {
                        let rows = filter[tap * from * to..].chunks_exact(to);
                        for (&x, row) in x[pixel * from..][..from].iter().zip(rows) {
                            sums.iter_mut().zip(row).for_each(|(sum, &weight)| *sum += x * weight);
                        }
                    });
                }
            });
        });
    }
    fast::cast(&sums, x.dtype(), cx)
}

/// `Conv3DBackpropInputV2`: the gradient by volumes of shape `input`, from the gradient by the results.
pub fn conv3d_backprop_input(
    input: &Shape,
    filter: &HostTensor,
    dy: &HostTensor,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv3DBackpropInputV2";
    filter.expect_dtype("filter", dy.dtype())?;
    let (size, to) = filter_dims(op, filter.shape(), channels_of(input))?;
    let windows = Windows::new(op, input, size, attrs)?;
    dy.expect_shape("out_backprop", &windows.result(to)?)?;
    let (wide_dy, wide_filter) = (wide(op, dy, cx)?, wide(op, filter, cx)?);
    let sums = HostTensor::zeros(wide_dy.dtype(), input.clone(), cx.allocator)?;
    if sums.num_elements() > 0 && dy.num_elements() > 0 {
        with_float!(wide_dy, T => {
            let (dy, filter, mut sums) = (wide_dy.read::<T>()?, wide_filter.read::<T>()?, sums.write::<T>()?);
            let (dy, filter): (&[T], &[T]) = (&dy, &filter);
            let (from, cost) = (windows.channels, windows.n_taps().saturating_mul(to));
            cx.parts(&mut sums, (from, cost), &|first, part| {
                for (i, sums) in part.chunks_exact_mut(from).enumerate() {
                    windows.each_window(first / from + i, |tap, window| {
                        let dy = &dy[window * to..][..to];
                        let rows = filter[tap * from * to..].chunks_exact(to);
                        for (sum, row) in sums.iter_mut().zip(rows) {
                            *sum += row.iter().zip(dy).map(|(weight, dy)| weight * dy).sum::<T>();
                        }
                    });
                }
            });
        });
    }
    fast::cast(&sums, dy.dtype(), cx)
}

/// `Conv3DBackpropFilterV2`: the gradient by filters of shape `filter`, from the gradient by the results.
pub fn conv3d_backprop_filter(
    x: &HostTensor,
    filter: &Shape,
    dy: &HostTensor,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv3DBackpropFilterV2";
    dy.expect_dtype("out_backprop", x.dtype())?;
    let (size, to) = filter_dims(op, filter, channels_of(x.shape()))?;
    let windows = Windows::new(op, x.shape(), size, attrs)?;
    dy.expect_shape("out_backprop", &windows.result(to)?)?;
    let (wide_x, wide_dy) = (wide(op, x, cx)?, wide(op, dy, cx)?);
    let sums = HostTensor::zeros(wide_x.dtype(), filter.clone(), cx.allocator)?;
    if sums.num_elements() > 0 && dy.num_elements() > 0 {
        with_float!(wide_x, T => {
            let (x, dy, mut sums) = (wide_x.read::<T>()?, wide_dy.read::<T>()?, sums.write::<T>()?);
            let from = windows.channels;
            for (i, dy) in dy.chunks_exact(to).enumerate() {
                let (batch, at) = windows.window(i);
                windows.each_tap(batch, at, |tap, pixel| {
                    let rows = sums[tap * from * to..][..from * to].chunks_exact_mut(to);
                    for (&x, row) in x[pixel * from..][..from].iter().zip(rows) {
                        row.iter_mut().zip(dy).for_each(|(sum, &dy)| *sum += x * dy);
                    }
                });
            }
        });
    }
    fast::cast(&sums, x.dtype(), cx)
}

impl Windows {
    /// Calls `f` for each window with a tap on a pixel, with the number of the tap in the window and the
    /// number of the window's pixel in the result.
    fn each_window(&self, pixel: usize, mut f: impl FnMut(usize, usize)) {
        let [depth, height, width] = self.axes.map(|window| window.input);
        let at = [pixel / (height * width) % depth, pixel / width % height, pixel % width];
        let batch = pixel / (depth * height * width);
        let windows = |i: usize| {
            let (window, count) = (self.axes[i], self.counts[i]);
            (0..window.filter).filter_map(move |tap| Some((tap, window_of(&window, count, at[i], tap)?)))
        };
        let [_, b, c] = self.axes.map(|window| window.filter);
        let [n_z, n_y, n_x] = self.counts;
        for (i, z) in windows(0) {
            for (j, y) in windows(1) {
                if is_interrupted() {
                    return;
                }
                for (k, x) in windows(2) {
                    f((i * b + j) * c + k, ((batch * n_z + z) * n_y + y) * n_x + x);
                }
            }
        }
    }
}

/// `MaxPool3D` (if `is_max`) or `AvgPool3D` of floats. Padding contributes neither to maxima nor to means.
pub fn pool3d(
    op: &'static str,
    is_max: bool,
    x: &HostTensor,
    size: Volume,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let windows = Windows::new(op, x.shape(), size, attrs)?;
    let wide_x = wide(op, x, cx)?;
    let channels = windows.channels;
    let out = HostTensor::zeros(wide_x.dtype(), windows.result(channels)?, cx.allocator)?;
    if out.num_elements() > 0 {
        with_float!(wide_x, T => {
            let (x, mut out) = (wide_x.read::<T>()?, out.write::<T>()?);
            let x: &[T] = &x;
            cx.parts(&mut out, (channels, windows.n_taps()), &|first, part| {
                for (i, out) in part.chunks_exact_mut(channels).enumerate() {
                    let (batch, at) = windows.window(first / channels + i);
                    let mut n = 0;
                    out.fill(if is_max { T::MIN } else { 0.0 });
                    windows.each_tap(batch, at, |_, pixel| {
                        n += 1;
                        for (out, &x) in out.iter_mut().zip(&x[pixel * channels..]) {
                            *out = if !is_max {
                                *out + x
                            } else if x > *out || x.is_nan() {
                                x
                            } else {
                                *out
                            };
                        }
                    });
                    if !is_max && n > 0 {
                        out.iter_mut().for_each(|out| *out /= n as T);
                    }
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// `MaxPool3DGrad`: as on TensorFlow's CPU, every element that equals the maximum of its window gets the
/// window's gradient.
pub fn max_pool3d_grad(
    x: &HostTensor,
    y: &HostTensor,
    dy: &HostTensor,
    size: Volume,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "MaxPool3DGrad";
    let windows = Windows::new(op, x.shape(), size, attrs)?;
    let channels = windows.channels;
    let shape = windows.result(channels)?;
    y.expect_shape("orig_output", &shape)?;
    dy.expect_shape("grad", &shape)?;
    let (xs, ys, dys) =
        (reals(op, x, cx.allocator)?, reals(op, y, cx.allocator)?, reals(op, dy, cx.allocator)?);
    let sums = HostTensor::zeros(DType::F64, x.shape().clone(), cx.allocator)?;
    if dy.num_elements() > 0 {
        let (xs, ys, dys) = (xs.read::<f64>()?, ys.read::<f64>()?, dys.read::<f64>()?);
        let mut sums = sums.write::<f64>()?;
        for (i, (y, dy)) in ys.chunks_exact(channels).zip(dys.chunks_exact(channels)).enumerate() {
            let (batch, at) = windows.window(i);
            windows.each_tap(batch, at, |_, pixel| {
                let (x, sums) = (&xs[pixel * channels..], &mut sums[pixel * channels..]);
                for (c, sum) in sums[..channels].iter_mut().enumerate() {
                    *sum += if x[c] == y[c] { dy[c] } else { 0.0 };
                }
            });
        }
    }
    fast::cast(&sums, dy.dtype(), cx)
}

/// `MaxPool3DGradGrad`, the gradient of `MaxPool3DGrad` by the gradient that it distributes: for each window,
/// the element of `grads` at the position of the first element that equals the maximum.
pub fn max_pool3d_grad_grad(
    x: &HostTensor,
    y: &HostTensor,
    grads: &HostTensor,
    size: Volume,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "MaxPool3DGradGrad";
    let windows = Windows::new(op, x.shape(), size, attrs)?;
    let channels = windows.channels;
    y.expect_shape("orig_output", &windows.result(channels)?)?;
    grads.expect_shape("grad", x.shape())?;
    let (xs, ys, from) =
        (reals(op, x, cx.allocator)?, reals(op, y, cx.allocator)?, reals(op, grads, cx.allocator)?);
    let out = HostTensor::zeros(DType::F64, y.shape().clone(), cx.allocator)?;
    if y.num_elements() > 0 {
        let (xs, ys, from) = (xs.read::<f64>()?, ys.read::<f64>()?, from.read::<f64>()?);
        let mut is_open = filled(channels, true)?;
        let mut out = out.write::<f64>()?;
        for (i, (y, out)) in ys.chunks_exact(channels).zip(out.chunks_exact_mut(channels)).enumerate() {
            let (batch, at) = windows.window(i);
            is_open.fill(true);
            windows.each_tap(batch, at, |_, pixel| {
                for (c, out) in out.iter_mut().enumerate() {
                    let element = pixel * channels + c;
                    if is_open[c] && xs[element] == y[c] {
                        (*out, is_open[c]) = (from[element], false);
                    }
                }
            });
        }
    }
    fast::cast(&out, grads.dtype(), cx)
}

/// `AvgPool3DGrad` by volumes of shape `input`: the elements of a window get equal parts of its gradient.
pub fn avg_pool3d_grad(
    input: &Shape,
    dy: &HostTensor,
    size: Volume,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "AvgPool3DGrad";
    let windows = Windows::new(op, input, size, attrs)?;
    let channels = windows.channels;
    dy.expect_shape("grad", &windows.result(channels)?)?;
    expect_float(op, dy)?;
    let dys = fast::cast(dy, DType::F64, cx)?;
    let sums = HostTensor::zeros(DType::F64, input.clone(), cx.allocator)?;
    if dy.num_elements() > 0 {
        let (dys, mut sums) = (dys.read::<f64>()?, sums.write::<f64>()?);
        for (i, dy) in dys.chunks_exact(channels).enumerate() {
            let (batch, at) = windows.window(i);
            let mut n = 0.0;
            windows.each_tap(batch, at, |_, _| n += 1.0);
            windows.each_tap(batch, at, |_, pixel| {
                let sums = sums[pixel * channels..].iter_mut();
                sums.zip(dy).for_each(|(sum, dy)| *sum += dy / n);
            });
        }
    }
    fast::cast(&sums, dy.dtype(), cx)
}

/// The windows of a `Dilation2D`: those of volumes of depth 1.
struct Dilation {
    windows: Windows,
    /// The shape of the result.
    shape: Shape,
    /// Below all sums, in the operands' type.
    lowest: f64,
    /// A sum in the operands' type: integers of up to 32 bits wrap around.
    wrap: fn(f64) -> f64,
}

impl Dilation {
    fn new(
        op: &'static str,
        x: &HostTensor,
        filter: &HostTensor,
        attrs: &VolumeAttrs,
    ) -> Result<Dilation, TensorError> {
        let (&[batch, height, width, channels], &[rows, columns, c]) =
            (x.shape().dims(), filter.shape().dims())
        else {
            let (x, filter) = (x.shape(), filter.shape());
            return invalid(
                op,
                format!("images of shape {x} and filters of shape {filter}, expected ranks 4 and 3"),
            );
        };
        if c != channels {
            return invalid(op, format!("filters of {c} channels for images of {channels}"));
        }
        filter.expect_dtype("filter", x.dtype())?;
        let volume = Shape::new(&[batch, 1, height, width, channels])?;
        let windows = Windows::new(op, &volume, [1, rows, columns], attrs)?;
        let [_, n_rows, n_columns] = windows.counts;
        let shape = Shape::new(&[batch, n_rows, n_columns, channels])?;
        let lowest = match x.dtype() {
            DType::F16 => f64::from(half::f16::MIN),
            DType::BF16 => f64::from(half::bf16::MIN),
            DType::F32 => f64::from(f32::MIN),
            _ => f64::MIN,
        };
        let wrap: fn(f64) -> f64 = match x.dtype() {
            DType::I8 => |x| f64::from(x as i64 as i8),
            DType::I16 => |x| f64::from(x as i64 as i16),
            DType::I32 => |x| f64::from(x as i64 as i32),
            DType::UI8 => |x| f64::from(x as i64 as u8),
            DType::UI16 => |x| f64::from(x as i64 as u16),
            DType::UI32 => |x| f64::from(x as i64 as u32),
            _ => |x| x,
        };
        Ok(Dilation { windows, shape, lowest, wrap })
    }

    /// Calls `f` for each window and channel with the number of the result, the largest sum, and its tap and
    /// pixel: the first ones. In a window without sums above the lowest number, they are the first tap and
    /// the first pixel behind the padding, as in TensorFlow.
    fn each(
        &self,
        (xs, filters): (&[f64], &[f64]),
        mut f: impl FnMut(usize, f64, (usize, usize)),
    ) -> Result<(), TensorError> {
        let channels = self.windows.channels;
        let mut found = filled(channels, (self.lowest, (0, 0)))?;
        for i in 0..self.shape.num_elements().checked_div(channels).unwrap_or(0) {
            let (batch, at) = self.windows.window(i);
            found.fill((self.lowest, (0, self.windows.first_pixel(batch, at))));
            self.windows.each_tap(batch, at, |tap, pixel| {
                let sums = xs[pixel * channels..].iter().zip(&filters[tap * channels..]);
                for (best, (x, weight)) in found.iter_mut().zip(sums) {
                    let sum = (self.wrap)(x + weight);
                    if sum > best.0 {
                        *best = (sum, (tap, pixel));
                    }
                }
            });
            found.iter().enumerate().for_each(|(c, &(sum, at))| f(i * channels + c, sum, at));
        }
        Ok(())
    }
}

/// `Dilation2D` of images `[batch, height, width, channels]` with filters `[height, width, channels]`: for
/// each window, the largest sum of an element of the window and the element of the filter at the same tap.
/// The attributes are those of volumes of depth 1. Integers are computed in f64.
pub fn dilation2d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &VolumeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let dilation = Dilation::new("Dilation2D", x, filter, attrs)?;
    let (xs, filters) = (fast::cast(x, DType::F64, cx)?, fast::cast(filter, DType::F64, cx)?);
    let out = HostTensor::allocate(DType::F64, dilation.shape.clone(), cx.allocator)?;
    {
        let mut out = out.write::<f64>()?;
        dilation.each((&xs.read::<f64>()?, &filters.read::<f64>()?), |i, sum, _| out[i] = sum)?;
    }
    fast::cast(&out, x.dtype(), cx)
}

/// `Dilation2DBackpropInput` and `Dilation2DBackpropFilter`: each gradient of a result is added to that of
/// the element, or of the weight, whose sum it is.
pub fn dilation2d_backprop(
    op: &'static str,
    x: &HostTensor,
    filter: &HostTensor,
    dy: &HostTensor,
    attrs: &VolumeAttrs,
    by_filter: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let dilation = Dilation::new(op, x, filter, attrs)?;
    dy.expect_dtype("out_backprop", x.dtype())?;
    dy.expect_shape("out_backprop", &dilation.shape)?;
    let of = |x: &HostTensor| fast::cast(x, DType::F64, cx);
    let (xs, filters, dys) = (of(x)?, of(filter)?, of(dy)?);
    let shape = if by_filter { filter.shape() } else { x.shape() };
    let sums = HostTensor::zeros(DType::F64, shape.clone(), cx.allocator)?;
    {
        let (dys, mut sums) = (dys.read::<f64>()?, sums.write::<f64>()?);
        let channels = dilation.windows.channels;
        dilation.each((&xs.read::<f64>()?, &filters.read::<f64>()?), |i, _, (tap, pixel)| {
            let sum = &mut sums[if by_filter { tap } else { pixel } * channels + i % channels];
            *sum = (dilation.wrap)(*sum + dys[i]);
        })?;
    }
    fast::cast(&sums, x.dtype(), cx)
}
