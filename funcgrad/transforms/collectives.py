"""What examples of a named batch have to do with each other: all of them as rows, and its transpose."""

from __future__ import annotations

from typing import Any

from ..algebra import batch_first
from ..core import EVAL, Aval, current
from ..errors import ArgumentError, where
from ..ops.structural import sum as sum_
from .vmap import Collective, NamedBatchTrace, move_batch


def enclosing(name: str, axis_name: Any) -> NamedBatchTrace:
    """The batch of this name that is being traced, the innermost one.

    Raises: ArgumentError: there is none.
    """
    trace: Any = current.get()
    names = []
    while trace is not EVAL:
        if isinstance(trace, NamedBatchTrace):
            if trace.axis_name == axis_name:
                return trace
            names.append(trace.axis_name)
        trace = trace.parent
    found = f"found {names}" if names else "none has a name"
    raise ArgumentError(
        f"lax.{name}: no axis is called {axis_name!r} here, {found}; name it "
        f"in vmap(..., axis_name={axis_name!r}){where()}"
    )


class Gather(Collective):
    def over(self, size: int, x: Any, bdim: int | None) -> Any:
        return move_batch(x, bdim, 0, size), None

    def batch(self, size: int, xs: Any, bdims: Any, params: dict) -> Any:
        return self(batch_first(xs[0], bdims[0]), **params), 1


class Scatter(Collective):
    def over(self, size: int, x: Any, bdim: int | None) -> Any:
        return (x * size if bdim is None else sum_(x, axis=(bdim,))), 0

    def batch(self, size: int, xs: Any, bdims: Any, params: dict) -> Any:
        return self(batch_first(xs[0], bdims[0]).swapaxes(0, 1), **params), 0


def _declared(kind: Any, transpose: Any, aval: Any) -> Any:
    return lambda impl: kind(impl, (transpose,), aval=aval)


def _unbound(axis_name: Any) -> ArgumentError:
    return ArgumentError(
        f"a function of all examples: no axis is called {axis_name!r} where it runs; it belongs inside "
        f"of vmap(..., axis_name={axis_name!r}){where()}"
    )


@_declared(
    Gather,
    lambda ct, _x, *, axis_name, size: own_of_sum(ct, axis_name=axis_name, size=size),
    lambda x, *, axis_name, size: Aval((size, *x.shape), x.dtype),
)
def all_examples(xp, x, /, *, axis_name, size):
    """Every example's `x`, one row for each; needs the batch, and so has no value outside of it.

    Shapes: ``x: (*a) -> (size, *a)``.   Dtypes: all.
    Derivative: linear; its transpose sums, and gives every example its own row.
    Raises: ArgumentError: no enclosing `vmap` has the name.
    Source: JAX reference, ``jax.lax.all_gather``.

    >>> import funcgrad, numpy as np
    >>> total = lambda x: funcgrad.lax.psum(x, "i")
    >>> funcgrad.vmap(total, axis_name="i")(np.array([1.0, 2.0, 4.0])).tolist()
    [7.0, 7.0, 7.0]
    """
    raise _unbound(axis_name)


@_declared(
    Scatter,
    lambda ct, _x, *, axis_name, size: all_examples(ct, axis_name=axis_name, size=size),
    lambda x, *, axis_name, size: Aval(x.shape[1:], x.dtype),
)
def own_of_sum(xp, x, /, *, axis_name, size):
    """Row i of the sum of all examples' `x` for example i: the transpose of `all_examples`.

    Shapes: ``x: (size, *a) -> (*a)``.   Dtypes: all.
    Derivative: linear; its transpose is `all_examples`.
    Raises: ArgumentError: no enclosing `vmap` has the name.
    Source: JAX reference, ``jax.lax.psum_scatter``.

    >>> import funcgrad, numpy as np
    >>> f = lambda x: funcgrad.lax.all_gather(x, "i")[0]
    >>> g = funcgrad.vmap(funcgrad.grad(f), axis_name="i")
    >>> g(np.array([1.0, 2.0, 4.0])).tolist()
    [3.0, 0.0, 0.0]
    """
    raise _unbound(axis_name)
