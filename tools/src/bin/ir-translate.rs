//! `ir-translate`: between text, models and BEF. The implementation is `befrost_tools::cli::translate`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    befrost_tools::cli::translate::main()
}
