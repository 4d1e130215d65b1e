//! FileCheck: does an output hold what the comments of a file say it should?
//!
//! The language and its odd corners are those of LLVM 19's FileCheck, so that the same tests run through either;
//! a test (`tests/filecheck.rs`) compares the two where LLVM's is on the machine. A false pass is the worst bug
//! here: whatever is not understood is refused.
//!
//! ```text
//! options, check file ──directive.rs──▶ checks (patterns by pattern.rs) ┐
//! input ──source.rs: made canonical──▶ text ──run.rs────────────────────┴─▶ messages, events ──dump.rs──▶ the marked input
//! ```
//!
//! Known differences, all towards refusing more:
//!
//! * Numbers beyond 8,192 bits, precisions beyond 4,096 and expressions nested beyond 100 parentheses are errors.
//! * A block with a `[` too many ends with exit code 2, like every other fault of the check file; with LLVM's it is 1.
//! * A directive whose colon ends the file is an empty check, hence an error (`directive.rs`).
//! * An `--implicit-check-not` that cannot be read ends the run; LLVM prints an error and goes on without it.
//! * A pattern of nothing but empty variables is an error, also in a CHECK-NOT; LLVM never finds it.
//! * Word boundaries (`[[:<:]]`) and named collating elements (`[[.space.]]`) are invalid.
//! * A `\1` that names a group still open around it is invalid; LLVM never matches it.
//! * Back-references that need too much search are an error; LLVM may take for ever.
//! * Messages say the same at the same place, but not in LLVM's words everywhere. The dump is the same byte by byte,
//!   except for notes with our words, bytes that are not UTF-8, and the values of variables, which LLVM shows as
//!   the regular expressions they have become (`a\\.c`). `--color` is accepted without effect.

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

/// What the command line can ask for. The default is FileCheck without options.
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
    /// A match must take its whole line, but for blanks around it.
    pub match_full_lines: bool,
    /// Blanks and tabs are compared as they are.
    pub strict_whitespace: bool,
    /// An empty input is not an error by itself.
    pub allow_empty: bool,
    /// Variables without `$` end at each CHECK-LABEL.
    pub enable_var_scope: bool,
    /// Letters match in either case.
    pub ignore_case: bool,
    /// A prefix that was given need not occur, as long as one does.
    pub allow_unused_prefixes: bool,
    /// When the input is shown with marks.
    pub dump: Dump,
    /// Which lines are shown; none for those with errors, or all if it is always shown.
    pub dump_filter: Option<Filter>,
    /// How many lines around those, if not five.
    pub dump_context: Option<usize>,
    /// How much is told of what went well.
    pub verbosity: Verbosity,
}

/// How many lines around those of interest a dump shows by default.
const DUMP_CONTEXT: usize = 5;

/// Why the check did not pass. The text is ready to print and ends with a newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The command line is not understood.
    Usage(String),
    /// The check file, a definition or an empty input: nothing was compared.
    Invalid(String),
    /// The input does not hold what the check file asks for.
    Mismatch(String),
}

impl Failure {
    /// The command's exit code, as in LLVM.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Mismatch(_) => 1,
            Failure::Invalid(_) => 2,
        }
    }

    /// Why the check did not pass, ready to print.
    pub fn report(&self) -> &str {
        let (Failure::Usage(report) | Failure::Invalid(report) | Failure::Mismatch(report)) = self;
        report
    }
}

/// Checks `input` against the directives in `check_file`. Answers what is to be said all the same.
///
/// # Errors
/// Says why the check did not pass.
pub fn check(options: &Options, check_file: Source<'_>, input: Source<'_>) -> Result<String, Failure> {
    let file = directive::read(options, check_file).map_err(Failure::Invalid)?;
    if input.bytes.is_empty() && !options.allow_empty {
        return Err(Failure::Invalid(format!("error: the input '{}' is empty\n", input.name)));
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
    if report.passed { Ok(messages) } else { Err(Failure::Mismatch(messages)) }
}
