"""Products of matrices and vectors, `einsum`, and what is built of them."""

from __future__ import annotations

from typing import Any

import funcgrad.numpy as fnp
from funcgrad.ops import arithmetic, contract

from ..autograd import printed
from ..autograd.base import TensorBase
from ..autograd.tape import record, through
from ._apply import finish, inplace, pointwise
from ._operands import convert, dtype_of, operand, result_type
from .pointwise import add, mul

_WORDS = {"float32": "float", "float64": "double", "float16": "c10::Half", "int64": "long long"}


def _pair(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors of one dtype.

    Raises: RuntimeError: the dtypes differ.
    """
    a, b = operand(name, 1, "input", x), operand(name, 2, "other", y)
    if dtype_of(a) is not dtype_of(b):
        found = [_WORDS.get(dtype_of(t).name, dtype_of(t).name) for t in (a, b)]
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {found[0]} != {found[1]}"
        )
    return a, b


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x._array.shape)


def _node(m: int, n: int) -> str:
    if m == 1 and n == 1:
        return "DotBackward0"
    if n == 1:
        return "MvBackward0"
    return "MmBackward0" if m == 2 and n == 2 else "BmmBackward0"


def _matmul(name: str, input: Any, other: Any) -> Any:
    x, y = _pair(name, input, other)
    a, b = _shape(x), _shape(y)
    if not a or not b:
        raise RuntimeError(
            f"both arguments to {name} need to be at least 1D, but they are {len(a)}D and {len(b)}D"
        )
    inner = b[-2] if len(b) > 1 else b[0]
    if a[-1] != inner:
        if len(a) == len(b) == 1:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the "
                f"same number of elements, but got {a[0]} and {b[0]} elements respectively"
            )
        if len(a) <= 2 and len(b) <= 2:
            if len(b) == 1:
                raise RuntimeError(
                    f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})"
                )
            rows = f"{a[0]}x{a[1]}" if len(a) == 2 else f"1x{a[0]}"
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({rows} and {b[0]}x{b[1]})"
            )
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[-1]}] but "
            f"got: [{b[0]}, {inner}]."
        )
    return record(contract.matmul, (x, y), None, _node(len(a), len(b)))


@printed.product(contract.matmul, "MmBackward0", out=None)
def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """The matrix product; of two vectors their inner product; leading axes broadcast.

    Raises: RuntimeError: the inner lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.matmul(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    return finish("matmul", _matmul("matmul", input, other), out, (input, other))


@printed.product(contract.matmul, "MmBackward0")
def at(input: Any, other: Any) -> Any:
    """The operator ``@``."""
    if not isinstance(other, TensorBase):
        return NotImplemented
    return _matmul("matmul", input, other)


def reflected_at(input: Any, other: Any) -> Any:
    """``other @ input`` of an array."""
    return _matmul("matmul", operand("matmul", 1, "input", other), input)


def _require_axes(name: str, x: Any, n: int, argument: str = "self") -> None:
    if len(_shape(x)) != n:
        kind = {1: "1D vector", 2: "matrix", 3: "3D tensor"}[n]
        raise RuntimeError(f"{argument} must be a {kind}: {name} got {len(_shape(x))} dimensions")


def mm(input: Any, mat2: Any, *, out: Any = None) -> Any:
    """The product of two matrices.

    >>> import compat as torch
    >>> torch.mm(torch.eye(2), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    _require_axes("mm", operand("mm", 1, "input", input), 2)
    _require_axes("mm", operand("mm", 2, "mat2", mat2), 2, "mat2")
    return finish("mm", _matmul("mm", input, mat2), out, (input, mat2))


def mv(input: Any, vec: Any, *, out: Any = None) -> Any:
    """A matrix times a vector."""
    _require_axes("mv", operand("mv", 1, "input", input), 2)
    _require_axes("mv", operand("mv", 2, "vec", vec), 1, "vec")
    return finish("mv", _matmul("mv", input, vec), out, (input, vec))


def bmm(input: Any, mat2: Any, *, out: Any = None) -> Any:
    """The products of two batches of matrices."""
    _require_axes("bmm", operand("bmm", 1, "input", input), 3, "batch1")
    _require_axes("bmm", operand("bmm", 2, "mat2", mat2), 3, "batch2")
    return finish("bmm", _matmul("bmm", input, mat2), out, (input, mat2))


def dot(input: Any, tensor: Any, *, out: Any = None) -> Any:
    """The inner product of two vectors, without a conjugate.

    >>> import compat as torch
    >>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    for x in (operand("dot", 1, "input", input), operand("dot", 2, "tensor", tensor)):
        if len(_shape(x)) != 1:
            raise RuntimeError(
                f"1D tensors expected, but got {len(_shape(input))}D and {len(_shape(tensor))}D "
                "tensors"
            )
    return finish("dot", _matmul("dot", input, tensor), out, (input, tensor))


def vdot(input: Any, other: Any, *, out: Any = None) -> Any:
    """The inner product of two vectors, the first conjugated."""
    return dot(input.conj(), other, out=out)


def inner(input: Any, other: Any, *, out: Any = None) -> Any:
    """Products summed over the last axes of both."""
    x, y = _pair("inner", input, other)
    if not _shape(x) or not _shape(y):
        return mul(x, y, out=out)
    return finish("inner", through(fnp.inner, x, y), out, (x, y))


def outer(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """All products of the elements of two vectors.

    >>> import compat as torch
    >>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    x, y = operand("outer", 1, "input", input), operand("outer", 2, "vec2", vec2)
    for name, v in (("self", x), ("vec2", y)):
        if len(_shape(v)) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {len(_shape(v))}-D")
    return mul(x.reshape(-1, 1), y, out=out)


ger = outer


def _plus(input: Any, product: Any) -> Any:
    """The last addition of `addmm`, whose node has its name."""
    return pointwise("addmm", arithmetic.add, (input, product), node="AddmmBackward0")


def _combined(
    name: str, input: Any, product: Any, beta: Any, alpha: Any, out: Any, operands: tuple[Any, ...]
) -> Any:
    """``beta * input + alpha * product``."""
    if alpha != 1:
        product = mul(product, alpha)
    if beta == 0:
        result = add(mul(input, 0).expand(_shape(product)), product) if beta else product
    else:
        first = input if beta == 1 else mul(input, beta)
        result = _plus(first, product) if name == "addmm" else add(first, product)
    return finish(name, result, out, operands)


def addmm(
    input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """``beta * input + alpha * mat1 @ mat2``.

    >>> import compat as torch
    >>> torch.addmm(torch.ones(1), torch.ones(1, 2), torch.ones(2, 1))
    tensor([[3.]])
    """
    return _combined("addmm", input, mm(mat1, mat2), beta, alpha, out, (input, mat1, mat2))


def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """``beta * input + alpha * mat @ vec``."""
    return _combined("addmv", input, mv(mat, vec), beta, alpha, out, (input, mat, vec))


def addr(
    input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """``beta * input + alpha * outer(vec1, vec2)``."""
    return _combined("addr", input, outer(vec1, vec2), beta, alpha, out, (input, vec1, vec2))


def baddbmm(
    input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """``beta * input + alpha * batch1 @ batch2``."""
    product = bmm(batch1, batch2)
    return _combined("baddbmm", input, product, beta, alpha, out, (input, batch1, batch2))


def addbmm(
    input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """``beta * input + alpha * sum of batch1 @ batch2``."""
    product = bmm(batch1, batch2).sum(0)
    return _combined("addbmm", input, product, beta, alpha, out, (input, batch1, batch2))


def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """The product of several matrices, in the cheapest order."""
    return finish("chain_matmul", through(fnp.linalg.multi_dot, matrices), out, matrices)


def einsum(*args: Any) -> Any:
    """Sums of products by Einstein's convention.

    >>> import compat as torch
    >>> torch.einsum("ij,j->i", torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    if len(args) == 2 and isinstance(args[1], tuple | list):
        args = (args[0], *args[1])
    if isinstance(args[0], str):
        return through(fnp.einsum, args[0].replace(" ", ""), *args[1:])
    return through(fnp.einsum, *args)


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """Products summed over the axes `dims` of both.

    >>> import compat as torch
    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3), dims=1)
    tensor([3., 3.])
    """
    x, y = _pair("tensordot", a, b)
    return finish("tensordot", through(fnp.tensordot, x, y, axes=dims), out, (x, y))


def kron(input: Any, other: Any, *, out: Any = None) -> Any:
    """The Kronecker product.

    >>> import compat as torch
    >>> torch.kron(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    tensor([1., 1., 2., 2.])
    """
    dtype = result_type(input, other)
    x, y = convert(input, dtype), convert(other, dtype)
    return finish("kron", through(fnp.kron, x, y), out, (input, other))


def cross(input: Any, other: Any, dim: int | None = None, *, out: Any = None) -> Any:
    """The cross product of vectors of three elements, along `dim`."""
    axis = dim
    if axis is None:
        axis = next((i for i, n in enumerate(_shape(input)) if n == 3), -1)
    return finish("cross", through(fnp.cross, input, other, axis=axis), out, (input, other))


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``.

    >>> import compat as torch
    >>> linear(torch.ones(1, 2), torch.ones(3, 2), torch.ones(3))
    tensor([[3., 3., 3.]])
    """
    product = matmul(input, weight.t())
    if bias is None:
        return product
    return _plus(bias, product) if len(_shape(input)) == 2 else add(product, bias)


class MatrixMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    matmul = matmul
    mm = mm
    mv = mv
    bmm = bmm
    dot = dot
    vdot = vdot
    inner = inner
    outer = outer
    ger = outer
    addmm = addmm
    addmm_ = inplace(addmm)
    addmv = addmv
    addmv_ = inplace(addmv)
    addr = addr
    addr_ = inplace(addr)
    baddbmm = baddbmm
    baddbmm_ = inplace(baddbmm)
    addbmm = addbmm
    addbmm_ = inplace(addbmm)
    kron = kron
    cross = cross

    __matmul__ = at
    __rmatmul__ = reflected_at


__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "chain_matmul",
    "cross",
    "dot",
    "einsum",
    "ger",
    "inner",
    "kron",
    "matmul",
    "mm",
    "mv",
    "outer",
    "tensordot",
    "vdot",
]
