//! A check file and, behind a NUL, an input: the answer is a verdict, whatever they are.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_tools::fuzz::file_check(bytes);
});
