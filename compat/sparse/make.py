"""Making sparse tensors: `sparse_coo_tensor`, `to_sparse`, and the older classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..autograd import base
from ..autograd.base import TensorBase
from ..ops import matrix
from ..ops._compose import values_of
from ..ops._fresh import shape_in
from ..ops.create import as_tensor, tensor
from .tensor import SparseTensor, refusal, sparse


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """``y[indices[0, k], indices[1, k], ...] = values[k]``, zero elsewhere; what meets is added.

    Without `size` it is as small as it can be; with `size` only, it is empty. Places are always
    checked, and copied.

    Shapes: ``(s, n), (n, *d) -> (*sizes, *d)`` with `s` sparse axes.
    Derivative: the gradients of `values` are those of the elements at their places.

    Raises: RuntimeError: sizes that do not fit, or places out of them. TypeError: places that are no
    integers.

    >>> import compat as torch
    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    tensor(indices=tensor([[0, 1],
                           [2, 0]]),
           values=tensor([3., 4.]),
           size=(2, 3), nnz=2, layout=torch.sparse_coo)
    """
    if values is None:
        return _empty(indices if size is None else size, dtype, device, requires_grad)
    if isinstance(values, SparseTensor) or isinstance(indices, SparseTensor):
        raise refusal("sparse_coo_tensor() of sparse tensors")
    given = isinstance(values, TensorBase)
    entries = (as_tensor if given else tensor)(values, dtype=dtype, device=device)
    if not entries._array.shape:
        entries = entries.unsqueeze(0)
    places = _places(indices)
    if places.shape[1] != entries._array.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz "
            f"from values: {entries._array.shape[0]}"
        )
    dense = tuple(entries._array.shape[1:])
    if size is None:
        if not places.shape[1]:
            raise RuntimeError("sparse_coo_tensor(): without places, give the size")
        shape = (*(int(row.max()) + 1 for row in places), *dense)
    else:
        shape = shape_in("sparse_coo_tensor", tuple(size))
    _require_places(places, shape, dense)
    entries = entries.view_as(entries)  # of the same memory, and in the graph
    ordered = is_coalesced is True or places.shape[1] < 2
    if is_coalesced and not _is_ordered(places):
        raise RuntimeError("sparse_coo_tensor(is_coalesced=True): the places are not in order")
    out = sparse(places, entries, shape, coalesced=ordered)
    return out.requires_grad_() if requires_grad else out


def _is_ordered(places: np.ndarray) -> bool:
    return np.array_equal(np.unique(places, axis=1), places)


def _empty(size: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    if size is None:
        raise TypeError("sparse_coo_tensor(): indices and values, or a size, must be given")
    shape = shape_in("sparse_coo_tensor", tuple(size))
    chosen = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    entries = as_tensor(np.zeros(0), dtype=chosen, device=device)
    out = sparse(np.zeros((len(shape), 0), np.int64), entries, shape, coalesced=True)
    return out.requires_grad_() if requires_grad else out


def _places(indices: Any) -> np.ndarray:
    """The places as integers of our own.

    Raises: RuntimeError: they are no matrix. TypeError: they are no integers.
    """
    found = np.array(values_of("sparse_coo_tensor", as_tensor(indices)))
    if found.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(found.shape)}")
    places = found.astype(np.int64)
    if found.dtype.kind not in "iufb" or not np.array_equal(places, found):
        raise TypeError("sparse_coo_tensor(): indices must be integers")
    return places


def _require_places(places: np.ndarray, shape: tuple[int, ...], dense: tuple[int, ...]) -> None:
    n = len(places)
    if len(shape) != n + len(dense):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, "
            f"sparse_dim = {n}, dense_dim = {len(dense)}"
        )
    if shape[n:] != dense:
        raise RuntimeError(
            f"values has incorrect size, expected {[places.shape[1], *shape[n:]]}, got "
            f"{[places.shape[1], *dense]}"
        )
    for dim, (row, length) in enumerate(zip(places, shape, strict=False)):
        if row.size and row.min() < 0:
            raise RuntimeError(f"found negative index {row.min()} for dim {dim}")
        if row.size and row.max() >= length:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {length} but found index "
                f"{row.max()}"
            )


def of_dense(x: Any, sparse_dim: int | None) -> Any:
    """The sparse tensor of what is not zero, in the first `sparse_dim` axes."""
    n = x.ndim if sparse_dim is None else sparse_dim
    if not 0 < n <= x.ndim:
        raise RuntimeError(
            f"to_sparse: sparse_dim must be from 1 to {x.ndim}, the number of axes, but got {n}"
        )
    found = np.asarray(values_of("to_sparse", x)) != 0
    places = np.array(np.nonzero(found.any(axis=tuple(range(n, x.ndim)))), np.int64)
    return sparse(places, _at(x, places), x._array.shape, coalesced=True)


def masked(x: Any, mask: Any) -> Any:
    """The elements of `x` at the places of the sparse tensor `mask`."""
    if not isinstance(mask, SparseTensor) or isinstance(x, SparseTensor):
        raise refusal("sparse_mask() of a sparse tensor, or with a dense mask,")
    if x._array.shape != mask._array.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(x.shape)} but mask "
            f"has size {list(mask.shape)}"
        )
    return mask.with_entries(_at(x, mask._places))


def _at(x: Any, places: np.ndarray) -> Any:
    return x[tuple(map(base.tensor, places))]


base.sparse.of_dense = of_dense
base.sparse.masked = masked
base.sparse.refusal = refusal


class _SparseType:
    """``torch.sparse.FloatTensor`` and its like: constructors of one dtype."""

    def __init__(self, name: str, dtype: dtypes.dtype) -> None:
        self.__name__ = self.__qualname__ = name
        self.dtype = dtype

    def __call__(self, *args: Any) -> Any:
        """``(indices, values)``, ``(indices, values, size)``, ``(size)`` or ``(2, 3)``."""
        if len(args) < 2 or not isinstance(args[0], TensorBase):
            size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
            return sparse_coo_tensor(size=size, dtype=self.dtype)
        if args[1].dtype is not self.dtype:
            raise TypeError(f"expected values of dtype {self.dtype} (got {args[1].dtype})")
        return sparse_coo_tensor(*args)

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, SparseTensor) and x.dtype is self.dtype

    def __repr__(self) -> str:
        return f"<class 'torch.sparse.{self.__name__}'>"


FloatTensor = _SparseType("FloatTensor", dtypes.float32)
DoubleTensor = _SparseType("DoubleTensor", dtypes.float64)
LongTensor = _SparseType("LongTensor", dtypes.int64)
IntTensor = _SparseType("IntTensor", dtypes.int32)


spmm = dsmm = matrix.mm  # older names

__all__ = ["dsmm", "sparse_coo_tensor", "spmm"]
