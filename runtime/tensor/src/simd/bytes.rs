//! Products of matrices of bytes: sums of unsigned times signed bytes in i32, which wrap around.
//!
//! ```text
//! rows of a:    groups of 4 steps, u8         panel of b: per group 16 columns of 4 steps, i8 (64 bytes)
//! AVX-512 VNNI: one instruction for 16 columns of a group    AVX2: i16 pairs    portable: i32
//! ```
//!
//! A tile is up to 32 rows by two panels; VNNI processes 8 rows at a time. Every instruction set computes the
//! same bits. Accumulators are registers only if every index is a constant in the source, so the rows are
//! written out by a macro. The matrix unit, which processes whole tiles, is in
//! [`matrix_unit`](super::matrix_unit).

#![allow(clippy::needless_range_loop, reason = "indices, not iterators: see `tile`")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The number of columns of a panel.
pub(crate) const LANES: usize = 16;
/// The number of steps of a group.
pub(crate) const GROUP: usize = 4;
/// The number of groups of a panel is a multiple of this, as [`Isa::narrow`](super::Isa::narrow) requires.
pub(crate) const GROUPS: usize = 16;
/// The most rows of a tile.
pub(crate) const ROWS: usize = 32;
/// The number of rows that VNNI processes at a time.
const STRIP: usize = 8;

/// A group of steps of a row.
pub(crate) type RowGroup = [u8; GROUP];
/// A group of steps of a panel.
pub(crate) type PanelGroup = [[i8; GROUP]; LANES];
/// The sums of a tile.
pub(crate) type Sums = [[[i32; LANES]; 2]; ROWS];

/// Packed panels of 16 columns, one after another: units of 64 bytes.
#[derive(Clone, Copy)]
pub(crate) struct BytePanels<'a> {
    pub(crate) units: &'a [PanelGroup],
    /// The number of units of a panel.
    pub(crate) each: usize,
    /// The number of units ahead of a panel's groups.
    pub(crate) head: usize,
}

impl<'a> BytePanels<'a> {
    /// The number of panels.
    pub(crate) fn len(&self) -> usize {
        self.units.len() / self.each.max(1)
    }

    /// The units ahead of a panel's groups, and its groups.
    pub(crate) fn panel(&self, i: usize) -> (&'a [PanelGroup], &'a [PanelGroup]) {
        self.units[i * self.each..][..self.each].split_at(self.head)
    }
}

/// The rows of a tile. Row `i` begins at group `i * stride` and has as many groups as the panels.
#[derive(Clone, Copy)]
pub(crate) struct ByteRows<'a> {
    pub(crate) groups: &'a [RowGroup],
    pub(crate) stride: usize,
    /// At most [`ROWS`].
    pub(crate) rows: usize,
}

impl<'a> ByteRows<'a> {
    /// The first `n` groups of row `i`.
    pub(super) fn row(&self, i: usize, n: usize) -> &'a [RowGroup] {
        &self.groups[i * self.stride..][..n]
    }

    /// At most `most` rows from row `from` on.
    pub(super) fn some(&self, from: usize, most: usize) -> ByteRows<'a> {
        let groups = self.groups.get(from * self.stride..).unwrap_or(&[]);
        ByteRows { groups, rows: self.rows.saturating_sub(from).min(most), ..*self }
    }
}

pub(super) fn portable(a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums) {
    for (half, b) in b.into_iter().enumerate() {
        for (i, sums) in sums.iter_mut().enumerate().take(a.rows) {
            let mut acc = [0i32; LANES];
            for (a, b) in a.row(i, b.len()).iter().zip(b) {
                for l in 0..LANES {
                    for h in 0..GROUP {
                        acc[l] = acc[l].wrapping_add(i32::from(a[h]) * i32::from(b[l][h]));
                    }
                }
            }
            sums[half] = acc;
        }
    }
}

/// Four columns of a group, as i16.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn four_columns(b: &PanelGroup, at: usize) -> __m256i {
    let bytes: &[i8; 16] = b.as_flattened()[at * 16..].first_chunk().unwrap_or(&[0; 16]);
    // SAFETY: the array has the 16 bytes.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(super) fn avx2(a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums) {
    for (half, b) in b.into_iter().enumerate() {
        for (i, sums) in sums.iter_mut().enumerate().take(a.rows) {
            let (mut s0, mut s1) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            let (mut s2, mut s3) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            for (a, b) in a.row(i, b.len()).iter().zip(b) {
                let [a0, a1, a2, a3] = a.map(i64::from);
                let a = _mm256_set1_epi64x(a0 | a1 << 16 | a2 << 32 | a3 << 48);
                // The instruction adds pairs of products, each at most 255 * 128, in i32.
                s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(a, four_columns(b, 0)));
                s1 = _mm256_add_epi32(s1, _mm256_madd_epi16(a, four_columns(b, 1)));
                s2 = _mm256_add_epi32(s2, _mm256_madd_epi16(a, four_columns(b, 2)));
                s3 = _mm256_add_epi32(s3, _mm256_madd_epi16(a, four_columns(b, 3)));
            }
            for (quarter, pairs) in [s0, s1, s2, s3].into_iter().enumerate() {
                let mut two = [0i32; 8];
                // SAFETY: the array has the 32 bytes.
                unsafe { _mm256_storeu_si256(two.as_mut_ptr().cast(), pairs) };
                for l in 0..4 {
                    sums[half][quarter * 4 + l] = two[2 * l].wrapping_add(two[2 * l + 1]);
                }
            }
        }
    }
}

/// Repeats `$body` for each row of a strip below `$count`, with `$i` a constant.
#[cfg(target_arch = "x86_64")]
macro_rules! each_row {
    ($count:ident, $i:ident, $body:block) => {
        each_row_of!($count, $i, $body, 0 1 2 3 4 5 6 7)
    };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn load(b: &PanelGroup) -> __m512i {
    // SAFETY: the array has the 64 bytes.
    unsafe { _mm512_loadu_si512(b.as_ptr().cast()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn vnni_rows<const R: usize>(
    a: ByteRows<'_>,
    [left, right]: [&[PanelGroup]; 2],
    sums: &mut [[[i32; LANES]; 2]],
) {
    let n = left.len();
    let mut acc = [[_mm512_setzero_si512(); 2]; STRIP];
    let mut rows: [&[RowGroup]; STRIP] = [&[]; STRIP];
    each_row!(R, I, {
        rows[I] = a.row(I, n);
    });
    for p in 0..n {
        let (b0, b1) = (load(&left[p]), load(&right[p]));
        each_row!(R, I, {
            let a = _mm512_set1_epi32(i32::from_ne_bytes(rows[I][p]));
            acc[I][0] = _mm512_dpbusd_epi32(acc[I][0], a, b0);
            acc[I][1] = _mm512_dpbusd_epi32(acc[I][1], a, b1);
        });
    }
    each_row!(R, I, {
        for half in 0..2 {
            // SAFETY: the array has the 64 bytes.
            unsafe { _mm512_storeu_si512(sums[I][half].as_mut_ptr().cast(), acc[I][half]) };
        }
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
pub(super) fn vnni(a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums) {
    for (i, sums) in sums.chunks_exact_mut(STRIP).enumerate() {
        let a = a.some(i * STRIP, STRIP);
        match a.rows {
            0 => return,
            1 => vnni_rows::<1>(a, b, sums),
            2 => vnni_rows::<2>(a, b, sums),
            3 => vnni_rows::<3>(a, b, sums),
            4 => vnni_rows::<4>(a, b, sums),
            5 => vnni_rows::<5>(a, b, sums),
            6 => vnni_rows::<6>(a, b, sums),
            7 => vnni_rows::<7>(a, b, sums),
            _ => vnni_rows::<8>(a, b, sums),
        }
    }
}

/// `out = sum over p of a[p] * row p of b`, with row stride `stride`.
#[inline(always)]
pub(super) fn times_rows(a: &[i32], b: &[u8], (stride, is_signed): (usize, bool), out: &mut [i32]) {
    let n = out.len();
    out.fill(0);
    for (p, &a) in a.iter().enumerate() {
        let b = &b[p * stride..][..n];
        if is_signed {
            for l in 0..n {
                out[l] = out[l].wrapping_add(a * i32::from(b[l] as i8));
            }
        } else {
            for l in 0..n {
                out[l] = out[l].wrapping_add(a * i32::from(b[l]));
            }
        }
    }
}
