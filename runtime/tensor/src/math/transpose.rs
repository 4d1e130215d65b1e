//! The transposed of a matrix, a tile at a time: whole cache lines are read, and whole ones are written.
//!
//! A tile is copied first, so that the rows that it comes from, often a power of 2 apart, do not push each other out of the cache while its
//! columns are picked.

/// The side of a tile: a cache line of 4-byte elements.
const SIDE: usize = 16;

/// `out[j, i] = x[i, j]` for a row-major matrix of `rows` by `cols`.
///
/// # Panics
/// If the lengths do not fit.
pub fn transpose<T: Copy>((rows, cols): (usize, usize), x: &[T], out: &mut [T]) {
    assert_eq!(rows.checked_mul(cols), Some(x.len()), "a {rows} by {cols} matrix");
    assert_eq!(x.len(), out.len());
    transpose_part((rows, cols), (x, cols), (out, rows));
}

/// The same for a part of a matrix; rows of `x` and of `out` lie as far apart as the numbers say.
///
/// # Panics
/// If the part reaches outside of a slice.
pub(crate) fn transpose_part<T: Copy>(
    (rows, cols): (usize, usize),
    (x, x_step): (&[T], usize),
    (out, out_step): (&mut [T], usize),
) {
    for i in (0..rows).step_by(SIDE) {
        let height = SIDE.min(rows - i);
        for j in (0..cols).step_by(SIDE) {
            let (x, out) = (&x[i * x_step + j..], &mut out[j * out_step + i..]);
            let width = SIDE.min(cols - j);
            if (height, width) == (SIDE, SIDE) {
                tile((x, x_step), (out, out_step));
                continue;
            }
            for col in 0..width {
                for row in 0..height {
                    out[col * out_step + row] = x[row * x_step + col];
                }
            }
        }
    }
}

#[inline]
fn tile<T: Copy>((x, x_step): (&[T], usize), (out, out_step): (&mut [T], usize)) {
    let Some(&first) = x.first_chunk::<SIDE>() else { return };
    let mut rows = [first; SIDE];
    for (i, row) in rows.iter_mut().enumerate().skip(1) {
        row.copy_from_slice(&x[i * x_step..][..SIDE]);
    }
    for (j, out) in out.chunks_mut(out_step).enumerate().take(SIDE) {
        for (out, row) in out.iter_mut().zip(&rows) {
            *out = row[j];
        }
    }
}
