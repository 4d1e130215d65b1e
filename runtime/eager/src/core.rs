//! The core runtime: handlers by name, operators by name, and a cache of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use smallvec::SmallVec;

use crate::attrs::{OpAttrs, OpAttrsRef};
use crate::cpu::CpuOpHandler;
use crate::handle::TensorHandle;
use crate::handler::{Dispatch, Invocation, Mode, NullOpHandler, OpHandler, OpKey};

/// Limit of the operators in the cache.
const MAX_CACHED: usize = 4096;

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

    pub(crate) fn find(&self, name: &str) -> Result<Arc<dyn OpHandler>, KernelError> {
        let missing = || KernelError::new(ErrorCode::NotFound, format!("op_handler not found: {name}"));
        self.lock().get(name).cloned().ok_or_else(missing)
    }
}

/// Key of an operator in the cache: its name and the text of its attributes.
type CacheKey = (String, String);

/// The operators that were made, with the time of their last use.
#[derive(Default)]
struct Cache {
    ops: BTreeMap<CacheKey, (Arc<dyn Dispatch>, u64)>,
    time: u64,
}

impl Cache {
    fn get(&mut self, key: &CacheKey) -> Option<Arc<dyn Dispatch>> {
        self.time += 1;
        let (op, used) = self.ops.get_mut(key)?;
        *used = self.time;
        Some(op.clone())
    }

    fn insert(&mut self, key: CacheKey, op: Arc<dyn Dispatch>) {
        if self.ops.len() >= MAX_CACHED {
            let oldest = self.ops.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.into_iter().for_each(|key| _ = self.ops.remove(&key));
        }
        self.ops.insert(key, (op, self.time));
    }
}

/// Operators by name, executed one by one. Clones share everything.
#[derive(Clone)]
pub struct CoreRuntime(Arc<Core>);

struct Core {
    cx: ExecContext,
    handlers: Handlers,
    /// The handler of [`CoreRuntime::op`].
    handler: Arc<dyn OpHandler>,
    mode: Mode,
    cache: Mutex<Cache>,
    /// The chain that orders effects.
    effects: Mutex<Value>,
}

impl CoreRuntime {
    /// A core runtime with the handler `cpu`, whose fallback is `null`.
    pub fn new(cx: ExecContext) -> CoreRuntime {
        let handlers = Handlers::default();
        let null: Arc<dyn OpHandler> = Arc::new(NullOpHandler);
        let cpu: Arc<dyn OpHandler> = Arc::new(CpuOpHandler::new(null.clone()));
        handlers.register("null", null);
        handlers.register("cpu", cpu.clone());
        CoreRuntime::of(cx, handlers, cpu, Mode::Auto)
    }

    fn of(cx: ExecContext, handlers: Handlers, handler: Arc<dyn OpHandler>, mode: Mode) -> CoreRuntime {
        let (cache, effects) = (Mutex::default(), Mutex::new(Value::Chain));
        CoreRuntime(Arc::new(Core { cx, handlers, handler, mode, cache, effects }))
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

    /// A core runtime with the same handlers that makes operators with another one of them.
    ///
    /// # Errors
    /// If there is no handler of this name.
    pub fn with_handler(&self, name: &str) -> Result<CoreRuntime, Error> {
        let handler = self.0.handlers.find(name)?;
        Ok(CoreRuntime::of(self.0.cx.clone(), self.0.handlers.clone(), handler, self.0.mode))
    }

    /// A core runtime with the same handlers whose operators run elsewhere.
    #[must_use]
    pub fn with_mode(&self, mode: Mode) -> CoreRuntime {
        let Core { cx, handlers, handler, .. } = &*self.0;
        CoreRuntime::of(cx.clone(), handlers.clone(), handler.clone(), mode)
    }

    /// The operator of this name, with or without `tf.`.
    ///
    /// # Errors
    /// If no handler knows it.
    pub fn op(&self, name: &str, attrs: impl Into<OpAttrsRef>) -> Result<Op, Error> {
        let full = if name.contains('.') { name.to_owned() } else { format!("tf.{name}") };
        let attrs = attrs.into();
        let make = || self.0.handler.make(&OpKey { name: &full, attrs: &attrs });
        // The text of a tensor does not tell its elements.
        let dispatch = if attrs.has_tensors() {
            make()?
        } else {
            let key = (full.clone(), attrs.to_string());
            let found = self.cache().get(&key);
            match found {
                Some(op) => op,
                None => {
                    let op = make()?;
                    self.cache().insert(key, op.clone());
                    op
                }
            }
        };
        Ok(Op { name: full.into(), dispatch, core: self.clone() })
    }

    /// Executes an operator by name.
    ///
    /// # Errors
    /// If no handler knows it, or it refuses its operands.
    pub fn execute(
        &self,
        name: &str,
        args: &[TensorHandle],
        attrs: OpAttrs,
    ) -> Result<Vec<TensorHandle>, Error> {
        self.op(name, attrs)?.call(args)
    }

    /// A function on handles as an operator. The errors that it returns are those of the results.
    pub fn composite(
        &self,
        name: &str,
        function: impl Fn(&[TensorHandle]) -> Result<Vec<TensorHandle>, Error> + Send + Sync + 'static,
    ) -> Op {
        Op { name: name.into(), dispatch: Arc::new(Composite(Box::new(function))), core: self.clone() }
    }

    /// The number of operators in the cache.
    pub fn n_cached(&self) -> usize {
        self.cache().ops.len()
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.0.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CoreRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreRuntime").field("handler", &self.0.handler.name()).finish_non_exhaustive()
    }
}

/// A function on handles.
type CompositeFn = Box<dyn Fn(&[TensorHandle]) -> Result<Vec<TensorHandle>, Error> + Send + Sync>;

/// A function on handles as an operator.
struct Composite(CompositeFn);

impl Dispatch for Composite {
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), KernelError> {
        match (self.0)(&call.args) {
            Ok(results) => call.results = results.into(),
            Err(error) => call.fail(&error),
        }
        Ok(())
    }
}

/// An operator that was made once, to be called often.
#[derive(Clone)]
pub struct Op {
    name: Arc<str>,
    dispatch: Arc<dyn Dispatch>,
    core: CoreRuntime,
}

impl Op {
    /// Its full name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Executes it. What fails later is an error in the handles.
    ///
    /// # Errors
    /// If it refuses the operands.
    pub fn call(&self, args: &[TensorHandle]) -> Result<Vec<TensorHandle>, Error> {
        self.call_owned(args.iter().cloned().collect())
    }

    /// [`Op::call`] with operands that are given up: a tensor whose last handle this is may be overwritten.
    ///
    /// # Errors
    /// If it refuses the operands.
    pub fn call_owned(&self, args: SmallVec<[TensorHandle; 4]>) -> Result<Vec<TensorHandle>, Error> {
        let core = &self.core.0;
        if !self.dispatch.has_effect() {
            return self.begin(args, &mut None);
        }
        // Effects begin in the order of the calls.
        let mut effects = core.effects.lock().unwrap_or_else(PoisonError::into_inner);
        let before = effects.clone();
        let mut chain = Some(before.resolved());
        // The error of one effect does not end all others.
        if matches!(chain, Some(Value::Error(_))) {
            chain = Some(Value::Chain);
        }
        let results = self.begin(args, &mut chain);
        *effects = chain.unwrap_or(Value::Chain);
        results
    }

    fn begin(
        &self,
        args: SmallVec<[TensorHandle; 4]>,
        chain: &mut Option<Value>,
    ) -> Result<Vec<TensorHandle>, Error> {
        let mut call = Invocation {
            cx: &self.core.0.cx,
            site: None,
            args,
            n_results: None,
            results: SmallVec::new(),
            chain: chain.clone(),
            mode: self.core.0.mode,
        };
        let done = self.dispatch.dispatch(&mut call);
        if done.is_ok() {
            *chain = call.chain;
        }
        done.map_err(|error| self.core.0.cx.raise(&error, Vec::new()))?;
        Ok(call.results.into_vec())
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Op").field(&self.name).finish()
    }
}
