"""Derivatives at and beyond the ends of a function's domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError
from funcgrad.scipy import special

ENDS = [
    (fnp.arcsin, 1.0, math.inf),
    (fnp.arcsin, -1.0, -math.inf),
    (fnp.arccos, 1.0, -math.inf),
    (fnp.arccos, -1.0, math.inf),
    (fnp.arctanh, 1.0, math.inf),
    (fnp.arctanh, -1.0, -math.inf),
    (fnp.arccosh, 1.0, -math.inf),
]


@pytest.mark.parametrize(
    ("f", "x", "curvature"), ENDS, ids=lambda v: getattr(v, "__name__", str(v))
)
@np.errstate(all="ignore")
def test_curvatures_at_the_ends_are_their_limits(f: Any, x: float, curvature: float) -> None:
    slope = funcgrad.grad(f)
    near = np.nextafter(x, 0.0) if f is not fnp.arccosh else np.nextafter(x, 2.0)
    for second in (funcgrad.grad(slope), funcgrad.jit(funcgrad.grad(slope)), funcgrad.hessian(f)):
        assert second(x) == curvature
        assert np.sign(second(near)) == np.sign(curvature)
    assert funcgrad.jvp(slope, (x,), (1.0,))[1] == curvature


# An integral with powers of `x` as its density: derivatives at the end, from the first.
POWERS_AT_ENDS: list[tuple[Callable[..., Any], float, tuple[float, ...]]] = [
    (lambda x: special.gammainc(1.0, x), 0.0, (1.0, -1.0, 1.0)),
    (lambda x: special.gammainc(1.5, x), 0.0, (0.0, math.inf)),
    (lambda x: special.gammaincc(2.0, x), 0.0, (-0.0, -1.0, 2.0)),
    (lambda x: special.gammainc(3.5, x), 0.0, (0.0, 0.0, 0.0)),
    (lambda x: special.betainc(2.0, 3.0, x), 0.0, (0.0, 12.0, -48.0)),
    (lambda x: special.betainc(3.0, 2.0, x), 0.0, (0.0, 0.0, 24.0)),
    (lambda x: special.betaincc(2.0, 2.0, x), 1.0, (-0.0, 6.0, 12.0)),
    (lambda x: special.betainc(900.0, 1.5, x), 0.0, (0.0, 0.0, 0.0)),
    (lambda x: special.betainc(2.0, 1.5, x), 1.0, (0.0, -math.inf)),
]


@pytest.mark.parametrize(("f", "end", "expected"), POWERS_AT_ENDS)
@np.errstate(all="ignore")
def test_probabilities_have_all_derivatives_at_their_ends(
    f: Any, end: float, expected: tuple[float, ...]
) -> None:
    pytest.importorskip("scipy")
    for exact in expected:
        f = funcgrad.grad(f)
        for slope in (f(end), funcgrad.jit(f)(end)):
            np.testing.assert_allclose(slope, exact, rtol=1e-13)


OUTSIDE: list[tuple[Callable[..., Any], tuple[float, ...]]] = [
    (special.gammainc, (-1.0, 2.0)),
    (special.gammaincc, (-1.5, 2.0)),
    (special.gammainc, (2.0, -1.0)),
    (special.betainc, (-1.0, 2.0, 0.5)),
    (special.betainc, (2.0, -1.5, 0.5)),
    (special.betaincc, (-0.5, 2.0, 0.5)),
    (special.betainc, (2.0, 3.0, 1.5)),
]


@pytest.mark.parametrize(("f", "args"), OUTSIDE, ids=lambda v: getattr(v, "__name__", str(v)))
@np.errstate(all="ignore")
def test_what_is_nan_has_slopes_of_nan(f: Any, args: tuple[float, ...]) -> None:
    pytest.importorskip("scipy")
    assert np.isnan(f(*args))
    assert np.isnan(funcgrad.grad(f, argnums=tuple(range(len(args))))(*args)).all()


def test_complex_numbers_are_in_no_interval() -> None:
    real, turned = np.array([0.0, 1.0]), np.array([0j, 1.0])
    for x, bins in ((turned, real), (real, turned)):
        with pytest.raises(ArgumentError, match="no order"):
            fnp.digitize(x, bins)


@pytest.mark.parametrize("mode", ["maximum", "minimum"])
@pytest.mark.parametrize("length", [0, (2, 0), ((0, 1),)], ids=str)
def test_no_numbers_have_no_extremes_to_pad_with(mode: str, length: Any) -> None:
    with pytest.raises(ArgumentError, match="stat_length"):
        fnp.pad(np.arange(4.0), 2, mode=mode, stat_length=length)


@pytest.mark.parametrize(
    ("f", "x", "y"),
    [
        (special.binom, 1.166e-3, 8.074e-7),
        (special.binom, 3565.0, 9.31),
        (special.poch, 3565.0, 1e-6),
        (special.betaln, 3565.0, 1e-3),
        (special.beta, 20.3, 1e-4),
    ],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
@np.errstate(all="ignore")
def test_slopes_in_single_precision_lose_nothing(f: Any, x: float, y: float) -> None:
    """Differences of digammas of numbers that are close, and products that overflow on the way."""
    pytest.importorskip("scipy")
    single = np.float32(x), np.float32(y)
    slope = funcgrad.grad(f, argnums=(0, 1))
    found, exact = slope(*single), slope(*map(np.float64, single))
    assert all(v.dtype == np.float32 for v in found)
    np.testing.assert_allclose(found, exact, rtol=2e-6)
