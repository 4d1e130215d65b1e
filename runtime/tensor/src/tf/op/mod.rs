//! TensorFlow's operators: one row each, and the queries on a row.
//!
//! ```text
//! OpRow ──signature──▶ operands, results, attributes ──▶ Attributes (with defaults) ◀── Attrs of a node
//!   ├──infer────▶ types and shapes of results, as far as they are known
//!   ├──prepare──▶ Eval: attributes decoded, a function of operands
//!   ├──work─────▶ operations and bytes
//!   └──class, traits, effect, layout, ... ──▶ importer, passes, memory planner, kernels, documentation
//! ```
//!
//! [`OpRow::prepare`] decodes attributes once; the function reads operands only. [`OpRow::prepare_owned`] is
//! for kernels: the function takes its operands by value and may overwrite one without other handles; it also
//! takes the execution context.
//!
//! The functions operate on dense tensors; all but those of random and impure rows are pure. Control flow,
//! variables, lists, stacks and strings have rows too; their kernels belong to the runtime, or the compiler
//! lowers them.

mod attrs;
mod cost;
mod derive;
mod eval;
mod function;
mod infer;
pub mod row;
mod rows;
mod signature;
mod types;

pub use attrs::{Attributes, Attrs};
pub use cost::{Cost, Flops, Work};
pub use derive::Derived;
pub use eval::{of, of_many, owning, owning_many};
pub use function::{Eval, Made, Operands, OwnedEval, Results};
pub use infer::{Dim, Inferred, Node, Operand, Rule, Shapes};
pub use row::{Activates, Class, Effect, Fusion, Gradient, Op, OpRow, ProductForm, ProductOps, Traits};
pub use rows::{add_row, added_row, added_rows, are_functions, n_functions, row, rows, selected};
pub use signature::{Arg, ArgType, AttrDef, AttrKind, DefaultValue, Signature};
pub use types::{RefusedType, Type};

/// The shape rules that many operators share.
pub mod shape {
    pub use super::infer::rules::{all_merged, broadcasting, same, scalar, unknown};
}

use crate::TensorError;
use crate::tf::fast::Cx;
use row::Cpu;

impl OpRow {
    /// The function of the operator with these attributes; `None` for operators that are not functions of
    /// dense tensors.
    ///
    /// # Errors
    /// If an attribute is missing, of the wrong kind or refused.
    pub fn prepare(&self, attrs: &dyn Attrs) -> Result<Option<Eval>, TensorError> {
        let eval = self.prepare_owned(attrs)?;
        Ok(eval.map(|eval| -> Eval {
            Box::new(move |inputs, allocator| {
                eval(inputs.iter().map(|&x| x.clone()).collect(), &Cx::serial(allocator))
            })
        }))
    }

    /// [`OpRow::prepare`] for callers with owned operands and an execution context.
    ///
    /// # Errors
    /// Those of [`OpRow::prepare`].
    pub fn prepare_owned(&self, attrs: &dyn Attrs) -> Result<Option<OwnedEval>, TensorError> {
        let attrs = &Attributes::new(self.signature(), attrs);
        match self.cpu() {
            Some(Cpu::Own(make)) => make(attrs).map(Some),
            Some(Cpu::OfClass(make)) => make(self.class(), attrs).map(Some),
            None => Ok(None),
        }
    }

    /// The types of the results, and their shapes as far as they follow from the operands.
    ///
    /// # Errors
    /// For operands and attributes that the operator refuses.
    pub fn infer(&self, attrs: &dyn Attrs, operands: &[Operand<'_>]) -> Result<Vec<Inferred>, TensorError> {
        infer::infer(self.signature(), self.rule(), attrs, operands)
    }

    /// The work of one evaluation with these attributes and operands; `None` if it depends on unknown
    /// dimensions.
    ///
    /// # Errors
    /// Those of [`OpRow::infer`].
    pub fn work(&self, attrs: &dyn Attrs, operands: &[Operand<'_>]) -> Result<Option<Work>, TensorError> {
        cost::work(self.cost(), self.signature(), self.rule(), attrs, operands)
    }
}
