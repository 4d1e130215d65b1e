//! Softmax, with an exponential that the compiler vectorizes.
//!
//! The exponential of `x <= 0` is `2^n * e^r` with `n` the integer nearest to `x / ln 2` and `|r| <= ln 2 / 2`. The integer comes from
//! adding 1.5 * 2^23, whose last bits then are `n`; `ln 2` is subtracted in two parts, so that `r` keeps its digits; `e^r` is its Taylor
//! polynomial of degree 7, whose first omitted term is below 6e-9. Below -87.3 the result, smaller than the smallest normal number,
//! is 0.

/// How many sums and maxima run side by side: two AVX-512 registers, eight SSE ones.
const LANES: usize = 32;

/// Softmax of each row of length `n`: `e^(x - max) / sum of e^(x - max)`, hence no overflow. A row with a NaN or +inf, or only -inf,
/// becomes all NaN.
pub fn softmax_in_place(n: usize, out: &mut [f32]) {
    if n == 0 {
        return assert!(out.is_empty());
    }
    assert!(out.len().is_multiple_of(n));
    for row in out.chunks_exact_mut(n) {
        let max = fold_lanes(row, f32::NEG_INFINITY, |max, x| if x > max { x } else { max });
        for x in row.iter_mut() {
            *x = exp_of_nonpositive(*x - max);
        }
        let scale = 1.0 / fold_lanes(row, 0.0, |sum, x| sum + x);
        for x in row.iter_mut() {
            *x *= scale;
        }
    }
}

/// Folds in LANES independent strands, so that the loop is not one long chain of dependent operations.
fn fold_lanes(row: &[f32], init: f32, step: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [init; LANES];
    let (blocks, rest) = row.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            *lane = step(*lane, x);
        }
    }
    let folded = rest.iter().fold(init, |acc, &x| step(acc, x));
    if blocks.is_empty() { folded } else { lanes.iter().fold(folded, |acc, &lane| step(acc, lane)) }
}

/// `e^x` for `x <= 0` to 2e-7 relative; NaN for NaN.
#[inline(always)]
fn exp_of_nonpositive(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 * 2^23
    const LN2_HIGH: f32 = 0.693_359_4; // 355/512, exact: times any n here without rounding
    const LN2_LOW: f32 = -2.121_944_4e-4;
    const SMALLEST: f32 = -87.3;

    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let n = shifted - MAGIC;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + c;
    }
    // The last bits of `shifted` are n plus those of MAGIC, which the shift drops; 127 is the exponent's bias.
    let two_to_n = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    let result = p * two_to_n;
    if x < SMALLEST { 0.0 } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_accurate() {
        for i in 0..=1_000_000 {
            let x = -87.3 * (i as f32 / 1e6);
            let want = f64::from(x).exp();
            let error = (f64::from(exp_of_nonpositive(x)) - want).abs() / want;
            assert!(error < 2e-7, "e^{x}: relative error {error}");
        }
        assert_eq!(exp_of_nonpositive(0.0), 1.0);
        assert_eq!(exp_of_nonpositive(-0.0), 1.0);
        for x in [-87.4, -1e30, f32::MIN, f32::NEG_INFINITY] {
            assert_eq!(exp_of_nonpositive(x), 0.0);
        }
        assert!(exp_of_nonpositive(f32::NAN).is_nan());
    }
}
