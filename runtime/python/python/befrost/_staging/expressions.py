"""Expressions: one method per kind of node."""

from __future__ import annotations

import ast
import dataclasses
import types
from typing import Any, Callable

import numpy as np

from .._variable import Variable, _store, attributes_of
from . import indexing
from .arithmetic import (
    BINARY, as_array, binary, compare, is_numeric, required, run_ufunc, size_of, stacked, truth, unary, weak_kind,
)
from .emitter import type_of_leaf
from .errors import Refused, refusal_of
from .interpreter import Control, Frame
from .joins import ListLeaf, coerce, instantiate, join, leaves, staged_template, to_template
from .lists import arrays_in, growing, item, length
from .source import Scope
from .values import (
    KINDS, Array, DictObject, Fixed, Function, Generated, Growing, ListObject, Method, Sequence, Struct, Text, Weak, describe,
    is_staged, is_written, kind_of, kind_of_number, known, shape_text, usable,
)


# Names of special methods that differ from those of the operators' nodes.
SPECIAL: dict[type, str] = {
    ast.Mult: "mul", ast.Div: "truediv", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.USub: "neg", ast.UAdd: "pos", ast.NotEq: "ne", ast.LtE: "le", ast.GtE: "ge",
}
# The comparison with the operands in the other order.
REFLECTED: dict[type, str] = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "gt", ast.LtE: "ge", ast.Gt: "lt", ast.GtE: "le"}


def special_name(kind: type) -> str:
    return SPECIAL.get(kind, kind.__name__.lower())


class Expressions(Control):
    """Evaluates expressions."""

    def eval(self, node: ast.expr) -> Any:
        """The value of an expression; of a variable, its value at this moment."""
        before, self.node = self.node, node
        value = (self.evaluators.get(type(node)) or self.evaluator(type(node)))(node)
        self.node = before
        return self.variable_value(value) if type(value) is Variable else value

    def eval_any(self, node: ast.expr) -> Any:
        """The value of an expression, or the variable that it names."""
        before, self.node = self.node, node
        value = (self.evaluators.get(type(node)) or self.evaluator(type(node)))(node)
        self.node = before
        return value

    def evaluator(self, kind: type) -> Callable[[Any], Any]:
        """The method for a kind of node."""
        method = getattr(self, "ev_" + kind.__name__, None)
        if method is None:
            words = {"Await": "await", "Yield": "yield", "YieldFrom": "yield from"}
            raise Refused(f"'{words.get(kind.__name__, kind.__name__)}' cannot be compiled", code="P0102")
        made: Callable[[Any], Any] = method
        self.evaluators[kind] = made
        return made

    def ev_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def ev_Name(self, node: ast.Name) -> Any:
        frame, name = self.frame, node.id
        if name in frame.scope.assigned and name in frame.cells:
            value = frame.cells[name][0]
            if type(value) is Array:
                return value
        return self.lookup(name)

    def ev_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.eval(node.value)
        self.assign(node.target, value)
        return value

    def ev_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.elements(node.elts))

    def ev_List(self, node: ast.List) -> Any:
        return ListObject(self.state, self.elements(node.elts))

    def ev_Set(self, node: ast.Set) -> Any:
        items = self.elements(node.elts)
        if is_staged(items):
            raise Refused("a set of values that are only known when it runs", code="P0109")
        return set(map(self.static_key, items))

    def elements(self, nodes: list[ast.expr]) -> list[Any]:
        out: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                out += self.all_items(self.eval(node.value))
            else:
                out.append(self.eval(node))
        return out

    def ev_Dict(self, node: ast.Dict) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                made.update(self.named_items(self.eval(value)))
            else:
                made[self.static_key(self.eval(key))] = self.eval(value)
        return DictObject(self.state, made)

    def static_key(self, key: Any) -> Any:
        if is_staged(key):
            raise Refused("a key of a dict must be known when the function is compiled", code="P0109")
        key = self.plain(key)
        try:
            hash(key)
        except TypeError as error:
            raise Refused(str(error)) from None
        return key

    def ev_BinOp(self, node: ast.BinOp) -> Any:
        return self.operate(type(node.op), self.eval(node.left), self.eval(node.right))

    def operate(self, kind: type, a: Any, b: Any) -> Any:
        if type(a) is Array and type(b) is Array:
            return run_ufunc(self.emit, BINARY[kind][0], [a, b])
        if isinstance(a, str) and kind is ast.Mod:
            if is_staged(b):
                raise Refused("'%' formats values that are only known when it runs: use an f-string", code="P0109")
        if isinstance(a, (str, Text)) and isinstance(b, (str, Text)) and is_staged((a, b)) and kind is ast.Add:
            return self.joined_text([a, b])
        for owner, other, sign in ((a, b, "__"), (b, a, "__r")):
            method = self.special(owner, f"{sign}{special_name(kind)}__")
            if method is not None:
                made = self.call(method, [other], {})
                if made is not NotImplemented:
                    return made
        return binary(self.emit, self.state, kind, a, b)

    def ev_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            found = self.condition(node.operand)
            return not found if isinstance(found, bool) else Weak("bool", self.emit.op("LogicalNot", [found])[0])
        value = self.eval(node.operand)
        method = self.special(value, f"__{special_name(type(node.op))}__")
        return unary(self.emit, type(node.op), value) if method is None else self.call(method, [], {})

    def special(self, owner: Any, name: str) -> Method | None:
        """A special method that the user wrote, of a dataclass or a named tuple."""
        if isinstance(owner, Struct) or isinstance(owner, tuple) and type(owner) is not tuple:
            found = getattr(owner.cls if isinstance(owner, Struct) else type(owner), name, None)
            if is_written(found):
                return Method(owner, name)
        return None

    def ev_BoolOp(self, node: ast.BoolOp) -> Any:
        return self.bool_op(isinstance(node.op, ast.And), node.values)

    def bool_op(self, is_and: bool, nodes: list[ast.expr]) -> Any:
        value = self.eval(nodes[0])
        if len(nodes) == 1:
            return value
        before, self.node = self.node, nodes[0]
        found = truth(self.emit, value)
        self.node = before
        if isinstance(found, bool):
            return self.bool_op(is_and, nodes[1:]) if found == is_and else value

        def rest() -> Any:
            return self.bool_op(is_and, nodes[1:])

        return self.choose(found, rest, lambda: value) if is_and else self.choose(found, lambda: value, rest)

    def ev_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.condition(node.test)
        if isinstance(condition, bool):
            return self.eval(node.body if condition else node.orelse)
        return self.choose(condition, lambda: self.eval(node.body), lambda: self.eval(node.orelse))

    def ev_Compare(self, node: ast.Compare) -> Any:
        return self.comparison(self.eval(node.left), node.ops, node.comparators)

    def comparison(self, left: Any, ops: list[ast.cmpop], nodes: list[ast.expr]) -> Any:
        right = self.eval(nodes[0])
        found = self.compare(ops[0], left, right)
        if len(nodes) == 1:
            return found
        goes = truth(self.emit, found)
        if goes is False:
            return found
        if goes is True:
            return self.comparison(right, ops[1:], nodes[1:])
        return self.choose(goes, lambda: self.comparison(right, ops[1:], nodes[1:]), lambda: found)

    def compare(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        if isinstance(op, (ast.Is, ast.IsNot)):
            if isinstance(a, Weak) or isinstance(b, Weak):
                singleton = b if isinstance(a, Weak) else a
                if singleton is not None:
                    raise Refused("'is' of numbers: use '=='", code="P0112")
                same = False
            else:
                same = a is b
            return same == isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            method = self.special(b, "__contains__")
            found = self.contains(a, b) if method is None else self.call(method, [a], {})
            return found if isinstance(op, ast.In) else self.negation(found)
        for owner, other, name in ((a, b, special_name(type(op))), (b, a, REFLECTED[type(op)])):
            method = self.special(owner, f"__{name}__")
            if method is None and name == "ne":
                method = self.special(owner, "__eq__")
                if method is not None:
                    return self.negation(self.call(method, [other], {}))
            if method is not None:
                made = self.call(method, [other], {})
                if made is not NotImplemented:
                    return made
        if isinstance(op, (ast.Eq, ast.NotEq)) and isinstance(a, Struct) and isinstance(b, Struct) and a.cls is b.cls:
            if getattr(a.cls, "__dataclass_params__").eq:
                names = [f.name for f in dataclasses.fields(a.cls) if f.compare]
                a, b = (tuple(part.fields[name] for name in names) for part in (a, b))
        if isinstance(op, (ast.Eq, ast.NotEq)) and (isinstance(a, Text) or isinstance(b, Text)):
            if not isinstance(a, (str, Text)) or not isinstance(b, (str, Text)):
                return isinstance(op, ast.NotEq)
            name = "Equal" if isinstance(op, ast.Eq) else "NotEqual"
            return Weak("bool", self.emit.op(name, [self.string(a), self.string(b)])[0])
        return compare(self.emit, type(op), a, b)

    def negation(self, value: Any) -> Any:
        """`not value`."""
        found = truth(self.emit, value)
        return not found if isinstance(found, bool) else Weak("bool", self.emit.op("LogicalNot", [found])[0])

    def truth_of_comparison(self, kind: type, a: Any, b: Any) -> Any:
        return truth(self.emit, compare(self.emit, kind, a, b))

    def contains(self, value: Any, items: Any) -> Any:
        """`value in items`."""
        if isinstance(items, DictObject):
            return self.static_key(value) in items.items
        if isinstance(items, Array) or isinstance(items, ListObject) and isinstance(items.items, Growing):
            array = as_array(self.emit, items)
            equal = run_ufunc(self.emit, np.equal, [array, value])
            if equal.const is not None:
                return bool(equal.const.any())
            axes = self.emit.constant(np.arange(equal.ndim), np.int32)
            return Weak("bool", self.emit.op("Any", [self.emit.id(equal), axes])[0])
        if isinstance(items, Sequence) and items.range is not None and is_numeric(value):
            start, stop, step = items.range
            if not is_staged(value) and not items.is_staged:
                return self.plain(value) in range(start, stop, step)
            if step == 1:
                low, high = compare(self.emit, ast.GtE, value, start), compare(self.emit, ast.Lt, value, stop)
                return Weak("bool", self.emit.op(
                    "LogicalAnd", [self.emit.id(low, np.bool_), self.emit.id(high, np.bool_)])[0])
        if not is_staged(value) and not is_staged(items):
            try:
                return bool(self.plain(value) in self.plain(items))
            except Exception as error:
                raise refusal_of(error) from None
        found: Any = False
        for part in self.all_items(items):
            if part is value:
                return True
            one = truth(self.emit, self.compare(ast.Eq(), value, part))
            if one is True:
                return True
            if one is not False:
                found = one if found is False else self.emit.op("LogicalOr", [found, one])[0]
        return found if isinstance(found, bool) else Weak("bool", found)

    def ev_Lambda(self, node: ast.Lambda) -> Any:
        return self.function(node, "<lambda>")

    def ev_Starred(self, node: ast.Starred) -> Any:
        raise Refused("'*' is not possible here")

    # ---- text ----

    def ev_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts: list[Any] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.eval(part.value)
            spec = "" if part.format_spec is None else self.eval(part.format_spec)
            if not isinstance(spec, str):
                raise Refused("a format must be known when the function is compiled", code="P0109")
            convert = chr(part.conversion) if part.conversion > 0 else ""
            parts.append(self.formatted(value, spec, convert))
        return self.joined_text(parts)

    # ---- attributes, items ----

    def ev_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.eval_any(node.value), node.attr)

    def variable_handle(self, variable: Variable) -> int:
        """The handle of a variable of outside."""
        self.store = _store
        return self.emit.op("VarHandleOp", [], attributes_of(variable), [("resource", [])])[0]

    def variable_value(self, variable: Variable) -> Array:
        """The value of a variable when the function comes here."""
        handle = self.variable_handle(variable)
        ty = type_of_leaf(variable.dtype, variable.shape)
        id = self.emit.op("ReadVariableOp", [handle], {"dtype": variable.dtype.name}, [ty])[0]
        return Array(variable.dtype, variable.shape, id, owned=False)

    def variable_method(self, variable: Variable, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`v.assign(x)` and its like."""
        if len(args) != 1 or kwargs:
            raise Refused(f"'{name}' takes one value")
        value = args[0]
        array = as_array(self.emit, value)
        weak = not isinstance(value, Array) and np.can_cast(array.dtype, variable.dtype, "same_kind")
        if array.dtype != variable.dtype and not weak:
            raise Refused(f"the variable '{variable.name}' is of dtype {variable.dtype}, not {array.dtype}")
        differs = len(array.shape) != len(variable.shape) or any(
            size is not None and size != own for size, own in zip(array.shape, variable.shape))
        if differs and (name == "assign" and array.shape != ()):
            raise Refused(f"the variable '{variable.name}' is of shape {list(variable.shape)}, not {shape_text(array.shape)}")
        id = self.emit.id(array, variable.dtype)
        if differs:
            shape = self.emit.constant(list(variable.shape), np.int32)
            id = self.emit.op("BroadcastTo", [id, shape])[0]
        operator = {"assign": "AssignVariableOp", "assign_add": "AssignAddVariableOp",
                    "assign_sub": "AssignSubVariableOp"}[name]
        self.emit.op(operator, [self.variable_handle(variable), id], {"dtype": variable.dtype.name})
        return None

    def attribute(self, owner: Any, name: str) -> Any:
        if type(owner) is Variable:
            if name in ("assign", "assign_add", "assign_sub", "numpy"):
                return Method(owner, name)
            if name in ("dtype", "shape", "ndim", "size", "name"):
                return getattr(owner, name)
            value = self.variable_value(owner)
            return value if name == "value" else self.attribute(value, name)
        if isinstance(owner, Array):
            return self.array_attribute(owner, name)
        if isinstance(owner, Weak):
            if name in ("real", "imag") and owner.kind == "complex":
                return Weak("float", self.emit.op(name.capitalize(), [owner.id], {"Tout": "float64"})[0])
            if name == "real":
                return owner
            if name == "imag":
                return 0.0 if owner.kind == "float" else 0
            if name in ("is_integer", "bit_length", "bit_count", "conjugate"):
                return Method(owner, name)
            raise Refused(f"a Python {owner.kind} has no attribute '{name}'", code="P0112")
        if isinstance(owner, (ListObject, DictObject)):
            if not hasattr(list if isinstance(owner, ListObject) else dict, name):
                raise Refused(f"{describe(owner)} has no attribute '{name}'", code="P0112")
            return Method(owner, name)
        if isinstance(owner, Struct):
            if name in owner.cells:
                return self.read(owner, name)
            found = getattr(owner.cls, name, None)
            if isinstance(found, types.FunctionType):
                return Method(owner, name)
            if isinstance(found, property) and found.fget is not None:
                return self.call(found.fget, [owner], {})
            if hasattr(owner.cls, name):
                return self.outside(found)
            raise Refused(f"'{owner.cls.__name__}' has no attribute '{name}'", code="P0112")
        if isinstance(owner, tuple) and hasattr(owner, "_fields"):
            if name in owner._fields:
                return owner[owner._fields.index(name)]
            found = getattr(type(owner), name, None)
            if isinstance(found, types.FunctionType) or name in ("_replace", "_asdict", "count", "index"):
                return Method(owner, name)
            if isinstance(found, property) and found.fget is not None:
                return self.call(found.fget, [owner], {})
            if found is not None and not callable(found):
                return self.outside(found)
        if isinstance(owner, (tuple, str)):
            if not hasattr(type(owner), name):
                raise Refused(f"'{type(owner).__name__}' object has no attribute '{name}'")
            return Method(owner, name)
        if isinstance(owner, Sequence):
            if owner.range is not None and name in ("start", "stop", "step"):
                return owner.range[("start", "stop", "step").index(name)]
            raise Refused(f"{owner.what} has no attribute '{name}'", code="P0112")
        if isinstance(owner, (Function, Method)):
            raise Refused(f"the attribute '{name}' of {describe(owner)}", code="P0112")
        try:
            found = getattr(owner, name)
        except AttributeError as error:
            raise Refused(str(error)) from None
        except Exception as error:
            raise refusal_of(error) from None
        return self.outside(found)

    def array_attribute(self, array: Array, name: str) -> Any:
        if name == "shape":
            return tuple(size_of(self.emit, array, axis) for axis in range(array.ndim))
        if name == "ndim":
            return array.ndim
        if name == "dtype":
            return array.dtype
        if name == "size":
            total: Any = 1
            for axis in range(array.ndim):
                total = self.operate(ast.Mult, total, size_of(self.emit, array, axis))
            return total
        if name == "nbytes":
            return self.operate(ast.Mult, self.array_attribute(array, "size"), array.dtype.itemsize)
        if name == "itemsize":
            return array.dtype.itemsize
        if name == "T":
            return self.call(np.transpose, [array], {})
        if name in ("real", "imag"):
            return self.call(np.real if name == "real" else np.imag, [array], {})
        if array.ndim == 0 and name in ("is_integer", "bit_count") and hasattr(array.dtype.type, name):
            return Method(array, name)
        if not hasattr(np.ndarray, name):
            raise Refused(f"arrays have no attribute '{name}'", code="P0112")
        if not callable(getattr(np.ndarray, name)):
            raise Refused(f"the attribute '{name}' of arrays cannot be compiled", code="P0112")
        return Method(array, name)

    def ev_Slice(self, node: ast.Slice) -> Any:
        parts = (node.lower, node.upper, node.step)
        values = [None if part is None else self.eval(part) for part in parts]
        return indexing.Slice(*values)

    def index(self, node: ast.expr) -> Any:
        return self.eval(node)

    def ev_Subscript(self, node: ast.Subscript) -> Any:
        return self.item(self.eval(node.value), self.index(node.slice))

    def item(self, owner: Any, index: Any) -> Any:
        """`owner[index]`."""
        index = indexing.normal(index)
        method = self.special(owner, "__getitem__")
        if method is not None:
            return self.call(method, [index], {})
        if isinstance(owner, Array):
            return indexing.get(self.emit, owner, index, self.as_index_array)
        if isinstance(owner, DictObject):
            key = self.static_key(index)
            if key not in owner.items:
                raise Refused(f"KeyError: {key!r}", code="P0113")
            return owner.items[key]
        if isinstance(owner, Generated) or isinstance(owner, Sequence) and owner.range is None:
            raise Refused(f"'{getattr(owner, 'what', 'generator')}' object is not subscriptable")
        if isinstance(owner, (tuple, ListObject)):
            return self.list_item(owner, index)
        if isinstance(owner, Sequence):
            if kind_of_number(index) and isinstance(owner.length, int):
                at = index + owner.length if index < 0 else index
                if not 0 <= at < owner.length:
                    raise Refused(f"{owner.what} index out of range")
                return owner.get(at)
            return owner.get(self.wrapped_index(index, owner.length))
        if isinstance(owner, Weak):
            raise Refused(f"a Python {owner.kind} has no items")
        if is_staged(index):
            if isinstance(owner, (list, np.ndarray)):
                return self.item(self.lifted(owner), index)
            raise Refused(f"an item of {describe(owner)} at an index that is only known when it runs", code="P0109")
        try:
            found = owner[index.python() if isinstance(index, indexing.Slice) else index]
        except Exception as error:
            raise refusal_of(error) from None
        return self.outside(found)

    def lifted(self, value: Any) -> Any:
        return ListObject(self.state, [self.outside(v) for v in value]) if isinstance(value, list) else known(value, False)

    def list_item(self, owner: Any, index: Any) -> Any:
        items = owner.items if isinstance(owner, ListObject) else Fixed(tuple(owner))
        if isinstance(index, Array) and index.const is not None and index.shape == ():
            index = int(index.const)
        if isinstance(index, indexing.Slice):
            if isinstance(items, Growing) or is_staged(index.parts()):
                return self.list_slice(owner, items, index)
            cut = items.items[index.python()]
            return ListObject(self.state, cut) if isinstance(owner, ListObject) else cut
        if kind_of_number(index) and isinstance(items, Fixed):
            if isinstance(index, float):
                raise Refused("list indices must be integers, not float")
            at = int(index) + len(items.items) if index < 0 else int(index)
            if not 0 <= at < len(items.items):
                what = "tuple" if isinstance(owner, tuple) else "list"
                raise Refused(f"{what} index {index} out of range: it has {len(items.items)} items")
            return items.items[at]
        if not is_numeric(index):
            raise Refused(f"an index is {describe(index)}")
        if isinstance(items, Fixed) and all(is_numeric(part) for part in items.items) and items.items:
            # A vector of numbers or arrays of one shape.
            parts = [as_array(self.emit, part) for part in items.items]
            if len({part.shape for part in parts}) == 1 and len({(weak_kind(p) or p.dtype) for p in items.items}) == 1:
                whole = stacked(self.emit, parts)
                found = indexing.get(self.emit, whole, index, self.as_index_array).over(parts)
                kind = weak_kind(items.items[0])
                return Weak(kind, self.emit.id(found, KINDS[kind])) if kind else found
        grown = growing(self.emit, items)
        return item(self.emit, self.state, grown, self.list_index(grown, index))

    def list_slice(self, owner: Any, items: Any, index: indexing.Slice) -> Any:
        if isinstance(items, Growing) or all(is_numeric(part) for part in items.items):
            cut = indexing.get(self.emit, as_array(self.emit, owner), index, self.as_index_array)
            cut = cut.over(part for part in arrays_in(items) if isinstance(part, Array))
            made = self.all_items_staged(cut)
            return ListObject(self.state, made)
        raise Refused("a slice of a list whose bounds are only known when it runs", code="P0109")

    def all_items_staged(self, array: Array) -> Growing:
        from .joins import ArrayLeaf, leaf_type

        inner = ArrayLeaf(array.dtype, array.shape[1:], array.roots, array.owned)
        _, dims = leaf_type(inner)
        shape = self.emit.constant(dims, np.int32)
        made = self.emit.op("TensorListFromTensor", [self.emit.id(array), shape], {"element_dtype": array.dtype.name})
        return Growing(inner, tuple(made))

    def list_index(self, items: Growing, index: Any) -> int:
        """An index of a list as int64 of the graph, counted from its start."""
        return self.emit.id(self.wrapped_index(index, length(self.emit, items)), np.int64)

    def wrapped_index(self, index: Any, n: Any) -> Any:
        if kind_of_number(index):
            return index if index >= 0 else self.operate(ast.Add, n, index)
        at = self.emit.id(index, np.int64)
        negative = self.emit.op("Less", [at, self.emit.constant(0, np.int64)])[0]
        from_end = self.emit.op("AddV2", [at, self.emit.id(n, np.int64)])[0]
        return Weak("int", self.emit.op("SelectV2", [negative, from_end, at])[0])

    def as_index_array(self, value: Any) -> Array:
        return as_array(self.emit, value)

    def updated(self, array: Array, index: Any, value: Any) -> Array:
        """An array with other elements at an index."""
        if not isinstance(value, Array):
            value = as_array(self.emit, value) if not is_numeric(value) else value
        return indexing.set(self.emit, array, index, value, self.as_index_array)

    # ---- iteration ----

    def sequence(self, value: Any) -> Sequence:
        """A value as something to iterate over."""
        if isinstance(value, Sequence):
            return value
        method = self.special(value, "__iter__")
        if method is not None:
            return self.sequence(self.call(method, [], {}))
        if isinstance(value, Array):
            if value.ndim == 0:
                raise Refused("iteration over a 0-d array")
            n, now = size_of(self.emit, value, 0), self.as_it_changes(value)
            return Sequence(n, lambda i: indexing.at(self.emit, now(), i), is_staged=value.const is None, what="array")
        if isinstance(value, ListObject):
            return self.list_sequence(value)
        if isinstance(value, range):
            return self.range_sequence(value.start, value.stop, value.step)
        if isinstance(value, DictObject):
            value = tuple(value.items)
        if isinstance(value, (Weak,)) or kind_of_number(value):
            raise Refused(f"'{weak_kind(value)}' object is not iterable")
        items = Fixed(tuple(self.all_items(value)))
        template = self.uniform(items)
        return Sequence(len(items.items), lambda i: self.fixed_item(items, template, i), is_staged=False,
                        can_stage=template is not None, what="list")

    def as_it_changes(self, array: Array) -> Callable[[], Array]:
        """What gives an array as it is then, after elements of it were assigned."""
        cells = self.frame.cells
        name = next((key for key, (value, _) in cells.items() if value is array and isinstance(key, str)), None)

        def now() -> Array:
            value = usable(cells[name][0])
            return value if isinstance(value, Array) and (value.roots, value.shape) == (array.roots, array.shape) else array

        return (lambda: array) if name is None or not array.owned else now

    def list_sequence(self, value: ListObject) -> Sequence:
        """A list, whose items are at each moment those that it has then."""
        def n_items() -> Any:
            items = value.items
            return len(items.items) if isinstance(items, Fixed) else length(self.emit, items)

        first = value.items
        template = self.uniform(first) if isinstance(first, Fixed) else ()

        def get(i: Any) -> Any:
            items = value.items
            if isinstance(items, Growing):
                return item(self.emit, self.state, items, self.emit.id(i, np.int64))
            return self.fixed_item(items, template if items is first else self.uniform(items), i)

        return Sequence(n_items, get, is_staged=isinstance(first, Growing), can_stage=template is not None, what="list")

    def fixed_item(self, items: Fixed, template: Any, i: Any) -> Any:
        """The item at an index, which may be staged, of items of one type."""
        if kind_of_number(i):
            return items.items[i]
        # Made where it is used: blocks see only what is around them.
        per_item = [coerce(self.emit, part, template) for part in items.items]
        at, zero = self.emit.id(i, np.int64), self.emit.constant(0, np.int32)
        ids = [self.emit.op("GatherV2", [self.emit.op("Pack", list(column), {"axis": 0})[0], at, zero])[0]
               for column in zip(*per_item)]
        return instantiate(self.emit, self.state, template, iter(ids))

    def uniform(self, items: Fixed) -> Any:
        """The template that all items have, if they are of one type."""
        if not items.items:
            return ()
        try:
            template = to_template(items.items[0])
            for part in items.items[1:]:
                template = join(template, part)
            template = staged_template(template)
        except Exception:
            return None
        for leaf in leaves(template):
            if isinstance(leaf, ListLeaf) or None in getattr(leaf, "shape", ()):
                return None
        return template

    def range_sequence(self, start: Any, stop: Any, step: Any) -> Sequence:
        if not any(map(is_staged, (start, stop, step))):
            start, stop, step = (int(v.const) if isinstance(v, Array) else v for v in (start, stop, step))
            try:
                plain = range(start, stop, step)
            except Exception as error:
                raise refusal_of(error) from None
            return Sequence(len(plain), lambda i: self.range_item(start, step, i), is_staged=False, what="range", rng=(start, stop, step))
        for value in (start, stop, step):
            if isinstance(value, Array) and (kind_of(value.dtype) not in "iu" or value.ndim) or \
                    weak_kind(value) not in (None, "int", "bool"):
                raise Refused(f"a bound of range is {describe(value)}, not an integer")
        start, stop, step = (v if kind_of_number(v) else Weak("int", self.emit.id(v, np.int64))
                             for v in (start, stop, step))
        if is_staged(step):
            step = required(self.emit, step, compare(self.emit, ast.NotEq, step, 0), "range() arg 3 must not be zero")
        distance = self.operate(ast.Sub, stop, start)
        if step == 1 and kind_of_number(step):
            n = distance
        else:
            # ceil(distance / step)
            n = self.operate(ast.FloorDiv, self.operate(ast.Sub, 0, distance), step)
            n = self.operate(ast.Sub, 0, n)
        n = n if kind_of_number(n) else Weak("int", self.emit.op(
            "Maximum", [self.emit.id(n), self.emit.constant(0, np.int64)])[0])
        return Sequence(n, lambda i: self.range_item(start, step, i), is_staged=True, what="range",
                        rng=(start, stop, step))

    def range_item(self, start: Any, step: Any, index: Any) -> Any:
        scaled = index if kind_of_number(step) and step == 1 else self.operate(ast.Mult, index, step)
        return scaled if kind_of_number(start) and start == 0 else self.operate(ast.Add, start, scaled)

    def all_items(self, value: Any, expected: int | None = None) -> list[Any]:
        """The items of a value whose length is static."""
        if isinstance(value, ListObject) and isinstance(value.items, Fixed):
            return [*value.items.items]
        if self.special(value, "__iter__") is not None:
            value = self.sequence(value)
        if isinstance(value, tuple):
            return [*value]
        if isinstance(value, DictObject):
            return [*value.items]
        if isinstance(value, (Array, Sequence, ListObject)):
            found = self.sequence(value)
            n = found.length
            if not isinstance(n, int):
                if expected is None:
                    raise Refused(f"the items of {describe(value)}, whose length is only known when it runs, are "
                                  "needed while it is compiled", code="P0109")
                n = expected
            if n > self.unroll:
                raise Refused(f"{n} items are more than unroll={self.unroll}", code="P0107")
            return [found.get(i) for i in range(n)]
        if isinstance(value, (Weak, Function, Method)) or kind_of_number(value):
            raise Refused(f"{describe(value)} is not iterable")
        try:
            items = []
            for part in value:
                items.append(self.outside(part))
                if len(items) > 1 << 20:
                    raise Refused(f"{describe(value)} has more than {1 << 20} items", code="P0110")
            return items
        except Refused:
            raise
        except Exception as error:
            raise refusal_of(error) from None

    # ---- comprehensions ----

    def ev_ListComp(self, node: ast.ListComp) -> Any:
        made = ListObject(self.state)
        self.comprehend(node, node.generators, lambda: self.append(made, self.eval(node.elt)))
        return made

    def ev_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        made = Generated(self.state)
        self.comprehend(node, node.generators, lambda: self.append(made, self.eval(node.elt)))
        return made

    def ev_SetComp(self, node: ast.SetComp) -> Any:
        made = ListObject(self.state)
        self.comprehend(node, node.generators, lambda: self.append(made, self.eval(node.elt)))
        items = self.all_items(made)
        if is_staged(items):
            raise Refused("a set of values that are only known when it runs", code="P0109")
        return set(map(self.static_key, items))

    def ev_DictComp(self, node: ast.DictComp) -> Any:
        made = DictObject(self.state, {})

        def add() -> None:
            key = self.static_key(self.eval(node.key))
            self.state.write(made, "items", {**made.items, key: self.eval(node.value)})

        self.comprehend(node, node.generators, add)
        return made

    def comprehend(self, node: ast.expr, generators: list[ast.comprehension], add: Any) -> None:
        """Runs the loops of a comprehension, in a frame of their own."""
        outer = self.frame
        first = self.eval(generators[0].iter)
        scope = Scope(node)  # type: ignore[arg-type]
        for generator in generators:
            scope.assigned.update(n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name))
        frame = Frame(self.state, outer.name, outer.file, scope, outer, None, outer.globals)
        frame.caller, frame.call_node = outer.caller, outer.call_node
        named = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        scope.assigned -= named

        def loops(at: int, items: Any) -> None:
            generator = generators[at]

            def body(part: Any) -> None:
                self.assign(generator.target, part)
                check(generator.ifs)

            def check(tests: list[ast.expr]) -> None:
                if not tests:
                    if at + 1 < len(generators):
                        loops(at + 1, self.eval(generators[at + 1].iter))
                    else:
                        add()
                    return
                condition = self.condition(tests[0])
                if condition is True:
                    check(tests[1:])
                elif condition is not False:
                    self.choose(condition, lambda: check(tests[1:]), lambda: None)

            self.for_each(node, self.sequence(items), body, [])

        self.frame = frame
        loops(0, first)
        self.frame = outer
