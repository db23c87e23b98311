"""Which equation makes a number that is not finite: a program at a point, forward and backward.

Layer 5. The function is recorded as equations with their source lines. Forward, every value is kept;
backward, the cotangents are found one equation at a time, so that the first equation that turns
finite numbers into one that is not can be named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Elementwise, ElementwiseConstant
from ..core import Primitive, aval_of, current
from ..jaxpr import Eqn, Jaxpr, Literal
from ..transforms.tape import with_zeros
from ..transforms.trace import trace_to_jaxpr
from ..transforms.transpose import cotangents
from .subject import Subject

CONSTANT = -1  # the place of a value that no argument moves
_SAME = {  # what only rearranges, copies or rounds its first operand
    *(
        "broadcast_to",
        "cast",
        "expand_dims",
        "flip",
        "gather",
        "gather_last",
        "getitem",
        "negative",
    ),
    *("positive", "real", "reshape", "roll", "squeeze", "transpose"),
}

Source = tuple[str, int] | None


class Step(NamedTuple):
    """An equation with its numbers. `places` and `outs` say which value of the program each is."""

    prim: Primitive
    params: dict[str, Any]
    source: Source
    operands: list[Any]
    places: list[int]
    results: list[Any]
    outs: list[int]

    @property
    def name(self) -> str:
        return self.prim.name


class Spot(NamedTuple):
    """A step, and what meets there.

    `operands`: the numbers at the element where it happens, or whole arrays where an element of
    the result depends on many; `cotangent`: the finite one that came in, None on the way forward;
    `result`: what is not finite.
    """

    step: Step
    operands: tuple[Any, ...]
    cotangent: Any
    result: Any


class Run:
    """The program of a function at a point, with every value in it."""

    def __init__(self, s: Subject) -> None:
        xs = s.xs
        self.steps: list[Step] = []
        self.made: dict[int, tuple[Step, int]] = {}
        self.users: dict[int, list[Step]] = {}
        self._count = len(xs)
        self.moving = {i for i, x in enumerate(xs)}
        program = trace_to_jaxpr(s, [aval_of(x) for x in xs], values=xs, lasting=True)
        inputs = [(i, x) for i, x in enumerate(xs)]
        self.outs = self._play(program, inputs, None)

    def _play(self, program: Jaxpr, inputs: Sequence[tuple[int, Any]], source: Source) -> Any:
        """Run the equations; what a checkpoint hides is laid open. Places and values of the results."""
        env: dict[Any, tuple[int, Any]] = dict(zip(program.in_vars, inputs, strict=True))
        for var, value in zip(program.const_vars, program.consts, strict=True):
            env[var] = (CONSTANT, value)

        def known(atom: Any) -> tuple[int, Any]:
            return (CONSTANT, atom.value) if isinstance(atom, Literal) else env[atom]

        for eqn in program.eqns:
            operands = [known(a) for a in eqn.inputs]
            line = eqn.source or source
            if eqn.prim.name == "checkpoint_call":
                found = self._play(eqn.params["jaxpr"], operands, line)
            else:
                found = self._step(eqn, operands, line)
            env.update(zip(eqn.outs, found, strict=True))
        return [known(a) for a in program.outs]

    def _step(self, eqn: Eqn, inputs: list[tuple[int, Any]], source: Source) -> Any:
        prim, values = eqn.prim, [x for _, x in inputs]
        ans = current.get().process(prim, values, eqn.params)
        results = list(ans) if prim.multiple else [ans]
        places = [place for place, _ in inputs]
        outs = [self._count + k for k in range(len(results))]
        self._count += len(results)
        step = Step(prim, eqn.params, source, values, places, results, outs)
        self.steps.append(step)
        for k, (out, result) in enumerate(zip(outs, results, strict=True)):
            self.made[out] = (step, k)
            if self._differentiable(step) and aval_of(result).dtype.kind in "fc":
                self.moving.add(out)
        for place in set(places) - {CONSTANT}:
            self.users.setdefault(place, []).append(step)
        return list(zip(outs, results, strict=True))

    def _differentiable(self, step: Step) -> bool:
        return step.prim.differentiable and any(p in self.moving for p in step.places)

    # ------------------------------------------------------------ backward

    def backward(self) -> Iterator[tuple[Step, list[Any], list[Any]]]:
        """Every step in reverse: it, the cotangents of its results, and those of its operands."""
        cts: dict[int, Any] = {}
        for place, value in self.outs:
            if place in self.moving:
                one = np.ones_like(value)
                cts[place] = cts[place] + one if place in cts else one
        for step in reversed(self.steps):
            given = [cts.pop(out, None) for out in step.outs]
            if all(ct is None for ct in given) or not self._differentiable(step):
                continue
            found = self._pulled(step, given)
            for place, ct in zip(step.places, found, strict=True):
                if place in self.moving and ct is not None:
                    cts[place] = ct if place not in cts else cts[place] + ct
            yield step, given, found

    def _pulled(self, step: Step, given: list[Any]) -> list[Any]:
        prim, params = step.prim, step.params
        wanted = [place in self.moving for place in step.places]
        if prim.forward is None:
            ct, ans = (given, tuple(step.results)) if prim.multiple else (given[0], step.results[0])
            return cotangents(prim, ct, ans, step.operands, wanted, params)
        _, residual = prim.forward(step.operands, wanted, params)
        cts = with_zeros(prim, given, [aval_of(y) for y in step.results])
        return list(prim.backward(residual, cts, wanted, params))

    # ------------------------------------------------------------ what made it

    def of_gradient(self) -> tuple[Spot, Spot | None] | None:
        """Where the gradient stops being finite, and, if that is due to a value, where that arises.

        The first in reverse order that makes a cotangent which is not finite out of finite ones. If
        its operands are not finite either, they are what to look at: the second is where they meet
        the cotangent, and the first is the equation that made them.
        """
        for step, given, found in self.backward():
            if not all(is_finite(ct) for ct in given if ct is not None):
                return None  # two finite cotangents had an infinite sum
            for i, g in enumerate(found):
                if g is not None and not is_finite(g):
                    spot, at = self._pulled_spot(step, given, i, g)
                    arises = self._arises(step, i, at)
                    return (spot, None) if arises is None else (arises, spot)
        return None

    def _pulled_spot(self, step: Step, given: list[Any], i: int, g: Any) -> tuple[Spot, Any]:
        where = _first_bad(g)
        if not _is_elementwise(step):
            ct = given[0] if len(given) == 1 else tuple(given)
            return Spot(step, tuple(step.operands), ct, g[where] if where else g), None
        shape = np.shape(step.results[0])
        for at in _places_of(where, np.shape(g), shape):
            operands = [_at(x, at) for x in step.operands]
            ct = _at(given[0], at)
            small = step._replace(operands=operands, results=[_at(step.results[0], at)])
            alone = self._pulled(small, [ct])[i]
            if alone is not None and not is_finite(alone):
                return Spot(step, tuple(operands), ct, alone), at
        at = next(_places_of(where, np.shape(g), shape))
        operands = [_at(x, at) for x in step.operands]
        return Spot(step, tuple(operands), _at(given[0], at), g[where] if where else g), at

    def _arises(self, step: Step, i: int, at: Any) -> Spot | None:
        """What made an operand of `step` that is not finite, if one is; also its result overflowed."""
        for k in sorted(range(len(step.operands)), key=lambda k: k == i):
            x = step.operands[k]
            if at is not None:
                x = _at(x, at)
            if not is_finite(x) and step.places[k] in self.made:
                inner = None if at is None else _down(at, np.shape(step.operands[k]))
                return self._origin(step.places[k], inner)
        return None

    def of_value(self) -> Spot | None:
        """The equation that made a result not finite out of finite operands."""
        for place, value in self.outs:
            if not is_finite(value) and place in self.made:
                return self._origin(place, None)
        return None

    def _origin(self, place: int, at: Any) -> Spot:
        """Back along values that are not finite, to the equation that made the first."""
        while True:
            step, k = self.made[place]
            result = step.results[k]
            if at is None:
                at = _first_bad(result)
            operands = tuple(step.operands)
            inner: list[Any] = [None] * len(operands)
            if _is_elementwise(step):
                inner = [_down(at, np.shape(x)) for x in operands]
                operands = tuple(_at(x, at) for x in operands)
            bad = [i for i, x in enumerate(operands) if not is_finite(x)]
            if step.name == "where":
                bad = [i for i in bad if i == (1 if operands[0] else 2)]
            bad = [i for i in bad if step.places[i] in self.made]
            if not bad:
                return Spot(step, operands, None, result[at] if at else result)
            place, at = step.places[bad[0]], inner[bad[0]]

    # ------------------------------------------------------------ the neighbourhood

    def maker(self, step: Step | None, i: int = 0) -> Step | None:
        """What made the `i`-th operand, seen through what only rearranges or negates."""
        while step is not None and i < len(step.places):
            found = self.made.get(step.places[i])
            if found is None:
                return None
            step, i = found[0], 0
            if step.name not in _SAME:
                return step
        return None

    def root(self, step: Step, i: int) -> int:
        """The place that the `i`-th operand rearranges."""
        place = step.places[i]
        while place in self.made and self.made[place][0].name in _SAME:
            place = self.made[place][0].places[0]
        return place

    def uses(self, step: Step) -> list[Step]:
        """What reads the results, seen through what only rearranges."""
        found: list[Step] = []
        for out in step.outs:
            for user in self.users.get(out, ()):
                found += self.uses(user) if user.name in _SAME else [user]
        return found

    def all_uses(self, step: Step) -> set[str]:
        """The names of all primitives that the results flow into."""
        names: set[str] = set()
        todo, seen = list(step.outs), set(step.outs)
        while todo:
            for user in self.users.get(todo.pop(), ()):
                names.add(user.name)
                fresh = [out for out in user.outs if out not in seen]
                seen.update(fresh)
                todo += fresh
        return names

    def magnitudes(self) -> tuple[float, float]:
        """The decimal logarithms of the largest finite value and cotangent."""
        values = [y for step in self.steps for y in step.results if aval_of(y).dtype.kind in "fc"]
        cts = [g for _, _, found in self.backward() for g in found if g is not None]
        return _log10(values), _log10(cts)


def is_finite(x: Any) -> bool:
    return aval_of(x).dtype.kind not in "fc" or bool(np.all(np.isfinite(x)))


def _is_elementwise(step: Step) -> bool:
    return isinstance(step.prim, Elementwise | ElementwiseConstant) and len(step.results) == 1


def _first_bad(x: Any) -> tuple[int, ...]:
    bad = ~np.isfinite(x)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), np.shape(x)))


def _down(at: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The element of an operand of this shape that is broadcast to the element `at`."""
    tail = at[len(at) - len(shape) :] if shape else ()
    return tuple(0 if n == 1 else i for i, n in zip(tail, shape, strict=True))


def _at(x: Any, at: tuple[int, ...]) -> Any:
    return np.asarray(x)[_down(at, np.shape(x))]


def _places_of(
    where: tuple[int, ...], shape: tuple[int, ...], full: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """The elements of an array of shape `full` that the element `where` is broadcast to."""
    padded = (1,) * (len(full) - len(shape)) + shape
    fixed = (0,) * (len(full) - len(shape)) + where
    free = [n if m == 1 and n != 1 else 1 for n, m in zip(full, padded, strict=True)]
    for offset in np.ndindex(*free):
        yield tuple(i + j for i, j in zip(fixed, offset, strict=True))


def _log10(arrays: Sequence[Any]) -> float:
    with np.errstate(all="ignore"):
        sizes = [float(np.max(np.abs(a), where=np.isfinite(a), initial=0)) for a in arrays]
        top = max(sizes, default=0.0)
    return float(np.clip(np.log10(top), -400, 400)) if 0 < top < np.inf else 0.0


def literal(step: Step, i: int, value: float) -> bool:
    """Whether the `i`-th operand is this number."""
    x = step.operands[i]
    return bool(np.all(np.asarray(x) == value)) and step.places[i] == CONSTANT
