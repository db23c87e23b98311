"""`torch.onnx`: nothing is exported here."""

from __future__ import annotations

from ._missing import explain as _explain_missing


def is_in_onnx_export() -> bool:
    """False."""
    return False


_explain_missing("torch.onnx", globals())
