"""Minima under constraints, by the conditions of Karush, Kuhn and Tucker.

NOTE [Active] At a minimum ``grad f = sum_i m_i grad c_i`` over the constraints that hold with equality:
`m` are their multipliers. These equations and the constraints determine the minimum, so the implicit
function theorem gives its derivatives. A bound is a constraint of one element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...errors import ArgumentError, ShapeError, where
from ...transforms.derivatives import grad, jacrev
from ...transforms.vjp import vjp
from .implicit import extras, require_constants, scipy

Function = Callable[..., Any]

_NEAR = 1e-4  # how far from its bound a constraint may end that holds with equality
_WEAK = 1e-6  # multipliers below that, beside gradients, count as 0


@dataclass(frozen=True)
class Constraint:
    """``low <= fun(x) <= high``; `given` is what the user wrote, `jac` a function or None."""

    fun: Function
    jac: Function | None
    low: Any
    high: Any
    given: Any

    def for_scipy(self, fun: Function, jac: Any) -> Any:
        """The same in SciPy's words, of these functions."""
        if isinstance(self.given, dict):
            found = {"type": self.given["type"], "fun": fun}
            return found if jac is None else {**found, "jac": jac}
        if hasattr(self.given, "A"):
            return self.given
        more = {"hess": self.given.hess, "keep_feasible": self.given.keep_feasible}
        new = scipy("minimize").NonlinearConstraint
        return new(fun, self.low, self.high, self.given.jac if jac is None else jac, **more)


def constraints_of(name: str, given: Any) -> list[Constraint]:
    """SciPy's constraints, of which any may be given alone."""
    if isinstance(given, dict) or hasattr(given, "lb"):
        given = (given,)
    return [_constraint(name, c) for c in given]


def _constraint(name: str, given: Any) -> Constraint:
    if isinstance(given, dict):
        kind = str(given.get("type", "")).lower()
        if kind not in ("eq", "ineq") or not callable(given.get("fun")):
            raise ArgumentError(
                f"{name}: a constraint has the type {given.get('type')!r} and the fun "
                f"{given.get('fun')!r}; need 'eq' or 'ineq', and a function{where()}"
            )
        further, jac = extras(given.get("args", ())), given.get("jac")
        own = partial(_with, jac, further) if callable(jac) else None
        high = 0.0 if kind == "eq" else np.inf
        return Constraint(_vector(lambda x: given["fun"](x, *further)), own, 0.0, high, given)
    if not hasattr(given, "lb"):
        raise ArgumentError(
            f"{name}: a constraint is {type(given).__name__}; need a dict, LinearConstraint or "
            f"NonlinearConstraint{where()}"
        )
    require_constants(name, constraints=given)
    if hasattr(given, "A"):
        A = given.A.toarray() if hasattr(given.A, "toarray") else fnp.asarray(given.A)
        return Constraint(lambda x: A @ x, lambda x: A, given.lb, given.ub, given)
    jac = given.jac if callable(given.jac) else None
    return Constraint(_vector(given.fun), jac, given.lb, given.ub, given)


def _with(jac: Function, further: tuple[Any, ...], x: Any) -> Any:
    return jac(x, *further)


def _vector(fun: Function) -> Function:
    return lambda x: fnp.atleast_1d(fun(x))


def with_slopes(constraints: Sequence[Constraint], *, exact: bool) -> list[Any]:
    """The constraints for SciPy; with funcgrad's derivatives, if they are to be `exact`."""
    return [
        c.for_scipy(c.fun, jacrev(c.fun) if exact and c.jac is None else c.jac) for c in constraints
    ]


class Conditions:
    """The conditions of a minimum as equations for x and the multipliers.

    `values`: programs of ``(*held, x)``, of the function and of the constraints.
    """

    def __init__(
        self, value: Function, values: Sequence[Function], low: Any, high: Any, bounds: Any, n: int
    ) -> None:
        self.value, self.values, self.n = value, values, n
        below, above = (np.broadcast_to(np.asarray(b, float), (n,)) for b in bounds)
        self.low, self.high = np.concatenate([low, below]), np.concatenate([high, above])

    def all(self, held: Sequence[Any], x: Any) -> Any:
        """What is constrained: the constraints' values and `x` itself."""
        return fnp.concatenate([*(c(*held, x) for c in self.values), x])

    def active(self, held: Sequence[Any], x0: Any, x: Any) -> tuple[Any, Any, Any]:
        """On the host, which constraints hold with equality, their bounds, and the multipliers."""
        slope, start = (grad(lambda v: self.value(*held, v))(p) for p in (x, x0))
        values = self.all(held, x)
        rows = jacrev(lambda v: self.all(held, v))(x)
        equal = self.low == self.high
        at_low, at_high = (
            np.isfinite(b) & (np.abs(values - np.where(np.isfinite(b), b, 0.0)) <= _NEAR * (1 + abs(b)))
            for b in (self.low, self.high)
        )  # fmt: skip
        up, down = equal | at_low, equal | at_high
        columns = np.concatenate([rows[up], -rows[down]]).T
        m = np.zeros(len(values))
        if columns.shape[1] and np.isfinite(columns).all() and np.isfinite(slope).all():
            found = scipy("minimize").nnls(columns, slope)[0]
            m[up] += found[: up.sum()]
            m[down] -= found[up.sum() :]
        force = np.abs(m) * np.linalg.norm(rows, axis=1)
        strong = force > _WEAK * max(np.linalg.norm(slope), np.linalg.norm(start))
        active = equal | strong
        bound = np.where(equal | (m > 0), self.low, self.high)
        return active, np.where(active, bound, 0.0), np.where(active, m, 0.0)

    def residual(self, active: Any, bound: Any, *held_and_z: Any) -> Any:
        """0 at a minimum, for z the x and the multipliers."""
        *held, z = held_and_z
        x, m = z[: self.n], z[self.n :]
        values, back = vjp(lambda v: self.all(held, v), x)
        slope = grad(lambda v: self.value(*held, v))(x)
        return fnp.concatenate([slope - back(m)[0], fnp.where(active, values - bound, m)])


def limits_of(name: str, constraints: Sequence[Constraint], avals: Sequence[Any]) -> Any:
    """The bounds of all constraints, whose values are of the types `avals`."""
    low: list[Any] = []
    high: list[Any] = []
    for c, aval in zip(constraints, avals, strict=True):
        if len(aval.shape) != 1:
            raise ShapeError(f"{name}: a constraint gives {aval}; need a number or a row{where()}")
        for found, b in ((low, c.low), (high, c.high)):
            found.append(np.broadcast_to(np.asarray(b, float), aval.shape))
    return np.concatenate(low), np.concatenate(high)
