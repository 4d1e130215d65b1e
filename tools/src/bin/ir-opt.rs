//! `ir-opt`: passes on text. The implementation is `befrost_tools::cli::opt`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    befrost_tools::cli::opt::main()
}
