"""Tensors with at least so many axes: atleast_1d, atleast_2d, atleast_3d."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._operands import operand
from .shape import reshaped, unsqueeze


def _each(f: Callable[[Any], Any], tensors: tuple[Any, ...]) -> Any:
    """`f` of the one tensor, or a tuple of the results for several."""
    if len(tensors) == 1 and not isinstance(tensors[0], tuple | list):
        return f(tensors[0])
    if len(tensors) == 1:
        tensors = tuple(tensors[0])
    return tuple(map(f, tensors))


def _atleast_1d(x: Any) -> Any:
    x = operand("atleast_1d", 1, "tensors", x)
    return x if x._array.shape else reshaped(x, (1,))


def _atleast_2d(x: Any) -> Any:
    x = operand("atleast_2d", 1, "tensors", x)
    ndim = len(x._array.shape)
    return reshaped(x, (1, 1)) if not ndim else unsqueeze(x, 0) if ndim == 1 else x


def _atleast_3d(x: Any) -> Any:
    x = operand("atleast_3d", 1, "tensors", x)
    ndim = len(x._array.shape)
    if not ndim:
        return reshaped(x, (1, 1, 1))
    if ndim == 1:
        return unsqueeze(unsqueeze(x, 0), -1)
    return unsqueeze(x, -1) if ndim == 2 else x


def atleast_1d(*tensors: Any) -> Any:
    """Tensors without axes get one; of several, a tuple.

    >>> import compat as torch
    >>> torch.atleast_1d(torch.tensor(1.0))
    tensor([1.])
    """
    return _each(_atleast_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Tensors with fewer than two axes get new ones in front; of several, a tuple.

    >>> import compat as torch
    >>> torch.atleast_2d(torch.tensor([1.0, 2.0]))
    tensor([[1., 2.]])
    """
    return _each(_atleast_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Tensors get up to three axes: a vector becomes ``(1, n, 1)``, a matrix ``(m, n, 1)``.

    >>> import compat as torch
    >>> torch.atleast_3d(torch.tensor([1.0, 2.0])).shape
    torch.Size([1, 2, 1])
    """
    return _each(_atleast_3d, tensors)


__all__ = ["atleast_1d", "atleast_2d", "atleast_3d"]
