"""The rules of Adam and its relatives: running means of the gradient and of its square."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import Tracer
from .rule import Options, Rule, State, choose, decayed, dtype_of, exact, larger, with_decay

On = frozenset[str]


def _zeros(*names: str) -> Any:
    return lambda p, options: {name: fnp.zeros_like(p) for name in names}


def _means(g: Any, s: State, n: State) -> tuple[Any, Any]:
    """The running means of the gradient and of its square."""
    m, v = s["exp_avg"], s["exp_avg_sq"]
    return m + (g - m) * n["a1"], v * n["b2"] + g * g * n["a2"]


def _with_betas(options: Options) -> State:
    b1, b2 = options["betas"]
    return {"a1": 1 - b1, "b2": b2, "a2": 1 - b2}


# ---------------------------------------------------------------- Adam


def _adam_numbers(options: Options, counts: State) -> tuple[State, State]:
    step = counts["step"] + 1
    b1, b2 = options["betas"]
    rate = options["lr"] / (1 - b1**step)
    n = {"rate": rate, "root": (1 - b2**step) ** 0.5, "eps": options["eps"]}
    n |= _with_betas(options) | with_decay(options, options["decoupled_weight_decay"])
    return n, {"step": step}


def _adam(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    m, v = _means(g, s, n)
    made = {"exp_avg": m, "exp_avg_sq": v}
    if "amsgrad" in on:
        v = made["max_exp_avg_sq"] = np.maximum(s["max_exp_avg_sq"], v)
    return p - m / (np.sqrt(v) / n["root"] + n["eps"]) * n["rate"], made


def _begin_adam(p: Any, options: Options) -> State:
    names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    return {name: fnp.zeros_like(p) for name in names[: 3 if options["amsgrad"] else 2]}


ADAM = Rule(_adam_numbers, _adam, _begin_adam)


# ---------------------------------------------------------------- Adamax


def _adamax_numbers(options: Options, counts: State) -> tuple[State, State]:
    step = counts["step"] + 1
    b1, b2 = options["betas"]
    n = {"rate": options["lr"] / (1 - b1**step), "a1": 1 - b1, "b2": b2, "eps": options["eps"]}
    return n | with_decay(options), {"step": step}


def _adamax(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    m = s["exp_avg"] + (g - s["exp_avg"]) * n["a1"]
    largest = np.maximum(s["exp_inf"] * n["b2"], np.absolute(g) + n["eps"])
    return p - m / largest * n["rate"], {"exp_avg": m, "exp_inf": largest}


ADAMAX = Rule(_adamax_numbers, _adamax, _zeros("exp_avg", "exp_inf"))


# ---------------------------------------------------------------- NAdam


def _product(x: Any, y: Any) -> Any:
    """The product of momenta, rounded as it is kept: PyTorch keeps it in single precision."""
    if isinstance(x, Tracer) and isinstance(y, Tracer):
        y = fnp.astype(y, dtype_of(x))
    return exact(x * y)


def _nadam_numbers(options: Options, counts: State) -> tuple[State, State]:
    step, lr = counts["step"] + 1, options["lr"]
    b1, b2 = options["betas"]
    now, later = (
        b1 * (1 - 0.5 * 0.96 ** (t * options["momentum_decay"])) for t in (step, step + 1)
    )
    product = _product(counts["mu_product"], now)
    n = {
        "along_g": lr * (1 - now) / (1 - product),
        "along_m": lr * later / (1 - product * later),
        "root": (1 - b2**step) ** 0.5,
        "eps": options["eps"],
    }
    n |= _with_betas(options) | with_decay(options, options["decoupled_weight_decay"])
    return n, {"step": step, "mu_product": product}


def _nadam(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    m, v = _means(g, s, n)
    p = p - (g * n["along_g"] + m * n["along_m"]) / (np.sqrt(v) / n["root"] + n["eps"])
    return p, {"exp_avg": m, "exp_avg_sq": v}


NADAM = Rule(
    _nadam_numbers,
    _nadam,
    _zeros("exp_avg", "exp_avg_sq"),
    counts={"step": 0.0, "mu_product": 1.0},
)


# ---------------------------------------------------------------- RAdam


def _radam_numbers(options: Options, counts: State) -> tuple[State, State]:
    step = counts["step"] + 1
    b1, b2 = options["betas"]
    longest = 2 / (1 - b2) - 1
    length = longest - 2 * step * b2**step / (1 - b2**step)
    is_long = length > 5.0
    # Under 5 the variance is not known well enough: the step is that of momentum, over 1.
    safe, end = larger(length, 5.0), larger(longest, 5.0)
    rectified = (safe - 4) * (safe - 2) * end / ((end - 4) * (end - 2) * safe)
    scale = choose(is_long, (rectified * (1 - b2**step)) ** 0.5, 1.0)
    n = {
        "rate": options["lr"] / (1 - b1**step) * scale,
        "slope": choose(is_long, 1.0, 0.0),
        "eps": choose(is_long, options["eps"], 1.0),
    }
    n |= _with_betas(options) | with_decay(options, options["decoupled_weight_decay"])
    return n, {"step": step}


def _radam(p: Any, g: Any, s: State, n: State, on: On) -> tuple[Any, State]:
    p, g = decayed(p, g, n, on)
    m, v = _means(g, s, n)
    p = p - m / (np.sqrt(v) * n["slope"] + n["eps"]) * n["rate"]
    return p, {"exp_avg": m, "exp_avg_sq": v}


RADAM = Rule(_radam_numbers, _radam, _zeros("exp_avg", "exp_avg_sq"))
