//! Operators by compilation: those without a kernel of their own, and functions of programs.
//!
//! ```text
//! key, types and shapes of operands ──text──▶ a function of one op ──Compile──▶ CompiledFunction, kept
//! ```
//!
//! The compiler is in another crate, which passes it as a [`Compile`].

use std::sync::{Arc, Mutex, PoisonError};

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use befrost_kernels::refused;
use befrost_tensor::HostTensor;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{self, ArgType, Derived, OpRow, Operand, Type};
use smallvec::SmallVec;

use crate::attrs::OpAttrsRef;
use crate::cpu::{CpuOp, InferredResults, Operands, declared_results, dispatch_of};
use crate::handle::{Metadata, TensorHandle, metadata_of};
use crate::handler::{Dispatch, OpHandler, OpKey};
use crate::text::function_of_op;

/// A compiler of text.
pub trait Compile: Send + Sync {
    /// The function of this name in the text of a module of `tf` ops.
    ///
    /// # Errors
    /// If the text is refused.
    fn compile(&self, module: &str, function: &str) -> Result<Arc<dyn CompiledFunction>, Error>;
}

/// A function of a program.
pub trait CompiledFunction: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// The number of results, without chains.
    fn n_results(&self) -> usize;

    /// Checks that it can be called by itself, as an operator is.
    ///
    /// # Errors
    /// If it cannot.
    fn check_callable(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Calls it with final values and waits for it. Chains are left out on both sides. Resources are those of
    /// the execution.
    ///
    /// # Errors
    /// If the arguments do not fit, and the first error among the results.
    fn call(&self, args: Vec<Value>, cx: &ExecContext) -> Result<Vec<Value>, Error>;
}

/// A function as an operator.
pub(crate) fn function_op(name: &str, function: Arc<dyn CompiledFunction>) -> Arc<dyn Dispatch> {
    dispatch_of(name, true, Arc::new(FunctionOp(function)))
}

struct FunctionOp(Arc<dyn CompiledFunction>);

impl CpuOp for FunctionOp {
    fn infer(&self, _: &[TensorHandle]) -> Result<Option<Arc<InferredResults>>, KernelError> {
        // The time is unknown, so it runs as a task.
        let metadata = (0..self.0.n_results()).map(|_| None).collect();
        Ok(Some(Arc::new(InferredResults { metadata, is_long: true })))
    }

    fn run(&self, args: Operands, cx: &ExecContext) -> Result<SmallVec<[Value; 2]>, KernelError> {
        call(&*self.0, args, cx)
    }
}

fn call(
    function: &dyn CompiledFunction,
    args: Operands,
    cx: &ExecContext,
) -> Result<SmallVec<[Value; 2]>, KernelError> {
    let results = function.call(args.into_vec(), cx).map_err(|error| KernelError::of_call(&error))?;
    Ok(results.into())
}

/// The handler that compiles each operator as a function of one op. It serves operators without kernels of
/// their own, such as `tf.If` and `tf.While`; tests compare the other operators with it.
pub struct CompilingOpHandler {
    fallback: Arc<dyn OpHandler>,
    compiler: Arc<dyn Compile>,
    functions: Arc<str>,
}

impl CompilingOpHandler {
    /// A handler in front of another one. `functions` is text with the functions that attributes may name.
    pub fn new(
        fallback: Arc<dyn OpHandler>,
        compiler: Arc<dyn Compile>,
        functions: &str,
    ) -> CompilingOpHandler {
        CompilingOpHandler { fallback, compiler, functions: functions.into() }
    }
}

impl std::fmt::Debug for CompilingOpHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompilingOpHandler").finish_non_exhaustive()
    }
}

impl OpHandler for CompilingOpHandler {
    fn name(&self) -> &str {
        "CompilingOpHandler"
    }

    fn fallback(&self) -> Option<&Arc<dyn OpHandler>> {
        Some(&self.fallback)
    }

    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
        let row = key.name.strip_prefix("tf.").and_then(op::row).filter(|row| row.is_supported());
        let Some(row) = row else { return self.fallback.make(key) };
        let is_pure = row.effect() == op::Effect::Pure;
        let op = CompiledOp {
            row,
            attrs: key.attrs.clone(),
            compiler: self.compiler.clone(),
            functions: self.functions.clone(),
            made: Mutex::default(),
        };
        Ok(dispatch_of(key.name, !is_pure, Arc::new(op)))
    }
}

/// Types and shapes of operands.
type Signature = Vec<(Type, PartialShape)>;

/// Number of functions that an operator keeps, each for other types and shapes of operands.
const KEPT: usize = 4;

/// The name of the function of the operator.
const NAME: &str = "__eager_op";

struct CompiledOp {
    row: &'static OpRow,
    attrs: OpAttrsRef,
    compiler: Arc<dyn Compile>,
    functions: Arc<str>,
    /// The functions for the last operands, the newest first.
    made: Mutex<Vec<(Signature, Arc<dyn CompiledFunction>)>>,
}

impl CompiledOp {
    /// The operands' types and shapes. A value that is no tensor has the type that the signature declares.
    fn signature(&self, args: impl Iterator<Item = Option<Metadata>>) -> Signature {
        let declared = &self.row.signature().inputs;
        let of = |(i, metadata): (usize, Option<Metadata>)| match metadata {
            Some(metadata) => (metadata.ty, PartialShape::from(&metadata.shape)),
            None => match declared.get(i).map(|arg| arg.ty) {
                Some(ArgType::Is(ty @ (Type::Resource | Type::Variant))) => (ty, PartialShape::unknown()),
                _ => (Type::Resource, PartialShape::unknown()),
            },
        };
        args.enumerate().map(of).collect()
    }

    /// The results for operands of these types and shapes. `constants` are the known values.
    fn inferred(
        &self,
        signature: &Signature,
        constants: &[Option<HostTensor>],
    ) -> Result<Vec<op::Inferred>, KernelError> {
        let known = signature.iter().zip(constants);
        let operands: Vec<Operand<'_>> = known
            .map(|((ty, shape), constant)| Operand {
                constant: constant.as_ref(),
                ..Operand::new(*ty, shape.clone())
            })
            .collect();
        let inputs = signature.iter().map(|(ty, _)| Some(*ty)).collect();
        let attrs = Derived::new(self.row.signature(), &self.attrs, inputs, Vec::new());
        self.row.infer(&attrs, &operands).map_err(refused)
    }

    fn function(&self, args: &[Value]) -> Result<Arc<dyn CompiledFunction>, KernelError> {
        let signature = self.signature(args.iter().map(metadata_of));
        {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = made.iter().position(|(known, _)| *known == signature) {
                made[..=at].rotate_right(1);
                return Ok(made[0].1.clone());
            }
        }
        let text = self.text(args, &signature)?;
        let function = self.compiler.compile(&text, NAME).map_err(|error| KernelError::of_call(&error))?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.truncate(KEPT - 1);
        made.insert(0, (signature, function.clone()));
        Ok(function)
    }

    fn text(&self, args: &[Value], signature: &Signature) -> Result<String, KernelError> {
        let constants: Vec<_> = args.iter().map(constant).collect();
        let results = self.inferred(signature, &constants)?;
        // The shape of a result may depend on the values, and the function is for all values.
        let results: Signature =
            results.into_iter().map(|result| (result.ty, PartialShape::unknown())).collect();
        let function = function_of_op(NAME, self.row.op_name, &self.attrs, signature, &results);
        let function = function.map_err(|name| {
            let message = format!("the attribute '{name}' of {} cannot be compiled", self.row.op_name);
            KernelError::new(ErrorCode::InvalidArgument, message)
        })?;
        Ok(format!("{}\n{function}", self.functions))
    }
}

/// The tensor in a value.
fn constant(value: &Value) -> Option<HostTensor> {
    value.downcast_ref::<befrost_kernels::Tensor>().map(|tensor| tensor.0.clone())
}

impl CpuOp for CompiledOp {
    fn infer(&self, args: &[TensorHandle]) -> Result<Option<Arc<InferredResults>>, KernelError> {
        if args.iter().any(|arg| arg.value().is_none() && arg.metadata().is_none()) {
            return Ok(None);
        }
        let signature = self.signature(args.iter().map(TensorHandle::metadata));
        let constants: Vec<_> = args.iter().map(|arg| arg.value().and_then(constant)).collect();
        let results = self.inferred(&signature, &constants)?;
        let metadata =
            results.iter().map(|result| Some(Metadata { ty: result.ty, shape: result.shape.shape()? }));
        Ok(Some(Arc::new(InferredResults { metadata: metadata.collect(), is_long: true })))
    }

    fn n_results(&self) -> Option<usize> {
        declared_results(self.row, &self.attrs)
    }

    fn run(&self, args: Operands, cx: &ExecContext) -> Result<SmallVec<[Value; 2]>, KernelError> {
        let mut results = call(&*self.function(&args)?, args, cx)?;
        if declared_results(self.row, &self.attrs) == Some(0) {
            // That the operator has ended.
            results.clear();
        }
        Ok(results)
    }
}
