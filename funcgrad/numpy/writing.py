"""NumPy's functions that write into an array. They return None; a traced array is a box that they
write into, as ``a[...] = ...`` does. With ``inplace=False``, as in JAX, some give a new array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Tracer, aval_of
from ..errors import ArgumentError, HandoverError, ShapeError
from ..errors import where as _line
from ..indexing import write
from ..ops import select as _select
from ..ops.index import take as _take
from ..ops.structural import broadcast_to
from ._arguments import array_of, axis_of, beside, concrete, module_of, operand
from .creation import array
from .indexing import _in_bounds
from .shaping import ravel, reshape


def _target(name: str, a: Any, *values: Any, inplace: bool = True) -> Any:
    """The array to be written into; a copy unless `inplace`.

    Raises: HandoverError: it is a plain array, and a value is traced. ArgumentError: it is no array.
    """
    if not inplace:
        return array(a)
    if isinstance(a, Tracer):
        return a
    if not isinstance(a, np.ndarray) and not hasattr(a, "flags"):
        raise ArgumentError(
            f"fnp.{name}: needs an array to write into, found {type(a).__name__}{_line()}"
        )
    if any(isinstance(v, Tracer) for v in values):
        raise HandoverError(
            f"fnp.{name} would store a traced value in a plain array; make the array with "
            f"fnp.zeros(...) or fnp.array(...){_line()}"
        )
    return a


def _cycled(a: Any, values: Any, count: int) -> Any:
    """`count` elements of the values for `a`, flattened, from the start again where they end."""
    values = ravel(array_of(values, module_of(a)))
    n = values.shape[0]
    return (
        values
        if n in (1, count)
        else _take(values, beside(values, np.arange(count) % max(n, 1)), axis=0)
    )


def put(a: Any, ind: Any, v: Any, mode: str = "raise", *, inplace: bool = True) -> Any:
    """``a.flat[ind] = v``, with `v` repeated as needed.

    Shapes: ``a: (*a), ind: (*i), v: (*v)``.   Dtypes: that of `a`.
    Derivative: linear in `a` and `v`; what is replaced gets no cotangent.
    Raises: IndexError: an index is out of bounds (mode "raise"). HandoverError: `a` is a plain array
    and `v` is traced.
    Source: NumPy reference, ``numpy.put``.

    >>> x = np.zeros(3)
    >>> put(x, [0, 2], [1.0, 2.0])
    >>> x.tolist()
    [1.0, 0.0, 2.0]
    """
    a = _target("put", a, v, inplace=inplace)
    places = ravel(_in_bounds("put", array_of(ind, module_of(a)), a.size, mode))
    if places.shape[0]:
        flat = write(ravel(a), places, _cycled(a, v, places.shape[0]))
        a[...] = reshape(flat, a.shape)
    return None if inplace else a


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None = -1, *, inplace: bool = True
) -> Any:
    """``arr[..., indices[..., i, ...], ...] = values[..., i, ...]`` along an axis.

    Shapes: ``arr: (*a, n, *b), indices: (*a, m, *b)``; `values` broadcast.   Dtypes: that of `arr`.
    Derivative: linear in `arr` and `values`; what is replaced gets no cotangent.
    Raises: IndexError: an index is out of bounds. ShapeError: another number of axes.
    Source: NumPy reference, ``numpy.put_along_axis``.

    >>> x = np.zeros((1, 3))
    >>> put_along_axis(x, np.array([[2]]), 1.0, axis=1)
    >>> x.tolist()
    [[0.0, 0.0, 1.0]]
    """
    arr = _target("put_along_axis", arr, values, inplace=inplace)
    indices = array_of(indices, module_of(arr))
    if axis is None:
        put(arr, indices, values)
        return None if inplace else arr
    if arr.ndim != indices.ndim:
        raise ShapeError(
            f"fnp.put_along_axis: arr has {arr.ndim} axes, indices {indices.ndim}{_line()}"
        )
    axis = axis_of("put_along_axis", axis, arr.ndim)
    index = tuple(
        indices
        if i == axis
        else beside(arr, np.arange(n).reshape((n,) + (1,) * (arr.ndim - 1 - i)))
        for i, n in enumerate(arr.shape)
    )
    arr[index] = values
    return None if inplace else arr


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """``dst[where] = src``, both broadcast to the shape of `dst`.

    Shapes: ``src, where`` broadcast to ``dst``.   Dtypes: that of `dst`.
    Derivative: linear in `dst` and `src`; what is replaced gets no cotangent.
    Raises: ShapeError: the shapes do not fit. HandoverError: `dst` is plain and `src` is traced.
    Source: NumPy reference, ``numpy.copyto``.

    >>> x = np.zeros(2)
    >>> copyto(x, 1.0, where=[True, False])
    >>> x.tolist()
    [1.0, 0.0]
    """
    dst = _target("copyto", dst, src, where)
    src = operand(src, module_of(dst))
    found, needed = aval_of(src), dst.dtype
    if not np.can_cast(found.promoting() if not found.weak else found.dtype, needed, casting):
        raise ArgumentError(
            f"fnp.copyto: {found} does not fit into an array of dtype {needed.name} with "
            f"casting={casting!r}{_line()}"
        )
    dst[...] = src if where is True else _select.where(operand(where, module_of(dst)), src, dst)


def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """``a.flat[n] = values[n % len(values)]`` for every `n` that ``mask.flat[n]`` holds for.

    Shapes: ``a, mask: (*a)``.   Dtypes: that of `a`.
    Derivative: linear in `a` and `values`; what is replaced gets no cotangent.
    Raises: ShapeError: the mask has another size. HandoverError: `a` is plain, a value is traced.
    Source: NumPy reference, ``numpy.putmask``.

    >>> x = np.zeros(3)
    >>> putmask(x, [True, False, True], [1.0, 2.0])
    >>> x.tolist()
    [1.0, 0.0, 1.0]
    """
    a, mask = _target("putmask", a, mask, values), array_of(mask, module_of(a))
    if mask.size != a.size:
        raise ShapeError(
            f"fnp.putmask: the mask has {mask.size} elements, the array {a.size}{_line()}"
        )
    full = broadcast_to(_cycled(a, values, a.size), shape=(a.size,))
    a[...] = _select.where(reshape(mask, a.shape), reshape(full, a.shape), a)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """The elements that `mask` holds for are replaced by those of `vals`, one after another.

    Shapes: ``arr, mask: (*a), vals: (n,)``.   Dtypes: that of `arr`.
    Derivative: linear in `arr` and `vals`; what is replaced gets no cotangent.
    Raises: ConcretizationError: the mask is not known. HandoverError: `arr` is plain, `vals` traced.
    Source: NumPy reference, ``numpy.place``.

    >>> x = np.zeros(3)
    >>> place(x, [True, False, True], [1.0, 2.0])
    >>> x.tolist()
    [1.0, 0.0, 2.0]
    """
    arr = _target("place", arr, vals, inplace=inplace)
    put(arr, concrete("place", "the mask", array_of(mask)).ravel().nonzero()[0], vals)
    return None if inplace else arr


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """`val` onto the main diagonal, repeated as needed; of a tall matrix again below it if `wrap`.

    Shapes: ``a: (m, n)`` or ``(n, n, ..., n)``.   Dtypes: that of `a`.
    Derivative: linear in `a` and `val`; what is replaced gets no cotangent.
    Raises: ShapeError: fewer than two axes, or more of different lengths.
    Source: NumPy reference, ``numpy.fill_diagonal``.

    >>> x = np.zeros((2, 2))
    >>> fill_diagonal(x, [1.0, 2.0])
    >>> x.tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    a = _target("fill_diagonal", a, val, inplace=inplace)
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        raise ShapeError(
            f"fnp.fill_diagonal: needs two axes, or more of one length; found {list(a.shape)}{_line()}"
        )
    n = a.shape[1]
    step = n + 1 if a.ndim == 2 else sum(n**i for i in range(a.ndim))
    stop = a.size if wrap or a.ndim > 2 else min(a.size, n * n)
    put(a, beside(a, np.arange(0, stop, step)), val)
    return None if inplace else a
