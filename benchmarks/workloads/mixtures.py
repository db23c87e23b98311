"""Models of clusters: a Gaussian mixture with full covariances, and k-means.

The mixture has the shape of ADBench's problem: each component has the inverse of a triangular factor of
its covariance, whose diagonal is given by logarithms, so that the determinant is a sum; a Wishart
prior keeps the covariances in bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .base import Function, Workload, Wrap, gradient, special

STRENGTH, EXTRA = 1.0, 2.0  # of the prior


def places(d: int) -> tuple[Any, Any, Any]:
    """Where each entry of a triangular factor is among the packed ones; masks of both parts."""
    rows, columns = np.tril_indices(d, -1)
    where = np.zeros((d, d), int)
    where[rows, columns] = np.arange(len(rows))
    return where, np.tril(np.ones((d, d)), -1), np.eye(d)


def log_likelihood(xp: Any) -> Function:
    """That of the points under the mixture, with the prior."""
    logsumexp = special(xp).logsumexp

    def f(
        alphas: Any, means: Any, logs: Any, packed: Any, x: Any, where: Any, below: Any, unit: Any
    ) -> Any:
        n, d = x.shape
        diagonal = xp.exp(logs)
        factors = packed[:, where] * below + diagonal[:, :, None] * unit
        rest = x[None, :, :] - means[:, None, :]
        spread = xp.sum(xp.matmul(rest, xp.swapaxes(factors, 1, 2)) ** 2, 2)
        total = xp.sum(logs, 1)
        terms = (alphas + total)[:, None] - 0.5 * spread
        fit = xp.sum(logsumexp(terms, 0)) - n * logsumexp(alphas, 0)
        squares = xp.sum(diagonal**2) + xp.sum(packed**2)
        prior = 0.5 * STRENGTH**2 * squares - EXTRA * xp.sum(total)
        return fit - n * d * 0.5 * math.log(2 * math.pi) - prior

    return f


def log_likelihood_by_hand(
    alphas: Any, means: Any, logs: Any, packed: Any, x: Any, where: Any, below: Any, unit: Any
) -> Any:
    """Value and gradient, by the components' responsibilities and two matrix products for each."""
    n, d = x.shape
    diagonal = np.exp(logs)
    rows, columns = np.tril_indices(d, -1)
    factors = np.zeros((len(means), d, d))
    factors[:, rows, columns] = packed
    factors[:, np.arange(d), np.arange(d)] = diagonal
    rest = x - means[:, None]
    out = rest @ factors.transpose(0, 2, 1)
    total = logs.sum(1)
    terms = (alphas + total)[:, None] - 0.5 * np.einsum("kni,kni->kn", out, out)
    top = terms.max(0)
    shares = np.exp(terms - top)
    sums = shares.sum(0)
    shares /= sums
    highest = alphas.max()
    weights = np.exp(alphas - highest)
    fit = np.sum(top + np.log(sums)) - n * (highest + np.log(weights.sum()))
    prior = 0.5 * STRENGTH**2 * ((diagonal**2).sum() + (packed**2).sum()) - EXTRA * total.sum()
    counts = shares.sum(1)
    out *= shares[:, :, None]
    by_means = np.matmul(out.sum(1)[:, None], factors)[:, 0]
    by_factors = -out.transpose(0, 2, 1) @ rest
    by_logs = by_factors[:, np.arange(d), np.arange(d)] * diagonal + counts[:, None] + EXTRA
    by_logs -= STRENGTH**2 * diagonal**2
    by_packed = by_factors[:, rows, columns] - STRENGTH**2 * packed
    value = fit - n * d * 0.5 * math.log(2 * math.pi) - prior
    return value, (counts - n * weights / weights.sum(), by_means, by_logs, by_packed)


def mixture(d: int, k: int, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    parameters = (rng.normal(size=k), rng.normal(size=(k, d)), rng.normal(size=(k, d)) * 0.1)
    packed = rng.normal(size=(k, d * (d - 1) // 2)) * 0.1
    return *parameters, packed, rng.normal(size=(n, d)), *places(d)


# ---------------------------------------------------------------- k-means


def squared_distances(xp: Any) -> Function:
    """The points' squared distances from the nearest centre, summed."""
    smallest = getattr(xp, "amin", None) or xp.min

    def f(centres: Any, x: Any) -> Any:
        distances = xp.sum(centres**2, 1) - 2.0 * (x @ centres.T) + xp.sum(x**2, 1)[:, None]
        return xp.sum(smallest(distances, 1))

    return f


def slope_and_curvature(lib: Any, xp: Any) -> Function:
    """The gradient, and the Hessian's diagonal: no two coordinates meet in a product."""

    def f(centres: Any, x: Any) -> Any:
        slope = lib.grad(squared_distances(xp))
        return lib.jvp(lambda c: slope(c, x), (centres,), (xp.ones_like(centres),))

    return f


def slope_by_hand(centres: Any, x: Any) -> Any:
    nearest = ((centres**2).sum(1) - 2.0 * (x @ centres.T)).argmin(1)
    counts = np.bincount(nearest, minlength=len(centres))
    sums = np.zeros_like(centres)
    np.add.at(sums, nearest, x)
    slope = 2.0 * (counts[:, None] * centres - sums)
    return slope, np.broadcast_to(2.0 * counts[:, None], centres.shape).copy()


def slope_in_torch(torch: Any, args: tuple[Any, ...], wrap: Wrap) -> Callable[[], Any]:
    f, (centres, x) = wrap(squared_distances(torch)), args
    centres.requires_grad_()

    def call() -> Any:
        (slope,) = torch.autograd.grad(f(centres, x), centres, create_graph=True)
        return slope, torch.autograd.grad(slope.sum(), centres)[0]

    return call


def slope_in_hips(autograd: Any, anp: Any) -> Function:
    slope = autograd.grad(squared_distances(anp))
    curvature = autograd.elementwise_grad(slope)
    return lambda centres, x: (slope(centres, x), curvature(centres, x))


def clusters(n: int = 10_000, d: int = 16, k: int = 100) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(k, d)), rng.normal(size=(n, d))


WORKLOADS = (
    *(
        Workload(
            f"Gaussian mixture d={d} k={k} n={n:,}",
            partial(mixture, d, k, n),
            by_hand=log_likelihood_by_hand,
            heavy=k * n * d > 1_000_000,
            **gradient(log_likelihood, (0, 1, 2, 3)),
        )
        for d, k, n in (
            (2, 5, 1000),
            (10, 25, 1000),
            (32, 50, 1000),
            (10, 25, 10_000),
            (32, 50, 10_000),
        )
    ),
    Workload(
        "k-means, gradient + Hessian diagonal",
        clusters,
        slope_and_curvature,
        function=lambda lib, xp: squared_distances(xp),
        by_hand=slope_by_hand,
        hips=slope_in_hips,
        torch=slope_in_torch,
    ),
)
