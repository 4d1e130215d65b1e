//! [`Operator`]: an operator outside of a program, made of its row and attributes and called with values.

use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_tensor::tf::op::{Attributes, Attrs, Derived, OpRow, Traits, Type};
use smallvec::SmallVec;

use super::action::Action;
use super::memory::Memory;
use super::tables::ActionMaker;
use super::{PreparedOp, compute, of_objects};

/// An operator with decoded attributes, for operands of certain types.
pub struct Operator(Code);

enum Code {
    Function(PreparedOp),
    Action(Action),
    /// The results are the operands.
    Pass,
}

impl Operator {
    /// The operator of a row for operands and results of these types.
    ///
    /// # Errors
    /// If it does not take these types or attributes, or the compiler lowers it to other operators.
    pub fn new<A: Attrs>(
        row: &'static OpRow,
        attrs: A,
        inputs: Vec<Option<Type>>,
        outputs: Vec<Option<Type>>,
    ) -> Result<Operator, String> {
        let is_string = outputs.iter().map(|ty| *ty == Some(Type::String)).collect();
        let attrs = Derived::new(row.signature(), attrs, inputs, outputs);
        attrs.check()?;
        if row.has(Traits::PASSING) {
            return Ok(Operator(Code::Pass));
        }
        let attrs = &Attributes::new(row.signature(), &attrs);
        if let Some(maker) = row.op.and_then(ActionMaker::of) {
            return maker
                .make(attrs)
                .map(|action| Operator(Code::Action(action)))
                .map_err(|error| error.to_string());
        }
        PreparedOp::of(row, of_objects(row.op), attrs.given(), || is_string, Memory::unplanned())
            .map(|op| Operator(Code::Function(op)))
    }

    /// True if operators of this row can be made.
    pub fn is_known(row: &'static OpRow) -> bool {
        row.has_function() || row.op.and_then(ActionMaker::of).is_some()
    }

    /// Executes the operator. A tensor without another reference may be overwritten.
    ///
    /// # Errors
    /// Those of the operator.
    pub fn call(
        &self,
        values: SmallVec<[Value; 4]>,
        cx: &ExecContext,
    ) -> Result<SmallVec<[Value; 2]>, KernelError> {
        match &self.0 {
            Code::Function(op) => compute(op, values, cx).map(|results| results.0),
            Code::Action(action) => action.call(&values.iter().collect::<SmallVec<[&Value; 4]>>(), cx),
            Code::Pass => Ok(values.into_iter().collect()),
        }
    }
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Operator")
    }
}
