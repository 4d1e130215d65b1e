//! `arith`'s floats.

use std::cmp::Ordering;

use befrost_kernel_api::kernel::{AttrSpec, Cursor, KernelFrame, Outcome, Param, Signature};
use befrost_kernel_api::{KernelError, Registry, Value, kernel};

use super::scalars::{Float, mixed};
use super::typed::typed;

macro_rules! binary {
    ($registry:ident; $($name:literal => $function:expr;)*) => {$(
        $registry.add(typed(kernel!($name, |a: Float, b: Float| a.zip(b, $function, $function))));
    )*};
}

pub(super) fn kernels(registry: &mut Registry) {
    binary! { registry;
        "arith.addf" => |a, b| a + b;
        "arith.subf" => |a, b| a - b;
        "arith.mulf" => |a, b| a * b;
        "arith.divf" => |a, b| a / b;
        "arith.remf" => |a, b| a % b;
        "arith.maximumf" => |a, b| if a.is_nan() || b.is_nan() { a + b } else if a.total_cmp(&b).is_ge() { a } else { b };
        "arith.minimumf" => |a, b| if a.is_nan() || b.is_nan() { a + b } else if a.total_cmp(&b).is_le() { a } else { b };
        "arith.maxnumf" => |a, b| if b.is_nan() || a.total_cmp(&b).is_ge() && !a.is_nan() { a } else { b };
        "arith.minnumf" => |a, b| if b.is_nan() || a.total_cmp(&b).is_le() && !a.is_nan() { a } else { b };
    }
    registry.add(typed(kernel!("arith.negf", |x: Float| x.map(|x| -x, |x| -x))));
    registry.add(typed(kernel!("arith.cmpf", |a: Float, b: Float, predicate: Predicate| {
        if a.format() != b.format() {
            return Err(mixed());
        }
        predicate.holds(a.wide().partial_cmp(&b.wide()))
    })));
}

/// The attribute `predicate` of `arith.cmpf`, behind `fastmath`.
#[derive(Clone, Copy)]
struct Predicate(i64);

impl Param for Predicate {
    type Item<'f> = Predicate;
    fn declare(signature: &mut Signature) {
        signature.attrs.push(AttrSpec { kind: "an attribute", accepts: |_| true });
        signature.attrs.push(AttrSpec::of::<i64>());
    }
    #[inline]
    fn extract(frame: &KernelFrame<'_>, _: &mut Cursor) -> Result<Predicate, Outcome> {
        match frame.immediate(1) {
            Some(&Value::I64(predicate)) => Ok(Predicate(predicate)),
            _ => Err(Outcome::error(KernelError::invalid("there is no predicate"))),
        }
    }
}

impl Predicate {
    /// Whether the predicate holds for an order; `None` is the order of NaN.
    fn holds(self, order: Option<Ordering>) -> Result<bool, KernelError> {
        // Predicates 0 to 7 are ordered, 8 to 14 unordered; 7 and 14 ask for the order only.
        let holds = |n: i64, order: Ordering| match n {
            1 => order.is_eq(),
            2 => order.is_gt(),
            3 => order.is_ge(),
            4 => order.is_lt(),
            5 => order.is_le(),
            _ => order.is_ne(),
        };
        Ok(match (self.0, order) {
            (0, _) | (1..=7, None) | (14, Some(_)) => false,
            (15, _) | (8..=14, None) | (7, Some(_)) => true,
            (n @ 1..=6, Some(order)) => holds(n, order),
            (n @ 8..=13, Some(order)) => holds(n - 7, order),
            (other, _) => return Err(KernelError::invalid(format!("there is no comparison number {other}"))),
        })
    }
}
