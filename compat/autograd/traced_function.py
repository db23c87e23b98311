"""A `Function` on tensors that hold traced values: its rules as funcgrad wants them.

The user's static methods are written for tensors, funcgrad's `custom_call` takes functions of arrays;
here each is called through the other. What the user gave no rule for is derived by `custom_call`.

NOTE [Grafts] A forward that takes a ctx saves while it computes, so it cannot be run on traced values
by way of the primitive. It is run on them directly, which notes the derivative of every operation in
it; then its outputs are replaced by *grafts*: the same values, with the user's backward instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from funcgrad import tree
from funcgrad.algebra import zeros_like
from funcgrad.core import Tracer, aval_of
from funcgrad.core import current as current_trace
from funcgrad.transforms.custom_call import Rules, custom_call
from funcgrad.transforms.jvp import JVPTrace
from funcgrad.views import snapshot

from . import function, modes, tape, views
from .base import TensorBase, tensor


class _Layout(NamedTuple):
    """What `forward` returned: outputs that are no tensors, and which ones are special.

    `constants` has None where a tensor is; `written` maps outputs to inputs that were marked dirty.
    """

    is_tuple: bool
    constants: tuple[Any, ...]
    tensors: tuple[int, ...]
    written: dict[int, int]
    constant: frozenset[int]


class _Context:
    """What one run of forward has left: the ctx, and the tensors on it, which are the residual."""

    __slots__ = ("ctx", "tensors")

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx
        lists = (ctx.to_save, ctx.saved_for_forward or (), ctx.__dict__)
        self.tensors = [x for x in tree.leaves(lists) if isinstance(x, TensorBase)]

    def arrays(self) -> list[Any]:
        return [x._array for x in self.tensors]

    def restored(self, arrays: Sequence[Any], *, forward: bool = False) -> Any:
        """The ctx with other values in its tensors; `forward`: `saved_tensors` are for jvp."""
        old = self.ctx
        new = function.FunctionCtx(old.needs_input_grad)
        made = {id(x): tensor(a) for x, a in zip(self.tensors, arrays, strict=True)}

        def swap(x: Any) -> Any:
            return made.get(id(x), x) if isinstance(x, TensorBase) else x

        new.__dict__.update(tree.tree_map(swap, old.__dict__))
        saved = old.saved_for_forward if forward and old.saved_for_forward else old.to_save
        new.to_save = tuple(map(swap, saved))
        new.materialize_grads = old.materialize_grads
        return new


class _Call:
    """One call of a `Function`: its static methods as functions of flat lists of arrays."""

    def __init__(self, cls: Any, args: Sequence[Any]) -> None:
        self.cls = cls
        self.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        self.args = [None if isinstance(a, TensorBase) else a for a in args]
        self.needs = tuple(
            isinstance(a, TensorBase)
            and isinstance(a._array, Tracer)
            and aval_of(a._array).dtype.kind in "fc"
            for a in args
        )
        self.layout: Any = None
        self.context: Any = None
        # Forward mode asks for the value first and for the tangent then: forward runs once for both.
        self.remembers = current_trace.get().__class__ is JVPTrace
        self.remembered: Any = None
        has_jvp = cls.jvp is not function.Function.jvp
        has_backward = _has_backward(cls)
        self.rules = Rules(
            cls.__name__,
            self.value,
            jvp=self.jvp if has_jvp else None,
            forward=self.forward if has_backward or not has_jvp else None,
            backward=self.backward,
            batch=self.batch if cls.vmap is not function.Function.vmap else None,
        )

    # ------------------------------------------------------------ running the user's methods

    def tensors(self, xs: Sequence[Any]) -> list[Any]:
        """The full arguments, with tensors of `xs`."""
        args = list(self.args)
        for i, x in zip(self.places, xs, strict=True):
            args[i] = tensor(x)
        return args

    def run(self, xs: Sequence[Any]) -> tuple[list[Any], _Context]:
        """Run forward: the output arrays, and what it has left."""
        if self.remembered is not None:
            seen, outs, context = self.remembered
            self.remembered = None
            if all(x is y for x, y in zip(seen, xs, strict=True)):
                return outs, context
        ctx = function.FunctionCtx(self.needs)
        args = self.tensors(xs)
        is_traced = any(isinstance(x, Tracer) for x in xs)
        if not is_traced and _may_write(self.cls):
            args = [tensor(a._array.copy()) if isinstance(a, TensorBase) else a for a in args]
        token = modes.current.set(modes.changed(level=None) if is_traced else modes.NO_GRAD)
        try:
            out = run(self.cls, ctx, args, None, self)[0] if is_traced else _direct(self, ctx, args)
        finally:
            modes.current.reset(token)
        self.layout = _layout(out, ctx, args)
        outs = [out[j]._array for j in self.layout.tensors] if self.layout.is_tuple else [out._array]
        return outs, _Context(ctx)

    def value(self, *xs: Any) -> list[Any]:
        outs, context = self.run(xs)
        if self.remembers:
            self.remembered = (xs, outs, context)
        return outs

    def forward(self, *xs: Any) -> tuple[list[Any], list[Any]]:
        outs, self.context = self.run(xs)
        return outs, self.context.arrays()

    def backward(self, residual: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        ctx = self.context.restored(residual)
        return pulled(self.cls, ctx, cts, self.layout, self.args, self.places)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outs, context = self.run(primals)
        ctx = context.restored(context.arrays(), forward=True)
        return outs, pushed(self.cls, ctx, tangents, outs, self)

    def batch(self, size: int, bdims: Sequence[int | None], *xs: Any) -> Any:
        """The user's `vmap`."""
        dims: list[int | None] = [None] * len(self.args)
        for i, b in zip(self.places, bdims, strict=True):
            dims[i] = b
        info = SimpleNamespace(batch_size=size, randomness="error")
        out, out_dims = self.cls.vmap(info, tuple(dims), *self.tensors(xs))
        ctx = function.FunctionCtx(self.needs)
        self.layout = layout = _layout(out, ctx, ())
        outs = out if layout.is_tuple else (out,)
        axes = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(outs)
        return (
            tuple(outs[j]._array for j in layout.tensors),
            tuple(axes[j] for j in layout.tensors),
        )

    def assembled(self, arrays: Sequence[Any]) -> Any:
        """The user's output, from the arrays of its tensors."""
        outs = list(self.layout.constants)
        for j, array in zip(self.layout.tensors, arrays, strict=True):
            outs[j] = tensor(array)
        return tuple(outs) if self.layout.is_tuple else outs[0]


def _has_backward(cls: Any) -> bool:
    base = function.Function
    return cls.backward is not base.backward or cls.vjp is not base.vjp


def _may_write(cls: Any) -> bool:
    """Whether the class's methods mention `mark_dirty`."""
    found = (getattr(f, "__code__", None) for f in (cls.forward, cls.setup_context))
    return any(code is not None and "mark_dirty" in code.co_names for code in found)


def _direct(call: _Call, ctx: Any, args: Sequence[Any]) -> Any:
    """Forward on plain arrays."""
    cls = call.cls
    if function.has_setup(cls):
        out = cls.forward(*args)
        cls.setup_context(ctx, tuple(args), out)
        return out
    return cls.forward(ctx, *args)


def _layout(out: Any, ctx: Any, args: Sequence[Any]) -> _Layout:
    is_tuple = isinstance(out, tuple)
    outs = out if is_tuple else (out,)
    dirty = {id(x) for x in ctx.dirty_tensors}
    constant = {id(x) for x in ctx.non_differentiable}
    place = {id(a): i for i, a in enumerate(args) if isinstance(a, TensorBase)}
    tensors = tuple(j for j, o in enumerate(outs) if isinstance(o, TensorBase))
    return _Layout(
        is_tuple,
        tuple(None if isinstance(o, TensorBase) else o for o in outs),
        tensors,
        {j: place[id(o)] for j, o in enumerate(outs) if id(o) in dirty and id(o) in place},
        frozenset(
            j for j in tensors if id(outs[j]) in constant or aval_of(outs[j]._array).dtype.kind not in "fc"
        ),
    )


def pulled(
    cls: Any, ctx: Any, cts: Sequence[Any], layout: _Layout, args: Sequence[Any], places: Any
) -> list[Any]:
    """The cotangents of the tensor inputs, by the user's backward; zeros where it returns None."""
    grads: list[Any] = [None] * len(layout.constants)
    for j, ct in zip(layout.tensors, cts, strict=True):
        is_zero = j in layout.constant and not ctx.materialize_grads
        grads[j] = None if is_zero else function.shown_gradient(tensor(ct), _ANY)
    found = function.backward_of(cls)(ctx, *grads)
    is_tensor = [i in places for i in range(len(args))]
    name = cls._backward_cls.__name__
    given = function.checked_gradients(found, name, is_tensor, "a traced function")
    infos = ctx._infos
    return [
        info.zeros()._array
        if given[i] is None
        else function.fitted(given[i], i, info, SimpleNamespace(name=lambda: name, site=None))._array
        for i, info in zip(places, infos, strict=True)
    ]
