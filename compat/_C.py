"""`torch._C`, PyTorch's own binary part: what packages call of it although it is not public."""

from __future__ import annotations

from funcgrad.core import EVAL, current

from ._missing import explain as _explain_missing


def _log_api_usage_once(event: str) -> None:
    """Nothing: uses are not counted."""


def _get_tracing_state() -> None:
    """None: nothing is being recorded by `torch.jit.trace`."""


def _are_functorch_transforms_active() -> bool:
    """Whether code runs inside a transform, or is being traced."""
    return current.get() is not EVAL


class Graph:
    """What TorchScript makes of a function. There are none here."""


class Value:
    """What stands for a value in such a graph. There are none here."""


_explain_missing("torch._C", globals())
