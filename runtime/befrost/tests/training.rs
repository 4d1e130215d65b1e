//! A training program has the options that `bef-train` has, and its trained model.
#![cfg(feature = "compile")]
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use befrost::{
    CallOptions, Clip, DType, Datum, HostTensor, Program, Recompute, Resources, Runtime, Training,
};

fn model(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/training").join(file)
}

fn load(bef: &[u8]) -> Program {
    Runtime::builder().work_queue("s").build().expect("a runtime").load_bytes(bef).expect("a program")
}

#[test]
fn each_option_is_in_the_description() {
    let training = Training::of("loss:0")
        .metric_of("right", "accuracy:0")
        .optimizer("momentum:lr=0.5,nesterov")
        .schedule("cosine:warmup=3")
        .steps(100)
        .clip(Clip::GlobalNorm(2.0))
        .l2("0.25")
        .weight_decay("0.125:only=rank>=2")
        .group("/b$:lr=1")
        .accumulate(4)
        .trainable("dense|conv0")
        .freeze("conv0/w")
        .recompute(Recompute::All);
    let program = load(&training.compile(model("digits_cnn.pb")).expect("a program"));
    let step = program.function("step").expect("a step");
    let description = step.attribute("bef.training").expect("a description");
    for part in [
        r#""metrics": ["right"]"#,
        r#""steps": 100, "accumulate": 4, "optimizer": {"name": "momentum", "lr": 0.5, "momentum": 0.9, "nesterov": true}"#,
        r#""clip": {"kind": "global_norm", "value": 2.0}"#,
        r#""name": "cosine""#,
        r#""warmup": 3"#,
        r#""groups": [{"pattern": "/b$", "lr": 1.0}]"#,
        r#""name": "conv0/b", "dtype": "f32", "shape": [16], "trainable": true"#,
        r#""name": "conv0/w", "dtype": "f32", "shape": [3, 3, 1, 16], "trainable": false"#,
    ] {
        assert!(description.contains(part), "{part} is not in {description}");
    }
}

#[test]
fn the_first_wrong_option_is_refused() {
    let check = |training: Training, want: &str| {
        let error = training.compile(model("digits_cnn.pb")).expect_err("it is refused").to_string();
        assert!(error.contains("E0909") && error.contains(want), "{error}");
    };
    let of = || Training::of("loss");
    check(of().optimizer("adamx").l2("many"), "there is no optimizer 'adamx'");
    check(of().clip(Clip::Value(0.0)), "gradients cannot be bounded by 0");
    check(of().clip(Clip::GlobalNorm(f64::NAN)), "gradients cannot be bounded by NaN");
    check(of().group("w"), "expected 'REGEX:key=value,..'");
    check(of().trainable("("), "'(' is no regular expression");
}

#[test]
fn a_graph_may_bring_its_own_step() {
    let training = Training::of("loss").train_op("remember").prediction("height");
    let program = load(&training.compile(model("follow.pbtxt")).expect("a program"));
    let description = program.function("step").expect("a step").attribute("bef.training").map(str::to_owned);
    assert!(description.expect("a description").contains(r#""optimizer": null"#));
    assert_eq!(program.function("predict").expect("predictions").results()[0].name(), "height");
}

#[test]
fn the_trained_model_predicts_as_the_program() {
    let training = Training::of("loss").optimizer("sgd:lr=0.5").trainable_constants("weight|bias");
    let program = load(&training.clone().compile(model("digits_mlp.onnx")).expect("a program"));
    let options = CallOptions { resources: Resources::default(), ..CallOptions::default() };
    let call = |program: &Program, name: &str| {
        let function = program.function(name).expect("a function");
        let arguments = function.arguments().iter().filter(|port| !port.is_chain()).map(|port| {
            let tensor = match port.dtype() {
                Some(DType::I32) => HostTensor::from_vec([2], vec![3i32, 7]),
                _ => HostTensor::from_vec([2, 64], (0..128).map(|i| (i % 17) as f32).collect()),
            };
            (port.name().to_owned(), Datum::from(tensor.expect("a tensor")))
        });
        let arguments: Vec<(String, Datum)> = arguments.collect();
        let arguments = arguments.iter().map(|(name, value)| (&name[..], value.clone()));
        let arguments = function.by_name(arguments).expect("arguments");
        let results = function.call_with(arguments, &options).expect("results");
        results.iter().find_map(|result| result.tensor().ok()?.to_vec::<f32>().ok()).unwrap_or_default()
    };
    call(&program, "init");
    let at_first = call(&program, "predict");
    call(&program, "step");
    let want = call(&program, "predict");
    assert_ne!(at_first, want);
    let bef = training.compile_trained(model("digits_mlp.onnx"), &options.resources).expect("a model");
    let got = call(&load(&bef), "main");
    let is_near = |(got, want): (&f32, &f32)| (got - want).abs() <= 1e-5 * want.abs();
    assert!(got.len() == want.len() && got.iter().zip(&want).all(is_near), "{got:?} instead of {want:?}");
}
