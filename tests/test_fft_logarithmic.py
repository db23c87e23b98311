"""Hankel's transform on a logarithmic scale beside SciPy's, and its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad.errors import ArgumentError
from funcgrad.scipy import fft
from funcgrad.testing import check_all

sf = pytest.importorskip("scipy.fft")

FIRST = ["types", "finite", "transpose", "numerical", "vmap", "jit"]


@given(
    n=st.integers(1, 17),
    dln=st.floats(0.05, 1.5),
    mu=st.sampled_from([-0.5, 0.0, 0.5, 2.0, 40.0]),
    offset=st.floats(-1.0, 1.0),
    bias=st.sampled_from([0.0, 0.2, -0.4, 1.3]),
)
def test_transforms_are_scipys(n: int, dln: float, mu: float, offset: float, bias: float) -> None:
    a = np.random.default_rng(n).normal(size=(2, n))
    for name in ("fht", "ifht"):
        found, expected = (getattr(m, name)(a, dln, mu, offset, bias) for m in (fft, sf))
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * abs(expected).max())
    np.testing.assert_allclose(
        fft.fhtoffset(dln, mu, offset, bias), sf.fhtoffset(dln, mu, offset, bias), atol=1e-9
    )


def test_derivatives_of_transforms() -> None:
    a = np.random.default_rng(0).normal(size=7)
    numbers = tuple(map(np.array, (0.4, 1.2, 0.3, 0.1)))
    for f in (fft.fht, fft.ifht):
        check_all(f, (a, *numbers), only=FIRST).raise_if_failed()
        only = [*FIRST, "second order"]
        check_all(lambda a, f=f: f(a, 0.4, 1.2, 0.3, 0.1), (a,), only=only).raise_if_failed()
    check_all(
        lambda dln, mu, bias: fft.fhtoffset(dln, mu, 0.3, bias),
        (numbers[0], numbers[1], numbers[3]),
        only=FIRST,
    ).raise_if_failed()


def test_a_known_transform() -> None:
    """``r^(mu + 1) exp(-r^2 / 2)`` is its own."""
    mu, r = 0.5, np.exp(np.linspace(-16.0, 3.0, 256))
    dln = float(np.log(r[1] / r[0]))
    offset = float(fft.fhtoffset(dln, mu, float(np.log(r[0] * r[-1]))))
    k = np.exp(offset) / r[::-1]

    def f(x: Any) -> Any:
        return x ** (mu + 1) * np.exp(-(x**2) / 2)

    np.testing.assert_allclose(fft.fht(f(r), dln, mu, offset), f(k), atol=1e-3)


def test_singular_transforms_warn() -> None:
    a = np.array([1.0, 2.0, 4.0])
    for name, mu, bias in (("fht", -1.5, 0.5), ("ifht", 0.0, 1.0)):
        with pytest.warns(UserWarning, match="singular"):
            found = getattr(fft, name)(a, 0.3, mu, 0.0, bias)
        with pytest.warns(UserWarning, match="singular"):
            expected = getattr(sf, name)(a, 0.3, mu, 0.0, bias)
        np.testing.assert_allclose(found, expected)
    with pytest.raises(ArgumentError, match="real numbers"):
        fft.fht(1j * a, 0.3, 0.0)
