"""Python that is called from programs: `pure_callback`, `io_callback`, and what `debug` prints.

What is called gets plain arrays of its own and nothing is known of its inside: it has no derivative
(`custom_jvp` gives it one), and compiled programs call it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..algebra import batch_first
from ..core import Aval, Primitive, aval_of
from ..errors import ArgumentError, MissingRuleError, where
from .arguments import is_array, require_callable

_DONE = Aval((), np.dtype(bool))  # the result of what has none; equations have operands and results
_METHODS = ("sequential", "expand_dims", "broadcast_all")


class Called:
    """A function of flat lists of arrays, the types that it returns, and how `vmap` runs it.

    Two of them are two calls, even of one function: what is met twice in programs made of one call
    is known by it.
    """

    __slots__ = ("avals", "f", "method", "name")

    def __init__(
        self, name: str, f: Callable[..., Sequence[Any]], avals: Sequence[Aval], method: str | None
    ) -> None:
        self.name, self.f, self.avals, self.method = name, f, tuple(avals), method

    def __repr__(self) -> str:
        return self.name

    def __call__(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        found = [np.asarray(y) for y in self.f(*xs)]
        if [y.shape for y in found] != [a.shape for a in self.avals] or not all(
            np.can_cast(y.dtype, a.dtype, "same_kind")
            for y, a in zip(found, self.avals, strict=True)
        ):
            raise ArgumentError(
                f"{self.name}: the function returned {[aval_of(y) for y in found]}, and "
                f"result_shape_dtypes says {list(self.avals)}{where()}"
            )
        return tuple(y.astype(a.dtype) for y, a in zip(found, self.avals, strict=True))

    def batched(self, size: int, mapped: Sequence[bool]) -> Called:
        """The call for all examples: the operands that are `mapped` have an axis for them, in front."""

        def of_all(*xs: Any) -> list[Any]:
            rows = [
                self([x[i] if m else x for x, m in zip(xs, mapped, strict=True)])
                for i in range(size)
            ]
            columns = zip(*rows, strict=True) if size else [()] * len(self.avals)
            return [
                np.stack(column) if column else np.empty((0, *a.shape), a.dtype)
                for column, a in zip(columns, self.avals, strict=True)
            ]

        def at_once(*xs: Any) -> Sequence[Any]:
            return self.f(
                *[
                    x
                    if m
                    else np.broadcast_to(x, (size, *x.shape))
                    if self.method == "broadcast_all"
                    else x[None]
                    for x, m in zip(xs, mapped, strict=True)
                ]
            )

        avals = [Aval((size, *a.shape), a.dtype) for a in self.avals]
        f = of_all if self.method == "sequential" else at_once
        return Called(self.name, f, avals, self.method)


class Callback(Primitive):
    """Calls Python. `effect`: for what it does, so that it happens wherever it is written."""

    multiple = True
    outside = True

    def __init__(self, impl: Callable[..., Any], *, effect: bool) -> None:
        super().__init__(impl)
        self.effect = effect
        self.differentiable = not effect

    def aval(self, *avals: Any, **params: Any) -> tuple[Aval, ...]:
        return params["called"].avals

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        raise MissingRuleError(
            f"{params['called']}: nothing is known of the derivative of a function that is called "
            f"as Python; give it one by custom_jvp or custom_vjp{where()}"
        )

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        return False, (False,) * len(wanted)

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        called: Called = params["called"]
        if called.method is None:
            raise ArgumentError(
                f"vmap: {called} says nothing of batches; give it vmap_method, one of {_METHODS}"
                f"{where()}"
            )
        moved = [x if b is None else batch_first(x, b) for x, b in zip(xs, bdims, strict=True)]
        outs = self(*moved, called=called.batched(size, [b is not None for b in bdims]))
        return outs, (0,) * len(outs)


def _own(xp: Any, xs: Sequence[Any]) -> list[Any]:
    return [xp.array(x) for x in xs]  # not what later results may overwrite


def python_call(xp, *xs, called):
    """What a function returns for these arrays; nobody knows more about it (`pure_callback`)."""
    return called(_own(xp, xs))


def python_effect(xp, *xs, called):
    """As `python_call`, and done whether or not the results are needed (`io_callback`)."""
    return called(_own(xp, xs))


_pure = Callback(python_call, effect=False)
_effect = Callback(python_effect, effect=True)


def _type(name: str, x: Any) -> Aval:
    """The type of a result, from an array, a number, or anything with a shape and a dtype."""
    if not is_array(x) and not (hasattr(x, "shape") and hasattr(x, "dtype")):
        raise ArgumentError(
            f"{name}: result_shape_dtypes has a {type(x).__name__} in it; need arrays, or "
            f"ShapeDtypeStruct(shape, dtype){where()}"
        )
    aval = aval_of(x)
    return Aval(tuple(aval.shape), np.dtype(aval.dtype))


def _called(
    name: str, prim: Callback, f: Any, results: Any, args: Any, kwargs: Any, method: str | None
) -> Any:
    require_callable(name, f)
    leaves, treedef = tree.flatten((args, kwargs))
    arrays = [i for i, x in enumerate(leaves) if is_array(x)]
    others = [None if is_array(x) else x for x in leaves]
    types, out_def = tree.flatten(results)

    def flat(*xs: Any) -> list[Any]:
        full = list(others)
        for i, x in zip(arrays, xs, strict=False):
            full[i] = x
        args, kwargs = tree.unflatten(treedef, full)
        found, found_def = tree.flatten(f(*args, **kwargs))
        if found_def != out_def:
            raise ArgumentError(
                f"{name}: the function returned {found_def}, and result_shape_dtypes says {out_def}"
                f"{where()}"
            )
        return found or [True]

    avals = [_type(name, t) for t in types] or [_DONE]
    xs = [leaves[i] for i in arrays] or [False]
    outs = prim(*xs, called=Called(name, flat, avals, method))
    return tree.unflatten(out_def, outs[: len(types)])


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """``callback(*args)``, called with plain arrays from whatever program it becomes a part of.

    It has no effects: it runs as often as its results are needed, perhaps not at all. By
    `result_shape_dtypes`, a tree of arrays or of `ShapeDtypeStruct`, its results are known without it.

    Shapes: those of `result_shape_dtypes`.   Dtypes: likewise; results are cast to them.
    Derivative: none, an error; `custom_jvp` or `custom_vjp` around it give it one. `vmap` calls it
    for each example ("sequential"), or once, with an axis of 1 ("expand_dims") or with all examples
    ("broadcast_all") for arguments that are not mapped.
    Raises: ArgumentError: the results are not what was said. MissingRuleError: it is differentiated.
    Source: JAX reference, ``jax.pure_callback``.

    >>> import funcgrad, numpy as np, scipy.special
    >>> @funcgrad.jit
    ... def f(x):
    ...     return 2.0 * pure_callback(scipy.special.struve, x, 0.0, x)
    >>> f(np.array([1.0, 2.0])).round(4).tolist()
    [1.1373, 1.5817]
    """
    if vmap_method is not None and vmap_method not in _METHODS:
        raise ArgumentError(
            f"pure_callback: vmap_method={vmap_method!r}; need one of {_METHODS}{where()}"
        )
    return _called("pure_callback", _pure, callback, result_shape_dtypes, args, kwargs, vmap_method)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """``callback(*args)`` for what it does: once for each time that a program gets there, in order.

    Programs run in the order in which they were written, so `ordered` makes no difference. A loop
    that `vmap` maps calls it for each example.

    Shapes: those of `result_shape_dtypes`.   Dtypes: likewise; results are cast to them.
    Derivative: zero.
    Raises: ArgumentError: the results are not what was said.
    Source: JAX reference, ``jax.experimental.io_callback``.

    >>> import funcgrad, numpy as np
    >>> seen = []
    >>> def f(x):
    ...     io_callback(lambda x: seen.append(float(x)), None, x)
    ...     return x * x
    >>> [float(funcgrad.jit(funcgrad.grad(f))(x)) for x in (1.0, 2.0)], seen
    ([2.0, 4.0], [1.0, 2.0])
    """
    return _called(
        "io_callback", _effect, callback, result_shape_dtypes, args, kwargs, "sequential"
    )
