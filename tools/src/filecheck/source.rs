//! The two texts in canonical form, and messages with positions in them.
//!
//! A message has LLVM's form: `name:line:column: error: text`, the line, and a caret. Lines and columns count
//! from 1, columns in bytes, in the canonical text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Maximum number of bytes of a line shown on either side of a message's position.
const MAX_BESIDE: usize = 500;

/// A text with the name that messages give it.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The kind of a message: the fault itself, an addition to one, or output of `-v`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Severity {
    Error,
    Note,
    Remark,
}

impl Text {
    /// Drops the carriage return of each `\r\n` and, unless `keep_whitespace`, makes each run of blanks and
    /// tabs one blank.
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
            Severity::Remark => "remark",
        };
        let at = at.min(self.bytes.len());
        let line_start = at + 1 - column;
        let line_end = self.bytes[at..].iter().position(|&b| b == b'\n').map_or(self.bytes.len(), |n| at + n);
        let (start, end) = (line_start.max(at.saturating_sub(MAX_BESIDE)), line_end.min(at + MAX_BESIDE));
        let before = if start > line_start { ".." } else { "" };
        let behind = if end < line_end { ".." } else { "" };
        let excerpt = format!("{before}{}{behind}", printable(&self.bytes[start..end]));
        let pad = format!("{before}{}", printable(&self.bytes[start..at]));
        let pad: String = pad.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let name = &self.name;
        writeln!(out, "{name}:{line}:{column}: {kind}: {text}\n{excerpt}\n{pad}^")
            .expect("writing to a string cannot fail");
    }
}

/// The bytes as printable text.
pub(crate) fn printable(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str, at: usize) -> String {
        let mut out = String::new();
        let text = Text::canonical("f", text.as_bytes(), true);
        text.message(&mut out, at, Severity::Error, "what");
        out
    }

    #[test]
    fn messages_point_at_their_place() {
        assert_eq!(message("ab\ncd\n", 0), "f:1:1: error: what\nab\n^\n");
        assert_eq!(message("ab\ncd\n", 2), "f:1:3: error: what\nab\n  ^\n");
        assert_eq!(message("ab\ncd\n", 4), "f:2:2: error: what\ncd\n ^\n");
        assert_eq!(message("ab\n\tcd", 4), "f:2:2: error: what\n\tcd\n\t^\n");
        assert_eq!(message("ab\n", 3), "f:2:1: error: what\n\n^\n");
        assert_eq!(message("", 0), "f:1:1: error: what\n\n^\n");
        assert_eq!(message("ab", 99), "f:1:3: error: what\nab\n  ^\n");
        let long = message(&"x".repeat(10_000), 5_000);
        assert!(long.contains("f:1:5001") && long.len() < 2_000, "{long}");
    }

    #[test]
    fn texts_are_made_canonical() {
        let canonical = |text: &str, keep| Text::canonical("f", text.as_bytes(), keep).bytes;
        assert_eq!(canonical("a \t b\r\nc\rd\t", false), b"a b\nc\rd ");
        assert_eq!(canonical("a \t b\r\nc\rd\t", true), b"a \t b\nc\rd\t");
    }
}
