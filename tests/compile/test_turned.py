"""Transposed matrices that are copied once for many products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad import lax

RNG = np.random.default_rng(0)
W = RNG.normal(size=(40, 40)) / 40
X = RNG.normal(size=(6, 40))


def in_loop(x: Any, w: Any, reads: int = 1) -> Any:
    def step(x: Any, _: Any) -> Any:
        y = np.tanh(x @ w.T)
        return y if reads == 1 else y + w.T[:6] * 0.1, y.sum()

    return lax.scan(step, x, None, length=5)


def unrolled(x: Any, w: Any, times: int = 5) -> Any:
    for _ in range(times):
        x = np.tanh(x @ w.T)
    return x


@pytest.mark.parametrize(
    ("f", "x", "is_copied"),
    [
        (in_loop, X, True),
        (unrolled, X, True),
        (lambda x, w: in_loop(x, w, 2), X, False),  # something else reads the transpose too
        (lambda x, w: unrolled(x, w, 2), X, False),  # too few to pay
        (unrolled, RNG.normal(size=(80, 40)), False),  # too many rows
    ],
)
def test_copied_where_it_pays(f: Any, x: Any, is_copied: bool) -> None:
    with funcgrad.config("numpy"):
        compiled = funcgrad.jit(f)
        found = compiled(x, W)
        assert compiled.code.count("call_contiguous") == is_copied
    for a, b in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(f(x, W)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_the_matrix_is_read_at_every_call() -> None:
    compiled = funcgrad.jit(in_loop)
    w = np.asfortranarray(W)  # whose transpose needs no copy
    first = compiled(X, w)[0]
    w *= 2
    np.testing.assert_allclose(compiled(X, w)[0], in_loop(X, w)[0], rtol=1e-12)
    assert not np.allclose(first, compiled(X, w)[0])


@pytest.mark.parametrize("f", [in_loop, unrolled])
def test_gradients(f: Any) -> None:
    gradient = funcgrad.grad(lambda x, w: sum(map(np.sum, funcgrad.tree.leaves(f(x, w)))), (0, 1))
    for a, b in zip(funcgrad.jit(gradient)(X, W), gradient(X, W), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
