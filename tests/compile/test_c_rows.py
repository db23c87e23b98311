"""Loops over rows in C: where they are made, and that masks cost nothing in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad.compile import c_compiler, c_rows
from funcgrad.compile.c_regions import RegionKernel
from funcgrad.compile.c_rows import in_rows
from funcgrad.compile.lower import lower
from funcgrad.compile.regions import Region, with_regions
from funcgrad.compile.simplify import simplify
from funcgrad.compile.steps import LOOP, Lowered

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def a_small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_rows, "IN_CACHE", 1 << 14)


def softmax(x: Any, mask: Any = 0.0) -> Any:
    x = x + mask
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalized(x: Any, scale: Any) -> Any:
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale


def normal_slopes(x: Any, scale: Any, out: Any) -> Any:
    """The derivative of `normalized`, with a step of gradient descent: sums over all rows, too."""
    f, vjp = funcgrad.vjp(normalized, x, scale)
    dx, d_scale = vjp(out)
    return f, dx, scale - 0.1 * d_scale, dx.sum(0, keepdims=True) * scale


def attention(x: Any, bias: Any) -> Any:
    """Of 4 examples, 30 places and 2 heads."""
    parts = (x + bias).reshape(4, 30, 3, 2, 16)
    q, k, v = (parts[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    out = softmax(q @ k.swapaxes(-1, -2) / 4.0) @ v
    return out.transpose(0, 2, 1, 3).reshape(120, 32)


def loops_of(program: Lowered) -> list[int]:
    """The lengths of the loops in the program's regions, from outside to inside."""
    found = []
    for step in program.steps:
        if isinstance(step.function, Region):
            region = step.function
            found += loops_of(in_rows(Lowered(region.inputs, region.steps, region.outs)))
        elif step.kind == LOOP:
            found += [step.options.length, *loops_of(step.function)]
    return found


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], list[int]]] = {
    "blocks of 25 rows": (softmax, (RNG.normal(size=(200, 64)),), [8]),
    "rows that no block divides": (softmax, (RNG.normal(size=(211, 64)),), [211]),
    "long rows": (softmax, (RNG.normal(size=(20, 1000)),), [20]),
    "the same mask for all": (
        softmax,
        (RNG.normal(size=(3, 2, 60, 64)), RNG.normal(size=(60, 64))),
        [6, 2],
    ),
    "a mask for each": (softmax, (RNG.normal(size=(90, 50)), RNG.normal(size=(90, 1))), [3]),
    "one row for all": (normalized, (RNG.normal(size=(90, 50)), RNG.normal(size=(1, 50))), [3]),
    "a vector": (normalized, (RNG.normal(size=(90, 50)), RNG.normal(size=50)), [3]),
    "for rows and for what is in them": (
        lambda x, v: np.exp(x + v - (x + v).max(-1, keepdims=True)).sum(1) * v,
        (RNG.normal(size=(48, 8, 64)), RNG.normal(size=(1, 64))),
        [48],
    ),
    "with sums over blocks of rows": (
        normal_slopes,
        (RNG.normal(size=(90, 50)), RNG.normal(size=50), RNG.normal(size=(90, 50))),
        [3],
    ),
    "with sums over rows": (
        normal_slopes,
        (RNG.normal(size=(40, 300)), RNG.normal(size=300), RNG.normal(size=(40, 300))),
        [40],
    ),
    "with sums over rows and what is in them": (
        normal_slopes,
        (RNG.normal(size=(8, 40, 70)), RNG.normal(size=70), RNG.normal(size=(8, 40, 70))),
        [8, 2],
    ),
    "what is small before and after": (
        lambda x, v: np.sin((softmax(x) * np.cos(v / v.sum())).sum(0)) * v,
        (RNG.normal(size=(96, 50)), RNG.normal(size=50)),
        [3],
    ),
    "what is large after": (
        lambda x: softmax(x) * softmax(x).sum(0),
        (RNG.normal(size=(96, 50)),),
        [3],
    ),
    "small": (softmax, (RNG.normal(size=(20, 64)),), []),
    "rows that are short": (softmax, (RNG.normal(size=(2000, 8)),), []),
    "many of them": (softmax, (RNG.normal(size=(10_000, 8)),), [40]),
    "along the first axis": (lambda x: x / x.sum(0), (RNG.normal(size=(100, 100)),), []),
    "with the rows of another": (
        lambda x: softmax(x) + np.exp(x).T,
        (RNG.normal(size=(80, 80)),),
        [4],
    ),
    "in parts of another shape": (
        lambda x, v: softmax((x + v).reshape(4, 30, 40)),
        (RNG.normal(size=(120, 40)), RNG.normal(size=40)),
        [4],
    ),
    "heads of attention": (
        attention,
        (RNG.normal(size=(120, 96)), RNG.normal(size=96)),
        [4],
    ),
    "two that hang together by nothing": (
        lambda x, y: (softmax(x), normalized(y, 2.0)),
        (RNG.normal(size=(96, 50)), RNG.normal(size=(80, 60))),
        [3, 4],
    ),
    "joined and cut": (
        lambda x: softmax(np.concatenate([x[:, :40], np.sin(x)], 1))[:, 10:],
        (RNG.normal(size=(90, 50)),),
        [5],
    ),
}


def gradient_of(f: Callable[..., Any], count: int) -> Callable[..., Any]:
    def loss(*xs: Any) -> Any:
        return sum((y**3).sum() for y in funcgrad.tree.leaves(f(*xs)))

    return funcgrad.grad(loss, tuple(range(count)))


@pytest.mark.parametrize("name", CASES)
def test_where_loops_are_made(name: str) -> None:
    f, args, lengths = CASES[name]
    jaxpr = simplify(funcgrad.make_jaxpr(f)(*args))
    assert loops_of(with_regions(lower(jaxpr))) == lengths


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_the_same_each_time(name: str) -> None:
    """It is what compiled loops are found by."""
    f, args, _ = CASES[name]

    gradient = gradient_of(f, len(args))
    texts = set()
    for _ in range(4):
        program = with_regions(lower(simplify(funcgrad.make_jaxpr(gradient)(*args))))
        regions = [s.function for s in program.steps if isinstance(s.function, Region)]
        texts.add("".join(RegionKernel(r, f"kernel{k}").text for k, r in enumerate(regions)))
    assert len(texts) == 1


@pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("name", CASES)
def test_results(name: str) -> None:
    f, args, _ = CASES[name]

    gradient = gradient_of(f, len(args))
    for g in (f, gradient):
        with funcgrad.config("c"):
            found = funcgrad.jit(g)(*args)
        for a, b in zip(*map(funcgrad.tree.leaves, (found, g(*args))), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
def test_exponentials_that_vanish() -> None:
    """Single precision has a way of its own for them, exact at its end and for what is no number."""
    x = [0.0, -0.0, 1.0, 88.0, 89.0, np.inf, -np.inf, np.nan, -87.0, -90.0, -103.9, -103.98, -104.5]
    x = np.array([*x, -1e30, 3e38, 1e-45] * 5, np.float32)
    with np.errstate(all="ignore"), funcgrad.config("c"):
        found = funcgrad.jit(lambda x: np.exp(x) * np.float32(1) + np.float32(0))(x)
        expected = np.exp(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1.5e-45)
    np.testing.assert_array_equal(found[x < -104], 0)
