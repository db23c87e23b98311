"""`cond`: a branch on a truth value, as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._tensor import Tensor


def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any] = (),
) -> Any:
    """``true_fn(*operands)`` if `pred`, ``false_fn(*operands)`` if not: Python's own branch.

    Shapes: `pred` has one element.   Dtypes: any.
    Derivative: that of the branch that runs.
    Raises: RuntimeError: `pred` is no truth value, or a branch is no function.

    >>> import compat as torch
    >>> torch.cond(torch.tensor(True), torch.sin, torch.cos, (torch.zeros(1),))
    tensor([0.])
    """
    if not isinstance(pred, bool) and not (isinstance(pred, Tensor) and pred.numel() == 1):
        found = f"a tensor of shape {list(pred.shape)}" if isinstance(pred, Tensor) else repr(pred)
        raise RuntimeError(f"Expected pred to be bool or tensor with one element, but got {found}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, tuple | list):
        raise RuntimeError(f"Expect operands to be a tuple, but got {type(operands).__name__}.")
    return true_fn(*operands) if pred else false_fn(*operands)


__all__ = ["cond"]
