//! Op handlers: a chain of responsibility.
//!
//! ```text
//! logging ──▶ cpu ──▶ null        a handler makes an operator, or asks its fallback; null refuses
//! ```
//!
//! An operator is made once, by name and attributes, and dispatched often.

use std::fmt;
use std::sync::Arc;

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::Site;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use befrost_tensor::HostTensor;
use smallvec::SmallVec;

use crate::attrs::OpAttrsRef;
use crate::handle::TensorHandle;

/// An operator to be made.
#[derive(Clone, Copy, Debug)]
pub struct OpKey<'a> {
    /// Its full name, such as `tf.AddV2`.
    pub name: &'a str,
    /// Its attributes.
    pub attrs: &'a OpAttrsRef,
}

/// A maker of operators.
pub trait OpHandler: Send + Sync {
    /// Its name in messages.
    fn name(&self) -> &str;

    /// The handler for operators that this one does not have.
    fn fallback(&self) -> Option<&Arc<dyn OpHandler>>;

    /// Makes an operator.
    ///
    /// # Errors
    /// If there is no such operator.
    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error>;
}

/// Operands of an operator, given up by the caller.
pub type Args = SmallVec<[TensorHandle; 4]>;

/// Results of an operator.
pub type Results = SmallVec<[TensorHandle; 2]>;

/// An operator that is ready to be called.
pub trait Dispatch: Send + Sync {
    /// Executes the operator, or begins to. Sets the results and the chain.
    ///
    /// # Errors
    /// If the operator refuses its operands or attributes: then nothing of it happens.
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), Error>;

    /// The only result of a short operator without an effect, if all operands are final. `None`: nothing
    /// happened, and [`Dispatch::dispatch`] must be called. No operand is overwritten.
    fn quick(&self, _args: &[&TensorHandle], _cx: &ExecContext) -> Option<TensorHandle> {
        None
    }

    /// [`Dispatch::quick`] on dense tensors without handles.
    fn quick_dense(&self, _args: &[&HostTensor], _cx: &ExecContext) -> Option<HostTensor> {
        None
    }

    /// True if the result may overwrite an operand that the caller gives up.
    fn may_overwrite(&self) -> bool {
        true
    }

    /// True if it reads or changes a state, so that chains order it.
    fn has_effect(&self) -> bool {
        false
    }
}

/// The place where an operator with final operands runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// On the calling thread, before the call returns.
    Inline,
    /// As a task of the queue if the operator is estimated to take long, otherwise as [`Mode::Inline`].
    #[default]
    Auto,
    /// As a task of the queue.
    Queued,
}

/// A call of an operator.
pub struct Invocation<'a> {
    /// The execution.
    pub cx: &'a ExecContext,
    /// The kernel that calls, for the location of errors.
    pub site: Option<Site>,
    /// The operands. They may be taken; a tensor without another handle may be overwritten.
    pub args: Args,
    /// The number of results, if the caller knows it.
    pub n_results: Option<usize>,
    /// The results.
    pub results: Results,
    /// The chain that orders effects, in any state. The operator replaces it by its completion.
    pub chain: Option<Value>,
    /// Where it runs.
    pub mode: Mode,
}

impl Invocation<'_> {
    /// Makes all results, and the chain, this error.
    pub fn fail(&mut self, error: &Error) {
        self.fail_all(error, None);
    }

    /// [`Invocation::fail`] of an operator with this number of results.
    pub(crate) fn fail_all(&mut self, error: &Error, n: Option<usize>) {
        let n = self.n_results.or(n).unwrap_or(1);
        self.results = (0..n).map(|_| TensorHandle::failed(error.clone())).collect();
        if let Some(chain) = &mut self.chain {
            *chain = Value::Error(error.clone());
        }
    }

    /// The error of the operator, with its location; reported to the request's diagnostics.
    pub fn raise(&self, error: &KernelError) -> Error {
        raise(self.cx, self.site.as_ref(), error)
    }
}

/// An error with the location of a kernel; reported to the request's diagnostics.
pub(crate) fn raise(cx: &ExecContext, site: Option<&Site>, error: &KernelError) -> Error {
    cx.raise(error, site.and_then(Site::location).into_iter().collect())
}

impl fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation").field("args", &self.args).finish_non_exhaustive()
    }
}

/// The handler that has no operators.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullOpHandler;

impl OpHandler for NullOpHandler {
    fn name(&self) -> &str {
        "NullOpHandler"
    }

    fn fallback(&self) -> Option<&Arc<dyn OpHandler>> {
        None
    }

    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
        let message = format!("{} was not supported by {}", key.name, self.name());
        Err(Error::new(ErrorCode::NotFound, message, Vec::new()))
    }
}
