//! The transposed of a matrix, a block at a time, so that neither side's cache lines are left before all of their elements were used.

/// The side of a block: 16 cache lines on either side for 4-byte elements.
const BLOCK: usize = 16;

/// `out[j, i] = x[i, j]` for a row-major matrix of `rows` by `cols`.
///
/// # Panics
/// If the lengths do not fit.
pub fn transpose<T: Copy>((rows, cols): (usize, usize), x: &[T], out: &mut [T]) {
    assert_eq!(rows.checked_mul(cols), Some(x.len()), "a {rows} by {cols} matrix");
    assert_eq!(x.len(), out.len());
    for i in (0..rows).step_by(BLOCK) {
        let height = BLOCK.min(rows - i);
        for j in (0..cols).step_by(BLOCK) {
            for col in j..cols.min(j + BLOCK) {
                let out = &mut out[col * rows + i..][..height];
                for (row, out) in (i..).zip(out) {
                    *out = x[row * cols + col];
                }
            }
        }
    }
}
