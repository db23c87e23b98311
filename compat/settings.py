"""Switches of PyTorch's that choose how to compute the same; most are remembered and change nothing.

What runs here is in full precision, on as many threads as NumPy uses, and deterministic but for one
thing: compiled programs, those of `nn.LSTM` and its like too, and large matrix products that recur are
NumPy's at first, and C once that has been made in the background, which rounds differently.
"""

from __future__ import annotations

import os
from typing import Any

from funcgrad.compile.config import set_usual

from .autograd import sites

_set: dict[str, Any] = {"deterministic": False, "warn_only": False, "precision": "highest"}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Whether compiled programs stay NumPy's code: all runs then agree to the last bit.

    Else runs agree once it has been decided, and remembered on disk, which programs are faster in C.
    Outside of `funcgrad.config`, which has the last word.

    >>> import compat as torch
    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    for name, given in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(given, bool):
            raise TypeError(
                f"use_deterministic_algorithms(): argument '{name}' must be bool, not "
                f"{type(given).__name__}"
            )
    set_usual("numpy" if mode else "auto")
    _set.update(deterministic=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told last."""
    return bool(_set["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was told to warn only."""
    return bool(_set["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """As `use_deterministic_algorithms`: 0 or "default", 1 or "warn", 2 or "error".

    Raises: RuntimeError: another mode.
    """
    modes = {"default": 0, "warn": 1, "error": 2}
    level = modes.get(debug_mode, debug_mode) if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(level != 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """The number of the mode."""
    return 0 if not _set["deterministic"] else 1 if _set["warn_only"] else 2


def set_float32_matmul_precision(precision: str) -> None:
    """Remember how exact products must be; they always are as exact as "highest" asks."""
    if precision in ("highest", "high", "medium"):
        _set["precision"] = precision
    else:
        sites.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the call has no effect."
        )


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was told last."""
    return str(_set["precision"])


def set_num_threads(threads: int) -> None:
    """Remember a number of threads; NumPy's own is set by OMP_NUM_THREADS before it starts.

    Raises: RuntimeError: it is not positive.
    """
    if threads <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _set["threads"] = int(threads)


def get_num_threads() -> int:
    """What `set_num_threads` was told last, or what OMP_NUM_THREADS says, or the processor has."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(_set.get("threads") or (given if given.isdigit() else 0) or os.cpu_count() or 1)


def set_num_interop_threads(threads: int) -> None:
    """Remember a number of threads; operations run one after another here.

    Raises: RuntimeError: it is not positive.
    """
    if threads <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _set["interop"] = int(threads)


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was told last; 1 before."""
    return int(_set.get("interop") or 1)


def set_flush_denormal(mode: bool) -> bool:
    """False: NumPy's arithmetic keeps the numbers next to zero, whatever is asked for.

    >>> set_flush_denormal(True)
    False
    """
    return False


def _assert(condition: Any, message: str) -> None:
    """``assert condition, message`` as a function."""
    assert condition, message


def _assert_async(input: Any, assert_msg: Any = None) -> None:
    """Raises: RuntimeError: `input`, a tensor of one element, is zero; `assert_msg` says why."""
    if not input:
        default = "Expected Tensor with single nonzero value, but got zero"
        raise RuntimeError(default if assert_msg is None else assert_msg)


def _check(cond: Any, message: Any = None) -> None:
    """Raises: RuntimeError: `cond` is false; `message` is a function that says why."""
    if not cond:
        raise RuntimeError("Expected cond to be True" if message is None else message())


__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_num_threads",
    "use_deterministic_algorithms",
]
