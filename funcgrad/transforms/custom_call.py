"""The primitive behind `custom_rule`, `custom_jvp` and `custom_vjp` (see `custom.py`).

Its parameter is a `Rules`: the function and the subset of {jvp, vjp, transpose, batch} that the
user gave, on flat lists of arrays. What was not given is
derived: the tangent from the pullback by transposing it, the pullback from the tangent likewise, the
batch rule by mapping the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..algebra import zeros_like
from ..core import EVAL, Aval, Primitive, aval_of, current, dtype_of, moves, tangent_dtype
from ..errors import RuleError, where
from ..jaxpr import Jaxpr, Var, eval_jaxpr, live
from ..views import snapshot
from .bodies import depending
from .jvp import instantiate, jvp_flat
from .program_call import open_jaxpr, read_by
from .trace import JaxprTrace, JaxprTracer, trace_to_jaxpr
from .transpose import transpose_jaxpr
from .vmap import batch_flat, move_batch

FlatFunction = Callable[..., list[Any]]


# Which operands a derivative is wanted by, while a jvp rule or a forward rule runs.
perturbed: ContextVar[tuple[bool, ...]] = ContextVar("perturbed", default=())


class Rules:
    """A function on flat lists and its rules.

    `jvp`: ``(primals, tangents) -> (outs, out tangents)``. `backward`: ``(residual, cts) ->
    cotangents``, and `forward`: ``(*xs) -> (outs, residual leaves)``; without it the residual is
    ``(*outs, *xs)``. `transpose`: ``(cts, known) -> cotangents``, where `f` is linear in the
    operands that are None in `known`; without `jvp` it is linear in all of them. `batch`: ``(size,
    bdims, *xs) -> (outs, out bdims)``. `program`: of `f`, for operands of some types. Of the operands
    the first `held` are what `f` closes over, of which the user's rules know nothing. In the `linear`
    ones together `f` is linear, so `backward`, at 0, is its transpose there.
    """

    __slots__ = (
        *("backward", "batch", "f", "forward", "held", "jvp", "linear", "name", "program"),
        "transpose",
    )

    def __init__(
        self,
        name: str,
        f: FlatFunction,
        *,
        jvp: Any = None,
        forward: Any = None,
        backward: Any = None,
        transpose: Any = None,
        batch: Any = None,
        program: Jaxpr | None = None,
        held: int = 0,
        linear: tuple[int, ...] = (),
    ) -> None:
        self.name = name
        self.f = f
        self.jvp = jvp
        self.forward = forward
        self.backward = backward
        self.transpose = transpose
        self.batch = batch
        self.program = program
        self.held = held
        self.linear = linear

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def is_linear(self) -> bool:
        """Whether `f` is linear in all of its operands together."""
        return self.transpose is not None and self.jvp is None

    def _told(self, moving: Sequence[bool], rule: Callable[..., Any], *args: Any) -> Any:
        """What a rule of the user's gives, who can ask which operands are `moving`."""
        token = perturbed.set(tuple(moving[self.held :]))
        try:
            return rule(*args)
        finally:
            perturbed.reset(token)

    def recorded(
        self, xs: Sequence[Any], moving: Sequence[bool]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """The results, and what `backward` reads, where some of the operands are `moving`.

        They are a call with these rules: a derivative of the derivative goes by them, not through
        the function.
        """
        if self.forward is not None:
            return self._told(moving, self.forward, *xs)
        outs = custom_call(*xs, rules=self)
        return outs, [*outs, *xs]

    def tangent_rule(
        self,
        primals: Sequence[Any],
        tangents: Sequence[Any],
        moving: Sequence[bool],
        ans: Sequence[Any] = (),
    ) -> Any:
        """The user's jvp rule, or else the function's own derivative; `ans` if it is known.

        Raises: RuleError: values or tangents of another shape or kind of dtype.
        """
        if self.jvp is not None:
            outs, dots = self._told(moving, self.jvp, primals, tangents)
            for y, z in zip(outs, ans or outs, strict=True):
                found, needed = aval_of(y), aval_of(z)
                fits = np.can_cast(found.dtype, needed.dtype, "equiv")  # in any order of bytes
                if found.shape != needed.shape or not fits:
                    raise RuleError(
                        f"{self.name}: its jvp rule returned the value {found}; the function's is "
                        f"{needed}{where()}"
                    )
            for y, t in zip(outs, dots, strict=True):
                if t is not None:
                    require_fit(
                        f"{self.name}: its jvp rule returned the tangent", t, "the value", y
                    )
            return outs, dots
        outs, dots = jvp_flat(self.f, primals, tangents)
        return outs, [instantiate(t, y) for t, y in zip(dots, outs, strict=True)]

    def untraced(
        self, outs: Sequence[Any], recorder: JaxprTrace, in_vars: Sequence[Var]
    ) -> tuple[Any, ...]:
        """The values of a jvp rule, of which those are recorded, too, that were written into.

        Raises: RuleError: one depends on the tangents.
        """
        traced = [y for y in outs if y.__class__ is JaxprTracer and y.owner is recorder]
        if not traced:
            return tuple(outs)
        program = live(recorder.finish(in_vars, traced))
        if any(read_by(program, program.outs)):
            raise RuleError(
                f"{self.name}: the value that its jvp rule returned depends on the tangents; the "
                f"rule returns the pair (value, tangent){where()}"
            )
        alone = Jaxpr((), program.eqns, program.outs, program.const_vars, program.consts)
        values = {id(y): z for y, z in zip(traced, eval_jaxpr(alone), strict=True)}
        return tuple(values.get(id(y), y) for y in outs)

    def closed(self, program: Jaxpr) -> Rules:
        """These rules for operands that begin with what `f` closes over, the program's constants."""
        n, outs = len(program.consts), len(program.outs)
        opened = open_jaxpr(program)

        def backward(residual: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
            if self.forward is None:
                residual = (*residual[:outs], *residual[outs + n :])
            return [*(None,) * n, *self.backward(residual, cts)]

        def transpose(cts: Sequence[Any], known: Sequence[Any]) -> list[Any]:
            return [*(None,) * n, *self.transpose(cts, known[n:])]

        def batch(size: int, bdims: Sequence[int | None], *xs: Any) -> Any:
            return self.batch(size, bdims[n:], *xs[n:])

        return Rules(
            self.name,
            lambda *xs: eval_jaxpr(opened, *xs),
            jvp=self.jvp and (lambda xs, ts: self.jvp(xs[n:], ts[n:])),
            forward=self.forward and (lambda *xs: self.forward(*xs[n:])),
            backward=self.backward and backward,
            transpose=self.transpose and transpose,
            batch=self.batch and batch,
            program=opened,
            held=n,
            linear=tuple(i + n for i in self.linear),
        )

    def require_still(self, is_moving: Sequence[bool]) -> None:
        """Refuse derivatives by what `f` closes over where the rules are the user's."""
        has_rules = self.jvp is not None or self.backward is not None
        if has_rules and any(is_moving[: self.held]):
            raise RuleError(
                f"{self.name}: it closes over a value by which it is differentiated, and its rules "
                f"say nothing of that; pass the value as an argument{where()}"
            )


class CustomCall(Primitive):
    """Calls a function that brings its own rules."""

    multiple = True
    closes = True

    def aval(self, *avals: Any, **params: Any) -> tuple[Aval, ...]:
        rules: Rules = params["rules"]
        return tuple(rules_program(rules, avals).out_avals)

    def closed(self, avals: Sequence[Aval], params: dict) -> tuple[Sequence[Any], dict]:
        rules: Rules = params["rules"]
        if rules.program is not None or rules.is_linear:
            return (), params
        program = trace_to_jaxpr(rules.f, avals)
        return program.consts, {"rules": rules.closed(program)}

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        rules: Rules = params["rules"]
        moving = [t is not None for t in ts]
        rules.require_still(moving)
        full = [instantiate(t, x) for t, x in zip(ts, xs, strict=True)]
        if rules.is_linear:
            return self(*full, rules=rules)
        if rules.backward is None or rules.jvp is not None:
            dots = rules.tangent_rule(xs, full, moving, ans)[1]
            return tuple(t if moves(dtype_of(y)) else None for t, y in zip(dots, ans, strict=True))
        residual = [snapshot(x, copy=True) for x in rules.recorded(xs, moving)[1]]
        n = rules.held
        return tuple(_transposed(lambda *cts: rules.backward(residual, cts)[n:], ans, ts[n:]))

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        rules: Rules = params["rules"]
        rules.require_still(wanted)
        if rules.backward is not None:
            outs, residual = rules.recorded(xs, wanted)
            return tuple(outs), (residual, None)
        if rules.is_linear:
            return self(*xs, rules=rules), (None, None)
        recorder = JaxprTrace(current.get(), linear=True, lasting=True)
        ts = [
            recorder.new_input(_tangent_aval(x)) if w else zeros_like(x)
            for x, w in zip(xs, wanted, strict=True)
        ]
        in_vars = [t.symbol for t in ts if t.__class__ is JaxprTracer and t.owner is recorder]
        token = current.set(recorder)
        try:
            outs, dots = rules.tangent_rule(xs, ts, wanted)
            dots = [instantiate(t, y) for t, y in zip(dots, outs, strict=True)]
        finally:
            current.reset(token)
        values = rules.untraced(outs, recorder, in_vars)
        return values, (None, recorder.finish(in_vars, dots))

    def reached(self, residual: Any) -> list[int] | None:
        program = residual[1]
        if program is None:
            return None
        flags = depending(program, (True,) * len(program.in_vars))
        return [i for i, depends in enumerate(flags) if depends]

    def held(self, residual: Any, keep: Callable[[Any], Any]) -> Any:
        saved, program = residual
        return (saved if saved is None else [*map(keep, saved)]), program

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        rules: Rules = params["rules"]
        saved, program = residual
        if program is not None:
            found = iter(transpose_jaxpr(program, cts))
            return [next(found) if w else None for w in wanted]
        if rules.is_linear:
            return list(rules.transpose(cts, (None,) * len(wanted)))
        return list(rules.backward(saved, cts))

    def cotangents(
        self, ct: Any, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        """Of a linear function inside a linear program; those `xs` are types that are `wanted`."""
        rules: Rules = params["rules"]
        if rules.transpose is None:
            moving = [i for i, w in enumerate(wanted) if w]
            if not {*moving} <= {*rules.linear}:
                return _transposed_alone(rules, ct, xs, wanted)
            full = [zeros_like(x) if w else x for x, w in zip(xs, wanted, strict=True)]
            cts = [instantiate(c, a) for c, a in zip(ct, ans, strict=True)]
            found = rules.backward([*map(zeros_like, ans), *full], cts)
            return [c if w else None for c, w in zip(found, wanted, strict=True)]
        rules.require_still(wanted)
        cts = [instantiate(c, a) for c, a in zip(ct, ans, strict=True)]
        known = [None if w else x for x, w in zip(xs, wanted, strict=True)]
        return list(rules.transpose(cts, known))

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        return False, (False,) * len(wanted)

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        rules: Rules = params["rules"]
        if rules.batch is not None and not any(b is not None for b in bdims[: rules.held]):
            return rules.batch(size, tuple(bdims), *xs)
        outs = self(*xs, rules=_batched_rules(rules, size, tuple(bdims)))
        return outs, (0,) * len(outs)


def _custom_call_impl(xp, *xs, rules):
    """``f(*xs)`` for a function that carries rules of its own (`custom_rule`).

    Shapes: those of the function.   Dtypes: those of the function.
    Derivative: the user's rule; what it does not say is derived from it.
    Raises: NotLinearError: a map that is to be transposed, and has no rule for that, is not linear.
    Source: the rules are the user's.

    >>> import funcgrad
    >>> clipped = funcgrad.custom_rule(lambda x: x, vjp=lambda ct, ans, x: (min(ct, 1.0),))
    >>> float(funcgrad.grad(lambda x: 5.0 * clipped(x))(1.0))
    1.0
    """
    token = current.set(EVAL)
    try:
        return tuple(rules.f(*xs))
    finally:
        current.reset(token)


custom_call = CustomCall(_custom_call_impl, register_as="custom_call")


# What the numbers of these kinds of dtype are part of; what is not there holds no numbers.
_WIDTHS = {"b": 0, "i": 0, "u": 0, "f": 1, "V": 1, "c": 2}


def require_fit(returned: str, given: Any, whose: str, like: Any) -> None:
    """Refuse what a user's rule returned as the derivative that belongs to `like`, if it cannot be.

    Integers have no derivative but zero, and what is returned for them counts for nothing.

    Raises: RuleError: another shape, or a kind of dtype that derivatives of `like` are not of.
    """
    found, needed = aval_of(given), aval_of(like)
    if found.shape != needed.shape:
        raise RuleError(f"{returned} {found} for {whose}, which is {needed}{where()}")
    if not moves(needed.dtype):
        return
    width, most = _WIDTHS.get(found.dtype.kind, 3), _WIDTHS[needed.dtype.kind]
    if width > most or (width == 0 and not found.weak):
        need = "real or complex floating" if most == 2 else "real floating"
        raise RuleError(
            f"{returned} {found} for {whose}, which is {needed}; need {need} numbers{where()}"
        )


def _tangent_aval(x: Any) -> Aval:
    aval = aval_of(x)
    return Aval(aval.shape, tangent_dtype(aval.dtype))


def _transposed(linear: FlatFunction, outs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
    """The transpose of ``cts of outs -> cts of the inputs``, applied to tangents of the inputs."""
    program = trace_to_jaxpr(linear, [_tangent_aval(y) for y in outs])
    found = transpose_jaxpr(program, ts)
    return [instantiate(t, y) for t, y in zip(found, outs, strict=True)]


def _transposed_alone(
    rules: Rules, ct: Sequence[Any], xs: Sequence[Any], wanted: Sequence[bool]
) -> list[Any]:
    """Cotangents of operands in which the function itself is linear.

    Derivatives were taken before, by its rules: what is left to do is to transpose what it computes.
    """

    def linear(*ts: Any) -> list[Any]:
        rest = iter(ts)
        return rules.f(*[next(rest) if w else x for x, w in zip(xs, wanted, strict=True)])

    program = trace_to_jaxpr(linear, [x for x, w in zip(xs, wanted, strict=True) if w])
    found = iter(transpose_jaxpr(program, ct))
    return [next(found) if w else None for w in wanted]


def _batched_rules(rules: Rules, size: int, bdims: tuple[int | None, ...]) -> Rules:
    """The same rules for operands with batch axes `bdims`; batch axes of results are in front."""

    def mapped(f: FlatFunction, axes: Sequence[int | None]) -> FlatFunction:
        def run(*xs: Any) -> list[Any]:
            return [move_batch(y, b, 0, size) for y, b in batch_flat(f, xs, axes, size)]

        return run

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        count = len(primals)

        there: list[bool] = []

        def flat(*xs: Any) -> list[Any]:
            outs, dots = rules.jvp(xs[:count], xs[count:])
            there[:] = [t is not None for t in dots]
            return [*outs, *(t for t in dots if t is not None)]

        both = mapped(flat, (*bdims, *bdims))(*primals, *tangents)
        outs, dots = both[: len(there)], iter(both[len(there) :])
        return outs, [next(dots) if t else None for t in there]

    saved: list[int | None] = []  # batch axes of the residual: what all have in common has none

    def forward(*xs: Any) -> Any:
        split = 0

        def flat(*xs: Any) -> list[Any]:
            nonlocal split
            outs, residual = rules.forward(*xs)
            split = len(outs)
            return [*outs, *residual]

        both = batch_flat(flat, xs, bdims, size)
        saved[:] = [None if b is None else 0 for _, b in both[split:]]
        outs = [move_batch(y, b, 0, size) for y, b in both[:split]]
        return outs, [y if b is None else move_batch(y, b, 0, size) for y, b in both[split:]]

    def pulled(
        f: Callable[..., Any], operands: Sequence[Any], axes: Sequence[int | None]
    ) -> list[Any]:
        there: list[bool] = []

        def given(*values: Any) -> list[Any]:
            found = f(*values)
            there[:] = [c is not None for c in found]
            return [c for c in found if c is not None]

        cts = iter(mapped(given, axes)(*operands))
        full = [next(cts) if t else None for t in there]
        return [
            c if c is None else c.sum(axis=0) if b is None else move_batch(c, 0, b, size)
            for c, b in zip(full, bdims, strict=True)
        ]

    def backward(residual: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        count = len(residual)
        if rules.forward is None:
            saved[:] = [*[0] * (count - len(bdims)), *bdims]
        axes = [*saved, *[0] * len(cts)]
        return pulled(lambda *v: rules.backward(v[:count], v[count:]), [*residual, *cts], axes)

    def transpose(cts: Sequence[Any], known: Sequence[Any]) -> list[Any]:
        count = len(cts)
        given = [(x, b) for x, b in zip(known, bdims, strict=True) if x is not None]

        def each(*values: Any) -> list[Any]:
            rest = iter(values[count:])
            return rules.transpose(values[:count], [x if x is None else next(rest) for x in known])

        axes = [*[0] * count, *(b for _, b in given)]
        return pulled(each, [*cts, *(x for x, _ in given)], axes)

    return Rules(
        rules.name,
        mapped(rules.f, bdims),
        jvp=jvp if rules.jvp else None,
        forward=forward if rules.forward else None,
        backward=backward if rules.backward else None,
        transpose=transpose if rules.transpose else None,
        held=rules.held,
        linear=rules.linear,
    )


def rules_program(rules: Rules, avals: Sequence[Aval]) -> Jaxpr:
    """The program of the function for operands of these types."""
    if rules.program is not None and [*rules.program.in_avals] == [*avals]:
        return rules.program
    return trace_to_jaxpr(rules.f, avals)
