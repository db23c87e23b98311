"""What primitives are on sparse tensors: the same on their entries, or an error.

All functions and operators come here through `record`, so that `a @ b`, `torch.mm`, `addmm` and
`nn.functional.linear` need one rule for the product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core import Primitive
from funcgrad.ops import arithmetic, contract, exponential, structural, trigonometric
from funcgrad.ops.cast import cast, cast_constant

from ..autograd import base
from ..autograd.base import TensorBase
from ..autograd.tape import record
from ..ops.join import cat
from ..ops.slices import index_select
from .tensor import SparseTensor, added, refusal, rows_of, sparse

Rule = Callable[..., Any]
RULES: dict[Primitive, Rule] = {}


def run(prim: Primitive, args: Any, params: dict[str, Any]) -> Any:
    """``prim(*args, **params)`` where an operand is sparse.

    Raises: NotImplementedError: there is no rule for it.
    """
    rule = RULES.get(prim)
    if rule is None:
        raise refusal()
    args = [base.tensor(x) if isinstance(x, np.ndarray) else x for x in args]
    return rule(prim, *args, **params)


base.sparse.rules = run


def rule(*prims: Primitive) -> Callable[[Rule], Rule]:
    """The decorated function is ``(prim, *operands, **params)`` for these primitives."""

    def decorate(f: Rule) -> Rule:
        RULES.update(dict.fromkeys(prims, f))
        return f

    return decorate


def _is_number(x: Any) -> bool:
    """Whether `x` is one number: Python's, or a tensor without axes."""
    return not isinstance(x, TensorBase) or (not isinstance(x, SparseTensor) and not x._array.shape)


# ---------------------------------------------------------------- element by element


@rule(arithmetic.negative, cast, cast_constant)
def _linear(prim: Primitive, x: Any, /, **params: Any) -> Any:
    return x.with_entries(record(prim, (x._entries,), params))


@rule(
    *(arithmetic.absolute, arithmetic.square, exponential.sqrt, exponential.expm1),
    exponential.log1p,
    *(trigonometric.sin, trigonometric.tan, trigonometric.arcsin, trigonometric.arctan),
    *(trigonometric.sinh, trigonometric.tanh, trigonometric.arcsinh, trigonometric.arctanh),
)
def _keeping_zero(prim: Primitive, x: Any, /, **params: Any) -> Any:
    """A function with ``f(0) = 0``, of the sums of the values for one place."""
    x = x.coalesce()
    return x.with_entries(record(prim, (x._entries,), params))


@rule(arithmetic.power)
def _power(prim: Primitive, x: Any, y: Any, /) -> Any:
    if not isinstance(y, int | float) or y <= 0:
        raise refusal("a power with another exponent than a positive number")
    x = x.coalesce()
    return x.with_entries(record(prim, (x._entries, y)))


@rule(arithmetic.add, arithmetic.subtract)
def _sum(prim: Primitive, x: Any, y: Any, /) -> Any:
    if not isinstance(y, SparseTensor) or _is_number(x):
        name = "add" if prim is arithmetic.add else "sub"
        raise RuntimeError(
            f"{name}(sparse, dense) is not supported. Use add(dense, sparse) instead, or x.to_dense()"
        )
    if not isinstance(x, SparseTensor):
        return record(prim, (x, y.to_dense()))
    _require_alike(x, y)
    if np.array_equal(x._places, y._places):
        coalesced = x._coalesced and y._coalesced
        entries = record(prim, (x._entries, y._entries))
        return sparse(x._places, entries, x._array.shape, coalesced=coalesced)
    other = y._entries if prim is arithmetic.add else -y._entries
    places = np.concatenate([x._places, y._places], axis=1)
    found = sparse(places, cat([x._entries, other]), x._array.shape, coalesced=False)
    return found.coalesce() if x._coalesced and y._coalesced else found


def _require_alike(x: Any, y: Any) -> None:
    """
    Raises: RuntimeError: the shapes differ, or which axes are sparse.
    """
    if x._array.shape != y._array.shape or x.sparse_dim() != y.sparse_dim():
        raise RuntimeError(
            f"operands must have one size and the same sparse axes, but got sizes "
            f"{list(x._array.shape)} and {list(y._array.shape)} with {x.sparse_dim()} and "
            f"{y.sparse_dim()} sparse axes"
        )


@rule(arithmetic.multiply)
def _product(prim: Primitive, x: Any, y: Any, /) -> Any:
    if not isinstance(x, SparseTensor):
        x, y = y, x  # it is the product of numbers, which commutes
    if _is_number(y):
        return x.with_entries(record(prim, (x._entries, y)))
    if not isinstance(y, SparseTensor):
        shape = x._array.shape
        if np.broadcast_shapes(shape, y._array.shape) != shape:
            raise refusal("a product that is larger than its sparse factor")
        if x.sparse_dim() == 0:
            raise refusal("a product without sparse axes")
        there = y.expand(shape)[tuple(map(base.tensor, x._places))]
        return x.with_entries(record(prim, (x._entries, there)))
    _require_alike(x, y)
    x, y = x.coalesce(), y.coalesce()
    shape = x._array.shape[: x.sparse_dim()]
    rows = rows_of(x._places, shape), rows_of(y._places, shape)
    _, at, to = np.intersect1d(*rows, assume_unique=True, return_indices=True)
    pair = _picked(x._entries, at), _picked(y._entries, to)
    return sparse(x._places[:, at], record(prim, pair), x._array.shape, coalesced=True)


@rule(arithmetic.divide)
def _quotient(prim: Primitive, x: Any, y: Any, /) -> Any:
    if not isinstance(x, SparseTensor) or isinstance(y, SparseTensor):
        raise refusal("division by a sparse tensor")
    if not _is_number(y):
        raise RuntimeError(
            f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(y._array.shape)} for divisor)"
        )
    return x.with_entries(record(prim, (x._entries, y)))


def _picked(entries: Any, places: np.ndarray) -> Any:
    return index_select(entries, 0, base.tensor(places))


# ---------------------------------------------------------------- axes


@rule(structural.transpose)
def _transpose(prim: Primitive, x: Any, /, *, axes: tuple[int, ...]) -> Any:
    n = x.sparse_dim()
    if sorted(axes[:n]) != list(range(n)):
        raise refusal("an exchange of sparse and dense axes")
    entries = x._entries
    if x.dense_dim():
        entries = record(prim, (entries,), {"axes": (0, *(a - n + 1 for a in axes[n:]))})
    shape = [x._array.shape[a] for a in axes]
    keeps = x._coalesced and axes[:n] == tuple(range(n))
    return sparse(x._places[list(axes[:n])], entries, shape, coalesced=keeps)


@rule(structural.sum)
def _total(prim: Primitive, x: Any, /, *, axis: tuple[int, ...]) -> Any:
    n = x.sparse_dim()
    left = [i for i in range(n) if i not in axis]
    entries = x._entries
    inner = tuple(a - n + 1 for a in axis if a >= n)
    if len(left) == 0:
        return record(prim, (entries,), {"axis": (0, *inner)})
    if inner:
        entries = record(prim, (entries,), {"axis": inner})
    shape = [length for i, length in enumerate(x._array.shape) if i not in axis]
    return sparse(x._places[left], entries, shape, coalesced=False).coalesce()


# ---------------------------------------------------------------- products


@rule(contract.matmul)
def _matmul(prim: Primitive, x: Any, y: Any, /) -> Any:
    for factor in (x, y):
        if isinstance(factor, SparseTensor) and (factor.sparse_dim(), factor.dense_dim()) != (2, 0):
            raise refusal("a product of other than matrices with two sparse axes")
    if not isinstance(x, SparseTensor):
        if x._array.ndim > 2:
            raise refusal("a product with a batch of matrices")
        found = _matmul(prim, y.t(), x.t() if x._array.ndim == 2 else x)
        return found.t() if x._array.ndim == 2 else found
    if isinstance(y, SparseTensor):
        return _of_two(x, y)
    if y._array.ndim > 2:
        raise refusal("a product with a batch of matrices")
    rows, columns = x._places
    entries = x._entries if y._array.ndim == 1 else x._entries.unsqueeze(-1)
    return added(entries * _picked(y, columns), rows, x._array.shape[0])


def _of_two(x: Any, y: Any) -> Any:
    """The product of two sparse matrices: every entry of `x` meets those of a row of `y`."""
    x, y = x.coalesce(), y.coalesce()
    starts = np.searchsorted(y._places[0], np.arange(y._array.shape[0] + 1))
    first, last = starts[x._places[1]], starts[x._places[1] + 1]
    counts = last - first
    left = np.repeat(np.arange(x._nnz()), counts)
    ends = np.cumsum(counts)
    right = np.arange(len(left)) + np.repeat(first - ends + counts, counts)
    entries = _picked(x._entries, left) * _picked(y._entries, right)
    places = np.stack([x._places[0, left], y._places[1, right]])
    shape = (x._array.shape[0], y._array.shape[1])
    return sparse(places, entries, shape, coalesced=False).coalesce()
