//! [`Callee`]: a function that a kernel calls from a task, like a caller from outside.
//!
//! ```text
//! kernel!("my.twice", |arguments: Rest<'_, Value>, body: Callee| {
//!     let arguments = arguments.to_vec();
//!     Deferred::new(move |cx| body.call(arguments, cx))
//! })
//! ```
//!
//! Kernels that only select a function are cheaper with [`control`](super::control): the executor runs the
//! function on its own stack.

use std::fmt;
use std::sync::Arc;

use bef_format::FunctionId;

use super::file::LoadedFile;
use super::frame::{KernelFrame, Outcome};
use super::functions::{FunctionCall, Functions};
use super::param::{Cursor, Param};
use super::signature::{CallResults, CallShape, Form, Signature};
use crate::context::{ExecContext, Origin};
use crate::error::{ErrorCode, KernelError};
use crate::value::Value;

/// A function of a kernel. Its arguments are the operands behind those of the parameters before the first
/// `Callee`. Its results are not restricted.
#[derive(Clone)]
pub struct Callee {
    file: Arc<LoadedFile>,
    functions: Arc<dyn Functions>,
    function: FunctionId,
    /// The kernel that calls it.
    origin: Option<Arc<Origin>>,
}

impl Callee {
    /// Calls it and waits for everything that it starts. The thread runs other tasks of the queue meanwhile.
    /// The results are final, and may be errors.
    ///
    /// # Errors
    /// If the arguments do not fit, or if too many calls wait for one another.
    pub fn call(&self, mut arguments: Vec<Value>, cx: &ExecContext) -> Result<Vec<Value>, KernelError> {
        let mut results = Vec::new();
        self.call_often(cx, |call| call.call_into(&mut arguments, &mut results))?;
        Ok(results)
    }

    /// Prepares it once for all calls that `f` makes, which are cheaper than those of [`Callee::call`].
    ///
    /// # Errors
    /// If there is no such function, and those of `f`.
    pub fn call_often<R>(
        &self,
        cx: &ExecContext,
        f: impl FnOnce(&mut PreparedCallee<'_>) -> Result<R, KernelError>,
    ) -> Result<R, KernelError> {
        let context = cx.inside(self.origin.clone());
        let call = self.functions.prepare(self.function, &context)?;
        f(&mut PreparedCallee { call, origin: self.origin.as_deref() })
    }

    /// Its name; empty for a region.
    pub fn name(&self) -> &str {
        self.file.image().function(self.function.0).name()
    }
}

/// A [`Callee`] that is ready to be called, again and again.
pub struct PreparedCallee<'c> {
    call: Box<dyn FunctionCall + 'c>,
    origin: Option<&'c Origin>,
}

impl PreparedCallee<'_> {
    /// Calls the function on the drained arguments, waits for everything that the call starts, and appends
    /// the results, which are final and may be errors.
    ///
    /// # Errors
    /// As [`Callee::call`].
    pub fn call_into(
        &mut self,
        arguments: &mut Vec<Value>,
        results: &mut Vec<Value>,
    ) -> Result<(), KernelError> {
        self.call.set_iteration(self.origin.map_or(0, Origin::next_call));
        self.call.call_into(arguments, results)
    }
}

impl fmt::Debug for PreparedCallee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCallee").finish_non_exhaustive()
    }
}

impl Param for Callee {
    type Item<'f> = Callee;
    fn declare(signature: &mut Signature) {
        signature.n_functions += 1;
        let first_operand = signature.operands.len() as u32;
        signature.calls.get_or_insert(CallShape {
            first_operand,
            results: CallResults::Any,
            form: Form::Own,
        });
    }
    fn extract(frame: &KernelFrame<'_>, cursor: &mut Cursor) -> Result<Callee, Outcome> {
        let i = cursor.next_function();
        match frame.function(i) {
            Some(function) => {
                let origin = frame.origin_of(function);
                let (file, functions) = (frame.file().clone(), frame.functions().share());
                Ok(Callee { file, functions, function, origin })
            }
            None => Err(Outcome::error(KernelError::new(ErrorCode::Internal, format!("no function #{i}")))),
        }
    }
}

impl fmt::Debug for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callee").field(&self.name()).finish()
    }
}
