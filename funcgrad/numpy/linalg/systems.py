"""Systems of linear equations, inverses, determinants."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...algebra import concrete_namespace
from ...core import Tracer
from ...errors import ArgumentError, ShapeError, where
from ...ops import linalg as _linalg
from ...ops import structural as _structural
from ...ops.contract import matmul
from ...ops.reduce import norm2 as _norm2
from .._arguments import array_of, concrete, converted
from ..ordering import moveaxis
from ..searching import count_nonzero as _count_nonzero
from ..shaping import ravel
from .decompositions import svdvals


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Any
    logabsdet: Any


# ---------------------------------------------------------------- systems of equations


def solve(a: Any, b: Any) -> Any:
    """``x`` with ``a x = b``; `b` is a vector if it has one axis, else a stack of matrices.

    Shapes: ``a: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``a^-1 (db - da x)``; smooth wherever `a` is regular.
    Raises: LinAlgError: `a` is singular. ShapeError: the shapes do not fit.
    Source: NumPy reference, ``numpy.linalg.solve``.

    >>> solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    return _linalg.solve(array_of(a), array_of(b))


def inv(a: Any) -> Any:
    """``a^-1``.

    Shapes: ``a: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``-a^-1 da a^-1``; smooth wherever `a` is regular.
    Raises: LinAlgError: `a` is singular.
    Source: NumPy reference, ``numpy.linalg.inv``.

    >>> inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return _linalg.inv(array_of(a))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The pseudo-inverse; singular values below `rcond` (or `rtol`) times the largest count as 0.

    Shapes: ``a: (*a, m, n) -> (*a, n, m)``.   Dtypes: floating, complex; integers give float64.
    Derivative: where the rank is constant; the pseudo-inverse jumps where it is not.
    Raises: ArgumentError: `rcond` is no number, or both it and `rtol` are given.
    Source: NumPy reference, ``numpy.linalg.pinv``.

    >>> pinv([[2.0], [0.0]]).tolist()
    [[0.5, 0.0]]
    """
    if rcond is not None and rtol is not None:
        raise ArgumentError(f"fnp.linalg.pinv: rcond= and rtol= are the same; give one{where()}")
    cut = rcond if rtol is None else rtol
    cut = 1e-15 if cut is None else concrete("linalg.pinv", "rcond", cut)
    if np.ndim(cut):
        raise ArgumentError(f"fnp.linalg.pinv: rcond must be one number{where()}")
    return _linalg.pinv(array_of(a), rcond=float(cut))


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """The smallest ``x`` that minimises ``|a x - b|``, ``|a x - b|^2``, the rank, singular values.

    Computed with the pseudo-inverse. The squares are empty, as in NumPy, unless `a` is tall and has
    full rank; it counts as having it while its numbers are not known (`vmap`, `make_jaxpr`).

    Shapes: ``a: (m, n), b: (m, k) -> (n, k), (k,), (), (min(m, n),)``, or ``b: (m,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: where the rank is constant.
    Raises: ShapeError: the shapes do not fit.
    Source: NumPy reference, ``numpy.linalg.lstsq``.

    >>> lstsq([[1.0], [1.0]], [1.0, 3.0])[0].round(6).tolist()
    [2.0]
    """
    a, b = array_of(a), array_of(b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ShapeError(
            f"fnp.linalg.lstsq: a of shape {list(a.shape)} and b of shape {list(b.shape)}; need a "
            f"matrix and a vector or matrix with as many rows{where()}"
        )
    m, n = a.shape
    s = svdvals(a)
    if rcond is None:
        rcond = max(m, n) * float(np.finfo(s.dtype).eps)
    x = matmul(pinv(a, rcond), b)
    rank: Any = _count_nonzero(s > rcond * s[0]) if s.shape[0] else array_of(0)
    rank = converted(rank, np.intc)
    full = isinstance(rank, Tracer) or int(rank) == n
    left = _structural.reshape(b, shape=(m, math.prod(b.shape[1:])))
    if m > n and full:
        off = left - _structural.reshape(matmul(a, x), shape=left.shape)
        squares = _norm2(off, axis=(0,)) ** 2
    else:
        squares = concrete_namespace(s).zeros((0,), s.dtype)
    return x, squares, rank, s


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """``x`` with ``tensordot(a, x, x.ndim) = b``, after moving `axes` of `a` to the end.

    Shapes: ``a: (*b, *x), b: (*b) -> (*x)`` with ``prod(b) == prod(x)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of `solve`.
    Raises: LinAlgError: singular. ShapeError: the shapes do not fit.
    Source: NumPy reference, ``numpy.linalg.tensorsolve``.

    >>> tensorsolve(2.0 * np.eye(4).reshape(2, 2, 2, 2), np.ones((2, 2))).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    a, b = array_of(a), array_of(b)
    for axis in () if axes is None else axes:
        a = moveaxis(a, axis, -1)
    rest = a.shape[b.ndim :]
    if math.prod(a.shape) != math.prod(rest) ** 2 or b.size != math.prod(rest):
        raise ShapeError(
            f"fnp.linalg.tensorsolve: a of shape {list(a.shape)} and b of shape {list(b.shape)} make "
            f"no square system{where()}"
        )
    square = _structural.reshape(a, shape=(b.size, b.size))
    return _structural.reshape(solve(square, ravel(b)), shape=rest)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of ``x -> tensordot(a, x, ind)``.

    Shapes: ``a: (*p, *q) -> (*q, *p)`` with `ind` axes in p and ``prod(p) == prod(q)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of `inv`.
    Raises: LinAlgError: singular. ShapeError: not square. ArgumentError: `ind` is not positive.
    Source: NumPy reference, ``numpy.linalg.tensorinv``.

    >>> tensorinv(2.0 * np.eye(4).reshape(2, 2, 2, 2)).shape
    (2, 2, 2, 2)
    """
    a = array_of(a)
    if ind <= 0:
        raise ArgumentError(f"fnp.linalg.tensorinv: ind={ind}; need 1 or more{where()}")
    rows, columns = a.shape[:ind], a.shape[ind:]
    n = math.prod(rows)
    if n != math.prod(columns):
        raise ShapeError(
            f"fnp.linalg.tensorinv: the first {ind} axes of shape {list(a.shape)} have {n} elements, "
            f"the others {math.prod(columns)}{where()}"
        )
    return _structural.reshape(inv(_structural.reshape(a, shape=(n, n))), shape=columns + rows)


# ---------------------------------------------------------------- determinants


def det(a: Any) -> Any:
    """The determinant.

    Shapes: ``a: (*a, n, n) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``sum_ij c_ij da_ij`` with the cofactors c; right for singular matrices too.
    Raises: ShapeError: `a` is not square (while traced; LinAlgError otherwise).
    Source: NumPy reference, ``numpy.linalg.det``.

    >>> round(float(det([[2.0, 1.0], [0.0, 4.0]])), 6)
    8.0
    """
    return _linalg.det(array_of(a))


def slogdet(a: Any, *, method: Any = None) -> SlogdetResult:
    """The sign and the logarithm of the absolute value of the determinant. `method` changes nothing.

    Shapes: ``a: (*a, n, n) -> (*a), (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``Re tr(a^-1 da)`` of the logarithm; LinAlgError where `a` is singular.
    Raises: ShapeError: `a` is not square (while traced; LinAlgError otherwise).
    Source: NumPy reference, ``numpy.linalg.slogdet``.

    >>> [round(float(x), 4) for x in slogdet([[-2.0, 0.0], [0.0, 4.0]])]
    [-1.0, 2.0794]
    """
    return SlogdetResult(*_linalg.slogdet(array_of(a)))
