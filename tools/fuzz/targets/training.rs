//! A forward graph: it is refused, or its training program is compiled at every level.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::training(bytes);
});
