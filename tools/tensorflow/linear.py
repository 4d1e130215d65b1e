"""Special functions, linear algebra and Fourier transforms."""
import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops


def special():
    case = Case("op_special", rtol=1e-5, atol=1e-7)
    a = np.array([0.1, 0.5, 1.0, 2.5, 10.0, 50.0])
    x = np.array([0.0, 1e-3, 0.3, 1.0, 2.0, 9.5, 49.0, 120.0])
    bad = np.array([[-1.0, 1.0], [0.0, 1.0], [1.0, -1.0], [np.nan, 1.0], [1.0, np.nan], [2.0, np.inf]])
    orders = np.array([0.0, 1.0, 2.0, 5.0])
    points = np.array([-2.5, -0.5, 0.2, 1.0, 3.7, 40.0])
    for dtype in [np.float32, np.float64]:
        word = np.dtype(dtype).name
        feed = lambda name, array: case.feed(f"{name}_{word}", array.astype(dtype))
        a_, x_, bad_ = feed("a", a[:, None]), feed("x", x), feed("bad", bad)
        for op in [raw.Igamma, raw.Igammac]:
            case.fetch(f"{op.__name__}_{word}", op(a=a_, x=x_))
            case.fetch(f"{op.__name__}_bad_{word}", op(a=bad_[:, 0], x=bad_[:, 1]))
        powers = feed("powers", np.array([1.0, 1.5, 2.0, 3.0, 7.0, 20.0, 0.5, np.nan])[:, None])
        q = feed("q", np.array([0.1, 1.0, 5.5, 100.0, -1.0, -0.5, -2.25]))
        case.fetch(f"Zeta_{word}", raw.Zeta(x=powers, q=q))
        points_ = feed("points", points)
        case.fetch(f"Polygamma_{word}", raw.Polygamma(a=feed("orders", orders[:, None]), x=points_))
        case.fetch(f"Polygamma_bad_{word}", raw.Polygamma(a=feed("bad_orders", np.array([-1.0, 1.5, np.nan])), x=points_[:3]))
        wide = feed("wide", np.array([-50.0, -3.0, -0.1, 0.0, 1e-4, 1.0, 8.0, 8.5, 29.0, 31.0, 80.0, np.inf, np.nan]))
        for op in ["I0", "I1", "I0e", "I1e"]:
            case.fetch(f"Bessel{op}_{word}", getattr(raw, f"Bessel{op}")(x=wide))
    case.write()


def conjugate_transpose(x):
    return tf.linalg.adjoint(x)


def matrices():
    case = Case("op_matrices", rtol=1e-4, atol=1e-5)
    for dtype in [np.float32, np.float64, np.complex64]:
        word = np.dtype(dtype).name

        def made(seed, *shape):
            x = normal(seed, *shape, dtype=np.float64)
            return (x + 1j * normal(seed + 9, *shape, dtype=np.float64) if word[0] == "c" else x).astype(dtype)

        x = case.feed(f"x_{word}", made(1, 2, 3, 3))
        right = case.feed(f"right_{word}", made(2, 2, 3, 2))
        hermitian = x + conjugate_transpose(x)
        positive = tf.matmul(x, x, adjoint_b=True) + 0.5 * tf.eye(3, dtype=dtype)
        case.fetch(f"cholesky_{word}", raw.Cholesky(input=positive))
        case.fetch(f"determinant_{word}", raw.MatrixDeterminant(input=x))
        case.fetch(f"log_determinant_{word}", *raw.LogMatrixDeterminant(input=x))
        case.fetch(f"singular_determinant_{word}", *raw.LogMatrixDeterminant(input=x * 0))
        for adjoint in [False, True]:
            case.fetch(f"inverse_{word}_{adjoint}", raw.MatrixInverse(input=x, adjoint=adjoint))
            case.fetch(f"solve_{word}_{adjoint}", raw.MatrixSolve(matrix=x, rhs=right, adjoint=adjoint))
            for lower in [False, True]:
                attrs = {"adjoint": adjoint, "lower": lower}
                case.fetch(f"triangular_{word}_{adjoint}_{lower}",
                           raw.MatrixTriangularSolve(matrix=x, rhs=right, **attrs))
                case.fetch(f"broadcast_{word}_{adjoint}_{lower}",
                           raw.MatrixTriangularSolve(matrix=x[:1], rhs=right, **attrs))
        # Signs and phases of vectors are any: what is compared does not depend on them.
        values, vectors = raw.SelfAdjointEigV2(input=hermitian)
        case.fetch(f"eigenvalues_{word}", values)
        case.fetch(f"eigen_{word}", tf.matmul(vectors * values[..., None, :], vectors, adjoint_b=True))
        case.fetch(f"eigenvalues_only_{word}", raw.SelfAdjointEigV2(input=hermitian, compute_v=False)[0])
        for rows, columns in [(4, 2), (2, 4), (3, 3)]:
            any_ = case.feed(f"any_{word}_{rows}x{columns}", made(3, 2, rows, columns), shape=None)
            for full in [False, True]:
                q, r = raw.Qr(input=any_, full_matrices=full)
                case.fetch(f"qr_{word}_{rows}x{columns}_{full}", q, r)
                s, u, v = raw.Svd(input=any_, full_matrices=full)
                k = min(rows, columns)
                product = tf.matmul(u[..., :k] * tf.cast(s[..., None, :], dtype), v[..., :k], adjoint_b=True)
                case.fetch(f"svd_{word}_{rows}x{columns}_{full}", s, product)
                case.fetch(f"svd_unitary_{word}_{rows}x{columns}_{full}",
                           tf.matmul(u, u, adjoint_a=True), tf.matmul(v, v, adjoint_a=True))
            case.fetch(f"svd_values_{word}_{rows}x{columns}", raw.Svd(input=any_, compute_uv=False)[0])
    low = case.feed("low", np.outer([1.0, 2.0, 3.0], [1.0, -1.0]).astype(np.float32))
    s, u, v = raw.Svd(input=low, full_matrices=True)
    case.fetch("svd_low", s, tf.matmul(u, u, adjoint_a=True))
    for dtype in [np.float32, np.int32]:
        a, b = [case.feed(f"cross_{np.dtype(dtype).name}_{i}", integers(i, -9, 9, 2, 3, dtype=dtype)) for i in (1, 2)]
        case.fetch(f"cross_{np.dtype(dtype).name}", raw.Cross(a=a, b=b))
    empty = case.feed("empty", np.zeros([2, 0, 0], np.float32))
    case.fetch("empty_determinant", raw.MatrixDeterminant(input=empty))
    case.fetch("empty_inverse", raw.MatrixInverse(input=empty))
    case.write()


def solutions():
    """Least squares, and systems of few diagonals."""
    case = Case("op_solutions", rtol=2e-4, atol=1e-5)
    for dtype in [np.float32, np.float64, np.complex64, np.complex128]:
        word = np.dtype(dtype).name

        def feed(name, seed, *shape):
            x = normal(seed, *shape, dtype=np.float64)
            x = x + 1j * normal(seed + 9, *shape, dtype=np.float64) if word[0] == "c" else x
            return case.feed(f"{name}_{word}", x.astype(dtype), shape=None if seed % 2 else "array")

        for rows, columns in [(4, 2), (2, 4), (3, 3)]:
            a, b = feed(f"a_{rows}x{columns}", 4, 2, rows, columns), feed(f"b_{rows}x{columns}", 7, 2, rows, 3)
            low = tf.concat([a[..., :1, :]] * rows, -2)
            for name, x, regularizer, fast in [("fast", a, 0., True), ("regular", a, .5, True), ("slow", a, .5, False),
                                               ("low", low, 0., False), ("low_regular", low, .25, True)]:
                case.fetch(f"{name}_{rows}x{columns}_{word}", raw.MatrixSolveLs(
                    matrix=x, rhs=b, l2_regularizer=tf.constant(regularizer, tf.float64), fast=fast))
        for n in [1, 2, 3, 6]:
            diagonals, right = feed(f"diagonals_{n}", 21, 2, 3, n), feed(f"right_{n}", 22, 2, n, 2)
            for name, pivoting, perturb in [("plain", False, False), ("partial", True, False), ("perturbed", True, True)]:
                case.fetch(f"tridiagonal_{name}_{n}_{word}", raw.TridiagonalSolve(
                    diagonals=diagonals, rhs=right, partial_pivoting=pivoting, perturb_singular=perturb))
            case.fetch(f"tridiagonal_product_{n}_{word}", raw.TridiagonalMatMul(
                superdiag=diagonals[:, :1], maindiag=diagonals[:, 1:2], subdiag=diagonals[:, 2:], rhs=right))
            for bands in [1, 2, n, n + 1]:
                if f"bands_{n}_{bands}_{word}" in case.feeds:
                    continue
                matrix = feed(f"bands_{n}_{bands}", 33, 2, 1, bands, n)
                for lower in [True, False]:
                    for adjoint in [True, False]:
                        case.fetch(f"banded_{n}_{bands}_{lower}_{adjoint}_{word}", raw.BandedTriangularSolve(
                            matrix=matrix, rhs=right, lower=lower, adjoint=adjoint))
        # Exact in all precisions: pivots that are zero.
        singular = tf.constant([[[2, 0], [1, 4], [0, 2]], [[1, 0], [0, 3], [0, 0]]], dtype)
        solve = lambda diagonals, **attrs: raw.TridiagonalSolve(
            diagonals=diagonals, rhs=tf.ones([*diagonals.shape[:-2], diagonals.shape[-1], 1], dtype), **attrs)
        case.fetch(f"moved_{word}", solve(singular, perturb_singular=True))
        case.fetch(f"moved_1_{word}", solve(singular[..., :1], perturb_singular=True))
        case.fetch(f"moved_3_{word}", solve(tf.constant([[1, 2, 0], [0, 0, 0], [0, 0, 1]], dtype), perturb_singular=True))
        case.fetch(f"exchanged_{word}", solve(tf.constant([[1, 2, 0], [0, 0, 5], [0, 3, 1]], dtype)))
        if word[0] == "f":
            for pivoting in [True, False]:
                case.fetch(f"singular_{word}_{pivoting}", solve(singular, partial_pivoting=pivoting))
            case.fetch(f"singular_1_{word}", solve(singular[..., :1] * 0))
    case.write()


def functions():
    """Eigenvalues and functions of any square matrices."""
    case = Case("op_matrix_functions", rtol=2e-4, atol=2e-5)
    tf.import_graph_def(tf.GraphDef(versions={"producer": 8}))
    jordan = np.array([[2, 1, 0], [0, 2, 1], [0, 0, 2]])
    for dtype in [np.float32, np.float64, np.complex64, np.complex128]:
        word = np.dtype(dtype).name
        to = np.complex64 if word in ["float32", "complex64"] else np.complex128
        for n in [0, 1, 2, 3, 7]:
            def made(seed):
                x = normal(seed, 2, n, n, dtype=np.float64)
                return (x + 1j * normal(seed + 9, 2, n, n, dtype=np.float64) if word[0] == "c" else x).astype(dtype)

            x = case.feed(f"x_{n}_{word}", made(3), shape=None if n == 3 else "array")
            for scale in [.01, 1, 9]:
                case.fetch(f"exponential_{n}_{scale}_{word}", raw.MatrixExponential(input=x * tf.cast(scale, dtype)))
            # Eigenvalues away from the negative numbers.
            y = made(4) + 4 * np.eye(n, dtype=dtype)
            y = case.feed(f"y_{n}_{word}", y.astype(dtype))
            case.fetch(f"root_{n}_{word}", raw.MatrixSquareRoot(input=y))
            if word[0] == "c":
                case.fetch(f"root_any_{n}_{word}", raw.MatrixSquareRoot(input=x))
                case.fetch(f"logarithm_{n}_{word}", raw.MatrixLogarithm(input=y))
                case.fetch(f"logarithm_any_{n}_{word}", raw.MatrixLogarithm(input=x))
                case.fetch(f"logarithm_large_{n}_{word}", raw.MatrixLogarithm(input=y * tf.cast(1e6, dtype)))
            else:
                case.fetch(f"hermitian_{n}_{word}", raw.SelfAdjointEig(input=x)[..., :1, :])
            # Orders and phases are any: what is compared does not depend on them.
            values, vectors = raw.Eig(input=x, Tout=to)
            only, _ = raw.Eig(input=x, Tout=to, compute_v=False)
            for name, e in [("values", values), ("only", only)]:
                case.fetch(f"{name}_{n}_{word}", tf.reduce_sum(e, -1), tf.reduce_prod(e, -1), tf.sort(tf.abs(e), -1))
            if n:
                case.fetch(f"eigen_{n}_{word}", tf.matmul(vectors * values[..., None, :], tf.linalg.inv(vectors)))
                case.fetch(f"norms_{n}_{word}", tf.norm(tf.abs(vectors), axis=-2))
            if word[0] == "c":
                case.fetch(f"sorted_{n}_{word}", values)
        given = case.feed(f"jordan_{word}", np.array([jordan, np.eye(3), np.diag([4, 9, 1e-4])]).astype(dtype))
        case.fetch(f"jordan_exponential_{word}", raw.MatrixExponential(input=given))
        case.fetch(f"jordan_root_{word}", raw.MatrixSquareRoot(input=given))
        case.fetch(f"jordan_values_{word}", tf.abs(raw.Eig(input=given[1:], Tout=to)[0]))
        negative = tf.constant([[[-1, 2, 1], [0, 4, 1], [0, 0, 9]]], dtype)
        case.fetch(f"negative_{word}", raw.MatrixSquareRoot(input=negative))
        if word[0] == "c":
            case.fetch(f"jordan_logarithm_{word}", raw.MatrixLogarithm(input=given))
            case.fetch(f"negative_logarithm_{word}", raw.MatrixLogarithm(input=negative))
    for op in [raw.MatrixExponential, raw.MatrixSquareRoot]:
        case.fetch(f"nan_{op.__name__}", op(input=tf.constant([[np.nan, 1], [2, 3]], tf.float32)))
    case.write()


def fourier():
    case = Case("op_fourier", rtol=1e-4, atol=1e-4)
    for dtype in [np.complex64, np.complex128]:
        word = np.dtype(dtype).name
        real = np.float32 if dtype == np.complex64 else np.float64
        x = normal(1, 2, 3, 4, 5, dtype=np.float64) + 1j * normal(2, 2, 3, 4, 5, dtype=np.float64)
        x = case.feed(f"x_{word}", x.astype(dtype))
        y = case.feed(f"y_{word}", normal(3, 2, 3, 4, 5, dtype=real), shape=None)
        for rank, axes in [(1, ""), (2, "2D"), (3, "3D")]:
            case.fetch(f"FFT{axes}_{word}", getattr(raw, "FFT" + axes)(input=x))
            case.fetch(f"IFFT{axes}_{word}", getattr(raw, "IFFT" + axes)(input=x))
            for lengths in [[3, 4, 5], [3, 3, 4], [2, 4, 3], [1, 1, 1]]:
                lengths = lengths[3 - rank:]
                name = f"{axes}_{word}_" + "x".join(map(str, lengths))
                case.fetch(f"RFFT{name}", getattr(raw, "RFFT" + axes)(input=y, fft_length=lengths, Tcomplex=dtype))
                half = getattr(raw, "RFFT" + axes)(input=y, fft_length=[3, 4, 5][3 - rank:], Tcomplex=dtype)
                case.fetch(f"IRFFT{name}", getattr(raw, "IRFFT" + axes)(input=half, fft_length=lengths, Treal=real))
        for n in [1, 2, 7, 16, 30]:
            line = tf.cast(tf.complex(tf.range(n, dtype=tf.float32) % 3, tf.range(n, dtype=tf.float32) % 4), dtype)
            case.fetch(f"line_{word}_{n}", raw.FFT(input=line))
    case.write()


def factors():
    """Gradients of Cholesky factors; the upper triangles are not read."""
    case = Case("op_cholesky_grad", rtol=1e-5, atol=1e-6)
    for dtype in [np.float32, np.float64]:
        word = np.dtype(dtype).name
        for i, shape in enumerate([(1, 1), (2, 3, 3), (20, 20), (2, 0, 0)]):
            l = case.feed(f"l_{word}_{i}", normal(i, *shape, dtype=dtype) + 4 * np.eye(shape[-1], dtype=dtype))
            dl = case.feed(f"dl_{word}_{i}", normal(i + 9, *shape, dtype=dtype))
            case.fetch(f"{word}_{i}", raw.CholeskyGrad(l=l, grad=dl))
    case.write()


if __name__ == "__main__":
    special()
    matrices()
    factors()
    solutions()
    functions()
    fourier()
