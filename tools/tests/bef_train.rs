//! `bef-train` on the digits. It learns, and the model that it writes answers. A run that is interrupted or
//! killed and resumed ends with the same bits. A wrong input is one error.
//!
//! `cargo run -p xtask -- kills` (`BEFROST_TRAIN_KILLS=200`) kills more often than the tests do.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use befrost::HostTensor;
use befrost::mem::Malloc;
use befrost::npy;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The command that trains the digits with checkpoints in `folder`.
fn train(folder: &Path, options: &[&str]) -> Command {
    let digits = root().join("testdata/digits");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bef-train"));
    command.current_dir(folder).arg(root().join("testdata/training/digits_cnn.pb"));
    for (option, set) in [("--data", "train"), ("--eval-data", "test")] {
        for what in ["images", "labels"] {
            let file = digits.join(format!("{set}_{what}.npy"));
            command.arg(option).arg(format!("{what}={}", file.display()));
        }
    }
    command.args(["--metric", "accuracy", "--optimizer", "adam:lr=2e-3", "--shuffle", "7"]);
    command.args(["--checkpoint", "ckpt"]).args(options);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, options: &[&str]) -> Output {
    train(folder, options).output().expect("bef-train runs")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The contents of the files in a folder, by name.
fn bits(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the variables were written").flatten();
    let read = |path: PathBuf| fs::read(path).expect("a file can be read");
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), read(entry.path()))).collect()
}

#[test]
fn it_learns_in_two_parts_and_what_it_writes_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let first = run(path, &["--epochs", "10", "--log", "log.jsonl"]);
    assert!(first.status.success(), "{}", said(&first));
    let again = run(path, &["--epochs", "20"]);
    assert!(
        said(&again).contains("there is a checkpoint already; --resume goes on from it"),
        "{}",
        said(&again)
    );
    let second = run(path, &["--epochs", "20", "--resume", "-o", "digits.bef", "--log", "log.jsonl"]);
    assert!(second.status.success(), "{}", said(&second));
    let log = fs::read_to_string(path.join("log.jsonl")).expect("the log");
    assert_eq!(log.lines().filter(|line| line.contains("\"loss\"") && line.contains("\"lr\"")).count(), 900);
    let graph = run(path, &["--epochs", "20", "--resume", "-o", "digits.pb"]);
    assert!(graph.status.success(), "{}", said(&graph));
    let images = root().join("testdata/digits/test_images.npy");
    let read = |path: &Path| npy::read_file(path, &Malloc::shared()).expect("an array");
    let answers = |model: &str| -> Vec<f32> {
        let answered = Command::new(env!("CARGO_BIN_EXE_bef-exec"))
            .current_dir(path)
            .arg(model)
            .arg("--input")
            .arg(format!("images={}", images.display()))
            .args(["--output", "probabilities=p.npy"])
            .output()
            .expect("bef-exec runs");
        assert!(answered.status.success(), "{}", said(&answered));
        read(&path.join("p.npy")).to_vec().expect("probabilities")
    };
    let p = answers("digits.bef");
    let distance = p.iter().zip(answers("digits.pb")).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(distance < 1e-5, "the GraphDef's answers are {distance} away");
    let labels: Vec<i32> = read(&root().join("testdata/digits/test_labels.npy")).to_vec().expect("labels");
    let is_right = |(p, &label): (&[f32], &i32)| {
        let best = p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(i, _)| i);
        best == usize::try_from(label).ok()
    };
    let n_right = p.chunks(10).zip(&labels).filter(|pair| is_right(*pair)).count();
    assert!(n_right * 100 >= 97 * labels.len(), "{n_right} of {}", labels.len());
}

#[test]
fn killed_and_resumed_it_ends_with_the_same_bits() {
    let kills = std::env::var("BEFROST_TRAIN_KILLS").ok().map_or(6, |n| n.parse().expect("a number"));
    let options =
        ["--steps", "120", "--save-every", "3", "--keep", "2", "--keep-best", "accuracy", "--resume"];
    let with =
        |queue: &'static str| [&options[..], &["--dump-variables", "out", "--work-queue", queue]].concat();
    let whole = tempfile::tempdir().expect("a folder");
    let uninterrupted = run(whole.path(), &with("s"));
    assert!(uninterrupted.status.success(), "{}", said(&uninterrupted));
    let want = bits(&whole.path().join("out"));
    let (mut n_killed, mut round) = (0, 0);
    while n_killed < kills {
        let folder = tempfile::tempdir().expect("a folder");
        // Each attempt is killed after another delay, of 20 to 419 ms. The ninth runs to its end.
        for attempt in 0u64.. {
            round += 1;
            let mut child = train(folder.path(), &with(if round % 2 == 0 { "s" } else { "mstd:2" }))
                .spawn()
                .expect("bef-train starts");
            std::thread::sleep(Duration::from_millis(20 + (round * 37 + attempt * 61) % 400));
            if child.try_wait().expect("it can be waited for").is_none() && attempt < 8 {
                child.kill().expect("it can be killed");
                n_killed += 1;
            }
            let output = child.wait_with_output().expect("it ends");
            if output.status.code() == Some(0) {
                break;
            }
            assert_eq!(output.status.code(), None, "{}", said(&output));
        }
        assert!(bits(&folder.path().join("out")) == want, "the bits differ after {n_killed} kills");
        println!("{n_killed} of {kills} kills");
    }
}

#[test]
fn dropout_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let train = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bef-train"));
        command.current_dir(folder.path()).arg(root().join("testdata/training/dropout_digits/graph.pb"));
        for what in ["images", "labels"] {
            let file = root().join(format!("testdata/digits/train_{what}.npy"));
            command.arg("--data").arg(format!("{what}={}", file.display()));
        }
        let output = command.args(["--optimizer", "adam", "--batch", "20"]).args(options).output();
        let output = output.expect("bef-train runs");
        assert!(output.status.success(), "{}", said(&output));
    };
    train(&["--steps", "90", "--dump-variables", "whole"]);
    train(&["--steps", "37", "--checkpoint", "ckpt"]);
    train(&["--steps", "90", "--checkpoint", "ckpt", "--resume", "--dump-variables", "resumed"]);
    let whole = bits(&folder.path().join("whole"));
    assert!(whole.keys().any(|name| name.starts_with("befrost.random.")), "{:?}", whole.keys());
    assert!(whole == bits(&folder.path().join("resumed")), "resumed, dropout drew other numbers");
}

/// The initializers of an ONNX model become variables. The model that is written answers without the labels.
#[test]
fn an_onnx_model_is_fine_tuned() {
    let folder = tempfile::tempdir().expect("a folder");
    let digits = |file: &str| root().join("testdata/digits").join(file);
    let train = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bef-train"));
        command.current_dir(folder.path()).arg(root().join("testdata/training/digits_mlp.onnx"));
        for what in ["images", "labels"] {
            let file = digits(&format!("train_{what}.npy"));
            command.arg("--data").arg(format!("{what}={}", file.display()));
        }
        command.args(options).output().expect("bef-train runs")
    };
    let adam = ["--optimizer", "adam:lr=5e-3", "--epochs", "12"];
    let output = ["--dump-variables", "out", "-o", "digits.bef"];
    let trained = train(&[&adam[..], &output, &["--trainable-constants", "weight|bias"]].concat());
    assert!(trained.status.success(), "{}", said(&trained));
    let names: Vec<String> = bits(&folder.path().join("out")).into_keys().collect();
    let has = |name: &str| names.iter().any(|known| known == &format!("{name}.npy"));
    assert!(
        ["hidden.weight", "hidden.bias", "logits.weight", "logits.bias"].iter().all(|name| has(name)),
        "{names:?}"
    );
    let images = format!("images={}", digits("test_images.npy").display());
    let answered = Command::new(env!("CARGO_BIN_EXE_bef-exec"))
        .current_dir(folder.path())
        .args(["digits.bef", "--input", &images, "--output", "logits=logits.npy"])
        .output()
        .expect("bef-exec runs");
    assert!(answered.status.success(), "{}", said(&answered));
    let read = |path: &Path| npy::read_file(path, &Malloc::shared()).expect("an array");
    let logits = read(&folder.path().join("logits.npy")).to_vec::<f32>().expect("floats");
    let labels = read(&digits("test_labels.npy")).to_vec::<i32>().expect("labels");
    let right = logits.chunks(10).zip(&labels).filter(|(row, label)| {
        let best = (0..10).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        best == usize::try_from(**label).ok()
    });
    let n = right.count();
    assert!(n * 100 >= 93 * labels.len(), "{n} of {}", labels.len());
    // Without variables there is nothing to train.
    let none = train(&adam);
    assert_eq!(none.status.code(), Some(1), "{}", said(&none));
    assert!(said(&none).contains("E0910"), "{}", said(&none));
}

/// Trains the model whose variable `w` follows the data: with `sgd:lr=0.5` it is the mean of the batch.
fn follow(folder: &Path, t: &[f32], options: &[&str]) -> Output {
    following(folder, t, options).output().expect("bef-train runs")
}

/// The command of [`follow`].
fn following(folder: &Path, t: &[f32], options: &[&str]) -> Command {
    let data = HostTensor::from_vec([t.len()], t.to_vec()).expect("a tensor");
    npy::write_file(&folder.join("t.npy"), &data).expect("a file is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bef-train"));
    command.current_dir(folder).arg(root().join("testdata/training/follow.pbtxt"));
    command.args(["--data", "t=t.npy", "--dump-variables", "out"]).args(options);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Writes the array `t` for evaluations.
fn write_eval(folder: &Path, t: f32) {
    let eval = HostTensor::from_vec([1], vec![t]).expect("a tensor");
    npy::write_file(&folder.join("eval.npy"), &eval).expect("a file is written");
}

/// The trained `w`.
fn height(folder: &Path) -> Vec<f32> {
    let w = npy::read_file(&folder.join("out/w.npy"), &Malloc::shared()).expect("an array");
    w.to_vec().expect("floats")
}

const BATCH_OF_1: [&str; 5] = ["--no-shuffle", "--batch", "1", "--checkpoint", "ckpt"];

#[test]
fn a_nan_is_never_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    // The loss of the second step is 0, its gradient is NaN.
    let distance = ["--loss", "distance", "--optimizer", "sgd:lr=1", "--save-every", "1"];
    let refused = follow(path, &[1.0, 1.0, 1.0], &[&BATCH_OF_1[..], &distance].concat());
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    let why = "the norm of the gradients is NaN in step 2; the first variable that is not finite is 'w'; the last good checkpoint is ckpt/model-1";
    assert!(said(&refused).contains(why), "{}", said(&refused));
    let resumed = follow(path, &[1.0, 2.0], &[&BATCH_OF_1[..], &distance, &["--resume"]].concat());
    assert!(resumed.status.success() && height(path) == [2.0], "{}", said(&resumed));
    let folder = tempfile::tempdir().expect("a folder");
    let allowed = [&BATCH_OF_1[..], &distance, &["--stop-on-nan", "false"]].concat();
    let allowed = follow(folder.path(), &[1.0, 1.0, 1.0], &allowed);
    assert!(allowed.status.success() && height(folder.path())[0].is_nan(), "{}", said(&allowed));
    // The logarithm of a negative number is kept in a variable that has no gradient. That of 0, -inf, is
    // saved.
    let folder = tempfile::tempdir().expect("a folder");
    let logs = ["--updates", "remember", "--optimizer", "sgd:lr=0.5", "--save-every", "1"];
    let refused = follow(folder.path(), &[0.0, -1.0, -1.0], &[&BATCH_OF_1[..], &logs].concat());
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    let why =
        "'log_w' holds a NaN after step 3, which is not saved; the last good checkpoint is ckpt/model-2";
    assert!(said(&refused).contains(why), "{}", said(&refused));
}

#[test]
fn an_early_stop_restores_its_own_best_after_as_many_evaluations() {
    for (patience, steps) in [(1, 4), (2, 5), (3, 6)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        write_eval(path, 3.0);
        let stop = format!("loss:patience={patience},restore");
        let options = ["--eval-data", "t=eval.npy", "--eval-every", "1", "--metric", "height"];
        let best = ["--keep-best", "height", "--early-stop", &stop, "--optimizer", "sgd:lr=0.5"];
        let t = [1.0, 2.0, 3.0, 10.0, 10.0, 10.0, 10.0];
        let stopped = follow(path, &t, &[&BATCH_OF_1[..], &options, &best].concat());
        let want = format!("step {steps}, epoch 0, loss 0.000000, height 3.000000");
        assert!(stopped.status.success() && said(&stopped).contains(&want), "{}", said(&stopped));
        assert_eq!(height(path), [3.0]);
        let saved = bits(&path.join("ckpt"));
        assert!(["best-4.index", "best-stop-3.index"].iter().all(|file| saved.contains_key(*file)));
    }
}

#[test]
fn evaluations_have_constants_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    write_eval(folder.path(), 1.0);
    let loss = ["--loss", "scaled_loss", "--set", "scale=f32[]:1", "--eval-data", "t=eval.npy"];
    let train = |options: &[&str]| said(&follow(folder.path(), &[0.0], &[&loss[..], options].concat()));
    let same = train(&[]);
    assert!(same.contains("loss 1.000000"), "{same}");
    let own = train(&["--eval-set", "scale=f32[]:10"]);
    assert!(own.contains("loss 10.000000"), "{own}");
    let unknown = train(&["--set", "scales=f32[]:1"]);
    assert!(unknown.contains("E0911: there is no feed 'scales'; there are "), "{unknown}");
    let unknown = train(&["--eval-set", "scales=f32[]:1"]);
    assert!(unknown.contains("E0911: there is no feed 'scales'; there are "), "{unknown}");
}

/// Options for a run that does not end by itself.
const ENDLESS: [&str; 6] = ["--steps", "1000000000", "--save-every", "1000000000", "--checkpoint", "ckpt"];

#[test]
fn ctrl_c_and_a_timeout_save_the_step_that_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, t) = (folder.path(), [1.0, 2.0, 3.0]);
    let mut child =
        following(path, &t, &[&ENDLESS[..], &["--log", "log.jsonl"]].concat()).spawn().expect("it starts");
    let has_line = || fs::read_to_string(path.join("log.jsonl")).is_ok_and(|log| log.contains('\n'));
    while !has_line() && child.try_wait().expect("it can be waited for").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("a signal is sent");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let after = said(&output);
    let step = after.trim_end().strip_prefix("interrupted after step ").expect("the step");
    assert!(path.join(format!("ckpt/model-{step}.index")).is_file(), "{after}");
    // Loading and compiling count, too.
    let over = follow(path, &t, &[&ENDLESS[..], &["--resume", "--timeout", "2"]].concat());
    assert_eq!(over.status.code(), Some(1), "{}", said(&over));
    let after = said(&over);
    let later = after.trim_end().rsplit(' ').next().expect("the step");
    assert!(after.contains("Deadline exceeded after step"), "{after}");
    assert!(path.join(format!("ckpt/model-{later}.index")).is_file(), "{after}");
    assert!(later.parse::<u64>().expect("a number") > step.parse().expect("a number"), "{after}");
}

#[test]
fn a_full_disk_leaves_the_last_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    assert!(run(path, &["--steps", "1"]).status.success());
    let before = bits(&path.join("ckpt"));
    let resume = train(path, &["--steps", "2", "--resume"]);
    // The largest file has 512 or 1024 bytes. Without the signal, writing more is an error.
    let limited = Command::new("sh")
        .current_dir(path)
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"])
        .arg(resume.get_program())
        .args(resume.get_args())
        .output()
        .expect("sh runs");
    assert_eq!(limited.status.code(), Some(1), "{}", said(&limited));
    assert!(said(&limited).contains("ckpt/model-2.data-00000-of-00001: the checkpoint cannot be saved"));
    assert!(bits(&path.join("ckpt")) == before);
    assert!(run(path, &["--steps", "2", "--resume"]).status.success());
}

/// The names of variables are those in the graph of the objects, or their paths.
#[test]
fn a_checkpoint_of_objects_is_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let restore = |name: &str| {
        let checkpoint = root().join("testdata/training/objects").join(name).display().to_string();
        follow(folder.path(), &[1.0], &["--restore", &checkpoint, "--steps", "0"])
    };
    for (name, step) in [("named-7", 7), ("paths-1", 1)] {
        let restored = restore(name);
        assert!(said(&restored).contains(&format!("step {step}, epoch")), "{name}: {}", said(&restored));
        assert_eq!(height(folder.path()), [2.5], "{name}");
    }
    let surplus = restore("surplus-1");
    assert_eq!(surplus.status.code(), Some(1), "{}", said(&surplus));
    let why = "surplus-1: the checkpoint is of another model: 'Variable' is only in it\n";
    assert!(said(&surplus).contains(why), "{}", said(&surplus));
}

#[test]
fn kernels_are_timed() {
    let folder = tempfile::tempdir().expect("a folder");
    let timed = follow(folder.path(), &[1.0], &["--profile", "--trace", "trace.json", "--seed", "3"]);
    assert!(timed.status.success() && said(&timed).contains("Square"), "{}", said(&timed));
    let trace = fs::read_to_string(folder.path().join("trace.json")).expect("the trace");
    assert!(trace.contains("Square"), "{trace}");
}

#[test]
fn a_run_resumes_at_its_example_with_any_batches_in_the_same_order() {
    let t = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let sgd = ["--optimizer", "sgd:lr=0.5", "--checkpoint", "ckpt"];
    let resumed = |first: &[&str], second: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let begun = follow(folder.path(), &t, &[&sgd[..], &["--batch", "1", "--steps", "3"], first].concat());
        assert!(begun.status.success(), "{}", said(&begun));
        let ended = follow(folder.path(), &t, &[&sgd[..], &["--resume"], second].concat());
        (said(&ended), if ended.status.success() { height(folder.path()) } else { Vec::new() })
    };
    let check = |options: &[&str], want: &str, w: f32| {
        let (said, height) = resumed(&["--no-shuffle"], &[&["--no-shuffle"], options].concat());
        assert!(said.contains(want) && height == [w], "{options:?}: {said}, {height:?}");
    };
    check(&["--batch", "2", "--steps", "4"], "step 4, epoch 0", 4.5);
    check(&["--batch", "2", "--epochs", "1"], "step 5, epoch 1", 6.5);
    check(&["--batch", "3", "--epochs", "1", "--drop-remainder"], "step 4, epoch 1", 5.0);
    // Less than a batch is left.
    check(&["--batch", "5", "--epochs", "2", "--drop-remainder"], "step 4, epoch 2", 3.0);
    let (said, _) = resumed(&["--no-shuffle"], &["--batch", "1"]);
    assert!(said.contains("it is of a run without --shuffle, not with --shuffle 0"), "{said}");
    let (said, _) = resumed(&["--shuffle", "7"], &["--no-shuffle"]);
    assert!(said.contains("it is of a run with --shuffle 7, not without --shuffle"), "{said}");
}

/// The weights of a bidirectional ONNX `LSTM` are trained.
#[test]
fn a_recurrent_onnx_model_is_fine_tuned() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bef-train"));
    command.current_dir(folder.path()).arg(root().join("testdata/training/digits_lstm.onnx"));
    for what in ["images", "labels"] {
        let file = root().join(format!("testdata/digits/train_{what}.npy"));
        command.arg("--data").arg(format!("{what}={}", file.display()));
    }
    command.args(["--trainable-constants", "^(lstm|logits)[.]", "--optimizer", "adam:lr=1e-2"]);
    let trained = command.args(["--epochs", "4", "--log", "log.jsonl"]).output().expect("bef-train runs");
    assert!(trained.status.success(), "{}", said(&trained));
    let log = fs::read_to_string(folder.path().join("log.jsonl")).expect("the log");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let losses: Vec<f64> = lines.filter_map(|line| line["loss"].as_f64()).collect();
    let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
    let (first, last) = (mean(&losses[..5]), mean(&losses[losses.len() - 5..]));
    assert!(first > 2.0 && last < 0.5, "from {first} to {last}");
}

/// The initializer `x` = [1, 2] is trained through a `Transpose`, which would else be folded, and a `Resize`.
#[test]
fn nothing_of_an_initializer_that_is_trained_is_folded() {
    let folder = tempfile::tempdir().expect("a folder");
    let trained = Command::new(env!("CARGO_BIN_EXE_bef-train"))
        .current_dir(folder.path())
        .arg(root().join("testdata/training/resized.onnx"))
        .args(["--trainable-constants", "^x$", "--optimizer", "sgd:lr=1", "--dump-variables", "out"])
        .output()
        .expect("bef-train runs");
    assert!(trained.status.success(), "{}", said(&trained));
    let x = npy::read_file(&folder.path().join("out/x.npy"), &Malloc::shared()).expect("an array");
    // The loss is (1 + 2) x0 + (3 + 4) x1.
    assert_eq!(x.to_vec::<f32>().expect("floats"), [-2.0, -5.0]);
}

#[test]
fn each_mistake_is_one_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let images = HostTensor::from_vec([2, 3], vec![0f64; 6]).expect("a tensor");
    npy::write_file(&path.join("wrong.npy"), &images).expect("a file is written");
    let labels = HostTensor::from_vec([1], vec![0i32]).expect("a tensor");
    npy::write_file(&path.join("labels.npy"), &labels).expect("a file is written");
    let model = root().join("testdata/training/digits_cnn.pb");
    let check = |options: &[&str], wants: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_bef-train"))
            .current_dir(path)
            .arg(&model)
            .args(options)
            .output()
            .expect("bef-train runs");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{options:?}: {said}");
        assert!(wants.iter().all(|want| said.contains(want)), "{options:?}: {said}");
    };
    check(
        &["--data", "images=wrong.npy", "--data", "labels=labels.npy"],
        &["E0911", "1 examples", "'images' has 2"],
    );
    check(
        &["--data", "images=wrong.npy"],
        &["E0911", "wrong.npy has f64 and shape [2, 3]", "'labels' has no data"],
    );
    check(&["--data", "images=none.npy"], &["none.npy"]);
    check(&["--data", "labels=labels.npz:x"], &["labels.npz"]);
    check(&["--data", "labels=labels.npy", "--optimizer", "adamx"], &["E0909", "adamx"]);
    check(&["--data", "labels=labels.npy", "--resume=none"], &["none.index"]);
}
