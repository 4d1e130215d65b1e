//! Scopes of a run, as printed by TFRT's `bef_executor_debug_tracing`:
//!
//! ```text
//! Scope:Bef Executor
//! Scope:Function: f
//! Scope:tfrt.new.chain        kernels at the level `debug` only
//! End Scope
//! End Scope
//! End Scope
//! ```
//!
//! As in TFRT, the lines are buffered until the run ends or the buffer is full; the program's output is not.
//! Operators that `corert.executeop` executes have scopes at every level. The program's kernels are
//! wrapped only if their scopes are requested, so there is no overhead otherwise. Calls, branches and loops
//! have no scope if the executor runs them without kernels.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use befrost::ErrorCode;
use befrost_kernel_api::kernel::{Kernel, KernelFn, KernelFrame, Outcome};
use befrost_kernel_api::{KernelError, Registry};

use crate::cli::failure::{Failure, print};

/// The functions of the wrapped kernels.
static INSIDE: OnceLock<BTreeMap<&'static str, KernelFn>> = OnceLock::new();

/// The lines that are not written yet.
static LINES: Mutex<String> = Mutex::new(String::new());

/// Bytes of [`LINES`] that are written at once.
const FULL: usize = 1 << 16;

/// The same kernels with scopes.
pub(super) fn with_scopes(registry: &Registry) -> Registry {
    INSIDE.get_or_init(|| registry.iter().map(|kernel| (kernel.name, kernel.run)).collect());
    let mut others = Registry::new();
    for kernel in registry.iter() {
        others.add(Kernel::new(kernel.name, (*kernel.signature).clone(), in_scope));
    }
    others
}

fn in_scope(frame: &mut KernelFrame<'_>) -> Outcome {
    let name = frame.name();
    let Some(run) = INSIDE.get().and_then(|inside| inside.get(name)) else {
        return Outcome::Error(KernelError::new(ErrorCode::Internal, "a kernel without code"));
    };
    let _scope = TraceScope::begin(name);
    run(frame)
}

/// Receives the scopes of operators that kernels execute by name.
pub(super) fn trace_operators() {
    befrost_eager::trace_with(befrost_eager::Tracer {
        begin: |name| add(&format!("Scope:{name}\n")),
        end: || add("End Scope\n"),
    });
}

/// A scope, until it is dropped.
pub(super) struct TraceScope(());

impl TraceScope {
    pub(super) fn begin(name: &str) -> TraceScope {
        add(&format!("Scope:{name}\n"));
        TraceScope(())
    }
}

impl Drop for TraceScope {
    fn drop(&mut self) {
        add("End Scope\n");
    }
}

fn add(line: &str) {
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push_str(line);
    if lines.len() >= FULL {
        // The end of the run reports a failure to write.
        if print(&lines).is_ok() {
            lines.clear();
        }
    }
}

/// Writes the lines of the scopes.
pub(super) fn write() -> Result<(), Failure> {
    print(&std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner)))
}
