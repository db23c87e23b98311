"""The terms of losses, of arrays of one dtype that fit together: what `losses` sums or averages.

`compat` calls them with checks of its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..numpy._arguments import beside
from ..ops import reduce as reductions
from ..ops import structural
from ..ops.exponential import log_expit, logaddexp, xlogy
from ..ops.index import take
from ..ops.select import maximum, stop_gradient


def positive(x: Any, /) -> Any:
    """``max(x, 0)`` with derivative 1 at 0; NaN stays.

    >>> positive(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return fnp.where(fnp.less(x, 0), 0, x)


# ---------------------------------------------------------------- likelihoods


def kl(x: Any, y: Any, /) -> Any:
    """``y (log y - x)``, for log-probabilities x and probabilities y.

    >>> float(kl(math.log(0.5), 0.5))
    0.0
    """
    return xlogy(y, y) - y * x


def kl_of_logarithms(x: Any, y: Any, /) -> Any:
    """``exp(y) (y - x)``.

    >>> float(kl_of_logarithms(1.0, 1.0))
    0.0
    """
    return fnp.exp(y) * (y - x)


def poisson(x: Any, y: Any, /, *, log_input: bool, full: bool, eps: float) -> Any:
    """``exp(x) - y x``, or ``x - y log(x + eps)``; `full` adds Stirling's ``log y!`` for y > 1.

    >>> float(poisson(0.0, 1.0, log_input=True, full=False, eps=0.0))
    1.0
    """
    loss = fnp.exp(x) - y * x if log_input else x - y * fnp.log(x + eps)
    if not full:
        return loss
    large = fnp.greater(y, 1)
    z = fnp.where(large, y, 1)
    return loss + fnp.where(large, z * fnp.log(z) - z + 0.5 * fnp.log(2 * math.pi * z), 0)


def gaussian(x: Any, y: Any, v: Any, /, *, full: bool, eps: float) -> Any:
    """``(log v + (x - y)^2 / v) / 2`` of variances that are raised to `eps` as if by adding a constant.

    >>> float(gaussian(3.0, 1.0, 1.0, full=False, eps=0.0))
    2.0
    """
    v = v + fnp.maximum(eps - stop_gradient(v), 0)
    loss = 0.5 * (fnp.log(v) + (x - y) ** 2 / v)
    return loss + 0.5 * math.log(2 * math.pi) if full else loss


def binary_cross_entropy(x: Any, y: Any, /) -> Any:
    """``-(y log x + (1 - y) log(1 - x))``; a logarithm is -100 at least.

    The derivative is ``(x - y) / max(x (1 - x), 1e-12)``: steep where a logarithm is cut off, so that
    a probability of 0 or 1 that is wrong is corrected. Half precision has no 1e12 and takes 2**14.

    >>> binary_cross_entropy(np.array([0.5, 0.0]), np.ones(2)).round(4).tolist()
    [0.6931, 100.0]
    """
    least = 2.0**-14 if aval_of(x).dtype == np.float16 else 1e-12
    rest = 1 - x
    ends = x * rest <= least
    inner, end = fnp.where(ends, 0.5, x), stop_gradient(x)
    low, high = fnp.greater(end, 0), fnp.less(end, 1)
    log_x = _cut(fnp.log(fnp.where(low, end, 1)), low) - _slope(rest * rest / (2 * least))
    log_rest = _cut(fnp.log1p(-fnp.where(high, end, 0)), high) - _slope(x * x / (2 * least))
    log_x = fnp.where(ends, log_x, fnp.log(inner))
    return -(y * log_x + (1 - y) * fnp.where(ends, log_rest, fnp.log1p(-inner)))


def binary_cross_entropy_of_logits(x: Any, y: Any, weight: Any = None, /) -> Any:
    """``-(w y log s(x) + (1 - y) log s(-x))``, where ``s`` is the sigmoid and w `weight`, by default 1.

    ``log(1 + e**-|x|)`` is what both logarithms have; beside it the smaller has 0, the other x.

    >>> float(binary_cross_entropy_of_logits(-50.0, 0.0))
    1.928749847963918e-22
    """
    negative, weighted = fnp.less(x, 0), y if weight is None else weight * y
    common = -log_expit(fnp.where(negative, -x, x))
    if weight is not None:
        common = (1 - y + weighted) * common
    return x * fnp.where(negative, -weighted, 1 - y) + common


def _cut(logarithm: Any, finite: Any) -> Any:
    """A logarithm, at least -100."""
    return fnp.where(finite, fnp.maximum(logarithm, -100), -100)


def _slope(x: Any) -> Any:
    """0, with the derivatives of `x`."""
    return x - stop_gradient(x)


# ---------------------------------------------------------------- margins


def hinge_embedding(x: Any, y: Any, /, *, margin: float) -> Any:
    """``x`` where y is 1, ``max(margin - x, 0)`` where it is -1.

    >>> hinge_embedding(np.array([0.5, 0.25]), np.array([1, -1]), margin=1.0).tolist()
    [0.5, 0.75]
    """
    return fnp.where(y != 1, positive(margin - x), 0) + fnp.where(y != -1, x, 0)


def ranking(a: Any, b: Any, y: Any, /, *, margin: float) -> Any:
    """``max(margin - y (a - b), 0)``.

    >>> float(ranking(1.0, 3.0, 1.0, margin=0.0))
    2.0
    """
    return positive(margin - y * (a - b))


def soft_margin(x: Any, y: Any, /) -> Any:
    """``log(1 + exp(-y x))``.

    >>> float(soft_margin(0.0, 1.0).round(4))
    0.6931
    """
    return logaddexp(-y * x, 0.0)


def cosine(x: Any, y: Any, /, *, axis: tuple[int, ...], eps: float) -> Any:
    """``x . y / (max(|x|, eps) max(|y|, eps))`` along the axes; its derivative does not see `eps`.

    >>> float(cosine(np.array([3.0, 4.0]), np.array([4.0, 3.0]), axis=(0,), eps=0.0))
    0.96
    """
    kept = structural.kept(x.shape, axis)
    units = []
    for z in (x, y):
        n = reductions.norm2(z, axis=axis)
        n = n + stop_gradient(maximum(n, eps) - n)
        units.append(z / n.reshape(kept))
    return structural.sum(units[0] * units[1], axis=axis)


def cosine_embedding(a: Any, b: Any, y: Any, /, *, margin: float) -> Any:
    """``1 - c`` where y is 1, ``max(c - margin, 0)`` where it is -1; c is the cosine by the last axis.

    >>> a, b = np.array([3.0, 4.0]), np.array([4.0, 3.0])
    >>> float(cosine_embedding(a, b, np.array(1), margin=0.0).round(4))
    0.04
    """
    size = ((a * a).sum(axis=-1) + 1e-12) * ((b * b).sum(axis=-1) + 1e-12)
    found = (a * b).sum(axis=-1) / fnp.sqrt(size)
    return fnp.where(y == 1, 1 - found, 0) + fnp.where(y == -1, positive(found - margin), 0)


def multilabel_soft_margin(x: Any, y: Any, w: Any = None, /) -> Any:
    """``-w (y log s(x) + (1 - y) log s(-x))``, averaged over the last axis; ``s`` is the sigmoid.

    >>> float(multilabel_soft_margin(np.zeros(2), np.array([1.0, 0.0])).round(4))
    0.6931
    """
    losses = -(y * log_expit(x) + (1 - y) * log_expit(-x))
    losses = losses if w is None else losses * w
    return losses.sum(axis=-1) / losses.shape[-1]


def multi_margin(x: Any, y: Any, w: Any = None, /, *, p: int, margin: float) -> Any:
    """``sum_(i != y) w_y max(margin - x_y + x_i, 0)^p / c`` of the rows of a matrix with c columns.

    >>> multi_margin(np.array([[0.1, 0.8]]), np.array([1]), p=1, margin=1.0).round(4).tolist()
    [0.15]
    """
    here = y[:, None] == beside(y, np.arange(x.shape[1]))
    own = fnp.where(here, x, 0).sum(axis=1)[:, None]
    z = margin - own + x
    z = fnp.where(fnp.logical_or(here, z <= 0), 0, z)
    losses = (z if p == 1 else z * z).sum(axis=1) / x.shape[1]
    return losses if w is None else losses * take(w, y, axis=0, bounds="known")


def multilabel_margin(x: Any, times: Any, /) -> Any:
    """``sum_(j in y, i not in y) max(1 - x_j + x_i, 0) / c`` of rows; `times` each class is in y.

    >>> multilabel_margin(np.array([[0.1, 0.8]]), np.array([[0.0, 1.0]])).round(4).tolist()
    [0.15]
    """
    z = 1 - x[:, :, None] + x[:, None, :]
    counted = fnp.where(fnp.logical_or(z <= 0, (times > 0)[:, None, :]), 0, z)
    return (counted * times[:, :, None]).sum(axis=(1, 2)) / x.shape[1]
