//! A tile of the product: some rows of the left matrix times one panel of the right one.
//!
//! Both come in segments, one after another. The rows have one stride, be they copied or in place, or the
//! elements of all rows at a step follow each other; each element of a row is broadcast. Every third row
//! has an address in a register, since an address may have once or twice the stride added: a register for
//! each of 14 rows is too much. `b` is a panel of [`PANEL`](super::PANEL) columns per step. AVX-512 holds 14
//! rows by 32 columns in 28 registers; two more hold the step of `b`. AVX2 and the portable version process
//! the same panel in parts of 16 and 8 columns. Parts beyond the width of a narrow matrix are skipped. The
//! epilogue's scale, bias, residual and limits are applied to the sums in registers ([`Ending`]).
//!
//! `b` comes from the L2 cache, so it is prefetched some steps ahead. The destination of the sums is
//! prefetched at the start. Data that is needed after the tile ([`Segment::next`]) is prefetched into the L2
//! cache, a line every few steps.
//!
//! Tiles of rows and of steps have entries of their own ([`Isa::tile`](super::Isa::tile),
//! [`Isa::tile_of_steps`](super::Isa::tile_of_steps)), so that a program without products of steps does not
//! contain their tiles.
//!
//! The loops use counters and indices, since iterators such as `zip` depend on the inlining of the build: one
//! remaining call in a tile costs a factor of ten. Accumulators are registers only if every index is a
//! constant in the source, so the rows are written out.
//!
//! `row` is for a single row, where every element of `b` is used once: independent accumulators hide the
//! latency of the additions. AVX-512 reads four panels at once. The processor itself fetches them ahead: with
//! prefetches the L3 cache is a tenth slower.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same promise of the caller")]
#![allow(clippy::needless_range_loop, reason = "see above: indices, not iterators")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{Ordering, compiler_fence};

use super::finish::{Epilogue, limits};
use super::functions::fma;
use super::layout::{FUSED, LINE, MAX_ROWS, PANEL, PanelStep, Place, ROW, Row, Segment};
use super::vector::Vector;

#[cfg(target_arch = "x86_64")]
pub(super) const AVX2_ROWS: usize = 6;
pub(super) const PORTABLE_ROWS: usize = 4;
/// The numbers of a step of few rows; see [`super::Isa::step`].
pub(super) const SHORT_STEP: usize = 8;

impl super::Isa {
    /// The distance of a tile's steps, in numbers: little more than its rows, so that all fit the L1 cache.
    pub(crate) fn step(self) -> usize {
        if self.rows() <= SHORT_STEP { SHORT_STEP } else { MAX_ROWS }
    }
}

/// Calls `$tile` with the number of rows as a constant.
macro_rules! by_rows {
    ($rows:expr, $tile:ident<$($more:tt),*> $args:tt, $($n:literal)*) => {
        by_rows!(@ $rows, $tile, [$($more),*], $args, $($n)*)
    };
    (@ $rows:expr, $tile:ident, $more:tt, $args:tt, $($n:literal)*) => {
        match $rows {
            $($n => by_rows!(@ $tile, $n, $more, $args),)*
            _ => unreachable!("a tile has 1 to {} rows", [$($n),*].len()),
        }
    };
    (@ $tile:ident, $n:literal, [$($more:tt),*], $args:tt) => {
        $tile::<$n, $($more),*> $args
    };
}

/// The lanes of the portable vector.
const LANES: usize = <[f32; 8]>::LANES;

pub(super) fn portable<const STEPS: bool>(
    (rows, width): (usize, usize),
    segments: &[Segment<'_>],
    place: &mut Place<'_, '_>,
) {
    for part in 0..width.div_ceil(LANES) {
        by_rows!(rows, portable_of<STEPS>((part, width), segments, place), 1 2 3 4);
    }
}

/// Repeats `$body` for each row below `$count`, with `$i` a constant.
#[cfg(target_arch = "x86_64")]
macro_rules! each_row {
    ($count:ident, $i:ident, $body:block) => {
        each_row_of!($count, $i, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13)
    };
}

/// The epilogue and the store of the sums of a vector of a tile's columns.
#[derive(Clone, Copy)]
pub(super) struct Ending<'a, V> {
    /// The first of the columns.
    from: usize,
    /// The number of columns, at most that of the vector's lanes.
    n: usize,
    add: bool,
    scale: V,
    bias: V,
    residual: Option<&'a [f32]>,
    /// The row stride of the residual.
    stride: usize,
    limits: Option<(V, V)>,
}

impl<'a, V: Vector> Ending<'a, V> {
    /// The ending of the columns from `from` on of a tile that has `width`. The residual has row stride
    /// `stride`. With `add` the sums are added to what is there.
    ///
    /// # Safety
    /// The machine has the vector's instructions.
    #[inline(always)]
    pub(super) unsafe fn new(
        (epilogue, stride): (&Epilogue<'a>, usize),
        add: bool,
        from: usize,
        width: usize,
    ) -> Ending<'a, V> {
        let from = from.min(width);
        let n = (width - from).min(V::LANES);
        let end = from + n;
        let (low, high) = limits(epilogue.function);
        // No closures: they would not be compiled for the instruction set.
        // SAFETY: by the caller's contract the machine has the instructions; both slices have `n` floats.
        unsafe {
            // 1 and -0 change no sum.
            let scale = match epilogue.scale {
                Some(scale) => load(&scale[from..end]),
                None => V::splat(1.0),
            };
            let bias = match epilogue.bias {
                Some(bias) => load(&bias[from..end]),
                None => V::splat(-0.0),
            };
            let is_bounded = low > f32::NEG_INFINITY || high < f32::INFINITY;
            let limits = if is_bounded { Some((V::splat(low), V::splat(high))) } else { None };
            Ending { from, n, add, scale, bias, residual: epilogue.residual, stride, limits }
        }
    }

    /// Stores the sums of row `i`, whose destination begins with the tile's first column.
    ///
    /// # Safety
    /// The machine has the vector's instructions.
    #[inline(always)]
    pub(super) unsafe fn put(&self, i: usize, mut sums: V, out: &mut [f32]) {
        let out = &mut out[self.from..][..self.n];
        // SAFETY: by the caller's contract the machine has the instructions; all slices have `n` floats.
        unsafe {
            if self.add {
                sums = sums.add(load(out));
            }
            sums = sums.times_plus(self.scale, self.bias);
            if let Some(residual) = self.residual {
                sums = sums.add(load(&residual[i * self.stride + self.from..][..self.n]));
            }
            if let Some((low, high)) = self.limits {
                sums = sums.within(low, high);
            }
            if self.n == V::LANES {
                sums.store(out.as_mut_ptr());
            } else {
                sums.store_part(out.as_mut_ptr(), self.n);
            }
        }
    }
}

/// The floats of a slice, at most as many as a vector has lanes; zeros in the other lanes.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn load<V: Vector>(x: &[f32]) -> V {
    // SAFETY: the caller's contract; the slice has its floats.
    unsafe { if x.len() >= V::LANES { V::load(x.as_ptr()) } else { V::load_part(x.as_ptr(), x.len()) } }
}

fn portable_of<const R: usize, const STEPS: bool>(
    (part, width): (usize, usize),
    segments: &[Segment<'_>],
    place: &mut Place<'_, '_>,
) {
    let mut sums = [[0.0f32; LANES]; R];
    for &Segment { a, b, next: _ } in segments {
        let steps = a.steps::<SHORT_STEP>();
        let (rows, stride) = if STEPS { (&[][..], 0) } else { a.rows(R, b.len()) };
        for p in 0..b.len() {
            let b = &b.step(p).as_chunks::<LANES>().0[part];
            for i in 0..R {
                let a = if STEPS { steps[p][i] } else { rows[i * stride + p] };
                for j in 0..LANES {
                    sums[i][j] = fma::<{ FUSED }>(a, b[j], sums[i][j]);
                }
            }
        }
    }
    // SAFETY: the vector `[f32; 8]` needs no special instructions.
    unsafe {
        let end = (&place.epilogue, place.stride);
        let end = Ending::<[f32; LANES]>::new(end, place.add, part * LANES, width);
        for i in 0..R {
            end.put(i, sums[i], place.out.row(i));
        }
    }
}

/// See [`super::Isa::multiply_adds`].
pub(super) fn portable_peak(steps: usize, sums: &mut [PanelStep; 12]) {
    let x = std::hint::black_box(0.5);
    for _ in 0..steps {
        for sum in sums.iter_mut() {
            for sum in &mut sum[..8] {
                *sum = fma::<{ FUSED }>(*sum, x, x);
            }
        }
    }
}

/// The prefetch distance of `b` in steps.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 12;

/// The number of steps between prefetches of the data needed after the tile. Prefetching it all at once would
/// delay the loads of the products.
#[cfg(target_arch = "x86_64")]
const NEXT: usize = 4;

/// Prefetches the cache line at an address, which need not be valid.
#[inline(always)]
pub(super) fn prefetch_at<T>(x: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint; any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(x.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = x;
}

/// Prefetches a cache line into the L2 cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_into_l2(x: &f32) {
    // SAFETY: a prefetch is a hint; any address is allowed.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(x).cast()) };
}

/// See [`super::Isa::copy_rows`]. Copies whole cache lines where there is enough after each row. Few lines
/// are a constant: a call for each row would take longer than the copy.
#[inline(always)]
pub(super) fn copy_rows((from, distance): (&[f32], usize), len: usize, at: usize, out: &mut [Row]) {
    let lines = len.div_ceil(LINE);
    let reach = out.len().saturating_sub(1) * distance + lines * LINE;
    if reach > from.len() || at + lines * LINE > ROW {
        return copy_single_rows((from, distance), len, at, out);
    }
    match lines {
        1 => copy_lines::<1>((from, distance), at, out),
        2 => copy_lines::<2>((from, distance), at, out),
        3 => copy_lines::<3>((from, distance), at, out),
        4 => copy_lines::<4>((from, distance), at, out),
        _ => copy_single_rows((from, distance), lines * LINE, at, out),
    }
}

#[inline(always)]
fn copy_lines<const N: usize>((from, distance): (&[f32], usize), at: usize, out: &mut [Row]) {
    for (i, out) in out.iter_mut().enumerate() {
        let (from, to) = (from[i * distance..].as_chunks::<LINE>().0, out[at..].as_chunks_mut::<LINE>().0);
        if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut()) {
            *to = *from;
        }
    }
}

#[inline(always)]
fn copy_single_rows((from, distance): (&[f32], usize), len: usize, at: usize, out: &mut [Row]) {
    for (i, out) in out.iter_mut().enumerate() {
        let (Some(row), Some(out)) = (from.get(i * distance..), out.get_mut(at..)) else { return };
        let len = len.min(row.len()).min(out.len());
        out[..len].copy_from_slice(&row[..len]);
    }
}

/// See [`super::Isa::copy_steps`]. Copies the elements of all rows where there are as many. Other numbers of
/// elements are constants: a call for each step would take longer than the step's products.
#[inline(always)]
pub(super) fn copy_steps<const N: usize>(from: (&[f32], usize), (row, n): (usize, usize), out: &mut [f32]) {
    let out = out.as_chunks_mut().0;
    if row == 0 && n > N / 2 {
        return copy_all_rows::<N>(from, n, out);
    }
    match n {
        1 => copy_some_rows::<1, N>(from, row, out),
        2 => copy_some_rows::<2, N>(from, row, out),
        3 => copy_some_rows::<3, N>(from, row, out),
        4 => copy_some_rows::<4, N>(from, row, out),
        5 => copy_some_rows::<5, N>(from, row, out),
        6 => copy_some_rows::<6, N>(from, row, out),
        _ => {
            for (p, out) in out.iter_mut().enumerate() {
                let Some(from) = from.0.get(p * from.1..) else { return };
                out[row..row + n].copy_from_slice(&from[..n]);
            }
        }
    }
}

#[inline(always)]
fn copy_all_rows<const N: usize>((from, distance): (&[f32], usize), n: usize, out: &mut [[f32; N]]) {
    for (p, out) in out.iter_mut().enumerate() {
        let Some(from) = from.get(p * distance..) else { return };
        match from.first_chunk() {
            Some(all) => *out = *all,
            None => out[..n].copy_from_slice(&from[..n]),
        }
    }
}

#[inline(always)]
fn copy_some_rows<const K: usize, const N: usize>(
    (from, distance): (&[f32], usize),
    row: usize,
    out: &mut [[f32; N]],
) {
    for (p, out) in out.iter_mut().enumerate() {
        let from = from.get(p * distance..).and_then(|from| from.first_chunk::<K>());
        let (Some(from), Some(to)) = (from, out[row..].first_chunk_mut()) else { return };
        *to = *from;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn copy_steps_avx2(from: (&[f32], usize), rows: (usize, usize), out: &mut [f32]) {
    copy_steps::<SHORT_STEP>(from, rows, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub(super) fn copy_steps_avx512(from: (&[f32], usize), rows: (usize, usize), out: &mut [f32]) {
    copy_steps::<MAX_ROWS>(from, rows, out);
}

/// Defines a tile for one instruction set, in parts of two vectors of `$lanes`, or of one vector at the end
/// of the width.
macro_rules! x86_tile {
    ($name:ident, $name_of_steps:ident, $of:ident, $peak:ident, $features:literal, $lanes:literal, $step:ident, rows $($rows:literal)*,
     $zero:ident $set:ident $fma:ident $load:ident $store:ident $loadu:ident $storeu:ident $vector:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        pub(super) fn $name(
            (rows, width): (usize, usize),
            segments: &[Segment<'_>],
            place: &mut Place<'_, '_>,
        ) {
            let has_next = segments.iter().any(|segment| !segment.next.is_empty());
            for part in (0..width.div_ceil($lanes)).step_by(2) {
                let (is_narrow, columns) = (width - part * $lanes <= $lanes, (part, width));
                match (is_narrow, has_next) {
                    (true, _) => by_rows!(rows, $of<1, false, false>(columns, segments, place), $($rows)*),
                    (false, true) => by_rows!(rows, $of<2, true, false>(columns, segments, place), $($rows)*),
                    (false, false) => by_rows!(rows, $of<2, false, false>(columns, segments, place), $($rows)*),
                }
            }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        pub(super) fn $name_of_steps(
            (rows, width): (usize, usize),
            segments: &[Segment<'_>],
            place: &mut Place<'_, '_>,
        ) {
            for part in (0..width.div_ceil($lanes)).step_by(2) {
                let (is_narrow, columns) = (width - part * $lanes <= $lanes, (part, width));
                match is_narrow {
                    true => by_rows!(rows, $of<1, false, true>(columns, segments, place), $($rows)*),
                    false => by_rows!(rows, $of<2, true, true>(columns, segments, place), $($rows)*),
                }
            }
        }

        // Not inlined: one function with all the tiles takes seconds more to compile than the tiles.
        #[cfg(target_arch = "x86_64")]
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn $of<const R: usize, const V: usize, const ASKS: bool, const STEPS: bool>(
            (part, width): (usize, usize),
            segments: &[Segment<'_>],
            place: &mut Place<'_, '_>,
        ) {
            for i in 0..R {
                let out = place.out.row(i).as_ptr().wrapping_add(part * $lanes);
                prefetch_at(out);
                prefetch_at(out.wrapping_add((V - 1) * $lanes));
            }
            let mut sums = [[$zero(); 2]; MAX_ROWS];
            for &Segment { a, b, next } in segments {
                let steps = a.steps::<$step>();
                let (rows, stride) = if STEPS { (&[][..], 0) } else { a.rows(R, b.len()) };
                let mut thirds = [rows.as_ptr(); MAX_ROWS.div_ceil(3)];
                for i in 0..thirds.len() {
                    thirds[i] = thirds[i].wrapping_add(3 * i * stride);
                }
                for p in 0..b.len() {
                    if ASKS
                        && p % NEXT == 0
                        && let Some(x) = next.get(p / NEXT * LINE)
                    {
                        prefetch_into_l2(x);
                    }
                    let step = b.step(p).as_chunks().0;
                    let ahead = AHEAD * b.stride();
                    let b = [&step[part], &step[part + V - 1]];
                    prefetch_at(b[0].as_ptr().wrapping_add(ahead));
                    prefetch_at(b[1].as_ptr().wrapping_add(ahead));
                    let b = [$load(b[0]), $load(b[1])];
                    each_row!(R, I, {
                        // Not for synchronization: keeps the compiler from loading all rows' elements at
                        // once, which would spill registers.
                        compiler_fence(Ordering::SeqCst);
                        // The remainder is `I`; the compiler also checks the rows that this tile lacks.
                        let a = if STEPS {
                            steps[p][I % $step]
                        } else {
                            // SAFETY: the pointer is `p` behind the start of row `I / 3 * 3`. Row `I` has
                            // more elements than `p`, which `LeftSteps::rows` has checked.
                            unsafe { thirds[I / 3].add(I % 3 * stride).read() }
                        };
                        let a = $set(a);
                        sums[I][0] = $fma(a, b[0], sums[I][0]);
                        if V == 2 {
                            sums[I][1] = $fma(a, b[1], sums[I][1]);
                        }
                    });
                    for i in 0..thirds.len() {
                        thirds[i] = thirds[i].wrapping_add(1);
                    }
                }
            }
            let (from, end, add) = (part * $lanes, (&place.epilogue, place.stride), place.add);
            let behind = from + $lanes;
            // SAFETY: the function has the target features of the vector's instructions.
            let ends = unsafe {
                [Ending::<$vector>::new(end, add, from, width), Ending::new(end, add, behind, width)]
            };
            each_row!(R, I, {
                let out = place.out.row(I);
                // SAFETY: the function has the target features of the vector's instructions.
                unsafe {
                    ends[0].put(I, sums[I][0], out);
                    if V == 2 {
                        ends[1].put(I, sums[I][1], out);
                    }
                }
            });
        }

        /// See [`super::Isa::multiply_adds`].
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        pub(super) fn $peak(steps: usize, sums: &mut [PanelStep; 12]) {
            let x = $set(std::hint::black_box(0.5));
            let mut registers = [x; 12];
            for _ in 0..steps {
                for i in 0..12 {
                    registers[i] = $fma(registers[i], x, x);
                }
            }
            for i in 0..12 {
                $store(&mut sums[i].as_chunks_mut().0[0], registers[i]);
            }
        }

        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = $features)]
        fn $load(x: &[f32; $lanes]) -> $vector {
            // SAFETY: an array has its floats; the load needs no alignment.
            unsafe { $loadu(x.as_ptr()) }
        }

        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = $features)]
        fn $store(out: &mut [f32; $lanes], x: $vector) {
            // SAFETY: an array has its floats; the store needs no alignment.
            unsafe { $storeu(out.as_mut_ptr(), x) }
        }
    };
}

x86_tile!(
    avx2, avx2_of_steps, avx2_of, avx2_peak, "avx2,fma", 8, SHORT_STEP, rows 1 2 3 4 5 6,
    _mm256_setzero_ps _mm256_set1_ps _mm256_fmadd_ps load8 store8 _mm256_loadu_ps _mm256_storeu_ps __m256
);
x86_tile!(
    avx512, avx512_of_steps, avx512_of, avx512_peak, "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma", 16, MAX_ROWS, rows 1 2 3 4 5 6 7 8 9 10 11 12 13 14,
    _mm512_setzero_ps _mm512_set1_ps _mm512_fmadd_ps load16 store16 _mm512_loadu_ps _mm512_storeu_ps __m512
);

#[inline(always)]
fn row<const FMA: bool>(a: &[f32], b: &[PanelStep]) -> PanelStep {
    const STRANDS: usize = 4;
    let steps = a.len().min(b.len());
    let (a, b) = (&a[..steps], &b[..steps]);
    let mut sums = [[0.0f32; PANEL]; STRANDS];
    let ((a_blocks, a_rest), (b_blocks, b_rest)) = (a.as_chunks::<STRANDS>(), b.as_chunks::<STRANDS>());
    for p in 0..a_blocks.len().min(b_blocks.len()) {
        for strand in 0..STRANDS {
            for j in 0..PANEL {
                sums[strand][j] = fma::<FMA>(a_blocks[p][strand], b_blocks[p][strand][j], sums[strand][j]);
            }
        }
    }
    for p in 0..a_rest.len().min(b_rest.len()) {
        for j in 0..PANEL {
            sums[0][j] = fma::<FMA>(a_rest[p], b_rest[p][j], sums[0][j]);
        }
    }
    let mut total = [0.0; PANEL];
    for j in 0..PANEL {
        total[j] = (sums[0][j] + sums[1][j]) + (sums[2][j] + sums[3][j]);
    }
    total
}

/// See [`super::Isa::row`].
#[inline(always)]
pub(super) fn rows<const FMA: bool>(a: &[f32], b: &[PanelStep], out: &mut [PanelStep]) {
    for (out, b) in out.iter_mut().zip(b.chunks_exact(a.len().max(1))) {
        *out = row::<FMA>(a, b);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn rows_avx2(a: &[f32], b: &[PanelStep], out: &mut [PanelStep]) {
    rows::<true>(a, b, out);
}

/// See [`super::Isa::row`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub(super) fn rows_avx512(a: &[f32], b: &[PanelStep], out: &mut [PanelStep]) {
    let (fours, rest) = out.as_chunks_mut::<4>();
    let (b_fours, b_rest) = b.split_at(fours.len() * 4 * a.len());
    for (out, b) in fours.iter_mut().zip(b_fours.chunks_exact((4 * a.len()).max(1))) {
        some_panels_avx512(a, b, out);
    }
    for (out, b) in rest.iter_mut().zip(b_rest.chunks_exact(a.len().max(1))) {
        some_panels_avx512(a, b, std::array::from_mut(out));
    }
}

/// `P` panels at once. The order of the sums is the same for every `P`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn some_panels_avx512<const P: usize>(a: &[f32], b: &[PanelStep], out: &mut [PanelStep; P]) {
    const STRANDS: usize = 2;
    let k = a.len();
    let panels: [&[PanelStep]; P] = std::array::from_fn(|i| &b[i * k..][..k]);
    let mut sums = [[[_mm512_setzero_ps(); 2]; P]; STRANDS];
    let whole = k / STRANDS * STRANDS;
    for from in (0..whole).step_by(STRANDS) {
        for strand in 0..STRANDS {
            let a = _mm512_set1_ps(a[from + strand]);
            for i in 0..P {
                let step = panels[i][from + strand].as_chunks().0;
                for half in 0..2 {
                    sums[strand][i][half] = _mm512_fmadd_ps(a, load16(&step[half]), sums[strand][i][half]);
                }
            }
        }
    }
    for p in whole..k {
        let a = _mm512_set1_ps(a[p]);
        for i in 0..P {
            let step = panels[i][p].as_chunks().0;
            for half in 0..2 {
                sums[0][i][half] = _mm512_fmadd_ps(a, load16(&step[half]), sums[0][i][half]);
            }
        }
    }
    for i in 0..P {
        let out = out[i].as_chunks_mut().0;
        for half in 0..2 {
            store16(&mut out[half], _mm512_add_ps(sums[0][i][half], sums[1][i][half]));
        }
    }
}
