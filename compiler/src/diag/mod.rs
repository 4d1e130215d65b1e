//! Diagnostics as plain data: message, place and suggested fix.
//!
//! Every diagnostic has a code that never changes its meaning. Codes by first digits: `E01` characters and
//! tokens, `E02` syntax, `E03` names and references while building IR, `E04` verification, `E05` passes and
//! pipelines, `E06` emission and reading of BEF, `E07` verifiers of dialects and lowering of upstream's ops,
//! `E08` import. The message states the fault; labels point at places; the help suggests a fix. Rendering
//! (excerpts, colours) is done by the tools.
//!
//! The factory functions, one per code, are in `factory.rs`; callers pass facts.

pub mod factory;

use std::sync::Arc;

/// A range of bytes of a source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// After the last byte.
    pub end: u32,
}

impl Span {
    /// Bytes `start..end`.
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A text for a message: at most `most` characters of it.
pub fn shortened(text: &str, most: usize) -> String {
    const DOTS: &str = "...";
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(DOTS.len())).chain(DOTS.chars()).collect()
}

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// Suspicious input, which is accepted.
    Warning,
    /// Requested information.
    Remark,
    /// Part of another diagnostic.
    Note,
}

impl Severity {
    /// Name as printed: `error`, `warning`, ...
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        }
    }
}

/// A place in the text with a short remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark.
    pub text: String,
}

/// A further sentence, with or without a place: `first defined here`, `called from ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The place.
    pub span: Option<Span>,
    /// The sentence.
    pub text: String,
}

/// A diagnostic on the heap, for functions that mostly succeed.
pub type Refusal = Box<Diagnostic>;

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Code, for example `E0201`. Its meaning never changes.
    pub code: &'static str,
    /// The fault, in one sentence without a full stop.
    pub message: String,
    /// Place in the text. Absent if the program was not read from text.
    pub span: Option<Span>,
    /// More places in the same excerpt.
    pub labels: Vec<Label>,
    /// Suggested fix.
    pub help: Option<String>,
    /// Further facts, the chain of locations among them.
    pub notes: Vec<Note>,
    /// Wording of MLIR or TFRT for the same fault, for programs whose tests expect it. Never shown.
    pub upstream: Option<String>,
}

impl Diagnostic {
    /// An error with this code and message.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: None,
            labels: Vec::new(),
            help: None,
            notes: Vec::new(),
            upstream: None,
        }
    }

    /// The diagnostic with another severity.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The diagnostic with a place.
    #[must_use]
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        self.span = span.into();
        self
    }

    /// The diagnostic with one more labelled place.
    #[must_use]
    pub fn label(mut self, span: Option<Span>, text: impl Into<String>) -> Self {
        if let Some(span) = span {
            self.labels.push(Label { span, text: text.into() });
        }
        self
    }

    /// The diagnostic with a suggested fix.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The diagnostic with a further fact.
    #[must_use]
    pub fn note(mut self, span: Option<Span>, text: impl Into<String>) -> Self {
        self.notes.push(Note { span, text: text.into() });
        self
    }

    /// The diagnostic with the wording of MLIR or TFRT.
    #[must_use]
    pub fn upstream(mut self, text: impl Into<String>) -> Self {
        self.upstream = Some(text.into());
        self
    }

    /// True if the input is refused because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// `file:line:col: error[E0201]: message`, without excerpt: for logs and tests.
    pub fn render_short(&self, source: &Source) -> String {
        let place = match self.span {
            Some(span) => {
                let (line, col) = source.line_col(span.start);
                format!("{}:{line}:{col}: ", source.name)
            }
            None => String::new(),
        };
        format!("{place}{}[{}]: {}", self.severity.name(), self.code, self.message)
    }
}

/// Most errors that a stage reports: time and memory stay bounded for any input.
pub const MAX_ERRORS: usize = 1000;

/// True if any of them is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// Sorts diagnostics by their place in the text. Those without a place come last; the sort is stable.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| d.span.map_or((u32::MAX, u32::MAX), |s| (s.start, s.end)));
}

/// A text with its name and its lines.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// File name as the user gave it.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Byte offset of the start of each line.
    pub line_starts: Arc<[u32]>,
}

impl Source {
    /// A source with the index of its lines.
    pub fn new(name: &str, text: &str) -> Self {
        // Most lines of programs are longer than 24 bytes.
        let mut line_starts: Vec<u32> = Vec::with_capacity(1 + text.len() / 24);
        line_starts.push(0);
        line_starts.extend(text.match_indices('\n').map(|(at, _)| (at as u32).wrapping_add(1)));
        Source { name: name.into(), text: text.into(), line_starts: line_starts.into() }
    }

    /// Line and column of a byte offset, both from 1; columns count bytes, as MLIR's do.
    pub fn line_col(&self, at: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|s| *s <= at).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        (line as u32, at - start + 1)
    }
}
