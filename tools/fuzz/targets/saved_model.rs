//! A SavedModel without variables: it is refused, or it is compiled at every level.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::saved_model(bytes, false, &befrost_compiler::import::files::NoFiles);
});
