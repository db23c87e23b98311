"""From dense tensors to sparse ones: the methods; what they make is in `compat.sparse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import size
from ..autograd import base
from ._fresh import only_strided

if TYPE_CHECKING:
    from .._tensor import Tensor


def to_sparse(self: Any, sparse_dim: int | None = None, *, layout: Any = None) -> Any:
    """The elements that are not zero, with their places in the first `sparse_dim` axes, or in all.

    Derivative: the gradient goes to the elements that are there.

    Raises: RuntimeError: there are not so many axes. NotImplementedError: another layout.

    >>> import compat as torch
    >>> torch.tensor([[0.0, 2.0]]).to_sparse()
    tensor(indices=tensor([[0],
                           [1]]),
           values=tensor([2.]),
           size=(1, 2), nnz=1, layout=torch.sparse_coo)
    """
    if layout is not None and layout is not size.sparse_coo:
        only_strided("to_sparse", layout)
        return self
    return base.sparse.of_dense(self, sparse_dim)


def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor itself, which is dense, in a dtype."""
    return self if dtype is None else self.to(dtype)


def sparse_mask(self: Any, mask: Any) -> Any:
    """The elements at the places of the sparse tensor `mask`, as a sparse tensor.

    Raises: RuntimeError: the sizes differ.

    >>> import compat as torch
    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(torch.eye(2).to_sparse()).values()
    tensor([1., 4.])
    """
    return base.sparse.masked(self, mask)


class LayoutsMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    to_sparse = to_sparse
    to_sparse_coo = to_sparse
    to_dense = to_dense
    sparse_mask = sparse_mask


__all__: list[str] = []
