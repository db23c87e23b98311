"""Forward mode: `JVPTrace` carries a tangent beside every value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..algebra import zeros_like
from ..array import TracedArray
from ..backend import NAMESPACES, untabled
from ..core import Aval, Primitive, Trace, aval_of, current, run_under
from ..views import refresh, snapshot
from .arguments import (
    Flat,
    flat_tangents,
    flatten_primals,
    origin,
    own,
    require_callable,
    require_tuples,
)


class JVPTracer(TracedArray):
    """A value and its tangent; None for a tangent that is zero."""

    __slots__ = ("primal", "tangent")

    def __init__(self, trace: Trace, primal: Any, tangent: Any) -> None:
        self.owner = trace
        self.alias = None
        self.primal = primal
        self.tangent = tangent

    @property
    def aval(self) -> Aval:
        return aval_of(self.primal)

    @property
    def underlying(self) -> Any:
        return self.primal

    @property
    def moves(self) -> bool:
        return self.tangent is not None

    def assign(self, other: Any) -> None:
        self.primal = other.primal
        self.tangent = other.tangent


class JVPTrace(Trace):
    """Values are computed by the parent, tangents by `tangents` (the parent, or a recorder).

    `lasting`: what is recorded outlives the call, so plain arrays are copied.
    """

    __slots__ = ("lasting", "tangents")
    transform = "jvp or linearize"

    def __init__(self, parent: Trace, tangents: Trace, *, lasting: bool = False) -> None:
        self.parent = parent
        self.tangents = tangents
        self.lasting = lasting

    def lift(self, value: Any) -> JVPTracer:
        return JVPTracer(self, snapshot(value, copy=True), None)

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        primals, ts = [], []
        plain = []
        mine = live = False
        for a in args:
            if a.__class__ is JVPTracer and a.owner is self:
                if a.alias is not None:
                    refresh(a)
                mine = True
                live = live or a.tangent is not None
                primals.append(a.primal)
                ts.append(a.tangent)
            else:
                a = a if a.__class__ in NAMESPACES else untabled(a)
                plain.append(len(primals))
                primals.append(a)
                ts.append(None)
        # Only what meets a traced value is recorded: a view of a plain array stays a view of it.
        if mine and self.lasting:
            for i in plain:
                primals[i] = snapshot(primals[i], copy=True)
        ans = self.parent.process(prim, primals, params)
        if not mine or not prim.differentiable:
            return ans
        t = None
        if live:
            token = current.set(self.tangents)
            try:
                t = prim.tangent(ans, primals, ts, params)
            finally:
                current.reset(token)
        if not prim.multiple:
            return JVPTracer(self, ans, t)
        dots = (None,) * len(ans) if t is None else t
        return tuple(JVPTracer(self, x, dot) for x, dot in zip(ans, dots, strict=True))

    def parts(self, x: Any) -> tuple[Any, Any]:
        """The value and the tangent (or None) of something that the traced function returned."""
        if x.__class__ is JVPTracer and x.owner is self:
            if x.alias is not None:
                refresh(x)
            return x.primal, x.tangent
        return x, None


def run_jvp(
    trace: JVPTrace,
    f: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
    """Run `f`, which takes and returns flat lists, under `trace`: its values and tangents."""
    trace.function = origin(f)
    inputs = [JVPTracer(trace, p, t) for p, t in zip(primals, tangents, strict=True)]
    outs = run_under(trace, f, inputs)
    parts = [trace.parts(x) for x in outs]
    return [p for p, _ in parts], [t for _, t in parts]


def jvp_flat(
    f: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Values and tangents of `f`, which takes and returns flat lists; None for a zero tangent."""
    parent = current.get()
    return run_jvp(JVPTrace(parent, parent), f, primals, tangents)


def instantiate(t: Any, x: Any) -> Any:
    """A tangent or cotangent of `x`, with zeros in place of None."""
    return zeros_like(x) if t is None else t


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """The value of `fun` at `primals` and its derivative along `tangents`: ``(y, dy)``.

    Both are tuples (or lists), one entry per argument. With `has_aux`, `fun` returns ``(out, aux)`` and
    the result is ``(out, dout, aux)``.

    Raises: ArgumentError: structures, types or dtypes do not match. ShapeError: shapes do not.
    Source: Baydin et al., "Automatic differentiation in machine learning: a survey", JMLR 2018.

    >>> y, dy = jvp(lambda x: x * x, (3.0,), (1.0,))
    >>> float(y), float(dy)
    (9.0, 6.0)
    """
    require_callable("jvp", fun)
    require_tuples("jvp", primals=primals, tangents=tangents)
    leaves, treedef = flatten_primals("jvp", tuple(primals))
    ts = flat_tangents("jvp", treedef, leaves, tuple(tangents))
    flat = Flat(fun, treedef, has_aux=has_aux)
    parent = current.get()
    trace = JVPTrace(parent, parent)
    values, dots = run_jvp(trace, flat, leaves, ts)
    full = [instantiate(t, x) for t, x in zip(dots, values, strict=True)]
    out = tree.unflatten(flat.out_def, own(values, leaves))
    dout = tree.unflatten(flat.out_def, own(full, (*ts, *values)))
    if has_aux:
        return out, dout, flat.aux_values(lambda x: trace.parts(x)[0])
    return out, dout
