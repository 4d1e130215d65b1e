//! Operators one by one: refused, or they have results or errors.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::eager(bytes);
});
