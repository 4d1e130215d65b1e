//! Rendering of diagnostics.
//!
//! ```text
//! add.mlir:3:8: error[E0301]: unknown operation `tfrt.ad.i32`        one line for editors and tests
//!    ,-[add.mlir:3:8]                                                the excerpt, drawn by miette
//!  3 |   %b = tfrt.ad.i32 %a, %a
//!    :        ^^^^^^^^^^^
//!    `----
//!   help: did you mean `tfrt.add.i32`?
//! add.mlir:1:1: note: ...                                            each further fact likewise
//! ```
//!
//! Colours and line-drawing characters appear only if standard error is a terminal, so that files and tests
//! see plain ASCII. Long lines (weights in hexadecimal) are cut to a window around the location; control
//! characters do not reach the terminal.

use std::fmt;
use std::io::IsTerminal;

use befrost_compiler::diag::{Diagnostic, Label, Note, Severity, Source, Span};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

use super::failure::tell;

/// Maximum number of errors shown.
const MAX_SHOWN: usize = 100;
/// Longer lines are cut.
const MAX_LINE: usize = 160;
/// The length of a cut line before the location.
const BEFORE: usize = 40;
/// Further labels more lines away than this have no excerpt.
const MAX_LINES: usize = 40;

/// Prints all of them on standard error.
pub(super) fn show(diagnostics: &[Diagnostic], source: &Source) {
    let style = Style::of_stderr();
    let mut text = String::new();
    let mut n_errors = 0_usize;
    for diagnostic in diagnostics {
        n_errors += usize::from(diagnostic.is_error());
        if !diagnostic.is_error() || n_errors <= MAX_SHOWN {
            text.push_str(&render(diagnostic, source, style));
        }
    }
    if n_errors > MAX_SHOWN {
        text.push_str(&format!("... and {} more\n", n_errors - MAX_SHOWN));
    }
    tell(&text);
}

/// The capabilities of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// ASCII.
    Plain,
    /// Colours and line-drawing characters.
    Terminal,
}

impl Style {
    fn of_stderr() -> Style {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if std::io::stderr().is_terminal() && !set("NO_COLOR") && !dumb {
            Style::Terminal
        } else {
            Style::Plain
        }
    }

    fn theme(self) -> GraphicalTheme {
        match self {
            Style::Plain => {
                GraphicalTheme { characters: ThemeCharacters::ascii(), styles: ThemeStyles::none() }
            }
            Style::Terminal => {
                GraphicalTheme { characters: ThemeCharacters::unicode(), styles: ThemeStyles::ansi() }
            }
        }
    }

    /// The first line's severity.
    fn paint(self, severity: Severity, text: &str) -> String {
        let colour = match (self, severity) {
            (Style::Plain, _) => return text.to_owned(),
            (Style::Terminal, Severity::Error) => 31,
            (Style::Terminal, Severity::Warning) => 33,
            (Style::Terminal, Severity::Remark | Severity::Note) => 36,
        };
        format!("\x1b[1;{colour}m{text}\x1b[0m")
    }
}

/// One diagnostic with its notes.
pub(super) fn render(diagnostic: &Diagnostic, source: &Source, style: Style) -> String {
    let Diagnostic { severity, code, message, span, labels, help, notes, upstream: _ } = diagnostic;
    let title = format!("{}[{code}]", severity.name());
    let mut text = part(*severity, &title, message, *span, labels, help.as_deref(), source, style);
    for Note { span, text: message } in notes {
        text.push_str(&part(Severity::Note, "note", message, *span, &[], None, source, style));
    }
    text
}

#[allow(clippy::too_many_arguments, reason = "the fields of a diagnostic, and how to show them")]
fn part(
    severity: Severity,
    title: &str,
    message: &str,
    span: Option<Span>,
    labels: &[Label],
    help: Option<&str>,
    source: &Source,
    style: Style,
) -> String {
    let place = span.map_or_else(
        || if source.name.is_empty() { String::new() } else { format!("{}: ", source.name) },
        |span| {
            let (line, column) = source.line_col(span.start);
            format!("{}:{line}:{column}: ", source.name)
        },
    );
    let mut text = format!("{place}{}: {message}\n", style.paint(severity, title));
    let drawn = span.and_then(|span| Excerpt::new(source, span, labels));
    let report = Drawing { excerpt: drawn, help };
    let mut rendered = String::new();
    let handler = GraphicalReportHandler::new_themed(style.theme())
        .with_context_lines(0)
        .with_width(100)
        .with_wrap_lines(false)
        .with_links(false)
        .without_cause_chain();
    if handler.render_report(&mut rendered, &report).is_ok() {
        // Its first line is the message, which has been written above in a form that stands alone.
        text.push_str(rendered.split_once('\n').map_or("", |(_, rest)| rest));
    }
    text
}

/// The input of miette's renderer.
#[derive(Debug)]
struct Drawing<'a> {
    excerpt: Option<Excerpt>,
    help: Option<&'a str>,
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Drawing<'_> {}

impl miette::Diagnostic for Drawing<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        Some(Box::new(excerpt.labels.iter().cloned()))
    }
}

/// The lines around some labels, with long ones cut.
#[derive(Debug)]
struct Excerpt {
    name: String,
    text: String,
    /// The number of the first line, from 0.
    first_line: usize,
    /// The location of the diagnostic: position in `text`, and the column in the source, from 0.
    primary: (usize, usize),
    labels: Vec<LabeledSpan>,
}

impl Excerpt {
    fn new(source: &Source, span: Span, labels: &[Label]) -> Option<Excerpt> {
        let line_of = |at: u32| source.line_col(at).0 as usize - 1;
        let primary_line = line_of(span.start);
        let is_near = |label: &&Label| line_of(label.span.start).abs_diff(primary_line) <= MAX_LINES;
        let mut marks: Vec<(Span, Option<&str>, bool)> = vec![(span, None, true)];
        for label in labels.iter().filter(is_near) {
            // A label at the diagnostic's own location becomes its text.
            match marks.iter_mut().find(|(at, text, _)| *at == label.span && text.is_none()) {
                Some(mark) => mark.1 = Some(&label.text),
                None => marks.push((label.span, Some(&label.text), false)),
            }
        }
        let first = marks.iter().map(|(at, ..)| line_of(at.start)).min()?;
        let last = marks.iter().map(|(at, ..)| line_of(at.start)).max()?;

        let mut text = String::new();
        let mut moved: Vec<Option<(usize, usize)>> = vec![None; marks.len()];
        for line in first..=last {
            let Some(&start) = source.line_starts.get(line) else { break };
            let end = source.line_starts.get(line + 1).map_or(source.text.len(), |&next| next as usize - 1);
            let start = start as usize;
            let content = source.text.get(start..end)?.trim_end_matches('\r');
            let here: Vec<usize> = (0..marks.len()).filter(|&i| line_of(marks[i].0.start) == line).collect();
            let pointed_at = here.iter().map(|&i| marks[i].0.start as usize - start).min();
            let window = window(content, pointed_at);
            let shown_at = text.len() + window.lead.len();
            text.push_str(window.lead);
            text.extend(content.get(window.from..window.to)?.chars().flat_map(harmless));
            let shown_to = text.len();
            for i in here {
                let (at, ..) = marks[i];
                let inside =
                    |at: u32| (shown_at + (at as usize - start).saturating_sub(window.from)).min(shown_to);
                moved[i] = Some((inside(at.start), inside(at.end.max(at.start))));
            }
            text.push_str(window.tail);
            text.push('\n');
        }
        let primary_at = moved.first().copied().flatten()?.0;
        let labels = marks.iter().zip(&moved).filter_map(|((_, label, primary), moved)| {
            let (from, to) = (*moved)?;
            let (span, label) = (SourceSpan::new(from.into(), to - from), label.map(str::to_owned));
            Some(if *primary {
                LabeledSpan::new_primary_with_span(label, span)
            } else {
                LabeledSpan::new_with_span(label, span)
            })
        });
        let column = source.line_col(span.start).1 as usize - 1;
        let labels = labels.collect();
        Some(Excerpt {
            name: source.name.clone(),
            text,
            first_line: first,
            primary: (primary_at, column),
            labels,
        })
    }
}

/// The same number of bytes, without terminal commands.
fn harmless(c: char) -> impl Iterator<Item = char> {
    let (shown, n) = if c.is_control() && c != '\t' { ('?', c.len_utf8()) } else { (c, 1) };
    std::iter::repeat_n(shown, n)
}

/// The visible part of a line.
struct Window {
    lead: &'static str,
    from: usize,
    to: usize,
    tail: &'static str,
}

fn window(line: &str, pointed_at: Option<usize>) -> Window {
    if line.len() <= MAX_LINE {
        return Window { lead: "", from: 0, to: line.len(), tail: "" };
    }
    let boundary =
        |at: usize| (0..=at.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
    let from = match pointed_at {
        Some(at) if at > MAX_LINE - BEFORE => boundary(at - BEFORE),
        _ => 0,
    };
    let to = boundary(from + MAX_LINE);
    Window {
        lead: if from > 0 { "..." } else { "" },
        from,
        to,
        tail: if to < line.len() { "..." } else { "" },
    }
}

impl SourceCode for Excerpt {
    /// Whole lines, and no others: in a test, adjacent comments that expect this error would be taken for
    /// output.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _context_lines_before: usize,
        _context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let from = span.offset().min(self.text.len());
        let to = span.offset().saturating_add(span.len()).clamp(from, self.text.len());
        let (before, rest) = self.text.split_at_checked(from).ok_or(MietteError::OutOfBounds)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let inside = rest.get(..to - from).ok_or(MietteError::OutOfBounds)?;
        let end =
            rest.get(to - from..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |at| to + at);
        let lines = self.text.get(start..end).ok_or(MietteError::OutOfBounds)?;
        // The true column, not that in a cut line.
        let column = if from == self.primary.0 { self.primary.1 } else { from - start };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            lines.as_bytes(),
            SourceSpan::new(start.into(), end - start),
            self.first_line + before.matches('\n').count(),
            column,
            inside.matches('\n').count() + 1,
        )))
    }
}

#[cfg(test)]
mod tests;
