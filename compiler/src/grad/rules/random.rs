//! Gradients of random numbers by the parameters of their distributions, by implicit differentiation: the
//! probability of a smaller number stays as it is (Figurnov et al., 2018).

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::super::val::Val;
use super::super::vjp::{
    Differentiation::{self, Rule},
    Vjp,
};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::RandomGamma => Rule(|g| gamma(g, 1)),
        Op::StatelessRandomGammaV2 => Rule(|g| gamma(g, 2)),
        Op::StatelessRandomGammaV3 => Rule(|g| gamma(g, 4)),
        Op::StatelessParameterizedTruncatedNormal => Rule(truncated_normal),
        _ => return None,
    })
}

/// Operand `i` is the parameter of the gamma distribution.
fn gamma(g: &Vjp<'_, '_>, i: usize) {
    if g.wants(i) {
        g.dx_sum(i, g.d() * g.x(i).bin(Op::RandomGammaGrad, g.y(0)));
    }
}

/// The probability of a smaller number of the normal distribution.
fn normal_cdf(x: Val<'_>) -> Val<'_> {
    0.5 * (-x * std::f64::consts::FRAC_1_SQRT_2).un(Op::Erfc)
}

fn truncated_normal(g: &Vjp<'_, '_>) {
    let (mean, deviation, sample) = (g.x(2), g.x(3), g.y(0));
    let [low, high, x] = [g.x(4), g.x(5), sample].map(|x| (x - mean).bin(Op::RealDiv, deviation));
    let (smallest, step) = match x.dtype() {
        DType::F16 => (6.103_515_625e-5, 9.765_625e-4),
        DType::F64 => (f64::MIN_POSITIVE, f64::EPSILON),
        _ => (f32::MIN_POSITIVE.into(), f32::EPSILON.into()),
    };
    let [below, all] = [x, high].map(|x| normal_cdf(x) - normal_cdf(low));
    let chance = below.bin(Op::RealDiv, all);
    let ends = [chance.number(smallest), chance.number(1.0 - step)];
    let chance = chance.op(Op::ClipByValue, &[chance, ends[0], ends[1]], &[]);
    let [to_low, to_high] = [low, high].map(|end| 0.5 * (x.un(Op::Square) - end.un(Op::Square)));
    g.dx_sum(2, g.d());
    if g.wants(3) {
        g.dx_sum(3, g.d() * x);
    }
    if g.wants(4) {
        g.dx_sum(4, g.d() * (to_low + (-chance).un(Op::Log1p)).un(Op::Exp));
    }
    if g.wants(5) {
        g.dx_sum(5, g.d() * (to_high + chance.un(Op::Log)).un(Op::Exp));
    }
}
