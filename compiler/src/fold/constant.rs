//! Constants as numbers: conversion from attributes and back.
//!
//! A scalar, a splat and a list of elements are read the same way; an operation on them works element by
//! element. Lists of more than [`MAX_ELEMENTS`] are not folded, which bounds the compiler's memory.

use super::float::Float;
use super::int::Int;
use crate::ir::{AttrId, AttrKind, Blob, Context, FloatKind, TypeId, TypeKind};

/// Longer lists are not folded. (Splats are, of any number of elements.)
pub const MAX_ELEMENTS: usize = 1024;

/// One number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// An integer or `index`.
    Int(Int),
    /// A float.
    Float(Float),
}

/// The kind of numbers in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// Integers of a width; `index` has 64 bits.
    Int(u32),
    /// Floats of a format.
    Float(FloatKind),
}

impl Elem {
    /// The kind of the elements of a type.
    pub fn of(cx: &Context, ty: TypeId) -> Option<Elem> {
        match *cx.ty(cx.element(ty)) {
            TypeKind::Integer { width, .. } => Some(Elem::Int(width)),
            TypeKind::Index => Some(Elem::Int(64)),
            TypeKind::Float(kind) => Some(Elem::Float(kind)),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Elem::Int(width) => (width as usize).div_ceil(8),
            Elem::Float(kind) => kind.bits() as usize / 8,
        }
    }

    fn read(self, bytes: &[u8]) -> Option<Scalar> {
        let mut wide = [0; 16];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.scalar(u128::from_le_bytes(wide))
    }

    fn scalar(self, bits: u128) -> Option<Scalar> {
        match self {
            Elem::Int(width) => Int::new(width, bits).map(Scalar::Int),
            Elem::Float(kind) => Float::new(kind, bits as u64).map(Scalar::Float),
        }
    }
}

/// The numbers of a constant: all of them, or one for a splat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    splat: bool,
    values: Vec<Scalar>,
}

impl Constant {
    /// The numbers of an attribute, if it is a constant of a supported kind and size.
    pub fn read(cx: &Context, attr: AttrId) -> Option<Constant> {
        let one = |value: Scalar| Some(Constant::of(value));
        match cx.attr(attr) {
            AttrKind::Bool(b) => one(Scalar::Int(Int::new(1, u128::from(*b))?)),
            AttrKind::Int { ty, value } => one(Elem::of(cx, *ty)?.scalar(*value as u128)?),
            AttrKind::WideInt { ty, bytes } => {
                let negative = bytes.last().is_some_and(|b| b >> 7 == 1);
                let mut wide = [if negative { 0xFF } else { 0 }; 16];
                wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
                one(Elem::of(cx, *ty)?.scalar(u128::from_le_bytes(wide))?)
            }
            AttrKind::Float { ty, bits } => one(Elem::of(cx, *ty)?.scalar(u128::from(*bits))?),
            AttrKind::Dense { ty, splat, data } => {
                let elem = Elem::of(cx, *ty)?;
                let size = elem.bytes();
                if size == 0 || data.len() / size > MAX_ELEMENTS {
                    return None;
                }
                let values = data.chunks_exact(size).map(|b| elem.read(b)).collect::<Option<Vec<_>>>()?;
                (!values.is_empty()).then_some(Constant { splat: *splat, values })
            }
            _ => None,
        }
    }

    /// A splat.
    pub fn of(value: Scalar) -> Constant {
        Constant { splat: true, values: vec![value] }
    }

    /// The number of a scalar or splat, or of a single element.
    pub fn single(&self) -> Option<Scalar> {
        if self.splat || self.values.len() == 1 { self.values.first().copied() } else { None }
    }

    /// The first position of `value`.
    pub fn position(&self, value: Scalar) -> Option<usize> {
        self.values.iter().position(|v| *v == value)
    }

    /// Applies `f` to each number.
    pub fn map(&self, f: impl Fn(Scalar) -> Option<Scalar>) -> Option<Constant> {
        let values = self.values.iter().map(|v| f(*v)).collect::<Option<Vec<_>>>()?;
        Some(Constant { splat: self.splat, values }.tidy())
    }

    /// Applies `f` to the numbers at equal positions.
    pub fn zip(&self, other: &Constant, f: impl Fn(Scalar, Scalar) -> Option<Scalar>) -> Option<Constant> {
        let n = self.common(other)?;
        let values = (0..n).map(|i| f(self.at(i), other.at(i))).collect::<Option<Vec<_>>>()?;
        Some(Constant { splat: self.splat && other.splat, values }.tidy())
    }

    /// Selects the numbers of `a` where `self` is true, else those of `b`.
    pub fn choose(&self, a: &Constant, b: &Constant) -> Option<Constant> {
        let n = self.common(a)?.max(self.common(b)?);
        a.common(b)?;
        let value = |i| match self.at(i) {
            Scalar::Int(truth) => Some(if truth.is_zero() { b.at(i) } else { a.at(i) }),
            Scalar::Float(_) => None,
        };
        let values = (0..n).map(value).collect::<Option<Vec<_>>>()?;
        Some(Constant { splat: self.splat && a.splat && b.splat, values }.tidy())
    }

    fn common(&self, other: &Constant) -> Option<usize> {
        match (self.splat, other.splat) {
            (true, _) => Some(other.values.len()),
            (false, true) => Some(self.values.len()),
            (false, false) => (self.values.len() == other.values.len()).then_some(self.values.len()),
        }
    }

    fn at(&self, i: usize) -> Scalar {
        self.values[if self.splat { 0 } else { i }]
    }

    /// Equal elements become a splat, as in the parser.
    fn tidy(mut self) -> Constant {
        if !self.splat && self.values.windows(2).all(|w| w[0] == w[1]) {
            self.splat = true;
            self.values.truncate(1);
        }
        self
    }

    /// The attribute of type `ty` with these numbers. `None` if the type is not of this kind and size.
    pub fn write(&self, cx: &mut Context, ty: TypeId) -> Option<AttrId> {
        let elem = Elem::of(cx, ty)?;
        let fits = |v: &Scalar| match (elem, v) {
            (Elem::Int(width), Scalar::Int(int)) => int.width() == width,
            (Elem::Float(kind), Scalar::Float(float)) => float.kind() == kind,
            (Elem::Int(_), Scalar::Float(_)) | (Elem::Float(_), Scalar::Int(_)) => false,
        };
        if !self.values.iter().all(fits) {
            return None;
        }
        if cx.is_container(ty) {
            let scalable = matches!(cx.ty(ty), TypeKind::Vector { scalable, .. } if scalable.contains(&true));
            if !(scalable && self.splat) {
                let n = cx.n_elements(ty)?;
                if n == 0 || !self.splat && n != self.values.len() as u64 {
                    return None;
                }
            }
            let mut data = Vec::with_capacity(self.values.len() * elem.bytes());
            for value in &self.values {
                let bits = match value {
                    Scalar::Int(int) => int.unsigned(),
                    Scalar::Float(float) => u128::from(float.bits()),
                };
                data.extend_from_slice(&bits.to_le_bytes()[..elem.bytes()]);
            }
            return Some(cx.attr_id(AttrKind::Dense { ty, splat: self.splat, data: Blob::from(data) }));
        }
        match self.values.as_slice() {
            [Scalar::Int(int)] if int.width() <= 64 => Some(cx.int_attr(ty, int.signed() as i64)),
            [Scalar::Int(int)] => {
                let bytes = num_bigint::BigInt::from(int.signed()).to_signed_bytes_le().into();
                Some(cx.attr_id(AttrKind::WideInt { ty, bytes }))
            }
            [Scalar::Float(float)] => Some(cx.attr_id(AttrKind::Float { ty, bits: float.bits() })),
            _ => None,
        }
    }
}
