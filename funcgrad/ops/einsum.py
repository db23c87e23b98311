"""einsum: a sum of products written with one letter per axis, lowered to pairwise `dot_general`.

NOTE [Plans] What is to be done depends on the subscripts and the shapes only, so it is worked out
once per combination and remembered: parse, name the axes an ellipsis stands for, find an order of
pairs (NumPy's own search, on arrays that have a shape and no memory), and spell every step out in
axis numbers. Running a plan is a loop over primitives, so einsum needs no rule of its own.

Axes have integers for names while a plan is made: the letters' code points, or the integers of the
form ``einsum(x, [0, 1], ...)``, and -1, -2, ... for the axes of an ellipsis, counted from the end.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ShapeError, where
from . import structural
from .contract import as_array, dot_general
from .structural import reshape, transpose

Labels = tuple[int, ...]
_DOTS = None  # stands for the ellipsis among labels until its axes are known


class Single(NamedTuple):
    """What is done to one operand before it is paired."""

    diagonals: tuple[tuple[int, int], ...]  # (axis that stays, axis that is merged into it)
    dropped: tuple[int, ...]  # axes of length 1 that broadcast against longer ones
    summed: tuple[int, ...]


class Step(NamedTuple):
    """Operands `i` and `j`, prepared, are contracted; the result becomes the last operand."""

    i: int
    j: int
    prepare_i: Single | None
    prepare_j: Single | None
    contracting: tuple[tuple[int, ...], tuple[int, ...]]
    batch: tuple[tuple[int, ...], tuple[int, ...]]


class Plan(NamedTuple):
    steps: tuple[Step, ...]
    last: Single | None
    permutation: tuple[int, ...] | None


def einsum(*operands: Any, optimize: Any = "greedy") -> Any:
    """Sums of products by subscripts: ``einsum("ij,jk->ik", a, b)`` is ``a @ b``.

    Takes what NumPy's takes: implicit output, ellipses, repeated letters (diagonals), axes of
    length 1 that broadcast, and ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. `optimize` is "greedy",
    "optimal", a path as `numpy.einsum_path` gives it, True for "greedy", or False for from left to
    right. Every pair runs as one matmul, and so does every pair of the gradient.

    Shapes: as subscripted.   Dtypes: numbers; booleans as and/or.
    Raises: ShapeError: the subscripts are malformed or do not fit the shapes.
    Source: NumPy reference, ``numpy.einsum`` and ``numpy.einsum_path``.

    >>> a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    >>> einsum("ij,jk->ik", a, b).tolist()
    [[3.0, 3.0], [12.0, 12.0]]
    >>> float(einsum("ii", np.eye(3)))
    3.0
    """
    spec, arrays = _separate(operands)
    shapes = tuple(x.shape for x in arrays)
    if isinstance(optimize, list):
        optimize = tuple(optimize)
    plan = _plan(spec, shapes, optimize)
    for step in plan.steps:
        y, x = arrays.pop(max(step.i, step.j)), arrays.pop(min(step.i, step.j))
        x, y = (x, y) if step.i < step.j else (y, x)
        x, y = _prepared(x, step.prepare_i), _prepared(y, step.prepare_j)
        arrays.append(dot_general(x, y, contracting=step.contracting, batch=step.batch))
    out = _prepared(arrays[0], plan.last)
    return out if plan.permutation is None else transpose(out, axes=plan.permutation)


def _separate(operands: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The subscripts, hashable, and the operands, from either form of call."""
    if not operands:
        raise ShapeError(f"einsum: no operands{where()}")
    if isinstance(operands[0], str):
        return operands[0], [as_array(x) for x in operands[1:]]
    pairs = len(operands) // 2
    lists = [tuple(operands[2 * i + 1]) for i in range(pairs)]
    output = tuple(operands[-1]) if len(operands) % 2 else None
    return (tuple(lists), output), [as_array(operands[2 * i]) for i in range(pairs)]


def _prepared(x: Any, single: Single | None) -> Any:
    if single is None:
        return x
    for kept, merged in single.diagonals:
        x = diagonal_onto(x, kept, merged)
    if single.dropped:
        x = reshape(x, shape=tuple(n for i, n in enumerate(x.shape) if i not in single.dropped))
    if single.summed:
        dtype = x.dtype
        x = structural.sum(x, axis=single.summed)
        if x.dtype != dtype:  # NumPy's sum widens small integers and booleans, its einsum does not
            x = x.astype(dtype)
    return x


def diagonal_onto(x: Any, kept: int, merged: int) -> Any:
    """The part of `x` where the indices along both axes are equal; `merged` > `kept` disappears."""
    x = structural.diagonal(x, offset=0, axis1=kept, axis2=merged)  # its axis comes last
    last = x.ndim - 1
    return transpose(x, axes=(*range(kept), last, *range(kept, last)))


# ---------------------------------------------------------------- parsing


def _error(message: str) -> ShapeError:
    return ShapeError(f"einsum: {message}{where()}")


def _parse(text: str) -> tuple[tuple[Any, ...], Any]:
    """Labels per operand and of the output (None: implicit) of a subscripts string."""
    inputs, arrow, output = text.replace(" ", "").partition("->")
    terms = tuple(_term(t, text) for t in inputs.split(","))
    return terms, _term(output, text) if arrow else None


def _term(term: str, text: str) -> tuple[Any, ...]:
    before, dots, after = term.partition("...")
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise _error(
                f"{letter!r} in the subscripts {text!r}: need letters, '...', ',' and '->'"
            )
    middle = (_DOTS,) if dots else ()
    return (*map(ord, before), *middle, *map(ord, after))


def _named(name: int) -> str:
    return chr(name) if name >= 65 else "..." if name < 0 else str(name)


def _labels(spec: Any, shapes: Sequence[tuple[int, ...]]) -> tuple[list[Labels], Labels]:
    """The name of every axis of every operand and of the output."""
    terms, output = _parse(spec) if isinstance(spec, str) else spec
    if len(terms) != len(shapes):
        raise _error(f"subscripts for {len(terms)} operands, but {len(shapes)} were given")
    labels = [
        _spread(tuple(_DOTS if k is Ellipsis else k for k in term), len(shape), i)
        for i, (term, shape) in enumerate(zip(terms, shapes, strict=True))
    ]
    found = [k for names in labels for k in names]
    dots = tuple(range(min((k for k in found if k < 0), default=0), 0))
    if output is None:
        once = sorted(k for k in set(found) if k >= 0 and found.count(k) == 1)
        return labels, (*dots, *once)
    output = tuple(_DOTS if k is Ellipsis else k for k in output)
    names = tuple(j for k in output for j in (dots if k is _DOTS else (k,)))
    for k in names:
        if k not in found:
            raise _error(f"output subscript {_named(k)!r} is in no operand")
        if names.count(k) > 1:
            raise _error(f"output subscript {_named(k)!r} is there more than once")
    return labels, names


def _spread(term: tuple[Any, ...], ndim: int, operand: int) -> Labels:
    """The term with the ellipsis replaced by the names of the axes it stands for."""
    extra = ndim - sum(k is not _DOTS for k in term)
    if extra < 0 or (extra and _DOTS not in term):
        names = "".join("..." if k is _DOTS else _named(k) for k in term)
        raise _error(f"operand {operand} has {ndim} axes, its subscripts are {names!r}")
    return tuple(j for k in term for j in (range(-extra, 0) if k is _DOTS else (k,)))


# ---------------------------------------------------------------- planning


@functools.lru_cache(maxsize=1024)
def _plan(spec: Any, shapes: tuple[tuple[int, ...], ...], optimize: Any) -> Plan:
    """NOTE [Plans]."""
    labels, output = _labels(spec, shapes)
    sizes = _sizes(labels, shapes)
    live = list(labels)
    lengths = list(shapes)
    steps = []
    for i, j in _pairs(labels, output, sizes, shapes, optimize):
        elsewhere = set(output).union(*(live[k] for k in range(len(live)) if k not in (i, j)))
        prepare_i, x = _single(live[i], lengths[i], sizes, elsewhere | set(live[j]))
        prepare_j, y = _single(live[j], lengths[j], sizes, elsewhere | set(x))
        shared = [k for k in x if k in y]
        batch = [k for k in shared if k in elsewhere]
        contracted = [k for k in shared if k not in elsewhere]
        steps.append(
            Step(i, j, prepare_i, prepare_j, _places(contracted, x, y), _places(batch, x, y))
        )
        names = (*batch, *(k for k in (*x, *y) if k not in shared))
        for k in sorted((i, j), reverse=True):
            del live[k], lengths[k]
        live.append(names)
        lengths.append(tuple(sizes[k] for k in names))
    last, names = _single(live[0], lengths[0], sizes, set(output))
    order = tuple(names.index(k) for k in output)
    return Plan(tuple(steps), last, None if order == tuple(range(len(order))) else order)


def _sizes(labels: Sequence[Labels], shapes: Sequence[tuple[int, ...]]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for operand, (names, shape) in enumerate(zip(labels, shapes, strict=True)):
        for k, n in zip(names, shape, strict=True):
            old = sizes.setdefault(k, n)
            if old == 1:
                sizes[k] = n
            elif n not in (old, 1):
                raise _error(f"subscript {_named(k)!r} is {n} long in operand {operand}, not {old}")
    return sizes


def _single(
    labels: Labels, shape: tuple[int, ...], sizes: dict[int, int], needed: set[int]
) -> tuple[Single | None, Labels]:
    """Repeated labels to diagonals, then axes dropped and summed until the needed ones remain."""
    names, lengths = list(labels), list(shape)
    diagonals = []
    kept = 0
    while kept < len(names):
        k = names[kept]
        while k in names[kept + 1 :]:
            merged = names.index(k, kept + 1)
            if lengths[kept] != lengths[merged]:
                raise _error(
                    f"subscript {_named(k)!r} is {lengths[kept]} and {lengths[merged]} long in one "
                    f"operand"
                )
            diagonals.append((kept, merged))
            del names[merged], lengths[merged]
        kept += 1
    dropped = tuple(i for i, k in enumerate(names) if lengths[i] == 1 and sizes[k] != 1)
    names = [k for i, k in enumerate(names) if i not in dropped]
    summed = tuple(i for i, k in enumerate(names) if k not in needed)
    names = [k for k in names if k in needed]
    single = Single(tuple(diagonals), dropped, summed)
    return (single if any(single) else None), tuple(names)


def _places(shared: Sequence[int], x: Labels, y: Labels) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(x.index(k) for k in shared), tuple(y.index(k) for k in shared)


def _pairs(
    labels: Sequence[Labels],
    output: Labels,
    sizes: dict[int, int],
    shapes: Sequence[tuple[int, ...]],
    optimize: Any,
) -> list[tuple[int, int]]:
    """Which two operands are contracted next, until one is left."""
    count = len(labels)
    # NumPy's search has letters for 52 axes; beyond, and on request, the order is left to right.
    if count <= 2 or optimize is False or len(sizes) > 52:
        return [(0, count - 1 - k) if k else (0, 1) for k in range(count - 1)]
    letters = {k: i for i, k in enumerate(sizes)}
    interleaved: list[Any] = []
    for names, shape in zip(labels, shapes, strict=True):
        interleaved += [np.broadcast_to(np.empty(()), shape), [letters[k] for k in names]]
    if isinstance(optimize, tuple) and optimize[0] == "einsum_path":
        optimize = list(optimize)
    path, _ = np.einsum_path(*interleaved, [letters[k] for k in output], optimize=optimize)
    pairs = []
    for group in path[1:]:
        # A group of three or more is contracted two at a time; results go to the end of the list.
        rest = sorted(group)
        while len(rest) > 1:
            i, j = rest[0], rest[1]
            pairs.append((i, j))
            count -= 1
            rest = sorted([count - 1, *(k - 2 for k in rest[2:])])
    return pairs
