//! Operators as text: a function of one op, for a compiler.
//!
//! ```text
//! func.func @op(%a0: tensor<2xf32>) -> (tensor<2xf32>) {
//!   %r:1 = "tf.Relu"(%a0) : (tensor<2xf32>) -> (tensor<2xf32>)
//!   func.return %r#0 : tensor<2xf32>
//! }
//! ```

use std::fmt::Write as _;

use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::Type;
use befrost_tensor::{DType, HostTensor};

use crate::attrs::{AttrValue, OpAttrsRef};

/// The element type in MLIR's syntax.
fn element(ty: Type) -> String {
    match ty {
        Type::Dense(DType::Complex64) => "complex<f32>".to_owned(),
        Type::Dense(DType::Complex128) => "complex<f64>".to_owned(),
        Type::Dense(dtype) => dtype.to_string(),
        other => format!("!tf_type.{}", other.name()),
    }
}

/// The type of a tensor.
fn tensor_type(ty: Type, shape: &PartialShape) -> String {
    let dims: String = match shape.as_slice() {
        None => "*x".to_owned(),
        Some(dims) => {
            dims.iter().map(|dim| dim.map_or_else(|| "?x".to_owned(), |dim| format!("{dim}x"))).collect()
        }
    };
    format!("tensor<{dims}{}>", element(ty))
}

/// A string literal.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | 0..0x20 | 0x7f.. => _ = write!(out, "\\{byte:02X}"),
            byte => out.push(char::from(byte)),
        }
    }
    out.push('"');
    out
}

/// A float literal, with its type. The bits of a number of another type than f64 are those of its rounding.
fn float(dtype: DType, value: f64) -> String {
    match dtype {
        DType::F64 => format!("0x{:016X} : f64", value.to_bits()),
        DType::F16 => format!("0x{:04X} : f16", befrost_tensor::f16::from_f64(value).to_bits()),
        DType::BF16 => format!("0x{:04X} : bf16", befrost_tensor::bf16::from_f64(value).to_bits()),
        _ => format!("0x{:08X} : f32", (value as f32).to_bits()),
    }
}

fn int(dtype: DType, value: i64) -> String {
    match dtype {
        DType::UI64 => format!("{} : ui64", value as u64),
        dtype => format!("{value} : {dtype}"),
    }
}

fn dense(tensor: &HostTensor) -> Option<String> {
    let ty = tensor_type(Type::Dense(tensor.dtype()), &PartialShape::from(tensor.shape()));
    if tensor.num_elements() == 0 {
        return Some(format!("dense<> : {ty}"));
    }
    let bytes: String = tensor.read_bytes().ok()?.iter().map(|byte| format!("{byte:02X}")).collect();
    Some(format!("dense<\"0x{bytes}\"> : {ty}"))
}

/// The attribute in MLIR's syntax; `None` if it has none.
pub(crate) fn attr(value: &AttrValue) -> Option<String> {
    let list = |items: Option<Vec<String>>| Some(format!("[{}]", items?.join(", ")));
    Some(match value {
        AttrValue::Bool(value) => value.to_string(),
        AttrValue::Int(dtype, value) => int(*dtype, *value),
        AttrValue::Float(dtype, value) => float(*dtype, *value),
        AttrValue::Str(text) => quoted(text),
        AttrValue::Type(ty) => element(*ty),
        AttrValue::Ints(dtype, values) => {
            list(values.iter().map(|&value| Some(int(*dtype, value))).collect())?
        }
        AttrValue::Floats(dtype, values) => {
            list(values.iter().map(|&value| Some(float(*dtype, value))).collect())?
        }
        AttrValue::List(values) => list(values.iter().map(attr).collect())?,
        AttrValue::Shape(shape) => match shape.as_slice() {
            None => "#tf_type.shape<*>".to_owned(),
            Some(dims) => {
                let dim = |dim: &Option<usize>| dim.map_or("?".to_owned(), |dim| dim.to_string());
                format!("#tf_type.shape<{}>", dims.iter().map(dim).collect::<Vec<_>>().join("x"))
            }
        },
        AttrValue::Dense(tensor) => dense(tensor)?,
        AttrValue::Func(name) => format!("@{}", quoted(name)),
        AttrValue::Other(_) => return None,
    })
}

/// A function `name` of one operator. If that has no results, it gives a truth value: an error of the
/// operator is one of the result.
///
/// # Errors
/// The name of an attribute that has no text.
pub fn function_of_op(
    name: &str,
    op: &str,
    attrs: &OpAttrsRef,
    operands: &[(Type, PartialShape)],
    results: &[(Type, PartialShape)],
) -> Result<String, String> {
    let types = |of: &[(Type, PartialShape)]| -> Vec<String> {
        of.iter().map(|(ty, shape)| tensor_type(*ty, shape)).collect()
    };
    let (operands, results) = (types(operands), types(results));
    let mut dict = Vec::new();
    for (name, value) in attrs.iter() {
        dict.push(format!("{name} = {}", attr(value).ok_or_else(|| name.to_owned())?));
    }
    let dict = if dict.is_empty() { String::new() } else { format!(" {{{}}}", dict.join(", ")) };
    let args: Vec<String> = operands.iter().enumerate().map(|(i, ty)| format!("%a{i}: {ty}")).collect();
    let names: Vec<String> = (0..operands.len()).map(|i| format!("%a{i}")).collect();
    let (operands, types) = (operands.join(", "), results.join(", "));
    let done = "tensor<i1>";
    let given: Vec<String> = (0..results.len()).map(|i| format!("%r#{i}")).collect();
    let (bind, back) = match results.len() {
        0 => {
            let constant = format!("%done = \"tf.Const\"() {{value = dense<true> : {done}}} : () -> {done}");
            (String::new(), format!("{constant}\n  func.return %done : {done}"))
        }
        n => (format!("%r:{n} = "), format!("func.return {} : {types}", given.join(", "))),
    };
    Ok(format!(
        "func.func @{name}({}) -> ({}) {{\n  {bind}\"{op}\"({}){dict} : ({operands}) -> ({types})\n  {back}\n}}\n",
        args.join(", "),
        if results.is_empty() { done } else { &types },
        names.join(", "),
    ))
}
