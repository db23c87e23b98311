"""Functions of matrices: exponentials, logarithms, roots, sines."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, where
from ...numpy import linalg as _nl
from ...numpy._arguments import converted, operand
from ...numpy.reductions import sum as _sum
from ...ops import linalg as _linalg
from ...ops import matrix_functions as _functions
from ...ops.arithmetic import absolute
from ...ops.complex import imag, real
from ...ops.contract import matmul
from ...ops.logic import less
from ...ops.select import where as choose
from .._arrays import floating
from .._options import refuse_options
from ._matrices import matrix


def expm(A: Any) -> Any:
    """``1 + A + A^2 / 2! + A^3 / 3! + ...``.

    NaN for a matrix with an element that is not finite.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``integral of expm(s A) dA expm((1 - s) A)`` over s from 0 to 1; smooth everywhere.
    Raises: ShapeError: `A` is not square.
    Source: SciPy reference, ``scipy.linalg.expm``.

    >>> expm([[0.0, 2.0], [0.0, 0.0]]).tolist()
    [[1.0, 2.0], [0.0, 1.0]]
    """
    return _functions.expm(matrix("expm", A, square=True))


def expm_frechet(
    A: Any, E: Any, method: Any = None, compute_expm: bool = True, check_finite: bool = True
) -> Any:
    """``expm(A)``, and its derivative at `A` along `E`; this alone without `compute_expm`.

    Shapes: ``A: (*a, n, n), E: (*b, n, n) -> (*a, n, n), (*broadcast(a, b), n, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear in `E`; smooth everywhere.
    Raises: ShapeError: the shapes do not fit. ArgumentError: an unknown `method`.
    Source: SciPy reference, ``scipy.linalg.expm_frechet``.

    >>> expm_frechet(np.zeros((1, 1)), [[3.0]])[1].tolist()
    [[3.0]]
    """
    if method not in (None, "SPS", "blockEnlarge"):
        raise ArgumentError(
            f"expm_frechet: method={method!r}; need 'SPS' or 'blockEnlarge'{where()}"
        )
    A, E = matrix("expm_frechet", A, square=True), matrix("expm_frechet", E, square=True)
    along = _functions.expm_frechet(A, E)
    return (_functions.expm(A), along) if compute_expm else along


def _real_if_it_can(f: Any, a: Any) -> Any:
    """`f` of real matrices if its result is real and of the same as complex numbers if not.

    While the numbers are not known, it must be real: `f` raises when they are.
    """
    try:
        return f(a)
    except ArgumentError:
        if a.dtype.kind == "c":
            raise
        return f(converted(a, np.result_type(floating(a).dtype, np.complex64)))


def sqrtm(A: Any, disp: Any = None, blocksize: Any = None) -> Any:
    """The ``X`` with ``X X = A`` whose eigenvalues have no negative real part.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.
    Dtypes: floating, complex; integers as float64; real matrices without a real root give complex
    numbers, but under `jit` they raise: pass complex ones.
    Derivative: ``X dX + dX X = dA``; smooth where no eigenvalue of `A` is 0 or negative.
    Raises: ArgumentError: `disp` or `blocksize` is given. LinAlgError: only the derivative, where
    `A` is singular.
    Source: SciPy reference, ``scipy.linalg.sqrtm``.

    >>> sqrtm([[4.0, 0.0], [0.0, 9.0]]).round(12).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    refuse_options("sqrtm", disp=disp, blocksize=blocksize)
    return _real_if_it_can(_functions.sqrtm, matrix("sqrtm", A, square=True))


def logm(A: Any, disp: Any = None) -> Any:
    """The ``X`` with ``expm(X) = A`` whose eigenvalues have imaginary parts within -pi and pi.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.
    Dtypes: floating, complex; integers as float64; real matrices without a real logarithm give
    complex numbers, but under `jit` they raise: pass complex ones.
    Derivative: ``integral of (s (A - 1) + 1)^-1 dA (s (A - 1) + 1)^-1`` over s from 0 to 1; smooth
    where no eigenvalue of `A` is 0 or negative.
    Raises: ArgumentError: `disp` is given. ShapeError: `A` is not square.
    Source: SciPy reference, ``scipy.linalg.logm``.

    >>> logm([[1.0, 2.0], [0.0, 1.0]]).round(12).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    refuse_options("logm", disp=disp)
    return _real_if_it_can(_functions.logm, matrix("logm", A, square=True))


def fractional_matrix_power(A: Any, t: Any) -> Any:
    """``A^t``: ``expm(t logm(A))``, or products of `A` for integers.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``, `t` one number.
    Dtypes: floating, complex; integers as float64; see `logm`.
    Derivative: by both; smooth where no eigenvalue of `A` is 0 or negative.
    Raises: LinAlgError: `t` is a negative integer and `A` singular. ShapeError: `A` is not square.
    Source: SciPy reference, ``scipy.linalg.fractional_matrix_power``.

    >>> fractional_matrix_power([[4.0, 0.0], [0.0, 9.0]], 0.5).round(12).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    A = floating(matrix("fractional_matrix_power", A, square=True))
    if t.__class__ in (int, float) and t == int(t):
        return _nl.matrix_power(A, int(t))
    t = operand(t)
    if aval_of(t).ndim:
        raise ArgumentError(f"fractional_matrix_power: t is {aval_of(t)}; need one number{where()}")
    return _functions.expm(logm(A) * t)


def signm(A: Any, disp: Any = None) -> Any:
    """The matrix with the eigenvectors of `A`, and the signs of its eigenvalues' real parts.

    ``A (A^2)^(-1/2)``.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of `sqrtm` and a quotient; smooth where no eigenvalue has the real part 0.
    Raises: ArgumentError: `disp` is given, or a real matrix has imaginary eigenvalues. ShapeError:
    `A` is not square. LinAlgError: it is singular.
    Source: Higham, "Functions of matrices", SIAM (2008), section 5.1; SciPy reference,
    ``scipy.linalg.signm``.

    >>> signm([[4.0, 0.0], [0.0, -9.0]]).round(12).tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    refuse_options("signm", disp=disp)
    A = floating(matrix("signm", A, square=True))
    return _linalg.solve(_functions.sqrtm(matmul(A, A)), A)


# ---------------------------------------------------------------- circles and hyperbolas


def _turned(name: str, A: Any) -> tuple[bool, Any]:
    """Whether the matrices are real, and ``i A``."""
    A = floating(matrix(name, A, square=True))
    return aval_of(A).dtype.kind != "c", A * 1j


_SMALL, _TERMS = 0.1, 5  # a sum of sizes up to which so many terms of the series are all


def _hyperbolic(A: Any) -> tuple[Any, Any]:
    """The hyperbolic cosine and sine: of ``expm(A) - expm(-A)`` nothing is left for a small `A`."""
    A = floating(A)
    small = less(_sum(absolute(A), axis=(-2, -1), keepdims=True), _SMALL)
    inner, outer = choose(small, A, 0.0), choose(small, 0.0, A)
    one, square = np.eye(A.shape[-1], dtype=aval_of(A).dtype), matmul(inner, inner)
    even = odd = one
    for k in range(2 * _TERMS, 0, -2):
        even = one + matmul(square, even) * (1.0 / (k * (k - 1)))
        odd = one + matmul(square, odd) * (1.0 / (k * (k + 1)))
    up, down = _functions.expm(outer), _functions.expm(-outer)
    return choose(small, even, (up + down) * 0.5), choose(
        small, matmul(inner, odd), (up - down) * 0.5
    )


def cosm(A: Any) -> Any:
    """``1 - A^2 / 2! + A^4 / 4! - ...``, the cosine of matrices.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of `expm`; smooth everywhere.
    Raises: ShapeError: `A` is not square.
    Source: SciPy reference, ``scipy.linalg.cosm``.

    >>> cosm(np.zeros((1, 1))).tolist()
    [[1.0]]
    """
    plain, turned = _turned("cosm", A)
    return real(_functions.expm(turned)) if plain else _hyperbolic(turned)[0]


def sinm(A: Any) -> Any:
    """``A - A^3 / 3! + A^5 / 5! - ...``, the sine of matrices.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of `expm`; smooth everywhere.
    Raises: ShapeError: `A` is not square.
    Source: SciPy reference, ``scipy.linalg.sinm``.

    >>> sinm([[0.0, 2.0], [0.0, 0.0]]).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    plain, turned = _turned("sinm", A)
    return imag(_functions.expm(turned)) if plain else _hyperbolic(turned)[1] * -1j


def tanm(A: Any) -> Any:
    """``cosm(A)^-1 sinm(A)``, the tangent of matrices.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of the cosine and the sine; smooth where the cosine is regular.
    Raises: LinAlgError: the cosine is singular.
    Source: SciPy reference, ``scipy.linalg.tanm``.

    >>> tanm([[0.0, 2.0], [0.0, 0.0]]).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    return _linalg.solve(cosm(A), sinm(A))


def coshm(A: Any) -> Any:
    """``(expm(A) + expm(-A)) / 2``, the hyperbolic cosine of matrices.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of `expm`; smooth everywhere.
    Raises: ShapeError: `A` is not square.
    Source: SciPy reference, ``scipy.linalg.coshm``.

    >>> coshm(np.zeros((1, 1))).tolist()
    [[1.0]]
    """
    return _hyperbolic(matrix("coshm", A, square=True))[0]


def sinhm(A: Any) -> Any:
    """``(expm(A) - expm(-A)) / 2``, the hyperbolic sine of matrices.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of `expm`; smooth everywhere.
    Raises: ShapeError: `A` is not square.
    Source: SciPy reference, ``scipy.linalg.sinhm``.

    >>> sinhm([[0.0, 2.0], [0.0, 0.0]]).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    return _hyperbolic(matrix("sinhm", A, square=True))[1]


def tanhm(A: Any) -> Any:
    """``coshm(A)^-1 sinhm(A)``, the hyperbolic tangent of matrices.

    Shapes: ``A: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of `expm`; smooth where the hyperbolic cosine is regular.
    Raises: LinAlgError: the hyperbolic cosine is singular.
    Source: SciPy reference, ``scipy.linalg.tanhm``.

    >>> tanhm([[0.0, 2.0], [0.0, 0.0]]).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    return _linalg.solve(*_hyperbolic(matrix("tanhm", A, square=True)))
