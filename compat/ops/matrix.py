"""Products of matrices and vectors, and what is built of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from funcgrad.ops import arithmetic, contract
from funcgrad.ops.select import where

from ..autograd import deferring, printed
from ..autograd.base import TensorBase
from ..autograd.printed_composites import composite
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import record
from ._apply import _type_word, finish, inplace, mismatch, pointwise, requires_grad
from ._elementwise import is_operand
from ._layout import in_order, unsafe_view
from ._operands import convert, dtype_of, is_number, number_for, operand, result_type
from .memory import lies_so
from .pointwise import add, mul

if TYPE_CHECKING:
    from .._tensor import Tensor

Shape = tuple[int, ...]

_WORDS = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def word_of(x: Any) -> str:
    """PyTorch's other name for the dtype of a tensor: that of C++."""
    return _WORDS[dtype_of(x).name]


def _shape(x: Any) -> Shape:
    return tuple(x._array.shape)


# ---------------------------------------------------------------- checks


def _refuse_dtypes(x: Any, y: Any) -> None:
    """
    Raises: RuntimeError: the dtypes differ. NotImplementedError: they are boolean.
    """
    m, n = len(_shape(x)), len(_shape(y))
    if dtype_of(x) is dtype_of(y):
        kernel = _BOOLEAN.get((min(m, 3), min(n, 3)), "bmm")
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for 'Bool'. Convert it first, for example with x.int()."
        )
    a, b = _type_word(dtype_of(x)), _type_word(dtype_of(y))
    if m == n == 1:
        words = f"dot : expected both vectors to have same dtype, but found {a} and {b}"
    elif n == 1:
        words = f"addmv input tensors must have the same dtype, but got {b}, {a}, and {b}"
    elif n > 2:
        words = f"expected scalar type {a} but found {b}"
    else:
        words = f"expected m1 and m2 to have the same dtype, but got: {word_of(x)} != {word_of(y)}"
    raise RuntimeError(f"{words}. {_CONVERT}")


_CONVERT = "Convert one of them, for example with y.to(x.dtype)."

_BOOLEAN = {
    (1, 1): "dot",
    (2, 1): "addmv_impl_cpu",
    (3, 1): "addmv_impl_cpu",
    (1, 2): "addmm_impl_cpu_",
    (2, 2): "addmm_impl_cpu_",
    (3, 2): "addmm_impl_cpu_",
}


def _cannot_multiply(a: Shape, b: Shape) -> RuntimeError:
    """The error for operands of `matmul` whose inner lengths differ."""
    m, n = len(a), len(b)
    rows = math.prod(a[:-1])
    if m == n == 1:
        return RuntimeError(
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same "
            f"number of elements, but got {a[0]} and {b[0]} elements respectively"
        )
    if n == 1:
        return RuntimeError(
            f"size mismatch, got input ({rows}), mat ({rows}x{a[-1]}), vec ({b[0]})"
        )
    if n == 2:
        return RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a[-1]} and {b[0]}x{b[1]})"
        )
    count = math.prod(_lead(a, b))
    return RuntimeError(
        f"Expected size for first two dimensions of batch2 tensor to be: [{count}, {a[-1]}] but got: "
        f"[{count}, {b[-2]}]."
    )


def _lead(a: Shape, b: Shape) -> Shape:
    """The axes before the matrices, broadcast.

    Raises: RuntimeError: they do not broadcast.
    """
    a, b = a[:-2], b[:-2]
    ndim = max(len(a), len(b))
    pairs = zip((1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b, strict=True)
    out = []
    for m, n in pairs:
        if m != n and 1 not in (m, n):
            raise mismatch(a, b)
        out.append(n if m == 1 else m)
    return tuple(out)


def _require_axes(x: Any, n: int, argument: str) -> None:
    found = len(_shape(x))
    if found != n:
        kind = {2: "matrix", 3: "3D tensor"}[n]
        raise RuntimeError(f"{argument} must be a {kind}, got {found}-D tensor")


def finish_typed(
    name: str, result: Any, out: Any, operands: tuple[Any, ...], *, quiet: bool = False
) -> Any:
    """`finish` of functions that write no other dtype than that of the result.

    Raises: RuntimeError: `out` has another dtype.
    """
    if isinstance(out, TensorBase) and dtype_of(out) is not dtype_of(result):
        raise RuntimeError(
            f"Expected out tensor to have dtype {word_of(result)}, but got {word_of(out)} instead"
        )
    return finish(name, result, out, operands, quiet=quiet)


# ---------------------------------------------------------------- matmul


def _node(m: int, n: int) -> str:
    if m <= 2 and n == 1:
        return "MvBackward0" if m == 2 else "DotBackward0"
    if m <= 2 and n == 2:
        return "MmBackward0" if m == 2 else "SqueezeBackward4"
    return "UnsafeViewBackward0"


def _matmul(input: Any, other: Any, node: str | None = None) -> Any:
    x, y = operand("matmul", 1, "input", input), operand("matmul", 2, "other", other)
    a, b = _shape(x), _shape(y)
    if not a or not b:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D"
        )
    if a[-1] != (b[-2] if len(b) > 1 else b[0]):
        raise _cannot_multiply(a, b)
    if len(a) > 2 and len(b) > 2 and a[:-2] != b[:-2]:
        _lead(a, b)
    dtype = x._array.dtype
    if dtype != y._array.dtype or dtype.kind == "b":
        _refuse_dtypes(x, y)
    if len(a) > 2 and len(b) == 2 and lies_so(x):
        return _rows_by_matrix(x, y)
    z = record(contract.matmul, (x, y), None, node or _node(len(a), len(b)))
    return in_order(z) if len(a) > 2 or len(b) > 2 else z


def _rows_by_matrix(x: Any, y: Any) -> Any:
    """The product of all rows of `x`, which lie one after another, as one matrix."""
    *rows, length = _shape(x)
    return unsafe_view(at(x.view(math.prod(rows), length), y), (*rows, _shape(y)[1]))


@printed.product(contract.matmul, "MmBackward0", out=None)
@remembered_of_several
def matmul(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The matrix product; of two vectors their inner product; leading axes broadcast.

    Raises: RuntimeError: the inner lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.matmul(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    return finish_typed("matmul", _matmul(input, other), out, (input, other))


@printed.product(contract.matmul, "MmBackward0")
@deferring.operator
def at(input: Any, other: Any) -> Tensor:
    """The operator ``@``."""
    if not isinstance(other, TensorBase):
        return deferring.answer(matmul, input, other)
    return _matmul(input, other)


def reflected_at(input: Any, other: Any) -> Tensor:
    """``other @ input`` of an array."""
    if is_number(other) or not is_operand(other) or deferring.can_answer(other):
        return deferring.answer(reflected_at, input, other)
    return _matmul(operand("matmul", 1, "input", other), input)


def mm(input: Any, mat2: Any, *, out: Any = None) -> Tensor:
    """The product of two matrices.

    Raises: RuntimeError: they are no matrices, or the inner lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.mm(torch.eye(2), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    x, y = operand("mm", 1, "input", input), operand("mm", 2, "mat2", mat2)
    _require_axes(x, 2, "self")
    _require_axes(y, 2, "mat2")
    if out is None:
        return matmul(x, y)
    return finish_typed("mm", _matmul(x, y), out, (x, y))


@remembered_of_several
def mv(input: Any, vec: Any, *, out: Any = None) -> Tensor:
    """A matrix times a vector.

    Raises: RuntimeError: they are no matrix and vector, or the lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.mv(torch.ones(2, 3), torch.tensor([1.0, 2.0, 3.0]))
    tensor([6., 6.])
    """
    x, y = operand("mv", 1, "input", input), operand("mv", 2, "vec", vec)
    m, n = len(_shape(x)), len(_shape(y))
    if m != 2 or n != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {m}, {n}")
    return finish_typed("mv", _matmul(x, y), out, (x, y))


@remembered_of_several
def bmm(input: Any, mat2: Any, *, out: Any = None) -> Tensor:
    """The products of two batches of matrices.

    Shapes: ``(b, m, k), (b, k, n) -> (b, m, n)``; nothing broadcasts.
    Raises: RuntimeError: they are no batches, or their sizes or dtypes do not fit.

    >>> import compat as torch
    >>> torch.bmm(torch.ones(1, 1, 2), torch.ones(1, 2, 1))
    tensor([[[2.]]])
    """
    x, y = operand("bmm", 1, "input", input), operand("bmm", 2, "mat2", mat2)
    _require_axes(x, 3, "batch1")
    _require_axes(y, 3, "batch2")
    a, b = _shape(x), _shape(y)
    if (a[0], a[2]) != b[:2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but "
            f"got: [{b[0]}, {b[1]}]."
        )
    return finish_typed("bmm", _matmul(x, y, "BmmBackward0"), out, (x, y))


@remembered_of_several
def dot(input: Any, tensor: Any, *, out: Any = None) -> Tensor:
    """The inner product of two vectors, without a conjugate.

    Raises: RuntimeError: they are no vectors, or the lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    x, y = operand("dot", 1, "input", input), operand("dot", 2, "tensor", tensor)
    _require_vectors(x, y)
    return finish_typed("dot", _matmul(x, y), out, (x, y))


def vdot(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The inner product of two vectors, the first conjugated.

    Raises: RuntimeError: they are no vectors, or the lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.vdot(torch.tensor([1j, 2]), torch.tensor([1j, 2]))
    tensor(5.+0.j)
    """
    x, y = operand("vdot", 1, "input", input), operand("vdot", 2, "other", other)
    _require_vectors(x, y)
    return finish_typed("vdot", _matmul(x.conj(), y, "VdotBackward0"), out, (x, y))


def _require_vectors(x: Any, y: Any) -> None:
    m, n = len(_shape(x)), len(_shape(y))
    if m != 1 or n != 1:
        raise RuntimeError(f"1D tensors expected, but got {m}D and {n}D tensors")


def outer(input: Any, vec2: Any, *, out: Any = None) -> Tensor:
    """``x_i y_j``: all products of the elements of two vectors.

    Raises: RuntimeError: they are no vectors.

    >>> import compat as torch
    >>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    return _outer("outer", ("self", "vec2"), input, vec2, out)


def _outer(name: str, arguments: tuple[str, str], x: Any, y: Any, out: Any = None) -> Any:
    x, y = operand(name, 1, "input", x), operand(name, 2, "vec2", y)
    for argument, v in zip(arguments, (x, y), strict=True):
        if len(_shape(v)) != 1:
            raise RuntimeError(
                f"{name}: Expected 1-D argument {argument}, but got {len(_shape(v))}-D"
            )
    return mul(x.unsqueeze(-1), y, out=out)


ger = outer


# ---------------------------------------------------------------- beta x + alpha y z


@printed.binary(arithmetic.add, "AddmmBackward0", "AddmmBackward0", out=None)
def _plus(input: Any, other: Any, *, out: Any = None) -> Any:
    """``input + other``, the end of `addmm`."""
    return pointwise("addmm", arithmetic.add, (input, other), out=out, node="AddmmBackward0")


def _combined(
    name: str, input: Any, product: Any, beta: Any, alpha: Any, out: Any, factors: tuple[Any, Any]
) -> Any:
    """``beta * input + alpha * product``; where `beta` is 0, `input` is not looked at."""
    _require_expandable(input, _shape(product))
    if alpha != 1:
        product = mul(product, _factor(product, alpha))
    if beta == 0:
        result = product
        if requires_grad(input):  # which then has a gradient of zeros
            result = record(where, (False, input, product), None, _combined_node(name))
    else:
        first = input if beta == 1 else mul(input, _factor(product, beta))
        if name == "addmm":
            result = _plus(first, product)
        else:
            result = pointwise(name, arithmetic.add, (first, product), node=_combined_node(name))
    # PyTorch resizes the result of `addbmm` without a warning.
    return finish_typed(name, result, out, (input, *factors), quiet=name == "addbmm")


def _combined_node(name: str) -> str:
    return f"{name.capitalize()}Backward0"


def _factor(x: Any, value: Any) -> Any:
    """`alpha` or `beta` as a number that does not widen: of integers, PyTorch drops what is behind
    the point."""
    return number_for(dtype_of(x), value)


def _require_expandable(x: Any, target: Shape) -> None:
    """
    Raises: RuntimeError: `x` does not broadcast to the shape.
    """
    shape = _shape(x)
    if shape == target:
        return
    n = len(shape)
    if n > len(target) or any(
        m not in (1, t) for m, t in zip(shape, target[len(target) - n :], strict=True)
    ):
        x.expand(target)


def _require_same(name: str, input: Any, x: Any, y: Any) -> None:
    """
    Raises: RuntimeError: the three dtypes are not one.
    """
    dtypes = [dtype_of(t) for t in (input, x, y)]
    if dtypes[0] is dtypes[1] is dtypes[2]:
        return
    a, b, c = map(_type_word, dtypes)
    if name == "addmv":
        words = f"addmv input tensors must have the same dtype, but got {a}, {b}, and {c}"
    elif name == "baddbmm" and a == b:
        words = f"expected scalar type {b} but found {c}"
    elif name == "baddbmm":
        words = (
            f"Input dtypes must be the same, got: input {word_of(input)}, batch1: {word_of(x)}, "
            f"batch2: {word_of(y)}"
        )
    elif a != c:
        words = f"self and mat2 must have the same dtype, but got {a} and {c}"
    else:
        words = f"mat1 and mat2 must have the same dtype, but got {b} and {c}"
    raise RuntimeError(f"{words}. {_CONVERT}")


def addmm(
    input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2``; with ``beta=0`` NaN in `input` are ignored.

    Raises: RuntimeError: the shapes or the dtypes do not fit.

    >>> import compat as torch
    >>> torch.addmm(torch.ones(1), torch.ones(1, 2), torch.ones(2, 1))
    tensor([[3.]])
    """
    x, a, b = _three("addmm", ("input", "mat1", "mat2"), input, mat1, mat2)
    _require_axes(a, 2, "mat1")
    _require_axes(b, 2, "mat2")
    _require_same("addmm", x, a, b)
    return _combined("addmm", x, matmul(a, b), beta, alpha, out, (a, b))


def _three(name: str, arguments: tuple[str, str, str], *xs: Any) -> list[Any]:
    return [operand(name, i + 1, a, x) for i, (a, x) in enumerate(zip(arguments, xs, strict=True))]


def addmv(
    input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """``beta * input + alpha * mat @ vec``; with ``beta=0`` NaN in `input` are ignored.

    Raises: RuntimeError: the shapes or the dtypes do not fit.

    >>> import compat as torch
    >>> torch.addmv(torch.ones(1), torch.ones(1, 2), torch.ones(2), alpha=2)
    tensor([5.])
    """
    x, a, b = _three("addmv", ("input", "mat", "vec"), input, mat, vec)
    n, ndims = _shape(x), [len(_shape(t)) for t in (x, a, b)]
    if ndims[1:] != [2, 1] or ndims[0] > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {', '.join(map(str, ndims))}")
    rows, columns = _shape(a)
    if columns != _shape(b)[0] or (n and n[0] not in (1, rows)):
        raise RuntimeError(
            f"size mismatch, got input ({math.prod(n)}), mat ({rows}x{columns}), vec "
            f"({_shape(b)[0]})"
        )
    _require_same("addmv", x, a, b)
    return _combined("addmv", x, _matmul(a, b), beta, alpha, out, (a, b))


def addr(
    input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``; with ``beta=0`` NaN in `input` are ignored.

    Booleans give "or" and "and".

    Raises: RuntimeError: the shapes do not fit, or a factor is of a higher kind than the tensors.

    >>> import compat as torch
    >>> torch.addr(torch.zeros(1), torch.tensor([1.0]), torch.tensor([3.0, 4.0]))
    tensor([[3., 4.]])
    """
    x, a, b = _three("addr", ("input", "vec1", "vec2"), input, vec1, vec2)
    product = _outer("addr", ("vec1", "vec2"), a, b)
    category = max(dtype_of(x).category, dtype_of(product).category)
    for name, value in (("alpha", alpha), ("beta", beta)):
        if (category and isinstance(value, bool)) or (category < 2 and isinstance(value, float)):
            kind = "boolean" if isinstance(value, bool) else "floating point number"
            raise RuntimeError(f"argument {name} must not be a {kind} here: {value}")
    if category == 0:
        alpha, beta = bool(alpha), bool(beta)
    _require_expandable(x, _shape(product))
    dtype = result_type(x, product)
    x, product = convert(x, dtype), convert(product, dtype)
    return finish("addr", _combined("addr", x, product, beta, alpha, None, (a, b)), out, (x, a, b))


def baddbmm(
    input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``; with ``beta=0`` NaN in `input` are ignored.

    Raises: RuntimeError: the shapes or the dtypes do not fit.

    >>> import compat as torch
    >>> torch.baddbmm(torch.ones(1), torch.ones(1, 1, 2), torch.ones(1, 2, 1))
    tensor([[[3.]]])
    """
    x, a, b = _three("baddbmm", ("input", "batch1", "batch2"), input, batch1, batch2)
    product = _batches("baddbmm", x, a, b)
    return _combined("baddbmm", x, product, beta, alpha, out, (a, b))


def _batches(name: str, x: Any, a: Any, b: Any) -> Any:
    _require_axes(a, 3, "batch1")
    _require_axes(b, 3, "batch2")
    _require_same(name, x, a, b)
    return bmm(a, b)


def addbmm(
    input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """``beta * input + alpha * sum_b (batch1_b @ batch2_b)``; with ``beta=0`` NaN are ignored.

    Raises: RuntimeError: the shapes or the dtypes do not fit.

    >>> import compat as torch
    >>> torch.addbmm(torch.ones(1), torch.ones(3, 1, 2), torch.ones(3, 2, 1))
    tensor([[7.]])
    """
    x, a, b = _three("addbmm", ("input", "batch1", "batch2"), input, batch1, batch2)
    product = _batches("addbmm", x, a, b)
    product = product.sum(0, dtype=dtype_of(product))
    return _combined("addbmm", x, product, beta, alpha, out, (a, b))


def product(x: Any, w: Any, /) -> Any:
    """``x @ w.T`` of two arrays, matrices."""
    return contract.dot_general(x, w, contracting=((1,), (1,)), batch=((), ()))


def _affine(x: Any, w: Any, b: Any, /) -> Any:
    return arithmetic.add(product(x, w), b)


@composite(_affine, "AddmmBackward0", {"x": 2, "w": 2, "b": 1}, fits="b.shape[0] == w.shape[0]")
def linear(input: Any, weight: Any, bias: Any = None, *, out: Any = None) -> Tensor:
    """``input @ weight.T + bias``.

    Shapes: ``(*a, k), (n, k), (n,) -> (*a, n)``.
    Raises: RuntimeError: the lengths or the dtypes differ.

    >>> import compat as torch
    >>> linear(torch.ones(1, 2), torch.ones(3, 2), torch.ones(3))
    tensor([[3., 3., 3.]])
    """
    x, w = operand("linear", 1, "input", input), operand("linear", 2, "weight", weight)
    m, n = len(_shape(x)), len(_shape(w))
    if not m or not n:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {m}D and {n}D"
        )
    if bias is not None:
        bias = operand("linear", 3, "bias", bias)
        _require_axes(w, 2, "mat2")
        _require_same("addmm", bias, x, w)
        if m != 2 and len(_shape(bias)) == 1 and out is None and lies_so(x):
            *rows, length = _shape(x)
            return linear(x.view(math.prod(rows), length), w, bias).view(*rows, _shape(w)[0])
    found = at(x, w.t())
    if bias is not None:
        _require_expandable(bias, _shape(found))
        found = _plus(bias, found) if m == 2 else add(found, bias)
    return finish_typed("linear", found, out, (x, w) if bias is None else (x, w, bias))


class MatrixMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    matmul = matmul
    mm = mm
    mv = mv
    bmm = bmm
    dot = dot
    vdot = vdot
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

    __matmul__ = at
    __rmatmul__ = reflected_at


__all__ = ["addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "dot", "ger", "matmul", "mm"]
__all__ += ["mv", "outer", "vdot"]
