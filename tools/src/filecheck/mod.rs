//! FileCheck: comparison of an output with the comments of a file.
//!
//! The language and its corner cases are those of LLVM 19's FileCheck, so that the same tests run through
//! either; a test (`tests/filecheck.rs`) compares the two if LLVM's is installed. A false pass is the worst
//! bug here: everything that is not understood is refused.
//!
//! ```text
//! options, check file ──directive.rs──▶ checks (pattern.rs) ┐
//! input ──source.rs: canonical form──▶ text ──run.rs────────┴─▶ messages, events ──dump.rs──▶ dump
//! ```
//!
//! Known differences, all towards refusing more:
//!
//! * Numbers beyond 8,192 bits, precisions beyond 4,096 and expressions nested beyond 100 parentheses are
//!   errors.
//! * A block with an extra `[` ends with exit code 2, like every other fault of the check file; with LLVM's
//!   it is 1.
//! * A directive whose colon ends the file is an empty check, hence an error (`directive.rs`).
//! * A malformed `--implicit-check-not` ends the run; LLVM prints an error and continues without it.
//! * A pattern of nothing but empty variables is an error, also in a CHECK-NOT; LLVM never finds it.
//! * Word boundaries (`[[:<:]]`) and named collating elements (`[[.space.]]`) are invalid.
//! * A `\1` that refers to an enclosing open group is invalid; LLVM never matches it.
//! * Back-references that need too much search are an error; LLVM may not terminate.
//! * Messages have the same meaning and position, but not LLVM's wording everywhere. The dump is the same
//!   byte by byte, except for notes with our wording, bytes that are not UTF-8, and the values of variables,
//!   which LLVM shows as the regular expressions they have become (`a\\.c`). `--color` is accepted without
//!   effect.

mod cli;
mod directive;
mod dump;
mod number;
mod numeric;
mod pattern;
pub(crate) mod regex;
mod run;
mod source;

pub use cli::{Command, DUMP_HELP, USAGE, parse_arguments, run_command};
pub use dump::{Dump, Filter, Layout, Verbosity};

/// A text with the name that messages give it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name, or `<stdin>`.
    pub name: &'a str,
    /// The content, as it is on disk.
    pub bytes: &'a [u8],
}

/// The options of a check. The default is FileCheck without options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Prefixes of directives; none means `CHECK`.
    pub check_prefixes: Vec<String>,
    /// Prefixes of comments; none means `COM` and `RUN`.
    pub comment_prefixes: Vec<String>,
    /// `VAR=VALUE` definitions.
    pub defines: Vec<String>,
    /// Patterns that may not occur between any two matches.
    pub implicit_check_not: Vec<String>,
    /// A match must cover its whole line, except for blanks around it.
    pub match_full_lines: bool,
    /// Blanks and tabs are compared verbatim.
    pub strict_whitespace: bool,
    /// An empty input is not an error by itself.
    pub allow_empty: bool,
    /// Variables without `$` end at each CHECK-LABEL.
    pub enable_var_scope: bool,
    /// Letters match in either case.
    pub ignore_case: bool,
    /// A given prefix need not occur, as long as one does.
    pub allow_unused_prefixes: bool,
    /// The condition for dumping the input.
    pub dump: Dump,
    /// The lines shown; `None` for those with errors, or all if the dump is unconditional.
    pub dump_filter: Option<Filter>,
    /// The number of context lines; `None` for five.
    pub dump_context: Option<usize>,
    /// The verbosity about successful matches.
    pub verbosity: Verbosity,
}

/// The default number of context lines.
const DUMP_CONTEXT: usize = 5;

/// The reason why the check did not pass. The text is ready to print and ends with a newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckFailure {
    /// The command line is invalid.
    Usage(String),
    /// The check file, a definition or an empty input: nothing was compared.
    Invalid(String),
    /// The input does not match the check file.
    Mismatch(String),
}

impl CheckFailure {
    /// The command's exit code, as in LLVM.
    pub fn exit_code(&self) -> u8 {
        match self {
            CheckFailure::Usage(_) | CheckFailure::Mismatch(_) => 1,
            CheckFailure::Invalid(_) => 2,
        }
    }

    /// The message, ready to print.
    pub fn report(&self) -> &str {
        let (CheckFailure::Usage(report) | CheckFailure::Invalid(report) | CheckFailure::Mismatch(report)) =
            self;
        report
    }
}

/// Checks `input` against the directives in `check_file`. Returns the messages of a successful check.
///
/// # Errors
/// The reason why the check did not pass.
pub fn check(options: &Options, check_file: Source<'_>, input: Source<'_>) -> Result<String, CheckFailure> {
    let file = directive::read(options, check_file).map_err(CheckFailure::Invalid)?;
    if input.bytes.is_empty() && !options.allow_empty {
        return Err(CheckFailure::Invalid(format!("error: the input '{}' is empty\n", input.name)));
    }
    let text = source::Text::canonical(input.name, input.bytes, options.strict_whitespace);
    let report = run::run(&file, &text, options, options.dump != Dump::Never);
    let mut messages = report.messages;
    if options.dump == Dump::Always || (options.dump == Dump::Fail && !report.passed) {
        let default = if options.dump == Dump::Always { Filter::All } else { Filter::Error };
        let layout = Layout {
            filter: options.dump_filter.unwrap_or(default),
            context: options.dump_context.unwrap_or(DUMP_CONTEXT),
        };
        messages.push_str(&format!(
            "\nInput file: {}\nCheck file: {}\n\n-dump-input=help explains the following input dump.\n\n",
            input.name, check_file.name
        ));
        dump::write(&mut messages, &file.texts, &text, &report.events, layout);
    }
    if report.passed { Ok(messages) } else { Err(CheckFailure::Mismatch(messages)) }
}
