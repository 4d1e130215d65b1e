//! The kernels of `corert` and `corert_sync`, and those of `tfrt_test` on handles and attributes.
//!
//! ```text
//! constants     tensors in the program
//! dispatch      corert.executeop: the operator is made at the first execution of a use, and kept
//! handlers      handlers, and their names, which outlive a call
//! flow          conditions, loops and composite ops
//! conversions   from and to handles
//! op_attrs      attributes that are set one by one
//! ```

mod constants;
mod conversions;
mod dispatch;
mod flow;
mod handlers;
mod op_attrs;

use std::sync::Arc;

use befrost_kernel_api::kernel::{
    AttrSpec, IntoKernel, Kernel, KernelFrame, MakePrepared, Outcome, Signature, signature_of,
};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{Registry, Value};

use crate::core::Handlers;
use crate::handle::TensorHandle;
use crate::handler::OpHandler;

/// Adds the kernels, with names of handlers of their own.
pub fn corert(registry: &mut Registry) {
    constants::add(registry);
    dispatch::add(registry);
    handlers::add(registry, &Handlers::default());
    flow::add(registry);
    conversions::add(registry);
    op_attrs::add(registry);
}

/// A `!corert.ophandler`.
#[derive(Clone)]
struct HandlerValue(Arc<dyn OpHandler>);

impl std::fmt::Debug for HandlerValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HandlerValue").field(&self.0.name()).finish()
    }
}

impl Object for HandlerValue {
    const TYPES: &'static [&'static str] = &["!corert.ophandler"];

    fn display(&self) -> String {
        self.0.name().to_owned()
    }
}

/// An attribute of any kind, which is decoded when the program is loaded.
const ANY_ATTR: AttrSpec = AttrSpec { kind: "an attribute", accepts: |_| true };

/// A kernel whose uses share data of the registry.
fn sharing<M, F>(
    name: &'static str,
    function: F,
    prepare: MakePrepared,
    run: fn(&mut KernelFrame<'_>) -> Outcome,
) -> Kernel
where
    F: IntoKernel<M> + Send + 'static,
{
    let signature = move || Signature { prepare: Some(prepare), ..signature_of(&function) };
    Kernel::lazy(name, signature, run)
}

/// The handle in a value: taken out of the only reference, else cloned.
fn handle_in(value: Value) -> Option<TensorHandle> {
    match value.into_object::<TensorHandle>() {
        Ok(handle) => Some(handle),
        Err(value) => value.downcast_ref::<TensorHandle>().cloned(),
    }
}
