//! From the check file to the list of checks.
//!
//! A directive is a prefix that is not part of a longer word, a suffix, optionally `{LITERAL}`, and a colon.
//! If several prefixes match, the first in the file is taken, and of those at one position the longest. A
//! near miss of a directive (`CHECK-NOT-NEXT:`, `CHECK_NEXT:`, `CHECK-COUNT-x:`) is an error, because an
//! expectation that is silently ignored is a false pass. A comment prefix (`COM:`, `RUN:`) hides the rest of
//! its line.
//!
//! CHECK-NOT and CHECK-DAG lines belong to the next other check; those at the end belong to a check of the
//! end of the file. `--implicit-check-not` patterns precede those of every check.
//!
//! One intentional deviation from LLVM: if the file ends right after the colon, LLVM takes the text after the
//! *prefix* as the pattern (`CHECK-NOT:` looks for `-NOT:`). Here that is an empty check string, an error.

use std::collections::BTreeSet;

use super::numeric::{self, Mode, Names};
use super::pattern::{Kind, Pattern, PatternError, PatternPlace, Variables, variable_name};
use super::source::{Severity, Text};
use super::{Options, Source};

/// A CHECK-NOT or CHECK-DAG.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    pub(crate) pattern: Pattern,
    pub(crate) prefix: String,
    /// The text that contains the pattern: 0 the check file, n the nth implicit one.
    pub(crate) text: usize,
}

/// A check with the CHECK-DAGs and CHECK-NOTs before it.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) pattern: Pattern,
    pub(crate) prefix: String,
    pub(crate) before: Vec<Attached>,
}

/// A parsed check file.
#[derive(Debug)]
pub(crate) struct CheckFile {
    /// The check file, then one text for each `--implicit-check-not`.
    pub(crate) texts: Vec<Text>,
    pub(crate) checks: Vec<Check>,
    pub(crate) variables: Variables,
}

/// The text after a prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Suffix {
    /// Not a directive.
    None,
    Comment,
    Directive {
        kind: Kind,
        literal: bool,
    },
    BadNot,
    BadCount,
    Misspelled,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Parses a check file.
///
/// # Errors
/// A message, ready to print, for the first problem.
pub(crate) fn read(options: &Options, source: Source<'_>) -> Result<CheckFile, String> {
    let check_prefixes = prefixes(&options.check_prefixes, &["CHECK"]);
    let comment_prefixes = prefixes(&options.comment_prefixes, &["COM", "RUN"]);
    validate_prefixes(options)?;
    let mut names = Names::default();
    let mut variables = define(&options.defines, &mut names)?;

    let mut texts = vec![Text::canonical(source.name, source.bytes, options.strict_whitespace)];
    let mut implicit = Vec::new();
    for pattern in &options.implicit_check_not {
        let before = "-implicit-check-not='";
        let shown = format!("{before}{pattern}'");
        texts.push(Text { name: "command line".to_owned(), bytes: shown.into_bytes() });
        let place = PatternPlace { prefix: "IMPLICIT-CHECK", at: before.len(), line: 0 };
        let parsed = Pattern::parse(Kind::Not, false, pattern.as_bytes(), place, options, &mut names);
        let text = texts.len() - 1;
        let pattern = parsed.map_err(|e| located(&texts[text], &e))?;
        implicit.push(Attached { pattern, prefix: "IMPLICIT-CHECK".to_owned(), text });
    }

    let file = &texts[0];
    let mut scanner =
        Scanner { text: &file.bytes, at: 0, checks: &check_prefixes, comments: &comment_prefixes };
    let mut unused: BTreeSet<&str> = check_prefixes.iter().copied().collect();
    let mut before = implicit.clone();
    let mut checks: Vec<Check> = Vec::new();
    // The line number of the byte at `counted`.
    let (mut line, mut counted) = (1, 0);
    while let Some((prefix, prefix_at, suffix)) = scanner.next_directive() {
        let fail = |message: String| Err(located(file, &PatternError { at: prefix_at, message }));
        let line_text = scanner.rest_of_line(options);
        let (kind, literal) = match suffix {
            Suffix::None | Suffix::Comment => continue,
            Suffix::Misspelled => {
                return fail(format!("misspelled directive behind '{prefix}': `_` for `-`"));
            }
            Suffix::BadNot => return fail(format!("unsupported -NOT combo on prefix '{prefix}'")),
            Suffix::BadCount => {
                return fail(format!("invalid count in -COUNT specification on prefix '{prefix}'"));
            }
            Suffix::Directive { kind, literal } => (kind, literal),
        };
        unused.remove(prefix);
        line += file.bytes[counted..prefix_at].iter().filter(|&&b| b == b'\n').count();
        counted = prefix_at;
        let (start, end) = line_text;
        let place = PatternPlace { prefix, at: start, line };
        let pattern = Pattern::parse(kind, literal, &file.bytes[start..end], place, options, &mut names)
            .map_err(|e| located(file, &e))?;
        let name = kind.name(prefix);
        match kind {
            Kind::Label if pattern.has_variable() => {
                return fail(format!("found '{name}:' with variable definition or use"));
            }
            Kind::Next | Kind::Same | Kind::Empty if checks.is_empty() => {
                return fail(format!("found '{name}' without previous '{prefix}: line"));
            }
            Kind::Dag | Kind::Not => before.push(Attached { pattern, prefix: prefix.to_owned(), text: 0 }),
            _ => {
                let before = std::mem::replace(&mut before, implicit.clone());
                checks.push(Check { pattern, prefix: prefix.to_owned(), before });
            }
        }
    }

    let none_used = unused.len() == check_prefixes.len();
    let some_unused = !options.allow_unused_prefixes && !unused.is_empty();
    let implicit_only = !implicit.is_empty() && options.check_prefixes.is_empty();
    if (none_used || some_unused) && !implicit_only {
        let names: Vec<String> =
            check_prefixes.iter().filter(|p| unused.contains(*p)).map(|p| format!("'{p}:'")).collect();
        let plural = if names.len() > 1 { "es" } else { "" };
        let name = &file.name;
        return Err(format!(
            "{name}: error: no check strings found with prefix{plural} {}\n",
            names.join(", ")
        ));
    }
    if !before.is_empty() {
        let pattern = Pattern::end_of_file(scanner.at);
        let prefix = check_prefixes.first().copied().unwrap_or_default().to_owned();
        checks.push(Check { pattern, prefix, before });
    }
    variables.local_numbers = names.locals();
    Ok(CheckFile { texts, checks, variables })
}

/// The error as a message with its position.
fn located(text: &Text, error: &PatternError) -> String {
    let mut out = String::new();
    text.message(&mut out, error.at, Severity::Error, &error.message);
    out
}

fn prefixes<'a>(given: &'a [String], default: &[&'a str]) -> Vec<&'a str> {
    if given.is_empty() { default.to_vec() } else { given.iter().map(String::as_str).collect() }
}

/// Checks that each given prefix is a word, and that all differ, also from the defaults still in force.
fn validate_prefixes(options: &Options) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    if options.check_prefixes.is_empty() {
        seen.insert("CHECK");
    }
    if options.comment_prefixes.is_empty() {
        seen.extend(["COM", "RUN"]);
    }
    let given = options.check_prefixes.iter().map(|p| ("check", p));
    for (kind, prefix) in given.chain(options.comment_prefixes.iter().map(|p| ("comment", p))) {
        if prefix.is_empty() {
            return Err(format!("error: supplied {kind} prefix must not be the empty string\n"));
        }
        if !prefix.bytes().all(is_word) {
            return Err(format!(
                "error: supplied {kind} prefix must consist of letters, digits, hyphens and underscores: '{prefix}'\n"
            ));
        }
        if !seen.insert(prefix) {
            return Err(format!(
                "error: supplied {kind} prefix must be unique among check and comment prefixes: '{prefix}'\n"
            ));
        }
    }
    Ok(())
}

/// The variables of `-D`. The first definition of a name is taken, as in LLVM.
fn define(definitions: &[String], names: &mut Names) -> Result<Variables, String> {
    let mut variables = Variables::default();
    for definition in definitions {
        let fail = |what: &str| Err(format!("error: {what} in command-line definition '-D{definition}'\n"));
        let Some((name, value)) = definition.split_once('=') else {
            return fail("missing equal sign");
        };
        if let Some(name) = name.strip_prefix('#') {
            let block = format!("{name}:{value}");
            let mode = Mode { legacy: false, line: None };
            let block = match numeric::parse(block.as_bytes(), 0, mode, names) {
                Ok(block) => block,
                Err(error) => return fail(&error.message),
            };
            if let Err(errors) = variables.numbers.define_by(&block) {
                let messages: Vec<&str> = errors.iter().map(|e| e.message.as_str()).collect();
                return fail(&messages.join(", "));
            }
            continue;
        }
        let Some(name) = variable_name(name.as_bytes()) else {
            return fail(if name.is_empty() { "missing variable name" } else { "invalid variable name" });
        };
        if !names.define_string(&name) {
            return fail(&format!("numeric variable with name '{name}' already exists"));
        }
        variables.strings.entry(name).or_insert_with(|| value.as_bytes().to_vec());
    }
    Ok(variables)
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    checks: &'a [&'a str],
    comments: &'a [&'a str],
}

impl<'a> Scanner<'a> {
    /// The next directive: its prefix, the prefix's position, and the suffix. Leaves the scanner after the
    /// colon.
    fn next_directive(&mut self) -> Option<(&'a str, usize, Suffix)> {
        let mut skipped_from = self.at;
        loop {
            let prefix_at = (self.at..self.text.len()).find(|&at| self.prefix_at(at).is_some())?;
            let prefix = self.prefix_at(prefix_at)?;
            let in_word = prefix_at > skipped_from && is_word(self.text[prefix_at - 1]);
            if !in_word {
                let (suffix, end) = self.suffix(prefix, prefix_at + prefix.len());
                if suffix != Suffix::None {
                    self.at = end;
                    return Some((prefix, prefix_at, suffix));
                }
            }
            let rest = &self.text[prefix_at + prefix.len()..];
            let word = rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
            self.at = prefix_at + prefix.len() + word;
            skipped_from = self.at;
        }
    }

    /// The longest prefix at `at`.
    fn prefix_at(&self, at: usize) -> Option<&'a str> {
        let all = self.checks.iter().chain(self.comments).copied();
        all.filter(|p| self.text[at..].starts_with(p.as_bytes())).max_by_key(|p| p.len())
    }

    /// The suffix at `at`, after `prefix`, and its end.
    fn suffix(&self, prefix: &str, at: usize) -> (Suffix, usize) {
        let mut rest = &self.text[at..];
        let end = |rest: &[u8]| self.text.len() - rest.len();
        if rest.is_empty() {
            return (Suffix::None, at);
        }
        if self.comments.contains(&prefix) {
            return if eat(&mut rest, b":") { (Suffix::Comment, end(rest)) } else { (Suffix::None, at) };
        }
        if matches!(rest[0], b':' | b'{') {
            let suffix = modifiers(&mut rest, Kind::Plain(1));
            return (suffix, end(rest));
        }
        let misspelled = eat(&mut rest, b"_");
        if !misspelled && !eat(&mut rest, b"-") {
            return (Suffix::None, at);
        }
        let suffix = hyphenated(&mut rest);
        let suffix = if misspelled && suffix != Suffix::None { Suffix::Misspelled } else { suffix };
        (suffix, end(rest))
    }

    /// The directive's pattern as a range of the text; leaves the scanner at the end of its line.
    fn rest_of_line(&mut self, options: &Options) -> (usize, usize) {
        let rest = &self.text[self.at..];
        let exact = options.strict_whitespace && options.match_full_lines;
        let blanks = if exact {
            0
        } else {
            rest.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(rest.len())
        };
        let start = self.at + blanks;
        let rest = &self.text[start..];
        let end = start + rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        self.at = end;
        (start, end)
    }
}

fn eat(rest: &mut &[u8], what: &[u8]) -> bool {
    match rest.strip_prefix(what) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

/// The suffix after a `-`.
fn hyphenated(rest: &mut &[u8]) -> Suffix {
    if eat(rest, b"COUNT-") {
        let digits = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
        let count = std::str::from_utf8(&rest[..digits]).ok().and_then(|d| d.parse::<u32>().ok());
        *rest = &rest[digits..];
        return match count {
            Some(count @ 1..=0x7fff_ffff) if matches!(rest.first(), Some(b':' | b'{')) => {
                modifiers(rest, Kind::Plain(count))
            }
            _ => Suffix::BadCount,
        };
    }
    for other in ["DAG", "NEXT", "SAME", "EMPTY"] {
        for combination in [format!("{other}-NOT:"), format!("NOT-{other}:")] {
            if rest.starts_with(combination.as_bytes()) {
                return Suffix::BadNot;
            }
        }
    }
    let kinds: [(&[u8], Kind); 6] = [
        (b"NEXT", Kind::Next),
        (b"SAME", Kind::Same),
        (b"NOT", Kind::Not),
        (b"DAG", Kind::Dag),
        (b"LABEL", Kind::Label),
        (b"EMPTY", Kind::Empty),
    ];
    for (name, kind) in kinds {
        if eat(rest, name) {
            return modifiers(rest, kind);
        }
    }
    Suffix::None
}

/// `:` or `{LITERAL}:`.
fn modifiers(rest: &mut &[u8], kind: Kind) -> Suffix {
    let trim = |rest: &mut &[u8]| *rest = rest.trim_ascii_start();
    if eat(rest, b":") {
        return Suffix::Directive { kind, literal: false };
    }
    if !eat(rest, b"{") {
        return Suffix::None;
    }
    loop {
        trim(rest);
        if !eat(rest, b"LITERAL") {
            return Suffix::None;
        }
        trim(rest);
        if !eat(rest, b",") {
            break;
        }
    }
    if eat(rest, b"}:") { Suffix::Directive { kind, literal: true } } else { Suffix::None }
}
