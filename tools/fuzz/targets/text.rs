//! A text: it is refused with errors, or it is a program that survives every form of printing and every pass.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::text(&String::from_utf8_lossy(bytes));
});
