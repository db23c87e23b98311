"""`kl_divergence` of all pairs that PyTorch registers, against PyTorch's and against integrals."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import compat
from compat import distributions as ours
from compat.distributions import kl as our_kl

torch: Any = pytest.importorskip("torch")
theirs: Any = importlib.import_module("torch.distributions")
their_kl: Any = importlib.import_module("torch.distributions.kl")

MATRIX = [[2.0, 0.3], [0.3, 1.0]]
# Parameters of two distributions of each type, the first as `p` and the second as `q`.
PARAMETERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Bernoulli": ({"probs": [0.2, 0.0]}, {"probs": [0.7, 0.3]}),
    "Beta": (
        {"concentration1": [2.0, 1.5], "concentration0": [1.0, 3.0]},
        {"concentration1": [0.7, 2.5], "concentration0": [2.0, 1.2]},
    ),
    "Binomial": ({"total_count": 3, "probs": [0.2, 0.6]}, {"total_count": 3, "probs": [0.7, 0.3]}),
    "Categorical": ({"probs": [[0.2, 0.8], [0.0, 1.0]]}, {"probs": [[0.5, 0.5], [0.4, 0.6]]}),
    "Cauchy": ({"loc": [0.2, 1.0], "scale": [1.0, 2.0]}, {"loc": [0.0, 3.0], "scale": [2.0, 1.5]}),
    "ContinuousBernoulli": ({"probs": [0.2, 0.6]}, {"probs": [0.7, 0.3]}),
    "Dirichlet": ({"concentration": [[2.0, 0.5, 1.0]]}, {"concentration": [[1.0, 2.5, 0.7]]}),
    "Exponential": ({"rate": [0.5, 2.0]}, {"rate": [1.5, 0.7]}),
    "Gamma": (
        {"concentration": [2.0, 0.7], "rate": [1.0, 3.0]},
        {"concentration": [0.7, 2.5], "rate": [2.0, 1.2]},
    ),
    "Geometric": ({"probs": [0.2, 0.6]}, {"probs": [0.7, 0.3]}),
    "Gumbel": ({"loc": [0.2, 1.0], "scale": [1.0, 0.7]}, {"loc": [0.0, 2.0], "scale": [2.0, 1.5]}),
    "HalfNormal": ({"scale": [0.5, 2.0]}, {"scale": [1.5, 0.7]}),
    "Laplace": ({"loc": [0.2, 1.0], "scale": [1.0, 0.7]}, {"loc": [0.0, 2.0], "scale": [2.0, 1.5]}),
    "MultivariateNormal": (
        {"loc": [0.2, 1.0], "covariance_matrix": MATRIX},
        {"loc": [[0.0, 2.0]], "scale_tril": [[1.0, 0.0], [0.5, 2.0]]},
    ),
    "LowRankMultivariateNormal": (
        {"loc": [0.2, 1.0], "cov_factor": [[1.0], [0.5]], "cov_diag": [1.0, 2.0]},
        {"loc": [0.0, 2.0], "cov_factor": [[0.3], [-0.5]], "cov_diag": [0.5, 1.0]},
    ),
    "Normal": ({"loc": [0.2, 1.0], "scale": [1.0, 0.7]}, {"loc": [0.0, 2.0], "scale": [2.0, 1.5]}),
    "OneHotCategorical": ({"probs": [[0.2, 0.8]]}, {"probs": [[0.5, 0.5]]}),
    "Pareto": (
        {"scale": [1.0, 0.7], "alpha": [3.0, 0.9]},
        {"scale": [0.5, 0.8], "alpha": [1.0, 2.0]},
    ),
    "Poisson": ({"rate": [0.5, 2.0]}, {"rate": [1.5, 0.7]}),
    "Uniform": (
        {"low": [0.55, 0.1], "high": [0.9, 0.8]},
        {"low": [-0.5, 0.05], "high": [1.5, 0.9]},
    ),
}
PAIRS = sorted(
    (p.__name__, q.__name__)
    for p, q in their_kl._KL_REGISTRY
    if p.__name__ in PARAMETERS and q.__name__ in PARAMETERS
)


def _make(module: Any, family: Any, name: str, which: int) -> tuple[Any, list[Any]]:
    given = {
        k: v if k == "total_count" else module.tensor(v, dtype=module.float64, requires_grad=True)
        for k, v in PARAMETERS[name][which].items()
    }
    return getattr(family, name)(**given), [v for v in given.values() if not isinstance(v, int)]


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_values_and_gradients(p: str, q: str) -> None:
    found = []
    for module, family in ((compat, ours), (torch, theirs)):
        (a, leaves), (b, more) = _make(module, family, p, 0), _make(module, family, q, 1)
        y = family.kl_divergence(a, b)
        slopes = [None] * len(leaves + more)
        if y.requires_grad:
            total = y.masked_fill(~y.isfinite(), 0.0).sum()
            slopes = module.autograd.grad(total, leaves + more, allow_unused=True)
        zero = np.zeros(())
        found.append([y.detach().numpy(), *(zero if g is None else g.numpy() for g in slopes)])
    for mine, wanted in zip(*found, strict=True):
        known = np.isfinite(wanted) | np.isinf(wanted)
        mine, wanted = np.where(known, mine, 0), np.where(known, wanted, 0)
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-9)


def test_the_same_pairs_are_registered() -> None:
    mine, wanted = (
        {(p.__name__, q.__name__) for p, q in k._KL_REGISTRY} for k in (our_kl, their_kl)
    )
    assert mine == wanted
    untested = wanted - set(PAIRS)
    assert untested == {
        (k, k) for k in ("ExponentialFamily", "TransformedDistribution", "Independent")
    }


def test_pairs_made_of_others() -> None:
    found = []
    for module, d in ((compat, ours), (torch, theirs)):
        loc = module.tensor([[0.2, 1.0]], dtype=module.float64)
        p, q = d.Normal(loc, 1.0), d.Normal(loc * 2, 2.0)
        pairs = [
            (d.Independent(p, 1), d.Independent(q, 1)),
            (d.LogNormal(loc, 1.0), d.LogNormal(loc * 2, 2.0)),
            (
                d.TransformedDistribution(p, d.ExpTransform()),
                d.TransformedDistribution(q, d.ExpTransform()),
            ),
            (d.Chi2(loc), d.Chi2(loc * 2)),
        ]
        found.append([d.kl_divergence(*pair).numpy() for pair in pairs])
        family = d.kl._KL_REGISTRY[d.ExponentialFamily, d.ExponentialFamily]
        for a, b in (
            (p, q),
            (d.Gamma(loc, 1.0), d.Gamma(loc * 3, 2.0)),
            (d.Poisson(loc), d.Poisson(loc * 2)),
        ):
            found[-1].append(family(a, b).detach().numpy())
        with pytest.raises(NotImplementedError):
            d.kl_divergence(d.Independent(p, 1), d.Independent(q, 2))
        with pytest.raises(NotImplementedError):
            d.kl_divergence(p, d.Poisson(loc))
        with pytest.raises(TypeError):
            d.register_kl(3, d.Normal)
        with pytest.raises(NotImplementedError):
            family(p, d.Gamma(loc, 1.0))
    for mine, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9)


def test_dispatch_to_the_nearest_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(our_kl, "_KL_REGISTRY", dict(our_kl._KL_REGISTRY))

    class Near(ours.Normal):
        """A subclass."""

    near, far = Near(0.0, 1.0), ours.Normal(1.0, 1.0)
    assert ours.kl_divergence(near, far).item() == 0.5
    ours.register_kl(Near, ours.Normal)(lambda p, q: 7)
    assert ours.kl_divergence(near, far) == 7
    assert ours.kl_divergence(far, near).item() == 0.5
    ours.register_kl(ours.Normal, Near)(lambda p, q: 8)
    with pytest.warns(RuntimeWarning, match="Ambiguous"):
        assert ours.kl_divergence(near, near) == 7
    our_kl._KL_MEMOIZE.clear()
