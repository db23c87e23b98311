"""The distributions that `test_distributions.py` compares with PyTorch's, as data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compat import distributions


class Case(NamedTuple):
    """A distribution, its parameters, and values that it may take."""

    name: str
    parameters: dict[str, Any]
    values: Any
    bad: dict[str, Any] | None = None
    bad_value: Any = None


def _a(*numbers: Any) -> np.ndarray:
    return np.array(numbers, np.float64)


LOC, SCALE = _a([0.3], [-1.2]), _a(0.7, 1.5, 2.0)
REAL = _a([0.5, -1.0, 2.0], [0.1, 0.4, -3.0])
UNIT = _a([0.2, 0.5, 0.9], [0.01, 0.4999, 0.7])
ABOVE = _a([0.2, 1.5, 4.0], [0.6, 0.01, 2.0])
COUNTS = _a([0, 1, 4], [2, 0, 3])
CHANCES = _a([0.2], [0.7])
ODDS = _a([0.5], [-2.0])
ROWS = _a([0.2, 0.3, 0.5], [0.6, 0.3, 0.1])
ONE_HOT = _a([0, 1, 0], [1, 0, 0])
COVARIANCE = _a([2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5])
FACTOR = np.linalg.cholesky(COVARIANCE)
CORRELATION = np.linalg.cholesky(_a([1.0, 0.3, -0.2], [0.3, 1.0, 0.4], [-0.2, 0.4, 1.0]))
BELOW_ZERO = {"scale": _a(-1.0, 1.0, 1.0)}

CASES = [
    Case("Normal", {"loc": LOC, "scale": SCALE}, REAL, BELOW_ZERO, _a(np.nan)),
    Case(
        "Categorical",
        {"probs": ROWS},
        np.array([2, 0]),
        {"probs": ROWS * _a(-1, 1, 1)},
        np.array([3, 0]),
    ),
    Case("Categorical", {"logits": REAL}, np.array([[2, 0], [1, 1]]), {"logits": REAL * np.nan}),
    Case("Bernoulli", {"probs": CHANCES}, _a([0, 1, 1]), {"probs": CHANCES + 1}, _a(0.5)),
    Case("Bernoulli", {"logits": ODDS}, _a([0, 1, 1]), {"logits": ODDS * np.nan}, _a(2.0)),
    Case("Uniform", {"low": LOC, "high": SCALE + 3}, UNIT + 0.5, {"high": LOC}, _a(9.0)),
    Case("MultivariateNormal", {"loc": LOC + _a(0, 1, 2), "covariance_matrix": COVARIANCE}, REAL),
    Case("MultivariateNormal", {"loc": REAL[0], "precision_matrix": COVARIANCE}, REAL),
    Case(
        "MultivariateNormal",
        {"loc": REAL, "scale_tril": FACTOR},
        REAL,
        {"scale_tril": FACTOR.T},
        _a(1.0, 2.0),
    ),
    Case("Exponential", {"rate": SCALE}, ABOVE, {"rate": -SCALE}, _a(-1.0)),
    Case(
        "Gamma", {"concentration": ABOVE, "rate": SCALE}, ABOVE.T[:1].T, {"rate": -SCALE}, _a(-1.0)
    ),
    Case(
        "Beta",
        {"concentration1": ABOVE, "concentration0": SCALE},
        UNIT,
        {"concentration0": -SCALE},
        _a(1.5),
    ),
    Case("Dirichlet", {"concentration": ABOVE}, ROWS, {"concentration": -ABOVE}, ROWS + 1),
    Case("Dirichlet", {"concentration": ABOVE / 5}, ROWS),
    Case("Laplace", {"loc": LOC, "scale": SCALE}, REAL, BELOW_ZERO, _a(np.nan)),
    Case("LogNormal", {"loc": LOC, "scale": SCALE}, ABOVE, BELOW_ZERO, _a(-1.0)),
    Case("HalfNormal", {"scale": SCALE}, ABOVE, BELOW_ZERO, _a(-1.0)),
    Case("Poisson", {"rate": SCALE}, COUNTS, {"rate": -SCALE}, _a(0.5)),
    Case("Binomial", {"total_count": 4, "probs": CHANCES}, COUNTS, {"probs": CHANCES + 1}, _a(5.0)),
    Case("Binomial", {"total_count": _a(4, 5, 6), "logits": ODDS}, COUNTS),
    Case("Multinomial", {"total_count": 5, "probs": ROWS}, _a([1, 2, 2], [5, 0, 0])),
    Case("Multinomial", {"total_count": 3, "logits": REAL}, _a([1, 0, 2]), None, _a(9.0, 0, 0)),
    Case(
        "OneHotCategorical",
        {"probs": ROWS},
        ONE_HOT,
        {"probs": ROWS * _a(-1, 1, 1)},
        _a(1.0, 1.0, 0.0),
    ),
    Case("OneHotCategoricalStraightThrough", {"logits": REAL}, ONE_HOT),
    Case("Cauchy", {"loc": LOC, "scale": SCALE}, REAL, BELOW_ZERO, _a(np.nan)),
    Case("HalfCauchy", {"scale": SCALE}, ABOVE, BELOW_ZERO, _a(-1.0)),
    Case(
        "StudentT",
        {"df": _a([0.5], [1.5], [5.0]), "loc": LOC[:1], "scale": SCALE},
        REAL[:1],
        {"df": -SCALE},
        _a(np.nan),
    ),
    Case("Chi2", {"df": SCALE}, ABOVE, {"df": -SCALE}, _a(-1.0)),
    Case("Geometric", {"probs": CHANCES}, COUNTS, {"probs": CHANCES * 0}, _a(-1.0)),
    Case("Geometric", {"logits": ODDS}, COUNTS),
    Case("Gumbel", {"loc": LOC, "scale": SCALE}, REAL, BELOW_ZERO, _a(np.nan)),
    Case("Weibull", {"scale": SCALE, "concentration": SCALE + 1}, ABOVE, BELOW_ZERO, _a(-1.0)),
    Case("Pareto", {"scale": SCALE, "alpha": _a([0.5], [3.0])}, ABOVE + 2, BELOW_ZERO, _a(0.1)),
    Case(
        "Kumaraswamy",
        {"concentration1": _a([0.5], [3.0]), "concentration0": SCALE},
        UNIT,
        {"concentration0": -SCALE},
        _a(1.5),
    ),
    Case(
        "NegativeBinomial",
        {"total_count": SCALE, "probs": CHANCES},
        COUNTS,
        {"probs": CHANCES + 1},
        _a(0.5),
    ),
    Case("NegativeBinomial", {"total_count": 3, "logits": ODDS}, COUNTS),
    Case("VonMises", {"loc": LOC, "concentration": SCALE}, REAL, {"concentration": -SCALE}),
    Case(
        "LowRankMultivariateNormal",
        {"loc": REAL, "cov_factor": FACTOR[:, :2], "cov_diag": SCALE},
        REAL,
        {"cov_diag": -SCALE},
        _a(1.0, 2.0),
    ),
    Case("RelaxedBernoulli", {"temperature": _a(0.5), "probs": CHANCES}, UNIT, None, _a(1.5)),
    Case("RelaxedBernoulli", {"temperature": _a(0.5), "logits": ODDS}, UNIT),
    Case("RelaxedOneHotCategorical", {"temperature": _a(0.5), "probs": ROWS}, ROWS, None, ROWS + 1),
    Case("RelaxedOneHotCategorical", {"temperature": _a(0.7), "logits": REAL}, ROWS),
    Case("ContinuousBernoulli", {"probs": CHANCES}, UNIT, None, _a(1.5)),
    Case("ContinuousBernoulli", {"probs": _a([0.4995], [0.5])}, UNIT),
    Case("ContinuousBernoulli", {"logits": ODDS}, UNIT),
    Case(
        "InverseGamma",
        {"concentration": _a([0.5], [3.0]), "rate": SCALE},
        ABOVE,
        {"rate": -SCALE},
        _a(-1.0),
    ),
    Case("FisherSnedecor", {"df1": _a([1.5], [3.0]), "df2": SCALE * 3}, ABOVE, {"df1": -SCALE}),
    Case(
        "LogisticNormal", {"loc": LOC + _a(0, 1), "scale": SCALE[:2]}, ROWS, {"scale": -SCALE[:2]}
    ),
    Case("LKJCholesky", {"dim": 3, "concentration": SCALE}, CORRELATION, {"dim": 1}),
    Case("Wishart", {"df": _a(4.5, 3.0), "covariance_matrix": COVARIANCE}, COVARIANCE * 3),
    Case(
        "Wishart",
        {"df": _a(5.0), "scale_tril": FACTOR},
        COVARIANCE,
        {"df": _a(1.0)},
        -COVARIANCE,
    ),
    Case("Wishart", {"df": _a(5.0), "precision_matrix": COVARIANCE}, COVARIANCE),
    Case(
        "GeneralizedPareto",
        {"loc": _a(0.1), "scale": SCALE, "concentration": _a([0.0], [0.3], [-0.1], [1.5])},
        ABOVE[:1] + 0.1,
        BELOW_ZERO,
        _a(-1.0),
    ),
]
# Where PyTorch is less exact than these formulas: it approximates Bessel functions by polynomials,
# computes one logarithm in float32, and its gammainc and polygamma are right to 1e-9.
ROUGH = {
    ("VonMises", "log_prob"): 1e-6,
    ("VonMises", "variance"): 1e-6,
    ("VonMises", "stddev"): 1e-6,
    ("Multinomial", "entropy"): 1e-6,
    ("Multinomial", "perplexity"): 1e-6,
    ("Gamma", "cdf"): 1e-9,
}
# Where PyTorch is wrong: its formula of this mode is the logarithm of a negative number, and it
# compares float64 concentrations with a float32 zero, which is an error.
BETTER = {
    ("Kumaraswamy", "mode"): [[0.0, 0.0, 0.0], [0.0, (2 / 3.5) ** (1 / 3), (2 / 5) ** (1 / 3)]],
    ("GeneralizedPareto", "log_prob"): None,
    ("GeneralizedPareto", "cdf"): None,
}


def test_every_distribution_has_a_case() -> None:
    families = set(distributions.__all__) - set(distributions.transforms.__all__)
    abstract = {"Distribution", "ExponentialFamily", "biject_to", "transform_to"}
    made_of_others = {"Independent", "MixtureSameFamily", "TransformedDistribution"}
    functions = {"kl_divergence", "register_kl"}
    assert families - abstract - made_of_others - functions == {c.name for c in CASES}
