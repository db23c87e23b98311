"""`torch.profiler`: scripts that profile run, and nothing is recorded.

Python's own profilers see every function of this package: ``python -m cProfile -s tottime script.py``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ._missing import explain as _explain_missing
from .autograd.profiler import nothing_recorded
from .autograd.profiler import profile as profile
from .autograd.profiler import record_function as record_function


class ProfilerActivity(enum.Enum):
    """What would be recorded."""

    CPU = 0
    CUDA = 1
    XPU = 2


class ProfilerAction(enum.Enum):
    """What a schedule says of one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def kineto_available() -> bool:
    """False: the library that records for PyTorch is not used."""
    return False


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """A function that says what happens at a step: cycles of waiting, warming up and recording.

    Raises: ValueError: a number of steps is negative, or `active` is 0.

    >>> import compat as torch
    >>> [torch.profiler.schedule(wait=1, warmup=0, active=2)(i).name for i in range(4)]
    ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError(
            f"schedule: wait={wait}, warmup={warmup}, repeat={repeat} and skip_first={skip_first} must "
            f"not be negative, and active={active} must be positive"
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first - (wait if skip_first_wait else 0)
        if step < (wait if skip_first_wait else 0) or (repeat and step // cycle >= repeat):
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == cycle - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """What `profile` would call with a trace: there is none, so it is not called.

    >>> import compat as torch
    >>> callable(torch.profiler.tensorboard_trace_handler("log"))
    True
    """
    return nothing_recorded


_explain_missing("torch.profiler", globals())

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "tensorboard_trace_handler",
]
