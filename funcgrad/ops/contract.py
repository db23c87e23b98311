"""Contractions: matmul, dot_general, and NumPy's tensordot, dot, inner, outer, ... over them.

Both primitives are bilinear and run as one call of the array module's matmul, so on BLAS. The
transposes of either are `dot_general`s again where operands were broadcast, so that the axes to be
summed are summed inside the matrix product instead of after it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import thin
from ..algebra import batch_first, bilinear, broadcast_shapes
from ..core import Aval, Primitive, aval_of
from ..errors import ShapeError, where
from .arithmetic import multiply
from .structural import reshape, transpose

Axes = tuple[int, ...]
Pair = tuple[Axes, Axes]


def result_dtype(x: Aval, y: Aval) -> Any:
    """The dtype of a product of the two, which is also that of a sum of products."""
    return np.result_type(x.promoting(), y.promoting())


def matrix_transpose(x: Any) -> Any:
    """The last two axes swapped."""
    n = x.ndim
    return transpose(x, axes=(*range(n - 2), n - 1, n - 2))


def inverse_permutation(axes: Sequence[int]) -> Axes:
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


# ---------------------------------------------------------------- dot_general


class Layout(NamedTuple):
    """How `dot_general` arranges its operands for matmul: batch, rows, columns."""

    x_axes: Axes  # batch, free, contracted
    y_axes: Axes  # batch, contracted, free
    batch: int
    x_free: int
    y_free: int


@functools.lru_cache(maxsize=4096)
def _layout(ndims: tuple[int, int], contracting: Pair, batch: Pair, follow: int) -> Layout:
    """The contracted axes come in the order that they have in the operand `follow`."""
    (cx, cy), (bx, by) = contracting, batch
    order = sorted(range(len(cx)), key=contracting[follow].__getitem__)
    x_free, y_free = _free(ndims[0], cx, bx), _free(ndims[1], cy, by)
    return Layout(
        (*bx, *x_free, *(cx[i] for i in order)),
        (*by, *(cy[i] for i in order), *y_free),
        len(bx),
        len(x_free),
        len(y_free),
    )


def _free(ndim: int, contracted: Axes, batch: Axes) -> Axes:
    """The axes that are neither contracted nor batch axes."""
    return tuple(i for i in range(ndim) if i not in contracted and i not in batch)


def _dot_general_aval(x: Aval, y: Aval, *, contracting: Pair, batch: Pair) -> Aval:
    for kind, (x_axes, y_axes) in (("contracted", contracting), ("batch", batch)):
        for i, j in zip(x_axes, y_axes, strict=True):
            if x.shape[i] != y.shape[j]:
                raise ShapeError(
                    f"dot_general: {kind} axes differ in length: axis {i} of x, which is {x}, and "
                    f"axis {j} of y, which is {y}{where()}"
                )
    shape = (
        *(x.shape[i] for i in batch[0]),
        *(x.shape[i] for i in _free(x.ndim, contracting[0], batch[0])),
        *(y.shape[j] for j in _free(y.ndim, contracting[1], batch[1])),
    )
    return Aval(shape, result_dtype(x, y))


def _cotangent_of_x(ct: Any, _x: Any, y: Any, *, contracting: Pair, batch: Pair) -> Any:
    """Contract the cotangent with `y` over the free axes of `y`, then put the axes in place."""
    (cx, cy), (bx, by) = contracting, batch
    x_free, y_free = _free(_x.ndim, cx, bx), _free(y.ndim, cy, by)
    return _transposed(ct, y, _x.ndim, (cx, cy), (bx, by), (x_free, y_free), 0)


def _cotangent_of_y(ct: Any, x: Any, _y: Any, *, contracting: Pair, batch: Pair) -> Any:
    """Contract the cotangent with `x` over the free axes of `x`, then put the axes in place."""
    (cx, cy), (bx, by) = contracting, batch
    x_free, y_free = _free(x.ndim, cx, bx), _free(_y.ndim, cy, by)
    return _transposed(ct, x, _y.ndim, (cy, cx), (by, bx), (y_free, x_free), len(y_free))


def _transposed(
    ct: Any, other: Any, ndim: int, contracting: Pair, batch: Pair, free: Pair, skipped: int
) -> Any:
    """The cotangent of one operand; in every pair its axes come first, then those of `other`.

    `skipped`: how many axes of that operand the cotangent has after those of `other` (y) or 0 (x).
    """
    (mine, theirs), (my_batch, their_batch), (my_free, their_free) = contracting, batch, free
    count = len(my_batch)
    leading = tuple(range(count))
    start = ct.ndim - skipped - len(their_free)
    summed = tuple(range(start, start + len(their_free)))
    left = tuple(mine[i] for i in inverse_permutation(theirs))  # in the order `other` has them
    # The operand whose axes come first in the result goes first, so that nothing has to be moved.
    if left and my_free and min(left) < min(my_free):
        out = dot_general(other, ct, contracting=(their_free, summed), batch=(their_batch, leading))
        order = (*my_batch, *left, *my_free)
    else:
        out = dot_general(ct, other, contracting=(summed, their_free), batch=(leading, their_batch))
        order = (*my_batch, *my_free, *left)
    if order == tuple(range(ndim)):
        return out
    return transpose(out, axes=inverse_permutation(order))


def _batch_dot_general(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """A batch axis of both is one more batch axis; of one operand, one more free axis of it."""
    contracting, batch = (
        tuple(_past(axes, b) for axes, b in zip(params[name], bdims, strict=True))
        for name in ("contracting", "batch")
    )
    bx, by = bdims
    if bx is not None and by is not None:
        batch = ((bx, *batch[0]), (by, *batch[1]))
        return prim(*xs, contracting=contracting, batch=batch), 0
    out = prim(*xs, contracting=contracting, batch=batch)
    x_free, y_free = (
        _free(aval_of(x).ndim, c, b) for x, c, b in zip(xs, contracting, batch, strict=True)
    )
    place = x_free.index(bx) if by is None else len(x_free) + y_free.index(by)
    return out, len(batch[0]) + place


def _past(axes: Axes, bdim: int | None) -> Axes:
    """The axes of an example as axes of the batch."""
    return axes if bdim is None else tuple(a + (a >= bdim) for a in axes)


@bilinear(_cotangent_of_x, _cotangent_of_y, aval=_dot_general_aval, batch=_batch_dot_general)
def dot_general(xp, x, y, /, *, contracting, batch):
    """``z[b, i, j] = sum_k x[b, i, k] * y[b, k, j]`` where b, i, j, k are groups of axes.

    `contracting` and `batch` are pairs of tuples: the axes of `x` and the axes of `y` that they go
    with. All other axes are free. Runs as one matmul (BLAS).

    Shapes: ``x, y -> (*batch, *free of x, *free of y)``.   Dtypes: numbers; booleans as and/or.
    Derivative: bilinear; smooth everywhere. The transposes are contractions over free axes.
    Raises: ShapeError: axes that go together differ in length.
    Source: the general dot product of XLA (operation semantics, "DotGeneral").

    >>> x, y = np.arange(6.0).reshape(2, 3), np.ones((4, 3))
    >>> dot_general(x, y, contracting=((1,), (1,)), batch=((), ())).tolist()
    [[3.0, 3.0, 3.0, 3.0], [12.0, 12.0, 12.0, 12.0]]
    """
    if not getattr(x, "ndim", 0) or not getattr(y, "ndim", 0):
        return xp.multiply(x, y)
    if x.ndim == 2 and y.ndim == 2 and len(contracting[0]) == 1 and not batch[0]:
        return _matrix_product(x, y, *contracting)
    follow = 1 if y.size > x.size else 0
    plan = _layout((x.ndim, y.ndim), contracting, batch, follow)
    x, y = xp.transpose(x, plan.x_axes), xp.transpose(y, plan.y_axes)
    b, i, j = plan.batch, plan.x_free, plan.y_free
    if x.shape[:b] != y.shape[:b] or x.shape[b + i :] != y.shape[b : y.ndim - j]:
        avals = (Aval(v.shape, v.dtype) for v in (x, y))
        _dot_general_aval(
            *avals,
            contracting=(tuple(range(b + i, x.ndim)), tuple(range(b, y.ndim - j))),
            batch=(tuple(range(b)),) * 2,
        )
    shape = x.shape[: b + i] + y.shape[y.ndim - j :]
    if not contracting[0]:
        return xp.multiply(
            x.reshape(x.shape + (1,) * j), y.reshape(y.shape[:b] + (1,) * i + y.shape[b:])
        )
    if i != 1 or x.ndim != b + 2:
        x = x.reshape(*x.shape[:b], _product(x.shape[b : b + i]), _product(x.shape[b + i :]))
    if j != 1 or y.ndim != b + 2:
        y = y.reshape(*y.shape[:b], x.shape[-1], _product(shape[b + i :]))
    return (xp.matmul if b else thin.dot)(x, y).reshape(shape)


def _matrix_product(x: Any, y: Any, x_axis: Axes, y_axis: Axes) -> Any:
    """The product of two matrices, along an axis of each; this is how most of them come."""
    try:
        return thin.dot(x if x_axis == (1,) else x.T, y if y_axis == (0,) else y.T)
    except ValueError:
        avals = (Aval(v.shape, v.dtype) for v in (x, y))
        _dot_general_aval(*avals, contracting=(x_axis, y_axis), batch=((), ()))
        raise


def _product(sizes: Sequence[int]) -> int:
    out = 1
    for n in sizes:
        out *= n
    return out


# ---------------------------------------------------------------- matmul


def _matmul_aval(x: Aval, y: Aval) -> Aval:
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(f"matmul: needs at least one axis each, found {x} and {y}{where()}")
    inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
    if x.shape[-1] != inner:
        hint = ""
        if y.ndim > 1 and x.shape[-1] == y.shape[-1]:
            hint = "; did you mean x @ y.mT?"
        raise ShapeError(
            f"matmul: inner lengths differ: x is {x} and y is {y}, need x.shape[-1] == "
            f"y.shape[{-2 if y.ndim > 1 else -1}] but {x.shape[-1]} != {inner}{hint}{where()}"
        )
    lead = broadcast_shapes("matmul", [x.shape[:-2], y.shape[:-2]])
    rows = x.shape[-2:-1] if x.ndim > 1 else ()
    columns = y.shape[-1:] if y.ndim > 1 else ()
    return Aval((*lead, *rows, *columns), result_dtype(x, y))


def _all_but(ndim: int, *axes: int) -> Axes:
    """All axes but those given, which may be negative."""
    dropped = {a % ndim for a in axes}
    return tuple(i for i in range(ndim) if i not in dropped)


def _contract(x: Any, y: Any, x_axes: Axes, y_axes: Axes) -> Any:
    return dot_general(x, y, contracting=(x_axes, y_axes), batch=((), ()))


def _matmul_left(ct: Any, _x: Any, y: Any) -> Any:
    if y.ndim == 1:
        return ct * y if _x.ndim == 1 else reshape(ct, shape=(*ct.shape, 1)) * y
    if _x.ndim == 1:
        if y.ndim == 2:
            return matmul(y, ct)
        return _contract(y, ct, _all_but(y.ndim, -2), _all_but(ct.ndim))
    if _x.ndim == 2 and y.ndim > 2:
        return _contract(ct, y, _all_but(ct.ndim, -2), _all_but(y.ndim, -2))
    return matmul(ct, matrix_transpose(y))


def _matmul_right(ct: Any, x: Any, _y: Any) -> Any:
    if x.ndim == 1:
        if _y.ndim == 1:
            return ct * x
        rows = reshape(ct, shape=(*ct.shape[:-1], 1, ct.shape[-1]))
        return rows * reshape(x, shape=(x.shape[0], 1))
    if _y.ndim == 1:
        if x.ndim == 2:
            return matmul(ct, x)
        return _contract(x, ct, _all_but(x.ndim, -1), _all_but(ct.ndim))
    if _y.ndim == 2 and x.ndim > 2:
        return _contract(x, ct, _all_but(x.ndim, -1), _all_but(ct.ndim, -1))
    return matmul(matrix_transpose(x), ct)


def _batch_matmul(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """One matrix product for the whole batch.

    An operand that is one matrix for all examples multiplies all their rows at once, so the batch
    is an axis of rows; otherwise the batch axis is one more broadcast axis of matmul.
    """
    x, y = xs
    bx, by = bdims
    x_ndim, y_ndim = aval_of(x).ndim - (bx is not None), aval_of(y).ndim - (by is not None)
    if by is None and y_ndim <= 2:
        last = x_ndim - (bx == x_ndim)  # the contracted axis, counted in the batch
        return _contract(x, y, (last,), (0,)), bx - (last < bx)
    if bx is None and x_ndim == 1:
        row = max(y_ndim - 2, 0)
        row += by <= row
        return _contract(y, x, (row,), (0,)), by - (row < by)
    if bx is None and x_ndim == 2 and y_ndim == 1:
        return _contract(y, x, (1 - by,), (1,)), 0
    ndim = max(x_ndim, y_ndim, 2)
    if bx is not None:
        x = batch_first(x, bx)
        x = batch_first(x if x_ndim > 1 else reshape(x, shape=(size, 1, x.shape[-1])), 0, ndim)
    if by is not None:
        y = batch_first(y, by)
        y = batch_first(y if y_ndim > 1 else reshape(y, shape=(size, y.shape[-1], 1)), 0, ndim)
    elif y_ndim == 1:
        y = reshape(y, shape=(*aval_of(y).shape, 1))
    if bx is None and x_ndim == 1:
        x = reshape(x, shape=(1, *aval_of(x).shape))
    out = matmul(x, y)
    rows = out.shape[-2:-1] if x_ndim > 1 else ()
    columns = out.shape[-1:] if y_ndim > 1 else ()
    shape = (*out.shape[:-2], *rows, *columns)
    return out if shape == out.shape else reshape(out, shape=shape), 0


@bilinear(_matmul_left, _matmul_right, aval=_matmul_aval, batch=_batch_matmul)
def matmul(xp, x, y, /):
    """``z[i, j] = sum_k x[i, k] * y[k, j]``.

    Shapes: ``x: (*a, m, k), y: (*b, k, n) -> (*broadcast(a, b), m, n)``; a 1-d operand is a row on
    the left, a column on the right, and its axis is dropped from the result.
    Dtypes: numbers; booleans as and/or.
    Derivative: ``ct @ y.mT`` and ``x.mT @ ct``, summed over broadcast axes; smooth everywhere.
    Raises: ValueError: the inner lengths differ (ShapeError when traced), or an operand is 0-d.
    Source: NumPy reference, ``numpy.matmul``.

    >>> matmul(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    if 0 < x.ndim < 3 and 0 < y.ndim < 3:
        return thin.dot(x, y)  # the same, in two thirds of the time for small ones
    if y.ndim == 2 and x.ndim > 2 and x.size:  # all rows at once
        rows = x.reshape((-1, x.shape[-1]))
        return thin.dot(rows, y).reshape((*x.shape[:-1], y.shape[1]))
    return xp.matmul(x, y)


# ---------------------------------------------------------------- NumPy's names


def as_array(x: Any) -> Any:
    """`x` if it has axes or is traced; an array made of it if it is a number or a list."""
    return x if hasattr(x, "ndim") else np.asarray(x)


def conjugated(x: Any) -> Any:
    """The complex conjugate; `x` itself if it is real."""
    return x.conj() if x.dtype.kind == "c" else x


def flat(x: Any) -> Any:
    """`x` as one axis."""
    return x if x.ndim == 1 else reshape(x, shape=(x.size,))


def normal_axis(name: str, axis: int, ndim: int) -> int:
    """A non-negative axis.

    Raises: ShapeError: there is no such axis.
    """
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{name}: axis {axis} of an array with {ndim} axes{where()}")
    return axis % ndim


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sum of products over pairs of axes: the last `axes` of `a` with the first `axes` of `b`, or
    ``axes = (axes of a, axes of b)``.

    Raises: ShapeError: the axes do not exist, or differ in number or in length.
    Source: NumPy reference, ``numpy.tensordot``.

    >>> tensordot(np.ones((2, 3, 4)), np.ones((3, 4, 5))).shape
    (2, 5)
    """
    a, b = as_array(a), as_array(b)
    if isinstance(axes, int | np.integer):
        pair: Any = (tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes)))
    else:
        pair = tuple((k,) if isinstance(k, int | np.integer) else tuple(k) for k in axes)
    if len(pair) != 2 or len(pair[0]) != len(pair[1]):
        raise ShapeError(
            f"tensordot: axes={axes!r} does not pair axes of a with axes of b{where()}"
        )
    x_axes, y_axes = (
        tuple(normal_axis("tensordot", k, x.ndim) for k in ks)
        for ks, x in zip(pair, (a, b), strict=True)
    )
    return _contract(a, b, x_axes, y_axes)


def dot(a: Any, b: Any) -> Any:
    """Sum of products over the last axis of `a` and the second to last (or only) axis of `b`.

    Unlike `matmul` it pairs every row of `a` with every column of `b`, and multiplies by scalars.

    Raises: ShapeError: the contracted axes differ in length.
    Source: NumPy reference, ``numpy.dot``.

    >>> float(dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    11.0
    """
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply(a, b)
    if b.ndim <= 2 and a.ndim <= 2:
        return matmul(a, b)
    return _contract(a, b, (a.ndim - 1,), (max(b.ndim - 2, 0),))


def inner(a: Any, b: Any, /) -> Any:
    """Sum of products over the last axes; a product if an operand is a scalar.

    Raises: ShapeError: the last axes differ in length.
    Source: NumPy reference, ``numpy.inner``.

    >>> inner(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).shape
    (2, 3)
    """
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply(a, b)
    return _contract(a, b, (a.ndim - 1,), (b.ndim - 1,))


def outer(a: Any, b: Any) -> Any:
    """``a[i] * b[j]`` of the flattened operands.

    Source: NumPy reference, ``numpy.outer``.

    >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0])).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    a, b = flat(as_array(a)), flat(as_array(b))
    return multiply(reshape(a, shape=(a.size, 1)), b)


def vdot(a: Any, b: Any, /) -> Any:
    """``sum(conj(a) * b)`` of the flattened operands.

    Raises: ShapeError: the sizes differ.
    Source: NumPy reference, ``numpy.vdot``.

    >>> complex(vdot(np.array([1j, 2.0]), np.array([1j, 1.0])))
    (3+0j)
    """
    a, b = as_array(a), as_array(b)
    return matmul(flat(conjugated(a)), flat(b))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """``sum(conj(x1) * x2)`` along `axis`; the other axes broadcast.

    Raises: ShapeError: the axes differ in length, or the others do not broadcast.
    Source: NumPy reference, ``numpy.vecdot``.

    >>> vecdot(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    x1, x2 = as_array(x1), as_array(x2)
    x1, x2 = (_axis_last("vecdot", x, axis) for x in (conjugated(x1), x2))
    rows = reshape(x1, shape=(*x1.shape[:-1], 1, x1.shape[-1]))
    out = matmul(rows, reshape(x2, shape=(*x2.shape, 1)))
    return reshape(out, shape=out.shape[:-2])


def _axis_last(name: str, x: Any, axis: int) -> Any:
    axis = normal_axis(name, axis, x.ndim)
    if axis == x.ndim - 1:
        return x
    return transpose(x, axes=(*(i for i in range(x.ndim) if i != axis), axis))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: every element of `a` times the whole of `b`, in blocks.

    Source: NumPy reference, ``numpy.kron``.

    >>> kron(np.array([1.0, 10.0]), np.array([1.0, 2.0])).tolist()
    [1.0, 2.0, 10.0, 20.0]
    """
    a, b = as_array(a), as_array(b)
    n = max(a.ndim, b.ndim)
    a_shape, b_shape = ((1,) * (n - x.ndim) + tuple(x.shape) for x in (a, b))
    blocks_a = tuple(k for m in a_shape for k in (m, 1))
    blocks_b = tuple(k for m in b_shape for k in (1, m))
    out = multiply(reshape(a, shape=blocks_a), reshape(b, shape=blocks_b))
    return reshape(out, shape=tuple(i * j for i, j in zip(a_shape, b_shape, strict=True)))
