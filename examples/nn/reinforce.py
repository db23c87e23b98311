"""REINFORCE with a baseline learns to keep a pole upright on a cart.

A policy network gives the probabilities of a push to the left and to the right. After some
episodes each action's log-probability is raised by its advantage: the discounted rewards that
followed, less what a second head of the network expected.
Source: Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement
learning", Machine Learning 8, 1992.

    python examples/nn/reinforce.py

The last 20 episodes last nearly 200 steps of 200, after about 15 seconds on one core. Saves the
curve and a checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from cartpole import CartPole
from run import Checkpoint, options, progress, save_curves

import compat as torch
import compat.nn.functional as F
from compat import nn


class Policy(nn.Module):
    """Logits of both pushes, and the return that a state promises."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.Tanh())
        self.pushes = nn.Linear(hidden, 2)
        self.promise = nn.Linear(hidden, 1)

    def forward(self, states: Any) -> tuple[Any, Any]:
        h = self.body(states)
        return self.pushes(h), self.promise(h).squeeze(-1)


def play(policy: Policy, game: CartPole) -> tuple[np.ndarray, list[int]]:
    """One episode: the states, and what was done in each."""
    state, ended = game.reset(), False
    states, actions = [], []
    with torch.no_grad():
        while not ended:
            logits, _ = policy(torch.tensor(state))
            action = int(torch.multinomial(F.softmax(logits, dim=-1), 1).item())
            states.append(state)
            actions.append(action)
            state, fell, late = game.step(action)
            ended = fell or late
    return np.stack(states), actions


def returns(rewards: Sequence[float], discount: float) -> list[float]:
    """What follows each step: its own reward and the discounted later ones."""
    found, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + discount * total
        found.append(total)
    return found[::-1]


def learn(
    policy: Policy, optimizer: Any, episodes: list[tuple[np.ndarray, list[int]]], discount: float
) -> float:
    """One step up the gradient of the expected return; returns the loss."""
    states = torch.tensor(np.concatenate([states for states, _ in episodes]))
    actions = torch.tensor([action for _, actions in episodes for action in actions])
    goals = [g for _, actions in episodes for g in returns([1.0] * len(actions), discount)]
    gains = torch.tensor(goals) * (1 - discount)  # at most 1
    logits, promised = policy(states)
    advantages = gains - promised.detach()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    chances = F.log_softmax(logits, dim=-1).gather(1, actions[:, None]).squeeze(1)
    loss = -(chances * advantages).mean() + F.mse_loss(promised, gains)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    chosen = options(
        __doc__ or "",
        arguments,
        **{"updates": 100, "episodes": 4, "hidden": 64, "lr": 1e-2, "discount": 0.98},
        **{"save": 10},
    )
    game, policy = CartPole(chosen.seed), Policy(chosen.hidden)
    optimizer = torch.optim.Adam(policy.parameters(), lr=chosen.lr)
    parts = {"policy": policy, "optimizer": optimizer, "game": game}
    checkpoint = Checkpoint(chosen.out / "reinforce.pt", **parts)
    done, saved = checkpoint.restore(chosen.resume)
    lengths = saved.get("lengths", [])
    for update in (bar := progress(range(done, chosen.updates), "reinforce")):
        episodes = [play(policy, game) for _ in range(chosen.episodes)]
        learn(policy, optimizer, episodes, chosen.discount)
        lengths += [len(actions) for _, actions in episodes]
        bar.set_postfix(steps=np.mean(lengths[-20:]))
        if (update + 1) % chosen.save == 0 or update + 1 == chosen.updates:
            checkpoint.save(update + 1, lengths=lengths)
    save_curves(chosen.out / "reinforce.png", {"return": lengths}, "steps upright in an episode")
    figures = {"return": float(np.mean(lengths[-20:])), "first": float(np.mean(lengths[:20]))}
    print(f"reinforce: {figures['return']:.1f} of 200, at first {figures['first']:.1f}")
    return figures


if __name__ == "__main__":
    main()
