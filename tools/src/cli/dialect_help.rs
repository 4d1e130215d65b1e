//! `ir-opt --help-dialects [DIALECT[.OP]]`: the op table as text.

mod example;
mod special;

use std::collections::BTreeMap;
use std::fmt::Write;

use befrost_compiler::dialects::{
    Access, Arity, AttrDef, Cost, DefaultValue, Effect, EffectResource, Effects, OpDef, OperandDef,
    OperandMode, RegionDef, Registry, ResultDef, SuccessorDef, Traits, TypeRule, TypeSource,
};

use super::failure::Failure;
use example::example;

/// All dialects, one of them, or one operation.
pub(super) fn help(registry: &Registry, what: &str) -> Result<String, Failure> {
    let mut dialects: BTreeMap<&str, Vec<&OpDef>> = BTreeMap::new();
    for def in registry.iter() {
        dialects.entry(def.dialect()).or_default().push(def);
    }
    if what.is_empty() {
        let mut text = String::new();
        for (dialect, ops) in &dialects {
            _ = writeln!(text, "{dialect}");
            ops.iter().for_each(|def| summary(def, &mut text));
            text.push('\n');
        }
        text.push_str(
            "Ops have kernels of their names. [lowered] marks those that a pass of the default pipeline replaces.\n\
             Say --help-dialects DIALECT or --help-dialects DIALECT.OP for more.\n",
        );
        return Ok(text);
    }
    if let Some(def) = registry.find(registry.full_name(what)) {
        return Ok(details(def));
    }
    if let Some(ops) = dialects.get(what) {
        return Ok(ops.iter().map(|def| details(def)).collect::<Vec<_>>().join("\n"));
    }
    // `tfrt.add` stands for its family.
    let family = format!("{what}.");
    let members: Vec<String> =
        registry.iter().filter(|def| def.name.starts_with(&family)).map(details).collect();
    if members.is_empty() {
        let names: Vec<&str> = dialects.keys().copied().collect();
        let message =
            format!("there is no dialect and no operation '{what}'; dialects: {}", names.join(", "));
        return Err(Failure::Usage(message));
    }
    Ok(members.join("\n"))
}

fn summary(def: &OpDef, text: &mut String) {
    let runs = match (def.has_kernel || !is_computed(def), def.lowered_by) {
        (true, _) => "",
        (false, Some(_)) => " [lowered]",
        (false, None) => " [does not run]",
    };
    _ = writeln!(text, "  {:<44} {}{runs}", def.name, def.summary);
}

fn details(def: &OpDef) -> String {
    let mut text = format!("{}: {}\n", def.name, def.summary);
    let mut line = |title: &str, items: Vec<String>| {
        if !items.is_empty() {
            _ = writeln!(text, "  {title:<12}{}", items.join(", "));
        }
    };
    line("operands", def.operands.iter().map(operand).collect());
    line("results", def.results.iter().map(result).collect());
    line("attributes", def.attrs.iter().map(attribute).collect());
    let (attrs, functions) = def.unnamed;
    if (attrs, functions) != (0, 0) {
        let all = format!("{attrs} attributes and {functions} functions of any names, in the order of these");
        line("unnamed", vec![all]);
    }
    line("regions", def.regions.iter().map(region).collect());
    line("successors", def.successors.iter().map(|to| successor(def, to)).collect());
    line("types", def.type_rules.iter().filter_map(|rule| type_rule(def, rule)).collect());
    line("inside", def.parents.iter().map(|&parent| parent.to_owned()).collect());
    line("traits", def.traits.names().into_iter().map(str::to_owned).collect());
    line("effects", effects(&def.effects));
    line("form", def.format.iter().map(|format| format!("{} {}", def.name, format.text)).collect());
    line("example", example(def).into_iter().collect());
    line("patterns", rewrites(def));
    let mode = if def.sync { "synchronous" } else { "asynchronous" };
    let strict = if def.is_strict() { "strict" } else { "not strict" };
    if def.has_kernel {
        line("kernels", vec![format!("{} (host, {mode}, {strict})", def.name)]);
    } else if is_computed(def) {
        line(
            "kernels",
            vec![match def.lowered_by {
                Some(pass) => format!("none of its own: {pass} lowers it, which is in the default pipeline"),
                None => "none yet: the op cannot be executed".to_owned(),
            }],
        );
    }
    line("gradient", def.gradient.iter().map(|gradient| gradient.describe().to_owned()).collect());
    if let Cost::Fixed(cost) = def.cost {
        line("cost", vec![cost.to_string()]);
    }
    if def.accepts_implicit_chain() {
        line("chain", vec!["one more chain is accepted as the last operand".to_owned()]);
    }
    text
}

fn operand(def: &OperandDef) -> String {
    let OperandDef { name, ty, arity, mode } = def;
    let mode = match mode {
        OperandMode::Required => "",
        OperandMode::Lenient => " (lenient)",
        OperandMode::Order => " (order)",
        OperandMode::After => " (after)",
    };
    format!("{name}: {}{}{mode}", ty.describe(), suffix(*arity))
}

fn result(def: &ResultDef) -> String {
    let ResultDef { name, ty, arity } = def;
    format!("{name}: {}{}", ty.describe(), suffix(*arity))
}

fn attribute(def: &AttrDef) -> String {
    let AttrDef { name, kind, required, default } = def;
    let unless = match (default, required) {
        (Some(DefaultValue::Int(n)), _) => format!(" ({n} if not given)"),
        (None, true) => String::new(),
        (None, false) => " (optional)".to_owned(),
    };
    format!("{name}: {}{unless}", kind.describe())
}

fn region(def: &RegionDef) -> String {
    let RegionDef { name, may_be_empty, implicit } = def;
    let end = implicit.map_or_else(String::new, |end| format!(", ends with {end} if nothing else is said"));
    format!("{name}{}{end}", if *may_be_empty { " (may be empty)" } else { "" })
}

fn successor(def: &OpDef, to: &SuccessorDef) -> String {
    let SuccessorDef { name, arity, operands, counts } = to;
    let given = operands.and_then(|i| def.operands.get(i)).map(|o| format!(" gets {}", o.name));
    let counts = counts.map(|counts| format!(" by {counts}"));
    format!("{name}{}{}{}", suffix(*arity), given.unwrap_or_default(), counts.unwrap_or_default())
}

/// `sum: the same type as lhs`.
fn type_rule(def: &OpDef, rule: &TypeRule) -> Option<String> {
    let TypeRule { of, from, by } = rule;
    let of = def.value_name(*of)?;
    Some(match from {
        TypeSource::Value(from) => format!("{of}: {} {}", by.describe(), def.value_name(*from)?),
        TypeSource::Attr(i) => format!("{of}: {} {}", by.describe(), def.attrs.get(*i)?.name),
        TypeSource::Default(ty) => format!("{of}: {} unless written", ty.name()),
    })
}

/// The canonicalizations of the op.
fn rewrites(def: &OpDef) -> Vec<String> {
    let folding = def.folder.is_some().then(|| "folding".to_owned());
    folding.into_iter().chain(def.patterns.iter().map(|pattern| pattern.name.to_owned())).collect()
}

/// True if executing the op itself requires work.
fn is_computed(def: &OpDef) -> bool {
    let holds = [Traits::SYMBOL, Traits::SYMBOL_TABLE, Traits::RETURN];
    !holds.iter().any(|t| def.traits.has(*t))
}

fn suffix(arity: Arity) -> &'static str {
    match arity {
        Arity::One => "",
        Arity::Optional => "?",
        Arity::Variadic => "...",
    }
}

fn effects(effects: &Effects) -> Vec<String> {
    match effects {
        Effects::Unknown => vec!["unknown".to_owned()],
        Effects::Pure => vec!["none".to_owned()],
        Effects::Recursive => vec!["those of the operations inside".to_owned()],
        Effects::OfCallees => vec!["those of the functions that it calls".to_owned()],
        Effects::List(list) => list.iter().map(effect).collect(),
    }
}

fn effect(effect: &Effect) -> String {
    let Effect { on, access } = effect;
    let verb = match access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::Alloc => "allocates",
        Access::Free => "frees",
    };
    match on {
        EffectResource::Operand(i) => format!("{verb} operand #{i}"),
        EffectResource::Result(i) => format!("{verb} result #{i}"),
        EffectResource::Output => format!("{verb} the output"),
        EffectResource::ExecutionContext => format!("{verb} the execution context"),
        EffectResource::State => format!("{verb} state"),
    }
}
