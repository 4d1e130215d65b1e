//! `func`: functions, calls and returns, as upstream has them.

use super::short::UPSTREAM_TO_KERNELS;
use super::view::{Attr, Operand, Operands, Region, Results, views};
use super::{Arity, AttrConstraint as A, OpDef, OperandMode, Registry, Traits, TypeConstraint as T, TypeFn};
use crate::diag::Diagnostic;
use crate::dialects::errors;
use crate::ir::symbols::SymbolTables;
use crate::ir::{AttrKind, Module, OpId, names};

views! {
    /// `func.func`.
    Func = "func.func" {
        arg_attrs: Attr<0>,
        function_type: Attr<1>,
        res_attrs: Attr<2>,
        sym_name: Attr<3>,
        sym_visibility: Attr<4>,
        body: Region<0>,
    }

    /// `func.return`.
    Return = "func.return" { operands: Operands<0>, }

    /// `func.call`.
    Call = "func.call" { operands: Operands<0>, results: Results<0>, callee: Attr<0>, }

    /// `func.call_indirect`.
    CallIndirect = "func.call_indirect" {
        callee: Operand<0>,
        callee_operands: Operands<1>,
        results: Results<0>,
    }

    /// `func.constant`.
    Constant = "func.constant" { result: Results<0>, value: Attr<0>, }
}

pub(super) fn ops(r: &mut Registry) {
    r.add(
        OpDef::new("func.func", "a function; without a body it is declared only")
            .attr("sym_name", A::Str)
            .attr("function_type", A::FunctionType)
            .optional_attr("sym_visibility", A::Str)
            .optional_attr("arg_attrs", A::DictArray)
            .optional_attr("res_attrs", A::DictArray)
            .region("body", true)
            .traits(Traits::SYMBOL.and(Traits::ISOLATED).and(Traits::FUNCTION))
            .default_dialect("func")
            .verifier(verify_function)
            .format("custom<function>"),
    );
    r.alias("func", "func.func");
    r.add(
        OpDef::new("func.return", "ends a function and gives its results")
            .operand_with("operands", T::Any, Arity::Variadic, OperandMode::Required)
            .pure()
            .traits(Traits::TERMINATOR.and(Traits::RETURN))
            .parents(&["func.func"])
            .format("attr-dict ($operands^ `:` type($operands))?"),
    );
    r.add(
        OpDef::new("func.call", "calls a function")
            .operand_with("operands", T::Any, Arity::Variadic, OperandMode::Required)
            .attr("callee", A::FlatSymbol)
            .result_with("results", T::Any, Arity::Variadic)
            .callee("callee")
            .traits(Traits::CALL)
            .lowered_by(UPSTREAM_TO_KERNELS)
            .format("$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)"),
    );
    r.add(
        OpDef::new("func.call_indirect", "calls a function value")
            .operand("callee", T::Function)
            .operand_with("callee_operands", T::Any, Arity::Variadic, OperandMode::Required)
            .result_with("results", T::Any, Arity::Variadic)
            .type_from("callee_operands", "callee", TypeFn::Inputs)
            .type_from("results", "callee", TypeFn::Outputs)
            .lowered_by(UPSTREAM_TO_KERNELS)
            .format("$callee `(` $callee_operands `)` attr-dict `:` type($callee)"),
    );
    r.add(
        OpDef::new("func.constant", "a function as a value")
            .attr("value", A::FlatSymbol)
            .result("result", T::Function)
            .pure()
            .traits(Traits::CONSTANT)
            .lowered_by(UPSTREAM_TO_KERNELS)
            .verifier(verify_constant)
            .result_names(|_, _| vec!["f".into()])
            .format("attr-dict $value `:` type($result)"),
    );
}

/// Checks that a function without a body is private: no other module could supply the body.
fn verify_function(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(func) = Func::of(m, op) else { return };
    let visibility = func.sym_visibility(m).and_then(|a| m.cx.as_str(a));
    if m.blocks_of(func.body(m)).is_empty() && matches!(visibility, None | Some("public")) {
        diags.push(errors::public_declaration(m, op));
    }
}

/// Checks that the symbol refers to a function of the result's type.
fn verify_constant(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(constant) = Constant::of(m, op) else { return };
    let Some(AttrKind::Symbol { root, nested }) = constant.value(m).map(|a| m.cx.attr(a)) else { return };
    // An unknown symbol is reported by the verifier.
    let Some(target) = SymbolTables::default().resolve(m, op, *root, nested) else { return };
    let Some(ty) = m.attr(target, names::FUNCTION_TYPE).and_then(|a| m.cx.as_type(a)) else { return };
    if constant.result(m).any(|v| m.value_type(v) != ty) {
        diags.push(errors::function_constant(m, op, ty, target));
    }
}
