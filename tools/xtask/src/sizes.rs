//! `sizes`: the sizes of small programs, against a table of the most that they may have.
//!
//! ```text
//! program ──cargo, cc──▶ a stripped file ──its size──▶ at most that of sizes.txt
//! ```
//!
//! With `UPDATE=1` in the environment the table of all programs is rewritten: each size, and a hundredth more
//! for other compilers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The table, beside this file.
const TABLE: &str = "tools/xtask/sizes.txt";

/// The kernels of a multilayer perceptron, for programs in C; the one in Rust names them itself.
const MLP: &str = "tf.Const tf._PackedMatMul";

/// A program: its name, and what builds it and tells its size.
type Program = (&'static str, fn(&Path, &Path) -> Result<u64, String>);

const PROGRAMS: [Program; 3] = [
    ("minimal", |root, target| example(root, target, "minimal")),
    ("tiny", |root, target| example(root, target, "tiny")),
    ("tiny.c", in_c),
];

/// Builds the programs with these names, or all, prints their sizes, and compares.
pub(super) fn run(root: &Path, target: &Path, names: &[&str]) -> Result<(), String> {
    if let Some(name) = names.iter().find(|name| PROGRAMS.iter().all(|(known, _)| known != *name)) {
        return Err(format!(
            "no program is called {name}; there are {}",
            PROGRAMS.map(|(name, _)| name).join(", ")
        ));
    }
    let text = std::fs::read_to_string(root.join(TABLE));
    let allowed = table(&text.map_err(|error| format!("cannot read {TABLE}: {error}"))?)?;
    let mut lines = String::from("# The most bytes of small programs: cargo run -p xtask -- sizes\n");
    let mut too_large = Vec::new();
    for (name, build) in PROGRAMS.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let size = build(root, target)?;
        println!("{size:>9}  {name}");
        lines += &format!("{:>9}  {name}\n", size + size / 100);
        match allowed.get(*name) {
            Some(&most) if size <= most => {}
            Some(most) => too_large.push(format!("{name} has {size} bytes, more than {most}")),
            None => too_large.push(format!("{name} is not in the table")),
        }
    }
    if std::env::var_os("UPDATE").is_some() && names.is_empty() {
        return std::fs::write(root.join(TABLE), lines)
            .map_err(|error| format!("cannot write {TABLE}: {error}"));
    }
    match too_large.is_empty() {
        true => Ok(()),
        false => Err(format!("{}; if that is right: UPDATE=1", too_large.join("; "))),
    }
}

/// Sizes by name.
fn table(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let (size, name) = row.trim().split_once("  ").ok_or_else(|| format!("{TABLE}: no row: {row}"))?;
        let size = size.parse().map_err(|_| format!("{TABLE}: no size: {size}"))?;
        Ok((name.to_owned(), size))
    })
    .collect()
}

/// Runs cargo in the profile of small programs.
fn cargo(root: &Path, target: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(arguments).args(["--profile", "small", "--no-default-features"]);
    succeeded(command.current_dir(root).env("CARGO_TARGET_DIR", target).env("BEFROST_KERNELS", MLP))
}

/// Runs a command that must succeed.
pub(super) fn succeeded(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed")) }
}

/// The size of an example of the facade.
fn example(root: &Path, target: &Path, name: &str) -> Result<u64, String> {
    cargo(root, target, &["build", "-q", "-p", "befrost", "--example", name])?;
    size_of(&target.join("small/examples").join(name))
}

/// The size of the example in C, linked with the static library.
fn in_c(root: &Path, target: &Path) -> Result<u64, String> {
    cargo(root, target, &["rustc", "-q", "-p", "befrost-c", "--crate-type", "staticlib"])?;
    let program = target.join("small/tiny");
    let model = format!("-DMODEL=\"{}\"", root.join("runtime/befrost/examples/digits_mlp.bef").display());
    let mut cc = Command::new("cc");
    cc.args([
        "-O2",
        "-s",
        "-Wl,--gc-sections",
        "-I",
        "runtime/c/include",
        &model,
        "runtime/c/examples/tiny.c",
        "-o",
    ])
    .arg(&program)
    .arg(target.join("small/libbefrost_c.a"))
    .args(["-lm", "-lpthread", "-ldl"]);
    succeeded(cc.current_dir(root))?;
    size_of(&program)
}

fn size_of(path: &Path) -> Result<u64, String> {
    let metadata = std::fs::metadata(path);
    metadata.map(|metadata| metadata.len()).map_err(|error| format!("'{}': {error}", path.display()))
}
