//! `tf-resolve-devices` copies functions for the devices that they are called on, but not too many.

use befrost_compiler::pass::PassManager;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;

/// The messages for a function that is called on each of `n` devices.
fn check(n: usize, want: &[&str]) {
    let calls = (0..n)
        .map(|i| format!("  \"tf.PartitionedCall\"() {{f = @f, device = \"/device:CPU:{i}\"}} : () -> ()\n"));
    let text = format!(
        "func.func @main() {{\n{}  tfrt.return\n}}\nfunc.func private @f() {{\n  tfrt.return\n}}\n",
        calls.collect::<String>()
    );
    let module = parse("calls.mlir", &text, &ParseOptions::default()).module.expect("a program");
    let pipeline = format!("builtin.module(tf-resolve-devices{{devices=CPU:{n}}})");
    let mut passes = PassManager::parse(&pipeline).expect("a pipeline");
    let said = match passes.run(verify(module).expect("a program of this IR")) {
        Ok(_) => Vec::new(),
        Err(said) => said.into_iter().map(|said| said.message).collect(),
    };
    assert_eq!(said, want, "{n} calls");
}

#[test]
fn there_are_not_too_many_copies() {
    check(4097, &[]);
    check(4098, &["the functions are called on different devices: more than 4096 copies"]);
}
