//! Graphs with gradients and updates: names, values, training by sessions and by training programs, refusals.
#![cfg(feature = "compile")]
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use befrost::{
    CallOptions, Gradients, Graph, HostTensor, Optimizer, Resources, RunOptions, Runtime, Session, Training,
    Variables,
};

/// The number of images of a batch.
const BATCH: usize = 4;

fn digits() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/training/digits_cnn.pb")
}

/// Images and labels.
fn batch(seed: usize) -> [(&'static str, HostTensor); 2] {
    let pixels: Vec<f32> = (0..BATCH * 64).map(|i| ((i * 7 + seed * 13) % 17) as f32 / 17.0).collect();
    let labels: Vec<i32> = (0..BATCH).map(|i| ((i + seed) % 10) as i32).collect();
    let images = HostTensor::from_vec([BATCH, 64], pixels).expect("images");
    [("images:0", images), ("labels:0", HostTensor::from_vec([BATCH], labels).expect("labels"))]
}

fn numbers(results: &befrost::Results, name: &str) -> Vec<f32> {
    results[name].tensor().expect("a tensor").to_vec().expect("floats")
}

fn initialized(graph: Graph) -> Session {
    let session = Session::builder().graph(graph).expect("a session");
    session.run_with::<HostTensor>(&[], &[], &RunOptions::targets(["init"])).expect("the initialization");
    session
}

#[test]
fn gradients_are_fetched_by_name() {
    let mut graph = Graph::open(digits()).expect("a graph");
    let options = Gradients::default();
    let [dx, none] = graph.gradients(&["loss:0"], &["images:0", "labels:0"], &options).expect("gradients");
    assert_eq!((dx.as_deref(), none), (Some("gradients/images:0"), None));
    // A second request has names of its own; the second derivative is one by both.
    let twice = Gradients { order: 2, ..Gradients::default() };
    let second = graph.gradients_by(&["loss"], &["images", "conv0/w"], &twice).expect("second gradients");
    let second: Vec<&str> = second.iter().map(|name| name.as_deref().expect("a gradient")).collect();
    assert_eq!(second, ["gradients_1/images:0", "gradients_1/conv0/w:0"]);
    let zeros = Gradients { unconnected_zeros: true, name: "g".to_owned(), ..Gradients::default() };
    let [zero] = graph.gradients(&["loss:0"], &["images:0"], &zeros).expect("gradients");
    assert_eq!(zero.as_deref(), Some("g/images:0"));

    let session = initialized(graph);
    let feeds = batch(1);
    let results =
        session.run(&feeds, &["gradients/images:0", "loss:0", "gradients_1/images"]).expect("a run");
    let (dx, loss) = (numbers(&results, "gradients/images:0"), numbers(&results, "loss:0")[0]);
    assert_eq!(dx.len(), BATCH * 64);
    assert_eq!(numbers(&results, "gradients_1/images").len(), BATCH * 64);
    // Alone, and under another name, it is the same.
    let alone = session.run(&feeds, &["g/images"]).expect("a run");
    assert_eq!(numbers(&alone, "g/images"), dx);
    // The loss changes along the gradient as it says.
    let step = 1e-2 / dx.iter().map(|d| d * d).sum::<f32>().sqrt();
    let pixels: Vec<f32> = feeds[0].1.to_vec().expect("pixels");
    let moved = |by: f32| {
        let pixels = pixels.iter().zip(&dx).map(|(x, d)| x + by * d).collect();
        let images = HostTensor::from_vec([BATCH, 64], pixels).expect("images");
        let feeds = [("images:0", images), feeds[1].clone()];
        numbers(&session.run(&feeds, &["loss:0"]).expect("a run"), "loss:0")[0]
    };
    let (high, low) = (moved(step), moved(-step));
    let (found, want) = ((high - low) / (2.0 * step), dx.iter().map(|d| d * d).sum::<f32>());
    assert!((found - want).abs() < 0.05 * want, "{found} instead of {want}, at a loss of {loss}");
    // What does not exist cannot be fetched.
    let error = session.run(&feeds, &["gradients/labels:0"]).expect_err("no gradient");
    assert!(error.message().contains("gradients/labels"), "{error}");
}

#[test]
fn a_session_trains_as_a_training_program() {
    let optimizer = Optimizer::adam(2e-3);
    let mut graph = Graph::open(digits()).expect("a graph");
    let [dw] = graph.gradients(&["loss:0"], &["conv0/w:0"], &Gradients::default()).expect("a gradient");
    let dw = dw.expect("a gradient");
    let train = graph.minimize("loss:0", &optimizer).expect("a step");
    let session = initialized(graph);

    let bef = Training::of("loss").metric("accuracy").optimizer(&optimizer.to_string()).compile(&*digits());
    let runtime = Runtime::builder().build().expect("a runtime");
    let program = runtime.load_bytes(&bef.expect("a program")).expect("a program");
    let resources = Resources::default();
    let options = CallOptions { resources: resources.clone(), ..CallOptions::default() };
    program.function("init").and_then(|init| init.call_with([], &options)).expect("the initialization");
    let step = program.function("step").expect("a step");
    for i in 0..4 {
        let feeds = batch(i);
        let fetches = if i % 2 == 0 { vec!["loss:0", "accuracy:0"] } else { vec![&*dw, "loss:0"] };
        let results = session.run_with(&feeds, &fetches, &RunOptions::targets([&train])).expect("a step");
        let named = feeds.map(|(name, x)| (name.trim_end_matches(":0"), x.into()));
        let arguments = step.by_name(named).expect("arguments");
        let want = step.call_with(arguments, &options).expect("a step");
        let want: Vec<f32> = want[0].tensor().expect("the loss").to_vec().expect("a float");
        assert_eq!(numbers(&results, "loss:0"), want, "step {i}");
        if i % 2 == 1 {
            assert_eq!(numbers(&results, &dw).len(), 3 * 3 * 16);
        }
    }
    // All variables, slots and counters are the same.
    let sorted = |variables: &Variables| {
        let mut all = variables.snapshot().expect("variables");
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let bytes = |x: &HostTensor| x.read_bytes().expect("bytes").to_vec();
        all.into_iter().map(|(name, x)| (name, bytes(&x))).collect::<Vec<_>>()
    };
    let want = sorted(&Variables::of(&resources));
    assert!(want.iter().any(|(name, _)| name == "conv0/w/Adam_1"));
    assert_eq!(sorted(&session.variables()), want);
}

#[test]
fn what_cannot_be_added_is_refused() {
    let mut graph = Graph::open(digits()).expect("a graph");
    let options = Gradients::default();
    let error = graph.gradients(&["loss:0"], &["nothing:0"], &options).expect_err("no tensor");
    assert!(error.message().contains("nothing"), "{error}");
    let error = graph.gradients_by(&["loss:0"], &[], &options).expect_err("no x");
    assert!(error.message().contains("need a y and an x"), "{error}");
    let error = graph.minimize("accuracy:0", &Optimizer::sgd(0.1)).expect_err("no gradient");
    assert!(!error.message().is_empty());
    let error = graph.minimize("loss:0", &Optimizer::sgd(-0.1)).expect_err("a negative rate");
    assert!(error.message().contains("negative"), "{error}");
    let train = graph.minimize("loss:0", &Optimizer::momentum(0.1, 0.9)).expect("a step");
    let error = graph.minimize("loss:0", &Optimizer::sgd(0.1)).expect_err("a second optimizer");
    assert!(error.message().contains("an optimizer already"), "{error}");
    let session = Session::builder().graph(graph).expect("a session");
    let error = session.run_with::<HostTensor>(&[], &[], &RunOptions::targets(["init", &*train]));
    assert!(error.expect_err("two things at once").message().contains("runs alone"));
    assert!(Graph::open("nothing.pb").is_err() && Graph::open(env!("CARGO_MANIFEST_DIR")).is_err());
}
