//! The tape of a loop, on which its iterations keep values for the backward loop.
//!
//! ```text
//! forward:   tape = empty;    each iteration: tape = push(tape, values)
//! backward:  while is_left(tape): tape, values = pop(tape)
//! ```

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use super::engine::{Engine, Undifferentiable};
use super::vjp::{At, Emit};
use crate::dialects::tf;
use crate::ir::{OpId, TypeId, ValueId};

/// The way in which iterations keep values.
pub(super) enum Tape {
    /// Nothing is kept: the iterations are counted.
    Counter,
    /// One value, which is pushed itself.
    One(Type),
    /// Several, in an optional.
    Optional,
}

impl Tape {
    /// The tape for kept values of these types.
    pub(super) fn of(engine: &Engine<'_, '_>, types: &[TypeId]) -> Tape {
        match types {
            [] => Tape::Counter,
            &[ty] => match tf::type_of(&engine.m().cx, ty) {
                Some((ty @ (Type::Dense(_) | Type::Variant), false)) => Tape::One(ty),
                _ => Tape::Optional,
            },
            _ => Tape::Optional,
        }
    }

    /// The type of the tape.
    pub(super) fn ty(&self, engine: &mut Engine<'_, '_>) -> TypeId {
        match self {
            Tape::Counter => {
                let element = tf::element(engine.r.cx(), Type::Dense(DType::I32), false);
                tf::tensor(engine.r.cx(), Some(&[]), element)
            }
            _ => engine.variant(),
        }
    }

    fn element(&self) -> Type {
        match self {
            Tape::One(ty) => *ty,
            _ => Type::Variant,
        }
    }

    /// The tape of no iterations.
    pub(super) fn empty(&self, engine: &mut Engine<'_, '_>, at: OpId) -> Result<ValueId, Undifferentiable> {
        let element = self.element();
        engine.emit(at, at, |g| {
            let zero = int(g, 0);
            match self {
                Tape::Counter => zero,
                _ => {
                    let any = int(g, -1);
                    g.emit(Op::EmptyTensorList, &[any, any], &[("element_dtype", At::Type(element))], None, 1)
                        [0]
                }
            }
        })
    }

    /// The tape with the values of one more iteration.
    pub(super) fn push(
        &self,
        engine: &mut Engine<'_, '_>,
        at: OpId,
        list: ValueId,
        values: &[ValueId],
    ) -> Result<ValueId, Undifferentiable> {
        let value = match (self, values) {
            (Tape::Counter, _) => return engine.emit(at, at, |g| (g.val(list) + g.val(int(g, 1))).id),
            (Tape::One(_), &[value]) => value,
            _ => engine.pack(at, values)?,
        };
        engine.emit(at, at, |g| g.emit(Op::TensorListPushBack, &[list, value], &[], None, 1)[0])
    }

    /// The rest of the tape, and the values of the last iteration.
    pub(super) fn pop(
        &self,
        engine: &mut Engine<'_, '_>,
        at: OpId,
        list: ValueId,
        types: &[TypeId],
    ) -> Result<(ValueId, Vec<ValueId>), Undifferentiable> {
        let variant = engine.variant();
        if let Tape::Counter = self {
            let rest = engine.emit(at, at, |g| (g.val(list) - g.val(int(g, 1))).id)?;
            return Ok((rest, Vec::new()));
        }
        let item = if let Tape::One(_) = self { types[0] } else { variant };
        let popped = engine.emit(at, at, |g| {
            g.emit(Op::TensorListPopBack, &[list, int(g, -1)], &[], Some(&[variant, item]), 2)
        })?;
        let values = match self {
            Tape::One(_) => vec![popped[1]],
            _ => engine.unpack(at, popped[1], types)?,
        };
        Ok((popped[0], values))
    }

    /// Whether iterations are left, by the first argument of the function that `at` returns from.
    pub(super) fn is_left(&self, engine: &mut Engine<'_, '_>, at: OpId) -> Result<ValueId, Undifferentiable> {
        let m = engine.m();
        let Some(&list) = m.parent_block(at).and_then(|block| m.args(block).first()) else {
            return Err(Undifferentiable);
        };
        engine.emit(at, at, |g| {
            let list = g.val(list);
            let n = if let Tape::Counter = self { list } else { list.un(Op::TensorListLength) };
            n.bin(Op::Greater, g.val(int(g, 0))).id
        })
    }
}

/// A constant scalar i32.
fn int(g: &dyn Emit, number: i64) -> ValueId {
    g.constant(&|b| b.ints_of_shape(&[number], &[], DType::I32))
}
