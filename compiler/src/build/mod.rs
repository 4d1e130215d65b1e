//! The typed builder of the op graph, for front ends, rewrites and decompositions.
//!
//! ```text
//! operator, operands, attributes ──signature and shape rule──▶ result types ──▶ op at the insertion point
//!                                          └──▶ refused: a diagnostic at the builder's location
//! ```
//!
//! ```text
//! let mut b = Builder::before(r, op);
//! let y = b.one(Op::Rsqrt, &[x])?;
//! let y = b.op(Op::MatMul, &[y, w]).bool("transpose_b", true).like(old).one()?;
//! ```
//!
//! Result types are inferred. Given types ([`PendingOp::results`], [`PendingOp::like`]) are checked against
//! the inferred ones and kept unchanged, since the type of a replaced op may be more or less exact than the
//! inferred one. Types must be given for the results of control flow, and for element types that no operand
//! has. Every op is created through the [`Rewriter`], which records it for a driver's worklist; a front end
//! makes a rewriter of its module. The name of an op is interned from a static text, without an allocation.
//!
//! A refused op is not created. Ops that were built before it can be taken back: [`Builder::checkpoint`].
//!
//! Not here: regions, functions and ops of other dialects, which have no row to infer from ([`Rewriter`]).

mod cases;
pub mod dimensions;
pub mod function;
pub mod query;
pub mod sizes;

use befrost_tensor::DType;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Op, OpRow, Traits, Type};
use smallvec::SmallVec;

pub use crate::diag::Refusal;
use crate::diag::Span;
use crate::dialects::{tf, tf_refused};
use crate::ir::{
    AttrId, BlockId, Context, KnownType, LocId, Module, NewOp, OpId, StrId, TypeId, ValueId, names,
};
use crate::rewrite::{Checkpoint, InsertionPoint, Rewriter};

/// A builder of op graph ops at one insertion point, each after the previous one.
pub struct Builder<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    at: InsertionPoint,
    loc: LocId,
    span: Option<Span>,
}

impl<'a, 'm> Builder<'a, 'm> {
    /// A builder before an op, with its location.
    pub fn before(r: &'a mut Rewriter<'m>, op: OpId) -> Builder<'a, 'm> {
        let (loc, span) = (r.ir().loc(op), r.ir().op_spans.at(op).copied());
        Builder { r, at: InsertionPoint::Before(op), loc, span }
    }

    /// A builder at the end of a block.
    pub fn at_end(r: &'a mut Rewriter<'m>, block: BlockId, loc: LocId) -> Builder<'a, 'm> {
        Builder { r, at: InsertionPoint::End(block), loc, span: None }
    }

    /// A builder before an op, for ops with another location.
    pub fn before_with(r: &'a mut Rewriter<'m>, op: OpId, loc: LocId) -> Builder<'a, 'm> {
        let span = r.ir().op_spans.at(op).copied();
        Builder { r, at: InsertionPoint::Before(op), loc, span }
    }

    /// The IR, read-only.
    pub fn ir(&self) -> &Module {
        self.r.ir()
    }

    /// The context, for interning.
    pub fn cx(&mut self) -> &mut Context {
        self.r.cx()
    }

    /// An op that [`PendingOp`] completes and creates.
    pub fn op<'v>(&mut self, operator: Op, operands: &'v [ValueId]) -> PendingOp<'_, 'm, 'v> {
        self.op_of_row(operator.row(), operands)
    }

    /// [`Builder::op`] of an operator that may belong to another crate or to a kernel library.
    pub fn op_of_row<'v>(&mut self, row: &'static OpRow, operands: &'v [ValueId]) -> PendingOp<'_, 'm, 'v> {
        let Builder { at, loc, span, .. } = *self;
        let (attrs, results, infers_shapes) = (SmallVec::new(), None, false);
        PendingOp { r: self.r, at, loc, span, row, operands, attrs, results, infers_shapes }
    }

    /// Creates an op with one result and no attributes. Returns the result.
    ///
    /// # Errors
    /// As [`PendingOp::one`].
    pub fn one(&mut self, operator: Op, operands: &[ValueId]) -> Result<ValueId, Refusal> {
        self.op(operator, operands).one()
    }

    /// A constant.
    pub fn constant(&mut self, attr: AttrId) -> ValueId {
        let ty = self.ir().cx.attr_type(attr).unwrap_or(TypeId(0));
        let op = create(self.r, self.at, self.loc, Op::Const.row(), &[], &[ty], &[(names::VALUE, attr)]);
        self.ir().result(op, 0)
    }

    /// A scalar constant.
    ///
    /// # Errors
    /// If no number converts to the element type.
    pub fn scalar(&mut self, number: f64, dtype: DType) -> Result<ValueId, Refusal> {
        let attr = tf::scalar_attr(self.cx(), number, dtype);
        self.constant_or(attr, || format!("no scalar of type {dtype}"))
    }

    /// A constant of a static tensor type whose elements are one number.
    ///
    /// # Errors
    /// If no number converts to the element type, or the type is not static.
    pub fn splat(&mut self, number: f64, ty: TypeId) -> Result<ValueId, Refusal> {
        let dtype = tf::type_of(&self.ir().cx, ty).and_then(|(ty, _)| ty.dtype());
        let attr = dtype.and_then(|dtype| tf::splat_attr(self.cx(), number, dtype, ty));
        self.constant_or(attr, || "no constant of one number has this type".to_owned())
    }

    /// An integer attribute.
    pub fn int_attr(&mut self, value: i64) -> AttrId {
        int(self.cx(), value)
    }

    /// A constant vector of i64, or of i32 for every other `dtype`.
    ///
    /// # Errors
    /// If a number does not fit.
    pub fn ints(&mut self, numbers: &[i64], dtype: DType) -> Result<ValueId, Refusal> {
        self.ints_of_shape(numbers, &[numbers.len() as i64], dtype)
    }

    /// [`Self::ints`] of any shape.
    ///
    /// # Errors
    /// If a number does not fit, or their number is not that of the elements.
    pub fn ints_of_shape(
        &mut self,
        numbers: &[i64],
        shape: &[i64],
        dtype: DType,
    ) -> Result<ValueId, Refusal> {
        let attr = tf::ints_attr(self.cx(), numbers, shape, dtype);
        self.constant_or(attr, || format!("{} numbers are no {dtype} of shape {shape:?}", numbers.len()))
    }

    fn constant_or(&mut self, attr: Option<AttrId>, why: impl Fn() -> String) -> Result<ValueId, Refusal> {
        match attr {
            Some(attr) => Ok(self.constant(attr)),
            None => Err(refusal(self.ir(), self.span, self.loc, Op::Const.row(), &why())),
        }
    }

    /// The state of the IR, for [`Self::rollback`].
    pub fn checkpoint(&self) -> Checkpoint {
        self.r.checkpoint()
    }

    /// Erases the ops built since the checkpoint; see [`Rewriter::rollback`].
    pub fn rollback(&mut self, to: Checkpoint) {
        self.r.rollback(to);
    }
}

/// An op that is not created yet.
#[must_use = "the op is created by `build` or `one`"]
pub struct PendingOp<'b, 'm, 'v> {
    r: &'b mut Rewriter<'m>,
    at: InsertionPoint,
    loc: LocId,
    span: Option<Span>,
    row: &'static OpRow,
    operands: &'v [ValueId],
    attrs: SmallVec<[(StrId, AttrId); 4]>,
    results: Option<Vec<TypeId>>,
    /// Whether only the elements of `results` are given.
    infers_shapes: bool,
}

impl PendingOp<'_, '_, '_> {
    /// With an attribute, which replaces one of this name.
    pub fn attr(mut self, name: &str, value: AttrId) -> Self {
        let name = self.r.cx().str_id(name);
        match self.attrs.iter_mut().find(|(written, _)| *written == name) {
            Some((_, old)) => *old = value,
            None => self.attrs.push((name, value)),
        }
        self
    }

    /// With an attribute, if `value` is one.
    pub fn maybe_attr(self, name: &str, value: Option<AttrId>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// With a boolean attribute.
    pub fn bool(self, name: &str, value: bool) -> Self {
        let value = self.r.cx().bool_attr(value);
        self.attr(name, value)
    }

    /// With an integer attribute.
    pub fn int(self, name: &str, value: i64) -> Self {
        let value = int(self.r.cx(), value);
        self.attr(name, value)
    }

    /// With an array of integers as attribute.
    pub fn ints(self, name: &str, values: &[i64]) -> Self {
        let cx = self.r.cx();
        let values: Vec<AttrId> = values.iter().map(|&value| int(cx, value)).collect();
        let list = cx.array_attr(&values);
        self.attr(name, list)
    }

    /// With an f32 attribute.
    pub fn f32(self, name: &str, value: f32) -> Self {
        let value = self.r.cx().f32_attr(value);
        self.attr(name, value)
    }

    /// With a string as attribute.
    pub fn str(self, name: &str, value: &str) -> Self {
        let value = self.r.cx().str_attr(value);
        self.attr(name, value)
    }

    /// With a type as attribute.
    pub fn ty(self, name: &str, value: Type) -> Self {
        let element = tf::element(self.r.cx(), value, false);
        let value = self.r.cx().type_attr(element);
        self.attr(name, value)
    }

    /// With a shape as attribute; negative dimensions are unknown.
    pub fn dims(self, name: &str, dims: &[i64]) -> Self {
        let value = tf::shape_attr(self.r.cx(), Some(dims));
        self.attr(name, value)
    }

    /// With an array of f32 as attribute.
    pub fn f32s(self, name: &str, values: &[f32]) -> Self {
        let cx = self.r.cx();
        let values: Vec<AttrId> = values.iter().map(|&value| cx.f32_attr(value)).collect();
        let list = cx.array_attr(&values);
        self.attr(name, list)
    }

    /// With an array of strings as attribute.
    pub fn strs(self, name: &str, values: &[&str]) -> Self {
        let cx = self.r.cx();
        let values: Vec<AttrId> = values.iter().map(|value| cx.str_attr(value)).collect();
        let list = cx.array_attr(&values);
        self.attr(name, list)
    }

    /// With those attributes of an op whose names `keep` accepts.
    pub fn attrs_of(mut self, op: OpId, keep: impl Fn(&str) -> bool) -> Self {
        let m = self.r.ir();
        self.attrs.extend(m.attrs(op).iter().copied().filter(|&(name, _)| keep(m.cx.str(name))));
        self
    }

    /// With results of these types, control edges last.
    pub fn results(mut self, types: &[TypeId]) -> Self {
        self.results = Some(types.to_vec());
        self
    }

    /// With results of these element types, which no operand has, and of inferred shapes.
    pub fn elements(mut self, types: &[Type]) -> Self {
        let cx = self.r.cx();
        let unranked = |&ty: &Type| {
            let element = tf::element(cx, ty, false);
            tf::tensor(cx, None, element)
        };
        self.results = Some(types.iter().map(unranked).collect());
        self.infers_shapes = true;
        self
    }

    /// With one result of the type of `value`.
    pub fn like(mut self, value: ValueId) -> Self {
        self.results = Some(vec![self.r.ir().value_type(value)]);
        self
    }

    /// Creates the op.
    ///
    /// # Errors
    /// If the operator refuses the operands and attributes, or cannot have results of the given types.
    pub fn build(mut self) -> Result<OpId, Refusal> {
        let types = self.result_types();
        self.create(types)
    }

    /// Creates an op with one result. Returns the result.
    ///
    /// # Errors
    /// As [`Self::build`], and for another number of results.
    pub fn one(mut self) -> Result<ValueId, Refusal> {
        let types = self.result_types().and_then(|types| match tf::data_types(&types).len() {
            1 => Ok(types),
            n => Err(format!("{n} results, expected one")),
        });
        let op = self.create(types)?;
        Ok(self.r.ir().result(op, 0))
    }

    fn create(&mut self, types: Result<Vec<TypeId>, String>) -> Result<OpId, Refusal> {
        match types {
            Ok(types) => Ok(create(self.r, self.at, self.loc, self.row, self.operands, &types, &self.attrs)),
            Err(why) => Err(refusal(self.r.ir(), self.span, self.loc, self.row, &why)),
        }
    }

    /// The types of the results: the given ones, if inference allows them, or else the inferred ones.
    fn result_types(&mut self) -> Result<Vec<TypeId>, String> {
        let given = self.results.clone();
        let m = self.r.ir();
        let operand_types: Vec<TypeId> = self.operands.iter().map(|&value| m.value_type(value)).collect();
        let inputs = tf::data_types(&operand_types);
        let outputs = self.results.as_deref().map_or(&[][..], tf::data_types);
        let types = (inputs.iter().copied(), outputs.iter().copied());
        let attrs = tf::derived_attrs(&m.cx, &self.attrs, self.row.signature(), types.0, types.1);
        let is_passing = self.row.has(Traits::PASSING);
        if is_passing || self.row.has(Traits::LOWERED) {
            return match given {
                Some(given) => attrs.check().map(|()| given),
                None if is_passing => Ok(inputs.to_vec()),
                None => Err("the types of the results are not given".to_owned()),
            };
        }
        let data = &self.operands[..inputs.len()];
        let inferred =
            query::infer(m, self.row, &attrs, data, &|value| query::partial_shape(m, m.value_type(value)))?;
        if let Some(given) = given {
            if outputs.len() != inferred.len() {
                return Err(format!("{} results, expected {}", outputs.len(), inferred.len()));
            }
            for (i, (&ty, inferred)) in outputs.iter().zip(&inferred).enumerate() {
                fits(m, ty, inferred.ty, &inferred.shape).map_err(|why| format!("result #{i} {why}"))?;
            }
            if !self.infers_shapes {
                return Ok(given);
            }
        }
        if self.row.signature().outputs.iter().any(|output| output.is_ref) {
            return Err("the types of references are not given".to_owned());
        }
        let cx = self.r.cx();
        let mut types = Vec::with_capacity(inferred.len());
        for result in inferred {
            let element = tf::element(cx, result.ty, false);
            types.push(tf::tensor(cx, result.shape.dims().as_deref(), element));
        }
        Ok(types)
    }
}

/// Checks that a result with the inferred element type and shape may have the type `ty`.
fn fits(m: &Module, ty: TypeId, element: Type, shape: &PartialShape) -> Result<(), String> {
    match tf::type_of(&m.cx, ty) {
        Some((found, _)) if found == element => {}
        Some((found, _)) => return Err(format!("has elements of type {found}, expected {element}")),
        None => return Err("is no tensor".to_owned()),
    }
    let found = query::partial_shape(m, ty);
    match found.merged(shape) {
        Some(_) => Ok(()),
        None => Err(format!("has shape {found}, expected {shape}")),
    }
}

fn int(cx: &mut Context, value: i64) -> AttrId {
    cx.int_attr(KnownType::I64.id(), value)
}

fn create(
    r: &mut Rewriter<'_>,
    at: InsertionPoint,
    loc: LocId,
    row: &OpRow,
    operands: &[ValueId],
    results: &[TypeId],
    attrs: &[(StrId, AttrId)],
) -> OpId {
    let name = r.cx().str_id(row.op_name);
    let name = r.cx().op_name(name);
    r.create(at, NewOp { loc, operands, results, attrs, ..NewOp::new(name) })
}

fn refusal(m: &Module, span: Option<Span>, loc: LocId, row: &OpRow, why: &str) -> Refusal {
    Box::new(tf_refused(m, span, loc, row.op_name, why))
}
