"""Samples of `compat.distributions`: their moments, their distribution and their gradients."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_distributions_table import CASES, Case

import compat
from compat import distributions as ours
from compat.ops.gamma_draws import log_standard_gamma

stats: Any = pytest.importorskip("scipy.stats")
special: Any = importlib.import_module("scipy.special")
try:
    torch: Any = importlib.import_module("torch")
    theirs: Any = importlib.import_module("torch.distributions")
except ImportError:
    torch = theirs = None
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

N = 4000
# On a circle, or with tails that make moments of samples useless.
WILD = {"VonMises", "Pareto", "FisherSnedecor", "InverseGamma", "GeneralizedPareto"}
WILD |= {"LogNormal", "HalfCauchy"}


def _f64(x: Any, grad: bool = False) -> Any:
    return compat.tensor(np.asarray(x).tolist(), dtype=compat.float64, requires_grad=grad)


def _of(c: Case) -> Any:
    given = {k: _f64(v) if isinstance(v, np.ndarray) else v for k, v in c.parameters.items()}
    return getattr(ours, c.name)(**given)


@pytest.mark.parametrize("c", CASES, ids=lambda c: c.name)
def test_samples_have_the_moments_and_the_support(c: Case) -> None:
    compat.manual_seed(5)
    d = _of(c)
    x = d.sample((N,))
    assert x.shape == (N, *d.batch_shape, *d.event_shape) and not x.requires_grad
    assert d.support.check(x).all()
    try:
        mean, variance = d.mean.numpy(), d.variance.numpy()
    except NotImplementedError:
        return
    known = np.isfinite(mean) & np.isfinite(variance)
    if c.name in WILD:
        return
    error = np.abs(x.double().mean(0).numpy() - mean) / np.sqrt(variance / N)
    assert (error[known] < 5).all()
    ratio = x.double().var(0).numpy() / variance
    assert (np.abs(ratio[known & np.broadcast_to(variance > 0, known.shape)] - 1) < 0.5).all()


CONTINUOUS: dict[str, tuple[Callable[[], Any], Any]] = {
    "Normal": (lambda: ours.Normal(_f64(1.0), _f64(2.0)), stats.norm(1, 2)),
    "Uniform": (lambda: ours.Uniform(_f64(1.0), _f64(2.0)), stats.uniform(1, 1)),
    "Exponential": (lambda: ours.Exponential(_f64(2.0)), stats.expon(0, 0.5)),
    "Gamma": (lambda: ours.Gamma(_f64(0.3), _f64(2.0)), stats.gamma(0.3, scale=0.5)),
    "large Gamma": (lambda: ours.Gamma(_f64(30.0), _f64(2.0)), stats.gamma(30, scale=0.5)),
    "Beta": (lambda: ours.Beta(_f64(0.3), _f64(0.7)), stats.beta(0.3, 0.7)),
    "Laplace": (lambda: ours.Laplace(_f64(1.0), _f64(2.0)), stats.laplace(1, 2)),
    "LogNormal": (
        lambda: ours.LogNormal(_f64(0.5), _f64(0.7)),
        stats.lognorm(0.7, 0, math.exp(0.5)),
    ),
    "HalfNormal": (lambda: ours.HalfNormal(_f64(2.0)), stats.halfnorm(0, 2)),
    "Cauchy": (lambda: ours.Cauchy(_f64(1.0), _f64(2.0)), stats.cauchy(1, 2)),
    "HalfCauchy": (lambda: ours.HalfCauchy(_f64(2.0)), stats.halfcauchy(0, 2)),
    "StudentT": (lambda: ours.StudentT(_f64(3.0), _f64(1.0), _f64(2.0)), stats.t(3, 1, 2)),
    "Chi2": (lambda: ours.Chi2(_f64(3.0)), stats.chi2(3)),
    "Gumbel": (lambda: ours.Gumbel(_f64(1.0), _f64(2.0)), stats.gumbel_r(1, 2)),
    "Weibull": (lambda: ours.Weibull(_f64(2.0), _f64(1.5)), stats.weibull_min(1.5, 0, 2)),
    "Pareto": (lambda: ours.Pareto(_f64(2.0), _f64(1.5)), stats.pareto(1.5, 0, 2)),
    "InverseGamma": (lambda: ours.InverseGamma(_f64(1.5), _f64(2.0)), stats.invgamma(1.5, 0, 2)),
    "FisherSnedecor": (lambda: ours.FisherSnedecor(_f64(3.0), _f64(5.0)), stats.f(3, 5)),
    "VonMises": (lambda: ours.VonMises(_f64(0.0), _f64(2.0)), stats.vonmises(2.0)),
    "GeneralizedPareto": (
        lambda: ours.GeneralizedPareto(_f64(1.0), _f64(2.0), _f64(0.3)),
        stats.genpareto(0.3, 1, 2),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_have_the_distribution(name: str) -> None:
    """The test of Kolmogorov and Smirnov; the density is SciPy's, too."""
    compat.manual_seed(3)
    make, wanted = CONTINUOUS[name]
    x = make().sample((N,)).numpy()
    assert stats.kstest(x, wanted.cdf).pvalue > 0.001
    np.testing.assert_allclose(
        make().log_prob(_f64(x[:50])).numpy(), wanted.logpdf(x[:50]), 1e-7, 1e-7
    )


@pytest.mark.parametrize("a", [1e-3, 0.1, 0.8, 1.0, 7.0, 300.0, 1e5])
def test_gamma_samples_move_with_the_shape(a: float) -> None:
    """``dx/da`` at a fixed probability, against differences of SciPy's inverse."""
    compat.manual_seed(1)
    shape = _f64([a] * 40, grad=True)
    log_x = log_standard_gamma(shape)
    (slope,) = compat.autograd.grad(log_x.sum(), shape)
    x, h = log_x.detach().exp().numpy(), 1e-4 * a
    p = special.gammainc(a, x)
    known = (x > 1e-290) & (p > 1e-3) & (p < 0.999)
    p = p[known]
    rise = np.log(special.gammaincinv(a + h, p)) - np.log(special.gammaincinv(a - h, p))
    np.testing.assert_allclose(slope.numpy()[known], rise / (2 * h), rtol=1e-5)


@pytest.mark.parametrize("a", [0.1, 0.8, 7.0, 300.0])
def test_second_derivatives_of_gamma_samples(a: float) -> None:
    compat.manual_seed(1)
    shape = _f64([a] * 40, grad=True)
    log_x = log_standard_gamma(shape)
    (slope,) = compat.autograd.grad(log_x.sum(), shape, create_graph=True)
    (bend,) = compat.autograd.grad(slope.sum(), shape)
    x, h = log_x.detach().exp().numpy(), 1e-3 * a
    p = special.gammainc(a, x)
    known = (x > 1e-290) & (p > 1e-2) & (p < 0.99)
    at = [np.log(special.gammaincinv(a + k * h, p[known])) for k in (-1, 0, 1)]
    wanted = (at[0] - 2 * at[1] + at[2]) / h**2
    np.testing.assert_allclose(
        bend.numpy()[known], wanted, rtol=1e-3, atol=1e-3 * abs(wanted).max()
    )


REPARAMETERIZED: dict[str, tuple[Callable[..., Any], list[list[float]]]] = {
    "Normal": (ours.Normal, [[1.0], [2.0]]),
    "Uniform": (ours.Uniform, [[1.0], [2.0]]),
    "Laplace": (ours.Laplace, [[1.0], [2.0]]),
    "Exponential": (ours.Exponential, [[2.0]]),
    "Cauchy": (ours.Cauchy, [[1.0], [2.0]]),
    "Gumbel": (ours.Gumbel, [[1.0], [2.0]]),
    "Weibull": (ours.Weibull, [[1.0], [2.0]]),
    "Pareto": (ours.Pareto, [[1.0], [2.0]]),
    "LogNormal": (ours.LogNormal, [[0.5], [0.7]]),
    "HalfNormal": (ours.HalfNormal, [[2.0]]),
    "ContinuousBernoulli": (ours.ContinuousBernoulli, [[0.3]]),
    "GeneralizedPareto": (ours.GeneralizedPareto, [[1.0], [2.0], [0.3]]),
    "Gamma": (ours.Gamma, [[1.5], [2.0]]),
}


@pytest.mark.parametrize("name", REPARAMETERIZED)
def test_rsample_keeps_the_probability_below_it(name: str) -> None:
    """What PyTorch's gradients are of: ``dx/dt = -(dF/dt) / p(x)`` for every parameter t."""
    compat.manual_seed(2)
    make, values = REPARAMETERIZED[name]
    leaves = [_f64(v * 30, grad=True) for v in values]
    d = make(*leaves)
    assert d.has_rsample
    x = d.rsample()
    slopes = compat.autograd.grad(x.sum(), leaves)
    x = x.detach()
    below = compat.autograd.grad(make(*leaves).cdf(x).sum(), leaves)
    density = d.log_prob(x).exp().detach()
    for slope, rise in zip(slopes, below, strict=True):
        np.testing.assert_allclose(slope.numpy(), (-rise / density).numpy(), rtol=1e-6, atol=1e-8)


MOMENTS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "Beta": (lambda t: ours.Beta(t[0], t[1]), [0.8, 2.0]),
    "Dirichlet": (lambda t: ours.Dirichlet(t), [0.8, 2.0, 1.0]),
    "Chi2": (lambda t: ours.Chi2(t[0]), [3.0]),
    "InverseGamma": (lambda t: ours.InverseGamma(t[0], t[1]), [5.0, 2.0]),
    "StudentT": (lambda t: ours.StudentT(t[0], t[1], t[2]), [9.0, 1.0, 2.0]),
    "FisherSnedecor": (lambda t: ours.FisherSnedecor(t[0], t[1]), [3.0, 12.0]),
    "Kumaraswamy": (lambda t: ours.Kumaraswamy(t[0], t[1]), [1.5, 2.0]),
    "MultivariateNormal": (
        lambda t: ours.MultivariateNormal(t[:2], compat.diag(t[2:])),
        [1, 2, 3, 4.0],
    ),
    "LowRank": (
        lambda t: ours.LowRankMultivariateNormal(t[:2], t[2:4].unsqueeze(-1), t[4:]),
        [1, 2, 3, 4, 5, 6.0],
    ),
    "Wishart": (lambda t: ours.Wishart(t[0], scale_tril=compat.diag(t[1:])), [4.0, 1.0, 0.7]),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_rsample_has_the_gradients_of_the_moments(name: str) -> None:
    compat.manual_seed(4)
    make, values = MOMENTS[name]
    t = _f64(values, grad=True)
    d = make(t)
    x = d.rsample((20 * N,))
    weight = compat.arange(1.0, 1 + d.event_shape.numel(), dtype=compat.float64)
    weight = weight.reshape(d.event_shape)
    (found,) = compat.autograd.grad(((x.mean(0) + x.square().mean(0)) * weight).sum(), t)
    again = make(t)
    (wanted,) = compat.autograd.grad(
        ((again.mean + again.variance + again.mean**2) * weight).sum(), t
    )
    scale = max(1.0, float(wanted.abs().max()))
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=0.1, atol=0.02 * scale)


@pytest.mark.parametrize(
    "family", [ours.Chi2, ours.Exponential, ours.StudentT], ids=lambda k: k.__name__
)
def test_rsample_in_transforms(family: Any) -> None:
    def draw(t: Any) -> Any:
        compat.manual_seed(0)
        return family(t, validate_args=False).rsample()

    leaf = _f64(2.5, grad=True)
    draw(leaf).backward()
    assert leaf.grad != 0
    np.testing.assert_allclose(compat.func.grad(draw)(_f64(2.5)).item(), leaf.grad.item())
    _, tangent = compat.func.jvp(draw, (_f64(2.5),), (_f64(1.0),))
    np.testing.assert_allclose(tangent.item(), leaf.grad.item())


def test_straight_through_and_relaxed_samples_have_gradients() -> None:
    compat.manual_seed(0)
    logits = _f64([0.2, 1.0, -0.5], grad=True)
    hard = ours.OneHotCategoricalStraightThrough(logits=logits).rsample((5,))
    np.testing.assert_allclose(hard.detach().sum(-1).numpy(), 1)
    weight = _f64([1.0, 2.0, 4.0])
    (found,) = compat.autograd.grad((hard * weight).sum(), logits)
    (wanted,) = compat.autograd.grad(5 * (logits.softmax(-1) * weight).sum(), logits)
    np.testing.assert_allclose(found.numpy(), wanted.numpy())
    for family in (ours.RelaxedOneHotCategorical, ours.RelaxedBernoulli):
        x = family(_f64(0.5), logits=logits).rsample((5,))
        (found,) = compat.autograd.grad((x * weight).sum(), logits)
        assert found.abs().min() > 0


def test_no_gradient_of_what_is_not_reparameterized() -> None:
    rate = _f64(2.0, grad=True)
    for d in (ours.Poisson(rate), ours.Bernoulli(logits=rate), ours.Categorical(rate.expand(2))):
        assert not d.has_rsample and not d.sample().requires_grad
        with pytest.raises(NotImplementedError):
            d.rsample()


@pytest.mark.parametrize("c", CASES, ids=lambda c: c.name)
def test_samples_are_constants_in_forward_mode_too(c: Case) -> None:
    """`no_grad` does not stop tangents; those of samples moved with the parameters."""
    names = [k for k, v in c.parameters.items() if isinstance(v, np.ndarray)]
    xs = tuple(_f64(c.parameters[k]) for k in names)

    def sample(*given: Any) -> Any:
        d = getattr(ours, c.name)(**{**c.parameters, **dict(zip(names, given, strict=True))})
        return d.sample().double()

    y, moved = compat.func.jvp(sample, xs, tuple(x * 1e-3 for x in xs))
    assert y.isfinite().all() and not moved.any()


def test_seeds() -> None:
    drawn = []
    for _ in range(2):
        compat.manual_seed(7)
        drawn.append([_of(c).sample((2,)).tolist() for c in CASES])
    assert drawn[0] == drawn[1]


def test_categorical_places() -> None:
    """Every row has its own probabilities; a place of probability 0 is never drawn."""
    compat.manual_seed(0)
    rows = np.array([[0.0, 1.0, 0.0], [0.25, 0.0, 0.75], [0.1, 0.2, 0.7]] * 50)
    drawn = ours.Categorical(_f64(rows)).sample((N,))
    assert drawn.dtype is compat.int64
    counts = np.stack([(drawn.numpy() == k).mean(0) for k in range(3)], -1)
    assert (counts[rows == 0] == 0).all()
    np.testing.assert_allclose(counts, rows, atol=5 * 0.5 / math.sqrt(N))
    for bad in ([[0.5, np.nan]], [[0.0, 0.0]], [[-1.0, 3.0]]):
        with pytest.raises(RuntimeError):
            ours.Categorical(_f64(bad), validate_args=False).sample()


def test_draws_in_vmap() -> None:
    shapes = _f64([[0.5, 2.0, 3.0]] * 4)
    each = compat.func.vmap(
        lambda a: ours.Dirichlet(a, validate_args=False).sample(), randomness="different"
    )
    x = each(shapes)
    np.testing.assert_allclose(x.sum(-1).numpy(), 1)
    assert len(set(x[:, 0].tolist())) == 4


def test_policy_gradient_of_a_small_float() -> None:
    logits = compat.zeros(4, 3, requires_grad=True)
    d = ours.Categorical(logits=logits)
    action = d.sample()
    (-d.log_prob(action)).sum().backward()
    wanted = compat.softmax(logits, -1) - compat.nn.functional.one_hot(action, 3)
    assert d.log_prob(action).dtype is compat.float32
    np.testing.assert_allclose(logits.grad.numpy(), wanted.detach().numpy(), rtol=1e-6)


def _others(m: Any, d: Any) -> list[Any]:
    """Distributions made of others, with values for them."""
    t = lambda x: m.tensor(x, dtype=m.float64)  # noqa: E731
    normal = d.Normal(t([[0.3, 1.0, -1.0]]), t([[1.0], [2.0]]))
    parts = d.MixtureSameFamily(d.Categorical(t([[0.2, 0.5, 0.3]])), normal)
    vectors = d.MixtureSameFamily(d.Categorical(logits=t([0.2, 0.5])), d.Independent(normal, 1))
    steps = [d.TanhTransform(), d.AffineTransform(1.0, -2.0)]
    return [
        (d.Independent(normal, 1), t([0.2, 0.3, 0.4])),
        (d.Independent(normal, 2), t([0.2, 0.3, 0.4]) + t([[1.0], [2.0]])),
        (d.TransformedDistribution(normal, steps), t([0.2, 0.3, 0.4])),
        (d.TransformedDistribution(normal, []), t([0.2, 0.3, 0.4])),
        (d.TransformedDistribution(normal, d.StickBreakingTransform()), t([0.2, 0.3, 0.4, 0.1])),
        (
            d.TransformedDistribution(d.Exponential(t(1.0)), d.AffineTransform(0, t([1.0, 2.0]))),
            t(0.5),
        ),
        (d.TransformedDistribution(normal, d.ReshapeTransform((3,), (3, 1))), t([[0.2], [1], [2]])),
        (parts, t([0.5, 1.0])),
        (vectors, t([0.2, 0.3, 0.4])),
    ]


@needs_torch
@pytest.mark.parametrize("i", range(9))
def test_distributions_of_distributions(i: int) -> None:
    found = []
    for module, family in ((compat, ours), (torch, theirs)):
        d, x = _others(module, family)[i]
        wide = d.expand((5, *d.batch_shape))
        row: list[Any] = [tuple(d.batch_shape), tuple(d.event_shape), bool(d.has_rsample)]
        row += [tuple(wide.sample((2,)).shape), tuple(wide.batch_shape), d.support.event_dim]
        for read in (
            lambda d=d, x=x: d.log_prob(x),
            lambda w=wide, x=x: w.log_prob(x),
            lambda d=d, x=x: d.cdf(x),
            lambda d=d, x=x: d.icdf(x.clamp(0.1, 0.9)),
            lambda d=d: d.mean,
            lambda d=d: d.variance,
            lambda d=d: d.mode,
            lambda d=d: d.entropy(),
        ):
            try:
                row.append(read().numpy())
            except Exception as error:
                row.append(type(error))
        found.append(row)
    for mine, wanted in zip(*found, strict=True):
        if isinstance(wanted, np.ndarray):
            np.testing.assert_allclose(mine, wanted, rtol=1e-10, atol=1e-12)
        else:
            assert mine == wanted
