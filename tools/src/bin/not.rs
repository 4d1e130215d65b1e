//! The `not` command of lit tests: succeeds if its command fails.
//!
//! ```text
//! not CMD ARGS..           succeeds if CMD ends with a code other than 0; a crash is still a failure
//! not --crash CMD ARGS..   succeeds if CMD crashes
//! ```
//!
//! A crash is termination by a signal or by a Rust panic (exit code 101): a refused input and a crash of the
//! tool are different results. A command that cannot be started is a failure in either case, so a mistyped
//! name never passes.
#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

/// The exit code of a Rust program that panicked.
const PANIC: i32 = 101;

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
    let crashed = status.code().is_none_or(|code| code == PANIC);
    if crashed == want_crash && !status.success() {
        return ExitCode::SUCCESS;
    }
    eprintln!("not: '{}' ended with {status}", program.to_string_lossy());
    ExitCode::FAILURE
}
