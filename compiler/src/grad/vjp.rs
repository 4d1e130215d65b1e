//! A vector-Jacobian product under construction.
//!
//! ```text
//! rule: |g| g.dx(0, g.d() * g.y(0).un(Op::Digamma))
//!             │       │        │
//!             │       │        └ results, operands (`x`) of the differentiated op
//!             │       └ the gradients of its results: `d` of the first one, `dy(i)` of any; `None` is zero
//!             └ the gradient of an operand, if it is wanted
//! ```
//!
//! A [`Val`] is a value of the op graph to calculate with; its ops are created in front of the insertion
//! point.
//!
//! Rules return no errors: the first refused op is remembered, nothing is created after it, and
//! [`Vjp::finish`] returns it.

use std::cell::{Ref, RefCell};

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Attrs, Op, Type};

use super::val::{Val, int, ints};
use crate::build::{Builder, Refusal, query};
use crate::dialects::tf;
use crate::ir::{AttrKind, LocId, Module, OpId, TypeId, ValueId};
use crate::rewrite::Rewriter;

/// The gradient of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grad {
    /// A tensor of the value's shape.
    Dense(ValueId),
    /// Rows that are added to zeros.
    Slices(Slices),
}

/// The gradient of a value as rows: `values[i]` is added to row `indices[i]` of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slices {
    /// The rows, one per index.
    pub(crate) values: ValueId,
    /// A vector of integers.
    pub(crate) indices: ValueId,
    /// The number of rows of the whole: a scalar.
    pub(crate) rows: ValueId,
}

/// An attribute of an op that a rule creates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
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

/// The differentiation of an operator whose row in the tensor library declares one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Differentiation {
    /// Builds the product of the gradients of the results with the Jacobian.
    Rule(fn(&Vjp<'_, '_>)),
    /// Builds the results with plain operators, which are then differentiated.
    Expands(for<'g> fn(&'g Vjp<'_, '_>) -> Vec<Val<'g>>),
}

/// The creation of ops, as [`Val`] needs it.
pub(crate) trait Emit {
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
pub(crate) struct Emitter<'r, 'm> {
    r: RefCell<&'r mut Rewriter<'m>>,
    at: OpId,
    loc: LocId,
    /// The op whose attributes [`At::Of`] refers to.
    of: OpId,
    /// The request whose gradients are created.
    request: OpId,
    refused: RefCell<Option<Refusal>>,
}

impl<'r, 'm> Emitter<'r, 'm> {
    /// An emitter in front of `at`, for the gradient of the op `of`.
    pub(crate) fn new(r: &'r mut Rewriter<'m>, at: OpId, loc: LocId, of: OpId, request: OpId) -> Self {
        Emitter { r: RefCell::new(r), at, loc, of, request, refused: RefCell::default() }
    }

    /// A value to calculate with.
    pub(crate) fn val(&self, id: ValueId) -> Val<'_> {
        Val { g: self, id }
    }

    /// Ends the emission.
    ///
    /// # Errors
    /// The first op that was refused.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        self.refused.into_inner().map_or(Ok(()), Err)
    }

    /// Refuses the op that is differentiated.
    pub(crate) fn refuse(&self, why: &str) {
        if !self.is_refused() {
            let refusal = Box::new(crate::dialects::tf_signature(&self.ir(), self.of, why));
            *self.refused.borrow_mut() = Some(refusal);
        }
    }

    fn is_refused(&self) -> bool {
        self.refused.borrow().is_some()
    }

    /// A placeholder for the result of a refused op.
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
pub(crate) struct Vjp<'r, 'm> {
    emitter: Emitter<'r, 'm>,
    op: OpId,
    dys: Vec<Option<Grad>>,
    wants: Vec<bool>,
    dxs: RefCell<Vec<(usize, Grad)>>,
}

impl<'r, 'm> Vjp<'r, 'm> {
    /// The product of `dys`, the gradients of an op's results, with the op's Jacobian, for the operands whose
    /// flag in `wants` is set. The emitter creates the ops.
    pub(crate) fn new(emitter: Emitter<'r, 'm>, op: OpId, dys: Vec<Option<Grad>>, wants: Vec<bool>) -> Self {
        Vjp { emitter, op, dys, wants, dxs: RefCell::default() }
    }

    /// The gradients of operands.
    ///
    /// # Errors
    /// The first op that was refused.
    pub(crate) fn finish(self) -> Result<Vec<(usize, Grad)>, Refusal> {
        self.emitter.finish()?;
        Ok(self.dxs.into_inner())
    }

    /// The number of data operands.
    pub(crate) fn n_x(&self) -> usize {
        self.wants.len()
    }

    /// The number of data results.
    pub(crate) fn n_y(&self) -> usize {
        self.dys.len()
    }

    /// A data operand. An op with fewer is refused.
    pub(crate) fn x(&self, i: usize) -> Val<'_> {
        if i >= self.n_x() {
            self.refuse(&format!("it has no operand #{i}"));
            return self.emitter.val(self.emitter.any());
        }
        let id = self.ir().operand(self.op, i);
        self.emitter.val(id)
    }

    /// A result.
    pub(crate) fn y(&self, i: usize) -> Val<'_> {
        let id = self.ir().result(self.op, i);
        self.emitter.val(id)
    }

    /// The gradient of result `i` as a tensor; `None` is zero.
    pub(crate) fn dy(&self, i: usize) -> Option<Val<'_>> {
        Some(match self.dys[i]? {
            Grad::Dense(value) => self.emitter.val(value),
            Grad::Slices(slices) => dense(&self.emitter, slices, self.y(i).ty()),
        })
    }

    /// The gradient of the first result, zeros if there is none.
    pub(crate) fn d(&self) -> Val<'_> {
        self.dy(0).unwrap_or_else(|| self.y(0).zeros())
    }

    /// The gradients of all results, zeros where there are none.
    pub(crate) fn ds(&self) -> Vec<Val<'_>> {
        (0..self.n_y()).map(|i| self.dy(i).unwrap_or_else(|| self.y(i).zeros())).collect()
    }

    /// The gradient of result `i`, possibly as slices.
    pub(crate) fn any_dy(&self, i: usize) -> Option<Grad> {
        self.dys[i]
    }

    /// True if the gradient of operand `i` is wanted.
    pub(crate) fn wants(&self, i: usize) -> bool {
        self.wants[i]
    }

    /// Adds to the gradient of operand `i`.
    pub(crate) fn dx(&self, i: usize, value: Val<'_>) {
        self.dx_any(i, Grad::Dense(value.id));
    }

    /// Adds to the gradient of operand `i`, as a tensor or as slices.
    pub(crate) fn dx_any(&self, i: usize, value: Grad) {
        if self.wants[i] {
            self.dxs.borrow_mut().push((i, value));
        }
    }

    /// Adds to the gradient of operand `i` a value of the shape to which the operand was broadcast.
    pub(crate) fn dx_sum(&self, i: usize, value: Val<'_>) {
        if self.wants[i] {
            self.dx(i, value.unbroadcast(self.x(i)));
        }
    }

    /// Refuses to differentiate.
    pub(crate) fn refuse(&self, why: &str) {
        self.emitter.refuse(why);
    }

    /// True if the differentiated op has this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        tf::op_of(self.ir().op_name_str(self.op)) == Some(name)
    }

    /// An integer attribute.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        let ir = self.ir();
        ir.cx.as_int(ir.attr_named(self.op, name)?)
    }

    /// An attribute of integers.
    pub(crate) fn ints(&self, name: &str) -> Vec<i64> {
        let ir = self.ir();
        match ir.attr_named(self.op, name).map(|attr| ir.cx.attr(attr)) {
            Some(AttrKind::Array(items)) => items.iter().filter_map(|&item| ir.cx.as_int(item)).collect(),
            _ => Vec::new(),
        }
    }

    /// True if a boolean attribute is set.
    pub(crate) fn flag(&self, name: &str) -> bool {
        query::flag(&self.ir(), self.op, name)
    }

    /// A boolean attribute, if it is written.
    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
        let ir = self.ir();
        match ir.cx.attr(ir.attr_named(self.op, name)?) {
            AttrKind::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A floating-point attribute, if it is written.
    pub(crate) fn float(&self, name: &str) -> Option<f64> {
        let ir = self.ir();
        let row = tf::row(&ir, self.op)?;
        tf::attrs_of(&ir, self.op, row.signature()).float(name)
    }

    /// An attribute of strings.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let ir = self.ir();
        match ir.attr_named(self.op, name).map(|attr| ir.cx.attr(attr)) {
            Some(AttrKind::Array(items)) => {
                items.iter().filter_map(|&item| Some(ir.cx.as_str(item)?.to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The name under which the request keeps the gradients of tensor arrays.
    pub(crate) fn source(&self) -> String {
        format!("gradients:{}", self.emitter.request.0)
    }

    /// A string attribute.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let ir = self.ir();
        Some(ir.cx.as_str(ir.attr_named(self.op, name)?)?.to_owned())
    }

    /// The element type that a type attribute names.
    pub(crate) fn ty(&self, name: &str) -> Option<Type> {
        let ir = self.ir();
        let ty = ir.cx.as_type(ir.attr_named(self.op, name)?)?;
        tf::type_of(&ir.cx, ty).map(|(ty, _)| ty)
    }

    /// Creates an op with one result.
    pub(crate) fn op(&self, op: Op, operands: &[Val<'_>], attrs: &[(&str, At<'_>)]) -> Val<'_> {
        self.ops(op, operands, attrs, 1)[0]
    }

    /// Creates an op with `n` results.
    pub(crate) fn ops(
        &self,
        op: Op,
        operands: &[Val<'_>],
        attrs: &[(&str, At<'_>)],
        n: usize,
    ) -> Vec<Val<'_>> {
        let operands: Vec<ValueId> = operands.iter().map(|value| value.id).collect();
        self.vals(self.emitter.emit(op, &operands, attrs, None, n))
    }

    /// Creates an op with results of these types.
    pub(crate) fn typed(
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
    pub(crate) fn same(&self, op: Op, operands: &[Val<'_>]) -> Val<'_> {
        self.same_but(op, operands, &[])
    }

    /// [`Self::same`] with some attributes changed.
    pub(crate) fn same_but(&self, op: Op, operands: &[Val<'_>], changed: &[(&str, At<'_>)]) -> Val<'_> {
        let attrs = self.common(op, changed);
        self.op(op, operands, &attrs)
    }

    /// The attributes of the differentiated op that an operator has too and that do not follow from types.
    pub(crate) fn common<'a>(&self, op: Op, changed: &[(&'a str, At<'a>)]) -> Vec<(&'a str, At<'a>)> {
        let signature = op.row().signature();
        let own = signature.attrs.iter().map(|attr| attr.name);
        let kept = own.filter(|&name| {
            !tf::is_derived(signature, name) && !changed.iter().any(|&(changed, _)| changed == name)
        });
        kept.map(|name| (name, At::Of(name))).chain(changed.iter().copied()).collect()
    }

    /// A vector of i32.
    pub(crate) fn ints_value(&self, numbers: &[i64]) -> Val<'_> {
        self.emitter.val(ints(&self.emitter, numbers, DType::I32))
    }

    /// A scalar i32.
    pub(crate) fn int_value(&self, number: i64) -> Val<'_> {
        self.emitter.val(int(&self.emitter, number, DType::I32))
    }

    /// The type of a tensor.
    pub(crate) fn tensor_type(&self, dims: Option<&[i64]>, ty: Type) -> TypeId {
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
pub(crate) fn dense<'g>(g: &'g dyn Emit, slices: Slices, ty: TypeId) -> Val<'g> {
    let operands = [slices.values, slices.indices, slices.rows];
    Val { g, id: g.emit(Op::UnsortedSegmentSum, &operands, &[], Some(&[ty]), 1)[0] }
}

/// The rule of operators that forward their operands: gradients pass as they are.
pub(crate) fn forward(g: &Vjp<'_, '_>) {
    for i in 0..g.n_y() {
        if let Some(dy) = g.any_dy(i) {
            g.dx_any(i, dy);
        }
    }
}
