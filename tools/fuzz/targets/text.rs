//! Text that is refused with errors, or is a program that survives every form of printing and every pass.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::text(&String::from_utf8_lossy(bytes));
});
