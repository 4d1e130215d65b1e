//! `c-library`: the C interface as a package has it, in a folder.
//!
//! ```text
//! FOLDER/lib/libbefrost.so.1    the shared library, by the name that programs ask for
//!            libbefrost.so      a link to it, for linkers
//!            libbefrost.a       the static library
//!        include/               the headers
//! ```
//!
//! Cargo's names are others, since a crate cannot have the name of one that it is made of.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::sizes::succeeded;

/// The headers.
const HEADERS: [&str; 3] = ["befrost.h", "befrost.hpp", "befrost_library.h"];

/// Builds the libraries and copies them.
pub(super) fn install(root: &Path, target: &Path, folder: &Path) -> Result<(), String> {
    for arguments in [&["build"][..], &["rustc", "--crate-type", "staticlib"]] {
        let mut cargo = Command::new("cargo");
        cargo.args(arguments).args(["--release", "-q", "-p", "befrost-c"]);
        succeeded(cargo.current_dir(root).env("CARGO_TARGET_DIR", target))?;
    }
    let (libraries, headers) = (folder.join("lib"), folder.join("include"));
    let failed = |what: &Path, error: std::io::Error| format!("cannot write '{}': {error}", what.display());
    for made in [&libraries, &headers] {
        fs::create_dir_all(made).map_err(|error| failed(made, error))?;
    }
    for (built, name) in [("libbefrost_c.so", "libbefrost.so.1"), ("libbefrost_c.a", "libbefrost.a")] {
        let place = libraries.join(name);
        fs::copy(target.join("release").join(built), &place).map_err(|error| failed(&place, error))?;
    }
    for name in HEADERS {
        let place = headers.join(name);
        fs::copy(root.join("runtime/c/include").join(name), &place).map_err(|error| failed(&place, error))?;
    }
    let link = libraries.join("libbefrost.so");
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link).map_err(|error| failed(&link, error))?;
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("libbefrost.so.1", &link).map_err(|error| failed(&link, error))?;
    println!("{}", folder.display());
    Ok(())
}
