//! Functions of one element.

use std::f64::consts::{FRAC_2_SQRT_PI, FRAC_PI_2, PI};

use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::At;
use crate::grad::vjp::Differentiation::{self, Rule};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::Abs => Rule(|g| g.dx(0, g.d() * g.x(0).un(Op::Sign))),
        Op::Acos => Rule(|g| g.dx(0, -(g.d() / (1.0 - square(g.x(0).conj())).un(Op::Sqrt)))),
        Op::Acosh => Rule(|g| g.dx(0, g.d() / g.y(0).conj().un(Op::Sinh))),
        Op::Asin => Rule(|g| g.dx(0, g.d() / (1.0 - square(g.x(0).conj())).un(Op::Sqrt))),
        Op::Asinh => Rule(|g| g.dx(0, g.d() / g.y(0).conj().un(Op::Cosh))),
        Op::Atan => Rule(|g| g.dx(0, g.d() / (1.0 + square(g.x(0).conj())))),
        Op::Atanh => Rule(|g| g.dx(0, g.d() / (1.0 - square(g.x(0).conj())))),
        Op::BesselI0 => Rule(|g| g.dx(0, g.d() * g.x(0).un(Op::BesselI1))),
        Op::BesselI0e => Rule(|g| g.dx(0, g.d() * (g.x(0).un(Op::BesselI1e) - g.x(0).un(Op::Sign) * g.y(0)))),
        // At 0 the quotient is 0 / 0, and the derivative 1 / 2.
        Op::BesselI1 => Rule(|g| {
            let slope = g.x(0).un(Op::BesselI0) - g.y(0).bin(Op::DivNoNan, g.x(0));
            g.dx(0, g.d() * half_at_0(g.x(0), slope));
        }),
        Op::BesselI1e => Rule(|g| {
            let sign = g.x(0).un(Op::Sign);
            let slope = g.x(0).un(Op::BesselI0e) - (g.y(0) * sign + g.y(0).bin(Op::DivNoNan, g.x(0)));
            g.dx(0, g.d() * half_at_0(g.x(0), slope));
        }),
        Op::BesselJ0 => Rule(|g| g.dx(0, -(g.d() * g.x(0).un(Op::BesselJ1)))),
        Op::BesselJ1 => Rule(|g| {
            let slope = g.x(0).un(Op::BesselJ0) - g.y(0).bin(Op::DivNoNan, g.x(0));
            g.dx(0, g.d() * half_at_0(g.x(0), slope));
        }),
        Op::BesselK0 => Rule(|g| g.dx(0, -(g.d() * g.x(0).un(Op::BesselK1)))),
        Op::BesselK0e => Rule(|g| g.dx(0, g.d() * (g.y(0) - g.x(0).un(Op::BesselK1e)))),
        Op::BesselK1 => Rule(|g| g.dx(0, -(g.d() * (g.x(0).un(Op::BesselK0) + g.y(0) / g.x(0))))),
        Op::BesselK1e => Rule(|g| {
            let slope = g.y(0) - g.y(0) / g.x(0) - g.x(0).un(Op::BesselK0e);
            g.dx(0, g.d() * slope);
        }),
        Op::BesselY0 => Rule(|g| g.dx(0, -(g.d() * g.x(0).un(Op::BesselY1)))),
        Op::BesselY1 => Rule(|g| g.dx(0, g.d() * (g.x(0).un(Op::BesselY0) - g.y(0) / g.x(0)))),
        Op::Conj => Rule(|g| g.dx(0, g.d().conj())),
        Op::Cos => Rule(|g| g.dx(0, -(g.d() * g.x(0).conj().un(Op::Sin)))),
        Op::Cosh => Rule(|g| g.dx(0, g.d() * g.x(0).conj().un(Op::Sinh))),
        Op::Dawsn => Rule(|g| g.dx(0, g.d() * (1.0 - 2.0 * g.x(0) * g.y(0)))),
        Op::Digamma => Rule(|g| g.dx(0, g.d() * g.x(0).number(1.0).bin(Op::Polygamma, g.x(0)))),
        Op::Erf => Rule(|g| g.dx(0, g.d() * (FRAC_2_SQRT_PI * bell(g.x(0))))),
        Op::Erfc => Rule(|g| g.dx(0, g.d() * (-FRAC_2_SQRT_PI * bell(g.x(0))))),
        Op::Erfinv => Rule(|g| g.dx(0, g.d() * (1.0 / FRAC_2_SQRT_PI * square(g.y(0)).un(Op::Exp)))),
        Op::Exp => Rule(|g| g.dx(0, g.d() * g.y(0).conj())),
        Op::Expm1 => Rule(|g| g.dx(0, g.d() * g.x(0).conj().un(Op::Exp))),
        Op::Expint => Rule(|g| g.dx(0, g.d() * g.x(0).un(Op::Exp) / g.x(0))),
        Op::FresnelCos => Rule(|g| g.dx(0, g.d() * (FRAC_PI_2 * square(g.x(0))).un(Op::Cos))),
        Op::FresnelSin => Rule(|g| g.dx(0, g.d() * (FRAC_PI_2 * square(g.x(0))).un(Op::Sin))),
        Op::Inv => Rule(|g| g.dx(0, g.y(0).bin(Op::InvGrad, g.d()))),
        Op::Lgamma => Rule(|g| g.dx(0, g.d() * g.x(0).un(Op::Digamma))),
        Op::Log => Rule(|g| g.dx(0, g.d() * g.x(0).conj().un(Op::Reciprocal))),
        Op::Log1p => Rule(|g| g.dx(0, g.d() * (1.0 + g.x(0).conj()).un(Op::Reciprocal))),
        Op::Ndtri => Rule(|g| g.dx(0, g.d() * ((2.0 * PI).sqrt() * (square(g.y(0)) * 0.5).un(Op::Exp)))),
        Op::Neg => Rule(|g| g.dx(0, -g.d())),
        Op::Reciprocal => Rule(|g| g.dx(0, g.y(0).bin(Op::ReciprocalGrad, g.d()))),
        Op::Rsqrt => Rule(|g| g.dx(0, g.y(0).bin(Op::RsqrtGrad, g.d()))),
        Op::Sigmoid => Rule(|g| g.dx(0, g.y(0).conj().bin(Op::SigmoidGrad, g.d()))),
        // Zero, not missing: as TensorFlow's.
        Op::Sign => Rule(|g| g.dx(0, g.x(0).zeros())),
        Op::Sin => Rule(|g| g.dx(0, g.d() * g.x(0).conj().un(Op::Cos))),
        Op::Sinh => Rule(|g| g.dx(0, g.d() * g.x(0).conj().un(Op::Cosh))),
        // At 1 the quotient is 0 / 0, and the derivative -1.
        Op::Spence => Rule(|g| {
            let slope = g.x(0).un(Op::Log) / (1.0 - g.x(0));
            let is_one = g.x(0).bin(Op::Equal, g.x(0).number(1.0));
            g.dx(0, g.d() * is_one.select(slope.number(-1.0), slope));
        }),
        Op::Sqrt => Rule(|g| g.dx(0, g.y(0).bin(Op::SqrtGrad, g.d()))),
        Op::Square => Rule(|g| g.dx(0, g.d() * (2.0 * g.x(0).conj()))),
        Op::Tan => Rule(|g| g.dx(0, g.d() * square(g.x(0).conj().un(Op::Cos).un(Op::Reciprocal)))),
        Op::Tanh => Rule(|g| g.dx(0, g.y(0).conj().bin(Op::TanhGrad, g.d()))),
        Op::Angle => Rule(|g| {
            let (re, im) = (g.x(0).part(Op::Real), g.x(0).part(Op::Imag));
            g.dx(0, -(g.d().complex(g.d().zeros()) / im.complex(re)));
        }),
        Op::ComplexAbs => Rule(|g| {
            let (d, y) = (g.d().complex(g.d().zeros()), g.y(0).complex(g.y(0).zeros()));
            g.dx(0, d.bin(Op::DivNoNan, y) * g.x(0));
        }),
        Op::_Gelu => Rule(|g| {
            let slope = if g.flag("approximate") { Op::_GeluTanhSlope } else { Op::_GeluSlope };
            g.dx(0, g.d() * g.x(0).un(slope));
        }),
        // The density times 2 - x².
        Op::_GeluSlope => Rule(|g| {
            let density = (square(g.x(0)) * -0.5).un(Op::Exp) * (2.0 * PI).sqrt().recip();
            g.dx(0, g.d() * density * (2.0 - square(g.x(0))));
        }),
        Op::Imag => Rule(|g| g.dx(0, g.d().zeros().complex(g.d()))),
        Op::Real => Rule(|g| g.dx(0, g.d().complex(g.d().zeros()))),
        Op::Cast => Rule(|g| g.dx(0, g.d().cast_like(g.x(0)))),
        Op::CheckNumerics | Op::CheckNumericsV2 => Rule(|g| {
            let message = "Not a number (NaN) or infinity (Inf) values detected in gradient.";
            g.dx(0, g.op(Op::CheckNumerics, &[g.d()], &[("message", At::Str(message))]));
        }),
        _ => return None,
    })
}

/// x².
pub(super) fn square(x: Val<'_>) -> Val<'_> {
    x.un(Op::Square)
}

/// exp(-x²).
fn bell(x: Val<'_>) -> Val<'_> {
    (-square(x)).un(Op::Exp)
}

fn half_at_0<'g>(x: Val<'g>, slope: Val<'g>) -> Val<'g> {
    x.bin(Op::Equal, x.number(0.0)).select(x.number(0.5), slope)
}
