"""Expressions that are compiled and compared with themselves on NumPy's arrays and numbers, a line for each function."""

ARRAYS = """
a[0]
a[-1]
a[1:]
a[::-1]
a[::2]
a[-3:-1]
a[5:1:-2]
a[..., 0]
a[None]
a[np.newaxis, ...]
a[:, None] * b[None, :]
a[[0, 2]]
a[[0, -1]]
a[a > 1]
a[(a > 1) & (b > 1)]
a[np.array([True, False, True, False])]
a[np.array([[0, 1], [2, 3]])]
a[b > 100]
a.sum()
a.sum(axis=0)
a.sum(0, keepdims=True)
a.mean()
a.std()
a.std(ddof=1)
a.var()
a.min(), a.max(), a.argmin(), a.argmax()
a.prod()
a.cumsum()
a.cumprod()
a.any(), a.all()
a.astype(np.float32)
a.astype("int32")
a.astype(bool)
a.astype(float)
a.astype(int)
a.reshape(2, 2)
a.reshape((2, -1))
a.reshape(-1, 1)
a.ravel()
a.flatten()
a.T
a.dot(b)
a @ b
a.round(1)
a.clip(1, 2)
a.copy()
a.repeat(2)
a.tolist()
a.argsort()
a.nonzero()
a.size, a.ndim, a.shape, a.dtype
a.item(1)
a.take([0, 1])
a.transpose()
a.squeeze()
a.conj()
a.real, a.imag
a.searchsorted(2)
a.nbytes, a.itemsize
np.sum(a), np.sum(a, dtype=np.float32)
np.add(a, b), np.subtract(a, b), np.multiply(a, b), np.divide(a, b)
np.concatenate([a, b])
np.concatenate((a, b), axis=0)
np.stack([a, b], axis=1)
np.vstack((a, b)), np.hstack((a, b)), np.dstack((a, b))
np.column_stack((a, b))
np.append(a, b)
np.append(a, 5)
np.insert(a, 1, 5)
np.delete(a, 1)
np.array([a, b])
np.array([a[0], b[1], 3])
np.asarray(a, dtype=np.float32)
np.array(a, dtype=float)
np.array([1, 2.5, a[0]])
np.zeros(3), np.ones((2, 2)), np.full(3, a[0]), np.empty(0)
np.zeros_like(a), np.ones_like(a, dtype=float), np.full_like(a, 2)
np.arange(5), np.arange(1, 5), np.arange(0, 1, 0.25), np.arange(5, dtype=np.float32)
np.arange(a[1])
np.linspace(0, 1, 5), np.linspace(a[0], a[1], 4), np.linspace(0, 1, 5, endpoint=False), np.linspace(0, 1, 1)
np.linspace(a[0] * 1j, a[1] + 2j, 4), (a > 1).conj(), (a > 1).conjugate(), np.conj(a > 1), np.angle(a > 1)
np.logspace(0, 2, 3)
np.eye(3), np.identity(2), np.eye(2, 3), np.eye(3, k=1)
np.diag(a), np.diag(np.outer(a, b))
np.diag(a, k=1)
np.tri(3)
np.tril(np.outer(a, b)), np.triu(np.outer(a, b))
np.tril(np.outer(a, b), -1)
np.triu(np.outer(a, b), 1)
np.outer(a, b), np.inner(a, b), np.dot(a, b), np.vdot(a, b), np.cross(a[:3], b[:3])
np.kron(a, b)
np.tensordot(a, b, axes=1), np.einsum("i,i->", a, b), np.einsum("i,j", a, b)
np.matmul(a, b)
np.where(a > 1, a, b), np.where(a > 1), np.where(a > 1, 1, 0), np.where(a > 1, a, 0.5)
np.select([a > 2, a > 1], [a, b], default=0)
np.clip(a, 1, 2), np.clip(a, None, 2), np.clip(a, 1, None), np.clip(a, b, 3)
np.maximum(a, b), np.minimum(a, 1), np.fmax(a, b), np.fmin(a, b)
np.abs(a), np.absolute(a), np.fabs(a), np.sign(a), np.square(a), np.sqrt(np.abs(a)), np.cbrt(a)
np.exp(a), np.exp2(a), np.expm1(a), np.log(np.abs(a) + 1), np.log2(np.abs(a) + 1), np.log10(np.abs(a) + 1)
np.log1p(np.abs(a))
np.sin(a), np.cos(a), np.tan(a), np.sinh(a), np.cosh(a), np.tanh(a), np.arctan(a)
np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), np.round(a), np.round(a, 2), np.around(a, -1), np.fix(a)
np.degrees(a), np.radians(a), np.deg2rad(a), np.rad2deg(a), np.sinc(a)
np.isnan(a), np.isinf(a), np.isfinite(a), np.isclose(a, b), np.allclose(a, b), np.array_equal(a, b)
np.any(a > 2), np.all(a > 0), np.count_nonzero(a), np.nonzero(a), np.flatnonzero(a), np.argwhere(a > 1)
np.cumsum(a), np.cumprod(a), np.diff(a), np.diff(a, n=2), np.ediff1d(a), np.gradient(a)
np.trapezoid(a)
np.unique(a)
np.searchsorted(np.sort(a), 2)
np.median(a), np.average(a), np.average(a, weights=np.abs(b) + 1), np.percentile(a, 50), np.quantile(a, 0.25)
np.mean(a), np.std(a), np.var(a), np.ptp(a), np.max(a), np.min(a), np.amax(a), np.amin(a), np.prod(a)
np.nansum(a), np.nanmean(a), np.nanmax(a), np.nanmin(a)
np.argmax(a), np.argmin(a)
np.flip(a), np.fliplr(np.outer(a, b)), np.flipud(np.outer(a, b)), np.roll(a, 1), np.roll(a, -2)
np.rot90(np.outer(a, b))
np.tile(a, 2), np.tile(a, (2, 1)), np.repeat(a, 2), np.repeat(a, 2, axis=0)
np.repeat(a, [1, 2, 0, 1])
np.split(a, 2), np.array_split(a, 3), np.hsplit(a, 2)
np.expand_dims(a, 0), np.squeeze(a[None]), np.atleast_1d(a), np.atleast_2d(a), np.atleast_3d(a)
np.broadcast_to(a, (2, 4)), np.broadcast_arrays(a, b)
np.moveaxis(np.outer(a, b), 0, 1), np.swapaxes(np.outer(a, b), 0, 1), np.transpose(np.outer(a, b))
np.rollaxis(np.outer(a, b), 1)
np.meshgrid(a, b)
np.meshgrid(a, b, indexing="ij")
np.pad(a, 1), np.pad(a, (1, 2)), np.pad(a, 1, mode="reflect"), np.pad(a, 1, constant_values=7)
np.pad(a, 1, mode="edge")
np.take(a, [0, 2]), np.take(a, 1), np.take(np.outer(a, b), [0, 1], axis=1)
np.take_along_axis(a, np.argsort(a), 0)
np.compress([True, False, True, True], a)
np.extract(a > 1, a)
np.convolve(a, b)
np.correlate(a, b)
np.interp(1.5, a, b)
np.bincount(np.array([0, 1, 1, 2]))
np.digitize(a, [0, 1, 2])
np.linalg.norm(a), np.linalg.norm(a, 1), np.linalg.norm(a, ord=2), np.linalg.norm(np.outer(a, b))
np.linalg.norm(np.outer(a,b), axis=1)
np.linalg.norm(a, np.inf)
np.linalg.inv(np.eye(4) * 2 + np.outer(a, b) * 0.1), np.linalg.det(np.eye(4) * 2)
np.linalg.solve(np.eye(4) * 2, a)
np.linalg.slogdet(np.eye(4) * 2)
np.linalg.eigh(np.eye(4) * 2)[0]
np.linalg.matrix_power(np.outer(a, b), 2)
np.linalg.multi_dot([np.outer(a, b), np.outer(a, b), a])
np.linalg.pinv(np.eye(4) * 2)
np.linalg.matrix_rank(np.eye(4))
np.trace(np.outer(a, b)), np.diagonal(np.outer(a, b)), np.trace(np.outer(a, b), 1)
np.isin(a, b)
np.add.reduce(a)
np.add.accumulate(a)
np.multiply.outer(a, b)
np.maximum.reduce(a)
np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b), np.logical_not(a)
np.shape(a), np.ndim(a), np.size(a)
np.float32(a), np.int32(a), np.float64(3), np.int64(2.7), np.bool_(a)
np.copy(a), np.ascontiguousarray(a), np.asanyarray(a)
np.array([]), np.array([[1, 2], [3, 4]]), np.array(3)
np.real(a), np.imag(a), np.conj(a), np.angle(a)
np.positive(a), np.negative(a), np.reciprocal(a + 0.5)
np.mod(a, 2), np.fmod(a, 2), np.remainder(a, -2), np.power(a, 2), np.float_power(a, 2), np.floor_divide(a, 2)
np.nan_to_num(a)
np.ix_([0, 1], [1, 2])
np.fromiter((v for v in a), dtype=float)
np.indices((2, 2))
np.result_type(a, b), np.finfo(np.float32).eps, np.iinfo(np.int32).max
np.pi * a, np.e + a, np.inf > a, np.nan + a
a + np.float32(1), a * 2, a / 2, a // 2, a % 2, a ** 2, a ** 0.5, 2 ** a, 2 / (a + 0.5), -a, +a, abs(a)
a > b, a >= 1, a == b, a != 1, (a > 1) | (b > 1), ~(a > 1), (a > 1) ^ (b > 1), (a > 1) & True
a + [1, 2, 3, 4], [1, 2, 3, 4] * a, a - (1, 2, 3, 4)
len(a), list(a), tuple(a), sum(a), max(a), min(a), reversed([1, 2]) is None
[v for v in a], [v * 2 for v in a if v > 1], sum(v for v in a), {i: v for i, v in enumerate([1, 2])}
any(v > 2 for v in a), all(v > 0 for v in a)
list(zip(a, b)), list(enumerate(a)), list(map(lambda v: v + 1, a)), list(filter(lambda v: v > 1, a))
list(range(3)), list(reversed(a))
(a > 1).sum(), (a > 1).mean(), (a > 1).astype(int), (a > 1).any()
a[1], a[int(b[0])] if b[0] < 3 else a[0]
a[1:3][0], a[:][1], a[1:][:-1], a[-1:], a[:-1], a[10:], a[2:1]
a if len(a) > 2 else b
a in b
2 in a
3.5 in [1, 2, 3.5]
float(a[0]), int(a[1]), bool(a[0]), complex(a[0])
a[0].item(), a[0].astype(int), a[0].sum(), a[0].shape, a[0].dtype
round(a[0]), round(a[0], 1), divmod(a[0], 2), pow(a[0], 2), abs(a[0])
math.gcd(6, 4), math.factorial(5), math.comb(5, 2), math.prod([1, 2, a[0]]), math.fsum([1.0, 2.0])
math.isqrt(17), math.dist([1.0], [2.0])
f"{len(a)}" == "4"
operator.add(a, b), operator.mul(a[0], 2), operator.itemgetter(1)([1, 2])
functools.reduce(lambda p, q: p + q, [1, 2, 3])
functools.reduce(lambda p, q: p + q, a)
functools.partial(np.add, a)(b)
list(itertools.product([1, 2], [3, 4])), list(itertools.chain([1], [2]))
list(itertools.accumulate([1, 2, 3]))
np.exp(-a) / (1 + np.exp(-a)).sum()
a[np.int64(1)], a[np.uint8(1)], a[-np.int64(1)]
np.polyval([1, 2, 3], a), np.linalg.norm(a, 3), np.linalg.norm(np.outer(a, b), 1), np.linalg.norm(a, 0)
np.nanprod(a), np.nanvar(a), np.nanstd(a, ddof=1), np.nancumsum(a), np.nanmean(np.outer(a, b), axis=0)
np.repeat(np.outer(a, b), [2, 0, 1, 3], axis=1), np.repeat(a, np.array([1, 2, 0, 1]))
np.pad(np.outer(a, b), ((1, 0), (0, 2)), mode="edge"), np.pad(a, 2, mode="wrap"), np.pad(a, 2, mode="symmetric")
np.rot90(np.outer(a, b), 2), np.rot90(np.outer(a, b), -1), np.diag(a, -2), np.diag(np.outer(a, b), 1)
np.tril(np.outer(a, b), 2), np.triu(np.outer(a, b), -1), np.diagonal(np.outer(a, b), -1)
np.convolve(a, b[:2], "same"), np.convolve(a[:2], b, "valid"), np.correlate(a, b[:3], "full")
np.interp(a, np.array([0.0, 1.0, 2.5]), np.array([1.0, -1.0, 4.0])), np.interp(a, np.sort(b) + np.arange(4), a)
np.quantile(a, [0.1, 0.9]), np.percentile(np.outer(a, b), 30, axis=1), np.quantile(a, 0.5, keepdims=True)
np.digitize(a, np.array([3.0, 1.0, 0.0])), np.searchsorted(np.sort(b), a, side="right")
np.delete(a, [0, -1]), np.delete(a, -1), np.insert(a, 2, [7, 8])
np.append(np.outer(a, b), np.outer(a, b), axis=1)
np.subtract.outer(a, b), np.add.reduce(np.outer(a, b)), np.multiply.accumulate(a), np.logical_or.reduce(a > 1)
a.max(axis=0, keepdims=True), np.signbit(a), np.heaviside(a, 0.5), np.angle(a + 1j * b), np.fmod(a, b + 1)
a[np.s_[1:3]], a[np.s_[..., None]], np.outer(a, b)[np.s_[1:, ::-2]], [1, 2, 3][slice(1, None)]
a[slice(2)] if len(a) else b
np.arange(a[0], a[0] - 3), np.linspace(a, b, 3), np.linspace(a[0], 9, 1)
np.linspace(1, 2, 3, dtype=int)
np.result_type(a, np.float32), np.promote_types(a.dtype, b.dtype), np.finfo(np.float32).eps
np.iinfo(np.int32).max
operator.sub(a, b), operator.neg(a), operator.lt(a[0], b[0]), operator.getitem(a, 1), operator.not_(a[0] > 1)
functools.reduce(operator.add, a), functools.reduce(lambda p, q: p * q + 1, [a, b, 2], 1)
functools.reduce(max, [a[0], a[1]])
math.prod([1, 2, a[0]]), math.isclose(a[0], b[0]), math.copysign(2.0, b[0]), math.erf(a[0]), math.cbrt(a[0])
np.array(list(zip(a, b))), np.array([v for v in zip(a, b)]), list(enumerate(a, 1)), dict(enumerate([5, 6]))
"""

NUMBERS = """
x & y
x | y
x ^ y
x - y
x * y
~x
-x
+x
abs(x)
x == y
x != y
x < y
x <= y < 10
round(x / 3, 2)
x // 3.0
x % 3.0
bool(x) + bool(y)
(x > 0) + (y > 0)
(x > 0) & (y > 0)
(x > 0) * 2.5
(x > 0) - (y > 0)
-(x > 0)
~(x > 0)
sum([x, y, 1])
str(x) == str(y)
isinstance(x, int)
isinstance(x, np.integer)
isinstance(x, float)
type(x) is type(y)
np.sign(x)
np.power(x, y)
np.maximum(x, y)
np.where(x > y, x, y)
np.where(x > y, 1, 2.5)
np.where(x > y, x, 2.5)
np.clip(x, 0, 3)
np.fmod(x, y)
np.gcd(x, y)
np.lcm(x, y)
np.hypot(x, y)
np.arctan2(x, y)
np.copysign(x, y)
np.heaviside(x, y)
np.ldexp(x, 2)
np.floor_divide(x, y)
np.remainder(x, y)
np.float_power(x, y)
np.left_shift(x, y)
np.bitwise_and(x, y)
np.logical_and(x, y)
np.logical_not(x)
np.isfinite(x)
np.signbit(x)
x // 0.1, x % 0.1, divmod(x, 0.3), x // -0.7, x % -0.7
np.floor_divide(x, y + 0.1), np.remainder(x, y + 0.1)
x * 0.0, 0.0 * x, x - x, x + 0, x * 1, 1 * x, x / 1, 0 - x
"""
