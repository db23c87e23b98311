"""The graph for users: hooks on what is saved, hooks on several tensors, edges, versions.

What is in force while operations are recorded is part of the mode (`modes.Mode.pack`, `unlocked`), so
it is local to a thread and ends with its block.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.algebra import concrete_namespace
from funcgrad.core import aval_of
from funcgrad.views import snapshot

from ..utils.hooks import RemovableHandle
from . import engine, modes, views
from .base import UNCOUNTED, TensorBase, tensor
from .node import AccumulateGrad, Node, Packed, Port, extras

# ---------------------------------------------------------------- what is saved


class _Hooks(NamedTuple):
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


def refuse_hooks() -> None:
    """Raises: RuntimeError: hooks are in force, which the reverse mode of transforms does not call."""
    mode = modes.get()
    while not isinstance(mode.pack, _Hooks):
        if mode.level is None:
            return
        mode = mode.level.outside
    raise RuntimeError(_NO_HOOKS)


_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. "
    "Use backward() or autograd.grad() with them."
)


class saved_tensors_hooks(modes.ModeSwitch):
    """Operations inside save ``pack(x)`` instead of `x`; backward gets ``unpack`` of that.

    Raises: RuntimeError: hooks are disabled here, or `func.grad` and its like run this code.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), torch.from_numpy):
    ...     y = x.exp()
    >>> y.sum().backward()
    >>> x.grad
    tensor([2.7183, 7.3891])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.changes = {"pack": _Hooks(pack_hook, unpack_hook)}

    def __enter__(self) -> None:
        disabled = modes.get().pack
        if isinstance(disabled, str):
            raise RuntimeError(disabled)
        level = modes.get().level
        while level is not None:
            if level.refuses_hooks:
                raise RuntimeError(_NO_HOOKS)
            level = level.outside.level
        super().__enter__()

    def clone(self) -> saved_tensors_hooks:
        return saved_tensors_hooks(*self.changes["pack"])


class save_on_cpu(saved_tensors_hooks):
    """Operations inside save their tensors in the host's memory; backward copies them back.

    >>> import compat as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.autograd.graph.save_on_cpu():
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(4.)
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_to_host, _to_device)

    def clone(self) -> save_on_cpu:
        return save_on_cpu()


def _to_host(x: TensorBase) -> tuple[Any, TensorBase]:
    module = concrete_namespace(x._array)
    return (np, x) if module is np else (module, tensor(module.asnumpy(x._array)))


def _to_device(packed: tuple[Any, TensorBase]) -> TensorBase:
    module, x = packed
    return x if module is np else tensor(module.asarray(x._array))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Nobody may use `saved_tensors_hooks` inside.

    Raises: RuntimeError: hooks are in force already.
    """
    if modes.get().pack is not None and not isinstance(modes.get().pack, str):
        raise RuntimeError(error_message)
    with modes.ModeSwitch(pack=error_message):
        yield


class _Held:
    """A saved array, until something is about to be written into its memory; then a copy of it."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Any) -> None:
        self.array = array


class MutationContext:
    """What `allow_mutation_on_saved_tensors` keeps: the saved arrays, by the memory they share."""

    def __init__(self) -> None:
        self._active = True
        self._held: dict[int, tuple[Any, list[weakref.ref[_Held]]]] = {}

    def saved(self, array: Any, counter: list[Any], is_result: bool) -> Packed:
        held = _Held(array)
        self._held.setdefault(id(counter), (counter, []))[1].append(weakref.ref(held))
        return Packed(held, self._unpack, is_result, array.shape)

    def before_write(self, x: TensorBase) -> None:
        """Copy what was saved of the memory of `x`."""
        copies: dict[int, Any] = {}
        for ref in self._held.pop(id(x._counter), (None, []))[1]:
            held = ref()
            if held is not None:
                key = id(held.array)
                if key not in copies:
                    copies[key] = snapshot(held.array, copy=True)
                held.array = copies[key]

    def _unpack(self, held: _Held) -> TensorBase:
        if not self._active:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        return tensor(held.array)

    def clear(self) -> None:
        """Forget everything; graphs recorded so far cannot be used any more."""
        self._active = False
        self._held.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[MutationContext]:
    """What backward needs may be written inside: it is copied just before.

    Backward must run inside, too.

    Raises: RuntimeError: it is used inside of itself.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x * 1
    ...     z = (y * y).sum()
    ...     y.mul_(10)
    ...     z.backward()
    tensor([10., 20.], grad_fn=<MulBackward0>)
    >>> x.grad
    tensor([2., 4.])
    """
    if modes.get().unlocked is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = MutationContext()
    try:
        with modes.ModeSwitch(unlocked=context):
            yield context
    finally:
        context.clear()


# ---------------------------------------------------------------- edges


class GradientEdge(NamedTuple):
    """A place in the graph, usable instead of a tensor in `backward` and `grad`."""

    node: Any
    output_nr: int
    ownership_token: Any = None
    like: Any = None  # the type of the tensor and its array namespace, if they are known

    @property
    def edge(self) -> Any:
        """The engine's edge."""
        return self.node if self.ownership_token is None else self.ownership_token


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The place of a tensor in the graph; it does not keep the tensor's memory alive.

    Raises: RuntimeError: the tensor does not require grad.

    >>> import compat as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> edge = torch.autograd.graph.get_gradient_edge(x)
    >>> torch.autograd.grad(x * x, edge)
    (tensor(6.),)
    """
    edge = views.edge(tensor)
    if edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            f"gradients.{views.made_at(tensor)}"
        )
    like = aval_of(tensor._array), concrete_namespace(tensor._array)
    if edge.__class__ is Port:
        return GradientEdge(edge.node, edge.number, edge, like)
    return GradientEdge(edge, 0, None, like)


def increment_version(tensor: Any) -> None:
    """Count a write into the tensor, or into each of several, that autograd did not see.

    Raises: RuntimeError: it is neither.
    """
    tensors = (tensor,) if isinstance(tensor, TensorBase) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for x in tensors:
        if x._counter is not UNCOUNTED:
            views.touch(x, "increment_version")


# ---------------------------------------------------------------- hooks on several tensors


class _MultiHandle:
    """The registrations of one hook on several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take the hook away from all of them."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


class _Waiting:
    """The gradients that one pass has found so far for a hook on several tensors."""

    __slots__ = ("fn", "found", "missing")

    def __init__(self, fn: Callable[..., Any], count: int, missing: int) -> None:
        self.fn = fn
        self.found: list[Any] = [None] * count
        self.missing = missing

    def add(self, i: int, grad: Any) -> None:
        self.found[i] = grad
        self.missing -= 1
        if not self.missing:
            self.fn(self.found)

    def end(self) -> None:
        """The pass is over; what has not come yet is zero."""
        if self.missing > 0:
            self.missing = 0
            self.fn(self.found)


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all"
) -> _MultiHandle:
    """Call `fn` once per backward pass that reaches some of the tensors.

    ``fn(grads)`` with a list, None for those that the pass does not reach, once all of the others are
    known; or with ``mode="any"``, ``fn(grad)`` with the first gradient.

    Raises: ValueError: there is no such mode. AssertionError: a tensor does not require grad.

    >>> import compat as torch
    >>> a = torch.tensor(1.0, requires_grad=True)
    >>> b = torch.tensor(2.0, requires_grad=True)
    >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), print)
    >>> (a * b).backward()
    [tensor(2.), tensor(1.)]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    edges = [views.edge(x) for x in tensors]
    if any(e is None for e in edges):
        raise AssertionError(
            "Expected gradient function to be set: every tensor of a multi-grad hook must require "
            "grad"
        )
    key = object()

    def of_all(i: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            walk = engine.running()
            state = walk.notes.get(key)
            if state is None:
                reached = walk.reached()
                count = sum(e in reached for e in edges)
                state = walk.notes[key] = _Waiting(fn, len(edges), count)
            state.add(i, grad)

        return hook

    def of_any(i: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            notes = engine.running().notes
            if key not in notes:
                notes[key] = _Waiting(fn, 0, 0)
                fn(grad)

        return hook

    make = of_all if mode == "all" else of_any
    return _MultiHandle(
        [RemovableHandle.added(extras(e).tensor_hooks, make(i)) for i, e in enumerate(edges)]
    )


__all__ = [
    "AccumulateGrad",
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
