//! `tf-lower-precision`: products with constant weights are computed in bf16 or in bytes.
//!
//! ```text
//! Conv2D(x, w)  ─▶  Conv2D(x, w) {_precision = "int8", _input_range = [-1.0, 6.0]}     then tf-pack-weights
//! ```
//!
//! The pass sets the attribute `_precision` of products; `tf-pack-weights`, which follows, packs their
//! weights in this precision, and the kernel computes in the precision of the weights. A product that has the
//! attribute already keeps it: `"f32"` leaves the product as it is. Accumulators, all other ops, and the
//! tensors between products are f32. Depthwise convolutions, sums of few terms and products of two variables
//! are f32 too.
//!
//! The bytes of an input represent the numbers of a range. The option `ranges` gives the ranges for the
//! products of the function `function`: `low:high` for each input, in the order in which products first use
//! them. For other products the kernel computes a range for each row of a matrix and each image.
//!
//! To collect ranges, `observe` returns these inputs from the function, as results after its own, and lowers
//! nothing. The passes before must be the same both times.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Fusion, ProductForm, ProductOps};
use rustc_hash::{FxHashMap, FxHashSet};

use super::signatures;
use crate::build::query::{dims, dtype, flag};
use crate::diag::{Diagnostic, Severity};
use crate::dialects::{Traits, tf};
use crate::fold::constant_of;
use crate::ir::{AttrId, AttrKind, Module, OpId, ValueId, names};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};

/// The attribute for the precision of a product's weights.
pub(super) const PRECISION: &str = "_precision";
/// The attribute for the range of a product's input.
pub(super) const INPUT_RANGE: &str = "_input_range";
/// The names of the results that are observed inputs, before their numbers.
pub const OBSERVED: &str = "observed:";

pub(crate) const PASS: Pass = Pass {
    name: "tf-lower-precision",
    title: "TFLowerPrecision",
    summary: "computes products with constant weights in a lower precision",
    options: &[
        PassOption {
            name: "precision",
            summary: "Of weights and inputs: with f32 nothing changes.",
            kind: OptionKind::Word("f32", &["f32", "bf16", "int8"]),
        },
        PassOption {
            name: "function",
            summary: "The function whose products have known ranges, or are observed.",
            kind: OptionKind::Text("main"),
        },
        PassOption {
            name: "ranges",
            summary: "For int8, low:high,... of each product's input; of none they are found at run time.",
            kind: OptionKind::Text(""),
        },
        PassOption {
            name: "observe",
            summary: "Whether to return the products' inputs from the function, and change nothing else.",
            kind: OptionKind::Flag(false),
        },
    ],
    statistics: &[("num-lowered", "Number of products of a lower precision")],
    run,
};

/// Fewer steps than these are not worth the conversion of their input.
const MIN_STEPS: i64 = 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let function = m
        .functions()
        .into_iter()
        .find(|&function| m.symbol_name(function).is_some_and(|name| m.cx.str(name) == cx.text("function")));
    let inputs = function.map_or(Vec::new(), |function| inputs_of(m, function));
    if cx.flag("observe") {
        if let Some(function) = function {
            observe(r, function, &inputs);
        }
        return r.change();
    }
    let precision = cx.text("precision");
    if precision == "f32" {
        return Change::Unchanged;
    }
    let ranges = match ranges(cx.text("ranges"), inputs.len()) {
        Ok(ranges) => ranges,
        Err(why) => {
            cx.report(Diagnostic::error("E0514", why));
            return Change::Unchanged;
        }
    };
    let of_input: FxHashMap<ValueId, (f32, f32)> = inputs.into_iter().zip(ranges).collect();
    let products: Vec<OpId> = m.walk_functions().filter(|&op| is_product(m, op)).collect();
    if products.is_empty() {
        let message = format!("precision {precision} changes nothing: there is no product to lower");
        let note = format!(
            "lowered are matrix products and convolutions of f32 with constant weights and {MIN_STEPS} or more terms"
        );
        cx.report(Diagnostic::error("E0515", message).with_severity(Severity::Warning).note(None, note));
    }
    for op in products {
        let m = r.ir();
        let x = m.operand(op, 0);
        let range = of_input.get(&x).copied();
        set(r, op, PRECISION, |r| r.cx().str_attr(precision));
        if let Some(range) = range.filter(|_| precision == "int8") {
            set(r, op, INPUT_RANGE, |r| {
                let ends = [range.0, range.1].map(|end| r.cx().f32_attr(end));
                r.cx().array_attr(&ends)
            });
        }
        cx.count("num-lowered", 1);
    }
    r.change()
}

fn set(r: &mut Rewriter<'_>, op: OpId, name: &str, value: impl FnOnce(&mut Rewriter<'_>) -> AttrId) {
    let (name, value) = (r.cx().str_id(name), value(r));
    r.set_attr(op, name, value);
}

/// True for a product of f32 with constant weights that no attribute gives a precision.
fn is_product(m: &Module, op: OpId) -> bool {
    let product = tf::row(m, op).map(|row| row.fusion());
    let Some(Fusion::Product(
        product @ (ProductOps::MATMUL | ProductOps::CONV2D),
        ProductForm::Plain | ProductForm::Fused | ProductForm::General,
    )) = product
    else {
        return false;
    };
    if tf::n_data_operands(m, op) < 2 || m.attr_named(op, PRECISION).is_some() {
        return false;
    }
    let (x, w) = (m.operand(op, 0), m.operand(op, 1));
    let is_f32 = [x, w].into_iter().all(|value| dtype(m, value) == Some(DType::F32));
    let Some(dims) = dims(m, w).filter(|_| is_f32 && constant_of(m, w).is_some()) else { return false };
    let steps = match product {
        ProductOps::CONV2D => dims.iter().rev().skip(1).fold(1i64, |n, &dim| n.saturating_mul(dim)),
        _ => match *dims {
            [_, columns] if flag(m, op, "transpose_b") || flag(m, op, "adj_y") => columns,
            [rows, _] => rows,
            // The contracted axes come first; which they are, the packing finds out.
            _ => dims.first().copied().unwrap_or(0),
        },
    };
    steps >= MIN_STEPS
}

/// The inputs of the products in a function's block, in the order of their first use.
fn inputs_of(m: &Module, function: OpId) -> Vec<ValueId> {
    let Some(block) = m.only_block(function) else { return Vec::new() };
    let mut seen = FxHashSet::default();
    let inputs = m.ops_in(block).filter(|&op| is_product(m, op)).map(|op| m.operand(op, 0));
    inputs.filter(|&input| seen.insert(input)).collect()
}

/// The ends of ranges, as many as inputs, or none.
fn ranges(text: &str, inputs: usize) -> Result<Vec<(f32, f32)>, String> {
    let number = |text: &str| text.parse::<f32>().ok().filter(|number| number.is_finite());
    let range = |text: &str| {
        let ends = text.split_once(':').and_then(|(low, high)| Some((number(low)?, number(high)?)));
        ends.filter(|(low, high)| low <= high).ok_or_else(|| format!("'{text}' is no range low:high"))
    };
    let ranges = text.split(',').filter(|part| !part.is_empty()).map(range).collect::<Result<Vec<_>, _>>()?;
    if !ranges.is_empty() && ranges.len() != inputs {
        return Err(format!(
            "{} ranges for {inputs} inputs of products: they are another model's",
            ranges.len()
        ));
    }
    Ok(ranges)
}

/// Returns the inputs from the function.
fn observe(r: &mut Rewriter<'_>, function: OpId, inputs: &[ValueId]) {
    let m = r.ir();
    let end = m
        .only_block(function)
        .and_then(|block| m.last_op(block))
        .filter(|&end| m.traits(end).has(Traits::RETURN));
    let Some(end) = end else { return };
    let own: Vec<ValueId> = m.operands(end).collect();
    let mut dicts = match m.attr(function, names::RES_ATTRS).map(|attr| m.cx.attr(attr)) {
        Some(AttrKind::Array(dicts)) => dicts.to_vec(),
        _ => Vec::new(),
    };
    let none = r.cx().dict_attr(&[]);
    dicts.resize(own.len(), none);
    for i in 0..inputs.len() {
        let name = r.cx().str_attr(&format!("{OBSERVED}{i}"));
        dicts.push(r.cx().dict_attr(&[(names::BEF_NAME, name)]));
    }
    let dicts = r.cx().array_attr(&dicts);
    r.set_operands(end, &[&own, inputs].concat());
    r.set_attr(function, names::RES_ATTRS, dicts);
    signatures::refresh(r);
}
