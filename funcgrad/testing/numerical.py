"""Directional derivatives by differences, with a bound of their own error.

Layer 5. Everything is computed in double precision, also for subjects in single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .subject import largest

Function = Callable[..., Sequence[Any]]
STEPS = 9  # of halved differences in a tableau
FIRST_STEP = 2.0**-4
LAST_STEP = 2.0**-16  # to begin with


class Difference(NamedTuple):
    """``d/dh f(x + h t)`` at 0, one array per result, and a bound of the error of any element.

    `step`: the largest step that went into it.
    """

    values: list[Any]
    error: float
    step: float


def wide(x: Any) -> Any:
    """`x` in double precision."""
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def central(
    f: Function, xs: Sequence[Any], ts: Sequence[Any], step: float = FIRST_STEP
) -> Difference:
    """Central differences of halved steps, extrapolated; the best entry of the tableau is kept.

    The error is what the last extrapolations changed, plus what rounding does to a difference. Where
    `f` raises for arguments so far away, the steps are smaller.

    Raises: what `f` raises, also near `xs`.
    Source: Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Advances in Engineering
    Software 1982.

    >>> found = central(lambda x: [np.exp(x)], [np.array(0.0)], [np.array(1.0)])
    >>> abs(float(found.values[0]) - 1) < found.error < 1e-10
    True
    """
    try:
        return _extrapolated(f, xs, ts, step, _central_slope, 4.0)
    except Exception:  # whatever the user's function raises outside of its domain
        if step <= LAST_STEP:
            raise
        return central(f, xs, ts, step / 8)


def one_sided(f: Function, xs: Sequence[Any], ts: Sequence[Any], step: float) -> Difference:
    """As `central`, from one side: ``(f(x + h t) - f(x)) / h``."""
    return _extrapolated(f, xs, ts, step, _one_sided_slope, 2.0)


def _extrapolated(
    f: Function, xs: Sequence[Any], ts: Sequence[Any], step: float, slope: Any, ratio: float
) -> Difference:
    xs, ts = list(map(wide, xs)), list(map(wide, ts))
    given = [np.asarray(y) for y in f(*xs)]
    outs = list(map(wide, given))
    eps = max((float(np.finfo(y.dtype).eps) for y in given), default=0.0)
    # Where the results cancel, their rounding errors are those of results nearby.
    nearby = largest(f(*[x + step * t for x, t in zip(xs, ts, strict=True)]))
    noise = 16 * eps * max(largest(outs), nearby if np.isfinite(nearby) else 0.0)
    row: list[list[Any]] = []
    best: Difference | None = None
    for k in range(STEPS):
        h = step / 2**k
        new = [slope(f, xs, ts, h, outs)]
        factor = ratio
        for old in row:
            new.append([a + (a - b) / (factor - 1) for a, b in zip(new[-1], old, strict=True)])
            factor *= ratio if slope is _one_sided_slope else 4.0
        for j in range(1, len(new)):
            change = max(_distance(new[j], new[j - 1]), _distance(new[j], row[j - 1]))
            error = 2 * change + 8 * noise / h + 16 * eps * largest(new[j])
            if best is None or error < best.error:
                best = Difference(new[j], error, step)
        row = new
    assert best is not None
    return best


def _distance(a: Sequence[Any], b: Sequence[Any]) -> float:
    found = largest([x - y for x, y in zip(a, b, strict=True)])
    return found if np.isfinite(found) else np.inf


def _central_slope(f: Function, xs: Any, ts: Any, h: float, outs: Any) -> list[Any]:
    up = f(*[x + h * t for x, t in zip(xs, ts, strict=True)])
    down = f(*[x - h * t for x, t in zip(xs, ts, strict=True)])
    return [(wide(a) - wide(b)) / (2 * h) for a, b in zip(up, down, strict=True)]


def _one_sided_slope(f: Function, xs: Any, ts: Any, h: float, outs: Any) -> list[Any]:
    up = f(*[x + h * t for x, t in zip(xs, ts, strict=True)])
    return [(wide(a) - b) / h for a, b in zip(up, outs, strict=True)]


def complex_step(f: Function, xs: Sequence[Any], ts: Sequence[Any]) -> list[Any] | None:
    """``Im f(x + i h t) / h`` with a tiny `h`: exact to rounding, for functions that allow it.

    None where `f` does not take complex numbers, or does not go on with them analytically.

    Source: Squire & Trapp, "Using complex variables to estimate derivatives of real functions",
    SIAM Review 1998.
    """
    if any(np.iscomplexobj(x) for x in xs):
        return None
    h = 2.0**-300
    try:
        with np.errstate(all="ignore"):
            found = f(*[wide(x) + 1j * h * wide(t) for x, t in zip(xs, ts, strict=True)])
            expected = f(*map(wide, xs))
    except Exception:  # whatever the user's function does with numbers it was not made for
        return None
    if list(map(np.shape, found)) != list(map(np.shape, expected)):  # as of a spectrum
        return None
    for a, b in zip(found, expected, strict=True):
        if not np.iscomplexobj(a) or not np.allclose(np.real(a), b, 1e-12, 0, equal_nan=True):
            return None
    return [np.imag(a) / h for a in found]


def derivative(
    f: Function, xs: Sequence[Any], ts: Sequence[Any], step: float = FIRST_STEP
) -> Difference:
    """The best that is known: differences, and the complex step where it lies within their error."""
    found = central(f, xs, ts, step)
    exact = complex_step(f, xs, ts)
    if exact is None or not _distance(exact, found.values) <= found.error < np.inf:
        return found
    return Difference(exact, 1e-13 * largest(exact), found.step)
