"""Convolutions over some axes, with sums over others."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, where

Axes = Sequence[Sequence[int]]


def convolve(
    A: Any, B: Any, axes: Axes | None = None, dot_axes: Axes = ((), ()), mode: str = "full"
) -> Any:
    """``out[a, b, p] = sum over k and d of A[a, d, k] B[b, d, p - k]``.

    k and p run over the pairs of axes in `axes` (by default all), d over those in `dot_axes`; a and b
    are the axes of A and B that are in neither. `mode`: "full"; "valid", where one covers the other;
    "same", the middle in the size of A.

    Shapes: ``(*a, *b, *p)``.   Dtypes: floating, complex.
    Derivative: linear in both.
    Raises: ArgumentError: no such mode, or with "valid" neither is the larger one along all axes.

    >>> import numpy as np
    >>> convolve(np.array([1.0, 2.0]), np.array([1.0, 10.0, 100.0]))
    array([  1.,  12., 120., 200.])
    """
    if mode not in ("full", "valid", "same"):
        raise ArgumentError(f"convolve: mode={mode!r}; need 'full', 'valid' or 'same'{where()}")
    shapes = [aval_of(x).shape for x in (A, B)]
    if axes is None:
        axes = (range(len(shapes[0])), range(len(shapes[1])))
    moving, summed = (
        [[i % len(s) for i in found] for s, found in zip(shapes, pair, strict=True)]
        for pair in (axes, dot_axes)
    )
    sizes = [[s[i] for i in found] for s, found in zip(shapes, moving, strict=True)]
    larger = [m >= n for m, n in zip(*sizes, strict=True)]
    k = 1 if all(larger) or mode != "valid" else 0  # which one moves over the other
    if k == 0 and any(m > n for m, n in zip(*sizes, strict=True)):
        raise ArgumentError(
            f"convolve: with mode='valid' one array must be the larger one along all axes; found "
            f"{sizes[0]} and {sizes[1]}{where()}"
        )
    kernel, field = (B, A) if k else (A, B)
    over, of = moving[k], moving[1 - k]
    if mode != "valid":
        pads = [(0, 0)] * len(shapes[1 - k])
        for i, n in zip(of, sizes[k], strict=True):
            pads[i] = (n - 1, n - 1)
        field = fnp.pad(field, pads)
    windows = fnp.lib.stride_tricks.sliding_window_view(field, sizes[k], axis=tuple(of))
    names = iter(string.ascii_letters)
    of_field = [next(names) for _ in shapes[1 - k]]
    of_kernel = [next(names) for _ in shapes[k]]
    for i, j in zip(summed[1 - k], summed[k], strict=True):
        of_kernel[j] = of_field[i]
    free = [
        [c for i, c in enumerate(labels) if i not in moving[n] and i not in summed[n]]
        for n, labels in ((1 - k, of_field), (k, of_kernel))
    ]
    inner = [of_kernel[j] for j in over]
    outer = free if k else free[::-1]
    out = [*outer[0], *outer[1], *(of_field[i] for i in of)]
    spec = f"{''.join(of_field + inner)},{''.join(of_kernel)}->{''.join(out)}"
    result = fnp.einsum(spec, windows, fnp.flip(kernel, over))
    if mode != "same":
        return result
    begin = [(n - 1) // 2 for n in sizes[1]]
    middle = [slice(b, b + m) for b, m in zip(begin, sizes[0], strict=True)]
    return result[(..., *middle)]
