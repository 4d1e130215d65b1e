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


if __name__ == "__main__":
    special()
    matrices()
    fourier()
