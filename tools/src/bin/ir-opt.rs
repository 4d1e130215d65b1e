//! `ir-opt`: passes on text. All of it is in `befrost_tools::cli::opt`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    befrost_tools::cli::opt::main()
}
