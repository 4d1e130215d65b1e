//! Models of each kind, loaded and run in the process.
#![forbid(unsafe_code)]
#![cfg(feature = "compile")]

use std::path::{Path, PathBuf};

use befrost::mem::{Allocator, Malloc};
use befrost::{CompileOptions, HostTensor, Model, Precision, Runtime, npy};

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

fn array(path: &str) -> HostTensor {
    let allocator: std::sync::Arc<dyn Allocator> = Malloc::shared();
    match npy::read_array_file(&testdata(path), &allocator).expect("an array") {
        npy::Array::Numbers(tensor) => tensor,
        npy::Array::Strings(_) => panic!("'{path}' has strings"),
    }
}

/// The most probable digit of each row.
fn digits(logits: &HostTensor) -> Vec<usize> {
    let logits: Vec<f32> = logits.to_vec().expect("f32");
    let best = |row: &[f32]| (0..10).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
    logits.chunks_exact(10).map(best).collect()
}

#[test]
fn onnx_and_graphdef_give_the_same_answers() {
    let images = array("digits/test_images.npy");
    let pixels = HostTensor::from_vec([360, 1, 8, 8], images.to_vec::<f32>().expect("f32"));
    let onnx = Model::load(testdata("digits/digits_cnn.onnx")).expect("a model");
    assert_eq!((onnx.inputs()[0].name(), onnx.outputs()[0].name()), ("pixels", "logits"));
    let a = onnx.run([pixels.expect("pixels")]).expect("logits");
    let graph = Model::load(testdata("digits/digits_cnn.pb")).expect("a model");
    let b = graph.run_named([("images", images)]).expect("logits");
    assert_eq!(digits(&a[0]), digits(&b[0]));
    let right: Vec<i32> = array("digits/test_labels.npy").to_vec().expect("i32");
    let n_right = digits(&a[0]).iter().zip(right).filter(|&(&got, want)| got == want as usize).count();
    assert_eq!(n_right, 357);
}

#[test]
fn signatures_share_the_variables_of_a_saved_model() {
    let folder = testdata("saved_models/linear_counter/model");
    let model = Model::load(&folder).expect("a model");
    let y = model.run([array("saved_models/linear_counter/x.npy")]).expect("y");
    let want: Vec<f32> = array("saved_models/linear_counter/y.npy").to_vec().expect("f32");
    let got: Vec<f32> = y[0].to_vec().expect("f32");
    assert!(got.len() == want.len() && got.iter().zip(&want).all(|(got, want)| (got - want).abs() < 1e-5));
    let count = model.signature("count").expect("a signature");
    assert!(model.signatures().contains(&"count".to_owned()));
    let next = |model: &Model| model.run([]).expect("n")[0].to_vec::<i64>().expect("i64");
    let first: Vec<i64> = array("saved_models/linear_counter/n1.npy").to_vec().expect("i64");
    assert_eq!(next(&count), first);
    assert_eq!(next(&count.clone()), [first[0] + 1]);
    // Another model of the same file has variables of its own.
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    let options =
        CompileOptions { level: 0, signature: Some("count".to_owned()), ..CompileOptions::default() };
    let other = Model::load_with(&runtime, &folder, &options).expect("a model");
    assert_eq!(next(&other), first);
    assert_eq!(next(&count), [first[0] + 2]);
}

#[test]
fn lower_precision_changes_few_answers() {
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    let images = array("digits/test_images.npy");
    let logits = |precision| {
        let options = CompileOptions { precision, ..CompileOptions::default() };
        let model = Model::load_with(&runtime, testdata("digits/digits_cnn.pb"), &options).expect("a model");
        model.run([images.clone()]).expect("logits").remove(0)
    };
    let exact = logits(None);
    for precision in Precision::ALL {
        let found = logits(Some(precision));
        assert_ne!(found.to_vec::<f32>().ok(), exact.to_vec::<f32>().ok(), "{precision:?} lowers something");
        let differ = digits(&found).iter().zip(digits(&exact)).filter(|&(&a, b)| a != b).count();
        assert!(differ <= 8, "{precision:?}: {differ} other answers");
    }
    let refused = |path: &str, level: u8, want: &str| {
        let options = CompileOptions { level, precision: Some(Precision::Bf16), ..CompileOptions::default() };
        let error = Model::load_with(&runtime, testdata(path), &options).expect_err(path).to_string();
        assert!(error.contains(want), "{path}: {error}");
    };
    refused("digits/digits_cnn.pb", 0, "no precision of bf16: optimization level 0 packs no weights");
    refused("bef/golden/v1_0_adds.bef", 2, "is compiled already");
}

#[test]
fn threads_run_one_model() {
    let model = Model::load(testdata("digits/digits_cnn.pb")).expect("a model");
    let images = array("digits/test_images.npy");
    let want = digits(&model.run([images.clone()]).expect("logits")[0]);
    let run = || {
        for _ in 0..10 {
            assert_eq!(digits(&model.run([images.clone()]).expect("logits")[0]), want);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(run))));
}

#[test]
fn files_that_are_no_models_are_refused() {
    let refused = |path: &str, want: &str| {
        let error = Model::load(testdata(path)).expect_err(path).to_string();
        assert!(error.contains(want), "{path}: {error}");
    };
    refused("digits", "is a folder without a SavedModel");
    refused("digits/README.md", "is neither MLIR text (.mlir), a TensorFlow graph");
    refused("digits/none.onnx", "cannot read");
    let image = array("digits/test_images.npy");
    let model = Model::load(testdata("digits/digits_cnn.onnx")).expect("a model");
    assert!(model.run([image.clone()]).is_err() && model.run([]).is_err());
    assert!(model.run_named([("image", image)]).expect_err("a name").to_string().contains("'image'"));
}
