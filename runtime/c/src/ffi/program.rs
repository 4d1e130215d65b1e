//! Programs: BEF files in memory, for C programs with a model inside. Nothing here compiles.

use std::ffi::{c_char, c_void};

use super::runtime::runtime_or_new;
use super::{
    Out, bf_error, bf_program, bf_runtime, bf_tensor, clear, deliver, fits, give, guard, invalid, items,
    release, retain, text, value_of, values,
};

/// Loads a BEF file from memory, which is copied: what a small program has inside. Without a runtime it is
/// executed on the caller's thread.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_program_load(
    runtime: *const bf_runtime,
    bef: *const c_void,
    n_bytes: usize,
    out: *mut *mut bf_program,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the program", out)?;
        let bytes = items("the file", bef.cast::<u8>(), n_bytes)?;
        let program = runtime_or_new(runtime, Some("s"))?.load_bytes(bytes);
        out.set(give(program.map_err(|error| invalid(error.to_string()))?));
        Ok(())
    })
}

/// Runs a function of a program on its arguments in their order. Chains are neither arguments nor results.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_program_run(
    program: *const bf_program,
    function: *const c_char,
    arguments: *const *mut bf_tensor,
    n_arguments: usize,
    out: *mut *mut bf_tensor,
    n_results: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_results, out)?;
        let function = value_of(program)?.function(text("the name", function)?)?;
        let results = function.call_ok(values(arguments, n_arguments)?)?;
        let data = results.into_iter().zip(function.results()).filter(|(_, port)| !port.is_chain());
        let data: Vec<_> = data.map(|(result, _)| Some(result)).collect();
        fits(n_results, data.len())?;
        deliver(data, out)
    })
}

/// Another reference to a program.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_program_retain(program: *mut bf_program) {
    retain(program);
}

/// Gives a reference to a program back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_program_release(program: *mut bf_program) {
    release(program);
}
