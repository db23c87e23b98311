"""Convolutions under the names of ``jax.lax``: any order of axes, strides, dilations, groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of, preferred
from ..ops import conv as _conv
from ._arguments import Ints, ints
from .shapes import pad

Pads = tuple[tuple[int, int], ...]


class ConvDimensionNumbers(NamedTuple):
    """The axes of a convolution: batch and features, or output and input features; then the others."""

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


ConvGeneralDilatedDimensionNumbers = ConvDimensionNumbers | tuple[str, str, str] | None


def padding_of(name: str, padding: Any, sizes: Ints, window: Ints, strides: Ints) -> Pads:
    """The numbers before and after every axis.

    Raises: ArgumentError: `padding` is not "VALID", "SAME", "SAME_LOWER" or pairs. ShapeError: there
    is not one pair for each axis.
    """
    if not isinstance(padding, str):
        pairs = tuple(ints(name, "padding", pair, 2) for pair in padding)
        ints(name, "padding", [0 for _ in pairs], len(sizes))
        return tuple((low, high) for low, high in pairs)
    kind = padding.upper()
    if kind == "VALID":
        return ((0, 0),) * len(sizes)
    if kind not in ("SAME", "SAME_LOWER"):
        raise ArgumentError(
            f"lax.{name}: padding={padding!r}; need 'VALID', 'SAME', 'SAME_LOWER' or pairs{where()}"
        )
    totals = [
        max((math.ceil(n / s) - 1) * s + k - n, 0)
        for n, k, s in zip(sizes, window, strides, strict=True)
    ]
    halves = [t // 2 if kind == "SAME" else t - t // 2 for t in totals]
    return tuple((half, total - half) for half, total in zip(halves, totals, strict=True))


def padtype_to_pads(in_shape: Any, window_shape: Any, window_strides: Any, padding: Any) -> Any:
    """How many zeros "SAME", "SAME_LOWER" or "VALID" puts before and after each axis.

    Shapes: three lengths for every axis.   Dtypes: none.   Derivative: none.
    Raises: ArgumentError: there is no such padding. ShapeError: the numbers of axes differ.
    Source: JAX, ``jax.lax.padtype_to_pads``.

    >>> padtype_to_pads((10, 10), (3, 2), (1, 1), "SAME")
    [(1, 1), (0, 1)]
    """
    name = "padtype_to_pads"
    sizes = ints(name, "in_shape", in_shape)
    window = ints(name, "window_shape", window_shape, len(sizes))
    strides = ints(name, "window_strides", window_strides, len(sizes))
    return list(padding_of(name, padding, sizes, window, strides))


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """The axes that `dimension_numbers` names: None, three strings like "NHWC", or numbers.

    Shapes: of both operands.   Dtypes: none.   Derivative: none.
    Raises: ArgumentError: they are none of these.
    Source: JAX, ``jax.lax.conv_dimension_numbers``.

    >>> conv_dimension_numbers((1, 8, 3), (2, 3, 4), ("NHC", "HIO", "NHC")).lhs_spec
    (0, 2, 1)
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        return ConvDimensionNumbers(*(tuple(range(len(lhs_shape))),) * 3)
    specs = list(dimension_numbers)
    if len(specs) == 3 and all(isinstance(s, str) for s in specs):
        spatial = [c for c in specs[0] if c not in "NC"]
        orders = [("N", "C", *spatial), ("O", "I", *spatial), ("N", "C", *spatial)]
        if all(sorted(s) == sorted(o) for s, o in zip(specs, orders, strict=True)):
            found = [tuple(map(s.index, o)) for s, o in zip(specs, orders, strict=True)]
            return ConvDimensionNumbers(*found)
    elif len(specs) == 3:
        return ConvDimensionNumbers(*(tuple(ints("conv", "dimension_numbers", s)) for s in specs))
    raise ArgumentError(
        f"lax: dimension_numbers={dimension_numbers!r}; need three strings as in "
        f"('NHWC', 'HWIO', 'NHWC'), or the axes of each{where()}"
    )


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """The convolution of `lhs` with the kernel `rhs`, which is not flipped.

    `precision` changes nothing.

    Shapes: ``lhs: (n, c, *spatial), rhs: (o, c / groups, *kernel) -> (n, o, *windows)``, or the axes
    in the order that `dimension_numbers` says.
    Dtypes: numbers; computed in `preferred_element_type` if that is given.
    Derivative: bilinear.
    Raises: ShapeError: channels, groups or numbers of axes do not fit. ArgumentError: `padding` or
    `dimension_numbers` are of another kind.
    Source: XLA's operation semantics, "ConvWithGeneralPadding".

    >>> x, w = np.arange(4.0).reshape(1, 1, 4), np.array([[[1.0, 10.0]]])
    >>> conv_general_dilated(x, w, (2,), "VALID").tolist()
    [[[10.0, 32.0]]]
    """
    name = "conv_general_dilated"
    x, w = preferred(preferred_element_type, lhs, rhs)
    numbers = conv_dimension_numbers(x.shape, w.shape, dimension_numbers)
    if len(numbers.lhs_spec) != x.ndim or len(numbers.rhs_spec) != w.ndim:
        raise ShapeError(f"lax.{name}: {aval_of(x)} with {aval_of(w)} by {numbers}{where()}")
    x, w = fnp.transpose(x, numbers.lhs_spec), fnp.transpose(w, numbers.rhs_spec)
    n = x.ndim - 2
    ones = (1,) * n
    strides, left, right = (
        ints(name, what, ones if given is None else given, n)
        for what, given in (
            ("window_strides", window_strides),
            ("lhs_dilation", lhs_dilation),
            ("rhs_dilation", rhs_dilation),
        )
    )
    sizes = tuple(map(_conv.dilated, x.shape[2:], left))
    pads = padding_of(name, padding, sizes, tuple(map(_conv.dilated, w.shape[2:], right)), strides)
    groups = feature_group_count
    if batch_group_count != 1:
        x, groups = _batch_groups(x, w, batch_group_count, groups), batch_group_count
    y = _conv.conv(
        x,
        w,
        strides=strides,
        padding=pads,
        lhs_dilation=left,
        rhs_dilation=right,
        groups=groups,
    )
    return fnp.transpose(y, np.argsort(numbers.out_spec).tolist())


def _batch_groups(x: Any, w: Any, count: int, groups: int) -> Any:
    """The parts of the batch that go to features of their own, as groups of features."""
    if groups != 1 or count < 1 or x.shape[0] % count or w.shape[0] % count:
        raise ShapeError(
            f"lax.conv_general_dilated: batch_group_count={count} with {aval_of(x)}, {aval_of(w)} and "
            f"feature_group_count={groups}; need divisors of the batch and of the output features, "
            f"and no groups of features{where()}"
        )
    batch, channels, *rest = x.shape
    apart = fnp.reshape(x, (count, batch // count, channels, *rest))
    return fnp.reshape(fnp.moveaxis(apart, 0, 1), (batch // count, count * channels, *rest))


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The convolution of `lhs` with the kernel `rhs`, which is not flipped.

    Shapes: ``lhs: (n, c, *spatial), rhs: (o, c, *kernel) -> (n, o, *windows)``.
    Dtypes: numbers; computed in `preferred_element_type` if that is given.
    Derivative: bilinear.
    Raises: as `conv_general_dilated`.
    Source: JAX, ``jax.lax.conv``.

    >>> conv(np.ones((1, 2, 5)), np.ones((3, 2, 2)), (1,), "SAME").shape
    (1, 3, 5)
    """
    kind = preferred_element_type
    return conv_general_dilated(lhs, rhs, window_strides, padding, preferred_element_type=kind)


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv` with dilations and any padding.

    Shapes: ``lhs: (n, c, *spatial), rhs: (o, c, *kernel) -> (n, o, *windows)``.
    Dtypes: numbers; computed in `preferred_element_type` if that is given.
    Derivative: bilinear.
    Raises: as `conv_general_dilated`.
    Source: JAX, ``jax.lax.conv_with_general_padding``.

    >>> x, w = np.ones((1, 1, 5)), np.ones((1, 1, 2))
    >>> conv_with_general_padding(x, w, (1,), [(1, 1)], None, (2,)).shape
    (1, 1, 5)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        preferred_element_type=preferred_element_type,
    )


_CHANNELS_LAST = {
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Any,
    padding: Any,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The convolution of `lhs` spread by `strides`: up to the kernel the transpose of a convolution.

    `padding` "SAME" or "VALID" is that of the convolution which is transposed; pairs are of the
    spread `lhs`. With `transpose_kernel` it is the transpose of the convolution with `rhs`.

    Shapes: ``lhs: (n, *windows, c), rhs: (*kernel, c, o) -> (n, *spatial, o)``, unless
    `dimension_numbers` say otherwise.
    Dtypes: numbers; computed in `preferred_element_type` if that is given.
    Derivative: bilinear.
    Raises: as `conv_general_dilated`.
    Source: JAX, ``jax.lax.conv_transpose``; Dumoulin & Visin, arXiv:1603.07285, section 4.

    >>> x, w = np.array([[[1.0], [2.0]]]), np.array([1.0, 10.0]).reshape(2, 1, 1)
    >>> conv_transpose(x, w, (2,), "VALID").ravel().tolist()
    [10.0, 1.0, 20.0, 2.0]
    """
    name = "conv_transpose"
    x, w = array_of(lhs), array_of(rhs)
    given = _CHANNELS_LAST.get(x.ndim) if dimension_numbers is None else dimension_numbers
    numbers = conv_dimension_numbers(x.shape, w.shape, given)
    spatial = tuple(numbers.rhs_spec[2:])
    steps = ints(name, "strides", strides, len(spatial))
    right = ints(name, "rhs_dilation", rhs_dilation or (1,) * len(spatial), len(spatial))
    reach = tuple(_conv.dilated(w.shape[i], d) for i, d in zip(spatial, right, strict=True))
    pads = _transposed_padding(name, padding, reach, steps)
    if transpose_kernel:
        w = fnp.swapaxes(fnp.flip(w, spatial), numbers.rhs_spec[0], numbers.rhs_spec[1])
    return conv_general_dilated(
        x,
        w,
        (1,) * len(spatial),
        pads,
        steps,
        right,
        numbers,
        preferred_element_type=preferred_element_type,
    )


def _transposed_padding(name: str, padding: Any, window: Ints, strides: Ints) -> Pads:
    """Zeros around a spread array, so that it becomes as large as what was convolved."""
    if not isinstance(padding, str):
        return padding_of(name, padding, window, window, strides)
    padding_of(name, padding, window, window, strides)
    pads = []
    for k, s in zip(window, strides, strict=True):
        if padding.upper() == "VALID":
            pads.append((k - 1, s - 1 + max(k - s, 0)))
        else:
            total = k + s - 2
            low = k - 1 if s > k - 1 else -(-total // 2)
            pads.append((low, total - low))
    return tuple(pads)


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The windows that a convolution sees, each as features: for every channel the whole window.

    Shapes: ``lhs: (n, c, *spatial) -> (n, c * prod(filter_shape), *windows)``, or the axes in the
    order that `dimension_numbers` says.
    Dtypes: numbers; `preferred_element_type` if that is given.
    Derivative: linear.
    Raises: as `conv_general_dilated`.
    Source: JAX, ``jax.lax.conv_general_dilated_patches``.

    >>> conv_general_dilated_patches(np.arange(4.0).reshape(1, 1, 4), (2,), (1,), "VALID").tolist()
    [[[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]]
    """
    name = "conv_general_dilated_patches"
    (x,) = preferred(preferred_element_type, lhs)
    numbers = conv_dimension_numbers(x.shape, x.shape, dimension_numbers)
    x = fnp.transpose(x, numbers.lhs_spec)
    n = x.ndim - 2
    window = ints(name, "filter_shape", filter_shape, n)
    ones = (1,) * n
    strides, left, right = (
        ints(name, what, ones if given is None else given, n)
        for what, given in (
            ("window_strides", window_strides),
            ("lhs_dilation", lhs_dilation),
            ("rhs_dilation", rhs_dilation),
        )
    )
    sizes = tuple(map(_conv.dilated, x.shape[2:], left))
    pads = padding_of(name, padding, sizes, tuple(map(_conv.dilated, window, right)), strides)
    x = spread(x, False, pads, left)
    seen = fnp.stack(list(taps(name, x, window, strides, right)), axis=2)
    out = fnp.reshape(seen, (x.shape[0], x.shape[1] * math.prod(window), *seen.shape[3:]))
    return fnp.transpose(out, np.argsort(numbers.out_spec).tolist())


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    filter_shape: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:
    """A convolution with a kernel of its own for every window, on `conv_general_dilated_patches`.

    Shapes: ``lhs: (n, c, *spatial), rhs: (o, c * prod(filter_shape), *windows) -> (n, o, *windows)``,
    or the axes in the order that `dimension_numbers` says.
    Dtypes: numbers.
    Derivative: bilinear.
    Raises: as `conv_general_dilated`. ShapeError: `rhs` has not one kernel for every window.
    Source: JAX, ``jax.lax.conv_general_dilated_local``.

    >>> x, w = np.arange(4.0).reshape(1, 1, 4), np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 2.0]]])
    >>> conv_general_dilated_local(x, w, (1,), "VALID", (2,)).tolist()
    [[[0.0, 2.0, 6.0]]]
    """
    name = "conv_general_dilated_local"
    x, w = preferred(None, lhs, rhs)
    numbers = conv_dimension_numbers(x.shape, w.shape, dimension_numbers)
    first = numbers._replace(out_spec=tuple(range(x.ndim)))
    seen = conv_general_dilated_patches(
        x, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, first
    )
    if w.ndim == x.ndim:
        w = fnp.transpose(w, numbers.rhs_spec)
    if w.shape[1:] != seen.shape[1:]:
        raise ShapeError(
            f"lax.{name}: kernels {aval_of(w)} for windows {aval_of(seen)}; need the same lengths "
            f"after the first{where()}"
        )
    out = fnp.einsum("nc...,oc...->no...", seen, w)
    return fnp.transpose(out, np.argsort(numbers.out_spec).tolist())


# ---------------------------------------------------------------- windows


def spread(x: Any, value: Any, pads: Pads, dilation: Ints) -> Any:
    """`x` with `value` between and around the elements of its last axes."""
    lead = [(0, 0, 0)] * (x.ndim - len(pads))
    config = [(low, high, d - 1) for (low, high), d in zip(pads, dilation, strict=True)]
    return pad(x, value, lead + config) if any(map(any, config)) else x


def taps(name: str, x: Any, window: Ints, strides: Ints, dilation: Ints) -> Iterator[Any]:
    """For each place of a window over the last axes, in order, what all windows have there.

    Raises: ShapeError: a window is larger than its axis.
    """
    lead = x.ndim - len(window)
    reach = [(k - 1) * d for k, d in zip(window, dilation, strict=True)]
    for n, r in zip(x.shape[lead:], reach, strict=True):
        if n <= r:
            raise ShapeError(f"lax.{name}: a window of {r + 1} in a padded axis of {n}{where()}")
    for place in itertools.product(*map(range, window)):
        start = [i * d for i, d in zip(place, dilation, strict=True)]
        stop = [n - r + s for n, r, s in zip(x.shape[lead:], reach, start, strict=True)]
        yield x[(..., *map(slice, start, stop, strides))]
