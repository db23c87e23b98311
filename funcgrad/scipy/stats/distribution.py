"""What all distributions of one variable share: parameters by position or name, and freezing.

A distribution of its own is a class with the mathematics of its standard form (loc 0, scale 1).
Its methods are called at places of its support, with valid shapes, in one dtype; what lies outside
is put right by `ContinuousDistribution` and `DiscreteDistribution`.

NOTE [Double] Formulas of shapes and tails take differences of large numbers and powers of far ones. So
they are computed in double precision, and what comes out is rounded to the precision asked for, like
its derivatives. Families whose formulas have nothing of it say so by `single`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ... import tree
from ...algebra import broadcast_shapes
from ...core import Tracer, aval_of
from ...errors import ArgumentError, where
from ...numpy._arguments import array_of, converted, module_of, operand
from ...ops.exponential import log, sqrt
from ...ops.from_scipy import scipy_function
from ...ops.logic import equal
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...ops.structural import broadcast_to

_NUMBERS = (bool, int, float)
# What SciPy does where nothing is traced, and what takes its place where something is.
_INSTEAD = {
    "rvs": "draw with funcgrad.random",
    "fit": "minimise -{name}.logpdf(data, ...).sum() with scipy.optimize.minimize and "
    "jac=funcgrad.grad(...)",
    "expect": "integrate the density, or average over draws",
    "moment": "mean, var and std have derivatives",
}


def doubled(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of numbers and arrays that computes in double precision; NOTE [Double]."""

    @functools.wraps(method)
    def rounded(self: Any, *args: Any, **kwds: Any) -> Any:
        found = [aval_of(operand(x)) for x in (*args, *kwds.values()) if x is not None]
        asked = np.result_type(*[x.promoting() for x in found]) if found else np.dtype(np.float64)
        wide = np.promote_types(asked, np.float64)
        if asked.kind != "f" or wide == asked:
            return method(self, *args, **kwds)
        args = tuple(_converted_or_none(x, wide) for x in args)
        kwds = {name: _converted_or_none(x, wide) for name, x in kwds.items()}
        return converted(method(self, *args, **kwds), asked)

    return rounded


def _converted_or_none(x: Any, dtype: Any) -> Any:
    return x if x is None else converted(operand(x), dtype)


class NamedDistribution:
    """A distribution with SciPy's name, whose methods without a derivative are SciPy's own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<funcgrad.scipy.stats.{self.name}>"

    def refuse(self, method: str, why: str) -> NoReturn:
        """
        Raises: ArgumentError: always.
        """
        raise ArgumentError(f"{self.name}.{method}: {why}{where()}")

    def __getattr__(self, name: str) -> Any:
        if name in _INSTEAD:
            return functools.partial(self._of_scipy, name)
        raise AttributeError(f"a distribution has no attribute {name!r}")

    def _of_scipy(self, method: str, *args: Any, **kwds: Any) -> Any:
        """What SciPy's method gives for plain arguments.

        Raises: ArgumentError: one is traced, or SciPy has no such method. ImportError: no SciPy.
        """
        if any(isinstance(x, Tracer) for x in tree.leaves((args, kwds))):
            instead = _INSTEAD[method].format(name=self.name)
            self.refuse(method, f"it has no derivative, and an argument is traced; {instead}")
        found = getattr(scipy_function(np, self.name, "stats"), method, None)
        if found is None:
            self.refuse(method, "SciPy does not have it")
        return found(*args, **kwds)


class Distribution(NamedDistribution):
    """A family of distributions of one variable, with shapes, loc and perhaps scale."""

    shapes: tuple[str, ...] = ()
    others: tuple[tuple[str, float], ...] = ()  # the other parameters and their defaults
    low: Any = -math.inf
    high: Any = math.inf
    single = False  # whether the formulas are good in single precision, NOTE [Double]
    exact_ends = True  # whether the formula of `ppf` holds at 0 and 1, its derivatives too

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        """The distribution with its parameters held: methods take `x` or `q` alone."""
        return Frozen(self, self.bound("__call__", args, kwds))

    # ------------------------------------------------------------ the mathematics

    def _valid(self, *shapes: Any) -> Any:
        """Where the shapes make a distribution."""
        valid: Any = True
        for shape in shapes:
            valid = (shape > 0) & valid
        return valid

    def _support(self, *_shapes: Any) -> tuple[Any, Any]:
        return self.low, self.high

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        self.refuse("cdf", "it has no formula here")

    def _sf(self, z: Any, *shapes: Any) -> Any:
        self.refuse("sf", "it has no formula here")

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        self.refuse("ppf", "it has no formula here; solve cdf(x) = q")

    def _isf(self, q: Any, *shapes: Any) -> Any:
        return self._ppf(1.0 - q, *shapes)

    def _mean(self, *shapes: Any) -> Any:
        self.refuse("mean", "it has no formula here")

    def _var(self, *shapes: Any) -> Any:
        self.refuse("var", "it has no formula here")

    def _entropy(self, *shapes: Any) -> Any:
        self.refuse("entropy", "it has no formula here")

    # ------------------------------------------------------------ arguments

    def bound(self, method: str, args: tuple[Any, ...], kwds: dict[str, Any]) -> dict[str, Any]:
        """The parameters by name, defaults included.

        Raises: ArgumentError: one is missing, unknown, given twice, or there are too many.
        """
        names = (*self.shapes, *(name for name, _ in self.others))
        call = f"parameters are ({', '.join(names)})"
        if len(args) > len(names):
            self.refuse(method, f"{len(args)} parameters are given; {call}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwds.items():
            if name not in names or name in given:
                fault = "given twice" if name in given else "not known"
                self.refuse(method, f"{name}= is {fault}; {call}")
            given[name] = value
        for name in self.shapes:
            if name not in given:
                self.refuse(method, f"{name} is missing; {call}")
        return {**dict(self.others), **given}

    def prepared(
        self, method: str, args: tuple[Any, ...], kwds: dict[str, Any], *xs: Any
    ) -> tuple[Any, Parameters]:
        """The argument, if there is one, and the parameters, in their common dtype or in double."""
        values = self.bound(method, args, kwds)
        named = {"argument": xs[0], **values} if xs else values
        xp = module_of(*named.values())
        found = {name: operand(value, xp) for name, value in named.items()}
        dtype = self._dtype(method, found)
        asked, dtype = dtype, dtype if self.single else np.promote_types(dtype, np.float64)
        shape = broadcast_shapes(
            f"{self.name}.{method}", [aval_of(v).shape for v in found.values()]
        )
        x = converted(array_of(found.pop("argument"), xp), dtype) if xs else None
        raw = [found[name] for name in self.shapes]
        valid = self._valid(*[_in_dtype(s, dtype) for s in raw])
        shapes = [valid_only(converted(array_of(s, xp), dtype), valid) for s in raw]
        loc, scale = (_in_dtype(found.get(n, v), dtype) for n, v in _LOCATION.items())
        scale, valid = valid_only(scale, scale > 0), (scale > 0) & valid
        return x, Parameters(tuple(shapes), loc, scale, valid, shape, asked)

    def _dtype(self, method: str, found: dict[str, Any]) -> np.dtype[Any]:
        avals = {name: aval_of(value) for name, value in found.items()}
        for name, aval in avals.items():
            if aval.dtype.kind == "c":
                self.refuse(method, f"needs real numbers, found complex ones in its {name}")
        dtype = np.result_type(*[aval.promoting() for aval in avals.values()])
        return dtype if dtype.kind == "f" else np.dtype(np.float64)

    # ------------------------------------------------------------ methods of all distributions

    def mean(self, *args: Any, **kwds: Any) -> Any:
        """The mean: ``loc + scale m`` for the mean m of the standard form.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every parameter.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.gamma.mean(2.0, scale=3.0))
        6.0
        """
        _, p = self.prepared("mean", args, kwds)
        return p.result(p.moved(self._mean(*p.shapes)))

    def var(self, *args: Any, **kwds: Any) -> Any:
        """The variance: ``scale**2 v`` for the variance v of the standard form.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every parameter.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.gamma.var(2.0, scale=3.0))
        18.0
        """
        _, p = self.prepared("var", args, kwds)
        return p.result(p.stretched(p.stretched(self._var(*p.shapes))))

    def std(self, *args: Any, **kwds: Any) -> Any:
        """The standard deviation: ``scale sqrt(v)`` for the variance v of the standard form.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every parameter.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.expon.std(scale=3.0))
        3.0
        """
        _, p = self.prepared("std", args, kwds)
        return p.result(p.stretched(sqrt(self._var(*p.shapes))))

    def stats(self, *args: Any, moments: str = "mv", **kwds: Any) -> Any:
        """The mean (m) and the variance (v), those that `moments` names, in that order.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every parameter.
        Raises: ArgumentError: `moments` names others, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> [float(y) for y in stats.gamma.stats(2.0, moments="mv")]
        [2.0, 2.0]
        """
        if not moments or set(moments) - set("mv"):
            self.refuse("stats", f"moments={moments!r}; need 'm', 'v' or 'mv'")
        found = [getattr(self, n)(*args, **kwds) for m, n in _MOMENTS.items() if m in moments]
        return tuple(found) if len(found) > 1 else found[0]

    def median(self, *args: Any, **kwds: Any) -> Any:
        """The number with half of the probability below: ``ppf(0.5)``.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every parameter.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.expon.median().round(4))
        0.6931
        """
        return self.ppf(0.5, *args, **kwds)

    def interval(self, confidence: Any, *args: Any, **kwds: Any) -> tuple[Any, Any]:
        """Between which numbers the probability is `confidence`, as much below as above.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by `confidence` and every parameter.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> [float(y.round(2)) for y in stats.norm.interval(0.95)]
        [-1.96, 1.96]
        """
        rest = 0.5 * (1.0 - array_of(confidence))
        return self.ppf(rest, *args, **kwds), self.ppf(1.0 - rest, *args, **kwds)

    def support(self, *args: Any, **kwds: Any) -> tuple[Any, Any]:
        """The ends of the support.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by loc and scale, and by the shapes that are ends.
        Raises: ArgumentError: a parameter is missing or unknown.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> [float(y) for y in stats.uniform.support(loc=1.0, scale=2.0)]
        [1.0, 3.0]
        """
        _, p = self.prepared("support", args, kwds)
        low, high = self._support(*p.shapes)
        return p.result(p.moved(low)), p.result(p.moved(high))

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The number `x` with ``cdf(x) = q``: the inverse of `cdf`; nan for q outside of 0..1.

        A discrete distribution has the least number whose `cdf` is `q` or more.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: ``1 / pdf(x)`` by `q`; by every parameter; of discrete ones by loc alone.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.norm.ppf(0.975).round(2))
        1.96
        """
        q, p = self.prepared("ppf", args, kwds, q)
        return self._inverse(q, p, self._ppf)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The number `x` with ``sf(x) = q``: the inverse of `sf`; nan for q outside of 0..1.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: ``-1 / pdf(x)`` by `q`; by every parameter; of discrete ones by loc alone.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.norm.isf(0.025).round(2))
        1.96
        """
        q, p = self.prepared("isf", args, kwds, q)
        return self._inverse(q, p, self._isf)

    def _inverse(self, q: Any, p: Parameters, inverse: Callable[..., Any]) -> Any:
        known = (q >= 0) & (q <= 1)
        q = choose(known, q, 0.5)
        z = inverse(q, *p.shapes) if self.exact_ends else self._between_ends(q, p, inverse)
        return p.result(choose(known, p.moved(z), math.nan))

    def _between_ends(self, q: Any, p: Parameters, inverse: Callable[..., Any]) -> Any:
        """The inverse at `q`; the ends of the support, with no derivative by `q`, at 0 and 1."""
        zero, one = equal(q, 0.0), equal(q, 1.0)
        z = inverse(choose(zero | one, 0.5, q), *p.shapes)
        low, high = self._support(*p.shapes)
        if inverse == self._isf:
            low, high = high, low
        return choose(zero, low, choose(one, high, z))


_MOMENTS = {"m": "mean", "v": "var"}
_LOCATION = {"loc": 0.0, "scale": 1.0}


class Parameters:
    """The parameters of one call in one dtype, invalid ones as nan, and where they are valid; the
    shape and the dtype of the result.
    """

    def __init__(
        self,
        shapes: tuple[Any, ...],
        loc: Any,
        scale: Any,
        valid: Any,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self.shapes, self.loc, self.scale = shapes, loc, scale
        self.valid, self.shape, self.dtype = valid, shape, dtype

    def standard(self, x: Any, steep: Any = None) -> Any:
        """`x` as a value of the standard form; `steep` as in `fixed_at_zero`."""
        if not _is_number(self.loc, 0.0):
            x = x - self.loc
        if _is_number(self.scale, 1.0):
            return x
        return x / fixed_at_zero(self.scale, x, steep)

    def moved(self, z: Any) -> Any:
        """The value `z` of the standard form."""
        return self.stretched(z) + self.loc

    def stretched(self, z: Any) -> Any:
        return z if _is_number(self.scale, 1.0) else z * self.scale

    @property
    def log_scale(self) -> Any:
        if _is_number(self.scale, 1.0):
            return 0.0
        return math.log(self.scale) if self.scale.__class__ in _NUMBERS else log(self.scale)

    def result(self, y: Any) -> Any:
        """`y`, nan with nan derivatives where a parameter is invalid, in the shape of the call."""
        y = valid_only(converted(array_of(y), self.dtype), self.valid)
        return y if y.shape == self.shape else broadcast_to(y, shape=self.shape)


def fixed_at_zero(scale: Any, x: Any, steep: Any) -> Any:
    """`scale`, by which `x` is divided; a constant where `x` is 0 and the slope that follows, where
    `steep` holds, infinite: no scale moves 0.
    """
    if steep is None or scale.__class__ in _NUMBERS:
        return scale
    return choose(steep & equal(x, 0.0), stop_gradient(scale), scale)


def _is_number(x: Any, value: float) -> bool:
    return x.__class__ in _NUMBERS and x == value


def _in_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number stays one, which costs nothing where it is the default."""
    return float(x) if x.__class__ in _NUMBERS else converted(x, dtype)


def valid_only(x: Any, valid: Any) -> Any:
    """`x`, but nan where that is invalid, with nan for its derivatives."""
    return x if valid is True else x * converted(choose(valid, 1.0, math.nan), aval_of(x).dtype)


class Frozen:
    """A distribution and its parameters: ``norm(loc, scale).logpdf(x)``."""

    def __init__(self, dist: NamedDistribution, kwds: dict[str, Any]) -> None:
        self.dist, self.kwds = dist, kwds

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.kwds.items())
        return f"{self.dist!r}({values})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("dist", "kwds"):
            raise AttributeError(name)
        if name in self.kwds and not hasattr(type(self.dist), name):
            return self.kwds[name]
        return functools.partial(getattr(self.dist, name), **self.kwds)
