"""Vectors as the nearest of a few, under the name of ``scipy.cluster.vq``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import arrays_of, converted
from ...numpy.searching import argmin
from ...ops.cast import astype
from ...ops.exponential import sqrt
from ...ops.index import take
from ...ops.logic import equal
from ...ops.reduce import norm2
from ...ops.select import stop_gradient
from ...ops.select import where as select
from ...ops.structural import expand_dims
from .._arrays import floating

__all__ = ["vq", "whiten"]


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """For every row of `obs` the number of the nearest row of `code_book`, and its distance.

    Of rows that are as near, the first. `check_finite` changes nothing.

    Shapes: ``obs: (m, n), code_book: (k, n) -> (m,), (m,)``; vectors are columns of one.
    Dtypes: real; integers give float64; the numbers are int32.
    Derivative: that of the distance to the row that is nearest; 0 where it is the same.
    Raises: ShapeError: the shapes do not fit, or there is no row. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.cluster.vq.vq``.

    >>> codes, distances = vq([[0.0, 1.0], [3.0, 4.0]], [[0.0, 0.0], [3.0, 2.0]])
    >>> codes.tolist(), distances.tolist()
    ([0, 1], [1.0, 2.0])
    """
    obs, codes = arrays_of(obs, code_book)
    dtype = np.result_type(*(aval_of(x).dtype for x in (obs, codes)))
    if dtype.kind == "c":
        raise ArgumentError(
            f"vq: needs real numbers, found {aval_of(obs)} and {aval_of(codes)}{where()}"
        )
    if obs.ndim not in (1, 2) or obs.ndim != codes.ndim or obs.shape[1:] != codes.shape[1:]:
        raise ShapeError(
            f"vq: obs is {aval_of(obs)} and code_book is {aval_of(codes)}; need rows of one length"
            f"{where()}"
        )
    if not codes.shape[0]:
        raise ShapeError(f"vq: code_book is {aval_of(codes)}; need a row{where()}")
    obs, codes = (converted(x, dtype if dtype.kind == "f" else np.float64) for x in (obs, codes))
    if obs.ndim == 1:
        obs, codes = (expand_dims(x, axis=(1,)) for x in (obs, codes))
    apart = stop_gradient(expand_dims(obs, axis=(1,))) - stop_gradient(codes)
    nearest = argmin((apart * apart).sum(axis=2), axis=1)
    distance = norm2(obs - take(codes, nearest, axis=0, bounds="known"), axis=(1,))
    return astype(nearest, np.int32), distance


def whiten(obs: Any, check_finite: Any = None) -> Any:
    """The columns divided by their deviations; one without any stays, and warns where it is known.

    `check_finite` changes nothing.

    Shapes: ``obs: (m, *n) -> (m, *n)``.   Dtypes: real; integers give float64.
    Derivative: that of the quotient; of a constant column 1.
    Raises: ArgumentError: complex numbers. ShapeError: there is no row.
    Source: SciPy reference, ``scipy.cluster.vq.whiten``.

    >>> whiten([[0.0, 1.0], [4.0, 3.0]]).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    obs = floating(obs)
    if obs.dtype.kind == "c":
        raise ArgumentError(f"whiten: needs real numbers, found {aval_of(obs)}{where()}")
    if not obs.ndim or not obs.shape[0]:
        raise ShapeError(f"whiten: obs is {aval_of(obs)}; need a row{where()}")
    apart = obs - obs.mean(axis=0)
    square = (apart * apart).mean(axis=0)
    still = equal(square, 0.0)
    value = known(still)
    if value is not None and bool(value.any()):
        warnings.warn("whiten: a column is constant, and stays", RuntimeWarning, stacklevel=2)
    return obs / select(still, 1.0, sqrt(select(still, 1.0, square)))
