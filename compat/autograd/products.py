"""Gradients of weights that are used many times, as the steps of a recurrent network do.

Each use adds ``g.T @ x`` to the gradient: a product of matrices with few rows, and a pass over an
array as large as the weights. Several together are one product of matrices with many rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import stale
from .node import Saved

# How many numbers wait at most, for each of the gradient: they take memory.
MOST = 1


class Products:
    """A gradient, and products that are still to be added: the cotangent of a leaf until the end."""

    __slots__ = ("lefts", "nodes", "rights", "rows", "total")

    def __init__(self, total: Any) -> None:
        self.total = total
        self.lefts: list[Any] = []
        self.rights: list[Any] = []
        self.nodes: list[Any] = []
        self.rows = 0

    def also(self, node: Any, g: Any, name: str) -> Products:
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
                raise stale(node, Saved(x, counter, version, False))
        if len(self.lefts) == 1:
            product = self.lefts[0].T.dot(self.rights[0])
        else:
            product = np.concatenate(self.lefts).T.dot(np.concatenate(self.rights))
        product += self.total
        self.total = product
        self.lefts, self.rights, self.nodes, self.rows = [], [], [], 0

    def __add__(self, other: Any) -> Products:
        self.total = self.total + other
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, x: Any, *_: Any, **__: Any) -> Products:
        # ``x + self`` and ``x += self``, which NumPy would refuse to hand over without this.
        return self + x

    def value(self) -> Any:
        """The gradient with all that was to be added."""
        if self.lefts:
            self._add()
        return self.total
