"""Functions that bring their own batched form: ``jax.custom_batching``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import numpy as fnp
from .. import tree
from ..errors import ArgumentError, where
from ..lax import map as lax_map
from ..transforms.custom import custom_rule, positional

__all__ = ["custom_vmap", "sequential_vmap"]


class custom_vmap:
    """`fun` with a rule for `vmap`: ``rule(axis_size, in_batched, *args) -> (out, out_batched)``.

    Batched arguments have the batch as their first axis, as results do; `in_batched` and `out_batched`
    are trees of flags.

    Raises: ArgumentError: no rule has been given.
    Source: JAX reference, ``jax.custom_batching.custom_vmap``.

    >>> import funcgrad, numpy as np
    >>> @custom_vmap
    ... def centred(x):
    ...     return x
    >>> @centred.def_vmap
    ... def rule(axis_size, in_batched, x):
    ...     return x - x.mean(0), True
    >>> funcgrad.vmap(centred)(np.array([1.0, 3.0])).tolist()
    [-1.0, 1.0]
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self.rule: Callable[..., Any] | None = None
        self.__name__ = getattr(fun, "__name__", "function")
        self.__doc__ = fun.__doc__

    def def_vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the rule; also a decorator."""
        self.rule = rule
        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        rule = self.rule
        if rule is None:
            raise ArgumentError(
                f"{self.__name__}: called before a rule has been given with def_vmap{where()}"
            )
        args = tuple(positional(self.fun, args, kwargs))
        structure = tree.structure(args)

        def batch(size: int, axes: Any, *given: Any) -> Any:
            leaves = tree.leaves(given)
            first = [
                x if axis is None else fnp.moveaxis(x, axis, 0)
                for x, axis in zip(leaves, axes, strict=True)
            ]
            flags = tree.unflatten(structure, [axis is not None for axis in axes])
            out, batched = rule(size, flags, *tree.unflatten(structure, first))
            return out, tree.map(lambda flag: 0 if flag else None, batched)

        return custom_rule(self.fun, batch=batch)(*args)


def sequential_vmap(fun: Callable[..., Any]) -> custom_vmap:
    """`fun`, called for one example after the other under `vmap`.

    Source: JAX reference, ``jax.custom_batching.sequential_vmap``.

    >>> import funcgrad, numpy as np
    >>> funcgrad.vmap(sequential_vmap(lambda x: 2.0 * x))(np.ones(2)).tolist()
    [2.0, 2.0]
    """
    mapped = custom_vmap(fun)

    @mapped.def_vmap
    def rule(axis_size: int, in_batched: Any, *args: Any) -> Any:
        flags = tree.leaves(in_batched)
        leaves, structure = tree.flatten(args)

        def of_one(moving: Any) -> Any:
            values = iter(moving)
            every = [next(values) if flag else x for x, flag in zip(leaves, flags, strict=True)]
            return fun(*tree.unflatten(structure, every))

        out = lax_map(of_one, [x for x, flag in zip(leaves, flags, strict=True) if flag])
        return out, tree.map(lambda _: True, out)

    return mapped
