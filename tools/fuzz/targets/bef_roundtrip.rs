//! Bytes, with right checksums, that are refused or raised to a program that comes back from BEF as it was.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::hostile::round_trip_resealed(bytes);
});
