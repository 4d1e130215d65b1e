//! The `FileCheck` command; all of it is `befrost_tools::filecheck`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use befrost_tools::filecheck::{Failure, USAGE, parse_arguments, run_command};

fn main() -> ExitCode {
    let arguments: Result<Vec<String>, _> = std::env::args_os().skip(1).map(|a| a.into_string()).collect();
    let Ok(arguments) = arguments else {
        eprintln!("FileCheck: an argument is not valid UTF-8");
        return ExitCode::from(2);
    };
    if arguments.iter().any(|a| matches!(a.as_str(), "--help" | "-help" | "-h")) {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let command = match parse_arguments(&arguments) {
        Ok(command) => command,
        Err(message) => {
            eprint!("FileCheck: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run_command(&command, &mut std::io::stdin().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Mismatch(report)) => {
            eprint!("{report}");
            ExitCode::FAILURE
        }
        Err(Failure::Invalid(report)) => {
            eprint!("{report}");
            ExitCode::from(2)
        }
    }
}
