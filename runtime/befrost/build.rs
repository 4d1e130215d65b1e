//! Sets `BEFROST_BUILD`, the hash of the sources that decide what a program is compiled to. Programs that
//! another build has stored on disk are not this one's.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The crates with such sources, from this folder. Where they are not beside it, as in a package of this
/// crate alone, their versions follow from its own.
const CRATES: [&str; 5] = ["../../compiler", "../../bef-format", "../mem", "../tensor", "."];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut hasher = DefaultHasher::new();
    for folder in CRATES.map(|krate| Path::new(krate).join("src")) {
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            hash(&folder, &mut hasher)?;
        }
    }
    println!("cargo::rustc-env=BEFROST_BUILD={:016x}", hasher.finish());
    Ok(())
}

/// Adds the files of a folder, in the order of their names.
fn hash(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash(&path, hasher)?;
        } else {
            path.hash(hasher);
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
