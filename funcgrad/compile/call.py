"""`jit_call`, the primitive that runs a compiled program, and the split of its gradient in two.

Layer 4½.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import NAMESPACES
from ..core import EVAL, Tracer, aval_of, current
from ..jaxpr import Jaxpr, Var, eval_jaxpr
from ..transforms.program_call import ProgramCall
from ..transforms.tape import pull_back
from ..transforms.trace import JaxprTrace
from ..transforms.vjp import record_flat
from .program import compiled


class JitCall(ProgramCall):
    """Runs the program `jaxpr`, compiled; so is its reverse mode, in two parts."""

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        split = _split(params["jaxpr"], tuple(wanted))
        found = self(*split.consts, *xs, jaxpr=split.forward)
        saved = [*found[split.count :], *[xs[i] for i in split.operands]]
        return found[: split.count], (split, saved)

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        split, saved = residual
        found = iter(self(*saved, *[cts[i] for i in split.moving], jaxpr=split.backward))
        return [
            next(found) if w and has else None for w, has in zip(wanted, split.has, strict=True)
        ]


class _Split:
    """The gradient of a program as two: `forward` also returns what `backward` needs of it.

    `count`: of the program's results. `moving`: which of them have a cotangent. `has`: which
    operands get one. `operands`: which of them `backward` reads as they are.
    """

    def __init__(self, jaxpr: Jaxpr, wanted: tuple[bool, ...]) -> None:
        trace = JaxprTrace(EVAL, spreads=True)
        xs = [trace.new_input(v.aval) for v in jaxpr.in_vars]
        live = [i for i, w in enumerate(wanted) if w]

        def of_live(*values: Any) -> list[Any]:
            full: list[Any] = list(xs)
            for i, v in zip(live, values, strict=True):
                full[i] = v
            return eval_jaxpr(jaxpr, *full)

        token = current.set(trace)
        try:
            outs, tape, slots = record_flat(of_live, [xs[i] for i in live], lasting=False)
            self.moving = [i for i, slot in enumerate(slots) if slot >= 0]
            cts = {i: trace.new_input(aval_of(outs[i])) for i in self.moving}
            cut = len(trace.eqns)
            seeds = [(slots[i], ct) for i, ct in cts.items()]
            found = pull_back(tape.entries, seeds, len(live), consume=True)
        finally:
            current.reset(token)
        given = dict(zip(live, found, strict=True))
        self.count = len(outs)
        self.has = [given.get(i) is not None for i in range(len(wanted))]
        gradients = [g for g in found if g is not None]
        whole = trace.finish([x.symbol for x in xs], [*outs, *gradients])
        self._divide(whole, cut, [ct.symbol for ct in cts.values()])

    def _divide(self, whole: Jaxpr, cut: int, cts: Sequence[Var]) -> None:
        """The equations before `cut` go forward, and so what is computed again goes backward."""
        before, after = whole.eqns[:cut], whole.eqns[cut:]
        late = {*cts, *(v for eqn in after for v in eqn.outs)}
        outs, gradients = whole.outs[: self.count], whole.outs[self.count :]
        read = [a for eqn in after for a in eqn.inputs] + list(gradients)
        saved = dict.fromkeys(a for a in read if a.__class__ is Var and a not in late)
        made = [a for a in saved if a not in whole.in_vars]
        self.operands = [i for i, v in enumerate(whole.in_vars) if v in saved]
        kept = [whole.in_vars[i] for i in self.operands]
        self.consts = whole.consts
        self.forward = Jaxpr((*whole.const_vars, *whole.in_vars), before, (*outs, *made))
        self.backward = Jaxpr((*made, *kept, *cts), after, gradients)


def _split(jaxpr: Jaxpr, wanted: tuple[bool, ...]) -> _Split:
    splits = jaxpr.memo.setdefault("splits", {})
    if wanted not in splits:
        splits[wanted] = _Split(jaxpr, wanted)
    return splits[wanted]


def _jit_call_impl(xp, *xs, jaxpr):
    """The outputs of the program `jaxpr` at `xs`, compiled.

    Shapes: those of the program.   Dtypes: those of the program.
    Derivative: the program's, compiled too.
    Raises: what the program raises.
    Source: Frostig, Johnson & Leary, "Compiling machine learning programs via high-level tracing",
    SysML 2018.

    >>> import funcgrad
    >>> float(funcgrad.grad(funcgrad.jit(lambda x: x * x))(3.0))
    6.0
    """
    if all(NAMESPACES.get(x.__class__, np) is np and not isinstance(x, Tracer) for x in xs):
        return compiled(jaxpr)(*xs)
    token = current.set(EVAL)
    try:
        return tuple(eval_jaxpr(jaxpr, *xs))
    finally:
        current.reset(token)


jit_call = JitCall(_jit_call_impl, register_as="jit_call")
