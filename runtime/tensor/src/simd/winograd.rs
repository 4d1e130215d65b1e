//! The transforms of Winograd's convolution, vectorized over channels: `Bt d B` of an image's pixels and `At
//! m A` of products.
//!
//! Each is a small linear map applied to the columns, then to the rows of a T by T patch, for a register of
//! channels at once. The intermediate columns stay in the L1 cache. A pixel in the padding is an empty slice.
//! The loops are written out, so that every element of a column is in a register.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same promise of the caller")]

use std::ops::Range;

use super::vector::Vector;
use super::{Isa, IsaKind, PanelStep};

/// A patch of pixels; empty slices are 0.
pub(crate) type Pixels<'a> = [[&'a [f32]; 6]; 6];

/// Products to be transformed, position by position, and the part of the patch that is inside the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Products<'a> {
    pub(crate) from: &'a [f32],
    /// The stride of positions.
    pub(crate) step: usize,
    /// The numbers of rows and columns of the patch that are inside the result.
    pub(crate) inside: (usize, usize),
    /// The row stride of the result.
    pub(crate) stride: usize,
}

/// `Bt d` for a column or row of 4 or 6 numbers.
///
/// # Safety
/// The machine has the vector's instructions. If `PART` is a parameter and false, `n` is the number of lanes;
/// if true, it is less. This holds for all functions here.
#[inline(always)]
unsafe fn input<V: Vector, const T: usize>(d: [V; T]) -> [V; T] {
    // SAFETY: the machine has the vector's instructions by the caller's contract.
    unsafe {
        let mut r = d;
        if T == 4 {
            r[0] = d[0].subtract(d[2]);
            r[1] = d[1].add(d[2]);
            r[2] = d[2].subtract(d[1]);
            r[3] = d[1].subtract(d[3]);
        } else {
            let (four, five, two) = (V::splat(4.0), V::splat(-5.0), V::splat(2.0));
            let (minus_four, minus_two) = (V::splat(-4.0), V::splat(-2.0));
            let (even, odd) = (d[2].times_plus(minus_four, d[4]), d[1].times_plus(minus_four, d[3]));
            let (even2, odd2) = (d[4].subtract(d[2]), d[3].subtract(d[1]));
            r[0] = d[0].times_plus(four, d[2].times_plus(five, d[4]));
            r[1] = even.add(odd);
            r[2] = even.subtract(odd);
            r[3] = odd2.times_plus(two, even2);
            r[4] = odd2.times_plus(minus_two, even2);
            r[5] = d[1].times_plus(four, d[3].times_plus(five, d[5]));
        }
        r
    }
}

/// `At m`: 2 results from 4 numbers, or 4 from 6.
///
/// # Safety
/// See [`input`].
#[inline(always)]
unsafe fn output<V: Vector, const T: usize, const N: usize>(m: [V; T]) -> [V; N] {
    // SAFETY: the machine has the vector's instructions by the caller's contract.
    unsafe {
        let mut r = [m[0]; N];
        let (sum, difference) = (m[1].add(m[2]), m[1].subtract(m[2]));
        if T == 4 {
            r[0] = m[0].add(sum);
            r[1] = difference.subtract(m[3]);
        } else {
            let (sum2, difference2) = (m[3].add(m[4]), m[3].subtract(m[4]));
            r[0] = m[0].add(sum).add(sum2);
            r[1] = difference2.times_plus(V::splat(2.0), difference);
            r[2] = sum2.times_plus(V::splat(4.0), sum);
            r[3] = difference2.times_plus(V::splat(8.0), difference).add(m[5]);
        }
        r
    }
}

/// Applies the map to the columns, then to the rows of a patch. `$take!(i, j)` yields the channels of a
/// pixel; `$put!(i, j, x)` stores those of the result.
macro_rules! both_ways {
    ($map:expr, $take:ident, $from:tt, $put:ident, $to:tt) => {
        both_ways!(@ $map, $take, $from, $from, $put, $to, $to)
    };
    (@ $map:expr, $take:ident, [$($j:literal)*], $from:tt, $put:ident, [$($p:literal)*], $to:tt) => {{
        let half = [$($map(column!($take, $from, $j))),*];
        $({
            let row = $map(row_of!(half, $p, $from));
            put_row!($put, row, $p, $to);
        })*
    }};
}

macro_rules! column {
    ($take:ident, [$($i:literal)*], $j:literal) => { [$($take!($i, $j)),*] };
}

macro_rules! row_of {
    ($half:ident, $p:literal, [$($j:literal)*]) => { [$($half[$j][$p]),*] };
}

macro_rules! put_row {
    ($put:ident, $row:ident, $p:literal, [$($q:literal)*]) => { $($put!($p, $q, $row[$q]);)* };
}

/// Loads `n` channels of a pixel from `first` on: a whole vector, or a partial one.
///
/// # Safety
/// See [`input`].
#[inline(always)]
unsafe fn channels_of<V: Vector, const PART: bool>(x: &[f32], (first, n): (usize, usize)) -> V {
    let x = &x[first..][..n];
    // SAFETY: the caller's contract. The slice has `n` floats, the number of lanes unless PART.
    unsafe { if PART { V::load_part(x.as_ptr(), n) } else { V::load(x.as_ptr()) } }
}

/// Stores `n` channels: a whole vector, or a partial one.
///
/// # Safety
/// See [`input`].
#[inline(always)]
unsafe fn put<V: Vector, const PART: bool>(x: V, n: usize, to: &mut [f32]) {
    let to = &mut to[..n];
    // SAFETY: the caller's contract. The slice has `n` floats, the number of lanes unless PART.
    unsafe { if PART { x.store_part(to.as_mut_ptr(), n) } else { x.store(to.as_mut_ptr()) } }
}

/// # Safety
/// See [`input`].
#[inline(always)]
unsafe fn input_of<V: Vector, const PART: bool>(
    side: usize,
    pixels: &Pixels<'_>,
    (first, n): (usize, usize),
    (to, step): (&mut [f32], usize),
) {
    macro_rules! take {
        ($i:literal, $j:literal) => {
            match pixels[$i][$j] {
                [] => V::splat(0.0),
                x => channels_of::<V, PART>(x, (first, n)),
            }
        };
    }
    macro_rules! put {
        ($p:literal, $q:literal, $x:expr) => {
            put::<V, PART>($x, n, &mut to[($p * side + $q) * step..])
        };
    }
    // SAFETY: the machine has the vector's instructions by the caller's contract.
    unsafe {
        if side == 4 {
            both_ways!(input::<V, 4>, take, [0 1 2 3], put, [0 1 2 3]);
        } else {
            both_ways!(input::<V, 6>, take, [0 1 2 3 4 5], put, [0 1 2 3 4 5]);
        }
    }
}

/// # Safety
/// See [`input`].
#[inline(always)]
unsafe fn output_of<V: Vector, const PART: bool>(
    side: usize,
    products: &Products<'_>,
    (first, n): (usize, usize),
    (to, channels): (&mut [f32], usize),
) {
    let Products { from, step, inside, stride } = *products;
    macro_rules! take {
        ($i:literal, $j:literal) => {
            channels_of::<V, PART>(&from[($i * side + $j) * step..], (first, n))
        };
    }
    macro_rules! put {
        ($p:literal, $q:literal, $x:expr) => {
            if $p < inside.0 && $q < inside.1 {
                put::<V, PART>($x, n, &mut to[$p * stride + $q * channels + first..]);
            }
        };
    }
    // SAFETY: the machine has the vector's instructions by the caller's contract.
    unsafe {
        if side == 4 {
            both_ways!(output::<V, 4, 2>, take, [0 1 2 3], put, [0 1]);
        } else {
            both_ways!(output::<V, 6, 4>, take, [0 1 2 3 4 5], put, [0 1 2 3]);
        }
    }
}

/// Defines both transforms for one instruction set.
macro_rules! transforms {
    ($input:ident, $output:ident, $vector:ty, $(#[$attr:meta])*) => {
        /// See [`super::Isa::winograd_input`].
        $(#[$attr])*
        pub(super) fn $input(side: usize, channels: Range<usize>, pixels: &Pixels<'_>, to: &mut [f32], step: usize) {
            const LANES: usize = <$vector as Vector>::LANES;
            for first in channels.clone().step_by(LANES) {
                let n = LANES.min(channels.end - first);
                let to = &mut to[first - channels.start..];
                // SAFETY: the function has the target features of the vector's instructions. `PART` is false
                // exactly if `n` is the number of lanes.
                unsafe {
                    if n == LANES {
                        input_of::<$vector, false>(side, pixels, (first, n), (to, step));
                    } else {
                        input_of::<$vector, true>(side, pixels, (first, n), (to, step));
                    }
                }
            }
        }

        /// See [`super::Isa::winograd_output`].
        $(#[$attr])*
        pub(super) fn $output(side: usize, channels: usize, products: &Products<'_>, to: &mut [f32]) {
            const LANES: usize = <$vector as Vector>::LANES;
            for first in (0..channels).step_by(LANES) {
                let n = LANES.min(channels - first);
                // SAFETY: the function has the target features of the vector's instructions. `PART` is false
                // exactly if `n` is the number of lanes.
                unsafe {
                    if n == LANES {
                        output_of::<$vector, false>(side, products, (first, n), (&mut *to, channels));
                    } else {
                        output_of::<$vector, true>(side, products, (first, n), (&mut *to, channels));
                    }
                }
            }
        }
    };
}

transforms!(portable_input, portable_output, [f32; 8],);
#[cfg(target_arch = "x86_64")]
transforms!(avx2_input, avx2_output, std::arch::x86_64::__m256, #[target_feature(enable = "avx2,fma")]);
#[cfg(target_arch = "x86_64")]
transforms!(
    avx512_input, avx512_output, std::arch::x86_64::__m512,
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
);

impl Isa {
    /// Transforms a panel of 3x3 filters by the rows of G, which has 4 or 6. Each row of `to` belongs to a
    /// position and a channel, each of `taps` to a tap and a channel.
    pub(crate) fn winograd_filters(self, g: &[[f64; 3]], taps: &[PanelStep], to: &mut [PanelStep]) {
        compiled!(
            self,
            |g: &[[f64; 3]], taps: &[PanelStep], to: &mut [PanelStep]| filters_of(g, taps, to),
            filters_of(g, taps, to)
        );
    }
}

#[inline(always)]
fn filters_of(g: &[[f64; 3]], taps: &[PanelStep], to: &mut [PanelStep]) {
    if let Ok(g) = g.try_into() {
        filters::<4>(g, taps, to);
    } else if let Ok(g) = g.try_into() {
        filters::<6>(g, taps, to);
    }
}

/// `G g Gt` of each channel, for a panel of out channels at once.
#[inline(always)]
fn filters<const T: usize>(g: &[[f64; 3]; T], taps: &[PanelStep], to: &mut [PanelStep]) {
    let g = g.map(|row| row.map(|x| x as f32));
    let channels = taps.len() / 9;
    for channel in 0..channels {
        let tap = |i: usize, j: usize| &taps[(3 * i + j) * channels + channel];
        let half: [[PanelStep; 3]; T] = std::array::from_fn(|i| {
            std::array::from_fn(|j| weighted(&g[i], [tap(0, j), tap(1, j), tap(2, j)]))
        });
        for (i, row) in half.iter().enumerate() {
            for (j, factors) in g.iter().enumerate() {
                to[(i * T + j) * channels + channel] = weighted(factors, row.each_ref());
            }
        }
    }
}

/// The sum of three steps times factors.
#[inline(always)]
fn weighted(factors: &[f32; 3], [a, b, c]: [&PanelStep; 3]) -> PanelStep {
    std::array::from_fn(|p| factors[0] * a[p] + factors[1] * b[p] + factors[2] * c[p])
}
