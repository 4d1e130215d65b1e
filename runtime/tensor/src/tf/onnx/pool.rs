//! ONNX's poolings over any number of spatial axes.
//!
//! The results along the last axis are computed together, line by line of the image. A line is folded tap by
//! tap for many windows of few taps, and window by window otherwise. Both orders reduce the taps of a window
//! in row-major order.
//!
//! The maximum of a window ignores NaNs, unless all elements are NaN.

use smallvec::SmallVec;

use super::super::fast::{self, Cx};
use super::window::{WindowAxis, WindowSteps, each_tap, place};
use super::{WideFloat, wide, with_float};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::{DType, HostTensor, Shape, TensorError};

/// The result of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pooling {
    /// The largest element; of a window without elements, -inf or the lowest integer.
    Max,
    /// The mean of the elements.
    Average {
        /// True if the zeros of the padding count as elements.
        padded: bool,
    },
    /// The p-norm of the elements, for this p.
    Lp(i64),
}

/// The windows of a pooling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolWindows {
    /// The number of elements along each spatial axis.
    pub kernel: Vec<usize>,
    /// Strides, dilations and pads.
    pub steps: WindowSteps,
    /// True if the last window may reach beyond the padding.
    pub ceil: bool,
}

/// The windows over the planes of a tensor, one plane for each image and channel.
struct PooledPlanes {
    spans: Vec<WindowAxis>,
    /// The shape of the result.
    shape: Shape,
    /// The number of elements of a plane.
    plane: usize,
}

impl PooledPlanes {
    fn new(op: &'static str, x: &Shape, windows: &PoolWindows) -> Result<PooledPlanes, TensorError> {
        let [batch, channels, space @ ..] = x.dims() else {
            return invalid(op, format!("shape {x} has no batch and channels"));
        };
        if space.is_empty() {
            return invalid(op, format!("shape {x} has no axis of space"));
        }
        let spans = windows.steps.spans(op, space, &windows.kernel, windows.ceil)?;
        let mut dims = vec![*batch, *channels];
        dims.extend(spans.iter().map(|span| span.count));
        Ok(PooledPlanes { shape: Shape::new(&dims)?, plane: space.iter().product(), spans })
    }

    /// A bound of the number of taps of a window inside of the image.
    fn taps(&self) -> usize {
        self.spans.iter().fold(1, |n, span| span.size.min(span.len).saturating_mul(n))
    }

    /// The outer axes, and the last axis.
    fn split(&self) -> (&[WindowAxis], &WindowAxis) {
        let (last, outer) = self.spans.split_last().unwrap_or_else(|| unreachable!("there is an axis"));
        (outer, last)
    }
}

/// The maximum number of taps along the last axis for which lines are folded tap by tap.
const FEW: usize = 32;

/// Folds a line of the image into a row of windows.
fn fold_line<T: Copy>(span: &WindowAxis, line: &[T], row: &mut [T], f: impl Fn(T, T) -> T) {
    if span.size > FEW || row.len() < 4 {
        for (o, acc) in row.iter_mut().enumerate() {
            let taps = span.taps(o);
            let inside = line[span.position(o, taps.start).min(line.len())..].iter();
            let inside = inside.step_by(span.dilation as usize).take(taps.len());
            *acc = inside.fold(*acc, |acc, &x| f(acc, x));
        }
        return;
    }
    for j in 0..span.size {
        let windows = span.windows_of(j);
        if windows.is_empty() {
            continue;
        }
        let line = &line[span.position(windows.start, j)..];
        let row = &mut row[windows];
        if span.stride == 1 {
            row.iter_mut().zip(line).for_each(|(acc, &x)| *acc = f(*acc, x));
        } else {
            let line = line.iter().step_by(span.stride as usize);
            row.iter_mut().zip(line).for_each(|(acc, &x)| *acc = f(*acc, x));
        }
    }
}

/// Reduces the windows of one row of the result.
fn reduce_row<T: WideFloat>(kind: Pooling, planes: &PooledPlanes, x: &[T], number: usize, row: &mut [T]) {
    let (outer, last) = planes.split();
    let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    let plane = place(outer, number, &mut at);
    let each_line = |f: &mut dyn FnMut(&[T])| {
        each_tap(outer, &at, (0, plane), &mut |_, line| {
            if !is_interrupted() {
                f(&x[line * last.len..][..last.len]);
            }
        });
    };
    let outer_taps = |taps: &dyn Fn(&WindowAxis, usize) -> usize| {
        outer.iter().zip(&at).fold(1usize, |n, (span, &o)| n.saturating_mul(taps(span, o)))
    };
    match kind {
        Pooling::Max => {
            row.fill(T::rounded(f64::NAN));
            let larger = |best: T, x: T| if x > best || best.is_nan() { x } else { best };
            each_line(&mut |line| fold_line(last, line, row, larger));
            let lines = outer_taps(&|span, o| span.taps(o).len());
            for (o, best) in row.iter_mut().enumerate().filter(|(_, best)| best.is_nan()) {
                if lines == 0 || last.taps(o).is_empty() {
                    *best = T::LOWEST;
                }
            }
        }
        Pooling::Average { padded } => {
            row.fill(T::ZERO);
            each_line(&mut |line| fold_line(last, line, row, |sum, x| sum + x));
            let count = |span: &WindowAxis, o| if padded { span.padded_taps(o) } else { span.taps(o).len() };
            let lines = outer_taps(&count);
            for (o, sum) in row.iter_mut().enumerate() {
                *sum = *sum / T::rounded(lines.saturating_mul(count(last, o)) as f64);
            }
        }
        Pooling::Lp(p) => {
            row.fill(T::ZERO);
            let abs = |x: T| if x < T::ZERO { T::ZERO - x } else { x };
            match p {
                1 => each_line(&mut |line| fold_line(last, line, row, |sum, x| sum + abs(x))),
                2 => each_line(&mut |line| fold_line(last, line, row, |sum, x| sum + x * x)),
                _ => each_line(&mut |line| {
                    let power = |x: T| T::rounded(abs(x).wide().powf(p as f64));
                    fold_line(last, line, row, |sum, x| sum + power(x));
                }),
            }
            for sum in row.iter_mut().filter(|_| p != 1) {
                let root = if p == 2 { sum.wide().sqrt() } else { sum.wide().powf(1.0 / p as f64) };
                *sum = T::rounded(root);
            }
        }
    }
}

/// The elements in the float type of the computation. 8-bit integers are accepted for maxima only.
fn pooled_type(
    op: &'static str,
    kind: Pooling,
    x: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    match x.dtype() {
        DType::I8 | DType::UI8 if kind == Pooling::Max => fast::cast(x, DType::F32, cx),
        _ => wide(op, x, cx),
    }
}

/// `_Pool`: a reduction of each window, in each channel.
pub fn window_pool(
    kind: Pooling,
    x: &HostTensor,
    windows: &PoolWindows,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_Pool";
    let planes = PooledPlanes::new(op, x.shape(), windows)?;
    if let Pooling::Lp(..=0) = kind {
        return invalid(op, format!("`p` must be positive: {kind:?}"));
    }
    let wide = pooled_type(op, kind, x, cx)?;
    let out = HostTensor::allocate(wide.dtype(), planes.shape.clone(), cx.allocator)?;
    if out.num_elements() > 0 {
        let n = planes.split().1.count;
        with_float!(wide, T => {
            let (x, mut out) = (wide.read::<T>()?, out.write::<T>()?);
            let x: &[T] = &x;
            cx.parts(&mut out, (n, planes.taps()), &|first, part| {
                for (row, number) in part.chunks_exact_mut(n).zip(first / n..) {
                    reduce_row(kind, &planes, x, number, row);
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// Sets a row of results to the position in the plane of each window's largest element; -1 for a window
/// without elements.
fn find_row<T: WideFloat>(planes: &PooledPlanes, x: &[T], number: usize, row: &mut [i64]) {
    let (outer, last) = planes.split();
    let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    let plane = &x[place(outer, number, &mut at) * planes.plane..][..planes.plane];
    row.fill(-1);
    each_tap(outer, &at, (0, 0), &mut |_, line| {
        for (o, best) in row.iter_mut().enumerate() {
            if o % FEW == FEW - 1 && is_interrupted() {
                return;
            }
            for tap in last.taps(o) {
                let position = line * last.len + last.position(o, tap);
                let is_better = match usize::try_from(*best) {
                    Ok(best) => plane[position] > plane[best] || plane[best].is_nan(),
                    Err(_) => true,
                };
                if is_better {
                    *best = position as i64;
                }
            }
        }
    });
}

/// Copies the elements at the given positions in planes. There are `n` positions for each plane.
fn take<const N: usize>((x, plane): (&[u8], usize), (at, n): (&[i64], usize), out: &mut [u8]) {
    let x = x.as_chunks::<N>().0;
    for (i, (out, &at)) in out.as_chunks_mut::<N>().0.iter_mut().zip(at).enumerate() {
        *out = x[i / n * plane + at as usize];
    }
}

/// `_MaxPoolWithIndices`: the largest element of each window, the first of equal ones, and its position among
/// all elements of `x`. Positions within a plane are column-major if `columns_first`, else row-major.
pub fn max_pool_with_indices(
    x: &HostTensor,
    windows: &PoolWindows,
    columns_first: bool,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "_MaxPoolWithIndices";
    let planes = PooledPlanes::new(op, x.shape(), windows)?;
    let wide = pooled_type(op, Pooling::Max, x, cx)?;
    let values = HostTensor::allocate(x.dtype(), planes.shape.clone(), cx.allocator)?;
    let indices = HostTensor::allocate(DType::I64, planes.shape.clone(), cx.allocator)?;
    if values.num_elements() == 0 {
        return Ok([values, indices]);
    }
    let mut at = indices.write::<i64>()?;
    let n = planes.split().1.count;
    with_float!(wide, T => {
        let x = wide.read::<T>()?;
        let x: &[T] = &x;
        cx.parts(&mut at, (n, planes.taps()), &|first, part| {
            for (row, number) in part.chunks_exact_mut(n).zip(first / n..) {
                find_row(&planes, x, number, row);
            }
        });
    });
    if is_interrupted() {
        return Err(TensorError::Interrupted);
    }
    if at.contains(&-1) {
        return invalid(op, format!("a window has no element of an image of shape {}", x.shape()));
    }
    let each: usize = planes.spans.iter().map(|span| span.count).product();
    {
        let (from, mut to) = (x.read_bytes()?, values.write_bytes()?);
        let (from, at) = ((&from[..], planes.plane), (&at[..], each));
        match x.dtype().size() {
            1 => take::<1>(from, at, &mut to),
            2 => take::<2>(from, at, &mut to),
            4 => take::<4>(from, at, &mut to),
            _ => take::<8>(from, at, &mut to),
        }
    }
    for (i, at) in at.iter_mut().enumerate() {
        if columns_first {
            let (mut rest, mut size, mut turned) = (*at as usize, planes.plane, 0);
            for span in planes.spans.iter().rev() {
                size /= span.len; // the stride of this axis in column-major order
                turned += rest % span.len * size;
                rest /= span.len;
            }
            *at = turned as i64;
        }
        *at += (i / each * planes.plane) as i64;
    }
    drop(at);
    Ok([values, indices])
}
