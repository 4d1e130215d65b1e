//! The memory of a process that runs a session a million times: alone in its process, whose memory it reads.
#![cfg(all(feature = "compile", target_os = "linux"))]
#![forbid(unsafe_code)]

use std::path::Path;

use befrost::{Datum, HostTensor, RunOptions, Runtime, Session};

/// The kibibytes of memory that the process has now.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

/// Forty sets of names: lists of fetches of which each is one of three results.
fn names(at: usize) -> Vec<&'static str> {
    (0..5).map(|place| ["a", "b", "c"][(at / 3usize.pow(place)) % 3]).collect()
}

#[test]
fn a_million_runs_of_many_names_and_sizes_keep_no_memory() {
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    let text = "func.func @main(%x: i32 {bef.name = \"x\"}) -> (i32 {bef.name = \"a\"}, i32 {bef.name = \"b\"}, i32 {bef.name = \"c\"}) {
  tfrt.return %x, %x, %x : i32, i32, i32
}";
    let numbers = Session::builder().runtime(&runtime).text(text).expect("a session");
    let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/digits/digits_mlp.pb");
    let digits = Session::builder().runtime(&runtime).open(digits).expect("a session");
    let options = RunOptions::default();
    let run = |i: usize| {
        let results = numbers.run_with(&[("x", Datum::from(i as i32))], &names(i % 40), &options);
        assert_eq!(results.expect("a run")[0].item::<i32>().expect("a number"), i as i32);
        if i.is_multiple_of(50) {
            // More sizes than an executable remembers.
            let n = 1 + i / 50 % 40;
            let images = HostTensor::from_vec([n, 64], vec![0.5f32; n * 64]).expect("images");
            digits.run(&[("images", images)], &["logits"]).expect("a run");
        }
    };
    (0..50_000).for_each(run);
    let before = resident();
    (0..1_000_000).for_each(run);
    let grown = resident().saturating_sub(before);
    // A word per run would be 8 MB.
    assert!(grown < 4096, "{grown} KiB more than the {before} before");
    assert_eq!((numbers.stats().executables, digits.stats().executables), (40, 1));
}
