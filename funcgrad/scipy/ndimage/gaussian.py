"""Gaussian filters, and derivatives of them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, where
from ...indexing import known
from ...numpy._arguments import array_of, axis_of, beside, concrete, converted
from .filters import _weighted, axes_in, image, per_axis

_NONE = 1e-15  # deviations below do nothing


def _kernel(sigma: Any, order: int, places: Any) -> Any:
    """The density at the places ``-radius ... radius``, of sum 1, or a derivative of it."""
    rate = 1.0 / (sigma * sigma)
    density = fnp.exp(-0.5 * rate * places * places)
    density = density / fnp.sum(density)
    # each derivative is a polynomial times the density; its coefficients, from the constant one on
    factors: list[Any] = [1.0]
    for _ in range(order):
        slopes = [*(k * f for k, f in enumerate(factors) if k), 0.0, 0.0]
        shifted = [0.0, *(-f * rate for f in factors)]
        factors = [a + b for a, b in zip(slopes, shifted, strict=True)]
    total: Any = 0.0
    for f in reversed(factors):
        total = total * places + f
    return density * total


def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Any:
    """The convolution along one axis with the normal density of deviation `sigma`, of sum 1, or with
    its derivative of the given order.

    The kernel reaches `radius` elements, or `truncate` times `sigma`, rounded. `mode` as for
    `correlate`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: linear in `input`; by `sigma` with the reach of the kernel held.
    Raises: ArgumentError: an order or a radius below 0, an output. ConcretizationError: `sigma` is not
    known (under `jit` or `vmap`), and `radius` is not given.
    Source: SciPy reference, ``scipy.ndimage.gaussian_filter1d``.

    >>> gaussian_filter1d([0.0, 1.0, 0.0], 0.5).round(3).tolist()
    [0.107, 0.787, 0.107]
    """
    x = image("gaussian_filter1d", input, output)
    axis = axis_of("gaussian_filter1d", axis, x.ndim)
    order = operator.index(order)
    if radius is None:
        known = float(concrete("gaussian_filter1d", "sigma (or give radius)", sigma))
        radius = int(truncate * known + 0.5)
    radius = operator.index(radius)
    if order < 0 or radius < 0:
        raise ArgumentError(
            f"gaussian_filter1d: order={order}, radius={radius}; need integers from 0{where()}"
        )
    dtype = np.finfo(aval_of(x).dtype).dtype
    places = beside(x, np.arange(-radius, radius + 1).astype(dtype))
    kernel = _kernel(converted(array_of(sigma), dtype), order, places)
    return _weighted("gaussian_filter1d", x, fnp.flip(kernel), (axis,), mode, cval, 0)


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """`gaussian_filter1d` along every axis; options are given once, or once for each.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: linear in `input`; by `sigma` with the reach of the kernel held.
    Raises: as `gaussian_filter1d`.
    Source: SciPy reference, ``scipy.ndimage.gaussian_filter``.

    >>> import funcgrad
    >>> spread = lambda s: gaussian_filter(np.eye(3)[1], s, mode="constant", radius=1)[1]
    >>> float(spread(0.5).round(6)), float(funcgrad.grad(spread)(0.5).round(6))
    (0.786986, -1.341112)
    """
    x = image("gaussian_filter", input, output)
    found = axes_in("gaussian_filter", axes, x.ndim)
    options = [
        per_axis("gaussian_filter", what, value, len(found))
        for what, value in (
            ("sigma", sigma), ("order", order), ("mode", mode), ("radius", radius),
        )
    ]  # fmt: skip
    for axis, s, n, way, r in zip(found, *options, strict=True):
        width = known(s)
        if width is not None and width <= _NONE:
            continue
        x = gaussian_filter1d(x, s, axis, n, None, way, cval, truncate, radius=r)
    return x


def _each_derivative(
    name: str, input: Any, sigma: Any, order: int, output: Any, mode: Any, cval: Any, axes: Any,
    options: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """The smoothed image's derivatives of an order along every axis."""
    x = image(name, input, output)
    found = axes_in(name, axes, x.ndim)
    return [
        gaussian_filter(
            x, sigma, [order * (a == b) for b in found], None, mode, cval, axes=found, **options
        )
        for a in found
    ]


def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """The sum over axes of the second derivatives of the smoothed image.

    Further keywords are those of `gaussian_filter`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: as `gaussian_filter`.
    Raises: as `gaussian_filter`.
    Source: SciPy reference, ``scipy.ndimage.gaussian_laplace``.

    >>> gaussian_laplace([0.0, 1.0, 0.0], 0.5).round(3).tolist()
    [1.293, -3.146, 1.293]
    """
    terms = _each_derivative("gaussian_laplace", input, sigma, 2, output, mode, cval, axes, kwargs)
    return sum(terms[1:], terms[0])


def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """The length of the gradient of the smoothed image.

    Further keywords are those of `gaussian_filter`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: as `gaussian_filter`; 0 where the gradient is 0.
    Raises: as `gaussian_filter`.
    Source: SciPy reference, ``scipy.ndimage.gaussian_gradient_magnitude``.

    >>> gaussian_gradient_magnitude([0.0, 1.0, 0.0], 0.5).round(3).tolist()
    [0.424, 0.0, 0.424]
    """
    terms = _each_derivative(
        "gaussian_gradient_magnitude", input, sigma, 1, output, mode, cval, axes, kwargs
    )
    return fnp.linalg.norm(fnp.stack(terms), axis=0)
