//! Sums and extremes of f32, accumulated in f64: as exact as pairwise summation, at the speed of memory.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::across;

/// Four registers of the widest instruction set.
const LANES: usize = 32;

/// A reduction of many numbers to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// The sum.
    Sum,
    /// The sum of their squares.
    Squares,
    /// The largest; NaN if one is NaN.
    Max,
    /// The smallest; NaN if one is NaN.
    Min,
}

impl Reduction {
    /// The neutral element.
    pub(crate) fn start(self) -> f64 {
        match self {
            Reduction::Sum | Reduction::Squares => 0.0,
            Reduction::Max => f64::NEG_INFINITY,
            Reduction::Min => f64::INFINITY,
        }
    }

    /// Adds one number.
    #[inline(always)]
    pub(crate) fn step(self, acc: f64, x: f64) -> f64 {
        match self {
            Reduction::Sum => acc + x,
            Reduction::Squares => acc + x * x,
            Reduction::Max => {
                if x > acc || x.is_nan() {
                    x
                } else {
                    acc
                }
            }
            Reduction::Min => {
                if x < acc || x.is_nan() {
                    x
                } else {
                    acc
                }
            }
        }
    }

    /// Combines two partial results.
    #[inline(always)]
    pub(crate) fn join(self, a: f64, b: f64) -> f64 {
        let how = if self == Reduction::Squares { Reduction::Sum } else { self };
        how.step(a, b)
    }
}

/// Expands to one loop per kind of reduction.
macro_rules! each_kind {
    ($reduction:expr, $kind:ident => $body:expr) => {
        match $reduction {
            Reduction::Sum => {
                let $kind = Reduction::Sum;
                $body
            }
            Reduction::Squares => {
                let $kind = Reduction::Squares;
                $body
            }
            Reduction::Max => {
                let $kind = Reduction::Max;
                $body
            }
            Reduction::Min => {
                let $kind = Reduction::Min;
                $body
            }
        }
    };
}

/// Reduces each row of `x` into `acc`, elementwise.
#[inline(always)]
pub(super) fn rows(reduction: Reduction, x: &[f32], stride: usize, acc: &mut [f64]) {
    each_kind!(reduction, kind => {
        for x in x.chunks(stride.max(1)) {
            let x = &x[..acc.len()];
            for i in 0..acc.len() {
                acc[i] = kind.step(acc[i], f64::from(x[i]));
            }
        }
    });
}

/// Reduces a row.
#[inline(always)]
pub(super) fn row(reduction: Reduction, x: &[f32]) -> f64 {
    each_kind!(reduction, kind => {
        let mut lanes = [kind.start(); LANES];
        let (blocks, rest) = x.as_chunks::<LANES>();
        for block in blocks {
            for j in 0..LANES {
                lanes[j] = kind.step(lanes[j], f64::from(block[j]));
            }
        }
        let mut acc = kind.start();
        for &x in rest {
            acc = kind.step(acc, f64::from(x));
        }
        kind.join(acc, across(lanes, |a, b| kind.join(a, b)))
    })
}
