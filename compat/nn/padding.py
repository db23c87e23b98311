"""Padding layers: elements before and after those of the last axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.padding import pad
from .module import Module

Given = int | tuple[int, ...]


class _Pad(Module):
    """`functional.pad` of the last `_ndim` axes in one mode."""

    _ndim: int
    _mode: str

    def __init__(self, padding: Given) -> None:
        super().__init__()
        n = 2 * self._ndim
        self.padding = tuple(padding) if isinstance(padding, Sequence) else (padding,) * n

    def forward(self, input: Any) -> Any:
        return pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


# ---------------------------------------------------------------- a number


class _ConstantPad(_Pad):
    def __init__(self, padding: Given, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """The number `value` at both ends of the last axis.

    `padding`: how many elements; two numbers for the last axis, then two for the one before it, and
    so on, or one for all.

    Shapes: ``(*a, n) -> (*a, before + n + after)``.

    >>> import compat as torch
    >>> torch.nn.ConstantPad1d((1, 2), 5.0)(torch.tensor([1.0, 2.0]))
    tensor([5., 1., 2., 5., 5.])
    """

    _ndim = 1


class ConstantPad2d(_ConstantPad):
    """As `ConstantPad1d`, for two axes."""

    _ndim = 2


class ConstantPad3d(_ConstantPad):
    """As `ConstantPad1d`, for three axes."""

    _ndim = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Given) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Zeros at both ends of the last axis.

    >>> import compat as torch
    >>> torch.nn.ZeroPad1d(1)(torch.tensor([1.0, 2.0]))
    tensor([0., 1., 2., 0.])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """As `ZeroPad1d`, for two axes."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """As `ZeroPad1d`, for three axes."""


# ---------------------------------------------------------------- elements of the input


class _ReflectionPad(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """The elements next to the edges, mirrored; the edges are not repeated.

    Shapes: ``(n, c, l) or (c, l) -> (n, c, before + l + after) or (c, before + l + after)``.

    >>> import compat as torch
    >>> torch.nn.ReflectionPad1d(2)(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 2., 1., 2., 3., 2., 1.]])
    """

    _ndim = 1


class ReflectionPad2d(_ReflectionPad):
    """As `ReflectionPad1d`, for two axes."""

    _ndim = 2


class ReflectionPad3d(_ReflectionPad):
    """As `ReflectionPad1d`, for three axes."""

    _ndim = 3


class _ReplicationPad(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPad):
    """The element at the edge, again and again.

    >>> import compat as torch
    >>> torch.nn.ReplicationPad1d(2)(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 1., 2., 3., 3., 3.]])
    """

    _ndim = 1


class ReplicationPad2d(_ReplicationPad):
    """As `ReplicationPad1d`, for two axes."""

    _ndim = 2


class ReplicationPad3d(_ReplicationPad):
    """As `ReplicationPad1d`, for three axes."""

    _ndim = 3


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Any) -> Any:
        n, found = self._ndim, input.dim()
        if found not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {found}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """The elements from the other end.

    >>> import compat as torch
    >>> torch.nn.CircularPad1d(2)(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 3., 1., 2., 3., 1., 2.]])
    """

    _ndim = 1


class CircularPad2d(_CircularPad):
    """As `CircularPad1d`, for two axes."""

    _ndim = 2


class CircularPad3d(_CircularPad):
    """As `CircularPad1d`, for three axes."""

    _ndim = 3


__all__ = [
    f"{kind}Pad{n}d"
    for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero")
    for n in (1, 2, 3)
]
