//! Conversion of protobuf's text format (`.pbtxt` files) to the binary format.
//!
//! ```text
//! node { name: "x" attr { key: "dtype" value { type: DT_FLOAT } } }
//!      ──tokens──▶ fields, by the schema of the message ──▶ 0a 1c 0a 01 78 ...
//! ```
//!
//! Fields that the schema does not have are parsed and skipped, as the binary decoder skips them. Messages
//! nest as deep as the decoder allows. The size of the binary message is at most a small multiple of the
//! text's.

mod schema;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::LazyLock;

use prost::encoding::{WireType, encode_key, encode_varint};

use self::schema::{Field, FieldKind, MessageType, Schema};
use self::tokens::{Token, Tokens};

/// Maximum depth of messages in messages: prost's own limit.
const MAX_DEPTH: usize = 100;

static TENSORFLOW: LazyLock<Schema> = LazyLock::new(|| {
    let schema = Schema::parse(include_str!("../proto/tensorflow.proto"));
    schema.unwrap_or_default()
});

/// The binary form of a text; `message` is its type in `tensorflow.proto`.
pub(super) fn to_binary(text: &str, message: &str) -> Result<Vec<u8>, String> {
    let mut writer = Writer { schema: &TENSORFLOW, tokens: Tokens::new(text) };
    let mut binary = Vec::new();
    match writer.message(TENSORFLOW.named(message), None, 0, &mut binary) {
        Ok(()) => Ok(binary),
        Err(why) => {
            let (line, column) = writer.tokens.place();
            Err(format!("line {line}, column {column}: {why}"))
        }
    }
}

struct Writer<'a> {
    schema: &'a Schema,
    tokens: Tokens<'a>,
}

impl<'a> Writer<'a> {
    /// Writes the fields up to `end`, or to the end of the text. Without a type, all are skipped.
    fn message(
        &mut self,
        ty: Option<&MessageType>,
        end: Option<char>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("messages are nested more than {MAX_DEPTH} deep"));
        }
        loop {
            let name = match self.tokens.next()? {
                Token::End if end.is_none() => return Ok(()),
                Token::End => return Err("the text ends inside of a message".to_owned()),
                Token::Sign(sign) if Some(sign) == end => return Ok(()),
                // Fields may be separated.
                Token::Sign(',' | ';') => continue,
                Token::Word(name) => Some(name),
                Token::Sign('[') => {
                    let name = self.bracketed()?;
                    if ty.is_some_and(MessageType::is_any) && self.any(name, depth, out)? {
                        continue;
                    }
                    None
                }
                other => return Err(format!("expected the name of a field, found {other}")),
            };
            let field = name.and_then(|name| ty?.fields.get(name));
            let has_colon = self.tokens.skip(':')?;
            if !self.tokens.skip('[')? {
                self.value(field, has_colon, depth, out)?;
                continue;
            }
            while !self.tokens.skip(']')? {
                self.value(field, true, depth, out)?;
                if !self.tokens.skip(',')? && self.tokens.peek()? != Token::Sign(']') {
                    return Err("expected ',' or ']' in a list".to_owned());
                }
            }
        }
    }

    /// The name between brackets, of an extension or of the type of an Any: its last part.
    fn bracketed(&mut self) -> Result<Option<&'a str>, String> {
        let mut last = None;
        loop {
            match self.tokens.next()? {
                Token::Sign(']') => return Ok(last),
                Token::Word(word) => last = Some(word),
                _ => self.tokens.expect_more()?,
            }
        }
    }

    /// Writes an Any whose message is written out in the text, if its type is known. Returns whether it is.
    fn any(&mut self, name: Option<&str>, depth: usize, out: &mut Vec<u8>) -> Result<bool, String> {
        let Some((name, ty)) = name.and_then(|name| Some((name, self.schema.named(name)?))) else {
            return Ok(false);
        };
        self.tokens.skip(':')?;
        let end = match self.tokens.next()? {
            Token::Sign('{') => '}',
            Token::Sign('<') => '>',
            other => return Err(format!("expected a message, found {other}")),
        };
        let mut inner = Vec::new();
        self.message(Some(ty), Some(end), depth + 1, &mut inner)?;
        bytes(1, format!("type.googleapis.com/tensorflow.{name}").as_bytes(), out);
        bytes(2, &inner, out);
        Ok(true)
    }

    /// Writes a value of a field.
    fn value(
        &mut self,
        field: Option<&Field>,
        has_colon: bool,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let token = self.tokens.next()?;
        if let Token::Sign(open @ ('{' | '<')) = token {
            let end = if open == '{' { '}' } else { '>' };
            let Some(Field { number, kind }) = field else {
                return self.message(None, Some(end), depth + 1, out);
            };
            let FieldKind::Message(ty) = kind else {
                return Err("a message for a field that is none".to_owned());
            };
            let mut inner = Vec::new();
            self.message(self.schema.of_field(ty), Some(end), depth + 1, &mut inner)?;
            bytes(*number, &inner, out);
            return Ok(());
        }
        if !has_colon {
            return Err(format!("expected ':' or a message after the name of a field, found {token}"));
        }
        // Signs of numbers are tokens of their own.
        let (is_negative, token) = match token {
            Token::Sign('-') => (true, self.tokens.next()?),
            token => (false, token),
        };
        let is_scalar = match token {
            Token::Word(_) => true,
            Token::Number(_) => true,
            Token::Text(_) => !is_negative,
            Token::Sign(_) | Token::End => false,
        };
        if !is_scalar {
            return Err(format!("expected a value, found {token}"));
        }
        let Some(Field { number, kind }) = field else {
            return if let Token::Text(_) = token { self.tokens.text(token).map(drop) } else { Ok(()) };
        };
        if *kind == FieldKind::Text {
            bytes(*number, &self.tokens.text(token)?, out);
            return Ok(());
        }
        let wrong = |what: &str| format!("expected {what}, found {token}");
        let varint = |value: u64, out: &mut Vec<u8>| {
            encode_key(*number, WireType::Varint, out);
            encode_varint(value, out);
        };
        match kind {
            FieldKind::Int => {
                let value = token.int(is_negative).ok_or_else(|| wrong("an integer"))?;
                varint(value as u64, out);
            }
            FieldKind::UInt => {
                let value = token.magnitude().filter(|_| !is_negative);
                varint(value.ok_or_else(|| wrong("an integer that is not negative"))?, out);
            }
            FieldKind::Bool => {
                let value = match token {
                    Token::Word("true" | "True" | "t") | Token::Number("1") => true,
                    Token::Word("false" | "False" | "f") | Token::Number("0") => false,
                    _ => return Err(wrong("true or false")),
                };
                varint(u64::from(value), out);
            }
            FieldKind::Enum(of) => {
                let value = match token {
                    Token::Word(name) => self.schema.value(of, name),
                    _ => token.int(is_negative),
                };
                varint(value.ok_or_else(|| wrong(&format!("a value of {of}")))? as u64, out);
            }
            FieldKind::Float => {
                let value = token.float(is_negative).ok_or_else(|| wrong("a number"))?;
                encode_key(*number, WireType::ThirtyTwoBit, out);
                // Parsed as f32: rounding to f64 first would round twice.
                let value = token.float32(is_negative).unwrap_or(value as f32);
                out.extend(value.to_le_bytes());
            }
            FieldKind::Double => {
                let value = token.float(is_negative).ok_or_else(|| wrong("a number"))?;
                encode_key(*number, WireType::SixtyFourBit, out);
                out.extend(value.to_le_bytes());
            }
            FieldKind::Message(_) => return Err(wrong("a message")),
            FieldKind::Text => {}
        }
        Ok(())
    }
}

fn bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}
