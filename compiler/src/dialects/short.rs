//! Abbreviations used by the op tables.

use super::constraint::TypeConstraint::{self, Is};
use crate::ir::KnownType;

pub(super) const I1: TypeConstraint = Is(KnownType::I1);
pub(super) const I32: TypeConstraint = Is(KnownType::I32);
pub(super) const I64: TypeConstraint = Is(KnownType::I64);
pub(super) const CHAIN: TypeConstraint = Is(KnownType::Chain);
pub(super) const TENSOR: TypeConstraint = Is(KnownType::Tensor);
pub(super) const SHAPE: TypeConstraint = Is(KnownType::Shape);

/// The element types that `cpu` allocates tensors of.
pub(super) const TENSOR_TYPES: [KnownType; 4] =
    [KnownType::I32, KnownType::I64, KnownType::F32, KnownType::F64];
pub(super) const INTEGERS: [KnownType; 2] = [KnownType::I32, KnownType::I64];
pub(super) const FLOATS: [KnownType; 2] = [KnownType::F32, KnownType::F64];

/// The pass that lowers upstream's ops to kernels.
pub(crate) const UPSTREAM_TO_KERNELS: &str = "convert-upstream-to-kernels";
