"""New arrays: zeros, ranges, grids, and arrays of nested lists.

Under a transform they are traced constants, so ``z = fnp.zeros(3); z[0] = x`` works there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import Aval, Tracer, aval_of
from ..errors import ArgumentError, where
from ..ops.logic import equal, less_equal
from ..ops.structural import broadcast_to as _broadcast_to
from ..ops.structural import reshape as _reshape
from ..views import as_array
from ._arguments import (
    array_of,
    contains_foreign,
    converted,
    copied,
    fresh,
    integer,
    is_array,
    known_lengths,
    on_cpu,
    operand,
    shape_of,
    stacked,
)

# ---------------------------------------------------------------- filled


def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    """An array of zeros, which can be written into under every transform.

    Shapes: ``-> shape``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.zeros``.

    >>> zeros(2).tolist()
    [0.0, 0.0]
    """
    xp, shape = on_cpu("zeros", device), known_lengths("fnp.zeros: shape", shape)
    return fresh(xp.zeros(shape, dtype, order))


def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    """An array of ones.

    Shapes: ``-> shape``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.ones``.

    >>> ones(2).tolist()
    [1.0, 1.0]
    """
    xp, shape = on_cpu("ones", device), known_lengths("fnp.ones: shape", shape)
    return fresh(xp.ones(shape, dtype, order))


def empty(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    """An array to be written into; its elements are zeros, so that results never vary.

    Shapes: ``-> shape``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.empty``.

    >>> empty((2, 3)).shape
    (2, 3)
    """
    xp, shape = on_cpu("empty", device), known_lengths("fnp.empty: shape", shape)
    return fresh(xp.zeros(shape, dtype, order))


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None
) -> Any:
    """An array with `fill_value` everywhere.

    Shapes: ``fill_value`` broadcasts to ``shape``.   Dtypes: `dtype`, or that of `fill_value`.
    Derivative: linear in `fill_value`: the sum of the cotangents.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.full``.

    >>> full(2, 7.0).tolist()
    [7.0, 7.0]
    """
    xp = on_cpu("full", device)
    if contains_foreign(fill_value):
        return _broadcast_to(
            converted(operand(fill_value), dtype), shape=shape_of(shape, "fnp.full: shape")
        )
    shape = known_lengths("fnp.full: shape", shape)
    return fresh(xp.full(shape, fill_value, dtype, order))


def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Zeros of the shape and dtype of `a`, on its device; `a` may be a type (`ShapeDtypeStruct`).

    Shapes: ``a: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `a`.
    Derivative: a constant.
    Raises: ArgumentError: `a` is no array, or `order` no name of one.
    Source: NumPy reference, ``numpy.zeros_like``.

    >>> zeros_like(np.array([1.0, 2.0])).tolist()
    [0.0, 0.0]
    """
    return fresh(_like("zeros_like", a, dtype, order, shape, device))


def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Ones of the shape and dtype of `a`, on its device.

    Shapes: ``a: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `a`.
    Derivative: a constant.
    Raises: ArgumentError: `a` is no array, or `order` no name of one.
    Source: NumPy reference, ``numpy.ones_like``.

    >>> ones_like(np.array([1.0, 2.0])).tolist()
    [1.0, 1.0]
    """
    return fresh(_like("ones_like", a, dtype, order, shape, device))


def empty_like(
    prototype: Any,
    /,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """An array of the shape and dtype of `prototype` to be written into; it holds zeros.

    Shapes: ``prototype: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `prototype`.
    Derivative: a constant.
    Raises: ArgumentError: `prototype` is no array.
    Source: NumPy reference, ``numpy.empty_like``.

    >>> empty_like(np.array([1.0, 2.0])).shape
    (2,)
    """
    return fresh(_like("empty_like", prototype, dtype, order, shape, device))


def _model(name: str, a: Any, order: Any, device: Any) -> tuple[Any, Aval]:
    """The module and the type of what is like `a`, which may be a type itself."""
    on_cpu(name, device)
    if not isinstance(order, str | None):  # JAX has the shape in this place
        raise ArgumentError(
            f"fnp.{name}: order={order!r}; need 'K', 'A', 'C' or 'F'. A shape is given by its name, "
            f"shape={order!r}{where()}"
        )
    if a.__class__ is Aval:
        return np, a
    a = operand(a)
    return concrete_namespace(a), aval_of(a)


def _like(name: str, a: Any, dtype: Any, order: Any, shape: Any, device: Any) -> Any:
    xp, aval = _model(name, a, order, device)
    make = xp.ones if name == "ones_like" else xp.zeros
    shape = known_lengths(f"fnp.{name}: shape", shape)
    return make(aval.shape if shape is None else shape, aval.dtype if dtype is None else dtype)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """`fill_value` everywhere, in the shape and dtype of `a`, on its device.

    Shapes: ``a: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `a`.
    Derivative: linear in `fill_value`: the sum of the cotangents.
    Raises: ArgumentError: `a` is no array, or `order` no name of one.
    Source: NumPy reference, ``numpy.full_like``.

    >>> full_like(np.array([1.0, 2.0]), 7).tolist()
    [7.0, 7.0]
    """
    xp, aval = _model("full_like", a, order, device)
    shape = aval.shape if shape is None else shape_of(shape, "fnp.full_like: shape")
    dtype = aval.dtype if dtype is None else dtype
    if contains_foreign(fill_value):
        return _broadcast_to(converted(operand(fill_value), dtype), shape=shape)
    return fresh(xp.full(shape, fill_value, dtype))


# ---------------------------------------------------------------- matrices


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
) -> Any:
    """Ones on the diagonal `k`, zeros elsewhere.

    Shapes: ``-> (N, M)``.   Dtypes: `dtype`.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU, or a traced `k` is no integer.
    Source: NumPy reference, ``numpy.eye``.

    >>> eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    xp, k = on_cpu("eye", device), integer("eye", "k", k)
    N, M = known_lengths("fnp.eye: N", N), known_lengths("fnp.eye: M", M)
    if isinstance(k, Tracer):
        return converted(equal(offsets(N, N if M is None else M), k), dtype)
    return fresh(xp.eye(N, M, k, dtype, order))


def identity(n: int, dtype: Any = None) -> Any:
    """The identity matrix.

    Shapes: ``-> (n, n)``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.identity``.

    >>> identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return fresh(np.identity(known_lengths("fnp.identity: n", n), dtype))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Any:
    """Ones at and below the diagonal `k`, zeros above it.

    Shapes: ``-> (N, M)``.   Dtypes: `dtype`.
    Derivative: a constant.
    Raises: ArgumentError: a traced `k` is no integer.
    Source: NumPy reference, ``numpy.tri``.

    >>> tri(2).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    k = integer("tri", "k", k)
    N, M = known_lengths("fnp.tri: N", N), known_lengths("fnp.tri: M", M)
    if isinstance(k, Tracer):
        return converted(less_equal(offsets(N, N if M is None else M), k), dtype)
    return fresh(np.tri(N, M, k, dtype))


def offsets(rows: int, columns: int) -> np.ndarray:
    """Which diagonal every element of a matrix lies on."""
    return np.arange(columns) - np.arange(rows)[:, np.newaxis]


# ---------------------------------------------------------------- arrays of nested lists


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    """An array of a nested list, whose entries may be traced values; or a copy of an array.

    Shapes: that of the nesting, with 1s in front up to `ndmin` axes.
    Dtypes: `dtype`, or the common one of the entries.
    Derivative: linear: every entry gets its own part of the cotangent.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.array``.

    >>> array([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    out = _assembled(object, dtype)
    if copy and out is object:
        out = copied(out)
    if out is not object and not isinstance(out, Tracer):
        out = fresh(out)
    if ndmin > out.ndim:
        out = _reshape(out, shape=(1,) * (ndmin - out.ndim) + out.shape)
    return out if out is object else as_array(out)


def _assembled(x: Any, dtype: Any) -> Any:
    """An array made of `x`, or `x` itself if it is one of that dtype."""
    if is_array(x):
        return converted(x, dtype)
    if contains_foreign(x):
        return converted(stacked(x), dtype)
    made = np.asarray(x, dtype)
    operand(x if made.dtype.kind not in "biufc" else made)
    return made


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
) -> Any:
    """`a` itself if it is an array of that dtype, otherwise `array`.

    Shapes: that of the nesting.   Dtypes: `dtype`, or the common one of the entries.
    Derivative: linear: every entry gets its own part of the cotangent.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.asarray``.

    >>> asarray([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    on_cpu("asarray", device)
    return array(a, dtype, copy=copy)


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A copy: later writes into `a` do not change it, nor the other way round.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear; the identity.
    Raises: ArgumentError: `a` is no array, or `order` no name of one.
    Source: NumPy reference, ``numpy.copy``.

    >>> copy(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return array(a)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """`x` in another dtype; a complex `x` made real keeps its real part.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear between floating and complex dtypes; zero to and from the others.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.astype``.

    >>> astype(np.array([1.5, 2.5]), int).tolist()
    [1, 2]
    """
    on_cpu("astype", device)
    x = array_of(x)
    out = converted(x, dtype)
    return copied(out) if copy and out is x else out
