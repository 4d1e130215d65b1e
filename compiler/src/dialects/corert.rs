//! `corert` and `corert_sync`: operators by name, executed one by one through op handlers, on tensor handles.
//!
//! ```text
//! %cpu = corert.get_op_handler %ch "cpu"
//! %b = corert.executeop(%cpu) "tf.Relu"(%a) : 1
//! %c = corert.executeop(%cpu) "tf.Case"(%a) {T = f32} {then = @f} : 1      attributes, functions
//! %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%b)             an op with an effect
//! %ch2, %d = corert.cond %p @yes @no (%ch1, %b) : (!corert.tensorhandle) -> (!corert.tensorhandle)
//! ```
//!
//! The attributes of the operator are one attribute of the op, `op_attrs`, an array of pairs of a name and a
//! value, in the order of the text. `op_func_attrs` are the same for functions. `corert_sync` has the twins
//! for synchronous functions, without chains.

use super::short::*;
use super::tfrt_control::many;
use super::{
    Access, Arity, AttrConstraint as A, EffectResource, OpDef, OperandMode, Registry, TypeConstraint as T,
    errors,
};
use crate::diag::Diagnostic;
use crate::ir::{AttrId, AttrKind, Context, KnownType as K, Module, OpId, StrId, TypeId};

const HANDLE: T = T::Is(K::TensorHandle);
const HANDLER: T = T::Is(K::OpHandler);
const DEVICE: T = T::Is(K::Device);
const TENSOR_TYPE: T = T::Is(K::TensorType);
const OP: T = T::Opaque("!corert.op");
const ATTRS: T = T::Opaque("!corert.opattrs");
const FROZEN_ATTRS: T = T::Opaque("!corert.opattrs_ref");

/// The attributes with the operator's own attributes, in the order in which their dictionaries are written.
pub(crate) const OP_ATTRS: [&str; 2] = ["op_attrs", "op_func_attrs"];

/// Limit of the number of results in the custom form.
pub(crate) const MAX_RESULTS: usize = 1 << 16;

/// Element types of `create_dense_tensor`: the suffix, and the type of a number. A complex number is written
/// as two.
const TYPES: [(&str, K); 14] = [
    ("ui8", K::UI8),
    ("ui32", K::UI32),
    ("ui64", K::UI64),
    ("i1", K::I1),
    ("i8", K::I8),
    ("i16", K::I16),
    ("i32", K::I32),
    ("i64", K::I64),
    ("f16", K::F16),
    ("bf16", K::BF16),
    ("f32", K::F32),
    ("f64", K::F64),
    ("complex64", K::F32),
    ("complex128", K::F64),
];

pub(super) fn ops(r: &mut Registry) {
    constants(r);
    dispatch(r);
    handlers(r);
    control(r);
    conversions(r);
    attributes(r);
}

/// The ops of `tfrt_test` on tensor handles and attributes.
pub(super) fn test_ops(r: &mut Registry) {
    r.add(
        OpDef::new("tfrt_test.error_tensorhandle", "the error `invalid tensorhandle`")
            .result("handle", HANDLE)
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_test.corert.op_attrs_freeze", "an immutable copy of attributes")
            .operand("attrs", ATTRS)
            .operand("chain", CHAIN)
            .result("frozen", FROZEN_ATTRS)
            .result("done", CHAIN)
            .kernel(),
    );
    for (name, attrs) in [("op_attrs_print", ATTRS), ("op_attrs_ref_print", FROZEN_ATTRS)] {
        r.add(
            OpDef::new(format!("tfrt_test.corert.{name}"), "prints attributes, sorted by name")
                .operand("attrs", attrs)
                .operand("chain", CHAIN)
                .result("done", CHAIN)
                .effect(Access::Write, EffectResource::Output)
                .kernel(),
        );
    }
}

fn constants(r: &mut Registry) {
    for dialect in ["corert", "corert_sync"] {
        let constant = |name: &str, summary| {
            OpDef::new(format!("{dialect}.{name}"), summary).result("result", HANDLE).pure().kernel()
        };
        r.add(
            constant("const_dense_tensor", "a constant tensor")
                .attr("value", A::Dense)
                .format("$value attr-dict"),
        );
        for (suffix, k) in TYPES {
            let name = format!("create_dense_tensor.{suffix}");
            r.add(
                constant(&name, "a tensor of fixed shape and contents; one number fills it")
                    .attr("shape", A::IntArray(K::I64))
                    .attr("value", A::NumberArray(k))
                    .format("attr-dict"),
            );
        }
    }
    r.add(
        OpDef::new("corert.const_string_tensor", "a tensor of fixed strings; one string fills it")
            .attr("shape", A::IntArray(K::I64))
            .attr("value", A::Array)
            .result("result", HANDLE)
            .pure()
            .format("attr-dict")
            .kernel(),
    );
}

fn dispatch(r: &mut Registry) {
    let [attrs, func_attrs] = OP_ATTRS;
    let operator = |def: OpDef| {
        def.operand_with("operands", HANDLE, Arity::Variadic, OperandMode::Required)
            .attr(attrs, A::Array)
            .attr("op_name", A::Str)
            .result_with("results", HANDLE, Arity::Variadic)
            .verifier(verify_attrs)
            .kernel()
    };
    let def = OpDef::new("corert.executeop", "executes an operator").operand("op_handler", HANDLER);
    r.add(
        operator(def)
            .attr(func_attrs, A::Array)
            .format("`(` $op_handler `)` $op_name `(` $operands `)` custom<op-attrs>")
            .asynchronous(),
    );
    let def = OpDef::new("corert.executeop.seq", "executes an operator in the order of a chain")
        .operand("op_handler", HANDLER)
        .operand("in_op_chain", CHAIN)
        .result("out_op_chain", CHAIN);
    r.add(
        operator(def)
            .attr(func_attrs, A::Array)
            .format("`(` $op_handler `,` $in_op_chain `)` $op_name `(` $operands `)` custom<op-attrs>")
            .asynchronous(),
    );
    let def = OpDef::new("corert_sync.executeop", "executes an operator").operand("op_handler", HANDLER);
    r.add(operator(def).format("`(` $op_handler `)` $op_name `(` $operands `)` custom<op-attrs>"));
    r.add(
        many(
            OpDef::new("corert.execute_crt_op", "executes an op that was made before").operand("op", OP),
            "args",
        )
        .unnamed(2, 0)
        .result_with("results", T::Any, Arity::Variadic)
        .kernel()
        .asynchronous(),
    );
    r.add(
        OpDef::new("corert.make_composite_op", "a function on tensor handles as an op")
            .unnamed(0, 1)
            .result("op", OP)
            .kernel(),
    );
}

fn handlers(r: &mut Registry) {
    let create = |name: &str, summary| {
        OpDef::new(format!("corert.create_{name}_op_handler"), summary).result("op_handler", HANDLER).kernel()
    };
    r.add(create("null", "a handler that has no ops"));
    r.add(create("cpu", "a handler of ops on the CPU").operand("fallback", HANDLER));
    r.add(
        OpDef::new("corert.create_cpu_op_handler_with_ordinal", "a handler of ops on the CPU of this number")
            .operand("fallback", HANDLER)
            .operand("ordinal", I32)
            .result("op_handler", HANDLER)
            .kernel(),
    );
    r.add(
        create("logging", "a handler that reports what it passes on")
            .operand("fallback", HANDLER)
            .unnamed(1, 0),
    );
    r.add(
        OpDef::new("corert.register_op_handler", "gives a handler a name")
            .operand("op_handler", HANDLER)
            .attr("op_handler_name", A::Str)
            .result("out_op_chain", CHAIN)
            .format("$op_handler $op_handler_name attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("corert.get_op_handler", "the handler of this name")
            .operand("in_op_chain", CHAIN)
            .attr("op_handler_name", A::Str)
            .result("op_handler", HANDLER)
            .format("$in_op_chain $op_handler_name attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("corert_sync.register_op_handler", "gives a handler a name")
            .operand("op_handler", HANDLER)
            .unnamed(1, 0)
            .kernel(),
    );
    r.add(
        OpDef::new("corert_sync.get_op_handler", "the handler of this name")
            .attr("device_name", A::Str)
            .result("op_handler", HANDLER)
            .format("$device_name attr-dict")
            .kernel(),
    );
}

fn control(r: &mut Registry) {
    let flow = |def: OpDef| {
        many(def.operand("in_op_chain", CHAIN), "fn_operands")
            .result("out_op_chain", CHAIN)
            .result_with("fn_outputs", T::Any, Arity::Variadic)
            .kernel()
            .asynchronous()
    };
    r.add(
        flow(OpDef::new("corert.cond", "calls one of two functions").operand("cond", HANDLE))
            .attr("a_true_fn", A::FlatSymbol)
            .attr("b_false_fn", A::FlatSymbol)
            .callee_type(super::tfrt_verify::after_condition)
            .format(
                "$cond $a_true_fn $b_false_fn `(` $in_op_chain (`,` $fn_operands^)? `)` attr-dict `:` \
                 `(` type($fn_operands) `)` `->` `(` type($fn_outputs) `)`",
            ),
    );
    r.add(
        flow(OpDef::new("corert.while", "calls a function while another one gives true"))
            .attr("a_cond_fn", A::FlatSymbol)
            .attr("b_body_fn", A::FlatSymbol)
            .callee_type(loop_functions)
            .format(
                "$a_cond_fn $b_body_fn `(` $in_op_chain (`,` $fn_operands^)? `)` attr-dict `:` \
                 `(` type($fn_operands) `)` `->` `(` type($fn_outputs) `)`",
            ),
    );
}

/// Expected types of the functions of `corert.while`: both take all operands. One gives the results, the
/// other one a chain and a condition.
fn loop_functions(m: &Module, op: OpId, given: &[TypeId]) -> (Vec<TypeId>, Vec<TypeId>) {
    let (passed, wanted) = super::tfrt_verify::all_types(m, op, given);
    let condition = [K::Chain.id(), K::TensorHandle.id()];
    let wanted = if given == condition { condition.to_vec() } else { wanted };
    (passed, wanted)
}

fn conversions(r: &mut Registry) {
    let op = |name: &str, summary, result: T| {
        OpDef::new(format!("corert.{name}"), summary).operand("src", HANDLE).result("result", result).kernel()
    };
    r.add(
        op("get_dst_tensor_type", "the type of the tensor on a device", TENSOR_TYPE)
            .operand("dst_device", DEVICE)
            .format("operands attr-dict")
            .asynchronous(),
    );
    r.add(
        op("transfer", "the tensor on a device, as a type of tensors", HANDLE)
            .operand("device", DEVICE)
            .operand("dst_tensor_type", TENSOR_TYPE)
            .format("operands attr-dict"),
    );
    r.add(
        op("transfer_inferred_tensortype", "the tensor on a device", HANDLE)
            .operand("device", DEVICE)
            .format("operands attr-dict"),
    );
    r.add(
        op("tensorhandle_to_int32", "the number in a tensor of one element", I32)
            .format("operands attr-dict")
            .asynchronous(),
    );
    r.add(op("tensorhandle_to_shape", "the shape", SHAPE).asynchronous());
    r.add(op("tensorhandle_to_ht", "the tensor", TENSOR).asynchronous());
    r.add(
        OpDef::new("corert.ht_to_tensorhandle", "a handle of a tensor")
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .result("handle", HANDLE)
            .kernel(),
    );
    let prints = |def: OpDef| def.effect(Access::Write, EffectResource::Output);
    r.add(prints(op("print_tensorhandle", "prints the tensor, or that it is not there", CHAIN)));
    r.add(prints(
        OpDef::new("corert_sync.print_tensorhandle", "prints the tensor").operand("src", HANDLE).kernel(),
    ));
}

fn attributes(r: &mut Registry) {
    r.add(OpDef::new("corert.create_op_attrs", "an empty set of attributes").result("attrs", ATTRS).kernel());
    let set = ["aggregate", "bool", "dense", "dtype", "f32", "i32", "shape", "str"].map(|kind| ("set", kind));
    let arrays = ["f32", "i32", "i64"].map(|kind| ("set_array", kind));
    for (set, kind) in set.into_iter().chain(arrays) {
        r.add(
            OpDef::new(
                format!("corert.op_attrs_{set}.{kind}"),
                "adds an attribute, unless there is one of its name",
            )
            .operand("attrs", ATTRS)
            .unnamed(2, 0)
            .result("done", CHAIN)
            .kernel(),
        );
    }
}

/// The name and the value of an operator's attribute, if it is a pair of them.
pub(crate) fn pair(cx: &Context, attr: AttrId) -> Option<(StrId, AttrId)> {
    let AttrKind::Array(elements) = cx.attr(attr) else { return None };
    let [name, value] = **elements else { return None };
    match *cx.attr(name) {
        AttrKind::Str { text, ty: None } => Some((text, value)),
        _ => None,
    }
}

/// The names and values in an array of pairs.
pub(crate) fn pairs(cx: &Context, attr: AttrId) -> Option<Vec<(StrId, AttrId)>> {
    let AttrKind::Array(elements) = cx.attr(attr) else { return None };
    elements.iter().map(|&element| pair(cx, element)).collect()
}

/// Verifies the attributes of the operator.
fn verify_attrs(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    for (name, what) in OP_ATTRS.into_iter().zip(["op_attr", "op_func_attr"]) {
        let Some(attr) = m.attr_named(op, name) else { continue };
        if pairs(&m.cx, attr).is_none() {
            diags.push(errors::operator_attr(m, op, name).upstream(format!(
                "'{}' op each {what} should be a key-value pair, where the key is a string",
                m.op_name_str(op)
            )));
        }
    }
}
