"""Matrices of derivatives: Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Function, Workload, Wrap

SIZE = 200


def network(xp: Any) -> Function:
    """200 numbers to 200, by one hidden layer of as many."""
    return lambda x, w1, w2: xp.tanh(w2 @ xp.tanh(w1 @ x))


def network_by_hand(x: Any, w1: Any, w2: Any) -> Any:
    hidden = np.tanh(w1 @ x)
    out = np.tanh(w2 @ hidden)
    return (w2 * (1 - out * out)[:, None]) @ (w1 * (1 - hidden * hidden)[:, None])


def network_in_torch(torch: Any, args: tuple[Any, ...], wrap: Wrap) -> Callable[[], Any]:
    f = wrap(network(torch))
    return lambda: torch.autograd.functional.jacobian(
        lambda x: f(x, *args[1:]), args[0], vectorize=True
    )


def valley(xp: Any) -> Function:
    """Rosenbrock's function in many dimensions."""
    return lambda x: xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def valley_diagonals(x: Any) -> tuple[Any, Any]:
    """The Hessian's diagonal, and what is beside it."""
    diagonal = np.zeros_like(x)
    diagonal[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    diagonal[1:] += 200.0
    return diagonal, -400.0 * x[:-1]


def hessian_by_hand(x: Any) -> Any:
    diagonal, beside = valley_diagonals(x)
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def hessian_in_torch(torch: Any, args: tuple[Any, ...], wrap: Wrap) -> Callable[[], Any]:
    f = wrap(valley(torch))
    return lambda: torch.autograd.functional.hessian(f, args[0], vectorize=True)


def product(lib: Any, xp: Any) -> Function:
    """The Hessian's product with a vector, forward over reverse."""
    slope = lib.grad(valley(xp))
    return lambda x, v: lib.jvp(slope, (x,), (v,))[1]


def product_by_hand(x: Any, v: Any) -> Any:
    diagonal, beside = valley_diagonals(x)
    found = diagonal * v
    found[:-1] += beside * v[1:]
    found[1:] += beside * v[:-1]
    return found


def product_in_torch(torch: Any, args: tuple[Any, ...], wrap: Wrap) -> Callable[[], Any]:
    f, (x, v) = wrap(valley(torch)), args
    x.requires_grad_()

    def call() -> Any:
        (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
        return torch.autograd.grad(slope, x, v)[0]

    return call


def product_in_hips(autograd: Any, anp: Any) -> Function:
    f = autograd.hessian_vector_product(valley(anp))
    return lambda x, v: f(x, v)


def network_arguments() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return rng.normal(size=SIZE), *rng.normal(size=(2, SIZE, SIZE)) / np.sqrt(SIZE)


def point(with_direction: bool = False) -> tuple[Any, ...]:
    both = np.random.default_rng(0).normal(size=(2, 100))
    return tuple(both) if with_direction else (both[0],)


WORKLOADS = (
    Workload(
        "Jacobian, 200-200-200 network",
        network_arguments,
        lambda lib, xp: lib.jacrev(network(xp)),
        function=lambda lib, xp: network(xp),
        by_hand=network_by_hand,
        hips=lambda autograd, anp: autograd.jacobian(network(anp)),
        torch=network_in_torch,
    ),
    Workload(
        "Hessian, Rosenbrock in 100 dimensions",
        point,
        lambda lib, xp: lib.hessian(valley(xp)),
        function=lambda lib, xp: valley(xp),
        by_hand=hessian_by_hand,
        hips=lambda autograd, anp: autograd.hessian(valley(anp)),
        torch=hessian_in_torch,
    ),
    Workload(
        "Hessian-vector product, the same",
        lambda: point(True),
        product,
        by_hand=product_by_hand,
        hips=product_in_hips,
        torch=product_in_torch,
    ),
)
