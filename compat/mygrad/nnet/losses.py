"""Losses: the mean over examples, but for the focal losses, which give one for each."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from funcgrad import nn

from .._function import Function
from .._graph import apply, array_of
from .activations import softmax

__all__ = [
    "focal_loss",
    "margin_ranking_loss",
    "multiclass_hinge",
    "negative_log_likelihood",
    "softmax_crossentropy",
    "softmax_focal_loss",
]


def _labels(x: Any, y_true: Any) -> np.ndarray:
    """The labels of the rows of `x`.

    Raises: ValueError: the shapes do not fit. TypeError: labels are integers.
    """
    y, shape = array_of(y_true), array_of(x).shape
    if len(shape) != 2:
        raise ValueError(f"x has the shape {shape}; need a row of scores for each example, (N, C)")
    if y.dtype.kind not in "iu":
        raise TypeError(f"y_true has the dtype {y.dtype}; need integers, the classes")
    if y.shape != shape[:1]:
        raise ValueError(f"y_true has the shape {y.shape}; need a class for each row, {shape[:1]}")
    return y


def _picked(x: Any, y: Any) -> Any:
    return x[np.arange(len(y)), y]


def _cross_entropy(x: Any, y: Any) -> Any:
    return -np.mean(_picked(nn.log_softmax(x if x.dtype.kind == "f" else x.astype(float)), y))


def _likelihood(x: Any, y: Any, weights: Any) -> Any:
    return -np.mean(_picked(x, y) * weights[y])


def _hinge(x: Any, y: Any, hinge: Any) -> Any:
    others = np.ones(x.shape, bool)
    others[np.arange(len(y)), y] = False
    above = nn.relu(x - np.reshape(_picked(x, y), (-1, 1)) + hinge)
    return np.sum(np.where(others, above, 0.0)) / len(y)


def _ranking(x1: Any, x2: Any, y: Any, margin: Any) -> Any:
    return np.mean(nn.relu(margin - y * (x1 - x2)))


def _focal(p: Any, y: Any, alpha: Any, gamma: Any) -> Any:
    p = _picked(p, y)
    rest = 1 - p
    inside = rest > 0
    weight = np.where(inside, np.where(inside, rest, 1.0) ** gamma, 0.0**gamma)
    return -alpha * weight * np.log(p)


_crossentropy = Function("softmax_crossentropy", _cross_entropy)
_negative = Function("negative_log_likelihood", _likelihood)
_multiclass = Function("multiclass_hinge", _hinge)
_margin = Function("margin_ranking_loss", _ranking)
_focused = Function("focal_loss", _focal)


def softmax_crossentropy(x: Any, y_true: Any, *, constant: bool | None = None) -> Any:
    """``-mean(log(softmax(x)[i, y[i]]))``.

    >>> import numpy as np
    >>> from compat.mygrad.nnet.losses import softmax_crossentropy
    >>> softmax_crossentropy(np.zeros((3, 2)), [0, 1, 0])
    Tensor(0.69314718)
    """
    return apply(_crossentropy, (x,), (_labels(x, y_true),), constant=constant)


def negative_log_likelihood(
    x: Any, y_true: Any, *, weights: Any = None, constant: bool | None = None
) -> Any:
    """``-mean(w[y[i]] x[i, y[i]])``, where `x` holds logarithms of probabilities.

    Raises: ValueError: there is not one weight for each class.
    """
    y, classes = _labels(x, y_true), array_of(x).shape[1:]
    w = np.ones(classes) if weights is None else array_of(weights)
    if w.shape != classes:
        raise ValueError(
            f"weights has the shape {w.shape}; need a weight for each class, {classes}"
        )
    return apply(_negative, (x,), (y, w), constant=constant)


def multiclass_hinge(
    x: Any, y_true: Any, hinge: float = 1.0, *, constant: bool | None = None
) -> Any:
    """``mean_i(sum_{j != y[i]} max(0, x[i, j] - x[i, y[i]] + hinge))``."""
    return apply(_multiclass, (x,), (_labels(x, y_true), hinge), constant=constant)


def margin_ranking_loss(
    x1: Any, x2: Any, y: Any, margin: float, *, constant: bool | None = None
) -> Any:
    """``mean(max(0, margin - y (x1 - x2)))``, where `y` is 1 or -1, or one of these for each row.

    Raises: ValueError: the shapes do not fit, or the margin is negative. TypeError: no floats.
    """
    first, second = array_of(x1), array_of(x2)
    if not 0 < first.ndim < 3:
        raise ValueError(f"x1 has {first.ndim} axes; need (N,) or (N, D)")
    if first.shape != second.shape:
        raise ValueError(
            f"x1 and x2 have the shapes {first.shape} and {second.shape}; need the same"
        )
    for name, array in (("x1", first), ("x2", second)):
        if array.dtype.kind != "f":
            raise TypeError(f"{name} has the dtype {array.dtype}; need floating numbers")
    if not isinstance(margin, Real) or margin < 0:
        raise ValueError(f"margin={margin!r}; need a number from 0 on")
    sign = array_of(y)
    sign = sign.reshape(()) if sign.size == 1 else sign
    if sign.ndim and sign.shape != first.shape[:1]:
        raise ValueError(f"y has the shape {sign.shape}; need one sign, or one for each row")
    if sign.ndim and first.ndim == 2:
        sign = sign.reshape(-1, 1)
    return apply(_margin, (x1, x2), (sign, margin), constant=constant)


def focal_loss(
    class_probs: Any,
    targets: Any,
    *,
    alpha: float = 1,
    gamma: float = 0,
    constant: bool | None = None,
) -> Any:
    """``-alpha (1 - p)^gamma log(p)`` for each row, where ``p = class_probs[i, targets[i]]``.

    Raises: ValueError: `gamma` is negative.
    Source: Lin et al., "Focal loss for dense object detection", ICCV (2017).
    """
    if not isinstance(gamma, Real) or gamma < 0:
        raise ValueError(f"gamma={gamma!r}; need a number from 0 on")
    y = _labels(class_probs, targets)
    return apply(_focused, (class_probs,), (y, alpha, gamma), constant=constant)


def softmax_focal_loss(
    scores: Any,
    targets: Any,
    *,
    alpha: float = 1,
    gamma: float = 0,
    constant: bool | None = None,
) -> Any:
    """The focal loss of ``softmax(scores)``."""
    p = softmax(scores, constant=constant)
    return focal_loss(p, targets, alpha=alpha, gamma=gamma, constant=constant)
