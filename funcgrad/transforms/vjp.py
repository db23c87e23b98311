"""Reverse mode: `TapeTrace` notes every operation in a list, which is walked backwards.

The tape is a Wengert list. Entry ``k`` is a tuple that starts with the function that pulls the
cotangent of value ``k`` back to the operands' slots; the first entries stand for the inputs. What an
entry saves is decided by the primitive's rule (NOTE [Unread arguments] in `algebra.py`).

NOTE [Direct] When the parent trace evaluates, elementwise primitives of one and two operands go
through `record` functions specialised to the primitive. They use the same rules and save the same
values; everything else, and everything under another trace, takes the general path `_process`.

NOTE [Constants on the tape] A plain array that an entry saves must not change before the walk. It is
made read-only while the user's function runs, or copied when the tape outlives the call (`vjp`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..algebra import Elementwise, conform, scaling, zeros_like
from ..array import TracedArray
from ..core import EVAL, Aval, Primitive, Trace, aval_of, current, run_under
from ..views import refresh, snapshot
from .arguments import Flat, flat_cotangents, flatten_primals, origin, own, zero_derivative
from .transpose import cotangents

ndarray = np.ndarray
_LOCKED = (
    "funcgrad: the array is read-only because a differentiated expression has used it and needs its "
    "value again on the way back; write into a copy, or make the array with fnp.zeros(...)"
)

CONSTANT = -1  # the slot of a value that does not depend on the inputs

Entry = tuple[Any, ...]
Record = Callable[..., Any]


class TapeTracer(TracedArray):
    """A value and its slot on the tape."""

    __slots__ = ("slot", "value")

    @property
    def aval(self) -> Aval:
        return aval_of(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def underlying(self) -> Any:
        return self.value

    def assign(self, other: Any) -> None:
        self.value = other.value
        self.slot = other.slot


_new = TapeTracer.__new__


def _tracer(trace: TapeTrace, value: Any, slot: int) -> TapeTracer:
    out = _new(TapeTracer)
    out.owner = trace
    out.alias = None
    out.value = value
    out.slot = slot
    return out


class TapeTrace(Trace):
    """Evaluates through the parent and keeps the tape.

    `lasting`: the tape outlives the call that records it, so plain arrays are copied, not locked.
    """

    __slots__ = ("direct", "entries", "lasting", "locked")
    transform = "grad or vjp"

    def __init__(self, parent: Trace, *, lasting: bool) -> None:
        self.parent = parent
        self.direct = parent is EVAL and scaling.get() is operator.mul
        self.lasting = lasting
        self.entries: list[Entry] = []
        self.locked: list[Any] = []

    def new_input(self, value: Any) -> TapeTracer:
        self.entries.append(())
        return _tracer(self, self.keep(value), len(self.entries) - 1)

    def lift(self, value: Any) -> TapeTracer:
        return _tracer(self, snapshot(value, copy=True), CONSTANT)

    def keep(self, value: Any) -> Any:
        """A value that is not this tape's own, safe from later writes."""
        if value.__class__ is not ndarray or self.lasting:
            return snapshot(value, copy=self.lasting)
        array: Any = value
        while array.__class__ is ndarray and array.flags.writeable:
            array.flags.writeable = False
            self.locked.append(array)
            array = array.base
        return value

    def unlock(self) -> None:
        self.locked.sort(key=lambda array: array.base is not None)  # owners before their views
        for array in self.locked:
            array.flags.writeable = True
        self.locked.clear()

    def value_of(self, x: Any) -> Any:
        """The value behind one of this tape's tracers; anything else is its own value."""
        if x.__class__ is TapeTracer and x.owner is self:
            if x.alias is not None:
                refresh(x)
            return x.value
        return x

    def slot_of(self, x: Any) -> int:
        """The slot of one of this tape's tracers, refreshed by `value_of` before."""
        return x.slot if x.__class__ is TapeTracer and x.owner is self else CONSTANT

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if self.direct and not params:
            record = _RECORDS.get(prim)
            if record is None:
                record = _RECORDS[prim] = _record_for(prim)
            return record(self, *args)
        return self._process(prim, args, params)

    def _process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        values: list[Any] = []
        slots: list[int] = []
        mine = False
        for a in args:
            if a.__class__ is TapeTracer and a.owner is self:
                if a.alias is not None:
                    refresh(a)
                mine = True
                values.append(a.value)
                slots.append(a.slot)
            else:
                values.append(a)
                slots.append(CONSTANT)
        wanted = [s >= 0 for s in slots]
        if prim.forward is not None and True in wanted:
            ans, entry = self._run_opaque(prim, values, slots, wanted, params)
        else:
            ans = self.parent.process(prim, values, params)
            if not mine or not prim.differentiable:
                return ans
            if True not in wanted:
                if prim.multiple:
                    return tuple(_tracer(self, x, CONSTANT) for x in ans)
                return _tracer(self, ans, CONSTANT)
            entry = self._entry(prim, ans, values, slots, wanted, args, params)
        self.entries.append(entry)
        slot = len(self.entries) - 1
        if not prim.multiple:
            return _tracer(self, ans, slot)
        outs = []
        for i, x in enumerate(ans):
            self.entries.append((_pull_output, slot, i, len(ans)))
            outs.append(_tracer(self, x, len(self.entries) - 1))
        return tuple(outs)

    def _run_opaque(
        self,
        prim: Primitive,
        values: list[Any],
        slots: list[int],
        wanted: list[bool],
        params: dict[str, Any],
    ) -> tuple[Any, Entry]:
        token = current.set(self.parent)
        try:
            ans, residual = prim.forward(values, wanted, params)  # type: ignore[misc]
        finally:
            current.reset(token)
        return ans, (_pull_opaque, slots, prim, residual, [aval_of(x) for x in ans], wanted, params)

    def _entry(
        self,
        prim: Primitive,
        ans: Any,
        values: list[Any],
        slots: list[int],
        wanted: list[bool],
        args: Sequence[Any],
        params: dict[str, Any],
    ) -> Entry:
        save_ans, save = prim.saves(wanted)
        xs = [
            (v if v is not a else self.keep(v)) if s else aval_of(v)
            for v, s, a in zip(values, save, args, strict=True)
        ]
        return (_pull, slots, prim, ans if save_ans else None, xs, wanted, params)


def _pull(cts: list[Any], entry: Entry, ct: Any) -> None:
    _, slots, prim, ans, xs, wanted, params = entry
    for slot, g in zip(slots, cotangents(prim, ct, ans, xs, wanted, params), strict=True):
        if slot >= 0 and g is not None:
            old = cts[slot]
            cts[slot] = g if old is None else old + g


def _pull_opaque(cts: list[Any], entry: Entry, ct: list[Any]) -> None:
    _, slots, prim, residual, avals, wanted, params = entry
    full = [zeros_like(aval) if c is None else c for c, aval in zip(ct, avals, strict=True)]
    for slot, g in zip(slots, prim.backward(residual, full, wanted, params), strict=True):
        if slot >= 0 and g is not None:
            old = cts[slot]
            cts[slot] = g if old is None else old + g


def _pull_output(cts: list[Any], entry: Entry, ct: Any) -> None:
    """The cotangent of output `i` of an equation with several: put into the equation's slot."""
    _, slot, i, count = entry
    if cts[slot] is None:
        cts[slot] = [None] * count
    cts[slot][i] = ct


# ---------------------------------------------------------------- NOTE [Direct]


_RECORDS: dict[Primitive, Record] = {}


def _record_for(prim: Primitive) -> Record:
    if prim.__class__ is Elementwise:
        if len(prim.rules) == 1:
            return _unary(prim)
        if len(prim.rules) == 2 and None not in prim.rules:
            return _binary(prim)
    return lambda trace, *args: trace._process(prim, args, {})


def _coefficient(rule: Any) -> Callable[..., Any]:
    """``(ct, ans, *xs) -> ct * coefficient``."""
    if callable(rule):
        return lambda ct, *values: ct * rule(*values)
    if rule == 1:
        return lambda ct, *values: ct
    if rule == -1:
        return lambda ct, *values: -ct
    return lambda ct, *values: ct * rule


def _unary(prim: Elementwise) -> Record:
    impl = prim.impl
    save_ans, (save_x,) = prim.saves((True,))
    times = _coefficient(prim.rules[0])

    def pull(cts: list[Any], entry: Entry, ct: Any) -> None:
        _, slot, ans, x, like = entry
        g = times(ct, ans, x)
        if like is not None:
            g = conform(g, like)
        old = cts[slot]
        cts[slot] = g if old is None else old + g

    def record(trace: TapeTrace, x: Any) -> Any:
        if x.__class__ is not TapeTracer or x.owner is not trace:
            return trace._process(prim, (x,), {})
        if x.alias is not None:
            refresh(x)
        value = x.value
        slot = x.slot
        if value.__class__ is not ndarray or slot < 0:
            return trace._process(prim, (x,), {})
        ans = impl(np, value)
        entries = trace.entries
        like = None if ans.dtype is value.dtype else aval_of(value)
        entries.append((pull, slot, ans if save_ans else None, value if save_x else None, like))
        out = _new(TapeTracer)
        out.owner = trace
        out.alias = None
        out.value = ans
        out.slot = len(entries) - 1
        return out

    return record


def _binary(prim: Elementwise) -> Record:
    impl = prim.impl
    times_x, times_y = map(_coefficient, prim.rules)
    save = [prim.saves((i, j)) for i in (False, True) for j in (False, True)]

    def pull(cts: list[Any], entry: Entry, ct: Any) -> None:
        _, i, j, ans, x, y, like_x, like_y = entry
        if i >= 0:
            g = times_x(ct, ans, x, y)
            if like_x is not None:
                g = conform(g, like_x)
            old = cts[i]
            cts[i] = g if old is None else old + g
        if j >= 0:
            g = times_y(ct, ans, x, y)
            if like_y is not None:
                g = conform(g, like_y)
            old = cts[j]
            cts[j] = g if old is None else old + g

    def record(trace: TapeTrace, x: Any, y: Any) -> Any:
        i = j = CONSTANT
        a, b = x, y
        if x.__class__ is TapeTracer and x.owner is trace:
            if x.alias is not None:
                refresh(x)
            a = x.value
            i = x.slot
        if y.__class__ is TapeTracer and y.owner is trace:
            if y.alias is not None:
                refresh(y)
            b = y.value
            j = y.slot
        if not (
            (a.__class__ is ndarray and (b.__class__ is ndarray or b.__class__ is float))
            or (b.__class__ is ndarray and a.__class__ is float)
        ) or (i < 0 and j < 0):
            return trace._process(prim, (x, y), {})
        try:
            ans = impl(np, a, b)
        except ValueError:
            return trace._process(prim, (x, y), {})  # explains wrong shapes
        save_ans, (save_a, save_b) = save[2 * (i >= 0) + (j >= 0)]
        shape, dtype = ans.shape, ans.dtype
        entries = trace.entries
        entries.append(
            (
                pull,
                i,
                j,
                ans if save_ans else None,
                (a if a is not x else trace.keep(a)) if save_a else None,
                (b if b is not y else trace.keep(b)) if save_b else None,
                None if i < 0 or (a.shape == shape and a.dtype is dtype) else aval_of(a),
                None if j < 0 or (b.shape == shape and b.dtype is dtype) else aval_of(b),
            )
        )
        out = _new(TapeTracer)
        out.owner = trace
        out.alias = None
        out.value = ans
        out.slot = len(entries) - 1
        return out

    return record


# ---------------------------------------------------------------- the walk


def pull_back(
    entries: list[Entry], seeds: Sequence[tuple[int, Any]], inputs: int, *, consume: bool
) -> list[Any]:
    """Cotangents of the first `inputs` slots; `consume` frees every entry once it was used."""
    cts: list[Any] = [None] * len(entries)
    for slot, ct in seeds:
        if slot >= 0:
            old = cts[slot]
            cts[slot] = ct if old is None else old + ct
    for k in range(len(entries) - 1, inputs - 1, -1):
        entry = entries.pop() if consume else entries[k]
        ct = cts[k]
        if ct is not None:
            cts[k] = None
            entry[0](cts, entry, ct)
    return cts[:inputs]


def record_flat(
    f: Callable[..., Sequence[Any]], primals: Sequence[Any], *, lasting: bool
) -> tuple[list[Any], TapeTrace, list[int]]:
    """Run `f`, which takes and returns flat lists: its values, the tape, the values' slots."""
    trace = TapeTrace(current.get(), lasting=lasting)
    trace.function = origin(f)
    try:
        outs = run_under(trace, f, [trace.new_input(p) for p in primals])
    except ValueError as error:
        if trace.locked and "read-only" in str(error):
            error.add_note(_LOCKED)
        raise
    finally:
        trace.unlock()
    values = [trace.value_of(x) for x in outs]
    return values, trace, [trace.slot_of(x) for x in outs]


# ---------------------------------------------------------------- the public function


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `f` at `primals` and the transpose of its derivative there.

    ``y, f_vjp = vjp(f, *primals)``; ``f_vjp(ct)`` is a tuple, one cotangent per primal, and may be
    called any number of times. With `has_aux`, `f` returns ``(out, aux)`` and the result is
    ``(out, f_vjp, aux)``. Complex: ``f_vjp(ct)`` pairs with tangents as ``Re(sum(ct * t))``.

    Raises: ArgumentError: a primal or `ct` is no array of the right kind. ShapeError: `ct`'s shape.
    Source: Baydin et al., "Automatic differentiation in machine learning: a survey", JMLR 2018.

    >>> y, f_vjp = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> tuple(map(float, f_vjp(1.0)))
    (3.0, 2.0)
    """
    leaves, treedef = flatten_primals("vjp", primals)
    flat = Flat(f, treedef, has_aux=has_aux)
    values, trace, slots = record_flat(flat, leaves, lasting=True)
    entries, count = trace.entries, len(leaves)
    avals = [aval_of(x) for x in leaves]
    out_avals = [aval_of(x) for x in values]

    def f_vjp(ct: Any) -> tuple[Any, ...]:
        cts = flat_cotangents("vjp", flat.out_def, out_avals, ct)
        found = pull_back(entries, list(zip(slots, cts, strict=True)), count, consume=False)
        full = [zero_derivative(a) if g is None else g for g, a in zip(found, avals, strict=True)]
        return tree.unflatten(treedef, own(full, cts))

    out = tree.unflatten(flat.out_def, own(values, leaves))
    return (out, f_vjp, flat.aux_values(trace.value_of)) if has_aux else (out, f_vjp)
