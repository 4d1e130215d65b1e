//! `--verify-diagnostics`: comparison of diagnostics with the comments of the text.
//!
//! ```text
//! expectation := "expected-" ( "error" | "warning" | "remark" | "note" ) [ "-re" ] [ place ] "{{" text "}}"
//! place       := "@+N" | "@-N" | "@above" | "@below" | "@unknown"          without one: this line
//! ```
//!
//! `@above` and `@below` are the nearest line without such a comment, so that several can be stacked. An
//! expectation is met by a diagnostic of its severity on its line whose message contains its text, `@unknown`
//! by one without a line. After `-re`, each `{{...}}` inside of the text is a regular expression. The text
//! ends at the last `}}` before the next expectation of the line. Each expectation needs a separate
//! diagnostic. Programs written for MLIR or TFRT expect their messages: a diagnostic's alternative messages
//! meet an expectation as well as its own. Unexpected errors, warnings and remarks are reported, unless
//! [`Verify::OnlyExpected`] was requested. Notes belong to their diagnostics and may be unexpected.
//!
//! This is the behaviour of mlir-opt 19, with these differences: mlir-opt allows one expectation per line,
//! treats a malformed one as an ordinary comment, does not report an unmet `@unknown`, and requires notes to
//! be expected.

use befrost_compiler::diag::{Diagnostic, Severity, Source};
use clap::ValueEnum;

use crate::filecheck::regex::{Node, Regex, parse};

/// The required agreement with the comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Verify {
    /// Each diagnostic is expected, and each expected one is there
    #[value(alias = "")]
    All,
    /// Each expected diagnostic is there; there may be others
    OnlyExpected,
}

/// The expectation of a comment.
#[derive(Debug)]
struct Expectation {
    severity: Severity,
    /// From 1; `None` for `@unknown`.
    line: Option<usize>,
    text: String,
    /// The compiled `text` after `-re`.
    regex: Option<Regex>,
    /// The position of the comment: line and column, from 1.
    written_at: (usize, usize),
}

/// The deviations, as lines `file:line:col: error: ...` in the order of the text; empty if there are none.
pub(super) fn verify(source: &Source, diagnostics: &[Diagnostic], level: Verify) -> Vec<String> {
    let mut problems: Vec<((usize, usize), String)> = Vec::new();
    let mut expectations: Vec<Option<Expectation>> = Vec::new();
    for read in read(&source.text) {
        match read {
            Ok(expectation) => expectations.push(Some(expectation)),
            Err((at, problem)) => problems.push((at, problem)),
        }
    }
    let line_of = |at: u32| source.line_col(at).0 as usize;
    let said = diagnostics.iter().flat_map(|diagnostic| {
        let Diagnostic { severity, span, message, upstream, .. } = diagnostic;
        let notes = diagnostic.notes.iter().map(|note| (Severity::Note, note.span, note.text.as_str(), None));
        std::iter::once((*severity, *span, message.as_str(), upstream.as_deref())).chain(notes)
    });
    for (severity, span, message, upstream) in said {
        let line = span.map(|span| line_of(span.start));
        let meets = |expectation: &Expectation| {
            expectation.severity == severity
                && expectation.line == line
                && (expectation.fits(message) || upstream.is_some_and(|text| expectation.fits(text)))
        };
        let near = |expectation: &Expectation| expectation.line == line && expectation.fits(message);
        match expectations.iter().position(|slot| slot.as_ref().is_some_and(meets)) {
            Some(met) => expectations[met] = None,
            None if severity == Severity::Note => {}
            None if level == Verify::OnlyExpected => {}
            None if let Some(expected) = expectations.iter().flatten().find(|e| near(e)) => {
                let (said, wanted) = (severity.name(), expected.severity.name());
                let problem = format!("'{said}' diagnostic emitted when expecting a '{wanted}'");
                problems.push((expected.written_at, problem));
            }
            None => {
                let at = span.map_or((0, 0), |span| {
                    let (line, column) = source.line_col(span.start);
                    (line as usize, column as usize)
                });
                problems.push((at, format!("unexpected {}: {message}", severity.name())));
            }
        }
    }
    for Expectation { severity, text, written_at, .. } in expectations.into_iter().flatten() {
        problems.push((written_at, format!("expected {} \"{text}\" was not produced", severity.name())));
    }
    problems.sort();
    let shown = problems.into_iter().map(|((line, column), problem)| match line {
        0 => format!("{}: error: {problem}", source.name),
        _ => format!("{}:{line}:{column}: error: {problem}", source.name),
    });
    shown.collect()
}

impl Expectation {
    fn fits(&self, message: &str) -> bool {
        match &self.regex {
            Some(regex) => matches!(regex.find(message.as_bytes()), Ok(Some(_))),
            None => message.contains(&self.text),
        }
    }
}

/// The expression for a text with `{{...}}` in it.
fn regex(text: &str) -> Result<Regex, String> {
    let mut pieces = Vec::new();
    let mut n_groups = 1;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inside, after)) = after.split_once("}}") else {
            return Err("found start of regex with no end '}}'".to_owned());
        };
        pieces.push(Node::literal(before.as_bytes(), false));
        let parsed =
            parse(inside.as_bytes(), n_groups, false).map_err(|why| format!("invalid regex: {why}"))?;
        n_groups += parsed.n_groups;
        pieces.push(parsed.node);
        rest = after;
    }
    pieces.push(Node::literal(rest.as_bytes(), false));
    Regex::new(Node::Concat(pieces), n_groups).map_err(|_| "invalid regex: it is too large".to_owned())
}

type Misread = ((usize, usize), String);

/// The expectations of a text, in order, and the malformed ones.
fn read(text: &str) -> Vec<Result<Expectation, Misread>> {
    const WORDS: [(&str, Severity); 4] = [
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("remark", Severity::Remark),
        ("note", Severity::Note),
    ];
    let lines: Vec<&str> = text.split('\n').collect();
    let holds_one = |line: &str| starts(line).next().is_some();
    let mut all = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let mut found = starts(line).peekable();
        while let Some(at) = found.next() {
            let written_at = (i + 1, at + 1);
            let end = found.peek().copied().unwrap_or(line.len());
            let rest = line.get(at + PREFIX.len()..end).unwrap_or_default();
            let Some((rest, severity)) =
                WORDS.iter().find_map(|(word, severity)| Some((rest.strip_prefix(word)?, *severity)))
            else {
                continue;
            };
            let bad = |problem: &str| Err((written_at, problem.to_owned()));
            let Some((place, rest)) = rest.split_once("{{") else {
                all.push(bad("an expectation needs its text in {{...}}"));
                continue;
            };
            let (is_regex, place) = match place.strip_prefix("-re") {
                Some(place) => (true, place),
                None => (false, place),
            };
            let Some((text, _)) = rest.rsplit_once("}}") else {
                all.push(bad("the text of an expectation ends with }}"));
                continue;
            };
            let target = match place.trim() {
                "" => Some(i as i64),
                "@above" => (0..i).rev().find(|&j| !holds_one(lines[j])).map(|j| j as i64),
                "@below" => (i + 1..lines.len()).find(|&j| !holds_one(lines[j])).map(|j| j as i64),
                "@unknown" => None,
                place => match place.strip_prefix('@').and_then(|offset| offset.parse::<i32>().ok()) {
                    Some(offset) => Some(i as i64 + i64::from(offset)),
                    None => {
                        all.push(bad("an expectation's place is @+N, @-N, @above, @below or @unknown"));
                        continue;
                    }
                },
            };
            let line = match (place.trim(), target) {
                ("@unknown", _) => None,
                (_, Some(target)) if (0..lines.len() as i64).contains(&target) => Some(target as usize + 1),
                _ => {
                    all.push(bad("an expectation's line lies outside of the text"));
                    continue;
                }
            };
            let regex = match is_regex.then(|| regex(text)).transpose() {
                Ok(regex) => regex,
                Err(problem) => {
                    all.push(bad(&problem));
                    continue;
                }
            };
            all.push(Ok(Expectation { severity, line, text: text.to_owned(), regex, written_at }));
        }
    }
    all
}

const PREFIX: &str = "expected-";

/// The positions in a line at which expectations may begin: in its comment.
fn starts(line: &str) -> impl Iterator<Item = usize> + '_ {
    let comment = line.find("//").unwrap_or(line.len());
    line.match_indices(PREFIX).map(|(at, _)| at).filter(move |&at| at > comment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_compiler::diag::Span;

    /// Checks diagnostics at the positions of `^` and `~` of the text: errors `bad` and warnings `odd`.
    fn check(text: &str, want: &[&str]) {
        let source = Source::new("t", text);
        let at = |c: char| {
            text.match_indices(c).map(|(i, _)| Span::new(i as u32, i as u32 + 1)).collect::<Vec<_>>()
        };
        let mut said: Vec<_> =
            at('^').into_iter().map(|span| Diagnostic::error("E0000", "bad thing").at(span)).collect();
        said.extend(at('~').into_iter().map(|span| {
            Diagnostic::error("W0000", "odd").with_severity(Severity::Warning).at(span).note(None, "further")
        }));
        assert_eq!(verify(&source, &said, Verify::All), want, "{text}");
    }

    #[test]
    fn expectations_are_met_by_line_severity_and_text() {
        check("^ // expected-error {{bad}}", &[]);
        check("// expected-error @+1 {{bad thing}}\n^", &[]);
        check("^\n\n// expected-error@-2{{thing}}", &[]);
        check("^~ // expected-error {{bad}} expected-warning {{odd}}", &[]);
        check("// expected-error @below {{bad}}\n// expected-warning @below {{odd}}\n^~", &[]);
        check("^~\n// expected-error @above {{bad}}\n// expected-warning @above {{odd}}", &[]);
        check("", &[]);
    }

    #[test]
    fn upstream_s_words_do_as_well() {
        let text = "^ // expected-error {{theirs}}";
        let source = Source::new("t", text);
        let said = Diagnostic::error("E0000", "ours").at(Span::new(0, 1)).upstream("it is theirs");
        assert_eq!(verify(&source, &[said], Verify::All), Vec::<String>::new());
    }

    #[test]
    fn missing_and_surplus_results_are_reported() {
        check("^", &["t:1:1: error: unexpected error: bad thing"]);
        check("~", &["t:1:1: error: unexpected warning: odd"]);
        check("// expected-error {{bad}}", &["t:1:4: error: expected error \"bad\" was not produced"]);
        check(
            "^\n// expected-error {{bad}}",
            &[
                "t:1:1: error: unexpected error: bad thing",
                "t:2:4: error: expected error \"bad\" was not produced",
            ],
        );
        check(
            "^ // expected-error {{good}}",
            &[
                "t:1:1: error: unexpected error: bad thing",
                "t:1:6: error: expected error \"good\" was not produced",
            ],
        );
        check("^^ // expected-error {{bad}}", &["t:1:2: error: unexpected error: bad thing"]);
        check(
            "^ // expected-error {{bad}} expected-error {{bad}}",
            &["t:1:29: error: expected error \"bad\" was not produced"],
        );
        check(
            "^ // expected-warning {{bad}}",
            &[
                "t:1:6: error: 'error' diagnostic emitted when expecting a 'warning'",
                "t:1:6: error: expected warning \"bad\" was not produced",
            ],
        );
    }

    #[test]
    fn regular_expressions() {
        check("^ // expected-error-re {{b{{[a-d]+}} th{{.*}}}}", &[]);
        check("^ // expected-error-re@+0 {{bad}}", &[]);
        check(
            "^ // expected-error {{b{{[a-d]+}}}}",
            &[
                "t:1:1: error: unexpected error: bad thing",
                "t:1:6: error: expected error \"b{{[a-d]+}}\" was not produced",
            ],
        );
        check(
            "^~ // expected-error-re {{{{x+}}}} expected-warning {{odd}}",
            &[
                "t:1:1: error: unexpected error: bad thing",
                "t:1:7: error: expected error \"{{x+}}\" was not produced",
            ],
        );
        check("// expected-error-re {{ {{[}} }}", &["t:1:4: error: invalid regex: unbalanced bracket"]);
        check("// expected-error-re {{ {{a }}", &["t:1:4: error: found start of regex with no end '}}'"]);
    }

    #[test]
    fn notes_may_be_expected_but_need_not() {
        check("~ // expected-warning {{odd}}\n// expected-note @unknown {{further}}", &[]);
        check(
            "// expected-note @unknown {{further}}",
            &["t:1:4: error: expected note \"further\" was not produced"],
        );
    }

    #[test]
    fn malformed_expectations_are_errors() {
        check("// expected-error bad", &["t:1:4: error: an expectation needs its text in {{...}}"]);
        check("// expected-error {{bad", &["t:1:4: error: the text of an expectation ends with }}"]);
        check(
            "// expected-error @next {{bad}}",
            &["t:1:4: error: an expectation's place is @+N, @-N, @above, @below or @unknown"],
        );
        check(
            "// expected-error @-1 {{bad}}",
            &["t:1:4: error: an expectation's line lies outside of the text"],
        );
        check(
            "// expected-errors are fine\nexpected-error {{x}}",
            &["t:1:4: error: an expectation needs its text in {{...}}"],
        );
    }
}
