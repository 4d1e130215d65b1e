//! Queries on elementwise types: a scalar, or a vector or tensor of it.

use super::{Context, DYNAMIC, TypeId, TypeKind};

impl Context {
    /// The element type of a vector or tensor; any other type is its own element.
    pub fn element(&self, ty: TypeId) -> TypeId {
        match self.ty(ty) {
            TypeKind::Vector { elem, .. } | TypeKind::Tensor { elem, .. } => *elem,
            _ => ty,
        }
    }

    /// True for vectors and tensors.
    pub fn is_container(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), TypeKind::Vector { .. } | TypeKind::Tensor { .. })
    }

    /// The vector or tensor with other elements; a scalar becomes the element itself.
    pub fn with_element(&mut self, ty: TypeId, elem: TypeId) -> TypeId {
        let kind = match self.ty(ty) {
            TypeKind::Vector { shape, scalable, .. } => {
                TypeKind::Vector { shape: shape.clone(), scalable: scalable.clone(), elem }
            }
            TypeKind::Tensor { shape, encoding, .. } => {
                TypeKind::Tensor { shape: shape.clone(), elem, encoding: *encoding }
            }
            _ => return elem,
        };
        self.type_id(kind)
    }

    /// True if two types differ in their element types at most.
    pub fn same_container(&self, a: TypeId, b: TypeId) -> bool {
        match (self.ty(a), self.ty(b)) {
            (
                TypeKind::Vector { shape, scalable, elem: _ },
                TypeKind::Vector { shape: shape_b, scalable: scalable_b, elem: _ },
            ) => shape == shape_b && scalable == scalable_b,
            (
                TypeKind::Tensor { shape, encoding, elem: _ },
                TypeKind::Tensor { shape: shape_b, encoding: encoding_b, elem: _ },
            ) => shape == shape_b && encoding == encoding_b,
            _ => !self.is_container(a) && !self.is_container(b),
        }
    }

    /// Number of elements of a vector or tensor of static shape; 1 for a scalar.
    pub fn n_elements(&self, ty: TypeId) -> Option<u64> {
        let shape = match self.ty(ty) {
            TypeKind::Vector { shape, scalable, .. } if !scalable.contains(&true) => shape,
            TypeKind::Tensor { shape: Some(shape), .. } => shape,
            TypeKind::Vector { .. } | TypeKind::Tensor { .. } => return None,
            _ => return Some(1),
        };
        shape.iter().try_fold(1u64, |n, &d| match d {
            DYNAMIC => None,
            d => n.checked_mul(u64::try_from(d).ok()?),
        })
    }
}
