//! A BEF file with corrected checksums: it is refused, or it runs to an end.
#![no_main]

use std::sync::LazyLock;

use befrost_testing::hostile::Sandbox;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(Sandbox::new);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    SANDBOX.run_resealed(bytes);
});
