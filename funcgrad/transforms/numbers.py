"""Python's numbers in the steps of loops: the carry and the counter are arrays there.

A step is given them by `as_number`, so that they widen no arrays. Nearly everywhere that makes no
difference, and the program then reads the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core import Aval, aval_of
from ..jaxpr import Atom, Eqn, Jaxpr, Var, live
from ..ops.cast import as_number
from ..weak import OPERATORS
from .bodies import as_type, strong


def of_numbers(f: Callable[..., Any], avals: Sequence[Aval]) -> Callable[..., Any]:
    """The function of a carry of arrays that is given Python numbers where these types are such."""
    if not any(a.weak for a in avals):
        return f

    def given(carry: Any, *rest: Any) -> Any:
        leaves, treedef = tree.flatten(carry)
        pairs = zip(leaves, avals, strict=True)
        numbers = [as_number(x) if a.weak else x for x, a in pairs]
        return f(tree.unflatten(treedef, numbers), *rest)

    return given


def strengthened(carry: Sequence[Any]) -> list[Any]:
    """The last carry: what went in as Python's numbers comes out as NumPy's."""
    return [as_type(x, strong(aval_of(x))) for x in carry]


def without_numbers(jaxpr: Jaxpr) -> Jaxpr:
    """The program with arrays in place of the numbers of `as_number` where nothing has another type.

    Results are arrays.
    """
    if not any(eqn.prim is as_number for eqn in jaxpr.eqns):
        return jaxpr
    arrays: dict[Atom, Atom] = {}  # of what is a number, the same as an array
    eqns: list[Eqn] = []
    for eqn in jaxpr.eqns:
        inputs = [arrays.get(a, a) for a in eqn.inputs]
        if eqn.prim is as_number:
            eqns.append(eqn)
            arrays[eqn.outs[0]] = inputs[0]
        elif eqn.prim.name in OPERATORS and eqn.outs[0].aval.weak and inputs != list(eqn.inputs):
            out = Var(strong(eqn.outs[0].aval))
            eqns += [eqn, Eqn(eqn.prim, inputs, eqn.params, (out,), eqn.source)]
            arrays[eqn.outs[0]] = out
        elif _has_same_types(eqn, inputs):
            eqns.append(Eqn(eqn.prim, inputs, eqn.params, eqn.outs, eqn.source))
        else:
            eqns.append(eqn)
    outs = [arrays.get(a, a) for a in jaxpr.outs]
    return live(Jaxpr(jaxpr.in_vars, eqns, outs, jaxpr.const_vars, jaxpr.consts))


def _has_same_types(eqn: Eqn, inputs: Sequence[Atom]) -> bool:
    """Whether the results have their types for these operands too, as far as types can tell."""
    if eqn.prim.forward is not None:  # programs, which are made for the types of their operands
        return False
    found = eqn.prim.aval(*[a.aval for a in inputs], **eqn.params)
    avals = list(found) if eqn.prim.multiple else [found]
    return avals == [v.aval for v in eqn.outs]
