"""The ranges of options."""

from __future__ import annotations

from typing import Any

from ..core import Tracer

# What is at least 0, by optimizer; `lr`, `eps` and `weight_decay` are everywhere.
_COMMON = {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value"}
_OTHERS = {
    "sgd": ["momentum"],
    "nadam": ["momentum_decay"],
    "adagrad": ["lr_decay", "initial_accumulator_value"],
    "rmsprop": ["momentum", "alpha"],
}


def check(name: str, options: dict[str, Any]) -> None:
    """Raises: ValueError: an option of the optimizer `name` is out of its range.

    >>> check("adam", {"lr": 0.1, "betas": (0.9, 1.0)})
    Traceback (most recent call last):
        ...
    ValueError: Invalid beta parameter at index 1: 1.0
    """
    known = {k: v for k, v in options.items() if not isinstance(v, Tracer)}
    if name in _CHECKS:
        _CHECKS[name](known)
        return
    texts = _COMMON | {k: f"{k} value" for k in _OTHERS.get(name, ())}
    for k, text in texts.items():
        if k in known:
            _require(known[k] >= 0.0, f"Invalid {text}: {known[k]}")
    for i, beta in enumerate(known.get("betas", ())):
        if not isinstance(beta, Tracer):
            _require(0.0 <= beta < 1.0, f"Invalid beta parameter at index {i}: {beta}")
    if "rho" in known:
        _require(0.0 <= known["rho"] <= 1.0, f"Invalid rho value: {known['rho']}")
    if "etas" in known:
        down, up = known["etas"]
        _require(0.0 < down < 1.0 < up, f"Invalid eta values: {down}, {up}")
    if known.get("nesterov"):
        momentum, dampening = known.get("momentum", 1), known.get("dampening", 0)
        text = "Nesterov momentum requires a momentum and zero dampening"
        _require(momentum > 0 and dampening == 0, text)


def _check_adafactor(options: dict[str, Any]) -> None:
    small, least = options.get("eps", (None, 0))
    bounds = [
        ("Learning rate should be >= 0", options.get("lr", 0), 0),
        ("epsilon1 should be >= 0", 0 if small is None else small, 0),
        ("epsilon2 should be >= 0", least, 0),
        ("Clipping threshold d should be >= 1", options.get("d", 1), 1),
        ("weight_decay should be >= 0", options.get("weight_decay", 0), 0),
    ]
    for text, x, bound in bounds:
        _require(bound <= x, f"{text} but is: {x}")
    decay = options.get("beta2_decay", 0)
    _require(decay <= 0, f"beta2_decay should be <= 0 but is: {decay}")


def _check_muon(options: dict[str, Any]) -> None:
    texts = {"lr": "Learning rate", "momentum": "momentum", "weight_decay": "weight decay"}
    for k, text in texts.items():
        x = options.get(k, 0)
        _require(x >= 0.0, f"{text} should be >= 0 but is: {x}")
    kind = options.get("adjust_lr_fn")
    known = (None, "original", "match_rms_adamw")
    _require(kind in known, f"Adjust learning rate function {kind} is not supported")


# Those whose messages are of another form.
_CHECKS = {"adafactor": _check_adafactor, "muon": _check_muon}


def _require(condition: Any, text: str) -> None:
    if not condition:
        raise ValueError(text)
