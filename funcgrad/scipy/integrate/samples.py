"""Integrals of samples: `trapezoid`, `simpson`, `romb` and running ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of, axis_of, beside, converted, module_of, operand

# ---------------------------------------------------------------- samples and their distances


def _samples(name: str, y: Any, x: Any, dx: Any, axis: int) -> tuple[Any, Any]:
    """The samples with their axis last, and the distances between them, which broadcast to them."""
    y = array_of(y)
    axis = axis_of(name, axis, y.ndim)
    y = fnp.moveaxis(y, axis, -1)
    if aval_of(y).dtype.kind not in "fc":
        y = converted(y, float)
    if x is None:
        weak = aval_of(operand(dx)).weak
        dx = array_of(dx, module_of(y))
        if weak:
            dx = converted(dx, np.finfo(aval_of(y).dtype).dtype)
        return y, fnp.expand_dims(dx, -1)
    x = array_of(x, module_of(y))
    if x.ndim > 1 and x.ndim != y.ndim:
        raise ShapeError(
            f"{name}: x has shape {list(x.shape)}; need one axis, or as many as y, which has "
            f"{y.ndim}{where()}"
        )
    x = x if x.ndim == 1 else fnp.moveaxis(x, axis, -1)
    if x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"{name}: x has {x.shape[-1]} points along the axis, y has {y.shape[-1]}{where()}"
        )
    return y, fnp.diff(x, axis=-1)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """``sum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2)`` along an axis.

    Shapes: ``y: (*a, n, *b) -> (*a, *b)``; x is ``(n)`` or as `y`.   Dtypes: floating, complex.
    Derivative: bilinear in `y` and the distances.
    Raises: ShapeError: there is no such axis, or x does not fit.
    Source: SciPy reference, ``scipy.integrate.trapezoid``.

    >>> float(trapezoid([1.0, 2.0, 4.0]))
    4.5
    """
    y, h = _samples("trapezoid", y, x, dx, axis)
    return fnp.sum(h * (y[..., 1:] + y[..., :-1]) * 0.5, axis=-1)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """The running sums of `trapezoid`, after the first point; with `initial` = 0 also a 0 in front.

    Shapes: ``y: (*a, n, *b) -> (*a, n - 1, *b)``, or n with `initial`.   Dtypes: floating, complex.
    Derivative: bilinear in `y` and the distances.
    Raises: ArgumentError: `initial` is not 0. ShapeError: as `trapezoid`, or y has no points.
    Source: SciPy reference, ``scipy.integrate.cumulative_trapezoid``.

    >>> cumulative_trapezoid([1.0, 2.0, 4.0], initial=0).tolist()
    [0.0, 1.5, 4.5]
    """
    if initial is not None and initial != 0:
        raise ArgumentError(f"cumulative_trapezoid: initial={initial!r}; need 0 or None{where()}")
    y, h = _samples("cumulative_trapezoid", y, x, dx, axis)
    if not y.shape[-1]:
        raise ShapeError(f"cumulative_trapezoid: y has no points along the axis{where()}")
    sums = fnp.cumsum(h * (y[..., 1:] + y[..., :-1]) * 0.5, axis=-1)
    return _placed(sums, initial, axis)


def _placed(sums: Any, initial: Any, axis: int) -> Any:
    """Running sums with their axis where it belongs, `initial` in front if there is one."""
    if initial is not None:
        front = beside(sums, np.zeros((*sums.shape[:-1], 1), sums.dtype))
        weak = aval_of(operand(initial)).weak
        initial = array_of(initial, module_of(sums))
        initial = converted(initial, sums.dtype) if weak else initial
        start = fnp.expand_dims(initial, -1) + front
        sums = fnp.concatenate([start, sums + start], axis=-1)
    return fnp.moveaxis(sums, -1, axis)


# ---------------------------------------------------------------- parabolas


def _first_gap(u: Any, v: Any, w: Any, a: Any, b: Any) -> Any:
    """The integral from u to v of the parabola through three samples with the distances a and b."""
    whole = a + b
    left = a / 6 * ((2 * a + 3 * b) / whole)
    middle = a / 6 * ((a + 3 * b) / b)
    right = a / 6 * (a * a / (whole * b))
    return left * u + middle * v - right * w


def _gaps(y: Any, h: Any) -> tuple[Any, Any, Any]:
    """The integrals over the even gaps, the odd ones, and the last one if they are odd in number.

    Each is of the parabola through the ends and a neighbour: that after an even gap, that before an
    odd one and before the last.
    """
    count = y.shape[-1] - 1
    paired = count - count % 2
    u, v, w = y[..., :paired:2], y[..., 1:paired:2], y[..., 2 : paired + 1 : 2]
    uniform = h.shape[-1] == 1
    a, b = (h, h) if uniform else (h[..., :paired:2], h[..., 1:paired:2])
    last = None
    if count % 2:
        before, gap = (h, h) if uniform else (h[..., -2:-1], h[..., -1:])
        last = _first_gap(y[..., -1:], y[..., -2:-1], y[..., -3:-2], gap, before)
    return _first_gap(u, v, w, a, b), _first_gap(w, v, u, b, a), last


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis of parabolas through three points each: Simpson's rule.

    With an odd number of gaps, the last one is under the parabola through the last three points.

    Shapes: ``y: (*a, n, *b) -> (*a, *b)``, n > 0; x is ``(n)`` or as `y`.   Dtypes: floating, complex.
    Derivative: linear in `y`; by `x`, whose points must differ.
    Raises: ShapeError: there is no such axis, x does not fit, or y has no points.
    Source: Cartwright, J. Math. Sci. Math. Ed. 12 (2017); SciPy reference, ``scipy.integrate.simpson``.

    >>> float(simpson([0.0, 1.0, 4.0]).round(6)), float(simpson([0.0, 1.0, 4.0, 9.0]).round(6))
    (2.666667, 9.0)
    """
    y, h = _samples("simpson", y, x, dx, axis)
    if not y.shape[-1]:
        raise ShapeError(f"simpson: y has no points along the axis{where()}")
    if y.shape[-1] < 3:
        return fnp.sum(h * (y[..., 1:] + y[..., :-1]) * 0.5, axis=-1)
    even, odd, last = _gaps(y, h)
    total = fnp.sum(even + odd, axis=-1)
    return total if last is None else total + last[..., 0]


def cumulative_simpson(
    y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """The running sums of Simpson's rule, after the first point; with `initial` also from there.

    Shapes: ``y: (*a, n, *b) -> (*a, n - 1, *b)``, or n with `initial`.   Dtypes: floating, complex.
    Derivative: linear in `y` and `initial`; by `x`, whose points must differ.
    Raises: ShapeError: as `simpson`.
    Source: Cartwright, J. Math. Sci. Math. Ed. 12 (2017); SciPy reference,
    ``scipy.integrate.cumulative_simpson``.

    >>> cumulative_simpson([0.0, 1.0, 4.0], initial=0.0).round(6).tolist()
    [0.0, 0.333333, 2.666667]
    """
    y, h = _samples("cumulative_simpson", y, x, dx, axis)
    if not y.shape[-1]:
        raise ShapeError(f"cumulative_simpson: y has no points along the axis{where()}")
    if y.shape[-1] < 3:
        parts = h * (y[..., 1:] + y[..., :-1]) * 0.5
    else:
        even, odd, last = _gaps(y, h)
        pairs = fnp.stack([even, odd], axis=-1)
        parts = fnp.reshape(pairs, (*pairs.shape[:-2], 2 * pairs.shape[-2]))
        if last is not None:
            parts = fnp.concatenate([parts, last], axis=-1)
    return _placed(fnp.cumsum(parts, axis=-1), initial, axis)


def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """Romberg's rule: trapezoids of widths ``dx, 2 dx, 4 dx, ...``, extrapolated to width 0.

    Shapes: ``y: (*a, 2**k + 1, *b) -> (*a, *b)``.   Dtypes: floating, complex.
    Derivative: bilinear in `y` and `dx`.
    Raises: ShapeError: the number of points is not 2**k + 1. ArgumentError: `show` is set.
    Source: SciPy reference, ``scipy.integrate.romb``.

    >>> float(romb([0.0, 1.0, 16.0, 81.0, 256.0]).round(6))
    204.8
    """
    if show:
        raise ArgumentError(f"romb: show={show!r} is not supported{where()}")
    y, _ = _samples("romb", y, None, dx, axis)
    gaps = y.shape[-1] - 1
    if gaps < 1 or gaps & (gaps - 1):
        raise ShapeError(f"romb: y has {gaps + 1} points along the axis; need 2**k + 1{where()}")
    row: list[Any] = []
    width = gaps
    while width:
        z = y[..., ::width]
        new = [fnp.sum((z[..., 1:] + z[..., :-1]) * 0.5, axis=-1) * (dx * width)]
        for j, old in enumerate(row):
            new.append(new[j] + (new[j] - old) / (4.0 ** (j + 1) - 1.0))
        row, width = new, width // 2
    return row[-1]
