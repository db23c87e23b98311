"""Numbers that are drawn until they are accepted: in C those of NumPy up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import lax, random
from funcgrad.compile import c_compiler

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
pytest.importorskip("scipy.special")

DRAWN: dict[str, Callable[..., Any]] = {
    "loggamma": random.loggamma,
    "gamma": lambda key, a: random.gamma(key, a, dtype=np.float32),
    "beta": lambda key, a: random.beta(key, a, 2.0),
    "dirichlet": lambda key, a: random.dirichlet(key, a.reshape(-1) + 0.1),
    "t": random.t,
    "poisson": lambda key, a: random.poisson(key, 4 * a),
    "poisson of 32": lambda key, a: random.poisson(key, 9 * a, dtype=np.int32),
    "binomial": lambda key, a: random.binomial(key, (30 * a) // 1, 0.4),
    "few succeed": lambda key, a: random.binomial(key, (9 * a) // 1, 0.03, dtype=np.float32),
    "keys": lambda key, a: funcgrad.vmap(lambda k: random.poisson(k, a))(random.split(key, 3)),
    "gradient": lambda key, a: funcgrad.grad(lambda a: random.gamma(key, a).sum())(a),
}


@pytest.mark.parametrize("name", DRAWN)
@given(seed=st.integers(0, 1000), numbers=st.lists(st.floats(0.05, 20), min_size=1, max_size=6))
def test_draws(name: str, seed: int, numbers: list[float]) -> None:
    key, a = random.key(seed), np.array((numbers * 6)[:6]).reshape(2, 3)
    with funcgrad.config("c"):
        found = compiled(name)(key, a)
    assert compiled(name).code.count("kernel0(") == 1 and "random" not in compiled(name).code
    expected = DRAWN[name](key, a)
    assert found.dtype == expected.dtype
    rtol = 1e-5 if expected.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(found, expected, rtol=rtol)


_PROGRAMS: dict[str, Any] = {}


def compiled(name: str) -> Any:
    return _PROGRAMS.setdefault(name, funcgrad.jit(DRAWN[name]))


def test_parameters_that_have_no_numbers() -> None:
    a = np.array([0.0, -1.0, np.nan, np.inf, 1e-300, 1e300])
    for f in (random.loggamma, random.poisson, lambda key, a: random.binomial(key, a, 0.5)):
        with funcgrad.config("c"):
            found = funcgrad.jit(f)(random.key(1), a)
        np.testing.assert_allclose(found, f(random.key(1), a), rtol=1e-12)


def test_no_numbers() -> None:
    with funcgrad.config("c"):
        assert funcgrad.jit(random.loggamma)(random.key(1), np.ones((0, 2))).shape == (0, 2)


def test_a_sampler_is_one_loop() -> None:
    """Gibbs: the precision of normal numbers, and their mean, by turns."""
    y = np.random.default_rng(0).normal(3.0, 2.0, 50)

    def sampled(key: Any, y: Any) -> Any:
        def step(mean: Any, key: Any) -> Any:
            for_precision, for_mean = random.split(key)
            rate = 0.5 * ((y - mean) ** 2).sum()
            precision = random.gamma(for_precision, 0.5 * y.size) / rate
            mean = y.mean() + random.normal(for_mean) / np.sqrt(precision * y.size)
            return mean, (mean, precision)

        return lax.scan(step, y[0] * 0, random.split(key, 300))[1]

    program = funcgrad.jit(sampled)
    with funcgrad.config("c"):
        means, precisions = program(random.key(0), y)
    assert "kernel0(" in program.code and "for i" not in program.code
    for found, expected in zip((means, precisions), sampled(random.key(0), y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert abs(means.mean() - y.mean()) < 0.1
