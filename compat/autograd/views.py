"""Views and writing: what an in-place operation does to the graph and to those who share memory.

NOTE [In place] ``x.op_(y)`` is: check what is forbidden, run `op` out of place, write the result
back, count a version, and give the history to the base. A view's own place in the graph is made
again from its base's, by replaying its chain, when it is next looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.lib.array_utils import byte_bounds

from funcgrad.core import EVAL, Trace, Tracer, aval_of
from funcgrad.core import current as current_trace
from funcgrad.indexing import known
from funcgrad.ops.arithmetic import add, subtract
from funcgrad.ops.complex import as_complex
from funcgrad.ops.index import follow, view_update
from funcgrad.ops.logic import isfinite
from funcgrad.ops.select import where
from funcgrad.ops.strided import repeats, strided
from funcgrad.ops.structural import broadcast_to, reshape, transpose
from funcgrad.views import Link
from funcgrad.views import View as ArrayView

from . import mirrors, modes, sites
from .base import UNCOUNTED, TensorBase, View, hold
from .cutting import cut, stop
from .narrow import is_narrow, narrowed, widened
from .node import NOTHING, AccumulateGrad, OpNode, Port, extras, new_node, node_class

ndarray = np.ndarray
_T = TypeVar("_T", bound=TensorBase)


def refresh(x: TensorBase) -> None:
    """Bring a view's array and node up to date with its base. Call where `x._view` is not None.

    Raises: RuntimeError: where gradients are recorded, of a view whose place in the graph does not
    follow from its base's.
    """
    view: Any = x._view
    if view.seen == x._counter[0]:
        return
    base = base_of(view)
    if mirrors.known and base._array.__class__ is ndarray:
        mirrors.follow(x._counter)
    if isinstance(base._array, Tracer) and not _follows(x._array, base._array, view.chain):
        _note_traced(x)
        x._array = follow(base._array, view.chain)
        hold(x)
    node = base._node
    if node is not None and (view.origin == "no_grad" or view.origin == "function"):
        if not modes.get().records:
            return  # and the next look decides
        raise _forbidden(x, base, _BASE)
    view.seen = x._counter[0]
    if node is None and x._node.__class__ is AccumulateGrad:
        return  # a view of what needs no gradient, which was made a leaf that does
    if node is not None:
        aval = aval_of(base._array)
        for prim, params in view.chain:
            params = dict(params)
            out = prim.aval(aval, **params)
            node = _link_node("AsStridedBackward0", prim, params, [node], [aval], out)
            aval = out
    move_retained(x, node)
    x._node = node


def _follows(array: Any, base: Tracer, chain: tuple[Any, ...]) -> bool:
    """Whether `array` is a view of `base` as funcgrad has them, which shows later writes by itself.

    It is not where a transform began to trace the base after the view was taken: one inside of that
    whose values both had been.
    """
    if not isinstance(array, Tracer) or not all(prim.is_view for prim, _ in chain):
        return False
    return _shown(array) is _shown(base)


def _shown(array: Tracer) -> Tracer:
    return array.alias.base if array.alias.__class__ is ArrayView else array


def base_of(view: View) -> TensorBase:
    """The base of a view; if that was given another shape in place, what it was before.

    See NOTE [Hidden base] in `ops/memory.py`.
    """
    base = view.base
    while base._view is not None:
        base = view.base = base._view.base
    return base


def layout(x: TensorBase) -> Any:
    """An array of the shape of `x` and its layout in memory; traced bases of which nobody knows it
    are in C order.
    """
    array = x._array
    return array if array.__class__ is ndarray else _layouts(x)[1]


def storage_offset(x: TensorBase) -> int:
    """How many elements lie before the first one of `x` in the memory that it shows a part of."""
    if x._view is None:
        return 0 if x._memory is None else x._memory[1]
    base = base_of(x._view)
    whole, part = _layouts(x)
    before = storage_offset(base) * whole.itemsize + part.ctypes.data - whole.ctypes.data
    return before // part.itemsize


def memory_of(x: TensorBase) -> Any:
    """What a tensor that shows the same as `x`, but is no view, has as `_memory`; None if `x` is whole.

    That is the array that `x` is a part of, None if it is traced, and where in it `x` begins.
    """
    if x._view is None:
        return x._memory
    base = base_of(x._view)
    array = base._array if base._memory is None else base._memory[0]
    return (array if array.__class__ is ndarray else None), storage_offset(x)


def _layouts(x: TensorBase) -> tuple[Any, Any]:
    """Arrays that lie in memory as the base of `x` does, and as `x` does in it."""
    view = x._view
    base = x if view is None else base_of(view)
    if x._array.__class__ is ndarray:
        return base._array, x._array
    whole = found = _known_layout(base)
    if found.__class__ is not ndarray:
        aval = aval_of(base._array)
        whole = found = np.empty(aval.shape, aval.dtype)
    for prim, params in () if view is None else view.chain:
        found = EVAL.process(prim, (found,), dict(params))
    return whole, found


def _known_layout(base: TensorBase) -> Any:
    """The array behind a traced base, or one like it; None where neither is known."""
    found = known(base._array)
    if found is not None:
        return found
    trace: Any = current_trace.get()
    while trace is not EVAL:
        layouts = getattr(trace, "layouts", None)
        if layouts is not None:
            return layouts.get(id(base))
        trace = trace.parent
    return None


def shows(x: TensorBase, link: Link) -> bool:
    """Whether the traced tensor that `link` makes of `x` would share the memory of `x`."""
    if x._view is None and _known_layout(x) is None:
        return True
    found = layout(x)
    out = EVAL.process(link.prim, (found,), dict(link.params))
    return not out.size or np.may_share_memory(out, found)


def _link_node(
    name: str, prim: Any, params: dict[str, Any], edges: list[Any], xs: list[Any], ans: Any
) -> OpNode:
    """A node of a primitive that saves nothing, made without running it."""
    node: OpNode = new_node(node_class(name), prim, params, edges)
    node.saved = NOTHING
    node.types = (ans, xs)
    return node


# ---------------------------------------------------------------- what is forbidden


def edge(x: Any) -> Any:
    """Where the cotangent of `x` goes; None if it needs none."""
    if not isinstance(x, TensorBase):
        return None
    if x._view is not None:
        refresh(x)
    return x._node


def is_constant(x: Any) -> bool:
    """Whether a tensor has plain numbers and no history."""
    return x._array.__class__ is ndarray and edge(x) is None


def made_at(x: Any, what: str = "It") -> str:
    """`` It was made at model.py:12: y = x * 2.``, for messages; nothing where that is not known."""
    return _made_at(x, edge(x), what)


def _made_at(x: Any, node: Any, what: str = "It") -> str:
    place = getattr(x, "_origin", None)
    if node is not None and (place is None or node.__class__ is not AccumulateGrad):
        place = (node.node if node.__class__ is Port else node).site
    return "" if place is None else f" {what} was made at {sites.describe(place)}."


def check_writable(x: TensorBase, *others: Any, read_first: bool = False) -> None:
    """Require that `x` may be written in place, with operands `others`.

    `read_first`: operands without axes are numbers, read before anything is written, so that they
    may be elements of `x`.

    Raises: RuntimeError: a leaf that requires grad or a view of one, a view that several were made
    with at once, an expanded tensor, an inference tensor, memory that is read-only.
    """
    if x._counter is UNCOUNTED and not modes.get().inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
            "a clone to get a normal tensor before doing inplace update."
        )
    check_history(x, *others)
    array, view = x._array, x._view
    if array.__class__ is not ndarray and view is not None:
        if any(prim is broadcast_to for prim, _ in view.chain):
            raise RuntimeError(
                "unsupported operation: a part of an expanded tensor is written while a transform "
                "traces it. Please clone() the tensor before performing the operation."
                f"{made_at(x)}"
            )
        repeated = _shows_windows(view)
    else:
        is_plain = array.__class__ is ndarray and array.size > 0
        repeated = is_plain and _repeats(array)
        if is_plain and not repeated and not array.flags.writeable and current_trace.get() is EVAL:
            if not repeats(array.shape, array.strides):
                raise _part_of_windows(x) if _shows_windows(view) else _read_only(x)
            repeated = True  # windows that overlap
    if repeated:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
            f"{made_at(x)}"
        )
    for other in others:
        if isinstance(other, TensorBase) and not (read_first and other._array.shape == ()):
            check_overlap(x, other, same_allowed=True)


def check_history(x: TensorBase, *others: Any) -> None:
    """Require that `x` may get another place in the graph, by an operation with operands `others`.

    Raises: RuntimeError: a leaf that requires grad or a view of one, a view that several were made
    with at once, or in no_grad; where gradients are recorded.
    """
    node, view = edge(x), x._view
    owner = x if view is None else base_of(view)
    base = owner._node  # a view made in no_grad has no node itself
    if not modes.get().records or (
        base is None and node is None and all(edge(o) is None for o in others)
    ):
        return
    if node.__class__ is AccumulateGrad:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. Write under "
            f"torch.no_grad(), or into x.clone().{made_at(x)}"
        )
    if view is None:
        return
    if view.origin:
        raise _forbidden(x, owner, _SELF)
    if base.__class__ is AccumulateGrad:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            "Write under torch.no_grad(), or into a view of x.clone()."
            f"{made_at(owner, 'The leaf')}"
        )


def _shows_windows(view: View | None) -> bool:
    """Whether this is a part of windows that overlap."""
    return view is not None and any(
        prim is strided and _overlaps(**dict(given)) for prim, given in view.chain
    )


def _overlaps(shape: Any, strides: Any, offset: int) -> bool:
    return repeats(shape, strides)


def _part_of_windows(x: TensorBase) -> RuntimeError:
    return RuntimeError(
        "unsupported operation: a part of windows that overlap (unfold, as_strided) is written. "
        f"Please write into the tensor that they show, or clone() them before.{made_at(x)}"
    )


def _repeats(array: Any) -> bool:
    """Whether this shows one element along a whole axis."""
    return 0 in array.strides and any(map(_repeated, array.strides, array.shape))


def _repeated(stride: int, length: int) -> bool:
    return stride == 0 and length > 1


def _read_only(x: TensorBase) -> RuntimeError:
    """The error for writing into the memory of a NumPy array that its owner has locked."""
    array = x._array
    return RuntimeError(
        f"a tensor cannot be written whose memory is that of a read-only NumPy array (shape "
        f"{array.shape}, dtype {array.dtype.name}, flags.writeable is False), as pandas, buffers and "
        f"memory maps hand them out. Make the tensor from a copy, torch.from_numpy(array.copy()), or "
        f"clone() the tensor before it is written.{made_at(x)}"
    )


def check_overlap(x: TensorBase, source: TensorBase, *, same_allowed: bool) -> None:
    """Require that what is written into `x` does not lie in the memory that is written.

    Raises: RuntimeError: it does, in a way that PyTorch can tell: both fill a range of memory.
    """
    a, b = x._array, source._array
    if a.__class__ is not ndarray or b.__class__ is not ndarray or not a.size * b.size:
        return
    if not np.may_share_memory(a, b):
        return
    bounds = [byte_bounds(c) for c in (a, b)]
    if any(high - low != c.nbytes for (low, high), c in zip(bounds, (a, b), strict=True)):
        return
    if same_allowed and bounds[0] == bounds[1] and a.strides == b.strides:
        return
    raise RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        "to a single memory location. Please clone() the tensor before performing the operation."
    )


def _node_name(node: Any) -> str:
    if node is None:
        return "an operation"
    return node.node.name() if node.__class__ is Port else node.name()


IS_DATA = "_is_data"  # in the dict of what `.data` gave: what such a write overwrites is noted
MOST_WRITES = 64  # of those that are noted

_NO_GRAD_VIEW = "A view was created in no_grad mode and "
_SHOWN = "Output 0 of {name} is a view and "
_SELF = "is being modified inplace"
_BASE = "its base or another view of its base has been modified inplace"

# By the origin of a view: what it is, and why it must not be written, nor used once its base was.
_ORIGINS = {
    "no_grad": (
        _NO_GRAD_VIEW,
        " with grad mode enabled. Given that this use case is ambiguous and error-prone, it is "
        "forbidden. You can clarify your code by moving both the view and the inplace either both "
        "inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if "
        "you want the inplace to be tracked).",
    ),
    "several": (
        _SHOWN,
        ". This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation by "
        "an out-of-place one.",
    ),
    "function": (
        _SHOWN,
        ". This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward associated "
        "with the custom Function, leading to incorrect gradients. This behavior is forbidden. You "
        "can fix this by cloning the output of the custom Function.",
    ),
}


def _forbidden(x: TensorBase, owner: TensorBase, what: str) -> RuntimeError:
    """The error for a view of `owner` that is written, or used when `owner` was."""
    view: Any = x._view
    node = x._node
    start, why = _ORIGINS[view.origin]
    place = _made_at(x, node) or _made_at(owner, owner._node, "Its base")
    return RuntimeError(start.format(name=_node_name(node)) + what + why + place)


# ---------------------------------------------------------------- writing


def assign(x: _T, new: Any, what: str, *, whole: bool = False) -> _T:
    """Write `new`, a tensor or number that broadcasts to `x`, into `x`, and give `x` its history.

    `whole`: `new` was made without reading `x` (`copy_`, `fill_`, ``x[...] =``). `what` names the
    operation in errors.
    """
    mode = modes.get()
    if mode.level is not None:
        new = mode.level.read(new)
    value = new._array if isinstance(new, TensorBase) else new
    if mode.level is not None and not mode.records:
        value = _with_history_of(x, value, cut)
    if mode.unlocked is not None:
        mode.unlocked.before_write(x)
    new_edge = edge(new) if mode.records else None  # of what `new` was, if it shares this memory
    _store(x, value)
    if mode.level is not None:
        mode.level.written(x)
    touch(x, what)
    if not mode.records:
        if mode.forward is not None:
            mode.forward.written(x, new)
        return x
    view = x._view
    if view is None and not whole:
        move_retained(x, new_edge)
        x._node = new_edge
        _save_written(new_edge, x)
        return x
    base, chain = (x, ()) if view is None else (base_of(view), view.chain)
    if base._node is not None or new_edge is not None:
        name = "CopySlices" if chain else _WRITES.get(what, "CopyBackwards")
        node = written(name, base, chain, new_edge, aval_of(value))
        move_retained(base, node)
        base._node = node
    if not whole:
        _save_written(new_edge, x)
    return x


def store_numbers(x: TensorBase, value: Any) -> None:
    """`value`, numbers without a derivative, into the memory of `x`, which keeps the one it has."""
    _store(x, _with_history_of(x, value, stop))


def _with_history_of(x: TensorBase, value: Any, constant: Callable[[Any], Any]) -> Any:
    """The numbers `value` with the derivative of what is in `x`: what `no_grad` writes, if a transform
    traces `x`. `constant`: which derivatives that is about, `cut` or `stop`."""
    old = x._array
    if not isinstance(old, Tracer) or aval_of(old).dtype.kind not in "fcV":
        return value
    narrow = is_narrow(old)
    value, old = widened(constant(value)), widened(old)
    with np.errstate(invalid="ignore"):
        out = add(value, where(isfinite(old), subtract(old, constant(old)), 0.0))
    return narrowed(out) if narrow else out


# The nodes of operations that write without reading; those of others copy.
_WRITES = {
    "bernoulli_": "BernoulliBackward2",
    "fill_": "FillBackward2",
    "normal_": "NormalBackward0",
    "random_": "RandomBackward0",
    "uniform_": "UniformBackward0",
    "zero_": "ZeroBackward0",
}


_ORDERED = (reshape, as_complex)


def written(name: str, base: TensorBase, chain: tuple[Any, ...], new_edge: Any, new: Any) -> OpNode:
    """The node of `base` after a write into the view that `chain` leads to."""
    edge, aval = base._node, aval_of(base._array)
    order = _memory_order(base._array) if any(prim in _ORDERED for prim, _ in chain) else None
    if order is None:
        return _link_node(name, view_update, {"chain": chain}, [edge, new_edge], [aval, new], aval)
    # These may be views in this order of the memory only, so the rule copies in that order.
    back = {"axes": tuple(sorted(range(len(order)), key=order.__getitem__))}
    there = transpose.aval(aval, axes=order)
    if edge is not None:
        edge = _link_node(name, transpose, {"axes": order}, [edge], [aval], there)
    chain = (Link(transpose, tuple(back.items())), *chain)
    node = _link_node(name, view_update, {"chain": chain}, [edge, new_edge], [there, new], there)
    return _link_node(name, transpose, back, [node], [there], aval)


def _memory_order(array: Any) -> tuple[int, ...] | None:
    """The axes from the slowest to the fastest; None if that is how they are."""
    if array.__class__ is not ndarray or array.flags.c_contiguous:
        return None
    return tuple(sorted(range(array.ndim), key=lambda a: -array.strides[a]))


def _save_written(node: Any, x: TensorBase) -> None:
    """A node that saved its result has saved what is now the memory of `x`."""
    if not isinstance(node, OpNode) or node.saved is NOTHING:
        return
    node.keep_written(x._array, x._counter)


def is_plain(x: TensorBase) -> bool:
    """Whether writing numbers into `x` is no more than that: nothing is recorded or looked through."""
    array = x._array
    mode = modes.get()
    return (
        array.__class__ is ndarray
        and x._node is None
        and x._view is None
        and (mode is modes.GRAD or mode is modes.NO_GRAD)
        and array.base is None
        and array.flags.writeable
        and x._counter is not UNCOUNTED
        and not mirrors.known
        and IS_DATA not in x.__dict__
    )


def touch(x: TensorBase, what: str) -> None:
    """Count a write into the memory of `x` by the operation `what`."""
    counter = x._counter
    if counter is not UNCOUNTED:
        owner = x if x._view is None else base_of(x._view)
        if IS_DATA in owner.__dict__:
            written = [*(counter[3] if len(counter) > 3 else ())[-MOST_WRITES:], x._array]
            counter[:] = (counter[0] + 1, what, sites.site(), written)
        else:
            counter[:] = (counter[0] + 1, what, sites.site())
        if mirrors.known and x._array.__class__ is ndarray:
            mirrors.written(counter, x._array)


def _store(x: TensorBase, value: Any) -> None:
    """The numbers only: `value` into the memory of `x`."""
    array = x._array
    if array.__class__ is ndarray:
        if isinstance(value, Tracer):
            _lift(x, value.owner)
        elif not array.flags.writeable:  # a transform that runs has locked it
            _lift(x, current_trace.get())
        array = x._array
    elif isinstance(value, Tracer) and value.owner is not array.owner:
        trace = current_trace.get()
        if _is_inside(value.owner, array.owner):
            _lift(x, value.owner)
        elif not trace.is_inside(array.owner):  # a tensor of the tape outside: NOTE [Levels]
            _lift(x, trace)
        array = x._array
    if isinstance(array, Tracer):
        view = x._view
        if view is not None and any(prim.own_inverse for prim, _ in view.chain):
            array = base_of(view)._array
            value = view_update(array, value, chain=view.chain)
        array[...] = value
    else:
        np.copyto(array, value, casting="unsafe")


def _is_inside(trace: Trace, other: Trace) -> bool:
    """Whether `trace` runs inside of the transform whose trace is `other`."""
    while trace is not trace.parent:
        trace = trace.parent
        if trace is other:
            return True
    return False


def _lift(x: TensorBase, trace: Trace) -> None:
    """Make the memory of `x` a traced value, so that it can be written."""
    view = x._view
    base = x if view is None else base_of(view)
    _note_traced(base)
    base._array = trace.lift(base._array)
    hold(base)
    if view is not None:
        _note_traced(x)
        x._array = follow(base._array, view.chain)
        hold(x)


def _note_traced(x: TensorBase) -> None:
    level = modes.get().level
    if level is not None:
        level.note_traced(x)


def move_retained(x: TensorBase, node: Any) -> None:
    """`retain_grad` goes with the tensor, to its new node."""
    if not x._retains or x._node is node:
        return
    old = x._node
    if old is not None and old.extras is not None:
        kept = [r for r in old.extras.retaining if r() is not x]
        found = [r for r in old.extras.retaining if r() is x]
        old.extras.retaining = kept
        if node is not None:
            extras(node).retaining += found
