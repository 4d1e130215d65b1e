//! Names, specs and sets of devices: each is refused, or printed and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    befrost_testing::fuzz::devices(text);
});
