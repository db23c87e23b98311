"""``jax.experimental.jet``: derivatives of high order along a path, as Taylor polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import tree, tree_util
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of
from ...ops.cast import astype
from ...transforms.jvp import jvp

__all__ = ["jet"]


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
) -> tuple[Any, Any]:
    """`fun` along the path ``x + t c_1 + t^2 c_2 / 2! + ...``: its value and derivatives by t at 0.

    `primals` are the points x, `series` the terms c of each. Terms come without ``1 / k!``, as Taylor
    coefficients, where not `factorial_scaled`. Order k takes k tangents inside of each other, so that
    time doubles with each order.

    Shapes: terms as their point; a list of terms for every leaf of the result.
    Dtypes: floating, complex.
    Derivative: has all of them.
    Raises: ShapeError: a term has another shape than its point, or the numbers of terms differ.
    ArgumentError: a point is no array.
    Source: JAX, ``jax.experimental.jet.jet``.

    >>> value, terms = jet(np.exp, (0.0,), ((1.0, 0.0, 0.0),))
    >>> float(value), [float(t) for t in terms]
    (1.0, [1.0, 1.0, 1.0])
    """
    orders = {len(terms) for terms in series}
    if len(primals) != len(series) or len(orders) != 1:
        raise ShapeError(
            f"jet: {len(primals)} points and {[len(terms) for terms in series]} terms; need as many "
            f"terms for each{where()}"
        )
    (order,) = orders
    paths = [_path(x, terms, factorial_scaled) for x, terms in zip(primals, series, strict=True)]

    moved: Callable[[Any], list[Any]] = lambda t: [fun(*(path(t) for path in paths))]  # noqa: E731
    for _ in range(order):
        moved = _one_more(moved)
    found = moved(0.0)
    if not factorial_scaled:
        found = [tree.map(lambda y, k=k: y / math.factorial(k), y) for k, y in enumerate(found)]
    return found[0], tree.map(lambda _, *terms: list(terms), found[0], *found[1:])


def _path(x: Any, terms: Sequence[Any], factorial_scaled: bool) -> Callable[[Any], Any]:
    """The polynomial of one argument, by Horner's rule."""
    if not tree_util.all_leaves([x]):
        raise ArgumentError(f"jet: a point is {x!r}; need arrays{where()}")
    dtype = np.result_type(*(aval_of(y).promoting() for y in (x, *terms)), 0.0)
    x, *terms = (astype(array_of(y), dtype) for y in (x, *terms))
    if any(c.shape != x.shape for c in terms):
        raise ShapeError(
            f"jet: terms of {[c.shape for c in terms]} at a point of {x.shape}{where()}"
        )

    def path(t: Any) -> Any:
        t = astype(t, dtype)
        higher: Any = 0.0
        for k in range(len(terms), 0, -1):
            higher = t * (terms[k - 1] + higher) / (k if factorial_scaled else 1)
        return x + higher

    return path


def _one_more(lower: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    """`lower` with the derivative of its last result."""

    def higher(t: Any) -> list[Any]:
        found, rates = jvp(lower, (t,), (1.0,))
        return [*found, rates[-1]]

    return higher
