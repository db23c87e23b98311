"""Eight schools: a hierarchical model, sampled by Hamiltonian Monte Carlo in one compiled loop.

Coaching raised test scores by so much in eight schools, with such errors (D. Rubin, Journal of
Educational Statistics 6, 1981, 377-401). The effects are drawn around a mean with a spread of their
own, neither of which is known. Four chains run side by side by `vmap`; a step of the sampler is a
`scan` over leaps, the chain a `scan` over steps, and `jit` makes one program of it.

    python examples/science/schools.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from saving import figure, folder

import funcgrad
from funcgrad import lax, random
from funcgrad.scipy import stats

EFFECT = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERROR = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
CHAINS, WARM_UP, STEPS, LEAPS, STEP_SIZE = 4, 500, 4000, 12, 0.35


def unpacked(q: Any) -> tuple[Any, Any, Any]:
    """Mean, spread and the schools' effects of a point (10,) of the sampler.

    Standardised effects do not depend on the spread, which keeps the posterior round.
    """
    mean, spread = 5.0 * q[0], np.exp(q[1])
    return mean, spread, mean + spread * q[2:]


def log_density(q: Any) -> Any:
    """Of the posterior, up to a constant: N(0, 5) for the mean, half Cauchy(5) for the spread."""
    _, spread, effects = unpacked(q)
    prior = stats.norm.logpdf(q[0]) + stats.cauchy.logpdf(spread, scale=5.0) + q[1]
    return (
        prior + np.sum(stats.norm.logpdf(q[2:])) + np.sum(stats.norm.logpdf(EFFECT, effects, ERROR))
    )


def transition(q: Any, key: Any) -> tuple[Any, Any]:
    """One step of the sampler: the next point, and whether the proposal was taken."""
    slope = funcgrad.grad(log_density)
    for_momentum, for_choice = random.split(key)
    p = random.normal(for_momentum, q.shape)

    def leap(state: tuple[Any, Any], _: Any) -> tuple[tuple[Any, Any], None]:
        q, p = state
        p = p + STEP_SIZE / 2 * slope(q)
        q = q + STEP_SIZE * p
        return (q, p + STEP_SIZE / 2 * slope(q)), None

    (q_new, p_new), _ = lax.scan(leap, (q, p), None, length=LEAPS)
    gain = log_density(q_new) - np.sum(p_new**2) / 2 - log_density(q) + np.sum(p**2) / 2
    taken = np.log(random.uniform(for_choice)) < gain
    return np.where(taken, q_new, q), taken


def chain(key: Any) -> tuple[Any, Any]:
    """The points (steps, 10) of one chain, and which proposals were taken."""
    start, steps = random.split(key)

    def step(q: Any, key: Any) -> tuple[Any, tuple[Any, Any]]:
        q, taken = transition(q, key)
        return q, (q, taken)

    q = 0.5 * random.normal(start, (2 + len(EFFECT),))
    return lax.scan(step, q, random.split(steps, WARM_UP + STEPS))[1]


def mixing(draws: np.ndarray) -> float:
    """Gelman and Rubin's ratio for draws (chains, steps): 1 where all chains tell the same."""
    within, between = np.mean(np.var(draws, axis=1, ddof=1)), np.var(np.mean(draws, axis=1), ddof=1)
    return float(np.sqrt(1 + between / within))


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    out = folder(__doc__, arguments)
    run = funcgrad.jit(funcgrad.vmap(chain))
    keys = random.split(random.key(0), CHAINS)
    start = time.perf_counter()
    points, taken = run(keys)
    seconds = time.perf_counter() - start
    points = points[:, WARM_UP:]
    means, spreads, effects = funcgrad.vmap(funcgrad.vmap(unpacked))(points)
    print(f"{CHAINS} chains of {STEPS} steps in {seconds:.1f} s, {np.mean(taken):.0%} taken")
    for name, draws in (("mean", means), ("spread", spreads)):
        print(f"{name:8}{np.mean(draws):6.2f} +- {np.std(draws):.2f}   mixing {mixing(draws):.3f}")
    for n, (shrunk, raw) in enumerate(zip(effects.mean((0, 1)), EFFECT, strict=True)):
        print(f"school {'ABCDEFGH'[n]}{shrunk:6.2f}   (by itself {raw:.0f} +- {ERROR[n]:.0f})")

    with figure(out / "schools.png", panels=2) as (left, right):
        left.boxplot(
            list(effects.reshape(-1, len(EFFECT)).T), tick_labels="ABCDEFGH", showfliers=False
        )
        left.errorbar(np.arange(1, 9), EFFECT, ERROR, fmt="k.", alpha=0.4)
        left.set(xlabel="school", ylabel="effect")
        right.plot(means.ravel()[::8], np.log(spreads.ravel()[::8]), ".", markersize=2)
        right.set(xlabel="mean", ylabel="log spread")
    return {
        "mean": float(np.mean(means)),
        "spread": float(np.mean(spreads)),
        "taken": float(np.mean(taken)),
        "mixing": max(mixing(means), mixing(spreads)),
        "seconds": seconds,
    }


if __name__ == "__main__":
    main()
