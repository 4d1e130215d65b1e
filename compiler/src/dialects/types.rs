//! Elementwise types and type inference.
//!
//! A [`TypeRule`] lets a form omit a type: in `arith.cmpi eq, %a, %b : i32` the type of `%a` is written, and
//! the types of `%b` and of the result are inferred. The parser applies the rule, the verifier checks it.

use super::format::PartRef;
use crate::ir::{Context, KnownType, Module, OpId, Signedness, TypeId, TypeKind};
use smallvec::{SmallVec, smallvec};

/// The types of a few values.
pub(crate) type Types = SmallVec<[TypeId; 4]>;

/// Kinds of element types.
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
    /// True if the type is of this kind.
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

    /// Description for messages.
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

/// Inference of a type from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeFn {
    /// The same type.
    Same,
    /// `i1`, in the same shape.
    I1Like,
    /// The inputs of a function type.
    Inputs,
    /// The results of a function type.
    Outputs,
    /// The element type of a tensor or vector.
    Element,
}

impl TypeFn {
    /// The types inferred from `from`; `None` if it is not of the right kind.
    pub fn apply(self, cx: &mut Context, from: TypeId) -> Option<Vec<TypeId>> {
        match self {
            TypeFn::Same => Some(vec![from]),
            TypeFn::I1Like => Some(vec![cx.with_element(from, KnownType::I1.id())]),
            TypeFn::Inputs => cx.function_signature(from).map(|(inputs, _)| inputs.to_vec()),
            TypeFn::Outputs => cx.function_signature(from).map(|(_, results)| results.to_vec()),
            TypeFn::Element => cx.is_container(from).then(|| vec![cx.element(from)]),
        }
    }

    /// True if these are the types inferred from `from`.
    pub fn holds(self, cx: &Context, from: TypeId, types: &[TypeId]) -> bool {
        let i1_like = |ty: &TypeId| cx.element(*ty) == KnownType::I1.id() && cx.same_container(from, *ty);
        match self {
            TypeFn::Same => types.iter().all(|ty| *ty == from),
            TypeFn::I1Like => types.iter().all(i1_like),
            TypeFn::Inputs => cx.function_signature(from).is_some_and(|(inputs, _)| inputs == types),
            TypeFn::Outputs => cx.function_signature(from).is_some_and(|(_, results)| results == types),
            TypeFn::Element => types.iter().all(|ty| *ty == cx.element(from)),
        }
    }

    /// Description for messages and documentation.
    pub fn describe(self) -> &'static str {
        match self {
            TypeFn::Same => "the same type as",
            TypeFn::I1Like => "i1 in the shape of",
            TypeFn::Inputs => "the inputs of",
            TypeFn::Outputs => "the results of",
            TypeFn::Element => "the elements of",
        }
    }
}

/// Inference rule for the type of an operand or result, which the form then omits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRule {
    /// The operand or result.
    pub of: PartRef,
    /// The source of the inference.
    pub from: TypeSource,
    /// The function of the source.
    pub by: TypeFn,
}

/// Source of the type of a [`TypeRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSource {
    /// The type of an operand or result.
    Value(PartRef),
    /// The type of a declared attribute.
    Attr(usize),
    /// This type, which the form may override.
    Default(KnownType),
}

impl TypeRule {
    /// True if the form may override the inferred type.
    pub fn is_default(&self) -> bool {
        matches!(self.from, TypeSource::Default(_))
    }

    /// The source types of the rule.
    pub fn source(&self, m: &Module, op: OpId) -> Types {
        match self.from {
            TypeSource::Value(of) => m.types_of(op, of),
            TypeSource::Attr(i) => {
                let name = m.cx.op_name_data(m.op_name(op)).attr_names.get(i);
                let attr = name.and_then(|name| m.attr(op, *name));
                attr.and_then(|a| m.cx.attr_type(a)).into_iter().collect()
            }
            TypeSource::Default(known) => smallvec![known.id()],
        }
    }

    /// True if the op's types satisfy the rule.
    pub fn holds(&self, m: &Module, op: OpId) -> bool {
        let types = m.types_of(op, self.of);
        match (self.by, self.source(m, op).as_slice()) {
            (by, [one]) => by.holds(&m.cx, *one, &types),
            (TypeFn::Same, many) => many == types.as_slice(),
            (_, _) => types.is_empty(),
        }
    }
}

/// The type of a declared operand or result, for an op whose parts are all of arity one.
pub fn declared_type(m: &Module, op: OpId, of: PartRef) -> Option<TypeId> {
    let value = match of {
        PartRef::Operand(i) => m.operands(op).nth(i),
        PartRef::Result(i) => m.results(op).nth(i),
        PartRef::Operands | PartRef::Results => None,
    };
    value.map(|v| m.value_type(v))
}
