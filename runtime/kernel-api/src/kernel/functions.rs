//! [`Functions`]: the functions of a program, for kernels that call them from a task.
//!
//! The executor implements these traits, so kernels do not depend on how functions are executed.

use std::sync::Arc;
use std::task::Waker;

use bef_format::FunctionId;

use super::table::KernelTable;
use crate::context::ExecContext;
use crate::error::KernelError;
use crate::value::Value;

/// The functions of a program.
pub trait Functions: Send + Sync {
    /// True if a kernel of the function, or of a function that it calls, takes its frame.
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

    /// An owned handle of the same functions.
    fn share(&self) -> Arc<dyn Functions>;

    /// The table of the kernels of a function.
    fn table(&self, function: u32) -> &KernelTable;
}

/// A program whose functions kernels can call from a task. An `Arc` of it implements [`Functions`].
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

    /// [`Functions::table`].
    fn table(&self, function: u32) -> &KernelTable;
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

    fn table(&self, function: u32) -> &KernelTable {
        P::table(self, function)
    }
}

/// A function that is ready to be called, again and again.
pub trait FunctionCall {
    /// Sets the iteration of the calling kernel for the calls that follow.
    fn set_iteration(&mut self, iteration: u32);

    /// Calls the function on the drained arguments, waits for everything that the call starts, and appends
    /// the results, which are final.
    ///
    /// # Errors
    /// If the arguments do not fit, or if too many calls wait for each other.
    fn call_into(&mut self, arguments: &mut Vec<Value>, results: &mut Vec<Value>) -> Result<(), KernelError>;

    /// [`FunctionCall::call_into`] without waiting. True if something is still running: then a task
    /// continues, the results are in any state, and `ended` is woken when everything that was started has
    /// completed. Otherwise the results are final.
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
