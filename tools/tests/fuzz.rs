//! The fuzz targets' corpus (`testdata/fuzz/TARGET`), and a few thousand damaged lit tests, through the
//! targets' own functions (`befrost_tools::fuzz`). Every input with which a fuzzer found a bug stays in the
//! corpus.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use befrost_tools::dice::Dice;
use befrost_tools::fuzz;

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of tests can be listed") {
        let path = entry.expect("a directory of tests can be listed").path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
    found.sort();
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    files(&testdata().join("fuzz").join(target), &mut all);
    assert!(!all.is_empty(), "the corpus of {target} is gone");
    all.iter().map(|file| fs::read(file).expect("an input can be read")).collect()
}

/// One to three edits: words of the text removed, doubled or swapped, punctuation inserted.
fn damaged(text: &str, dice: &mut Dice) -> String {
    let mut words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '.').collect();
    let signs =
        ["(", ")", "{", "}", "<", ">", "[", "]", "\"", ",", ":", "=", "%0", "^bb1", "0", "-1", "i32", "loc("];
    for _ in 0..1 + dice.below(3) {
        let (at, other) = (dice.below(words.len()), dice.below(words.len()));
        match dice.below(4) {
            _ if words.is_empty() => {}
            0 => _ = words.remove(at),
            1 => words.insert(at, words[other]),
            2 => words.swap(at, other),
            _ => words.insert(at, signs[dice.below(signs.len())]),
        }
    }
    words.concat()
}

#[test]
fn the_corpus_of_text_holds() {
    for input in corpus("text") {
        fuzz::text(&String::from_utf8_lossy(&input));
    }
}

#[test]
fn the_corpus_of_npy_holds() {
    assert_eq!(corpus("npy").iter().filter(|file| fuzz::npy(file)).count(), 11);
}

#[test]
fn the_corpus_of_graphdef_holds() {
    assert!(corpus("graphdef").iter().any(|file| fuzz::graphdef(file)));
}

#[test]
fn the_corpus_of_filecheck_holds() {
    for input in corpus("filecheck") {
        fuzz::file_check(&input);
    }
}

/// Bytes changed, removed, doubled.
fn damaged_bytes(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + dice.below(2) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.below(bytes.len());
        match dice.below(8) {
            0 => bytes.truncate(at),
            1 => bytes[at] = dice.below(256) as u8,
            2 => bytes[at] ^= 1 << dice.below(8),
            3 => _ = bytes.remove(at),
            4 => bytes.insert(at, dice.below(256) as u8),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
    bytes
}

#[test]
fn damaged_graphs_hold() {
    let mut all = Vec::new();
    files(&testdata().join("graphdefs"), &mut all);
    let graphs: Vec<Vec<u8>> = all
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "pb"))
        .map(|file| fs::read(file).expect("a graph can be read"))
        .filter(|graph| graph.len() < 20_000)
        .collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut n_graphs = 0;
    for _ in 0..400 {
        let graph = damaged_bytes(&graphs[dice.below(graphs.len())], &mut dice);
        n_graphs += usize::from(fuzz::graphdef(&graph));
    }
    assert!(n_graphs > 4, "only {n_graphs} were graphs");
}

#[test]
fn damaged_programs_hold() {
    let mut all = Vec::new();
    files(&testdata(), &mut all);
    let texts: Vec<String> = all
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "mlir"))
        .filter_map(|file| fs::read_to_string(file).ok())
        .flat_map(|text| text.split("// -----").map(str::to_owned).collect::<Vec<_>>())
        .filter(|text| text.len() < 4000)
        .collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut n_programs = 0;
    for _ in 0..2000 {
        let text = damaged(&texts[dice.below(texts.len())], &mut dice);
        n_programs += usize::from(fuzz::text(&text));
    }
    assert!(n_programs > 50, "only {n_programs} were programs");
}

#[test]
fn damaged_check_files_hold() {
    let inputs = corpus("filecheck");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2000 {
        let text = String::from_utf8_lossy(&inputs[dice.below(inputs.len())]).into_owned();
        fuzz::file_check(damaged(&text, &mut dice).as_bytes());
    }
}
