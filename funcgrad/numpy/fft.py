"""``numpy.fft`` under NumPy's names and signatures, differentiable.

A length (``n=``, ``s=``) that is not that of the axis cuts the end off or puts zeros there.
``norm=`` says which direction is divided by the number of points: "backward" (or None) the inverse,
"forward" the other one; "ortho" divides either by its root.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, where
from ..ops import fft as _fft
from ..ops.complex import conjugate
from ..ops.index import getitem
from ..ops.index_layout import Slice
from ..ops.join import pad
from ._arguments import array_of, axis_of, converted, copied, fresh, module_of, on_cpu, refuse
from .repeating import roll

# ---------------------------------------------------------------- arguments


def _norm_of(name: str, norm: Any) -> str:
    """The norm by its word.

    Raises: ArgumentError: there is no such norm.
    """
    norm = "backward" if norm is None else norm
    if norm not in _fft.OTHER_WAY:
        raise ArgumentError(
            f"fnp.fft.{name}: norm must be 'backward', 'ortho' or 'forward', found {norm!r}{where()}"
        )
    return norm


def _input(name: str, a: Any, norm: Any, out: Any, *, swapped: bool = False) -> tuple[Any, str]:
    """The operand as an array, and the norm; that of the other direction if `swapped`."""
    refuse(f"fft.{name}", out=out)
    norm = _norm_of(name, norm)
    return array_of(a), _fft.OTHER_WAY[norm] if swapped else norm


def _real_input(
    name: str, a: Any, norm: Any, out: Any, *, swapped: bool = False
) -> tuple[Any, str]:
    """`_input` that must be real.

    Raises: ArgumentError: it is complex.
    """
    a, norm = _input(name, a, norm, out, swapped=swapped)
    if a.dtype.kind == "c":
        raise ArgumentError(
            f"fnp.fft.{name}: the transform is of real numbers, found {a.dtype}; take a.real, or "
            f"use fft for all frequencies{where()}"
        )
    return a, norm


def _length(name: str, n: Any) -> int:
    """A number of points.

    Raises: ShapeError: it is not 1 or more. ArgumentError: it is no integer.
    """
    try:
        found = operator.index(n)
    except TypeError:
        raise ArgumentError(
            f"fnp.fft.{name}: the number of points must be an integer, found "
            f"{type(n).__name__}{where()}"
        ) from None
    if found < 1:
        raise ShapeError(
            f"fnp.fft.{name}: a transform needs one point or more, found {found}{where()}"
        )
    return found


def _axes_and_lengths(
    name: str, shape: tuple[int, ...], s: Any, axes: Any
) -> tuple[list[int], list[int]]:
    """The axes, counted from the front, and the lengths of the array along them.

    Raises: ShapeError: an axis does not exist, or there are not as many lengths as axes.
    """
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    found = [axis_of(f"fft.{name}", axis, len(shape)) for axis in axes]
    if s is None:
        return found, [shape[i] for i in found]
    if len(s) != len(found):
        raise ShapeError(
            f"fnp.fft.{name}: s={s} has {len(s)} lengths for {len(found)} axes{where()}"
        )
    return found, [shape[i] if n == -1 else _length(name, n) for n, i in zip(s, found, strict=True)]


def _last_axis(name: str, axes: Sequence[int]) -> int:
    if not axes:
        raise ShapeError(f"fnp.fft.{name}: there is no axis to transform{where()}")
    return axes[-1]


# ---------------------------------------------------------------- transforms


def _fitted(a: Any, axes: Sequence[int], lengths: Sequence[int]) -> Any:
    """`a` with axes of these lengths: cut off at the end, or filled up with zeros."""
    goal = list(a.shape)
    for axis, n in zip(axes, lengths, strict=True):
        goal[axis] = n
    if any(n < m for n, m in zip(goal, a.shape, strict=True)):
        kept = map(min, goal, a.shape)
        a = getitem(a, index=tuple(Slice(0, n, 1) for n in kept))
    if any(n > m for n, m in zip(goal, a.shape, strict=True)):
        a = pad(a, widths=tuple((0, n - m) for n, m in zip(goal, a.shape, strict=True)))
    return a


def _transformed(
    name: str, a: Any, axes: list[int], lengths: list[int], inverse: bool, norm: str
) -> Any:
    """The complex transform along the axes; along an axis given twice, two of them, last first."""
    for n in lengths:
        _length(name, n)
    if len(set(axes)) < len(axes):
        for axis, n in zip(axes[::-1], lengths[::-1], strict=True):
            a = _transformed(name, a, [axis], [n], inverse, norm)
        return a
    if not axes:
        return a
    a = _fitted(a, axes, lengths)
    return _fft.fft(a, axis=tuple(sorted(axes)), inverse=inverse, norm=norm)


def _to_half(name: str, a: Any, axis: int, n: Any, norm: str) -> Any:
    """The transform of `n` real numbers along the axis; of as many as there are, if None."""
    n = _length(name, a.shape[axis] if n is None else n)
    return _fft.rfft(_fitted(a, [axis], [n]), axis=axis, norm=norm)


def _from_half(name: str, a: Any, axis: int, n: Any, norm: str) -> Any:
    """`n` real numbers from half of their frequencies along the axis; an even number, if None."""
    n = _length(name, 2 * (a.shape[axis] - 1) if n is None else n)
    return _fft.irfft(_fitted(a, [axis], [n // 2 + 1]), axis=axis, n=n, norm=norm)


# ---------------------------------------------------------------- along one axis


def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """``y_k = sum_j a_j exp(-2 pi i j k / n)`` along the axis.

    Shapes: ``a: (*a, m, *b) -> (*a, n, *b)``.   Dtypes: numbers; gives complex ones.
    Derivative: linear; its own transpose.
    Raises: ShapeError: `n` is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.fft``.

    >>> fft([1.0, 2.0, 4.0, 3.0]).tolist()
    [(10+0j), (-3+1j), 0j, (-3-1j)]
    """
    return _complex("fft", a, n, axis, norm, out, inverse=False)


def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """``y_k = sum_j a_j exp(2 pi i j k / n) / n`` along the axis: the inverse of `fft`.

    Shapes: ``a: (*a, m, *b) -> (*a, n, *b)``.   Dtypes: numbers; gives complex ones.
    Derivative: linear; its own transpose.
    Raises: ShapeError: `n` is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.ifft``.

    >>> ifft([10, -3 + 1j, 0, -3 - 1j]).tolist()
    [(1+0j), (2+0j), (4+0j), (3+0j)]
    """
    return _complex("ifft", a, n, axis, norm, out, inverse=True)


def _complex(name: str, a: Any, n: Any, axis: Any, norm: Any, out: Any, *, inverse: bool) -> Any:
    a, norm = _input(name, a, norm, out)
    found = axis_of(f"fft.{name}", axis, a.ndim)
    length = _length(name, a.shape[found] if n is None else n)
    return _transformed(name, a, [found], [length], inverse, norm)


def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """`fft` of real numbers, of which the frequencies 0 to ``n // 2`` say everything.

    Shapes: ``a: (*a, m, *b) -> (*a, n // 2 + 1, *b)``.   Dtypes: real; gives complex numbers.
    Derivative: linear; its transpose goes through `irfft`.
    Raises: ArgumentError: `a` is complex. ShapeError: `n` is less than 1.
    Source: NumPy reference, ``numpy.fft.rfft``.

    >>> rfft([1.0, 2.0, 4.0, 3.0]).tolist()
    [(10+0j), (-3+1j), 0j]
    """
    a, norm = _real_input("rfft", a, norm, out)
    return _to_half("rfft", a, axis_of("fft.rfft", axis, a.ndim), n, norm)


def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The `n` real numbers with the frequencies `a`: the inverse of `rfft`.

    There are ``2 (m - 1)`` of them unless `n` is given. The imaginary parts of the first and, of an
    even `n`, of the last frequency do not count.

    Shapes: ``a: (*a, m, *b) -> (*a, n, *b)``.   Dtypes: numbers; gives real ones.
    Derivative: linear; its transpose goes through `rfft`.
    Raises: ShapeError: `n` is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.irfft``.

    >>> irfft([10, -3 + 1j, 0]).tolist()
    [1.0, 2.0, 4.0, 3.0]
    """
    a, norm = _input("irfft", a, norm, out)
    return _from_half("irfft", a, axis_of("fft.irfft", axis, a.ndim), n, norm)


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """`fft` of `n` points that are conjugates of their mirror images, half of which are `a`.

    Shapes: ``a: (*a, m, *b) -> (*a, n, *b)``, n is ``2 (m - 1)`` unless given.
    Dtypes: numbers; gives real ones.   Derivative: linear.
    Raises: ShapeError: `n` is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.hfft``.

    >>> hfft([10, -3 - 1j, 0], norm="forward").tolist()
    [1.0, 2.0, 4.0, 3.0]
    """
    a, norm = _input("hfft", a, norm, out, swapped=True)
    return _from_half(
        "hfft",
        a if a.dtype.kind != "c" else conjugate(a),
        axis_of("fft.hfft", axis, a.ndim),
        n,
        norm,
    )


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """Half of the points whose `fft` are the real numbers `a`: the inverse of `hfft`.

    Shapes: ``a: (*a, m, *b) -> (*a, n // 2 + 1, *b)``.   Dtypes: real; gives complex numbers.
    Derivative: linear.
    Raises: ArgumentError: `a` is complex. ShapeError: `n` is less than 1.
    Source: NumPy reference, ``numpy.fft.ihfft``.

    >>> ihfft([1.0, 2.0, 4.0, 3.0], norm="forward").tolist()
    [(10-0j), (-3-1j), -0j]
    """
    a, norm = _real_input("ihfft", a, norm, out, swapped=True)
    return conjugate(_to_half("ihfft", a, axis_of("fft.ihfft", axis, a.ndim), n, norm))


# ---------------------------------------------------------------- along several axes


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """`fft` along each of the axes; along all of them if `axes` is None.

    Shapes: ``a: (*a) -> (*a)`` with the lengths `s` along the axes; -1 leaves one as it is.
    Dtypes: numbers; gives complex ones.   Derivative: linear; its own transpose.
    Raises: ShapeError: a length is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.fftn``.

    >>> fftn([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    return _several("fftn", a, s, axes, norm, out, inverse=False)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """`ifft` along each of the axes; along all of them if `axes` is None.

    Shapes: ``a: (*a) -> (*a)`` with the lengths `s` along the axes; -1 leaves one as it is.
    Dtypes: numbers; gives complex ones.   Derivative: linear; its own transpose.
    Raises: ShapeError: a length is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.ifftn``.

    >>> ifftn([[10.0, -2.0], [-4.0, 0.0]]).tolist()
    [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    return _several("ifftn", a, s, axes, norm, out, inverse=True)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`fftn` along the last two axes.

    Shapes: ``a: (*a, m, n) -> (*a, *s)``.   Dtypes: numbers; gives complex ones.
    Derivative: linear; its own transpose.
    Raises: ShapeError: a length is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.fft2``.

    >>> fft2([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    return _several("fft2", a, s, axes, norm, out, inverse=False)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`ifftn` along the last two axes.

    Shapes: ``a: (*a, m, n) -> (*a, *s)``.   Dtypes: numbers; gives complex ones.
    Derivative: linear; its own transpose.
    Raises: ShapeError: a length is less than 1, or there is no such axis.
    Source: NumPy reference, ``numpy.fft.ifft2``.

    >>> ifft2([[10.0, -2.0], [-4.0, 0.0]]).tolist()
    [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    return _several("ifft2", a, s, axes, norm, out, inverse=True)


def _several(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any, *, inverse: bool) -> Any:
    a, norm = _input(name, a, norm, out)
    found, lengths = _axes_and_lengths(name, a.shape, s, axes)
    return _transformed(name, a, found, lengths, inverse, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """`rfft` along the last of the axes, then `fft` along the others.

    Shapes: ``a: (*a) -> (*a)`` with the lengths `s` along the axes, the last one ``n // 2 + 1``.
    Dtypes: real; gives complex numbers.   Derivative: linear.
    Raises: ArgumentError: `a` is complex. ShapeError: a length is less than 1, or there is no axis.
    Source: NumPy reference, ``numpy.fft.rfftn``.

    >>> rfftn([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    return _several_to_half("rfftn", a, s, axes, norm, out)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`rfftn` along the last two axes.

    Shapes: ``a: (*a, m, n) -> (*a, m, n // 2 + 1)``.   Dtypes: real; gives complex numbers.
    Derivative: linear.
    Raises: ArgumentError: `a` is complex. ShapeError: a length is less than 1, or there is no axis.
    Source: NumPy reference, ``numpy.fft.rfft2``.

    >>> rfft2([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    return _several_to_half("rfft2", a, s, axes, norm, out)


def _several_to_half(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    a, norm = _real_input(name, a, norm, out)
    found, lengths = _axes_and_lengths(name, a.shape, s, axes)
    half = _to_half(name, a, _last_axis(name, found), lengths[-1], norm)
    return _transformed(name, half, found[:-1], lengths[:-1], False, norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """`ifft` along all of the axes but the last, then `irfft` along that one.

    Shapes: ``a: (*a) -> (*a)`` with the lengths `s` along the axes; the last is ``2 (m - 1)`` if
    there is no `s`.
    Dtypes: numbers; gives real ones.   Derivative: linear.
    Raises: ShapeError: a length is less than 1, or there is no axis.
    Source: NumPy reference, ``numpy.fft.irfftn``.

    >>> irfftn([[10.0, -2.0], [-4.0, 0.0]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _several_from_half("irfftn", a, s, axes, norm, out)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`irfftn` along the last two axes.

    Shapes: ``a: (*a, m, n) -> (*a, *s)``, ``(*a, m, 2 (n - 1))`` if there is no `s`.
    Dtypes: numbers; gives real ones.   Derivative: linear.
    Raises: ShapeError: a length is less than 1, or there is no axis.
    Source: NumPy reference, ``numpy.fft.irfft2``.

    >>> irfft2([[10.0, -2.0], [-4.0, 0.0]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _several_from_half("irfft2", a, s, axes, norm, out)


def _several_from_half(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    a, norm = _input(name, a, norm, out)
    found, lengths = _axes_and_lengths(name, a.shape, s, axes)
    last = _last_axis(name, found)
    half = _transformed(name, a, found[-2::-1], lengths[-2::-1], True, norm)
    return _from_half(name, half, last, None if s is None else lengths[-1], norm)


# ---------------------------------------------------------------- frequencies


def fftfreq(n: Any, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """The frequencies that `fft` gives of `n` points at the distance `d`: ``k / (n d)``.

    Shapes: ``-> (n,)``.   Dtypes: floating; `dtype` if that is given.
    Derivative: that of ``1 / d``.
    Raises: ArgumentError: `n` is no integer. ZeroDivisionError: it is 0.
    Source: NumPy reference, ``numpy.fft.fftfreq``.

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    n = _count("fftfreq", n, device)
    places = np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])
    return _frequencies(places, n * d, dtype)


def rfftfreq(n: Any, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """The frequencies that `rfft` gives of `n` points at the distance `d`: ``k / (n d)``.

    Shapes: ``-> (n // 2 + 1,)``.   Dtypes: floating; `dtype` if that is given.
    Derivative: that of ``1 / d``.
    Raises: ArgumentError: `n` is no integer. ZeroDivisionError: it is 0.
    Source: NumPy reference, ``numpy.fft.rfftfreq``.

    >>> rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    n = _count("rfftfreq", n, device)
    return _frequencies(np.arange(n // 2 + 1), n * d, dtype)


def _frequencies(places: Any, length: Any, dtype: Any) -> Any:
    y = fresh(module_of(length).asarray(places)) * (1.0 / length)
    return y if dtype is None else converted(y, dtype)


def _count(name: str, n: Any, device: Any) -> int:
    on_cpu(f"fft.{name}", device)
    if not isinstance(n, int | np.integer):
        raise ArgumentError(
            f"fnp.fft.{name}: n must be an integer, found {type(n).__name__}{where()}"
        )
    return int(n)


def fftshift(x: Any, axes: Any = None) -> Any:
    """The frequency 0, which is the first, moved to the middle; along all axes if None is given.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear; its transpose is `ifftshift`.
    Raises: ShapeError: there is no such axis.
    Source: NumPy reference, ``numpy.fft.fftshift``.

    >>> fftshift([0.0, 1.0, 2.0, -2.0, -1.0]).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    return _shifted("fftshift", x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear; its transpose is `fftshift`.
    Raises: ShapeError: there is no such axis.
    Source: NumPy reference, ``numpy.fft.ifftshift``.

    >>> ifftshift([-2.0, -1.0, 0.0, 1.0, 2.0]).tolist()
    [0.0, 1.0, 2.0, -2.0, -1.0]
    """
    return _shifted("ifftshift", x, axes, -1)


def _shifted(name: str, x: Any, axes: Any, sign: int) -> Any:
    x = array_of(x)
    shape = x.shape
    if axes is None:
        axes = range(len(shape))
    elif isinstance(axes, int | np.integer):
        axes = (axes,)
    places = tuple(axis_of(f"fft.{name}", axis, len(shape)) for axis in axes)
    if not places:
        return copied(x)
    return roll(x, tuple(sign * (shape[i] // 2) for i in places), places)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
