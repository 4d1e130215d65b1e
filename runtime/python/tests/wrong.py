# mypy: ignore-errors
"""Functions that cannot be compiled, or fail when they run: the line is marked `# HERE`, a second one `# NOTE`."""

import random
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

WRONG = []
FAILING = []
A = np.array
i64 = np.int64


@dataclass
class Point:
    x: float


def wrong(words, *args):
    def add(f):
        WRONG.append((f, words, args))
        return f
    return add


def failing(error, words, *args):
    def add(f):
        FAILING.append((f, error, words, args))
        return f
    return add


@wrong(["y", "assigned"], i64(1))
def maybe_unassigned(x):
    if x > 0:  # NOTE
        y = 1
    return y  # HERE


@wrong(["'y'", "int64", "float64"], i64(1))
def branch_dtypes(x):
    if x > 0:  # HERE
        y = x + 1
    else:
        y = x * 1.5
    return y


@wrong(["return", "int64", "float64"], i64(1))
def return_dtypes(x):
    if x > 0:  # HERE
        return x
    return x / 2  # NOTE


@wrong(["try"], i64(1))
def uses_try(x):
    try:  # HERE
        return x
    except ValueError:
        return x


@wrong(["yield"], i64(1))
def generator(x):  # HERE
    yield x


@wrong(["'.3'", "float"], 5.0)
def shortest_format_with_precision(x):
    return len(f"{x:.3}")  # HERE


@wrong(["'+06d'", "int"], 5)
def format_with_sign_and_zeros(x):
    return len(f"{x:+06d}")  # HERE


@wrong(["'.2f'", "complex"], 1j)
def format_of_a_complex_number(x):
    return len(f"{x:.2f}")  # HERE


@wrong(["Point()", "1 positional", "2 given"], 1.0)
def too_many_positional_patterns(x):
    class_pattern = Point(x)
    match class_pattern:
        case Point(a, b):  # HERE
            return a + b
    return x


@wrong(["'get'", "key"], 1.0)
def get_without_a_key(x):
    return {"a": x}.get()  # HERE


@wrong(["'strides'", "arrays"], A([1.0]))
def attribute_with_a_default(x):
    return getattr(x, "strides", None)  # HERE


@wrong(["str", "integer"], 1.0)
def pop_at_a_text(x):
    return [x, x].pop("a")  # HERE


@dataclass
class Never:
    x: float

    def __bool__(self):
        return False


@wrong(["truth", "Never"], 1.0)
def truth_of_a_dataclass(x):
    return 1 if Never(x) else 2  # HERE


@wrong(["truth", "text"], 1)
def truth_of_a_text(x):
    return 1 if str(x) else 2  # HERE


@wrong(["len()", "text"], 1)
def length_of_a_text(x):
    return len(str(x))  # HERE


@wrong(["int()", "int"], 3)
def number_with_a_base(x):
    return int("7", x)  # HERE


@wrong(["reciprocal", "integers"], A([1, 2]))
def reciprocal_of_integers(x):
    return np.reciprocal(x)  # HERE


@wrong(["'numpy.add'", "casting"], A([1, 2]))
def argument_that_a_ufunc_lacks_here(x):
    return np.add(x, x, casting="unsafe")  # HERE


@wrong(["median", "overwrite_input"], A([1, 2]))
def argument_that_a_function_lacks_here(x):
    return np.median(x, overwrite_input=True)  # HERE


@wrong(["insertion", "matrix"], A([[1, 2], [3, 4]]))
def insertion_into_a_matrix(x):
    return np.insert(x, 0, 5, axis=1)  # HERE


@wrong(["get'", "raises"], A([1, 2]))
def exception_of_an_object(x):
    return {"a": x}.get(Unequal())  # HERE


class Unequal:
    def __hash__(self):
        raise ValueError("get' raises")


@wrong(["raise", "ValueError: n is 3"], i64(1), 3)
def raises_what_is_known(x, n):
    if len((1, 2, 3)) == 3:
        raise ValueError("n is 3")  # HERE
    return x


@wrong(["raise"], i64(1))
def raises_sometimes(x):
    if x > 0:
        raise KeyError  # HERE
    return x


@wrong(["x", "deleted"], i64(1))
def deleted_and_used(x):
    del x  # NOTE
    return x  # HERE


@wrong(["del"], i64(1))
def deletes_an_item(x):
    made = {"a": x}
    del made["a"]  # HERE
    return x


@wrong(["y", "assigned"], i64(1))
def deleted_on_one_way(x):
    y = x
    if x > 0:
        del y  # NOTE
    return y  # HERE


@wrong(["zip() argument 2 is shorter"], i64(1))
def zip_of_other_lengths(x):
    return [a * x for a, _ in zip((1, 2), (3,), strict=True)]  # HERE


@wrong(["sys.stdout"], i64(1))
def prints_elsewhere(x):
    print(x, file=sys.stderr)  # HERE
    return x


@wrong(["single boolean"], A([1, 2]))
def index_of_one_boolean(x):
    return x[x[0] > 1]  # HERE


@wrong(["list", "int", "bool"], A([1.0, 2.0]))
def list_of_two_types_in_a_loop(x):
    items = []
    for v in x:  # HERE
        items += [1, v > 0]  # NOTE
    return items


@wrong(["slice", "assigned"], 1.0)
def slice_of_a_list_is_assigned(x):
    items = [x, x]
    items[0:1] = [2.0]  # HERE
    return items[0]


@wrong(["'pairs'", "second time"], A([1, 2]))
def iterator_used_twice(x):
    pairs = zip(x, x)
    first = [a for a, _ in pairs]  # NOTE
    return first, [b for _, b in pairs]  # HERE


@wrong(["'doubled'", "second time"], A([1, 2]), i64(2))
def generator_used_in_a_loop(x, n):
    doubled = (v * 2 for v in x)
    total = 0
    for _ in range(n):
        total += sum(doubled)  # HERE # NOTE
    return total


@wrong(["zip", "len"], A([1, 2]))
def length_of_a_zip(x):
    return len(zip(x, x))  # HERE


@wrong(["enumerate", "subscriptable"], A([1, 2]))
def item_of_an_enumerate(x):
    return enumerate(x)[0]  # HERE


@wrong(["int64", "float64", "in place"], A([1, 2]))
def items_changed_in_place_to_another_dtype(x):
    d = {"a": x.copy()}
    d["a"] += 1.5  # HERE
    return d


@wrong(["int64", "float64", "in place"], A([1, 2]))
def slice_changed_in_place_to_another_dtype(x):
    y = x.copy()
    y[0:1] += 1.5  # HERE
    return y


@wrong(["d['a']", "'z'", "same array"], A([1, 2]))
def item_with_a_second_name(x):
    d = {"a": x.copy()}
    z = d["a"]  # NOTE
    d["a"] += 1  # HERE
    return z


@wrong(["'y'", "'a of make'", "same array"], A([1, 2]))
def array_that_a_closure_has(x):
    def make(a):
        return lambda: a.sum()

    y = x.copy()  # NOTE
    get = make(y)
    y[0] = 9  # HERE
    return get()


@wrong(["'row'", "'rows[0]'", "same array"], A([1.0, 2.0]), i64(2))
def array_that_a_list_has(x, n):
    rows, row = [], np.zeros(2)
    for i in range(n):
        row[0] = x[i]  # HERE
        rows.append(row)
    return rows


@wrong(["no variable"], A([1.0, 2.0]))
def element_of_a_copy(x):
    y = x.copy()
    y[[0, 1]][0] = 5  # HERE
    return y


@wrong(["`Maximum`", "complex"], A([1j]))
def maximum_of_complex_numbers(x):
    return np.maximum(x, x)  # HERE


@wrong(["float64", "int64", "'safe'"], A([1.5]))
def cast_that_is_not_safe(x):
    return x.astype(int, casting="safe")  # HERE


@wrong(["Cannot cast", "add"], A([1]), 0.5)
def dtype_that_an_operand_does_not_fit(x, y):
    return np.add(x, y, dtype=int)  # HERE


class Sized(NamedTuple):
    x: float

    def __len__(self):
        return 7


@wrong(["'Sized'", "__len__"], 1.0)
def named_tuple_with_a_length(x):
    return len(Sized(x))  # HERE


@wrong(["list", "more than 1048576"], i64(1))
def list_that_doubles(x):
    items = [x]
    for _ in range(60):
        items = items + items  # HERE
    return items[0]


@wrong(["list", "more than 1048576"], i64(1))
def list_that_doubles_in_place(x):
    items = [x]
    for _ in range(60):
        items.extend(items)  # HERE
    return items[0]


@wrong(["str", "more than 1048576"], i64(1))
def text_that_doubles(x):
    text = "a"
    for _ in range(60):
        text += text  # HERE
    return x


@wrong(["bits"], i64(1))
def integer_that_is_squared(x):
    n = 10
    for _ in range(60):
        n = n * n  # HERE
    return x


@wrong(["9999999999d", "4096 characters"], i64(1))
def width_of_a_known_format(x):
    return x + len(f"{3:9999999999d}")  # HERE


@wrong(["inlined", "16384"], i64(1))
def calls_that_double(x):
    def calls(n):
        return x if n == 0 else calls(n - 1) + calls(n - 1)  # HERE
    return calls(30)  # NOTE


@wrong(["with"], i64(1))
def uses_with(x):
    with np.errstate():  # HERE
        return x


@wrong(["random"], i64(1))
def uses_random(x):
    return x * random.random()  # HERE


@wrong(["numpy.random"], i64(1))
def uses_numpy_random(x):
    return x * np.random.rand()  # HERE


@wrong(["x", "copy"], A([1, 2]))
def argument_assigned(x):
    x[0] = 7  # HERE
    return x


@wrong(["'z'"], A([1, 2]))
def undefined_name(x):
    return x + z  # HERE # noqa


@wrong(["unroll"], i64(1))
def endless(x):
    n = 0
    while True:  # HERE
        n += 1
    return n


@wrong(["out of bounds", "5", "3"], A([1, 2, 3]))
def static_index(x):
    return x[5]  # HERE


@wrong(["too many indices"], A([1, 2, 3]))
def many_indices(x):
    return x[0, 1]  # HERE


@wrong(["unpack"], A([1, 2, 3]))
def unpack(x):
    a, b = x[0], x[1], x[2]  # HERE
    return a


@wrong(["global", "COUNT"], i64(1))
def assigns_global(x):
    global COUNT
    COUNT = x  # HERE
    return x


COUNT = 0


@wrong(["function", "lambda"], i64(1))
def returns_function(x):  # HERE
    return [lambda: x]


@wrong(["broadcast", "[2]", "[3]"], A([1, 2]), A([1, 2, 3]))
def no_broadcast(x, y):
    return x + y  # HERE


@wrong(["key", "known"], i64(1))
def staged_key(x):
    d = {1: 2}
    return d[x]  # HERE


@wrong(["alias", "y"], A([1, 2]))
def view_assigned(x):
    alias = x + 1
    y = alias[0:1]  # NOTE
    alias[0] = 3  # HERE
    return y


def helper(v):
    return v @ v.T  # HERE


@wrong(["[1, 2, 3]", "[3, 2, 1]"], np.ones((1, 2, 3)))
def in_helper(x):
    y = x * 2
    return helper(y) + helper(np.ones((2, 3, 1)) * y[0, 0, 0])


@wrong(["async"], i64(1))
def defines_async(x):
    async def g():  # HERE
        return 1
    return x


@wrong(["items of a list", "int", "float32"], i64(3), A([1, 2], dtype=np.float32))
def list_types(n, x):
    out = []
    for i in range(n):
        out.append(x)
    out.append(n)  # HERE
    return out


@wrong(["positional"], i64(1))
def too_many(x):
    def g(a):
        return a
    return g(x, x)  # HERE


@wrong(["iterable"], 3)
def not_iterable(n):
    for i in n:  # HERE
        pass
    return n


@wrong(["a list", "the same", "branch"], i64(1))
def list_that_may_be_another(x):
    first, second = [1], [2]
    chosen = first if x > 0 else second
    first.append(3)  # HERE
    return chosen


@failing(ValueError, ["NaN", "integer"], np.float64("nan"))
def integer_of_nan(x):
    y = x * 2
    return int(y)  # HERE


@failing(ValueError, ["range() arg 3 must not be zero"], i64(3), i64(0))
def range_without_a_step(n, step):
    return [i for i in range(0, n, step)]  # HERE


@failing(ValueError, ["not in list"], i64(3))
def index_of_what_is_not_there(n):
    items = [n, n + 1]
    return items.index(7)  # HERE


@failing(IndexError, ["out of range"], i64(3), i64(-4))
def pop_out_of_range(n, k):
    items = []
    for i in range(n):
        items.append(i)
    return items.pop(k)  # HERE


@failing(IndexError, ["out of bounds", "7", "3"], A([1, 2, 3]), i64(7))
def index_error(x, i):
    y = x + 1
    return y[i]  # HERE


@failing(AssertionError, [], i64(-1))
def plain_assert(x):
    y = x * 2
    assert y > 0  # HERE
    return y


@failing(ZeroDivisionError, ["zero"], i64(1), i64(0))
def division(x, y):
    z = x + 1
    return z // y  # HERE


def inner(x, i):
    return x[i]  # HERE


def outer(x, i):
    if i > 2:
        return inner(x, i * 2)  # NOTE
    return x[0]


@failing(IndexError, ["10", "3"], A([1, 2, 3]), i64(5))
def nested_index(x, i):
    total = 0
    for j in range(2):
        total += outer(x, i)
    return total


@failing(IndexError, ["pop", "empty"], i64(2))
def pop_too_often(n):
    items = []
    for i in range(n):
        items.append(i)
    while n > -3:
        items.pop()  # HERE
        n -= 1
    return len(items)


@failing(IndexError, ["range"], i64(2))
def list_index(n):
    items = []
    for i in range(n):
        items.append(i)
    return items[n]  # HERE


@failing(ValueError, [], A([1, 2, 3, 4]), i64(2))
def truth_of_mask(x, k):
    y = x[x > k]
    if y:  # HERE
        return 1
    return 0
