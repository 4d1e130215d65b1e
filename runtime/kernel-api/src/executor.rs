//! The interface of executors: values, frames and tables as the runtime needs them. Not for kernels.
//!
//! It may change with every version of the runtime. The loader lays out [`Step`]s and [`KernelTable`]s, and
//! the executor makes a [`KernelFrame`](crate::kernel::KernelFrame) of them. The contracts of `unsafe`
//! functions here are between these two.
//!
//! Types that kernels see have their executor's methods in `impl` blocks that are hidden from the
//! documentation.

pub use crate::context::{KernelRef, MAX_TRACE};
pub use crate::image::SharedImage;
pub use crate::kernel::attr::immediate;
pub use crate::kernel::file::{FileDevices, LoadedFile, PreparedUse, location_of};
pub use crate::kernel::frame::{CallChain, CallRequest, Runs, Surroundings};
pub use crate::kernel::functions::{FunctionCall, FunctionSource, Functions};
pub use crate::kernel::job::Place;
pub use crate::kernel::prepare::SharedData;
pub use crate::kernel::signature::is_chain;
pub use crate::kernel::step::{CopyStep, Slot, Step, StepKind, StraightStep};
pub use crate::kernel::table::{KernelEntry, KernelTable, LaunchEntry, Span, StagedConstant};
pub use crate::queue::local::{LocalQueue, LocalTasks};
pub use crate::queue::parking::Parking;
pub use crate::queue::run_task;
pub use crate::queue::task::Work;
pub use crate::value::{head_of, is_of, scalar_tag};

/// Small heap objects from the thread's pool.
pub mod pool {
    pub use crate::pool::{boxed, unbox};
}

/// Atomics, cells and threads: std's, or loom's under `--cfg loom`.
pub mod sync {
    pub use crate::sync::{
        AtomicPtr, AtomicU32, AtomicUsize, Mutex, Ordering, UnsafeCell, fence, lock, thread_local_const,
    };
}
