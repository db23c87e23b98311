"""Memory for large temporaries, kept from one call of a program to the next.

Layer 4½. An array that comes fresh from the system costs as much as an operation on it, for its pages
are made as they are first written to. So a program writes what is large and leaves the call in no
result into a workspace. A call takes a workspace from a pool and gives it back at the end: calls in
several threads, or inside each other, have one each. Arrays whose lives do not overlap share memory.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..forks import waited_for
from .steps import CALL, VIEW, Lowered, Step, Value

FRESH = frozenset({np.dot, np.matmul})  # functions whose results are arrays of their own
LIMIT = 1 << 15  # bytes that an array takes which is not worth a place
MOST = 1 << 29  # bytes that all workspaces which no call uses may take
ALIGNMENT = 64  # of places, in bytes: that of a line of the cache
PAGE = 1 << 12  # bytes
STAGGER = 256  # bytes between the starts of arrays, within a page
Arrays = tuple[np.ndarray, ...]


class Kind(NamedTuple):
    """What arrays of a workspace differ in; `order`: their axes as they lie in memory."""

    shape: tuple[int, ...]
    dtype: Any
    order: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def within(self, memory: np.ndarray) -> np.ndarray:
        """Such an array in the first bytes of `memory`."""
        lying = memory[: self.nbytes].view(self.dtype).reshape([self.shape[a] for a in self.order])
        return lying.transpose(np.argsort(self.order)) if self.order else lying


def is_large(shape: tuple[int, ...], dtype: Any) -> bool:
    """Whether an array is worth a place in a workspace."""
    return bool(shape) and math.prod(shape) * dtype.itemsize > LIMIT


def in_order(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of an array that lies in memory row by row."""
    return tuple(range(len(shape)))


def side_by_side(kinds: Sequence[Kind]) -> Arrays:
    """Arrays that start at different places within a page: the caches tell them apart by that."""
    sizes = [-(-kind.nbytes // PAGE) * PAGE + STAGGER for kind in kinds]
    memory = _aligned(sum(sizes))
    starts = itertools.accumulate(sizes, initial=0)
    return tuple(kind.within(memory[a:]) for kind, a in zip(kinds, starts, strict=False))


class Pool:
    """Workspaces of one program that no call uses; those of programs that ran long ago are let go.

    `size`: of one, in bytes.
    """

    _all: ClassVar[weakref.WeakSet[Pool]] = weakref.WeakSet()
    _lock = waited_for(threading.Lock())
    _turns = itertools.count()

    def __init__(self, make: Callable[[], Arrays], size: int) -> None:
        self._make = make
        self._size = size
        self._turn = 0
        self._unused: list[Arrays] = []
        self.give = self._unused.append

    def take(self) -> Arrays:
        self._turn = next(self._turns)
        try:
            return self._unused.pop()
        except IndexError:
            self._make_room()
            return self._make()

    def _make_room(self) -> None:
        with self._lock:
            self._all.add(self)
            pools = sorted(self._all, key=lambda pool: pool._turn)
            held = self._size + sum(pool._size * len(pool._unused) for pool in pools)
            for pool in pools:
                if held <= MOST:
                    break
                held -= pool._size * len(pool._unused)
                pool._unused.clear()


class Life(NamedTuple):
    """From when to when the array `name` is needed."""

    name: str
    kind: Kind
    start: int
    end: float


class Plan:
    """Which arrays of a program are in its workspace, by name, and where."""

    def __init__(self, lives: Iterable[Life]) -> None:
        self.names: dict[str, str] = {}
        self._sizes: list[int] = []
        self._arrays: dict[tuple[int, Kind], str] = {}
        ends: list[float] = []
        for life in sorted(lives, key=lambda life: life.start):
            place = self._place(life, ends)
            key = (place, life.kind)
            self.names[life.name] = self._arrays.setdefault(key, f"w{len(self._arrays)}")

    def _place(self, life: Life, ends: list[float]) -> int:
        """A place that is free: the smallest that is large enough, or the largest, made larger."""
        size = life.kind.nbytes
        free = [i for i, end in enumerate(ends) if end < life.start]
        fitting = [i for i in free if self._sizes[i] >= size]
        if fitting:
            place = min(fitting, key=self._sizes.__getitem__)
        elif free:
            place = max(free, key=self._sizes.__getitem__)
            self._sizes[place] = size
        else:
            place = len(ends)
            ends.append(life.end)
            self._sizes.append(size)
        ends[place] = life.end
        return place

    @property
    def arrays(self) -> list[str]:
        """Their names in the order of `make`."""
        return list(self._arrays.values())

    @property
    def nbytes(self) -> int:
        return sum(self._sizes)

    def make(self) -> Arrays:
        """A new workspace."""
        memory = [_aligned(size) for size in self._sizes]
        return tuple(kind.within(memory[place]) for place, kind in self._arrays)


def _aligned(size: int) -> np.ndarray:
    memory = np.empty(size + ALIGNMENT, np.uint8)
    return memory[-memory.ctypes.data % ALIGNMENT :][:size]


class Lives:
    """When the arrays of a program are made and needed no more, while it is printed.

    Printed twice: at first to find out (`plan` is None), then with the plan made from that.
    """

    def __init__(self, plan: Plan | None = None) -> None:
        self.plan = plan
        self.now = 0
        self._kinds: dict[str, Kind] = {}
        self._starts: dict[str, int] = {}
        self._ends: dict[str, float] = {}
        self._escaped: set[str] = set()

    def place(self, name: str, kind: Kind, since: int | None = None) -> str:
        """Where the new array `name` is written: the name of an array, "" if it is to be made."""
        if not is_large(kind.shape, kind.dtype):
            return ""
        if self.plan is not None:
            return self.plan.names.get(name, "")
        self._kinds[name] = kind
        self._starts[name] = self.now if since is None else since
        self._ends[name] = math.inf
        return ""

    def begin(self, name: str) -> None:
        """`name` is written into again."""
        self._ends[name] = math.inf

    def end(self, name: str) -> None:
        """Nothing reads `name` any more."""
        self._ends[name] = self.now

    def end_all(self, prefix: str) -> None:
        """Nothing reads what is named so any more."""
        for name, end in self._ends.items():
            if name.startswith(prefix) and end == math.inf:
                self._ends[name] = self.now

    def escape(self, names: Iterable[str]) -> None:
        """A result shows these, or the next turn of a loop reads them."""
        self._escaped.update(names)

    def made_plan(self) -> Plan | None:
        """None if nothing is large."""
        kept = self._kinds.keys() - self._escaped
        lives = [
            Life(k, kind, self._starts[k], self._ends[k])
            for k, kind in self._kinds.items()
            if k in kept
        ]
        return Plan(lives) if lives else None


def last_uses(program: Lowered) -> list[list[Value]]:
    """For every step, the values that nothing after it reads."""
    needed = set(program.outs)
    found: list[list[Value]] = []
    for step in reversed(program.steps):
        mentioned = dict.fromkeys((*step.operands, *step.outs))
        found.append([v for v in mentioned if v not in needed and v.__class__ is Value])
        needed.update(mentioned)
    return found[::-1]


class Memory:
    """Which arrays of the program may be written into again, as nothing reads them any more."""

    def __init__(self, program: Lowered) -> None:
        # What memory a value may lie in, by the values that brought the memory, in order.
        self.homes: dict[Value, dict[Value, None]] = {v: {v: None} for v in program.inputs}
        self.users: dict[Value, int] = dict.fromkeys(program.inputs, 1)

    def add(self, step: Step, copies: bool = False) -> None:
        """`copies`: it is a view that cannot be had without a copy."""
        shares = step.kind == VIEW or (step.kind == CALL and step.function not in FRESH)
        shares = shares and not copies
        for out in step.outs:
            homes = {out: None} if copies or step.kind != VIEW else {}
            if shares:
                for v in step.operands:
                    homes.update(self.homes.get(v, {}))
            self.homes[out] = homes
            for home in homes:
                self.users[home] = self.users.get(home, 0) + 1

    def remove(self, value: Value) -> list[Value]:
        """The values whose memory is free when nothing reads `value` any more."""
        found = []
        for home in self.homes[value]:
            self.users[home] -= 1
            if self.users[home] == 0:
                found.append(home)
        return found


class Orders:
    """The order in which an array's axes lie in memory, by name, where it is not row by row."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, ...]] = {}

    def note(self, name: str, order: tuple[int, ...]) -> None:
        if order and order != in_order(order):
            self._known[name] = order

    def common(self, names: Iterable[str]) -> tuple[int, ...]:
        """The order that all these have; () is row by row."""
        found = {self._known.get(name, ()) for name in names}
        return found.pop() if len(found) == 1 else ()

    def view(self, step: Step, source: str, name: str) -> None:
        """`name` is a view of `source`."""
        found = re.fullmatch(r"\{\}\.transpose\(\((.*)\)\)", step.function)
        if found:
            axes = [int(a) for a in found[1].split(",") if a.strip()]
            self.note(name, tuple(axes.index(a) for a in self._known.get(source, range(len(axes)))))

    def copies(self, step: Step, source: str) -> bool:
        """Whether a view of the large array `source` cannot be had without a copy."""
        order = self._known.get(source)
        if step.kind != VIEW or order is None or ".reshape" not in step.function:
            return False
        shape = step.operands[0].shape
        if not is_large(shape, step.out.dtype):
            return False
        kind = Kind(shape, np.dtype(np.uint8), order)
        lying = kind.within(np.empty(kind.nbytes, np.uint8))
        return not np.may_share_memory(lying, lying.reshape(step.out.shape))
