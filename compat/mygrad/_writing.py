"""Writes: a tensor gets another value, what shows its memory is derived anew, the graph goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.locks import hold_all, is_locked, repeats

from ..autograd.base import TensorBase, tensor
from ..autograd.tape import tape_array
from ..autograd.views import touch
from ._graph import (
    NONE,
    Options,
    Step,
    TensorCore,
    apart,
    array_of,
    arrays_of,
    disconnect,
    gather,
    guard,
    husk,
    null,
    root,
    short,
    traced,
)
from ._memory import state


def write(
    target: Any,
    f: Any,
    operands: Sequence[Any],
    args: Sequence[Any] = (),
    options: Options = NONE,
) -> Any:
    """Give `target` the value ``f(*operands, *args, **options)``, in place, and return it.

    What shows the same memory is derived anew; what was computed before keeps the old values.

    Raises: ValueError: the memory is read-only, or the value does not fit. TypeError: nor its dtype.
    """
    if not state.tracks:
        f.write(target._t._array, [array_of(a) for a in operands], args, options)
        touch(target._t, f.__name__)
        return target
    null(target)
    base = target._base
    if base is not None and (target._creator is None or not base._views):
        disconnect(target)
        base = None
    if base is None:
        base = target
    old, constant = target._t, base._constant
    if not old._array.flags.writeable and (not is_locked(old._array) or repeats(old._array)):
        raise ValueError(
            f"{f.__name__}: the destination is read-only, as it was made; copy it to write into it"
        )
    inputs, sources, _live, _ = gather(operands, False)
    source: Any = target if target._creator is None else target._creator
    masked = options.get("where", True) is not True
    reads, read_sources = inputs, sources
    if masked and not any(x is old for x in inputs):
        reads, read_sources = [*inputs, old], [*sources, source]
    if constant:
        array = np.copy(old._array, order="K")
        f.write(array, arrays_of(inputs), args, options)
        value = tensor(array)
    else:
        if old._node is None:
            root(old)
        keeps = masked or any(x is old for x in inputs)
        face = tape_array(old if keeps else tensor(old._array.copy()))
        faces = [tape_array(x) if isinstance(x, TensorBase) else np.asarray(x) for x in inputs]
        f.write(face, faces, args, options)
        value = apart(face.tensor, [*inputs, old], False)
        value._view = None
    step = _step(f.step, reads, read_sources)
    if target is base:
        value._array = _laid_as(value._array, old._array)
        whole, top = value, step
    else:
        whole = _written_through(base, target._chain, value, constant)
        above: Any = base if base._creator is None else base._creator
        top = _step(f.step, [base._t, value], [above, step])
        step.husk = ref(husk(value, constant, step))  # of which nobody else knows
    if not constant and whole._node is None:
        root(whole)  # a value that depends on nothing: gradients by its views end here
    keep_old_variables(base)
    showing = _showing(base)
    base._t, base._creator = whole, top
    top.husk = ref(base)
    if state.guards:
        top.locks = guard(reads, read_sources, whole._array)
    done: dict[tuple[int, ...], Any] = {}
    for view in showing:
        keep_old_variables(view)
        rederive(view, done)
    return target


def _step(kind: type[Step], inputs: Sequence[Any], sources: Sequence[Any]) -> Step:
    out = kind.__new__(kind)
    out.inputs = inputs
    out.sources = sources
    return out


def _laid_as(array: Any, old: Any) -> Any:
    """The array in the memory layout of `old`, which views of it can be views of."""
    if array.strides == old.strides:
        return array
    out = np.empty_like(old)
    out[...] = array
    return out


def _written_through(base: TensorCore, chain: Sequence[Any], value: Any, constant: bool) -> Any:
    """A copy of the base's tensor into which `value` was written, where `chain` leads."""
    if constant:
        whole = tensor(np.copy(base._t._array, order="K"))
    else:
        whole = base._t.clone()
        whole._array = _laid_as(whole._array, base._t._array)
    part = whole
    for f, args, options in chain:
        if constant:
            part = tensor(f.arrays(part._array, *args, **options))
        else:
            part = traced(f.traced, [part], args, options, True)
    if part._array.size and not np.may_share_memory(part._array, whole._array):
        raise RuntimeError(
            f"a write into a view of shape {value._array.shape} of {short(whole._array)} would not "
            "reach it: the memory is laid out otherwise; copy the view, or write into its base"
        )
    part._array.flags.writeable = True
    if constant:
        part._array[...] = value._array
    else:
        part.copy_(value)
    return whole


def _showing(base: TensorCore) -> list[TensorCore]:
    """The views of a base that are still there."""
    found = [view for r in base._views or () if (view := r()) is not None and view._base is base]
    base._views = [ref(view) for view in found] or None
    return found


def reshape_in_place(target: Any, f: Any, shape: tuple[int, ...]) -> None:
    """Give `target` another shape by `f`; its views go on showing the elements that they showed."""
    old = target._t
    if not state.tracks:
        target._t = tensor(f.arrays(old._array, shape))
        return
    null(target)
    if target._base is not None and target._creator is None:
        disconnect(target)
    source: Any = target if target._creator is None else target._creator
    if target._constant:
        t = tensor(f.arrays(old._array, shape))
    else:
        if old._node is None:
            root(old)
        t = traced(f.traced, [old], (shape,), NONE, True)
        t._view = None
    step = _step(f.step, [old], [source])
    step.husk = ref(target)
    if target._base is None:
        before = f, (old._array.shape,), NONE
        for view in _showing(target):
            view._chain = (before, *view._chain)
    else:
        target._chain = (*target._chain, (f, (shape,), NONE))
    keep_old_variables(target)
    target._t, target._creator = t, step
    if state.guards:
        step.locks = hold_all([t._array])


def rederive(view: TensorCore, done: dict[tuple[int, ...], Any]) -> None:
    """Give a view its value from that of its base, by way of the views that it is a view of.

    `done`: the tensors and steps of views that have theirs, by the identities in their chains.
    """
    base: Any = view._base
    found = base._t, base if base._creator is None else base._creator
    key: tuple[int, ...] = ()
    for f, args, options in view._chain:
        read, source = found
        key = (*key, id(view._chain[len(key)]))
        if key in done:
            found = done[key]
            continue
        if base._constant or read._node is None:
            t = tensor(np.asarray(f.arrays(read._array, *args, **options)))
        else:
            t = traced(f.traced, [read], args, options, True)
        t._view = None
        step = _step(f.step, [read], [source])
        step.husk = _nobody
        if state.guards:
            step.locks = hold_all([t._array])
        found = done[key] = t, step
    t, step = found
    step.husk = ref(view)
    view._t = tensor(t._array) if view._constant and t._node is not None else t
    view._creator = step
    view._view_grad = None


def _nobody() -> None:
    """In place of a weak reference: the tensor of a step that no user has."""


def keep_old_variables(a: TensorCore) -> None:
    """Before `a` changes: let users' operations that read it go on with what it was."""
    for r in a._operations or ():
        operation = r()
        if operation is not None:
            old = husk(a._t, a._constant, a._creator)
            operation.variables = tuple(old if v is a else v for v in operation.variables)
    a._operations = None
