"""Times until a relapse, of which some are known only to be longer: a Weibull model by Newton's method.

42 patients with leukaemia, half of them on 6-mercaptopurine (E. Freireich and others, Blood 21, 1963,
699-716). The log likelihood is the density of what was seen and the survival function of what was
cut off, both from `funcgrad.scipy.stats`; `grad` and `hessian` are all that Newton's method needs, and
the Hessian at the end gives the standard errors.

    python examples/science/survival.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from saving import figure, folder

import funcgrad
from funcgrad.scipy import stats

# Weeks in remission, and whether the relapse was seen (1) or the study ended before (0).
TREATED = np.array([6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35.0])
TREATED_SEEN = np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0])
PLACEBO = np.array([1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23.0])

WEEKS = np.concatenate([TREATED, PLACEBO])
SEEN = np.concatenate([TREATED_SEEN, np.ones_like(PLACEBO)])
ON_DRUG = np.concatenate([np.ones_like(TREATED), np.zeros_like(PLACEBO)])


def loss(parameters: Any) -> Any:
    """Minus the log likelihood: the drug multiplies all times by ``exp(effect)``."""
    level, effect, log_shape = parameters
    scale, shape = np.exp(level + effect * ON_DRUG), np.exp(log_shape)
    seen = stats.weibull_min.logpdf(WEEKS, shape, scale=scale)
    cut = stats.weibull_min.logsf(WEEKS, shape, scale=scale)
    return -np.sum(SEEN * seen + (1 - SEEN) * cut)


def seen_in_remission(weeks: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weeks of relapses, and the share still in remission after them, by Kaplan and Meier."""
    times = np.unique(weeks[seen == 1])
    at_risk = np.sum(weeks[:, None] >= times, axis=0)
    relapses = np.sum((weeks[:, None] == times) & (seen[:, None] == 1), axis=0)
    return times, np.cumprod(1 - relapses / at_risk)


def newton(start: np.ndarray, steps: int = 20) -> np.ndarray:
    """A minimum of `loss` by Newton's steps, halved while they lead upwards."""
    slope, curvature = funcgrad.jit(funcgrad.grad(loss)), funcgrad.jit(funcgrad.hessian(loss))
    x = start
    for _ in range(steps):
        step = np.linalg.solve(curvature(x), slope(x))
        while loss(x - step) > loss(x) + 1e-12:
            step = step / 2
        x = x - step
        print(f"  loss {loss(x):.10f}   slope {np.linalg.norm(slope(x)):.1e}")
        if np.linalg.norm(slope(x)) < 1e-9:
            break
    return x


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    out = folder(__doc__, arguments)
    best = newton(np.array([np.log(np.mean(WEEKS)), 0.0, 0.0]))
    errors = np.sqrt(np.diag(np.linalg.inv(funcgrad.hessian(loss)(best))))
    level, effect, log_shape = best
    print(f"times are {np.exp(effect):.2f} times as long; effect {effect:.3f} +- {errors[1]:.3f}")
    print(f"shape {np.exp(log_shape):.3f}, log likelihood {-loss(best):.3f}")

    t = np.linspace(0.0, 40.0, 200)
    with figure(out / "survival.png") as axes:
        for n, (name, drug) in enumerate((("placebo", 0), ("6-MP", 1))):
            line = stats.weibull_min.sf(t, np.exp(log_shape), scale=np.exp(level + drug * effect))
            axes.plot(t, line, color=f"C{n}", label=name)
            here = drug == ON_DRUG
            axes.step(*seen_in_remission(WEEKS[here], SEEN[here]), f"C{n}:", where="post")
        axes.set(xlabel="weeks", ylabel="in remission", ylim=(0, 1))
        axes.legend()
    return {
        "level": float(level),
        "effect": float(effect),
        "effect_error": float(errors[1]),
        "log_scale": float(-log_shape),
        "log_likelihood": float(-loss(best)),
    }


if __name__ == "__main__":
    main()
