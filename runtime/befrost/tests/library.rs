//! The example `library`, a kernel library that `library!` defines: its kernels run, and its mistakes become
//! errors.
#![cfg(feature = "libraries")]
#![allow(unsafe_code, reason = "loads the library that is built beside this test")]

use std::path::{Path, PathBuf};

use befrost::eager::{OpAttrs, TensorHandle};
use befrost::{HostTensor, Library, Runtime};

/// The file of the library.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(Path::parent).expect("the folder of what was built");
    let library = folder.join("examples/liblibrary.so");
    assert!(library.exists(), "{} is not there: cargo test -p befrost builds it", library.display());
    library
}

/// A runtime with the library.
fn runtime() -> Runtime {
    let library = library();
    // SAFETY: it is the example of this crate, whose macro `library!` keeps the contract of
    // `befrost_library.h`.
    let loaded = unsafe { Library::load(&library) }.expect("it is accepted");
    assert_eq!(loaded.name(), "plane");
    let kernels = ["plane.length", "tf.PlaneScale", "plane.twice", "tf.PlaneWrong"];
    assert_eq!(loaded.kernels().collect::<Vec<_>>(), kernels);
    // SAFETY: as above.
    let builder = unsafe { Runtime::builder().work_queue("s").library(&library) }.expect("it is accepted");
    builder.build().expect("a runtime")
}

#[test]
#[cfg(target_os = "linux")]
fn operators_of_the_library_are_executed() {
    let core = runtime().eager();
    let x = TensorHandle::from(HostTensor::from_vec([3], vec![1.0f32, 2.0, 3.0]).expect("a tensor"));
    let scale = core.op("PlaneScale", OpAttrs::new().set("by", 2.5f32)).expect("an operator");
    let y = scale.call(std::slice::from_ref(&x)).expect("it is called").remove(0);
    assert_eq!(y.shape().expect("inferred").dims(), [3]);
    assert_eq!(y.wait().expect("it runs").to_vec::<f32>().expect("floats"), [2.5, 5.0, 7.5]);
    let empty = TensorHandle::from(HostTensor::from_vec([2, 0], Vec::<f32>::new()).expect("a tensor"));
    let y = scale.call(&[empty]).expect("it is called").remove(0).wait().expect("it runs");
    assert_eq!(y.shape().dims(), [2, 0]);
    let wide = TensorHandle::from(HostTensor::from_vec([1], vec![0.1f64]).expect("a tensor"));
    let y = scale.call(&[wide]).expect("it is called").remove(0).wait().expect("it runs");
    assert_eq!(y.to_vec::<f64>().expect("doubles"), [0.25]);
    let ints = TensorHandle::from(HostTensor::from_vec([1], vec![1i32]).expect("a tensor"));
    assert!(scale.call(&[ints]).and_then(|made| made[0].wait()).is_err());
    let negative = core.op("PlaneScale", OpAttrs::new().set("by", -1.0f32));
    let refused = negative.and_then(|op| op.call(&[x])).and_then(|made| made[0].wait());
    assert!(refused.expect_err("refused").to_string().contains("'by' is -1, which is negative"));
}

#[test]
#[cfg(target_os = "linux")]
fn mistakes_of_the_library_are_errors() {
    let core = runtime().eager();
    let fails = |how: i32| {
        let how = TensorHandle::from(HostTensor::from_vec([1], vec![how]).expect("a tensor"));
        let made = core.execute("PlaneWrong", &[how], OpAttrs::new()).and_then(|made| made[0].wait());
        made.expect_err("it fails")
    };
    let expected = [
        (0, "as it was told"),
        (1, "the kernel library has panicked"),
        (2, "the operand has elements of i32, expected f32"),
        (3, "there is no operand #1"),
        (4, "result #1 of 1 is set"),
        (5, "result #0 is set twice"),
        (6, "result #0 of sizes [-1] cannot be made"),
        (7, "operand #1 cannot be result #0"),
        (8, "result #0 is not set"),
    ];
    for (how, message) in expected {
        let error = fails(how);
        assert!(error.message().contains(message), "{how}: {error}");
    }
}

/// A kernel that another thread finishes, or makes fail, or never finishes.
#[test]
#[cfg(all(target_os = "linux", feature = "compile"))]
fn results_of_the_library_come_later() {
    let text = "func.func @main(%x: i32) -> i32 {\n  %y = \"plane.twice\"(%x) : (i32) -> i32\n  \
                tfrt.return %y : i32\n}\n";
    let runtime = runtime();
    let bef = befrost::compile(befrost::Source::Text(text.to_owned())).expect("it compiles");
    let main = runtime.load_bytes(&bef).expect("it loads").function("main").expect("it is there");
    let twice = |x: i32| main.call_ok([x.into()]).map(|made| made[0].item::<i32>().expect("a number"));
    for x in 2..50 {
        assert_eq!(twice(x).expect("it is finished"), 2 * x);
    }
    assert!(twice(-3).expect_err("it fails").message().contains("-3 is negative"));
    assert!(twice(0).expect_err("it is dropped").message().contains("dropped before it was finished"));
    assert!(twice(1).expect_err("it fails").message().contains("1 is too small"));
}

#[test]
#[cfg(all(target_os = "linux", feature = "compile"))]
fn text_with_ops_of_the_library_is_compiled() {
    let runtime = runtime();
    let text = "func.func @main(%x: f64, %y: f64) -> f64 {\n  %l = \"plane.length\"(%x, %y) : (f64, f64) -> f64\n  \
                tfrt.return %l : f64\n}\n";
    let bef = befrost::compile(befrost::Source::Text(text.to_owned())).expect("it compiles");
    let program = runtime.load_bytes(&bef).expect("it loads");
    let made = program.function("main").expect("it is there").call_ok([3.0f64.into(), 4.0f64.into()]);
    assert!(matches!(made.expect("it runs")[0].value(), befrost::Value::F64(5.0)));
}

#[test]
#[cfg(all(target_os = "linux", feature = "compile"))]
fn a_session_has_the_kernels_of_a_library() {
    use befrost::Session;

    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<2xf32> {bef.name = \"x\"}) -> (tensor<2xf32> {bef.name = \"y\"}) {\n  \
                %y = \"tf.PlaneScale\"(%x) {by = 2.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>\n  \
                func.return %y : tensor<2xf32>\n}\n";
    let path = folder.path().join("scaled.mlir");
    std::fs::write(&path, text).expect("a file");
    // SAFETY: as above.
    let builder = || unsafe { Session::builder().library(library()) }.expect("it is accepted");
    let session = builder().open(&path).expect("a session");
    let x = HostTensor::from_vec([2], vec![1.0f32, 2.0]).expect("a tensor");
    let made = session.run(&[("x", x)], &["y"]).expect("a run");
    assert_eq!(made[0].tensor().expect("a tensor").to_vec::<f32>().expect("floats"), [2.0, 4.0]);
    let error = builder().runtime(&runtime()).open(&path).expect_err("they contradict each other");
    assert!(error.message().contains("give them to the runtime's builder"), "{error}");
    // SAFETY: as above.
    let twice = unsafe { builder().library(library()) }.expect_err("its names are taken");
    assert!(twice.to_string().contains("has a kernel 'plane.length' already"), "{twice}");
}

/// Models whose files are mapped give the values of those that are read.
#[test]
#[cfg(feature = "compile")]
fn files_of_models_are_mapped() {
    use befrost::Session;

    let data = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    let folder = tempfile::tempdir().expect("a folder");
    let compiled = folder.path().join("mlp.bef");
    Session::open(data("digits/digits_mlp.pb")).expect("a session").save(&compiled).expect("saved");
    let images = [
        (data("digits/digits_mlp.pb"), vec![1, 64]),
        (data("digits/digits_cnn.onnx"), vec![1, 1, 8, 8]),
        (compiled, vec![1, 64]),
        (data("saved_models/keras_mlp/model"), vec![]),
    ];
    for (path, mut shape) in images {
        // SAFETY: nobody writes to the files.
        let open = |map| unsafe { Session::builder().map_weights(map) }.open(&path).expect("a session");
        let run = |session: &Session| {
            let (inputs, outputs) = (session.inputs().expect("inputs"), session.outputs().expect("outputs"));
            if shape.is_empty() {
                shape = inputs[0]
                    .shape()
                    .as_slice()
                    .expect("sizes")
                    .iter()
                    .map(|size| size.unwrap_or(1))
                    .collect();
            }
            let image = HostTensor::from_vec(shape.clone(), vec![0.5f32; shape.iter().product()]);
            let feeds = [(inputs[0].name(), image.expect("an image"))];
            let made = session.run(&feeds, &[outputs[0].name()]).expect("a run");
            made[0].tensor().expect("a tensor").to_vec::<f32>().expect("floats")
        };
        let mut run = run;
        assert_eq!(run(&open(true)), run(&open(false)), "{}", path.display());
    }
}
