//! Strings from and to other forms: numbers of buckets, base64, compressed and padded bytes, and rows of
//! comma-separated values.

use std::io::{self, Read};
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::interrupt::is_interrupted;
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::{filled, reserve};
use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::{DType, Element, HostTensor, Shape, StringTensor, TensorError};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use siphasher::sip::SipHasher24;

use super::action::{ActionRow, action, int, tensor, variadic_action};
use super::joined::TextBuilder;
use super::operands::dense;
use super::strings::{hashed, invalid, number, strings_in};
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::StringToHashBucket], |attrs| hashed(attrs, murmur)),
    (&[Op::StringToHashBucketStrong], |attrs| match attrs.ints("key")?[..] {
        [a, b] => hashed(attrs, move |text| SipHasher24::new_with_keys(a as u64, b as u64).hash(text)),
        ref key => invalid(attrs.op(), format!("a key of {} numbers, expected 2", key.len())),
    }),
    (&[Op::EncodeBase64], |attrs| {
        let pads = attrs.bool("pad")?;
        action(attrs, move |[x], cx| {
            Ok([mapped(strings_in(x)?, cx.allocator(), |text, made| encode(text, pads, made))?])
        })
    }),
    (&[Op::DecodeBase64], |attrs| {
        action(attrs, |[x], cx| Ok([mapped(strings_in(x)?, cx.allocator(), decode)?]))
    }),
    (&[Op::DecodeCompressed], |attrs| {
        let form = match &attrs.string("compression_type")?[..] {
            "" => Compression::None,
            "ZLIB" => Compression::Zlib,
            "GZIP" => Compression::Gzip,
            other => {
                return invalid(
                    attrs.op(),
                    format!("compression_type is \"{other}\", expected ZLIB or GZIP"),
                );
            }
        };
        action(attrs, move |[x], cx| {
            Ok([mapped(strings_in(x)?, cx.allocator(), |text, made| form.inflate(text, made))?])
        })
    }),
    (&[Op::DecodePaddedRaw], |attrs| {
        let (dtype, is_little) = (attrs.dtype("out_type")?, attrs.bool("little_endian")?);
        if matches!(dtype, DType::I1 | DType::UI32 | DType::UI64 | DType::Complex64 | DType::Complex128) {
            return Err(TensorError::Unsupported { op: attrs.op(), dtype });
        }
        action(attrs, move |[x, len], cx| {
            if dense(len)?.shape().rank() != 0 {
                return Err(KernelError::invalid(
                    "`DecodePaddedRaw`: fixed_length must be a scalar".to_owned(),
                ));
            }
            Ok([tensor(padded(strings_in(x)?, int(len)?, dtype, is_little, cx.allocator())?)])
        })
    }),
    (&[Op::DecodeCSV], |attrs| {
        let csv = CsvFormat::new(attrs)?;
        variadic_action(move |operands, cx| csv.decoded(operands, cx.allocator()))
    }),
];

/// A string for each string.
fn mapped(
    x: &StringTensor,
    allocator: &Arc<dyn Allocator>,
    map: impl Fn(&[u8], &mut TextBuilder<'_>) -> Result<(), KernelError>,
) -> Result<Value, KernelError> {
    let read = x.read().map_err(refused)?;
    let mut made = TextBuilder::new(x.num_elements(), allocator)?;
    for text in read.iter() {
        if is_interrupted() {
            return Err(refused(TensorError::Interrupted));
        }
        map(text, &mut made)?;
        made.end()?;
    }
    made.finish(x.shape())
}

/// MurmurHash64A with the seed of TensorFlow's `Hash64`.
fn murmur(text: &[u8]) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let mut hash = 0x00de_cafc_affe ^ (text.len() as u64).wrapping_mul(FACTOR);
    let (words, rest) = text.as_chunks::<8>();
    for &word in words {
        let word = u64::from_le_bytes(word).wrapping_mul(FACTOR);
        hash = (hash ^ (word ^ word >> 47).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        let last = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        hash = (hash ^ last).wrapping_mul(FACTOR);
    }
    hash = (hash ^ hash >> 47).wrapping_mul(FACTOR);
    hash ^ hash >> 47
}

/// The alphabet of base64 in addresses of the web.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn encode(text: &[u8], pads: bool, made: &mut TextBuilder<'_>) -> Result<(), KernelError> {
    made.reserve(text.len().div_ceil(3).saturating_mul(4))?;
    for group in text.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | usize::from(group.get(i).copied().unwrap_or(0)));
        let code = [18, 12, 6, 0].map(|shift| ALPHABET[bits >> shift & 63]);
        made.append(&code[..=group.len()])?;
        if pads {
            made.append(&b"=="[..3 - group.len()])?;
        }
    }
    Ok(())
}

/// Bytes with or without pads at the end. Bits behind the last byte are ignored.
fn decode(text: &[u8], made: &mut TextBuilder<'_>) -> Result<(), KernelError> {
    let refuse = |problem: &str| Err(KernelError::invalid(format!("`DecodeBase64`: {problem}")));
    let code = match text {
        [code @ .., b'=', b'='] | [code @ .., b'='] if text.len().is_multiple_of(4) => code,
        code => code,
    };
    if code.len() % 4 == 1 {
        return refuse("a length of 1 modulo 4");
    }
    made.reserve(text.len())?;
    for group in code.chunks(4) {
        let mut bits = 0u32;
        for i in 0..4 {
            let sextet = match group.get(i) {
                Some(&byte @ b'A'..=b'Z') => byte - b'A',
                Some(&byte @ b'a'..=b'z') => byte - b'a' + 26,
                Some(&byte @ b'0'..=b'9') => byte - b'0' + 52,
                Some(b'-') => 62,
                Some(b'_') => 63,
                Some(_) => return refuse("an invalid character"),
                None => 0,
            };
            bits = bits << 6 | u32::from(sextet);
        }
        made.append(&bits.to_be_bytes()[1..group.len()])?;
    }
    Ok(())
}

/// The form of compressed bytes.
#[derive(Clone, Copy)]
enum Compression {
    None,
    Zlib,
    Gzip,
}

/// The most bytes of a decompressed string.
const MAX_INFLATED: usize = 1 << 30;

impl Compression {
    /// The bytes before compression. As in TensorFlow, a stream that is cut off ends where it ends; what
    /// follows a zlib stream is ignored, and gzip streams may follow one another.
    fn inflate(self, text: &[u8], made: &mut TextBuilder<'_>) -> Result<(), KernelError> {
        let mut reader: Box<dyn Read + '_> = match self {
            Compression::None => return made.append(text),
            _ if text.is_empty() => return Ok(()),
            Compression::Zlib => Box::new(ZlibDecoder::new(text)),
            Compression::Gzip => Box::new(MultiGzDecoder::new(text)),
        };
        let (mut block, mut total) = (filled(1 << 14, 0u8).map_err(refused)?, 0);
        loop {
            if is_interrupted() {
                return Err(refused(TensorError::Interrupted));
            }
            match reader.read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(n) if total + n > MAX_INFLATED => {
                    let problem = format!("`DecodeCompressed`: a string of more than {MAX_INFLATED} bytes");
                    return Err(KernelError::invalid(problem));
                }
                Ok(n) => {
                    total += n;
                    made.append(&block[..n])?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(KernelError::invalid(format!("`DecodeCompressed`: {error}"))),
            }
        }
    }
}

/// `DecodePaddedRaw`: the first `len` bytes of each string, with zeros behind them, as numbers along a new
/// last axis.
fn padded(
    x: &StringTensor,
    len: i64,
    dtype: DType,
    is_little: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, KernelError> {
    let size = dtype.size();
    let Some(len) = usize::try_from(len).ok().filter(|&len| len > 0 && len.is_multiple_of(size)) else {
        let problem = format!("`DecodePaddedRaw`: fixed_length is {len}, expected a multiple of {size}");
        return Err(KernelError::invalid(problem));
    };
    let shape = Shape::new(&[x.shape().dims(), &[len / size]].concat()).map_err(refused)?;
    let out = HostTensor::zeros(dtype, shape, allocator).map_err(refused)?;
    {
        let (read, mut to) = (x.read().map_err(refused)?, out.write_bytes().map_err(refused)?);
        for (to, text) in to.chunks_exact_mut(len).zip(read.iter()) {
            let n = text.len().min(len);
            to[..n].copy_from_slice(&text[..n]);
        }
        if !is_little {
            to.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
    }
    Ok(out)
}

/// The attributes of `DecodeCSV`.
struct CsvFormat {
    delimiter: u8,
    has_quotes: bool,
    /// A text that stands for a missing field, as the empty one does.
    missing: Vec<u8>,
    /// The numbers of the fields that are decoded, rising; empty for all.
    selected: Vec<usize>,
    types: Vec<Type>,
}

impl CsvFormat {
    fn new(attrs: &Attributes<'_>) -> Result<CsvFormat, TensorError> {
        let op = attrs.op();
        let [delimiter] = attrs.bytes("field_delim")?[..] else {
            return invalid(op, "field_delim should be only 1 char".to_owned());
        };
        let (types, selected) = (attrs.types("OUT_TYPE")?, attrs.ints("select_cols")?);
        let selected: Option<Vec<usize>> = selected.into_iter().map(|i| usize::try_from(i).ok()).collect();
        let Some(selected) = selected.filter(|selected| selected.is_sorted_by(|a, b| a < b)) else {
            return invalid(op, "select_cols should be non-negative and strictly increasing".to_owned());
        };
        if !selected.is_empty() && selected.len() != types.len() {
            return invalid(op, format!("{} columns selected for {} types", selected.len(), types.len()));
        }
        if let Some(ty) = types.iter().find(|ty| {
            !matches!(ty, Type::String | Type::Dense(DType::F32 | DType::F64 | DType::I32 | DType::I64))
        }) {
            return invalid(op, format!("a column of type {ty}"));
        }
        let missing = attrs.bytes("na_value")?;
        Ok(CsvFormat { delimiter, has_quotes: attrs.bool("use_quote_delim")?, missing, selected, types })
    }

    /// The columns of the records.
    fn decoded(
        &self,
        operands: &[&Value],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Vec<Value>, KernelError> {
        let refuse = |problem: String| Err(KernelError::invalid(format!("`DecodeCSV`: {problem}")));
        let Some((records, defaults)) =
            operands.split_first().filter(|(_, rest)| rest.len() == self.types.len())
        else {
            return refuse(format!("{} operands for {} columns", operands.len(), self.types.len()));
        };
        let records = strings_in(records)?;
        for (i, (default, ty)) in defaults.iter().zip(&self.types).enumerate() {
            let shape = match ty {
                Type::String => strings_in(default)?.shape(),
                _ => dense(default)?.shape(),
            };
            if shape.rank() > 1 || shape.num_elements() > 1 {
                return refuse(format!(
                    "a default of shape {shape} of field {i}, expected one element or none"
                ));
            }
        }
        let n = records.num_elements();
        let columns = self.types.iter().map(|_| TextBuilder::new(n, allocator));
        let mut columns = columns.collect::<Result<Vec<_>, _>>()?;
        let read = records.read().map_err(refused)?;
        let mut field = Vec::new();
        for (i, record) in read.iter().enumerate() {
            if is_interrupted() {
                return Err(refused(TensorError::Interrupted));
            }
            let mut found = 0;
            self.fields(record, &mut field, &mut |field| {
                if let Some(column) = columns.get_mut(found) {
                    column.append(field)?;
                    column.end()?;
                }
                found += 1;
                Ok(())
            })?;
            if found != self.types.len() {
                return refuse(format!(
                    "expected {} fields but have {found} in record {i}",
                    self.types.len()
                ));
            }
        }
        let shape = records.shape();
        columns
            .into_iter()
            .zip(defaults)
            .zip(&self.types)
            .enumerate()
            .map(|(i, ((column, default), ty))| match ty {
                Type::Dense(DType::F32) => self.numbers::<f32>(i, &column, default, shape, allocator),
                Type::Dense(DType::F64) => self.numbers::<f64>(i, &column, default, shape, allocator),
                Type::Dense(DType::I32) => self.numbers::<i32>(i, &column, default, shape, allocator),
                Type::Dense(DType::I64) => self.numbers::<i64>(i, &column, default, shape, allocator),
                _ => {
                    let default = strings_in(default)?.read().map_err(refused)?;
                    let mut texts = TextBuilder::new(n, allocator)?;
                    for (record, text) in column.iter().enumerate() {
                        texts.append(self.given(text, default.at(0), Ok, (i, record))?)?;
                        texts.end()?;
                    }
                    texts.finish(shape)
                }
            })
            .collect()
    }

    /// The value of a field, which is its default if it is missing.
    fn given<'t, T>(
        &self,
        text: &'t [u8],
        default: Option<T>,
        parse: impl FnOnce(&'t [u8]) -> Result<T, KernelError>,
        (i, record): (usize, usize),
    ) -> Result<T, KernelError> {
        match default {
            _ if !text.is_empty() && text != self.missing => parse(text),
            Some(default) => Ok(default),
            None => {
                let problem = format!("`DecodeCSV`: field {i} is required but missing in record {record}");
                Err(KernelError::invalid(problem))
            }
        }
    }

    /// Column `i` as numbers.
    fn numbers<T: Element + std::str::FromStr>(
        &self,
        i: usize,
        column: &TextBuilder<'_>,
        default: &Value,
        shape: &Shape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Value, KernelError> {
        let default = dense(default)?.read_as::<T>("record_defaults").map_err(refused)?.first().copied();
        let out = HostTensor::allocate(T::DTYPE, shape.clone(), allocator).map_err(refused)?;
        let mut to = out.write::<T>().map_err(refused)?;
        for (record, (to, text)) in to.iter_mut().zip(column.iter()).enumerate() {
            let parse = |text| {
                number::<T>(text).ok_or_else(|| {
                    let text: String = String::from_utf8_lossy(text).chars().take(64).collect();
                    let what = format!("field {i} in record {record} is not a valid {}: {text}", T::DTYPE);
                    KernelError::invalid(format!("`DecodeCSV`: {what}"))
                })
            };
            *to = self.given(text, default, parse, (i, record))?;
        }
        drop(to);
        Ok(tensor(out))
    }

    /// Calls `to` with each field of a record that is decoded. A quoted field ends with a quote in front of a
    /// delimiter or of the end; two quotes in it stand for one.
    fn fields(
        &self,
        record: &[u8],
        field: &mut Vec<u8>,
        to: &mut dyn FnMut(&[u8]) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let refuse = |problem: &str| Err(KernelError::invalid(format!("`DecodeCSV`: {problem}")));
        let (mut at, mut number, mut taken) = (0, 0, 0);
        let is_wanted = |number: usize, taken: usize| {
            self.selected.is_empty() || self.selected.get(taken) == Some(&number)
        };
        while let Some(&first) = record.get(at) {
            if matches!(first, b'\n' | b'\r') {
                at += 1;
                continue;
            }
            field.clear();
            reserve(field, record.len() - at).map_err(refused)?;
            if self.has_quotes && first == b'"' {
                at += 1;
                loop {
                    match record[at..] {
                        [b'"'] => break,
                        [b'"', next, ..] if next == self.delimiter => break,
                        [b'"', b'"', _, ..] => {
                            field.push(b'"');
                            at += 2;
                        }
                        [b'"', b'"'] => return refuse("a quoted field has to end with a quote"),
                        [b'"', ..] => {
                            return refuse("a quote inside a field has to be escaped by another quote");
                        }
                        [byte, _, ..] => {
                            field.push(byte);
                            at += 1;
                        }
                        _ => {
                            return refuse(
                                "a quoted field has to end with a quote followed by a delimiter or the end",
                            );
                        }
                    }
                }
                at += 2;
            } else {
                let rest = &record[at..];
                let end = rest.iter().position(|&byte| byte == self.delimiter).unwrap_or(rest.len());
                let is_odd = |byte: &u8| matches!(byte, b'\n' | b'\r') || *byte == b'"' && self.has_quotes;
                if rest[..end].iter().any(is_odd) {
                    return refuse("unquoted fields cannot have quotes or line breaks inside");
                }
                field.extend_from_slice(&rest[..end]);
                at += end + 1;
            }
            if is_wanted(number, taken) {
                to(field)?;
                taken += 1;
                if taken == self.selected.len() {
                    return Ok(());
                }
            }
            number += 1;
        }
        // A delimiter at the end is followed by an empty field.
        if record.last() == Some(&self.delimiter) && is_wanted(number, taken) {
            to(&[])?;
        }
        Ok(())
    }
}
