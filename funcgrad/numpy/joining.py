"""Joining, splitting, repeating and padding arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Tracer, aval_of
from ..errors import ArgumentError, ShapeError, where
from ..ops import join as _join
from ..ops.index import take as _take
from ..ops.select import clip
from ..ops.select import where as _choose
from ..ops.sort import argsort
from ..ops.structural import broadcast_to as _broadcast_to
from ._arguments import (
    array_of,
    arrays_of,
    axis_of,
    beside,
    contains_foreign,
    converted,
    copied,
    host,
    integers,
    stacked,
    written,
)
from .ordering import moveaxis
from .shaping import atleast_1d, atleast_2d, atleast_3d, ravel, reshape

# ---------------------------------------------------------------- concatenate and stack


def _arrays(name: str, arrays: Any) -> list[Any]:
    """The operands of a join: the entries of a sequence or the rows of an array."""
    xs = list(arrays_of(*arrays))
    if not xs:
        raise ArgumentError(f"fnp.{name}: needs at least one array{where()}")
    return xs


def _joined(name: str, xs: list[Any], axis: int, dtype: Any, casting: str) -> Any:
    _require_cast(name, xs, dtype, casting)
    out = _join.concatenate(*xs, axis=axis)
    return converted(out, dtype)


def _require_cast(name: str, xs: list[Any], dtype: Any, casting: str) -> None:
    if dtype is not None:
        for found in (x.dtype for x in xs):
            if not np.can_cast(found, dtype, casting):  # type: ignore[arg-type]
                raise ArgumentError(
                    f"fnp.{name}: {found} is not cast to {np.dtype(dtype)} by the rule "
                    f"{casting!r}; use astype before{where()}"
                )


def concatenate(
    arrays: Any,
    /,
    axis: int | None = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    """The arrays one after another along an axis; flattened first if it is None.

    Shapes: ``(*a, n1, *b), (*a, n2, *b), ... -> (*a, n1 + n2 + ..., *b)``.   Dtypes: all, promoted.
    Derivative: linear; every array gets its part of the cotangent.
    Raises: ShapeError: the axis does not exist. ValueError: the shapes differ along another axis.
    ArgumentError: a dtype that `casting` forbids.
    Source: NumPy reference, ``numpy.concatenate``.

    >>> concatenate([[1.0], [2.0, 3.0]]).tolist()
    [1.0, 2.0, 3.0]
    """
    if out is not None:
        return written(
            "fnp.concatenate with out=",
            concatenate(arrays, axis, None, dtype=dtype, casting=casting),
            out,
        )
    xs = _arrays("concatenate", arrays)
    if axis is None:
        return _joined("concatenate", [ravel(x) for x in xs], 0, dtype, casting)
    ndim = xs[0].ndim
    if ndim == 0:
        raise ShapeError(f"fnp.concatenate: 0-d arrays cannot be joined; use fnp.stack{where()}")
    return _joined("concatenate", xs, axis_of("concatenate", axis, ndim), dtype, casting)


def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """The arrays one after another along a new axis.

    Shapes: ``(*a, *b), (*a, *b), ... -> (*a, n, *b)``.   Dtypes: all, promoted.
    Derivative: linear; every array gets its part of the cotangent.
    Raises: ShapeError: the axis does not exist. ValueError: the shapes differ.
    Source: NumPy reference, ``numpy.stack``.

    >>> stack([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    if out is not None:
        return written(
            "fnp.stack with out=", stack(arrays, axis, None, dtype=dtype, casting=casting), out
        )
    xs = _arrays("stack", arrays)
    shapes = {x.shape for x in xs}
    if len(shapes) > 1:
        listed = ", ".join(str(list(x.shape)) for x in xs)
        raise ShapeError(f"fnp.stack: all arrays must have one shape, found {listed}{where()}")
    _require_cast("stack", xs, dtype, casting)
    return converted(_join.stack(xs, axis=axis_of("stack", axis, xs[0].ndim + 1)), dtype)


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """The arrays one below the other; vectors are rows.

    Shapes: ``(n,), (m, n) -> (1 + m, n)``.   Dtypes: all, promoted.
    Derivative: linear; every array gets its part of the cotangent.
    Raises: ValueError: the shapes differ along another axis.
    Source: NumPy reference, ``numpy.vstack``.

    >>> vstack([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    xs = [atleast_2d(x) for x in _arrays("vstack", tup)]
    return _joined("vstack", xs, 0, dtype, casting)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """The arrays side by side: along axis 1, or axis 0 for vectors.

    Shapes: ``(m, n1), (m, n2) -> (m, n1 + n2)``.   Dtypes: all, promoted.
    Derivative: linear; every array gets its part of the cotangent.
    Raises: ValueError: the shapes differ along another axis.
    Source: NumPy reference, ``numpy.hstack``.

    >>> hstack([[1.0, 2.0], 3.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    xs = [atleast_1d(x) for x in _arrays("hstack", tup)]
    return _joined("hstack", xs, 0 if xs[0].ndim == 1 else 1, dtype, casting)


def dstack(tup: Any, dtype: Any = None) -> Any:
    """The arrays one behind the other: along axis 2.

    Shapes: ``(m, n), (m, n) -> (m, n, 2)``.   Dtypes: all, promoted.
    Derivative: linear; every array gets its part of the cotangent.
    Raises: ValueError: the shapes differ along another axis.
    Source: NumPy reference, ``numpy.dstack``.

    >>> dstack([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[[1.0, 3.0], [2.0, 4.0]]]
    """
    xs = [atleast_3d(x) for x in _arrays("dstack", tup)]
    return _joined("dstack", xs, 2, dtype, "unsafe")


def column_stack(tup: Any) -> Any:
    """The arrays side by side; vectors are columns.

    Shapes: ``(m,), (m, n) -> (m, 1 + n)``.   Dtypes: all, promoted.
    Derivative: linear; every array gets its part of the cotangent.
    Raises: ValueError: the lengths differ.
    Source: NumPy reference, ``numpy.column_stack``.

    >>> column_stack([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    xs = _arrays("column_stack", tup)
    return _join.concatenate(*(reshape(x, (-1, 1)) if x.ndim < 2 else x for x in xs), axis=1)


def block(arrays: Any) -> Any:
    """An array of blocks, given as nested lists: the innermost lists run along the last axis.

    Shapes: as the blocks fit together.   Dtypes: all, promoted.
    Derivative: linear; every block gets its part of the cotangent.
    Raises: ArgumentError: the lists are nested unevenly. ValueError: the blocks do not fit.
    Source: NumPy reference, ``numpy.block``.

    >>> block([[np.eye(2), np.ones((2, 1))]]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    depth = _depth(arrays)
    ndim = max(depth, _greatest_ndim(arrays))
    return _block(arrays, depth, ndim)


def _depth(x: Any) -> int:
    """How deep the lists are nested.

    Raises: ArgumentError: not equally deep everywhere, or an empty list.
    """
    if not isinstance(x, list):
        return 0
    depths = {_depth(e) for e in x}
    if len(depths) != 1:
        found = "an empty list" if not depths else f"depths {sorted(depths)}"
        raise ArgumentError(
            f"fnp.block: the lists must be nested equally deep, found {found}{where()}"
        )
    return 1 + depths.pop()


def _greatest_ndim(x: Any) -> int:
    return max(map(_greatest_ndim, x)) if isinstance(x, list) else array_of(x).ndim


def _block(x: Any, depth: int, ndim: int) -> Any:
    if depth == 0:
        x = array_of(x)
        return copied(reshape(x, (1,) * (ndim - x.ndim) + x.shape))
    return _join.concatenate(*(_block(e, depth - 1, ndim) for e in x), axis=ndim - depth)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """`arr` with `values` after it along an axis; both flattened if it is None.

    Shapes: ``(*a, n, *b), (*a, m, *b) -> (*a, n + m, *b)``.   Dtypes: all, promoted.
    Derivative: linear; either array gets its part of the cotangent.
    Raises: ShapeError: the axis does not exist. ValueError: the shapes differ along another axis.
    Source: NumPy reference, ``numpy.append``.

    >>> append([1.0], 2.0).tolist()
    [1.0, 2.0]
    """
    return concatenate((arr, values), axis=axis)


# ---------------------------------------------------------------- insert and delete


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """`arr` with `values` before the places `obj` along an axis; flattened if it is None.

    Places that are traced are not checked: those that do not exist are the nearest that do.

    Shapes: ``(*a, n, *b) -> (*a, n + m, *b)``.   Dtypes: that of `arr`.
    Derivative: linear; `arr` and `values` get their parts of the cotangent.
    Raises: IndexError: a place does not exist. ConcretizationError: a mask is not known.
    Source: NumPy reference, ``numpy.insert``.

    >>> insert(np.array([1.0, 3.0]), 1, 2.0).tolist()
    [1.0, 2.0, 3.0]
    """
    arr, values = arrays_of(arr, values)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = axis_of("insert", axis, arr.ndim)
    length = arr.shape[axis]
    places = _places("insert", obj, fixed=False)
    values = reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
    if np.ndim(places) == 0 and not isinstance(places, slice):
        values = moveaxis(values, 0, axis)  # as ``arr[..., place, ...] = values`` would fit them
        count = values.shape[axis]
    else:
        count = len(np.arange(length)[places]) if isinstance(places, slice) else np.size(places)
        if not isinstance(places, slice) and places.dtype.kind == "b":
            count = int(places.sum())
        if count == 1 and values.shape[axis] != 1:
            count = values.shape[axis]
    is_traced = isinstance(places, Tracer)
    if is_traced:
        places = clip(places + _choose(places < 0, length, 0), 0, length)
        keys = 2 * _broadcast_to(
            places, shape=(count,)
        )  # an element of `arr` comes after its place
        order = argsort(_join.concatenate(2 * np.arange(length) + 1, keys, axis=0), axis=0)
    else:
        new = np.arange(length, length + count)
        order = beside(arr, np.insert(np.arange(length), places, new))
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    values = converted(_broadcast_to(values, shape=shape), arr.dtype)
    return _take(_join.concatenate(arr, values, axis=axis), order, axis=axis)


def _places(name: str, obj: Any, *, fixed: bool = True) -> Any:
    """Indices as NumPy takes them: an integer, a slice, or an array of integers or booleans.

    `fixed` False: integers may be traced.
    """
    if isinstance(obj, slice):
        return obj
    obj = stacked(obj) if contains_foreign(obj) else obj
    if not fixed and isinstance(obj, Tracer) and aval_of(obj).dtype.kind in "iu":
        return integers(name, "obj", obj)
    places = host(name, "obj", obj)
    return places.astype(int) if places.size == 0 and places.dtype.kind == "f" else places


def delete(
    arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Any:
    """`arr` without the places `obj` along an axis; flattened if it is None.

    `assume_unique_indices` changes nothing.

    Shapes: ``(*a, n, *b) -> (*a, n - m, *b)``.   Dtypes: all.
    Derivative: linear; what was deleted gets no cotangent.
    Raises: IndexError: a place does not exist. ConcretizationError: the places are not known.
    Source: NumPy reference, ``numpy.delete``.

    >>> delete(np.array([1.0, 2.0, 3.0]), 1).tolist()
    [1.0, 3.0]
    """
    arr = array_of(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = axis_of("delete", axis, arr.ndim)
    kept = np.delete(np.arange(arr.shape[axis]), _places("delete", obj))
    return _take(arr, beside(arr, kept), axis=axis)


# ---------------------------------------------------------------- split


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis: so many of nearly equal length, or cut at the indices given.

    Shapes: ``(*a, n, *b) -> (*a, n1, *b), (*a, n2, *b), ...``.   Dtypes: all.
    Derivative: linear; the parts are views.
    Raises: ShapeError: the axis does not exist. ArgumentError: fewer than one part.
    Source: NumPy reference, ``numpy.array_split``.

    >>> [x.tolist() for x in array_split(np.array([1.0, 2.0, 3.0]), 2)]
    [[1.0, 2.0], [3.0]]
    """
    return _parts("array_split", ary, indices_or_sections, axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis: so many of equal length, or cut at the indices given.

    Shapes: ``(*a, n, *b) -> (*a, n1, *b), (*a, n2, *b), ...``.   Dtypes: all.
    Derivative: linear; the parts are views.
    Raises: ShapeError: the axis does not exist, or its length is no multiple of the number of parts.
    Source: NumPy reference, ``numpy.split``.

    >>> [x.tolist() for x in split(np.array([1.0, 2.0, 3.0]), [1])]
    [[1.0], [2.0, 3.0]]
    """
    return _equal_parts("split", ary, indices_or_sections, axis)


def _equal_parts(name: str, ary: Any, cuts: Any, axis: int) -> list[Any]:
    ary = array_of(ary)
    axis = axis_of(name, axis, ary.ndim)
    if not hasattr(cuts, "__len__") and cuts > 0 and ary.shape[axis] % cuts:
        raise ShapeError(
            f"fnp.{name}: {ary.shape[axis]} elements make no {cuts} equal parts; use "
            f"fnp.array_split{where()}"
        )
    return _parts(name, ary, cuts, axis)


def _parts(name: str, ary: Any, cuts: Any, axis: int) -> list[Any]:
    ary = array_of(ary)
    axis = axis_of(name, axis, ary.ndim)
    cuts = host(name, "indices_or_sections", cuts)
    if cuts.ndim == 0:
        count = int(cuts)
        if count < 1:
            raise ArgumentError(f"fnp.{name}: {count} parts; need 1 or more{where()}")
        each, more = divmod(ary.shape[axis], count)
        cuts = np.cumsum([each + 1] * more + [each] * (count - more))[:-1]
    return list(_join.split(ary, at=tuple(map(int, cuts)), axis=axis))


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along axis 1, or axis 0 of a vector.

    Shapes: ``(m, n) -> (m, n1), (m, n2), ...``.   Dtypes: all.
    Derivative: linear; the parts are views.
    Raises: ShapeError: `ary` is 0-d, or the parts are not equal.
    Source: NumPy reference, ``numpy.hsplit``.

    >>> [x.tolist() for x in hsplit(np.array([[1.0, 2.0]]), 2)]
    [[[1.0]], [[2.0]]]
    """
    ary = array_of(ary)
    return _equal_parts("hsplit", ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along axis 0 of an array of two axes or more.

    Shapes: ``(m, *a) -> (m1, *a), (m2, *a), ...``.   Dtypes: all.
    Derivative: linear; the parts are views.
    Raises: ShapeError: `ary` has fewer than two axes, or the parts are not equal.
    Source: NumPy reference, ``numpy.vsplit``.

    >>> [x.tolist() for x in vsplit(np.array([[1.0], [2.0]]), 2)]
    [[[1.0]], [[2.0]]]
    """
    ary = array_of(ary)
    axis_of("vsplit", 1, ary.ndim)
    return _equal_parts("vsplit", ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along axis 2.

    Shapes: ``(m, n, k) -> (m, n, k1), (m, n, k2), ...``.   Dtypes: all.
    Derivative: linear; the parts are views.
    Raises: ShapeError: `ary` has fewer than three axes, or the parts are not equal.
    Source: NumPy reference, ``numpy.dsplit``.

    >>> [x.tolist() for x in dsplit(np.array([[[1.0, 2.0]]]), 2)]
    [[[[1.0]]], [[[2.0]]]]
    """
    return _equal_parts("dsplit", ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The parts ``x[0], x[1], ...`` along an axis, without it.

    Shapes: ``(*a, n, *b) -> (*a, *b)``, `n` times.   Dtypes: all.
    Derivative: linear; the parts are views.
    Raises: ShapeError: the axis does not exist.
    Source: NumPy reference, ``numpy.unstack``.

    >>> [y.tolist() for y in unstack(np.array([[1.0, 2.0], [3.0, 4.0]]))]
    [[1.0, 2.0], [3.0, 4.0]]
    """
    x = array_of(x)
    return tuple(_join.unstack(x, axis=axis_of("unstack", axis, x.ndim)))
