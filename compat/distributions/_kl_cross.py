"""Divergences between distributions of two families, see `kl`.

Each is ``-entropy(p) - E_p[log q(x)]``; the functions of `_minus_log` give the second part.
"""

from __future__ import annotations

import math
from typing import Any

import compat as torch

from ._kl_registry import register_kl
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

_BOUNDED = (Beta, ContinuousBernoulli, Uniform)
_POSITIVE = (Exponential, Gamma, Pareto)
# p goes where q cannot.
_NEVER: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (*_BOUNDED, Pareto),
    Gamma: (*_BOUNDED, Pareto),
    Gumbel: (*_BOUNDED, *_POSITIVE),
    Laplace: (*_BOUNDED, *_POSITIVE),
    Normal: (*_BOUNDED, *_POSITIVE),
    Pareto: _BOUNDED,
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Any, q: Any) -> Any:
    return torch.full_like(p.mean, math.inf)


for _kind, _others in _NEVER.items():
    for _other in _others:
        register_kl(_kind, _other)(_infinite)


# ---------------------------------------------------------------- expectations of log q


def _minus_log_normal(p: Any, q: Any) -> Any:
    square = p.variance + (p.mean - q.loc).pow(2)
    return q.scale.log() + 0.5 * math.log(2 * math.pi) + 0.5 * square / q.scale.pow(2)


def _minus_log_exponential(p: Any, q: Any) -> Any:
    return q.rate * p.mean - q.rate.log()


def _minus_log_gamma(p: Any, q: Any, mean_log: Any) -> Any:
    a = q.concentration
    return torch.lgamma(a) - a * q.rate.log() - (a - 1) * mean_log + q.rate * p.mean


def _minus_log_continuous_bernoulli(p: Any, q: Any) -> Any:
    return -p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()


def _minus_log_gumbel(p: Any, q: Any, moment: Any) -> Any:
    """`moment` is the expectation of ``e**(-x / scale)``."""
    return q.scale.log() + (p.mean - q.loc) / q.scale + torch.exp(q.loc / q.scale) * moment


def _where_inside(inside: Any, found: Any) -> Any:
    return torch.where(inside, found, math.inf)


# ---------------------------------------------------------------- pairs


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _any_normal(p: Any, q: Any) -> Any:
    return _minus_log_normal(p, q) - p.entropy()


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _positive_exponential(p: Any, q: Any) -> Any:
    return _minus_log_exponential(p, q) - p.entropy()


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _unit_uniform(p: Any, q: Any) -> Any:
    inside = (q.low <= 0) & (q.high >= 1)
    return _where_inside(inside, (q.high - q.low).log() - p.entropy())


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Any, q: Any) -> Any:
    return _minus_log_continuous_bernoulli(p, q) - p.entropy()


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration1, p.concentration0
    return _minus_log_gamma(p, q, a.digamma() - (a + b).digamma()) - p.entropy()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return q.rate - p.probs * q.rate.log() - p.entropy()


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    mean_log = -euler_constant - p.rate.log()
    return _minus_log_gamma(p, q, mean_log) - p.entropy()


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    return _minus_log_gumbel(p, q, product / (product + 1)) - p.entropy()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    moment = (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration)
    return _minus_log_gumbel(p, q, moment) - p.entropy()


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    moment = torch.exp(-p.mean / q.scale + 0.5 * (p.scale / q.scale).pow(2))
    return _minus_log_gumbel(p, q, moment) - p.entropy()


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    d = p.loc - q.loc
    near = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * (d / p.scale).pow(2))
    distance = near + d * torch.erf(math.sqrt(0.5) * d / p.scale)
    return (2 * q.scale).log() + distance / q.scale - p.entropy()


def _pareto_gamma(p: Any, q: Any) -> Any:
    return _minus_log_gamma(p, q, p.scale.log() + p.alpha.reciprocal()) - p.entropy()


def _of_pareto(formula: Any, order: int) -> Any:
    """Infinite where the Pareto distribution has no moment of the order, also for the gradients."""

    def divergence(p: Any, q: Any) -> Any:
        finite = p.alpha > order
        alpha = torch.where(finite, p.alpha, order + 1.0)
        return _where_inside(finite, formula(Pareto(p.scale, alpha, validate_args=False), q))

    return divergence


register_kl(Pareto, Exponential)(_of_pareto(_positive_exponential, 1))
register_kl(Pareto, Gamma)(_of_pareto(_pareto_gamma, 1))
register_kl(Pareto, Normal)(_of_pareto(_any_normal, 2))


def _mean_log(p: Any) -> Any:
    """The expectation of ``log x`` for a uniform `x`."""
    rise = torch.xlogy(p.high, p.high) - torch.xlogy(p.low, p.low)
    return rise / (p.high - p.low) - 1


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    mirrored = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    found = normalizer - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(mirrored) - p.entropy()
    return _where_inside((p.low >= 0) & (p.high <= 1), found)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    found = _minus_log_continuous_bernoulli(p, q) - p.entropy()
    return _where_inside((p.low >= 0) & (p.high <= 1), found)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return _where_inside(p.low >= 0, _minus_log_exponential(p, q) - p.entropy())


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    return _where_inside(p.low >= 0, _minus_log_gamma(p, q, _mean_log(p)) - p.entropy())


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    share = q.scale / (p.high - p.low)
    moment = share * (torch.exp(-p.low / q.scale) - torch.exp(-p.high / q.scale))
    return _minus_log_gumbel(p, q, moment) - p.entropy()


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    minus_log = (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()
    return _where_inside(p.low >= q.scale, minus_log - p.entropy())
