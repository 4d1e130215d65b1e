"""The staging interpreter: executes a function's syntax tree on static values by Python's rules, on staged ones by
building ops.

    Interpreter = Statements + Loops + Expressions + Calls + Control     one module each
    Control     frames, names, sites, and the join of two arms of control flow

Leaving (`return`, `break`, `continue`) is a flag per kind, a cell of the frame: False, True, or a boolean of the
graph. What follows in a block is guarded by them, so that behind an exit neither a condition nor a statement is
evaluated.
"""

from __future__ import annotations

import ast
import builtins
import operator
import os
import types
from typing import TYPE_CHECKING, Any, Callable, Iterable

from .emitter import Emitter
from .errors import Refused, Site, note
from .joins import (
    Differ, Known, NumberLeaf, coerce, instantiate, join, leaf_type, leaves, make_tuple, to_template,
)
from .names import KEPT, MISSING, UNASSIGNED, Cell, Changes, Owner, State
from .source import Scope
from .values import Fixed, Generated, Once, Partial, Poison, Sequence, Weak, describe

RETURN = ("return", 0)
VALUE = ("value", 0)
AT_BREAK = "value at break"
TABLE_FOLDER = os.path.join(os.path.dirname(__file__), "table", "")
MAX_DEPTH = 200


class Frame(Owner):
    """The variables of a call. `is_hidden`: of a definition of the table, of which no traceback tells."""

    def __init__(self, state: State, name: str, file: str, scope: Scope, parent: Frame | None,
                 function: types.FunctionType | None, module_globals: dict[str, Any]):
        super().__init__(state)
        self.name = name
        self.file = file
        self.scope = scope
        self.parent = parent
        self.function = function
        self.globals = module_globals
        self.caller: Frame | None = None
        self.call_node: ast.AST | None = None
        self.depth = 0
        self.n_calls = 0
        self.unassigned: dict[int, list[str]] = {}  # by depth of a loop: names without a value before it
        self.places: dict[ast.AST, Site] = {}
        self.signature: Any = None
        self.closure: dict[str, Any] = {}
        self.is_hidden = file.startswith(TABLE_FOLDER)
        if function is not None and function.__closure__:
            for variable, cell in zip(function.__code__.co_freevars, function.__closure__):
                try:
                    self.closure[variable] = cell.cell_contents
                except ValueError:
                    pass  # not assigned yet
        self.cells[RETURN] = (False, None)


class Arm:
    """One way of a conditional: a filled block, what it changed, and what it computed."""

    def __init__(self, clock: int, block: int, raw: Changes, changes: Changes, owners: dict[Owner, Owner], result: Any, left: Any,
                 returned: Any):
        self.clock = clock
        self.block = block
        self.raw = raw
        self.changes = changes  # `raw`, with lists and objects as they were at its end
        self.owners = owners  # these lists and objects
        self.result = result
        self.left = left
        self.returned = returned

    def at_end(self, at: tuple[Owner, Any]) -> Cell:
        """A cell at the end of the way. What the way did not write may hold a list or an object that it changed."""
        if at in self.changes:
            return self.changes[at]
        value, site = at[0].cells.get(at[1], UNASSIGNED)
        return (as_now(value, set(self.owners), self.owners) if self.owners else value), site


class PartialTemplate:
    def __init__(self, value: Any, poison: Poison):
        self.value = value
        self.poison = poison


class Control:
    """Frames, names, and the join of control flow."""

    frame: Frame
    node: ast.AST

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...  # a method of another part of the interpreter

    def __init__(self, name: str, unroll: int):
        self.state = State()
        self.emit = Emitter(name, lambda: ((self.node, self.frame), self.sites))
        self.evaluators: dict[type, Callable[[Any], Any]] = {}
        self.executors: dict[type, Callable[[Any], None]] = {}
        self.unroll = unroll
        self.unrolled = 0
        self.parts: dict[ast.AST, tuple[ast.expr, ast.If | None]] = {}  # conditions of which a part assigns a name, by their statements
        self.prints = False
        self.keep: list[Any] = []

    # ---- places ----

    def site(self, node: ast.AST | None = None, frame: Frame | None = None) -> Site:
        """The place of a node; in a definition of the table that of the call."""
        node, frame = node or self.node, frame or self.frame
        known = frame.places.get(node)
        if known is None:
            known = frame.places[node] = self.new_site(node, frame)
        return known

    def new_site(self, node: ast.AST, frame: Frame) -> Site:
        while frame.is_hidden and frame.caller is not None:
            node, frame = frame.call_node or node, frame.caller
        line = getattr(node, "lineno", 0)
        return Site(frame.file, frame.name, line, getattr(node, "col_offset", 0),
                    getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or 0)

    def sites(self, node: ast.AST | None = None) -> tuple[Site, ...]:
        """The place of a node and of the calls that led to it, innermost first."""
        out = [self.site(node)]
        frame = self.frame
        while frame.caller is not None:
            if not frame.is_hidden:
                out.append(self.site(frame.call_node, frame.caller))
            frame = frame.caller
        return tuple(out)

    # ---- names ----

    def owner_of(self, name: str) -> Frame | None:
        """The frame whose variable a name is; None for a variable outside of what is compiled."""
        frame: Frame | None = self.frame
        first = True
        while frame is not None:
            if name in frame.scope.globals and first:
                return None
            if name in frame.scope.assigned:
                return frame
            frame, first = frame.parent, False
        return None

    def lookup(self, name: str) -> Any:
        """The value of a name."""
        owner = self.owner_of(name)
        if owner is not None:
            return self.read(owner, name)
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.closure:
                return self.outside(frame.closure[name])
            frame = frame.parent
        if name in self.frame.globals:
            return self.outside(self.frame.globals[name])
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise Refused(f"name '{name}' is not defined")

    def outside(self, value: Any) -> Any:
        """An object of outside: it is read once, when it is compiled."""
        raise NotImplementedError

    def read(self, owner: Owner, key: Any) -> Any:
        value, _ = owner.cells.get(key, UNASSIGNED)
        if isinstance(value, Partial):
            return value.value
        if isinstance(value, Poison):
            raise Refused(value.message, value.notes, value.sites or self.sites(), code=value.code)
        if value is MISSING:
            raise Refused(f"local variable '{key}' is used before it is assigned", code="P0105")
        if isinstance(value, Once):
            if value.cells["used"][0] is not False:
                raise Refused(f"the iterator '{key}' is used a second time, when nothing is left of it: make a list of it",
                              note("it was used here", value.cells["used"][1]), code="P0112")
            self.state.write(value, "used", True, self.site())
            return value.items
        return value

    def assign_name(self, name: str, value: Any) -> None:
        frame = self.frame
        if name in frame.scope.globals:
            raise Refused(f"the global variable '{name}' is assigned: a compiled function cannot change it", code="P0102")
        owner = self.owner_of(name)
        if owner is None:
            raise Refused(f"the variable '{name}' of an outer function that is not compiled is assigned", code="P0102")
        self.state.write(owner, name, self.named(value), self.site())

    def named(self, value: Any) -> Any:
        """The value of a variable."""
        is_iterator = isinstance(value, Generated) or isinstance(value, Sequence) and value.range is None
        return Once(self.state, value) if is_iterator else value

    def change(self, owner: Owner, key: Any, value: Any) -> None:
        """Changes a list, a dict or an object. Raises Refused if a list of staged length has it, or if another one that
        is still in use may be the same object."""
        if owner.others:
            used = self.used_owners()
            if any(other in used for other in owner.others):
                raise Refused(f"{describe(owner)} is changed, and another one that is still in use may be the same, since a "
                              "branch chose between them: change a copy, or give each branch a new one", code="P0106")
        if owner.is_kept:
            raise Refused(f"{describe(owner)} is changed that is an item of a list whose length is only known when it "
                          "runs, where it would stay as it is: change a copy, and assign that to the item", code="P0106")
        self.state.write(owner, key, value, self.site())

    def used_owners(self) -> set[Owner]:
        """The lists and objects that variables reach."""
        frames: list[Frame] = []
        pending: list[Any] = [self.frame]
        while pending:
            frame = pending.pop()
            if frame is not None and frame not in frames:
                frames.append(frame)
                pending += [frame.caller, frame.parent]
        found: set[Owner] = set()
        pending = [value for frame in frames for value, _ in frame.cells.values()]
        while pending:
            value = pending.pop()
            if isinstance(value, Partial):
                pending.append(value.value)
            elif isinstance(value, (tuple, list)):
                pending += value
            elif isinstance(value, Fixed):
                pending += value.items
            elif isinstance(value, dict):
                pending += value.values()
            elif isinstance(value, Owner) and value not in found:
                found.add(value)
                pending += [part for part, _ in value.cells.values()]
        return found

    # ---- leaving ----

    def flag(self, key: Any) -> Any:
        value = self.frame.cells.get(key, (False, None))[0]
        return value.value if isinstance(value, Partial) else value

    def leaving(self, with_continue: bool = True) -> Any:
        """Whether control flow has left the rest of the block: True, False, or a boolean of the graph."""
        depth = self.frame.depth
        flags = [self.flag(RETURN)]
        if depth:
            flags.append(self.flag(("break", depth)))
            if with_continue:
                flags.append(self.flag(("continue", depth)))
        return self.any_of(flags)

    def any_of(self, flags: Iterable[Any]) -> Any:
        found: Any = False
        for flag in flags:
            if flag is True:
                return True
            if isinstance(flag, Weak):
                found = flag if found is False else Weak(
                    "bool", self.emit.op("LogicalOr", [found.id, flag.id])[0], found.origin)
        return found

    def guarded(self, run: Callable[[], None]) -> None:
        """Runs what follows, unless control flow has left."""
        left = self.leaving()
        if left is False:
            run()
        elif isinstance(left, Weak):
            depth = self.frame.depth
            key = next((key for key in (RETURN, ("break", depth), ("continue", depth)) if self.flag(key) is left), None)

            def leave() -> None:
                if key is not None:  # here the flag is known
                    self.state.write(self.frame, key, True)

            self.choose(left.id, leave, run)

    # ---- arms ----

    def arm(self, run: Callable[[], Any], again: Arm | None = None) -> Arm:
        """Interprets one way of a conditional in a block of its own, or goes on with one."""
        graph = self.emit.graph
        mark = self.state.mark(None if again is None else again.clock)
        block = graph.block([])[0] if again is None else again.block
        before = graph.enter(block)
        if again is not None:
            self.state.apply(again.raw)
        result = run()
        left, returned = self.leaving(), self.flag(RETURN)
        raw = self.state.changes(mark)
        changes, owners = self.changes_now(raw)
        if owners:
            result = as_now(result, set(owners), owners)
        self.state.take(mark)
        graph.enter(before)
        return Arm(mark.clock, block, raw, changes, owners, result, left, returned)

    def changes_now(self, raw: Changes) -> tuple[Changes, dict[Owner, Owner]]:
        """Changes with lists and objects as they are now, and these; some have not changed, but what is in them."""
        changed = {owner for owner, _ in raw if not isinstance(owner, Frame)}
        owners: dict[Owner, Owner] = {}
        if not changed:
            return raw, owners
        for owner in changed:
            as_now(owner, changed, owners)
        return {at: (as_now(value, changed, owners), site) for at, (value, site) in raw.items()}, owners

    def choose(self, condition: int, then: Callable[[], Any], otherwise: Callable[[], Any],
               sites: tuple[Site, ...] | None = None) -> Any:
        """A conditional on a boolean of the graph. Returns the join of what the ways return."""
        sites = sites or self.sites()
        return self.join_arms(condition, self.arm(then), self.arm(otherwise), sites)

    def join_arms(self, condition: int, a: Arm, b: Arm, sites: tuple[Site, ...]) -> Any:
        keys = list(dict.fromkeys([*a.changes, *b.changes]))
        rows: list[tuple[Any, Any, Any]] = []
        for at in keys:
            rows.append(self.joined(*at, a.at_end(at), b.at_end(at), a, b, sites))
        try:
            result = join(a.result, b.result)
        except Differ as error:
            raise Refused(f"a value is {error.a} on one way and {error.b} on the other", sites=sites, code="P0104") from None
        rows.append((result, a.result, b.result))
        graph, emit = self.emit.graph, self.emit
        ids: list[list[int]] = []
        for block, side in ((a.block, 1), (b.block, 2)):
            before = graph.enter(block)
            out: list[int] = []
            for row in rows:
                out += coerce(emit, row[side], strip(row[0]))
            graph.enter(before)
            ids.append(out)
        types = [leaf_type(leaf) for row in rows for leaf in leaves(strip(row[0]))]
        emit.locate()
        made = iter(graph.if_region(condition, (a.block, ids[0]), (b.block, ids[1]), types))
        known = Known(min(a.clock, b.clock))
        for (owner, key), (template, *_) in zip(keys, rows):
            site = (b.changes.get((owner, key)) or a.changes[owner, key])[1]
            self.state.write(owner, key, self.restore(template, made, known), site)
        return self.restore(result, made, known)

    def restore(self, template: Any, ids: Any, known: Known) -> Any:
        """The value of a template."""
        if isinstance(template, PartialTemplate):
            return Partial(instantiate(self.emit, self.state, template.value, ids, known), template.poison)
        return instantiate(self.emit, self.state, template, ids, known)

    def joined(self, owner: Owner, key: Any, a: Cell, b: Cell, arm_a: Arm, arm_b: Arm,
               sites: tuple[Site, ...]) -> tuple[Any, Any, Any]:
        """The template of a cell behind a conditional, and its values on both ways."""
        x, y = a[0], b[0]
        if key == KEPT:
            return True, True, True
        if owner is self.frame and key != VALUE and key != RETURN:
            # The variables of the frame are not read after a return.
            if arm_a.returned is True and arm_b.returned is not True:
                return self.kept(y, arm_b), MISSING, y
            if arm_b.returned is True and arm_a.returned is not True:
                return self.kept(x, arm_a), x, MISSING
        poison: Poison | None = None
        for part in (x, y):
            if isinstance(part, Partial):
                poison = part.poison
        x, y = (part.value if isinstance(part, Partial) else part for part in (x, y))
        if x is MISSING and y is MISSING:
            return MISSING, x, y
        for one, other, arm in ((x, y, arm_a), (y, x, arm_b)):
            if isinstance(one, Poison) or one is MISSING and key != VALUE and not is_at_break(key):
                if one is MISSING:
                    one = Poison(f"variable '{key}' is not assigned on every way to its use",
                                 note("this statement may skip the assignment", sites[0]), None, code="P0105")
                if isinstance(other, Poison) or arm.left is not True:
                    return one, MISSING, MISSING
                template = PartialTemplate(to_template(other, (arm_b if arm is arm_a else arm_a).clock), one)
                return (template, MISSING, y) if arm is arm_a else (template, x, MISSING)
        try:
            template = join(x, y)
        except Differ as error:
            poison = self.conflict(owner, key, error, a[1], b[1], sites)
            if key != VALUE and arm_a.left is True and arm_b.left is not True:
                return PartialTemplate(to_template(y, arm_b.clock), poison), MISSING, y
            if key != VALUE and arm_b.left is True and arm_a.left is not True:
                return PartialTemplate(to_template(x, arm_a.clock), poison), x, MISSING
            return poison, MISSING, MISSING
        if isinstance(template, NumberLeaf) and isinstance(key, tuple):
            template.origin = template.origin or sites
        if poison is not None:
            template = PartialTemplate(template, poison)
        return template, x, y

    def kept(self, value: Any, arm: Arm) -> Any:
        """The template of a value that only one way has. Lists and objects that are older than the way stay themselves:
        what it changed in them is among its changes."""
        if isinstance(value, Partial):
            return PartialTemplate(to_template(value.value, arm.clock), value.poison)
        return to_template(value, arm.clock)

    def conflict(self, owner: Owner, key: Any, error: Differ, a: Site | None, b: Site | None,
                 sites: tuple[Site, ...]) -> Poison:
        """The refusal of a variable that would be two things."""
        if key == VALUE:
            return Poison(f"'{self.frame.name}' would return {error.a} or {error.b}: every return must give a "
                          "value of the same type", note("the other return", b or a), sites, code="P0104")
        what = f"'{key}'" if isinstance(owner, Frame) else "an item of a list" if key == "items" else f"'.{key}'"
        notes = note("it is assigned here", b) if b != a else ()
        if a is not None and b is not None and a != b:
            notes = note("it is assigned here", a) + notes
        return Poison(f"{what} would be {error.a} on one way and {error.b} on the other", notes, sites, code="P0104")


def as_now(value: Any, changed: set[Owner], memo: dict[Owner, Owner]) -> Any:
    """A value in which the owners that changed are as they are now; the value itself if it has none of them."""
    if isinstance(value, Partial):
        return Partial(as_now(value.value, changed, memo), value.poison)
    if isinstance(value, tuple):
        parts = [as_now(part, changed, memo) for part in value]
        return value if all(map(operator.is_, parts, value)) else make_tuple(value, parts)
    if isinstance(value, Fixed):
        items = as_now(value.items, changed, memo)
        return value if items is value.items else Fixed(items)
    if isinstance(value, dict):
        found = {key: as_now(part, changed, memo) for key, part in value.items()}
        return value if all(found[key] is part for key, part in value.items()) else found
    if isinstance(value, Owner):
        if value not in memo:
            made = memo[value] = value.as_now() if value in changed else value
            cells = {key: (as_now(part, changed, memo), site) for key, (part, site) in value.cells.items()}
            if made is value and any(cells[key][0] is not part for key, (part, _) in value.cells.items()):
                made = memo[value] = value.as_now()
            if made is not value:
                made.cells = cells
        return memo[value]
    return value


def is_at_break(key: Any) -> bool:
    return isinstance(key, tuple) and key[0] == AT_BREAK


def strip(template: Any) -> Any:
    """A template without the mark that it is partial."""
    return template.value if isinstance(template, PartialTemplate) else template
