"""Random tensors: shapes and dtypes, seeds and states, moments, bounds, and what has no gradient."""

from __future__ import annotations

import copy
import math
import pickle
import re
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import outcomes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import Row, both, module, rows

import compat

FLOATS = ["float32", "float64", "float16"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]
MANY = 20_000


@both()
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return module(request.param)


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    """The default stream starts at 0, and is afterwards where it was."""
    with compat.random.fork_rng():
        compat.manual_seed(0)
        yield


@pytest.mark.parametrize("row", rows("random"), ids=str)
def test_transcript(torch: Any, row: Row) -> None:
    outcomes.check(torch, row)


# ---------------------------------------------------------------- shapes and dtypes

shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@given(shapes, st.sampled_from(FLOATS + COMPLEX))
def test_shapes_and_dtypes_of_floats(shape: tuple[int, ...], name: str) -> None:
    dtype = getattr(compat, name)
    like = compat.zeros(shape, dtype=dtype)
    made = [
        compat.rand(shape, dtype=dtype),
        compat.rand(*shape, dtype=dtype) if shape else compat.rand((), dtype=dtype),
        compat.randn(shape, dtype=dtype),
        compat.normal(1.0, 2.0, shape, dtype=dtype),
        compat.rand_like(like),
        compat.randn_like(like),
        like.clone().uniform_(),
        like.clone().normal_(),
    ]
    if not dtype.is_complex:
        made += [compat.bernoulli(like), compat.poisson(like), compat.binomial(like, like)]
        for fill in ("exponential_", "cauchy_", "log_normal_", "random_", "bernoulli_"):
            made.append(getattr(like.clone(), fill)())
        made.append(like.clone().geometric_(0.5))
    for x in made:
        assert x.shape == shape and x.dtype is dtype and not x.requires_grad and x.is_leaf
        assert not x.isnan().any()


@given(shapes, st.sampled_from([*INTEGERS, "float32", "float16"]))
def test_shapes_and_dtypes_of_integers(shape: tuple[int, ...], name: str) -> None:
    dtype = getattr(compat, name)
    like = compat.zeros(shape, dtype=dtype)
    for x in (
        compat.randint(2, 7, shape, dtype=dtype),
        compat.randint_like(like, 2, 7),
        like.clone().random_(2, 7),
    ):
        assert x.shape == shape and x.dtype is dtype
        assert bool(((x >= 2) & (x < 7) & (x == x.floor())).all())
    assert bool((compat.randint_like(like, 7) < 7).all())
    assert like.clone().geometric_(0.5).dtype is dtype


def test_results_that_require_grad(torch: Any) -> None:
    for x in (
        torch.rand(2, requires_grad=True),
        torch.randn(2, requires_grad=True),
        torch.rand_like(torch.ones(2), requires_grad=True),
        torch.randn_like(torch.ones(2, dtype=torch.int64), dtype=torch.float32, requires_grad=True),
        torch.normal(0.0, 1.0, (2,), requires_grad=True),
        torch.randint(2, (2,), dtype=torch.float32, requires_grad=True),
        torch.randperm(2, dtype=torch.float32, requires_grad=True),
    ):
        assert x.requires_grad and x.is_leaf
        (x * 3).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]
    assert not torch.rand_like(torch.ones(2, requires_grad=True)).requires_grad


def test_out(torch: Any) -> None:
    x = torch.full((2, 3), 9.0)
    assert torch.rand(2, 3, out=x) is x and bool((x < 1).all())
    y = torch.full((4,), 9, dtype=torch.int64)
    assert torch.randperm(4, out=y) is y and y.sort().values.tolist() == [0, 1, 2, 3]
    assert torch.bernoulli(torch.ones(2), out=(z := torch.zeros(2))) is z and z.tolist() == [1, 1]


def test_like_keeps_the_order_of_axes_in_memory(torch: Any) -> None:
    x = torch.zeros(2, 3, 4).permute(2, 0, 1)
    for y in (torch.rand_like(x), torch.randn_like(x), torch.randint_like(x, 3)):
        assert y.stride() == x.stride() and y.shape == x.shape


# ---------------------------------------------------------------- seeds and states

DRAWS: list[Callable[[Any], Any]] = [
    lambda m: m.rand(5),
    lambda m: m.randn(5),
    lambda m: m.randint(1000, (5,)),
    lambda m: m.randperm(50),
    lambda m: m.rand_like(m.zeros(5, dtype=m.float64)),
    lambda m: m.randn_like(m.zeros(5)),
    lambda m: m.randint_like(m.zeros(5), 1000),
    lambda m: m.normal(0.0, 1.0, (5,)),
    lambda m: m.normal(m.zeros(5), m.ones(5)),
    lambda m: m.bernoulli(m.full((50,), 0.5)),
    lambda m: m.poisson(m.full((50,), 5.0)),
    lambda m: m.binomial(m.full((50,), 9.0), m.full((50,), 0.5)),
    lambda m: m.multinomial(m.ones(50), 20),
    lambda m: m.multinomial(m.ones(50), 20, True),
    lambda m: m.zeros(5).uniform_(),
    lambda m: m.zeros(5).normal_(),
    lambda m: m.zeros(50).random_(1000),
    lambda m: m.zeros(50).bernoulli_(),
    lambda m: m.zeros(5).exponential_(),
    lambda m: m.zeros(5).cauchy_(),
    lambda m: m.zeros(5).log_normal_(),
    lambda m: m.zeros(50).geometric_(0.1),
    lambda m: m.nn.functional.dropout(m.ones(50)),
    lambda m: m.nn.Linear(3, 3).weight.detach(),
]


@pytest.mark.parametrize("number", range(len(DRAWS)))
def test_seeds_repeat(torch: Any, number: int) -> None:
    draw = DRAWS[number]
    torch.manual_seed(1)
    state = torch.get_rng_state()
    a, b = draw(torch), draw(torch)
    assert not torch.equal(a, b)
    torch.manual_seed(1)
    assert torch.equal(draw(torch), a)
    assert torch.equal(draw(torch), b)
    torch.set_rng_state(state)
    assert torch.equal(draw(torch), a)
    torch.manual_seed(2)
    assert not torch.equal(draw(torch), a)


WITH_GENERATOR: list[Callable[[Any, Any], Any]] = [
    lambda m, g: m.rand(5, generator=g),
    lambda m, g: m.randn(5, generator=g),
    lambda m, g: m.randint(1000, (5,), generator=g),
    lambda m, g: m.randperm(50, generator=g),
    lambda m, g: m.normal(m.zeros(5), 1.0, generator=g),
    lambda m, g: m.bernoulli(m.full((50,), 0.5), generator=g),
    lambda m, g: m.poisson(m.full((50,), 5.0), generator=g),
    lambda m, g: m.binomial(m.full((50,), 9.0), m.full((50,), 0.5), generator=g),
    lambda m, g: m.multinomial(m.ones(50), 20, generator=g),
    lambda m, g: m.zeros(5).uniform_(generator=g),
    lambda m, g: m.zeros(5).normal_(generator=g),
    lambda m, g: m.zeros(50).random_(1000, generator=g),
    lambda m, g: m.zeros(50).bernoulli_(generator=g),
    lambda m, g: m.zeros(5).exponential_(generator=g),
    lambda m, g: m.zeros(5).cauchy_(generator=g),
    lambda m, g: m.zeros(5).log_normal_(generator=g),
    lambda m, g: m.zeros(50).geometric_(0.1, generator=g),
]


@pytest.mark.parametrize("number", range(len(WITH_GENERATOR)))
def test_generators_are_streams_of_their_own(torch: Any, number: int) -> None:
    draw = WITH_GENERATOR[number]
    g, h = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    default = torch.get_rng_state()
    a = draw(torch, g)
    assert torch.equal(torch.get_rng_state(), default)
    assert torch.equal(draw(torch, h), a)
    state = g.get_state()
    b = draw(torch, g)
    torch.rand(3, generator=h)
    h.set_state(state)
    assert torch.equal(draw(torch, h), b) and not torch.equal(a, b)


def test_states(torch: Any) -> None:
    g = torch.Generator().manual_seed(7)
    torch.rand(3, generator=g)
    other = g.clone_state()
    assert other is not g and other.initial_seed() == g.initial_seed() == 7
    assert torch.equal(torch.rand(3, generator=g), torch.rand(3, generator=other))
    assert g.get_state().dtype is torch.uint8 and g.get_state().ndim == 1
    kept = g.get_state()
    torch.rand(1, generator=g)
    assert not torch.equal(kept, g.get_state())
    assert g.seed() == g.initial_seed() and g.seed() != g.seed()


def test_an_odd_number_of_halves_is_part_of_the_state() -> None:
    """NumPy keeps the other half of 64 random bits for the next draw of 32."""
    g = compat.Generator().manual_seed(3)
    compat.randint(10, (1,), generator=g, dtype=compat.int32)
    compat.rand(3, generator=g)
    h = g.clone_state()
    for draw in WITH_GENERATOR:
        assert compat.equal(draw(compat, g), draw(compat, h))


def test_generators_pickle() -> None:
    g = compat.Generator().manual_seed(3)
    compat.rand(3, generator=g)
    for h in (pickle.loads(pickle.dumps(g)), copy.deepcopy(g), copy.copy(g)):
        assert h.initial_seed() == 3 and h.device == g.device
        assert compat.equal(g.clone_state().get_state(), h.get_state())
    h = pickle.loads(pickle.dumps(g))
    assert compat.equal(compat.rand(3, generator=g), compat.rand(3, generator=h))


def test_fork_leaves_the_stream_where_it_was(torch: Any) -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    with torch.random.fork_rng():
        torch.manual_seed(9)
        torch.rand(10)
    assert torch.equal(torch.rand(3), expected)
    torch.manual_seed(1)
    with pytest.raises(KeyError), torch.random.fork_rng():
        torch.rand(10)
        raise KeyError
    assert torch.equal(torch.rand(3), expected)
    torch.manual_seed(1)
    with torch.random.fork_rng(enabled=False):
        torch.rand(3)
    assert not torch.equal(torch.rand(3), expected)


def test_the_seed_is_a_fact_of_this_library() -> None:
    """The same on every machine and in every version; NumPy guarantees its bits."""
    g = compat.Generator().manual_seed(0)
    expected = np.random.Generator(np.random.PCG64(0))
    np.testing.assert_array_equal(
        compat.rand(3, generator=g, dtype=compat.float64).numpy(), expected.random(3)
    )
    assert compat.randperm(5, generator=g).tolist() == expected.permutation(5).tolist()


def test_threads_share_one_stream() -> None:
    """Nothing is drawn twice."""
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.extend(compat.rand(500, dtype=compat.float64)))
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({float(x) for x in found}) == 2000


# ---------------------------------------------------------------- moments


class Law(NamedTuple):
    """A distribution: how it is drawn, and its mean and standard deviation."""

    name: str
    draw: Callable[[Any], Any]
    mean: float
    std: float


def _filled(name: str, *args: Any, dtype: str = "float64") -> Callable[[Any], Any]:
    return lambda m: getattr(m.zeros(MANY, dtype=getattr(m, dtype)), name)(*args)


LAWS = [
    Law("rand", lambda m: m.rand(MANY), 0.5, 12**-0.5),
    Law("rand half", lambda m: m.rand(MANY, dtype=m.float16), 0.5, 12**-0.5),
    Law("rand real", lambda m: m.rand(MANY, dtype=m.complex64).real, 0.5, 12**-0.5),
    Law("rand imag", lambda m: m.rand(MANY, dtype=m.complex64).imag, 0.5, 12**-0.5),
    Law("randn", lambda m: m.randn(MANY), 0, 1),
    Law("randn half", lambda m: m.randn(MANY, dtype=m.float16), 0, 1),
    Law("randn real", lambda m: m.randn(MANY, dtype=m.complex128).real, 0, 0.5**0.5),
    Law("randn imag", lambda m: m.randn(MANY, dtype=m.complex128).imag, 0, 0.5**0.5),
    Law("randint", lambda m: m.randint(-3, 5, (MANY,)), 0.5, (63 / 12) ** 0.5),
    Law("randint bytes", lambda m: m.randint(256, (MANY,), dtype=m.uint8), 127.5, 73.9),
    Law("normal", lambda m: m.normal(3.0, 2.0, (MANY,)), 3, 2),
    Law("normal of tensors", lambda m: m.normal(m.full((MANY,), 3.0), m.full((), 2.0)), 3, 2),
    Law("normal of a mean", lambda m: m.normal(m.full((MANY,), 3.0), 2.0), 3, 2),
    Law("normal of a std", lambda m: m.normal(3.0, m.full((MANY,), 2.0)), 3, 2),
    Law("bernoulli", lambda m: m.bernoulli(m.full((MANY,), 0.3)), 0.3, 0.21**0.5),
    Law("bernoulli p", lambda m: m.bernoulli(m.zeros(MANY), 0.3), 0.3, 0.21**0.5),
    Law("poisson", lambda m: m.poisson(m.full((MANY,), 4.0)), 4, 2),
    Law("poisson, many", lambda m: m.poisson(m.full((MANY,), 400.0)), 400, 20),
    Law("binomial", lambda m: m.binomial(m.full((MANY,), 9.0), m.full((), 0.5)), 4.5, 1.5),
    Law(
        "multinomial", lambda m: m.multinomial(m.tensor([1.0, 0, 3.0]), MANY, True), 1.5, 0.75**0.5
    ),
    Law("uniform_", _filled("uniform_", -1, 5), 2, 3**0.5),
    Law("uniform_ half", _filled("uniform_", -1, 5, dtype="float16"), 2, 3**0.5),
    Law("normal_", _filled("normal_", -1, 3), -1, 3),
    Law("normal_ real", lambda m: _filled("normal_", 2, 3, dtype="complex64")(m).real, 2, 4.5**0.5),
    Law("random_", _filled("random_", 4, 12), 7.5, (63 / 12) ** 0.5),
    Law("random_ of bytes", _filled("random_", dtype="uint8"), 127.5, 73.9),
    Law("random_ of bool", _filled("random_", dtype="bool"), 0.5, 0.5),
    Law("bernoulli_", _filled("bernoulli_", 0.8, dtype="int32"), 0.8, 0.4),
    Law("exponential_", _filled("exponential_", 0.5), 2, 2),
    Law("exponential_ half", _filled("exponential_", 0.5, dtype="float16"), 2, 2),
    Law("log_normal_", lambda m: _filled("log_normal_", 1, 2)(m).log(), 1, 2),
    Law("cauchy_", lambda m: ((_filled("cauchy_", 3, 2)(m) - 3) / 2).atan() / math.pi, 0, 12**-0.5),
    Law("geometric_", _filled("geometric_", 0.25), 4, 12**0.5),
    Law("geometric_ of integers", _filled("geometric_", 0.5, dtype="int64"), 2, 2**0.5),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_moments(torch: Any, law: Law) -> None:
    torch.manual_seed(11)
    x = law.draw(torch).double()
    assert x.shape == (MANY,)
    assert abs(float(x.mean()) - law.mean) < 5 * law.std / MANY**0.5
    assert abs(float(x.std()) / law.std - 1) < 0.05
    lag = torch.stack([x[1:], x[:-1]])
    assert abs(float(torch.corrcoef(lag)[0, 1])) < 0.04


def test_means_and_deviations_belong_to_their_elements(torch: Any) -> None:
    torch.manual_seed(0)
    mean, std = torch.tensor([[0.0], [100.0]]), torch.tensor([1.0, 10.0])
    x = torch.normal(mean.expand(2, 2).repeat(2000, 1, 1), std)
    assert x.shape == (2000, 2, 2)
    assert torch.allclose(x.mean(0), mean.expand(2, 2), atol=1.0)
    assert torch.allclose(x.std(0), std.expand(2, 2), rtol=0.1)
    p = torch.tensor([0.0, 0.1, 0.9, 1.0])
    found = torch.bernoulli(p.repeat(4000, 1)).mean(0)
    assert torch.allclose(found, p, atol=0.03) and found[0] == 0 and found[3] == 1
    rate = torch.tensor([0.0, 1.0, 50.0])
    assert torch.allclose(torch.poisson(rate.repeat(4000, 1)).mean(0), rate, atol=1.0)
    assert torch.allclose(torch.zeros(4000, 4).bernoulli_(p).mean(0), p, atol=0.03)


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize("name", FLOATS)
def test_uniform_numbers_never_reach_the_upper_bound(torch: Any, name: str) -> None:
    dtype = getattr(torch, name)
    x = torch.rand(MANY, dtype=dtype)
    assert float(x.min()) >= 0 and float(x.max()) < 1
    low, high = 1.0, 1 + 3 * torch.finfo(dtype).eps
    y = torch.zeros(1000, dtype=dtype).uniform_(low, high).double()
    assert float(y.min()) >= low and float(y.max()) < high


@pytest.mark.parametrize("name", [*INTEGERS, "bool"])
def test_random_takes_all_that_a_dtype_has(torch: Any, name: str) -> None:
    dtype = getattr(torch, name)
    x = torch.zeros(MANY, dtype=dtype).random_()
    largest = 1 if name == "bool" else torch.iinfo(dtype).max
    assert x.dtype is dtype and int(x.min()) >= 0
    assert int(x.max()) >= 0.99 * largest and int(x.min()) <= 0.01 * largest
    if largest < 300:
        assert len(x.unique()) == largest + 1


@pytest.mark.parametrize(("name", "digits"), [("float32", 24), ("float64", 53), ("float16", 11)])
def test_random_takes_all_integers_that_floats_have(torch: Any, name: str, digits: int) -> None:
    x = torch.zeros(MANY, dtype=getattr(torch, name)).random_().double()
    assert 0.99 * 2**digits < float(x.max()) <= 2**digits and bool((x == x.floor()).all())


def test_random_with_one_bound_or_two(torch: Any) -> None:
    i = torch.zeros(1000, dtype=torch.int64)
    assert i.random_(3).unique().tolist() == [0, 1, 2]
    assert i.random_(to=3).unique().tolist() == [0, 1, 2]
    assert i.random_(-1, 2).unique().tolist() == [-1, 0, 1]
    assert i.random_(-1, to=2).unique().tolist() == [-1, 0, 1]
    assert i.byte().random_(253, None).unique().tolist() == [253, 254, 255]
    assert int(i.random_(-(2**63), None).min()) < -(2**62)


@given(st.integers(-(2**63), 2**63 - 2), st.integers(1, 2**64))
def test_integers_lie_between_their_bounds(low: int, width: int) -> None:
    high = min(low + width, 2**63 - 1)
    found = compat.randint(low, high, (20,)).tolist()
    assert all(low <= n < high for n in found)


@given(st.integers(0, 40), st.sampled_from(["int64", "int32", "uint8", "float32"]))
def test_permutations(n: int, name: str) -> None:
    x = compat.randperm(n, dtype=getattr(compat, name))
    assert str(x.dtype) == f"torch.{name}" and x.sort().values.tolist() == list(range(n))


def test_every_permutation_comes(torch: Any) -> None:
    torch.manual_seed(0)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(1200):
        found = tuple(torch.randperm(3).tolist())
        counts[found] = counts.get(found, 0) + 1
    assert len(counts) == 6 and all(140 < n < 260 for n in counts.values())


# ---------------------------------------------------------------- multinomial


def test_multinomial_frequencies(torch: Any) -> None:
    torch.manual_seed(0)
    weights = torch.tensor([[1.0, 0.0, 3.0, 4.0], [0.0, 10.0, 10.0, 0.0]])
    for drawn in (
        torch.multinomial(weights, 8000, replacement=True),
        torch.multinomial(weights.repeat(4000, 1), 1).reshape(-1, 2).t(),
    ):
        for row, w in zip(drawn, weights, strict=True):
            found = torch.bincount(row, minlength=4) / row.numel()
            assert torch.allclose(found, w / w.sum(), atol=4 * (0.25 / row.numel()) ** 0.5)
            assert found[w == 0].tolist() == [0.0] * int((w == 0).sum())


def test_multinomial_without_replacement_draws_in_turn(torch: Any) -> None:
    """The second place has the probability that is left after the first."""
    torch.manual_seed(0)
    x = torch.multinomial(torch.tensor([1.0, 2.0, 3.0]).repeat(20_000, 1), 2)
    assert bool((x[:, 0] != x[:, 1]).all())
    first = torch.bincount(x[:, 0]) / len(x)
    assert torch.allclose(first, torch.tensor([1 / 6, 2 / 6, 3 / 6]), atol=0.015)
    after = x[x[:, 0] == 2, 1]
    assert abs(float((after == 1).float().mean()) - 2 / 3) < 0.02


@given(st.lists(st.floats(0.125, 8, width=32), min_size=1, max_size=6), st.data())
def test_multinomial_draws_places_once(weights: list[float], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(weights)))
    for source in (weights, [*weights, 0.0]):
        found = compat.multinomial(compat.tensor(source), count).tolist()
        assert len(set(found)) == count and set(found) <= set(range(len(weights)))


def test_rounding_does_not_reach_places_of_weight_0() -> None:
    g = compat.Generator()
    g.stream = SimpleNamespace(random=np.ones)
    assert (
        compat.multinomial(compat.tensor([1.0, 2.0, 0]), 3, True, generator=g).tolist() == [1] * 3
    )


def test_tiny_weights(torch: Any) -> None:
    w = torch.tensor([1e-40, 0.0, 1e-40], dtype=torch.float64)
    assert set(torch.multinomial(w, 100, True).tolist()) == {0, 2}
    assert sorted(torch.multinomial(w, 2).tolist()) == [0, 2]


# ---------------------------------------------------------------- gradients

FILLS: list[Callable[[Any, Any], Any]] = [
    lambda m, x: x.uniform_(),
    lambda m, x: x.normal_(),
    lambda m, x: x.random_(10),
    lambda m, x: x.bernoulli_(0.5),
    lambda m, x: x.bernoulli_(m.full((2,), 0.5)),
    lambda m, x: x.exponential_(),
    lambda m, x: x.cauchy_(),
    lambda m, x: x.log_normal_(),
    lambda m, x: x.geometric_(0.5),
]


@pytest.mark.parametrize("number", range(len(FILLS)))
def test_what_is_replaced_gets_no_gradient(torch: Any, number: int) -> None:
    x = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    y = x * 3
    before = y._version
    found = FILLS[number](torch, y[1])
    assert y._version == before + 1 and torch.equal(found, y[1])
    (y * y.detach()).sum().backward()
    assert x.grad.tolist() == [[9.0, 9.0], [0.0, 0.0], [9.0, 9.0]]
    z = x * 3
    assert FILLS[number](torch, z) is z
    z.sum().backward()
    assert x.grad.tolist() == [[9.0, 9.0], [0.0, 0.0], [9.0, 9.0]]


@pytest.mark.parametrize("number", range(len(FILLS)))
def test_leaves_are_filled_without_gradients_only(torch: Any, number: int) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in an"):
        FILLS[number](torch, x)
    assert x.tolist() == [1.0, 1.0] and x._version == 0
    with torch.no_grad():
        assert FILLS[number](torch, x) is x
    assert x.requires_grad and x.is_leaf and x._version == 1


@pytest.mark.parametrize("number", range(len(FILLS)))
def test_a_value_that_backward_needs_is_watched(torch: Any, number: int) -> None:
    result = torch.ones(2, requires_grad=True).exp()
    squared = result * result
    FILLS[number](torch, result)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squared.sum().backward()


PARAMETERS: list[Callable[[Any, Any], Any]] = [
    lambda m, x: m.normal(x, 1.0),
    lambda m, x: m.normal(x, m.ones(2)),
    lambda m, x: m.normal(0.0, x),
    lambda m, x: m.bernoulli(x),
    lambda m, x: m.poisson(x),
]


@pytest.mark.parametrize("number", range(len(PARAMETERS)))
def test_parameters_get_zeros(torch: Any, number: int) -> None:
    x = torch.full((2,), 0.5, requires_grad=True)
    y = PARAMETERS[number](torch, x)
    assert y.requires_grad and y.grad_fn is not None
    (y * 3).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    with torch.no_grad():
        assert not PARAMETERS[number](torch, x).requires_grad


def test_parameters_that_pytorch_has_no_derivative_for_get_zeros_too() -> None:
    x = compat.full((2,), 0.5, requires_grad=True)
    n = compat.full((3, 2), 5.0, requires_grad=True)
    (compat.binomial(n, x) + compat.bernoulli(x, 0.5)).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0] and n.grad.tolist() == [[0.0, 0.0]] * 3


def test_the_reparametrised_normal_has_gradients(torch: Any) -> None:
    mean, std = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    noise = torch.randn(3)
    (mean + std * noise).sum().backward()
    assert mean.grad.tolist() == [1.0] * 3 and torch.equal(std.grad, noise)


# ---------------------------------------------------------------- transforms


def test_random_numbers_inside_transforms_are_constants() -> None:
    def f(x: Any) -> Any:
        return (x * compat.rand(3)).sum()

    compat.manual_seed(0)
    noise = compat.rand(3)
    compat.manual_seed(0)
    assert compat.equal(compat.func.grad(f)(compat.ones(3)), noise)
    compat.manual_seed(0)
    found = compat.func.vmap(lambda x: x + compat.rand_like(x), randomness="same")(
        compat.zeros(2, 3)
    )
    assert compat.equal(found, noise.expand(2, 3))


def test_errors_leave_the_tensor_alone() -> None:
    x = compat.ones(2)
    for f in (
        lambda: x.uniform_(1, 0),
        lambda: x.normal_(0, -1),
        lambda: x.exponential_(0),
        lambda: x.geometric_(2),
        lambda: x.bernoulli_(compat.tensor([2.0, 0.0])),
        lambda: x.random_(3, 3),
    ):
        with pytest.raises(RuntimeError):
            f()
    assert x.tolist() == [1.0, 1.0] and x._version == 0


def test_messages_say_what_to_do() -> None:
    with pytest.raises(NotImplementedError, match=re.escape("in another dtype and convert them")):
        compat.rand(2, dtype=compat.int64)
    with pytest.raises(TypeError, match=re.escape("argument 'generator' must be torch.Generator")):
        compat.rand(2, generator=3)
