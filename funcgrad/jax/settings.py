"""Settings of JAX's: what holds here anyway can be asked for, everything else raises."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..compile.config import PYTHON, code, set_usual
from ..core import EVAL, Primitive, Trace, Tracer, current
from ..errors import ArgumentError, where

_HOLDING: dict[str, tuple[object, ...]] = {  # what each may be, the value that holds first
    "jax_enable_x64": (True,),
    "jax_platform_name": ("cpu", None, ""),
    "jax_platforms": ("cpu", None, ""),
    "jax_default_matmul_precision": (None, "highest", "float32"),
    "jax_default_prng_impl": ("threefry2x32",),
    "jax_threefry_partitionable": (True, False),
    "jax_debug_nans": (False,),
    "jax_debug_infs": (False,),
    "jax_log_compiles": (False,),
    "jax_check_tracer_leaks": (False, True),  # here they always raise
    "jax_numpy_dtype_promotion": ("standard", "strict"),
    "jax_numpy_rank_promotion": ("allow", "warn", "raise"),
    "jax_transfer_guard": ("allow", "log", "disallow", "log_explicit", "disallow_explicit"),
    "jax_traceback_filtering": ("off", "auto", "tracebackhide", "remove_frames"),
    "jax_compilation_cache_dir": (None,),
}


class Config:
    """JAX's settings by their names, as attributes and by `update` and `read`."""

    def update(self, name: str, value: object) -> None:
        """Ask for a setting, which has to be what holds here anyway; ``jax_disable_jit`` is a choice.

        Raises: ArgumentError: it is not what holds here.

        >>> config.update("jax_enable_x64", True)
        """
        if name == "jax_disable_jit" and isinstance(value, bool):
            return set_usual(PYTHON if value else "auto")
        if not any(type(value) is type(held) and value == held for held in _HOLDING.get(name, ())):
            raise ArgumentError(
                f"config.update: {name}={value!r} is not offered; dtypes are NumPy's (float64 unless "
                f"arrays are float32), arrays of NumPy on the CPU, of CuPy on a GPU{where()}"
            )

    def read(self, name: str) -> object:
        """What a setting is here.

        Raises: AttributeError: there is none of the name.

        >>> config.read("jax_enable_x64"), config.x64_enabled
        (True, True)
        """
        return self.values[name] if name in self.values else getattr(self, name)

    @property
    def values(self) -> dict[str, object]:
        """All settings."""
        return {
            "jax_disable_jit": code() == PYTHON,
            **{name: allowed[0] for name, allowed in _HOLDING.items()},
        }

    @property
    def x64_enabled(self) -> bool:
        """Whether numbers may have 64 bits: always."""
        return True

    def __setattr__(self, name: str, value: object) -> None:
        self.update(name, value)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(f"there is no setting {name!r}") from None


config = Config()


def _setting(name: str) -> Callable[..., contextlib.AbstractContextManager[None]]:
    """``with setting(value):``, which raises where the value is not what holds here."""

    def setting(value: object = _HOLDING[name][-1]) -> contextlib.AbstractContextManager[None]:
        config.update(name, value)
        return contextlib.nullcontext()

    setting.__doc__ = f"Within the block, ``{name}`` is what holds here anyway."
    return setting


check_tracer_leaks = checking_leaks = _setting("jax_check_tracer_leaks")
debug_infs = _setting("jax_debug_infs")
debug_nans = _setting("jax_debug_nans")
default_matmul_precision = _setting("jax_default_matmul_precision")
enable_x64 = _setting("jax_enable_x64")
log_compiles = _setting("jax_log_compiles")
numpy_dtype_promotion = _setting("jax_numpy_dtype_promotion")
numpy_rank_promotion = _setting("jax_numpy_rank_promotion")
transfer_guard = _setting("jax_transfer_guard")


def default_device(device: Any = None) -> contextlib.AbstractContextManager[None]:
    """Within the block, new arrays are on the CPU, as always.

    Raises: ArgumentError: they are to be elsewhere.
    """
    if getattr(device, "platform", device) not in (None, "cpu"):
        raise ArgumentError(
            f"default_device: {device!r} is not offered; new arrays are NumPy's, and device_put moves "
            f"them{where()}"
        )
    return contextlib.nullcontext()


class _AtOnce(Trace):
    """What is computed of plain arrays alone is computed now; the rest is for the trace around."""

    __slots__ = ()

    def __init__(self, parent: Trace) -> None:
        self.parent = parent
        self.function = getattr(parent, "function", None)

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        traced = any(isinstance(a, Tracer) for a in args)
        return (self.parent if traced else EVAL).process(prim, args, params)

    def lift(self, value: Any) -> Any:
        return value


@contextlib.contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Within the block, what does not depend on traced values is computed at once, and not traced.

    >>> import funcgrad, funcgrad.numpy as fnp
    >>> def f(x):
    ...     with ensure_compile_time_eval():
    ...         steps = int(fnp.sum(fnp.ones(3)))
    ...     return steps * x
    >>> float(funcgrad.jit(f)(2.0))
    6.0
    """
    before = current.set(_AtOnce(current.get()))
    try:
        yield
    finally:
        current.reset(before)


class named_scope(contextlib.ContextDecorator):
    """A name for a part of a program, which is for reading the source only."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """`fun`."""
    return fun
