//! Reductions and softmax of f32.
//!
//! The axes of a reduction are merged into at most three: kept, reduced, kept. If that is impossible, the
//! reduced axes are first moved to the end.

use super::super::reduce::kept_dims;
use super::super::{Reduce, reference};
use super::elementwise::{by_f32, is_half};
use super::{BLOCK, Cx};
use crate::math;
use crate::scratch::filled;
use crate::simd::{Isa, Reduction};
use crate::{DType, HostTensor, Shape, TensorError};

/// The length of the parts of a long row. Parts are reduced separately, so the result does not depend on the
/// number of workers.
const LONG: usize = 1 << 16;

/// The number of columns reduced at a time.
const COLUMNS: usize = 512;

/// The largest number of columns of a narrow row. Narrow rows are joined to longer rows, which fill the
/// vector registers.
const NARROW: usize = 64;

/// See [`reference::reduce`].
pub fn reduce(
    op: Reduce,
    x: &HostTensor,
    axes: &[i64],
    keep_dims: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let reduction = match op {
        Reduce::Sum | Reduce::Mean => Reduction::Sum,
        Reduce::Max => Reduction::Max,
        Reduce::Min => Reduction::Min,
        Reduce::EuclideanNorm => Reduction::Squares,
        Reduce::Prod | Reduce::All | Reduce::Any => {
            return reference::reduce(op, x, axes, keep_dims, cx.allocator);
        }
    };
    if is_half(x) {
        return by_f32(x, cx, |x| reduce(op, &x, axes, keep_dims, cx));
    }
    if x.dtype() != DType::F32 {
        return reference::reduce(op, x, axes, keep_dims, cx.allocator);
    }
    let (set, kept) = kept_dims(op, x.shape(), axes, keep_dims)?;
    let out = HostTensor::allocate(DType::F32, Shape::new(&kept)?, cx.allocator)?;
    let mut runs: Vec<(usize, bool)> = Vec::new();
    for (&dim, &reduced) in x.shape().dims().iter().zip(&set).filter(|(dim, _)| **dim != 1) {
        match runs.last_mut() {
            Some((len, kind)) if *kind == reduced => *len *= dim, // fits: within the shape's invariant
            _ => runs.push((dim, reduced)),
        }
    }
    let count: usize = runs.iter().filter(|run| run.1).map(|run| run.0).product();
    let (transposed, extents) = match runs[..] {
        [(inner, false)] => (x.clone(), (1, 1, inner)),
        [(count, true), (inner, false)] => (x.clone(), (1, count, inner)),
        [] => (x.clone(), (1, 1, 1)),
        [(count, true)] => (x.clone(), (1, count, 1)),
        [(outer, false), (count, true)] => (x.clone(), (outer, count, 1)),
        [(outer, false), (count, true), (inner, false)] => (x.clone(), (outer, count, inner)),
        _ => {
            let perm: Vec<i64> = [false, true]
                .iter()
                .flat_map(|wanted| (0..set.len()).filter(|&i| set[i] == *wanted).map(|i| i as i64))
                .collect();
            (super::transpose(x, &perm, cx)?, (out.num_elements(), count, 1))
        }
    };
    let finish = |acc: f64| match op {
        Reduce::Mean => (acc / count as f64) as f32,
        Reduce::EuclideanNorm => acc.sqrt() as f32,
        _ => acc as f32,
    };
    let (from, mut to) = (transposed.read::<f32>()?, out.write::<f32>()?);
    if !to.is_empty() {
        run(reduction, &from, extents, &mut to, finish, cx)?;
    }
    drop(to);
    Ok(out)
}

/// See [`reference::l2_loss`].
pub fn l2_loss(x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    if x.dtype() != DType::F32 {
        return reference::l2_loss(x, cx.allocator);
    }
    let out = HostTensor::allocate(DType::F32, Shape::scalar(), cx.allocator)?;
    let extents = (1, x.num_elements(), 1);
    run(
        Reduction::Squares,
        &x.read::<f32>()?,
        extents,
        &mut out.write::<f32>()?,
        |sum| (sum / 2.0) as f32,
        cx,
    )?;
    Ok(out)
}

fn run(
    reduction: Reduction,
    x: &[f32],
    (outer, count, inner): (usize, usize, usize),
    out: &mut [f32],
    finish: impl Fn(f64) -> f32 + Sync,
    cx: &Cx<'_>,
) -> Result<(), TensorError> {
    let isa = Isa::detect();
    if inner == 1 && count > LONG {
        let mut parts = filled(count.div_ceil(LONG), 0.0)?;
        for (out, row) in out.iter_mut().zip(x.chunks_exact(count)) {
            cx.parts(&mut parts, (1, LONG), &|first, parts| {
                for (part, x) in parts.iter_mut().zip(row[first * LONG..].chunks(LONG)) {
                    *part = isa.reduce_row(reduction, x);
                }
            });
            *out = finish(parts.iter().fold(reduction.start(), |acc, &part| reduction.join(acc, part)));
        }
        return Ok(());
    }
    if inner == 1 {
        cx.parts(out, (1, count), &|first, out| {
            for (i, out) in (first..).zip(out) {
                *out = finish(isa.reduce_row(reduction, &x[i * count..][..count]));
            }
        });
        return Ok(());
    }
    let unit = if outer == 1 { COLUMNS } else { inner };
    cx.parts(out, (unit, count), &|first, out| {
        let mut acc = [0.0; COLUMNS];
        for (i, out) in out.chunks_mut(inner).enumerate() {
            if inner <= NARROW {
                narrow(
                    isa,
                    reduction,
                    &x[(first / inner + i) * count * inner..][..count * inner],
                    inner,
                    &mut acc,
                );
                out.iter_mut().zip(&acc).for_each(|(out, &acc)| *out = finish(acc));
                continue;
            }
            // A part is whole rows of the result, or some columns of its single row.
            let (at, column) = (first / inner + i, if outer == 1 { first } else { 0 });
            for (j, out) in out.chunks_mut(COLUMNS).enumerate() {
                let acc = &mut acc[..out.len()];
                acc.fill(reduction.start());
                if count > 0 {
                    let slab = &x[at * count * inner..][..count * inner];
                    let to = slab.len() - inner + column + j * COLUMNS + out.len();
                    isa.reduce_rows(reduction, &slab[column + j * COLUMNS..to], inner, acc);
                }
                for (out, &acc) in out.iter_mut().zip(&*acc) {
                    *out = finish(acc);
                }
            }
        }
    });
    Ok(())
}

/// Reduces the narrow rows of `x`, of `inner` columns, to one row: the first `inner` elements of `acc`.
fn narrow(isa: Isa, reduction: Reduction, x: &[f32], inner: usize, acc: &mut [f64; COLUMNS]) {
    let long = COLUMNS / inner * inner;
    let (rows, rest) = x.split_at(x.len() / long * long);
    acc.fill(reduction.start());
    isa.reduce_rows(reduction, rows, long, &mut acc[..long]);
    isa.reduce_rows(reduction, rest, long, &mut acc[..rest.len()]);
    let (first, others) = acc[..long].split_at_mut(inner);
    for other in others.chunks_exact(inner) {
        first.iter_mut().zip(other).for_each(|(acc, &x)| *acc = reduction.join(*acc, x));
    }
}

/// See [`reference::softmax`]; in place.
pub fn softmax(x: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    by_rows(x, cx, reference::softmax, math::softmax_in_place)
}

/// See [`reference::log_softmax`]; in place.
pub fn log_softmax(x: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    by_rows(x, cx, reference::log_softmax, math::log_softmax_in_place)
}

/// The reference version of an operator.
type ReferenceFn =
    fn(&HostTensor, &std::sync::Arc<dyn crate::mem::Allocator>) -> Result<HostTensor, TensorError>;

fn by_rows(
    x: HostTensor,
    cx: &Cx<'_>,
    plain: ReferenceFn,
    f: fn(usize, &mut [f32]),
) -> Result<HostTensor, TensorError> {
    match (x.dtype(), x.shape().dims().last()) {
        (DType::F32, Some(&n)) => each_row(x, n, cx, f),
        (DType::F16 | DType::BF16, Some(&n)) => by_f32(&x, cx, |x| each_row(x, n, cx, f)),
        _ => plain(&x, cx.allocator),
    }
}

/// Calls `f(n, rows)` for groups of rows, of `n` elements each, until all rows are processed; in place.
pub(in crate::tf) fn each_row(
    x: HostTensor,
    n: usize,
    cx: &Cx<'_>,
    f: impl Fn(usize, &mut [f32]) + Sync,
) -> Result<HostTensor, TensorError> {
    const COST: usize = 8;
    x.expect_dtype("x", DType::F32)?;
    if x.num_elements() == 0 {
        return Ok(x);
    }
    if x.is_unique() {
        cx.parts(&mut x.write::<f32>()?, (n, COST), &|_, out| f(n, out));
        return Ok(x);
    }
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    {
        let from = x.read::<f32>()?;
        let from: &[f32] = &from;
        let piece = (BLOCK / n).max(1) * n;
        cx.parts(&mut out.write::<f32>()?, (n, COST), &|first, out| {
            for (out, x) in out.chunks_mut(piece).zip(from[first..].chunks(piece)) {
                out.copy_from_slice(&x[..out.len()]);
                f(n, out);
            }
        });
    }
    Ok(out)
}
