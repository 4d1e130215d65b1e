//! An archive of `.npy` files: it is refused, or its array is read.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::npz(bytes);
});
