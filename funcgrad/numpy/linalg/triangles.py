"""Matrices that stand for their Hermitian parts, and those of which only one triangle was filled in."""

from __future__ import annotations

from typing import Any

from ...algebra import concrete_namespace
from ...errors import ArgumentError, where
from ...indexing import known
from .._arguments import array_of

ROUNDING = 1e-6  # of the largest element: products leave as much on one side only


def hermitian(name: str, a: Any, library: str = "NumPy") -> Any:
    """Matrices that stand for their Hermitian parts, as an array.

    Raises: ArgumentError: one has elements on one side of the diagonal only, which is noticed where
    they are known.
    """
    a = array_of(a)
    value = known(a)
    if value is None or value.ndim < 2 or value.shape[-1] != value.shape[-2]:
        return a
    xp = concrete_namespace(value)
    if bool((value == xp.swapaxes(value, -1, -2).conj()).all()):
        return a
    size = xp.abs(value)
    counts = size > ROUNDING * xp.max(size, axis=(-2, -1), keepdims=True, initial=0.0)
    sides = [xp.any(part, axis=(-2, -1)) for part in (xp.tril(counts, -1), xp.triu(counts, 1))]
    if bool(xp.any(sides[0] != sides[1])):
        raise ArgumentError(
            f"{name}: one triangle of the matrix is empty; it counts as its Hermitian part "
            f"(a + a^H) / 2, where {library} reads one triangle. Pass all of the matrix: "
            f"a + tril(a, -1).T.conj() for a lower triangle{where()}"
        )
    return a
