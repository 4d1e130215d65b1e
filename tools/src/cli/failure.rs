//! The end of a tool: exit codes, and the one place that prints the reason.
//!
//! 0: success. 1: the input was refused, the execution failed or a comparison differed. 2: wrong usage: an
//! error of the command line alone, or a program whose functions all need arguments without any.
//!
//! A closed stream causes no panic: if the reader of the output exits (`bef-exec ... | head`), the tool ends
//! quietly.

use std::fmt;
use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, Command};

use super::spelling::respell;

/// The reason for ending without success.
#[derive(Debug)]
pub(super) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The same, already reported.
    UsageReported,
    /// The input was refused, or the execution failed.
    Refused(String),
    /// The same, already reported.
    Reported,
    /// The reader of standard output has exited.
    Closed,
}

/// Writes to standard error; a failure to do so cannot be reported.
pub(super) fn tell(text: &str) {
    // Earlier output comes first, even if both streams are one.
    _ = std::io::stdout().flush();
    _ = std::io::stderr().write_all(text.as_bytes());
}

/// The exit code of a result, after reporting it.
pub(super) fn conclude(result: Result<(), Failure>) -> ExitCode {
    let result = result.and_then(|()| std::io::stdout().flush().map_err(not_written));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            tell(&format!("error: {message}\n\nFor more information, try '--help'.\n"));
            ExitCode::from(2)
        }
        Err(Failure::Refused(message)) => {
            tell(&format!("error: {message}\n"));
            ExitCode::FAILURE
        }
        Err(Failure::UsageReported) => ExitCode::from(2),
        Err(Failure::Reported | Failure::Closed) => ExitCode::FAILURE,
    }
}

/// Writes to standard output.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    std::io::stdout().lock().write_all(text.as_bytes()).map_err(not_written)
}

/// Writes to standard output piece by piece: `write` gets its end.
pub(super) fn print_with(write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) -> Result<(), Failure> {
    let mut out = Stdout { out: std::io::stdout().lock(), error: None };
    // `fmt::Error` says nothing; the reason is kept.
    _ = write(&mut out);
    out.error.map_or(Ok(()), |error| Err(not_written(error)))
}

/// Standard output for formatted text, with the first error of writing.
struct Stdout {
    out: std::io::StdoutLock<'static>,
    error: Option<std::io::Error>,
}

impl fmt::Write for Stdout {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}

/// The failure for an error of writing to standard output.
pub(super) fn not_written(error: std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Refused(format!("cannot write to standard output: {error}")),
    }
}

/// Parses the command line. Help, version and refusals are printed here.
pub(super) fn parse(command: Command) -> Result<ArgMatches, ExitCode> {
    let error = match command.try_get_matches_from(respell(std::env::args_os())) {
        Ok(matches) => return Ok(matches),
        Err(error) => error,
    };
    _ = error.print();
    Err(if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
