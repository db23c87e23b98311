"""Filters whose response is nearest to a wanted one."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from .._arrays import floating, host_only


@host_only
def firls(numtaps: int, bands: Any, desired: Any, *, weight: Any = None, fs: Any = None) -> Any:
    """The symmetric filter whose response is nearest to lines between gains, in least squares.

    `bands`: the first and the last frequency of each, in rising order, between which the response is to
    go from one gain in `desired` to the next one; `weight`: one for each band.

    Shapes: ``bands, desired: (2 k) or (k, 2), weight: (k) -> (numtaps)``.
    Dtypes: real; integers give float64.
    Derivative: by all of them.
    Raises: ArgumentError: `numtaps` is even, known bands fall, overlap or leave 0 .. fs / 2, or known
    gains or weights are negative. ShapeError: the lengths do not fit. LinAlgError: the bands do not
    determine the filter.
    Source: Selesnick, "Linear-Phase Fir Filter Design by Least Squares", OpenStax CNX 2005; SciPy
    reference, ``scipy.signal.firls``.

    >>> firls(3, [0.0, 0.4, 0.6, 1.0], [1.0, 1.0, 0.0, 0.0]).round(4).tolist()
    [0.3067, 0.5, 0.3067]
    """
    numtaps = operator.index(numtaps)
    if numtaps < 1 or numtaps % 2 == 0:
        raise ArgumentError(f"firls: numtaps={numtaps}; need an odd number{where()}")
    edges = fnp.ravel(floating(bands)) / (1.0 if fs is None else 0.5 * fs)
    gains = fnp.ravel(floating(desired))
    count = edges.shape[0] // 2
    weights = np.ones(count) if weight is None else fnp.ravel(floating(weight))
    if edges.shape[0] != 2 * count or gains.shape != edges.shape or weights.shape != (count,):
        raise ShapeError(
            f"firls: {edges.shape[0]} frequencies, {gains.shape[0]} gains, {weights.shape[0]} weights; "
            f"need two, two and one for each band{where()}"
        )
    value = known(edges)
    if value is not None:
        gaps = np.diff(np.asarray(value))
        if value[0] < 0 or value[-1] > 1 or (gaps < 0).any() or (gaps[::2] <= 0).any():
            raise ArgumentError(
                f"firls: bands must rise within 0 and fs/2 and not overlap{where()}"
            )
    for word, numbers in (("desired", known(gains)), ("weight", known(weights))):
        if numbers is not None and bool((np.asarray(numbers) < 0).any()):
            raise ArgumentError(f"firls: {word} must not be negative{where()}")
    # with cosines of k pi f, and the integrals of these: f sinc(k f), and of that again
    half = numtaps // 2
    once = edges * fnp.sinc(np.arange(numtaps)[:, None] * edges)
    twice = 0.5 * fnp.square(edges * fnp.sinc(0.5 * np.arange(half + 1)[:, None] * edges))
    low, high = gains[::2], gains[1::2]
    slopes = (high - low) / (edges[1::2] - edges[::2])
    q = (once[:, 1::2] - once[:, ::2]) @ weights
    steps = high * once[: half + 1, 1::2] - low * once[: half + 1, ::2]
    right = (steps - slopes * (twice[:, 1::2] - twice[:, ::2])) @ weights
    i = np.arange(half + 1)
    matrix = q[np.abs(i[:, None] - i)] + q[i[:, None] + i]
    found = fnp.linalg.solve(matrix, right)
    return fnp.concatenate([found[:0:-1], 2.0 * found[:1], found[1:]])
