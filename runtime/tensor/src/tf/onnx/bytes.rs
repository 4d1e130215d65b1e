//! The product of 8-bit matrices with zero points, exact modulo 2^32 in i32.
//!
//! ```text
//! sum (a - za)(b - zb) = sum a b - za * sum b - zb * sum a + k za zb              modulo 2^32
//! signed rows ──flip the sign bit──▶ unsigned; unsigned columns ──▶ signed; zero points shift by 128
//! ```
//!
//! A step is an index of the contracted axis. Rows are packed in groups of 4 steps, columns in panels of 16
//! (`simd`). One more group of each row and panel holds the sums. Missing steps and columns are zeros.

use super::super::fast::Cx;
use crate::interrupt::is_interrupted;
use crate::simd::{BYTE_ROWS, ByteRows, GROUP, Isa, LANES, PanelGroup, RowGroup, Sums};
use crate::{DType, HostTensor, Shape, TensorError};

/// The number of 8-bit multiplications in the time of one addition, the unit of cost of `Cx::parts`.
const PRODUCTS: usize = 32;
/// The number of tiles between two checks for interruption.
const TILES: usize = 64;

/// Zero points: one, or one for each row or column. The list repeats.
#[derive(Clone, Debug)]
pub(super) struct Zeros(Vec<i32>);

impl Zeros {
    /// These zero points; a single 0 for an empty list.
    pub(super) fn new(zeros: Vec<i32>) -> Zeros {
        Zeros(if zeros.is_empty() { vec![0] } else { zeros })
    }

    pub(super) fn at(&self, i: usize) -> i32 {
        self.0[i % self.0.len()]
    }

    /// The zero points of packed rows, whose elements are unsigned; `dtype` is that of the given elements.
    pub(super) fn of_rows(self, dtype: DType) -> Zeros {
        let shift = i32::from(flip_of_rows(dtype));
        Zeros(self.0.into_iter().map(|zero| zero + shift).collect())
    }

    /// The zero points of packed columns, whose elements are signed; `dtype` is that of the given elements.
    pub(super) fn of_columns(self, dtype: DType) -> Zeros {
        let shift = i32::from(flip_of_columns(dtype));
        Zeros(self.0.into_iter().map(|zero| zero - shift).collect())
    }
}

/// The bits to flip in elements of rows, so that they are unsigned.
fn flip_of_rows(dtype: DType) -> u8 {
    if dtype == DType::I8 { 0x80 } else { 0 }
}

/// The bits to flip in elements of columns, so that they are signed.
fn flip_of_columns(dtype: DType) -> u8 {
    if dtype == DType::UI8 { 0x80 } else { 0 }
}

/// The number of groups for `k` steps and the sum.
fn groups(k: usize) -> usize {
    k.div_ceil(GROUP) + 1
}

/// A scratch tensor of `n` units of `size` bytes.
fn scratch(n: usize, size: usize, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    HostTensor::allocate(DType::UI8, Shape::new(&[n, size])?, cx.allocator)
}

/// Packed rows.
pub(super) struct PackedRows {
    bytes: HostTensor,
    groups: usize,
    k: usize,
}

impl PackedRows {
    /// Room for `m` rows of `k` steps.
    pub(super) fn new(m: usize, k: usize, cx: &Cx<'_>) -> Result<PackedRows, TensorError> {
        let groups = groups(k);
        Ok(PackedRows { bytes: scratch(m, groups.saturating_mul(GROUP), cx)?, groups, k })
    }

    /// Packs contiguous rows.
    pub(super) fn pack(&self, from: &[u8], dtype: DType, cx: &Cx<'_>) -> Result<(), TensorError> {
        let (k, n, flip) = (self.k, self.groups, flip_of_rows(dtype));
        let mut to = self.bytes.write_bytes()?;
        let to: &mut [RowGroup] = bytemuck::cast_slice_mut(&mut to);
        cx.parts(to, (n, 4), &|first, part| {
            for (row, to) in (first / n..).zip(part.chunks_exact_mut(n)) {
                let (to, sum) = to.split_at_mut(n - 1);
                let to = to.as_flattened_mut();
                to[k..].fill(0);
                for (to, from) in to.iter_mut().zip(&from[row * k..][..k]) {
                    *to = from ^ flip;
                }
                let all = to[..k].iter().fold(0i32, |sum, &x| sum.wrapping_add(i32::from(x)));
                sum[0] = all.to_ne_bytes();
            }
        });
        Ok(())
    }
}

/// The source of packed columns: an 8-bit matrix.
pub(super) trait ByteColumns: Sync {
    /// Calls `put` for each step with its bytes in `width` columns from `first` on; `width` is at most
    /// [`LANES`].
    fn panel(&self, first: usize, width: usize, put: &mut dyn FnMut(usize, &[u8]));
}

/// A row-major matrix.
pub(super) struct ByteMatrix<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) columns: usize,
}

impl ByteColumns for ByteMatrix<'_> {
    fn panel(&self, first: usize, width: usize, put: &mut dyn FnMut(usize, &[u8])) {
        for (step, row) in self.bytes.chunks_exact(self.columns).enumerate() {
            put(step, &row[first..first + width]);
        }
    }
}

/// Packed columns.
pub(super) struct PackedColumns {
    bytes: HostTensor,
    groups: usize,
    n: usize,
}

impl PackedColumns {
    /// Room for `n` columns of `k` steps.
    pub(super) fn new(k: usize, n: usize, cx: &Cx<'_>) -> Result<PackedColumns, TensorError> {
        let groups = groups(k);
        let panel = groups.saturating_mul(size_of::<PanelGroup>());
        Ok(PackedColumns { bytes: scratch(n.div_ceil(LANES), panel, cx)?, groups, n })
    }

    /// Packs the columns of a matrix.
    pub(super) fn pack(&self, from: &dyn ByteColumns, dtype: DType, cx: &Cx<'_>) -> Result<(), TensorError> {
        let (n, flip) = (self.groups, flip_of_columns(dtype));
        let mut to = self.bytes.write_bytes()?;
        let to: &mut [PanelGroup] = bytemuck::cast_slice_mut(&mut to);
        cx.parts(to, (n, 8 * LANES * GROUP), &|first, part| {
            for (panel, to) in (first / n..).zip(part.chunks_exact_mut(n)) {
                to.fill([[0; GROUP]; LANES]);
                let (to, all) = to.split_at_mut(n - 1);
                let (column, mut sums) = (panel * LANES, [0i32; LANES]);
                from.panel(column, LANES.min(self.n - column), &mut |step, bytes| {
                    let to = &mut to[step / GROUP];
                    for ((to, sum), byte) in to.iter_mut().zip(&mut sums).zip(bytes) {
                        let byte = (byte ^ flip) as i8;
                        to[step % GROUP] = byte;
                        *sum = sum.wrapping_add(i32::from(byte));
                    }
                });
                all[0] = sums.map(|sum| sum.to_ne_bytes().map(|byte| byte as i8));
            }
        });
        Ok(())
    }
}

/// `out = (a - za) * (b - zb)`, for as many rows of `a` as `out` has, from row `rows` on. The zero points are
/// those of packed elements.
pub(super) fn multiply(
    isa: Isa,
    (a, rows, za): (&PackedRows, usize, &Zeros),
    (b, zb): (&PackedColumns, &Zeros),
    out: &mut [i32],
    cx: &Cx<'_>,
) -> Result<(), TensorError> {
    if out.is_empty() {
        return Ok(());
    }
    let (stride, groups, n) = (a.groups, a.groups - 1, b.n);
    let (a_bytes, b_bytes) = (a.bytes.read_bytes()?, b.bytes.read_bytes()?);
    let a_groups: &[RowGroup] = bytemuck::cast_slice(&a_bytes);
    let b_groups: &[PanelGroup] = bytemuck::cast_slice(&b_bytes);
    let k = a.k as i32; // modulo 2^32
    cx.parts(out, (n.saturating_mul(BYTE_ROWS), a.k / PRODUCTS + 1), &|first, part| {
        let mut sums: Sums = [[[0; LANES]; 2]; BYTE_ROWS];
        for (i, panels) in b_groups.chunks(2 * stride).enumerate() {
            let (left, rest) = panels.split_at(stride);
            let right = if rest.is_empty() { left } else { rest };
            let column = i * 2 * LANES;
            for (tile, out) in part.chunks_mut(n * BYTE_ROWS).enumerate() {
                if tile % TILES == TILES - 1 && is_interrupted() {
                    return;
                }
                let row = first / n + tile * BYTE_ROWS;
                let a_groups = &a_groups[(rows + row) * stride..];
                let tile_rows = ByteRows { groups: a_groups, stride, rows: out.len() / n };
                isa.bytes(tile_rows, [&left[..groups], &right[..groups]], &mut sums);
                for (r, (sums, out)) in sums.iter().zip(out.chunks_exact_mut(n)).enumerate() {
                    let za = za.at(row + r);
                    let a_sum = i32::from_ne_bytes(a_groups[r * stride + groups]);
                    let out = &mut out[column..n.min(column + 2 * LANES)];
                    let b_sums = left[groups].iter().chain(&right[groups]);
                    for (c, ((out, sum), b_sum)) in
                        out.iter_mut().zip(sums.as_flattened()).zip(b_sums).enumerate()
                    {
                        let zb = zb.at(column + c);
                        let b_sum = i32::from_ne_bytes(b_sum.map(|byte| byte as u8));
                        let by_a = za.wrapping_mul(b_sum.wrapping_sub(k.wrapping_mul(zb)));
                        *out = sum.wrapping_sub(by_a).wrapping_sub(zb.wrapping_mul(a_sum));
                    }
                }
            }
        }
    });
    Ok(())
}

/// `out = (a - za) * (b - zb)` for one row `a`. The matrix is not packed, since reading it once dominates the
/// time. The zero points are those of the given elements.
pub(super) fn multiply_row(
    isa: Isa,
    (a, a_dtype, za): (&[u8], DType, i32),
    (b, b_dtype, zb): (ByteMatrix<'_>, DType, &Zeros),
    out: &mut [i32],
    cx: &Cx<'_>,
) -> Result<(), TensorError> {
    /// The number of columns whose sums fit the L1 cache.
    const COLUMNS: usize = 512;
    let number = |byte: u8| if a_dtype == DType::I8 { i32::from(byte as i8) } else { i32::from(byte) };
    let row = crate::scratch::collected(a.iter().map(|&byte| number(byte) - za))?;
    let all = row.iter().fold(0i32, |sum, &x| sum.wrapping_add(x));
    let is_signed = b_dtype == DType::I8;
    cx.parts(out, (COLUMNS, a.len() / PRODUCTS + 1), &|first, part| {
        for (column, out) in (first..).step_by(COLUMNS).zip(part.chunks_mut(COLUMNS)) {
            let bytes = b.bytes.get(column..).unwrap_or(&[]); // there are no bytes if `a` is empty
            isa.times_bytes(&row, bytes, (b.columns, is_signed), out);
            for (c, out) in out.iter_mut().enumerate() {
                *out = out.wrapping_sub(zb.at(column + c).wrapping_mul(all));
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::Malloc;

    /// All instruction sets agree with the definition, for any numbers of rows and columns.
    #[test]
    fn products_of_bytes_are_exact() {
        let malloc = Malloc::shared();
        let cx = &Cx::serial(&malloc);
        let bytes = |n: usize, seed: usize| -> Vec<u8> {
            (0..n).map(|i| ((i + seed).wrapping_mul(2_654_435_761) >> 7) as u8).collect()
        };
        let number =
            |byte: u8, dtype| if dtype == DType::I8 { i32::from(byte as i8) } else { i32::from(byte) };
        for (m, k, n) in [(1, 1, 1), (3, 7, 17), (8, 16, 32), (13, 65, 50), (2, 0, 3), (9, 300, 33)] {
            for (of_a, of_b) in [
                (DType::I8, DType::I8),
                (DType::UI8, DType::I8),
                (DType::I8, DType::UI8),
                (DType::UI8, DType::UI8),
            ] {
                let (a, b) = (bytes(m * k, 1), bytes(k * n, 5));
                let za = Zeros::new((0..m as i32).map(|i| i * 9 - 20).collect());
                let zb = Zeros::new((0..n as i32).map(|i| 30 - i).collect());
                let want: Vec<i32> = (0..m * n)
                    .map(|i| {
                        let (i, j) = (i / n, i % n);
                        let product = |p| {
                            (number(a[i * k + p], of_a) - za.at(i)) * (number(b[p * n + j], of_b) - zb.at(j))
                        };
                        (0..k).map(product).sum()
                    })
                    .collect();
                let rows = PackedRows::new(m, k, cx).unwrap();
                rows.pack(&a, of_a, cx).unwrap();
                let columns = PackedColumns::new(k, n, cx).unwrap();
                columns.pack(&ByteMatrix { bytes: &b, columns: n }, of_b, cx).unwrap();
                for isa in Isa::all() {
                    let mut out = vec![0; m * n];
                    let zeros = (za.clone().of_rows(of_a), zb.clone().of_columns(of_b));
                    multiply(isa, (&rows, 0, &zeros.0), (&columns, &zeros.1), &mut out, cx).unwrap();
                    assert_eq!(out, want, "{isa:?} {m} {k} {n} {of_a} {of_b}");
                    for (i, out) in out.chunks_exact_mut(n).enumerate() {
                        let b = (ByteMatrix { bytes: &b, columns: n }, of_b, &zb);
                        multiply_row(isa, (&a[i * k..][..k], of_a, za.at(i)), b, out, cx).unwrap();
                    }
                    assert_eq!(out, want, "{isa:?} {m} {k} {n} {of_a} {of_b}, row by row");
                }
            }
        }
    }
}
