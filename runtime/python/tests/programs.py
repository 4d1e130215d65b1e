"""Functions that are compiled and compared with themselves on NumPy arrays: each with lists of arguments."""

import itertools
import math
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

import numpy as np

import befrost as bf

PROGRAMS: list[Any] = []


def program(*runs: Any) -> Callable[[Any], Any]:
    def add(f: Any) -> Any:
        PROGRAMS.append((f, runs))
        return f
    return add


i64 = np.int64
f32 = np.float32
A = np.array


@program((i64(5),), (i64(-5),), (i64(0),))
def if_chain(x: Any) -> Any:
    if x > 3:
        y = 1
    elif x < -3:
        y = 2
    else:
        y = 3
    return y * x


@program((i64(27),), (i64(1),))
def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program((A([3, 1, 2]),), (A([5, 4, 3]),))
def while_else(x: Any) -> Any:
    i = 0
    while i < len(x):
        if x[i] == 1:
            found = i
            break
        i += 1
    else:
        found = -1
    return found


@program((A([3.0, 1.0, 2.0]), A([1.0, 2.0, 3.0])))
def zip_enumerate(x: Any, y: Any) -> Any:
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        total += a * b * i
    return total


@program((A([1, 2, 3, 4, 5]),))
def reversed_items(x: Any) -> Any:
    out = []
    for v in reversed(x):
        out.append(v * 2)
    return out


@program((A([4, 8, 15, 16, 23, 42]),))
def list_stack(x: Any) -> Any:
    stack = []
    for v in x:
        if v % 2 == 0:
            stack.append(v)
        elif len(stack) > 0:
            stack.pop()
    return stack, len(stack)


@program((i64(5),), (i64(0),))
def tuples_in_list(n: Any) -> Any:
    pairs = []
    for i in range(n):
        pairs.append((i, i * 0.5))
    total = 0.0
    for a, b in pairs:
        total += a * b
    return total, len(pairs)


@dataclass
class Point:
    x: float
    y: float = 0.0

    def norm(self) -> Any:
        return math.sqrt(self.x * self.x + self.y * self.y)


@program((f32(3.0), f32(4.0)))
def dataclass_state(x: Any, y: Any) -> Any:
    p = Point(x, y)
    n = 0
    while p.norm() > 1:
        p = Point(p.x * 0.5, p.y * 0.5)
        n += 1
    return n, p.x


@program((f32(3.0),))
def dataclass_mutation(x: Any) -> Any:
    p = Point(x)
    for i in range(3):
        p.y += p.x
    return p.y


class Pair(NamedTuple):
    low: int
    high: int


@program((A([1, 3, 5, 7, 9, 11]), i64(7)), (A([1, 3, 5, 7, 9, 11]), i64(8)))
def binary_search(xs: Any, key: Any) -> Any:
    at = Pair(0, len(xs))
    while at.low < at.high:
        mid = (at.low + at.high) // 2
        if xs[mid] == key:
            return mid
        if xs[mid] < key:
            at = at._replace(low=mid + 1)
        else:
            at = at._replace(high=mid)
    return -1


@program((A([[1.0, 2.0], [3.0, 4.0]]),))
def slices(m: Any) -> Any:
    a = m[0]
    b = m[:, 1]
    c = m[::-1, -1]
    d = m[..., None]
    e = m[1:, :1]
    return a + b, c, d.shape, e


@program((A([1.0, -2.0, 3.0]),))
def element_assignment(x: Any) -> Any:
    y = np.zeros(3)
    for i in range(3):
        if x[i] > 0:
            y[i] = x[i] * 2
    y[1] += 5
    return y


@program((A([3, 1, 2, 5, 4]),))
def bubble_sort(x: Any) -> Any:
    y = x.copy()
    n = len(y)
    for i in range(n):
        for j in range(n - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y


@program((A([1.0, 2.0, 3.0, 4.0]),))
def numpy_functions(x: Any) -> Any:
    return (np.sum(x), np.mean(x), np.max(x), np.argmax(x), np.cumsum(x), np.clip(x, 1.5, 3.5), x.reshape(2, 2).T,
            np.concatenate([x, x[::-1]]), np.where(x > 2, x, -x), np.dot(x, x), np.outer(x, x), np.sort(-x),
            np.any(x > 3), np.all(x > 0), np.linspace(0, 1, 5), np.arange(4) * x, np.std(x), np.prod(x), x.var())


@program((i64(7), i64(-2)), (i64(-7), i64(2)), (i64(7), i64(3)))
def integer_arithmetic(a: Any, b: Any) -> Any:
    return a // b, a % b, a * b, a - b, a / b, divmod(a, b), -a, abs(b), a & b, a | b, a ^ b, ~a, a << 2, a >> 1


@program((2.5, 2), (-1.5, 3))
def python_numbers(x: Any, n: Any) -> Any:
    return x * n, x // n, x % n, x ** n, n ** 2, n / 2, int(x), float(n), round(x), bool(n), -x, abs(x), x > n, n == 2


@program((2,))
def known_numbers_rounded(n: Any) -> Any:
    number = np.exp(0.5) * 2
    return n + round(number), round(number), round(number, 1), round(np.float32(2.5)), round(np.int64(3))


@program((A([1.5, 2.5, -3.5]), 2))
def print_values(x: Any, n: Any) -> Any:
    print("n is", n)
    for i in range(n):
        print(i, x[i], f"{x[i]:.2f} {i:3d}|{n!r}")
    print(x)
    return n


@program((A([True, False, True]), A([1, 2, 3])))
def masks(m: Any, x: Any) -> Any:
    return x[m], x[~m], np.sum(m), x * m, np.nonzero(m), x[np.array([2, 0])], x[m].sum()


@program((i64(3),), (i64(12),))
def early_returns(n: Any) -> Any:
    for i in range(10):
        if i * i > n:
            return i
        if i > 5:
            return -i
    return 0


@program((i64(10),))
def nested_break_continue(n: Any) -> Any:
    count = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        j = 0
        while True:
            j += 1
            if j > i:
                break
            if j % 2:
                continue
            count += j
    return count


@program((A([2, 7, 11, 15]), i64(9)), (A([2, 7, 11, 15]), i64(100)))
def two_sum(xs: Any, target: Any) -> Any:
    for i in range(len(xs)):
        for j in range(i + 1, len(xs)):
            if xs[i] + xs[j] == target:
                return i, j
    return -1, -1


@program((f32(2.0),), (f32(-2.0),))
def helper_returns(x: Any) -> Any:
    def sign(v: Any) -> Any:
        if v > 0:
            return 1
        if v < 0:
            return -1
        return 0
    return sign(x) * 3 + sign(-x)


@program((A([1.0, 2.0, 3.0]),))
def higher_order(x: Any) -> Any:
    def compose(*fs: Any) -> Any:
        def run(v: Any) -> Any:
            for f in fs:
                v = f(v)
            return v
        return run
    return compose(np.sin, lambda v: v * 2, np.abs)(x)


@program((i64(10),))
def walrus(n: Any) -> Any:
    total = 0
    while (n := n - 1) > 0:
        total += n
    return total


@program((i64(2), A([1, 2, 3])), (i64(9), A([1, 2, 3])))
def membership(k: Any, x: Any) -> Any:
    return k in x, k in (1, 2), k not in [5, 9], k in range(5), 0 < k < 5


@program((A([[1, 2, 3], [4, 5, 6]]),))
def matrix_rows(m: Any) -> Any:
    best = m[0]
    for row in m:
        if np.sum(row) > np.sum(best):
            best = row
    return best


@program((i64(0),), (i64(1),), (i64(5),))
def match_guard(k: Any) -> Any:
    match k:
        case 0:
            return 10
        case n if n < 3:
            return n * 100
        case _:
            return -1


@program((2.0, 3))
def match_static(x: Any, n: Any) -> Any:
    match (x, n):
        case (a, b):
            return a + b


@program((A([1.0, 4.0, 9.0]),))
def dict_of_arrays(x: Any) -> Any:
    d = {"a": x, "b": np.sqrt(x)}
    d["c"] = d["a"] + d["b"]
    total = 0.0
    for k, v in d.items():
        total = total + v.sum() * len(k)
    return {"total": total, "n": len(d)}


@program((A([1, 2, 3, 4]),))
def comprehensions(x: Any) -> Any:
    a = [v * i for i, v in enumerate(x)]
    b = sum(v * v for v in x if v > 1)
    c = {k: k * 2 for k in range(3)}
    return a, b, c, max(a), min(x), [i for i in range(5) if i % 2]


@program((A([1.0, 2.0]), True), (A([1.0, 2.0]), False))
def boolean_flags(x: Any, flag: Any) -> Any:
    done = False
    n = 0
    while not done:
        n += 1
        x = x * 2
        if flag and n > 2 or n > 5:
            done = True
    return x, n, done


@program((i64(6),))
def fibonacci(n: Any) -> Any:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program((i64(48), i64(18)))
def gcd(a: Any, b: Any) -> Any:
    while b:
        a, b = b, a % b
    return a


@program((A([1.0, 2.0, 3.0, 4.0]),), (A([4.0, 2.0]),))
def running_max(x: Any) -> Any:
    best = x[0]
    out = [best]
    for v in x[1:]:
        best = max(best, v)
        out.append(best)
    return np.array(out)


@program((f32(0.5), 3), (f32(2.5), 30))
def mixed_exits(x: Any, n: Any) -> Any:
    steps = 0
    for i in range(n):
        steps += 1
        if x > 100:
            break
        if x < 0.1:
            return x, -1
        if i % 2 == 0:
            x = x * 3
            continue
        x = x - 0.25
    else:
        steps = steps + 1000
    return x, steps


@program((A([[0.0, 1.0], [2.0, 3.0]]), i64(1), i64(0)))
def staged_indices(m: Any, i: Any, j: Any) -> Any:
    return m[i, j], m[i], m[:, j], m[i:, :j + 1], m[-1, i]


@program((A([5, 3, 8]),))
def swap_list(x: Any) -> Any:
    items = [x[0], x[1], x[2]]
    if items[0] > items[1]:
        items[0], items[1] = items[1], items[0]
    return items


@program((i64(3),), (i64(0),))
def list_of_lists_static(n: Any) -> Any:
    rows = [[1, 2], [3, 4]]
    rows[0][1] = n
    total = 0
    for row in rows:
        for v in row:
            total += v
    return total


@program((A([1, 2, 3]), A([1.0, 2.0, 3.0], dtype=np.float32)))
def promotions(i: Any, f: Any) -> Any:
    return i + f, i * 2.5, f * 2, i / 2, i ** 2, f // 2, np.float32(1) + i, i + True, (i > 1) + 1, -f, f % 2


@program((A([1.0, 2.0, 3.0]),))
def augmented(x: Any) -> Any:
    y = x + 1
    y *= 2
    y -= x
    z = y
    z = z / 2
    return y, z


@program((i64(100),))
def primes(n: Any) -> Any:
    count = 0
    for p in range(2, n):
        is_prime = True
        d = 2
        while d * d <= p:
            if p % d == 0:
                is_prime = False
                break
            d += 1
        if is_prime:
            count += 1
    return count


@program((A([1.0, 2.0, 3.0]), 0.1))
def gradient_descent(x: Any, rate: Any) -> Any:
    w = np.zeros_like(x)
    for step in range(20):
        g = 2 * (w - x)
        w = w - rate * g
        if np.max(np.abs(g)) < 0.5:
            break
    return w, step


@program((i64(4),))
def loop_variable_after(n: Any) -> Any:
    last = -1
    for i in range(n):
        last = i
    for j in range(3):
        pass
    return last, j


@program((A([1, 2, 3, 4, 5, 6]), i64(2)))
def dynamic_slices(x: Any, k: Any) -> Any:
    return x[k:], x[:k], x[-k:], x[k], x[::k]


@program((A([3.0, -1.0]),), (A([-3.0, -1.0]),))
def any_all(x: Any) -> Any:
    if np.any(x > 0):
        return "positive".upper() == "POSITIVE", np.sum(x)
    return False, np.sum(-x)


@program((i64(5),))
def global_constant(n: Any) -> Any:
    return n * SCALE + TABLE[1] + len(NAMES)


SCALE = 3
TABLE = np.array([10, 20, 30])
NAMES = ["a", "b"]


@program((A([0.1, 0.2]), A([[1.0, 2.0], [3.0, 4.0]])))
def layers(x: Any, w: Any) -> Any:
    h = x
    for layer in range(3):
        h = np.tanh(h @ w)
        if layer == 1:
            h = h + x
    return h, np.exp(h) / np.sum(np.exp(h))


@program((i64(3),), (i64(-3),))
def conditional_none(n: Any) -> Any:
    best = None
    for i in range(5):
        if best is None or i > best:
            best = i
    return best + n


@program((f32(1.5),), (f32(-1.5),))
def lambdas_in_branch(x: Any) -> Any:
    f: Any = (lambda v: v + 1)
    return f(x) if x > 0 else f(-x)


@program((A([1, 2, 3]),), (A([4, 5, 6, 7]),))
def sizes_change(x: Any) -> Any:
    return x.shape[0], len(x), x.size, np.zeros(len(x)) + x


@program((2, 3), (5, 0))
def while_counts(a: Any, b: Any) -> Any:
    out = 1
    while b > 0:
        out *= a
        b -= 1
    return out


@program((A([1.0, 2.0, 3.0]), i64(1)))
def ternary_arrays(x: Any, k: Any) -> Any:
    y = x if k > 0 else x[:2]
    return y.sum()


@program((A([1, -1, 2]),))
def string_state(x: Any) -> Any:
    label = "none"
    n = 0
    for v in x:
        n += 1 if v > 0 else -1
    return label, n


class Filter:
    """A method of an object whose attributes are arrays."""

    def __init__(self, taps: Any) -> None:
        self.taps = taps

    def apply(self, x: Any) -> Any:
        out = []
        for i in range(len(x) - len(self.taps) + 1):
            out.append(np.sum(x[i:i + len(self.taps)] * self.taps))
        return np.array(out)


FILTER = Filter(np.array([0.25, 0.5, 0.25]))


@program((A([1.0, 2.0, 4.0, 8.0, 16.0]),))
def method_of_object(x: Any) -> Any:
    return FILTER.apply(x)


@program((A([1.0, -2.0, 3.0, -4.0]),))
def mask_assignment(x: Any) -> Any:
    y = x.copy()
    y[y < 0] = 0
    y[1:3] += 10
    y[-1] = y[0]
    m = np.zeros((2, 3))
    m[0] = 1
    m[:, 2] += 5
    m[1, 0] = y[2]
    return y, m


@program((i64(4),))
def starred(n: Any) -> Any:
    first, *rest = [n, n + 1, n + 2]
    def add(*args: Any, base: Any = 0, **more: Any) -> Any:
        total = base
        for a in args:
            total += a
        return total + more.get("extra", 0)
    return first, rest, add(1, 2, n), add(*rest, base=n, extra=5), add(**{"base": 3})


@program((A([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), i64(0)))
def breadth_first(edges: Any, start: Any) -> Any:
    n = edges.shape[0]
    seen = np.zeros(n, dtype=bool)
    queue = [start]
    order = []
    while len(queue) > 0:
        node = queue.pop()
        if seen[node]:
            continue
        seen[node] = True
        order.append(node)
        for j in range(n):
            if edges[node, j] != 0:
                queue.append(i64(j))
    return order, seen


@program((A([3, 1, 2]), None), (A([3, 1, 2]), 2))
def optional_argument(x: Any, k: Any) -> Any:
    if k is None:
        k = 1
    return x * k


@program((A([1.0, 2.0, 3.0]),))
def generators(x: Any) -> Any:
    return (sum(v for v in x), max(abs(v - 2) for v in x), any(v > 2 for v in x), all(v > 0 for v in x),
            min((v * v for v in x)), [a + b for a in (1, 2) for b in (10, 20)], sorted(x), list(x), tuple(x))


@program((A([1.0, 2.0, 3.0]), 2))
def more_numpy(x: Any, k: Any) -> Any:
    return (np.stack([x, x * k]), np.vstack([x, x]), np.hstack([x, x]), np.tile(x, 2), np.repeat(x, k), np.flip(x),
            np.roll(x, 1), x[np.newaxis, :].shape, np.expand_dims(x, 1), np.squeeze(x[None]), np.maximum(x, 2),
            np.sqrt(x).round(2), np.floor(x / 2), np.sign(x - 2), np.isnan(x), np.full(3, k), np.ones((2, 2)) * k,
            np.zeros_like(x), np.diff(x), np.argsort(-x), np.median(x), np.linalg.norm(x), np.allclose(x, x),
            np.tensordot(x, x, 1), np.einsum("i,j->ij", x, x), np.trace(np.outer(x, x)), np.log1p(x), np.exp(x).max(),
            np.eye(3) @ x, np.count_nonzero(x > 1), np.power(x, 2), np.mod(x, 2), np.minimum(x, k), x.astype(np.int32))


@program((A([1, 2, 3], dtype=np.int32), A([200, 100, 3], dtype=np.uint8)))
def integer_dtypes(a: Any, b: Any) -> Any:
    return a + b, a * 2, b // 7, b % 7, a << 1, b >> 1, a ** 2, -a, a / b, a.sum(), b.sum(), a.mean(), b.max(), ~b, a == b


@program((2.7,), (-2.7,), (2.5,), (3.0,))
def rounding(x: Any) -> Any:
    return int(x), round(x), math.floor(x), math.ceil(x), math.trunc(x), round(x, 1), x // 1, x % 1, divmod(x, 0.7)


@program((i64(3),), (i64(0),))
def while_with_list_condition(n: Any) -> Any:
    stack = [n, n + 1]
    total = 0
    while stack:
        v = stack.pop()
        total += v
        if v > 1:
            stack.append(v - 2)
    return total


@program((A([2.0, 3.0]), A([True, False])))
def print_structures(x: Any, m: Any) -> Any:
    print((1, 2.5), [x[0], 3], {"a": x[1]})
    print(f"{x}", m, m[0], sep="|", end="!\n")
    print(f"{x[0]:8.3f}|{x[1]:.1e}|{3:>5}|{True}")
    return x


def factorial(n: Any) -> Any:
    return 1 if n == 0 else n * factorial(n - 1)


@program((i64(3),))
def static_recursion(x: Any) -> Any:
    return x * factorial(5)


@program((A([1.0, 2.0, 3.0, 4.0]), i64(3)))
def for_else_return(x: Any, k: Any) -> Any:
    for i, v in enumerate(x, start=1):
        if v * i > k:
            return i
    else:
        return -1


@program((i64(2),), (i64(7),))
def nested_functions_with_state(n: Any) -> Any:
    log = []

    def note(v: Any) -> Any:
        log.append(v)
        return len(log)

    k = 0
    while k < n:
        k = note(k * 2)
    return log, k


@program((A([[1.0, 2.0], [3.0, 4.0]]),))
def power_iteration(m: Any) -> Any:
    v = np.ones(m.shape[0])
    for _ in range(50):
        w = m @ v
        w = w / np.sqrt(np.sum(w * w))
        if np.max(np.abs(w - v)) < 1e-9:
            break
        v = w
    return v, v @ (m @ v)


@program((f32(1.0),), (f32(50.0),))
def two_loops_share(x: Any) -> Any:
    n = 0
    while x < 10:
        x = x * 2
        n += 1
    while x > 3:
        x = x / 3
        n -= 1
    return x, n


@program((A([1, 5, 2, 8, 3]),))
def max_with_index(x: Any) -> Any:
    best, at = x[0], 0
    for i in range(1, len(x)):
        if x[i] > best:
            best, at = x[i], i
    return best, at


@program((A([1.0, 2.0, 3.0]), A([0.5])))
def closure_over_argument(x: Any, scale: Any) -> Any:
    f: Any = lambda v: v * scale[0]
    return [f(v) for v in x], f(x)


@program((i64(12),))
def string_choice(n: Any) -> Any:
    kind = "even" if 12 % 2 == 0 else "odd"
    return n * 2 if kind == "even" else n * 3


@program((A([4.0, 1.0, 3.0]), True), (A([4.0, 1.0, 3.0]), False))
def bool_argument(x: Any, ascending: Any) -> Any:
    y = np.sort(x)
    return y if ascending else y[::-1]


@program((A([1.0, 2.0]), A([[1.0, 2.0], [3.0, 4.0]])))
def matrix_products(v: Any, m: Any) -> Any:
    return m @ v, v @ m, m @ m, v @ v, m.T @ v, np.dot(m, v), np.matmul(m, m), m.dot(v)


@program((i64(5), i64(3)))
def chained(a: Any, b: Any) -> Any:
    return 1 < b < a, a == b == 3, a > b != 3, (a > 3) & (b > 3), (a > 3) | (b > 3), not (a > b), a and b, 0 or b


@program((complex(1, 2), A([1 + 1j, 2 - 1j])))
def complex_numbers(c: Any, z: Any) -> Any:
    return z * 2, z + c, np.abs(z), z.real, z.imag, np.conj(z)


@program((A([], dtype=np.float64),), (A([1.0, 2.0]),))
def possibly_empty(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += v
    n = len(x)
    return total / n if n > 0 else 0.0


@program((f32(3.0),), (f32(500.0),))
def endless_with_return(x: Any) -> Any:
    while True:
        x = x * 2
        if x > 100:
            return x


@program((f32(3.0),), (f32(30.0),))
def endless_with_returns_and_break(x: Any) -> Any:
    n = 0
    while True:
        x = x * 2
        n += 1
        if x > 100:
            return x, n
        if n > 3:
            break
    return -x, n


@program((i64(6),), (i64(1),))
def growing_list_uses(n: Any) -> Any:
    items = [0]
    for i in range(n):
        items.append(i * i)
    items[0] = 100
    items[-1] = items[-1] + 1
    total = 0
    for v in items:
        total += v
    return (items[-1], items[0], len(items), sum(items), max(items), np.array(items), 4 in items, sorted(items),
            total / len(items), items + [n])


@program((i64(5),))
def ranges(n: Any) -> Any:
    out = []
    for i in range(n, 0, -1):
        out.append(i)
    for i in range(0, n, 2):
        out.append(-i)
    for i in range(3, n):
        out.append(i * 100)
    return out


@program((A([[1, 2], [3, 4], [5, 6]]),))
def unpacked_rows(m: Any) -> Any:
    total = 0
    for a, b in m:
        total += a * b
    for i, (a, b) in enumerate(m):
        total += i * (a - b)
    return total, m.sum(axis=0), m.sum(axis=1, keepdims=True), m.max(1), m.mean(0)


@program(([1, 2, 3], {"a": A([1.0, 2.0]), "b": 2.0}))
def structured_arguments(items: Any, d: Any) -> Any:
    total = d["b"]
    for v in items:
        total = total + v
    return total, d["a"] * items[0], [v * 2 for v in items], {"x": d["a"].sum()}


@program((A([1.0, 2.0, 3.0, 4.0, 5.0]),))
def shrinking(x: Any) -> Any:
    n = 0
    while len(x) > 1:
        x = x[1:] + x[:-1]
        n += 1
    return x, n


@program((i64(4),))
def growing_array(n: Any) -> Any:
    x = np.zeros(1)
    while len(x) < n:
        x = np.concatenate([x, np.array([len(x) * 2.0])])
    return x


def is_even(n: Any) -> Any:
    return True if n == 0 else is_odd(n - 1)


def is_odd(n: Any) -> Any:
    return False if n == 0 else is_even(n - 1)


@program((i64(4),))
def mutual_recursion(x: Any) -> Any:
    return x if is_even(10) else -x


@program((A([1.0, 2.0]), lambda v: v + 1))
def function_argument(x: Any, f: Any) -> Any:
    return f(f(x))


@program((A([3, 1, 2]), A([2, 0])))
def index_array(x: Any, at: Any) -> Any:
    return x[at], x[at[0]], np.take(x, at)


@program((i64(3),), (i64(10),))
def nested_while_returns(n: Any) -> Any:
    i = 0
    while i < n:
        j = 0
        while j < n:
            if i * j > 5:
                return i, j
            j += 1
        i += 1
    return -1, -1


@program((A([1.0, 2.0, 3.0]),))
def kind_checks(x: Any) -> Any:
    return isinstance(x, np.ndarray), x.dtype == np.float64, x.ndim, x.shape == (3,), type(x[0]) is np.float64


@program((f32(2.0), f32(3.0)))
def swap_in_loop(a: Any, b: Any) -> Any:
    for _ in range(3):
        a, b = b, a + b
        if a > b:
            a, b = b, a
    return a, b


@program((i64(20),))
def sieve(n: Any) -> Any:
    flags = np.ones(30, dtype=bool)
    flags[0] = False
    flags[1] = False
    i = 2
    while i * i <= n:
        if flags[i]:
            j = i * i
            while j <= n:
                flags[j] = False
                j += i
        i += 1
    return np.nonzero(flags[:21])[0], flags[:21].sum()


@program((A([[4.0, 1.0], [1.0, 3.0]]), A([1.0, 2.0])))
def conjugate_gradient(m: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    r = b - m @ x
    p = r
    steps = 0
    while np.sqrt(r @ r) > 1e-10:
        a = (r @ r) / (p @ m @ p)
        x = x + a * p
        new = r - a * (m @ p)
        p = new + ((new @ new) / (r @ r)) * p
        r = new
        steps += 1
    return x, steps


@program((i64(10),), (i64(0),))
def state_machine(n: Any) -> Any:
    state = 0
    counts = [0, 0, 0]
    for i in range(n):
        if state == 0:
            counts[0] += 1
            state = 1
        elif state == 1:
            counts[1] += 1
            state = 2 if i % 2 else 0
        else:
            counts[2] += 1
            state = 0
    return state, counts


@program((i64(10),))
def matrix_state(n: Any) -> Any:
    m = np.array([[1, 1], [1, 0]])
    r = np.eye(2, dtype=np.int64)
    for _ in range(n):
        r = r @ m
    return r[0, 1]


@program((A([1.0, 5.0, 2.0]), f32(1.5)))
def returns_none_on_both(x: Any, k: Any) -> None:
    if k > 1:
        print("large")
        return
    print("small")


@program((A([3.0, 1.0, 2.0]),))
def insertion_sort(x: Any) -> Any:
    y = np.array(x)
    for i in range(1, len(y)):
        v = y[i]
        j = i - 1
        while j >= 0 and y[j] > v:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = v
    return y


@program((i64(3),))
def dataclass_in_list(n: Any) -> Any:
    points = [Point(1.0, 2.0), Point(3.0)]
    for p in points:
        p.x += n
    return [p.x for p in points], points[1]


@program((A([1, 2, 3, 4]), i64(3)))
def find_or_default(x: Any, key: Any) -> Any:
    at = next_index(x, key)
    if at is not None:
        return at
    return -1


def next_index(x: Any, key: Any) -> Any:
    for i in range(len(x)):
        if x[i] == key:
            return i
    return -2


@program((complex(1, 2),), (complex(-3.5, 0),))
def parts_of_a_complex_number(c: Any) -> Any:
    return c.real, c.imag, c.conjugate(), abs(c.conjugate() - c)


@program((2.0,), (-1.0,))
def known_arrays_among_numbers(x: Any) -> Any:
    k = np.int64(3)
    found = [k in (1, 2, 3), k in [4, 5], k in range(5), k not in range(3), k in {3, 4}, 3 in {k}, k in {3: 0}]
    numbers: Any = [np.int64(4), k, k]
    at = numbers.index(3), (np.int64(4), k).index(k), numbers.count(3), (k, 3).count(3)
    numbers.remove(4)
    table: Any = {(k, "a"): x, (np.int64(4), "a"): 2 * x}
    return found, at, len(numbers), table[3, "a"] - table[4, "a"]


@program((i64(2),))
def sorted_in_place(x: Any) -> Any:
    words = ["lemon", "fig", "apple"]
    words.sort()
    numbers: Any = [np.int64(4), -3, 1]
    numbers.sort(key=lambda n: n * n, reverse=True)
    return words, [n * x for n in numbers]


@program((i64(3),), (i64(1),))
def structures_in_a_growing_list(n: Any) -> Any:
    points, pairs, records, rows = [], [], [], []
    for i in range(n):
        points.append(Point(i, 0.5 * i))
        pairs.append(Pair(i, i * i))
        records.append({"index": i, "point": Point(i + 1, i)})
        rows.append([i, 2.0 * i])
    return points, pairs, records, rows


@dataclass
class Modular:
    value: int

    def __matmul__(self, other: Any) -> Any:
        return Modular(self.value * other.value % 7)

    def __add__(self, other: Any) -> Any:
        return Modular((self.value + (other.value if isinstance(other, Modular) else other)) % 7)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rsub__(self, other: Any) -> Any:
        return Modular((other - self.value) % 7)


@program((i64(5),), (i64(3),))
def operators_of_a_dataclass(x: Any) -> Any:
    m = Modular(x)
    return (m @ m + m).value, (1 + m).value, (1 - m).value


@program((i64(-5), 2.5, np.uint64(2**64 - 1)))
def formats_of_numbers(n: Any, x: Any, u: Any) -> None:
    print(f"{n:+d}|{n:06d}|{n: 5d}|{n:d}|{u:d}|{u}")
    print(f"{x:.3g}|{x:8.2f}|{x:+.1f}|{x:.1%}|{x:010.3e}")


@program((i64(3), 3.0), (i64(-12), 0.5))
def texts_are_compared(n: Any, x: Any) -> Any:
    print("n=" + str(n), f"{n}" + f"{x}")
    return str(n) == "3", str(n) != "3", f"a{n}" == "a" + str(n), str(n) == n, str(n) in ("1", "-12"), "x" in [str(n)]


@program((2, 1.5), (0, -0.0))
def complex_of_two_parts(n: Any, x: Any) -> Any:
    return complex(n, x), complex(x, 2) * 1j, complex(x)


@program((2,), (0,))
def truth_of_ranges(n: Any) -> Any:
    return 1 if range(n) else 2, 1 if range(0) else 2, 1 if range(3, n) else 2


@program((float("nan"),), (1.0,))
def an_object_is_in_a_list_of_itself(x: Any) -> Any:
    return x in [2.0, x], x not in (x,), x in [2.0, 1.0]


@program((A([[1, -2, 3], [4, 5, 6]]), A([1.5, -2.0])), (A([[7]]), A([0.5])))
def conjugates_and_triangles(m: Any, x: Any) -> Any:
    return np.conjugate(m), x.conj(), np.conj(m[0]), np.tril(m, 1), np.triu(m, k=-1), np.tril(m), np.triu(m)


@program((i64(5), i64(-5)), (i64(5), i64(7)), (i64(1), i64(1)))
def list_extended_behind_a_return(n: Any, k: Any) -> Any:
    items: list[Any] = []
    if n > 3:
        if k > 0:
            if k > 5:
                return items
        items += [n, k]
    return items


@program((i64(5), i64(1)), (i64(-1), i64(2)))
def two_names_of_a_list_of_a_branch(n: Any, k: Any) -> Any:
    if n > 0:
        made = [n * 2]
        pair = (made, 1)
    else:
        made = [k]
        pair = (made, 2)
    made.append(3)
    pair[0].append(n)
    return made, pair


@program((i64(5), i64(1)), (i64(-1), i64(2)))
def list_under_another_name(n: Any, k: Any) -> Any:
    first = [1]
    if n <= 0:
        second = first
    else:
        return [k]
    second.append(n)
    return first


@program((i64(5), i64(1)), (i64(-1), i64(2)))
def lists_that_change_places(n: Any, k: Any) -> Any:
    a, b = [1], [2]
    if n > 0:
        a, b = b, a
    a.append(k)
    return a, b


OPTIONS: dict[str, Any] = {"axis": 0}
WINDOW = np.s_[1:3]


@program((A([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),))
def objects_of_outside(x: Any) -> Any:
    return np.sum(x, **OPTIONS), x[WINDOW], x[WINDOW, ::-1], {**OPTIONS, "k": 1}, list(zip([1, 2], [3, 4]))


@program((A([1.0, np.nan, 3.0]),), (A([3.0, 1.0, np.inf]),))
def numbers_that_are_none(x: Any) -> Any:
    return np.argmax(x), np.argmin(x), x * 0, np.median(x), max(x), min(x), x // 0.1, x % 0.3, np.sort(x)


@program((i64(5), i64(1)), (i64(-1), i64(2)))
def return_in_else_of_no_iteration(n: Any, k: Any) -> Any:
    low, high = 0.0, 0.5
    for _ in range(2):
        while low > high:
            low += 1
        else:
            if n > 0:
                return k, 1.75
    return n, 0.5


@program((i64(5), 2.5), (i64(-1234567), -1234567.891), (i64(0), 1e22), (i64(999), np.inf), (i64(-(1 << 62)), np.nan))
def formats_with_alignment(n: Any, x: Any) -> None:
    print(f"{n:>12}|{n:<12}|{n:^12}|{n:*^11}|{n:->25}|{n:é<4}|{n:1}|{n:+}")
    print(f"{n:,}|{n:_}|{n:>30,}|{n:+,d}")
    print(f"{x:30}|{x:<30}|{x:^30}|{x:*>30.3f}|{x:>12.1%}|{x:<12.2e}|")
    print(f"{x:,.2f}|{x:30,.3f}|{x:E}|{x:.3G}|{x:F}|{x:<+15.1f}|{x:_.0f}")
    print(f"{str(n):>9}|{str(n):9}|{f'{x:.2f}':^20}|{n > 1!s:>7}|{n:{3 + 4}}")


@program((i64(0), np.int8(-128), np.uint64((1 << 64) - 1)), (i64(-(1 << 63)), np.int8(127), np.uint64(9)),
         (i64(255), np.int8(-1), np.uint64(0)))
def formats_in_other_bases(n: Any, small: Any, large: Any) -> None:
    for k in (int(n), int(small), int(large) if large < 1 << 63 else 1):
        print(f"{k:x}|{k:X}|{k:b}|{k:o}|{k:#x}|{k:#X}|{k:#b}|{k:#o}|{k:+x}|{k: b}|{k:-o}|{k:08b}|{k:#010x}|{k:+#012o}")
        print(f"{k:<20x}|{k:>20b}|{k:^9o}|{k:*^9X}|{k:0<6x}|{k:3x}|{k:020X}|{k:é>9x}")
    print(f"{small:x}|{large:x}|{large:#b}|{small:o}")


@program((i64(5), 3.0), (i64(0), 3.0), (i64(-2), 1.0), (i64(7), 0.0))
def names_assigned_in_a_part_of_a_condition(n: Any, x: Any) -> Any:
    total, last = 0, -1.0
    while n > 0 and (v := n - 1) >= 1 and (w := v * x) >= 0:
        total += v
        last = w
        if v == 3:
            n -= 1
            continue
        n -= 1
    if x > 0 and (r := x * 2) > 4:
        total += 100
        last += r
    else:
        last -= 1
    if n == 0 and (s := x * 3) > 4 and s < 8:
        return n, 1, 2.0
    elif n < 0 and (s := x * 4) < 5:
        last += s
    return n, total, last


@program((i64(5),), (i64(-5),))
def deleted_variables(n: Any) -> Any:
    a, b, c = n + 1, n + 2, [n]
    total = 0
    for i in bf.range(3):
        step = a * i
        total += step
        del step
    del a, (b, c)
    a = total * 2
    if n > 0:
        extra = 7
        total += extra
        del extra
    return a, total


@program((A([1.0, 2.0, 3.0]), i64(2)))
def zip_with_iterators(x: Any, n: Any) -> Any:
    out = []
    for v, i in zip(x, itertools.count()):
        out.append(v * i)
    for i, k in zip(itertools.count(5, -2), range(3)):
        out.append(float(i * k * n))
    pairs = [(a * n, b) for a, b in zip((1, 2, 3), itertools.cycle("ab"))]
    for i, j in zip(bf.range(n), itertools.count(1)):
        out[0] = out[0] + i * j
    return out, pairs, list(zip([1, 2], (3, 4), strict=True))


@program((A([200, 100], np.uint8), np.float32(0.1), True), (A([3, 7], np.uint8), np.float32(1e20), False))
def dtypes_of_the_rules(x: Any, y: Any, b: Any) -> Any:
    flags = x > 100
    print(f"{y} {y!s} {y!r} {flags[0]!r}", [flags[1]])
    return (np.add(x, x, dtype=int), np.multiply(x, 2, dtype=np.uint16), np.true_divide(x, 3, dtype=np.float32), flags**2,
            flags**3, np.median(x.astype(np.int8)), np.median(flags), np.einsum("i,i", flags, flags), np.gcd(x, 6))


@program((A([1.0, np.nan, 3.0]), A([1 + 2j, 3 - 1j])))
def arguments_that_are_rare(x: Any, z: Any) -> Any:
    m = np.reshape(z, (2, 1)) * z
    is_good = ~np.isnan(x)
    return (np.isclose(x, x, equal_nan=True), np.allclose(x, x, equal_nan=True), np.array(x, ndmin=3), m.ravel(order="F"),
            m.flatten("F"), m.reshape((1, 4), order="F"), np.vdot(z, z), np.vdot(m, m), np.isnan(z), np.nanargmax(x),
            np.sum(x, where=is_good), np.max(x, where=is_good, initial=2.0), np.all(x > 0, where=is_good),
            np.prod(x, where=is_good, initial=2.0))


@program((A([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0]]),), (np.ones((2, 2)),))
def ranks(m: Any) -> Any:
    return np.linalg.matrix_rank(m), np.linalg.pinv(m)


class Named(NamedTuple):
    a: int
    b: float = 1.5


@program((i64(6), 2.5))
def attributes_of_numbers(n: Any, x: Any) -> Any:
    pair = Named(n)
    return pair._fields, pair._asdict(), (n * 1.5).is_integer(), n.bit_count(), x.is_integer()


@program((A([1.0, 2.0]), i64(3), 2.5))
def attributes_by_names(x: Any, n: Any, f: Any) -> Any:
    values = [x, x[0], n, f, Named(n), [n], {"a": n}, f"{n}", np.sum]
    names = ["sum", "shape", "is_integer", "__len__", "real", "a", "append", "keys", "upper", "outer", "none"]
    return [[hasattr(v, name) for name in names] for v in values], getattr(x, "none", n), getattr(x, "size", None)


@program((A([[4.0, 1.0], [1.0, 5.0], [2.0, 2.0]]),), (A([[1.0, 2.0], [3.0, -4.0], [0.5, 1.0]], np.float32),))
def decompositions(m: Any) -> Any:
    q, r = np.linalg.qr(m)
    made = np.linalg.slogdet(-m[:2])
    return q, r, np.linalg.qr(m, mode="r"), np.linalg.qr(m).Q, made.sign, made.logabsdet, np.linalg.slogdet(m.T @ m)


@program((A([[4.0, 1.0], [1.0, 5.0], [2.0, 2.0]]),), (A([[1.0, 2.0, 0.5], [3.0, -4.0, 1.0]], np.float32),))
def decompositions_with_vectors(m: Any) -> Any:
    # The signs of vectors are free: what is compared does not depend on them.
    square = m.T @ m
    made = np.linalg.eigh(square)
    upper = np.linalg.eigh(np.triu(square), UPLO="U").eigenvectors
    return made.eigenvalues, np.abs(made.eigenvectors)[:, -1:], np.abs(upper)[:, -1:], np.linalg.svdvals(m)


@program((A([[4.0, 1.0], [1.0, 5.0], [2.0, 2.0]]), A([1.0, 2.0, 3.0])), (A([[4.0, 1.0], [8.0, 2.0], [2.0, 0.5]]), A([1.0, 2.0, 3.0])),
         (A([[1.0, 2.0, 0.5], [3.0, -4.0, 1.0]], np.float32), A([[1.0, 2.0], [0.5, 1.0]], np.float32)),
         (A([[1, 2], [3, 4], [5, 7]]), A([1, 0, 2])))
def least_squares(a: Any, b: Any) -> Any:
    return np.linalg.lstsq(a, b, rcond=None), np.linalg.lstsq(a, b, rcond=1e-3)[0]


@program((A([3.0, 1.0, 2.0, -5.0]),), (A([[3, 1, 2], [9, 7, 8]]),))
def partitions(x: Any) -> Any:
    flat = np.partition(x, 2, axis=None)
    return flat[2], np.max(flat[:2]), np.partition(x, (0, -1))[..., [0, -1]], np.argpartition(x, 1)[..., 1], x.argpartition(0)[..., 0]
