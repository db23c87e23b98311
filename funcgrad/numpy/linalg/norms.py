"""Norms, condition numbers and rank of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ArgumentError, where
from ...ops import cast as _cast
from ...ops import linalg as _linalg
from ...ops import select as _select
from ...ops import structural as _structural
from ...ops.logic import equal
from .._arguments import array_of, axes_of, beside, with_axes
from ..shaping import expand_dims
from .systems import inv, slogdet


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
    Dtypes: floating, complex; gives reals; infinity where `x` is singular.
    Derivative: that of the norms; none of infinite ones.
    Raises: LinAlgError: `x` is empty, or not square for a norm that needs the inverse.
    Source: NumPy reference, ``numpy.linalg.cond``.

    >>> float(cond([[4.0, 0.0], [0.0, 2.0]]))
    2.0
    """
    x = array_of(x)
    if 0 in x.shape[-2:]:
        raise np.linalg.LinAlgError(f"fnp.linalg.cond: a matrix of shape {list(x.shape)}{where()}")
    if p in (None, 2, -2):
        s = _linalg.svdvals(x)
        largest, smallest = s[..., 0], s[..., -1]
        above, below = (smallest, largest) if p == -2 else (largest, smallest)
        nothing = equal(below, 0)
        return _select.where(nothing, math.inf, above / _select.where(nothing, 1.0, below))
    # An exact 0 among the pivots is what `inv` complains about.
    singular = equal(slogdet(_select.stop_gradient(x))[0], 0)
    unit = beside(x, np.eye(x.shape[-1], dtype=x.dtype))
    regular = _select.where(expand_dims(singular, (-2, -1)), unit, x)
    y = matrix_norm(regular, ord=p) * matrix_norm(inv(regular), ord=p)
    return _select.where(singular, math.inf, y)


def matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = None,
) -> Any:
    """How many singular values are not 0 up to rounding.

    `tol` is the largest singular value that counts as 0; `rtol` is relative to the largest one, and
    ``max(m, n)`` units in the last place if neither is given.

    Shapes: ``A: (*a, m, n) -> (*a)``, vectors to ``()``.   Dtypes: numbers; gives integers.
    Derivative: zero.   Raises: ArgumentError: both `tol` and `rtol` are given.
    Source: NumPy reference, ``numpy.linalg.matrix_rank``.

    >>> int(matrix_rank([[1.0, 1.0], [1.0, 1.0]]))
    1
    """
    if tol is not None and rtol is not None:
        raise ArgumentError(f"linalg.matrix_rank: give `tol` or `rtol`, not both{where()}")
    a = _select.stop_gradient(array_of(A))
    if a.ndim < 2:
        return _cast.astype((a != 0).any(), dtype=np.intp)
    s = abs(_linalg.eigvalsh(a)) if hermitian else _linalg.svdvals(a)
    if not s.shape[-1]:
        least: Any = 0
    elif tol is None:
        unit = np.finfo(s.dtype).eps
        share = max(a.shape[-2:]) * unit if rtol is None else _of_matrices(rtol)
        least = s.max(axis=-1, keepdims=True) * share
    else:
        least = _of_matrices(tol)
    return (s > least).sum(axis=-1)


def _of_matrices(bound: Any) -> Any:
    """One number for all matrices, or one for each, beside their singular values."""
    return bound if isinstance(bound, int | float) else array_of(bound)[..., None]
