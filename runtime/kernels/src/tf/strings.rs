//! Operators on tensors of strings.
//!
//! Strings are bytes. Lengths and positions are in bytes, or in UTF-8 characters: a byte that continues a
//! character counts with it, as in TensorFlow, whether the text is valid or not.

use std::fmt::Write as _;
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::print::numpy;
use befrost_tensor::scratch::{collected, push, with_room};
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::tf::{Binary, binary};
use befrost_tensor::{
    Complex64, Complex128, DType, Element, HostTensor, I1, Shape, StringTensor, TensorError, fingerprint64,
};

use super::action::{Action, ActionRow, action, ints, tensor, variadic_action};
use super::operands::dense;
use crate::objects::{Strings, refused};

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::AsString], |attrs| {
        let format = NumberFormat::new(attrs)?;
        action(attrs, move |[x], cx| {
            if let Some(Strings(x)) = x.downcast_ref::<Strings>() {
                expect_room(x.shape().num_elements(), format.width, cx.allocator())?;
                let read = x.read().map_err(refused)?;
                let texts = collected(read.iter().map(|text| format.text(text))).map_err(refused)?;
                return Ok([strings(x.shape(), &texts, cx.allocator())?]);
            }
            let x = dense(x)?;
            expect_room(x.num_elements(), format.longest(), cx.allocator())?;
            let texts = format.all(x).map_err(refused)?;
            Ok([strings(x.shape(), &texts, cx.allocator())?])
        })
    }),
    (&[Op::_NumpyString], |attrs| {
        action(attrs, move |[x], cx| {
            let text = numpy::text(dense(x)?, numpy::ALL_UP_TO).map_err(refused)?;
            Ok([strings(&Shape::scalar(), &[text], cx.allocator())?])
        })
    }),
    (&[Op::StringJoin], |attrs| {
        let separator = attrs.bytes("separator")?;
        variadic_action(move |operands, cx| {
            let inputs = operands.iter().map(|&x| strings_in(x)).collect::<Result<Vec<_>, _>>()?;
            Ok([join(&inputs, &separator, cx.allocator())?])
        })
    }),
    (&[Op::StringLength], |attrs| {
        let unit = Unit::new(attrs)?;
        action(attrs, move |[x], cx| {
            let x = strings_in(x)?;
            let out = HostTensor::allocate(DType::I32, x.shape().clone(), cx.allocator()).map_err(refused)?;
            for (out, text) in
                out.write::<i32>().map_err(refused)?.iter_mut().zip(x.read().map_err(refused)?.iter())
            {
                *out = i32::try_from(unit.starts(text).count()).unwrap_or(i32::MAX);
            }
            Ok([tensor(out)])
        })
    }),
    (&[Op::StringLower, Op::StringUpper], |attrs| {
        let is_upper = attrs.op() == "StringUpper";
        let encoding = attrs.string("encoding")?;
        if !matches!(&encoding[..], "" | "utf-8") {
            return invalid(
                attrs.op(),
                format!("only utf-8 or '' (no encoding) is supported for encoding, received {encoding}"),
            );
        }
        action(attrs, move |[x], cx| {
            let x = strings_in(x)?;
            let read = x.read().map_err(refused)?;
            let cased = |text: &[u8]| match (is_upper, encoding.is_empty()) {
                (true, true) => text.to_ascii_uppercase(),
                (false, true) => text.to_ascii_lowercase(),
                (true, false) => String::from_utf8_lossy(text).to_uppercase().into_bytes(),
                (false, false) => String::from_utf8_lossy(text).to_lowercase().into_bytes(),
            };
            // An upper or lower form has at most three times as many bytes.
            expect_room(3, x.num_bytes(), cx.allocator())?;
            let all = collected(read.iter().map(cased)).map_err(refused)?;
            Ok([strings(x.shape(), &all, cx.allocator())?])
        })
    }),
    (&[Op::StringStrip], |attrs| {
        action(attrs, move |[x], cx| {
            let x = strings_in(x)?;
            let read = x.read().map_err(refused)?;
            let stripped = read.iter().map(|text| {
                let text = &text[spaces_before(text)..];
                &text[..text.iter().rposition(|byte| !is_space(byte)).map_or(0, |last| last + 1)]
            });
            Ok([strings(x.shape(), &collected(stripped).map_err(refused)?, cx.allocator())?])
        })
    }),
    (&[Op::DecodeRaw], |attrs| {
        let (dtype, is_little) = (attrs.dtype("out_type")?, attrs.bool("little_endian")?);
        action(attrs, move |[x], cx| {
            Ok([tensor(decode_raw(strings_in(x)?, dtype, is_little, cx.allocator())?)])
        })
    }),
    (&[Op::StringSplit], |attrs| {
        let keeps_empty = !attrs.bool("skip_empty")?;
        action(attrs, move |[x, delimiter], cx| {
            let (x, delimiter) = (strings_in(x)?, strings_in(delimiter)?);
            split("StringSplit", x, delimiter, cx.allocator(), |text, delimiters| match delimiters {
                [] => collected(text.chunks(1)),
                delimiters => {
                    let parts = text.split(|byte| delimiters.contains(byte));
                    // A text without bytes has no parts at all.
                    collected(parts.filter(|part| !part.is_empty() || keeps_empty && !text.is_empty()))
                }
            })
        })
    }),
    (&[Op::StringSplitV2], |attrs| {
        let most = usize::try_from(attrs.int("maxsplit")?).ok().filter(|&n| n > 0).unwrap_or(usize::MAX);
        action(attrs, move |[x, separator], cx| {
            let (x, separator) = (strings_in(x)?, strings_in(separator)?);
            split("StringSplitV2", x, separator, cx.allocator(), |text, separator| match separator {
                [] => words(text, most),
                separator => between(text, separator, most),
            })
        })
    }),
    (&[Op::StringToHashBucketFast], |attrs| hashed(attrs, fingerprint64)),
    (&[Op::StringToNumber], |attrs| {
        let dtype = attrs.dtype("out_type")?;
        action(attrs, move |[x], cx| {
            let x = strings_in(x)?;
            let out = match dtype {
                DType::F32 => numbers::<f32>(x, cx.allocator()),
                DType::F64 => numbers::<f64>(x, cx.allocator()),
                DType::I32 => numbers::<i32>(x, cx.allocator()),
                DType::I64 => numbers::<i64>(x, cx.allocator()),
                DType::UI32 => numbers::<u32>(x, cx.allocator()),
                DType::UI64 => numbers::<u64>(x, cx.allocator()),
                dtype => Err(refused(TensorError::Unsupported { op: "StringToNumber", dtype })),
            };
            Ok([tensor(out?)])
        })
    }),
    (&[Op::Substr], |attrs| {
        let unit = Unit::new(attrs)?;
        action(attrs, move |[x, positions, lengths], cx| {
            Ok([parts(strings_in(x)?, positions, lengths, unit, cx.allocator())?])
        })
    }),
];

pub(super) fn invalid<T>(op: &'static str, problem: String) -> Result<T, TensorError> {
    Err(TensorError::Invalid { op, problem })
}

/// The numbers of buckets for strings, by a hash function.
pub(super) fn hashed(
    attrs: &Attributes<'_>,
    hash: impl Fn(&[u8]) -> u64 + Send + Sync + 'static,
) -> Result<Action, TensorError> {
    let n = attrs.int("num_buckets")?;
    let Some(buckets) = u64::try_from(n).ok().filter(|&n| n > 0) else {
        return invalid(attrs.op(), format!("num_buckets is {n}, expected 1 or more"));
    };
    action(attrs, move |[x], cx| {
        let x = strings_in(x)?;
        let read = x.read().map_err(refused)?;
        let out = HostTensor::allocate(DType::I64, x.shape().clone(), cx.allocator()).map_err(refused)?;
        for (out, text) in out.write::<i64>().map_err(refused)?.iter_mut().zip(read.iter()) {
            *out = (hash(text) % buckets) as i64;
        }
        Ok([tensor(out)])
    })
}

pub(super) fn strings_in(value: &Value) -> Result<&StringTensor, KernelError> {
    value.downcast_ref::<Strings>().map(|strings| &strings.0).ok_or_else(|| {
        KernelError::invalid(format!("expected strings, got a value of type {}", value.type_name()))
    })
}

pub(super) fn strings<S: AsRef<[u8]>>(
    shape: &Shape,
    texts: &[S],
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let made = StringTensor::new(shape.clone(), texts, allocator).map_err(refused)?;
    Ok(Value::object(Strings(made)))
}

/// Refuses results for which there is no memory. Results are much longer than operands only if a few texts
/// are repeated, or numbers are padded.
pub(super) fn expect_room(
    n: usize,
    longest: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), KernelError> {
    let bytes = n.checked_mul(longest).ok_or(TensorError::TooLarge);
    let room = bytes.and_then(|n| HostTensor::allocate(DType::UI8, Shape::new(&[n])?, allocator));
    room.map(drop).map_err(refused)
}

/// The unit of lengths and positions.
#[derive(Clone, Copy)]
enum Unit {
    Byte,
    Character,
}

impl Unit {
    fn new(attrs: &Attributes<'_>) -> Result<Unit, TensorError> {
        match &attrs.string("unit")?[..] {
            "BYTE" => Ok(Unit::Byte),
            "UTF8_CHAR" => Ok(Unit::Character),
            unit => invalid(attrs.op(), format!("unit is \"{unit}\", expected BYTE or UTF8_CHAR")),
        }
    }

    /// The positions where units begin.
    fn starts(self, text: &[u8]) -> impl Iterator<Item = usize> {
        let is_start = move |byte: u8| matches!(self, Unit::Byte) || byte & 0xc0 != 0x80;
        text.iter().enumerate().filter(move |(_, byte)| is_start(**byte)).map(|(at, _)| at)
    }
}

/// Tensors of one shape, or scalars, joined element by element.
fn join(
    inputs: &[&StringTensor],
    separator: &[u8],
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let mut shape = Shape::scalar();
    for x in inputs.iter().filter(|x| x.shape().rank() > 0) {
        if shape.rank() > 0 && shape != *x.shape() {
            return Err(KernelError::invalid(format!(
                "`StringJoin`: shapes {shape} and {} differ",
                x.shape()
            )));
        }
        shape = x.shape().clone();
    }
    let longest =
        |x: &&StringTensor| Ok::<_, KernelError>(x.read().map_err(refused)?.iter().map(<[u8]>::len).max());
    let longest =
        inputs.iter().try_fold(0usize, |sum, x| Ok::<_, KernelError>(sum + longest(x)?.unwrap_or(0)))?;
    let separators = separator.len().saturating_mul(inputs.len());
    expect_room(shape.num_elements(), longest.saturating_add(separators), allocator)?;
    let read = inputs.iter().map(|x| x.read()).collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let joined = collected((0..shape.num_elements()).map(|i| {
        let own = read.iter().zip(inputs).map(|(read, x)| read.at(if x.shape().rank() > 0 { i } else { 0 }));
        own.flatten().collect::<Vec<_>>().join(separator)
    }));
    strings(&shape, &joined.map_err(refused)?, allocator)
}

/// The shape of two operands that are broadcast, and the place in the first for each element.
fn broadcast_places(
    of: &Shape,
    with: &Shape,
    allocator: &Arc<dyn Allocator>,
) -> Result<(Shape, Vec<i64>), TensorError> {
    let places = HostTensor::allocate(DType::I64, of.clone(), allocator)?;
    places.write::<i64>()?.iter_mut().zip(0..).for_each(|(to, place)| *to = place);
    let zeros = HostTensor::zeros(DType::I64, with.clone(), allocator)?;
    let sum = binary(Binary::Add, &places, &zeros, allocator)?;
    Ok((sum.shape().clone(), sum.to_vec::<i64>()?))
}

/// `Add` of strings: each of the first operand before one of the second.
pub(super) fn add(operands: &[Value], allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
    let [x, y] = operands else { return Err(KernelError::invalid("expected two operands")) };
    let (x, y) = (strings_in(x)?, strings_in(y)?);
    let (shape, of_x) = broadcast_places(x.shape(), y.shape(), allocator).map_err(refused)?;
    let (_, of_y) = broadcast_places(y.shape(), x.shape(), allocator).map_err(refused)?;
    let (x, y) = (x.read().map_err(refused)?, y.read().map_err(refused)?);
    let [longest_x, longest_y] = [&x, &y].map(|texts| texts.iter().map(<[u8]>::len).max().unwrap_or(0));
    expect_room(shape.num_elements(), longest_x.saturating_add(longest_y), allocator)?;
    let sums = of_x
        .iter()
        .zip(&of_y)
        .map(|(&i, &j)| [x.at(i as usize), y.at(j as usize)].map(Option::unwrap_or_default).concat());
    strings(&shape, &collected(sums).map_err(refused)?, allocator)
}

/// The parts of each string of a vector: coordinates, parts, and the shape of the matrix.
fn split(
    op: &str,
    x: &StringTensor,
    separator: &StringTensor,
    allocator: &Arc<dyn Allocator>,
    parts_of: impl for<'t> Fn(&'t [u8], &[u8]) -> Result<Vec<&'t [u8]>, TensorError>,
) -> Result<[Value; 3], KernelError> {
    if x.shape().rank() != 1 || separator.shape().rank() != 0 {
        let (x, separator) = (x.shape(), separator.shape());
        let problem = format!(
            "`{op}`: input of shape {x} and separator of shape {separator}, expected a vector and a scalar"
        );
        return Err(KernelError::invalid(problem));
    }
    let (read, separator) = (x.read().map_err(refused)?, separator.read().map_err(refused)?);
    let separator = separator.at(0).unwrap_or_default();
    let (mut places, mut found, mut longest) = (Vec::new(), Vec::new(), 0);
    for (row, text) in read.iter().enumerate() {
        let parts = parts_of(text, separator).map_err(refused)?;
        longest = longest.max(parts.len());
        for (column, part) in parts.into_iter().enumerate() {
            push(&mut places, row as i64).map_err(refused)?;
            push(&mut places, column as i64).map_err(refused)?;
            push(&mut found, part).map_err(refused)?;
        }
    }
    let vector = |dims: &[usize], numbers: &[i64]| {
        let shape = Shape::new(dims)?;
        HostTensor::from_slice(shape, numbers, allocator).map(tensor)
    };
    let dims = [x.num_elements() as i64, longest as i64];
    let shape = Shape::new(&[found.len()]).map_err(refused)?;
    Ok([
        vector(&[found.len(), 2], &places).map_err(refused)?,
        strings(&shape, &found, allocator)?,
        vector(&[2], &dims).map_err(refused)?,
    ])
}

/// True for the space of ASCII.
fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The number of bytes of space at the beginning of a text.
fn spaces_before(text: &[u8]) -> usize {
    text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len())
}

/// `DecodeRaw`: the bytes of strings of one length as numbers, along a new last axis.
fn decode_raw(
    x: &StringTensor,
    dtype: DType,
    is_little: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, KernelError> {
    let (read, size) = (x.read().map_err(refused)?, dtype.size());
    let len = read.at(0).map_or(0, <[u8]>::len);
    if let Some((i, other)) = read.iter().enumerate().find(|(_, text)| text.len() != len) {
        let problem = format!("`DecodeRaw`: string {i} has {} bytes, the first one {len}", other.len());
        return Err(KernelError::invalid(problem));
    }
    if !len.is_multiple_of(size) {
        return Err(KernelError::invalid(format!(
            "`DecodeRaw`: {len} bytes are no elements of {size} bytes"
        )));
    }
    let shape = Shape::new(&[x.shape().dims(), &[len / size]].concat()).map_err(refused)?;
    let out = HostTensor::allocate(dtype, shape, allocator).map_err(refused)?;
    {
        let mut to = out.write_bytes().map_err(refused)?;
        if len > 0 {
            to.chunks_exact_mut(len).zip(read.iter()).for_each(|(to, text)| to.copy_from_slice(text));
        }
        if !is_little {
            // Complex numbers are pairs.
            let part = if matches!(dtype, DType::Complex64 | DType::Complex128) { size / 2 } else { size };
            to.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
    }
    Ok(out)
}

/// The words of a text. The rest behind the `most`-th word is one more word, even if it is empty, as in
/// TensorFlow.
fn words(text: &[u8], most: usize) -> Result<Vec<&[u8]>, TensorError> {
    let (mut parts, mut rest) = (Vec::new(), &text[spaces_before(text)..]);
    while !rest.is_empty() && parts.len() < most {
        let end = rest.iter().position(is_space).unwrap_or(rest.len());
        push(&mut parts, &rest[..end])?;
        rest = &rest[end..];
        rest = &rest[spaces_before(rest)..];
    }
    if !parts.is_empty() && parts.len() == most {
        push(&mut parts, rest)?;
    }
    Ok(parts)
}

/// The parts of a text between separators.
fn between<'a>(text: &'a [u8], separator: &[u8], most: usize) -> Result<Vec<&'a [u8]>, TensorError> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while parts.len() < most
        && let Some(at) = rest.windows(separator.len()).position(|window| window == separator)
    {
        push(&mut parts, &rest[..at])?;
        rest = &rest[at + separator.len()..];
    }
    push(&mut parts, rest)?;
    Ok(parts)
}

/// Parts of strings; positions and lengths broadcast with them. A negative position counts from the end.
fn parts(
    x: &StringTensor,
    positions: &Value,
    lengths: &Value,
    unit: Unit,
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let of = |value| Ok::<_, KernelError>((dense(value)?.shape(), ints(value)?));
    let ((shape, positions), (other, lengths)) = (of(positions)?, of(lengths)?);
    if shape != other {
        return Err(KernelError::invalid(format!("`Substr`: pos of shape {shape} and len of shape {other}")));
    }
    let (result, of_texts) = broadcast_places(x.shape(), shape, allocator).map_err(refused)?;
    let (_, of_numbers) = broadcast_places(shape, x.shape(), allocator).map_err(refused)?;
    let read = x.read().map_err(refused)?;
    let mut found = with_room(of_texts.len()).map_err(refused)?;
    for (&text, &number) in of_texts.iter().zip(&of_numbers) {
        let (text, number) = (read.at(text as usize).unwrap_or_default(), number as usize);
        let (position, length) = (positions[number], lengths[number]);
        let n = unit.starts(text).count();
        let start = if position < 0 { position.saturating_add(n as i64) } else { position };
        let Some(start) = usize::try_from(start).ok().filter(|&start| start <= n) else {
            let problem = format!("`Substr`: pos {position} out of range for a string of length {n}");
            return Err(KernelError::invalid(problem));
        };
        // As in TensorFlow, a negative number of bytes is all of them, of characters none.
        let length = usize::try_from(length).unwrap_or(match unit {
            Unit::Byte => usize::MAX,
            Unit::Character => 0,
        });
        let at = |i: usize| unit.starts(text).nth(i).unwrap_or(text.len());
        found.push(&text[at(start)..at(start.saturating_add(length).min(n))]);
    }
    strings(&result, &found, allocator)
}

/// The number that a text is, without the space around it.
pub(super) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// The numbers that strings are.
fn numbers<T: Element + std::str::FromStr>(
    x: &StringTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, KernelError> {
    let out = HostTensor::allocate(T::DTYPE, x.shape().clone(), allocator).map_err(refused)?;
    {
        let (mut to, read) = (out.write::<T>().map_err(refused)?, x.read().map_err(refused)?);
        for (to, text) in to.iter_mut().zip(read.iter()) {
            *to = number(text).ok_or_else(|| {
                let text: String = String::from_utf8_lossy(text).chars().take(64).collect();
                KernelError::invalid(format!("`StringToNumber` could not correctly convert string: {text}"))
            })?;
        }
    }
    Ok(out)
}

/// The attributes of `AsString`: those of C's `printf`.
struct NumberFormat {
    precision: Option<usize>,
    width: usize,
    style: Style,
    fill: Option<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Fixed,
    Scientific,
    Shortest,
}

/// Limit of the width and of the precision. The standard library panics if a precision needs more than 16
/// bits.
const MAX_WIDTH: i64 = 1 << 15;

impl NumberFormat {
    fn new(attrs: &Attributes<'_>) -> Result<NumberFormat, TensorError> {
        let (op, precision, width) = (attrs.op(), attrs.int("precision")?, attrs.int("width")?);
        if precision > MAX_WIDTH || width > MAX_WIDTH {
            return invalid(op, format!("precision {precision} and width {width} are more than {MAX_WIDTH}"));
        }
        let style = match (attrs.bool("scientific")?, attrs.bool("shortest")?) {
            (true, true) => {
                return invalid(op, "cannot select both scientific and shortest notation".to_owned());
            }
            (true, false) => Style::Scientific,
            (false, true) => Style::Shortest,
            (false, false) => Style::Fixed,
        };
        let fill = match attrs.bytes("fill")?[..] {
            [] => None,
            [fill @ (b' ' | b'+' | b'-' | b'0' | b'#')] => Some(fill),
            _ => return invalid(op, "fill argument not supported".to_owned()),
        };
        let (precision, width) = (usize::try_from(precision).ok(), usize::try_from(width).unwrap_or(0));
        Ok(NumberFormat { precision, width, style, fill })
    }

    /// The length of the longest text that is asked for.
    fn longest(&self) -> usize {
        self.width.max(self.precision.unwrap_or(0))
    }

    /// A text that is cut to the precision and filled up to the width; itself without a width, as in
    /// TensorFlow.
    fn text(&self, text: &[u8]) -> Vec<u8> {
        if self.width == 0 {
            return text.to_vec();
        }
        let cut = &text[..self.precision.unwrap_or(text.len()).min(text.len())];
        let spaces = vec![b' '; self.width.saturating_sub(cut.len())];
        if self.fill == Some(b'-') { [cut, &spaces].concat() } else { [&spaces, cut].concat() }
    }

    /// The texts of all numbers.
    fn all(&self, x: &HostTensor) -> Result<Vec<String>, TensorError> {
        let malloc: Arc<dyn Allocator> = Malloc::shared();
        let is_inexact = x.dtype().is_inexact();
        if (self.precision.is_some() || self.style != Style::Fixed) && !is_inexact {
            let problem = format!("scientific and precision format not supported for {}", x.dtype());
            return invalid("AsString", problem);
        }
        // C's flags for signs are not for unsigned numbers.
        let unsigned = NumberFormat { fill: self.fill.filter(|fill| !b"+ ".contains(fill)), ..*self };
        let pair = |re: f64, im: f64| format!("({},{})", self.float(re), self.float(im));
        match x.dtype() {
            DType::I1 => collected(x.read::<I1>()?.iter().map(|x| x.is_true().to_string())),
            DType::UI64 => collected(x.read::<u64>()?.iter().map(|&x| unsigned.integer(x.into()))),
            DType::Complex64 => {
                let pair = |x: &Complex64| pair(x.re.into(), x.im.into());
                collected(x.read::<Complex64>()?.iter().map(pair))
            }
            DType::Complex128 => collected(x.read::<Complex128>()?.iter().map(|x| pair(x.re, x.im))),
            _ if is_inexact => {
                let wide = befrost_tensor::tf::cast(x, DType::F64, &malloc)?;
                collected(wide.read::<f64>()?.iter().map(|&x| self.float(x)))
            }
            _ => {
                let wide = befrost_tensor::tf::cast(x, DType::I64, &malloc)?;
                let by = if matches!(x.dtype(), DType::UI8 | DType::UI16 | DType::UI32) {
                    &unsigned
                } else {
                    self
                };
                collected(wide.read::<i64>()?.iter().map(|&x| by.integer(x.into())))
            }
        }
    }

    fn integer(&self, x: i128) -> String {
        self.padded(x < 0, x.unsigned_abs().to_string())
    }

    fn float(&self, x: f64) -> String {
        let size = x.abs();
        let digits = if size.is_nan() {
            "nan".to_owned()
        } else if size == f64::INFINITY {
            "inf".to_owned()
        } else {
            let precision = self.precision.unwrap_or(6);
            match self.style {
                Style::Fixed => format!("{size:.precision$}"),
                Style::Scientific => scientific(size, precision),
                Style::Shortest => shortest(size, precision.max(1)),
            }
        };
        if x.is_finite() {
            return self.padded(x.is_sign_negative(), digits);
        }
        // Zeros are for digits only.
        let fill = self.fill.filter(|&fill| fill != b'0');
        NumberFormat { fill, ..*self }.padded(x.is_sign_negative(), digits)
    }

    /// Digits with their sign, as wide as asked for.
    fn padded(&self, is_negative: bool, digits: String) -> String {
        let sign = match (is_negative, self.fill) {
            (true, _) => "-",
            (false, Some(b'+')) => "+",
            (false, Some(b' ')) => " ",
            _ => "",
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        match self.fill {
            Some(b'0') => format!("{sign}{}{digits}", "0".repeat(missing)),
            Some(b'-') => format!("{sign}{digits}{}", " ".repeat(missing)),
            _ => format!("{}{sign}{digits}", " ".repeat(missing)),
        }
    }
}

/// A number as C writes it with `%e`: an exponent of two digits at least.
fn scientific(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    let mut out = digits.to_owned();
    let _ = write!(out, "e{sign}{exponent:0>2}"); // a String takes it
    out
}

/// A number as C writes it with `%g`: without trailing zeros, with an exponent if it is long.
fn shortest(x: f64, precision: usize) -> String {
    let text = scientific(x, precision - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    match exponent
        .parse::<i64>()
        .ok()
        .and_then(|exponent| usize::try_from(precision as i64 - 1 - exponent).ok())
    {
        Some(decimals) if decimals <= precision + 3 => trimmed(&format!("{x:.decimals$}")),
        _ => format!("{}e{exponent}", trimmed(digits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts are those of C's `printf`.
    #[test]
    fn numbers_are_written_as_in_c() {
        assert_eq!(scientific(12345.678, 3), "1.235e+04");
        assert_eq!(scientific(0.0, 2), "0.00e+00");
        let all = [0.0, 100000.0, 1e6, 0.0001, 0.00001, 123456.7, 1e-300, 2.5].map(|x| shortest(x, 6));
        assert_eq!(all, ["0", "100000", "1e+06", "0.0001", "1e-05", "123457", "1e-300", "2.5"]);
        assert_eq!(shortest(9.99, 1), "1e+01");
    }

    #[test]
    fn the_largest_width_and_precision_have_texts() {
        let n = MAX_WIDTH as usize;
        for (style, length) in [(Style::Fixed, n + 2), (Style::Scientific, n + 6), (Style::Shortest, n)] {
            let format = NumberFormat { precision: Some(n), width: n, style, fill: None };
            assert_eq!(format.float(0.5).len(), length);
        }
    }

    #[test]
    fn texts_are_divided() {
        let text = |parts: Vec<&[u8]>| {
            parts.iter().map(|p| String::from_utf8_lossy(p).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(text(words(b"  a b\tc ", usize::MAX).unwrap()), ["a", "b", "c"]);
        assert_eq!(text(words(b" a  b c ", 1).unwrap()), ["a", "b c "]);
        assert_eq!(text(words(b" ab ", 1).unwrap()), ["ab", ""]);
        assert_eq!(words(b"  ", 3).unwrap(), Vec::<&[u8]>::new());
        assert_eq!(text(between(b"a,,b,", b",", usize::MAX).unwrap()), ["a", "", "b", ""]);
        assert_eq!(text(between(b"a,,b,", b",", 1).unwrap()), ["a", ",b,"]);
        assert_eq!(text(between(b"", b",", usize::MAX).unwrap()), [""]);
    }
}
