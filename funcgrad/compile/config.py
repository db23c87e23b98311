"""What `jit` makes of programs: a setting.

Layer 4½.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

from ..errors import ArgumentError, where

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

    @staticmethod
    def update(name: str, value: object) -> None:
        """Settings of JAX's that scripts begin with, where they are what holds here anyway.

        Raises: ArgumentError: any other.

        >>> config.update("jax_enable_x64", True)
        """
        if name == "jax_disable_jit" and isinstance(value, bool):
            return set_usual(PYTHON if value else "auto")
        if value not in _HOLDING.get(name, ()):
            raise ArgumentError(
                f"config.update: {name}={value!r} is not offered; dtypes are NumPy's (float64 unless "
                f"arrays are float32), arrays of NumPy on the CPU, of CuPy on a GPU{where()}"
            )


_HOLDING: dict[str, tuple[object, ...]] = {
    "jax_enable_x64": (True, 1),
    "jax_platform_name": ("cpu", None),
    "jax_platforms": ("cpu", None),
    "jax_default_matmul_precision": ("highest", "float32", None),
    "jax_debug_nans": (False,),
}


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
