"""Functions of all examples of a batch whose axis has a name: ``vmap(f, axis_name="i")``.

Everything is made of one primitive, all examples' values as rows, which belong to every example alike.
So derivatives inside of the batch are those of the sum of all examples' results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import tree
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of
from ..transforms.collectives import all_examples, enclosing, own_of_sum
from ..transforms.vmap import BatchTracer
from ._arguments import axis_in


def _names(axis_name: Any) -> tuple[Any, ...]:
    return tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)


def _gathered(name: str, x: Any, axis_name: Any, groups: Any = None) -> Any:
    """All examples' `x` as rows, or those of this example's group."""
    size = enclosing(name, axis_name).size
    rows = all_examples(array_of(x), axis_name=axis_name, size=size)
    if groups is None:
        return rows
    members = _members(name, groups, size)
    return fnp.take(rows, fnp.take(members, axis_index(axis_name), axis=0), axis=0)


def _members(name: str, groups: Any, size: int) -> Any:
    """For each example the members of its group.

    Raises: ArgumentError: groups are of different sizes, or not every example is in one of them.
    """
    found = [list(group) for group in groups]
    if len({len(group) for group in found}) != 1 or sorted(i for g in found for i in g) != [
        *range(size)
    ]:
        raise ArgumentError(
            f"lax.{name}: axis_index_groups={found} for {size} examples; need every number once, in "
            f"groups of one size{where()}"
        )
    members = np.empty((size, len(found[0])), np.intp)
    for group in found:
        members[group] = group
    return members


def _reduced(name: str, x: Any, axis_name: Any, groups: Any, reduce: Callable[[Any], Any]) -> Any:
    def reduced(leaf: Any) -> Any:
        for axis in _names(axis_name):
            leaf = reduce(_gathered(name, leaf, axis, groups))
        return leaf

    return tree.map(reduced, x)


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """``sum_i x_i`` over all examples i of the named batch, for each leaf of a tree; of 1 their number.

    `axis_name` may be a tuple of names. `axis_index_groups`, lists of examples' numbers, are batches of
    their own.

    Shapes: those of `x`.   Dtypes: numbers.
    Derivative: linear.
    Raises: ArgumentError: no enclosing `vmap` has the name, or groups are not of one size, or leave
    some example out.
    Source: JAX reference, ``jax.lax.psum``.

    >>> import funcgrad
    >>> f = lambda x: x / psum(x, "i")
    >>> funcgrad.vmap(f, axis_name="i")(np.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    if isinstance(x, int | float):  # a number is one for Python, too
        sizes = [enclosing("psum", axis).size for axis in _names(axis_name)]
        if axis_index_groups is not None:
            sizes = [_members("psum", axis_index_groups, n).shape[1] for n in sizes]
        return x * math.prod(sizes)
    return _reduced(
        "psum",
        x,
        axis_name,
        axis_index_groups,
        lambda rows: fnp.sum(rows, axis=0, dtype=rows.dtype),
    )


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """``mean_i x_i`` over all examples of the named batch, for each leaf of a tree.

    Shapes: those of `x`.   Dtypes: numbers; integers give float64.
    Derivative: linear.
    Raises: as `psum`, whose groups it has.
    Source: JAX reference, ``jax.lax.pmean``.

    >>> import funcgrad
    >>> funcgrad.vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0])).tolist()
    [-1.0, 1.0]
    """
    return _reduced("pmean", x, axis_name, axis_index_groups, lambda rows: fnp.mean(rows, axis=0))


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """``max_i x_i`` over all examples of the named batch, for each leaf of a tree.

    Shapes: those of `x`.   Dtypes: real.
    Derivative: that of the largest; ties share, as in `max`.
    Raises: as `psum`, whose groups it has.
    Source: JAX reference, ``jax.lax.pmax``.

    >>> import funcgrad
    >>> funcgrad.vmap(lambda x: x / pmax(x, "i"), axis_name="i")(np.array([1.0, 4.0])).tolist()
    [0.25, 1.0]
    """
    return _reduced("pmax", x, axis_name, axis_index_groups, lambda rows: fnp.max(rows, axis=0))


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """``min_i x_i`` over all examples of the named batch, for each leaf of a tree.

    Shapes: those of `x`.   Dtypes: real.
    Derivative: that of the least; ties share, as in `min`.
    Raises: as `psum`, whose groups it has.
    Source: JAX reference, ``jax.lax.pmin``.

    >>> import funcgrad
    >>> funcgrad.vmap(lambda x: x - pmin(x, "i"), axis_name="i")(np.array([1.0, 4.0])).tolist()
    [0.0, 3.0]
    """
    return _reduced("pmin", x, axis_name, axis_index_groups, lambda rows: fnp.min(rows, axis=0))


def all_gather(
    x: Any, axis_name: Any, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False
) -> Any:
    """All examples' `x` along a new axis, or one after another along `axis` if `tiled`.

    Shapes: ``x: (*a) -> (n, *a)``, the new axis at `axis`; ``(m, *a) -> (n m, *a)`` if `tiled`.
    Dtypes: all.
    Derivative: linear.
    Raises: as `psum`, whose groups it has.
    Source: JAX reference, ``jax.lax.all_gather``.

    >>> import funcgrad
    >>> f = lambda x: fnp.cumsum(all_gather(x, "i"))
    >>> funcgrad.vmap(f, axis_name="i")(np.array([1.0, 3.0])).tolist()
    [[1.0, 4.0], [1.0, 4.0]]
    """

    def gathered(leaf: Any) -> Any:
        rows = _gathered("all_gather", leaf, axis_name, axis_index_groups)
        rows = fnp.moveaxis(rows, 0, axis)
        return fnp.concatenate(fnp.unstack(rows, axis=axis), axis=axis) if tiled else rows

    return tree.map(gathered, x)


def all_to_all(
    x: Any, axis_name: Any, split_axis: int, concat_axis: int, *, tiled: bool = False
) -> Any:
    """Example i gets part i of every example's `x`, cut along one axis and put together along another.

    Parts are planes, and put together along a new axis; if `tiled`, slices of the same length.

    Shapes: `split_axis` of n entries for n examples moves to `concat_axis`; if `tiled`, the one is
    divided by n and the other multiplied.   Dtypes: numbers.
    Derivative: linear.
    Raises: ArgumentError: no enclosing `vmap` has the name. ShapeError: the axis has not n parts.
    Source: JAX reference, ``jax.lax.all_to_all``.

    >>> import funcgrad
    >>> f = lambda row: all_to_all(row, "i", 0, 0)
    >>> funcgrad.vmap(f, axis_name="i")(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    own = axis_index(axis_name)

    def exchanged(leaf: Any) -> Any:
        leaf = array_of(leaf)
        parts = _parts(
            "all_to_all", leaf, axis_name, axis_in("all_to_all", split_axis, leaf.ndim), tiled
        )
        received = fnp.take(_gathered("all_to_all", parts, axis_name), own, axis=1)
        to = axis_in("all_to_all", concat_axis, received.ndim - tiled)
        if tiled:  # the slices' own axis back to its place, then one after another
            received = fnp.moveaxis(received, 1, split_axis % leaf.ndim + 1)
            return fnp.concatenate(fnp.unstack(received), axis=to)
        return fnp.moveaxis(received, 0, to)

    return tree.map(exchanged, x)


def pswapaxes(x: Any, axis_name: Any, axis: int) -> Any:
    """The axis of examples and another one change places: `all_to_all` from and to `axis`.

    Shapes: `axis` has n entries for n examples.   Dtypes: numbers.
    Derivative: linear.
    Raises: as `all_to_all`.
    Source: JAX reference, ``jax.lax.pswapaxes``.

    >>> import funcgrad
    >>> f = lambda row: pswapaxes(row, "i", 0)
    >>> funcgrad.vmap(f, axis_name="i")(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    return all_to_all(x, axis_name, axis, axis)


def psum_scatter(x: Any, axis_name: Any, *, scatter_dimension: int = 0, tiled: bool = False) -> Any:
    """Example i gets part i, along an axis, of the sum of all examples' `x`.

    Shapes: an axis of n entries for n examples is gone; if `tiled`, it is divided by n.
    Dtypes: numbers.
    Derivative: linear.
    Raises: ArgumentError: no enclosing `vmap` has the name. ShapeError: the axis has not n parts.
    Source: JAX reference, ``jax.lax.psum_scatter``.

    >>> import funcgrad
    >>> f = lambda row: psum_scatter(row, "i")
    >>> funcgrad.vmap(f, axis_name="i")(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [4.0, 6.0]
    """
    size = enclosing("psum_scatter", axis_name).size

    def scattered(leaf: Any) -> Any:
        leaf = array_of(leaf)
        axis = axis_in("psum_scatter", scatter_dimension, leaf.ndim)
        parts = _parts("psum_scatter", leaf, axis_name, axis, tiled)
        own = own_of_sum(parts, axis_name=axis_name, size=size)
        return fnp.moveaxis(own, 0, axis) if tiled else own

    return tree.map(scattered, x)


def _parts(name: str, x: Any, axis_name: Any, axis: int, tiled: bool) -> Any:
    """One row for each example along an axis, in front; slices of it, and that axis second, if tiled.

    Raises: ShapeError: the axis has another number of entries.
    """
    size, length = enclosing(name, axis_name).size, x.shape[axis]
    if length % size if tiled else length != size:
        raise ShapeError(
            f"lax.{name}: axis {axis} of {aval_of(x)} for {size} examples; need "
            f"{f'a multiple of {size}' if tiled else size} entries{where()}"
        )
    x = fnp.moveaxis(x, axis, 0)
    return fnp.reshape(x, (size, length // size, *x.shape[1:])) if tiled else x


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Example j gets the `x` of example i for each pair ``(i, j)`` of `perm`, and 0 if it is in none.

    Shapes: those of `x`.   Dtypes: numbers.
    Derivative: linear.
    Raises: ArgumentError: no enclosing `vmap` has the name; two pairs have the same j, or the same i.
    Source: JAX reference, ``jax.lax.ppermute``.

    >>> import funcgrad
    >>> f = lambda x: ppermute(x, "i", [(0, 1), (1, 2)])
    >>> funcgrad.vmap(f, axis_name="i")(np.array([1.0, 3.0, 5.0])).tolist()
    [0.0, 1.0, 3.0]
    """
    sources, targets = ([pair[k] for pair in perm] for k in (0, 1))
    size = enclosing("ppermute", axis_name).size
    for places in (sources, targets):
        if len(set(places)) < len(places) or not all(0 <= i < size for i in places):
            raise ArgumentError(
                f"lax.ppermute: perm={list(perm)} for {size} examples; need every number once at most, "
                f"on either side{where()}"
            )
    source, is_given = np.zeros(size, np.intp), np.zeros(size, bool)
    source[targets], is_given[targets] = sources, True
    own = axis_index(axis_name)
    place, given = fnp.take(source, own), fnp.take(is_given, own)

    def permuted(leaf: Any) -> Any:
        rows = _gathered("ppermute", leaf, axis_name)
        return fnp.where(given, fnp.take(rows, place, axis=0), fnp.zeros((), rows.dtype))

    return tree.map(permuted, x)


def axis_index(axis_name: Any) -> Any:
    """The number of this example in the named batch.

    Shapes: ``-> ()``.   Dtypes: int64.
    Derivative: none, it counts.
    Raises: ArgumentError: no enclosing `vmap` has the name.
    Source: JAX reference, ``jax.lax.axis_index``.

    >>> import funcgrad
    >>> funcgrad.vmap(lambda x: x * axis_index("i"), axis_name="i")(np.ones(3)).tolist()
    [0.0, 1.0, 2.0]
    """
    trace = enclosing("axis_index", axis_name)
    return BatchTracer(trace, np.arange(trace.size), 0)


def axis_size(axis_name: Any) -> int:
    """How many examples the named batch has.

    Raises: ArgumentError: no enclosing `vmap` has the name.
    Source: JAX reference, ``jax.lax.axis_size``.

    >>> import funcgrad
    >>> funcgrad.vmap(lambda x: x / axis_size("i"), axis_name="i")(np.ones(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return enclosing("axis_size", axis_name).size
