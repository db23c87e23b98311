"""The interpreter: `record` runs a primitive on tensors and notes it in the graph.

Everything a graph node needs follows from the primitive (what its rule reads, whether it is a view),
so this is the one general path; `printed.py` has the common cases laid out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.algebra import Linear, LinearView
from funcgrad.array import TracedArray
from funcgrad.core import EVAL, REGISTRY, Aval, EvalTrace, Primitive, aval_of
from funcgrad.core import current as current_trace
from funcgrad.ops.cast import cast, cast_constant
from funcgrad.ops.complex import as_complex
from funcgrad.ops.index import getitem
from funcgrad.ops.rounding import nextafter
from funcgrad.ops.structural import broadcast_to, reshape
from funcgrad.quiet import QUIET, reset_state, set_state
from funcgrad.views import Link, refresh, snapshot

from . import modes, sites, views
from .base import UNCOUNTED, TensorBase, View, hold, sparse, sparse_kinds, tensor
from .cutting import cut
from .narrow import BFLOAT16, is_narrow, narrowed, widened
from .node import (
    IDLE,
    NOTHING,
    SAVED,
    LinearNode,
    OpaqueNode,
    OpNode,
    Port,
    new_node,
    next_number,
    node_class,
    note_forward,
    save,
)
from .sums import PartNode

ndarray = np.ndarray
_trace = current_trace.get


def record(
    prim: Primitive,
    args: Sequence[Any],
    params: dict[str, Any] | None = None,
    name: str | None = None,
    origin: str = "",
) -> Any:
    """``prim(*args, **params)`` on tensors, arrays and numbers; the result is a tensor, or several.

    `name` is that of the node, from the primitive's name if it is not given. `origin` marks views
    that must not be written into (see `base.View`).
    """
    if params is None:
        params = {}
    if sparse_kinds and not sparse_kinds.isdisjoint([a.__class__ for a in args]):
        return sparse.rules(prim, args, params)
    mode = modes.get()
    if prim in LINEAR and (mode is modes.GRAD or mode is modes.NO_GRAD):
        (x,) = args
        if isinstance(x, TensorBase):
            return _record_linear(prim, x, params, name, origin, mode)
    if mode.level is not None:
        seen = mode.level.inside if prim in VIEWS else mode.level.read
        args = [seen(a) for a in args]
    values: list[Any] = []
    edges: list[Any] = []
    needed = False
    for a in args:
        if isinstance(a, TensorBase):
            if a._view is not None:
                views.refresh(a)
            values.append(a._array)
            edges.append(a._node)
            needed = needed or a._node is not None
        else:
            values.append(a)
            edges.append(None)
    needed = needed and (not mode.inference or prim in VIEWS)
    if prim.forward is not None and needed and mode.records:
        return opaque(prim, params, name, args, values, edges, mode)
    ans = run(prim, values, params)
    if mode.level is not None and not mode.records and not (prim in VIEWS and countable(args[0])):
        ans = tree.map(cut, ans)
    needed = needed and mode.records and prim.differentiable
    if prim.multiple:
        outs = tuple(map(tensor, ans))
        if mode.forward is not None and prim.differentiable:
            mode.forward.note(args, outs)
        if needed:
            arrays = tuple(o._array for o in outs)
            node = make_node(prim, params, name, args, values, edges, arrays, outs, mode)
            for i, out in enumerate(outs):
                if aval_of(out._array).dtype.kind in "fcV":
                    out._node = Port(node, i)
        return outs
    out = tensor(ans)
    if mode.forward is not None and prim.differentiable:
        mode.forward.note(args, (out,))
    if needed:
        out._node = make_node(prim, params, name, args, values, edges, out._array, out, mode)
    if prim in VIEWS:
        share(out, args[0], prim, params, origin, mode)
    if watchers:
        tell(Note(prim, args, params, name, origin, out))
    return out


def countable(x: Any) -> bool:
    """Whether a view of `x` can be known as one: it shares the memory, and reading it cuts."""
    return isinstance(x, TensorBase) and x._counter is not UNCOUNTED


# The primitives whose results share memory with the operand.
VIEWS = frozenset({broadcast_to, *(p for p in REGISTRY.values() if p.is_view)})


# Those whose one operand is all there is to know about, and of which a node keeps the type only.
LINEAR = frozenset(
    p
    for p in REGISTRY.values()
    if isinstance(p, Linear)
    and p.__class__ in (Linear, LinearView)
    and p.variadic is None
    and len(p.rules) == 1
)


def _record_linear(
    prim: Primitive,
    x: TensorBase,
    params: dict[str, Any],
    name: str | None,
    origin: str,
    mode: modes.Mode,
) -> Any:
    """`record` for the most frequent kind of operations outside of the printed ones."""
    if x._view is not None:
        views.refresh(x)
    out = tensor(run(prim, (x._array,), params))
    edge = x._node
    if edge is not None and mode is modes.GRAD:
        kind = PartNode if prim is getitem else LinearNode
        out._node = node = kind.__new__(node_class(name or default_name(prim), kind))
        node.prim = prim
        node.params = params
        node.left = edge
        node.like = aval_of(x._array)
        node.saved = NOTHING
        node.seq = next_number()
        node.ct = IDLE
        node.extras = None
        node.code, node.offset = sites.site()
    if prim in VIEWS:
        share(out, x, prim, params, origin, mode)
    if watchers:
        tell(Note(prim, (x,), params, name, origin, out))
    return out


def run(prim: Primitive, values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The primitive on bare arrays or traced values; NumPy's floating-point warnings are off."""
    trace = _trace()
    if prim in VIEWS:
        return prim(*values, **params) if trace is not EVAL else EVAL.process(prim, values, params)
    token = set_state(QUIET)
    try:
        if BFLOAT16 is not None and prim not in _OF_BFLOAT16 and any(map(is_narrow, values)):
            ans = prim(*map(widened, values), **params)
            return tuple(map(narrowed, ans)) if prim.multiple else narrowed(ans)
        return prim(*values, **params) if trace is not EVAL else EVAL.process(prim, values, params)
    finally:
        reset_state(token)


_OF_BFLOAT16 = frozenset({cast, cast_constant, nextafter})  # which have it in bfloat16 itself


def make_node(
    prim: Primitive,
    params: dict[str, Any],
    name: str | None,
    args: Sequence[Any],
    values: Sequence[Any],
    edges: Sequence[Any],
    ans: Any,
    outs: Any,
    mode: modes.Mode,
) -> OpNode:
    """The node of an operation that has run; `outs` are its results as tensors."""
    node: OpNode = new_node(node_class(name or default_name(prim)), prim, params, edges)
    save_ans, save_xs = prim.saves([e is not None for e in edges])
    kept: Any
    if not prim.multiple:
        kept = save(ans, outs._counter, True, mode) if save_ans else aval_of(ans)
    elif save_ans:
        kept = tuple([save(o._array, o._counter, True, mode) for o in outs])
    else:
        kept = tuple(map(aval_of, ans))
    xs = [
        aval_of(v)
        if not wanted
        else save(v, a._counter, False, mode)
        if isinstance(a, TensorBase)
        else v
        for a, v, wanted in zip(args, values, save_xs, strict=True)
    ]
    if save_ans or not SAVED.isdisjoint([x.__class__ for x in xs]):
        node.saved = (kept, xs)
        node.types = None
    else:
        node.saved = NOTHING
        node.types = (kept, xs)
    if mode.anomaly is not None:
        note_forward(node)
    return node


def opaque(
    prim: Primitive,
    params: dict[str, Any],
    name: str | None,
    args: Sequence[Any],
    values: Sequence[Any],
    edges: Sequence[Any],
    mode: modes.Mode,
) -> tuple[Any, ...]:
    """`record` for a primitive that runs itself under reverse mode and has several results."""
    token = set_state(QUIET)
    try:
        ans, residual = prim.forward(values, [e is not None for e in edges], params)
    finally:
        reset_state(token)
    node: OpaqueNode = new_node(
        node_class(name or default_name(prim), OpaqueNode), prim, params, edges
    )
    node.types = tuple(map(aval_of, ans))
    node.read = in_memory_of(prim.kept(residual), values)
    node.shown = ()
    xs = [
        save(v, a._counter, False, mode) if isinstance(a, TensorBase) else v
        for a, v in zip(args, values, strict=True)
    ]
    node.saved = (residual, xs)
    if mode.anomaly is not None:
        note_forward(node)
    return tuple(
        [
            tensor(x, Port(node, i) if aval_of(x).dtype.kind in "fcV" else None)
            for i, x in enumerate(ans)
        ]
    )


def in_memory_of(kept: Sequence[Any] | None, values: Sequence[Any]) -> Sequence[int]:
    """The numbers of the values of which some that are kept may be views; None: that is not known."""
    if kept is None or not all(isinstance(x, ndarray | np.generic) for x in (*kept, *values)):
        return range(len(values))
    owners = {id(x) for x in kept} | {id(x.base) for x in kept if x.base is not None}
    return [
        i
        for i, x in enumerate(values)
        if id(x) in owners or (x.base is not None and id(x.base) in owners)
    ]


_NAMES = {
    "add": "AddBackward0",
    "subtract": "SubBackward0",
    "multiply": "MulBackward0",
    "divide": "DivBackward0",
    "negative": "NegBackward0",
    "power": "PowBackward1",
    "absolute": "AbsBackward0",
    "getitem": "SliceBackward0",
    "transpose": "PermuteBackward0",
    "reshape": "ViewBackward0",
    "expand_dims": "UnsqueezeBackward0",
    "squeeze": "SqueezeBackward1",
    "broadcast_to": "ExpandBackward0",
    "view_update": "CopySlices",
    "cast": "ToCopyBackward0",
    "gather": "IndexBackward0",
    "scatter_set": "IndexPutBackward0",
    "concatenate": "CatBackward0",
    "stack_arrays": "StackBackward0",
    "matmul": "MmBackward0",
    "conjugate": "ConjBackward0",
    "fft": "FftC2CBackward0",
    "rfft": "FftR2CBackward0",
    "irfft": "FftC2RBackward0",
}


def default_name(prim: Primitive) -> str:
    """PyTorch's name for the node of a primitive."""
    found = _NAMES.get(prim.name)
    if found is None:
        words = prim.name.split("_")
        found = _NAMES[prim.name] = "".join(w.capitalize() for w in words) + "Backward0"
    return found


def share(
    out: TensorBase,
    x: Any,
    prim: Primitive,
    params: dict[str, Any],
    origin: str,
    mode: modes.Mode,
) -> None:
    """Note that `out` is the view ``prim(x, **params)``, if it does share memory."""
    if not isinstance(x, TensorBase):
        return
    array = out._array
    if array.__class__ is ndarray and array.base is not x._array and not _shares(array, x._array):
        return
    if prim is broadcast_to and out._node is None:
        out._origin = sites.site()  # which writing into it has to tell
    may_copy = prim is reshape or prim is as_complex
    if array.__class__ is not ndarray and may_copy and not views.shows(x, link(prim, params)):
        out._array = snapshot(array, copy=True)  # where an array would be copied
        hold(out)
        return
    connect(out, x, prim, params, origin, mode)


def link(prim: Primitive, params: dict[str, Any]) -> Link:
    return Link(prim, tuple(params.items()))


def connect(
    out: TensorBase,
    x: TensorBase,
    prim: Primitive,
    params: dict[str, Any],
    origin: str,
    mode: modes.Mode,
) -> None:
    """Note that `out` is the view ``prim(x, **params)``, which follows `x` and its writes."""
    new = link(prim, params)
    out._counter = counter = x._counter
    if counter is UNCOUNTED:
        return
    if not mode.records and origin != "function":
        origin = "no_grad"
    seen = x._view
    if seen is None:
        out._view = View(x, (new,), counter[0], origin)
    else:
        out._view = View(seen.base, (*seen.chain, new), counter[0], origin or seen.origin)


def _shares(a: ndarray, b: ndarray) -> bool:
    """Whether a result of a view primitive is a view; arrays of no elements always are."""
    return not a.size or np.may_share_memory(a, b)


# ---------------------------------------------------------------- looking on


class Note:
    """A call of `record` with one result, and what that was like then.

    Or of a compiled `program`, of tensors.
    """

    __slots__ = ("args", "name", "origin", "out", "params", "prim", "program", "state")

    def __init__(
        self,
        prim: Primitive,
        args: Sequence[Any],
        params: dict[str, Any],
        name: str | None,
        origin: str,
        out: TensorBase,
        program: Any = None,
    ) -> None:
        self.prim = prim
        self.program = program
        self.args = args
        self.params = params
        self.name = name
        self.origin = origin
        self.out = out
        self.state = self._now()

    def _now(self) -> tuple[Any, ...]:
        out = self.out
        return (out._array, out._node, out._counter, out._counter[0], out._view)

    def is_changed(self) -> bool:
        """Whether something was done to the result meanwhile, but that it was made no view."""
        *before, view = self.state
        *now, is_view = self._now()
        return any(a is not b for a, b in zip(before, now, strict=True)) or is_view not in (
            None,
            view,
        )


class Owned:
    """That a result was given memory of its own, with its elements in the order "C" or "K"."""

    __slots__ = ("order", "out")

    def __init__(self, out: TensorBase, order: str) -> None:
        self.out = out
        self.order = order


class Check:
    """That the elements of a tensor of integers were found to be in ``range(low, high)``."""

    __slots__ = ("high", "index", "low")

    def __init__(self, index: TensorBase, low: int, high: int) -> None:
        self.index = index
        self.low = low
        self.high = high


watchers: list[list[Any]] = []
NOT_YET = object()  # stands among the notes for a function that may become a program


def tell(note: Any) -> None:
    """Hand a note to all who look on."""
    for notes in watchers:
        notes.append(note)


class watched:
    """The calls of `record` inside of a ``with`` block, as a list; of other threads' too."""

    __slots__ = ("notes",)

    def __enter__(self) -> list[Any]:
        self.notes: list[Any] = []
        watchers.append(self.notes)
        return self.notes

    def __exit__(self, *_: Any) -> None:
        watchers[:] = [n for n in watchers if n is not self.notes]


# ---------------------------------------------------------------- the array face of a tensor


class TensorTrace(EvalTrace):
    """The owner of all `TapeArray`s."""

    __slots__ = ()
    transform = "the tape"
    ends = False

    def lift(self, value: Any) -> TapeArray:
        return tape_array(tensor(value.copy()))


_OWNER = TensorTrace()
_OWNER.parent = EVAL


class TapeArray(TracedArray):
    """A tensor as derivative rules see it, with NumPy's operators, methods and dtypes.

    Rules are written for arrays. To run one so that it is recorded itself (`create_graph=True`), or
    to hand a tensor to a functional transform, it is wrapped in one of these, whose operations come
    back to the tape through funcgrad's one protocol, `__process_primitive__`.
    """

    __slots__ = ("tensor",)
    tensor: TensorBase

    @classmethod
    def __process_primitive__(
        cls, prim: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        out = record(prim, [a.shown() if a.__class__ is cls else a for a in args], params)
        return tuple(map(tape_array, out)) if out.__class__ is tuple else tape_array(out)

    def shown(self) -> TensorBase:
        """The tensor; that of a view whose base was written since is taken again."""
        if self.alias is not None:
            refresh(self)
        return self.tensor

    @property
    def aval(self) -> Aval:
        return aval_of(self.tensor._array)

    @property
    def underlying(self) -> Any:
        return self.tensor._array

    def assign(self, other: Any) -> None:
        self.tensor = other.tensor


def tape_array(x: TensorBase) -> TapeArray:
    """The array face of a tensor."""
    out = TapeArray.__new__(TapeArray)
    out.owner = _OWNER
    out.alias = None
    out.tensor = x
    return out


def through(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """``f(*args, **kwargs)``, a function of arrays, on tensors: they go in and come out as tensors.

    Every primitive that `f` calls is recorded.
    """
    return unwrapped(f(*map(wrapped, args), **{k: wrapped(v) for k, v in kwargs.items()}))


def wrapped(x: Any) -> Any:
    """Tensors as arrays, also inside tuples, lists and dicts."""
    if isinstance(x, TensorBase):
        if sparse_kinds and x.__class__ in sparse_kinds:
            raise sparse.refusal()
        return tape_array(x)
    if isinstance(x, tuple | list):
        return type(x)(map(wrapped, x))
    if isinstance(x, dict):
        return {k: wrapped(v) for k, v in x.items()}
    return x


def unwrapped(x: Any) -> Any:
    """Arrays as tensors, also inside tuples and lists."""
    if isinstance(x, TapeArray):
        return x.shown()
    if isinstance(x, tuple | list):
        made = [unwrapped(y) for y in x]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    return tensor(x) if isinstance(x, ndarray | np.generic) else x
