//! `dev`: transfers between devices, and the exchange of values between the parts of a divided program.
//!
//! ```text
//! %1 = dev.transfer %0 to "/job:localhost/replica:0/task:0/device:SIM:0" : tensor<4xf32>
//! %s = dev.step                                      the step that the parts of one call share
//! %f = dev.enter %s {bef.frame = "while"}            the first iteration of a frame
//! %f = dev.enter %s if %c {bef.frame = "call"}       dead, or an error, if %c is
//! %g = dev.next %f                                   the next one
//! dev.send %0 in %s channel 3 to "DEVICE" : tensor<4xf32>
//! %0 = dev.recv in %s channel 3 from "DEVICE" : tensor<4xf32>
//! %0 = dev.recv in %s channel 3 from "DEVICE" {start = 120 : i64} : tensor<4xf32>      when it is read first
//! %0 = dev.recv in %s after %c channel 3 from "DEVICE" : tensor<4xf32>      not before %c is complete
//! dev.send %0, %p in %s channel 3 to "DEVICE" : tensor<4xf32>, tensor<i1>    with predicates, in one message
//! %0, %p = dev.recv in %s channel 3 from "DEVICE" : tensor<4xf32>, tensor<i1>
//! %c = dev.fence(%a)                                 after all effects before it; later ones wait for it
//! %r = dev.parts(%x) {parts = [@main.CPU_0, @main.CPU_1], takes = [[0], []], gives = [[], [0]]}
//!     : (tensor<4xf32>) -> tensor<4xf32>             one step: all parts together
//! ```

use super::{
    Access, Arity, AttrConstraint as A, EffectResource, OpDef, OperandMode, Registry, TypeConstraint as T,
    TypeFn,
};
use crate::dialects::def::Folded;
use crate::dialects::{Traits, tf};
use crate::ir::{KnownType, Module, OpId, ValueId};

/// The op that transfers a value to another device.
pub const TRANSFER: &str = "dev.transfer";

/// The op that begins a step.
pub const STEP: &str = "dev.step";

/// The op that enters a frame.
pub const ENTER: &str = "dev.enter";

/// The op that enters the next iteration of a frame.
pub const NEXT: &str = "dev.next";

/// The op that sends a value to another part.
pub const SEND: &str = "dev.send";

/// The op that receives a value from another part.
pub const RECV: &str = "dev.recv";

/// The op that joins the effects before it, and those of other parts, before later ones.
pub const FENCE: &str = "dev.fence";

/// The values that a send hands over: the value, and the predicates that ride on it.
pub fn sent(m: &Module, op: OpId) -> impl Iterator<Item = ValueId> {
    m.operands(op).enumerate().filter(|&(i, _)| i != 1).map(|(_, value)| value)
}

/// The op that runs the parts of a program.
pub const PARTS: &str = "dev.parts";

/// The destination of an op, if it is a transfer.
pub fn destination(m: &Module, op: OpId) -> Option<&str> {
    let attr = m.attr_named(op, "to").filter(|_| m.op_name_str(op) == TRANSFER)?;
    m.cx.as_str(attr)
}

pub(super) fn ops(r: &mut Registry) {
    let step = T::Is(KnownType::Step);
    r.add(
        OpDef::new(TRANSFER, "the value in the memory of another device")
            .operand("value", T::Any)
            .attr("to", A::Str)
            .result("result", T::Any)
            .type_from("result", "value", TypeFn::Same)
            .traits(Traits::PASSES_TYPE)
            .folder(|m, op, constants| {
                // A constant is on all devices.
                constants.first()?.is_some().then(|| vec![Folded::Value(m.operand(op, 0))])
            })
            .pure()
            .format("$value `to` $to attr-dict `:` type($value)")
            .kernel(),
    );
    r.add(
        OpDef::new(STEP, "what the parts of one call meet in")
            .result("step", step)
            .effect(Access::Alloc, EffectResource::Result(0))
            .format("attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(ENTER, "the first iteration of a frame of this name")
            .operand("step", step)
            .operand_with("gate", T::Is(KnownType::Chain), Arity::Optional, OperandMode::Order)
            .attr("bef.frame", A::Str)
            .result("frame", step)
            .pure()
            .format("$step (`if` $gate^)? attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(NEXT, "the next iteration")
            .operand("step", step)
            .result("next", step)
            .pure()
            .format("$step attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(SEND, "hands a value over to another part, whatever became of it")
            .observes()
            .operand("value", T::Any)
            .operand("step", step)
            .operand_with("predicates", T::Any, Arity::Variadic, OperandMode::Required)
            .attr("channel", A::Int(KnownType::I64))
            .attr("to", A::Str)
            .effect(Access::Write, EffectResource::ExecutionContext)
            .format(
                "$value (`,` $predicates^)? `in` $step `channel` $channel `to` $to attr-dict \
                 `:` type($value) (`,` type($predicates)^)?",
            )
            .kernel(),
    );
    r.add(
        OpDef::new(RECV, "what another part hands over, not before `after` is complete")
            .operand("step", step)
            .operand_with("after", T::Is(KnownType::Chain), Arity::Optional, OperandMode::After)
            .attr("channel", A::Int(KnownType::I64))
            .attr("from", A::Str)
            .result("value", T::Any)
            .result_with("predicates", T::Any, Arity::Variadic)
            .effect(Access::Write, EffectResource::ExecutionContext)
            .format(
                "`in` $step (`after` $after^)? `channel` $channel `from` $from attr-dict \
                 `:` type($value) (`,` type($predicates)^)?",
            )
            .kernel()
            .asynchronous(),
    );
    r.add(
        OpDef::new(FENCE, "complete after all effects before it and all operands; later effects wait for it")
            .operand_with("after", T::Is(KnownType::Chain), Arity::Variadic, OperandMode::Required)
            .result("done", T::Is(KnownType::Chain))
            .effect(Access::Write, EffectResource::State)
            .format("`(` $after `)` attr-dict")
            .lowered_by(tf::TF_TO_KERNELS),
    );
    r.add(
        OpDef::new(PARTS, "runs all parts of a program together")
            .operand_with("args", T::Any, Arity::Variadic, OperandMode::Required)
            .attr("parts", A::SymbolArray)
            .attr("takes", A::Array)
            .attr("gives", A::Array)
            .result_with("results", T::Any, Arity::Variadic)
            .format("`(` $args `)` attr-dict `:` functional-type($args, results)")
            .lowered_by(tf::TF_TO_KERNELS),
    );
}
