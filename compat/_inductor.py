"""`torch._inductor`: scripts set its options, which tune a compiler that is not this one."""

from __future__ import annotations

from types import SimpleNamespace

from ._missing import explain as _explain_missing

config = SimpleNamespace(triton=SimpleNamespace(), cpp=SimpleNamespace())

_explain_missing("torch._inductor", globals())
