"""Parts of a program to profile. Nothing is recorded here: Python's own profilers see every function.

Layer 6.
"""

from __future__ import annotations

import contextlib
from typing import Any

from . import sites

_ADVICE = "Python's own profilers see everything: python -m cProfile -s tottime script.py"

_OPTIONS = frozenset(
    [
        "acc_events",
        "activities",
        "custom_trace_id_callback",
        "execution_trace_observer",
        "experimental_config",
        "on_trace_ready",
        "post_processing_timeout_s",
        "profile_memory",
        "record_shapes",
        "schedule",
        "use_cpu",
        "use_cuda",
        "use_device",
        "use_kineto",
        "with_flops",
        "with_modules",
        "with_stack",
    ]
)


class record_function(contextlib.ContextDecorator):
    """A part of the program called `name`; nothing happens, so that code with it runs here.

    >>> import compat as torch
    >>> with torch.autograd.profiler.record_function("forward"):
    ...     torch.ones(2) + 1
    tensor([2., 2.])
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def nothing_recorded(*_: Any, **__: Any) -> Any:
    """Raises: RuntimeError: always; it stands for what reads a recording."""
    raise RuntimeError(f"torch.profiler: nothing was recorded. {_ADVICE}")


class EventList(list[Any]):
    """What PyTorch's profiler records. Nothing is recorded here."""


class profile(contextlib.ContextDecorator):
    """A part of the program to profile. It runs as it does otherwise; a warning says so.

    Nothing is recorded, so `on_trace_ready` is not called. Its options change nothing.

    Raises: RuntimeError: what was recorded is asked for. TypeError: PyTorch has no such option.

    >>> import compat as torch
    >>> with torch.profiler.profile(enabled=False) as found:
    ...     torch.ones(2) + 1
    ...     found.step()
    tensor([2., 2.])
    """

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise TypeError(f"profile() got unexpected keyword arguments {sorted(unknown)}")
        self.enabled = enabled
        self.step_num = 0

    def start(self) -> None:
        if self.enabled:
            sites.warn(f"torch.profiler records nothing here. {_ADVICE}")

    def stop(self) -> None:
        """The end of the part."""

    def step(self) -> None:
        """The next step of a schedule."""
        self.step_num += 1

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    key_averages = events = export_chrome_trace = export_stacks = nothing_recorded
    export_memory_timeline = nothing_recorded


class emit_nvtx(profile):
    """`profile`, for NVIDIA's tools: nothing is emitted either."""


__all__ = ["EventList", "emit_nvtx", "profile", "record_function"]
