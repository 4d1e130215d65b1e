//! Values to calculate with: methods and operators create ops, with inferred types.
//!
//! Shapes that are known statically become constants, so that the same rule serves static and unknown shapes.

use std::ops::{Add, Div, Mul, Neg, Sub};

use befrost_tensor::DType;
use befrost_tensor::mem::Malloc;
use befrost_tensor::tf::op::{Op, Type};

use super::vjp::{At, Emit};
use crate::build::query;
use crate::dialects::tf;
use crate::fold::constant_of;
use crate::ir::{DYNAMIC, TypeId, ValueId};

pub(super) fn ints(g: &dyn Emit, numbers: &[i64], dtype: DType) -> ValueId {
    g.constant(&|b| b.ints(numbers, dtype))
}

pub(super) fn int(g: &dyn Emit, number: i64, dtype: DType) -> ValueId {
    g.constant(&|b| b.ints_of_shape(&[number], &[], dtype))
}

/// A value to calculate with.
#[derive(Clone, Copy)]
pub(crate) struct Val<'g> {
    pub(super) g: &'g dyn Emit,
    /// The value.
    pub(crate) id: ValueId,
}

impl<'g> Val<'g> {
    /// Another value with the same emitter.
    pub(crate) fn with(self, id: ValueId) -> Val<'g> {
        Val { g: self.g, id }
    }

    /// Creates an op with one result.
    pub(crate) fn op(self, op: Op, operands: &[Val<'_>], attrs: &[(&str, At<'_>)]) -> Val<'g> {
        let operands: Vec<ValueId> = operands.iter().map(|value| value.id).collect();
        self.with(self.g.emit(op, &operands, attrs, None, 1)[0])
    }

    /// An operator of one tensor.
    pub(crate) fn un(self, op: Op) -> Val<'g> {
        self.op(op, &[self], &[])
    }

    /// An operator of two tensors.
    pub(crate) fn bin(self, op: Op, other: Val<'_>) -> Val<'g> {
        self.op(op, &[self, other], &[])
    }

    /// The type.
    pub(crate) fn ty(self) -> TypeId {
        self.g.ir().value_type(self.id)
    }

    /// TensorFlow's type of the elements.
    pub(crate) fn element(self) -> Type {
        let ir = self.g.ir();
        tf::type_of(&ir.cx, ir.value_type(self.id)).map_or(Type::Variant, |(ty, _)| ty)
    }

    /// The element type; f32 for values that are no numbers.
    pub(crate) fn dtype(self) -> DType {
        self.element().dtype().unwrap_or(DType::F32)
    }

    /// True for complex numbers.
    pub(crate) fn is_complex(self) -> bool {
        matches!(self.dtype(), DType::Complex64 | DType::Complex128)
    }

    /// The sizes as far as known, -1 for unknown ones.
    pub(crate) fn sizes(self) -> Option<Vec<i64>> {
        let ir = self.g.ir();
        let sizes = query::shape(&ir, self.id)?;
        Some(sizes.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect())
    }

    /// The sizes if all are known.
    pub(crate) fn dims(self) -> Option<Vec<i64>> {
        self.sizes().filter(|sizes| !sizes.contains(&-1))
    }

    /// The number of axes, if known.
    pub(crate) fn rank(self) -> Option<usize> {
        self.sizes().map(|sizes| sizes.len())
    }

    /// The elements of a small constant of integers.
    pub(crate) fn known_ints(self) -> Option<Vec<i64>> {
        query::ints(&self.g.ir(), self.id)
    }

    /// The elements of a constant of f32.
    pub(crate) fn known_floats(self) -> Option<Vec<f32>> {
        let m = self.g.ir();
        tf::dense_tensor(&m.cx, constant_of(&m, self.id)?, &Malloc::shared())?.to_vec().ok()
    }

    /// The shape, as a vector of i32.
    pub(crate) fn shape(self) -> Val<'g> {
        self.shape_as(DType::I32)
    }

    /// The shape, as a vector of i32 or i64.
    pub(crate) fn shape_as(self, dtype: DType) -> Val<'g> {
        if self.element() == Type::Resource {
            return self.typed(Op::VariableShape, dtype);
        }
        match self.dims() {
            Some(dims) => self.ints(&dims, dtype),
            None => self.typed(Op::Shape, dtype),
        }
    }

    /// The result of a shape query `op`: a vector of `dtype`.
    fn typed(self, op: Op, dtype: DType) -> Val<'g> {
        let rank = self.rank().filter(|_| op == Op::Shape).map_or(-1, |rank| rank as i64);
        let ty = self.g.tensor_type(Some(&[rank]), Type::Dense(dtype));
        self.with(self.g.emit(op, &[self.id], &[], Some(&[ty]), 1)[0])
    }

    /// The number of axes as a scalar i32.
    pub(crate) fn rank_value(self) -> Val<'g> {
        match self.rank() {
            Some(rank) => self.int(rank as i64),
            None => self.un(Op::Rank),
        }
    }

    /// The size of an axis as a scalar i32. A negative axis counts from the end.
    pub(crate) fn size(self, axis: i64) -> Val<'g> {
        let known = self.sizes().and_then(|sizes| {
            let axis = if axis < 0 { axis + sizes.len() as i64 } else { axis };
            sizes.get(usize::try_from(axis).ok()?).copied().filter(|&size| size >= 0)
        });
        match known {
            Some(size) => self.int(size),
            None => self.shape().element_at(axis),
        }
    }

    /// One element of a vector.
    pub(crate) fn element_at(self, i: i64) -> Val<'g> {
        let end = self.int(i).expand(0) + self.int(1);
        let masks = [("shrink_axis_mask", At::Int(1)), ("end_mask", At::Int(i64::from(i == -1)))];
        self.op(
            Op::StridedSlice,
            &[self, self.ints(&[i], DType::I32), end, self.ints(&[1], DType::I32)],
            &masks,
        )
    }

    /// The number of elements, if it is known.
    pub(crate) fn known_count(self) -> Option<i64> {
        query::n_elements(&self.dims()?)
    }

    /// The number of elements as a scalar i32.
    pub(crate) fn count(self) -> Val<'g> {
        match self.known_count() {
            Some(count) => self.int(count),
            None => self.un(Op::Size),
        }
    }

    /// A constant vector of integers.
    pub(crate) fn ints(self, numbers: &[i64], dtype: DType) -> Val<'g> {
        self.with(ints(self.g, numbers, dtype))
    }

    /// A constant scalar i32.
    pub(crate) fn int(self, number: i64) -> Val<'g> {
        self.with(int(self.g, number, DType::I32))
    }

    /// A constant scalar of this element type.
    pub(crate) fn number(self, number: f64) -> Val<'g> {
        let dtype = self.dtype();
        self.with(self.g.constant(&|b| b.scalar(number, dtype)))
    }

    /// A tensor of this shape and element type filled with a number. For a list or an optional: one of zeros,
    /// whatever the number. For a variable's handle: a tensor like the variable's value.
    pub(crate) fn full(self, number: f64) -> Val<'g> {
        if self.element() == Type::Variant {
            return self.un(Op::ZerosLike);
        }
        let ty = self.ty();
        if self.dims().is_some() {
            return self.with(self.g.constant(&|b| b.splat(number, ty)));
        }
        self.shape().filled(ty, number)
    }

    /// A tensor of type `ty` filled with a number; this value is its shape, a vector.
    pub(crate) fn filled(self, ty: TypeId, number: f64) -> Val<'g> {
        let dtype = {
            let ir = self.g.ir();
            tf::type_of(&ir.cx, ty).and_then(|(ty, _)| ty.dtype()).unwrap_or(DType::F32)
        };
        let scalar = self.g.constant(&|b| b.scalar(number, dtype));
        self.with(self.g.emit(Op::Fill, &[self.id, scalar], &[], Some(&[ty]), 1)[0])
    }

    /// [`Self::full`] of zeros.
    pub(crate) fn zeros(self) -> Val<'g> {
        self.full(0.0)
    }

    /// [`Self::full`] of ones.
    pub(crate) fn ones(self) -> Val<'g> {
        self.full(1.0)
    }

    /// The complex conjugate; real numbers as they are.
    pub(crate) fn conj(self) -> Val<'g> {
        if self.is_complex() { self.un(Op::Conj) } else { self }
    }

    /// The value cast to another element type.
    pub(crate) fn cast(self, dtype: DType) -> Val<'g> {
        if self.dtype() == dtype {
            return self;
        }
        let ty = self.g.tensor_type(self.sizes().as_deref(), Type::Dense(dtype));
        self.with(self.g.emit(Op::Cast, &[self.id], &[], Some(&[ty]), 1)[0])
    }

    /// The value cast to the element type of another value.
    pub(crate) fn cast_like(self, other: Val<'_>) -> Val<'g> {
        self.cast(other.dtype())
    }

    /// The real or imaginary part.
    pub(crate) fn part(self, part: Op) -> Val<'g> {
        let dtype = if self.dtype() == DType::Complex128 { DType::F64 } else { DType::F32 };
        let ty = self.g.tensor_type(self.sizes().as_deref(), Type::Dense(dtype));
        self.with(self.g.emit(part, &[self.id], &[], Some(&[ty]), 1)[0])
    }

    /// The complex number with this real part and the given imaginary part.
    pub(crate) fn complex(self, imaginary: Val<'_>) -> Val<'g> {
        let dtype = if self.dtype() == DType::F64 { DType::Complex128 } else { DType::Complex64 };
        let ty = self.g.tensor_type(self.sizes().as_deref(), Type::Dense(dtype));
        self.with(self.g.emit(Op::Complex, &[self.id, imaginary.id], &[], Some(&[ty]), 1)[0])
    }

    /// The real number as a complex one.
    pub(crate) fn as_complex(self) -> Val<'g> {
        self.complex(self.number(0.0))
    }

    /// The sum along axes.
    pub(crate) fn sum(self, axes: Val<'_>, keep_dims: bool) -> Val<'g> {
        self.op(Op::Sum, &[self, axes], &[("keep_dims", At::Bool(keep_dims))])
    }

    /// The sum along the last axis, which is kept.
    pub(crate) fn sum_last(self) -> Val<'g> {
        self.sum(self.ints(&[-1], DType::I32), true)
    }

    /// The sum of all elements.
    pub(crate) fn sum_all(self) -> Val<'g> {
        match self.rank() {
            Some(0) => self,
            Some(rank) => self.sum(self.ints(&(0..rank as i64).collect::<Vec<_>>(), DType::I32), false),
            None => self.sum(self.range(self.rank_value()), false),
        }
    }

    /// The integers from 0 to a scalar.
    pub(crate) fn range(self, to: Val<'_>) -> Val<'g> {
        self.op(Op::Range, &[self.int(0), to, self.int(1)], &[])
    }

    /// The elements in another shape.
    pub(crate) fn reshape(self, shape: Val<'_>) -> Val<'g> {
        self.bin(Op::Reshape, shape)
    }

    /// The elements in a shape of known sizes, of which one may be -1.
    pub(crate) fn reshaped(self, sizes: &[i64]) -> Val<'g> {
        if self.dims().as_deref() == Some(sizes) {
            return self;
        }
        self.reshape(self.ints(sizes, DType::I32))
    }

    /// The elements in the shape of another value.
    pub(crate) fn reshape_like(self, other: Val<'_>) -> Val<'g> {
        if self.dims().is_some() && self.dims() == other.dims() {
            return self;
        }
        self.reshape(self.with(other.id).shape())
    }

    /// One more axis of size 1.
    pub(crate) fn expand(self, axis: i64) -> Val<'g> {
        self.bin(Op::ExpandDims, self.int(axis))
    }

    /// The value broadcast to a shape.
    pub(crate) fn broadcast(self, shape: Val<'_>) -> Val<'g> {
        self.bin(Op::BroadcastTo, shape)
    }

    /// The value broadcast to the shape of another.
    pub(crate) fn broadcast_like(self, other: Val<'_>) -> Val<'g> {
        if self.dims().is_some() && self.dims() == other.dims() {
            return self;
        }
        self.broadcast(self.with(other.id).shape())
    }

    /// The part that starts at `begin`; a size of -1 reaches to the end.
    pub(crate) fn slice(self, begin: Val<'_>, size: Val<'_>) -> Val<'g> {
        self.op(Op::Slice, &[self, begin, size], &[])
    }

    /// The rows at indices.
    pub(crate) fn gather(self, indices: Val<'_>) -> Val<'g> {
        self.op(Op::GatherV2, &[self, indices, self.int(0)], &[])
    }

    /// Values concatenated along an axis. There is at least one.
    pub(crate) fn concat(parts: &[Val<'g>], axis: i64) -> Val<'g> {
        let first = parts[0];
        let operands: Vec<Val<'_>> = parts.iter().copied().chain([first.int(axis)]).collect();
        first.op(Op::ConcatV2, &operands, &[])
    }

    /// The axes permuted.
    pub(crate) fn transpose(self, order: Val<'_>) -> Val<'g> {
        self.bin(Op::Transpose, order)
    }

    /// The matrices transposed and conjugated.
    pub(crate) fn adjoint(self) -> Val<'g> {
        let order = match self.rank() {
            Some(rank) => {
                let mut order: Vec<i64> = (0..rank as i64).collect();
                order.swap(rank.saturating_sub(2), rank.saturating_sub(1));
                self.ints(&order, DType::I32)
            }
            None => {
                let rank = self.rank_value();
                let before = self.range(rank - self.int(2));
                Val::concat(&[before, (rank - self.int(1)).expand(0), (rank - self.int(2)).expand(0)], 0)
            }
        };
        self.bin(if self.is_complex() { Op::ConjugateTranspose } else { Op::Transpose }, order)
    }

    /// The product of matrices, each transposed and conjugated if its flag is set.
    pub(crate) fn matmul(self, other: Val<'_>, adj_x: bool, adj_y: bool) -> Val<'g> {
        let attrs = [("adj_x", At::Bool(adj_x)), ("adj_y", At::Bool(adj_y))];
        self.op(Op::BatchMatMulV2, &[self, other], &attrs)
    }

    /// `yes` where this condition holds, else `no`, all broadcast.
    pub(crate) fn select(self, yes: Val<'_>, no: Val<'_>) -> Val<'g> {
        self.op(Op::SelectV2, &[self, yes, no], &[])
    }

    /// This gradient where a condition holds, zero elsewhere.
    pub(crate) fn only(self, condition: Val<'_>) -> Val<'g> {
        self.with(condition.id).select(self, self.number(0.0))
    }

    /// The sum over the axes along which `x` was broadcast to the shape of this value.
    pub(crate) fn unbroadcast(self, x: Val<'_>) -> Val<'g> {
        let x = self.with(x.id);
        let (Some(from), Some(to)) = (x.sizes(), self.sizes()) else { return self.unbroadcast_dynamic(x) };
        let Some(leading) = to.len().checked_sub(from.len()) else { return self.unbroadcast_dynamic(x) };
        let mut inner = Vec::new();
        for (i, (&from, &to)) in from.iter().zip(&to[leading..]).enumerate() {
            match (from, to) {
                (1, 1) => {}
                (1, _) => inner.push((leading + i) as i64),
                (-1, 1) => {}
                (-1, _) => return self.unbroadcast_dynamic(x),
                _ => {}
            }
        }
        let outer: Vec<i64> = (0..leading as i64).collect();
        match (outer.is_empty(), inner.is_empty()) {
            (true, true) => self,
            (true, false) => self.sum(self.ints(&inner, DType::I32), true),
            (false, true) => self.sum(self.ints(&outer, DType::I32), false),
            (false, false) => {
                let axes = [outer, inner].concat();
                self.sum(self.ints(&axes, DType::I32), false).reshape_like(x)
            }
        }
    }

    fn unbroadcast_dynamic(self, x: Val<'g>) -> Val<'g> {
        let (from, to) = (x.shape(), self.shape());
        let axes = self.with(self.g.emit(Op::BroadcastGradientArgs, &[from.id, to.id], &[], None, 2)[0]);
        self.sum(axes, false).reshape(from)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:expr) => {
        impl<'g> $trait<Val<'_>> for Val<'g> {
            type Output = Val<'g>;
            fn $method(self, other: Val<'_>) -> Val<'g> {
                self.bin($op, other)
            }
        }
        impl<'g> $trait<f64> for Val<'g> {
            type Output = Val<'g>;
            fn $method(self, other: f64) -> Val<'g> {
                self.bin($op, self.number(other))
            }
        }
        impl<'g> $trait<Val<'g>> for f64 {
            type Output = Val<'g>;
            fn $method(self, other: Val<'g>) -> Val<'g> {
                other.number(self).bin($op, other)
            }
        }
    };
}
operator!(Add, add, Op::AddV2);
operator!(Sub, sub, Op::Sub);
operator!(Mul, mul, Op::Mul);
operator!(Div, div, Op::RealDiv);

impl<'g> Neg for Val<'g> {
    type Output = Val<'g>;
    fn neg(self) -> Val<'g> {
        self.un(Op::Neg)
    }
}
