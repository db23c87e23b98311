"""Programs inside `while_loop` and `cond`: compiled, and without what no step changes.

Layer 4½. They run one call at a time, from Python, so each becomes a call of a compiled program. What
a loop computes of closed-over values only is computed before it, unless that could raise: the loop
may run no step at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..algebra import Elementwise, ElementwiseConstant
from ..core import REGISTRY, Primitive
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from ..ops.contract import dot_general, matmul
from ..ops.index import embed, getitem
from ..ops.structural import reshape, transpose
from ..ops.structural import sum as sum_along
from ..transforms.deferred import Deferred
from .rewriter import Rewriter

FEW = 3  # equations that are run as fast one by one
_TOTAL = frozenset({matmul, dot_general, embed, getitem, reshape, transpose, sum_along})

Simplify = Callable[[Jaxpr], Jaxpr]


def while_loop(
    r: Rewriter, eqn: Eqn, inputs: Sequence[Atom], simplify: Simplify
) -> tuple[list[Atom], dict[str, Any]]:
    """The operands and parameters of a simplified loop."""
    params, counts = eqn.params, eqn.params["counts"]
    test_consts, body_consts, carry = counts.parts(inputs)
    test, test_consts = _hoisted(r, simplify(params["test"]), test_consts)
    body, body_consts = _hoisted(r, simplify(params["body"]), body_consts)
    counts = counts._replace(test=len(test_consts), body=len(body_consts))
    made = {**params, "test": _called(test), "body": _called(body), "counts": counts}
    return [*test_consts, *body_consts, *carry], made


def cond(params: dict[str, Any], simplify: Simplify) -> dict[str, Any]:
    """The parameters of a choice between simplified programs."""
    return {**params, "branches": tuple(_called(simplify(b)) for b in params["branches"])}


def while_derivative(of: Deferred) -> Deferred:
    """A derivative of a loop of programs that are one call each.

    They are not simplified here: what is differentiated needs its `stop_gradient` and its own rules.
    """
    return of.rewritten(lambda jaxpr: jaxpr if jaxpr.consts else _called(jaxpr))


def _hoisted(r: Rewriter, body: Jaxpr, atoms: Sequence[Atom]) -> tuple[Jaxpr, list[Atom]]:
    """A program without the equations that depend on its first operands alone, and those operands."""
    count = len(atoms)
    known = dict(zip(body.in_vars, atoms, strict=False))
    outside: dict[Atom, Atom] = {v: a for v, a in known.items() if v.aval == a.aval}
    rest = []
    for eqn in body.eqns:
        fixed = all(a.__class__ is Literal or a in outside for a in eqn.inputs)
        if fixed and eqn.inputs and _is_total(eqn.prim):
            operands = [outside.get(a, a) for a in eqn.inputs]
            outside.update(zip(eqn.outs, r.equation(eqn, operands), strict=True))
        else:
            rest.append(eqn)
    if len(rest) == len(body.eqns):
        return body, list(atoms)
    numbers = {v: a for v, a in outside.items() if a.__class__ is Literal}
    eqns = [
        Eqn(e.prim, [numbers.get(a, a) for a in e.inputs], e.params, e.outs, e.source) for e in rest
    ]
    outs = [numbers.get(a, a) for a in body.outs]
    read = dict.fromkeys([*(a for e in eqns for a in e.inputs), *outs])
    consts = [a for a in read if a.__class__ is Var and (a in outside or a in known)]
    in_vars = [*consts, *body.in_vars[count:]]
    left = Jaxpr(in_vars, eqns, outs)
    return left, [outside.get(v) or known[v] for v in consts]


def _is_total(prim: Primitive) -> bool:
    """Whether a primitive computes something of any operands."""
    return prim in _TOTAL or isinstance(prim, Elementwise | ElementwiseConstant)


def _called(jaxpr: Jaxpr) -> Jaxpr:
    """A program that is one call of a compiled program."""
    if len(jaxpr.eqns) < FEW:
        return jaxpr
    outs = [Var(a.aval) for a in jaxpr.outs]
    call = Eqn(REGISTRY["jit_call"], jaxpr.in_vars, {"jaxpr": jaxpr}, outs)
    return Jaxpr(jaxpr.in_vars, [call], outs)


def as_written(jaxpr: Jaxpr) -> Jaxpr:
    """The program of a program that is one call."""
    eqn = jaxpr.eqns[0] if len(jaxpr.eqns) == 1 else None
    is_call = eqn is not None and eqn.prim is REGISTRY["jit_call"]
    if (
        eqn is None
        or not is_call
        or [*eqn.outs] != [*jaxpr.outs]
        or [*eqn.inputs] != [*jaxpr.in_vars]
    ):
        return jaxpr
    return eqn.params["jaxpr"]
