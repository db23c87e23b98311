"""What checks are made of: derivatives in both modes, and the comparison of arrays.

Layer 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..transforms.jvp import jvp
from ..transforms.vjp import vjp
from .explain import suggestion
from .subject import Arrays, Subject, largest


class Failure(Exception):
    """A check failed; the message says how."""


class Skip(Exception):
    """A check cannot be made of this subject; the message says why."""


def forward(s: Callable[..., Any], xs: Arrays, ts: Arrays) -> tuple[Arrays, Arrays]:
    """Values and tangents."""
    outs, tangents = jvp(s, tuple(xs), tuple(ts))
    return list(outs), list(tangents)


def backward(s: Callable[..., Any], xs: Arrays, cts: Arrays) -> Arrays:
    """Cotangents of the operands."""
    return list(vjp(s, *xs)[1](list(cts)))


def same(
    found: Arrays,
    expected: Arrays,
    paths: Sequence[str],
    tolerance: float,
    what: str,
    than: str,
    floor: float = 0.0,
    error: float = 0.0,
    lengths: Sequence[int] = (),
) -> None:
    """Require that the arrays agree within `tolerance` of the largest number in sight, or of `floor`.

    `error`: what is allowed beyond that. `lengths`: of axes that a wrong factor may be.

    Raises: Failure: naming the leaf, both numbers where they differ most, and what that suggests.
    """
    allowed = tolerance * max(largest(expected), floor, 1e-300) + error
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        others = [e for k, e in enumerate(expected) if k != i]
        if a.shape == b.shape:
            with np.errstate(all="ignore"):
                gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
            if not gap.size or float(np.max(gap)) <= allowed:
                continue
            place = np.unravel_index(int(np.argmax(np.nan_to_num(gap, nan=np.inf))), gap.shape)
            numbers = f"{a[place]:.8g} against {b[place]:.8g}"
        else:
            numbers = f"shape {list(a.shape)} against {list(b.shape)}"
        hint = suggestion(a, b, others, lengths)
        raise Failure(
            f"{what} {leaf_name(paths, i)} differs from {than}: {numbers}{'; ' if hint else ''}{hint}"
        )


def leaf_name(paths: Sequence[str], i: int) -> str:
    return f"by {paths[i]}" if i < len(paths) and paths[i] else f"number {i}"


def floor_of(xs: Arrays, outs: Arrays, order: int) -> float:
    """What derivatives of this order are measured against where they cancel: a small part of what
    they would be otherwise."""
    return 0.03 * (largest(outs) or 1.0) / max(1.0, largest(xs)) ** order


def outputs(s: Subject) -> list[str]:
    return [f"the output{path}" for path in s.out_paths]
