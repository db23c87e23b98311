"""The primitive `scan`: a program run once for every row, with a carry from each run to the next.

The gradient of a scan is two scans: one that also stacks what the pullback of a step needs, and one
that goes the other way with the cotangents of the carry. What does not change from step to step is
computed once and not stacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core import Aval, aval_of
from ..jaxpr import Jaxpr, Var, does_something, eval_jaxpr, live
from .bodies import (
    Control,
    Flags,
    Split,
    batched_program,
    chosen,
    depending,
    derived,
    inexact,
    joined,
    jvp_program,
    memo_of,
    moving_outs,
    placed,
    run,
    split_of,
    strong,
    tangent_aval,
    zeros,
)
from .vmap import move_batch


class Counts(NamedTuple):
    """How the operands of a body are divided: closed-over values, the carry, and the rows."""

    consts: int
    carries: int

    def parts(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        k = self.consts + self.carries
        return list(xs[: self.consts]), list(xs[self.consts : k]), list(xs[k:])


class Scan(Control):
    """Runs the program `jaxpr` for every row: (consts, carry, row) -> (carry, results of the row)."""

    def aval(self, *avals: Any, **params: Any) -> tuple[Aval, ...]:
        outs = params["jaxpr"].out_avals
        k, length = params["counts"].carries, params["length"]
        return tuple(
            strong(a) if i < k else Aval((length, *a.shape), a.dtype) for i, a in enumerate(outs)
        )

    # ------------------------------------------------------------ forward mode

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        jaxpr, counts = params["jaxpr"], params["counts"]
        moving, out_moving = _moving(jaxpr, counts, tuple(t is not None for t in ts))
        program, moved = _tangent_body(jaxpr, counts, moving, out_moving)
        consts, carry, rows = counts.parts(xs)
        c_dots, k_dots, x_dots = counts.parts(ts)
        _, k_moving, _ = counts.parts(moving)
        dots = [zeros(aval_of(c)) if t is None else t for c, t in zip(carry, k_dots, strict=True)]
        outs = self(
            *program.consts,
            *consts,
            *(t for t in c_dots if t is not None),
            *carry,
            *chosen(dots, k_moving),
            *rows,
            *(t for t in x_dots if t is not None),
            **{**params, "jaxpr": moved, "counts": _counts(program, moving, counts)},
        )
        found = outs[counts.carries :]
        return tuple(placed(found, _places(out_moving), len(ans)))

    # ------------------------------------------------------------ reverse mode

    def splits(self, wanted: Flags, params: dict) -> Sequence[Split]:
        return [_parts(params["jaxpr"], params["counts"], wanted).split]

    def touched(self, flags: Sequence[bool], params: dict) -> Sequence[Sequence[bool]]:
        consts, carry, rows = params["counts"].parts(flags)
        while True:
            operands = [*consts, *carry, *rows]
            after = [
                a or b for a, b in zip(carry, depending(params["jaxpr"], operands), strict=False)
            ]
            if after == list(carry):
                return [operands]
            carry = after

    def moves(self, flags: Sequence[bool], params: dict) -> list[bool]:
        return depending(params["jaxpr"], *self.touched(flags, params))

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        jaxpr, counts = params["jaxpr"], params["counts"]
        parts = _parts(jaxpr, counts, tuple(wanted))
        consts, carry, rows = counts.parts(xs)
        fixed = eval_jaxpr(parts.prologue, *consts)
        counted = Counts(len(parts.consts) + len(fixed) + len(consts), counts.carries)
        outs = self(
            *parts.consts,
            *fixed,
            *consts,
            *carry,
            *rows,
            **{**params, "jaxpr": parts.forward, "counts": counted},
        )
        count = len(jaxpr.outs)
        same = [fixed[i] for i in parts.fixed_kept] + [consts[i] for i in parts.consts_kept]
        stacked = [outs[i] for i in parts.sources] + [rows[i] for i in parts.rows_kept]
        return outs[:count], (parts, same, stacked)

    def reached(self, residual: Any) -> list[int]:
        return residual[0].reached

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        parts, same, stacked = residual
        back = parts.pullback([ct is not None for ct in cts])
        if not back.places:
            return [None] * len(wanted)
        carried = [zeros(a) if cts[i] is None else cts[i] for i, a in back.carry]
        carried += [zeros(a) for a in back.sums]
        outs = self(
            *back.consts,
            *same,
            *carried,
            *stacked,
            *(cts[i] for i in back.rows),
            jaxpr=back.step,
            counts=Counts(len(back.consts) + len(same), len(carried)),
            length=params["length"],
            reverse=not params["reverse"],
        )
        found = placed(outs, back.places, len(wanted))
        return [g if w else None for g, w in zip(found, wanted, strict=True)]

    # ------------------------------------------------------------ batches

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        jaxpr, counts = params["jaxpr"], params["counts"]
        consts, carry, rows = counts.parts(xs)
        c_dims, k_dims, x_dims = counts.parts(bdims)
        axes = [None if b is None else 0 for b in x_dims]
        outs = len(jaxpr.outs)
        batched = [b is not None for b in k_dims]
        while True:
            dims = (*c_dims, *(0 if b else None for b in batched), *axes)
            forced = (*batched, *(False,) * (outs - counts.carries))
            program, found = batched_program(jaxpr, size, dims, forced)
            if list(found[: counts.carries]) == batched:
                break
            batched = list(found[: counts.carries])
        ys = self(
            *program.consts,
            *consts,
            *(
                move_batch(c, d, 0, size) if b else c
                for c, d, b in zip(carry, k_dims, batched, strict=True)
            ),
            *(
                x if d is None else move_batch(x, d, 1, size)
                for x, d in zip(rows, x_dims, strict=True)
            ),
            **{
                **params,
                "jaxpr": joined([program])[0][0],
                "counts": Counts(len(program.consts) + counts.consts, counts.carries),
            },
        )
        places = [0] * counts.carries + [1] * (outs - counts.carries)
        return ys, tuple(p if f else None for p, f in zip(places, found, strict=True))


def _places(flags: Sequence[bool]) -> list[int]:
    return [i for i, f in enumerate(flags) if f]


def _counts(program: Jaxpr, moving: Flags, counts: Counts) -> Counts:
    c_moving, k_moving, _ = counts.parts(moving)
    return Counts(
        len(program.consts) + counts.consts + sum(c_moving), counts.carries + sum(k_moving)
    )


def _moving(jaxpr: Jaxpr, counts: Counts, moving: Flags) -> tuple[Flags, Flags]:
    """Operands and results that have a tangent: a carry does if it ever gets one."""
    consts, carry, rows = counts.parts(inexact(moving, jaxpr.in_avals))
    while True:
        outs = moving_outs(jaxpr, (*consts, *carry, *rows))
        more = [a or b for a, b in zip(carry, outs, strict=False)]
        if more == carry:
            return (*consts, *carry, *rows), (*carry, *outs[counts.carries :])
        carry = more


def _tangent_body(
    jaxpr: Jaxpr, counts: Counts, moving: Flags, out_moving: Flags
) -> tuple[Jaxpr, Jaxpr]:
    """The body with its tangents; as it was derived (with constants), and as operand order needs."""

    def make() -> tuple[Jaxpr, Jaxpr]:
        program = jvp_program(jaxpr, moving, out_moving)
        count = len(jaxpr.in_vars)
        consts, carry, rows = counts.parts(program.in_vars[:count])
        dots = iter(program.in_vars[count:])
        c_dots, k_dots, x_dots = ([next(dots) for m in part if m] for part in counts.parts(moving))
        in_vars = (*program.const_vars, *consts, *c_dots, *carry, *k_dots, *rows, *x_dots)
        outs = (*program.outs[: counts.carries], *program.outs[len(jaxpr.outs) :])
        return program, live(Jaxpr(in_vars, program.eqns, outs))

    return memo_of(jaxpr, ("tangent", counts, moving, out_moving), make)


class _Pullback(NamedTuple):
    """The step that pulls back, and the values that it closes over.

    Its carry are cotangents of the results `carry` (with their types) and the sums, of types `sums`,
    of those of closed-over values; cotangents of the results `rows` are among its rows. What comes
    out belongs to the operands `places`.
    """

    step: Jaxpr
    consts: list[Any]
    carry: list[tuple[int, Aval]]
    sums: list[Aval]
    rows: list[int]
    places: list[int]


class _Parts:
    """The gradient of a scan as two scans, for operands that are differentiated by.

    `prologue`: what the steps have in common, from the closed-over values. `forward`: the step that
    saves; `pullback`: the steps that pull back. The latter's closed-over values are the results
    `fixed_kept` of the prologue and the closed-over values `consts_kept`; its rows are what was saved,
    the rows `rows_kept`, and cotangents.
    """

    def __init__(self, jaxpr: Jaxpr, counts: Counts, wanted: Flags) -> None:
        self.moving, results = _moving(jaxpr, counts, wanted)
        self.reached = _places(results)
        self.jaxpr, self.counts = jaxpr, counts
        self.split = split = split_of(jaxpr, self.moving)
        first, last = counts.consts, counts.consts + counts.carries
        self.consts_kept = [i for i in split.kept if i < first]
        self.rows_kept = [i - last for i in split.kept if i >= last]
        self.consts: list[Any] = list(split.forward.consts)
        self.stacked = self._forward()
        self.pullbacks: dict[Flags, _Pullback] = {}

    def _forward(self) -> list[Any]:
        """Divide the saving step into what all steps share and the rest; what the rest stacks."""
        program = self.split.forward
        n, k = self.counts.consts, self.counts.carries
        same: set[Any] = {*program.const_vars, *program.in_vars[:n]}
        shared, rest = [], []
        for eqn in program.eqns:
            known = all(a.__class__ is not Var or a in same for a in eqn.inputs)
            if known and not does_something(eqn):
                same.update(eqn.outs)
                shared.append(eqn)
            else:
                rest.append(eqn)
        made = program.outs[self.split.count :]
        read = {a for eqn in rest for a in eqn.inputs} | set(program.outs)
        fixed = [v for eqn in shared for v in eqn.outs if v in read]
        self.prologue = Jaxpr(
            program.in_vars[:n], shared, fixed, program.const_vars, program.consts
        )
        carried = [program.in_vars[i] for i in self.split.kept if n <= i < n + k]
        stacked = [*(a for a in made if a not in same), *carried]
        outs = list(program.outs[: self.split.count])
        outs += [a for a in stacked if a not in outs[k:]]
        self.sources = [outs.index(a, k) for a in stacked]
        self.fixed_kept = [fixed.index(a) for a in made if a in same]  # type: ignore[arg-type]
        in_vars = (*program.const_vars, *fixed, *program.in_vars)
        self.forward = Jaxpr(in_vars, rest, outs)
        return stacked

    def pullback(self, given: Sequence[bool]) -> _Pullback:
        """The way back where these results of the scan have a cotangent."""
        key = tuple(given)
        if key not in self.pullbacks:
            self.pullbacks[key] = self._pullback(key)
        return self.pullbacks[key]

    def _pullback(self, given: Flags) -> _Pullback:
        split, n, k = self.split, self.counts.consts, self.counts.carries
        flags = split.reached([given[i] for i in split.moving], n, k)
        program, places = split.backward_of(flags)
        live = chosen(split.moving, flags)
        ends = [i for i in range(k) if given[i] and self.moving[n + i]]
        carry = split.carried(live, places, ends, n, k)
        rows = [i for i in live if i >= k]
        sums, of_rows = [i for i in places if i < n], [i for i in places if i >= n + k]
        fixed = [self.prologue.outs[i] for i in self.fixed_kept]
        in_avals, out_avals = self.jaxpr.in_avals, self.jaxpr.out_avals
        in_vars = split.forward.in_vars
        names = [
            *fixed,
            *(in_vars[i] for i in self.consts_kept),
            *(("carry", i) for i in carry),
            *(("sum", i) for i in sums),
            *self.stacked,
            *(in_vars[i + n + k] for i in self.rows_kept),
            *(("row", i) for i in rows),
        ]
        of_carry = [tangent_aval(in_avals[n + i]) for i in carry]
        of_sums = [tangent_aval(in_avals[i]) for i in sums]
        avals = [
            *(a.aval for a in fixed),
            *(in_avals[i] for i in self.consts_kept),
            *of_carry,
            *of_sums,
            *(strong(a.aval) for a in self.stacked),
            *(strong(in_avals[i + n + k]) for i in self.rows_kept),
            *(tangent_aval(out_avals[i]) for i in rows),
        ]
        made = split.forward.outs[split.count :]

        def step(*values: Any) -> list[Any]:
            env = dict(zip(names, values, strict=True))
            inputs = [env[a] for a in made] + [env[in_vars[i]] for i in split.kept]
            inputs += [env["carry" if i < k else "row", i] for i in live]
            found = dict(zip(places, eval_jaxpr(program, *inputs), strict=True))
            before = [
                found[n + i] if n + i in found else zeros(a)
                for i, a in zip(carry, of_carry, strict=True)
            ]
            totals = [env["sum", i] + found[i] for i in sums]
            return [*before, *totals, *(found[i] for i in of_rows)]

        backward = derived(step, avals)
        return _Pullback(
            joined([backward])[0][0],
            list(backward.consts),
            list(zip(carry, of_carry, strict=True)),
            of_sums,
            rows,
            [*(n + i for i in carry), *sums, *of_rows],
        )


def _parts(jaxpr: Jaxpr, counts: Counts, wanted: Flags) -> _Parts:
    return memo_of(jaxpr, ("scan", counts, wanted), lambda: _Parts(jaxpr, counts, wanted))


def _scan_impl(xp, /, *operands, jaxpr, counts, length, reverse):
    """The last carry, and the rows' results stacked, of the program `jaxpr` run on `length` rows.

    Shapes: ``consts, carry, rows (length, *a) -> carry, results (length, *b)``.   Dtypes: those of
    the program.
    Derivative: two scans, one that saves and one that goes the other way.
    Raises: what the program raises.
    Source: Griewank & Walther, "Evaluating Derivatives", SIAM 2008, section 3.

    >>> import funcgrad, numpy as np
    >>> f = lambda x: funcgrad.lax.scan(lambda c, x: (c * x, c), 1.0, x)[0]
    >>> [eqn.prim.name for eqn in funcgrad.make_jaxpr(funcgrad.grad(f))(np.ones(3)).eqns]
    ['scan', 'scan']
    """
    consts, carry, rows = counts.parts(operands)
    step = run(jaxpr)
    columns = [
        xp.empty((length, *a.shape), dtype=a.dtype) for a in jaxpr.out_avals[counts.carries :]
    ]
    for i in range(length - 1, -1, -1) if reverse else range(length):
        outs = step(*consts, *carry, *(x[i] for x in rows))
        carry = outs[: counts.carries]
        for column, y in zip(columns, outs[counts.carries :], strict=True):
            column[i] = y
    return (*carry, *columns)


scan_call = Scan(_scan_impl, register_as="scan")
