//! The calibration line of all benches that are compared with `performance.md`: what an atomic decrement
//! costs here and now.

use std::sync::atomic::{AtomicU32, Ordering};

use divan::Bencher;
use divan::counter::ItemsCount;

const N: u32 = 10_000;

#[divan::bench]
fn fetch_sub(bencher: Bencher) {
    let counter = AtomicU32::new(0);
    bencher.counter(ItemsCount::new(N)).bench(|| {
        for _ in 0..N {
            divan::black_box(&counter).fetch_sub(1, Ordering::AcqRel);
        }
    });
}
