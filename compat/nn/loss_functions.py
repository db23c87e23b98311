"""The losses of `functional`: how far an input is from a target, summed or averaged.

`reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are its old forms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.core import Tracer
from funcgrad.nn import loss_terms, losses
from funcgrad.ops import arithmetic, contract, softmax, structural
from funcgrad.ops import reduce as reductions

from .. import dtypes
from ..autograd import sites
from ..autograd.base import tensor
from ..autograd.printed_composites import composite
from ..autograd.tape import record
from ..ops._apply import _type_word as type_word
from ..ops._apply import check_broadcast, requires_grad
from ..ops._compose import composed, pick, require_real_floats
from ..ops._fused import fused
from ..ops._operands import alike, convert, dtype_of, operand, optional, promoted
from ..ops.exponential import log, log1p
from ..ops.pointwise import abs, mul, refuse_bools, sub
from .last_steps import last, total

if TYPE_CHECKING:
    from .._tensor import Tensor


def reduction_of(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction that the arguments ask for; the old forms win, with a warning."""
    if size_average is None and reduce is None:
        return reduction
    found = "none" if reduce is False else "sum" if size_average is False else "mean"
    sites.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead."
    )
    return found


def _check_reduction(reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction: use mean, sum or none")


def _reduced(x: Any, reduction: str, mean: str, sum: str) -> Any:
    """The mean or the sum of all elements, with the names of the nodes, or `x` itself."""
    if reduction == "none":
        return x
    if reduction == "mean" and x._array.size:
        return total(reductions.mean, mean)(x)
    if dtype_of(x).category < 2:
        x = convert(x, dtypes.int64)
    found = total(structural.sum, sum)(x)
    # NumPy's mean of nothing would warn.
    return found if reduction == "sum" else record(arithmetic.divide, (found, 0.0), None, mean)


# ---------------------------------------------------------------- distances


def _compared(name: str, input: Any, target: Any, weight: Any) -> tuple[Any, Any]:
    """The input and the target of a distance in one dtype, after the checks that these share."""
    input = operand(name, 1, "input", input)
    target = operand(name, 2, "target", target)
    if input._array.shape != target._array.shape:
        sites.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size."
        )
        check_broadcast(input, target)
    if weight is not None and weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return alike(input, target)


def _weighted(x: Any, weight: Any, reduction: str) -> Any:
    """``x * weight``; its mean divides by the sum of the weights."""
    x = record(arithmetic.multiply, promoted((x, weight)), None, "MulBackward0")
    if reduction != "mean":
        return _reduced(x, reduction, "", "SumBackward0")
    return composed("DivBackward0", lambda a, w: a.sum() / w.sum(), x, weight)


def _mean_square_error(x: Any, y: Any, /) -> Any:
    return reductions.mean(arithmetic.square(arithmetic.subtract(x, y)), axis=(0,))


@composite(_mean_square_error, "MseLossBackward0", {"x": None, "y": None})
def mse_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Tensor:
    """``(x - y)^2``; with `weight` the mean is ``sum w (x - y)^2 / sum w``.

    Raises: ValueError: the weights are not of the input's shape, or there is no such reduction.

    >>> import compat as torch
    >>> mse_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(2.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _check_reduction(reduction)
    x, y = _compared("mse_loss", input, target, weight)
    require_real_floats("mse_cpu", x)
    squares = last(arithmetic.square, "MseLossBackward0")(sub(x, y))
    if weight is not None:
        return _weighted(squares, weight, reduction)
    return _reduced(squares, reduction, "MseLossBackward0", "MseLossBackward0")


def l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Tensor:
    """``|x - y|``, whose derivative at 0 is 0; with `weight` the mean is ``sum w |x - y| / sum w``.

    Raises: ValueError: the weights are not of the input's shape, or there is no such reduction.

    >>> import compat as torch
    >>> l1_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(1.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _check_reduction(reduction)
    x, y = _compared("l1_loss", input, target, weight)
    refuse_bools(input, target)
    d = sub(x, y)
    if reduction == "mean" and dtype_of(d).category < 2:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {type_word(dtype_of(d))}"
        )
    distances = abs(d)
    if weight is not None:
        return _weighted(distances, weight, reduction)
    return _reduced(distances, reduction, "MeanBackward0", "SumBackward0")


# ---------------------------------------------------------------- classes


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``-w[y] x[y]`` of log-probabilities `input`; the mean divides by the sum of ``w[y]``.

    Where the target is `ignore_index` the loss is 0 and does not count.

    Shapes: ``input: (N, C, *d)`` or ``(C,)``, ``target: (N, *d)`` or ``()``, ``weight: (C,)``.
    Raises: IndexError: a target is no class. RuntimeError, ValueError: shapes or dtypes do not fit.

    >>> import compat as torch
    >>> nll_loss(torch.tensor([[-0.5, -2.0]]), torch.tensor([1]))
    tensor(2.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    input = operand("nll_loss", 1, "input", input)
    target = operand("nll_loss", 2, "target", target)
    weight = optional("nll_loss", 3, "weight", weight)
    _check_reduction(reduction)
    _check_classes(input, target, weight)
    require_real_floats("nll_loss_out_frame", input)
    return _nll_loss(input, target, weight, ignore_index, reduction)


def _nll_loss(input: Any, target: Any, weight: Any, ignore: int, reduction: str) -> Any:
    """`nll_loss` of arguments that fit."""
    ndim = len(input._array.shape)
    axis = min(ndim - 1, 1)
    node = "NllLossBackward0" if ndim < 3 else "NllLoss2DBackward0"
    if weight is None and ndim == 2 and reduction != "none" and ignore < 0:
        factors = _one_hot(input._array, target._array, reduction == "mean")
        if factors is not None:
            with np.errstate(invalid="ignore"):
                found = total(structural.sum, node)(mul(input, tensor(factors)))
            if math.isfinite(found._array):  # else 0 times infinity may be in it
                return found
    places, weights = _targets(input, target, weight, ignore, axis)
    picked = pick(input, places, axis, "GatherBackward0")
    counted = weights.__class__ is np.ndarray and weights.size and weights.all()
    if counted and weight is None and (reduction == "none" or ndim != 2):
        return _reduced(last(arithmetic.negative, node)(picked), reduction, node, node)
    if counted and reduction != "none" and ndim == 2:  # in one operation
        factors = weights / (-weights.sum() if reduction == "mean" else -1)
        return record(contract.matmul, (picked, factors), None, node)
    losses = record(arithmetic.zero_preserving_multiply, (-weights, picked), None, node)
    return _mean_by(losses, weights, reduction, node)


_SMALL = 2**15  # up to as many elements a product is faster than picking by place


def _one_hot(x: Any, classes: Any, mean: bool) -> Any:
    """What to multiply `x` with to have the losses; None if it is large or a class does not count."""
    if x.__class__ is not np.ndarray or not 0 < x.size <= _SMALL or x.dtype.kind != "f":
        return None
    if classes.__class__ is not np.ndarray or classes.min() < 0:
        return None
    factors = np.zeros(x.shape, x.dtype)
    try:
        factors[np.arange(len(x)), classes] = -1.0 / len(x) if mean else -1.0
    except IndexError:  # no such class
        return None
    return factors


def _mean_by(losses: Any, weights: Any, reduction: str, node: str) -> Any:
    """The losses reduced; their mean is ``sum losses / sum weights``."""
    if reduction == "none":
        return losses
    whole = _reduced(losses, "sum", "", node)
    if reduction == "sum":
        return whole
    return record(arithmetic.divide, (whole, tensor(weights.sum())), None, node)


def _check_classes(input: Any, target: Any, weight: Any) -> None:
    """Raises: ValueError, RuntimeError: input, target and weight do not fit together."""
    shape, classes = tuple(input._array.shape), tuple(target._array.shape)
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1:
        if len(classes) > 1 or classes not in ((), (1,)):
            raise RuntimeError(
                f"size mismatch (got input: {list(shape)} , target: {list(classes)})"
            )
    elif not classes or classes[0] != shape[0]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({classes[0] if classes else 0})."
        )
    elif len(shape) == 2 and len(classes) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif classes[1:] != shape[2:]:
        expected = [shape[0], *shape[2:]]
        raise RuntimeError(
            f"Expected target size {expected}, got {list(classes)}: size mismatch (got input: "
            f"{list(shape)} , target: {list(classes)})"
        )
    word = type_word(dtype_of(target))
    if word not in ("Long", "Byte"):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {word}. Convert it, for example "
            "with target.long()."
        )
    _check_weight(input, weight, shape[min(len(shape) - 1, 1)])


def _check_weight(input: Any, weight: Any, classes: int) -> None:
    """Raises: RuntimeError: the weights are not one number for each class, as `input` needs them."""
    if weight is None:
        return
    if tuple(weight._array.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight._array.shape)}"
        )
    if dtype_of(weight) is not dtype_of(input):
        raise RuntimeError(
            f"expected scalar type {type_word(dtype_of(input))} but found "
            f"{type_word(dtype_of(weight))}"
        )
    if requires_grad(weight):
        raise RuntimeError("the derivative for 'weight' is not implemented; detach() it")


def _targets(input: Any, target: Any, weight: Any, ignore: int, axis: int) -> tuple[Any, Any]:
    """The classes, 0 where they are ignored, and their weights, 0 there: arrays.

    Raises: IndexError: a target is no class.
    """
    shape = input._array.shape
    classes = target._array.astype(np.intp)
    if len(shape) == 1:
        classes = classes.reshape(())
    traced = any(isinstance(x._array, Tracer) for x in (target, weight) if x is not None)
    xp: Any = fnp if traced else np
    counted = xp.not_equal(classes, ignore)
    places = xp.where(counted, classes, 0)
    known = not isinstance(places, Tracer) and places.size
    if known and not (places.min() >= 0 and places.max() < shape[axis]):
        wrong = places[(places < 0) | (places >= shape[axis])]
        raise IndexError(
            f"Target {wrong[0]} is out of bounds. There are {shape[axis]} classes, counted from 0; "
            f"ignore_index is {ignore}."
        )
    dtype = input._array.dtype
    if weight is None:
        return places, counted.astype(dtype)
    return places, xp.where(counted, xp.take(weight._array, places), 0).astype(dtype)


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """``-sum_c q_c w_c log softmax(x)_c``, where ``q`` is 1 at the class, or the probabilities given.

    `label_smoothing` moves that part of ``q`` evenly to all classes. The mean divides by the sum of
    the classes' weights, or for probabilities by their number.

    Shapes: as `nll_loss`; probabilities are of the input's shape.
    Raises: IndexError: a target is no class. RuntimeError, ValueError: shapes or dtypes do not fit.

    >>> import compat as torch
    >>> cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    input = operand("cross_entropy_loss", 1, "input", input)
    target = operand("cross_entropy_loss", 2, "target", target)
    weight = optional("cross_entropy_loss", 3, "weight", weight)
    _check_reduction(reduction)
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = min(len(input._array.shape) - 1, 1)
    if input.shape == target.shape:
        if dtype_of(target).category != 2:
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{type_word(dtype_of(target))}. Class indices have one axis less than the input."
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        _check_weight(input, weight, input._array.shape[axis])
        log_p = _log_softmax(input, axis)
        return _of_probabilities(log_p, target, weight, reduction, label_smoothing, axis)
    _check_classes(input, target, weight)
    log_p = _log_softmax(input, axis)
    if not label_smoothing:
        return _nll_loss(log_p, target, weight, ignore_index, reduction)
    places, weights = _targets(input, target, weight, ignore_index, axis)
    classes = input._array.shape[axis]
    grid = np.arange(classes).reshape((-1,) + (1,) * (len(input._array.shape) - 1 - axis))
    hits = fnp.equal(fnp.expand_dims(places, axis), grid)
    q = hits * (1 - label_smoothing) + label_smoothing / classes
    counted = fnp.not_equal(target._array.reshape(weights.shape), ignore_index)
    q = (q * fnp.expand_dims(counted, axis)).astype(weights.dtype)
    losses = _pair(tensor(q), log_p, weight, axis, "AddBackward0")
    return _mean_by(losses, weights, reduction, "AddBackward0")


def _log_softmax(x: Any, axis: int) -> Tensor:
    require_real_floats("log_softmax_lastdim_kernel_impl", x)
    return fused("LogSoftmaxBackward0", softmax.log_softmax, x, axis=(axis,))


def _of_probabilities(
    log_p: Any, target: Any, weight: Any, reduction: str, smoothing: float, axis: int
) -> Any:
    """The cross entropy with probabilities, which may need a gradient too."""
    classes = log_p._array.shape[axis]
    log_p, q = alike(log_p, target)
    if smoothing:
        q = composed("AddBackward0", lambda a: a * (1 - smoothing) + smoothing / max(classes, 1), q)
    losses = _pair(q, log_p, weight, axis, "NegBackward0")
    if reduction == "none":
        return losses
    whole = _reduced(losses, "sum", "", "NegBackward0")
    if reduction == "sum":
        return whole
    count = log_p._array.size / classes if classes else math.nan
    return record(arithmetic.divide, (whole, count), None, "DivBackward0")


def _pair(q: Any, log_p: Any, weight: Any, axis: int, node: str) -> Any:
    """``-sum_c q_c w_c log_p_c``; what has no probability adds nothing, be it infinitely unlikely."""
    return fused(node, losses.against, q, log_p, weight, axis=axis)


# ---------------------------------------------------------------- two classes


def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``-w (y log x + (1 - y) log(1 - x))`` of probabilities; a logarithm counts as -100 at least.

    The derivative is ``w (x - y) / max(x (1 - x), 1e-12)``, also at 0 and 1.

    Raises: RuntimeError: a probability is not between 0 and 1. ValueError: the shapes differ.

    >>> import compat as torch
    >>> binary_cross_entropy(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 1.0]), reduction="none")
    tensor([  0.6931, 100.0000])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    input = operand("binary_cross_entropy", 1, "input", input)
    target = operand("binary_cross_entropy", 2, "target", target)
    weight = optional("binary_cross_entropy", 3, "weight", weight)
    _check_reduction(reduction)
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    require_real_floats("binary_cross_entropy", input)
    for x in (target, weight):
        if x is not None and dtype_of(x) is not dtype_of(input):
            raise RuntimeError(
                f"Found dtype {type_word(dtype_of(x))} but expected {type_word(dtype_of(input))}"
            )
    inside = _check_probabilities("input", input)
    _check_probabilities("target", target)
    node = "BinaryCrossEntropyBackward0"
    if inside:
        losses = target * log(input) + (1 - target) * log1p(-input)
        losses = last(arithmetic.negative, node)(losses)
    else:
        losses = fused(node, loss_terms.binary_cross_entropy, input, target)
    return _scaled(losses, weight, reduction, node)


def _check_probabilities(name: str, x: Any) -> bool:
    """Whether the numbers are known to be so far inside of (0, 1) that neither their logarithms nor
    the derivatives of these are cut off.

    Raises: RuntimeError: a number is not between 0 and 1.
    """
    array = x._array
    if isinstance(array, Tracer) or not array.size:
        return False
    low, high = array.min(), array.max()
    if not (low >= 0 and high <= 1):
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    edge = 2.0**-13 if array.dtype == np.float16 else 2e-12
    return bool(low > edge and 1 - high > edge)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Tensor:
    """``-w (p y log s(x) + (1 - y) log(1 - s(x)))`` of logits, where ``s`` is the sigmoid.

    Neither it nor its derivative overflows or cancels.

    Raises: ValueError: the shapes of input and target differ.

    >>> import compat as torch
    >>> binary_cross_entropy_with_logits(torch.tensor([0.0, 200.0]), torch.tensor([1.0, 1.0]))
    tensor(0.3466)
    """
    name = "binary_cross_entropy_with_logits"
    reduction = reduction_of(size_average, reduce, reduction)
    input = operand(name, 1, "input", input)
    target = operand(name, 2, "target", target)
    weight = optional(name, 3, "weight", weight)
    pos_weight = optional(name, 4, "pos_weight", pos_weight)
    _check_reduction(reduction)
    if input.shape != target.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    require_real_floats("log_sigmoid_cpu", input)
    if dtype_of(target).category < 2:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type "
            f"{type_word(dtype_of(target))}: convert the target, for example with target.float()"
        )
    node = "BinaryCrossEntropyWithLogitsBackward0"
    if pos_weight is not None:
        check_broadcast(pos_weight, input)
    given = promoted((input, target) if pos_weight is None else (input, target, pos_weight))
    losses = fused(node, loss_terms.binary_cross_entropy_of_logits, *given)
    return _scaled(losses, weight, reduction, node)


def _scaled(losses: Any, weight: Any, reduction: str, node: str) -> Any:
    if weight is not None:
        check_broadcast(losses, weight)
        losses = record(arithmetic.multiply, promoted((losses, weight)), None, node)
    return _reduced(losses, reduction, node, node)
