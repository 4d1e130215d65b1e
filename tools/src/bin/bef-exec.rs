//! `bef-exec`: executes programs. All of it is in `befrost_tools::cli::exec`, but for the one thing that only the user can answer for:
//! that a mapped file does not change while it runs.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    befrost_tools::cli::exec::main(map)
}

/// Maps a file that is open and locked.
#[allow(unsafe_code, reason = "mapping is unsafe, and a command-line tool maps what it is told to")]
fn map(runtime: &befrost::Runtime, file: std::fs::File) -> Result<befrost::Program, befrost::LoadError> {
    // SAFETY: the contract, that nobody changes the file meanwhile, is handed on to the user: `--help` says so. Who writes files in place and takes a
    // lock finds ours; a file that is written by our own tools is replaced, never changed.
    unsafe { runtime.map_file(file) }
}
