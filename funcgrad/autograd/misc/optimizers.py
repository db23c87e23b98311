"""Descent for a number of steps along gradients ``grad(x, i)``, x an array or a container of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import optim
from .flatten import flatten

Callback = Callable[[Any, int, Any], None] | None


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """An optimizer of containers, made of one of vectors: ``optimize(grad, x0, callback, ...)``."""

    def optimized(grad: Any, x0: Any, callback: Callback = None, *args: Any, **kwargs: Any) -> Any:
        start, unflatten = flatten(x0)

        def flat(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def show(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(flat, start, show, *args, **kwargs))

    optimized.__name__, optimized.__doc__ = optimize.__name__, optimize.__doc__
    return optimized


@unflatten_optimizer
def sgd(grad, x, callback=None, num_iters=200, step_size=0.1, mass=0.9):
    """``v = mass * v - (1 - mass) * g``, ``x += step_size * v``, from ``v = 0``.

    `callback`: called with x, the number of the step and the gradient, before each.

    >>> sgd(lambda x, i: 2.0 * x, np.ones(2), num_iters=100).round(3)
    array([0.004, 0.004])
    """
    v = np.zeros_like(x)
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        v = mass * v - (1.0 - mass) * g
        x = x + step_size * v
    return x


@unflatten_optimizer
def rmsprop(grad, x, callback=None, num_iters=100, step_size=0.1, gamma=0.9, eps=1e-8):
    """``s = gamma * s + (1 - gamma) * g^2``, ``x -= step_size * g / (sqrt(s) + eps)``, from ``s = 1``.

    >>> rmsprop(lambda x, i: {"a": 2.0 * x["a"]}, {"a": np.ones(1)}, num_iters=50)["a"].round(1)
    array([0.])
    """
    s = np.ones_like(x)
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        s = gamma * s + (1.0 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(s) + eps)
    return x


@unflatten_optimizer
def adam(grad, x, callback=None, num_iters=100, step_size=0.001, b1=0.9, b2=0.999, eps=1e-8):
    """Steps of `funcgrad.optim.adam`.

    >>> adam(lambda x, i: 2.0 * x, np.ones(2), num_iters=200, step_size=0.1).round(3)
    array([0., 0.])
    """
    optimizer = optim.adam(step_size, (b1, b2), eps)
    state = optimizer.init(x)
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        x, state = optimizer.update(g, state, x)
    return x
