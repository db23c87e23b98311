"""Pooling over windows at random distances: the functions and the layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.nn.fractional import fractional_max_pool

from ..ops._compose import not_implemented
from ..ops._operands import dtype_of, operand
from ..ops.random import rand
from .conv_functions import sizes
from .module import Module
from .pooling_functions import composed_pair

Given = int | tuple[int, ...]
Ratio = float | tuple[float, ...]


def _counts(n: int, input: Any, output_size: Any, output_ratio: Any) -> tuple[int, ...]:
    """How many windows there are along each axis.

    Raises: ValueError: neither a size nor a ratio for each axis is given.
    """
    name = f"fractional_max_pool{n}d"
    if output_size is not None:
        return sizes(name, "output_size", output_size, n)
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = output_ratio if isinstance(output_ratio, Sequence) else (output_ratio,) * n
    if len(ratios) != n:
        raise ValueError(
            f"{name} requires output_ratio to either be a single number or {n} of them"
        )
    return tuple(int(m * r) for m, r in zip(input.shape[-n:], ratios, strict=True))


def _check(n: int, x: Any, window: tuple[int, ...], counts: tuple[int, ...]) -> None:
    """Raises: RuntimeError: there is nothing to pool, or windows do not fit."""
    name, shape = f"fractional_max_pool{n}d", tuple(x._array.shape)
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(shape)}"
        )
    if 0 in shape[-n - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got "
            f"{list(shape)}"
        )
    for word, size, k, m in zip(
        ("time", "height", "width")[-n:], shape[-n:], window, counts, strict=True
    ):
        if m + k - 1 > size - (n == 3):  # PyTorch wants one element more in three axes
            raise RuntimeError(
                f"{name}(): pool {word} {k} too large relative to input {word} {size}: {m} windows "
                "do not fit"
            )


def _samples(n: int, x: Any, given: Any) -> Any:
    """A row of `n` numbers between 0 and 1 for every plane of `x`.

    Raises: RuntimeError: those that are given are of another shape or dtype.
    """
    shape = tuple(x._array.shape)
    lead = shape[: len(shape) - n]
    planes = lead if len(lead) == 2 else (1, *lead)
    if given is None:
        given = rand(*planes, n, dtype=x.dtype)
    found = tuple(given.shape)
    if len(found) != 3 or found[0] < planes[0] or found[1:] != (planes[1], n):
        raise RuntimeError(
            f"Expect _random_samples of shape {[*planes, n]}, got {list(found)}: a number for each "
            "example, channel and pooled axis"
        )
    if given.dtype != x.dtype:
        raise RuntimeError(
            f"Expect _random_samples to be {x.dtype} as the input, not {given.dtype}"
        )
    return given._array[: planes[0]].reshape(*lead, n)


def _pool(
    n: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> Any:
    name = f"fractional_max_pool{n}d"
    x = operand(name, 1, "input", input)
    counts = _counts(n, x, output_size, output_ratio)
    window = sizes(name, "kernel_size", kernel_size, n)
    _check(n, x, window, counts)
    if dtype_of(x).category != 2:
        raise not_implemented(name, x)
    drawn = np.asarray(_samples(n, x, samples))
    node = f"FractionalMaxPool{n}DBackward0"
    options = {"window": window, "output_size": counts, "samples": drawn}
    return composed_pair(node, fractional_max_pool, x, **options)


def fractional_max_pool2d_with_indices(
    input: Any,
    kernel_size: Given,
    output_size: Given | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """`fractional_max_pool2d` and the places of the maxima."""
    return _pool(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Any,
    kernel_size: Given,
    output_size: Given | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """`fractional_max_pool3d` and the places of the maxima."""
    return _pool(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Any,
    kernel_size: Given,
    output_size: Given | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Maxima of windows at random distances, `output_size` of them along each axis.

    `output_ratio` gives their number as a part of the input's size. `_random_samples`, of shape
    ``(n, c, 2)``, says where windows lie, see `funcgrad.nn.fractional_max_pool`.

    Shapes: ``(n, c, h, w) or (c, h, w) -> (n, c, *output_size) or (c, *output_size)``.
    Raises: ValueError: neither a size nor a ratio. RuntimeError: windows do not fit.

    >>> import compat as torch
    >>> fractional_max_pool2d(torch.ones(1, 6, 6), 2, output_ratio=0.5).shape
    torch.Size([1, 3, 3])
    """
    found = _pool(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool3d(
    input: Any,
    kernel_size: Given,
    output_size: Given | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """As `fractional_max_pool2d`, over three axes."""
    found = _pool(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


# ---------------------------------------------------------------- layers


class _FractionalMaxPool(Module):
    """What both layers have in common."""

    _ndim: int

    def __init__(
        self,
        kernel_size: Given,
        output_size: Given | None = None,
        output_ratio: Ratio | None = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        n, name = self._ndim, type(self).__name__

        def each(given: Any) -> Any:
            return given if given is None or isinstance(given, Sequence) else (given,) * n

        self.kernel_size = each(kernel_size)
        if n == 3 and min(self.kernel_size) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size, self.output_ratio = each(output_size), each(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Any) -> Any:
        options = (self.output_size, self.output_ratio, self._random_samples)
        found = _pool(self._ndim, input, self.kernel_size, *options)
        return found if self.return_indices else found[0]


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima of windows at random distances, see `functional.fractional_max_pool2d`.

    Shapes: ``(n, c, h, w) or (c, h, w) -> (n, c, *output_size) or (c, *output_size)``.
    Raises: ValueError: not exactly one of `output_size` and `output_ratio` is given.

    >>> import compat as torch
    >>> torch.nn.FractionalMaxPool2d(2, output_size=(3, 4))(torch.ones(1, 6, 6)).shape
    torch.Size([1, 3, 4])
    """

    _ndim = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """As `FractionalMaxPool2d`, over three axes."""

    _ndim = 3


__all__ = [
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]
