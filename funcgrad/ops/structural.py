"""Shape and order: reshape, transpose, broadcast_to and its adjoint sum, and their relatives.

Every primitive here is linear and moves or adds numbers without computing with them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import batch_first, linear, sum_to, view
from ..core import Aval, Primitive, aval_of
from ..errors import ShapeError, where
from ..half import in_single
from ..short import summed


def batch_axis_first(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """Batch rule of one-operand primitives whose `axis` counts from the front: shift it by one."""
    axis = params["axis"]
    shifted = tuple(a + 1 for a in axis) if isinstance(axis, tuple) else axis + 1
    return prim(batch_first(xs[0], bdims[0]), **{**params, "axis": shifted}), 0


def batch_all_first(size: int, xs: Sequence[Any], bdims: Sequence[int | None]) -> list[Any]:
    """Every operand with a batch axis in front; what is not batched is repeated (as a view)."""
    return [
        broadcast_to(x, shape=(size, *aval_of(x).shape)) if b is None else batch_first(x, b)
        for x, b in zip(xs, bdims, strict=True)
    ]


def batch_in_front(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """Batch rule of one-operand primitives that count axes from the back: nothing changes."""
    return prim(batch_first(xs[0], bdims[0]), **params), 0


def _shifted(axis: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + 1 for a in axis)


# ---------------------------------------------------------------- shape


def _reshape_aval(x: Aval, *, shape: tuple[int, ...]) -> Aval:
    if math.prod(shape) != math.prod(x.shape):
        raise ShapeError(
            f"reshape: {list(x.shape)} has {math.prod(x.shape)} elements, {list(shape)} needs "
            f"{math.prod(shape)}{where()}"
        )
    return Aval(shape, x.dtype)


@view(
    lambda ct, _x, *, shape: reshape(ct, shape=_x.shape),
    aval=_reshape_aval,
    lift=lambda size, ndim, p: {"shape": (size, *p["shape"])},
    may_copy=True,
)
def reshape(xp, x, /, *, shape):
    """The same elements in C order under another shape.

    Shapes: ``x: (*a) -> shape`` with ``prod(a) == prod(shape)``, no -1.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ValueError: the sizes differ.
    Source: NumPy reference, ``numpy.reshape``.

    >>> reshape(np.arange(4.0), shape=(2, 2)).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    return xp.asarray(x).reshape(shape)


def _inverse(axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _transpose_aval(x: Aval, *, axes: tuple[int, ...]) -> Aval:
    if sorted(axes) != list(range(x.ndim)):
        raise ShapeError(f"transpose: {axes} is no permutation of the axes of {x}{where()}")
    return Aval(tuple(x.shape[a] for a in axes), x.dtype)


@view(
    lambda ct, _x, *, axes: transpose(ct, axes=_inverse(axes)),
    aval=_transpose_aval,
    lift=lambda size, ndim, p: {"axes": (0, *_shifted(p["axes"]))},
)
def transpose(xp, x, /, *, axes):
    """The axes in another order: axis ``i`` of the result is axis ``axes[i]`` of `x`.

    Shapes: ``x: (d0, ..., dn) -> (d[axes[0]], ..., d[axes[n]])``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ValueError: `axes` is no permutation.
    Source: NumPy reference, ``numpy.transpose``.

    >>> transpose(np.ones((2, 3)), axes=(1, 0)).shape
    (3, 2)
    """
    return xp.asarray(x).transpose(axes)


def _squeeze_aval(x: Aval, *, axis: tuple[int, ...]) -> Aval:
    if any(x.shape[a] != 1 for a in axis):
        raise ShapeError(
            f"squeeze: only axes of length 1 can be removed, found axis={axis} of {x}{where()}"
        )
    return Aval(without(x.shape, axis), x.dtype)


@view(
    lambda ct, _x, *, axis: expand_dims(ct, axis=axis),
    aval=_squeeze_aval,
    lift=lambda size, ndim, p: {"axis": _shifted(p["axis"])},
)
def squeeze(xp, x, /, *, axis):
    """`x` without its axes `axis` (a tuple), which have length 1.

    Shapes: ``x: (*a, 1, *b) -> (*a, *b)``.   Dtypes: all.
    Derivative: linear; its transpose is `expand_dims`.
    Raises: ValueError: an axis is longer than 1.
    Source: NumPy reference, ``numpy.squeeze``.

    >>> squeeze(np.ones((2, 1, 3)), axis=(1,)).shape
    (2, 3)
    """
    return xp.asarray(x).squeeze(axis)


def expanded(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with a 1 at each of the places `axis` of the result."""
    lengths = iter(shape)
    return tuple(1 if i in axis else next(lengths) for i in range(len(shape) + len(axis)))


@view(
    lambda ct, _x, *, axis: squeeze(ct, axis=axis),
    aval=lambda x, *, axis: Aval(expanded(x.shape, axis), x.dtype),
    lift=lambda size, ndim, p: {"axis": _shifted(p["axis"])},
)
def expand_dims(xp, x, /, *, axis):
    """`x` with new axes of length 1 at the places `axis` (a tuple) of the result.

    Shapes: ``x: (*a, *b) -> (*a, 1, *b)``.   Dtypes: all.
    Derivative: linear; its transpose is `squeeze`.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.expand_dims``.

    >>> expand_dims(np.ones((2, 3)), axis=(0, 2)).shape
    (1, 2, 1, 3)
    """
    x = xp.asarray(x)
    return x[_new_axes(x.ndim, axis)]


@functools.lru_cache(4096)
def _new_axes(ndim: int, axis: tuple[int, ...]) -> tuple[Any, ...]:
    """The index that puts axes of length 1 at the places `axis`."""
    return (*(None if i in axis else slice(None) for i in range(ndim + len(axis))), ...)


@view(
    lambda ct, _x, *, axis: flip(ct, axis=axis),
    aval=lambda x, *, axis: Aval(x.shape, x.dtype),
    lift=lambda size, ndim, p: {"axis": _shifted(p["axis"])},
)
def flip(xp, x, /, *, axis):
    """`x` in reverse order along the axes `axis` (a tuple).

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear; its own transpose.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.flip``.

    >>> flip(np.array([1.0, 2.0, 3.0]), axis=(0,)).tolist()
    [3.0, 2.0, 1.0]
    """
    x = xp.asarray(x)
    backwards = slice(None, None, -1)
    return x[(*(backwards if i in axis else slice(None) for i in range(x.ndim)), ...)]


# ---------------------------------------------------------------- broadcast_to and sum


def _broadcast_aval(x: Aval, *, shape: tuple[int, ...]) -> Aval:
    lead = len(shape) - x.ndim
    fits = lead >= 0 and all(m in (1, n) for m, n in zip(x.shape, shape[lead:], strict=True))
    if not fits:
        raise ShapeError(f"broadcast_to: {x} does not broadcast to {list(shape)}{where()}")
    return Aval(shape, x.dtype)


def _batch_broadcast(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    x = batch_first(xs[0], bdims[0], len(params["shape"]))
    return broadcast_to(x, shape=(size, *params["shape"])), 0


def _broadcast(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    if xp is np and getattr(x, "shape", None) == ():
        # What the gradient of every full sum starts with; NumPy's own function takes ten times as
        # long.
        out = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
        out.setflags(write=False)
        return out
    return xp.broadcast_to(x, shape)


@linear(
    lambda ct, _x, *, shape: sum_to(ct, _x.shape),
    aval=_broadcast_aval,
    batch=_batch_broadcast,
)
def broadcast_to(xp, x, /, *, shape):
    """`x` repeated along new leading axes and along axes of length 1, without a copy.

    Shapes: ``x: (*a) -> shape``.   Dtypes: all.
    Derivative: linear; its transpose is `sum` over the repeated axes.
    Raises: ValueError: `x` does not broadcast to `shape`.
    Source: NumPy reference, ``numpy.broadcast_to``.

    >>> broadcast_to(np.array([1.0, 2.0]), shape=(2, 2)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    return _broadcast(xp, x, shape)


def kept(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with 1 along `axis`: what a reduction with keepdims leaves."""
    return tuple(1 if i in axis else n for i, n in enumerate(shape))


def without(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` without the axes `axis`: what a reduction leaves."""
    return tuple(n for i, n in enumerate(shape) if i not in axis)


def _sum_transpose(ct: Any, _x: Any, *, axis: tuple[int, ...]) -> Any:
    return broadcast_to(ct.reshape(kept(_x.shape, axis)) if ct.shape else ct, shape=_x.shape)


def _sum_aval(x: Aval, *, axis: tuple[int, ...]) -> Aval:
    return Aval(without(x.shape, axis), np.sum(np.ones(1, x.dtype)).dtype)


@linear(
    _sum_transpose,
    aval=_sum_aval,
    batch=batch_axis_first,
)
@in_single
def sum(xp, x, /, *, axis):
    """``sum_i x_i`` along the axes `axis` (a tuple).

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and small integers widen.
    Derivative: linear; its transpose is `broadcast_to`.
    Raises: AxisError: an axis is out of range.
    Source: NumPy reference, ``numpy.sum`` (pairwise summation).

    >>> sum(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=(0,)).tolist()
    [4.0, 6.0]
    """
    return summed(x, axis) if hasattr(x, "sum") else xp.sum(x, axis=axis)


# ---------------------------------------------------------------- diagonal and its adjoint


def _diagonal_aval(x: Aval, *, offset: int, axis1: int, axis2: int) -> Aval:
    rows, columns = x.shape[axis1], x.shape[axis2]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    return Aval((*without(x.shape, (axis1, axis2)), length), x.dtype)


def _diagonal_axes_shifted(size: int, ndim: int, params: dict) -> dict:
    return {**params, "axis1": params["axis1"] + 1, "axis2": params["axis2"] + 1}


@view(
    lambda ct, _x, **params: diagonal_embed(ct, shape=_x.shape, **params),
    aval=_diagonal_aval,
    lift=_diagonal_axes_shifted,
)
def diagonal(xp, x, /, *, offset, axis1, axis2):
    """``y[..., i] = x[i, i + offset]`` along the axes `axis1` and `axis2`; above it if offset > 0.

    Shapes: ``x: (*a, m, *b, n, *c) -> (*a, *b, *c, k)``.   Dtypes: all.
    Derivative: linear; its transpose is `diagonal_embed`.
    Raises: ValueError: `axis1` and `axis2` are equal.
    Source: NumPy reference, ``numpy.diagonal``.

    >>> diagonal(np.arange(9.0).reshape(3, 3), offset=1, axis1=0, axis2=1).tolist()
    [1.0, 5.0]
    """
    return xp.diagonal(x, offset, axis1, axis2)


def _batch_diagonal_embed(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    params = _diagonal_axes_shifted(size, 0, params)
    params["shape"] = (size, *params["shape"])
    return diagonal_embed(batch_first(xs[0], bdims[0]), **params), 0


@linear(
    lambda ct, _x, *, shape, **params: diagonal(ct, **params),
    aval=lambda x, *, shape, offset, axis1, axis2: Aval(shape, x.dtype),
    batch=_batch_diagonal_embed,
)
def diagonal_embed(xp, x, /, *, shape, offset, axis1, axis2):
    """Zeros of the shape `shape` with `x` on a diagonal: the transpose of `diagonal`.

    Shapes: ``x: (*a, *b, *c, k) -> (*a, m, *b, n, *c) = shape``.   Dtypes: all.
    Derivative: linear; its transpose is `diagonal`.
    Raises: ValueError: `x` has not the shape of the diagonal.
    Source: the adjoint of selection; on a vector, NumPy reference, ``numpy.diag``.

    >>> diagonal_embed(np.array([1.0, 2.0]), shape=(2, 2), offset=0, axis1=0, axis2=1).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    out = xp.zeros(shape, dtype=x.dtype)
    row = xp.arange(x.shape[-1]) + max(0, -offset)
    last = (axis1, axis2) == (len(shape) - 2, len(shape) - 1)
    matrices = out if last else xp.moveaxis(out, (axis1, axis2), (-2, -1))
    matrices[..., row, row + offset] = x
    return out


def trace(x: Any, /, *, offset: int, axis1: int, axis2: int) -> Any:
    """``sum_i x[i, i + offset]`` along the axes `axis1` and `axis2`.

    >>> trace(np.arange(9.0).reshape(3, 3), offset=0, axis1=0, axis2=1).tolist()
    12.0
    """
    found = diagonal(x, offset=offset, axis1=axis1, axis2=axis2)
    return sum(found, axis=(aval_of(found).ndim - 1,))


# ---------------------------------------------------------------- triangles


def _triangle_aval(x: Aval, *, k: int) -> Aval:
    if x.ndim < 2:
        raise ShapeError(f"tril, triu: need a matrix or a stack of them, found {x}{where()}")
    return Aval(x.shape, x.dtype)


@linear(lambda ct, _x, *, k: tril(ct, k=k), aval=_triangle_aval, batch=batch_in_front)
def tril(xp, x, /, *, k):
    """``y_ij = x_ij if j <= i + k else 0``, of the last two axes.

    Shapes: ``x: (*a, m, n) -> (*a, m, n)``.   Dtypes: all.
    Derivative: linear; its own transpose.
    Raises: ShapeError: `x` has fewer than two axes (while a program is traced).
    Source: NumPy reference, ``numpy.tril``.

    >>> tril(np.ones((2, 2)), k=0).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return xp.tril(x, k)


@linear(lambda ct, _x, *, k: triu(ct, k=k), aval=_triangle_aval, batch=batch_in_front)
def triu(xp, x, /, *, k):
    """``y_ij = x_ij if j >= i + k else 0``, of the last two axes.

    Shapes: ``x: (*a, m, n) -> (*a, m, n)``.   Dtypes: all.
    Derivative: linear; its own transpose.
    Raises: ShapeError: `x` has fewer than two axes (while a program is traced).
    Source: NumPy reference, ``numpy.triu``.

    >>> triu(np.ones((2, 2)), k=1).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return xp.triu(x, k)
