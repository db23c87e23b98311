"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, where
from ..ops.arithmetic import absolute, power
from ..ops.complex import real
from ..ops.contract import matmul
from ..ops.join import concatenate, pad, stack
from ..ops.reduce import norm2
from ..ops.structural import reshape
from ._arguments import array_of, arrays_of, beside, converted, host, module_of
from .creation import array, asarray, ones_like, zeros_like
from .linalg import eigvals, inv, lstsq
from .products import convolve
from .reductions import sum as sum_of
from .shaping import atleast_1d, ndim

_COLUMNS = 17  # powers up to 16 are products, others are NumPy's `pow`, 20 times as long


def _coefficients(name: str, p: Any) -> Any:
    p = atleast_1d(p)
    if p.ndim != 1:
        raise ShapeError(f"fnp.{name}: coefficients are a vector, found {p.ndim} axes{where()}")
    return p


def polyval(p: Any, x: Any, *, unroll: int = 16) -> Any:
    """``p_0 x^(n - 1) + ... + p_(n - 1)``, by Horner's rule. `unroll` changes nothing.

    Shapes: ``p: (n,), x: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: linear in `p`, smooth in `x`.
    Raises: ArgumentError: an argument is no array.
    Source: NumPy reference, ``numpy.polyval``.

    >>> float(polyval([1.0, 0.0, 2.0], 3.0))
    11.0
    """
    p, x = arrays_of(p, x)
    y = zeros_like(x)
    for i in range(p.shape[0]):
        y = y * x + p[i]
    return y


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials.

    Shapes: ``(m,), (n,) -> (max(m, n),)``.   Dtypes: numbers.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: coefficients are no vector.
    Source: NumPy reference, ``numpy.polyadd``.

    >>> polyadd([1.0, 2.0], [3.0]).tolist()
    [1.0, 5.0]
    """
    a1, a2 = _of_one_length("polyadd", a1, a2)
    return a1 + a2


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials.

    Shapes: ``(m,), (n,) -> (max(m, n),)``.   Dtypes: numbers.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: coefficients are no vector.
    Source: NumPy reference, ``numpy.polysub``.

    >>> polysub([1.0, 2.0], [3.0]).tolist()
    [1.0, -1.0]
    """
    a1, a2 = _of_one_length("polysub", a1, a2)
    return a1 - a2


def _of_one_length(name: str, a1: Any, a2: Any) -> tuple[Any, Any]:
    a1, a2 = (_coefficients(name, a) for a in arrays_of(a1, a2))
    m, n = a1.shape[0], a2.shape[0]
    return pad(a1, widths=((max(n - m, 0), 0),)), pad(a2, widths=((max(m - n, 0), 0),))


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """The product of two polynomials: the convolution of their coefficients.

    Shapes: ``(m,), (n,) -> (m + n - 1,)``; leading zeros stay, unless they are to be trimmed.
    Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: coefficients are no vector. ConcretizationError: the zeros to trim are not
    known.
    Source: NumPy reference, ``numpy.polymul``.

    >>> polymul([1.0, 1.0], [1.0, -1.0]).tolist()
    [1.0, 0.0, -1.0]
    """
    factors = [_coefficients("polymul", a) for a in arrays_of(a1, a2)]
    if trim_leading_zeros:
        factors = [_trimmed("polymul", a) for a in factors]
    return convolve(*factors)


def _trimmed(name: str, p: Any) -> Any:
    """The coefficients from the first that is not 0; of nothing but zeros the last one."""
    filled = np.flatnonzero(host(name, "the coefficients", p))
    return p[int(filled[0]) if filled.size else max(p.shape[0] - 1, 0) :]


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = True) -> tuple[Any, Any]:
    """The quotient and the remainder of polynomials, the latter without zeros in front.

    With ``trim_leading_zeros=False`` the remainder is as long as `u`, also where it is not known.

    Shapes: ``(m,), (n,) -> (max(m - n + 1, 1),), (<n,)``.   Dtypes: numbers; gives floats.
    Derivative: smooth where the first coefficient of `v` is not 0.
    Raises: ShapeError: coefficients are no vector. ConcretizationError: the remainder is not known.
    Source: NumPy reference, ``numpy.polydiv``.

    >>> [y.tolist() for y in polydiv([1.0, 0.0, 2.0], [1.0, 1.0])]
    [[1.0, -1.0], [3.0]]
    """
    u, v = (_coefficients("polydiv", a) for a in arrays_of(u, v))
    dtype = np.result_type(u.dtype, v.dtype, np.float64 if u.dtype.kind in "biu" else u.dtype)
    u, v = converted(u, dtype), converted(v, dtype)
    rest, n = [u[k] for k in range(u.shape[0])], v.shape[0]
    quotient = []
    for k in range(max(len(rest) - n + 1, 0)):
        quotient.append(rest[k] / v[0])
        for i in range(n):
            rest[k + i] = rest[k + i] - quotient[k] * v[i]
    first = 0
    if trim_leading_zeros:
        values = host("polydiv", "the remainder, with trim_leading_zeros=True,", array(rest))
        small = np.isclose(values, 0, rtol=1e-14)
        first = int(np.argmin(small)) if not small.all() else len(rest) - 1
    return array(quotient) if quotient else zeros_like(u[:1]), array(rest[first:])


def polyder(p: Any, m: int = 1) -> Any:
    """The derivative of order `m` of a polynomial.

    Shapes: ``(n,) -> (max(n - m, 0),)``.   Dtypes: numbers.
    Derivative: linear; smooth everywhere.
    Raises: ArgumentError: `m` is negative.
    Source: NumPy reference, ``numpy.polyder``.

    >>> polyder([1.0, 2.0, 3.0]).tolist()
    [2.0, 2.0]
    """
    if m < 0:
        raise ArgumentError(f"fnp.polyder: m={m}; need 0 or more{where()}")
    p = _coefficients("polyder", p)
    for _ in range(m):
        n = p.shape[0] - 1
        p = p[:-1] * beside(p, np.arange(n, 0, -1))
    return p


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The antiderivative of order `m` of a polynomial, with the constants `k`, 0 by default.

    Shapes: ``(n,) -> (n + m,)``.   Dtypes: numbers; integers give float64.
    Derivative: linear; smooth everywhere.
    Raises: ArgumentError: `m` is negative, or there are not `m` constants.
    Source: NumPy reference, ``numpy.polyint``.

    >>> polyint([2.0, 2.0]).tolist()
    [1.0, 2.0, 0.0]
    """
    if m < 0:
        raise ArgumentError(f"fnp.polyint: m={m}; need 0 or more{where()}")
    p = _coefficients("polyint", p)
    k = atleast_1d(beside(p, 0.0) if k is None else array_of(k, module_of(p)))
    if k.shape[0] not in (1, m) or k.ndim != 1:
        raise ArgumentError(f"fnp.polyint: {k.shape[0]} constants for m={m}{where()}")
    for i in range(m):
        n = p.shape[0]
        last = k[i : i + 1] if k.shape[0] > 1 else k
        p = concatenate(p / beside(p, np.arange(n, 0, -1)), last, axis=0)
    return p


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """The coefficients of degree `deg` that minimise ``sum_i |w_i (p(x_i) - y_i)|^2``.

    With `full` also the sum of squares, the rank, the singular values and `rcond`; with `cov` also the
    covariances of the coefficients, for ``cov="unscaled"`` with ``1 / w^2`` the variances of the `y`.

    Shapes: ``x: (n,), y: (n,) -> (deg + 1,)``, or ``y: (n, k) -> (deg + 1, k)``; covariances are
    ``(deg + 1, deg + 1)``, or ``(deg + 1, deg + 1, k)`` unless unscaled.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of `linalg.lstsq`; linear in `y`.
    Raises: ShapeError: the lengths differ, or there are no more points than coefficients for `cov`.
    Source: NumPy reference, ``numpy.polyfit``.

    >>> polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).round(6).tolist()
    [2.0, 1.0]
    """
    xp = module_of(x, y, w)
    x, y = (v * 1.0 for v in (array_of(x, xp), array_of(y, xp)))
    if x.ndim != 1 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0] or not x.shape[0]:
        raise ShapeError(
            f"fnp.polyfit: x of shape {list(x.shape)} and y of shape {list(y.shape)}; need a vector, "
            f"not empty, and as many rows{where()}"
        )
    a = vander(x, deg + 1)
    if w is not None:
        w = array_of(w, xp)
        a, y = a * w[:, None], y * (w if y.ndim == 1 else w[:, None])
    size = norm2(a, axis=(0,))  # columns of one size make the system better conditioned
    if rcond is None:
        rcond = x.shape[0] * float(np.finfo(x.dtype).eps)
    a = a / size
    scaled, *rest = lstsq(a, y, rcond)
    p = scaled / (size if y.ndim == 1 else size[:, None])
    if full:
        return p, *rest, rcond
    if not cov:
        return p
    table = inv(matmul(a.T, a)) / (size[:, None] * size)
    if isinstance(cov, str) and cov == "unscaled":
        return p, table
    free = x.shape[0] - deg - 1
    if free < 1:
        raise ShapeError(
            f"fnp.polyfit: {x.shape[0]} points and {deg + 1} coefficients; cov= needs more points, or "
            f"is 'unscaled'{where()}"
        )
    size_of_rest = sum_of(absolute(y - matmul(a, scaled)) ** 2, axis=0) / free
    return p, table * size_of_rest if y.ndim == 1 else table[..., None] * size_of_rest


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers ``x_i^j`` of a vector, one column per power, falling unless `increasing`.

    Shapes: ``(n,) -> (n, N)``.   Dtypes: numbers.
    Derivative: that of the powers; smooth everywhere.
    Raises: ShapeError: `x` has not one axis.
    Source: NumPy reference, ``numpy.vander``.

    >>> vander([2.0, 3.0], 3).tolist()
    [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    x = array_of(x)
    if x.ndim != 1:
        raise ShapeError(f"fnp.vander: needs one axis, found {x.ndim}{where()}")
    count = x.shape[0] if N is None else N
    dtype = np.promote_types(x.dtype, int)
    if 0 < count <= _COLUMNS:
        x = converted(x, dtype)
        columns = [power(x, k) for k in range(count)]
        return stack(columns if increasing else columns[::-1], axis=1)
    powers = beside(x, np.arange(count))
    column = reshape(converted(x, dtype), shape=(*x.shape, 1))
    return converted(power(column, powers if increasing else powers[::-1]), dtype)


def poly(seq_of_zeros: Any) -> Any:
    """The polynomial ``(x - z_0) (x - z_1) ...`` with these zeros, or with a matrix' eigenvalues.

    Shapes: ``(n,) -> (n + 1,)``; ``(n, n) -> (n + 1,)``.
    Dtypes: numbers; complex zeros give complex coefficients, a real matrix real ones.
    Derivative: smooth everywhere; by a matrix where its eigenvalues differ.
    Raises: ShapeError: neither a vector nor a square matrix.
    Source: NumPy reference, ``numpy.poly``.

    >>> poly([1.0, 2.0]).tolist()
    [1.0, -3.0, 2.0]
    """
    zeros = atleast_1d(array_of(seq_of_zeros))
    is_real = zeros.dtype.kind != "c"
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1]:
        zeros = eigvals(zeros)
    if zeros.ndim != 1:
        raise ShapeError(
            f"fnp.poly: needs a vector or a square matrix, found shape {list(zeros.shape)}{where()}"
        )
    p = ones_like(zeros, shape=1)
    for i in range(zeros.shape[0]):
        p = pad(p, widths=((0, 1),)) - pad(p * zeros[i], widths=((1, 0),))
    return real(p) if is_real and p.dtype.kind == "c" else p


def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """The zeros of a polynomial, in no order: the eigenvalues of its companion matrix.

    With `strip_zeros` False the first coefficient is not 0, which nobody looks up: so `p` may be
    traced.

    Shapes: ``(n,) -> (n - 1,)`` without leading zeros.   Dtypes: numbers; always gives complex ones.
    Derivative: smooth where the zeros differ.
    Raises: ShapeError: coefficients are no vector. ConcretizationError: the coefficients that are
    zero are not known. LinAlgError: the first one is 0 after all.
    Source: NumPy reference, ``numpy.roots``.

    >>> sorted(roots([1.0, -3.0, 2.0]).real.round(6).tolist())
    [1.0, 2.0]
    """
    p = _coefficients("roots", array_of(p))
    at_zero = 0
    if strip_zeros:
        hint = "; strip_zeros=False says that the first is not"
        filled = np.flatnonzero(host("roots", "p", p, hint))
        if not filled.size:
            return np.zeros(0, complex)
        at_zero = p.shape[0] - 1 - int(filled[-1])
        p = p[int(filled[0]) : int(filled[-1]) + 1]
    n = p.shape[0] - 1
    found = zeros_like(p, shape=at_zero, dtype=np.result_type(p.dtype, np.complex64))
    if n > 0:
        companion = concatenate(
            reshape(-p[1:] / p[0], shape=(1, n)), beside(p, np.eye(n - 1, n)), axis=0
        )
        found = concatenate(eigvals(companion), found, axis=0)
    return found


class poly1d(np.poly1d):
    """A polynomial of one variable, by its coefficients or, with `r`, by its roots.

    NumPy's class: its operators and methods are the functions of this file, on traced coefficients.

    Shapes: ``(n,)``.   Dtypes: numbers.
    Derivative: by the coefficients and the variable.
    Raises: ConcretizationError: the values, of which zeros in front are left out, are not known.
    Source: NumPy reference, ``numpy.poly1d``.

    >>> float(poly1d([1.0, 0.0, 2.0]).deriv()(3.0))
    6.0
    """

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if not isinstance(c_or_r, np.poly1d):
            c_or_r = asarray(c_or_r)
        super().__init__(c_or_r, r, variable)

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, np.poly1d) and ndim(other) == 0:
            return poly1d(self.coeffs / other)
        return tuple(map(poly1d, polydiv(self.coeffs, poly1d(other).coeffs)))

    def __rtruediv__(self, other: Any) -> Any:
        return poly1d(other) / self
