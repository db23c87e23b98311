"""Hooks of all modules: `torch.nn.modules.module.register_module_forward_hook` and its like."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from ..utils.hooks import RemovableHandle


class Hook(NamedTuple):
    """How a hook of `forward` is called; `always`: also if `forward` raises."""

    fn: Callable[..., Any]
    with_kwargs: bool
    always: bool


class _Shared(OrderedDict[int, Any]):
    """Pairs of a kind and a hook, which every module refers to, its copies too."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shared:
        return self

    def __reduce__(self) -> str:
        return "SHARED"


SHARED = _Shared()
_registrations: OrderedDict[int, Any] = OrderedDict()


def of_all(kind: str) -> list[tuple[int, Any]]:
    """The hooks of one kind, by the numbers of their handles."""
    return [(number, hook) for number, (own, hook) in SHARED.items() if own == kind]


def registered(kind: str, module: Any, name: str, member: Any) -> Any:
    """`member`, or what a hook of its registration has put in its place."""
    for own, hook in list(_registrations.values()):
        if own == kind:
            found = hook(module, name, member)
            member = member if found is None else found
    return member


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the `forward` of any module."""
    return RemovableHandle.added(SHARED, ("forward_pre", Hook(hook, False, False)))  # type: ignore


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the `forward` of any module."""
    return RemovableHandle.added(SHARED, ("forward", Hook(hook, with_kwargs, always_call)))  # type: ignore


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward pass goes through any module."""
    return RemovableHandle.added(SHARED, ("backward_pre", hook))  # type: ignore


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after the backward pass of any module.

    Raises: RuntimeError: there are hooks of `register_module_backward_hook`.
    """
    if of_all("old_backward"):
        raise RuntimeError(_BOTH)
    return RemovableHandle.added(SHARED, ("backward", hook))  # type: ignore


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_backward_hook`, the old form of backward hooks, for any module.

    Raises: RuntimeError: there are hooks of `register_module_full_backward_hook`.
    """
    if of_all("backward"):
        raise RuntimeError(_BOTH)
    return RemovableHandle.added(SHARED, ("old_backward", hook))  # type: ignore


_BOTH = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please "
    "use only one of them."
)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` where one is registered; it may replace it."""
    return RemovableHandle.added(_registrations, ("parameter", hook))  # type: ignore


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` where one is registered; it may replace it."""
    return RemovableHandle.added(_registrations, ("buffer", hook))  # type: ignore


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` where one is registered; it may replace it."""
    return RemovableHandle.added(_registrations, ("module", hook))  # type: ignore


__all__ = [
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]
