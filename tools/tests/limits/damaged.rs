//! Damaged files with corrected checksums: loading and running them with limits takes time and memory in
//! proportion to their size.
//!
//! The files are the golden ones and TensorFlow's graphs, compiled. Words of a file are replaced by small
//! numbers, by numbers near a limit, or by other words of the file. The process's allocator refuses requests
//! for more than [`MOST`] bytes; code that does not handle the refusal ends the test program.

use std::path::Path;
use std::time::{Duration, Instant};

use bef_format::AlignedBytes;
use bef_format::write::update_checksums;
use befrost::{CallOptions, Cancellation, Datum, Output, Runtime, Source, Value, compile};
use befrost_testing::dice::Dice;
use befrost_testing::hostile::round_trip;
use std::sync::Arc;

use crate::allocator::refusing_beyond;

/// The largest request that is served. The files have a few KB.
const MOST: usize = 64 << 20;

/// The memory for the tensors of a file.
const TENSORS: usize = 64 << 20;

/// The deadline of a file's calls.
const DEADLINE: Duration = Duration::from_millis(200);

/// Maximum time for a file, in a build without optimization, beside other processes.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of damaged files.
const FILES: u64 = 3000;

/// Discards the output of kernels.
struct Nowhere;

impl Output for Nowhere {
    fn write(&self, _text: &str) -> std::io::Result<()> {
        Ok(())
    }
}

fn files() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut files = Vec::new();
    for (folder, extension) in [("bef/golden", "bef"), ("graphdefs", "")] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a directory of tests");
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if extension.is_empty() {
                let graph = std::fs::read(path.join("graph.pb")).unwrap_or_default();
                files.extend(compile(Source::GraphDef(graph)).ok());
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(std::fs::read(path).expect("a file of tests"));
            }
        }
    }
    files.retain(|file| file.len() < 1 << 16);
    assert!(files.len() > 50, "{} files", files.len());
    files
}

/// Replaces one word, or up to three.
fn damage(file: &mut [u8], dice: &mut Dice) {
    const WORDS: [u32; 8] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 20, 1 << 28, 0x0100_0000];
    for _ in 0..1 + dice.below(2) * dice.below(3) {
        let at = dice.below(file.len() / 4) * 4;
        let other = dice.below(file.len() / 4) * 4;
        let word = match dice.below(4) {
            0 => WORDS[dice.below(WORDS.len())].to_le_bytes(),
            1 => (dice.below(64) as u32).to_le_bytes(),
            2 => file[other..].first_chunk().copied().unwrap_or_default(),
            _ => {
                let mut word: [u8; 4] = file[at..].first_chunk().copied().unwrap_or_default();
                word[dice.below(4)] ^= 1 << dice.below(8);
                word
            }
        };
        file[at..at + 4].copy_from_slice(&word);
    }
}

/// Loads a file and calls its functions with chains as arguments. All calls share one deadline and one fuel.
/// Returns whether the file was loaded.
fn use_up(runtime: &Runtime, bytes: &[u8]) -> bool {
    let Ok(program) = runtime.load_bytes(bytes) else { return false };
    let cancellation = Cancellation::limited(Some(Instant::now() + DEADLINE), Some(10_000));
    for function in program.functions() {
        let arguments: Vec<Datum> = function.arguments().iter().map(|_| Value::Chain.into()).collect();
        let (cancellation, output) = (cancellation.clone(), Arc::new(Nowhere));
        let options = CallOptions { cancellation, output, ..CallOptions::default() };
        if let Ok(results) = function.call_with(arguments, &options) {
            results.iter().for_each(|result| _ = result.to_string());
        }
    }
    true
}

#[test]
fn damaged_files_cost_no_more_than_their_size() {
    let runtime = Runtime::builder().work_queue("s").max_memory(TENSORS).build().expect("a queue");
    let files = files();
    let first = std::env::var("BEFROST_DAMAGED_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let n = std::env::var("BEFROST_DAMAGED").ok().and_then(|text| text.parse().ok()).unwrap_or(FILES);
    let (mut n_loaded, mut slow) = (0, Vec::new());
    for seed in first..first + n {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut file = AlignedBytes::copy_of(&files[dice.below(files.len())]);
        damage(&mut file, &mut dice);
        update_checksums(&mut file);
        if std::env::var_os("BEFROST_DAMAGED").is_some() {
            // If the process ends, the seed is in this file.
            _ = std::fs::write(std::env::temp_dir().join("befrost-damaged"), seed.to_string());
        }
        let start = Instant::now();
        let (is_loaded, _) = refusing_beyond(MOST, || {
            round_trip(&file);
            use_up(&runtime, &file)
        });
        n_loaded += u64::from(is_loaded);
        if start.elapsed() > PATIENCE {
            slow.push(format!("seed {seed}: {:?}", start.elapsed()));
        }
    }
    println!("{n_loaded} of {n} files were loaded");
    assert_eq!(slow, Vec::<String>::new());
    assert!(n_loaded * 10 > n, "only {n_loaded} of {n} files were loaded");
}
