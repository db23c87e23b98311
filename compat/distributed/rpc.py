"""`torch.distributed.rpc`: not available, as where PyTorch is built without it."""

from __future__ import annotations

from .._missing import explain as _explain_missing


def is_available() -> bool:
    """False: there are no other processes to call."""
    return False


_explain_missing("torch.distributed.rpc", globals())
