//! Sessions used in ways that must end with an error: a kernel that runs its own session, models that change
//! on disk, runs that go on for ever, models in memory that are none.
#![cfg(feature = "compile")]
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use befrost::{
    Cancellation, Datum, Deferred, ErrorCode, HostTensor, KernelError, Model, Registry, RunOptions, Runtime,
    Session, kernel,
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn images(n: usize) -> HostTensor {
    HostTensor::from_vec([n, 64], vec![0.5f32; n * 64]).expect("a tensor")
}

/// The session whose kernel runs it.
static OWN: Mutex<Option<Session>> = Mutex::new(None);

/// A run of the session by its kernel: waited for at once, or begun first.
fn run_again(x: i32, is_begun: bool) -> Result<i32, KernelError> {
    let own = OWN.lock().expect("no panic").clone().expect("a session");
    let (feeds, options) = ([("x", Datum::from(x + 1))], RunOptions::default());
    let run = match is_begun {
        false => own.run_with(&feeds, &["y"], &options),
        true => own.start_with(&feeds, &["y"], &options).wait(),
    };
    let depth = run.and_then(|results| results["y"].item::<i32>());
    depth.map_err(|error| KernelError::new(error.code(), format!("at {x}: {}", error.message())))
}

/// A run of the session by a blocking task of its kernel.
fn again_later(x: i32, is_begun: bool) -> Deferred<Result<i32, KernelError>> {
    Deferred::blocking(move |_| run_again(x, is_begun))
}

/// Kernels that run their own session, instead of arithmetic.
fn again(registry: &mut Registry) {
    registry.add(kernel!("tfrt.add.i32", |x: i32, _: i32| run_again(x, false)));
    registry.add(kernel!("tfrt.minus.i32", |x: i32, _: i32| run_again(x, true)));
    registry.add(kernel!("tfrt.mul.i32", |x: i32, _: i32| again_later(x, false)));
    registry.add(kernel!("tfrt_test.async_add.i32", |x: i32, _: i32| again_later(x, true)));
}

#[test]
fn a_kernel_that_runs_its_own_session_without_end_is_an_error() {
    for op in ["tfrt.add.i32", "tfrt.minus.i32", "tfrt.mul.i32", "tfrt_test.async_add.i32"] {
        let text = format!(
            "func.func @main(%x: i32 {{bef.name = \"x\"}}) -> (i32 {{bef.name = \"y\"}}) {{
  %y = \"{op}\"(%x, %x) : (i32, i32) -> i32
  tfrt.return %y : i32
}}"
        );
        for queue in ["s", "mstd:2,8", "mstd:1,1", "seeded:1"] {
            let kernels = Registry::new().with(again);
            let runtime = Runtime::builder().kernels(kernels).work_queue(queue).build().expect("a runtime");
            let session = Session::builder().runtime(&runtime).text(&text).expect("a session");
            *OWN.lock().expect("no panic") = Some(session.clone());
            let run = session.run_with(&[("x", Datum::from(0i32))], &["y"], &RunOptions::default());
            let error = run.expect_err("it nests too deeply");
            assert_eq!(error.code(), ErrorCode::ResourceExhausted, "{op} on {queue}: {error}");
            assert!(error.message().contains("nest too deeply"), "{op} on {queue}: {error}");
            *OWN.lock().expect("no panic") = None;
        }
    }
}

/// A copy of a model in a folder.
fn copied(model: &str, folder: &Path) -> PathBuf {
    let path = folder.join(Path::new(model).file_name().expect("a name"));
    std::fs::copy(data(model), &path).expect("copied");
    path
}

#[test]
fn a_model_that_changes_on_disk_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = copied("digits/digits_mlp.pb", folder.path());
    let session = Session::open(&path).expect("a session");
    let run = |fetch: &str| session.run(&[("images", images(1))], &[fetch]).map(|_| ());
    run("logits").expect("a run");
    let kept = std::fs::read(&path).expect("bytes");
    let changes: [(&str, &dyn Fn()); 3] = [
        ("written anew", &|| {
            std::fs::write(&path, [&kept[..], &kept[..]].concat()).expect("written");
        }),
        ("replaced", &|| {
            let other = folder.path().join("other");
            std::fs::write(&other, &kept).expect("written");
            std::fs::rename(&other, &path).expect("renamed");
        }),
        ("removed", &|| std::fs::remove_file(&path).expect("removed")),
    ];
    for (how, change) in changes {
        change();
        // What is compiled goes on; what would be compiled of another model is refused.
        run("logits").expect(how);
        for error in [
            run("logits:0").expect_err(how),
            session.tensors().expect_err(how),
            session.save(folder.path().join("saved.bef")).expect_err(how),
        ] {
            assert_eq!(error.code(), ErrorCode::FailedPrecondition, "{how}: {error}");
            assert!(error.message().contains("has changed since the session read it"), "{how}: {error}");
        }
    }
}

#[test]
fn models_in_memory_are_those_of_files() {
    for (name, shape) in [
        ("digits/digits_mlp.pb", vec![1, 64]),
        ("digits/digits_cnn.onnx", vec![1, 1, 8, 8]),
        ("../runtime/befrost/examples/digits_mlp.bef", vec![1, 64]),
    ] {
        let bytes = std::fs::read(data(name)).expect("a file");
        let image = HostTensor::from_vec(shape.clone(), vec![0.5f32; 64]).expect("an image");
        let want = Model::load(data(name)).expect(name).run([image.clone()]).expect(name).remove(0);
        let want: Vec<f32> = want.to_vec().expect("floats");
        let got = Model::from_bytes(bytes.clone()).expect(name).run([image.clone()]).expect(name).remove(0);
        assert_eq!(got.to_vec::<f32>().expect("floats"), want, "{name}");
        let session = Session::builder().bytes(bytes.clone()).expect(name);
        let (inputs, outputs) = (session.inputs().expect(name), session.outputs().expect(name));
        let run = session.run(&[(inputs[0].name(), image)], &[outputs[0].name()]).expect(name);
        assert_eq!(run[0].tensor().expect("a tensor").to_vec::<f32>().expect("floats"), want, "{name}");
        // Half of a file is refused, or has no such output.
        let half = Session::builder().bytes(bytes[..bytes.len() / 2].to_vec());
        let run = half.and_then(|session| session.run(&[], &[outputs[0].name()]).map(|_| ()));
        assert_eq!(run.expect_err(name).code(), ErrorCode::InvalidArgument, "{name}");
    }
    let saved = std::fs::read(data("saved_models/two_signatures/model/saved_model.pb")).expect("a file");
    let session = Session::builder().bytes(saved);
    assert!(session.expect_err("its variables are in other files").message().contains("variables"));
    for (bytes, want) in [(&b"\x89HDF\r\n\x1a\n"[..], "HDF5"), (b"nothing", "neither"), (b"", "neither")] {
        for error in [
            Session::builder().bytes(bytes.to_vec()).map(|_| ()).expect_err(want),
            Model::from_bytes(bytes.to_vec()).map(|_| ()).expect_err(want),
        ] {
            assert!(error.message().contains(want), "{error}");
        }
    }
}

/// A session of a function that never ends by itself.
fn endless(queue: &str) -> Session {
    let text = "func.func @step(%x: i32) -> (i32, i1) {
  %yes = tfrt.constant.i1 true
  tfrt.return %x, %yes : i32, i1
}
func.func @main(%x: i32 {bef.name = \"x\"}) -> (i32 {bef.name = \"y\"}) {
  %yes = tfrt.constant.i1 true
  %y = tfrt.while %yes @step(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %y : i32
}";
    let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
    Session::builder().runtime(&runtime).signature("main").text(text).expect("a session")
}

#[test]
fn a_run_is_given_up_at_its_deadline() {
    for queue in ["s", "mstd:2"] {
        let session = endless(queue);
        let soon = || RunOptions {
            deadline: Some(Instant::now() + Duration::from_millis(50)),
            ..Default::default()
        };
        let feeds = [("x", Datum::from(1i32))];
        let error = session.run_with(&feeds, &["y"], &soon()).expect_err("late");
        assert_eq!(error.code(), ErrorCode::DeadlineExceeded, "{queue}");
        let run = if queue == "s" { return } else { session.start_with(&feeds, &["y"], &soon()) };
        assert_eq!(run.wait().expect_err("late").code(), ErrorCode::DeadlineExceeded);
    }
}

#[test]
fn a_run_that_goes_on_is_cancelled_by_hand_and_by_dropping_it() {
    let session = endless("mstd:2");
    let feeds = [("x", Datum::from(1i32))];
    let start = |options: &RunOptions| session.start_with(&feeds, &["y"], options);
    let run = start(&RunOptions::default());
    std::thread::sleep(Duration::from_millis(20));
    assert!(!run.is_done());
    run.cancel();
    assert_eq!(run.wait().expect_err("cancelled").code(), ErrorCode::Cancelled);
    // More runs than there are threads: each ends when it is dropped, so the next ones begin.
    for _ in 0..200 {
        drop(start(&RunOptions::default()));
    }
    let cancellation = Arc::new(Cancellation::default());
    let options = RunOptions { cancellation: Some((*cancellation).clone()), ..RunOptions::default() };
    let last = start(&options);
    std::thread::sleep(Duration::from_millis(20));
    cancellation.cancel();
    assert_eq!(last.wait().expect_err("cancelled").code(), ErrorCode::Cancelled);
}
