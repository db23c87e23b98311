"""Functional transforms inside which there are tensors of a tape outside.

NOTE [Levels] Within a transform of `compat.func` a tensor that requires grad and was recorded outside
stands for two things: its derivative by the tape outside must flow through the transform, and code
inside may call `backward()` itself. So the first operation that meets it puts a *stand-in* in its
place: a leaf of the tape inside, whose array is an `OuterArray`, the tensor as the transform sees it.
What the transform computes of `OuterArray`s is recorded on the tape outside, one level up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.core import EVAL, Primitive, Trace, Tracer
from funcgrad.core import current as current_trace

from . import modes, views
from .base import TensorBase, tensor
from .node import AccumulateGrad, sequence_number
from .tape import TapeArray, cut, record, tape_array


class Level:
    """One running transform: what it has met from outside, and the mode it was called in.

    `randomness`: how random numbers are drawn in it, "error", "same" or "different" (under `batch`,
    the trace of `vmap`), or None: as outside.
    """

    def __init__(self, randomness: str | None = None) -> None:
        self.randomness = randomness
        self.batch: Any = None
        self.outside = modes.get()
        above = self.outside.level
        self.depth: int = 1 if above is None else above.depth + 1
        self.boundary = sequence_number()
        self.stand_ins: dict[int, tuple[TensorBase, TensorBase, Any]] = {}

    def run(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)`` inside the transform; every `.grad` outside is restored."""
        token = modes.current.set(modes.Mode(level=self))
        try:
            return f(*args, **kwargs)
        finally:
            modes.current.reset(token)
            for original, _, grad in self.stand_ins.values():
                original._grad = grad

    def transform(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)``, which runs a transform of funcgrad for this level."""
        parent = current_trace.get()
        if parent is EVAL:
            return f(*args, **kwargs)
        token = current_trace.set(LevelTrace(self, parent))
        try:
            return f(*args, **kwargs)
        finally:
            current_trace.reset(token)

    def inside(self, x: Any) -> Any:
        """An operand as the tape inside sees it."""
        if not isinstance(x, TensorBase):
            return x
        node = views.edge(x)
        if node is None:
            return x
        born = node.born if node.__class__ is AccumulateGrad else node.seq
        return x if born > self.boundary else self.stand_in(x)

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
        if not any(a.__class__ is OuterArray and a.level is self.level for a in args):
            return self.parent.process(prim, args, params)
        token = current_trace.set(self.parent)
        try:
            return recorded_outside(self.level, prim, args, params)
        finally:
            current_trace.reset(token)

    def lift(self, value: Any) -> Any:
        return self.parent.lift(value)


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


def recorded_outside(
    level: Level, prim: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Record an operation on `OuterArray`s of a level by the tape outside of it."""
    operands = [a.tensor if a.__class__ is OuterArray and a.level is level else a for a in args]
    token = modes.current.set(level.outside)
    try:
        out = record(prim, operands, params)
    finally:
        modes.current.reset(token)
    if out.__class__ is tuple:
        return tuple(outer_array(o, level) for o in out)
    return outer_array(out, level)


def outer_array(x: TensorBase, level: Level) -> OuterArray:
    """The array face of a tensor outside of `level`."""
    face = tape_array(x)
    out = OuterArray.__new__(OuterArray)
    out.owner = face.owner
    out.alias = None
    out.tensor = x
    out.level = level
    return out
