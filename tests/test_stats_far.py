"""`funcgrad.scipy.stats`: second derivatives, and derivatives where values are 0, 1 or infinite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.scipy import special, stats

pytest.importorskip("scipy")


def jet(f: Any, *args: float) -> tuple[Any, Any, Any]:
    """The value, the gradient and the Hessian by all arguments."""
    found = tuple(range(len(args)))
    points = [np.float64(v) for v in args]
    slopes = np.array(funcgrad.grad(f, argnums=found)(*points))
    return f(*points), slopes, np.array(funcgrad.hessian(f, argnums=found)(*points))


@settings(deadline=None)
@given(
    x=st.floats(0.02, 7.0).map(lambda v: round(v, 3)),
    b=st.floats(0.05, 6.0).map(lambda v: round(v, 3)),
)
def test_second_derivatives_of_rices_probabilities(x: float, b: float) -> None:
    """The slope of `sf` is minus the density by x, ``x exp(-(x**2 + b**2) / 2) I1(b x)`` by b."""

    def by_b(x: Any, b: Any) -> Any:
        return x * np.exp(-0.5 * (x - b) * (x - b)) * special.i1e(b * x)

    points = np.float64(x), np.float64(b)
    slopes = np.array([-stats.rice.pdf(x, b), by_b(x, b)])
    seconds = np.array(
        [
            funcgrad.grad(lambda x, b: -stats.rice.pdf(x, b), argnums=(0, 1))(*points),
            funcgrad.grad(by_b, argnums=(0, 1))(*points),
        ]
    )
    for name, sign in (("cdf", -1.0), ("sf", 1.0)):
        p, first, second = jet(getattr(stats.rice, name), x, b)
        np.testing.assert_allclose(first, sign * slopes, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(second, sign * seconds, rtol=1e-9, atol=1e-12)
        share = first / p
        _, of_log, second_of_log = jet(getattr(stats.rice, "log" + name), x, b)
        np.testing.assert_allclose(of_log, share, rtol=1e-9, atol=1e-15)
        expected = second / p - np.outer(share, share)
        scale = np.outer(share, share).max() + np.abs(second / p).max()
        np.testing.assert_allclose(second_of_log, expected, rtol=1e-9, atol=1e-10 * scale)
