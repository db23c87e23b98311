"""Derivatives that are taken when values are known: the primitive `while_derivative`.

The pullback of a loop is found by running it, as only that says how many steps there are. In a program
it is one step: a `Deferred` function, which is called on arrays. Its own derivatives are pullbacks of
loops again: of the loop that carries tangents too, see NOTE [Second derivatives of loops]. Where a
rule of the user's forbids that, they are derivatives of the deferred function.

NOTE [Second derivatives of loops] For a function f, G(x, t) = (f(x), f'(x) t) is what the loop with
tangents computes. The tangent of the pullback ``f'(x)^T c`` along (t, s) is, as second derivatives are
symmetric, the pullback of G by x with the cotangents (s, c). The pullback of the pullback, with a
cotangent z, is by x the pullback of G along z with the cotangents (0, c), and by c it is ``f'(x) z``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..core import EVAL, Aval, aval_of, current, moves
from ..jaxpr import Jaxpr
from .bodies import Control, Flags, as_type, chosen, placed, strong, tangent_aval, zeros
from .jvp import jvp_flat
from .tape import pull_back
from .vjp import record_flat
from .vmap import batch_flat, move_batch

Dims = tuple[int | None, ...]


class WithTangents(NamedTuple):
    """A deferred function that computes tangents too.

    Its operands are, by `places`, those of the function, their tangents and `consts`, counted in this
    order; its results are those of the function and the tangents of those in `moving`.
    """

    function: Deferred
    places: tuple[int, ...]
    consts: list[Any]
    moving: Flags

    def operands(self, xs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
        """What to call the function with; tangents that are None are zero."""
        given = [*xs, *ts, *self.consts]
        found = [given[p] for p in self.places]
        return [
            zeros(aval_of(given[p - len(xs)])) if x is None else x
            for p, x in zip(self.places, found, strict=True)
        ]

    def pulled_back(
        self, xs: Sequence[Any], ts: Sequence[Any], cts: Sequence[Any], wanted: Sequence[bool]
    ) -> list[Any]:
        """Cotangents of the function's own operands in `wanted`."""
        by = [p < len(xs) and wanted[p] for p in self.places]
        of_tangents = [len(xs) <= p < 2 * len(xs) for p in self.places]
        of_results = [i < len(self.moving) for i in range(len(cts))]
        linear = (*of_tangents, *chosen(of_results, [ct is not None for ct in cts]))
        found = pulled_back(self.function, self.operands(xs, ts), cts, by, linear)
        places = [p for p, w in zip(self.places, by, strict=True) if w]
        return placed(chosen(found, by), places, len(xs))


class Deferred:
    """A function of flat lists with known types, and what `vmap` makes of it. Hashable."""

    in_avals: tuple[Aval, ...]
    out_avals: tuple[Aval, ...]
    __name__: str

    def __call__(self, *xs: Any) -> list[Any]:
        raise NotImplementedError

    def mapped(self, size: int, dims: Dims) -> tuple[Deferred, Dims]:
        """The function for operands with batch axes, and where it takes those axes to be."""
        return Mapped(self, size, dims), dims

    def is_linear(self, wanted: Sequence[bool]) -> bool:
        """Whether the results are linear in these operands."""
        return False

    def with_tangents(self, moving: Flags) -> WithTangents | None:
        """The function with tangents of these operands, if second derivatives are symmetric in it."""
        return None

    def tangents(self, xs: Sequence[Any], ts: Sequence[Any]) -> list[Any] | None:
        """Tangents of the results by a function of this kind, if there is one."""
        return None

    def cotangents(
        self, xs: Sequence[Any], cts: Sequence[Any], wanted: Sequence[bool]
    ) -> list[Any] | None:
        """Cotangents of the operands in `wanted` by functions of this kind, if there are some."""
        return None

    def rewritten(self, rewrite: Callable[[Jaxpr], Jaxpr]) -> Deferred:
        """The same function, made of programs that do the same as its own, if it has some."""
        return self


def _with_axis(aval: Aval, b: int | None, size: int) -> Aval:
    return aval if b is None else Aval((*aval.shape[:b], size, *aval.shape[b:]), aval.dtype)


@dataclass(frozen=True)
class Mapped(Deferred):
    """A function for a batch; the results have it in front."""

    function: Deferred
    size: int
    dims: Dims

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return f"mapped {self.function.__name__}"

    @property
    def in_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        pairs = zip(self.function.in_avals, self.dims, strict=True)
        return tuple(_with_axis(a, b, self.size) for a, b in pairs)

    @property
    def out_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        return tuple(_with_axis(a, 0, self.size) for a in self.function.out_avals)

    def is_linear(self, wanted: Sequence[bool]) -> bool:
        return self.function.is_linear(wanted)

    def with_tangents(self, moving: Flags) -> WithTangents | None:
        found = self.function.with_tangents(moving)
        if found is None:
            return None
        dims = [*self.dims, *self.dims, *[None] * len(found.consts)]
        mapped = Mapped(found.function, self.size, tuple(dims[p] for p in found.places))
        return found._replace(function=mapped)

    def is_of(self, kind: type) -> bool:
        """Whether it is such a function that is mapped, once or more often."""
        f = self.function
        return f.is_of(kind) if isinstance(f, Mapped) else isinstance(f, kind)

    def rewritten(self, rewrite: Callable[[Jaxpr], Jaxpr]) -> Deferred:
        return Mapped(self.function.rewritten(rewrite), self.size, self.dims)

    def __call__(self, *xs: Any) -> list[Any]:
        outs = batch_flat(self.function, xs, self.dims, self.size)
        return [move_batch(y, b, 0, self.size) for y, b in outs]


@dataclass(frozen=True)
class Derivative(Deferred):
    """What the two derivatives share: the function, and by which operands."""

    function: Deferred
    moving: Flags

    def is_linear(self, wanted: Sequence[bool]) -> bool:
        return not any(wanted[: len(self.moving)])

    def rewritten(self, rewrite: Callable[[Jaxpr], Jaxpr]) -> Deferred:
        return replace(self, function=self.function.rewritten(rewrite))

    @property
    def places(self) -> list[int]:
        return [i for i, m in enumerate(self.moving) if m]

    def mapped(self, size: int, dims: Dims) -> tuple[Deferred, Dims]:
        """The derivative of the mapped function: every operand that moves has the batch in front."""
        count = len(self.moving)
        first = tuple(0 if m else b for m, b in zip(self.moving, dims[:count], strict=True))
        function, taken = self.function.mapped(size, first)
        return replace(self, function=function), (*taken, *(0,) * (len(dims) - count))


@dataclass(frozen=True)
class Pullback(Derivative):
    """Operands and cotangents of the results `given`, to cotangents of the operands that move.

    It is linear in the cotangents, and in those of all that it is given that `linear` names.
    """

    given: Flags
    linear: Flags = ()

    def is_linear(self, wanted: Sequence[bool]) -> bool:
        in_these = any(self.linear) and all(
            f or not w for f, w in zip(self.linear, wanted, strict=True)
        )
        return in_these or super().is_linear(wanted)

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return f"pullback of {self.function.__name__}"

    @property
    def in_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        f = self.function
        return (*f.in_avals, *map(tangent_aval, chosen(f.out_avals, self.given)))

    @property
    def out_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        return tuple(tangent_aval(self.function.in_avals[i]) for i in self.places)

    def _of_results(self, cts: Sequence[Any]) -> list[Any]:
        """What belongs to the cotangents that are given, for each of the function's results."""
        places = [i for i, g in enumerate(self.given) if g]
        return placed(cts, places, len(self.given))

    def tangents(self, xs: Sequence[Any], ts: Sequence[Any]) -> list[Any] | None:
        count = len(self.moving)
        dots, cts, moved = ts[:count], self._of_results(xs[count:]), self._of_results(ts[count:])
        if all(t is None for t in dots):
            return chosen(pulled_back(self.function, xs[:count], moved, self.moving), self.moving)
        found = self.function.with_tangents(tuple(t is not None for t in dots))
        if found is None:
            return None
        seeds = [*moved, *chosen(cts, found.moving)]
        return chosen(found.pulled_back(xs[:count], dots, seeds, self.moving), self.moving)

    def cotangents(
        self, xs: Sequence[Any], cts: Sequence[Any], wanted: Sequence[bool]
    ) -> list[Any] | None:
        count = len(self.moving)
        along, seeds = placed(cts, self.places, count), self._of_results(xs[count:])
        found = self.function.with_tangents(tuple(t is not None for t in along))
        if found is None:
            return None
        by_xs: list[Any] = [None] * count
        by_cts: list[Any] = [None] * (len(xs) - count)
        if any(wanted[:count]):
            seeds = [*[None] * len(self.given), *chosen(seeds, found.moving)]
            by_xs = found.pulled_back(xs[:count], along, seeds, wanted[:count])
        if any(wanted[count:]):
            outs = found.function(*found.operands(xs[:count], along))
            places = [i for i, m in enumerate(found.moving) if m]
            by_cts = chosen(placed(outs[len(self.given) :], places, len(self.given)), self.given)
        return [g if w else None for g, w in zip([*by_xs, *by_cts], wanted, strict=True)]

    def __call__(self, *values: Any) -> list[Any]:
        count = len(self.moving)
        full, cts = list(values[:count]), values[count:]

        def of_moving(*xs: Any) -> list[Any]:
            for i, x in zip(self.places, xs, strict=True):
                full[i] = x
            return self.function(*full)

        by = [as_type(full[i], strong(self.function.in_avals[i])) for i in self.places]
        _, trace, slots = record_flat(of_moving, by, lasting=False)
        seeds = list(zip(chosen(slots, self.given), cts, strict=True))
        found = pull_back(trace.entries, seeds, len(self.places), consume=True)
        pairs = zip(found, self.out_avals, strict=True)
        return [zeros(a) if g is None else as_type(g, a) for g, a in pairs]


class Tangent(Derivative):
    """Operands and tangents of those that move, to tangents of the inexact results."""

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return f"tangent of {self.function.__name__}"

    @property
    def in_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        avals = self.function.in_avals
        return (*avals, *(tangent_aval(avals[i]) for i in self.places))

    @property
    def results(self) -> list[int]:
        """Which results have a tangent."""
        return [i for i, a in enumerate(self.function.out_avals) if moves(a.dtype)]

    @property
    def out_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        return tuple(tangent_aval(self.function.out_avals[i]) for i in self.results)

    def __call__(self, *values: Any) -> list[Any]:
        count = len(self.moving)
        ts = placed(values[count:], self.places, count)
        avals = self.function.in_avals
        by = zip(values[:count], self.moving, avals, strict=True)
        primals = [as_type(x, strong(a)) if m else x for x, m, a in by]
        _, dots = jvp_flat(self.function, primals, ts)
        pairs = zip(self.results, self.out_avals, strict=True)
        return [zeros(a) if dots[i] is None else as_type(dots[i], a) for i, a in pairs]


class DeferredCall(Control):
    """Calls the deferred function `of`."""

    def aval(self, *avals: Any, **params: Any) -> tuple[Aval, ...]:
        return params["of"].out_avals

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        found = params["of"].tangents(xs, ts)
        if found is not None:
            return tuple(found)
        of = Tangent(params["of"], tuple(t is not None for t in ts))
        dots = self(*xs, *(t for t in ts if t is not None), of=of)
        return tuple(placed(dots, of.results, len(ans)))

    def is_linear(self, wanted: Sequence[bool], params: dict, asked: Collection[int]) -> bool:
        return params["of"].is_linear(wanted)

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        outs = self(*xs, **params)
        if params["of"].is_linear(wanted):  # the way back does not read what it is linear in
            xs = [zeros(aval_of(x)) if w else x for x, w in zip(xs, wanted, strict=True)]
        return outs, list(xs)

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        found = params["of"].cotangents(residual, cts, wanted)
        return pulled_back(params["of"], residual, cts, wanted) if found is None else found

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        of, dims = params["of"].mapped(size, tuple(bdims))
        operands = [
            x if to is None else move_batch(x, b, to, size)
            for x, b, to in zip(xs, bdims, dims, strict=True)
        ]
        outs = self(*operands, of=of)
        return outs, (0,) * len(outs)


def pulled_back(
    of: Deferred,
    xs: Sequence[Any],
    cts: Sequence[Any],
    wanted: Sequence[bool],
    linear: Flags = (),
) -> list[Any]:
    """Cotangents of the operands in `wanted`, found when the values are known."""
    pullback = Pullback(of, tuple(wanted), tuple(ct is not None for ct in cts), linear)
    given = [ct for ct in cts if ct is not None]
    return placed(deferred_call(*xs, *given, of=pullback), pullback.places, len(wanted))


def _deferred_impl(xp, /, *xs, of):
    """A derivative that is taken on values: `of` is a loop and which derivative, called on `xs`.

    Shapes, dtypes: those of the derivative.
    Derivative: deferred too.
    Raises: what the loop raises.
    Source: Griewank & Walther, "Evaluating Derivatives", SIAM 2008, section 3.

    >>> import funcgrad, numpy as np
    >>> f = lambda x: funcgrad.lax.while_loop(lambda y: y < 10.0, lambda y: y * y, x)
    >>> [eqn.prim.name for eqn in funcgrad.make_jaxpr(funcgrad.grad(f))(np.ones(())).eqns]
    ['while_loop', 'while_derivative']
    """
    token = current.set(EVAL)
    try:
        return tuple(of(*xs))
    finally:
        current.reset(token)


deferred_call = DeferredCall(_deferred_impl, register_as="while_derivative")
