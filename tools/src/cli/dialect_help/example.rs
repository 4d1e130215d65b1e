//! An example line for each op: a program with the op is made from its definition, verified and printed.
//!
//! Operands have the names and attributes the kinds of the definition. Ops with regions or successors, and
//! those that relate operands and attributes by rules of their own, have an example in [`super::special`].

use super::special::{SPECIAL, WHOLE};
use befrost_compiler::dialects::format::PartRef;
use befrost_compiler::dialects::{
    Arity, AttrConstraint, AttrDef, ElementKind, OpDef, TypeConstraint, TypeFn, TypeSource,
};
use befrost_compiler::ir::{KnownType, Module, Traits};
use befrost_compiler::print::{PrintOptions, attr_text, print_op, type_text};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use befrost_tensor::tf::op::{Arg, ArgType, AttrKind, DefaultValue, OpRow, Type};

/// The example of an op on one line; `None` if the table has an error.
pub(super) fn example(def: &OpDef) -> Option<String> {
    if let Some((_, whole)) = WHOLE.iter().find(|(name, _)| *name == def.name) {
        return Some((*whole).to_owned());
    }
    let (args, body) = match SPECIAL.iter().find(|(name, _, _)| *name == def.name) {
        Some((_, args, body)) => ((*args).to_owned(), (*body).to_owned()),
        None => generic(def)?,
    };
    let end = if body.ends_with("return") { "" } else { "\ntfrt.return" };
    let text = format!("func.func @example({args}) {{\n{body}{end}\n}}\n{FUNCTIONS}");
    let parsed = parse("example", &text, &ParseOptions::default());
    let module = verify(parsed.module?).ok()?;
    let function = module.functions().into_iter().next()?;
    let options = PrintOptions { keep_names: true, local_scope: true, ..PrintOptions::default() };
    let printed = print_op(&module, function, &options);
    let mut lines: Vec<&str> = printed.lines().skip(1).collect();
    // The closing brace, and the return that is not part of the example.
    lines.pop();
    if !end.is_empty() {
        lines.pop();
    }
    // A block after the op is not part of the example either.
    let lines = lines.into_iter().take_while(|line| !line.starts_with('^')).map(str::trim);
    Some(lines.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}

/// The functions that examples call.
const FUNCTIONS: &str = "func.func @function(%x: i32) -> i32 {\ntfrt.return %x : i32\n}
func.func @block(%first: i32, %end: i32, %x: i32) -> !tfrt.chain {
%done = tfrt.new.chain\ntfrt.return %done : !tfrt.chain\n}
func.func @pass(%ch: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
tfrt.return %ch, %x : !tfrt.chain, !corert.tensorhandle\n}
func.func @sync(%x: i32) attributes {tfrt.sync} {\ntfrt.return\n}
func.func @step(%x: i32) -> (i32, i1) {\n%c = tfrt.constant.i1 false\ntfrt.return %x, %c : i32, i1\n}\n";

/// An op in generic form, from its definition.
fn generic(def: &OpDef) -> Option<(String, String)> {
    if !def.regions.is_empty() || !def.successors.is_empty() || !def.parents.is_empty() {
        return None;
    }
    if let Some(row) = def.row {
        return Some(of_row(def, row));
    }
    let mut m = Module::new();
    let types = types(&mut m, def);
    let is_shown = |arity: Arity| arity != Arity::Optional;
    let operands: Vec<(&str, String)> = def
        .operands
        .iter()
        .zip(&types.operands)
        .filter(|(o, _)| is_shown(o.arity))
        .map(|(o, ty)| (o.name, ty.clone()))
        .collect();
    let results: Vec<(&str, String)> = def
        .results
        .iter()
        .zip(&types.results)
        .filter(|(r, _)| is_shown(r.arity))
        .map(|(r, ty)| (r.name, ty.clone()))
        .collect();
    let mut attrs: Vec<String> = Vec::new();
    for attr in def.attrs.iter().filter(|attr| attr.required && attr.name != "operandSegmentSizes") {
        attrs.push(format!("{} = {}", attr.name, attribute(&mut m, attr)));
    }
    if def.traits.has(Traits::OPERAND_SEGMENTS) {
        let sizes: Vec<&str> =
            def.operands.iter().map(|o| if is_shown(o.arity) { "1" } else { "0" }).collect();
        attrs.push(format!("operandSegmentSizes = array<i32: {}>", sizes.join(", ")));
    }
    for i in 0..def.unnamed.0 {
        attrs.push(format!("attr{i} = 1 : i32"));
    }
    for i in 0..def.unnamed.1 {
        attrs.push(format!("function{i} = @function"));
    }
    Some(text(&def.name, &operands, &results, &attrs))
}

/// The arguments and the op with these names, types and attributes.
fn text(
    name: &str,
    operands: &[(&str, String)],
    results: &[(&str, String)],
    attrs: &[String],
) -> (String, String) {
    let list = |items: Vec<String>| items.join(", ");
    let args = list(operands.iter().map(|(name, ty)| format!("%{name}: {ty}")).collect());
    // Names of operands and results may be equal.
    let named = |name: &str| match operands.iter().any(|(operand, _)| *operand == name) {
        true => format!("%{name}_out"),
        false => format!("%{name}"),
    };
    let names = list(results.iter().map(|(name, _)| named(name)).collect());
    let equals = if results.is_empty() { "" } else { " = " };
    let passed = list(operands.iter().map(|(name, _)| format!("%{name}")).collect());
    let inputs = list(operands.iter().map(|(_, ty)| ty.clone()).collect());
    let outputs = list(results.iter().map(|(_, ty)| ty.clone()).collect());
    let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
    (args, format!("{names}{equals}\"{name}\"({passed}){attrs} : ({inputs}) -> ({outputs})"))
}

/// The types of declared operands and results.
struct Types {
    operands: Vec<String>,
    results: Vec<String>,
}

impl Types {
    fn get(&self, of: PartRef) -> Option<&String> {
        match of {
            PartRef::Operand(i) => self.operands.get(i),
            PartRef::Result(i) => self.results.get(i),
            PartRef::Operands | PartRef::Results => None,
        }
    }

    fn set(&mut self, of: PartRef, ty: String) {
        let place = match of {
            PartRef::Operand(i) => self.operands.get_mut(i),
            PartRef::Result(i) => self.results.get_mut(i),
            PartRef::Operands | PartRef::Results => None,
        };
        place.into_iter().for_each(|place| *place = ty.clone());
    }
}

fn types(m: &mut Module, def: &OpDef) -> Types {
    let name = |known: KnownType| type_text(&Module::new().cx, known.id());
    let sample = |ty: TypeConstraint| match ty {
        TypeConstraint::Is(known) => name(known),
        TypeConstraint::Any | TypeConstraint::AnyInteger => "i32".to_owned(),
        TypeConstraint::AnyFloat => "f32".to_owned(),
        TypeConstraint::Like(kind) | TypeConstraint::LikeOrMemRef(kind) => match kind {
            ElementKind::Bool => "i1",
            ElementKind::Integer | ElementKind::IntegerOrIndex => "i32",
            ElementKind::Float | ElementKind::IntegerOrFloat => "f32",
        }
        .to_owned(),
        TypeConstraint::Function => "(i32) -> i32".to_owned(),
        TypeConstraint::AnyTensor | TypeConstraint::TensorOr(_) => "tensor<1xf32>".to_owned(),
        TypeConstraint::Opaque(name) => name.to_owned(),
    };
    let mut types = Types {
        operands: def.operands.iter().map(|o| sample(o.ty)).collect(),
        results: def.results.iter().map(|r| sample(r.ty)).collect(),
    };
    // Rules may depend on one another.
    for _ in 0..3 {
        for rule in &def.type_rules {
            let from = match rule.from {
                TypeSource::Value(from) => types.get(from).cloned(),
                TypeSource::Attr(i) => def.attrs.get(i).and_then(|attr| {
                    let text = attribute(m, attr);
                    text.rsplit_once(" : ").map(|(_, ty)| ty.to_owned())
                }),
                TypeSource::Default(known) => Some(name(known)),
            };
            let Some(from) = from else { continue };
            let ty = match rule.by {
                TypeFn::Same => from,
                TypeFn::I1Like => "i1".to_owned(),
                TypeFn::Inputs | TypeFn::Outputs => "i32".to_owned(),
                TypeFn::Element => "f32".to_owned(),
            };
            types.set(rule.of, ty);
        }
    }
    types
}

/// An attribute that a definition accepts.
fn attribute(m: &mut Module, attr: &AttrDef) -> String {
    let name = |known: KnownType| type_text(&Module::new().cx, known.id());
    match attr.kind {
        AttrConstraint::Any | AttrConstraint::Typed => "1 : i32".to_owned(),
        AttrConstraint::Unit => "unit".to_owned(),
        AttrConstraint::Bool => "true".to_owned(),
        AttrConstraint::Int(KnownType::I1) => "true".to_owned(),
        AttrConstraint::Int(known) => format!("1 : {}", name(known)),
        AttrConstraint::Float(known) => format!("1.0 : {}", name(known)),
        AttrConstraint::Str => "\"text\"".to_owned(),
        AttrConstraint::FlatSymbol | AttrConstraint::Symbol => "@function".to_owned(),
        AttrConstraint::SymbolArray => "[@function]".to_owned(),
        AttrConstraint::Array | AttrConstraint::DictArray => "[]".to_owned(),
        AttrConstraint::IntArray(known) => format!("[1 : {}]", name(known)),
        AttrConstraint::NumberArray(known) => match known {
            KnownType::I1 => "[true]".to_owned(),
            KnownType::F16 | KnownType::BF16 | KnownType::F32 | KnownType::F64 => {
                format!("[1.0 : {}]", name(known))
            }
            _ => format!("[1 : {}]", name(known)),
        },
        AttrConstraint::DenseArray(known) => format!("array<{}: 1>", name(known)),
        AttrConstraint::Dict => "{}".to_owned(),
        AttrConstraint::Type => "i32".to_owned(),
        AttrConstraint::FunctionType => "() -> ()".to_owned(),
        AttrConstraint::Dense => "dense<1> : tensor<1xi32>".to_owned(),
        AttrConstraint::Enum(words) => {
            let first = words.words.first().and_then(|word| words.attr(&mut m.cx, word));
            first.map_or_else(String::new, |attr| attr_text(&m.cx, attr))
        }
        AttrConstraint::Flags(flags) => {
            flags.attr(&mut m.cx, 1).map_or_else(String::new, |attr| attr_text(&m.cx, attr))
        }
    }
}

/// An operator with operands of unknown shape.
fn of_row(def: &OpDef, row: &'static OpRow) -> (String, String) {
    let signature = row.signature();
    let words = |attr: &str| match attr {
        "padding" => "SAME",
        "equation" => "ij,jk->ik",
        "mode" => "REFLECT",
        "merge_op" => "Add",
        "direction" => "LEFT",
        "set_operation" => "union",
        "interpolation" => "NEAREST",
        _ => "",
    };
    let scalar = |ty: Type| match ty {
        Type::String => "!tf_type.string".to_owned(),
        Type::Resource => "!tf_type.resource".to_owned(),
        Type::Variant => "!tf_type.variant".to_owned(),
        Type::Dense(dtype) => match dtype.name() {
            "complex64" => "complex<f32>".to_owned(),
            "complex128" => "complex<f64>".to_owned(),
            name => name.to_owned(),
        },
    };
    // The attributes that types follow from.
    let is_index = |name: &str| {
        let prefixes = ["Index", "Tind", "Tidx", "Tshape", "Tpad", "Tmul", "Taxis"];
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let of_attr = |name: &str| match signature.attr(name).and_then(|attr| attr.default.as_ref()) {
        Some(DefaultValue::Type(ty)) => scalar(*ty),
        _ if is_index(name) => "i32".to_owned(),
        // Sums of quantized bytes are i32.
        _ if signature.attr(name).is_some_and(|attr| attr.is_quantized) => {
            if name == "out_type" { "i32" } else { "ui8" }.to_owned()
        }
        _ => "f32".to_owned(),
    };
    let tensor = |element: &str, is_ref: bool| match is_ref {
        true => format!("tensor<*x!tf_type.{}ref>", element.trim_start_matches("!tf_type.")),
        false => format!("tensor<*x{element}>"),
    };
    // A list whose length or types have a default is empty.
    let has_default = |name: &str| signature.attr(name).is_some_and(|attr| attr.default.is_some());
    let is_empty = |arg: &&Arg| match (arg.number, arg.ty) {
        (Some(number), _) => has_default(number),
        (None, ArgType::List(types)) => has_default(types),
        (None, _) => false,
    };
    let values = |args: &'static [Arg]| {
        args.iter().filter(|arg| !is_empty(arg)).map(|arg| {
            let element = match arg.ty {
                ArgType::Is(ty) => scalar(ty),
                ArgType::Attr(name) => of_attr(name),
                ArgType::List(_) => "f32".to_owned(),
            };
            (arg.name, tensor(&element, arg.is_ref))
        })
    };
    let operands: Vec<(&str, String)> = values(&signature.inputs).collect();
    let results: Vec<(&str, String)> = values(&signature.outputs).collect();
    let is_derived = |name: &str| befrost_compiler::dialects::tf::is_derived(signature, name);
    // A sampler by weights has no use for the default, no weights.
    let is_needed = |name: &str| name == "unigrams";
    let attrs = signature.attrs.iter().filter(|attr| attr.default.is_none() || is_needed(attr.name));
    let attrs = attrs.filter(|attr| !is_derived(attr.name));
    let is_of_volumes = ["3D", "Volume"].iter().any(|word| row.op_name.contains(word));
    let attrs = attrs.map(|attr| {
        let value = match attr.kind {
            AttrKind::Type => "f32".to_owned(),
            AttrKind::Int => "1 : i64".to_owned(),
            AttrKind::Float => "1.0 : f32".to_owned(),
            AttrKind::Bool => "true".to_owned(),
            AttrKind::String => format!("\"{}\"", words(attr.name)),
            AttrKind::Shape => "#tf_type.shape<2x3>".to_owned(),
            AttrKind::Tensor => "dense<1.0> : tensor<2xf32>".to_owned(),
            AttrKind::Func => "@function".to_owned(),
            AttrKind::List(AttrKind::Int) => match attr.name {
                "ksize" | "ksizes" | "strides" if is_of_volumes => "[1, 2, 2, 2, 1]",
                "ksize" | "ksizes" | "strides" | "rates" => "[1, 2, 2, 1]",
                "pooled_shape" => "[2, 2]",
                _ => "[1]",
            }
            .to_owned(),
            AttrKind::List(AttrKind::Type) => "[f32]".to_owned(),
            AttrKind::List(AttrKind::Func) => "[@function]".to_owned(),
            AttrKind::List(AttrKind::Float) => match attr.name {
                "pooling_ratio" => "[1.0 : f32, 1.5 : f32, 1.5 : f32, 1.0 : f32]",
                _ => "[1.0 : f32]",
            }
            .to_owned(),
            AttrKind::List(AttrKind::String) => "[\"Relu\"]".to_owned(),
            AttrKind::List(AttrKind::Shape) => "[#tf_type.shape<2x3>]".to_owned(),
            AttrKind::List(_) => "[]".to_owned(),
        };
        format!("{} = {value}", attr.name)
    });
    text(&def.name, &operands, &results, &attrs.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_compiler::dialects::Registry;

    #[test]
    fn every_op_has_an_example() {
        let without: Vec<&str> = Registry::standard()
            .iter()
            .filter(|def| example(def).is_none())
            .map(|def| def.name.as_str())
            .collect();
        assert!(without.is_empty(), "{} without: {without:?}", without.len());
    }
}
