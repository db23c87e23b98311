"""`compat.distributions`: probability distributions over tensors, as PyTorch has them.

Samples, densities, entropies and divergences are composed of the functions of `compat`; gradients
come from its tape.

>>> import compat as torch
>>> from compat.distributions import Normal, kl_divergence
>>> loc = torch.tensor(1.0, requires_grad=True)
>>> kl_divergence(Normal(loc, 1.0), Normal(0.0, 1.0)).backward()
>>> loc.grad
tensor(1.)
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .._missing import explain as _explain_missing

if _TYPE_CHECKING:
    from . import constraints as constraints
    from . import kl as kl
    from . import transforms as transforms
    from . import utils as utils
    from .bernoulli import Bernoulli as Bernoulli
    from .beta import Beta as Beta
    from .binomial import Binomial as Binomial
    from .categorical import Categorical as Categorical
    from .cauchy import Cauchy as Cauchy
    from .chi2 import Chi2 as Chi2
    from .constraint_registry import biject_to as biject_to
    from .constraint_registry import transform_to as transform_to
    from .continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
    from .dirichlet import Dirichlet as Dirichlet
    from .distribution import Distribution as Distribution
    from .exp_family import ExponentialFamily as ExponentialFamily
    from .exponential import Exponential as Exponential
    from .fishersnedecor import FisherSnedecor as FisherSnedecor
    from .gamma import Gamma as Gamma
    from .generalized_pareto import GeneralizedPareto as GeneralizedPareto
    from .geometric import Geometric as Geometric
    from .gumbel import Gumbel as Gumbel
    from .half_cauchy import HalfCauchy as HalfCauchy
    from .half_normal import HalfNormal as HalfNormal
    from .independent import Independent as Independent
    from .inverse_gamma import InverseGamma as InverseGamma
    from .kl import kl_divergence as kl_divergence
    from .kl import register_kl as register_kl
    from .kumaraswamy import Kumaraswamy as Kumaraswamy
    from .laplace import Laplace as Laplace
    from .lkj_cholesky import LKJCholesky as LKJCholesky
    from .log_normal import LogNormal as LogNormal
    from .logistic_normal import LogisticNormal as LogisticNormal
    from .lowrank_multivariate_normal import LowRankMultivariateNormal as LowRankMultivariateNormal
    from .mixture_same_family import MixtureSameFamily as MixtureSameFamily
    from .multinomial import Multinomial as Multinomial
    from .multivariate_normal import MultivariateNormal as MultivariateNormal
    from .negative_binomial import NegativeBinomial as NegativeBinomial
    from .normal import Normal as Normal
    from .one_hot_categorical import OneHotCategorical as OneHotCategorical
    from .one_hot_categorical import (
        OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
    )
    from .pareto import Pareto as Pareto
    from .poisson import Poisson as Poisson
    from .relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
    from .relaxed_categorical import RelaxedOneHotCategorical as RelaxedOneHotCategorical
    from .studentT import StudentT as StudentT
    from .transformed_distribution import TransformedDistribution as TransformedDistribution
    from .transforms import AbsTransform as AbsTransform
    from .transforms import AffineTransform as AffineTransform
    from .transforms import CatTransform as CatTransform
    from .transforms import ComposeTransform as ComposeTransform
    from .transforms import CorrCholeskyTransform as CorrCholeskyTransform
    from .transforms import CumulativeDistributionTransform as CumulativeDistributionTransform
    from .transforms import ExpTransform as ExpTransform
    from .transforms import IndependentTransform as IndependentTransform
    from .transforms import LowerCholeskyTransform as LowerCholeskyTransform
    from .transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
    from .transforms import PowerTransform as PowerTransform
    from .transforms import ReshapeTransform as ReshapeTransform
    from .transforms import SigmoidTransform as SigmoidTransform
    from .transforms import SoftmaxTransform as SoftmaxTransform
    from .transforms import SoftplusTransform as SoftplusTransform
    from .transforms import StackTransform as StackTransform
    from .transforms import StickBreakingTransform as StickBreakingTransform
    from .transforms import TanhTransform as TanhTransform
    from .transforms import Transform as Transform
    from .transforms import identity_transform as identity_transform
    from .uniform import Uniform as Uniform
    from .von_mises import VonMises as VonMises
    from .weibull import Weibull as Weibull
    from .wishart import Wishart as Wishart

# Where the names are. They are loaded when they are first asked for: few scripts need any.
_PLACES = {
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "cauchy": "Cauchy",
    "chi2": "Chi2",
    "constraint_registry": "biject_to transform_to",
    "continuous_bernoulli": "ContinuousBernoulli",
    "dirichlet": "Dirichlet",
    "distribution": "Distribution",
    "exp_family": "ExponentialFamily",
    "exponential": "Exponential",
    "fishersnedecor": "FisherSnedecor",
    "gamma": "Gamma",
    "generalized_pareto": "GeneralizedPareto",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy",
    "half_normal": "HalfNormal",
    "independent": "Independent",
    "inverse_gamma": "InverseGamma",
    "kl": "kl_divergence register_kl",
    "kumaraswamy": "Kumaraswamy",
    "laplace": "Laplace",
    "lkj_cholesky": "LKJCholesky",
    "log_normal": "LogNormal",
    "logistic_normal": "LogisticNormal",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial",
    "normal": "Normal",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
    "pareto": "Pareto",
    "poisson": "Poisson",
    "relaxed_bernoulli": "RelaxedBernoulli",
    "relaxed_categorical": "RelaxedOneHotCategorical",
    "studentT": "StudentT",
    "transformed_distribution": "TransformedDistribution",
    "transforms": (
        "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform "
        "CumulativeDistributionTransform ExpTransform IndependentTransform "
        "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
        "SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform "
        "StickBreakingTransform TanhTransform Transform identity_transform "
    ),
    "uniform": "Uniform",
    "von_mises": "VonMises",
    "weibull": "Weibull",
    "wishart": "Wishart",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = sorted(_MODULES)

_explain_missing("torch.distributions", globals())
_explain = globals()["__getattr__"]


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        found = getattr(_importlib.import_module(f".{_MODULES[name]}", __name__), name)
    elif name in ("constraints", "kl", "utils") or name in _PLACES:
        found = _importlib.import_module(f".{name}", __name__)
    else:
        found = _explain(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
