//! Test inputs in the tree: programs, files of earlier versions.

use std::path::{Path, PathBuf};

use bef_format::AlignedBytes;

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// All files below a folder, sorted.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The name of each `.mlir` file with the text of each of its parts.
pub(crate) fn programs() -> Vec<(String, String)> {
    let files = below(&testdata());
    let files = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    files
        .flat_map(|path| {
            let name = path.display().to_string();
            // A file that is not UTF-8 counts as empty.
            let text =
                String::from_utf8(std::fs::read(path).expect("a file can be read")).unwrap_or_default();
            let parts: Vec<_> = text.split("// -----").map(|part| (name.clone(), part.to_owned())).collect();
            parts
        })
        .collect()
}

/// The golden files, written by this version of the format and earlier ones, by name.
pub(crate) fn golden() -> Vec<(String, AlignedBytes)> {
    let files = below(&testdata().join("bef/golden"));
    let files = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "bef"));
    files
        .map(|path| {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            (name, AlignedBytes::copy_of(&std::fs::read(path).expect("a file can be read")))
        })
        .collect()
}

/// The corpus of a fuzz target.
pub(crate) fn corpus(target: &str) -> Vec<AlignedBytes> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/fuzz").join(target);
    let read = |path: &PathBuf| AlignedBytes::copy_of(&std::fs::read(path).expect("a file can be read"));
    below(&folder).iter().map(read).collect()
}
