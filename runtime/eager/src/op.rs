//! [`Op`]: an operator that is ready to be called, and its calls.

use std::fmt;
use std::sync::{Arc, PoisonError};

use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use befrost_tensor::HostTensor;
use smallvec::{SmallVec, smallvec};

use crate::chain::ChainHandle;
use crate::core::{Core, CoreRuntime, Unreported};
use crate::handle::TensorHandle;
use crate::handler::{Args, Dispatch, Invocation, Mode, Results};

/// An operator, made once and called often.
#[derive(Clone)]
pub struct Op {
    name: Arc<str>,
    dispatch: Arc<dyn Dispatch>,
    core: CoreRuntime,
}

impl Op {
    pub(crate) fn new(name: &str, dispatch: Arc<dyn Dispatch>, core: &CoreRuntime) -> Op {
        Op { name: name.into(), dispatch, core: core.clone() }
    }

    /// Its full name, such as `tf.AddV2`; of a function or a closure the name that it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Executes it. A failure after the call is an error in the handles, or of [`CoreRuntime::wait`] if it
    /// has no results.
    ///
    /// # Errors
    /// If it refuses the operands, or has no results and has failed.
    #[inline]
    pub fn call(&self, args: &[TensorHandle]) -> Result<Results, Error> {
        call(&*self.dispatch, args, &self.core.0)
    }

    /// [`Op::call`] as a part of another execution, whose cancellation ends it.
    ///
    /// # Errors
    /// If it refuses the operands.
    pub fn call_in(&self, cx: &ExecContext, args: &[TensorHandle]) -> Result<Results, Error> {
        let core = &self.core.0;
        if core.mode != Mode::Queued
            && let Some(result) = quick(&*self.dispatch, args, cx)
        {
            return Ok(smallvec![result]);
        }
        called(&*self.dispatch, args.iter().cloned().collect(), core, cx)
    }

    /// Begins it as a part of another execution. Also returns the completion of its effect: the error of an
    /// operator without results is there.
    ///
    /// # Errors
    /// If it refuses the operands.
    pub fn begin_in(&self, cx: &ExecContext, args: &[TensorHandle]) -> Result<(Results, ChainHandle), Error> {
        let core = &self.core.0;
        if core.mode != Mode::Queued
            && let Some(result) = quick(&*self.dispatch, args, cx)
        {
            return Ok((smallvec![result], ChainHandle::new()));
        }
        let (results, done) = in_order(&*self.dispatch, args.iter().cloned().collect(), core, cx, None)?;
        Ok((results, ChainHandle::of(done, cx)))
    }

    /// The only result of a short operator without an effect on dense tensors, which need no handles. `None`:
    /// nothing happened, and [`Op::call`] computes the result or refuses the operands.
    #[inline]
    pub fn call_dense(&self, args: &[&HostTensor]) -> Option<HostTensor> {
        let core = &self.core.0;
        if core.mode == Mode::Queued { None } else { self.dispatch.quick_dense(args, &core.cx) }
    }

    /// [`Op::call`] with operands that are given up: a tensor whose last handle this is may be overwritten.
    ///
    /// # Errors
    /// If it refuses the operands.
    pub fn call_owned(&self, args: Args) -> Result<Results, Error> {
        let core = &self.core.0;
        if core.mode != Mode::Queued
            && !self.dispatch.may_overwrite()
            && let Some(result) = quick(&*self.dispatch, &args, &core.cx)
        {
            return Ok(smallvec![result]);
        }
        called(&*self.dispatch, args, core, &core.cx)
    }

    /// [`Op::call_owned`] in the order of a chain of the caller's. The chain becomes the operator's
    /// completion if the operator has an effect. If an effect before it failed, the operator does not run,
    /// and its results are that error.
    ///
    /// # Errors
    /// If it refuses the operands; then the chain stays.
    pub fn call_after(&self, chain: &mut ChainHandle, args: Args) -> Result<Results, Error> {
        let core = &self.core.0;
        let (done, results) = begin(&*self.dispatch, args, Some(chain.value()), core.mode, &core.cx);
        let results = results?;
        if let Some(done) = done
            && self.dispatch.has_effect()
        {
            chain.advance(done, &core.cx);
        }
        Ok(results)
    }
}

fn quick(dispatch: &dyn Dispatch, args: &[TensorHandle], cx: &ExecContext) -> Option<TensorHandle> {
    let args: SmallVec<[&TensorHandle; 4]> = args.iter().collect();
    dispatch.quick(&args, cx)
}

/// Calls an operator on operands that stay.
#[inline]
pub(crate) fn call(dispatch: &dyn Dispatch, args: &[TensorHandle], core: &Core) -> Result<Results, Error> {
    if core.mode != Mode::Queued
        && let Some(result) = quick(dispatch, args, &core.cx)
    {
        return Ok(smallvec![result]);
    }
    called(dispatch, args.iter().cloned().collect(), core, &core.cx)
}

/// Calls an operator. The error of one without results is that of the call if it is known, otherwise that of
/// [`CoreRuntime::wait`].
fn called(dispatch: &dyn Dispatch, args: Args, core: &Core, cx: &ExecContext) -> Result<Results, Error> {
    let (results, done) = in_order(dispatch, args, core, cx, Some(&core.unreported))?;
    match done {
        Value::Error(error) if results.is_empty() => Err(error),
        _ => Ok(results),
    }
}

/// Begins an operator. Reads and changes of state begin in the order of the calls. Returns the results and
/// the completion of its effect, whose error goes to `unreported` if there are no results and it comes later.
fn in_order(
    dispatch: &dyn Dispatch,
    args: Args,
    core: &Core,
    cx: &ExecContext,
    unreported: Option<&Unreported>,
) -> Result<(Results, Value), Error> {
    if !dispatch.has_effect() {
        return Ok((begin(dispatch, args, None, core.mode, cx).1?, Value::Chain));
    }
    let (promise, ends) = AsyncRef::pending();
    let before = {
        let mut effects = core.effects.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *effects, Value::Async(ends)).resolved()
    };
    // The error of an effect does not stop the later ones: below, the promise of a pending one gets a chain
    // in its place.
    let before = match before {
        Value::Error(_) => Value::Chain,
        before => before,
    };
    let (done, results) = begin(dispatch, args, Some(before.clone()), core.mode, cx);
    let done = if results.is_ok() { done.unwrap_or(Value::Chain) } else { before };
    match &done {
        Value::Async(done) => {
            let has_none = results.as_ref().is_ok_and(Results::is_empty);
            let unreported = unreported.filter(|_| has_none).cloned();
            done.and_then(move |done| {
                if let (Some(unreported), Value::Error(error)) = (unreported, done) {
                    let mut first = unreported.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert_with(|| error.clone());
                }
                promise.set(without_error(done));
            });
        }
        done => promise.set(without_error(done)),
    }
    Ok((results?, done))
}

/// A chain, whether or not the effect failed.
fn without_error(done: &Value) -> Value {
    match done {
        Value::Error(_) => Value::Chain,
        done => done.clone(),
    }
}

/// Begins an operator. Returns its completion, if it was given a chain, and its results.
fn begin(
    dispatch: &dyn Dispatch,
    args: Args,
    chain: Option<Value>,
    mode: Mode,
    cx: &ExecContext,
) -> (Option<Value>, Result<Results, Error>) {
    let mut call =
        Invocation { cx, site: None, args, n_results: None, results: SmallVec::new(), chain, mode };
    match dispatch.dispatch(&mut call) {
        Ok(()) => (call.chain, Ok(call.results)),
        Err(error) => (call.chain, Err(cx.raise(&KernelError::of_call(&error), Vec::new()))),
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Op").field(&self.name).finish()
    }
}

/// A closure on handles.
type CompositeFn = Box<dyn Fn(&[TensorHandle]) -> Result<Results, Error> + Send + Sync>;

/// A closure on handles as an operator.
struct Composite(CompositeFn);

impl Dispatch for Composite {
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), Error> {
        match (self.0)(&call.args) {
            Ok(results) => call.results = results,
            Err(error) => call.fail(&error),
        }
        Ok(())
    }
}

/// A closure on handles as an operator.
pub(crate) fn closure_op(
    name: &str,
    function: impl Fn(&[TensorHandle]) -> Result<Results, Error> + Send + Sync + 'static,
    core: &CoreRuntime,
) -> Op {
    Op::new(name, Arc::new(Composite(Box::new(function))), core)
}
