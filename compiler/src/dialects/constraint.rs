//! Constraints on the types and attributes of a definition: the check, and its description for messages and
//! documentation.

use super::def::DefaultValue;
use super::enums::{EnumDef, FlagsDef};
use super::types::ElementKind;
use crate::ir::{AttrId, AttrKind, Context, KnownType, TypeId, TypeKind};

/// The types that an operand or result may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeConstraint {
    /// Any type.
    Any,
    /// Exactly this one.
    Is(KnownType),
    /// An integer type or `index`.
    AnyInteger,
    /// A float type.
    AnyFloat,
    /// A scalar of this kind, or a vector or tensor of it.
    Like(ElementKind),
    /// The same as [`Self::Like`], or a memref of it.
    LikeOrMemRef(ElementKind),
    /// A function type.
    Function,
    /// A tensor of any elements and shape.
    AnyTensor,
    /// The same as [`Self::AnyTensor`], or this one.
    TensorOr(KnownType),
    /// The type of a dialect with this spelling, including the `!`.
    Opaque(&'static str),
}

impl TypeConstraint {
    /// The only type that satisfies the constraint, if there is one. Custom forms then omit the type.
    #[inline]
    pub fn only(self) -> Option<TypeId> {
        match self {
            TypeConstraint::Is(known) => Some(known.id()),
            TypeConstraint::Any
            | TypeConstraint::AnyInteger
            | TypeConstraint::AnyFloat
            | TypeConstraint::Like(_)
            | TypeConstraint::LikeOrMemRef(_)
            | TypeConstraint::Function
            | TypeConstraint::AnyTensor
            | TypeConstraint::TensorOr(_)
            | TypeConstraint::Opaque(_) => None,
        }
    }

    /// True if a value may have the type.
    #[inline]
    pub fn accepts(self, cx: &Context, ty: TypeId) -> bool {
        match self {
            TypeConstraint::Any => true,
            TypeConstraint::Is(known) => ty == known.id(),
            TypeConstraint::AnyInteger => matches!(cx.ty(ty), TypeKind::Integer { .. } | TypeKind::Index),
            TypeConstraint::AnyFloat => matches!(cx.ty(ty), TypeKind::Float(_)),
            TypeConstraint::Like(kind) => kind.holds(cx, cx.element(ty)),
            TypeConstraint::LikeOrMemRef(kind) => match cx.ty(ty) {
                TypeKind::MemRef { elem, .. } => kind.holds(cx, *elem),
                _ => kind.holds(cx, cx.element(ty)),
            },
            TypeConstraint::Function => matches!(cx.ty(ty), TypeKind::Function { .. }),
            TypeConstraint::AnyTensor => {
                matches!(cx.ty(ty), TypeKind::Tensor { .. }) || ty == KnownType::Tensor.id()
            }
            TypeConstraint::TensorOr(known) => ty == known.id() || TypeConstraint::AnyTensor.accepts(cx, ty),
            TypeConstraint::Opaque(name) => match cx.ty(ty) {
                TypeKind::Opaque(text) => name.strip_prefix('!') == Some(cx.str(*text)),
                _ => false,
            },
        }
    }

    /// Description for messages and documentation.
    pub fn describe(self) -> String {
        match self {
            TypeConstraint::Any => "any type",
            TypeConstraint::Is(known) => known.name(),
            TypeConstraint::AnyInteger => "an integer type",
            TypeConstraint::AnyFloat => "a float type",
            TypeConstraint::Like(kind) => {
                return format!("{}, or a vector or tensor of such", kind.name());
            }
            TypeConstraint::LikeOrMemRef(kind) => {
                return format!("{}, or a vector, tensor or memref of such", kind.name());
            }
            TypeConstraint::Function => "a function type",
            TypeConstraint::AnyTensor | TypeConstraint::TensorOr(_) => "a tensor",
            TypeConstraint::Opaque(name) => name,
        }
        .into()
    }

    /// MLIR's description in messages.
    pub fn upstream(self) -> String {
        let like = |kind: ElementKind| match kind {
            ElementKind::Bool => "bool-like",
            ElementKind::Integer | ElementKind::IntegerOrIndex => "signless-integer-like",
            ElementKind::Float => "floating-point-like",
            ElementKind::IntegerOrFloat => "signless-integer-like or floating-point-like",
        };
        match self {
            TypeConstraint::Any => "any type".into(),
            TypeConstraint::Is(known) => upstream_name(known),
            TypeConstraint::AnyInteger => "integer or index".into(),
            TypeConstraint::AnyFloat => "floating-point".into(),
            TypeConstraint::Like(kind) => like(kind).into(),
            TypeConstraint::LikeOrMemRef(kind) => format!("{} or memref of such", like(kind)),
            TypeConstraint::Function => "function type".into(),
            TypeConstraint::AnyTensor | TypeConstraint::TensorOr(_) => "tensor of any type values".into(),
            TypeConstraint::Opaque(name) => format!("{name} type"),
        }
    }
}

/// MLIR's description of a type in messages.
fn upstream_name(known: KnownType) -> String {
    let element = |of: KnownType| format!("complex type with {} elements", upstream_name(of));
    let text = match known {
        KnownType::I1 => "1-bit signless integer",
        KnownType::I8 => "8-bit signless integer",
        KnownType::I16 => "16-bit signless integer",
        KnownType::I32 => "32-bit signless integer",
        KnownType::I64 => "64-bit signless integer",
        KnownType::UI8 => "8-bit unsigned integer",
        KnownType::UI32 => "32-bit unsigned integer",
        KnownType::UI64 => "64-bit unsigned integer",
        KnownType::F16 => "16-bit float",
        KnownType::F32 => "32-bit float",
        KnownType::F64 => "64-bit float",
        KnownType::Index => "index",
        KnownType::Complex64 => return element(KnownType::F32),
        KnownType::Complex128 => return element(KnownType::F64),
        // TFRT's later spelling.
        KnownType::Tensor => "!tfrt_tensor.tensor type",
        KnownType::BF16
        | KnownType::None
        | KnownType::Chain
        | KnownType::Shape
        | KnownType::String
        | KnownType::Device
        | KnownType::HostBuffer
        | KnownType::PartialShape
        | KnownType::FixedRankShape1
        | KnownType::FixedRankShape2
        | KnownType::FixedRankShape3
        | KnownType::Arena
        | KnownType::Step
        | KnownType::TensorHandle
        | KnownType::OpHandler
        | KnownType::TensorType
        | KnownType::ProtoExample => return format!("{} type", known.name()),
    };
    text.to_owned()
}

/// The attributes that a declared attribute may have as value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrConstraint {
    /// Any attribute.
    Any,
    /// `unit`.
    Unit,
    /// `true` or `false`.
    Bool,
    /// An integer of this type.
    Int(KnownType),
    /// A float of this type.
    Float(KnownType),
    /// A string.
    Str,
    /// `@name`.
    FlatSymbol,
    /// `@name` or `@a::@b`.
    Symbol,
    /// An array of `@name`.
    SymbolArray,
    /// An array of anything.
    Array,
    /// An array of integers of this type.
    IntArray(KnownType),
    /// An array of integers or floats of this type.
    NumberArray(KnownType),
    /// An array of dictionaries.
    DictArray,
    /// `array<T: ...>`.
    DenseArray(KnownType),
    /// A dictionary.
    Dict,
    /// A type.
    Type,
    /// A function type.
    FunctionType,
    /// `dense<...>` or another constant tensor.
    Dense,
    /// An attribute that has a type.
    Typed,
    /// One word of an enumeration.
    Enum(&'static EnumDef),
    /// A set of flags.
    Flags(&'static FlagsDef),
}

impl AttrConstraint {
    /// True if an op may have the attribute.
    pub fn accepts(self, cx: &Context, attr: AttrId) -> bool {
        let value = cx.attr(attr);
        let has_type = |a: AttrId, k: KnownType| cx.attr_type(a) == Some(k.id());
        let all = |check: &dyn Fn(AttrId) -> bool| match value {
            AttrKind::Array(elems) => elems.iter().all(|e| check(*e)),
            _ => false,
        };
        match self {
            AttrConstraint::Any => true,
            AttrConstraint::Unit => matches!(value, AttrKind::Unit),
            AttrConstraint::Bool => matches!(value, AttrKind::Bool(_)),
            AttrConstraint::Int(k) => {
                matches!(value, AttrKind::Int { .. } | AttrKind::Bool(_)) && has_type(attr, k)
            }
            AttrConstraint::Float(k) => matches!(value, AttrKind::Float { .. }) && has_type(attr, k),
            AttrConstraint::Str => matches!(value, AttrKind::Str { .. }),
            AttrConstraint::FlatSymbol => is_flat_symbol(value),
            AttrConstraint::Symbol => matches!(value, AttrKind::Symbol { .. }),
            AttrConstraint::SymbolArray => all(&|e| is_flat_symbol(cx.attr(e))),
            AttrConstraint::Array => matches!(value, AttrKind::Array(_)),
            AttrConstraint::IntArray(k) => {
                all(&|e| matches!(cx.attr(e), AttrKind::Int { .. }) && has_type(e, k))
            }
            AttrConstraint::NumberArray(k) => all(&|e| {
                matches!(cx.attr(e), AttrKind::Int { .. } | AttrKind::Bool(_) | AttrKind::Float { .. })
                    && has_type(e, k)
            }),
            AttrConstraint::DictArray => all(&|e| matches!(cx.attr(e), AttrKind::Dict(_))),
            AttrConstraint::DenseArray(k) => {
                matches!(value, AttrKind::DenseArray { elem, .. } if *elem == k.id())
            }
            AttrConstraint::Dict => matches!(value, AttrKind::Dict(_)),
            AttrConstraint::Type => matches!(value, AttrKind::Type(_)),
            AttrConstraint::FunctionType => {
                cx.as_type(attr).is_some_and(|t| matches!(cx.ty(t), TypeKind::Function { .. }))
            }
            AttrConstraint::Dense => is_elements(value),
            AttrConstraint::Typed => cx.attr_type(attr).is_some(),
            AttrConstraint::Enum(def) => def.word(cx, attr).is_some(),
            AttrConstraint::Flags(def) => def.bits(cx, attr).is_some(),
        }
    }

    /// Description for messages and documentation.
    pub fn describe(self) -> String {
        match self {
            AttrConstraint::Any => "any attribute".into(),
            AttrConstraint::Unit => "`unit`".into(),
            AttrConstraint::Bool => "`true` or `false`".into(),
            AttrConstraint::Int(k) => format!("an integer of type {}", k.name()),
            AttrConstraint::Float(k) => format!("a float of type {}", k.name()),
            AttrConstraint::Str => "a string".into(),
            AttrConstraint::FlatSymbol => "a symbol `@name`".into(),
            AttrConstraint::Symbol => "a symbol `@name` or `@a::@b`".into(),
            AttrConstraint::SymbolArray => "an array of symbols `@name`".into(),
            AttrConstraint::Array => "an array".into(),
            AttrConstraint::IntArray(k) => format!("an array of integers of type {}", k.name()),
            AttrConstraint::NumberArray(k) => format!("an array of numbers of type {}", k.name()),
            AttrConstraint::DictArray => "an array of dictionaries".into(),
            AttrConstraint::DenseArray(k) => format!("`array<{}: ...>`", k.name()),
            AttrConstraint::Dict => "a dictionary".into(),
            AttrConstraint::Type => "a type".into(),
            AttrConstraint::FunctionType => "a function type".into(),
            AttrConstraint::Dense => "a constant tensor `dense<...>`".into(),
            AttrConstraint::Typed => "a constant with a type".into(),
            AttrConstraint::Enum(def) => {
                format!("{}, an integer of type {} below {}", def.what, def.ty.name(), def.words.len())
            }
            AttrConstraint::Flags(def) => format!("`#{}<...>` of {}", def.name, def.words.join(", ")),
        }
    }
}

impl DefaultValue {
    /// The attribute for this default value.
    pub fn attr(self, kind: AttrConstraint, cx: &mut Context) -> Option<AttrId> {
        match (self, kind) {
            (DefaultValue::Int(value), AttrConstraint::Int(k)) => Some(cx.int_attr(k.id(), value)),
            _ => None,
        }
    }
}

fn is_flat_symbol(attr: &AttrKind) -> bool {
    matches!(attr, AttrKind::Symbol { nested, .. } if nested.is_empty())
}

/// True for the attributes that hold the elements of a tensor or vector.
pub(crate) fn is_elements(attr: &AttrKind) -> bool {
    matches!(
        attr,
        AttrKind::Dense { .. }
            | AttrKind::DenseStrings { .. }
            | AttrKind::DenseResource { .. }
            | AttrKind::Sparse { .. }
    )
}
