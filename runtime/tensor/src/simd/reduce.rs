//! Sums and extremes of f32, in f64: as exact as pairwise sums, and still as fast as memory.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

/// Four registers of the widest kind.
const LANES: usize = 32;

/// What becomes of many numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gather {
    /// Their sum.
    Sum,
    /// The sum of their squares.
    Squares,
    /// The largest; NaN if one is.
    Max,
    /// The smallest; NaN if one is.
    Min,
}

impl Gather {
    /// What becomes of no numbers.
    pub(crate) fn start(self) -> f64 {
        match self {
            Gather::Sum | Gather::Squares => 0.0,
            Gather::Max => f64::NEG_INFINITY,
            Gather::Min => f64::INFINITY,
        }
    }

    /// With one number more.
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

    /// What becomes of two such results.
    #[inline(always)]
    pub(crate) fn join(self, a: f64, b: f64) -> f64 {
        let how = if self == Gather::Squares { Gather::Sum } else { self };
        how.step(a, b)
    }
}

/// Of each kind a loop of its own.
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

/// `acc[i]` with `x[i]`, for each row of `x`.
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

/// All of a row.
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
