//! `scf`: conditions and loops with regions, as upstream.
//!
//! Blocks of `scf.if` and `scf.for` without results may omit `scf.yield`.

use super::short::{I1, UPSTREAM_TO_KERNELS};
use super::view::{Attr, Operand, Operands, Region, Results, views};
use super::{
    Arity, AttrConstraint as A, Effects, ElementKind, OpDef, OperandMode, Registry, Traits,
    TypeConstraint as T, TypeFn,
};
use crate::diag::Diagnostic;
use crate::dialects::errors;
use crate::ir::{AttrKind, KnownType, Module, OpId, RegionId, TypeId, ValueId};

views! {
    /// `scf.if`.
    If = "scf.if" {
        condition: Operand<0>,
        results: Results<0>,
        then_region: Region<0>,
        else_region: Region<1>,
    }

    /// `scf.for`.
    For = "scf.for" {
        lower_bound: Operand<0>,
        upper_bound: Operand<1>,
        step: Operand<2>,
        init_args: Operands<3>,
        results: Results<0>,
        region: Region<0>,
    }

    /// `scf.while`.
    While = "scf.while" { inits: Operands<0>, results: Results<0>, before: Region<0>, after: Region<1>, }

    /// `scf.execute_region`.
    ExecuteRegion = "scf.execute_region" { results: Results<0>, region: Region<0>, }

    /// `scf.index_switch`. Its first region is the default.
    IndexSwitch = "scf.index_switch" { arg: Operand<0>, results: Results<0>, cases: Attr<0>, }

    /// `scf.yield`.
    Yield = "scf.yield" { results: Operands<0>, }

    /// `scf.condition`.
    Condition = "scf.condition" { condition: Operand<0>, args: Operands<1>, }
}

pub(super) fn ops(r: &mut Registry) {
    let many = |def: OpDef, name| def.operand_with(name, T::Any, Arity::Variadic, OperandMode::Required);
    let inside = |mut def: OpDef| {
        def.effects = Effects::Recursive;
        def.lowered_by(UPSTREAM_TO_KERNELS)
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
    r.add(inside(
        OpDef::new("scf.index_switch", "does one of several things, selected by an index")
            .operand("arg", T::Is(KnownType::Index))
            .attr("cases", A::DenseArray(KnownType::I64))
            .result_with("results", T::Any, Arity::Variadic)
            .region_ending("defaultRegion", false, "scf.yield")
            .more_regions()
            .traits(Traits::SINGLE_BLOCK)
            .verifier(verify_index_switch)
            .format("$arg attr-dict (`->` type($results)^)? custom<region-cases>"),
    ));
    r.add(
        many(OpDef::new("scf.yield", "gives the results of the enclosing op"), "results")
            .pure()
            .traits(Traits::TERMINATOR.and(Traits::YIELD))
            .parents(&["scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while"])
            .lowered_by(UPSTREAM_TO_KERNELS)
            .format("attr-dict ($results^ `:` type($results))?"),
    );
    let def = OpDef::new("scf.condition", "goes on with the loop, or ends it").operand("condition", I1);
    r.add(
        many(def, "args")
            .pure()
            .traits(Traits::TERMINATOR.and(Traits::YIELD))
            .parents(&["scf.while"])
            .lowered_by(UPSTREAM_TO_KERNELS)
            .format("`(` $condition `)` attr-dict ($args^ `:` type($args))?"),
    );
}

fn types(m: &Module, values: impl Iterator<Item = ValueId>) -> Vec<TypeId> {
    values.map(|v| m.value_type(v)).collect()
}

/// Checks that the entry arguments of region `index` have these types.
fn check_args(m: &Module, op: OpId, index: usize, want: &[TypeId], diags: &mut Vec<Diagnostic>) {
    let Some(entry) = m.entry(m.regions_of(op)[index]) else { return };
    let found = types(m, m.args(entry).iter().copied());
    if found != want {
        diags.push(errors::region_args(m, op, index, want, &found));
    }
}

/// Types that a terminator passes to the parent op; `None` for another op.
type YieldedTypes = fn(&Module, OpId) -> Option<Vec<TypeId>>;

const YIELDS: (&str, YieldedTypes) = ("scf.yield", |m, op| Some(types(m, Yield::of(m, op)?.results(m))));
const CONDITION: (&str, YieldedTypes) =
    ("scf.condition", |m, op| Some(types(m, Condition::of(m, op)?.args(m))));

/// Checks that the blocks of a region of `op` end with `name` and that it passes values of these types.
fn check_end(
    m: &Module,
    op: OpId,
    region: RegionId,
    (name, gives): (&str, YieldedTypes),
    want: &[TypeId],
    diags: &mut Vec<Diagnostic>,
) {
    for last in m.blocks_of(region).iter().filter_map(|b| m.last_op(*b)) {
        match gives(m, last) {
            Some(found) if found != want => diags.push(errors::yielded(m, last, want, &found, op)),
            Some(_) => {}
            // Branches and unregistered ops.
            None if !m.successors(last).is_empty() || m.def(last).is_none_or(|d| d.name == name) => {}
            None => diags.push(errors::wrong_end(m, last, name, op)),
        }
    }
}

fn verify_if(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(view) = If::of(m, op) else { return };
    let results = types(m, view.results(m));
    if !results.is_empty() && m.blocks_of(view.else_region(m)).is_empty() {
        diags.push(errors::no_else(m, op));
    }
    for (index, region) in [view.then_region(m), view.else_region(m)].into_iter().enumerate() {
        let blocks = m.blocks_of(region).len();
        if blocks > 1 {
            diags.push(errors::several_blocks(m, op, blocks));
        }
        check_args(m, op, index, &[], diags);
        check_end(m, op, region, YIELDS, &results, diags);
    }
}

fn verify_for(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(view) = For::of(m, op) else { return };
    // The table has checked that initial values and results agree.
    let args = types(m, [view.lower_bound(m)].into_iter().chain(view.init_args(m)));
    check_args(m, op, 0, &args, diags);
    check_end(m, op, view.region(m), YIELDS, &types(m, view.results(m)), diags);
}

fn verify_while(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(view) = While::of(m, op) else { return };
    let (inits, results) = (types(m, view.inits(m)), types(m, view.results(m)));
    check_args(m, op, 0, &inits, diags);
    check_args(m, op, 1, &results, diags);
    check_end(m, op, view.before(m), CONDITION, &results, diags);
    check_end(m, op, view.after(m), YIELDS, &inits, diags);
}

fn verify_execute_region(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(view) = ExecuteRegion::of(m, op) else { return };
    check_args(m, op, 0, &[], diags);
    check_end(m, op, view.region(m), YIELDS, &types(m, view.results(m)), diags);
}

/// The values of the cases of an `scf.index_switch`, in the order of the regions after the first.
pub(crate) fn case_values(m: &Module, switch: IndexSwitch) -> Vec<i64> {
    let Some(AttrKind::DenseArray { data, .. }) = switch.cases(m).map(|attr| m.cx.attr(attr)) else {
        return Vec::new();
    };
    let bytes: &[u8] = data;
    bytes.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok().map(i64::from_le_bytes)).collect()
}

fn verify_index_switch(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(view) = IndexSwitch::of(m, op) else { return };
    let (cases, regions) = (case_values(m, view), m.regions_of(op));
    if cases.len() + 1 != regions.len() {
        diags.push(errors::region_cases(m, op, cases.len(), regions.len().saturating_sub(1)));
    }
    let mut sorted = cases;
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        diags.push(errors::case_twice(m, op, twice[0]));
    }
    let results = types(m, view.results(m));
    for (index, &region) in regions.iter().enumerate() {
        check_args(m, op, index, &[], diags);
        check_end(m, op, region, YIELDS, &results, diags);
    }
}
