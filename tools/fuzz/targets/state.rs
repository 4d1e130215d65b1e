//! The state file of a folder of checkpoints: it is refused, or written and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::state(bytes);
});
