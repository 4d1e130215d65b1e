//! Diagonals and bands of matrices, moved as bytes for every dtype.

use std::sync::Arc;

use crate::error::invalid;
use crate::mem::Allocator;
use crate::{HostTensor, Shape, TensorError};

/// `Diag`: the tensor of shape `dims ++ dims` with `x` on its diagonal and zeros elsewhere.
pub fn diag(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let dims = x.shape().dims();
    let out = HostTensor::zeros(x.dtype(), Shape::new(&[dims, dims].concat())?, allocator)?;
    let (n, size) = (x.num_elements(), x.dtype().size());
    {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        for (i, element) in from.chunks_exact(size).enumerate() {
            let at = i * (n + 1) * size;
            to[at..at + size].copy_from_slice(element);
        }
    }
    Ok(out)
}

/// `DiagPart`: the diagonal of a tensor of shape `dims ++ dims`.
pub fn diag_part(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let (left, right) = x.shape().dims().split_at(x.shape().rank() / 2);
    if left != right || left.is_empty() {
        return invalid("DiagPart", format!("shape {} is not some dimensions twice", x.shape()));
    }
    let out = HostTensor::allocate(x.dtype(), Shape::new(left)?, allocator)?;
    let (n, size) = (out.num_elements(), x.dtype().size());
    {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        for (i, element) in to.chunks_exact_mut(size).enumerate() {
            let at = i * (n + 1) * size;
            element.copy_from_slice(&from[at..at + size]);
        }
    }
    Ok(out)
}

/// Rows and columns of the matrices in the last two axes.
fn matrix_of(op: &'static str, shape: &Shape) -> Result<(usize, usize), TensorError> {
    match shape.dims() {
        &[.., rows, cols] => Ok((rows, cols)),
        _ => invalid(op, format!("shape {shape} has rank {}, below 2", shape.rank())),
    }
}

/// Calls `f` for each element of matrices with the number of the matrix, its row, its column and its bytes.
fn for_each_element(
    out: &HostTensor,
    cols: usize,
    rows: usize,
    mut f: impl FnMut(usize, usize, usize, &mut [u8]),
) -> Result<(), TensorError> {
    if out.num_elements() > 0 {
        for (i, element) in out.write_bytes()?.chunks_exact_mut(out.dtype().size()).enumerate() {
            f(i / (rows * cols), i / cols % rows, i % cols, element);
        }
    }
    Ok(())
}

/// `MatrixBandPart`: the matrices of the last two axes, with zeros outside of a band. The band consists of
/// the main diagonal, `lower` diagonals below it and `upper` diagonals above it. A negative number stands for
/// all.
pub fn matrix_band_part(
    x: &HostTensor,
    lower: i64,
    upper: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MatrixBandPart";
    let (rows, cols) = matrix_of(op, x.shape())?;
    let fits = |n: i64, limit: usize| n < 0 || n as u64 <= limit as u64;
    if !fits(lower, rows) || !fits(upper, cols) {
        return invalid(op, format!("a band of {lower} below and {upper} above in shape {}", x.shape()));
    }
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), allocator)?;
    out.write_bytes()?.copy_from_slice(&x.read_bytes()?);
    for_each_element(&out, cols, rows, |_, row, col, element| {
        let (below, above) = (row.saturating_sub(col), col.saturating_sub(row));
        if (lower >= 0 && below > lower as usize) || (upper >= 0 && above > upper as usize) {
            element.fill(0);
        }
    })?;
    Ok(out)
}

/// A band of neighbouring diagonals, and their alignment in rows of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// The lowest diagonal: 0 is the main one, negative numbers are below it.
    pub lower: i64,
    /// The highest diagonal.
    pub upper: i64,
    /// True if diagonals above the main one are left-aligned in their rows.
    pub above_left: bool,
    /// True if diagonals below the main one are left-aligned in their rows.
    pub below_left: bool,
}

impl Band {
    /// The main diagonal.
    pub const MAIN: Band = Band { lower: 0, upper: 0, above_left: true, below_left: true };

    /// The number of diagonals. Fails if the bounds are not in order or a diagonal is outside of a matrix of
    /// `rows` by `cols`.
    pub(super) fn count(&self, op: &'static str, rows: usize, cols: usize) -> Result<usize, TensorError> {
        let (lowest, highest) = (-(rows as i64).max(1), (cols as i64).max(1)); // tensors have fewer than 2^63 elements
        let fits = |k: i64| k == 0 || (lowest < k && k < highest);
        if self.lower > self.upper || !fits(self.lower) || !fits(self.upper) {
            return invalid(
                op,
                format!("no diagonals {} to {} of {rows} x {cols} matrices", self.lower, self.upper),
            );
        }
        Ok((self.upper - self.lower) as usize + 1) // within the matrix
    }

    /// The length of the longest diagonal, for checked bounds.
    pub(super) fn longest(&self, rows: usize, cols: usize) -> usize {
        let (above, below) = (self.lower.max(0) as usize, self.upper.min(0).unsigned_abs() as usize);
        (rows - below.min(rows)).min(cols - above.min(cols))
    }

    /// The diagonal of a matrix element, counted from the highest, and the element's position in the row of
    /// that diagonal; `None` outside of the band.
    fn place(
        &self,
        [row, col]: [usize; 2],
        [rows, cols]: [usize; 2],
        longest: usize,
    ) -> Option<(usize, usize)> {
        let k = col as i64 - row as i64;
        if k < self.lower || k > self.upper {
            return None;
        }
        Some(((self.upper - k) as usize, row.min(col) + self.start(k, [rows, cols], longest)))
    }

    /// The position of the first element of diagonal `k` in its row, which depends on the alignment.
    fn start(&self, k: i64, sizes: [usize; 2], longest: usize) -> usize {
        let is_left = (k >= 0 && self.above_left) || (k <= 0 && self.below_left);
        if is_left { 0 } else { longest - diagonal_of(k, sizes).0 }
    }
}

/// The length of diagonal `k` of the matrices, and the row and column of its first element.
fn diagonal_of(k: i64, [rows, cols]: [usize; 2]) -> (usize, [usize; 2]) {
    let (below, above) = (k.min(0).unsigned_abs() as usize, k.max(0) as usize);
    ((rows - below).min(cols - above), [below, above])
}

fn expect_element(op: &'static str, x: &HostTensor, bytes: &[u8]) -> Result<(), TensorError> {
    match bytes.len() == x.dtype().size() {
        true => Ok(()),
        false => invalid(op, format!("{} bytes of padding for elements of {}", bytes.len(), x.dtype())),
    }
}

/// The shape of a batch of `count` diagonals as rows; a single diagonal has no row axis.
fn rows_of_diagonals(batch: &[usize], count: usize, longest: usize) -> Result<Shape, TensorError> {
    match count {
        1 => Shape::new(&[batch, &[longest]].concat()),
        _ => Shape::new(&[batch, &[count, longest]].concat()),
    }
}

/// The numbers of rows and columns of matrices with these diagonals. Missing sizes are the smallest possible,
/// and equal if both are missing. Diagonals of the band that are outside of the matrices are ignored.
pub(super) fn sizes_around(
    op: &'static str,
    band: &Band,
    longest: usize,
    asked: [Option<usize>; 2],
) -> Result<[usize; 2], TensorError> {
    let least = |beyond: u64| {
        usize::try_from(beyond)
            .ok()
            .and_then(|beyond| longest.checked_add(beyond))
            .ok_or(TensorError::TooLarge)
    };
    let least = [least(band.upper.min(0).unsigned_abs())?, least(band.lower.max(0).unsigned_abs())?];
    let sizes = match asked {
        [None, None] => [least[0].max(least[1]); 2],
        [rows, cols] => [rows.unwrap_or(least[0]), cols.unwrap_or(least[1])],
    };
    let [rows, cols] = sizes;
    if rows < least[0] || cols < least[1] || (rows != least[0] && cols != least[1]) {
        return invalid(op, format!("diagonals of {longest} elements do not fit {rows} x {cols} matrices"));
    }
    Ok(sizes)
}

/// `MatrixDiag`, `MatrixDiagV2`, `MatrixDiagV3`: matrices with the rows of `x` on their diagonals and
/// `padding`, an element's bytes, elsewhere. The rows are those of the band's diagonals, the highest first; a
/// single diagonal has no row axis. Missing sizes are the smallest possible, and equal if both are missing.
pub fn matrix_diag(
    x: &HostTensor,
    band: &Band,
    asked: [Option<usize>; 2],
    padding: &[u8],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MatrixDiag";
    expect_element(op, x, padding)?;
    let dims = x.shape().dims();
    let one = band.lower == band.upper;
    let (batch, longest) = match *dims {
        [ref batch @ .., longest] if one => (batch, longest),
        [ref batch @ .., count, longest]
            if band.upper.checked_sub(band.lower).is_some_and(|n| n >= 0 && n as u64 + 1 == count as u64) =>
        {
            (batch, longest)
        }
        _ => {
            return invalid(
                op,
                format!("shape {} has no diagonals {} to {}", x.shape(), band.lower, band.upper),
            );
        }
    };
    let [rows, cols] = sizes_around(op, band, longest, asked)?;
    let shape = Shape::new(&[batch, &[rows, cols]].concat())?;
    let out = HostTensor::allocate(x.dtype(), shape, allocator)?;
    fill_diagonals(&out, x, band, longest, |_, element| element.copy_from_slice(padding))?;
    Ok(out)
}

/// Writes matrices: the elements of the diagonals in the band. Elsewhere, `other` is called with the
/// element's position in `out` and its bytes.
fn fill_diagonals(
    out: &HostTensor,
    diagonals: &HostTensor,
    band: &Band,
    longest: usize,
    mut other: impl FnMut(usize, &mut [u8]),
) -> Result<(), TensorError> {
    if out.num_elements() == 0 {
        return Ok(());
    }
    let (rows, cols) = matrix_of("MatrixDiag", out.shape())?;
    let (from, size) = (diagonals.read_bytes()?, out.dtype().size());
    let per_matrix = (band.upper - band.lower + 1) as usize * longest; // elements of its diagonals
    for_each_element(out, cols, rows, |matrix, row, col, element| {
        match band.place([row, col], [rows, cols], longest) {
            Some((diagonal, at)) => {
                element
                    .copy_from_slice(&from[(matrix * per_matrix + diagonal * longest + at) * size..][..size]);
            }
            None => other((matrix * rows + row) * cols + col, element),
        }
    })
}

/// `MatrixDiagPart`, `MatrixDiagPartV2`, `MatrixDiagPartV3`: the diagonals of the matrices in the last two
/// axes as rows, the highest first, filled up with `padding`, an element's bytes. A single diagonal has no
/// row axis.
pub fn matrix_diag_part(
    x: &HostTensor,
    band: &Band,
    padding: &[u8],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MatrixDiagPart";
    expect_element(op, x, padding)?;
    let (rows, cols) = matrix_of(op, x.shape())?;
    let count = band.count(op, rows, cols)?;
    let (longest, batch) = (band.longest(rows, cols), &x.shape().dims()[..x.shape().rank() - 2]);
    let out = HostTensor::allocate(x.dtype(), rows_of_diagonals(batch, count, longest)?, allocator)?;
    let (from, size) = (x.read_bytes()?, x.dtype().size());
    for_each_element(&out, longest, count, |matrix, diagonal, at, element| {
        let k = band.upper - diagonal as i64;
        let (length, [below, above]) = diagonal_of(k, [rows, cols]);
        let place = at.checked_sub(band.start(k, [rows, cols], longest));
        element.copy_from_slice(match place.filter(|&place| place < length) {
            Some(place) => &from[((matrix * rows + place + below) * cols + place + above) * size..][..size],
            None => padding,
        });
    })?;
    Ok(out)
}

/// `MatrixSetDiag`, `MatrixSetDiagV2`, `MatrixSetDiagV3`: `x` with the rows of `diagonals` on the diagonals
/// of its matrices.
pub fn matrix_set_diag(
    x: &HostTensor,
    diagonals: &HostTensor,
    band: &Band,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MatrixSetDiag";
    let (rows, cols) = matrix_of(op, x.shape())?;
    let count = band.count(op, rows, cols)?;
    let (longest, batch) = (band.longest(rows, cols), &x.shape().dims()[..x.shape().rank() - 2]);
    diagonals.expect_dtype("diagonal", x.dtype())?;
    diagonals.expect_shape("diagonal", &rows_of_diagonals(batch, count, longest)?)?;
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), allocator)?;
    let (from, size) = (x.read_bytes()?, x.dtype().size());
    fill_diagonals(&out, diagonals, band, longest, |i, element| {
        element.copy_from_slice(&from[i * size..][..size]);
    })?;
    Ok(out)
}
