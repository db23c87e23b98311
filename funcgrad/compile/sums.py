"""Products of matrices: sums of them as one, and transposed ones in the order asked for.

``a.T @ b + c.T @ d`` is ``[a; c].T @ [b; d]``, and ``(a.T @ b).T`` is ``b.T @ a``.

Layer 4½. This is how a weight gets its gradient that is used many times, by a loop that was unrolled:
each use adds a product of matrices with few rows. Written together they take one pass over an array
as large as the weight, not one each. Rounding changes, for the sum has another order. And what is
transposed lies across the rows of what it is added to, which takes four times as long.
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
    """The program with these products; what is not read any more is still there."""
    return _Pass(jaxpr).program()


class _Pass:
    """Who reads and who makes the values of a program; what was written, and under which name."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr
        self.eqns: list[Eqn] = []
        self.names: dict[Atom, Atom] = {}  # of values that are made otherwise now
        self.known: dict[Any, Atom] = {}  # matrices that were put together
        self.made_by = {v: eqn for eqn in jaxpr.eqns for v in eqn.outs}
        self.readers: dict[Atom, list[Any]] = collections.defaultdict(list)
        for eqn in jaxpr.eqns:
            for a in eqn.inputs:
                if a.__class__ is Var:
                    self.readers[a].append(eqn)
        for a in jaxpr.outs:
            if a.__class__ is Var:
                self.readers[a].append(None)

    def program(self) -> Jaxpr:
        jaxpr = self.jaxpr
        for eqn in jaxpr.eqns:
            found = None
            if eqn.prim is add and not self.is_inside(eqn):
                found = self.sum(eqn)
            elif eqn.prim is transpose:
                found = self.turned(eqn)
            if found is not None:
                self.names[eqn.outs[0]] = found
            else:
                inputs = list(map(self.name, eqn.inputs))
                self.eqns.append(Eqn(eqn.prim, inputs, eqn.params, eqn.outs, eqn.source))
        if not self.names:
            return jaxpr
        outs = list(map(self.name, jaxpr.outs))
        return Jaxpr(jaxpr.in_vars, self.eqns, outs, jaxpr.const_vars, jaxpr.consts)

    def name(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if atom.__class__ is Var else atom

    def write(self, prim: Primitive, *inputs: Atom, **params: Any) -> Atom:
        inputs = tuple(map(self.name, inputs))
        out = Var(prim.aval(*[a.aval for a in inputs], **params))
        self.eqns.append(Eqn(prim, inputs, params, (out,)))
        return out

    def origin(self, atom: Atom, *prims: Primitive) -> Eqn | None:
        eqn = self.made_by.get(atom)  # type: ignore[arg-type]
        return eqn if eqn is not None and eqn.prim in prims else None

    # ------------------------------------------------------------ products

    def product(self, atom: Atom) -> Term | None:
        """The product of two matrices that a value is, if it is read once."""
        made = self.origin(atom, matmul, dot_general)
        if made is None or len(self.readers[atom]) != 1:
            return None
        p = product_of(made, made.inputs)
        if p is None or p.batch != ((), ()) or p.moves or len(p.contracting[0]) != 1:
            return None
        if p.x.aval.ndim != 2 or p.y.aval.ndim != 2:
            return None
        return Term(*self.shown(p.x, p.contracting[0][0]), *self.shown(p.y, p.contracting[1][0]))

    def shown(self, atom: Atom, axis: int) -> tuple[Atom, int]:
        """A matrix without a transposition, and the axis."""
        made = self.origin(atom, transpose)
        return (atom, axis) if made is None else (made.inputs[0], 1 - axis)

    def turned(self, eqn: Eqn) -> Atom | None:
        """A product that is only read transposed, with its operands exchanged."""
        (a,) = eqn.inputs
        found = self.product(a) if a.aval.ndim == 2 and eqn.params["axes"] == (1, 0) else None
        if found is None:
            return None
        x, i, y, j = found
        return self.write(dot_general, y, x, contracting=((j,), (i,)), batch=((), ()))

    # ------------------------------------------------------------ sums

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
        """The product that a part of a sum is, transposed or not."""
        made = self.origin(atom, transpose) if len(self.readers[atom]) == 1 else None
        if made is None:
            return self.product(atom)
        found = self.product(made.inputs[0])
        return found and Term(found.y, found.y_axis, found.x, found.x_axis)

    def sum(self, eqn: Eqn) -> Atom | None:
        """A sum with its products as one; None if there is nothing to gain."""
        out = eqn.outs[0].aval
        if out.ndim != 2 or out.dtype.kind not in "fc":
            return None
        terms: list[Term] = []
        others: list[Atom] = []
        for a in self.parts(eqn):
            term = self.term(a) if a.__class__ is Var and a.aval == out else None
            # Only where the result is larger than what it is made of: else there is nothing to save.
            if term is not None and 2 * term.rows <= min(out.shape):
                terms.append(term)
            else:
                others.append(a)
        if len(terms) < FEW:
            return None
        x = self.joined(tuple((t.x, t.x_axis) for t in terms))
        y = self.joined(tuple((t.y, t.y_axis) for t in terms))
        total = self.write(dot_general, x, y, contracting=((0,), (0,)), batch=((), ()))
        for a in others:
            total = self.write(add, total, a)
        return total

    def joined(self, parts: tuple[tuple[Atom, int], ...]) -> Atom:
        """Matrices one after another, with the axis that is summed over in front."""
        found = self.known.get(parts)
        if found is None:
            rows = [a if axis == 0 else self.write(transpose, a, axes=(1, 0)) for a, axis in parts]
            found = self.known[parts] = self.write(concatenate, *rows, axis=0)
        return found
