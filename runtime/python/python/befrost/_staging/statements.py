"""Statements: one method per kind of node."""

from __future__ import annotations

import ast
from typing import Any, Callable, Iterable

import numpy as np

from .arithmetic import truth
from .errors import Refused, note
from .expressions import special_name
from .indexing import Slice, normal
from .interpreter import RETURN, VALUE, Control
from .lists import arrays_in, growing, with_item
from .values import (
    Array, DictObject, Fixed, Function, Growing, ListObject, Method, Partial, Poison, Struct, Weak, describe, is_staged, kind_of_number,
)

REFUSED = {
    ast.Try: "try", ast.With: "with", ast.AsyncWith: "async with", ast.AsyncFor: "async for",
    ast.AsyncFunctionDef: "async def", ast.ClassDef: "class",
}


# Limit of the statements that are executed while compiling, so that the time is bounded.
MAX_STATEMENTS = 1 << 19


class Statements(Control):
    """Executes statements."""

    n_executed = 0

    def block(self, statements: list[ast.stmt], start: int = 0) -> None:
        """Executes statements, from one on, until control flow leaves."""
        for i in range(start, len(statements)):
            statement = statements[i]
            before, self.node = self.node, statement
            self.n_executed += 1
            if self.n_executed > MAX_STATEMENTS:
                raise Refused(f"more than {MAX_STATEMENTS} statements are executed while compiling", code="P0110")
            if isinstance(statement, ast.If):
                if self.if_statement(statement, statements, i + 1):
                    return
            else:
                self.statement(statement)
            self.node = before
            left = self.leaving()
            if left is True:
                return
            if left is not False:
                if i + 1 < len(statements):
                    self.guarded(lambda: self.block(statements, i + 1))
                return

    def statement(self, node: ast.stmt) -> None:
        (self.executors.get(type(node)) or self.executor(type(node)))(node)

    def executor(self, kind: type) -> Callable[[Any], None]:
        """The method for a kind of statement."""
        word = "try" if kind.__name__ == "TryStar" else REFUSED.get(kind)
        if word:
            raise Refused(f"'{word}' cannot be compiled", code="P0102")
        method = getattr(self, "do_" + kind.__name__, None)
        if method is None:
            raise Refused(f"this statement ({kind.__name__}) cannot be compiled", code="P0102")
        made: Callable[[Any], None] = method
        self.executors[kind] = made
        return made

    # ---- simple ones ----

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Nonlocal(self, node: ast.Nonlocal) -> None:
        pass

    def do_Global(self, node: ast.Global) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        self.eval(node.value)

    def do_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = __import__(alias.name)
            if alias.asname:
                for part in alias.name.split(".")[1:]:
                    module = getattr(module, part)
            self.assign_name(alias.asname or alias.name.split(".")[0], module)

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or not node.module:
            raise Refused("a relative import cannot be compiled", code="P0102")
        module = __import__(node.module, fromlist=[alias.name for alias in node.names])
        for alias in node.names:
            self.assign_name(alias.asname or alias.name, getattr(module, alias.name))

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.eval(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        old, store, base = self.place(target)
        new = self.augmented(node, old, self.eval(node.value))
        if isinstance(old, Array) and old.ndim > 0 and isinstance(new, Array):
            # In place. An element of an array is written by its array.
            if base is None:
                self.expect_writable(old, target)
            new = self.cast_in_place(old, new).over([old])
        self.node = target
        assert store is not None
        store(new)

    def place(self, node: ast.expr) -> tuple[Any, Callable[[Any], None] | None, Array | None]:
        """The value of an expression, what gives another value to the place that it names, if it names one, and the
        array that it is an element or a view of."""
        before, self.node = self.node, node
        store: Callable[[Any], None] | None = None
        base: Array | None = None
        if isinstance(node, ast.Name):
            name = node.id
            value = self.eval(ast.copy_location(ast.Name(name, ast.Load()), node))

            def store(made: Any) -> None:
                self.assign_name(name, made)
        elif isinstance(node, ast.Attribute):
            owner = self.eval(node.value)
            value = self.attribute(owner, node.attr)

            def store(made: Any) -> None:
                self.set_attribute(owner, node.attr, made)
        elif isinstance(node, ast.Subscript):
            owner, store_owner, _ = self.place(node.value)
            index = normal(self.index(node.slice))
            value = self.item(owner, index)
            if isinstance(owner, Array):
                base = owner
            if base is None or isinstance(node.ctx, ast.Store) or value is base or value.roots == base.roots:
                def store(made: Any) -> None:
                    self.set_item(node.value, owner, store_owner, index, made)
        else:
            value = self.eval(node)
        self.node = before
        return value, store, base

    def augmented(self, node: ast.AugAssign, old: Any, value: Any) -> Any:
        method = self.special(old, f"__i{special_name(type(node.op))}__")
        if method is not None:
            return self.call(method, [value], {})
        if isinstance(old, ListObject) and isinstance(node.op, ast.Add):
            # In place: all names of the list see it.
            self.extend(old, value)
            return old
        return self.operate(type(node.op), old, value)

    def cast_in_place(self, old: Array, new: Array) -> Array:
        """The result of an operation in place: it keeps dtype and shape."""
        if not np.can_cast(new.dtype, old.dtype, "same_kind"):
            raise Refused(f"an operation in place on {old.dtype} gives {new.dtype}, which it cannot hold")
        if len(new.shape) > len(old.shape) or any(
                a is not None and b is not None and a != b and b != 1
                for a, b in zip(old.shape[::-1], new.shape[::-1])):
            raise Refused(f"an operation in place on an array of shape {old!r} gives {new!r}")
        if new.const is not None:
            return Array(old.dtype, new.shape, const=new.const.astype(old.dtype))
        return self.emit.array(self.emit.id(new, old.dtype))

    def assign(self, target: ast.expr, value: Any) -> None:
        before, self.node = self.node, target
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            owner, store, _ = self.place(target.value)
            self.set_item(target.value, owner, store, normal(self.index(target.slice)), value)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.eval(target.value), target.attr, value)
        else:
            raise Refused("this target cannot be assigned", code="P0102")
        self.node = before

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        stars = [i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        items = self.all_items(value, len(target.elts) if not stars else None)
        n = len(target.elts)
        if not stars:
            if len(items) != n:
                few = "not enough" if len(items) < n else "too many"
                raise Refused(f"{few} values to unpack (expected {n}, got {len(items)})")
            for part, item in zip(target.elts, items):
                self.assign(part, item)
            return
        at = stars[0]
        behind = n - at - 1
        if len(items) < n - 1:
            raise Refused(f"not enough values to unpack (expected at least {n - 1}, got {len(items)})")
        for part, item in zip(target.elts[:at], items[:at]):
            self.assign(part, item)
        starred = target.elts[at]
        assert isinstance(starred, ast.Starred)
        self.assign(starred.value, ListObject(self.state, items[at:len(items) - behind]))
        for part, item in zip(target.elts[at + 1:], items[len(items) - behind:]):
            self.assign(part, item)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        if not isinstance(owner, Struct):
            raise Refused(f"the attribute '{name}' of {describe(owner)} cannot be assigned", code="P0112")
        if getattr(owner.cls, "__dataclass_params__").frozen:
            raise Refused(f"cannot assign to field '{name}' of the frozen dataclass '{owner.cls.__name__}'")
        self.change(owner, name, value)

    def set_item(self, node: ast.expr, owner: Any, store: Callable[[Any], None] | None, index: Any, value: Any) -> None:
        """Gives the owner that an expression names another item."""
        method = self.special(owner, "__setitem__")
        if method is not None:
            self.call(method, [index, value], {})
            return
        if isinstance(owner, DictObject):
            if is_staged(index):
                raise Refused("a key of a dict must be known when the function is compiled", code="P0109")
            self.change(owner, "items", {**owner.items, self.static_key(index): value})
        elif isinstance(owner, ListObject):
            self.set_list_item(owner, index, value)
        elif isinstance(owner, Array):
            if store is None:
                raise Refused("an element is assigned of an array that is no variable: give it a name first", code="P0106")
            self.expect_writable(owner, node)
            store(self.updated(owner, index, value).over([owner]))
        else:
            raise Refused(f"{describe(owner)} does not support item assignment")

    def set_list_item(self, owner: ListObject, index: Any, value: Any) -> None:
        items = owner.items
        if kind_of_number(index) and isinstance(items, Fixed):
            at = index + len(items.items) if index < 0 else index
            if not 0 <= at < len(items.items):
                raise Refused("list assignment index out of range")
            made = [*items.items]
            made[at] = value
            self.change(owner, "items", Fixed(tuple(made)))
            return
        if isinstance(index, (Weak, Array)) or kind_of_number(index):
            if isinstance(items, Fixed):
                items = growing(self.emit, items)
            at = self.list_index(items, index)
            self.change(owner, "items", with_item(self.emit, items, at, value))
            return
        if isinstance(index, Slice):
            raise Refused("a slice of a list is assigned: assign its items one by one", code="P0112")
        raise Refused(f"an index of a list is {describe(index)}")

    def expect_writable(self, array: Array, node: ast.expr) -> None:
        """Refuses an assignment to an element of the array that an expression names, if another name would see it in
        NumPy."""
        text = ast.unparse(node)
        if not array.owned:
            raise Refused(f"an element of '{text}' is assigned, which was not made in this function: the caller's "
                          f"array would change; use '{text} = {text}.copy()' first", code="P0106")
        found = [(name, site) for name, value, site in self.references() if value.roots & array.roots]
        if len(found) > 1:
            own = next((site for name, site in found if name == text), None)
            other, site = next((one for one in found if one[0] != text), found[0])
            raise Refused(f"an element of '{text}' is assigned, but '{other}' is the same array or a view of "
                          "it: in NumPy it would change too",
                          note("it got its second name here", max(filter(None, (own, site)), default=None,
                                                                  key=lambda s: s.line)), code="P0106")

    def references(self) -> Any:
        """All that names an array: (name, array, site)."""
        frame = self.frame
        seen = set()
        pending: list[tuple[str, Any, Any]] = []
        frames: list[Any] = []
        while frame is not None and id(frame) not in seen:
            seen.add(id(frame))
            frames.append(frame)
            parent = frame.parent
            while parent is not None and id(parent) not in seen:
                seen.add(id(parent))
                frames.append(parent)
                parent = parent.parent
            frame = frame.caller  # type: ignore[assignment]
        for at, found in enumerate(frames):
            for key, (value, site) in found.cells.items():
                if isinstance(key, str):
                    pending.append((key if at == 0 else f"{key} of {found.name}", value, site))
        done = set()
        while pending:
            name, value, site = pending.pop()
            if isinstance(value, Partial):
                value = value.value
            if isinstance(value, Array):
                yield name, value, site
            elif isinstance(value, tuple):
                pending += [(f"{name}[{i}]", part, site) for i, part in enumerate(value)]
            elif id(value) in done:
                continue
            elif isinstance(value, ListObject):
                done.add(id(value))
                pending += [(f"{name}[{i}]", part, site) for i, part in enumerate(arrays_in(value.items))]
            elif isinstance(value, DictObject):
                done.add(id(value))
                pending += [(f"{name}[{k!r}]", part, site) for k, part in value.items.items()]
            elif isinstance(value, Struct):
                done.add(id(value))
                pending += [(f"{name}.{k}", part, site) for k, part in value.fields.items()]
            elif isinstance(value, Method):
                pending.append((f"{name}.{value.name}", value.owner, site))
            elif isinstance(value, Function):
                done.add(id(value))
                pending += [(f"{name}()", default, site) for default in value.defaults]
                if id(value.frame) not in seen:
                    seen.add(id(value.frame))
                    pending += [(f"{key} of {value.frame.name}", part, where)
                                for key, (part, where) in value.frame.cells.items() if isinstance(key, str)]

    # ---- control flow ----

    def parted(self, node: ast.If | ast.While) -> tuple[ast.expr, ast.If | None]:
        """The condition of an if or a while, and, where a part of an `and` behind the first one assigns a name, the if with
        these parts: there the name has its value, as in the body. The else is part of both ifs, so only one in a chain is
        divided."""
        if node not in self.parts:
            test, inner = node.test, None
            if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and assigns(test.values[1:]) and not assigns(node.orelse):
                rest = test.values[1:]
                second = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(test.op, rest), rest[0])
                otherwise: list[ast.stmt] = node.orelse if isinstance(node, ast.If) else [ast.copy_location(ast.Break(), second)]
                test, inner = test.values[0], ast.copy_location(ast.If(second, node.body, otherwise), second)
            self.parts[node] = test, inner
        return self.parts[node]

    def if_statement(self, node: ast.If, block: list[ast.stmt], behind: int) -> bool:
        """Executes an if. True if it executed the rest of its block too, on the only way that leads there."""
        test, inner = self.parted(node)
        body: list[ast.stmt] = node.body if inner is None else [inner]
        condition = self.condition(test)
        if isinstance(condition, bool):
            self.block(body if condition else node.orelse)
            return False
        sites = self.sites(node)
        then = self.arm(lambda: self.block(body))
        self.node = node
        if then.left is True:
            def otherwise() -> None:
                self.block(node.orelse)
                self.guarded(lambda: self.block(block, behind))

            self.join_arms(condition, then, self.arm(otherwise), sites)
            return True
        other = self.arm(lambda: self.block(node.orelse))
        self.node = node
        if other.left is True:
            then = self.arm(lambda: self.guarded(lambda: self.block(block, behind)), then)
            self.node = node
            self.join_arms(condition, then, other, sites)
            return True
        self.join_arms(condition, then, other, sites)
        return False

    def condition(self, test: ast.expr) -> bool | int:
        """The truth of an expression: static, or a boolean of the graph."""
        if isinstance(test, ast.BoolOp):
            return self.bool_condition(isinstance(test.op, ast.And), test.values)
        value = self.eval(test)
        before, self.node = self.node, test
        found = truth(self.emit, value)
        self.node = before
        return found  # type: ignore[no-any-return]

    def bool_condition(self, is_and: bool, nodes: list[ast.expr]) -> bool | int:
        """The truth of `and` or `or`, whose operands may be of different types."""
        found = self.condition(nodes[0])
        if len(nodes) == 1:
            return found
        if isinstance(found, bool):
            return self.bool_condition(is_and, nodes[1:]) if found == is_and else found

        def rest() -> Weak:
            more = self.bool_condition(is_and, nodes[1:])
            return Weak("bool", self.emit.constant(more) if isinstance(more, bool) else more)

        def known() -> Weak:
            return Weak("bool", self.emit.constant(not is_and))

        made: Weak = self.choose(found, rest, known) if is_and else self.choose(found, known, rest)
        return made.id

    def do_Return(self, node: ast.Return) -> None:
        value = None if node.value is None else self.eval(node.value)
        self.state.write(self.frame, VALUE, value, self.site())
        self.state.write(self.frame, RETURN, True, self.site())

    def do_Continue(self, node: ast.Continue) -> None:
        self.state.write(self.frame, ("continue", self.frame.depth), True, self.site())

    def do_Assert(self, node: ast.Assert) -> None:
        condition = self.condition(node.test)
        if condition is True:
            return
        ways = self.emit.constant(False) if condition is False else condition

        def fail() -> None:
            text = "" if node.msg is None else self.text(self.eval(node.msg))
            self.node = node
            never = self.emit.constant(False)
            self.emit.op("Assert", [never, self.string(text)], {"summarize": 3})

        if node.msg is None:
            self.emit.op("Assert", [ways, self.string("")], {"summarize": 3})
        else:
            # The message is only made where it is needed.
            self.choose(ways, lambda: None, fail)

    def do_Raise(self, node: ast.Raise) -> None:
        """Refuses the statement, with the exception's words if they are known."""
        words = "'raise' cannot be compiled"
        if node.exc is not None:
            try:
                raised = self.eval(node.exc)
            except Refused:
                raised = None  # its words are only known when it runs
            if isinstance(raised, type):
                words += f": {raised.__name__}"
            elif isinstance(raised, BaseException):
                words += f": {type(raised).__name__}: {raised}"
        self.node = node
        raise Refused(words, code="P0102")

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.delete(target)

    def delete(self, target: ast.expr) -> None:
        """Deletes a variable."""
        self.node = target
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.delete(part)
        elif isinstance(target, ast.Name):
            self.eval(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            self.assign_name(target.id, Poison(f"variable '{target.id}' is not assigned any more",
                                               note("it is deleted here", self.site()), None, code="P0105"))
        else:
            raise Refused("'del' of an item or an attribute cannot be compiled", code="P0102")

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        made: Any = self.function(node, node.name)
        for decorator in reversed(node.decorator_list):
            made = self.call(self.eval(decorator), [made], {})
        self.assign_name(node.name, made)

    def do_Match(self, node: ast.Match) -> None:
        subject = self.eval(node.subject)
        self.match_cases(subject, node.cases)

    def match_cases(self, subject: Any, cases: list[ast.match_case]) -> None:
        if not cases:
            return
        case, rest = cases[0], cases[1:]
        names: list[tuple[str, Any]] = []
        matches = self.pattern(subject, case.pattern, names)

        def bind() -> None:
            for name, value in names:
                self.assign_name(name, value)

        def body() -> None:
            bind()
            self.block(case.body)

        def guarded(test: ast.expr) -> Any:
            bind()
            goes = self.condition(test)
            return goes if isinstance(goes, bool) else Weak("bool", goes)

        test = case.guard
        if test is not None and matches is not False:
            goes = guarded(test) if matches is True else self.choose(matches, lambda: guarded(test), lambda: False)
            matches = goes if isinstance(goes, bool) else goes.id
        if matches is True:
            body()
        elif matches is False:
            self.match_cases(subject, rest)
        else:
            self.choose(matches, body, lambda: self.match_cases(subject, rest))

    def pattern(self, subject: Any, node: ast.pattern, names: list[tuple[str, Any]]) -> Any:
        """Whether a value matches: True, False, or a boolean of the graph."""
        self.node = node
        if isinstance(node, ast.MatchValue):
            return self.truth_of_comparison(ast.Eq, subject, self.eval(node.value))
        if isinstance(node, ast.MatchSingleton):
            if isinstance(node.value, bool) and isinstance(subject, Weak):
                return subject.kind == "bool" and self.truth_of_comparison(ast.Eq, subject, node.value)
            return subject is node.value
        if isinstance(node, ast.MatchAs):
            inner = True if node.pattern is None else self.pattern(subject, node.pattern, names)
            if node.name:
                names.append((node.name, subject))
            return inner
        if isinstance(node, ast.MatchOr):
            found: Any = False
            for part in node.patterns:
                one = self.pattern(subject, part, names)
                if one is True:
                    return True
                if one is not False:
                    found = one if found is False else self.emit.op("LogicalOr", [found, one])[0]
            return found
        if isinstance(node, ast.MatchSequence):
            if not isinstance(subject, (tuple, ListObject)):
                return False
            if isinstance(subject, ListObject) and isinstance(subject.items, Growing):
                raise Refused("a pattern of a list whose length is only known when it runs", code="P0109")
            items = self.all_items(subject)
            stars = [i for i, part in enumerate(node.patterns) if isinstance(part, ast.MatchStar)]
            if stars:
                at, behind = stars[0], len(node.patterns) - stars[0] - 1
                if len(items) < at + behind:
                    return False
                star = node.patterns[at]
                assert isinstance(star, ast.MatchStar)
                if star.name:
                    names.append((star.name, ListObject(self.state, items[at:len(items) - behind])))
                pairs = [*zip(items[:at], node.patterns[:at]),
                         *zip(items[len(items) - behind:], node.patterns[at + 1:])]
            else:
                if len(items) != len(node.patterns):
                    return False
                pairs = list(zip(items, node.patterns))
            return self.all_match(pairs, names)
        if isinstance(node, ast.MatchClass):
            cls = self.eval(node.cls)
            if not self.is_instance(subject, cls):
                return False
            positional = getattr(cls, "__match_args__", ())
            attributes = list(positional)[:len(node.patterns)] + list(node.kwd_attrs)
            if len(node.patterns) == 1 and cls in (int, float, bool, str, list, tuple):
                return self.pattern(subject, node.patterns[0], names)
            if len(node.patterns) > len(positional):
                raise Refused(f"{cls.__name__}() accepts {len(positional)} positional sub-patterns "
                              f"({len(node.patterns)} given)")
            values = [self.attribute(subject, name) for name in attributes]
            return self.all_match(list(zip(values, [*node.patterns, *node.kwd_patterns])), names)
        if isinstance(node, ast.MatchMapping) and isinstance(subject, DictObject):
            keys = [self.eval(key) for key in node.keys]
            if any(key not in subject.items for key in keys):
                return False
            if node.rest:
                rest = {key: value for key, value in subject.items.items() if key not in keys}
                names.append((node.rest, DictObject(self.state, rest)))
            return self.all_match([(subject.items[key], part) for key, part in zip(keys, node.patterns)], names)
        return False

    def all_match(self, pairs: list[tuple[Any, ast.pattern]], names: list[tuple[str, Any]]) -> Any:
        found: Any = True
        for value, part in pairs:
            one = self.pattern(value, part, names)
            if one is False:
                return False
            if one is not True:
                found = one if found is True else self.emit.op("LogicalAnd", [found, one])[0]
        return found

    def function(self, node: ast.FunctionDef | ast.Lambda, name: str) -> Function:
        from .source import Scope

        arguments = node.args
        defaults = [self.eval(default) for default in arguments.defaults]
        kw_defaults = [None if default is None else (self.eval(default),) for default in arguments.kw_defaults]
        return Function(node, self.frame, defaults, kw_defaults, name, Scope(node))


def assigns(nodes: Iterable[ast.AST]) -> bool:
    """True if an expression in these assigns a name."""
    return any(isinstance(found, ast.NamedExpr) for node in nodes for found in ast.walk(node))
