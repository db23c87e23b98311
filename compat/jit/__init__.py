"""`torch.jit`: nothing is compiled here; what marks code for TorchScript leaves it as it is.

A scripted function or module computes what it does unscripted, so `script` hands it back. Programs
are compiled by `compat.compile`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar
from typing import Final as Final

from .._missing import explain as _explain_missing
from ..nn.module import Module

F = TypeVar("F")


class TracerWarning(Warning):
    """What PyTorch says where a trace may not hold for other values; given here by nothing."""


def script(obj: F, *args: Any, **kwargs: Any) -> F:
    """A function, module or class as it is."""
    return obj


def trace(func: F, example_inputs: Any = None, *args: Any, **kwargs: Any) -> F:
    """A function or module as it is, once it has run on the example inputs.

    They are a tuple of arguments, or a tensor that is the only one; `example_kwarg_inputs` names
    others. Branches are not fixed to what they are for these.

    Raises: RuntimeError: there are no example inputs.
    """
    named = kwargs.get("example_kwarg_inputs")
    if example_inputs is None and named is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")
    given = () if example_inputs is None else example_inputs
    func(*(given if builtins.isinstance(given, (tuple, list)) else (given,)), **(named or {}))  # type: ignore[operator]
    return func


def script_if_tracing(fn: F) -> F:
    """A function as it is."""
    return fn


_script_if_tracing = script_if_tracing  # torchvision's name for it


def script_method(fn: F) -> F:
    """A method as it is."""
    return fn


def export(fn: F) -> F:
    """A method as it is."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator, with arguments or without, that leaves the function as it is."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: F) -> F:
    """A method as it is."""
    return fn


def interface(obj: F) -> F:
    """A class as it is."""
    return obj


def _overload(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A declaration; the function of the same name that follows takes its place."""
    return fn


_overload_method = _overload


def annotate(the_type: Any, the_value: F) -> F:
    """The value; its type is for TorchScript."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's own."""
    return builtins.isinstance(obj, target_type)


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False


class ScriptModule(Module):
    """A module: so that classes can inherit from it, as they would from `nn.Module`."""


class ScriptFunction:
    """What `torch.jit.script` makes of a function in PyTorch. There are none here."""


_explain_missing("torch.jit", globals())
