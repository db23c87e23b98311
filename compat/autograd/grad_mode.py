"""`torch.autograd.grad_mode`: the modes under the name of PyTorch's file."""

from __future__ import annotations

from typing import Any

from .modes import enable_grad as enable_grad
from .modes import inference_mode as inference_mode
from .modes import no_grad as no_grad
from .modes import set_grad_enabled as set_grad_enabled


class set_multithreading_enabled:
    """Nothing: backward passes run in the thread that calls for them.

    >>> with set_multithreading_enabled(False):
    ...     pass
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None: ...

    def __exit__(self, *_: Any) -> None: ...
