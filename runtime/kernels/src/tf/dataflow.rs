//! Dataflow control flow, the primitives of TensorFlow 1 as kernels on values that may be dead.
//!
//! | kernel | results |
//! |---|---|
//! | `tf._Switch(data, predicate)` | the data if false, the data if true, completion; one datum is dead |
//! | `tf._SwitchCase(data, index)` | the data for each index; all but one are dead |
//! | `tf._Merge(inputs)` | the first input that is not dead, its number, completion |
//! | `tf._IndexTensor(number)` | the number as a tensor |
//! | `tf._IsLive(value)` | whether the value is not dead |
//! | `tf._Join(values)` | a chain; the first error among the values; never dead |
//! | `tf._Dead()` | dead |
//! | `tf._Fetch(value)` | the value, or an error if it is dead |
//!
//! They take their operands in any final state, so dead operands and errors do not skip them. A use of
//! `tf._Merge` with `bef.nonstrict` runs at its first live operand. Iterations are `tfrt.while`. All other
//! kernels are strict, and dead if an operand is dead. The rules are those of `semantics.md`, "Dataflow
//! control flow".

use std::borrow::Cow;

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{
    AttrSpec, Cursor, Kernel, KernelFrame, Outcome, ResultValue, Signature, Types,
};
use befrost_kernel_api::value::{Chain, Scalar};
use befrost_kernel_api::{KernelError, Registry, Value};
use befrost_tensor::HostTensor;

use super::flow;
use crate::objects::{Tensor, refused};

pub(super) fn add(registry: &mut Registry) {
    // Whether the predicate is the condition of a loop.
    let is_loop_cond = vec![AttrSpec::of::<bool>()];
    registry.add(kernel("tf._Switch", Signature { attrs: is_loop_cond, ..observer(2) }, switch));
    registry.add(kernel("tf._SwitchCase", observer(2), switch_n));
    registry.add(kernel("tf._Merge", observer(0), merge));
    registry.add(befrost_kernel_api::kernel!("tf._IndexTensor", |number: i32| {
        HostTensor::from_vec([], vec![number]).map(Tensor).map_err(refused)
    }));
    let results = vec![<bool as Scalar>::TYPES];
    registry.add(kernel("tf._IsLive", Signature { results, rest_results: None, ..observer(1) }, is_live));
    let results = vec![<Chain as Scalar>::TYPES];
    registry.add(kernel("tf._Join", Signature { results, rest_results: None, ..observer(0) }, join));
    let results = vec![&[][..]];
    registry.add(kernel("tf._Dead", Signature { results, ..Signature::default() }, |frame| {
        all(frame, &Value::Dead)
    }));
    let results = vec![&[][..]];
    registry.add(kernel("tf._Fetch", Signature { results, rest_results: None, ..observer(1) }, fetch));
}

fn kernel(name: &'static str, signature: Signature, run: fn(&mut KernelFrame<'_>) -> Outcome) -> Kernel {
    Kernel::new(name, signature, run)
}

/// The signature of a kernel with any results that takes `n` operands, or any number, in any final state.
fn observer(n: usize) -> Signature {
    Signature {
        operands: vec![&[]; n],
        rest: if n == 0 { Some(&[]) } else { None },
        rest_results: Some(&[]),
        takes_any_state: true,
        observes: true,
        stores_all: true,
        ..Signature::default()
    }
}

/// Sets all results to `value`.
fn all(frame: &mut KernelFrame<'_>, value: &Value) -> Outcome {
    (0..frame.n_results()).for_each(|i| frame.set_result(i, value.clone()));
    Outcome::Done
}

/// The final value of an operand.
fn final_operand<'f>(frame: &'f KernelFrame<'_>, i: usize) -> Result<&'f Value, Outcome> {
    frame.operand(i).ok_or_else(|| not_final(i))
}

#[cold]
fn not_final(i: usize) -> Outcome {
    let message = format!("operand #{i} is not final: it must not be lenient");
    Outcome::error(KernelError::new(ErrorCode::FailedPrecondition, message))
}

/// A result that is not selected.
struct Dead;

impl ResultValue for Dead {
    const TYPES: Types = &[];
    const IS_PLAIN: bool = true;
    #[inline(always)]
    fn into_value(self) -> Value {
        Value::Dead
    }
}

fn switch(frame: &mut KernelFrame<'_>) -> Outcome {
    let mut cursor = Cursor::default();
    _ = cursor.next_operand(frame);
    // The fast path for scalars in a loop, without reference counts.
    if let Some(&Value::I1(is_true)) = cursor.next_operand(frame)
        && frame.copy_operand(0, usize::from(is_true))
    {
        frame.store(usize::from(!is_true), Dead);
        frame.store(2, Chain);
        return Outcome::Done;
    }
    let way = |predicate: &Value| match *predicate {
        Value::I1(is_true) => Ok(usize::from(is_true)),
        ref predicate => flow::predicate(tensor(predicate)?).map(usize::from).map_err(Outcome::Error),
    };
    route(frame, 2, way).unwrap_or_else(|outcome| outcome)
}

fn switch_n(frame: &mut KernelFrame<'_>) -> Outcome {
    let n = frame.n_results(); // of 16 bits
    let way = |index: &Value| {
        let way = match *index {
            Value::I32(index) => flow::branch_of(i64::from(index), n as i64),
            ref index => flow::branch_index(tensor(index)?, n as i64).map_err(Outcome::Error)?.into(),
        };
        Ok(way as usize) // not negative
    };
    route(frame, n, way).unwrap_or_else(|outcome| outcome)
}

fn tensor(value: &Value) -> Result<&HostTensor, Outcome> {
    value.downcast_ref::<Tensor>().map(|tensor| &tensor.0).ok_or(Outcome::Operand)
}

/// Stores the first operand as the one of the first `n` results that the second operand selects. If either is
/// dead, or the second is an error, all results are.
fn route(
    frame: &mut KernelFrame<'_>,
    n: usize,
    way: impl FnOnce(&Value) -> Result<usize, Outcome>,
) -> Result<Outcome, Outcome> {
    let (data, selector) = (final_operand(frame, 0)?, final_operand(frame, 1)?);
    let way = match (data, selector) {
        (Value::Dead, _) | (_, Value::Dead) => return Ok(all(frame, &Value::Dead)),
        (_, Value::Error(error)) => {
            let error = Value::Error(error.clone());
            let is_loop_cond = frame.immediate(0).and_then(bool::from_value) == Some(true);
            let outcome = all(frame, &error);
            if is_loop_cond {
                // The loop ends with the error of its condition.
                frame.set_result(1, Value::Dead);
            }
            return Ok(outcome);
        }
        (_, selector) => way(selector)?,
    };
    let data = frame.take_operand(0).or_else(|| frame.operand(0).cloned()).unwrap_or_default();
    (0..n).for_each(|i| frame.set_result(i, Value::Dead));
    frame.set_result(way, data);
    frame.set_result(n, Value::Chain);
    Ok(Outcome::Done)
}

fn merge(frame: &mut KernelFrame<'_>) -> Outcome {
    let (n, mut cursor) = (frame.n_operands(), Cursor::default());
    let is_live = |value: Option<&Value>| value.is_some_and(|value| !matches!(value, Value::Dead));
    let Some(first) = (0..n).find(|_| is_live(cursor.next_operand(frame))) else {
        return all(frame, &Value::Dead);
    };
    if !frame.copy_operand(first, 0) {
        let value = frame.take_operand(first).or_else(|| frame.operand(first).cloned());
        frame.set_result(0, value.unwrap_or_default());
    }
    frame.store(1, first as i32); // an operand's number has 32 bits in the file
    frame.store(2, Chain);
    Outcome::Done
}

fn is_live(frame: &mut KernelFrame<'_>) -> Outcome {
    match Cursor::default().next_operand(frame) {
        Some(value) => {
            let is_live = !matches!(value, Value::Dead);
            frame.store(0, is_live);
            Outcome::Done
        }
        None => not_final(0),
    }
}

fn join(frame: &mut KernelFrame<'_>) -> Outcome {
    for i in 0..frame.n_operands() {
        match final_operand(frame, i) {
            Ok(Value::Error(error)) => {
                let error = Value::Error(error.clone());
                return all(frame, &error);
            }
            Ok(_) => {}
            Err(outcome) => return outcome,
        }
    }
    all(frame, &Value::Chain)
}

fn fetch(frame: &mut KernelFrame<'_>) -> Outcome {
    match final_operand(frame, 0) {
        Ok(Value::Dead) => {
            let name =
                frame.site().name().map_or(Cow::Borrowed("a result"), |name| format!("'{name}'").into());
            let message = format!("{name} is dead: control flow did not come to it, so it has no value");
            Outcome::error(KernelError::invalid(message))
        }
        Ok(_) => {
            let value = frame.take_operand(0).or_else(|| frame.operand(0).cloned()).unwrap_or_default();
            frame.set_result(0, value);
            Outcome::Done
        }
        Err(outcome) => outcome,
    }
}
