//! The eager core on a runtime: operators by name, functions of programs as operators.
//!
//! ```
//! use befrost::eager::{OpAttrs, TensorHandle};
//! use befrost::{HostTensor, Runtime};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let core = Runtime::builder().work_queue("s").build()?.eager();
//! let x = TensorHandle::from(HostTensor::from_vec([2], vec![1.0f32, 2.0])?);
//! let sum = core.execute("AddV2", &[x.clone(), x], &OpAttrs::new())?;
//! assert_eq!(sum[0].wait()?.to_vec::<f32>()?, [2.0, 4.0]);
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use befrost_kernel_api::{Error, ExecContext, Request, Value};

pub use befrost_eager::*;

use crate::program::Function;
use crate::runtime::Runtime;

impl From<&Runtime> for ExecContext {
    /// An execution with the runtime's queue, allocator and limits, and resources of its own.
    fn from(runtime: &Runtime) -> ExecContext {
        let Runtime { queue, allocator, limits, .. } = runtime.clone();
        ExecContext::new(Arc::new(Request { allocator, limits, ..Request::new(queue) }))
    }
}

impl Runtime {
    /// A core runtime: operators by name, executed one by one. With the feature `compile`, operators without
    /// kernels of their own are compiled.
    pub fn eager(&self) -> CoreRuntime {
        self.eager_with("")
    }

    /// [`Runtime::eager`] with text of functions, which the attributes of `If`, `While` and the like may
    /// name.
    pub fn eager_with(&self, functions: &str) -> CoreRuntime {
        #[cfg(feature = "compile")]
        return CoreRuntime::with_compiler(self, Arc::new(Compiler(self.clone())), functions);
        #[cfg(not(feature = "compile"))]
        {
            _ = functions;
            CoreRuntime::new(self)
        }
    }
}

impl CompiledFunction for Function {
    fn n_results(&self) -> usize {
        self.results().iter().filter(|port| !port.is_chain()).count()
    }

    fn call(&self, args: Vec<Value>, cx: &ExecContext) -> Result<Vec<Value>, Error> {
        let results = self.call_in(args, cx)?;
        let data = results.into_iter().zip(self.results());
        let error = |value: &Value| value.error().cloned();
        data.map(|(value, port)| match error(&value) {
            Some(error) => Err(error),
            None => Ok((!port.is_chain()).then_some(value)),
        })
        .filter_map(Result::transpose)
        .collect()
    }
}

/// Compiles text in the process.
#[cfg(feature = "compile")]
struct Compiler(Runtime);

#[cfg(feature = "compile")]
impl Compile for Compiler {
    fn compile(&self, module: &str, function: &str) -> Result<Arc<dyn CompiledFunction>, Error> {
        let bef = crate::compile(crate::Source::Text(module.to_owned()))?;
        Ok(Arc::new(self.0.load_bytes(&bef)?.function(function)?))
    }
}
