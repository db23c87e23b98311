"""Shapes, parts, joints and products of tensors, as a table of names and what they are."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from string import ascii_letters
from typing import Any

import numpy as np

import funcgrad.numpy as fnp

from ._function import Function, SequenceFunction, into
from ._graph import TensorCore, apply, array_of, traced
from ._math import NAMES as _MATH
from ._math import no_slope_at_zero

NAMES: dict[str, Any] = {}


def _view(name: str, parameters: str, fast: Any = None, **options: Any) -> None:
    numpy = getattr(np, name)
    NAMES[name] = Function(
        name,
        numpy,
        parameters,
        traced=getattr(fnp, name),
        fast=fast,
        views=True,
        overrides=[numpy],
        **options,
    )


_view("squeeze", "axis")
_view("ravel", "")
_view("expand_dims", "axis")
_view("broadcast_to", "shape")
_view("moveaxis", "source destination")
_view("swapaxes", "axis1 axis2")


# ---------------------------------------------------------------- shapes given as arguments


class _Positional(Function):
    """A function with one argument after the tensor, which may be given as several."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        constant = options.pop("constant", None)
        given, options = self._arguments(args, options)
        value = tuple(options.values())
        return apply(self, given, tuple(map(_sizes, value)), constant=constant)


def _sizes(shape: Any) -> Any:
    """A shape as NumPy has it, from integers, tensors of one integer, or a sequence of these."""
    if isinstance(shape, TensorCore):
        shape = array_of(shape).tolist()
    return tuple(map(operator.index, shape)) if hasattr(shape, "__iter__") else shape


def _reshape(a: Any, newshape: Any) -> Any:
    return np.reshape(a, newshape)


def _transpose(a: Any, axes: Any = None) -> Any:
    return np.transpose(a, axes)


NAMES["reshape"] = _Positional(
    "reshape",
    _reshape,
    "newshape",
    fast=lambda t, shape: t.reshape(shape),
    views=True,
    overrides=[np.reshape],
)


class _Transpose(Function):
    """The axes in another order, given as one argument or as several."""

    def __call__(self, a: Any, *axes: Any, constant: bool | None = None, **options: Any) -> Any:
        if options:
            axes = (options.pop("axes"), *options, *axes)
        if len(axes) == 1 and (axes[0] is None or hasattr(axes[0], "__iter__")):
            (axes,) = axes
        elif any(hasattr(i, "__iter__") or i is None for i in axes):
            raise TypeError(f"transpose: need one sequence of axes, or integers, found {axes}")
        return apply(self, (a,), (axes or None,), constant=constant)


NAMES["transpose"] = _Transpose("transpose", _transpose, views=True, overrides=[np.transpose])


class _AtLeast(Function):
    """Tensors with so many axes at least; one of which has them stays what it is."""

    def __call__(self, *tensors: Any, constant: bool | None = None, **options: Any) -> Any:
        if options:
            raise TypeError(
                f"{self.__name__}() got an unexpected keyword argument {min(options)!r}"
            )
        if len(tensors) != 1:
            return [self(t, constant=constant) for t in tensors]
        (t,) = tensors
        stays = isinstance(t, TensorCore) and constant in (None, t._constant)
        if stays and t._t._array.ndim >= int(self.__name__[-2]):
            return t
        return apply(self, tensors, constant=constant)


for _k in "123":
    _name = f"atleast_{_k}d"
    _numpy = getattr(np, _name)
    NAMES[_name] = _AtLeast(_name, _numpy, views=True, overrides=[_numpy])


# ---------------------------------------------------------------- parts


def _has_ellipsis(index: Any) -> bool:
    return index is ... or (index.__class__ is tuple and any(i is ... for i in index))


def _is_simple(index: Any) -> bool:
    """Whether PyTorch takes an index of integers and slices as NumPy does."""
    cls = index.__class__
    if cls is tuple:
        return all(i.__class__ is not tuple and _is_simple(i) for i in index)
    return cls is int or (cls is slice and index.step is None and _ends(index))


def _ends(index: slice) -> bool:
    return all(end is None or end.__class__ is int for end in (index.start, index.stop))


def _part(t: Any, index: Any) -> Any:
    return t[index] if _is_simple(index) else traced(operator.getitem, [t], (index,), {})


def plain_index(index: Any) -> Any:
    """An index with arrays in place of tensors."""
    if isinstance(index, TensorCore):
        return index._t._array
    if index.__class__ is tuple or index.__class__ is list:
        return type(index)(map(plain_index, index))
    return np.asarray(index) if index.__class__ is range else index


GETITEM = Function("getitem", operator.getitem, "index", fast=_part, views=True)
GETITEM.copies_numbers = lambda array, index: array.ndim == 0 and not _has_ellipsis(index)


class _SetItem(Function):
    """``a[index] = b``; of several values for one element the last is kept."""

    def write(self, to: Any, operands: Any, args: Any, options: Any) -> None:
        to[args[0]] = operands[1]


SETITEM = _SetItem("setitem", operator.getitem, "index", operands="a b")
GETITEM.step.__name__, SETITEM.step.__name__ = "GetItem", "SetItem"


class _Where(Function):
    """``x`` where the condition holds and ``y`` elsewhere; without these, where it holds."""

    def __call__(
        self, condition: Any, *args: Any, constant: bool | None = None, **options: Any
    ) -> Any:
        found = [*args, *[options.pop(n) for n in ("x", "y")[len(args) :] if n in options]]
        if options:
            raise TypeError(f"where() got an unexpected keyword argument {min(options)!r}")
        condition = array_of(condition)
        if not found:
            return np.where(condition)
        if len(found) != 2:
            raise ValueError("where: one of x and y was given; need both, or none")
        return apply(self, found, (condition,), constant=constant)


NAMES["where"] = _Where(
    "where", lambda x, y, condition: np.where(condition, x, y), overrides=[np.where]
)
NAMES["repeat"] = Function(
    "repeat", np.repeat, "repeats axis", traced=fnp.repeat, overrides=[np.repeat]
)
NAMES["roll"] = Function("roll", np.roll, "shift axis", traced=fnp.roll, overrides=[np.roll])
FLATTEN = Function("flatten", lambda a: np.ravel(a).copy(), traced=lambda a: fnp.ravel(a) + 0)


# ---------------------------------------------------------------- joints


def _joining(f: Any) -> Any:
    return lambda *xs, **options: f(xs, **options)


NAMES["concatenate"] = SequenceFunction(
    "concatenate",
    _joining(np.concatenate),
    "axis out dtype",
    operands="tensors",
    traced=_joining(fnp.concatenate),
    overrides=[np.concatenate],
)
NAMES["stack"] = SequenceFunction(
    "stack",
    _joining(np.stack),
    "axis out",
    operands="tensors",
    traced=_joining(fnp.stack),
    overrides=[np.stack],
)


# ---------------------------------------------------------------- products and norms


class _Einsum(Function):
    """Sums of products by labels, given as a text or as lists of integers.

    Of one operand, without a sum, it is a view: its diagonals, its axes in another order.
    """

    def __call__(
        self,
        *operands: Any,
        optimize: Any = False,
        out: Any = None,
        constant: bool | None = None,
    ) -> Any:
        if isinstance(operands[0], str):
            labels, tensors = operands[0].replace(" ", ""), operands[1:]
        else:
            end = len(operands) - len(operands) % 2
            tensors = operands[:end:2]
            labels = ",".join(map(_letters, operands[1:end:2]))
            labels += "".join("->" + _letters(found) for found in operands[end:])
        if out is not None:
            return into(self, tensors, (labels, optimize), {}, constant, out)
        return apply(self, tensors, (labels, optimize), constant=constant)


def _letters(labels: Any) -> str:
    """Labels that are integers as letters, as NumPy names them."""
    return "".join("..." if i is ... else ascii_letters[i] for i in labels)


def _einsum(*xs: Any) -> Any:
    *arrays, labels, optimize = xs
    return np.einsum(labels, *arrays, optimize=optimize)


def _traced_einsum(*xs: Any) -> Any:
    *arrays, labels, optimize = xs
    found = _rearranged(labels, len(arrays[0].shape)) if len(arrays) == 1 else None
    if found is None:
        return fnp.einsum(labels, *arrays, optimize=optimize)
    (x,), (pairs, order) = arrays, found
    for first, second in pairs:
        x = fnp.diagonal(x, 0, first, second)
    return fnp.transpose(x, order)


def _rearranged(labels: str, ndim: int) -> Any:
    """The pairs of axes of which diagonals are taken, in turn, and then the order of the axes.

    None if something is summed.
    """
    given, arrow, wanted = labels.partition("->")
    hidden = [f"#{i}" for i in range(ndim - len(given.replace("...", "")))]
    axes = _expanded(given, hidden)
    if not arrow:
        once = sorted(c for c in axes if axes.count(c) == 1 and c not in hidden)
        result = [*hidden, *once]
    else:
        result = _expanded(wanted, hidden)
    if set(result) != set(axes) or len(axes) != ndim:
        return None
    pairs = []
    while len(set(axes)) < len(axes):
        first = next(i for i, c in enumerate(axes) if axes.count(c) > 1)
        second = axes.index(axes[first], first + 1)
        pairs.append((first, second))
        label = axes.pop(second)
        axes.pop(first)
        axes.append(label)
    return pairs, tuple(axes.index(c) for c in result)


def _expanded(labels: str, hidden: Sequence[str]) -> list[str]:
    before, dots, after = labels.partition("...")
    return [*before, *(hidden if dots else ()), *after]


NAMES["einsum"] = _Einsum(
    "einsum", _einsum, traced=_traced_einsum, views=True, overrides=[np.einsum]
)


class _Clip(Function):
    """``min(max(a, a_min), a_max)``; without a bound where that is None."""

    def __call__(
        self,
        a: Any,
        a_min: Any,
        a_max: Any,
        out: Any = None,
        *,
        constant: bool | None = None,
    ) -> Any:
        if a_min is not None:
            a = _MATH["maximum"](a_min, a, out=out, constant=constant)
        if a_max is not None:
            a = _MATH["minimum"](a_max, a, out=out, constant=constant)
        return a if isinstance(a, TensorCore) else NAMES["atleast_1d"](a)


NAMES["clip"] = _Clip("clip", np.clip, overrides=[np.clip])


class _MultiMatmul(Function):
    """The product of several matrices, in the order that takes the fewest multiplications."""

    def __call__(self, tensors: Any, *, constant: bool | None = None) -> Any:
        for a in tensors:
            if not 1 <= a.ndim <= 2:
                raise ValueError(
                    f"multi_matmul: need matrices and vectors, found a tensor of {a.ndim} axes"
                )
        if len(tensors) < 2:
            raise ValueError(f"multi_matmul: need two tensors or more, found {len(tensors)}")
        return apply(self, tuple(tensors), constant=constant)


NAMES["multi_matmul"] = _MultiMatmul(
    "multi_matmul", _joining(np.linalg.multi_dot), traced=_joining(fnp.linalg.multi_dot)
)


def _norm(x: Any, ord: Any, axis: Any, keepdims: bool, nan_to_num: bool) -> Any:
    return np.linalg.norm(x if nan_to_num else no_slope_at_zero(x, x), ord, axis, keepdims)


class _Norm(Function):
    """The length of vectors, ``sum(|x|^ord) ^ (1 / ord)``; with a slope of 0 at the origin."""

    def __call__(
        self,
        x: Any,
        ord: Any = None,
        axis: Any = None,
        keepdims: bool = False,
        *,
        nan_to_num: bool = True,
        constant: bool | None = None,
    ) -> Any:
        ndim = array_of(x).ndim
        axes = len(axis) if isinstance(axis, tuple | list) else ndim if axis is None else 1
        if ord is not None and axes > 1:
            raise NotImplementedError(
                "norm: norms of matrices with ord= are not there; need one axis"
            )
        if ord is not None and ord == 0:
            raise NotImplementedError(
                "norm: the number of elements that are not 0 has no derivative"
            )
        axis = tuple(axis) if isinstance(axis, list) else axis
        return apply(self, (x,), (ord, axis, keepdims, nan_to_num), constant=constant)


norm = _Norm("norm", _norm, overrides=[np.linalg.norm])
