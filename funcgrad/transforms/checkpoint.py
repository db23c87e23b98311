"""checkpoint: keep a function's inputs instead of its intermediate values, and run it twice."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import tree
from ..core import EVAL, aval_of, current
from ..errors import ConcretizationError
from ..indexing import known
from ..jaxpr import eval_jaxpr, quiet
from .arguments import require_arrays, require_callable
from .program_call import ProgramCall, open_jaxpr
from .tape import pull_back
from .trace import trace_to_jaxpr
from .vjp import record_flat

_F = TypeVar("_F", bound=Callable[..., Any])


class CheckpointCall(ProgramCall):
    """Runs the program `jaxpr`; its reverse mode saves the operands only."""

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        return tuple(eval_jaxpr(params["jaxpr"], *xs)), list(xs)

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        live = [i for i, w in enumerate(wanted) if w]

        def of_live(*values: Any) -> list[Any]:
            full = list(residual)
            for i, v in zip(live, values, strict=True):
                full[i] = v
            return eval_jaxpr(quiet(params["jaxpr"]), *full)

        _, trace, slots = record_flat(of_live, [residual[i] for i in live], lasting=False)
        seeds = [(slot, ct) for slot, ct in zip(slots, cts, strict=True) if ct is not None]
        found = iter(pull_back(trace.entries, seeds, len(live), consume=True))
        return [next(found) if w else None for w in wanted]


def _checkpoint_impl(xp, *xs, jaxpr):
    """The outputs of the program `jaxpr` at `xs`, kept only at its inputs for reverse mode.

    Shapes: those of the program.   Dtypes: those of the program.
    Derivative: the program's, from a second run of it.
    Raises: what the program raises.
    Source: Griewank & Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000).

    >>> import funcgrad
    >>> float(funcgrad.grad(funcgrad.checkpoint(lambda x: x * x))(3.0))
    6.0
    """
    token = current.set(EVAL)
    try:
        return tuple(eval_jaxpr(jaxpr, *xs))
    finally:
        current.reset(token)


checkpoint_call = CheckpointCall(_checkpoint_impl, register_as="checkpoint_call")


def checkpoint(fun: _F) -> _F:
    """`fun` with less memory in reverse mode: its intermediate values are computed again, not kept.

    Values that `fun` closes over are differentiated too. It may branch on values where they are known
    (not under `vmap` or `make_jaxpr`).

    >>> import funcgrad, numpy as np
    >>> float(funcgrad.grad(checkpoint(lambda x: np.sin(x) * x))(0.0))
    0.0
    """
    require_callable("checkpoint", fun, makes=True)

    @functools.wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        leaves, treedef = tree.flatten((args, kwargs))
        require_arrays("checkpoint", leaves, treedef, 1)
        out_def: Any = None

        def flat(*xs: Any) -> list[Any]:
            nonlocal out_def
            args, kwargs = tree.unflatten(treedef, xs)
            outs, out_def = tree.flatten(fun(*args, **kwargs))
            return outs

        avals = [aval_of(x) for x in leaves]
        try:
            jaxpr = trace_to_jaxpr(flat, avals)
        except ConcretizationError:
            values = [known(x) for x in leaves]
            if any(v is None for v in values):
                raise
            jaxpr = trace_to_jaxpr(flat, avals, values=values)
        outs = checkpoint_call(*jaxpr.consts, *leaves, jaxpr=open_jaxpr(jaxpr))
        return tree.unflatten(out_def, outs)

    return checkpointed  # type: ignore[return-value]
