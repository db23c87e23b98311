"""Losses: how far a prediction is from a target, averaged or summed.

`reduction` is "mean", over all that the loss has a number for, "sum" or "none". Arguments broadcast,
unless a docstring has shapes; integers count as float64. The terms are in `loss_terms`.
"""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError, where
from ..ops.arithmetic import absolute, square, subtract, zero_preserving_multiply
from ..ops.contract import normal_axis
from ..ops.logic import equal
from ..ops.select import where as choose
from ..ops.softmax import log_softmax
from ..scipy import special
from . import loss_terms
from ._arguments import integers, real, reals, require, require_classes


def reduced(name: str, losses: Any, reduction: str) -> Any:
    """The mean or the sum of all losses, or the losses.

    Raises: ArgumentError: there is no such reduction.

    >>> float(reduced("loss", np.array([1.0, 3.0]), "mean"))
    2.0
    """
    needed = '"mean", "sum" or "none"'
    require(reduction in ("mean", "sum", "none"), name, "reduction", repr(reduction), needed)
    if reduction == "none":
        return losses
    return fnp.mean(losses) if reduction == "mean" else fnp.sum(losses)


# ---------------------------------------------------------------- distances


def mean_squared_error(prediction: Any, target: Any, *, reduction: str = "mean") -> Any:
    """``(x - y)^2``.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``2 (x - y)``; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.mse_loss``.

    >>> float(mean_squared_error(np.array([1.0, 3.0]), 1.0))
    2.0
    """
    x, y = reals("mean_squared_error", prediction, target)
    return reduced("mean_squared_error", square(subtract(x, y)), reduction)


def mean_absolute_error(prediction: Any, target: Any, *, reduction: str = "mean") -> Any:
    """``|x - y|``.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: the sign of ``x - y``, 0 at 0.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.l1_loss``.

    >>> float(mean_absolute_error(np.array([1.0, 3.0]), 1.0))
    1.0
    """
    x, y = reals("mean_absolute_error", prediction, target)
    return reduced("mean_absolute_error", absolute(subtract(x, y)), reduction)


def huber_loss(prediction: Any, target: Any, delta: Any = 1.0, *, reduction: str = "mean") -> Any:
    """``d^2 / 2`` where ``|d| <= delta``, elsewhere ``delta (|d| - delta / 2)``, for ``d = x - y``.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: `d` clipped to ``[-delta, delta]``; continuous.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, a delta that is
    not positive, or no such reduction.
    Source: Huber, "Robust estimation of a location parameter", 1964.

    >>> huber_loss(np.array([0.5, 3.0]), 0.0, reduction="none").tolist()
    [0.125, 2.5]
    """
    x, y = reals("huber_loss", prediction, target)
    require(fnp.greater(delta, 0), "huber_loss", "delta", delta, "a positive number")
    return reduced("huber_loss", special.huber(delta, subtract(x, y)), reduction)


def smooth_l1_loss(
    prediction: Any, target: Any, beta: Any = 1.0, *, reduction: str = "mean"
) -> Any:
    """``d^2 / (2 beta)`` where ``|d| <= beta``, elsewhere ``|d| - beta / 2``, for ``d = x - y``.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``d / beta`` clipped to ``[-1, 1]``; continuous.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, a beta that is
    not positive, or no such reduction.
    Source: Girshick, "Fast R-CNN", ICCV 2015.

    >>> smooth_l1_loss(np.array([0.5, 3.0]), 0.0, reduction="none").tolist()
    [0.125, 2.5]
    """
    x, y = reals("smooth_l1_loss", prediction, target)
    require(fnp.greater(beta, 0), "smooth_l1_loss", "beta", beta, "a positive number")
    return reduced("smooth_l1_loss", special.huber(beta, subtract(x, y)) / beta, reduction)


# ---------------------------------------------------------------- classes


def cross_entropy(
    logits: Any,
    labels: Any,
    *,
    weight: Any = None,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    axis: int = -1,
    reduction: str = "mean",
) -> Any:
    """``-sum_c q_c w_c log softmax(x)_c`` along `axis`, where ``q`` is 1 at the label, if labels are
    integers, or the probabilities given.

    `label_smoothing` moves that part of ``q`` evenly to all classes. `weight` has a number for each
    class. Labels equal to `ignore_index` do not count. The mean divides by the sum of the labels'
    weights, or for probabilities by their number.

    Shapes: ``logits: (*a, c, *b), labels: (*a, *b) or (*a, c, *b), weight: (c,) -> (*a, *b)``,
    reduced to ``()``.
    Dtypes: real; labels integers or floats.
    Derivative: for labels ``softmax(x) - q``, where counted; by the probabilities ``-log softmax(x)``.
    Raises: ShapeError: the shapes do not fit. IndexError: a label is no class. ArgumentError: an
    option that is no such number, or complex numbers.
    Source: PyTorch reference, ``torch.nn.functional.cross_entropy``.

    >>> x = np.log(np.array([[0.25, 0.75], [0.5, 0.5]]))
    >>> np.exp(cross_entropy(x, np.array([0, 1]), reduction="none")).round(4).tolist()
    [4.0, 2.0]
    """
    name = "cross_entropy"
    logits, labels = real(name, logits), fnp.asarray(labels)
    aval = aval_of(logits)
    axis = normal_axis(f"nn.{name}", axis, aval.ndim)
    smooth = label_smoothing
    require(0 <= smooth <= 1, name, "label_smoothing", smooth, "a number from 0 to 1")
    log_p = log_softmax(logits, axis=(axis,))
    weight = _class_weights(name, weight, aval, axis)
    classes = aval.shape[axis]
    if aval_of(labels).dtype.kind == "f":
        require(ignore_index is None, name, "ignore_index", ignore_index, "None, for probabilities")
        _require_shape(name, "labels", labels, aval.shape)
        q = labels * (1 - smooth) + smooth / max(classes, 1) if smooth else labels
        return reduced(name, against(q, log_p, weight, axis=axis), reduction)
    losses, counted = _picked(name, log_p, labels, weight, ignore_index, axis)
    if smooth:
        everywhere = against(1 / max(classes, 1), log_p, weight, axis=axis)
        losses = losses * (1 - smooth) + choose(counted != 0, everywhere * smooth, 0.0)
    return _mean_by(name, losses, counted, reduction)


def nll_loss(
    log_probabilities: Any,
    labels: Any,
    *,
    weight: Any = None,
    ignore_index: int | None = None,
    axis: int = -1,
    reduction: str = "mean",
) -> Any:
    """``-w_y x_y`` of the log-probabilities x of classes along `axis`, and the labels y.

    `weight` has a number for each class. Labels equal to `ignore_index` do not count. The mean
    divides by the sum of the labels' weights.

    Shapes: ``x: (*a, c, *b), labels: (*a, *b), weight: (c,) -> (*a, *b)``, reduced to ``()``.
    Dtypes: real; labels integers.
    Derivative: linear in `x`.
    Raises: ShapeError: the shapes do not fit. IndexError: a label is no class. ArgumentError: labels
    that are no integers, complex numbers, or no such reduction.
    Source: PyTorch reference, ``torch.nn.functional.nll_loss``.

    >>> float(nll_loss(np.array([[-0.5, -2.0]]), np.array([1])))
    2.0
    """
    x = real("nll_loss", log_probabilities)
    aval = aval_of(x)
    axis = normal_axis("nn.nll_loss", axis, aval.ndim)
    weight = _class_weights("nll_loss", weight, aval, axis)
    losses, counted = _picked("nll_loss", x, labels, weight, ignore_index, axis)
    return _mean_by("nll_loss", losses, counted, reduction)


def _require_shape(name: str, what: str, x: Any, shape: tuple[int, ...]) -> None:
    if aval_of(x).shape != shape:
        raise ShapeError(f"nn.{name}: {what} is {aval_of(x)}; need shape {list(shape)}{where()}")


def _class_weights(name: str, weight: Any, aval: Any, axis: int) -> Any:
    """The weights of the classes along their axis, or None."""
    if weight is None:
        return None
    weight = real(name, weight)
    _require_shape(name, "weight", weight, (aval.shape[axis],))
    return fnp.reshape(weight, (-1,) + (1,) * (aval.ndim - 1 - axis))


def against(q: Any, log_p: Any, weight: Any, /, *, axis: int) -> Any:
    """``-sum_c q_c w_c log_p_c``; what has no probability adds nothing, be it infinitely unlikely.

    >>> float(against(np.array([1.0, 0.0]), np.array([-2.0, -np.inf]), None, axis=0))
    2.0
    """
    if weight is not None:
        q = q * fnp.reshape(weight, (-1,) + (1,) * (aval_of(log_p).ndim - 1 - axis))
    return -fnp.sum(zero_preserving_multiply(q, log_p), axis=axis)


def _picked(
    name: str, log_p: Any, labels: Any, weight: Any, ignore: int | None, axis: int
) -> tuple[Any, Any]:
    """``-w_y log_p_y``, and the weights ``w_y``, 0 for labels that are ignored."""
    labels = integers(name, "labels", labels)
    shape = aval_of(log_p).shape
    _require_shape(name, "labels", labels, shape[:axis] + shape[axis + 1 :])
    require_classes(name, labels, shape[axis], ignore)
    # Of labels that are not known yet: what is below 0 must not count from the end.
    places = choose(fnp.less(labels, 0), shape[axis], labels)
    if ignore is not None:
        places = choose(equal(labels, ignore), 0, places)
    places = fnp.expand_dims(places, axis)
    picked = fnp.squeeze(fnp.take_along_axis(log_p, places, axis), axis)
    if weight is None:
        weights = fnp.ones_like(picked)
    else:
        own = fnp.take_along_axis(fnp.broadcast_to(weight, shape), places, axis)
        weights = fnp.squeeze(own, axis)
    weights = weights if ignore is None else choose(equal(labels, ignore), 0.0, weights)
    return -zero_preserving_multiply(weights, picked), weights


def _mean_by(name: str, losses: Any, weights: Any, reduction: str) -> Any:
    """The losses reduced; their mean is ``sum losses / sum weights``."""
    if reduction != "mean":
        return reduced(name, losses, reduction)
    return fnp.sum(losses) / fnp.sum(weights)


# ---------------------------------------------------------------- two classes


def binary_cross_entropy(prediction: Any, target: Any, *, reduction: str = "mean") -> Any:
    """``-(y log x + (1 - y) log(1 - x))`` of probabilities x; a logarithm counts as -100 at least.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``(x - y) / max(x (1 - x), 1e-12)``, which is finite at 0 and 1, and at most 1e12.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `prediction` is known not to be
    probabilities, complex numbers, or no such reduction.
    Source: PyTorch reference, ``torch.nn.functional.binary_cross_entropy``.

    >>> binary_cross_entropy(np.array([0.5, 0.0]), 1.0, reduction="none").round(4).tolist()
    [0.6931, 100.0]
    """
    x, y = reals("binary_cross_entropy", prediction, target)
    inside = fnp.logical_and(fnp.greater_equal(x, 0), fnp.less_equal(x, 1))
    what = "numbers from 0 to 1; binary_cross_entropy_with_logits takes any"
    require(inside, "binary_cross_entropy", "prediction", aval_of(x), what)
    return reduced("binary_cross_entropy", loss_terms.binary_cross_entropy(x, y), reduction)


def binary_cross_entropy_with_logits(
    logits: Any, target: Any, *, pos_weight: Any = None, reduction: str = "mean"
) -> Any:
    """``-(p y log s(x) + (1 - y) log(1 - s(x)))`` of logits, where ``s`` is the sigmoid and p
    `pos_weight`, by default 1.

    Neither it nor its derivative overflows or cancels.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``s(x) - y`` for p = 1; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.binary_cross_entropy_with_logits``.

    >>> binary_cross_entropy_with_logits(np.array([0.0, 200.0]), 1.0, reduction="none").round(
    ...     4
    ... ).tolist()
    [0.6931, 0.0]
    """
    name = "binary_cross_entropy_with_logits"
    x, y = reals(name, logits, target)
    weight = None if pos_weight is None else real(name, pos_weight)
    losses = loss_terms.binary_cross_entropy_of_logits(x, y, weight)
    return reduced(name, losses, reduction)


# ---------------------------------------------------------------- distributions


def kl_divergence(
    log_predictions: Any,
    targets: Any,
    *,
    log_target: bool = False,
    axis: int | tuple[int, ...] = -1,
    reduction: str = "mean",
) -> Any:
    """``sum y (log y - x)`` along `axis`, of log-probabilities x and probabilities y; with
    `log_target` the targets hold logarithms too.

    Where y is 0 the term is 0, whatever x is. The mean is that of the divergences (PyTorch's
    "batchmean").

    Shapes: broadcast to ``(*a, n, *b) -> (*a, *b)``, reduced to ``()``.
    Dtypes: real; integers give float64.
    Derivative: ``-y`` and ``log y - x + 1``, infinite at y = 0; with `log_target` smooth.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: Kullback & Leibler, "On information and sufficiency", 1951.

    >>> float(kl_divergence(np.log([0.25, 0.75]), np.array([0.5, 0.5])).round(4))
    0.1438
    """
    x, y = reals("kl_divergence", log_predictions, targets)
    if log_target:
        terms = loss_terms.kl_of_logarithms(x, y)
    else:
        terms = loss_terms.kl(choose(equal(y, 0), 0.0, x), y)
    return reduced("kl_divergence", fnp.sum(terms, axis=axis), reduction)


def poisson_nll_loss(
    prediction: Any,
    target: Any,
    *,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """``exp(x) - y x``, or ``x - y log(x + eps)`` without `log_input`: of Poisson's distribution.

    `full` adds Stirling's approximation of ``log y!`` where y is greater than 1.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``exp(x) - y``, or ``1 - y / (x + eps)``.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.poisson_nll_loss``.

    >>> poisson_nll_loss(np.array([0.0, 1.0]), np.array([1.0, 2.0]), reduction="none").round(
    ...     4
    ... ).tolist()
    [1.0, 0.7183]
    """
    x, y = reals("poisson_nll_loss", prediction, target)
    terms = loss_terms.poisson(x, y, log_input=log_input, full=full, eps=eps)
    return reduced("poisson_nll_loss", terms, reduction)


def gaussian_nll_loss(
    prediction: Any,
    target: Any,
    var: Any,
    *,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """``(log v + (x - y)^2 / v) / 2`` of normal distributions of mean x and variance v.

    The variance is `eps` at least, where its derivative is still taken; `full` adds the constant.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``(x - y) / v`` by x, ``(1 - (x - y)^2 / v) / (2 v)`` by v.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `var` is known to be negative,
    complex numbers, or no such reduction.
    Source: Nix & Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    >>> float(gaussian_nll_loss(np.array([1.0, 3.0]), 1.0, 4.0).round(4))
    0.9431
    """
    x, y, v = reals("gaussian_nll_loss", prediction, target, var)
    require(fnp.greater_equal(v, 0), "gaussian_nll_loss", "var", aval_of(v), "no negative numbers")
    return reduced("gaussian_nll_loss", loss_terms.gaussian(x, y, v, full=full, eps=eps), reduction)
