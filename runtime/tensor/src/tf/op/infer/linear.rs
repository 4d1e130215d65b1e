//! Linear algebra and Fourier transforms.

use super::{Dim, Node, PartialShape, Shapes, broadcast, sum};
use crate::TensorError;
use crate::tf::op::eval::linear::n_axes;

/// The batch dimensions, the rows and the columns of matrices.
type MatrixDims<'a> = (&'a [Dim], Dim, Dim);

/// The [`MatrixDims`] of operand `i`, if its rank is known.
fn matrices<'a>(cx: &Node<'a>, i: usize) -> Result<Option<MatrixDims<'a>>, TensorError> {
    Ok(match cx.at_least(i, 2)? {
        Some([batch @ .., rows, columns]) => Some((batch, *rows, *columns)),
        _ => None,
    })
}

fn of(batch: &[Dim], last: &[Dim]) -> PartialShape {
    PartialShape::new([batch, last].concat())
}

/// The batch dimensions and the size of the square matrices of operand 0, if its rank is known.
fn squares<'a>(cx: &Node<'a>) -> Result<Option<(&'a [Dim], Dim)>, TensorError> {
    match matrices(cx, 0)? {
        Some((batch, rows, columns)) => Ok(Some((batch, cx.same(rows, columns)?))),
        None => Ok(None),
    }
}

fn unknown(n: usize) -> Shapes {
    Ok(vec![PartialShape::unknown(); n])
}

/// Square matrices.
pub(in crate::tf::op) fn square(cx: &Node<'_>) -> Shapes {
    match squares(cx)? {
        Some((batch, n)) => Ok(vec![of(batch, &[n, n])]),
        None => unknown(1),
    }
}

/// Square matrices, and a number for each of their rows.
pub(in crate::tf::op) fn lu(cx: &Node<'_>) -> Shapes {
    match squares(cx)? {
        Some((batch, n)) => Ok(vec![of(batch, &[n, n]), of(batch, &[n])]),
        None => unknown(2),
    }
}

/// A number for each square matrix.
pub(in crate::tf::op) fn determinant(cx: &Node<'_>) -> Shapes {
    match squares(cx)? {
        Some((batch, _)) => Ok(vec![of(batch, &[]); cx.n_results]),
        None => unknown(cx.n_results),
    }
}

pub(in crate::tf::op) fn solve(cx: &Node<'_>) -> Shapes {
    let (Some((batch, n)), Some((right, rows, columns))) = (squares(cx)?, matrices(cx, 1)?) else {
        return unknown(1);
    };
    let (batch, right) = (of(batch, &[]), of(right, &[]));
    let is_general = cx.attrs.signature().attr("lower").is_none();
    let all = if is_general { Some(cx.merged(&batch, &right)?) } else { broadcast(&batch, &right) };
    match all {
        Some(all) => Ok(vec![of(all.as_slice().unwrap_or_default(), &[cx.same(n, rows)?, columns])]),
        None => cx.refuse("the batches cannot be broadcast together".to_owned()),
    }
}

/// Shapes of solutions: the batches of matrices and right sides, the number of unknowns, and the columns.
fn solutions(cx: &Node<'_>, batch: &[Dim], unknowns: Dim, (right, columns): (&[Dim], Dim)) -> Shapes {
    let batch = cx.merged(&of(batch, &[]), &of(right, &[]))?;
    Ok(vec![of(batch.as_slice().unwrap_or_default(), &[unknowns, columns])])
}

pub(in crate::tf::op) fn solve_least_squares(cx: &Node<'_>) -> Shapes {
    cx.dims::<0>(2)?;
    let (Some((batch, m, n)), Some((right, rows, columns))) = (matrices(cx, 0)?, matrices(cx, 1)?) else {
        return unknown(1);
    };
    cx.same(m, rows)?;
    solutions(cx, batch, n, (right, columns))
}

pub(in crate::tf::op) fn tridiagonal_solve(cx: &Node<'_>) -> Shapes {
    let (Some((batch, k, n)), Some((right, rows, columns))) = (matrices(cx, 0)?, matrices(cx, 1)?) else {
        return unknown(1);
    };
    cx.same(k, Some(3))?;
    solutions(cx, batch, cx.same(n, rows)?, (right, columns))
}

pub(in crate::tf::op) fn tridiagonal_matmul(cx: &Node<'_>) -> Shapes {
    let Some((batch, mut rows, columns)) = matrices(cx, 3)? else { return unknown(1) };
    let mut batch = of(batch, &[]);
    for i in 0..3 {
        let Some((other, one, n)) = matrices(cx, i)? else { continue };
        cx.same(one, Some(1))?;
        rows = cx.same(rows, n)?;
        batch = cx.merged(&batch, &of(other, &[]))?;
    }
    Ok(vec![of(batch.as_slice().unwrap_or_default(), &[rows, columns])])
}

pub(in crate::tf::op) fn banded_solve(cx: &Node<'_>) -> Shapes {
    let (Some((batch, _, n)), Some((right, rows, columns))) = (matrices(cx, 0)?, matrices(cx, 1)?) else {
        return unknown(1);
    };
    match broadcast(&of(batch, &[]), &of(right, &[])) {
        Some(all) => Ok(vec![of(all.as_slice().unwrap_or_default(), &[cx.same(n, rows)?, columns])]),
        None => cx.refuse("the batches cannot be broadcast together".to_owned()),
    }
}

pub(in crate::tf::op) fn self_adjoint_eigen_rows(cx: &Node<'_>) -> Shapes {
    match squares(cx)? {
        Some((batch, n)) => Ok(vec![of(batch, &[sum(n, Some(1))?, n])]),
        None => unknown(1),
    }
}

fn smaller(a: Dim, b: Dim) -> Dim {
    match (a, b) {
        (Some(0), _) | (_, Some(0)) => Some(0),
        (a, b) => a.zip(b).map(|(a, b)| a.min(b)),
    }
}

pub(in crate::tf::op) fn qr(cx: &Node<'_>) -> Shapes {
    let Some((batch, m, n)) = matrices(cx, 0)? else { return unknown(2) };
    let k = if cx.attrs.bool("full_matrices")? { m } else { smaller(m, n) };
    Ok(vec![of(batch, &[m, k]), of(batch, &[k, n])])
}

/// The shape of a result that the attributes disable.
fn none() -> PartialShape {
    PartialShape::new(vec![Some(0)])
}

pub(in crate::tf::op) fn svd(cx: &Node<'_>) -> Shapes {
    let (has_vectors, is_full) = (cx.attrs.bool("compute_uv")?, cx.attrs.bool("full_matrices")?);
    let Some((batch, m, n)) = matrices(cx, 0)? else {
        let vectors = if has_vectors { PartialShape::unknown() } else { none() };
        return Ok(vec![PartialShape::unknown(), vectors.clone(), vectors]);
    };
    let k = smaller(m, n);
    Ok(match has_vectors {
        false => vec![of(batch, &[k]), none(), none()],
        true if is_full => vec![of(batch, &[k]), of(batch, &[m, m]), of(batch, &[n, n])],
        true => vec![of(batch, &[k]), of(batch, &[m, k]), of(batch, &[n, k])],
    })
}

pub(in crate::tf::op) fn self_adjoint_eigen(cx: &Node<'_>) -> Shapes {
    let has_vectors = cx.attrs.bool("compute_v")?;
    let (values, vectors) = match squares(cx)? {
        Some((batch, n)) => (of(batch, &[n]), of(batch, &[n, n])),
        None => (PartialShape::unknown(), PartialShape::unknown()),
    };
    Ok(vec![values, if has_vectors { vectors } else { none() }])
}

pub(in crate::tf::op) fn cross(cx: &Node<'_>) -> Shapes {
    let shape = cx.merged(cx.shape(0)?, cx.shape(1)?)?;
    match shape.as_slice() {
        Some([.., None | Some(3)]) | None => Ok(vec![shape]),
        _ => cx.refuse("the last axis is not of three numbers".to_owned()),
    }
}

pub(in crate::tf::op) fn fft(cx: &Node<'_>) -> Shapes {
    cx.at_least(0, n_axes(cx.op()))?;
    Ok(vec![cx.shape(0)?.clone()])
}

/// The lengths in operand 1 replace the last dimensions. The result of an `RFFT` has only the nonnegative
/// frequencies of the last axis.
pub(in crate::tf::op) fn real_fft(cx: &Node<'_>) -> Shapes {
    let n = n_axes(cx.op());
    let lengths = cx.merged(&cx.shape_in(1)?, &PartialShape::of_rank(n))?;
    let Some(dims) = cx.at_least(0, n)? else { return unknown(1) };
    let mut dims = [&dims[..dims.len() - n], lengths.as_slice().unwrap_or_default()].concat();
    if let Some(last) = dims.last_mut().filter(|_| cx.op().starts_with('R')) {
        *last = last.map(|n| if n > 0 { n / 2 + 1 } else { 0 });
    }
    Ok(vec![PartialShape::new(dims)])
}
