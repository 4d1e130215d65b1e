//! Elementwise functions of several operands, which broadcast: each gradient is summed over the axes along
//! which its operand was repeated.

use befrost_tensor::tf::op::Op;

use super::unary::square;
use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::Vjp;

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::Add | Op::AddV2 => Rule(|g| {
            g.dx_sum(0, g.d());
            g.dx_sum(1, g.d());
        }),
        Op::Sub => Rule(|g| {
            g.dx_sum(0, g.d());
            if g.wants(1) {
                g.dx_sum(1, -g.d());
            }
        }),
        Op::Mul => Rule(|g| {
            for (i, other) in [(0, 1), (1, 0)] {
                if g.wants(i) {
                    g.dx_sum(i, g.d() * g.x(other).conj());
                }
            }
        }),
        Op::MulNoNan => Rule(|g| {
            if g.wants(0) {
                g.dx_sum(0, g.d().bin(Op::MulNoNan, g.x(1)));
            }
            if g.wants(1) {
                g.dx_sum(1, g.x(0).bin(Op::MulNoNan, g.d()));
            }
        }),
        Op::Div | Op::RealDiv => Rule(|g| quotient(g, Op::RealDiv)),
        Op::DivNoNan => Rule(|g| quotient(g, Op::DivNoNan)),
        Op::Atan2 => Rule(|g| {
            let (y, x) = (g.x(0), g.x(1));
            let d = g.d() / (square(x) + square(y));
            if g.wants(0) {
                g.dx_sum(0, x * d);
            }
            if g.wants(1) {
                g.dx_sum(1, -(y * d));
            }
        }),
        Op::FloorMod => Rule(|g| {
            g.dx_sum(0, g.d());
            if g.wants(1) {
                g.dx_sum(1, -(g.d() * g.x(0).bin(Op::FloorDiv, g.x(1))));
            }
        }),
        Op::Mod | Op::TruncateMod => Rule(|g| {
            g.dx_sum(0, g.d());
            if g.wants(1) {
                let quotient = ((g.x(0) - g.y(0)) / g.x(1)).un(Op::Rint);
                g.dx_sum(1, -(g.d() * quotient));
            }
        }),
        // A tie goes to the first operand.
        Op::Maximum => Rule(|g| extreme(g, Op::GreaterEqual)),
        Op::Minimum => Rule(|g| extreme(g, Op::LessEqual)),
        Op::Pow => Rule(|g| {
            let (x, y, z) = (g.x(0).conj(), g.x(1).conj(), g.y(0).conj());
            if g.wants(0) {
                g.dx_sum(0, g.d() * y * x.bin(Op::Pow, y - 1.0));
            }
            if g.wants(1) {
                // No logarithm of an x that is not positive: it would be NaN.
                let has_log = x.bin(if x.is_complex() { Op::NotEqual } else { Op::Greater }, x.number(0.0));
                let log = has_log.select(x, x.number(1.0)).un(Op::Log).only(has_log);
                g.dx_sum(1, g.d() * z * log);
            }
        }),
        Op::SquaredDifference => Rule(|g| {
            let d = 2.0 * g.d() * (g.x(0) - g.x(1));
            g.dx_sum(0, d);
            if g.wants(1) {
                g.dx_sum(1, -d);
            }
        }),
        Op::Xdivy => Rule(|g| {
            let (x, y) = (g.x(0), g.x(1));
            if g.wants(0) {
                g.dx_sum(0, is_not_zero(x).bin(Op::Xdivy, y) * g.d());
            }
            if g.wants(1) {
                g.dx_sum(1, (-x).bin(Op::Xdivy, square(y)) * g.d());
            }
        }),
        Op::Xlogy => Rule(|g| {
            let (x, y) = (g.x(0), g.x(1));
            if g.wants(0) {
                g.dx_sum(0, is_not_zero(x).bin(Op::Xlogy, y) * g.d());
            }
            if g.wants(1) {
                g.dx_sum(1, x.bin(Op::Xdivy, y) * g.d());
            }
        }),
        Op::Xlog1py => Rule(|g| {
            let (x, y) = (g.x(0), g.x(1));
            if g.wants(0) {
                g.dx_sum(0, is_not_zero(x).bin(Op::Xlog1py, y) * g.d());
            }
            if g.wants(1) {
                g.dx_sum(1, x.bin(Op::Xdivy, y + 1.0) * g.d());
            }
        }),
        // TensorFlow has no derivative by the first operand either.
        Op::Polygamma => Rule(|g| {
            if g.wants(1) {
                g.dx_sum(1, g.d() * (g.x(0) + 1.0).bin(Op::Polygamma, g.x(1)));
            }
        }),
        Op::Zeta => Rule(|g| {
            if g.wants(1) {
                g.dx_sum(1, -(g.d() * g.x(0) * (g.x(0) + 1.0).bin(Op::Zeta, g.x(1))));
            }
        }),
        Op::Igamma => Rule(|g| incomplete_gamma(g, 1.0)),
        Op::Igammac => Rule(|g| incomplete_gamma(g, -1.0)),
        Op::NextAfter => Rule(|g| {
            g.dx_sum(0, g.d());
            g.dx(1, g.x(1).zeros());
        }),
        Op::AccumulateNV2 | Op::AddN => Rule(|g| (0..g.n_x()).for_each(|i| g.dx(i, g.d()))),
        Op::ClipByValue => Rule(|g| {
            let (x, low, high) = (g.x(0), g.x(1), g.x(2));
            let (below, above) = (x.bin(Op::Less, low), x.bin(Op::Greater, high));
            if g.wants(0) {
                g.dx(0, below.bin(Op::LogicalOr, above).select(g.d().number(0.0), g.d()));
            }
            for (i, is_it) in [(1, below), (2, above)] {
                if g.wants(i) {
                    g.dx_sum(i, g.d().only(is_it));
                }
            }
        }),
        Op::Complex => Rule(|g| {
            for (i, part) in [(0, Op::Real), (1, Op::Imag)] {
                if g.wants(i) {
                    g.dx_sum(i, g.d().part(part));
                }
            }
        }),
        Op::Select => Rule(|g| {
            let zeros = g.d().zeros();
            g.dx(1, g.op(Op::Select, &[g.x(0), g.d(), zeros], &[]));
            g.dx(2, g.op(Op::Select, &[g.x(0), zeros, g.d()], &[]));
        }),
        Op::SelectV2 => Rule(|g| {
            let zero = g.d().number(0.0);
            if g.wants(1) {
                g.dx_sum(1, g.x(0).select(g.d(), zero));
            }
            if g.wants(2) {
                g.dx_sum(2, g.x(0).select(zero, g.d()));
            }
        }),
        _ => return None,
    })
}

fn quotient(g: &Vjp<'_, '_>, div: Op) {
    let (x, y) = (g.x(0).conj(), g.x(1).conj());
    if g.wants(0) {
        g.dx_sum(0, g.d().bin(div, y));
    }
    if g.wants(1) {
        g.dx_sum(1, g.d() * (-x).bin(div, y).bin(div, y));
    }
}

/// The gradient of a maximum or minimum: it goes to the first operand where the comparison `is_first` holds,
/// else to the second.
fn extreme(g: &Vjp<'_, '_>, is_first: Op) {
    let (is_first, zero) = (g.x(0).bin(is_first, g.x(1)), g.d().number(0.0));
    if g.wants(0) {
        g.dx_sum(0, is_first.select(g.d(), zero));
    }
    if g.wants(1) {
        g.dx_sum(1, is_first.select(zero, g.d()));
    }
}

/// 1 where an element is not 0, else 0.
fn is_not_zero(x: Val<'_>) -> Val<'_> {
    x.bin(Op::NotEqual, x.number(0.0)).cast_like(x)
}

/// The gradient of the regularized incomplete gamma function by x.
fn incomplete_gamma(g: &Vjp<'_, '_>, sign: f64) {
    let (a, x) = (g.x(0), g.x(1));
    if g.wants(1) {
        let density = (-x + (a - 1.0) * x.un(Op::Log) - a.un(Op::Lgamma)).un(Op::Exp);
        g.dx_sum(1, sign * g.d() * density);
    }
    if g.wants(0) {
        g.dx_sum(0, sign * g.d() * a.bin(Op::IgammaGradA, x));
    }
}
