//! `bef-train`: trains models. The implementation is `befrost_tools::cli::train`, except for the handler of
//! Ctrl-C.

#[path = "parts/interrupts.rs"]
mod interrupts;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    befrost_tools::cli::train::main(interrupts::interrupts)
}
