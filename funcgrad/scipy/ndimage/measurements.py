"""What is in the labelled regions of an image: sums, means, extremes, centers of mass.

Without `labels` the region is the whole image; without `index` it is all that has a label above 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, where
from ...indexing import read
from ...numpy._arguments import array_of, beside, module_of
from ...ops.segments import segment_max, segment_min, segment_sum
from .._arrays import floating


class _Regions:
    """The elements of an image in the regions that are asked for, in the order of their labels."""

    def __init__(self, name: str, x: Any, labels: Any, index: Any) -> None:
        x = floating(x)
        one = beside(x, np.ones(1, int))
        if labels is None:
            if index is not None:
                raise ArgumentError(f"{name}: index= without labels={where()}")
            asked, numbers = one, beside(x, np.ones(x.shape, int))
        else:
            x, numbers = fnp.broadcast_arrays(x, array_of(labels, module_of(x)))
            if index is None:
                asked, numbers = one, fnp.where(numbers > 0, 1, 0)
            else:
                asked = fnp.ravel(array_of(index, module_of(x)))
        self.shape = () if index is None else aval_of(array_of(index)).shape
        numbers = fnp.ravel(numbers)
        order = fnp.sort(asked)
        self._places = fnp.searchsorted(order, asked)  # of equal ones the first
        self.count = order.shape[0]
        place = fnp.clip(fnp.searchsorted(order, numbers), 0, max(self.count - 1, 0))
        inside = read(order, place) == numbers if self.count else numbers != numbers
        self._ids = fnp.where(inside, place, self.count)
        # what is beside the regions is in no result; a nan there would be in derivatives
        self.x = fnp.where(fnp.reshape(inside, x.shape), x, 0.0)

    def reduced(self, x: Any, by: Any = segment_sum) -> Any:
        """One number for each region, in order, and one for what is beside them."""
        return by(fnp.ravel(x), self._ids, num_segments=self.count + 1)

    def spread(self, of_regions: Any) -> Any:
        """The number of its region at every element."""
        return fnp.reshape(read(of_regions, self._ids), self.x.shape)

    def sizes(self) -> Any:
        return self.reduced(fnp.ones_like(self.x))

    def asked(self, of_regions: Any) -> Any:
        """The numbers in the order and the shape of `index`."""
        return fnp.reshape(read(of_regions, self._places), self.shape)


def _quotient(a: Any, b: Any) -> Any:
    return fnp.where(b == 0, np.nan, a / fnp.where(b == 0, 1.0, b))


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The sum of the elements with each of the labels `index`.

    Shapes: ``input: (*a), labels: broadcasts, index: (*b) -> (*b)``, ``()`` without `index`.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: `index` without `labels`. ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.ndimage.sum_labels``.

    >>> sum_labels([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 2], [2, 1, 5]).tolist()
    [4.0, 3.0, 0.0]
    """
    regions = _Regions("sum_labels", input, labels, index)
    return regions.asked(regions.reduced(regions.x))


def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The mean of the elements with each of the labels `index`; nan where there are none.

    Shapes, Dtypes, Raises: as `sum_labels`.   Derivative: linear.
    Source: SciPy reference, ``scipy.ndimage.mean``.

    >>> mean([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 2], [2, 1]).tolist()
    [4.0, 1.5]
    """
    regions = _Regions("mean", input, labels, index)
    return regions.asked(_quotient(regions.reduced(regions.x), regions.sizes()))


def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The variance of the elements with each of the labels `index`; nan where there are none.

    Shapes, Raises: as `sum_labels`.   Dtypes: real floating; integers give float64.
    Derivative: smooth everywhere.
    Source: SciPy reference, ``scipy.ndimage.variance``.

    >>> variance([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 2], [2, 1]).tolist()
    [0.0, 0.25]
    """
    regions = _Regions("variance", input, labels, index)
    sizes = regions.sizes()
    off = regions.x - regions.spread(regions.reduced(regions.x) / fnp.maximum(sizes, 1.0))
    return regions.asked(_quotient(regions.reduced(off * off), sizes))


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The square root of `variance`.

    Shapes, Dtypes, Raises: as `variance`.   Derivative: 0 where all elements are the same.
    Source: SciPy reference, ``scipy.ndimage.standard_deviation``.

    >>> standard_deviation([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 2], [2, 1]).tolist()
    [0.0, 0.5]
    """
    square = variance(input, labels, index)
    zero = square == 0
    return fnp.where(zero, 0.0, fnp.sqrt(fnp.where(zero, 1.0, square)))


def _extreme(name: str, by: Any, input: Any, labels: Any, index: Any) -> Any:
    regions = _Regions(name, input, labels, index)
    return regions.asked(fnp.where(regions.sizes() == 0, 0.0, regions.reduced(regions.x, by)))


def minimum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The least of the elements with each of the labels `index`; 0 where there are none.

    Shapes, Raises: as `sum_labels`.   Dtypes: real floating; integers give float64.
    Derivative: as `min`; equal ones share.
    Source: SciPy reference, ``scipy.ndimage.minimum``.

    >>> minimum([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 2], [2, 1]).tolist()
    [4.0, 1.0]
    """
    return _extreme("minimum", segment_min, input, labels, index)


def maximum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The greatest of the elements with each of the labels `index`; 0 where there are none.

    Shapes, Raises: as `sum_labels`.   Dtypes: real floating; integers give float64.
    Derivative: as `max`; equal ones share.
    Source: SciPy reference, ``scipy.ndimage.maximum``.

    >>> maximum([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 2], [2, 1]).tolist()
    [4.0, 2.0]
    """
    return _extreme("maximum", segment_max, input, labels, index)


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """``sum(x i) / sum(x)`` over the places i of a region: a tuple of coordinates, or a list of tuples,
    one for each of the labels `index`. nan where the sum is 0.

    Shapes: ``input: (*a), labels: broadcasts, index: (n) -> n`` tuples of numbers.
    Dtypes: floating, complex; integers give float64.
    Derivative: by `input`.
    Raises: as `sum_labels`.
    Source: SciPy reference, ``scipy.ndimage.center_of_mass``.

    >>> [float(v) for v in center_of_mass([[0.0, 1.0], [0.0, 3.0]])]
    [0.75, 1.0]
    """
    regions = _Regions("center_of_mass", input, labels, index)
    whole, x = regions.reduced(regions.x), regions.x
    found = []
    for axis, n in enumerate(x.shape):
        places = beside(x, np.arange(float(n)).reshape([-1] + [1] * (x.ndim - 1 - axis)))
        found.append(regions.asked(_quotient(regions.reduced(x * places), whole)))
    if not regions.shape:
        return tuple(found)
    flat = [fnp.ravel(v) for v in found]
    return [tuple(v[i] for v in flat) for i in range(regions.count)]
