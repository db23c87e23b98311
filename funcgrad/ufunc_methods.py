"""``ufunc.reduce``, ``accumulate``, ``reduceat``, ``outer`` and ``at`` on traced values.

Layer 3½. Where there is a function that does it, that function does; other associative ufuncs are
applied to halves, in a number of steps that grows with the logarithm of the length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from . import numpy as fnp
from .core import Tracer, aval_of
from .errors import ArgumentError, HandoverError, ShapeError
from .errors import where as _line
from .indexing import add_at
from .numpy._arguments import axis_of, concrete, reduced_axes
from .ops import cumulative as _cumulative
from .ops.softmax import logsumexp as _logsumexp

Binary = Callable[[Any, Any], Any]

_REDUCE: dict[Any, Callable[..., Any]] = {
    np.add: fnp.sum,
    np.multiply: fnp.prod,
    np.maximum: fnp.max,
    np.minimum: fnp.min,
    np.logical_and: fnp.all,
    np.logical_or: fnp.any,
}
_ACCUMULATE: dict[Any, Callable[..., Any]] = {np.add: fnp.cumsum, np.multiply: fnp.cumprod}
_RUNNING = {
    np.maximum: _cumulative.cummax,
    np.minimum: _cumulative.cummin,
    np.logaddexp: _cumulative.logcumsumexp,
}
# Of these, the order in which elements are taken together does not matter.
_ASSOCIATIVE = frozenset(
    {
        *(np.logaddexp, np.logaddexp2, np.hypot, np.fmax, np.fmin, np.gcd, np.lcm),
        *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor),
        *(np.maximum, np.minimum, np.add, np.multiply, np.logical_and, np.logical_or),
    }
)


def reduce(
    ufunc: Any,
    f: Binary,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``ufunc.reduce(array, ...)``; `f`: the ufunc's counterpart.

    >>> reduce(np.hypot, fnp.hypot, np.array([3.0, 4.0, 12.0])).tolist()
    13.0
    """
    x = fnp.asarray(array)
    options = {"dtype": dtype, "initial": initial, "where": where}
    options = {k: v for k, v in options.items() if v is not None and v is not True}
    if ufunc in _REDUCE and (initial is None or not isinstance(ufunc.identity, bool)):
        return _REDUCE[ufunc](x, axis=axis, keepdims=keepdims, **options)
    _require_associative(ufunc, "reduce")
    x = x if dtype is None else fnp.astype(x, dtype)
    if where is not True:
        neutral = initial if ufunc.identity is None else _identity(ufunc, x)
        if neutral is None:
            raise ArgumentError(f"np.{ufunc.__name__}.reduce: where= needs initial={_line()}")
        x = fnp.where(where, x, neutral)
    axes = reduced_axes(f"{ufunc.__name__}.reduce", axis, x.ndim)
    y = _over_axes(ufunc, f, x, axes)
    y = y if initial is None else f(fnp.astype(initial, aval_of(y).dtype), y)
    if keepdims:
        y = fnp.expand_dims(y, axes)
    return y


def _identity(ufunc: Any, x: Any) -> Any:
    """What changes nothing. Whole numbers have the dtype of `x`: -1, all bits, is 255 and True."""
    neutral = ufunc.identity
    return np.array(neutral).astype(aval_of(x).dtype) if isinstance(neutral, int) else neutral


def _over_axes(ufunc: Any, f: Binary, x: Any, axes: tuple[int, ...]) -> Any:
    if ufunc is np.logaddexp and aval_of(x).dtype.kind == "f" and 0 not in x.shape:
        return _logsumexp(x, axis=axes)
    kept = tuple(n for a, n in enumerate(x.shape) if a not in axes)
    rows = fnp.moveaxis(x, axes, range(len(axes))).reshape((-1, *kept) if x.size else (0, *kept))
    if rows.shape[0] == 0:
        if ufunc.identity is None:
            raise ShapeError(f"np.{ufunc.__name__}.reduce: no elements along axis {axes}{_line()}")
        return fnp.full(kept, _identity(ufunc, x), dtype=aval_of(f(x, x)).dtype)
    if rows.shape[0] == 1 and ufunc.identity is not None:
        return f(_identity(ufunc, x), rows[0])
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        pairs = f(rows[0 : 2 * half : 2], rows[1 : 2 * half : 2])
        odd = rows.shape[0] % 2
        rows = fnp.concatenate([pairs, rows[-1:]]) if odd else pairs
    return rows[0]


def accumulate(ufunc: Any, f: Binary, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    """``ufunc.accumulate(array, ...)``; `f`: the ufunc's counterpart.

    >>> accumulate(np.fmax, fnp.fmax, np.array([1.0, 3.0, 2.0])).tolist()
    [1.0, 3.0, 3.0]
    """
    x = fnp.asarray(array)
    if ufunc in _ACCUMULATE:
        return _ACCUMULATE[ufunc](x, axis=axis, dtype=dtype)
    _require_associative(ufunc, "accumulate")
    x = x if dtype is None else fnp.astype(x, dtype)
    axis = axis_of(f"{ufunc.__name__}.accumulate", axis, x.ndim)
    if ufunc in _RUNNING and aval_of(x).dtype.kind == "f":
        return _RUNNING[ufunc](x, axis=axis, reverse=False)
    rows = fnp.moveaxis(x, axis, 0)
    step, count = 1, rows.shape[0]
    while step < count:
        rows = fnp.concatenate([rows[:step], f(rows[:-step], rows[step:])])
        step *= 2
    return fnp.moveaxis(rows, 0, axis)


def reduceat(
    ufunc: Any, f: Binary, array: Any, indices: Any, axis: int = 0, dtype: Any = None
) -> Any:
    """``ufunc.reduceat(array, indices, ...)``: from each index to the next, or that element alone.

    >>> reduceat(np.add, fnp.add, np.array([1.0, 2.0, 4.0, 8.0]), [0, 2, 1]).tolist()
    [3.0, 4.0, 14.0]
    """
    x = fnp.asarray(array)
    axis = axis_of(f"{ufunc.__name__}.reduceat", axis, x.ndim)
    rows, starts = fnp.moveaxis(x, axis, 0), [int(i) for i in np.asarray(indices)]
    length = rows.shape[0]
    wrong = next((i for i in starts if not 0 <= i < length), None)
    if wrong is not None:
        raise ShapeError(
            f"np.{ufunc.__name__}.reduceat: index {wrong} is outside of an axis of {length}{_line()}"
        )
    ends = [*starts, length][1:]
    rows = rows if dtype is None else fnp.astype(rows, dtype)
    parts = [
        reduce(ufunc, f, rows[i:j], 0, dtype) if j > i + 1 else rows[i]
        for i, j in zip(starts, ends, strict=True)
    ]
    return fnp.stack(parts, axis=axis) if parts else fnp.moveaxis(rows[:0], 0, axis)


def outer(f: Binary, a: Any, b: Any) -> Any:
    """``ufunc.outer(a, b)``: of every element of `a` with every one of `b`.

    >>> outer(fnp.subtract, np.array([1.0, 2.0]), np.array([1.0, 3.0])).tolist()
    [[0.0, -2.0], [1.0, -1.0]]
    """
    x, y = map(fnp.asarray, (a, b))
    return f(x.reshape(x.shape + (1,) * y.ndim), y)


def at(ufunc: Any, f: Callable[..., Any], target: Any, index: Any, *value: Any) -> None:
    """``ufunc.at(target, index, value)``: ``target[i] = f(target[i], value_i)``, one by one.

    Where an index is there k times, elements are read and written in k rounds. Sums and differences
    need none, whatever the transform knows of the index.
    """
    name = f"np.{ufunc.__name__}.at"
    if not isinstance(target, Tracer):
        raise HandoverError(
            f"{name} would store a traced value in a plain NumPy array; make the array with "
            f"fnp.zeros(...) instead of np.zeros(...){_line()}"
        )
    if ufunc in (np.add, np.subtract):
        y = value[0] if ufunc is np.add else fnp.negative(value[0])
        cast(Any, target)[...] = add_at(target, index, y)
        return
    if ufunc.nout != 1:
        raise ArgumentError(f"{name}: the function gives {ufunc.nout} results{_line()}")
    shape = aval_of(target).shape
    places = np.arange(np.prod(shape, dtype=int)).reshape(shape)[_known_index(name, index)]
    values = [fnp.ravel(fnp.broadcast_to(v, places.shape)) for v in value]
    places = places.ravel()
    for chosen in _rounds(places):
        there = np.unravel_index(places[chosen], shape)
        old = cast(Any, target)[there]
        cast(Any, target)[there] = _cast_back(name, f(old, *(v[chosen] for v in values)), old)


def _known_index(name: str, index: Any) -> Any:
    entries = index if isinstance(index, tuple) else (index,)
    found = tuple(
        concrete(f"{name}", "the index", i) if isinstance(i, Tracer) else i for i in entries
    )
    return found if isinstance(index, tuple) else found[0]


def _rounds(places: np.ndarray) -> Iterator[np.ndarray]:
    """Positions in `places`, in groups in which no place is there twice, in their order."""
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    counts = np.diff(starts, append=len(order))
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order)) - np.repeat(starts, counts)
    for k in range(counts.max(initial=0)):
        yield np.flatnonzero(rank == k)


def _cast_back(name: str, new: Any, old: Any) -> Any:
    found, wanted = aval_of(new).dtype, aval_of(old).dtype
    if not np.can_cast(found, wanted, "same_kind"):
        raise ArgumentError(f"{name}: {found} does not fit into an array of {wanted}{_line()}")
    return new


def _require_associative(ufunc: Any, method: str) -> None:
    if ufunc not in _ASSOCIATIVE:
        raise HandoverError(
            f"np.{ufunc.__name__}.{method} is not supported on traced values; write a loop, or "
            f"funcgrad.lax.scan{_line()}"
        )
