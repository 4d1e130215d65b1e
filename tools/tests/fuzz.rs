//! The functions of the fuzz targets (`befrost_testing::fuzz`) on the targets' corpora
//! (`testdata/fuzz/TARGET`) and on several thousand damaged test inputs. A corpus keeps every input with
//! which a fuzzer found a bug.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use befrost_compiler::import::files::{ModelFiles, NoFiles};
use befrost_tensor::bundle::Bytes;
use befrost_testing::dice::Dice;
use befrost_testing::fuzz;

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
fn the_corpus_of_training_holds() {
    assert!(corpus("training").iter().any(|file| fuzz::training(file)));
}

#[test]
fn the_corpora_of_models_hold() {
    let texts = corpus("pbtxt");
    let n_graphs = texts.iter().filter(|text| fuzz::pbtxt(&String::from_utf8_lossy(text))).count();
    assert!(n_graphs > 0);
    assert!(corpus("saved_model").iter().any(|file| fuzz::saved_model(file, false, &NoFiles)));
    assert!(corpus("onnx").iter().any(|file| fuzz::onnx(file)));
    assert!(corpus("bundle").iter().any(|file| fuzz::bundle(file)));
}

#[test]
fn the_corpora_of_checkpoints_and_arrays_hold() {
    let count =
        |target: &str, holds: fn(&[u8]) -> bool| corpus(target).iter().filter(|file| holds(file)).count();
    assert_eq!(count("state", fuzz::state), 2);
    assert_eq!(count("safetensors", fuzz::safetensors), 1);
    assert_eq!(count("npz", fuzz::npz), 2);
}

/// Calls of operators that bytes choose, and signatures that are refused or not.
#[test]
fn the_corpora_of_calls_hold() {
    assert!(corpus("eager").iter().any(|file| fuzz::eager(file)));
    let library = |file: &&Vec<u8>| fuzz::library(&String::from_utf8_lossy(file));
    assert_eq!(corpus("library").iter().filter(library).count(), 4);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut n_results = 0;
    for _ in 0..4000 {
        let bytes: Vec<u8> = (0..8 + dice.below(120)).map(|_| dice.below(256) as u8).collect();
        n_results += usize::from(fuzz::eager(&bytes));
    }
    assert!(n_results > 20, "only {n_results} last calls had results");
    let texts = corpus("library");
    for _ in 0..1000 {
        let text = String::from_utf8_lossy(&texts[dice.below(texts.len())]).into_owned();
        fuzz::library(&damaged(&text, &mut dice));
    }
}

/// Checkpoints and archives with damaged bytes: refused, or read.
#[test]
fn damaged_checkpoints_and_arrays_hold() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for (target, holds) in
        [("state", fuzz::state as fn(&[u8]) -> bool), ("safetensors", fuzz::safetensors), ("npz", fuzz::npz)]
    {
        let files = corpus(target);
        for _ in 0..1000 {
            let bytes = damaged_bytes(&files[dice.below(files.len())], &mut dice);
            holds(&bytes);
        }
    }
}

/// ONNX models with damaged bytes: refused, or compiled. `BEFROST_DAMAGED_MODELS` sets their number.
#[test]
fn damaged_onnx_models_hold() {
    let n = std::env::var("BEFROST_DAMAGED_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let mut all = Vec::new();
    files(&testdata().join("onnx"), &mut all);
    all.retain(|file| file.extension().is_some_and(|extension| extension == "onnx"));
    let models: Vec<Vec<u8>> = all.iter().filter_map(|file| fs::read(file).ok()).collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut n_models, mut n_refused) = (0, 0);
    for _ in 0..n {
        let model = &models[dice.below(models.len())];
        if model.len() > 1 << 14 {
            continue;
        }
        match fuzz::onnx(&damaged_bytes(model, &mut dice)) {
            true => n_models += 1,
            false => n_refused += 1,
        }
    }
    assert!(n_models > 0 && n_refused > 0, "{n_models} were models, {n_refused} were refused");
}

/// The files of a SavedModel, by name.
struct Sample(BTreeMap<String, Vec<u8>>);

impl ModelFiles for Sample {
    fn read(&self, name: &str) -> Result<Bytes, String> {
        self.0.get(name).map(|file| file.clone().into()).ok_or_else(|| "it is not there".to_owned())
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

fn samples() -> Vec<Sample> {
    let mut all = Vec::new();
    files(&testdata().join("saved_models"), &mut all);
    let models = all.iter().filter(|file| file.file_stem().is_some_and(|stem| stem == "saved_model"));
    let sample = |model: &PathBuf| {
        let root = model.parent().expect("a file is in a folder");
        let beside = all.iter().filter_map(|file| {
            let name = file.strip_prefix(root).ok()?.to_str()?.to_owned();
            Some((name, fs::read(file).expect("a file of a model can be read")))
        });
        Sample(beside.collect())
    };
    models.map(sample).collect()
}

/// SavedModels with one damaged file each: refused, or compiled. `BEFROST_DAMAGED_MODELS` sets their number.
#[test]
fn damaged_saved_models_hold() {
    let n = std::env::var("BEFROST_DAMAGED_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let samples = samples();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut n_models, mut n_refused) = (0, 0);
    for _ in 0..n {
        let Sample(mut files) = Sample(samples[dice.below(samples.len())].0.clone());
        let names: Vec<String> = files.keys().cloned().collect();
        // Three times in four the description, most of which is decoded.
        let is_model = |name: &&String| name.starts_with("saved_model");
        let name = match dice.below(4) {
            0 => &names[dice.below(names.len())],
            _ => names.iter().find(is_model).unwrap_or(&names[0]),
        };
        let file = files.get_mut(name).expect("it is one of them");
        *file = damaged_bytes(file, &mut dice);
        let (name, model) = files.iter().find(|(name, _)| is_model(name)).expect("each sample has one");
        let (is_text, model) = (name.ends_with(".pbtxt"), model.clone());
        match fuzz::saved_model(&model, is_text, &Sample(files)) {
            true => n_models += 1,
            false => n_refused += 1,
        }
    }
    assert!(n_models > 0 && n_refused > 0, "{n_models} were models, {n_refused} were refused");
}

#[test]
fn the_corpus_of_devices_holds() {
    let texts: Vec<String> =
        corpus("devices").iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    assert_eq!(texts.iter().filter(|text| fuzz::devices(text)).count(), 4);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut n_sets, n) = (0, 10_000);
    for _ in 0..n {
        let text = damaged(&texts[dice.below(texts.len())], &mut dice);
        n_sets += usize::from(fuzz::devices(&text));
    }
    assert!(n_sets > 100 && n_sets < n, "{n_sets} were sets");
}

#[test]
fn the_corpus_of_filecheck_holds() {
    for input in corpus("filecheck") {
        fuzz::file_check(&input);
    }
}

/// One or two edits: the end cut off, or a byte changed, removed or inserted.
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
    let (n_graphs, _) = damage("graphdefs", 400, fuzz::graphdef);
    assert!(n_graphs > 4, "only {n_graphs} were graphs");
}

/// Damaged forward graphs are refused, or trained.
#[test]
fn damaged_training_holds() {
    let (n_trained, n) = damage("training", 80, fuzz::training);
    assert!(n_trained > 1 && n_trained < n, "{n_trained} of {n} were trained");
}

/// The number of damaged graphs that are accepted, of `n` made of the graphs in a folder.
fn damage(folder: &str, n: u32, is_accepted: fn(&[u8]) -> bool) -> (u32, u32) {
    let mut all = Vec::new();
    files(&testdata().join(folder), &mut all);
    let graphs: Vec<Vec<u8>> = all
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "pb"))
        .map(|file| fs::read(file).expect("a graph can be read"))
        .filter(|graph| graph.len() < 20_000)
        .collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut n_accepted = 0;
    for _ in 0..n {
        let graph = damaged_bytes(&graphs[dice.below(graphs.len())], &mut dice);
        n_accepted += u32::from(is_accepted(&graph));
    }
    (n_accepted, n)
}

/// The length-delimited records of a protobuf message: the tag of the field, and the bytes after the length.
fn records(mut bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut found = Vec::new();
    while let [tag, rest @ ..] = bytes {
        let (mut length, mut n) = (0, 0);
        while rest.get(n)? & 0x80 != 0 {
            length |= usize::from(rest[n] & 0x7f) << (7 * n);
            n += 1;
        }
        length |= usize::from(rest[n]) << (7 * n);
        found.push((*tag, rest.get(n + 1..n + 1 + length)?));
        bytes = &rest[n + 1 + length..];
    }
    Some(found)
}

fn record(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let (mut record, mut length) = (vec![tag], bytes.len());
    while length > 0x7f {
        record.push(length as u8 | 0x80);
        length >>= 7;
    }
    record.push(length as u8);
    [&record, bytes].concat()
}

/// The protobuf tags of a node in a graph, and of a node's name, op and inputs.
const NODE: u8 = 0x0a;
const NAME: u8 = 0x0a;
const OP: u8 = 0x12;
const INPUT: u8 = 0x1a;

/// The graph with one to three nodes removed, or given other inputs, more inputs or another op.
fn rewired(graph: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    const PRIMITIVES: [&str; 8] =
        ["Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "Identity", "ControlTrigger"];
    let mut nodes: Vec<(u8, Vec<u8>)> =
        records(graph)?.into_iter().map(|(tag, bytes)| (tag, bytes.to_vec())).collect();
    let names: Vec<Vec<u8>> = nodes
        .iter()
        .filter(|(tag, _)| *tag == NODE)
        .filter_map(|(_, node)| Some(records(node)?.into_iter().find(|(tag, _)| *tag == NAME)?.1.to_vec()))
        .collect();
    for _ in 0..1 + dice.below(3) {
        let (at, other) = (dice.below(nodes.len()), &names[dice.below(names.len())]);
        if nodes[at].0 != NODE {
            continue;
        }
        let mut parts: Vec<(u8, Vec<u8>)> =
            records(&nodes[at].1)?.into_iter().map(|(tag, bytes)| (tag, bytes.to_vec())).collect();
        let inputs: Vec<usize> = (0..parts.len()).filter(|&i| parts[i].0 == INPUT).collect();
        let edge = [&b"^"[..], other].concat();
        match dice.below(6) {
            0 => _ = nodes.remove(at),
            1 => {
                let op = parts.iter_mut().find(|(tag, _)| *tag == OP)?;
                op.1 = PRIMITIVES[dice.below(PRIMITIVES.len())].into();
            }
            2 => parts.insert(inputs.last().map_or(2, |i| i + 1), (INPUT, edge)),
            _ if inputs.is_empty() => {}
            n => {
                let port: &[u8] = if n == 3 { b":1" } else { b"" };
                let input = &mut parts[inputs[dice.below(inputs.len())]].1;
                *input = if input.starts_with(b"^") { edge } else { [other, port].concat() };
            }
        }
        if let Some(node) = nodes.get_mut(at) {
            node.1 = parts.iter().flat_map(|(tag, bytes)| record(*tag, bytes)).collect();
        }
    }
    Some(nodes.iter().flat_map(|(tag, bytes)| record(*tag, bytes)).collect())
}

/// Rewired graphs with dataflow control flow are refused or compiled.
#[test]
fn rewired_graphs_hold() {
    let mut all = Vec::new();
    files(&testdata().join("graphdefs"), &mut all);
    let is_dataflow = |file: &&PathBuf| {
        let text = file.to_string_lossy();
        text.ends_with(".pb") && (text.contains("/v1_") || text.contains("/grad_cond_v1"))
    };
    let graphs: Vec<Vec<u8>> =
        all.iter().filter(is_dataflow).map(|file| fs::read(file).expect("a graph can be read")).collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut n_graphs = 0;
    for _ in 0..300 {
        let graph = rewired(&graphs[dice.below(graphs.len())], &mut dice).expect("a graph has records");
        n_graphs += usize::from(fuzz::graphdef(&graph));
    }
    assert!(n_graphs > 50, "only {n_graphs} were graphs");
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
