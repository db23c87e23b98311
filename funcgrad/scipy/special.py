"""``scipy.special`` under SciPy's names and signatures, differentiable.

Elementwise primitives are re-exported as they are. Needs SciPy for everything that Python's `math`
does not have.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import broadcast_shapes
from ..core import aval_of
from ..errors import ArgumentError, where
from ..numpy._arguments import array_of, arrays_of, axes_of, concrete, converted, operand, with_axes
from ..ops import gamma as _gamma
from ..ops import reduce as _reduce
from ..ops import softmax as _softmax
from ..ops import structural as _structural
from ..ops.arithmetic import absolute, divide, hypot, multiply, power
from ..ops.bessel import (
    i0,
    i0e,
    i1,
    i1e,
    iv,
    ive,
    j0,
    j1,
    jv,
    k0,
    k0e,
    k1,
    k1e,
    kv,
    kve,
    y0,
    y1,
    yv,
)
from ..ops.bessel import jv as jn
from ..ops.bessel import yv as yn
from ..ops.beta import beta, betainc, betaincc, betaincinv, betaln, binom, poch
from ..ops.complex import real, unit
from ..ops.exponential import cbrt, exp2, expit, expm1, log, log1p, log_expit, xlog1py, xlogy
from ..ops.exponential import exp as _exp
from ..ops.gamma import (
    digamma,
    gamma,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    gammasgn,
    loggamma,
    rgamma,
)
from ..ops.gamma import digamma as psi
from ..ops.harmonics import sph_harm_y
from ..ops.hypergeometric import (
    ellipe,
    ellipeinc,
    ellipk,
    ellipkinc,
    ellipkm1,
    exprel,
    hyp0f1,
    hyp1f1,
    hyp2f1,
    hyperu,
)
from ..ops.integrals import dawsn, erfi, exp1, expi, expn, owens_t, spence, wofz
from ..ops.inverses import (
    boxcox,
    boxcox1p,
    cosm1,
    inv_boxcox,
    inv_boxcox1p,
    powm1,
    wrightomega,
)
from ..ops.logic import equal, greater_equal, isfinite, less, less_equal, logical_and
from ..ops.polynomials import (
    eval_chebyt,
    eval_chebyu,
    eval_gegenbauer,
    eval_genlaguerre,
    eval_hermite,
    eval_hermitenorm,
    eval_jacobi,
    eval_laguerre,
    eval_legendre,
)
from ..ops.rounding import sign, trunc
from ..ops.select import stop_gradient
from ..ops.select import where as _where
from ..ops.special import (
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    log_ndtr,
    logit,
    ndtr,
    ndtri,
    ndtri_exp,
    rel_entr,
    softplus,
)
from ..ops.struve import modstruve, struve
from ..ops.trigonometric import sinc
from .carlson import elliprc, elliprd, elliprf, elliprg, elliprj
from .degrees import cosdg, cotdg, radian, sindg, tandg
from .families import (
    airy,
    bernoulli,
    bessel_jn,
    ellipj,
    fresnel,
    lambertw,
    shichi,
    sici,
    spherical_jn,
    spherical_yn,
    voigt_profile,
)
from .hankel import (
    h1vp,
    h2vp,
    hankel1,
    hankel1e,
    hankel2,
    hankel2e,
    ivp,
    jvp,
    kvp,
    spherical_in,
    spherical_kn,
    yvp,
)
from .orthogonal import (
    agm,
    diric,
    eval_chebyc,
    eval_chebys,
    eval_sh_chebyt,
    eval_sh_chebyu,
    eval_sh_jacobi,
    eval_sh_legendre,
    lpmv,
)
from .probabilities import (
    bdtr,
    bdtrc,
    betainccinv,
    chdtr,
    chdtrc,
    chdtri,
    fdtr,
    fdtrc,
    fdtri,
    gdtr,
    gdtrc,
    in_double,
    in_one_dtype,
    nbdtr,
    nbdtrc,
    pdtr,
    pdtrc,
    stdtr,
)

__all__ = [
    "agm", "airy", "bdtr", "bdtrc", "bernoulli", "bessel_jn", "beta", "betainc", "betaincc",
    "betainccinv", "betaincinv", "betaln", "binom", "boxcox", "boxcox1p", "cbrt", "chdtr", "chdtrc",
    "chdtri", "comb", "cosdg", "cosm1", "cotdg", "dawsn", "digamma", "diric", "ellipe", "ellipeinc",
    "ellipj", "ellipk", "ellipkinc", "ellipkm1", "elliprc", "elliprd", "elliprf", "elliprg",
    "elliprj", "entr", "erf", "erfc", "erfcinv", "erfcx", "erfi", "erfinv", "eval_chebyc",
    "eval_chebys", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre",
    "eval_hermite", "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre",
    "eval_sh_chebyt", "eval_sh_chebyu", "eval_sh_jacobi", "eval_sh_legendre", "exp1", "exp2", "exp10",
    "expi", "expit", "expm1", "expn", "exprel", "factorial", "fdtr", "fdtrc", "fdtri", "fresnel",
    "gamma", "gammainc", "gammaincc", "gammainccinv", "gammaincinv", "gammaln", "gammasgn", "gdtr",
    "gdtrc", "h1vp", "h2vp", "hankel1", "hankel1e", "hankel2", "hankel2e", "huber", "hyp0f1",
    "hyp1f1", "hyp2f1", "hyperu", "i0", "i0e", "i1", "i1e", "inv_boxcox", "inv_boxcox1p", "iv", "ive",
    "ivp", "j0", "j1", "jn", "jv", "jvp", "k0", "k0e", "k1", "k1e", "kl_div", "kn", "kv", "kve",
    "kvp", "lambertw", "log1p", "log_expit", "log_ndtr", "log_softmax", "loggamma", "logit",
    "logsumexp", "lpmv", "modstruve", "multigammaln", "nbdtr", "nbdtrc", "ndtr", "ndtri", "ndtri_exp",
    "owens_t", "pdtr", "pdtrc", "perm", "poch", "polygamma", "powm1", "pseudo_huber", "psi", "radian",
    "rel_entr", "rgamma", "shichi", "sici", "sinc", "sindg", "softmax", "softplus", "spence",
    "sph_harm_y", "spherical_in", "spherical_jn", "spherical_kn", "spherical_yn", "stdtr", "struve",
    "tandg", "voigt_profile", "wofz", "wrightomega", "xlog1py", "xlogy", "y0", "y1", "yn", "yv",
    "yvp", "zeta",
]  # fmt: skip


# ---------------------------------------------------------------- logsumexp and softmax


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """``log(sum_i b_i exp(a_i))`` along the axes, without overflow; with `return_sign` of the
    absolute value, and its sign. Of complex numbers the principal branch. What `where` leaves out
    counts as minus infinity, its weight as 0.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``; `b` broadcasts against `a`.
    Dtypes: numbers; integers give float64.
    Derivative: ``b_i exp(a_i) / sum`` and ``exp(a_i) / sum``; 0 where everything is minus infinity.
    Raises: ShapeError: an axis does not exist.
    Source: SciPy reference, ``scipy.special.logsumexp``.

    >>> float(logsumexp([1000.0, 1000.0]).round(4))
    1000.6931
    """
    a = array_of(a)
    if where is not None:
        among = array_of(where)
        a = _where(among, a, -math.inf)
        b = None if b is None else _where(among, b, 0)
    if a.ndim == 0:
        a = _structural.reshape(a, shape=(1,))  # as SciPy has it
    if b is None and not return_sign and a.dtype.kind != "c":
        axes = axes_of("logsumexp", axis, a.ndim)
        return with_axes(_softmax.logsumexp(a, axis=axes), a.shape, axes, keepdims)
    if a.dtype.kind not in "fc":
        a = converted(a, _softmax.floating_dtype("logsumexp", a.dtype))
    b = 1.0 if b is None else operand(b)
    shape = broadcast_shapes("logsumexp", [a.shape, aval_of(b).shape])
    axes = axes_of("logsumexp", axis, len(shape))
    used = _where(equal(b, 0), -math.inf, a)  # what has no weight must not set the scale
    if used.shape != shape:
        used = _structural.broadcast_to(used, shape=shape)
    top = _reduce.max(real(used), axis=axes)
    top = stop_gradient(_structural.reshape(top, shape=_kept(shape, axes)))
    empty = equal(top, -math.inf)
    top = _where(isfinite(top), top, 0.0)
    total = _structural.sum(b * _exp(used - top), axis=axes)
    nothing = logical_and(_structural.reshape(empty, shape=total.shape), equal(total, 0))
    y = log(_where(nothing, 1.0, absolute(total) if return_sign else total))
    y = _where(nothing, -math.inf, y + _structural.reshape(top, shape=total.shape))
    y = with_axes(y, shape, axes, keepdims)
    if not return_sign:
        return y
    # The sign of a complex number turns with it; that of a real one jumps.
    turn = unit(total) if total.dtype.kind == "c" else sign(total)
    return y, with_axes(turn, shape, axes, keepdims)


def _kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def softmax(x: Any, axis: Any = None) -> Any:
    """``exp(x_i) / sum_j exp(x_j)`` along the axes, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``y_i (dx_i - sum_j y_j dx_j)``.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.softmax``.

    >>> softmax([1000.0, 1000.0]).tolist()
    [0.5, 0.5]
    """
    x = array_of(x)
    return _softmax.softmax(x, axis=axes_of("softmax", axis, x.ndim))


def log_softmax(x: Any, axis: Any = None) -> Any:
    """``x_i - log(sum_j exp(x_j))`` along the axes, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``dx_i - sum_j exp(y_j) dx_j``.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.log_softmax``.

    >>> log_softmax([1000.0, 1000.0]).round(4).tolist()
    [-0.6931, -0.6931]
    """
    x = array_of(x)
    return _softmax.log_softmax(x, axis=axes_of("log_softmax", axis, x.ndim))


# ---------------------------------------------------------------- the gamma function's relatives


def polygamma(n: Any, x: Any) -> Any:
    """The derivative of order `n` of `digamma`, for one integer `n` >= 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``polygamma(n + 1, x)``; none by `n`.
    Raises: ArgumentError: `n` is no integer, or negative.
    Source: SciPy reference, ``scipy.special.polygamma``.

    >>> float(polygamma(1, 1.0).round(4))
    1.6449
    """
    try:
        order = operator.index(concrete("polygamma", "n", n))
    except TypeError:
        order = -1
    if order < 0:
        raise ArgumentError(f"polygamma: n={n!r}; need one integer, 0 or more{where()}")
    x = array_of(x)
    return _gamma.polygamma(x, n=order) if order else digamma(x)


def multigammaln(a: Any, d: Any) -> Any:
    """The logarithm of the multivariate gamma function of dimension `d`, ``a > (d - 1) / 2``.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``sum_j digamma(a - j / 2)``.
    Raises: ArgumentError: `d` is no positive integer.
    Source: SciPy reference, ``scipy.special.multigammaln``.

    >>> float(multigammaln(2.0, 2).round(4))
    0.4516
    """
    d = operator.index(d)
    if d < 1:
        raise ArgumentError(f"multigammaln: d={d}; need 1 or more{where()}")
    a = array_of(a)
    y = gammaln(a) + d * (d - 1) / 4 * math.log(math.pi)
    for j in range(1, d):
        y = y + gammaln(a - j / 2)
    return y


def zeta(x: Any, q: Any = None) -> Any:
    """``sum_k (k + q)**-x`` over ``k = 0, 1, ...``: Hurwitz's zeta function, Riemann's for q = None.

    Riemann's is continued to x < 1; Hurwitz's is NaN there.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: the sum of its terms' by `x`, ``-x zeta(x + 1, q)`` by `q`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.zeta``.

    >>> zeta(np.array([2.0, 0.5])).round(4).tolist()
    [1.6449, -1.4604]
    """
    return _gamma.riemann_zeta(operand(x)) if q is None else _gamma.zeta(operand(x), operand(q))


def factorial(n: Any, exact: bool = False) -> Any:
    """``gamma(n + 1)``, and 0 below 0.

    Shapes: ``n: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``gamma(n + 1) digamma(n + 1)``; 0 below 0.
    Raises: ArgumentError: `exact`; whole numbers have no derivative.
    Source: SciPy reference, ``scipy.special.factorial``.

    >>> factorial(np.array([0, 1, 5])).tolist()
    [1.0, 1.0, 120.0]
    """
    _inexact("factorial", exact)
    n = _real_operand("factorial", n)
    below = less(n, 0)
    return _where(below, 0.0, gamma(_where(below, 0, n) + 1.0))


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """In how many ways `k` of `N` things are taken; with `repetition`, ``comb(N + k - 1, k)``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of `binom`; 0 where there is no way.
    Raises: ArgumentError: `exact`; whole numbers have no derivative.
    Source: SciPy reference, ``scipy.special.comb``.

    >>> comb(5, np.array([2, 3, 6])).tolist()
    [10.0, 10.0, 0.0]
    """
    _inexact("comb", exact)
    n, k = arrays_of(N, k)
    if repetition:
        return _where(equal(n, 0) & equal(k, 0), 1.0, comb(n + k - 1, k))
    known = less_equal(k, n) & greater_equal(n, 0) & greater_equal(k, 0)
    return _where(known, binom(_where(known, n, 1), _where(known, k, 0)), 0.0)


def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """In how many orders `k` of `N` things are taken: ``gamma(N + 1) / gamma(N - k + 1)``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of `poch`; 0 where there is no order.
    Raises: ArgumentError: `exact`; whole numbers have no derivative.
    Source: SciPy reference, ``scipy.special.perm``.

    >>> perm(5, np.array([2, 6])).tolist()
    [20.0, 0.0]
    """
    _inexact("perm", exact)
    n, k = arrays_of(N, k)
    known = less_equal(k, n) & greater_equal(n, 0) & greater_equal(k, 0)
    n, k = _where(known, n, 1), _where(known, k, 0)
    return _where(known, poch(n - k + 1.0, k), 0.0)


def _inexact(name: str, exact: bool) -> None:
    if exact:
        raise ArgumentError(
            f"{name}: exact=True counts in whole numbers; need exact=False{where()}"
        )


# ---------------------------------------------------------------- others


def kn(n: Any, x: Any, /) -> Any:
    """The modified Bessel function of the second kind of integer order; `n` is rounded towards 0.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of `kv` by `x`; zero by `n`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: DLMF 10.25.3; SciPy reference, ``scipy.special.kn``.

    >>> [float(kn(n, 1.0).round(4)) for n in (1, 1.5)]
    [0.6019, 0.6019]
    """
    n, x = operand(n), operand(x)
    whole = trunc(n)
    return kv(converted(whole, aval_of(x).dtype) if aval_of(n).weak else whole, x)


def erfcinv(y: Any, /) -> Any:
    """The number whose complementary error function is `y`, accurate for small `y`.

    Shapes: ``y: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: ``-exp(x^2) sqrt(pi) / 2``; infinite at 0 and 2.
    Raises: ArgumentError: `y` is no array.
    Source: SciPy reference, ``scipy.special.erfcinv``.

    >>> abs(float(erfcinv(1.0)))
    0.0
    """
    return ndtri(multiply(operand(y), 0.5)) * -math.sqrt(0.5)


def _real_operand(name: str, x: Any) -> Any:
    """
    Raises: ArgumentError: `x` is complex, or no array.
    """
    x = operand(x)
    if aval_of(x).dtype.kind == "c":
        raise ArgumentError(f"{name}: needs real numbers, found complex ones{where()}")
    return x


def exp10(x: Any, /) -> Any:
    """``10**x``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``10**x log(10)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.exp10``.

    >>> exp10(np.array([0.0, 3.0, -1.0])).tolist()
    [1.0, 1000.0, 0.1]
    """
    return power(10.0, in_one_dtype(x)[0])


@in_double
def kl_div(x: Any, y: Any, /) -> Any:
    """``x log(x / y) - x + y``, which is 0 only where x = y; infinite where either is negative.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: ``log(x / y)`` by `x`, ``1 - x / y`` by `y`.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.kl_div``.

    >>> kl_div(np.array([1.0, 0.0]), 0.5).round(4).tolist()
    [0.1931, 0.5]
    """
    ratio = rel_entr(x, y)
    inside = less(ratio, math.inf)
    return ratio - _where(inside, x, 0.0) + _where(inside, y, 0.0)


def huber(delta: Any, r: Any, /) -> Any:
    """``r^2 / 2`` where ``|r| <= delta``, ``delta (|r| - delta / 2)`` elsewhere.

    Shapes: broadcast.   Dtypes: real.
    Derivative: ``r`` clipped to ``[-delta, delta]`` by `r`; continuous.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.huber``.

    >>> [float(huber(1.0, r)) for r in (0.5, 3.0)]
    [0.125, 2.5]
    """
    delta, r = in_one_dtype(delta, r)
    size = absolute(r)
    y = _where(less_equal(size, delta), multiply(r, r) * 0.5, delta * (size - delta * 0.5))
    return _where(less(delta, 0), math.inf, y)


@in_double
def pseudo_huber(delta: Any, r: Any, /) -> Any:
    """``delta^2 (sqrt(1 + (r / delta)^2) - 1)``, a smooth `huber`.

    Shapes: broadcast.   Dtypes: real.
    Derivative: ``r / sqrt(1 + (r / delta)^2)`` by `r`; smooth for delta > 0.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.pseudo_huber``.

    >>> float(pseudo_huber(1.0, 0.0))
    0.0
    """
    reach = delta + hypot(delta, r)
    y = delta * r * divide(r, _where(equal(reach, 0), 1.0, reach))  # never larger than it must be
    return _where(less(delta, 0), math.inf, y)
