//! The name and the signature of a kernel of a library, or a table of kernels: refused, or it could be one.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::fuzz::library(&String::from_utf8_lossy(bytes));
});
