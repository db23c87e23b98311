"""`torch._C`, PyTorch's own binary part: what packages call of it although it is not public."""

from __future__ import annotations

from ._missing import explain as _explain_missing


def _log_api_usage_once(event: str) -> None:
    """Nothing: uses are not counted."""


def _get_tracing_state() -> None:
    """None: nothing is being recorded by `torch.jit.trace`."""


_explain_missing("torch._C", globals())
