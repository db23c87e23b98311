"""Random numbers: the published hash, JAX's streams, independence of batching, distributions."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import random
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.ops import random as words
from funcgrad.random import continuous, discrete, drawing, keys
from funcgrad.random.drawing import Draw

KEY = random.PRNGKey(3)
LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]))

DRAWS = {
    "split": lambda key: random.split(key, 3),
    "fold_in": lambda key: random.fold_in(key, 3),
    "bits": lambda key: random.bits(key, (3,), np.uint64),
    "uniform": lambda key: random.uniform(key, (2, 3), minval=-1.0),
    "normal": lambda key: random.normal(key, (7,)),
    "normal32": lambda key: random.normal(key, (7,), np.float32),
    "exponential": lambda key: random.exponential(key, (5,)),
    "gumbel": lambda key: random.gumbel(key, (5,)),
    "bernoulli": lambda key: random.bernoulli(key, 0.3, (5,)),
    "randint": lambda key: random.randint(key, (4,), -3, 9),
    "permutation": lambda key: random.permutation(key, 5),
    "permuted": lambda key: random.permutation(key, np.arange(8.0).reshape(2, 4), axis=1),
    "choice": lambda key: random.choice(key, np.arange(5.0), (3,)),
    "choice, weighted": lambda key: random.choice(key, 3, (4,), p=np.array([0.1, 0.2, 0.7])),
    "choice, none twice": lambda key: random.choice(key, 5, (3,), replace=False),
    "choice, both": lambda key: random.choice(key, 3, (2,), False, np.array([0.1, 0.2, 0.7])),
    "categorical": lambda key: random.categorical(key, LOGITS, shape=(4, 2)),
    "categorical, none twice": lambda key: random.categorical(key, LOGITS, 0, (2, 3), False),
    "gumbel, high": lambda key: random.gumbel(key, (4,), mode="high"),
    "bernoulli, high": lambda key: random.bernoulli(key, 0.3, (4,), "high"),
}
every_draw = pytest.mark.parametrize("name", DRAWS)


# ---------------------------------------------------------------- the hash


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_published_answers(key: Any, counter: Any, expected: Any) -> None:
    """The known answers of 20 rounds of Threefry-2x32 that come with the Random123 library."""
    key, counter = ([np.array([v], np.uint32) for v in pair] for pair in (key, counter))
    x, y = words.threefry2x32(np, tuple(key), tuple(counter))
    assert (int(x[0]), int(y[0])) == expected


def test_numbers_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = random.split(KEY, 5)
    expected = words.random_normal(keys, shape=(40,), dtype=np.dtype(float))
    for size in (1, 8, 64):
        monkeypatch.setitem(words._BLOCK, "numpy", size)
        found = words.random_normal(keys, shape=(40,), dtype=np.dtype(float))
        np.testing.assert_array_equal(found, expected)


def test_counters_beyond_32_bits() -> None:
    key = np.array([[1, 2]], np.uint32)
    found = words._words(np, key, slice(3 * 2**32 + 5, 3 * 2**32 + 6))
    counter = (np.array([[3]], np.uint32), np.array([[5]], np.uint32))
    expected = words.threefry2x32(np, (key[:, :1], key[:, 1:]), counter)
    assert [x.item() for x in found] == [x.item() for x in expected]
    words._words(np, key, slice(2**32 - 1, 2**32))


def test_recorded_values() -> None:
    """As JAX 0.10 gives them with 64-bit types enabled."""
    key = random.PRNGKey(0)
    assert random.split(key).tolist() == [[1797259609, 2579123966], [928981903, 3453687069]]
    assert random.bits(key, (2,), np.uint32).tolist() == [4070199207, 4202968722]
    assert random.randint(key, (3,), 0, 6).tolist() == [3, 5, 5]
    np.testing.assert_allclose(
        random.normal(key, (2,)), [-0.2058421394796434, -0.7847657764467411], rtol=1e-11
    )


# ---------------------------------------------------------------- transforms


@every_draw
def test_vmap_over_keys_is_the_loop(name: str) -> None:
    draw, keys = DRAWS[name], random.split(KEY, 4)
    expected = np.stack([draw(key) for key in keys])
    found = [
        funcgrad.vmap(draw)(keys),
        funcgrad.vmap(draw, in_axes=1)(keys.T),
        funcgrad.vmap(funcgrad.vmap(draw))(keys.reshape(2, 2, 2)).reshape(expected.shape),
    ]
    for y in found:
        assert y.dtype == expected.dtype
        np.testing.assert_array_equal(y, expected)


@every_draw
def test_program_draws_the_same(name: str) -> None:
    program = funcgrad.make_jaxpr(DRAWS[name])(KEY)
    np.testing.assert_array_equal(funcgrad.eval_jaxpr(program, KEY)[0], DRAWS[name](KEY))


def test_vmap_over_seeds_and_data() -> None:
    numbers = np.arange(3)
    seeded = [random.PRNGKey(int(i)) for i in numbers]
    np.testing.assert_array_equal(funcgrad.vmap(random.PRNGKey)(numbers), seeded)
    folded = [random.fold_in(KEY, int(i)) for i in numbers]
    found = funcgrad.vmap(random.fold_in, in_axes=(None, 0))(KEY, numbers)
    np.testing.assert_array_equal(found, folded)


def test_derivatives_go_to_parameters() -> None:
    u = random.uniform(KEY, (4,))

    def total(low: Any, high: Any) -> Any:
        return fnp.sum(random.uniform(KEY, (4,), minval=low, maxval=high))

    found = funcgrad.grad(total, argnums=(0, 1))(0.0, 2.0)
    np.testing.assert_allclose(found, [np.sum(1 - u), np.sum(u)])
    order = random.permutation(KEY, 4)
    weights = np.arange(4.0)
    moved = funcgrad.grad(lambda x: fnp.sum(random.permutation(KEY, x) * weights))(np.ones(4))
    np.testing.assert_array_equal(moved[order], weights)
    none = funcgrad.grad(lambda p: fnp.sum(random.bernoulli(KEY, p) * 1.0))(np.full(3, 0.5))
    np.testing.assert_array_equal(none, np.zeros(3))


# ---------------------------------------------------------------- distributions


def test_normal_inverts_the_distribution_function() -> None:
    q = np.concatenate([np.linspace(-0.499, 0.499, 400), -0.5 + 0.5 ** np.arange(2.0, 52.0)])
    expected = [NormalDist().inv_cdf(p) for p in 0.5 + q]
    np.testing.assert_allclose(words.inverse_normal(np, q), expected, rtol=2e-15, atol=1e-300)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_moments(dtype: str) -> None:
    count = 40_000
    for draw, mean, variance in (
        (random.uniform, 1 / 2, 1 / 12),
        (random.normal, 0.0, 1.0),
        (random.exponential, 1.0, 1.0),
        (random.gumbel, 0.5772156649, math.pi**2 / 6),
    ):
        x = draw(KEY, (count,), dtype)
        assert x.dtype == dtype
        x = x.astype(float)
        assert np.all(np.isfinite(x))
        assert abs(np.mean(x) - mean) < 5 * math.sqrt(variance / count)
        assert abs(np.var(x) - variance) < 0.06 * variance


def test_uniform_stays_in_its_bounds() -> None:
    x = random.uniform(KEY, (10_000,), np.float16, minval=-2, maxval=3)
    assert x.min() >= -2
    assert x.max() <= 3


def test_frequencies() -> None:
    count, p = 30_000, np.array([0.1, 0.2, 0.0, 0.7])
    one = random.choice(KEY, 4, (count,), p=p)
    two = random.categorical(KEY, np.log(np.maximum(p, 1e-300)), shape=(count,))
    three = random.bernoulli(KEY, p, (count, 4)).mean(axis=0)
    for found in (np.bincount(one, minlength=4) / count, np.bincount(two) / count, three):
        np.testing.assert_allclose(found, p, atol=0.012)
    die = np.bincount(random.randint(KEY, (count,), 0, 6)) / count
    np.testing.assert_allclose(die, np.full(6, 1 / 6), atol=0.01)


def test_frequencies_of_places_that_differ() -> None:
    count, p = 30_000, np.array([0.1, 0.2, 0.0, 0.7])
    logits = np.broadcast_to(np.log(np.maximum(p, 1e-300)), (count, 4))
    first, second = random.categorical(KEY, logits, shape=(2, count), replace=False)
    found = np.bincount(4 * first + second, minlength=16).reshape(4, 4) / count
    expected = p[:, None] * p / (1 - p[:, None]) * (1 - np.eye(4))
    np.testing.assert_allclose(found, expected, atol=0.012)


def test_twice_as_many_bits_reach_tails() -> None:
    """In half precision, whose uniform numbers are multiples of ``2**-10``."""
    low, high = (random.gumbel(KEY, (100_000,), np.float16, mode) for mode in ("low", "high"))
    assert low.max() < 7 and 8 < high.max() < 20
    assert abs(np.mean(high, dtype=float) - 0.5772156649) < 0.02
    rare = random.bernoulli(KEY, np.float16(2**-13), (1_000_000,), "high")
    assert abs(np.mean(rare) * 2**13 - 1) < 0.4


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vectors_are_permuted_independently(axis: int) -> None:
    x = np.arange(60.0).reshape(3, 4, 5)
    f = lambda x: random.permutation(KEY, x, axis, independent=True)  # noqa: E731
    y = f(x)
    assert np.array_equal(np.sort(y, axis), x)
    orders = np.argsort(np.moveaxis(y, axis, -1).reshape(-1, x.shape[axis]))
    assert len(np.unique(orders, axis=0)) > 1
    assert np.array_equal(funcgrad.jit(f)(x), y)
    assert np.array_equal(funcgrad.grad(lambda x: fnp.sum(f(x) * x**0 * y))(x), x)
    assert np.array_equal(
        random.permutation(KEY, x[0, 0], independent=True), random.permutation(KEY, x[0, 0])
    )


def test_permutations_are_equally_likely() -> None:
    keys = random.split(KEY, 6000)
    found = funcgrad.vmap(lambda key: random.permutation(key, 3))(keys)
    for order in itertools.permutations(range(3)):
        share = np.mean(np.all(found == order, axis=1))
        assert abs(share - 1 / 6) < 0.03


def test_without_replacement_nothing_comes_twice() -> None:
    for p in (None, np.array([0.1, 0.2, 0.3, 0.4])):
        found = random.choice(KEY, 4, (4,), replace=False, p=p)
        assert sorted(found.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_whole_range_of_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    high = info.max + 1 if info.bits < 64 else info.max
    x = random.randint(KEY, (4000,), info.min, high, dtype)
    assert x.dtype == dtype
    assert float(x.max()) - float(x.min()) > 0.9 * (float(info.max) - float(info.min))
    assert random.randint(KEY, (3,), 5, 5, dtype).tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: random.uniform(np.zeros(2)), ArgumentError),
        (lambda: random.uniform(np.zeros(3, np.uint32)), ArgumentError),
        (lambda: random.PRNGKey(1.5), ArgumentError),
        (lambda: random.fold_in(KEY, 1.5), ArgumentError),
        (lambda: random.uniform(KEY, (2,), int), ArgumentError),
        (lambda: random.bits(KEY, (2,), np.int32), ArgumentError),
        (lambda: random.uniform(KEY, (-1,)), ShapeError),
        (lambda: random.randint(KEY, (2,), 0.0, 3), ArgumentError),
        (lambda: random.randint(KEY, (2,), 0, 300, np.int8), ArgumentError),
        (lambda: random.randint(KEY, (2,), -1, 3, np.uint8), ArgumentError),
        (lambda: random.choice(KEY, 3, (4,), replace=False), ShapeError),
        (lambda: random.choice(KEY, 3, p=np.ones(4)), ShapeError),
        (lambda: random.permutation(KEY, np.ones(3), axis=1), ShapeError),
        (lambda: random.bernoulli(KEY, np.zeros((2, 3)), (3,)), ShapeError),
        (lambda: random.categorical(KEY, LOGITS, shape=(3,)), ShapeError),
        (lambda: random.categorical(KEY, LOGITS, shape=(9, 2), replace=False), ShapeError),
        (lambda: random.gumbel(KEY, mode="finest"), ArgumentError),
    ],
)
def test_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


# ---------------------------------------------------------------- JAX, where it is installed


def test_streams_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True), jax.threefry_partitionable(True):
        theirs = jax.random
        key = theirs.PRNGKey(3)
        p, a = np.array([0.1, 0.2, 0.7]), np.arange(3.0)
        exact = {
            "split": lambda r, k: r.split(k, (2, 3)),
            "fold_in": lambda r, k: r.fold_in(k, 7),
            **{f"bits{b}": lambda r, k, b=b: r.bits(k, (9,), f"uint{b}") for b in (8, 16, 32, 64)},
            "bits": lambda r, k: r.bits(k, (9,)),
            "uniform": lambda r, k: r.uniform(k, (40,)),
            "uniform16": lambda r, k: r.uniform(k, (40,), "float16"),
            "uniform32": lambda r, k: r.uniform(k, (40,), "float32"),
            "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (40,)),
            "randint": lambda r, k: r.randint(k, (40,), -5, 100),
            "randint8": lambda r, k: r.randint(k, (40,), -5, 100, "int8"),
            "permutation": lambda r, k: r.permutation(k, 2000),
            **{
                f"permutation along {axis}": lambda r, k, axis=axis: r.permutation(
                    k, np.arange(120).reshape(4, 5, 6), axis, independent=True
                )
                for axis in range(3)
            },
            "choice": lambda r, k: r.choice(k, a, (40,)),
            "choice, weighted": lambda r, k: r.choice(k, a, (40,), p=p),
            "choice, none twice": lambda r, k: r.choice(k, a, (3,), False),
            "categorical": lambda r, k: r.categorical(k, LOGITS, shape=(9, 2)),
            "categorical, none twice": lambda r, k: np.asarray(
                r.categorical(k, LOGITS, -1, (2, 2), False, "high"), int
            ),
            "choice, high": lambda r, k: r.choice(k, a, (3,), False, p, mode="high"),
            "bernoulli, high": lambda r, k: r.bernoulli(k, 0.3, (40,), mode="high"),
        }
        for name, draw in exact.items():
            found, expected = draw(random, KEY), np.asarray(draw(theirs, key))
            assert found.dtype == expected.dtype, name
            np.testing.assert_array_equal(found, expected, err_msg=name)
        close = {
            "bounds": lambda r, k: r.uniform(k, (40,), minval=-2.0, maxval=3.0),
            "normal": lambda r, k: r.normal(k, (40,)),
            "normal, complex": lambda r, k: r.normal(k, (40,), complex),
            "exponential": lambda r, k: r.exponential(k, (40,)),
            "gumbel": lambda r, k: r.gumbel(k, (40,)),
            "gumbel, high": lambda r, k: r.gumbel(k, (40,), mode="high"),
        }
        for name, draw in close.items():
            found, expected = draw(random, KEY), np.asarray(draw(theirs, key))
            np.testing.assert_allclose(found, expected, rtol=1e-11, err_msg=name)


RECURRING = {
    **{name: DRAWS[name] for name in ("split", "fold_in", "bits", "uniform", "normal", "normal32")},
    "number": random.normal,
    "many": lambda key: random.normal(key, (40_000,)),
    "half": lambda key: random.normal(key, (5,), np.float16),
    "poisson": lambda key: random.poisson(key, np.array([0.3, 5.0, 40.0])),
    "binomial": lambda key: random.binomial(key, 30.0, np.array([0.01, 0.5])),
}


@pytest.mark.parametrize("name", RECURRING)
@pytest.mark.parametrize("kind", ["auto", "c", "numpy"])
def test_draws_that_recur_are_the_same_numbers(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit, before and after there is a program: NOTE [The same numbers] in drawing.py."""
    draws = [
        x for m in (continuous, discrete, keys) for x in vars(m).values() if isinstance(x, Draw)
    ]
    first = RECURRING[name](KEY)
    monkeypatch.setattr(drawing, "LONG", 0.0)
    for draw in draws:
        monkeypatch.setattr(draw, "programs", {})
    with funcgrad.config(kind):
        found = [RECURRING[name](KEY) for _ in range(3)]
    assert any(draw.programs for draw in draws) == (kind != "numpy")
    for x in found:
        assert type(x) is type(first) and x.dtype == first.dtype and x.flags.writeable
        np.testing.assert_array_equal(x, first)
    assert not np.shares_memory(*found[1:])


def test_kinds_of_draws_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "KINDS", 4)
    draw = Draw(words.random_bits)
    for n in range(20):
        draw(KEY, shape=(n,), bits=32)
    assert len(draw.spent) <= 4


def test_masks_as_weights_draw_what_jax_draws() -> None:
    mask = np.arange(8) < 3
    found = random.choice(random.key(3), 8, (8,), p=mask)
    assert found.tolist() == [2, 0, 1, 0, 2, 1, 2, 1]
    assert random.choice(random.key(3), 8, (8,), p=mask / 3).tolist() == [0, 1, 2, 2, 2, 1, 0, 1]
