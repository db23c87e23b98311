"""The same elements under another shape: reshape, squeeze, broadcast.

Whatever NumPy returns as a view is a view here too: writes into it reach the array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import broadcast_shapes as _broadcast_shapes
from ..core import Tracer
from ..errors import ArgumentError, ShapeError, where
from ..ops import structural as _ops
from ..views import as_array, layout, record_view, snapshot
from ._arguments import array_of, arrays_of, axes_of, copied, is_array, shape_of
from .ordering import transpose

# ---------------------------------------------------------------- what an array is


def shape(a: Any) -> tuple[int, ...]:
    """The lengths of the axes; None has none, as in NumPy.

    Derivative: none.   Source: NumPy reference, ``numpy.shape``.

    >>> shape([[1.0, 2.0]]), shape(None)
    ((1, 2), ())
    """
    return a.shape if is_array(a) else () if a is None else array_of(a).shape


def ndim(a: Any) -> int:
    """The number of axes.

    Derivative: none.   Source: NumPy reference, ``numpy.ndim``.

    >>> ndim([[1.0, 2.0]])
    2
    """
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, all of them or along an axis or several.

    Derivative: none.   Source: NumPy reference, ``numpy.size``.

    >>> size([[1.0, 2.0]], axis=1)
    2
    """
    lengths = shape(a)
    return math.prod(lengths[i] for i in axes_of("size", axis, len(lengths)))


# ---------------------------------------------------------------- reshape


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The same elements, read in C or Fortran order, under another shape.

    Shapes: ``a: (*a) -> shape``; one entry may be -1 for what is left.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: the sizes differ. ArgumentError: `order` is none of "C", "F", "A".
    Source: NumPy reference, ``numpy.reshape``.

    >>> reshape(np.arange(4.0), (2, -1)).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    a = array_of(a)
    new = _complete("reshape", shape_of(shape, "fnp.reshape: shape"), a.shape)
    if _fortran("reshape", order, a):
        out = transpose(_ops.reshape(transpose(a), shape=new[::-1]))
    else:
        out = _ops.reshape(a, shape=new)
    return copied(out) if copy else out


def _complete(name: str, new: tuple[int, ...], old: tuple[int, ...]) -> tuple[int, ...]:
    """`new` with the length that belongs in place of -1."""
    count = math.prod(old)
    if -1 in new:
        others = -math.prod(new)
        if new.count(-1) > 1 or others == 0 or count % others:
            raise ShapeError(
                f"fnp.{name}: an array of shape {list(old)} cannot take the shape {list(new)}{where()}"
            )
        return tuple(count // others if n == -1 else n for n in new)
    if math.prod(new) != count:
        raise ShapeError(
            f"fnp.{name}: an array of shape {list(old)} has {count} elements; shape {list(new)} needs "
            f"{math.prod(new)}{where()}"
        )
    return new


def _fortran(name: str, order: str, a: Any) -> bool:
    """Whether elements are read in Fortran order; "A": where `a` lies so."""
    if order not in ("C", "F", "A", "K"):
        raise ArgumentError(f"fnp.{name}: order={order!r}; need 'C', 'F' or 'A'{where()}")
    return order == "F" or (order == "A" and bool(layout(a).flags.fnc))


def ravel(a: Any, order: str = "C") -> Any:
    """All elements along one axis, in C or Fortran order, or in that of memory ("K").

    Shapes: ``a: (*a) -> (prod(a),)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ArgumentError: `order` is none of "C", "F", "A", "K".
    Source: NumPy reference, ``numpy.ravel``.

    >>> ravel(np.array([[1.0, 2.0], [3.0, 4.0]]), order="F").tolist()
    [1.0, 3.0, 2.0, 4.0]
    """
    a = array_of(a)
    if order == "K":
        # In the order of memory, but forwards.
        strides = layout(a).strides
        a = transpose(a, sorted(range(a.ndim), key=lambda i: -abs(strides[i])))
    elif _fortran("ravel", order, a):
        a = transpose(a)
    if layout(a).flags.c_contiguous:
        return a if a.ndim == 1 else _ops.reshape(a, shape=(math.prod(a.shape),))
    return snapshot(_ops.reshape(a, shape=(math.prod(a.shape),)), copy=True)


def squeeze(a: Any, axis: Any = None) -> Any:
    """`a` without its axes of length 1, or without those given.

    Shapes: ``a: (*a, 1, *b) -> (*a, *b)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: an axis does not exist or is longer than 1.
    Source: NumPy reference, ``numpy.squeeze``.

    >>> squeeze(np.ones((1, 2, 1))).shape
    (2,)
    """
    a = array_of(a)
    if axis is None:
        axes = tuple(i for i, n in enumerate(a.shape) if n == 1)
    else:
        axes = axes_of("squeeze", axis, a.ndim)
        if any(a.shape[i] != 1 for i in axes):
            raise ShapeError(
                f"fnp.squeeze: axis={axis} of shape {list(a.shape)}: only axes of length 1 can be "
                f"removed{where()}"
            )
    return _ops.squeeze(a, axis=axes)


def expand_dims(a: Any, axis: Any) -> Any:
    """`a` with new axes of length 1 at the places `axis` of the result.

    Shapes: ``a: (*a, *b) -> (*a, 1, *b)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: a place does not exist or is given twice.
    Source: NumPy reference, ``numpy.expand_dims``.

    >>> expand_dims(np.ones(2), 0).shape
    (1, 2)
    """
    a = array_of(a)
    count = len(axis) if isinstance(axis, tuple | list | range) else 1
    return _ops.expand_dims(a, axis=axes_of("expand_dims", axis, a.ndim + count))


def _at_least(count: int, arrays: tuple[Any, ...], raise_to: Any) -> Any:
    out = tuple(x if x.ndim >= count else raise_to(x) for x in map(array_of, arrays))
    return out[0] if len(out) == 1 else out


def atleast_1d(*arys: Any) -> Any:
    """Each array with one axis at least.

    Shapes: ``() -> (1,)``, others unchanged.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.atleast_1d``.

    >>> atleast_1d(2.0).tolist()
    [2.0]
    """
    return _at_least(1, arys, lambda x: _ops.reshape(x, shape=(1,)))


def atleast_2d(*arys: Any) -> Any:
    """Each array with two axes at least, new ones in front.

    Shapes: ``(n,) -> (1, n)``, ``() -> (1, 1)``, others unchanged.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.atleast_2d``.

    >>> atleast_2d([1.0, 2.0]).shape
    (1, 2)
    """
    return _at_least(2, arys, lambda x: _ops.reshape(x, shape=(1, math.prod(x.shape))))


def atleast_3d(*arys: Any) -> Any:
    """Each array with three axes at least: a vector in the middle, a matrix in front.

    Shapes: ``(m, n) -> (m, n, 1)``, ``(n,) -> (1, n, 1)``, ``() -> (1, 1, 1)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.atleast_3d``.

    >>> atleast_3d([1.0, 2.0]).shape
    (1, 2, 1)
    """
    return _at_least(3, arys, lambda x: _ops.reshape(x, shape=_three(x.shape)))


def _three(lengths: tuple[int, ...]) -> tuple[int, ...]:
    return (*lengths, 1) if len(lengths) == 2 else (1, *lengths, 1) if lengths else (1, 1, 1)


# ---------------------------------------------------------------- broadcast


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """`array` repeated along new leading axes and along axes of length 1.

    Shapes: ``array: (*a) -> shape``.   Dtypes: all.
    Derivative: linear; the cotangent is summed over the repeated axes.
    Raises: ShapeError: `array` does not broadcast to `shape`.
    Source: NumPy reference, ``numpy.broadcast_to``.

    >>> broadcast_to([1.0, 2.0], (2, 2)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    array, new = array_of(array), shape_of(shape, "fnp.broadcast_to: shape")
    lead = len(new) - array.ndim
    if lead < 0 or any(m not in (1, n) for m, n in zip(array.shape, new[lead:], strict=True)):
        raise ShapeError(
            f"fnp.broadcast_to: shape {list(array.shape)} does not broadcast to {list(new)}{where()}"
        )
    return _repeated(array, new)


def _repeated(x: Any, new: tuple[int, ...]) -> Any:
    """`x` in another shape, which NumPy gives as a view that is only to be read."""
    out = _ops.broadcast_to(x, shape=new)
    if isinstance(x, Tracer) and isinstance(out, Tracer):
        base = x if x.aval.shape else as_array(snapshot(x, copy=False))
        record_view(out, base, _ops.broadcast_to, {"shape": new})
    return out


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """The arrays, each broadcast to the shape of their sum.

    Shapes: ``(*a), (*b), ... -> broadcast(a, b, ...)`` each.   Dtypes: all.
    Derivative: linear; the cotangents are summed over the repeated axes.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.broadcast_arrays``.

    >>> [x.shape for x in broadcast_arrays([1.0, 2.0], [[1.0], [2.0]])]
    [(2, 2), (2, 2)]
    """
    xs = arrays_of(*args)
    if not xs:
        return ()
    new = _broadcast_shapes("fnp.broadcast_arrays", [x.shape for x in xs])
    return tuple(x if x.shape == new else _repeated(x, new) for x in xs)
