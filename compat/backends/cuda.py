"""`torch.backends.cuda`: switches between ways to compute the same; they change nothing here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)

_enabled = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """False: CuPy does the work on a GPU; see `compat.cuda`."""
    return False


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` was told last."""
    return _enabled["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Remember a preference; attention is computed in one way."""
    _enabled["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` was told last."""
    return _enabled["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Remember a preference; attention is computed in one way."""
    _enabled["mem_efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` was told last."""
    return _enabled["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Remember a preference; attention is computed in one way."""
    _enabled["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` was told last."""
    return _enabled["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Remember a preference; attention is computed in one way."""
    _enabled["cudnn"] = bool(enabled)


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """A context with these preferences."""
    before = dict(_enabled)
    _enabled.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _enabled.update(before)
