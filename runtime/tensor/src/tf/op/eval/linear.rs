//! Linear algebra and Fourier transforms.

use super::{ints_in, owning};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, MatrixFunction, Pivoting, Solver};

pub(in crate::tf::op) fn cholesky(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| tf::cholesky(&x, cx))
}

pub(in crate::tf::op) fn cholesky_grad(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[l, dl], cx| tf::cholesky_grad(&l, &dl, cx))
}

pub(in crate::tf::op) fn cross(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[a, b], cx| tf::cross(&a, &b, cx))
}

pub(in crate::tf::op) fn determinant(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| tf::determinant(&x, cx))
}

pub(in crate::tf::op) fn log_determinant(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| tf::log_determinant(&x, cx))
}

pub(in crate::tf::op) fn inverse(attrs: &Attributes<'_>) -> Made {
    let is_adjoint = attrs.bool("adjoint")?;
    owning(attrs, move |[x], cx| tf::inverse(&x, is_adjoint, cx))
}

pub(in crate::tf::op) fn lu(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("output_idx_type")?;
    owning(attrs, move |[x], cx| tf::lu(&x, to, cx))
}

pub(in crate::tf::op) fn solve(attrs: &Attributes<'_>) -> Made {
    let (op, is_adjoint) = (attrs.op(), attrs.bool("adjoint")?);
    let solver = match attrs.signature().attr("lower") {
        None => Solver::General,
        Some(_) if attrs.bool("lower")? => Solver::Lower,
        Some(_) => Solver::Upper,
    };
    owning(attrs, move |[x, right], cx| tf::solve(op, solver, is_adjoint, &x, &right, cx))
}

pub(in crate::tf::op) fn qr(attrs: &Attributes<'_>) -> Made {
    let is_full = attrs.bool("full_matrices")?;
    owning(attrs, move |[x], cx| tf::qr(&x, is_full, cx))
}

pub(in crate::tf::op) fn svd(attrs: &Attributes<'_>) -> Made {
    let (has_vectors, is_full) = (attrs.bool("compute_uv")?, attrs.bool("full_matrices")?);
    owning(attrs, move |[x], cx| tf::svd(&x, has_vectors, is_full, cx))
}

pub(in crate::tf::op) fn self_adjoint_eigen(attrs: &Attributes<'_>) -> Made {
    let has_vectors = attrs.bool("compute_v")?;
    owning(attrs, move |[x], cx| tf::self_adjoint_eigen(&x, has_vectors, cx))
}

pub(in crate::tf::op) fn self_adjoint_eigen_rows(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| tf::self_adjoint_eigen_rows(&x, cx))
}

pub(in crate::tf::op) fn eigen(attrs: &Attributes<'_>) -> Made {
    let (has_vectors, to) = (attrs.bool("compute_v")?, attrs.dtype("Tout")?);
    owning(attrs, move |[x], cx| tf::eigen(&x, has_vectors, to, cx))
}

pub(in crate::tf::op) fn solve_least_squares(attrs: &Attributes<'_>) -> Made {
    let is_fast = attrs.bool("fast")?;
    owning(attrs, move |[x, right, regularizer], cx| {
        tf::solve_least_squares(&x, &right, &regularizer, is_fast, cx)
    })
}

fn function_of(function: MatrixFunction, attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x], cx| tf::matrix_function(op, function, &x, cx))
}

pub(in crate::tf::op) fn exponential(attrs: &Attributes<'_>) -> Made {
    function_of(MatrixFunction::Exponential, attrs)
}

pub(in crate::tf::op) fn logarithm(attrs: &Attributes<'_>) -> Made {
    function_of(MatrixFunction::Logarithm, attrs)
}

pub(in crate::tf::op) fn square_root(attrs: &Attributes<'_>) -> Made {
    function_of(MatrixFunction::SquareRoot, attrs)
}

pub(in crate::tf::op) fn tridiagonal_solve(attrs: &Attributes<'_>) -> Made {
    let pivoting = match (attrs.bool("partial_pivoting")?, attrs.bool("perturb_singular")?) {
        (false, false) => Pivoting::None,
        (true, false) => Pivoting::Partial,
        (true, true) => Pivoting::Perturbed,
        (false, true) => {
            return invalid(attrs.op(), "`perturb_singular` requires `partial_pivoting`".to_owned());
        }
    };
    owning(attrs, move |[diagonals, right], cx| tf::tridiagonal_solve(&diagonals, &right, pivoting, cx))
}

pub(in crate::tf::op) fn tridiagonal_matmul(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[above, main, below, right], cx| {
        tf::tridiagonal_matmul([&above, &main, &below], &right, cx)
    })
}

pub(in crate::tf::op) fn banded_solve(attrs: &Attributes<'_>) -> Made {
    let (is_lower, is_adjoint) = (attrs.bool("lower")?, attrs.bool("adjoint")?);
    owning(attrs, move |[bands, right], cx| {
        tf::banded_triangular_solve(&bands, &right, is_lower, is_adjoint, cx)
    })
}

/// The number of axes of a transform, from the operator's name.
pub(in crate::tf::op) fn n_axes(op: &str) -> usize {
    match op.as_bytes() {
        [.., b'2', b'D'] => 2,
        [.., b'3', b'D'] => 3,
        _ => 1,
    }
}

pub(in crate::tf::op) fn fft(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x], cx| tf::fft(op, &x, n_axes(op), op.starts_with('I'), cx))
}

pub(in crate::tf::op) fn rfft(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("Tcomplex")?);
    owning(attrs, move |[x, lengths], cx| {
        tf::rfft(op, &x, &ints_in(op, "fft_length", &lengths)?, n_axes(op), dtype, cx)
    })
}

pub(in crate::tf::op) fn irfft(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("Treal")?);
    owning(attrs, move |[x, lengths], cx| {
        tf::irfft(op, &x, &ints_in(op, "fft_length", &lengths)?, n_axes(op), dtype, cx)
    })
}
