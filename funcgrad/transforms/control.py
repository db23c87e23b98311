"""Branches: `cond` and `switch`.

Where the predicate is known they are Python's `if`. Where it is not (in a program, or under `vmap`)
both branches are recorded, and become one step: the primitive `cond`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import tree
from ..core import Aval, Tracer, aval_of, moves, require_live
from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..jaxpr import Jaxpr, eval_jaxpr
from ..ops.cast import as_number
from ..ops.index import take
from ..ops.join import concatenate
from ..ops.logic import equal, not_equal
from ..ops.select import clip
from ..ops.select import where as select
from ..weak import Weak, plain
from .arguments import is_array, require_callable
from .bodies import (
    Body,
    Control,
    Flags,
    Split,
    agreed,
    batched_program,
    boxed,
    chosen,
    depending,
    derived,
    joined,
    jvp_program,
    mask_of,
    memo_of,
    moving_outs,
    names_of,
    on_examples,
    placed,
    require_arrays,
    retyped,
    run,
    split_of,
    staged,
    strong,
    tangent_aval,
    zeros,
)


class Cond(Control):
    """Runs the branch whose number is the first operand on the other operands."""

    def aval(self, *avals: Any, **params: Any) -> tuple[Aval, ...]:
        return tuple(map(strong, params["branches"][0].out_avals))

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        branches = params["branches"]
        moving = tuple(t is not None for t in ts[1:])
        wanted = _either([moving_outs(b, moving) for b in branches])
        programs, consts = joined([_tangents(b, moving, wanted) for b in branches])
        dots = self(xs[0], *consts, *xs[1:], *chosen(ts[1:], moving), branches=programs)
        return tuple(placed(dots, [i for i, w in enumerate(wanted) if w], len(ans)))

    def splits(self, wanted: Flags, params: dict) -> Sequence[Split]:
        return [split_of(b, wanted[1:]) for b in params["branches"]]

    def touched(self, flags: Sequence[bool], params: dict) -> Sequence[Sequence[bool]]:
        return [flags[1:]] * len(params["branches"])

    def is_linear(self, wanted: Sequence[bool], params: dict, asked: Collection[int]) -> bool:
        """Also: which branch runs does not depend on these operands."""
        return not wanted[0] and super().is_linear(wanted, params, asked)

    def moves(self, flags: Sequence[bool], params: dict) -> list[bool]:
        found = [depending(b, flags[1:]) for b in params["branches"]]
        return [flags[0] or any(of_one) for of_one in zip(*found, strict=True)]

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        parts = _parts(params["branches"], tuple(wanted[1:]))
        found = self(xs[0], *parts.consts, *xs[1:], branches=parts.forward)
        saved = [*found[parts.count :], *(xs[1 + i] for i in parts.kept)]
        return found[: parts.count], (parts, xs[0], saved)

    def reached(self, residual: Any) -> list[int]:
        return residual[0].moving

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        parts, index, saved = residual
        pullback = parts.pullback([cts[i] is not None for i in parts.moving])
        given = [cts[i] for i in pullback.moving]
        found = self(index, *pullback.consts, *saved, *given, branches=pullback.branches)
        return placed(found, [1 + i for i in pullback.found], len(wanted))

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        branches = params["branches"]
        axes = tuple(bdims[1:])
        count = len(branches[0].outs)
        if bdims[0] is None:  # the same branch for all
            no = (False,) * count
            batched = _either([batched_program(b, size, axes, no)[1] for b in branches])
            mapped = [batched_program(b, size, axes, batched)[0] for b in branches]
            programs, consts = joined(mapped)
            outs = self(xs[0], *consts, *xs[1:], branches=programs)
            return outs, tuple(0 if b else None for b in batched)
        elif known(xs[0]) is None:
            outs = _select_rows(size, xs[0], xs[1:], axes, branches)
        else:
            outs = _each_on_its_rows(known(xs[0]), xs[1:], axes, branches)
        return outs, (0,) * count


def _either(flags: Sequence[Flags]) -> Flags:
    return tuple(map(any, zip(*flags, strict=True)))


def _tangents(branch: Jaxpr, moving: Flags, wanted: Flags) -> Jaxpr:
    both = jvp_program(branch, moving, wanted)
    dots = both.outs[len(branch.outs) :]
    return Jaxpr(both.in_vars, both.eqns, dots, both.const_vars, both.consts)


def take_rows(xs: Sequence[Any], axes: Sequence[int | None], rows: Any) -> list[Any]:
    """The examples `rows` of the operands that are batched."""
    return [
        x if b is None else take(x, rows, axis=b, bounds="known")
        for x, b in zip(xs, axes, strict=True)
    ]


def put_together(pieces: Sequence[Sequence[Any]], rows: Sequence[Any]) -> tuple[Any, ...]:
    """Results on some examples each, as results on all of them in order."""
    if len(pieces) == 1 and bool((rows[0][1:] > rows[0][:-1]).all()):
        return tuple(pieces[0])
    back = np.argsort(np.concatenate(rows))
    return tuple(
        take(concatenate(*column, axis=0), back, axis=0, bounds="known")
        for column in zip(*pieces, strict=True)
    )


def _each_on_its_rows(
    index: Any, xs: Sequence[Any], axes: Sequence[int | None], branches: Sequence[Jaxpr]
) -> tuple[Any, ...]:
    """Every branch on the examples that take it; not at all if there are none."""
    pieces, order = [], []
    for k, branch in enumerate(branches):
        rows = np.flatnonzero(index == k)
        if rows.size:
            order.append(rows)
            pieces.append(on_examples(branch, take_rows(xs, axes, rows), axes, rows.size))
    return put_together(pieces, order)


def _select_rows(
    size: int,
    index: Any,
    xs: Sequence[Any],
    axes: Sequence[int | None],
    branches: Sequence[Jaxpr],
) -> tuple[Any, ...]:
    """All branches on all examples, and for each the results of the one that it takes."""
    found = [on_examples(b, xs, axes, size) for b in branches]
    outs = found[-1]
    for k in range(len(branches) - 2, -1, -1):
        takes = equal(index, k)
        outs = [select(mask_of(takes, y), y, z) for y, z in zip(found[k], outs, strict=True)]
    return tuple(outs)


class _Pullback(NamedTuple):
    """Branches that take what was saved and cotangents of the results `moving`, to those of `found`."""

    moving: Sequence[int]
    found: Sequence[int]
    branches: tuple[Jaxpr, ...]
    consts: Sequence[Any]


class _Parts:
    """The gradient of a `cond` as two: branches that save, and branches that pull back.

    A value that one branch saves has a place among the saved ones of all; the others put zeros there.
    """

    def __init__(self, branches: Sequence[Jaxpr], wanted: Flags) -> None:
        self.splits = splits = [split_of(b, wanted) for b in branches]
        self.count = len(branches[0].outs)
        self.kept = sorted({i for s in splits for i in s.kept})
        self.moving = sorted({i for s in splits for i in s.moving})
        self.places: list[Aval] = []
        self.homes = [self._homes(s.made_avals) for s in splits]
        self.in_avals, self.out_avals = branches[0].in_avals, branches[0].out_avals
        forward = [
            derived(self._saving(s, home), self.in_avals)
            for s, home in zip(splits, self.homes, strict=True)
        ]
        self.forward, self.consts = joined(forward)
        self.pullbacks: dict[Flags, _Pullback] = {}

    def pullback(self, flags: Sequence[bool]) -> _Pullback:
        """The branches that pull back where these results in `moving` have a cotangent."""
        key = tuple(flags)
        if key not in self.pullbacks:
            self.pullbacks[key] = self._pullback(chosen(self.moving, key))
        return self.pullbacks[key]

    def _pullback(self, moving: Sequence[int]) -> _Pullback:
        programs = [s.backward_of([i in moving for i in s.moving]) for s in self.splits]
        found = sorted({i for _, places in programs for i in places})
        avals = [
            *self.places,
            *(self.in_avals[i] for i in self.kept),
            *(tangent_aval(self.out_avals[i]) for i in moving),
        ]

        def of(
            split: Split, homes: Sequence[int], program: Jaxpr, places: Sequence[int]
        ) -> Callable[..., list[Any]]:
            def run_backward(*values: Any) -> list[Any]:
                saved, rest = values[: len(self.places)], values[len(self.places) :]
                kept = dict(zip(self.kept, rest, strict=False))
                cts = dict(zip(moving, rest[len(self.kept) :], strict=True))
                inputs = [saved[i] for i in homes] + [kept[i] for i in split.kept]
                inputs += [cts[i] for i in split.moving if i in cts]
                given = dict(zip(places, eval_jaxpr(program, *inputs), strict=True))
                return [given[i] if i in given else zeros(self.in_avals[i]) for i in found]

            return run_backward

        parts = zip(self.splits, self.homes, programs, strict=True)
        branches = [derived(of(s, homes, *program), avals) for s, homes, program in parts]
        return _Pullback(moving, found, *joined(branches))

    def _homes(self, avals: Sequence[Aval]) -> list[int]:
        """A place of the right type for each, a new one where all are taken."""
        homes: list[int] = []
        for aval in map(strong, avals):
            free = [i for i, a in enumerate(self.places) if a == aval and i not in homes]
            if not free:
                self.places.append(aval)
                free = [len(self.places) - 1]
            homes.append(free[0])
        return homes

    def _saving(self, split: Split, homes: Sequence[int]) -> Callable[..., list[Any]]:
        def run_forward(*xs: Any) -> list[Any]:
            found = eval_jaxpr(split.forward, *xs)
            saved = dict(zip(homes, found[self.count :], strict=True))
            rest = [saved[i] if i in saved else _filler(aval) for i, aval in enumerate(self.places)]
            return [*found[: self.count], *rest]

        return run_forward


def _filler(aval: Aval) -> Any:
    """Something of this type that is never read."""
    zero = np.zeros((), aval.dtype)
    return zeros(aval) if moves(aval.dtype) else np.broadcast_to(zero, aval.shape)


def _parts(branches: tuple[Jaxpr, ...], wanted: Flags) -> _Parts:
    return memo_of(branches[0], ("cond", branches, wanted), lambda: _Parts(branches, wanted))


def _cond_impl(xp, index, /, *xs, branches):
    """The results of the program ``branches[index]`` at `xs`.

    Shapes: those of the programs.   Dtypes: those of the programs; `index` is bool or an integer.
    Derivative: that of the branch taken.
    Raises: what the branch raises.
    Source: Frostig, Johnson & Leary, "Compiling machine learning programs via high-level tracing",
    SysML 2018.

    >>> import funcgrad
    >>> f = funcgrad.jit(lambda x: funcgrad.lax.cond(x > 0, lambda: x, lambda: -x))
    >>> float(f(-2.0)), float(funcgrad.grad(f)(-2.0))
    (2.0, -1.0)
    """
    return tuple(run(branches[int(index)])(*xs))


cond_call = Cond(_cond_impl, register_as="cond")


# ---------------------------------------------------------------- the public functions


_NONE: Any = object()


def _operands(name: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    """The operands, which JAX lets be one by name.

    Raises: ArgumentError: they are given both ways.
    """
    if operand is _NONE:
        return operands
    if operands:
        raise ArgumentError(f"{name}: operand= beside {len(operands)} operands{where()}")
    return (operand,)


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _NONE,
) -> Any:
    """``true_fun(*operands) if pred else false_fun(*operands)``, for a `pred` that may be traced.

    Where `pred` is known this is Python's `if`, and only the branch taken is run. In a program
    (`jit`, `make_jaxpr`) both are recorded, and one is run. Under `vmap` each branch runs on the
    examples that take it; in a program under `vmap`, both run on all of them. `operand` is another
    way to give one operand; ``cond(pred, x, true_fun, y, false_fun)`` gives each branch its own.

    Shapes: `pred` is a scalar; the branches return the same tree of the same shapes.
    Dtypes: `pred` is bool, or true where it is not 0; the branches return the same dtypes.
    Derivative: that of the branch taken; none by `pred`.
    Raises: ArgumentError: the branches return different types. ShapeError: `pred` is no scalar.
    Source: Griewank & Walther, "Evaluating Derivatives", SIAM 2008, section 3.

    >>> import funcgrad, numpy as np
    >>> f = lambda x: cond(x > 0, np.sqrt, lambda x: 0.0 * x, x)
    >>> funcgrad.vmap(funcgrad.grad(f))(np.array([-1.0, 4.0])).tolist()
    [0.0, 0.25]
    """
    if not callable(true_fun) and len(operands) == 2 and callable(false_fun):
        of_each, of_true, of_false = (true_fun, operands[0]), false_fun, operands[1]
        require_callable("cond", of_false)
        return cond(pred, lambda x, _: of_true(x), lambda _, y: of_false(y), *of_each)
    require_callable("cond", true_fun)
    require_callable("cond", false_fun)
    kind = _scalar("cond", "pred", pred).dtype.kind
    index = pred if kind == "b" else not_equal(pred, 0)
    operands = _operands("cond", operands, operand)
    return _choose("cond", index, (false_fun, true_fun), ("false_fun", "true_fun"), operands)


def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _NONE
) -> Any:
    """``branches[index](*operands)``, for an `index` that may be traced; it is clamped.

    As `cond` in everything else.

    Shapes: `index` is a scalar; the branches return the same tree of the same shapes.
    Dtypes: `index` is an integer; the branches return the same dtypes.
    Derivative: that of the branch taken.
    Raises: ArgumentError: the branches return different types, or there are none.
    Source: Griewank & Walther, "Evaluating Derivatives", SIAM 2008, section 3.

    >>> import funcgrad, numpy as np
    >>> f = lambda i, x: switch(i, [np.sin, np.cos, lambda x: x], x)
    >>> funcgrad.vmap(f)(np.array([0, 1, 5]), np.zeros(3)).tolist()
    [0.0, 1.0, 0.0]
    """
    branches = tuple(branches)
    if not branches:
        raise ArgumentError(f"switch: there are no branches{where()}")
    for branch in branches:
        require_callable("switch", branch)
    aval = _scalar("switch", "index", index)
    if aval.dtype.kind not in "iu":
        raise ArgumentError(f"switch: index is {aval}; need an integer{where()}")
    names = tuple(f"branches[{i}]" for i in range(len(branches)))
    operands = _operands("switch", operands, operand)
    return _choose("switch", clip(index, 0, len(branches) - 1), branches, names, operands)


def _scalar(name: str, what: str, x: Any) -> Aval:
    if not is_array(x):
        raise ArgumentError(f"{name}: {what} is {x!r}; need a number or a scalar array{where()}")
    aval = aval_of(x)
    if aval.shape:
        raise ShapeError(
            f"{name}: {what} has shape {list(aval.shape)}; need a scalar: use fnp.where to choose "
            f"element by element, vmap to choose for every example{where()}"
        )
    return aval


def _choose(
    name: str,
    index: Any,
    branches: Sequence[Callable[..., Any]],
    names: Sequence[str],
    operands: tuple[Any, ...],
) -> Any:
    leaves, treedef = tree.flatten(operands)
    require_arrays(name, "operands", leaves, treedef)
    value = known(index)
    is_input = isinstance(index, Tracer | np.ndarray)
    if value is not None and not (is_input and staged()):
        given = boxed(leaves)
        found = branches[int(value)](*tree.unflatten(treedef, given))
        for y in tree.leaves(found):
            require_live(name, y)
        return tree.map(plain, found) if any(isinstance(x, Weak) for x in given) else found
    avals = [aval_of(x) for x in leaves]
    bodies = [Body(f, treedef, avals, may_not_run=True) for f in branches]
    types = _common_types(name, names, bodies)
    programs, consts = joined([retyped(b.jaxpr, list(map(strong, types))) for b in bodies])
    outs = cond_call(index, *consts, *leaves, branches=programs)
    outs = [as_number(y) if a.weak else y for y, a in zip(outs, types, strict=True)]
    return tree.unflatten(bodies[0].out_def, outs)


def _common_types(name: str, names: Sequence[str], bodies: Sequence[Body]) -> list[Aval]:
    """The types of the results of all branches."""
    first = bodies[0]
    types = first.jaxpr.out_avals
    for body, other in zip(bodies[1:], names[1:], strict=True):
        if body.out_def != first.out_def:
            raise ArgumentError(
                f"{name}: the branches return different structures: {names[0]} {first.out_def}, "
                f"{other} {body.out_def}{where()}"
            )
        pairs = zip(types, body.jaxpr.out_avals, names_of(first.out_def), strict=True)
        for i, (old, new, leaf) in enumerate(pairs):
            common = agreed(old, new)
            if common is None:
                raise ArgumentError(
                    f"{name}: the branches return different types: output{leaf} is {old} from "
                    f"{names[0]}, {new} from {other}; bring both to one shape and dtype{where()}"
                )
            types[i] = common
    return types
