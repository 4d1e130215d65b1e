//! A `.npy` file: it is refused, or its tensor is written and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::npy(bytes);
});
