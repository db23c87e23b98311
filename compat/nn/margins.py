"""The losses of `functional` that want a margin between what is right and what is wrong.

`reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are its old forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from funcgrad.indexing import known
from funcgrad.nn import loss_terms

from ..ops._apply import _type_word as type_word
from ..ops._apply import check_broadcast
from ..ops._compose import require_real_floats
from ..ops._fused import fused
from ..ops._operands import convert, dtype_of, operand, promoted
from ..ops.norm import pairwise_distance
from .loss_functions import _check_reduction, _reduced, reduction_of

if TYPE_CHECKING:
    from .._tensor import Tensor


def _finished(losses: Any, reduction: str, node: str = "") -> Any:
    return _reduced(losses, reduction, node or "MeanBackward0", node or "SumBackward0")


# ---------------------------------------------------------------- one number each


def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``x`` where the target is 1, ``max(margin - x, 0)`` where it is -1.

    Raises: ValueError: there is no such reduction.

    >>> import compat as torch
    >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1, -1])
    >>> hinge_embedding_loss(x, y, reduction="none")
    tensor([0.5000, 0.7500])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x = operand("hinge_embedding_loss", 1, "input", input)
    y = operand("hinge_embedding_loss", 2, "target", target)
    _check_reduction(reduction)
    check_broadcast(x, y)
    _require_mean(x, reduction)
    return _finished(
        fused("AddBackward0", loss_terms.hinge_embedding, x, y.detach(), margin=margin),
        reduction,
    )


def _require_mean(x: Any, reduction: str) -> None:
    if reduction == "mean" and dtype_of(x).category < 2:
        raise RuntimeError(
            f"mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {type_word(dtype_of(x))}"
        )


def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(margin - y (x1 - x2), 0)``: y is 1 where x1 should be the larger, -1 where x2 should.

    Raises: RuntimeError: different numbers of axes. ValueError: there is no such reduction.

    >>> import compat as torch
    >>> margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1]))
    tensor(2.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    name = "margin_ranking_loss"
    a, b = operand(name, 1, "input1", input1), operand(name, 2, "input2", input2)
    y = operand(name, 3, "target", target)
    _check_reduction(reduction)
    if not a._array.ndim == b._array.ndim == y._array.ndim:
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {a.shape}, input2: {b.shape}, target: {y.shape} "
        )
    check_broadcast(a, b, y)
    a, b, y = promoted((a, b, y), floating=True)
    return _finished(
        fused("ClampMinBackward0", loss_terms.ranking, a, b, y.clone(), margin=margin), reduction
    )


def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-y x))`` for targets 1 and -1, without overflow.

    Raises: RuntimeError: integers. ValueError: there is no such reduction.

    >>> import compat as torch
    >>> soft_margin_loss(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x = operand("soft_margin_loss", 1, "input", input)
    y = operand("soft_margin_loss", 2, "target", target)
    _check_reduction(reduction)
    check_broadcast(x, y)
    x, y = promoted((x, y))
    if dtype_of(x).category < 2:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {type_word(dtype_of(x))}"
        )
    node = "SoftMarginLossBackward0"
    return _finished(fused(node, loss_terms.soft_margin, x, y), reduction, node)


# ---------------------------------------------------------------- vectors


def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - c`` where the target is 1, ``max(c - margin, 0)`` where it is -1; c is the cosine.

    Shapes: ``(n, d), (n, d), (n,) -> (n,)``, or without n.
    Raises: RuntimeError: other shapes. ValueError: there is no such reduction.

    >>> import compat as torch
    >>> x1, x2 = torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0])
    >>> cosine_embedding_loss(x1, x2, torch.tensor(1))
    tensor(0.0400)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    name = "cosine_embedding_loss"
    a, b = operand(name, 1, "input1", input1), operand(name, 2, "input2", input2)
    y = operand(name, 3, "target", target)
    _check_reduction(reduction)
    axes = y._array.ndim
    if axes > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not a._array.ndim == b._array.ndim == axes + 1:
        raise RuntimeError(
            f"{axes}D target tensor expects {axes + 1}D input tensors, but found inputs with sizes "
            f"{list(a._array.shape)} and {list(b._array.shape)}."
        )
    check_broadcast(a, b)
    a, b = promoted((a, b), floating=True)
    losses = fused("AddBackward0", loss_terms.cosine_embedding, a, b, y.detach(), margin=margin)
    return _finished(losses, reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(margin + |a - p| - |a - n|, 0)``: the positive should be the nearer one.

    With `swap` the distance of the negative from the positive counts, if that is less.

    Raises: ValueError: `margin` is not positive, or there is no such reduction. RuntimeError:
    different numbers of axes.

    >>> import compat as torch
    >>> a, p, n = torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 5.0]])
    >>> triplet_margin_loss(a, p, n)
    tensor(1.0000)
    """
    reduction = reduction_of(size_average, reduce, reduction)

    def distance(x: Any, y: Any) -> Any:
        return pairwise_distance(x, y, p, eps)

    given = (anchor, positive, negative)
    return _triplet("triplet_margin_loss", given, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own.

    Raises: as `triplet_margin_loss`.

    >>> import compat as torch
    >>> a, p, n = torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 5.0]])
    >>> def f(x, y):
    ...     return (x - y).abs().sum(-1)
    >>> triplet_margin_with_distance_loss(a, p, n, distance_function=f)
    tensor(3.)
    """
    distance = pairwise_distance if distance_function is None else distance_function
    name = "triplet_margin_with_distance_loss"
    return _triplet(name, (anchor, positive, negative), distance, margin, swap, reduction)


def _triplet(
    name: str,
    given: tuple[Any, ...],
    distance: Callable[[Any, Any], Any],
    margin: float,
    swap: bool,
    reduction: str,
) -> Any:
    names = ("anchor", "positive", "negative")
    a, p, n = (operand(name, i + 1, names[i], x) for i, x in enumerate(given))
    _check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not a._array.ndim == p._array.ndim == n._array.ndim:
        raise RuntimeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {a._array.ndim}D, positive {p._array.ndim}D, and negative "
            f"{n._array.ndim}D inputs"
        )
    near, far = distance(a, p), distance(a, n)
    if swap:
        far = far.minimum(distance(p, n))
    return _finished((margin + near - far).clamp_min(0), reduction)


# ---------------------------------------------------------------- several classes


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``-w (y log s(x) + (1 - y) log s(-x))``, averaged over the classes; ``s`` is the sigmoid.

    Shapes: ``(*n, c), (*n, c) -> (*n)``.
    Raises: ValueError: there is no such reduction.

    >>> import compat as torch
    >>> multilabel_soft_margin_loss(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x = operand("multilabel_soft_margin_loss", 1, "input", input)
    y = operand("multilabel_soft_margin_loss", 2, "target", target)
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not valid")
    check_broadcast(x, y)
    x, y = promoted((x, y), floating=True)
    given = () if weight is None else (convert(operand("", 3, "weight", weight), dtype_of(x)),)
    return _finished(
        fused("DivBackward0", loss_terms.multilabel_soft_margin, x, y, *given), reduction
    )


def _samples(name: str, x: Any) -> Any:
    """The scores as an array of samples and classes.

    Raises: RuntimeError: they have other axes.
    """
    shape = x._array.shape
    if len(shape) > 2 or 0 in shape[1:] or (len(shape) == 1 and not shape[0]):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(shape)}"
        )
    require_real_floats(name, x)
    return x if len(shape) == 2 else x.reshape(1, -1)


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``sum_(i != y) w_y max(margin - x_y + x_i, 0)^p / c`` of the scores of c classes.

    Shapes: ``(n, c), (n,) -> (n,)``, or ``(c,), () -> ()``.
    Raises: ValueError: `p` is neither 1 nor 2. RuntimeError: the targets do not fit.

    >>> import compat as torch
    >>> multi_margin_loss(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([3]))
    tensor(0.3250)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x = operand("multi_margin_loss", 1, "input", input)
    y = operand("multi_margin_loss", 2, "target", target)
    _check_reduction(reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    given = () if weight is None else (operand("multi_margin_loss", 5, "weight", weight),)
    if given and given[0]._array.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    rows = _samples("multi_margin_loss", x)
    samples, classes = rows._array.shape
    if y._array.ndim > 1 or y.numel() != samples:
        raise RuntimeError(
            f"multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{samples}], but got "
            f"{list(y._array.shape)}. Input has shape {list(x._array.shape)}."
        )
    if given and given[0]._array.shape != (classes,):
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(given[0]._array.shape)}"
        )
    _require_int64(y)
    places = known(y._array)
    if places is not None and ((places < 0) | (places >= classes)).any():
        raise RuntimeError("target out of range")
    node = "MultiMarginLossBackward0"
    losses = fused(node, loss_terms.multi_margin, rows, y.reshape(-1), *given, p=p, margin=margin)
    if reduction == "none":
        return losses.reshape(()) if not y._array.shape else losses
    return _finished(losses, reduction, node)


def _require_int64(y: Any) -> None:
    if y._array.dtype.name != "int64":
        raise RuntimeError(f"expected scalar type Long but found {type_word(dtype_of(y))}")


def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``sum_(j in y, i not in y) max(1 - x_j + x_i, 0) / c``; y are the targets before the first -1.

    Shapes: ``(n, c), (n, c) -> (n,)``, or ``(c,), (c,) -> ()``.
    Raises: RuntimeError: the targets do not fit.

    >>> import compat as torch
    >>> x, y = torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, 0, -1, 1]])
    >>> multilabel_margin_loss(x, y)
    tensor(0.8500)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x = operand("multilabel_margin_loss", 1, "input", input)
    y = operand("multilabel_margin_loss", 2, "target", target)
    _check_reduction(reduction)
    rows = _samples("multilabel_margin_loss_forward_out_frame", x)
    if y._array.shape != x._array.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(y._array.shape)} for input of size: "
            f"{list(x._array.shape)}"
        )
    classes = rows._array.shape[1]
    labels = y.detach().reshape(rows._array.shape)
    numbers = known(labels._array)
    if numbers is not None and ((numbers < -1) | (numbers >= classes)).any():
        raise RuntimeError("argument #2 'target' is out of range")
    _require_int64(y)
    valid = (labels >= 0).cumprod(1).to(rows.dtype)
    times = (valid * 0).scatter_add(1, labels.clamp(min=0), valid)
    node = "MultilabelMarginLossBackward0"
    losses = fused(node, loss_terms.multilabel_margin, rows, times)
    if reduction == "none":
        return losses if x._array.ndim > 1 else losses.reshape(())
    return _finished(losses, reduction, node)


__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]
