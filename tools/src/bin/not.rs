//! The `not` command of lit tests: succeeds when the command behind it fails.
//!
//!     not CMD ARGS..           succeeds if CMD ends with a code other than 0; a crash is still a failure
//!     not --crash CMD ARGS..   succeeds if CMD is ended by a signal
//!
//! A command that cannot be started is a failure either way, so a mistyped name never passes.
#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let want_crash = arguments.next_if(|a| a == "--crash").is_some();
    let Some(program) = arguments.next() else {
        eprintln!("usage: not [--crash] COMMAND [ARGUMENT..]");
        return ExitCode::from(2);
    };
    let status = match Command::new(&program).args(arguments).status() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("not: cannot run '{}': {error}", program.to_string_lossy());
            return ExitCode::FAILURE;
        }
    };
    match (status.code(), want_crash) {
        (None, true) => ExitCode::SUCCESS,
        (Some(code), true) => {
            eprintln!("not: '{}' ended with code {code}, not by a crash", program.to_string_lossy());
            ExitCode::FAILURE
        }
        (None, false) => {
            eprintln!("not: '{}' crashed ({status})", program.to_string_lossy());
            ExitCode::FAILURE
        }
        (Some(0), false) => ExitCode::FAILURE,
        (Some(_), false) => ExitCode::SUCCESS,
    }
}
