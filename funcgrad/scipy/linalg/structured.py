"""Matrices with a structure, made of vectors or of blocks."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy import fft as _fft
from ...numpy._arguments import array_of, converted, fresh
from ...numpy.shaping import atleast_2d
from ...ops.contract import conjugated
from ...ops.index import FULL, Slice, getitem, take
from ...ops.join import concatenate, pad
from ...ops.structural import diagonal_embed, expand_dims, flip, reshape
from .._arrays import floating
from ._matrices import filled, matrix, vectors


def _table(x: Any, places: Any) -> Any:
    """The elements of vectors, the last axis, at a table of places."""
    return take(x, concrete_namespace(x).asarray(places), axis=x.ndim - 1)


def _promoted(*xs: Any) -> list[Any]:
    dtype = np.result_type(*(aval_of(x).dtype for x in xs))
    return [converted(x, dtype) for x in xs]


def _both_ends(c: Any, r: Any) -> Any:
    """``c`` and what follows the first element of ``r``, in one vector; leading axes broadcast."""
    c, r = _promoted(c, r)
    lead = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    rest = getitem(r, index=(*[FULL] * (r.ndim - 1), Slice(1, max(r.shape[-1], 1), 1)))
    zero = concrete_namespace(c).zeros((*lead, 1), c.dtype)
    if lead != c.shape[:-1] or lead != rest.shape[:-1]:
        c, rest = c + zero, rest + zero
    return concatenate(c, rest, axis=len(lead))


def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrices with ``c_(i-j)`` on and below the diagonal and ``r_(j-i)`` above it.

    Without `r`, the conjugate of `c`; the first element of `r` does not count.

    Shapes: ``c: (*a, m), r: (*b, n) -> (*broadcast(a, b), m, n)``.   Dtypes: all.
    Derivative: linear; the cotangents along every diagonal are summed.
    Raises: ShapeError: an argument has no axis.
    Source: SciPy reference, ``scipy.linalg.toeplitz``.

    >>> toeplitz([1.0, 2.0], [0.0, 3.0]).tolist()
    [[1.0, 3.0], [2.0, 1.0]]
    """
    c = vectors("toeplitz", c)
    r = conjugated(c) if r is None else vectors("toeplitz", r)
    m, n = c.shape[-1], r.shape[-1]
    below = np.arange(m)[:, None] - np.arange(n)
    return _table(_both_ends(c, r), np.where(below >= 0, below, m - 1 - below))


def hankel(c: Any, r: Any = None) -> Any:
    """The matrices with ``c_(i+j)``, and beyond its end what follows the first element of `r`.

    Without `r`, zeros.

    Shapes: ``c: (*a, m), r: (*b, n) -> (*broadcast(a, b), m, n)``.   Dtypes: all.
    Derivative: linear; the cotangents along every antidiagonal are summed.
    Raises: ShapeError: an argument has no axis.
    Source: SciPy reference, ``scipy.linalg.hankel``.

    >>> hankel([1.0, 2.0], [0.0, 3.0]).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    c = vectors("hankel", c)
    xp = concrete_namespace(c)
    r = xp.zeros(c.shape, aval_of(c).dtype) if r is None else vectors("hankel", r)
    places = np.arange(c.shape[-1])[:, None] + np.arange(r.shape[-1])
    return _table(_both_ends(c, r), places)


def circulant(c: Any) -> Any:
    """The matrices with ``c_(i - j mod n)``.

    Shapes: ``c: (*a, n) -> (*a, n, n)``.   Dtypes: all.
    Derivative: linear; the cotangents of every element are summed.
    Raises: ShapeError: `c` has no axis.
    Source: SciPy reference, ``scipy.linalg.circulant``.

    >>> circulant([1.0, 2.0, 3.0]).tolist()
    [[1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [3.0, 2.0, 1.0]]
    """
    c = vectors("circulant", c)
    places = np.arange(c.shape[-1])
    return _table(c, (places[:, None] - places) % max(c.shape[-1], 1))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix that convolves a vector of `n` elements with `a`; the modes are NumPy's.

    Shapes: ``a: (m,) -> (m + n - 1, n)``, ``(max(m, n), n)`` or ``(max(m, n) - min(m, n) + 1, n)``.
    Dtypes: all.   Derivative: linear; the cotangents along every diagonal are summed.
    Raises: ShapeError: `a` is no vector, or empty, or `n` is not positive. ArgumentError: an unknown
    mode.
    Source: SciPy reference, ``scipy.linalg.convolution_matrix``.

    >>> convolution_matrix([1.0, 2.0], 2).tolist()
    [[1.0, 0.0], [2.0, 1.0], [0.0, 2.0]]
    """
    a, n = array_of(a), operator.index(n)
    if a.ndim != 1 or not a.shape[0] or n < 1:
        raise ShapeError(
            f"convolution_matrix: a is {aval_of(a)} and n is {n}; need a vector with elements and a "
            f"positive number{where()}"
        )
    m = a.shape[0]
    rows = {"full": m + n - 1, "same": max(m, n), "valid": max(m, n) - min(m, n) + 1}
    if mode not in rows:
        raise ArgumentError(
            f"convolution_matrix: mode={mode!r}; need 'full', 'same' or 'valid'{where()}"
        )
    first = {"full": 0, "same": (min(m, n) - 1) // 2, "valid": min(m, n) - 1}[mode]
    places = np.arange(first, first + rows[mode])[:, None] - np.arange(n)
    inside = (places >= 0) & (places < m)
    return _table(pad(a, widths=((0, 1),)), np.where(inside, places, m))


def companion(a: Any) -> Any:
    """The matrices whose eigenvalues are the roots of the polynomials with the coefficients `a`.

    Shapes: ``a: (*a, n + 1) -> (*a, n, n)``, highest power first.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of ``-a_k / a_0`` in the first row; infinite or NaN where ``a_0`` is 0.
    Raises: ShapeError: fewer than two coefficients.
    Source: SciPy reference, ``scipy.linalg.companion``.

    >>> companion([1.0, -3.0, 2.0]).tolist()
    [[3.0, -2.0], [1.0, 0.0]]
    """
    a = floating(vectors("companion", a))
    n = a.shape[-1] - 1
    if n < 1:
        raise ShapeError(f"companion: a is {aval_of(a)}; need two or more coefficients{where()}")
    every = [FULL] * (a.ndim - 1)
    first = getitem(a, index=(*every, Slice(0, 1, 1)))
    row = -getitem(a, index=(*every, Slice(1, n + 1, 1))) / first
    row = filled(reshape(row, shape=(*row.shape[:-1], 1, n)), n, n)
    return row + concrete_namespace(a).eye(n, k=-1, dtype=a.dtype)


def fiedler_companion(a: Any) -> Any:
    """As `companion`, with five diagonals: Fiedler's.

    Shapes: ``a: (*a, n + 1) -> (*a, n, n)``, highest power first.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of ``-a_k / a_0``; infinite or NaN where ``a_0`` is 0.
    Raises: ShapeError: fewer than two coefficients.
    Source: SciPy reference, ``scipy.linalg.fiedler_companion``; Fiedler, "A note on companion
    matrices", Linear Algebra Appl. 372 (2003).

    >>> fiedler_companion([1.0, -6.0, 11.0, -6.0]).tolist()
    [[6.0, -11.0, 1.0], [1.0, 0.0, 0.0], [0.0, 6.0, 0.0]]
    """
    a = floating(vectors("fiedler_companion", a))
    n = a.shape[-1] - 1
    if n < 1:
        raise ShapeError(
            f"fiedler_companion: a is {aval_of(a)}; need two or more coefficients{where()}"
        )
    every, (zero, one) = [FULL] * (a.ndim - 1), (n, n + 1)
    first = getitem(a, index=(*every, Slice(0, 1, 1)))
    row = -getitem(a, index=(*every, Slice(1, n + 1, 1))) / first
    ends = concrete_namespace(a).zeros((*a.shape[:-1], 2), a.dtype)
    ends[..., 1] = 1
    places = np.full((n, n), zero)
    for k in range(n):  # coefficient k stands in row k or the one before, whichever is even
        places[k - k % 2, max(k - 1 + k % 2, 0)] = k
    places[np.arange(0, n - 2, 2), np.arange(2, n, 2)] = one
    places[np.arange(3, n, 2), np.arange(1, n - 2, 2)] = one
    places[1:2, 0] = one
    return _table(concatenate(row, ends, axis=a.ndim - 1), places)


def leslie(f: Any, s: Any) -> Any:
    """The matrix that grows a population of ages with the births `f` and the survivals `s`.

    Shapes: ``f: (*a, n), s: (*a, n - 1) -> (*a, n, n)``.   Dtypes: numbers.
    Derivative: linear.
    Raises: ShapeError: the lengths do not fit.
    Source: SciPy reference, ``scipy.linalg.leslie``.

    >>> leslie([0.1, 2.0], [0.5]).tolist()
    [[0.1, 2.0], [0.5, 0.0]]
    """
    f, s = _promoted(vectors("leslie", f), vectors("leslie", s))
    n = f.shape[-1]
    if s.shape[-1] != n - 1 or n < 2:
        raise ShapeError(
            f"leslie: f is {aval_of(f)} and s is {aval_of(s)}; s needs one element fewer, and one at "
            f"least{where()}"
        )
    births = filled(reshape(f, shape=(*f.shape[:-1], 1, n)), n, n)
    shape = (*s.shape[:-1], n, n)
    return births + diagonal_embed(s, shape=shape, offset=-1, axis1=s.ndim - 1, axis2=s.ndim)


def fiedler(a: Any) -> Any:
    """``|a_i - a_j|``.

    Shapes: ``a: (*a, n) -> (*a, n, n)``.   Dtypes: numbers.
    Derivative: ``sign(a_i - a_j)``; 0 where elements are equal.
    Raises: ShapeError: `a` has no axis.
    Source: SciPy reference, ``scipy.linalg.fiedler``.

    >>> fiedler([1.0, 4.0]).tolist()
    [[0.0, 3.0], [3.0, 0.0]]
    """
    a = vectors("fiedler", a)
    return abs(expand_dims(a, axis=(a.ndim,)) - expand_dims(a, axis=(a.ndim - 1,)))


def hilbert(n: int) -> Any:
    """``1 / (i + j + 1)``.

    Shapes: ``-> (n, n)``.   Dtypes: float64.   Derivative: none, it has no operands.
    Raises: TypeError: `n` is no integer.
    Source: SciPy reference, ``scipy.linalg.hilbert``.

    >>> hilbert(2).round(4).tolist()
    [[1.0, 0.5], [0.5, 0.3333]]
    """
    places = np.arange(operator.index(n))
    return fresh(1.0 / (places[:, None] + places + 1.0))


def dft(n: int, scale: str | None = None) -> Any:
    """``exp(-2 pi i j k / n)``: the matrix of the Fourier transform.

    `scale`: "sqrtn" divides by the root of n, "n" by n.

    Shapes: ``-> (n, n)``.   Dtypes: complex128.   Derivative: none, it has no operands.
    Raises: ArgumentError: an unknown `scale`.
    Source: SciPy reference, ``scipy.linalg.dft``.

    >>> dft(2).real.tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    norms: Any = {None: "backward", "sqrtn": "ortho", "n": "forward"}
    if scale not in norms:
        raise ArgumentError(f"dft: scale={scale!r}; need None, 'sqrtn' or 'n'{where()}")
    return fresh(np.fft.fft(np.eye(operator.index(n)), norm=norms[scale]))


def diagsvd(s: Any, M: int, N: int) -> Any:
    """The matrix with the singular values `s` on its diagonal.

    Shapes: ``s: (*a, k) -> (*a, M, N)`` with k = min(M, N).   Dtypes: all.
    Derivative: linear.   Raises: ShapeError: k is another number.
    Source: SciPy reference, ``scipy.linalg.diagsvd``.

    >>> diagsvd([2.0], 1, 2).tolist()
    [[2.0, 0.0]]
    """
    s = vectors("diagsvd", s)
    if s.shape[-1] != min(M, N):
        raise ShapeError(
            f"diagsvd: s is {aval_of(s)}; need {min(M, N)} values for {M} by {N}{where()}"
        )
    shape = (*s.shape[:-1], M, N)
    return diagonal_embed(s, shape=shape, offset=0, axis1=s.ndim - 1, axis2=s.ndim)


# ---------------------------------------------------------------- blocks and products


def block_diag(*arrs: Any) -> Any:
    """The matrices, one after the other on the diagonal; a vector is a row.

    Shapes: ``(*a, m1, n1), (*a, m2, n2), ... -> (*a, m1 + m2 + ..., n1 + n2 + ...)``.   Dtypes: all.
    Derivative: linear; the cotangent goes to the blocks.
    Raises: ShapeError: the leading axes differ.
    Source: SciPy reference, ``scipy.linalg.block_diag``.

    >>> block_diag([[1.0]], [[2.0, 3.0]]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 2.0, 3.0]]
    """
    blocks = [atleast_2d(array_of(x)) for x in arrs] or [np.zeros((1, 0))]
    leads = {x.shape[:-2] for x in blocks}
    if len(leads) > 1:
        listed = " and ".join(str(aval_of(x)) for x in blocks)
        raise ShapeError(f"block_diag: {listed} differ in their leading axes{where()}")
    blocks = _promoted(*blocks)
    width, start, rows = sum(x.shape[-1] for x in blocks), 0, []
    for x in blocks:
        rest = width - start - x.shape[-1]
        rows.append(pad(x, widths=(*[(0, 0)] * (x.ndim - 1), (start, rest))))
        start += x.shape[-1]
    return concatenate(*rows, axis=blocks[0].ndim - 2)


def khatri_rao(a: Any, b: Any) -> Any:
    """``a_ik b_jk``, with i and j as one axis: Kronecker's product of every column.

    Shapes: ``a: (*a, m, k), b: (*b, n, k) -> (*broadcast(a, b), m n, k)``.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the columns differ in number.
    Source: SciPy reference, ``scipy.linalg.khatri_rao``.

    >>> khatri_rao([[1.0], [2.0]], [[3.0], [4.0]]).tolist()
    [[3.0], [4.0], [6.0], [8.0]]
    """
    a, b = matrix("khatri_rao", a), matrix("khatri_rao", b)
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"khatri_rao: a is {aval_of(a)} and b is {aval_of(b)}: their columns differ in "
            f"number{where()}"
        )
    out = expand_dims(a, axis=(a.ndim - 1,)) * expand_dims(b, axis=(b.ndim - 2,))
    return reshape(out, shape=(*out.shape[:-3], out.shape[-3] * out.shape[-2], out.shape[-1]))


def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """``T x``, `toeplitz` being T, by Fourier transforms.

    Shapes: ``c: (m,), r: (n,), x: (n, k) -> (m, k)``, or ``x: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.matmul_toeplitz``.

    >>> matmul_toeplitz(([1.0, 2.0], [1.0, 3.0]), [1.0, 1.0]).round(12).tolist()
    [4.0, 3.0]
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    c = vectors("matmul_toeplitz", c)
    r = conjugated(c) if r is None else vectors("matmul_toeplitz", r)
    x = floating(vectors("matmul_toeplitz", x))
    m, n = c.shape[-1], r.shape[-1]
    if c.ndim != 1 or r.ndim != 1 or x.ndim > 2 or x.shape[0] != n:
        raise ShapeError(
            f"matmul_toeplitz: c is {aval_of(c)}, r is {aval_of(r)} and x is {aval_of(x)}; need "
            f"vectors c and r, and as many rows in x as r has elements{where()}"
        )
    circle = _circle(floating(_both_ends(c, r)), m)
    out = _circular_product(circle, x, m)
    return out if x.ndim == 2 else reshape(out, shape=(m,))


def _circle(ends: Any, m: int) -> Any:
    """The column of the circulant matrix that has the Toeplitz matrix in its corner."""
    first = getitem(ends, index=(Slice(0, m, 1),))
    rest = getitem(ends, index=(Slice(m, ends.shape[0], 1),))
    return concatenate(first, flip(rest, axis=(0,)), axis=0)


def _circular_product(circle: Any, x: Any, m: int) -> Any:
    is_real = "c" not in (circle.dtype.kind, x.dtype.kind)
    to, back = (_fft.rfft, _fft.irfft) if is_real else (_fft.fft, _fft.ifft)
    size = circle.shape[0]
    columns = x if x.ndim == 2 else reshape(x, shape=(*x.shape, 1))
    moved = expand_dims(to(circle), axis=(1,)) * to(columns, size, axis=0)
    return getitem(back(moved, size, axis=0), index=(Slice(0, m, 1), FULL))
