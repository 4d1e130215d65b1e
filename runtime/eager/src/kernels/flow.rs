//! Conditions, loops and composite ops.
//!
//! The first argument and the first result of each function is a chain. A condition is decided when its
//! handle is final; no thread waits for it.

use bef_format::FunctionView;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::control::decide_later;
use befrost_kernel_api::kernel::{
    Call, CallResults, CallShape, Callee, Completion, Cursor, Deferred, Form, Kernel, KernelFrame, Outcome,
    Param, Returns, Signature, Types,
};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::value::Scalar;
use befrost_kernel_api::{Chain, Error, ExecContext, KernelError, Registry, Value};

use super::ANY_ATTR;
use super::conversions::predicate;
use crate::handle::TensorHandle;
use crate::handler::raise;

pub(super) fn add(registry: &mut Registry) {
    let flow = |operands: Vec<Types>, first_operand: u32, results: CallResults| Signature {
        operands,
        rest: Some(&[]),
        results: vec![Chain::TYPES],
        rest_results: Some(&[]),
        n_functions: 2,
        calls: Some(CallShape { first_operand, results, form: Form::Own }),
        completion: Completion::Async,
        ..Signature::default()
    };
    let cond = move || flow(vec![TensorHandle::TYPES, Chain::TYPES], 1, CallResults::Kernel);
    registry.add(Kernel::lazy("corert.cond", cond, condition));
    let repeat = move || flow(vec![Chain::TYPES], 0, CallResults::Any);
    registry.add(Kernel::lazy("corert.while", repeat, |frame| {
        while_true(frame).unwrap_or_else(|outcome| outcome)
    }));
    let composite = || Signature {
        results: vec![CompositeOp::TYPES],
        n_functions: 1,
        calls: Some(CallShape { first_operand: 0, results: CallResults::Free, form: Form::Own }),
        ..Signature::default()
    };
    registry.add(Kernel::lazy("corert.make_composite_op", composite, |frame| {
        if let Some(error) = frame.function(0).and_then(|f| not_of_handles(frame.image().function(f.0))) {
            return Outcome::Error(error);
        }
        match Callee::extract(frame, &mut Cursor::default()) {
            Ok(function) => {
                frame.set_result(0, Value::object(CompositeOp(function)));
                Outcome::Done
            }
            Err(outcome) => outcome,
        }
    }));
    let execute = || Signature {
        operands: vec![CompositeOp::TYPES],
        rest: Some(&[]),
        rest_results: Some(&[]),
        attrs: vec![ANY_ATTR; 2],
        completion: Completion::Async,
        ..Signature::default()
    };
    registry.add(Kernel::lazy("corert.execute_crt_op", execute, execute_composite));
}

/// The error, in TFRT's words, if a function takes or gives anything but handles behind the chain.
fn not_of_handles(function: FunctionView<'_, '_>) -> Option<KernelError> {
    let handle = TensorHandle::TYPES[0];
    let other = |types: Vec<&str>| {
        types.into_iter().skip(1).enumerate().find(|(_, ty)| *ty != handle).map(|(i, ty)| (i, ty.to_owned()))
    };
    let arguments = (0..function.n_args()).map(|i| function.arg_type(i)).collect();
    if let Some((i, ty)) = other(arguments) {
        return Some(KernelError::invalid(format!(
            "The function should only takes type [{handle}] as input. But the {i}-th argument is type [{ty}]."
        )));
    }
    let results = (0..function.n_results()).map(|i| function.result_type(i)).collect();
    let (i, ty) = other(results)?;
    Some(KernelError::invalid(format!(
        "The function should only returns type [{handle}]. But the {i}-th results is type [{ty}]."
    )))
}

/// A `!corert.op`: a function on a chain and handles.
#[derive(Clone, Debug)]
struct CompositeOp(Callee);

impl Object for CompositeOp {
    const TYPES: &'static [&'static str] = &["!corert.op"];

    fn display(&self) -> String {
        format!("@{}", self.0.name())
    }
}

/// Sets all results to an error.
fn fail(frame: &mut KernelFrame<'_>, error: &Error) -> Outcome {
    (0..frame.n_results()).for_each(|i| frame.set_result(i, Value::Error(error.clone())));
    Outcome::Done
}

fn condition(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(handle) = frame.operand(0).and_then(|value| value.downcast_ref::<TensorHandle>()) else {
        return Outcome::Operand;
    };
    let handle = handle.clone();
    match handle.unavailable() {
        None => branch(frame, &handle),
        Some(value) => {
            let value = value.clone();
            decide_later(frame, &value, move |frame| branch(frame, &handle))
        }
    }
}

fn branch(frame: &mut KernelFrame<'_>, handle: &TensorHandle) -> Outcome {
    match handle.value() {
        Some(Value::Error(error)) => fail(frame, error),
        Some(value) => match predicate(value, frame.context()) {
            Ok(holds) => frame.call(Call { function: u32::from(!holds), first_operand: 1 }),
            Err(error) => Outcome::Error(error),
        },
        None => Outcome::error(KernelError::new(ErrorCode::Internal, "the condition is not there")),
    }
}

fn while_true(frame: &mut KernelFrame<'_>) -> Result<Outcome, Outcome> {
    let n = frame.n_operands();
    let values: Option<Vec<Value>> = (0..n).map(|i| frame.operand(i).cloned()).collect();
    let values = values.filter(|values| values.iter().all(Value::is_concrete)).ok_or(Outcome::Operand)?;
    let mut cursor = Cursor::default();
    let (cond, body) = (Callee::extract(frame, &mut cursor)?, Callee::extract(frame, &mut cursor)?);
    let (cx, site, n_results) = (frame.context().clone(), frame.site(), frame.n_results());
    let ended = async move {
        let ended = iterations(values, &cond, &body, &cx).await;
        ended.unwrap_or_else(|stopped| {
            let error = match stopped {
                Stopped::By(error) => error,
                Stopped::Here(error) => raise(&cx, Some(&site), &error),
            };
            vec![Value::Error(error); n_results]
        })
    };
    Ok(Deferred::future(ended).store(frame))
}

/// The reason why a loop ended before its condition was false.
enum Stopped {
    /// An error result of a function, or the cancellation.
    By(Error),
    /// An error of the loop itself.
    Here(KernelError),
}

impl From<KernelError> for Stopped {
    fn from(error: KernelError) -> Stopped {
        Stopped::Here(error)
    }
}

/// The error, if the value is one.
fn check(value: Option<&Value>) -> Result<(), Stopped> {
    match value.and_then(Value::error) {
        Some(error) => Err(Stopped::By(error.clone())),
        None => Ok(()),
    }
}

/// The values when the condition is false.
async fn iterations(
    mut values: Vec<Value>,
    cond: &Callee,
    body: &Callee,
    cx: &ExecContext,
) -> Result<Vec<Value>, Stopped> {
    loop {
        if cx.request.cancellation.is_cancelled() {
            check(Some(&cx.cancelled()))?;
        }
        let given = cond.call(values.clone(), cx)?;
        check(given.first())?;
        let Some(handle) = given.last().and_then(|value| value.downcast_ref::<TensorHandle>()) else {
            check(given.last())?;
            return Err(KernelError::invalid("the condition of a loop is no tensor handle").into());
        };
        let truth = handle.clone().await;
        check(Some(&truth))?;
        if let (Some(chain), Some(Value::Chain)) = (values.first_mut(), given.first()) {
            *chain = Value::Chain;
        }
        if !predicate(&truth, cx)? {
            return Ok(values);
        }
        values = body.call(values, cx)?;
        check(values.first())?;
    }
}

fn execute_composite(frame: &mut KernelFrame<'_>) -> Outcome {
    let n = frame.n_operands();
    let Some(CompositeOp(function)) = frame.operand(0).and_then(|value| value.downcast_ref()).cloned() else {
        return Outcome::Operand;
    };
    let args: Option<Vec<Value>> = (1..n).map(|i| frame.operand(i).cloned()).collect();
    let Some(mut args) = args.filter(|args| args.iter().all(Value::is_concrete)) else {
        return Outcome::Operand;
    };
    args.insert(0, Value::Chain);
    let n_results = frame.n_results();
    let deferred = Deferred::new(move |cx: &ExecContext| {
        let mut results = function.call(args, cx)?;
        if results.len() != n_results + 1 {
            let message = format!(
                "'{}' gives {} results, used with {n_results} and a chain",
                function.name(),
                results.len()
            );
            return Err(KernelError::invalid(message));
        }
        results.remove(0);
        Ok(results)
    });
    deferred.store(frame)
}
