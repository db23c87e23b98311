"""`cond` and `while_loop`: Python's own branch and loop, as functions."""

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
    is_true = _truth_value(pred, "pred")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, tuple | list):
        raise RuntimeError(f"Expect operands to be a tuple, but got {type(operands).__name__}.")
    return true_fn(*operands) if is_true else false_fn(*operands)


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]
) -> Any:
    """``carried = body_fn(*carried)`` while ``cond_fn(*carried)``: Python's own loop.

    Shapes: what `cond_fn` gives has one element; those of the carried stay.   Dtypes: any; they stay.
    Derivative: that of the steps that run.
    Raises: RuntimeError: no functions, no truth value, or a step changes the number, the shapes or the
    dtypes of what is carried.

    >>> import compat as torch
    >>> x = torch.tensor(1.0)
    >>> torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))
    (tensor(3), tensor(8.))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, tuple | list):
        found = type(carried_inputs).__name__
        raise RuntimeError(f"Expect carried_inputs to be a tuple or a list, but got {found}.")
    carried = carried_inputs
    while _truth_value(cond_fn(*carried), "what cond_fn returns"):
        carried = _like(carried, body_fn(*carried))
    return carried


def _truth_value(x: Any, name: str) -> bool:
    """Raises: RuntimeError: `x` is neither a bool nor a tensor with one element."""
    if not isinstance(x, bool) and not (isinstance(x, Tensor) and x.numel() == 1):
        found = f"a tensor of shape {list(x.shape)}" if isinstance(x, Tensor) else repr(x)
        raise RuntimeError(
            f"Expected {name} to be bool or tensor with one element, but got {found}."
        )
    return bool(x)


def _like(carried: Sequence[Any], found: Any) -> Any:
    """What a step has `found`.

    Raises: RuntimeError: it differs from what is `carried` in number, shapes or dtypes.
    """
    kinds = [
        [(x.shape, x.dtype) if isinstance(x, Tensor) else type(x) for x in xs]
        for xs in (carried, found if isinstance(found, tuple | list) else [None])
    ]
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            f"Expected body_fn to return what is carried, with the same shapes and dtypes: "
            f"{kinds[0]}, but got {kinds[1]}."
        )
    return found


__all__ = ["cond", "while_loop"]
