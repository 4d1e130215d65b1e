//! `features`: the facade and the C interface without Cargo features, and with each alone.
//!
//! ```text
//! [features] of Cargo.toml ──one at a time──▶ cargo check ──▶ neither errors nor warnings
//! ```

use std::path::Path;
use std::process::Command;

/// The crates whose features a program chooses, and their folders.
const CRATES: [(&str, &str); 2] = [("befrost", "runtime/befrost"), ("befrost-c", "runtime/c")];

/// Checks the crates with each of their features.
pub(super) fn run(root: &Path, target: &Path) -> Result<(), String> {
    for (name, folder) in CRATES {
        let path = root.join(folder).join("Cargo.toml");
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("'{}': {error}", path.display()))?;
        let features = features(&text);
        if features.is_empty() {
            return Err(format!("'{}' has no features", path.display()));
        }
        check(root, target, name, "")?;
        features.into_iter().try_for_each(|feature| check(root, target, name, feature))?;
    }
    Ok(())
}

/// The names in the section of features.
fn features(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let section = lines.take_while(|line| !line.starts_with('['));
    section.filter_map(|line| Some(line.split_once(" = ")?.0)).filter(|name| !name.starts_with('#')).collect()
}

/// Checks a crate with one feature, or with none.
fn check(root: &Path, target: &Path, name: &str, feature: &str) -> Result<(), String> {
    println!("{name}: {}", if feature.is_empty() { "no feature" } else { feature });
    let mut command = Command::new("cargo");
    command.args(["check", "-q", "-p", name, "--no-default-features", "--features", feature]);
    let checked = command.current_dir(root).env("CARGO_TARGET_DIR", target).output();
    let checked = checked.map_err(|error| format!("cannot run {command:?}: {error}"))?;
    // Warnings, of which cargo says nothing else if it is quiet.
    let said = String::from_utf8_lossy(&checked.stderr);
    if checked.status.success() && said.is_empty() { Ok(()) } else { Err(format!("{command:?}:\n{said}")) }
}
