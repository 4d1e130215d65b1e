//! How a tool ends: exit codes, and the one place that says why.
//!
//! 0: all right. 1: the input was refused, the execution failed or a comparison differed. 2: wrong usage, which is what can be seen
//! from the command line alone, without opening a file.
//!
//! Nothing here panics because a stream is closed: a reader that went away (`bef-exec ... | head`) ends the tool quietly.

use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, Command};

use super::spelling::respell;

/// Why a tool ends without success.
#[derive(Debug)]
pub(super) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The same, and the user has been told.
    UsageTold,
    /// The input was refused, or the execution failed.
    Refused(String),
    /// The same, and the user has been told.
    Told,
    /// Whoever read standard output is gone.
    Closed,
}

/// Writes to standard error; there is nobody to tell if that fails.
pub(super) fn tell(text: &str) {
    // What was printed before comes before, also where both streams are one.
    _ = std::io::stdout().flush();
    _ = std::io::stderr().write_all(text.as_bytes());
}

/// The exit code for how a tool ended, after telling the user.
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
        Err(Failure::UsageTold) => ExitCode::from(2),
        Err(Failure::Told | Failure::Closed) => ExitCode::FAILURE,
    }
}

/// Writes to standard output.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    std::io::stdout().lock().write_all(text.as_bytes()).map_err(not_written)
}

/// What it means that standard output cannot be written to.
pub(super) fn not_written(error: std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Refused(format!("cannot write to standard output: {error}")),
    }
}

/// Reads the command line. Help and version are printed here; so are refusals.
pub(super) fn parse(command: Command) -> Result<ArgMatches, ExitCode> {
    let error = match command.try_get_matches_from(respell(std::env::args_os())) {
        Ok(matches) => return Ok(matches),
        Err(error) => error,
    };
    _ = error.print();
    Err(if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
