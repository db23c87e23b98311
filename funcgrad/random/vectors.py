"""Vectors and matrices, and the numbers that points of balls are made of."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import converted, operand
from ..ops.softmax import logsumexp, softmax
from ._arguments import Shape, floating, in_dtype, of_shape, parameters, shape_of
from .continuous import exponential, normal
from .discrete import rademacher
from .gammas import log_gamma_numbers
from .keys import split


def dirichlet(key: Any, alpha: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Vectors of positive numbers with sum 1 and density in proportion to ``prod(x^(alpha - 1))``.

    Shapes: ``alpha: (*a, n) -> (*shape, n)``; `shape` is that of the batch (*a) unless given.
    Dtypes: the floating `dtype`.
    Derivative: by `alpha`, through gamma variables.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `alpha` has no axis,
    or its batch does not broadcast to `shape`.
    Source: JAX, ``jax.random.dirichlet``.

    >>> float(dirichlet(np.zeros(2, np.uint32), np.array([1.0, 2.0, 3.0])).sum().round(12))
    1.0
    """
    dtype = floating("dirichlet", dtype)
    alpha = in_dtype("dirichlet", alpha, dtype)
    if not alpha.ndim:
        raise ShapeError(f"random.dirichlet: alpha is {aval_of(alpha)}; need one axis{where()}")
    n = alpha.shape[-1]
    full, alpha = parameters(
        "dirichlet", None if shape is None else (*shape_of(shape), n), dtype, alpha
    )
    logs = log_gamma_numbers(key, alpha, full, dtype)
    return fnp.astype(softmax(logs, axis=(len(full) - 1,)), dtype)


def _root_of(method: str, cov: Any) -> Any:
    """A matrix whose product with its transpose is `cov`."""
    if method == "cholesky":
        return fnp.linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = fnp.linalg.eigh(cov)
    elif method == "svd":
        vectors, values, _ = fnp.linalg.svd(cov)
    else:
        raise ArgumentError(
            f"random.multivariate_normal: method={method!r}; need 'cholesky', 'eigh' or 'svd'"
            f"{where()}"
        )
    return vectors * fnp.sqrt(values)[..., None, :]


def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Shape | None = None,
    dtype: Any = None,
    method: str = "cholesky",
) -> Any:
    """Vectors of normal numbers with the mean `mean` and the covariances `cov`.

    Shapes: ``mean: (*a, n), cov: (*b, n, n) -> (*shape, n)``; `shape` is what the batches broadcast
    to, unless given.   Dtypes: the floating `dtype`, or that of `mean` and `cov`.
    Derivative: by `mean` and `cov`; `cholesky` reads the lower triangle of `cov`.
    Raises: ArgumentError: `key` is no key, `dtype` not floating, or `method` none of cholesky, eigh
    and svd. ShapeError: the shapes do not fit. LinAlgError: `cov` is not positive definite.
    Source: JAX, ``jax.random.multivariate_normal``.

    >>> multivariate_normal(np.zeros(2, np.uint32), np.zeros(2), 4 * np.eye(2)).shape
    (2,)
    """
    mean, cov = operand(mean), operand(cov)
    common = np.result_type(aval_of(mean).dtype, aval_of(cov).dtype, np.float16)
    dtype = floating("multivariate_normal", common if dtype is None else dtype)
    mean, cov = converted(mean, dtype), converted(cov, dtype)
    n = mean.shape[-1] if mean.ndim else 0
    if not mean.ndim or cov.shape[-2:] != (n, n):
        raise ShapeError(
            f"random.multivariate_normal: mean is {aval_of(mean)} and cov {aval_of(cov)}; need (n,) "
            f"and (n, n){where()}"
        )
    batch = fnp.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    wanted = (*(batch if shape is None else shape_of(shape)), n)
    z = fnp.astype(normal(key, wanted, dtype), dtype)
    moved = fnp.matmul(_root_of(method, cov), z[..., None])[..., 0]
    return of_shape("multivariate_normal", mean + moved, wanted)


def orthogonal(
    key: Any, n: int, shape: Shape = (), dtype: Any = float, m: int | None = None
) -> Any:
    """Orthogonal matrices, all equally likely; with `m`, n x m with orthonormal rows or columns.

    Shapes: ``(*shape, n, m)``; `m` is `n` unless given.   Dtypes: the floating `dtype`.
    Derivative: there is no parameter.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: Mezzadri, "How to generate random matrices from the classical compact groups", Notices
    AMS 54 (2007); the streams of ``jax.random.orthogonal``.

    >>> q = orthogonal(np.zeros(2, np.uint32), 3)
    >>> np.allclose(q @ q.T, np.eye(3))
    True
    """
    dtype, n = floating("orthogonal", dtype), operator.index(n)
    columns = n if m is None else operator.index(m)
    size = (max(n, columns), min(n, columns))
    q, r = fnp.linalg.qr(normal(key, (*shape_of(shape), *size), dtype))
    signs = fnp.sign(fnp.diagonal(r, axis1=-2, axis2=-1))
    found = q * signs[..., None, :]
    return fnp.matrix_transpose(found) if n < columns else found


# ---------------------------------------------------------------- balls


def _signs(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return fnp.astype(rademacher(key, shape), dtype)


def generalized_normal(key: Any, p: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Numbers with density in proportion to ``exp(-|x|^p)``.

    Shapes: `shape`, or that of `p`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `p`, through a gamma variable.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `p` does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.generalized_normal``.

    >>> generalized_normal(np.zeros(2, np.uint32), 2.0, (2,)).round(4).tolist()
    [0.8528, -1.332]
    """
    dtype = floating("generalized_normal", dtype)
    size, p = parameters("generalized_normal", shape, dtype, p)
    for_size, for_sign = split(key)
    found = fnp.exp(log_gamma_numbers(for_size, 1 / p, size, dtype) / p)
    return fnp.astype(_signs(for_sign, size, dtype) * found, dtype)


def ball(key: Any, d: int, p: Any = 2, shape: Shape = (), dtype: Any = float) -> Any:
    """Points of the ball ``sum(|x|^p) <= 1`` in `d` dimensions, evenly distributed.

    Shapes: ``(*shape, d)``; `p` is a number.   Dtypes: the floating `dtype`.
    Derivative: by `p`, through gamma variables.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `p` is no number.
    Source: Barthe, Guedon, Mendelson & Naor, "A probabilistic approach to the geometry of the
    l_p^n-ball", Ann. Probab. 33 (2005); the streams of ``jax.random.ball``.

    >>> bool((ball(np.zeros(2, np.uint32), 3, shape=(50,)) ** 2).sum(axis=-1).max() <= 1)
    True
    """
    dtype = floating("ball", dtype)
    shape = shape_of(shape)
    _, p = parameters("ball", (), dtype, p)
    for_direction, for_length = split(key)
    for_size, for_sign = split(for_direction)
    full = (*shape, operator.index(d))
    logs = log_gamma_numbers(for_size, 1 / p, full, dtype)
    rest = fnp.log(fnp.astype(exponential(for_length, shape, dtype), np.float64))[..., None]
    whole = logsumexp(fnp.concatenate((logs, rest), axis=-1), axis=(len(shape),))[..., None]
    return fnp.astype(_signs(for_sign, full, dtype) * fnp.exp((logs - whole) / p), dtype)
