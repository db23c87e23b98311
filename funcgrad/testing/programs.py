"""Random programs: well-typed jaxprs that are composed from the registry's primitives.

Layer 5; needs Hypothesis. A recipe is drawn with values at hand: a primitive is offered if some
value fits it, and what it needs beyond that (a domain, a distance from its kink, an invertible matrix)
is met by primitives put in front of it. So nothing is filtered, all values stay bounded, and few
programs are near a kink.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core import REGISTRY
from ..jaxpr import Jaxpr
from ..transforms.trace import make_jaxpr
from . import strategies as fs
from .forms import FORMS
from .recipes import NOISE, Recipe, Step, is_bounded, run, size
from .strategies import st


class Program:
    """A function of arrays made of primitives, and a point.

    `args`: the point. `steps`: the recipe, which a call runs. `jaxpr`: what is recorded of that.
    Values and steps that no result depends on are left out.
    """

    def __init__(self, steps: Sequence[Step], args: Sequence[Any], outs: Sequence[int]) -> None:
        self.steps = _needed(steps, outs)
        read = {*outs, *(a for step in self.steps for a in step.operands if a.__class__ is int)}
        self.inputs = [k for k in range(len(args)) if k in read]
        self.args = tuple(args[k] for k in self.inputs)
        self.outs = tuple(outs)
        self.jaxpr: Jaxpr = make_jaxpr(self)(*self.args)

    __name__ = "program"

    def __call__(self, *xs: Any) -> Any:
        values: dict[int, Any] = dict(zip(self.inputs, xs, strict=True))
        for step in self.steps:
            run(step, values)
        outs = tuple(values[k] for k in self.outs)
        return outs if len(outs) > 1 else outs[0]

    def __repr__(self) -> str:
        return f"Program of {self.jaxpr}\nat {self.args}"


def _needed(steps: Sequence[Step], outs: Sequence[int]) -> list[Step]:
    """The steps that the results depend on."""
    needed, found = set(outs), []
    for step in reversed(steps):
        count = 2 if REGISTRY[step.primitive].multiple else 1  # there are none of three or more
        if not needed.isdisjoint(range(step.place, step.place + count)):
            found.append(step)
            needed.update(a for a in step.operands if a.__class__ is int)
    return found[::-1]


def _grow(r: Recipe, name: str, x: int) -> None:
    """Apply a primitive to the value at `x`, unless the results would be too large, or vanish."""
    before, steps = dict(r.values), list(r.steps)
    FORMS[name].apply(r, name, x)
    new = [k for k in r.places() if k not in before]
    if all(is_bounded(r[k]) and (size(r[k]) > NOISE or size(r[x]) <= NOISE) for k in new):
        for k in new:
            r.tame(k)
    else:
        r.values, r.steps = before, steps


def _ordered(names: Iterable[str]) -> list[str]:
    """So that a simpler operand leaves most primitives in their places when an example shrinks."""
    return sorted(names, key=lambda name: (FORMS[name].kinds, FORMS[name].least))


def _operand(draw: Any, k: int, dtypes: Sequence[Any]) -> Any:
    """An array of random elements, chosen by one number: so the choices that follow stay in step
    when the shape shrinks. 0 is for all ones; a small number, for simple elements."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = draw(fs.shapes(side=(1, 3)))
    variety = draw(st.integers(0, 199))
    simplest = fs.by_simplicity(fs.domain_for(dtype))[: variety + 1]
    return np.random.default_rng((variety, k)).choice(simplest, shape).astype(dtype)


@st.composite
def programs(
    draw: Any,
    *,
    most: int = 8,
    dtypes: Sequence[Any] = (np.float64, np.complex128),
    only: Sequence[str] | None = None,
) -> Program:
    """Random programs of up to about `most` primitives, with one or two floating results, and a point.

    `dtypes`: of the operands, of which there are one to three. `only`: the primitives to draw from;
    others occur in front of them, to bring values into their domains.

    >>> from hypothesis import find
    >>> program = find(programs(only=["cumsum"]), lambda p: len(p.jaxpr.eqns) == 1)
    >>> program.jaxpr
    { lambda ; a:f64[1] . let
        b:f64[1] = cumsum[axis=0 reverse=False] a
      in (b,) }
    >>> program(*program.args)
    array([1.])
    """
    args = [_operand(draw, k, dtypes) for k in range(draw(st.integers(1, 3)))]
    forms = _ordered(FORMS if only is None else only)
    r = Recipe(draw, args)
    for i in range(most + 1):
        go_on = draw(st.integers(0, 15))  # also where nobody asks, so that any step can be left out
        if i == most or (i and not go_on):
            break
        x = r.pick(r.places()) if draw(st.integers(0, 7)) == 7 else r.places()[0]
        fitting = [name for name in forms if FORMS[name].fits(r[x])]
        if fitting:
            with np.errstate(all="ignore"):
                _grow(r, r.pick(fitting), x)
    outs = [r.places()[0]]
    if draw(st.integers(0, 3)) == 3:
        outs.append(r.pick(r.places()))
    return Program(r.steps, args, outs)
