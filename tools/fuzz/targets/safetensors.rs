//! A file of safetensors: it is refused, or its tensors are read.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::safetensors(bytes);
});
