//! ONNX's `MatMulInteger` and `ConvInteger`: 8-bit products and convolutions with zero points, in i32.
//!
//! ```text
//! matrices ── packed once for all batches that share them ──┐
//! filters (rows), windows of an image (columns) ── packed ──┴─▶ bytes
//! ```
//!
//! The padding of an image has the value of the zero point, so it contributes nothing.

use smallvec::SmallVec;

use super::super::fast::Cx;
use super::super::walk::{Offsets, broadcast_maps, broadcast_shape};
use super::bytes::{ByteColumns, ByteMatrix, PackedColumns, PackedRows, Zeros, multiply, multiply_row};
use super::window::{WindowAxis, WindowSteps, place};
use crate::error::invalid;
use crate::scratch::collected;
use crate::simd::Isa;
use crate::{DType, HostTensor, Shape, TensorError};

/// The minimum number of rows for packed products.
const PACKED_ROWS: usize = 4;

fn expect_bytes(op: &'static str, x: &HostTensor) -> Result<(), TensorError> {
    match x.dtype() {
        DType::I8 | DType::UI8 => Ok(()),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// The elements of an 8-bit tensor, as i32.
fn numbers(x: &HostTensor) -> Result<Vec<i32>, TensorError> {
    let bytes = x.read_bytes()?;
    let is_signed = x.dtype() == DType::I8;
    collected(bytes.iter().map(|&byte| if is_signed { i32::from(byte as i8) } else { i32::from(byte) }))
}

/// The zero points of batches of matrices.
struct BatchZeros {
    numbers: Vec<i32>,
    /// The number of zero points for each matrix.
    each: usize,
    /// The batch dimensions.
    batch: Shape,
}

impl BatchZeros {
    /// The zero points of matrices with `n` rows (`at` is 0) or `n` columns (`at` is 1).
    fn new(
        op: &'static str,
        zeros: &HostTensor,
        (at, n): (usize, usize),
        of: &HostTensor,
    ) -> Result<BatchZeros, TensorError> {
        zeros.expect_dtype("zero point", of.dtype())?;
        let (each, batch) = match *zeros.shape().dims() {
            [] | [1] => (1, &[][..]),
            [len] if len == n => (n, &[][..]),
            [ref batch @ .., rows, columns] => {
                let (len, other) = if at == 0 { (rows, columns) } else { (columns, rows) };
                if other != 1 || (len != 1 && len != n) {
                    return invalid(op, format!("zero points of shape {} for {n}", zeros.shape()));
                }
                (len, batch)
            }
            _ => return invalid(op, format!("zero points of shape {} for {n}", zeros.shape())),
        };
        Ok(BatchZeros { numbers: numbers(zeros)?, each, batch: Shape::new(batch)? })
    }

    fn at(&self, batch: usize) -> Result<Zeros, TensorError> {
        let from = self.numbers.get(batch * self.each..).unwrap_or(&[]);
        Ok(Zeros::new(collected(from.iter().take(self.each).copied())?))
    }
}

/// The matrices of an operand: batch dimensions, rows and columns. A vector is a row on the left and a column
/// on the right.
fn matrices(op: &'static str, x: &Shape, is_left: bool) -> Result<(Shape, usize, usize), TensorError> {
    match *x.dims() {
        [] => invalid(op, "a scalar is no matrix".to_owned()),
        [n] if is_left => Ok((Shape::scalar(), 1, n)),
        [n] => Ok((Shape::scalar(), n, 1)),
        [ref batch @ .., rows, columns] => Ok((Shape::new(batch)?, rows, columns)),
    }
}

/// `_QuantizedMatMul`: the products of 8-bit matrices, from which zero points are subtracted.
pub fn quantized_matmul(
    a: &HostTensor,
    b: &HostTensor,
    a_zero: &HostTensor,
    b_zero: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_QuantizedMatMul";
    expect_bytes(op, a)?;
    expect_bytes(op, b)?;
    let (a_batch, m, k) = matrices(op, a.shape(), true)?;
    let (b_batch, rows, n) = matrices(op, b.shape(), false)?;
    if rows != k {
        return Err(TensorError::MatmulShapes { a: a.shape().clone(), b: b.shape().clone() });
    }
    let za = BatchZeros::new(op, a_zero, (0, m), a)?;
    let zb = BatchZeros::new(op, b_zero, (1, n), b)?;
    let batch = broadcast_shape(&a_batch, &b_batch)?;
    if [&za.batch, &zb.batch]
        .into_iter()
        .any(|own| broadcast_shape(own, &batch).ok().as_ref() != Some(&batch))
    {
        let problem = format!("zero points of batches {} and {} for {batch}", za.batch, zb.batch);
        return invalid(op, problem);
    }
    let mut dims = batch.dims().to_vec();
    dims.extend([m].iter().filter(|_| a.shape().rank() > 1));
    dims.extend([n].iter().filter(|_| b.shape().rank() > 1));
    let out = HostTensor::allocate(DType::I32, Shape::new(&dims)?, cx.allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    let (left, right, mut sums) = (a.read_bytes()?, b.read_bytes()?, out.write::<i32>()?);
    // With a single right matrix, the rows of all batches form one left matrix.
    let is_one = b_batch.num_elements() == 1 && za.batch.num_elements() == 1 && zb.batch.num_elements() == 1;
    let (batch, m) = if is_one { (Shape::scalar(), m * batch.num_elements()) } else { (batch, m) };
    let of = |own: &Shape| {
        let own = if is_one { Shape::scalar() } else { own.clone() };
        collected(Offsets::new(broadcast_maps(&own, &batch)))
    };
    let isa = Isa::detect();
    let is_packed = m >= PACKED_ROWS;
    let room = if is_packed { (m, n) } else { (0, 0) };
    let (packed_a, packed_b) = (PackedRows::new(room.0, k, cx)?, PackedColumns::new(k, room.1, cx)?);
    let mut last = None;
    let zeros = of(&za.batch)?.into_iter().zip(of(&zb.batch)?);
    let places = of(&a_batch)?.into_iter().zip(of(&b_batch)?).zip(zeros);
    for (out, ((i, j), (i_zero, j_zero))) in sums.chunks_exact_mut(m * n).zip(places) {
        let (left, right) = (&left[i * m * k..][..m * k], &right[j * k * n..][..k * n]);
        let (za, zb) = (za.at(i_zero)?, zb.at(j_zero)?);
        if is_packed {
            packed_a.pack(left, a.dtype(), cx)?;
            if last.replace(j) != Some(j) {
                packed_b.pack(&ByteMatrix { bytes: right, columns: n }, b.dtype(), cx)?;
            }
            let (za, zb) = (za.of_rows(a.dtype()), zb.of_columns(b.dtype()));
            multiply(isa, (&packed_a, 0, &za), (&packed_b, &zb), out, cx)?;
        } else {
            for (i, out) in out.chunks_exact_mut(n).enumerate() {
                let b = (ByteMatrix { bytes: right, columns: n }, b.dtype(), &zb);
                multiply_row(isa, (&left[i * k..][..k], a.dtype(), za.at(i)), b, out, cx)?;
            }
        }
    }
    drop(sums);
    Ok(out)
}

/// The windows of a group of channels of an image as columns; the rows are channels and taps.
struct WindowColumns<'a> {
    /// The planes of the channels.
    image: &'a [u8],
    channels: usize,
    spans: &'a [WindowAxis],
    /// The value of the padding.
    outside: u8,
}

/// Neighbouring windows along the last axis.
struct Run {
    /// The window's index along each other axis.
    at: SmallVec<[usize; 4]>,
    first: usize,
    len: usize,
}

impl WindowColumns<'_> {
    fn runs(&self, mut first: usize, width: usize) -> SmallVec<[Run; 4]> {
        let mut runs = SmallVec::new();
        let end = first + width;
        while first < end {
            let mut at = SmallVec::from_elem(0, self.spans.len());
            place(self.spans, first, &mut at);
            let (o, count) = (at.pop().unwrap_or(0), self.spans.last().map_or(1, |span| span.count));
            let len = (count - o).min(end - first);
            runs.push(Run { at, first: o, len });
            first += len;
        }
        runs
    }
}

impl ByteColumns for WindowColumns<'_> {
    fn panel(&self, first: usize, width: usize, put: &mut dyn FnMut(usize, &[u8])) {
        let Some((last, outer)) = self.spans.split_last() else { return };
        let runs = self.runs(first, width);
        let taps: usize = self.spans.iter().map(|span| span.size).product();
        let mut bytes = [0; crate::simd::LANES];
        let mut tap: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.spans.len());
        for step in 0..self.channels * taps {
            let mut rest = step % taps;
            for (tap, span) in tap.iter_mut().zip(self.spans).rev() {
                *tap = rest % span.size;
                rest /= span.size;
            }
            let mut to = &mut bytes[..width];
            for run in &runs {
                let (part, after) = to.split_at_mut(run.len);
                to = after;
                let line =
                    outer.iter().zip(&run.at).zip(&tap).try_fold(step / taps, |line, ((span, &o), &j)| {
                        span.inside(o, j).map(|position| line * span.len + position)
                    });
                let Some(line) = line else {
                    part.fill(self.outside);
                    continue;
                };
                last.copy_taps(
                    &self.image[line * last.len..][..last.len],
                    (run.first, tap[outer.len()]),
                    part,
                    self.outside,
                );
            }
            put(step, &bytes[..width]);
        }
    }
}

/// The windows of filters `[out channels, channels of a group, ...]` over images, and the shape of the
/// result.
pub(super) fn convolved(
    op: &'static str,
    x: &Shape,
    w: &Shape,
    steps: &WindowSteps,
    group: usize,
) -> Result<(Vec<WindowAxis>, Shape), TensorError> {
    let (&[batch, channels, ref space @ ..], &[outs, from, ref sizes @ ..]) = (x.dims(), w.dims()) else {
        return invalid(op, format!("filters of shape {w} for images of shape {x}"));
    };
    let fits = group > 0 && outs % group == 0 && from.checked_mul(group) == Some(channels);
    if !fits || space.is_empty() || space.len() != sizes.len() {
        return invalid(op, format!("filters of shape {w} in {group} groups for images of shape {x}"));
    }
    let spans = steps.spans(op, space, sizes, false)?;
    let mut dims = vec![batch, outs];
    dims.extend(spans.iter().map(|span| span.count));
    Ok((spans, Shape::new(&dims)?))
}

/// `_QuantizedConv`: the convolution of 8-bit images with 8-bit filters, from which zero points are
/// subtracted.
pub fn quantized_conv(
    x: &HostTensor,
    w: &HostTensor,
    x_zero: &HostTensor,
    w_zero: &HostTensor,
    (steps, group): (&WindowSteps, usize),
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_QuantizedConv";
    expect_bytes(op, x)?;
    expect_bytes(op, w)?;
    x_zero.expect_dtype("x_zero_point", x.dtype())?;
    w_zero.expect_dtype("w_zero_point", w.dtype())?;
    let (spans, shape) = convolved(op, x.shape(), w.shape(), steps, group)?;
    let outs = shape.dims()[1];
    if x_zero.num_elements() != 1 || x_zero.shape().rank() > 1 {
        return invalid(op, format!("`x_zero_point` has shape {}", x_zero.shape()));
    }
    if !(w_zero.num_elements() == 1 && w_zero.shape().rank() < 2 || w_zero.shape().dims() == [outs]) {
        return invalid(op, format!("`w_zero_point` has shape {} for {outs} channels", w_zero.shape()));
    }
    let out = HostTensor::allocate(DType::I32, shape, cx.allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    let steps = w.num_elements() / outs;
    let windows: usize = spans.iter().map(|span| span.count).product();
    let (rows, columns) = (PackedRows::new(outs, steps, cx)?, PackedColumns::new(steps, windows, cx)?);
    rows.pack(&w.read_bytes()?, w.dtype(), cx)?;
    let (outside, x_zero) = (x_zero.read_bytes()?[0], Zeros::new(numbers(x_zero)?).of_columns(x.dtype()));
    let filters = numbers(w_zero)?;
    let each = outs / group;
    let (images, mut sums) = (x.read_bytes()?, out.write::<i32>()?);
    let image = x.num_elements() / (x.shape().dims()[0] * group); // neither is 0
    for (i, out) in sums.chunks_exact_mut(each * windows).enumerate() {
        let first = i % group * each;
        let source = WindowColumns {
            image: &images[i * image..][..image],
            channels: w.shape().dims()[1],
            spans: &spans,
            outside,
        };
        columns.pack(&source, x.dtype(), cx)?;
        let own = if filters.len() == 1 { &filters[..] } else { &filters[first..first + each] };
        let w_zero = Zeros::new(own.to_vec()).of_rows(w.dtype());
        multiply(Isa::detect(), (&rows, first, &w_zero), (&columns, &x_zero), out, cx)?;
    }
    drop(sums);
    Ok(out)
}
