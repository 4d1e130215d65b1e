//! Scopes: a line before and after each kernel, as printed by TFRT's `bef_executor_debug_tracing` at its
//! level `debug`.
//!
//! The program's kernels are wrapped only if scopes are requested, so there is no overhead otherwise. Calls,
//! branches and loops have no scope if the executor runs them without kernels.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use befrost::ErrorCode;
use befrost_kernel_api::kernel::{Kernel, KernelFn, KernelFrame, Outcome};
use befrost_kernel_api::{KernelError, Registry};

/// The functions of the wrapped kernels.
pub(super) type Inside = BTreeMap<&'static str, KernelFn>;

static INSIDE: OnceLock<Inside> = OnceLock::new();

/// The same kernels, all with function `code`, which looks up the original in `inside`.
pub(super) fn around(registry: &Registry, inside: &OnceLock<Inside>, code: KernelFn) -> Registry {
    inside.get_or_init(|| registry.iter().map(|kernel| (kernel.name, kernel.run)).collect());
    let mut others = Registry::new();
    for kernel in registry.iter() {
        others.add(Kernel::new(kernel.name, (*kernel.signature).clone(), code));
    }
    others
}

/// The same kernels with scopes.
pub(super) fn with_scopes(registry: &Registry) -> Registry {
    around(registry, &INSIDE, scope)
}

fn scope(frame: &mut KernelFrame<'_>) -> Outcome {
    let context = frame.context();
    let name = frame.name();
    let Some(run) = INSIDE.get().and_then(|inside| inside.get(name)) else {
        return Outcome::Error(KernelError::new(ErrorCode::Internal, "a kernel without code"));
    };
    if let Err(error) = context.print(&format!("Scope:{name}\n")) {
        return Outcome::Error(error);
    }
    let outcome = run(frame);
    match context.print("End Scope\n") {
        Ok(()) => outcome,
        Err(error) => Outcome::Error(error),
    }
}
