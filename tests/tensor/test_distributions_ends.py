"""Distributions at their ends, as in PyTorch: what rounds to 0 or 1, ends of supports, no moments."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat
from compat import distributions as ours

torch: Any = pytest.importorskip("torch")
theirs: Any = importlib.import_module("torch.distributions")

BOTH = ((compat, ours), (torch, theirs))


def _f64(module: Any, x: Any) -> Any:
    return module.tensor(x, dtype=module.float64, requires_grad=True)


def _agree(f: Callable[..., Any], *xs: Any) -> None:
    """`f` and its derivatives by `xs` are PyTorch's; the share of a NaN in them is nothing."""
    found = []
    for module, d in BOTH:
        leaves = [_f64(module, x) for x in xs]
        y = f(d, *leaves)
        finite = y.masked_fill(~y.isfinite(), 0.0).sum()
        slopes = module.autograd.grad(finite, leaves, allow_unused=True)
        found.append([y.detach().numpy(), *(0.0 if g is None else g.numpy() for g in slopes)])
    for mine, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "what", ["mean", "variance", "stddev", "entropy", "log_prob", "cdf", "icdf"]
)
@given(st.floats(-200, 200), st.floats(0.01, 0.99))
def test_continuous_bernoulli_of_large_logits(what: str, logits: float, x: float) -> None:
    def f(d: Any, logits: Any, x: Any) -> Any:
        found = getattr(d.ContinuousBernoulli(logits=logits), what)
        if what in ("mean", "variance", "stddev"):
            return found
        return found() if what == "entropy" else found(x)

    if abs(logits) < 36:  # where p is neither clamped nor near one half
        logits = 36 + abs(logits)
    _agree(f, logits, x)


@given(st.lists(st.floats(-800, 800), min_size=1, max_size=4))
def test_sticks_that_are_taken_whole_have_a_density(x: list[float]) -> None:
    def f(d: Any, x: Any) -> Any:
        t = d.StickBreakingTransform()
        return t.log_abs_det_jacobian(x, t(x))

    _agree(f, x)


@pytest.mark.parametrize("name", ["LogNormal", "Weibull", "InverseGamma"])
@given(st.lists(st.floats(0, 3), min_size=1, max_size=3))
def test_cdf_has_a_value_at_the_end_of_the_support(name: str, x: list[float]) -> None:
    found = [
        getattr(d, name)(_f64(m, 1.5), _f64(m, 2.0)).cdf(_f64(m, [0.0, *x])).detach().numpy()
        for m, d in BOTH
    ]
    assert found[0][0] == 0
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["LogNormal", "Weibull", "InverseGamma"])
def test_cdf_beyond_the_support_raises(name: str) -> None:
    with pytest.raises(ValueError, match="to be within the support"):  # PyTorch: not of Weibull
        getattr(ours, name)(_f64(compat, 1.5), _f64(compat, 2.0)).cdf(_f64(compat, -1.0))


@pytest.mark.parametrize("what", ["mean", "variance"])
@given(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 9.5]), min_size=1, max_size=4))
def test_moments_that_do_not_exist_have_no_share_in_gradients(what: str, df2: list[float]) -> None:
    _agree(lambda d, df2: getattr(d.FisherSnedecor(3.0, df2), what), df2)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([1e-6, 0.5, 1.0, 2.5])),
        min_size=1,
        max_size=4,
    )
)
def test_modes_that_do_not_exist_have_no_share_in_gradients(ab: list[tuple[float, float]]) -> None:
    found = []
    for pairs in (ab, [(a, b) for a, b in ab if a >= 1 and b >= 1 and a * b > 1]):
        a, b = (_f64(compat, [p[i] for p in pairs]) for i in (0, 1))
        mode = ours.Kumaraswamy(a, b).mode
        known = ~mode.isnan()
        mode[known].sum().backward()
        found.append([x[known].detach().numpy() for x in (mode, a.grad, b.grad)])
        assert not a.grad[~known].any() and not b.grad[~known].any()
    for mine, wanted in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, wanted)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
    st.integers(0, 9),
    st.floats(0.05, 0.95),
    st.floats(0.05, 0.95),
)
def test_divergence_of_binomials_of_other_counts(
    counts: list[int], other: int, p: float, q: float
) -> None:
    def f(d: Any, p: Any, q: Any) -> Any:
        m = compat if d is ours else torch
        count = m.tensor(counts, dtype=m.float64)
        return d.kl_divergence(d.Binomial(count, p), d.Binomial(other, q))

    if other > min(counts):  # the quotient of the binomial coefficients is not in the formula
        for m, d in BOTH:
            with pytest.raises(NotImplementedError, match=r"q.total_count > p.total_count"):
                f(d, _f64(m, p), _f64(m, q))
    else:
        _agree(f, p, q)
