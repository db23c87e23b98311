"""Calling modules, with the hooks around `forward` and around the backward pass through it.

NOTE [Backward hooks] The tensors among the arguments of a module go through one identity, those
among its results through another. On the way back the second one's rule runs first, and knows the
gradients by the results; the first one's runs when the module is done, and knows those by the
arguments. These two rules call the hooks.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..autograd import is_grad_enabled, sites
from ..autograd.base import TensorBase
from ..autograd.function import Function
from ..ops.like import zeros_like
from ..utils.hooks import RemovableHandle
from .global_hooks import SHARED, Hook, of_all

_Gradients = tuple[Any, ...]


class Hooked:
    """The part of `Module` that is called."""

    forward: Callable[..., Any]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _old_backward_hooks: OrderedDict[int, Callable[..., Any]]
    _global_hooks: OrderedDict[int, Any]

    @staticmethod
    def _no_hooks() -> dict[str, Any]:
        return {name: OrderedDict() for name in _TABLES} | {"_global_hooks": SHARED}

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before `forward`; what it returns replaces the arguments.

        `with_kwargs`: call ``hook(module, args, kwargs)``, which may return a pair of both.
        """
        marks = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return _added(self._forward_pre_hooks, hook, prepend, *marks)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after `forward`; what it returns replaces the output.

        `with_kwargs`: call ``hook(module, args, kwargs, output)``. `always_call`: also if something
        before it raises.
        """
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return _added(self._forward_hooks, hook, prepend, *marks)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the backward pass goes through the module.

        `grad_output` has a gradient for every output, None for those that are no tensors; what the
        hook returns replaces it.
        """
        return _added(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` after the backward pass went through.

        `grad_input` has a gradient for every positional argument, None for those that are no
        tensors; what the hook returns replaces it.
        """
        if self._old_backward_hooks:
            raise RuntimeError(_BOTH)
        return _added(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in the operation that gave the result.

        The old form: `grad_input` are the gradients by the operands of that operation, whatever the
        arguments of the module are; a warning says where that differs. What the hook returns
        replaces them.

        Raises: RuntimeError: there are full backward hooks.
        """
        if self._backward_hooks:
            raise RuntimeError(_BOTH)
        return RemovableHandle.added(self._old_backward_hooks, hook)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or self._old_backward_hooks
            or self._global_hooks
        ):
            return _HookedCall(self, args, kwargs).run()
        return self.forward(*args, **kwargs)


_TABLES = [name for name in Hooked.__annotations__ if "hooks" in name and name != "_global_hooks"]
_BOTH = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use "
    "only one of them."
)


def _added(
    hooks: OrderedDict[int, Any], hook: Any, prepend: bool, *marks: OrderedDict[int, bool]
) -> RemovableHandle:
    handle = RemovableHandle.added(hooks, hook, *marks)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class _HookedCall:
    """One call of a module that has hooks."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        try:
            self._before()
            module = self.module
            link = None
            if _Link.is_needed(module):
                link = _Link(module)
                self.args = link.around_inputs(self.args)
            self.result = module.forward(*self.args, **self.kwargs)
            for number, hook in self._after_hooks():
                self._after(number, hook)
            if link is not None:
                self.result = link.around_outputs(self.result)
            old = [*of_all("old_backward"), *module._old_backward_hooks.items()]
            if old:
                _hook_last_node(module, [hook for _, hook in old], self.args, self.result)
        except Exception:
            self._after_failure()
            raise
        return self.result

    def _before(self) -> None:
        marked = self.module._forward_pre_hooks_with_kwargs
        own = [(fn, n in marked) for n, fn in self.module._forward_pre_hooks.items()]
        for fn, with_kwargs in [*((hook.fn, False) for _, hook in of_all("forward_pre")), *own]:
            if not with_kwargs:
                found = fn(self.module, self.args)
                if found is not None:
                    self.args = found if isinstance(found, tuple) else (found,)
                continue
            found = fn(self.module, self.args, self.kwargs)
            if found is not None:
                if not (isinstance(found, tuple) and len(found) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {found}."
                    )
                self.args, self.kwargs = found

    def _after_hooks(self) -> list[tuple[int, Hook]]:
        module = self.module
        keywords, always = module._forward_hooks_with_kwargs, module._forward_hooks_always_called
        own = [(n, Hook(fn, n in keywords, n in always)) for n, fn in module._forward_hooks.items()]
        return [*of_all("forward"), *own]

    def _after(self, number: int, hook: Hook) -> None:
        self.called.add(number)
        if hook.with_kwargs:
            found = hook.fn(self.module, self.args, self.kwargs, self.result)
        else:
            found = hook.fn(self.module, self.args, self.result)
        if found is not None:
            self.result = found

    def _after_failure(self) -> None:
        """Run the hooks that always run and have not; what they raise is only warned of."""
        for number, hook in self._after_hooks():
            if hook.always and number not in self.called:
                try:
                    self._after(number, hook)
                except Exception as error:
                    sites.warn(
                        "module forward hook with ``always_call=True`` raised an exception that "
                        f"was silenced as another error was raised in forward: {error}"
                    )


# ---------------------------------------------------------------- backward


def _hook_last_node(
    module: Any, hooks: list[Callable[..., Any]], args: tuple[Any, ...], result: Any
) -> None:
    """Call `hooks` in the node of the first tensor of `result`, see `register_backward_hook`."""
    first = result
    while not isinstance(first, TensorBase):
        if isinstance(first, dict):
            first = next(v for v in first.values() if isinstance(v, TensorBase))
        else:
            first = first[0]
    node = first.grad_fn  # type: ignore[attr-defined]
    if node is None:
        return
    for hook in hooks:
        node.register_hook(functools.partial(hook, module))
    if not _is_between(node, args, result):
        sites.warn(
            f"the backward hook of {type(module).__name__} gets the gradients of the operation that "
            "gave its first result, which are not those of all its arguments and results. "
            "register_full_backward_hook gives these.",
            FutureWarning,
        )


def _is_between(node: Any, args: tuple[Any, ...], result: Any) -> bool:
    """Whether `node` leads from the tensors `result` to the tensors `args`, and nowhere else."""
    outs = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(x, TensorBase) for x in (*outs, *args)):
        return False
    behind = {out.grad_fn for out in outs} - {None}
    inputs = {x.grad_fn for x in args} - {None}
    return behind == {node} and inputs == {edge for edge, _ in node.next_functions}


class BackwardHookFunction(Function):
    """The identity on tensors, whose backward pass calls ``rule(gradients)``.

    `zeros`: what has no gradient gets zeros.
    """

    @staticmethod
    def forward(
        ctx: Any, rule: Callable[[_Gradients], _Gradients], zeros: bool, *tensors: Any
    ) -> Any:
        ctx.rule = rule
        ctx.set_materialize_grads(zeros)
        ctx.mark_non_differentiable(*(x for x in tensors if not x.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, None, *ctx.rule(gradients)


class _Link:
    """What the two identities around one call of a module know of each other."""

    def __init__(self, module: Any) -> None:
        self.module = module
        shared = [[hook for _, hook in of_all(kind)] for kind in ("backward_pre", "backward")]
        self.pre_hooks = [*shared[0], *module._backward_pre_hooks.values()]
        self.hooks = [*shared[1], *module._backward_hooks.values()]
        self.grad_outputs: _Gradients | None = None
        self.count = 0
        self.inputs: list[int] | None = None
        self.outputs: list[int] | None = None

    @staticmethod
    def is_needed(module: Any) -> bool:
        own = module._backward_hooks or module._backward_pre_hooks
        return bool(own or of_all("backward") or of_all("backward_pre"))

    def around_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self.count = len(args)
        args, self.inputs = _through(self._at_inputs, True, args)
        return args

    def around_outputs(self, result: Any) -> Any:
        if not isinstance(result, TensorBase | tuple):
            sites.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}"
            )
            return result
        outs = result if isinstance(result, tuple) else (result,)
        rule = functools.partial(self._at_outputs, len(outs))
        made, self.outputs = _through(rule, False, outs)
        return made if isinstance(result, tuple) else made[0]

    def _at_outputs(self, count: int, gradients: _Gradients) -> _Gradients:
        """The rule of the identity around the results, which runs first."""
        found = _spread(self.outputs, gradients, count)
        given = found
        for hook in self.pre_hooks:
            found = _replaced("pre hook", "grad_output", found, hook(self.module, found))
        if found is not given:  # None in place of a gradient is zeros
            found = tuple(
                zeros_like(g) if new is None and g is not None else new
                for g, new in zip(given, found, strict=True)
            )
        if self.inputs is None:
            self._without_inputs(found)
        else:
            self.grad_outputs = found
        return tuple(found[i] for i in self.outputs or ())

    def _without_inputs(self, grad_outputs: _Gradients) -> None:
        """No argument requires a gradient: call the hooks now."""
        if self.hooks:
            sites.warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients."
            )
        for hook in self.hooks:
            found = hook(self.module, (None,) * self.count, grad_outputs)
            if found is not None and any(g is not None for g in found):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )

    def _at_inputs(self, gradients: _Gradients) -> _Gradients:
        """The rule of the identity around the arguments, which runs when the module is done."""
        if self.grad_outputs is None:  # the gradients did not come through the module's results
            return gradients
        found = _spread(self.inputs, gradients, self.count)
        for hook in self.hooks:
            answer = hook(self.module, found, self.grad_outputs)
            found = _replaced("hook", "grad_input", found, answer)
        self.grad_outputs = None
        return tuple(found[i] for i in self.inputs or ())


def _through(
    rule: Callable[[_Gradients], _Gradients], zeros: bool, values: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[int] | None]:
    """`values` with the tensors sent through an identity, and which they are.

    None instead of the places: no tensor requires a gradient, so nothing was done.
    """
    places = [i for i, x in enumerate(values) if isinstance(x, TensorBase)]
    if not is_grad_enabled() or not any(values[i].requires_grad for i in places):
        return values, None
    made = list(values)
    found = BackwardHookFunction.apply(rule, zeros, *(values[i] for i in places))
    for i, x in zip(places, found, strict=True):
        made[i] = x
    if hasattr(values, "_fields"):
        return type(values)(*made), places
    return tuple(made), places


def _spread(places: list[int] | None, gradients: _Gradients, count: int) -> _Gradients:
    """The gradients at their places among `count`, None elsewhere."""
    found = [None] * count
    for i, g in zip(places or (), gradients, strict=True):
        found[i] = g
    return tuple(found)


def _replaced(kind: str, what: str, old: _Gradients, new: Any) -> _Gradients:
    """What a hook returned in place of `old`.

    Raises: RuntimeError: it returned another number of gradients.
    """
    if new is None:
        return old
    if len(new) != len(old):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, got {len(new)}, but expected "
            f"{len(old)}"
        )
    return tuple(new)
