//! Sums and extremes of f32, accumulated in f64: as exact as pairwise summation, at the speed of memory.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

/// Four registers of the widest instruction set.
const LANES: usize = 32;

/// A reduction of many numbers to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gather {
    /// The sum.
    Sum,
    /// The sum of their squares.
    Squares,
    /// The largest; NaN if one is NaN.
    Max,
    /// The smallest; NaN if one is NaN.
    Min,
}

impl Gather {
    /// The neutral element.
    pub(crate) fn start(self) -> f64 {
        match self {
            Gather::Sum | Gather::Squares => 0.0,
            Gather::Max => f64::NEG_INFINITY,
            Gather::Min => f64::INFINITY,
        }
    }

    /// Adds one number.
    #[inline(always)]
    pub(crate) fn step(self, acc: f64, x: f64) -> f64 {
        match self {
            Gather::Sum => acc + x,
            Gather::Squares => acc + x * x,
            Gather::Max => {
                if x > acc || x.is_nan() {
                    x
                } else {
                    acc
                }
            }
            Gather::Min => {
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
        let how = if self == Gather::Squares { Gather::Sum } else { self };
        how.step(a, b)
    }
}

/// Expands to one loop per kind of reduction.
macro_rules! each_kind {
    ($gather:expr, $kind:ident => $body:expr) => {
        match $gather {
            Gather::Sum => {
                let $kind = Gather::Sum;
                $body
            }
            Gather::Squares => {
                let $kind = Gather::Squares;
                $body
            }
            Gather::Max => {
                let $kind = Gather::Max;
                $body
            }
            Gather::Min => {
                let $kind = Gather::Min;
                $body
            }
        }
    };
}

/// Reduces each row of `x` into `acc`, elementwise.
#[inline(always)]
pub(super) fn rows(gather: Gather, x: &[f32], stride: usize, acc: &mut [f64]) {
    each_kind!(gather, kind => {
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
pub(super) fn row(gather: Gather, x: &[f32]) -> f64 {
    each_kind!(gather, kind => {
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
        let mut half = LANES / 2;
        while half > 0 {
            for j in 0..half {
                lanes[j] = kind.join(lanes[j], lanes[j + half]);
            }
            half /= 2;
        }
        kind.join(acc, lanes[0])
    })
}
