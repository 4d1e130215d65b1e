"""Loops: unrolled while everything that decides about another iteration is static, staged otherwise.

    unroll:  condition, iterable and exits static ──▶ the body once per iteration, at most `unroll` of them
    stage:   assume that nothing changes ──▶ interpret the body ──▶ what changed gets a type, and again, until
             types stay. Each try is taken back but the last.
"""

from __future__ import annotations

import ast
from typing import Any, Callable

import numpy as np

from .arithmetic import compare, truth
from .errors import Refused, note
from .interpreter import AT_BREAK, RETURN, VALUE, Control, Frame
from .joins import Differ, coerce, instantiate, join, keep_grown, leaf_type, leaves, same, to_template
from .names import KEPT, MISSING, UNASSIGNED, Changes, Owner
from .settled import Key, Memory, Settled, Trips, settled
from .values import Partial, Poison, Sequence, Weak

# Limit of the tries to find the types of a loop's variables.
MAX_TRIES = 32
# How often a function's loops begin anew where what the last try remembers does not fit.
MAX_FORGOTTEN = 32


class Restage(Exception):
    """A loop that was unrolled must be staged."""


class Loops(Control):
    """Executes loops."""

    memory: Memory | None = None
    n_forgotten = 0

    def do_While(self, node: ast.While) -> None:
        first, inner = (node.test, None) if node.orelse else self.parted(node)
        body: list[ast.stmt] = node.body if inner is None else [inner]

        def test() -> Any:
            return self.condition(first)

        self.loop(node, test, lambda: self.block(body), node.orelse)

    def do_For(self, node: ast.For) -> None:
        self.for_each(node, self.sequence(self.eval(node.iter)), lambda item: self.for_body(node, item), node.orelse)

    def for_body(self, node: ast.For, item: Any) -> None:
        self.assign(node.target, item)
        self.block(node.body)

    def loop(self, node: ast.stmt, test: Callable[[], Any], body: Callable[[], None],
             orelse: list[ast.stmt]) -> None:
        """A while loop."""
        self.attempt(node, lambda: self.unrolled_loop(node, test, body, orelse),
                     lambda known: self.staged_loop(node, test, body, orelse, False, known))

    def for_each(self, node: ast.AST, items: Sequence, body: Callable[[Any], None], orelse: list[ast.stmt]) -> None:
        """A loop over the items of a sequence."""
        def unrolled() -> None:
            position = [-1]

            def test() -> Any:
                position[0] += 1
                length = items.length
                return position[0] < length if isinstance(length, int) else length

            self.unrolled_loop(node, test, lambda: body(items.get(position[0])), orelse)

        def staged(known: Settled | None) -> None:
            key = ("index", self.frame.depth + 1)
            self.state.write(self.frame, key, 0)

            def test() -> Any:
                return truth(self.emit, compare(self.emit, ast.Lt, self.frame.cells[key][0], items.length))

            def step() -> None:
                index = self.frame.cells[key][0]
                self.state.write(self.frame, key, self.operate(ast.Add, index, 1))
                body(items.get(index))

            length = items.length
            self.staged_loop(node, test, step, orelse, isinstance(length, int) and length > 0, known)

        if items.is_staged:
            staged(None if self.memory is None else self.memory.recall(self.loop_key(node)))
        elif items.can_stage:
            self.attempt(node, unrolled, staged)
        else:
            self.guarded_loop(node, items, body, orelse)

    def loop_key(self, node: ast.AST) -> Key:
        return node, self.frame.n_calls

    def attempt(self, node: ast.AST, unrolled: Callable[[], None], staged: Callable[[Settled | None], None]) -> None:
        graph, outer = self.emit.graph, self.memory
        known = None if outer is None else outer.recall(self.loop_key(node))
        if known is not None and known.is_staged:
            staged(known)
            return
        mark, checkpoint = self.state.mark(), graph.checkpoint()
        place = (self.frame, self.node, self.frame.depth, self.unrolled)
        tried = self.memory = Memory(outer.clock if outer else mark.clock, known.inner if known else {})
        try:
            unrolled()
        except Restage:
            self.memory = outer
            self.state.take(mark)
            graph.rollback(checkpoint)
            self.frame, self.node, self.frame.depth, self.unrolled = place
            staged(Settled({}, tried.now, False))
        else:
            if outer is not None:
                outer.record(self.loop_key(node), Settled({}, tried.now, False, is_staged=False))
        finally:
            self.memory = outer

    def count_iteration(self) -> None:
        self.unrolled += 1
        if self.unrolled > self.unroll:
            raise Refused(f"loops whose number of iterations is static are unrolled, and this makes more than "
                          f"unroll={self.unroll} iterations: use bf.range, or give a larger limit", code="P0107")

    def unrolled_loop(self, node: ast.AST, test: Callable[[], Any], body: Callable[[], None],
                      orelse: list[ast.stmt]) -> None:
        """The body once per iteration. Raises Restage if condition or exits are not static."""
        frame = self.frame
        depth = self.enter_loop(orelse)
        while True:
            self.node = node
            goes = test()
            if not isinstance(goes, bool):
                frame.depth -= 1
                raise Restage
            if not goes:
                break
            self.count_iteration()
            self.state.write(frame, ("continue", depth), False)
            body()
            left = self.leaving(with_continue=False)
            if left is True:
                break
            if left is not False:
                frame.depth -= 1
                raise Restage
        self.state.write(frame, ("continue", depth), False)
        frame.depth -= 1
        # Not a question of the flags: in the body of a staged loop, that of a return is a variable.
        if not goes:
            self.block(orelse)

    def guarded_loop(self, node: ast.AST, items: Sequence, body: Callable[[Any], None],
                     orelse: list[ast.stmt]) -> None:
        """The body once per item of a sequence that no graph can index, each guarded by the exits before."""
        frame = self.frame
        depth = self.enter_loop(orelse)

        def trips(i: int) -> None:
            while i < items.length:
                self.node = node
                self.count_iteration()
                self.state.write(frame, ("continue", depth), False)
                body(items.get(i))
                self.node = node
                self.state.write(frame, ("continue", depth), False)
                left = self.leaving()
                if left is True:
                    return
                i += 1
                if left is not False:
                    self.guarded(lambda: trips(i))
                    return

        trips(0)
        self.finish_loop(depth, orelse)

    def enter_loop(self, orelse: list[ast.stmt]) -> int:
        """Enters a loop. Returns its depth."""
        frame = self.frame
        frame.depth += 1
        self.state.write(frame, ("break", frame.depth), False)
        frame.unassigned[frame.depth] = [] if not orelse else [
            name for name in sorted(frame.scope.assigned)
            if frame.cells.get(name, UNASSIGNED)[0] is MISSING or isinstance(frame.cells[name][0], Poison)]
        return frame.depth

    def finish_loop(self, depth: int, orelse: list[ast.stmt]) -> None:
        """The else of a loop, unless it was left by break. What was assigned at every break is assigned behind it."""
        frame = self.frame
        broken = self.flag(("break", depth))
        self.state.write(frame, ("continue", depth), False)
        self.state.write(frame, ("break", depth), False)
        frame.depth -= 1

        def left() -> None:
            for key, (value, site) in list(frame.cells.items()):
                if isinstance(key, tuple) and key[:2] == (AT_BREAK, depth) and value is not MISSING \
                        and not isinstance(value, Poison):
                    self.state.write(frame, key[2], value, site)

        def run() -> None:
            if isinstance(broken, Weak):
                self.choose(broken.id, left, lambda: self.block(orelse))
            elif broken is False:
                self.block(orelse)

        if orelse:
            self.guarded(run)
        for key in list(frame.cells):
            if isinstance(key, tuple) and key[:2] == (AT_BREAK, depth):
                self.state.write(frame, key, MISSING)

    def do_Break(self, node: ast.Break) -> None:
        frame = self.frame
        depth = frame.depth
        for name in frame.unassigned.get(depth, ()):
            value = frame.cells.get(name, UNASSIGNED)[0]
            if value is MISSING or isinstance(value, (Poison, Partial)):
                value = Poison(f"variable '{name}' is not assigned at every break", (), None, code="P0105")
            self.state.write(frame, (AT_BREAK, depth, name), value, self.site())
        self.state.write(frame, ("break", depth), True, self.site())

    def staged_loop(self, node: ast.AST, test: Callable[[], Any], body: Callable[[], None],
                    orelse: list[ast.stmt], at_least_once: bool, known: Settled | None = None) -> None:
        """A loop of the graph. `known` is what it came to in the last try of the loop around it."""
        frame, graph, emit = self.frame, self.emit.graph, self.emit
        self.node = node
        sites = self.sites(node)
        depth = self.enter_loop(orelse)
        outer, clock = self.memory, self.state.mark().clock
        if outer is not None:
            clock = outer.clock
        carried: dict[tuple[Owner, Any], Any] = {}
        inner_loops: Trips = {}
        if known is not None:
            carried, inner_loops = known.start(frame, clock, at_least_once, needs_none), known.inner
        for _ in range(MAX_TRIES):
            checkpoint, mark = graph.checkpoint(), self.state.mark()
            memory = self.memory = Memory(clock, inner_loops)
            place = (self.frame, self.node, frame.depth, self.unrolled)
            end: Changes = {}
            inner = None
            try:
                initial = [id for (owner, key), template in carried.items()
                           for id in coerce(emit, self.current(owner, key), template)]
                types = [leaf_type(found) for template in carried.values() for found in leaves(template)]
                cond, args = graph.block(types)
                before = graph.enter(cond)
                self.bind(carried, args, sites)
                inner = self.state.mark()
                goes, always = self.goes_on(test, depth)
                if self.state.changes(inner):
                    self.state.take(mark)
                    graph.rollback(checkpoint)
                    self.frame, self.node, frame.depth, self.unrolled = place
                    frame.depth -= 1
                    self.memory = outer
                    self.test_in_body(node, test, body, orelse, depth, known)
                    return
                once = at_least_once or always
                block, args = graph.block(types)
                graph.enter(block)
                self.state.take(mark)
                inner = None
                self.bind(carried, args, sites)
                bound = {at: at[0].cells.get(at[1], UNASSIGNED)[0] for at in carried}
                inner = self.state.mark()
                self.state.write(frame, ("continue", depth), False)
                body()
                self.node = node
                end, _ = self.changes_now(self.state.changes(inner))
                error: Refused | None = None
            except Refused as refused:
                if not refused.sites:
                    refused.sites = self.sites()
                error = refused
                self.frame, self.node, frame.depth, self.unrolled = place
                end = self.changes_now(self.state.changes(inner))[0] if inner is not None else {}
                once = at_least_once
            finally:
                inner_loops = {**inner_loops, **memory.now}
                self.memory = outer
            self.state.take(mark)
            grown = self.grow(carried, end, once, sites, depth, mark.clock)
            fits = error is not None or known is None or once or not known.once
            if error is None and not grown and fits:
                break
            if error is not None and (error.is_final or not grown and (
                    known is None or self.n_forgotten >= MAX_FORGOTTEN)):
                raise error
            if not grown or not fits:
                self.n_forgotten += 1
                carried, inner_loops, known = {}, {}, None
            graph.rollback(checkpoint)
            self.frame, self.node, frame.depth, self.unrolled = place
        else:
            raise Refused("the types of the loop's variables change in every iteration", sites=sites, code="P0104", is_final=True)
        if outer is not None:
            outer.record(self.loop_key(node), settled(carried, frame, clock, inner_loops, once))
        ids: list[int] = []
        for at, template in carried.items():
            value = end[at][0] if at in end else bound[at]
            ids += coerce(emit, value, template)
        graph.enter(before)
        emit.locate()
        made = iter(graph.while_region(initial, (cond, goes), (block, ids), types))
        for (owner, key), template in carried.items():
            site = end.get((owner, key), UNASSIGNED)[1]
            keep_grown(self.current(owner, key), template)
            self.state.write(owner, key, instantiate(emit, self.state, template, made), site)
        if always and self.flag(("break", depth)) is False and self.flag(RETURN) is not False:
            # A loop whose condition always holds ends by a return only.
            self.state.write(frame, RETURN, True, self.site())
        for (owner, key), (_, site) in end.items():
            missing = owner.cells.get(key, UNASSIGNED)[0] is MISSING
            if missing and (owner, key) not in carried and isinstance(key, str):
                self.state.write(owner, key, Poison(
                    f"variable '{key}' is not assigned if the loop makes no iteration",
                    note("it is assigned in the loop", site), None, code="P0105"), site)
        self.finish_loop(depth, orelse)

    def current(self, owner: Owner, key: Any) -> Any:
        return owner.cells.get(key, UNASSIGNED)[0]

    def bind(self, carried: dict[tuple[Owner, Any], Any], args: list[int], sites: Any) -> None:
        """Gives the loop's variables their values of an iteration."""
        ids = iter(args)
        for (owner, key), template in carried.items():
            value = instantiate(self.emit, self.state, template, ids)
            before, site = owner.cells.get(key, UNASSIGNED)
            if before is MISSING and isinstance(key, str):
                value = Poison(f"variable '{key}' is not assigned in the first iteration",
                               note("the loop", sites[0]), None, code="P0105")
            self.state.write(owner, key, value, site)

    def goes_on(self, test: Callable[[], Any], depth: int) -> tuple[int, bool]:
        """The condition of a loop, unless it was left. And whether it always holds."""
        left = self.leaving(with_continue=False)
        if isinstance(left, Weak):
            always = [False]

            def run() -> Weak:
                goes = test()
                always[0] = goes is True
                return Weak("bool", self.emit.constant(goes) if isinstance(goes, bool) else goes)

            found = self.choose(left.id, lambda: Weak("bool", self.emit.constant(False)), run)
            return found.id, always[0]
        goes = test()
        if isinstance(goes, bool):
            return self.emit.constant(goes), goes
        return goes, False

    def test_in_body(self, node: ast.AST, test: Callable[[], Any], body: Callable[[], None],
                     orelse: list[ast.stmt], depth: int, known: Settled | None) -> None:
        """A loop whose condition changes something: it is evaluated at the end of each iteration."""
        key = ("goes", depth)

        def evaluate() -> None:
            goes = test()
            self.state.write(self.frame, key, goes if isinstance(goes, bool) else Weak("bool", goes))

        def read() -> Any:
            return truth(self.emit, self.frame.cells[key][0])

        def step() -> None:
            body()
            self.state.write(self.frame, ("continue", depth), False)
            self.guarded(evaluate)

        evaluate()
        self.staged_loop(node, read, step, orelse, False, known)

    def grow(self, carried: dict[tuple[Owner, Any], Any], end: Changes, once: bool, sites: Any, depth: int,
             clock: int) -> bool:
        """Makes the types of the loop's variables as general as an iteration needs. True if any changed. Lists and objects
        in them that are older than the loop, by the clock, stay themselves."""
        grown = False
        for (owner, key), (value, site) in end.items():
            if key == ("continue", depth):
                continue
            if isinstance(key, tuple) and key[0] in ("break", "continue", "index", "goes", AT_BREAK) and key[1] > depth \
                    and owner is self.frame:
                continue  # of a loop inside
            if key == KEPT:
                # Also before the iteration: another one may come before it.
                grown = grown or (owner, key) not in carried
                carried[owner, key] = True
                continue
            start, start_site = owner.cells.get(key, UNASSIGNED)
            start = start.value if isinstance(start, Partial) else start
            if isinstance(value, Partial):
                value = value.poison
            known = carried.get((owner, key), MISSING)
            if start is MISSING and not once and not needs_none(key):
                continue
            old = known if known is not MISSING else to_template(start, clock)
            if isinstance(old, Poison) and known is not MISSING:
                continue
            new: Any
            if isinstance(value, Poison):
                new = value
            elif isinstance(old, Poison):
                # Not usable before the loop, assigned in it.
                new = to_template(value) if once else old
                if not once:
                    new = Poison(old.message, old.notes, old.sites, code=old.code)
            else:
                try:
                    new = join(old, value)
                except Differ as error:
                    new = self.loop_conflict(owner, key, error, start_site, site, sites)
            if known is MISSING and not isinstance(new, Poison) and (value is start or (
                    same(new, old) and not any(True for _ in leaves(new)))):
                continue
            # What cannot be used before and after an iteration has no type that the body could see.
            is_unseen = known is MISSING and isinstance(new, Poison) and (old is MISSING or isinstance(old, Poison))
            if not is_unseen and (known is MISSING or not same(new, known)):
                grown = True
            carried[owner, key] = new
        return grown

    def loop_conflict(self, owner: Owner, key: Any, error: Differ, start: Any, site: Any, sites: Any) -> Poison:
        if key == VALUE:
            return self.conflict(owner, key, error, start, site, sites)
        what = f"'{key}'" if isinstance(owner, Frame) else "a list" if key == "items" else f"'.{key}'"
        return Poison(f"{what} is {error.a} before the loop and {error.b} after an iteration: it must keep its type",
                      note("it is assigned here", site), sites, code="P0104")


def needs_none(key: Any) -> bool:
    """True for what a loop carries though it has no value before it."""
    return key == VALUE or isinstance(key, tuple) and key[0] == AT_BREAK
