"""`torch.version`: the version whose behaviour this package has, and what it was not built with."""

from __future__ import annotations

__version__ = "2.13.0+funcgrad"
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug = False
git_version = ""
