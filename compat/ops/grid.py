"""Several tensors into one: grids, combinations, powers, block matrices; places in triangles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops.index import take as take_primitive
from funcgrad.ops.join import concatenate

from .. import dtypes
from ..autograd import sites
from ..autograd.base import tensor
from ..autograd.tape import record
from ..size import Size
from ._apply import _type_word
from ._compose import composed
from ._fresh import only_strided
from ._layout import ints_of
from ._operands import convert, dtype_of, operand, result_type
from .atleast import atleast_2d
from .join import cat, stack
from .shape import expand, ravel, reshape

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- grids and combinations


def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """For vectors ``x, y, ...``: ``X_ij = x_i, Y_ij = y_j``, as views; "xy" exchanges the first two.

    Raises: RuntimeError: a tensor with several axes, or of another dtype.

    >>> import compat as torch
    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[1]
    tensor([[3, 4],
            [3, 4]])
    """
    if indexing is None:
        sites.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument."
        )
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tuple(tensors[0])
    return _grid([operand("meshgrid", 1, "tensors", x) for x in tensors], indexing == "xy")


def _grid(given: Sequence[Any], swap: bool) -> tuple[Any, ...]:
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x in given:
        if len(x._array.shape) > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got a tensor of "
                f"shape {list(x._array.shape)}"
            )
    if len({x._array.dtype for x in given}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    order = list(range(len(given)))
    if swap and len(given) > 1:
        order[:2] = [1, 0]
    last = len(given) - 1
    shape = tuple(given[k].numel() for k in order)
    columns = [
        reshape(x, (x.numel(),) + (1,) * (last - axis))
        for x, axis in ((x, order.index(k)) for k, x in enumerate(given))
    ]
    return tuple(expand(x, shape) for x in columns)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of the shapes given broadcast to.

    Raises: RuntimeError: they do not broadcast together, or are no integers.

    >>> import compat as torch
    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    try:
        given = [ints_of("broadcast_shapes", "shapes", (s,)) for s in shapes]
    except TypeError as e:
        raise RuntimeError(str(e)) from None
    try:
        return Size(np.broadcast_shapes(*given))
    except ValueError:
        raise RuntimeError(
            f"Attempting to broadcast shapes that do not fit together: {given}"
        ) from None


def cartesian_prod(*tensors: Any) -> Tensor:
    """The rows ``(x_i, y_j, ...)`` for all ``i, j, ...``; the vector itself if there is one.

    Raises: RuntimeError: a tensor that is no vector.

    >>> import compat as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    given = [operand("cartesian_prod", 1, "tensors", x) for x in tensors]
    for x in given:
        _require_vector(x)
    if len(given) == 1:
        return given[0]
    return stack([ravel(x) for x in _grid(given, False)], 1)


def _require_vector(x: Any) -> None:
    if len(x._array.shape) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._array.shape)}")


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """The rows ``(x_i, x_j, ...)`` for ``i < j < ...``, or ``i <= j <= ...`` with replacement.

    Shapes: ``(n,) -> (count, r)``.
    Raises: RuntimeError: it is no vector, or `r` is negative.

    >>> import compat as torch
    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    input = operand("combinations", 1, "input", input)
    _require_vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return tensor(np.empty(0, input._array.dtype))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.numel()), r)), dtype=np.intp).reshape(-1, r)
    return composed("StackBackward0", take_primitive, input, places, axis=0, bounds="known")


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """``y_ij = x_i ** (N - 1 - j)``, or ``x_i ** j`` if `increasing`; a square matrix without `N`.

    Raises: RuntimeError: `x` is no vector.

    >>> import compat as torch
    >>> torch.vander(torch.tensor([1, 2, 3]), 2)
    tensor([[1, 1],
            [2, 1],
            [3, 1]])
    """
    x = operand("vander", 1, "x", x)
    if len(x._array.shape) != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.numel() if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if dtype_of(x).category < 2:
        x = convert(x, dtypes.int64)
    columns = [tensor(np.ones_like(x._array))]
    for _ in range(count - 1):
        columns.append(columns[-1] * x)
    if not count:
        return tensor(np.empty((x.numel(), 0), x._array.dtype))
    return stack(columns[:count] if increasing else columns[count - 1 :: -1], 1)


def block_diag(*tensors: Any) -> Tensor:
    """The matrix with the matrices `tensors` along its diagonal and 0 elsewhere.

    Raises: RuntimeError: a tensor with more than two axes.

    >>> import compat as torch
    >>> torch.block_diag(torch.tensor([[1.0, 2.0]]), torch.tensor(3.0))
    tensor([[1., 2., 0.],
            [0., 0., 3.]])
    """
    given = [operand("block_diag", 1, "tensors", x) for x in tensors]
    if not given:
        return tensor(np.empty((1, 0), dtypes.get_default_dtype().numpy))
    for i, x in enumerate(given):
        if len(x._array.shape) > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                f"{len(x._array.shape)} dimensions"
            )
    dtype = result_type(*given)
    blocks = [convert(atleast_2d(x), dtype) for x in given]
    width = sum(x._array.shape[1] for x in blocks)
    rows, start = [], 0
    for x in blocks:
        m, n = x._array.shape
        left = tensor(np.zeros((m, start), dtype.numpy))
        right = tensor(np.zeros((m, width - start - n), dtype.numpy))
        rows.append(cat([left, x, right], 1))
        start += n
    return record(concatenate, rows, {"axis": 0}, "BlockDiagBackward0")


# ---------------------------------------------------------------- places in triangles


def _triangle_indices(name: str, keep: Any, row: int, col: int, offset: int, dtype: Any) -> Any:
    for word, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{word} must be non-negative, got{n}")
    d = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    if d.category != 1:
        raise NotImplementedError(f"\"{name}\" not implemented for '{_type_word(d)}'")
    places = keep(np.ones((row, col), dtype=bool), offset).nonzero()
    return tensor(np.stack(places).astype(d.numpy))


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Tensor:
    """The places ``(i, j)`` with ``j <= i + offset`` of a matrix, as two rows.

    >>> import compat as torch
    >>> torch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    if layout is not None:
        only_strided("tril_indices", layout)
    return _triangle_indices("tril_indices", np.tril, row, col, offset, dtype)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Tensor:
    """The places ``(i, j)`` with ``j >= i + offset`` of a matrix, as two rows.

    >>> import compat as torch
    >>> torch.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    if layout is not None:
        only_strided("triu_indices", layout)
    return _triangle_indices("triu_indices", np.triu, row, col, offset, dtype)


__all__ = [
    "block_diag",
    "broadcast_shapes",
    "cartesian_prod",
    "combinations",
    "meshgrid",
    "tril_indices",
    "triu_indices",
    "vander",
]
