//! A damaged file is refused, or loads and runs to an end: no panic, no endless call, no invalid access.
//!
//! Calls get little fuel, little memory and few frames, and their output is discarded. The tests
//! apply the property of the fuzz target `tools/fuzz/targets/bef_execute.rs` for a change of every byte of
//! the golden files and for many random changes.

use befrost_testing::hostile::{Sandbox, round_trip_resealed};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::files::{corpus, golden};

#[test]
fn golden_files_run() {
    let sandbox = Sandbox::new();
    let ran: Vec<(String, usize)> =
        golden().iter().map(|(name, bytes)| (name.clone(), sandbox.run(bytes))).collect();
    assert!(ran.iter().any(|(name, n)| name == "v1_1_program" && *n == 5), "{ran:?}");
    assert!(ran.iter().any(|(name, n)| name == "v1_0_adds" && *n == 1), "{ran:?}");
}

#[test]
fn every_changed_byte_does_no_harm() {
    let sandbox = Sandbox::new();
    let mut n_ran = 0;
    let mut n = 0;
    for (name, bytes) in golden() {
        let mut copy = bytes.clone();
        for at in 0..bytes.len() {
            let was = bytes[at];
            for value in [was ^ 1, was.wrapping_add(1), was.wrapping_sub(1), was ^ 0x80, !was, 0, 0xFF] {
                copy[at] = value;
                n += 1;
                // First with the old checksums, which refuse it; then with corrected ones.
                sandbox.run(&copy);
                n_ran += sandbox.run_resealed(&copy);
            }
            copy[at] = was;
        }
        assert_eq!(*copy, *bytes, "{name}");
    }
    println!("{n} changes, {n_ran} calls of functions in changed files");
    assert!(n_ran > 1000, "only {n_ran} functions of changed files ran");
}

/// The corpora of the fuzz targets.
#[test]
fn corpora_do_no_harm() {
    let sandbox = Sandbox::new();
    let mut n_ran = 0;
    for bytes in corpus("bef_execute") {
        n_ran += sandbox.run_resealed(&bytes);
    }
    assert!(n_ran > 0, "the corpus of bef_execute runs something");
    let n_back = corpus("bef_roundtrip").iter().filter(|bytes| round_trip_resealed(bytes)).count();
    assert!(n_back > 0, "the corpus of bef_roundtrip holds a program");
}

/// A changed file is no program, or its program survives a round trip through BEF.
#[test]
fn every_changed_byte_comes_back_or_is_refused() {
    let mut n = 0;
    for (_, bytes) in golden().into_iter().filter(|(name, _)| name.starts_with("v1_1")) {
        let mut copy = bytes.clone();
        for at in 0..bytes.len() {
            for value in [bytes[at] ^ 1, bytes[at].wrapping_add(1)] {
                copy[at] = value;
                n += usize::from(round_trip_resealed(&copy));
            }
            copy[at] = bytes[at];
        }
    }
    println!("{n} changed files hold programs");
    assert!(n > 100, "only {n} changed files hold programs");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_changes_do_no_harm(
        file in any::<Index>(),
        bytes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..4),
        words in proptest::collection::vec((any::<Index>(), 0..24u32), 0..6),
        copies in proptest::collection::vec((any::<Index>(), any::<Index>(), 1..5usize), 0..3),
    ) {
        let mut file = golden().swap_remove(file.index(golden().len())).1;
        for (at, value) in bytes {
            let at = at.index(file.len());
            file[at] = value;
        }
        for (at, value) in words {
            let at = at.index(file.len() / 4) * 4;
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        for (from, to, n) in copies {
            let words = file.len() / 4 - n;
            let (from, to) = (from.index(words) * 4, to.index(words) * 4);
            file.copy_within(from..from + 4 * n, to);
        }
        let sandbox = Sandbox::new();
        sandbox.run_resealed(&file);
    }
}
