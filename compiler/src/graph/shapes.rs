//! `tf-shape-inference`: what is known of the shapes of all values.
//!
//! ```text
//! arguments ──rules of the tensor library, op by op──▶ results ──▶ arguments of callees ──▶ results of calls ──▶ ... to a fixpoint
//! ```
//!
//! What was known stays known. A private function whose every use is a call gets what all of these agree on. The values that a loop carries keep
//! what is written; a shape that no operand can have is left to fail when it runs, since it may never run.

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Operand, infer, signature};
use rustc_hash::FxHashMap;

use super::effects::{body, callees, functions};
use super::signatures;
use crate::dialects::tf;
use crate::fold::constant_of;
use crate::ir::{AttrKind, DYNAMIC, Module, OpId, StrId, TypeId, TypeKind, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-shape-inference",
    title: "TFShapeInference",
    summary: "finds the shapes of all values of TensorFlow's operators that can be known",
    options: &[],
    statistics: &[("num-refined", "Number of types that became more exact")],
    run,
};

/// So often functions are looked at again when what they call or what calls them has become known better.
const MAX_ROUNDS: usize = 16;

/// Constants of more elements are not looked into.
const MAX_LOOKED_AT: usize = 1 << 12;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    for _ in 0..MAX_ROUNDS {
        let refined = round(r);
        cx.count("num-refined", refined);
        if refined == 0 {
            break;
        }
        signatures::refresh(r);
    }
    r.change()
}

fn round(r: &mut Rewriter<'_>) -> u64 {
    let functions = functions(r.ir());
    let mut order: Vec<OpId> = functions.values().copied().collect();
    order.sort_by_key(|op| op.0);
    let mut refined = 0;
    for &function in &order {
        for op in body(r.ir(), function) {
            refined += one(r, op, &functions);
        }
    }
    refined + arguments(r, &order)
}

/// The shape of a tensor type.
pub(super) fn shape_of(m: &Module, ty: TypeId) -> PartialShape {
    let dims = match m.cx.ty(ty) {
        TypeKind::Tensor { shape: Some(dims), .. } => dims,
        _ => return PartialShape::unknown(),
    };
    let dims: Vec<i64> = dims.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect();
    PartialShape::from_i64(&dims).unwrap_or_else(|_| PartialShape::unknown())
}

/// Makes a value's type say what `shape` says as well; whether that was news.
fn refine(r: &mut Rewriter<'_>, value: ValueId, shape: &PartialShape) -> u64 {
    let m = r.ir();
    let old = m.value_type(value);
    if !matches!(m.cx.ty(old), TypeKind::Tensor { .. }) {
        return 0;
    }
    let Some(merged) = shape_of(m, old).merged(shape) else { return 0 };
    let element = m.cx.element(old);
    let new = tf::tensor(r.cx(), merged.dims().as_deref(), element);
    if new == old {
        return 0;
    }
    r.set_type(value, new);
    1
}

/// Infers the results of one op.
fn one(r: &mut Rewriter<'_>, op: OpId, functions: &FxHashMap<StrId, OpId>) -> u64 {
    let m = r.ir();
    let Some(name) = tf::op_of(m.op_name_str(op)) else { return 0 };
    if tf::is_lowered(name) {
        return call(r, op, functions);
    }
    let n_results = tf::n_data_results(m, op);
    let results: Vec<ValueId> = m.results(op).take(n_results).collect();
    let shapes = match name {
        "Const" => {
            m.attr(op, names::VALUE).and_then(|attr| m.cx.attr_type(attr)).map(|ty| vec![shape_of(m, ty)])
        }
        name if tf::PASSING.contains(&name) => {
            Some(m.operands(op).take(n_results).map(|value| shape_of(m, m.value_type(value))).collect())
        }
        _ => inferred(m, op, name),
    };
    let shapes = shapes.unwrap_or_default();
    results.into_iter().zip(&shapes).map(|(value, shape)| refine(r, value, shape)).sum()
}

fn inferred(m: &Module, op: OpId, name: &str) -> Option<Vec<PartialShape>> {
    let signature = signature(name)?;
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let n = tf::n_data_operands(m, op);
    let constants: Vec<_> = m
        .operands(op)
        .take(n)
        .map(|value| {
            let attr = constant_of(m, value)?;
            let small = shape_of(m, m.cx.attr_type(attr)?).shape()?.num_elements() <= MAX_LOOKED_AT;
            if small { tf::dense_tensor(&m.cx, attr, &plain) } else { None }
        })
        .collect();
    let operands: Option<Vec<Operand<'_>>> = m
        .operands(op)
        .take(n)
        .zip(&constants)
        .map(|(value, constant)| {
            let ty = m.value_type(value);
            let (element, _) = tf::type_of(&m.cx, ty)?;
            let dims = if constant.is_some() { None } else { known_dims(m, value) };
            Some(Operand { ty: element, shape: shape_of(m, ty), constant: constant.as_ref(), dims })
        })
        .collect();
    let results = infer(name, &tf::attrs_of(m, op, &signature), &operands?).ok()?;
    Some(results.into_iter().map(|result| result.shape).collect())
}

/// What is known of a vector of dimensions that is no constant.
fn known_dims(m: &Module, value: ValueId) -> Option<PartialShape> {
    let op = m.defining_op(value)?;
    match tf::op_of(m.op_name_str(op))? {
        "Shape" => Some(shape_of(m, m.value_type(m.operand(op, 0)))),
        "Pack" => {
            let n = tf::n_data_operands(m, op);
            let dims: Vec<i64> =
                m.operands(op).take(n).map(|value| known_size(m, value).unwrap_or(-1)).collect();
            PartialShape::from_i64(&dims).ok()
        }
        "Identity" | "Cast" => known_dims(m, m.operand(op, 0)),
        _ => None,
    }
}

/// A number that is a constant, or one dimension of a value.
fn known_size(m: &Module, value: ValueId) -> Option<i64> {
    if let Some(size) = ints(m, value) {
        return size.first().copied();
    }
    let op = m.defining_op(value)?;
    if tf::op_of(m.op_name_str(op))? != "StridedSlice"
        || m.attr_named(op, "shrink_axis_mask").and_then(|a| m.cx.as_int(a)) != Some(1)
    {
        return None;
    }
    let of = m.defining_op(m.operand(op, 0)).filter(|&of| m.op_name_str(of) == "tf.Shape")?;
    let at = *ints(m, m.operand(op, 1))?.first()?;
    let dims = shape_of(m, m.value_type(m.operand(of, 0))).dims()?;
    let at = if at < 0 { at + dims.len() as i64 } else { at };
    dims.get(usize::try_from(at).ok()?).copied().filter(|&dim| dim >= 0)
}

/// The numbers of a constant of integers.
pub(super) fn ints(m: &Module, value: ValueId) -> Option<Vec<i64>> {
    let attr = constant_of(m, value)?;
    shape_of(m, m.cx.attr_type(attr)?).shape().filter(|shape| shape.num_elements() <= MAX_LOOKED_AT)?;
    let tensor = tf::dense_tensor(&m.cx, attr, &(Malloc::shared() as Arc<dyn Allocator>))?;
    match tensor.dtype() {
        befrost_tensor::DType::I32 => {
            Some(tensor.read::<i32>().ok()?.iter().map(|&n| i64::from(n)).collect())
        }
        befrost_tensor::DType::I64 => Some(tensor.read::<i64>().ok()?.to_vec()),
        _ => None,
    }
}

/// What the functions return that an op calls.
fn call(r: &mut Rewriter<'_>, op: OpId, functions: &FxHashMap<StrId, OpId>) -> u64 {
    let m = r.ir();
    if !matches!(
        tf::op_of(m.op_name_str(op)),
        Some("PartitionedCall" | "StatefulPartitionedCall" | "If" | "StatelessIf" | "Case" | "StatelessCase")
    ) {
        return 0;
    }
    let called = callees(m, op);
    let returns = called.iter().map(|name| {
        let function = functions.get(name)?;
        let end = body(m, *function).last().copied()?;
        Some(m.operands(end).map(|value| shape_of(m, m.value_type(value))).collect::<Vec<_>>())
    });
    let Some(returns) = returns.collect::<Option<Vec<_>>>() else { return 0 };
    let results: Vec<ValueId> = m.results(op).take(tf::n_data_results(m, op)).collect();
    let mut refined = 0;
    for (i, value) in results.into_iter().enumerate() {
        let all: Option<Vec<&PartialShape>> = returns.iter().map(|shapes| shapes.get(i)).collect();
        if let Some(shape) = all.and_then(common) {
            refined += refine(r, value, &shape);
        }
    }
    refined
}

/// What all of these shapes are.
fn common(shapes: Vec<&PartialShape>) -> Option<PartialShape> {
    let mut dims = shapes.first()?.dims()?;
    for shape in shapes {
        let other = shape.dims().filter(|other| other.len() == dims.len())?;
        dims.iter_mut().zip(other).for_each(|(dim, other)| *dim = if *dim == other { other } else { -1 });
    }
    PartialShape::from_i64(&dims).ok()
}

/// Gives private functions what their callers pass.
fn arguments(r: &mut Rewriter<'_>, order: &[OpId]) -> u64 {
    let m = r.ir();
    let mut passed: FxHashMap<StrId, Option<Vec<Vec<PartialShape>>>> = FxHashMap::default();
    for &function in order {
        for op in body(m, function) {
            for callee in callees(m, op) {
                let given = passed_to(m, op);
                let all = passed.entry(callee).or_insert_with(|| Some(Vec::new()));
                match (given, all.as_mut()) {
                    (Some(given), Some(all)) => all.push(given),
                    _ => *all = None,
                }
            }
        }
    }
    let mut refined = 0;
    for &function in order {
        let m = r.ir();
        let is_private = m.attr(function, names::SYM_VISIBILITY).is_some_and(
            |attr| matches!(m.cx.attr(attr), AttrKind::Str { text, .. } if m.cx.str(*text) == "private"),
        );
        let name = m.symbol_name(function).filter(|_| is_private);
        let Some(Some(all)) = name.and_then(|name| passed.get(&name)) else { continue };
        let entry = m.regions_of(function).first().and_then(|&region| m.entry(region));
        let args: Vec<ValueId> = entry.map_or_else(Vec::new, |block| m.args(block).to_vec());
        for (i, arg) in args.into_iter().enumerate() {
            let shapes: Option<Vec<&PartialShape>> = all.iter().map(|given| given.get(i)).collect();
            if let Some(shape) = shapes.and_then(common) {
                refined += refine(r, arg, &shape);
            }
        }
    }
    refined
}

/// What an op passes to the functions that it calls; nothing if that is not known.
fn passed_to(m: &Module, op: OpId) -> Option<Vec<PartialShape>> {
    let first = match tf::op_of(m.op_name_str(op))? {
        "PartitionedCall" | "StatefulPartitionedCall" => 0,
        "If" | "StatelessIf" | "Case" | "StatelessCase" => 1,
        _ => return None,
    };
    let n = tf::n_data_operands(m, op);
    Some(m.operands(op).take(n).skip(first).map(|value| shape_of(m, m.value_type(value))).collect())
}
