"""One polynomial through all points: by Newton's form, by Lagrange's; quotients of polynomials."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import axis_of, beside, module_of
from ...ops.select import stop_gradient
from .._arrays import floating, host_only
from .piecewise import columns
from .splines import PchipInterpolator


def _points(name: str, xi: Any) -> Any:
    xi = floating(xi)
    if xi.ndim != 1 or not xi.shape[0] or aval_of(xi).dtype.kind == "c":
        raise ShapeError(f"{name}: xi is {aval_of(xi)}; need a row of real numbers{where()}")
    return xi


class _Polynomial:
    """Values and derivatives of what subclasses compute for a row of places, orders in front."""

    xi: Any
    yi: Any
    axis: int

    def _orders(self, x: Any, count: int) -> list[Any]:
        raise NotImplementedError

    def _placed(self, y: Any, x: Any) -> Any:
        """Values at a row of places, with the axes of `x` where that of the table was."""
        y = fnp.reshape(y, (*x.shape, *y.shape[1:]))
        new = range(x.ndim)
        return fnp.moveaxis(y, tuple(new), tuple(self.axis + i for i in new)) if self.axis else y

    def _set(self, yi: Any, axis: int) -> None:
        name, yi = type(self).__name__, floating(yi)
        self.axis = axis_of(name, axis, yi.ndim)
        self.yi = fnp.moveaxis(yi, self.axis, 0)
        if self.yi.shape[0] != self.xi.shape[0]:
            raise ShapeError(
                f"{name}: xi has {self.xi.shape[0]} points, yi has {self.yi.shape[0]} along its axis"
                f"{where()}"
            )

    def __call__(self, x: Any) -> Any:
        return self.derivative(x, 0)

    def derivative(self, x: Any, der: int = 1) -> Any:
        """The derivative of one order; the value for 0."""
        der, x = operator.index(der), floating(x)
        if der < 0:
            raise ArgumentError(f"{type(self).__name__}: der={der}; need 0 or more{where()}")
        return self._placed(self._orders(fnp.ravel(x), der + 1)[der], x)

    def derivatives(self, x: Any, der: int | None = None) -> Any:
        """The value and the derivatives, `der` of them, as many as there are points if not given."""
        count, x = self.xi.shape[0] if der is None else operator.index(der), floating(x)
        return fnp.stack([self._placed(y, x) for y in self._orders(fnp.ravel(x), count)])


# ---------------------------------------------------------------- Newton's form


class KroghInterpolator(_Polynomial):
    """The polynomial of least degree through `yi` at the points `xi`, and its derivatives.

    Where points beside each other are equal, the values are those of the derivatives there: the first
    is the value, the next one the slope, ... It warns of more than 30 points, as rounding grows.

    Shapes: ``xi: (n), yi: (*a, n, *b)`` with n at `axis`; ``p(v): (*a, *v, *b)``.
    Dtypes: floating, complex `yi`; integers give float64.
    Derivative: linear in `yi`; by points, of which equal ones stay equal, and places.
    Raises: ArgumentError: equal points that are not beside each other. Where the points are not known,
    equal ones give nan. ShapeError: the shapes do not fit.
    Source: Krogh, Mathematics of Computation 24 (1970) 185; SciPy reference,
    ``scipy.interpolate.KroghInterpolator``.

    >>> p = KroghInterpolator([0.0, 0.0, 1.0], [1.0, 2.0, 4.0])
    >>> float(p(2.0)), p.derivatives(0.0).tolist()
    (9.0, [1.0, 2.0, 2.0])
    """

    def __init__(self, xi: Any, yi: Any, axis: int = 0) -> None:
        self.xi = _points("KroghInterpolator", xi)
        self._set(yi, axis)
        n = self.xi.shape[0]
        if n > 30:
            warnings.warn(f"KroghInterpolator: rounding grows with {n} points", stacklevel=2)
        rows = [self.yi[k] for k in range(n)]
        before = _equal_before(known(self.xi), n)
        self.c, previous = [rows[0]], rows[:1]
        for k in range(1, n):
            s = before[k]
            column = [rows[k] * (1.0 / math.factorial(s))]
            for i in range(k - s):
                # divided differences of the points so far that end with the last s + 1
                earlier = self.c[i] if not s else previous[i + 1]
                column.append((earlier - column[i]) / (self.xi[i] - self.xi[k]))
            previous = column
            self.c.append(column[-1])

    def _orders(self, x: Any, count: int) -> list[Any]:
        shape = (x.shape[0], *self.yi.shape[1:])
        found = [fnp.broadcast_to(self.c[-1], shape)]
        for k in range(len(self.c) - 2, -1, -1):
            gap = columns(x - self.xi[k], found[0])
            grown = found[: count - 1]
            found = [y * gap for y in found]
            found[0] = found[0] + self.c[k]
            for d, y in enumerate(grown, 1):
                if d == len(found):
                    found.append(y)
                else:
                    found[d] = found[d] + y
        found = [y * float(math.factorial(d)) for d, y in enumerate(found[:count])]
        return found + [fnp.zeros_like(found[0])] * (count - len(found))


def _equal_before(xi: Any, n: int) -> list[int]:
    """How many points just before each one are equal to it, as far as they are known."""
    if xi is None:
        return [0] * n
    found: list[int] = []
    for k, x in enumerate(xi):
        found.append(found[-1] + 1 if k and x == xi[k - 1] else 0)
        if bool((xi[: k - found[k]] == x).any()):
            raise ArgumentError(
                f"KroghInterpolator: points that are equal must be beside each other{where()}"
            )
    return found


def krogh_interpolate(xi: Any, yi: Any, x: Any, der: int | Sequence[int] = 0, axis: int = 0) -> Any:
    """``KroghInterpolator(xi, yi, axis)`` at `x`: its derivative of the order `der`, or a list of them.

    Shapes, dtypes, derivative: those of `KroghInterpolator`.
    Raises: as `KroghInterpolator`.
    Source: SciPy reference, ``scipy.interpolate.krogh_interpolate``.

    >>> krogh_interpolate([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], 1.5, [0, 1]).tolist()
    [2.25, 3.0]
    """
    return _derivatives(KroghInterpolator(xi, yi, axis), x, der)


def _derivatives(p: _Polynomial, x: Any, der: int | Sequence[int]) -> Any:
    if np.ndim(der) == 0:
        return p.derivative(x, operator.index(der))  # type: ignore[arg-type]
    wanted = np.asarray(der, int)
    return p.derivatives(x, int(wanted.max()) + 1)[wanted]


# ---------------------------------------------------------------- Lagrange's form


class BarycentricInterpolator(_Polynomial):
    """The polynomial of least degree through `yi` at the points `xi`, also for many points.

    ``sum_j w_j y_j l_j(x) / sum_j w_j l_j(x)`` with the products ``l_j`` of all ``x - x_k`` but one,
    which holds at the points themselves. `wi`: the weights ``w_j``, if they are known before, up to a
    factor. `rng` changes nothing.

    Shapes: ``xi: (n), yi: (*a, n, *b)`` with n at `axis`; ``p(v): (*a, *v, *b)``.
    Dtypes: floating, complex `yi`; integers give float64.
    Derivative: linear in `yi`; by points and places, and `wi`.
    Raises: ArgumentError: equal points, no `yi` yet, or ``p.derivative`` with `wi`, which need not be
    a polynomial's. Where the points are not known, equal ones give nan. ShapeError: the shapes do not
    fit.
    Source: Berrut, Trefethen, SIAM Review 46 (2004) 501; SciPy reference,
    ``scipy.interpolate.BarycentricInterpolator``.

    >>> p = BarycentricInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    >>> float(p(1.5)), float(p.derivative(1.0).round(12))
    (2.25, 2.0)
    """

    def __init__(
        self, xi: Any, yi: Any = None, axis: int = 0, *, wi: Any = None, rng: Any = None
    ) -> None:
        self.xi = _points("BarycentricInterpolator", xi)
        self.axis = axis
        value = known(self.xi)
        if value is not None and _meet(value):
            raise ArgumentError(f"BarycentricInterpolator: points are equal{where()}")
        # factors of about 1 for points that fill an interval, which change no quotient
        reach = stop_gradient(fnp.max(self.xi) - fnp.min(self.xi))
        self.scale = 4.0 / fnp.where(reach > 0, reach, 1.0)
        self.given = wi is not None
        self.wi = floating(wi, module_of(self.xi)) if self.given else self._weights()
        if self.wi.shape != self.xi.shape:
            raise ShapeError(
                f"BarycentricInterpolator: xi has shape {list(self.xi.shape)}, wi has "
                f"{list(self.wi.shape)}{where()}"
            )
        self.set_yi(yi)

    def set_yi(self, yi: Any, axis: int | None = None) -> None:
        """Other values at the same points."""
        self.yi = None
        if yi is not None:
            self._set(yi, self.axis if axis is None else axis)

    def add_xi(self, xi: Any, yi: Any = None) -> None:
        """More points, and values along the same axis if there are some."""
        if (yi is None) != (self.yi is None) or self.given:
            raise ArgumentError(
                f"BarycentricInterpolator: more points need values if others have, no wi{where()}"
            )
        points = fnp.concatenate([self.xi, _points("BarycentricInterpolator", xi)])
        if yi is not None:
            yi = fnp.concatenate([fnp.moveaxis(self.yi, 0, self.axis), floating(yi)], self.axis)
        self.__init__(points, yi, self.axis)  # type: ignore[misc]

    def _weights(self) -> Any:
        n = self.xi.shape[0]
        gaps = (fnp.expand_dims(self.xi, 1) - self.xi) * self.scale + beside(self.xi, np.eye(n))
        return 1.0 / fnp.prod(gaps[:, _scattered(n)], axis=1)

    def _values(self, x: Any, y: Any) -> Any:
        gaps = (fnp.expand_dims(x, 1) - self.xi) * self.scale
        terms = _all_but_one(gaps) * self.wi
        total = fnp.tensordot(terms, y, 1)
        # with a polynomial's weights the sum is 1, of which far from the points rounding leaves nothing
        return total / columns(fnp.sum(terms, axis=1), total) if self.given else total

    def _orders(self, x: Any, count: int) -> list[Any]:
        if self.yi is None:
            raise ArgumentError(f"BarycentricInterpolator: there are no yi; see set_yi{where()}")
        if self.given and count > 1:
            raise ArgumentError(
                f"BarycentricInterpolator: has no derivatives with wi= given; leave it out{where()}"
            )
        found = [self._values(x, self.yi)]
        if count > 1:
            n = self.xi.shape[0]
            eye = beside(self.xi, np.eye(n))
            gaps = fnp.expand_dims(self.xi, 1) - self.xi + eye
            slopes = self.wi / (gaps * fnp.expand_dims(self.wi, 1)) * (1.0 - eye)
            slopes = slopes - fnp.diag(fnp.sum(slopes, axis=1))
            y = self.yi
            for _ in range(1, min(count, n)):
                y = fnp.tensordot(slopes, y, 1)
                found.append(self._values(x, y))
        return found + [fnp.zeros_like(found[0])] * (count - len(found))


def _meet(x: Any) -> bool:
    x = fnp.sort(x)
    return bool((x[1:] == x[:-1]).any())


def _scattered(n: int) -> np.ndarray:
    """An order in which numbers that follow each other are far apart, so that products stay about 1."""
    return np.argsort((np.arange(n) * 0.6180339887498949) % 1.0, kind="stable")


def _all_but_one(x: Any) -> Any:
    """The products along rows of all elements but each one, without a division."""
    order = _scattered(x.shape[1])
    x = x[:, order]
    ones = fnp.ones_like(x[:, :1])
    before = fnp.cumprod(fnp.concatenate([ones, x[:, :-1]], axis=1), axis=1)
    after = fnp.cumprod(fnp.concatenate([ones, fnp.flip(x[:, 1:], 1)], axis=1), axis=1)
    return (before * fnp.flip(after, 1))[:, np.argsort(order)]


def barycentric_interpolate(
    xi: Any, yi: Any, x: Any, axis: int = 0, *, der: int | Sequence[int] = 0, rng: Any = None
) -> Any:
    """``BarycentricInterpolator(xi, yi, axis)`` at `x`: the derivative `der`, or a list of them.

    Shapes, dtypes, derivative: those of `BarycentricInterpolator`.
    Raises: as `BarycentricInterpolator`.
    Source: SciPy reference, ``scipy.interpolate.barycentric_interpolate``.

    >>> float(barycentric_interpolate([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], 1.5))
    2.25
    """
    return _derivatives(BarycentricInterpolator(xi, yi, axis), x, der)


@host_only
def lagrange(x: Any, w: Any) -> Any:
    """The polynomial through `w` at the points `x`, as its coefficients; for up to about 20 points.

    Shapes: ``x, w: (n) ->`` a `poly1d` of up to n coefficients, which needs known values.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear in `w`; by the points, too.
    Raises: ArgumentError: equal points. ShapeError: the shapes differ.
    Source: SciPy reference, ``scipy.interpolate.lagrange``.

    >>> lagrange([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]).coef.tolist()
    [1.0, 0.0, 0.0]
    """
    x, w = _points("lagrange", x), floating(w)
    if w.shape != x.shape:
        raise ShapeError(
            f"lagrange: x is {aval_of(x)} and w is {aval_of(w)}; need one shape{where()}"
        )
    value, n = known(x), x.shape[0]
    if value is not None and np.unique(np.asarray(value)).size < n:
        raise ArgumentError(f"lagrange: points are equal{where()}")
    total: Any = 0.0
    for j in range(n):
        others = x[np.arange(n) != j]
        total = total + fnp.poly(others) * (w[j] / fnp.prod(x[j] - others))
    return fnp.poly1d(total)


@host_only
def pade(an: Any, m: int, n: int | None = None) -> tuple[Any, Any]:
    """``p, q`` whose quotient has the power series `an`, of degrees `n` and `m`; ``q(0) = 1``.

    Shapes: ``an: (k) ->`` a `poly1d` of ``n + 1`` and one of ``m + 1`` coefficients, which need known
    values; ``n = k - 1 - m`` if it is not given.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of a linear system.
    Raises: ShapeError: `an` is no vector, or too short. ArgumentError: a negative degree.
    LinAlgError: there is no such quotient.
    Source: SciPy reference, ``scipy.interpolate.pade``.

    >>> p, q = pade([1.0, 1.0, 0.5], 1)
    >>> p.coef.tolist(), q.coef.tolist()
    ([0.5, 1.0], [-0.5, 1.0])
    """
    an, m = floating(an), operator.index(m)
    size = an.shape[0] if an.ndim == 1 else 0
    n = size - 1 - m if n is None else operator.index(n)
    if m < 0 or n < 0:
        raise ArgumentError(f"pade: degrees m={m} and n={n}; need 0 or more{where()}")
    if m + n + 1 > size:
        raise ShapeError(f"pade: an is {aval_of(an)}; need a vector of {m + n + 1}{where()}")
    an = an[: m + n + 1]
    place = np.arange(m + n + 1)[:, None] - np.arange(1, m + 1)
    rest = fnp.where(place >= 0, -an[np.maximum(place, 0)], 0.0)
    units = np.eye(m + n + 1, n + 1, dtype=aval_of(an).dtype)
    found = fnp.linalg.solve(fnp.concatenate([units, rest], axis=1), an)
    q = fnp.concatenate([np.ones(1), found[n + 1 :]])
    return fnp.poly1d(fnp.flip(found[: n + 1])), fnp.poly1d(fnp.flip(q))


def pchip_interpolate(xi: Any, yi: Any, x: Any, der: int | Sequence[int] = 0, axis: int = 0) -> Any:
    """``PchipInterpolator(xi, yi, axis)`` at `x`: its derivative of the order `der`, or a list of them.

    Shapes, dtypes, derivative: those of `PchipInterpolator`.
    Raises: as `PchipInterpolator`.
    Source: SciPy reference, ``scipy.interpolate.pchip_interpolate``.

    >>> float(pchip_interpolate([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], 0.5))
    0.5
    """
    p = PchipInterpolator(xi, yi, axis)
    if np.ndim(der) == 0:
        return p(x, operator.index(der))  # type: ignore[arg-type]
    return [p(x, operator.index(nu)) for nu in der]  # type: ignore[union-attr]
