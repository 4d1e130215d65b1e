//! [`Functions`]: the functions of a program, for kernels that call them from a task.
//!
//! The executor implements the traits here, so kernels call functions without knowing how they are executed.

use std::sync::Arc;
use std::task::Waker;

use bef_format::FunctionId;

use crate::context::ExecContext;
use crate::error::KernelError;
use crate::value::Value;

/// The functions of a program.
pub trait Functions: Send + Sync {
    /// Whether a kernel asks for its frame in a function, or in one that is called from there.
    fn needs_path(&self, function: FunctionId) -> bool;

    /// Prepares a function for calls by this thread, as part of one execution.
    ///
    /// # Errors
    /// If there is no such function.
    fn prepare<'c>(
        &'c self,
        function: FunctionId,
        context: &'c ExecContext,
    ) -> Result<Box<dyn FunctionCall + 'c>, KernelError>;

    /// The same functions, to keep.
    fn share(&self) -> Arc<dyn Functions>;
}

/// A program whose functions kernels can call from a task. A handle of it is [`Functions`].
pub trait FunctionSource: Send + Sync + Sized + 'static {
    /// [`Functions::needs_path`].
    fn needs_path(&self, function: FunctionId) -> bool;

    /// [`Functions::prepare`].
    ///
    /// # Errors
    /// If there is no such function.
    fn prepare<'c>(
        self: &'c Arc<Self>,
        function: FunctionId,
        context: &'c ExecContext,
    ) -> Result<Box<dyn FunctionCall + 'c>, KernelError>;
}

impl<P: FunctionSource> Functions for Arc<P> {
    #[inline]
    fn needs_path(&self, function: FunctionId) -> bool {
        P::needs_path(self, function)
    }

    fn prepare<'c>(
        &'c self,
        function: FunctionId,
        context: &'c ExecContext,
    ) -> Result<Box<dyn FunctionCall + 'c>, KernelError> {
        P::prepare(self, function, context)
    }

    fn share(&self) -> Arc<dyn Functions> {
        Arc::new(self.clone())
    }
}

/// A function that is ready to be called, again and again.
pub trait FunctionCall {
    /// Makes the calls to come those of an iteration of the kernel that calls.
    fn set_iteration(&mut self, iteration: u32);

    /// Calls the function on arguments that it takes out of a list, waits for everything that it starts, and
    /// appends its results, which are final, to another list.
    ///
    /// # Errors
    /// If the arguments do not fit, or if too many calls wait for each other.
    fn call_into(&mut self, arguments: &mut Vec<Value>, results: &mut Vec<Value>) -> Result<(), KernelError>;

    /// [`FunctionCall::call_into`] that does not wait. Answers whether there is something to wait for: then a
    /// task goes on, the results are in any state, and `ended` is woken when everything that was started has
    /// completed; else they are final.
    ///
    /// # Errors
    /// As [`FunctionCall::call_into`].
    fn begin(
        &mut self,
        arguments: &mut Vec<Value>,
        results: &mut Vec<Value>,
        ended: Waker,
    ) -> Result<bool, KernelError>;
}
