"""Reverse mode: `TapeTrace` notes every operation in a list, which `pull_back` walks backwards.

The tape is a Wengert list. Entry ``k`` is a tuple that starts with the function that pulls the
cotangent of value ``k`` back to the operands' slots; the first entries stand for the inputs. What an
entry saves is decided by the primitive's rule (NOTE [Unread arguments] in `algebra.py`).

NOTE [Threads on a tape] Threads that inherit the context, as those of `asyncio.to_thread` do, record on
one tape. A slot is taken by one call that no other thread can split, and an entry is put in its place
by number: the length of a list may be another thread's by the time it is read.

NOTE [Constants on the tape] A plain array that an entry saves must not change before the walk. It is
made read-only while the user's function runs (`locks.py`), and copied if the tape outlives the call
(`vjp`), NumPy could not make it writeable again, or it is a view that costs little to copy: others may
show the same memory, which NumPy does not know of.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..algebra import zeros_like
from ..array import TracedArray
from ..backend import NAMESPACES, untabled
from ..core import Aval, Primitive, Trace, aval_of, current, dtype_of, moves
from ..locks import can_be_held, hold, release
from ..views import refresh, snapshot
from .transpose import cotangents

ndarray = np.ndarray
SMALL = 1 << 16  # bytes of a view that is copied
CONSTANT = -1  # the slot of a value that does not depend on the inputs

Entry = tuple[Any, ...]


class TapeTracer(TracedArray):
    """A value and its slot on the tape."""

    __slots__ = ("slot", "value")

    @property
    def aval(self) -> Aval:
        return aval_of(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def underlying(self) -> Any:
        return self.value

    @property
    def moves(self) -> bool:
        return self.slot >= 0

    def assign(self, other: Any) -> None:
        self.value = other.value
        self.slot = other.slot


_new = TapeTracer.__new__


def tape_tracer(trace: TapeTrace, value: Any, slot: int) -> TapeTracer:
    out = _new(TapeTracer)
    out.owner = trace
    out.alias = None
    out.value = value
    out.slot = slot
    return out


class TapeTrace(Trace):
    """Evaluates through the parent and keeps the tape.

    `lasting`: the tape outlives the call that records it, so plain arrays are copied too, once each.
    """

    __slots__ = ("entries", "kept", "lasting", "locked", "next_slot")
    transform = "grad or vjp"

    def __init__(self, parent: Trace, *, lasting: bool) -> None:
        self.parent = parent
        self.lasting = lasting
        self.entries: dict[int, Entry] = {}
        self.next_slot = itertools.count().__next__
        self.locked: list[Any] = []
        # Arrays that are locked, by identity, and what is saved of them.
        self.kept: dict[int, tuple[Any, Any]] = {}

    def new_input(self, value: Any) -> TapeTracer:
        slot = self.next_slot()
        self.entries[slot] = ()
        return tape_tracer(self, self.keep(value), slot if moves(dtype_of(value)) else CONSTANT)

    def lift(self, value: Any) -> TapeTracer:
        return tape_tracer(self, snapshot(value, copy=True), CONSTANT)

    def keep(self, value: Any) -> Any:
        """A value that is not this tape's own, safe from later writes."""
        known = self.kept.get(id(value))
        if known is not None:
            return known[1]
        if value.__class__ is not ndarray and not isinstance(value, ndarray):
            return snapshot(value, copy=self.lasting)
        if not value.flags.owndata and (value.nbytes <= SMALL or not can_be_held(value)):
            return snapshot(value, copy=True)  # every time, as it may be written into in between
        lock = hold(value)
        found = value
        if lock is None:
            found = snapshot(value, copy=True)
        else:
            self.locked.append(lock)
            if self.lasting:
                found = value.copy("K")
        self.kept[id(value)] = value, found
        return found

    def unlock(self) -> None:
        """Make the arrays writeable again; nothing is recorded after this."""
        if self.locked:
            release(self.locked)
            self.locked.clear()
        self.kept.clear()

    def value_of(self, x: Any) -> Any:
        """The value behind one of this tape's tracers; anything else is its own value."""
        if x.__class__ is TapeTracer and x.owner is self:
            if x.alias is not None:
                refresh(x)
            return x.value
        return x

    def slot_of(self, x: Any) -> int:
        """The slot of one of this tape's tracers, refreshed by `value_of` before."""
        return x.slot if x.__class__ is TapeTracer and x.owner is self else CONSTANT

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        values: list[Any] = []
        slots: list[int] = []
        mine = False
        for a in args:
            if a.__class__ is TapeTracer and a.owner is self:
                if a.alias is not None:
                    refresh(a)
                mine = True
                values.append(a.value)
                slots.append(a.slot)
            else:
                values.append(a if a.__class__ in NAMESPACES else untabled(a))
                slots.append(CONSTANT)
        wanted = [s >= 0 for s in slots]
        reached = None
        if prim.forward is not None and True in wanted:
            values = [v if v is not a else self.keep(v) for v, a in zip(values, args, strict=True)]
            ans, entry, reached = self._run_opaque(prim, values, slots, wanted, params)
        else:
            ans = self.parent.process(prim, values, params)
            if not mine or not prim.differentiable:
                return ans
            if True not in wanted:
                if prim.multiple:
                    return tuple(tape_tracer(self, x, CONSTANT) for x in ans)
                return tape_tracer(self, ans, CONSTANT)
            entry = self._entry(prim, ans, values, slots, wanted, args, params)
        slot = self.next_slot()
        self.entries[slot] = entry
        if not prim.multiple:
            return tape_tracer(self, ans, slot)
        outs = []
        for i, x in enumerate(ans):
            k = self.next_slot()
            self.entries[k] = (_pull_output, slot, i, len(ans))
            # what counts, or is true or false, does not move
            is_slot = moves(aval_of(x).dtype) and (reached is None or i in reached)
            outs.append(tape_tracer(self, x, k if is_slot else CONSTANT))
        return tuple(outs)

    def _run_opaque(
        self,
        prim: Primitive,
        values: list[Any],
        slots: list[int],
        wanted: list[bool],
        params: dict[str, Any],
    ) -> tuple[Any, Entry, Collection[int] | None]:
        token = current.set(self.parent)
        try:
            ans, residual = prim.forward(values, wanted, params)
        finally:
            current.reset(token)
        residual = prim.held(residual, self.keep)
        avals = [aval_of(x) for x in ans]
        entry = (_pull_opaque, slots, prim, residual, avals, wanted, params)
        return ans, entry, prim.reached(residual)

    def _entry(
        self,
        prim: Primitive,
        ans: Any,
        values: list[Any],
        slots: list[int],
        wanted: list[bool],
        args: Sequence[Any],
        params: dict[str, Any],
    ) -> Entry:
        save_ans, save = prim.saves(wanted)
        xs = [
            (v if v is not a else self.keep(v)) if s else aval_of(v)
            for v, s, a in zip(values, save, args, strict=True)
        ]
        if not save_ans:
            ans = tuple(map(aval_of, ans)) if prim.multiple else aval_of(ans)
        return (_pull, slots, prim, ans, xs, wanted, params)


def _pull(cts: list[Any], entry: Entry, ct: Any) -> None:
    _, slots, prim, ans, xs, wanted, params = entry
    for slot, g in zip(slots, cotangents(prim, ct, ans, xs, wanted, params), strict=True):
        if slot >= 0 and g is not None:
            old = cts[slot]
            cts[slot] = g if old is None else old + g


def with_zeros(prim: Primitive, cts: Sequence[Any], avals: Sequence[Aval]) -> Sequence[Any]:
    """Cotangents of results of these types, as `prim.backward` wants them."""
    if not prim.needs_zeros:
        return cts
    return [zeros_like(aval) if c is None else c for c, aval in zip(cts, avals, strict=True)]


def _pull_opaque(cts: list[Any], entry: Entry, ct: list[Any]) -> None:
    _, slots, prim, residual, avals, wanted, params = entry
    cts_of_results = with_zeros(prim, ct, avals)
    found = prim.backward(residual, cts_of_results, wanted, params)
    for slot, g in zip(slots, found, strict=True):
        if slot >= 0 and g is not None:
            old = cts[slot]
            cts[slot] = g if old is None else old + g


def _pull_output(cts: list[Any], entry: Entry, ct: Any) -> None:
    """The cotangent of output `i` of an equation with several: put into the equation's slot."""
    _, slot, i, count = entry
    if cts[slot] is None:
        cts[slot] = [None] * count
    cts[slot][i] = ct


def pull_back(
    entries: dict[int, Entry], seeds: Sequence[tuple[int, Any]], inputs: int, *, consume: bool
) -> list[Any]:
    """Cotangents of the first `inputs` slots; `consume` frees every entry once it was used."""
    cts: list[Any] = [None] * len(entries)
    cts.append(set())  # NOTE [Owned cotangents] in `direct.py`
    for slot, ct in seeds:
        if slot >= 0:
            old = cts[slot]
            cts[slot] = ct if old is None else old + ct
    for k in range(len(entries) - 1, inputs - 1, -1):
        entry = entries.pop(k) if consume else entries[k]
        ct = cts[k]
        if ct is not None:
            cts[k] = None
            entry[0](cts, entry, ct)
    return cts[:inputs]
