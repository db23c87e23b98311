"""Rows of a table by their number, as embeddings of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.indexing import known
from funcgrad.ops.index import take
from funcgrad.ops.select import stop_gradient, where

from ..autograd.base import tensor
from ..autograd.remembered import remembered_of_several
from ._apply import _type_word
from ._compose import composed, values_of
from ._operands import dtype_of, is_index_dtype, operand
from .norm import renorm
from .scatter import require_bounds
from .slices import index_copy, index_select

if TYPE_CHECKING:
    from .._tensor import Tensor

_NODE = "EmbeddingBackward0"


def _checked(weight: Any, indices: Any) -> tuple[Any, Any]:
    """The table and the numbers of its rows.

    Raises: RuntimeError: no matrix, or no integers. IndexError: there is no such row.
    """
    weight = operand("embedding", 1, "weight", weight)
    indices = operand("embedding", 2, "indices", indices)
    if weight._array.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if not is_index_dtype(indices._array.dtype):
        raise RuntimeError(
            f"Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {_type_word(dtype_of(indices))} instead (while checking arguments "
            f"for embedding)"
        )
    rows = weight._array.shape[0]
    require_bounds(indices, 0, rows, lambda i: IndexError("index out of range in self"))
    return weight, indices


@remembered_of_several
def embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """``y[*i] = weight[indices[*i]]``; the row `padding_idx` gets no gradient.

    With `scale_grad_by_freq` a row's gradient is divided by how often it is taken.

    Shapes: ``(n, d), (*a) -> (*a, d)``.
    Raises: RuntimeError: `weight` is no matrix, `indices` no integers. IndexError: no such row.

    >>> import compat as torch
    >>> torch.embedding(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1, 0, 1]))
    tensor([[3., 4.],
            [1., 2.],
            [3., 4.]])
    """
    weight, indices = _checked(weight, indices)
    if sparse:
        raise NotImplementedError(
            "embedding(): sparse gradients are not implemented; leave sparse=False"
        )
    if padding_idx < 0 and not scale_grad_by_freq:
        return composed(_NODE, _rows, weight, indices)
    padding = padding_idx if padding_idx >= 0 else None
    share = _shares(indices) if scale_grad_by_freq else None
    return composed(_NODE, _scaled, weight, indices, padding=padding, share=share)


def _rows(weight: Any, indices: Any, /) -> Any:
    return take(weight, indices, axis=0, bounds="known")


def _scaled(weight: Any, indices: Any, /, *, padding: int | None, share: Any) -> Any:
    """The rows, with parts of their gradients."""
    y = _rows(weight, indices)
    constant = stop_gradient(y)
    if share is not None:
        z = y * share.astype(y.dtype)
        y = constant + (z - stop_gradient(z))
    if padding is not None:
        y = where((indices == padding)[..., None], constant, y)
    return y


def _shares(indices: Any) -> Any:
    """One over how often each number is in `indices`, at every place."""
    _, places, counts = np.unique(
        values_of("embedding", indices), return_inverse=True, return_counts=True
    )
    return (1 / counts[places]).reshape(indices._array.shape)[..., None]


@remembered_of_several
def functional_embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """`embedding` as `nn.functional` has it; rows longer than `max_norm` are first made shorter.

    That is done in `weight` itself, for the rows taken.

    Raises: AssertionError: `padding_idx` is no row. RuntimeError, IndexError: as `embedding`.

    >>> import compat as torch
    >>> functional_embedding(torch.tensor([1]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.]])
    """
    padding = -1
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding = padding_idx % rows
    if max_norm is not None:
        weight, input = _checked(weight, input)
        _shorten(weight, input, float(max_norm), float(norm_type))
    return embedding(weight, input, padding, scale_grad_by_freq, sparse)


def _shorten(weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    if known(indices._array) is None:
        raise NotImplementedError("embedding(): max_norm needs indices that are known")
    # Detached, for derivatives of either mode are those of the shortened table.
    table = weight.detach()
    places = tensor(np.unique(values_of("embedding", indices)))
    short = renorm(index_select(table, 0, places), norm_type, 0, max_norm)
    table.copy_(index_copy(table, 0, places, short))


__all__ = ["embedding"]
