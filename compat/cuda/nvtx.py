"""`torch.cuda.nvtx`: marks for NVIDIA's profiler, as PyTorch has them without CUDA: errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

from .._missing import explain as _explain_missing


def _refused(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises: RuntimeError: always, for there is no CUDA here."""
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


range_push = range_pop = mark = _refused


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A ``with`` that marks what is in it; entering it raises."""
    yield _refused()


_explain_missing("torch.cuda.nvtx", globals())
