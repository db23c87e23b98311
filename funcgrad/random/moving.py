"""Numbers that were drawn without a path to their parameter, and move with it all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import numpy as fnp
from ..transforms.custom import custom_jvp


def moving(slope: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of a parameter and of what was drawn: it returns the latter, with derivative `slope`.

    `slope` is that of the inverse distribution function, so that the probability below stays.
    """

    @custom_jvp
    def at(parameter: Any, drawn: Any) -> Any:
        return drawn + fnp.zeros_like(parameter)

    @at.defjvp
    def move(primals: Any, tangents: Any) -> Any:
        x = at(*primals)
        return x, tangents[0] * slope(primals[0], x)

    return at
