"""Muon: momentum whose matrix is made nearly orthogonal before the step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import numpy as fnp
from .rule import Options, Rule, State, decayed, with_decay

On = frozenset[str]

COEFFICIENTS = (3.4445, -4.775, 2.0315)  # which bring small singular values near 1 in few steps


def _muon_numbers(options: Options, counts: State) -> tuple[State, State]:
    steps, coefficients = options["ns_steps"], options["ns_coefficients"]
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    n = {k: options[k] for k in ("lr", "momentum", "eps", "adjust_lr_fn")}
    n |= {"steps": steps, **dict(zip("abc", coefficients, strict=True))}
    return n | with_decay(options, decoupled=True), counts


def _orthogonal(x: Any, n: State) -> Any:
    """`x` with singular values near 1: an odd polynomial of them, again and again (Newton-Schulz)."""
    x = x / np.maximum(np.sqrt((x * x).sum()), n["eps"])
    for _ in range(n["steps"]):
        gram = x @ x.T
        x = x * n["a"] + (gram * n["b"] + gram @ gram * n["c"]) @ x
    return x


def _ratio(rows: int, columns: int, kind: str | None) -> float:
    """By how much steps are longer, so that they suit a matrix of any shape."""
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1.0, rows / columns))


def _muon(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    mean = s["momentum_buffer"] + (g - s["momentum_buffer"]) * (1 - n["momentum"])
    along = g + (mean - g) * n["momentum"] if "nesterov" in on else mean
    rows = p.shape[0] if p.shape else 1
    columns = math.prod(p.shape[1:])
    matrix = along.reshape((rows, columns))
    found = _orthogonal(matrix.T, n).T if rows > columns else _orthogonal(matrix, n)
    rate = n["lr"] * _ratio(rows, max(columns, 1), n["adjust_lr_fn"])
    return p - found.reshape(p.shape) * rate, {"momentum_buffer": mean}


def _begin_muon(p: Any, options: Options) -> State:
    return {"momentum_buffer": fnp.zeros_like(p)}


MUON = Rule(_muon_numbers, _muon, _begin_muon, counts={}, by_parts=False, is_elementwise=False)
