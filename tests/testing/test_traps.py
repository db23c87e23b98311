"""More traps for `find_nonfinite`, and what becomes of the traps when the suggestion is followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_nonfinite import EPS, TRAPS, UNIT, M, Trap, V, marked_line

from funcgrad.scipy.special import log_softmax, logsumexp
from funcgrad.testing import find_nonfinite


def log_of_two(x: Any, y: Any) -> Any:
    return np.sum(np.log(np.exp(x) + np.exp(y)))  #!


def weighted_logarithm(weight: Any, x: Any) -> Any:
    logarithm = np.log(x)  #!
    return np.where(weight == 0, 0.0, weight * logarithm)


def weighted_logarithm_repaired(weight: Any, x: Any) -> Any:
    y = np.where(weight == 0, 1.0, x)
    return np.where(weight == 0, 0.0, weight * np.log(y))


def powers(x: Any, y: Any) -> Any:
    return np.sum(np.abs(x) ** y)  #!


def sinc(x: Any) -> Any:
    return np.sum(np.sin(x) / x)  #!


def sinc_repaired(x: Any) -> Any:
    y = np.where(x != 0, x, 1.0)
    return np.sum(np.where(x != 0, np.sin(y) / y, 1.0))


def cross_entropy(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return -np.log(e[0] / np.sum(e))  #!


def row_lengths(x: Any) -> Any:
    squares = x * x
    return np.sum(np.sqrt(np.sum(squares, axis=1)))  #!


def rows_of_softmax(x: Any) -> Any:
    p = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)  #!
    return np.sum(p**2)


def rows_of_softmax_repaired(x: Any) -> Any:
    return rows_of_softmax(x - np.max(x, axis=1, keepdims=True))


def deviation_of_rows(x: Any) -> Any:
    centred = x - np.mean(x, axis=0)
    return np.sum(np.sqrt(np.mean(centred**2, axis=0)))  #!


MORE = [
    Trap(
        log_of_two,
        (V, V + 1),
        "value",
        "exp",
        "np.logaddexp(x, y)",
        lambda x, y: np.sum(np.logaddexp(x, y)),
    ),
    Trap(
        weighted_logarithm,
        (0, (0.0, 1.0)),
        "gradient",
        "log",
        "np.where(ok, f(np.where",
        weighted_logarithm_repaired,
    ),
    Trap(
        powers,
        (V, np.array([0.5, 0.7, 0.9])),
        "gradient",
        "power",
        "(x + eps)**",
    ),
    Trap(sinc, (V,), "value", "divide", "np.where(y != 0, x / np.where", sinc_repaired),
    Trap(cross_entropy, (V,), "gradient", "log", "log_softmax", lambda x: -log_softmax(x)[0]),
    Trap(
        row_lengths,
        (M,),
        "gradient",
        "sqrt",
        "np.linalg.norm",
        lambda x: np.sum(np.linalg.norm(x, axis=1)),
    ),
    Trap(
        rows_of_softmax,
        (M,),
        "value",
        "exp",
        "subtract the largest exponent first",
        rows_of_softmax_repaired,
    ),
    Trap(
        deviation_of_rows,
        (M,),
        "gradient",
        "sqrt",
        "np.std(x)",
        lambda x: np.sum(np.std(x, axis=0)),
    ),
]


@pytest.mark.parametrize("trap", MORE, ids=lambda t: t.f.__name__)
def test_trap_is_found_and_its_repair_repairs(trap: Trap) -> None:
    found = find_nonfinite(trap.f, trap.domain)
    assert found is not None
    assert (found.kind, found.primitive) == (trap.kind, trap.primitive), str(found)
    assert found.source == (__file__, marked_line(trap.f))
    assert trap.hint in found.repair, str(found)
    assert trap.repaired is None or find_nonfinite(trap.repaired, trap.domain) is None


# What `TRAPS` itself holds no repair for, written as its suggestion says.
REPAIRS: dict[str, Callable[..., Any]] = {
    "distances": lambda x: np.sum(np.linalg.norm(x[:, None] - x[None], axis=-1)),
    "first_log_softmax_by_hand": lambda x: logsumexp(x) - x[0],
    "negative_power": lambda x: (x + EPS) ** -1.5,
    "unit_vector": lambda x: np.sum(x / np.maximum(np.linalg.norm(x), EPS)),
    "standardized": lambda x: np.sum((x - np.mean(x)) / np.sqrt(np.var(x) + EPS)),
    "square_root_of_negative": lambda x: np.sqrt(np.abs(x)),
    "masked": lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)),
}


@pytest.mark.parametrize(
    "trap", [t for t in TRAPS if t.f.__name__ in REPAIRS], ids=lambda t: t.f.__name__
)
def test_the_suggestion_repairs(trap: Trap) -> None:
    assert find_nonfinite(REPAIRS[trap.f.__name__], trap.domain) is None


def test_a_domain_may_leave_the_trap_out() -> None:
    assert find_nonfinite(sinc, ((0.5, 3.0),)) is None
    assert find_nonfinite(lambda x: -x * np.log(x), ((0.1, 1.0),)) is None
    assert find_nonfinite(lambda x: -x * np.log(x), UNIT) is not None
