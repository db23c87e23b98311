"""Systems of linear equations, inverses, determinants, norms."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy import fft as _fft
from ...numpy import linalg as _nl
from ...numpy._arguments import array_of, concrete, module_of
from ...ops import implicit as _implicit
from ...ops import linalg as _linalg
from ...ops.arithmetic import absolute
from ...ops.complex import real
from ...ops.contract import conjugated, kron, matmul, matrix_transpose
from ...ops.join import pad
from ...ops.structural import expand_dims, reshape, transpose
from .._arrays import floating
from ._matrices import adjoint_of, filled, matrix, structured, vectors, with_columns
from .structured import toeplitz


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
    transposed: bool = False,
) -> Any:
    """``x`` with ``a x = b``, or ``a^T x = b`` if `transposed`.

    `assume_a`: what `a` is known to be; "pos", "positive definite", solves by Cholesky's factor,
    "upper triangular" and the like read only that part. `lower` changes nothing.

    Shapes: ``a: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``a^-1 (db - da x)``; smooth wherever `a` is regular.
    Raises: LinAlgError: `a` is singular, or not positive definite. ShapeError: the shapes do not
    fit. ArgumentError: `assume_a` is unknown, or one triangle of a Hermitian matrix is empty.
    Source: SciPy reference, ``scipy.linalg.solve``.

    >>> solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    (a, word), b = structured("solve", a, assume_a), array_of(b)
    if transposed:
        a = matrix_transpose(a)
    if word == "positive definite":
        factor = _linalg.cholesky(a)
        half = _linalg.solve_triangular(factor, b, lower=True)
        return _linalg.solve_triangular(factor, half, lower=True, trans="C")
    if word in ("upper triangular", "lower triangular"):
        return _linalg.solve_triangular(a, b, lower=word.startswith("lower") != transposed)
    return _linalg.solve(a, b)


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """``x`` with ``A x = b``, A being the upper (or lower) triangle of `a`.

    `trans`: 1 or "T" solves with A transposed, 2 or "C" with its conjugate transpose.

    Shapes: ``a: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``A^-1 (db - dA x)``; none by the other triangle.
    Raises: LinAlgError: A is singular. ShapeError: the shapes do not fit. ArgumentError: an unknown
    `trans`.
    Source: SciPy reference, ``scipy.linalg.solve_triangular``.

    >>> solve_triangular([[2.0, 0.0], [9.0, 4.0]], [2.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    a, b = array_of(a), array_of(b)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ArgumentError(
            f"solve_triangular: trans={trans!r}; need 0, 1, 2, 'N', 'T' or 'C'{where()}"
        )
    return _linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


def inv(
    a: Any,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    assume_a: Any = None,
    lower: bool = False,
) -> Any:
    """``a^-1``, with the words of `solve` for what `a` is known to be.

    Shapes: ``a: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``-a^-1 da a^-1``; smooth wherever `a` is regular.
    Raises: LinAlgError: `a` is singular. ArgumentError: `assume_a` is unknown.
    Source: SciPy reference, ``scipy.linalg.inv``.

    >>> inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return _linalg.inv(structured("inv", a, assume_a)[0])


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant.

    Shapes: ``a: (*a, n, n) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``sum_ij c_ij da_ij`` with the cofactors c; right for singular matrices too.
    Raises: ShapeError: `a` is not square.
    Source: SciPy reference, ``scipy.linalg.det``.

    >>> round(float(det([[2.0, 1.0], [0.0, 4.0]])), 6)
    8.0
    """
    return _linalg.det(matrix("det", a, square=True))


def norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> Any:
    """A norm of vectors (one axis) or matrices (two axes), or of all elements.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: numbers; gives reals.
    Derivative: 0 at the zero vector for the 2-norm; equal maxima share evenly.
    Raises: ShapeError: `ord` does not exist for as many axes.
    Source: SciPy reference, ``scipy.linalg.norm``.

    >>> float(norm([3.0, -4.0]))
    5.0
    """
    return _nl.norm(a, ord, axis, keepdims)


# ---------------------------------------------------------------- least squares


def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: Any = None,
) -> tuple[Any, Any, Any, Any]:
    """The smallest ``x`` that minimises ``|a x - b|``, ``|a x - b|^2``, the rank, singular values.

    Singular values below `cond` times the largest, by default the machine epsilon, count as 0. The
    squares are empty unless `a` is tall and has full rank; it counts as having it while its numbers
    are not known (`vmap`, `make_jaxpr`).

    Shapes: ``a: (m, n), b: (m, k) -> (n, k), (k,), (), (min(m, n),)``, or ``b: (m,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: where the rank is constant.
    Raises: ShapeError: the shapes do not fit. ArgumentError: an unknown `lapack_driver`.
    Source: SciPy reference, ``scipy.linalg.lstsq``.

    >>> lstsq([[1.0], [1.0]], [1.0, 3.0])[0].round(6).tolist()
    [2.0]
    """
    if lapack_driver not in (None, "gelsd", "gelsy", "gelss"):
        raise ArgumentError(f"lstsq: lapack_driver={lapack_driver!r} is unknown{where()}")
    a, b = floating(matrix("lstsq", a)), array_of(b)
    cond = float(np.finfo(a.dtype).eps) if cond is None else cond
    x, squares, rank, s = _nl.lstsq(a, b, cond)
    if b.ndim == 1 and squares.shape == (1,):
        squares = reshape(squares, shape=())
    return x, squares, rank, None if lapack_driver == "gelsy" else s


def pinv(
    a: Any,
    *,
    atol: Any = None,
    rtol: Any = None,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """The pseudo-inverse; singular values up to ``atol + rtol s_max`` count as 0.

    `rtol` is the larger side times the machine epsilon unless `atol` is given.

    Shapes: ``a: (*a, m, n) -> (*a, n, m)``.   Dtypes: floating, complex; integers give float64.
    Derivative: where the rank is constant; the pseudo-inverse jumps where it is not.
    Raises: ConcretizationError: `atol` or the rank is wanted of values that are not known.
    ArgumentError: `atol` is given for a stack of matrices.
    Source: SciPy reference, ``scipy.linalg.pinv``.

    >>> pinv([[2.0], [0.0]]).tolist()
    [[0.5, 0.0]]
    """
    a = floating(matrix("pinv", a))
    eps = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    default = eps if atol is None else 0.0
    rtol = default if rtol is None else float(concrete("linalg.pinv", "rtol", rtol))
    if atol is not None:
        rtol += float(concrete("linalg.pinv", "atol", atol)) / _largest("pinv", a)
    out = _linalg.pinv(a, rcond=rtol)
    if not return_rank:
        return out
    s = concrete("linalg.pinv", "the matrix, for its rank,", _linalg.svdvals(a))
    return out, (s > rtol * s.max()).sum()


def _largest(name: str, a: Any) -> float:
    """The largest singular value."""
    if a.ndim > 2:
        raise ArgumentError(f"{name}: atol= of a stack of matrices is not supported{where()}")
    s = concrete(f"linalg.{name}", "the matrix, with atol=,", _linalg.svdvals(a))
    return float(s.max()) if s.size and float(s.max()) else 1.0


def pinvh(
    a: Any,
    atol: Any = None,
    rtol: Any = None,
    lower: bool = True,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """`pinv` of the Hermitian part of `a`.

    Shapes: ``a: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: where the rank is constant; the pseudo-inverse jumps where it is not.
    Raises: as `pinv`. ArgumentError: one triangle is empty.
    Source: SciPy reference, ``scipy.linalg.pinvh``.

    >>> pinvh([[2.0, 0.0], [0.0, 0.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    part = structured("pinvh", a, "hermitian")[0]
    return pinv(part, atol=atol, rtol=rtol, return_rank=return_rank)


# ---------------------------------------------------------------- matrix equations


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """``x`` with ``a x + x b = q``.

    Shapes: ``a: (*r, m, m), b: (*s, n, n), q: (*t, m, n) -> (*broadcast(r, s, t), m, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``a dx + dx b = dq - da x - x db``; smooth where no eigenvalue of `a` is one of -b.
    Raises: LinAlgError: `a` and `-b` have an eigenvalue in common. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.solve_sylvester``.

    >>> solve_sylvester([[1.0]], [[3.0]], [[8.0]]).tolist()
    [[2.0]]
    """
    return _implicit.sylvester(array_of(a), array_of(b), array_of(q))


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """``x`` with ``a x + x a^H = q``.

    Shapes: ``a: (*a, n, n), q: (*a, n, n) -> (*a, n, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: as `solve_sylvester`.
    Raises: LinAlgError: two eigenvalues of `a` are opposite, but for a conjugate.
    Source: SciPy reference, ``scipy.linalg.solve_continuous_lyapunov``.

    >>> solve_continuous_lyapunov([[2.0]], [[8.0]]).tolist()
    [[2.0]]
    """
    a = matrix("solve_continuous_lyapunov", a, square=True)
    return _implicit.sylvester(a, adjoint_of(a), array_of(q))


solve_lyapunov = solve_continuous_lyapunov


def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Any:
    """``x`` with ``a x a^H - x + q = 0``.

    `method`: "direct" solves for all elements at once, which SciPy's default, None, does for sides
    below 10; "bilinear" goes through `solve_continuous_lyapunov`.

    Shapes: ``a: (n, n), q: (n, n) -> (n, n)``; a batch with "bilinear".
    Dtypes: floating, complex; integers give float64.
    Derivative: smooth where no product of an eigenvalue and a conjugate of one is 1.
    Raises: LinAlgError: such a product is 1. ArgumentError: an unknown `method`.
    Source: SciPy reference, ``scipy.linalg.solve_discrete_lyapunov``.

    >>> solve_discrete_lyapunov([[0.5]], [[3.0]]).tolist()
    [[4.0]]
    """
    name = "solve_discrete_lyapunov"
    a, q = floating(matrix(name, a, square=True)), matrix(name, q, square=True)
    n, xp = a.shape[-1], concrete_namespace(a)
    if method is None:
        method = "direct" if n < 10 and a.ndim == q.ndim == 2 else "bilinear"
    if method == "direct" and a.ndim == q.ndim == 2:
        system = xp.eye(n * n, dtype=a.dtype) - kron(a, conjugated(a))
        return reshape(_linalg.solve(system, reshape(q, shape=(n * n,))), shape=(n, n))
    if method != "bilinear":
        raise ArgumentError(
            f"{name}: method={method!r}; need 'direct' (for one matrix) or 'bilinear'{where()}"
        )
    back, one = adjoint_of(a), xp.eye(n, dtype=a.dtype)
    turned = _linalg.inv(back + one)
    b = matmul(back - one, turned)
    right = matmul(matmul(_linalg.inv(a + one), q), turned) * -2.0
    return solve_continuous_lyapunov(adjoint_of(b), right)


# ---------------------------------------------------------------- structured systems


def solve_banded(
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """``x`` with ``A x = b``; A has ``l_and_u`` diagonals below and above, ``A_ij = ab[u + i - j, j]``.

    Shapes: ``ab: (*p, l + u + 1, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``A^-1 (db - dA x)``; none by the elements of `ab` outside of A.
    Raises: LinAlgError: A is singular. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.solve_banded``.

    >>> solve_banded((0, 1), [[0.0, 1.0], [1.0, 2.0]], [3.0, 4.0]).tolist()
    [1.0, 2.0]
    """
    lower, upper = map(operator.index, l_and_u)
    ab, b = matrix("solve_banded", ab), array_of(b)
    return with_columns(b, lambda b: _implicit.banded_solve(ab, b, lower=lower, upper=upper))


def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Any:
    """``x`` with ``A x = b``, A being Hermitian with the upper (or lower) diagonals `ab`.

    Upper: ``A_ij = ab[u + i - j, j]`` for ``i <= j``; lower: ``A_ij = ab[i - j, j]`` for ``i >= j``.

    Shapes: ``ab: (*p, u + 1, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``A^-1 (db - dA x)``; none by the elements of `ab` outside of A.
    Raises: LinAlgError: A is singular; unlike SciPy's, one that is not positive definite is solved.
    Source: SciPy reference, ``scipy.linalg.solveh_banded``.

    >>> solveh_banded([[2.0, 2.0], [1.0, 0.0]], [3.0, 3.0], lower=True).tolist()
    [1.0, 1.0]
    """
    ab, b = floating(matrix("solveh_banded", ab)), array_of(b)
    count = ab.shape[-2] - 1
    bands = {"lower": count, "upper": 0} if lower else {"lower": 0, "upper": count}
    other = conjugated(_implicit.transposed_bands(ab, **bands))
    upper_part, lower_part = (other, ab) if lower else (ab, other)
    full = _joined_bands(upper_part, lower_part)
    return with_columns(b, lambda b: _implicit.banded_solve(full, b, lower=count, upper=count))


def _joined_bands(above: Any, below: Any) -> Any:
    """The diagonals above the main one, this one as the mean of both, and those below."""
    count, n = above.shape[-2] - 1, above.shape[-1]
    weight = np.ones((2 * count + 1, 1), np.empty(0, above.dtype).real.dtype)
    weight[count] = 0.5
    joined = filled(above, 2 * count + 1, n) + pad(
        below, widths=(*[(0, 0)] * (below.ndim - 2), (count, 0), (0, 0))
    )
    return joined * concrete_namespace(above).asarray(weight)


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """``x`` with ``T x = b``, ``T_ij`` being ``c_(i-j)`` below the diagonal and ``r_(j-i)`` above.

    Without `r`, the conjugate of `c`. Solved as a full system.

    Shapes: ``c, r: (n,), b: (n, k) -> (n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``T^-1 (db - dT x)``; smooth wherever T is regular.
    Raises: LinAlgError: T is singular. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.solve_toeplitz``.

    >>> solve_toeplitz(([1.0, 2.0], [1.0, 0.0]), [1.0, 3.0]).tolist()
    [1.0, 1.0]
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    matrix = toeplitz(c, r)
    return _linalg.solve(matrix, array_of(b, module_of(matrix)))


def solve_circulant(
    c: Any,
    b: Any,
    singular: str = "raise",
    tol: Any = None,
    caxis: int = -1,
    baxis: int = 0,
    outaxis: int = 0,
) -> Any:
    """``x`` with ``C x = b``, ``C_ij = c_(i - j mod n)``, by Fourier transforms.

    Shapes: ``c: (*p, n), b: (n, *q) -> (n, *p, *q)``; the axes can be chosen.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``C^-1 (db - dC x)``; smooth wherever C is regular.
    Raises: LinAlgError: a frequency of `c` is 0 up to `tol`, unless `c` is not known while tracing.
    ArgumentError: `singular` is not "raise". ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.solve_circulant``.

    >>> solve_circulant([2.0, 0.0], [2.0, 4.0]).tolist()
    [1.0, 2.0]
    """
    if singular != "raise":
        raise ArgumentError(
            f"solve_circulant: singular={singular!r}; only 'raise' is supported: use "
            f"lstsq(circulant(c), b){where()}"
        )
    c, b = (_axis_last("solve_circulant", x, axis) for x, axis in ((c, caxis), (b, baxis)))
    n = c.shape[-1]
    if b.shape[-1] != n:
        raise ShapeError(f"solve_circulant: c has {n} elements, b has {b.shape[-1]}{where()}")
    frequencies = _fft.fft(c)
    _require_frequencies(frequencies, tol)
    lead = tuple(range(c.ndim - 1, c.ndim - 1 + b.ndim - 1))
    x = _fft.ifft(_fft.fft(b) / expand_dims(frequencies, axis=lead))
    if "c" not in (c.dtype.kind, b.dtype.kind):
        x = real(x)
    at = outaxis % x.ndim
    order = list(range(x.ndim - 1))
    return transpose(x, axes=(*order[:at], x.ndim - 1, *order[at:]))


def _axis_last(name: str, x: Any, axis: int) -> Any:
    x = floating(vectors(name, x))
    axis = _linalg.normal_axis(name, axis, x.ndim)
    return transpose(x, axes=(*(i for i in range(x.ndim) if i != axis), axis))


def _require_frequencies(frequencies: Any, tol: Any) -> None:
    size = known(absolute(frequencies))
    if size is None or not size.size:
        return
    largest = size.max(axis=-1, keepdims=True)
    if tol is None:
        tol = largest * size.shape[-1] * float(np.finfo(size.dtype).eps)
    if bool((size <= tol).any()):
        raise np.linalg.LinAlgError("solve_circulant: near singular circulant matrix")
