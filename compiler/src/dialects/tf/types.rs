//! Conversion between TensorFlow's types and the IR's.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Type;

use crate::ir::{Context, DYNAMIC, KnownType, Signedness, TypeId, TypeKind};

/// The prefix of types that exist in TensorFlow only.
const PREFIX: &str = "tf_type.";
/// The suffix of references to variables.
const REF: &str = "ref";

/// The IR type of an element, or of a reference to a variable of such elements.
pub fn element(cx: &mut Context, ty: Type, is_ref: bool) -> TypeId {
    let suffix = if is_ref { REF } else { "" };
    if let (Type::Dense(dtype), false) = (ty, is_ref) {
        return number(cx, dtype);
    }
    cx.opaque_type(&format!("{PREFIX}{}{suffix}", ty.referred_name()))
}

fn number(cx: &mut Context, dtype: DType) -> TypeId {
    known(dtype).map_or_else(|| cx.integer(16, Signedness::Unsigned), KnownType::id)
}

/// The type of fixed id; only `ui16` has none.
fn known(dtype: DType) -> Option<KnownType> {
    let known = match dtype {
        DType::UI8 => KnownType::UI8,
        DType::UI16 => return None,
        DType::UI32 => KnownType::UI32,
        DType::UI64 => KnownType::UI64,
        DType::I1 => KnownType::I1,
        DType::I8 => KnownType::I8,
        DType::I16 => KnownType::I16,
        DType::I32 => KnownType::I32,
        DType::I64 => KnownType::I64,
        DType::F16 => KnownType::F16,
        DType::BF16 => KnownType::BF16,
        DType::F32 => KnownType::F32,
        DType::F64 => KnownType::F64,
        DType::Complex64 => KnownType::Complex64,
        DType::Complex128 => KnownType::Complex128,
    };
    Some(known)
}

/// The TensorFlow type of an element type, and whether it is a reference to a variable of such elements.
/// `None` if TensorFlow has no such type.
pub fn type_of(cx: &Context, ty: TypeId) -> Option<(Type, bool)> {
    let ty = cx.element(ty);
    let plain = |dtype| Some((Type::Dense(dtype), false));
    match cx.ty(ty) {
        TypeKind::Opaque(name) => {
            let name = cx.str(*name).strip_prefix(PREFIX)?;
            match name.strip_suffix(REF) {
                Some(referred) => Type::referred(referred).map(|ty| (ty, true)),
                None => Type::referred(name).filter(|ty| ty.dtype().is_none()).map(|ty| (ty, false)),
            }
        }
        TypeKind::Integer { width: 16, sign: Signedness::Unsigned } => plain(DType::UI16),
        TypeKind::Integer { .. } | TypeKind::Float(_) | TypeKind::Complex(_) => {
            let is_it = |dtype: &DType| known(*dtype).is_some_and(|known| known.id() == ty);
            DType::ALL.iter().copied().find(is_it).and_then(plain)
        }
        _ => None,
    }
}

/// True for resources, also with the types of their contents: `!tf_type.resource<tensor<f32>>`.
pub fn is_resource(cx: &Context, ty: TypeId) -> bool {
    let with_contents = |name: &str| {
        name.strip_prefix(PREFIX)
            .and_then(|name| name.strip_prefix(Type::Resource.referred_name()))
            .is_some_and(|rest| rest.starts_with('<'))
    };
    match cx.ty(cx.element(ty)) {
        TypeKind::Opaque(name) if with_contents(cx.str(*name)) => true,
        _ => type_of(cx, ty) == Some((Type::Resource, false)),
    }
}

/// A tensor type. -1 is an unknown dimension, no shape an unknown rank.
pub fn tensor(cx: &mut Context, shape: Option<&[i64]>, elem: TypeId) -> TypeId {
    let shape = shape.map(|dims| dims.iter().map(|&dim| if dim < 0 { DYNAMIC } else { dim }).collect());
    cx.type_id(TypeKind::Tensor { shape, elem, encoding: None })
}

/// A tensor type of the same shape with other elements.
pub fn with_element(cx: &mut Context, ty: TypeId, elem: TypeId) -> TypeId {
    let shape = match cx.ty(ty) {
        TypeKind::Tensor { shape, .. } => shape.clone(),
        _ => None,
    };
    cx.type_id(TypeKind::Tensor { shape, elem, encoding: None })
}
