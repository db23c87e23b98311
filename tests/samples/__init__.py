"""Samples: operands on which every check of `test_registry.py` runs, one file per family.

A file of this folder exports ``SAMPLES: dict[str, SearchStrategy[Sample]]``, keyed by the name of
the primitive. It looks like this:

    from hypothesis import strategies as st

    from . import away, distinct, floats, operands, positive, with_axes, with_axis

    SAMPLES = {
        "sin": operands(floats(-3, 3)),
        "log": operands(positive()),
        "abs": operands(away(floats(-3, 3), 0.0)),
        "divide": operands(floats(-3, 3), positive()),
        "maximum": operands(floats(-3, 3), floats(-3, 3) + 0.02),  # never equal
        "sum": with_axes([floats(-3, 3), complexes()]),  # either
        "cumsum": with_axis(floats(-3, 3), reverse=st.booleans()),
        "sort": with_axis(floats(-3, 3), fill=distinct),
    }

and anything less regular is a ``@st.composite`` function that draws a `Sample`.

Domains, arrays, shapes and axes are those of `funcgrad.testing.strategies`, where they are
documented; users have them too. Values stay 0.02 or more away from kinks and singularities, because
finite differences step by 0.002. Operands are float64 (or complex128, integers, booleans): the checks
that need float32 cast them. Whatever is no array of numbers to differentiate (integers, booleans,
Python numbers) is held constant.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from funcgrad.testing.strategies import (  # noqa: F401  (for the files of this folder)
    arrays,
    away_from,
    axes,
    axis,
    booleans,
    broadcastable,
    complexes,
    floats,
    integers,
    positive,
    shapes,
    well_separated,
)

Array = np.ndarray
Shape = tuple[int, ...]
Fill = Callable[[Array, Shape], SearchStrategy[Array]]


class Sample(NamedTuple):
    """One application of a primitive: ``prim(*args, **params)``."""

    args: tuple[Any, ...]
    params: dict[str, Any] = {}  # noqa: RUF012  (nobody writes into it)


# ---------------------------------------------------------------- arrays


def away(domain: Array, *points: float, margin: float = 0.1) -> Array:
    """The part of the domain that keeps `margin` from each of the points."""
    return away_from(*points, margin=margin, domain=domain)


def array(domain: Array, shape: Shape) -> SearchStrategy[Array]:
    """Arrays of the given shape with elements of the domain."""
    return _array(domain.tobytes(), domain.dtype, tuple(shape))


@functools.lru_cache(maxsize=4096)
def _array(contents: bytes, dtype: Any, shape: Shape) -> SearchStrategy[Array]:
    # Kept, because Hypothesis takes longer to build a strategy than to draw from it.
    return arrays(shape, domain=np.frombuffer(contents, dtype))


def distinct(domain: Array, shape: Shape) -> SearchStrategy[Array]:
    """Arrays without equal elements: they differ by a step of the domain or more."""
    return well_separated(shape, domain=domain)


# ---------------------------------------------------------------- samples


@st.composite
def operands(
    draw: Any,
    *domains: Array | list[Array],
    fill: Fill = array,
    ndim: tuple[int, int] = (0, 3),
    side: tuple[int, int] = (0, 3),
    weak: bool = True,
    **params: Any,
) -> Sample:
    """One operand per domain, of shapes that broadcast together: unary, binary, ternary, ...

    A list of domains in place of one: any of them. `weak`: one of several operands is a Python
    number now and then. A parameter is a value or a strategy.
    """
    found = draw(broadcastable(len(domains), ndim=ndim, side=side))
    args = []
    for domain, shape in zip(domains, found, strict=True):
        if isinstance(domain, list):
            domain = draw(st.sampled_from(domain))
        args.append(draw(fill(domain, shape)))
    if weak and len(args) > 1 and draw(st.integers(0, 4)) == 4:
        i = draw(st.integers(0, len(args) - 1))
        args[i] = draw(array(domains_of(domains[i])[0], ())).item()
    return Sample(tuple(args), drawn(draw, params))


@st.composite
def with_axis(
    draw: Any,
    *domains: Array | list[Array],
    fill: Fill = array,
    side: tuple[int, int] = (0, 3),
    least: int = 0,
    name: str = "axis",
    **params: Any,
) -> Sample:
    """Operands of one shape of one or more axes, and the parameter `axis`, an int.

    `least`: the axis is at least that long (1 for `max`, which has no value on nothing).
    """
    shape = draw(shapes(ndim=(1, 3), side=side))
    where = draw(axis(len(shape)))
    shape = tuple(max(n, least) if i == where else n for i, n in enumerate(shape))
    args = tuple(draw(fill(draw(st.sampled_from(domains_of(d))), shape)) for d in domains)
    return Sample(args, {name: where, **drawn(draw, params)})


@st.composite
def with_axes(
    draw: Any,
    *domains: Array | list[Array],
    fill: Fill = array,
    side: tuple[int, int] = (0, 3),
    least: int = 0,
    name: str = "axis",
    **params: Any,
) -> Sample:
    """Operands of one shape, and the parameter `axis`, a tuple of axes; see `with_axis`."""
    shape = draw(shapes(side=side))
    where = draw(axes(len(shape)))
    shape = tuple(max(n, least) if i in where else n for i, n in enumerate(shape))
    args = tuple(draw(fill(draw(st.sampled_from(domains_of(d))), shape)) for d in domains)
    return Sample(args, {name: where, **drawn(draw, params)})


def domains_of(domain: Array | list[Array]) -> list[Array]:
    """The alternatives that stand for one operand."""
    return domain if isinstance(domain, list) else [domain]


def drawn(draw: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters with a draw in place of every strategy."""
    return {k: draw(v) if isinstance(v, SearchStrategy) else v for k, v in params.items()}


# ---------------------------------------------------------------- all of them


def collect() -> dict[str, SearchStrategy[Sample]]:
    """The samples of every file in this folder.

    Raises: ValueError: two files have samples for one primitive.
    """
    found: dict[str, SearchStrategy[Sample]] = {}
    for module in pkgutil.iter_modules(__path__):
        family = importlib.import_module(f"{__name__}.{module.name}")
        twice = found.keys() & family.SAMPLES.keys()
        if twice:
            raise ValueError(f"{module.name}.py: samples of {sorted(twice)} exist already")
        found |= family.SAMPLES
    return found
