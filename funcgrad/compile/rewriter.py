"""Rewriting a jaxpr: one pass over its equations, with the operands of each replaced by what is known.

Layer 4½. Calls are put in line, equations on numbers are computed, those that were there before are
not repeated; the rest is the rules' (`simplify.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import Elementwise, ElementwiseConstant
from ..core import Aval, Primitive
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from ..ops.arithmetic import add, multiply, zero_preserving_multiply
from ..ops.select import where
from ..ops.structural import broadcast_to
from ..transforms.custom_call import rules_program

Rule = Callable[["Rewriter", Eqn, Sequence[Atom]], Atom | None]  # the atom, or None
ProgramRule = Callable[["Rewriter", Eqn, Sequence[Atom]], Sequence[Atom]]


class Rewriter:
    """Equations written so far, what made a variable, and which variable holds which expression.

    `rules`: for equations, by primitive; `programs`: for those that have programs in them, by name.
    """

    def __init__(
        self, rules: Mapping[Primitive, Rule], programs: Mapping[str, ProgramRule]
    ) -> None:
        self.rules, self.programs = rules, programs
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
            inner = _program_of(eqn, inputs)
            if inner is not None:
                outs: Sequence[Atom] = self.body(inner, inputs)
            else:
                outs = self.equation(eqn, inputs)
            env.update(zip(eqn.outs, outs, strict=True))
        return [a if a.__class__ is Literal else env[a] for a in jaxpr.outs]

    def equation(self, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
        if eqn.prim.name in self.programs:
            return self.with_programs(eqn, inputs)
        if not eqn.prim.multiple:
            inputs = self.unbroadcast(eqn, inputs)
            found = self.fold(eqn, inputs) or self.spread_later(eqn, inputs)
            if found is None:
                rule = self.rules.get(eqn.prim)
                found = None if rule is None else rule(self, eqn, inputs)
            if found is not None and found.aval == eqn.outs[0].aval:
                return (found,)
        return self.write(eqn.prim, inputs, eqn.params, [v.aval for v in eqn.outs], eqn.source)

    def with_programs(self, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
        """Simplify the programs inside an equation too."""
        key = _key(eqn.prim, inputs, eqn.params)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = tuple(self.programs[eqn.prim.name](self, eqn, inputs))
        return found

    def write(
        self,
        prim: Primitive,
        inputs: Sequence[Atom],
        params: dict[str, Any],
        avals: Sequence[Aval],
        source: Any = None,
    ) -> Sequence[Atom]:
        """The variables of this equation, which is written unless it is there."""
        key = _key(prim, inputs, params)
        found = self.known.get(key)
        if found is None and prim in _COMMUTING:
            found = self.known.get(_key(prim, inputs[::-1], params))
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
        return self.equation(Eqn(prim, inputs, params, (Var(aval),)), inputs)[0]

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
        """An operation on numbers that were broadcast: on the numbers, and broadcast then."""
        if not isinstance(eqn.prim, Elementwise | ElementwiseConstant):
            return None
        made = [self.origin(a, broadcast_to) for a in inputs]
        numbers = [a if m is None else m.inputs[0] for a, m in zip(inputs, made, strict=True)]
        if not any(made) or any(a.aval.shape for a in numbers):
            return None
        number = self.apply(eqn.prim, *numbers, **eqn.params)
        return self.apply(broadcast_to, number, shape=eqn.outs[0].aval.shape)

    def unbroadcast(self, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
        """Operands before they were broadcast, where the others broadcast the result anyway."""
        if not (
            isinstance(eqn.prim, Elementwise | ElementwiseConstant) or eqn.prim in _BROADCASTING
        ):
            return inputs
        out = list(inputs)
        for i, atom in enumerate(inputs):
            made = self.origin(atom, broadcast_to)
            if made is not None:
                shapes = [a.aval.shape for k, a in enumerate(out) if k != i]
                if _broadcast([*shapes, made.inputs[0].aval.shape]) == eqn.outs[0].aval.shape:
                    out[i] = made.inputs[0]
        return out


def _program_of(eqn: Eqn, inputs: Sequence[Atom]) -> Jaxpr | None:
    """The program that an equation is in line with: a call's, or a function's that has its own rules.

    Those have done their part once a program is compiled.
    """
    if eqn.prim.name == "jit_call":
        return eqn.params["jaxpr"]
    if eqn.prim.name != "custom_call":
        return None
    found = rules_program(eqn.params["rules"], [a.aval for a in inputs])
    same = [a.aval for a in found.outs] == [v.aval for v in eqn.outs]
    return found if same and not found.consts else None


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


_COMMUTING = frozenset({add, multiply})
# Elementwise too, by rules of their own.
_BROADCASTING = frozenset({where, zero_preserving_multiply})


def _key(prim: Primitive, inputs: Sequence[Atom], params: dict[str, Any]) -> Any:
    """What two equations with the same results have in common."""
    return prim, tuple(map(_identity, inputs)), tuple(params.items())


def _identity(atom: Atom) -> Any:
    """What tells an operand from others: a variable itself, of a number its bits and its type."""
    if atom.__class__ is Var:
        return atom
    value = atom.value  # type: ignore[union-attr]
    return value.__class__, np.asarray(value).tobytes(), atom.aval
