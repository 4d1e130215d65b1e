"""Programs that change lists and arrays, also while others see them, for `test_programs`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

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
