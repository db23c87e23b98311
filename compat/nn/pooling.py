"""Pooling layers: maxima, means and norms of windows, and the way back from maxima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import pooling_functions as P
from . import unpooling_functions as U
from .module import Module

Given = int | tuple[int, ...]


def _each(given: Any, n: int) -> tuple[int, ...]:
    """What was given, once for each of `n` axes if it is one thing."""
    return tuple(given) if isinstance(given, Sequence) else (given,) * n


def _or(stride: Any, kernel_size: Any) -> Any:
    """The stride, which is the window if it is not given."""
    return kernel_size if stride is None else stride


# ---------------------------------------------------------------- maxima


class _MaxPool(Module):
    """Maxima of windows; the subclasses say over how many axes."""

    def __init__(
        self,
        kernel_size: Given,
        stride: Given | None = None,
        padding: Given = 0,
        dilation: Given = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = _or(stride, kernel_size)
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    @staticmethod
    def _function(*args: Any) -> Any:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """``y[p] = max_k x[p * stride + k * dilation - padding]``, see `functional.max_pool1d`.

    Shapes: ``(n, c, l) or (c, l) -> (n, c, windows) or (c, windows)``.

    >>> import compat as torch
    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 5.0]]))
    tensor([[3., 5.]])
    """

    _function = staticmethod(P.max_pool1d)


class MaxPool2d(_MaxPool):
    """As `MaxPool1d`, over two axes."""

    _function = staticmethod(P.max_pool2d)


class MaxPool3d(_MaxPool):
    """As `MaxPool1d`, over three axes."""

    _function = staticmethod(P.max_pool3d)


class _MaxUnpool(Module):
    """Maxima put back; the subclasses say over how many axes."""

    _ndim: int

    def __init__(self, kernel_size: Given, stride: Given | None = None, padding: Given = 0) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, self._ndim)
        self.stride = _each(_or(stride, kernel_size), self._ndim)
        self.padding = _each(padding, self._ndim)

    def forward(self, input: Any, indices: Any, output_size: Sequence[int] | None = None) -> Any:
        options = (self.kernel_size, self.stride, self.padding, output_size)
        return self._function(input, indices, *options)

    @staticmethod
    def _function(*args: Any) -> Any:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Zeros, with the maxima that `MaxPool1d` found where it found them.

    Shapes: ``(n, c, windows) or (c, windows) -> (n, c, l) or (c, l)``.

    >>> import compat as torch
    >>> pool = torch.nn.MaxPool1d(2, return_indices=True)
    >>> torch.nn.MaxUnpool1d(2)(*pool(torch.tensor([[1.0, 3.0, 2.0, 5.0]])))
    tensor([[0., 3., 0., 5.]])
    """

    _ndim = 1
    _function = staticmethod(U.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """As `MaxUnpool1d`, over two axes."""

    _ndim = 2
    _function = staticmethod(U.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """As `MaxUnpool1d`, over three axes."""

    _ndim = 3
    _function = staticmethod(U.max_unpool3d)


# ---------------------------------------------------------------- means and norms


class AvgPool1d(Module):
    """``y[p] = sum_k x[p * stride + k - padding] / count``, see `functional.avg_pool1d`.

    Shapes: ``(n, c, l) or (c, l) -> (n, c, windows) or (c, windows)``.

    >>> import compat as torch
    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 5.0]]))
    tensor([[2.0000, 3.5000]])
    """

    def __init__(
        self,
        kernel_size: Given,
        stride: Given | None = None,
        padding: Given = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, 1)
        self.stride = _each(_or(stride, kernel_size), 1)
        self.padding = _each(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        options = (self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return P.avg_pool1d(input, self.kernel_size, *options)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    """Means of windows; the subclasses say over how many axes."""

    def __init__(
        self,
        kernel_size: Given,
        stride: Given | None = None,
        padding: Given = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = _or(stride, kernel_size)
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    _function: Any  # which the subclasses have

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """As `AvgPool1d`, over two axes; `divisor_override` takes the place of the count."""

    _function = staticmethod(P.avg_pool2d)


class AvgPool3d(_AvgPool):
    """As `AvgPool2d`, over three axes."""

    _function = staticmethod(P.avg_pool3d)


class _LPPool(Module):
    """Norms of windows; the subclasses say over how many axes."""

    def __init__(
        self,
        norm_type: float,
        kernel_size: Given,
        stride: Given | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        options = (float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        return self._function(input, *options)

    @staticmethod
    def _function(*args: Any) -> Any:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """``(sum_k x_k^p)^(1/p)`` of the elements of every window, see `functional.lp_pool1d`.

    Shapes: ``(n, c, l) or (c, l) -> (n, c, windows) or (c, windows)``.

    >>> import compat as torch
    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0, 0.0, 2.0]]))
    tensor([[5., 2.]])
    """

    _function = staticmethod(P.lp_pool1d)


class LPPool2d(_LPPool):
    """As `LPPool1d`, over two axes."""

    _function = staticmethod(P.lp_pool2d)


class LPPool3d(_LPPool):
    """As `LPPool1d`, over three axes."""

    _function = staticmethod(P.lp_pool3d)


# ---------------------------------------------------------------- as many windows as asked for


class _AdaptiveMaxPool(Module):
    """Maxima of as many windows as asked for; the subclasses say over how many axes."""

    def __init__(
        self, output_size: int | tuple[int | None, ...] | None, return_indices: bool = False
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        return self._function(input, self.output_size, self.return_indices)

    @staticmethod
    def _function(*args: Any) -> Any:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maxima of windows that divide the last axis into `output_size` parts.

    Shapes: ``(b, c, n) or (c, n) -> (b, c, m) or (c, m)``; None keeps an axis.

    >>> import compat as torch
    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[0.0, 5.0, 4.0, 6.0, 8.0]]))
    tensor([[5., 8.]])
    """

    _function = staticmethod(P.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """As `AdaptiveMaxPool1d`, over two axes."""

    _function = staticmethod(P.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """As `AdaptiveMaxPool1d`, over three axes."""

    _function = staticmethod(P.adaptive_max_pool3d)


class _AdaptiveAvgPool(Module):
    """Means of as many windows as asked for; the subclasses say over how many axes."""

    def __init__(self, output_size: int | tuple[int | None, ...] | None) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return self._function(input, self.output_size)

    @staticmethod
    def _function(*args: Any) -> Any:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of windows that divide the last axis into `output_size` parts.

    Shapes: ``(b, c, n) or (c, n) -> (b, c, m) or (c, m)``; None keeps an axis.

    >>> import compat as torch
    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[0.0, 2.0, 4.0, 6.0, 8.0]]))
    tensor([[2., 6.]])
    """

    _function = staticmethod(P.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """As `AdaptiveAvgPool1d`, over two axes."""

    _function = staticmethod(P.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """As `AdaptiveAvgPool1d`, over three axes."""

    _function = staticmethod(P.adaptive_avg_pool3d)


__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]
