//! Control flow: kernels that request runs of their functions.
//!
//! Each reads at most its first operand and makes a request; the executor pushes frames on its own stack. A
//! [`CallShape`] declares arguments and results of the functions, and the loader compares it with every use.
//! Its [`Form`] declares the selection that the kernel's code makes, so a sequential plan applies it without
//! running the kernel. The caller chooses the names: `tfrt.if` and `tfrt.cond` are both [`branch`].

pub use super::calling::{once, parallel};

use std::task::Waker;

use super::Kernel;
use super::frame::{Call, KernelFrame, Outcome};
use super::job::{Job, Place};
use super::signature::{AttrSpec, CallResults, CallShape, Completion, Form, Signature, Types};
use crate::async_value::AsyncRef;
use crate::error::KernelError;
use crate::queue::Parking;
use crate::value::{Scalar, Value};

/// A kernel that runs its first function on all of its operands.
pub fn caller(name: &'static str) -> Kernel {
    Kernel::new(name, signature(Form::Call, Vec::new(), 1), |frame| {
        frame.call(Call { function: 0, first_operand: 0 })
    })
}

/// A kernel that runs its first function on all of its operands, with these types of operands and results.
pub fn caller_of(name: &'static str, operands: Vec<Types>, results: Vec<Types>) -> Kernel {
    let signature = Signature {
        operands,
        rest: None,
        results,
        rest_results: None,
        ..signature(Form::Call, Vec::new(), 1)
    };
    Kernel::new(name, signature, |frame| frame.call(Call { function: 0, first_operand: 0 }))
}

/// A kernel that runs its first function on all of its operands, in a task.
pub fn task(name: &'static str) -> Kernel {
    let signature = Signature { completion: Completion::Async, ..signature(Form::Own, Vec::new(), 1) };
    Kernel::new(name, signature, |frame| {
        let operands = frame.operands_from(0);
        Outcome::Later(Job::new(Place::Queue, move |frame| {
            frame.set_operands(operands);
            frame.call(Call { function: 0, first_operand: 0 })
        }))
    })
}

/// A kernel that runs one of its two functions on its operands but the first, which selects the function.
pub fn branch(name: &'static str) -> Kernel {
    Kernel::new(name, signature(Form::Branch, vec![bool::TYPES], 2), |frame| match scalar::<bool>(frame, 0) {
        Some(condition) => frame.call(Call { function: u32::from(!condition), first_operand: 1 }),
        None => Outcome::Operand,
    })
}

/// A kernel that runs one of its functions on its operands but the first, which is the function's number.
pub fn case(name: &'static str) -> Kernel {
    let signature = Signature { more_functions: true, ..signature(Form::Case, vec![i32::TYPES], 0) };
    Kernel::new(name, signature, |frame| {
        let Some(index) = scalar::<i32>(frame, 0) else { return Outcome::Operand };
        match u32::try_from(index) {
            Ok(function) if frame.function(function as usize).is_some() => {
                frame.call(Call { function, first_operand: 1 })
            }
            _ => {
                let n = frame.n_functions();
                let message = format!("branch_index invalid. branch index: {index} # branches: {n}");
                Outcome::error(KernelError::invalid(message))
            }
        }
    })
}

/// A kernel that runs its function on its operands but the first, which is the number of iterations, each on
/// the results of the previous one.
pub fn repeat(name: &'static str) -> Kernel {
    Kernel::new(name, carrying(Form::Repeat, i32::TYPES, CallResults::Carried), |frame| {
        let Some(times) = scalar::<i32>(frame, 0) else { return Outcome::Operand };
        match u32::try_from(times) {
            Ok(times) => frame.repeat(Call { function: 0, first_operand: 1 }, times),
            Err(_) => {
                let message = format!("the trip count is {times}: it must not be negative");
                Outcome::error(KernelError::invalid(message))
            }
        }
    })
}

/// A kernel that runs its function on its operands but the first, if the first is true. It repeats the
/// function on the results of the previous iteration while one more result, the last, is true. Its attribute
/// is the limit of the iterations in flight. An iteration begins when its condition is known, with the other
/// results in any state. A body in which nothing waits runs one iteration at a time.
pub fn while_loop(name: &'static str) -> Kernel {
    let signature = Signature {
        attrs: vec![AttrSpec::of::<i64>()],
        ..carrying(Form::While, bool::TYPES, CallResults::CarriedAndCondition)
    };
    Kernel::new(name, signature, |frame| match scalar::<bool>(frame, 0) {
        Some(true) => {
            let in_flight = frame.immediate(0).and_then(i64::from_value).unwrap_or(1);
            let in_flight = u32::try_from(in_flight.max(1)).unwrap_or(u32::MAX);
            frame.repeat_while(Call { function: 0, first_operand: 1 }, in_flight)
        }
        Some(false) => frame.pass(1),
        None => Outcome::Operand,
    })
}

/// The outcome of a kernel that decides when `value` is final: `decide` is called then, with the kernel's
/// operands in the frame, and requests a run of one of its functions.
pub fn decide_later(
    frame: &KernelFrame<'_>,
    value: &AsyncRef,
    decide: impl FnOnce(&mut KernelFrame<'_>) -> Outcome + Send + 'static,
) -> Outcome {
    let operands = frame.operands_from(0);
    let parking = Parking::new(frame.context().queue().clone(), frame.context().activity().cloned());
    let waker = Waker::from(parking.clone());
    value.and_then(move |_| waker.wake());
    Outcome::Later(Job::new(Place::Parked(parking), move |frame| {
        frame.set_operands(operands);
        decide(frame)
    }))
}

/// Signature of a kernel that calls `n_functions` functions on its operands behind `operands`.
fn signature(form: Form, operands: Vec<Types>, n_functions: u32) -> Signature {
    let first_operand = operands.len() as u32;
    Signature {
        operands,
        rest: Some(&[]),
        rest_results: Some(&[]),
        n_functions,
        calls: Some(CallShape { first_operand, results: CallResults::Kernel, form }),
        completion: Completion::Calls,
        ..Signature::default()
    }
}

/// Signature of a loop with one operand in front.
fn carrying(form: Form, first: Types, results: CallResults) -> Signature {
    let calls = Some(CallShape { first_operand: 1, results, form });
    Signature { calls, ..signature(form, vec![first], 1) }
}

fn scalar<T: Scalar>(frame: &KernelFrame<'_>, i: usize) -> Option<T> {
    frame.operand(i).and_then(|value: &Value| T::from_value(value))
}
