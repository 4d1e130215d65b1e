//! Operators with a scalar equivalent.
//!
//! Results must not change, so only operators that agree with `arith` on all values are here: no division by
//! a value that may be zero, no maximum of floats.

use befrost_tensor::tf::op::Op;

use super::{Rewriting, scalar_type};
use crate::build::query;
use crate::dialects::tf;
use crate::ir::{AttrId, KnownType, Module, OpId, TypeId, ValueId};
use crate::rewrite::InsertionPoint;

/// The operation on scalars that computes the data result of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arithmetic {
    /// A kernel on the scalars of the operands, and the number of its comparison.
    Kernel(&'static str, Option<i64>),
    /// The operand itself: of `tf._Predicate` and `tf._IndexTensor`.
    Operand,
    /// The negation of a boolean.
    Not,
    /// Zero minus the operand.
    NegateInt,
    /// The kernel with the operand twice.
    Twice(&'static str),
    /// A kernel with this constant as its second operand.
    WithConstant(&'static str, i64),
    /// The remainder with the sign of a divisor that is positive.
    FloorMod(i64),
}

impl Arithmetic {
    /// The operation for an op whose operands and data result are tensors of rank 0. `None` if the op has no
    /// scalar equivalent, or its completion is used.
    pub(super) fn of(m: &Module, op: OpId) -> Option<Arithmetic> {
        let mut results = m.results(op);
        let result = results.next()?;
        if results.any(|completion| !m.is_unused(completion)) {
            return None;
        }
        let operands: Vec<ValueId> = m.operands(op).collect();
        match m.op_name_str(op) {
            // The predicate of a number is not its element.
            "tf._Predicate" => {
                let is_bool = scalar_type(m, m.value_type(*operands.first()?)) == Some(KnownType::I1.id());
                return (is_bool && operands.len() == 1).then_some(Arithmetic::Operand);
            }
            "tf._IndexTensor" => {
                return (scalar_type(m, m.value_type(result)) == Some(KnownType::I32.id()))
                    .then_some(Arithmetic::Operand);
            }
            _ => {}
        }
        let operator = tf::operator(m, op)?;
        let to = scalar_type(m, m.value_type(result))?;
        let types: Vec<TypeId> =
            operands.iter().map(|&value| scalar_type(m, m.value_type(value))).collect::<Option<_>>()?;
        let &from = types.first()?;
        let is = |known: KnownType| from == known.id();
        let is_int = is(KnownType::I32) || is(KnownType::I64);
        let is_float = is(KnownType::F32) || is(KnownType::F64);
        let constant = |within: std::ops::Range<i64>| {
            let &second = operands.get(1).filter(|_| types[1] == from)?;
            query::ints(m, second)?.first().copied().filter(|number| within.contains(number))
        };
        let plain = |name: &'static str| Some(Arithmetic::Kernel(name, None));
        match (operator, types.len()) {
            (Op::SelectV2 | Op::Select, 3) if is(KnownType::I1) && types[1] == types[2] => {
                plain("arith.select")
            }
            (Op::LogicalNot, 1) if is(KnownType::I1) => Some(Arithmetic::Not),
            (Op::Cast, 1) => plain(cast_kernel(from, to)?),
            (Op::Neg, 1) if is_float => plain("arith.negf"),
            (Op::Neg, 1) if is_int => Some(Arithmetic::NegateInt),
            (Op::Abs, 1) if is_int => plain("math.absi"),
            (Op::Abs, 1) if is_float => plain("math.absf"),
            (Op::Square, 1) if is_int => Some(Arithmetic::Twice("arith.muli")),
            (Op::Square, 1) if is_float => Some(Arithmetic::Twice("arith.mulf")),
            // A positive constant divisor: no division by zero, no overflow.
            (Op::FloorDiv | Op::FloorMod, 2) if is_int => {
                let divisor = constant(1..i64::MAX)?;
                let (is_quotient, is_power) = (operator == Op::FloorDiv, divisor & (divisor - 1) == 0);
                Some(match (is_quotient, is_power) {
                    // A shift rounds down; the remainder is the bits that it drops.
                    (true, true) => Arithmetic::WithConstant("arith.shrsi", divisor.trailing_zeros().into()),
                    (false, true) => Arithmetic::WithConstant("arith.andi", divisor - 1),
                    (true, false) => Arithmetic::WithConstant("arith.floordivsi", divisor),
                    (false, false) => Arithmetic::FloorMod(divisor),
                })
            }
            (Op::LeftShift | Op::RightShift, 2) if is_int => {
                let name = if operator == Op::LeftShift { "arith.shli" } else { "arith.shrsi" };
                let bits = if is(KnownType::I32) { 32 } else { 64 };
                Some(Arithmetic::WithConstant(name, constant(0..bits)?))
            }
            (_, 2) if types[1] == from => {
                let (name, number) = kernel_of(operator, from)?;
                Some(Arithmetic::Kernel(name, number))
            }
            _ => None,
        }
    }

    /// The number of operands that are read as scalars.
    pub(super) fn n_read(self, n_operands: usize) -> usize {
        match self {
            Arithmetic::WithConstant(..) | Arithmetic::FloorMod(_) => 1,
            _ => n_operands,
        }
    }
}

/// The numbers of `arith.cmpi` (signed) and of `arith.cmpf` (ordered; `une` for "not equal").
fn comparison(op: Op) -> Option<(i64, i64)> {
    Some(match op {
        Op::Equal => (0, 1),
        Op::NotEqual => (1, 13),
        Op::Less => (2, 4),
        Op::LessEqual => (3, 5),
        Op::Greater => (4, 2),
        Op::GreaterEqual => (5, 3),
        _ => return None,
    })
}

/// The kernel of an operator on scalars of one type, and the number of its comparison.
fn kernel_of(op: Op, ty: TypeId) -> Option<(&'static str, Option<i64>)> {
    let is = |known: KnownType| ty == known.id();
    let (is_int, is_float) =
        (is(KnownType::I32) || is(KnownType::I64), is(KnownType::F32) || is(KnownType::F64));
    if let Some((of_ints, of_floats)) = comparison(op) {
        return match () {
            () if is_int => Some(("arith.cmpi", Some(of_ints))),
            () if is_float => Some(("arith.cmpf", Some(of_floats))),
            () => None,
        };
    }
    let name = match op {
        Op::LogicalAnd if is(KnownType::I1) => "arith.andi",
        Op::LogicalOr if is(KnownType::I1) => "arith.ori",
        Op::AddV2 if is_int => "arith.addi",
        Op::Sub if is_int => "arith.subi",
        Op::Mul if is_int => "arith.muli",
        Op::AddV2 if is_float => "arith.addf",
        Op::Sub if is_float => "arith.subf",
        Op::Mul if is_float => "arith.mulf",
        Op::RealDiv | Op::Div if is_float => "arith.divf",
        Op::Maximum if is_int => "arith.maxsi",
        Op::Minimum if is_int => "arith.minsi",
        Op::BitwiseAnd if is_int => "arith.andi",
        Op::BitwiseOr if is_int => "arith.ori",
        Op::BitwiseXor if is_int => "arith.xori",
        _ => return None,
    };
    Some((name, None))
}

/// The kernel of a conversion between types of scalars, where it agrees with the operator's in all values.
fn cast_kernel(from: TypeId, to: TypeId) -> Option<&'static str> {
    let known = |ty: TypeId| {
        [KnownType::I32, KnownType::I64, KnownType::F32, KnownType::F64]
            .into_iter()
            .find(|known| known.id() == ty)
    };
    Some(match (known(from)?, known(to)?) {
        (KnownType::I32, KnownType::I64) => "arith.extsi",
        (KnownType::I64, KnownType::I32) => "arith.trunci",
        (KnownType::I32 | KnownType::I64, KnownType::F32 | KnownType::F64) => "arith.sitofp",
        (KnownType::F32, KnownType::F64) => "arith.extf",
        (KnownType::F64, KnownType::F32) => "arith.truncf",
        _ => return None,
    })
}

impl Rewriting<'_, '_> {
    /// The scalar that an op computes, from those of its operands.
    pub(super) fn compute(
        &mut self,
        op: OpId,
        arithmetic: Arithmetic,
        scalars: &[ValueId],
    ) -> Option<ValueId> {
        let ty = self.result_type(op);
        Some(match (arithmetic, scalars) {
            (Arithmetic::Kernel(name, number), scalars) => {
                let number =
                    number.map(|number| ("predicate", self.r.cx().int_attr(KnownType::I64.id(), number)));
                let attrs: Vec<(&str, AttrId)> = number.into_iter().collect();
                self.kernel(op, name, scalars, ty, &attrs)
            }
            (Arithmetic::Operand, &[x]) => x,
            (Arithmetic::Not, &[x]) => {
                let yes = self.r.cx().bool_attr(true);
                let yes = self.kernel(op, "arith.constant", &[], ty, &[("value", yes)]);
                self.kernel(op, "arith.xori", &[x, yes], ty, &[])
            }
            (Arithmetic::NegateInt, &[x]) => {
                let zero = self.number(op, ty, 0);
                self.kernel(op, "arith.subi", &[zero, x], ty, &[])
            }
            (Arithmetic::Twice(name), &[x]) => self.kernel(op, name, &[x, x], ty, &[]),
            (Arithmetic::WithConstant(name, number), &[x]) => {
                let number = self.number(op, ty, number);
                self.kernel(op, name, &[x, number], ty, &[])
            }
            (Arithmetic::FloorMod(divisor), &[x]) => {
                let divisor = self.number(op, ty, divisor);
                let rest = self.kernel(op, "arith.remsi", &[x, divisor], ty, &[]);
                let zero = self.number(op, ty, 0);
                let less = self.r.cx().int_attr(KnownType::I64.id(), 2);
                let bool = KnownType::I1.id();
                let negative = self.kernel(op, "arith.cmpi", &[rest, zero], bool, &[("predicate", less)]);
                let wrapped = self.kernel(op, "arith.addi", &[rest, divisor], ty, &[]);
                self.kernel(op, "arith.select", &[negative, wrapped, rest], ty, &[])
            }
            _ => return None,
        })
    }

    /// The scalar type of the first result.
    fn result_type(&self, op: OpId) -> TypeId {
        let m = self.r.ir();
        let ty = m.value_type(m.result(op, 0));
        scalar_type(m, ty).unwrap_or(ty)
    }

    /// A kernel on scalars in front of an op.
    fn kernel(
        &mut self,
        op: OpId,
        name: &str,
        operands: &[ValueId],
        ty: TypeId,
        attrs: &[(&str, AttrId)],
    ) -> ValueId {
        let (at, loc) = (InsertionPoint::Before(op), self.r.ir().loc(op));
        let made = self.r.create_named(at, loc, name, operands, &[ty], attrs);
        self.r.ir().result(made, 0)
    }

    /// A constant scalar in front of an op.
    fn number(&mut self, op: OpId, ty: TypeId, value: i64) -> ValueId {
        let value = self.r.cx().int_attr(ty, value);
        self.kernel(op, "arith.constant", &[], ty, &[("value", value)])
    }
}
