//! The cost of calls from C: `cargo bench -p befrost-c` compiles `calls.c` against the library, and runs it.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A function that returns its argument.
const EMPTY: &str =
    "func.func @main(%x: tensor<f32> {bef.name = \"x\"}) -> (tensor<f32> {bef.name = \"y\"}) {
  tfrt.return %x : tensor<f32>
}";

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = std::env::current_exe().expect("a path").with_file_name("libbefrost_c.so");
    for name in ["libbefrost.so", "libbefrost.so.1"] {
        std::fs::copy(&library, folder.path().join(name)).expect("the library");
    }
    let (model, program) = (folder.path().join("empty.mlir"), folder.path().join("calls"));
    std::fs::write(&model, EMPTY).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(here("include"));
    compiler
        .arg(here("benches/calls.c"))
        .arg("-L")
        .arg(folder.path())
        .args(["-lbefrost", "-o"])
        .arg(&program);
    let Ok(compiled) = compiler.status() else { return eprintln!("there is no cc: nothing is measured") };
    assert!(compiled.success(), "the program does not compile");
    let ran = Command::new(&program).arg(&model).env("LD_LIBRARY_PATH", folder.path()).status();
    assert!(ran.expect("it runs").success(), "a call failed");
}
