//! The matrix product, by the gemm crate: the only place with `unsafe` in this crate.
//!
//! The crate takes raw pointers and strides. Here they come from slices, and every extent is checked against them first, with
//! checked arithmetic. The product runs on the calling thread: threads belong to the work queue.
//!
//! The crate allocates its packing space itself, per thread, through the global allocator.

use gemm::{Parallelism, gemm};

use crate::Element;

/// An element type that has a fast product.
pub trait Float: Element + PartialOrd + std::ops::Add<Output = Self> {
    /// Nothing.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Whether this is no number.
    fn is_nan(self) -> bool;
}

impl Float for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
}

impl Float for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
}

/// A matrix in a slice: element (i, j) lies at `i * row_stride + j * col_stride`.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    row_stride: isize,
    col_stride: isize,
}

impl<'a, T> Matrix<'a, T> {
    /// A row-major matrix.
    ///
    /// # Panics
    /// If the slice does not have `rows * cols` elements.
    pub fn new(data: &'a [T], rows: usize, cols: usize) -> Matrix<'a, T> {
        assert_eq!(rows.checked_mul(cols), Some(data.len()), "a {rows} by {cols} matrix");
        // `rows` of an empty matrix can be anything, but its strides are never used.
        Matrix { data, rows, cols, row_stride: isize::try_from(cols).unwrap_or(0), col_stride: 1 }
    }

    /// The same elements with rows and columns exchanged. Nothing is copied.
    pub fn transposed(self) -> Matrix<'a, T> {
        let Matrix { data, rows, cols, row_stride, col_stride } = self;
        Matrix { data, rows: cols, cols: rows, row_stride: col_stride, col_stride: row_stride }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// A row, where its elements lie one after another.
    pub(crate) fn row(&self, i: usize) -> Option<&'a [T]> {
        if self.col_stride != 1 {
            return None;
        }
        self.data.get(i * self.cols..)?.get(..self.cols)
    }

    /// A column of a transposed matrix, where its elements lie one after another; empty in others.
    pub(crate) fn col(&self, j: usize) -> &'a [T] {
        let col = self.data.get(j * self.rows..).and_then(|data| data.get(..self.rows));
        if self.row_stride == 1 { col.unwrap_or_default() } else { Default::default() }
    }

    /// Whether the farthest element is inside the slice; true if there is none.
    fn is_inside(&self) -> bool {
        let (Some(last_row), Some(last_col)) = (self.rows.checked_sub(1), self.cols.checked_sub(1)) else {
            return true;
        };
        let reach = |steps: usize, stride: isize| usize::try_from(stride).ok()?.checked_mul(steps);
        reach(last_row, self.row_stride)
            .zip(reach(last_col, self.col_stride))
            .and_then(|(down, right)| down.checked_add(right))
            .is_some_and(|farthest| farthest < self.data.len())
    }
}

/// `out = a * b`, `out` row-major.
///
/// # Panics
/// If the inner dimensions differ or `out` does not have the elements of the product.
pub fn product<T: Float>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut [T]) {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    assert_eq!(k, b.rows, "inner dimensions");
    assert_eq!(m.checked_mul(n), Some(out.len()), "elements of the product");
    assert!(a.is_inside() && b.is_inside(), "a matrix reaches outside of its slice");
    if out.is_empty() {
        return;
    }
    if k == 0 {
        out.fill(T::ZERO);
        return;
    }
    let Ok(out_row_stride) = isize::try_from(n) else { return }; // `out` has n elements at least, so it fits
    let (out, a_data, b_data) = (out.as_mut_ptr(), a.data.as_ptr(), b.data.as_ptr());
    // SAFETY: nothing is empty here. `a` and `b` were found to lie inside their slices; `out` has m * n elements and strides (n, 1), and
    // being borrowed mutably overlaps neither. T is f32 or f64, which the crate knows. With `read_dst` false the first factor,
    // 0, is not used and `out` is only written.
    unsafe {
        gemm(
            m,
            n,
            k,
            out,
            1,
            out_row_stride,
            false,
            a_data,
            a.col_stride,
            a.row_stride,
            b_data,
            b.col_stride,
            b.row_stride,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
