"""Matrices that a size decides: Hadamard's, Helmert's, Pascal's and what is inverse to Hilbert's."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...errors import ArgumentError, where
from ...numpy._arguments import fresh

_WORD = 64  # bits of the integers that exact results have


def _size(name: str, n: Any, least: int = 0) -> int:
    try:
        size = operator.index(n)
    except TypeError:
        raise ArgumentError(f"{name}: n must be an integer, found {n!r}{where()}") from None
    if size < least:
        raise ArgumentError(f"{name}: n={size}; need {least} or more{where()}")
    return size


def _exact(name: str, rows: list[list[int]], dtype: Any, exact: bool) -> Any:
    """Integers as an array: of the dtype if `exact`, else rounded to float64.

    Raises: ArgumentError: they do not fit, where SciPy gives an array of objects.
    """
    made = np.array(rows, object).reshape(len(rows), len(rows))
    if not exact:
        return fresh(made.astype(np.float64))
    limits = np.iinfo(dtype)
    if made.size and not (limits.min <= made.min() and made.max() <= limits.max):
        raise ArgumentError(
            f"{name}: n={len(rows)} needs integers of more than {_WORD} bits; use exact=False{where()}"
        )
    return fresh(made.astype(dtype))


def hadamard(n: int, dtype: Any = int) -> Any:
    """``(-1)^(number of ones that the binary digits of i and j share)``.

    Shapes: ``-> (n, n)``, n a power of 2.   Dtypes: `dtype`.   Derivative: none, it has no operands.
    Raises: ArgumentError: `n` is no power of 2.
    Source: SciPy reference, ``scipy.linalg.hadamard``.

    >>> hadamard(2).tolist()
    [[1, 1], [1, -1]]
    """
    n = _size("hadamard", n, 1)
    if n & (n - 1):
        raise ArgumentError(f"hadamard: n={n} is no power of 2{where()}")
    places = np.arange(n)
    shared = np.bitwise_count(places[:, None] & places)
    return fresh(np.where(shared % 2, -1, 1).astype(dtype))


def helmert(n: int, full: bool = False) -> Any:
    """Orthonormal rows: the i-th weighs the first i numbers equally against the next one.

    Before them, if `full`, a row of equal numbers, which makes the matrix orthogonal.

    Shapes: ``-> (n - 1, n)``; ``(n, n)`` if `full`.   Dtypes: float64.
    Derivative: none, it has no operands.
    Raises: ArgumentError: `n` is no integer, or less than 1.
    Source: SciPy reference, ``scipy.linalg.helmert``.

    >>> helmert(2, full=True).round(4).tolist()
    [[0.7071, 0.7071], [0.7071, -0.7071]]
    """
    n = _size("helmert", n, 1)
    i = np.arange(1.0, n)[:, None]
    rows = (np.tri(n - 1, n) - i * np.eye(n - 1, n, 1)) / np.sqrt(i * (i + 1))
    return fresh(np.concatenate([np.full((1, n), n**-0.5), rows]) if full else rows)


def invhilbert(n: int, exact: bool = False) -> Any:
    """The inverse of `hilbert`, whose elements are integers; as such if `exact`.

    ``(-1)^(i+j) (i + j + 1) C(n+i, n-j-1) C(n+j, n-i-1) C(i+j, i)^2`` with binomial coefficients C.

    Shapes: ``-> (n, n)``.   Dtypes: float64, or int64 if `exact`.
    Derivative: none, it has no operands.
    Raises: ArgumentError: `n` is no integer, negative, or exact results need more than 64 bits.
    Source: SciPy reference, ``scipy.linalg.invhilbert``; Choi, "Tricks or treats with the Hilbert
    matrix", Am. Math. Monthly 90 (1983).

    >>> invhilbert(2).tolist()
    [[4.0, -6.0], [-6.0, 12.0]]
    """
    n, c = _size("invhilbert", n), math.comb
    rows = [
        [
            (-1) ** (i + j)
            * (i + j + 1)
            * c(n + i, n - j - 1)
            * c(n + j, n - i - 1)
            * c(i + j, i) ** 2
            for j in range(n)
        ]
        for i in range(n)
    ]
    return _exact("invhilbert", rows, np.int64, exact)


def _triangle_of_pascal(name: str, n: int, kind: str, sign: int) -> list[list[int]]:
    """``sign^(i-j) C(i, j)`` below the diagonal, or above it.

    Raises: ArgumentError: an unknown kind.
    """
    if kind not in ("symmetric", "lower", "upper"):
        raise ArgumentError(f"{name}: kind={kind!r}; need 'symmetric', 'lower' or 'upper'{where()}")
    low = [[sign ** (i + j) * math.comb(i, j) for j in range(n)] for i in range(n)]
    return [list(row) for row in zip(*low, strict=True)] if kind == "upper" else low


def pascal(n: int, kind: str = "symmetric", exact: bool = True) -> Any:
    """Pascal's triangle: ``C(i + j, i)``; ``C(i, j)`` with kind "lower", and that turned with "upper".

    Shapes: ``-> (n, n)``.   Dtypes: uint64, or float64 if not `exact`.
    Derivative: none, it has no operands.
    Raises: ArgumentError: `n` is no integer, negative, exact results need more than 64 bits, or an
    unknown `kind`.
    Source: SciPy reference, ``scipy.linalg.pascal``.

    >>> pascal(3).tolist(), pascal(2, "upper").tolist()
    ([[1, 1, 1], [1, 2, 3], [1, 3, 6]], [[1, 1], [0, 1]])
    """
    n = _size("pascal", n)
    rows = _triangle_of_pascal("pascal", n, kind, 1)
    if kind == "symmetric":
        rows = [[math.comb(i + j, i) for j in range(n)] for i in range(n)]
    return _exact("pascal", rows, np.uint64, exact)


def invpascal(n: int, kind: str = "symmetric", exact: bool = True) -> Any:
    """The inverse of `pascal`, whose elements are integers.

    Shapes: ``-> (n, n)``.   Dtypes: int64, or float64 if not `exact`.
    Derivative: none, it has no operands.
    Raises: as `pascal`.
    Source: SciPy reference, ``scipy.linalg.invpascal``.

    >>> invpascal(2).tolist(), invpascal(2, "lower").tolist()
    ([[2, -1], [-1, 1]], [[1, 0], [-1, 1]])
    """
    n = _size("invpascal", n)
    rows = _triangle_of_pascal("invpascal", n, kind, -1)
    if kind == "symmetric":  # the product of both triangles
        columns = list(zip(*rows, strict=True))
        rows = [[sum(map(operator.mul, x, y)) for y in columns] for x in columns]
    return _exact("invpascal", rows, np.int64, exact)
