"""Three bodies that chase each other along an eight: found by Newton's method through the flight.

The orbit is C. Moore's (1993) and A. Chenciner's and R. Montgomery's (2000). Near it the equations are
solved by Runge and Kutta's method of order 4; what is missing after a period is a function of the
start, whose Jacobian `jacfwd` gives. The Jacobian of the whole flight, the monodromy matrix, says
whether the orbit is stable: all of its eigenvalues lie on the unit circle.

    python examples/science/eight.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from saving import figure, folder

import funcgrad
from funcgrad import lax

STEPS = 1000


def start_of(unknown: Any) -> Any:
    """Places and velocities (2, 3, 2): the bodies in a row, the middle one twice as fast, and back."""
    x, y, u, v = unknown
    places = np.stack([x, y, -x, -y, 0 * x, 0 * x]).reshape(3, 2)
    velocities = np.stack([u, v, u, v, -2 * u, -2 * v]).reshape(3, 2)
    return np.stack([places, velocities])


def change(state: Any) -> Any:
    """Newton's law for three equal masses."""
    places, velocities = state
    apart = places[None, :] - places[:, None]  # from each to each
    squares = np.sum(apart**2, axis=-1) + np.eye(3)
    return np.stack([velocities, np.sum(apart / squares[..., None] ** 1.5, axis=1)])


def flight(state: Any, period: Any) -> tuple[Any, Any]:
    """The state after a period, and places (steps, 3, 2) on the way."""
    dt = period / STEPS

    def step(s: Any, _: Any) -> tuple[Any, Any]:
        k1 = change(s)
        k2 = change(s + dt / 2 * k1)
        k3 = change(s + dt / 2 * k2)
        k4 = change(s + dt * k3)
        return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), s[0]

    return lax.scan(step, state, None, length=STEPS)


def missing(unknown: Any, period: float) -> Any:
    """What keeps the orbit from closing (12,)."""
    start = start_of(unknown)
    return (flight(start, period)[0] - start).ravel()


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    out = folder(__doc__, arguments)
    period = 6.3259
    unknown = np.array([0.97, -0.24, 0.47, 0.43])
    gap, slopes = funcgrad.jit(missing), funcgrad.jit(funcgrad.jacfwd(missing))
    for n in range(12):
        step = np.linalg.lstsq(slopes(unknown, period), gap(unknown, period), rcond=1e-6)[0]
        unknown = unknown - step
        size = float(np.linalg.norm(gap(unknown, period)))
        print(f"step {n}: the orbit misses itself by {size:.1e}")
        if size < 1e-10:
            break

    start = start_of(unknown)
    monodromy = funcgrad.jit(
        funcgrad.jacfwd(lambda s: flight(s.reshape(2, 3, 2), period)[0].ravel())
    )
    multipliers = np.linalg.eigvals(monodromy(start.ravel()))
    print(f"multipliers on the unit circle within {np.max(abs(abs(multipliers) - 1)):.1e}")

    with figure(out / "eight.png", panels=2) as (left, right):
        path = flight(start, period)[1]
        left.plot(path[:, 0, 0], path[:, 0, 1], color="0.7")
        left.plot(start[0, :, 0], start[0, :, 1], "o")
        left.set(xlabel="x", ylabel="y", aspect="equal")
        turn = np.linspace(0, 2 * np.pi, 200)
        right.plot(np.cos(turn), np.sin(turn), color="0.8")
        right.plot(multipliers.real, multipliers.imag, ".")
        right.set(title="multipliers", aspect="equal")
    return {
        "missing": size,
        "x": float(unknown[0]),
        "y": float(unknown[1]),
        "off_circle": float(np.max(abs(abs(multipliers) - 1))),
    }


if __name__ == "__main__":
    main()
