"""The rules that divide by a root of squared gradients, or look at signs only."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from .rule import Options, Rule, State, decayed, dtype_of, is_given, with_decay

On = frozenset[str]


def _filled(p: Any, x: Any) -> Any:
    """Like `p`, of one number; the real and the imaginary part of complex ones are that."""
    return fnp.zeros_like(p) + (x * (1 + 1j) if dtype_of(p).kind == "c" else x)


# ---------------------------------------------------------------- Adagrad


def _adagrad_numbers(options: Options, counts: State) -> tuple[State, State]:
    step = counts["step"] + 1
    rate = options["lr"] / (1 + (step - 1) * options["lr_decay"])
    return {"rate": rate, "eps": options["eps"]} | with_decay(options), {"step": step}


def _adagrad(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    total = s["sum"] + g * g
    return p - g / (np.sqrt(total) + n["eps"]) * n["rate"], {"sum": total}


ADAGRAD = Rule(
    _adagrad_numbers,
    _adagrad,
    lambda p, options: {"sum": _filled(p, options["initial_accumulator_value"])},
)


# ---------------------------------------------------------------- Adadelta


def _adadelta_numbers(options: Options, counts: State) -> tuple[State, State]:
    rho = options["rho"]
    n = {"rate": options["lr"], "rho": rho, "rest": 1 - rho, "eps": options["eps"]}
    return n | with_decay(options), {"step": counts["step"] + 1}


def _adadelta(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    squares = s["square_avg"] * n["rho"] + g * g * n["rest"]
    delta = np.sqrt(s["acc_delta"] + n["eps"]) / np.sqrt(squares + n["eps"]) * g
    moved = s["acc_delta"] * n["rho"] + delta * delta * n["rest"]
    return p - delta * n["rate"], {"square_avg": squares, "acc_delta": moved}


ADADELTA = Rule(
    _adadelta_numbers,
    _adadelta,
    lambda p, options: {"square_avg": fnp.zeros_like(p), "acc_delta": fnp.zeros_like(p)},
)


# ---------------------------------------------------------------- RMSprop


def _rmsprop_numbers(options: Options, counts: State) -> tuple[State, State]:
    alpha = options["alpha"]
    n = {"rate": options["lr"], "alpha": alpha, "rest": 1 - alpha, "eps": options["eps"]}
    if is_given(options["momentum"]):
        n["momentum"] = options["momentum"]
    return n | with_decay(options), {"step": counts["step"] + 1}


def _rmsprop(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    squares = s["square_avg"] * n["alpha"] + g * g * n["rest"]
    made, variance = {"square_avg": squares}, squares
    if "centered" in on:
        mean = s["grad_avg"] + (g - s["grad_avg"]) * n["rest"]
        made["grad_avg"] = mean
        variance = squares - mean * mean
    g = g / (np.sqrt(variance) + n["eps"])
    if "momentum" in n:
        g = s["momentum_buffer"] * n["momentum"] + g
        made["momentum_buffer"] = g
    return p - g * n["rate"], made


def _begin_rmsprop(p: Any, options: Options) -> State:
    names = ["square_avg"]
    if is_given(options["momentum"]):
        names.append("momentum_buffer")
    if options["centered"]:
        names.append("grad_avg")
    return {name: fnp.zeros_like(p) for name in names}


RMSPROP = Rule(_rmsprop_numbers, _rmsprop, _begin_rmsprop)


# ---------------------------------------------------------------- Rprop


def _rprop_numbers(options: Options, counts: State) -> tuple[State, State]:
    down, up = options["etas"]
    least, most = options["step_sizes"]
    n = {"down": down, "up": up, "least": least, "most": most}
    return n, {"step": counts["step"] + 1}


def _rprop(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    if "maximize" in on:
        g = -g
    agree = g * s["prev"]
    size = s["step_size"]
    size = np.where(agree > 0, size * n["up"], np.where(agree < 0, size * n["down"], size))
    size = np.minimum(np.maximum(size, n["least"]), n["most"])
    g = np.where(agree < 0, g * 0, g)  # after a change of sign it waits for one step
    return p - np.sign(g) * size, {"prev": g, "step_size": size}


RPROP = Rule(
    _rprop_numbers,
    _rprop,
    lambda p, options: {"prev": fnp.zeros_like(p), "step_size": _filled(p, options["lr"])},
)
