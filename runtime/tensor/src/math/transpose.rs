//! The transposed of a matrix, a tile at a time: whole cache lines are read, and whole ones are written.
//!
//! A tile is turned in the first cache, so that the rows that it comes from, often a power of 2 apart, do not push each other out while columns
//! are picked. Tiles are taken block by block, since each row of a large matrix is a page of its own; what the next one reads and writes is
//! asked for, which no machine does by itself over such distances.

use crate::simd::ask_for;

/// The side of a tile: a cache line of 4-byte elements.
const SIDE: usize = 16;

/// The side of a block.
const BLOCK: usize = 4 * SIDE;

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
    let starts = |from: usize, end: usize, step: usize| (from..end).step_by(step);
    let blocks = starts(0, rows, BLOCK).flat_map(|i| starts(0, cols, BLOCK).map(move |j| (i, j)));
    let tiles = blocks.flat_map(|(top, left)| {
        let (bottom, right) = (rows.min(top + BLOCK), cols.min(left + BLOCK));
        starts(top, bottom, SIDE).flat_map(move |i| starts(left, right, SIDE).map(move |j| (i, j)))
    });
    let mut tiles = tiles.peekable();
    while let Some((i, j)) = tiles.next() {
        if let Some(&(i, j)) = tiles.peek() {
            for line in 0..SIDE {
                ask_for(x.get((i + line) * x_step + j));
                ask_for(out.get((j + line) * out_step + i));
            }
        }
        let size = (SIDE.min(rows - i), SIDE.min(cols - j));
        tile(size, (&x[i * x_step + j..], x_step), (&mut out[j * out_step + i..], out_step));
    }
}

/// A tile, or what there is of one at the border.
fn tile<T: Copy>(
    (height, width): (usize, usize),
    (x, x_step): (&[T], usize),
    (out, out_step): (&mut [T], usize),
) {
    let (SIDE, SIDE, Some(&first)) = (height, width, x.first()) else {
        for col in 0..width {
            for row in 0..height {
                out[col * out_step + row] = x[row * x_step + col];
            }
        }
        return;
    };
    let mut turned = [[first; SIDE]; SIDE];
    for i in 0..SIDE {
        let Some(row) = x[i * x_step..].first_chunk::<SIDE>() else { return };
        for (turned, x) in turned.iter_mut().zip(row) {
            turned[i] = *x;
        }
    }
    for (j, turned) in turned.iter().enumerate() {
        out[j * out_step..][..SIDE].copy_from_slice(turned);
    }
}
