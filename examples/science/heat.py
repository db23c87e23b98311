"""Finds where a rod was heated, from its temperatures afterwards: a linear inverse problem by adjoints.

Heat spreads through a rod of uneven conductivity, by steps of Crank and Nicolson, each of which
solves a tridiagonal system. What a few thermometers show during the cooling is explained by the
temperature at the start; its 200 numbers are found by L-BFGS from the gradient through all steps, and
`hvp`, the curvature in one direction without any Hessian, says how sure single places are.

    python examples/science/heat.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from saving import figure, folder
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

import funcgrad
from funcgrad import lax
from funcgrad.scipy.linalg import solve_banded

CELLS, STEPS, SENSORS = 200, 60, 20
X = (np.arange(CELLS) + 0.5) / CELLS
FACES = 1e-3 * (1.5 + np.sin(6 * np.pi * np.arange(1, CELLS) / CELLS))  # conductivity between cells
SEEN = np.arange(CELLS // SENSORS // 2, CELLS, CELLS // SENSORS)
NOISE, ROUGHNESS = 0.01, 20.0


def spread(u: Any, dt: float) -> Any:
    """``dt`` times the change of the temperatures; no heat leaves at the ends."""
    flux = np.pad(FACES * np.diff(u) * CELLS**2, 1)
    return dt * np.diff(flux)


def cooling(u: Any, dt: float = 0.005) -> Any:
    """Temperatures (steps, sensors) that the thermometers show."""
    sides = -dt / 2 * FACES * CELLS**2
    middle = 1 - np.pad(sides, (0, 1)) - np.pad(sides, (1, 0))
    bands = np.stack([np.pad(sides, (1, 0)), middle, np.pad(sides, (0, 1))])

    def step(u: Any, _: Any) -> tuple[Any, Any]:
        u = solve_banded((1, 1), bands, u + spread(u, dt / 2))
        return u, u[SEEN]

    return lax.scan(step, u, None, length=STEPS)[1]


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    out = folder(__doc__, arguments)
    truth = np.exp(-(((X - 0.3) / 0.05) ** 2)) + 0.6 * (abs(X - 0.7) < 0.08)
    shown = cooling(truth) + NOISE * np.random.default_rng(0).normal(size=(STEPS, SENSORS))

    def loss(u: Any) -> Any:
        misfit = np.sum((cooling(u) - shown) ** 2) / (2 * NOISE**2)
        return misfit + ROUGHNESS**2 / 2 * np.sum(np.diff(u) ** 2)

    step = funcgrad.jit(funcgrad.value_and_grad(loss))
    found = minimize(step, np.zeros(CELLS), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    error = float(np.sqrt(np.mean((found.x - truth) ** 2)))
    print(f"{found.nfev} gradients through {STEPS} steps, error {error:.3f} of heights up to 1")

    curved = funcgrad.jit(lambda v: funcgrad.hvp(loss, (found.x,), (v,)))
    operator = LinearOperator((CELLS, CELLS), matvec=curved, dtype=float)
    places = np.arange(5, CELLS, 10)
    units = np.eye(CELLS)[places]
    variances = np.array([unit @ cg(operator, unit, rtol=1e-6)[0] for unit in units])
    with figure(out / "heat.png") as axes:
        axes.plot(X, truth, color="0.6", label="was")
        axes.plot(X, found.x, label="found")
        axes.errorbar(
            X[places], found.x[places], 2 * np.sqrt(variances), fmt="C0.", label="2 deviations"
        )
        axes.plot(X[SEEN], 0 * X[SEEN] - 0.1, "k|", label="thermometers")
        axes.set(xlabel="place", ylabel="temperature at the start", ylim=(-0.2, 1.6))
        axes.legend(ncols=2)
    inside = np.mean(abs(found.x[places] - truth[places]) < 2 * np.sqrt(variances))
    print(f"{inside:.0%} of the places within two deviations")
    return {"error": error, "inside": float(inside), "gradients": float(found.nfev)}


if __name__ == "__main__":
    main()
