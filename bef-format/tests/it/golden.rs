//! Files of earlier versions of this crate load forever, with the same contents.
//!
//! `testdata/bef/golden/v1_0_NAME.bef` is a sample as version 1.0 first wrote it, `v1_0_NAME.txt` its dump,
//! and so on for each version. `UPDATE_GOLDEN=1` writes the missing ones; it never replaces one.

use std::path::{Path, PathBuf};

use bef_format::layout::{MAJOR, MINOR};
use bef_format::{AlignedBytes, dump::dump, validate};

use crate::samples;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bef/golden")
}

#[test]
fn golden_files_load() {
    let folder = folder();
    let mut n = 0;
    for entry in std::fs::read_dir(&folder).expect("the tree holds golden files") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "bef") {
            continue;
        }
        let bytes = AlignedBytes::copy_of(&std::fs::read(&path).expect("readable"));
        let image = validate(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let want = std::fs::read_to_string(path.with_extension("txt")).expect("each file has its dump");
        assert_eq!(dump(&image), want, "{}", path.display());
        n += 1;
    }
    assert!(n >= samples::all().len());
}

#[test]
fn todays_file_is_the_golden_one() {
    for (name, bytes) in samples::all() {
        let path = folder().join(format!("v{MAJOR}_{MINOR}_{name}.bef"));
        if !path.exists() && std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &*bytes).expect("writable");
            let image = validate(&bytes).expect("valid");
            std::fs::write(path.with_extension("txt"), dump(&image)).expect("writable");
        }
        let golden = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(golden == *bytes, "{name}: the writer gives other bytes than before: raise the version");
    }
}
