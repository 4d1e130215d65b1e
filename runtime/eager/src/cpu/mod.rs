//! The handler of operators on the CPU.
//!
//! ```text
//! operands ──infer──▶ metadata of the results, or a refusal          at once
//!          ──when all are final──▶ convert ──run──▶ results          on this thread, or the last producer's
//! ```
//!
//! `operators` has TensorFlow's operators, from the tensor library's rows; `test_ops` those of `tfrt_test`.
//! [`Flags`] of an operator say which representations of tensors it takes; operands in others are made dense.

mod operators;
mod test_ops;

use std::sync::Arc;

use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::Site;
use befrost_kernel_api::queue::Task;
use befrost_kernel_api::value::State;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use befrost_kernels::{AnyTensor, Tensor};
use befrost_tensor::HostTensor;
use smallvec::SmallVec;

use crate::handle::{Metadata, TensorHandle, dense, when_final};
use crate::handler::{Dispatch, Invocation, Mode, OpHandler, OpKey, raise};
use crate::trace::OpScope;

pub(crate) use operators::declared_results;
pub(crate) use test_ops::tensor_of;

/// The values of a call.
pub(crate) type Operands = SmallVec<[Value; 4]>;

/// The results of an operator.
pub(crate) type ResultValues = SmallVec<[Value; 2]>;

/// Properties of an operator, and the tensors that it takes.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// It reads or changes a state, so that chains order it.
    effect: bool,
    /// It runs as a task of its own.
    task: bool,
    /// It takes tensors of equal elements.
    scalars: bool,
    /// It takes tensors in coordinate format.
    coo: bool,
    /// It takes tensors of strings.
    strings: bool,
}

impl Flags {
    const NONE: Flags = Flags { effect: false, task: false, scalars: false, coo: false, strings: false };
    /// It takes any value.
    const ANY: Flags = Flags { scalars: true, coo: true, strings: true, ..Flags::NONE };
}

/// The inferred properties of the results of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct InferredResults {
    /// For each result its metadata, if that follows from the operands.
    pub(crate) metadata: SmallVec<[Option<Metadata>; 1]>,
    /// True if the operator is estimated to take longer than a task is worth.
    pub(crate) is_long: bool,
}

/// The code of an operator.
pub(crate) trait CpuOp: Send + Sync {
    /// The results, as far as they follow from the operands. `None` if there is no metadata function, or not
    /// enough is known.
    fn infer(&self, args: &[TensorHandle]) -> Result<Option<Arc<InferredResults>>, KernelError>;

    /// Computes the results from final values.
    fn run(&self, args: Operands, cx: &ExecContext) -> Result<ResultValues, KernelError>;

    /// The number of results, if it does not depend on the operands.
    fn n_results(&self) -> Option<usize> {
        None
    }

    /// The only result of a short operator on final operands; see [`Dispatch::quick`].
    fn quick(&self, _args: &[&TensorHandle], _cx: &ExecContext) -> Option<TensorHandle> {
        None
    }

    /// See [`Dispatch::quick_dense`].
    fn quick_dense(&self, _args: &[&HostTensor], _cx: &ExecContext) -> Option<HostTensor> {
        None
    }

    /// See [`Dispatch::may_overwrite`].
    fn may_overwrite(&self) -> bool {
        true
    }
}

/// An operator of this code that takes any tensors.
pub(crate) fn dispatch_of(name: &str, effect: bool, op: Arc<dyn CpuOp>) -> Arc<dyn Dispatch> {
    let flags = Flags { effect, strings: true, ..Flags::NONE };
    Arc::new(CpuDispatch { name: name.into(), flags, op })
}

/// The handler of operators on the CPU.
pub struct CpuOpHandler {
    fallback: Arc<dyn OpHandler>,
}

impl CpuOpHandler {
    /// A handler that asks `fallback` for operators that are not known here.
    pub fn new(fallback: Arc<dyn OpHandler>) -> CpuOpHandler {
        CpuOpHandler { fallback }
    }
}

impl std::fmt::Debug for CpuOpHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CpuOpHandler")
    }
}

impl OpHandler for CpuOpHandler {
    fn name(&self) -> &str {
        "CpuOpHandler"
    }

    fn fallback(&self) -> Option<&Arc<dyn OpHandler>> {
        Some(&self.fallback)
    }

    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
        match operators::find(key).or_else(|| test_ops::find(key)) {
            Some((flags, op)) => Ok(Arc::new(CpuDispatch { name: key.name.into(), flags, op })),
            None => self.fallback.make(key),
        }
    }
}

/// An operator on the CPU.
struct CpuDispatch {
    name: Box<str>,
    flags: Flags,
    op: Arc<dyn CpuOp>,
}

impl CpuDispatch {
    /// False if a call has to go through [`Dispatch::dispatch`], whatever the operands are.
    fn may_be_quick(&self, cx: &ExecContext) -> bool {
        !self.flags.effect && !crate::trace::is_on() && !cx.request.cancellation.is_cancelled()
    }
}

impl Dispatch for CpuDispatch {
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), Error> {
        let of_chain = call.chain.as_ref().and_then(Value::error);
        if let Some(error) = call.args.iter().find_map(TensorHandle::error).or(of_chain).cloned() {
            call.fail_all(&error, self.op.n_results());
            return Ok(());
        }
        if call.cx.request.cancellation.is_cancelled()
            && let Value::Error(error) = call.cx.cancelled()
        {
            call.fail_all(&error, self.op.n_results());
            return Ok(());
        }
        let _op = OpScope::begin(|| format!("{}#op_handler=cpu#", self.name));
        let known = {
            let _metadata = OpScope::begin(|| "RunMetadataFunction".to_owned());
            self.op.infer(&call.args)?
        };
        let inferred = known.as_ref().map(|known| known.metadata.len());
        if let (Some(wanted), Some(n)) = (call.n_results, inferred)
            && wanted != n
        {
            return Err(wrong_count(n, wanted).into());
        }
        let mut waits: Vec<AsyncRef> =
            call.args.iter().filter_map(TensorHandle::unavailable).cloned().collect();
        // An operator without an effect does not wait for the chain.
        if let Some(Value::Async(chain)) = &call.chain
            && self.flags.effect
            && chain.value().is_none()
        {
            waits.push(chain.clone());
        }
        let args: Operands = call.args.drain(..).map(TensorHandle::into_value).collect();
        let is_task = match call.mode {
            Mode::Inline => self.flags.task,
            Mode::Auto => self.flags.task || known.as_ref().is_some_and(|known| known.is_long),
            Mode::Queued => true,
        };
        if waits.is_empty() && !is_task {
            let _run = OpScope::begin(|| format!("RunDispatch: {}", self.name));
            match run(&*self.op, self.flags, args, call.n_results, call.cx) {
                Ok(results) => call.results = results.into_iter().map(TensorHandle::new).collect(),
                Err(error) => {
                    let error = call.raise(&error);
                    call.fail_all(&error, inferred.or_else(|| self.op.n_results()));
                    call.results.fill(TensorHandle::not_computed(error));
                }
            }
            return Ok(());
        }
        let n = call.n_results.or(inferred).or_else(|| self.op.n_results()).unwrap_or(1);
        let mut known = known.map(|known| known.metadata.clone()).unwrap_or_default();
        known.resize(n, None);
        let pending = known.into_iter().map(|metadata| TensorHandle::pending_in(metadata, call.cx));
        let (promises, handles): (Vec<Promise>, _) = pending.unzip();
        call.results = handles;
        let mut done = None;
        let before = if self.flags.effect { call.chain.take() } else { None };
        if before.is_some() {
            let (promise, chain) = AsyncRef::pending();
            (done, call.chain) = (Some(promise), Some(Value::Async(chain)));
        }
        let (op, flags, cx, site) = (self.op.clone(), self.flags, call.cx.clone(), call.site.clone());
        let queue = cx.queue().clone();
        let work = move || {
            let results = run_later(&*op, flags, args, before, n, &cx, site.as_ref());
            if let Some(done) = done {
                done.set(results.as_ref().err().map_or(Value::Chain, |error| Value::Error(error.clone())));
            }
            match results {
                Ok(results) => promises.into_iter().zip(results).for_each(|(p, result)| p.set(result)),
                Err(error) => promises.into_iter().for_each(|promise| promise.fail(error.clone())),
            }
        };
        match is_task {
            true => when_final(waits, Box::new(move || queue.add_task(Task::new(work)))),
            false => when_final(waits, Box::new(work)),
        }
        Ok(())
    }

    #[inline]
    fn quick(&self, args: &[&TensorHandle], cx: &ExecContext) -> Option<TensorHandle> {
        if self.may_be_quick(cx) { self.op.quick(args, cx) } else { None }
    }

    #[inline]
    fn quick_dense(&self, args: &[&HostTensor], cx: &ExecContext) -> Option<HostTensor> {
        if self.may_be_quick(cx) { self.op.quick_dense(args, cx) } else { None }
    }

    fn may_overwrite(&self) -> bool {
        self.op.may_overwrite()
    }

    fn has_effect(&self) -> bool {
        self.flags.effect
    }
}

fn wrong_count(n: usize, wanted: usize) -> KernelError {
    KernelError::invalid(format!("the operator gives {n} results, used with {wanted}"))
}

/// The results of a call whose operands and chain have become final after it.
fn run_later(
    op: &dyn CpuOp,
    flags: Flags,
    args: Operands,
    chain: Option<Value>,
    n: usize,
    cx: &ExecContext,
    site: Option<&Site>,
) -> Result<ResultValues, Error> {
    if let Some(error) = args.iter().chain(&chain).find_map(Value::error) {
        return Err(error.clone());
    }
    if cx.request.cancellation.is_cancelled()
        && let Value::Error(error) = cx.cancelled()
    {
        return Err(error);
    }
    run(op, flags, args, Some(n), cx).map_err(|error| raise(cx, site, &error))
}

/// The results of a call with final operands.
fn run(
    op: &dyn CpuOp,
    flags: Flags,
    args: Operands,
    wanted: Option<usize>,
    cx: &ExecContext,
) -> Result<ResultValues, KernelError> {
    let is_dense = |value: &Value| value.downcast_ref::<Tensor>().is_some();
    let args = match args.iter().all(is_dense) {
        true => args,
        false => {
            let args = args.into_iter().map(|value| converted(value.resolved(), flags, cx));
            args.collect::<Result<_, _>>()?
        }
    };
    let results = op.run(args, cx)?;
    match wanted {
        Some(wanted) if wanted != results.len() => Err(wrong_count(results.len(), wanted)),
        _ => Ok(results),
    }
}

/// An operand in a representation that the operator takes.
fn converted(value: Value, flags: Flags, cx: &ExecContext) -> Result<Value, KernelError> {
    if value.state() != State::Concrete {
        return Err(KernelError::new(ErrorCode::Internal, "an operand is not final"));
    }
    let takes = match AnyTensor::of(&value) {
        None | Some(AnyTensor::Dense(_)) => true,
        Some(AnyTensor::Coo(_)) => flags.coo,
        Some(AnyTensor::Strings(_)) => flags.strings,
        Some(AnyTensor::Scalar(_)) => flags.scalars,
    };
    if takes { Ok(value) } else { Ok(Value::object(Tensor(dense(&value, cx)?))) }
}
