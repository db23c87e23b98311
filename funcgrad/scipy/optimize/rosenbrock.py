"""Rosenbrock's function, with which solvers are tried."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ... import numpy as fnp
from ...errors import ShapeError, where
from ...transforms.derivatives import grad, hessian
from ...transforms.jvp import jvp
from .._arrays import floating


def rosen(x: Any) -> Any:
    """``sum(100 (x[i + 1] - x[i]^2)^2 + (1 - x[i])^2)`` along the first axis; 0 where all are 1.

    Shapes: ``x: (n, *a) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: of a polynomial.
    Raises: ShapeError: `x` is a number.
    Source: Rosenbrock, The Computer Journal 3 (1960) 175; SciPy reference, ``scipy.optimize.rosen``.

    >>> float(rosen([0.0, 1.0]))
    101.0
    """
    x = floating(x)
    if not x.ndim:
        raise ShapeError(f"rosen: needs one axis or more{where()}")
    return fnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2, axis=0)


def rosen_der(x: Any) -> Any:
    """The gradient of `rosen`.

    Shapes: ``x: (n) -> (n)``.   Dtypes: real; integers give float64.
    Derivative: of a polynomial.
    Raises: ShapeError: `x` is a number. ArgumentError: it has more than one axis.
    Source: SciPy reference, ``scipy.optimize.rosen_der``.

    >>> rosen_der([0.0, 1.0]).tolist()
    [-2.0, 200.0]
    """
    return grad(rosen)(floating(x))


def rosen_hess(x: Any) -> Any:
    """The second derivatives of `rosen`.

    Shapes: ``x: (n) -> (n, n)``.   Dtypes: real; integers give float64.
    Derivative: of a polynomial.
    Raises: ShapeError: `x` is a number. ArgumentError: it has more than one axis.
    Source: SciPy reference, ``scipy.optimize.rosen_hess``.

    >>> rosen_hess([0.0, 1.0]).tolist()
    [[-398.0, 0.0], [0.0, 200.0]]
    """
    return hessian(rosen)(floating(x))


def rosen_hess_prod(x: Any, p: Any) -> Any:
    """``rosen_hess(x) p``, without the matrix.

    Shapes: ``x: (n), p: (n) -> (n)``.   Dtypes: real; integers give float64.
    Derivative: of a polynomial, linear in `p`.
    Raises: ShapeError: `x` is a number, or the shapes differ.
    Source: SciPy reference, ``scipy.optimize.rosen_hess_prod``.

    >>> rosen_hess_prod([0.0, 1.0], [1.0, 1.0]).tolist()
    [-398.0, 200.0]
    """
    return jvp(rosen_der, (floating(x),), (floating(p),))[1]
