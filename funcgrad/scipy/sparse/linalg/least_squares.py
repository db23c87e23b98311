"""Least squares with large matrices: `lsqr`, `lsmr`.

NOTE [Pseudoinverse] Of matrices of constant rank ``x = A^+ b`` moves by
``A^+ (db - dA x + (A^+)^H dA^H r) + (1 - A^+ A) dA^H (A^+)^H x`` for the residual r. Every ``A^+`` is
another least squares problem, which SciPy solves, so the condition of `A` is never squared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import numpy as fnp
from ....core import Aval, Tracer, aval_of
from ....errors import ArgumentError, ShapeError, where
from ....numpy._arguments import array_of, converted
from ....ops.from_scipy import scipy_package
from ....ops.select import stop_gradient
from ....transforms.vjp import vjp
from ..._arrays import floating
from ..._options import refuse_options
from ..._programs import directional, on_host, tracing, with_tangent
from .operators import Products

Function = Callable[..., Any]

_LIMIT = 1e-14  # the tolerances of derivatives


def lsqr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: int | None = None,
    show: bool = False,
    calc_var: bool = False,
    x0: Any = None,
) -> tuple[Any, ...]:
    """The `x` with the least ``|A x - b|**2 + damp**2 |x - x0|**2``, the nearest to `x0` of many; and
    why it ended (1: ``A x = b``, 2: least squares, ..), steps, ``|r|``, the root of what is least,
    ``|A|``, its condition, ``|A^H r|``, ``|x|``, variances.

    `A` is an array, a sparse matrix, or a `LinearOperator`. SciPy finds the values, when programs run.

    Shapes: ``A: (m, n), b: (m,) -> (n,)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of ``A^+ b`` by `b`, `damp`, `x0` and by what `A` is made of, to any order, if its
    rank is constant; none of what comes with it.
    Raises: ShapeError: shapes do not fit. ArgumentError: `show`, `calc_var` under a transform, another
    kind of `A`. ImportError: no SciPy.
    Source: Paige & Saunders, "LSQR", ACM TOMS 8 (1982); Golub & Pereyra, SIAM J. Numer. Anal. 10
    (1973); SciPy reference, ``scipy.sparse.linalg.lsqr``.

    >>> import funcgrad
    >>> A = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> lsqr(A, np.array([1.0, 2.0, 1.0]))[0].round(6).tolist()
    [1.0, 1.0]
    >>> funcgrad.jacrev(lambda b: lsqr(A, b)[0][0])(np.ones(3)).round(6).tolist()
    [0.666667, 0.333333, -0.333333]
    """
    options = {"atol": atol, "btol": btol, "conlim": conlim, "iter_lim": iter_lim}
    more = {"show": show, "calc_var": calc_var}
    return _solved("lsqr", A, b, damp, x0, options, more, 6)


def lsmr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: Any = None,
) -> tuple[Any, ...]:
    """As `lsqr`, by steps whose ``|A^H r|`` falls; and why it ended, steps, ``|r|``, ``|A^H r|``,
    ``|A|``, its condition, ``|x|``.

    Shapes: ``A: (m, n), b: (m,) -> (n,)``.   Dtypes: floating, complex; integers give float64.
    Derivative: as `lsqr`.
    Raises: as `lsqr`.
    Source: Fong & Saunders, "LSMR", SIAM J. Sci. Comput. 33 (2011); SciPy reference,
    ``scipy.sparse.linalg.lsmr``.

    >>> A = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> lsmr(A, np.array([1.0, 2.0, 1.0]))[0].round(6).tolist()
    [1.0, 1.0]
    """
    options = {"atol": atol, "btol": btol, "conlim": conlim, "maxiter": maxiter}
    return _solved("lsmr", A, b, damp, x0, options, {"show": show}, 5)


def _solved(
    name: str,
    A: Any,
    b: Any,
    damp: Any,
    x0: Any,
    options: dict[str, Any],
    more: dict[str, Any],
    reals: int,
) -> tuple[Any, ...]:
    """SciPy's results: x, two counts, `reals` numbers, and perhaps variances."""
    linalg = scipy_package("sparse.linalg", name)
    products = Products(name, A)
    b, (m, n) = floating(b), products.shape
    b = b.reshape(-1) if b.shape == (m, 1) else b
    x0 = None if x0 is None else floating(x0)
    starts = () if x0 is None else (x0,)
    if b.shape != (m,) or any(s.shape != (n,) for s in starts):
        raise ShapeError(
            f"{name}: A has shape {[m, n]}, b {list(b.shape)}"
            f"{''.join(f', x0 {list(s.shape)}' for s in starts)}; need (m, n), (m,) and (n,){where()}"
        )
    if not tracing():
        solver = getattr(linalg, name)
        at = products.of_scipy(linalg, products.held)
        return tuple(solver(at, b, damp, **options, **more, x0=x0))
    refuse_options(name, **more)
    damp = array_of(damp)
    if aval_of(damp).shape or aval_of(damp).dtype.kind == "c":
        raise ArgumentError(f"{name}: damp is {aval_of(damp)}; need a real number{where()}")
    dtype = np.result_type(products.dtype, *[aval_of(v).dtype for v in (b, *starts)])
    real = Aval((), np.dtype(np.float64))
    b, starts = converted(b, dtype), tuple(converted(s, dtype) for s in starts)
    k, vector = len(products.held), Aval((n,), dtype)

    def compute(*values: Any) -> list[Any]:
        at = products.of_scipy(linalg, values[:k])
        right, shift, *start = values[k:]
        found = getattr(linalg, name)(at, right, float(shift), **options, x0=(*start, None)[0])
        return list(found)[: 3 + reals]

    held = [*products.held, b, damp, *starts]
    types = [vector, *[Aval((), np.dtype(np.int64))] * 2, *[real] * reals]
    x, *about = on_host(name, compute, held, types)
    # for a damped x the problem is one with more equations: damp x = damp x0
    damped = isinstance(damp, Tracer) or bool(damp)
    parts = _Augmented(products, linalg) if damped else _Plain(products, linalg)
    given = [*products.held, damp] if damped else products.held
    right = b
    if damped:
        below = damp * starts[0] if starts else fnp.zeros(n, dtype)
        right = fnp.concatenate([b, converted(below, dtype)])
    elif starts:  # undamped, the part of x0 that A does not see stays
        right = b - products.forward(*products.held, starts[0])
    step = x if not starts or damped else x - stop_gradient(starts[0])
    best = _with_slopes(name, step, parts, given, right)
    if starts and not damped:
        best = best + starts[0]
    return (best, *about, np.zeros(n)) if name == "lsqr" else (best, *about)


class _Plain:
    """A matrix, its conjugate transpose, and the pseudoinverse of both."""

    def __init__(self, products: Products, linalg: Any, turned: bool = False) -> None:
        self.products, self.linalg, self.turned = products, linalg, turned
        self.shape = products.shape[::-1] if turned else products.shape
        self.forward = products.backward if turned else products.forward
        self.backward = products.forward if turned else products.backward

    @property
    def H(self) -> _Plain:
        return type(self)(self.products, self.linalg, not self.turned)

    def on_host(self, held: Sequence[Any]) -> Any:
        found = self.linalg.aslinearoperator(self.products.of_scipy(self.linalg, held))
        return found.H if self.turned else found


class _Augmented(_Plain):
    """The matrix with ``damp`` times the unit matrix below it; `damp` is held last."""

    def __init__(self, products: Products, linalg: Any, turned: bool = False) -> None:
        super().__init__(products, linalg, turned)
        m, n = products.shape
        self.shape = (n, m + n) if turned else (m + n, n)
        self.forward = self._back if turned else self._there
        self.backward = self._there if turned else self._back

    def _there(self, *values: Any) -> Any:
        *held, damp, x = values
        return fnp.concatenate([self.products.forward(*held, x), damp * x])

    def _back(self, *values: Any) -> Any:
        *held, damp, y = values
        m = self.products.shape[0]
        return self.products.backward(*held, y[:m]) + damp * y[m:]

    def on_host(self, held: Sequence[Any]) -> Any:
        there, back = (lambda x: self.forward(*held, x)), (lambda y: self.backward(*held, y))
        return self.linalg.LinearOperator(self.shape, there, back, dtype=self.products.dtype)


def _pseudo(name: str, matrix: _Plain, held: Sequence[Any], y: Any) -> Any:
    """``A^+ y``."""
    size = matrix.shape[1]
    aval = Aval((size,), aval_of(y).dtype)

    def compute(*values: Any) -> list[Any]:
        *at, right = values
        steps = 20 * max(matrix.shape)
        found = matrix.linalg.lsqr(matrix.on_host(at), right, 0.0, _LIMIT, _LIMIT, 0, steps)
        return [found[0]]

    (x,) = on_host(name, compute, [*held, y], [aval])
    return _with_slopes(name, x, matrix, held, y)


def _with_slopes(name: str, x: Any, matrix: _Plain, held: Sequence[Any], right: Any) -> Any:
    """`x`, which is ``A^+ right``, with its derivatives; NOTE [Pseudoinverse]."""

    def moving(x: Any, r: Any, z: Any) -> Function:
        """``b - A x``, ``A^H r`` and ``A^H z`` as a function of the operands."""

        def parts(*at: Any) -> Any:
            *own, b = at
            back = matrix.backward
            return fnp.concatenate([b - matrix.forward(*own, x), back(*own, r), back(*own, z)])

        return parts

    def around(x: Any, at: Sequence[Any]) -> tuple[Any, Any]:
        """The residual, and ``(A^+)^H x``."""
        *own, b = at
        return b - matrix.forward(*own, x), _pseudo(name, matrix.H, own, x)

    m, n = matrix.shape

    def tangent(x: Any, at: Sequence[Any], dots: Sequence[Any]) -> Any:
        own = at[:-1]
        if all(dot is None for dot in dots[:-1]):
            return None if dots[-1] is None else _pseudo(name, matrix, own, dots[-1])
        moved = directional(moving(x, *around(x, at)), at, dots)
        if moved is None:
            return None
        inner = moved[:m] + _pseudo(name, matrix.H, own, moved[m : m + n])
        rest = moved[m + n :]
        return rest + _pseudo(name, matrix, own, inner - matrix.forward(*own, rest))

    def pullback(x: Any, at: Sequence[Any], places: Sequence[int], ct: Any) -> Any:
        own = at[:-1]
        dual = fnp.conj(_pseudo(name, matrix.H, own, fnp.conj(ct)))
        if list(places) == [len(own)]:
            return [dual]
        inner = fnp.conj(_pseudo(name, matrix, own, fnp.conj(dual)))
        rest = ct - fnp.conj(matrix.backward(*own, fnp.conj(dual)))
        parts = moving(x, *around(x, at))

        def of_moving(*values: Any) -> Any:
            full = list(at)
            for i, v in zip(places, values, strict=True):
                full[i] = v
            return parts(*full)

        cts = fnp.concatenate([dual, inner, rest])
        return vjp(of_moving, *(at[i] for i in places))[1](cts)

    return with_tangent(name, x, [*held, right], tangent, pullback, linear=len(held))
