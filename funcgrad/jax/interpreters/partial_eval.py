"""Programs of what depends on unknown values, the rest being computed: ``partial_eval``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core import current
from ...jaxpr import Jaxpr, eval_jaxpr, live
from ...transforms.bodies import depending
from ...transforms.trace import JaxprTrace
from ..extend.linear_util import WrappedFun

__all__ = ["PartialVal", "trace_to_jaxpr_nounits"]


class PartialVal(NamedTuple):
    """A known value, with None for its type, or the type of an unknown one."""

    pval: Any
    const: Any

    @classmethod
    def known(cls, const: Any) -> PartialVal:
        """A value."""
        return cls(None, const)

    @classmethod
    def unknown(cls, aval: Any) -> PartialVal:
        """A type."""
        return cls(aval, None)


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """The program of `fun`'s unknown results, its results as far as known, and no constants.

    Arguments and results are lists of leaves. `instantiate`: all results count as unknown.
    Source: JAX, ``jax.interpreters.partial_eval.trace_to_jaxpr_nounits``.

    >>> from funcgrad.core import Aval
    >>> from funcgrad.jax.extend.linear_util import wrap_init
    >>> f = wrap_init(lambda x, y: [2.0 * x, x * y])
    >>> trace_to_jaxpr_nounits(f, [PartialVal.known(3.0), PartialVal.unknown(Aval((2,), "f8"))])[1]
    [PartialVal(pval=None, const=6.0), PartialVal(pval=f64[2], const=None)]
    """
    trace = JaxprTrace(current.get())
    trace.function = fun
    inputs = [p.const if p.pval is None else trace.new_input(p.pval) for p in pvals]
    in_vars = [x.symbol for x, p in zip(inputs, pvals, strict=True) if p.pval is not None]
    outs = trace.run(fun.call_wrapped, inputs)
    program = trace.finish(in_vars, outs)
    # Arrays that may be written into are in the program, too, though they may be known.
    wanted = [True] * len(outs) if instantiate else depending(program, [True] * len(in_vars))
    known = iter(eval_jaxpr(_without(program, wanted), *[None] * len(in_vars)))
    found = [
        PartialVal.unknown(aval) if flag else PartialVal.known(next(known))
        for aval, flag in zip(program.out_avals, wanted, strict=True)
    ]
    return _without(program, [not flag for flag in wanted]), found, []


def _without(program: Jaxpr, flags: Sequence[bool]) -> Jaxpr:
    """The program of those results that are not flagged."""
    outs = [y for y, flag in zip(program.outs, flags, strict=True) if not flag]
    return live(Jaxpr(program.in_vars, program.eqns, outs, program.const_vars, program.consts))
