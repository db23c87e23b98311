"""`Function`: operations whose backward the user writes."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core import Tracer, aval_of

from . import modes, traced_function, views
from .base import UNCOUNTED, TensorBase, View, sparse_kinds, tensor
from .function_node import Cut, FunctionCtx, FunctionNode, Running, applied, info, is_inexact
from .node import AccumulateGrad, Port, note_forward

ndarray = np.ndarray


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a `backward` whose own derivative is not known: asking a tape for it raises.

    Transforms of `func` around a transform differentiate what it does, as they do other backwards.

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
        edges = _edges(ctx, args) if modes.get().records else []
        if not edges:  # no tape leads here; a transform around it derives what it needs
            return fn(ctx, *args)
        with modes.no_grad():
            found = fn(ctx, *args)
        message = (
            "trying to differentiate twice a function that was marked with @once_differentiable"
            f"{applied(getattr(ctx, 'site', None))}"
        )

        def cut(g: Any) -> Any:
            return tensor(g._array, Cut(edges, message)) if isinstance(g, TensorBase) else g

        return tuple(map(cut, found)) if isinstance(found, tuple) else cut(found)

    return wrapper


def _edges(ctx: Any, args: Sequence[Any]) -> list[Any]:
    """Where the tape goes on from the gradients `args` and from the inputs of a `Function`."""
    given = [views.edge(x) for x in args] + [e for e, _ in getattr(ctx, "next_functions", ())]
    return [e for e in given if e is not None]


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
    def _defines(cls, name: str) -> bool:
        """Whether the user has written the static method `name`."""
        return getattr(cls, name) is not getattr(Function, name)

    @classmethod
    def _backward_rule(cls) -> Callable[..., Any]:
        """The user's backward, under either of its names."""
        if not cls._defines("vjp"):
            return cls.backward
        if cls._defines("backward"):
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`; if an input requires grad, the outputs lead to `backward`.

        Raises: TypeError: keyword arguments for a forward that takes a `ctx`.
        """
        if kwargs or (getattr(cls.forward, "__defaults__", None) and cls._defines("setup_context")):
            args = _bound(cls, args, kwargs)
        mode = modes.get()
        if mode.level is not None:
            writes = traced_function.may_write(cls)
            args = tuple(map(mode.level.inside if writes else mode.level.read, args))
        edges: list[Any] = []
        traced = needed = False
        for a in args:
            if sparse_kinds and a.__class__ in sparse_kinds:
                _require_constant(cls, a)
                edges.append(None)
            elif isinstance(a, TensorBase):
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


def _require_constant(cls: type[Function], x: Any) -> None:
    """Require that a sparse tensor is a constant: it is its values that have edges in the graph.

    Raises: NotImplementedError: it requires grad.
    """
    if x.requires_grad and modes.get().records:
        raise NotImplementedError(
            f"{cls.__name__}.apply(): a sparse tensor that requires grad is not offered as an input of "
            f"a Function here; give it x.detach(), or its values"
        )


def _bound(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments by position, defaults filled in."""
    before = () if cls._defines("setup_context") else (None,)  # the context
    bound = inspect.signature(cls.forward).bind(*before, *args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{cls.__name__}.forward() has keyword-only arguments ({', '.join(bound.kwargs)}), which "
            f"backward could give no gradient for; make them positional"
        )
    return bound.args[len(before) :]


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
        self.forward: Running | None = None

    def plain(self) -> Any:
        """Run the user's forward on arrays."""
        cls, ctx, mode = self.cls, self.ctx, self.mode
        if not self.needed:
            inner = modes.changed(records=False)
        elif cls._keeps is False:
            inner = modes.changed(records=False, forward=None)
        else:
            edges = zip(self.args, self.edges, strict=True)
            self.forward = Running([a for a, edge in edges if edge is not None])
            inner = modes.changed(records=False, forward=self.forward)
        token = modes.current.set(inner)
        try:
            if cls._defines("setup_context"):
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
        if not dirty <= position.keys():
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input: only inputs that forward "
                "modifies in place are to be marked.",
                stacklevel=4,
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
            if self.needed and id(o) not in constant and is_inexact(o):
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
        node.inputs = [info(a) for a in self.args]
        node.outputs = [info(o) for o in outs]
        keeps = node.save(named, self.forward, self.mode)
        if self.cls._keeps is not True:
            self.cls._keeps = keeps
        if self.mode.anomaly is not None:
            note_forward(node)

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
        view = x._view
        if view is not None and edge is not None:
            views.check_writable(x, *self.args)
        # After that look at the view, whose place in the graph is not up to date from now on.
        views.touch(x, f"{self.cls.__name__}.forward")
        if edge is None:
            return
        if view is None:
            if x._node.__class__ is AccumulateGrad:
                raise RuntimeError(
                    "a leaf Variable that requires grad has been used in an in-place operation."
                    f"{views.made_at(x)}"
                )
            views.move_retained(x, edge)
            x._node = edge
            return
        base = views.base_of(view)
        node = views.written("CopySlices", base, view.chain, edge, aval_of(x._array))
        views.move_retained(base, node)
        base._node = node


def _base_of(x: TensorBase) -> TensorBase:
    return x if x._view is None else x._view.base


class InplaceFunction(Function):
    """A `Function` with a flag `inplace`, as older code has it."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


BackwardCFunction = FunctionNode

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "InplaceFunction",
    "once_differentiable",
]
