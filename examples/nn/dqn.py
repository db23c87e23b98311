"""Deep Q-learning learns to keep a pole upright on a cart.

A network says what each push is worth; the best one is played, or now and then a random one. What
happened goes into a memory; random batches of it teach the network. The goal of a step is its
reward plus the worth of the next state by a target network, a copy that follows slowly.
Sources: Mnih et al., "Human-level control through deep reinforcement learning", Nature 518, 2015;
van Hasselt, Guez and Silver, "Deep Reinforcement Learning with Double Q-learning", 2016, for letting
one network choose the next push and the other say its worth.

    python examples/nn/dqn.py

The last 20 episodes last 195 steps of 200 on average, after about 40 seconds on one core. Saves the
curve and a checkpoint, with the memory.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from cartpole import CartPole
from run import Checkpoint, options, progress, save_curves

import compat as torch
import compat.nn.functional as F
from compat import nn


class Memory:
    """The last steps played: state, action, reward, next state, and whether the pole fell then."""

    def __init__(self, size: int) -> None:
        self.rows = torch.zeros(size, 4 + 1 + 1 + 4 + 1)
        self.count = 0

    def add(self, state: Any, action: int, reward: float, after: Any, fell: bool) -> None:
        row = np.concatenate([state, [action, reward], after, [fell]])
        self.rows[self.count % len(self.rows)] = torch.tensor(row).float()
        self.count += 1

    def batch(self, count: int) -> tuple[Any, ...]:
        """Random rows, taken apart."""
        rows = self.rows[torch.randint(min(self.count, len(self.rows)), (count,))]
        states, actions, rewards, after, fell = rows.split([4, 1, 1, 4, 1], dim=1)
        return states, actions.long(), rewards, after, fell

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rows, self.count = state["rows"], state["count"]


def network(hidden: int) -> nn.Sequential:
    """The worth of both pushes. Shapes: (n, 4) -> (n, 2)."""
    return nn.Sequential(
        nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2)
    )


def chosen_push(worth: nn.Module, state: np.ndarray, chance: float) -> int:
    """The best push, or with a `chance` a random one."""
    if torch.rand(1).item() < chance:
        return int(torch.randint(2, (1,)).item())
    with torch.no_grad():
        return int(worth(torch.tensor(state)).argmax().item())


def goals(
    worth: nn.Module, target: nn.Module, discount: float, rewards: Any, after: Any, fell: Any
) -> Any:
    """Rewards and the discounted worth of what comes after, which is 0 when the pole fell."""
    with torch.no_grad():
        best = worth(after).argmax(1, keepdim=True)
        return rewards + discount * (1 - fell) * target(after).gather(1, best)


def learn(
    worth: nn.Module, target: nn.Module, optimizer: Any, memory: Memory, chosen: Any
) -> float:
    """One step on a batch of the memory; the target follows. Returns the loss."""
    states, actions, rewards, after, fell = memory.batch(chosen.batch)
    wanted = goals(worth, target, chosen.discount, rewards, after, fell)
    loss = F.smooth_l1_loss(worth(states).gather(1, actions), wanted)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(worth.parameters(), 10.0)
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), worth.parameters(), strict=True):
            slow.lerp_(fast, chosen.follow)
    return loss.item()


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    chosen = options(
        __doc__ or "",
        arguments,
        **{"episodes": 160, "batch": 128, "hidden": 128, "lr": 1e-3, "discount": 0.99},
        **{"follow": 0.01, "memory": 20000, "explore": 1500, "save": 20},
    )
    game, memory = CartPole(chosen.seed), Memory(chosen.memory)
    worth = network(chosen.hidden)
    target = copy.deepcopy(worth)
    optimizer = torch.optim.Adam(worth.parameters(), lr=chosen.lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, chosen.episodes)
    parts = {"worth": worth, "target": target, "optimizer": optimizer, "schedule": schedule}
    checkpoint = Checkpoint(chosen.out / "dqn.pt", **parts, game=game, memory=memory)
    done, saved = checkpoint.restore(chosen.resume)
    lengths = saved.get("lengths", [])
    for episode in (bar := progress(range(done, chosen.episodes), "dqn")):
        state, ended, length = game.reset(), False, 0
        while not ended:
            chance = max(0.02, 1 - memory.count / chosen.explore)
            action = chosen_push(worth, state, chance)
            after, fell, late = game.step(action)
            memory.add(state, action, 1.0, after, fell)
            state, ended, length = after, fell or late, length + 1
            if memory.count >= chosen.batch:
                learn(worth, target, optimizer, memory, chosen)
        if memory.count >= chosen.batch:
            schedule.step()
        lengths.append(length)
        bar.set_postfix(steps=np.mean(lengths[-20:]))
        if (episode + 1) % chosen.save == 0 or episode + 1 == chosen.episodes:
            checkpoint.save(episode + 1, lengths=lengths)
    save_curves(chosen.out / "dqn.png", {"return": lengths}, "steps upright in an episode")
    figures = {"return": float(np.mean(lengths[-20:])), "first": float(np.mean(lengths[:20]))}
    print(f"dqn: {figures['return']:.1f} of 200, at first {figures['first']:.1f}")
    return figures


if __name__ == "__main__":
    main()
