"""Convolutional layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from ..ops.create import empty
from ..ops.padding import pad
from ..parameter import Parameter
from . import conv_functions as C
from . import init
from .module import Module

Given = int | tuple[int, ...]
PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]

_MODES = ("zeros", "reflect", "replicate", "circular")


def _each(given: Any, n: int) -> tuple[int, ...]:
    """What was given, once for each of `n` axes if it is one thing."""
    return tuple(given) if isinstance(given, Sequence) else (given,) * n


class _ConvNd(Module):
    """What convolutions have in common; `_ndim` is the number of spatial axes."""

    _ndim: int
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Given,
        stride: Given,
        padding: str | Given,
        dilation: Given,
        output_padding: Given,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        n = self._ndim
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = _each(kernel_size, n)
        self.stride = _each(stride, n)
        self.padding = padding if isinstance(padding, str) else _each(padding, n)
        self.dilation = _each(dilation, n)
        self.transposed = self._transposed
        self.output_padding = _each(output_padding, n)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check()
        self._reversed_padding_repeated_twice = self._ends()
        first, second = in_channels, out_channels
        if not self.transposed:
            first, second = second, first
        shape = (first, second // groups, *self.kernel_size)
        self.weight = Parameter(empty(shape, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty((out_channels,), dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _check(self) -> None:
        """Raises: ValueError: options do not fit."""
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise ValueError(f"{name} must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {self.padding!r}, should be one of 'same', 'valid'"
                )
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in _MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_MODES)}, but got "
                f"padding_mode='{self.padding_mode}'"
            )

    def _ends(self) -> list[int]:
        """How much `pad` has to put before and after every axis, the last axis first."""
        if self.padding == "same":
            each = zip(self.kernel_size, self.dilation, strict=False)
            totals = [d * (k - 1) for k, d in each]
            pairs = [(total // 2, total - total // 2) for total in totals]
        elif self.padding == "valid":
            pairs = [(0, 0)] * self._ndim
        else:
            pairs = [(p, p) for p in self.padding]  # type: ignore[misc]
        return [end for pair in reversed(pairs) for end in pair]

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        said = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        said += f", stride={self.stride}"
        usual = {
            "padding": (0,) * self._ndim,
            "dilation": (1,) * self._ndim,
            "output_padding": (0,) * self._ndim,
            "groups": 1,
        }
        for name, default in usual.items():
            found = getattr(self, name)
            said += "" if found == default else f", {name}={found}"
        said += ", bias=False" if self.bias is None else ""
        return said + (
            "" if self.padding_mode == "zeros" else f", padding_mode={self.padding_mode}"
        )


class _Conv(_ConvNd):
    """What `Conv1d`, `Conv2d` and `Conv3d` have in common."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Given,
        stride: Given = 1,
        padding: str | Given = 0,
        dilation: Given = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        window = (kernel_size, stride, padding, dilation, 0)
        rest = (groups, bias, padding_mode, device, dtype)
        super().__init__(in_channels, out_channels, *window, *rest)

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        options: tuple[Any, ...] = (self.stride, self.padding, self.dilation, self.groups)
        if self.padding_mode != "zeros":
            input = pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            options = (self.stride, 0, self.dilation, self.groups)
        return self._function(input, weight, bias, *options)

    @staticmethod
    def _function(*args: Any) -> Any:
        raise NotImplementedError


class Conv1d(_Conv):
    """``y[n, o, p] = b[o] + sum_{c,k} x[n, c, p * stride + k * dilation - padding] w[o, c, k]``.

    The kernel is not flipped. `padding`: a number of elements at both ends, "valid" for none or
    "same" for as many as keep the length; `padding_mode` says what they are. `groups`: blocks of
    channels that do not mix. `weight` and `bias` start as uniform numbers between
    ``-1 / sqrt(c k / groups)`` and its negative.

    Shapes: ``(n, in_channels, l) or (in_channels, l) -> (n, out_channels, windows)``.

    >>> import compat as torch
    >>> torch.nn.Conv1d(2, 4, 3, padding=1)(torch.ones(1, 2, 5)).shape
    torch.Size([1, 4, 5])
    """

    _ndim = 1
    _function = staticmethod(C.conv1d)


class Conv2d(_Conv):
    """As `Conv1d`, with two spatial axes.

    >>> import compat as torch
    >>> torch.nn.Conv2d(1, 2, (3, 5), stride=2)
    Conv2d(1, 2, kernel_size=(3, 5), stride=(2, 2))
    """

    _ndim = 2
    _function = staticmethod(C.conv2d)


class Conv3d(_Conv):
    """As `Conv1d`, with three spatial axes."""

    _ndim = 3
    _function = staticmethod(C.conv3d)


class _ConvTranspose(_ConvNd):
    """What `ConvTranspose1d`, `ConvTranspose2d` and `ConvTranspose3d` have in common."""

    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Given,
        stride: Given = 1,
        padding: Given = 0,
        output_padding: Given = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Given = 1,
        padding_mode: PaddingMode = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, but got '
                f"{padding_mode!r}"
            )
        window = (kernel_size, stride, padding, dilation, output_padding)
        rest = (groups, bias, padding_mode, device, dtype)
        super().__init__(in_channels, out_channels, *window, *rest)

    def forward(self, input: Any, output_size: Sequence[int] | None = None) -> Any:
        more = self._output_padding(input, output_size)
        options = (self.stride, self.padding, more, self.groups, self.dilation)
        return self._function(input, self.weight, self.bias, *options)

    def _output_padding(self, input: Any, output_size: Sequence[int] | None) -> Any:
        """How many elements have to be added at the ends for results of this size.

        Raises: ValueError: there are too many or too few.
        """
        if output_size is None:
            return self.output_padding
        n = self._ndim
        shape = tuple(input.shape)
        asked = list(output_size)
        if len(asked) == len(shape) > n:
            asked = asked[-n:]
        if len(asked) != n:
            raise ValueError(
                f"{type(self).__name__}: for {len(shape)}D input, output_size must have {n} or "
                f"{len(shape)} elements (got {len(asked)})"
            )
        pads: Any = self.padding
        least = C.transposed_sizes(
            shape[-n:], self.kernel_size, self.stride, pads, self.dilation, (0,) * n
        )
        most = [m + s - 1 for m, s in zip(least, self.stride, strict=True)]
        if not all(a <= x <= b for x, a, b in zip(asked, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {asked}, but valid sizes range from {least} to {most} "
                f"(for an input of {list(shape[-n:])})"
            )
        return tuple(x - a for x, a in zip(asked, least, strict=True))

    @staticmethod
    def _function(*args: Any) -> Any:
        raise NotImplementedError


class ConvTranspose1d(_ConvTranspose):
    """The adjoint of `Conv1d`, see `functional.conv_transpose1d`.

    A convolution with strides maps several lengths to one; `output_padding`, or `output_size` when
    the layer is called, says which of them comes back.

    Shapes: ``(n, in_channels, windows) or (in_channels, windows) -> (n, out_channels, l)``.

    >>> import compat as torch
    >>> up = torch.nn.ConvTranspose1d(4, 2, 3, stride=2)
    >>> up(torch.ones(1, 4, 5)).shape, up(torch.ones(1, 4, 5), output_size=[12]).shape
    (torch.Size([1, 2, 11]), torch.Size([1, 2, 12]))
    """

    _ndim = 1
    _function = staticmethod(C.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """As `ConvTranspose1d`, with two spatial axes."""

    _ndim = 2
    _function = staticmethod(C.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """As `ConvTranspose1d`, with three spatial axes."""

    _ndim = 3
    _function = staticmethod(C.conv_transpose3d)


__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]
