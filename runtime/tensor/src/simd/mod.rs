//! The instruction sets of the machine, detected once: the only module with intrinsics.
//!
//! ```text
//! Isa::detect() ─▶ Isa ─┬─ tile      R rows of a times one panel of b, in registers   (tile.rs)
//!                       ├─ row       one row of a times some panels: limited by reading b
//!                       ├─ short     rows of a times all panels of few steps       (short.rs)
//!                       ├─ times     one row of a times a matrix that is not packed          (single.rs)
//!                       ├─ transpose transposition, while a matrix is packed             (transpose.rs)
//!                       ├─ bytes     a tile of a product of bytes                        (bytes.rs)
//!                       ├─ narrow    products of bytes or bf16, panel by panel   (halves.rs, matrix_unit.rs)
//!                       ├─ to_bytes, ..  f32 from and to bytes and bf16                 (convert.rs)
//!                       ├─ quantize, ..  tensors of bytes, and sums as bytes             (affine.rs)
//!                       ├─ fold      channelwise reduction of a line's windows         (window.rs)
//!                       ├─ add_products, ..  one tap of a line's windows, in gradients (taps.rs)
//!                       ├─ correlate  pixels times gradients, for filters          (correlate.rs)
//!                       ├─ planes    filters times neighbouring windows, lanes = windows (planes.rs)
//!                       ├─ winograd  input and output transforms                        (winograd.rs)
//!                       ├─ finish    the epilogue of a tile: bias, residual, function    (finish.rs)
//!                       ├─ map_rows  softmax, layer norm                               (rows.rs)
//!                       ├─ Native    loops over ui8, i32, i64, f32 and f64              (native.rs)
//!                       ├─ norm_sums  moments of a batch, and its gradient            (moments.rs)
//!                       ├─ arithmetic  two operands, the second broadcast              (binary.rs)
//!                       ├─ zip       a step of a fused program                          (zip.rs)
//!                       ├─ map_wide  functions of f64, sines and powers of f32          (wide.rs)
//!                       └─ map       one function over a slice                        (functions.rs)
//! ```
//!
//! An [`Isa`] is only created by [`Isa::detect`] and [`Isa::all`], which return instruction sets that this
//! machine supports. Every call of a function with target features relies on this, or on a detection at the
//! call. Most loops are safe: they run over arrays of fixed width, which need no bounds checks, and the
//! compiler vectorizes them. The others use intrinsics (`tile`, `bytes`, `halves`, and the loops over a
//! `vector`) or assembly (`matrix_unit`).
//!
//! Not here: the order of the work (`matmul`, `conv`), threads.

/// Repeats `$body` for each of these rows below `$count`, with `$i` a constant.
#[cfg(target_arch = "x86_64")]
macro_rules! each_row_of {
    ($count:ident, $i:ident, $body:block, $($row:literal)*) => {$(
        if $row < $count {
            const $i: usize = $row;
            $body
        }
    )*};
}

/// Dispatches to the function for an instruction set.
macro_rules! dispatch {
    ($isa:expr, $portable:expr, $avx2:expr, $avx512:expr) => {
        match $isa.0 {
            IsaKind::Portable => $portable,
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an Isa of this kind exists only if detection found the instructions.
            IsaKind::Avx2 => unsafe { $avx2 },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an Isa of this kind exists only if detection found the instructions.
            IsaKind::Avx512 => unsafe { $avx512 },
        }
    };
}

/// Compiles an inlinable expression once per instruction set, vectorized anew each time: `$portable` without
/// target features, `$fused` with those of AVX2 and of AVX-512.
macro_rules! compiled {
    ($isa:expr, |$($arg:ident: $type:ty),*| $portable:expr, $fused:expr) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn avx2($($arg: $type),*) {
            $fused
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
        fn avx512($($arg: $type),*) {
            $fused
        }
        dispatch!($isa, $portable, avx2($($arg),*), avx512($($arg),*));
    }};
}

mod affine;
mod binary;
mod bytes;
mod convert;
mod correlate;
mod elementwise;
mod finish;
mod functions;
mod halves;
mod layout;
#[cfg(target_arch = "x86_64")]
mod matrix_unit;
mod moments;
mod native;
mod planes;
mod rows;
mod short;
mod single;
mod taps;
#[cfg(test)]
mod tests;
mod tile;
mod transpose;
mod update;
mod vector;
mod wide;
mod window;
mod winograd;
mod zip;

use std::ops::Range;
use std::sync::OnceLock;

pub use affine::{Affine, ByteResidual, Requantize};
pub use binary::{Arithmetic, Over};
pub(crate) use bytes::{
    BytePanels, ByteRows, GROUP, GROUPS, LANES, PanelGroup, ROWS as BYTE_ROWS, RowGroup, Sums,
};
pub(crate) use convert::{PanelScales, Quantum, to_half};
pub(crate) use correlate::{Runs, STEP};
pub use finish::Epilogue;
pub use functions::Function;
use layout::FUSED;
pub(crate) use layout::{
    LINE, LeftSteps, MAX_ROWS, MAX_STEPS, OutRows, PanelStep, PanelSteps, Place, ROW, Row, Segment, TileRows,
};
pub use layout::{PANEL, Precision};
pub(crate) use moments::NormSlopes;
pub(crate) use native::{Native, NativeMap, NativeOp, Reduction, Truth, compare_slices, truths, with_native};
pub(crate) use planes::{ACROSS, Block, Planes};
pub(crate) use rows::RowFunction;
pub(crate) use taps::NO_TAP;
pub use update::Update;
pub(crate) use update::{Lane, MAX_RATES, MAX_STATE, UpdateFloat, update};
pub(crate) use wide::Wide;
pub(crate) use window::{Fold, WindowRun};
pub(crate) use winograd::{Pixels, Products};
pub use zip::{Comparison, IntArithmetic};
pub(crate) use zip::{Zip, fill};

/// Prefetches the cache line of a value that will soon be read or written.
#[inline(always)]
pub(crate) fn prefetch<T>(x: Option<&T>) {
    if let Some(x) = x {
        tile::prefetch_at(x);
    }
}

/// An instruction set that this machine supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(IsaKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IsaKind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The best instruction set of this machine; detected once.
    pub fn detect() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Isa::all().next_back().unwrap_or(Isa(IsaKind::Portable)))
    }

    /// All instruction sets of this machine, the best last; for tests and benches.
    pub fn all() -> impl DoubleEndedIterator<Item = Isa> {
        #[cfg(target_arch = "x86_64")]
        let more = {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
            let avx512 =
                avx512 && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512bw");
            [avx2.then_some(Isa(IsaKind::Avx2)), (avx2 && avx512).then_some(Isa(IsaKind::Avx512))]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let more = [None; 2];
        std::iter::once(Isa(IsaKind::Portable)).chain(more.into_iter().flatten())
    }

    /// The name, for benches.
    pub fn name(self) -> &'static str {
        self.name_and_rows().0
    }

    /// The most rows of a tile.
    pub(crate) fn rows(self) -> usize {
        self.name_and_rows().1
    }

    fn name_and_rows(self) -> (&'static str, usize) {
        match self.0 {
            IsaKind::Portable => ("portable", tile::PORTABLE_ROWS),
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx2 => ("avx2", tile::AVX2_ROWS),
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512 => ("avx512", MAX_ROWS),
        }
    }

    /// `out[i] = f(sum over p of a[i][p] * b[p])` for `rows` rows, from 1 to [`Isa::rows`], and `width`
    /// columns, from 1 to [`PANEL`], where `f` is the place's epilogue. The sum runs over all segments, which
    /// have rows of the left matrix.
    pub(crate) fn tile(self, size: (usize, usize), segments: &[Segment<'_>], place: &mut Place<'_, '_>) {
        dispatch!(
            self,
            tile::portable::<false>(size, segments, place),
            tile::avx2(size, segments, place),
            tile::avx512(size, segments, place)
        );
        self.finish_tile(size, place);
    }

    /// [`Isa::tile`] of segments that have steps of the left matrix.
    pub(crate) fn tile_of_steps(
        self,
        size: (usize, usize),
        segments: &[Segment<'_>],
        place: &mut Place<'_, '_>,
    ) {
        dispatch!(
            self,
            tile::portable::<true>(size, segments, place),
            tile::avx2_of_steps(size, segments, place),
            tile::avx512_of_steps(size, segments, place)
        );
        self.finish_tile(size, place);
    }

    /// Applies an epilogue's function that is not applied in registers.
    fn finish_tile(self, size: (usize, usize), place: &mut Place<'_, '_>) {
        if !finish::is_limits(place.epilogue.function) {
            self.map_part(place.epilogue.function, size, &mut place.out);
        }
    }

    /// Applies a function to `width` elements of each of some rows.
    fn map_part(self, function: Function, (rows, width): (usize, usize), out: &mut OutRows<'_, '_>) {
        compiled!(
            self,
            |function: Function, rows: usize, width: usize, out: &mut OutRows<'_, '_>| {
                (0..rows).for_each(|i| functions::map::<FUSED>(function, &mut out.row(i)[..width]));
            },
            (0..rows).for_each(|i| functions::map::<true>(function, &mut out.row(i)[..width]))
        );
    }

    /// Copies `len` elements of each row, `distance` apart in `from`, to `out` from `at` on. Elements after
    /// them in `out` may be overwritten.
    pub(crate) fn copy_rows(self, from: &[f32], distance: usize, len: usize, at: usize, out: &mut [Row]) {
        compiled!(
            self,
            |from: &[f32], distance: usize, len: usize, at: usize, out: &mut [Row]| {
                tile::copy_rows((from, distance), len, at, out);
            },
            tile::copy_rows((from, distance), len, at, out)
        );
    }

    /// Copies `n` elements of each step, `distance` apart in `from`, to rows `row` and on of the steps of
    /// `out`. The rows behind them may be overwritten if `row` is 0.
    pub(crate) fn copy_steps(self, from: (&[f32], usize), rows: (usize, usize), out: &mut [f32]) {
        dispatch!(
            self,
            tile::copy_steps::<{ tile::SHORT_STEP }>(from, rows, out),
            tile::copy_steps_avx2(from, rows, out),
            tile::copy_steps_avx512(from, rows, out)
        );
    }

    /// `to[i * to_step + p] = from[p * from_step + i]` for `lines` lines p of `len` elements i.
    ///
    /// # Panics
    /// If the part reaches outside of a slice.
    pub(crate) fn transpose(
        self,
        (lines, len): (usize, usize),
        from: (&[f32], usize),
        to: (&mut [f32], usize),
    ) {
        dispatch!(
            self,
            transpose::portable((lines, len), from, to),
            transpose::avx2((lines, len), from, to),
            transpose::avx512((lines, len), from, to)
        );
    }

    /// `out[i] = sum over p of a[p] * step p of panel i`. `b` has as many panels as `out`, one after another.
    ///
    /// # Panics
    /// If `b` has another number of steps.
    pub(crate) fn row(self, a: &[f32], b: &[PanelStep], out: &mut [PanelStep]) {
        assert_eq!(b.len(), a.len() * out.len(), "steps of {} panels", out.len());
        if a.is_empty() {
            return out.fill([0.0; PANEL]);
        }
        dispatch!(
            self,
            tile::rows::<FUSED>(a, b, out),
            tile::rows_avx2(a, b, out),
            tile::rows_avx512(a, b, out)
        );
    }

    /// `out = sum over p of a[p] * row p of b`, with row stride `stride`.
    pub(crate) fn times_rows(self, a: &[f32], b: &[f32], stride: usize, out: &mut [f32]) {
        compiled!(
            self,
            |a: &[f32], b: &[f32], stride: usize, out: &mut [f32]| single::rows::<FUSED>(a, b, stride, out),
            single::rows::<true>(a, b, stride, out)
        );
    }

    /// `out[j] = sum over p of a[p] * b[j][p]`, with row stride `stride`.
    pub(crate) fn times_columns(self, a: &[f32], b: &[f32], stride: usize, out: &mut [f32]) {
        compiled!(
            self,
            |a: &[f32], b: &[f32], stride: usize, out: &mut [f32]| single::dots::<FUSED>(a, b, stride, out),
            single::dots::<true>(a, b, stride, out)
        );
    }

    /// Sets the sums to the products of the rows of `a` with two panels of the same number of groups.
    pub(crate) fn bytes(self, a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums) {
        #[cfg(target_arch = "x86_64")]
        if self.0 == IsaKind::Avx512 && is_x86_feature_detected!("avx512vnni") {
            // SAFETY: the kind implies AVX-512F, and detection has found VNNI.
            return unsafe { bytes::vnni(a, b, sums) };
        }
        dispatch!(self, bytes::portable(a, b, sums), bytes::avx2(a, b, sums), bytes::avx2(a, b, sums));
    }

    /// For each pair of panels, calls `each` with the number of the first and the sums of the products of the
    /// rows of `a` with both. If the number of panels is odd, the last pair is the last panel twice. Sums of
    /// bf16 are the bits of f32.
    pub(crate) fn narrow(
        self,
        precision: Precision,
        a: ByteRows<'_>,
        b: BytePanels<'_>,
        sums: &mut Sums,
        each: &mut dyn FnMut(usize, &Sums),
    ) {
        #[cfg(target_arch = "x86_64")]
        let tiles = match self.0 {
            IsaKind::Avx512 if a.rows >= matrix_unit::MIN_ROWS => matrix_unit::Tiles::new(a.rows),
            _ => None,
        };
        for i in (0..b.len()).step_by(2) {
            let two = [b.panel(i).1, b.panel((i + 1).min(b.len() - 1)).1];
            #[cfg(target_arch = "x86_64")]
            if let Some(tiles) = &tiles {
                tiles.multiply(precision, a, two, sums);
                each(i, sums);
                continue;
            }
            match precision {
                Precision::Bf16 => self.halves(a, two, sums),
                Precision::Int8 => self.bytes(a, two, sums),
            }
            each(i, sums);
        }
    }

    /// [`Isa::bytes`] of bf16, whose sums are the bits of f32.
    fn halves(self, a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums) {
        #[cfg(target_arch = "x86_64")]
        if self.0 == IsaKind::Avx512 && is_x86_feature_detected!("avx512bf16") {
            // SAFETY: the kind implies AVX-512F, and detection has found AVX-512 BF16.
            return unsafe { halves::paired(a, b, sums) };
        }
        compiled!(
            self,
            |a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums| halves::run::<FUSED>(a, b, sums),
            halves::run::<true>(a, b, sums)
        );
    }

    /// The smallest and the largest of the numbers and 0. NaN is ignored.
    pub(crate) fn range(self, x: &[f32]) -> (f32, f32) {
        let ends = &mut (0.0, 0.0);
        compiled!(
            self,
            |x: &[f32], ends: &mut (f32, f32)| *ends = convert::range(x),
            *ends = convert::range(x)
        );
        *ends
    }

    /// Quantizes numbers to bytes.
    pub(crate) fn to_bytes(self, x: &[f32], quantum: Quantum, to: &mut [u8]) {
        compiled!(
            self,
            |x: &[f32], quantum: Quantum, to: &mut [u8]| convert::to_bytes(x, quantum, to),
            convert::to_bytes(x, quantum, to)
        );
    }

    /// The nearest bf16 of numbers, as little-endian bytes.
    pub(crate) fn to_halves(self, x: &[f32], to: &mut [[u8; 2]]) {
        compiled!(self, |x: &[f32], to: &mut [[u8; 2]]| convert::to_halves(x, to), convert::to_halves(x, to));
    }

    /// Converts sums of products of bytes to f32: `width` columns of one row per quantum.
    pub(crate) fn bytes_to_floats(
        self,
        sums: &Sums,
        quanta: &[Quantum],
        panels: [PanelScales<'_>; 2],
        (out, stride): (&mut [f32], usize),
        width: usize,
    ) {
        compiled!(
            self,
            |sums: &Sums,
             quanta: &[Quantum],
             panels: [PanelScales<'_>; 2],
             out: &mut [f32],
             stride: usize,
             width: usize| convert::from_bytes(sums, quanta, panels, (out, stride), width),
            convert::from_bytes(sums, quanta, panels, (out, stride), width)
        );
    }

    /// Converts sums of products of bytes to bytes: as many rows and columns as `size` says, whose input has
    /// this zero. The residual has row stride `stride`, and so has `out`.
    pub(crate) fn requantize(
        self,
        end: &Requantize<'_>,
        (sums, zero): (&Sums, u8),
        panels: [PanelScales<'_>; 2],
        size: (usize, usize),
        (out, stride): (&mut [u8], usize),
    ) {
        compiled!(
            self,
            |end: &Requantize<'_>,
             sums: &Sums,
             zero: u8,
             panels: [PanelScales<'_>; 2],
             size: (usize, usize),
             out: &mut [u8],
             stride: usize| {
                affine::requantize::<FUSED>(end, (sums, zero), panels, size, (out, stride));
            },
            affine::requantize::<true>(end, (sums, zero), panels, size, (out, stride))
        );
    }

    /// `to = round(x / scale) + zero`, within the type's range; NaN is 0.
    pub(crate) fn quantize(self, x: &[f32], affine: Affine, to: &mut [u8]) {
        compiled!(
            self,
            |x: &[f32], affine: Affine, to: &mut [u8]| affine::quantize(x, affine, to),
            affine::quantize(x, affine, to)
        );
    }

    /// [`Isa::requantize`] of sums that are f32, all columns of some rows, without a residual.
    pub(crate) fn requantize_floats(self, end: &Requantize<'_>, sums: &[f32], out: &mut [u8]) {
        compiled!(
            self,
            |end: &Requantize<'_>, sums: &[f32], out: &mut [u8]| {
                affine::requantize_floats::<FUSED>(end, sums, out);
            },
            affine::requantize_floats::<true>(end, sums, out)
        );
    }

    /// `to = (x - zero) * scale`.
    pub(crate) fn dequantize(self, x: &[u8], affine: Affine, to: &mut [f32]) {
        compiled!(
            self,
            |x: &[u8], affine: Affine, to: &mut [f32]| affine::dequantize(x, affine, to),
            affine::dequantize(x, affine, to)
        );
    }

    /// Writes the sums of products of bf16: `width` columns of some rows.
    pub(crate) fn halves_to_floats(
        self,
        sums: &Sums,
        (rows, width): (usize, usize),
        (out, stride): (&mut [f32], usize),
    ) {
        compiled!(
            self,
            |sums: &Sums, rows: usize, width: usize, out: &mut [f32], stride: usize| {
                convert::from_halves(sums, (rows, width), (out, stride));
            },
            convert::from_halves(sums, (rows, width), (out, stride))
        );
    }

    /// `out = sum over p of a[p] * row p of b`. `by` is the row stride and a flag for signed bytes. The
    /// numbers of `a` have at most 10 bits.
    pub(crate) fn times_bytes(self, a: &[i32], b: &[u8], by: (usize, bool), out: &mut [i32]) {
        compiled!(
            self,
            |a: &[i32], b: &[u8], by: (usize, bool), out: &mut [i32]| bytes::times_rows(a, b, by, out),
            bytes::times_rows(a, b, by, out)
        );
    }

    /// Sets `out` to the reduction of each window, channel by channel, with the epilogue.
    pub(crate) fn fold(self, fold: Fold<'_>, windows: &WindowRun<'_>, out: &mut [f32]) {
        dispatch!(
            self,
            window::portable(fold, windows, out),
            window::avx2(fold, windows, out),
            window::avx512(fold, windows, out)
        );
        if !finish::is_limits(windows.epilogue.function) {
            self.map(windows.epilogue.function, out);
        }
    }

    /// Adds each window's gradient times the tap's weights, one per channel, to the tap's pixels, which are
    /// `step` apart.
    pub(crate) fn add_products(self, dy: &[f32], weights: &[f32], (pixels, step): (&mut [f32], usize)) {
        compiled!(
            self,
            |dy: &[f32], weights: &[f32], pixels: &mut [f32], step: usize| {
                taps::add_products::<FUSED>(dy, weights, (pixels, step));
            },
            taps::add_products::<true>(dy, weights, (pixels, step))
        );
    }

    /// Adds the sum of the tap's pixels times their windows' gradients to its weights, one per channel.
    pub(crate) fn sum_products(self, dy: &[f32], (pixels, step): (&[f32], usize), weights: &mut [f32]) {
        compiled!(
            self,
            |dy: &[f32], pixels: &[f32], step: usize, weights: &mut [f32]| {
                taps::sum_products::<FUSED>(dy, (pixels, step), weights);
            },
            taps::sum_products::<true>(dy, (pixels, step), weights)
        );
    }

    /// Adds to `sums`, tap by tap, the products of each tap's pixels with each run of gradients.
    pub(crate) fn correlate(self, runs: &Runs<'_>, sums: &mut [f32]) {
        dispatch!(
            self,
            correlate::portable(runs, sums),
            correlate::avx2(runs, sums),
            correlate::avx512(runs, sums)
        );
    }

    /// For each window and channel: if the pixel is larger than `best`, or the first NaN, updates `best` to
    /// it and `at` to its tap. [`NO_TAP`] in `at` means that there was no pixel before.
    pub(crate) fn keep_largest(
        self,
        (pixels, step): (&[f32], usize),
        (tap, channels): (u32, usize),
        best: &mut [f32],
        at: &mut [u32],
    ) {
        compiled!(
            self,
            |pixels: &[f32], step: usize, tap: u32, channels: usize, best: &mut [f32], at: &mut [u32]| {
                taps::keep_largest((pixels, step), (tap, channels), best, at);
            },
            taps::keep_largest((pixels, step), (tap, channels), best, at)
        );
    }

    /// Adds each window's gradient to its pixel where `at` is this tap.
    pub(crate) fn add_where(
        self,
        dy: &[f32],
        at: &[u32],
        (tap, channels): (u32, usize),
        (pixels, step): (&mut [f32], usize),
    ) {
        compiled!(
            self,
            |dy: &[f32], at: &[u32], tap: u32, channels: usize, pixels: &mut [f32], step: usize| {
                taps::add_where(dy, at, (tap, channels), (pixels, step));
            },
            taps::add_where(dy, at, (tap, channels), (pixels, step))
        );
    }

    /// Sets `block` to `f(sum over p of b[p] * element p of each window * scale + bias)`, for at most
    /// [`ACROSS`] windows and `outs` columns. With a residual, neither scale, bias nor function is applied.
    pub(crate) fn planes(
        self,
        planes: &Planes<'_>,
        windows: Range<usize>,
        (b, outs): (&[PanelStep], usize),
        epilogue: &Epilogue<'_>,
        block: &mut Block,
    ) {
        let sums = &mut block.sums;
        dispatch!(
            self,
            planes::portable(planes, windows, b, outs, sums),
            planes::avx2(planes, windows, b, outs, sums),
            planes::avx512(planes, windows, b, outs, sums)
        );
        if epilogue.residual.is_none() && !epilogue.is_plain() {
            let (done, sums) = (&mut false, &mut sums[..outs]);
            compiled!(
                self,
                |epilogue: &Epilogue<'_>, sums: &mut [[f32; ACROSS]], done: &mut bool| {
                    *done = finish::run_transposed::<FUSED>(epilogue, sums);
                },
                *done = finish::run_transposed::<true>(epilogue, sums)
            );
            if !*done {
                self.map(epilogue.function, sums.as_flattened_mut());
            }
        }
        dispatch!(
            self,
            planes::portable_transposed(outs, block),
            planes::avx2_transposed(outs, block),
            planes::avx512_transposed(outs, block)
        );
    }

    /// Transforms some channels of a `side` by `side` patch of pixels (4 or 6); positions are `step` apart in
    /// `to`.
    pub(crate) fn winograd_input(
        self,
        side: usize,
        channels: Range<usize>,
        pixels: &Pixels<'_>,
        (to, step): (&mut [f32], usize),
    ) {
        dispatch!(
            self,
            winograd::portable_input(side, channels, pixels, to, step),
            winograd::avx2_input(side, channels, pixels, to, step),
            winograd::avx512_input(side, channels, pixels, to, step)
        );
    }

    /// Transforms the products of a `side` by `side` patch (4 or 6) to pixels of the result.
    pub(crate) fn winograd_output(
        self,
        side: usize,
        channels: usize,
        products: &Products<'_>,
        to: &mut [f32],
    ) {
        dispatch!(
            self,
            winograd::portable_output(side, channels, products, to),
            winograd::avx2_output(side, channels, products, to),
            winograd::avx512_output(side, channels, products, to)
        );
    }

    /// Applies an epilogue to some rows of `out` of `width` elements each. The residual has row stride
    /// `stride`.
    pub(crate) fn finish(
        self,
        epilogue: &Epilogue<'_>,
        (rows, width): (usize, usize),
        out: &mut OutRows<'_, '_>,
        stride: usize,
    ) {
        let done = &mut false;
        compiled!(
            self,
            |epilogue: &Epilogue<'_>,
             rows: usize,
             width: usize,
             out: &mut OutRows<'_, '_>,
             stride: usize,
             done: &mut bool| {
                *done = finish::run::<FUSED>(epilogue, (rows, width), out, stride);
            },
            *done = finish::run::<true>(epilogue, (rows, width), out, stride)
        );
        if !*done {
            self.map_part(epilogue.function, (rows, width), out);
        }
    }

    /// Applies a function to each row of `n > 0` elements.
    pub(crate) fn map_rows(self, function: RowFunction<'_>, n: usize, x: &mut [f32]) {
        compiled!(
            self,
            |function: RowFunction<'_>, n: usize, x: &mut [f32]| {
                x.chunks_exact_mut(n).for_each(|row| rows::run::<FUSED>(function, row));
            },
            x.chunks_exact_mut(n).for_each(|row| rows::run::<true>(function, row))
        );
    }

    /// The gradient of a layer norm of rows; see `rows::norm_gradient`.
    pub(crate) fn layer_norm_gradient(
        self,
        x: &[f32],
        scale: (&[f32], f32),
        dy: &mut [f32],
        sums: [&mut [f64]; 2],
    ) {
        compiled!(
            self,
            |x: &[f32], scale: (&[f32], f32), dy: &mut [f32], sums: [&mut [f64]; 2]| {
                rows::norm_gradient::<FUSED>(x, scale, dy, sums);
            },
            rows::norm_gradient::<true>(x, scale, dy, sums)
        );
    }

    /// For each column j of matrices with as many columns as `shift`: adds the sum of `w` to `sums[0][j]` and
    /// that of `w * (x - shift[j])` to `sums[1][j]`, where `w` is the element of `weights`, or `x - shift[j]`
    /// without weights.
    pub(crate) fn norm_sums(self, x: &[f32], weights: Option<&[f32]>, shift: &[f32], sums: [&mut [f64]; 2]) {
        compiled!(
            self,
            |x: &[f32], weights: Option<&[f32]>, shift: &[f32], sums: [&mut [f64]; 2]| moments::sums(
                x, weights, shift, sums
            ),
            moments::sums(x, weights, shift, sums)
        );
    }

    /// `dy = (dy - (x - mean) * slope - offset) * factor`. The four are rows of one length or single numbers;
    /// the length of `dy` is a multiple of theirs.
    pub(crate) fn norm_gradient(self, slopes: NormSlopes<'_>, x: &[f32], dy: &mut [f32]) {
        compiled!(
            self,
            |slopes: NormSlopes<'_>, x: &[f32], dy: &mut [f32]| {
                moments::norm_gradient::<FUSED>(slopes, x, dy);
            },
            moments::norm_gradient::<true>(slopes, x, dy)
        );
    }

    /// Multiplies and adds in registers only, and returns the number of floating-point operations: the
    /// machine's peak, for benches.
    pub fn multiply_adds(self, steps: usize) -> usize {
        let mut sums = [[0.0; PANEL]; 12];
        dispatch!(
            self,
            tile::portable_peak(steps, &mut sums),
            tile::avx2_peak(steps, &mut sums),
            tile::avx512_peak(steps, &mut sums)
        );
        let lanes = std::hint::black_box(sums)[0].iter().filter(|&&sum| sum != 0.0).count();
        steps * 12 * 2 * lanes
    }
}
