//! `bef-exec`: executes programs. All of it is in `befrost_tools::cli::exec`, but for the one thing that only the user can answer for:
//! that a mapped file does not change while it runs.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    befrost_tools::cli::exec::main(map)
}

/// Maps a file.
#[allow(unsafe_code, reason = "mapping is unsafe, and a command-line tool maps what it is told to")]
fn map(runtime: &befrost::Runtime, path: &std::path::Path) -> Result<befrost::Program, befrost::LoadError> {
    // SAFETY: the contract, that nobody changes the file meanwhile, is handed on to the user: `--help` says so. A file that is written by our
    // own tools is replaced, never changed.
    unsafe { runtime.map(path) }
}
