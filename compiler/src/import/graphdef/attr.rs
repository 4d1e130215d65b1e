//! Values of attributes: from a NodeDef to the `tf` dialect.

use super::tensor;
use crate::dialects::tf;
use crate::import::proto::attr_value::{ListValue, Value};
use crate::import::proto::{AttrValue, NameAttrList, TensorShapeProto};
use crate::ir::{AttrId, Context, KnownType, TypeId};
use befrost_tensor::tf::op::Type;

/// Resolves a reference to a function to the symbol of that function.
pub(super) type Symbol<'a> = &'a mut dyn FnMut(&NameAttrList) -> Result<String, String>;

/// A value as an attribute. `symbol` resolves references to functions.
pub(super) fn attr(cx: &mut Context, value: &AttrValue, symbol: Symbol<'_>) -> Result<AttrId, String> {
    Ok(match value.value.as_ref().ok_or("an attribute without a value")? {
        Value::S(bytes) => cx.bytes_attr(bytes),
        Value::I(int) => cx.int_attr(KnownType::I64.id(), *int),
        Value::F(float) => cx.f32_attr(*float),
        Value::B(value) => cx.bool_attr(*value),
        Value::Type(code) => ty(cx, *code)?,
        Value::Shape(shape) => {
            let shape = dims(shape)?;
            tf::shape_attr(cx, shape.as_deref())
        }
        Value::Tensor(tensor) => tensor::attr(cx, tensor)?,
        Value::List(list) => self::list(cx, list, symbol)?,
        Value::Func(function) => named(cx, function, symbol)?,
        Value::Placeholder(name) => {
            return Err(format!("the attribute refers to '{name}', which the function is not given"));
        }
    })
}

fn named(cx: &mut Context, function: &NameAttrList, symbol: Symbol<'_>) -> Result<AttrId, String> {
    let symbol = symbol(function)?;
    Ok(cx.symbol_attr(&symbol))
}

fn ty(cx: &mut Context, code: i32) -> Result<AttrId, String> {
    let ty = element(cx, code)?;
    Ok(cx.type_attr(ty))
}

/// The element type with this code.
pub(super) fn element(cx: &mut Context, code: i32) -> Result<TypeId, String> {
    let (ty, is_ref) = Type::from_code(code).map_err(|error| error.to_string())?;
    Ok(tf::element(cx, ty, is_ref))
}

/// The dimensions of a shape, -1 for unknown ones; `None` if the rank is unknown.
pub(super) fn dims(shape: &TensorShapeProto) -> Result<Option<Vec<i64>>, String> {
    const MAX_RANK: usize = 254;
    if shape.unknown_rank {
        return Ok(None);
    }
    if shape.dim.len() > MAX_RANK {
        return Err(format!("a shape of {} dimensions; {MAX_RANK} are the most", shape.dim.len()));
    }
    let dims: Vec<i64> = shape.dim.iter().map(|dim| dim.size).collect();
    match dims.iter().find(|&&dim| dim < -1) {
        Some(dim) => Err(format!("a dimension of size {dim}")),
        None => Ok(Some(dims)),
    }
}

fn list(cx: &mut Context, list: &ListValue, symbol: Symbol<'_>) -> Result<AttrId, String> {
    let ListValue { s, i, f, b, r#type, shape, tensor, func } = list;
    let mut elements = Vec::new();
    elements.extend(s.iter().map(|bytes| cx.bytes_attr(bytes)));
    elements.extend(i.iter().map(|int| cx.int_attr(KnownType::I64.id(), *int)));
    elements.extend(f.iter().map(|float| cx.f32_attr(*float)));
    elements.extend(b.iter().map(|value| cx.bool_attr(*value)));
    for code in r#type {
        elements.push(ty(cx, *code)?);
    }
    for shape in shape {
        let shape = dims(shape)?;
        elements.push(tf::shape_attr(cx, shape.as_deref()));
    }
    for tensor in tensor {
        elements.push(tensor::attr(cx, tensor)?);
    }
    for function in func {
        elements.push(named(cx, function, symbol)?);
    }
    Ok(cx.array_attr(&elements))
}
