"""Plans: what a function of tensors records for arguments of some types, run without asking.

A plan does what `tape.record` and the function around it do, for bare arrays in the two common modes.
It answers None where something is unusual. `remembered.py` makes plans and calls them.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core import aval_of
from funcgrad.ops.index import getitem
from funcgrad.ops.structural import broadcast_to
from funcgrad.quiet import QUIET, reset_state, set_state
from funcgrad.transforms.transpose import cotangents

from . import modes, sites, views
from .base import UNCOUNTED, View, made
from .node import IDLE, NOTHING, Freed, LinearNode, OpNode, Saved, next_number, node_class
from .sums import PartNode
from .tape import Note, default_name, link

ndarray = np.ndarray
GRAD, NO_GRAD = modes.GRAD, modes.NO_GRAD
_mode = modes.get
_site = sites.site
_least = np.minimum.reduce
_largest = np.maximum.reduce


class NotSimpleError(Exception):
    """There is no plan for a call."""


class LinearPlan:
    """A primitive that is linear in its one operand, of which the node keeps the type."""

    __slots__ = (
        "is_hidden",
        "is_view",
        "like",
        "link",
        "new",
        "order",
        "origin",
        "params",
        "prim",
        "run",
        "unlocks",
    )

    def __init__(self, note: Note, x: Any, order: str | None) -> None:
        prim: Any = note.prim
        array = x._array
        base = PartNode if prim is getitem else LinearNode
        cls = node_class(note.name or default_name(prim), base)
        self.prim = prim
        self.params = note.params
        self.run = functools.partial(prim.impl, np, **note.params)
        self.new = functools.partial(cls.__new__, cls)
        self.like = aval_of(array)
        self.order: Any = order  # of a copy of the result; None: there is none
        self.is_view = note.out._view is not None
        # Of what nobody else sees; but its node may have saved it, so writes are counted together.
        self.is_hidden = not self.is_view and note.out._counter is x._counter
        self.link = link(prim, note.params)
        self.origin = note.origin
        # Whether NumPy locks the view; whether the function has unlocked it.
        self.unlocks = self.is_view and not self.run(array).flags.writeable
        if self.unlocks and not note.out._array.flags.writeable and array.flags.writeable:
            raise NotSimpleError

    def many(self, tensors: Sequence[Any], arrays: Sequence[ndarray]) -> Any:
        return self.one(tensors[0], arrays[0])

    def one(self, x: Any, array: ndarray) -> Any:
        """The result; None if there is something unusual."""
        m = _mode()
        if array.__class__ is not ndarray or (m is not GRAD and m is not NO_GRAD):
            return None
        seen = x._view
        if seen is not None and seen.seen != x._counter[0]:
            views.refresh(x)
        e = x._node if m is GRAD else None
        out = made.fresh()
        if self.is_view:
            z = self.run(array)
            counter = x._counter
            base = z.base
            if (base is not array and base is not array.base) or counter is UNCOUNTED:
                return None
            if self.unlocks:
                if array.flags.writeable:
                    z.flags.writeable = True
                if e is None and self.prim is broadcast_to:  # which writing into it has to tell
                    out._origin = _site()
            origin = self.origin
            if m is NO_GRAD and origin != "function":
                origin = "no_grad"
            if seen is None:
                out._view = View(x, (self.link,), counter[0], origin)
            else:
                chain = (*seen.chain, self.link)
                out._view = View(seen.base, chain, counter[0], origin or seen.origin)
            out._counter = counter
        else:
            token = set_state(QUIET)
            try:
                z = self.run(array)
            finally:
                reset_state(token)
            if z.__class__ is not ndarray:
                z = np.asarray(z)
            if self.order is not None:
                z = z.copy("C" if 0 in z.strides else self.order)
            out._view = None
            out._counter = x._counter if self.is_hidden else [0]
        out._array = z
        if e is None:
            out._node = None
            return out
        out._node = node = self.new()
        node.prim = self.prim
        node.params = self.params
        node.left = e
        node.like = self.like
        node.saved = NOTHING
        node.seq = next_number()
        node.ct = IDLE
        node.extras = None
        node.code, node.offset = _site()
        return out


class PlannedNode(OpNode):
    """A node of a plan, so nothing is half precision or packed: `OpNode.pull`, laid out."""

    __slots__ = ("wanted",)
    wanted: Sequence[bool]

    def pull(self, ct: Any, freed: Freed | None) -> None:
        saved = self.saved
        if saved.__class__ is Freed or ct.__class__ is not ndarray:
            super().pull(ct, freed)
            return
        ans, xs = self.types if saved is NOTHING else saved
        if saved is not NOTHING:
            xs = [x.value(self) if x.__class__ is Saved else x for x in xs]
            if ans.__class__ is Saved:
                ans = ans.value(self)
            if freed is not None:
                self.saved = freed
        cts = cotangents(self.prim, ct, ans, xs, self.wanted, self.params)
        for edge, g in zip(self.next, cts, strict=True):
            if edge is not None and g is not None:
                old = edge.ct
                edge.ct = g if old is None else old + g


class Plan:
    """Any other primitive with one result that is no view.

    `values`: its operands, with None for those in `places`, which are the tensors. What a node saves
    follows from which of these need a gradient.
    """

    __slots__ = ("avals", "new", "out", "params", "places", "prim", "run", "saves", "values")

    def __init__(self, note: Note, places: Sequence[int]) -> None:
        prim: Any = note.prim
        cls = node_class(note.name or default_name(prim), PlannedNode)
        self.prim = prim
        self.params = note.params
        self.run = functools.partial(prim.impl, np, **note.params)
        self.new = functools.partial(cls.__new__, cls)
        self.places = places
        self.values = [None if i in places else a for i, a in enumerate(note.args)]
        self.avals: list[Any] = [aval_of(getattr(a, "_array", a)) for a in note.args]
        self.out = aval_of(note.out._array)
        self.saves: dict[tuple[bool, ...], tuple[bool, Sequence[bool]]] = {}

    def one(self, x: Any, array: ndarray) -> Any:
        return self.many((x,), (array,))

    def many(self, tensors: Sequence[Any], arrays: Sequence[ndarray]) -> Any:
        """The result; None if there is something unusual."""
        m = _mode()
        if m is not GRAD and m is not NO_GRAD:
            return None
        for array in arrays:
            if array.__class__ is not ndarray:
                return None
        for x in tensors:
            if x._view is not None:
                views.refresh(x)
        values: Sequence[Any] = arrays
        if len(self.values) != len(arrays):
            values = self.values.copy()
            for i, array in zip(self.places, arrays, strict=True):
                values[i] = array
        token = set_state(QUIET)
        try:
            z = self.run(*values)
        finally:
            reset_state(token)
        if z.__class__ is not ndarray:
            z = np.asarray(z)
        out = made.fresh()
        out._array = z
        out._view = None
        out._counter = [0]
        out._node = None
        if m is NO_GRAD or not self.prim.differentiable:
            return out
        edges = [x._node for x in tensors]
        if edges.count(None) == len(edges):
            return out
        if values is not arrays:
            spread: list[Any] = [None] * len(values)
            for i, e in zip(self.places, edges, strict=True):
                spread[i] = e
            edges = spread
        out._node = node = self.new()
        node.prim = self.prim
        node.params = self.params
        node.seq = next_number()
        node.next = tuple(edges)
        node.ct = IDLE
        node.extras = None
        node.code, node.offset = _site()
        self._save(node, out, tensors, values, edges)
        return out

    def _save(
        self,
        node: PlannedNode,
        out: Any,
        tensors: Sequence[Any],
        values: Sequence[Any],
        edges: Sequence[Any],
    ) -> None:
        """As in `tape.make_node`."""
        node.wanted = wanted = tuple([e is not None for e in edges])
        found = self.saves.get(wanted)
        if found is None:
            found = self.saves[wanted] = self.prim.saves(wanted)
        save_ans, save_xs = found
        kept: Any = Saved(out._array, out._counter, 0, True) if save_ans else self.out
        if True not in save_xs:
            xs = self.avals
        else:
            xs = self.avals.copy()
            owners = dict(zip(self.places, tensors, strict=True))
            for i, wanted_too in enumerate(save_xs):
                if wanted_too:
                    x = owners.get(i)
                    xs[i] = (
                        values[i]
                        if x is None
                        else Saved(x._array, x._counter, x._counter[0], False)
                    )
        if save_ans or any(x.__class__ is Saved for x in xs):
            node.saved = (kept, xs)
            node.types = None
        else:
            node.saved = NOTHING
            node.types = (kept, xs)


class ProgramPlan:
    """A compiled program, for as long as it is kept; then an error drops the plan."""

    __slots__ = ("name", "order", "program")

    def __init__(self, note: Note, order: Any) -> None:
        self.program: Any = weakref.ref(note.program)
        self.name = note.name
        self.order = order  # of a copy of the result; None: there is none

    def one(self, x: Any, array: ndarray) -> Any:
        return self.many((x,), ())

    def many(self, tensors: Sequence[Any], arrays: Sequence[ndarray]) -> Any:
        if self.order is None:
            return self.program().one(self.name, tensors)
        m = _mode()
        if m is not GRAD and m is not NO_GRAD:
            return None
        out = self.program().one(self.name, tensors)
        out._array = out._array.copy(self.order)
        out._counter = [0]  # of memory that the node has not saved
        return out


class NoPlan:
    """For calls that are not so simple."""

    __slots__ = ()

    def one(self, x: Any, array: ndarray) -> None:
        return None

    def many(self, tensors: Sequence[Any], arrays: Sequence[ndarray]) -> None:
        return None


NO_PLAN = NoPlan()


class Chain:
    """Several plans; each is of some of the tensors and of the results before it, by number.

    `make`: what makes a tuple of the results numbered in `outs`; None if there is one, the last.
    `checks`: of tensors of integers, by number, with the range of their elements.
    """

    __slots__ = ("checks", "make", "outs", "steps")

    def __init__(
        self,
        checks: Sequence[tuple[int, int, int]],
        steps: Sequence[tuple[Any, Sequence[int]]],
        outs: Sequence[int],
        make: Any,
    ) -> None:
        self.checks = checks
        self.steps = steps
        self.outs = outs
        self.make = make

    def one(self, x: Any, array: ndarray) -> Any:
        return self.many((x,), (array,))

    def many(self, tensors: Sequence[Any], arrays: Sequence[ndarray]) -> Any:
        for i, low, high in self.checks:
            found = arrays[i]
            if found.size and (_least(found, None) < low or _largest(found, None) >= high):
                return None
        values = list(tensors)
        out = None
        for plan, places in self.steps:
            given = [values[i] for i in places]
            out = plan.many(given, [x._array for x in given])
            if out is None:
                return None
            values.append(out)
        return out if self.make is None else self.make([values[i] for i in self.outs])
