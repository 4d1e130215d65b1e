//! The digits in lower precision: the accuracy falls by at most half a percentage point, with ranges
//! computed at each run and with observed ranges.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use befrost::HostTensor;
use befrost::mem::Malloc;
use befrost::npy;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn array(path: &Path) -> HostTensor {
    npy::read_file(path, &Malloc::shared()).expect("an array of numbers")
}

/// Runs a model on a set of images. Returns its standard output and standard error.
fn run(model: &str, set: &str, options: &[&str]) -> String {
    let digits = root().join("testdata/digits");
    let images = format!("images={}", digits.join(format!("{set}_images.npy")).display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_bef-exec"));
    command.arg(digits.join(model)).args(["--work-queue", "s", "--input", &images]).args(options);
    let output = command.output().expect("bef-exec runs");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{options:?}: {said}");
    said
}

/// The percentage of right answers on the test set.
fn accuracy(model: &str, folder: &Path, options: &[&str]) -> f64 {
    let file = folder.join("logits.npy");
    let output = format!("logits={}", file.display());
    run(model, "test", &[&["--output", &output], options].concat());
    let (logits, labels) = (array(&file), array(&root().join("testdata/digits/test_labels.npy")));
    let labels: Vec<usize> = labels.to_vec::<i32>().expect("labels").iter().map(|&x| x as usize).collect();
    let logits = logits.to_vec::<f32>().expect("logits");
    let best = |row: &[f32]| (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    let right = logits.chunks(10).zip(&labels).filter(|(row, label)| best(row) == **label).count();
    100.0 * right as f64 / labels.len() as f64
}

#[test]
fn the_digits_keep_their_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for model in ["digits_cnn.pb", "digits_mlp.pb"] {
        let in_f32 = accuracy(model, path, &[]);
        for percentile in ["100", "99.9"] {
            let ranges = path.join(format!("ranges{percentile}.txt")).display().to_string();
            run(model, "train", &["--observe-ranges", &ranges, "--percentile", percentile]);
            let text = std::fs::read_to_string(&ranges).expect("ranges");
            assert!(text.starts_with("function main\n") && text.lines().count() > 2, "{text}");
        }
        let ranges = ["100", "99.9"].map(|p| path.join(format!("ranges{p}.txt")).display().to_string());
        for options in [
            &["--precision", "bf16"][..],
            &["--precision", "int8"],
            &["--precision", "int8", "--ranges", &ranges[0]],
            &["--precision", "int8", "--ranges", &ranges[1]],
        ] {
            let lower = accuracy(model, path, options);
            assert!(in_f32 - lower <= 0.5, "{model} {options:?}: {lower} % instead of {in_f32} %");
        }
    }
}

#[test]
fn the_difference_from_f32_is_reported() {
    for (precision, most) in [("bf16", 0.02), ("int8", 0.05)] {
        let said = run("digits_cnn.pb", "test", &["--precision", precision, "--compare-precision"]);
        let line = said.lines().find(|line| line.starts_with("result 'logits': largest difference"));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        let error = line.split("relative error ").nth(1).and_then(|rest| rest.split(';').next());
        let error: f64 = error.and_then(|error| error.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        assert!(error > 0.0 && error < most, "{line}");
        assert!(line.ends_with("% of 360 rows have the same largest element"), "{line}");
    }
}
