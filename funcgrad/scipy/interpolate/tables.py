"""Interpolation in tables: `interp1d`, `RegularGridInterpolator`, `interpn`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known, read
from ...numpy._arguments import array_of, axis_of, module_of
from .._arrays import floating, floating_each
from .grids import DEGREES, pchip_values, spline_values
from .piecewise import columns, require_rising
from .splines import CubicSpline

# ---------------------------------------------------------------- one dimension


def _linear(x: Any, y: Any, v: Any) -> Any:
    place = fnp.clip(fnp.searchsorted(x, v), 1, x.shape[0] - 1)
    low, high = read(x, place - 1), read(x, place)
    share = (v - low) / (high - low)
    share = fnp.reshape(share, share.shape + (1,) * (y.ndim - 1))
    return read(y, place - 1) * (1.0 - share) + read(y, place) * share


def _nearest(side: str) -> Callable[..., Any]:
    def nearest(x: Any, y: Any, v: Any) -> Any:
        middles = x[1:] * 0.5 + x[:-1] * 0.5
        return read(y, fnp.clip(fnp.searchsorted(middles, v, side=side), 0, x.shape[0] - 1))

    return nearest


def _previous(x: Any, y: Any, v: Any) -> Any:
    return read(y, fnp.clip(fnp.searchsorted(x, v, side="right") - 1, 0, x.shape[0] - 1))


def _next(x: Any, y: Any, v: Any) -> Any:
    return read(y, fnp.clip(fnp.searchsorted(x, v), 0, x.shape[0] - 1))


def _cubic(x: Any, y: Any, v: Any) -> Any:
    return CubicSpline(x, y)(v)


_KINDS: dict[str, Callable[..., Any]] = {
    "linear": _linear,
    "slinear": _linear,
    "nearest": _nearest("left"),
    "nearest-up": _nearest("right"),
    "previous": _previous,
    "next": _next,
    "cubic": _cubic,
}


class interp1d:
    """A table of `y` at the points `x` as a function: ``f(v)`` is interpolated as `kind` says.

    `kind`: "linear", "nearest" (the lower one of two), "nearest-up", "previous", "next", "cubic".
    Outside of the points there is an error if `fill_value` is not given and the places are known;
    otherwise `fill_value` (a pair: below and above), nan, or with "extrapolate" the curve itself.
    At nan it is nan.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`; ``f(v): (*a, *v, *b)``.   Dtypes: floating,
    complex `y`.
    Derivative: linear in `y`; by `x` and places for "linear" and "cubic", at a point that of the gap
    before it, otherwise zero.
    Raises: ArgumentError: another kind, `x` has equal points, a place is outside. ShapeError: the
    shapes do not fit.
    Source: SciPy reference, ``scipy.interpolate.interp1d``.

    >>> import funcgrad
    >>> f = interp1d([0.0, 1.0, 3.0], [0.0, 2.0, 3.0])
    >>> float(f(2.0)), float(funcgrad.grad(f)(2.0))
    (2.5, 0.5)
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: str = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: Any = np.nan,
        assume_sorted: bool = False,
    ) -> None:
        if kind not in _KINDS:
            raise ArgumentError(
                f"interp1d: kind={kind!r}; need one of {', '.join(map(repr, _KINDS))}{where()}"
            )
        self.kind = kind
        x, y = floating_each(x, y)
        self.axis = axis_of("interp1d", axis, y.ndim)
        y = fnp.moveaxis(y, self.axis, 0)
        if x.ndim != 1 or x.shape[0] != y.shape[0]:
            raise ShapeError(
                f"interp1d: x has shape {list(x.shape)}, y has {y.shape[0]} along its axis{where()}"
            )
        if not assume_sorted:
            order = fnp.argsort(x)
            x, y = read(x, order), read(y, order)
        self.x = require_rising("interp1d", x, 4 if kind == "cubic" else 2)
        self.y = y
        self.extrapolates = isinstance(fill_value, str)
        if self.extrapolates and fill_value != "extrapolate":
            raise ArgumentError(f"interp1d: fill_value={fill_value!r}{where()}")
        unset = isinstance(fill_value, float) and np.isnan(fill_value)
        self.bounds_error = unset if bounds_error is None else bounds_error
        self.fills = self._fills(fill_value)

    def _fills(self, fill_value: Any) -> tuple[Any, Any] | None:
        """What is below and above the table; None where the curve goes on."""
        if self.extrapolates:
            beyond = {"previous": (np.nan, self.y[-1]), "next": (self.y[0], np.nan)}
            return beyond.get(self.kind)
        pair = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
        low, high = (
            x if isinstance(x, float | int) else array_of(x, module_of(self.y)) for x in pair
        )
        return low, high

    def __call__(self, v: Any) -> Any:
        v = floating(v, module_of(self.x))
        below, above = v < self.x[0], v > self.x[-1]
        if self.bounds_error and not self.extrapolates:
            _require_inside("interp1d", below, above)
        out = _KINDS[self.kind](self.x, self.y, v)
        if self.fills is not None:
            for outside, fill in zip((below, above), self.fills, strict=True):
                mask = fnp.reshape(outside, v.shape + (1,) * (self.y.ndim - 1))
                out = fnp.where(mask, fill, out)
        nan = fnp.reshape(fnp.isnan(v), v.shape + (1,) * (self.y.ndim - 1))
        out = fnp.where(nan, np.nan, out)
        if not self.axis:
            return out
        new = range(v.ndim)
        return fnp.moveaxis(out, tuple(new), tuple(self.axis + i for i in new))


def _require_inside(name: str, *outside: Any) -> None:
    values = [known(o) for o in outside]
    if any(v is not None and bool(v.any()) for v in values):
        raise ArgumentError(f"{name}: a place is outside of the table; see bounds_error{where()}")


# ---------------------------------------------------------------- grids


class RegularGridInterpolator:
    """A table of values on a grid as a function: ``f(xi)`` is interpolated along every axis.

    `points`: a row of points for every axis, which rises or falls. `method`: "linear", "nearest" (the
    lower one of two), splines of degree 1, 3 or 5 along every axis "slinear", "cubic", "quintic", of
    which ``f(xi, nu=...)`` is the derivative of an order along each, or "pchip", which is monotonic
    where the values are. Outside of the grid there is an error if `bounds_error` is set and the places
    are known; otherwise `fill_value`, or the curve itself if that is None.

    Shapes: ``points: (n_1), ..., (n_d); values: (n_1, ..., n_d, *rest)``; ``f(xi): (*p, *rest)`` for
    ``xi: (*p, d)`` or a tuple of d arrays.   Dtypes: floating, complex values.
    Derivative: linear in `values`, but for "pchip"; by `points` and places, too, for "linear" at a
    point that of the gap before it; by those zero for "nearest".
    Raises: ArgumentError: another method, points that do not rise, a place outside, `nu` without a
    spline. ShapeError: the shapes do not fit, or there are too few points for a spline.
    Source: SciPy reference, ``scipy.interpolate.RegularGridInterpolator``.

    >>> import funcgrad
    >>> f = RegularGridInterpolator(
    ...     ([0.0, 1.0], [0.0, 1.0, 2.0]), [[0.0, 1.0, 2.0], [1.0, 3.0, 5.0]]
    ... )
    >>> f([0.5, 1.5]).tolist(), funcgrad.jacrev(f)(np.array([0.5, 1.5])).tolist()
    ([2.75], [[2.5, 1.5]])
    """

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = np.nan,
        *,
        solver: Any = None,
        solver_args: Any = None,
    ) -> None:
        if solver is not None or solver_args is not None:
            raise ArgumentError(f"RegularGridInterpolator: solver= is not supported{where()}")
        self.method = _method("RegularGridInterpolator", method)
        self.values, *rows = floating_each(values, *points)
        falling = tuple(i for i, p in enumerate(rows) if _falls(p))
        rows = [fnp.flip(p) if i in falling else p for i, p in enumerate(rows)]
        least = DEGREES.get(self.method, 3 if self.method == "pchip" else 1) + 1
        self.grid = tuple(require_rising("RegularGridInterpolator", p, least) for p in rows)
        found = tuple(p.shape[0] for p in self.grid)
        if self.values.shape[: len(found)] != found:
            raise ShapeError(
                f"RegularGridInterpolator: the grid has shape {list(found)}, values have "
                f"{list(self.values.shape)}{where()}"
            )
        self.values = fnp.flip(self.values, falling) if falling else self.values
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Any:
        method = self.method if method is None else _method("RegularGridInterpolator", method)
        if nu is not None and method not in DEGREES:
            raise ArgumentError(
                f"RegularGridInterpolator: nu={nu!r} with method={method!r}; need a spline, one of "
                f"{', '.join(map(repr, DEGREES))}{where()}"
            )
        places, shape = self._places(xi)
        outside = [
            fnp.logical_or(v < p[0], v > p[-1]) for v, p in zip(places, self.grid, strict=True)
        ]
        if self.bounds_error:
            _require_inside("RegularGridInterpolator", *outside)
        lost = sum(fnp.isnan(v) for v in places) > 0
        places = [fnp.where(lost, p[0], v) for v, p in zip(places, self.grid, strict=True)]
        out = self._values(method, places, nu)
        out = fnp.where(self._mask(lost), np.nan, out)
        if self.fill_value is not None and not self.bounds_error:
            away = fnp.logical_and(sum(outside) > 0, fnp.logical_not(lost))
            out = fnp.where(self._mask(away), self.fill_value, out)
        elif self.bounds_error:
            out = fnp.where(self._mask(sum(outside) > 0), np.nan, out)
        return fnp.reshape(out, (*shape, *self.values.shape[len(self.grid) :]))

    def _mask(self, flags: Any) -> Any:
        return fnp.reshape(flags, (-1,) + (1,) * (self.values.ndim - len(self.grid)))

    def _places(self, xi: Any) -> tuple[list[Any], tuple[int, ...]]:
        """A row of coordinates for every axis, and the shape that all of them have together."""
        d, xp = len(self.grid), module_of(self.values)
        if isinstance(xi, tuple):
            found = fnp.broadcast_arrays(*(floating(v, xp) for v in xi))
            shape = found[0].shape
        else:
            xi = floating(xi, xp)
            xi = fnp.expand_dims(xi, -1) if d == 1 and xi.ndim < 2 else xi
            xi = fnp.expand_dims(xi, 0) if xi.ndim == 1 else xi
            found, shape = fnp.unstack(xi, axis=-1), xi.shape[:-1]
        if len(found) != d:
            raise ShapeError(
                f"RegularGridInterpolator: places have {len(found)} coordinates, the grid {d}{where()}"
            )
        return [fnp.ravel(v) for v in found], shape

    def _values(self, method: str, places: Sequence[Any], nu: Any) -> Any:
        if method in DEGREES:
            name, k = "RegularGridInterpolator", DEGREES[method]
            return spline_values(name, self.grid, self.values, places, k, nu)
        if method == "pchip":
            return pchip_values(self.grid, self.values, places)
        return self._linear(places) if method == "linear" else self._nearest(places)

    def _gaps(self, places: Sequence[Any]) -> list[tuple[Any, Any]]:
        """For every axis the gaps that the places are in, and how far along."""
        found = []
        for v, p in zip(places, self.grid, strict=True):
            i = fnp.clip(fnp.searchsorted(p, v) - 1, 0, p.shape[0] - 2)
            low, high = read(p, i), read(p, i + 1)
            found.append((i, (v - low) / (high - low)))
        return found

    def _linear(self, places: Sequence[Any]) -> Any:
        gaps = self._gaps(places)
        total: Any = 0.0
        for corner in itertools.product((0, 1), repeat=len(gaps)):
            index = tuple(i + k for k, (i, _) in zip(corner, gaps, strict=True))
            weight: Any = 1.0
            for k, (_, share) in zip(corner, gaps, strict=True):
                weight = weight * (share if k else 1.0 - share)
            value = read(self.values, index)
            total = total + value * columns(weight, value)
        return total

    def _nearest(self, places: Sequence[Any]) -> Any:
        index = tuple(fnp.where(s <= 0.5, i, i + 1) for i, s in self._gaps(places))
        return read(self.values, index)


_METHODS = ("linear", "nearest", *DEGREES, "pchip")


def _method(name: str, method: str) -> str:
    if method not in _METHODS:
        raise ArgumentError(
            f"{name}: method={method!r}; need one of {', '.join(map(repr, _METHODS))}{where()}"
        )
    return method


def _falls(points: Any) -> bool:
    """Whether it is known that a row of points falls."""
    value = known(points)
    if value is None or value.ndim != 1 or value.shape[0] < 2:
        return False
    return bool((value[1:] < value[:-1]).all())


def interpn(
    points: Sequence[Any],
    values: Any,
    xi: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = np.nan,
) -> Any:
    """``RegularGridInterpolator(points, values, ...)(xi)``.

    Shapes, dtypes, derivative: those of `RegularGridInterpolator`.
    Raises: as `RegularGridInterpolator`.
    Source: SciPy reference, ``scipy.interpolate.interpn``.

    >>> interpn(([0.0, 1.0],), [0.0, 2.0], [0.25]).tolist()
    [0.5]
    """
    if isinstance(xi, tuple) and not any(aval_of(array_of(v)).shape for v in xi):
        xi = fnp.stack([array_of(v) for v in xi])
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)
