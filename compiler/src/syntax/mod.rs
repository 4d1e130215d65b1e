//! The parser: text to IR.
//!
//! ```text
//! text ──lex──▶ tokens ──structure──▶ marked tokens, regions ──parse──▶ Item ──lower──▶ ir::Module
//!       logos          brackets matched               lalrpop  (one at a time)  names, types, custom forms
//! ```
//!
//! Most operations have no nested structure and need no grammar: `shortcut` parses them from their tokens.
//!
//! Every stage continues after an error, so that one run reports all errors; the diagnostics are in source
//! order. The parser never panics. The depth of its recursion is limited, as is the nesting of brackets
//! (256), and its memory is proportional to the text.
//!
//! The language is MLIR's: generic form for any op, custom forms for registered ones.

mod ast;
mod errors;
mod lex;
mod lower;
mod parse;
pub(crate) mod resources;
mod shortcut;
mod structure;
#[cfg(test)]
mod tests;
mod token;

use crate::diag::{self, Diagnostic, MAX_ERRORS, Source};
use crate::dialects::Registry;
use crate::ir::Module;

/// Options of the parser.
#[derive(Clone, Copy)]
pub struct ParseOptions {
    /// Accept unregistered operations, in generic form.
    pub allow_unregistered: bool,
    /// The registered operations.
    pub registry: &'static Registry,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { allow_unregistered: false, registry: Registry::standard() }
    }
}

/// Result of the parser.
pub struct ParseResult {
    /// The program; present if and only if there were no errors.
    pub module: Option<Module>,
    /// All diagnostics, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The text with its lines, for rendering diagnostics.
    pub source: Source,
}

/// Parses a program. The result is not verified: see [`crate::verify::verify`].
pub fn parse(file_name: &str, text: &str, options: &ParseOptions) -> ParseResult {
    parse_source(Source::new(file_name, text), options)
}

/// Parses a text whose lines are known.
pub fn parse_source(source: Source, options: &ParseOptions) -> ParseResult {
    parse_with(source, options, true)
}

/// Parses a text. Without `shortcut` the grammar parses plain operations as well.
fn parse_with(source: Source, options: &ParseOptions, shortcut: bool) -> ParseResult {
    let text = source.text.as_ref();
    let mut diagnostics = Vec::new();
    if text.len() >= u32::MAX as usize {
        diagnostics.push(errors::too_long());
        return ParseResult { module: None, diagnostics, source };
    }
    let mut toks = lex::lex(text, &mut diagnostics);
    let structure = structure::structure(text, &mut toks, options.registry, &mut diagnostics);
    let items = parse::Items::new(text, &toks, &structure, &diagnostics, shortcut);
    let module = lower::lower(&items, &source, options, &mut diagnostics);
    diag::sort(&mut diagnostics);
    if diagnostics.len() >= MAX_ERRORS {
        diagnostics.push(errors::too_many());
    }
    let module = if diag::has_errors(&diagnostics) { None } else { Some(module) };
    ParseResult { module, diagnostics, source }
}
