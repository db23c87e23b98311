"""Functions of matrices: powers, the exponential; products and diagonals under `linalg`'s names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops import linalg as functions
from funcgrad.ops.matrix_functions import expm

from ..autograd.base import tensor
from ..autograd.tape import record, through
from ..ops._apply import _type_word, finish
from ..ops._operands import dtype_of, operand, plain_number
from ..ops.create import ones
from ..ops.join import cat
from ..ops.matrix import finish_typed
from ..ops.products import crossed
from .checks import require_floats, shape_of, square
from .systems import inv

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- powers


def matrix_power(A: Any, n: int, *, out: Any = None) -> Tensor:
    """The product of `n` factors A, by repeated squaring; of inverses for a negative `n`.

    Raises: LinAlgError: `n` is negative and A singular. TypeError: `n` is no integer.

    >>> import compat as torch
    >>> torch.linalg.matrix_power(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
    tensor([[1., 5.],
            [0., 1.]])
    """
    x = square("linalg.matrix_power", A)
    n = plain_number("linalg_matrix_power", "n", n)
    if not isinstance(n, int):
        raise TypeError(
            f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        )
    base = inv(x) if n < 0 else x
    if n in (0, 1):
        found = base.clone()
        if n == 0:  # constant, but recorded
            found.copy_(tensor(np.eye(shape_of(x)[-1], dtype=x._array.dtype)))
    else:
        found = through(functions.matrix_power, base, abs(n))
    return finish("linalg.matrix_power", found, out, (x,))


# ---------------------------------------------------------------- exponential


def matrix_exp(A: Any) -> Tensor:
    """``sum_k A^k / k!``.

    Raises: RuntimeError: integers, or A is not square.

    >>> import compat as torch
    >>> torch.linalg.matrix_exp(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    name = "linalg.matrix_exp"
    x = square(name, A)
    require_floats(name, x)
    if not shape_of(x)[-1]:
        return x.clone()
    return record(expm, (x,), None, "LinalgMatrixExpBackward0")


# ---------------------------------------------------------------- products, diagonals, powers


def cross(input: Any, other: Any, *, dim: int = -1, out: Any = None) -> Tensor:
    """The vector product along `dim`; the other dimensions broadcast.

    Raises: RuntimeError: the axis is not 3 long, or the shapes or dtypes do not fit.

    >>> import compat as torch
    >>> torch.linalg.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    x = operand("linalg_cross", 1, "input", input)
    return crossed(x, operand("linalg_cross", 2, "other", other), dim, out)


def vecdot(x: Any, y: Any, *, dim: int = -1, out: Any = None) -> Tensor:
    """``sum_k conj(x_k) y_k``: inner products along `dim`, the first conjugated.

    Raises: RuntimeError: integers, or the shapes or dtypes do not fit.

    >>> import compat as torch
    >>> torch.linalg.vecdot(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    x, y = operand("linalg_vecdot", 1, "x", x), operand("linalg_vecdot", 2, "y", y)
    a, b = dtype_of(x), dtype_of(y)
    if a.category < 2:
        raise RuntimeError(
            f"linalg.vecdot: Expected a floating point or complex tensor as input. Got "
            f"{_type_word(a)}"
        )
    if a is not b:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{_type_word(a)} and y of type {_type_word(b)} instead"
        )
    return finish_typed("linalg.vecdot", (x.conj() * y).sum(dim), out, (x, y))


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, a view.

    >>> import compat as torch
    >>> torch.linalg.diagonal(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    return operand("linalg_diagonal", 1, "A", A).diagonal(offset, dim1, dim2)


def vander(x: Any, *, N: int | None = None) -> Tensor:
    """``y_ij = x_i ** j`` for j below `N`; square without it.

    Shapes: ``(*a, n) -> (*a, n, N)``; a number is a vector of one.
    Raises: RuntimeError: booleans, or `N` is less than 2.

    >>> import compat as torch
    >>> torch.linalg.vander(torch.tensor([1, 2, 3]), N=2)
    tensor([[1, 1],
            [1, 2],
            [1, 3]])
    """
    x = operand("linalg_vander", 1, "x", x)
    if dtype_of(x).category == 0:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    if not shape_of(x):
        x = x.unsqueeze(0)
    n = N if N is not None else shape_of(x)[-1]
    if n < 2:
        raise RuntimeError(f"N must be greater than 1, but it is {n}.")
    powers = x.unsqueeze(-1).expand(*shape_of(x), n - 1).cumprod(-1)
    first = ones(*shape_of(x), 1, dtype=dtype_of(powers))
    return cat((first, powers), -1)
