"""Draws that recur, as programs: what takes NumPy a hundred calls is a function in C after a while.

NOTE [The same numbers] A key gives the same numbers before and after. So only what is exact in any code
is drawn so: bits, what is made of them by exact arithmetic, and counts. Logarithms are not: normal
numbers are made by NumPy of uniform ones, and gamma variables stay NumPy's, unless a program of the
user's draws them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..compile.config import code
from ..compile.jit import jit
from ..core import EVAL, Primitive, current
from ..ops.random import normal_of_uniform, random_normal, random_uniform, words_of

LONG = 0.02  # seconds that draws of one kind have taken before they are a program
KINDS = 256  # that are counted, and that have programs
FEW = 1 << 15  # normal numbers; more of them are made block by block
_PLAIN = frozenset({np.ndarray, np.float64, np.float32, float})


class Draw:
    """A primitive that draws numbers. Kinds are told by the types of operands and by parameters.

    >>> from funcgrad.ops.random import random_bits
    >>> Draw(random_bits)(np.zeros(2, np.uint32), shape=(2,), bits=32).tolist()
    [4070199207, 4202968722]
    """

    def __init__(self, prim: Primitive) -> None:
        self.prim = prim
        self.spent: dict[Any, float] = {}
        self.programs: dict[Any, Any] = {}

    def __call__(self, key: Any, *rest: Any, **params: Any) -> Any:
        xs = (words_of(key), *rest)
        plain = current.get() is EVAL and all(x.__class__ in _PLAIN for x in xs)
        if not plain or code() == "numpy":
            return self.prim(*xs, **params)
        kind = (*map(_type, xs), *params.values())
        program = self.programs.get(kind)
        if program is not None:
            return program(*xs)
        start = perf_counter()
        found = self.prim(*xs, **params)
        spent = self.spent.pop(kind, 0.0) + perf_counter() - start
        if spent < LONG:
            _put(self.spent, kind, spent)
        else:
            _put(self.programs, kind, self.program(params))
        return found

    def program(self, params: dict[str, Any]) -> Callable[..., Any]:
        """What draws from now on."""
        drawn = jit(lambda *xs: self.prim(*xs, **params))
        return lambda *xs: np.asarray(drawn(*xs))


class DrawNormal(Draw):
    """`random_normal`, whose uniform numbers are drawn so."""

    def __init__(self) -> None:
        super().__init__(random_normal)

    def program(self, params: dict[str, Any]) -> Callable[..., Any]:
        if math.prod(params["shape"]) > FEW:
            return lambda *xs: self.prim(*xs, **params)
        uniform = jit(lambda key: random_uniform(key, **params))

        def program(key: Any) -> Any:
            found = uniform(key)
            numbers = normal_of_uniform(np, found.reshape(-1)).reshape(found.shape)
            return numbers.astype(params["dtype"], copy=False)

        return program


def _type(x: Any) -> Any:
    return (x.shape, x.dtype) if x.__class__ is np.ndarray else x.__class__


def _put(found: dict[Any, Any], kind: Any, value: Any) -> None:
    """Under a new kind; all others are forgotten where there are too many."""
    if len(found) >= KINDS:
        found.clear()
    found[kind] = value
