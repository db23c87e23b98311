"""Gradients of what is used many times: what is still to be added waits, or goes into its place.

Each use of a weight, as in the steps of a recurrent network, adds ``g.T @ x``: a product of matrices
with few rows, and a pass over an array as large as the weights. Several together are one product of
matrices with many rows. Each part that is taken of an array, as its steps or its halves are, adds
something in one place: nothing is done elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.compile.own_products import dot
from funcgrad.ops.index import as_index

from .errors import require_unwritten
from .node import LinearNode, Saved

# How many numbers wait at most, for each of the gradient: they take memory.
MOST = 1


class Sum:
    """A cotangent to which products and parts are still added, until its node takes its `value`."""

    __slots__ = ("lefts", "nodes", "owned", "rights", "rows", "total")

    def __init__(self, total: Any) -> None:
        self.total = total
        self.owned = False  # whether nobody else refers to it
        self.lefts: list[Any] = []
        self.rights: list[Any] = []
        self.nodes: list[Any] = []
        self.rows = 0

    def at(self, index: Any, ct: Any) -> Sum:
        """Add `ct` to a part."""
        if isinstance(self.total, np.generic):  # of an array without axes, into which one can write
            self.total, self.owned = np.array(self.total), True
        elif not self.owned:
            self.total, self.owned = self.total.copy(), True
        self.total[as_index(index)] += ct
        return self

    def also(self, node: Any, g: Any, name: str) -> Sum:
        """Add ``g.T @ x``, where `node` saves x by this name."""
        x = getattr(node, name)
        self.lefts.append(g)
        self.rights.append(x)
        self.nodes.append(
            (node, getattr(node, f"{name}_counter"), getattr(node, f"{name}_version"))
        )
        self.rows += len(g)
        if self.rows * (g.shape[1] + x.shape[1]) > MOST * self.total.size:
            self._add()
        return self

    def _add(self) -> None:
        for x, (node, counter, version) in zip(self.rights, self.nodes, strict=True):
            if counter[0] != version:  # by a hook, since the pass has been there
                require_unwritten(node, Saved(x, counter, version, False))
        if len(self.lefts) == 1:
            product = dot(self.lefts[0].T, self.rights[0])
        else:
            product = dot(np.concatenate(self.lefts).T, np.concatenate(self.rights))
        product += self.total
        self.total, self.owned = product, True
        self.lefts, self.rights, self.nodes, self.rows = [], [], [], 0

    def __add__(self, other: Any) -> Sum:
        if self.owned:
            self.total += other
        else:
            self.total, self.owned = self.total + other, True
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, x: Any, *_: Any, **__: Any) -> Sum:
        # ``x + self`` and ``x += self``, which NumPy would refuse to hand over without this.
        return self + x

    def value(self) -> Any:
        """The cotangent with all that was to be added."""
        if self.lefts:
            self._add()
        return self.total


class PartNode(LinearNode):
    """The node of a part of an array: what is not the first part of a cotangent goes into its place."""

    __slots__ = ()

    def pull(self, ct: Any, freed: Any) -> None:
        e = self.left
        old, like = e.ct, self.like
        if old is None or ct.dtype is not like.dtype:
            super().pull(ct, freed)
            return
        if old.__class__ is not Sum:
            if old.dtype is not like.dtype:
                super().pull(ct, freed)
                return
            old = Sum(old)
        e.ct = old.at(self.params["index"], ct)
