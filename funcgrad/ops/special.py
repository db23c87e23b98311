"""Special functions, element by element: sigmoids, error functions, gamma, Bessel, entropies.

NOTE [SciPy] SciPy is optional. What is neither elementary nor in Python's `math` needs it; on CuPy
arrays `cupyx.scipy.special`, a part of CuPy, takes its place.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from ..errors import ArgumentError
from ..errors import where as user_line
from .arithmetic import absolute, divide
from .exponential import exp, log, logaddexp
from .logic import equal, greater, less, logical_and
from .rounding import sign
from .select import where

SQRT_2 = math.sqrt(2.0)
SQRT_PI = math.sqrt(math.pi)
SQRT_2PI = math.sqrt(2.0 * math.pi)


def _scipy(xp: ModuleType, name: str) -> Callable[..., Any]:
    """The special function `name` for arrays of `xp`.

    Raises: ImportError: SciPy is not installed.
    """
    found = scipy_if_there("cupyx." if xp.__name__ == "cupy" else "", name)
    if found is None:
        raise ImportError(
            f"{name} needs SciPy, which is not installed; install it with "
            f"'pip install funcgrad[scipy]'"
        )
    return found


@functools.cache
def scipy_if_there(prefix: str, name: str) -> Callable[..., Any] | None:
    """The function `name` of SciPy, or of CuPy's part that is called so; None without that."""
    try:
        module = importlib.import_module(f"{prefix}scipy.special")
    except ModuleNotFoundError:
        return None
    return getattr(module, name)


def _scipy_or_math(xp: ModuleType, name: str, f: Callable[[float], float], x: Any) -> Any:
    """SciPy's function `name` of real or complex `x`; without SciPy `f`, one element at a time."""
    fast = scipy_if_there("cupyx." if xp.__name__ == "cupy" else "", name)
    if fast is not None:
        return fast(x)
    x = xp.asarray(x)
    x = x.astype(xp.result_type(x, xp.float32))
    return xp.asarray([f(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


def _floating(xp: ModuleType, x: Any) -> Any:
    """`x`, as float64 if it is an array of integers or booleans."""
    return x.astype(xp.float64) if hasattr(x, "dtype") and x.dtype.kind in "biu" else x


def _real_floating(xp: ModuleType, name: str, x: Any) -> Any:
    """`_floating`, which must be real.

    Raises: ArgumentError: it is complex.
    """
    kind = x.dtype.kind if hasattr(x, "dtype") else "c" if isinstance(x, complex) else "f"
    if kind == "c":
        raise ArgumentError(f"{name}: needs real numbers, found complex ones{user_line()}")
    return _floating(xp, x)


# ---------------------------------------------------------------- sigmoids


@elementwise(lambda y, _x: y * (1 - y))
def expit(xp, x, /):
    """``1 / (1 + e**-x)``, the logistic sigmoid, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``y * (1 - y)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.expit``.

    >>> expit(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    x = _real_floating(xp, "expit", x)
    small = xp.exp(-xp.abs(x))
    return xp.where(xp.less(x, 0), small, 1.0) / (1.0 + small)


@elementwise(lambda _y, x: 1.0 / (x * (1 - x)))
def logit(xp, x, /):
    """``log(x / (1 - x))``, the inverse of `expit`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (x * (1 - x))``; infinite at 0 and 1.
    Raises: nothing of its own.
    Source: SciPy reference, ``scipy.special.logit``.

    >>> logit(np.array([0.5, 0.75])).round(4).tolist()
    [0.0, 1.0986]
    """
    x = _floating(xp, x)
    return xp.log(x) - xp.log1p(-x)


@elementwise(lambda _y, x: expit(-x))
def log_expit(xp, x, /):
    """``log(expit(x))`` without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``expit(-x)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.log_expit``.

    >>> log_expit(np.array([0.0, -1000.0])).round(4).tolist()
    [-0.6931, -1000.0]
    """
    x = _real_floating(xp, "log_expit", x)
    return xp.minimum(x, 0.0) - xp.log1p(xp.exp(-xp.abs(x)))


def softplus(x: Any) -> Any:
    """``log(1 + e**x)`` without overflow, a smooth `relu`; its derivative is ``expit(x)``.

    >>> softplus(np.array([0.0, 1000.0])).round(4).tolist()
    [0.6931, 1000.0]
    """
    return logaddexp(x, 0.0)


@elementwise(lambda y, _x: greater(y, 0))
def relu(xp, x, /):
    """``max(x, 0)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers.
    Derivative: 1 where ``x > 0``, else 0; 0 at 0.
    Raises: nothing of its own.
    Source: Nair & Hinton, "Rectified linear units improve restricted Boltzmann machines", 2010.

    >>> relu(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return xp.maximum(x, 0)


# ---------------------------------------------------------------- error functions


@elementwise(lambda _y, x: exp(-x * x) * (2.0 / SQRT_PI))
def erf(xp, x, /):
    """``2 / sqrt(pi)`` times the integral of ``e**(-t**2)`` from 0 to `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex with SciPy; integers give floats.
    Derivative: ``2 / sqrt(pi) e**(-x**2)``; smooth everywhere.
    Raises: nothing of its own; without SciPy it is slow.
    Source: DLMF 7.2.1; SciPy reference, ``scipy.special.erf``.

    >>> erf(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.8427]
    """
    return _scipy_or_math(xp, "erf", math.erf, x)


@elementwise(lambda _y, x: exp(-x * x) * (-2.0 / SQRT_PI))
def erfc(xp, x, /):
    """``1 - erf(x)``, accurate for large `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex with SciPy; integers give floats.
    Derivative: ``-2 / sqrt(pi) e**(-x**2)``; smooth everywhere.
    Raises: nothing of its own; without SciPy it is slow.
    Source: DLMF 7.2.2; SciPy reference, ``scipy.special.erfc``.

    >>> erfc(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.1573]
    """
    return _scipy_or_math(xp, "erfc", math.erfc, x)


@elementwise(lambda y, x: 2 * x * y - 2.0 / SQRT_PI)
def erfcx(xp, x, /):
    """``e**(x**2) erfc(x)``, which neither overflows nor vanishes for large `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``2 x y - 2 / sqrt(pi)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.erfcx``.

    >>> erfcx(np.array([0.0, 100.0])).round(4).tolist()
    [1.0, 0.0056]
    """
    return _scipy(xp, "erfcx")(x)


@elementwise(lambda y, _x: exp(y * y) * (SQRT_PI / 2.0))
def erfinv(xp, x, /):
    """The number with error function `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: ``sqrt(pi) / 2 e**(y**2)``; infinite at 1 and -1.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.erfinv``.

    >>> erfinv(np.array([0.0, 0.5])).round(4).tolist()
    [0.0, 0.4769]
    """
    return _scipy(xp, "erfinv")(x)


@elementwise(lambda _y, x: exp(x * x * -0.5) * (1.0 / SQRT_2PI))
def ndtr(xp, x, /):
    """The probability that a standard normal variable is below `x`: ``erfc(-x / sqrt(2)) / 2``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: the normal density ``e**(-x**2 / 2) / sqrt(2 pi)``; smooth everywhere.
    Raises: nothing of its own; without SciPy it is slow.
    Source: SciPy reference, ``scipy.special.ndtr``.

    >>> ndtr(np.array([0.0, 1.0])).round(4).tolist()
    [0.5, 0.8413]
    """
    return _scipy_or_math(xp, "ndtr", lambda v: 0.5 * math.erfc(-v / SQRT_2), x)


@elementwise(lambda _y, x: (2.0 / SQRT_2PI) / erfcx(x * (-1.0 / SQRT_2)))
def log_ndtr(xp, x, /):
    """``log(ndtr(x))``, accurate where `ndtr` vanishes.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: density over probability, ``sqrt(2 / pi) / erfcx(-x / sqrt(2))``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.log_ndtr``.

    >>> log_ndtr(np.array([0.0, -100.0])).round(2).tolist()
    [-0.69, -5005.52]
    """
    return _scipy(xp, "log_ndtr")(x)


@elementwise(lambda y, _x: exp(y * y * 0.5) * SQRT_2PI)
def ndtri(xp, x, /):
    """The number below which a standard normal variable lies with probability `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: ``sqrt(2 pi) e**(y**2 / 2)``; infinite at 0 and 1.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.ndtri``.

    >>> ndtri(np.array([0.5, 0.975])).round(4).tolist()
    [0.0, 1.96]
    """
    return _scipy(xp, "ndtri")(x)


# ---------------------------------------------------------------- gamma functions


def _lgamma(x: float) -> float:
    return math.inf if x <= 0 and x.is_integer() else math.lgamma(x)


@elementwise(lambda _y, x: digamma(x))
def gammaln(xp, x, /):
    """``log |gamma(x)|``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``digamma(x)``, which needs SciPy; smooth between the poles 0, -1, -2, ...
    Raises: nothing of its own; without SciPy it is slow.
    Source: DLMF 5.2; SciPy reference, ``scipy.special.gammaln``.

    >>> gammaln(np.array([1.0, 5.0])).round(4).tolist()
    [0.0, 3.1781]
    """
    return _scipy_or_math(xp, "gammaln", _lgamma, x)


def betaln(a: Any, b: Any) -> Any:
    """``log |beta(a, b)| = log |gamma(a) gamma(b) / gamma(a + b)|``.

    >>> float(betaln(np.array(2.0), 3.0).round(4))
    -2.4849
    """
    return gammaln(a) + gammaln(b) - gammaln(a + b)


@elementwise(lambda y, x: y * digamma(x))
def gamma(xp, x, /):
    """The gamma function, ``(x - 1)!`` at the positive integers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``gamma(x) digamma(x)``; smooth between the poles 0, -1, -2, ...
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 5.2; SciPy reference, ``scipy.special.gamma``.

    >>> gamma(np.array([1.0, 5.0])).tolist()
    [1.0, 24.0]
    """
    return _scipy(xp, "gamma")(x)


@elementwise(lambda _y, x: polygamma(x, n=1))
def digamma(xp, x, /):
    """The derivative of ``log(gamma(x))``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``polygamma(x, n=1)``; smooth between the poles 0, -1, -2, ...
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 5.2.2; SciPy reference, ``scipy.special.digamma``.

    >>> digamma(np.array([1.0, 5.0])).round(4).tolist()
    [-0.5772, 1.5061]
    """
    return _scipy(xp, "digamma")(x)


@elementwise(lambda _y, x, *, n: polygamma(x, n=n + 1))
def polygamma(xp, x, /, *, n):
    """The derivative of `digamma` of order `n` >= 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: that of the next order; smooth between the poles 0, -1, -2, ...
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 5.15.1, 25.11: ``(-1)**(n + 1) n! zeta(n + 1, x)``.

    >>> polygamma(np.array([1.0]), n=1).round(4).tolist()
    [1.6449]
    """
    factor = float((-1) ** (n + 1) * math.factorial(n))
    return _scipy(xp, "zeta")(n + 1.0, x) * factor


# ---------------------------------------------------------------- modified Bessel functions


def _over_x(bessel: Callable[[Any], Any], x: Any, *, scaled: bool) -> Any:
    """``i1(x) / x`` or ``i1e(x) / x``; near 0, where derivatives of it cancel, by its series."""
    near = less(absolute(x), 0.05)
    inside = where(near, x, 0.0)
    q = inside * inside
    series = 0.5 + q * (1 / 16 + q * (1 / 384 + q * (1 / 18432)))
    if scaled:
        series = series * exp(-absolute(inside))
    return where(near, series, divide(bessel(x), where(near, 1.0, x)))


@elementwise(lambda _y, x: i1(x))
def i0(xp, x, /):
    """The modified Bessel function of the first kind of order 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i1(x)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.25.2, 10.29.3; SciPy reference, ``scipy.special.i0``.

    >>> i0(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 1.2661]
    """
    return _scipy(xp, "i0")(x)


@elementwise(lambda _y, x: i0(x) - _over_x(i1, x, scaled=False))
def i1(xp, x, /):
    """The modified Bessel function of the first kind of order 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i0(x) - i1(x) / x``, 1/2 at 0; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.25.2, 10.29.2; SciPy reference, ``scipy.special.i1``.

    >>> i1(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.5652]
    """
    return _scipy(xp, "i1")(x)


@elementwise(lambda y, x: i1e(x) - sign(x) * y)
def i0e(xp, x, /):
    """``e**-|x| i0(x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i1e(x) - sign(x) i0e(x)``; 0 at the kink 0.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.i0e``.

    >>> i0e(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.4658]
    """
    return _scipy(xp, "i0e")(x)


@elementwise(lambda y, x: i0e(x) - sign(x) * y - _over_x(i1e, x, scaled=True))
def i1e(xp, x, /):
    """``e**-|x| i1(x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i0e(x) - sign(x) i1e(x) - i1e(x) / x``, 1/2 at 0.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.i1e``.

    >>> i1e(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.2079]
    """
    return _scipy(xp, "i1e")(x)


# ---------------------------------------------------------------- entropies


@elementwise(lambda _y, x: -1.0 - log(x))
def entr(xp, x, /):
    """``-x log(x)``; 0 at 0, minus infinity below.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-1 - log(x)``; infinite at 0.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.entr``.

    >>> entr(np.array([0.0, 1.0, -1.0])).tolist()
    [0.0, -0.0, -inf]
    """
    return _scipy(xp, "entr")(x)


@elementwise(
    lambda _z, x, y: where(_both_zero(x, y), 0.0, 1.0 + log(_ratio(x, y))),
    lambda _z, x, y: where(_both_zero(x, y), 0.0, -_ratio(x, y)),
)
def rel_entr(xp, x, y, /):
    """``x log(x / y)``; 0 where x = 0 and y >= 0, infinite where either is negative.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``1 + log(x / y)`` and ``-x / y``; 0 and 0 at (0, 0).
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.rel_entr``.

    >>> rel_entr(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [0.0, 0.6931]
    """
    return _scipy(xp, "rel_entr")(x, y)


def _both_zero(x: Any, y: Any) -> Any:
    return logical_and(equal(x, 0), equal(y, 0))


def _ratio(x: Any, y: Any) -> Any:
    both = _both_zero(x, y)
    return divide(where(both, 1.0, x), where(both, 1.0, y))


def kl_div(x: Any, y: Any) -> Any:
    """``x log(x / y) - x + y``, which is 0 only where x = y; infinite where either is negative.

    >>> kl_div(np.array([1.0, 0.0]), 0.5).round(4).tolist()
    [0.1931, 0.5]
    """
    return rel_entr(x, y) - x + y
