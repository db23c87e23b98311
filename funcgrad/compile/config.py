"""What `jit` makes of programs: a setting.

Layer 4½.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

from ..errors import ArgumentError

PYTHON = "python"  # no programs: functions run as they are
CODES = ("auto", "numpy", "c", PYTHON)
_code: ContextVar[str | None] = ContextVar("code", default=None)
_usual = "auto"


def code() -> str:
    """What programs are printed as now."""
    return _code.get() or _usual


def set_usual(code: str) -> None:
    """What programs are printed as outside of `config`, in all threads."""
    global _usual
    _usual = code


class config:
    """Within the block, `jit` prints programs as ``"numpy"`` or ``"c"``.

    ``"auto"``, as outside: as NumPy at first, and as C, in the background, what turns out to take
    long, if the machine has a C compiler. ``"c"`` waits for the compiler. ``"python"`` makes no
    programs: the functions run as they are, so that a debugger can go through them.

    Raises: ArgumentError: no such code.

    >>> import funcgrad, numpy as np
    >>> f = funcgrad.jit(lambda x: np.exp(-x * x))
    >>> with config("numpy"):
    ...     float(f(0.0))
    1.0
    """

    def __init__(self, code: str) -> None:
        if code not in CODES:
            raise ArgumentError(f"config: there is no code {code!r}; need one of {list(CODES)}")
        self.code = code
        self.tokens: list[Token[str | None]] = []

    def __enter__(self) -> None:
        self.tokens.append(_code.set(self.code))

    def __exit__(self, *_: object) -> None:
        _code.reset(self.tokens.pop())


def disable_jit(disable: bool = True) -> config:
    """Within the block, functions that `jit` has made run as they are: ``config("python")``.

    >>> import funcgrad
    >>> @funcgrad.jit
    ... def f(x):
    ...     return 1.0 if x > 0 else -1.0
    >>> with disable_jit():
    ...     f(2.0)
    1.0
    """
    return config(PYTHON if disable else "auto")
