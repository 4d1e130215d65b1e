//! Kernels that make handlers, and that register and find them by name.

use std::sync::Arc;

use bef_format::AttrView;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{IntoKernel, KernelUse, MakePrepared, Prepare, Prepared, RawAttr, StrAttr};
use befrost_kernel_api::{Chain, KernelError, Registry, kernel};

use super::{HandlerValue, sharing};
use crate::core::Handlers;
use crate::cpu::CpuOpHandler;
use crate::handler::{NullOpHandler, OpHandler};
use crate::logging::LoggingOpHandler;

/// The names of handlers, for the kernels of one registry.
struct Names(Handlers);

impl Prepare for Names {
    fn prepare(_: &KernelUse<'_>) -> Result<Names, String> {
        Err("the kernel knows no handlers".to_owned())
    }
}

fn register(handler: &HandlerValue, names: Prepared<'_, Names>, name: StrAttr<'_>) -> Chain {
    names.0.0.register_first(name.0, handler.0.clone());
    Chain
}

fn register_now(handler: &HandlerValue, names: Prepared<'_, Names>, name: StrAttr<'_>) {
    names.0.0.register_first(name.0, handler.0.clone());
}

fn find(_: Chain, names: Prepared<'_, Names>, name: StrAttr<'_>) -> Result<HandlerValue, KernelError> {
    find_now(names, name)
}

fn find_now(names: Prepared<'_, Names>, name: StrAttr<'_>) -> Result<HandlerValue, KernelError> {
    names.0.0.find(name.0).map(HandlerValue)
}

pub(super) fn add(registry: &mut Registry, handlers: &Handlers) {
    let names = || {
        let handlers = handlers.clone();
        MakePrepared::new(move |_| Ok(Names(handlers.clone())))
    };
    registry.add(sharing("corert.register_op_handler", register, names(), |frame| register.invoke(frame)));
    registry.add(sharing("corert_sync.register_op_handler", register_now, names(), |frame| {
        register_now.invoke(frame)
    }));
    registry.add(sharing("corert.get_op_handler", find, names(), |frame| find.invoke(frame)));
    registry.add(sharing("corert_sync.get_op_handler", find_now, names(), |frame| find_now.invoke(frame)));
    registry.add(kernel!("corert.create_null_op_handler", || HandlerValue(Arc::new(NullOpHandler))));
    registry.add(kernel!("corert.create_cpu_op_handler", cpu));
    registry
        .add(kernel!("corert.create_cpu_op_handler_with_ordinal", |fallback: &HandlerValue, _: i32| cpu(
            fallback
        )));
    registry.add(kernel!(
        "corert.create_logging_op_handler",
        |fallback: &HandlerValue, sync_results: RawAttr<'_>| {
            let sync_results = match sync_results.view {
                AttrView::Bool(value) => value,
                AttrView::Int { value, .. } => value != 0,
                other => {
                    let message = format!("expected 0 or 1 for 'sync_log_results', got {other:?}");
                    return Err(KernelError::invalid(message));
                }
            };
            Ok(HandlerValue(Arc::new(LoggingOpHandler::new(fallback_in(fallback)?, sync_results)?)))
        }
    ));
}

fn cpu(fallback: &HandlerValue) -> Result<HandlerValue, KernelError> {
    Ok(HandlerValue(Arc::new(CpuOpHandler::new(fallback_in(fallback)?))))
}

/// Limit of the handlers in a chain, each of which asks the next one on the machine's stack.
const MAX_CHAIN: usize = 64;

/// The handler, if it may be the fallback of another one.
fn fallback_in(handler: &HandlerValue) -> Result<Arc<dyn OpHandler>, KernelError> {
    let chain = std::iter::successors(Some(&handler.0), |handler| handler.fallback());
    if chain.take(MAX_CHAIN).count() == MAX_CHAIN {
        let message = format!("op handlers nest too deeply: at most {MAX_CHAIN} may ask each other");
        return Err(KernelError::new(ErrorCode::ResourceExhausted, message));
    }
    Ok(handler.0.clone())
}
