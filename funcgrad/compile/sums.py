"""Sums of products of matrices as one product: ``a.T @ b + c.T @ d`` is ``[a; c].T @ [b; d]``.

Layer 4½. This is how a weight gets its gradient that is used many times, by a loop that was unrolled:
each use adds a product of matrices with few rows. Written together they take one pass over an array
as large as the weight, not one each. Rounding changes, for the sum has another order.
"""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

from ..core import Primitive
from ..jaxpr import Atom, Eqn, Jaxpr, Var
from ..ops.arithmetic import add
from ..ops.contract import dot_general, matmul
from ..ops.join import concatenate
from ..ops.structural import transpose
from .contractions import product_of

FEW = 4  # products that are not worth it


class Term(NamedTuple):
    """``x.T @ y`` of matrices, but for axes: these are summed over."""

    x: Atom
    x_axis: int
    y: Atom
    y_axis: int

    @property
    def rows(self) -> int:
        return self.x.aval.shape[self.x_axis]


def merged(jaxpr: Jaxpr) -> Jaxpr:
    """The program with sums of several products as one; what is not read any more is still there."""
    reader = _Reader(jaxpr)
    eqns: list[Eqn] = []
    names: dict[Atom, Atom] = {}
    for eqn in jaxpr.eqns:
        if eqn.prim is add and not reader.is_inside(eqn):
            found = _sum(reader, eqn, eqns)
            if found is not None:
                names[eqn.outs[0]] = found
                continue
        if names:
            inputs = [names.get(a, a) if a.__class__ is Var else a for a in eqn.inputs]
            eqn = Eqn(eqn.prim, inputs, eqn.params, eqn.outs, eqn.source)
        eqns.append(eqn)
    if not names:
        return jaxpr
    outs = [names.get(a, a) if a.__class__ is Var else a for a in jaxpr.outs]
    return Jaxpr(jaxpr.in_vars, eqns, outs, jaxpr.const_vars, jaxpr.consts)


class _Reader:
    """Who reads and who makes the values of a program, and matrices that were put together."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.known: dict[Any, Atom] = {}
        self.made_by = {v: eqn for eqn in jaxpr.eqns for v in eqn.outs}
        self.readers: dict[Atom, list[Any]] = collections.defaultdict(list)
        for eqn in jaxpr.eqns:
            for a in eqn.inputs:
                if a.__class__ is Var:
                    self.readers[a].append(eqn)
        for a in jaxpr.outs:
            if a.__class__ is Var:
                self.readers[a].append(None)

    def origin(self, atom: Atom, *prims: Primitive) -> Eqn | None:
        eqn = self.made_by.get(atom)  # type: ignore[arg-type]
        return eqn if eqn is not None and eqn.prim in prims else None

    def is_inside(self, eqn: Eqn) -> bool:
        """Whether a sum is a part of one other sum of the same shape."""
        (out,) = eqn.outs
        readers = self.readers[out]
        if len(readers) != 1 or readers[0] is None or readers[0].prim is not add:
            return False
        return bool(readers[0].outs[0].aval == out.aval)

    def parts(self, eqn: Eqn) -> list[Atom]:
        """What a sum adds up, from left to right."""
        found, stack = [], list(reversed(eqn.inputs))
        while stack:
            a = stack.pop()
            inner = self.origin(a, add)
            if inner is not None and self.is_inside(inner):
                stack += reversed(inner.inputs)
            else:
                found.append(a)
        return found

    def term(self, atom: Atom) -> Term | None:
        """The product of matrices that a value is, which nothing else reads."""
        turned = False
        while len(self.readers[atom]) == 1 and (made := self.origin(atom, transpose)):
            turned, atom = not turned, made.inputs[0]
        made = self.origin(atom, matmul, dot_general)
        if made is None or len(self.readers[atom]) != 1:
            return None
        p = product_of(made, made.inputs)
        if p is None or p.batch != ((), ()) or p.moves or len(p.contracting[0]) != 1:
            return None
        if p.x.aval.ndim != 2 or p.y.aval.ndim != 2:
            return None
        sides = [self.shown(p.x, p.contracting[0][0]), self.shown(p.y, p.contracting[1][0])]
        (x, i), (y, j) = reversed(sides) if turned else sides
        return Term(x, i, y, j)

    def shown(self, atom: Atom, axis: int) -> tuple[Atom, int]:
        """A matrix without a transposition, and the axis."""
        made = self.origin(atom, transpose)
        return (atom, axis) if made is None else (made.inputs[0], 1 - axis)

    def joined(self, eqns: list[Eqn], parts: tuple[tuple[Atom, int], ...]) -> Atom:
        """Matrices one after another, with the axis that is summed over in front."""
        found = self.known.get(parts)
        if found is None:
            rows = [
                a if axis == 0 else _write(eqns, transpose, a, axes=(1, 0)) for a, axis in parts
            ]
            found = self.known[parts] = _write(eqns, concatenate, *rows, axis=0)
        return found


def _sum(reader: _Reader, eqn: Eqn, eqns: list[Eqn]) -> Atom | None:
    """Write a sum with its products as one; None if there is nothing to gain."""
    out = eqn.outs[0].aval
    if out.ndim != 2 or out.dtype.kind not in "fc":
        return None
    terms: list[Term] = []
    others: list[Atom] = []
    for a in reader.parts(eqn):
        term = reader.term(a) if a.__class__ is Var and a.aval == out else None
        # Only where the result is larger than what it is made of: else there is nothing to save.
        if term is not None and 2 * term.rows <= min(out.shape):
            terms.append(term)
        else:
            others.append(a)
    if len(terms) < FEW:
        return None
    x = reader.joined(eqns, tuple((t.x, t.x_axis) for t in terms))
    y = reader.joined(eqns, tuple((t.y, t.y_axis) for t in terms))
    total = _write(eqns, dot_general, x, y, contracting=((0,), (0,)), batch=((), ()))
    for a in others:
        total = _write(eqns, add, total, a)
    return total


def _write(eqns: list[Eqn], prim: Primitive, *inputs: Atom, **params: Any) -> Atom:
    out = Var(prim.aval(*[a.aval for a in inputs], **params))
    eqns.append(Eqn(prim, inputs, params, (out,)))
    return out
