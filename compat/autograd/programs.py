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

from . import modes, views
from .base import tensor
from .node import Face, Freed, OpaqueNode, Port, Saved, new_node, node_class
from .tape import in_memory_of, record

ndarray = np.ndarray


class TapeProgram:
    """A program whose first operands are constants, and its gradients by the operands wanted."""

    __slots__ = ("constants", "halves", "jaxpr", "params")

    def __init__(self, jaxpr: Jaxpr, constants: Sequence[Any]) -> None:
        self.jaxpr = jaxpr
        self.params = {"jaxpr": jaxpr}
        self.constants = list(constants)
        self.halves: dict[tuple[bool, ...], Halves] = {}

    def __call__(self, name: str, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The results for tensors, as those of one node, called `name`."""
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
            with np.errstate(all="ignore"):
                return tuple([tensor(x) for x in program_of(self.jaxpr).run(*values)])
        halves = self.halves.get(wanted)
        if halves is None:
            shares = len(self.jaxpr.outs) == 1  # writes into the result are seen here
            halves = self.halves[wanted] = halves_of(self.jaxpr, wanted, shares)
        if not halves.split.found:  # nothing of what requires grad has a derivative
            with np.errstate(all="ignore"):
                return tuple([tensor(x) for x in program_of(self.jaxpr).run(*values)])
        with np.errstate(all="ignore"):
            found, saved = halves.run_forward(values)
        return self._recorded(name, halves, saved, found, tensors, values, edges)

    def _recorded(
        self,
        name: str,
        halves: Halves,
        saved: list[Any],
        found: Sequence[Any],
        tensors: Sequence[Any],
        values: Sequence[Any],
        edges: Sequence[Any],
    ) -> tuple[Any, ...]:
        kind = ProgramNode if len(found) == 1 else OpaqueNode
        node = new_node(node_class(name, kind), jit_call, self.params, edges)
        node.types = self.jaxpr.out_avals
        made = saved[: halves.made]
        whole = all(x.base is None for x in made)
        node.read = halves.split.kept if whole else in_memory_of(saved, values)
        given = [Saved(t._array, t._counter, t._counter[0], False) for t in tensors]
        node.saved = ((halves, saved), [*self.constants, *given])
        outs = [
            tensor(
                x,
                None
                if x.dtype.kind not in "fc"
                else node
                if kind is ProgramNode
                else Port(node, i),
            )
            for i, x in enumerate(found)
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
        with np.errstate(all="ignore"):
            found = halves.run_backward(saved, [ct])
        edges = self.next
        for i, g in zip(halves.split.found, found, strict=True):
            e = edges[i]
            old = e.ct
            e.ct = g if old is None else old + g
        if freed is not None:
            self.saved = freed
