"""The nodes of custom `Function`s: what their forward leaves, and how their backward is run.

NOTE [Kept tensors] A tensor that `forward` computed from its inputs and kept, which is neither an
input nor an output, has no place in the graph, so a second derivative would silently lack what flows
through it. `Running` notes which tensors depend on the inputs while `forward` runs. Those that are
kept lead, while `backward` is recorded, to a `Cut`: a node that says so if a derivative reaches it.
Noting takes the general path, so it is done only for classes that keep tensors: the first call finds
out, and a later call that keeps some all the same is taken at its worst.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, NamedTuple, NoReturn

import numpy as np

from funcgrad import tree
from funcgrad.algebra import concrete_namespace, sum_to
from funcgrad.core import aval_of, tangent_dtype
from funcgrad.ops.cast import cast, cast_constant
from funcgrad.ops.complex import conjugate, real

from . import modes, sites, tape, turns, views
from .base import TensorBase, sparse_kinds, tensor
from .errors import second_backward
from .node import IDLE, NOTHING, Face, Freed, Node, Port, next_number, save

ndarray = np.ndarray


class FunctionCtx:
    """What a `Function`'s forward leaves for its backward; users may set attributes on it."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_reader",
        "dirty_tensors",
        "materialize_grads",
        "needs_input_grad",
        "non_differentiable",
        "saved_for_forward",
        "to_save",
    )

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.to_save: tuple[Any, ...] = ()
        self.saved_for_forward: tuple[Any, ...] | None = None
        self.dirty_tensors: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self._reader: Callable[[], Any] | None = None  # what knows the saved tensors

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs and outputs (or None) for `backward`, which finds them in `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`, which finds them in `saved_tensors`.

        Raises: TypeError: one is neither a tensor nor None.
        """
        for x in tensors:
            if x is not None and not isinstance(x, TensorBase):
                raise TypeError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs `forward` has written into; all of them must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no derivative."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros, or None, for outputs that were not used."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, as it was.

        Raises: RuntimeError: a backward pass has freed it, or it was modified since.
        """
        return self.to_save if self._reader is None else self._reader()

    def __getattr__(self, name: str) -> Any:
        node = getattr(self._reader, "__self__", None)
        if name in _OF_THE_NODE and isinstance(node, _NodeReader):
            return getattr(node.alive(), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_OF_THE_NODE = frozenset(
    {
        "_sequence_nr",
        "metadata",
        "name",
        "next_functions",
        "register_hook",
        "register_prehook",
        "site",
    }
)


class _NodeReader:
    """Reads what a node saved, without owning the node."""

    __slots__ = ("node",)

    def __init__(self, node: FunctionNode) -> None:
        self.node = weakref.ref(node)

    def alive(self) -> FunctionNode:
        found = self.node()
        if found is None:
            raise RuntimeError("the graph that this ctx belongs to is gone")
        return found

    def read(self) -> tuple[Any, ...]:
        return self.alive().saved_tensors


# ---------------------------------------------------------------- what happened in forward


class Running:
    """Which tensors a running `forward` has computed from its inputs."""

    __slots__ = ("found",)

    def __init__(self, args: Sequence[Any]) -> None:
        self.found: dict[int, weakref.ref[Any]] = {}
        for a in args:
            self.add(a)

    def add(self, x: TensorBase) -> None:
        self.found[id(x)] = weakref.ref(x)

    def holds(self, x: Any) -> bool:
        ref = self.found.get(id(x))
        return ref is not None and ref() is x

    def note(self, args: Sequence[Any], outs: Sequence[Any]) -> None:
        """An operation was run on `args`."""
        if any(self.holds(a) for a in args):
            for x in outs:
                if isinstance(x, TensorBase) and is_inexact(x):
                    self.add(x)

    def written(self, x: TensorBase, new: Any) -> None:
        """`new` was written into `x`."""
        if self.holds(new):
            self.add(x)
            if x._view is not None:
                self.add(x._view.base)

    def alive(self) -> list[TensorBase]:
        return [x for x in (ref() for ref in self.found.values()) if x is not None]


def is_inexact(x: TensorBase) -> bool:
    return aval_of(x._array).dtype.kind in "fcV"


class Info(NamedTuple):
    """The type of an input or output."""

    shape: tuple[int, ...]
    dtype: Any
    module: Any

    def zeros(self) -> Any:
        return tensor(self.module.zeros(self.shape, self.dtype))

    def tangent(self) -> Any:
        """A tangent or cotangent that is zero."""
        return tensor(self.module.zeros(self.shape, tangent_dtype(self.dtype)))


def info(x: Any) -> Info | None:
    if not isinstance(x, TensorBase) or x.__class__ in sparse_kinds:
        return None
    array = x._array
    if array.__class__ is ndarray:
        return Info(array.shape, array.dtype, np)
    aval = aval_of(array)
    return Info(aval.shape, aval.dtype, concrete_namespace(array))


# Where a saved or kept tensor is in the graph: input i is the number i, output j is -1 - j, and:
_CUT = "cut"  # computed in forward, neither input nor output
_CONSTANT = None


class Cut(Node):
    """A node that no derivative can pass; `next` is what it would have led to."""

    __slots__ = ("message",)

    def __init__(self, edges: Sequence[Any], message: str) -> None:
        self.seq = next_number()
        self.next = tuple(edges)
        self.ct = IDLE
        self.saved = NOTHING
        self.extras = None
        self.code, self.offset = sites.site()
        self.message = message

    def name(self) -> str:
        return "NotDifferentiable"

    def pull_list(self, ct: Any, face: Face | None) -> NoReturn:
        raise RuntimeError(self.message)


class _SavedSparse(NamedTuple):
    """A sparse input that is saved: nothing can write into it, and no gradient goes to it."""

    x: Any

    def unpack(self, node: Any, edge: Any) -> Any:
        return self.x


class FunctionNode(Node):
    """The node of a `Function`; its class is called ``<Function>Backward``.

    `saved` is a tuple of `Saved` values and None, `places` says where each is in the graph, and
    `kept` where other tensors are that forward left on the ctx.
    """

    __slots__ = ("ctx", "inputs", "kept", "lifted_in", "outputs", "places", "several")
    _forward_cls: Any
    lifted_in: int  # the thread that runs `backward` on array faces, or 0

    def __init__(self, ctx: FunctionCtx, edges: Sequence[Any]) -> None:
        self.seq = next_number()
        self.next = tuple(edges)
        self.ct = IDLE
        self.saved = NOTHING
        self.extras = None
        self.code, self.offset = sites.site()
        self.ctx = ctx
        self.kept: list[tuple[weakref.ref[Any], Any]] = []
        self.lifted_in = 0

    @property
    def count(self) -> int:
        """The number of outputs."""
        return len(self.outputs)

    # ------------------------------------------------------------ saving

    def save(self, named: dict[int, Any], forward: Running | None, mode: modes.Mode) -> bool:
        """Save what the ctx wants; `named` has the places of inputs and outputs by identity.

        Returns whether `forward` has kept what it computed.
        """
        ctx = self.ctx
        keeps = False
        saved: list[Any] = []
        self.places: list[Any] = []
        for i, x in enumerate(ctx.to_save):
            if x is None:
                saved.append(None)
                self.places.append(_CONSTANT)
                continue
            if not isinstance(x, TensorBase):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(x).__name__}"
                )
            if self._is_sparse_input(x, named):
                saved.append(_SavedSparse(x))
                self.places.append(_CONSTANT)
                continue
            place = self._place(x, named, forward)
            keeps = keeps or place is _CUT or id(x) not in named
            is_output = place.__class__ is int and place < 0
            saved.append(save(x._array, x._counter, is_output, mode))
            self.places.append(place)
        if saved:
            self.saved = tuple(saved)
        ctx._reader = _NodeReader(self).read
        ctx.to_save = ()
        left = () if forward is None else forward.alive()
        for x in (*_tensors_in(ctx.__dict__), *left):
            if self._is_sparse_input(x, named):
                continue
            if id(x) not in named or x._node is None:
                place = self._place(x, named, forward)
                if place is not _CONSTANT:
                    self.kept.append((weakref.ref(x), place))
                keeps = keeps or id(x) not in named
        return keeps

    def _is_sparse_input(self, x: Any, named: dict[int, Any]) -> bool:
        """Whether it is one, which is a constant.

        Raises: NotImplementedError: a sparse tensor that forward has made.
        """
        if not sparse_kinds or x.__class__ not in sparse_kinds:
            return False
        if id(x) not in named:
            raise NotImplementedError(
                f"{self.name()}: a sparse tensor that forward has made is not offered on the ctx "
                f"here; keep its values and indices, or make it in backward"
            )
        return True

    def _place(self, x: TensorBase, named: dict[int, Any], forward: Running | None) -> Any:
        found = named.get(id(x))
        if found is not None:
            return found
        edge = views.edge(x)
        if edge is not None:
            return edge
        if not is_inexact(x) or (forward is not None and not forward.holds(x)):
            return _CONSTANT
        return _CUT

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self.saved.__class__ is Freed:
            raise second_backward(self)
        found = [
            None if s is None else s.unpack(self, self._edge_of(place))
            for s, place in zip(self.saved, self.places if self.saved else (), strict=True)
        ]
        if self.lifted_in == get_ident():
            return tuple(None if x is None else tensor(tape.tape_array(x)) for x in found)
        return tuple(found)

    def _edge_of(self, place: Any) -> Any:
        if place is _CUT:
            return self._cut() if modes.get().records else None
        if place.__class__ is not int:
            return place
        if place >= 0:
            return self.next[place]
        return Port(self, -1 - place) if self.several else self

    def _cut(self) -> Cut:
        return Cut(
            self.next,
            f"{self.name()}: its forward computed a tensor from the inputs and kept it on ctx, and "
            f"its backward has used it, so a second derivative would lack what flows through that "
            f"tensor. Compute it again in backward from ctx.saved_tensors, or return it from forward "
            f"as one more output and save that. The Function was applied at "
            f"{sites.describe(self.site)}.",
        )

    # ------------------------------------------------------------ backward

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        grads = [ct.get(i) for i in range(len(self.outputs))] if self.several else [ct]
        is_lifted = face is not None and not any(isinstance(g, TensorBase) for g in grads)
        shown = list(map(shown_gradient, grads))
        if self.ctx.materialize_grads:
            shown = [
                o.zeros() if g is None and o is not None else g
                for g, o in zip(shown, self.outputs, strict=True)
            ]
        attached = self._attach() if face is not None and self.kept else ()
        rule = self._forward_cls._backward_rule()
        try:
            if is_lifted:
                self.lifted_in = get_ident()
            # What is changed here meanwhile must not be seen by other passes.
            if is_lifted or attached:
                found = rule(self.ctx, *shown)
            else:
                found = turns.called(rule, self.ctx, *shown)
        finally:
            for x in attached:
                x._node = None
            if is_lifted:
                self.lifted_in = 0
        given = checked_gradients(found, self.name(), self.inputs, self.site)
        out: list[Any] = []
        for i, (g, edge, info) in enumerate(zip(given, self.next, self.inputs, strict=True)):
            if g is None or edge is None or info is None:
                out.append(None)
                continue
            g = fitted(g, i, info, self.name(), self.site)
            out.append(g if face is not None and not is_lifted else g._array)
        return out

    def _attach(self) -> list[TensorBase]:
        """Give kept tensors their place in the graph, for a backward that is recorded."""
        attached = []
        for ref, place in self.kept:
            x = ref()
            if x is not None and x._node is None:
                x._node = self._edge_of(place)
                attached.append(x)
        return attached

    def __getattr__(self, name: str) -> Any:
        if name in Node.__slots__ or name in FunctionNode.__slots__ or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.ctx, name)


def _tensors_in(x: Any) -> list[TensorBase]:
    """The tensors in a dict of attributes, also inside containers."""
    found: list[TensorBase] = []
    for value in x.values():
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, tuple | list | dict):
            found += [y for y in tree.leaves(value) if isinstance(y, TensorBase)]
    return found


# ---------------------------------------------------------------- gradients that users write


class GradientTypeError(TypeError, RuntimeError):
    """A user's backward returned something that is no tensor (PyTorch: a RuntimeError)."""


def shown_gradient(g: Any) -> Any:
    """A cotangent as users see it; None stays None."""
    if g is None:
        return None
    if not isinstance(g, TensorBase):
        g = tensor(g)
    return tape.record(conjugate, (g,)) if aval_of(g._array).dtype.kind == "c" else g


def checked_gradients(
    found: Any, name: str, inputs: Sequence[Info | None], site: sites.Site | None
) -> tuple[Any, ...]:
    """What a user's backward returned, one entry per input; `inputs` has None for no tensor.

    Raises: RuntimeError: the number is wrong, or a gradient is for an input that is no tensor.
    TypeError: one is neither a tensor nor None.
    """
    grads = found if isinstance(found, tuple) else (found,)
    count = len(inputs)
    if len(grads) > count and all(g is None for g in grads[count:]):
        grads = grads[:count]
    if len(grads) != count:
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {count}, got "
            f"{len(grads)}){applied(site)}"
        )
    for i, (g, taken) in enumerate(zip(grads, inputs, strict=True)):
        if g is None:
            continue
        if not isinstance(g, TensorBase):
            raise GradientTypeError(
                f"expected Variable or None (got {type(g).__name__}): {name} returned it as "
                f"gradient {i}{applied(site)}"
            )
        if taken is None:
            raise RuntimeError(
                f"function {name} returned a gradient different from None at position {i + 1}, but "
                f"the corresponding forward input was not a Variable{applied(site)}"
            )
    return grads


def applied(site: sites.Site | None) -> str:
    return "" if site is None else f"; the Function was applied at {sites.describe(site)}"


def fitted(g: TensorBase, i: int, info: Info, name: str, site: sites.Site | None) -> TensorBase:
    """A user's gradient in the engine's convention, with the shape and dtype of input `i`.

    Raises: RuntimeError: its shape does not fit.
    """
    aval = aval_of(g._array)
    if aval.shape != info.shape:
        if not _expandable(info.shape, aval.shape):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {i} - got "
                f"{list(aval.shape)} but expected shape compatible with {list(info.shape)}"
                f"{applied(site)}"
            )
        g = tape.through(sum_to, g, info.shape)
    if aval.dtype.kind == "c" and info.dtype.kind != "c":
        g = tape.record(real, (g,))
    elif aval.dtype.kind == "c":
        g = tape.record(conjugate, (g,))
    found = aval_of(g._array).dtype
    if found != info.dtype:
        prim = cast if found.kind in "fcV" else cast_constant
        g = tape.record(prim, (g,), {"dtype": info.dtype})
    return g


def _expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    tail = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape, tail, strict=True))
