"""Reverse mode straight on arrays: what `TapeTrace` does, with the common cases laid out.

NOTE [Direct] When the parent trace evaluates, primitives of one and two operands that are elementwise,
linear or bilinear go through `record` functions specialised to the primitive. They use the same
rules and save the same values; everything else takes the general path.

NOTE [Owned cotangents] Reading and writing single elements in a loop would copy the whole array at
every step, forward and back. So a write reuses the buffer of the array written into if nothing else
refers to it, and on the way back a cotangent that was made for one slot only is updated in place.
The last element of `cts` is the set of the slots whose cotangent nothing else refers to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import Bilinear, Elementwise, Linear, conform, narrowed
from ..backend import NAMESPACES
from ..core import Primitive, aval_of
from ..ops.index import as_index, embed, getitem, part_of_cotangent, view_update, write_through
from ..views import donated, refresh
from .tape import CONSTANT, Entry, TapeTrace, TapeTracer, tape_tracer

ndarray = np.ndarray
Record = Callable[..., Any]

# NumPy's arrays and all numbers: operands that need no look at which array module they belong to.
_PLAIN: frozenset[Any] = frozenset(
    cls for cls, module in NAMESPACES.items() if module is np or module is None
)

_new = TapeTracer.__new__
general = TapeTrace.process


def GENERAL(*args: Any, **params: Any) -> Any:
    """Stands for the general path in the table of record functions."""
    raise AssertionError("never called")


_RECORDS: dict[Primitive, Record] = {}


class DirectTrace(TapeTrace):
    """A tape whose parent evaluates."""

    __slots__ = ()

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        record = _RECORDS.get(prim)
        if record is None:
            record = _RECORDS[prim] = _record_for(prim)
        if record is GENERAL:
            return general(self, prim, args, params)
        return record(self, *args, **params)


def _record_for(prim: Primitive) -> Record:
    if prim is getitem:
        return _record_getitem
    if prim is view_update:
        return _record_view_update
    if isinstance(prim, Elementwise) and not prim.has_params and _goes_by_rules(prim, Elementwise):
        if len(prim.rules) == 1:
            return _unary(prim)
        if len(prim.rules) == 2 and None not in prim.rules:
            return _binary(prim)
    if isinstance(prim, Linear) and _goes_by_rules(prim, Linear) and prim.variadic is None:
        return _linear(prim) if len(prim.rules) == 1 and not prim.multiple else GENERAL
    if isinstance(prim, Bilinear) and _goes_by_rules(prim, Bilinear):
        return _bilinear(prim)
    return GENERAL


def _goes_by_rules(prim: Any, kind: Any) -> bool:
    """Whether the class has no way of its own to cotangents."""
    return type(prim).cotangents is kind.cotangents


def _coefficient(rule: Any) -> Callable[..., Any]:
    """``(ct, ans, *xs) -> ct * coefficient``."""
    if callable(rule):
        return lambda ct, *values: ct * rule(*values)
    if rule == 1:
        return lambda ct, *values: ct
    if rule == -1:
        return lambda ct, *values: -ct
    return lambda ct, *values: ct * rule


def _narrow(rule: Any) -> Any:
    """The rule, whose coefficient may be made of a number only."""
    if not callable(rule):
        return rule
    return lambda ans, x, y: narrowed(rule(ans, x, y), None)


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
            return general(trace, prim, (x,), {})
        if x.alias is not None:
            refresh(x)
        value = x.value
        slot = x.slot
        if value.__class__ not in _PLAIN or slot < 0:
            return general(trace, prim, (x,), {})
        ans = impl(np, value)
        like = None if ans.dtype is value.dtype else aval_of(value)
        k = trace.next_slot()
        trace.entries[k] = (pull, slot, ans if save_ans else None, value if save_x else None, like)
        out = _new(TapeTracer)
        out.owner = trace
        out.alias = None
        out.value = ans
        out.slot = k
        return out

    return record


def _binary(prim: Elementwise) -> Record:
    impl = prim.impl
    times_x, times_y = (_coefficient(_narrow(rule)) for rule in prim.rules)
    new_x, new_y = (rule != 1 for rule in prim.rules)  # whether the product is a new array
    save = [prim.saves((i, j)) for i in (False, True) for j in (False, True)]

    def pull(cts: list[Any], entry: Entry, ct: Any) -> None:
        _, i, j, ans, x, y, like_x, like_y = entry
        if i >= 0:
            g = times_x(ct, ans, x, y)
            if like_x is not None:
                g = conform(g, like_x)
            elif g.dtype is not ct.dtype:  # a coefficient of numbers only is float64
                g = g.astype(ct.dtype)
            old = cts[i]
            if new_x and g.__class__ is ndarray and old.__class__ is ndarray:
                g += old
                cts[i] = g
            else:
                cts[i] = g if old is None else old + g
        if j >= 0:
            g = times_y(ct, ans, x, y)
            if like_y is not None:
                g = conform(g, like_y)
            elif g.dtype is not ct.dtype:
                g = g.astype(ct.dtype)
            old = cts[j]
            if new_y and g.__class__ is ndarray and old.__class__ is ndarray:
                g += old
                cts[j] = g
            else:
                cts[j] = g if old is None else old + g

    def record(trace: TapeTrace, x: Any, y: Any) -> Any:
        i = j = CONSTANT
        a: Any = x
        b: Any = y
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
        if a.__class__ not in _PLAIN or b.__class__ not in _PLAIN or (i < 0 and j < 0):
            return general(trace, prim, (x, y), {})
        try:
            ans = impl(np, a, b)
        except ValueError:
            return general(trace, prim, (x, y), {})  # explains wrong shapes
        save_ans, (save_a, save_b) = save[2 * (i >= 0) + (j >= 0)]
        shape, dtype = ans.shape, ans.dtype
        entry = (
            pull,
            i,
            j,
            ans if save_ans else None,
            (a if a is not x else trace.keep(a)) if save_a else None,
            (b if b is not y else trace.keep(b)) if save_b else None,
            None if i < 0 or (a.shape == shape and a.dtype is dtype) else aval_of(a),
            None if j < 0 or (b.shape == shape and b.dtype is dtype) else aval_of(b),
        )
        k = trace.next_slot()
        trace.entries[k] = entry
        out = _new(TapeTracer)
        out.owner = trace
        out.alias = None
        out.value = ans
        out.slot = k
        return out

    return record


def _linear(prim: Linear) -> Record:
    impl, (rule,) = prim.impl, prim.rules
    _, (save_x,) = prim.saves((True,))

    def pull(cts: list[Any], entry: Entry, ct: Any) -> None:
        _, slot, x, params = entry
        g = conform(rule(ct, x, **params), x)
        old = cts[slot]
        cts[slot] = g if old is None else old + g

    def record(trace: TapeTrace, x: Any, **params: Any) -> Any:
        if x.__class__ is not TapeTracer or x.owner is not trace:
            return general(trace, prim, (x,), params)
        if x.alias is not None:
            refresh(x)
        value = x.value
        slot = x.slot
        if value.__class__ not in _PLAIN or slot < 0:
            return general(trace, prim, (x,), params)
        try:
            ans = impl(np, value, **params)
        except ValueError:
            return general(trace, prim, (x,), params)  # explains wrong shapes
        k = trace.next_slot()
        trace.entries[k] = (pull, slot, value if save_x else aval_of(value), params)
        return tape_tracer(trace, ans, k)

    return record


def _bilinear(prim: Bilinear) -> Record:
    impl, (rule_x, rule_y) = prim.impl, prim.rules
    save = [prim.saves((i, j))[1] for i in (False, True) for j in (False, True)]

    def pull(cts: list[Any], entry: Entry, ct: Any) -> None:
        _, i, j, x, y, params = entry
        if i >= 0:
            g = conform(rule_x(ct, x, y, **params), x)
            old = cts[i]
            cts[i] = g if old is None else old + g
        if j >= 0:
            g = conform(rule_y(ct, x, y, **params), y)
            old = cts[j]
            cts[j] = g if old is None else old + g

    def record(trace: TapeTrace, x: Any, y: Any, **params: Any) -> Any:
        i = j = CONSTANT
        a: Any = x
        b: Any = y
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
        if a.__class__ not in _PLAIN or b.__class__ not in _PLAIN or (i < 0 and j < 0):
            return general(trace, prim, (x, y), params)
        try:
            ans = impl(np, a, b, **params)
        except ValueError:
            return general(trace, prim, (x, y), params)  # explains wrong shapes
        save_a, save_b = save[2 * (i >= 0) + (j >= 0)]
        a = (a if a is not x else trace.keep(a)) if save_a else aval_of(a)
        b = (b if b is not y else trace.keep(b)) if save_b else aval_of(b)
        k = trace.next_slot()
        trace.entries[k] = (pull, i, j, a, b, params)
        return tape_tracer(trace, ans, k)

    return record


# ---------------------------------------------------------------- NOTE [Owned cotangents]


def _record_getitem(trace: TapeTrace, x: Any, *, index: tuple[Any, ...]) -> Any:
    if x.__class__ is not TapeTracer or x.owner is not trace:
        return general(trace, getitem, (x,), {"index": index})
    if x.alias is not None:
        refresh(x)
    value, slot = x.value, x.slot
    if value.__class__ is not ndarray or slot < 0:
        return general(trace, getitem, (x,), {"index": index})
    ans = getitem.impl(np, value, index=index)
    if not ans.shape:
        ans = ans[()]  # a number, as NumPy gives, and no view that would keep the buffer
    k = trace.next_slot()
    trace.entries[k] = (_pull_getitem, slot, value.shape, index)
    return tape_tracer(trace, ans, k)


def _pull_getitem(cts: list[Any], entry: Entry, ct: Any) -> None:
    _, slot, shape, index = entry
    old = cts[slot]
    if slot in cts[-1] and old.__class__ is ndarray and ct.__class__ in _PLAIN:
        part = old[as_index(index)]
        part += ct
        return
    g = embed(ct, shape=shape, index=index)
    cts[slot] = g = g if old is None else old + g
    if g.__class__ is ndarray:
        cts[-1].add(slot)


def _record_view_update(trace: TapeTrace, base: Any, new: Any, *, chain: tuple[Any, ...]) -> Any:
    mine = base.__class__ is TapeTracer and base.owner is trace
    if not mine or base.value.__class__ is not ndarray:
        return general(trace, view_update, (base, new), {"chain": chain})
    if base.alias is not None:
        refresh(base)
    # One reference is the tracer's, one is the argument's: nobody else sees the buffer.
    sole = donated.get() is base and sys.getrefcount(base.value) == 2
    value, slot = base.value, base.slot
    part, part_slot = trace.value_of(new), trace.slot_of(new)
    if part.__class__ not in _PLAIN:
        return general(trace, view_update, (base, new), {"chain": chain})
    if not (sole and value.flags.owndata and value.flags.c_contiguous and value.flags.writeable):
        value = np.array(value, order="C")
    write_through(np, value, part, chain)
    if slot < 0 and part_slot < 0:
        return tape_tracer(trace, value, CONSTANT)
    k = trace.next_slot()
    trace.entries[k] = (_pull_view_update, k, slot, part_slot, chain, aval_of(part))
    return tape_tracer(trace, value, k)


def _pull_view_update(cts: list[Any], entry: Entry, ct: Any) -> None:
    _, k, slot, part_slot, chain, like = entry
    in_place = k in cts[-1] and ct.__class__ is ndarray
    if part_slot >= 0:
        part = part_of_cotangent(ct, chain)
        g = conform(part.copy() if in_place else part, like)
        old = cts[part_slot]
        cts[part_slot] = g if old is None else old + g
    if slot >= 0:
        if in_place:
            write_through(np, ct, 0.0, chain)
            rest = ct
        else:
            rest = view_update(ct, 0.0, chain=chain)
        old = cts[slot]
        cts[slot] = rest = rest if old is None else old + rest
        if rest.__class__ is ndarray:
            cts[-1].add(slot)
