//! Functions of the op graph that a front end builds op by op.
//!
//! ```text
//! FunctionBuilder ──finish──▶ Module ──compile_module──▶ BEF
//!                                └──module_text──▶ MLIR text
//! ```

pub use befrost_compiler::build::function::{FilledBlock, FunctionBuilder, SourcePlace, TensorShape};
use befrost_compiler::diag;
pub use befrost_compiler::ir::{BlockId, Module, ValueId};
use befrost_compiler::print::{PrintOptions, print};
pub use befrost_compiler::rewrite::Checkpoint;
pub use befrost_tensor::tf::op::{Arg, ArgType, AttrKind, DefaultValue, OpRow, Type, row, rows};

use crate::compile::{CompileError, CompileOptions, refused, to_bef};

/// The text of a module.
pub fn module_text(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

/// The BEF file of a module.
///
/// # Errors
/// If the module is refused, or there is no such level of optimization.
pub fn compile_module(module: Module, options: &CompileOptions) -> Result<Vec<u8>, CompileError> {
    options.check()?;
    to_bef(module, options).map_err(|found| refused(&found, &diag::Source::new("<module>", "")))
}
