"""``import autograd.scipy``: `funcgrad.scipy`, with autograd's `signal.convolve`."""

import typing as _typing

from ... import scipy as _scipy
from . import signal

__all__ = ["signal"]


def __getattr__(name: str) -> _typing.Any:
    return getattr(_scipy, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_scipy)})
