"""Variables and other mutable state of a program, with a journal.

    owner (a frame, a list, an object)  ──cells──▶  key: (value, site of the assignment)
    write  ──▶ journal          mark ... take: the changes since the mark, which are undone

A branch or an iteration is interpreted after a mark; what it changed is taken back, so that the other branch
starts from the same state, and joined afterwards. Owners that were made after the mark belong to the branch
alone and are not undone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .errors import Site


class Missing:
    """The value of a variable that was not assigned."""

    def __repr__(self) -> str:
        return "<not assigned>"


MISSING = Missing()
Cell = tuple[Any, "Site | None"]
UNASSIGNED: Cell = (MISSING, None)

KEPT = ("kept",)
"""The key of the cell that says that a list of staged length has the value: `Owner.keep`."""


class Owner:
    """An owner of cells: a frame of variables, a list of items, an object of attributes.

    `others` are the ones that may be the same object, since a branch chose among them."""

    twin: Owner | None = None

    def __init__(self, state: State):
        self.cells: dict[Any, Cell] = {}
        self.state = state
        self.birth = state.tick()
        self.others: list[Owner] = []

    @property
    def itself(self) -> Owner:
        """The owner, of which this may be what it was at the end of a branch."""
        return self.twin or self

    def as_now(self) -> Owner:
        """What it is now: later changes do not change it."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.cells, made.twin = dict(self.cells), self.itself
        return made

    @property
    def is_kept(self) -> bool:
        return KEPT in self.cells and self.cells[KEPT][0] is not MISSING

    def keep(self) -> None:
        """Says that a list of staged length has the value: its items are values of the graph, so that a change
        to this object would not be seen there."""
        if not self.is_kept:
            self.state.write(self, KEPT, True)


class Mark(NamedTuple):
    """A moment."""

    length: int
    clock: int


Changes = dict[tuple[Owner, Any], Cell]


class State:
    """The journal of all cells."""

    def __init__(self) -> None:
        self._log: list[tuple[Owner, Any, Cell | None]] = []
        self._clock = 0

    def tick(self) -> int:
        self._clock += 1
        return self._clock

    def write(self, owner: Owner, key: Any, value: Any, site: Site | None = None) -> None:
        """Gives a cell a value."""
        self._log.append((owner, key, owner.cells.get(key)))
        owner.cells[key] = (value, site)

    def mark(self, clock: int | None = None) -> Mark:
        """This moment; with `clock` what was made since that time belongs to the branch."""
        return Mark(len(self._log), self.tick() if clock is None else clock)

    def changes(self, mark: Mark) -> Changes:
        """The cells that were written since the mark and existed before it, as they are now."""
        found: Changes = {}
        for owner, key, _ in self._log[mark.length:]:
            if owner.birth <= mark.clock:
                found[owner, key] = owner.cells[key]
        return found

    def take(self, mark: Mark) -> Changes:
        """The changes since the mark, which are undone."""
        found = self.changes(mark)
        for owner, key, old in reversed(self._log[mark.length:]):
            if owner.birth <= mark.clock:
                if old is None:
                    del owner.cells[key]
                else:
                    owner.cells[key] = old
        del self._log[mark.length:]
        return found

    def apply(self, changes: Changes) -> None:
        """Makes changes that were taken."""
        for (owner, key), (value, site) in changes.items():
            self.write(owner, key, value, site)
