//! `header`: the header of the C interface, made of the declarations in Rust by cbindgen.
//!
//! ```text
//! runtime/c/src/ffi ──cbindgen, cbindgen.toml──▶ text ──handles made opaque──▶ runtime/c/include/befrost.h
//! ```
//!
//! The header is committed; a test compares it with what is made.

use std::path::Path;

/// The header.
const HEADER: &str = "runtime/c/include/befrost.h";

/// Writes the header.
pub(super) fn write(root: &Path) -> Result<(), String> {
    let path = root.join(HEADER);
    std::fs::write(&path, made(root)?).map_err(|error| format!("cannot write '{}': {error}", path.display()))
}

/// The text of the header.
fn made(root: &Path) -> Result<String, String> {
    let library = root.join("runtime/c");
    let config = cbindgen::Config::from_file(library.join("cbindgen.toml"))?;
    let builder = cbindgen::Builder::new().with_config(config).with_src(library.join("src/ffi/mod.rs"));
    let bindings = builder.generate().map_err(|error| format!("cbindgen: {error}"))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).map_err(|error| format!("the header is not UTF-8: {error}"))?;
    // A handle is a generic structure in Rust, of which C sees nothing.
    let opaque =
        |line: &str| match line.strip_prefix("typedef Handle<").and_then(|rest| rest.split_once("> ")) {
            Some((_, name)) => format!("typedef struct {} {name}\n", name.trim_end_matches(';')),
            None => format!("{}\n", line.trim_end()),
        };
    Ok(text.lines().map(opaque).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_the_one_of_the_declarations() {
        let root = crate::root();
        let committed = std::fs::read_to_string(root.join(HEADER)).expect("the header");
        let made = made(&root).expect("a header");
        let differs = committed.lines().zip(made.lines()).find(|(committed, made)| committed != made);
        assert!(committed == made, "cargo run -p xtask -- header writes it anew: {differs:?}");
    }
}
