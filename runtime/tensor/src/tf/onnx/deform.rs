//! ONNX's `DeformConv` and `Col2Im`: convolutions with displaced taps, and images as sums of windows; and
//! the windows of images, which the gradient of `Col2Im` consists of.
//!
//! ```text
//! image ─▶ matrix with a row per channel and tap: samples between pixels, times the mask ─▶ filters * matrix
//! ```

use super::super::fast::{self, Cx};
use super::super::numeric::{Domain, Number};
use super::super::{Transposition, reference::slice};
use super::quantized::convolved;
use super::window::{WindowAxis, WindowSteps, each_tap, place};
use super::{WideFloat, wide, with_float};
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::{STEPS, is_interrupted};
use crate::{HostTensor, Shape, TensorError};

/// The operands of a deformable convolution.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are ONNX's")]
pub struct Deformed<'a> {
    pub x: &'a HostTensor,
    pub w: &'a HostTensor,
    pub offset: &'a HostTensor,
    pub bias: &'a HostTensor,
    pub mask: &'a HostTensor,
}

/// The bilinear interpolation at a position between pixels; pixels outside of the image are zeros.
fn pixel<T: WideFloat>(plane: &[T], (height, width): (usize, usize), y: f64, x: f64) -> T {
    if !(y > -1.0 && y < height as f64 && x > -1.0 && x < width as f64) {
        return T::ZERO;
    }
    let (top, left) = (y.floor(), x.floor());
    let (v, u) = (T::rounded(y - top), T::rounded(x - left));
    let at = |row: f64, column: f64| {
        let is_inside = row >= 0.0 && row < height as f64 && column >= 0.0 && column < width as f64;
        if is_inside { plane[row as usize * width + column as usize] } else { T::ZERO }
    };
    let above = at(top, left) * (T::ONE - u) + at(top, left + 1.0) * u;
    let below = at(top + 1.0, left) * (T::ONE - u) + at(top + 1.0, left + 1.0) * u;
    above * (T::ONE - v) + below * v
}

/// `_DeformConv` of images `[batch, channels, height, width]`. The offsets are
/// `[batch, 2 * offset groups * taps, rows, columns]`, vertical and horizontal for each tap. The mask is
/// `[batch, offset groups * taps, rows, columns]`.
pub fn deform_conv(
    operands: &Deformed<'_>,
    steps: &WindowSteps,
    [group, offset_group]: [usize; 2],
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_DeformConv";
    let Deformed { x, w, offset, bias, mask } = *operands;
    let (spans, shape) = convolved(op, x.shape(), w.shape(), steps, group)?;
    let (&[batch, channels, height, width], &[outs, from, ..], &[down, across]) =
        (x.shape().dims(), w.shape().dims(), &spans[..])
    else {
        return invalid(op, format!("images of shape {}, expected rank 4", x.shape()));
    };
    if offset_group == 0 || channels % offset_group != 0 {
        return invalid(op, format!("{offset_group} groups of offsets for {channels} channels"));
    }
    let taps = down.size.checked_mul(across.size).ok_or(TensorError::TooLarge)?;
    let planes = taps.checked_mul(offset_group).ok_or(TensorError::TooLarge)?;
    let (rows, columns) = (down.count, across.count);
    let displaced = planes.checked_mul(2).ok_or(TensorError::TooLarge)?;
    offset.expect_shape("offset", &Shape::new(&[batch, displaced, rows, columns])?)?;
    mask.expect_shape("mask", &Shape::new(&[batch, planes, rows, columns])?)?;
    bias.expect_shape("bias", &Shape::new(&[outs])?)?;
    for (what, other) in [("w", w), ("offset", offset), ("bias", bias), ("mask", mask)] {
        other.expect_dtype(what, x.dtype())?;
    }
    let [wide_x, wide_w] = [wide(op, x, cx)?, wide(op, w, cx)?];
    let [wide_offset, wide_bias, wide_mask] =
        [wide(op, offset, cx)?, wide(op, bias, cx)?, wide(op, mask, cx)?];
    let out = HostTensor::allocate(wide_x.dtype(), shape, cx.allocator)?;
    if out.num_elements() == 0 {
        return fast::cast(&out, x.dtype(), cx);
    }
    let (windows, k, each) = (rows * columns, from * taps, outs / group);
    let sampled = HostTensor::allocate(wide_x.dtype(), Shape::new(&[k, windows])?, cx.allocator)?;
    let per_offset = channels / offset_group;
    for image in 0..batch * group {
        let (n, g) = (image / group, image % group);
        with_float!(wide_x, T => {
            let (x, offset, mask) = (wide_x.read::<T>()?, wide_offset.read::<T>()?, wide_mask.read::<T>()?);
            let (x, offset, mask): (&[T], &[T], &[T]) = (&x, &offset, &mask);
            cx.parts(&mut sampled.write::<T>()?, (windows, 64), &|first, part| {
                for (row, out) in (first / windows..).zip(part.chunks_exact_mut(windows)) {
                    let (channel, tap) = (g * from + row / taps, row % taps);
                    let plane = &x[(n * channels + channel) * height * width..][..height * width];
                    let own = n * planes + channel / per_offset * taps + tap;
                    let offset = &offset[2 * own * windows..][..2 * windows];
                    let mask = &mask[own * windows..][..windows];
                    let (i, j) = (tap / across.size, tap % across.size);
                    for (at, (out, &factor)) in out.iter_mut().zip(mask).enumerate() {
                        let y = down.unbounded(at / columns, i) as f64 + offset[at].wide();
                        let x = across.unbounded(at % columns, j) as f64 + offset[windows + at].wide();
                        *out = factor * pixel(plane, (height, width), y, x);
                    }
                }
            });
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            let begin: Vec<i64> = [g * each, 0, 0, 0].iter().map(|&i| i as i64).collect();
            let own = slice(&wide_w, &begin, &[each as i64, -1, -1, -1], cx.allocator)?;
            let own = own.reshaped(Shape::new(&[each, k])?)?;
            let sums = fast::matmul(&own, Transposition::None, &sampled, Transposition::None, cx)?;
            let (sums, bias, mut out) = (sums.read::<T>()?, wide_bias.read::<T>()?, out.write::<T>()?);
            let out = &mut out[image * each * windows..][..each * windows];
            let lines = out.chunks_exact_mut(windows).zip(sums.chunks_exact(windows));
            for ((out, sums), &bias) in lines.zip(&bias[g * each..]) {
                out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = sum + bias);
            }
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// `_Col2Im`: images of shape `image` as the sums of their windows, `[batch, channels * taps, windows]`.
pub fn col_to_image(
    x: &HostTensor,
    image: &[i64],
    block: &[i64],
    steps: &WindowSteps,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_Col2Im";
    let &[batch, planes, windows] = x.shape().dims() else {
        return invalid(op, format!("windows of shape {}, expected rank 3", x.shape()));
    };
    let (image, block) = (Shape::from_i64(image)?, Shape::from_i64(block)?);
    let spans = steps.spans(op, image.dims(), block.dims(), false)?;
    let taps = block.num_elements();
    let count = spans.iter().try_fold(1usize, |n, span| n.checked_mul(span.count));
    if spans.is_empty() || planes % taps != 0 || count != Some(windows) {
        let problem = format!("windows of shape {} for images of {image} and blocks of {block}", x.shape());
        return invalid(op, problem);
    }
    let shape = Shape::new(&[&[batch, planes / taps], image.dims()].concat())?;
    let out = HostTensor::zeros(x.dtype(), shape, cx.allocator)?;
    if out.num_elements() > 0 {
        let (plane, columns) = (image.num_elements(), taps * windows);
        let cost = columns.div_ceil(plane).saturating_mul(8);
        with_element!(x.dtype(), T => {
            let (x, mut out) = (x.read::<T>()?, out.write::<T>()?);
            let x: &[T] = &x;
            cx.parts(&mut out, (plane, cost), &|first, part| {
                for (number, out) in (first / plane..).zip(part.chunks_exact_mut(plane)) {
                    let x = &x[number * columns..][..columns];
                    each_element(&spans, windows, &mut |position, element| {
                        out[position] = T::narrow(out[position].widen().plus(x[element].widen()));
                    });
                }
            });
        });
    }
    Ok(out)
}

/// `_Im2Col`: the windows of images of any number of spatial axes, `[batch, channels * taps, windows]`. Taps
/// in the padding are zeros.
pub fn image_to_col(
    x: &HostTensor,
    block: &[i64],
    steps: &WindowSteps,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_Im2Col";
    let &[batch, channels, ref image @ ..] = x.shape().dims() else {
        return invalid(op, format!("images of shape {}, expected batch and channels", x.shape()));
    };
    let block = Shape::from_i64(block)?;
    let spans = steps.spans(op, image, block.dims(), false)?;
    let (plane, taps) = (image.iter().product::<usize>(), block.num_elements());
    let windows = spans.iter().try_fold(1usize, |n, span| n.checked_mul(span.count));
    let windows = windows.ok_or(TensorError::TooLarge)?;
    let planes = channels.checked_mul(taps).ok_or(TensorError::TooLarge)?;
    let out = HostTensor::zeros(x.dtype(), Shape::new(&[batch, planes, windows])?, cx.allocator)?;
    if out.num_elements() > 0 {
        let columns = taps * windows;
        with_element!(x.dtype(), T => {
            let (x, mut out) = (x.read::<T>()?, out.write::<T>()?);
            let x: &[T] = &x;
            cx.parts(&mut out, (columns, 8), &|first, part| {
                for (number, out) in (first / columns..).zip(part.chunks_exact_mut(columns)) {
                    let x = &x[number * plane..][..plane];
                    each_element(&spans, windows, &mut |position, element| out[element] = x[position]);
                }
            });
        });
    }
    Ok(out)
}

/// Calls `f` for each element of each window, window by window, with its position in the image and its
/// number in a matrix `[taps, windows]`.
fn each_element(spans: &[WindowAxis], windows: usize, f: &mut dyn FnMut(usize, usize)) {
    let mut at = vec![0; spans.len()];
    for window in 0..windows {
        if window % (STEPS >> 10) == 0 && is_interrupted() {
            return;
        }
        place(spans, window, &mut at);
        each_tap(spans, &at, (0, 0), &mut |tap, position| f(position, tap * windows + window));
    }
}
