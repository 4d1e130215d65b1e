//! Tensor literals of the command line: `f32[2x2]:1,2,3,4`, `i32:7`, `i1[2]:true,0`, `f32[0x3]:`.
//!
//! ```text
//! literal := dtype [ '[' [ n { 'x' n } ] ']' ] ':' [ value { ',' value } ]       no brackets: a scalar
//! ```
//!
//! Integers are decimal and must be in range. Floats are decimal, `inf` or `nan`. Booleans are `true`,
//! `false`, `1` or `0`. Complex numbers are `re+imi`, such as `1-2.5i`. The number of values is the number of
//! elements; values are neither repeated nor omitted.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use befrost_mem::Allocator;
use half::{bf16, f16};

use crate::dtype::UnknownDType;
use crate::element::with_element;
use crate::scalar::{bf16_from_f64, f16_from_f64};
use crate::{Complex64, Complex128, DType, Element, HostTensor, I1, Shape, TensorError};

/// The reason why a text is not a tensor literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralError {
    /// There is no `:` between type and values.
    NoColon,
    /// The element type is unknown.
    DType(UnknownDType),
    /// The shape is not written as `[2x3]`.
    Shape(String),
    /// The number of values differs from the number of elements.
    Count {
        /// The number of elements of the shape.
        want: usize,
        /// The number of values.
        got: usize,
    },
    /// A value that the element type cannot represent.
    Value {
        /// Its position among the values.
        at: usize,
        /// The text of the value.
        text: String,
        /// The element type.
        dtype: DType,
    },
    /// The tensor cannot be created.
    Tensor(TensorError),
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiteralError::NoColon => {
                f.write_str("expected DTYPE[SHAPE]:v,v,..., such as f32[2x2]:1,2,3,4 or i32:7")
            }
            LiteralError::DType(error) => error.fmt(f),
            LiteralError::Shape(text) => write!(f, "`{text}` is not a shape such as [2x3]"),
            LiteralError::Count { want, got } => {
                write!(f, "{got} values are written, the shape has {want} elements")
            }
            LiteralError::Value { at, text, dtype } => {
                write!(f, "value #{at}, `{text}`, is not a value of {dtype}")
            }
            LiteralError::Tensor(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LiteralError {}

impl From<TensorError> for LiteralError {
    fn from(error: TensorError) -> LiteralError {
        LiteralError::Tensor(error)
    }
}

/// True if a text has the form of a literal, possibly of an unknown element type; otherwise it is a file
/// name.
pub fn is_literal(text: &str) -> bool {
    let Some((dtype, rest)) = text.split_once(['[', ':']) else { return false };
    let is_word = !dtype.is_empty() && dtype.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let has_values = text[dtype.len()..].starts_with(':') || rest.contains("]:");
    has_values && is_word && (dtype.parse::<DType>().is_ok() || !text.ends_with(".npy"))
}

/// Parses a literal.
pub fn parse(text: &str, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, LiteralError> {
    let (head, values) = text.split_once(':').ok_or(LiteralError::NoColon)?;
    let (dtype, shape) = head.split_at(head.find('[').unwrap_or(head.len()));
    let dtype = dtype.trim().parse::<DType>().map_err(LiteralError::DType)?;
    let shape = parse_shape(shape.trim())?;
    // Counted before memory is allocated, so that the length of the text bounds the memory.
    let got = if values.trim().is_empty() { 0 } else { values.split(',').count() };
    if got != shape.num_elements() {
        return Err(LiteralError::Count { want: shape.num_elements(), got });
    }
    let tensor = HostTensor::allocate(dtype, shape, allocator)?;
    with_element!(dtype, T => set_values::<T>(&tensor, values)?);
    Ok(tensor)
}

fn parse_shape(text: &str) -> Result<Shape, LiteralError> {
    if text.is_empty() {
        return Ok(Shape::scalar());
    }
    let wrong = || LiteralError::Shape(excerpt(text));
    let dims = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(wrong)?;
    if dims.trim().is_empty() {
        return Ok(Shape::scalar());
    }
    let dims = dims
        .split('x')
        .map(|dim| dim.trim().parse().map_err(|_| wrong()))
        .collect::<Result<Vec<usize>, _>>()?;
    Ok(Shape::new(&dims)?)
}

fn set_values<T: Literal>(tensor: &HostTensor, values: &str) -> Result<(), LiteralError> {
    let mut elements = tensor.write::<T>()?;
    for (at, (element, text)) in elements.iter_mut().zip(values.split(',')).enumerate() {
        let text = text.trim();
        *element =
            T::parse(text).ok_or_else(|| LiteralError::Value { at, text: excerpt(text), dtype: T::DTYPE })?;
    }
    Ok(())
}

/// The user's text, cut to the length of a message.
fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

/// An element type with literals.
trait Literal: Element {
    fn parse(text: &str) -> Option<Self>;
}

macro_rules! literals {
    ($($t:ty: $parse:expr;)*) => {$(
        impl Literal for $t {
            fn parse(text: &str) -> Option<Self> {
                $parse(text)
            }
        }
    )*};
}

literals! {
    u8: std_parse;
    u16: std_parse;
    u32: std_parse;
    u64: std_parse;
    i8: std_parse;
    i16: std_parse;
    i32: std_parse;
    i64: std_parse;
    f32: |text| in_range(text, std_parse(text)?, f32::is_infinite);
    f64: |text| in_range(text, std_parse(text)?, f64::is_infinite);
    f16: |text| in_range(text, f16_from_f64(std_parse(text)?), f16::is_infinite);
    bf16: |text| in_range(text, bf16_from_f64(std_parse(text)?), bf16::is_infinite);
    I1: truth_value;
    Complex64: |text| complex(text).map(|(re, im)| Complex64 { re, im });
    Complex128: |text| complex(text).map(|(re, im)| Complex128 { re, im });
}

fn std_parse<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// The number; `None` if it is infinite although the text is a finite number.
fn in_range<T: Copy>(text: &str, value: T, is_infinite: fn(T) -> bool) -> Option<T> {
    let names_infinity = text.to_ascii_lowercase().contains("inf");
    (names_infinity || !is_infinite(value)).then_some(value)
}

fn truth_value(text: &str) -> Option<I1> {
    match text {
        "true" | "1" => Some(I1::from(true)),
        "false" | "0" => Some(I1::from(false)),
        _ => None,
    }
}

/// `re`, `imi` or `re+imi`. The sign between the parts is the last one that does not belong to an exponent.
fn complex<T: Literal + Default>(text: &str) -> Option<(T, T)> {
    let Some(parts) = text.strip_suffix('i') else {
        return Some((T::parse(text)?, T::default()));
    };
    let bytes = parts.as_bytes();
    let sign = (1..bytes.len())
        .rev()
        .find(|&i| matches!(bytes[i], b'+' | b'-') && !matches!(bytes[i - 1], b'e' | b'E'));
    match sign {
        Some(sign) => Some((T::parse(&parts[..sign])?, T::parse(&parts[sign..])?)),
        None => Some((T::default(), T::parse(parts)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mem::Malloc, print};

    fn check(text: &str, want: &str) {
        let printed = parse(text, &Malloc::shared())
            .map(|t| print::tensor(&t).unwrap().replace("DenseHostTensor dtype = ", ""))
            .unwrap_or_else(|error| format!("error: {error}"));
        assert!(printed.starts_with(want), "{text}: got {printed}, want {want}");
        assert_eq!(is_literal(text), !want.starts_with("error: expected"), "{text}");
    }

    #[test]
    fn literals() {
        check("i32:7", "i32, shape = [], values = [7]");
        check("i32[]: -7", "i32, shape = [], values = [-7]");
        check("f32[2x2]:1,2.5, -3,4e1", "f32, shape = [2, 2], values = [1.000000e+00, 2.500000e+00, -3");
        check("f64[3]:inf,-inf,nan", "f64, shape = [3], values = [INF, -INF, nan]");
        check("f32[0x3]:", "f32, shape = [0, 3], values = []");
        check("i1[4]:true,false,1,0", "i1, shape = [4], values = [1, 0, 1, 0]");
        check("f16[1]:1", "f16, shape = [1], values = [fp16(15360)]");
        check(
            "complex64[4]:1-2.5i,1e-3,2i,1e+1+1e-1i",
            "complex64, shape = [4], values = [(1.000000e+00,-2.5",
        );
    }

    #[test]
    fn bad_literals_are_explained() {
        check("weights.npy", "error: expected DTYPE[SHAPE]:");
        check("float[2]:1,2", "error: unknown element type `float`; there are ui8");
        check("i33:1", "error: unknown element type `i33`; there are ui8");
        for file in ["weights.npy", "a:b.npy", "float[2]:x.npy", "out/f32[2]:1", ":1", "f32[2]"] {
            assert!(!is_literal(file), "{file}");
        }
        check("f32[2]:1e40,0", "error: value #0, `1e40`, is not");
        check("f16:70000", "error: value #0, `70000`, is not");
        check("f32[2]:inf,-Infinity", "f32, shape = [2]");
        check("f32[2x]:1,2", "error: `[2x]` is not a shape");
        check("f32[-1]:1", "error: `[-1]` is not a shape");
        check("i32[3]:1,2", "error: 2 values are written, the shape has 3 elements");
        check("i32[2]:", "error: 0 values are written, the shape has 2 elements");
        check("i32:", "error: 0 values are written, the shape has 1 elements");
        check("i8:128", "error: value #0, `128`, is not a value of i8");
        check("ui8[2]:1,-1", "error: value #1, `-1`, is not a value of ui8");
        check("i1:2", "error: value #0, `2`");
        check("i32:1.5", "error: value #0, `1.5`");
        check("complex64:i", "error: value #0");
        check("complex64:1e40", "error: value #0");
        check("complex64:1-1e40i", "error: value #0");
        check("complex128:1e309i", "error: value #0");
        check("f32[99999999x99999999x99999999]:1", "error: the tensor is larger");
        check("f64[9999999999]:1", "error: 1 values are written");
    }
}
