"""A `Function` on tensors that hold traced values: its rules as funcgrad wants them.

The user's static methods are written for tensors, funcgrad's `custom_call` takes functions of arrays;
here each is called through the other. What the user gave no rule for is derived by `custom_call`.

NOTE [Grafts] A forward that takes a ctx saves while it computes, so where its backward is wanted it
cannot be run by way of the primitive. On traced values it is run as it is, which notes the derivative
of every operation in it; then its outputs are replaced by *grafts*: the same values, with the user's
backward in place of those derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from funcgrad import tree
from funcgrad.core import Tracer
from funcgrad.core import current as current_trace
from funcgrad.transforms.custom_call import Rules, custom_call
from funcgrad.transforms.jvp import JVPTrace
from funcgrad.views import snapshot

from . import modes, views
from .base import TensorBase, tensor
from .cutting import cut
from .function_node import FunctionCtx, checked_gradients, fitted, info, is_inexact, shown_gradient

Arrays = Sequence[Any]


def apply(cls: Any, args: Sequence[Any], mode: modes.Mode) -> Any:
    """``cls.apply(*args)`` where some tensors hold traced values and no tape records."""
    call = _Call(cls, args)
    arrays = custom_call(*call.arrays(args), rules=call.rules)
    if mode.level is not None and not mode.records:
        arrays = tuple(map(cut, arrays))
    outs = call.layout.tensors_of(arrays)
    for j, i in call.layout.written.items():
        outs[j] = _write(args[i], outs[j], cls)
    return call.layout.output(outs)


def run(cls: Any, ctx: Any, args: Sequence[Any], mode: modes.Mode) -> tuple[Any, list[Any]]:
    """Run forward for a node of a tape inside the transforms.

    The output's tensors have no place in the graph yet; the second result is the arguments as forward
    has seen them.
    """
    call = _Call(cls, args)
    seen = call.tensors(call.arrays(args))
    token = modes.current.set(modes.changed(level=None))
    try:
        outs = call.entered(ctx, seen)
    finally:
        modes.current.reset(token)
    for j, i in call.layout.written.items():
        _write(args[i], outs[j], cls)
    return call.layout.output(outs), seen


def _write(x: TensorBase, new: TensorBase, cls: Any) -> TensorBase:
    """What forward has written into its stand-in for the argument `x`."""
    with modes.ModeSwitch(records=False, level=None):  # the derivative is in `new`
        views.check_writable(x)
        return views.assign(x, new, f"{cls.__name__}.forward", whole=True)


class _Layout(NamedTuple):
    """What forward returned: `constants` has its outputs that are no tensors, None for the others.

    `tensors`, `fixed` (without a derivative) are numbers of outputs; `written` maps those that are
    inputs marked dirty to the numbers of the inputs.
    """

    is_tuple: bool
    constants: tuple[Any, ...]
    tensors: tuple[int, ...]
    fixed: frozenset[int]
    written: dict[int, int]

    @classmethod
    def of(cls, out: Any, ctx: Any, args: Sequence[Any]) -> _Layout:
        outs = out if isinstance(out, tuple) else (out,)
        place = {id(a): i for i, a in enumerate(args) if isinstance(a, TensorBase)}
        dirty = {id(x) for x in ctx.dirty_tensors}
        fixed = {id(x) for x in ctx.non_differentiable}
        tensors = [j for j, o in enumerate(outs) if isinstance(o, TensorBase)]
        return cls(
            isinstance(out, tuple),
            tuple([None if isinstance(o, TensorBase) else o for o in outs]),
            tuple(tensors),
            frozenset(j for j in tensors if id(outs[j]) in fixed or not is_inexact(outs[j])),
            {j: place[id(outs[j])] for j in tensors if id(outs[j]) in dirty & place.keys()},
        )

    def arrays_of(self, out: Any) -> list[Any]:
        outs = out if self.is_tuple else (out,)
        return [outs[j]._array for j in self.tensors]

    def tensors_of(self, arrays: Arrays) -> list[Any]:
        """The outputs, with new tensors of `arrays`."""
        outs = list(self.constants)
        for j, array in zip(self.tensors, arrays, strict=True):
            outs[j] = tensor(array)
        return outs

    def output(self, outs: Sequence[Any]) -> Any:
        return tuple(outs) if self.is_tuple else outs[0]


class _Left:
    """What one run of forward has left: the ctx, and the tensors on it, which are the residual."""

    __slots__ = ("attributes", "for_forward", "materialize", "needs", "saved", "tensors")

    def __init__(self, ctx: Any) -> None:
        self.saved = ctx.to_save
        self.for_forward = ctx.saved_for_forward
        self.attributes = dict(ctx.__dict__)
        self.materialize = ctx.materialize_grads
        self.needs = ctx.needs_input_grad
        kept = tree.leaves((self.saved, self.for_forward, self.attributes))
        self.tensors = [x for x in kept if isinstance(x, TensorBase)]

    def arrays(self) -> list[Any]:
        return [x._array for x in self.tensors]

    def restored(self, arrays: Arrays, *, forward: bool = False) -> Any:
        """A ctx with other values in its tensors; `forward`: with what was saved for `jvp`."""
        made = {id(x): tensor(a) for x, a in zip(self.tensors, arrays, strict=True)}

        def swapped(x: Any) -> Any:
            return made.get(id(x), x)

        ctx = FunctionCtx(self.needs)
        ctx.__dict__.update(tree.map(swapped, self.attributes))
        saved = self.for_forward if forward and self.for_forward else self.saved
        ctx.to_save = tuple(map(swapped, saved))
        ctx.materialize_grads = self.materialize
        return ctx


class _Call:
    """One call of a `Function`: its static methods as functions of flat lists of arrays."""

    def __init__(self, cls: Any, args: Sequence[Any]) -> None:
        self.cls = cls
        self.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        self.constants = [None if isinstance(a, TensorBase) else a for a in args]
        self.infos = [info(a) for a in args]
        self.needs = tuple(
            [
                isinstance(a, TensorBase) and isinstance(a._array, Tracer) and is_inexact(a)
                for a in args
            ]
        )
        self.layout: Any = None
        self.left: Any = None
        self.randomness = _randomness(modes.get().level)
        # Forward mode asks for the value first and then for the tangent: one run serves both.
        self.remembers = isinstance(current_trace.get(), JVPTrace)
        self.remembered: Any = None
        has_jvp, has_vmap = cls._defines("jvp"), cls._defines("vmap")
        if has_vmap and cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to transform {cls.__name__}, but it has both generate_vmap_rule=True and "
                f"an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
                f"overridden vmap staticmethod to avoid ambiguity."
            )
        pulls = cls._defines("backward") or cls._defines("vjp") or not has_jvp
        self.rules = Rules(
            cls.__name__,
            self.value,
            jvp=self.jvp if has_jvp else None,
            forward=self.forward if pulls else None,
            backward=self.backward if pulls else None,
            batch=self.batch if has_vmap else None,
        )

    def arrays(self, args: Sequence[Any]) -> list[Any]:
        """The arrays of the tensors, safe from what forward writes."""
        return [snapshot(args[i]._array, copy=False) for i in self.places]

    def tensors(self, xs: Arrays) -> list[Any]:
        """The full arguments, with new tensors of `xs`."""
        args = list(self.constants)
        copy = may_write(self.cls)
        for i, x in zip(self.places, xs, strict=True):
            args[i] = tensor(snapshot(x, copy=copy))
        return args

    # ------------------------------------------------------------ running forward

    def plainly(self, ctx: Any, args: list[Any]) -> list[Any]:
        """The outputs of forward, as the operations in it give them."""
        if self.cls._defines("setup_context"):
            out = self.cls.forward(*args)
            self.cls.setup_context(ctx, tuple(args), out)
        else:
            out = self.cls.forward(ctx, *args)
        self.layout = _Layout.of(out, ctx, args)
        return list(out) if self.layout.is_tuple else [out]

    def entered(self, ctx: Any, args: list[Any]) -> list[Any]:
        """The outputs of forward on traced values, as the user's rules give them."""
        xs = [args[i]._array for i in self.places]
        if self.cls._defines("setup_context"):
            found = custom_call(*xs, rules=self.rules)
            outs = self.layout.tensors_of(found)
            for j, i in self.layout.written.items():
                args[i]._array, outs[j] = outs[j]._array, args[i]
            self.cls.setup_context(ctx, tuple(args), self.layout.output(outs))
            return outs
        before = [snapshot(x, copy=False) for x in xs]
        outs = self.plainly(ctx, args)
        raw = [outs[j] for j in self.layout.tensors]
        grafts = _graft(self, before, raw, _Left(ctx))
        for j, array in zip(self.layout.tensors, grafts, strict=True):
            is_argument = any(outs[j] is a for a in args) and j not in self.layout.written
            if is_argument:
                outs[j] = tensor(array)
            else:
                outs[j]._array = array
        return outs

    def run(self, xs: Arrays, *, plainly: bool = False) -> tuple[list[Any], _Left]:
        """The output arrays, and what forward has left."""
        remembered, self.remembered = self.remembered, None
        if remembered is not None and all(x is y for x, y in zip(remembered[0], xs, strict=True)):
            return remembered[1], remembered[2]
        ctx = FunctionCtx(self.needs)
        args = self.tensors(xs)
        is_traced = any(isinstance(x, Tracer) for x in xs)
        token = modes.current.set(modes.changed(level=None) if is_traced else modes.NO_GRAD)
        try:
            outs = (self.entered if is_traced and not plainly else self.plainly)(ctx, args)
        finally:
            modes.current.reset(token)
        return [outs[j]._array for j in self.layout.tensors], _Left(ctx)

    # ------------------------------------------------------------ the rules

    def value(self, *xs: Any) -> list[Any]:
        outs, left = self.run(xs, plainly=True)
        if self.remembers:
            self.remembered = (xs, outs, left)
        return outs

    def forward(self, *xs: Any) -> tuple[list[Any], list[Any]]:
        outs, self.left = self.run(xs)
        return outs, self.left.arrays()

    def backward(self, residual: Arrays, cts: Arrays) -> list[Any]:
        return self.pulled(self.left.restored(residual), cts)

    def jvp(self, primals: Arrays, tangents: Arrays) -> tuple[list[Any], list[Any]]:
        outs, left = self.run(primals)
        return outs, self.pushed(left.restored(left.arrays(), forward=True), outs, tangents)

    def batch(self, size: int, bdims: Sequence[int | None], *xs: Any) -> Any:
        """The user's `vmap`."""
        dims: list[int | None] = [None] * len(self.constants)
        for i, b in zip(self.places, bdims, strict=True):
            dims[i] = b
        about = SimpleNamespace(batch_size=size, randomness=self.randomness)
        name = self.cls.__name__
        found = self.cls.vmap(about, tuple(dims), *self.tensors(xs))
        if not (isinstance(found, tuple) and len(found) == 2):
            raise RuntimeError(
                f"Expected the vmap staticmethod of {name} to have two returns, an output and out_dims "
                f"with pytree structure compatible with the output. Got a {type(found)} instead"
            )
        out, axes = found
        self.layout = _Layout.of(out, FunctionCtx(self.needs), ())
        count = len(self.layout.constants)
        if not isinstance(axes, tuple):
            axes = (axes,) * count
        elif not self.layout.is_tuple or len(axes) != count:
            raise RuntimeError(
                f"{name}'s vmap staticmethod returned an incompatible (output, out_dims) tuple. "
                f"Expected out_dims={axes} to be compatible with the structure of `output`, {count} "
                f"tensors."
            )
        arrays = self.layout.arrays_of(out)
        axes = [axes[j] for j in self.layout.tensors]
        return tuple(arrays), tuple(
            [None if b is None else b % len(a.shape) for a, b in zip(arrays, axes, strict=True)]
        )

    # ------------------------------------------------------------ calling the user's rules

    def pulled(self, ctx: Any, cts: Arrays) -> list[Any]:
        """The cotangents of the tensors among the arguments; zeros where backward gives None."""
        grads: list[Any] = [None] * len(self.layout.constants)
        for j, ct in zip(self.layout.tensors, cts, strict=True):
            if j not in self.layout.fixed or ctx.materialize_grads:
                grads[j] = shown_gradient(ct)
        name = self.cls._backward_cls.__name__
        found = checked_gradients(self.cls._backward_rule()(ctx, *grads), name, self.infos, None)
        return [
            info.zeros()._array if g is None else fitted(g, i, info, name, None)._array
            for i, (g, info) in enumerate(zip(found, self.infos, strict=True))
            if info is not None
        ]

    def pushed(self, ctx: Any, outs: Arrays, tangents: Arrays) -> list[Any]:
        """The tangents of the outputs, by the user's `jvp`.

        Raises: RuntimeError: it returns another number of them.
        """
        given: list[Any] = [None] * len(self.constants)
        infos: Any = self.infos
        for i, t in zip(self.places, tangents, strict=True):
            given[i] = tensor(t) if infos[i].dtype.kind in "fcV" else None
        found = self.cls.jvp(ctx, *given)
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(self.layout.constants):
            raise RuntimeError(
                f"{self.cls.__name__}.jvp returned an incorrect number of forward gradients "
                f"(expected {len(self.layout.constants)} got {len(found)})"
            )
        dots = []
        for j, y in zip(self.layout.tensors, outs, strict=True):
            like: Any = info(tensor(y))
            is_zero = found[j] is None or j in self.layout.fixed
            dots.append(like.tangent()._array if is_zero else found[j]._array)
        return dots


def _randomness(level: Any) -> str:
    """What drawing random numbers does in the innermost `vmap`."""
    while level is not None and level.batch is None:
        level = level.outside.level
    return "error" if level is None else level.randomness


def may_write(cls: Any) -> bool:
    """Whether the class's methods mention `mark_dirty`."""
    found = (getattr(f, "__code__", None) for f in (cls.forward, cls.setup_context))
    return any(code is not None and "mark_dirty" in code.co_names for code in found)


def _graft(call: _Call, xs: Arrays, raw: Sequence[TensorBase], left: _Left) -> Arrays:
    """The values of `raw`, with the user's rules as their derivatives by `xs`.

    What forward has left is passed as operands too, so that every transform finds it as it knows it.
    """
    count, last = len(xs), len(xs) + len(raw)
    position = {id(y): k for k, y in enumerate(raw)}
    kept = [position.get(id(x)) for x in left.tensors]  # which of them are outputs
    rest = [info(x) for x in (*raw, *left.tensors)]

    def value(*operands: Any) -> list[Any]:
        return list(operands[count:last])

    def residual_of(outs: Arrays, operands: Arrays) -> list[Any]:
        return [x if k is None else outs[k] for k, x in zip(kept, operands[last:], strict=True)]

    def forward(*operands: Any) -> tuple[list[Any], list[Any]]:
        is_traced = any(isinstance(x, Tracer) for x in operands)
        outs = list(custom_call(*operands, rules=rules)) if is_traced else value(*operands)
        return outs, residual_of(outs, operands)

    def backward(residual: Arrays, cts: Arrays) -> list[Any]:
        found = call.pulled(left.restored(residual), cts)
        return [*found, *(r.tangent()._array for r in rest if r is not None)]

    def jvp(primals: Arrays, tangents: Arrays) -> tuple[list[Any], list[Any]]:
        outs = value(*primals)
        ctx = left.restored(residual_of(outs, primals), forward=True)
        return outs, call.pushed(ctx, outs, tangents[:count])

    rules = Rules(
        call.cls.__name__,
        value,
        jvp=jvp if call.rules.jvp is not None else None,
        forward=forward,
        backward=backward,
    )
    return custom_call(*xs, *[y._array for y in raw], *left.arrays(), rules=rules)
