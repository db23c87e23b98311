"""Random numbers that are proposed until they are accepted, as loops in C.

Layer 4½. In NumPy a round is made for all numbers that wait, some hundred calls. As C each row has a
loop of its own, which ends when its numbers are accepted; the algorithm is the same one, see
NOTE [Rounds] in ops/random_rejection.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import Aval
from ..jaxpr import Jaxpr
from ..ops import random_rejection as rejection
from ..transforms.bodies import derived
from ..transforms.loops import scan
from ..transforms.until import while_loop
from .simplify import simplify
from .steps import Constant, Step

ALGORITHMS: dict[str, Callable[..., Any]] = {
    "random_binomial": rejection.binomial_numbers,
    "random_log_gamma": rejection.log_gamma_numbers,
    "random_poisson": rejection.poisson_numbers,
}


def is_accepted(step: Step) -> bool:
    """Whether a call is one of these."""
    return getattr(step.function, "name", "") in ALGORITHMS


class Recorded(rejection.Arrays):
    """Traced arrays: what is called is recorded, each row's rounds as a `while_loop`."""

    def call(self, prim: Any, *xs: Any, **params: Any) -> Any:
        return prim(*xs, **params)

    def loop(self, waits: Any, step: Any, state: Sequence[Any], given: Sequence[Any]) -> Any:
        if len(state[0]) == 1:
            return while_loop(
                lambda state: waits(*state, *given)[0],
                lambda state: step(*state, *given),
                tuple(state),
            )

        def row(_: None, xs: Any) -> Any:
            now, beside = ([x[None] for x in part] for part in xs)
            return None, tuple(x[0] for x in self.loop(waits, step, now, beside))

        return scan(row, None, (tuple(state), tuple(given)))[1]


def program_of(step: Step) -> tuple[Jaxpr, list[Any]]:
    """The program of a call of one of these primitives, and its operands."""
    algorithm = ALGORITHMS[step.function.name]

    def drawn(*xs: Any) -> list[Any]:
        return [algorithm(Recorded(np), *xs, **step.options)]

    jaxpr = simplify(derived(drawn, [Aval(v.shape, v.dtype) for v in step.operands]))
    return jaxpr, [*map(Constant, jaxpr.consts), *step.operands]
