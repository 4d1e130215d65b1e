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

#[cfg(feature = "compile")]
use std::sync::Arc;

use befrost_kernel_api::{Error, ErrorCode, ExecContext, Value};

pub use befrost_eager::*;

use crate::program::Function;
use crate::runtime::Runtime;

impl From<&Runtime> for ExecContext {
    /// [`Runtime::context`].
    fn from(runtime: &Runtime) -> ExecContext {
        runtime.context()
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
    fn name(&self) -> &str {
        self.name()
    }

    fn check_callable(&self) -> Result<(), Error> {
        if self.is_native() {
            let message = format!("{self:?} is native code, which only a kernel calls");
            return Err(Error::new(ErrorCode::InvalidArgument, message, Vec::new()));
        }
        Ok(())
    }

    fn n_results(&self) -> usize {
        self.results().iter().filter(|port| !port.is_chain()).count()
    }

    fn call(&self, args: Vec<Value>, cx: &ExecContext) -> Result<Vec<Value>, Error> {
        let results = self.call_in(args, cx)?;
        if let Some(error) = results.iter().find_map(Value::error) {
            return Err(error.clone());
        }
        let data = results.into_iter().zip(self.results()).filter(|(_, port)| !port.is_chain());
        Ok(data.map(|(value, _)| value).collect())
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
