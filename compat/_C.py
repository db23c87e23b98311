"""`torch._C`, PyTorch's own binary part: what packages call of it although it is not public."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from funcgrad.core import EVAL, current

from ._missing import explain as _explain_missing
from .nn.module import target_of
from .size import device


def _log_api_usage_once(event: str) -> None:
    """Nothing: uses are not counted."""


def _get_tracing_state() -> None:
    """None: nothing is being recorded by `torch.jit.trace`."""


def _are_functorch_transforms_active() -> bool:
    """Whether code runs inside a transform, or is being traced."""
    return current.get() is not EVAL


class DisableTorchFunctionSubclass(nullcontext[None]):
    """``with`` it, no `__torch_function__` is asked; none ever is."""


class _TensorMeta(type):
    """The class that `Tensor` is of, in annotations."""


class Graph:
    """What TorchScript makes of a function. There are none here."""


class Value:
    """What stands for a value in such a graph. There are none here."""


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """What the arguments of `Module.to` say: device, dtype, `non_blocking` and memory format."""
    where, dtype = target_of(*args, **kwargs)
    flag = kwargs.get("non_blocking", any(x is True for x in args))
    return None if where is None else device(where), dtype, flag, kwargs.get("memory_format")


_nn = SimpleNamespace(_parse_to=_parse_to)

_explain_missing("torch._C", globals())
