"""Images and other grids in another size, their windows as columns, and samples at any place."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.core import Tracer
from funcgrad.nn import grid as _grid
from funcgrad.nn.resample import fold as _fold
from funcgrad.nn.resample import resample as _resample
from funcgrad.nn.resample import unfold as _unfold

from ..autograd import sites
from ..autograd.remembered import remembered
from ..ops._apply import requires_grad
from ..ops._compose import composed, not_implemented
from ..ops._fused import fused
from ..ops._layout import apart, in_order, in_shape, sole
from ..ops._operands import dtype_of, operand
from .conv_functions import narrowed, widened
from .pooling_functions import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- another size

_AREA = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)

# The kind of interpolation, PyTorch's name of the node, and for how many spatial axes.
_MODES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "nearest": ("nearest", "Nearest", (1, 2, 3)),
    "nearest-exact": ("nearest-exact", "NearestExact", (1, 2, 3)),
    "linear": ("linear", "Linear", (1,)),
    "bilinear": ("linear", "Bilinear", (2,)),
    "bicubic": ("cubic", "Bicubic", (2,)),
    "trilinear": ("linear", "Trilinear", (3,)),
    "area": ("", "", (1, 2, 3)),
}
_ALIGNED = ("linear", "bilinear", "bicubic", "trilinear")


@remembered
def interpolate(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The spatial axes in the lengths `size`, or `scale_factor` times as long.

    `mode`: "nearest", "nearest-exact", "linear" (one axis), "bilinear", "bicubic" (two), "trilinear"
    (three) or "area" (means). The elements are points in the middle of squares, or, if
    `align_corners`, the first and the last stay where they are. If `recompute_scale_factor`, the
    factor is that of the lengths, which are whole numbers; else the one given. `antialias`: where an
    image gets smaller, every element counts.

    Shapes: ``(n, c, *spatial) -> (n, c, *size)``.
    Raises: ValueError: options do not fit each other. NotImplementedError: a mode is unknown or for
    another number of axes. RuntimeError: nothing would be left.

    >>> import compat as torch
    >>> interpolate(torch.tensor([[[0.0, 4.0]]]), scale_factor=2, mode="linear")
    tensor([[[0., 1., 3., 4.]]])
    """
    x = operand("interpolate", 1, "input", input)
    if align_corners is not None and mode in _MODES and mode not in _ALIGNED:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            + " | ".join(_ALIGNED)
        )
    n = len(x._array.shape) - 2
    spatial = x._array.shape[2:]
    size, scales = _wanted(spatial, size, scale_factor, recompute_scale_factor)
    if antialias and (mode not in ("bilinear", "bicubic") or n != 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor "
            "as input"
        )
    kind, word, _ = _mode(mode, n)
    if kind == "":
        return _AREA[n - 1](x, size)
    if min((*size, *spatial)) < 1:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(spatial)} output "
            f"{list(size)}"
        )
    if 0 in x._array.shape[1:]:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes "
            f"{list(x._array.shape)}"
        )
    is_bytes = dtype_of(x).name == "uint8" and kind.startswith("nearest")
    if dtype_of(x).category != 2 and not is_bytes:
        raise not_implemented(f"upsample_{mode}{n}d", x)
    factors = None if scales is None else tuple(scales)
    options = {
        "scales": factors,
        "align_corners": bool(align_corners),
        "antialias": bool(antialias),
    }
    node = f"Upsample{word}{n}D{'Aa' if antialias else ''}Backward0"
    if tuple(size) == spatial:
        y = composed(node, _resample, widened(x), size=tuple(size), mode=kind, **options)
        return x.clone() if y is x else narrowed(y, x)
    wide = widened(x)
    y = apart(fused(node, _resample, wide, size=tuple(size), mode=kind, **options), wide)
    return narrowed(y, x)


def _mode(mode: str, n: int) -> tuple[str, str, tuple[int, ...]]:
    """Raises: NotImplementedError: there is no such mode for `n` axes."""
    found = _MODES.get(mode)
    if found is None or n not in (1, 2, 3):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {n + 2}D) for the modes: "
            f"{' | '.join(_MODES)} (got {mode})"
        )
    if n not in found[2]:
        raise NotImplementedError(
            f"Got {n + 2}D input, but {mode} mode needs {found[2][0] + 2}D input"
        )
    return found


def _wanted(
    spatial: Sequence[int], size: Any, factor: Any, recompute: bool | None
) -> tuple[Sequence[int], Sequence[float] | None]:
    """The lengths, and the factors if they are not those of the lengths.

    Raises: ValueError: there are none, both, or of another number. TypeError: no integers.
    """
    given = factor if size is None else size
    if (size is None) == (factor is None):
        word = "either" if size is None else "only one of"
        raise ValueError(f"{word} size or scale_factor should be defined")
    if isinstance(given, tuple | list):
        if len(given) != len(spatial):
            what = "scale_factor" if size is None else "output size"
            raise ValueError(
                f"Input and {what} must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(spatial)} and {what} of {tuple(given)}."
            )
        given = list(given)
    else:
        given = [given] * len(spatial)
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return list(map(operator.index, given)), None
    found = [math.floor(float(n) * f) for n, f in zip(spatial, given, strict=True)]
    return found, None if recompute else [float(f) for f in given]


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate`, under an older name."""
    sites.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with "nearest", under an older name."""
    sites.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead."
    )
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with "bilinear" and ``align_corners=True``, under an older name."""
    sites.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead."
    )
    return interpolate(input, size, scale_factor, "bilinear", True)


# ---------------------------------------------------------------- windows as columns


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The windows of a convolution over images as columns.

    Shapes: ``(n, c, h, w) -> (n, c * kh * kw, windows)``, with or without the batch axis.
    Raises: RuntimeError: windows do not fit.

    >>> import compat as torch
    >>> unfold(torch.arange(6.0).reshape(1, 2, 3), 2)
    tensor([[0., 1.],
            [1., 2.],
            [3., 4.],
            [4., 5.]])
    """
    x = operand("unfold", 1, "input", input)
    kernels, options = _window_options("im2col", kernel_size, dilation, padding, stride)
    shape = x._array.shape
    if len(shape) < 3:
        raise IndexError(f"unfold() expects an input of 3 or 4 axes, but got {list(shape)}")
    if len(shape) > 4 or 0 in shape[-3:]:
        raise RuntimeError(
            f"Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    if dtype_of(x).category == 1:
        raise not_implemented("im2col_out_cpu", x)
    counts = _counts(shape[-2:], kernels, options)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(shape[-2:])}, kernel_size={kernels}, "
            f"{_said(options)}, calculated shape of the array of sliding blocks as {counts}, but its "
            f"components must be at least one."
        )
    node = "Im2ColBackward0"
    batched = x if len(shape) == 4 else in_shape(x, (1, *shape), node)
    y = fused(node, _unfold, batched, window=kernels, **options)
    return y if len(shape) == 4 else in_shape(y, tuple(y._array.shape[1:]), node)


def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """The adjoint of `unfold`: columns added up where their windows lie in an image.

    Shapes: ``(n, c * kh * kw, windows) -> (n, c, *output_size)``, with or without the batch axis.
    Raises: RuntimeError: the sizes do not fit.

    >>> import compat as torch
    >>> fold(torch.ones(4, 2), (2, 3), 2)
    tensor([[[1., 2., 1.],
             [1., 2., 1.]]])
    """
    x = operand("fold", 1, "input", input)
    kernels, options = _window_options("col2im", kernel_size, dilation, padding, stride)
    size = _pair("output_size", output_size)
    shape = x._array.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(shape)}"
        )
    if shape[-2] % math.prod(kernels):
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={shape[-2]} and kernel_size={kernels}."
        )
    counts = _counts(size, kernels, options)
    if min(size) < 1 or min(counts) < 1 or shape[-1] != math.prod(counts):
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernels}, {_said(options)}, expected size of "
            f"input's dimension 2 to match the calculated number of sliding blocks "
            f"{counts[0]} * {counts[1]} = {math.prod(counts)}, but got input.size(2)={shape[-1]}."
        )
    if dtype_of(x).category == 1:
        raise not_implemented("col2im_out_cpu", x)
    node = "Col2ImBackward0"
    batched = x if len(shape) == 3 else in_shape(x, (1, *shape), node)
    y = in_order(fused(node, _fold, batched, size=tuple(size), window=kernels, **options))
    return sole(y if len(shape) == 3 else in_shape(y, tuple(y._array.shape[1:]), node))


def _window_options(name: str, *given: Any) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The window, and the other options.

    Raises: RuntimeError: a number is too small, or there are not two.
    """
    least = {"kernel_size": 1, "dilation": 1, "padding": 0, "stride": 1}
    found = {k: _pair(k, v) for k, v in zip(least, given, strict=True)}
    for word, pair in found.items():
        if min(pair) < least[word]:
            raise RuntimeError(
                f"{name}: {word} should be at least {least[word]}, but got {list(pair)}"
            )
    return found.pop("kernel_size"), found


def _pair(argument: str, given: Any) -> tuple[int, ...]:
    given = given if isinstance(given, tuple | list) else (given, given)
    if len(given) != 2:
        raise RuntimeError(f"It is expected {argument} equals to 2, but got size {len(given)}")
    return tuple(map(operator.index, given))


def _counts(spatial: Any, kernels: Any, options: dict[str, Any]) -> tuple[int, ...]:
    """How many windows there are along each axis."""
    each = zip(spatial, kernels, *options.values(), strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in each)


def _said(options: dict[str, Any]) -> str:
    return ", ".join(f"{k}={v}" for k, v in options.items())


# ---------------------------------------------------------------- samples at any place


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The values of images, or volumes, at the places of `grid`, whose last axis is x, y (, z).

    -1 and 1 are the edges, or, if `align_corners`, the middles of the outer elements. `mode`:
    "bilinear", "nearest" or "bicubic" (images only). `padding_mode` says what is outside: "zeros",
    the "border", or a "reflection".

    Shapes: ``(n, c, h, w), (n, *a, 2) -> (n, c, *a)``, or ``(n, c, d, h, w), (n, *a, 3)``.
    Raises: ValueError: an unknown mode. RuntimeError: shapes or dtypes do not fit.

    >>> import compat as torch
    >>> image = torch.tensor([[[[0.0, 4.0]]]])
    >>> grid_sample(image, torch.tensor([[[[-0.5, 0.0], [0.0, 0.0]]]]), align_corners=False)
    tensor([[[[0., 2.]]]])
    """
    x, places = operand("grid_sample", 1, "input", input), operand("grid_sample", 2, "grid", grid)
    for word, given, known in (
        ("mode", mode, _grid.MODES),
        ("padding_mode", padding_mode, _grid.PADDINGS),
    ):
        if given not in known:
            raise ValueError(
                f"nn.functional.grid_sample(): expected {word} to be one of {known}, but got: "
                f"'{given}'"
            )
    _warn_of_corners("grid_sample", align_corners)
    _check_grid(x, places, mode)
    d = len(x._array.shape) - 2
    odd = isinstance(places._array, Tracer) or not np.isfinite(places._array).all()
    f = _sampled if odd else _grid.grid_sample
    options = {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)}
    node = f"GridSampler{d}DBackward0"
    y = in_order(fused(node, f, widened(x), widened(places), **options))
    if mode == "nearest" and requires_grad(places):  # the places get zeros
        y = composed(node, _beside, y, places)
    return narrowed(y, x)


def _beside(y: Any, places: Any, /) -> Any:
    """`y`, as a function of the places, too, whose derivative is zero."""
    return fnp.where(False, places.sum().astype(y.dtype), y)


def _sampled(x: Any, grid: Any, *, mode: str, padding_mode: str, align_corners: bool) -> Any:
    """As `grid_sample`, at places of which some are no numbers: those count as PyTorch's kernels do it.

    NaN is outside of zeros, where the weights of "bilinear" are then NaN; elsewhere it is the first
    element, and so is infinity where it would be reflected. "bicubic" gives NaN.
    """
    options = mode, padding_mode, align_corners
    if padding_mode == "zeros":
        return _grid.grid_sample(x, fnp.where(fnp.isnan(grid), np.inf, grid), *options)
    odd = fnp.isnan(grid)
    if padding_mode == "reflection" or mode == "bicubic":
        odd = fnp.logical_not(fnp.isfinite(grid))
    y = _grid.grid_sample(x, fnp.where(odd, -1.0, grid), *options)
    return fnp.where(odd.any(-1)[:, None], np.nan, y) if mode == "bicubic" else y


def _check_grid(x: Any, grid: Any, mode: str) -> None:
    """Raises: RuntimeError: shapes or dtypes do not fit. NotImplementedError: integers."""
    a, b = list(x._array.shape), list(grid._array.shape)
    said = f"input with sizes {a} and grid with sizes {b}"
    if len(a) not in (4, 5) or len(a) != len(b) or a[0] != b[0]:
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions and "
            f"same batch size, but got {said}"
        )
    if b[-1] != len(a) - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {len(a) - 2} in last dimension, but got {said}"
        )
    if 0 in a[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but got {said}"
        )
    if mode == "bicubic" and len(a) == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if dtype_of(x) is not dtype_of(grid):
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have same dtype, but input has {dtype_of(x)} "
            f"and grid has {dtype_of(grid)}"
        )
    if dtype_of(x).category != 2:
        raise not_implemented(f"grid_sampler_{len(a) - 2}d_cpu", x)


def affine_grid(theta: Any, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` that shows images of `size` at places ``theta @ (x, y, 1)``.

    Shapes: ``(n, 2, 3) -> (n, h, w, 2)`` for a size ``(n, c, h, w)``; volumes in the same way.
    Raises: ValueError, RuntimeError: `theta` or `size` is of another kind. NotImplementedError:
    neither images nor volumes.

    >>> import compat as torch
    >>> affine_grid(torch.eye(2, 3)[None], (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    t = operand("affine_grid", 1, "theta", theta)
    shape, size = tuple(t._array.shape), tuple(size)
    if dtype_of(t).category != 2:
        raise ValueError(f"Expected theta to have floating point type, but got {dtype_of(t)}")
    d = len(size) - 2
    if d not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if shape[1:] != (d, d + 1):
        raise ValueError(
            f"Expected a batch of {d}D affine matrices of shape Nx{d}x{d + 1} for size {size}. Got "
            f"{list(shape)}."
        )
    if min(size) < 1:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if size[0] != shape[0]:
        raise RuntimeError(f"affine_grid: {shape[0]} matrices for a batch of {size[0]}")
    _warn_of_corners("affine_grid", align_corners)
    node = "AffineGridGeneratorBackward0"
    return fused(node, _grid.affine_grid, t, size=size, align_corners=bool(align_corners))


def affine_grid_generator(theta: Any, size: Sequence[int], align_corners: bool) -> Tensor:
    """`affine_grid`, under its name at the top level."""
    return affine_grid(theta, size, align_corners)


def _warn_of_corners(name: str, align_corners: bool | None) -> None:
    if align_corners is None:
        sites.warn(
            f"{name}(): the default of align_corners is False since PyTorch 1.3.0. Say which one "
            f"you mean."
        )


__all__ = [
    "affine_grid",
    "fold",
    "grid_sample",
    "interpolate",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
