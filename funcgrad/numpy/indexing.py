"""Choosing elements: where, take, select, choose, masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..algebra import broadcast_shapes
from ..core import aval_of
from ..errors import ArgumentError, ShapeError
from ..indexing import known
from ..ops import index as _index
from ..ops import select as _select
from ..ops.arithmetic import remainder
from ..ops.index_layout import ArrayIndex
from ..ops.logic import logical_or, not_equal
from ..views import as_array
from ._arguments import (
    GIVE_SIZE,
    array_of,
    arrays_of,
    axis_of,
    beside,
    concrete,
    converted,
    is_array,
    module_of,
    operand,
    operands,
    written,
)
from .creation import zeros_like
from .filling import (
    fill_of,
    filled,
    first_places,
    inside,
    length_of,
    take_along_or_fill,
    take_or_fill,
)
from .searching import nonzero
from .shaping import broadcast_to, ravel


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """`x` where `condition` holds, `y` elsewhere; `nonzero` with its options without them.

    Shapes: broadcast.   Dtypes: all.
    Derivative: linear in `x` and `y`: each gets the cotangent where it was chosen.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: one of `x` and `y` is missing.
    Source: NumPy reference, ``numpy.where``.

    >>> where([True, False], 1.0, [2.0, 3.0]).tolist()
    [1.0, 3.0]
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ArgumentError(f"fnp.where: give both x and y, or neither{errors.where()}")
    if size is not None or fill_value is not None:
        raise ArgumentError(f"fnp.where: size= and fill_value= without x and y{errors.where()}")
    return as_array(_select.where(*operands(condition, x, y)))


# ---------------------------------------------------------------- take


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: Any = None,
    mode: str | None = "raise",
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """``a[..., indices, ...]`` along an axis; of the flattened array if it is None.

    With mode "fill", where an index is out of bounds there is `fill_value`: NaN, the least of signed
    and the largest of unsigned integers, or True unless given. `unique_indices` and
    `indices_are_sorted` promise what changes nothing here.

    Shapes: ``a: (*a, n, *b), indices: (*i) -> (*a, *i, *b)``.   Dtypes: all.
    Derivative: linear; cotangents of an element taken twice are summed.
    Raises: IndexError: an index is out of bounds (mode "raise"). ShapeError: the axis does not
    exist. ArgumentError: `out` or `fill_value` does not fit, or an unknown mode.
    Source: NumPy reference, ``numpy.take``; JAX's for mode "fill".

    >>> take([10.0, 20.0, 30.0], [2, 0]).tolist()
    [30.0, 10.0]
    >>> take([10.0, 20.0], [-1, 2], mode="fill").tolist()
    [20.0, nan]
    """
    if out is not None:
        y = take(a, indices, axis, None, mode, fill_value=fill_value)
        return written("fnp.take with out=", y, out)
    a = array_of(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of("take", axis, a.ndim)
    indices = array_of(indices, module_of(a))
    if mode == "fill":
        return take_or_fill(a, _whole("take", indices), axis, _fill("take", a, fill_value))
    _only_with_fill("take", fill_value)
    return _index.take(a, _in_bounds("take", indices, a.shape[axis], mode), axis=axis)


def _only_with_fill(name: str, fill_value: Any) -> None:
    if fill_value is not None:
        raise ArgumentError(f"fnp.{name}: fill_value= is for mode='fill'{errors.where()}")


def _fill(name: str, a: Any, value: Any) -> Any:
    return None if value is None else fill_of(name, value, a.dtype)


def _whole(name: str, indices: Any) -> Any:
    """The indices, if they are integers.

    Raises: IndexError: they are not.
    """
    if indices.size == 0 and indices.dtype.kind == "f":
        return converted(indices, np.intp)  # an empty list
    if indices.dtype.kind not in "iu":
        raise IndexError(
            f"fnp.{name}: indices are {aval_of(indices)}; need integers{errors.where()}"
        )
    return indices


def _in_bounds(name: str, indices: Any, length: int, mode: str | None) -> Any:
    """The indices as integers, brought into bounds as the mode says; None raises."""
    if indices.size == 0 and indices.dtype.kind == "f":
        indices = converted(indices, np.intp)  # an empty list
    if mode in (None, "raise", "promise_in_bounds"):
        return indices
    if mode == "wrap":
        return remainder(indices, length)
    if mode == "clip":
        return _select.minimum(_select.maximum(indices, 0), length - 1)
    more = "" if name == "choose" or name.startswith("put") else " (or 'fill')"
    raise ArgumentError(
        f"fnp.{name}: mode={mode!r}; need 'raise', 'wrap' or 'clip'{more}{errors.where()}"
    )


def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Any:
    """``y[..., i, ...] = arr[..., indices[..., i, ...], ...]`` along an axis.

    What is out of bounds raises; `mode` and `fill_value` are those of `take`, but negative indices
    count from the end first, also for mode "clip". For that and "fill" with `wrap_negative_indices`
    False they are out of bounds.

    Shapes: ``arr: (*a, n, *b), indices: (*a, m, *b) -> (*a, m, *b)``.   Dtypes: all.
    Derivative: linear; cotangents of an element taken twice are summed.
    Raises: IndexError: an index is out of bounds. ShapeError: the axis does not exist, or another
    number of axes. ArgumentError: an unknown mode, or options that it does not have.
    Source: NumPy reference, ``numpy.take_along_axis``; JAX's for `mode`.

    >>> take_along_axis(np.array([[3.0, 1.0]]), np.array([[1, 0]]), axis=1).tolist()
    [[1.0, 3.0]]
    """
    name = "take_along_axis"
    arr, indices = arrays_of(arr, indices)
    if axis is None:
        arr, axis = ravel(arr), 0
    if arr.ndim != indices.ndim:
        raise ShapeError(
            f"fnp.take_along_axis: arr has {arr.ndim} axes, indices {indices.ndim}{errors.where()}"
        )
    axis = axis_of(name, axis, arr.ndim)
    negative = wrap_negative_indices is not False
    if mode == "fill":
        value = _fill(name, arr, fill_value)
        return take_along_or_fill(arr, _whole(name, indices), axis, value, negative)
    _only_with_fill(name, fill_value)
    if mode == "clip":
        indices = inside(_whole(name, indices), arr.shape[axis], negative)[0]
    elif not negative:
        raise ArgumentError(
            f"fnp.{name}: wrap_negative_indices=False needs mode='fill' or 'clip'{errors.where()}"
        )
    else:
        indices = _in_bounds(name, indices, arr.shape[axis], mode)
    return _index.take_along_axis(arr, indices, axis=axis)


# ---------------------------------------------------------------- masks


def compress(
    condition: Any,
    a: Any,
    axis: int | None = None,
    out: Any = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
) -> Any:
    """The slices along an axis that the vector `condition` holds for; of the flattened array if None.

    With `size` there are so many: more are cut off, and missing ones are filled with `fill_value`.

    Shapes: ``a: (*a, n, *b), condition: (m,) -> (*a, count, *b)``, m <= n.   Dtypes: all.
    Derivative: linear; what is left out gets no cotangent.
    Raises: ConcretizationError: the condition is not known, and no `size` is given. ShapeError: it is
    no vector, or longer. ArgumentError: `size` or `fill_value` does not fit.
    Source: NumPy reference, ``numpy.compress``; JAX's for `size`.

    >>> compress([True, False], [[1.0, 2.0]], axis=1).tolist()
    [[1.0]]
    """
    if out is not None:
        y = compress(condition, a, axis, None, size=size, fill_value=fill_value)
        return written("fnp.compress with out=", y, out)
    condition = array_of(condition)
    if condition.ndim != 1:
        raise ShapeError(
            f"fnp.compress: the condition must have one axis, found {condition.ndim}{errors.where()}"
        )
    a = array_of(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of("compress", axis, a.ndim)
    if size is not None:
        return _compressed("compress", condition, a, axis, size, fill_value)
    mask = concrete("compress", "the condition", condition, GIVE_SIZE)
    return take(a, beside(a, mask.nonzero()[0]), axis)


def _compressed(name: str, condition: Any, a: Any, axis: int, size: Any, value: Any) -> Any:
    """What the condition chooses along an axis, made to a length."""
    n, m = a.shape[axis], condition.shape[0]
    if m > n:
        raise ShapeError(f"fnp.{name}: a condition of {m} for an axis of {n}{errors.where()}")
    places, held = first_places(not_equal(condition, 0), length_of(name, "size", size))
    return filled(a, places, held, axis, fill_of(name, value, a.dtype))


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The elements of the flattened `arr` that `condition` holds for.

    With `size` there are so many: more are cut off, and missing ones are filled with `fill_value`.

    Shapes: ``(*a), (*a) -> (count,)``.   Dtypes: all.
    Derivative: linear; what is left out gets no cotangent.
    Raises: as `compress`.
    Source: NumPy reference, ``numpy.extract``; JAX's for `size`.

    >>> extract([True, False], [1.0, 2.0]).tolist()
    [1.0]
    >>> extract([True, False], [1.0, 2.0], size=2).tolist()
    [1.0, 0.0]
    """
    condition = ravel(array_of(condition))
    if size is not None:
        return _compressed("extract", condition, ravel(array_of(arr)), 0, size, fill_value)
    mask = concrete("extract", "the condition", condition, GIVE_SIZE)
    return take(arr, mask.nonzero()[0])


# ---------------------------------------------------------------- one of several arrays


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """``choices[a[i]][i]``: for every element the array to take it from.

    Shapes: broadcast.   Dtypes: `a` integers; the choices are promoted.
    Derivative: linear in the choices: each gets the cotangent where it was chosen.
    Raises: ArgumentError: a number that is no choice (mode "raise"), or `out` does not fit.
    Source: NumPy reference, ``numpy.choose``.

    >>> choose([1, 0], [[1.0, 2.0], [3.0, 4.0]]).tolist()
    [3.0, 2.0]
    """
    if out is not None:
        return written("fnp.choose with out=", choose(a, choices, None, mode), out)
    xp = module_of(a, *choices)
    a, options = array_of(a, xp), [operand(x, xp) for x in choices]
    found = known(a) if mode == "raise" else None
    if found is not None and found.size and not (found.min() >= 0 and found.max() < len(options)):
        raise ArgumentError(
            f"fnp.choose: {len(options)} choices, but a is between {found.min()} and {found.max()}; "
            f"use mode='wrap' or 'clip'{errors.where()}"
        )
    a = _in_bounds("choose", a, len(options), mode)
    dtype = np.result_type(*(aval_of(x).promoting() for x in options))
    shape = broadcast_shapes("fnp.choose", [a.shape, *(aval_of(x).shape for x in options)])
    y = broadcast_to(converted(array_of(options[0], xp), dtype), shape)
    for i, x in enumerate(options[1:], 1):
        y = _select.where(a == i, x, y)
    return y


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For every element that of the first choice whose condition holds, or `default`.

    Shapes: broadcast.   Dtypes: the conditions are bool; the choices are promoted.
    Derivative: linear in the choices: each gets the cotangent where it was chosen.
    Raises: ArgumentError: not one choice per condition, or none.
    Source: NumPy reference, ``numpy.select``.

    >>> x = np.arange(4.0)
    >>> select([x < 1, x > 2], [10.0, x], -1.0).tolist()
    [10.0, -1.0, -1.0, 3.0]
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ArgumentError(
            f"fnp.select: {len(condlist)} conditions and {len(choicelist)} choices; need as many, and "
            f"one or more{errors.where()}"
        )
    xp = module_of(*choicelist, default, *condlist)
    conditions = [operand(c, xp) for c in condlist]
    choices = [operand(x, xp) for x in (*choicelist, default)]
    dtype = np.result_type(*(aval_of(x).promoting() for x in choices))
    shape = broadcast_shapes("fnp.select", [aval_of(x).shape for x in (*conditions, *choices)])
    y = broadcast_to(converted(array_of(choices[-1], xp), dtype), shape)
    for c, x in zip(conditions[::-1], choices[-2::-1], strict=True):
        y = _select.where(c, x, y)
    return as_array(y)


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """`x` through the function, or replaced by the number, of the last condition that holds.

    One more function than conditions: it is for the rest, which is 0 otherwise. A function is
    called with the elements its condition holds for; where the conditions are not known, because a
    transform traces them, it is called with all of `x`, and what it gives elsewhere is not used.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: that of `x`.
    Derivative: that of the function used.
    Raises: ArgumentError: the numbers of conditions and functions do not fit.
    Source: NumPy reference, ``numpy.piecewise``.

    >>> x = np.array([-1.0, 2.0])
    >>> piecewise(x, [x < 0], [lambda v: -v, 0.0]).tolist()
    [1.0, 0.0]
    """
    x = array_of(x)
    conditions = _conditions(x, condlist)
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        held = conditions[0]
        for c in conditions[1:]:
            held = logical_or(held, c)
        conditions.append(not_equal(held, True))
    elif len(functions) != len(conditions):
        raise ArgumentError(
            f"fnp.piecewise: {len(conditions)} conditions need as many functions, or one more; found "
            f"{len(functions)}{errors.where()}"
        )
    y = zeros_like(x)
    for c, f in zip(conditions, functions, strict=True):
        y = _select.where(c, _piece(f, x, c, args, kw), y)
    return as_array(y)


def _conditions(x: Any, condlist: Any) -> list[Any]:
    if isinstance(condlist, bool | np.bool_):
        rows = [condlist]
    elif is_array(condlist):
        rows = [condlist] if condlist.ndim in (0, x.ndim) else list(condlist)
    elif x.ndim and not any(isinstance(c, list | tuple) or is_array(c) for c in condlist):
        rows = [condlist]
    else:
        rows = list(condlist)
    xp = module_of(x)
    return [converted(array_of(c, xp), bool) for c in rows]


def _piece(f: Any, x: Any, mask: Any, args: Any, kw: Any) -> Any:
    """The values of one piece, in the shape of `x`."""
    if not callable(f):
        return converted(operand(f), x.dtype)
    found = known(mask)
    if found is None:
        return converted(operand(f(x, *args, **kw)), x.dtype)
    if not found.any():
        return 0
    places = module_of(found).broadcast_to(found, x.shape).ravel().nonzero()[0]
    part = converted(array_of(f(_index.take(ravel(x), places, axis=0), *args, **kw)), x.dtype)
    part = broadcast_to(part, places.shape)
    index = (ArrayIndex(0),)
    return _index.scatter_add(part, places, shape=(x.size,), index=index).reshape(x.shape)
