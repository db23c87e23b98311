"""Functional transforms inside which there are tensors of a tape outside.

NOTE [Levels] Within a transform of `compat.func` a tensor that requires grad and was recorded outside
stands for two things: its derivative by the tape outside must flow through the transform, and code
inside may call `backward()` itself. So the first operation that meets it puts a *stand-in* in its
place: a leaf of the tape inside, whose array is an `OuterArray`, the tensor as the transform sees it.
What the transform computes of `OuterArray`s is recorded on the tape outside, one level up.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from funcgrad.core import EVAL, Primitive, Trace, Tracer
from funcgrad.core import current as current_trace
from funcgrad.transforms.vmap import BatchTracer
from funcgrad.views import snapshot

from . import modes, sites, views
from .base import TensorBase, tensor
from .cutting import cut
from .node import AccumulateGrad, Port, sequence_number
from .tape import TapeArray, TensorTrace, record
from .twins import Twins, spread


class Level:
    """One running transform: what it has met from outside, and the mode it was called in.

    `randomness`: how random numbers are drawn in it, "error", "same" or "different" (under `batch`,
    the trace of `vmap`), or None: as outside.
    """

    def __init__(self, randomness: str | None = None) -> None:
        self.randomness = randomness
        self.batch: Any = None
        self.under: Any = current_trace.get()  # what the transform is called in
        self.outside = modes.get()
        above = self.outside.level
        self.refuses_hooks = False  # for saved tensors: a reverse mode that does not call them
        self.depth: int = 1 if above is None else above.depth + 1
        self.boundary = sequence_number()
        self.owner = _Outside(self, current_trace.get())
        self.stand_ins: dict[int, tuple[TensorBase, TensorBase, Any]] = {}
        self.traced: dict[int, _Traced] = {}
        self.twins: dict[int, Twins] = {}  # by the id of their counter

    @property
    def outermost(self) -> Level:
        found = self
        while found.outside.level is not None:
            found = found.outside.level
        return found

    def run(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)`` inside the transform; every `.grad` outside is restored."""
        token = modes.current.set(modes.Mode(anomaly=modes.get().anomaly, level=self))
        try:
            return f(*args, **kwargs)
        finally:
            modes.current.reset(token)
            for original, _, grad in self.stand_ins.values():
                original._grad = grad
            self.stand_ins.clear()  # which lead back here

    def resume(self, f: Callable[..., Any], *args: Any) -> Any:
        """``f(*args)``, what a transform for this level has returned: a pullback, a linear map.

        It reads `OuterArray`s of this level, whose tensors belong to the trace around it.
        """
        parent = current_trace.get()
        inside = parent is not EVAL and parent is self.under
        token = current_trace.set(LevelTrace(self, parent) if inside else parent)
        try:
            return self.run(f, *args)
        finally:
            current_trace.reset(token)

    @contextmanager
    def recording(self, records: bool) -> Iterator[None]:
        """The tape outside records, or not, whatever it did when the transform was called."""
        before, self.outside = self.outside, self.outside._replace(records=records)
        try:
            yield
        finally:
            self.outside = before

    def transform(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)``, which runs a transform of funcgrad for this level."""
        parent = current_trace.get()
        token = current_trace.set(parent if parent is EVAL else LevelTrace(self, parent))
        try:
            out = f(*args, **kwargs)
        except BaseException:
            for left in self.traced.values():
                left.restore()
            raise
        finally:
            current_trace.reset(token)
        if self.traced:
            self._settle()
        return out

    def note_traced(self, x: TensorBase) -> None:
        """Note that the array of `x` is about to be a traced value: something traced is written."""
        if id(x) not in self.traced:
            self.traced[id(x)] = _Traced(weakref.ref(x), x._array, x._node, sites.site())

    def written(self, x: TensorBase) -> None:
        """Tell who shares the memory of `x`, but not its traced value, what is in it."""
        if self.outermost.twins:
            spread(x, self)

    def _settle(self) -> None:
        """Give tensors that outlive the transform the numbers that its values stood for.

        Raises: RuntimeError: there are other numbers for each example of a batch.
        """
        found, self.traced = self.traced, {}
        alive = _traces()
        above = self.outside.level
        written = []
        for left in found.values():
            x = left.tensor()
            if x is None or not isinstance(x._array, Tracer):
                continue
            if x._array.owner in alive:
                if above is not None:
                    above.traced.setdefault(id(x), left)
                continue
            value = x._array
            left.restore()
            if x._view is None:
                written.append((x, value, left))
        for x, value, left in written:
            views.assign(x, self._outside(value, alive, left.site), "a transform", whole=True)

    def _outside(self, value: Any, alive: set[Any], site: Any) -> Any:
        """A traced value as a tensor outside of the transform."""
        while isinstance(value, Tracer) and value.owner not in alive:
            if isinstance(value, TapeArray):
                return value.shown()
            if value.__class__ is BatchTracer and value.bdim is not None:
                raise RuntimeError(
                    f"vmap: a tensor of the size {list(value.shape)} from outside of the function is "
                    f"written at {sites.describe(site)} with what differs from example to example: "
                    f"there is no place for one value for each. Give it to the function as an "
                    f"argument with an in_dim (the buffers of a module by functional_call), or write "
                    f"into a clone()."
                )
            value = value.underlying
        return tensor(value)

    def inside(self, x: Any) -> Any:
        """An operand as the tape inside sees it."""
        if not isinstance(x, TensorBase):
            return x
        return self.stand_in(x) if self.is_outside(views.edge(x)) else x

    def is_outside(self, edge: Any) -> bool:
        """Whether a place in the graph is one of the tape outside."""
        if edge is None:
            return False
        node = edge.node if edge.__class__ is Port else edge
        born = node.born if node.__class__ is AccumulateGrad else node.seq
        return bool(born <= self.boundary)

    def read(self, x: Any) -> Any:
        """As `inside`, for an operation that makes no view: a view made in `no_grad` is a constant.

        Its array still has the derivative of the memory that it shares.
        """
        x = self.inside(x)
        if not isinstance(x, TensorBase) or x._view is None or x._view.origin != "no_grad":
            return x
        if not isinstance(x._array, Tracer):
            return x
        views.refresh(x)
        made = tensor(cut(x._array))
        made._counter = x._counter
        return made

    def stand_in(self, x: TensorBase) -> TensorBase:
        found = self.stand_ins.get(id(x))
        if found is None:
            made = tensor(outer_array(x, self))
            made._node = AccumulateGrad(made)
            made._original = x
            found = self.stand_ins[id(x)] = (x, made, x._grad)
            x._grad = None
        return found[1]


class _Traced(NamedTuple):
    """A tensor that a traced value was written into, what it held before, and where that was."""

    tensor: Any
    array: Any
    node: Any
    site: Any

    def restore(self) -> None:
        x = self.tensor()
        if x is not None:
            x._array = self.array
            x._node = self.node


def _traces() -> set[Any]:
    """The traces that are running."""
    found, trace = set(), current_trace.get()
    while trace is not None and trace not in found:
        found.add(trace)
        trace = trace.parent
    return found


class LevelTrace(Trace):
    """The tape outside of a level, where transforms nest: between the two transforms' traces.

    Without it the outer transform would be asked about `OuterArray`s, which are not its own.
    """

    __slots__ = ("level",)
    transform = "the tape"

    def __init__(self, level: Level, parent: Trace) -> None:
        self.level = level
        self.parent = parent

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if not any(is_outside(a, self.level) for a in args):
            return self.parent.process(prim, args, params)
        token = current_trace.set(self.parent)
        try:
            return recorded_outside(self.level, prim, args, params)
        finally:
            current_trace.reset(token)

    def lift(self, value: Any) -> Any:
        return self.parent.lift(value)


class _Outside(TensorTrace):
    """The owner of a level's `OuterArray`s: inside of the transforms around the level, outside of its
    own. What such a value is written into becomes one.
    """

    __slots__ = ("level",)

    def __init__(self, level: Level, parent: Trace) -> None:
        self.level = weakref.ref(level)
        self.parent = parent

    def lift(self, value: Any) -> Any:
        return outer_array(tensor(snapshot(value, copy=True)), self.level())


class OuterArray(TapeArray):
    """A tensor of the tape outside of a transform, as an array inside it."""

    __slots__ = ("level",)
    level: Level

    @classmethod
    def __process_primitive__(
        cls, prim: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        level = max((a.level for a in args if a.__class__ is cls), key=lambda lv: lv.depth)
        mode = modes.get()
        if mode.level is level and any(a.__class__ is TapeArray for a in args):
            return TapeArray.__process_primitive__(prim, args, params)
        return recorded_outside(level, prim, args, params)

    def assign(self, other: Any) -> None:
        self.tensor = other.tensor
        self.level = other.level


def is_outside(x: Any, level: Level) -> bool:
    """Is `x` the array of a tensor of the tape around `level`?

    It may come from another transform on that tape: a pullback may be called inside of one.
    """
    return x.__class__ is OuterArray and x.level.outside.level is level.outside.level


def recorded_outside(
    level: Level, prim: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Record an operation on `OuterArray`s of a level by the tape outside of it."""
    operands = [a.shown() if is_outside(a, level) else a for a in args]
    token = modes.current.set(level.outside)
    try:
        out = record(prim, operands, params)
    finally:
        modes.current.reset(token)
    if out.__class__ is tuple:
        return tuple(outer_array(o, level) for o in out)
    return outer_array(out, level)


def outer_array(x: TensorBase, level: Any) -> OuterArray:
    """The array face of a tensor outside of `level`."""
    out = OuterArray.__new__(OuterArray)
    out.owner = level.owner
    out.alias = None
    out.tensor = x
    out.level = level
    return out
