"""Values at scattered points: radial functions, triangles, the nearest point."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, Tracer
from ...errors import ArgumentError, ShapeError, where
from ...indexing import read
from ...numpy._arguments import array_of, beside, module_of
from ...ops.from_scipy import scipy_package
from ...ops.select import stop_gradient
from .._arrays import floating, floating_each, host_only
from .._options import refuse_options
from .._programs import on_host


def _log(q: Any) -> Any:
    return fnp.where(q == 0, 0.0, 0.5 * q * fnp.log(fnp.where(q == 0, 1.0, q)))


def _power(q: Any, half: float) -> Any:
    """``r**(2 half)`` for ``q = r**2``; the roots of 0 have no derivatives of their own."""
    return fnp.where(q == 0, 0.0, fnp.where(q == 0, 1.0, q) ** half)


# As functions of the square of the distance; the least degree of the polynomials that go with them.
_KERNELS: dict[str, tuple[Any, int]] = {
    "linear": (lambda q: -_power(q, 0.5), 0),
    "thin_plate_spline": (_log, 1),
    "cubic": (lambda q: _power(q, 1.5), 1),
    "quintic": (lambda q: -_power(q, 2.5), 2),
    "multiquadric": (lambda q: -fnp.sqrt(q + 1.0), 0),
    "inverse_multiquadric": (lambda q: 1.0 / fnp.sqrt(q + 1.0), -1),
    "inverse_quadratic": (lambda q: 1.0 / (q + 1.0), -1),
    "gaussian": (lambda q: fnp.exp(-q), -1),
}
_WITHOUT_SCALE = ("linear", "thin_plate_spline", "cubic", "quintic")


class RBFInterpolator:
    """A sum of radial functions around the points `y`, and a polynomial, through the values `d`.

    `kernel`: "thin_plate_spline" (``r**2 log(r)``), "linear", "cubic", "quintic", or with a scale
    `epsilon` "multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian". `smoothing`, one
    for all or for each, lets the function miss the values. `degree`: of the polynomial, -1 for none.

    Shapes: ``y: (n, k), d: (n, *s)``; ``f(x: (m, k)): (m, *s)``.   Dtypes: floating, complex `d`.
    Derivative: linear in `d`; by points, places, `epsilon` and `smoothing`, too. Radial functions that
    are not smooth have the derivatives 0 at their own point.
    Raises: ArgumentError: another `kernel`, no `epsilon` where it is needed, a `degree` below -1 or
    with too few points, or `neighbors`. ShapeError: the shapes do not fit. LinAlgError: the points do
    not determine the polynomial.
    Source: Fasshauer, "Meshfree Approximation Methods with MATLAB", 2007; SciPy reference,
    ``scipy.interpolate.RBFInterpolator``.

    >>> import funcgrad
    >>> y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> f = RBFInterpolator(y, [0.0, 1.0, 2.0, 3.0])
    >>> funcgrad.grad(lambda x: f(x[None])[0])(np.array([0.3, 0.4])).round(6).tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        y: Any,
        d: Any,
        neighbors: Any = None,
        smoothing: Any = 0.0,
        kernel: str = "thin_plate_spline",
        epsilon: Any = None,
        degree: Any = None,
    ) -> None:
        refuse_options("RBFInterpolator", neighbors=neighbors)
        y, d, smoothing = floating_each(y, d, smoothing)
        if y.ndim != 2 or not d.ndim or d.shape[0] != y.shape[0]:
            raise ShapeError(
                f"RBFInterpolator: y has shape {list(y.shape)}, d {list(d.shape)}; need (n, k) and "
                f"(n, ...){where()}"
            )
        n, count = y.shape
        if smoothing.shape not in ((), (n,)):
            raise ShapeError(
                f"RBFInterpolator: smoothing has shape {list(smoothing.shape)}; need a number or "
                f"{[n]}{where()}"
            )
        if kernel not in _KERNELS:
            raise ArgumentError(
                f"RBFInterpolator: kernel={kernel!r}; need one of {', '.join(_KERNELS)}{where()}"
            )
        if epsilon is None and kernel not in _WITHOUT_SCALE:
            raise ArgumentError(f"RBFInterpolator: {kernel} needs a scale: epsilon={where()}")
        self._kernel, least = _KERNELS[kernel]
        self.epsilon = array_of(1.0 if epsilon is None else epsilon)
        degree = max(least, 0) if degree is None else operator.index(degree)
        self._powers = _powers(count, degree)
        if degree < -1 or len(self._powers) > n:
            raise ArgumentError(
                f"RBFInterpolator: degree={degree}; need -1 or more, and {len(self._powers)} points "
                f"for that{where()}"
            )
        low, high = (stop_gradient(g(y, axis=0)) for g in (fnp.min, fnp.max))
        self._middle = (low + high) * 0.5
        self._width = fnp.where(high == low, 1.0, (high - low) * 0.5)
        self.y, self._shape = y, d.shape[1:]
        self._solve(fnp.reshape(d, (n, -1)), smoothing)

    def _solve(self, d: Any, smoothing: Any) -> None:
        n, more = d.shape[0], len(self._powers)
        radial, smooth = self._parts(self.y)
        radial = radial + beside(d, np.eye(n)) * smoothing
        top = fnp.concatenate([radial, smooth], axis=1)
        below = fnp.concatenate([fnp.transpose(smooth), beside(d, np.zeros((more, more)))], axis=1)
        right = fnp.pad(d, ((0, more), (0, 0)))
        self._coefficients = fnp.linalg.solve(fnp.concatenate([top, below]), right)

    def _parts(self, x: Any) -> tuple[Any, Any]:
        """The radial functions and the monomials at places."""
        off = (fnp.expand_dims(x, 1) - self.y) * self.epsilon
        radial = self._kernel(fnp.sum(off * off, axis=-1))
        unit = (x - self._middle) / self._width
        found = [fnp.prod(unit ** beside(x, p), axis=-1) for p in self._powers]
        smooth = fnp.stack(found, axis=-1) if found else radial[:, :0]
        return radial, smooth

    def __call__(self, x: Any) -> Any:
        x = floating(x, module_of(self.y))
        if x.ndim != 2 or x.shape[1] != self.y.shape[1]:
            raise ShapeError(
                f"RBFInterpolator: x has shape {list(x.shape)}; need (m, {self.y.shape[1]}){where()}"
            )
        parts = fnp.concatenate(self._parts(x), axis=1)
        return fnp.reshape(parts @ self._coefficients, (x.shape[0], *self._shape))


def _powers(count: int, degree: int) -> list[np.ndarray]:
    """The exponents of the monomials of at most a degree."""
    choices = [itertools.combinations_with_replacement(range(count), n) for n in range(degree + 1)]
    return [
        np.bincount(np.array(variables, int), minlength=count)
        for variables in itertools.chain(*choices)
    ]


# ---------------------------------------------------------------- triangles, and the nearest point


class _OfPoints:
    """Points that are constants, values there, and places as rows of coordinates."""

    def __init__(self, name: str, points: Any, values: Any, rescale: bool) -> None:
        refuse_options(name, rescale=rescale)
        self._name = name
        if isinstance(points, tuple):
            points = fnp.stack([fnp.ravel(p) for p in fnp.broadcast_arrays(*points)], axis=-1)
        points, self.values = floating(points), floating(values)
        if isinstance(points, Tracer):
            raise ArgumentError(f"{name}: the points are traced; need constants{where()}")
        self.points = points[:, None] if points.ndim == 1 else points
        if self.points.ndim != 2 or self.values.shape[:1] != self.points.shape[:1]:
            raise ShapeError(
                f"{name}: {list(self.points.shape)} points and values of shape "
                f"{list(self.values.shape)}; need (n, k) and (n, ...){where()}"
            )

    def _places(self, args: tuple[Any, ...]) -> Any:
        """Raises: ShapeError: they have another number of coordinates."""
        count = self.points.shape[1]
        x = args[0] if len(args) == 1 else args
        if isinstance(x, tuple):
            x = fnp.stack(fnp.broadcast_arrays(*map(floating, x)), axis=-1)
        elif count == 1 and (floating(x).ndim < 2 or floating(x).shape[-1] != 1):
            x = fnp.expand_dims(floating(x), -1)
        x = floating(x)
        if not x.ndim or x.shape[-1] != count:
            raise ShapeError(
                f"{self._name}: places have shape {list(x.shape)}; need (..., {count}){where()}"
            )
        return x


class LinearNDInterpolator(_OfPoints):
    """The function that is linear in each of the triangles (Delaunay's) between points.

    The points are constants. Beyond their hull it is `fill_value`.

    Shapes: ``points: (n, k), values: (n, *s)``; ``f(x: (*m, k)): (*m, *s)``, or k arrays.
    Dtypes: floating, complex values.
    Derivative: linear in `values`; by places that of the triangle they are in.
    Raises: ArgumentError: traced points, or `rescale`. ShapeError: the shapes do not fit, or k is 1.
    ImportError: no SciPy.
    Source: SciPy reference, ``scipy.interpolate.LinearNDInterpolator``.

    >>> import funcgrad
    >>> f = LinearNDInterpolator([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.0, 1.0, 2.0])
    >>> float(f(0.25, 0.5).round(6)), funcgrad.grad(f)(np.array([0.25, 0.5])).round(6).tolist()
    (1.25, [1.0, 2.0])
    """

    def __init__(
        self, points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False
    ) -> None:
        is_made = hasattr(points, "find_simplex")
        super().__init__(
            "LinearNDInterpolator", points.points if is_made else points, values, rescale
        )
        if self.points.shape[1] < 2:
            raise ShapeError(f"LinearNDInterpolator: one coordinate; see interp1d{where()}")
        self.tri = points if is_made else scipy_package("spatial", self._name).Delaunay(self.points)
        self.fill_value = fill_value

    def __call__(self, *args: Any) -> Any:
        x = self._places(args)
        tri, count = self.tri, self.points.shape[1]
        (place,) = on_host(
            self._name,
            lambda v: [tri.find_simplex(v)],
            [x],
            [Aval(x.shape[:-1], np.dtype(np.int64))],
        )
        inside = place >= 0
        place = fnp.where(inside, place, 0)
        turn = read(tri.transform, place)
        turn = fnp.where(inside[..., None, None], turn, 0.0)  # not the nan of another place
        x = fnp.where(inside[..., None], x, 0.0)
        shares = fnp.sum(
            turn[..., :count, :] * fnp.expand_dims(x - turn[..., count, :], -2), axis=-1
        )
        shares = fnp.concatenate([shares, 1.0 - fnp.sum(shares, axis=-1, keepdims=True)], axis=-1)
        corners = read(self.values, read(np.asarray(tri.simplices, np.int64), place))
        more = (1,) * (self.values.ndim - 1)
        value = fnp.sum(fnp.reshape(shares, (*shares.shape, *more)) * corners, axis=x.ndim - 1)
        return fnp.where(fnp.reshape(inside, (*inside.shape, *more)), value, self.fill_value)


class NearestNDInterpolator(_OfPoints):
    """The value at the nearest of the points, which are constants.

    Shapes: ``points: (n, k), values: (n, *s)``; ``f(x: (*m, k)): (*m, *s)``, or k arrays.
    Dtypes: floating, complex values.
    Derivative: linear in `values`; zero by places.
    Raises: ArgumentError: traced points, `rescale`, or `tree_options`. ShapeError: the shapes do not
    fit. ImportError: no SciPy.
    Source: SciPy reference, ``scipy.interpolate.NearestNDInterpolator``.

    >>> float(NearestNDInterpolator([[0.0, 0.0], [1.0, 0.0]], [5.0, 7.0])(0.8, 3.0))
    7.0
    """

    def __init__(
        self, x: Any, y: Any, rescale: bool = False, tree_options: dict[str, Any] | None = None
    ) -> None:
        super().__init__("NearestNDInterpolator", x, y, rescale)
        self.tree = scipy_package("spatial", self._name).cKDTree(
            self.points, **(tree_options or {})
        )

    def __call__(self, *args: Any) -> Any:
        x = self._places(args)
        (place,) = on_host(
            self._name,
            lambda v: [self.tree.query(v)[1]],
            [x],
            [Aval(x.shape[:-1], np.dtype(np.int64))],
        )
        return read(self.values, place)


@host_only
def griddata(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    fill_value: Any = np.nan,
    rescale: bool = False,
) -> Any:
    """The values of `LinearNDInterpolator` or `NearestNDInterpolator` at the places `xi`.

    `points` with one coordinate are those of a row, in any order; `xi` are numbers then, in an array of
    any shape.

    Shapes: ``points: (n, k), values: (n, *s), xi: (*m, k) -> (*m, *s)``, or tuples of k arrays.
    Dtypes, Derivative: as these.
    Raises: as these; ArgumentError: `method` is not "linear" or "nearest".
    Source: SciPy reference, ``scipy.interpolate.griddata``.

    >>> griddata([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.0, 1.0, 2.0], [[0.25, 0.5]]).tolist()
    [1.25]
    """
    if method not in ("linear", "nearest"):
        raise ArgumentError(f"griddata: method={method!r}; need 'linear' or 'nearest'{where()}")
    flat = points[0] if isinstance(points, tuple) and len(points) == 1 else points
    if not isinstance(flat, tuple) and (floating(flat).ndim == 1 or floating(flat).shape[1] == 1):
        place = floating(xi[0] if isinstance(xi, tuple) else xi)
        if method == "linear":
            return _on_a_row(fnp.ravel(floating(flat)), floating(values), place, fill_value)
        points, xi = flat, (place,)
    if method == "nearest":
        return NearestNDInterpolator(points, values, rescale)(xi)
    return LinearNDInterpolator(points, values, fill_value, rescale)(xi)


def _on_a_row(x: Any, values: Any, v: Any, fill_value: Any) -> Any:
    order = fnp.argsort(x)
    x, values = read(x, order), read(values, order)
    inside, lost = fnp.logical_and(v >= x[0], v <= x[-1]), fnp.isnan(v)
    v = fnp.where(inside, v, x[0])
    gap = fnp.clip(fnp.searchsorted(x, v) - 1, 0, x.shape[0] - 2)
    low = read(x, gap)
    share = (v - low) / (read(x, gap + 1) - low)
    more = (1,) * (values.ndim - 1)
    share = fnp.reshape(share, (*v.shape, *more))
    value = read(values, gap) * (1.0 - share) + read(values, gap + 1) * share
    inside, lost = (fnp.reshape(at, (*v.shape, *more)) for at in (inside, lost))
    return fnp.where(inside, value, fnp.where(lost, np.nan, fill_value))
