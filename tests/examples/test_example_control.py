"""examples/nn/cartpole.py, reinforce.py and dqn.py."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import load
from stopping import stop_and_go_on

import compat as torch

cartpole, reinforce, dqn = load("cartpole"), load("reinforce"), load("dqn")


def energy(state: np.ndarray) -> float:
    """Of the cart and of a thin rod, which turns about its end on the cart."""
    _, speed, angle, turning = state
    half, pole = cartpole.HALF_LENGTH, cartpole.POLE
    moving = (cartpole.CART + pole) * speed**2 / 2 + pole * half * speed * turning * math.cos(angle)
    return float(
        moving
        + (4 / 3) * pole * half**2 * turning**2 / 2
        + pole * cartpole.GRAVITY * half * math.cos(angle)
    )


def test_motion_keeps_the_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a push it is constant, but for the Euler steps' error; a push adds force times way."""
    monkeypatch.setattr(cartpole, "SECONDS", 1e-4)
    state = np.array([0.1, -0.3, 0.4, 1.2])
    before, added = energy(state), 0.0
    for step in range(10_000):
        push = 2.0 if step > 5000 else 0.0
        added += push * state[1] * 1e-4
        state = cartpole.moved(state, push)
    assert abs(added) > 0.1
    assert energy(state) - before == pytest.approx(added, abs=2e-3)


def test_motion_is_symmetric_and_unstable() -> None:
    state = np.array([0.5, -0.2, 0.05, 0.3])
    assert cartpole.moved(-state, -10.0) == pytest.approx(-cartpole.moved(state, 10.0))
    leaning = np.array([0.0, 0.0, 0.05, 0.0])
    assert cartpole.moved(leaning, 0.0)[3] > 0  # falls further
    assert cartpole.moved(leaning, 10.0)[3] < 0  # is caught by a push to its side


@pytest.mark.parametrize(
    ("push", "fell", "late"),
    [
        (lambda state: 1, True, False),
        (lambda state: int(state[2] + 0.3 * state[3] + 0.1 * state[1] > 0), False, True),
    ],
    ids=["always right", "towards the lean"],
)
def test_episode_ends(push: Any, fell: bool, late: bool) -> None:
    game = cartpole.CartPole(0)
    state, steps, end = game.reset(), 0, (False, False)
    while not any(end):
        state, *end = game.step(push(state))
        steps += 1
    assert end == [fell, late]
    assert steps == 200 if late else steps < 20


def test_returns() -> None:
    assert reinforce.returns([1, 0, 2], 0.5) == [1.5, 1, 2]


def test_likely_actions_of_long_episodes_become_likelier() -> None:
    """One push led to long episodes, the other to short ones."""
    torch.manual_seed(0)
    policy = reinforce.Policy(8)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    states = np.zeros((20, 4), np.float32)
    episodes = [(states, [1] * 20), (states[:3], [0] * 3)]
    logits = policy(torch.zeros(4))[0]
    for _ in range(5):
        reinforce.learn(policy, optimizer, episodes, 0.9)
    after = policy(torch.zeros(4))[0]
    assert (after[1] - after[0]) - (logits[1] - logits[0]) > 0.01


def test_goals_take_the_target_networks_word() -> None:
    """The network chooses the push, the target says its worth, and a fall is worth nothing."""
    worth = torch.nn.Linear(4, 2)
    target = torch.nn.Linear(4, 2)
    with torch.no_grad():
        worth.weight.zero_()
        target.weight.zero_()
        worth.bias.copy_(torch.tensor([5.0, 4.0]))
        target.bias.copy_(torch.tensor([1.0, 2.0]))
    rewards, fell = torch.ones(2, 1), torch.tensor([[0.0], [1.0]])
    found = dqn.goals(worth, target, 0.5, rewards, torch.zeros(2, 4), fell)
    assert found.tolist() == [[1.5], [1.0]]
    assert not found.requires_grad


def test_memory_keeps_the_last_steps() -> None:
    memory = dqn.Memory(3)
    for i in range(5):
        memory.add(np.full(4, i), i % 2, 1.0, np.full(4, i + 1), i == 4)
    states, actions, rewards, after, fell = memory.batch(200)
    seen = states[:, 0]
    assert set(seen.tolist()) == {2, 3, 4}
    assert torch.equal(actions[:, 0], seen.long() % 2)
    assert torch.equal(after, states + 1)
    assert torch.equal(fell[:, 0], (seen == 4).float())
    assert rewards.shape == (200, 1)


RUNS = {
    "reinforce": ["--updates", "14"],
    "dqn": [
        "--episodes",
        "30",
        "--batch",
        "64",
        "--hidden",
        "64",
        "--explore",
        "400",
        "--lr",
        "3e-3",
        "--follow",
        "0.02",
    ],
}


@pytest.mark.parametrize("name", RUNS)
def test_learns_and_leaves_files(tmp_path: Path, name: str) -> None:
    figures = load(name).main([*RUNS[name], "--out", str(tmp_path)])
    assert figures["return"] > 1.4 * figures["first"]
    assert {f.name for f in tmp_path.iterdir()} == {f"{name}.pt", f"{name}.png"}


@pytest.mark.parametrize(
    ("name", "arguments", "called", "calls"),
    [
        ("reinforce", ["--updates", "6", "--episodes", "2", "--save", "2"], "learn", 6),
        ("dqn", ["--episodes", "8", "--batch", "16", "--save", "3"], "learn", 110),
    ],
)
def test_goes_on_exactly(
    tmp_path: Path, name: str, arguments: list[str], called: str, calls: int
) -> None:
    through, resumed = stop_and_go_on(load(name), called, calls, arguments, tmp_path)
    assert through == resumed
