//! Tensors as text, in TFRT's format:
//!
//! ```text
//! DenseHostTensor dtype = f32, shape = [2], values = [1.000000e+00, -2.500000e-01]
//! StringHostTensor shape = [2], values = ["one", "two\0A"]
//! ```
//!
//! Floats are printed by C's `%e`, with `nan`, `INF` and `-INF`. Integers are decimal, booleans 0 or 1. f16
//! and bf16 are printed as raw bits, `fp16(15360)` and `bf16(16256)`, as in TFRT. Complex numbers are
//! `(re,im)`.
//!
//! [`numpy`] is another format, for large tensors and human readers.

pub mod numpy;

use std::fmt::{self, Write};

use half::{bf16, f16};

use crate::element::with_element;
use crate::scratch::no_room;
use crate::{Complex64, Complex128, HostTensor, I1, StringTensor, TensorError};

/// The tensor on one line, without a line end.
pub fn tensor(tensor: &HostTensor) -> Result<String, TensorError> {
    let mut text =
        format!("DenseHostTensor dtype = {}, shape = {}, values = [", tensor.dtype(), tensor.shape());
    write_elements(&mut text, tensor)?;
    text.push(']');
    Ok(text)
}

/// The elements alone.
pub fn elements(tensor: &HostTensor) -> Result<String, TensorError> {
    let mut text = String::new();
    write_elements(&mut text, tensor)?;
    Ok(text)
}

/// A bound on the length of an element's text with its comma.
const LONGEST: usize = 64;

/// Reserves room for `more` bytes.
fn reserve(text: &mut String, more: usize) -> Result<(), TensorError> {
    text.try_reserve(more).map_err(|_| no_room::<u8>(text.len().saturating_add(more)))
}

pub(crate) fn write_elements(text: &mut String, tensor: &HostTensor) -> Result<(), TensorError> {
    with_element!(tensor.dtype(), T => {
        for (i, value) in tensor.read::<T>()?.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            reserve(text, LONGEST)?;
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}{}", Printed(*value));
        }
    });
    Ok(())
}

/// The tensor of strings on one line, without a line end. Quotes, backslashes and bytes other than printable
/// ASCII are printed as `\` and two hexadecimal digits.
pub fn strings(tensor: &StringTensor) -> Result<String, TensorError> {
    let mut text = format!("StringHostTensor shape = {}, values = [", tensor.shape());
    for (i, string) in tensor.read()?.iter().enumerate() {
        reserve(&mut text, 3 * string.len() + LONGEST)?;
        text.push_str(if i == 0 { "\"" } else { ", \"" });
        for &byte in string {
            // Writing to a string cannot fail.
            let _ = match byte {
                b' '..=b'~' if byte != b'"' && byte != b'\\' => text.write_char(char::from(byte)),
                _ => write!(text, "\\{byte:02X}"),
            };
        }
        text.push('"');
    }
    text.push(']');
    Ok(text)
}

/// A number in C's `%e` format.
pub fn exponent(value: f64) -> String {
    Printed(value).to_string()
}

/// An element in the format of printed tensors.
pub(crate) struct Printed<T>(pub(crate) T);

/// C's `%e`: six digits, and an exponent of a sign and at least two digits.
fn exponential(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() {
        return f.write_str("nan");
    }
    if value.is_infinite() {
        return f.write_str(if value < 0.0 { "-INF" } else { "INF" });
    }
    let text = format!("{value:.6e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |positive| ('-', positive));
    write!(f, "{digits}e{sign}{exponent:0>2}")
}

macro_rules! printed {
    ($($t:ty: |$f:ident, $x:ident| $body:expr;)*) => {$(
        impl fmt::Display for Printed<$t> {
            fn fmt(&self, $f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Printed($x) = *self;
                $body
            }
        }
    )*};
}

printed! {
    u8: |f, x| x.fmt(f);
    u16: |f, x| x.fmt(f);
    u32: |f, x| x.fmt(f);
    u64: |f, x| x.fmt(f);
    i8: |f, x| x.fmt(f);
    i16: |f, x| x.fmt(f);
    i32: |f, x| x.fmt(f);
    i64: |f, x| x.fmt(f);
    I1: |f, x| u8::from(x.is_true()).fmt(f);
    f32: |f, x| exponential(f, f64::from(x));
    f64: |f, x| exponential(f, x);
    f16: |f, x| write!(f, "fp16({})", x.to_bits());
    bf16: |f, x| write!(f, "bf16({})", x.to_bits());
    Complex64: |f, x| write!(f, "({},{})", Printed(x.re), Printed(x.im));
    Complex128: |f, x| write!(f, "({},{})", Printed(x.re), Printed(x.im));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Shape, mem::Malloc};

    fn check<T: Element>(dims: &[usize], values: &[T], want: &str) {
        let t = HostTensor::from_slice(Shape::new(dims).unwrap(), values, &Malloc::shared()).unwrap();
        assert_eq!(tensor(&t).unwrap(), want);
    }

    #[test]
    fn tensors_print_as_tfrt_does() {
        check(
            &[2, 3],
            &[3i32; 6],
            "DenseHostTensor dtype = i32, shape = [2, 3], values = [3, 3, 3, 3, 3, 3]",
        );
        check(&[], &[-1i64], "DenseHostTensor dtype = i64, shape = [], values = [-1]");
        check::<u8>(&[0], &[], "DenseHostTensor dtype = ui8, shape = [0], values = []");
        check(&[1], &[i8::MIN], "DenseHostTensor dtype = i8, shape = [1], values = [-128]");
        check(
            &[2],
            &[I1::from(true), I1::from(false)],
            "DenseHostTensor dtype = i1, shape = [2], values = [1, 0]",
        );
        check(
            &[4],
            &[1.0f32, -0.25, 1e-30, 0.0],
            "DenseHostTensor dtype = f32, shape = [4], values = [1.000000e+00, -2.500000e-01, 1.000000e-30, 0.000000e+00]",
        );
        check(
            &[6],
            &[1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.999_999_99],
            "DenseHostTensor dtype = f64, shape = [6], \
             values = [1.000000e+300, nan, INF, -INF, -0.000000e+00, 1.000000e+00]",
        );
        check(&[1], &[f16::ONE], "DenseHostTensor dtype = f16, shape = [1], values = [fp16(15360)]");
        check(
            &[1],
            &[Complex64 { re: 1.0, im: -2.0 }],
            "DenseHostTensor dtype = complex64, shape = [1], values = [(1.000000e+00,-2.000000e+00)]",
        );
    }
}
