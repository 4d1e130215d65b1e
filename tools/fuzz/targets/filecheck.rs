//! A check file and, after a NUL, an input: FileCheck gives a verdict.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::file_check(bytes);
});
