"""A circuit of qubits: what is measured at its end, and the gradient by its angles. Complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Function, Workload, gradient

QUBITS, LAYERS = 6, 3


def measured(xp: Any) -> Function:
    """The mean energy after layers of turns of each qubit and phases by all of them.

    A state is an axis of two for each qubit; `phases` and `energy` belong to its elements.
    """

    def turned(state: Any, angle: Any, qubit: int) -> Any:
        c, s = xp.cos(angle / 2) + 0j, -1j * xp.sin(angle / 2)
        gate = xp.stack([xp.stack([c, s]), xp.stack([s, c])])
        return xp.moveaxis(xp.tensordot(gate, state, ([1], [qubit])), 0, qubit)

    def f(angles: Any, state: Any, phases: Any, energy: Any) -> Any:
        for layer in range(LAYERS):
            for qubit in range(QUBITS):
                state = turned(state, angles[layer, qubit], qubit)
            state = state * xp.exp(1j * angles[layer, QUBITS] * phases)
        return xp.sum(xp.abs(state) ** 2 * energy)

    return f


def circuit() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    state = np.zeros((2,) * QUBITS, complex)
    state[(0,) * QUBITS] = 1.0
    angles = rng.normal(size=(LAYERS, QUBITS + 1))
    return angles, state, rng.normal(size=state.shape), rng.normal(size=state.shape)


WORKLOADS = (Workload("circuit of 6 qubits, 18 turns", circuit, **gradient(measured)),)
