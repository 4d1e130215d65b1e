//! Execution of untrusted files, for tests and fuzzers: for any bytes, [`Sandbox::run`] returns.
//!
//! ```text
//! bytes ──validate──▶ Program ──arguments by type──▶ all functions, with little fuel and memory, no output
//! ```
//!
//! The kernels are those of the shipped runtime. None of them touches anything outside of the process except
//! its output, which is discarded here. The result is the number of calls that succeed, so that a test can
//! verify that it tests something. [`round_trip`] passes the same bytes to `dump` and the accessors, which
//! must not panic either.

use std::sync::Arc;

use bef_format::write::update_checksums;
use bef_format::{AlignedBytes, validate};
use befrost::{CallOptions, Cancellation, Datum, HostTensor, Limits, Output, Runtime, Value};
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::raise::raise;
use befrost_compiler::verify::verify;
use befrost_tensor::mem::{Limited, Malloc};
use befrost_tensor::{DType, Shape};

/// Maximum number of kernels that a call may start.
const FUEL: u64 = 2_000;
/// Maximum number of bytes of a sandbox's tensors.
const MEMORY: usize = 1 << 16;

/// A runtime for untrusted files.
pub struct Sandbox {
    runtime: Runtime,
}

/// Discards the output of kernels.
struct Nowhere;

impl Output for Nowhere {
    fn write(&self, _text: &str) -> std::io::Result<()> {
        Ok(())
    }
}

impl Default for Sandbox {
    fn default() -> Sandbox {
        Sandbox::new()
    }
}

impl Sandbox {
    /// A runtime with one thread.
    ///
    /// # Panics
    /// If it cannot be built.
    pub fn new() -> Sandbox {
        let runtime = Runtime::builder()
            .work_queue("s")
            .allocator(Arc::new(Limited::new(Malloc::shared(), MEMORY)))
            .limits(Limits { depth: 1 << 10, values: 1 << 16 })
            .build();
        Sandbox { runtime: runtime.expect("a runtime of one thread needs nothing") }
    }

    /// Loads a file and calls all functions whose arguments can be made. Returns the number of calls that
    /// succeed.
    pub fn run(&self, bytes: &[u8]) -> usize {
        let Ok(program) = self.runtime.load_bytes(bytes) else { return 0 };
        let mut n = 0;
        for function in program.functions() {
            let arguments: Option<Vec<Datum>> =
                function.arguments().iter().map(|port| self.argument(port.ty())).collect();
            let Some(arguments) = arguments else { continue };
            let options = CallOptions {
                cancellation: Cancellation::with_fuel(FUEL),
                output: Arc::new(Nowhere),
                ..CallOptions::default()
            };
            if let Ok(results) = function.call_with(arguments, &options) {
                results.iter().for_each(|result| _ = result.to_string());
                n += 1;
            }
        }
        n
    }

    /// [`Sandbox::run`] of a copy with corrected checksums.
    pub fn run_resealed(&self, bytes: &[u8]) -> usize {
        let mut copy = AlignedBytes::copy_of(bytes);
        update_checksums(&mut copy);
        self.run(&copy)
    }

    /// A value of type `ty`; `None` if only kernels make values of this type.
    fn argument(&self, ty: &str) -> Option<Datum> {
        Some(match ty {
            "i1" => Datum::from(true),
            "i32" => Datum::from(3i32),
            "i64" => Datum::from(3i64),
            "f32" => Datum::from(1.5f32),
            "f64" => Datum::from(1.5f64),
            "!tfrt.chain" => Datum::from(Value::Chain),
            "!t.tensor" => {
                let shape = Shape::new(&[2, 2]).ok()?;
                HostTensor::allocate(DType::F32, shape, self.runtime.allocator()).ok()?.into()
            }
            _ => return None,
        })
    }
}

/// [`round_trip`] of a copy with corrected checksums.
pub fn round_trip_resealed(bytes: &[u8]) -> bool {
    let mut copy = AlignedBytes::copy_of(bytes);
    update_checksums(&mut copy);
    round_trip(&copy)
}

/// Dumps a file, raises it to IR, emits the IR and raises it again. Returns whether the file is a program
/// that can be emitted.
///
/// # Panics
/// If the program raised last differs from the one raised first: a bug of the compiler.
pub fn round_trip(bytes: &[u8]) -> bool {
    let bytes = AlignedBytes::copy_of(bytes);
    bef_format::dump::container(&bytes);
    let Ok(image) = validate(&bytes) else { return false };
    bef_format::dump::dump(&image);
    let Ok(module) = raise(&image) else { return false };
    let Ok(module) = verify(module) else { return false };
    let options =
        PrintOptions { generic: true, keep_names: true, locations: true, ..PrintOptions::default() };
    let text = print(&module, &options);
    let Ok(emitted) = emit(&module, &EmitOptions::default()) else { return false };
    let emitted = AlignedBytes::copy_of(&emitted);
    let again = validate(&emitted).expect("what is emitted is valid");
    let again = raise(&again).expect("what is emitted can be raised");
    assert_eq!(print(&again, &options), text, "what is raised comes back as it was");
    true
}
