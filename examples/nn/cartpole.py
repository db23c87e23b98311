"""A pole on a cart, to be kept upright by pushing the cart left or right.

The equations of motion are those of Barto, Sutton and Anderson, "Neuronlike adaptive elements that
can solve difficult learning control problems", IEEE Transactions on Systems, Man, and Cybernetics
13, 1983, without friction, in Euler steps of 0.02 s; sizes and limits are theirs too. An episode
ends when the pole leans by more than 12 degrees, the cart leaves the track, or after 200 steps;
every step gives a reward of 1.
"""

from __future__ import annotations

import ast
import math

import numpy as np

GRAVITY, CART, POLE, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
MOST_STEPS, WIDEST, STEEPEST = 200, 2.4, math.radians(12)
SPAN = 0.05  # a start is drawn from [-SPAN, SPAN] in each of the four numbers


def moved(state: np.ndarray, push: float) -> np.ndarray:
    """The state 0.02 s later under a force of `push` newtons.

    A state: the cart's place and speed, the pole's angle and angular speed. Shapes: (4,) -> (4,).
    """
    _, speed, angle, turning = state
    sine, cosine = math.sin(angle), math.cos(angle)
    total = CART + POLE
    pushed = (push + POLE * HALF_LENGTH * turning**2 * sine) / total
    inertia = HALF_LENGTH * (4 / 3 - POLE * cosine**2 / total)
    turned = (GRAVITY * sine - cosine * pushed) / inertia
    sped = pushed - POLE * HALF_LENGTH * turned * cosine / total
    return state + SECONDS * np.array([speed, sped, turning, turned])


class CartPole:
    """The game, with its own random numbers for the starts."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._state = np.zeros(4)
        self._steps = 0

    def reset(self) -> np.ndarray:
        """A new start. Shapes: () -> (4,)."""
        self._state, self._steps = self._random.uniform(-SPAN, SPAN, 4), 0
        return self._state.astype(np.float32)

    def step(self, action: int) -> tuple[np.ndarray, bool, bool]:
        """Push to the left (0) or right (1): the new state, whether it fell, whether time is over."""
        self._state = moved(self._state, FORCE if action else -FORCE)
        self._steps += 1
        fell = abs(self._state[0]) > WIDEST or abs(self._state[2]) > STEEPEST
        return self._state.astype(np.float32), bool(fell), self._steps >= MOST_STEPS

    def state_dict(self) -> dict[str, str]:
        """The random numbers' state, as text; a checkpoint is made between episodes."""
        return {"random": repr(self._random.bit_generator.state)}

    def load_state_dict(self, state: dict[str, str]) -> None:
        """Go on with the starts that come after those of `state`."""
        self._random.bit_generator.state = ast.literal_eval(state["random"])
