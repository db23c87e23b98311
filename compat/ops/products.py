"""Sums of products over named axes: `einsum`, `inner`, `tensordot`; chains, `kron` and `cross`."""

from __future__ import annotations

import functools
import itertools
import string
from typing import TYPE_CHECKING, Any

import funcgrad.numpy as fnp

from .. import dtypes
from ..autograd.base import TensorBase
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import through
from ._apply import _type_word, check_broadcast, finish
from ._axes import axis_of
from ._compose import composed, not_implemented
from ._layout import in_order, sole
from ._operands import alike, convert, dtype_of, operand
from .matrix import dot, finish_typed, word_of
from .pointwise import add, mul

if TYPE_CHECKING:
    from .._tensor import Tensor

Shape = tuple[int, ...]


def _shape(x: Any) -> Shape:
    return tuple(x._array.shape)


# ---------------------------------------------------------------- einsum


@remembered_of_several
def einsum(*args: Any) -> Tensor:
    """Sums of products by Einstein's convention: an axis per letter, summed if not in the output.

    Takes ``einsum("ij,jk->ik", x, y)`` and ``einsum(x, [0, 1], y, [1, 2], [0, 2])``; `...` stands for
    any further axes, which broadcast.

    Raises: RuntimeError: the subscripts do not fit the operands. ValueError: there are no operands.

    >>> import compat as torch
    >>> torch.einsum("ij,j->i", torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    equation, xs = _equation(args)
    if len(xs) == 1 and isinstance(xs[0], tuple | list):
        xs = tuple(xs[0])
    if not xs:
        raise ValueError("einsum(): must specify the equation string and at least one operand")
    for i, x in enumerate(xs):
        if not isinstance(x, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {_kind(x)}")
    equation, extra = _checked(equation, tuple(map(_shape, xs)))
    if len(xs) > 1:
        _require_numbers(xs)
    elif dtype_of(xs[0]).category < 2 and _sums(equation):
        xs = (convert(xs[0], dtypes.int64),)
    if len(xs) == 1:
        out = through(fnp.einsum, equation, *xs)
    else:
        out = composed("ViewBackward0", fnp.einsum, equation, *xs)
    return out.sum(tuple(range(extra))) if extra else out


def _kind(x: Any) -> str:
    return type(x).__name__


def _sums(equation: str) -> bool:
    terms, _, output = equation.partition("->")
    return set(terms) != set(output)


def _require_numbers(xs: tuple[Any, ...]) -> None:
    first = dtype_of(xs[0])
    for x in xs[1:]:
        if dtype_of(x) is not first:
            raise RuntimeError(
                f"expected scalar type {_type_word(first)} but found {_type_word(dtype_of(x))}"
            )
    if first.category == 0:
        raise not_implemented("bmm", xs[0])


_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _equation(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation, in letters, and the operands, from either form of call."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    if isinstance(args[0], str):
        return args[0].replace(" ", ""), args[1:]
    count = len(args) // 2
    terms = ",".join(_term(args[2 * i + 1]) for i in range(count))
    output = f"->{_term(args[-1])}" if len(args) % 2 else ""
    return terms + output, args[: 2 * count : 2]


def _term(sublist: Any) -> str:
    term = ""
    for k in sublist:
        if k is Ellipsis:
            term += "..."
            continue
        if not 0 <= k < len(_LETTERS):
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52)"
            )
        term += _LETTERS[k]
    return term


@functools.lru_cache(maxsize=1024)
def _checked(equation: str, shapes: tuple[Shape, ...]) -> tuple[str, int]:
    """The equation as funcgrad takes it, and how many leading axes of its result are to be summed.

    PyTorch sums the axes of an ellipsis that is not in the output.
    Raises: RuntimeError: the subscripts do not fit the shapes.
    """
    inputs, arrow, output = equation.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        which = "fewer" if len(shapes) < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {which} operands were provided than specified in the equation: {len(terms)} "
            f"terms in {equation!r}, {len(shapes)} operands"
        )
    sizes: dict[str, int] = {}
    dots: list[int] = []  # the lengths of the axes of ellipses, from the last to the first
    place = 0
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        _check_term(_labels(term, i, place), shape, i, sizes, dots)
        place += len(term) + 1
    if not arrow:
        return equation, 0
    names = _labels(output, len(terms), place + 1)
    for k in names:
        if k != "..." and k not in sizes:
            raise RuntimeError(
                f"einsum(): output subscript {k} does not appear in the equation for any input "
                f"operand"
            )
        if names.count(k) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {k} appears more than once in the output"
            )
    if dots and "..." not in names:
        return f"{inputs}->...{output}", len(dots)
    return equation, 0


def _labels(term: str, operand: int, place: int) -> list[str]:
    """The letters and the ellipsis of a term that starts at `place` of the equation."""
    found: list[str] = []
    i = 0
    while i < len(term):
        label = term[i]
        if label == ".":
            if not term.startswith("...", i):
                raise RuntimeError(
                    f"einsum(): found '.' for operand {operand} that is not part of any ellipsis"
                )
            if "..." in found:
                raise RuntimeError(
                    f"einsum(): found '.' for operand {operand} for which an ellipsis was already "
                    f"found"
                )
            label = "..."
        elif label not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {place + i} in the equation string, "
                f"subscripts must be in [a-zA-Z]"
            )
        found.append(label)
        i += len(label)
    return found


def _check_term(
    labels: list[str], shape: Shape, operand: int, sizes: dict[str, int], dots: list[int]
) -> None:
    """Note the lengths that the axes of an operand give to the letters and to the ellipsis.

    Raises: RuntimeError: they contradict what is known.
    """
    count = len(labels) - ("..." in labels)
    extra = len(shape) - count
    if extra < 0 or (extra and "..." not in labels):
        words = "is more than" if "..." in labels else "does not match"
        end = "" if "..." in labels else " and no ellipsis was given"
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({count}) {words} the number of "
            f"dimensions ({len(shape)}) for operand {operand}{end}"
        )
    mine: dict[str, int] = {}
    axis = 0
    for k in labels:
        if k == "...":
            _check_dots(shape[axis : axis + extra], operand, dots)
            axis += extra
            continue
        n = shape[axis]
        axis += 1
        if mine.setdefault(k, n) != n:
            raise RuntimeError(
                f"einsum(): subscript {k} is repeated for operand {operand} but the sizes don't "
                f"match, {n} != {mine[k]}"
            )
        seen = sizes.get(k, 1)
        if n != seen and 1 not in (n, seen):
            raise RuntimeError(
                f"einsum(): subscript {k} has size {n} for operand {operand} which does not "
                f"broadcast with previously seen size {seen}"
            )
        sizes[k] = n if seen == 1 else seen


def _check_dots(lengths: Shape, operand: int, dots: list[int]) -> None:
    for i, n in enumerate(reversed(lengths)):
        if i == len(dots):
            dots.append(n)
        elif n != dots[i] and 1 not in (n, dots[i]):
            raise RuntimeError(
                f"einsum(): dimension {len(lengths) - 1 - i} covered by ellipsis in operand "
                f"{operand} has size {n} which does not broadcast with previously seen ellipsis "
                f"with size {dots[i]} for the respective dimension"
            )
        elif dots[i] == 1:
            dots[i] = n


# ---------------------------------------------------------------- inner, tensordot


def inner(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``sum_k x_ik y_jk``: products summed over the last axes of both; a scalar multiplies.

    Raises: RuntimeError: the last lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.inner(torch.ones(2, 3), torch.tensor([1.0, 2.0, 3.0]))
    tensor([6., 6.])
    """
    x, y = operand("inner", 1, "input", input), operand("inner", 2, "other", other)
    a, b = _shape(x), _shape(y)
    if not a or not b:
        return mul(x, y, out=out)
    if a[-1] != b[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a)} "
            f"and {list(b)}"
        )
    if len(a) == len(b) == 1:
        return dot(x, y, out=out)
    require_one_dtype(x, y)
    return finish_typed("inner", composed("ViewBackward0", fnp.inner, x, y), out, (x, y))


def require_one_dtype(x: Any, y: Any) -> None:
    """
    Raises: RuntimeError: the dtypes differ. NotImplementedError: they are boolean.
    """
    a, b = dtype_of(x), dtype_of(y)
    if a is not b:
        raise RuntimeError(
            f"both inputs should have same dtype, but they have {_type_word(a)} and {_type_word(b)}"
        )
    if a.category == 0:
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Tensor:
    """Products summed over the last `dims` axes of `a` with the first of `b`, or over pairs of axes.

    Shapes: the axes that are left, those of `a` first.   An axis of length 1 broadcasts.
    Raises: RuntimeError: the axes differ in number or in length, or the dtypes differ.

    >>> import compat as torch
    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3), dims=1)
    tensor([3., 3.])
    """
    x, y = operand("tensordot", 1, "a", a), operand("tensordot", 2, "b", b)
    x_axes, y_axes = _paired_axes(_shape(x), _shape(y), dims)
    require_one_dtype(x, y)
    left, right = x, y
    for i, j in zip(x_axes, y_axes, strict=True):
        m, n = _shape(x)[i], _shape(y)[j]
        if m == n:
            continue
        if 1 not in (m, n):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {i} and second "
                f"has size {n} in dim {j}"
            )
        if m == 1:
            right = right.sum(j, keepdim=True, dtype=dtype_of(y))
        else:
            left = left.sum(i, keepdim=True, dtype=dtype_of(x))
    found = composed("ViewBackward0", fnp.tensordot, left, right, axes=(x_axes, y_axes))
    return finish_typed("tensordot", found, out, (x, y))


def _paired_axes(a: Shape, b: Shape, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, TensorBase):
        dims = dims._array.tolist()
    if isinstance(dims, tuple | list):
        x_axes, y_axes = dims
        if isinstance(x_axes, int) or isinstance(y_axes, int):
            raise TypeError(
                "tensordot(): argument 'dims_self' (position 3) must be tuple of ints, not int"
            )
        if len(x_axes) != len(y_axes):
            raise RuntimeError("both dimension lists should have same length")
        return _axes(len(a), x_axes), _axes(len(b), y_axes)
    if not isinstance(dims, int):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(len(a), len(b)):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(len(a) - dims, len(a))), list(range(dims))


def _axes(ndim: int, dims: Any) -> list[int]:
    axes = [axis_of(ndim, d) for d in dims]
    for k in axes:
        if axes.count(k) > 1:
            raise RuntimeError(f"dim {k} appears multiple times in the list of dims")
    return axes


# ---------------------------------------------------------------- kron, cross


@remembered_of_several
def kron(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The Kronecker product: every element of `input` times the whole of `other`, in blocks.

    >>> import compat as torch
    >>> torch.kron(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    tensor([1., 1., 2., 2.])
    """
    x, y = operand("kron", 1, "input", input), operand("kron", 2, "other", other)
    found = composed("UnsafeViewBackward0", fnp.kron, *alike(x, y))
    return finish("kron", sole(found), out, (x, y))


@remembered_of_several
def cross(input: Any, other: Any, dim: int | None = None, *, out: Any = None) -> Tensor:
    """The vector product ``(x2 y3 - x3 y2, x3 y1 - x1 y3, x1 y2 - x2 y1)`` along `dim`.

    Without `dim`, along the first dimension of length 3; the others broadcast.

    Raises: RuntimeError: the axis is not 3 long, or the shapes or dtypes do not fit.

    >>> import compat as torch
    >>> torch.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]), dim=0)
    tensor([0., 0., 1.])
    """
    x, y = operand("cross", 1, "input", input), operand("cross", 2, "other", other)
    if dim is None:
        dim = next((i for i, n in enumerate(_shape(x)) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return crossed(x, y, dim, out)


def crossed(x: Any, y: Any, dim: int, out: Any) -> Any:
    """`cross` of tensors along an axis that is given."""
    a, b = _shape(x), _shape(y)
    if len(a) != len(b):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = axis_of(len(a), dim)
    if a[axis : axis + 1] != (3,) or b[axis] != 3:
        found = "scalars" if not a else f"{a[axis]} and {b[axis]}"
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {found}")
    check_broadcast(x, y)
    if dtype_of(x) is not dtype_of(y):
        raise RuntimeError(
            f"expected scalar type {_type_word(dtype_of(x))} but found {_type_word(dtype_of(y))}"
        )
    if dtype_of(x).category == 0:
        raise not_implemented("cross", x)
    found = composed("LinalgCrossBackward0", fnp.cross, x, y, axis=axis)
    return finish_typed("cross", in_order(sole(found)), out, (x, y))


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Tensor:
    """``y_o = sum_ij x1_i W_oij x2_j + bias_o``.

    Shapes: ``(*a, m), (*a, n), (k, m, n), (k,) -> (*a, k)``.
    Raises: RuntimeError: the shapes or the dtypes do not fit.

    >>> import compat as torch
    >>> torch.bilinear(torch.ones(2), torch.ones(3), torch.ones(1, 2, 3))
    tensor([6.])
    """
    x, y = operand("bilinear", 1, "input1", input1), operand("bilinear", 2, "input2", input2)
    w = operand("bilinear", 3, "weight", weight)
    a, b, c = _shape(x), _shape(y), _shape(w)
    if len(a) != len(b):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(a)} and {len(b)}")
    for i, (m, n) in enumerate(zip(a[:-1], b[:-1], strict=True)):
        if m != n:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {i}: got {m} and {n}"
            )
    for k, found in ((1, a[-1]), (2, b[-1])):
        needed = c[axis_of(len(c), k)]
        if found != needed:
            raise RuntimeError(
                f"bilinear(): input{k} size does not match weight size: got {found} but expected "
                f"{needed}"
            )
    if bias is not None and _shape(bias)[0] != c[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {_shape(bias)[0]} but expected "
            f"{c[0]}"
        )
    result = einsum("...i,oij,...j->...o", x, w, y)
    return result if bias is None else add(result, bias)


# ---------------------------------------------------------------- chains of matrices


def chain_matmul(*matrices: Any, out: Any = None) -> Tensor:
    """The product of one or several matrices, in the cheapest order.

    Raises: RuntimeError: one is no matrix, or the inner lengths or the dtypes differ.

    >>> import compat as torch
    >>> torch.chain_matmul(torch.ones(1, 2), torch.ones(2, 3), torch.ones(3, 1))
    tensor([[6.]])
    """
    if len(matrices) == 1 and isinstance(matrices[0], tuple | list):
        matrices = tuple(matrices[0])
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for i, m in enumerate(matrices, 1):
        if len(_shape(operand("chain_matmul", i, "matrices", m))) != 2:
            raise RuntimeError(f"Tensor dimension is {len(_shape(m))}, expected 2 instead.")
    if len(matrices) == 1:
        return finish("chain_matmul", matrices[0].clone(), out, matrices)
    return multi_dot(matrices, out=out)


def multi_dot(tensors: Any, *, out: Any = None) -> Tensor:
    """The product of two or more matrices, in the cheapest order; vectors may be at the ends.

    Raises: RuntimeError: fewer than two, or the shapes or dtypes do not fit.

    >>> import compat as torch
    >>> torch.linalg.multi_dot([torch.ones(2), torch.ones(2, 3), torch.ones(3)])
    tensor(6.)
    """
    xs = [operand("multi_dot", 1, "tensors", x) for x in tensors]
    if len(xs) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(xs)}")
    _check_chain(xs)
    found = composed("ViewBackward0", fnp.linalg.multi_dot, xs)
    if out is not None and dtype_of(out) is not dtype_of(found):
        raise RuntimeError(
            f"multi_dot(): expected out tensor to have dtype {word_of(found)} but got {word_of(out)}"
        )
    return finish("multi_dot", found, out, tuple(xs))


def _check_chain(xs: list[Any]) -> None:
    last = len(xs) - 1
    for i, x in enumerate(xs):
        n = len(_shape(x))
        if i in (0, last):
            if n not in (1, 2):
                which = "first" if i == 0 else "last"
                raise RuntimeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {n}D")
        elif n != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {n}D")
        if dtype_of(x) is not dtype_of(xs[0]):
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{word_of(xs[0])} and tensor {i} {word_of(x)}"
            )
    for i, (x, y) in enumerate(itertools.pairwise(xs)):
        a, b = _shape(x), _shape(y)
        if a[-1] != b[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a)} and {list(b)} cannot "
                f"be multiplied"
            )


class ProductsMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    cross = cross
    inner = inner
    kron = kron


__all__ = ["bilinear", "chain_matmul", "cross", "einsum", "inner", "kron", "tensordot"]
