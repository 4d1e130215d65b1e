"""What the loops inside of a loop came to in its last try, from which those of the next try start.

Each try to find the types of a loop's variables interprets the body again, with the loops inside of it. If each of them
began anew, the work would double with each level. From one try to the next types only become more general, so what a
loop needed in the last one it needs again.

    recall ──▶ Settled of the same loop in the last try ──start──▶ types of its variables
    record ──▶ Settled, for the next try
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Iterator

from .joins import ArrayLeaf, Differ, GrowingTemplate, NumberLeaf, join, leaves, to_template
from .names import KEPT, MISSING, UNASSIGNED, Owner
from .values import Array, Fixed, Partial, Poison, kind_of_number

Key = tuple[ast.AST, int]
"""A loop, and how deep the call is in which it stands."""


class Settled:
    """How a loop was compiled: the types of its variables, by owner and key, and the loops inside of it. `once`: it makes at
    least one iteration. A loop whose iterations were unrolled has none (`is_staged`)."""

    __slots__ = ("types", "inner", "once", "is_staged")

    def __init__(self, types: dict[tuple[Any, Any], Any], inner: Trips, once: bool, is_staged: bool = True):
        self.types = types
        self.inner = inner
        self.once = once
        self.is_staged = is_staged

    def start(self, frame: Owner, clock: int, once: bool, needs_none: Callable[[Any], bool]) -> dict[tuple[Owner, Any], Any]:
        """The types that the loop's variables need at least, now that the values before it may be others. `needs_none`
        says whether a variable may be without a value before the loop."""
        carried: dict[tuple[Owner, Any], Any] = {}
        for (address, key), template in self.types.items():
            owner = found_at(address, frame)
            if owner is None:
                continue
            if key == KEPT:
                carried[owner, key] = template
                continue
            before = owner.cells.get(key, UNASSIGNED)[0]
            before = before.value if isinstance(before, Partial) else before
            if before is MISSING or isinstance(before, Poison):
                if once or self.once or needs_none(key):
                    carried[owner, key] = template
                continue
            try:
                carried[owner, key] = join(to_template(before, clock), template)
            except Differ:
                pass  # the next try finds the place
        return carried


Trips = dict[Key, list[Settled]]
"""The loops of a try, in the order in which they were interpreted."""


class Memory:
    """The loops of the last try and of this one. There is one while a try is under way."""

    def __init__(self, clock: int, last: Trips):
        self.clock = clock
        self.last: dict[Key, Iterator[Settled]] = {key: iter(found) for key, found in last.items()}
        self.now: Trips = {}

    def recall(self, key: Key) -> Settled | None:
        """What the loop at hand came to in the last try."""
        return next(self.last.get(key, iter(())), None)

    def record(self, key: Key, found: Settled) -> None:
        """Keeps what the loop at hand came to for the next try."""
        self.now.setdefault(key, []).append(found)


def settled(carried: dict[tuple[Owner, Any], Any], frame: Owner, clock: int, inner: Trips, once: bool) -> Settled:
    """What a loop came to. `clock` is the time when the outermost loop began."""
    types: dict[tuple[Any, Any], Any] = {}
    for (owner, key), template in carried.items():
        address = address_of(owner, frame, clock)
        if address is not None and (key == KEPT or is_plain(template) and any(True for _ in leaves(template))):
            types[address, key] = template
    return Settled(types, inner, once)


def address_of(owner: Owner, frame: Owner, clock: int) -> Any:
    """What finds an owner in the next try, where those that the try made are others."""
    if owner.birth <= clock:
        return owner
    if owner is frame:
        return ()
    return next(((name,) for name, (value, _) in frame.cells.items()
                 if isinstance(value, Owner) and value.itself is owner and isinstance(name, str)), None)


def found_at(address: Any, frame: Owner) -> Owner | None:
    """The owner of an address."""
    if isinstance(address, Owner):
        return address
    if not address:
        return frame
    value = frame.cells.get(address[0], UNASSIGNED)[0]
    return value.itself if isinstance(value, Owner) else None


def is_plain(template: Any) -> bool:
    """True for a template without lists and objects, which each try makes anew."""
    if isinstance(template, tuple):
        return all(map(is_plain, template))
    if isinstance(template, Fixed):
        return is_plain(template.items)
    if isinstance(template, dict):
        return all(map(is_plain, template.values()))
    if isinstance(template, GrowingTemplate):
        return template.item is MISSING or is_plain(template.item)
    return isinstance(template, (NumberLeaf, ArrayLeaf, Array, str, type(None))) or kind_of_number(template) is not None
