//! The `FileCheck` command; the implementation is `befrost_tools::filecheck`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use befrost_tools::filecheck::{DUMP_HELP, USAGE, parse_arguments, run_command};

fn main() -> ExitCode {
    let arguments: Result<Vec<String>, _> = std::env::args_os().skip(1).map(|a| a.into_string()).collect();
    let Ok(arguments) = arguments else {
        eprintln!("FileCheck: an argument is not valid UTF-8");
        return ExitCode::FAILURE;
    };
    if arguments.iter().any(|a| matches!(a.as_str(), "--help" | "-help" | "-h")) {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let from_environment = std::env::var("FILECHECK_OPTS").unwrap_or_default();
    let arguments: Vec<String> =
        from_environment.split_whitespace().map(str::to_owned).chain(arguments).collect();
    let answer = parse_arguments(&arguments).and_then(|command| {
        if command.dump_help {
            print!("{DUMP_HELP}");
            return Ok(String::new());
        }
        run_command(&command, &mut std::io::stdin().lock())
    });
    match answer {
        Ok(report) => {
            eprint!("{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprint!("{}", failure.report());
            ExitCode::from(failure.exit_code())
        }
    }
}
