"""What all families of polynomials share: series of coefficients, the lowest degree first.

A family is a recurrence, ``p_(k+1)(x) = (a x + b) p_k(x) - c p_(k-1)(x)``, with NumPy's module for the
rest: what is linear in the coefficients (derivatives, products with x, other bases) is NumPy's
function of unit vectors, once, as a matrix. Series keep zeros at their end, which NumPy cuts off.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from .._arguments import array_of, axis_of, beside, converted, stacked
from ..creation import zeros
from ..joining import concatenate, stack
from ..linalg import eigvals, lstsq, solve
from ..ordering import moveaxis
from ..products import tensordot
from ..reductions import sum as _sum
from ..shaping import atleast_1d
from ..sorting import sort

Recurrence = Callable[[int], tuple[float, float, float]]


class Family:
    """The functions of one of NumPy's modules of polynomials.

    >>> from numpy.polynomial import chebyshev
    >>> cheb = Family("cheb", chebyshev, lambda k: (1.0 if k == 0 else 2.0, 0.0, 1.0))
    """

    def __init__(self, prefix: str, theirs: ModuleType, recurrence: Recurrence) -> None:
        self.prefix, self.theirs, self.recurrence = prefix, theirs, recurrence
        self._cached = functools.cache(self._product)

    def _their(self, name: str) -> Any:
        return getattr(self.theirs, self.prefix + name)

    # -------------------------------------------------------- values

    def val(self, x: Any, c: Any, tensor: bool = True) -> Any:
        """``sum_k c_k p_k(x)``, by Clenshaw's recurrence.

        Shapes: ``x: (*a), c: (n, *b) -> (*b, *a)``; ``broadcast(a, b)`` if not `tensor`.
        Dtypes: numbers; integers give floats.
        Derivative: linear in `c`, smooth in `x`.
        Raises: ShapeError: the shapes do not broadcast.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebval`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebval(0.5, [1.0, 2.0, 3.0]).tolist()
        0.5
        """
        x, c = array_of(x), self._series(c, vector=False)
        if tensor:
            c = c.reshape(c.shape + (1,) * x.ndim)
        above, last = 0.0, c[-1] + 0.0 * x
        for k in range(c.shape[0] - 2, -1, -1):
            a, b, _ = self.recurrence(k)
            after = self.recurrence(k + 1)[2]
            above, last = last, c[k] + (a * x + b) * last - after * above
        return last

    def val2d(self, x: Any, y: Any, c: Any) -> Any:
        """``sum_ij c_ij p_i(x) p_j(y)`` at points (x, y).

        Shapes: ``x: (*a), y: (*a), c: (m, n, *b) -> (*b, *a)``.   Dtypes: numbers.
        Derivative: linear in `c`, smooth in the others.
        Raises: ShapeError: the points' coordinates differ in shape.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebval2d`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebval2d(0.5, 2.0, [[1.0, 1.0], [0.0, 2.0]]).tolist()
        5.0
        """
        return self._at_points("val2d", (x, y), c)

    def val3d(self, x: Any, y: Any, z: Any, c: Any) -> Any:
        """``sum_ijk c_ijk p_i(x) p_j(y) p_k(z)`` at points (x, y, z).

        Shapes: ``x, y, z: (*a), c: (l, m, n, *b) -> (*b, *a)``.   Dtypes: numbers.
        Derivative: linear in `c`, smooth in the others.
        Raises: ShapeError: the points' coordinates differ in shape.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebval3d`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebval3d(0.5, 2.0, 3.0, [[[1.0, 1.0]]]).tolist()
        4.0
        """
        return self._at_points("val3d", (x, y, z), c)

    def _at_points(self, name: str, points: tuple[Any, ...], c: Any) -> Any:
        first, *rest = map(array_of, points)
        if any(x.shape != first.shape for x in rest):
            shapes = [list(x.shape) for x in (first, *rest)]
            raise ShapeError(f"{self.prefix}{name}: points of shapes {shapes}{where()}")
        c = self.val(first, c)
        for x in rest:
            c = self.val(x, c, tensor=False)
        return c

    def grid2d(self, x: Any, y: Any, c: Any) -> Any:
        """``sum_ij c_ij p_i(x) p_j(y)`` for every `x` and every `y`.

        Shapes: ``x: (*a), y: (*d), c: (m, n, *b) -> (*b, *a, *d)``.   Dtypes: numbers.
        Derivative: linear in `c`, smooth in the others.
        Raises: nothing of its own.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebgrid2d`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebgrid2d([0.0, 0.5], [2.0], [[1.0, 1.0], [0.0, 2.0]]).tolist()
        [[3.0], [5.0]]
        """
        return self.val(y, self.val(x, c))

    def grid3d(self, x: Any, y: Any, z: Any, c: Any) -> Any:
        """``sum_ijk c_ijk p_i(x) p_j(y) p_k(z)`` for every `x`, every `y` and every `z`.

        Shapes: ``x: (*a), y: (*d), z: (*e), c: (l, m, n, *b) -> (*b, *a, *d, *e)``.
        Dtypes: numbers.
        Derivative: linear in `c`, smooth in the others.
        Raises: nothing of its own.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebgrid3d`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebgrid3d([0.5], [2.0], [3.0], [[[1.0, 1.0]]]).tolist()
        [[[4.0]]]
        """
        return self.val(z, self.val(y, self.val(x, c)))

    def vander(self, x: Any, deg: int) -> Any:
        """``p_0(x), ..., p_deg(x)`` along a new last axis.

        Shapes: ``x: (*a) -> (*a, deg + 1)``, with one axis at least before.
        Dtypes: numbers; integers give floats.
        Derivative: smooth in `x`.
        Raises: ArgumentError: `deg` is negative.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebvander`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebvander([0.5], 2).tolist()
        [[1.0, 0.5, -0.5]]
        """
        if deg < 0:
            raise ArgumentError(f"{self.prefix}vander: deg={deg}; need 0 or more{where()}")
        x = atleast_1d(array_of(x)) + 0.0
        columns = [x * 0.0 + 1.0]
        for k in range(deg):
            a, b, c = self.recurrence(k)
            column = (a * x + b) * columns[k]
            columns.append(column - c * columns[k - 1] if k else column)
        return stack(columns, axis=-1)

    def vander2d(self, x: Any, y: Any, deg: Any) -> Any:
        """``p_i(x) p_j(y)`` along a new last axis, for i and j up to the degrees.

        Shapes: ``x, y: (*a) -> (*a, (deg[0] + 1) (deg[1] + 1))``.
        Dtypes: numbers; integers give floats.
        Derivative: smooth in both.
        Raises: as `vander`. ShapeError: not a degree for each coordinate.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebvander2d`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebvander2d([0.5], [2.0], [1, 1]).tolist()
        [[1.0, 2.0, 0.5, 1.0]]
        """
        return self._products((x, y), deg)

    def vander3d(self, x: Any, y: Any, z: Any, deg: Any) -> Any:
        """``p_i(x) p_j(y) p_k(z)`` along a new last axis, for i, j and k up to the degrees.

        Shapes: ``x, y, z: (*a) -> (*a, (deg[0] + 1) (deg[1] + 1) (deg[2] + 1))``.
        Dtypes, Derivative, Raises: as `vander2d`.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebvander3d`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebvander3d([0.5], [2.0], [3.0], [0, 1, 1]).tolist()
        [[1.0, 3.0, 2.0, 6.0]]
        """
        return self._products((x, y, z), deg)

    def _products(self, points: tuple[Any, ...], deg: Any) -> Any:
        degrees = [operator.index(n) for n in deg]
        if len(degrees) != len(points):
            raise ShapeError(
                f"{self.prefix}vander{len(points)}d: deg={deg}; need one for each coordinate{where()}"
            )
        first, *rest = (self.vander(x, n) for x, n in zip(points, degrees, strict=True))
        for factor in rest:
            first = first[..., :, None] * factor[..., None, :]
            first = first.reshape((*first.shape[:-2], -1))
        return first

    # -------------------------------------------------------- linear in the coefficients

    def der(self, c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
        """The series of the derivative of order `m`, multiplied by `scl` each time.

        Shapes: ``(*a, n, *b) -> (*a, max(n - m, 1), *b)``.   Dtypes: numbers; integers give floats.
        Derivative: linear in `c`, a power of `scl`.
        Raises: ShapeError: there is no such axis.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebder`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebder([1.0, 2.0, 3.0]).tolist()
        [2.0, 12.0]
        """
        y = self._mapped("der", c, axis, lambda n: self._their("der")(np.eye(n), m))
        return y * scl**m if m else y

    def int(
        self, c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0
    ) -> Any:
        """The series of the antiderivative of order `m` that has the values `k` at `lbnd`.

        Shapes: ``(*a, n, *b) -> (*a, n + m, *b)``.   Dtypes: numbers; integers give floats.
        Derivative: linear in `c` and in `k`, smooth in `lbnd` and `scl`.
        Raises: ShapeError: there is no such axis. ArgumentError: more than `m` values.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebint`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebint([1.0, 2.0]).tolist()
        [0.5, 1.0, 0.5]
        """
        name = f"{self.prefix}int"
        k = atleast_1d(stacked(list(k)) if isinstance(k, tuple | list) and k else array_of(k))
        if k.shape[0] > m:
            raise ArgumentError(f"{name}: {k.shape[0]} constants for m={m}{where()}")
        y = self._series(c, vector=False)
        axis = axis_of(name, axis, y.ndim)
        y = moveaxis(y, axis, 0)
        for i in range(m):
            y = self._mapped("int", y, 0, lambda n: self._their("int")(np.eye(n))) * scl
            lift = -self.val(lbnd, y)
            lift = lift + k[i] if i < k.shape[0] else lift
            kind = aval_of(lift).dtype.kind
            lift = lift if kind == "c" else converted(lift, aval_of(y).dtype)
            y = concatenate([y[:1] + lift.reshape((1, *y.shape[1:])), y[1:]])
        return moveaxis(y, 0, axis)

    def mulx(self, c: Any) -> Any:
        """The series multiplied by x.

        Shapes: ``(n,) -> (n + 1,)``.   Dtypes: numbers; integers give floats.
        Derivative: linear.
        Raises: ShapeError: `c` is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebmulx`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebmulx([1.0, 2.0]).tolist()
        [1.0, 1.0, 1.0]
        """
        c = self._series(c)
        return self._mapped("mulx", c, 0, lambda n: _columns(self._their("mulx"), n, n + 1))

    def to_poly(self, c: Any) -> Any:
        """The coefficients of the powers of x.

        Shapes: ``(n,) -> (n,)``.   Dtypes: numbers; integers give floats.
        Derivative: linear.
        Raises: ShapeError: `c` is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.cheb2poly`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.cheb2poly([0.0, 0.0, 1.0]).tolist()
        [-1.0, 0.0, 2.0]
        """
        c = self._series(c)
        return self._mapped("2poly", c, 0, lambda n: _columns(self._their("2poly"), n, n))

    def from_poly(self, pol: Any) -> Any:
        """The series of a polynomial given by its powers of x.

        Shapes: ``(n,) -> (n,)``.   Dtypes: numbers; integers give floats.
        Derivative: linear.
        Raises: ShapeError: `pol` is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.poly2cheb`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.poly2cheb([0.0, 0.0, 2.0]).tolist()
        [1.0, 0.0, 1.0]
        """
        theirs = getattr(self.theirs, f"poly2{self.prefix}")
        return self._mapped("", self._series(pol), 0, lambda n: _columns(theirs, n, n))

    # -------------------------------------------------------- arithmetic

    def add(self, c1: Any, c2: Any) -> Any:
        """The sum of two series.

        Shapes: ``(m,), (n,) -> (max(m, n),)``.   Dtypes: numbers; integers give floats.
        Derivative: linear.
        Raises: ShapeError: a series is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebadd`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebadd([1.0, 2.0], [3.0]).tolist()
        [4.0, 2.0]
        """
        c1, c2 = self._series(c1), self._series(c2)
        n = max(c1.shape[0], c2.shape[0])
        return _longer(c1, n) + _longer(c2, n)

    def sub(self, c1: Any, c2: Any) -> Any:
        """The difference of two series.

        Shapes: ``(m,), (n,) -> (max(m, n),)``.   Dtypes: numbers; integers give floats.
        Derivative: linear.
        Raises: ShapeError: a series is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebsub`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebsub([1.0, 2.0], [3.0]).tolist()
        [-2.0, 2.0]
        """
        return self.add(c1, -self._series(c2))

    def mul(self, c1: Any, c2: Any) -> Any:
        """The product of two series.

        Shapes: ``(m,), (n,) -> (m + n - 1,)``.   Dtypes: numbers; integers give floats.
        Derivative: bilinear.
        Raises: ShapeError: a series is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebmul`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebmul([0.0, 1.0], [0.0, 1.0]).tolist()
        [0.5, 0.0, 0.5]
        """
        c1, c2 = self._series(c1), self._series(c2)
        table = self._cached(c1.shape[0], c2.shape[0]).astype(_real(c1, c2))
        return tensordot(tensordot(beside(c1, table), c2, 1), c1, 1)

    def _product(self, m: Any, n: Any) -> np.ndarray:
        """``table[k, i, j]``: how much of p_k there is in p_i p_j."""
        mul = self._their("mul")
        table = np.zeros((m + n - 1, m, n))
        for i, j in np.ndindex(m, n):
            found = mul(np.eye(i + 1)[i], np.eye(j + 1)[j])
            table[: found.size, i, j] = found
        return table

    def div(self, c1: Any, c2: Any) -> tuple[Any, Any]:
        """The quotient and the remainder of two series: ``c1 = q c2 + r``.

        Shapes: ``(m,), (n,) -> (max(m - n + 1, 1),), (max(min(m, n - 1), 1),)``.
        Dtypes: numbers; integers give floats.
        Derivative: smooth where the last coefficient of `c2` is not 0.
        Raises: LinAlgError: that is 0. ShapeError: a series is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebdiv`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> [c.tolist() for c in cheb.chebdiv([1.0, 2.0, 3.0], [0.0, 1.0])]
        [[2.0, 6.0], [-2.0]]
        """
        c1, c2 = self._series(c1), self._series(c2)
        m, n = c1.shape[0], c2.shape[0]
        if m < n:
            return c1[:1] * 0.0, c1
        table = self._cached(m - n + 1, n).astype(_real(c1, c2))
        products = tensordot(beside(c2, table), c2, 1)
        quotient = solve(products[n - 1 :], c1[n - 1 :])
        if n == 1:
            return quotient, c1[:1] * 0.0
        return quotient, c1[: n - 1] - tensordot(products[: n - 1], quotient, 1)

    def line(self, off: Any, scl: Any) -> Any:
        """The series of ``off + scl x``.

        Shapes: ``(), () -> (2,)``.   Dtypes: numbers; integers give floats.
        Derivative: linear.   Raises: ShapeError: one is no number.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebline`` and its like.

        >>> from funcgrad.numpy.polynomial import laguerre as lag
        >>> lag.lagline(3.0, 2.0).tolist()
        [5.0, -2.0]
        """
        pol = stack([off, scl])
        return self._series(pol) if self.prefix == "poly" else self.from_poly(pol)

    def pow(self, c: Any, pow: Any, maxpower: Any = 16) -> Any:
        """The series to a whole power that is not above `maxpower`.

        Shapes: ``(n,) -> (pow (n - 1) + 1,)``.   Dtypes: numbers; integers give floats.
        Derivative: that of the products.
        Raises: ArgumentError: the power is negative or above `maxpower`. ShapeError: no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebpow`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebpow([0.0, 1.0], 2).tolist()
        [0.5, 0.0, 0.5]
        """
        c = self._series(c)
        if pow != round(pow) or pow < 0 or (maxpower is not None and pow > maxpower):
            raise ArgumentError(
                f"{self.prefix}pow: pow={pow!r}; need a whole number up to {maxpower}{where()}"
            )
        y = beside(c, np.ones(1, aval_of(c).dtype))
        for _ in range(round(pow)):
            y = self.mul(y, c)
        return y

    # -------------------------------------------------------- roots and fits

    def fromroots(self, roots: Any) -> Any:
        """The series of ``(x - r_1) (x - r_2) ...``.

        Shapes: ``(n,) -> (n + 1,)``.   Dtypes: numbers; integers give floats.
        Derivative: smooth everywhere.
        Raises: ShapeError: `roots` is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebfromroots`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebfromroots([1.0, -1.0]).tolist()
        [-0.5, 0.0, 0.5]
        """
        roots = array_of(roots)
        if roots.ndim == 1 and not roots.shape[0]:
            return beside(roots, np.ones(1))
        roots = self._series(roots)
        y = beside(roots, np.ones(1, aval_of(roots).dtype))
        for i in range(roots.shape[0]):
            y = self.sub(self.mulx(y), y * roots[i])
        return y

    def companion(self, c: Any) -> Any:
        """The matrix whose eigenvalues are the roots of the series, scaled as NumPy's.

        Shapes: ``(n,) -> (n - 1, n - 1)``, n > 1.   Dtypes: numbers; integers give floats.
        Derivative: smooth where the last coefficient is not 0.
        Raises: ShapeError: `c` is no vector of two elements or more.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebcompanion`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebcompanion([-0.5, 0.0, 0.5]).round(4).tolist()
        [[0.0, 1.4142], [0.7071, 0.0]]
        """
        c = self._series(c)
        n = c.shape[0]
        if n < 2:
            raise ShapeError(f"{self.prefix}companion: needs two coefficients, found {n}{where()}")
        unit, ones = np.zeros(n), np.ones(n)
        unit[-1] = 1.0
        start, other = self._their("companion")(unit), self._their("companion")(ones)
        change = (other - start)[:, -1].astype(_real(c))
        last = (c[:-1] / c[-1] * beside(c, change)).reshape((n - 1, 1))
        wide = [beside(c, np.zeros((n - 1, n - 2), _real(c))), last]
        return beside(c, start.astype(_real(c))) + concatenate(wide, axis=1)

    def roots(self, c: Any) -> Any:
        """The roots of a series, complex, sorted by their real and then by their imaginary parts.

        Shapes: ``(n,) -> (n - 1,)``.   Dtypes: numbers; gives complex.
        Derivative: that of eigenvalues; infinite where roots meet.
        Raises: ShapeError: `c` is no vector.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebroots`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebroots([-0.5, 0.0, 0.5]).real.round(4).tolist()
        [-1.0, 1.0]
        """
        c = self._series(c)
        if c.shape[0] < 2:
            return zeros(0, complex)
        return sort(converted(eigvals(self.companion(c)[::-1, ::-1]), _complex(c)))

    def fit(
        self, x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None
    ) -> Any:
        """The series of degree `deg` nearest to points, by the sum of squares weighted with `w`.

        `deg` may be the list of the degrees to take; the others have the coefficient 0. With `full`
        also the sum of squares, the rank, the singular values and `rcond`.

        Shapes: ``x: (m,), y: (m,) or (m, k) -> (deg + 1,) or (deg + 1, k)``.
        Dtypes: numbers; integers give floats.
        Derivative: that of least squares, by all three.
        Raises: ArgumentError: a negative degree. ShapeError: the lengths differ.
        Source: NumPy reference, ``numpy.polynomial.chebyshev.chebfit`` and its like.

        >>> from funcgrad.numpy.polynomial import chebyshev as cheb
        >>> cheb.chebfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).round(4).tolist()
        [1.0, 2.0]
        """
        name = f"{self.prefix}fit"
        x, y = self._series(x), self._series(y, vector=False)
        if y.ndim > 2 or x.shape[0] != y.shape[0]:
            raise ShapeError(f"{name}: x of shape {list(x.shape)}, y of {list(y.shape)}{where()}")
        listed = np.ndim(deg) > 0
        degrees = sorted(operator.index(n) for n in deg) if listed else [operator.index(deg)]
        if not degrees or degrees[0] < 0:
            raise ArgumentError(f"{name}: deg={deg}; need degrees of 0 or more{where()}")
        left = self.vander(x, degrees[-1])
        left = left[:, np.array(degrees)] if listed else left
        if w is not None:
            w = array_of(w)
            if w.shape != x.shape:
                raise ShapeError(
                    f"{name}: w of shape {list(w.shape)}; there are {x.shape[0]} points{where()}"
                )
            left, y = left * w.reshape((-1, 1)), y * w.reshape((-1,) + (1,) * (y.ndim - 1))
        rcond = x.shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
        scale = _sum(abs(left) ** 2, axis=0) ** 0.5
        found, *rest = lstsq(left / scale, y, rcond)
        found = found / scale.reshape((-1,) + (1,) * (y.ndim - 1))
        if listed:
            places = np.zeros((degrees[-1] + 1, len(degrees)), _real(found))
            places[degrees, range(len(degrees))] = 1.0
            found = tensordot(beside(found, places), found, 1)
        return (found, [*rest, rcond]) if full else found

    # -------------------------------------------------------- arguments

    def _series(self, c: Any, *, vector: bool = True) -> Any:
        """Coefficients as floats."""
        c = atleast_1d(array_of(c))
        if (vector and c.ndim != 1) or not c.shape[0]:
            raise ShapeError(f"{self.prefix}: a series of shape {list(c.shape)}{where()}")
        return c if aval_of(c).dtype.kind in "fc" else converted(c, float)

    def _mapped(self, name: str, c: Any, axis: Any, matrix: Callable[[Any], np.ndarray]) -> Any:
        """The coefficients along an axis, as a linear map changes them."""
        c = self._series(c, vector=False)
        axis = axis_of(f"{self.prefix}{name}", axis, c.ndim)
        c = moveaxis(c, axis, 0)
        table = matrix(c.shape[0]).astype(_real(c))
        return moveaxis(tensordot(beside(c, table), c, 1), 0, axis)


def _columns(function: Callable[[Any], np.ndarray], n: int, rows: int) -> np.ndarray:
    """The matrix of a linear function of `n` coefficients."""
    table = np.zeros((rows, n))
    for j in range(n):
        found = function(np.eye(j + 1)[j])
        table[: found.size, j] = found
    return table


def _real(*xs: Any) -> Any:
    """The dtype of the real parts."""
    dtype = np.result_type(*(aval_of(x).dtype for x in xs))
    return np.finfo(dtype).dtype


def _complex(x: Any) -> Any:
    return np.result_type(aval_of(x).dtype, np.complex64)


def _longer(c: Any, n: int) -> Any:
    lack = n - c.shape[0]
    return concatenate([c, beside(c, np.zeros(lack, aval_of(c).dtype))]) if lack else c
