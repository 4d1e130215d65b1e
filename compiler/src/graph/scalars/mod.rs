//! `tf-scalars-to-arith`: arithmetic on tensors of rank 0 becomes arithmetic on scalars, in registers.
//!
//! ```text
//! %p = tf.Less(%i, %n)                  %i' = tensor.extract %i[]      %n' = tensor.extract %n[]
//! %b = tf._Predicate(%p)        ──▶     %b = arith.cmpi slt, %i', %n'
//! %j = tf.AddV2(%i, %one)               %j' = arith.addi %i', %c1
//!                                       %j = tensor.from_elements %j'
//!
//! func @step(%i: tensor<i32>) ──▶ func @step(%i': i32)      used by loops, branches and calls
//! ```
//!
//! An operator on tensors takes some 100 ns and an allocation, one on scalars 3 ns. The pass pays for the
//! counters and conditions of loops.
//!
//! ```text
//! classes.rs    classes of values that must have one representation, because an op forwards one as the
//!               other: an operand of a loop, its argument, the body's result, the loop's result; the ways of
//!               a Switch
//! operators.rs  operators with a scalar equivalent
//! this file     a class with an operand or a result of such an operator becomes scalar; conversions are
//!               inserted where other ops read or make its values
//! ```
//!
//! Part of the kernel graph's optimization, after `tf-to-kernels`. A conversion of a dead value or an error
//! is skipped, like an operator, so the pass also serves graphs whose values may be dead.

mod classes;
mod operators;

use befrost_tensor::tf::op::Op;
use rustc_hash::FxHashMap;

use self::classes::{Classes, ScalarRole};
use self::operators::Arithmetic;
use super::effects::functions;
use crate::device::is_in_other_memory;
use crate::dialects::{Traits, tf};
use crate::fold::constant::Constant;
use crate::ir::{BlockId, KnownType, Module, OpId, TypeId, TypeKind, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{InsertionPoint, is_trivially_dead, signatures};

pub(crate) const PASS: Pass = Pass {
    name: "tf-scalars-to-arith",
    title: "TFScalarsToArith",
    summary: "computes on scalars in registers what is computed on tensors of rank 0",
    options: &[],
    statistics: &[
        ("num-ops", "Number of operators that became scalar"),
        ("num-ports", "Number of arguments and results of functions that became scalar"),
    ],
    run,
};

const EXTRACT: &str = "tensor.extract";
const FROM_ELEMENTS: &str = "tensor.from_elements";

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let mut all: Vec<OpId> = functions(r.ir()).into_values().collect();
    all.sort_unstable();
    let blocks: Vec<BlockId> = all.iter().filter_map(|&function| r.ir().only_block(function)).collect();
    blocks.iter().for_each(|&block| drop_identities(r, block));
    let mut classes = Classes::of(r.ir(), &blocks);
    if !classes.have_scalars() {
        return r.change();
    }
    let (scalars, tensors) = Default::default();
    let mut rewriting = Rewriting { r, scalars, tensors, n_ops: 0 };
    let n_ports: u64 = blocks.iter().map(|&block| rewriting.block(block, &mut classes)).sum();
    cx.count("num-ops", rewriting.n_ops);
    cx.count("num-ports", n_ports);
    signatures::refresh(r);
    blocks.iter().for_each(|&block| erase_unused(r, block));
    r.change()
}

/// Replaces each Identity whose completion is unused by its operand.
fn drop_identities(r: &mut Rewriter<'_>, block: BlockId) {
    let ops: Vec<OpId> = r.ir().ops_in(block).collect();
    for op in ops {
        let m = r.ir();
        if tf::operator(m, op) != Some(Op::Identity) {
            continue;
        }
        let results: Vec<ValueId> = m.results(op).collect();
        let is_waited_for = results.iter().skip(1).any(|&completion| !m.is_unused(completion));
        let Some((&result, 1)) = results.first().zip(Some(m.n_operands(op))) else { continue };
        let value = m.operand(op, 0);
        if !is_waited_for
            && scalar_type(m, m.value_type(value)).is_some()
            && m.value_type(value) == m.value_type(result)
        {
            r.replace(result, value);
            r.erase(op);
        }
    }
}

/// The element type of a tensor that is known to have rank 0, if it can be a scalar.
fn scalar_type(m: &Module, ty: TypeId) -> Option<TypeId> {
    const TYPES: [KnownType; 5] =
        [KnownType::I1, KnownType::I32, KnownType::I64, KnownType::F32, KnownType::F64];
    match m.cx.ty(ty) {
        TypeKind::Tensor { shape: Some(shape), elem, .. } if shape.is_empty() => {
            TYPES.iter().any(|known| known.id() == *elem).then_some(*elem)
        }
        _ => None,
    }
}

/// The rewriting of all functions.
struct Rewriting<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    /// The scalars of tensors.
    scalars: FxHashMap<ValueId, ValueId>,
    /// The values that have become scalar, and their tensors where one was made.
    tensors: FxHashMap<ValueId, Option<ValueId>>,
    /// The number of operators that became scalar.
    n_ops: u64,
}

impl Rewriting<'_, '_> {
    /// Rewrites the block of a function. Returns the number of arguments and results that became scalar.
    fn block(&mut self, block: BlockId, classes: &mut Classes) -> u64 {
        let ops: Vec<OpId> = self.r.ir().ops_in(block).collect();
        let mut n_ports = 0;
        if classes.has_passing_arguments(block) {
            for arg in self.r.ir().args(block).to_vec() {
                n_ports += u64::from(self.retype(arg, classes));
            }
        }
        for &op in &ops {
            match classes.role(op) {
                ScalarRole::Computes(arithmetic) => self.compute_scalar(op, arithmetic),
                ScalarRole::Passes => {
                    let operands: Vec<ValueId> = self.r.ir().operands(op).collect();
                    let is_return = self.r.ir().last_op(block) == Some(op);
                    for (i, value) in operands.into_iter().enumerate() {
                        if classes.is_scalar(value) {
                            self.read_scalar(op, i);
                            n_ports += u64::from(is_return);
                        } else {
                            self.read_tensor(op, i);
                        }
                    }
                    for result in self.r.ir().results(op).collect::<Vec<_>>() {
                        self.retype(result, classes);
                    }
                    if classes::is_test_of_life(self.r.ir(), op) {
                        // Its inputs may have different types; the result has that of the first one.
                        let m = self.r.ir();
                        let (result, ty) = (m.result(op, 0), m.value_type(m.operand(op, 0)));
                        self.r.set_type(result, ty);
                    }
                }
                ScalarRole::Other => {
                    (0..self.r.ir().n_operands(op)).for_each(|i| self.read_tensor(op, i));
                    self.pass_tensor(op);
                }
            }
        }
        n_ports
    }

    /// Restores the result type of an op whose result has the type of its operand, after the operand became a
    /// tensor again.
    fn pass_tensor(&mut self, op: OpId) {
        let m = self.r.ir();
        if !m.traits(op).has(Traits::PASSES_TYPE) || m.n_operands(op) == 0 || m.n_results(op) == 0 {
            return;
        }
        let (result, ty) = (m.result(op, 0), m.value_type(m.operand(op, 0)));
        if m.value_type(result) != ty {
            self.r.set_type(result, ty);
        }
    }

    /// Gives a value of a scalar class its element type. Returns whether the value is of such a class.
    fn retype(&mut self, value: ValueId, classes: &mut Classes) -> bool {
        let m = self.r.ir();
        let ty = m.value_type(value);
        let Some(scalar) = scalar_type(m, ty).filter(|_| classes.is_scalar(value)) else { return false };
        self.r.set_type(value, scalar);
        self.scalars.insert(value, value);
        self.tensors.insert(value, None);
        true
    }

    /// Replaces an operator by its scalar equivalent. A tensor of the result is made where an op needs one.
    fn compute_scalar(&mut self, op: OpId, arithmetic: Arithmetic) {
        let operands: Vec<ValueId> = self.r.ir().operands(op).collect();
        let n = arithmetic.n_read(operands.len());
        let scalars: Vec<ValueId> = operands[..n].iter().map(|&value| self.scalar(value, op)).collect();
        let Some(scalar) = self.compute(op, arithmetic, &scalars) else {
            return (0..operands.len()).for_each(|i| self.read_tensor(op, i));
        };
        self.n_ops += 1;
        if let Some(made) = self.r.ir().defining_op(scalar) {
            self.adopt_device(made, op);
        }
        let result = self.r.ir().result(op, 0);
        let m = self.r.ir();
        if m.value_type(result) == m.value_type(scalar) {
            return self.r.replace(result, scalar);
        }
        self.scalars.insert(result, scalar);
        self.tensors.insert(result, None);
    }

    /// Gives a new op the device of the op that it was made for, unless that device has another memory.
    fn adopt_device(&mut self, made: OpId, of: OpId) {
        let m = self.r.ir();
        if let Some(device) = m.attr(of, names::BEF_DEVICE)
            && m.attr(made, names::BEF_DEVICE).is_none()
            && !is_in_other_memory(m, of)
        {
            self.r.set_attr(made, names::BEF_DEVICE, device);
        }
    }

    /// Replaces operand `i` of an op by its scalar.
    fn read_scalar(&mut self, op: OpId, i: usize) {
        let value = self.r.ir().operand(op, i);
        let scalar = self.scalar(value, op);
        self.r.set_operand(op, i, scalar);
    }

    /// Replaces operand `i` of an op by its tensor, if it has become a scalar.
    fn read_tensor(&mut self, op: OpId, i: usize) {
        let value = self.r.ir().operand(op, i);
        let (Some(known), Some(&scalar)) = (self.tensors.get(&value), self.scalars.get(&value)) else {
            return;
        };
        let tensor = match *known {
            Some(tensor) => tensor,
            None => {
                let m = self.r.ir();
                let (at, loc, ty) = (after(m, scalar), m.loc(op), m.value_type(scalar));
                let ty = tf::tensor(self.r.cx(), Some(&[]), ty);
                let made = self.r.create_named(at, loc, FROM_ELEMENTS, &[scalar], &[ty], &[]);
                self.adopt_device(made, op);
                let tensor = self.r.ir().result(made, 0);
                self.tensors.insert(value, Some(tensor));
                tensor
            }
        };
        self.r.set_operand(op, i, tensor);
    }

    /// The scalar of a value that `user` reads: of a tensor, or the value itself.
    fn scalar(&mut self, value: ValueId, user: OpId) -> ValueId {
        if let Some(&known) = self.scalars.get(&value) {
            return known;
        }
        let m = self.r.ir();
        if scalar_type(m, m.value_type(value)).is_none() {
            return value;
        }
        let scalar = self.element(value, user);
        self.scalars.insert(value, scalar);
        scalar
    }

    /// The element of a tensor, as an op after the definition of the tensor.
    fn element(&mut self, tensor: ValueId, user: OpId) -> ValueId {
        let m = self.r.ir();
        let (at, loc, ty) = (after(m, tensor), m.loc(user), m.cx.element(m.value_type(tensor)));
        let mut value = None;
        if let Some(op) = m.defining_op(tensor) {
            if m.op_name_str(op) == FROM_ELEMENTS {
                return m.operand(op, 0);
            }
            let is_constant = tf::operator(m, op) == Some(Op::Const) && m.n_operands(op) == 0;
            let attr = m.attr(op, names::VALUE).filter(|_| is_constant);
            let element = attr.and_then(|attr| Constant::read(&m.cx, attr)?.single());
            value = element.and_then(|element| Constant::of(element).write(self.r.cx(), ty));
        }
        let made = match value {
            Some(value) => self.r.create_named(at, loc, "arith.constant", &[], &[ty], &[("value", value)]),
            None => self.r.create_named(at, loc, EXTRACT, &[tensor], &[ty], &[]),
        };
        self.adopt_device(made, user);
        self.r.ir().result(made, 0)
    }
}

/// The insertion point after the definition of a value.
fn after(m: &Module, value: ValueId) -> InsertionPoint {
    match (m.defining_op(value), m.defining_block(value)) {
        (Some(op), _) => InsertionPoint::After(op),
        (None, Some(block)) => InsertionPoint::Start(block),
        (None, None) => InsertionPoint::Start(m.body()),
    }
}

/// Erases the ops of a block that have become unused.
fn erase_unused(r: &mut Rewriter<'_>, block: BlockId) {
    let ops: Vec<OpId> = r.ir().ops_in(block).collect();
    for op in ops.into_iter().rev() {
        if is_trivially_dead(r.ir(), op) {
            r.erase(op);
        }
    }
}
