"""Norms, condition numbers and rank of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...algebra import concrete_namespace
from ...ops import linalg as _linalg
from ...ops import structural as _structural
from .._arguments import array_of, axes_of, concrete, with_axes
from .systems import inv


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm of vectors (one axis) or matrices (two axes), or of all elements.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: numbers; gives reals.
    Derivative: 0 at the zero vector for the 2-norm; equal maxima share evenly.
    Raises: ShapeError: `ord` does not exist for as many axes.
    Source: NumPy reference, ``numpy.linalg.norm``.

    >>> float(norm([3.0, -4.0]))
    5.0
    """
    return _linalg.norm(array_of(x), ord, axis, keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """``(sum_i |x_i|^ord)^(1 / ord)`` along the axes.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: numbers; gives reals.
    Derivative: 0 at the zero vector for the 2-norm; equal maxima share evenly.
    Raises: ShapeError: an axis does not exist.
    Source: NumPy reference, ``numpy.linalg.vector_norm``.

    >>> float(vector_norm([[3.0, -4.0]], ord=1))
    7.0
    """
    x = array_of(x)
    axes = axes_of("linalg.vector_norm", axis, x.ndim)
    if len(axes) == 1:
        return _linalg.norm(x, ord, axes[0], keepdims)
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    y = _structural.transpose(x, axes=rest + axes)
    merged = (*(x.shape[i] for i in rest), math.prod(x.shape[i] for i in axes))
    y = _structural.reshape(y, shape=merged)
    return with_axes(_linalg.norm(y, ord, len(rest)), x.shape, axes, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """A norm of matrices, the last two axes.

    Shapes: ``x: (*a, m, n) -> (*a)``.   Dtypes: numbers; gives reals.
    Derivative: 0 at the zero matrix for the Frobenius norm; equal maxima share evenly.
    Raises: ShapeError: there is no such norm, or `x` has fewer than two axes.
    Source: NumPy reference, ``numpy.linalg.matrix_norm``.

    >>> float(matrix_norm([[3.0, -4.0]]))
    5.0
    """
    return _linalg.norm(array_of(x), ord, (-2, -1), keepdims)


def cond(x: Any, p: Any = None) -> Any:
    """The condition number ``|x| |x^-1|``; the ratio of the singular values for the 2-norm.

    Shapes: ``x: (*a, m, n) -> (*a)``, square unless `p` is None, 2 or -2.
    Dtypes: floating, complex; gives reals.
    Derivative: that of the norms.
    Raises: LinAlgError: `x` is singular, for the norms that need the inverse.
    Source: NumPy reference, ``numpy.linalg.cond``.

    >>> float(cond([[4.0, 0.0], [0.0, 2.0]]))
    2.0
    """
    x = array_of(x)
    if p in (None, 2, -2):
        s = _linalg.svdvals(x)
        largest, smallest = s[..., 0], s[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)


def matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = None,
) -> Any:
    """How many singular values are not 0 up to rounding.

    Shapes: ``A: (*a, m, n) -> (*a)``.   Dtypes: numbers; gives integers.
    Derivative: zero.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.linalg.matrix_rank``.

    >>> int(matrix_rank([[1.0, 1.0], [1.0, 1.0]]))
    1
    """
    a = concrete("linalg.matrix_rank", "the matrix", array_of(A))
    options = {} if rtol is None else {"rtol": rtol}
    return concrete_namespace(a).linalg.matrix_rank(a, tol, hermitian, **options)
