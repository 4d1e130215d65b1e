//! Calls, branches and loops, of functions and of regions.

use std::collections::HashSet;
use std::rc::Rc;

use befrost_compiler::dialects::tf;
use befrost_compiler::ir::{AttrKind, Module, OpId, StrId, ValueId};
use befrost_tensor::{DType, bf16, f16};

use super::interpreter::{Env, TfInterpreter, first_error, is_chain};
use super::state::Strictness;
use super::value::{TfValue, invalid};
use crate::oracle::Refusal;
use crate::oracle::frames::{Stop, place};
use crate::oracle::value::OracleError;

/// True if an op runs functions or regions.
pub(super) fn is_control(name: &str) -> bool {
    matches!(
        name,
        "PartitionedCall"
            | "StatefulPartitionedCall"
            | "If"
            | "StatelessIf"
            | "IfRegion"
            | "Case"
            | "StatelessCase"
            | "CaseRegion"
            | "While"
            | "StatelessWhile"
            | "WhileRegion"
    )
}

/// The functions that an op of control flow names: the callee, the branches in order, or condition and body.
pub(super) fn callees(m: &Module, op: OpId) -> Vec<StrId> {
    let symbol = |attr| match m.cx.attr(attr) {
        AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
        _ => None,
    };
    let named = ["f", "then_branch", "else_branch", "cond", "body"];
    let mut found: Vec<StrId> = named.iter().filter_map(|name| symbol(m.attr_named(op, name)?)).collect();
    if let Some(AttrKind::Array(branches)) = m.attr_named(op, "branches").map(|attr| m.cx.attr(attr)) {
        found.extend(branches.iter().filter_map(|&branch| symbol(branch)));
    }
    found
}

/// The body that an op runs: a function, or one of its regions.
#[derive(Clone, Copy)]
enum ControlBody {
    Function(StrId),
    Region(usize),
}

/// Runs an op of control flow. Returns its results without its completion.
pub(super) fn run(
    i: &mut TfInterpreter<'_, '_>,
    op: OpId,
    name: &str,
    operands: Vec<TfValue>,
    env: &mut Env,
) -> Result<Vec<TfValue>, Refusal> {
    let m = i.module;
    let n = tf::n_data_operands(m, op);
    let mut results = match error_before(i, op, name, &operands, n, env) {
        Some(failure) => vec![TfValue::Error(failure); tf::n_data_results(m, op)],
        None => {
            let mut data = operands;
            data.truncate(n);
            let bodies: Vec<ControlBody> = match name.ends_with("Region") {
                true => (0..m.regions_of(op).len()).map(ControlBody::Region).collect(),
                false => callees(m, op).into_iter().map(ControlBody::Function).collect(),
            };
            match name {
                "PartitionedCall" | "StatefulPartitionedCall" => body(i, op, bodies.first(), data, env)?,
                "While" | "StatelessWhile" | "WhileRegion" => repeat(i, op, &bodies, data, env)?,
                _ => choose(i, op, name, &bodies, data, env)?,
            }
        }
    };
    // A failed effect ends a loop, and all its results that are not errors become the effect's error.
    if let Some(failure) = i.earlier_failure(op) {
        let is_loop = name.contains("While");
        for result in results.iter_mut().filter(|result| is_loop && result.error().is_none()) {
            *result = TfValue::Error(failure.clone());
        }
    }
    Ok(results)
}

/// The error that keeps an op from running.
fn error_before(
    i: &mut TfInterpreter<'_, '_>,
    op: OpId,
    name: &str,
    operands: &[TfValue],
    n_data: usize,
    env: &Env,
) -> Option<Rc<OracleError>> {
    let (data, edges) = operands.split_at(n_data);
    let is_branch = name.contains("If") || name.contains("Case");
    let required = if i.strictness == Strictness::Strict { n_data } else { usize::from(is_branch) };
    let (captured, captured_edges) = captured(i.module, op, env);
    let captured = captured.iter().filter(|_| i.strictness == Strictness::Strict);
    let values = data.iter().take(required).chain(captured).chain(edges).chain(&captured_edges);
    let failure = first_error(values);
    if let Some(failure) = &failure {
        i.record_failure(op, failure);
    }
    failure.or_else(|| i.earlier_failure(op))
}

/// The values and control edges that an op's regions use from outside.
fn captured(m: &Module, op: OpId, env: &Env) -> (Vec<TfValue>, Vec<TfValue>) {
    let mut inside: HashSet<ValueId> = HashSet::new();
    let (mut data, mut edges) = (Vec::new(), Vec::new());
    for inner in m.walk(op) {
        let blocks = m.regions_of(inner).iter().flat_map(|&region| m.blocks_of(region));
        inside.extend(blocks.flat_map(|&block| m.args(block)));
        if inner != op {
            inside.extend(m.results(inner));
        }
    }
    for inner in m.walk(op).filter(|&inner| inner != op) {
        for value in m.operands(inner).filter(|&value| inside.insert(value)) {
            let list = if is_chain(m, value) { &mut edges } else { &mut data };
            list.extend(env.get(&value).cloned());
        }
    }
    (data, edges)
}

/// Runs a body.
fn body(
    i: &mut TfInterpreter<'_, '_>,
    op: OpId,
    body: Option<&ControlBody>,
    arguments: Vec<TfValue>,
    env: &mut Env,
) -> Result<Vec<TfValue>, Refusal> {
    match body {
        Some(&ControlBody::Function(name)) => i.call(name, arguments),
        Some(&ControlBody::Region(region)) => i.block(i.region(op, region)?, arguments, env),
        None => Err(Refusal(format!("'{}' without a body", i.module.op_name_str(op)))),
    }
}

/// Runs one of several bodies.
fn choose(
    i: &mut TfInterpreter<'_, '_>,
    op: OpId,
    name: &str,
    bodies: &[ControlBody],
    mut data: Vec<TfValue>,
    env: &mut Env,
) -> Result<Vec<TfValue>, Refusal> {
    if data.is_empty() || bodies.is_empty() {
        return Err(Refusal(format!("'{name}' of nothing")));
    }
    let arguments = data.split_off(1);
    let chosen = match name.contains("Case") {
        true => number(&data[0]).map(|n| n.filter(|&n| n < bodies.len()).unwrap_or(bodies.len() - 1)),
        false => is_true(&data[0]).map(|is_true| usize::from(!is_true)),
    };
    match chosen {
        Ok(chosen) => body(i, op, bodies.get(chosen), arguments, env),
        Err(stop) => {
            let failure = failure(i, op, stop)?;
            Ok(vec![TfValue::Error(failure); tf::n_data_results(i.module, op)])
        }
    }
}

/// Runs a body while a condition holds.
fn repeat(
    i: &mut TfInterpreter<'_, '_>,
    op: OpId,
    bodies: &[ControlBody],
    mut values: Vec<TfValue>,
    env: &mut Env,
) -> Result<Vec<TfValue>, Refusal> {
    // `callees` returns the condition first, which is also the first region.
    let [cond, step] = bodies else { return Err(Refusal("a loop without a body".to_owned())) };
    loop {
        i.iterate()?;
        let strict = i.strictness == Strictness::Strict;
        let error = first_error(values.iter().filter(|_| strict)).or_else(|| i.earlier_failure(op));
        let answer = match error {
            Some(failure) => TfValue::Error(failure),
            None => body(i, op, Some(cond), values.clone(), env)?.remove(0),
        };
        let goes_on = match &answer {
            TfValue::Error(failure) => Err(failure.clone()),
            answer => match is_true(answer) {
                Ok(goes_on) => Ok(goes_on),
                Err(stop) => Err(failure(i, op, stop)?),
            },
        };
        match goes_on {
            Ok(true) => values = body(i, op, Some(step), values, env)?,
            Ok(false) => return Ok(values),
            Err(failure) => {
                i.record_failure(op, &failure);
                return Ok(vec![TfValue::Error(failure); values.len()]);
            }
        }
    }
}

/// The failure of an op at its location. Records it if the op has effects.
fn failure(i: &mut TfInterpreter<'_, '_>, op: OpId, stop: Stop) -> Result<Rc<OracleError>, Refusal> {
    match stop {
        Stop::Refused(why) => Err(Refusal(why)),
        Stop::Fails { code, message, .. } => {
            let trace = place(i.module, i.module.loc(op)).into_iter().collect();
            let failure = Rc::new(OracleError { code, message, trace });
            i.record_failure(op, &failure);
            Ok(failure)
        }
    }
}

/// The truth of a condition: a scalar is true if it is not zero, a tensor of another rank if it is not empty.
fn is_true(value: &TfValue) -> Result<bool, Stop> {
    let x = match value {
        TfValue::Tensor(x) => x,
        other => return Err(other.is_not("a tensor")),
    };
    if x.shape().rank() > 0 {
        return Ok(x.num_elements() > 0);
    }
    Ok(match x.dtype() {
        DType::F16 => x.read::<f16>()?[0] != f16::from_f32(0.0),
        DType::BF16 => x.read::<bf16>()?[0] != bf16::from_f32(0.0),
        DType::F32 => x.read::<f32>()?[0] != 0.0,
        DType::F64 => x.read::<f64>()?[0] != 0.0,
        _ => x.read_bytes()?.iter().any(|&byte| byte != 0),
    })
}

/// The index of a branch; `None` if it is negative.
fn number(value: &TfValue) -> Result<Option<usize>, Stop> {
    let x = value.tensor()?;
    match (x.num_elements(), x.dtype()) {
        (1, DType::I32) => Ok(usize::try_from(x.read::<i32>()?[0]).ok()),
        _ => Err(invalid(format!("a branch index of {} and shape {}", x.dtype(), x.shape()))),
    }
}
