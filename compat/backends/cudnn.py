"""`torch.backends.cudnn`: not there; its switches hold what is written to them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False."""
    return False


def version() -> int | None:
    """None: no cuDNN."""
    return None


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """A context in which nothing is otherwise."""
    yield
