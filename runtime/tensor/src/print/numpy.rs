//! Tensors as numpy prints arrays: `array([1. , 2.5], shape=(2,), dtype=float32)`.
//!
//! The layout is that of numpy's `repr` with its default options: up to eight digits behind the point, the
//! fewest digits that identify a number, one width for all elements, and lines of 75 columns. Of a large
//! array only the first and last three entries of each axis are printed. Unlike in numpy, the shape is always
//! printed. An array is printed in two passes, the first of which finds the widths, so that the text need not
//! be held in memory.
//!
//! Source: `numpy/_core/arrayprint.py`, `array_repr`, as documented under `numpy.set_printoptions`.

use std::fmt::{self, Write};
use std::ops::ControlFlow;

use half::{bf16, f16};

use crate::element::with_element;
use crate::scalar::{bf16_from_f64, f16_from_f64};
use crate::{Complex64, Complex128, DType, HostTensor, I1, Shape, StringTensor, TensorError};

/// Number of elements up to which numpy prints all of them.
pub const ALL_UP_TO: usize = 1000;

/// Entries at either end of an axis of a shortened array.
const EDGE: usize = 3;
const LINE_WIDTH: usize = 75;
/// Digits behind the point.
const PRECISION: usize = 8;
const PREFIX: &str = "array(";
/// The mark for the entries that are left out.
const ELLIPSIS: &str = "...";

/// Writes an array of numbers. If it has more than `limit` elements, only its edges are written.
///
/// # Errors
/// If the tensor is being written, or `out` fails, which is the inner error.
pub fn write_array(
    out: &mut dyn Write,
    tensor: &HostTensor,
    limit: usize,
) -> Result<fmt::Result, TensorError> {
    let dtype = dtype_name(tensor.dtype());
    with_element!(tensor.dtype(), T => {
        let value = tensor.by_position::<T>()?;
        let scalars = |i: usize| value(i).map_or(PrintedElement::Signed(0), PrintedElement::from);
        let layout = PrintedAxes { shape: tensor.shape(), shortened: tensor.num_elements() > limit };
        let format = Format::of(&layout, &scalars);
        Ok(write(out, &layout, dtype, &|i, out| format.write(scalars(i), out)))
    })
}

/// Writes an array of strings, as Python prints bytes. If it has more than `limit` elements, only its edges
/// are written.
///
/// # Errors
/// If the tensor is being written, or `out` fails, which is the inner error.
pub fn write_strings(
    out: &mut dyn Write,
    tensor: &StringTensor,
    limit: usize,
) -> Result<fmt::Result, TensorError> {
    let strings = tensor.read()?;
    let layout = PrintedAxes { shape: tensor.shape(), shortened: tensor.num_elements() > limit };
    let word = |i: usize, out: &mut String| write_bytes(strings.at(i).unwrap_or_default(), out);
    Ok(write(out, &layout, "object", &word))
}

/// The text of an array as numpy's `str` makes it, without a prefix and commas: `[1 2 3]`. A number of rank 0
/// has the fewest digits that identify it, and an exponent below 1e-4 and from 1e16 on. Of an array with more
/// than `limit` elements only the edges are included.
///
/// # Errors
/// If the tensor is being written.
pub fn text(tensor: &HostTensor, limit: usize) -> Result<String, TensorError> {
    with_element!(tensor.dtype(), T => {
        let values = tensor.read::<T>()?;
        let scalars = |i: usize| values.get(i).map_or(PrintedElement::Signed(0), |value| (*value).into());
        if tensor.shape().rank() == 0 {
            return Ok(number(scalars(0)));
        }
        if values.is_empty() {
            return Ok("[]".to_owned());
        }
        let layout = PrintedAxes { shape: tensor.shape(), shortened: values.len() > limit };
        let format = Format::of(&layout, &scalars);
        let (mut out, mut last) = (String::new(), String::new());
        let word = |i: usize, out: &mut String| format.write(scalars(i), out);
        let mut text = Text { out: &mut out, line: &mut last, word: &word, layout: &layout, style: STR };
        // Writing to a string cannot fail.
        let _ = text.axis(0, 0, values.len(), 0);
        Ok(out + &last)
    })
}

/// The text of a number of rank 0.
fn number(scalar: PrintedElement) -> String {
    match scalar {
        PrintedElement::Float(x) => real(x),
        PrintedElement::Complex(re, im) => {
            let part = |x| real(x).trim_end_matches(".0").to_owned();
            let im = part(im);
            let sign = if im.starts_with('-') { "" } else { "+" };
            format!("({}{sign}{im}j)", part(re))
        }
        other => plain(other),
    }
}

/// The text of a real number with the fewest digits that identify it.
fn real(x: FloatElement) -> String {
    let value = x.value();
    if !value.is_finite() {
        return special(value, false).to_owned();
    }
    let text = x.shortest();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let digits = fraction(mantissa).len() as i32 - exponent;
    let digits = usize::try_from(digits).unwrap_or(0).max(1);
    // Formatted from the shortest text: the exact f64 value of an f32 has more digits.
    let shortest: f64 = text.parse().unwrap_or(value);
    format!("{shortest:.digits$}")
}

/// numpy's name of an element type.
fn dtype_name(dtype: DType) -> &'static str {
    match dtype {
        DType::UI8 => "uint8",
        DType::UI16 => "uint16",
        DType::UI32 => "uint32",
        DType::UI64 => "uint64",
        DType::I1 => "bool",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::Complex64 => "complex64",
        DType::Complex128 => "complex128",
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
    }
}

/// Python's literal of a byte string.
fn write_bytes(bytes: &[u8], out: &mut String) {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    out.push('b');
    out.push(quote);
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'\'' if quote == '\'' => out.push_str("\\'"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
}

/// The whole representation; `word` appends the text of the element at an index.
fn write(
    out: &mut dyn Write,
    layout: &PrintedAxes<'_>,
    dtype: &str,
    word: &dyn Fn(usize, &mut String),
) -> fmt::Result {
    out.write_str(PREFIX)?;
    let mut last = String::new();
    if layout.shape.dims().is_empty() {
        word(0, &mut last);
    } else if layout.shape.num_elements() == 0 {
        last.push_str("[]");
    } else {
        let mut text = Text { out, line: &mut last, word, layout, style: REPR };
        text.axis(0, 0, layout.shape.num_elements(), PREFIX.len())?;
    }
    let dims: Vec<String> = layout.shape.dims().iter().map(ToString::to_string).collect();
    // A tuple of one has a comma.
    let shape = if let [one] = dims.as_slice() { format!("{one},") } else { dims.join(", ") };
    let extras = format!("shape=({shape}), dtype={dtype})");
    out.write_str(&last)?;
    if columns(&last, PREFIX.len()) + 2 + extras.len() > LINE_WIDTH {
        write!(out, ",\n{:indent$}{extras}", "", indent = PREFIX.len())
    } else {
        write!(out, ", {extras}")
    }
}

/// The width of a line. The first line, which is not indented, follows the prefix.
fn columns(line: &str, prefix: usize) -> usize {
    if line.starts_with(' ') { line.len() } else { prefix + line.len() }
}

/// The shape of an array, and the choice between all elements and the edges.
struct PrintedAxes<'a> {
    shape: &'a Shape,
    shortened: bool,
}

impl PrintedAxes<'_> {
    /// Numbers of printed entries of an axis before and after the ellipsis. Without an ellipsis all are
    /// "after".
    fn ends(&self, axis: usize) -> (usize, usize) {
        let dim = self.shape.dims()[axis];
        if self.shortened && dim > 2 * EDGE { (EDGE, EDGE) } else { (0, dim) }
    }

    /// Calls `visit` with the index of each printed element, until it breaks.
    fn visit(&self, visit: &mut dyn FnMut(usize) -> ControlFlow<()>) {
        if self.shape.num_elements() > 0 {
            let _ = self.visit_axis(0, 0, self.shape.num_elements(), visit);
        }
    }

    fn visit_axis(
        &self,
        axis: usize,
        start: usize,
        size: usize,
        visit: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(&dim) = self.shape.dims().get(axis) else { return visit(start) };
        let step = size / dim;
        let (leading, trailing) = self.ends(axis);
        for i in (0..leading).chain(dim - trailing..dim) {
            self.visit_axis(axis + 1, start + i * step, step, visit)?;
        }
        ControlFlow::Continue(())
    }
}

/// An array being written: finished lines go to `out`.
struct Text<'a> {
    out: &'a mut dyn Write,
    line: &'a mut String,
    word: &'a dyn Fn(usize, &mut String),
    layout: &'a PrintedAxes<'a>,
    style: Style,
}

/// The text around and between the elements.
#[derive(Clone, Copy)]
struct Style {
    /// The columns before the first bracket.
    prefix: usize,
    /// The columns behind the last bracket.
    suffix: usize,
    comma: bool,
}

const REPR: Style = Style { prefix: PREFIX.len(), suffix: 1, comma: true };
const STR: Style = Style { prefix: 0, suffix: 0, comma: false };

impl Text<'_> {
    /// Writes the part of an axis that begins at the element `start` and has `size` elements. Its first line
    /// is the current one, which is at the column where the part's bracket stands.
    fn axis(&mut self, axis: usize, start: usize, size: usize, column: usize) -> fmt::Result {
        let dims = self.layout.shape.dims();
        let (dim, is_last) = (dims[axis], axis + 1 == dims.len());
        let step = size / dim;
        let (leading, trailing) = self.layout.ends(axis);
        // A word is followed by a comma or by brackets and a parenthesis, which must fit into the line.
        let width = (LINE_WIDTH - 1 - self.style.suffix).saturating_sub(axis);
        self.line.push('[');
        let column = column + 1;
        let mut is_first = true;
        let places = (0..leading).map(Some).chain((leading > 0).then_some(None));
        let mut word = String::new();
        for place in places.chain((dim - trailing..dim).map(Some)) {
            match place {
                None if is_last => word.push_str(ELLIPSIS),
                Some(i) if is_last => (self.word)(start + i, &mut word),
                _ => {}
            }
            if !is_first {
                if self.style.comma {
                    self.line.push(',');
                }
                let wraps = is_last && columns(self.line, self.style.prefix) + 1 + word.len() > width;
                if wraps || !is_last {
                    let breaks = if is_last { 1 } else { dims.len() - axis - 1 };
                    self.break_line(breaks, column)?;
                } else {
                    self.line.push(' ');
                }
            }
            is_first = false;
            match place {
                Some(i) if !is_last => self.axis(axis + 1, start + i * step, step, column)?,
                None if !is_last => self.line.push_str(ELLIPSIS),
                _ => self.line.push_str(&word),
            }
            word.clear();
        }
        self.line.push(']');
        Ok(())
    }

    fn break_line(&mut self, breaks: usize, column: usize) -> fmt::Result {
        self.out.write_str(self.line)?;
        for _ in 0..breaks {
            self.out.write_char('\n')?;
        }
        self.line.clear();
        self.line.extend(std::iter::repeat_n(' ', column));
        Ok(())
    }
}

/// An element as it is printed.
#[derive(Clone, Copy, Debug)]
enum PrintedElement {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(FloatElement),
    Complex(FloatElement, FloatElement),
}

/// A real number of some precision.
#[derive(Clone, Copy, Debug)]
enum FloatElement {
    F16(f16),
    BF16(bf16),
    F32(f32),
    F64(f64),
}

macro_rules! scalars {
    ($($ty:ty: $x:ident => $scalar:expr;)*) => {$(
        impl From<$ty> for PrintedElement {
            fn from($x: $ty) -> PrintedElement {
                $scalar
            }
        }
    )*};
}

scalars! {
    u8: x => PrintedElement::Unsigned(x.into());
    u16: x => PrintedElement::Unsigned(x.into());
    u32: x => PrintedElement::Unsigned(x.into());
    u64: x => PrintedElement::Unsigned(x);
    i8: x => PrintedElement::Signed(x.into());
    i16: x => PrintedElement::Signed(x.into());
    i32: x => PrintedElement::Signed(x.into());
    i64: x => PrintedElement::Signed(x);
    I1: x => PrintedElement::Bool(x.is_true());
    f16: x => PrintedElement::Float(FloatElement::F16(x));
    bf16: x => PrintedElement::Float(FloatElement::BF16(x));
    f32: x => PrintedElement::Float(FloatElement::F32(x));
    f64: x => PrintedElement::Float(FloatElement::F64(x));
    Complex64: x => PrintedElement::Complex(FloatElement::F32(x.re), FloatElement::F32(x.im));
    Complex128: x => PrintedElement::Complex(FloatElement::F64(x.re), FloatElement::F64(x.im));
}

impl FloatElement {
    fn value(self) -> f64 {
        match self {
            FloatElement::F16(x) => x.to_f64(),
            FloatElement::BF16(x) => x.to_f64(),
            FloatElement::F32(x) => x.into(),
            FloatElement::F64(x) => x,
        }
    }

    /// The shortest text in scientific notation that is read as the number again: `-1.25e-7`.
    fn shortest(self) -> String {
        let fewest = |is_same: &dyn Fn(f64) -> bool| {
            let texts = (0..16).map(|digits| format!("{:.digits$e}", self.value()));
            texts.into_iter().find(|text| text.parse().is_ok_and(is_same)).unwrap_or_default()
        };
        match self {
            FloatElement::F16(x) => fewest(&|y| f16_from_f64(y) == x),
            FloatElement::BF16(x) => fewest(&|y| bf16_from_f64(y) == x),
            FloatElement::F32(x) => format!("{x:e}"),
            FloatElement::F64(x) => format!("{x:e}"),
        }
    }

    /// Integer part with sign, fraction and exponent of the number in scientific notation; at most
    /// [`PRECISION`] digits of fraction, none of them a trailing zero.
    fn scientific(self) -> (String, String, i32) {
        let mut text = self.shortest();
        if fraction(&text).len() > PRECISION {
            text = format!("{:.PRECISION$e}", self.value());
        }
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        (whole.to_owned(), fraction.trim_end_matches('0').to_owned(), exponent.parse().unwrap_or(0))
    }

    /// Integer part with sign, and fraction, of the number in positional notation.
    fn positional(self) -> (String, String) {
        let text = self.shortest();
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let digits = fraction(mantissa).len() as i32 - exponent;
        // The number of digits that the shortest text has behind the point.
        let digits = usize::try_from(digits).unwrap_or(0).min(PRECISION);
        let text = format!("{:.digits$}", self.value());
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
    }
}

/// The digits behind the point of a mantissa, or of a number in scientific notation.
fn fraction(text: &str) -> &str {
    let mantissa = text.split_once('e').map_or(text, |(mantissa, _)| mantissa);
    mantissa.split_once('.').map_or("", |(_, fraction)| fraction)
}

/// The common format of an array's elements.
#[derive(Debug)]
enum Format {
    /// Right-justified in this width.
    Width(usize),
    Float(FloatFormat),
    Complex(FloatFormat, FloatFormat),
}

impl Format {
    /// The format of the elements that a layout prints.
    fn of(layout: &PrintedAxes<'_>, scalar: &dyn Fn(usize) -> PrintedElement) -> Format {
        let (mut width, mut re, mut im) = (0, ColumnWidths::new(false), ColumnWidths::new(true));
        let mut kind = 0;
        for pass in 0..2 {
            layout.visit(&mut |i| {
                match scalar(i) {
                    PrintedElement::Float(x) => {
                        kind = 1;
                        re.add(x, pass);
                    }
                    PrintedElement::Complex(x, y) => {
                        kind = 2;
                        re.add(x, pass);
                        im.add(y, pass);
                    }
                    // In an array all booleans have the width of `False`, even if all are true.
                    PrintedElement::Bool(_) if layout.shape.rank() > 0 => width = 5,
                    other => width = width.max(plain(other).len()),
                }
                ControlFlow::Continue(())
            });
            if kind == 0 {
                break;
            }
        }
        match kind {
            0 => Format::Width(width),
            1 => Format::Float(re.format()),
            _ => Format::Complex(re.format(), im.format()),
        }
    }

    fn write(&self, scalar: PrintedElement, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match (self, scalar) {
            (Format::Float(format), PrintedElement::Float(x)) => write!(out, "{}", format.text(x)),
            (Format::Complex(re, im), PrintedElement::Complex(x, y)) => {
                let im = im.text(y);
                let digits = im.trim_end();
                write!(out, "{}{digits}j{:pad$}", re.text(x), "", pad = im.len() - digits.len())
            }
            (Format::Width(width), scalar) => write!(out, "{:>width$}", plain(scalar)),
            (_, scalar) => write!(out, "{}", plain(scalar)),
        };
    }
}

/// The text of an element that is not a float.
fn plain(scalar: PrintedElement) -> String {
    match scalar {
        PrintedElement::Bool(true) => "True".into(),
        PrintedElement::Bool(false) => "False".into(),
        PrintedElement::Signed(x) => x.to_string(),
        PrintedElement::Unsigned(x) => x.to_string(),
        PrintedElement::Float(x) | PrintedElement::Complex(x, _) => x.value().to_string(),
    }
}

/// The widths of the parts of numbers, found in two passes: the first decides on the notation, the second
/// finds the widths.
#[derive(Debug)]
struct ColumnWidths {
    /// True if positive numbers have a sign.
    signed: bool,
    /// Numbers from this limit on are printed in scientific notation: 10 to the power of the type's number of
    /// digits, at most eight.
    cutoff: f64,
    least: f64,
    greatest: f64,
    whole: usize,
    fraction: usize,
    exponent: usize,
    /// Width of the longest of `nan`, `inf` and `-inf`.
    special: usize,
}

impl ColumnWidths {
    fn new(signed: bool) -> ColumnWidths {
        let least = f64::INFINITY;
        ColumnWidths {
            signed,
            cutoff: 1e8,
            least,
            greatest: 0.0,
            whole: 0,
            fraction: 0,
            exponent: 2,
            special: 0,
        }
    }

    fn is_scientific(&self) -> bool {
        self.greatest > 0.0
            && (self.greatest >= self.cutoff || self.least < 1e-4 || self.greatest / self.least > 1000.0)
    }

    fn add(&mut self, x: FloatElement, pass: usize) {
        let value = x.value();
        self.cutoff = match x {
            FloatElement::F16(_) => 1e3,
            FloatElement::BF16(_) | FloatElement::F32(_) => 1e6,
            FloatElement::F64(_) => 1e8,
        };
        if !value.is_finite() {
            self.special = self.special.max(special(value, self.signed).len());
        } else if pass == 0 {
            if value != 0.0 {
                self.least = self.least.min(value.abs());
                self.greatest = self.greatest.max(value.abs());
            }
        } else if self.is_scientific() {
            let (whole, fraction, exponent) = x.scientific();
            self.widen(&whole, &fraction);
            self.exponent = self.exponent.max(exponent.unsigned_abs().to_string().len());
        } else {
            let (whole, fraction) = x.positional();
            self.widen(&whole, &fraction);
        }
    }

    fn widen(&mut self, whole: &str, fraction: &str) {
        self.whole = self.whole.max(sign(whole, self.signed).len() + whole.len());
        self.fraction = self.fraction.max(fraction.len());
    }

    fn format(self) -> FloatFormat {
        let ColumnWidths { signed, fraction, .. } = self;
        let exponent = self.is_scientific().then_some(self.exponent);
        let behind = fraction + exponent.map_or(0, |digits| digits + 2);
        let whole = self.whole.max(self.special.saturating_sub(behind + 1));
        FloatFormat { whole, fraction, exponent, signed }
    }
}

/// The sign to be added to the text of a number.
fn sign(text: &str, signed: bool) -> &'static str {
    if signed && !text.starts_with('-') { "+" } else { "" }
}

/// The text of a number that is not finite.
fn special(value: f64, signed: bool) -> &'static str {
    match value {
        _ if value.is_nan() => ["nan", "+nan"][usize::from(signed)],
        _ if value > 0.0 => ["inf", "+inf"][usize::from(signed)],
        _ => "-inf",
    }
}

/// The widths of the parts of a number.
#[derive(Debug)]
struct FloatFormat {
    /// Columns before the point.
    whole: usize,
    /// Columns behind the point.
    fraction: usize,
    /// Digits of the exponent in scientific notation.
    exponent: Option<usize>,
    /// True if positive numbers have a sign.
    signed: bool,
}

impl FloatFormat {
    fn text(&self, x: FloatElement) -> String {
        let &FloatFormat { whole: before, fraction: behind, exponent: digits, signed } = self;
        if !x.value().is_finite() {
            let width = before + 1 + behind + digits.map_or(0, |digits| digits + 2);
            return format!("{:>width$}", special(x.value(), signed));
        }
        if let Some(digits) = digits {
            // Digits beyond those that identify the number are digits of its exact value, not zeros.
            let text = format!("{:.behind$e}", x.value());
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let whole = format!("{}{whole}", sign(whole, signed));
            let (minus, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
            format!("{whole:>before$}.{fraction}e{minus}{exponent:0>digits$}")
        } else {
            let (whole, fraction) = x.positional();
            let whole = format!("{}{whole}", sign(&whole, signed));
            format!("{whole:>before$}.{fraction:<behind$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;

    fn check<T: Element>(dims: &[usize], values: Vec<T>, limit: usize, want: &str) {
        let tensor = HostTensor::from_vec(dims, values).unwrap();
        let mut text = String::new();
        write_array(&mut text, &tensor, limit).unwrap().unwrap();
        assert_eq!(text, want);
    }

    /// The texts are those of numpy 2.4's `str`.
    #[test]
    fn texts_are_those_of_str() {
        let check = |dims: &[usize], values: Vec<f64>, want: &str| {
            let tensor = HostTensor::from_vec(dims, values).unwrap();
            assert_eq!(text(&tensor, 1000).unwrap(), want);
        };
        check(&[], vec![1.0], "1.0");
        check(&[], vec![0.1], "0.1");
        check(&[], vec![-1e16], "-1e+16");
        check(&[], vec![1e15], "1000000000000000.0");
        check(&[], vec![1.5e-5], "1.5e-05");
        check(&[], vec![0.0], "0.0");
        check(&[], vec![f64::NAN], "nan");
        check(&[3], vec![1.0, -2.25, 3.0], "[ 1.   -2.25  3.  ]");
        check(&[2, 2], vec![1.0, 2.0, 3.0, 4.0], "[[1. 2.]\n [3. 4.]]");
        check(&[0], vec![], "[]");
        let third = HostTensor::from_vec([], vec![1.0f32 / 3.0]).unwrap();
        assert_eq!(text(&third, 1000).unwrap(), "0.33333334");
        let many = HostTensor::from_vec([30], (0..30).collect::<Vec<i32>>()).unwrap();
        let want =
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]";
        assert_eq!(text(&many, 1000).unwrap(), want);
    }

    /// The texts are numpy 2.4's, with the shape of every array.
    #[test]
    fn arrays_print_as_numpy_prints_them() {
        check(&[], vec![1.5f32], 1000, "array(1.5, shape=(), dtype=float32)");
        check(&[0, 3], Vec::<i64>::new(), 1000, "array([], shape=(0, 3), dtype=int64)");
        check(
            &[3],
            vec![1.0f64, -2.25, f64::NAN],
            1000,
            "array([ 1.  , -2.25,   nan], shape=(3,), dtype=float64)",
        );
        check(
            &[2, 2],
            vec![1e-5f32, 1.0, f32::INFINITY, -123.456],
            1000,
            "array([[ 1.00000e-05,  1.00000e+00],\n       [         inf, -1.23456e+02]], shape=(2, 2), dtype=float32)",
        );
        check(&[2], vec![I1::TRUE, I1::FALSE], 1000, "array([ True, False], shape=(2,), dtype=bool)");
        check(&[2], vec![f16::from_f32(0.1), f16::ONE], 1000, "array([0.1, 1. ], shape=(2,), dtype=float16)");
        let complex = |re, im| Complex64 { re, im };
        check(
            &[2],
            vec![complex(1.0, -2.5), complex(-0.5, 3.0)],
            1000,
            "array([ 1. -2.5j, -0.5+3.j ], shape=(2,), dtype=complex64)",
        );
    }

    #[test]
    fn large_arrays_are_shortened_and_long_lines_broken() {
        let count = |n: i32| (0..n).collect::<Vec<i32>>();
        check(&[10], count(10), 9, "array([0, 1, 2, ..., 7, 8, 9], shape=(10,), dtype=int32)");
        check(
            &[7, 2],
            count(14),
            9,
            "array([[ 0,  1],\n       [ 2,  3],\n       [ 4,  5],\n       ...,\n       [ 8,  9],\n       [10, 11],\n       [12, 13]], shape=(7, 2), dtype=int32)",
        );
        check(
            &[2, 1, 2],
            count(4),
            1000,
            "array([[[0, 1]],\n\n       [[2, 3]]], shape=(2, 1, 2), dtype=int32)",
        );
        check(
            &[30],
            count(30),
            1000,
            "array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,\n       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29],\n      shape=(30,), dtype=int32)",
        );
    }

    #[test]
    fn strings_print_as_bytes() {
        let strings = [&b"a"[..], b"it's", b"\"'\\\n\xff"];
        let tensor =
            StringTensor::new(Shape::new(&[3]).unwrap(), &strings, &crate::mem::Malloc::shared()).unwrap();
        let mut text = String::new();
        write_strings(&mut text, &tensor, 1000).unwrap().unwrap();
        assert_eq!(text, r#"array([b'a', b"it's", b'"\'\\\n\xff'], shape=(3,), dtype=object)"#);
    }
}
