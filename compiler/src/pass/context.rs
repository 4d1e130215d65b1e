//! Context of a pass: options, statistics, diagnostics and output.

use super::{OptionKind, Pass};
use crate::diag::Diagnostic;
use std::cell::{Cell, RefCell};

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(i64),
    /// A string, possibly empty.
    Text(String),
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OptionValue::Flag(on) => write!(f, "{on}"),
            OptionValue::Number(n) => write!(f, "{n}"),
            OptionValue::Text(text) if text.contains(char::is_whitespace) => write!(f, "\"{text}\""),
            OptionValue::Text(text) => f.write_str(text),
        }
    }
}

/// The context of one run of a pass.
pub struct PassCx<'a> {
    pass: &'static Pass,
    options: &'a [OptionValue],
    counters: Vec<Cell<u64>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    printed: RefCell<String>,
}

impl<'a> PassCx<'a> {
    /// A context for one run of `pass`; `options` are in the order of the pass's table.
    pub(super) fn new(pass: &'static Pass, options: &'a [OptionValue]) -> Self {
        PassCx {
            pass,
            options,
            counters: vec![Cell::new(0); pass.statistics.len()],
            diagnostics: RefCell::default(),
            printed: RefCell::default(),
        }
    }

    fn option(&self, name: &str, is: fn(OptionKind) -> bool) -> &OptionValue {
        match self.pass.options.iter().zip(self.options).find(|(o, _)| o.name == name && is(o.kind)) {
            Some((_, value)) => value,
            None => panic!("the table of {} has no such option: {name}", self.pass.name),
        }
    }

    /// The value of a flag.
    ///
    /// # Panics
    /// If the pass's table has no such option.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.option(name, |k| matches!(k, OptionKind::Flag(_))), OptionValue::Flag(true))
    }

    /// The value of an integer option.
    ///
    /// # Panics
    /// If the pass's table has no such option.
    pub fn number(&self, name: &str) -> i64 {
        match self.option(name, |k| matches!(k, OptionKind::Number(_))) {
            OptionValue::Number(n) => *n,
            OptionValue::Flag(_) | OptionValue::Text(_) => 0,
        }
    }

    /// The value of a string option or of a choice of words.
    ///
    /// # Panics
    /// If the pass's table has no such option.
    pub fn text(&self, name: &str) -> &str {
        match self.option(name, |k| matches!(k, OptionKind::Text(_) | OptionKind::Word(..))) {
            OptionValue::Text(text) => text,
            OptionValue::Flag(_) | OptionValue::Number(_) => "",
        }
    }

    /// Adds `n` to a statistic.
    ///
    /// # Panics
    /// If the pass's table has no such statistic.
    pub fn count(&self, name: &str, n: u64) {
        match self.pass.statistics.iter().zip(&self.counters).find(|(s, _)| s.0 == name) {
            Some((_, counter)) => counter.set(counter.get() + n),
            None => panic!("the table of {} has no such statistic: {name}", self.pass.name),
        }
    }

    /// Reports a diagnostic. An error makes the pass fail.
    pub fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Prints text for the user, the output of printing passes.
    pub fn print(&self, text: &str) {
        self.printed.borrow_mut().push_str(text);
    }

    /// The outcome of the run: counters in the order of the table, diagnostics, text.
    pub(super) fn finish(self) -> (Vec<u64>, Vec<Diagnostic>, String) {
        let counters = self.counters.into_iter().map(Cell::into_inner).collect();
        (counters, self.diagnostics.into_inner(), self.printed.into_inner())
    }
}
