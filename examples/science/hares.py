"""Hares and lynxes: the constants of a differential equation, from what trappers brought.

Pelts of the Hudson's Bay Company, 1900 to 1920, in thousands (as tabulated by J. Mahaffy). Lotka's
and Volterra's equations are solved by `odeint` in as many steps as the accuracy asks for; the loss
is that of log-normal errors with weak priors, differentiated through the solver, and SciPy
minimises it.

    python examples/science/hares.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from saving import figure, folder
from scipy.optimize import minimize

import funcgrad
from funcgrad.scipy.integrate import odeint

YEARS = np.arange(1900.0, 1921.0)
HARES = """30.0 47.2 70.2 77.4 36.3 20.6 18.1 21.4 22.0 25.4 27.1
           40.3 57.0 76.6 52.3 19.5 11.2 7.6 14.6 16.2 24.7"""
LYNXES = """4.0 6.1 9.8 35.2 59.4 41.7 19.0 13.0 8.3 9.1 7.4
            8.0 12.3 19.5 45.7 51.1 29.7 15.8 9.7 10.1 8.6"""
PELTS = np.array([HARES.split(), LYNXES.split()], dtype=float).T

# Births of hares, hares eaten by a lynx, deaths of lynxes, lynxes born by a hare; both at the start.
NAMES = ("births", "eaten", "deaths", "fed", "hares 1900", "lynxes 1900")
GUESS = np.log(np.array([1.0, 0.05, 1.0, 0.05, 30.0, 4.0]))
SPREAD = np.array([0.5, 1.0, 0.5, 1.0, 1.0, 1.0])  # of the priors, around the guess


def change(state: Any, t: Any, births: Any, eaten: Any, deaths: Any, fed: Any) -> Any:
    hares, lynxes = state[0], state[1]
    meetings = hares * lynxes
    return np.stack([births * hares - eaten * meetings, fed * meetings - deaths * lynxes])


def populations(parameters: Any, times: Any) -> Any:
    """Hares and lynxes (times, 2) for logarithms of the constants (6,)."""
    constants = np.exp(parameters)
    return odeint(change, constants[4:], times, args=tuple(constants[:4]), rtol=1e-8, atol=1e-8)


def loss(parameters: Any) -> Any:
    """Minus the log posterior density, with the best common size of the errors."""
    errors = np.log(PELTS) - np.log(populations(parameters, YEARS - YEARS[0]))
    prior = np.sum(((parameters - GUESS) / SPREAD) ** 2) / 2
    return PELTS.size / 2 * np.log(np.mean(errors**2)) + prior


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    out = folder(__doc__, arguments)
    step = funcgrad.jit(funcgrad.value_and_grad(loss))
    start = np.log(np.array([0.6, 0.03, 0.8, 0.03, 30.0, 4.0]))
    found = minimize(step, start, jac=True, method="BFGS", options={"gtol": 1e-5})
    curvature = funcgrad.jit(funcgrad.hessian(loss))(found.x)
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
    print(f"loss {found.fun:.4f} after {found.nfev} solutions of the equation")
    for name, value, error in zip(NAMES, np.exp(found.x), errors, strict=True):
        print(f"{name:12}{value:8.4f} +- {error:.0%}")

    times = np.linspace(0.0, 25.0, 400)
    curves = populations(found.x, times)
    with figure(out / "hares.png") as axes:
        for n, name in enumerate(("hares", "lynxes")):
            axes.plot(YEARS[0] + times, curves[:, n], color=f"C{n}", label=name)
            axes.plot(YEARS, PELTS[:, n], ".", color=f"C{n}")
        axes.set(xlabel="year", ylabel="thousand pelts")
        axes.legend()
    return {
        **{name: float(value) for name, value in zip(NAMES, np.exp(found.x), strict=True)},
        "slope": float(np.linalg.norm(step(found.x)[1])),
    }


if __name__ == "__main__":
    main()
