"""Optimizers as triples of functions of a step's number: ``jax.example_libraries.optimizers``.

`funcgrad.optim` has more of them, compiled; these are for code that calls JAX's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import numpy as fnp
from ... import tree
from ...errors import ArgumentError, where

__all__ = [
    "Optimizer",
    "OptimizerState",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
]

Schedule = Callable[[Any], Any]
Triple = tuple[Callable[[Any], Any], Callable[[Any, Any, Any], Any], Callable[[Any], Any]]


@tree.register_node_class
class OptimizerState:
    """The states of the leaves of a tree of parameters."""

    def __init__(self, states: Sequence[Any], treedef: Any) -> None:
        self.states = list(states)
        self.treedef = treedef

    def tree_flatten(self) -> tuple[list[Any], Any]:
        """The states, and the tree of the parameters."""
        return self.states, self.treedef

    @classmethod
    def tree_unflatten(cls, treedef: Any, states: Sequence[Any]) -> OptimizerState:
        """A state of what `tree_flatten` gives."""
        return cls(states, treedef)


class Optimizer(NamedTuple):
    """``init_fn(params)``, ``update_fn(step, gradient, state)`` and ``params_fn(state)``."""

    init_fn: Callable[[Any], OptimizerState]
    update_fn: Callable[[Any, Any, OptimizerState], OptimizerState]
    params_fn: Callable[[OptimizerState], Any]


def optimizer(maker: Callable[..., Triple]) -> Callable[..., Optimizer]:
    """An optimizer of trees from a function that makes one of arrays.

    Raises: ArgumentError: a gradient has another tree than the parameters.
    Source: JAX, ``jax.example_libraries.optimizers.optimizer``.

    >>> init, update, params = sgd(0.1)
    >>> params(update(0, {"w": np.ones(2)}, init({"w": np.zeros(2)})))
    {'w': array([-0.1, -0.1])}
    """

    @functools.wraps(maker)
    def made(*args: Any, **kwargs: Any) -> Optimizer:
        begin, move, value = maker(*args, **kwargs)

        def init(params: Any) -> OptimizerState:
            leaves, treedef = tree.flatten(params)
            return OptimizerState([begin(fnp.asarray(x)) for x in leaves], treedef)

        def update(step: Any, gradient: Any, state: OptimizerState) -> OptimizerState:
            leaves, treedef = tree.flatten(gradient)
            if treedef != state.treedef:
                raise ArgumentError(
                    f"{maker.__name__}: the gradient's tree is {treedef}, the parameters' "
                    f"{state.treedef}{where()}"
                )
            moved = [move(step, g, s) for g, s in zip(leaves, state.states, strict=True)]
            return OptimizerState(moved, treedef)

        def params(state: OptimizerState) -> Any:
            return tree.unflatten(state.treedef, [value(s) for s in state.states])

        return Optimizer(init, update, params)

    return made


def _first(state: Any) -> Any:
    return state[0]


def _with_zeros(count: int) -> Callable[[Any], Any]:
    return lambda x: (x, *(fnp.zeros_like(x) for _ in range(count)))


@optimizer
def sgd(step_size: Any) -> Triple:
    """Steps against the gradient.

    Source: Robbins & Monro, "A stochastic approximation method", 1951.
    """
    rate = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - rate(i) * g, lambda x: x


@optimizer
def momentum(step_size: Any, mass: float) -> Triple:
    """Steps along a velocity, which the gradient changes.

    Source: Polyak, "Some methods of speeding up the convergence of iteration methods", 1964.

    >>> init, update, params = momentum(0.1, mass=0.5)
    >>> float(params(update(1, 1.0, update(0, 1.0, init(0.0))))).__round__(6)
    -0.25
    """
    rate = make_schedule(step_size)

    def move(i: Any, g: Any, state: Any) -> Any:
        x, v = state
        v = mass * v + g
        return x - rate(i) * v, v

    return _with_zeros(1), move, _first


@optimizer
def nesterov(step_size: Any, mass: float) -> Triple:
    """`momentum` with the velocity after the next step.

    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning", 2013.
    """
    rate = make_schedule(step_size)

    def move(i: Any, g: Any, state: Any) -> Any:
        x, v = state
        v = mass * v + g
        return x - rate(i) * (mass * v + g), v

    return _with_zeros(1), move, _first


def _inverse_root(x: Any) -> Any:
    """``x**-0.5``, 0 where x is 0."""
    return fnp.where(x > 0, 1.0 / fnp.sqrt(fnp.where(x > 0, x, 1.0)), 0.0)


@optimizer
def adagrad(step_size: Any, momentum: float = 0.9) -> Triple:
    """Steps by gradients over the root of the sum of their squares so far.

    Source: Duchi, Hazan & Singer, "Adaptive subgradient methods", JMLR 12 (2011).
    """
    rate = make_schedule(step_size)

    def move(i: Any, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares + fnp.square(g)
        m = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * m
        return x - rate(i) * m, squares, m

    return _with_zeros(2), move, _first


@optimizer
def rmsprop(step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> Triple:
    """Steps by gradients over the root of a moving average of their squares.

    Source: Tieleman & Hinton, "Lecture 6.5 - RMSProp", 2012.
    """
    rate = make_schedule(step_size)

    def move(i: Any, g: Any, state: Any) -> Any:
        x, average = state
        average = gamma * average + (1.0 - gamma) * fnp.square(g)
        return x - rate(i) * g / fnp.sqrt(average + eps), average

    return _with_zeros(1), move, _first


@optimizer
def rmsprop_momentum(
    step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> Triple:
    """`rmsprop` with a velocity.

    Source: Tieleman & Hinton, "Lecture 6.5 - RMSProp", 2012.
    """
    rate = make_schedule(step_size)

    def move(i: Any, g: Any, state: Any) -> Any:
        x, average, v = state
        average = gamma * average + (1.0 - gamma) * fnp.square(g)
        v = momentum * v + rate(i) * g / fnp.sqrt(average + eps)
        return x - v, average, v

    return _with_zeros(2), move, _first


@optimizer
def adam(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Triple:
    """Steps by a moving average of gradients over the root of one of their squares.

    Source: Kingma & Ba, "Adam: a method for stochastic optimization", 2015.

    >>> init, update, params = adam(0.1)
    >>> params(update(0, np.array([3.0, -0.5]), init(np.zeros(2)))).round(6).tolist()
    [-0.1, 0.1]
    """
    rate = make_schedule(step_size)

    def move(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1.0 - b1) * g + b1 * m
        v = (1.0 - b2) * fnp.square(g) + b2 * v
        mean, square = m / (1.0 - b1 ** (i + 1)), v / (1.0 - b2 ** (i + 1))
        return x - rate(i) * mean / (fnp.sqrt(square) + eps), m, v

    return _with_zeros(2), move, _first


@optimizer
def adamax(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Triple:
    """`adam` with the largest gradient of late in place of the root.

    Source: Kingma & Ba, "Adam: a method for stochastic optimization", 2015.
    """
    rate = make_schedule(step_size)

    def move(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1.0 - b1) * g + b1 * m
        v = fnp.maximum(b2 * v, fnp.absolute(g))
        return x - (rate(i) / (1.0 - b1 ** (i + 1))) * m / (v + eps), m, v

    return _with_zeros(2), move, _first


@optimizer
def sm3(step_size: Any, momentum: float = 0.9) -> Triple:
    """`adagrad` with sums of squares for rows, columns, ... in place of elements.

    Source: Anil et al., "Memory-efficient adaptive optimization", 2019.

    >>> init, update, params = sm3(0.1, momentum=0.0)
    >>> params(update(0, np.array([[2.0, 1.0]]), init(np.zeros((1, 2))))).round(6).tolist()
    [[-0.1, -0.1]]
    """
    rate = make_schedule(step_size)

    def begin(x: Any) -> Any:
        rows = fnp.atleast_1d(x)
        return x, fnp.zeros_like(x), [fnp.zeros(n, x.dtype) for n in rows.shape]

    def move(i: Any, g: Any, state: Any) -> Any:
        x, m, sums = state
        rows = fnp.atleast_1d(g)
        axes = range(rows.ndim)
        least = functools.reduce(
            fnp.minimum,
            [fnp.expand_dims(s, [a for a in axes if a != axis]) for axis, s in enumerate(sums)],
        )
        squares = least + fnp.square(rows)
        scaled = fnp.reshape(rows * _inverse_root(squares), g.shape)
        m = (1.0 - momentum) * scaled + momentum * m
        sums = [fnp.max(squares, axis=tuple(a for a in axes if a != axis)) for axis in axes]
        return x - rate(i) * m, m, sums

    return begin, move, _first


# ---- step sizes by the number of the step


def constant(step_size: Any) -> Schedule:
    """The same at every step."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """Times `decay_rate` in every `decay_steps`.

    >>> exponential_decay(1.0, 10, 0.5)(20)
    0.25
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """``step_size / (1 + decay_rate i / decay_steps)``; with `staircase` in whole `decay_steps`.

    >>> inverse_time_decay(1.0, 10, 1.0)(5).__round__(3)
    0.667
    """
    if staircase:
        return lambda i: step_size / (1 + decay_rate * fnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(
    step_size: Any, decay_steps: Any, final_step_size: Any, power: float = 1.0
) -> Schedule:
    """From `step_size` to `final_step_size`, which it is from `decay_steps` on.

    >>> float(polynomial_decay(1.0, 10, 0.5)(5))
    0.75
    """

    def schedule(i: Any) -> Any:
        left = (1 - fnp.minimum(i, decay_steps) / decay_steps) ** power
        return left * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """``values[k]``, where k of the boundaries are below the step's number.

    Raises: ArgumentError: there is not one value more than boundaries.

    >>> [float(piecewise_constant([2], [1.0, 0.1])(i)) for i in (2, 3)]
    [1.0, 0.1]
    """
    at, sizes = np.asarray(boundaries), fnp.asarray(values)
    if at.ndim != 1 or sizes.shape != (len(at) + 1,):
        raise ArgumentError(
            f"piecewise_constant: {at.shape} boundaries take one value more, found shape "
            f"{sizes.shape}{where()}"
        )
    return lambda i: fnp.take(sizes, fnp.sum(i > at), axis=0)


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A schedule itself; of a number, the one that is constant.

    Raises: TypeError: it is neither.
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if np.ndim(scalar_or_schedule):
        raise TypeError(f"need a number or a function of the step, found {scalar_or_schedule!r}")
    return constant(scalar_or_schedule)


# ---- trees of gradients


def l2_norm(grads: Any) -> Any:
    """The length of all leaves as one vector.

    >>> float(l2_norm({"a": np.array([3.0]), "b": 4.0}))
    5.0
    """
    return fnp.sqrt(sum(fnp.vdot(x, x) for x in tree.leaves(grads)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """The tree, scaled down to a length of at most `max_norm`.

    >>> clip_grads([np.array([3.0, 4.0])], 1.0)[0].round(6).tolist()
    [0.6, 0.8]
    """
    norm = l2_norm(grad_tree)
    return tree.map(lambda g: fnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)
