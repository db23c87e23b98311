"""Bessel functions made of others: Hankel's, modified spherical ones, and derivatives of any order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, where
from ..numpy._arguments import array_of, converted, operand
from ..ops.arithmetic import divide
from ..ops.bessel import (
    iv,
    jv,
    kv,
    kve,
    spherical_jn,
    spherical_jn_slope,
    yv,
)
from ..ops.complex import imag, real
from ..ops.exponential import exp, sqrt
from ..ops.index import take
from ..ops.logic import equal, less, less_equal
from ..ops.rounding import floor
from ..ops.select import where as choose
from ..ops.trigonometric import cos
from .families import count_of

# ---------------------------------------------------------------- Hankel functions


def _order_and_place(name: str, v: Any, z: Any) -> tuple[Any, Any]:
    """The order, integers in the precision of `z`, and `z` as complex numbers.

    Raises: ArgumentError: the order is complex.
    """
    v, z = operand(v), operand(z)
    of, kind = aval_of(v), aval_of(z)
    if of.dtype.kind == "c":
        raise ArgumentError(f"{name}: the order is complex; need a real number{where()}")
    dtype = kind.dtype if kind.dtype.kind in "fc" else np.dtype(np.float64)
    whole = np.result_type(dtype, np.complex64)
    if of.weak or of.dtype.kind != "f":
        v = converted(array_of(v), np.empty(0, whole).real.dtype)
    return v, converted(array_of(z), np.result_type(whole, aval_of(v).dtype))


def _turn(v: Any) -> Any:
    """``exp(i pi v / 2)``, for large orders, too."""
    return exp(0.5j * math.pi * (v - 4.0 * floor(v * 0.25)))


def _hankel(name: str, v: Any, z: Any, side: int, scaled: bool) -> Any:
    """The function of the first (`side` is 1) or second (-1) kind, by that of Macdonald.

    ``J + i Y`` cancels in one half of the plane. The formula holds in three of its quarters; the last
    one is reached by a half turn around 0, where nothing cancels.
    """
    v, z = _order_and_place(name, v, z)
    unit = complex(0.0, -float(side))  # i z of the kind that decays
    macdonald = kve if scaled else kv

    def direct(z: Any, kind: int) -> Any:
        return (
            (unit * side * kind / (0.5 * math.pi))
            * _turn(-kind * v)
            * macdonald(v, unit * (side * kind) * z)
        )

    below = less(imag(z), 0.0)
    # of both sides of its cut `kv` has the upper one: for `hankel1` imaginary numbers are beyond, too
    beyond = less_equal(real(z), 0.0) & below if side == 1 else less(real(z), 0.0) & ~below
    near = direct(choose(beyond, 1.0, z), side)
    w = choose(beyond, -z, 1.0)
    first = direct(w, side)
    if scaled:
        first = first * exp(w * (-2.0 * unit))
    around = 2.0 * cos(math.pi * (v - 2.0 * floor(v * 0.5)))
    far = around * first + _turn(-2.0 * side * v) * direct(w, -side)
    return choose(beyond, far, near)


def hankel1(v: Any, z: Any, /) -> Any:
    """The Hankel function of the first kind: ``jv(v, z) + i yv(v, z)``, without cancellation.

    Shapes: broadcast.   Dtypes: `v` real, `z` floating, complex; gives complex numbers.
    Derivative: that of `kv` by `z`, none by `v`; nan at the pole 0, smooth elsewhere.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `v` is complex.
    Source: DLMF 10.27.8, 10.11.5; SciPy reference, ``scipy.special.hankel1``.

    >>> complex(hankel1(0, 1.0).round(4))
    (0.7652+0.0883j)
    """
    return _hankel("hankel1", v, z, 1, False)


def hankel2(v: Any, z: Any, /) -> Any:
    """The Hankel function of the second kind: ``jv(v, z) - i yv(v, z)``, without cancellation.

    Shapes: broadcast.   Dtypes, Derivative, Raises: as `hankel1`.
    Source: DLMF 10.27.8, 10.11.5; SciPy reference, ``scipy.special.hankel2``.

    >>> complex(hankel2(0, 1.0).round(4))
    (0.7652-0.0883j)
    """
    return _hankel("hankel2", v, z, -1, False)


def hankel1e(v: Any, z: Any, /) -> Any:
    """``exp(-i z) hankel1(v, z)``.

    Shapes: broadcast.   Dtypes, Derivative, Raises: as `hankel1`.
    Source: SciPy reference, ``scipy.special.hankel1e``.

    >>> complex(hankel1e(0, 1j).round(4))
    -0.7286j
    """
    return _hankel("hankel1e", v, z, 1, True)


def hankel2e(v: Any, z: Any, /) -> Any:
    """``exp(i z) hankel2(v, z)``.

    Shapes: broadcast.   Dtypes, Derivative, Raises: as `hankel1`.
    Source: SciPy reference, ``scipy.special.hankel2e``.

    >>> complex(hankel2e(0, -1j).round(4))
    0.7286j
    """
    return _hankel("hankel2e", v, z, -1, True)


# ---------------------------------------------------------------- derivatives of any order


def _differences(name: str, f: Callable[..., Any], v: Any, z: Any, n: Any, sign: int) -> Any:
    """``2^-n sum_k sign^k binom(n, k) f(v - n + 2 k, z)``: the derivative of order `n`."""
    n = count_of(name, "n", n)
    v = operand(v)
    if not n:
        return f(v, z)
    total: Any = 0.0
    for k in range(n + 1):
        total = total + sign**k * math.comb(n, k) * f(v + float(2 * k - n), z)
    return total * 0.5**n


def jvp(v: Any, z: Any, n: int = 1) -> Any:
    """The derivative of order `n` of ``jv(v, z)`` by `z`.

    Shapes: broadcast.   Dtypes, Derivative: as `jv`.
    Raises: as `jv`; ArgumentError: `n` is no integer, or negative.
    Source: DLMF 10.6.7; SciPy reference, ``scipy.special.jvp``.

    >>> float(jvp(0, 1.0).round(4))
    -0.4401
    """
    return _differences("jvp", jv, v, z, n, -1)


def yvp(v: Any, z: Any, n: int = 1) -> Any:
    """The derivative of order `n` of ``yv(v, z)`` by `z`.

    Shapes: broadcast.   Dtypes, Derivative: as `yv`.
    Raises: as `yv`; ArgumentError: `n` is no integer, or negative.
    Source: DLMF 10.6.7; SciPy reference, ``scipy.special.yvp``.

    >>> float(yvp(0, 1.0).round(4))
    0.7812
    """
    return _differences("yvp", yv, v, z, n, -1)


def ivp(v: Any, z: Any, n: int = 1) -> Any:
    """The derivative of order `n` of ``iv(v, z)`` by `z`.

    Shapes: broadcast.   Dtypes, Derivative: as `iv`.
    Raises: as `iv`; ArgumentError: `n` is no integer, or negative.
    Source: DLMF 10.29.5; SciPy reference, ``scipy.special.ivp``.

    >>> float(ivp(0, 1.0).round(4))
    0.5652
    """
    return _differences("ivp", iv, v, z, n, 1)


def kvp(v: Any, z: Any, n: int = 1) -> Any:
    """The derivative of order `n` of ``kv(v, z)`` by `z`.

    Shapes: broadcast.   Dtypes, Derivative: as `kv`.
    Raises: as `kv`; ArgumentError: `n` is no integer, or negative.
    Source: DLMF 10.29.5; SciPy reference, ``scipy.special.kvp``.

    >>> float(kvp(0, 1.0).round(4))
    -0.6019
    """
    found = _differences("kvp", kv, v, z, n, 1)
    return -found if n % 2 else found


def h1vp(v: Any, z: Any, n: int = 1) -> Any:
    """The derivative of order `n` of ``hankel1(v, z)`` by `z`.

    Shapes: broadcast.   Dtypes, Derivative: as `hankel1`.
    Raises: as `hankel1`; ArgumentError: `n` is no integer, or negative.
    Source: DLMF 10.6.7; SciPy reference, ``scipy.special.h1vp``.

    >>> complex(h1vp(0, 1.0).round(4))
    (-0.4401+0.7812j)
    """
    return _differences("h1vp", hankel1, v, z, n, -1)


def h2vp(v: Any, z: Any, n: int = 1) -> Any:
    """The derivative of order `n` of ``hankel2(v, z)`` by `z`.

    Shapes: broadcast.   Dtypes, Derivative: as `hankel2`.
    Raises: as `hankel2`; ArgumentError: `n` is no integer, or negative.
    Source: DLMF 10.6.7; SciPy reference, ``scipy.special.h2vp``.

    >>> complex(h2vp(0, 1.0).round(4))
    (-0.4401-0.7812j)
    """
    return _differences("h2vp", hankel2, v, z, n, -1)


# ---------------------------------------------------------------- modified spherical ones


def _whole(name: str, n: Any) -> Any:
    """
    Raises: ArgumentError: the order is no integer.
    """
    n = array_of(n)
    if aval_of(n).dtype.kind not in "iu":
        raise ArgumentError(f"{name}: the order has to be an integer{where()}")
    return n


def spherical_in(n: Any, z: Any, derivative: bool = False) -> Any:
    """The modified spherical Bessel function of the first kind of integer order, or its derivative:
    ``i^-n spherical_jn(n, i z)``.

    Shapes: broadcast.   Dtypes: `n` integer, `z` floating, complex; integers give floats.
    Derivative: that of `spherical_jn` by `z`; smooth everywhere, for negative `z`, too.
    Raises: ArgumentError: `n` is no integer. ShapeError: the shapes do not broadcast.
    Source: DLMF 10.47.12; SciPy reference, ``scipy.special.spherical_in``.

    >>> float(spherical_in(0, 1.0).round(4)), float(spherical_in(1, 0.0, derivative=True).round(4))
    (1.1752, 0.3333)
    """
    n = _whole("spherical_in", n)
    _, turned = _order_and_place("spherical_in", 0, z)
    f, late = (spherical_jn_slope, 1) if derivative else (spherical_jn, 0)
    units = np.array([1.0, -1.0j, -1.0, 1.0j], aval_of(turned).dtype)
    value = converted(f(n, turned * 1j), aval_of(turned).dtype)
    value = take(units, (n + 4 - late) % 4, axis=0) * value
    return value if aval_of(operand(z)).dtype.kind == "c" else real(value)


def spherical_kn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The modified spherical Bessel function of the second kind of integer order, or its derivative:
    ``sqrt(pi / (2 z)) kv(n + 1/2, z)``.

    Shapes: broadcast.   Dtypes: `n` integer, `z` floating, complex; integers give floats.
    Derivative: that of `kv` by `z`; nan at the pole 0, smooth elsewhere.
    Raises: ArgumentError: `n` is no integer. ShapeError: the shapes do not broadcast.
    Source: DLMF 10.47.9, 10.51.5; SciPy reference, ``scipy.special.spherical_kn``.

    >>> float(spherical_kn(0, 1.0).round(4)), float(spherical_kn(0, 1.0, derivative=True).round(4))
    (0.5779, -1.1557)
    """
    n = _whole("spherical_kn", n)
    _, wide = _order_and_place("spherical_kn", 0, z)  # negative numbers have complex roots
    order = converted(n, real(np.empty(0, aval_of(wide).dtype)).dtype)
    order = choose(less(n, 0), math.nan, order)
    pole, end = equal(wide, 0.0), equal(wide, math.inf)
    wide = choose(pole | end, 1.0, wide)
    value = kv(order + 0.5, wide)
    if derivative:
        value = -kv(order - 0.5, wide) - divide(order + 1.0, wide) * value
    value = sqrt(divide(0.5 * math.pi, wide)) * value
    value = value if aval_of(operand(z)).dtype.kind == "c" else real(value)
    factor = choose(pole, math.inf, choose(end, 0.0, 1.0))
    return value * converted(factor, aval_of(value).dtype)
