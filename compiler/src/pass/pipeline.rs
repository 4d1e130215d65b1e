//! The textual form of pipelines.
//!
//! ```text
//! pipeline := element (',' element)*
//! element  := pass ['{' option* '}'] | anchor '(' pipeline ')'
//! option   := name ['=' value]                 a flag without a value is on
//! ```
//!
//! Options are separated by blanks. A value ends at a blank or at the `}`, unless it is quoted or in
//! brackets.

use super::{OptionKind, OptionValue, Pass};
use crate::diag::factory::nearest;
use crate::diag::{Diagnostic, Span};
use std::fmt::Write;
use std::time::Duration;

/// Maximum depth of nested pipelines.
const MAX_DEPTH: usize = 32;

/// An element of a pipeline.
#[derive(Clone)]
pub(super) enum Step {
    Pass(Instance),
    Nest(Nest),
}

/// An occurrence of a pass in a pipeline.
#[derive(Clone)]
pub(super) struct Instance {
    pub(super) pass: &'static Pass,
    /// In the order of the pass's table.
    pub(super) options: Vec<OptionValue>,
    pub(super) spent: Duration,
    /// In the order of the pass's table.
    pub(super) counters: Vec<u64>,
}

/// A pipeline for each op of this name, or for each op if the name is `any`.
#[derive(Clone)]
pub(super) struct Nest {
    pub(super) anchor: String,
    pub(super) steps: Vec<Step>,
    pub(super) spent: Duration,
}

impl Instance {
    /// An occurrence with default options.
    pub(super) fn new(pass: &'static Pass) -> Self {
        let options = pass.options.iter().map(|o| o.kind.default_value()).collect();
        Instance { pass, options, spent: Duration::ZERO, counters: vec![0; pass.statistics.len()] }
    }
}

/// The text of a pipeline, without options that have their default value.
pub(super) fn text(steps: &[Step]) -> String {
    let mut out = String::new();
    write_steps(&mut out, steps);
    out
}

fn write_steps(out: &mut String, steps: &[Step]) {
    for (i, step) in steps.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        match step {
            Step::Pass(instance) => {
                out.push_str(instance.pass.name);
                let set = instance.pass.options.iter().zip(&instance.options);
                let texts: Vec<String> = set
                    .filter(|(o, v)| o.kind.default_value() != **v)
                    .map(|(o, v)| format!("{}={v}", o.name))
                    .collect();
                if !texts.is_empty() {
                    _ = write!(out, "{{{}}}", texts.join(" "));
                }
            }
            Step::Nest(nest) => {
                out.push_str(&nest.anchor);
                out.push('(');
                write_steps(out, &nest.steps);
                out.push(')');
            }
        }
    }
}

pub(super) fn parse(text: &str, passes: &'static [Pass]) -> Result<Vec<Step>, Box<Diagnostic>> {
    let mut parser = Parser { text, passes, at: 0, depth: 0 };
    let steps = parser.steps()?;
    if parser.at < text.len() {
        return Err(parser.error(
            "E0501",
            parser.at,
            parser.at + 1,
            "expected `,` or the end of the pipeline",
        ));
    }
    Ok(steps)
}

struct Parser<'a> {
    text: &'a str,
    passes: &'static [Pass],
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    #[allow(clippy::unused_self, reason = "as all others")]
    fn error(
        &self,
        code: &'static str,
        start: usize,
        end: usize,
        message: impl Into<String>,
    ) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(code, message).at(Span::new(start as u32, end as u32)))
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        self.blanks();
        let found = self.text[self.at..].starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        self.blanks();
        found
    }

    fn steps(&mut self) -> Result<Vec<Step>, Box<Diagnostic>> {
        let mut steps = Vec::new();
        self.blanks();
        if self.at == self.text.len() || self.text[self.at..].starts_with(')') {
            return Ok(steps);
        }
        loop {
            steps.push(self.step()?);
            if !self.eat(',') {
                return Ok(steps);
            }
        }
    }

    fn step(&mut self) -> Result<Step, Box<Diagnostic>> {
        self.blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let end = start
            + rest
                .find(|c: char| matches!(c, ',' | '(' | ')' | '{' | '}') || c.is_whitespace())
                .unwrap_or(rest.len());
        let name = &self.text[start..end];
        if name.is_empty() {
            let message = "expected the name of a pass or of an operation";
            return Err(self.error("E0501", start, start + 1, message));
        }
        self.at = end;
        if self.eat('(') {
            return self.nest(name, start, end);
        }
        let Some(pass) = self.passes.iter().find(|p| p.is_called(name)) else {
            let d = self.error("E0502", start, end, format!("unknown pass `{name}`"));
            return Err(help(*d, name, self.passes.iter().map(|p| p.name), "the passes are: "));
        };
        let mut instance = Instance::new(pass);
        if self.eat('{') {
            self.options(&mut instance, end)?;
        }
        Ok(Step::Pass(instance))
    }

    fn nest(&mut self, name: &str, start: usize, end: usize) -> Result<Step, Box<Diagnostic>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("pipelines nest deeper than {MAX_DEPTH}");
            return Err(self.error("E0501", start, end, message));
        }
        let steps = self.steps()?;
        if !self.eat(')') {
            return Err(match self.text[self.at..].chars().next() {
                Some(c) => self.error("E0501", self.at, self.at + c.len_utf8(), "expected `,` or `)`"),
                None => self.error("E0501", end, end + 1, "this `(` is never closed"),
            });
        }
        self.depth -= 1;
        Ok(Step::Nest(Nest { anchor: name.to_owned(), steps, spent: Duration::ZERO }))
    }

    /// Parses options up to the `}`; `open` is the offset of the `{`.
    fn options(&mut self, instance: &mut Instance, open: usize) -> Result<(), Box<Diagnostic>> {
        while !self.eat('}') {
            let start = self.at;
            let rest = &self.text[start..];
            if rest.is_empty() {
                return Err(self.error("E0501", open, open + 1, "this `{` is never closed"));
            }
            let end = start
                + rest.find(|c: char| matches!(c, '=' | '}') || c.is_whitespace()).unwrap_or(rest.len());
            let name = &self.text[start..end];
            self.at = end;
            let value = if rest[end - start..].starts_with('=') {
                self.at += 1;
                Some(self.value(open)?)
            } else {
                None
            };
            let pass = instance.pass;
            let Some(at) = pass.options.iter().position(|o| o.name == name) else {
                let message = format!("the pass `{}` has no option `{name}`", pass.name);
                let d = self.error("E0503", start, end, message);
                let names = pass.options.iter().map(|o| o.name);
                return Err(help(*d, name, names, "its options are: "));
            };
            let kind = pass.options[at].kind;
            match convert(kind, value) {
                Some(value) => instance.options[at] = value,
                None => {
                    let message = format!("the option `{name}` of `{}` takes {}", pass.name, expected(kind));
                    return Err(self.error("E0503", start, self.at, message));
                }
            }
        }
        Ok(())
    }

    /// Parses a value, up to a blank or the closing bracket.
    fn value(&mut self, open: usize) -> Result<&'a str, Box<Diagnostic>> {
        let text = self.text;
        let start = self.at;
        let mut depth = 0;
        let mut quote = None;
        for (i, c) in text[start..].char_indices() {
            match (quote, c) {
                (Some(q), _) if c == q => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '{' | '(' | '[') => depth += 1,
                (None, '}' | ')' | ']') if depth > 0 => depth -= 1,
                (None, '}') => return Ok(self.end_value(start, start + i)),
                (None, _) if c.is_whitespace() && depth == 0 => return Ok(self.end_value(start, start + i)),
                (None, _) => {}
            }
        }
        Err(self.error("E0501", open, open + 1, "this `{` is never closed"))
    }

    fn end_value(&mut self, start: usize, end: usize) -> &'a str {
        self.at = end;
        let value = &self.text[start..end];
        let bare = |q: char| value.strip_prefix(q).and_then(|v| v.strip_suffix(q));
        bare('"').or_else(|| bare('\'')).unwrap_or(value)
    }
}

/// Adds the nearest name, or all names, as help.
fn help<'n>(
    d: Diagnostic,
    name: &str,
    names: impl Iterator<Item = &'n str> + Clone,
    all: &str,
) -> Box<Diagnostic> {
    Box::new(match nearest(name, names.clone()) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => {
            let names: Vec<&str> = names.collect();
            if names.is_empty() {
                d.help("it has none")
            } else {
                d.help(format!("{all}{}", names.join(", ")))
            }
        }
    })
}

fn convert(kind: OptionKind, value: Option<&str>) -> Option<OptionValue> {
    Some(match (kind, value) {
        (OptionKind::Flag(_), None | Some("true" | "1")) => OptionValue::Flag(true),
        (OptionKind::Flag(_), Some("false" | "0")) => OptionValue::Flag(false),
        (OptionKind::Number(_), Some(text)) => OptionValue::Number(text.parse().ok()?),
        (OptionKind::Text(_), Some(text)) => OptionValue::Text(text.to_owned()),
        (OptionKind::Word(_, words), Some(text)) if words.contains(&text) => {
            OptionValue::Text(text.to_owned())
        }
        _ => return None,
    })
}

fn expected(kind: OptionKind) -> String {
    match kind {
        OptionKind::Flag(_) => "`true` or `false`".to_owned(),
        OptionKind::Number(_) => "a number".to_owned(),
        OptionKind::Text(_) => "a text".to_owned(),
        OptionKind::Word(_, words) => format!("one of {}", words.join(", ")),
    }
}
