//! The smallest program: loader, executor, and one kernel of its own.
//!
//! `cargo build --profile small -p befrost --example minimal --no-default-features`
//!
//! The program in it is `func.func @main(%x: i32) -> i32 { ... }` of the test that keeps it current.

use befrost::{Registry, Runtime, kernel};

static DOUBLE: &[u8] = befrost::include_bef!("double.bef");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x: i32 = std::env::args().nth(1).map_or(Ok(21), |x| x.parse())?;
    let mut kernels = Registry::default();
    kernels.add(kernel!("tfrt.add.i32", i32::wrapping_add));
    let runtime = Runtime::with_kernels(kernels).work_queue("s").build()?;
    let results = runtime.load_static(DOUBLE)?.function("main")?.call_ok([x.into()])?;
    println!("{}", i32::try_from(&results[0])?);
    Ok(())
}
