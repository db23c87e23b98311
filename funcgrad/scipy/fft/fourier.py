"""Fourier transforms: those of ``numpy.fft``, with SciPy's arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...errors import ArgumentError, ShapeError, where
from ...numpy import fft as _numpy
from ...numpy._arguments import array_of
from ...ops.contract import conjugated
from ...ops.fft import OTHER_WAY
from .._options import refuse_options

# ---------------------------------------------------------------- those of NumPy

_RENAMED = (("`a`", "`x`"), ("``a: ", "``x: "), ("sum_j a_j", "sum_j x_j"), ("NumPy", "SciPy"))


def _named(transform: Callable[..., Any], numpys: Callable[..., Any]) -> Callable[..., Any]:
    """The function under the name and with the words of NumPy's, whose first operand is `a`."""
    words = (numpys.__doc__ or "").replace("numpy.fft", "scipy.fft")
    for theirs, ours in _RENAMED:
        words = words.replace(theirs, ours)
    transform.__name__ = transform.__qualname__ = numpys.__name__
    transform.__doc__ = words
    return transform


def _along_one(numpys: Callable[..., Any]) -> Callable[..., Any]:
    def transform(
        x: Any,
        n: Any = None,
        axis: int = -1,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        plan: Any = None,
    ) -> Any:
        refuse_options(numpys.__name__, plan=plan)
        return numpys(x, n, axis, norm)

    return _named(transform, numpys)


def _along_several(numpys: Callable[..., Any]) -> Callable[..., Any]:
    def transform(
        x: Any,
        s: Any = None,
        axes: Any = None,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        plan: Any = None,
    ) -> Any:
        refuse_options(numpys.__name__, plan=plan)
        return numpys(x, s, axes, norm)

    return _named(transform, numpys)


def _along_two(numpys: Callable[..., Any]) -> Callable[..., Any]:
    def transform(
        x: Any,
        s: Any = None,
        axes: Any = (-2, -1),
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        plan: Any = None,
    ) -> Any:
        refuse_options(numpys.__name__, plan=plan)
        return numpys(x, s, axes, norm)

    return _named(transform, numpys)


fft, ifft = _along_one(_numpy.fft), _along_one(_numpy.ifft)
rfft, irfft = _along_one(_numpy.rfft), _along_one(_numpy.irfft)
hfft, ihfft = _along_one(_numpy.hfft), _along_one(_numpy.ihfft)
fftn, ifftn = _along_several(_numpy.fftn), _along_several(_numpy.ifftn)
rfftn, irfftn = _along_several(_numpy.rfftn), _along_several(_numpy.irfftn)
fft2, ifft2 = _along_two(_numpy.fft2), _along_two(_numpy.ifft2)
rfft2, irfft2 = _along_two(_numpy.rfft2), _along_two(_numpy.irfft2)


# ---------------------------------------------------------------- of points with mirror images


def _swapped(name: str, norm: Any) -> str:
    found = OTHER_WAY.get("backward" if norm is None else norm)
    if found is None:
        raise ArgumentError(
            f"{name}: norm must be 'backward', 'ortho' or 'forward', found {norm!r}{where()}"
        )
    return found


def hfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any:
    """`fft` along the axes of points that are conjugates of their mirror images, half of which are `x`.

    Shapes: ``x: (*a) -> (*a)`` with the lengths `s` along the axes; the last is ``2 (m - 1)`` if
    there is no `s`.
    Dtypes: numbers; gives real ones.   Derivative: linear.
    Raises: ShapeError: a length is less than 1, or there is no axis.
    Source: SciPy reference, ``scipy.fft.hfftn``.

    >>> hfftn([[10.0, -2.0], [-4.0, 0.0]], norm="forward").tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    refuse_options("hfftn", plan=plan)
    return _numpy.irfftn(conjugated(array_of(x)), s, axes, _swapped("hfftn", norm))


def ihfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any:
    """Half of the points whose `fft` along the axes are the real numbers `x`: the inverse of `hfftn`.

    Shapes: ``x: (*a) -> (*a)`` with the lengths `s` along the axes, the last one ``n // 2 + 1``.
    Dtypes: real; gives complex numbers.   Derivative: linear.
    Raises: ArgumentError: `x` is complex. ShapeError: a length is less than 1, or there is no axis.
    Source: SciPy reference, ``scipy.fft.ihfftn``.

    >>> ihfftn([[1.0, 2.0], [3.0, 4.0]], norm="forward").real.tolist()
    [[10.0, -2.0], [-4.0, 0.0]]
    """
    refuse_options("ihfftn", plan=plan)
    return conjugated(_numpy.rfftn(x, s, axes, _swapped("ihfftn", norm)))


def hfft2(
    x: Any,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any:
    """`hfftn` along the last two axes.

    Shapes: ``x: (*a, m, n) -> (*a, *s)``, ``(*a, m, 2 (n - 1))`` if there is no `s`.
    Dtypes: numbers; gives real ones.   Derivative: linear.
    Raises: ShapeError: a length is less than 1, or there is no axis.
    Source: SciPy reference, ``scipy.fft.hfft2``.

    >>> hfft2([[10.0, -2.0], [-4.0, 0.0]], norm="forward").tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return hfftn(x, s, axes, norm, plan=plan)


def ihfft2(
    x: Any,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any:
    """`ihfftn` along the last two axes.

    Shapes: ``x: (*a, m, n) -> (*a, m, n // 2 + 1)``.
    Dtypes: real; gives complex numbers.   Derivative: linear.
    Raises: ArgumentError: `x` is complex. ShapeError: a length is less than 1, or there is no axis.
    Source: SciPy reference, ``scipy.fft.ihfft2``.

    >>> ihfft2([[1.0, 2.0], [3.0, 4.0]], norm="forward").real.tolist()
    [[10.0, -2.0], [-4.0, 0.0]]
    """
    return ihfftn(x, s, axes, norm, plan=plan)


# ---------------------------------------------------------------- frequencies and lengths

fftshift, ifftshift = _numpy.fftshift, _numpy.ifftshift


def fftfreq(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
    """The frequencies that `fft` gives of `n` points at the distance `d`: ``k / (n d)``.

    Shapes: ``-> (n,)``.   Dtypes: floating.
    Derivative: that of ``1 / d``.
    Raises: ArgumentError: `n` is no integer, or `xp` is given. ZeroDivisionError: `n` is 0.
    Source: SciPy reference, ``scipy.fft.fftfreq``.

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    refuse_options("fftfreq", xp=xp)
    return _numpy.fftfreq(n, d, device)


def rfftfreq(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
    """The frequencies that `rfft` gives of `n` points at the distance `d`: ``k / (n d)``.

    Shapes: ``-> (n // 2 + 1,)``.   Dtypes: floating.
    Derivative: that of ``1 / d``.
    Raises: ArgumentError: `n` is no integer, or `xp` is given. ZeroDivisionError: `n` is 0.
    Source: SciPy reference, ``scipy.fft.rfftfreq``.

    >>> rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    refuse_options("rfftfreq", xp=xp)
    return _numpy.rfftfreq(n, d, device)


def _is_fast(n: int, real: bool) -> bool:
    """Whether only small primes divide `n`."""
    for prime in (2, 3, 5) if real else (2, 3, 5, 7, 11):
        while n % prime == 0:
            n //= prime
    return n == 1


def next_fast_len(target: int, real: bool = False) -> int:
    """The smallest length, `target` or more, of which a transform is fast: a product of small primes.

    2, 3, 5, and for complex transforms 7 and 11.

    Shapes: none.   Dtypes: integers.   Derivative: none, lengths are integers.
    Raises: ShapeError: `target` is negative. TypeError: it is no integer.
    Source: SciPy reference, ``scipy.fft.next_fast_len``.

    >>> next_fast_len(13), next_fast_len(7, real=True)
    (14, 8)
    """
    n = operator.index(target)
    if n < 0:
        raise ShapeError(f"next_fast_len: target is {n}; need 0 or more{where()}")
    while n and not _is_fast(n, real):
        n += 1
    return n


def prev_fast_len(target: int, real: bool = False) -> int:
    """The largest length, `target` or less, of which a transform is fast: a product of small primes.

    2, 3, 5, and for complex transforms 7 and 11.

    Shapes: none.   Dtypes: integers.   Derivative: none, lengths are integers.
    Raises: ShapeError: `target` is negative. TypeError: it is no integer.
    Source: SciPy reference, ``scipy.fft.prev_fast_len``.

    >>> prev_fast_len(13), prev_fast_len(7, real=True)
    (12, 6)
    """
    n = operator.index(target)
    if n < 0:
        raise ShapeError(f"prev_fast_len: target is {n}; need 0 or more{where()}")
    while n and not _is_fast(n, real):
        n -= 1
    return n
