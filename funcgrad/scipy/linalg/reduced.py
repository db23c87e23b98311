"""Schur's and Hessenberg's forms, products with the Q of a QR, functions of matrices by eigenvalues."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...core import Tracer, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy import linalg as _nl
from ...numpy._arguments import array_of
from ...ops import reduced as _reduced
from ...ops.complex import real
from ...ops.contract import conjugated, matmul, matrix_transpose
from ...ops.decompose import eig
from ...ops.linalg import solve
from ...ops.select import minimum, stop_gradient
from ...ops.structural import expand_dims
from .._arrays import floating
from ._matrices import matrix
from .factors import qr

# ---------------------------------------------------------------- Schur, Hessenberg


def _square(name: str, a: Any) -> Any:
    return floating(matrix(name, a, square=True))


def schur(
    a: Any,
    output: str = "real",
    lwork: Any = None,
    overwrite_a: bool = False,
    sort: Any = None,
    check_finite: bool = True,
) -> Any:
    """``T, Z`` with ``a = Z T Z^H``: Z unitary, T upper triangular.

    The T of a real matrix has blocks of 2 by 2 for complex eigenvalues, unless `output` is "complex".
    With `sort`, as in SciPy, also how many eigenvalues come first because it chooses them; that
    needs a plain array.

    Shapes: ``a: (*a, n, n) -> (*a, n, n), (*a, n, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: none, since LAPACK chooses the form.
    Raises: MissingRuleError: a derivative. ArgumentError: an unknown `output` or `sort`, or `sort`
    of a traced array. ShapeError: not square. LinAlgError: no convergence.
    Source: SciPy reference, ``scipy.linalg.schur``.

    >>> [abs(y).tolist() for y in schur([[2.0, 1.0], [0.0, 3.0]])]
    [[[2.0, 1.0], [0.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]]]
    """
    if output not in ("real", "complex", "r", "c"):
        raise ArgumentError(f"schur: output={output!r}; need 'real' or 'complex'{where()}")
    if not (sort is None or callable(sort) or sort in ("lhp", "rhp", "iuc", "ouc")):
        raise ArgumentError(
            f"schur: sort={sort!r}; need a function, 'lhp', 'rhp', 'iuc' or 'ouc'{where()}"
        )
    a = _square("schur", a)
    output = "complex" if output[0] == "c" or a.dtype.kind == "c" else "real"
    if sort is None:
        return tuple(_reduced.schur(a, output=output))
    if isinstance(a, Tracer):
        raise ArgumentError(f"schur: sort= needs a plain array, found {a!r}{where()}")
    return _reduced.of_each(concrete_namespace(a), "schur", a, output=output, sort=sort)


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """Schur's form with complex numbers, of that with real ones and blocks.

    Shapes: ``T: (*a, n, n), Z: (*a, n, n) -> (*a, n, n), (*a, n, n)``.   Dtypes: floating, complex.
    Derivative: none, as of `schur`.
    Raises: MissingRuleError: a derivative. ShapeError: the shapes differ.
    Source: SciPy reference, ``scipy.linalg.rsf2csf``.

    >>> T, Z = rsf2csf(*schur([[0.0, 4.0], [-1.0, 0.0]]))
    >>> T.diagonal().imag.round(12).tolist()
    [2.0, -2.0]
    """
    T, Z = (_square("rsf2csf", x) for x in (T, Z))
    if T.shape != Z.shape:
        raise ShapeError(
            f"rsf2csf: T is {aval_of(T)} and Z is {aval_of(Z)}; need one shape{where()}"
        )
    return tuple(_reduced.rsf2csf(T, Z))


def hessenberg(
    a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """``H`` with ``a = Q H Q^H``, zero below the first subdiagonal; ``H, Q`` if `calc_q`.

    Shapes: ``a: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: none, since LAPACK chooses the form.
    Raises: MissingRuleError: a derivative. ShapeError: `a` is not square.
    Source: SciPy reference, ``scipy.linalg.hessenberg``.

    >>> h = hessenberg([[1.0, 2.0, 3.0], [3.0, 4.0, 0.0], [4.0, 0.0, 1.0]])
    >>> abs(h[:, 0]).round(12).tolist()
    [1.0, 5.0, 0.0]
    """
    found = tuple(_reduced.hessenberg(_square("hessenberg", a)))
    return found if calc_q else found[0]


# ---------------------------------------------------------------- products with Q


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Any:
    """``c Q, R`` (``Q c, R`` with mode "left") of ``a = Q R`` with no more columns than needed.

    With `conjugate` the conjugate of Q. With `pivoting` also the order of the columns; see `qr`.

    Shapes: ``a: (m, n), c: (p, m) -> (p, k), (k, n)``, ``k = min(m, n)``; on the left
    ``c: (k, p) -> (m, p)``. Vectors stay vectors.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of `qr` and of a product.
    Raises: ArgumentError: an unknown `mode`. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.qr_multiply``.

    >>> [abs(y).tolist() for y in qr_multiply([[0.0], [2.0]], [3.0, 4.0])]
    [[4.0], [[2.0]]]
    """
    if mode not in ("left", "right"):
        raise ArgumentError(f"qr_multiply: mode={mode!r}; need 'left' or 'right'{where()}")
    q, *rest = qr(a, mode="economic", pivoting=pivoting)
    c = array_of(c)
    m, k = q.shape[-2:]
    place, needed = (-1, m) if mode == "right" else (-min(c.ndim, 2), k)
    if not c.ndim or c.shape[place] != needed:
        raise ShapeError(
            f"qr_multiply: c is {aval_of(c)}; with mode={mode!r} and a Q of {m} rows and {k} columns "
            f"it needs {needed} {'columns' if mode == 'right' else 'rows'}{where()}"
        )
    q = conjugated(q) if conjugate else q
    return (matmul(q, c) if mode == "left" else matmul(c, q), *rest)


# ---------------------------------------------------------------- functions of matrices


def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """``V func(w) V^-1`` of ``A = V w V^-1`` with the eigenvalues w, which `func` takes as an array.

    Without `disp` also an estimate of the relative error, the precision times the condition of V;
    with it, one of more than 1000 times the precision warns, where it is known.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.
    Dtypes: floating, complex; integers as float64. Complex numbers, but those of a real matrix are
    real if their imaginary parts are nothing but rounding; where a transform does not know the
    numbers, they stay complex.
    Derivative: that of eigenvalues and vectors, and by what `func` closes over; smooth where no
    eigenvalues are equal, elsewhere it warns and is infinite or NaN.
    Raises: ShapeError: `A` is not square, or `func` changes the shape. LinAlgError: the eigenvectors
    are dependent.
    Source: Higham, "Functions of matrices", SIAM (2008), section 1.2; SciPy reference,
    ``scipy.linalg.funm``.

    >>> funm([[4.0, 1.0], [0.0, 9.0]], np.sqrt).round(12).tolist()
    [[2.0, 0.2], [0.0, 3.0]]
    """
    A = floating(matrix("funm", A, square=True))
    w, v = eig(A)
    values = array_of(func(w))
    if values.shape != w.shape:
        raise ShapeError(
            f"funm: func made {aval_of(values)} of {aval_of(w)}; it is to take each number{where()}"
        )
    scaled = v * expand_dims(values, axis=(values.ndim - 1,))
    out = matrix_transpose(solve(matrix_transpose(v), matrix_transpose(scaled)))
    if A.dtype.kind == "f":
        out = _real_if_rounding(out)
    precision = float(np.finfo(A.dtype).eps)
    with np.errstate(all="ignore"):
        error = minimum(_nl.cond(stop_gradient(v)) * precision, 1.0) if w.size else precision
    if not disp:
        return out, error
    found = known(error)
    if found is not None and bool(concrete_namespace(found).any(found > 1000 * precision)):
        warnings.warn(f"funm: relative error of about {float(found.max()):.1g}", stacklevel=2)
    return out


def _real_if_rounding(x: Any) -> Any:
    """Complex numbers as real ones, if it is known that there is nothing else in them."""
    value = known(x)
    if value is None or value.dtype.kind != "c":
        return x
    limit = np.finfo(value.dtype).eps * (1e3 if value.dtype == np.complex64 else 1e6)
    return real(x) if bool((abs(value.imag) <= limit).all()) else x
