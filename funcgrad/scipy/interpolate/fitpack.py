"""FITPACK's splines by SciPy's older names: `splrep` and its kin, `UnivariateSpline` and its own."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Tracer
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, module_of
from ...ops.from_scipy import scipy_package
from .._arrays import floating, host_only
from .._options import refuse_options
from .bsplines import BSpline, default_knots, make_interp_spline
from .fitting import make_lsq_spline
from .piecewise import require_rising

_WAYS = {name: number for number, name in enumerate(("extrapolate", "zeros", "raise", "const"))}


def _row(name: str, what: str, x: Any) -> Any:
    x = floating(x)
    if x.ndim != 1:
        raise ShapeError(f"{name}: {what} has shape {list(x.shape)}; need a row{where()}")
    return x


def _fitted(
    name: str, x: Any, y: Any, w: Any, ends: tuple[Any, Any], k: int, s: Any, t: Any = None
) -> BSpline:
    """The spline of degree `k` on an interval: through the values, or near to them by `s` or `t`."""
    k = operator.index(k)
    if not 1 <= k <= 5:
        raise ArgumentError(f"{name}: k={k}; need 1 to 5{where()}")
    x, y = _row(name, "x", x), _row(name, "y", y)
    n = x.shape[0]
    if y.shape[0] != n or (w is not None and floating(w).shape != (n,)):
        raise ShapeError(f"{name}: x, y and w must have the same length{where()}")
    if n <= k:
        raise ShapeError(f"{name}: {n} points; need more than k={k}{where()}")
    low, high = (x[i] if e is None else floating(e) for i, e in zip((0, -1), ends, strict=True))
    if t is not None:
        t = _row(name, "t", t)
        return make_lsq_spline(x, y, _with_ends(t, low, high, k), k, w)
    if s is None:
        s = float(n) if w is not None or name == "UnivariateSpline" else 0.0
    smoothing = None if isinstance(s, Tracer) else known(array_of(s))
    if smoothing is None or smoothing < 0:
        raise ArgumentError(f"{name}: s={s}; need a constant, 0 or more{where()}")
    if smoothing:
        return _smoothed(name, x, y, w, (low, high), k, float(smoothing))
    x = require_rising(name, x)
    inner = default_knots(x, k, False)[k + 1 : -k - 1]
    return make_interp_spline(x, y, k, _with_ends(inner, low, high, k))


def _with_ends(inner: Any, low: Any, high: Any, k: int) -> Any:
    ends = [fnp.broadcast_to(e, (k + 1,)) for e in (low, high)]
    return fnp.concatenate([ends[0], inner, ends[1]])


def _smoothed(name: str, *data: Any) -> BSpline:
    """SciPy's spline, which chooses its knots by the values, as a constant.

    Raises: ArgumentError: the data are traced.
    """
    x, y, w, (low, high), k, s = data
    if any(isinstance(v, Tracer) for v in (x, y, w, low, high)):
        raise ArgumentError(
            f"{name}: s={s} chooses knots by the values, so traced ones would get wrong derivatives; "
            f"need s=0, knots t (LSQUnivariateSpline), or make_smoothing_spline{where()}"
        )
    theirs = scipy_package("interpolate", f"{name} with s > 0")
    if name == "splrep":
        t, c, k = theirs.splrep(x, y, w, low, high, k=k, s=s)
        return BSpline(t, c[: len(t) - k - 1], k)
    found = theirs.UnivariateSpline(x, y, w, [low, high], k, s)
    inner = found.get_knots()[1:-1]
    return BSpline(_with_ends(inner, low, high, k), found.get_coeffs(), k)


def _tuple(spline: BSpline) -> tuple[Any, Any, int]:
    t, c, k = spline.tck
    return t, fnp.pad(c, ((0, k + 1),) + ((0, 0),) * (c.ndim - 1)), k


def _spline(name: str, tck: Any) -> BSpline:
    if isinstance(tck, BSpline):
        return tck
    try:
        t, c, k = tck
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: tck={tck!r}; need (t, c, k) or a BSpline{where()}") from None
    return BSpline(t, floating(c), k)


def _at(name: str, spline: BSpline, x: Any, nu: int, ext: Any) -> Any:
    """The spline's derivative of order `nu` at `x`; `ext` says what is beyond the ends."""
    way = _WAYS.get(ext, ext) if isinstance(ext, str) else ext
    if way not in _WAYS.values():
        raise ArgumentError(f"{name}: ext={ext!r}; need 0 to 3, or {', '.join(_WAYS)}{where()}")
    t, _, k = spline.tck
    x = floating(x, module_of(t))
    low, high = t[k], t[t.shape[0] - k - 1]
    if way == 3 and not nu:
        return spline(fnp.clip(x, low, high), nu, True)
    beyond = fnp.logical_or(x < low, x > high)
    if way == 2:
        value = known(beyond)
        if value is None or bool(value.any()):
            raise ArgumentError(
                f"{name}: a place is beyond {low}..{high}, or not known, and ext is 'raise'{where()}"
            )
    if way == 1:
        return fnp.where(beyond, 0.0, spline(fnp.where(beyond, low, x), nu, True))
    return spline(x, nu, True)


# ---------------------------------------------------------------- tuples of knots and coefficients


def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
    full_output: int = 0,
    per: int = 0,
    quiet: int = 1,
) -> tuple[Any, Any, int]:
    """The knots, coefficients (with k + 1 zeros behind) and degree of the spline through `y`.

    `t`: interior knots, for the spline of least squares with weights `w`. `s` > 0: knots that SciPy
    chooses, for data that are constants; that is the default, ``s = len(x)``, where `w` is given.

    Shapes: ``x, y: (n) -> (m + k + 1)`` twice.   Dtypes: real floating; integers give float64.
    Derivative: linear in `y`; by the points and knots, too; none with `s` > 0.
    Raises: ArgumentError: `x` does not rise, `s` > 0 with traced data, `per`, `task=1`, or
    `full_output`. ShapeError: the shapes do not fit.
    Source: Dierckx, "Curve and Surface Fitting with Splines", Oxford 1993; SciPy reference,
    ``scipy.interpolate.splrep``.

    >>> tck = splrep(np.arange(5.0), np.arange(5.0) ** 3)
    >>> float(splev(1.5, tck).round(6)), float(splint(0.0, 2.0, tck).round(6))
    (3.375, 4.0)
    """
    refuse_options("splrep", full_output=full_output or None, per=per or None)
    if task not in (0, -1) or (task == -1 and t is None):
        raise ArgumentError(f"splrep: task={task}; need 0, or -1 with knots t{where()}")
    if s is None and w is not None and t is None:
        count = float(np.shape(w)[0])
        s = count - np.sqrt(2 * count)
    return _tuple(_fitted("splrep", x, y, w, (xb, xe), k, s, t))


@host_only
def splprep(
    x: Any,
    w: Any = None,
    u: Any = None,
    ub: Any = None,
    ue: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
    full_output: int = 0,
    nest: Any = None,
    per: int = 0,
    quiet: int = 1,
) -> tuple[list[Any], Any]:
    """The curve through points, as knots, a list of coefficients for every coordinate and a degree;
    and the parameters of the points, from 0 to 1 by the length of the chords, or `u`.

    Shapes: ``x: d rows (n)``; gives ``[t, [c_1, ..., c_d], k], (n)``.
    Dtypes: real floating; integers give float64.
    Derivative: by the points, of the parameters, too, and by `u`.
    Raises: ArgumentError: `s` is not 0, neighbouring points are equal, or an option is not supported.
    ShapeError: the shapes do not fit.
    Source: Dierckx, "Curve and Surface Fitting with Splines", Oxford 1993; SciPy reference,
    ``scipy.interpolate.splprep``.

    >>> tck, u = splprep([[0.0, 3.0, 3.0, 0.0], [0.0, 0.0, 4.0, 4.0]], s=0)
    >>> u.tolist(), [float(v.round(6)) for v in splev(0.7, tck)]
    ([0.0, 0.3, 0.7, 1.0], [3.0, 4.0])
    """
    options = {"w": w, "ub": ub, "ue": ue, "task": task or None, "t": t, "nest": nest}
    refuse_options("splprep", **options, full_output=full_output or None, per=per or None)
    if s is None or isinstance(s, Tracer) or known(array_of(s)) != 0:
        raise ArgumentError(
            f"splprep: s={s}; need s=0, because knots that are chosen by the values have no "
            f"derivative{where()}"
        )
    x = fnp.stack([_row("splprep", "a coordinate", v) for v in x])
    if u is None:
        chords = fnp.sqrt(fnp.sum(fnp.square(fnp.diff(x, axis=1)), axis=0))
        lengths = fnp.concatenate([np.zeros(1), fnp.cumsum(chords)])
        u = lengths / lengths[-1]
    u = require_rising("splprep", u)
    spline = _fitted("splprep", u, x[0], None, (None, None), k, 0.0)
    t, c, k = _tuple(make_interp_spline(u, x.T, k, spline.tck[0]))
    return [t, list(fnp.unstack(c, axis=1)), k], u


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """The spline of `splrep`, or its derivative of order `der`, at `x`; a list for a curve.

    `ext`: beyond the ends the spline goes on (0), is 0 (1), is an error (2), or has its last value (3;
    with `der` it goes on, as in SciPy).

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: linear in the coefficients; by places and knots that of the polynomial to the right of
    a knot.
    Raises: ArgumentError: `der` is not in 0..k, another `ext`, or `ext` is 2 and a place is beyond or
    not known.
    Source: SciPy reference, ``scipy.interpolate.splev``.

    >>> splev([0.5, 3.0], ([0.0, 0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 0.0], 1), ext=3).tolist()
    [0.5, 0.0]
    """
    if not isinstance(tck, BSpline) and len(tck) == 3:
        rows = tck[1]
        many = isinstance(rows, list | tuple) or floating(rows).ndim == 2
        curve = [floating(c) for c in rows] if many else []
        if curve and curve[0].ndim:
            return [splev(x, (tck[0], c, tck[2]), der, ext) for c in curve]
    spline = _spline("splev", tck)
    if not 0 <= der <= spline.k:
        raise ArgumentError(f"splev: der={der}; need 0 to {spline.k}{where()}")
    return _at("splev", spline, x, der, ext)


def splint(a: Any, b: Any, tck: Any, full_output: int = 0) -> Any:
    """The integral of the spline from `a` to `b`; it is 0 beyond its ends.

    Shapes: ``a, b: () -> ()``.   Dtypes: floating.
    Derivative: linear in the coefficients; the value there by `a` and `b`.
    Raises: ArgumentError: `full_output`.
    Source: SciPy reference, ``scipy.interpolate.splint``.

    >>> float(splint(0.0, 9.0, ([0.0, 0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 0.0], 1)))
    1.0
    """
    refuse_options("splint", full_output=full_output or None)
    spline = _spline("splint", tck)
    return spline.integrate(a, b, False if not isinstance(tck, BSpline) else None)


def splder(tck: Any, n: int = 1) -> Any:
    """The spline that is the derivative of order `n`, of the same kind as `tck`.

    Shapes: ``(m + k + 1)`` twice to ``(m + k + 1 - 2 n)`` twice.   Dtypes: floating.
    Derivative: linear in the coefficients; by the knots, too.
    Raises: ArgumentError: `n` is more than the degree.
    Source: SciPy reference, ``scipy.interpolate.splder``.

    >>> t, c, k = splder(([0.0, 0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 0.0], 1))
    >>> c.tolist(), k
    ([1.0, -1.0, 0.0], 0)
    """
    if isinstance(tck, BSpline):
        return tck.derivative(n)
    spline = _spline("splder", tck)
    if n > spline.k:
        raise ArgumentError(f"splder: n={n}; need at most {spline.k}{where()}")
    return _tuple(spline.derivative(n))


def splantider(tck: Any, n: int = 1) -> Any:
    """The spline whose derivative of order `n` is `tck`, of the same kind.

    Shapes: ``(m + k + 1)`` twice to ``(m + k + 1 + 2 n)`` twice.   Dtypes: floating.
    Derivative: linear in the coefficients; by the knots, too.
    Raises: ArgumentError: `tck` is no spline.
    Source: SciPy reference, ``scipy.interpolate.splantider``.

    >>> float(splev(2.0, splantider(([0.0, 0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 0.0], 1))))
    1.0
    """
    if isinstance(tck, BSpline):
        return tck.antiderivative(n)
    return _tuple(_spline("splantider", tck).antiderivative(n))


def spalde(x: Any, tck: Any) -> Any:
    """All derivatives of the spline at `x`, those of orders 0 to k; for a row of places a list.

    Shapes: ``x: () -> (k + 1)``.   Dtypes: floating.   Derivative: as `splev`.
    Raises: ArgumentError: a place is beyond the ends, or not known.
    Source: SciPy reference, ``scipy.interpolate.spalde``.

    >>> spalde(0.5, ([0.0, 0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 0.0], 1)).tolist()
    [0.5, 1.0]
    """
    x, spline = floating(x), _spline("spalde", tck)
    found = fnp.stack([_at("spalde", spline, x, n, 2) for n in range(spline.k + 1)], axis=-1)
    return list(found) if x.ndim else found


# ---------------------------------------------------------------- the classes


class UnivariateSpline:
    """The spline of degree `k` through `y`, or near to it: ``sum((w (y - s(x)))**2) <= s``.

    With `s` = 0 it goes through all values, and has derivatives by them. With `s` > 0, and the default
    ``s = len(x)``, SciPy chooses its knots, for data that are constants. `ext`: beyond the ends the
    spline goes on (0, "extrapolate"), is 0 (1, "zeros"), is an error (2, "raise"), or has its last
    value (3, "const"). Methods: ``derivative``, ``antiderivative``, ``derivatives``, ``integral``,
    ``get_knots``, ``get_coeffs``, ``get_residual``.

    Shapes: ``x, y, w: (n); f(v): (*v)``.   Dtypes: real floating; integers give float64.
    Derivative: by places; linear in `y` and by the points if `s` is 0.
    Raises: ArgumentError: `x` does not rise, `k` is not in 1..5, `s` > 0 with traced data, another
    `ext`. ShapeError: the shapes do not fit.
    Source: Dierckx, "Curve and Surface Fitting with Splines", Oxford 1993; SciPy reference,
    ``scipy.interpolate.UnivariateSpline``.

    >>> import funcgrad
    >>> f = UnivariateSpline(np.arange(5.0), np.arange(5.0) ** 3, s=0)
    >>> (
    ...     float(f(1.5).round(6)),
    ...     float(funcgrad.grad(f)(1.5).round(6)),
    ...     float(f.integral(0, 2).round(6)),
    ... )
    (3.375, 6.75, 4.0)
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        s: Any = None,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        self._fit(x, y, w, bbox, k, s, None, ext)

    def _fit(self, x: Any, y: Any, w: Any, bbox: Any, k: int, s: Any, t: Any, ext: Any) -> None:
        low, high = bbox
        name = type(self).__name__
        if s is None and t is None:
            s = float(_row(name, "x", x).shape[0])
        self._data = floating(x), floating(y), w
        self._spline = _fitted(name, x, y, w, (low, high), k, s, t)
        self.ext = ext
        _at(name, self._spline, self._spline.tck[0][k], 0, ext)  # whether there is such an ext

    @classmethod
    def _of(cls, spline: BSpline, ext: Any) -> UnivariateSpline:
        made = UnivariateSpline.__new__(UnivariateSpline)
        made._spline, made.ext = spline, ext
        return made

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        return _at(type(self).__name__, self._spline, x, nu, self.ext if ext is None else ext)

    def get_knots(self) -> Any:
        """The ends, and the knots between them."""
        t, _, k = self._spline.tck
        return t[k : t.shape[0] - k]

    def get_coeffs(self) -> Any:
        return self._spline.c

    def get_residual(self) -> Any:
        """``sum((w (y - s(x)))**2)``."""
        x, y, w = self._data
        off = y - self._spline(x)
        return fnp.sum(fnp.square(off if w is None else off * floating(w)))

    def integral(self, a: Any, b: Any) -> Any:
        """The integral from `a` to `b`; the spline is 0 beyond its ends."""
        return self._spline.integrate(a, b, False)

    def derivatives(self, x: Any) -> Any:
        """The value and the derivatives of orders 1 to k at one place."""
        return fnp.stack([self._spline(x, n) for n in range(self._spline.k + 1)])

    def derivative(self, n: int = 1) -> UnivariateSpline:
        """The spline that is the derivative; beyond the ends as this one, 0 where that is constant."""
        return self._of(self._spline.derivative(n), 1 if self.ext in (3, "const") else self.ext)

    def antiderivative(self, n: int = 1) -> UnivariateSpline:
        """The spline whose derivative this is, 0 at the first knot."""
        return self._of(self._spline.antiderivative(n), self.ext)


class InterpolatedUnivariateSpline(UnivariateSpline):
    """The spline of degree `k` through `y`: `UnivariateSpline` with `s` = 0. `w` changes nothing.

    Shapes, Dtypes, Derivative, Raises: as `UnivariateSpline`.
    Source: SciPy reference, ``scipy.interpolate.InterpolatedUnivariateSpline``.

    >>> float(InterpolatedUnivariateSpline(np.arange(4.0), np.arange(4.0) ** 2, k=2)(1.5).round(6))
    2.25
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        self._fit(x, y, w, bbox, k, 0.0, None, ext)


class LSQUnivariateSpline(UnivariateSpline):
    """The spline of degree `k` with interior knots `t` and the least ``sum((w (y - s(x)))**2)``.

    Shapes: ``x, y, w: (n), t: (m)``; otherwise as `UnivariateSpline`.
    Dtypes: real floating; integers give float64.
    Derivative: linear in `y`; by points, knots and weights, too.
    Raises: as `UnivariateSpline`; ArgumentError: the points do not determine the spline.
    Source: SciPy reference, ``scipy.interpolate.LSQUnivariateSpline``.

    >>> f = LSQUnivariateSpline(np.arange(9.0), np.arange(9.0) ** 2, [4.0])
    >>> float(f(2.5).round(6))
    6.25
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        t: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        self._fit(x, y, w, bbox, k, None, t, ext)
