"""Reverse mode for users: `vjp`, and `record_flat`, on which every reverse transform rests."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..algebra import concrete_namespace, scaling
from ..core import EVAL, aval_of, current, run_under
from ..views import snapshot
from .arguments import (
    Flat,
    flat_cotangents,
    flatten_primals,
    origin,
    own,
    require_callable,
    zero_derivative,
)
from .direct import DirectTrace
from .tape import TapeTrace, pull_back

_LOCKED = (
    "funcgrad: the array is read-only because a differentiated expression has used it and needs its "
    "value again on the way back; write into a copy, or make the array with fnp.zeros(...)"
)


def record_flat(
    f: Callable[..., Sequence[Any]], primals: Sequence[Any], *, lasting: bool
) -> tuple[list[Any], TapeTrace, list[int]]:
    """Run `f`, which takes and returns flat lists: its values, the tape, the values' slots."""
    parent = current.get()
    plain = parent is EVAL and scaling.get() is operator.mul
    trace = (DirectTrace if plain else TapeTrace)(parent, lasting=lasting)
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


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun` at `primals` and the transpose of its derivative there.

    ``y, f_vjp = vjp(fun, *primals)``; ``f_vjp(ct)`` is a tuple, one cotangent per primal, and may be
    called any number of times. With `has_aux`, `fun` returns ``(out, aux)`` and the result is
    ``(out, f_vjp, aux)``. Complex: ``f_vjp(ct)`` pairs with tangents as ``Re(sum(ct * t))``.

    Raises: ArgumentError: a primal or `ct` is no array of the right kind. ShapeError: `ct`'s shape.
    Source: Baydin et al., "Automatic differentiation in machine learning: a survey", JMLR 2018.

    >>> y, f_vjp = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> tuple(map(float, f_vjp(1.0)))
    (3.0, 2.0)
    """
    require_callable("vjp", fun)
    leaves, treedef = flatten_primals("vjp", primals)
    flat = Flat(fun, treedef, has_aux=has_aux)
    values, trace, slots = record_flat(flat, leaves, lasting=True)
    entries, count = trace.entries, len(leaves)
    kinds = [(aval_of(x), concrete_namespace(x)) for x in leaves]
    out_avals = [aval_of(x) for x in values]

    def f_vjp(ct: Any) -> tuple[Any, ...]:
        cts = flat_cotangents("vjp", flat.out_def, out_avals, ct)
        found = pull_back(entries, list(zip(slots, cts, strict=True)), count, consume=False)
        full = [zero_derivative(*k) if g is None else g for g, k in zip(found, kinds, strict=True)]
        return tree.unflatten(treedef, own(full, cts))

    # The tape may have saved a result, into which the caller may write.
    values = [snapshot(x, copy=True) for x in values]
    out = tree.unflatten(flat.out_def, own(values))
    return (out, f_vjp, flat.aux_values(trace.value_of)) if has_aux else (out, f_vjp)
