"""Matrices made nearly triangular by rotations: Schur's and Hessenberg's forms, of SciPy.

Matrices are the last two axes; all axes before them are a batch. These have no derivative: LAPACK
chooses phases, blocks and an order, and what does not depend on these is better had otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ..algebra import general
from ..core import Aval, Primitive
from ..errors import MissingRuleError
from ..errors import where as user_line
from .from_scipy import floating, scipy_function
from .solve import factor_dtype, require_matrix
from .structural import batch_all_first


def _no_rule(name: str) -> Callable[..., NoReturn]:
    def rule(_t: Any, _ans: Any, *_xs: Any, **_params: Any) -> NoReturn:
        raise MissingRuleError(
            f"{name}: LAPACK chooses the form, so it has no derivative; eigvals, funm, expm and the "
            f"like have one, and stop_gradient goes without{user_line()}"
        )

    return rule


def of_each(xp: ModuleType, name: str, *arrays: Any, **options: Any) -> tuple[Any, ...]:
    """The results, stacked, of SciPy's function of each of the matrices in these stacks."""
    f = scipy_function(xp, name, "linalg")
    lead, size = arrays[0].shape[:-2], arrays[0].shape[-2:]
    stacks = [floating(xp, x).reshape(math.prod(lead), *size) for x in arrays]
    count = len(stacks[0])
    if not count:  # the types of the results are those of any matrix
        stacks = [xp.zeros((1, *size), dtype=x.dtype) for x in stacks]
    found = [f(*parts, **options, check_finite=False) for parts in zip(*stacks, strict=True)]
    return tuple(
        xp.stack(column)[:count].reshape(*lead, *xp.shape(column[0]))
        for column in zip(*found, strict=True)
    )


def _two_like(name: str, dtype: Callable[..., Any]) -> Callable[..., tuple[Aval, Aval]]:
    """The shape rule of two results of the shape of the first operand."""

    def aval(x: Aval, *others: Aval, **params: Any) -> tuple[Aval, Aval]:
        require_matrix(name, x, square=True)
        out = Aval(x.shape, dtype(x, *others, **params))
        return out, out

    return aval


def _complex_dtype(*avals: Aval, output: str = "complex") -> Any:
    real = factor_dtype(*avals)
    return real if output == "real" else np.result_type(real, np.complex64)


def _batch(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    return prim(*batch_all_first(size, xs, bdims), **params), (0, 0)


@general(_no_rule("schur"), aval=_two_like("schur", _complex_dtype), batch=_batch, multiple=True)
def schur(xp, x, /, *, output):
    """``t, z`` with ``x = z t z^H``, z unitary, t upper triangular; see ``scipy.linalg.schur``.

    With `output` "real" a real matrix has real results, with blocks of 2 by 2 in t.

    Shapes: ``x: (*a, n, n) -> (*a, n, n), (*a, n, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: refused, since what LAPACK chooses is not smooth.
    Raises: MissingRuleError: a derivative. LinAlgError: no convergence. ImportError: SciPy is not
    installed.
    Source: LAPACK gees; SciPy reference, ``scipy.linalg.schur``.

    >>> t, z = schur(np.array([[0.0, 1.0], [-1.0, 0.0]]), output="complex")
    >>> abs(t).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return of_each(xp, "schur", x, output=output)


@general(
    _no_rule("rsf2csf"),
    _no_rule("rsf2csf"),
    aval=_two_like("rsf2csf", _complex_dtype),
    batch=_batch,
    multiple=True,
)
def rsf2csf(xp, t, z, /):
    """Schur's form with complex numbers, of that with real ones and blocks.

    Shapes: ``t: (*a, n, n), z: (*a, n, n) -> (*a, n, n), (*a, n, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: refused, since what LAPACK chooses is not smooth.
    Raises: MissingRuleError: a derivative. ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.linalg.rsf2csf``.

    >>> t, z = rsf2csf(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.eye(2))
    >>> abs(t).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    found = of_each(xp, "rsf2csf", t, z)
    dtype = xp.result_type(*found, xp.complex64)
    return tuple(y.astype(dtype) for y in found)


@general(
    _no_rule("hessenberg"),
    aval=_two_like("hessenberg", factor_dtype),
    batch=_batch,
    multiple=True,
)
def hessenberg(xp, x, /):
    """``h, q`` with ``x = q h q^H``, q unitary, h zero below the first subdiagonal.

    Shapes: ``x: (*a, n, n) -> (*a, n, n), (*a, n, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: refused, since what LAPACK chooses is not smooth.
    Raises: MissingRuleError: a derivative. ImportError: SciPy is not installed.
    Source: LAPACK gehrd; SciPy reference, ``scipy.linalg.hessenberg``.

    >>> h, q = hessenberg(np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 0.0], [4.0, 0.0, 1.0]]))
    >>> abs(h[:, 0]).round(12).tolist()
    [1.0, 5.0, 0.0]
    """
    return of_each(xp, "hessenberg", x, calc_q=True)
