"""Norms of vectors and matrices, and the condition number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..ops._apply import _type_word, finish
from ..ops._axes import axes_of, axis_of
from ..ops._compose import composed, keep
from ..ops._operands import convert, dtype_of, in_dtype_of, is_number, operand, plain_number
from ..ops.create import zeros
from ..ops.norm import nuclear_norm
from ..ops.norm import vector_norm as _vector_norm
from .checks import LinAlgError, matrix, require_floats, shape_of, square
from .decompositions import svdvals
from .systems import inv, inv_ex

if TYPE_CHECKING:
    from .._tensor import Tensor


def _converted(name: str, x: Any, dtype: Any, out: Any) -> Any:
    """`x` in the dtype of the computation.

    Raises: RuntimeError: integers, or a dtype that would narrow or is not that of `out`.
    """
    found = dtype_of(x)
    if found.category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {_type_word(found)}"
        )
    if dtype is None:
        return x
    target = dtypes.as_dtype(dtype)
    in_dtype_of(out, target.to_real())
    if (found.category == 3) != (target.category == 3):
        kind = "complex" if found.category == 3 else "real"
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {_type_word(target)}"
        )
    if dtypes.promote_types(found, target) is not target:
        raise RuntimeError(
            f"{name}: the dtype of the input ({_type_word(found)}) should be convertible without "
            f"narrowing to the specified dtype ({_type_word(target)})"
        )
    return convert(x, target)


def vector_norm(
    x: Any,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """``(sum_i |x_i|^ord)^(1/ord)`` along `dim`; over all elements if it is None.

    At the zero vector the gradient is 0; elements equal in size share that of the infinite norms.

    Raises: RuntimeError: integers, or a norm of nothing that does not exist.

    >>> import compat as torch
    >>> torch.linalg.vector_norm(torch.tensor([[3.0, -4.0]]), ord=1, dim=1)
    tensor([7.])
    """
    name = "linalg.vector_norm"
    x = operand("linalg_vector_norm", 1, "x", x)
    ord = plain_number("linalg_vector_norm", "ord", ord)
    if not is_number(ord):
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not "
            f"{type(ord).__name__}"
        )
    y = _converted(name, x, dtype, out)
    axes = axes_of(name, len(shape_of(x)), dim)
    if ord < 0 and 0 in [shape_of(x)[a] for a in axes]:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the "
            f"operation does not have an identity"
        )
    return finish(name, keep(_vector_norm(y, ord, axes), axes, keepdim), out, (x,))


# ---------------------------------------------------------------- matrices

_ORDERS = (1, -1, 2, -2, math.inf, -math.inf)


def matrix_norm(
    A: Any,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """A norm of the matrices in two dimensions.

    "fro" of all elements; "nuc" the sum of the singular values, 2 and -2 the extreme ones; 1 and -1
    the extreme sums of columns, inf and -inf those of rows. Equal extremes share the gradient.

    Raises: RuntimeError: no matrix, integers, or an unknown order.

    >>> import compat as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[1.0, -2.0], [3.0, 4.0]]), ord=1)
    tensor(6.)
    """
    name = "linalg.matrix_norm"
    x = matrix(name, A)
    axes = _two_axes(name, len(shape_of(x)), dim)
    ord = plain_number(name, "ord", ord)
    if ord not in ("fro", "nuc") and (isinstance(ord, str) or ord not in _ORDERS):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    y = _converted(name, x, dtype, out)
    if ord == "fro":
        found = _vector_norm(y, 2, tuple(sorted(axes)))
    else:
        found = _norm_of_order(name, y, ord, axes)
    return finish(name, keep(found, tuple(sorted(axes)), keepdim), out, (x,))


def _two_axes(name: str, ndim: int, dim: Any) -> tuple[int, int]:
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = axis_of(ndim, dim[0]), axis_of(ndim, dim[1])
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return rows, columns


def _norm_of_order(name: str, x: Any, ord: Any, axes: tuple[int, int]) -> Any:
    rows, columns = axes
    if ord in (1, -1, math.inf, -math.inf):
        summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = x.abs().sum(summed)
        return _extreme(sums, kept - (kept > summed), ord > 0)
    require_floats(name, x)
    if ord == "nuc":
        return composed("SumBackward1", nuclear_norm, x, axis=axes)
    return _extreme(svdvals(x.movedim(axes, (-2, -1))), -1, ord > 0)


def _extreme(x: Any, dim: int, largest: bool) -> Any:
    """The largest or the smallest along a dimension; 0 of nothing."""
    if not shape_of(x)[dim]:
        return x.sum(dim)
    return x.amax(dim) if largest else x.amin(dim)


def norm(
    A: Any,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    out: Any = None,
    dtype: Any = None,
) -> Tensor:
    """A norm of matrices (two dimensions) or of vectors (one); the 2-norm of all without `ord`.

    Raises: RuntimeError: more dimensions, integers, or an unknown order.

    >>> import compat as torch
    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    x = operand("linalg_norm", 1, "A", A)
    ndim = len(shape_of(x))
    axes = tuple(dim) if isinstance(dim, tuple | list) else None if dim is None else (dim,)
    if axes is not None and len(axes) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(axes)}"
        )
    if axes is None and isinstance(ord, int | float) and ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{ndim}D."
        )
    if axes is None and isinstance(ord, str) and ndim > 2:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{ndim}D."
        )
    matrices = isinstance(ord, str) or (
        ord is not None and (len(axes) == 2 if axes is not None else ndim == 2)
    )
    if matrices:
        return matrix_norm(x, ord, axes or (-2, -1), keepdim, dtype=dtype, out=out)
    return vector_norm(x, 2 if ord is None else ord, dim, keepdim, dtype=dtype, out=out)


def cond(A: Any, p: Any = None, *, out: Any = None) -> Tensor:
    """The condition number ``|A| |A^-1|`` in a norm; by default the ratio of the singular values.

    Singular matrices give infinity.

    Raises: RuntimeError: no matrix, not square for norms other than 2 and -2, or an unknown norm.

    >>> import compat as torch
    >>> torch.linalg.cond(torch.tensor([[4.0, 0.0], [0.0, 2.0]]))
    tensor(2.)
    """
    x = operand("linalg_cond", 1, "A", A)
    if len(shape_of(x)) < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, "fro", "nuc") and (isinstance(p, str) or p not in _ORDERS):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p not in (None, 2, -2):
        square(f"linalg.cond(ord={p})", x)
    if 0 in shape_of(x)[-2:]:
        found = zeros(shape_of(x)[:-2], dtype=_real(x))
    elif p in (None, 2, -2):
        s = svdvals(x)
        found = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        found = _cond(x, p)
    return finish("linalg.cond", found, out, (x,))


def _real(x: Any) -> Any:
    return dtypes.of(x._array.real.dtype)


def _cond(x: Any, p: Any) -> Any:
    try:
        return matrix_norm(x, p) * matrix_norm(inv(x), p)
    except LinAlgError:
        inverse, info = inv_ex(x)
    found = matrix_norm(x, p) * matrix_norm(inverse.nan_to_num(0.0), p)
    return found.masked_fill(info != 0, math.inf)
