"""Filters by functions of the user's: of windows, and of what is done along every axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ShapeError, where
from ...transforms.arguments import require_callable
from ...transforms.vmap import vmap
from .filters import axes_in, image, per_axis
from .ranks import footprint_of, windows_of


def generic_filter(
    input: Any,
    function: Callable[..., Any],
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: dict[str, Any] | None = None,
    *,
    axes: Any = None,
) -> Any:
    """``function(window, *extra_arguments, **extra_keywords)``, a number, of the row of every window.

    It is called once, for all windows together, as under `vmap`. Windows are those of `rank_filter`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: that of `function`, also by what it closes over.
    Raises: ShapeError: it gives no number, or the axes do not fit. ArgumentError: neither `size` nor
    `footprint`, another mode, an output.
    Source: SciPy reference, ``scipy.ndimage.generic_filter``.

    >>> generic_filter([1.0, 2.0, 5.0], lambda w: np.sum(w**2), size=2).tolist()
    [2.0, 5.0, 29.0]
    """
    require_callable("generic_filter", function)
    x = image("generic_filter", input, output)
    found = axes_in("generic_filter", axes, x.ndim)
    print_ = footprint_of("generic_filter", size, footprint, len(found))
    if 0 in x.shape:
        return x
    windows = windows_of("generic_filter", x, print_, found, mode, cval, origin)

    def each(window: Any) -> Any:
        y = function(window, *extra_arguments, **(extra_keywords or {}))
        if aval_of(y).shape:
            raise ShapeError(
                f"generic_filter: the function gives {aval_of(y)} of a window; need a number{where()}"
            )
        return y

    rows = fnp.reshape(fnp.moveaxis(windows, 0, -1), (-1, windows.shape[0]))
    return fnp.reshape(vmap(each)(rows), x.shape)


def _along_each(
    name: str,
    input: Any,
    function: Any,
    output: Any,
    mode: Any,
    cval: Any,
    more: tuple[tuple[Any, ...], dict[str, Any] | None],
    axes: Any,
) -> list[Any]:
    require_callable(name, function)
    x = image(name, input, output)
    found = axes_in(name, axes, x.ndim)
    modes = per_axis(name, "mode", mode, len(found))
    arguments, keywords = more
    return [
        function(x, axis, None, way, cval, *arguments, **(keywords or {}))
        for axis, way in zip(found, modes, strict=True)
    ]


def generic_laplace(
    input: Any,
    derivative2: Callable[..., Any],
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: dict[str, Any] | None = None,
    *,
    axes: Any = None,
) -> Any:
    """The sum over axes of ``derivative2(input, axis, None, mode, cval, *extra_arguments, ...)``.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `derivative2`.
    Derivative: that of `derivative2`.
    Raises: ArgumentError: it cannot be called, or an output is given. ShapeError: the axes do not fit.
    Source: SciPy reference, ``scipy.ndimage.generic_laplace``.

    >>> from funcgrad.scipy import ndimage
    >>> def second(x, axis, output, mode, cval):
    ...     return ndimage.correlate1d(x, [1.0, -2.0, 1.0], axis, output, mode, cval)
    >>> generic_laplace([0.0, 1.0, 4.0], second).tolist()
    [1.0, 2.0, -3.0]
    """
    more = (extra_arguments, extra_keywords)
    terms = _along_each("generic_laplace", input, derivative2, output, mode, cval, more, axes)
    return sum(terms[1:], terms[0]) if terms else image("generic_laplace", input, output)


def generic_gradient_magnitude(
    input: Any,
    derivative: Callable[..., Any],
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: dict[str, Any] | None = None,
    *,
    axes: Any = None,
) -> Any:
    """The length of what ``derivative(input, axis, None, mode, cval, *extra_arguments, ...)`` gives.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `derivative`.
    Derivative: that of `derivative`; 0 where the length is 0.
    Raises: as `generic_laplace`.
    Source: SciPy reference, ``scipy.ndimage.generic_gradient_magnitude``.

    >>> from funcgrad.scipy import ndimage
    >>> generic_gradient_magnitude([[0.0, 3.0], [4.0, 7.0]], ndimage.sobel).tolist()
    [[20.0, 20.0], [20.0, 20.0]]
    """
    more = (extra_arguments, extra_keywords)
    terms = _along_each(
        "generic_gradient_magnitude", input, derivative, output, mode, cval, more, axes
    )
    if not terms:
        return image("generic_gradient_magnitude", input, output)
    return fnp.linalg.norm(fnp.stack(terms), axis=0)
