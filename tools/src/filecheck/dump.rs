//! The annotated input printed by `--dump-input`.
//!
//! ```text
//! Input was:
//! <<<<<<
//!           1: define @f            the input, a blank for each line end
//! check:3     ^~~~~~~~~             the match of the directive of line 3
//! ```
//!
//! The run collects [`Event`]s: a position in the input, the directive and the outcome. Here they become
//! marks below the input's lines, in the layout of LLVM's FileCheck 19; a test compares them byte by byte.
//! `--color` is accepted without effect.

use std::fmt::Write as _;

use super::pattern::Kind;
use super::source::{Text, printable};

/// When the input is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Dump {
    /// Always.
    Always,
    /// If a check fails.
    Fail,
    /// Not at all.
    #[default]
    Never,
}

/// The lines shown, apart from context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Filter {
    /// All of them.
    All,
    /// Those with marks.
    AnnotationFull,
    /// Those where marks begin.
    Annotation,
    /// Those where marks of errors begin.
    Error,
}

/// The verbosity about successful matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Verbosity {
    /// None.
    #[default]
    Quiet,
    /// Matches (`-v`).
    Matches,
    /// Also CHECK-NOTs that hold, and discarded matches (`-vv`).
    All,
}

/// The layout of the dump.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The lines shown.
    pub filter: Filter,
    /// The number of context lines.
    pub context: usize,
}

/// The outcome of a directive at a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventKind {
    Found,
    FoundButExcluded,
    FoundOnWrongLine,
    /// A CHECK-DAG's match that overlaps an earlier one.
    Discarded,
    NotFound,
    RightlyNotFound,
    BadPattern,
    FuzzyMatch,
}

impl EventKind {
    fn mark(self) -> char {
        match self {
            EventKind::Found => '^',
            EventKind::FoundButExcluded | EventKind::FoundOnWrongLine | EventKind::Discarded => '!',
            EventKind::NotFound | EventKind::RightlyNotFound | EventKind::BadPattern => 'X',
            EventKind::FuzzyMatch => '?',
        }
    }

    fn note(self) -> &'static str {
        match self {
            EventKind::Found | EventKind::RightlyNotFound => "",
            EventKind::FoundButExcluded => "error: no match expected",
            EventKind::FoundOnWrongLine => "error: match on wrong line",
            EventKind::Discarded => "discard: overlaps earlier match",
            EventKind::NotFound => "error: no match found",
            EventKind::BadPattern => "error: match failed for invalid pattern",
            EventKind::FuzzyMatch => "possible intended match",
        }
    }

    /// True if it makes the check fail.
    pub(crate) fn is_error(self) -> bool {
        !matches!(self, EventKind::Found | EventKind::RightlyNotFound | EventKind::Discarded)
    }
}

/// The position of a directive's pattern: the text, and the byte.
pub(crate) type Site = (usize, usize);

/// An event to mark.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) site: Site,
    pub(crate) kind: Kind,
    pub(crate) outcome: EventKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Replaces the outcome's own note.
    pub(crate) note: Option<String>,
}

/// A mark below one line, columns from 0.
struct Mark<'a> {
    line: usize,
    label: usize,
    lead: char,
    start: usize,
    /// The column after the last; `None` for the whole rest of the line.
    end: Option<usize>,
    note: &'a str,
    is_first: bool,
    is_error: bool,
}

/// The directive's name in labels.
fn short_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Plain(1) => "check",
        Kind::Plain(_) => "count",
        Kind::Next => "next",
        Kind::Same => "same",
        Kind::Not => "not",
        Kind::Dag => "dag",
        Kind::Label => "label",
        Kind::Empty => "empty",
        Kind::EndOfFile => "eof",
    }
}

/// `check:7`, `not:imp1`, and `check:7'0` if the directive has more events.
fn labels(texts: &[Text], events: &[Event]) -> Vec<String> {
    let mut totals: std::collections::BTreeMap<Site, (usize, usize)> = std::collections::BTreeMap::new();
    for event in events {
        totals.entry(event.site).or_default().0 += 1;
    }
    let mut all = Vec::with_capacity(events.len());
    for event in events {
        let place = match event.site {
            (0, at) => texts[0].position(at).0.to_string(),
            (implicit, _) => format!("imp{implicit}"),
        };
        let (total, seen) = totals.entry(event.site).or_default();
        let number = if *total > 1 { format!("'{seen}") } else { String::new() };
        *seen += 1;
        all.push(format!("{}:{place}{number}", short_name(event.kind)));
    }
    all
}

/// The marks of all events, by line and then in the order of the events.
fn marks<'a>(input: &Text, events: &'a [Event]) -> Vec<Mark<'a>> {
    let mut all = Vec::new();
    for (label, event) in events.iter().enumerate() {
        let (first_line, first_column) = input.position(event.start);
        let (last_line, last_column) = input.position(event.end);
        let (start, end) = (first_column - 1, last_column - 1);
        let is_point = event.note.is_some() && event.start == event.end;
        let lead = if is_point { ' ' } else { event.outcome.mark() };
        let first_end = (first_line == last_line).then(|| end.max(start + 1));
        let is_error = event.outcome.is_error();
        let note = event.note.as_deref().unwrap_or(event.outcome.note());
        all.push(Mark {
            line: first_line,
            label,
            lead,
            start,
            end: first_end,
            note,
            is_first: true,
            is_error,
        });
        for line in first_line + 1..=last_line {
            let line_end = (line == last_line).then_some(end);
            if line_end != Some(0) {
                let rest = Mark {
                    line,
                    label,
                    lead: '~',
                    start: 0,
                    end: line_end,
                    note: "",
                    is_first: false,
                    is_error,
                };
                all.push(rest);
            }
        }
    }
    all.sort_by_key(|mark| mark.line);
    all
}

/// Writes the annotated input.
pub(crate) fn write(out: &mut String, texts: &[Text], input: &Text, events: &[Event], layout: Layout) {
    let labels = labels(texts, events);
    let marks = marks(input, events);
    let mut lines: Vec<&[u8]> = input.bytes.split_inclusive(|&b| b == b'\n').collect();
    let number_width = lines.len().max(1).to_string().len();
    // Matches may lie after the last line end.
    let last = marks.last().map_or(0, |mark| mark.line).max(lines.len());
    lines.resize(last, b"");
    let width = labels.iter().map(String::len).max().unwrap_or(0).max(number_width) + 3;

    let chosen = |mark: &&Mark<'_>| match layout.filter {
        Filter::All | Filter::AnnotationFull => true,
        Filter::Annotation => mark.is_first,
        Filter::Error => mark.is_first && mark.is_error,
    };
    let chosen: Vec<usize> = match layout.filter {
        Filter::All => (1..=last).collect(),
        _ => marks.iter().filter(chosen).map(|mark| mark.line).collect(),
    };

    out.push_str("Input was:\n<<<<<<\n");
    // Omitted lines, until there are more of them than the dots take.
    let mut elided = String::new();
    let mut marks = marks.iter().peekable();
    let mut next = chosen.iter().copied().peekable();
    let mut previous: Option<usize> = None;
    for (line, text) in (1..).zip(lines) {
        while let Some(at) = next.next_if(|&at| at <= line) {
            previous = Some(at);
        }
        let near = previous.is_some_and(|at| line - at <= layout.context)
            || next.peek().is_some_and(|at| at - line <= layout.context);
        if near {
            flush(out, &mut elided, width);
        }
        let target = if near { &mut *out } else { &mut elided };
        let (shown, newline) = match text.strip_suffix(b"\n") {
            Some(text) => (text, " "),
            None => (text, ""),
        };
        _ = writeln!(target, "{line:>width$}: {}{newline}", printable(shown));
        while let Some(mark) = marks.next_if(|mark| mark.line == line) {
            write_mark(target, mark, &labels[mark.label], width, text.len());
        }
    }
    flush(out, &mut elided, width);
    out.push_str(">>>>>>\n");
}

fn flush(out: &mut String, elided: &mut String, width: usize) {
    if elided.lines().count() > 3 {
        for _ in 0..3 {
            _ = writeln!(out, "{:>width$}", ".");
        }
    } else {
        out.push_str(elided);
    }
    elided.clear();
}

fn write_mark(out: &mut String, mark: &Mark<'_>, label: &str, width: usize, line_width: usize) {
    _ = write!(out, "{label:<width$}  {:indent$}{}", "", mark.lead, indent = mark.start);
    let mut column = mark.start + 1;
    let tilde_end = mark.end.unwrap_or(usize::MAX).min(line_width);
    for _ in column..tilde_end {
        out.push('~');
    }
    column = column.max(tilde_end);
    if !mark.note.is_empty() {
        let pad = line_width.saturating_sub(column);
        _ = write!(out, "{:pad$} {}", "", mark.note);
    }
    out.push('\n');
}
