//! The eager core: operators by name, executed one by one on tensor handles.
//!
//! ```text
//! CoreRuntime ──op("AddV2", attributes)──▶ Op ──call──▶ TensorHandle
//!      │                                    ▲              metadata now, if it follows from the operands;
//!      └─ handlers by name                  │              the tensor when it is there; or an error
//!           logging ─▶ cpu ─▶ null ──make──▶ Dispatch
//! ```
//!
//! An [`OpHandler`] makes an operator or asks its fallback. The metadata function of an operator runs first,
//! so the call itself refuses wrong operands. An operator whose operands are final runs on the calling
//! thread; otherwise it runs on the thread that produces the last operand. Errors of operands are errors of
//! results. Effects, reads of a state among them, are ordered by chains, which are values.
//!
//! [`corert`] adds the kernels of the dialects `corert` and `corert_sync`, which do the same from programs.
//!
//! ```
//! use befrost_eager::{CoreRuntime, OpAttrs, TensorHandle};
//! use befrost_kernel_api::{ExecContext, Request};
//! # use std::sync::Arc;
//! use befrost_tensor::HostTensor;
//!
//! let queue = befrost_host::queue::from_spec("s").unwrap();
//! let core = CoreRuntime::new(ExecContext::new(Arc::new(Request::new(queue))));
//! let add = core.op("AddV2", &OpAttrs::new()).unwrap();
//! let x = TensorHandle::from(HostTensor::from_vec([2], vec![1.0f32, 2.0]).unwrap());
//! let y = add.call(&[x.clone(), x]).unwrap().remove(0);
//! assert_eq!(y.shape().unwrap().dims(), [2]);
//! assert_eq!(y.wait().unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
//!
//! let short = TensorHandle::from(HostTensor::from_vec([3], vec![0.0f32; 3]).unwrap());
//! assert!(add.call(&[y, short]).is_err());
//! ```
#![forbid(unsafe_code)]

mod attrs;
mod cache;
mod chain;
mod compile;
mod core;
mod cpu;
mod handle;
mod handler;
mod kernels;
mod logging;
mod op;
mod recording;
mod text;
mod trace;

pub use befrost_kernel_api::async_value::Promise;
pub use befrost_kernel_api::value::State;
pub use befrost_tensor::tf::op::Type;

pub use attrs::{AttrValue, OpAttrs, OpAttrsRef};
pub use cache::CacheStats;
pub use chain::ChainHandle;
pub use compile::{Compile, CompiledFunction, CompilingOpHandler};
pub use core::CoreRuntime;
pub use cpu::CpuOpHandler;
pub use handle::{Metadata, Settled, TensorHandle};
pub use handler::{Args, Dispatch, Invocation, Mode, NullOpHandler, OpHandler, OpKey, Results};
pub use kernels::corert;
pub use logging::LoggingOpHandler;
pub use op::Op;
pub use recording::{Recorded, RecordingOpHandler};
pub use text::function_of_op;
pub use trace::{Tracer, trace_with};
