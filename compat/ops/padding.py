"""Padding, and channels made of pixels and back: functions of images and other grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.ops.join import take_known

from ..autograd.remembered import remembered
from ._compose import not_implemented
from ._fused import fused
from ._layout import apart, ints_of
from ._operands import dtype_of, is_number, number_for, operand, plain_number

if TYPE_CHECKING:
    from .._tensor import Tensor

Widths = tuple[tuple[int, int], ...]

# ---------------------------------------------------------------- padding


@remembered
def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Elements before and after those of `input`, along the last axes; negative numbers take away.

    `pad` has two numbers for the last axis, then two for the one before it, and so on. `mode` is
    "constant" (`value`, or 0), "reflect" (without the edge), "replicate" or "circular".

    Raises: RuntimeError, NotImplementedError: `pad` does not fit the axes, or is too long to reflect.

    >>> import compat as torch
    >>> torch.nn.functional.pad(torch.tensor([1.0, 2.0]), (1, 2))
    tensor([0., 1., 2., 0., 0.])
    """
    x = operand("pad", 1, "input", input)
    value = plain_number("pad", "value", value)
    if value is not None and (not is_number(value) or isinstance(value, complex)):
        raise TypeError(
            f"pad(): argument 'value' (position 4) must be float, not {type(value).__name__}"
        )
    widths = ints_of("pad", "pad", (pad,))
    if len(widths) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    shape = tuple(x._array.shape)
    if len(widths) > 2 * len(shape):
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(widths)} and input of dimension {len(shape)}"
        )
    if mode == "constant":
        value = 0.0 if value is None else value
        return constant_pad_nd(x, widths, value if isinstance(value, complex) else float(value))
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    last = len(widths) // 2
    if last not in (1, 2, 3) or len(shape) not in (last + 1, last + 2):
        raise NotImplementedError(
            f"Padding size {len(widths)} is not supported for {len(shape)}D input tensor.\n"
            f"Non-constant padding is of the last axis of 2D or 3D input (padding size 2), of the "
            f"last 2 of 3D or 4D (4), or of the last 3 of 4D or 5D (6)."
        )
    if mode not in _PLACES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    node, _ = _PLACES[mode]
    if mode != "circular" and dtype_of(x).category == 0:
        raise not_implemented(f"{node.lower()}_pad{last}d", x)
    _require_elements(shape, last)
    name = f"{node}Pad{last}DBackward0" if node else "CopySlices"
    return fused(name, _taken, x, mode=mode, widths=tuple(widths))


def _require_elements(shape: tuple[int, ...], last: int) -> None:
    if 0 in shape[-last - 1 :]:
        raise RuntimeError(
            f"Expected {last + 1}D or {last + 2}D (batch mode) tensor with possibly 0 batch size and "
            f"other non-zero dimensions for input, but got: {list(shape)}"
        )


def _reflected(shape: tuple[int, ...], axis: int, before: int, after: int) -> Any:
    n = shape[axis]
    if before >= n or after >= n:
        raise RuntimeError(
            f"Argument #4: Padding size should be less than the corresponding input dimension, but "
            f"got: padding ({before}, {after}) at dimension {axis} of input {list(shape)}"
        )
    places = np.abs(np.arange(-before, _length(n, before, after) - before))
    return np.where(places < n, places, 2 * (n - 1) - places)


def _replicated(shape: tuple[int, ...], axis: int, before: int, after: int) -> Any:
    n = shape[axis]
    return np.clip(np.arange(-before, _length(n, before, after) - before), 0, n - 1)


def _wrapped(shape: tuple[int, ...], axis: int, before: int, after: int) -> Any:
    """Places in what is left after negative numbers have taken away."""
    n = shape[axis]
    if before > n or after > n:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    first = max(-before, 0)
    left = n - first - max(-after, 0)
    count = _length(n, before, after)
    return first + (np.arange(count) - max(before, 0)) % max(left, 1)


def _length(n: int, before: int, after: int) -> int:
    if n + before + after < 0:
        raise RuntimeError(
            f"The input size {n}, plus negative padding {before} and {after}, resulted in a negative "
            f"output size, which is invalid."
        )
    return n + before + after


# How PyTorch's nodes are called, and which element stands where along an axis.
_PLACES: dict[str, tuple[str, Any]] = {
    "reflect": ("Reflection", _reflected),
    "replicate": ("Replication", _replicated),
    "circular": ("", _wrapped),
}


def _taken(x: Any, /, *, mode: str, widths: tuple[int, ...]) -> Any:
    shape = x.shape
    for k, (before, after) in enumerate(zip(widths[::2], widths[1::2], strict=True), 1):
        axis = len(shape) - k
        x = take_known(x, _PLACES[mode][1](shape, axis, before, after), axis=axis)
    return x


def constant_pad_nd(input: Any, pad: Any, value: Any = 0) -> Tensor:
    """`nn.functional.pad` with a number.

    >>> import compat as torch
    >>> torch.constant_pad_nd(torch.tensor([1.0, 2.0]), (1, -1), 5)
    tensor([5., 1.])
    """
    x = operand("constant_pad_nd", 1, "input", input)
    given = ints_of("constant_pad_nd", "pad", (pad,))
    shape = x._array.shape
    rest = len(shape) - len(given) // 2
    pairs = ((0, 0),) * rest + tuple(zip(given[-2::-2], given[::-2], strict=True))
    for axis, (before, after) in enumerate(pairs):
        _length(shape[axis], before, after)
        if min(before, 0) + min(after, 0) + shape[axis] < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    number = number_for(dtype_of(x), value)
    return fused("ConstantPadNdBackward0", _constant, x, pairs=pairs, value=number)


def _constant(x: Any, /, *, pairs: Widths, value: Any) -> Any:
    index = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, pairs, strict=True)
    )
    widths = tuple((max(a, 0), max(b, 0)) for a, b in pairs)
    if not widths:
        return x + 0
    return fnp.pad(x[index], widths, constant_values=value)


# ---------------------------------------------------------------- pixels and channels


def _require_image(name: str, factor: str, x: Any, by: int) -> None:
    if len(x._array.shape) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{len(x._array.shape)} dimension(s)"
        )
    if by <= 0:
        raise RuntimeError(f"{name} expects a positive {factor}, but got {by}")


@remembered
def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Channels as pixels: ``y[c, r h + i, r w + j] = x[c r^2 + r i + j, h, w]``.

    Shapes: ``(*a, c r^2, h, w) -> (*a, c, r h, r w)``.
    Raises: RuntimeError: there are no images, or not as many channels.

    >>> import compat as torch
    >>> torch.pixel_shuffle(torch.tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]), 2)
    tensor([[[1., 2.],
             [3., 4.]]])
    """
    x, r = operand("pixel_shuffle", 1, "input", input), upscale_factor
    _require_image("pixel_shuffle", "upscale_factor", x, r)
    *rest, channels, height, width = x._array.shape
    if channels % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    shape = (*rest, channels // (r * r), r, r, height, width)
    together = (*rest, channels // (r * r), height * r, width * r)
    return _shuffled("PixelShuffleBackward0", x, shape, (0, 3, 1, 4, 2), together)


@remembered
def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Pixels as channels: the inverse of `pixel_shuffle`.

    Shapes: ``(*a, c, r h, r w) -> (*a, c r^2, h, w)``.
    Raises: RuntimeError: there are no images, or their sizes are not divisible.

    >>> import compat as torch
    >>> torch.pixel_unshuffle(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).flatten()
    tensor([1., 2., 3., 4.])
    """
    x, r = operand("pixel_unshuffle", 1, "input", input), downscale_factor
    _require_image("pixel_unshuffle", "downscale_factor", x, r)
    *rest, channels, height, width = x._array.shape
    for word, size, i in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but "
                f"input.size({i})={size} is not divisible by {r}"
            )
    shape = (*rest, channels, height // r, r, width // r, r)
    together = (*rest, channels * r * r, height // r, width // r)
    return _shuffled("PixelUnshuffleBackward0", x, shape, (0, 2, 4, 1, 3), together)


def channel_shuffle(input: Any, groups: int) -> Tensor:
    """Channels dealt out from `groups` piles: ``y[c g + i] = x[i n + c]`` for n channels in each.

    Shapes: ``(b, c, *a) -> (b, c, *a)``.
    Raises: RuntimeError: the channels are not divisible by `groups`.

    >>> import compat as torch
    >>> torch.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    x = operand("channel_shuffle", 1, "input", input)
    shape = x._array.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} "
            f"groups."
        )
    piles = (shape[0], groups, shape[1] // groups, *shape[2:])
    order = (1, 0, *range(2, len(shape)))
    return _shuffled("ChannelShuffleBackward0", x, piles, order, tuple(shape))


native_channel_shuffle = channel_shuffle


def _shuffled(node: str, x: Any, shape: Any, order: Any, together: Any) -> Any:
    """A copy of `x` in `shape` whose last axes are brought into `order` and merged."""
    return apart(fused(node, _moved, x, shape=shape, order=order, together=together), x)


def _moved(x: Any, /, *, shape: Any, order: Any, together: Any) -> Any:
    x = x.reshape(shape)
    lead = x.ndim - len(order)
    return x.transpose((*range(lead), *(lead + i for i in order))).reshape(together)


__all__ = [
    "channel_shuffle",
    "constant_pad_nd",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
]
