"""Running linear programs backwards: the reverse mode of everything that has only a tangent rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..algebra import scaling
from ..core import Aval, Primitive, aval_of, current, run_under, tangent_dtype
from ..errors import FuncgradError, NotLinearError, where
from ..inline import compiled
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var, eval_jaxpr, live
from .trace import JaxprTrace, JaxprTracer


def transpose_jaxpr(jaxpr: Jaxpr, cts: Sequence[Any]) -> list[Any]:
    """Cotangents of the inputs of a linear program from those of its outputs; None is zero."""
    known: dict[Atom, Any] = dict(zip(jaxpr.const_vars, jaxpr.consts, strict=True))
    eqns = linear_eqns(jaxpr.eqns, known, set(jaxpr.in_vars)) if known else jaxpr.eqns
    env = transpose_eqns(eqns, known, zip(jaxpr.outs, cts, strict=True))
    return [env.get(v) for v in jaxpr.in_vars]


def linear_eqns(eqns: Sequence[Eqn], known: dict[Atom, Any], moving: set[Var]) -> list[Eqn]:
    """The equations that depend on `moving`; the values of the others are added to `known`."""
    moving = set(moving)
    linear = []
    for eqn in eqns:
        if any(a in moving for a in eqn.inputs if a.__class__ is Var):
            moving.update(eqn.outs)
            linear.append(eqn)
            continue
        values = [a.value if isinstance(a, Literal) else known[a] for a in eqn.inputs]
        found = eqn.prim(*values, **eqn.params)
        known.update(zip(eqn.outs, found if eqn.prim.multiple else (found,), strict=True))
    return linear


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
    if _are_arrays(xs) and (_are_arrays(ans) if prim.multiple else ans.__class__ in _ARRAYS):
        pullback = _cached_pullback(prim, ct, ans, xs, wanted, params)
        if pullback is not None:
            return pullback(ct, ans, xs)
    return _transposed(prim, ct, ans, xs, wanted, params)


def _transposed(
    prim: Primitive,
    ct: Any,
    ans: Any,
    xs: Sequence[Any],
    wanted: Sequence[bool],
    params: dict[str, Any],
) -> list[Any]:
    """The cotangents from the tangent rule, recorded and transposed."""
    trace = JaxprTrace(current.get(), linear=True)
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
    moving = [i for i, o in enumerate(outs) if o.__class__ is JaxprTracer and o.owner is trace]
    program = trace.finish(in_vars, [outs[i] for i in moving])
    found = iter(transpose_jaxpr(program, [cts[i] for i in moving]))
    return [next(found) if want else None for want in wanted]


# NOTE [Cached pullbacks] Recording a tangent and transposing it costs far more than running the
# result does. So for plain NumPy arrays the pullback is itself recorded, by the types of everything
# that goes in, and from its second use on it is compiled to straight-line NumPy.
_ARRAYS = frozenset({np.ndarray, Aval, *(t for t in np.sctypeDict.values())})


def _are_arrays(xs: Sequence[Any]) -> bool:
    return _ARRAYS.issuperset(map(type, xs))


_pullbacks: dict[Any, _Pullback | None] = {}
_UNKNOWN: Any = object()


class _Pullback:
    """The pullback of a primitive for a cotangent and operands of certain types."""

    def __init__(
        self, prim: Primitive, ct: Any, ans: Any, xs: Any, wanted: Any, params: dict[str, Any]
    ) -> None:
        trace = JaxprTrace(current.get(), linear=True)
        inputs: list[Any] = []

        def symbol(x: Any) -> Any:
            if x is None or x.__class__ is Aval:
                return x
            inputs.append(trace.new_input(aval_of(x)))
            return inputs[-1]

        ct, ans = (tuple(map(symbol, x)) if prim.multiple else symbol(x) for x in (ct, ans))
        args = (prim, ct, ans, list(map(symbol, xs)), wanted, params)
        found = run_under(trace, _transposed, args)
        self.is_found = [g is not None for g in found]
        self.are_found = all(self.is_found)
        outs = [g for g in found if g is not None]
        self.program = live(trace.finish([x.symbol for x in inputs], outs))
        self.is_input = [
            x is not None and x.__class__ is not Aval for x in (*_listed(ct), *_listed(ans), *xs)
        ]
        self.uses = 0
        self.run: Any = None

    def __call__(self, ct: Any, ans: Any, xs: Sequence[Any]) -> list[Any]:
        given = (*_listed(ct), *_listed(ans), *xs)
        inputs = [x for x, is_input in zip(given, self.is_input, strict=True) if is_input]
        plain = _are_arrays(inputs)
        if plain and self.run is not None:
            outs: Any = self.run(*inputs)
        else:
            outs = eval_jaxpr(self.program, *inputs)
            self.uses += 1
            if plain and self.uses > 1:
                self.run = compiled(self.program)
        if self.are_found:
            return list(outs)
        found = iter(outs)
        return [next(found) if is_found else None for is_found in self.is_found]


def _listed(x: Any) -> tuple[Any, ...]:
    return tuple(x) if x.__class__ is tuple or x.__class__ is list else (x,)


def _cached_pullback(
    prim: Primitive,
    ct: Any,
    ans: Any,
    xs: Sequence[Any],
    wanted: Sequence[bool],
    params: dict[str, Any],
) -> _Pullback | None:
    """The pullback for these types; None if the rule needs to see numbers."""
    key = (
        prim,
        tuple(map(_kind, _listed(ct))),
        tuple(map(_kind, _listed(ans))),
        tuple(map(_kind, xs)),
        tuple(wanted),
        tuple(params.items()),
        scaling.get(),
    )
    found = _pullbacks.get(key, _UNKNOWN)
    if found is _UNKNOWN:
        if len(_pullbacks) > 1024:
            _pullbacks.clear()
        try:
            found = _Pullback(prim, ct, ans, xs, wanted, params)
        except (FuncgradError, AttributeError):
            found = None
        _pullbacks[key] = found
    return found


def _kind(x: Any) -> Any:
    return x if x is None else (x.__class__ is Aval, x.shape, x.dtype)
