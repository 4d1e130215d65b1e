//! Models: a file's function, run on tensors in the order of its inputs.

use std::ffi::{c_char, c_void};

use befrost::{CompileOptions, Error, Model};

use super::runtime::runtime_or_new;
use super::{
    Out, bf_error, bf_model, bf_runtime, bf_tensor, clear, deliver, fits, give, guard, items, optional,
    release, retain, text, value_of, values,
};

/// The options of a model's compilation: `signature` is the function of a model that has several.
fn of_signature(signature: *const c_char) -> Result<CompileOptions, Error> {
    let signature = optional("the signature", signature)?.map(str::to_owned);
    Ok(CompileOptions { signature, ..CompileOptions::default() })
}

/// Loads a model of any kind: BEF, ONNX, a TensorFlow graph or SavedModel, MLIR text. `signature` is the
/// function of a model that has several; null: `main`, `serving_default` or the only one. Without a runtime
/// it has one of its own.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_load(
    runtime: *const bf_runtime,
    path: *const c_char,
    signature: *const c_char,
    out: *mut *mut bf_model,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the model", out)?;
        let (path, options) = (text("the path", path)?, of_signature(signature)?);
        out.set(give(Model::load_with(&runtime_or_new(runtime, None)?, path, &options)?));
        Ok(())
    })
}

/// `bf_model_load` of the contents of a file that names no other files. They are copied.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_load_bytes(
    runtime: *const bf_runtime,
    bytes: *const c_void,
    n_bytes: usize,
    signature: *const c_char,
    out: *mut *mut bf_model,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the model", out)?;
        let bytes = items("the model", bytes.cast::<u8>(), n_bytes)?.to_vec();
        let options = of_signature(signature)?;
        out.set(give(Model::from_bytes_with(&runtime_or_new(runtime, None)?, bytes, &options)?));
        Ok(())
    })
}

/// The number of a model's inputs; 0 for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_n_inputs(model: *const bf_model) -> usize {
    value_of(model).map_or(0, |model| model.inputs().iter().filter(|port| !port.is_chain()).count())
}

/// The number of a model's outputs; 0 for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_n_outputs(model: *const bf_model) -> usize {
    value_of(model).map_or(0, |model| model.outputs().iter().filter(|port| !port.is_chain()).count())
}

/// Runs a model on its inputs in their order.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_run(
    model: *const bf_model,
    inputs: *const *mut bf_tensor,
    n_inputs: usize,
    out: *mut *mut bf_tensor,
    n_outputs: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_outputs, out)?;
        let results = value_of(model)?.run_data(values(inputs, n_inputs)?)?;
        fits(n_outputs, results.len())?;
        deliver(results.into_iter().map(Some), out)
    })
}

/// Another reference to a model.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_retain(model: *mut bf_model) {
    retain(model);
}

/// Gives a reference to a model back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_release(model: *mut bf_model) {
    release(model);
}
