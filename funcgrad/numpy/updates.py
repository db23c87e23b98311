"""Arrays with other elements at some places, as new arrays: ``at(x)[i].set(v)``.

Layer 3½. ``x[i] = v`` writes in NumPy's way, traced or not. This is for expressions, and for code
that was written for arrays that cannot be written into.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Tracer, aval_of
from ..errors import ArgumentError
from ..errors import where as _line
from ..indexing import add_at, axes_of, basic_link, entries_of, known, read, write
from ..ops.arithmetic import divide, multiply, negative, power
from ..ops.logic import logical_and
from ..ops.segments import segment_max, segment_min, segment_prod
from ..ops.select import maximum, minimum
from ..ops.select import where as choose
from ..ops.structural import broadcast_to
from ._arguments import array_of, beside, converted, copied, module_of, operand
from .creation import ones_like
from .filling import fill_of, inside, missing
from .joining import concatenate
from .shaping import ravel, reshape

_IN_BOUNDS = (None, "raise", "promise_in_bounds")
_OUTSIDE = ("drop", "fill", "fill_or_drop")
_MODES = (*_IN_BOUNDS, *_OUTSIDE, "clip")

Change = Callable[[Any, Any, Any], Any]  # of an array, an index and values: the new array


class at:
    """``at(x)[index]``, the `Places` of any index of NumPy's: `x` with other elements there.

    Also ``x.at[index]`` of traced arrays.

    Raises: ArgumentError: `x` is no array.
    Source: JAX, ``jax.numpy.ndarray.at``; array-api-extra, ``at``.

    >>> x = np.zeros(3)
    >>> at(x)[1:].set(2.0).tolist(), x.tolist()
    ([0.0, 2.0, 2.0], [0.0, 0.0, 0.0])
    >>> at(x)[np.array([0, 0, 2])].add(1.0).tolist()
    [2.0, 0.0, 1.0]
    """

    __slots__ = ("array",)

    def __init__(self, x: Any) -> None:
        self.array = array_of(x)

    def __getitem__(self, index: Any) -> Places:
        return Places(self.array, index)

    def __repr__(self) -> str:
        return f"at({self.array!r})"


class Places:
    """Some places of an array: what is read there, and the array with something else there.

    Where an index is out of bounds the default is to raise; with mode "clip" it is brought inside,
    with "drop" nothing happens there, and with "fill" `get` reads `fill_value`: NaN, the least of
    signed and the largest of unsigned integers, or True unless given. With `lenient` the default
    is JAX's: to read the nearest element, and to drop what is written. Without
    `wrap_negative_indices` negative indices are out of bounds. `indices_are_sorted` and
    `unique_indices` are promises, of which only `apply` makes use.

    Shapes: that of the array; values broadcast to the part that the index shows. Dtypes: that of the
    array, also where values have more precision; but for `divide` and `power`, which promote.
    Derivative: of the array and the values; where `set` replaces an element it gets no cotangent,
    and of several values for one place the last has the derivative.
    Raises: IndexError: out of bounds, or no index. ShapeError: values do not fit. MutationError: the
    dtype cannot hold the values. ArgumentError: no such mode.
    Source: JAX, ``jax.numpy.ndarray.at``.
    """

    __slots__ = ("array", "index", "lenient")

    def __init__(self, array: Any, index: Any, lenient: bool = False) -> None:
        self.array = array
        self.index = index
        self.lenient = lenient

    def __repr__(self) -> str:
        return f"at({self.array!r})[{self.index!r}]"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x[index]``.

        >>> at(np.array([1.0, 2.0]))[np.array([1, 5])].get(mode="fill", fill_value=0.0).tolist()
        [2.0, 0.0]
        """
        spare = None
        if fill_value is not None:
            if mode is None:
                mode = "fill"
            if mode != "fill":
                raise ArgumentError(f"at: fill_value= is for mode='fill', found {mode!r}{_line()}")
            spare = fill_of("at", fill_value, self.array.dtype)
        if mode is None and self.lenient:
            mode = "clip"
        x, index, _ = self._inside(mode, wrap_negative_indices, spare)
        return read(x, index)

    def set(self, values: Any, **options: Any) -> Any:
        """After ``x[index] = values``; of several values for one place the last wins.

        >>> at(np.zeros(2))[7].set(1.0, mode="drop").tolist()
        [0.0, 0.0]
        """
        return self._changed(write, values, **options)

    def add(self, values: Any, **options: Any) -> Any:
        """After ``x[index] += values``, once for every time that a place is there."""
        return self._changed(add_at, values, **options)

    def subtract(self, values: Any, **options: Any) -> Any:
        """After ``x[index] -= values``, once for every time that a place is there."""
        return self._changed(_subtract, values, **options)

    def multiply(self, values: Any, **options: Any) -> Any:
        """After ``x[index] *= values``, once for every time that a place is there.

        >>> at(np.ones(2))[np.array([0, 0])].multiply(np.array([2.0, 3.0])).tolist()
        [6.0, 1.0]
        """
        return self._changed(_multiply, values, **options)

    def divide(self, values: Any, **options: Any) -> Any:
        """After ``x[index] /= values``, once for every time that a place is there."""
        return self._by_factors(divide, values, options)

    def power(self, values: Any, **options: Any) -> Any:
        """After ``x[index] **= values``, once for every time that a place is there.

        >>> at(np.array([2.0, 3.0]))[0].power(3).tolist()
        [8.0, 3.0]
        """
        return self._by_factors(power, values, options)

    def min(self, values: Any, **options: Any) -> Any:
        """After ``x[index] = minimum(x[index], values)``."""
        return self._changed(_min, values, **options)

    def max(self, values: Any, **options: Any) -> Any:
        """After ``x[index] = maximum(x[index], values)``."""
        return self._changed(_max, values, **options)

    def apply(
        self, func: Callable[[Any], Any], *, unique_indices: bool = False, **options: Any
    ) -> Any:
        """After ``x[index] = func(x[index])``, elementwise; repeated where a place is there again.

        Raises: ArgumentError: the index is traced, so that nobody knows what is there twice, and
        `unique_indices` does not promise that nothing is.

        >>> at(np.array([3.0, 2.0]))[np.array([0, 0])].apply(np.square).tolist()
        [81.0, 2.0]
        """

        def change(x: Any, index: Any, _: Any) -> Any:
            if unique_indices or basic_link(index, x.shape) is not None:
                return write(x, index, func(read(x, index)))
            return _applied(func, x, index)

        return self._changed(change, None, **options)

    mul = multiply
    sub = subtract

    def _by_factors(self, f: Callable[[Any, Any], Any], values: Any, options: Any) -> Any:
        """``f(x, product)``: what meets in one place is multiplied first, 1 elsewhere."""
        x = self.array
        values = operand(values, module_of(x))
        ones = converted(ones_like(x), np.result_type(x.dtype, aval_of(values).promoting()))
        return f(x, Places(ones, self.index, self.lenient).multiply(values, **options))

    def _changed(
        self,
        change: Change,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        if values is not None:
            values = operand(values, module_of(self.array))
        if mode is None and self.lenient:
            entries = self.index if isinstance(self.index, tuple) else (self.index,)
            if not any(isinstance(i, Tracer | list) for i in entries):
                with contextlib.suppress(IndexError):  # most are inside
                    return change(self.array, self.index, values)
            mode = "drop"
        one = self._one(wrap_negative_indices) if _named(mode) in _OUTSIDE else None
        if one is not None:
            x, (index, held) = self.array, one
            part = read(x, index)
            return write(x, index, choose(held, change(part, ..., values), part))
        x, index, kept = self._inside(mode, wrap_negative_indices, 1)
        y = change(x, index, values)
        return y if kept is None else read(y, kept)

    def _one(self, negative: bool) -> tuple[Any, Any] | None:
        """Where the index is of slices and traced numbers: one of a part that is there, and whether
        it is the one meant. None of other indices, and where an axis has no element.
        """
        x = self.array
        entries = entries_of(self.index, x.shape, module_of(x))
        arrays = [i for i in entries if not (i is None or isinstance(i, slice | int))]
        if not arrays or any(i.shape or known(i) is not None for i in arrays):
            return None
        index: list[Any] = []
        every: Any = True
        axis = 0
        for i in entries:
            if not (i is None or isinstance(i, slice)):
                if not x.shape[axis]:
                    return None
                i, held = inside(i, x.shape[axis], negative)
                every = logical_and(every, held)
            index.append(i)
            axis += axes_of(i)
        return tuple(index), every

    def _inside(self, mode: Any, negative: bool, spare: Any) -> tuple[Any, Any, Any]:
        """The array, the index, and the part of the array to keep, if that is not all.

        What is to be dropped goes to one more element of its axis, `spare`.
        """
        mode = _named(mode)
        if mode not in _MODES:
            raise ArgumentError(f"at: mode={mode!r}; need one of {_MODES}{_line()}")
        x = self.array
        if mode in _IN_BOUNDS and negative:
            return x, self.index, None
        index: list[Any] = []
        kept: list[Any] = [slice(None)] * x.ndim
        larger, axis = x, 0
        for i in entries_of(self.index, x.shape, module_of(x)):
            if isinstance(i, int) or getattr(getattr(i, "dtype", None), "kind", "b") in "iu":
                n = x.shape[axis]
                places, held = inside(np.asarray(i) if isinstance(i, int) else i, n, negative)
                if mode != "clip":
                    places = choose(held, places, n)
                if mode in _OUTSIDE and not np.all(known(held)):  # None: nobody knows yet
                    larger = _with_one_more(larger, axis, spare)
                    kept[axis] = slice(0, n)
                i = int(places) if isinstance(i, int) else places
            index.append(i)
            axis += axes_of(i)
        return larger, tuple(index), None if larger is x else tuple(kept)


def clipped(x: Any, index: Any) -> tuple[Any, ...]:
    """An index of `x` with its integers, and arrays of them, brought inside of their axes.

    >>> clipped(np.zeros((2, 3)), (5, np.array([-7, 1])))
    (1, array([0, 1]))
    """
    return Places(x, index)._inside("clip", True, None)[1]


def _named(mode: Any) -> Any:
    """The mode of a string or of a member of JAX's `GatherScatterMode`."""
    mode = getattr(mode, "name", mode)
    return mode.lower() if isinstance(mode, str) else mode


def _with_one_more(x: Any, axis: int, value: Any) -> Any:
    """The array with one more plane along an axis."""
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    value = converted(missing(x.dtype) if value is None else value, x.dtype)
    return concatenate([x, beside(x, np.broadcast_to(value, shape))], axis)


def _subtract(x: Any, index: Any, values: Any) -> Any:
    return add_at(x, index, negative(values))


def _together(f: Callable[[Any, Any], Any], grouped: Callable[..., Any]) -> Change:
    """Elements and values for one place, by `f` where no place is there twice, else as groups."""

    def change(x: Any, index: Any, values: Any) -> Any:
        if basic_link(index, x.shape) is not None:
            return write(x, index, converted(f(read(x, index), values), x.dtype))
        places = read(beside(x, _numbers(x.shape)), index)
        values = converted(broadcast_to(values, shape=places.shape), x.dtype)
        every = concatenate([ravel(x), ravel(values)])
        group = concatenate([beside(x, _numbers((x.size,))), ravel(places)])
        return reshape(converted(grouped(every, group, x.size), x.dtype), x.shape)

    return change


_multiply = _together(multiply, segment_prod)
_min = _together(minimum, segment_min)
_max = _together(maximum, segment_max)


def _applied(func: Callable[[Any], Any], x: Any, index: Any) -> Any:
    """`func` of the elements at an index with arrays, in turns where a place is there again."""
    places = known(read(beside(x, _numbers(x.shape)), index))
    if places is None:
        raise ArgumentError(
            "at(x)[index].apply: the index is traced, so places that are there twice cannot be told "
            f"apart; unique_indices=True promises that there are none{_line()}"
        )
    y, places = ravel(copied(x)), places.ravel()
    while places.size:
        now, first = np.unique(places, return_index=True)
        y = write(y, now, func(read(y, now)))
        places = np.delete(places, first)
    return reshape(y, x.shape)


def _numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(math.prod(shape)).reshape(shape)
