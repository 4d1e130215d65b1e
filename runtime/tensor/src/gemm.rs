//! Safe wrapper of the gemm crate's matrix product, which takes raw pointers and strides.
//!
//! Pointers and strides come from slices; every extent is checked against them first, with checked
//! arithmetic. The product runs on the calling thread, since threads belong to the work queue.
//!
//! The gemm crate allocates its packing buffers itself, per thread, through the global allocator.

use gemm_common::Parallelism;

use crate::Element;
use crate::interrupt::is_interrupted;

/// The product function of the gemm crate. Arguments: the numbers of rows, columns and steps; `out`, its
/// column and row strides, and a flag to add to it; both matrices with their column and row strides; the
/// factors of `out` and of the product; three flags for conjugates; the number of threads.
pub type ProductFn<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

/// An element type with a fast product.
pub trait GemmElement: Element + PartialOrd + std::ops::Add<Output = Self> {
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// True for NaN.
    fn is_nan(self) -> bool;
    /// The product for this machine.
    #[doc(hidden)]
    fn product_fn() -> ProductFn<Self>;
}

impl GemmElement for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }

    fn product_fn() -> ProductFn<f32> {
        gemm_f32::gemm::f32::get_gemm_fn()
    }
}

impl GemmElement for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }

    fn product_fn() -> ProductFn<f64> {
        gemm_f64::gemm::f64::get_gemm_fn()
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
        // Only an empty matrix has more than `isize::MAX` columns, and its strides are never used.
        Matrix { data, rows, cols, row_stride: isize::try_from(cols).unwrap_or(0), col_stride: 1 }
    }

    /// A matrix with the given row and column strides. `None` if it reaches outside of the slice.
    pub(crate) fn strided(
        data: &'a [T],
        (rows, row_stride): (usize, usize),
        (cols, col_stride): (usize, usize),
    ) -> Option<Matrix<'a, T>> {
        let (row_stride, col_stride) = (isize::try_from(row_stride).ok()?, isize::try_from(col_stride).ok()?);
        let matrix = Matrix { data, rows, cols, row_stride, col_stride };
        matrix.is_inside().then_some(matrix)
    }

    /// The elements and the row stride, if rows are contiguous.
    pub(crate) fn rows_of(&self) -> Option<(&'a [T], usize)> {
        (self.col_stride == 1).then_some((self.data, self.row_stride.unsigned_abs()))
    }

    /// True if rows or columns are contiguous.
    pub(crate) fn has_slices(&self) -> bool {
        self.col_stride == 1 || self.row_stride == 1
    }

    /// The transposed view. Nothing is copied.
    pub fn transposed(self) -> Matrix<'a, T> {
        let Matrix { data, rows, cols, row_stride, col_stride } = self;
        Matrix { data, rows: cols, cols: rows, row_stride: col_stride, col_stride: row_stride }
    }

    /// The matrix divided into the first `first` rows and the others. The matrix must be inside its slice.
    fn split_rows(self, first: usize) -> (Matrix<'a, T>, Matrix<'a, T>) {
        let from = first * self.row_stride.unsigned_abs();
        let below = Matrix { data: &self.data[from..], rows: self.rows - first, ..self };
        (Matrix { rows: first, ..self }, below)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// A row, if rows are contiguous.
    pub(crate) fn row(&self, i: usize) -> Option<&'a [T]> {
        if self.col_stride != 1 {
            return None;
        }
        self.data.get(i.checked_mul(self.row_stride.unsigned_abs())?..)?.get(..self.cols)
    }

    /// Element (i, j), which is inside.
    pub(crate) fn at(&self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        self.data[i * self.row_stride.unsigned_abs() + j * self.col_stride.unsigned_abs()]
    }

    /// True if the farthest element is inside the slice, or the matrix is empty.
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
pub fn product<T: GemmElement>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut [T]) {
    assert_eq!(a.rows.checked_mul(b.cols), Some(out.len()), "elements of the product");
    let steps = (b.cols, 1);
    product_into(a, b, (out, steps), false);
}

/// The most multiplications of one call of the crate, some 10 ms: a call cannot be interrupted.
const LONG: usize = 1 << 28;

/// `out = a * b`, or `out += a * b`, with the given row and column strides of `out`, until interrupted.
///
/// # Panics
/// If the inner dimensions differ or a matrix reaches outside of its slice.
pub(crate) fn product_into<T: GemmElement>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    (out, (down, across)): (&mut [T], (usize, usize)),
    add: bool,
) {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    assert_eq!(k, b.rows, "inner dimensions");
    if m == 0 || n == 0 {
        return;
    }
    let fits = Matrix::strided(&*out, (m, down), (n, across)).is_some();
    assert!(fits && a.is_inside() && b.is_inside(), "a matrix reaches outside of its slice");
    if m.saturating_mul(k).saturating_mul(n) > LONG {
        if is_interrupted() {
            return;
        }
        // The longest dimension is halved.
        let steps = (down, across);
        if m >= k && m >= n {
            let (above, below) = a.split_rows(m / 2);
            product_into(above, b, (&mut *out, steps), add);
            product_into(below, b, (&mut out[m / 2 * down..], steps), add);
        } else if n >= k {
            let (left, right) = b.transposed().split_rows(n / 2);
            product_into(a, left.transposed(), (&mut *out, steps), add);
            product_into(a, right.transposed(), (&mut out[n / 2 * across..], steps), add);
        } else {
            let (left, right) = a.transposed().split_rows(k / 2);
            let (above, below) = b.split_rows(k / 2);
            product_into(left.transposed(), above, (&mut *out, steps), add);
            product_into(right.transposed(), below, (out, steps), true);
        }
        return;
    }
    if k == 0 {
        if !add {
            (0..m).for_each(|i| (0..n).for_each(|j| out[i * down + j * across] = T::ZERO));
        }
        return;
    }
    // The crate writes columns fastest. Rows are the columns of the transposed product.
    let is_transposed = across < down;
    let ((a, b), (m, n)) =
        if is_transposed { ((b.transposed(), a.transposed()), (n, m)) } else { ((a, b), (m, n)) };
    let (Ok(down), Ok(across)) = (isize::try_from(down), isize::try_from(across)) else { return }; // they fit
    let (row_stride, col_stride) = if is_transposed { (across, down) } else { (down, across) };
    let (out, a_data, b_data) = (out.as_mut_ptr(), a.data.as_ptr(), b.data.as_ptr());
    let product = T::product_fn();
    // SAFETY: nothing is empty here. The three matrices were checked to lie inside their slices; `out`, being
    // borrowed mutably, overlaps neither of the others. No stride is negative. The function is the crate's
    // for T. Without `add` the first factor is not used and `out` is only written.
    unsafe {
        product(
            m,
            n,
            k,
            out,
            col_stride,
            row_stride,
            add,
            a_data,
            a.col_stride,
            a.row_stride,
            b_data,
            b.col_stride,
            b.row_stride,
            if add { T::ONE } else { T::ZERO },
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
