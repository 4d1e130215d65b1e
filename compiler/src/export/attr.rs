//! Attributes of an op as values of a NodeDef, the reverse of `import/graphdef/attr.rs`.

use befrost_tensor::tf::op::{AttrKind as Kind, Attrs, Signature, Type};

use crate::dialects::tf;
use crate::import::proto::attr_value::{ListValue, Value};
use crate::import::proto::tensor_shape_proto::Dim;
use crate::import::proto::{AttrValue, NameAttrList, TensorProto, TensorShapeProto};
use crate::ir::{AttrId, AttrKind, Context, Module, OpId, TypeId};

/// The value of an attribute of the signature; `None` if the op does not have it.
///
/// # Errors
/// The reason for which the value has no form in a NodeDef.
pub(super) fn value(
    m: &Module,
    op: OpId,
    signature: &Signature,
    name: &str,
    kind: Kind,
) -> Result<Option<AttrValue>, String> {
    let attrs = tf::attrs_of(m, op, signature);
    let written = m.attr_named(op, name);
    let value = match (kind, written) {
        (Kind::Tensor, Some(attr)) => Value::Tensor(tensor(&m.cx, attr)?),
        (Kind::Func, Some(attr)) => Value::Func(function(&m.cx, attr)?),
        (Kind::List(Kind::Func), Some(attr)) => {
            let AttrKind::Array(items) = m.cx.attr(attr) else { return Err(no_list(name)) };
            let func = items.iter().map(|&item| function(&m.cx, item)).collect::<Result<_, _>>()?;
            Value::List(ListValue { func, ..ListValue::default() })
        }
        (Kind::List(Kind::Shape), Some(attr)) => {
            let AttrKind::Array(items) = m.cx.attr(attr) else { return Err(no_list(name)) };
            let shape = items.iter().map(|&item| shape_of(&m.cx, item)).collect::<Option<_>>();
            Value::List(ListValue { shape: shape.ok_or_else(|| no_list(name))?, ..ListValue::default() })
        }
        (Kind::Type, _) => match type_code(m, written).or_else(|| Some(attrs.ty(name)?.code())) {
            Some(code) => Value::Type(code),
            None => return Ok(None),
        },
        (Kind::Int, _) => match attrs.int(name) {
            Some(int) => Value::I(int),
            None => return Ok(None),
        },
        (Kind::Float, _) => match attrs.float(name) {
            Some(float) => Value::F(float as f32),
            None => return Ok(None),
        },
        (Kind::Bool, _) => match attrs.bool(name) {
            Some(value) => Value::B(value),
            None => return Ok(None),
        },
        (Kind::String, _) => match attrs.string(name) {
            Some(text) => Value::S(text.into_owned()),
            None => return Ok(None),
        },
        (Kind::Shape, _) => match attrs.shape(name) {
            Some(shape) => Value::Shape(shape_proto(shape.dims().as_deref())),
            None => return Ok(None),
        },
        (Kind::List(element), _) => match list(&attrs, name, *element) {
            Some(list) => Value::List(list),
            None => return Ok(None),
        },
        (Kind::Tensor | Kind::Func, None) => return Ok(None),
    };
    Ok(Some(AttrValue { value: Some(value) }))
}

fn no_list(name: &str) -> String {
    format!("the attribute '{name}' is no list")
}

fn list(attrs: &dyn Attrs, name: &str, element: Kind) -> Option<ListValue> {
    let mut list = ListValue::default();
    match element {
        Kind::Int => list.i = attrs.ints(name)?,
        Kind::Float => list.f = attrs.floats(name)?.into_iter().map(|float| float as f32).collect(),
        Kind::String => list.s = attrs.strings(name)?,
        Kind::Type => list.r#type = attrs.types(name)?.into_iter().map(Type::code).collect(),
        Kind::Bool | Kind::Shape | Kind::Tensor | Kind::Func | Kind::List(_) => return None,
    }
    Some(list)
}

/// The code of an element type, that of a reference included.
fn type_code(m: &Module, attr: Option<AttrId>) -> Option<i32> {
    code_of(&m.cx, m.cx.as_type(attr?)?)
}

/// The code of a type's elements.
pub(super) fn code_of(cx: &Context, ty: TypeId) -> Option<i32> {
    let (ty, is_ref) = tf::type_of(cx, ty)?;
    Some(ty.code() + if is_ref { 100 } else { 0 })
}

fn function(cx: &Context, attr: AttrId) -> Result<NameAttrList, String> {
    match cx.attr(attr) {
        AttrKind::Symbol { root, nested } if nested.is_empty() => {
            Ok(NameAttrList { name: cx.str(*root).to_owned(), attr: Default::default() })
        }
        _ => Err("a reference to no function of the module".to_owned()),
    }
}

/// A shape: -1 for an unknown dimension, `None` for an unknown rank.
pub(super) fn shape_proto(dims: Option<&[i64]>) -> TensorShapeProto {
    TensorShapeProto {
        dim: dims.unwrap_or_default().iter().map(|&size| Dim { size }).collect(),
        unknown_rank: dims.is_none(),
    }
}

fn shape_of(cx: &Context, attr: AttrId) -> Option<TensorShapeProto> {
    let shape = tf::shape_of_attr(cx, attr)?;
    Some(shape_proto(shape.dims().as_deref()))
}

/// A constant. A splat has one value, which TensorFlow repeats.
fn tensor(cx: &Context, attr: AttrId) -> Result<TensorProto, String> {
    let refused = || "a constant of a type that TensorFlow does not have".to_owned();
    let ty = cx.attr_type(attr).ok_or_else(refused)?;
    let dtype = code_of(cx, ty).ok_or_else(refused)?;
    let (Some(dims), _) = cx.ty(ty).shaped().ok_or_else(refused)? else { return Err(refused()) };
    let shape = Some(shape_proto(Some(dims)));
    let mut proto = TensorProto { dtype, tensor_shape: shape, ..TensorProto::default() };
    match cx.attr(attr) {
        AttrKind::Dense { splat: false, data, .. } => proto.tensor_content = data.to_vec().into(),
        AttrKind::Dense { splat: true, data, .. } => {
            let n = dims.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
            let bytes = n.and_then(|n| n.checked_mul(data.len())).filter(|&bytes| bytes <= MAX_SPLAT);
            let bytes = bytes.ok_or_else(|| format!("a constant of {} elements", n.unwrap_or(usize::MAX)))?;
            proto.tensor_content = data.iter().copied().cycle().take(bytes).collect::<Vec<u8>>().into();
        }
        AttrKind::DenseStrings { strings, .. } => {
            proto.string_val =
                strings.iter().filter_map(|&text| cx.string_bytes(text)).map(<[u8]>::to_vec).collect();
        }
        _ => return Err(refused()),
    }
    Ok(proto)
}

/// Maximum number of bytes of a splat, which is written out.
const MAX_SPLAT: usize = 1 << 28;
