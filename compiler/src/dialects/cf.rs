//! `cf`: branches between the blocks of a region, as upstream has them.

use super::short::{I1, UPSTREAM_TO_KERNELS};
use super::view::{Attr, Operand, Operands, Successor, views};
use super::{
    Access, Arity, AttrConstraint as A, EffectResource, ElementKind, OpDef, OperandMode, Registry, Traits,
    TypeConstraint as T,
};
use crate::diag::Diagnostic;
use crate::dialects::errors;
use crate::ir::{KnownType as K, Module, OpId};

views! {
    /// `cf.br`.
    Br = "cf.br" { dest_operands: Operands<0>, dest: Successor<0>, }

    /// `cf.cond_br`.
    CondBr = "cf.cond_br" {
        condition: Operand<0>,
        true_dest_operands: Operands<1>,
        false_dest_operands: Operands<2>,
        true_dest: Successor<0>,
        false_dest: Successor<1>,
    }

    /// `cf.switch`.
    Switch = "cf.switch" {
        flag: Operand<0>,
        default_operands: Operands<1>,
        case_operands: Operands<2>,
        case_operand_segments: Attr<0>,
        case_values: Attr<1>,
        default_dest: Successor<0>,
    }

    /// `cf.assert`.
    Assert = "cf.assert" { arg: Operand<0>, msg: Attr<0>, }
}

pub(super) fn ops(r: &mut Registry) {
    let any = |def: OpDef, name| def.operand_with(name, T::Any, Arity::Variadic, OperandMode::Required);
    r.add(
        any(OpDef::new("cf.br", "goes on in another block"), "dest_operands")
            .successor("dest", "dest_operands")
            .pure()
            .lowered_by(UPSTREAM_TO_KERNELS)
            .traits(Traits::TERMINATOR.and(Traits::BRANCH))
            .verifier(verify_branch)
            .format("$dest (`(` $dest_operands^ `:` type($dest_operands) `)`)? attr-dict"),
    );
    let def = OpDef::new("cf.cond_br", "goes on in one of two blocks").operand("condition", I1);
    r.add(
        any(any(def, "true_dest_operands"), "false_dest_operands")
            .successor("true_dest", "true_dest_operands")
            .successor("false_dest", "false_dest_operands")
            .pure()
            .lowered_by(UPSTREAM_TO_KERNELS)
            .traits(Traits::TERMINATOR.and(Traits::BRANCH).and(Traits::OPERAND_SEGMENTS))
            .verifier(verify_branch)
            .format(
                "$condition `,` $true_dest (`(` $true_dest_operands^ `:` type($true_dest_operands) `)`)? `,` \
                 $false_dest (`(` $false_dest_operands^ `:` type($false_dest_operands) `)`)? attr-dict",
            ),
    );
    let def =
        OpDef::new("cf.switch", "goes on in the block of the case that the number equals, or in the default")
            .operand("flag", T::Like(ElementKind::Integer));
    r.add(
        any(any(def, "default_operands"), "case_operands")
            .optional_attr("case_values", A::Dense)
            .attr("case_operand_segments", A::DenseArray(K::I32))
            .successor("default_dest", "default_operands")
            .successor_with("case_dests", Arity::Variadic, "case_operands", Some("case_operand_segments"))
            .pure()
            .lowered_by(UPSTREAM_TO_KERNELS)
            .traits(Traits::TERMINATOR.and(Traits::BRANCH).and(Traits::OPERAND_SEGMENTS))
            .verifier(verify_switch)
            .format("$flag `:` type($flag) `,` custom<switch-cases> attr-dict"),
    );
    r.add(
        OpDef::new("cf.assert", "an error with this message unless the operand is true")
            .operand("arg", I1)
            .attr("msg", A::Str)
            .effect(Access::Write, EffectResource::ExecutionContext)
            .lowered_by(UPSTREAM_TO_KERNELS)
            .format("$arg `,` $msg attr-dict"),
    );
}

/// Checks that the operands passed by a branch match the block's arguments in number and types.
pub(super) fn verify_branch(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    for (i, &block) in m.successors(op).iter().enumerate() {
        let Some(range) = m.successor_operands(op, i) else { continue };
        let args = m.args(block);
        if range.len() != args.len() {
            diags.push(errors::branch_count(m, op, i, range.len(), args.len()));
            continue;
        }
        for (at, arg) in range.zip(args) {
            if m.value_type(m.operand(op, at)) != m.value_type(*arg) {
                diags.push(errors::branch_type(m, op, i, at, *arg));
            }
        }
    }
}

fn verify_switch(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(switch) = Switch::of(m, op) else { return };
    let cases = m.successors(op).len() - 1;
    let values = match switch.case_values(m).and_then(|a| m.cx.attr_type(a)) {
        None => 0,
        Some(ty) => {
            let Some((shape, elem)) = m.cx.ty(ty).shaped() else { return };
            if elem != m.value_type(switch.flag(m)) {
                return diags.push(errors::case_type(m, op, elem));
            }
            shape.and_then(|s| s.first()).map_or(0, |n| usize::try_from(*n).unwrap_or(0))
        }
    };
    let name = m.cx.find_str("case_operand_segments");
    let counts = name.and_then(|name| m.i32_array(op, name)).map_or(0, |c| c.len());
    if values != cases || counts != cases {
        return diags.push(errors::case_count(m, op, cases, values, counts));
    }
    verify_branch(m, op, diags);
}
