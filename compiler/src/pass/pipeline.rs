//! The textual form of pipelines.
//!
//! ```text
//! pipeline := element (',' element)*
//! element  := pass ['{' options '}'] | anchor '(' pipeline ')'
//! ```

use super::{Pass, find, passes};
use crate::diag::factory::nearest;
use crate::diag::{Diagnostic, Span};

/// How deep pipelines may nest.
const MAX_DEPTH: usize = 32;

/// A part of a pipeline.
#[derive(Clone)]
pub(super) enum Step {
    Pass(&'static Pass),
    /// Runs inside of each op of this name (or any, if `any`).
    Nested(String, Vec<Step>),
}

pub(super) fn parse(text: &str) -> Result<Vec<Step>, Box<Diagnostic>> {
    let mut parser = Parser { text, at: 0, depth: 0 };
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
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(
        &self,
        code: &'static str,
        start: usize,
        end: usize,
        message: impl Into<String>,
    ) -> Box<Diagnostic> {
        let text: String = message.into();
        Box::new(
            Diagnostic::error(code, format!("{text} (in the pipeline `{}`)", self.text))
                .at(Span::new(start as u32, end as u32)),
        )
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
            return Err(self.error(
                "E0501",
                start,
                start + 1,
                "expected the name of a pass or of an operation",
            ));
        }
        self.at = end;
        if self.eat('(') {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(self.error(
                    "E0501",
                    start,
                    end,
                    format!("pipelines nest deeper than {MAX_DEPTH}"),
                ));
            }
            let steps = self.steps()?;
            if !self.eat(')') {
                return Err(self.error("E0501", start, self.at, "this `(` is never closed"));
            }
            self.depth -= 1;
            return Ok(Step::Nested(name.to_owned(), steps));
        }
        let Some(pass) = find(name) else {
            let d = self.error("E0502", start, end, format!("unknown pass `{name}`"));
            let names: Vec<&str> = passes().iter().map(|p| p.name).collect();
            return Err(match nearest(name, names.iter().copied()) {
                Some(near) => Box::new(d.help(format!("did you mean `{near}`?"))),
                None => Box::new(d.help(format!("the passes are: {}", names.join(", ")))),
            });
        };
        if self.eat('{') {
            let rest = &self.text[self.at..];
            let options = rest.split('}').next().unwrap_or("").trim();
            if !options.is_empty() {
                return Err(self.error(
                    "E0503",
                    start,
                    end,
                    format!("the pass `{name}` has no options, found `{options}`"),
                ));
            }
            if !self.eat('}') {
                return Err(self.error("E0501", start, end, "this `{` is never closed"));
            }
        }
        Ok(Step::Pass(pass))
    }
}
