//! The position of the largest element along an axis.
//!
//! The first of several largest elements is taken. A NaN counts as larger than any number, so the first NaN
//! is taken, as in NumPy. (TensorFlow's result for NaN depends on the machine.)

use super::GemmElement;

const LANES: usize = 16;

/// For x of extents (outer, axis, inner): `out[o, i]` is the position along the axis of the largest `x[o, _,
/// i]`.
///
/// # Panics
/// If the lengths do not fit, or, unless `out` is empty, if the axis is empty or longer than `i32::MAX`.
pub fn argmax<T: GemmElement>((outer, axis, inner): (usize, usize, usize), x: &[T], out: &mut [i32]) {
    assert_eq!(out.len(), outer * inner);
    assert_eq!(x.len(), outer * axis * inner);
    if out.is_empty() {
        return;
    }
    assert!(axis > 0 && i32::try_from(axis).is_ok(), "an axis of {axis}");
    if inner == 1 {
        for (row, out) in x.chunks_exact(axis).zip(out) {
            *out = of_row(row) as i32; // below `axis`
        }
        return;
    }
    for (slab, out) in x.chunks_exact(axis * inner).zip(out.chunks_exact_mut(inner)) {
        out.fill(0);
        for (a, row) in slab.chunks_exact(inner).enumerate().skip(1) {
            for (i, (&x, out)) in row.iter().zip(out.iter_mut()).enumerate() {
                let best = slab[*out as usize * inner + i];
                if x > best || (x.is_nan() && !best.is_nan()) {
                    *out = a as i32;
                }
            }
        }
    }
}

/// Two passes: find the largest value, then its position. A maximum vectorizes and a position does not.
fn of_row<T: GemmElement>(row: &[T]) -> usize {
    let Some(&first) = row.first() else { return 0 };
    let larger = |best: T, x: T| if x > best { x } else { best };
    let mut lanes = [first; LANES];
    let mut nan = false;
    let (blocks, rest) = row.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            nan |= x.is_nan();
            *lane = larger(*lane, x);
        }
    }
    nan |= rest.iter().any(|x| x.is_nan());
    let best = rest.iter().chain(&lanes).fold(first, |best, &x| larger(best, x));
    let found = if nan { row.iter().position(|x| x.is_nan()) } else { row.iter().position(|&x| x == best) };
    found.unwrap_or(0)
}
