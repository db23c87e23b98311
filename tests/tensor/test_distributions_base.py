"""What all of `compat.distributions` share, and errors: the same calls here and in PyTorch."""

from __future__ import annotations

import copy
import importlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import compat
from compat import distributions as ours

torch: Any = pytest.importorskip("torch")
theirs: Any = importlib.import_module("torch.distributions")
importlib.import_module("torch.distributions.exp_family")

BOTH = ((compat, ours), (torch, theirs))
MATRIX = [[2.0, 0.5], [0.5, 1.0]]


def _t(m: Any, *x: Any) -> Any:
    return m.tensor(x, dtype=m.float64)


def _mvn(m: Any, d: Any, **more: Any) -> Any:
    return d.MultivariateNormal(_t(m, 0.0, 1.0), **more)


def _low(m: Any, d: Any) -> Any:
    return d.LowRankMultivariateNormal(_t(m, 0.0, 1), _t(m, [1.0], [2]), _t(m, 1.0, 3))


def _mixture(m: Any, d: Any, weights: Any, parts: Any) -> Any:
    return d.MixtureSameFamily(d.Categorical(weights), parts)


def _sub(d: Any) -> Any:
    class Sub(d.Distribution):
        """A user's distribution without anything."""

        def __init__(self) -> None:
            super().__init__(validate_args=False)

    return Sub


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    # errors
    "both parameters": lambda m, d: d.Bernoulli(_t(m, 0.5), _t(m, 0.5)),
    "no parameter": lambda m, d: d.Categorical(),
    "no axis": lambda m, d: d.Categorical(m.tensor(0.5)),
    "no axis of dirichlet": lambda m, d: d.Dirichlet(m.tensor(0.5)),
    "no axis of normal": lambda m, d: d.MultivariateNormal(m.tensor(0.5), m.eye(2)),
    "no matrix": lambda m, d: _mvn(m, d),
    "a vector": lambda m, d: _mvn(m, d, scale_tril=_t(m, 1.0, 2.0)),
    "two matrices": lambda m, d: _mvn(m, d, scale_tril=_t(m, 1.0), precision_matrix=_t(m, 1.0)),
    "wishart vector": lambda m, d: d.Wishart(_t(m, 3.0), _t(m, 1.0, 2.0)),
    "low rank loc": lambda m, d: d.LowRankMultivariateNormal(_t(m, 1)[0], m.eye(2), m.ones(2)),
    "low rank vector": lambda m, d: d.LowRankMultivariateNormal(m.ones(2), m.ones(2), m.ones(2)),
    "low rank rows": lambda m, d: d.LowRankMultivariateNormal(m.ones(2), m.eye(3), m.ones(2)),
    "low rank diagonal": lambda m, d: d.LowRankMultivariateNormal(m.ones(2), m.eye(2), m.ones(3)),
    "low rank batch": lambda m, d: d.LowRankMultivariateNormal(
        m.ones(2, 2), m.eye(2), m.ones(3, 2)
    ),
    "count": lambda m, d: d.Multinomial(m.tensor([1, 2]), m.ones(2)),
    "counts": lambda m, d: d.Binomial(_t(m, 1, 2), _t(m, 0.5)).entropy(),
    "counts of support": lambda m, d: d.Binomial(_t(m, 1, 2), _t(m, 0.5)).enumerate_support(),
    "axes": lambda m, d: d.Independent(d.Normal(0.0, 1.0), 1),
    "product": lambda m, d: d.Independent(d.Bernoulli(_t(m, 0.5)), 1).enumerate_support(),
    "weights": lambda m, d: d.MixtureSameFamily(d.Normal(0, 1), d.Normal(0, 1)),
    "parts": lambda m, d: _mixture(m, d, m.ones(2), 3),
    "part count": lambda m, d: _mixture(m, d, m.ones(2), d.Normal(m.ones(3), 1.0)),
    "part batch": lambda m, d: _mixture(m, d, m.ones(4, 2), d.Normal(m.ones(3, 2), 1.0)),
    "transforms": lambda m, d: d.TransformedDistribution(d.Normal(0.0, 1.0), 3),
    "a transform": lambda m, d: d.TransformedDistribution(d.Normal(0.0, 1.0), [3]),
    "independent of a number": lambda m, d: d.constraints.independent(0, 1),
    "independent axes": lambda m, d: d.constraints.independent(d.constraints.real, 1.0),
    "fewer axes": lambda m, d: d.constraints.independent(d.constraints.real, -1),
    "mixture of a number": lambda m, d: d.constraints.MixtureSameFamilyConstraint(0),
    "too few axes": lambda m, d: d.TransformedDistribution(
        d.Normal(0.0, 1.0), d.StickBreakingTransform()
    ),
    "text": lambda m, d: d.Normal("a", 1.0),
    "value": lambda m, d: d.Normal(0.0, 1.0).log_prob(1.0),
    "default": lambda m, d: d.Distribution.set_default_validate_args("yes"),
    "no cdf": lambda m, d: d.Poisson(_t(m, 1.0)).cdf(_t(m, 1.0)),
    "clipped": lambda m, d: d.ContinuousBernoulli(_t(m, 2.0), validate_args=True),
    "register": lambda m, d: d.biject_to.register(3, int),
    "shape": lambda m, d: d.StickBreakingTransform().forward_shape(m.Size()),
    "shape of sticks": lambda m, d: d.StickBreakingTransform().inverse_shape(m.Size()),
    "shape of softmax": lambda m, d: d.SoftmaxTransform().forward_shape(m.Size()),
    "shape of correlations": lambda m, d: d.CorrCholeskyTransform().forward_shape((4,)),
    "no shape of correlations": lambda m, d: d.CorrCholeskyTransform().forward_shape(()),
    "not square": lambda m, d: d.CorrCholeskyTransform().inverse_shape((2, 3)),
    "no matrix of correlations": lambda m, d: d.CorrCholeskyTransform().inverse_shape((2,)),
    "reshape": lambda m, d: d.ReshapeTransform((2,), (3,)),
    "reshape others": lambda m, d: d.ReshapeTransform((2,), (1, 2)).forward_shape((3,)),
    "reshape few": lambda m, d: d.ReshapeTransform((2,), (1, 2)).inverse_shape((3,)),
    "independent few": lambda m, d: d.IndependentTransform(d.ExpTransform(), 1)(m.tensor(1.0)),
    "inverse few": lambda m, d: d.IndependentTransform(d.ExpTransform(), 1).inv(m.tensor(1.0)),
    "cat of parts": lambda m, d: d.CatTransform([d.ExpTransform(), 3]),
    "cat lengths": lambda m, d: d.CatTransform([d.ExpTransform()], 0, [1, 2]),
    "cat axis": lambda m, d: d.CatTransform([d.ExpTransform()], 3)(m.ones(1)),
    "cat length": lambda m, d: d.CatTransform([d.ExpTransform()], 0, [2])(m.ones(3)),
    "stack length": lambda m, d: d.StackTransform([d.ExpTransform()])(m.ones(3)),
    "base": lambda m, d: _sub(d)().rsample(),
    "base log_prob": lambda m, d: _sub(d)().log_prob(m.ones(1)),
    "base support": lambda m, d: _sub(d)().support,
    "base mode": lambda m, d: _sub(d)().mode,
    "base expand": lambda m, d: _sub(d)().expand((2,)),
    "base transform": lambda m, d: d.Transform()(m.ones(1)),
    # values
    "precision": lambda m, d: _mvn(m, d, covariance_matrix=_t(m, *MATRIX)).precision_matrix,
    "covariance": lambda m, d: _mvn(m, d, precision_matrix=_t(m, *MATRIX)).covariance_matrix,
    "factor": lambda m, d: _mvn(m, d, precision_matrix=_t(m, *MATRIX)).scale_tril,
    "wishart precision": lambda m, d: d.Wishart(_t(m, 4.0), _t(m, *MATRIX)).precision_matrix,
    "wishart factor": lambda m, d: d.Wishart(_t(m, 4.0), _t(m, *MATRIX)).scale_tril,
    "low rank precision": lambda m, d: _low(m, d).precision_matrix,
    "low rank factor": lambda m, d: _low(m, d).scale_tril,
    "integer": lambda m, d: d.Gamma(_t(m, 1.0), _t(m, 2.0)).log_prob(3),
    "chi2": lambda m, d: d.Chi2(_t(m, 3.0)).df,
    "log_cdf": lambda m, d: d.Geometric(_t(m, 0.5, 1.0)).log_prob(_t(m, 0.0)),
    "certain": lambda m, d: d.Categorical(_t(m, 0.0, 1.0)).entropy(),
    "impossible": lambda m, d: d.Multinomial(2, _t(m, 0.0, 1.0)).log_prob(_t(m, 0.0, 2.0)),
    "ordinary numbers": lambda m, d: d.Normal(1, 2).log_prob(m.tensor(3.0)),
    "repr": lambda m, d: [
        repr(x)
        for x in (
            d.Normal(m.zeros(2), 1.0),
            d.Uniform(0.0, 1.0),
            d.Independent(d.Normal(m.zeros(2), 1.0), 1),
            d.Bernoulli(logits=m.zeros(3)),
            d.AffineTransform(0, 1).inv,
            d.ComposeTransform([d.ExpTransform(), d.TanhTransform()]),
            d.IndependentTransform(d.ExpTransform(), 1),
            d.constraints.dependent_property(),
            _mixture(m, d, m.ones(2), d.Normal(m.zeros(2), 1.0)),
        )
    ],
    "equal transforms": lambda m, d: [
        d.ExpTransform() == d.ExpTransform(),
        d.ExpTransform() == d.TanhTransform(),
        d.ExpTransform() != d.ExpTransform(),
        d.AffineTransform(1, 2) == d.AffineTransform(1, 2.0),
        d.AffineTransform(1, 2) == d.AffineTransform(1, 3),
        d.AffineTransform(_t(m, 1.0), 2) == d.AffineTransform(_t(m, 1.0), 2),
        d.ExpTransform().inv == d.ExpTransform().inv,
        d.ComposeTransform([d.ExpTransform()]) == d.ComposeTransform([d.ExpTransform()]),
        d.PowerTransform(2) == d.PowerTransform(3),
    ],
}


def _outcome(f: Callable[[], Any]) -> Any:
    try:
        found = f()
    except Exception as error:
        return type(error)
    return found.numpy() if hasattr(found, "numpy") else found


@pytest.mark.parametrize("name", CALLS)
def test_the_same_outcome(name: str) -> None:
    mine, wanted = (_outcome(lambda m=m, d=d: CALLS[name](m, d)) for m, d in BOTH)
    if isinstance(wanted, np.ndarray):
        np.testing.assert_allclose(mine, wanted, rtol=1e-10)
    else:
        assert mine == wanted


FAMILIES: dict[str, Callable[[Any, Any], Any]] = {
    "Normal": lambda m, d: d.Normal(_t(m, 0.3), _t(m, 2.0)),
    "Bernoulli": lambda m, d: d.Bernoulli(_t(m, 0.3)),
    "Beta": lambda m, d: d.Beta(_t(m, 0.3), _t(m, 2.0)),
    "Dirichlet": lambda m, d: d.Dirichlet(_t(m, 0.3, 2.0)),
    "Exponential": lambda m, d: d.Exponential(_t(m, 0.3)),
    "Gamma": lambda m, d: d.Gamma(_t(m, 0.3), _t(m, 2.0)),
    "Poisson": lambda m, d: d.Poisson(_t(m, 0.3)),
    "ContinuousBernoulli": lambda m, d: d.ContinuousBernoulli(_t(m, 0.3)),
    "Wishart": lambda m, d: d.Wishart(_t(m, 4.0)[0], _t(m, *MATRIX)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_exponential_families(name: str) -> None:
    found = []
    for module, d in BOTH:
        p = FAMILIES[name](module, d)
        naturals = [x.numpy() for x in p._natural_params]
        normalizer = p._log_normalizer(*p._natural_params).numpy()
        found.append(
            [
                *naturals,
                normalizer,
                _outcome(lambda p=p, d=d: d.ExponentialFamily.entropy(p).detach()),
            ]
        )
    for mine, wanted in zip(*found, strict=True):
        if isinstance(wanted, type):
            assert mine is wanted
        else:
            np.testing.assert_allclose(mine, wanted, rtol=1e-9)


@pytest.fixture
def validation() -> Iterator[None]:
    """What the test sets as the default does not stay."""
    before = ours.Distribution._validate_args
    yield
    ours.Distribution.set_default_validate_args(before)


@pytest.mark.usefixtures("validation")
def test_default_of_validation() -> None:
    ours.Distribution.set_default_validate_args(False)
    assert ours.Normal(0.0, -1.0).scale.item() == -1.0
    with pytest.raises(ValueError):
        ours.Normal(0.0, -1.0, validate_args=True)
    ours.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="scale"):
        ours.Normal(0.0, -1.0)


def test_warnings() -> None:
    class Bare(ours.Distribution):
        """Without constraints."""

    with pytest.warns(UserWarning, match="arg_constraints"):
        d = Bare(compat.Size([2]), validate_args=True)
    with pytest.warns(UserWarning, match="support"):
        d._validate_sample(compat.ones(2))
    with pytest.warns(UserWarning, match="sample_n"):
        assert ours.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_subclasses_need_their_own_expand() -> None:
    class Unit(ours.Normal):
        """With another constructor."""

        def __init__(self) -> None:
            super().__init__(0.0, 1.0)

    with pytest.raises(NotImplementedError, match="expand"):
        Unit().expand((2,))


def test_lazy_properties_and_copies() -> None:
    d = ours.Categorical(logits=compat.zeros(2, requires_grad=True))
    with compat.no_grad():
        probs = d.probs
    assert probs.requires_grad and d.probs is probs
    assert isinstance(ours.Categorical.probs, property)
    for twin in (
        copy.deepcopy(ours.Gamma(1.0, 2.0)),
        pickle.loads(pickle.dumps(ours.Gamma(1.0, 2.0))),
    ):
        assert twin.mean.item() == 0.5


def test_names_are_loaded_when_they_are_asked_for() -> None:
    with pytest.raises(AttributeError, match=r"Did you mean torch\.distributions\.Normal"):
        _ = ours.Normall  # type: ignore[attr-defined]
    assert set(ours.__all__) <= set(dir(ours))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ours.kl.kl_divergence is ours.kl_divergence
