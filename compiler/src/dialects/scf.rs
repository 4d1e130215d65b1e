//! `scf`: conditions and loops with regions, as upstream has them.
//!
//! Ending without a result, the blocks of `scf.if` and `scf.for` need not say `scf.yield`.

use super::short::I1;
use super::{Arity, Effects, ElementKind, OpDef, OperandMode, Registry, Traits, TypeConstraint as T, TypeFn};
use crate::diag::Diagnostic;
use crate::dialects::errors;
use crate::ir::{KnownType, Module, OpId, TypeId, ValueId};

pub(super) fn ops(r: &mut Registry) {
    let many = |def: OpDef, name| def.operand_with(name, T::Any, Arity::Variadic, OperandMode::Required);
    let inside = |mut def: OpDef| {
        def.effects = Effects::Recursive;
        def
    };
    r.add(inside(
        OpDef::new("scf.if", "does one of two things; without results the second may be missing")
            .operand("condition", I1)
            .result_with("results", T::Any, Arity::Variadic)
            .region_ending("then_region", false, "scf.yield")
            .region_ending("else_region", true, "scf.yield")
            .verifier(verify_if)
            .format("$condition arrow-list(results) $then_region (`else` $else_region^)? attr-dict"),
    ));
    let def = OpDef::new("scf.for", "does something for each number from a lower to below an upper bound")
        .operand("lower_bound", T::Like(ElementKind::IntegerOrIndex))
        .operand("upper_bound", T::Like(ElementKind::IntegerOrIndex))
        .operand("step", T::Like(ElementKind::IntegerOrIndex));
    r.add(inside(
        many(def, "init_args")
            .result_with("results", T::Any, Arity::Variadic)
            .type_default("lower_bound", KnownType::Index)
            .type_from("upper_bound", "lower_bound", TypeFn::Same)
            .type_from("step", "lower_bound", TypeFn::Same)
            .type_from("init_args", "results", TypeFn::Same)
            .region_ending("region", false, "scf.yield")
            .traits(Traits::LOOP.and(Traits::SINGLE_BLOCK))
            .verifier(verify_for)
            .format(
                "arg($region, $lower_bound) `=` $lower_bound `to` $upper_bound `step` $step \
                 (`iter_args` assign($region, $init_args)^ arrow-list(results))? \
                 (` ` `:` type($lower_bound)^)? $region attr-dict",
            ),
    ));
    r.add(inside(
        many(OpDef::new("scf.while", "does something while a condition holds"), "inits")
            .result_with("results", T::Any, Arity::Variadic)
            .region("before", false)
            .region("after", false)
            .traits(Traits::LOOP.and(Traits::SINGLE_BLOCK))
            .verifier(verify_while)
            .format(
                "(` ` assign($before, $inits)^)? `:` functional-type($inits, results) $before `do` $after \
                 attr-dict-with-keyword",
            ),
    ));
    r.add(inside(
        OpDef::new("scf.execute_region", "does what is inside, once; several blocks are possible")
            .result_with("results", T::Any, Arity::Variadic)
            .region("region", false)
            .verifier(verify_execute_region)
            .format("arrow-types(results) $region attr-dict"),
    ));
    r.add(
        many(OpDef::new("scf.yield", "gives the results of the enclosing op"), "results")
            .pure()
            .traits(Traits::TERMINATOR.and(Traits::YIELD))
            .parents(&["scf.execute_region", "scf.for", "scf.if", "scf.while"])
            .format("attr-dict ($results^ `:` type($results))?"),
    );
    let def = OpDef::new("scf.condition", "goes on with the loop, or ends it").operand("condition", I1);
    r.add(
        many(def, "args")
            .pure()
            .traits(Traits::TERMINATOR.and(Traits::YIELD))
            .parents(&["scf.while"])
            .format("`(` $condition `)` attr-dict ($args^ `:` type($args))?"),
    );
}

fn types(m: &Module, values: impl Iterator<Item = ValueId>) -> Vec<TypeId> {
    values.map(|v| m.value_type(v)).collect()
}

/// The entry arguments of region `index` have these types.
fn check_args(m: &Module, op: OpId, index: usize, want: &[TypeId], diags: &mut Vec<Diagnostic>) {
    let entry = m.regions_of(op).get(index).and_then(|r| m.entry(*r));
    let Some(entry) = entry else { return };
    let found = types(m, m.args(entry).iter().copied());
    if found != want {
        diags.push(errors::region_args(m, op, index, want, &found));
    }
}

/// The blocks of region `index` end with `name`, giving values of these types.
fn check_yields(
    m: &Module,
    op: OpId,
    index: usize,
    name: &str,
    want: &[TypeId],
    diags: &mut Vec<Diagnostic>,
) {
    let blocks = m.regions_of(op).get(index).map_or(&[][..], |r| m.blocks_of(*r));
    for last in blocks.iter().filter_map(|b| m.last_op(*b)) {
        if m.op_name_str(last) == name {
            let skip = usize::from(name == "scf.condition");
            let found = types(m, m.operands(last).skip(skip));
            if found != want {
                diags.push(errors::yielded(m, last, want, &found, op));
            }
        } else if m.successors(last).is_empty() && m.def(last).is_some() {
            diags.push(errors::wrong_end(m, last, name, op));
        }
    }
}

fn verify_if(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let results = types(m, m.results(op));
    let has_else = m.regions_of(op).get(1).is_some_and(|r| !m.blocks_of(*r).is_empty());
    if !results.is_empty() && !has_else {
        diags.push(errors::no_else(m, op));
    }
    for index in 0..2 {
        let blocks = m.regions_of(op).get(index).map_or(0, |r| m.blocks_of(*r).len());
        if blocks > 1 {
            diags.push(errors::several_blocks(m, op, blocks));
        }
        check_args(m, op, index, &[], diags);
        check_yields(m, op, index, "scf.yield", &results, diags);
    }
}

fn verify_for(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(lower) = m.operands(op).next() else { return };
    let results = types(m, m.results(op));
    let inits = types(m, m.operands(op).skip(3));
    // The table has checked that initial values and results agree.
    let mut args = vec![m.value_type(lower)];
    args.extend(&inits);
    check_args(m, op, 0, &args, diags);
    check_yields(m, op, 0, "scf.yield", &results, diags);
}

fn verify_while(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let (inits, results) = (types(m, m.operands(op)), types(m, m.results(op)));
    check_args(m, op, 0, &inits, diags);
    check_args(m, op, 1, &results, diags);
    check_yields(m, op, 0, "scf.condition", &results, diags);
    check_yields(m, op, 1, "scf.yield", &inits, diags);
}

fn verify_execute_region(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    check_args(m, op, 0, &[], diags);
    check_yields(m, op, 0, "scf.yield", &types(m, m.results(op)), diags);
}
