//! A check file and, after a NUL, an input: any bytes give a verdict.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_tools::fuzz::file_check(bytes);
});
