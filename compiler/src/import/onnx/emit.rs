//! The emitter of op graph, with which the lowerings of nodes are written.
//!
//! ```text
//! operator, operands, attributes ──build──▶ op of inferred type ──fold, if small and constant──▶ value
//! ```
//!
//! ONNX computes sizes by nodes: `Shape`, `Gather`, `Concat`, `Reshape`. Where the shapes are known, these
//! ops are folded as they are emitted, so that lowerings see constants and exact types.
//!
//! A [`DimSize`] is a dimension that is known or computed by the program. Axes and indices are i64
//! throughout.

use std::collections::HashSet;

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, OpRow, Type};

use crate::build::{Builder, query};
use crate::dialects::{Folded, tf};
use crate::fold::constant_of;
use crate::graph::fold_op;
use crate::ir::{AttrId, AttrKind, BlockId, DYNAMIC, LocId, Module, OpId, TypeId, ValueId};
use crate::rewrite::Rewriter;

/// The reason why a node is refused.
pub(super) type Why = String;

/// The values of a node's outputs.
pub(super) type Lowered = Result<Vec<ValueId>, Why>;

/// The outputs of a node with one.
pub(super) fn one(value: Result<ValueId, Why>) -> Lowered {
    value.map(|value| vec![value])
}

/// Constant operands up to this size are folded at once. Larger ones are left to the passes.
const MAX_FOLDED: usize = 1 << 16;

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) enum AttrArg<'a> {
    Int(i64),
    Ints(&'a [i64]),
    Float(f32),
    Floats(&'a [f32]),
    Bool(bool),
    Str(&'a str),
    Strs(&'a [&'a str]),
    Type(Type),
    /// A shape; negative dimensions are unknown.
    Dims(&'a [i64]),
}

/// A dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DimSize {
    Known(i64),
    /// A scalar of i64.
    Value(ValueId),
}

/// Emits ops at the end of a block.
pub(super) struct GraphEmitter {
    pub(super) m: Module,
    pub(super) block: BlockId,
    pub(super) loc: LocId,
    /// Constants whose values are not known, since they become variables.
    pub(super) unknown: HashSet<ValueId>,
    /// Number of ops emitted, which is limited since functions may multiply.
    n_emitted: usize,
}

/// Limit on the rank of tensors that are sliced: masks of axes are integers.
pub(super) const MAX_MASKED: usize = 32;

/// Limit on emitted ops.
const MAX_OPS: usize = 1 << 22;

impl GraphEmitter {
    pub(super) fn new(m: Module) -> GraphEmitter {
        let block = m.body();
        GraphEmitter { m, block, loc: LocId::UNKNOWN, unknown: HashSet::new(), n_emitted: 0 }
    }

    /// Calls `act` with a builder at the end of the block.
    fn with<R>(&mut self, act: impl FnOnce(&mut Builder<'_, '_>) -> R) -> R {
        let (block, loc, root) = (self.block, self.loc, self.m.top());
        act(&mut Builder::at_end(&mut Rewriter::new(&mut self.m, root), block, loc))
    }

    // ---- ops ----

    /// The results of an op. `elements` are the element types of the results if no operand has them.
    pub(super) fn ops(
        &mut self,
        operator: Op,
        operands: &[ValueId],
        attrs: &[(&str, AttrArg<'_>)],
        elements: &[Type],
    ) -> Result<Vec<ValueId>, Why> {
        self.ops_of_row(operator.row(), operands, attrs, elements)
    }

    /// [`GraphEmitter::ops`] of an operator that may belong to a kernel library.
    pub(super) fn ops_of_row(
        &mut self,
        row: &'static OpRow,
        operands: &[ValueId],
        attrs: &[(&str, AttrArg<'_>)],
        elements: &[Type],
    ) -> Result<Vec<ValueId>, Why> {
        self.n_emitted += 1;
        if self.n_emitted > MAX_OPS {
            return Err(format!("the model becomes more than {MAX_OPS} operations"));
        }
        let made = self.with(|b| {
            let mut op = b.op_of_row(row, operands);
            for &(name, value) in attrs {
                op = match value {
                    AttrArg::Int(value) => op.int(name, value),
                    AttrArg::Ints(values) => op.ints(name, values),
                    AttrArg::Float(value) => op.f32(name, value),
                    AttrArg::Floats(values) => op.f32s(name, values),
                    AttrArg::Bool(value) => op.bool(name, value),
                    AttrArg::Strs(values) => op.strs(name, values),
                    AttrArg::Str(value) => op.str(name, value),
                    AttrArg::Type(ty) => op.ty(name, ty),
                    AttrArg::Dims(dims) => op.dims(name, dims),
                };
            }
            if elements.is_empty() { op } else { op.elements(elements) }.build()
        });
        let op = made.map_err(|refusal| refusal.message)?;
        Ok(self.folded(op))
    }

    /// The results of an op; constants, and the op erased, if it folds.
    fn folded(&mut self, op: OpId) -> Vec<ValueId> {
        let m = &mut self.m;
        let size = |value| match m.cx.attr(constant_of(m, value)?) {
            AttrKind::Dense { data, .. } => Some(data.len()),
            _ => Some(0),
        };
        let given: usize = m.operands(op).filter_map(size).sum();
        let reads_shape = matches!(tf::operator(m, op), Some(Op::Shape | Op::Size | Op::Rank));
        let is_known = reads_shape || !m.operands(op).any(|operand| self.unknown.contains(&operand));
        let folded = if given <= MAX_FOLDED && is_known { fold_op(m, op) } else { None };
        let constants: Option<Vec<AttrId>> = folded.and_then(|folded| {
            let constant = |part| if let Folded::Attr(attr) = part { Some(attr) } else { None };
            folded.into_iter().map(constant).collect()
        });
        match constants {
            Some(constants) if constants.len() == self.m.n_results(op) => {
                self.m.erase(op);
                constants.into_iter().map(|attr| self.constant(attr)).collect()
            }
            _ => self.m.results(op).collect(),
        }
    }

    /// The first result of an op with attributes.
    pub(super) fn op(
        &mut self,
        operator: Op,
        operands: &[ValueId],
        attrs: &[(&str, AttrArg<'_>)],
    ) -> Result<ValueId, Why> {
        self.ops(operator, operands, attrs, &[]).map(|results| results[0])
    }

    /// The result of an op without attributes.
    pub(super) fn one(&mut self, operator: Op, operands: &[ValueId]) -> Result<ValueId, Why> {
        self.op(operator, operands, &[])
    }

    /// The result of an op whose element type does not follow from its operands.
    pub(super) fn to(
        &mut self,
        operator: Op,
        operands: &[ValueId],
        attrs: &[(&str, AttrArg<'_>)],
        dtype: DType,
    ) -> Result<ValueId, Why> {
        self.ops(operator, operands, attrs, &[Type::Dense(dtype)]).map(|results| results[0])
    }

    // ---- constants ----

    pub(super) fn constant(&mut self, attr: AttrId) -> ValueId {
        self.with(|b| b.constant(attr))
    }

    /// A scalar.
    pub(super) fn scalar(&mut self, number: f64, dtype: DType) -> Result<ValueId, Why> {
        self.with(|b| b.scalar(number, dtype)).map_err(|refusal| refusal.message)
    }

    /// A scalar with the element type of `value`.
    pub(super) fn scalar_like(&mut self, number: f64, value: ValueId) -> Result<ValueId, Why> {
        let dtype = self.dtype(value)?;
        self.scalar(number, dtype)
    }

    /// A vector of i64.
    pub(super) fn ints(&mut self, numbers: &[i64]) -> Result<ValueId, Why> {
        self.with(|b| b.ints(numbers, DType::I64)).map_err(|refusal| refusal.message)
    }

    /// A scalar of i64.
    pub(super) fn int(&mut self, number: i64) -> Result<ValueId, Why> {
        self.with(|b| b.ints_of_shape(&[number], &[], DType::I64)).map_err(|refusal| refusal.message)
    }

    /// A constant of f32.
    pub(super) fn floats(&mut self, numbers: &[f32], shape: &[i64]) -> Result<ValueId, Why> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let cx = &mut self.m.cx;
        let element = tf::element(cx, Type::Dense(DType::F32), false);
        let ty = tf::tensor(cx, Some(shape), element);
        let attr = cx.attr_id(AttrKind::Dense { ty, splat: false, data: bytes.into() });
        Ok(self.constant(attr))
    }

    /// The integers of a constant.
    pub(super) fn ints_of(&self, value: ValueId) -> Option<Vec<i64>> {
        query::ints(&self.m, value)
    }

    /// The integers of an operand that must be constant.
    pub(super) fn known_ints(&self, value: ValueId, of: &str) -> Result<Vec<i64>, Why> {
        self.ints_of(value).ok_or_else(|| format!("{of} must be constant"))
    }

    /// The numbers of a small constant.
    pub(super) fn numbers_of(&mut self, value: ValueId) -> Option<Vec<f64>> {
        let wide = self.cast(value, DType::F64).ok()?;
        let AttrKind::Dense { ty, splat, data } = self.m.cx.attr(constant_of(&self.m, wide)?) else {
            return None;
        };
        let numbers: Vec<f64> =
            data.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok()).map(f64::from_le_bytes).collect();
        if !splat {
            return Some(numbers);
        }
        let n = query::dims_of(&self.m, *ty).and_then(query::n_elements)?;
        let n = usize::try_from(n).ok().filter(|&n| n <= tf::MAX_SHAPE_CONSTANT)?;
        Some(vec![*numbers.first()?; n])
    }

    /// The number of a constant with one element.
    pub(super) fn number_of(&mut self, value: ValueId) -> Option<f64> {
        self.numbers_of(value)?.first().copied()
    }

    // ---- types ----

    pub(super) fn ty(&self, value: ValueId) -> TypeId {
        self.m.value_type(value)
    }

    /// The element type of a tensor of any kind.
    pub(super) fn element(&self, value: ValueId) -> Option<Type> {
        tf::type_of(&self.m.cx, self.ty(value)).map(|(ty, _)| ty)
    }

    /// The element type of a tensor of numbers.
    pub(super) fn dtype(&self, value: ValueId) -> Result<DType, Why> {
        query::dtype(&self.m, value).ok_or_else(|| "an input is no tensor of numbers".to_owned())
    }

    /// The dimensions, -1 for unknown ones.
    pub(super) fn dims(&self, value: ValueId) -> Result<Vec<i64>, Why> {
        let dims = query::shape(&self.m, value).ok_or("the rank of an input is not known")?;
        Ok(dims.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect())
    }

    /// The dimensions, which must be known.
    pub(super) fn known_dims(&self, value: ValueId) -> Result<Vec<i64>, Why> {
        let dims = query::dims(&self.m, value);
        dims.map(<[i64]>::to_vec).ok_or_else(|| {
            "the sizes of an input are not known; give them: --feed NAME=DTYPE[SHAPE]".to_owned()
        })
    }

    pub(super) fn rank(&self, value: ValueId) -> Result<usize, Why> {
        self.dims(value).map(|dims| dims.len())
    }

    /// `value` as a tensor of this rank. A rank that is not known is checked when the program runs.
    pub(super) fn of_rank(&mut self, value: ValueId, rank: usize) -> Result<ValueId, Why> {
        if self.rank(value).is_ok() {
            return Ok(value);
        }
        self.op(Op::EnsureShape, &[value], &[("shape", AttrArg::Dims(&vec![-1; rank]))])
    }

    /// An axis of a value; its rank must be known for one that is counted from the end.
    pub(super) fn axis(&self, value: ValueId, axis: i64) -> Result<usize, Why> {
        match (self.rank(value), usize::try_from(axis)) {
            (Ok(rank), _) => axis_of(axis, rank),
            (Err(_), Ok(axis)) => Ok(axis),
            (Err(why), Err(_)) => Err(why),
        }
    }

    /// True for a tensor of floating point numbers.
    pub(super) fn is_float(&self, value: ValueId) -> bool {
        self.dtype(value).is_ok_and(is_float)
    }

    // ---- sizes ----

    /// The shape as a vector of i64.
    pub(super) fn shape(&mut self, value: ValueId) -> Result<ValueId, Why> {
        self.to(Op::Shape, &[value], &[], DType::I64)
    }

    /// The size of an axis.
    pub(super) fn size(&mut self, value: ValueId, axis: usize) -> Result<DimSize, Why> {
        if let Some(&dim) = self.dims(value)?.get(axis)
            && dim >= 0
        {
            return Ok(DimSize::Known(dim));
        }
        let shape = self.shape(value)?;
        self.element_at(shape, axis as i64).map(DimSize::Value)
    }

    /// The sizes of all axes.
    pub(super) fn sizes(&mut self, value: ValueId) -> Result<Vec<DimSize>, Why> {
        (0..self.rank(value)?).map(|axis| self.size(value, axis)).collect()
    }

    /// A scalar of i64 as a size.
    pub(super) fn as_size(&self, value: ValueId) -> DimSize {
        match self.ints_of(value).as_deref() {
            Some(&[n]) => DimSize::Known(n),
            _ => DimSize::Value(value),
        }
    }

    /// The size as a scalar of i64.
    pub(super) fn size_value(&mut self, size: DimSize) -> Result<ValueId, Why> {
        match size {
            DimSize::Known(n) => self.int(n),
            DimSize::Value(value) => Ok(value),
        }
    }

    /// Sizes as a vector of i64.
    pub(super) fn size_vector(&mut self, sizes: &[DimSize]) -> Result<ValueId, Why> {
        let known: Option<Vec<i64>> =
            sizes.iter().map(|size| if let DimSize::Known(n) = size { Some(*n) } else { None }).collect();
        if let Some(known) = known {
            return self.ints(&known);
        }
        let values: Vec<ValueId> =
            sizes.iter().map(|&size| self.size_value(size)).collect::<Result<_, _>>()?;
        self.op(Op::Pack, &values, &[("axis", AttrArg::Int(0))])
    }

    /// The product of sizes.
    pub(super) fn size_product(&mut self, sizes: &[DimSize]) -> Result<DimSize, Why> {
        let mut known: i64 = 1;
        let mut product = None;
        for &size in sizes {
            match (size, product) {
                (DimSize::Known(n), _) => known = known.checked_mul(n).ok_or("the sizes overflow")?,
                (DimSize::Value(value), None) => product = Some(value),
                (DimSize::Value(value), Some(with)) => product = Some(self.one(Op::Mul, &[with, value])?),
            }
        }
        let Some(product) = product else { return Ok(DimSize::Known(known)) };
        let known = self.int(known)?;
        Ok(DimSize::Value(self.one(Op::Mul, &[product, known])?))
    }

    /// An element of a vector, as a scalar; negative positions count from the end.
    pub(super) fn element_at(&mut self, vector: ValueId, at: i64) -> Result<ValueId, Why> {
        let (begin, end) = (self.ints(&[at])?, self.ints(&[at.wrapping_add(1)])?);
        let stride = self.ints(&[1])?;
        let open = i64::from(at == -1);
        let attrs = [("shrink_axis_mask", AttrArg::Int(1)), ("end_mask", AttrArg::Int(open))];
        self.op(Op::StridedSlice, &[vector, begin, end, stride], &attrs)
    }

    // ---- common operations ----

    pub(super) fn add(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, Why> {
        self.one(Op::AddV2, &[a, b])
    }

    pub(super) fn sub(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, Why> {
        self.one(Op::Sub, &[a, b])
    }

    pub(super) fn mul(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, Why> {
        self.one(Op::Mul, &[a, b])
    }

    /// The quotient; that of integers is truncated.
    pub(super) fn div(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, Why> {
        let op = if self.is_float(a) { Op::RealDiv } else { Op::TruncateDiv };
        self.one(op, &[a, b])
    }

    /// `value` with a number added.
    pub(super) fn plus(&mut self, value: ValueId, number: f64) -> Result<ValueId, Why> {
        let number = self.scalar_like(number, value)?;
        self.add(value, number)
    }

    /// `value` times a number.
    pub(super) fn times(&mut self, value: ValueId, number: f64) -> Result<ValueId, Why> {
        let number = self.scalar_like(number, value)?;
        self.mul(value, number)
    }

    pub(super) fn cast(&mut self, value: ValueId, dtype: DType) -> Result<ValueId, Why> {
        if self.element(value) == Some(Type::Dense(dtype)) {
            return Ok(value);
        }
        self.to(Op::Cast, &[value], &[], dtype)
    }

    /// `value` with the elements of `like`.
    pub(super) fn cast_like(&mut self, value: ValueId, like: ValueId) -> Result<ValueId, Why> {
        let dtype = self.dtype(like)?;
        self.cast(value, dtype)
    }

    pub(super) fn reshape(&mut self, value: ValueId, sizes: &[DimSize]) -> Result<ValueId, Why> {
        // One unknown size follows from the others, so that the shape is constant.
        let unknown = sizes.iter().filter(|size| matches!(size, DimSize::Value(_))).count();
        let is_zero = sizes.contains(&DimSize::Known(0));
        let free: Vec<DimSize> = sizes
            .iter()
            .map(|&size| {
                let is_only = unknown == 1 && !is_zero && !sizes.contains(&DimSize::Known(-1));
                if is_only && matches!(size, DimSize::Value(_)) { DimSize::Known(-1) } else { size }
            })
            .collect();
        let shape = self.size_vector(&free)?;
        self.one(Op::Reshape, &[value, shape])
    }

    /// A reshape to these sizes, of which one may be -1.
    pub(super) fn reshape_to(&mut self, value: ValueId, dims: &[i64]) -> Result<ValueId, Why> {
        let shape = self.ints(dims)?;
        self.one(Op::Reshape, &[value, shape])
    }

    pub(super) fn transpose(&mut self, value: ValueId, perm: &[usize]) -> Result<ValueId, Why> {
        if perm.iter().enumerate().all(|(i, &axis)| i == axis) {
            return Ok(value);
        }
        let perm: Vec<i64> = perm.iter().map(|&axis| axis as i64).collect();
        let perm = self.ints(&perm)?;
        self.one(Op::Transpose, &[value, perm])
    }

    /// `value` with one axis moved to another place.
    pub(super) fn move_axis(&mut self, value: ValueId, from: usize, to: usize) -> Result<ValueId, Why> {
        let mut perm: Vec<usize> = (0..self.rank(value)?).filter(|&axis| axis != from).collect();
        perm.insert(to, from);
        self.transpose(value, &perm)
    }

    /// `value` with a new axis of size 1 in front of axis `at`.
    pub(super) fn expand(&mut self, value: ValueId, at: usize) -> Result<ValueId, Why> {
        self.expand_at(value, at as i64)
    }

    /// [`GraphEmitter::expand`] with an axis of the result that may count from its end.
    pub(super) fn expand_at(&mut self, value: ValueId, at: i64) -> Result<ValueId, Why> {
        let at = self.int(at)?;
        self.one(Op::ExpandDims, &[value, at])
    }

    /// `value` with axes of size 1 appended, up to this rank.
    pub(super) fn expand_behind(&mut self, value: ValueId, rank: usize) -> Result<ValueId, Why> {
        let mut sizes = self.sizes(value)?;
        sizes.resize(rank.max(sizes.len()), DimSize::Known(1));
        self.reshape(value, &sizes)
    }

    /// `value` without these axes, which have size 1.
    pub(super) fn squeeze(&mut self, value: ValueId, axes: &[i64]) -> Result<ValueId, Why> {
        self.op(Op::Squeeze, &[value], &[("squeeze_dims", AttrArg::Ints(axes))])
    }

    /// A reduction over axes.
    pub(super) fn reduce(
        &mut self,
        op: Op,
        value: ValueId,
        axes: &[usize],
        keep_dims: bool,
    ) -> Result<ValueId, Why> {
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let axes = self.ints(&axes)?;
        self.op(op, &[value, axes], &[("keep_dims", AttrArg::Bool(keep_dims))])
    }

    pub(super) fn concat(&mut self, values: &[ValueId], axis: usize) -> Result<ValueId, Why> {
        if let &[value] = values {
            return Ok(value);
        }
        let axis = self.int(axis as i64)?;
        self.one(Op::ConcatV2, &[values, &[axis]].concat())
    }

    /// The part `from..to` of an axis. A negative bound counts from the end; without `to` the part reaches to
    /// the end.
    pub(super) fn slice(
        &mut self,
        value: ValueId,
        axis: usize,
        from: i64,
        to: Option<i64>,
    ) -> Result<ValueId, Why> {
        if axis >= MAX_MASKED {
            return Err(format!("slices along axis {axis} are not supported"));
        }
        let before = (1i64 << axis) - 1;
        let open = before | if to.is_none() { 1 << axis } else { 0 };
        let vector = |last: i64, of: i64| [vec![of; axis], vec![last]].concat();
        let (begin, end) = (self.ints(&vector(from, 0))?, self.ints(&vector(to.unwrap_or(0), 0))?);
        let strides = self.ints(&vector(1, 1))?;
        let attrs = [("begin_mask", AttrArg::Int(before)), ("end_mask", AttrArg::Int(open))];
        self.op(Op::StridedSlice, &[value, begin, end, strides], &attrs)
    }

    /// The first `to` elements of an axis.
    pub(super) fn first(&mut self, value: ValueId, axis: usize, to: DimSize) -> Result<ValueId, Why> {
        let to = match to {
            DimSize::Known(to) => return self.slice(value, axis, 0, Some(to)),
            to => to,
        };
        let rank = self.rank(value)?;
        let mut sizes = vec![DimSize::Known(-1); rank];
        sizes[axis] = to;
        let (begin, sizes) = (self.ints(&vec![0; rank])?, self.size_vector(&sizes)?);
        self.one(Op::Slice, &[value, begin, sizes])
    }

    /// Equal parts along an axis.
    pub(super) fn split(&mut self, value: ValueId, axis: usize, n: usize) -> Result<Vec<ValueId>, Why> {
        let axis = self.with(|b| b.ints_of_shape(&[axis as i64], &[], DType::I32));
        let axis = axis.map_err(|refusal| refusal.message)?;
        self.ops(Op::Split, &[axis, value], &[("num_split", AttrArg::Int(n as i64))], &[])
    }

    /// Parts of these sizes along an axis.
    pub(super) fn split_by(
        &mut self,
        value: ValueId,
        axis: usize,
        sizes: ValueId,
        n: usize,
    ) -> Result<Vec<ValueId>, Why> {
        let axis = self.with(|b| b.ints_of_shape(&[axis as i64], &[], DType::I32));
        let axis = axis.map_err(|refusal| refusal.message)?;
        self.ops(Op::SplitV, &[value, sizes, axis], &[("num_split", AttrArg::Int(n as i64))], &[])
    }

    /// Padding with a constant. `pads` are the sizes before and after each axis.
    pub(super) fn pad(&mut self, value: ValueId, pads: &[(i64, i64)], with: ValueId) -> Result<ValueId, Why> {
        if pads.iter().all(|&pad| pad == (0, 0)) {
            return Ok(value);
        }
        let flat: Vec<i64> = pads.iter().flat_map(|&(before, behind)| [before, behind]).collect();
        let shape = [pads.len() as i64, 2];
        let pads = self.with(|b| b.ints_of_shape(&flat, &shape, DType::I64));
        let pads = pads.map_err(|refusal| refusal.message)?;
        self.one(Op::PadV2, &[value, pads, with])
    }

    /// The slices of `value` at indices along an axis. The indices are in range.
    pub(super) fn gather(&mut self, value: ValueId, indices: ValueId, axis: usize) -> Result<ValueId, Why> {
        let axis = self.int(axis as i64)?;
        self.one(Op::GatherV2, &[value, indices, axis])
    }

    /// A tensor of one number.
    pub(super) fn fill(&mut self, sizes: &[DimSize], with: ValueId) -> Result<ValueId, Why> {
        let shape = self.size_vector(sizes)?;
        self.one(Op::Fill, &[shape, with])
    }

    /// The numbers 0 to `size` - 1.
    pub(super) fn iota(&mut self, size: DimSize) -> Result<ValueId, Why> {
        let (zero, one, n) = (self.int(0)?, self.int(1)?, self.size_value(size)?);
        self.one(Op::Range, &[zero, n, one])
    }

    /// `indices` into an axis of `size` elements, where negative ones count from the end.
    pub(super) fn wrapped(&mut self, indices: ValueId, size: DimSize) -> Result<ValueId, Why> {
        if let (Some(known), DimSize::Known(size)) = (self.ints_of(indices), size)
            && known.iter().all(|&index| index >= 0 || size < 0)
        {
            return Ok(indices);
        }
        let zero = self.scalar_like(0.0, indices)?;
        let size = self.size_value(size)?;
        let size = self.cast_like(size, indices)?;
        let (is_negative, moved) = (self.one(Op::Less, &[indices, zero])?, self.add(indices, size)?);
        self.one(Op::SelectV2, &[is_negative, moved, indices])
    }

    // ---- functions and regions ----

    /// Ends a region.
    pub(super) fn yields(&mut self, values: &[ValueId]) {
        let op = self.m.create_named("tf.Yield", values, &[], &[]);
        self.m.append(self.block, op);
    }

    /// A control flow op without regions and, for now, without attributes.
    pub(super) fn control(&mut self, name: &str, operands: &[ValueId], results: &[TypeId]) -> OpId {
        let op = self.m.create_named(name, operands, results, &[]);
        self.m.set_loc(op, self.loc);
        self.m.append(self.block, op);
        op
    }

    /// The type of tensors of these elements and dimensions.
    pub(super) fn tensor_type(&mut self, element: Type, dims: Option<&[i64]>) -> TypeId {
        let cx = &mut self.m.cx;
        let element = tf::element(cx, element, false);
        tf::tensor(cx, dims, element)
    }
}

/// True for the types of floating point numbers.
pub(super) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

/// An axis of a tensor of this rank; a negative one counts from the end.
pub(super) fn axis_of(axis: i64, rank: usize) -> Result<usize, Why> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    let at = usize::try_from(at).ok().filter(|&at| at < rank);
    at.ok_or_else(|| format!("axis {axis} of a tensor of rank {rank}"))
}
