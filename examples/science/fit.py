"""Fits a curve and says how sure it is of everything that follows from it.

The data are NIST's reference problem Misra1a (monomolecular adsorption, 14 points), for which
parameters and standard deviations are certified to eleven digits: https://www.itl.nist.gov/div898/strd.
SciPy does the fit; `jacfwd` gives it the exact Jacobian of plain NumPy code, and the same Jacobian
gives the covariance of the parameters. What is computed from them, here the pressure at which half of
the volume is reached, gets its standard deviation from its gradient.

    python examples/science/fit.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from saving import figure, folder
from scipy.optimize import least_squares

import funcgrad

PRESSURE = np.array(
    [
        77.6,
        114.9,
        141.1,
        190.8,
        239.9,
        289.0,
        332.8,
        378.4,
        434.8,
        477.3,
        536.8,
        593.1,
        689.1,
        760.0,
    ]
)
VOLUME = np.array(
    [
        10.07,
        14.73,
        17.94,
        23.93,
        29.61,
        35.18,
        40.02,
        44.82,
        50.76,
        55.05,
        61.01,
        66.40,
        75.47,
        81.78,
    ]
)
CERTIFIED = np.array([2.3894212918e02, 5.5015643181e-04])
CERTIFIED_DEVIATION = np.array([2.7070075241e00, 7.2668688436e-06])
START = np.array([500.0, 0.0001])  # NIST's farther one


def volume(b: Any, pressure: Any) -> Any:
    """The volume (ml/g) adsorbed at a pressure."""
    return b[0] * (1 - np.exp(-b[1] * pressure))


def half_pressure(b: Any) -> Any:
    """The pressure at which half of the volume is reached."""
    return np.log(2.0) / b[1]


def fit() -> tuple[np.ndarray, np.ndarray]:
    """Parameters (2,) and their covariance (2, 2)."""

    def residuals(b: Any) -> Any:
        return volume(b, PRESSURE) - VOLUME

    slopes = funcgrad.jit(funcgrad.jacfwd(residuals))
    found = least_squares(
        residuals, START, jac=slopes, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    scatter = np.sum(found.fun**2) / (len(VOLUME) - len(START))
    jacobian = slopes(found.x)
    return found.x, scatter * np.linalg.inv(jacobian.T @ jacobian)


def deviation(f: Callable[[Any], Any], b: np.ndarray, covariance: np.ndarray) -> Any:
    """The standard deviation of ``f(b)``, to first order: ``sqrt(J C J^T)``, for each result."""
    slopes = np.atleast_2d(funcgrad.jacrev(f)(b))
    return np.sqrt(np.einsum("ni,ij,nj->n", slopes, covariance, slopes))


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    out = folder(__doc__, arguments)
    b, covariance = fit()
    for name, value, spread, certified in zip(
        ("b1", "b2"), b, np.sqrt(np.diag(covariance)), CERTIFIED, strict=True
    ):
        print(f"{name} = {value:.10e} +- {spread:.4e}   (certified {certified:.10e})")
    half, half_deviation = half_pressure(b), deviation(half_pressure, b, covariance)[0]
    print(f"half of the volume at {half:.1f} +- {half_deviation:.1f}")

    p = np.linspace(0.0, 2000.0, 200)
    with figure(out / "fit.png") as axes:
        middle, spread = volume(b, p), deviation(lambda b: volume(b, p), b, covariance)
        axes.fill_between(
            p, middle - 2 * spread, middle + 2 * spread, alpha=0.3, label="2 deviations"
        )
        axes.plot(p, middle)
        axes.plot(PRESSURE, VOLUME, "k.", label="measured")
        axes.set(xlabel="pressure", ylabel="volume")
        axes.legend()
    return {
        "error": float(np.max(abs(b / CERTIFIED - 1))),
        "deviation_error": float(
            np.max(abs(np.sqrt(np.diag(covariance)) / CERTIFIED_DEVIATION - 1))
        ),
        "half": float(half),
        "half_deviation": float(half_deviation),
    }


if __name__ == "__main__":
    main()
