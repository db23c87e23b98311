"""Simplify: the same results from fewer equations.

Layer 4½. One pass over the equations, with the operands of each replaced by what is known of them:
calls are put in line, equations on numbers are computed, those that were there before are not
repeated, and `RULES` finds algebra in them. In the end, what nobody reads goes.

A rule may change a result by rounding only (``n * x`` for a sum of n equal numbers), and never by the
sign of a zero: ``x + 0`` stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import Elementwise, ElementwiseConstant
from ..core import REGISTRY, Aval, Primitive
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var, live
from ..ops.arithmetic import add, multiply, negative, square, subtract
from ..ops.select import where
from ..ops.structural import broadcast_to, reshape, transpose


def simplify(jaxpr: Jaxpr) -> Jaxpr:
    """The same program with fewer equations.

    >>> from funcgrad import make_jaxpr
    >>> simplify(make_jaxpr(lambda x: (-(-x)).T.T * 1.0 + np.sin(x) / np.sin(x))(np.ones((2, 3))))
    { lambda ; a:f64[2,3] . let
        b:f64[2,3] = sin a
        c:f64[2,3] = divide b b
        d:f64[2,3] = add a c
      in (d,) }
    """
    rewriter = _Rewriter()
    return live(rewriter.program(jaxpr))


class _Rewriter:
    """Equations written so far, what made a variable, and which variable holds which expression."""

    def __init__(self) -> None:
        self.eqns: list[Eqn] = []
        self.made_by: dict[Atom, Eqn] = {}
        self.known: dict[Any, tuple[Atom, ...]] = {}

    def program(self, jaxpr: Jaxpr) -> Jaxpr:
        outs = self.body(jaxpr, [*jaxpr.const_vars, *jaxpr.in_vars])
        return Jaxpr(jaxpr.in_vars, self.eqns, outs, jaxpr.const_vars, jaxpr.consts)

    def body(self, jaxpr: Jaxpr, operands: Sequence[Atom]) -> list[Atom]:
        """Put the equations of `jaxpr` in line; its results for these operands."""
        env: dict[Atom, Atom] = dict(
            zip((*jaxpr.const_vars, *jaxpr.in_vars), operands, strict=True)
        )
        for eqn in jaxpr.eqns:
            inputs = [a if a.__class__ is Literal else env[a] for a in eqn.inputs]
            if eqn.prim.name == "jit_call":
                outs: Sequence[Atom] = self.body(eqn.params["jaxpr"], inputs)
            else:
                outs = self.equation(eqn, inputs)
            env.update(zip(eqn.outs, outs, strict=True))
        return [a if a.__class__ is Literal else env[a] for a in jaxpr.outs]

    def equation(self, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
        if not eqn.prim.multiple:
            inputs = self.unbroadcast(eqn, inputs)
            found = self.fold(eqn, inputs) or self.spread_later(eqn, inputs)
            if found is None:
                rule = RULES.get(eqn.prim)
                found = None if rule is None else rule(self, eqn, inputs)
            if found is not None and found.aval == eqn.outs[0].aval:
                return (found,)
        return self.write(eqn.prim, inputs, eqn.params, [v.aval for v in eqn.outs], eqn.source)

    def write(
        self,
        prim: Primitive,
        inputs: Sequence[Atom],
        params: dict[str, Any],
        avals: Sequence[Aval],
        source: Any = None,
    ) -> Sequence[Atom]:
        """The variables of this equation, which is written unless it is there."""
        key = (prim, tuple(map(_identity, inputs)), tuple(params.items()))
        found = self.known.get(key)
        if found is None:
            outs = tuple(map(Var, avals))
            eqn = Eqn(prim, inputs, params, outs, source)
            self.eqns.append(eqn)
            self.made_by.update(dict.fromkeys(outs, eqn))
            found = self.known[key] = outs
        return found

    def apply(self, prim: Primitive, *inputs: Atom, **params: Any) -> Atom:
        """The variable of an equation that a rule makes up."""
        aval = prim.aval(*[a.aval for a in inputs], **params)
        made_up = Eqn(prim, inputs, params, (Var(aval),))
        number = self.fold(made_up, inputs)
        if number is not None:
            return number
        rule = RULES.get(prim)
        if rule is not None:
            found = rule(self, made_up, inputs)
            if found is not None and found.aval == aval:
                return found
        return self.write(prim, inputs, params, [aval])[0]

    def origin(self, atom: Atom, *prims: Primitive) -> Eqn | None:
        """The equation that made a variable, if it applies one of these primitives."""
        eqn = self.made_by.get(atom)
        return eqn if eqn is not None and eqn.prim in prims else None

    def fold(self, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
        """The number that an equation on numbers gives."""
        if eqn.outs[0].aval.shape or not inputs:
            return None
        if not all(a.__class__ is Literal for a in inputs):
            return None
        with np.errstate(all="ignore"):
            value = eqn.prim.impl(np, *[a.value for a in inputs], **eqn.params)  # type: ignore[union-attr]
        return Literal(np.asarray(value)[()])

    def spread_later(self, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
        """An operation on a number that was broadcast: on the number, and broadcast then."""
        made = [self.origin(a, broadcast_to) for a in inputs]
        if len(made) != 1 or made[0] is None or made[0].inputs[0].aval.shape:
            return None
        if not isinstance(eqn.prim, Elementwise | ElementwiseConstant):
            return None
        number = self.apply(eqn.prim, made[0].inputs[0], **eqn.params)
        return self.apply(broadcast_to, number, shape=eqn.outs[0].aval.shape)

    def unbroadcast(self, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
        """Operands before they were broadcast, where the others broadcast the result anyway."""
        if not (isinstance(eqn.prim, Elementwise | ElementwiseConstant) or eqn.prim is where):
            return inputs
        out = list(inputs)
        for i, atom in enumerate(inputs):
            made = self.origin(atom, broadcast_to)
            if made is not None:
                shapes = [a.aval.shape for k, a in enumerate(out) if k != i]
                if _broadcast([*shapes, made.inputs[0].aval.shape]) == eqn.outs[0].aval.shape:
                    out[i] = made.inputs[0]
        return out


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _identity(atom: Atom) -> Any:
    """What tells an operand from others: a variable itself, of a number its bits and its type."""
    if atom.__class__ is Var:
        return atom
    value = atom.value  # type: ignore[union-attr]
    return value.__class__, np.asarray(value).tobytes(), atom.aval


def _is_number(atom: Atom, x: float) -> bool:
    """Whether an operand is this number, with the same sign of zero."""
    if atom.__class__ is not Literal:
        return False
    value = atom.value
    if value != x:
        return False
    return x != 0 or (value.__class__ is not complex and math.copysign(1, value) == 1)


# ---------------------------------------------------------------- rules: the atom, or None

Rule = Callable[[_Rewriter, Eqn, Sequence[Atom]], Atom | None]


def _multiply(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    x, y = inputs
    for a, b in ((x, y), (y, x)):
        if _is_number(b, 1.0):
            return a
        if _is_number(b, -1.0) and a.aval == eqn.outs[0].aval:
            return r.apply(negative, a)
    return r.apply(square, x) if x is y and x.__class__ is Var and _is_real(x) else None


def _is_real(x: Atom) -> bool:
    return x.aval.dtype.kind == "f" and not x.aval.weak


def _add(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    for a, b in (inputs, inputs[::-1]):
        made = r.origin(b, negative)
        if made is not None and a.aval.dtype == b.aval.dtype:
            return r.apply(subtract, a, made.inputs[0])
    return None


def _subtract(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    x, y = inputs
    made = r.origin(y, negative)
    if made is not None and x.aval.dtype == y.aval.dtype:
        return r.apply(add, x, made.inputs[0])
    return x if _is_number(y, 0.0) else None


def _divide(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    return inputs[0] if _is_number(inputs[1], 1.0) else None


def _negative(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    made = r.origin(inputs[0], negative)
    return None if made is None else made.inputs[0]


def _power(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    x, y = inputs
    if _is_number(y, 1.0):
        return x
    return r.apply(square, x) if _is_number(y, 2.0) and _is_real(x) else None


def _unchanged(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    return inputs[0]


def _conjugate(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    return inputs[0] if inputs[0].aval.dtype.kind != "c" else None


def _cast(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,) = inputs
    made = r.origin(x, REGISTRY["cast"])
    if made is None or not np.can_cast(made.inputs[0].aval.dtype, x.aval.dtype, "safe"):
        return x
    return made.inputs[0]


def _reshape(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """Also for `squeeze` and `expand_dims`."""
    (x,), shape = inputs, eqn.outs[0].aval.shape
    if x.__class__ is Literal or x.aval.weak:
        return None
    made = r.origin(x, reshape)
    source = x if made is None else made.inputs[0]
    if source.aval.shape == shape:
        return source
    if source is x and eqn.prim is reshape:
        return None
    return r.apply(reshape, source, shape=shape)


def _transpose(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,), axes = inputs, eqn.params["axes"]
    if axes == tuple(range(len(axes))):
        return x
    made = r.origin(x, transpose)
    if made is None:
        return None
    inner = made.params["axes"]
    return r.apply(transpose, made.inputs[0], axes=tuple(inner[a] for a in axes))


def _broadcast_to(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,) = inputs
    if x.aval.shape == eqn.params["shape"]:
        return x
    made = r.origin(x, broadcast_to)
    return None if made is None else r.apply(broadcast_to, made.inputs[0], **eqn.params)


def _sum(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,), axis = inputs, eqn.params["axis"]
    out = eqn.outs[0].aval
    if x.__class__ is Literal or x.aval.dtype != out.dtype or out.dtype.kind not in "fc":
        return None
    if all(x.aval.shape[a] == 1 for a in axis):
        return r.apply(reshape, x, shape=out.shape) if axis else x
    made = r.origin(x, broadcast_to)
    if made is None:
        return None
    source = made.inputs[0]
    lead = x.aval.ndim - source.aval.ndim
    if source.aval.weak or any(a >= lead and source.aval.shape[a - lead] != 1 for a in axis):
        return None
    shape = tuple(n for a, n in enumerate(source.aval.shape) if a + lead not in axis)
    count = math.prod(x.aval.shape[a] for a in axis)
    if not count:
        return None
    small: Atom = source
    if source.__class__ is Var and source.aval.shape != shape:
        small = r.apply(reshape, source, shape=shape)
    small = r.apply(multiply, small, Literal(float(count)))
    return small if small.aval.shape == out.shape else r.apply(broadcast_to, small, shape=out.shape)


def _where(r: _Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    _condition, x, y = inputs
    return x if x is y and x.__class__ is Var else None


RULES: dict[Primitive, Rule] = {
    add: _add,
    subtract: _subtract,
    multiply: _multiply,
    negative: _negative,
    reshape: _reshape,
    transpose: _transpose,
    broadcast_to: _broadcast_to,
    where: _where,
    REGISTRY["divide"]: _divide,
    REGISTRY["power"]: _power,
    REGISTRY["positive"]: _unchanged,
    REGISTRY["stop_gradient"]: _unchanged,
    REGISTRY["conjugate"]: _conjugate,
    REGISTRY["cast"]: _cast,
    REGISTRY["squeeze"]: _reshape,
    REGISTRY["expand_dims"]: _reshape,
    REGISTRY["sum"]: _sum,
}
