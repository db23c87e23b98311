"""Compiled code draws what it would draw uncompiled: the same numbers, and the generator ends alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from worlds import assert_same

import compat as torch
from compat.nn import functional as F

RUNS = 6


def of_both(make: Callable[[], Callable[..., Any]], x: Any) -> tuple[list[Any], list[Any], Any]:
    """What the code that `make` gives returns, call by call, as it is and compiled."""
    found, ends = [], []
    for wrap in (lambda f: f, torch.compile):
        torch.manual_seed(7)
        run = wrap(make())
        found.append([run(x) for _ in range(RUNS)])
        ends.append(torch.get_rng_state())
    assert torch.equal(*ends)
    return found[0], found[1], run


def assert_both_same(make: Callable[[], Callable[..., Any]], x: Any) -> Any:
    eager, compiled, run = of_both(make, x)
    for a, b in zip(compiled, eager, strict=True):
        assert_same(a, b)
    return run


def with_probabilities(x: Any) -> Any:
    return torch.bernoulli(torch.full((30,), 0.3)) + torch.multinomial(torch.ones(40), 30)


DRAWS: dict[str, Callable[[Any], Any]] = {
    "dropout": lambda x: F.dropout(x, 0.4) * 2,
    "dropout2d": lambda x: F.dropout2d(x.reshape(2, 3, 5, 1), 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "rand": lambda x: x + torch.rand(30) * torch.rand_like(x),
    "randn": lambda x: x * torch.randn(5, 30).sum(0),
    "randint": lambda x: x + torch.randint(0, 9, (30,)),
    "randperm": lambda x: x[torch.randperm(30)],
    "normal": lambda x: torch.normal(0.5, 2.0, (30,)) - x,
    "in place": lambda x: x + torch.empty(30).uniform_(1, 2).exponential_() + x.new(30).normal_(),
    "others": lambda x: (
        x
        + torch.zeros(30).cauchy_()
        + torch.zeros(30).log_normal_()
        + torch.ones(30).geometric_(0.5)
    ),
    "probabilities": with_probabilities,
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, hard=True),
    "distributions": lambda x: x + torch.distributions.Laplace(0.0, 2.0).rsample((30,)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_numbers(name: str) -> None:
    run = assert_both_same(lambda: DRAWS[name], torch.linspace(-1, 1, 30))
    assert run.explain() == "1 programs"


def network() -> Callable[[Any], Any]:
    model = torch.nn.Sequential(
        *(torch.nn.Linear(30, 20), torch.nn.Dropout(0.3), torch.nn.ReLU()),
        *(torch.nn.Linear(20, 20), torch.nn.Dropout(0.6), torch.nn.Linear(20, 1)),
    ).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean() + 0.1 * torch.rand(1, dtype=torch.float64).sum()
        loss.backward()
        optimizer.step()
        return loss.detach(), [p.detach().clone() for p in model.parameters()]

    return step


def test_training_steps() -> None:
    assert assert_both_same(network, torch.randn(4, 30).double()).explain() == "1 programs"


def test_a_module_goes_on_from_its_own_numbers() -> None:
    """Backward, and backward again, use what forward has drawn."""
    x = torch.linspace(-1, 1, 30, dtype=torch.float64).requires_grad_()
    model = torch.nn.Sequential(torch.nn.Dropout(0.4), torch.nn.Tanh())
    found = []
    for f in (model, torch.compile(model)):
        torch.manual_seed(3)
        for _ in range(4):
            y = f(x)
            (g,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
            (h,) = torch.autograd.grad((g * x).sum(), x)
        found.append((y.detach(), g.detach(), h))
    assert_same(*found)


def own_generator() -> Callable[[Any], Any]:
    generator = torch.Generator().manual_seed(1)
    return lambda x: x * torch.rand(30, generator=generator)


def new_generator() -> Callable[[Any], Any]:
    return lambda x: x * torch.rand(30, generator=torch.Generator().manual_seed(1))


def seeded(x: Any) -> Any:
    first = torch.rand(30)
    torch.manual_seed(4)
    return x + first + torch.rand(30)


def forked(x: Any) -> Any:
    with torch.random.fork_rng():
        inside = torch.rand(30)
    return x + inside - torch.rand(30)


def branching(x: Any) -> Any:
    return x * 2 if torch.rand(1) < 0.5 else x


def by_examples(x: Any) -> Any:
    def f(row: Any) -> Any:
        return row + torch.rand(3)

    return torch.func.vmap(f, randomness="different")(x.reshape(10, 3))


def in_a_gradient(x: Any) -> Any:
    return torch.func.grad(lambda v: (v * torch.rand(30)).sum())(x)


def of_parameters(x: Any) -> Any:
    return torch.bernoulli(x.sigmoid())


def checkpointed(x: Any) -> Any:
    w = x.clone().requires_grad_()
    y = torch.utils.checkpoint.checkpoint(lambda v: F.dropout(v * v, 0.5), w, use_reentrant=False)
    y.sum().backward()
    return w.grad


NOT_PROGRAMS = {
    "a generator of its own": own_generator,
    "a new generator": new_generator,
    **{
        f.__name__: lambda f=f: f
        for f in (
            seeded,
            forked,
            branching,
            by_examples,
            in_a_gradient,
            of_parameters,
            checkpointed,
        )
    },
}


@pytest.mark.parametrize("name", NOT_PROGRAMS)
def test_what_no_program_repeats(name: str) -> None:
    run = assert_both_same(NOT_PROGRAMS[name], torch.linspace(-1, 1, 30))
    assert "runs as it is" in run.explain()


@pytest.mark.parametrize("sets", [True, False])
def test_seeded_as_it_was_before(sets: bool) -> None:
    """The state after the code is the one that drawing alone leads to; still it is set anew."""
    torch.manual_seed(7)
    state = torch.get_rng_state()

    def code(x: Any) -> Any:
        torch.set_rng_state(state) if sets else torch.manual_seed(7)
        return x + torch.rand(30)

    run, first = torch.compile(code), None
    for _ in range(RUNS):
        torch.manual_seed(7)
        found = run(torch.zeros(30))
        first = found if first is None else first
        assert torch.equal(found, first)
        torch.rand(3)
        assert torch.equal(run(torch.zeros(30)), first)


@pytest.mark.parametrize("pure", [True, False])
def test_what_fails_has_drawn_once(pure: bool) -> None:
    w = torch.zeros(1, requires_grad=True)

    def code(x: Any) -> Any:
        found = torch.linalg.inv(x) * torch.rand(3, 3)
        if not pure:
            w.grad = None
            (w * found.sum()).sum().backward()
        return found

    run, found = torch.compile(code), []
    for f in (code, run):
        torch.manual_seed(0)
        for _ in range(4):
            f(torch.eye(3))
        with pytest.raises(torch.linalg.LinAlgError):
            f(torch.zeros(3, 3))
        found.append((f(torch.eye(3)).detach(), torch.get_rng_state()))
    assert_same(*found)


def test_seeding_is_repeated() -> None:
    def code(x: Any) -> Any:
        torch.manual_seed(7)
        return x * 2

    run = torch.compile(code)
    for _ in range(4):
        torch.manual_seed(7)
        run(torch.ones(3))
        first = torch.rand(3)
        run(torch.ones(3))
        assert torch.equal(torch.rand(3), first)


def test_states_that_are_put_back_are_no_seeds() -> None:
    """A checkpoint does so, even where nothing is drawn."""

    def code(x: Any) -> Any:
        w = x.clone().requires_grad_()
        torch.utils.checkpoint.checkpoint(torch.sin, w, use_reentrant=False).sum().backward()
        return w.grad

    assert assert_both_same(lambda: code, torch.linspace(-1, 1, 30)).explain() == "1 programs"
