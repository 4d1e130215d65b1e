//! Arithmetic of two numbers, element by element, where the second operand may be a row or a single number that is used again and again.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

/// Arithmetic of two numbers.
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
    /// The larger; NaN if either is.
    Max,
    /// The smaller; NaN if either is.
    Min,
}

/// `a = op(a, b)`, `b` as many times as `a` needs.
#[inline(always)]
pub(super) fn run(op: Arithmetic, a: &mut [f32], b: &[f32]) {
    match op {
        Arithmetic::Add => each(a, b, |a, b| a + b),
        Arithmetic::Sub => each(a, b, |a, b| a - b),
        Arithmetic::Mul => each(a, b, |a, b| a * b),
        Arithmetic::Div => each(a, b, |a, b| a / b),
        Arithmetic::Max => each(a, b, |a, b| if a > b || a.is_nan() { a } else { b }),
        Arithmetic::Min => each(a, b, |a, b| if a < b || a.is_nan() { a } else { b }),
    }
}

#[inline(always)]
fn each(a: &mut [f32], b: &[f32], f: impl Fn(f32, f32) -> f32) {
    if let &[b] = b {
        for i in 0..a.len() {
            a[i] = f(a[i], b);
        }
        return;
    }
    for a in a.chunks_exact_mut(b.len().max(1)) {
        let b = &b[..a.len()];
        for i in 0..a.len() {
            a[i] = f(a[i], b[i]);
        }
    }
}
