"""Pooling: maxima, means and norms of windows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

from funcgrad.nn import pooling as _pooling

from .. import dtypes
from ..autograd.remembered import remembered
from ..autograd.tape import unwrapped
from ..ops._apply import finish
from ..ops._compose import composed, not_implemented
from ..ops._fused import fused
from ..ops._layout import in_order
from ..ops._operands import convert, dtype_of, operand
from .conv_functions import Given, Sizes, narrowed, sizes, widened

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- arguments


def node_name(kind: str, n: int) -> str:
    """PyTorch's name of the node; over one axis, it drops an axis at the end."""
    return f"{kind}{n}DBackward0" if n > 1 else "SqueezeBackward1"


def _check_axes(name: str, n: int, x: Any) -> None:
    """Raises: RuntimeError: there is no such input to pool."""
    shape = x._array.shape
    if len(shape) not in (n + 1, n + 2) or 0 in shape[-n - 1 :]:
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch "
            f"size for input, but got: {list(shape)}"
        )


def _windows(
    name: str, n: int, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> dict[str, Any]:
    """The arguments of the functions of arrays.

    Raises: RuntimeError: they fit neither each other nor the input.
    """
    kernels = sizes(name, "kernel_size", kernel, n)
    strides = kernels if stride in (None, (), []) else sizes(name, "stride", stride, n)
    pads, dilations = sizes(name, "padding", padding, n), sizes(name, "dilation", dilation, n)
    for word, found in (("kernel_size", kernels), ("stride", strides), ("dilation", dilations)):
        if min(found) < 1:
            raise RuntimeError(f"{name}() {word} must be greater than zero, but got {list(found)}")
    _check_axes(name, n, x)
    shape = x._array.shape
    counts = []
    for size, k, s, p, d in zip(shape[-n:], kernels, strides, pads, dilations, strict=True):
        reach = d * (k - 1) + 1
        if p < 0:
            raise RuntimeError(f"{name}() padding must be non-negative, but got {p}")
        if p > reach // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, "
                f"kernel_size={k} and dilation={d}"
            )
        counts.append((size + 2 * p - reach + (s - 1 if ceil else 0)) // s + 1)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input size: {list(shape[-n - 1 :])}. Calculated output size: {counts}. Output "
            f"size is too small"
        )
    return {"window": kernels, "stride": strides, "padding": pads, "ceil_mode": bool(ceil)}


# ---------------------------------------------------------------- maxima


def _max_pool(
    n: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    name = f"max_pool{n}d"
    x = operand(name, 1, "input", input)
    options = _windows(name, n, x, kernel_size, stride, padding, dilation, ceil_mode)
    if dtype_of(x).category in (0, 3):
        raise not_implemented(name, x)
    options["dilation"] = sizes(name, "dilation", dilation, n)
    node = node_name("MaxPool", n).replace("DB", "DWithIndicesB")
    if not return_indices:
        return in_order(fused(node, _pooling.max_pool, x, **options), channels=True)
    y, indices = composed_pair(node, _pooling.max_pool_with_indices, x, **options)
    return y, indices


def composed_pair(node: str, f: Any, x: Any, **options: Any) -> tuple[Any, Any]:
    """`composed` for a function with a second result, which is integers."""
    places = []

    def first(x: Any) -> Any:
        y, indices = f(x, **options)
        places.append(indices)
        return y

    return composed(node, first, x), unwrapped(places[0])


@overload
def max_pool1d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = ...,
    padding: Given = ...,
    dilation: Given = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
) -> Tensor: ...
@overload
def max_pool1d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = ...,
    padding: Given = ...,
    dilation: Given = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: bool,
) -> Any: ...
@remembered
def max_pool1d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """``y[p] = max_k x[p * stride + k * dilation - padding]`` along the last axis.

    `stride`: the window, if not given. `ceil_mode`: a last window may reach beyond the padding.
    `return_indices`: the places of the maxima too, in the flattened spatial axes. The first of equal
    elements counts, and has the gradient.

    Shapes: ``(n, c, l) or (c, l) -> (n, c, windows) or (c, windows)``.
    Raises: RuntimeError: windows do not fit. NotImplementedError: complex numbers, booleans.

    >>> import compat as torch
    >>> max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
    tensor([[3., 5.]])
    """
    options = (kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return _max_pool(1, input, *options)


@overload
def max_pool2d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = ...,
    padding: Given = ...,
    dilation: Given = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
) -> Tensor: ...
@overload
def max_pool2d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = ...,
    padding: Given = ...,
    dilation: Given = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: bool,
) -> Any: ...
@remembered
def max_pool2d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """As `max_pool1d`, over two axes.

    >>> import compat as torch
    >>> max_pool2d(torch.arange(9.0).reshape(1, 3, 3), 2, stride=1, return_indices=True)
    (tensor([[[4., 5.],
             [7., 8.]]]), tensor([[[4, 5],
             [7, 8]]]))
    """
    options = (kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return _max_pool(2, input, *options)


@overload
def max_pool3d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = ...,
    padding: Given = ...,
    dilation: Given = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
) -> Tensor: ...
@overload
def max_pool3d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = ...,
    padding: Given = ...,
    dilation: Given = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: bool,
) -> Any: ...
@remembered
def max_pool3d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """As `max_pool1d`, over three axes."""
    options = (kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return _max_pool(3, input, *options)


def max_pool1d_with_indices(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool1d` with ``return_indices=True``."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool2d` with ``return_indices=True``."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool3d` with ``return_indices=True``."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


# ---------------------------------------------------------------- means and norms


def _avg_pool(
    n: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None = None,
) -> Any:
    name = f"avg_pool{n}d"
    given = operand(name, 1, "input", input)
    options = _windows(name, n, given, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    category = dtype_of(given).category
    if category != 2 and dtype_of(given) is not dtypes.int64:
        raise not_implemented("avg_pool3d_out_frame" if n == 3 else "avg_pool2d", given)
    # Means of integers are cut off.
    x = convert(given, dtypes.float64) if category == 1 else widened(given)
    options |= {"count_include_pad": count_include_pad, "divisor_override": divisor_override}
    y = fused(node_name("AvgPool", n), _pooling.avg_pool, x, **options)
    return narrowed(in_order(y, channels=True), given)


@remembered
def avg_pool1d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """``y[p] = sum_k x[p * stride + k - padding] / count`` along the last axis.

    The count is that of the window's elements, with the zeros of the padding or without; what
    `ceil_mode` adds never counts.

    Shapes: ``(n, c, l) or (c, l) -> (n, c, windows) or (c, windows)``.
    Raises: RuntimeError: windows do not fit.

    >>> import compat as torch
    >>> avg_pool1d(torch.tensor([[1.0, 3.0, 2.0]]), 2, stride=1, padding=1)
    tensor([[0.5000, 2.0000, 2.5000, 1.0000]])
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


@remembered
def avg_pool2d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """As `avg_pool1d`, over two axes; `divisor_override` takes the place of the count."""
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return finish("avg_pool2d", _avg_pool(2, input, *options), out, (input,))


@remembered
def avg_pool3d(
    input: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """As `avg_pool2d`, over three axes."""
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return finish("avg_pool3d", _avg_pool(3, input, *options), out, (input,))


@remembered
def lp_pool1d(
    input: Any,
    norm_type: int | float,
    kernel_size: Given,
    stride: Given | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(sum_k x_k^p)^(1/p)`` of the elements of every window of the last axis, p = `norm_type`.

    Where the sum is 0 the gradient is 0.

    Shapes: ``(n, c, l) or (c, l) -> (n, c, windows) or (c, windows)``.
    Raises: RuntimeError: windows do not fit. ZeroDivisionError: p is 0.

    >>> import compat as torch
    >>> lp_pool1d(torch.tensor([[3.0, 4.0, 0.0, 2.0]]), 2, 2)
    tensor([[5., 2.]])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@remembered
def lp_pool2d(
    input: Any,
    norm_type: int | float,
    kernel_size: Given,
    stride: Given | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """As `lp_pool1d`, over two axes."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Any,
    norm_type: int | float,
    kernel_size: Given,
    stride: Given | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """As `lp_pool1d`, over three axes."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(n: int, input: Any, p: float, kernel_size: Any, stride: Any, ceil: bool) -> Any:
    name = f"lp_pool{n}d"
    x = operand(name, 1, "input", input)
    if p == math.inf:
        return _max_pool(n, x.abs(), kernel_size, stride, 0, 1, ceil, False)
    if p <= 0:
        exponent = 1.0 / p
        mean = _avg_pool(n, x**p, kernel_size, stride, 0, ceil, True)
        return (mean * math.prod(sizes(name, "kernel_size", kernel_size, n))) ** exponent
    options = _windows(name, n, x, kernel_size, stride, 0, 1, ceil)
    if dtype_of(x).category != 2:
        raise not_implemented(f"avg_pool{n}d", x)
    del options["padding"]
    y = fused("PowBackward0", _pooling.lp_pool, widened(x), p=p, **options)
    return narrowed(y, x)


# ---------------------------------------------------------------- as many windows as asked for


@remembered
def adaptive_avg_pool1d(input: Any, output_size: Any) -> Tensor:
    """The means of windows that divide the last axis into `output_size` parts.

    Part i of m of an axis of n elements has those from ``floor(i n / m)`` up to, and without,
    ``ceil((i + 1) n / m)``. None keeps an axis.

    Shapes: ``(b, c, n) or (c, n) -> (b, c, m) or (c, m)``.
    Raises: RuntimeError: `output_size` or the input is of another kind.

    >>> import compat as torch
    >>> adaptive_avg_pool1d(torch.tensor([[0.0, 2.0, 4.0, 6.0, 8.0]]), 2)
    tensor([[2., 6.]])
    """
    return _adaptive_avg_pool(1, input, output_size)


@remembered
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """As `adaptive_avg_pool1d`, over two axes."""
    return _adaptive_avg_pool(2, input, output_size)


@remembered
def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor:
    """As `adaptive_avg_pool1d`, over three axes."""
    return _adaptive_avg_pool(3, input, output_size)


def _adaptive_avg_pool(n: int, input: Any, output_size: Any) -> Any:
    name = f"adaptive_avg_pool{n}d"
    given = operand(name, 1, "input", input)
    counts = _parts(name, n, given, output_size)
    if dtype_of(given).category != 2:
        raise not_implemented(f"adaptive_avg_pool{max(n, 2)}d", given)
    node, x = node_name("AdaptiveAvgPool", n), widened(given)
    shape = x._array.shape[-n:]
    if 0 not in counts and all(size % m == 0 for size, m in zip(shape, counts, strict=True)):
        window = tuple(size // m for size, m in zip(shape, counts, strict=True))
        if n > 1 and max(counts) == 1:
            node = "MeanBackward1"
        y = fused(node, _pooling.avg_pool, x, window=window)
    else:
        y = fused(node, _pooling.adaptive_avg_pool, x, output_size=counts)
    return narrowed(in_order(y, channels=True), given)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of the windows of `adaptive_avg_pool1d`, and their places if asked for.

    >>> import compat as torch
    >>> adaptive_max_pool1d(torch.tensor([[0.0, 5.0, 4.0, 6.0, 8.0]]), 2)
    tensor([[5., 8.]])
    """
    return _adaptive_max_pool(1, input, output_size, return_indices)


def adaptive_max_pool1d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool1d` with ``return_indices=True``."""
    return _adaptive_max_pool(1, input, output_size, True)


def adaptive_max_pool2d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool2d` with ``return_indices=True``."""
    return _adaptive_max_pool(2, input, output_size, True)


def adaptive_max_pool3d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool3d` with ``return_indices=True``."""
    return _adaptive_max_pool(3, input, output_size, True)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """As `adaptive_max_pool1d`, over two axes."""
    return _adaptive_max_pool(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """As `adaptive_max_pool1d`, over three axes."""
    return _adaptive_max_pool(3, input, output_size, return_indices)


def _adaptive_max_pool(n: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{n}d"
    x = operand(name, 1, "input", input)
    counts = _parts(name, n, x, output_size)
    if dtype_of(x).category != 2:
        raise not_implemented(f"adaptive_max_pool{max(n, 2)}d", x)
    node = node_name("AdaptiveMaxPool", n)
    found = composed_pair(node, _pooling.adaptive_max_pool, x, output_size=counts)
    return found if return_indices else found[0]


def _parts(name: str, n: int, x: Any, output_size: Any) -> Sizes:
    """Into how many parts each axis is divided.

    Raises: RuntimeError: they are negative or too many, or the input is not to be pooled. ValueError:
    the input has no more axes than there are lengths.
    """
    shape = x._array.shape
    if isinstance(output_size, tuple | list):
        if len(shape) <= len(output_size) and n > 1:
            raise ValueError(
                f"{name}(): Input dimension should be at least {len(output_size) + 1}, but got "
                f"{list(shape)}"
            )
        if len(output_size) != n:
            raise RuntimeError(f"{name}: output_size must be {n}")
    else:
        output_size = (output_size,) * n
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {list(shape)}")
    pairs = zip(output_size, shape[-n:], strict=True)
    counts = sizes(name, "output_size", tuple(m if k is None else k for k, m in pairs), n)
    if min(counts) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{list(counts)}"
        )
    if 0 in shape[1:]:  # one image may have no channels, as PyTorch sees it
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
            f"sizes {list(shape)}"
        )
    return counts


__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
]
