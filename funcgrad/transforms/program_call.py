"""Primitives that run a program: what `checkpoint` and `jit` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import Aval, Primitive, aval_of
from ..jaxpr import Atom, Jaxpr, Var, eval_jaxpr, quiet
from .bodies import depending
from .jvp import jvp_flat
from .trace import trace_to_jaxpr
from .transpose import linear_eqns, transpose_eqns
from .vmap import batch_flat, move_batch


def open_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """The program with its constants as leading inputs, so that they can be differentiated."""
    return Jaxpr((*jaxpr.const_vars, *jaxpr.in_vars), jaxpr.eqns, jaxpr.outs)


def batched_jaxpr(
    jaxpr: Jaxpr, size: int, xs: Sequence[Any], bdims: Sequence[int | None]
) -> tuple[Jaxpr, list[int | None]]:
    """The program for operands with batch axes `bdims`, and those of its results: in front, or None."""
    axes: list[int | None] = []

    def run(*xs: Any) -> list[Any]:
        outs = batch_flat(lambda *xs: eval_jaxpr(jaxpr, *xs), xs, bdims, size)
        axes[:] = [None if b is None else 0 for _, b in outs]
        return [y if b is None else move_batch(y, b, 0, size) for y, b in outs]

    return trace_to_jaxpr(run, [aval_of(x) for x in xs]), axes


def read_by(jaxpr: Jaxpr, outs: Sequence[Atom]) -> list[bool]:
    """For each input of the program, whether one of these variables depends on it."""
    needed = {v for v in outs if v.__class__ is Var}
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outs):
            needed.update(a for a in eqn.inputs if a.__class__ is Var)
    return [v in needed for v in jaxpr.in_vars]


class ProgramCall(Primitive):
    """Runs the program that is its parameter `jaxpr`."""

    multiple = True
    needs_zeros = False

    def aval(self, *avals: Any, **params: Any) -> tuple[Aval, ...]:
        return tuple(params["jaxpr"].out_avals)

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        live = [i for i, t in enumerate(ts) if t is not None]

        def of_live(*values: Any) -> list[Any]:
            full = list(xs)
            for i, v in zip(live, values, strict=True):
                full[i] = v
            return eval_jaxpr(quiet(params["jaxpr"]), *full)

        return tuple(jvp_flat(of_live, [xs[i] for i in live], [ts[i] for i in live])[1])

    def moves(self, flags: Sequence[bool], params: dict) -> list[bool]:
        return depending(params["jaxpr"], flags)

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        return False, (False,) * len(
            wanted
        )  # a step of a linear program is a linear program itself

    def cotangents(
        self, ct: Any, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        jaxpr = quiet(params["jaxpr"])
        known: dict[Atom, Any] = {
            v: x for v, x, w in zip(jaxpr.in_vars, xs, wanted, strict=True) if not w
        }
        moving = {v for v, w in zip(jaxpr.in_vars, wanted, strict=True) if w}
        linear = linear_eqns(jaxpr.eqns, known, moving)
        env = transpose_eqns(linear, known, zip(jaxpr.outs, ct, strict=True))
        return [env.get(v) if w else None for v, w in zip(jaxpr.in_vars, wanted, strict=True)]

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        jaxpr, axes = batched_jaxpr(params["jaxpr"], size, xs, bdims)
        return self(*jaxpr.consts, *xs, jaxpr=open_jaxpr(jaxpr)), tuple(axes)
