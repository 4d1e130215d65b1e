//! A BEF file with corrected checksums: it is refused, or its program is emitted and raised again unchanged.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    befrost_testing::hostile::round_trip_resealed(bytes);
});
