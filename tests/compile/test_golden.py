"""What is printed for a few small functions, as NumPy and as C, is what `golden/` shows.

A change of the printer shows as a difference of these files, to be read by whoever reviews it. To
write them anew: ``FUNCGRAD_GOLDEN=1 pytest tests/compile/test_golden.py``, and look at what git says.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad.compile import c_compiler

FOLDER = Path(__file__).parent / "golden"
WRITE = bool(os.environ.get("FUNCGRAD_GOLDEN"))
X = np.linspace(-1.0, 1.0, 5)
M = np.linspace(-1.0, 1.0, 15).reshape(5, 3)


def loss(w: Any, x: Any, y: Any) -> Any:
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def mlp_loss(params: Any, x: Any) -> Any:
    w1, b1, w2 = params
    return np.mean((np.tanh(x @ w1 + b1) @ w2 - 1.0) ** 2)


def mlp_step(params: Any, x: Any) -> Any:
    gradient = funcgrad.grad(mlp_loss)(params, x)
    return [p - 0.1 * g for p, g in zip(params, gradient, strict=True)]


def recurrence(x: Any, r: Any) -> Any:
    for _ in range(4):
        x = r * x * (1.0 - x)
    return x


PARAMS = [np.ones((3, 2)), np.zeros(2), np.ones(2)]
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "chain": (lambda x: np.exp(-(np.sin(x) ** 2)) * x + 1.0, (X,)),
    "logistic_gradient": (funcgrad.grad(loss), (PARAMS[0][:, 0], M, X)),
    "mlp_step": (mlp_step, (PARAMS, M)),
    "recurrence": (recurrence, (0.3, 3.7)),
    "where_and_clip": (lambda x: np.where(x > 0, np.clip(x, -0.5, 0.5), 2 * x) + 1, (X,)),
    "rows": (lambda x: np.sum(x * x, axis=1) / (1.0 + np.sum(x, axis=1)), (M,)),
    "whole_sum": (lambda x: np.sum(np.exp(x) * x), (X,)),
    "integers": (lambda n, b: (n * n + 1, (n > 2) & b, np.where(b, n, -n)), (np.arange(5), X > 0)),
    "float32": (lambda x: (x * 2.0 + 0.1) / (1 + x * x), (X.astype("f4"),)),
}


def compare(name: str, text: str) -> None:
    path = FOLDER / f"{name}.txt"
    if WRITE:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text, "FUNCGRAD_GOLDEN=1 writes this file anew"


@pytest.mark.parametrize("name", PROGRAMS)
def test_numpy(name: str) -> None:
    f, args = PROGRAMS[name]
    compiled = funcgrad.jit(f)
    with funcgrad.config("numpy"):
        compiled(*args)
        compare(name, compiled.code)


@pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("name", PROGRAMS)
def test_c(name: str) -> None:
    f, args = PROGRAMS[name]
    with funcgrad.config("c"):
        stages = funcgrad.jit(f).lower(*args)
        compare(f"{name}.c", f"{stages.code}\n{stages.c_code}")
