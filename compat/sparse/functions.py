"""The functions of `torch.sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..autograd import base
from ..ops import matrix, reduce
from ..ops.scatter import scatter_reduce
from .tensor import SparseTensor, added, refusal, rows_of


def mm(sparse: Any, dense: Any) -> Any:
    """The product of two matrices of which one is sparse, or both, when the result is too.

    Derivative: to the dense factor, and to the entries of the sparse one.

    Raises: RuntimeError: the sizes or dtypes do not fit.

    >>> import compat as torch
    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    return matrix.mm(sparse, dense)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * mat1 @ mat2`` with a sparse `mat1`.

    >>> import compat as torch
    >>> torch.sparse.addmm(torch.ones(1, 1), torch.eye(1).to_sparse(), torch.ones(1, 1))
    tensor([[2.]])
    """
    return matrix.addmm(input, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of all elements, or along axes: sparse as long as a sparse axis is left.

    >>> import compat as torch
    >>> torch.sparse.sum(torch.eye(2).to_sparse(), 0).to_dense()
    tensor([1., 1.])
    """
    return reduce.sum(input, dim, dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """``exp(x_i) / sum_j exp(x_j)`` along a sparse axis, of the elements that are there.

    Raises: NotImplementedError: the tensor has dense axes.

    >>> import compat as torch
    >>> torch.sparse.softmax(torch.tensor([[0.0, 2.0], [3.0, 3.0]]).to_sparse(), 1).to_dense()
    tensor([[0.0000, 1.0000],
            [0.5000, 0.5000]])
    """
    x, group, count, y = _below_largest(input, dim, dtype)
    z = y.exp()
    return x.with_entries(z / added(z, group, count)[base.tensor(group)])


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """``x_i - log sum_j exp(x_j)`` along a sparse axis, of the elements that are there.

    Raises: NotImplementedError: the tensor has dense axes.

    >>> import compat as torch
    >>> torch.sparse.log_softmax(torch.tensor([[0.0, 2.0]]).to_sparse(), 1).values()
    tensor([0.])
    """
    x, group, count, y = _below_largest(input, dim, dtype)
    return x.with_entries(y - added(y.exp(), group, count).log()[base.tensor(group)])


def _below_largest(x: Any, dim: int, dtype: Any) -> tuple[Any, np.ndarray, int, Any]:
    """The tensor coalesced; the group of each entry, how many there are; entries less the largest."""
    if not isinstance(x, SparseTensor) or x.dense_dim():
        raise refusal("sparse.softmax() of a tensor with dense axes")
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got "
            f"{dim})"
        )
    if dtype is not None:
        x = x.to(dtypes.as_dtype(dtype))
    x = x.coalesce()
    left = [i for i in range(x.ndim) if i != dim % x.ndim]
    rows = rows_of(x._places[left], tuple(x.shape[i] for i in left))
    found, group = np.unique(rows, return_inverse=True)
    count, entries = len(found), x._entries
    at = base.tensor(group)
    start = entries.new_zeros(count)
    largest = scatter_reduce(start, 0, at, entries.detach(), "amax", include_self=False)
    return x, group, count, entries - largest[at]
