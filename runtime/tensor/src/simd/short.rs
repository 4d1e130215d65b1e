//! Some rows times all panels of a matrix of few steps, with the epilogue.
//!
//! For few steps the fixed costs of [`tile`](super::tile) exceed the products: a call for each panel, copies
//! of the rows, prefetches of what is near anyway, and the epilogue's pass over the result. Here one call
//! computes all columns of some rows, which are read where they are. Scale, bias, residual and limits are
//! applied to the sums in registers. With AVX-512 the addresses of a tile's rows would not fit into
//! registers: there is no such function.
//!
//! The sums have the same order and the same rounding as those of a tile and its epilogue.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same promise of the caller")]
#![allow(clippy::needless_range_loop, reason = "vectors of rows and of columns are indexed alike")]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_macros, reason = "there is no portable function")
)]

use super::finish::{Epilogue, is_limits, limits};
use super::layout::{PANEL, PanelStep};
#[cfg(target_arch = "x86_64")]
use super::tile::AVX2_ROWS;
use super::vector::Vector;
use super::{Isa, IsaKind};

impl Isa {
    /// True if there is a function [`Isa::short`].
    pub(crate) fn has_short(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == IsaKind::Avx2;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// The product of `rows` rows, from 1 to [`Isa::rows`], and a packed matrix of `k` steps and `n`
    /// columns, with its epilogue, as the first rows of `out`. The rows of `a`, and those of `out` and the
    /// residual, are at constant strides. For few steps, where [`Isa::tile`] spends its time on fixed costs.
    ///
    /// # Panics
    /// If an operand is too short, or there is no such function ([`Isa::has_short`]).
    pub(crate) fn short(
        self,
        rows: usize,
        a: (&[f32], usize),
        (b, k, n): (&[PanelStep], usize, usize),
        epilogue: &Epilogue<'_>,
        (out, to): (&mut [f32], usize),
    ) {
        let of = ShortProduct::new(rows, a, (b, k), epilogue, (out, to), n);
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an Isa of this kind exists only if detection found the instructions.
            IsaKind::Avx2 => unsafe { avx2(rows, &of, out) },
            _ => unreachable!("there is no such function"),
        }
        if !is_limits(epilogue.function) {
            out.chunks_mut(to).take(rows).for_each(|row| self.map(epilogue.function, &mut row[..n]));
        }
    }
}

/// The operands of a product of some rows, whose bounds were checked.
///
/// `a` has `k` elements in each of the rows, `stride` apart; `b` has `k` steps for each panel of the `n`
/// columns; `out` and a residual have `n` elements in each of the rows, `to` apart; a scale and a bias have
/// `n`.
#[derive(Clone, Copy)]
struct ShortProduct<'a> {
    a: &'a [f32],
    stride: usize,
    b: &'a [PanelStep],
    k: usize,
    n: usize,
    to: usize,
    epilogue: &'a Epilogue<'a>,
}

impl<'a> ShortProduct<'a> {
    /// # Panics
    /// If an operand is too short.
    fn new(
        rows: usize,
        (a, stride): (&'a [f32], usize),
        (b, k): (&'a [PanelStep], usize),
        epilogue: &'a Epilogue<'a>,
        (out, to): (&[f32], usize),
        n: usize,
    ) -> ShortProduct<'a> {
        let reach = |step: usize, len: usize| (rows - 1).checked_mul(step).and_then(|at| at.checked_add(len));
        let holds = |x: &[f32], step: usize, len: usize| reach(step, len).is_some_and(|end| end <= x.len());
        assert!(holds(a, stride, k) && holds(out, to, n), "rows of {k} and of {n} elements");
        assert_eq!(Some(b.len()), n.div_ceil(PANEL).checked_mul(k), "panels of {n} columns");
        let Epilogue { scale, bias, residual, function: _ } = epilogue;
        let per_column = [scale, bias].into_iter().flatten().all(|x| x.len() >= n);
        assert!(per_column && residual.is_none_or(|x| holds(x, to, n)), "an epilogue of {n} columns");
        ShortProduct { a, stride, b, k, n, to, epilogue }
    }
}

/// Repeats `$body` for each row below `$count`, with `$i` a constant.
macro_rules! each_row {
    ($count:ident, $i:ident, $body:block) => {
        each_row!($count, $i, $body, 0 1 2 3 4 5)
    };
    ($count:ident, $i:ident, $body:block, $($row:literal)*) => {$(
        if $row < $count {
            const $i: usize = $row;
            $body
        }
    )*};
}

/// `R` rows, all columns.
///
/// # Safety
/// The machine has the vector's instructions. `of` was made for at least `R` rows, and `out` is its result.
#[inline(always)]
unsafe fn rows<V: Vector, const R: usize>(of: &ShortProduct<'_>, out: &mut [f32]) {
    for (panel, steps) in of.b.chunks_exact(of.k).enumerate() {
        let (mut col, end) = (panel * PANEL, of.n.min((panel + 1) * PANEL));
        let mut b = steps.as_ptr().cast::<f32>();
        while col < end {
            let n = end - col;
            // SAFETY: the caller's contract. The columns from `col` on are `n`, and as many as the block
            // writes; `b` lies as many numbers behind the start of a step.
            unsafe {
                match (n >= 2 * V::LANES, n > V::LANES, n == V::LANES) {
                    (true, ..) => block::<V, R, 2, false>(of, b, (col, n), out),
                    (_, true, _) => block::<V, R, 2, true>(of, b, (col, n), out),
                    (_, _, true) => block::<V, R, 1, false>(of, b, (col, n), out),
                    _ => block::<V, R, 1, true>(of, b, (col, n), out),
                }
                b = b.wrapping_add(2 * V::LANES);
            }
            col += 2 * V::LANES;
        }
    }
}

/// `R` rows, `C` vectors of columns from `col` on. With `PART` the last vector has the rest of `n` columns.
///
/// # Safety
/// As for [`rows`]; the result has `n` columns from `col` on, and `b` points to those of a panel's first
/// step.
#[inline(always)]
unsafe fn block<V: Vector, const R: usize, const C: usize, const PART: bool>(
    of: &ShortProduct<'_>,
    b: *const f32,
    (col, n): (usize, usize),
    out: &mut [f32],
) {
    let ShortProduct { a, stride, b: _, k, n: _, to, epilogue } = *of;
    let rest = if PART { n - (C - 1) * V::LANES } else { V::LANES };
    // SAFETY: by the caller's contract the instructions are there, row `I` of `a` has `k` elements, a step
    // of the panel has `C` vectors from `b` on, and a row of the result, a residual, a scale and a bias have
    // `C` vectors from `col` on, of which the last one has `rest` numbers.
    unsafe {
        let a = a.as_ptr();
        let mut sums = [[V::splat(0.0); 2]; AVX2_ROWS];
        for p in 0..k {
            let b = b.add(p * PANEL);
            let b = [V::load(b), V::load(b.add((C - 1) * V::LANES))];
            each_row!(R, I, {
                let a = V::splat(a.add(I * stride + p).read());
                sums[I][0] = a.times_plus(b[0], sums[I][0]);
                if C == 2 {
                    sums[I][1] = a.times_plus(b[1], sums[I][1]);
                }
            });
        }
        let load = |x: &[f32], at: usize, v: usize| {
            let x = x.as_ptr().add(at + v * V::LANES);
            if PART && v + 1 == C { V::load_part(x, rest) } else { V::load(x) }
        };
        let (low, high) = limits(epilogue.function);
        let (low, high) = (V::splat(low), V::splat(high));
        for v in 0..C {
            let scale = epilogue.scale.map(|scale| load(scale, col, v));
            let bias = epilogue.bias.map(|bias| load(bias, col, v));
            each_row!(R, I, {
                let mut x = sums[I][v];
                x = match (scale, bias) {
                    (Some(scale), Some(bias)) => x.times_plus(scale, bias),
                    (Some(scale), None) => x.multiply(scale),
                    (None, Some(bias)) => x.add(bias),
                    (None, None) => x,
                };
                let at = I * to + col;
                if let Some(residual) = epilogue.residual {
                    x = x.add(load(residual, at, v));
                }
                x = x.within(low, high);
                let out = out.as_mut_ptr().add(at + v * V::LANES);
                if PART && v + 1 == C { x.store_part(out, rest) } else { x.store(out) }
            });
        }
    }
}

/// Calls [`rows`] with the number of rows as a constant.
macro_rules! some_rows {
    ($vector:ty, $count:expr, $args:tt, $($n:literal)*) => {
        match $count {
            $($n => rows::<$vector, $n> $args,)*
            _ => unreachable!("a tile has 1 to {} rows", [$($n),*].len()),
        }
    };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(count: usize, of: &ShortProduct<'_>, out: &mut [f32]) {
    use std::arch::x86_64::__m256;
    // SAFETY: the function has the target features of the vector's instructions. The bounds of `of` were
    // checked with this `out` for `count` rows.
    unsafe { some_rows!(__m256, count, (of, out), 1 2 3 4 5 6) }
}
