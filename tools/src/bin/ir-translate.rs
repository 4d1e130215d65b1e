//! `ir-translate`: between text, models and BEF. The implementation is `befrost_tools::cli::translate`,
//! except for the mapping of models, since only the user can guarantee that a mapped file does not change
//! meanwhile.

#[path = "parts/libraries.rs"]
mod libraries;

fn main() -> std::process::ExitCode {
    befrost_tools::cli::translate::main(map, libraries::load_library)
}

/// Maps a file that is open and locked.
#[allow(unsafe_code, reason = "mapping is unsafe, and a command-line tool maps what it is told to")]
fn map(file: std::fs::File) -> std::io::Result<Box<dyn AsRef<[u8]> + Send>> {
    // SAFETY: the contract, that the file does not change meanwhile, is passed on to the user: `--help`
    // states it. A program that locks the file before writing it in place finds our lock; our own tools
    // replace files and never change them.
    unsafe { befrost_host::map_file(file) }.map(|bytes| Box::new(bytes) as _)
}
