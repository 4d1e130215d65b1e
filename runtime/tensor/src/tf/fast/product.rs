//! Contractions of f32 and f64 as matrix products with arbitrary strides, without transposition.
//!
//! ```text
//! axes of the result  in a only: rows     in b only: columns     in both: batches of products
//! axes summed over    in both: the inner dimension
//! ```
//!
//! Axes that are contiguous in both operands and the result are merged. The longest axis of each kind becomes
//! a dimension of the matrices; loops run over the others. So `MatMul`, `BatchMatMul` and nearly every
//! `Einsum` are products of strided matrices.
//!
//! f16 and bf16 are converted to f32. f32 uses `crate::matmul` if the product is large enough for packing,
//! and a separate loop for single rows. Everything else uses the gemm crate.

use std::sync::Arc;

use super::super::einsum::{Steps, einsum_by};
use super::super::fused::{After, matmul_of_two};
use super::super::product::{Contraction, conjugates, expect_matrices, multiply, sums_of};
use super::super::{Transposition, walk};
use super::Cx;
use super::elementwise::{by_f32, cast, is_half};
use crate::gemm::{GemmElement, Matrix, product_into};
use crate::matmul::{Epilogue, PACKED_SIZE, multiply_strided};
use crate::mem::Allocator;
use crate::parallel::Serial;
use crate::simd::Isa;
use crate::{DType, HostTensor, TensorError};

/// See [`reference::matmul`](super::super::reference::matmul).
pub fn matmul(
    a: &HostTensor,
    trans_a: Transposition,
    b: &HostTensor,
    trans_b: Transposition,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_matrices(a, b)?;
    // All workers share the packed matrix, which parts of a nest would pack anew.
    if let Some(out) = matmul_of_two((a, trans_a), (b, trans_b), &After::default(), cx)? {
        return Ok(out);
    }
    product("MatMul", (a, trans_a), (b, trans_b), cx)
}

/// See [`reference::batch_matmul`](super::super::reference::batch_matmul).
pub fn batch_matmul(
    a: &HostTensor,
    trans_a: Transposition,
    b: &HostTensor,
    trans_b: Transposition,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    product("BatchMatMulV2", (a, trans_a), (b, trans_b), cx)
}

fn product(
    op: &'static str,
    (a, trans_a): (&HostTensor, Transposition),
    (b, trans_b): (&HostTensor, Transposition),
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let sums = sums_of(op, (a, trans_a), (b, trans_b))?;
    sum_products(op, (a, conjugates(trans_a)), (b, conjugates(trans_b)), sums, cx)
}

/// See [`reference::einsum`](super::super::reference::einsum).
pub fn einsum(equation: &str, inputs: &[&HostTensor], cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    einsum_by(equation, inputs, cx)
}

impl Steps for Cx<'_> {
    fn multiply(&self, a: &HostTensor, b: &HostTensor, sums: Contraction) -> Result<HostTensor, TensorError> {
        sum_products("Einsum", (a, false), (b, false), sums, self)
    }

    fn transpose(&self, x: &HostTensor, perm: &[i64]) -> Result<HostTensor, TensorError> {
        super::transpose(x, perm, self)
    }

    fn allocator(&self) -> &Arc<dyn Allocator> {
        self.allocator
    }
}

fn sum_products(
    op: &'static str,
    (a, conjugate_a): (&HostTensor, bool),
    (b, conjugate_b): (&HostTensor, bool),
    sums: Contraction,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    if is_half(a) {
        let b = cast(b, DType::F32, cx)?;
        return by_f32(a, cx, |a| sum_products(op, (&a, conjugate_a), (&b, conjugate_b), sums, cx));
    }
    if let (DType::F32 | DType::F64, Some(nest)) = (a.dtype(), Nest::new(&sums)) {
        let out = HostTensor::allocate(a.dtype(), sums.shape, cx.allocator)?;
        if a.dtype() == DType::F32 {
            let (a, b, mut out) = (a.read::<f32>()?, b.read::<f32>()?, out.write::<f32>()?);
            nest.run(&a, &b, &mut out, cx, one_f32);
        } else {
            let (a, b, mut out) = (a.read::<f64>()?, b.read::<f64>()?, out.write::<f64>()?);
            nest.run(&a, &b, &mut out, cx, product_into);
        }
        return Ok(out);
    }
    multiply(op, (a, conjugate_a), (b, conjugate_b), sums, cx.allocator)
}

/// A function that writes a matrix product to the output, or adds it if the last argument is true.
type Product<T> = fn(Matrix<'_, T>, Matrix<'_, T>, (&mut [T], (usize, usize)), bool);

/// A product of f32 matrices, written to `out` with the given row and column strides, or added if `add`.
pub(in crate::tf) fn one_f32(
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    (out, steps): (&mut [f32], (usize, usize)),
    add: bool,
) {
    let (down, across) = steps;
    if across != 1 && down == 1 {
        return one_f32(b.transposed(), a.transposed(), (out, (across, down)), add);
    }
    let (m, k, n) = (a.rows(), a.cols(), b.cols());
    if m == 1
        && !add
        && (across == 1 || n == 1)
        && let (Some(row), Some(out)) = (a.row(0), out.get_mut(..n))
    {
        let isa = Isa::detect();
        match (b.rows_of(), b.transposed().rows_of()) {
            (Some((b, stride)), _) => return isa.times_rows(row, b, stride, out),
            (_, Some((b, stride))) => return isa.times_columns(row, b, stride, out),
            _ => {}
        }
    }
    let packs = !add && across == 1 && [m, n, k].into_iter().all(|n| n >= PACKED_SIZE) && down >= n;
    if packs
        && a.has_slices()
        && b.has_slices()
        && let Some(out) = out.get_mut(..(m - 1) * down + n)
    {
        let plain = Epilogue::default();
        if multiply_strided(Isa::detect(), m, (&a, &b), &plain, (out, down), &Serial).is_ok() {
            return;
        }
    }
    product_into(a, b, (out, steps), add);
}

/// An axis of the result or an axis that is summed over: its length, and its strides in the operands and in
/// the result.
#[derive(Clone, Copy, Debug)]
struct ProductAxis {
    len: usize,
    a: usize,
    b: usize,
    out: usize,
}

/// An axis of length 1.
const NONE: ProductAxis = ProductAxis { len: 1, a: 0, b: 0, out: 0 };

/// A loop nest around a matrix product that computes a contraction.
struct Nest {
    rows: ProductAxis,
    cols: ProductAxis,
    inner: ProductAxis,
    /// The loop axes of the result, without rows and columns.
    walked: Vec<ProductAxis>,
    /// The loop axes that are summed over, without the inner dimension.
    added: Vec<ProductAxis>,
    is_empty: bool,
}

impl Nest {
    /// `None` if an operand lacks an axis that is summed over, or if the matrices are tiny.
    fn new(sums: &Contraction) -> Option<Nest> {
        let Contraction { shape, free, summed } = sums;
        let is_empty = shape.num_elements() == 0 || summed.iter().any(|axis| axis.len == 0);
        let mut nest =
            Nest { rows: NONE, cols: NONE, inner: NONE, walked: Vec::new(), added: Vec::new(), is_empty };
        if is_empty {
            return Some(nest);
        }
        let steps = walk::strides(shape);
        nest.walked = merged(free.iter().zip(steps));
        nest.added = merged(summed.iter().map(|axis| (axis, 0)));
        if nest.added.iter().any(|axis| axis.a == 0 || axis.b == 0) {
            return None;
        }
        nest.rows = take_longest(&mut nest.walked, |axis| axis.b == 0);
        nest.cols = take_longest(&mut nest.walked, |axis| axis.a == 0);
        nest.inner = take_longest(&mut nest.added, |_| true);
        let work = nest.rows.len.saturating_mul(nest.cols.len).saturating_mul(nest.inner.len);
        (work >= 64 || nest.walked.is_empty()).then_some(nest)
    }

    fn run<T: GemmElement>(&self, a: &[T], b: &[T], out: &mut [T], cx: &Cx<'_>, product: Product<T>) {
        if self.is_empty {
            return out.fill(T::ZERO);
        }
        // The result is split along its outermost axis.
        let axes = self.walked.iter().chain([&self.rows, &self.cols]);
        let outermost = axes.max_by_key(|axis| axis.out).copied().unwrap_or(NONE);
        let unit = outermost.out.max(1);
        let work = self.inner.len.saturating_mul(self.added.iter().map(|axis| axis.len).product());
        cx.large_parts(out, (unit, work / 8), &|first, out| {
            let at = first / unit;
            let shorten = |axis: ProductAxis| {
                let len = if axis.out == outermost.out { out.len() / unit } else { axis.len };
                ProductAxis { len, ..axis }
            };
            let part = Nest {
                rows: shorten(self.rows),
                cols: shorten(self.cols),
                inner: self.inner,
                walked: self.walked.iter().copied().map(shorten).collect(),
                added: self.added.clone(),
                is_empty: false,
            };
            part.walk(&a[at * outermost.a..], &b[at * outermost.b..], out, product);
        });
    }

    fn walk<T: GemmElement>(&self, a: &[T], b: &[T], out: &mut [T], product: Product<T>) {
        let Nest { rows, cols, inner, .. } = *self;
        each_start(&self.walked, |from_a, from_b, to| {
            let mut add = false;
            each_start(&self.added, |more_a, more_b, _| {
                let a = Matrix::strided(&a[from_a + more_a..], (rows.len, rows.a), (inner.len, inner.a));
                let b = Matrix::strided(&b[from_b + more_b..], (inner.len, inner.b), (cols.len, cols.b));
                if let (Some(a), Some(b)) = (a, b) {
                    product(a, b, (&mut out[to..], (rows.out, cols.out)), add);
                }
                add = true;
            });
        });
    }
}

/// The axes of more than one element, merged where they are contiguous in all tensors.
fn merged<'a>(axes: impl Iterator<Item = (&'a walk::Axis, usize)>) -> Vec<ProductAxis> {
    let mut merged: Vec<ProductAxis> = Vec::new();
    for (&walk::Axis { len, a, b }, out) in axes.filter(|(axis, _)| axis.len != 1) {
        let axis = ProductAxis { len, a, b, out };
        match merged.last_mut() {
            Some(outer) if outer.a == len * a && outer.b == len * b && outer.out == len * out => {
                *outer = ProductAxis { len: outer.len * len, ..axis };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// Removes and returns the longest axis that `of` selects; [`NONE`] if there is none.
fn take_longest(axes: &mut Vec<ProductAxis>, of: impl Fn(&ProductAxis) -> bool) -> ProductAxis {
    let found = (0..axes.len()).filter(|&i| of(&axes[i])).max_by_key(|&i| axes[i].len);
    found.map_or(NONE, |i| axes.remove(i))
}

/// Calls `f` with the offsets of each position along the axes.
fn each_start(axes: &[ProductAxis], mut f: impl FnMut(usize, usize, usize)) {
    let count: usize = axes.iter().map(|axis| axis.len).product();
    for mut i in 0..count {
        let (mut a, mut b, mut out) = (0, 0, 0);
        for axis in axes.iter().rev() {
            let at = i % axis.len;
            i /= axis.len;
            (a, b, out) = (a + at * axis.a, b + at * axis.b, out + at * axis.out);
        }
        f(a, b, out);
    }
}
