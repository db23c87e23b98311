"""Vector spaces of arrays and of containers of arrays: what tangents and cotangents are added in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import tree
from ..core import Aval, aval_of
from ..errors import ArgumentError, where


class VSpace:
    """The space of a value: arrays of a shape and a dtype, or a container of such.

    Complex numbers count as two real ones: in `size`, `standard_basis` and `inner_prod`.

    Shapes: `shape` is that of an array; of a container it is a container of spaces.
    Raises: ArgumentError: the value holds what is no floating or complex array.

    >>> space = vspace({"a": np.zeros(2), "b": 1.0})
    >>> space.size, space.ones()
    (3, {'a': array([1., 1.]), 'b': array(1.)})
    """

    def __init__(self, value: Any) -> None:
        leaves, self._treedef = tree.flatten(value)
        self._avals: list[Aval] = []
        for x in leaves:
            try:
                aval = aval_of(x)
            except TypeError:
                aval = None
            if aval is None or aval.dtype.kind not in "fc":
                raise ArgumentError(
                    f"vspace: can't find a vector space for {x!r} of type {type(x).__name__}; need "
                    f"floating or complex arrays and numbers, or containers of them{where()}"
                )
            self._avals.append(Aval(aval.shape, aval.dtype))  # numbers are arrays

    @property
    def shape(self) -> Any:
        if self._treedef == tree.LEAF:
            return self._avals[0].shape
        return tree.map(vspace, self.zeros())

    @property
    def dtype(self) -> Any:
        """Of an array; None of a container."""
        return self._avals[0].dtype if self._treedef == tree.LEAF else None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def iscomplex(self) -> bool:
        return any(a.dtype.kind == "c" for a in self._avals)

    @property
    def size(self) -> int:
        """How many real numbers a vector has."""
        return sum(math.prod(a.shape) * (1 + (a.dtype.kind == "c")) for a in self._avals)

    def _made(self, leaf: Callable[[Aval], Any]) -> Any:
        return tree.unflatten(self._treedef, [leaf(a) for a in self._avals])

    def zeros(self) -> Any:
        """The zero vector."""
        return self._made(lambda a: np.zeros(a.shape, a.dtype))

    def ones(self) -> Any:
        """Ones, and ``1 + 1j`` for complex numbers."""
        one = {"f": 1.0, "c": 1.0 + 1.0j}
        return self._made(lambda a: np.full(a.shape, one[a.dtype.kind], a.dtype))

    def randn(self) -> Any:
        """Normal numbers, drawn from `numpy.random`."""

        def drawn(a: Aval) -> Any:
            x = np.random.standard_normal(a.shape)
            if a.dtype.kind == "c":
                x = x + 1j * np.random.standard_normal(a.shape)
            return np.asarray(x, a.dtype)

        return self._made(drawn)

    def standard_basis(self) -> Iterator[Any]:
        """The vectors with a single 1 (or 1j), in order."""
        for k, aval in enumerate(self._avals):
            for place in np.ndindex(*aval.shape):
                for one in (1.0, 1.0j)[: 1 + (aval.dtype.kind == "c")]:
                    leaves = [np.zeros(a.shape, a.dtype) for a in self._avals]
                    leaves[k][place] = one
                    yield tree.unflatten(self._treedef, leaves)

    def add(self, x: Any, y: Any) -> Any:
        """``x + y``."""
        return tree.map(lambda a, b: a + b, x, y)

    mut_add = add

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """``a x``."""
        return tree.map(lambda leaf: leaf * a, x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """``<x, y>``, the sum of the products of all real numbers."""
        pairs = zip(tree.leaves(x), tree.leaves(y), strict=True)
        return sum(fnp.real(fnp.sum(fnp.conj(a) * b)) for a, b in pairs)

    def covector(self, x: Any) -> Any:
        """The conjugate."""
        return tree.map(fnp.conj, x)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VSpace):
            return NotImplemented
        return self._treedef == other._treedef and self._avals == other._avals

    def __hash__(self) -> int:
        return hash((self._treedef, tuple(self._avals)))

    def __repr__(self) -> str:
        spaces: Sequence[str] = [str(a) for a in self._avals]
        return f"VSpace({', '.join(spaces)})"


def vspace(value: Any) -> VSpace:
    """The space that a value is in."""
    return VSpace(value)
