//! The handler that logs operators and passes them to its fallback.
//!
//! ```text
//! [0] dispatch 'tf.AddV2' 2 arguments, 1 result, no attributes
//! Inputs for [0]: 'tf.AddV2':
//!   Input for [0] tensor 0: DenseHostTensor dtype = i32, shape = [1], values = [1]
//! ```
//!
//! Operands are logged in dense form, when they are final. The log goes to standard error, or to the file
//! `${LOGGING_DEV_METADATA_DUMP_PREFIX}metadata.log`, which each handler truncates. With
//! `$LOGGING_DEV_TENSOR_DUMP_PREFIX` each tensor also goes to a file of its own: numbers or strings, with
//! commas between them.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::queue::Latch;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use befrost_kernels::{AnyTensor, Tensor};
use befrost_tensor::print;

use crate::attrs::OpAttrsRef;
use crate::handle::{TensorHandle, dense, when_final};
use crate::handler::{Dispatch, Invocation, OpHandler, OpKey};

/// The destinations of the log.
#[derive(Debug)]
struct Log {
    /// The number of dispatches.
    count: AtomicU64,
    /// The file of the log; standard error without one.
    metadata: Option<File>,
    /// The prefix of the files of tensors.
    tensor_prefix: Option<String>,
}

impl Log {
    fn write(&self, text: &str) -> Result<(), KernelError> {
        let written = match &self.metadata {
            None => std::io::stderr().lock().write_all(text.as_bytes()),
            Some(file) => (&mut &*file).write_all(text.as_bytes()),
        };
        written.map_err(|error| KernelError::new(ErrorCode::Unavailable, format!("cannot log: {error}")))
    }

    /// Logs tensors that are final.
    fn tensors(&self, n: u64, op: &str, side: Side, tensors: &[TensorHandle], cx: &ExecContext) {
        let (many, one, word) = side.words();
        let mut text = format!("{many} for [{n}]: '{op}':\n");
        for (i, tensor) in tensors.iter().enumerate() {
            let shown = match tensor.value().map(|value| converted(value, cx)) {
                Some(value) => crate::handle::text(&value),
                None => tensor.to_string(),
            };
            text.push_str(&format!("  {one} for [{n}] tensor {i}: {shown}\n"));
            if let Some(prefix) = &self.tensor_prefix {
                // The name of an operator comes from a program and must not lead to another folder.
                let name = op.replace(['/', '\\', '\0'], "_");
                let elements = tensor.value().and_then(|value| elements(value, cx)).unwrap_or_default();
                let file = format!("{prefix}op_{n}_{name}_{word}_{i}");
                if let Err(error) = std::fs::write(&file, elements) {
                    text.push_str(&format!("  cannot write {file}: {error}\n"));
                }
            }
        }
        text.push('\n');
        // The operator may have ended, so an error of the log has no receiver.
        _ = self.write(&text);
    }
}

/// A tensor in dense form, unless it is one of strings.
fn converted(value: &Value, cx: &ExecContext) -> Value {
    match dense(value, cx) {
        Ok(tensor) => Value::object(Tensor(tensor)),
        Err(_) => value.clone(),
    }
}

/// The elements of a tensor, with commas.
fn elements(value: &Value, cx: &ExecContext) -> Option<String> {
    match AnyTensor::of(value)? {
        AnyTensor::Strings(strings) => {
            let read = strings.read().ok()?;
            let texts: Vec<_> = read.iter().map(String::from_utf8_lossy).collect();
            Some(texts.join(", "))
        }
        _ => print::elements(&dense(value, cx).ok()?).ok(),
    }
}

/// The side of an operator that tensors are on.
#[derive(Clone, Copy)]
enum Side {
    Inputs,
    Outputs,
}

impl Side {
    /// Its words in the log: plural, singular, and in the names of files.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Side::Inputs => ("Inputs", "Input", "input"),
            Side::Outputs => ("Outputs", "Output", "output"),
        }
    }
}

/// The handler that logs operators and passes them to its fallback.
pub struct LoggingOpHandler {
    fallback: Arc<dyn OpHandler>,
    sync_results: bool,
    log: Arc<Log>,
}

impl LoggingOpHandler {
    /// A handler in front of another one. With `sync_results` it waits for the results and logs them.
    ///
    /// # Errors
    /// If the file of the log cannot be written.
    pub fn new(fallback: Arc<dyn OpHandler>, sync_results: bool) -> Result<LoggingOpHandler, KernelError> {
        let prefix = |name| std::env::var(name).ok();
        let metadata = prefix("LOGGING_DEV_METADATA_DUMP_PREFIX").map(|prefix| {
            let path = format!("{prefix}metadata.log");
            File::create(&path).map_err(|error| {
                KernelError::new(ErrorCode::Unavailable, format!("error opening file {path}: {error}"))
            })
        });
        let log = Log {
            count: AtomicU64::new(0),
            metadata: metadata.transpose()?,
            tensor_prefix: prefix("LOGGING_DEV_TENSOR_DUMP_PREFIX"),
        };
        Ok(LoggingOpHandler { fallback, sync_results, log: Arc::new(log) })
    }
}

impl std::fmt::Debug for LoggingOpHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoggingOpHandler").field("log", &self.log).finish_non_exhaustive()
    }
}

impl OpHandler for LoggingOpHandler {
    fn name(&self) -> &str {
        "LoggingOpHandler"
    }

    fn fallback(&self) -> Option<&Arc<dyn OpHandler>> {
        Some(&self.fallback)
    }

    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
        Ok(Arc::new(LoggingDispatch {
            name: key.name.into(),
            attrs: key.attrs.clone(),
            inner: self.fallback.make(key)?,
            sync_results: self.sync_results,
            log: self.log.clone(),
        }))
    }
}

struct LoggingDispatch {
    name: Arc<str>,
    attrs: OpAttrsRef,
    inner: Arc<dyn Dispatch>,
    sync_results: bool,
    log: Arc<Log>,
}

impl LoggingDispatch {
    /// Logs tensors when they are final.
    fn report(&self, n: u64, side: Side, tensors: Vec<TensorHandle>, cx: &ExecContext) {
        let waits = unavailable(&tensors);
        let (log, name, cx) = (self.log.clone(), self.name.clone(), cx.clone());
        when_final(waits, Box::new(move || log.tensors(n, &name, side, &tensors, &cx)));
    }
}

fn unavailable(tensors: &[TensorHandle]) -> Vec<AsyncRef> {
    tensors.iter().filter_map(TensorHandle::unavailable).cloned().collect()
}

impl Dispatch for LoggingDispatch {
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), Error> {
        // Relaxed: only uniqueness matters.
        let n = self.log.count.fetch_add(1, Ordering::Relaxed);
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let attrs = match self.attrs.is_empty() {
            true => "no attributes\n".to_owned(),
            false => self.attrs.to_string(),
        };
        self.log.write(&format!(
            "[{n}] dispatch '{}' {}, {}, {attrs}",
            self.name,
            count(call.args.len(), "argument"),
            count(call.n_results.unwrap_or(1), "result"),
        ))?;
        self.report(n, Side::Inputs, call.args.to_vec(), call.cx);
        self.inner.dispatch(call)?;
        if self.sync_results && !call.results.is_empty() {
            let waits = unavailable(&call.results);
            if !waits.is_empty() {
                call.cx.queue().check_may_wait()?;
                let latch = Latch::new(1);
                let opens = latch.clone();
                when_final(waits, Box::new(move || opens.count_down()));
                call.cx.queue().wait(&latch);
            }
            self.report(n, Side::Outputs, call.results.to_vec(), call.cx);
        }
        Ok(())
    }

    fn has_effect(&self) -> bool {
        self.inner.has_effect()
    }
}
