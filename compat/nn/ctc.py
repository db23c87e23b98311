"""`ctc_loss`: how likely a sequence is, if it is known only what is said and not when.

At each time a network says a label or `blank`. All ways to say the target, with repetitions and blanks
between its labels, are summed by dynamic programming in logarithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.nn.ctc import ctc_tables, ctc_terms

from ..autograd.base import TensorBase, tensor
from ..ops._compose import not_implemented, values_of
from ..ops._fused import fused
from ..ops._operands import dtype_of, operand
from .loss_functions import _check_reduction, _reduced

if TYPE_CHECKING:
    from .._tensor import Tensor

_NODE = "CtcLossBackward0"


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the logarithm of the probability of each target; the mean is of losses per label.

    `log_probs` are logarithms of the probabilities of labels at each time. A target longer than its
    input allows has probability 0: its loss is infinite, or 0 with `zero_infinity`; the gradient is 0.

    Shapes: ``log_probs: (T, N, C)``, ``targets: (N, S)`` or all joined, ``lengths: (N,)``; without
    the axis N for one example.
    Source: Graves et al., "Connectionist temporal classification", ICML 2006, section 4.1.
    Raises: RuntimeError: shapes, dtypes or numbers do not fit. ValueError: no such reduction.

    >>> import compat as torch
    >>> log_probs = torch.full((2, 1, 2), 0.5).log()
    >>> ctc_loss(log_probs, torch.tensor([[1]]), (2,), (1,)).exp()  # 1 / P("-a", "a-" or "aa")
    tensor(1.3333)
    """
    _check_reduction(reduction)
    x = operand("ctc_loss", 1, "log_probs", log_probs)
    y = operand("ctc_loss", 2, "targets", targets)
    one_example = x.dim() == 2
    if one_example:
        x = x.unsqueeze(1)
    if x.dim() != 3:
        raise RuntimeError(f"ctc_loss(): log_probs must have 2 or 3 dimensions, but has {x.dim()}")
    _check_input(x, blank)
    times, count, classes = x._array.shape
    input_sizes = _lengths("input", input_lengths, count, times)
    target_sizes = _lengths("target", target_lengths, count)
    labels = _labels(y, target_sizes, blank, classes)
    tables = ctc_tables(labels, input_sizes, target_sizes, times, blank)
    losses = fused(_NODE, ctc_terms, x, *map(tensor, tables), zero_infinity=zero_infinity)
    if reduction == "mean":
        losses = losses / tensor(np.maximum(target_sizes, 1).astype(x._array.dtype))
    if one_example and reduction == "none":
        return losses.squeeze(0)
    return _reduced(losses, reduction, "MeanBackward0", "SumBackward0")


# ---------------------------------------------------------------- checks


def _check_input(x: Any, blank: int) -> None:
    """Raises: RuntimeError: nothing is given, or `blank` is no class. NotImplementedError: dtypes."""
    if not x._array.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if x._array.dtype.name not in ("float32", "float64"):
        raise not_implemented("ctc_loss_cpu", x)
    if not 0 <= blank < x._array.shape[2]:
        raise RuntimeError("blank must be in label range")


def _lengths(name: str, given: Any, count: int, most: int | None = None) -> Any:
    """The numbers. Raises: RuntimeError: not one whole number in the bounds for each example."""
    if isinstance(given, TensorBase):
        if dtype_of(given).category != 1:
            raise RuntimeError(f"{name}_lengths must be integral")
        given = values_of("ctc_loss", given).reshape(-1)
    elif not isinstance(given, tuple | list):
        raise TypeError(
            f"ctc_loss(): {name}_lengths must be a tensor or a tuple of ints, not "
            f"{type(given).__name__}"
        )
    found = np.asarray(given, np.int64)
    if found.shape != (count,):
        raise RuntimeError(f"{name}_lengths must be of size batch_size")
    if found.min(initial=0) < 0:
        raise RuntimeError(
            f"Expected {name}_lengths to have value at least 0, but got {found.min()}"
        )
    if most is not None and found.max(initial=0) > most:
        raise RuntimeError(
            f"Expected {name}_lengths to have value at most {most}, but got value {found.max()}"
        )
    return found


def _labels(y: Any, sizes: Any, blank: int, classes: int) -> Any:
    """The targets in the rows of a matrix, with blanks behind.

    Raises: RuntimeError: the shape does not fit the lengths, or a label is no class.
    """
    if dtype_of(y).category != 1 and y._array.size:
        y = y.long()
    found, longest = values_of("ctc_loss", y), int(sizes.max(initial=0))
    inside = np.arange(longest) < sizes[:, None]
    labels = np.full(inside.shape, blank)
    if found.ndim == 1:
        if found.size != sizes.sum():
            raise RuntimeError(
                f"Expected tensor to have size {sizes.sum()} at dimension 0, but got size "
                f"{found.size} for argument #2 'targets' (while checking arguments for ctc_loss)"
            )
        labels[inside] = found
    elif found.ndim == 2:
        if found.shape[0] != sizes.size or found.shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size {sizes.size} at dimension 0 and size at least "
                f"{longest} at dimension 1, but got {list(found.shape)} for argument #2 'targets' "
                "(while checking arguments for ctc_loss)"
            )
        labels[inside] = found[:, :longest][inside]
    else:
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {found.ndim}-dimensional tensor for argument #2 "
            "'targets' (while checking arguments for ctc_loss)"
        )
    if labels.min(initial=0) < 0 or labels.max(initial=0) >= classes:
        raise RuntimeError(f"ctc_loss(): targets must be at least 0 and less than {classes}")
    return labels


__all__ = ["ctc_loss"]
