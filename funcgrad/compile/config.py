"""What `jit` makes of programs: a setting.

Layer 4½.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import ArgumentError

CODES = ("auto", "numpy", "c")
_code: ContextVar[str | None] = ContextVar("code", default=None)
_usual = "auto"


def code() -> str:
    """What programs are printed as now."""
    return _code.get() or _usual


def set_usual(code: str) -> None:
    """What programs are printed as outside of `config`, in all threads."""
    global _usual
    _usual = code


@contextmanager
def config(code: str) -> Iterator[None]:
    """Within the block, `jit` prints programs as ``"numpy"`` or ``"c"``.

    ``"auto"``, as outside: as NumPy at first, and as C, in the background, what turns out to take
    long, if the machine has a C compiler. ``"c"`` waits for the compiler.

    Raises: ArgumentError: no such code.

    >>> import funcgrad, numpy as np
    >>> f = funcgrad.jit(lambda x: np.exp(-x * x))
    >>> with config("numpy"):
    ...     float(f(0.0))
    1.0
    """
    if code not in CODES:
        raise ArgumentError(f"config: there is no code {code!r}; need one of {list(CODES)}")
    token = _code.set(code)
    try:
        yield
    finally:
        _code.reset(token)
