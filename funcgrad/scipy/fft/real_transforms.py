"""Cosine and sine transforms, through Fourier transforms.

NOTE [Types] All are ``2 Re`` (or ``-2 Im``) of a Fourier transform of L points: of `x`, weighted and
put `into` a place, of which as many as there were are taken `outof` a place and weighted again. L is
also what the norms divide by. The ``sqrt(2)`` at the ends make the matrices orthogonal.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, NamedTuple

import numpy as np

from ...algebra import concrete_namespace
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of
from ...ops import fft as _fft
from ...ops.complex import imag, real
from ...ops.contract import normal_axis
from ...ops.cumulative import part
from ...ops.join import pad
from .._arrays import floating


class Plan(NamedTuple):
    """See NOTE [Types]."""

    points: int
    into: int
    outof: int
    before: np.ndarray
    after: np.ndarray


_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@functools.lru_cache(maxsize=256)
def _plan(sine: bool, kind: int, n: int, orthogonal: bool) -> Plan:
    points = 2 * n if kind > 1 else 2 * (n + 1) if sine else 2 * (n - 1)
    into, outof = int(sine and kind in (1, 3)), int(sine and kind in (1, 2))
    before, after = np.ones(n, complex), np.ones(n, complex)
    places = np.arange(n)
    turn = -1j * math.pi / (2 * n)
    if kind in (3, 4):
        before = np.exp(turn * (places + into))
    if kind == 2:
        after = np.exp(turn * (places + outof))
    if kind == 4:
        after = np.exp(turn * (places + 0.5))
    ends = [n - 1] if sine else [0, n - 1] if kind == 1 else [0]
    if kind == 3 or (kind == 1 and not sine):
        before[ends] *= math.sqrt(0.5) if orthogonal else 0.5
    if orthogonal and (kind == 2 or (kind == 1 and not sine)):
        after[ends] *= math.sqrt(0.5)
    return Plan(points, into, outof, before, after)


def _along(weights: np.ndarray, x: Any, axis: int, dtype: Any) -> Any:
    """The weights as an array that broadcasts along the axis; real ones if they are."""
    if not weights.imag.any():
        weights = weights.real
    dtype = np.result_type(dtype, np.complex64) if weights.dtype.kind == "c" else dtype
    shape = (-1,) + (1,) * (x.ndim - axis - 1)
    return concrete_namespace(x).asarray(weights.astype(dtype).reshape(shape))


def _transformed(x: Any, axis: int, sine: bool, plan: Plan) -> Any:
    """Of real numbers."""
    n, dtype = x.shape[axis], x.dtype
    if not (plan.before == 1).all():
        x = x * _along(plan.before, x, axis, dtype)
    widths = [(0, 0)] * x.ndim
    widths[axis] = (plan.into, plan.points - n - plan.into)
    x = pad(x, widths=tuple(widths))
    if x.dtype.kind == "c":
        y = _fft.fft(x, axis=(axis,), inverse=False, norm="backward")
    else:
        y = _fft.rfft(x, axis=axis, norm="backward")
    y = part(y, axis, plan.outof, plan.outof + n)
    if not (plan.after == 1).all():
        y = y * _along(plan.after, y, axis, dtype)
    return imag(y) * -2.0 if sine else real(y) * 2.0


def _one(
    name: str, x: Any, kind: Any, n: Any, axis: Any, norm: Any, orthogonal: Any, *, inverse: bool
) -> Any:
    """One transform along one axis."""
    x = floating(x)
    axis = normal_axis(name, operator.index(axis), x.ndim)
    norm = "backward" if norm is None else norm
    if kind not in _INVERSE or norm not in _fft.OTHER_WAY:
        raise ArgumentError(
            f"{name}: type={kind!r} and norm={norm!r}; need a type of 1 to 4, and 'backward', 'ortho' "
            f"or 'forward'{where()}"
        )
    n = x.shape[axis] if n is None else operator.index(n)
    sine = "st" in name
    if n < 1 + (kind == 1 and not sine):
        raise ShapeError(f"{name}: {aval_of(x)} has too few points for type {kind}{where()}")
    if orthogonal is None:
        orthogonal = norm == "ortho"
    if inverse:
        kind, norm = _INVERSE[kind], _fft.OTHER_WAY[norm]
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, n - x.shape[axis])
    x = pad(x, widths=tuple(widths)) if n != x.shape[axis] else x
    plan = _plan(sine, kind, n, bool(orthogonal))
    scale = plan.points ** -{"backward": 0.0, "ortho": 0.5, "forward": 1.0}[norm]
    if x.dtype.kind == "c":
        re, im = (_transformed(f(x), axis, sine, plan) for f in (real, imag))
        return (re + im * 1j) * scale
    return _transformed(x, axis, sine, plan) * scale


def _several(
    name: str, x: Any, kind: Any, s: Any, axes: Any, norm: Any, orthogonal: Any, *, inverse: bool
) -> Any:
    x = array_of(x)
    if axes is None:
        axes = range(x.ndim) if s is None else range(-len(s), 0)
    axes = [normal_axis(f"{name}n", a, x.ndim) for a in ([axes] if isinstance(axes, int) else axes)]
    lengths = [None] * len(axes) if s is None else [s] if isinstance(s, int) else list(s)
    if len(lengths) != len(axes) or len(set(axes)) != len(axes):
        raise ShapeError(f"{name}n: s={s} and axes={axes}; need different axes, as many{where()}")
    for axis, n in zip(axes, lengths, strict=True):
        n = None if n == -1 else n
        x = _one(name, x, kind, n, axis, norm, orthogonal, inverse=inverse)
    return x


# ---------------------------------------------------------------- SciPy's names


def dct(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """``y_k = 2 sum_j x_j cos(pi k (2 j + 1) / (2 n))``, the second of the cosine transforms.

    `type`: 1 to 4. `norm`: "backward" leaves it as it is, "forward" divides by twice the period,
    "ortho" by its root; with "ortho", or `orthogonalize`, the ends are weighted so that the matrix is
    orthogonal.

    Shapes: ``x: (*a, m, *b) -> (*a, n, *b)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.dct``.

    >>> dct([1.0, 2.0, 4.0]).round(4).tolist()
    [14.0, -5.1962, 1.0]
    """
    return _one("dct", x, type, n, axis, norm, orthogonalize, inverse=False)


def idct(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """The inverse of `dct`; type 2: ``(x_0 + 2 sum_j x_j cos(pi j (2 k + 1) / (2 n))) / (2 n)``.

    Shapes: ``x: (*a, m, *b) -> (*a, n, *b)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.idct``.

    >>> idct([14.0, -5.1962, 1.0]).round(4).tolist()
    [1.0, 2.0, 4.0]
    """
    return _one("idct", x, type, n, axis, norm, orthogonalize, inverse=True)


def dst(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """``y_k = 2 sum_j x_j sin(pi (k + 1) (2 j + 1) / (2 n))``, the second of the sine transforms.

    `type`: 1 to 4. `norm`: "backward" leaves it as it is, "forward" divides by twice the period,
    "ortho" by its root; with "ortho", or `orthogonalize`, the ends are weighted so that the matrix is
    orthogonal.

    Shapes: ``x: (*a, m, *b) -> (*a, n, *b)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.dst``.

    >>> dst([1.0, 2.0, 4.0]).round(4).tolist()
    [9.0, -5.1962, 6.0]
    """
    return _one("dst", x, type, n, axis, norm, orthogonalize, inverse=False)


def idst(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """The inverse of `dst`, of the same type and norm.

    Shapes: ``x: (*a, m, *b) -> (*a, n, *b)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.idst``.

    >>> idst([9.0, -5.1962, 6.0]).round(4).tolist()
    [1.0, 2.0, 4.0]
    """
    return _one("idst", x, type, n, axis, norm, orthogonalize, inverse=True)


def dctn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    *,
    orthogonalize: Any = None,
) -> Any:
    """`dct` along each of the axes; along all of them if `axes` is None.

    Shapes: ``x: (*a) -> (*a)`` with the lengths `s` along the axes.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.dctn``.

    >>> dctn([[1.0, 2.0], [3.0, 4.0]]).round(4).tolist()
    [[40.0, -5.6569], [-11.3137, 0.0]]
    """
    return _several("dct", x, type, s, axes, norm, orthogonalize, inverse=False)


def idctn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """`idct` along each of the axes; along all of them if `axes` is None.

    Shapes: ``x: (*a) -> (*a)`` with the lengths `s` along the axes.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.idctn``.

    >>> idctn([[1.0, 2.0], [3.0, 4.0]]).round(4).tolist()
    [[1.0044, -0.3491], [-0.5259, 0.1206]]
    """
    return _several("idct", x, type, s, axes, norm, orthogonalize, inverse=True)


def dstn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """`dst` along each of the axes; along all of them if `axes` is None.

    Shapes: ``x: (*a) -> (*a)`` with the lengths `s` along the axes.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.dstn``.

    >>> dstn([[1.0, 2.0], [3.0, 4.0]]).round(4).tolist()
    [[20.0, -5.6569], [-11.3137, 0.0]]
    """
    return _several("dst", x, type, s, axes, norm, orthogonalize, inverse=False)


def idstn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """`idst` along each of the axes; along all of them if `axes` is None.

    Shapes: ``x: (*a) -> (*a)`` with the lengths `s` along the axes.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type` or `norm`. ShapeError: too few points, or no such axis.
    Source: SciPy reference, ``scipy.fft.idstn``.

    >>> idstn([[1.0, 2.0], [3.0, 4.0]]).round(4).tolist()
    [[0.8169, -0.0366], [-0.2134, -0.0669]]
    """
    return _several("idst", x, type, s, axes, norm, orthogonalize, inverse=True)
