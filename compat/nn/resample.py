"""Layers that change the size of images: upsampling, pixels and channels, windows as columns."""

from __future__ import annotations

from typing import Any

from ..ops.padding import channel_shuffle, pixel_shuffle, pixel_unshuffle
from . import resample_functions as R
from .module import Module

Given = int | tuple[int, ...]


class Upsample(Module):
    """The spatial axes in other lengths, see `functional.interpolate`.

    Shapes: ``(n, c, *spatial) -> (n, c, *size)``.

    >>> import compat as torch
    >>> torch.nn.Upsample(scale_factor=2, mode="linear")(torch.tensor([[[0.0, 4.0]]]))
    tensor([[[0., 1., 3., 4.]]])
    """

    def __init__(
        self,
        size: Given | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Any = scale_factor
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(map(float, scale_factor))
        elif scale_factor:
            self.scale_factor = float(scale_factor)
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Any) -> Any:
        return R.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images in another size; each pixel is the nearest one.

    >>> import compat as torch
    >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(
        self,
        size: Given | None = None,
        scale_factor: float | tuple[float, float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images in another size, by bilinear interpolation; the corners stay."""

    def __init__(
        self,
        size: Given | None = None,
        scale_factor: float | tuple[float, float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


# ---------------------------------------------------------------- pixels and channels


class PixelShuffle(Module):
    """Squares of r x r pixels made of r * r channels, r = `upscale_factor`.

    Shapes: ``(*a, c * r * r, h, w) -> (*a, c, h * r, w * r)``.

    >>> import compat as torch
    >>> torch.nn.PixelShuffle(2)(torch.arange(4.0).reshape(4, 1, 1))
    tensor([[[0., 1.],
             [2., 3.]]])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The inverse of `PixelShuffle`: r * r channels made of squares of r x r pixels.

    Shapes: ``(*a, c, h * r, w * r) -> (*a, c * r * r, h, w)``, r = `downscale_factor`.
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels dealt out from `groups` piles, see `channel_shuffle`.

    Shapes: ``(n, c, *a) -> (n, c, *a)``.
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        return channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


# ---------------------------------------------------------------- windows as columns


class Unfold(Module):
    """The windows of a convolution over images as columns, see `functional.unfold`.

    Shapes: ``(n, c, h, w) -> (n, c * kh * kw, windows)``, with or without the batch axis.

    >>> import compat as torch
    >>> torch.nn.Unfold((2, 3))(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 24, 12])
    """

    def __init__(
        self, kernel_size: Given, dilation: Given = 1, padding: Given = 0, stride: Given = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Any) -> Any:
        return R.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Module):
    """The adjoint of `Unfold`: columns added up where their windows lie in an image.

    Shapes: ``(n, c * kh * kw, windows) -> (n, c, *output_size)``, with or without the batch axis.
    """

    def __init__(
        self,
        output_size: Given,
        kernel_size: Given,
        dilation: Given = 1,
        padding: Given = 0,
        stride: Given = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Any) -> Any:
        options = (self.kernel_size, self.dilation, self.padding, self.stride)
        return R.fold(input, self.output_size, *options)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


__all__ = [
    "ChannelShuffle",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]
