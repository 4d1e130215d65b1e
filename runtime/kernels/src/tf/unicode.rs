//! Text in Unicode: code points of strings, strings of code points, other encodings, and scripts.
//!
//! ```text
//! bytes in an encoding ──decode──▶ characters and ill-formed parts, each with its place ──▶ code points
//!                                                    policy for ill-formed parts ──┘          │ encode
//!                                                                                             ▼ bytes
//! ```
//!
//! Encodings have the names that ICU gives them, without regard to case and punctuation: UTF-8, UTF-16 and
//! UTF-32 (with a byte order mark, or in either order), US-ASCII and ISO-8859-1. Others are refused. An
//! ill-formed part is as long as the beginning of a character that it could have been, as in ICU.

use std::sync::LazyLock;

use befrost_kernel_api::KernelError;
use befrost_tensor::interrupt::is_interrupted;
use befrost_tensor::scratch::{push, with_room};
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::{DType, HostTensor, Shape, TensorError};

use super::action::{ActionRow, action, ints, tensor};
use super::joined::{TextBuilder, row_splits};
use super::operands::dense;
use super::strings::{invalid, strings_in};
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::UnicodeDecode, Op::UnicodeDecodeWithOffsets], |attrs| {
        let (decoder, splits) = (Decoder::new(attrs)?, splits_type(attrs)?);
        let has_offsets = attrs.op() == "UnicodeDecodeWithOffsets";
        action(attrs, move |[x], cx| {
            let x = strings_in(x)?;
            let read = x.read().map_err(refused)?;
            let mut ends = with_room(x.num_elements().saturating_add(1)).map_err(refused)?;
            let (mut points, mut starts) = (Vec::new(), Vec::new());
            ends.push(0i64);
            for text in read.iter() {
                decoder.each(text, &mut |start, point| {
                    push(&mut points, point as i32).map_err(refused)?;
                    if has_offsets {
                        push(&mut starts, start as i64).map_err(refused)?;
                    }
                    Ok(())
                })?;
                ends.push(points.len() as i64);
            }
            if splits == DType::I32 && i32::try_from(points.len()).is_err() {
                return Err(refused(TensorError::TooLarge));
            }
            let vector = |len: usize| Shape::new(&[len]).map_err(refused);
            let ends = HostTensor::from_slice(vector(ends.len())?, &ends, cx.allocator()).map_err(refused)?;
            let ends = befrost_tensor::tf::cast(&ends, splits, cx.allocator()).map_err(refused)?;
            let values = HostTensor::from_slice(vector(points.len())?, &points, cx.allocator());
            let mut made = vec![tensor(ends), tensor(values.map_err(refused)?)];
            if has_offsets {
                let starts = HostTensor::from_slice(vector(starts.len())?, &starts, cx.allocator());
                made.push(tensor(starts.map_err(refused)?));
            }
            Ok(made)
        })
    }),
    (&[Op::UnicodeEncode], |attrs| {
        let (policy, to) = (Policy::new(attrs)?, output_encoding(attrs)?);
        splits_type(attrs)?;
        action(attrs, move |[values, splits], cx| {
            let values = dense(values)?.read_as::<i32>("input_values").map_err(refused)?;
            let splits = ints(splits)?;
            if splits.is_empty() {
                return Err(KernelError::invalid("`UnicodeEncode`: input_splits are empty".to_owned()));
            }
            let rows = row_splits("UnicodeEncode", &splits, values.len())?;
            let shape = Shape::new(&[rows.len()]).map_err(refused)?;
            let mut made = TextBuilder::new(rows.len(), cx.allocator())?;
            for row in rows {
                for &value in &values[row] {
                    let point = u32::try_from(value).ok().and_then(char::from_u32);
                    if let Some(point) = policy.point("UnicodeEncode", point)? {
                        to.encode(point, &mut made)?;
                    }
                }
                made.end()?;
            }
            Ok([made.finish(&shape)?])
        })
    }),
    (&[Op::UnicodeTranscode], |attrs| {
        let (decoder, to) = (Decoder::new(attrs)?, output_encoding(attrs)?);
        action(attrs, move |[x], cx| {
            let x = strings_in(x)?;
            let read = x.read().map_err(refused)?;
            let mut made = TextBuilder::new(x.num_elements(), cx.allocator())?;
            for text in read.iter() {
                decoder.each(text, &mut |_, point| to.encode(point, &mut made))?;
                made.end()?;
            }
            Ok([made.finish(x.shape())?])
        })
    }),
    (&[Op::UnicodeScript], |attrs| {
        action(attrs, |[x], cx| {
            let x = dense(x)?;
            let out = HostTensor::allocate(DType::I32, x.shape().clone(), cx.allocator()).map_err(refused)?;
            let points = x.read_as::<i32>("input").map_err(refused)?;
            for (to, &point) in out.write::<i32>().map_err(refused)?.iter_mut().zip(&*points) {
                *to = script(point);
            }
            Ok([tensor(out)])
        })
    }),
];

fn splits_type(attrs: &Attributes<'_>) -> Result<DType, TensorError> {
    match attrs.dtype("Tsplits")? {
        dtype @ (DType::I32 | DType::I64) => Ok(dtype),
        dtype => Err(TensorError::Unsupported { op: attrs.op(), dtype }),
    }
}

/// The number of ICU for the script of a code point; -1 if it is none.
fn script(point: i32) -> i32 {
    /// The first code point of each range of one script, and the script's number.
    static SCRIPTS: LazyLock<Vec<(i32, i32)>> = LazyLock::new(|| {
        let ranges = include_str!("scripts.txt").lines().map(|line| {
            let (first, script) = line.split_once(' ')?;
            Some((i32::from_str_radix(first, 16).ok()?, script.parse().ok()?))
        });
        ranges.flatten().collect()
    });
    if !(0..=char::MAX as i32).contains(&point) {
        return -1;
    }
    let behind = SCRIPTS.partition_point(|&(first, _)| first <= point);
    behind.checked_sub(1).map_or(-1, |range| SCRIPTS[range].1)
}

/// The treatment of ill-formed parts.
#[derive(Clone, Copy)]
enum Policy {
    Strict,
    Ignore,
    Replace(u32),
}

impl Policy {
    fn new(attrs: &Attributes<'_>) -> Result<Policy, TensorError> {
        let replacement = attrs.int("replacement_char")?;
        let Some(replacement) = u32::try_from(replacement).ok().filter(|&point| point <= char::MAX as u32)
        else {
            return invalid(attrs.op(), format!("replacement_char {replacement} is no code point"));
        };
        match &attrs.string("errors")?[..] {
            "strict" => Ok(Policy::Strict),
            "ignore" => Ok(Policy::Ignore),
            "replace" => Ok(Policy::Replace(replacement)),
            other => {
                invalid(attrs.op(), format!("errors is \"{other}\", expected strict, replace or ignore"))
            }
        }
    }

    /// The code point for a character, or for an ill-formed part; `None` if it is left out.
    fn point(self, op: &str, character: Option<char>) -> Result<Option<u32>, KernelError> {
        match (character, self) {
            (Some(character), _) => Ok(Some(character.into())),
            (None, Policy::Replace(point)) => Ok(Some(point)),
            (None, Policy::Ignore) => Ok(None),
            (None, Policy::Strict) => {
                Err(KernelError::invalid(format!("`{op}`: invalid formatting on input string")))
            }
        }
    }
}

/// The order of the bytes of a unit of an encoding.
#[derive(Clone, Copy)]
enum ByteOrder {
    Big,
    Little,
    /// That of a mark in front; big if there is none.
    Marked,
}

#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Utf16(ByteOrder),
    Utf32(ByteOrder),
    /// Bytes up to this one are code points.
    Bytes(u8),
}

fn output_encoding(attrs: &Attributes<'_>) -> Result<Encoding, TensorError> {
    match &attrs.string("output_encoding")?[..] {
        "UTF-8" => Ok(Encoding::Utf8),
        "UTF-16-BE" => Ok(Encoding::Utf16(ByteOrder::Big)),
        "UTF-32-BE" => Ok(Encoding::Utf32(ByteOrder::Big)),
        other => invalid(
            attrs.op(),
            format!("output_encoding is \"{other}\", expected UTF-8, UTF-16-BE or UTF-32-BE"),
        ),
    }
}

/// A character, or an ill-formed part, at the beginning of bytes, with its length.
type Decoded = (Option<char>, usize);

impl Encoding {
    /// The encoding with this name.
    fn named(name: &str) -> Option<Encoding> {
        let is_letter = |c: &char| c.is_ascii_alphanumeric();
        let plain: String = name.chars().filter(is_letter).map(|c| c.to_ascii_lowercase()).collect();
        Some(match &plain[..] {
            "utf8" => Encoding::Utf8,
            "utf16" | "utf16be" | "utf16le" | "utf32" | "utf32be" | "utf32le" => {
                let order = match &plain[5..] {
                    "be" => ByteOrder::Big,
                    "le" => ByteOrder::Little,
                    _ => ByteOrder::Marked,
                };
                if plain.starts_with("utf16") { Encoding::Utf16(order) } else { Encoding::Utf32(order) }
            }
            "usascii" | "ascii" | "ansix341968" | "iso646us" => Encoding::Bytes(0x7f),
            "iso88591" | "latin1" | "l1" | "ibm819" | "cp819" => Encoding::Bytes(0xff),
            _ => return None,
        })
    }

    /// The encoding of this text, and the number of bytes of its byte order mark.
    fn of(self, text: &[u8]) -> (Encoding, usize) {
        match (self, text) {
            (Encoding::Utf16(ByteOrder::Marked), [0xfe, 0xff, ..]) => (Encoding::Utf16(ByteOrder::Big), 2),
            (Encoding::Utf16(ByteOrder::Marked), [0xff, 0xfe, ..]) => (Encoding::Utf16(ByteOrder::Little), 2),
            (Encoding::Utf32(ByteOrder::Marked), [0, 0, 0xfe, 0xff, ..]) => {
                (Encoding::Utf32(ByteOrder::Big), 4)
            }
            (Encoding::Utf32(ByteOrder::Marked), [0xff, 0xfe, 0, 0, ..]) => {
                (Encoding::Utf32(ByteOrder::Little), 4)
            }
            (own, _) => (own, 0),
        }
    }

    /// The character at the beginning of a text that is not empty.
    fn first(self, text: &[u8]) -> Decoded {
        let unit = |at: usize| -> Option<u16> {
            let bytes = *text.get(at..)?.first_chunk()?;
            match self {
                Encoding::Utf16(ByteOrder::Little) => Some(u16::from_le_bytes(bytes)),
                _ => Some(u16::from_be_bytes(bytes)),
            }
        };
        match self {
            Encoding::Utf8 => {
                // A character has at most four bytes.
                let chunk = text[..text.len().min(4)].utf8_chunks().next();
                let (valid, broken) = chunk.map_or(("", &[][..]), |chunk| (chunk.valid(), chunk.invalid()));
                match valid.chars().next() {
                    Some(character) => (Some(character), character.len_utf8()),
                    None => (None, broken.len().max(1)),
                }
            }
            Encoding::Utf16(_) => match (unit(0), unit(2)) {
                (None, _) => (None, text.len()),
                (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                    let point = 0x10000 + (u32::from(high & 0x3ff) << 10 | u32::from(low & 0x3ff));
                    (char::from_u32(point), 4)
                }
                // The end of the text cuts off a pair.
                (Some(0xd800..=0xdbff), None) => (None, text.len()),
                (Some(unit), _) => (char::from_u32(unit.into()), 2),
            },
            Encoding::Utf32(order) => match text.first_chunk() {
                Some(&bytes) => {
                    let point = match order {
                        ByteOrder::Little => u32::from_le_bytes(bytes),
                        ByteOrder::Big | ByteOrder::Marked => u32::from_be_bytes(bytes),
                    };
                    (char::from_u32(point), 4)
                }
                None => (None, text.len()),
            },
            Encoding::Bytes(last) => (text.first().filter(|&&byte| byte <= last).map(|&byte| byte.into()), 1),
        }
    }

    /// Appends a code point. A surrogate, which is none, becomes the replacement character.
    fn encode(self, point: u32, made: &mut TextBuilder<'_>) -> Result<(), KernelError> {
        let character = char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
        match self {
            Encoding::Utf16(_) => character
                .encode_utf16(&mut [0; 2])
                .iter()
                .try_for_each(|unit| made.append(&unit.to_be_bytes())),
            Encoding::Utf32(_) => made.append(&u32::from(character).to_be_bytes()),
            Encoding::Utf8 | Encoding::Bytes(_) => made.append(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// The attributes of operators that decode text.
struct Decoder {
    op: &'static str,
    from: Encoding,
    policy: Policy,
    replaces_control: bool,
    replacement: u32,
}

impl Decoder {
    fn new(attrs: &Attributes<'_>) -> Result<Decoder, TensorError> {
        let (op, name) = (attrs.op(), attrs.string("input_encoding")?);
        let Some(from) = Encoding::named(&name) else {
            let name: String = name.chars().take(32).collect();
            return invalid(op, format!("could not create converter for input encoding: {name}"));
        };
        let policy = Policy::new(attrs)?;
        let replacement = u32::try_from(attrs.int("replacement_char")?).unwrap_or_default();
        let replaces_control = attrs.bool("replace_control_characters")?;
        Ok(Decoder { op, from, policy, replaces_control, replacement })
    }

    /// Calls `to` with the place and the code point of each character of a text.
    fn each(
        &self,
        text: &[u8],
        to: &mut dyn FnMut(usize, u32) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        if is_interrupted() {
            return Err(refused(TensorError::Interrupted));
        }
        let (from, mark) = self.from.of(text);
        let mut at = mark;
        while at < text.len() {
            let (character, len) = from.first(&text[at..]);
            let is_control = self.replaces_control && character.is_some_and(|c| u32::from(c) < 0x20);
            let point = match (is_control, self.policy) {
                (false, policy) => policy.point(self.op, character)?,
                (true, Policy::Ignore) => None,
                (true, Policy::Strict | Policy::Replace(_)) => Some(self.replacement),
            };
            if let Some(point) = point {
                // The first character's place is that of the mark in front of it.
                to(if at == mark { 0 } else { at }, point)?;
            }
            at += len;
        }
        Ok(())
    }
}
