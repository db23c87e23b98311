"""Dense networks: steps of gradient descent, and gradients for each example."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .base import Function, Workload, Wrap, leaves_of

RATE = 0.01
Layers = list[tuple[Any, Any]]


def layers(sizes: Sequence[int], dtype: Any) -> Layers:
    """The weights and the biases."""
    rng = np.random.default_rng(0)
    return [
        ((rng.normal(size=(m, n)) / np.sqrt(m)).astype(dtype), rng.normal(size=n).astype(dtype))
        for m, n in itertools.pairwise(sizes)
    ]


def squared_error(xp: Any) -> Function:
    """One hidden layer of tanh."""

    def loss(params: Layers, x: Any, target: Any) -> Any:
        (w1, b1), (w2, b2) = params
        return xp.mean((xp.tanh(x @ w1 + b1) @ w2 + b2 - target) ** 2)

    return loss


def cross_entropy(xp: Any) -> Function:
    """Two hidden layers of rectified units; the last axis of `target` is one-hot."""
    is_torch = xp.__name__ == "torch"

    def rectified(x: Any) -> Any:
        return xp.relu(x) if is_torch else xp.maximum(x, 0)

    def log_softmax(x: Any) -> Any:
        if is_torch:
            return xp.log_softmax(x, -1)
        x = x - xp.max(x, -1, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), -1, keepdims=True))

    def loss(params: Layers, x: Any, target: Any) -> Any:
        for w, b in params[:-1]:
            x = rectified(x @ w + b)
        w, b = params[-1]
        scores = log_softmax(x @ w + b)
        count = scores.shape[0] if scores.ndim == 2 else 1
        return -xp.sum(scores * target) / count

    return loss


def step(loss: Callable[[Any], Function]) -> dict[str, Any]:
    """The fields of a workload: the parameters after one step of gradient descent."""

    def program(lib: Any, xp: Any) -> Function:
        gradient = lib.grad(loss(xp))

        def update(params: Layers, x: Any, target: Any) -> Layers:
            found = gradient(params, x, target)
            return [
                (w - RATE * dw, b - RATE * db)
                for (w, b), (dw, db) in zip(params, found, strict=True)
            ]

        return update

    def in_torch(torch: Any, args: tuple[Any, ...], wrap: Wrap) -> Callable[[], Any]:
        f, parameters = wrap(loss(torch)), leaves_of(args[0])
        for p in parameters:
            p.requires_grad_()

        def call() -> Any:
            f(*args).backward()
            with torch.no_grad():
                for p in parameters:
                    p -= RATE * p.grad
                    p.grad = None
            return parameters

        return call

    return {
        "program": program,
        "function": lambda lib, xp: loss(xp),
        "hips": lambda autograd, anp: program(autograd, anp),
        "torch": in_torch,
    }


def small_by_hand(params: Layers, x: Any, target: Any) -> Layers:
    (w1, b1), (w2, b2) = params
    hidden = np.tanh(x @ w1 + b1)
    rest = hidden @ w2 + b2 - target
    g = rest * (2 / rest.size)
    back = g @ w2.T * (1 - hidden * hidden)
    return [
        (w1 - RATE * (x.T @ back), b1 - RATE * back.sum(0)),
        (w2 - RATE * (hidden.T @ g), b2 - RATE * g.sum(0)),
    ]


def forward_and_slope(params: Layers, x: Any, target: Any) -> tuple[list[Any], Any]:
    """The layers' inputs, and the derivative of the summed loss by the scores."""
    inputs = [x]
    for w, b in params[:-1]:
        inputs.append(np.maximum(inputs[-1] @ w + b, 0))
    w, b = params[-1]
    scores = inputs[-1] @ w + b
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return inputs, scores / scores.sum(-1, keepdims=True) - target


def large_by_hand(params: Layers, x: Any, target: Any) -> Layers:
    inputs, g = forward_and_slope(params, x, target)
    g = g * np.float32(1 / len(x))
    new = []
    for (w, b), inner in zip(reversed(params), reversed(inputs), strict=True):
        new.append((w - RATE * (inner.T @ g), b - RATE * g.sum(0)))
        if inner is not x:
            g = (g @ w.T) * (inner > 0)
    return new[::-1]


def per_example(lib: Any, xp: Any) -> Function:
    """The gradient of each example's loss."""
    return lib.vmap(lib.grad(cross_entropy(xp)), in_axes=(None, 0, 0))


def per_example_by_hand(params: Layers, x: Any, target: Any) -> Layers:
    inputs, g = forward_and_slope(params, x, target)
    found = []
    for (w, _), inner in zip(reversed(params), reversed(inputs), strict=True):
        found.append((inner[:, :, None] * g[:, None, :], g))
        if inner is not x:
            g = (g @ w.T) * (inner > 0)
    return found[::-1]


def small() -> tuple[Any, ...]:
    rng = np.random.default_rng(1)
    return layers((16, 32, 1), np.float64), rng.normal(size=(16, 16)), rng.normal(size=(16, 1))


def large(dtype: Any = np.float32) -> tuple[Any, ...]:
    rng = np.random.default_rng(1)
    target = np.eye(10, dtype=dtype)[rng.integers(0, 10, 128)]
    return layers((784, 256, 128, 10), dtype), rng.random((128, 784)).astype(dtype), target


WORKLOADS = (
    Workload("network 16-32-1, step", small, by_hand=small_by_hand, **step(squared_error)),
    Workload(
        "network 784-256-128-10, step",
        large,
        by_hand=large_by_hand,
        rtol=1e-3,
        **step(cross_entropy),
    ),
    Workload(
        "network, gradient per example",
        large,
        per_example,
        function=lambda lib, xp: cross_entropy(xp),
        by_hand=per_example_by_hand,
        rtol=1e-3,
    ),
)
