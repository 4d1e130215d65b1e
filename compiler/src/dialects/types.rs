//! Types that work element by element, and types that follow from others.
//!
//! A [`TypeRule`] is what lets a form leave a type out: `arith.cmpi eq, %a, %b : i32` says the type of `%a`, from which
//! those of `%b` and of the result follow. The parser applies the rule, the verifier checks it.

use super::format::Of;
use crate::ir::{Context, KnownType, Module, OpId, Signedness, TypeId, TypeKind};

/// What the elements of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// `i1`.
    Bool,
    /// A signless integer.
    Integer,
    /// A signless integer or `index`.
    IntegerOrIndex,
    /// A float.
    Float,
    /// A signless integer or a float.
    IntegerOrFloat,
}

impl ElementKind {
    /// Is a type of this kind?
    pub fn holds(self, cx: &Context, ty: TypeId) -> bool {
        let integer = || matches!(cx.ty(ty), TypeKind::Integer { sign: Signedness::Signless, .. });
        let float = || matches!(cx.ty(ty), TypeKind::Float(_));
        match self {
            ElementKind::Bool => ty == KnownType::I1.id(),
            ElementKind::Integer => integer(),
            ElementKind::IntegerOrIndex => integer() || ty == KnownType::Index.id(),
            ElementKind::Float => float(),
            ElementKind::IntegerOrFloat => integer() || float(),
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            ElementKind::Bool => "i1",
            ElementKind::Integer => "a signless integer",
            ElementKind::IntegerOrIndex => "a signless integer or index",
            ElementKind::Float => "a float",
            ElementKind::IntegerOrFloat => "a signless integer or a float",
        }
    }
}

/// How a type follows from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeFn {
    /// It is the same.
    Same,
    /// `i1`, in the same shape.
    I1Like,
}

impl TypeFn {
    /// The type that follows from `from`.
    pub fn apply(self, cx: &mut Context, from: TypeId) -> TypeId {
        match self {
            TypeFn::Same => from,
            TypeFn::I1Like => cx.with_element(from, KnownType::I1.id()),
        }
    }

    /// Does `ty` follow from `from`?
    pub fn holds(self, cx: &Context, from: TypeId, ty: TypeId) -> bool {
        match self {
            TypeFn::Same => ty == from,
            TypeFn::I1Like => cx.element(ty) == KnownType::I1.id() && cx.same_container(from, ty),
        }
    }
}

/// The type of an operand or result that a form need not write, since it follows from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRule {
    /// Whose.
    pub of: Of,
    /// From what.
    pub from: TypeSource,
    /// How.
    pub by: TypeFn,
}

/// Where the type of a [`TypeRule`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSource {
    /// The type of an operand or result.
    Value(Of),
    /// The type of a declared attribute.
    Attr(usize),
    /// This one, unless the form says another.
    Default(KnownType),
}

impl TypeRule {
    /// Does the rule give a type that a form may change?
    pub fn is_default(&self) -> bool {
        matches!(self.from, TypeSource::Default(_))
    }

    /// The type from which the rule starts in an op with a declared number of operands and results.
    pub fn source(&self, m: &Module, op: OpId) -> Option<TypeId> {
        match self.from {
            TypeSource::Value(of) => declared_type(m, op, of),
            TypeSource::Attr(i) => {
                let name = m.cx.op_name_data(m.op_name(op)).attr_names.get(i)?;
                m.attr(op, *name).and_then(|a| m.cx.attr_type(a))
            }
            TypeSource::Default(known) => Some(known.id()),
        }
    }
}

/// The type of a declared operand or result of an op none of which is optional or variadic.
pub fn declared_type(m: &Module, op: OpId, of: Of) -> Option<TypeId> {
    let value = match of {
        Of::Operand(i) => m.operands(op).nth(i),
        Of::Result(i) => m.results(op).nth(i),
        Of::Operands | Of::Results => None,
    };
    value.map(|v| m.value_type(v))
}
