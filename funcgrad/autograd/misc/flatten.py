"""Containers of arrays as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...flatten_util import ravel_pytree


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All numbers of a container in one vector, those of dicts by sorted keys, and the way back.

    >>> vector, unflatten = flatten({"b": [1.0, 2.0], "a": 3.0})
    >>> vector.tolist(), float(unflatten(vector)["a"])
    ([3.0, 1.0, 2.0], 3.0)
    """
    return ravel_pytree(value)


def flatten_func(
    func: Callable[..., Any], example: Any
) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """`func` on vectors, the function that makes a container of one, and `example` as a vector."""
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
