"""How much of the Nile's yearly flow is noise: a local level, by the likelihood of a Kalman filter.

The volume at Aswan, 1871 to 1970 (10^8 m^3; G. Cobb, Biometrika 65, 1978, 243-251). The level
wanders, ``level[t+1] = level[t] + wander``, and is seen with noise; both variances are found by maximum
likelihood (J. Durbin and S. J. Koopman, "Time Series Analysis by State Space Methods", section 2.10.3:
15,099 and 1,469.1). The filter is a `scan`, SciPy maximises, `jit` makes one program of value and
gradient.

    python examples/science/nile.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from saving import figure, folder
from scipy.optimize import minimize

import funcgrad
from funcgrad import lax

VOLUMES = """
    1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140
    1100 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969
    831 726 456 824 702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759
    781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848 890
    744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740
"""
FLOW = np.array(VOLUMES.split(), dtype=float)


def filtered(log_variances: Any) -> tuple[Any, Any, Any]:
    """Surprise of each year from the second on (its log density), levels and their variances."""
    noise, wander = np.exp(log_variances[0]), np.exp(log_variances[1])

    def year(state: tuple[Any, Any], flow: Any) -> tuple[tuple[Any, Any], tuple[Any, Any, Any]]:
        level, variance = state
        error, spread = flow - level, variance + noise
        gain = variance / spread
        log_density = -0.5 * (np.log(2 * np.pi * spread) + error**2 / spread)
        now = level + gain * error, variance * (1 - gain)
        return (now[0], now[1] + wander), (log_density, *now)

    # Nothing is known before the first year: its flow is the level, its noise the variance.
    start = FLOW[0] + 0 * noise, noise + wander
    _, (log_densities, levels, variances) = lax.scan(year, start, FLOW[1:])
    return log_densities, levels, variances


def loss(log_variances: Any) -> Any:
    return -np.sum(filtered(log_variances)[0])


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    out = folder(__doc__, arguments)
    start = np.log(np.array([np.var(FLOW), np.var(np.diff(FLOW)) / 10]))
    step = funcgrad.jit(funcgrad.value_and_grad(loss))
    found = minimize(step, start, jac=True, method="BFGS", options={"gtol": 1e-6})
    noise, wander = np.exp(found.x)
    errors = np.sqrt(np.diag(np.linalg.inv(funcgrad.hessian(loss)(found.x))))
    print(f"log likelihood {-found.fun:.4f} after {found.nfev} calls")
    for name, value, error in zip(("noise", "wander"), (noise, wander), errors, strict=True):
        print(f"variance of the {name}: {value:9.1f}, of its logarithm +- {error:.2f}")

    _, levels, variances = filtered(found.x)
    years, spread = np.arange(1872, 1971), 1.645 * np.sqrt(variances)
    with figure(out / "nile.png") as axes:
        axes.plot(np.arange(1871, 1971), FLOW, ".", color="0.5", label="flow")
        axes.fill_between(years, levels - spread, levels + spread, alpha=0.3, label="90 %")
        axes.plot(years, levels, label="level")
        axes.set(xlabel="year", ylabel="10$^8$ m$^3$")
        axes.legend()
    return {
        "noise": float(noise),
        "wander": float(wander),
        "log_likelihood": float(-found.fun),
        "slope": float(np.linalg.norm(step(found.x)[1])),
    }


if __name__ == "__main__":
    main()
