//! The parser is generated from the grammar by `UPDATE=1 cargo test -p befrost-compiler --test grammar`. The
//! test fails if it is not current.
//!
//! It is generated ahead of time, not by a build script: the generator takes longer to build than the parser.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

#[test]
fn the_parser_is_generated_from_the_grammar() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/syntax");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grammar");
    // The generator keeps a file that is newer than the grammar.
    if out.exists() {
        fs::remove_dir_all(&out).expect("the folder of the last run can be removed");
    }
    fs::create_dir_all(&out).expect("the target folder can be written");
    let generator = lalrpop::Configuration::new()
        .emit_rerun_directives(false)
        .set_in_dir(&folder)
        .set_out_dir(&out)
        .process();
    if let Err(error) = generator {
        panic!("the grammar is not accepted: {error}");
    }
    let new = fs::read_to_string(out.join("grammar.rs")).expect("the generator has written the parser");
    let path = folder.join("grammar.inc");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &new).expect("the parser can be written");
    }
    let old = fs::read_to_string(&path).unwrap_or_default();
    assert!(old == new, "run UPDATE=1 cargo test -p befrost-compiler --test grammar");
}
