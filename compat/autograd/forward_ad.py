"""Forward mode in the object style: dual tensors carry a tangent beside their values.

Layer 6. A dual tensor holds a traced value of funcgrad's jvp, so every rule is the engine's; what
operations record besides is the graph of the dual numbers. So a reverse pass inside the level gives
dual gradients (forward over reverse), for nothing.

NOTE [Reverse over forward] Let ``y + eps*t`` be a dual tensor with a graph. A reverse pass from it
with the cotangent ``c`` gives ``g + eps*h`` at ``x``, where ``g`` is the gradient of ``<c, y>`` and
``h`` is that of ``<c, t>``, because ``h`` is the derivative of ``g`` along the tangents. So the
gradients of the tangent ``t`` are the tangents of the gradients of ``y``.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from funcgrad.core import EVAL, Primitive, aval_of
from funcgrad.core import current as current_trace
from funcgrad.ops.cast import cast
from funcgrad.ops.complex import conjugate
from funcgrad.transforms.jvp import JVPTrace, JVPTracer
from funcgrad.views import refresh, snapshot

from . import base, engine, modes, sites, views
from .base import TensorBase, tensor
from .node import IDLE, NOTHING, Face, Node, next_number, sequence_number
from .tape import record


class DualTracer(JVPTracer):
    """A value and its tangent; once its level is over, the value alone."""

    __slots__ = ()

    @classmethod
    def __process_primitive__(
        cls, prim: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        return EVAL.process(prim, [a.primal if a.__class__ is cls else a for a in args], params)

    def item(self, *args: int) -> Any:
        """A Python number, without the tangent, as of any tensor."""
        return self.shown().item(*args)

    def tolist(self) -> Any:
        """Python numbers, without the tangents."""
        return self.shown().tolist()

    def shown(self) -> Any:
        """The value as it is now."""
        if self.alias is not None:
            refresh(self)
        return self.primal


class DualTrace(JVPTrace):
    """One level. `holders`: the tensors that hold its values, which lose their tangents at the end."""

    __slots__ = ("boundary", "holders", "token")
    transform = "dual_level"

    def __init__(self) -> None:
        parent = current_trace.get()
        super().__init__(parent, parent)
        self.function = None
        self.boundary = sequence_number()  # nodes of smaller numbers were recorded outside
        self.holders: list[weakref.ref[TensorBase]] = []
        self.token = current_trace.set(self)

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        plain = [
            JVPTracer(self, *self.both(a)) if a.__class__ is DualTracer and a.owner is self else a
            for a in args
        ]
        out = super().process(prim, plain, params)
        return tuple(map(self._dual, out)) if out.__class__ is tuple else self._dual(out)

    def both(self, x: DualTracer) -> tuple[Any, Any]:
        if x.alias is not None:
            refresh(x)
        return x.primal, x.tangent

    def _dual(self, x: Any) -> Any:
        is_mine = x.__class__ is JVPTracer and x.owner is self
        return DualTracer(self, x.primal, x.tangent) if is_mine else x

    def lift(self, value: Any) -> DualTracer:
        return DualTracer(self, snapshot(value, copy=True), None)

    def end(self) -> None:
        current_trace.reset(self.token)
        for ref in self.holders:
            x = ref()
            while x is not None and x._array.__class__ is DualTracer and x._array.owner is self:
                x._array = self.both(x._array)[0]
        self.holders.clear()


def _held(x: TensorBase) -> None:
    x._array.owner.holders.append(weakref.ref(x))


base.holders[DualTracer] = _held

_levels: ContextVar[tuple[DualTrace, ...]] = ContextVar("levels", default=())


# ---------------------------------------------------------------- levels


def enter_dual_level() -> int:
    """Begin a level, inside which dual tensors can be made; returns its number."""
    _levels.set((*_levels.get(), DualTrace()))
    return len(_levels.get()) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """End the last level; its dual tensors lose their tangents.

    Raises: RuntimeError: there is no level, or `level` is not the last one.
    """
    levels = _levels.get()
    if level is not None and level != len(levels) - 1:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    if not levels:
        raise RuntimeError("Dual level must be a positive number: no level was entered.")
    _levels.set(levels[:-1])
    levels[-1].end()


class dual_level:
    """A level for the length of a block.

    >>> import compat as torch
    >>> import compat.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))
    ...     fwAD.unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor(4.), tangent=tensor(4.))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: Any) -> None:
        exit_dual_level()


# ---------------------------------------------------------------- dual tensors


class UnpackedDualTensor(NamedTuple):
    """The parts of a dual tensor; the tangent is None if it is zero."""

    primal: Any
    tangent: Any


def _level(level: int | None, what: str) -> DualTrace | None:
    """The level of a number, the last one if it is None; None if there is none.

    Raises: RuntimeError: there are not so many.
    """
    levels = _levels.get()
    if level is None:
        return levels[-1] if levels else None
    if level >= len(levels):
        raise RuntimeError(
            f"Invalid level given to {what}: {level}, where there are {len(levels)} levels"
        )
    return levels[level] if level >= 0 else None


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """``tensor + eps * tangent``.

    The tangent is converted to the dtype of `tensor`.

    Raises: RuntimeError: there is no level, the shapes differ, or `tensor` has a tangent already.
    ValueError: one is not floating or complex, or only the tangent is complex. AttributeError: one is
    no tensor.
    """
    trace = _level(level, "_make_dual")
    if trace is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, TensorBase):
            raise AttributeError(f"make_dual takes tensors, but the {what} is {type(x).__name__}")
        if aval_of(x._array).dtype.kind not in "fcV":
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: {_dtype(x)}"
            )
    if _part(tensor, trace) is not None:
        raise RuntimeError(
            f"Making a dual Tensor based on a Tensor that already has a forward gradient at the same "
            f"level {_levels.get().index(trace)} is not supported."
        )
    aval, found = aval_of(tensor._array), aval_of(tangent._array)
    if found.shape != aval.shape:
        raise RuntimeError(
            f"Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(aval.shape)} while the given "
            f"forward gradient is of size {list(found.shape)}."
        )
    if found.dtype.kind == "c" and aval.dtype.kind != "c":
        raise ValueError("Expected a real tangent of a real tensor, but got a complex one")
    given = tangent
    if found.dtype != aval.dtype:
        tangent = record(cast, (tangent,), {"dtype": aval.dtype})
    edges = [views.edge(tensor), views.edge(tangent)]
    out = base.tensor(DualTracer(trace, tensor._array, tangent._array))
    if modes.get().records and any(e is not None for e in edges):
        out._node = _Dual(edges, trace)
    out._given_tangent = given
    return out


def _dtype(x: Any) -> Any:
    return x.dtype


def _part(x: TensorBase, trace: DualTrace) -> Any:
    """The tangent of `x` as an array; None if it has none at this level."""
    array = x._array
    is_dual = array.__class__ is DualTracer and array.owner is trace
    return trace.both(array)[1] if is_dual else None


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of a tensor.

    >>> import compat as torch
    >>> torch.autograd.forward_ad.unpack_dual(torch.tensor(2.0))
    UnpackedDualTensor(primal=tensor(2.), tangent=None)
    """
    trace = _level(level, "_fw_primal")
    array = tensor._array
    if trace is None or array.__class__ is not DualTracer or array.owner is not trace:
        return UnpackedDualTensor(tensor, None)
    primal, tangent = trace.both(array)
    edge = views.edge(tensor) if modes.get().records else None
    value = base.tensor(primal, None if edge is None else _Same([edge]))
    if tangent is None:
        return UnpackedDualTensor(value, None)
    given = tensor.__dict__.get("_given_tangent")
    if given is not None and given._array is tangent:
        return UnpackedDualTensor(value, given)
    return UnpackedDualTensor(value, _tangent_of(trace, tangent, edge))


def _tangent_of(trace: DualTrace, tangent: Any, edge: Any) -> Any:
    return tensor(tangent, None if edge is None else _Tangent(trace, edge))


# ---------------------------------------------------------------- nodes


class _Same(Node):
    """The node of a value that passes its cotangent on."""

    __slots__ = ()

    def __init__(self, edges: Sequence[Any]) -> None:
        self.seq = next_number()
        self.next = tuple(edges)
        self.ct = IDLE
        self.saved = NOTHING
        self.extras = None
        self.code, self.offset = sites.site()

    def name(self) -> str:
        return "Identity"

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        return [ct]


class _Dual(_Same):
    """The node of ``x + eps * v``, which `make_dual` has made."""

    __slots__ = ("trace",)

    def __init__(self, edges: Sequence[Any], trace: DualTrace) -> None:
        super().__init__(edges)
        self.trace = trace

    def name(self) -> str:
        return "ViewBackward0"

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        if self.next[1] is None:
            return [ct, None]
        array = getattr(ct, "_array", ct)
        is_dual = array.__class__ is DualTracer and array.owner is self.trace
        primal = self.trace.both(array)[0] if is_dual else array
        times_eps = DualTracer(self.trace, primal * 0, primal)
        if not isinstance(ct, TensorBase):
            return [ct, times_eps]
        edge = views.edge(ct)
        return [ct, tensor(times_eps, None if edge is None else _Same([edge]))]


class _Tangent(_Same):
    """The node of a tangent: NOTE [Reverse over forward]. `root` is the edge of the dual tensor."""

    __slots__ = ("root", "trace")

    def __init__(self, trace: DualTrace, root: Any) -> None:
        super().__init__(_outside(root, trace.boundary))
        self.trace = trace
        self.root = root

    def name(self) -> str:
        return "UnpackTangentBackward0"

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        inside = current_trace.get() is not self.trace.parent or self.trace in _levels.get()
        token = None if inside else current_trace.set(self.trace)
        try:
            found = engine.run(
                [(self.root, _conjugated(ct if isinstance(ct, TensorBase) else tensor(ct)))],
                retain=True,
                graph=face is not None,
                inputs=self.next,
            )
        finally:
            if token is not None:
                current_trace.reset(token)
        return [None if g is None else self._tangent(_conjugated(g), face) for g in found]

    def _tangent(self, g: TensorBase, face: Face | None) -> Any:
        found = _part(g, self.trace)
        if found is None or face is None:
            return found
        return _tangent_of(self.trace, found, views.edge(g))


def _conjugated(x: TensorBase) -> Any:
    """Between the engine's convention and the users'."""
    return record(conjugate, (x,)) if aval_of(x._array).dtype.kind == "c" else x


def _outside(root: Any, boundary: float) -> list[Any]:
    """The edges by which the graph from `root` leaves the level: leaves, and what is older."""
    found, seen, stack = [], {root}, [root]
    while stack:
        node = stack.pop()
        if node.seq < boundary:
            found.append(node)
            continue
        for edge in node.next:
            if edge is not None and edge not in seen:
                seen.add(edge)
                stack.append(edge)
    return found


__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
