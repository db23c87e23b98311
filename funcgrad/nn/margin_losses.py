"""Losses that want a margin between what is right and what is wrong, and how alike vectors are.

`reduction` is as in `losses`.
"""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError, where
from ..numpy._arguments import axes_of
from ..ops.reduce import norm2
from ..ops.select import minimum
from ..ops.special import relu
from . import loss_terms
from ._arguments import integers, real, reals, require, require_classes
from .losses import reduced


def hinge_loss(scores: Any, labels: Any, *, reduction: str = "mean") -> Any:
    """``max(1 - y x, 0)`` for labels y that are 1 or -1.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``-y`` where the loss is positive, else 0.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: Cortes & Vapnik, "Support-vector networks", 1995.

    >>> hinge_loss(np.array([0.5, 2.0]), np.array([1, 1]), reduction="none").tolist()
    [0.5, 0.0]
    """
    x, y = reals("hinge_loss", scores, labels)
    return reduced("hinge_loss", relu(1.0 - y * x), reduction)


def hinge_embedding_loss(
    distances: Any, labels: Any, *, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """The distance where the label is 1, ``max(margin - distance, 0)`` where it is -1.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: 1 or -1, where the loss is positive and at the margin.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.hinge_embedding_loss``.

    >>> hinge_embedding_loss(np.array([0.5, 0.25]), np.array([1, -1]), reduction="none").tolist()
    [0.5, 0.75]
    """
    x, y = reals("hinge_embedding_loss", distances, labels)
    terms = loss_terms.hinge_embedding(x, y, margin=margin)
    return reduced("hinge_embedding_loss", terms, reduction)


def margin_ranking_loss(
    x1: Any, x2: Any, labels: Any, *, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """``max(margin - y (x1 - x2), 0)``: y is 1 where x1 should be the larger, -1 where x2 should.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``-y`` and ``y`` where the loss is positive and at the margin, else 0.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.margin_ranking_loss``.

    >>> float(margin_ranking_loss(1.0, 3.0, 1))
    2.0
    """
    a, b, y = reals("margin_ranking_loss", x1, x2, labels)
    terms = loss_terms.ranking(a, b, y, margin=margin)
    return reduced("margin_ranking_loss", terms, reduction)


def soft_margin_loss(scores: Any, labels: Any, *, reduction: str = "mean") -> Any:
    """``log(1 + exp(-y x))`` for labels y that are 1 or -1, without overflow.

    Shapes: broadcast; reduced to ``()``.   Dtypes: real; integers give float64.
    Derivative: ``-y s(-y x)`` with the sigmoid s; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.soft_margin_loss``.

    >>> float(soft_margin_loss(0.0, 1).round(4))
    0.6931
    """
    x, y = reals("soft_margin_loss", scores, labels)
    return reduced("soft_margin_loss", loss_terms.soft_margin(x, y), reduction)


# ---------------------------------------------------------------- vectors


def cosine_similarity(x1: Any, x2: Any, *, axis: Any = -1, eps: float = 1e-8) -> Any:
    """``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))`` along the axes.

    Shapes: broadcast to ``(*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: ``(x2 - c x1) / |x1|`` for unit vectors; it does not see the bound `eps`.
    Raises: ShapeError: the shapes do not broadcast, or an axis does not exist. ArgumentError:
    complex numbers.
    Source: PyTorch reference, ``torch.nn.functional.cosine_similarity``.

    >>> float(cosine_similarity(np.array([3.0, 4.0]), np.array([4.0, 3.0])).round(4))
    0.96
    """
    a, b = fnp.broadcast_arrays(*reals("cosine_similarity", x1, x2))
    axes = axes_of("cosine_similarity", axis, aval_of(a).ndim)
    return loss_terms.cosine(a, b, axis=axes, eps=eps)


def cosine_embedding_loss(
    x1: Any, x2: Any, labels: Any, *, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """``1 - c`` where the label is 1, ``max(c - margin, 0)`` where it is -1; c is the cosine of the
    vectors along the last axis.

    Shapes: ``(*a, n), (*a, n), (*a) -> (*a)``, broadcast and reduced to ``()``.
    Dtypes: real; integers give float64.
    Derivative: that of the cosine, where the loss is positive and at the margin.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.cosine_embedding_loss``.

    >>> float(cosine_embedding_loss(np.array([3.0, 4.0]), np.array([4.0, 3.0]), 1).round(4))
    0.04
    """
    a, b, y = reals("cosine_embedding_loss", x1, x2, labels)
    _require_axes("cosine_embedding_loss", a, 1)
    terms = loss_terms.cosine_embedding(a, b, y, margin=margin)
    return reduced("cosine_embedding_loss", terms, reduction)


def _require_axes(name: str, x: Any, least: int) -> None:
    if aval_of(x).ndim < least:
        raise ShapeError(f"nn.{name}: found {aval_of(x)}; need {least} or more axes{where()}")


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    margin: float = 1.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """``max(margin + |a - p| - |a - n|, 0)``, the lengths along the last axis: the positive should be
    the nearer one.

    `eps` is added to each difference. With `swap` the distance of the negative from the positive
    counts, if that is less.

    Shapes: ``(*a, n), (*a, n), (*a, n) -> (*a)``, broadcast and reduced to ``()``.
    Dtypes: real; integers give float64.
    Derivative: that of the lengths, where the loss is positive.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: Balntas et al., "Learning local feature descriptors with triplets", BMVC 2016.

    >>> a, p, n = np.zeros(2), np.array([3.0, 4.0]), np.array([0.0, 5.0])
    >>> float(triplet_margin_loss(a, p, n).round(4))
    1.0
    """
    a, p, n = reals("triplet_margin_loss", anchor, positive, negative)
    _require_axes("triplet_margin_loss", a, 1)
    near, far = _distance(a, p, eps), _distance(a, n, eps)
    if swap:
        far = minimum(far, _distance(p, n, eps))
    return reduced("triplet_margin_loss", relu(margin + near - far), reduction)


def _distance(x: Any, y: Any, eps: float) -> Any:
    d = x - y + eps
    return norm2(d, axis=(aval_of(d).ndim - 1,))


# ---------------------------------------------------------------- several classes


def multi_margin_loss(
    scores: Any,
    labels: Any,
    *,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """``sum_(i != y) w_y max(margin - x_y + x_i, 0)^p / c`` of the scores of c classes.

    Shapes: ``scores: (n, c), labels: (n,), weight: (c,) -> (n,)``, reduced to ``()``.
    Dtypes: real; labels integers.
    Derivative: that of the formula; 0 at the margin.
    Raises: ShapeError: the shapes do not fit. IndexError: a label is no class. ArgumentError: `p` is
    neither 1 nor 2, or complex numbers.
    Source: PyTorch reference, ``torch.nn.functional.multi_margin_loss``.

    >>> float(multi_margin_loss(np.array([[0.1, 0.2, 0.4, 0.8]]), np.array([3])).round(4))
    0.325
    """
    name = "multi_margin_loss"
    x, y = real(name, scores), integers(name, "labels", labels)
    require(p in (1, 2), name, "p", p, "1 or 2")
    shape = aval_of(x).shape
    fits = len(shape) == 2 and aval_of(y).shape == shape[:1]
    given = () if weight is None else (real(name, weight),)
    if not fits or (given and aval_of(given[0]).shape != shape[1:]):
        raise ShapeError(
            f"nn.{name}: scores {aval_of(x)}, labels {aval_of(y)}, weight "
            f"{aval_of(given[0]) if given else None}; need (n, c), (n,), (c,){where()}"
        )
    require_classes(name, y, shape[1])
    return reduced(name, loss_terms.multi_margin(x, y, *given, p=p, margin=margin), reduction)


def multilabel_margin_loss(scores: Any, labels: Any, *, reduction: str = "mean") -> Any:
    """``sum_(j in y, i not in y) max(1 - x_j + x_i, 0) / c``; the labels say which classes are in y.

    Shapes: ``scores: (n, c), labels: (n, c) -> (n,)``, reduced to ``()``.
    Dtypes: real; labels booleans, or how often each class counts.
    Derivative: that of the formula; 0 at the margin.
    Raises: ShapeError: the shapes do not fit. ArgumentError: complex numbers, or no such reduction.
    Source: PyTorch reference, ``torch.nn.functional.multilabel_margin_loss``, which has the classes
    in place of flags.

    >>> x, y = np.array([[0.1, 0.2, 0.4, 0.8]]), np.array([[True, False, False, True]])
    >>> float(multilabel_margin_loss(x, y).round(4))
    0.85
    """
    name = "multilabel_margin_loss"
    x, y = real(name, scores), real(name, labels)
    if aval_of(x).ndim != 2 or aval_of(x).shape != aval_of(y).shape:
        raise ShapeError(
            f"nn.{name}: scores {aval_of(x)} and labels {aval_of(y)}; need (n, c), twice{where()}"
        )
    y = fnp.astype(y, aval_of(x).dtype)
    return reduced(name, loss_terms.multilabel_margin(x, y), reduction)


def multilabel_soft_margin_loss(
    scores: Any, labels: Any, *, weight: Any = None, reduction: str = "mean"
) -> Any:
    """``-w (y log s(x) + (1 - y) log s(-x))``, averaged over the classes; ``s`` is the sigmoid.

    Shapes: ``(*n, c), (*n, c), weight: (c,) -> (*n)``, broadcast and reduced to ``()``.
    Dtypes: real; integers give float64.
    Derivative: ``w (s(x) - y) / c``; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers, or no such
    reduction.
    Source: PyTorch reference, ``torch.nn.functional.multilabel_soft_margin_loss``.

    >>> float(multilabel_soft_margin_loss(np.zeros((1, 2)), np.array([[1, 0]])).round(4))
    0.6931
    """
    name = "multilabel_soft_margin_loss"
    x, y = reals(name, scores, labels)
    _require_axes(name, x, 1)
    given = () if weight is None else (real(name, weight),)
    return reduced(name, loss_terms.multilabel_soft_margin(x, y, *given), reduction)
