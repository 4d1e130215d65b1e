//! The core runtime: handlers by name, operators by name, and a cache of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use befrost_tensor::spelling::nearest;
use befrost_tensor::tf::op;

use crate::attrs::OpAttrsRef;
use crate::cache::{Cache, CacheStats};
use crate::chain::ChainHandle;
use crate::compile::{Compile, CompiledFunction, CompilingOpHandler, function_op};
use crate::cpu::CpuOpHandler;
use crate::handle::TensorHandle;
use crate::handler::{Dispatch, Mode, NullOpHandler, OpHandler, OpKey, Results};
use crate::op::{Op, closure_op};

/// Handlers by name. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Handlers(Arc<Mutex<BTreeMap<String, Arc<dyn OpHandler>>>>);

impl Handlers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<dyn OpHandler>>> {
        // Nothing panics under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn register(&self, name: &str, handler: Arc<dyn OpHandler>) {
        self.lock().insert(name.to_owned(), handler);
    }

    /// Registers a handler unless there is one of this name, which stays, as in TFRT.
    pub(crate) fn register_first(&self, name: &str, handler: Arc<dyn OpHandler>) {
        self.lock().entry(name.to_owned()).or_insert(handler);
    }

    pub(crate) fn find(&self, name: &str) -> Result<Arc<dyn OpHandler>, KernelError> {
        let missing = || KernelError::new(ErrorCode::NotFound, format!("op_handler not found: {name}"));
        self.lock().get(name).cloned().ok_or_else(missing)
    }
}

/// Operators by name, executed one by one. Clones share everything.
#[derive(Clone)]
pub struct CoreRuntime(pub(crate) Arc<Core>);

pub(crate) struct Core {
    pub(crate) cx: ExecContext,
    handlers: Handlers,
    /// The handler of [`CoreRuntime::op`].
    handler: Arc<dyn OpHandler>,
    pub(crate) mode: Mode,
    cache: Cache,
    /// The chain that orders effects.
    pub(crate) effects: Mutex<Value>,
    pub(crate) unreported: Unreported,
}

/// The first error of an operator without results that ended after its call had returned.
pub(crate) type Unreported = Arc<Mutex<Option<Error>>>;

impl CoreRuntime {
    /// A core runtime with the handler `cpu`, whose fallback is `null`.
    pub fn new(cx: impl Into<ExecContext>) -> CoreRuntime {
        CoreRuntime::with_last(cx.into(), Handlers::default(), Arc::new(NullOpHandler))
    }

    /// A core runtime with the handlers `cpu`; `compiling`, which compiles the operators that `cpu` does not
    /// have; and `null`. `functions` is text with the functions that attributes may name; it may be empty.
    pub fn with_compiler(
        cx: impl Into<ExecContext>,
        compiler: Arc<dyn Compile>,
        functions: &str,
    ) -> CoreRuntime {
        let handlers = Handlers::default();
        let compiling = CompilingOpHandler::new(Arc::new(NullOpHandler), compiler, functions);
        let compiling: Arc<dyn OpHandler> = Arc::new(compiling);
        handlers.register("compiling", compiling.clone());
        CoreRuntime::with_last(cx.into(), handlers, compiling)
    }

    /// A core runtime whose handler `cpu` has the fallback `last`.
    fn with_last(cx: ExecContext, handlers: Handlers, last: Arc<dyn OpHandler>) -> CoreRuntime {
        let cpu: Arc<dyn OpHandler> = Arc::new(CpuOpHandler::new(last));
        handlers.register("null", Arc::new(NullOpHandler));
        handlers.register("cpu", cpu.clone());
        CoreRuntime::of(cx, handlers, cpu, Mode::Auto)
    }

    fn of(cx: ExecContext, handlers: Handlers, handler: Arc<dyn OpHandler>, mode: Mode) -> CoreRuntime {
        let (cache, effects, unreported) = (Cache::new(), Mutex::new(Value::Chain), Arc::default());
        CoreRuntime(Arc::new(Core { cx, handlers, handler, mode, cache, effects, unreported }))
    }

    /// The execution of its operators.
    pub fn context(&self) -> &ExecContext {
        &self.0.cx
    }

    /// Gives a handler a name.
    pub fn register(&self, name: &str, handler: Arc<dyn OpHandler>) {
        self.0.handlers.register(name, handler);
    }

    /// The handler of this name.
    pub fn handler(&self, name: &str) -> Option<Arc<dyn OpHandler>> {
        self.0.handlers.find(name).ok()
    }

    /// A core runtime with the same handlers, of which the one of this name makes the operators.
    ///
    /// # Errors
    /// If there is no handler of this name.
    pub fn with_handler(&self, name: &str) -> Result<CoreRuntime, Error> {
        let handler = self.0.handlers.find(name)?;
        Ok(CoreRuntime::of(self.0.cx.clone(), self.0.handlers.clone(), handler, self.0.mode))
    }

    /// A core runtime with the same handlers and another mode.
    #[must_use]
    pub fn with_mode(&self, mode: Mode) -> CoreRuntime {
        let Core { cx, handlers, handler, .. } = &*self.0;
        CoreRuntime::of(cx.clone(), handlers.clone(), handler.clone(), mode)
    }

    /// The operator of this name, with or without `tf.`.
    ///
    /// # Errors
    /// If no handler knows it, or it has no attribute of a name.
    pub fn op(&self, name: &str, attrs: impl Into<OpAttrsRef>) -> Result<Op, Error> {
        let attrs = attrs.into();
        let core = &*self.0;
        let full = full_name(name);
        if attrs.is_empty()
            && let Some(dispatch) = core.cache.recent(name)
        {
            return Ok(Op::new(&full, dispatch, self));
        }
        let dispatch = core
            .cache
            .get_or_make(&full, &attrs, || made(&*core.handler, &OpKey { name: &full, attrs: &attrs }))?;
        if attrs.is_empty() {
            core.cache.remember(name, &dispatch);
        }
        Ok(Op::new(&full, dispatch, self))
    }

    /// Executes an operator by name.
    ///
    /// # Errors
    /// If no handler knows it, or it refuses its operands.
    pub fn execute(
        &self,
        name: &str,
        args: &[TensorHandle],
        attrs: impl Into<OpAttrsRef>,
    ) -> Result<Results, Error> {
        let attrs = attrs.into();
        if attrs.is_empty()
            && let Some(dispatch) = self.0.cache.recent(name)
        {
            return crate::op::call(&*dispatch, args, &self.0);
        }
        self.op(name, attrs)?.call(args)
    }

    /// A function of a program, or of text that was compiled, as an operator. Calls are ordered like effects.
    ///
    /// # Errors
    /// If the function cannot be called with handles.
    pub fn composite<F: CompiledFunction + Clone + 'static>(&self, function: &F) -> Result<Op, Error> {
        function.check_callable()?;
        let made = function_op(function.name(), Arc::new(function.clone()));
        Ok(Op::new(function.name(), made, self))
    }

    /// A closure on handles as an operator. The errors that it returns are those of the results.
    pub fn closure(
        &self,
        name: &str,
        function: impl Fn(&[TensorHandle]) -> Result<Results, Error> + Send + Sync + 'static,
    ) -> Op {
        closure_op(name, function, self)
    }

    /// Waits for the effects of the operators that were called.
    ///
    /// # Errors
    /// The first error, since the last time, of an operator without results that ended after its call had
    /// returned. All other errors are those of calls and results.
    pub fn wait(&self) -> Result<(), Error> {
        let effects = self.0.effects.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ChainHandle::of(effects, &self.0.cx).wait()?;
        let error = self.0.unreported.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), Err)
    }

    /// Counts of the cache of operators.
    pub fn cache_stats(&self) -> CacheStats {
        self.0.cache.stats()
    }
}

/// Makes an operator. Mistaken names are answered with the nearest ones.
fn made(handler: &dyn OpHandler, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
    let hint = |near: Option<&str>| near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    let row = key.name.strip_prefix("tf.").and_then(op::row);
    if let Some(row) = row {
        let known = &row.signature().attrs;
        // Underscores are in front of TensorFlow's own remarks, which any node may have.
        let is_unknown = |name: &&str| !name.starts_with('_') && row.signature().attr(name).is_none();
        if let Some(name) = key.attrs.iter().map(|(name, _)| name).find(is_unknown) {
            let near = hint(nearest(name, known.iter().map(|attr| attr.name)));
            let all: Vec<&str> = known.iter().map(|attr| attr.name).collect();
            let message = format!("{} has no attribute '{name}'; it has: {}{near}", key.name, all.join(", "));
            return Err(Error::new(ErrorCode::NotFound, message, Vec::new()));
        }
    }
    handler.make(key).map_err(|error| match (error.code(), row) {
        (ErrorCode::NotFound, None) => {
            let near = hint(nearest(key.name, op::rows().map(|row| row.op_name)));
            Error::new(ErrorCode::NotFound, format!("{error}{near}"), Vec::new())
        }
        _ => error,
    })
}

/// The name with its dialect, which is TensorFlow's if none is given.
fn full_name(name: &str) -> Cow<'_, str> {
    if name.contains('.') { Cow::Borrowed(name) } else { Cow::Owned(format!("tf.{name}")) }
}

impl fmt::Debug for CoreRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreRuntime").field("handler", &self.0.handler.name()).finish_non_exhaustive()
    }
}
