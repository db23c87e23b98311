"""Running linear programs backwards: the reverse mode of everything that has only a tangent rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..algebra import scaling
from ..core import Aval, Primitive, aval_of, current, run_under, tangent_dtype
from ..errors import FuncgradError, NotLinearError, where
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from .trace import JaxprTrace, JaxprTracer


def transpose_jaxpr(jaxpr: Jaxpr, cts: Sequence[Any]) -> list[Any]:
    """Cotangents of the inputs of a linear program from those of its outputs; None is zero."""
    known: dict[Atom, Any] = dict(zip(jaxpr.const_vars, jaxpr.consts, strict=True))
    env = transpose_eqns(jaxpr.eqns, known, zip(jaxpr.outs, cts, strict=True))
    return [env.get(v) for v in jaxpr.in_vars]


def transpose_eqns(
    eqns: Sequence[Eqn], known: dict[Atom, Any], cts: Iterable[tuple[Atom, Any]]
) -> dict[Atom, Any]:
    """Cotangents of the variables that `eqns` are linear in; the others have the values `known`."""
    env: dict[Atom, Any] = {}

    def push(atom: Atom, ct: Any) -> None:
        if ct is not None and atom.__class__ is Var and atom not in known:
            old = env.get(atom)
            env[atom] = ct if old is None else old + ct

    for atom, ct in cts:
        push(atom, ct)
    for eqn in reversed(eqns):
        found = [env.pop(v, None) for v in eqn.outs]
        if all(ct is None for ct in found):
            continue
        linear = [a.__class__ is Var and a not in known for a in eqn.inputs]
        values = [
            a.aval if is_linear else a.value if isinstance(a, Literal) else known[a]
            for a, is_linear in zip(eqn.inputs, linear, strict=True)
        ]
        _require_linear(eqn.prim, linear)
        ct = found if eqn.prim.multiple else found[0]
        ans = tuple(v.aval for v in eqn.outs) if eqn.prim.multiple else eqn.outs[0].aval
        for atom, g in zip(
            eqn.inputs, cotangents(eqn.prim, ct, ans, values, linear, eqn.params), strict=True
        ):
            push(atom, g)
    return env


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
    if all(x.__class__ in _ARRAYS for x in (ans if prim.multiple else (ans,))) and all(
        x.__class__ in _ARRAYS for x in xs
    ):
        pullback = _cached_pullback(prim, ans, xs, wanted, params)
        if pullback is not None:
            return pullback(ct, ans, xs)
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


# NOTE [Cached pullbacks] Recording a tangent and transposing it costs ten times what running the
# result does, so for plain NumPy arrays the program is kept, by the types of everything that goes in.
_ARRAYS = frozenset({np.ndarray, Aval, *(t for t in np.sctypeDict.values())})
_pullbacks: dict[Any, _Pullback | None] = {}


class _Pullback:
    """The pullback of a primitive for operands of certain types, from its tangent rule."""

    def __init__(self, prim: Primitive, ans: Any, xs: Any, wanted: Any, params: Any) -> None:
        self.multiple = prim.multiple
        trace = JaxprTrace(current.get())

        def symbol(x: Any) -> Any:
            return x if x.__class__ is Aval else trace.new_input(aval_of(x))

        symbols = tuple(map(symbol, ans)) if prim.multiple else symbol(ans)
        operands = [symbol(x) for x in xs]
        ts: list[Any] = []
        for x, want in zip(xs, wanted, strict=True):
            aval = aval_of(x)
            t = trace.new_input(Aval(aval.shape, tangent_dtype(aval.dtype))) if want else None
            ts.append(t)
        out = run_under(trace, prim.tangent, (symbols, operands, ts, params))
        outs = () if out is None else out if prim.multiple else (out,)
        self.outs = [o.symbol if o.__class__ is JaxprTracer else None for o in outs]
        self.tangents = [None if t is None else t.symbol for t in ts]
        self.ans = [None if s.__class__ is Aval else s.symbol for s in _listed(symbols)]
        self.operands = [None if s.__class__ is Aval else s.symbol for s in operands]
        moving: set[Any] = {v for v in self.tangents if v is not None}
        self.linear: list[Eqn] = []
        self.plain: list[Eqn] = []
        for eqn in trace.eqns:
            if any(a.__class__ is Var and a in moving for a in eqn.inputs):
                moving.update(eqn.outs)
                self.linear.append(eqn)
            else:
                self.plain.append(eqn)
        self.consts = dict(zip(trace.const_vars.values(), trace.consts, strict=True))

    def __call__(self, ct: Any, ans: Any, xs: Sequence[Any]) -> list[Any]:
        known: dict[Any, Any] = dict(self.consts)
        pairs = zip((*self.ans, *self.operands), (*_listed(ans), *xs), strict=True)
        known.update((var, x) for var, x in pairs if var is not None)
        for eqn in self.plain:
            values = [a.value if a.__class__ is Literal else known[a] for a in eqn.inputs]
            out = eqn.prim(*values, **eqn.params)
            known.update(zip(eqn.outs, out if eqn.prim.multiple else (out,), strict=True))
        cts = ct if self.multiple else (ct,)
        out_cts = [(v, c) for v, c in zip(self.outs, cts, strict=False) if v is not None]
        env = transpose_eqns(self.linear, known, out_cts)
        return [None if v is None else env.get(v) for v in self.tangents]


def _listed(x: Any) -> tuple[Any, ...]:
    return x if x.__class__ is tuple else (x,)


def _cached_pullback(
    prim: Primitive, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict[str, Any]
) -> _Pullback | None:
    """The pullback for these types; None if the rule needs to see numbers."""

    def kind(x: Any) -> Any:
        return (x.__class__ is Aval, x.shape, x.dtype)

    key = (
        prim,
        tuple(map(kind, _listed(ans))),
        tuple(map(kind, xs)),
        tuple(wanted),
        tuple(params.items()),
        scaling.get(),
    )
    if key not in _pullbacks:
        if len(_pullbacks) > 1024:
            _pullbacks.clear()
        try:
            _pullbacks[key] = _Pullback(prim, ans, xs, wanted, params)
        except (FuncgradError, AttributeError):
            _pullbacks[key] = None
    return _pullbacks[key]
