"""`Function`: operations whose backward the user writes.

NOTE [Kept tensors] A tensor that `forward` computed from its inputs and kept, which is neither an
input nor an output, has no place in the graph, so a second derivative would silently lack what flows
through it. `_Forward` notes which tensors depend on the inputs while `forward` runs. Those that are
kept lead, while `backward` is recorded, to a `Cut`: a node that says so if a derivative reaches it.
Noting takes the general path, so it is done only for classes that keep tensors: the first call finds
out, and a later call that keeps some all the same is taken at its worst.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from funcgrad import tree
from funcgrad.algebra import concrete_namespace, sum_to
from funcgrad.core import Tracer, aval_of
from funcgrad.ops.cast import cast, cast_constant
from funcgrad.ops.complex import conjugate, real
from funcgrad.ops.index import view_update

from . import modes, sites, tape, traced_function, views
from .base import UNCOUNTED, TensorBase, View, tensor
from .node import (
    IDLE,
    NOTHING,
    AccumulateGrad,
    Face,
    Freed,
    Node,
    Port,
    new_node,
    next_number,
    node_class,
    save,
    second_backward,
)

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
    {"_sequence_nr", "metadata", "name", "next_functions", "register_hook", "register_prehook"}
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


class _Forward:
    """Which tensors a running `forward` has computed from its inputs."""

    __slots__ = ("found",)

    def __init__(self, args: Sequence[Any]) -> None:
        self.found: dict[int, weakref.ref[Any]] = {}
        for a in args:
            if isinstance(a, TensorBase) and a._node is not None:
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
                if isinstance(x, TensorBase) and _is_inexact(x):
                    self.add(x)

    def written(self, x: TensorBase, new: Any) -> None:
        """`new` was written into `x`."""
        if self.holds(new):
            self.add(x)
            if x._view is not None:
                self.add(x._view.base)

    def alive(self) -> list[TensorBase]:
        return [x for x in (ref() for ref in self.found.values()) if x is not None]


def _is_inexact(x: TensorBase) -> bool:
    return aval_of(x._array).dtype.kind in "fcV"


class _Info(NamedTuple):
    """The type of an input or output."""

    shape: tuple[int, ...]
    dtype: Any
    module: Any

    def zeros(self) -> Any:
        return tensor(self.module.zeros(self.shape, self.dtype))


def _info(x: Any) -> _Info | None:
    if not isinstance(x, TensorBase):
        return None
    array = x._array
    if array.__class__ is ndarray:
        return _Info(array.shape, array.dtype, np)
    aval = aval_of(array)
    return _Info(aval.shape, aval.dtype, concrete_namespace(array))


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


class FunctionNode(Node):
    """The node of a `Function`; its class is called ``<Function>Backward``.

    `saved` is a tuple of `Saved` values and None, `places` says where each is in the graph, and
    `kept` where other tensors are that forward left on the ctx.
    """

    __slots__ = ("ctx", "inputs", "is_lifted", "kept", "outputs", "places", "several")
    _forward_cls: type[Function]
    is_lifted: bool

    def __init__(self, ctx: FunctionCtx, edges: Sequence[Any]) -> None:
        self.seq = next_number()
        self.next = tuple(edges)
        self.ct = IDLE
        self.saved = NOTHING
        self.extras = None
        self.code, self.offset = sites.site()
        self.ctx = ctx
        self.kept: list[tuple[weakref.ref[Any], Any]] = []
        self.is_lifted = False

    # ------------------------------------------------------------ saving

    def save(self, named: dict[int, Any], forward: _Forward | None, mode: modes.Mode) -> bool:
        """Save what the ctx wants; `named` has the places of inputs and outputs by identity.

        Returns whether `forward` has kept what it computed.
        """
        ctx = self.ctx
        keeps = False
        saved: list[Any] = []
        self.places = []
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
            if id(x) not in named or x._node is None:
                place = self._place(x, named, forward)
                if place is not _CONSTANT:
                    self.kept.append((weakref.ref(x), place))
                keeps = keeps or id(x) not in named
        return keeps

    def _place(self, x: TensorBase, named: dict[int, Any], forward: _Forward | None) -> Any:
        found = named.get(id(x))
        if found is not None:
            return found
        edge = views.edge(x)
        if edge is not None:
            return edge
        if not _is_inexact(x) or (forward is not None and not forward.holds(x)):
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
        if self.is_lifted:
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
        self.is_lifted = face is not None and not any(isinstance(g, TensorBase) for g in grads)
        shown = [shown_gradient(g, o) for g, o in zip(grads, self.outputs, strict=True)]
        if self.ctx.materialize_grads:
            shown = [
                o.zeros() if g is None and o is not None else g
                for g, o in zip(shown, self.outputs, strict=True)
            ]
        attached = self._attach() if face is not None and self.kept else ()
        try:
            found = backward_of(self._forward_cls)(self.ctx, *shown)
        finally:
            for x in attached:
                x._node = None
            lifted, self.is_lifted = self.is_lifted, False
        given = self._checked(found)
        out: list[Any] = []
        for i, (g, edge, info) in enumerate(zip(given, self.next, self.inputs, strict=True)):
            if g is None or edge is None or info is None:
                out.append(None)
                continue
            g = fitted(g, i, info, self)
            out.append(g if face is not None and not lifted else g._array)
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

    def _checked(self, found: Any) -> tuple[Any, ...]:
        return checked_gradients(
            found, self.name(), [i is not None for i in self.inputs], sites.describe(self.site)
        )

    def __getattr__(self, name: str) -> Any:
        if name in Node.__slots__ or name in FunctionNode.__slots__ or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.ctx, name)


BackwardCFunction = FunctionNode


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


def shown_gradient(g: Any, info: _Info | None) -> Any:
    """A cotangent as users see it; None stays None."""
    if g is None or info is None:
        return None
    if not isinstance(g, TensorBase):
        g = tensor(g)
    return tape.record(conjugate, (g,)) if aval_of(g._array).dtype.kind == "c" else g


def checked_gradients(
    found: Any, name: str, is_tensor: Sequence[bool], place: str
) -> tuple[Any, ...]:
    """What a user's backward returned, one entry per input.

    Raises: RuntimeError: the number is wrong, or a gradient is for an input that is no tensor.
    TypeError: one is neither a tensor nor None.
    """
    grads = found if isinstance(found, tuple) else (found,)
    count = len(is_tensor)
    if len(grads) > count and all(g is None for g in grads[count:]):
        grads = grads[:count]
    if len(grads) != count:
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {count}, got "
            f"{len(grads)}); it was applied at {place}"
        )
    for i, (g, wanted) in enumerate(zip(grads, is_tensor, strict=True)):
        if g is None:
            continue
        if not isinstance(g, TensorBase):
            raise GradientTypeError(
                f"expected Variable or None (got {type(g).__name__}): {name} returned it as "
                f"gradient {i}; it was applied at {place}"
            )
        if not wanted:
            raise RuntimeError(
                f"function {name} returned a gradient different from None at position {i + 1}, but "
                f"the corresponding forward input was not a Variable; it was applied at {place}"
            )
    return grads


def fitted(g: TensorBase, i: int, info: _Info, node: Any) -> TensorBase:
    """A user's gradient in the engine's convention, with the shape and dtype of input `i`.

    Raises: RuntimeError: its shape does not fit.
    """
    aval = aval_of(g._array)
    if aval.shape != info.shape:
        if not _expandable(info.shape, aval.shape):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {i} - got "
                f"{list(aval.shape)} but expected shape compatible with {list(info.shape)}; it was "
                f"applied at {sites.describe(node.site)}"
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
    return len(shape) <= len(to) and all(
        n in (1, m) for n, m in zip(shape, tail, strict=True)
    )


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a `backward` whose own derivative is not known: asking for it raises.

    >>> import compat as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     @torch.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> x = torch.tensor(1.0, requires_grad=True)
    >>> torch.autograd.grad(Double.apply(x), x)
    (tensor(2.),)
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with modes.no_grad():
            found = fn(ctx, *args)
        if not modes.get().records:
            return found
        edges = [e for e in map(views.edge, args) if e is not None]
        edges += [e for e, _ in getattr(ctx, "next_functions", ()) if e is not None]
        message = (
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )

        def cut(g: Any) -> Any:
            return tensor(g._array, Cut(edges, message)) if isinstance(g, TensorBase) else g

        return tuple(map(cut, found)) if isinstance(found, tuple) else cut(found)

    return wrapper


# ---------------------------------------------------------------- the class


class Function:
    """An operation with a backward of your own; call it through ``apply``.

    Define the static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``, or
    ``forward(*args)``, ``setup_context(ctx, inputs, output)`` and ``backward``. `forward` runs
    without recording; `backward` gets one gradient per output and returns one per input, None where
    there is none. `jvp` and `vmap` may be given; under functional transforms they are derived from
    the others if they are not.

    >>> import compat as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x * x
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x)
    tensor(8., grad_fn=<CubeBackward>)
    """

    generate_vmap_rule = False
    _backward_cls: type[FunctionNode] = FunctionNode
    _keeps: bool | None = None  # NOTE [Kept tensors]; None: not known yet

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = f"{cls.__name__}Backward"
        cls._backward_cls = type(name, (FunctionNode,), {"__slots__": (), "_forward_cls": cls})
        cls._keeps = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method, and call it through apply."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; see the class."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Leave on `ctx` what `backward` needs, if `forward` does not take a `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients by the inputs from those by the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function "
            "to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the outputs from those of the inputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Run on batched tensors: return the outputs and where their batch axes are."""
        raise NotImplementedError("vmap is not implemented; it is derived from forward.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`; if an input requires grad, the outputs lead to `backward`.

        Raises: TypeError: keyword arguments for a forward that takes a `ctx`.
        """
        if kwargs or (cls.forward.__defaults__ and has_setup(cls)):
            args = _bound(cls, args, kwargs)
        mode = modes.get()
        if mode.level is not None:
            args = tuple([mode.level.inside(a) for a in args])
        edges: list[Any] = []
        traced = needed = False
        for a in args:
            if isinstance(a, TensorBase):
                if a._view is not None:
                    views.refresh(a)
                edges.append(a._node)
                needed = needed or a._node is not None
                if a._array.__class__ is not ndarray and isinstance(a._array, Tracer):
                    traced = True
            else:
                edges.append(None)
        needed = needed and mode.records
        if traced and not needed:
            return traced_function.apply(cls, args, mode)
        call = _Application(cls, args, edges, needed, mode)
        return call.traced() if traced else call.plain()


def has_setup(cls: type[Function]) -> bool:
    return cls.setup_context is not Function.setup_context


def backward_of(cls: type[Function]) -> Callable[..., Any]:
    """The backward that the user wrote, under either of its names."""
    if cls.vjp is not Function.vjp:
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp
    return cls.backward


def _bound(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments by position, defaults filled in."""
    if not has_setup(cls):
        raise TypeError(
            f"{cls.__name__}.apply() takes no keyword arguments ({', '.join(kwargs)}): pass them by "
            f"position, or write forward(*args) and setup_context(ctx, inputs, output)"
        )
    bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{cls.__name__}.forward() has keyword-only arguments ({', '.join(bound.kwargs)}), which "
            f"backward could give no gradient for; make them positional"
        )
    return bound.args


class _Application:
    """One call of ``apply`` on the tape."""

    __slots__ = ("args", "cls", "ctx", "edges", "forward", "mode", "needed", "node")

    def __init__(
        self,
        cls: type[Function],
        args: tuple[Any, ...],
        edges: list[Any],
        needed: bool,
        mode: modes.Mode,
    ) -> None:
        self.cls = cls
        self.args = args
        self.edges = edges
        self.needed = needed
        self.mode = mode
        self.ctx = FunctionCtx(tuple([e is not None for e in edges]))
        self.node: Any = None
        self.forward: _Forward | None = None

    def plain(self) -> Any:
        """Run the user's forward on arrays."""
        cls, ctx, mode = self.cls, self.ctx, self.mode
        if not self.needed:
            inner = modes.changed(records=False)
        elif cls._keeps is False:
            inner = modes.changed(records=False, forward=None)
        else:
            self.forward = _Forward(self.args)
            inner = modes.changed(records=False, forward=self.forward)
        token = modes.current.set(inner)
        try:
            if has_setup(cls):
                out = cls.forward(*self.args)
                cls.setup_context(ctx, self.args, out)
            else:
                out = cls.forward(ctx, *self.args)
        finally:
            modes.current.reset(token)
        result = self.wrapped(out, self.args)
        if mode.forward is not None and not mode.records:
            mode.forward.note(self.args, result if isinstance(result, tuple) else (result,))
        return result

    def traced(self) -> Any:
        """Run the user's forward on traced values inside a tape."""
        out, seen = traced_function.run(self.cls, self.ctx, self.args, self.mode)
        return self.wrapped(out, seen)

    def wrapped(self, out: Any, seen: Sequence[Any]) -> Any:
        """The outputs as users get them; `seen` are the inputs that forward was given."""
        ctx = self.ctx
        outs = out if isinstance(out, tuple) else (out,)
        position = {id(a): i for i, a in enumerate(seen) if isinstance(a, TensorBase)}
        dirty = {id(x) for x in ctx.dirty_tensors}
        if dirty and not dirty <= {id(o) for o in outs}:
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )
        constant = {id(x) for x in ctx.non_differentiable}
        if self.needed:
            self.node = self.cls._backward_cls(ctx, self.edges)
            self.node.several = isinstance(out, tuple)
        named = dict(position)
        results = []
        for j, o in enumerate(outs):
            if not isinstance(o, TensorBase):
                results.append(o)
                continue
            edge = None
            if self.needed and id(o) not in constant and _is_inexact(o):
                edge = Port(self.node, j) if self.node.several else self.node
            at = position.get(id(o))
            if id(o) in dirty:
                result = o if at is None else self.args[at]
                self._rebase(result, edge)
            else:
                result = self._fresh(o, edge, None if at is None else self.args[at])
            if edge is not None and (at is None or id(o) in dirty):
                named[id(o)] = -1 - j
            results.append(result)
        if self.needed:
            self._finish(outs, named)
        return tuple(results) if isinstance(out, tuple) else results[0]

    def _finish(self, outs: Sequence[Any], named: dict[int, Any]) -> None:
        """Save what backward needs."""
        node = self.node
        node.inputs = [_info(a) for a in self.args]
        node.outputs = [_info(o) for o in outs]
        keeps = node.save(named, self.forward, self.mode)
        if self.cls._keeps is not True:
            self.cls._keeps = keeps
        if self.mode.anomaly is not None:
            node.metadata["traceback_"] = sites.stack()

    def _fresh(self, o: TensorBase, edge: Any, given: Any) -> TensorBase:
        """A new object for an output, so that what is kept on the ctx does not own its node."""
        out = tensor(o._array, edge)
        out._counter = o._counter
        if given is None:
            if o.__dict__:
                out.__dict__.update(o.__dict__)
            view = o._view
            if view is not None and self._is_of_input(view):
                out._view = View(view.base, view.chain, o._counter[0], "function")
        elif o._counter is not UNCOUNTED:
            chain = () if given._view is None else given._view.chain
            out._view = View(_base_of(given), chain, o._counter[0], "function")
        return out

    def _is_of_input(self, view: View) -> bool:
        return any(
            a is view.base or (isinstance(a, TensorBase) and _base_of(a) is view.base)
            for a in self.args
        )

    def _rebase(self, x: TensorBase, edge: Any) -> None:
        """Give an input that forward has written into its new history.

        Raises: RuntimeError: it is a leaf that requires grad, or a view that cannot be written.
        """
        views.touch(x, f"{self.cls.__name__}.forward")
        if edge is None:
            return
        view = x._view
        if view is None:
            if x._node.__class__ is AccumulateGrad:
                raise RuntimeError(
                    "a leaf Variable that requires grad has been used in an in-place operation."
                )
            views.move_retained(x, edge)
            x._node = edge
            return
        views.check_writable(x, *self.args)
        base, aval = view.base, aval_of(view.base._array)
        node = new_node(
            node_class("CopySlices"), view_update, {"chain": view.chain}, [base._node, edge]
        )
        node.saved = NOTHING
        node.types = (aval, [aval, aval_of(x._array)])
        views.move_retained(base, node)
        base._node = node


def _base_of(x: TensorBase) -> TensorBase:
    return x if x._view is None else x._view.base


class InplaceFunction(Function):
    """A `Function` with a flag `inplace`, as older code has it."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "InplaceFunction",
    "once_differentiable",
]
