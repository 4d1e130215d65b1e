//! A vector-Jacobian product under construction, and values with which the rules calculate.
//!
//! ```text
//! rule: |g| g.dx(0, g.d() * g.y(0).un(Op::Digamma))
//!             │       │        │
//!             │       │        └ results, operands (`x`) of the differentiated op
//!             │       └ the gradients of its results: `d` of the first one, `dy(i)` of any; `None` is zero
//!             └ the gradient of an operand, if it is wanted
//! ```
//!
//! A [`Val`] is a value of the op graph whose methods and operators create ops, with inferred types, in front
//! of the insertion point. Shapes that are known statically become constants, so that the same rule serves
//! static and unknown shapes.
//!
//! Rules cannot fail on their own: the first refused op is remembered, nothing is created after it, and
//! [`Vjp::finish`] returns it.

use std::cell::{Ref, RefCell};
use std::ops::{Add, Div, Mul, Neg, Sub};

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Attrs, Op, Type};

use crate::build::{Builder, Refusal, query};
use crate::dialects::tf;
use crate::ir::{AttrKind, DYNAMIC, LocId, Module, OpId, TypeId, ValueId};
use crate::rewrite::Rewriter;

/// The gradient of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grad {
    /// A tensor of the value's shape.
    Dense(ValueId),
    /// Rows that are added to zeros.
    Slices(Slices),
}

/// The gradient of a value as rows: `values[i]` is added to row `indices[i]` of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// The rows, one per index.
    pub values: ValueId,
    /// A vector of integers.
    pub indices: ValueId,
    /// The number of rows of the whole: a scalar.
    pub rows: ValueId,
}

/// An attribute of an op that a rule creates.
#[derive(Clone, Copy, Debug)]
pub enum At<'a> {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Integers.
    Ints(&'a [i64]),
    /// A string.
    Str(&'a str),
    /// An element type.
    Type(Type),
    /// The shapes of types.
    Shapes(&'a [TypeId]),
    /// The attribute of the differentiated op with this name, if it has one.
    Of(&'a str),
}

/// The creation of ops, as [`Val`] needs it.
pub trait Emit {
    /// The IR.
    fn ir(&self) -> Ref<'_, Module>;
    /// Creates an op and returns its `n` results, of the given types or inferred ones.
    fn emit(
        &self,
        op: Op,
        operands: &[ValueId],
        attrs: &[(&str, At<'_>)],
        types: Option<&[TypeId]>,
        n: usize,
    ) -> Vec<ValueId>;
    /// Creates a constant.
    fn constant(&self, make: &dyn Fn(&mut Builder<'_, '_>) -> Result<ValueId, Refusal>) -> ValueId;
    /// The type of a tensor of a shape, -1 for unknown sizes, or of unknown rank.
    fn tensor_type(&self, dims: Option<&[i64]>, ty: Type) -> TypeId;
}

/// Creates ops in front of another op, and remembers the first refusal.
pub struct Emitter<'r, 'm> {
    r: RefCell<&'r mut Rewriter<'m>>,
    at: OpId,
    loc: LocId,
    /// The op whose attributes [`At::Of`] refers to.
    of: OpId,
    /// The request that is differentiated for.
    request: OpId,
    refused: RefCell<Option<Refusal>>,
}

impl<'r, 'm> Emitter<'r, 'm> {
    /// An emitter in front of `at`, for the gradient of the op `of`.
    pub fn new(r: &'r mut Rewriter<'m>, at: OpId, loc: LocId, of: OpId, request: OpId) -> Self {
        Emitter { r: RefCell::new(r), at, loc, of, request, refused: RefCell::default() }
    }

    /// A value to calculate with.
    pub fn val(&self, id: ValueId) -> Val<'_> {
        Val { g: self, id }
    }

    /// The first refusal.
    pub fn finish(self) -> Result<(), Refusal> {
        self.refused.into_inner().map_or(Ok(()), Err)
    }

    /// Refuses the op that is differentiated.
    pub fn refuse(&self, why: &str) {
        if !self.is_refused() {
            let refusal = Box::new(crate::dialects::tf_signature(&self.ir(), self.of, why));
            *self.refused.borrow_mut() = Some(refusal);
        }
    }

    fn is_refused(&self) -> bool {
        self.refused.borrow().is_some()
    }

    /// A value that stands for the result of a refused op.
    fn any(&self) -> ValueId {
        let ir = self.ir();
        ir.operands(self.of).chain(ir.results(self.of)).next().unwrap_or(ValueId(0))
    }
}

impl Emit for Emitter<'_, '_> {
    fn ir(&self) -> Ref<'_, Module> {
        Ref::map(self.r.borrow(), |r| r.ir())
    }

    fn emit(
        &self,
        op: Op,
        operands: &[ValueId],
        attrs: &[(&str, At<'_>)],
        types: Option<&[TypeId]>,
        n: usize,
    ) -> Vec<ValueId> {
        if self.is_refused() {
            return vec![self.any(); n];
        }
        let mut r = self.r.borrow_mut();
        let mut b = Builder::before_with(&mut r, self.at, self.loc);
        let attrs: Vec<_> = attrs
            .iter()
            .filter_map(|&(name, at)| {
                let attr = match at {
                    At::Bool(value) => b.cx().bool_attr(value),
                    At::Int(value) => b.int_attr(value),
                    At::Ints(values) => {
                        let values: Vec<_> = values.iter().map(|&value| b.int_attr(value)).collect();
                        b.cx().array_attr(&values)
                    }
                    At::Str(text) => b.cx().str_attr(text),
                    At::Type(ty) => {
                        let ty = tf::element(b.cx(), ty, false);
                        b.cx().type_attr(ty)
                    }
                    At::Shapes(types) => {
                        let shapes: Vec<_> = types
                            .iter()
                            .map(|&ty| {
                                let dims = query::partial_shape(b.ir(), ty).dims();
                                tf::shape_attr(b.cx(), dims.as_deref())
                            })
                            .collect();
                        b.cx().array_attr(&shapes)
                    }
                    At::Of(other) => b.ir().attr_named(self.of, other)?,
                };
                Some((name, attr))
            })
            .collect();
        let mut pending = b.op(op, operands);
        for (name, attr) in attrs {
            pending = pending.attr(name, attr);
        }
        if let Some(types) = types {
            pending = pending.results(types);
        }
        match pending.build() {
            Ok(made) => {
                let mut results: Vec<ValueId> = b.ir().results(made).collect();
                if results.len() < n {
                    let found = results.len();
                    drop(r);
                    self.refuse(&format!("its gradient needs {n} results of `{op:?}`, which has {found}"));
                    return vec![self.any(); n];
                }
                results.truncate(n);
                results
            }
            Err(refusal) => {
                drop(r);
                *self.refused.borrow_mut() = Some(refusal);
                vec![self.any(); n]
            }
        }
    }

    fn constant(&self, make: &dyn Fn(&mut Builder<'_, '_>) -> Result<ValueId, Refusal>) -> ValueId {
        if self.is_refused() {
            return self.any();
        }
        let mut r = self.r.borrow_mut();
        match make(&mut Builder::before_with(&mut r, self.at, self.loc)) {
            Ok(value) => value,
            Err(refusal) => {
                drop(r);
                *self.refused.borrow_mut() = Some(refusal);
                self.any()
            }
        }
    }

    fn tensor_type(&self, dims: Option<&[i64]>, ty: Type) -> TypeId {
        let mut r = self.r.borrow_mut();
        let element = tf::element(r.cx(), ty, false);
        tf::tensor(r.cx(), dims, element)
    }
}

/// The vector-Jacobian product of one op.
pub struct Vjp<'r, 'm> {
    emitter: Emitter<'r, 'm>,
    op: OpId,
    dys: Vec<Option<Grad>>,
    wants: Vec<bool>,
    dxs: RefCell<Vec<(usize, Grad)>>,
}

impl<'r, 'm> Vjp<'r, 'm> {
    /// The product of the gradients `dys` of an op's results with its Jacobian, for the operands that `wants`
    /// names. The ops are created with an emitter.
    pub fn new(emitter: Emitter<'r, 'm>, op: OpId, dys: Vec<Option<Grad>>, wants: Vec<bool>) -> Self {
        Vjp { emitter, op, dys, wants, dxs: RefCell::default() }
    }

    /// The gradients of operands.
    ///
    /// # Errors
    /// The first op that was refused.
    pub fn finish(self) -> Result<Vec<(usize, Grad)>, Refusal> {
        self.emitter.finish()?;
        Ok(self.dxs.into_inner())
    }

    /// The number of data operands.
    pub fn n_x(&self) -> usize {
        self.wants.len()
    }

    /// The number of data results.
    pub fn n_y(&self) -> usize {
        self.dys.len()
    }

    /// An operand.
    pub fn x(&self, i: usize) -> Val<'_> {
        let id = self.ir().operand(self.op, i);
        self.emitter.val(id)
    }

    /// A result.
    pub fn y(&self, i: usize) -> Val<'_> {
        let id = self.ir().result(self.op, i);
        self.emitter.val(id)
    }

    /// The gradient of result `i` as a tensor; `None` is zero.
    pub fn dy(&self, i: usize) -> Option<Val<'_>> {
        Some(match self.dys[i]? {
            Grad::Dense(value) => self.emitter.val(value),
            Grad::Slices(slices) => dense(&self.emitter, slices, self.y(i).ty()),
        })
    }

    /// The gradient of the first result, zeros if there is none.
    pub fn d(&self) -> Val<'_> {
        self.dy(0).unwrap_or_else(|| self.y(0).zeros())
    }

    /// The gradients of all results, zeros where there are none.
    pub fn ds(&self) -> Vec<Val<'_>> {
        (0..self.n_y()).map(|i| self.dy(i).unwrap_or_else(|| self.y(i).zeros())).collect()
    }

    /// The gradient of result `i`, possibly as slices.
    pub fn any_dy(&self, i: usize) -> Option<Grad> {
        self.dys[i]
    }

    /// True if the gradient of operand `i` is wanted.
    pub fn wants(&self, i: usize) -> bool {
        self.wants[i]
    }

    /// Adds to the gradient of operand `i`.
    pub fn dx(&self, i: usize, value: Val<'_>) {
        self.dx_any(i, Grad::Dense(value.id));
    }

    /// Adds to the gradient of operand `i`, as a tensor or as slices.
    pub fn dx_any(&self, i: usize, value: Grad) {
        if self.wants[i] {
            self.dxs.borrow_mut().push((i, value));
        }
    }

    /// Adds to the gradient of operand `i` a value of the shape to which the operand was broadcast.
    pub fn dx_sum(&self, i: usize, value: Val<'_>) {
        if self.wants[i] {
            self.dx(i, value.unbroadcast(self.x(i)));
        }
    }

    /// Refuses to differentiate.
    pub fn refuse(&self, why: &str) {
        self.emitter.refuse(why);
    }

    /// True if the differentiated op has this name.
    pub fn is(&self, name: &str) -> bool {
        tf::op_of(self.ir().op_name_str(self.op)) == Some(name)
    }

    /// An integer attribute.
    pub fn int(&self, name: &str) -> Option<i64> {
        let ir = self.ir();
        ir.cx.as_int(ir.attr_named(self.op, name)?)
    }

    /// An attribute of integers.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        let ir = self.ir();
        match ir.attr_named(self.op, name).map(|attr| ir.cx.attr(attr)) {
            Some(AttrKind::Array(items)) => items.iter().filter_map(|&item| ir.cx.as_int(item)).collect(),
            _ => Vec::new(),
        }
    }

    /// True if a boolean attribute is set.
    pub fn flag(&self, name: &str) -> bool {
        query::flag(&self.ir(), self.op, name)
    }

    /// A boolean attribute, if it is written.
    pub fn bool(&self, name: &str) -> Option<bool> {
        let ir = self.ir();
        match ir.cx.attr(ir.attr_named(self.op, name)?) {
            AttrKind::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A floating-point attribute, if it is written.
    pub fn float(&self, name: &str) -> Option<f64> {
        let ir = self.ir();
        let row = tf::row(&ir, self.op)?;
        tf::attrs_of(&ir, self.op, row.signature()).float(name)
    }

    /// An attribute of strings.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let ir = self.ir();
        match ir.attr_named(self.op, name).map(|attr| ir.cx.attr(attr)) {
            Some(AttrKind::Array(items)) => {
                items.iter().filter_map(|&item| Some(ir.cx.as_str(item)?.to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The name under which the request keeps the gradients of tensor arrays.
    pub fn source(&self) -> String {
        format!("gradients:{}", self.emitter.request.0)
    }

    /// A string attribute.
    pub fn text(&self, name: &str) -> Option<String> {
        let ir = self.ir();
        Some(ir.cx.as_str(ir.attr_named(self.op, name)?)?.to_owned())
    }

    /// The element type that a type attribute names.
    pub fn ty(&self, name: &str) -> Option<Type> {
        let ir = self.ir();
        let ty = ir.cx.as_type(ir.attr_named(self.op, name)?)?;
        tf::type_of(&ir.cx, ty).map(|(ty, _)| ty)
    }

    /// Creates an op with one result.
    pub fn op(&self, op: Op, operands: &[Val<'_>], attrs: &[(&str, At<'_>)]) -> Val<'_> {
        self.ops(op, operands, attrs, 1)[0]
    }

    /// Creates an op with `n` results.
    pub fn ops(&self, op: Op, operands: &[Val<'_>], attrs: &[(&str, At<'_>)], n: usize) -> Vec<Val<'_>> {
        let operands: Vec<ValueId> = operands.iter().map(|value| value.id).collect();
        self.vals(self.emitter.emit(op, &operands, attrs, None, n))
    }

    /// Creates an op with results of these types.
    pub fn typed(
        &self,
        op: Op,
        operands: &[Val<'_>],
        attrs: &[(&str, At<'_>)],
        types: &[TypeId],
    ) -> Vec<Val<'_>> {
        let operands: Vec<ValueId> = operands.iter().map(|value| value.id).collect();
        self.vals(self.emitter.emit(op, &operands, attrs, Some(types), types.len()))
    }

    /// Creates an op with one result and those attributes of the differentiated op that it also has.
    pub fn same(&self, op: Op, operands: &[Val<'_>]) -> Val<'_> {
        self.same_but(op, operands, &[])
    }

    /// [`Self::same`] with some attributes changed.
    pub fn same_but(&self, op: Op, operands: &[Val<'_>], changed: &[(&str, At<'_>)]) -> Val<'_> {
        let attrs = self.common(op, changed);
        self.op(op, operands, &attrs)
    }

    /// The attributes of the differentiated op that an operator has too and that do not follow from types.
    pub fn common<'a>(&self, op: Op, changed: &[(&'a str, At<'a>)]) -> Vec<(&'a str, At<'a>)> {
        let signature = op.row().signature();
        let own = signature.attrs.iter().map(|attr| attr.name);
        let kept = own.filter(|&name| {
            !tf::is_derived(signature, name) && !changed.iter().any(|&(changed, _)| changed == name)
        });
        kept.map(|name| (name, At::Of(name))).chain(changed.iter().copied()).collect()
    }

    /// A vector of i32.
    pub fn ints_value(&self, numbers: &[i64]) -> Val<'_> {
        self.emitter.val(ints(&self.emitter, numbers, DType::I32))
    }

    /// A scalar i32.
    pub fn int_value(&self, number: i64) -> Val<'_> {
        self.emitter.val(int(&self.emitter, number, DType::I32))
    }

    /// The type of a tensor.
    pub fn tensor_type(&self, dims: Option<&[i64]>, ty: Type) -> TypeId {
        self.emitter.tensor_type(dims, ty)
    }

    fn ir(&self) -> Ref<'_, Module> {
        self.emitter.ir()
    }

    fn vals(&self, ids: Vec<ValueId>) -> Vec<Val<'_>> {
        ids.into_iter().map(|id| self.emitter.val(id)).collect()
    }
}

/// The tensor of a type that slices stand for.
pub fn dense<'g>(g: &'g dyn Emit, slices: Slices, ty: TypeId) -> Val<'g> {
    let operands = [slices.values, slices.indices, slices.rows];
    Val { g, id: g.emit(Op::UnsortedSegmentSum, &operands, &[], Some(&[ty]), 1)[0] }
}

fn ints(g: &dyn Emit, numbers: &[i64], dtype: DType) -> ValueId {
    g.constant(&|b| b.ints(numbers, dtype))
}

fn int(g: &dyn Emit, number: i64, dtype: DType) -> ValueId {
    g.constant(&|b| b.ints_of_shape(&[number], &[], dtype))
}

/// A value to calculate with.
#[derive(Clone, Copy)]
pub struct Val<'g> {
    g: &'g dyn Emit,
    /// The value.
    pub id: ValueId,
}

impl<'g> Val<'g> {
    /// Another value with the same emitter.
    pub fn with(self, id: ValueId) -> Val<'g> {
        Val { g: self.g, id }
    }

    /// Creates an op with one result.
    pub fn op(self, op: Op, operands: &[Val<'_>], attrs: &[(&str, At<'_>)]) -> Val<'g> {
        let operands: Vec<ValueId> = operands.iter().map(|value| value.id).collect();
        self.with(self.g.emit(op, &operands, attrs, None, 1)[0])
    }

    /// An operator of one tensor.
    pub fn un(self, op: Op) -> Val<'g> {
        self.op(op, &[self], &[])
    }

    /// An operator of two tensors.
    pub fn bin(self, op: Op, other: Val<'_>) -> Val<'g> {
        self.op(op, &[self, other], &[])
    }

    /// The type.
    pub fn ty(self) -> TypeId {
        self.g.ir().value_type(self.id)
    }

    /// TensorFlow's type of the elements.
    pub fn element(self) -> Type {
        let ir = self.g.ir();
        tf::type_of(&ir.cx, ir.value_type(self.id)).map_or(Type::Variant, |(ty, _)| ty)
    }

    /// The element type; f32 for values that are no numbers.
    pub fn dtype(self) -> DType {
        self.element().dtype().unwrap_or(DType::F32)
    }

    /// True for complex numbers.
    pub fn is_complex(self) -> bool {
        matches!(self.dtype(), DType::Complex64 | DType::Complex128)
    }

    /// The sizes as far as known, -1 for unknown ones.
    pub fn sizes(self) -> Option<Vec<i64>> {
        let ir = self.g.ir();
        let sizes = query::shape(&ir, self.id)?;
        Some(sizes.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect())
    }

    /// The sizes if all are known.
    pub fn dims(self) -> Option<Vec<i64>> {
        self.sizes().filter(|sizes| !sizes.contains(&-1))
    }

    /// The number of axes, if known.
    pub fn rank(self) -> Option<usize> {
        self.sizes().map(|sizes| sizes.len())
    }

    /// The elements of a small constant of integers.
    pub fn known_ints(self) -> Option<Vec<i64>> {
        query::ints(&self.g.ir(), self.id)
    }

    /// The shape, as a vector of i32.
    pub fn shape(self) -> Val<'g> {
        self.shape_as(DType::I32)
    }

    /// The shape, as a vector of i32 or i64.
    pub fn shape_as(self, dtype: DType) -> Val<'g> {
        if self.element() == Type::Resource {
            return self.typed(Op::VariableShape, dtype);
        }
        match self.dims() {
            Some(dims) => self.ints(&dims, dtype),
            None => self.typed(Op::Shape, dtype),
        }
    }

    /// A query of the shape with a vector of `dtype` as result.
    fn typed(self, op: Op, dtype: DType) -> Val<'g> {
        let rank = self.rank().filter(|_| op == Op::Shape).map_or(-1, |rank| rank as i64);
        let ty = self.g.tensor_type(Some(&[rank]), Type::Dense(dtype));
        self.with(self.g.emit(op, &[self.id], &[], Some(&[ty]), 1)[0])
    }

    /// The number of axes as a scalar i32.
    pub fn rank_value(self) -> Val<'g> {
        match self.rank() {
            Some(rank) => self.int(rank as i64),
            None => self.un(Op::Rank),
        }
    }

    /// The size of an axis as a scalar i32. A negative axis counts from the end.
    pub fn size(self, axis: i64) -> Val<'g> {
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
    pub fn element_at(self, i: i64) -> Val<'g> {
        let end = self.int(i).expand(0) + self.int(1);
        let masks = [("shrink_axis_mask", At::Int(1)), ("end_mask", At::Int(i64::from(i == -1)))];
        self.op(
            Op::StridedSlice,
            &[self, self.ints(&[i], DType::I32), end, self.ints(&[1], DType::I32)],
            &masks,
        )
    }

    /// The number of elements as a scalar i32.
    pub fn count(self) -> Val<'g> {
        match self.dims() {
            Some(dims) => self.int(dims.iter().product()),
            None => self.un(Op::Size),
        }
    }

    /// A constant vector of integers.
    pub fn ints(self, numbers: &[i64], dtype: DType) -> Val<'g> {
        self.with(ints(self.g, numbers, dtype))
    }

    /// A constant scalar i32.
    pub fn int(self, number: i64) -> Val<'g> {
        self.with(int(self.g, number, DType::I32))
    }

    /// A constant scalar of this element type.
    pub fn number(self, number: f64) -> Val<'g> {
        let dtype = self.dtype();
        self.with(self.g.constant(&|b| b.scalar(number, dtype)))
    }

    /// A tensor of this shape and element type with one number; of a list or an optional, one of zeros; for a
    /// variable's handle, of its value.
    pub fn full(self, number: f64) -> Val<'g> {
        if self.element() == Type::Variant {
            return self.un(Op::ZerosLike);
        }
        let ty = self.ty();
        if self.dims().is_some() {
            return self.with(self.g.constant(&|b| b.splat(number, ty)));
        }
        self.shape().filled(ty, number)
    }

    /// A tensor of this shape, which is a vector, and of a type, with one number.
    pub fn filled(self, ty: TypeId, number: f64) -> Val<'g> {
        let dtype = {
            let ir = self.g.ir();
            tf::type_of(&ir.cx, ty).and_then(|(ty, _)| ty.dtype()).unwrap_or(DType::F32)
        };
        let scalar = self.g.constant(&|b| b.scalar(number, dtype));
        self.with(self.g.emit(Op::Fill, &[self.id, scalar], &[], Some(&[ty]), 1)[0])
    }

    /// [`Self::full`] of zeros.
    pub fn zeros(self) -> Val<'g> {
        self.full(0.0)
    }

    /// [`Self::full`] of ones.
    pub fn ones(self) -> Val<'g> {
        self.full(1.0)
    }

    /// The complex conjugate; real numbers as they are.
    pub fn conj(self) -> Val<'g> {
        if self.is_complex() { self.un(Op::Conj) } else { self }
    }

    /// The values as another type.
    pub fn cast(self, dtype: DType) -> Val<'g> {
        if self.dtype() == dtype {
            return self;
        }
        let ty = self.g.tensor_type(self.sizes().as_deref(), Type::Dense(dtype));
        self.with(self.g.emit(Op::Cast, &[self.id], &[], Some(&[ty]), 1)[0])
    }

    /// The values as the element type of another value.
    pub fn cast_like(self, other: Val<'_>) -> Val<'g> {
        self.cast(other.dtype())
    }

    /// The real or imaginary part.
    pub fn part(self, part: Op) -> Val<'g> {
        let dtype = if self.dtype() == DType::Complex128 { DType::F64 } else { DType::F32 };
        let ty = self.g.tensor_type(self.sizes().as_deref(), Type::Dense(dtype));
        self.with(self.g.emit(part, &[self.id], &[], Some(&[ty]), 1)[0])
    }

    /// The complex number with this real part.
    pub fn complex(self, imaginary: Val<'_>) -> Val<'g> {
        let dtype = if self.dtype() == DType::F64 { DType::Complex128 } else { DType::Complex64 };
        let ty = self.g.tensor_type(self.sizes().as_deref(), Type::Dense(dtype));
        self.with(self.g.emit(Op::Complex, &[self.id, imaginary.id], &[], Some(&[ty]), 1)[0])
    }

    /// The real number as a complex one.
    pub fn as_complex(self) -> Val<'g> {
        self.complex(self.number(0.0))
    }

    /// The sum along axes.
    pub fn sum(self, axes: Val<'_>, keep_dims: bool) -> Val<'g> {
        self.op(Op::Sum, &[self, axes], &[("keep_dims", At::Bool(keep_dims))])
    }

    /// The sum along the last axis, which is kept.
    pub fn sum_last(self) -> Val<'g> {
        self.sum(self.ints(&[-1], DType::I32), true)
    }

    /// The sum of all elements.
    pub fn sum_all(self) -> Val<'g> {
        match self.rank() {
            Some(0) => self,
            Some(rank) => self.sum(self.ints(&(0..rank as i64).collect::<Vec<_>>(), DType::I32), false),
            None => self.sum(self.range(self.rank_value()), false),
        }
    }

    /// The integers from 0 to a scalar.
    pub fn range(self, to: Val<'_>) -> Val<'g> {
        self.op(Op::Range, &[self.int(0), to, self.int(1)], &[])
    }

    /// The elements in another shape.
    pub fn reshape(self, shape: Val<'_>) -> Val<'g> {
        self.bin(Op::Reshape, shape)
    }

    /// The elements in a shape of known sizes, of which one may be -1.
    pub fn reshaped(self, sizes: &[i64]) -> Val<'g> {
        if self.dims().as_deref() == Some(sizes) {
            return self;
        }
        self.reshape(self.ints(sizes, DType::I32))
    }

    /// The elements in the shape of another value.
    pub fn reshape_like(self, other: Val<'_>) -> Val<'g> {
        if self.dims().is_some() && self.dims() == other.dims() {
            return self;
        }
        self.reshape(self.with(other.id).shape())
    }

    /// One more axis of size 1.
    pub fn expand(self, axis: i64) -> Val<'g> {
        self.bin(Op::ExpandDims, self.int(axis))
    }

    /// The value broadcast to a shape.
    pub fn broadcast(self, shape: Val<'_>) -> Val<'g> {
        self.bin(Op::BroadcastTo, shape)
    }

    /// The value broadcast to the shape of another.
    pub fn broadcast_like(self, other: Val<'_>) -> Val<'g> {
        if self.dims().is_some() && self.dims() == other.dims() {
            return self;
        }
        self.broadcast(self.with(other.id).shape())
    }

    /// A part of known start and size; -1 is all the rest.
    pub fn slice(self, begin: Val<'_>, size: Val<'_>) -> Val<'g> {
        self.op(Op::Slice, &[self, begin, size], &[])
    }

    /// The rows at indices.
    pub fn gather(self, indices: Val<'_>) -> Val<'g> {
        self.op(Op::GatherV2, &[self, indices, self.int(0)], &[])
    }

    /// Values joined along the first axis.
    pub fn concat(parts: &[Val<'g>], axis: i64) -> Val<'g> {
        let first = parts[0];
        let operands: Vec<Val<'_>> = parts.iter().copied().chain([first.int(axis)]).collect();
        first.op(Op::ConcatV2, &operands, &[])
    }

    /// The axes permuted.
    pub fn transpose(self, order: Val<'_>) -> Val<'g> {
        self.bin(Op::Transpose, order)
    }

    /// The matrices transposed and conjugated.
    pub fn adjoint(self) -> Val<'g> {
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
    pub fn matmul(self, other: Val<'_>, adj_x: bool, adj_y: bool) -> Val<'g> {
        let attrs = [("adj_x", At::Bool(adj_x)), ("adj_y", At::Bool(adj_y))];
        self.op(Op::BatchMatMulV2, &[self, other], &attrs)
    }

    /// One of two tensors by a condition, all broadcast.
    pub fn select(self, yes: Val<'_>, no: Val<'_>) -> Val<'g> {
        self.op(Op::SelectV2, &[self, yes, no], &[])
    }

    /// This gradient where a condition holds, zero elsewhere.
    pub fn only(self, condition: Val<'_>) -> Val<'g> {
        self.with(condition.id).select(self, self.number(0.0))
    }

    /// The sum over the axes along which `x` was broadcast to the shape of this value.
    pub fn unbroadcast(self, x: Val<'_>) -> Val<'g> {
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
