"""The primitive `while_loop`: a program run for as long as another one says so.

NOTE [Reverse mode of while loops] How many steps there are is known only when they are run. Where
values are known, the way there saves what every step needs in a list, and the way back reads it.
Where they are not (in a program, under `vmap`), the cotangents are a step of their own, which runs
the loop a second time, on values, and keeps that list for itself (`deferred.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core import Aval, aval_of, current
from ..indexing import known
from ..jaxpr import Jaxpr, eval_jaxpr, quiet
from ..ops.index import take
from ..ops.select import where as select
from ..ops.structural import expand_dims
from .bodies import (
    Control,
    Flags,
    Split,
    all_known,
    batched_program,
    chosen,
    depending,
    derived,
    has_own_rules,
    inexact,
    joined,
    jvp_program,
    mask_of,
    memo_of,
    moving_outs,
    on_examples,
    placed,
    run,
    split_of,
    strong,
    tangent_aval,
    zeros,
)
from .control import put_together, take_rows
from .deferred import Deferred, WithTangents, pulled_back
from .vmap import move_batch


class Counts(NamedTuple):
    """How many values the test and the body close over; the other operands are the carry."""

    test: int
    body: int

    def parts(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        k = self.test + self.body
        return list(xs[: self.test]), list(xs[self.test : k]), list(xs[k:])


def _moving(body: Jaxpr, moving: Sequence[bool], carry: Sequence[bool]) -> Flags:
    """Which carries have a tangent at any step; `moving`: which closed-over values have one."""
    full = inexact((*moving, *carry), body.in_avals)
    moving, flags = full[: len(moving)], list(full[len(moving) :])
    while True:
        outs = moving_outs(body, (*moving, *flags))
        more = [a or b for a, b in zip(flags, outs, strict=True)]
        if more == flags:
            return tuple(flags)
        flags = more


@dataclass(frozen=True)
class Looped(Deferred):
    """A loop as a function, for its deferred derivatives."""

    test: Jaxpr
    body: Jaxpr
    counts: Counts
    __name__ = "while_loop"

    @property
    def in_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        return (*self.test.in_avals[: self.counts.test], *self.body.in_avals)

    @property
    def out_avals(self) -> tuple[Aval, ...]:  # type: ignore[override]
        return tuple(map(strong, self.body.out_avals))

    def with_tangents(self, moving: Flags) -> WithTangents | None:
        return None if has_own_rules(self.body) else self.moved(moving)

    def moved(self, moving: Flags) -> WithTangents | None:
        """The loop that carries tangents too; None if no carry moves."""
        test, body, counts = self.test, self.body, self.counts
        n, b, count = counts.test, counts.body, len(self.out_avals)
        _, live, flags = map(tuple, counts.parts(moving))
        flags = _moving(body, live, flags)
        if not any(flags):
            return None
        program = jvp_program(body, (*live, *flags), flags)
        of_body, of_carry = program.in_vars[:b], program.in_vars[b : b + count]
        dots = program.in_vars[b + count :]
        in_vars = (*program.const_vars, *of_body, *dots[: sum(live)], *of_carry, *dots[sum(live) :])
        avals = [*test.in_avals, *(tangent_aval(a) for a in chosen(body.out_avals, flags))]
        tested = memo_of(
            test,
            ("ignoring", flags),
            lambda: derived(lambda *xs: eval_jaxpr(test, *xs[: len(test.in_vars)]), avals),
        )
        loop = Looped(
            joined([tested])[0][0],
            Jaxpr(in_vars, program.eqns, program.outs),
            Counts(len(tested.consts) + n, len(program.consts) + b + sum(live)),
        )
        all_of, consts = n + b + count, [*tested.consts, *program.consts]
        of_consts = range(2 * all_of, 2 * all_of + len(consts))
        places = [
            *(*of_consts[: len(tested.consts)], *range(n)),
            *(*of_consts[len(tested.consts) :], *range(n, n + b)),
            *(all_of + n + i for i, moves in enumerate(live) if moves),
            *range(n + b, all_of),
            *(all_of + n + b + i for i, moves in enumerate(flags) if moves),
        ]
        return WithTangents(loop, tuple(places), consts, flags)

    def rewritten(self, rewrite: Callable[[Jaxpr], Jaxpr]) -> Deferred:
        return Looped(rewrite(self.test), rewrite(self.body), self.counts)

    def __call__(self, *xs: Any) -> list[Any]:
        return list(while_call(*xs, test=self.test, body=self.body, counts=self.counts))


class Unwound(NamedTuple):
    """The pullback of a loop as four programs: `test` and `step`, a loop that counts the steps first in
    its carry; `forward` for each of them, which also makes rows of what is needed later; `backward`
    for each of these rows, the last first, on the values closed over at `same` and a carry of
    cotangents: sums by the values closed over at `sums`, and those of the carry at `moving`.
    """

    test: Jaxpr
    step: Jaxpr
    forward: Jaxpr
    backward: Jaxpr
    same: list[int]
    sums: list[int]
    moving: list[int]


def unwound(of: Looped, wanted: Flags, given: Flags) -> Unwound:
    """The programs from which code is printed for the pullback of a loop by cotangents of `given`."""
    test, body, counts = of.test, of.body, of.counts
    n, b = counts.test, counts.body
    (split,) = while_call.splits(wanted, {"test": test, "body": body, "counts": counts})
    carry, count = body.in_avals[b:], Aval((), np.dtype(np.int64))
    flags = split.reached([given[i] for i in split.moving], b, len(carry))
    program, places = split.backward_of(flags)
    live = chosen(split.moving, flags)
    _, b_wanted, k_wanted = counts.parts(wanted)
    moves = _moving(body, b_wanted, k_wanted)
    ends = [i for i, m in enumerate(moves) if m and given[i]]
    moving = split.carried(live, places, ends, b, len(carry))
    same = [i for i in split.kept if i < b]
    sums = [i for i in places if i < b]
    made = split.forward.out_avals[split.count :]
    kept = [i for i in split.kept if i >= b]

    def forward(*xs: Any) -> list[Any]:
        return [*eval_jaxpr(split.forward, *xs), *(xs[i] for i in kept)]

    def backward(*xs: Any) -> list[Any]:
        known, xs = xs[: len(same)], xs[len(same) :]
        totals, cts, rows = _cut(xs, len(sums), len(moving))
        of_carry = dict(zip(moving, cts, strict=True))
        of_live = (of_carry[i] for i in live)
        found = eval_jaxpr(program, *rows[: len(made)], *known, *rows[len(made) :], *of_live)
        gradients = dict(zip(places, found, strict=True))
        before = [gradients.get(b + i) for i in moving]
        return [
            *(t + gradients[i] for t, i in zip(totals, sums, strict=True)),
            *(zeros(c) if g is None else g for g, c in zip(before, carry_types, strict=True)),
        ]

    carry_types = [tangent_aval(carry[i]) for i in moving]
    return Unwound(
        derived(
            lambda *xs: eval_jaxpr(test, *xs[:n], *xs[n + 1 :]), [*test.in_avals[:n], count, *carry]
        ),
        derived(
            lambda *xs: [xs[b] + 1, *eval_jaxpr(body, *xs[:b], *xs[b + 1 :])],
            [*body.in_avals[:b], count, *carry],
        ),
        derived(forward, body.in_avals),
        derived(
            backward,
            [
                *(body.in_avals[i] for i in same),
                *(tangent_aval(body.in_avals[i]) for i in sums),
                *carry_types,
                *made,
                *(body.in_avals[i] for i in kept),
            ],
        ),
        same,
        sums,
        moving,
    )


def _cut(xs: Sequence[Any], *lengths: int) -> list[Sequence[Any]]:
    """Parts of these lengths, one after another, and the rest."""
    ends = np.cumsum([0, *lengths]).tolist()
    return [xs[i:j] for i, j in zip(ends, [*ends[1:], None], strict=True)]


class WhileLoop(Control):
    """Runs the program `body` on the carry while the program `test` gives true."""

    def aval(self, *avals: Any, **params: Any) -> tuple[Aval, ...]:
        return tuple(map(strong, params["body"].out_avals))

    # ------------------------------------------------------------ forward mode

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        found = Looped(**params).moved(tuple(t is not None for t in ts))
        if found is None:
            return (None,) * len(ans)
        outs = found.function(*found.operands(xs, ts))
        places = [i for i, m in enumerate(found.moving) if m]
        return tuple(placed(outs[len(ans) :], places, len(ans)))

    # ------------------------------------------------------------ reverse mode

    def splits(self, wanted: Flags, params: dict) -> Sequence[Split]:
        _, b_wanted, k_wanted = params["counts"].parts(wanted)
        moving = _moving(params["body"], b_wanted, k_wanted)
        return [split_of(params["body"], (*b_wanted, *moving))]

    def touched(self, flags: Sequence[bool], params: dict) -> Sequence[Sequence[bool]]:
        tested, consts, carry = params["counts"].parts(flags)
        while True:
            if any(depending(params["test"], [*tested, *carry])):
                return [[*consts, *(True for _ in carry)]]
            outs = depending(params["body"], [*consts, *carry])
            after = [a or b for a, b in zip(carry, outs, strict=True)]
            if after == list(carry):
                return [[*consts, *carry]]
            carry = after

    def moves(self, flags: Sequence[bool], params: dict) -> list[bool]:
        (operands,) = self.touched(flags, params)
        return list(operands[params["counts"].body :])

    def is_linear(self, wanted: Sequence[bool], params: dict, asked: Collection[int]) -> bool:
        """Also: the test does not depend on these operands."""
        tested = params["counts"].parts(wanted)[0]
        return not any(
            depending(params["test"], [*tested, *self.moves(wanted, params)])
        ) and super().is_linear(wanted, params, asked)

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        if not all_known(xs):
            outs = self(*xs, **params)
            # the way back does not read what it is linear in
            if self.is_linear(wanted, params, range(len(outs))):
                xs = [zeros(aval_of(x)) if w else x for x, w in zip(xs, wanted, strict=True)]
            return outs, (None, list(xs))
        test, counts = params["test"], params["counts"]
        (split,) = self.splits(tuple(wanted), params)
        t_consts, b_consts, carry = counts.parts(xs)
        steps = []
        while bool(known(eval_jaxpr(test, *t_consts, *carry)[0])):
            operands = [*b_consts, *carry]
            outs = eval_jaxpr(split.forward, *operands)
            kept = [operands[i] for i in split.kept if i >= counts.body]
            steps.append((outs[split.count :], kept))
            carry = outs[: split.count]
        same = [b_consts[i] for i in split.kept if i < counts.body]
        return tuple(carry), (split, (same, steps))

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        split, saved = residual
        counts = params["counts"]
        (of_step,) = self.splits(tuple(wanted), params) if split is None else (split,)
        flags = of_step.reached([cts[i] is not None for i in of_step.moving], counts.body, len(cts))
        program, places = of_step.backward_of(flags)
        if split is None:
            ends = {counts.body + i for i, ct in enumerate(cts) if ct is not None}
            reached = [w and i - counts.test in ends.union(places) for i, w in enumerate(wanted)]
            return pulled_back(Looped(**params).rewritten(quiet), saved, cts, reached)
        same, steps = saved
        moving = [(i, params["body"].out_avals[i]) for i in chosen(split.moving, flags)]
        sums: list[Any] = [None] * counts.body
        carry: list[Any] = list(cts)
        for made, kept in reversed(steps):
            of_carry = [zeros(a) if carry[i] is None else carry[i] for i, a in moving]
            outs = eval_jaxpr(program, *made, *same, *kept, *of_carry)
            carry = [None] * len(cts)
            for i, g in zip(places, outs, strict=True):
                if i >= counts.body:
                    carry[i - counts.body] = g
                else:
                    sums[i] = g if sums[i] is None else sums[i] + g
        full = [*[None] * counts.test, *sums, *carry]
        return [g if w else None for g, w in zip(full, wanted, strict=True)]

    # ------------------------------------------------------------ batches

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        test, body, counts = params["test"], params["body"], params["counts"]
        t_dims, b_dims, k_dims = counts.parts(bdims)
        batched = [b is not None for b in k_dims]
        while True:
            axes = [0 if b else None for b in batched]
            stepped, found = batched_program(body, size, (*b_dims, *axes), tuple(batched))
            tested, (many,) = batched_program(test, size, (*t_dims, *axes), (False,))
            found = (True,) * len(batched) if many else found
            if list(found) == batched:
                break
            batched = list(found)
        t_consts, b_consts, carry = counts.parts(xs)
        carry = [
            move_batch(c, d, 0, size) if b else c
            for c, d, b in zip(carry, k_dims, batched, strict=True)
        ]
        if not many:
            outs = self(
                *tested.consts,
                *t_consts,
                *stepped.consts,
                *b_consts,
                *carry,
                test=joined([tested])[0][0],
                body=joined([stepped])[0][0],
                counts=Counts(len(tested.consts) + counts.test, len(stepped.consts) + counts.body),
            )
        elif size == 0:
            outs = tuple(carry)
        elif all_known(xs):
            outs = _active_rows(size, xs, bdims, carry, params)
        else:
            operands = [*t_consts, *b_consts, *carry]
            outs = _masked(tested, stepped, operands, b_dims, size, counts)
        return outs, tuple(axes)


def _active_rows(
    size: int,
    xs: Sequence[Any],
    bdims: Sequence[int | None],
    carry: Sequence[Any],
    params: dict,
) -> tuple[Any, ...]:
    """The loop for every example until its own test fails; then its row is taken out."""
    test, body, counts = params["test"], params["body"], params["counts"]
    t_consts, b_consts, _ = counts.parts(xs)
    t_dims, b_dims, _ = counts.parts(bdims)
    front = [0] * len(carry)
    carry = list(carry)
    rows = np.arange(size)
    pieces: list[list[Any]] = []
    order: list[Any] = []
    while rows.size:
        going = on_examples(test, [*t_consts, *carry], [*t_dims, *front], rows.size)[0]
        flags = np.asarray(known(going), dtype=bool)
        if not flags.all():
            done, left = np.flatnonzero(~flags), np.flatnonzero(flags)
            pieces.append(take_rows(carry, front, done))
            order.append(rows[done])
            carry = take_rows(carry, front, left)
            t_consts = take_rows(t_consts, t_dims, left)
            b_consts = take_rows(b_consts, b_dims, left)
            rows = rows[left]
        if rows.size:
            carry = on_examples(body, [*b_consts, *carry], [*b_dims, *front], rows.size)
    return put_together(pieces, order) if pieces else tuple(carry)


def _masked(
    tested: Jaxpr,
    stepped: Jaxpr,
    xs: Sequence[Any],
    dims: Sequence[int | None],
    size: int,
    counts: Counts,
) -> tuple[Any, ...]:
    """The loop on all examples until all are done; those that are done before keep their carry.

    The body runs on them all the same, with the operands of the first that still goes, since at
    their own it may warn or raise. Where the values closed over are large these are not chosen anew
    in every step: a finished example repeats its last one, or that of the first to go.
    """
    n, k = counts.test, counts.test + counts.body
    t_consts, b_consts, carry = xs[:n], list(xs[n:k]), list(xs[k:])
    count = len(carry)
    rows = current.get().namespace().arange(size)

    def flagged(t_consts: Sequence[Any], carry: Sequence[Any], going: Any) -> list[Any]:
        more = eval_jaxpr(tested, *t_consts, *carry)[0].astype(bool)
        going = more if going is None else going & more
        return [select(going, rows, size).min(), going]

    def step(*values: Any) -> list[Any]:
        t_consts, b_consts, (first, going, *rest) = values[:n], list(values[n:k]), values[k:]
        carry, before = rest[:count], rest[count:]

        def fed(x: Any, d: int | None) -> Any:
            if d is None:
                return x
            other = take(x, first, axis=d, bounds="known")
            return select(mask_of(going, x, d), x, expand_dims(other, axis=(d,)))

        if before:
            fit = [select(mask_of(going, c), c, b) for c, b in zip(carry, before, strict=True)]
        else:
            b_consts = list(map(fed, b_consts, dims))
            fit = [fed(c, 0) for c in carry]
        new = eval_jaxpr(stepped, *b_consts, *fit)
        new = [select(mask_of(going, c), y, c) for y, c in zip(new, carry, strict=True)]
        return [*flagged(t_consts, new, going), *new, *(fit if before else ())]

    state = [*flagged(t_consts, carry, None), *carry]
    if _size(b_consts, dims) > 2 * _size(carry, [0] * count):
        first, going = state[:2]
        chosen_rows = select(going, rows, first % size)
        b_consts = take_rows(b_consts, dims, chosen_rows)
        state += take_rows(carry, [0] * count, chosen_rows)
    operands = [*t_consts, *b_consts, *state]
    avals = list(map(aval_of, operands))

    def make() -> tuple[Jaxpr, Jaxpr]:
        return derived(lambda first, *_: [first < size], avals[k:]), derived(step, avals)

    key = ("masked", tested, counts, tuple(dims), tuple(avals))
    test, body = memo_of(stepped, key, make)
    outs = while_call(
        *test.consts,
        *body.consts,
        *operands,
        test=joined([test])[0][0],
        body=joined([body])[0][0],
        counts=Counts(len(test.consts), len(body.consts) + k),
    )
    return tuple(outs[2 : 2 + count])


def _size(xs: Sequence[Any], dims: Sequence[int | None]) -> int:
    """The elements of the operands that are batched."""
    return sum(aval_of(x).size for x, d in zip(xs, dims, strict=True) if d is not None)


def _while_impl(xp, /, *operands, test, body, counts):
    """The carry for which the program `test` first fails, from running the program `body`.

    Shapes: those of the carry.   Dtypes: those of the carry.
    Derivative: that of the steps taken.
    Raises: what the programs raise.
    Source: Griewank & Walther, "Evaluating Derivatives", SIAM 2008, section 3.

    >>> import funcgrad
    >>> f = lambda x: funcgrad.lax.while_loop(lambda y: y < 10.0, lambda y: y * y, x)
    >>> float(funcgrad.jit(funcgrad.grad(f))(2.0))
    32.0
    """
    t_consts, b_consts, carry = counts.parts(operands)
    going, step = run(test), run(body)
    while bool(going(*t_consts, *carry)[0]):
        carry = step(*b_consts, *carry)
    return tuple(carry)


while_call = WhileLoop(_while_impl, register_as="while_loop")
