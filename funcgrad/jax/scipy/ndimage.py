"""``jax.scipy.ndimage``: beyond the edge of an image its modes are other ones than SciPy's."""

from __future__ import annotations

from typing import Any

from ... import lax
from ... import numpy as fnp
from ...core import aval_of
from ...scipy import ndimage as _ndimage

__all__ = ["map_coordinates"]

# JAX pads by whole elements, which has names of its own in SciPy.
_MODES = {"constant": "grid-constant", "wrap": "grid-wrap"}


def map_coordinates(
    input: Any, coordinates: Any, order: int, mode: str = "constant", cval: Any = 0.0
) -> Any:
    """The image at places between its elements, which ``coordinates[k]`` gives along axis k.

    `mode` "constant" goes over to `cval` from the last element to the first place beyond, as SciPy's
    "grid-constant" does, and "wrap" repeats all elements, as "grid-wrap"; the others are SciPy's.
    With order 0, places between two elements are rounded away from 0.

    Shapes: ``input: (*a)`` of d axes, ``coordinates: (d, *b) -> (*b)``.
    Dtypes: floating, complex input; integers give float64.
    Derivative: that of `funcgrad.scipy.ndimage.map_coordinates`.
    Raises: ArgumentError: another order or mode. ShapeError: the axes do not fit.
    Source: JAX reference, ``jax.scipy.ndimage.map_coordinates``.

    >>> import numpy as np
    >>> map_coordinates(np.array([1.0, 2.0, 4.0]), [np.array([1.5, 2.5, 4.0])], order=1).tolist()
    [3.0, 2.0, 0.0]
    >>> map_coordinates(np.array([1.0, 2.0, 4.0]), [np.array([2.5])], order=1, mode="wrap").tolist()
    [2.5]
    """
    if order == 0:
        coordinates = [
            c if aval_of(c).dtype.kind in "iu" else lax.round(c)
            for c in map(fnp.asarray, coordinates)
        ]
    return _ndimage.map_coordinates(
        input, coordinates, order=order, mode=_MODES.get(mode, mode), cval=cval
    )
