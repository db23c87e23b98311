"""What `compat.linalg` requires of its arguments, and what it says of matrices that do not serve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.indexing import known
from funcgrad.ops.lu import lu_factor

from ..autograd.base import tensor
from ..autograd.tape import record, through
from ..ops._apply import _type_word
from ..ops._compose import not_implemented
from ..ops._operands import dtype_of, operand


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive definite, or an iteration has not converged."""


def shape_of(x: Any) -> tuple[int, ...]:
    return tuple(x._array.shape)


# ---------------------------------------------------------------- arguments


def matrix(name: str, A: Any, argument: str = "A", position: int = 1) -> Any:
    """`A`, which must be a matrix or a stack of them.

    Raises: RuntimeError: it is not. TypeError: it is no tensor.
    """
    x = operand(name.replace(".", "_"), position, argument, A)
    if len(shape_of(x)) < 2:
        raise RuntimeError(
            f"{name}: The input tensor {argument} must have at least 2 dimensions, but its shape is "
            f"{list(shape_of(x))}."
        )
    return x


def square(name: str, A: Any) -> Any:
    """`A`, which must be a square matrix or a stack of them.

    Raises: RuntimeError: it is not. TypeError: it is no tensor.
    """
    x = matrix(name, A)
    *_, m, n = shape_of(x)
    if m != n:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {m} by {n} matrices"
        )
    return x


def require_floats(name: str, x: Any, kernel: str | None = None) -> None:
    """Require numbers that LAPACK has functions for.

    Raises: RuntimeError: integers. NotImplementedError: half precision; integers too where PyTorch
    finds out in `kernel`.
    """
    dtype = dtype_of(x)
    if dtype.name in ("float32", "float64", "complex64", "complex128"):
        return
    if kernel is not None:
        raise not_implemented(kernel, x)
    words = "Expected a floating point or complex tensor as input."
    if dtype.category == 2:
        words = "Low precision dtypes not supported."
    raise RuntimeError(f"{name}: {words} Got {_type_word(dtype)}")


def require_same(name: str, A: Any, B: Any) -> None:
    """
    Raises: RuntimeError: the dtypes differ.
    """
    a, b = dtype_of(A), dtype_of(B)
    if a is not b:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {_type_word(a)} "
            f"and B of type {_type_word(b)} instead"
        )


# ---------------------------------------------------------------- failures

Explain = Callable[[str, Any], LinAlgError]


def factored(name: str, explain: Explain, prim: Any, args: Any, params: Any, node: str) -> Any:
    """`record` of a primitive that calls LAPACK; the first operand is the matrix.

    Raises: LinAlgError: the matrix does not serve.
    """
    try:
        return record(prim, args, params, node)
    except np.linalg.LinAlgError:
        raise explain(name, args[0]) from None


def numbers(x: Any) -> Any:
    """The array behind a tensor, on the host; None where a transform knows only its type."""
    array = known(x._array)
    return array.get() if hasattr(array, "get") else array


def _element(info: Any) -> tuple[str, int]:
    """The place of the first matrix that failed, in words, and what failed in it."""
    flat = np.asarray(info).reshape(-1)
    failed = np.flatnonzero(flat)
    i = int(failed[0]) if failed.size else 0
    words = f"(Batch element {i}): " if np.ndim(info) else ""
    return words, int(flat[i]) if flat.size else 0


def pivot_info(x: Any) -> Any:
    """Which diagonal element of U is the first zero in every matrix, counted from 1; 0 if none."""
    array = numbers(x)
    if array is None:
        return np.zeros((), np.int32)
    return zero_pivots(tensor(lu_factor(array)[0]))._array


def zero_pivots(lu: Any) -> Any:
    """The number of the first zero on the diagonal of every matrix, counted from 1; 0 if none."""
    return through(_first_zero, lu.detach())


def _first_zero(lu: Any, /) -> Any:
    if 0 in lu.shape[-2:]:
        return fnp.zeros(lu.shape[:-2], np.int32)
    zero = fnp.equal(fnp.diagonal(lu, 0, -2, -1), 0)
    place = fnp.where(fnp.any(zero, axis=-1), fnp.argmax(zero, axis=-1) + 1, 0)
    return fnp.astype(place, np.int32)


def minor_info(x: Any) -> Any:
    """The order of the first leading minor that is not positive definite; 0 if none."""
    array = numbers(x)
    if array is None:
        return np.zeros((), np.int32)
    info = np.zeros(array.shape[:-2], np.int32)
    for i in np.ndindex(info.shape):
        info[i] = _first_bad_minor(array[i])
    return info


def _first_bad_minor(a: Any) -> int:
    def fails(k: int) -> bool:
        try:
            return not np.isfinite(np.linalg.cholesky(a[:k, :k])).all()
        except np.linalg.LinAlgError:
            return True

    low, high = 0, len(a)  # the minor of order `low` is positive definite
    if not fails(high):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    return high


def singular(name: str, x: Any, info: Any = None) -> LinAlgError:
    """The error of `inv` for a singular matrix."""
    words, k = _element(pivot_info(x) if info is None else info)
    return LinAlgError(
        f"{name}: {words}The diagonal element {k} is zero, the inversion could not be completed "
        f"because the input matrix is singular."
    )


def unsolvable(name: str, x: Any, info: Any = None) -> LinAlgError:
    """The error of `solve` for a singular matrix."""
    words, _ = _element(pivot_info(x) if info is None else info)
    return LinAlgError(
        f"torch.{name}: {words}The solver failed because the input matrix is singular."
    )


def indefinite(name: str, x: Any, info: Any = None) -> LinAlgError:
    """The error of `cholesky` for a matrix that is not positive definite."""
    words, k = _element(minor_info(x) if info is None else info)
    # Inside of a transform nobody knows which.
    which = f" (the leading minor of order {k} is not positive-definite)" if k else ""
    return LinAlgError(
        f"{name}: {words}The factorization could not be completed because the input is not "
        f"positive-definite{which}."
    )


def unconverged(name: str, x: Any) -> LinAlgError:
    """The error of iterations."""
    array = numbers(x)
    if array is not None and not np.isfinite(array).all():
        return LinAlgError(
            f"{name}: The algorithm failed to converge because the input matrix contained "
            f"non-finite values."
        )
    return LinAlgError(
        f"{name}: The algorithm failed to converge because the input matrix is ill-conditioned or "
        f"has too many repeated eigenvalues or singular values."
    )
