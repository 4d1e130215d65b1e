//! Linear algebra and Fourier transforms.

use super::super::cost;
use super::super::eval;
use super::super::infer::linear;
use super::super::row::{Cost, Gradient, function};
use super::operators::operators;

operators! { 14:
    /// The lower triangular factors of positive definite matrices.
    Cholesky "input:T -> output:T; T:type"
        => function(eval::linear::cholesky, linear::square, Cost::By(cost::square_matrices));
    /// The gradient of `Cholesky`, symmetric.
    CholeskyGrad "l:T grad:T -> output:T; T:type"
        => function(eval::linear::cholesky_grad, linear::square, Cost::By(cost::square_matrices))
            .differentiated(Gradient::Missing);
    /// The cross products of vectors of three numbers.
    Cross "a:T b:T -> product:T; T:type"
        => function(eval::linear::cross, linear::cross, Cost::PerResult(3));
    /// The Fourier transform along the last axis.
    FFT "input:Tcomplex -> output:Tcomplex; Tcomplex:type=complex64"
        => function(eval::linear::fft, linear::fft, Cost::PerResult(64));
    /// The Fourier transform along the last two axes.
    FFT2D "input:Tcomplex -> output:Tcomplex; Tcomplex:type=complex64"
        => function(eval::linear::fft, linear::fft, Cost::PerResult(64));
    /// The Fourier transform along the last three axes.
    FFT3D "input:Tcomplex -> output:Tcomplex; Tcomplex:type=complex64"
        => function(eval::linear::fft, linear::fft, Cost::PerResult(64));
    /// The inverse Fourier transform along the last axis.
    IFFT "input:Tcomplex -> output:Tcomplex; Tcomplex:type=complex64"
        => function(eval::linear::fft, linear::fft, Cost::PerResult(64));
    /// The inverse Fourier transform along the last two axes.
    IFFT2D "input:Tcomplex -> output:Tcomplex; Tcomplex:type=complex64"
        => function(eval::linear::fft, linear::fft, Cost::PerResult(64));
    /// The inverse Fourier transform along the last three axes.
    IFFT3D "input:Tcomplex -> output:Tcomplex; Tcomplex:type=complex64"
        => function(eval::linear::fft, linear::fft, Cost::PerResult(64));
    /// The inverse Fourier transform to real numbers along the last axis.
    IRFFT "input:Tcomplex fft_length:int32 -> output:Treal; Tcomplex:type=complex64 Treal:type=float"
        => function(eval::linear::irfft, linear::real_fft, Cost::PerResult(64));
    /// The inverse Fourier transform to real numbers along the last two axes.
    IRFFT2D "input:Tcomplex fft_length:int32 -> output:Treal; Tcomplex:type=complex64 Treal:type=float"
        => function(eval::linear::irfft, linear::real_fft, Cost::PerResult(64));
    /// The inverse Fourier transform to real numbers along the last three axes.
    IRFFT3D "input:Tcomplex fft_length:int32 -> output:Treal; Tcomplex:type=complex64 Treal:type=float"
        => function(eval::linear::irfft, linear::real_fft, Cost::PerResult(64));
    /// The signs of the determinants of matrices, and the logarithms of their absolute values.
    LogMatrixDeterminant "input:T -> sign:T log_abs_determinant:T; T:type"
        => function(eval::linear::log_determinant, linear::determinant, Cost::By(cost::square_matrices));
    /// The determinants of matrices.
    MatrixDeterminant "input:T -> output:T; T:type"
        => function(eval::linear::determinant, linear::determinant, Cost::By(cost::square_matrices));
    /// The inverses of matrices.
    MatrixInverse "input:T -> output:T; T:type adjoint:bool=false"
        => function(eval::linear::inverse, linear::square, Cost::By(cost::square_matrices));
    /// The solutions of systems of linear equations.
    MatrixSolve "matrix:T rhs:T -> output:T; T:type adjoint:bool=false"
        => function(eval::linear::solve, linear::solve, Cost::By(cost::square_matrices));
    /// The solutions of systems of linear equations with triangular matrices.
    MatrixTriangularSolve "matrix:T rhs:T -> output:T; T:type adjoint:bool=false lower:bool=true"
        => function(eval::linear::solve, linear::solve, Cost::By(cost::square_matrices));
    /// The orthogonal and the upper triangular factors of matrices.
    Qr "input:T -> q:T r:T; T:type full_matrices:bool=false"
        => function(eval::linear::qr, linear::qr, Cost::By(cost::matrices));
    /// The Fourier transform of real numbers along the last axis.
    RFFT "input:Treal fft_length:int32 -> output:Tcomplex; Tcomplex:type=complex64 Treal:type=float"
        => function(eval::linear::rfft, linear::real_fft, Cost::PerResult(64));
    /// The Fourier transform of real numbers along the last two axes.
    RFFT2D "input:Treal fft_length:int32 -> output:Tcomplex; Tcomplex:type=complex64 Treal:type=float"
        => function(eval::linear::rfft, linear::real_fft, Cost::PerResult(64));
    /// The Fourier transform of real numbers along the last three axes.
    RFFT3D "input:Treal fft_length:int32 -> output:Tcomplex; Tcomplex:type=complex64 Treal:type=float"
        => function(eval::linear::rfft, linear::real_fft, Cost::PerResult(64));
    /// The eigenvalues and eigenvectors of Hermitian matrices.
    SelfAdjointEigV2 "input:T -> e:T v:T; T:type compute_v:bool=true"
        => function(eval::linear::self_adjoint_eigen, linear::self_adjoint_eigen, Cost::By(cost::square_matrices));
    /// The singular values and vectors of matrices.
    Svd "input:T -> s:T u:T v:T; T:type compute_uv:bool=true full_matrices:bool=false"
        => function(eval::linear::svd, linear::svd, Cost::By(cost::matrices));
    /// The lower and upper triangular factors of matrices, and the order of their rows.
    Lu
        "input:T -> lu:T p:output_idx_type; T:type output_idx_type:type=int32"
        => function(eval::linear::lu, linear::lu, Cost::By(cost::square_matrices));
    /// The solutions of systems of linear equations with the bands of triangular matrices.
    BandedTriangularSolve "matrix:T rhs:T -> output:T; T:type adjoint:bool=false lower:bool=true"
        => function(eval::linear::banded_solve, linear::banded_solve, Cost::By(cost::banded));
    /// The eigenvalues and eigenvectors of square matrices.
    Eig "input:T -> e:Tout v:Tout; T:type Tout:type compute_v:bool=true"
        => function(eval::linear::eigen, linear::self_adjoint_eigen, Cost::By(cost::matrices));
    /// The exponentials of square matrices.
    MatrixExponential "input:T -> output:T; T:type"
        => function(eval::linear::exponential, linear::square, Cost::By(cost::matrices))
            .differentiated(Gradient::Missing);
    /// The principal logarithms of square matrices.
    MatrixLogarithm "input:T -> output:T; T:type"
        => function(eval::linear::logarithm, linear::square, Cost::By(cost::matrices))
            .differentiated(Gradient::Missing);
    /// The solutions of least squares.
    MatrixSolveLs "matrix:T rhs:T l2_regularizer:double -> output:T; T:type fast:bool=true"
        => function(eval::linear::solve_least_squares, linear::solve_least_squares, Cost::By(cost::matrices));
    /// The principal square roots of square matrices.
    MatrixSquareRoot "input:T -> output:T; T:type"
        => function(eval::linear::square_root, linear::square, Cost::By(cost::matrices));
    /// The eigenvalues of Hermitian matrices as a row above the eigenvectors.
    SelfAdjointEig "input:T -> output:T; T:type"
        => function(
            eval::linear::self_adjoint_eigen_rows,
            linear::self_adjoint_eigen_rows,
            Cost::By(cost::square_matrices),
        )
        .differentiated(Gradient::Missing);
    /// The products of tridiagonal matrices with matrices.
    TridiagonalMatMul "superdiag:T maindiag:T subdiag:T rhs:T -> output:T; T:type"
        => function(eval::linear::tridiagonal_matmul, linear::tridiagonal_matmul, Cost::PerResult(6));
    /// The solutions of systems of linear equations with tridiagonal matrices.
    TridiagonalSolve
        "diagonals:T rhs:T -> output:T; T:type partial_pivoting:bool=true perturb_singular:bool=false"
        => function(eval::linear::tridiagonal_solve, linear::tridiagonal_solve, Cost::PerResult(16));
}
