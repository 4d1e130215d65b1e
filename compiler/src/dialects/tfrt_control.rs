//! `tfrt`: conditions, loops and calls of functions.
//!
//! Arguments of a region have the names of the corresponding operands:
//! `tfrt.if %c, %a : (i32) -> i32 { ... %a ... }`.

use super::short::*;
use super::tfrt_verify::{
    after_condition, all_types, block_call, loop_body, verify_after_first, verify_blocks,
};
use super::view::{Attr, Operand, Operands, Region, Results, views};
use super::{
    Arity, AttrConstraint as A, Effects, OpDef, OperandMode, Registry, Traits, TypeConstraint as T, TypeFn,
};
use crate::ir::KnownType as K;

views! {
    /// `tfrt.if`.
    If = "tfrt.if" {
        cond: Operand<0>,
        args: Operands<1>,
        results: Results<0>,
        then_region: Region<0>,
        else_region: Region<1>,
    }

    /// `tfrt.cond`.
    Cond = "tfrt.cond" {
        cond: Operand<0>,
        fn_operands: Operands<1>,
        outputs: Results<0>,
        a_true_fn: Attr<0>,
        b_false_fn: Attr<1>,
    }

    /// `tfrt.case`.
    Case = "tfrt.case" {
        branch_index: Operand<0>,
        branch_operands: Operands<1>,
        branch_outputs: Results<0>,
        branches: Attr<0>,
    }

    /// `tfrt.once`.
    Once = "tfrt.once" { operands: Operands<0>, results: Results<0>, function: Attr<0>, }

    /// `tfrt.while`.
    While = "tfrt.while" {
        cond: Operand<0>,
        operands: Operands<1>,
        results: Results<0>,
        body_fn: Attr<0>,
        parallel_iterations: Attr<1>,
    }

    /// `tfrt.repeat.i32`.
    Repeat = "tfrt.repeat.i32" {
        trip_count: Operand<0>,
        args: Operands<1>,
        results: Results<0>,
        body: Region<0>,
    }

    /// `tfrt.parallel_for.i32`.
    ParallelFor = "tfrt.parallel_for.i32" {
        start: Operand<0>,
        end: Operand<1>,
        block_size: Operand<2>,
        args: Operands<3>,
        body: Region<0>,
    }

    /// `tfrt.parallel_call.i32`.
    ParallelCall = "tfrt.parallel_call.i32" {
        start: Operand<0>,
        end: Operand<1>,
        block_size: Operand<2>,
        args: Operands<3>,
        callee: Attr<0>,
    }
}

pub(super) fn many(def: OpDef, name: &'static str) -> OpDef {
    def.operand_with(name, T::Any, Arity::Variadic, OperandMode::Required)
}

/// Makes the regions isolated from above.
pub(super) fn regions(mut def: OpDef) -> OpDef {
    def.effects = Effects::Recursive;
    def.traits(Traits::ISOLATED)
}

pub(super) fn ops(r: &mut Registry) {
    conditions(r);
    loops(r);
}

fn conditions(r: &mut Registry) {
    let def = OpDef::new("tfrt.if", "does one of two things").operand("cond", I1);
    r.add(regions(
        many(def, "args")
            .result_with("results", T::Any, Arity::Variadic)
            .region("then_region", false)
            .region("else_region", true)
            .format(
                "$cond (`,` $args^)? attr-dict-with-keyword `:` functional-lists($args, results) \
                 shadow($then_region, $args) (`else` shadow($else_region, $args)^)?",
            )
            .verifier(verify_after_first)
            .kernel()
            .asynchronous(),
    ));
    let def = OpDef::new("tfrt.cond", "calls one of two functions").operand("cond", I1);
    r.add(
        many(def, "fn_operands")
            .attr("a_true_fn", A::FlatSymbol)
            .attr("b_false_fn", A::FlatSymbol)
            .result_with("outputs", T::Any, Arity::Variadic)
            .callee_type(after_condition)
            .format(
                "$cond $a_true_fn $b_false_fn `(` $fn_operands `)` attr-dict `:` `(` type($fn_operands) `)` `->` \
                 `(` type($outputs) `)`",
            )
            .kernel()
            .asynchronous(),
    );
    let def = OpDef::new("tfrt.case", "calls the function with this number").operand("branch_index", I32);
    r.add(
        many(def, "branch_operands")
            .attr("branches", A::SymbolArray)
            .result_with("branch_outputs", T::Any, Arity::Variadic)
            .format(
                "$branch_index $branches `(` $branch_operands `)` attr-dict `:` \
                 chained-lists($branch_operands, $branch_outputs)",
            )
            .kernel()
            .asynchronous(),
    );
    r.add(
        many(
            OpDef::new("tfrt.once", "calls a function the first time, and gives its results every time"),
            "operands",
        )
        .attr("function", A::FlatSymbol)
        .result_with("results", T::Any, Arity::Variadic)
        .callee_type(all_types)
        .format(
            "$function `(` $operands `)` attr-dict `:` `(` type($operands) `)` `->` `(` type($results) `)`",
        )
        .kernel()
        .asynchronous(),
    );
}

fn loops(r: &mut Registry) {
    let def = OpDef::new("tfrt.while", "calls a function while the last of its results is true")
        .operand("cond", I1);
    r.add(
        many(def, "operands")
            .attr("body_fn", A::FlatSymbol)
            .attr("parallel_iterations", A::Int(K::I64))
            .result_with("results", T::Any, Arity::Variadic)
            .callee_type(loop_body)
            .format(
                "$cond $body_fn `(` $operands `)` attr-dict `parallel_iterations` `(` $parallel_iterations `)` `:` \
                 `(` type($operands) `)` `->` `(` type($results) `)`",
            )
            .kernel()
            .asynchronous(),
    );
    let def = OpDef::new("tfrt.repeat.i32", "does something a number of times").operand("trip_count", I32);
    r.add(regions(
        many(def, "args")
            .result_with("results", T::Any, Arity::Variadic)
            .type_from("results", "args", TypeFn::Same)
            .region("body", false)
            .traits(Traits::LOOP)
            .verifier(verify_after_first)
            .format("$trip_count (`,` $args^ `:` type($args))? attr-dict-with-keyword shadow($body, $args)")
            .kernel()
            .asynchronous(),
    ));
    let range = |name: &str, summary| {
        OpDef::new(name, summary).operand("start", I32).operand("end", I32).operand("block_size", I32)
    };
    r.add(regions(
        many(range("tfrt.parallel_for.i32", "does something for each block of a range, in parallel"), "args")
            .result("done", CHAIN)
            .region("body", false)
            .traits(Traits::LOOP)
            .verifier(verify_blocks)
            .format(
                "$start `to` $end `fixed` $block_size (`,` $args^ `:` type($args))? attr-dict-with-keyword \
                 shadow($body, $start, $end, $args)",
            )
            .kernel()
            .asynchronous(),
    ));
    r.add(
        many(
            range("tfrt.parallel_call.i32", "calls a function for each block of a range, in parallel"),
            "args",
        )
        .attr("callee", A::FlatSymbol)
        .result("done", CHAIN)
        .callee_type(block_call)
        .format("$start `to` $end `fixed` $block_size $callee `(` $args `)` attr-dict (`:` type($args)^)?")
        .kernel()
        .asynchronous(),
    );
}
