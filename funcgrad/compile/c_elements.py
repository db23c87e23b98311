"""Elements by number in C: what `gather` reads, and what `scatter_set`, `scatter_add` and views write.

Layer 4½. An index array is first made one of places along its axis, and checked: where an index is out
of bounds, the program says so when it has run, and NumPy runs it again, which raises. Slices are loops
like others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.index_layout import ArrayIndex, Iota, Slice, layout
from .c_places import Place
from .groups import is_number
from .steps import CAST, INDEX, PUT, TAKE, VIEW, Constant, Step, Value

ELEMENTS = frozenset({"embed", "gather", "scatter_add", "scatter_set", "view_update"})  # primitives
INT64 = np.dtype(np.int64)
# Along an axis of the operand: a start and a step along an axis of the result, or the number of an
# operand that has the places.
Axes = tuple[tuple[int, int, int | None] | int, ...]


def steps_of(step: Step) -> list[Step]:
    """The steps of a call of one of these; none if they cannot be said, or better as moves."""
    name, options = step.function.name, step.options
    if name == "gather":
        return _taken(step, options["index"])
    zero = Constant(step.out.dtype.type(0))
    if name == "embed":
        index = options["index"]
        moves = all(getattr(i, "step", 1) == 1 for i in index)
        return [] if moves else _put(step, zero, step.operands[0], index, ())
    if name == "scatter_add":
        return _put(step, zero, step.operands[0], options["index"], step.operands[1:], adds=True)
    base, new, *arrays = step.operands
    if name == "scatter_set":
        return _put(step, base, new, options["index"], arrays)
    (prim, params), *more = options["chain"]
    return (
        [] if more or prim.name != "getitem" else _put(step, base, new, dict(params)["index"], ())
    )


def _taken(step: Step, index: Sequence[Any]) -> list[Step]:
    x, *arrays = step.operands
    found = _located(index, x.shape, arrays, 1)
    if found is None:
        return []
    steps, places, axes, _ = found
    return [*steps, Step(TAKE, "", [x, *places], step.outs, axes)]


def _put(
    step: Step,
    base: Value,
    new: Value,
    index: Sequence[Any],
    arrays: Sequence[Value],
    *,
    adds: bool = False,
) -> list[Step]:
    found = _located(index, step.out.shape, arrays, 2)
    if found is None:
        return []
    steps, places, axes, shape = found
    return [*steps, Step(PUT, "", [base, new, *places], step.outs, (axes, shape, adds))]


def _located(
    index: Sequence[Any], shape: tuple[int, ...], arrays: Sequence[Value], first: int
) -> tuple[list[Step], list[Value], Axes, tuple[int, ...]] | None:
    """Steps that make places, these, where along each axis they are, and the shape of all.

    `first`: which operand the first of them will be. None if the index has an Ellipsis.
    """
    if any(i is ... for i in index):
        return None
    before, block, after = layout(shape, tuple(index), [v.shape for v in arrays])
    steps: list[Step] = []
    places = [
        _places(array, entry, length, len(after), steps)
        for array, (entry, length) in zip(arrays, _entries(index, shape), strict=True)
    ]
    axes = _axes(shape, index, len(before), len(block), first)
    return steps, places, axes, (*before, *block, *after)


def _entries(index: Sequence[Any], shape: tuple[int, ...]) -> list[tuple[ArrayIndex, int]]:
    """The arrays of an index by their positions, and the lengths of their axes."""
    entries = [i for i in index if i is not None]
    found = [(i, shape[a]) for a, i in enumerate(entries) if isinstance(i, ArrayIndex)]
    return sorted(found, key=lambda pair: pair[0].position)


def _places(array: Value, entry: ArrayIndex, length: int, after: int, steps: list[Step]) -> Value:
    """An index array as places, with the axes behind it that it is the same along."""
    kind = INDEX if entry.bounds != "known" else CAST
    if kind == INDEX or array.dtype != INT64 or is_number(array):
        made = Value(array.shape, INT64)
        options = length if kind == INDEX else None
        steps.append(Step(kind, INT64, [array], [made], options))
        array = made
    if after and array.shape:
        made = Value((*array.shape, *(1,) * after), array.dtype)
        steps.append(Step(VIEW, f"{{}}.reshape({made.shape!r})", [array], [made]))
        array = made
    return array


def _axes(
    shape: tuple[int, ...], index: Sequence[Any], before: int, block: int, first: int
) -> Axes:
    found: list[Any] = []
    place = 0
    for i in index:
        if i is None:
            place += 1
        elif isinstance(i, ArrayIndex):
            found.append(first + i.position)
        elif isinstance(i, Iota):
            found.append((0, 1, before + block - 1 - i.after))
        elif isinstance(i, Slice):
            r = range(shape[len(found)])[slice(*i)]
            found.append((r.start, r.step, place if place < before else place + block))
            place += 1
        else:
            found.append((i, 0, None))
    return tuple(found)


def fits(step: Step) -> bool:
    """Whether C says one of these steps."""
    if step.kind == PUT:
        same = all(v.dtype == step.out.dtype or is_number(v) for v in step.operands[:2])
        return same and step.out.size > 1
    return all(v.dtype.kind in "iu" for v in step.operands[step.kind == TAKE :])


def element(kernel: Any, step: Step, where: dict[int, Any], names: dict[Value, str]) -> str:
    """What a step takes, at a place of its result. `where`: what each axis is at, 0 if not there."""
    place = kernel.places[step.operands[0]]
    if place.is_variable:
        return place.base
    _narrow(kernel, place.shown.strides)
    return f"{place.base}[{_offset(step, step.options, place, where, names)}]"


def _narrow(kernel: Any, steps: Sequence[int]) -> None:
    """NOTE [Narrow vectors] in c_nests.py."""
    if 3 in map(abs, steps):
        kernel.is_narrow = True


def _offset(
    step: Step, axes: Axes, place: Place, where: dict[int, Any], names: dict[Value, str]
) -> str:
    offset, terms = place.offset, []
    for axis, stride in zip(axes, place.shown.strides, strict=True):
        if isinstance(axis, int):
            terms.append(f"{names[step.operands[axis]]} * {stride}")
            continue
        start, by, along = axis
        here = 0 if along is None else where.get(along, 0)
        offset += start * stride
        if isinstance(here, int):
            offset += here * by * stride
        else:
            terms.append(f"{here} * {by * stride}")
    return " + ".join([*terms, str(offset)] if offset or not terms else terms)


def checked(step: Step, text: str) -> str:
    """The statement that notes whether an index is out of bounds."""
    n = step.options
    return f"bad |= ({text} < -{n}L) | ({text} >= {n}L);"


def index(step: Step, text: str) -> str:
    """The place along its axis that an index stands for, some place if it is out of bounds."""
    n = step.options
    return f"(({text} < -{n}L) | ({text} >= {n}L) ? 0L : {text} < 0 ? {text} + {n}L : {text})"


def put(kernel: Any, step: Step) -> list[str]:
    """Loops that write or add elements, in order; the result has its place already."""
    axes, shape, adds = step.options
    if 0 in shape:
        return []
    place = kernel.places[step.out]
    _narrow(kernel, (*place.shown.strides, *shape))
    number = kernel.count()
    where = {a: f"p{number}_{a}" for a, n in enumerate(shape) if n > 1}
    names = {v: _element_at(kernel, v, shape, where) for v in step.operands[1:] if not is_number(v)}
    rows = _looked_up_once(kernel, step, where, names, number)
    offset = _offset(step, axes, place, where, names)
    text = kernel._cast(step.operands[1], step.out.dtype, names)
    lines = [f"{place.base}[{offset}] {'+=' if adds else '='} {text};"]
    before = [] if rows is None else [*rows, "#pragma omp simd"]
    for axis, i in reversed(where.items()):
        head = f"for (long {i} = 0; {i} < {shape[axis]}; {i}++) {{"
        lines = [*before, head, *[f"  {x}" for x in lines], "}"]
        before = []
    return lines


def _looked_up_once(
    kernel: Any, step: Step, where: dict[int, str], names: dict[Value, str], number: int
) -> list[str] | None:
    """Lines before an innermost loop along a slice, that name the row, in `names` too; None for other
    loops.
    """
    axes, shape, _ = step.options
    *outer, inner = where or (-1,)
    if not any(a[1] for a in axes if not isinstance(a, int) and a[2] == inner):
        return None
    arrays = [(k, v) for k, v in enumerate(step.operands[2:]) if not kernel.places[v].is_variable]
    if any(kernel.places[v].over(shape).shown.strides[inner] for _, v in arrays):
        return None
    lines = []
    for k, v in arrays:
        found = _element_at(kernel, v, shape, {a: where[a] for a in outer})
        lines.append(f"const long at{number}_{k} = {found};")
        names[v] = f"at{number}_{k}"
    return lines


def _element_at(kernel: Any, value: Value, shape: tuple[int, ...], where: dict[int, str]) -> str:
    """The element of what broadcasts to a shape, at a place in that."""
    place = kernel.places[value]
    if place.is_variable:
        return place.base
    place = place.over(shape)
    terms = [f"{i} * {place.shown.strides[a]}" for a, i in where.items()]
    return f"{place.base}[{' + '.join([*terms, str(place.offset)])}]"
