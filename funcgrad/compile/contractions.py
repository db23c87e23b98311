"""Rules of products of arrays: as few and as small ones as give the same sums.

Layer 4½. Every product is a `Product`, whether it is written as matmul or as dot_general. A rule may
add up in another order, so it changes results by rounding. Numbers that are not finite stay so, but
for products with a diagonal matrix: where that has a zero, nothing is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..jaxpr import Atom, Eqn, Literal
from ..ops.arithmetic import multiply, negative
from ..ops.contract import dot_general, matmul
from ..ops.index import FULL, Slice, embed, getitem
from ..ops.structural import broadcast_to, diagonal_embed, reshape, transpose
from ..ops.structural import sum as sum_along
from .rewriter import Rewriter

Axes = tuple[int, ...]


class Product(NamedTuple):
    """``transpose(dot_general(x, y), axes)``."""

    x: Atom
    y: Atom
    contracting: tuple[Axes, Axes]
    batch: tuple[Axes, Axes]
    axes: Axes

    @property
    def sides(self) -> tuple[Atom, Atom]:
        return self.x, self.y

    @property
    def moves(self) -> bool:
        """Whether the axes of the product are in another order."""
        return self.axes != tuple(range(len(self.axes)))

    def free(self, side: int) -> Axes:
        """The axes of one operand that the result has, other than those of the batch."""
        used = {*self.contracting[side], *self.batch[side]}
        return tuple(a for a in range(self.sides[side].aval.ndim) if a not in used)


def product_of(eqn: Eqn, inputs: Sequence[Atom]) -> Product | None:
    """The product that a matmul or a dot_general of numbers of one type is."""
    out = eqn.outs[0].aval
    x, y = inputs
    if x.aval.weak or y.aval.weak or len({x.aval.dtype, y.aval.dtype, out.dtype}) > 1:
        return None
    m, n, axes = x.aval.ndim, y.aval.ndim, tuple(range(out.ndim))
    if out.dtype.kind not in "fc" or not (m and n):
        return None
    if eqn.prim is dot_general:
        return Product(x, y, eqn.params["contracting"], eqn.params["batch"], axes)
    if n <= 2:
        return Product(x, y, ((m - 1,), (0,)), ((), ()), axes)
    if m == n and x.aval.shape[:-2] == y.aval.shape[:-2]:
        return Product(x, y, ((m - 1,), (n - 2,)), (tuple(range(n - 2)),) * 2, axes)
    return None


# ---------------------------------------------------------------- products


def contraction(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """The rule of matmul and of dot_general."""
    product = product_of(eqn, inputs)
    if product is None or product.batch != ((), ()):
        return None
    for side in (0, 1):
        found = _with_diagonal(r, product, side)
        if found is None:
            found = _with_number(r, eqn, product, side)
        if found is not None:
            return found
    return _untransposed(r, product) if eqn.prim is dot_general else None


def _with_number(r: Rewriter, eqn: Eqn, p: Product, side: int) -> Atom | None:
    """A product with one number everywhere is a sum."""
    made = r.origin(p.sides[side], broadcast_to)
    if made is None or made.inputs[0].aval.shape or made.inputs[0].aval.weak:
        return None
    other, axes = p.sides[1 - side], p.contracting[1 - side]
    if not axes or other.__class__ is Literal:
        return None
    total = r.apply(multiply, r.apply(sum_along, other, axis=axes), made.inputs[0])
    shape = eqn.outs[0].aval.shape
    if side == 1 and p.free(1):
        total = r.apply(reshape, total, shape=(*total.aval.shape, *(1,) * len(p.free(1))))
    return r.apply(broadcast_to, total, shape=shape)


def _untransposed(r: Rewriter, p: Product) -> Atom | None:
    """The product of what a transposition shows."""
    sides, contracting = [p.x, p.y], list(p.contracting)
    for side in (0, 1):
        made = r.origin(sides[side], transpose)
        if made is None:
            continue
        axes = made.params["axes"]
        free = [axes[a] for a in p.free(side)]
        if free == sorted(free):
            sides[side] = made.inputs[0]
            contracting[side] = tuple(axes[a] for a in contracting[side])
    if sides == [p.x, p.y]:
        return None
    return r.apply(dot_general, *sides, contracting=tuple(contracting), batch=p.batch)


# ---------------------------------------------------------------- diagonal matrices


class Diagonal(NamedTuple):
    """A matrix whose only elements are `values`, from the place `start` on."""

    values: Atom
    start: tuple[int, int]


def diagonal_of(r: Rewriter, atom: Atom) -> Diagonal | None:
    """What is known of a matrix that has nothing beside one diagonal."""
    made = r.origin(atom, diagonal_embed, multiply, negative, getitem)
    if made is None or atom.aval.ndim != 2:
        return None
    if made.prim is diagonal_embed:
        k = made.params["offset"]
        if (made.params["axis1"], made.params["axis2"]) != (0, 1):
            return None
        return Diagonal(made.inputs[0], (max(-k, 0), max(k, 0)))
    if made.prim is negative:
        inner = diagonal_of(r, made.inputs[0])
        return inner and inner._replace(values=r.apply(negative, inner.values))
    if made.prim is getitem:
        return _diagonal_part(r, made)
    for matrix, other in (made.inputs, made.inputs[::-1]):
        inner = diagonal_of(r, matrix) if matrix.aval == atom.aval else None
        if inner is not None and other.aval.dtype == atom.aval.dtype and _is_line(other):
            scale = _along(r, other, inner)
            return inner._replace(values=r.apply(multiply, inner.values, scale))
    return None


def _diagonal_part(r: Rewriter, eqn: Eqn) -> Diagonal | None:
    """What slices show of a diagonal."""
    (matrix,), index = eqn.inputs, eqn.params["index"]
    if matrix.aval.ndim != 2 or not all(i.__class__ is Slice and i.step == 1 for i in index):
        return None
    d = diagonal_of(r, matrix)
    if d is None:
        return None
    bounds = [slice(*i).indices(n) for i, n in zip(index, matrix.aval.shape, strict=True)]
    first = max(0, *(b[0] - s for b, s in zip(bounds, d.start, strict=True)))
    last = min(d.values.aval.shape[0], *(b[1] - s for b, s in zip(bounds, d.start, strict=True)))
    if first >= last:
        return None
    values = r.apply(getitem, d.values, index=(Slice(first, last, 1),))
    start = (d.start[0] + first - bounds[0][0], d.start[1] + first - bounds[1][0])
    return Diagonal(values, start)


def _is_line(atom: Atom) -> bool:
    return atom.aval.ndim < 2 or 1 in atom.aval.shape


def _along(r: Rewriter, line: Atom, d: Diagonal) -> Atom:
    """What a number, a row or a column has for the elements of a diagonal."""
    count = d.values.aval.shape[0]
    size = math.prod(line.aval.shape)
    if size == 1:
        return r.apply(reshape, line, shape=()) if line.aval.shape else line
    is_column = line.aval.ndim == 2 and line.aval.shape[1] == 1
    flat = r.apply(reshape, line, shape=(size,))
    start = d.start[0 if is_column else 1]
    return r.apply(getitem, flat, index=(Slice(start, start + count, 1),))


def _with_diagonal(r: Rewriter, p: Product, side: int) -> Atom | None:
    """A product with a diagonal matrix multiplies the other operand along one of its axes."""
    d = diagonal_of(r, p.sides[side])
    if d is None or len(p.contracting[0]) != 1:
        return None
    other, (axis,) = p.sides[1 - side], p.contracting[1 - side]
    (summed,) = p.contracting[side]
    count, start, place = d.values.aval.shape[0], d.start[summed], d.start[1 - summed]
    width = p.sides[side].aval.shape[1 - summed]
    if not count or other.__class__ is Literal:
        return None
    part = (
        *(FULL,) * axis,
        Slice(start, start + count, 1),
        *(FULL,) * (other.aval.ndim - axis - 1),
    )
    other = r.apply(getitem, other, index=part)
    rest = tuple(a for a in range(other.aval.ndim) if a != axis)
    other = r.apply(transpose, other, axes=(axis, *rest) if side == 0 else (*rest, axis))
    values = d.values
    if side == 0 and rest:
        values = r.apply(reshape, values, shape=(count, *(1,) * len(rest)))
    found = r.apply(multiply, other, values)
    if count == width:
        return found
    where = Slice(place, place + count, 1)
    index = (where, *(FULL,) * len(rest)) if side == 0 else (*(FULL,) * len(rest), where)
    shape = [*found.aval.shape]
    shape[0 if side == 0 else -1] = width
    return r.apply(embed, found, shape=tuple(shape), index=index)


# ---------------------------------------------------------------- sums


def sum_of_transposition(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """A sum of what a transposition shows, if that leaves the other axes in order."""
    made = r.origin(inputs[0], transpose)
    if made is None:
        return None
    axes, gone = made.params["axes"], eqn.params["axis"]
    left = [a for i, a in enumerate(axes) if i not in gone]
    if left != sorted(left):
        return None
    return r.apply(sum_along, made.inputs[0], axis=tuple(sorted(axes[i] for i in gone)))


def sum_of_product(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """A sum over axes that one operand of a product brings: sum up that operand."""
    made = r.origin(inputs[0], matmul, dot_general)
    p = None if made is None else product_of(made, made.inputs)
    if p is None or p.batch != ((), ()) or not eqn.params["axis"]:
        return None
    x_free, y_free = p.free(0), p.free(1)
    axes = eqn.params["axis"]
    dropped = (
        tuple(x_free[a] for a in axes if a < len(x_free)),
        tuple(y_free[a - len(x_free)] for a in axes if a >= len(x_free)),
    )
    sides = [
        r.apply(sum_along, a, axis=gone) if gone else a
        for a, gone in zip(p.sides, dropped, strict=True)
    ]
    contracting = tuple(
        tuple(a - sum(g < a for g in gone) for a in axes)
        for axes, gone in zip(p.contracting, dropped, strict=True)
    )
    return r.apply(dot_general, *sides, contracting=contracting, batch=((), ()))
