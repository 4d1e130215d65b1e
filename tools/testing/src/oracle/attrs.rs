//! Attributes of one op, read by name.

use befrost_compiler::ir::{AttrKind, FloatKind, Module, OpId, Signedness, TypeId, TypeKind};
use befrost_tensor::{DType, Shape};

use super::Refusal;

/// The attributes of an op.
#[derive(Clone, Copy)]
pub(super) struct Attrs<'m> {
    pub(super) module: &'m Module,
    pub(super) op: OpId,
}

/// A constant tensor: little-endian elements, or the one element of a splat.
pub(super) struct Dense<'m> {
    pub(super) dtype: DType,
    pub(super) shape: Shape,
    pub(super) is_splat: bool,
    pub(super) bytes: &'m [u8],
}

impl<'m> Attrs<'m> {
    fn kind(self, name: &str) -> Result<&'m AttrKind, Refusal> {
        match self.module.attr_named(self.op, name) {
            Some(attr) => Ok(self.module.cx.attr(attr)),
            None => Err(self.wrong(name)),
        }
    }

    fn wrong(self, name: &str) -> Refusal {
        Refusal(format!(
            "attribute '{name}' of '{}' is missing or of another kind",
            self.module.op_name_str(self.op)
        ))
    }

    /// `true` or `false`.
    pub(super) fn bool(self, name: &str) -> Result<bool, Refusal> {
        match self.kind(name)? {
            AttrKind::Bool(value) => Ok(*value),
            _ => Err(self.wrong(name)),
        }
    }

    /// A number of any type: an integer's value, a float's bits.
    pub(super) fn bits(self, name: &str) -> Result<u64, Refusal> {
        bits(self.kind(name)?).ok_or_else(|| self.wrong(name))
    }

    /// An integer.
    pub(super) fn int(self, name: &str) -> Result<i64, Refusal> {
        match self.kind(name)? {
            AttrKind::Int { value, .. } => Ok(*value),
            _ => Err(self.wrong(name)),
        }
    }

    /// An array of numbers, each as [`Attrs::bits`] returns it.
    pub(super) fn all_bits(self, name: &str) -> Result<Vec<u64>, Refusal> {
        let AttrKind::Array(elements) = self.kind(name)? else { return Err(self.wrong(name)) };
        elements.iter().map(|&e| bits(self.module.cx.attr(e)).ok_or_else(|| self.wrong(name))).collect()
    }

    /// An array of integers.
    pub(super) fn ints(self, name: &str) -> Result<Vec<i64>, Refusal> {
        Ok(self.all_bits(name)?.into_iter().map(|bits| bits as i64).collect())
    }

    /// A constant tensor.
    pub(super) fn dense(self, name: &str) -> Result<Dense<'m>, Refusal> {
        let AttrKind::Dense { ty, splat, data: bytes } = self.kind(name)? else {
            return Err(self.wrong(name));
        };
        let parts =
            self.module.cx.ty(*ty).shaped().and_then(|(shape, element)| Some((shape?, self.dtype(element)?)));
        let (dims, dtype) = parts.ok_or_else(|| self.wrong(name))?;
        let shape = Shape::from_i64(dims).map_err(|_| self.wrong(name))?;
        Ok(Dense { dtype, shape, is_splat: *splat, bytes })
    }

    fn dtype(self, element: TypeId) -> Option<DType> {
        Some(match *self.module.cx.ty(element) {
            TypeKind::Integer { width: 1, sign: Signedness::Signless } => DType::I1,
            TypeKind::Integer { width, sign: Signedness::Signless | Signedness::Signed } => match width {
                8 => DType::I8,
                16 => DType::I16,
                32 => DType::I32,
                64 => DType::I64,
                _ => return None,
            },
            TypeKind::Float(FloatKind::F32) => DType::F32,
            TypeKind::Float(FloatKind::F64) => DType::F64,
            _ => return None,
        })
    }
}

fn bits(kind: &AttrKind) -> Option<u64> {
    match *kind {
        AttrKind::Int { value, .. } => Some(value as u64),
        AttrKind::Float { bits, .. } => Some(bits),
        _ => None,
    }
}
