//! Poolings with windows of two sizes, so that the ratio of the sizes of operand and result is any number.
//!
//! ```text
//! 7 rows, ratio 1.5 ──▶ 4 windows of 1 or 2 rows, in random order ──▶ starts 0 2 4 5, end 7
//! ```
//!
//! The starts of the windows and the end of the last one are results, and operands of the gradients. Windows
//! that overlap have the first row of the next one, too.

use std::ops::Range;

use super::fast::{self, Cx};
use super::numeric::{Domain, Number};
use super::philox::WORDS;
use super::random::{Generator, shuffle};
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, filled, push, with_room};
use crate::{DType, HostTensor, Shape, TensorError};

/// The attributes of a pooling.
#[derive(Clone, Copy, Debug)]
pub struct FractionalAttrs {
    /// The ratios along rows and columns.
    pub ratios: [f32; 2],
    /// True for windows at multiples of the ratio from a random start, false for windows in a random order.
    pub is_pseudo_random: bool,
    /// True if windows have the first row and the first column of the next one.
    pub is_overlapping: bool,
}

/// The reduction of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FractionalPool {
    /// `FractionalMaxPool`.
    Max,
    /// `FractionalAvgPool`.
    Mean,
}

/// The number of windows of an axis; `None` if the ratio is no number from 1 to the length.
pub(super) fn n_windows(length: usize, ratio: f32) -> Option<usize> {
    let n = (length as f32 / ratio).floor();
    (ratio >= 1.0 && n >= 1.0).then_some(n as usize).filter(|&n| n <= length)
}

/// The starts of `n` windows along an axis, and its length.
fn sequence(
    length: usize,
    n: usize,
    is_pseudo_random: bool,
    generator: &Generator,
) -> Result<Vec<i64>, TensorError> {
    let mut ends: Vec<i64> = with_room(n + 1)?;
    if is_pseudo_random {
        let (smaller, ratio) = ((length / n) as f64, length as f64 / n as f64);
        // Starts beyond one of these would make the first or the last window too large or too small.
        let first = (smaller + 2.0) / ratio - 1.0;
        let last = (length as f64 + 1.0 - smaller) / ratio - (n as f64 - 1.0);
        let start = generator.take(1).words().next_double() * first.min(last);
        push(&mut ends, 0)?;
        (1..n).try_for_each(|i| push(&mut ends, (ratio * (i as f64 + start)).ceil() as i64 - 1))?;
        push(&mut ends, length as i64)?;
        return Ok(ends);
    }
    let (smaller, n_larger) = (length / n, length % n);
    let mut sizes = collected((0..n).map(|i| (smaller + usize::from(i < n_larger)) as i64))?;
    shuffle(&mut sizes, &mut generator.take((n as u64).div_ceil(WORDS as u64)).words());
    let mut end = 0;
    push(&mut ends, end)?;
    for size in sizes {
        end += size;
        push(&mut ends, end)?;
    }
    Ok(ends)
}

/// The windows along the axes of NHWC images.
struct Cells {
    rows: Vec<Range<usize>>,
    columns: Vec<Range<usize>>,
    image: [usize; 4],
}

/// The windows with these starts and end, inside of an axis.
fn windows(
    op: &'static str,
    ends: &[i64],
    n: usize,
    length: usize,
    is_overlapping: bool,
) -> Result<Vec<Range<usize>>, TensorError> {
    if ends.len() <= n || ends.iter().any(|&end| end < 0) {
        return invalid(
            op,
            format!("windows from {} numbers, expected {n} starts >= 0 and an end", ends.len()),
        );
    }
    let window = |pair: &[i64]| {
        let end = (pair[1] as usize).saturating_add(usize::from(is_overlapping)).min(length);
        (pair[0] as usize).min(end)..end
    };
    collected(ends.windows(2).take(n).map(window))
}

impl Cells {
    /// The windows of a result `[batch, rows, columns, channels]` of images.
    fn new(
        op: &'static str,
        image: &Shape,
        result: &Shape,
        [rows, columns]: [&[i64]; 2],
        is_overlapping: bool,
    ) -> Result<Cells, TensorError> {
        match (image.dims(), result.dims()) {
            (&[n, height, width, channels], &[m, n_rows, n_columns, c]) if n == m && channels == c => {
                Ok(Cells {
                    rows: windows(op, rows, n_rows, height, is_overlapping)?,
                    columns: windows(op, columns, n_columns, width, is_overlapping)?,
                    image: [n, height, width, channels],
                })
            }
            _ => invalid(op, format!("results of shape {result} for images of shape {image}")),
        }
    }

    /// Calls `f` with the first element of each pixel of the result, and the first elements of the pixels of
    /// its window.
    fn each(&self, mut f: impl FnMut(usize, &mut dyn Iterator<Item = usize>, usize)) {
        let [batch, height, width, channels] = self.image;
        let mut to = 0;
        for n in 0..batch {
            for rows in &self.rows {
                for columns in self.columns.iter().take_while(|_| !is_interrupted()) {
                    let pixels = rows.clone().flat_map(|y| columns.clone().map(move |x| (y, x)));
                    let mut places = pixels.map(|(y, x)| ((n * height + y) * width + x) * channels);
                    f(to, &mut places, rows.len() * columns.len());
                    to += channels;
                }
            }
        }
    }
}

fn expect_number(op: &'static str, dtype: DType) -> Result<(), TensorError> {
    match dtype {
        DType::F32 | DType::F64 | DType::I32 | DType::I64 => Ok(()),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// `FractionalMaxPool` and `FractionalAvgPool`: the result, and the starts and ends of rows and columns.
pub fn fractional_pool(
    op: &'static str,
    pool: FractionalPool,
    x: &HostTensor,
    attrs: &FractionalAttrs,
    generator: &Generator,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    expect_number(op, x.dtype())?;
    let &[batch, height, width, channels] = x.shape().dims() else {
        return invalid(op, format!("shape {} has rank {}, expected 4", x.shape(), x.shape().rank()));
    };
    let counts = (n_windows(height, attrs.ratios[0]), n_windows(width, attrs.ratios[1]));
    let ((Some(rows), Some(columns)), true) = (counts, batch > 0 && channels > 0) else {
        return invalid(op, format!("ratios {:?} of images of shape {}", attrs.ratios, x.shape()));
    };
    let row_ends = sequence(height, rows, attrs.is_pseudo_random, generator)?;
    let column_ends = sequence(width, columns, attrs.is_pseudo_random, generator)?;
    let shape = Shape::new(&[batch, rows, columns, channels])?;
    let cells = Cells::new(op, x.shape(), &shape, [&row_ends, &column_ends], attrs.is_overlapping)?;
    let out = HostTensor::allocate(x.dtype(), shape, cx.allocator)?;
    with_element!(x.dtype(), T => {
        let (from, mut out) = (x.read::<T>()?, out.write::<T>()?);
        cells.each(|to, places, n| {
            let out = &mut out[to..][..channels];
            out.fill(if pool == FractionalPool::Max { T::ENDS[0] } else { T::narrow(<T as Number>::Wide::ZERO) });
            for at in places {
                for (out, x) in out.iter_mut().zip(&from[at..][..channels]) {
                    let (sum, x) = (out.widen(), x.widen());
                    *out = match pool {
                        FractionalPool::Mean => T::narrow(sum.plus(x)),
                        FractionalPool::Max if sum.order(x).is_some_and(std::cmp::Ordering::is_lt) => T::narrow(x),
                        FractionalPool::Max => *out,
                    };
                }
            }
            if pool == FractionalPool::Mean {
                out.iter_mut().for_each(|out| *out = T::narrow(out.widen().over(n)));
            }
        });
    });
    let vector = |ends: &[i64]| HostTensor::from_slice(Shape::new(&[ends.len()])?, ends, cx.allocator);
    Ok([out, vector(&row_ends)?, vector(&column_ends)?])
}

/// `FractionalMaxPoolGrad`: each gradient at the first largest element of its window. The elements must be
/// those of `y`.
pub fn fractional_max_pool_grad(
    [x, y, dy]: [&HostTensor; 3],
    [rows, columns]: [&HostTensor; 2],
    is_overlapping: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "FractionalMaxPoolGrad";
    expect_number(op, x.dtype())?;
    y.expect_dtype("orig_output", x.dtype())?;
    dy.expect_dtype("out_backprop", x.dtype())?;
    dy.expect_shape("out_backprop", y.shape())?;
    let (rows, columns) =
        (rows.read_as::<i64>("row_pooling_sequence")?, columns.read_as::<i64>("col_pooling_sequence")?);
    let cells = Cells::new(op, x.shape(), y.shape(), [&rows, &columns], is_overlapping)?;
    let channels = cells.image[3];
    let out = HostTensor::zeros(x.dtype(), x.shape().clone(), cx.allocator)?;
    let mut is_pooling = true;
    with_element!(x.dtype(), T => {
        let (x, y, dy, mut out) = (x.read::<T>()?, y.read::<T>()?, dy.read::<T>()?, out.write::<T>()?);
        let mut largest = filled(channels, None::<usize>)?;
        cells.each(|at, places, _| {
            largest.fill(None);
            for place in places {
                for (c, largest) in largest.iter_mut().enumerate() {
                    let is_larger = |old: usize| {
                        x[old].widen().order(x[place + c].widen()).is_some_and(std::cmp::Ordering::is_lt)
                    };
                    if largest.is_none_or(is_larger) {
                        *largest = Some(place + c);
                    }
                }
            }
            for (c, largest) in largest.iter().enumerate() {
                match largest {
                    Some(place) if x[*place].widen() == y[at + c].widen() => {
                        out[*place] = T::narrow(out[*place].widen().plus(dy[at + c].widen()));
                    }
                    _ => is_pooling = false,
                }
            }
        });
    });
    if !is_pooling && !is_interrupted() {
        return invalid(op, "`orig_output` is not the pooling of `orig_input` by these windows".to_owned());
    }
    Ok(out)
}

/// `FractionalAvgPoolGrad`: each gradient in equal parts at the elements of its window of images of this
/// shape.
pub fn fractional_avg_pool_grad(
    shape: &Shape,
    dy: &HostTensor,
    [rows, columns]: [&HostTensor; 2],
    is_overlapping: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "FractionalAvgPoolGrad";
    expect_number(op, dy.dtype())?;
    let (rows, columns) =
        (rows.read_as::<i64>("row_pooling_sequence")?, columns.read_as::<i64>("col_pooling_sequence")?);
    let cells = Cells::new(op, shape, dy.shape(), [&rows, &columns], is_overlapping)?;
    let channels = cells.image[3];
    let sums = HostTensor::zeros(DType::F64, shape.clone(), cx.allocator)?;
    {
        let dy = fast::cast(dy, DType::F64, cx)?;
        let (dy, mut sums) = (dy.read::<f64>()?, sums.write::<f64>()?);
        cells.each(|at, places, n| {
            for place in places {
                for (sum, dy) in sums[place..][..channels].iter_mut().zip(&dy[at..][..channels]) {
                    *sum += dy / n as f64;
                }
            }
        });
    }
    fast::cast(&sums, dy.dtype(), cx)
}
