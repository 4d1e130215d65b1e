//! `tfrt_test`: kernels that exist to be tested with. As in TFRT, all are written in generic form.

use super::short::*;
use super::{Access, Arity, AttrConstraint as A, OpDef, OperandMode, Registry, Resource};
use crate::ir::KnownType as K;

pub(super) fn ops(r: &mut Registry) {
    r.add(
        OpDef::new("tfrt_test.fail", "the error `something bad happened`")
            .result("result", I32)
            .pure()
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_test.partial_fail", "1, and the error `something bad happened`")
            .result("one", I32)
            .result("error", I32)
            .pure()
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_test.sum", "the sum of any number of integers")
            .operand_with("terms", I32, Arity::Variadic, OperandMode::Required)
            .result("sum", I32)
            .pure()
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_test.async_add.i32", "the sum, computed by a task of its own")
            .operand("lhs", I32)
            .operand("rhs", I32)
            .result("sum", I32)
            .pure()
            .kernel()
            .asynchronous(),
    );
    r.add(
        OpDef::new("tfrt_test.async_constant.i32", "a constant, given by a task of its own")
            .attr("value", A::Int(K::I32))
            .result("result", I32)
            .pure()
            .kernel()
            .asynchronous(),
    );
    r.add(
        OpDef::new("tfrt_test.async_copy.i32", "its operand, copied by a task of its own")
            .operand("value", I32)
            .result("copy", I32)
            .pure()
            .kernel()
            .asynchronous(),
    );
    r.add(
        OpDef::new("tfrt_test.cancel", "cancels the execution; gives 0 and the chain")
            .operand("chain", CHAIN)
            .result("zero", I32)
            .result("done", CHAIN)
            .effect(Access::Write, Resource::ExecutionContext)
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_test.print_hello", "prints `hello host executor!`")
            .operand("chain", CHAIN)
            .result("done", CHAIN)
            .effect(Access::Write, Resource::Output)
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_test.select.i32", "the second operand if the first is true, else the third")
            .operand("condition", I1)
            .operand_with("if_true", I32, Arity::One, OperandMode::Lenient)
            .operand_with("if_false", I32, Arity::One, OperandMode::Lenient)
            .result("result", I32)
            .pure()
            .kernel(),
    );
}
