"""What a wrong derivative looks like: ratios and rearrangements that hint at the cause.

Layer 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_RATIOS: list[tuple[float, str]] = [
    (-1.0, "the sign is wrong"),
    (2.0, "a factor 2 too much: a term is counted twice"),
    (0.5, "a factor 2 is missing: a term is left out, or halved"),
    (-2.0, "the sign is wrong, and so is a factor 2"),
    (-0.5, "the sign is wrong, and so is a factor 2"),
]


def suggestion(
    found: Any, expected: Any, others: Sequence[Any] = (), lengths: Sequence[int] = ()
) -> str:
    """What the difference between two arrays suggests; empty if nothing is recognised.

    `others`: the expected derivatives by other operands, in case they were swapped. `lengths`: of axes,
    in case one is a factor.

    >>> suggestion(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    'the ratio is 2 everywhere: a factor 2 too much: a term is counted twice'
    >>> suggestion(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 3.0], [2.0, 4.0]]))
    'it is the transpose of what is expected'
    """
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return _of_shapes(found.shape, expected.shape)
    if not found.size:
        return ""
    with np.errstate(all="ignore"):
        if not np.all(np.isfinite(found)):
            return "it is not finite where the other side is: a singular rule is evaluated there"
        return (
            _of_ratio(found, expected, lengths)
            or _of_arrangement(found, expected)
            or _of_others(found, expected, others)
            or _of_places(found, expected)
        )


def _close(a: Any, b: Any) -> bool:
    scale = np.max(np.abs(b), initial=0.0)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= 1e-4 * scale)) and scale > 0


def _of_shapes(found: tuple[int, ...], expected: tuple[int, ...]) -> str:
    text = f"it has shape {list(found)}, need {list(expected)}"
    try:
        broadcasts = np.broadcast_shapes(found, expected) == found
    except ValueError:
        broadcasts = False
    return f"{text}: a sum over the broadcast axes is missing" if broadcasts else text


def _of_ratio(found: Any, expected: Any, lengths: Sequence[int]) -> str:
    if not np.any(found):
        return "it is zero: the derivative is cut off, or a term is missing"
    largest = np.abs(expected) > 1e-3 * np.max(np.abs(expected), initial=0.0)
    ratios = (found / expected)[largest]
    if not ratios.size:
        return "it should be zero"
    ratio = ratios.flat[0]
    if not np.all(np.abs(ratios - ratio) <= 1e-4 * abs(ratio)) or not _close(
        found, expected * ratio
    ):
        return ""
    if np.iscomplexobj(ratio) and abs(ratio.imag) > 1e-4 * abs(ratio):
        return f"the ratio is {ratio:.4g} everywhere: a complex factor is wrong"
    ratio = float(np.real(ratio))
    for value, cause in _RATIOS:
        if abs(ratio - value) < 1e-4:
            return f"the ratio is {value:g} everywhere: {cause}"
    counts = {n for n in (*found.shape, found.size, *lengths) if n > 1}
    for n in sorted(counts):
        if abs(ratio - n) < 1e-3 * n or abs(ratio - 1 / n) < 1e-3 / n:
            return f"the ratio is {ratio:.4g}, and {n} is a length: a sum in place of a mean?"
    if np.unique(expected[largest]).size == 1 < found.size:
        return ""  # of equal numbers, which have one ratio in any case
    return f"the ratio is {ratio:.6g} everywhere: a constant factor is wrong"


def _of_arrangement(found: Any, expected: Any) -> str:
    if np.iscomplexobj(found) and _close(np.conj(found), expected):
        return "it is the conjugate of what is expected"
    if found.ndim >= 2 and _close(np.swapaxes(found, -1, -2), expected):
        return "it is the transpose of what is expected"
    for axis in range(found.ndim):
        if _close(np.flip(found, axis), expected):
            return f"it is reversed along axis {axis}"
    if found.ndim and _close(np.sort(found, axis=None), np.sort(expected, axis=None)):
        return "the numbers are right but in other places: an axis or an order is wrong"
    return ""


def _of_others(found: Any, expected: Any, others: Sequence[Any]) -> str:
    if any(_close(found, np.asarray(other)) for other in others):
        return "it is the derivative by another operand: operands are swapped"
    return ""


def _of_places(found: Any, expected: Any) -> str:
    wrong = np.abs(found - expected) > 1e-4 * np.max(np.abs(expected), initial=1e-300)
    count = int(np.sum(wrong))
    if 0 < count < found.size:
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        at = f"[{', '.join(map(str, place))}]"
        return f"{count} of {found.size} elements differ, the first at {at}"
    return ""
