//! Diagonals and bands of matrices. Every dtype, bytes only.

use std::sync::Arc;

use crate::error::invalid;
use crate::mem::Allocator;
use crate::{HostTensor, Shape, TensorError};

/// `Diag`: the tensor of shape `dims ++ dims` that has `x` on its diagonal and zeros elsewhere.
pub fn diag(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let dims = x.shape().dims();
    let out = HostTensor::zeros(x.dtype(), Shape::new(&[dims, dims].concat())?, allocator)?;
    let (n, size) = (x.num_elements(), x.dtype().size());
    {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        for (i, element) in from.chunks_exact(size).enumerate() {
            let at = i * (n + 1) * size;
            to[at..at + size].copy_from_slice(element);
        }
    }
    Ok(out)
}

/// `DiagPart`: the diagonal of a tensor of shape `dims ++ dims`.
pub fn diag_part(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let (left, right) = x.shape().dims().split_at(x.shape().rank() / 2);
    if left != right || left.is_empty() {
        return invalid("DiagPart", format!("shape {} is not some dimensions twice", x.shape()));
    }
    let out = HostTensor::allocate(x.dtype(), Shape::new(left)?, allocator)?;
    let (n, size) = (out.num_elements(), x.dtype().size());
    {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        for (i, element) in to.chunks_exact_mut(size).enumerate() {
            let at = i * (n + 1) * size;
            element.copy_from_slice(&from[at..at + size]);
        }
    }
    Ok(out)
}

/// Rows and columns of the matrices in the last two axes.
fn matrix_of(op: &'static str, shape: &Shape) -> Result<(usize, usize), TensorError> {
    match shape.dims() {
        &[.., rows, cols] => Ok((rows, cols)),
        _ => invalid(op, format!("shape {shape} has rank {}, below 2", shape.rank())),
    }
}

/// Calls `f` for each element of matrices with its row, its column and its bytes.
fn for_each_element(
    out: &HostTensor,
    cols: usize,
    rows: usize,
    mut f: impl FnMut(usize, usize, usize, &mut [u8]),
) -> Result<(), TensorError> {
    if out.num_elements() > 0 {
        for (i, element) in out.write_bytes()?.chunks_exact_mut(out.dtype().size()).enumerate() {
            f(i / (rows * cols), i / cols % rows, i % cols, element);
        }
    }
    Ok(())
}

/// `MatrixBandPart`: in the matrices of the last two axes, zeros outside the `lower` diagonals below the main one and the `upper` above it; a negative
/// number keeps all.
pub fn matrix_band_part(
    x: &HostTensor,
    lower: i64,
    upper: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MatrixBandPart";
    let (rows, cols) = matrix_of(op, x.shape())?;
    let fits = |n: i64, limit: usize| n < 0 || n as u64 <= limit as u64;
    if !fits(lower, rows) || !fits(upper, cols) {
        return invalid(op, format!("a band of {lower} below and {upper} above in shape {}", x.shape()));
    }
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), allocator)?;
    out.write_bytes()?.copy_from_slice(&x.read_bytes()?);
    for_each_element(&out, cols, rows, |_, row, col, element| {
        let (below, above) = (row.saturating_sub(col), col.saturating_sub(row));
        if (lower >= 0 && below > lower as usize) || (upper >= 0 && above > upper as usize) {
            element.fill(0);
        }
    })?;
    Ok(out)
}

/// `MatrixDiag`: square matrices with the rows of `x` on their diagonals and zeros elsewhere. Rank 1 and above.
pub fn matrix_diag(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let Some(&n) = x.shape().dims().last() else {
        return invalid("MatrixDiag", "a scalar has no diagonal".to_owned());
    };
    let out = HostTensor::zeros(x.dtype(), Shape::new(&[x.shape().dims(), &[n]].concat())?, allocator)?;
    let (from, size) = (x.read_bytes()?, x.dtype().size());
    for_each_element(&out, n, n, |matrix, row, col, element| {
        if row == col {
            element.copy_from_slice(&from[(matrix * n + row) * size..][..size]);
        }
    })?;
    Ok(out)
}

/// `MatrixDiagPart`: the main diagonals of the matrices in the last two axes.
pub fn matrix_diag_part(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let (rows, cols) = matrix_of("MatrixDiagPart", x.shape())?;
    let (n, batch) = (rows.min(cols), &x.shape().dims()[..x.shape().rank() - 2]);
    let out = HostTensor::allocate(x.dtype(), Shape::new(&[batch, &[n]].concat())?, allocator)?;
    let (from, size) = (x.read_bytes()?, x.dtype().size());
    for_each_element(&out, n, 1, |matrix, _, i, element| {
        element.copy_from_slice(&from[((matrix * rows + i) * cols + i) * size..][..size]);
    })?;
    Ok(out)
}

/// `MatrixSetDiag`: `x` with the rows of `diagonal` on the main diagonals of its matrices.
pub fn matrix_set_diag(
    x: &HostTensor,
    diagonal: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (rows, cols) = matrix_of("MatrixSetDiag", x.shape())?;
    let (n, batch) = (rows.min(cols), &x.shape().dims()[..x.shape().rank() - 2]);
    diagonal.expect_dtype("diagonal", x.dtype())?;
    diagonal.expect_shape("diagonal", &Shape::new(&[batch, &[n]].concat())?)?;
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), allocator)?;
    out.write_bytes()?.copy_from_slice(&x.read_bytes()?);
    let (from, size) = (diagonal.read_bytes()?, x.dtype().size());
    for_each_element(&out, cols, rows, |matrix, row, col, element| {
        if row == col {
            element.copy_from_slice(&from[(matrix * n + row) * size..][..size]);
        }
    })?;
    Ok(out)
}
