"""Random numbers: the generator's published answers, determinism, batching, distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad import random
from funcgrad.ops.random import threefry2x32

KEY = random.key(7)
COUNT = 20_000

SAMPLERS: dict[str, tuple[Callable[[Any], Any], float, float]] = {  # name: (draw, mean, variance)
    "uniform": (lambda k: random.uniform(k, (COUNT,)), 0.5, 1 / 12),
    "uniform 2..5": (lambda k: random.uniform(k, (COUNT,), minval=2.0, maxval=5.0), 3.5, 0.75),
    "normal": (lambda k: random.normal(k, (COUNT,)), 0.0, 1.0),
    "exponential": (lambda k: random.exponential(k, (COUNT,)), 1.0, 1.0),
    "gumbel": (lambda k: random.gumbel(k, (COUNT,)), 0.5772, np.pi**2 / 6),
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, (COUNT,)), 0.3, 0.21),
    "randint": (lambda k: random.randint(k, (COUNT,), 0, 6), 2.5, 35 / 12),
}
sampler = pytest.mark.parametrize("name", SAMPLERS)


@sampler
def test_moments(name: str) -> None:
    draw, mean, variance = SAMPLERS[name]
    x = np.asarray(draw(KEY), float)
    assert abs(x.mean() - mean) < 5 * np.sqrt(variance / COUNT)
    assert abs(x.var() - variance) < 0.06 * variance


@sampler
def test_the_same_key_gives_the_same_numbers_and_another_key_others(name: str) -> None:
    draw, _, _ = SAMPLERS[name]
    np.testing.assert_array_equal(draw(KEY), draw(KEY))
    assert not np.array_equal(draw(KEY), draw(random.fold_in(KEY, 1)))


@sampler
def test_vmap_is_the_loop_bit_for_bit(name: str) -> None:
    draw, _, _ = SAMPLERS[name]
    keys = random.split(KEY, 3)
    batched = funcgrad.vmap(draw)(keys)
    for key, row in zip(keys, batched, strict=True):
        np.testing.assert_array_equal(draw(key), row)


def test_split_keys_differ() -> None:
    keys = random.split(KEY, 100)
    assert len({tuple(k) for k in keys.tolist()}) == 100


def test_permutation_and_choice() -> None:
    assert sorted(random.permutation(KEY, 10).tolist()) == list(range(10))
    drawn = random.choice(KEY, np.arange(10), (10,), replace=False)
    assert sorted(drawn.tolist()) == list(range(10))


def test_samples_are_differentiable_in_their_parameters() -> None:
    def f(scale: Any) -> Any:
        return (scale * random.normal(KEY, (5,))).sum()

    assert float(funcgrad.grad(f)(2.0)) == pytest.approx(float(random.normal(KEY, (5,)).sum()))


KNOWN = [  # key, counter, output of Threefry-2x32 with 20 rounds (Random123's test vectors)
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize("key, counter, output", KNOWN)
def test_known_answers(key: Any, counter: Any, output: Any) -> None:
    def words(pair: Any) -> Any:
        return tuple(np.array([v], np.uint32) for v in pair)

    found = threefry2x32(np, words(key), words(counter))
    assert tuple(int(v[0]) for v in found) == output
