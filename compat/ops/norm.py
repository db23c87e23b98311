"""Norms of vectors and matrices, distances, and renormalising."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from funcgrad.nn.loss_terms import cosine
from funcgrad.ops import reduce as reductions
from funcgrad.ops import structural
from funcgrad.ops.arithmetic import add, subtract
from funcgrad.ops.decompose import svdvals
from funcgrad.ops.linalg import p_norm
from funcgrad.ops.logic import greater
from funcgrad.ops.select import where

from .. import dtypes
from ..autograd.remembered import remembered, remembered_of_several
from ..autograd.tape import record
from ._apply import _type_word, check_broadcast, finish, inplace
from ._axes import axes_of, axis_of
from ._compose import composed, keep
from ._elementwise import narrow
from ._fused import fused
from ._operands import alike, convert, dtype_of, operand, plain_number, promoted
from .pointwise import refuse_bools
from .shape import broadcast_tensors

if TYPE_CHECKING:
    from .._tensor import Tensor

Axes = tuple[int, ...]

# ---------------------------------------------------------------- on arrays


def nuclear_norm(x: Any, /, *, axis: Axes) -> Tensor:
    """The sum of the singular values of the matrices in the two axes of an array."""
    rest = tuple(i for i in range(x.ndim) if i not in axis)
    values = svdvals(structural.transpose(x, axes=rest + axis))
    return structural.sum(values, axis=(values.ndim - 1,))


# ---------------------------------------------------------------- norm, dist


@remembered
def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Any = None,
    dtype: Any = None,
) -> Tensor:
    """``(sum_i |input_i|^p)^(1/p)`` of the elements along `dim`; "fro" is 2, "nuc" the nuclear norm.

    At the zero vector the gradient is 0; elements equal in size share that of the infinite norms.

    Raises: RuntimeError: integers, an unknown order, or the infinite norm of nothing.

    >>> import compat as torch
    >>> torch.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    input = operand("norm", 1, "input", input)
    _require_floats(input)
    x = input
    if dtype is not None:
        x = convert(x, dtypes.as_dtype(dtype))
        if dtypes.promote_types(dtype_of(input), dtype_of(x)) is not dtype_of(x):
            raise RuntimeError(
                f"linalg.vector_norm: the dtype of the input ({_type_word(dtype_of(input))}) should "
                f"be convertible without narrowing to the specified dtype "
                f"({_type_word(dtype_of(x))})"
            )
    axes = axes_of("norm", len(x._array.shape), dim)
    if p == "fro" and isinstance(dim, tuple | list) and len(dim) > 2:
        _require_matrix(axes)
    if p == "nuc":
        _require_matrix(axes)
        y = composed("SumBackward1", nuclear_norm, x, axis=axes)
    elif isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    else:
        y = vector_norm(x, 2 if p in (None, "fro") else p, axes)
    return finish("norm", keep(y, axes, keepdim), out, (input,))


def _require_floats(x: Any) -> None:
    if dtype_of(x).category < 2:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{_type_word(dtype_of(x))}"
        )


def _require_matrix(axes: Axes) -> None:
    if len(axes) != 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, axes))}"
        )


@remembered
def vector_norm(x: Any, p: float, axes: Axes) -> Tensor:
    """The p-norm of a floating or complex tensor along the axes.

    Raises: RuntimeError: the infinite norm of nothing.
    """
    lengths = [x._array.shape[a] for a in axes]
    if math.isinf(p) and 0 in lengths:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p} norm on an empty tensor because the "
            f"operation does not have an identity"
        )
    return _recorded(x, p, axes, "LinalgVectorNormBackward0")


def _recorded(x: Any, p: float, axes: Axes, node: str) -> Any:
    p = plain_number("norm", "p", p)
    if p == 2:
        return record(reductions.norm2, (x,), {"axis": axes}, node)
    return fused(node, p_norm, x, p=p, axis=axes)


def dist(input: Any, other: Any, p: float = 2) -> Tensor:
    """The p-norm of ``input - other``; its gradient is 0 where the two are equal.

    Raises: RuntimeError: integers, or shapes that do not broadcast.

    >>> import compat as torch
    >>> torch.dist(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 0.0]))
    tensor(5.)
    """
    x, y = operand("dist", 1, "input", input), operand("dist", 2, "other", other)
    check_broadcast(x, y)
    refuse_bools(x, y)
    x, y = promoted((x, y))
    if dtype_of(x).category < 2:
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got "
            f"{_type_word(dtype_of(x))} instead."
        )
    d = record(subtract, (x, y), None, "SubBackward0")
    return _recorded(d, p, tuple(range(len(d._array.shape))), "DistBackward0")


@remembered_of_several
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))`` along `dim`.

    Raises: RuntimeError: no floating numbers, or shapes that do not broadcast.

    >>> import compat as torch
    >>> torch.cosine_similarity(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]), dim=0)
    tensor(0.9600)
    """
    x = operand("cosine_similarity", 1, "x1", x1)
    y = operand("cosine_similarity", 2, "x2", x2)
    check_broadcast(x, y)
    x, y = alike(x, y)
    if dtype_of(x).category != 2:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is "
            f"{_type_word(dtype_of(x))}"
        )
    x, y = broadcast_tensors(x, y)
    axes = axes_of("cosine_similarity", len(x._array.shape), dim)
    return narrow(lambda *xy: fused("SumBackward1", cosine, *xy, axis=axes, eps=eps), x, y)


@remembered_of_several
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last axis.

    Raises: RuntimeError: shapes that do not broadcast.

    >>> import compat as torch
    >>> torch.pairwise_distance(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 0.0]))
    tensor(5.0000)
    """
    x = operand("pairwise_distance", 1, "x1", x1)
    y = operand("pairwise_distance", 2, "x2", x2)
    check_broadcast(x, y)
    refuse_bools(x, y)
    x, y = promoted((x, y), floating=True)
    d = record(add, (record(subtract, (x, y)), eps))
    axes = axes_of("pairwise_distance", len(d._array.shape), -1)
    return keep(_recorded(d, p, axes, "NormBackward1"), axes, keepdim)


# ---------------------------------------------------------------- renorm


def _renormed(x: Any, /, *, p: float, axis: int, maxnorm: float) -> Any:
    axes = tuple(i for i in range(x.ndim) if i != axis)
    size = p_norm(x, p=p, axis=axes).reshape(structural.kept(x.shape, axes))
    factor = where(greater(size, maxnorm), maxnorm / (size + 1e-7), 1.0)
    return x * factor


def renorm(input: Any, p: float, dim: int, maxnorm: float, *, out: Any = None) -> Tensor:
    """The slices ``input[i]`` along `dim`, made shorter where their p-norm exceeds `maxnorm`.

    Raises: RuntimeError: fewer than two dimensions, or `p` or `maxnorm` is negative.

    >>> import compat as torch
    >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    x = operand("renorm", 1, "input", input)
    ndim = len(x._array.shape)
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {ndim} dimensions")
    _require_floats(x)
    axis = axis_of(ndim, dim)
    y = composed("RenormBackward0", _renormed, x, p=p, axis=axis, maxnorm=maxnorm)
    return finish("renorm", y, out, (x,))


class NormMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    dist = dist
    norm = norm
    renorm = renorm
    renorm_ = inplace(renorm)


__all__ = ["cosine_similarity", "dist", "norm", "pairwise_distance", "renorm"]
