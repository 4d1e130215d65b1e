//! `--compare-precision`: the effect of a lower precision on the results.
//!
//! ```text
//! result 'logits': largest difference 3.120e-2 of 1.420e1; relative error 2.100e-3; 99.72 % of 360 rows have
//!                  the same largest element
//! ```
//!
//! The relative error is the norm of the difference by the norm of the result in f32. Rows are those of the
//! last axis, if it has more than one element.

use befrost::{Datum, HostTensor, Port};
use befrost_tensor::DType;

/// A line for each result that is floats: the difference from that in f32.
pub(super) fn differences(ports: &[Port], in_f32: &[Datum], lower: &[Datum]) -> String {
    let mut text = String::new();
    for (at, (port, (want, got))) in ports.iter().zip(in_f32.iter().zip(lower)).enumerate() {
        let (Ok(want), Ok(got)) = (want.tensor(), got.tensor()) else { continue };
        if let Some(line) = difference(want, got) {
            text.push_str(&format!("result {}: {line}\n", port.label(at)));
        }
    }
    text
}

fn difference(want: &HostTensor, got: &HostTensor) -> Option<String> {
    if want.dtype() != DType::F32 || want.shape() != got.shape() {
        return None;
    }
    let (a, b) = (want.read::<f32>().ok()?, got.read::<f32>().ok()?);
    let (mut squares, mut of_all, mut most, mut largest) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for (&x, &y) in a.iter().zip(b.iter()) {
        let (x, y) = (f64::from(x), f64::from(y));
        // Equal infinities, and NaN in both, are no difference.
        let apart = if x == y || x.is_nan() && y.is_nan() { 0.0 } else { (x - y).abs() };
        squares += apart * apart;
        of_all += x * x;
        most = if apart > most || apart.is_nan() { apart } else { most };
        largest = largest.max(x.abs());
    }
    let relative = if squares == 0.0 { 0.0 } else { (squares / of_all).sqrt() };
    let mut line = format!("largest difference {most:.3e} of {largest:.3e}; relative error {relative:.3e}");
    let n = want.shape().dims().last().copied().unwrap_or(1);
    if n > 1 && !a.is_empty() {
        let best = |row: &[f32]| (0..row.len()).reduce(|best, i| if row[i] > row[best] { i } else { best });
        let rows = a.len() / n;
        let same = a.chunks_exact(n).zip(b.chunks_exact(n)).filter(|(a, b)| best(a) == best(b)).count();
        let share = 100.0 * same as f64 / rows as f64;
        line.push_str(&format!("; {share:.2} % of {rows} rows have the same largest element"));
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_measured() {
        let tensor = |numbers: &[f32]| HostTensor::from_vec([2, 2], numbers.to_vec()).unwrap();
        let want = tensor(&[3.0, 0.0, 0.0, 4.0]);
        assert_eq!(
            difference(&want, &tensor(&[3.0, 0.0, 5.0, 4.0])).unwrap(),
            "largest difference 5.000e0 of 4.000e0; relative error 1.000e0; 50.00 % of 2 rows have the same \
             largest element"
        );
        assert!(difference(&want, &want).unwrap().starts_with("largest difference 0.000e0"));
        let odd = tensor(&[f32::NAN, f32::INFINITY, 0.0, 1.0]);
        assert!(difference(&odd, &odd).unwrap().starts_with("largest difference 0.000e0"));
        assert!(difference(&want, &odd).unwrap().starts_with("largest difference NaN"));
        assert_eq!(difference(&want, &HostTensor::from_vec([1], vec![1.0f32]).unwrap()), None);
    }
}
