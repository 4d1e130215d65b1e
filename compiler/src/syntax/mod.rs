//! Text to IR.
//!
//! ```text
//! text ──lex──▶ tokens ──shape──▶ marked tokens, regions ──parse──▶ Item ──lower──▶ ir::Module
//!       logos          brackets matched           lalrpop  (one at a time)  names, types, custom forms
//! ```
//!
//! Operations without any structure of their own, as most are, need no grammar: `shortcut` reads them from their tokens.
//!
//! Every stage goes on after an error, so that one run reports all that is wrong; the diagnostics come in source order.
//! Nothing here panics, recurses deeper than brackets may nest (256), or allocates more than a multiple of the text.
//!
//! What it accepts is MLIR's syntax: generic form for any op, custom forms for registered ones.

mod ast;
mod errors;
#[cfg(test)]
mod hostile;
mod lex;
mod lower;
#[cfg(test)]
mod mistakes;
mod parse;
#[cfg(test)]
mod properties;
pub(crate) mod resources;
mod shape;
mod shortcut;
#[cfg(test)]
mod tests;
mod token;

use crate::diag::{self, Diagnostic, MAX_ERRORS, Source};
use crate::dialects::Registry;
use crate::ir::Module;

/// How to parse.
#[derive(Clone, Copy)]
pub struct ParseOptions {
    /// Accept operations that no dialect defines, in generic form.
    pub allow_unregistered: bool,
    /// The operations that are known.
    pub registry: &'static Registry,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { allow_unregistered: false, registry: Registry::standard() }
    }
}

/// What came of it.
pub struct ParseResult {
    /// The program; present exactly if there were no errors.
    pub module: Option<Module>,
    /// Everything that was found wrong, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The text with its lines, for showing diagnostics.
    pub source: Source,
}

/// Reads a program. The result is not verified: see [`crate::verify::verify`].
pub fn parse(file_name: &str, text: &str, options: &ParseOptions) -> ParseResult {
    parse_source(Source::new(file_name, text), options)
}

/// The same, for a text whose lines are known.
pub fn parse_source(source: Source, options: &ParseOptions) -> ParseResult {
    parse_with(source, options, true)
}

/// The same; operations that are easily read are left to the grammar as well, unless `shortcut`.
fn parse_with(source: Source, options: &ParseOptions, shortcut: bool) -> ParseResult {
    let text = source.text.as_ref();
    let mut diagnostics = Vec::new();
    if text.len() >= u32::MAX as usize {
        diagnostics.push(errors::too_long());
        return ParseResult { module: None, diagnostics, source };
    }
    let mut toks = lex::lex(text, &mut diagnostics);
    let shape = shape::shape(text, &mut toks, options.registry, &mut diagnostics);
    let items = parse::Items::new(text, &toks, &shape, &diagnostics, shortcut);
    let module = lower::lower(&items, &source, options, &mut diagnostics);
    diag::sort(&mut diagnostics);
    if diagnostics.len() >= MAX_ERRORS {
        diagnostics.push(errors::too_many());
    }
    let module = if diag::has_errors(&diagnostics) { None } else { Some(module) };
    ParseResult { module, diagnostics, source }
}
