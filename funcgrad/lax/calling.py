"""Functions under a name, and functions for one kind of device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import tree
from ..errors import ArgumentError, where
from ..numpy._arguments import module_of

_F = TypeVar("_F", bound=Callable[..., Any])


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """``f(*args)`` of the function that is given for where the arrays are: "cpu", or "cuda".

    Shapes: those of the function.   Dtypes: those of the function.
    Derivative: that of the function.
    Raises: ArgumentError: there is none for the platform, and no `default`.
    Source: JAX, ``jax.lax.platform_dependent``.

    >>> float(platform_dependent(3.0, cpu=lambda x: 2 * x, cuda=lambda x: x + x))
    6.0
    """
    platform = "cpu" if module_of(tree.leaves(args)) is np else "cuda"
    chosen = per_platform.get(platform, default)
    if chosen is None:
        raise ArgumentError(
            f"lax.platform_dependent: {', '.join(per_platform)}; need {platform}=, or default="
            f"{where()}"
        )
    return chosen(*args)


def composite(decomposition: _F, name: str, version: int = 0) -> _F:
    """`decomposition` itself, as no compiler here knows operations by a `name` and a `version`.

    Shapes: those of the function.   Dtypes: those of the function.
    Derivative: that of the function.
    Raises: nothing of its own.
    Source: JAX, ``jax.lax.composite``.

    >>> float(composite(np.sin, name="ours.sin")(0.0))
    0.0
    """
    return decomposition
