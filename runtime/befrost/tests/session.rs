//! Sessions: variables that live between runs, interior feeds, many threads, and what is refused.
#![cfg(feature = "compile")]
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::Barrier;

use befrost::{HostTensor, RunOptions, Session, npy};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn array(case: &str, file: &str) -> HostTensor {
    let runtime = befrost::Runtime::builder().work_queue("s").build().expect("a runtime");
    npy::read_file(&data(case).join(file), runtime.allocator()).expect("an array")
}

/// Stochastic gradient descent, whose variable TensorFlow updated in five runs.
const TRAINED: &str = "partition/sgd_on_parameter_device";

#[test]
fn variables_live_between_runs() {
    let session = Session::builder().init("init").open(data(TRAINED).join("graph.pb")).expect("a session");
    let up = RunOptions { targets: vec!["up".to_owned()], ..RunOptions::default() };
    let text = std::fs::read_to_string(data(TRAINED).join("case.json")).expect("a file");
    let case: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for run in case["runs"].as_array().expect("runs") {
        let names = |key: &str| -> Vec<String> {
            let all = run[key].as_array().into_iter().flatten();
            all.map(|name| name.as_str().unwrap_or_default().to_owned()).collect()
        };
        let feeds = run["feeds"].as_array().into_iter().flatten();
        let feeds: Vec<(&str, HostTensor)> = feeds
            .map(|feed| {
                let file = feed["file"].as_str().unwrap_or_default();
                (feed["tensor"].as_str().unwrap_or_default(), array(TRAINED, file))
            })
            .collect();
        let options = RunOptions { targets: names("targets"), ..RunOptions::default() };
        let fetches = names("fetches");
        let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
        let results = session.run_with(&feeds, &fetches, &options).expect("a run");
        for output in run["outputs"].as_array().into_iter().flatten() {
            let name = output["tensor"].as_str().unwrap_or_default();
            let want = array(TRAINED, output["file"].as_str().unwrap_or_default());
            let want: Vec<f32> = want.to_vec().expect("floats");
            let got: Vec<f32> = results[name].tensor().expect("a tensor").to_vec().expect("floats");
            assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs() + 1e-6), "{name}");
        }
    }
    // What was trained is a variable that can be read, set, and restored.
    let names = session.variables().names().expect("names");
    assert_eq!(names.len(), 1, "{names:?}");
    let snapshot = session.variables().snapshot().expect("a snapshot");
    let feeds = [("x:0", array(TRAINED, "run0_feed_x.npy")), ("l:0", array(TRAINED, "run0_feed_l.npy"))];
    session.run_with(&feeds, &[], &up).expect("one more step");
    let changed: Vec<f32> = session.variables().get(&names[0]).expect("a value").to_vec().expect("floats");
    let before: Vec<f32> = snapshot[0].1.to_vec().expect("floats");
    assert_ne!(changed, before);
    session.variables().restore(snapshot).expect("restored");
    let restored: Vec<f32> = session.variables().get(&names[0]).expect("a value").to_vec().expect("floats");
    assert_eq!(restored, before);
    assert!(session.variables().get("nobody").is_err());
}

#[test]
fn any_tensor_is_fed_and_fetched() {
    let session = Session::open(data("digits/digits_mlp.pb")).expect("a session");
    let images = || HostTensor::from_vec([1, 64], vec![0.25f32; 64]).expect("a tensor");
    let logits = session.run(&[("images", images())], &["logits:0", "logits"]).expect("a run");
    assert_eq!(logits.len(), 2);
    let again = session.run(&[("images:0", images())], &["logits:0"]).expect("a run");
    let of = |results: &befrost::Results| -> Vec<f32> {
        results["logits"].tensor().expect("a tensor").to_vec().expect("floats")
    };
    assert_eq!(of(&logits), of(&again));
    let callable = session.callable(&["images:0"], &["logits:0"]).expect("a callable");
    assert_eq!(of(&callable.call([images()]).expect("a call")), of(&again));
    // What is fed is not computed: nothing else is needed then.
    let fed = HostTensor::from_vec([1, 10], vec![7f32; 10]).expect("a tensor");
    assert_eq!(of(&session.run(&[("logits:0", fed)], &["logits:0"]).expect("a run")), vec![7f32; 10]);
    let stats = session.stats();
    assert_eq!((stats.compilations, stats.hits, stats.executables), (3, 1, 3));
}

#[test]
fn each_set_of_names_is_compiled_once_whatever_threads_ask() {
    let session = Session::open(data("digits/digits_mlp.pb")).expect("a session");
    let images = HostTensor::from_vec([1, 64], (0..64).map(|i| i as f32 / 64.0).collect()).expect("a tensor");
    let run = |session: &Session| -> Vec<f32> {
        let results = session.run(&[("images", images.clone())], &["logits"]).expect("a run");
        results[0].tensor().expect("a tensor").to_vec().expect("floats")
    };
    let start = Barrier::new(8);
    let all: Vec<Vec<f32>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    (0..200).map(|_| run(&session)).next_back().expect("a result")
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(all.iter().all(|one| *one == all[0]));
    assert_eq!(session.stats().compilations, 1);
}

#[test]
fn what_is_wrong_is_said() {
    let session = Session::open(data("digits/digits_mlp.pb")).expect("a session");
    let images = || HostTensor::from_vec([1, 64], vec![0f32; 64]).expect("a tensor");
    let refused = |feeds: &[(&str, HostTensor)], fetches: &[&str], part: &str| {
        let error = session.run(feeds, fetches).expect_err(part);
        assert!(error.message().contains(part), "{}", error.message());
    };
    refused(&[("images", images())], &["logit"], "did you mean 'logits'?");
    refused(&[("image", images())], &["logits"], "did you mean 'images'?");
    refused(&[], &["logits"], "images");
    refused(&[], &[], "nothing to run");
    refused(&[("images", images()), ("images:0", images())], &["logits"], "fed twice");
    let flat = HostTensor::from_vec([64], vec![0f32; 64]).expect("a tensor");
    refused(&[("images", flat)], &["logits"], "images");
    assert!(Session::open("nowhere.pb").is_err());
    // What was refused is not kept.
    assert_eq!(session.stats().executables, 1);
}
