"""Functions of matrices: powers, the exponential; products and diagonals under `linalg`'s names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.ops import linalg as functions
from funcgrad.ops.contract import matmul
from funcgrad.ops.select import stop_gradient, where
from funcgrad.ops.solve import matrix_solve

from ..autograd.base import tensor
from ..autograd.tape import through
from ..ops._apply import _type_word, finish
from ..ops._compose import composed
from ..ops._operands import dtype_of, operand
from ..ops.create import ones
from ..ops.join import cat
from ..ops.matrix import finish_typed
from ..ops.products import crossed
from .checks import numbers, require_floats, shape_of, square
from .systems import inv

# ---------------------------------------------------------------- powers


def matrix_power(A: Any, n: int, *, out: Any = None) -> Any:
    """The product of `n` factors A, by repeated squaring; of inverses for a negative `n`.

    Raises: LinAlgError: `n` is negative and A singular. TypeError: `n` is no integer.

    >>> import compat as torch
    >>> torch.linalg.matrix_power(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
    tensor([[1., 5.],
            [0., 1.]])
    """
    x = square("linalg.matrix_power", A)
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

# NOTE [Exponential] Higham, "The scaling and squaring method for the matrix exponential revisited",
# SIAM J. Matrix Anal. Appl. 26 (2005): where the 1-norm is at most the limit, the quotient of
# polynomials p(x) / p(-x) of this degree is exp(x) up to rounding; larger matrices are halved before
# and the result is squared as often.
_PADE = {  # dtype of the real part: (degree, limit)
    "float32": (7, 3.925724783138660),
    "float64": (13, 5.371920351148152),
}


def _coefficients(degree: int) -> list[float]:
    """The coefficients of p, of x^0 first, as integers: the last is 1."""
    f = math.factorial
    return [float(f(2 * degree - k) // (f(k) * f(degree - k))) for k in range(degree + 1)]


def matrix_exp(A: Any) -> Any:
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
    degree, limit = _PADE["float64" if x._array.real.dtype == np.float64 else "float32"]
    array = numbers(x)
    halvings = None if array is None else np.asarray(_halvings(abs(array), limit))
    node = "LinalgMatrixExpBackward0"
    return composed(node, _exponential, x, degree=degree, limit=limit, halvings=halvings)


def _halvings(size: Any, limit: float) -> Any:
    """How often to halve matrices for their 1-norm to come below the limit, from the sizes of their
    elements."""
    norm = fnp.max(fnp.sum(size, axis=-2), axis=-1)
    found = fnp.ceil(fnp.log2(fnp.maximum(norm / limit, 1.0)))
    return fnp.where(fnp.isfinite(found), found, 0.0)


_UNKNOWN = 24  # squarings where a transform does not know the matrix


def _exponential(x: Any, /, *, degree: int, limit: float, halvings: Any) -> Any:
    """NOTE [Exponential]. `halvings`: how often each matrix is halved, if that is known."""
    if halvings is None:
        count, halvings = _UNKNOWN, stop_gradient(_halvings(fnp.abs(x), limit))
    else:
        count = int(halvings.max(initial=0))
    each = fnp.expand_dims(halvings, (-2, -1))
    real = x.real.dtype if x.dtype.kind == "c" else x.dtype
    y = _pade(x * (0.5**each).astype(real), _coefficients(degree))
    for k in range(count):
        more = each > k
        large = where(more, y, 0.0)  # nothing overflows in those that are done
        y = where(more, matmul(large, large), y)
    return y


def _pade(x: Any, coefficients: list[float]) -> Any:
    """``p(-x)^-1 p(x)``: the even powers of p(x) and p(-x) are equal, the odd ones opposite."""
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    square = matmul(x, x)
    power, even, odd = None, coefficients[0] * identity, coefficients[1] * identity
    for k in range(2, len(coefficients), 2):
        power = square if power is None else matmul(power, square)
        even, odd = even + coefficients[k] * power, odd + coefficients[k + 1] * power
    odd = matmul(x, odd)
    return matrix_solve(even - odd, even + odd)


# ---------------------------------------------------------------- products, diagonals, powers


def cross(input: Any, other: Any, *, dim: int = -1, out: Any = None) -> Any:
    """The vector product along `dim`; the other dimensions broadcast.

    Raises: RuntimeError: the axis is not 3 long, or the shapes or dtypes do not fit.

    >>> import compat as torch
    >>> torch.linalg.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    x = operand("linalg_cross", 1, "input", input)
    return crossed(x, operand("linalg_cross", 2, "other", other), dim, out)


def vecdot(x: Any, y: Any, *, dim: int = -1, out: Any = None) -> Any:
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


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of matrices, a view.

    >>> import compat as torch
    >>> torch.linalg.diagonal(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    return operand("linalg_diagonal", 1, "A", A).diagonal(offset, dim1, dim2)


def vander(x: Any, *, N: int | None = None) -> Any:
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
