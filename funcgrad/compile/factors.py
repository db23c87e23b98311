"""Factors that are powers of two, or -1: put together before anything is multiplied with them.

Layer 4½. Derivatives of squares are full of such factors, each of them a pass over an array:
``(-x * 0.5) * (2 * y) * 3`` is ``x * y * -3``. They go on through products, quotients, squares and
sums, up to a number, a negation or another factor. What is multiplied with them is not rounded, so
results are the same to the bit, but at the ends of the range.
"""

from __future__ import annotations

import collections
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import REGISTRY, Aval, Primitive
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from ..ops.arithmetic import divide, multiply, negative, square

FARTHEST = 4  # of two: the exponent of a factor that goes on; larger ones keep numbers in range

_sum = REGISTRY["sum"]
_FACTOR_OF: dict[Primitive, Callable[..., float]] = {  # of a result, from those of the operands
    multiply: operator.mul,
    divide: operator.truediv,
    square: lambda s: s * s,
    negative: operator.neg,
    _sum: lambda s: s,
}


def gathered(jaxpr: Jaxpr) -> Jaxpr:
    """The program with these factors put together, of whose equations all are needed.

    >>> from funcgrad import make_jaxpr
    >>> from funcgrad.compile.loops import live
    >>> f = lambda x, y: (-x * 0.5) * (2 * y) * 3.0
    >>> live(gathered(make_jaxpr(f)(np.ones(4), np.ones(4))))
    { lambda ; a:f64[4] b:f64[4] . let
        c:f64[4] = multiply a b
        d:f64[4] = multiply c -3.0
      in (d,) }
    """
    return _Pass(jaxpr).program()


def _value(number: Atom) -> float:
    """Of a real number, as Python's; 0, which nothing is put into, of others and of large integers."""
    value = getattr(number, "value", 0)
    if value.__class__ is int and abs(value) < 1 << 53:
        return float(value)
    return float(value) if isinstance(value, float | np.floating) else 0.0


def exponent_of(number: Atom) -> int | None:
    """How large a power of two is, with any sign; None for other numbers."""
    mantissa, exponent = math.frexp(_value(number))
    return exponent - 1 if abs(mantissa) == 0.5 else None


def _takes(number: Atom, dtype: Any) -> bool:
    """Whether any factor can be put into a number, for arrays of this dtype."""
    limits, farthest = np.finfo(dtype), 2.0**FARTHEST
    return bool(limits.tiny * farthest < abs(_value(number)) < limits.max / farthest)


class _Pass:
    """`reach`: how far from 1 the factor of a variable can be that goes on, and `moving`: which do.

    `found`: the factor of a variable from which it went on, and the rest; 1 and what it equals.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr
        self.eqns: list[Eqn] = []
        self.reach: dict[Atom, int] = {}
        self.moving: set[Atom] = set()
        self.found: dict[Atom, tuple[float, Atom]] = {}
        readers: dict[Atom, list[Eqn | None]] = collections.defaultdict(list)
        for eqn in jaxpr.eqns:
            for a in eqn.inputs:
                readers[a].append(eqn)
        for a in jaxpr.outs:
            readers[a].append(None)
        self.reader = {a: found[0] for a, found in readers.items() if len(found) == 1}

    def program(self) -> Jaxpr:
        jaxpr = self.jaxpr
        through = [eqn for eqn in jaxpr.eqns if eqn.prim in _FACTOR_OF]
        for eqn in through:
            self.measure(eqn)
        for eqn in reversed(through):
            if eqn.outs[0] in self.reach and self.is_worth_it(eqn.outs[0]):
                self.moving.add(eqn.outs[0])
        if not self.moving:
            return jaxpr
        for eqn in jaxpr.eqns:
            if any(a in self.moving for a in (*eqn.inputs, *eqn.outs)):
                self.rewrite(eqn)
            else:
                inputs = [a for _, a in map(self.parts, eqn.inputs)]
                self.eqns.append(Eqn(eqn.prim, inputs, eqn.params, eqn.outs, eqn.source))
        outs = [a for _, a in map(self.parts, jaxpr.outs)]
        return Jaxpr(jaxpr.in_vars, self.eqns, outs, jaxpr.const_vars, jaxpr.consts)

    def parts(self, atom: Atom) -> tuple[float, Atom]:
        return self.found.get(atom, (1.0, atom))

    # ------------------------------------------------------------ which factors go on

    def measure(self, eqn: Eqn) -> None:
        (out,) = eqn.outs
        if not all(a.__class__ is Literal or _is_alike(a.aval, out.aval) for a in eqn.inputs):
            return
        reaches = [self.reach[a] for a in eqn.inputs if a in self.reach]
        number = next((a for a in eqn.inputs if a.__class__ is Literal), None)
        if eqn.prim is negative:
            reaches.append(0)
        elif number is not None:
            exponent = exponent_of(number) if eqn.prim is multiply else None
            if exponent is None:  # the number takes what comes
                return
            reaches.append(abs(exponent))
        total = sum(reaches) * (2 if eqn.prim is square else 1)
        if reaches and total <= FARTHEST and self.can_wait(out):
            self.reach[out] = total

    def can_wait(self, x: Var) -> bool:
        """Whether who reads `x`, which is one equation only, can do so without a factor of it."""
        reader = self.reader.get(x)
        if reader is None or reader.prim not in _FACTOR_OF:
            return False
        if x.aval.dtype.kind != "f" or x.aval.dtype.itemsize < 4:
            return False
        out = reader.outs[0].aval
        fits = _is_alike(x.aval, out) and out.size <= x.aval.size
        return fits and all(a.__class__ is Var or _takes(a, out.dtype) for a in reader.inputs)

    def is_worth_it(self, x: Var) -> bool:
        """Whether the factor of `x` meets a number, another factor or a smaller array."""
        reader = self.reader[x]
        if reader is None:
            return False
        (out,) = reader.outs
        if reader.prim is _sum:
            meets = 2 * out.aval.size <= x.aval.size
        else:
            all_known = all(a.__class__ is Literal or a in self.reach for a in reader.inputs)
            meets = all_known and reader.prim is not square
        return meets or out in self.moving

    # ------------------------------------------------------------ equations without them

    def rewrite(self, eqn: Eqn) -> None:
        (out,), prim = eqn.outs, eqn.prim
        pairs = list(map(self.parts, eqn.inputs))
        factor, inputs = _FACTOR_OF[prim](*[s for s, _ in pairs]), [a for _, a in pairs]
        at = next((i for i, a in enumerate(inputs) if a.__class__ is Literal), None)
        if at is not None:
            number = inputs[at].value  # type: ignore[union-attr]
            value = number / factor if prim is divide and at else number * factor
            if prim is multiply and (out in self.moving or abs(value) == 1):
                self.put(eqn, float(value), inputs[1 - at])
                return
            cls = number.__class__ if isinstance(number, np.floating) else float
            inputs[at], factor = Literal(cls(value)), 1.0
        elif prim is negative:
            self.put(eqn, factor, inputs[0])
            return
        rest = out if factor == 1 and out not in self.moving else Var(out.aval)
        self.eqns.append(Eqn(prim, inputs, eqn.params, (rest,), eqn.source))
        if rest is not out:
            self.put(eqn, factor, rest)

    def put(self, eqn: Eqn, factor: float, rest: Atom) -> None:
        (out,) = eqn.outs
        if out in self.moving or factor == 1:
            self.found[out] = factor, rest
        elif factor == -1:
            self.eqns.append(Eqn(negative, [rest], {}, (out,), eqn.source))
        else:
            self.eqns.append(Eqn(multiply, [rest, Literal(factor)], {}, (out,), eqn.source))


def _is_alike(x: Aval, y: Aval) -> bool:
    """Whether what takes the place of one of them gives results of the same dtype."""
    return x.dtype == y.dtype and not x.weak and not y.weak
