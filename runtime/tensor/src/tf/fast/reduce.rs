//! Reductions, positions of extremes, and softmax.
//!
//! Neighbouring axes that are both reduced, or both kept, are one run. The last two runs are a matrix, whose
//! rows, or whose columns, are reduced where they lie; the runs before them tell where the matrices of a
//! result begin.
//!
//! ```text
//! axes  5  4   2  3   2  16      runs   20     2      3      2    16
//!       k  k   r  k   r  k             kept reduced kept  reduced kept
//!                                      ╰──── outer ────╯  ╰─ matrix ─╯
//! ```

use std::ops::Range;

use super::super::order::shape_of_places;
use super::super::reduce::kept_dims;
use super::super::{Reduce, bitcast, reference};
use super::elementwise::{by_f32, cast, is_half};
use super::{BLOCK, Cx};
use crate::interrupt::{STEPS, is_interrupted};
use crate::math;
use crate::scratch::filled;
use crate::simd::{Isa, Native, Reduction, with_native};
use crate::{DType, HostTensor, I1, Shape, TensorError, resolve_axis};

/// The length of the parts of a long row. Parts are reduced separately, so the result does not depend on the
/// number of workers.
const LONG: usize = 1 << 16;

/// The number of long rows from which the threads share rows instead of their parts.
const FEW_ROWS: usize = 16;

/// The number of columns reduced at a time.
const COLUMNS: usize = 512;

/// The largest number of columns of a narrow row. Narrow rows are joined to longer rows, which fill the
/// vector registers.
const NARROW: usize = 64;

/// The most rows of columns that are added up one after another: the error of a longer sum grows with the
/// number of such groups.
const ROWS: usize = 128;

/// See [`reference::reduce`]. The product of floats overflows where that of some of them leaves the range of
/// f64, in an order that is not the reference's.
pub fn reduce(
    op: Reduce,
    x: &HostTensor,
    axes: &[i64],
    keep_dims: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let is_float = matches!(x.dtype(), DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let reduction = match op {
        Reduce::Sum | Reduce::Mean => Reduction::Sum,
        Reduce::Prod => Reduction::Prod,
        Reduce::Max => Reduction::Max,
        Reduce::Min => Reduction::Min,
        Reduce::EuclideanNorm if is_float => Reduction::Squares,
        Reduce::All | Reduce::Any if x.dtype() == DType::I1 => return truth(op, x, axes, keep_dims, cx),
        _ => return reference::reduce(op, x, axes, keep_dims, cx.allocator),
    };
    if is_half(x) {
        return by_f32(x, cx, |x| reduce(op, &x, axes, keep_dims, cx));
    }
    // Of no numbers, the extremes are the ends of the dtype.
    if let Some(wide) = wider(x.dtype()).filter(|_| x.num_elements() > 0) {
        let wide = reduce(op, &cast(x, wide, cx)?, axes, keep_dims, cx)?;
        return cast(&wide, x.dtype(), cx);
    }
    if x.dtype() == DType::UI64 && matches!(op, Reduce::Sum | Reduce::Prod) {
        return bitcast(&reduce(op, &bitcast(x, DType::I64)?, axes, keep_dims, cx)?, DType::UI64);
    }
    let (set, kept) = kept_dims(op, x.shape(), axes, keep_dims)?;
    with_native!(x.dtype(), T => {
        let runs = ReducedRuns::new(x.shape(), &set);
        let out = HostTensor::allocate(x.dtype(), Shape::new(&kept)?, cx.allocator)?;
        {
            let (from, mut to) = (x.read::<T>()?, out.write::<T>()?);
            let (from, count): (&[T], usize) = (&from, runs.reduced());
            match op {
                Reduce::Mean => run(reduction, from, &runs, &mut to, &|acc| T::mean(acc, count), cx)?,
                Reduce::EuclideanNorm => run(reduction, from, &runs, &mut to, &T::root, cx)?,
                _ => run(reduction, from, &runs, &mut to, &T::of_acc, cx)?,
            }
        }
        Ok(out)
    }, _ => reference::reduce(op, x, axes, keep_dims, cx.allocator))
}

/// The type with loops of its own whose numbers contain those of a type without.
fn wider(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F16 | DType::BF16 => Some(DType::F32),
        DType::I8 | DType::I16 | DType::UI16 => Some(DType::I32),
        DType::UI32 => Some(DType::I64),
        _ => None,
    }
}

/// [`reduce`] of booleans: of their bytes, the largest of which tells if any is true, the smallest if all
/// are.
fn truth(
    op: Reduce,
    x: &HostTensor,
    axes: &[i64],
    keep_dims: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (set, kept) = kept_dims(op, x.shape(), axes, keep_dims)?;
    let runs = ReducedRuns::new(x.shape(), &set);
    let out = HostTensor::allocate(DType::I1, Shape::new(&kept)?, cx.allocator)?;
    {
        let (from, mut to) = (x.read::<I1>()?, out.write::<I1>()?);
        let reduction = if op == Reduce::Any { Reduction::Max } else { Reduction::Min };
        run(reduction, bytemuck::cast_slice::<I1, u8>(&from), &runs, &mut to, &|acc| I1::from(acc != 0), cx)?;
    }
    Ok(out)
}

/// See [`reference::l2_loss`].
pub fn l2_loss(x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    if x.dtype() != DType::F32 {
        return reference::l2_loss(x, cx.allocator);
    }
    let out = HostTensor::allocate(DType::F32, Shape::scalar(), cx.allocator)?;
    run(
        Reduction::Squares,
        &x.read::<f32>()?,
        &ReducedRuns::one(x.num_elements()),
        &mut out.write::<f32>()?,
        &|sum| (sum / 2.0) as f32,
        cx,
    )?;
    Ok(out)
}

/// How a tensor is reduced.
struct ReducedRuns {
    /// The length and the step of each kept run before the matrix, the last one first.
    outer: Vec<(usize, usize)>,
    /// Those of each reduced run before the matrix: each of their positions has a matrix.
    repeated: Vec<(usize, usize)>,
    /// The rows and columns of the matrix. Its rows are reduced to one; a single column is a contiguous row.
    count: usize,
    inner: usize,
}

impl ReducedRuns {
    /// A single row.
    fn one(count: usize) -> ReducedRuns {
        ReducedRuns { outer: Vec::new(), repeated: Vec::new(), count, inner: 1 }
    }

    /// The runs of a shape with a mask of reduced axes.
    fn new(shape: &Shape, set: &[bool]) -> ReducedRuns {
        let mut runs: Vec<(usize, bool)> = Vec::new();
        for (&dim, &reduced) in shape.dims().iter().zip(set).filter(|(dim, _)| **dim != 1) {
            match runs.last_mut() {
                Some((len, kind)) if *kind == reduced => *len *= dim, // fits: within the shape's invariant
                _ => runs.push((dim, reduced)),
            }
        }
        let inner = runs.pop_if(|run| !run.1).map_or(1, |run| run.0);
        let count = runs.pop_if(|run| run.1).map_or(1, |run| run.0);
        let (mut outer, mut repeated, mut step) = (Vec::new(), Vec::new(), count * inner);
        for (len, reduced) in runs.into_iter().rev() {
            if reduced { &mut repeated } else { &mut outer }.push((len, step));
            step *= len;
        }
        ReducedRuns { outer, repeated, count, inner }
    }

    /// The number of matrices that are reduced together.
    fn matrices(&self) -> usize {
        self.repeated.iter().map(|run| run.0).product()
    }

    /// The number of elements that are reduced to one.
    fn reduced(&self) -> usize {
        self.matrices() * self.count
    }

    /// Calls `f` with the start of each matrix of row `row` of the result, until interrupted.
    fn each_start(&self, row: usize, mut f: impl FnMut(usize)) {
        let first = offset(&self.outer, row);
        // An interruption is asked for between steps only.
        let every = (STEPS / (self.count * self.inner).max(1)).max(1);
        for i in 0..self.matrices() {
            if i > 0 && i % every == 0 && is_interrupted() {
                return;
            }
            f(first + offset(&self.repeated, i));
        }
    }
}

/// The offset of position `i` of nested runs.
fn offset(runs: &[(usize, usize)], mut i: usize) -> usize {
    runs.iter().fold(0, |offset, &(len, step)| {
        let at = i % len.max(1);
        i /= len.max(1);
        offset + at * step
    })
}

/// Reduces `x` to `out`, whose elements are the results of `finish`.
fn run<T: Native, R: Send>(
    reduction: Reduction,
    x: &[T],
    runs: &ReducedRuns,
    out: &mut [R],
    finish: &(dyn Fn(T::Acc) -> R + Sync),
    cx: &Cx<'_>,
) -> Result<(), TensorError> {
    let (isa, inner, count) = (Isa::detect(), runs.inner, runs.count);
    if x.is_empty() {
        out.fill_with(|| finish(T::start(reduction)));
        return Ok(());
    }
    let cost = runs.reduced();
    // Few long rows: their parts are shared by the threads.
    if inner == 1 && count > LONG && runs.repeated.is_empty() && out.len() < FEW_ROWS {
        let mut parts = filled(count.div_ceil(LONG), T::start(reduction))?;
        for (i, out) in out.iter_mut().enumerate().take_while(|_| !is_interrupted()) {
            let row = &x[offset(&runs.outer, i)..][..count];
            cx.parts(&mut parts, (1, LONG), &|first, parts| {
                for (part, x) in parts.iter_mut().zip(row[first * LONG..].chunks(LONG)) {
                    *part = T::reduce_row(isa, reduction, x);
                }
            });
            let all = parts.iter().fold(T::start(reduction), |acc, &part| T::join(reduction, acc, part));
            *out = finish(all);
        }
        return Ok(());
    }
    if inner == 1 {
        cx.parts(out, (1, cost), &|first, out| {
            for (i, out) in (first..).zip(out) {
                let mut sums = Joined::<T>::new(reduction);
                runs.each_start(i, |start| {
                    let parts = x[start..][..count].chunks(LONG).take_while(|_| !is_interrupted());
                    parts.for_each(|part| sums.add(T::reduce_row(isa, reduction, part)));
                });
                *out = finish(sums.all());
            }
        });
        return Ok(());
    }
    let is_one_row = runs.outer.is_empty();
    cx.parts(out, (if is_one_row { COLUMNS } else { inner }, cost), &|first, out| {
        let mut columns = ColumnSums::<T>::new(isa, reduction, runs);
        for (i, out) in out.chunks_mut(inner).enumerate() {
            // A part is whole rows of the result, or some columns of its single row.
            let (row, column) = (first / inner + i, if is_one_row { first } else { 0 });
            for (j, out) in out.chunks_mut(COLUMNS).enumerate() {
                let column = column + j * COLUMNS;
                let range = column..column + out.len();
                columns.clear(out.len());
                runs.each_start(row, |start| columns.add(&x[start..][..count * inner], inner, range.clone()));
                out.iter_mut().zip(columns.all()).for_each(|(out, &acc)| *out = finish(acc));
            }
        }
    });
    Ok(())
}

/// Numbers that are joined in groups of [`ROWS`].
struct Joined<T: Native> {
    reduction: Reduction,
    acc: T::Acc,
    part: T::Acc,
    count: usize,
}

impl<T: Native> Joined<T> {
    fn new(reduction: Reduction) -> Joined<T> {
        let start = T::start(reduction);
        Joined { reduction, acc: start, part: start, count: 0 }
    }

    fn add(&mut self, number: T::Acc) {
        self.part = T::join(self.reduction, self.part, number);
        self.count += 1;
        if self.count == ROWS {
            (self.acc, self.part, self.count) = (self.all(), T::start(self.reduction), 0);
        }
    }

    fn all(&self) -> T::Acc {
        T::join(self.reduction, self.acc, self.part)
    }
}

/// The reduction of some columns.
struct ColumnSums<T: Native> {
    isa: Isa,
    reduction: Reduction,
    /// The number of columns, and that of partial results: narrow rows are reduced side by side.
    columns: usize,
    wide: usize,
    is_narrow: bool,
    acc: [T::Acc; COLUMNS],
    /// The reduction of the last rows, of which there are `rows`.
    part: [T::Acc; COLUMNS],
    rows: usize,
}

impl<T: Native> ColumnSums<T> {
    fn new(isa: Isa, reduction: Reduction, runs: &ReducedRuns) -> ColumnSums<T> {
        let start = [T::start(reduction); COLUMNS];
        let is_narrow = runs.inner <= NARROW && runs.inner * runs.count >= 4 * COLUMNS;
        ColumnSums { isa, reduction, columns: 0, wide: 0, is_narrow, acc: start, part: start, rows: 0 }
    }

    /// Begins with `columns` columns, all of them if they are narrow.
    fn clear(&mut self, columns: usize) {
        self.columns = columns;
        self.wide = if self.is_narrow { COLUMNS / columns * columns } else { columns };
        self.acc[..columns].fill(T::start(self.reduction));
        self.part[..self.wide].fill(T::start(self.reduction));
        self.rows = 0;
    }

    /// Adds columns `range` of a matrix of `inner` columns, until interrupted.
    fn add(&mut self, matrix: &[T], inner: usize, range: Range<usize>) {
        let stride = if self.is_narrow { self.wide } else { inner };
        for (i, rows) in matrix.chunks(ROWS * stride).enumerate() {
            if i > 0 && is_interrupted() {
                return;
            }
            // The last of the narrow rows may be fewer than fit side by side.
            let (whole, rest) = rows.split_at(rows.len() / stride * stride);
            if !whole.is_empty() {
                let part = &mut self.part[..self.wide];
                let last = whole.len() - stride + if self.is_narrow { stride } else { range.end };
                let first = if self.is_narrow { 0 } else { range.start };
                T::reduce_rows(self.isa, self.reduction, &whole[first..last], stride, part);
            }
            if !rest.is_empty() {
                T::reduce_rows(self.isa, self.reduction, rest, stride, &mut self.part[..rest.len()]);
            }
            self.rows += rows.len().div_ceil(stride);
            if self.rows >= ROWS {
                self.join_part();
            }
        }
    }

    /// Joins the partial results to the results.
    fn join_part(&mut self) {
        for part in self.part[..self.wide].chunks_exact(self.columns) {
            self.acc.iter_mut().zip(part).for_each(|(acc, &part)| *acc = T::join(self.reduction, *acc, part));
        }
        self.part[..self.wide].fill(T::start(self.reduction));
        self.rows = 0;
    }

    /// The results.
    fn all(&mut self) -> &[T::Acc] {
        self.join_part();
        &self.acc[..self.columns]
    }
}

/// The length of the parts of a row whose extremes are compared.
const PLACES: usize = 4096;

/// See [`reference::arg_extreme`].
pub fn arg_extreme(
    largest: bool,
    x: &HostTensor,
    axis: i64,
    to: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if x.dtype() == DType::I1 {
        return arg_extreme(largest, &cast(x, DType::UI8, cx)?, axis, to, cx);
    }
    if let Some(wide) = wider(x.dtype()) {
        return arg_extreme(largest, &cast(x, wide, cx)?, axis, to, cx);
    }
    with_native!(x.dtype(), T => {
        let shape = shape_of_places(largest, x.shape(), axis, to)?;
        let at = resolve_axis(x.shape(), axis)?;
        let dims = x.shape().dims();
        let (len, inner) = (dims[at], dims[at + 1..].iter().product::<usize>());
        let out = HostTensor::allocate(DType::I64, shape, cx.allocator)?;
        if out.num_elements() > 0 {
            extremes::<T>(largest, &x.read::<T>()?, (len, inner), &mut out.write::<i64>()?, cx);
        }
        cast(&out, to, cx)
    }, _ => reference::arg_extreme(largest, x, axis, to, cx.allocator))
}

/// The positions of the extremes along an axis of length `len` whose elements are `inner` apart.
fn extremes<T: Native>(largest: bool, x: &[T], (len, inner): (usize, usize), out: &mut [i64], cx: &Cx<'_>) {
    let isa = Isa::detect();
    if inner == 1 {
        return cx.parts(out, (1, len), &|first, out| {
            for (row, out) in x[first * len..].chunks_exact(len).zip(out) {
                *out = place_of_extreme(isa, largest, row) as i64;
            }
        });
    }
    cx.parts(out, (inner, len), &|first, out| {
        for (i, out) in (first / inner..).zip(out.chunks_mut(inner)) {
            let matrix = &x[i * len * inner..][..len * inner];
            for (column, at) in (0..).step_by(COLUMNS).zip(out.chunks_mut(COLUMNS)) {
                let n = at.len();
                let mut rows = matrix.chunks_exact(inner).map(|row| &row[column..][..n]);
                let mut best = [T::zeroed(); COLUMNS];
                let best = &mut best[..n];
                at.fill(0);
                rows.next().into_iter().for_each(|row| best.copy_from_slice(row));
                (1..).zip(rows).for_each(|(i, row)| T::keep_extremes(isa, largest, i, row, best, at));
            }
        }
    });
}

/// The position of the first extreme of a row; 0 if all numbers are NaN.
fn place_of_extreme<T: Native>(isa: Isa, largest: bool, row: &[T]) -> usize {
    let (mut best, mut part) = (T::extreme(isa, largest, &[]), 0);
    for (i, x) in (0..).step_by(PLACES).zip(row.chunks(PLACES)) {
        if i % STEPS == 0 && is_interrupted() {
            break;
        }
        let extreme = T::extreme(isa, largest, x);
        if if largest { extreme > best } else { extreme < best } {
            (best, part) = (extreme, i);
        }
    }
    row[part..].iter().position(|&x| x == best).map_or(0, |at| part + at)
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
