//! Activations, and the operators that are gradients of elementwise functions.
//!
//! The latter take a gradient and an operand or result of the function. They are linear in the gradient; the
//! derivative by the other operand is the function's second derivative.

use befrost_tensor::tf::op::Op;

use super::unary::square;
use crate::grad::vjp::Differentiation::{self, Rule};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::Elu => Rule(|g| g.dx(0, g.d().bin(Op::EluGrad, g.y(0)))),
        Op::LeakyRelu => Rule(|g| g.dx(0, g.same(Op::LeakyReluGrad, &[g.d(), g.x(0)]))),
        Op::Relu => Rule(|g| g.dx(0, g.d().bin(Op::ReluGrad, g.y(0)))),
        Op::Relu6 => Rule(|g| g.dx(0, g.d().bin(Op::Relu6Grad, g.y(0)))),
        Op::Selu => Rule(|g| g.dx(0, g.d().bin(Op::SeluGrad, g.y(0)))),
        Op::Softplus => Rule(|g| g.dx(0, g.d().bin(Op::SoftplusGrad, g.x(0)))),
        Op::Softsign => Rule(|g| g.dx(0, g.d().bin(Op::SoftsignGrad, g.x(0)))),

        Op::EluGrad => Rule(|g| {
            let y = g.x(1);
            g.dx(0, g.d().bin(Op::EluGrad, y));
            g.dx(1, (g.d() * g.x(0)).only(y.bin(Op::Less, y.number(0.0))));
        }),
        Op::SeluGrad => Rule(|g| {
            let y = g.x(1);
            g.dx(0, g.d().bin(Op::SeluGrad, y));
            g.dx(1, (g.d() * g.x(0)).only(y.bin(Op::Less, y.number(0.0))));
        }),
        Op::ReluGrad => Rule(|g| {
            g.dx(0, g.d().bin(Op::ReluGrad, g.x(1)));
            g.dx(1, g.x(1).zeros());
        }),
        Op::Relu6Grad => Rule(|g| {
            g.dx(0, g.d().bin(Op::Relu6Grad, g.x(1)));
            g.dx(1, g.x(1).zeros());
        }),
        Op::LeakyReluGrad => Rule(|g| {
            g.dx(0, g.same(Op::LeakyReluGrad, &[g.d(), g.x(1)]));
            g.dx(1, g.x(1).zeros());
        }),
        Op::SoftplusGrad => Rule(|g| {
            let (dy, x) = (g.x(0), g.x(1));
            g.dx(0, g.d().bin(Op::SoftplusGrad, x));
            if g.wants(1) {
                g.dx(1, g.d() * dy / ((-x).un(Op::Exp) + 2.0 + x.un(Op::Exp)));
            }
        }),
        Op::SoftsignGrad => Rule(|g| {
            let (dy, x) = (g.x(0), g.x(1));
            g.dx(0, g.d().bin(Op::SoftsignGrad, x));
            if g.wants(1) {
                let size = x.un(Op::Abs) + 1.0;
                g.dx(1, g.d() * dy * x.un(Op::Sign) * -2.0 / (square(size) * size));
            }
        }),
        Op::InvGrad | Op::ReciprocalGrad => Rule(|g| {
            let (y, dy) = (g.x(0).conj(), g.x(1));
            if g.wants(0) {
                g.dx(0, g.d().conj() * -2.0 * dy * y);
            }
            g.dx(1, y.bin(Op::ReciprocalGrad, g.d()));
        }),
        Op::RsqrtGrad => Rule(|g| {
            let (y, dy) = (g.x(0).conj(), g.x(1));
            if g.wants(0) {
                g.dx(0, -1.5 * g.d().conj() * dy * square(y));
            }
            g.dx(1, y.bin(Op::RsqrtGrad, g.d()));
        }),
        Op::SigmoidGrad => Rule(|g| {
            let (y, dy) = (g.x(0).conj(), g.x(1).conj());
            if g.wants(0) {
                let product = g.d() * dy;
                g.dx(0, product - 2.0 * product * y);
            }
            g.dx(1, y.bin(Op::SigmoidGrad, g.d()));
        }),
        Op::SqrtGrad => Rule(|g| {
            let quotient = g.d() / g.x(0);
            if g.wants(0) {
                g.dx(0, -(quotient.conj() * g.y(0)));
            }
            g.dx(1, 0.5 * quotient);
        }),
        Op::TanhGrad => Rule(|g| {
            let (y, dy) = (g.x(0).conj(), g.x(1).conj());
            if g.wants(0) {
                g.dx(0, g.d() * -2.0 * dy * y);
            }
            g.dx(1, y.bin(Op::TanhGrad, g.d()));
        }),
        _ => return None,
    })
}
