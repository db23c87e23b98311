"""What programs print while they run: `debug.print`, `debug.callback`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from .transforms.callbacks import io_callback


def callback(
    callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any
) -> None:
    """Call ``callback(*args, **kwargs)`` with the numbers of a run, from any program.

    Under `jit` that happens in every call, under `vmap` for each example, under `grad` on the way
    forward. What it returns is dropped.

    Raises: ArgumentError: an argument is no array.
    Source: JAX reference, ``jax.debug.callback``.

    >>> import funcgrad, numpy as np
    >>> seen = []
    >>> def f(x):
    ...     callback(seen.append, x)
    ...     return np.sin(x)
    >>> _ = funcgrad.jit(funcgrad.vmap(f))(np.array([1.0, 2.0]))
    >>> [float(x) for x in seen]
    [1.0, 2.0]
    """

    def without_result(*args: Any, **kwargs: Any) -> None:
        callback(*args, **kwargs)

    io_callback(without_result, None, *args, ordered=ordered, **kwargs)


def print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print ``fmt.format(*args, **kwargs)`` with the numbers of a run, from any program.

    Raises: ArgumentError: an argument is no array.
    Source: JAX reference, ``jax.debug.print``.

    >>> import funcgrad, numpy as np
    >>> @funcgrad.jit
    ... def f(x):
    ...     y = np.sin(x)
    ...     funcgrad.debug.print("sin({}) is {y:.3f}", x, y=y)
    ...     return y
    >>> _ = f(1.0)
    sin(1.0) is 0.841
    """
    callback(lambda *args, **kwargs: builtins.print(fmt.format(*args, **kwargs)), *args, **kwargs)


__all__ = ["callback", "print"]
