//! `bef-exec`: executes programs. The implementation is `befrost_tools::cli::exec`, except for the mapping of
//! files, since only the user can guarantee that a mapped file does not change while it runs, and of the
//! handler of Ctrl-C.

#[path = "parts/interrupts.rs"]
mod interrupts;
#[path = "parts/libraries.rs"]
mod libraries;

use interrupts::interrupts;
use libraries::load_library;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    befrost_tools::cli::exec::main(map, interrupts, load_library)
}

/// Maps a file that is open and locked.
#[allow(unsafe_code, reason = "mapping is unsafe, and a command-line tool maps what it is told to")]
fn map(runtime: &befrost::Runtime, file: std::fs::File) -> Result<befrost::Program, befrost::LoadError> {
    // SAFETY: the contract, that the file does not change meanwhile, is passed on to the user: `--help`
    // states it. A program that locks the file before writing it in place finds our lock; our own tools
    // replace files and never change them.
    unsafe { runtime.map_file(file) }
}
