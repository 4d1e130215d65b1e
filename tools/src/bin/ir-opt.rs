//! `ir-opt`: passes on text. The implementation is `befrost_tools::cli::opt`, except for the loading of
//! kernel libraries.

#[path = "parts/libraries.rs"]
mod libraries;

fn main() -> std::process::ExitCode {
    befrost_tools::cli::opt::main(libraries::load_library)
}
