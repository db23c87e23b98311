"""Compiled programs as nodes of the graph: what `record` does for `jit_call`, laid out.

One call of a program takes a few microseconds, so the way there has to be short. What is unusual
(traced values, hooks for saved tensors, levels) goes through `record`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.compile.call import Halves, halves_of, jit_call
from funcgrad.compile.program import program_of
from funcgrad.jaxpr import Jaxpr
from funcgrad.quiet import QUIET, reset_state, set_state

from . import modes, sites, views
from .base import made, tensor
from .node import (
    IDLE,
    Face,
    Freed,
    OpaqueNode,
    Port,
    Saved,
    new_node,
    next_number,
    node_class,
)
from .tape import Note, in_memory_of, record, tell, watchers

ndarray = np.ndarray


class TapeProgram:
    """A program whose first operands are constants, and its gradients by the operands wanted."""

    __slots__ = ("__weakref__", "constants", "halves", "jaxpr", "params", "types")

    def __init__(self, jaxpr: Jaxpr, constants: Sequence[Any]) -> None:
        self.jaxpr = jaxpr
        self.types = jaxpr.out_avals
        self.params = {"jaxpr": jaxpr}
        self.constants = list(constants)
        self.halves: dict[tuple[bool, ...], Halves] = {}

    def __call__(self, name: str, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The results for tensors, as those of one node, called `name`."""
        outs = self._called(name, tensors)
        if watchers and len(outs) == 1:
            tell(Note(jit_call, tensors, self.params, name, "", outs[0], self))
        return outs

    def one(self, name: str, tensors: Sequence[Any]) -> Any:
        """The only result; of a call that nobody looks at."""
        return self._called(name, tensors)[0]

    def _called(self, name: str, tensors: Sequence[Any]) -> tuple[Any, ...]:
        mode: Any = modes.get()
        values = self.constants.copy()
        edges: list[Any] = [None] * len(values)
        for t in tensors:
            if t._view is not None:
                views.refresh(t)
            array = t._array
            if array.__class__ is not ndarray:
                mode = None
            values.append(array)
            edges.append(t._node)
        if mode is not modes.GRAD and mode is not modes.NO_GRAD:
            return record(jit_call, [*self.constants, *tensors], self.params, name)
        wanted = tuple([e is not None for e in edges])
        if mode is modes.NO_GRAD or True not in wanted:
            token = set_state(QUIET)
            try:
                return tuple([tensor(x) for x in program_of(self.jaxpr).run(*values)])
            finally:
                reset_state(token)
        halves = self.halves.get(wanted)
        if halves is None:
            shares = len(self.jaxpr.outs) == 1  # writes into the result are seen here
            halves = self.halves[wanted] = halves_of(self.jaxpr, wanted, shares)
        if not halves.split.found:  # nothing of what requires grad has a derivative
            token = set_state(QUIET)
            try:
                return tuple([tensor(x) for x in program_of(self.jaxpr).run(*values)])
            finally:
                reset_state(token)
        token = set_state(QUIET)
        try:
            found, saved = halves.run_forward(values)
        finally:
            reset_state(token)
        recorded = self._one if len(found) == 1 else self._several
        return recorded(name, halves, saved, found, tensors, values, edges)

    def _one(
        self,
        name: str,
        halves: Halves,
        saved: list[Any],
        found: Sequence[Any],
        tensors: Sequence[Any],
        values: Sequence[Any],
        edges: Sequence[Any],
    ) -> tuple[Any, ...]:
        """`_several` of one result, laid out: most functions have one."""
        (z,) = found
        if z.__class__ is not ndarray:  # NumPy's number, into which one cannot write
            z = np.asarray(z)
        out = made.fresh()
        out._array = z
        out._view = None
        out._counter = counter = [0]
        if z.dtype.kind not in "fc":
            out._node = None
            return (out,)
        cls = node_class(name, ProgramNode)
        out._node = node = cls.__new__(cls)
        node.prim = jit_call
        node.params = self.params
        node.seq = next_number()
        node.next = tuple(edges)
        node.ct = IDLE
        node.extras = None
        node.code, node.offset = sites.site()
        node.types = self.types
        split = halves.split
        node.read = split.kept
        for x in saved[: halves.made]:
            if x.base is not None:
                node.read = in_memory_of(saved, values)
                break
        given = self.constants.copy()
        for t in tensors:
            given.append(Saved(t._array, t._counter, t._counter[0], False))
        node.saved = ((halves, saved), given)
        node.shown = [Saved(z, counter, 0, True)] if split.shown else ()
        return (out,)

    def _several(
        self,
        name: str,
        halves: Halves,
        saved: list[Any],
        found: Sequence[Any],
        tensors: Sequence[Any],
        values: Sequence[Any],
        edges: Sequence[Any],
    ) -> tuple[Any, ...]:
        node = new_node(node_class(name, OpaqueNode), jit_call, self.params, edges)
        node.types = self.types
        own = saved[: halves.made]
        whole = all(x.base is None for x in own)
        node.read = halves.split.kept if whole else in_memory_of(saved, values)
        given = [Saved(t._array, t._counter, t._counter[0], False) for t in tensors]
        node.saved = ((halves, saved), [*self.constants, *given])
        outs = [
            tensor(x, Port(node, i) if x.dtype.kind in "fc" else None) for i, x in enumerate(found)
        ]
        node.shown = [
            Saved(outs[i]._array, outs[i]._counter, outs[i]._counter[0], True)
            for i in halves.split.shown
        ]
        return tuple(outs)


class ProgramNode(OpaqueNode):
    """The node of a program with one result."""

    __slots__ = ()

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        return super().pull_list({0: ct}, face)

    def pull(self, ct: Any, freed: Freed | None) -> None:
        if self.saved.__class__ is Freed or ct.__class__ is not ndarray:
            super().pull(ct, freed)
            return
        (halves, saved), xs = self.saved
        for i in self.read:
            if xs[i].__class__ is Saved:
                xs[i].check(self)
        for result in self.shown:
            result.check(self)
        found = halves.run_backward(saved, [ct])
        edges = self.next
        for i, g in zip(halves.split.found, found, strict=True):
            e = edges[i]
            old = e.ct
            e.ct = g if old is None else old + g
        if freed is not None:
            self.saved = freed
