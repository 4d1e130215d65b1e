//! The description of a program, as JSON in an attribute.

use std::fmt::Write;

use befrost_tensor::tf::op::Type;

use super::entry::{end_of, function, port_names, result_names};
use super::step::{OptimizerSlot, StepPlan};
use super::variables::{self, Variable};
use super::{Clip, TRAINING};
use crate::build::query;
use crate::dialects::tf;
use crate::ir::{DYNAMIC, Module, OpId, names};
use crate::rewrite::Rewriter;

/// A text as a JSON string.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c < ' ' => _ = write!(quoted, "\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

fn or_null(item: Option<String>) -> String {
    item.unwrap_or_else(|| "null".to_owned())
}

/// The JSON fields of a name, an element type and a shape.
fn named(name: &str, ty: Type, dims: Option<&[i64]>) -> String {
    let dtype = ty.dtype().map_or_else(|| ty.to_string(), |dtype| dtype.name().to_owned());
    let shape = or_null(dims.map(|dims| list(dims.iter().map(i64::to_string))));
    format!("\"name\": {}, \"dtype\": {}, \"shape\": {shape}", text(name), text(&dtype))
}

/// The arguments of a function.
fn feeds(m: &Module, function: OpId) -> String {
    let block = end_of(m, function).and_then(|end| m.parent_block(end));
    let args = block.map_or(&[][..], |block| m.args(block));
    let names = port_names(m, function, names::ARG_ATTRS);
    list(args.iter().zip(names).map(|(&arg, name)| {
        let ty = m.value_type(arg);
        let dims = query::shape_of(m, ty)
            .map(|dims| dims.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect::<Vec<i64>>());
        let element = tf::type_of(&m.cx, ty).map_or(Type::Variant, |(ty, _)| ty);
        format!("{{{}}}", named(&name, element, dims.as_deref()))
    }))
}

/// Sets the attribute [`TRAINING`] of the step.
pub(super) fn describe(r: &mut Rewriter<'_>, plan: &StepPlan<'_>, slots: &[OptimizerSlot]) {
    let m = r.ir();
    let functions = ["init", "step", "evaluate", "predict"];
    let there = functions.iter().filter(|name| function(m, name).is_some());
    let there = there.map(|name| format!("\"{name}\": \"{name}\"")).collect::<Vec<_>>().join(", ");
    let metrics = function(m, "evaluate").map_or(Vec::new(), |function| result_names(m, function));
    let is_slot = |variable: &&Variable| slots.iter().any(|slot| slot.name == variable.name);
    let all = variables::all(m);
    let variables = all.iter().filter(|variable| !is_slot(variable)).map(|variable| {
        let Variable { name, ty, dims } = variable;
        let trainable = plan.trained.iter().any(|&i| plan.variables[i].0.name == *name);
        format!("{{{}, \"trainable\": {trainable}}}", named(name, *ty, dims.as_deref()))
    });
    let shown = |slot: &OptimizerSlot| {
        let of = slot.of.as_ref().map_or(String::new(), |of| format!(", \"variable\": {}", text(of)));
        format!("{{{}{of}}}", named(&slot.name, Type::Dense(slot.dtype), slot.dims.as_deref()))
    };
    let options = plan.options;
    let clip = options.clip.map(|clip| match clip {
        Clip::Value(value) => format!("{{\"kind\": \"value\", \"value\": {value:?}}}"),
        Clip::GlobalNorm(value) => format!("{{\"kind\": \"global_norm\", \"value\": {value:?}}}"),
    });
    let json = format!(
        "{{\"format\": 1, \"functions\": {{{there}}}, \"loss\": \"loss\", \"metrics\": {}, \"feeds\": {}, \
         \"variables\": {}, \"slots\": {}, \"state\": {}, \"steps\": {}, \"accumulate\": {}, \"optimizer\": {}, \
         \"schedule\": {}, \"clip\": {}, \"l2\": {}, \"weight_decay\": {}, \"groups\": {}}}",
        list(metrics.iter().skip(1).map(|name| text(name))),
        feeds(m, plan.step),
        list(variables),
        list(slots.iter().filter(|slot| !slot.counts).map(shown)),
        list(slots.iter().filter(|slot| slot.counts).map(shown)),
        or_null(options.steps.map(|steps| steps.to_string())),
        options.accumulate.max(1),
        or_null(options.optimizer.as_ref().map(super::Optimizer::json)),
        plan.schedule.json(),
        or_null(clip),
        or_null(options.l2.as_ref().map(super::Decay::json)),
        or_null(options.weight_decay.as_ref().map(super::Decay::json)),
        list(options.groups.iter().map(super::VariableGroup::json)),
    );
    let (name, json) = (r.cx().str_id(TRAINING), r.cx().str_attr(&json));
    r.set_attr(plan.step, name, json);
}
