//! `tfrt_dht` and `tfrt_dht_sync`: dense host tensors, filled in place. Chains order the ops; synchronous
//! functions need none. Also `tfrt_sht`, tensors of strings, and `btf`, tensors in files.

use super::short::*;
use super::{
    Access, Arity, AttrConstraint as A, EffectResource, OpDef, OperandMode, Registry, TypeConstraint as T,
};
use crate::ir::KnownType as K;

const BUFFER: T = T::Is(K::HostBuffer);
const STRING: T = T::Is(K::String);

/// Ranks for which creation kernels exist.
const RANKS: std::ops::RangeInclusive<usize> = 0..=5;

/// Element types: the suffix and the type of a number.
const TYPES: [(&str, K); 11] = [
    ("ui8", K::UI8),
    ("ui32", K::UI32),
    ("ui64", K::UI64),
    ("i8", K::I8),
    ("i32", K::I32),
    ("i64", K::I64),
    ("f32", K::F32),
    ("f64", K::F64),
    ("bool", K::I1),
    ("complex64", K::Complex64),
    ("complex128", K::Complex128),
];

/// The element types without comparison.
const HALVES: [(&str, K); 2] = [("f16", K::F16), ("bf16", K::BF16)];

/// The type of the numbers in a list. A complex number is written as two, real and imaginary part.
fn part(k: K) -> K {
    match k {
        K::Complex64 => K::F32,
        K::Complex128 => K::F64,
        _ => k,
    }
}

fn number(k: K) -> A {
    match k {
        K::F16 | K::BF16 | K::F32 | K::F64 => A::Float(k),
        K::Complex64 | K::Complex128 => A::NumberArray(part(k)),
        K::I1 => A::Bool,
        _ => A::Int(k),
    }
}

pub(super) fn ops(r: &mut Registry) {
    buffers(r);
    for (t, k) in TYPES {
        creation(r, t);
        contents(r, t, k);
        comparisons(r, t);
    }
    for (t, k) in HALVES {
        creation(r, t);
        contents(r, t, k);
    }
    strings(r);
    files(r);
}

fn buffers(r: &mut Registry) {
    for dialect in ["tfrt_dht", "tfrt_dht_sync"] {
        r.add(
            OpDef::new(format!("{dialect}.get_tensor_shape"), "the shape of a tensor")
                .operand("tensor", TENSOR)
                .result("shape", SHAPE)
                .pure()
                .format("operands attr-dict")
                .kernel(),
        );
        r.add(
            OpDef::new(
                format!("{dialect}.allocate_buffer"),
                "memory of a size, at a multiple of an alignment",
            )
            .operand("size", I64)
            .operand("alignment", I64)
            .result("buffer", BUFFER)
            .effect(Access::Alloc, EffectResource::Result(0))
            .format("operands attr-dict")
            .kernel(),
        );
        r.add(
            OpDef::new(format!("{dialect}.get_buffer_slice"), "a part of a buffer, without a copy")
                .operand("buffer", BUFFER)
                .operand("offset", I64)
                .operand("size", I64)
                .result("slice", BUFFER)
                .pure()
                .format("operands attr-dict")
                .kernel(),
        );
    }
    let print = |name: &str, what: T, summary| {
        OpDef::new(name, summary)
            .operand("value", what)
            .operand("chain", CHAIN)
            .result("done", CHAIN)
            .effect(Access::Read, EffectResource::Operand(0))
            .effect(Access::Write, EffectResource::Output)
            .kernel()
    };
    r.add(
        print("tfrt_dht.print_tensor", TENSOR, "prints type, shape and values of a tensor")
            .format("operands attr-dict"),
    );
    r.add(print("tfrt_dht.print_tensor_shape", TENSOR, "prints the shape of a tensor"));
    r.add(
        print("tfrt_dht.print_buffer", BUFFER, "prints address and size of a buffer")
            .format("operands attr-dict"),
    );
    r.add(
        OpDef::new("tfrt_dht_sync.print_tensor", "prints type, shape and values of a tensor")
            .operand("tensor", TENSOR)
            .effect(Access::Read, EffectResource::Operand(0))
            .effect(Access::Write, EffectResource::Output)
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_dht.get_buffer", "the memory of a tensor")
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .result("buffer", BUFFER)
            .result("done", CHAIN)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_dht.no_op_ht", "does nothing with a tensor")
            .operand("tensor", TENSOR)
            .result("done", CHAIN)
            .kernel(),
    );
}

fn creation(r: &mut Registry, t: &str) {
    for dialect in ["tfrt_dht", "tfrt_dht_sync"] {
        for rank in RANKS {
            r.add(
                OpDef::new(
                    format!("{dialect}.create_uninitialized_tensor.{t}.{rank}"),
                    "a tensor of a fixed shape; its contents are not defined",
                )
                .attr("shape", A::IntArray(K::I64))
                .result("tensor", TENSOR)
                .effect(Access::Alloc, EffectResource::Result(0))
                .format("$shape attr-dict")
                .kernel(),
            );
        }
    }
    r.add(
        OpDef::new(format!("tfrt_dht.make_tensor.{t}"), "a buffer as a tensor, without a copy")
            .operand("buffer", BUFFER)
            .operand("shape", SHAPE)
            .operand("chain", CHAIN)
            .result("tensor", TENSOR)
            .result("done", CHAIN)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(format!("tfrt_dht_sync.make_tensor.{t}"), "a buffer as a tensor, without a copy")
            .operand("buffer", BUFFER)
            .operand("shape", SHAPE)
            .result("tensor", TENSOR)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
}

fn contents(r: &mut Registry, t: &str, k: K) {
    r.add(
        OpDef::new(format!("tfrt_dht.fill_tensor_with_constant.{t}"), "sets every element to one number")
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .attr("value", number(k))
            .result("done", CHAIN)
            .effect(Access::Write, EffectResource::Operand(0))
            .format("operands $value attr-dict")
            .kernel(),
    );
    const SET: &str = "sets the elements, in row-major order, to numbers of which there must be as many";
    r.add(
        OpDef::new(format!("tfrt_dht.set_tensor_with_constant_values.{t}"), SET)
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .attr("values", A::NumberArray(part(k)))
            .result("done", CHAIN)
            .effect(Access::Write, EffectResource::Operand(0))
            .format("operands $values attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(format!("tfrt_dht_sync.set_tensor_with_constant_values.{t}"), SET)
            .operand("tensor", TENSOR)
            .attr("values", A::NumberArray(part(k)))
            .effect(Access::Write, EffectResource::Operand(0))
            .format("operands $values attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(format!("tfrt_dht.set_tensor_with_values.{t}"), SET)
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .operand_with("values", T::Is(k), Arity::Variadic, OperandMode::Required)
            .result("done", CHAIN)
            .effect(Access::Write, EffectResource::Operand(0))
            .kernel(),
    );
    r.add(
        OpDef::new(format!("tfrt_dht_sync.create_dense_tensor.{t}"), "a tensor of fixed shape and contents")
            .unnamed(2, 0)
            .result("tensor", TENSOR)
            .effect(Access::Alloc, EffectResource::Result(0))
            .kernel(),
    );
    r.add(
        OpDef::new(
            format!("tfrt_dht_sync.create_from_scalar.{t}"),
            "a tensor of fixed shape whose elements are one number, which is kept once",
        )
        .unnamed(2, 0)
        .result("tensor", TENSOR)
        .pure()
        .kernel(),
    );
}

fn compares(name: String, summary: &'static str) -> OpDef {
    OpDef::new(name, summary)
        .operand("lhs", TENSOR)
        .operand("rhs", TENSOR)
        .operand("chain", CHAIN)
        .result("equal", I1)
        .result("done", CHAIN)
        .effect(Access::Read, EffectResource::Operand(0))
        .effect(Access::Read, EffectResource::Operand(1))
        .kernel()
}

fn comparisons(r: &mut Registry, t: &str) {
    let def = compares(format!("tfrt_dht.tensor_equal.{t}"), "true if shapes and elements are equal");
    r.add(def.format("operands attr-dict"));
    for ulp in ["", "100000ulp.", "1000ulp.", "2000ulp.", "3ulp."] {
        r.add(compares(
            format!("tfrt_dht.tensor_allclose.{ulp}{t}"),
            "true if shapes are equal and elements differ by few units in the last place; those that are no floats, not at all",
        ));
    }
}

fn strings(r: &mut Registry) {
    for dialect in ["tfrt_sht", "tfrt_sht_sync"] {
        r.add(
            OpDef::new(format!("{dialect}.create_tensor"), "a tensor of fixed strings")
                .attr("shape", A::IntArray(K::I64))
                .attr("values", A::Array)
                .result("tensor", TENSOR)
                .pure()
                .kernel(),
        );
    }
    r.add(
        OpDef::new("tfrt_sht_sync.create_uninitialized_tensor", "a tensor of empty strings")
            .attr("shape", A::IntArray(K::I64))
            .result("tensor", TENSOR)
            .pure()
            .kernel(),
    );
}

fn files(r: &mut Registry) {
    let mut read = |layout: &str, t: &str| {
        for rank in 0..=4 {
            r.add(
                OpDef::new(
                    format!("btf.read_{layout}_tensor.{t}.{rank}"),
                    "a tensor of a BTF file, by its number",
                )
                .operand("path", STRING)
                .operand("index", I32)
                .result("tensor", TENSOR)
                .kernel()
                .asynchronous(),
            );
        }
    };
    for t in ["f32", "i32", "i64", "i8", "ui8"] {
        read("dense", t);
    }
    for t in ["f32", "i32", "i8"] {
        read("coo", t);
    }
}
