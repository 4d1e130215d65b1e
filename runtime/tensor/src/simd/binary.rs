//! Elementwise arithmetic of two operands. The second operand may be a row or a single number, repeated along
//! the first.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::fma;

/// Arithmetic of two numbers, `a` and `b`. Gradients have TensorFlow's operand order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`.
    Div,
    /// The larger; NaN if either is NaN. Of two zeros, `b`.
    Max,
    /// The smaller; NaN if either is NaN. Of two zeros, `b`.
    Min,
    /// `(a - b)^2`.
    SquaredDifference,
    /// `a / b`, or 0 if `b` is 0.
    DivNoNan,
    /// `a` times 1 where `b > 0`, else times 0, which is NaN for NaN and infinite `a`.
    ReluGrad,
    /// `a` times 1 where `0 < b < 6`, else times 0.
    Relu6Grad,
    /// `b * (1 - a * a)`.
    TanhGrad,
    /// `b * a * (1 - a)`.
    SigmoidGrad,
}

impl Arithmetic {
    /// All operations.
    pub const ALL: &[Arithmetic] = &[
        Arithmetic::Add,
        Arithmetic::Sub,
        Arithmetic::Mul,
        Arithmetic::Div,
        Arithmetic::Max,
        Arithmetic::Min,
        Arithmetic::SquaredDifference,
        Arithmetic::DivNoNan,
        Arithmetic::ReluGrad,
        Arithmetic::Relu6Grad,
        Arithmetic::TanhGrad,
        Arithmetic::SigmoidGrad,
    ];
}

/// The operand that the result overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The left operand.
    Left,
    /// The right operand.
    Right,
}

/// `x = op(x, y)`, or `op(y, x)` over the right operand; `y` is repeated along `x`.
#[inline(always)]
pub(super) fn run(op: Arithmetic, over: Over, x: &mut [f32], y: &[f32]) {
    macro_rules! each {
        ($($name:ident)*) => {
            match (op, over) {
                $(
                    (Arithmetic::$name, Over::Left) => each(x, y, |x, y| apply(Arithmetic::$name, x, y)),
                    (Arithmetic::$name, Over::Right) => each(x, y, |x, y| apply(Arithmetic::$name, y, x)),
                )*
            }
        };
    }
    each!(Add Sub Mul Div Max Min SquaredDifference DivNoNan ReluGrad Relu6Grad TanhGrad SigmoidGrad);
}

/// The result of an operation.
#[inline(always)]
pub(super) fn apply(op: Arithmetic, a: f32, b: f32) -> f32 {
    let select = |condition: bool, x: f32| if condition { x } else { 0.0 };
    match op {
        Arithmetic::Add => a + b,
        Arithmetic::Sub => a - b,
        Arithmetic::Mul => a * b,
        Arithmetic::Div => a / b,
        Arithmetic::Max => {
            if a > b || a.is_nan() {
                a
            } else {
                b
            }
        }
        Arithmetic::Min => {
            if a < b || a.is_nan() {
                a
            } else {
                b
            }
        }
        Arithmetic::SquaredDifference => (a - b) * (a - b),
        Arithmetic::DivNoNan => select(b != 0.0, a / b),
        Arithmetic::ReluGrad => a * select(b > 0.0, 1.0),
        Arithmetic::Relu6Grad => a * select(b > 0.0 && b < 6.0, 1.0),
        // Not `1 - a * a`, which loses digits where `a` is near 1.
        Arithmetic::TanhGrad => b * ((1.0 - a) * (1.0 + a)),
        Arithmetic::SigmoidGrad => b * a * (1.0 - a),
    }
}

#[inline(always)]
fn each(x: &mut [f32], y: &[f32], f: impl Fn(f32, f32) -> f32) {
    if let &[y] = y {
        for i in 0..x.len() {
            x[i] = f(x[i], y);
        }
        return;
    }
    for x in x.chunks_exact_mut(y.len().max(1)) {
        let y = &y[..x.len()];
        for i in 0..x.len() {
            x[i] = f(x[i], y[i]);
        }
    }
}

/// `x = (x - mean) * factor + offset`, each of the three repeated along `x`.
#[inline(always)]
pub(super) fn normalize<const FMA: bool>((mean, factor, offset): (&[f32], &[f32], &[f32]), x: &mut [f32]) {
    if let (&[mean], &[factor], &[offset]) = (mean, factor, offset) {
        for i in 0..x.len() {
            x[i] = fma::<FMA>(x[i] - mean, factor, offset);
        }
        return;
    }
    for x in x.chunks_exact_mut(mean.len().max(1)) {
        let (mean, factor, offset) = (&mean[..x.len()], &factor[..x.len()], &offset[..x.len()]);
        for i in 0..x.len() {
            x[i] = fma::<FMA>(x[i] - mean[i], factor[i], offset[i]);
        }
    }
}
