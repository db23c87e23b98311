"""Adafactor: the running mean of squared gradients as a product of those of its rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from .rule import Options, Rule, State, decayed, dtype_of, smaller, with_decay

On = frozenset[str]


def _root_mean_square(x: Any) -> Any:
    return np.sqrt((x * x).mean())


def _adafactor_numbers(options: Options, counts: State) -> tuple[State, State]:
    step = counts["step"] + 1
    small, least = options["eps"]
    n = {
        "share": step ** options["beta2_decay"],
        "rate": smaller(options["lr"], 1 / step**0.5),
        "least": least,
        "most": options["d"],
    }
    if small is not None:
        n["small"] = small
    return n | with_decay(options, decoupled=True), {"step": step}


def _adafactor(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    rate = np.maximum(_root_mean_square(p), n["least"]) * n["rate"]
    p, g = decayed(p, g, n, on)
    small = n.get("small", float(np.finfo(dtype_of(p)).eps))
    if "row_var" in s:
        rows = s["row_var"] + ((g * g).mean(-1, keepdims=True) - s["row_var"]) * n["share"]
        columns = s["col_var"] + ((g * g).mean(-2, keepdims=True) - s["col_var"]) * n["share"]
        made = {"row_var": rows, "col_var": columns}
        variance = rows * columns / np.maximum(rows.mean(-2, keepdims=True), small)
    else:
        variance = s["variance"] + (g * g - s["variance"]) * n["share"]
        made = {"variance": variance}
    move = g / np.sqrt(np.maximum(variance, small * small))
    return p - move * (rate / np.maximum(_root_mean_square(move) / n["most"], 1.0)), made


def _begin_adafactor(p: Any, options: Options) -> State:
    if len(p.shape) < 2:
        return {"variance": fnp.zeros_like(p)}
    zeros = fnp.zeros_like(p)
    return {"row_var": zeros[..., :1], "col_var": zeros[..., :1, :]}


ADAFACTOR = Rule(
    _adafactor_numbers, _adafactor, _begin_adafactor, by_parts=False, is_elementwise=False
)
