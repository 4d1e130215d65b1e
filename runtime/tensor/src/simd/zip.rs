//! The steps of fused programs over blocks of two operands, each of which may be a single number.
//!
//! Blocks are floats. A step of integers takes the bits of its operands for i32, and a comparison gives the
//! bits of 0 and 1: such floats are only moved.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::binary::{Arithmetic, apply};

/// A function of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zip {
    /// Arithmetic of floats.
    Floats(Arithmetic),
    /// Wrapping arithmetic of i32.
    Ints(IntArithmetic),
    /// 1 where the comparison of two floats holds, else 0, as i32.
    Compare(Comparison),
}

/// Arithmetic of i32, which wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntArithmetic {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
}

/// A comparison of numbers. The others are these with their operands exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
}

/// `to = f(a, b)`. An operand has as many elements as `to`, or one.
#[inline(always)]
pub(super) fn run(zip: Zip, a: &[f32], b: &[f32], to: &mut [f32]) {
    macro_rules! each {
        ($($name:ident)*) => {
            match zip {
                $(Zip::Floats(Arithmetic::$name) => each(a, b, to, |a, b| apply(Arithmetic::$name, a, b)),)*
                Zip::Ints(IntArithmetic::Add) => each(a, b, to, |a, b| ints(a, b, u32::wrapping_add)),
                Zip::Ints(IntArithmetic::Sub) => each(a, b, to, |a, b| ints(a, b, u32::wrapping_sub)),
                Zip::Ints(IntArithmetic::Mul) => each(a, b, to, |a, b| ints(a, b, u32::wrapping_mul)),
                Zip::Compare(Comparison::Less) => each(a, b, to, |a, b| flag(a < b)),
                Zip::Compare(Comparison::LessEqual) => each(a, b, to, |a, b| flag(a <= b)),
                Zip::Compare(Comparison::Equal) => each(a, b, to, |a, b| flag(a == b)),
                Zip::Compare(Comparison::NotEqual) => each(a, b, to, |a, b| flag(a != b)),
            }
        };
    }
    each!(Add Sub Mul Div Max Min SquaredDifference DivNoNan ReluGrad Relu6Grad TanhGrad SigmoidGrad);
}

#[inline(always)]
fn ints(a: f32, b: f32, f: impl Fn(u32, u32) -> u32) -> f32 {
    f32::from_bits(f(a.to_bits(), b.to_bits()))
}

#[inline(always)]
fn flag(is_so: bool) -> f32 {
    f32::from_bits(u32::from(is_so))
}

#[inline(always)]
fn each(a: &[f32], b: &[f32], to: &mut [f32], f: impl Fn(f32, f32) -> f32) {
    let n = to.len();
    match (a, b) {
        (&[a], &[b]) => to.fill(f(a, b)),
        (a, &[b]) => {
            let a = &a[..n];
            for i in 0..n {
                to[i] = f(a[i], b);
            }
        }
        (&[a], b) => {
            let b = &b[..n];
            for i in 0..n {
                to[i] = f(a, b[i]);
            }
        }
        (a, b) => {
            let (a, b) = (&a[..n], &b[..n]);
            for i in 0..n {
                to[i] = f(a[i], b[i]);
            }
        }
    }
}

/// `to = x`, which has as many elements, or one.
pub(crate) fn fill(x: &[f32], to: &mut [f32]) {
    match x {
        &[x] => to.fill(x),
        x => to.copy_from_slice(x),
    }
}

/// `to = a` where the flag is not 0, as i32. Flags and operands have as many elements as `to`, or one.
#[inline(always)]
pub(super) fn choose(flags: &[f32], a: &[f32], to: &mut [f32]) {
    let is_set = |flag: f32| flag.to_bits() != 0;
    let n = to.len();
    match (flags, a) {
        (&[flag], &[a]) if is_set(flag) => to.fill(a),
        (&[flag], a) if is_set(flag) => to.copy_from_slice(a),
        (&[_], _) => {}
        (flags, &[a]) => {
            let flags = &flags[..n];
            for i in 0..n {
                to[i] = if is_set(flags[i]) { a } else { to[i] };
            }
        }
        (flags, a) => {
            let (flags, a) = (&flags[..n], &a[..n]);
            for i in 0..n {
                to[i] = if is_set(flags[i]) { a[i] } else { to[i] };
            }
        }
    }
}

/// `to = x`, of i32 as floats. `x` has as many elements as `to`, or one.
#[inline(always)]
pub(super) fn to_floats(x: &[f32], to: &mut [f32]) {
    let float = |x: f32| x.to_bits().cast_signed() as f32;
    match x {
        &[x] => to.fill(float(x)),
        x => {
            let x = &x[..to.len()];
            for i in 0..to.len() {
                to[i] = float(x[i]);
            }
        }
    }
}
