"""What the derivative is at kinks and singular points: one row per choice, checked by one test.

A row says that the gradient of ``sum(function(fnp, *args))`` by argument `argnum` is `expected`.
`fnp` is `funcgrad.numpy`, or anything with its names. Where `expected` is finite, nothing on the
way warns; where it is not, NumPy's own warnings about dividing by zero are right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ops import (
    arithmetic,
    bessel,
    exponential,
    hypergeometric,
    integrals,
    inverses,
    polynomials,
    select,
    special,
)
from funcgrad.ops import complex as complexes

inf, nan = np.inf, np.nan


class Kink(NamedTuple):
    """One point, one derivative, and why it is that one."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnum: int
    expected: Any
    note: str


def at(*values: Any) -> tuple[Any, ...]:
    """The arguments: lists become arrays, numbers NumPy scalars."""
    return tuple(np.asarray(v)[()] for v in values)


LIMIT = "the true limit"
ZERO = "zero, the middle of the subgradients"
SPLIT = "ties are split"
CONSTANT = "piecewise constant: zero at the jumps too"
MASKED = "the value is constant in one direction and singular in the other"

SIZES = [
    Kink("abs", lambda fnp, x: fnp.abs(x), at(0.0), 0, 0.0, ZERO),
    Kink("complex abs", lambda fnp, x: fnp.abs(x), at(0j), 0, 0j, ZERO),
    Kink("hypot", lambda fnp, x, y: fnp.hypot(x, y), at(0.0, 0.0), 0, 0.0, ZERO),
    Kink("hypot by y", lambda fnp, x, y: fnp.hypot(x, y), at(0.0, 0.0), 1, 0.0, ZERO),
    Kink("copysign", lambda fnp, x: fnp.copysign(x, 1.0), at(0.0), 0, 0.0, ZERO),
    Kink("norm", lambda fnp, x: fnp.linalg.norm(x), at([0.0, 0.0]), 0, [0.0, 0.0], ZERO),
    Kink(
        "norm squared",
        lambda fnp, x: fnp.linalg.norm(x) ** 2,
        at([0.0, 0.0]),
        0,
        [0.0, 0.0],
        "smooth, although the norm is not",
    ),
    Kink("std", lambda fnp, x: fnp.std(x), at([1.0, 1.0]), 0, [0.0, 0.0], ZERO),
    Kink("i0e", lambda fnp, x: bessel.i0e(x), at(0.0), 0, 0.0, ZERO),
    Kink("ive", lambda fnp, x: bessel.ive(0, x), at(0.0), 0, 0.0, ZERO),
    Kink("j1", lambda fnp, x: bessel.j1(x), at(0.0), 0, 0.5, "smooth; j1(x) / x is 0 / 0"),
    Kink("exprel", lambda fnp, x: hypergeometric.exprel(x), at(0.0), 0, 0.5, LIMIT),
    Kink("ellipk", lambda fnp, m: hypergeometric.ellipk(m), at(0.0), 0, np.pi / 8, LIMIT),
    Kink("ellipe", lambda fnp, m: hypergeometric.ellipe(m), at(0.0), 0, -np.pi / 8, LIMIT),
    Kink("ellipkm1", lambda fnp, p: hypergeometric.ellipkm1(p), at(1.0), 0, -np.pi / 8, LIMIT),
    Kink("eval_legendre", lambda fnp, x: polynomials.eval_legendre(3, x), at(-1.0), 0, 6.0, LIMIT),
    Kink("constant", lambda fnp, x: polynomials.eval_legendre(0, x), at(-1.0), 0, 0.0, LIMIT),
    Kink("Si", lambda fnp, x: integrals.sine_integral(x), at(0.0), 0, 1.0, LIMIT),
    Kink("Shi", lambda fnp, x: integrals.hyperbolic_sine_integral(x), at(0.0), 0, 1.0, LIMIT),
    Kink("spence", lambda fnp, z: integrals.spence(z), at(1.0), 0, -1.0, LIMIT),
    Kink("owens_t", lambda fnp, h: integrals.owens_t(h, np.inf), at(0.0), 0, 0.0, ZERO),
    Kink("voigt", lambda fnp, s: integrals.voigt_profile(1.0, s, 0.5), at(0.0), 0, 0.0, LIMIT),
    Kink("boxcox", lambda fnp, p: inverses.boxcox(2.0, p), at(0.0), 0, np.log(2) ** 2 / 2, LIMIT),
    Kink("boxcox at 0", lambda fnp, p: inverses.boxcox(0.0, p), at(2.0), 0, 0.25, LIMIT),
    Kink(
        "inv_boxcox", lambda fnp, p: inverses.inv_boxcox(2.0, p), at(0.0), 0, -2 * np.exp(2), LIMIT
    ),
    Kink("i1", lambda fnp, x: bessel.i1(x), at(0.0), 0, 0.5, "smooth; i1(x) / x is 0 / 0"),
    Kink("i1e", lambda fnp, x: bessel.i1e(x), at(0.0), 0, 0.5, "smooth to first order"),
    Kink("angle", lambda fnp, x: complexes.angle(x), at(0j), 0, 0j, "no limit: zero"),
    Kink(
        "complex sign",
        lambda fnp, x: fnp.real(fnp.sign(x)),
        at(0j),
        0,
        0.0,
        "no limit: zero",
    ),
    Kink("arctan2", lambda fnp, y, x: fnp.arctan2(y, x), at(0.0, 0.0), 0, 0.0, "no limit: zero"),
    Kink(
        "arctan2 by x", lambda fnp, y, x: fnp.arctan2(y, x), at(0.0, 0.0), 1, 0.0, "no limit: zero"
    ),
    Kink("sinc", lambda fnp, x: fnp.sinc(x), at(0.0), 0, 0.0, "smooth; the formula is 0 / 0"),
]

CHOICES = [
    Kink(
        "relu", lambda fnp, x: special.relu(x), at(0.0), 0, 0.0, "as every neural network library"
    ),
    Kink("maximum", lambda fnp, x: fnp.maximum(x, 0.0), at(0.0), 0, 0.5, SPLIT),
    Kink("maximum by y", lambda fnp, x: fnp.maximum(0.0, x), at(0.0), 0, 0.5, SPLIT),
    Kink("maximum of infinities", lambda fnp, x: fnp.maximum(x, -inf), at(-inf), 0, 0.5, SPLIT),
    Kink("minimum", lambda fnp, x: fnp.minimum(x, 0.0), at(0.0), 0, 0.5, SPLIT),
    Kink("fmax", lambda fnp, x: fnp.fmax(x, 0.0), at(0.0), 0, 0.5, SPLIT),
    Kink("fmin", lambda fnp, x: fnp.fmin(x, 0.0), at(0.0), 0, 0.5, SPLIT),
    Kink("fmax of nan", lambda fnp, x: fnp.fmax(x, nan), at(1.0), 0, 1.0, "the operand taken"),
    Kink("fmax at nan", lambda fnp, x: fnp.fmax(x, 1.0), at(nan), 0, 0.0, "not the one taken"),
    Kink("max", lambda fnp, x: fnp.max(x), at([1.0, 1.0, 0.0]), 0, [0.5, 0.5, 0.0], SPLIT),
    Kink("min", lambda fnp, x: fnp.min(x), at([1.0, 0.0, 0.0]), 0, [0.0, 0.5, 0.5], SPLIT),
    Kink(
        "median",
        lambda fnp, x: fnp.median(x),
        at([1.0, 2.0, 3.0, 4.0]),
        0,
        [0.0, 0.5, 0.5, 0.0],
        "the mean of the two in the middle",
    ),
    Kink(
        "sort",
        lambda fnp, x: fnp.sort(x) * np.array([1.0, 2.0, 3.0]),
        at([1.0, 1.0, 0.0]),
        0,
        [2.0, 3.0, 1.0],
        "stable: the first of equals stays first",
    ),
    Kink(
        "clip",
        lambda fnp, x: fnp.clip(x, 0.0, 1.0),
        at([0.0, 1.0, 0.5]),
        0,
        [1.0, 1.0, 1.0],
        "the bounds belong to the inside",
    ),
    Kink(
        "clip by the lower bound",
        lambda fnp, low: select.clip(np.array([0.0, 0.5, -0.5]), low, 1.0),
        at(0.0),
        0,
        1.0,
        "only where x is below it",
    ),
    Kink(
        "clip by the upper bound",
        lambda fnp, high: select.clip(np.array([1.0, 0.5, 1.5]), 0.0, high),
        at(1.0),
        0,
        1.0,
        "only where x is above it",
    ),
    Kink(
        "clip between bounds in the wrong order",
        lambda fnp, high: select.clip(np.array([-1.0, 2.0]), 1.0, high),
        at(0.0),
        0,
        2.0,
        "the upper bound wins, as in NumPy",
    ),
    Kink(
        "where",
        lambda fnp, x: fnp.where(x < 1, x, fnp.sqrt(x)),
        at(0.0),
        0,
        nan,
        "0 * inf by the plain rules; 1 with strong zeros",
    ),
    Kink(
        "nan_to_num",
        lambda fnp, x: fnp.nan_to_num(x),
        at([nan, inf, 1.0]),
        0,
        [0.0, 0.0, 1.0],
        "what was replaced is constant",
    ),
]

POWERS = [
    Kink("x**0. at 0", lambda fnp, x: x**0.0, at(0.0), 0, 0.0, "x**0 is 1"),
    Kink("x**y at (0, 0) by x", lambda fnp, x, y: x**y, at(0.0, 0.0), 0, 0.0, "x**0 is 1"),
    Kink("0**y at 2", lambda fnp, y: fnp.power(0.0, y), at(2.0), 0, 0.0, LIMIT),
    Kink("0**y at 0", lambda fnp, y: fnp.power(0.0, y), at(0.0), 0, 0.0, "a jump; zero"),
    Kink("x**y at (0, 2) by x", lambda fnp, x, y: x**y, at(0.0, 2.0), 0, 0.0, LIMIT),
    Kink("x**1 at 0", lambda fnp, x: x**1.0, at(0.0), 0, 1.0, LIMIT),
    Kink("x**y at (0, 1) by x", lambda fnp, x, y: x**y, at(0.0, 1.0), 0, 1.0, LIMIT),
    Kink("x**(1/2) at 0", lambda fnp, x: x**0.5, at(0.0), 0, inf, LIMIT),
    Kink("(-2)**3 by x", lambda fnp, x: x**3.0, at(-2.0), 0, 12.0, "smooth for integer exponents"),
    Kink(
        "(-2)**y at 3",
        lambda fnp, y: fnp.power(-2.0, y),
        at(3.0),
        0,
        0.0,
        "real at integers only; zero",
    ),
    Kink("float_power", lambda fnp, x: fnp.float_power(x, 0.0), at(0.0), 0, 0.0, "x**0 is 1"),
    Kink("sqrt", lambda fnp, x: fnp.sqrt(x), at(0.0), 0, inf, LIMIT),
    Kink("cbrt", lambda fnp, x: fnp.cbrt(x), at(0.0), 0, inf, LIMIT),
    Kink("reciprocal", lambda fnp, x: fnp.reciprocal(x), at(0.0), 0, -inf, LIMIT),
    Kink("divide by 0", lambda fnp, x: fnp.divide(x, 0.0), at(1.0), 0, inf, "as NumPy divides"),
    Kink(
        "prod of one 0", lambda fnp, x: fnp.prod(x), at([0.0, 2.0, 3.0]), 0, [6.0, 0.0, 0.0], LIMIT
    ),
    Kink(
        "prod of two 0", lambda fnp, x: fnp.prod(x), at([0.0, 0.0, 3.0]), 0, [0.0, 0.0, 0.0], LIMIT
    ),
    Kink("cumprod", lambda fnp, x: fnp.cumprod(x), at([2.0, 0.0, 3.0]), 0, [1.0, 8.0, 0.0], LIMIT),
]

LOGARITHMS = [
    Kink("log", lambda fnp, x: fnp.log(x), at(0.0), 0, inf, LIMIT),
    Kink("log2", lambda fnp, x: fnp.log2(x), at(0.0), 0, inf, LIMIT),
    Kink("log10", lambda fnp, x: fnp.log10(x), at(0.0), 0, inf, LIMIT),
    Kink("log1p", lambda fnp, x: fnp.log1p(x), at(-1.0), 0, inf, LIMIT),
    Kink("logaddexp", lambda fnp, x: fnp.logaddexp(x, 0.0), at(0.0), 0, 0.5, "smooth"),
    Kink("logaddexp by y", lambda fnp, x: fnp.logaddexp(0.0, x), at(0.0), 0, 0.5, "smooth"),
    Kink(
        "logaddexp of minus infinities",
        lambda fnp, x: fnp.logaddexp(x, -inf),
        at(-inf),
        0,
        0.0,
        "no share in a sum of nothing",
    ),
    Kink("logaddexp of infinity", lambda fnp, x: fnp.logaddexp(x, 0.0), at(inf), 0, 1.0, LIMIT),
    Kink("logaddexp of infinities", lambda fnp, x: fnp.logaddexp(x, inf), at(inf), 0, 0.5, SPLIT),
    Kink("logaddexp2 of infinities", lambda fnp, y: fnp.logaddexp2(inf, y), at(inf), 0, 0.5, SPLIT),
    Kink(
        "logaddexp2 of minus infinities",
        lambda fnp, x: fnp.logaddexp2(x, -inf),
        at(-inf),
        0,
        0.0,
        "no share in a sum of nothing",
    ),
    Kink("softplus", lambda fnp, x: special.softplus(x), at(0.0), 0, 0.5, "smooth"),
    Kink("xlogy by x", lambda fnp, x: exponential.xlogy(x, 0.0), at(0.0), 0, 0.0, MASKED),
    Kink("xlogy by y", lambda fnp, y: exponential.xlogy(0.0, y), at(0.0), 0, 0.0, MASKED),
    Kink("xlog1py by x", lambda fnp, x: exponential.xlog1py(x, -1.0), at(0.0), 0, 0.0, MASKED),
    Kink("xlog1py by y", lambda fnp, y: exponential.xlog1py(0.0, y), at(-1.0), 0, 0.0, MASKED),
    Kink("entr", lambda fnp, x: special.entr(x), at(0.0), 0, inf, LIMIT),
    Kink("rel_entr by x", lambda fnp, x: special.rel_entr(x, 0.0), at(0.0), 0, 0.0, MASKED),
    Kink("rel_entr by y", lambda fnp, y: special.rel_entr(0.0, y), at(0.0), 0, 0.0, MASKED),
    Kink("logit", lambda fnp, x: special.logit(x), at(0.0), 0, inf, LIMIT),
]

ENDS = [
    Kink("arcsin", lambda fnp, x: fnp.arcsin(x), at(1.0), 0, inf, LIMIT),
    Kink("arccos", lambda fnp, x: fnp.arccos(x), at(1.0), 0, -inf, LIMIT),
    Kink("arccosh", lambda fnp, x: fnp.arccosh(x), at(1.0), 0, inf, LIMIT),
    Kink("arctanh", lambda fnp, x: fnp.arctanh(x), at(1.0), 0, inf, LIMIT),
    Kink("erfinv", lambda fnp, x: special.erfinv(x), at(1.0), 0, inf, LIMIT),
    Kink("ndtri", lambda fnp, x: special.ndtri(x), at(1.0), 0, inf, LIMIT),
    Kink("ndtri_exp", lambda fnp, x: special.ndtri_exp(x), at(0.0), 0, inf, LIMIT),
]

JUMPS = [
    Kink("sign", lambda fnp, x: fnp.sign(x), at(0.0), 0, 0.0, CONSTANT),
    Kink("floor", lambda fnp, x: fnp.floor(x), at(1.0), 0, 0.0, CONSTANT),
    Kink("ceil", lambda fnp, x: fnp.ceil(x), at(1.0), 0, 0.0, CONSTANT),
    Kink("trunc", lambda fnp, x: fnp.trunc(x), at(1.0), 0, 0.0, CONSTANT),
    Kink("round", lambda fnp, x: fnp.round(x), at(0.5), 0, 0.0, CONSTANT),
    Kink("heaviside", lambda fnp, x: fnp.heaviside(x, 0.5), at(0.0), 0, 0.0, CONSTANT),
    Kink(
        "heaviside by its value at 0",
        lambda fnp, y: fnp.heaviside(0.0, y),
        at(2.0),
        0,
        1.0,
        "the value",
    ),
    Kink("heaviside off 0", lambda fnp, y: fnp.heaviside(3.0, y), at(2.0), 0, 0.0, MASKED),
    Kink("floor_divide", lambda fnp, x: fnp.floor_divide(x, 2.0), at(4.0), 0, 0.0, CONSTANT),
    Kink("mod", lambda fnp, x: fnp.mod(x, 2.0), at(3.0), 0, 1.0, "off the jumps"),
    Kink("mod by the divisor", lambda fnp, y: fnp.mod(3.0, y), at(2.0), 0, -1.0, "-floor(x / y)"),
    Kink("mod at a jump", lambda fnp, x: fnp.mod(x, 2.0), at(4.0), 0, 1.0, "as beside it"),
    Kink("fmod by the divisor", lambda fnp, y: fnp.fmod(-3.0, y), at(2.0), 0, 1.0, "-trunc(x / y)"),
    Kink(
        "zero_preserving_multiply",
        lambda fnp, c: arithmetic.zero_preserving_multiply(0.0, c),
        at(inf),
        0,
        0.0,
        "zero times anything is zero",
    ),
]

KINKS = [*SIZES, *CHOICES, *POWERS, *LOGARITHMS, *ENDS, *JUMPS]
