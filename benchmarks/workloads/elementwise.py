"""Long elementwise expressions: a mixture's log-density, and Black and Scholes' price of options."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .base import Function, Workload, gradient, special

WEIGHT, LEFT, RIGHT = 0.3, (-1.0, 0.7), (1.5, 1.2)  # means and standard deviations
SHIFT_LEFT = math.log(WEIGHT) - math.log(LEFT[1])
SHIFT_RIGHT = math.log(1 - WEIGHT) - math.log(RIGHT[1])


def mixture(xp: Any) -> Function:
    """The log-density of two normal distributions, up to a constant, summed over the points."""

    def f(x: Any) -> Any:
        a = SHIFT_LEFT - 0.5 * ((x - LEFT[0]) / LEFT[1]) ** 2
        b = SHIFT_RIGHT - 0.5 * ((x - RIGHT[0]) / RIGHT[1]) ** 2
        top = xp.maximum(a, b)
        return xp.sum(top + xp.log(xp.exp(a - top) + xp.exp(b - top)))

    return f


def mixture_by_hand(x: Any) -> Any:
    """Value and gradient."""
    left, right = (x - LEFT[0]) / LEFT[1], (x - RIGHT[0]) / RIGHT[1]
    a = SHIFT_LEFT - 0.5 * left * left
    b = SHIFT_RIGHT - 0.5 * right * right
    top = np.maximum(a, b)
    a, b = np.exp(a - top), np.exp(b - top)
    total = a + b
    slope = -(a * left * (1 / LEFT[1]) + b * right * (1 / RIGHT[1])) / total
    return np.sum(top + np.log(total)), slope


def black_scholes(xp: Any) -> Function:
    """The price of call options, summed."""
    erf = special(xp).erf

    def normal(z: Any) -> Any:
        return 0.5 * (1.0 + erf(z * math.sqrt(0.5)))

    def f(spot: Any, strike: Any, years: Any, rate: Any, volatility: Any) -> Any:
        width = volatility * xp.sqrt(years)
        d1 = (xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / width
        discounted = strike * xp.exp(-rate * years)
        return xp.sum(spot * normal(d1) - discounted * normal(d1 - width))

    return f


def black_scholes_by_hand(spot: Any, strike: Any, years: Any, rate: Any, volatility: Any) -> Any:
    """Value and the five Greeks, from their textbook formulas."""
    from scipy.special import erf

    root = np.sqrt(years)
    width = volatility * root
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / width
    n1 = 0.5 * (1.0 + erf(d1 * math.sqrt(0.5)))
    n2 = 0.5 * (1.0 + erf((d1 - width) * math.sqrt(0.5)))
    discount = np.exp(-rate * years)
    vega = spot * root * np.exp(-0.5 * d1 * d1) * (1 / math.sqrt(2 * math.pi))
    paid = strike * discount * n2
    theta = 0.5 * vega * volatility / years + rate * paid
    return np.sum(spot * n1 - paid), (n1, -discount * n2, theta, years * paid, vega)


def options(size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    ranges = ((80, 120), (80, 120), (0.1, 2), (0.01, 0.05), (0.1, 0.5))
    return tuple(rng.uniform(low, high, size) for low, high in ranges)


def points(size: int) -> tuple[Any, ...]:
    return (np.random.default_rng(0).normal(size=size),)


WORKLOADS = tuple(
    Workload(
        f"{name}, {size:,}",
        partial(make, size),
        by_hand=by_hand,
        **gradient(function, argnums),
    )
    for name, function, argnums, by_hand, make in (
        ("mixture density", mixture, 0, mixture_by_hand, points),
        ("Black-Scholes", black_scholes, (0, 1, 2, 3, 4), black_scholes_by_hand, options),
    )
    for size in (10_000, 1_000_000)
)
