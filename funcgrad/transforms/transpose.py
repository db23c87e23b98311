"""Running linear programs backwards: the reverse mode of everything that has only a tangent rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import Aval, Primitive, aval_of, current, tangent_dtype
from ..errors import NotLinearError, where
from ..jaxpr import Atom, Jaxpr, Literal, Var
from .trace import JaxprTrace, JaxprTracer


def transpose_jaxpr(jaxpr: Jaxpr, cts: Sequence[Any]) -> list[Any]:
    """Cotangents of the inputs of a linear program from those of its outputs; None is zero."""
    consts = dict(zip(jaxpr.const_vars, jaxpr.consts, strict=True))
    env: dict[Atom, Any] = {}

    def push(atom: Atom, ct: Any) -> None:
        if ct is not None and atom.__class__ is Var and atom not in consts:
            old = env.get(atom)
            env[atom] = ct if old is None else old + ct

    for atom, ct in zip(jaxpr.outs, cts, strict=True):
        push(atom, ct)
    for eqn in reversed(jaxpr.eqns):
        found = [env.pop(v, None) for v in eqn.outs]
        if all(ct is None for ct in found):
            continue
        linear = [a.__class__ is Var and a not in consts for a in eqn.inputs]
        values = [
            a.aval if is_linear else a.value if isinstance(a, Literal) else consts[a]
            for a, is_linear in zip(eqn.inputs, linear, strict=True)
        ]
        _require_linear(eqn.prim, linear)
        ct = found if eqn.prim.multiple else found[0]
        ans = tuple(v.aval for v in eqn.outs) if eqn.prim.multiple else eqn.outs[0].aval
        for atom, g in zip(
            eqn.inputs, cotangents(eqn.prim, ct, ans, values, linear, eqn.params), strict=True
        ):
            push(atom, g)
    return [env.get(v) for v in jaxpr.in_vars]


def _require_linear(prim: Primitive, linear: Sequence[bool]) -> None:
    reads_ans, reads = prim.saves(linear)
    if reads_ans or any(r and is_linear for r, is_linear in zip(reads, linear, strict=True)):
        raise NotLinearError(
            f"linear_transpose: the function is not linear in its arguments: it applies "
            f"{prim.name} to them{where()}"
        )


def cotangents(
    prim: Primitive,
    ct: Any,
    ans: Any,
    xs: Sequence[Any],
    wanted: Sequence[bool],
    params: dict[str, Any],
) -> list[Any]:
    """Cotangents of the operands marked in `wanted`, by the primitive's rule or from its tangent."""
    if prim.cotangents is not None:
        return prim.cotangents(ct, ans, xs, wanted, params)
    trace = JaxprTrace(current.get())
    ts: list[Any] = []
    for x, want in zip(xs, wanted, strict=True):
        aval = aval_of(x)
        ts.append(trace.new_input(Aval(aval.shape, tangent_dtype(aval.dtype))) if want else None)
    in_vars = [t.symbol for t in ts if t is not None]
    token = current.set(trace)
    try:
        out = prim.tangent(ans, xs, ts, params)
    finally:
        current.reset(token)
    if out is None:
        return [None] * len(xs)
    outs, cts = (out, ct) if prim.multiple else ([out], [ct])
    live = [i for i, o in enumerate(outs) if o.__class__ is JaxprTracer and o.owner is trace]
    program = trace.finish(in_vars, [outs[i] for i in live])
    found = iter(transpose_jaxpr(program, [cts[i] for i in live]))
    return [next(found) if want else None for want in wanted]
