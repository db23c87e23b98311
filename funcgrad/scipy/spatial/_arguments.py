"""Vectors that distances are between, and options that are arrays, in one dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, arrays_of, converted
from ...ops.structural import sum as sum_


def total(x: Any, weights: Any) -> Any:
    """The weighted sum along the last axis."""
    return sum_(x if weights is None else x * weights, axis=(x.ndim - 1,))


def floating_vectors(name: str, *xs: Any) -> list[Any]:
    """The arrays in their common floating dtype, which is real."""
    found = arrays_of(*xs)
    dtype = np.result_type(*(aval_of(x).promoting() for x in found))
    if dtype.kind == "c":
        raise ArgumentError(f"distance.{name}: needs real numbers, found {dtype}{where()}")
    return [converted(x, dtype if dtype.kind == "f" else np.float64) for x in found]


def prepared(name: str, options: dict[str, Any], length: int, *xs: Any) -> list[Any]:
    """The vectors, in one dtype with the options that are arrays, which are replaced."""
    arrays = {k: options[k] for k in ("w", "V", "VI") if options.get(k) is not None}
    found = floating_vectors(name, *xs, *arrays.values())
    options.update(zip(arrays, found[len(xs) :], strict=True))
    for key in arrays:
        shape = (length, length) if key == "VI" else (length,)
        if options[key].shape != shape:
            raise ShapeError(
                f"distance.{name}: {key} is {aval_of(options[key])}; need the shape {shape}{where()}"
            )
    weights = known(options["w"]) if "w" in arrays else None
    if weights is not None and bool((weights < 0).any()):
        raise ArgumentError(f"distance.{name}: weights must not be negative{where()}")
    if not float(options.get("p", 1.0)) > 0.0:
        raise ArgumentError(f"distance.{name}: p={options['p']}; must be greater than 0{where()}")
    return found[: len(xs)]


def two_vectors(name: str, options: dict[str, Any], u: Any, v: Any) -> list[Any]:
    """Two vectors of one length.

    Raises: ShapeError: they are not.
    """
    u, v = array_of(u), array_of(v)
    if u.ndim != 1 or u.shape != v.shape:
        raise ShapeError(
            f"distance.{name}: u is {aval_of(u)} and v is {aval_of(v)}; need two vectors of one "
            f"length{where()}"
        )
    return prepared(name, options, u.shape[0], u, v)
