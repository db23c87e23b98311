"""Products of vectors and matrices, polynomials, convolution.

`precision=` and `preferred_element_type=` are JAX's: products are as precise as their dtype, so the
first changes nothing; the other is what the operands are converted to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, where
from ..ops import contract as _contract
from ..ops import structural as _structural
from ..ops.conv import conv as _conv
from ..ops.einsum import einsum as _einsum
from ..ops.join import pad, roll
from ..ops.sparse import Held, is_sparse, sparse_product
from ._arguments import (
    array_of,
    arrays_of,
    axis_of,
    converted,
    preferred,
    refuse,
    written,
)
from ._ufuncs import with_options
from .ordering import flip, moveaxis
from .shaping import expand_dims, ravel

# ---------------------------------------------------------------- contractions


def matmul(
    x1: Any,
    x2: Any,
    /,
    *out: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
    **options: Any,
) -> Any:
    """``sum_k x1_ik x2_kj`` over the last axis and the second to last; a vector is a row or column.

    One operand may be a sparse matrix of SciPy's, which is a constant; the other has one or two axes.

    Shapes: ``x1: (*a, m, k), x2: (*b, k, n) -> (*broadcast(a, b), m, n)``.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the lengths differ, an operand is 0-d, or the other axes do not broadcast.
    Source: NumPy reference, ``numpy.matmul``.

    >>> matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).tolist()
    [3.0, 7.0]
    """
    if out or options:
        x1, x2 = preferred(preferred_element_type, x1, x2)
        return with_options("matmul", (x1, x2, *out), options)
    try:
        return _contract.matmul(*preferred(preferred_element_type, x1, x2))
    except ArgumentError:
        if not (is_sparse(x1) or is_sparse(x2)):
            raise
        return _sparse_matmul(x1, x2)


def _sparse_matmul(x1: Any, x2: Any) -> Any:
    matrix, other = (x1, x2) if is_sparse(x1) else (x2, x1)
    if is_sparse(other) or len(matrix.shape) != 2 or array_of(other).ndim not in (1, 2):
        shapes = " and ".join(
            f"{'a sparse' if is_sparse(x) else 'an'} array of shape {list(np.shape(x))}"
            for x in (x1, x2)
        )
        raise ShapeError(
            f"matmul: {shapes}; need a sparse matrix and an array of one or two axes{where()}"
        )
    held, x = Held(matrix), array_of(other)
    if matrix is x1:
        return sparse_product(x, matrix=held, transposed=False)
    # x2 is the matrix: its transpose multiplies the columns
    return sparse_product(x.T, matrix=held, transposed=True).T


def dot(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """``sum_k a_ik b_kj``: products over the last axis of `a` and the second to last of `b`.

    Shapes: ``a: (*a, k), b: (*b, k, n) -> (*a, *b, n)``; scalars multiply.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the lengths differ. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.dot``.

    >>> float(dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    if out is not None:
        y = dot(a, b, None, preferred_element_type=preferred_element_type)
        return written("fnp.dot with out=", y, out)
    return _contract.dot(*preferred(preferred_element_type, a, b))


def vdot(
    a: Any,
    b: Any,
    /,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """``sum_k conj(a_k) b_k`` of the flattened arrays.

    Shapes: ``a: (*a), b: (*b) -> ()`` of equal sizes.   Dtypes: numbers.
    Derivative: bilinear over the reals; smooth everywhere.
    Raises: ShapeError: the sizes differ.
    Source: NumPy reference, ``numpy.vdot``.

    >>> complex(vdot([1j, 2.0], [1j, 1.0]))
    (3+0j)
    """
    return _contract.vdot(*preferred(preferred_element_type, a, b))


def inner(
    a: Any,
    b: Any,
    /,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """``sum_k a_ik b_jk``: products over the last axes.

    Shapes: ``a: (*a, k), b: (*b, k) -> (*a, *b)``; scalars multiply.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the lengths differ.
    Source: NumPy reference, ``numpy.inner``.

    >>> inner([[1.0, 2.0]], [3.0, 4.0]).tolist()
    [11.0]
    """
    return _contract.inner(*preferred(preferred_element_type, a, b))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """``a_i b_j`` of the flattened arrays.

    Shapes: ``a: (*a), b: (*b) -> (prod(a), prod(b))``.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.outer``.

    >>> outer([1.0, 2.0], [3.0, 4.0]).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    if out is not None:
        return written("fnp.outer with out=", outer(a, b, None), out)
    return _contract.outer(*arrays_of(a, b))


def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Sum of products over pairs of axes: the last `axes` of `a` with the first `axes` of `b`, or
    ``axes = (axes of a, axes of b)``.

    Shapes: the axes that are left, those of `a` first.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the axes do not exist, or differ in number or in length.
    Source: NumPy reference, ``numpy.tensordot``.

    >>> tensordot(np.ones((2, 3, 4)), np.ones((3, 4, 5))).shape
    (2, 5)
    """
    a, b = preferred(preferred_element_type, a, b)
    return _contract.tensordot(a, b, axes)


def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = "greedy",
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
    **kwargs: Any,
) -> Any:
    """Sums of products by subscripts: ``einsum("ij,jk->ik", a, b)`` is ``a @ b``.

    Takes what NumPy's takes: implicit output, ellipses, repeated letters, and lists of integers in
    place of letters. An ellipsis that the output leaves out is summed over. Every pair of operands
    runs as one matrix product.

    Shapes: as the subscripts say.   Dtypes: numbers; `dtype` converts the operands.
    Derivative: linear in every operand; smooth everywhere.
    Raises: ShapeError: the subscripts are malformed or do not fit. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.einsum``.

    >>> float(einsum("ii", np.eye(3)))
    3.0
    """
    dtype = kwargs.pop("dtype", preferred_element_type)
    kwargs.pop("casting", None)
    kwargs.pop("order", None)
    if getattr(kwargs.get("_dot_general"), "__module__", "") == "funcgrad.lax.products":
        del kwargs["_dot_general"]  # what flax's attention passes, unless it is told otherwise
    if out is not None or kwargs:
        refuse("einsum", out=out, **kwargs)
    labelled = operands and not isinstance(operands[0], str)
    places = range(0, len(operands) - len(operands) % 2, 2) if labelled else range(1, len(operands))
    given = list(operands)
    for i in places:
        given[i] = converted(array_of(given[i]), dtype)
    return _einsum(*given, optimize=optimize)


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: every element of `a` times the whole of `b`, in blocks.

    Shapes: ``a: (m, n), b: (k, l) -> (m k, n l)``.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ArgumentError: an operand is no array.
    Source: NumPy reference, ``numpy.kron``.

    >>> kron([1.0, 10.0], [1.0, 2.0]).tolist()
    [1.0, 2.0, 10.0, 20.0]
    """
    return _contract.kron(*arrays_of(a, b))


def vecdot(
    x1: Any,
    x2: Any,
    /,
    *out: Any,
    axis: int = -1,
    keepdims: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    **options: Any,
) -> Any:
    """``sum_k conj(x1_k) x2_k`` along an axis; the other axes broadcast.

    Shapes: ``x1: (*a, n), x2: (*b, n) -> broadcast(a, b)``.   Dtypes: numbers.
    Derivative: bilinear over the reals; smooth everywhere.
    Raises: ShapeError: the axes differ in length, or the others do not broadcast.
    Source: NumPy reference, ``numpy.vecdot``.

    >>> vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).tolist()
    [3.0, 7.0]
    """
    x1, x2 = preferred(preferred_element_type, x1, x2)
    if out or options:
        axes = {"axis": axis, "keepdims": keepdims}
        return with_options("vecdot", (x1, x2, *out), options | axes)
    y = _contract.vecdot(x1, x2, axis=axis)
    return expand_dims(y, axis) if keepdims else y


def matvec(x1: Any, x2: Any, /, *out: Any, **options: Any) -> Any:
    """``sum_k x1_ik x2_k`` over the last axis; the axes before the matrix broadcast.

    Shapes: ``x1: (*a, m, n), x2: (*b, n) -> (*broadcast(a, b), m)``.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the lengths differ, or the other axes do not broadcast.
    Source: NumPy reference, ``numpy.matvec``.

    >>> matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).tolist()
    [3.0, 7.0]
    """
    if out or options:
        return with_options("matvec", (x1, x2, *out), options)
    x1, x2 = arrays_of(x1, x2)
    if x1.ndim < 2 or x2.ndim < 1:
        raise ShapeError(
            f"fnp.matvec: needs a matrix and a vector, found shapes {list(x1.shape)} and "
            f"{list(x2.shape)}{where()}"
        )
    y = _contract.matmul(x1, _structural.reshape(x2, shape=(*x2.shape, 1)))
    return _structural.reshape(y, shape=y.shape[:-1])


def vecmat(x1: Any, x2: Any, /, *out: Any, **options: Any) -> Any:
    """``sum_k conj(x1_k) x2_kj``; the axes before the matrix broadcast.

    Shapes: ``x1: (*a, n), x2: (*b, n, m) -> (*broadcast(a, b), m)``.   Dtypes: numbers.
    Derivative: bilinear over the reals; smooth everywhere.
    Raises: ShapeError: the lengths differ, or the other axes do not broadcast.
    Source: NumPy reference, ``numpy.vecmat``.

    >>> vecmat([1.0, 1.0], [[1.0, 2.0], [3.0, 4.0]]).tolist()
    [4.0, 6.0]
    """
    if out or options:
        return with_options("vecmat", (x1, x2, *out), options)
    x1, x2 = arrays_of(x1, x2)
    x1 = _contract.conjugated(x1)
    if x1.ndim < 1 or x2.ndim < 2:
        raise ShapeError(
            f"fnp.vecmat: needs a vector and a matrix, found shapes {list(x1.shape)} and "
            f"{list(x2.shape)}{where()}"
        )
    y = _contract.matmul(_structural.expand_dims(x1, axis=(x1.ndim - 1,)), x2)
    return _structural.reshape(y, shape=(*y.shape[:-2], y.shape[-1]))


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The vector product ``(a2 b3 - a3 b2, a3 b1 - a1 b3, a1 b2 - a2 b1)`` along an axis.

    Vectors of a plane have 0 as their third element; of two such only the third element is given.

    Shapes: ``a: (*a, 3), b: (*b, 3) -> (*broadcast(a, b), 3)``; ``(*broadcast(a, b))`` of two 2 long.
    Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: an axis does not exist or is not 2 or 3 long, or the others do not broadcast.
    Source: NumPy reference, ``numpy.cross``.

    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = arrays_of(a, b)
    a = moveaxis(a, axis_of("cross", axisa, a.ndim), -1)
    b = moveaxis(b, axis_of("cross", axisb, b.ndim), -1)
    lengths = a.shape[-1], b.shape[-1]
    if not {*lengths} <= {2, 3}:
        raise ShapeError(
            f"fnp.cross: vectors must have 2 or 3 elements, found {lengths[0]} and {lengths[1]}"
            f"{where()}"
        )
    if lengths == (2, 2):
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (_in_space(x) for x in (a, b))
    a1, a2, b1, b2 = (_turned(x, k) for x in (a, b) for k in (-1, 1))
    out = a1 * b2 - a2 * b1
    return moveaxis(out, -1, axis_of("cross", axisc, out.ndim))


def _in_space(x: Any) -> Any:
    return x if x.shape[-1] == 3 else pad(x, widths=((0, 0),) * (x.ndim - 1) + ((0, 1),))


def _turned(x: Any, k: int) -> Any:
    return roll(x, shift=(k,), axis=(x.ndim - 1,))


# ---------------------------------------------------------------- convolution


def convolve(
    a: Any,
    v: Any,
    mode: str = "full",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """``y_k = sum_i a_i v_(k - i)``; "full", "same" as the longer one, or "valid" overlaps only.

    Shapes: ``(m,), (n,) -> (m + n - 1,)``, ``(max(m, n),)`` or ``(max(m, n) - min(m, n) + 1,)``.
    Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: not two vectors, or one is empty. ArgumentError: an unknown mode.
    Source: NumPy reference, ``numpy.convolve``.

    >>> convolve([1.0, 2.0, 3.0], [0.0, 1.0]).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    a, v = _vectors("convolve", preferred_element_type, a, v)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    return _slide("convolve", a, flip(v), mode)


def correlate(
    a: Any,
    v: Any,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """``y_k = sum_i a_(i + k) conj(v_i)``; the modes are those of `convolve`.

    Shapes: ``(m,), (n,) -> (m + n - 1,)``, ``(max(m, n),)`` or ``(max(m, n) - min(m, n) + 1,)``.
    Dtypes: numbers.
    Derivative: bilinear over the reals; smooth everywhere.
    Raises: ShapeError: not two vectors, or one is empty. ArgumentError: an unknown mode.
    Source: NumPy reference, ``numpy.correlate``.

    >>> correlate([1.0, 2.0, 3.0], [0.0, 1.0]).tolist()
    [2.0, 3.0]
    """
    a, v = _vectors("correlate", preferred_element_type, a, v)
    v = _contract.conjugated(v)
    if v.shape[0] > a.shape[0]:
        return flip(_slide("correlate", v, a, mode))
    return _slide("correlate", a, v, mode)


def _vectors(name: str, dtype: Any, a: Any, v: Any) -> tuple[Any, Any]:
    a, v = (ravel(x) if x.ndim == 0 else x for x in preferred(dtype, a, v))
    if a.ndim != 1 or v.ndim != 1 or not a.shape[0] or not v.shape[0]:
        raise ShapeError(
            f"fnp.{name}: needs two vectors, not empty, found shapes {list(a.shape)} and "
            f"{list(v.shape)}{where()}"
        )
    return a, v


def _slide(name: str, a: Any, v: Any, mode: str) -> Any:
    """``sum_i a_(i + k) v_i`` for `v` not longer than `a`."""
    n = v.shape[0]
    padding = {"full": (n - 1, n - 1), "same": (n // 2, n - 1 - n // 2), "valid": (0, 0)}
    if mode not in padding:
        raise ArgumentError(f"fnp.{name}: mode={mode!r}; need 'full', 'same' or 'valid'{where()}")
    out = _conv(
        _structural.reshape(a, shape=(1, 1, a.shape[0])),
        _structural.reshape(v, shape=(1, 1, n)),
        strides=(1,),
        padding=(padding[mode],),
        lhs_dilation=(1,),
        rhs_dilation=(1,),
        groups=1,
    )
    return _structural.reshape(out, shape=(out.shape[2],))
