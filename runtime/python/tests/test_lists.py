"""Lists of lists whose lengths are only known when the function runs: what comes back, and what is refused."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import befrost as bf


def numbers(value: Any) -> Any:
    """A result with Python's numbers in it."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(numbers, value))
    if isinstance(value, dict):
        return {key: numbers(part) for key, part in value.items()}
    return value.item() if hasattr(value, "item") else value


@dataclasses.dataclass
class Row:
    first: int
    rest: list[Any]


def triangle(n: Any) -> Any:
    rows = []
    for i in bf.range(n):
        row = []
        for j in bf.range(i):
            row.append(j * 1.5)
        rows.append(row)
    return rows


def pairs(n: Any) -> Any:
    rows = []
    for i in bf.range(n):
        row = []
        for j in bf.range(i):
            row.append((j, [j * 0.5, 1.0]))
        rows.append(row)
    total = 0.0
    for row in rows:
        for a, b in row:
            total += b[0] + a
    return total, len(rows[-1]), rows


def cube(n: Any) -> Any:
    planes = []
    for i in bf.range(n):
        rows = []
        for j in bf.range(i):
            row = []
            for k in bf.range(j):
                row.append(i + j + k)
            rows.append(row)
        planes.append(rows)
    return planes


def changed(n: Any) -> Any:
    rows = []
    for i in bf.range(n):
        row = [0]
        for j in bf.range(i):
            row.append(j)
        rows.append(row)
    second = list(rows[1])
    second.append(7)
    rows[1] = second
    last = rows.pop()
    return rows, last


def structures(n: Any) -> Any:
    out = []
    for i in bf.range(n):
        out.append({"a": i, "b": [i, i + 1]})
    return out


def none_at_all(n: Any) -> Any:
    rows = []
    for i in bf.range(n - n):
        row = []
        for j in bf.range(i):
            row.append(j)
        rows.append(row)
    return rows, len(rows)


@pytest.mark.parametrize("f", [triangle, pairs, cube, changed, structures, none_at_all])
@pytest.mark.parametrize("level", [0, 2])
def test_as_in_python(f: Any, level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = bf.function(f, level=level)
    made = [numbers(compiled(np.int64(n))) for n in (3, 5)]
    monkeypatch.setattr(bf, "range", range)
    assert made == [numbers(f(np.int64(n))) for n in (3, 5)]


def test_dataclasses_come_back() -> None:
    @bf.function
    def f(n: Any) -> Any:
        rows = []
        for i in bf.range(n):
            rows.append(Row(i, [i, i]))
        return rows

    assert [(numbers(row.first), numbers(row.rest)) for row in f(np.int64(2))] == [(0, [0, 0]), (1, [1, 1])]


def changed_through_an_item(n: Any) -> Any:
    rows = []
    for i in bf.range(n):
        rows.append([i, i + 1])
    rows[0][1] = 99
    return rows


def changed_after_it_was_appended(n: Any) -> Any:
    rows = []
    for i in bf.range(n):
        row = [i]
        if i > 1:
            rows.append(row)
        row[0] = 3
    return rows


def changed_in_the_next_iteration(n: Any) -> Any:
    rows = []
    row = [0]
    for i in bf.range(n):
        row[0] = i
        rows.append(row)
    return rows


def changed_by_another_name(n: Any) -> Any:
    rows = [[1], [2]]
    first = rows[0]
    for i in bf.range(n):
        rows.append([i])
    first.append(5)
    return rows


@pytest.mark.parametrize("f", [changed_through_an_item, changed_after_it_was_appended, changed_in_the_next_iteration,
                               changed_by_another_name])
def test_changes_that_the_list_would_not_see_are_refused(f: Any) -> None:
    with pytest.raises(bf.CompileError, match="is an item of a list whose length is only known when it runs"):
        bf.function(f)(np.int64(4))


def lengths_differ(n: Any) -> Any:
    out = []
    for i in bf.range(n):
        if i % 2 == 0:
            out.append([i])
        else:
            out.append([i, i])
    return out


def nothing_in_them(n: Any) -> Any:
    out: list[Any] = []
    for i in bf.range(n):
        out.append([])
    return len(out)


@pytest.mark.parametrize("f, message", [(lengths_differ, "differ in length"), (nothing_in_them, "neither numbers nor")])
def test_what_has_no_form_in_the_graph_is_refused(f: Any, message: Any) -> None:
    with pytest.raises(bf.CompileError, match=message):
        bf.function(f)(np.int64(4))
