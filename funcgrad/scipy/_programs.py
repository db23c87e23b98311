"""Users' functions as programs, solvers that run on plain arrays, derivatives of what they find.

What a user's function closes over becomes an operand of its program, so that a result which a solver
finds outside of all tracing has derivatives by that, too, by the implicit function theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import tree
from ..algebra import zeros_like
from ..core import EVAL, Aval, Tracer, aval_of, current
from ..errors import ArgumentError, where
from ..jaxpr import Jaxpr, eval_jaxpr
from ..numpy._arguments import array_of
from ..ops.select import stop_gradient
from ..transforms.bodies import Body, joined
from ..transforms.custom_call import Rules, custom_call
from ..transforms.deferred import Deferred, Dims, deferred_call
from ..transforms.jvp import jvp_flat
from ._arrays import require_host

Function = Callable[..., Any]
FlatFunction = Callable[..., list[Any]]


def tracing() -> bool:
    """Whether anything is traced; otherwise users' functions are called as they are."""
    return current.get() is not EVAL


# ---------------------------------------------------------------- programs


class Programs:
    """Functions of the same arrays as programs of ``(*held, *arguments)``.

    `held`: the values that the functions close over.
    """

    def __init__(self, functions: Sequence[Function], avals: Sequence[Aval]) -> None:
        treedef = tree.structure(tuple(avals))
        bodies = [Body(_arrays_from(f), treedef, avals) for f in functions]
        found, self.held = joined([b.jaxpr for b in bodies])
        self.run = [_evaluator(jaxpr) for jaxpr in found]
        self.out_avals = [jaxpr.out_avals[0] for jaxpr in found]


def _arrays_from(f: Function) -> Function:
    def called(*xs: Any) -> Any:
        return array_of(f(*xs))

    return called


def _evaluator(jaxpr: Jaxpr) -> Function:
    def run(*xs: Any) -> Any:
        return eval_jaxpr(jaxpr, *xs)[0]

    return run


# ---------------------------------------------------------------- solvers on plain arrays


@dataclass(frozen=True, eq=False)
class Host(Deferred):
    """A function of plain arrays, called when their values are known; one example at a time."""

    name: str
    f: FlatFunction
    in_avals: tuple[Aval, ...]
    out_avals: tuple[Aval, ...]

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return self.name

    def __call__(self, *xs: Any) -> list[Any]:
        for x in xs:
            # also not the symbols of a compiler, whose errors a solver might catch
            if not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
                raise ArgumentError(f"{self.name} needs NumPy arrays, found {type(x)}{where()}")
        found = self.f(*xs)
        return [np.asarray(y, a.dtype) for y, a in zip(found, self.out_avals, strict=True)]

    def mapped(self, size: int, dims: Dims) -> tuple[Deferred, Dims]:
        front: Dims = tuple(None if b is None else 0 for b in dims)

        def each(*xs: Any) -> list[Any]:
            rows = [
                self(*(x if b is None else x[i] for x, b in zip(xs, front, strict=True)))
                for i in range(size)
            ]
            return [np.stack(column) for column in zip(*rows, strict=True)]

        def longer(aval: Aval) -> Aval:
            return Aval((size, *aval.shape), aval.dtype)

        in_avals = tuple(
            a if b is None else longer(a) for a, b in zip(self.in_avals, front, strict=True)
        )
        return Host(self.name, each, in_avals, tuple(map(longer, self.out_avals))), front


def on_host(name: str, f: FlatFunction, xs: Sequence[Any], out_avals: Sequence[Aval]) -> list[Any]:
    """``f(*xs)`` as constants to every derivative, computed when the values are known.

    Under `vmap` it is called for one example after another, in compiled programs when they run.
    """
    require_host(name, *xs)
    avals = tuple(map(aval_of, xs))
    host = Host(name, f, avals, tuple(out_avals))
    return list(deferred_call(*map(stop_gradient, xs), of=host))


# ---------------------------------------------------------------- derivatives of what they find


def with_tangent(
    name: str,
    x: Any,
    held: Sequence[Any],
    tangent: Function,
    pullback: Function | None = None,
    linear: int | None = None,
) -> Any:
    """`x`, which depends on `held` as ``tangent(x, held, dots)`` says, a linear function of `dots`.

    `dots` are None for what has no derivative. ``pullback(x, held, places, ct)`` gives the cotangents
    of the values at `places`; without it `tangent` is transposed. The rules hold at `x` with its own
    derivatives, so they are right to any order. In ``held[linear]`` `x` is linear.
    """
    places = [i for i, h in enumerate(held) if isinstance(h, Tracer)]
    flags = [aval_of(h).dtype.kind in "fc" for h in held]
    if not any(flags[i] for i in places):
        return x

    def value(x: Any, *traced: Any) -> list[Any]:
        return [x]

    def filled(values: Sequence[Any], among: Sequence[Any]) -> list[Any]:
        found = list(among)
        for i, v in zip(places, values, strict=True):
            found[i] = v
        return found

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        (y,) = custom_call(*primals, rules=rules)
        dots = filled(tangents[1:], [None] * len(held))
        dots = [t if f else None for t, f in zip(dots, flags, strict=True)]
        dot = tangent(y, filled(primals[1:], held), dots)
        return [y], [zeros_like(y) if dot is None else dot]

    def backward(residual: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        y, _, *traced = residual
        moving = [i for i in places if flags[i]]
        found = iter(pullback(y, filled(traced, held), moving, cts[0]))  # type: ignore[misc]
        return [None, *(next(found) if flags[i] else None for i in places)]

    rules = Rules(
        name,
        value,
        jvp=jvp,
        backward=backward if pullback else None,
        linear=(0, *(1 + n for n, i in enumerate(places) if i == linear)) if pullback else (),
    )
    return custom_call(x, *(held[i] for i in places), rules=rules)[0]


def directional(f: Function, held: Sequence[Any], dots: Sequence[Any]) -> Any:
    """The derivative of ``f(*held)`` along `dots`; None if it is zero."""
    return jvp_flat(lambda *h: [f(*h)], held, dots)[1][0]
