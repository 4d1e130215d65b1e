"""Programs that change lists and arrays, also while others see them, and of classes with operators, for `test_programs`."""

import math
from dataclasses import dataclass, field
from typing import Any, Iterator, NamedTuple

import numpy as np

import befrost as bf
from programs import program

A = np.array
i64 = np.int64
X = A([3.0, -1.0, 2.0, 7.0])


@program((i64(6),), (i64(0),))
def list_that_grows_under_its_loop(n: Any) -> Any:
    queue, total = [n], 0
    for v in queue:
        if v > 0:
            queue.append(v - 1)
            if v % 2 == 0:
                queue.append(v // 2 - 1)
        total += v
    return total, len(queue)


@program((A([5, -3]),))
def list_that_grows_to_a_known_length(x: Any) -> Any:
    items = [x[0], x[1]]
    for v in items:
        if len(items) < 5:
            items.append(v + 1)
    return items


@program((i64(5),))
def enumerate_of_a_list_that_grows(n: Any) -> Any:
    items = [n]
    for i, v in enumerate(items):
        if v > 0:
            items.append(v - 1)
        items[0] = items[0] + i
    return items


@program((i64(5),), (i64(1),))
def zip_with_a_list_that_grows(n: Any) -> Any:
    items, total = [n], 0
    for a, b in zip(items, [1, 2, 3]):
        if a > 0:
            items.append(a - 1)
        total = total * 3 + a * b
    return items, total


@program((i64(9),))
def list_that_shrinks_under_its_loop(n: Any) -> Any:
    items, total = [], 0
    for i in range(n):
        items.append(i)
    for v in items:
        total = total * 3 + v
        items.pop()
    return total, items


@program((i64(3),))
def list_that_is_extended_by_itself(n: Any) -> Any:
    items = []
    for i in range(n):
        items.append(i)
    items.extend(items)
    items += items
    return items


@program((i64(3),))
def items_assigned_under_a_loop(n: Any) -> Any:
    items, total = [1, 2, 3, 4], 0
    for v in items:
        if v > n:
            break
        items[-1] = v + n
        total = total * 10 + v
    return total, items


@program((X,))
def list_of_two_types_that_grows(x: Any) -> Any:
    items: Any = [x, "text"]
    n = 0
    for _ in items:
        if len(items) < 4:
            items.append(1)
        n += 1
    return n


@program((X, i64(4)), (X, i64(0)))
def array_assigned_under_its_loop(x: Any, n: Any) -> Any:
    y, total = x.copy(), 0.0
    for i, v in enumerate(y):
        if n > i:
            y[3] += v
        total += v
    return total, y


@program((X,))
def another_array_under_a_loop(x: Any) -> Any:
    y, total = x.copy(), 0.0
    for v in y:
        y = y + 1
        total += v
    return total, y


@dataclass
class Holder:
    z: Any
    n: int = 0


@program((X, i64(2)), (X, i64(0)))
def elements_of_attributes(x: Any, n: Any) -> Any:
    s = Holder(np.zeros(4))
    for i in range(n):
        s.z[i] = x[i]
        s.z[-1] += 1
        s.n += 1
    s.z += 1
    return s.z, s.n


@program((X, i64(2)))
def elements_of_items(x: Any, n: Any) -> Any:
    d = {"a": np.zeros(4), "b": np.ones((2, 2))}
    many = [np.zeros(2), np.zeros(2)]
    for i in range(n):
        d["a"][i] = x[i]
        d["b"][0, i] -= x[i]
        d["b"][1][0] = i
        many[1][i] += x[i]
    d["a"] *= 2
    many[0][1] = 5
    return d, many


@program((X, i64(3)))
def elements_assigned_by_a_closure(x: Any, n: Any) -> Any:
    y, count = np.zeros(4), 0

    def put(i: Any, v: Any) -> None:
        nonlocal count
        y[i] = v
        count += 1

    while count < n:
        put(count, x[count])
    return y, count


@program((A([[2.0, 1.0], [1.0, 3.0]]), i64(2)))
def elimination(a: Any, n: Any) -> Any:
    m = a.copy()
    for k in range(n):
        m[k] /= m[k, k]
        for i in range(n):
            if i != k:
                m[i] -= m[i, k] * m[k]
    return m


@program((X, i64(3)))
def rows_that_are_appended(x: Any, n: Any) -> Any:
    rows = []
    for i in range(n):
        row = np.zeros(2)
        row[0] = i
        row += x[i]
        rows.append(row)
    return rows


@program((X,), (-X,))
def iterator_of_a_variable(x: Any) -> Any:
    def total_of(items: Any) -> Any:
        return sum(items)

    pairs = zip(x, range(4))
    factor = 1 if x[0] > 0 else 2
    total = 0
    for a, b in pairs:
        total += a * b * factor
    doubled = (v * 2 for v in x)
    return total, total_of(doubled)


@program((i64(7), i64(2)), (i64(7), i64(-3)))
def methods_of_a_list_of_staged_length(n: Any, k: Any) -> Any:
    items = []
    for i in range(n):
        items.append((i * i) % 11)
    popped = items.pop(0), items.pop(k), items.pop(-2)
    items.insert(1, 100)
    items.insert(-1, 200)
    items.insert(50, 300)
    items.insert(-50, 400)
    at = items.index(100)
    items.remove(300)
    items.reverse()
    return popped, at, items, items.count(5), len(items)


@program((X, i64(2)), (X, i64(-1)))
def pop_at_a_staged_index(x: Any, k: Any) -> Any:
    items = [x[0], x[1], x[2], x[3]]
    return items.pop(k), items, items.index(x[0])


@program((i64(10),))
def breadth_first(n: Any) -> Any:
    distances = np.full(12, -1)
    distances[0] = 0
    queue = [0]
    while queue:
        v = queue.pop(0)
        for w in ((v * 2) % n, (v + 3) % n):
            if distances[w] < 0:
                distances[w] = distances[v] + 1
                queue.append(w)
    return distances


class Pair(NamedTuple):
    x: Any
    y: Any

    def __add__(self, other: Any) -> Any:
        return Pair(self.x + other.x, self.y + other.y)

    def __mul__(self, factor: Any) -> Any:
        return Pair(self.x * factor, self.y * factor)

    def __rmul__(self, factor: Any) -> Any:
        return self * factor

    def __neg__(self) -> Any:
        return Pair(-self.x, -self.y)

    def __eq__(self, other: Any) -> Any:
        return self.x == other.x

    def __str__(self) -> str:
        return f"<{self.x:.2f}, {self.y:.2f}>"

    def __contains__(self, value: Any) -> Any:
        return value == self.y

    def __call__(self) -> Any:
        return self.x


@program((Pair(1.0, 2.0), 3.0), (Pair(-1.0, 2.5), 0.5))
def operators_of_a_named_tuple(v: Any, k: Any) -> Any:
    w, u = v + v * k, k * v
    print(v, f"{v}", str(w))
    w += v
    return w.x, w.y, (-v).y, v == w, v != w, 2.0 in v, v(), u.x


@program((i64(5),))
def named_tuples_of_a_loop(n: Any) -> Any:
    v = Pair(0.0, 1.0)
    for i in range(n):
        v = v + Pair(1.0, 2.0) * i
    return v.x, v.y


@dataclass
class Vector:
    x: Any
    y: Any
    tag: str = field(default="", compare=False)

    def __lt__(self, other: Any) -> Any:
        return self.x < other.x

    def __iadd__(self, other: Any) -> Any:
        self.x = self.x + other
        return self

    def __setitem__(self, i: int, value: Any) -> None:
        self.x = value * i

    def __getitem__(self, i: int) -> Any:
        return self.x if i == 0 else self.y

    def __iter__(self) -> Iterator[Any]:
        return iter((self.x, self.y))

    def __abs__(self) -> Any:
        return math.hypot(self.x, self.y)

    def __neg__(self) -> Any:
        return Vector(-self.x, -self.y)


@program((2.0, 1.5), (-2.0, 4.0))
def operators_of_a_dataclass(x: Any, y: Any) -> Any:
    d = Vector(x, y)
    e = d
    d += 1
    d[2] = d.x
    a, b = d
    return (e.x, d[0], d[1], a, b, abs(d), (-d).y, d < Vector(0.0, y), Vector(x, y, "a") == Vector(x, y, "b"),
            Vector(x, y) != Vector(x + 1, y), [v for v in d])


@program((X, i64(2)), (X, i64(0)))
def state_of_a_loop(x: Any, n: Any) -> Any:
    state: Any = {"sum": 0.0, "seen": [], "best": (0, -1.0), "inner": {"k": 0, "items": [1]}}
    seen, inner = state["seen"], state["inner"]
    for i in range(n):
        state["sum"] += x[i]
        state["seen"].append(x[i])
        state["inner"]["k"] += i
        inner["items"].append(i)
        if x[i] > state["best"][1]:
            state["best"] = (i, x[i])
            seen.append(0.0)
    return state, seen, inner


@program((X, i64(3)), (X, i64(1)))
def conditions_of_lists_and_numbers(x: Any, n: Any) -> Any:
    queue, k = [x[0]], 0
    empty: list[int] = []
    while queue and k < n:
        k += 1
        queue.append(x[k])
    assert queue and n, "never"
    is_few = not (queue and n > 1)
    which = 1 if (n and queue) or empty else 2
    return k, queue, is_few, which, [i for i in range(n) if queue and i]


@program((A([[1.0, 2.0], [3.0, 5.0]]),))
def weights_of_an_axis(m: Any) -> Any:
    return np.average(m, axis=1, weights=[1, 2]), np.average(m, axis=0, weights=m[0]), np.average(m, weights=m)


@program((np.ones(3), i64(2)), (np.ones(3), i64(-2)))
def lists_changed_on_one_way_and_new_on_the_other(x: Any, n: Any) -> Any:
    appended, extended, doubled, inner = [], [n], [], [n]
    outer, pair = [inner], (inner, 1)
    if n > 0:
        appended.append(n)
        for v in x:
            extended += [n + int(v), 1]
        for _ in bf.range(n):
            doubled.append(n)
        inner.append(n)
    else:
        appended = [n, n]
        extended = []
        doubled = [v * 2 for v in doubled]
        outer = [[n, n]]
        pair = ([n, n + 1], 1)
    return appended, len(extended), doubled, outer[0], pair[0], inner


@program((i64(3),), (i64(0),))
def lists_that_a_loop_changes_under_another_name(n: Any) -> Any:
    a, other = [n], [n, n]
    first, second = [1], [n, n]
    for _ in bf.range(n):
        other.append(n)
        a = other
    k = n * 1
    while k > 0:
        first.append(k)
        first, second = second, first
        k = k - 1
    return a, first, second
