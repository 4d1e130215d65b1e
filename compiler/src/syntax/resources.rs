//! The parser of resource sections, each of which is one token of the lexer.
//!
//! ```text
//! {-# dialect_resources: { builtin: { key: "0x08000000..." } },
//!     external_resources: { tool: { key: true } } #-}
//! ```
//!
//! There is no deeper nesting. The first error ends the parsing.

use super::errors;
use super::lower::{decode_hex, unescape};
use crate::diag::{Diagnostic, Span};
use crate::ir::resources::{Group, ResourceValue, Resources};
use rustc_hash::FxHashMap;

/// Positions of groups and keys of dialects, over all sections of a text.
#[derive(Default)]
pub(crate) struct SectionIndex {
    dialects: FxHashMap<String, usize>,
    external: FxHashMap<String, usize>,
    keys: FxHashMap<(usize, String), usize>,
}

/// Adds the contents of `text`, at position `start` of the source, to `into`, whose earlier sections are in
/// `places`.
pub(crate) fn read(
    text: &str,
    start: u32,
    into: &mut Resources,
    places: &mut SectionIndex,
) -> Result<(), Box<Diagnostic>> {
    let SectionIndex { dialects, external, keys } = places;
    let inner = text.strip_prefix("{-#").and_then(|t| t.strip_suffix("#-}")).unwrap_or("");
    let mut reader = Reader { text: inner, start: start + 3, at: 0 };
    if reader.peek().is_empty() {
        return Ok(());
    }
    loop {
        let (title, span) = reader.key()?;
        let (groups, names) = match title {
            "dialect_resources" => (&mut into.dialects, &mut *dialects),
            "external_resources" => (&mut into.external, &mut *external),
            _ => {
                return Err(Box::new(
                    errors::resources(span, format!("unknown part `{}`", errors::shorten(title)))
                        .help("there are `dialect_resources` and `external_resources`"),
                ));
            }
        };
        let blobs_only = title == "dialect_resources";
        reader.sign(":")?;
        reader.braces(|reader| {
            let (name, _) = reader.key()?;
            let at = *names.entry(name.to_owned()).or_insert_with(|| {
                groups.push(Group { name: name.to_owned(), entries: Vec::new() });
                groups.len() - 1
            });
            let entries = &mut groups[at].entries;
            reader.sign(":")?;
            reader.braces(|reader| {
                let (key, _) = reader.key()?;
                reader.sign(":")?;
                let value = reader.value(blobs_only && name == "builtin")?;
                let next = entries.len();
                let place = match blobs_only {
                    true => *keys.entry((at, key.to_owned())).or_insert(next),
                    false => next,
                };
                match entries.get_mut(place) {
                    Some(known) => known.1 = value,
                    None => entries.push((key.to_owned(), value)),
                }
                Ok(())
            })
        })?;
        match reader.peek() {
            "" => return Ok(()),
            _ => reader.sign(",")?,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    start: u32,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next word, string or sign; empty at the end.
    fn peek(&mut self) -> &'a str {
        let bytes = self.text.as_bytes();
        loop {
            self.at += bytes[self.at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
            if !bytes[self.at..].starts_with(b"//") {
                break;
            }
            self.at += bytes[self.at..].iter().take_while(|b| **b != b'\n').count();
        }
        let rest = &self.text[self.at..];
        let n = match rest.as_bytes() {
            [] => 0,
            [b'A'..=b'Z' | b'a'..=b'z' | b'_', ..] => rest
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
                .count(),
            [b'"', ..] => string_end(rest.as_bytes()),
            _ => rest.chars().next().map_or(0, char::len_utf8),
        };
        &rest[..n]
    }

    fn span(&self, n: usize) -> Span {
        let at = self.start + self.at as u32;
        Span::new(at, at + n.max(1) as u32)
    }

    fn wanted<T>(&mut self, what: &str) -> Result<T, Box<Diagnostic>> {
        let found = self.peek();
        let shown = if found.is_empty() {
            "the end of the section".to_owned()
        } else {
            format!("`{}`", errors::shorten(found))
        };
        Err(Box::new(errors::expected(self.span(found.len()), what, &shown)))
    }

    fn sign(&mut self, sign: &str) -> Result<(), Box<Diagnostic>> {
        if self.peek() != sign {
            return self.wanted(&format!("`{sign}`"));
        }
        self.at += sign.len();
        Ok(())
    }

    fn key(&mut self) -> Result<(&'a str, Span), Box<Diagnostic>> {
        let word = self.peek();
        if !word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return self.wanted("a key");
        }
        let span = self.span(word.len());
        self.at += word.len();
        Ok((word, span))
    }

    /// `{ entry, entry }`.
    fn braces(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Result<(), Box<Diagnostic>>,
    ) -> Result<(), Box<Diagnostic>> {
        self.sign("{")?;
        if self.peek() == "}" {
            return self.sign("}");
        }
        loop {
            entry(self)?;
            if self.peek() != "," {
                return self.sign("}");
            }
            self.sign(",")?;
        }
    }

    fn value(&mut self, blob: bool) -> Result<ResourceValue, Box<Diagnostic>> {
        let text = self.peek();
        let span = self.span(text.len());
        let value = match text {
            "true" | "false" => ResourceValue::Bool(text == "true"),
            _ => {
                let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) else {
                    return self.wanted("a string, `true` or `false`");
                };
                match inner.strip_prefix("0x") {
                    Some(digits) => match decode_hex(digits) {
                        Some(bytes) => ResourceValue::Blob(bytes.into()),
                        None => {
                            return Err(Box::new(errors::resources(
                                span,
                                "expected two hexadecimal digits for each byte",
                            )));
                        }
                    },
                    None => match unescape(inner) {
                        Some(bytes) => ResourceValue::Str(bytes.into()),
                        None => return Err(Box::new(errors::bad_escape(span))),
                    },
                }
            }
        };
        if blob {
            let ResourceValue::Blob(bytes) = &value else {
                return Err(Box::new(errors::resources(
                    span,
                    "a resource of `builtin` is a string of bytes, `\"0x...\"`",
                )));
            };
            let alignment = bytes.first_chunk().map(|b| u32::from_le_bytes(*b));
            if alignment.is_none_or(|a| a != 0 && !a.is_power_of_two()) {
                return Err(Box::new(
                    errors::resources(
                        span,
                        "the first four bytes of a resource are its alignment, a power of two",
                    )
                    .help("for example \"0x08000000...\""),
                ));
            }
        }
        self.at += text.len();
        Ok(value)
    }
}

/// The length of the string literal at the beginning.
fn string_end(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(b) = bytes.get(at) {
        match b {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
