//! The types of calls: a graph says them twice, at the caller and in the function.

use rustc_hash::FxHashMap;

use crate::dialects::tf::{Control, n_data_operands, n_data_results};
use crate::graph::callees;
use crate::import::errors::{self, Refusal};
use crate::ir::{Module, OpId, StrId, TypeId};

/// Checks that functions are called with elements of the types that they take and give.
pub(super) fn check(m: &Module) -> Result<(), Refusal> {
    let named = m.functions().into_iter().filter_map(|function| Some((m.symbol_name(function)?, function)));
    let functions: FxHashMap<StrId, OpId> = named.collect();
    for op in m.walk(m.top()) {
        let Some(control) = Control::of(m, op) else { continue };
        for name in callees(m, op) {
            if let Some((inputs, results)) = functions.get(&name).and_then(|&function| m.signature(function))
            {
                let checked = check_call(m, op, control, inputs, results);
                checked.map_err(|why| errors::function(m.cx.str(name), &why))?;
            }
        }
    }
    Ok(())
}

/// Compares the types of a call.
fn check_call(
    m: &Module,
    op: OpId,
    control: Control,
    inputs: &[TypeId],
    results: &[TypeId],
) -> Result<(), String> {
    let skipped = control.first_argument();
    let differ = |(ours, theirs): (TypeId, &TypeId)| m.cx.element(ours) != m.cx.element(*theirs);
    let (n_passed, n_given) = (n_data_operands(m, op).saturating_sub(skipped), n_data_results(m, op));
    if n_passed != inputs.len() {
        return Err(format!("it takes {} arguments, a call passes {n_passed}", inputs.len()));
    }
    let passed = m.operands(op).skip(skipped).take(n_passed).map(|value| m.value_type(value));
    if let Some(i) = passed.zip(inputs).position(differ) {
        return Err(format!("argument {i} of a call is of another type than the function takes"));
    }
    // The condition of a loop gives no result of it.
    let is_condition = control == Control::While && results.len() == 1;
    if n_given != results.len() && !is_condition {
        return Err(format!("it gives {} results, a call wants {n_given}", results.len()));
    }
    let given = m.results(op).take(n_given).map(|value| m.value_type(value));
    match given.zip(results).position(differ) {
        Some(i) if !is_condition => {
            Err(format!("result {i} of a call is of another type than the function gives"))
        }
        _ => Ok(()),
    }
}
