//! Sessions: variables that live between runs, feeds of inner tensors, many threads, refused requests.
#![cfg(feature = "compile")]
#![forbid(unsafe_code)]

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use befrost::{
    ErrorCode, HostTensor, Precision, Progress, Recorder, Resources, RunOptions, Runtime, Session, Shape,
    Shapes, npy,
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn array(case: &str, file: &str) -> HostTensor {
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    npy::read_file(&data(case).join(file), runtime.allocator()).expect("an array")
}

/// Stochastic gradient descent, with the results of TensorFlow's runs.
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
    // The trained parameters are variables that can be read, set, and restored.
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
fn a_variable_stays_where_it_was_placed_first() {
    let path = data("devices/kept-places.pbtxt");
    let resources = Resources::default();
    let session = || Session::builder().devices("CPU:3").place("first").variables(resources.clone());
    let first = session().open(&path).unwrap();
    first.run_with::<HostTensor>(&[], &[], &RunOptions::targets(["set"])).unwrap();
    // The second program names no device: by itself its variable would be on CPU:0.
    let results = first.run(&[], &["y"]).unwrap();
    assert_eq!(results["y"].tensor().unwrap().to_vec::<f32>().unwrap(), [3.0]);
    assert_eq!(first.variables().names().unwrap(), ["v"]);
    assert!(resources.list()[0].1.device().ends_with("CPU:2"));
    // A session that knows nothing of it has a variable of its own, on another device.
    let error = session().open(&path).unwrap().run(&[], &["y"]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FailedPrecondition, "{error}");
    assert!(first.variables().remove("v") && resources.list().len() == 1);
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
    assert_eq!(of(&callable.run([images()]).expect("a call")), of(&again));
    // A tensor that is fed is not computed, so the run needs no other input.
    let fed = HostTensor::from_vec([1, 10], vec![7f32; 10]).expect("a tensor");
    assert_eq!(of(&session.run(&[("logits:0", fed)], &["logits:0"]).expect("a run")), vec![7f32; 10]);
    let stats = session.stats();
    assert_eq!((stats.compilations, stats.hits, stats.executables), (3, 1, 3));
}

#[test]
fn the_tensors_of_a_graph_are_listed_with_their_types() {
    let session = Session::open(data("digits/digits_mlp.pb")).expect("a session");
    let tensors = session.tensors().expect("a list");
    let find = |name: &str| tensors.iter().find(|port| port.name() == name);
    let ty = |name: &str| find(name).map(befrost::Port::ty);
    assert_eq!((ty("images"), ty("logits")), (Some("tensor<?x64xf32>"), Some("tensor<?x10xf32>")));
    assert!(tensors.len() > 6, "{tensors:?}");
    // With dataflow control flow, those that every run has.
    let graph = data("partition/sgd_on_parameter_device/graph.pb");
    assert!(Session::open(graph).expect("a session").tensors().is_ok_and(|all| !all.is_empty()));
    assert_eq!(session.stats().compilations, 0);
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
    let stats = session.stats();
    assert_eq!(stats.compilations - stats.specializations, 1);
}

#[test]
fn mistakes_are_reported() {
    let session = Session::open(data("digits/digits_mlp.pb")).expect("a session");
    let images = || HostTensor::from_vec([1, 64], vec![0f32; 64]).expect("a tensor");
    let refused = |feeds: &[(&str, HostTensor)], fetches: &[&str], part: &str| {
        let error = session.run(feeds, fetches).expect_err(part);
        assert!(error.message().contains(part), "{}", error.message());
    };
    refused(&[("images", images())], &["logit"], "did you mean 'logits'?");
    refused(&[("image", images())], &["logits"], "did you mean 'images'?");
    refused(&[], &["logits"], "placeholder 'images' (tensor<?x64xf32>) is not fed, and 'logits' needs it");
    refused(&[], &[], "nothing to run");
    refused(&[("images", images()), ("images:0", images())], &["logits"], "fed twice");
    let flat = HostTensor::from_vec([64], vec![0f32; 64]).expect("a tensor");
    refused(&[("images", flat)], &["logits"], "images");
    assert!(Session::open("nowhere.pb").is_err());
    // One of two placeholders.
    let training = Session::open(data("training/digits_cnn.pb")).expect("a session");
    let error = training.run(&[("images", images())], &["logits", "loss"]).expect_err("no labels");
    let want = "'labels' (Placeholder): it is a tensor<?xi32> that must be fed, because 'loss' needs it";
    assert!(error.message().contains(want), "{error}");
    let graph = data("partition/sgd_on_parameter_device/graph.pb");
    let trained = Session::builder().init("init").open(graph).expect("a session").variables();
    let name = trained.names().expect("names").remove(0);
    let error = trained.get(&format!("{name}_")).expect_err("another name").to_string();
    assert!(error.ends_with(&format!("; did you mean '{name}'?")), "{error}");
    // A refused graph is not kept.
    assert_eq!(session.stats().executables, 1);
}

/// A builder of a session on a queue without threads, so a run waits for the program of a frequent size.
fn digits(shapes: Shapes) -> befrost::SessionBuilder {
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    Session::builder().runtime(&runtime).shapes(shapes)
}

fn images(n: usize) -> HostTensor {
    let pixels = (0..n * 64).map(|i| (i % 17) as f32 / 16.0).collect();
    HostTensor::from_vec([n, 64], pixels).expect("a tensor")
}

fn logits(session: &Session, n: usize) -> Vec<f32> {
    let results = session.run(&[("images", images(n))], &["logits"]).expect("a run");
    results[0].tensor().expect("a tensor").to_vec().expect("floats")
}

fn are_near(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-4 * b.abs().max(1.0))
}

#[test]
fn sizes_that_come_often_get_a_program_of_their_own() {
    let graph = data("digits/digits_mlp.pb");
    let declared = digits(Shapes::Declared).open(&graph).expect("a session");
    let auto = digits(Shapes::Auto).specializations(2).open(&graph).expect("a session");
    let exact = digits(Shapes::Exact).open(&graph).expect("a session");
    for (n, n_specialized) in [(1, 0), (1, 0), (1, 1), (2, 1), (1, 1), (2, 1), (2, 2), (3, 2), (1, 2)] {
        let want = logits(&declared, n);
        assert!(are_near(&logits(&auto, n), &want) && are_near(&logits(&exact, n), &want), "{n} images");
        assert_eq!(auto.stats().specializations, n_specialized, "{n} images");
    }
    // The third size has replaced the least recently used one, whose runs are counted from zero again.
    assert_eq!(declared.stats().specializations, 0);
    assert_eq!(exact.stats().specializations, 3);
    assert!(exact.stats().bytes > declared.stats().bytes);
    // A feed of another rank is refused, however often it comes.
    for session in [&auto, &exact] {
        for _ in 0..5 {
            let flat = HostTensor::from_vec([64], vec![0f32; 64]).expect("a tensor");
            let error = session.run(&[("images", flat)], &["logits"]).expect_err("a wrong rank");
            assert!(error.message().contains("tensor<?x64xf32>"), "{}", error.message());
        }
    }
}

#[test]
fn sizes_are_compiled_aside() {
    let runtime = Runtime::builder().work_queue("mstd:2").build().expect("a runtime");
    let session = Session::builder().runtime(&runtime).open(data("digits/digits_mlp.pb")).expect("a session");
    let want = logits(&session, 3);
    // The values do not depend on the program that runs.
    while session.stats().specializations == 0 {
        assert!(are_near(&logits(&session, 3), &want));
    }
    assert!(are_near(&logits(&session, 3), &want));
}

/// Holds compilations for sizes of their own up, until it is told to let them go.
#[derive(Default)]
struct Holds(Mutex<bool>, std::sync::Condvar, std::sync::atomic::AtomicUsize);

impl Progress for Holds {
    fn begins(&self, _: &[String], _: &[String]) {
        if self.2.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 {
            let held = self.0.lock().expect("no panic");
            drop(self.1.wait_while(held, |may_go| !*may_go).expect("no panic"));
        }
    }

    fn ends(&self, _: &[String], _: &[String], _: Duration) {}
}

#[test]
fn other_sizes_run_while_a_size_is_being_compiled() {
    let runtime = Runtime::builder().work_queue("mstd:2").build().expect("a runtime");
    let holds = Arc::new(Holds::default());
    let builder = Session::builder().runtime(&runtime).progress(holds.clone());
    let session = builder.open(data("digits/digits_mlp.pb")).expect("a session");
    let declared = digits(Shapes::Declared).open(data("digits/digits_mlp.pb")).expect("a session");
    (0..3).for_each(|_| _ = logits(&session, 2));
    while holds.2.load(std::sync::atomic::Ordering::Relaxed) < 2 {
        std::thread::yield_now();
    }
    // The size itself, another one, and one that comes so often that it is compiled, too.
    for n in [2, 3, 4, 4, 4, 4, 2] {
        assert!(are_near(&logits(&session, n), &logits(&declared, n)), "{n}");
    }
    assert_eq!(session.stats().specializations, 0);
    *holds.0.lock().expect("no panic") = true;
    holds.1.notify_all();
    while session.stats().specializations < 2 {
        assert!(are_near(&logits(&session, 4), &logits(&declared, 4)));
    }
    for n in [2, 3, 4] {
        assert!(are_near(&logits(&session, n), &logits(&declared, n)), "{n}");
    }
}

#[test]
fn a_hundred_steps_are_the_same_with_fetches_in_between() {
    let feeds = [("x:0", array(TRAINED, "run0_feed_x.npy")), ("l:0", array(TRAINED, "run0_feed_l.npy"))];
    let open = || digits(Shapes::Auto).init("init").open(data(TRAINED).join("graph.pb")).expect("a session");
    let (plain, watched) = (open(), open());
    let step = RunOptions::targets(["up"]);
    let loss = |session: &Session| -> f32 {
        session.run(&feeds, &["loss:0"]).expect("a run")["loss:0"].item().expect("a number")
    };
    let first = loss(&watched);
    for i in 0..100 {
        plain.run_with(&feeds, &[], &step).expect("a step");
        match i % 4 {
            0 => _ = watched.run_with(&feeds, &["loss:0"], &step).expect("a step with the loss"),
            1 => {
                watched.run_with(&feeds, &[], &step).expect("a step");
                assert!(loss(&watched).is_finite());
            }
            2 => _ = watched.run_with(&feeds, &["loss:0", "w/Read/ReadVariableOp"], &step).expect("a step"),
            _ => _ = watched.run_with(&feeds, &[], &step).expect("a step"),
        }
    }
    let name = &plain.variables().names().expect("names")[0];
    let value = |session: &Session| -> Vec<f32> {
        session.variables().get(name).expect("a value").to_vec().expect("floats")
    };
    assert_eq!(value(&plain), value(&watched));
    assert!(loss(&watched) < first);
}

#[test]
fn runs_go_on_meanwhile_and_are_cancelled() {
    let runtime = Runtime::builder().work_queue("mstd:2").build().expect("a runtime");
    let session = Session::builder().runtime(&runtime).open(data("digits/digits_mlp.pb")).expect("a session");
    let feeds = [("images", images(2))];
    let want = logits(&session, 2);
    let started: Vec<befrost::Run> = (0..20).map(|_| session.start(&feeds, &["logits"])).collect();
    for run in started {
        let got: Vec<f32> =
            run.wait().expect("results")[0].tensor().expect("a tensor").to_vec().expect("floats");
        assert!(are_near(&got, &want));
        assert!(run.is_done());
        assert_eq!(run.wait().expect_err("they were taken").code(), ErrorCode::FailedPrecondition);
    }
    // As a future, whose waker is called.
    let mut run = pin!(session.start(&feeds, &["logits"]));
    let woken = Arc::new(Woken(std::thread::current()));
    let waker = Waker::from(woken);
    let got = loop {
        match run.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(got) => break got.expect("results"),
            Poll::Pending => std::thread::park(),
        }
    };
    assert!(are_near(&got[0].tensor().expect("a tensor").to_vec::<f32>().expect("floats"), &want));
    let cancellation = befrost::Cancellation::default();
    cancellation.cancel();
    let options = RunOptions { cancellation: Some(cancellation), ..RunOptions::default() };
    let run = session.start_with(&feeds, &["logits"], &options);
    assert_eq!(run.wait().expect_err("cancelled").code(), ErrorCode::Cancelled);
    // An unknown name is the run's error.
    let run = session.start(&feeds, &["nobody"]);
    assert!(run.wait().expect_err("no such name").message().contains("nobody"));
}

struct Woken(std::thread::Thread);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Progress for Told {
    fn begins(&self, fetches: &[String], _targets: &[String]) {
        self.0.lock().expect("no panic").push(format!("begins {}", fetches.join(" ")));
    }

    fn ends(&self, fetches: &[String], _targets: &[String], _took: Duration) {
        self.0.lock().expect("no panic").push(format!("ends {}", fetches.join(" ")));
    }
}

#[test]
fn the_kernels_of_a_run_are_recorded() {
    let session = digits(Shapes::Declared).open(data("digits/digits_mlp.pb")).expect("a session");
    let feeds = [("images", images(2))];
    let want = session.run(&feeds, &["logits"]).expect("a run");
    let recorder = Recorder::of_traces();
    let options = RunOptions { recorder: Some(recorder.clone()), ..RunOptions::default() };
    let n_events = |runs: usize| {
        for _ in 0..runs {
            let made = session.run_with(&feeds, &["logits"], &options).expect("a run");
            let floats = |of: &befrost::Results| {
                of["logits"].tensor().expect("a tensor").to_vec::<f32>().expect("floats")
            };
            assert_eq!(floats(&made), floats(&want));
        }
        let mut text = String::new();
        recorder.write(&mut |part| text.push_str(part));
        let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("events").clone();
        let is_product = |event: &serde_json::Value| {
            let (name, args) = (event["name"].as_str().unwrap_or_default(), &event["args"]);
            name.contains("MatMul") && args["operands"].as_str().unwrap_or_default().starts_with("f32[2x64]")
        };
        assert!(events.iter().any(is_product), "{text}");
        events.len()
    };
    let once = n_events(1);
    assert_eq!(n_events(2), 3 * once, "every run adds its kernels");
    session.run(&feeds, &["logits"]).expect("a run");
    assert_eq!(n_events(0), 3 * once, "a run without a recorder adds nothing");
    assert_eq!(session.stats().compilations, 1);
    assert!(recorder.table().contains("MatMul"), "{}", recorder.table());

    // The recorder of a runtime receives all runs without one of their own.
    let of_all = Recorder::of_totals();
    let runtime = Runtime::builder().work_queue("s").recorder(&of_all).build().expect("a runtime");
    let all = Session::builder().runtime(&runtime).open(data("digits/digits_mlp.pb")).expect("a session");
    all.run(&feeds, &["logits"]).expect("a run");
    assert!(of_all.profile().contains("MatMul"), "{}", of_all.profile());
    let before = of_all.profile();
    all.run_with(&feeds, &["logits"], &options).expect("a run");
    assert_eq!(of_all.profile(), before);
}

#[test]
fn a_cache_on_disk_saves_compilations() {
    let folder = std::env::temp_dir().join(format!("befrost-session-{}", std::process::id()));
    _ = std::fs::remove_dir_all(&folder);
    let told = Arc::new(Told::default());
    let open = || {
        let builder = digits(Shapes::Declared).cache_dir(&folder).progress(told.clone());
        builder.open(data("digits/digits_mlp.pb")).expect("a session")
    };
    let counts = |session: &Session| (session.stats().compilations, session.stats().from_cache);
    let first = open();
    let want = logits(&first, 2);
    assert_eq!(counts(&first), (1, 0));
    let second = open();
    assert_eq!(logits(&second, 2), want);
    assert_eq!(counts(&second), (0, 1));
    assert_eq!(
        *told.0.lock().expect("no panic"),
        ["begins logits", "ends logits", "begins logits", "ends logits"]
    );
    // Other options have another entry. A corrupt file is replaced.
    let other = digits(Shapes::Declared).level(0).cache_dir(&folder);
    let other = other.open(data("digits/digits_mlp.pb")).expect("a session");
    assert!(are_near(&logits(&other, 2), &want));
    assert_eq!(counts(&other), (1, 0));
    for file in std::fs::read_dir(&folder).expect("a folder") {
        let path = file.expect("a file").path();
        let mut bytes = std::fs::read(&path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).expect("written");
    }
    let third = open();
    assert_eq!(logits(&third, 2), want);
    assert_eq!(counts(&third), (1, 0));
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Runs the session that tells it of a compilation, with the same names and with others.
struct Again(Mutex<Option<Session>>, Mutex<Vec<Result<(), befrost::Error>>>);

impl Progress for Again {
    fn begins(&self, fetches: &[String], _targets: &[String]) {
        let Some(session) = self.0.lock().expect("no panic").take() else { return };
        for fetch in [fetches[0].as_str(), "logits:0"] {
            let run = session.run(&[("images", images(1))], &[fetch]).map(|_| ());
            self.1.lock().expect("no panic").push(run);
        }
    }

    fn ends(&self, _fetches: &[String], _targets: &[String], _took: Duration) {}
}

#[test]
fn who_is_told_of_a_compilation_cannot_wait_for_it() {
    for shapes in [Shapes::Declared, Shapes::Exact] {
        let again = Arc::new(Again(Mutex::default(), Mutex::default()));
        let session = digits(shapes).progress(again.clone()).open(data("digits/digits_mlp.pb"));
        let session = session.expect("a session");
        if shapes == Shapes::Exact {
            // The program for all sizes is there; that of one image is compiled while it is told.
            session.warm_declared(&["images"], &["logits"], &[]).expect("compiled");
        }
        *again.0.lock().expect("no panic") = Some(session.clone());
        assert_eq!(logits(&session, 1).len(), 10);
        let told = again.1.lock().expect("no panic");
        let [same, other] = &told[..] else { panic!("{told:?}") };
        assert!(same.as_ref().is_err_and(|error| error.code() == ErrorCode::FailedPrecondition), "{same:?}");
        assert!(other.is_ok(), "{other:?}");
    }
}

#[test]
fn the_program_of_sizes_that_were_named_is_there_before_their_first_run() {
    let session = digits(Shapes::Auto).open(data("digits/digits_mlp.pb")).expect("a session");
    let shape = |sizes: &[usize]| Shape::new(sizes).expect("a shape");
    session.warm(&[("images", shape(&[3, 64]))], &["logits"]).expect("compiled");
    let stats = session.stats();
    assert_eq!((stats.compilations, stats.specializations), (2, 1));
    assert_eq!(logits(&session, 3).len(), 30);
    session.warm(&[("images", shape(&[3, 64]))], &["logits"]).expect("there already");
    assert_eq!(session.stats().compilations, 2);
    let error = session.warm(&[("images", shape(&[3, 65]))], &["logits"]).expect_err("not declared");
    assert!(error.message().contains("64"), "{error}");
    // One program for all sizes.
    let session = digits(Shapes::Declared).open(data("digits/digits_mlp.pb")).expect("a session");
    session.warm(&[("images", shape(&[3, 64]))], &["logits"]).expect("compiled");
    assert_eq!(session.stats().specializations, 0);
}

#[test]
fn a_session_computes_in_the_precision_that_was_asked_for() {
    let exact = digits(Shapes::Declared).open(data("digits/digits_mlp.pb")).expect("a session");
    let builder = digits(Shapes::Declared).precision(Precision::Bf16);
    let rounded = builder.open(data("digits/digits_mlp.pb")).expect("a session");
    let (exact, rounded) = (logits(&exact, 1), logits(&rounded, 1));
    assert_ne!(exact, rounded);
    assert!(
        exact.iter().zip(&rounded).all(|(a, b)| (a - b).abs() < 0.1 * a.abs().max(1.0)),
        "{exact:?} {rounded:?}"
    );
    let compiled = Session::builder().precision(Precision::Bf16).open(data("bef/golden/v1_0_adds.bef"));
    assert!(compiled.expect_err("a program").message().contains("compiled already"));
}

/// Forty-two pairs of tensors of a graph, in both orders.
fn pairs(session: &Session) -> Vec<[String; 2]> {
    let tensors = session.tensors().expect("a list");
    let inner =
        tensors.iter().filter(|port| port.shape().as_slice().is_some_and(|dims| dims.first() == Some(&None)));
    let names: Vec<&str> = inner.map(befrost::Port::name).take(7).collect();
    let all = names.iter().flat_map(|a| names.iter().map(move |b| [(*a).to_owned(), (*b).to_owned()]));
    all.filter(|[a, b]| a != b).take(40).collect()
}

#[test]
fn eight_threads_run_forty_keys_and_each_is_compiled_once() {
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    let builder = || Session::builder().runtime(&runtime).shapes(Shapes::Declared);
    let graph = data("digits/digits_mlp.pb");
    let (serial, session) = (builder().open(&graph).expect("one"), builder().open(&graph).expect("two"));
    let keys = pairs(&session);
    assert_eq!(keys.len(), 40);
    let bits = |results: &befrost::Results| -> Vec<Vec<u8>> {
        let of = |datum: Option<&befrost::Datum>| {
            datum.and_then(|datum| datum.tensor().ok()?.read_bytes().ok().map(|bytes| bytes.to_vec()))
        };
        results.iter().map(|datum| of(datum).expect("a tensor")).collect()
    };
    let run = |session: &Session, [a, b]: &[String; 2]| {
        bits(&session.run(&[("images", images(1))], &[a, b]).expect("a run"))
    };
    let want: Vec<Vec<Vec<u8>>> = keys.iter().map(|key| run(&serial, key)).collect();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (session, keys, start, want) = (&session, &keys, &start, &want);
            scope.spawn(move || {
                start.wait();
                for i in 0..10_000 {
                    let at = (i * 7 + thread * 5) % keys.len();
                    assert!(run(session, &keys[at]) == want[at], "{:?}", keys[at]);
                }
            });
        }
    });
    assert_eq!(session.stats().compilations, 40);
    assert_eq!(session.stats().hits, 80_000 - 40);
}

/// A tensor of a port's type; sizes that are not known are 2.
fn made(port: &befrost::Port) -> Option<HostTensor> {
    let sizes: Vec<usize> = port.shape().as_slice()?.iter().map(|size| size.unwrap_or(2)).collect();
    let n = sizes.iter().product();
    match port.dtype()? {
        befrost::DType::F32 => {
            HostTensor::from_vec(sizes, (0..n).map(|i| (i % 7) as f32 / 4.0).collect()).ok()
        }
        befrost::DType::I32 => HostTensor::from_vec(sizes, vec![3i32; n]).ok(),
        befrost::DType::I1 => HostTensor::from_vec(sizes, vec![befrost::I1::from(true); n]).ok(),
        _ => None,
    }
}

/// The outputs do not change if any one tensor is fed with the value that it has: also the results of loops,
/// conditions and calls, which are cut away then, with all that only they need.
#[test]
fn inner_feeds_cut_loops_and_functions_away() {
    let mut n_cut = 0;
    for graph in [
        "saved_models/v1_while/model",
        "saved_models/nested_calls/model",
        "graphdefs/grad_while_v2/graph.pb",
        "graphdefs/g_cond_const_pred/graph.pb",
        "partition/v1_cond_in_while/graph.pb",
        "partition/v1_nested_conds/graph.pb",
        "training/digits_cnn.pb",
    ] {
        let session = digits(Shapes::Declared).open(data(graph)).expect(graph);
        let _ = session.run_with::<HostTensor>(&[], &[], &RunOptions::targets(["init"]));
        let (inputs, outputs) = (session.inputs().expect(graph), session.outputs().expect(graph));
        let fed: Vec<(&str, HostTensor)> =
            inputs.iter().map(|port| (port.name(), made(port).expect("an input"))).collect();
        let names: Vec<&str> = outputs.iter().map(befrost::Port::name).collect();
        let floats = |results: &befrost::Results| -> Vec<Vec<f32>> {
            let of = |datum: &befrost::Datum| datum.tensor().ok()?.to_vec::<f32>().ok();
            results.iter().map(|datum| datum.and_then(of).unwrap_or_default()).collect()
        };
        let want = floats(&session.run(&fed, &names).expect(graph));
        for port in session.tensors().expect(graph) {
            // Of a variable only its handle is a tensor; a tensor of strings cannot be made.
            let Ok(found) = session.run(&fed, &[port.name()]) else { continue };
            let Some(Ok(value)) = found.iter().next().flatten().map(|datum| datum.tensor().cloned()) else {
                continue;
            };
            let mut feeds = fed.clone();
            feeds.retain(|(name, _)| *name != port.name());
            feeds.push((port.name(), value.clone()));
            let got = match session.run(&feeds, &names) {
                // The placeholder of an input that is fed by its name in the signature.
                Err(error) if error.message().contains("is fed twice") => continue,
                got => got.unwrap_or_else(|error| panic!("{graph} {port:?}: {error}")),
            };
            let near = floats(&got).iter().zip(&want).all(|(got, want)| are_near(got, want));
            assert!(near, "{graph} {port:?}");
            // Alone, an output that needs nothing else.
            for name in &names {
                n_cut += usize::from(
                    !fed.is_empty() && session.run(&[(port.name(), value.clone())], &[name]).is_ok(),
                );
            }
        }
    }
    assert!(n_cut > 20, "{n_cut}");
}

/// A list of fetches of the same tensor, which the bits of a number select.
fn list(number: usize) -> Vec<&'static str> {
    (0..9).map(|bit| ["logits", "logits:0"][number >> bit & 1]).collect()
}

#[test]
fn executables_go_when_there_are_too_many_while_others_run() {
    let session = digits(Shapes::Declared).open(data("digits/digits_mlp.pb")).expect("a session");
    let want = logits(&session, 1);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (session, want) = (&session, &want);
            scope.spawn(move || {
                for number in 0..300 {
                    // Each thread has its own order.
                    let fetches = list((number * 7 + thread * 150) % 300);
                    let results = session.run(&[("images", images(1))], &fetches).expect("a run");
                    let last = results[8].tensor().expect("a tensor").to_vec::<f32>().expect("floats");
                    assert_eq!(last, *want);
                    assert!(session.stats().executables <= 256);
                }
            });
        }
    });
    assert_eq!(session.stats().executables, 256);
}

#[test]
fn runs_give_their_memory_back() {
    let runtime = Runtime::builder().work_queue("s").max_memory(1 << 20).build().expect("a runtime");
    let session = Session::builder().runtime(&runtime).open(data("digits/digits_mlp.pb")).expect("a session");
    let image = images(1);
    // The logits of all runs together would take four times the limit.
    for _ in 0..100_000 {
        session.run(&[("images", image.clone())], &["logits"]).expect("a run");
    }
}

/// Calls of SavedModels by the names of their signatures, with TensorFlow's results; sessions of the other
/// signatures share the variables of the first.
#[test]
fn saved_models_run_by_their_signatures() {
    for name in ["two_signatures", "v1_partitioned", "keras_cnn", "nested_calls", "v1_counter_text"] {
        let case = format!("saved_models/{name}");
        let text = std::fs::read_to_string(data(&case).join("case.json")).expect("a file");
        let described: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let mut sessions: Vec<(String, Session)> = Vec::new();
        for call in described["calls"].as_array().expect("calls") {
            let signature = call["signature"].as_str().expect("a name");
            let at = sessions.iter().position(|(known, _)| known == signature).unwrap_or_else(|| {
                let mut builder = Session::builder().signature(signature);
                if let Some((_, first)) = sessions.first() {
                    builder = builder.variables(first.variables().resources().clone());
                }
                let session = builder.open(data(&case).join("model")).expect("a session");
                sessions.push((signature.to_owned(), session));
                sessions.len() - 1
            });
            let session = &sessions[at].1;
            let ports = |key: &str| -> Vec<(String, HostTensor)> {
                let ports = call[key].as_object().expect("ports").iter();
                ports
                    .map(|(port, file)| (port.clone(), array(&case, file.as_str().expect("a file"))))
                    .collect()
            };
            let (inputs, outputs) = (ports("inputs"), ports("outputs"));
            let declared = session.inputs().expect("ports");
            assert!(inputs.iter().all(|(name, _)| declared.iter().any(|port| port.name() == name)));
            let feeds: Vec<(&str, HostTensor)> =
                inputs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            let fetches: Vec<&str> = outputs.iter().map(|(name, _)| name.as_str()).collect();
            let results = session.run(&feeds, &fetches).expect("a run");
            for (output, want) in &outputs {
                let got = results[output.as_str()].tensor().expect("a tensor");
                assert_eq!((got.dtype(), got.shape()), (want.dtype(), want.shape()), "{name} {output}");
                let (Ok(got), Ok(want)) = (got.to_vec::<f32>(), want.to_vec::<f32>()) else {
                    let bytes = |tensor: &HostTensor| tensor.read_bytes().map(|bytes| bytes.to_vec()).ok();
                    assert_eq!(bytes(got), bytes(want), "{name} {output}");
                    continue;
                };
                let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * b.abs() + 1e-5;
                assert!(got.iter().zip(&want).all(near), "{name} {signature} {output}: {got:?}, {want:?}");
            }
        }
        let names: Vec<&str> = sessions[0].1.signatures().iter().map(befrost::Signature::name).collect();
        assert!(sessions.iter().all(|(known, _)| names.contains(&known.as_str())), "{names:?}");
    }
    let several = Session::open(data("saved_models/two_signatures/model")).expect("a session");
    let error = several.inputs().expect_err("which?").to_string();
    assert!(error.contains("name the signature; there are: add, affine, set_bias"), "{error}");
    let error = Session::builder().signature("no").open(data("saved_models/keras_mlp/model"));
    assert!(
        error.expect_err("there is none").to_string().contains("there is no signature 'no'; there are: ")
    );
}

/// Any tensor of a SavedModel's graph is fetched, by its own name.
#[test]
fn inner_tensors_of_saved_models_are_fetched() {
    let session = Session::open(data("saved_models/v1_partitioned/model")).expect("a session");
    let tensors = session.tensors().expect("a list");
    let x = array("saved_models/v1_partitioned", "i0_x.npy");
    let port = tensors.iter().find(|port| port.dtype() == Some(befrost::DType::F32)).expect("one");
    let by_key = session.inputs().expect("inputs")[0].name().to_owned();
    let results = session.run(&[(&by_key, x)], &[port.name()]).expect("a run");
    assert!(results[port.name()].tensor().is_ok());
    let fed = session.run(&[], &["y"]).expect_err("nothing is fed");
    assert!(fed.to_string().contains("is not fed"), "{fed}");
}

/// Programs are run as a whole: text, and a file whose name does not say what it is.
#[test]
fn programs_are_run_by_their_arguments() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<2xf32> {bef.name = \"x\"}, %y: tensor<2xf32> {bef.name = \"y\"})
    -> (tensor<2xf32>, tensor<2xf32> {bef.name = \"sum\"}) {
  %d = \"tf.Sub\"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %s = \"tf.AddV2\"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d, %s : tensor<2xf32>, tensor<2xf32>
}
";
    let (source, compiled) = (folder.path().join("source"), folder.path().join("compiled"));
    std::fs::write(&source, text).expect("a file");
    std::fs::write(&compiled, befrost::compile(source.as_path()).expect("it compiles")).expect("a file");
    let value = |values: [f32; 2]| HostTensor::from_vec([2], values.to_vec()).expect("a tensor");
    for path in [source, compiled] {
        let session = Session::open(&path).expect("a session");
        let run = |feeds: &[(&str, HostTensor)], fetches: &[&str]| session.run(feeds, fetches);
        let results =
            run(&[("y", value([1.0, 2.0])), ("x", value([5.0, 9.0]))], &["sum", "0"]).expect("results");
        let floats = |name: &str| results[name].tensor().expect("a tensor").to_vec::<f32>().expect("floats");
        assert_eq!((floats("0"), floats("sum")), (vec![4.0, 7.0], vec![6.0, 11.0]));
        assert_eq!(session.signatures()[0].name(), "main");
        let refused = |feeds: &[(&str, HostTensor)], fetch: &str, want: &str| {
            let error = run(feeds, &[fetch]).expect_err(want).to_string();
            assert!(error.contains(want), "{error}");
        };
        let x = || ("x", value([0.0; 2]));
        refused(&[x()], "sum", "argument 'y' (tensor<2xf32>) is not fed");
        refused(&[x(), x(), ("y", value([0.0; 2]))], "sum", "'x' is fed twice");
        refused(&[x(), ("z", value([0.0; 2]))], "sum", "has no argument 'z'; it has: x, y");
        refused(&[x(), ("y", value([0.0; 2]))], "1", "has no result '1'; it has: 0, sum");
    }
}
