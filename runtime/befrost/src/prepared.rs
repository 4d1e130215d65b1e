//! Functions that are called again and again.
//!
//! ```text
//! PreparedFunction ──begin──▶ PreparedRun ──call──▶ results
//!         └── requests that no run uses ◀──drop──┘
//! ```
//!
//! A request is everything about a call but its arguments. Runs at the same time have different ones. A
//! request that was cancelled, or that was made of other options than the function's, is not used again.

use std::fmt;
use std::sync::Arc;
#[cfg(feature = "compile")]
use std::sync::OnceLock;

use befrost_host::call_into;
use befrost_kernel_api::context::Cancellation;
use befrost_kernel_api::{Error, ExecContext, Request, Value};
use crossbeam_queue::ArrayQueue;

use crate::program::{CallOptions, Function};
#[cfg(feature = "compile")]
use crate::runtime::Runtime;

/// The most requests that are kept for later runs.
const KEPT: usize = 16;

/// A function whose calls share their options. Any number of threads may run it at once.
///
/// ```
/// use befrost::{PreparedFunction, Runtime, Value};
///
/// # static ADDS: &[u8] = befrost::include_bef!("../../../testdata/bef/golden/v1_0_adds.bef");
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let program = Runtime::builder().work_queue("s").build()?.load_static(ADDS)?;
/// let adds = PreparedFunction::new(program.function("main")?, Default::default());
/// let (mut arguments, mut results) = (Vec::new(), Vec::new());
/// for i in 0..3 {
///     arguments.push(Value::I32(i));
///     adds.begin().call(&mut arguments, &mut results)?;
/// }
/// assert!(matches!(results[..], [Value::I32(0), Value::I32(32), Value::I32(64)]));
/// # Ok(())
/// # }
/// ```
pub struct PreparedFunction {
    function: Function,
    options: CallOptions,
    idle: ArrayQueue<Arc<ExecContext>>,
    /// The same function of a program whose kernels are recorded.
    #[cfg(feature = "compile")]
    recorded: OnceLock<Box<PreparedFunction>>,
}

impl PreparedFunction {
    /// Prepares a function. Each request has a cancellation of its own, not that of the options.
    pub fn new(function: Function, options: CallOptions) -> PreparedFunction {
        PreparedFunction {
            function,
            options,
            idle: ArrayQueue::new(KEPT),
            #[cfg(feature = "compile")]
            recorded: OnceLock::new(),
        }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The same function of a program whose kernels are recorded, loaded when it is asked for.
    #[cfg(feature = "compile")]
    pub(crate) fn recorded(&self, recording: &Runtime) -> Result<&PreparedFunction, Error> {
        if let Some(recorded) = self.recorded.get() {
            return Ok(recorded);
        }
        let program = recording.load_bytes(self.function.program().bytes())?;
        let made = PreparedFunction::new(program.function(self.function.name())?, self.options.clone());
        Ok(self.recorded.get_or_init(|| Box::new(made)))
    }

    /// A run, which can be cancelled before and while it is called.
    pub fn begin(&self) -> PreparedRun<'_> {
        let context =
            self.idle.pop().unwrap_or_else(|| self.context(self.options.clone(), Cancellation::default()));
        PreparedRun { of: self, context: Some(context), is_shared: true }
    }

    /// A run with other options.
    pub fn begin_with(&self, options: CallOptions) -> PreparedRun<'_> {
        let cancellation = options.cancellation.clone();
        PreparedRun { of: self, context: Some(self.context(options, cancellation)), is_shared: false }
    }

    /// The options of its calls.
    pub fn options(&self) -> &CallOptions {
        &self.options
    }

    fn context(&self, options: CallOptions, cancellation: Cancellation) -> Arc<ExecContext> {
        let request = self.function.request(CallOptions { cancellation, ..options });
        Arc::new(ExecContext::new(Arc::new(request)))
    }
}

impl fmt::Debug for PreparedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreparedFunction").field(&self.function).finish()
    }
}

/// A run of a prepared function, which may call it several times, one after the other.
pub struct PreparedRun<'f> {
    of: &'f PreparedFunction,
    /// Until it is dropped.
    context: Option<Arc<ExecContext>>,
    /// True if the request has the function's options, so that a later run may use it.
    is_shared: bool,
}

impl PreparedRun<'_> {
    fn context(&self) -> &ExecContext {
        match &self.context {
            Some(context) => context,
            None => unreachable!("only its destructor takes the context"),
        }
    }

    /// Stops the run, on request. Clones must not be used after it: a later run may have the same
    /// cancellation.
    pub fn cancellation(&self) -> &Cancellation {
        &self.context().request.cancellation
    }

    /// The request of its calls.
    pub fn request(&self) -> &Request {
        &self.context().request
    }

    /// Calls the function: takes the arguments out of one list and appends the results to the other.
    ///
    /// # Errors
    /// As [`Function::call`](crate::Function::call); then no results are appended.
    pub fn call(&self, arguments: &mut Vec<Value>, results: &mut Vec<Value>) -> Result<(), Error> {
        let Function { owner, id } = &self.of.function;
        self.of.function.check(arguments)?;
        Ok(call_into(owner.inner(), *id, arguments, self.context(), results)?)
    }
}

impl Drop for PreparedRun<'_> {
    fn drop(&mut self) {
        let Some(context) = self.context.take() else { return };
        if self.is_shared && !context.request.cancellation.is_cancelled() {
            // Beyond the limit it is dropped.
            _ = self.of.idle.push(context);
        }
    }
}

impl fmt::Debug for PreparedRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreparedRun").field(&self.of.function).finish()
    }
}
