"""Loops: differential equations by Runge and Kutta's method, a recurrent network, walks of Markov
chains; and attention.

A loop is `lax.scan` in a library that has it, and a Python loop in the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad as fg

from .base import Function, Workload, gradient

TIME_STEP = 0.01
# Without loops in programs, programs are as long as the loops, which are made shorter.
LOOPS = hasattr(getattr(fg, "lax", None), "scan")


def loop(lib: Any) -> Callable[[Function, Any, Any, int], Any]:
    """What runs so many steps; each is given the state and what belongs to its turn."""
    lax: Any = getattr(lib, "lax", None) if LOOPS or lib is not fg else None

    def scanned(step: Function, state: Any, xs: Any, count: int) -> Any:
        return lax.scan(lambda s, x: (step(s, x), None), state, xs, length=count)[0]

    def unrolled(step: Function, state: Any, xs: Any, count: int) -> Any:
        for i in range(count):
            state = step(state, None if xs is None else xs[i])
        return state

    return unrolled if lax is None else scanned


def looping_gradient(
    function: Callable[[Any, Any], Function], argnums: int | tuple[int, ...]
) -> dict[str, Any]:
    """As `gradient`, of a function that also reads the library."""
    fields = gradient(lambda xp: function(None, xp), argnums)
    fields["program"] = lambda lib, xp: lib.value_and_grad(function(lib, xp), argnums)
    fields["function"] = function
    return fields


# ---------------------------------------------------------------- differential equations


def solution(steps: int, slope: Callable[[Any], Function]) -> Callable[[Any, Any], Function]:
    """The sum of the last state; `slope` is of the state and the equation's parameters."""

    def make(lib: Any, xp: Any) -> Function:
        f, h = slope(xp), TIME_STEP

        def last(state: Any, parameters: Any) -> Any:
            def step(y: Any, _: Any) -> Any:
                k1 = f(y, parameters)
                k2 = f(y + 0.5 * h * k1, parameters)
                k3 = f(y + 0.5 * h * k2, parameters)
                k4 = f(y + h * k3, parameters)
                return y + (h / 6) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

            return xp.sum(loop(lib)(step, state, None, steps))

        return last

    return make


def scalar_slope(xp: Any) -> Function:
    return lambda y, a: xp.sin(y) * a - 0.1 * y * y


def vector_slope(xp: Any) -> Function:
    return lambda y, a: xp.tanh(a @ y)


def scalar_by_hand(steps: int) -> Function:
    """Python numbers: a tangent for each stage, as the state is one number."""
    sin, cos, h = math.sin, math.cos, TIME_STEP

    def call(state: Any, parameter: Any) -> Any:
        y, t, a = float(state), 1.0, float(parameter)
        for _ in range(steps):
            k, total, total_t, z, dz = 0.0, 0.0, 0.0, y, t
            for weight, ahead in ((1.0, 0.5 * h), (2.0, 0.5 * h), (2.0, h), (1.0, 0.0)):
                k, dk = sin(z) * a - 0.1 * z * z, (cos(z) * a - 0.2 * z) * dz
                total, total_t = total + weight * k, total_t + weight * dk
                z, dz = y + ahead * k, t + ahead * dk
            y, t = y + h / 6 * total, t + h / 6 * total_t
        return y, t

    return call


def vector_by_hand(steps: int) -> Function:
    """Keep the stages' slopes, and go back through them."""
    h = TIME_STEP

    def call(y: Any, a: Any) -> Any:
        kept = []
        for _ in range(steps):
            k1 = np.tanh(a @ y)
            k2 = np.tanh(a @ (y + 0.5 * h * k1))
            k3 = np.tanh(a @ (y + 0.5 * h * k2))
            k4 = np.tanh(a @ (y + h * k3))
            kept.append((k1, k2, k3, k4))
            y = y + (h / 6) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        g, transposed = np.ones_like(y), a.T
        for k1, k2, k3, k4 in reversed(kept):
            g4 = transposed @ ((h / 6) * g * (1 - k4 * k4))
            g3 = transposed @ (((h / 3) * g + h * g4) * (1 - k3 * k3))
            g2 = transposed @ (((h / 3) * g + 0.5 * h * g3) * (1 - k2 * k2))
            g1 = transposed @ (((h / 6) * g + 0.5 * h * g2) * (1 - k1 * k1))
            g = g + g1 + g2 + g3 + g4
        return y.sum(), g

    return call


def scalar_problem() -> tuple[Any, ...]:
    return np.float64(0.7), np.float64(1.3)


def vector_problem() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return rng.normal(size=100), rng.normal(size=(100, 100)) / 10


def equations(steps: int, heavy: bool = False) -> tuple[Workload, ...]:
    return tuple(
        Workload(
            f"Runge-Kutta, {what}, {steps:,} steps",
            problem,
            by_hand=by_hand(steps),
            heavy=heavy,
            **looping_gradient(solution(steps, slope), 0),
        )
        for what, problem, by_hand, slope in (
            ("one number", scalar_problem, scalar_by_hand, scalar_slope),
            ("100 numbers", vector_problem, vector_by_hand, vector_slope),
        )
    )


# ---------------------------------------------------------------- a recurrent network

LENGTH, BATCH, HIDDEN = (50, 32, 128) if LOOPS else (10, 32, 128)


def recurrent(lib: Any, xp: Any) -> Function:
    """A long short-term memory's last output, squared and averaged."""

    def sigmoid(x: Any) -> Any:
        return xp.sigmoid(x) if xp.__name__ == "torch" else 0.5 * (xp.tanh(0.5 * x) + 1.0)

    def f(weights: Any, recurrent_weights: Any, bias: Any, xs: Any) -> Any:
        n = bias.shape[0] // 4

        def step(state: Any, x: Any) -> Any:
            h, c = state
            gates = x @ weights + h @ recurrent_weights + bias
            take, forget, give = (sigmoid(gates[:, i * n : (i + 1) * n]) for i in range(3))
            c = forget * c + take * xp.tanh(gates[:, 3 * n :])
            return give * xp.tanh(c), c

        zeros = xp.zeros((xs.shape[1], n))
        return xp.mean(loop(lib)(step, (zeros, zeros), xs, xs.shape[0])[0] ** 2)

    return f


def recurrent_by_hand(weights: Any, recurrent_weights: Any, bias: Any, xs: Any) -> Any:
    """Value and gradients; the products by the weights' gradients are gathered into one."""
    n, kept = bias.shape[0] // 4, []
    h = c = np.zeros((xs.shape[1], n))
    for x in xs:
        gates = x @ weights + h @ recurrent_weights + bias
        gates[:, : 3 * n] *= 0.5
        np.tanh(gates, out=gates)
        gates[:, : 3 * n] += 1.0
        gates[:, : 3 * n] *= 0.5
        before = (h, c)
        take, forget, give, new = (gates[:, i * n : (i + 1) * n] for i in range(4))
        c = forget * c + take * new
        bounded = np.tanh(c)
        h = give * bounded
        kept.append((before, (take, forget, give, new), bounded))
    value, gh, gc = np.mean(h * h), h * (2 / h.size), np.zeros_like(c)
    slopes = np.empty((*xs.shape[:2], 4 * n))
    for i in reversed(range(len(xs))):
        (h, c), (take, forget, give, new), bounded = kept[i]
        gc = gc + gh * give * (1 - bounded * bounded)
        slope = slopes[i]
        slope[:, :n] = gc * new * take * (1 - take)
        slope[:, n : 2 * n] = gc * c * forget * (1 - forget)
        slope[:, 2 * n : 3 * n] = gh * bounded * give * (1 - give)
        slope[:, 3 * n :] = gc * take * (1 - new * new)
        gc, gh = gc * forget, slope @ recurrent_weights.T
    flat = slopes.reshape(-1, 4 * n)
    hs = np.stack([before[0] for before, _, _ in kept]).reshape(-1, n)
    by_weights = xs.reshape(len(flat), -1).T @ flat
    return value, (by_weights, hs.T @ flat, flat.sum(0))


def recurrent_problem() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(2, HIDDEN, 4 * HIDDEN)) / math.sqrt(HIDDEN)
    return *weights, rng.normal(size=4 * HIDDEN), rng.normal(size=(LENGTH, BATCH, HIDDEN))


# ---------------------------------------------------------------- attention


def attention(xp: Any) -> Function:
    """A head of attention of a sequence to itself, squared and averaged."""
    is_torch = xp.__name__ == "torch"

    def softmax(x: Any) -> Any:
        if is_torch:
            return xp.softmax(x, -1)
        x = xp.exp(x - xp.max(x, -1, keepdims=True))
        return x / xp.sum(x, -1, keepdims=True)

    def f(wq: Any, wk: Any, wv: Any, wo: Any, x: Any) -> Any:
        scores = (x @ wq) @ (x @ wk).T / math.sqrt(wq.shape[1])
        return xp.mean((softmax(scores) @ (x @ wv) @ wo) ** 2)

    return f


def attention_by_hand(wq: Any, wk: Any, wv: Any, wo: Any, x: Any) -> Any:
    scale = 1 / math.sqrt(wq.shape[1])
    q, k, v = x @ wq, x @ wk, x @ wv
    shares = q @ k.T * scale
    shares -= shares.max(-1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(-1, keepdims=True)
    mixed = shares @ v
    out = mixed @ wo
    g = out * (2 / out.size)
    by_mixed = g @ wo.T
    by_shares = by_mixed @ v.T
    by_scores = shares * (by_shares - (by_shares * shares).sum(-1, keepdims=True)) * scale
    by_v = shares.T @ by_mixed
    gradients = (x.T @ (by_scores @ k), x.T @ (by_scores.T @ q), x.T @ by_v, mixed.T @ g)
    return np.mean(out * out), gradients


def attention_problem(length: int = 128, width: int = 64) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(4, width, width)) / math.sqrt(width)
    return *weights, rng.normal(size=(length, width))


# ---------------------------------------------------------------- Markov chains

DRAWS, LEAPS, LEAP = 500, 5, 0.05


def chain(lib: Any, xp: Any) -> Function:
    """Hamiltonian Monte Carlo for the weights of a logistic regression; all draws.

    Each of them draws a momentum, goes a few leaps along the gradient, and is taken or left.
    """
    random = lib.random

    def draws(key: Any, weights: Any, x: Any, y: Any) -> Any:
        def energy(w: Any) -> Any:
            return xp.sum(xp.logaddexp(0.0, -y * (x @ w))) + 0.5 * xp.sum(w * w)

        slope = lib.grad(energy)

        def step(w: Any, key: Any) -> Any:
            first, second = random.split(key)
            start = random.normal(first, w.shape)
            momentum = start - 0.5 * LEAP * slope(w)
            moved = w
            for i in range(LEAPS):
                moved = moved + LEAP * momentum
                momentum = momentum - (LEAP if i + 1 < LEAPS else 0.5 * LEAP) * slope(moved)
            before = energy(w) + 0.5 * xp.sum(start * start)
            after = energy(moved) + 0.5 * xp.sum(momentum * momentum)
            w = xp.where(xp.log(random.uniform(second)) < before - after, moved, w)
            return w, w

        return lib.lax.scan(step, weights, random.split(key, DRAWS))[1]

    return draws


def chain_problem(count: int = 100, width: int = 8) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, width))
    y = np.sign(x @ rng.normal(size=width) + rng.logistic(size=count))
    return np.array([0, 7], np.uint32), np.zeros(width), x, y


WORKLOADS = (
    *equations(1000 if LOOPS else 50),
    *(equations(10_000, heavy=True) if LOOPS else ()),
    Workload(
        f"LSTM, {LENGTH} steps",
        recurrent_problem,
        by_hand=recurrent_by_hand,
        **looping_gradient(recurrent, (0, 1, 2)),
    ),
    *(
        [
            Workload(
                f"Hamiltonian Monte Carlo, {DRAWS} draws", chain_problem, chain, torch_func=False
            )
        ]
        if LOOPS
        else []
    ),
    Workload(
        "attention, 128 by 64",
        attention_problem,
        by_hand=attention_by_hand,
        **gradient(attention, (0, 1, 2, 3)),
    ),
)
