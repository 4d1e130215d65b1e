//! Functions of sessions as files of their own: with the values that the variables have, without the model.
#![cfg(feature = "compile")]
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use befrost::{
    Datum, ErrorCode, Graph, HostTensor, Model, Optimizer, Registry, RunOptions, Runtime, Session, npy,
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn runtime() -> Runtime {
    Runtime::builder().work_queue("s").build().expect("a runtime")
}

fn array(path: &str) -> HostTensor {
    npy::read_file(&data(path), runtime().allocator()).expect("an array")
}

fn floats(tensor: &HostTensor) -> Vec<f32> {
    tensor.to_vec().expect("floats")
}

fn are_near(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-4 * b.abs().max(1.0))
}

/// The error of a session that cannot be saved.
fn refused(session: &Session, path: &Path, want: &str) {
    let error = session.save(path).expect_err(want);
    assert!(error.message().contains(want), "{error}");
    assert!(!path.exists(), "{want}");
}

#[test]
fn trained_variables_are_constants_of_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut graph = Graph::open(data("training/digits_cnn.pb")).expect("a graph");
    let train = graph.minimize("loss:0", &Optimizer::adam(1e-2)).expect("a step");
    let session = Session::builder().graph(graph).expect("a session");
    let early = folder.path().join("early.bef");
    let error = session.save_part(&early, &[], &["logits"]).expect_err("no values yet");
    assert!(error.message().contains("has no value"), "{error}");
    session.run_with::<HostTensor>(&[], &[], &RunOptions::targets(["init"])).expect("the initialization");
    let pixels: Vec<f32> = (0..4 * 64).map(|i| (i % 17) as f32 / 16.0).collect();
    let images = HostTensor::from_vec([4, 64], pixels).expect("images");
    let labels = HostTensor::from_vec([4], vec![1i32, 2, 3, 4]).expect("labels");
    let feeds = [("images:0", images.clone()), ("labels:0", labels)];
    let train = RunOptions::targets([&train]);
    session.run_with(&feeds, &["loss:0"], &train).expect("a step");
    let logits = || {
        let results = session.run(&[("images", images.clone())], &["logits"]).expect("a run");
        floats(results[0].tensor().expect("a tensor"))
    };
    let want = logits();
    session.save_part(&early, &["images"], &["logits"]).expect("saved");
    // The variables go on, in place; the file keeps the values that it was given.
    for _ in 0..5 {
        session.run_with(&feeds, &["loss:0"], &train).expect("a step");
    }
    let late = folder.path().join("late.bef");
    session.save_part(&late, &[], &["logits:0"]).expect("saved");
    assert!(!are_near(&logits(), &want));
    let by = |path: &Path| {
        let model = Model::load_with(&runtime(), path, &befrost::CompileOptions::default()).expect("a model");
        assert_eq!((model.inputs()[0].name(), model.outputs()[0].name()), ("images", "logits"));
        floats(&model.run([images.clone()]).expect("a run")[0])
    };
    assert!(are_near(&by(&early), &want));
    assert!(are_near(&by(&late), &logits()));
    // Once more from the file, which has no variables.
    let again = folder.path().join("again.bef");
    Session::open(&late).expect("a session").save(&again).expect("saved");
    assert!(are_near(&by(&again), &logits()));
    let error = session.save_part(&again, &["images"], &["logit"]).expect_err("no such tensor");
    assert!(error.message().contains("did you mean 'logits'"), "{error}");
    let nowhere = folder.path().join("no/such/folder.bef");
    let error = session.save_part(&nowhere, &[], &["logits"]).expect_err("no such folder");
    assert!(error.message().starts_with("cannot write '"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 3, "no parts of files stay");
}

#[test]
fn signatures_are_saved_by_the_names_of_their_ports() {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("saved.bef");
    let session = Session::open(data("saved_models/keras_mlp/model")).expect("a session");
    session.save(&saved).expect("saved");
    let program = runtime().load(&saved).expect("it loads");
    let function = program.function("serving_default").expect("the signature");
    let x = array("saved_models/keras_mlp/i0_keras_tensor.npy");
    let made = function.call_named([("keras_tensor", Datum::from(x))]).expect("a call");
    let want = array("saved_models/keras_mlp/o0_output_0.npy");
    assert!(are_near(&floats(made[0].tensor().expect("a tensor")), &floats(&want)));
    assert_eq!(function.results()[0].name(), "output_0");

    // Values that were set are the ones that are saved.
    let several = data("saved_models/two_signatures/model");
    let affine = Session::builder().signature("affine").open(&several).expect("a session");
    for (name, value) in affine.variables().snapshot().expect("variables") {
        if let Ok(values) = value.to_vec::<f32>() {
            let doubled = values.iter().map(|x| 2.0 * x).collect();
            let shape = value.shape().dims().to_vec();
            let value = HostTensor::from_vec(shape, doubled).expect("a tensor");
            affine.variables().set(&name, value).expect("it is set");
        }
    }
    affine.save(&saved).expect("saved");
    let x = array("saved_models/two_signatures/i0_x.npy");
    let want = affine.run(&[("x", x.clone())], &["y", "sum"]).expect("a run");
    let model = Model::load(&saved).expect("a model");
    let made = model.run_named([("x", x)]).expect("a run");
    for (port, made) in model.outputs().iter().zip(&made) {
        assert!(are_near(&floats(made), &floats(want[port.name()].tensor().expect("a tensor"))));
    }
}

#[test]
fn a_function_of_a_program_is_saved_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let handle = "%v = \"tf.VarHandleOp\"() {dtype = f32, shape = #tf_type.shape<2>, shared_name = \"w\"} : () -> \
                  tensor<!tf_type.resource<tensor<2xf32>>>";
    let text = format!(
        "func.func @main(%x: tensor<2xf32> {{bef.name = \"x\"}}) -> (tensor<2xf32> {{bef.name = \"y\"}}) {{
  {handle}
  %w = \"tf.ReadVariableOp\"(%v) : (tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  %s = \"tf.AddV2\"(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %s : tensor<2xf32>
}}
func.func @set(%x: tensor<2xf32> {{bef.name = \"x\"}}) -> (tensor<2xf32> {{bef.name = \"y\"}}) {{
  {handle}
  \"tf.AssignVariableOp\"(%v, %x) : (tensor<!tf_type.resource<tensor<2xf32>>>, tensor<2xf32>) -> ()
  func.return %x : tensor<2xf32>
}}
"
    );
    let source = folder.path().join("source.mlir");
    std::fs::write(&source, text).expect("a file");
    let main = Session::open(&source).expect("a session");
    let of_main = || Session::builder().variables(main.variables().resources().clone());
    let set = of_main().signature("set").open(&source).expect("a session");
    let pair = |values: [f32; 2]| HostTensor::from_vec([2], values.to_vec()).expect("a tensor");
    let saved = folder.path().join("saved.bef");
    refused(&main, &saved, "'w', which a 'tf.ReadVariableOp' reads, has no value");
    set.run(&[("x", pair([10.0, 20.0]))], &["y"]).expect("a run");
    refused(&set, &saved, "a 'tf.AssignVariableOp' changes one");
    main.save(&saved).expect("saved");
    let program = runtime().load(&saved).expect("it loads");
    let names: Vec<String> = program.functions().map(|function| function.name().to_owned()).collect();
    assert_eq!(names, ["main"]);
    let made = Model::load(&saved).expect("a model").run([pair([1.0, 2.0])]).expect("a run");
    assert_eq!(floats(&made[0]), [11.0, 22.0]);
    let error = main.save_part(&saved, &["x"], &["y"]).expect_err("a program");
    assert!(error.message().contains("runs as a whole"), "{error}");
}

#[test]
fn what_has_no_values_to_freeze_is_not_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("saved.bef");
    let of = |model: &str, signature: Option<&str>| {
        let builder = Session::builder();
        let builder = signature.into_iter().fold(builder, |builder, name| builder.signature(name));
        builder.open(data("saved_models").join(model).join("model")).expect("a session")
    };
    refused(&of("two_signatures", None), &saved, "name the signature; there are: add, affine, set_bias");
    refused(&of("two_signatures", Some("set_bias")), &saved, "the variables cannot be frozen");
    let tables = of("tables", None);
    let name = tables.signatures()[0].name().to_owned();
    refused(&of("tables", Some(&name)), &saved, "whose contents cannot be frozen");
    let mlp = Session::open(data("digits/digits_mlp.pb")).expect("a session");
    let error = mlp.save_part(&saved, &["images"], &[]).expect_err("nothing to fetch");
    assert!(error.message().contains("nothing to save"), "{error}");
}

#[test]
fn a_session_has_kernels_of_its_own() {
    let path = data("digits/digits_mlp.pb");
    let bare = Session::builder().kernels(Registry::new()).open(&path).expect("a session");
    let image = || HostTensor::from_vec([1, 64], vec![0.5f32; 64]).expect("an image");
    let error = bare.run(&[("images", image())], &["logits"]).expect_err("there are no kernels");
    assert_eq!(error.code(), ErrorCode::Unimplemented, "{error}");
    let standard = Session::builder().kernels(befrost::registry()).open(&path).expect("a session");
    assert!(standard.run(&[("images", image())], &["logits"]).is_ok());
    let both = Session::builder().runtime(&runtime()).kernels(befrost::registry());
    let error = both.open(&path).expect_err("they contradict each other");
    assert!(error.message().contains("give them to the runtime's builder"), "{error}");
    let program = runtime().load(data("bef/golden/v1_0_adds.bef")).expect("it loads");
    for builder in [Session::builder().runtime(&runtime()), Session::builder().kernels(Registry::new())] {
        let error = builder.program(&program).expect_err("a program has its runtime");
        assert!(error.message().contains("the runtime that loaded it"), "{error}");
    }
    assert!(Session::builder().runtime(program.runtime()).program(&program).is_ok());
}
