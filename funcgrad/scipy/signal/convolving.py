"""Convolutions and correlations of arrays with any number of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...algebra import broadcast_shapes
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy import fft as _fft
from ...numpy._arguments import arrays_of
from ...numpy.repeating import pad
from ...ops.contract import conjugated, normal_axis
from ...ops.conv import conv
from ...ops.index import Slice, getitem
from ...ops.structural import flip, reshape
from ..fft import next_fast_len

Shape = tuple[int, ...]

_MODES = ("full", "same", "valid")


def _both(name: str, in1: Any, in2: Any, mode: Any) -> tuple[Any, Any]:
    """The operands as arrays.

    Raises: ShapeError: they differ in their number of axes. ArgumentError: an unknown mode.
    """
    if mode not in _MODES:
        raise ArgumentError(f"{name}: mode={mode!r}; need 'full', 'same' or 'valid'{where()}")
    a, b = arrays_of(in1, in2)
    if a.ndim != b.ndim:
        raise ShapeError(
            f"{name}: in1 is {aval_of(a)} and in2 is {aval_of(b)}; need as many axes in both{where()}"
        )
    return a, b


def _span(name: str, m: Shape, n: Shape, mode: str) -> tuple[Shape, Shape]:
    """Where the result begins in the full convolution, and its shape.

    Raises: ShapeError: "valid", and neither covers the other.
    """
    if mode == "full":
        return (0,) * len(m), tuple(i + j - 1 for i, j in zip(m, n, strict=True))
    if mode == "same":
        return tuple((j - 1) // 2 for j in n), m
    if any(i < j for i, j in zip(m, n, strict=True)):
        if any(i > j for i, j in zip(m, n, strict=True)):
            raise ShapeError(
                f"{name}: mode='valid' of shapes {list(m)} and {list(n)}: neither covers the other "
                f"along every axis{where()}"
            )
        m, n = n, m
    return tuple(j - 1 for j in n), tuple(i - j + 1 for i, j in zip(m, n, strict=True))


def _directly(a: Any, b: Any, start: Shape, shape: Shape) -> Any:
    """A part of the full convolution, as sums; the smaller operand is the kernel."""
    if math.prod(a.shape) < math.prod(b.shape):
        a, b = b, a
    low = [n - 1 - s for n, s in zip(b.shape, start, strict=True)]
    high = [
        count - m - before + n - 1
        for count, m, n, before in zip(shape, a.shape, b.shape, low, strict=True)
    ]
    ones = (1,) * a.ndim
    out = conv(
        reshape(a, shape=(1, 1, *a.shape)),
        reshape(flip(b, axis=tuple(range(b.ndim))), shape=(1, 1, *b.shape)),
        strides=ones,
        padding=tuple(zip(low, high, strict=True)),
        lhs_dilation=ones,
        rhs_dilation=ones,
        groups=1,
    )
    return reshape(out, shape=shape)


def _by_frequencies(a: Any, b: Any, axes: Sequence[int]) -> Any:
    """The full convolution along the axes; the others broadcast."""
    is_real = "c" not in (a.dtype.kind, b.dtype.kind)
    full = [a.shape[i] + b.shape[i] - 1 for i in axes]
    if not axes:
        return a * b
    lengths = [next_fast_len(n, is_real) for n in full]
    to, back = (_fft.rfftn, _fft.irfftn) if is_real else (_fft.fftn, _fft.ifftn)
    out = back(to(a, lengths, axes) * to(b, lengths, axes), lengths, axes)
    sizes = list(out.shape)
    for i, n in zip(axes, full, strict=True):
        sizes[i] = n
    return getitem(out, index=tuple(Slice(0, n, 1) for n in sizes))


def _cut(x: Any, start: Sequence[int], shape: Sequence[int]) -> Any:
    return getitem(x, index=tuple(Slice(s, s + n, 1) for s, n in zip(start, shape, strict=True)))


def choose_conv_method(in1: Any, in2: Any, mode: str = "full", measure: bool = False) -> str:
    """The way of `convolve` that takes fewer steps, "direct" or "fft".

    Shapes: any.   Dtypes: numbers; integers, which Fourier transforms round, are "direct".
    Derivative: none, it gives a word.   Raises: ArgumentError: `measure` is asked for.
    Source: SciPy reference, ``scipy.signal.choose_conv_method``.

    >>> choose_conv_method(np.ones(9), np.ones(3))
    'direct'
    """
    if measure:
        raise ArgumentError(f"choose_conv_method: measure=True is not supported{where()}")
    a, b = _both("choose_conv_method", in1, in2, mode)
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        return "direct"
    _, shape = _span("choose_conv_method", a.shape, b.shape, mode)
    full = math.prod(i + j - 1 for i, j in zip(a.shape, b.shape, strict=True))
    taps = min(math.prod(a.shape), math.prod(b.shape))
    steps = math.prod(shape) * taps
    return "direct" if steps <= _STEPS * full * math.log2(max(full, 2)) + 20_000 else "fft"


_STEPS = 3.0  # multiplications that take as long as one step of the transforms


def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Any:
    """``y_k = sum_i in1_i in2_(k - i)`` over all axes.

    `mode`: "full"; "same", of the shape of `in1`, from the middle; "valid" overlaps only. `method`:
    "direct" sums, "fft" through frequencies, or the one that takes fewer steps. JAX's `precision`
    changes nothing.

    Shapes: ``(*m), (*n) -> (*(m + n - 1))``, ``(*m)`` or ``(*(max(m, n) - min(m, n) + 1))``.
    Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the numbers of axes differ, or "valid" of arrays of which neither covers the
    other. ArgumentError: an unknown mode or method.
    Source: SciPy reference, ``scipy.signal.convolve``.

    >>> convolve([1.0, 2.0, 3.0], [0.0, 1.0]).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    a, b = _both("convolve", in1, in2, mode)
    if method not in ("auto", "direct", "fft"):
        raise ArgumentError(f"convolve: method={method!r}; need 'auto', 'direct' or 'fft'{where()}")
    if not a.ndim:
        return a * b
    if 0 in a.shape or 0 in b.shape:
        return np.zeros(0, np.result_type(a.dtype, b.dtype))
    start, shape = _span("convolve", a.shape, b.shape, mode)
    if method == "auto":
        method = choose_conv_method(a, b, mode)
    if method == "direct":
        return _directly(a, b, start, shape)
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        raise ArgumentError(
            f"convolve: method='fft' of {a.dtype} and {b.dtype} would round; pass floats, or "
            f"method='direct'{where()}"
        )
    return _cut(_by_frequencies(a, b, range(a.ndim)), start, shape)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """`convolve` through frequencies, along the axes; the others broadcast.

    Shapes: as `convolve` along the axes.   Dtypes: floating, complex; integers give float64.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the shapes do not fit, or there is no such axis. ArgumentError: an unknown mode.
    Source: SciPy reference, ``scipy.signal.fftconvolve``.

    >>> fftconvolve([1.0, 2.0, 3.0], [0.0, 1.0]).round(12).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    a, b = _both("fftconvolve", in1, in2, mode)
    if not a.ndim:
        return a * b
    if 0 in a.shape or 0 in b.shape:
        return np.zeros(0, np.result_type(a.dtype, b.dtype))
    chosen = range(a.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    found = sorted({normal_axis("fftconvolve", i, a.ndim) for i in chosen})
    alike = [i for i in range(a.ndim) if i not in found]
    rest = broadcast_shapes("fftconvolve", [tuple(x.shape[i] for i in alike) for x in (a, b)])
    m, n = (tuple(x.shape[i] for i in found) for x in (a, b))
    span = zip(found, *_span("fftconvolve", m, n, mode), strict=True)
    if mode == "same" and rest != tuple(a.shape[i] for i in alike):
        raise ShapeError(
            f"fftconvolve: mode='same' is of the shape of in1, which is {aval_of(a)}, but in2 is "
            f"{aval_of(b)}: repeat in1 along the axes that are not convolved{where()}"
        )
    start, shape = [0] * a.ndim, [0] * a.ndim
    for i, size in zip(alike, rest, strict=True):
        shape[i] = size
    for i, first, size in span:
        start[i], shape[i] = first, size
    return _cut(_by_frequencies(a, b, found), start, shape)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """`fftconvolve`, in one block where SciPy takes several that overlap: the values are the same.

    Shapes: as `convolve` along the axes.   Dtypes: floating, complex; integers give float64.
    Derivative: bilinear; smooth everywhere.
    Raises: as `fftconvolve`.
    Source: SciPy reference, ``scipy.signal.oaconvolve``.

    >>> oaconvolve([1.0, 2.0, 3.0], [0.0, 1.0]).round(12).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    return fftconvolve(in1, in2, mode, axes)


def _reversed(x: Any) -> Any:
    return conjugated(flip(x, axis=tuple(range(x.ndim)))) if x.ndim else conjugated(x)


def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Any:
    """``y_k = sum_i in1_(i + k) conj(in2_i)`` over all axes; mode and method as of `convolve`.

    Shapes: ``(*m), (*n) -> (*(m + n - 1))``, ``(*m)`` or ``(*(max(m, n) - min(m, n) + 1))``.
    Dtypes: numbers.
    Derivative: bilinear over the reals; smooth everywhere.
    Raises: as `convolve`.
    Source: SciPy reference, ``scipy.signal.correlate``.

    >>> correlate([1.0, 2.0, 3.0], [0.0, 1.0], mode="valid").tolist()
    [2.0, 3.0]
    """
    a, b = _both("correlate", in1, in2, mode)
    return convolve(a, _reversed(b), mode, method)


def correlation_lags(in1_len: int, in2_len: int, mode: str = "full") -> Any:
    """The displacements k that the elements of `correlate` of two vectors belong to.

    Shapes: those of `correlate`.   Dtypes: integers.   Derivative: none, they are integers.
    Raises: ArgumentError: an unknown mode.
    Source: SciPy reference, ``scipy.signal.correlation_lags``.

    >>> correlation_lags(3, 2).tolist()
    [-1, 0, 1, 2]
    """
    if mode not in _MODES:
        raise ArgumentError(
            f"correlation_lags: mode={mode!r}; need 'full', 'same' or 'valid'{where()}"
        )
    lags = np.arange(1 - in2_len, in1_len)
    if mode == "full":
        return lags
    if mode == "same":
        first = len(lags) // 2 - in1_len // 2
        return lags[first : first + in1_len]
    return (
        np.arange(0, in1_len - in2_len + 1)
        if in1_len >= in2_len
        else np.arange(in1_len - in2_len, 1)
    )


# ---------------------------------------------------------------- images

_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _images(
    name: str, in1: Any, in2: Any, mode: str, boundary: str, correlated: bool, fillvalue: Any
) -> Any:
    """Two matrices convolved; the middle of an even number of rows is another one if correlated."""
    a, b = _both(name, in1, in2, mode)
    if a.ndim != 2 or 0 in a.shape or 0 in b.shape:
        raise ShapeError(
            f"{name}: in1 is {aval_of(a)} and in2 is {aval_of(b)}; need two matrices that are not "
            f"empty{where()}"
        )
    if boundary not in _BOUNDARIES:
        raise ArgumentError(
            f"{name}: boundary={boundary!r}; need 'fill', 'wrap' or 'symm'{where()}"
        )
    start, shape = _span(name, a.shape, b.shape, mode)
    if mode == "valid":
        return _directly(a, b, start, shape)
    if mode == "same" and correlated:
        start = tuple(n // 2 for n in b.shape)
    widths = tuple((n - 1, n - 1) for n in b.shape)
    options: Any = {"constant_values": fillvalue} if boundary == "fill" else {}
    a = pad(a, widths, _BOUNDARIES[boundary], **options)
    return _directly(a, b, tuple(s + n - 1 for s, n in zip(start, b.shape, strict=True)), shape)


def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: Any = 0,
    precision: Any = None,
) -> Any:
    """`convolve` of matrices, of which the first goes on outside.

    As `fillvalue` ("fill"), as itself ("wrap"), or mirrored ("symm").

    Shapes: as `convolve`.   Dtypes: numbers.
    Derivative: bilinear; linear in `fillvalue`.
    Raises: ShapeError: not two matrices, or "valid" of matrices of which neither covers the other.
    ArgumentError: an unknown mode or boundary.
    Source: SciPy reference, ``scipy.signal.convolve2d``.

    >>> convolve2d([[1.0, 2.0]], [[1.0, 1.0]], boundary="wrap").tolist()
    [[3.0, 3.0, 3.0]]
    """
    return _images("convolve2d", in1, in2, mode, boundary, False, fillvalue)


def correlate2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: Any = 0,
    precision: Any = None,
) -> Any:
    """`correlate` of matrices, with the boundaries of `convolve2d`.

    "valid" of a larger second matrix conjugates the first one, as SciPy does.

    Shapes: as `convolve`.   Dtypes: numbers.
    Derivative: bilinear over the reals; linear in `fillvalue`.
    Raises: as `convolve2d`.
    Source: SciPy reference, ``scipy.signal.correlate2d``.

    >>> correlate2d([[1.0, 2.0]], [[0.0, 1.0]], mode="valid").tolist()
    [[2.0]]
    """
    a, b = _both("correlate2d", in1, in2, mode)
    out = _images("correlate2d", a, _reversed(b), mode, boundary, True, fillvalue)
    larger = mode == "valid" and any(m < n for m, n in zip(a.shape, b.shape, strict=True))
    return conjugated(out) if larger else out
