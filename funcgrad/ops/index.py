"""Indexing: reading and writing parts of an array; the language of indices is in `index_layout`."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import Linear, batch_first, conform, conform_tangent, linear, view, zeros_like
from ..choose import choose
from ..core import Aval, Primitive, aval_of
from ..errors import MutationError, ShapeError, where
from ..half import in_single
from ..views import Link
from .from_scipy import scipy_if_there
from .index_layout import (
    FANCY,
    FULL,
    ArrayIndex,
    Index,
    Iota,
    Shape,
    Slice,
    assign,
    basic_shape,
    batched_index,
    blocks_first,
    example_shapes,
    filled,
    last_writes,
    layout,
    of_rows,
    on_host,
    positions,
    rolled,
    rows,
)
from .strided import require_apart, strided
from .structural import batch_all_first


@functools.lru_cache(4096)
def as_index(index: Index) -> Index:
    """The index as NumPy takes it; the Ellipsis makes a 0-d result a view, not a scalar."""
    return (*(slice(*i) if i.__class__ is Slice else i for i in index), ...)


# ---------------------------------------------------------------- getitem and embed


@view(
    lambda ct, _x, *, index: embed(ct, shape=_x.shape, index=index),
    aval=lambda x, *, index: Aval(basic_shape(x.shape, index), x.dtype),
    lift=lambda size, ndim, p: {"index": (FULL, *p["index"])},
)
def getitem(xp, x, /, *, index):
    """``x[index]`` for a basic index: integers, slices, None.

    Shapes: as NumPy's basic indexing.   Dtypes: all.
    Derivative: linear; its transpose is `embed`.
    Raises: IndexError: an integer is out of bounds.
    Source: NumPy reference, "Basic indexing".

    >>> getitem(np.arange(4.0), index=(Slice(1, 3, 1),)).tolist()
    [1.0, 2.0]
    """
    return x[as_index(index)]


def _batch_embed(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    x = batch_first(xs[0], bdims[0])
    return embed(x, shape=(size, *params["shape"]), index=(FULL, *params["index"])), 0


@linear(
    lambda ct, _x, *, shape, index: getitem(ct, index=index),
    aval=lambda x, *, shape, index: Aval(shape, x.dtype),
    batch=_batch_embed,
)
def embed(xp, x, /, *, shape, index):
    """Zeros of the shape `shape` with `x` at the basic index `index`: the transpose of `getitem`.

    Shapes: ``x: zeros(shape)[index].shape -> shape``.   Dtypes: all.
    Derivative: linear; its transpose is `getitem`.
    Raises: ValueError: `x` has not the shape of the indexed part.
    Source: the adjoint of selection.

    >>> embed(np.array([1.0, 2.0]), shape=(4,), index=(Slice(1, 3, 1),)).tolist()
    [0.0, 1.0, 2.0, 0.0]
    """
    out = xp.zeros(shape, dtype=x.dtype)
    out[as_index(index)] = x
    return out


# ---------------------------------------------------------------- view_update


def follow(x: Any, chain: tuple[Any, ...]) -> Any:
    """The view of `x` that a chain of view primitives leads to."""
    for prim, params in chain:
        x = prim(x, **dict(params))
    return x


def part_of_cotangent(ct: Any, chain: tuple[Any, ...]) -> Any:
    """The transpose of writing through `chain`: the view, where parts of complex numbers are signed.

    A step that writes `y` as ``i y`` multiplies the cotangent by i too: what goes from complex to
    real numbers, or back, is conjugated on the complex side.
    """
    for prim, params in chain:
        out = prim(ct, **dict(params))
        if out.dtype != ct.dtype:
            out = out.conj() if out.dtype.kind == "c" else prim(ct.conj(), **dict(params))
        ct = out
    return ct


def _lifted(chain: tuple[Any, ...], size: int, aval: Aval) -> tuple[tuple[Any, ...], Aval]:
    """The chain with a batch axis in front of a base of type `aval`, and the type of its end."""
    links = []
    for prim, params in chain:
        given = dict(params)
        lifted = prim.lift(size, aval.ndim, given) if prim.is_view else given
        links.append(Link(prim, tuple(lifted.items())))
        aval = prim.aval(aval, **dict(params))
    return tuple(links), aval


def _batch_view_update(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    base, new = xs
    (full,) = batch_all_first(size, [base], bdims[:1])
    chain, end = _lifted(params["chain"], size, Aval(full.shape[1:], full.dtype))
    if bdims[1] is not None:
        new = batch_first(new, bdims[1], end.ndim)
    return view_update(full, new, chain=chain), 0


def require_fit(name: str, new: Shape, part: Shape) -> None:
    """Require that a value of shape `new` broadcasts to the part of an array that it replaces.

    Raises: ShapeError: it does not.
    """
    lead = len(part) - len(new)
    if lead < 0 or any(m not in (1, n) for m, n in zip(new, part[lead:], strict=True)):
        raise ShapeError(
            f"{name}: a value of shape {list(new)} does not broadcast to the part of shape "
            f"{list(part)} that it replaces{where()}"
        )


def _view_update_aval(base: Aval, new: Aval, *, chain: tuple[Any, ...]) -> Aval:
    part = base
    for prim, params in chain:
        if prim is strided:
            require_apart(**dict(params))
        part = prim.aval(part, **dict(params))
    require_fit("view_update", new.shape, part.shape)
    return Aval(base.shape, base.dtype)


@linear(
    lambda ct, _base, _new, *, chain: view_update(ct, 0.0, chain=chain),
    lambda ct, _base, _new, *, chain: part_of_cotangent(ct, chain),
    aval=_view_update_aval,
    batch=_batch_view_update,
)
def view_update(xp, base, new, /, *, chain):
    """`base` with the part that the view `chain` shows replaced by `new`.

    Shapes: ``base: (*a)``, ``new`` broadcasts to the view ``-> (*a)``.   Dtypes: that of `base`.
    Derivative: linear in both; the replaced part of `base` gets no cotangent, `new` gets its view.
    Raises: MutationError: the chain is no view (a reshape that has to copy).
    Source: the adjoint of assignment through a view.

    >>> row = (getitem, (("index", (1,)),))
    >>> view_update(np.zeros((2, 2)), 5.0, chain=(row,)).tolist()
    [[0.0, 0.0], [5.0, 5.0]]
    """
    return write_through(xp, xp.array(base, order="C"), new, chain)


def write_through(xp: Any, out: Any, new: Any, chain: tuple[Any, ...]) -> Any:
    """Write `new` into the part of the array `out` that the view `chain` shows; return `out`."""
    part = out
    for k, (prim, params) in enumerate(chain):
        if prim is strided:
            require_apart(**dict(params))
            _unlock(part)
        shown = prim.impl(xp, part, **dict(params))
        if prim.own_inverse:
            whole = write_through(xp, xp.asarray(shown), new, chain[k + 1 :])
            chain, new = chain[:k], prim.impl(xp, whole, **dict(params))
            break
        part = shown
    if part.size and not xp.may_share_memory(part, out):
        raise MutationError(
            f"a write through {' then '.join(p.name for p, _ in chain)} does not reach the array: "
            f"this reshape has to copy. Write before reshaping, or copy first{where()}"
        )
    _unlock(part)
    part[...] = new
    return out


def _unlock(part: Any) -> None:
    """NumPy's diagonal of what is ours is read-only."""
    if not getattr(part.flags, "writeable", True):
        part.flags.writeable = True


# ---------------------------------------------------------------- gather and scatter_add


class Indexed(Linear):
    """Linear in its first operands, one transpose each; index arrays follow, in any number."""

    def rule(self, i: int) -> Any:
        return self.rules[i] if i < len(self.rules) else None

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        count = len(self.rules)
        operands = [
            zeros_like(x) if t is None else t for x, t in zip(xs[:count], ts[:count], strict=True)
        ]
        return conform_tangent(self(*operands, *xs[count:], **params), ans)

    def cotangents(self, ct, ans, xs, wanted, params):
        count = len(self.rules)
        found = [
            conform(r(ct, *xs, **params), x) if w else None
            for r, x, w in zip(self.rules, xs[:count], wanted[:count], strict=True)
        ]
        return found + [None] * (len(xs) - count)


def indexed(*transposes: Any, **family: Any) -> Any:
    """Declare a linear primitive whose last operands are index arrays."""
    return lambda impl: Indexed(impl, transposes, **family)


def _batch_read(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    x, *arrays = xs
    index = params["index"]
    if bdims[0] is None and prim is gather:
        shapes = example_shapes(arrays, bdims[1:])
        before, block, _ = layout(aval_of(x).shape, index, shapes)
        return gather(x, *blocks_first(arrays, bdims[1:], len(block)), index=index), len(before)
    (x,) = batch_all_first(size, [x], bdims[:1])
    index, arrays, lead, width = batched_index(size, aval_of(x).shape[1:], index, arrays, bdims[1:])
    return rolled(prim(x, *arrays, index=index), width, lead), 0


def _batch_scatter(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    ct, *arrays = xs
    shape = params["shape"]
    (ct,) = batch_all_first(size, [ct], bdims[:1])
    index, arrays, lead, width = batched_index(size, shape, params["index"], arrays, bdims[1:])
    return prim(rolled(ct, lead, width), *arrays, shape=(size, *shape), index=index), 0


def _batch_scatter_set(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    base, new, *arrays = xs
    index = params["index"]
    (base,) = batch_all_first(size, [base], bdims[:1])
    shape = aval_of(base).shape[1:]
    ndim = sum(map(len, layout(shape, index, example_shapes(arrays, bdims[2:]))))
    index, arrays, lead, width = batched_index(size, shape, index, arrays, bdims[2:])
    if bdims[1] is not None:
        new = rolled(batch_first(new, bdims[1], ndim), lead, width)
    elif lead and width and aval_of(new).ndim:
        missing = 1 + ndim - aval_of(new).ndim
        new = rolled(new.reshape((1,) * missing + new.shape), lead, width)
    return scatter_set(base, new, *arrays, index=index), 0


def _gather_aval(x: Aval, *indices: Aval, index: Index) -> Aval:
    before, block, after = layout(x.shape, index, [i.shape for i in indices])
    return Aval(before + block + after, x.dtype)


def _scatter_aval(ct: Aval, *indices: Aval, shape: Shape, index: Index) -> Aval:
    before, block, after = layout(shape, index, [i.shape for i in indices])
    require_fit("scatter", ct.shape, before + block + after)
    return Aval(shape, ct.dtype)


@indexed(
    lambda ct, _x, *indices, index: scatter_add(ct, *indices, shape=_x.shape, index=index),
    aval=_gather_aval,
    batch=_batch_read,
)
def gather(xp, x, /, *indices, index):
    """``x[index]`` with the integer arrays `indices` in the places that `index` gives them.

    Shapes: as NumPy's advanced indexing, see NOTE [Layout].   Dtypes: all; indices are integers.
    Derivative: linear in `x`; its transpose is `scatter_add`.
    Raises: IndexError: an index is out of bounds, or the index arrays do not broadcast.
    Source: NumPy reference, "Advanced indexing".

    >>> gather(np.arange(4.0), np.array([3, 0, 0]), index=(ArrayIndex(0),)).tolist()
    [3.0, 0.0, 0.0]
    """
    if len(indices) == 1 and index.count(FULL) == len(index) - 1 and on_host(xp):
        return x.take(indices[0], axis=next(k for k, i in enumerate(index) if i != FULL))
    if on_host(xp) and x.size and FANCY.issuperset([i.__class__ for i in index]):
        index, arrays = of_rows(x.shape, index, [xp.asarray(i) for i in indices])
        before, block, after = layout(x.shape, index, [i.shape for i in arrays])
        places, width = rows(x.shape, index, arrays)
        return x.reshape(-1, width).take(places, axis=0).reshape(before + block + after)
    return x[filled(xp, x.shape, index, indices)]


@indexed(
    lambda ct, _ct, *indices, shape, index: gather(ct, *indices, index=index),
    aval=_scatter_aval,
    batch=_batch_scatter,
)
@in_single
def scatter_add(xp, ct, /, *indices, shape, index):
    """Zeros of the shape `shape` with `ct` added at the index: the transpose of `gather`.

    Shapes: ``ct: zeros(shape)[index].shape -> shape``.   Dtypes: all; indices are integers.
    Derivative: linear in `ct`; its transpose is `gather`.
    Raises: IndexError: an index is out of bounds.
    Source: NumPy reference, ``numpy.ufunc.at``.

    >>> at = np.array([1, 1, 0])
    >>> scatter_add(np.array([1.0, 2.0, 4.0]), at, shape=(3,), index=(ArrayIndex(0),)).tolist()
    [4.0, 3.0, 0.0]
    """
    out = xp.zeros(shape, dtype=ct.dtype)
    if len(shape) == len(index) == len(indices) == 1 and on_host(xp):
        xp.add.at(out, xp.asarray(indices[0]).ravel(), ct.ravel())
        return out
    if on_host(xp) and ct.size >= MANY:
        short, arrays = of_rows(shape, index, [xp.asarray(i) for i in indices])
        if short[-1] == FULL:
            places, width = rows(shape, short, arrays)
            sums = sums_of_rows(ct.reshape(-1, width), places, math.prod(shape) // width)
            if sums is not None:
                return sums.reshape(shape)
    # Along one axis `add.at` is about five times as fast as along several.
    places = positions(xp, shape, index, indices)
    xp.add.at(out.reshape(-1), places.ravel(), ct.ravel())
    return out


MANY = 2**13  # elements from which a product is worth its preparation


def sums_of_rows(x: Any, places: Any, count: int) -> Any:
    """`count` rows, sums of those of `x` that go to the same place; None without SciPy.

    A product with a sparse matrix of ones, five to eight times as fast as `add.at`.
    """
    matrix = scipy_if_there("", "csc_array", "sparse")
    if matrix is None or x.dtype.char not in "fdFD":
        return None
    ones, ends = np.ones(len(places), x.dtype), np.arange(len(places) + 1)
    return matrix((ones, places, ends), shape=(count, len(places))) @ x


# ---------------------------------------------------------------- scatter_set and its transposes


@indexed(
    lambda ct, _x, *indices, index: scatter_last(ct, *indices, shape=_x.shape, index=index),
    aval=_gather_aval,
    batch=_batch_read,
)
def gather_last(xp, x, /, *indices, index):
    """``x[index]``, but 0 wherever a later element of the index names the same place.

    Shapes: as `gather`.   Dtypes: all; indices are integers.
    Derivative: linear in `x`; its transpose is `scatter_last`.
    Raises: IndexError: an index is out of bounds, or the index arrays do not broadcast.
    Source: the adjoint of `scatter_last`; NOTE [Last write].

    >>> gather_last(np.array([5.0, 6.0]), np.array([0, 0, 1]), index=(ArrayIndex(0),)).tolist()
    [0.0, 5.0, 6.0]
    """
    if on_host(xp) and x.size and FANCY.issuperset([i.__class__ for i in index]):
        return _last_of_rows(x, index, [xp.asarray(i) for i in indices])
    out = xp.asarray(x[filled(xp, x.shape, index, indices)])
    before, _, _ = layout(x.shape, index, [i.shape for i in indices])
    won = last_writes(xp, x.shape, index, indices)
    if won.ndim:
        out[(*(slice(None) for _ in before), ~won)] = 0
    return out


def _last_of_rows(x: Any, index: Index, indices: Sequence[Any]) -> Any:
    """`gather_last` with an array for every axis, on the host."""
    index, indices = of_rows(x.shape, index, indices)
    before, block, after = layout(x.shape, index, [i.shape for i in indices])
    places, width = rows(x.shape, index, indices)
    out = x.reshape(-1, width).take(places, axis=0)
    turn = np.arange(len(places), dtype=np.int32 if len(places) < 2**31 else np.intp)
    last = np.empty(x.size // max(width, 1), turn.dtype)
    last[places] = turn  # in order
    won = last[places] == turn
    if not won.all():
        out = choose(won[:, None], out, 0)
    return out.reshape(before + block + after)


@indexed(
    lambda ct, _ct, *indices, shape, index: gather_last(ct, *indices, index=index),
    aval=_scatter_aval,
    batch=_batch_scatter,
)
def scatter_last(xp, ct, /, *indices, shape, index):
    """Zeros of the shape `shape` with `ct` written at the index; the last write wins.

    Shapes: ``ct: zeros(shape)[index].shape -> shape``.   Dtypes: all; indices are integers.
    Derivative: linear in `ct`; its transpose is `gather_last`.
    Raises: IndexError: an index is out of bounds.
    Source: NumPy reference, "Assigning values to indexed arrays"; NOTE [Last write].

    >>> at = np.array([1, 1, 0])
    >>> scatter_last(np.array([1.0, 2.0, 4.0]), at, shape=(3,), index=(ArrayIndex(0),)).tolist()
    [4.0, 2.0, 0.0]
    """
    out = xp.zeros(shape, dtype=ct.dtype)
    assign(xp, out, ct, index, indices)
    return out


def _scatter_set_aval(base: Aval, new: Aval, *indices: Aval, index: Index) -> Aval:
    before, block, after = layout(base.shape, index, [i.shape for i in indices])
    require_fit("scatter_set", new.shape, before + block + after)
    return Aval(base.shape, base.dtype)


@indexed(
    lambda ct, _base, _new, *indices, index: scatter_set(ct, 0.0, *indices, index=index),
    lambda ct, _base, _new, *indices, index: gather_last(ct, *indices, index=index),
    aval=_scatter_set_aval,
    batch=_batch_scatter_set,
)
def scatter_set(xp, base, new, /, *indices, index):
    """`base` with ``base[index] = new``: the last write to an element wins.

    Shapes: ``base: (*a)``, ``new`` broadcasts to ``base[index] -> (*a)``.   Dtypes: that of `base`.
    Derivative: linear in both; what is replaced gets no cotangent, and neither does a value that a
    later one overwrites.
    Raises: IndexError: an index is out of bounds.
    Source: NumPy reference, "Assigning values to indexed arrays"; NOTE [Last write].

    >>> at = np.array([0, 0])
    >>> scatter_set(np.zeros(2), np.array([1.0, 2.0]), at, index=(ArrayIndex(0),)).tolist()
    [2.0, 0.0]
    """
    out = xp.array(base, order="C")
    assign(xp, out, new, index, indices)
    return out


# ---------------------------------------------------------------- compositions


def take(x: Any, indices: Any, /, *, axis: int, bounds: str = "checked") -> Any:
    """``x[..., indices, ...]`` along one axis: ``(*a, n, *b), (*i) -> (*a, *i, *b)``.

    `bounds` as in `ArrayIndex`.

    >>> take(np.arange(6.0).reshape(2, 3), np.array([2, 0]), axis=1).tolist()
    [[2.0, 0.0], [5.0, 3.0]]
    """
    rest = aval_of(x).ndim - axis - 1
    return gather(x, indices, index=(FULL,) * axis + (ArrayIndex(0, bounds),) + (FULL,) * rest)


def take_along_axis(x: Any, indices: Any, /, *, axis: int, bounds: str = "checked") -> Any:
    """``y[..., i, ...] = x[..., indices[..., i, ...], ...]``, as ``numpy.take_along_axis``.

    `bounds` as in `ArrayIndex`: "known" for what argsort and argmax give.

    >>> x = np.array([[3.0, 1.0], [2.0, 4.0]])
    >>> take_along_axis(x, np.argsort(x, axis=1), axis=1).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    return gather(x, indices, index=along_axis(aval_of(x).shape, axis, bounds))


def along_axis(shape: Shape, axis: int, bounds: str = "checked") -> Index:
    """The index of `take_along_axis`: every axis but `axis` counts along itself."""
    last = len(shape) - 1
    return tuple(
        ArrayIndex(0, bounds) if i == axis else Iota(n, last - i) for i, n in enumerate(shape)
    )
