//! Conditions on features: `avx2 && !(debug || linux)`.
//!
//! A feature's name is made of letters, digits and `-+=._`. `true` and `false` are built in. `*`, which
//! `script.rs` accepts outside REQUIRES, is always true.

use std::collections::BTreeSet;

/// Maximum nesting depth of parentheses and negations.
const MAX_DEPTH: usize = 50;

/// A parsed condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Constant(bool),
    Feature(String),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Condition {
    /// Parses `text`.
    pub(super) fn parse(text: &str) -> Result<Condition, String> {
        let mut parser = ConditionParser { rest: text.trim(), depth: 0 };
        let condition = parser.any()?;
        if parser.rest.is_empty() {
            return Ok(condition);
        }
        Err(format!("cannot understand '{}' in the condition '{text}'", parser.rest))
    }

    /// Evaluates the condition for `features`.
    pub(super) fn holds(&self, features: &BTreeSet<String>) -> bool {
        match self {
            Condition::Constant(value) => *value,
            Condition::Feature(name) => features.contains(name),
            Condition::Not(inner) => !inner.holds(features),
            Condition::All(parts) => parts.iter().all(|p| p.holds(features)),
            Condition::Any(parts) => parts.iter().any(|p| p.holds(features)),
        }
    }
}

struct ConditionParser<'a> {
    rest: &'a str,
    depth: usize,
}

impl ConditionParser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(after) => {
                self.rest = after.trim_start();
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.all()?];
        while self.eat("||") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.single()?];
        while self.eat("&&") {
            parts.push(self.single()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn single(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the condition is nested too deeply".to_owned());
        }
        let condition = if self.eat("!") {
            Condition::Not(Box::new(self.single()?))
        } else if self.eat("(") {
            let inner = self.any()?;
            if !self.eat(")") {
                return Err("the condition lacks a ')'".to_owned());
            }
            inner
        } else {
            self.name()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn name(&mut self) -> Result<Condition, String> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-+=._".contains(c)))
            .unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        self.rest = after.trim_start();
        match name {
            "" => Err(format!("expected a feature's name before '{}'", self.rest)),
            "true" => Ok(Condition::Constant(true)),
            "false" => Ok(Condition::Constant(false)),
            name => Ok(Condition::Feature(name.to_owned())),
        }
    }
}
