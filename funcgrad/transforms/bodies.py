"""Bodies of loops and branches as programs, and the programs that are derived from them.

What a body closes over becomes an operand, so that it is differentiated too. Programs are derived
once and kept in the `memo` of the program they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy as np

from .. import tree
from ..algebra import scaling
from ..backend import unfit
from ..core import EVAL, Aval, Primitive, aval_of, current, dtype_of, moves, tangent_dtype
from ..errors import ArgumentError, NotLinearError, where
from ..indexing import known
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var, eval_jaxpr, live, nested_jaxprs, quiet
from ..ops.cast import astype, cast, cast_constant
from ..ops.structural import broadcast_to, reshape
from ..views import snapshot
from ..weak import weak
from .arguments import Flat, is_array
from .jvp import jvp_flat
from .tape import pull_back
from .trace import JaxprTrace
from .vjp import record_flat
from .vmap import batch_flat, move_batch, naming

NUMBERS = (bool, int, float, complex)
Flags = tuple[bool, ...]


def staged() -> bool:
    """Whether a program is being recorded, for values that are not known."""
    return any(not t.concrete for t in _recorders())


def _recorders() -> list[JaxprTrace]:
    found = []
    trace = current.get()
    while trace is not EVAL:
        if isinstance(trace, JaxprTrace):
            found.append(trace)
        trace = trace.parent
    return found


def all_known(xs: Sequence[Any]) -> bool:
    """Whether there is a number behind every value."""
    return all(known(x) is not None for x in xs)


def require_arrays(name: str, what: str, leaves: Sequence[Any], treedef: Any) -> None:
    """Raise unless the leaves of the tree `what` are arrays or numbers."""
    for i, x in enumerate(leaves):
        if not is_array(x):
            raise ArgumentError(f"{name}: {what}{names_of(treedef)[i]} {unfit(x)}{where()}")


def boxed(leaves: Sequence[Any]) -> list[Any]:
    """The values for a body that may write into them: its writes are its own.

    Python's numbers compute as NumPy's, see `weak.py`.
    """
    return [weak(x) if x.__class__ in NUMBERS else snapshot(x, copy=True) for x in leaves]


# ---------------------------------------------------------------- types


def strong(aval: Aval) -> Aval:
    return Aval(aval.shape, aval.dtype)


def tangent_aval(aval: Aval) -> Aval:
    return Aval(aval.shape, tangent_dtype(aval.dtype))


def zeros(aval: Aval) -> Any:
    """The zero tangent of a value of this type, as a step of the program that is being recorded."""
    zero = tangent_dtype(aval.dtype).type(0)
    return broadcast_to(zero, shape=aval.shape) if aval.shape else zero


def agreed(old: Aval, new: Aval) -> Aval | None:
    """The type of a value that is `old` at first and then `new`; None if there is none.

    A Python number takes the type of the array it stands for.
    """
    if old.shape != new.shape:
        return None
    if old.weak and new.weak:
        return Aval(old.shape, np.result_type(old.dtype, new.dtype), weak=True)
    if old.weak or new.weak:
        number, array = (old, new) if old.weak else (new, old)
        return array if np.can_cast(number.dtype, array.dtype, "same_kind") else None
    if old.dtype == new.dtype:
        return old
    # Arithmetic turns a file's order of bytes into the machine's.
    is_swapped = np.can_cast(old.dtype, new.dtype, "equiv")
    return Aval(old.shape, old.dtype.newbyteorder("=")) if is_swapped else None


def as_type(x: Any, aval: Aval) -> Any:
    """`x` with the dtype of `aval`; a Python number if that is one."""
    found = aval_of(x)
    if found.dtype == aval.dtype and found.weak == aval.weak:
        return x
    if aval.weak:
        return weak(aval.dtype.type(x).item()) if isinstance(x, NUMBERS) else x
    return aval.dtype.type(x) if isinstance(x, NUMBERS) else astype(x, aval.dtype)


def retyped(jaxpr: Jaxpr, avals: Sequence[Aval]) -> Jaxpr:
    """The program with results of these types, which differ from its own by the dtype only."""
    eqns: list[Eqn] = list(jaxpr.eqns)
    outs: list[Atom] = []
    for atom, aval in zip(jaxpr.outs, avals, strict=True):
        if atom.aval == aval:
            outs.append(atom)
        elif isinstance(atom, Literal):
            outs.append(Literal(aval.dtype.type(atom.value)))
        else:
            is_cast = moves(atom.aval.dtype) and moves(aval.dtype)
            prim: Primitive = cast if is_cast else cast_constant
            var = Var(aval)
            eqns.append(Eqn(prim, (atom,), {"dtype": aval.dtype}, (var,)))
            outs.append(var)
    return Jaxpr(jaxpr.in_vars, eqns, outs, jaxpr.const_vars, jaxpr.consts)


# ---------------------------------------------------------------- recording


class Body:
    """The program of a function for arguments in the tree `treedef`; its constants are apart.

    `may_not_run`: what it does to closed-over values is a part of it, too. Else that is done before.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        treedef: Any,
        avals: Sequence[Aval],
        *,
        may_not_run: bool = False,
    ) -> None:
        flat = Flat(f, treedef)
        spreads = any(t.spreads for t in _recorders())
        trace = JaxprTrace(current.get(), spreads=spreads, encloses=may_not_run, repeats=True)
        self.jaxpr = _recorded(trace, flat, f, avals)
        self.out_def = flat.out_def


def _recorded(
    trace: JaxprTrace, flat: Callable[..., Any], f: Callable[..., Any], avals: Sequence[Aval]
) -> Jaxpr:
    inputs = [trace.new_input(aval) for aval in avals]
    in_vars = [x.symbol for x in inputs]
    trace.function = f
    outs = trace.run(flat, inputs)
    return live(trace.finish(in_vars, outs))


def derived(f: Callable[..., Sequence[Any]], avals: Sequence[Aval]) -> Jaxpr:
    """The program of a function of ours, whatever is being traced at the moment."""
    return _recorded(JaxprTrace(EVAL, spreads=True), f, f, avals)


def joined(jaxprs: Sequence[Jaxpr]) -> tuple[tuple[Jaxpr, ...], list[Any]]:
    """Programs with constants as programs of the same operands: all constants, then the inputs."""
    values = {id(c): c for jaxpr in jaxprs for c in jaxpr.consts}
    out = []
    for jaxpr in jaxprs:
        own = {id(c): v for c, v in zip(jaxpr.consts, jaxpr.const_vars, strict=True)}
        first = [own.get(key) or Var(aval_of(c)) for key, c in values.items()]
        out.append(Jaxpr((*first, *jaxpr.in_vars), jaxpr.eqns, jaxpr.outs))
    return tuple(out), list(values.values())


def run(jaxpr: Jaxpr) -> Callable[..., list[Any]]:
    """The program as a function of arrays: what an implementation calls for every step."""
    out_avals = jaxpr.out_avals

    def step(*xs: Any) -> list[Any]:
        token = current.set(EVAL)
        try:
            outs = eval_jaxpr(jaxpr, *xs)
        finally:
            current.reset(token)
        return [
            as_type(y, strong(a)) if y.__class__ in NUMBERS else y
            for y, a in zip(outs, out_avals, strict=True)
        ]

    return step


# ---------------------------------------------------------------- derivatives and batches


def inexact(flags: Sequence[bool], avals: Sequence[Aval]) -> Flags:
    """The flags, off where a value has no tangent because it counts or is true or false."""
    return tuple(f and moves(a.dtype) for f, a in zip(flags, avals, strict=True))


def moving_outs(jaxpr: Jaxpr, moving: Flags) -> Flags:
    """Which results have a tangent, if these operands do."""
    return memo_of(jaxpr, ("moving", moving), lambda: _moving_outs(jaxpr, moving))


def _moving_outs(jaxpr: Jaxpr, moving: Flags) -> Flags:
    found: list[bool] = []

    def probe(*values: Any) -> list[Any]:
        _, dots = _jvp(jaxpr, moving, values)
        found.extend(t is not None for t in dots)
        return []

    try:
        derived(probe, _with_tangents(jaxpr, moving))
    except NotLinearError:  # a rule of `custom_vjp`, which has no tangent; the way back needs none
        found = depending(jaxpr, moving)
    return inexact(found, jaxpr.out_avals)


def _with_tangents(jaxpr: Jaxpr, moving: Flags) -> list[Aval]:
    avals = jaxpr.in_avals
    return [*avals, *(tangent_aval(a) for a, m in zip(avals, moving, strict=True) if m)]


def _jvp(jaxpr: Jaxpr, moving: Flags, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    count = len(jaxpr.in_vars)
    rest = iter(values[count:])
    ts = [next(rest) if m else None for m in moving]
    return jvp_flat(lambda *xs: eval_jaxpr(quiet(jaxpr), *xs), values[:count], ts)


def jvp_program(jaxpr: Jaxpr, moving: Flags, wanted: Flags) -> Jaxpr:
    """Operands and tangents of those that move, to results and tangents of those wanted."""

    def both(*values: Any) -> list[Any]:
        outs, dots = _jvp(jaxpr, moving, values)
        avals = jaxpr.out_avals
        return outs + [
            zeros(a) if t is None else t for t, a, w in zip(dots, avals, wanted, strict=True) if w
        ]

    def make() -> Jaxpr:
        return derived(both, _with_tangents(jaxpr, moving))

    return memo_of(jaxpr, ("jvp", moving, wanted), make)


def batched_program(
    jaxpr: Jaxpr, size: int, bdims: tuple[int | None, ...], forced: Flags
) -> tuple[Jaxpr, Flags]:
    """The program for operands with these batch axes, and which results have one, then in front.

    `forced`: results that get one in any case.
    """
    batched: list[bool] = []

    def step(*xs: Any) -> list[Any]:
        outs = batch_flat(lambda *xs: eval_jaxpr(jaxpr, *xs), xs, bdims, size)
        batched.extend(b is not None or f for (_, b), f in zip(outs, forced, strict=True))
        moved = [
            move_batch(y, b, 0, size) if m else y for (y, b), m in zip(outs, batched, strict=True)
        ]
        return _in_dtypes_of(jaxpr, moved)

    def make() -> tuple[Jaxpr, Flags]:
        avals = []
        for aval, b in zip(jaxpr.in_avals, bdims, strict=True):
            shape = aval.shape if b is None else (*aval.shape[:b], size, *aval.shape[b:])
            avals.append(aval if b is None else Aval(shape, aval.dtype))
        return derived(step, avals), tuple(batched)

    return memo_of(jaxpr, ("batched", size, bdims, forced), make)


def memo_of(jaxpr: Jaxpr, key: Any, make: Callable[[], Any]) -> Any:
    """What has been made of the program under this key, or is made now."""
    memo = jaxpr.memo.setdefault("bodies", {})
    key = (key, scaling.get(), naming.get())
    if key not in memo:
        memo[key] = make()
    return memo[key]


# What is differentiated by rules of the user's, or not by the derivative of a program in sight.
_OWN_RULES = frozenset({"custom_call", "python_call", "while_derivative"})


def has_own_rules(jaxpr: Jaxpr) -> bool:
    """Whether a derivative in the program may be none in truth, with second ones not symmetric."""
    found = jaxpr.memo.get("own rules")
    if found is None:
        found = jaxpr.memo["own rules"] = any(
            eqn.prim.name in _OWN_RULES or any(map(has_own_rules, nested_jaxprs(eqn.params)))
            for eqn in jaxpr.eqns
        )
    return bool(found)


def on_examples(
    jaxpr: Jaxpr, xs: Sequence[Any], dims: Sequence[int | None], size: int
) -> list[Any]:
    """The results of the program for every example, the batch in front, run at once."""
    outs = batch_flat(lambda *xs: eval_jaxpr(jaxpr, *xs), xs, dims, size)
    return _in_dtypes_of(jaxpr, [move_batch(y, b, 0, size) for y, b in outs])


def _in_dtypes_of(jaxpr: Jaxpr, outs: Sequence[Any]) -> list[Any]:
    """Results for a batch in the types of the program: a batch of numbers widens what it meets."""
    pairs = zip(outs, jaxpr.out_avals, strict=True)
    return [y if dtype_of(y) == a.dtype else astype(y, a.dtype) for y, a in pairs]


def mask_of(flags: Any, y: Any, axis: int = 0) -> Any:
    """Flags, one for every example, to choose between batches like `y`, which has them along `axis`."""
    aval = aval_of(y)
    return reshape(flags, shape=(aval.shape[axis],) + (1,) * (aval.ndim - 1 - axis))


def _moved(eqns: Sequence[Any], variables: Sequence[Var]) -> set[Any]:
    """What depends on some variables, these among it."""
    moved: set[Any] = set(variables)
    for eqn in eqns:
        if not moved.isdisjoint(a for a in eqn.inputs if a.__class__ is Var):
            flags = [a.__class__ is Var and a in moved for a in eqn.inputs]
            depends = eqn.prim.moves(flags, eqn.params)
            moved.update(eqn.outs if depends is None else chosen(eqn.outs, depends))
    return moved


def depending(jaxpr: Jaxpr, flags: Sequence[bool]) -> list[bool]:
    """The results that depend on the operands whose flag is on."""
    moved = _moved(jaxpr.eqns, chosen(jaxpr.in_vars, flags))
    return [a.__class__ is Var and a in moved for a in jaxpr.outs]


class Split:
    """The gradient of a program as two: `forward` also returns what `backward` needs of it.

    `forward`: operands -> (results, `made`). `backward`: (made, the operands in `kept`, cotangents of
    the results in `moving`) -> cotangents of the operands in `found`. What the pullback computes from
    saved values alone stays behind the cut, so that a checkpoint inside saves memory. Python's numbers
    are computed twice, for what is saved of them would be arrays. If it `shares`,
    `backward` is given the results in `shown` after what was made; else they are made a second time,
    for those who have them may write into them. `xp`: the array module that they will run on.
    """

    def __init__(
        self, jaxpr: Jaxpr, wanted: Flags, shares: bool = False, xp: ModuleType | None = None
    ) -> None:
        self._trace = trace = JaxprTrace(EVAL, spreads=True, xp=xp)
        self._contexts: list[tuple[ContextVar[Any], Any]] = [
            (current, trace),
            (scaling, scaling.get()),
            (naming, naming.get()),
        ]
        xs = [trace.new_input(v.aval) for v in jaxpr.in_vars]
        self._live = [i for i, w in enumerate(wanted) if w]

        def of_live(*values: Any) -> list[Any]:
            full: list[Any] = list(xs)
            for i, v in zip(self._live, values, strict=True):
                full[i] = v
            return eval_jaxpr(jaxpr, *full)

        token = current.set(trace)
        try:
            outs, tape, slots = record_flat(of_live, [xs[i] for i in self._live], lasting=False)
        finally:
            current.reset(token)
        self._entries = tape.entries
        self._cut = len(trace.eqns)
        has_slot = inexact([slot >= 0 for slot in slots], jaxpr.out_avals)
        self.moving = [i for i, m in enumerate(has_slot) if m]
        cts = [trace.new_input(tangent_aval(aval_of(outs[i]))) for i in self.moving]
        self._seeds = [(slots[i], ct) for i, ct in zip(self.moving, cts, strict=True)]
        self.count = len(outs)
        self._backwards: dict[Flags, tuple[Jaxpr, list[int]]] = {}
        self._divide([x.symbol for x in xs], outs, shares)

    def _divide(self, in_vars: Sequence[Var], outs: Sequence[Any], shares: bool) -> None:
        self.found, gradients, after = self._pulled((True,) * len(self.moving))
        whole = self._trace.finish(in_vars, outs)
        late = {ct.symbol for _, ct in self._seeds} | {v for eqn in after for v in eqn.outs}
        read = [a for eqn in after for a in eqn.inputs] + gradients
        saved = dict.fromkeys(a for a in read if a.__class__ is Var and a not in late)
        made = [a for a in saved if a not in whole.in_vars and a not in whole.const_vars]
        shown = [v for v in made if v in whole.outs] if shares else []
        made = [v for v in made if v not in shown]
        self.shown = [whole.outs.index(v) for v in shown]
        self.kept = [i for i, v in enumerate(whole.in_vars) if v in saved]
        before, eqns = (*whole.outs, *made), whole.eqns[: self._cut]
        self.forward = live(Jaxpr(in_vars, eqns, before, whole.const_vars, whole.consts))
        self._saved = (*made, *shown, *(in_vars[i] for i in self.kept))
        self.backward = self._backward((True,) * len(self.moving), gradients, after)

    def is_linear(self, flags: Sequence[bool], asked: Collection[int]) -> bool:
        """Whether the results `asked` are linear in these operands: also what has no tangent.

        What depends on them has a tangent, and the way back reads nothing of it.
        """
        outs = self.forward.outs
        moved = _moved(self.forward.eqns, chosen(self.forward.in_vars, flags))
        reached = {i for i in asked if outs[i] in moved}
        return reached <= {*self.moving} and moved.isdisjoint(self._saved)

    def _pulled(self, flags: Flags) -> tuple[list[int], list[Atom], Sequence[Eqn]]:
        """Operands that cotangents of these results reach, theirs, and the equations for that."""
        trace, start = self._trace, len(self._trace.eqns)
        tokens = [(var, var.set(value)) for var, value in self._contexts]
        try:
            seeds = chosen(self._seeds, flags)
            gradients = pull_back(self._entries, seeds, len(self._live), consume=False)
        finally:
            for var, token in tokens:
                var.reset(token)
        found = [i for i, g in zip(self._live, gradients, strict=True) if g is not None]
        outs = [trace.atom(g) for g in gradients if g is not None]
        numbers = [eqn for eqn in trace.eqns[: self._cut] if eqn.outs and eqn.outs[0].aval.weak]
        return found, outs, live(Jaxpr((), (*numbers, *trace.eqns[start:]), outs)).eqns

    def _backward(self, flags: Flags, outs: Sequence[Atom], eqns: Sequence[Eqn]) -> Jaxpr:
        read = {a for eqn in eqns for a in eqn.inputs} | set(outs)
        consts = [(var, value) for var, value, _ in self._trace.constants.values()]
        used = [(v, c) for v, c in consts if v in read]
        cts = [ct.symbol for _, ct in chosen(self._seeds, flags)]
        return Jaxpr((*self._saved, *cts), eqns, outs, [v for v, _ in used], [c for _, c in used])

    def backward_of(self, flags: Sequence[bool]) -> tuple[Jaxpr, list[int]]:
        """`backward` where only these results in `moving` have a cotangent, and what it finds.

        It takes what `backward` does, but for the other cotangents.
        """
        flags = tuple(flags)
        if all(flags):
            return self.backward, self.found
        if flags not in self._backwards:
            found, outs, eqns = self._pulled(flags)
            self._backwards[flags] = self._backward(flags, outs, eqns), found
        return self._backwards[flags]

    def reached(self, given: Sequence[bool], first: int, carries: int) -> Flags:
        """Which results in `moving` get a cotangent in some step of a loop, if these have one after it.

        The first results, `carries` of them, go on as the operands from `first` on.
        """
        known = [False] * len(self._saved)
        flags = list(given)
        while True:
            found = {
                i - first for i in chosen(self.found, depending(self.backward, [*known, *flags]))
            }
            # a carry may be on the tape although it never has a tangent
            more = [
                f or (i < carries and i in found) for i, f in zip(self.moving, flags, strict=True)
            ]
            if more == flags:
                return tuple(flags)
            flags = more

    def carried(
        self,
        live: Sequence[int],
        places: Sequence[int],
        ends: Sequence[int],
        first: int,
        count: int,
    ) -> list[int]:
        """The carries of the loop back, for `count` carries that are the operands from `first` on.

        Those of the results `live` that are pulled back; of the operands among `places`, which this
        finds and the step before has as results; and `ends`, which have a cotangent where there is no
        step.
        """
        found = {i - first for i in places}
        return [i for i in range(count) if i in found or i in live or i in ends]

    @property
    def made_avals(self) -> list[Aval]:
        return self.forward.out_avals[self.count :]


def split_of(jaxpr: Jaxpr, wanted: Flags) -> Split:
    return memo_of(jaxpr, ("split", wanted), lambda: Split(jaxpr, wanted))


class Control(Primitive):
    """A primitive whose parameters are programs, with a `forward` and a `backward`.

    As a step of a linear program it is transposed by the same two, at zero.
    """

    multiple = True
    needs_zeros = False

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        return False, (False,) * len(wanted)

    def splits(self, wanted: Flags, params: dict) -> Sequence[Split]:
        """Of the programs, for operands that are differentiated by."""
        raise NotImplementedError

    def touched(self, flags: Sequence[bool], params: dict) -> Sequence[Sequence[bool]]:
        """For each program, which of its operands depend on the operands whose flag is on."""
        raise NotImplementedError

    def is_linear(self, wanted: Sequence[bool], params: dict, asked: Collection[int]) -> bool:
        """Whether the results `asked` are linear in these operands."""
        splits = self.splits(tuple(wanted), params)
        touched = self.touched(wanted, params)
        return all(s.is_linear(flags, asked) for s, flags in zip(splits, touched, strict=True))

    def cotangents(
        self, ct: Any, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        asked = [i for i, c in enumerate(ct) if c is not None]
        if not self.is_linear(wanted, params, asked):
            raise NotLinearError(
                f"linear_transpose: the function is not linear in its arguments: what {self.name} "
                f"does to them, or asks of them, is not{where()}"
            )
        full = [zeros(aval_of(x)) if w else x for x, w in zip(xs, wanted, strict=True)]
        _, residual = self.forward(full, wanted, params)
        return self.backward(residual, ct, wanted, params)


def chosen(xs: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Those whose flag is on."""
    return [x for x, f in zip(xs, flags, strict=True) if f]


def placed(found: Sequence[Any], places: Sequence[int], count: int) -> list[Any]:
    """A list of `count` with what was found in its places and None elsewhere."""
    out: list[Any] = [None] * count
    for i, g in zip(places, found, strict=True):
        out[i] = g
    return out


def names_of(treedef: Any) -> list[str]:
    """How errors name the leaves of a tree: ``['w']``, or nothing for a single leaf."""
    return [tree.key_str(path) for path in treedef.paths()]
