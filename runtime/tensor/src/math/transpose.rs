//! Blocked matrix transposition: whole cache lines are read, and whole ones are written.
//!
//! Rows of a large matrix are often a power of 2 apart. Then the lines of several rows evict each other, and
//! each row is on its own page. Blocks of such a matrix are transposed in the L1 cache, and each access to a
//! row covers several lines. Small matrices are transposed tile by tile, which needs less scratch memory.

use crate::simd::prefetch;

/// The side of a tile: a cache line of 4-byte elements.
const TILE: usize = 16;

/// The side of a block: four lines.
const BLOCK: usize = 64;

/// The prefetch distance in rows.
const AHEAD: usize = 8;

/// `out[j, i] = x[i, j]` for a row-major matrix of `rows` by `cols`.
///
/// # Panics
/// If the lengths do not fit.
pub fn transpose<T: Copy>((rows, cols): (usize, usize), x: &[T], out: &mut [T]) {
    assert_eq!(rows.checked_mul(cols), Some(x.len()), "a {rows} by {cols} matrix");
    assert_eq!(x.len(), out.len());
    transpose_part((rows, cols), (x, cols), (out, rows));
}

/// [`transpose`] of a part of a matrix, with the given row strides of `x` and `out`.
///
/// # Panics
/// If the part reaches outside of a slice.
pub(crate) fn transpose_part<T: Copy>(size: (usize, usize), x: (&[T], usize), out: (&mut [T], usize)) {
    if size.0.min(size.1) < BLOCK {
        transpose_blocks::<T, TILE>(size, x, out);
    } else {
        transpose_blocks::<T, BLOCK>(size, x, out);
    }
}

/// Transposes squares of `SIDE` elements.
fn transpose_blocks<T: Copy, const SIDE: usize>(
    (rows, cols): (usize, usize),
    (x, x_step): (&[T], usize),
    (out, out_step): (&mut [T], usize),
) {
    let Some(&first) = x.first() else { return };
    let mut transposed = [[first; SIDE]; SIDE];
    for top in (0..rows).step_by(SIDE) {
        for left in (0..cols).step_by(SIDE) {
            let (height, width) = (SIDE.min(rows - top), SIDE.min(cols - left));
            for i in 0..height {
                if SIDE == BLOCK {
                    for line in (0..SIDE).step_by(64 / size_of::<T>().clamp(1, 64)) {
                        prefetch(x.get((top + i + AHEAD) * x_step + left + line));
                        prefetch(out.get((left + i) * out_step + top + line));
                    }
                }
                let row = &x[(top + i) * x_step + left..][..width];
                match row.first_chunk::<SIDE>() {
                    Some(row) => (0..SIDE).for_each(|j| transposed[j][i] = row[j]),
                    None => (0..width).for_each(|j| transposed[j][i] = row[j]),
                }
            }
            for (j, transposed) in transposed[..width].iter().enumerate() {
                let to = &mut out[(left + j) * out_step + top..][..height];
                match to.first_chunk_mut::<SIDE>() {
                    Some(to) => *to = *transposed,
                    None => to.copy_from_slice(&transposed[..height]),
                }
            }
        }
    }
}
