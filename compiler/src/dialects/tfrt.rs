//! `tfrt`: scalars, chains, calls.

use super::short::*;
use super::view::{Attr, Operands, Results, views};
use super::{
    Access, Arity, AttrConstraint as A, EffectResource, OpDef, OperandMode, Registry, Traits,
    TypeConstraint as T,
};
use crate::fold::{patterns, tfrt as fold};
use crate::ir::KnownType as K;

views! {
    /// `tfrt.call`.
    Call = "tfrt.call" { operands: Operands<0>, results: Results<0>, callee: Attr<0>, }

    /// `tfrt.return`.
    Return = "tfrt.return" { operands: Operands<0>, }

    /// `tfrt.merge.chains`.
    MergeChains = "tfrt.merge.chains" { inputs: Operands<0>, }
}

pub(super) fn ops(r: &mut Registry) {
    calls(r);
    chains(r);
    constants(r);
    prints(r);
    others(r);
    for k in INTEGERS {
        binary(r, "add", k, "the sum, wrapping around", Traits::COMMUTATIVE);
        binary(r, "minus", k, "the difference, wrapping around", Traits::NONE);
        binary(r, "mul", k, "the product, wrapping around", Traits::COMMUTATIVE);
        binary(r, "minimum", k, "the smaller one", Traits::COMMUTATIVE.and(Traits::IDEMPOTENT));
        compare(r, "equal", k, "true if both are equal", Traits::COMMUTATIVE);
        compare(r, "lessequal", k, "true if the first is not greater than the second", Traits::NONE);
        r.add(folded(
            OpDef::new(
                format!("tfrt.div.{}", k.name()),
                "quotient and remainder, rounded toward zero; an error if the divisor is 0",
            )
            .operand("lhs", T::Is(k))
            .operand("rhs", T::Is(k))
            .result("quotient", T::Is(k))
            .result("remainder", T::Is(k))
            .pure()
            .format("operands attr-dict")
            .kernel()
            .small(),
            "div",
            k,
        ));
    }
    for k in INTEGERS {
        binary(r, "add_s", k, "the sum, wrapping around", Traits::COMMUTATIVE);
        binary(r, "mul_s", k, "the product, wrapping around", Traits::COMMUTATIVE);
    }
    for k in FLOATS {
        binary(r, "add", k, "the sum", Traits::COMMUTATIVE);
        binary(r, "multiply", k, "the product", Traits::COMMUTATIVE);
        binary(r, "minimum", k, "the smaller one", Traits::COMMUTATIVE.and(Traits::IDEMPOTENT));
        binary(r, "div", k, "the quotient; an error if the divisor is 0", Traits::NONE);
    }
    r.add(folded(
        OpDef::new("tfrt.and.i1", "true if both are")
            .operand("lhs", I1)
            .operand("rhs", I1)
            .result("result", I1)
            .pure()
            .traits(Traits::COMMUTATIVE.and(Traits::IDEMPOTENT).and(Traits::SAME_TYPE).and(Traits::TOTAL))
            .format("operands attr-dict")
            .kernel()
            .small(),
        "and",
        K::I1,
    ));
}

/// Types whose constants have a single attribute.
const SCALARS: [K; 9] = [K::I1, K::I32, K::I64, K::UI32, K::UI64, K::BF16, K::F16, K::F32, K::F64];

/// The complex types with the types of their parts.
const COMPLEX: [(K, K, &str); 2] =
    [(K::Complex64, K::F32, "complex64"), (K::Complex128, K::F64, "complex128")];

fn constants(r: &mut Registry) {
    let mut constant = |name: String, k: K| {
        let value = match k {
            K::BF16 | K::F16 | K::F32 | K::F64 => A::Float(k),
            K::I1 => A::Bool,
            _ => A::Int(k),
        };
        r.add(
            OpDef::new(name, "a constant")
                .attr("value", value)
                .result("result", T::Is(k))
                .pure()
                .traits(Traits::CONSTANT.and(Traits::TOTAL))
                .format("$value attr-dict")
                .kernel()
                .small(),
        );
    };
    for k in SCALARS {
        constant(format!("tfrt.constant.{}", k.name()), k);
    }
    for k in [K::I32, K::I64, K::BF16, K::F16, K::F32, K::F64] {
        constant(format!("tfrt.constant_s.{}", k.name()), k);
    }
    for (k, part, name) in COMPLEX {
        r.add(
            OpDef::new(format!("tfrt.constant.{name}"), "a complex constant")
                .attr("real", A::Float(part))
                .attr("imaginary", A::Float(part))
                .result("result", T::Is(k))
                .pure()
                .traits(Traits::TOTAL)
                .format("$real `,` $imaginary attr-dict")
                .kernel()
                .small(),
        );
    }
}

fn prints(r: &mut Registry) {
    let mut print = |name: &str, k: K| {
        let def = OpDef::new(format!("tfrt.print.{name}"), "prints a number on a line of its own")
            .operand("value", T::Is(k))
            .operand("chain", CHAIN)
            .result("done", CHAIN)
            .effect(Access::Write, EffectResource::Output)
            .kernel();
        r.add(def.format("operands attr-dict"));
    };
    for k in [K::I1, K::I32, K::I64, K::F16, K::F32, K::F64] {
        print(k.name(), k);
    }
    for (k, _, name) in COMPLEX {
        print(name, k);
    }
}

fn others(r: &mut Registry) {
    for (from, to, folder) in fold::CASTS {
        r.add(
            OpDef::new(
                format!("tfrt.cast.{}_to_{}", from.name(), to.name()),
                "the number as another type: toward zero, or the nearest one that the type has",
            )
            .operand("value", T::Is(from))
            .result("result", T::Is(to))
            .pure()
            .traits(Traits::TOTAL)
            .folder(folder)
            .format("operands attr-dict")
            .kernel()
            .small(),
        );
    }
    r.add(
        OpDef::new("tfrt.alias.value", "its further operands, when the chain is ready")
            .operand("chain", CHAIN)
            .operand_with("values", T::Any, Arity::Variadic, OperandMode::Required)
            .result_with("results", T::Any, Arity::Variadic)
            .pure()
            .format("operands attr-dict `:` functional-type(operands, results)")
            .kernel()
            .asynchronous()
            .small(),
    );
    r.add(
        OpDef::new("tfrt.get_device", "the device of this name; an error if there is none")
            .operand("chain", CHAIN)
            .attr("device_name", A::Str)
            .result("device", T::Is(K::Device))
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
}

fn calls(r: &mut Registry) {
    r.add(
        OpDef::new("tfrt.return", "ends a function and gives its results")
            .operand_with("operands", T::Any, Arity::Variadic, OperandMode::Required)
            .pure()
            .traits(Traits::TERMINATOR.and(Traits::RETURN))
            .format("operands attr-dict (`:` type(operands)^)?")
            .cost(1),
    );
    r.add(
        OpDef::new("tfrt.call", "calls a function")
            .operand_with("operands", T::Any, Arity::Variadic, OperandMode::Required)
            .attr("callee", A::FlatSymbol)
            .result_with("results", T::Any, Arity::Variadic)
            .callee("callee")
            .traits(Traits::CALL)
            .format("$callee `(` operands `)` attr-dict `:` functional-type(operands, results)")
            .kernel()
            .asynchronous(),
    );
}

fn chains(r: &mut Registry) {
    r.add(
        OpDef::new("tfrt.new.chain", "a chain that is ready")
            .result("chain", CHAIN)
            .pure()
            .traits(Traits::TOTAL)
            .format("attr-dict")
            .kernel()
            .small(),
    );
    r.add(
        OpDef::new("tfrt.merge.chains", "a chain that is ready when all operands are")
            .operand_with("inputs", T::Any, Arity::Variadic, OperandMode::Required)
            .result("chain", CHAIN)
            .pure()
            .traits(Traits::TOTAL)
            .format("$inputs attr-dict (`:` type($inputs else !tfrt.chain)^)?")
            .folder(fold::merge_chains)
            .kernel()
            .cost(1),
    );
}

/// A binary op on one type.
fn binary(r: &mut Registry, op: &str, k: K, summary: &'static str, traits: Traits) {
    let def = OpDef::new(format!("tfrt.{op}.{}", k.name()), summary)
        .operand("lhs", T::Is(k))
        .operand("rhs", T::Is(k))
        .result("result", T::Is(k))
        .pure()
        .traits(traits.and(Traits::SAME_TYPE).and(if op == "div" { Traits::NONE } else { Traits::TOTAL }))
        .format("operands attr-dict")
        .kernel()
        .small();
    r.add(folded(def, op, k));
}

/// A comparison of two operands of one type, with an `i1` result.
fn compare(r: &mut Registry, op: &str, k: K, summary: &'static str, traits: Traits) {
    let def = OpDef::new(format!("tfrt.{op}.{}", k.name()), summary)
        .operand("lhs", T::Is(k))
        .operand("rhs", T::Is(k))
        .result("result", I1)
        .pure()
        .traits(traits.and(Traits::TOTAL))
        .format("operands attr-dict")
        .kernel()
        .small();
    r.add(folded(def, op, k));
}

/// Adds the folder that computes the same as the kernel.
fn folded(def: OpDef, op: &str, k: K) -> OpDef {
    let def = match (op, k) {
        ("add" | "mul", K::I32 | K::I64) => def.pattern(patterns::tfrt::CONSTANTS),
        _ => def,
    };
    match fold::folder(op, k) {
        Some(folder) => def.folder(folder),
        None => def,
    }
}
