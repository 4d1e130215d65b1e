//! The two texts, made canonical, and messages that point into them.
//!
//! A message has LLVM's form: `name:line:column: error: text`, the line, and a caret. Lines and columns count
//! from 1, columns in bytes, in the canonical text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text with the name that messages give it.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Whether a message is the fault itself or adds to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Severity {
    Error,
    Note,
}

impl Text {
    /// Drops the carriage return of each `\r\n` and, unless `keep_whitespace`, makes each run of blanks and tabs
    /// one blank.
    pub(crate) fn canonical(name: &str, raw: &[u8], keep_whitespace: bool) -> Text {
        let mut bytes = Vec::with_capacity(raw.len());
        let mut rest = raw.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            match byte {
                b'\r' if rest.peek() == Some(&b'\n') => {}
                b' ' | b'\t' if !keep_whitespace => {
                    bytes.push(b' ');
                    while rest.next_if(|b| matches!(b, b' ' | b'\t')).is_some() {}
                }
                _ => bytes.push(byte),
            }
        }
        Text { name: name.to_owned(), bytes }
    }

    /// Line and column of the byte at `at`, both from 1.
    pub(crate) fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.bytes[..at.min(self.bytes.len())];
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        (line, before.len() - line_start + 1)
    }

    /// Writes a message that points at the byte at `at`.
    pub(crate) fn message(&self, out: &mut String, at: usize, severity: Severity, text: &str) {
        let (line, column) = self.position(at);
        let kind = match severity {
            Severity::Error => "error",
            Severity::Note => "note",
        };
        let start = at.min(self.bytes.len()) + 1 - column;
        let end =
            self.bytes[start..].iter().position(|&b| b == b'\n').map_or(self.bytes.len(), |n| start + n);
        let excerpt = printable(&self.bytes[start..end]);
        let pad = printable(&self.bytes[start..start + column - 1]);
        let pad: String = pad.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let name = &self.name;
        writeln!(out, "{name}:{line}:{column}: {kind}: {text}\n{excerpt}\n{pad}^")
            .expect("writing to a string cannot fail");
    }
}

/// The bytes as text for people.
pub(crate) fn printable(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
