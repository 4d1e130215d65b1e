//! Comparison of a result with the expected tensor, for `--expect` (`cli.md`).
//!
//! Floats match if `|got - want| <= atol + rtol * |want|` per element, computed in f64. Complex numbers are
//! compared by their distance. NaN equals NaN, and an infinity equals only itself. Integers and booleans must
//! be equal. Dtypes and shapes must match.

use std::fmt;

use half::{bf16, f16};

use crate::element::with_element;
use crate::{Complex64, Complex128, Element, HostTensor, I1, Shape, StringTensor, TensorError};

/// The tolerance for floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { rtol: 1e-4, atol: 1e-5 }
    }
}

impl Tolerance {
    /// Zero tolerance.
    pub const EXACT: Tolerance = Tolerance { rtol: 0.0, atol: 0.0 };
}

/// One pair of elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The row-major position.
    pub position: usize,
    /// The distance. Infinite for strings, and for unequal numbers of which one is infinite or NaN.
    pub error: f64,
    /// The actual element, with all significant digits.
    pub got: String,
    /// The expected element, with all significant digits.
    pub want: String,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The common shape.
    pub shape: Shape,
    /// The number of elements that differ by more than the tolerance.
    pub n_differing: usize,
    /// The largest distance of any pair, tolerated or not.
    pub max_error: f64,
    /// The first pair that differs.
    pub first: Option<Pair>,
    /// The pair with the largest distance among those that exceed the tolerance, or, if none does, among all
    /// unequal pairs. Of equal distances the first.
    pub worst: Option<Pair>,
}

impl Report {
    /// True if no element differs.
    pub fn is_match(&self) -> bool {
        self.n_differing == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { shape, n_differing, max_error: _, first, worst } = self;
        let n = shape.num_elements();
        let Some(worst) = worst else { return write!(f, "all {n} elements are equal") };
        let at = |pair: &Pair| shape.index_of(pair.position);
        match first {
            None => write!(f, "all {n} elements agree")?,
            Some(_) => write!(f, "{n_differing} of {n} elements differ")?,
        }
        write!(
            f,
            "; worst at {:?}: got {}, want {}, error {:.3e}",
            at(worst),
            worst.got,
            worst.want,
            worst.error
        )?;
        match first {
            None => Ok(()),
            Some(first) => write!(f, "; first at {:?}: got {}, want {}", at(first), first.got, first.want),
        }
    }
}

/// Compares two tensors. Different dtypes or shapes are errors about `got`.
pub fn compare(got: &HostTensor, want: &HostTensor, tolerance: Tolerance) -> Result<Report, TensorError> {
    got.expect_dtype("result", want.dtype())?;
    got.expect_shape("result", want.shape())?;
    with_element!(want.dtype(), T => {
        let (got, expected) = (got.read_as::<T>("result")?, want.read::<T>()?);
        Ok(compare_slices(want.shape(), &got, &expected, tolerance))
    })
}

/// Compares two tensors of strings. Different shapes are errors about `got`.
pub fn compare_strings(got: &StringTensor, want: &StringTensor) -> Result<Report, TensorError> {
    if got.shape() != want.shape() {
        let (want, got) = (want.shape().clone(), got.shape().clone());
        return Err(TensorError::Shape { what: "result", want, got });
    }
    let mut report =
        Report { shape: want.shape().clone(), n_differing: 0, max_error: 0.0, first: None, worst: None };
    let (got, want) = (got.read()?, want.read()?);
    for (position, (got, want)) in got.iter().zip(want.iter()).enumerate() {
        if got == want {
            continue;
        }
        let shown = |text: &[u8]| format!("{:?}", String::from_utf8_lossy(text));
        let pair = Pair { position, error: f64::INFINITY, got: shown(got), want: shown(want) };
        report.n_differing += 1;
        report.max_error = f64::INFINITY;
        report.first.get_or_insert_with(|| pair.clone());
        report.worst.get_or_insert(pair);
    }
    Ok(report)
}

fn compare_slices<T: Near>(shape: &Shape, got: &[T], want: &[T], tolerance: Tolerance) -> Report {
    /// A position and the distance there.
    type Place = (usize, f64);
    let mut n_differing = 0;
    let mut first: Option<Place> = None;
    let mut worst_differing: Option<Place> = None;
    let mut worst: Option<Place> = None;
    for (position, (&got, &want)) in got.iter().zip(want).enumerate() {
        let Distance { error, scale } = got.distance(want);
        if error == 0.0 {
            continue;
        }
        let exceeds = |place: &Option<Place>| place.is_none_or(|(_, before)| error > before);
        if exceeds(&worst) {
            worst = Some((position, error));
        }
        let is_near = error.is_finite() && error <= tolerance.atol + tolerance.rtol * scale;
        if T::DTYPE.is_inexact() && is_near {
            continue;
        }
        n_differing += 1;
        first.get_or_insert((position, error));
        if exceeds(&worst_differing) {
            worst_differing = Some((position, error));
        }
    }
    let pair = |(position, error): Place| {
        let (got, want) = (got[position].shown(), want[position].shown());
        Pair { position, error, got, want }
    };
    Report {
        shape: shape.clone(),
        n_differing,
        max_error: worst.map_or(0.0, |(_, error)| error),
        first: first.map(pair),
        worst: worst_differing.or(worst).map(pair),
    }
}

/// The distance of two elements, and the magnitude that the relative tolerance refers to.
struct Distance {
    error: f64,
    scale: f64,
}

/// An element type with a distance. The distance is 0 exactly for equal elements.
trait Near: Element {
    fn distance(self, want: Self) -> Distance;

    /// The element with enough digits to tell different elements apart.
    fn shown(self) -> String {
        format!("{self:?}")
    }
}

fn float_distance(got: f64, want: f64) -> Distance {
    let scale = want.abs();
    if got == want || (got.is_nan() && want.is_nan()) {
        return Distance { error: 0.0, scale };
    }
    let error = (got - want).abs();
    Distance { error: if error.is_nan() { f64::INFINITY } else { error }, scale }
}

fn complex_distance(got: (f64, f64), want: (f64, f64)) -> Distance {
    let re = float_distance(got.0, want.0);
    let im = float_distance(got.1, want.1);
    let (error, scale) = (re.error.hypot(im.error), re.scale.hypot(im.scale));
    // No error is small against an infinity.
    let error = if error > 0.0 && scale.is_infinite() { f64::INFINITY } else { error };
    Distance { error, scale }
}

macro_rules! near {
    ($($t:ty: |$got:ident, $want:ident| $body:expr;)*) => {$(
        impl Near for $t {
            fn distance(self, $want: $t) -> Distance {
                let $got = self;
                $body
            }
        }
    )*};
}

near! {
    u8: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    u16: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    u32: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    u64: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    i8: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    i16: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    i32: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    i64: |got, want| Distance { error: got.abs_diff(want) as f64, scale: 0.0 };
    I1: |got, want| Distance { error: if got == want { 0.0 } else { 1.0 }, scale: 0.0 };
    f16: |got, want| float_distance(got.to_f64(), want.to_f64());
    bf16: |got, want| float_distance(got.to_f64(), want.to_f64());
    f32: |got, want| float_distance(f64::from(got), f64::from(want));
    f64: |got, want| float_distance(got, want);
    Complex64: |got, want| complex_distance((got.re.into(), got.im.into()), (want.re.into(), want.im.into()));
    Complex128: |got, want| complex_distance((got.re, got.im), (want.re, want.im));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::Malloc;

    fn compared<T: Element>(got: &[T], want: &[T]) -> Report {
        let tensor = |values: &[T]| {
            HostTensor::from_slice(Shape::new(&[values.len()]).unwrap(), values, &Malloc::shared()).unwrap()
        };
        compare(&tensor(got), &tensor(want), Tolerance::default()).unwrap()
    }

    #[test]
    fn floats_have_a_tolerance() {
        assert!(compared(&[1000.09f32, 0.000_009], &[1000.0, 0.0]).is_match());
        assert!(!compared(&[1000.2f32], &[1000.0]).is_match());
        assert!(!compared(&[0.000_02f32], &[0.0]).is_match());
        assert_eq!(compared(&[1.5f64, 2.0], &[1.0, 2.0]).max_error, 0.5);
    }

    #[test]
    fn special_values() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert!(compared(&[nan, inf, -inf, -0.0], &[nan, inf, -inf, 0.0]).is_match());
        for (got, want) in
            [(nan, 1.0), (1.0, nan), (inf, -inf), (inf, 1.0), (1.0, inf), (1.0, -inf), (nan, inf)]
        {
            let report = compared(&[got], &[want]);
            assert_eq!(report.n_differing, 1, "{got} {want}");
            assert_eq!(report.worst.unwrap().error, f64::INFINITY);
        }
    }

    #[test]
    fn integers_are_exact() {
        assert!(compared(&[i64::MAX], &[i64::MAX]).is_match());
        assert!(!compared(&[i64::MAX], &[i64::MAX - 1]).is_match());
        assert!(!compared(&[1_000_000_000i32], &[1_000_000_001]).is_match());
        assert!(!compared(&[I1::from(true)], &[I1::from(false)]).is_match());
    }

    #[test]
    fn complex_numbers_by_distance() {
        let z = |re, im| Complex64 { re, im };
        assert!(compared(&[z(1.0, f32::NAN)], &[z(1.0, f32::NAN)]).is_match());
        assert!(compared(&[z(1000.0, 0.05)], &[z(1000.0, 0.0)]).is_match());
        assert!(!compared(&[z(1.0, 0.05)], &[z(1.0, 0.0)]).is_match());
    }

    #[test]
    fn the_report_names_first_and_worst() {
        let tensor = |values: &[i32]| {
            HostTensor::from_slice(Shape::new(&[2, 2]).unwrap(), values, &Malloc::shared()).unwrap()
        };
        let report = compare(&tensor(&[1, 3, 9, 4]), &tensor(&[1, 2, 3, 4]), Tolerance::default()).unwrap();
        assert_eq!(
            report.to_string(),
            "2 of 4 elements differ; worst at [1, 0]: got 9, want 3, error 6.000e0; first at [0, 1]: got 3, want 2"
        );
        let same = compare(&tensor(&[1; 4]), &tensor(&[1; 4]), Tolerance::default()).unwrap();
        assert_eq!(same.to_string(), "all 4 elements are equal");
    }

    #[test]
    fn the_report_of_a_match_names_the_worst_pair() {
        let report = compared(&[1.0f32, 2.000_01, 300.0, 4.0], &[1.0, 2.0, 300.001, 4.0]);
        assert!(report.is_match());
        assert_eq!(
            report.to_string(),
            "all 4 elements agree; worst at [2]: got 300.0, want 300.001, error 1.007e-3"
        );
    }

    #[test]
    fn other_dtypes_and_shapes_are_errors() {
        let malloc = Malloc::shared();
        let shape = |dims: &[usize]| Shape::new(dims).unwrap();
        let a = HostTensor::from_slice(shape(&[2]), &[1i32, 2], &malloc).unwrap();
        let b = HostTensor::from_slice(shape(&[2]), &[1.0f32, 2.0], &malloc).unwrap();
        let c = HostTensor::from_slice(shape(&[1, 2]), &[1i32, 2], &malloc).unwrap();
        let error = |want| compare(&a, want, Tolerance::default()).unwrap_err().to_string();
        assert_eq!(error(&b), "`result` has dtype i32, expected f32");
        assert_eq!(error(&c), "`result` has shape [2], expected [1, 2]");
    }
}
