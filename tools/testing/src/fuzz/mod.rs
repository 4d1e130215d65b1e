//! Properties that hold for every input: text, model, checkpoint, file of arrays, devices, input of
//! FileCheck, call.
//! The fuzz targets and the tests that run their corpora share them.
//!
//! A parsed program is printed in every form. Each printed text parses to the same program and prints the
//! same again. A program that the verifier accepts is accepted after every pass. The code under test never
//! panics. A violated property is a panic of the function here; its message contains the input if that is
//! text.

mod eager;

use std::sync::Arc;

use bef_format::AlignedBytes;
use bef_format::device::{DeviceName, DeviceSet, DeviceSpec};
use befrost_compiler::diag::{self, Diagnostic};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::graph;
use befrost_compiler::import::files::{ModelFiles, NoFiles};
use befrost_compiler::import::savedmodel::{TensorFlowKind, TensorFlowModel};
use befrost_compiler::import::{self, ImportOptions, TrainingParts};
use befrost_compiler::ir::Module;
use befrost_compiler::pass::{Event, PassManager, RunOptions};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::train::{self, Optimizer, TrainOptions};
use befrost_compiler::verify::verify;
use befrost_tensor::bundle::{Bundle, Bytes, CheckpointState};
use befrost_tensor::mem::{Allocator, Limited, Malloc};
use befrost_tensor::npy;
use befrost_train::{Checkpoint, Dataset};

use befrost_tools::filecheck;

pub use eager::{eager, library};

/// The pipelines for every verified program.
pub const PIPELINES: [&str; 8] = [
    "canonicalize",
    "cse",
    "inline",
    "sccp",
    "symbol-dce",
    "loop-invariant-code-motion",
    "strip-debuginfo",
    "inline,canonicalize,cse,sccp,symbol-dce",
];

/// True if a run of passes ended because a pass broke the module, or panicked.
fn is_our_bug(said: &Diagnostic) -> bool {
    matches!(said.code, "E0504" | "E0505")
}

fn read(text: &str) -> Result<Module, Vec<Diagnostic>> {
    let result = parse("t", text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() });
    result.module.ok_or(result.diagnostics)
}

fn forms() -> impl Iterator<Item = PrintOptions> {
    let bit = |bits: u8, n: u8| bits >> n & 1 != 0;
    (0..8).map(move |bits| PrintOptions {
        generic: bit(bits, 0),
        keep_names: bit(bits, 1),
        locations: bit(bits, 2),
        ..PrintOptions::default()
    })
}

/// The target `text`: the properties of programs in the module's documentation. Returns whether the text is a
/// program.
pub fn text(text: &str) -> bool {
    let module = match read(text) {
        Ok(module) => module,
        Err(found) => {
            assert!(diag::has_errors(&found), "neither a program nor an error: {text:?}");
            return false;
        }
    };
    let everything =
        PrintOptions { generic: true, keep_names: false, locations: true, ..PrintOptions::default() };
    let wanted = print(&module, &everything);
    for form in forms() {
        let printed = print(&module, &form);
        let again =
            read(&printed).unwrap_or_else(|found| panic!("{text:?}\nis printed as\n{printed}\n{found:?}"));
        assert_eq!(print(&again, &form), printed, "{form:?} of {text:?}");
        if form.locations {
            assert_eq!(print(&again, &everything), wanted, "after {form:?} of {text:?}");
        }
    }
    if verify(module).is_ok() {
        passes(text, &wanted);
    }
    true
}

/// Checks that every pipeline leaves a verified program verified and printable.
fn passes(text: &str, printed: &str) {
    for pipeline in PIPELINES {
        let Ok(module) = read(printed) else { panic!("not read again: {text:?}") };
        let module =
            verify(module).unwrap_or_else(|found| panic!("not well-formed again: {text:?}\n{found:?}"));
        let mut manager = PassManager::parse(pipeline)
            .unwrap_or_else(|error| panic!("the pipeline '{pipeline}' is wrong: {}", error.message));
        let mut options = RunOptions { verify_each: true, ..RunOptions::default() };
        match manager.run_with(module, &mut options) {
            Err(found) => {
                let broken = found.iter().any(is_our_bug);
                assert!(!broken, "{pipeline} breaks {text:?}\n{found:?}");
            }
            Ok((module, _)) => {
                let after = print(&module, &PrintOptions::default());
                assert!(read(&after).is_ok(), "{pipeline} of {text:?} prints\n{after}");
            }
        }
    }
}

/// The target `filecheck`: a check file up to the first NUL, then the input. Returns whether the check
/// passes.
pub fn file_check(data: &[u8]) -> bool {
    let at = data.iter().position(|&b| b == 0).unwrap_or(data.len());
    let (check_file, input) = (&data[..at], data.get(at + 1..).unwrap_or_default());
    let mut options = filecheck::Options { dump: filecheck::Dump::Always, ..filecheck::Options::default() };
    options.verbosity = filecheck::Verbosity::All;
    let source = |name, bytes| filecheck::Source { name, bytes };
    filecheck::check(&options, source("checks", check_file), source("input", input)).is_ok()
}

/// The target `devices`: a name, a spec or a set of devices that is read prints as a text that is read as the
/// same, and an error is inside of the text. Returns whether the text is a set.
pub fn devices(text: &str) -> bool {
    if let Ok(name) = text.parse::<DeviceName>() {
        assert_eq!(name.to_string().parse(), Ok(name), "{text:?}");
    }
    let spec = text.parse::<DeviceSpec>();
    if let Ok(spec) = &spec {
        assert_eq!(spec.to_string().parse().as_ref(), Ok(spec), "{text:?}");
    }
    let set = match text.parse::<DeviceSet>() {
        Ok(set) => set,
        Err(error) => {
            assert!(error.at <= text.len() && !error.to_string().is_empty(), "{text:?}: {error:?}");
            return false;
        }
    };
    assert_eq!(set.to_string().parse().as_ref(), Ok(&set), "{text:?} is printed as {set}");
    for ((name, _), spec) in set.devices().zip(&spec) {
        let is_same = spec.within(&name.to_spec()) == name.to_spec();
        assert_eq!(spec.matches(name), is_same, "{spec} and {name}");
    }
    true
}

/// The target `graphdef`: an imported graph that the verifier accepts stays valid after every pass at every
/// level; the file emitted for it, if any, is valid. Returns whether the bytes are a graph.
pub fn graphdef(bytes: &[u8]) -> bool {
    compiled(|| import::graphdef(bytes, bytes.len(), &ImportOptions::default()))
}

/// The target `training`: a forward graph, whose training program by the loss `loss` stays valid as a
/// [`graphdef`] does. Returns whether there is one.
pub fn training(bytes: &[u8]) -> bool {
    let parts = TrainingParts { loss: "loss".to_owned(), ..TrainingParts::default() };
    let options = ImportOptions { training: Some(Box::new(parts)), ..ImportOptions::default() };
    let optimizer = Some(Optimizer::default());
    compiled(|| {
        let module = verify(import::graphdef(bytes, bytes.len(), &options)?)?;
        let options = TrainOptions { optimizer: optimizer.clone(), ..TrainOptions::default() };
        Ok(train::build(module, &options)?.into_module())
    })
}

/// The target `pbtxt`: a graph as text, as [`graphdef`].
pub fn pbtxt(text: &str) -> bool {
    compiled(|| import::graphdef_text(text, &ImportOptions::default()))
}

/// The target `onnx`: an ONNX model, as [`graphdef`], and its description. Returns whether the bytes are a
/// model.
pub fn onnx(bytes: &[u8]) -> bool {
    let bytes = Bytes::copy_from_slice(bytes);
    _ = import::onnx::summary(bytes.clone());
    compiled(|| import::onnx(bytes.clone(), &ImportOptions::default(), &NoFiles))
}

/// The target `saved_model`: a SavedModel, binary or text, as [`graphdef`], and its description. Returns
/// whether the bytes are a model.
pub fn saved_model(bytes: &[u8], is_text: bool, files: &dyn ModelFiles) -> bool {
    let bytes = Bytes::copy_from_slice(bytes);
    let decode =
        || TensorFlowModel::decode(TensorFlowKind::SavedModel, bytes.clone(), is_text, "variables/variables");
    if let Ok(model) = decode() {
        model.summary(files);
    }
    let options = |freeze| ImportOptions { freeze, ..ImportOptions::default() };
    let import = |freeze| decode()?.import(&options(freeze), files).map(|imported| imported.module);
    compiled(|| import(true)) | compiled(|| import(false))
}

/// The target `bundle`: the length of the index in two bytes, the index, and the shard after it. All tensors
/// are read. Returns whether it is a bundle.
pub fn bundle(bytes: &[u8]) -> bool {
    let Some((length, files)) = bytes.split_first_chunk() else { return false };
    let (index, shard) = files.split_at(files.len().min(u16::from_le_bytes(*length).into()));
    let opened = Bundle::open("b", &mut |name| match name {
        "b.index" => Ok(index.to_vec().into()),
        _ => Ok(shard.to_vec().into()),
    });
    let Ok(bundle) = opened else { return false };
    for (name, entry) in bundle.tensors() {
        if let Ok(tensor) = bundle.read(name, "") {
            assert_eq!(tensor.dims, entry.dims, "{name} is read in another shape");
        }
    }
    true
}

/// The target `state`: the file `checkpoint` of a folder. A parsed file is written and parses to the same
/// state again. Returns whether the bytes are such a file.
pub fn state(bytes: &[u8]) -> bool {
    let Ok(state) = CheckpointState::parse(bytes) else { return false };
    let again = CheckpointState::parse(state.text().as_bytes());
    assert_eq!(again.as_ref(), Ok(&state), "written as {:?}", state.text());
    true
}

/// The target `safetensors`: all tensors are read. Returns whether it is such a file.
pub fn safetensors(bytes: &[u8]) -> bool {
    let file = file_of(bytes, ".safetensors");
    let Ok(checkpoint) = Checkpoint::open(file.path()) else { return false };
    for name in checkpoint.names() {
        let described = checkpoint.describe(&name);
        if let Ok(Some(tensor)) = checkpoint.read(&name) {
            let read = (tensor.dtype(), tensor.shape().dims().to_vec());
            assert_eq!(Some(read), described, "{name} is read as another tensor");
        }
    }
    true
}

/// The target `npz`: the array `x` of an archive. Returns whether it is read as examples.
pub fn npz(bytes: &[u8]) -> bool {
    let file = file_of(bytes, ".npz");
    Dataset::new().npz("x", file.path(), "x").is_ok()
}

/// A temporary file with these bytes, deleted when the value is dropped.
fn file_of(bytes: &[u8], end: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(end).tempfile();
    let file = file.unwrap_or_else(|error| panic!("no file can be made: {error}"));
    std::fs::write(file.path(), bytes).unwrap_or_else(|error| panic!("it cannot be written: {error}"));
    file
}

/// Checks that an imported program which the verifier accepts stays valid after every pass at every level,
/// and that the file emitted for it, if any, is valid. A program that the verifier refuses is skipped.
/// Returns whether the program was imported.
fn compiled(import: impl Fn() -> Result<Module, Vec<Diagnostic>>) -> bool {
    let mut imported = false;
    for level in 0..=2 {
        let module = match import() {
            Ok(module) => module,
            Err(found) => {
                assert!(diag::has_errors(&found), "neither a graph nor an error");
                return false;
            }
        };
        imported = true;
        let Ok(module) = verify(module) else { continue };
        let mut manager = PassManager::parse(&graph::pipeline(level))
            .unwrap_or_else(|error| panic!("the pipeline of level {level} is wrong: {}", error.message));
        let mut left = String::new();
        let mut observe = |event: Event<'_>, module: &Module, _| {
            if let Event::Failed(_) = event {
                left = print(module, &PrintOptions::default());
            }
        };
        let mut options =
            RunOptions { verify_each: true, observer: Some(&mut observe), ..RunOptions::default() };
        match manager.run_with(module, &mut options) {
            Err(found) => {
                let broken = found.iter().any(is_our_bug);
                assert!(!broken, "level {level} breaks the graph: {found:?}\n{left}");
            }
            Ok((module, _)) => {
                if let Ok(bytes) = emit_parts(&module, &EmitOptions::default()) {
                    let bytes = AlignedBytes::copy_of(&bytes.to_vec());
                    assert!(bef_format::validate(&bytes).is_ok(), "level {level} gives an invalid file");
                }
            }
        }
    }
    imported
}

/// Checks that strings are written and read again as the same strings.
fn same_strings(strings: &befrost_tensor::StringTensor, allocator: &Arc<dyn Allocator>) -> bool {
    let written = match npy::strings_to_bytes(strings) {
        Ok(written) => written,
        Err(error) => panic!("read, but not written: {error}"),
    };
    let again =
        npy::parse_array(&written, allocator).unwrap_or_else(|error| panic!("not read again: {error}"));
    let npy::Array::Strings(again) = again else { panic!("strings became numbers") };
    let same = befrost_tensor::compare::compare_strings(&again, strings);
    assert!(same.is_ok_and(|report| report.is_match()));
    true
}

/// The memory limit of [`npy`], above the needs of every file of the corpus.
const NPY_MEMORY: usize = 1 << 24;

/// The target `npy`: a file that was read is written and read again as the same tensor. Returns whether the
/// bytes are a tensor.
pub fn npy(bytes: &[u8]) -> bool {
    let allocator: Arc<dyn Allocator> = Arc::new(Limited::new(Malloc::shared(), NPY_MEMORY));
    let tensor = match npy::parse_array(bytes, &allocator) {
        Ok(npy::Array::Numbers(tensor)) => tensor,
        Ok(npy::Array::Strings(strings)) => return same_strings(&strings, &allocator),
        Err(_) => return false,
    };
    let written = npy::to_bytes(&tensor).unwrap_or_else(|error| panic!("read, but not written: {error}"));
    let again = npy::parse(&written, &allocator).unwrap_or_else(|error| panic!("not read again: {error}"));
    assert_eq!((again.dtype(), again.shape()), (tensor.dtype(), tensor.shape()));
    let elements = |tensor: &befrost_tensor::HostTensor| tensor.read_bytes().map(|bytes| bytes.to_vec());
    assert_eq!(elements(&again), elements(&tensor));
    true
}
