"""The rules of gradient descent, with momentum or with an average of the iterates."""

from __future__ import annotations

from typing import Any

from .. import numpy as fnp
from .rule import Options, Rule, State, choose, decayed, exact, is_given, larger, with_decay

On = frozenset[str]


def _sgd_numbers(options: Options, counts: State) -> tuple[State, State]:
    n = {"rate": options["lr"]} | with_decay(options)
    counts = {k: v + 1 for k, v in counts.items()}
    if is_given(options["momentum"]):
        n["momentum"] = options["momentum"]
        n["share"] = 1 - options["dampening"]
        if "step" in counts:  # a buffer of zeros that the first gradient fills
            n["share"] = choose(counts["step"] == 1, 1.0, n["share"])
    return n, counts


def _sgd(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    if "momentum" not in n:
        return p - g * n["rate"], {}
    b = s.get("momentum_buffer")
    b = g if b is None else b * n["momentum"] + g * n["share"]
    g = g + b * n["momentum"] if "nesterov" in on else b
    return p - g * n["rate"], {"momentum_buffer": b}


def _begin_sgd(p: Any, options: Options) -> State:
    return {"momentum_buffer": fnp.zeros_like(p)} if is_given(options["momentum"]) else {}


SGD = Rule(_sgd_numbers, _sgd, _begin_sgd, counts={}, by_parts=False)


def _asgd_numbers(options: Options, counts: State) -> tuple[State, State]:
    step, lr, fade = counts["step"] + 1, options["lr"], options["lambd"]
    eta, share = exact(counts["eta"]), exact(counts["mu"])
    n = {"shrunk": 1 - fade * eta, "rate": eta, "share": share}
    counts = {
        "step": step,
        "eta": lr / (1 + fade * lr * step) ** options["alpha"],
        "mu": 1 / larger(1, step - options["t0"]),
    }
    return n | with_decay(options), counts


def _asgd(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    p = p * n["shrunk"] - g * n["rate"]
    return p, {"ax": s["ax"] + (p - s["ax"]) * n["share"]}


ASGD = Rule(
    _asgd_numbers,
    _asgd,
    lambda p, options: {"ax": fnp.zeros_like(p)},
    counts={"step": 0.0, "eta": "lr", "mu": 1.0},
)
