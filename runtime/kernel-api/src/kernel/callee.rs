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
use super::functions::Functions;
use super::param::{Cursor, Param};
use super::signature::{CallResults, CallShape, Form, Signature};
use crate::context::{ExecContext, Origin};
use crate::error::{ErrorCode, KernelError};
use crate::value::Value;

/// A function of a kernel. Its arguments are the operands behind those that are declared before it. Its
/// results are not restricted.
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
        let (context, mut results) = (cx.inside(self.origin.clone()), Vec::new());
        let iteration = self.origin.as_ref().map_or(0, |origin| origin.next_call());
        let mut call = self.functions.prepare(self.function, &context)?;
        call.set_iteration(iteration);
        call.call_into(&mut arguments, &mut results)?;
        Ok(results)
    }

    /// Its name; empty for a region.
    pub fn name(&self) -> &str {
        self.file.image().function(self.function.0).name()
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
