"""Wrong rules, to be planted one at a time into copies of primitives: what the kit has to catch.

Every entry makes a copy of a primitive wrong in one way. The registry itself is never changed.
"""

from __future__ import annotations

import copy
import functools
import importlib
import itertools
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import funcgrad
import funcgrad.ops
from funcgrad.core import REGISTRY, Primitive
from funcgrad.ops.cumulative import cumsum
from funcgrad.ops.exponential import exp
from funcgrad.ops.join import roll
from funcgrad.ops.linalg import inv
from funcgrad.ops.select import stop_gradient
from funcgrad.ops.structural import (
    broadcast_to,
    diagonal,
    flip,
    reshape,
    transpose,
    tril,
)
from funcgrad.ops.structural import sum as total
from funcgrad.ops.trigonometric import cos

for _module in pkgutil.iter_modules(funcgrad.ops.__path__):
    importlib.import_module(f"funcgrad.ops.{_module.name}")

X = np.array([0.3, -0.7, 1.2])
P = np.array([0.3, 0.7, 1.2])
M = np.array([[0.9, -0.4, 0.3], [0.2, 1.1, -0.5], [-0.3, 0.4, 1.3]])
SPD = M @ M.T + np.eye(3)
C = np.array([0.3 + 0.5j, -0.7 + 0.2j, 1.2 - 0.4j])


class Planted(NamedTuple):
    """A wrong primitive with operands, and what is wrong with it."""

    what: str
    prim: Primitive
    args: tuple[Any, ...]
    params: dict[str, Any]


PLANTED: list[Planted] = []


def plant(what: str, name: str, *args: Any, params: Any = None, **changes: Any) -> None:
    """A copy of a primitive with attributes changed."""
    prim = copy.copy(REGISTRY[name])
    prim.__dict__.update(changes, _saves={}, _dtypes={})
    PLANTED.append(Planted(f"{name}: {what}", prim, args, params or {}))


def rules(*functions: Any) -> dict[str, Any]:
    return {"rules": functions}


def plant_methods(what: str, name: str, *args: Any, params: Any = None, **methods: Any) -> None:
    """A copy of a primitive whose kind's methods are replaced."""
    cls = type(REGISTRY[name])
    prim = copy.copy(REGISTRY[name])
    prim.__dict__.update(_saves={}, _dtypes={})
    prim.__class__ = type(f"Wrong{cls.__name__}", (cls,), methods)
    PLANTED.append(Planted(f"{name}: {what}", prim, args, params or {}))


def original(name: str, i: int = 0) -> Callable[..., Any]:
    return REGISTRY[name].rules[i]  # type: ignore[attr-defined]


# ---------------------------------------------------------------- coefficients

plant("sign", "sin", X, **rules(lambda _y, x: -cos(x)))
plant("factor 2", "sin", X, **rules(lambda _y, x: 2 * cos(x)))
plant("sign", "cos", X, **rules(lambda _y, x: REGISTRY["sin"](x)))
plant("factor 1/2", "square", X, **rules(lambda _y, x: x))
plant("reads the operand for the result", "exp", X, **rules(lambda _y, x: x))
plant("sign of a term", "tanh", X, **rules(lambda y, _x: 1 + y * y))
plant("power of the operand", "log", P, **rules(lambda _y, x: 1 / (x * x)))
plant("a factor is missing", "sqrt", P, **rules(lambda y, _x: 1 / y))
plant("a square is missing", "arctan", X, **rules(lambda _y, x: 1 / (1 + x)))
plant("sign of a term", "expit", X, **rules(lambda y, _x: y * (1 + y)))
plant("sign", "reciprocal", P, **rules(lambda y, _x: y * y))
plant("a constant factor", "erf", X, **rules(lambda _y, x: exp(-x * x)))
plant("a small relative error", "sinh", X, **rules(lambda _y, x: REGISTRY["cosh"](x) * 1.0001))
plant("missing conjugate", "exp", C, **rules(lambda y, _x: y.conj()))
plant(
    "missing conjugate",
    "multiply",
    C,
    C[::-1].copy(),
    **rules(lambda _z, _x, y: y.conj(), lambda _z, x, _y: x),
)
plant("swapped operands", "multiply", X, P, **rules(lambda _z, x, _y: x, lambda _z, _x, y: y))
plant("sign of the second operand", "subtract", X, P, **rules(1, 1))
plant(
    "sign of the second operand",
    "divide",
    X,
    P,
    **rules(original("divide", 0), lambda _z, x, y: x / (y * y)),
)
plant("a logarithm is missing", "power", P, X, **rules(original("power", 0), lambda z, _x, _y: z))
plant("swapped operands", "arctan2", X, P, **rules(original("arctan2", 1), original("arctan2", 0)))
plant("a square root is missing", "hypot", X, P, **rules(lambda _z, x, _y: x, original("hypot", 1)))
plant(
    "the wrong operand wins",
    "maximum",
    X,
    P,
    **rules(original("maximum", 1), original("maximum", 0)),
)
plant(
    "swapped operands",
    "logaddexp",
    X,
    P,
    **rules(original("logaddexp", 1), original("logaddexp", 0)),
)
plant("a term of the second order", "log1p", P, **rules(lambda _y, x: 1 / (1 + x + 0.01 * x)))

# ---------------------------------------------------------------- linear maps

plant(
    "branches swapped",
    "where",
    np.array([True, False, True]),
    X,
    P,
    **rules(None, original("where", 2), original("where", 1)),
)
plant(
    "permutation not inverted",
    "transpose",
    np.arange(27.0).reshape(3, 3, 3),
    params={"axes": (1, 2, 0)},
    **rules(lambda ct, _x, *, axes: transpose(ct, axes=axes)),
)
plant(
    "order of the elements",
    "reshape",
    np.ones((2, 3)),
    params={"shape": (6,)},
    **rules(lambda ct, _x, *, shape: reshape(flip(ct, axis=(0,)), shape=_x.shape)),
)
plant(
    "wrong axis",
    "sum",
    M,
    params={"axis": (0,)},
    **rules(lambda ct, _x, *, axis: broadcast_to(ct.reshape((3, 1)), shape=_x.shape)),
)
plant(
    "a mean in place of a sum",
    "broadcast_to",
    X,
    params={"shape": (4, 3)},
    **rules(lambda ct, _x, *, shape: total(ct, axis=(0,)) / 4),
)
plant("not turned back", "flip", X, params={"axis": (0,)}, **rules(lambda ct, _x, *, axis: ct))
plant(
    "same direction",
    "roll",
    X,
    params={"shift": (1,), "axis": (0,)},
    **rules(lambda ct, _x, *, shift, axis: roll(ct, shift=shift, axis=axis)),
)
plant(
    "not reversed",
    "cumsum",
    X,
    params={"axis": 0, "reverse": False},
    **rules(lambda ct, _x, *, axis, reverse: cumsum(ct, axis=axis, reverse=reverse)),
)
plant(
    "the parts in another order",
    "concatenate",
    X,
    P,
    params={"axis": 0},
    variadic=lambda ct, *_xs, axis: [ct[3:], ct[:3]],
)
plant(
    "the length is forgotten",
    "mean",
    M,
    params={"axis": (0, 1)},
    **rules(lambda ct, _x, *, axis: broadcast_to(ct, shape=_x.shape)),
)
plant(
    "the other triangle",
    "tril",
    M,
    params={"k": 0},
    **rules(lambda ct, _x, *, k: transpose(tril(ct, k=k), axes=(1, 0))),
)
plant(
    "the other direction",
    "fft",
    C,
    params={"axis": (0,), "inverse": False, "norm": "backward"},
    **rules(
        lambda ct, _x, *, axis, inverse, norm: REGISTRY["fft"](
            ct, axis=axis, inverse=True, norm="forward"
        )
    ),
)
plant("missing conjugate", "conjugate", C, **rules(lambda ct, _z: ct))
plant(
    "missing transpose", "matmul", M, SPD, **rules(lambda ct, _x, y: ct @ y, original("matmul", 1))
)
plant("swapped factors", "matmul", M, SPD, **rules(original("matmul", 0), lambda ct, x, _y: ct @ x))
plant(
    "only the diagonal",
    "diagonal",
    M,
    params={"offset": 0, "axis1": 0, "axis2": 1},
    **rules(lambda ct, _x, **_: broadcast_to(ct, shape=_x.shape)),
)

# ---------------------------------------------------------------- tangent maps

plant(
    "everybody gets it",
    "max",
    X,
    params={"axis": (0,)},
    **rules(lambda t, _ans, _x, *, axis: total(t, axis=axis)),
)
plant(
    "a factor 2 is missing",
    "var",
    X,
    params={"axis": (0,), "correction": 0},
    **rules(lambda t, _ans, x, *, axis, correction: total(t * (x - x.mean()), axis=axis) / 3),
)
plant(
    "a term is missing",
    "softmax",
    X,
    params={"axis": (0,)},
    **rules(lambda t, ans, _x, *, axis: t * ans),
)
plant(
    "a term is missing",
    "prod",
    X,
    params={"axis": (0,)},
    **rules(lambda t, _ans, x, *, axis: t[0] * x[1] * x[2] + t[1] * x[0] * x[2]),
)
plant(
    "not normalised",
    "logsumexp",
    X,
    params={"axis": (0,)},
    **rules(lambda t, _ans, x, *, axis: total(t * exp(x), axis=axis)),
)
plant("not permuted", "sort", X, params={"axis": 0}, **rules(lambda t, _ans, _x, *, axis: t))
plant(
    "no root",
    "norm2",
    X,
    params={"axis": (0,)},
    **rules(lambda t, _ans, x, *, axis: total(t * x, axis=axis)),
)
plant(
    "the determinant is missing",
    "det",
    M,
    **rules(lambda t, _ans, x: total(diagonal(inv(x) @ t, offset=0, axis1=0, axis2=1), axis=(0,))),
)
plant("sign", "inv", M, **rules(lambda t, ans, _x: ans @ t @ ans))
plant("a transpose", "inv", M, **rules(lambda t, ans, _x: -(ans @ t.T @ ans)))
plant(
    "half of the diagonal",
    "cholesky",
    SPD,
    **rules(lambda t, ans, _x: ans @ tril(inv(ans) @ t @ inv(ans).T, k=0)),
)

# ---------------------------------------------------------------- second order only

plant("constant for the second order", "sin", X, **rules(lambda _y, x: cos(stop_gradient(x))))
plant("constant for the second order", "exp", X, **rules(lambda y, _x: stop_gradient(y)))
plant(
    "constant for the second order",
    "multiply",
    X,
    P,
    **rules(lambda _z, _x, y: stop_gradient(y), lambda _z, x, _y: x),
)
plant(
    "constant for the second order",
    "matmul",
    M,
    SPD,
    **rules(lambda ct, _x, y: ct @ stop_gradient(y).T, original("matmul", 1)),
)

# ---------------------------------------------------------------- batches


def _wrong_axis(self: Any, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    out, _ = type(self).__mro__[1].batch(self, size, xs, bdims, params)
    return out, out.ndim - 1


def _forgets_the_batch(self: Any, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    return self(xs[0], **params), 0


plant_methods("batch axis of the result", "matmul", M, SPD, batch=_wrong_axis)
plant_methods("batch axis of the result", "sort", M, params={"axis": 1}, batch=_wrong_axis)
plant_methods(
    "axis not shifted by the batch",
    "cumsum",
    M,
    params={"axis": 0, "reverse": False},
    batch=_forgets_the_batch,
)
plant_methods(
    "axis not shifted by the batch", "softmax", M, params={"axis": (0,)}, batch=_forgets_the_batch
)


# ---------------------------------------------------------------- types, memory, state


def _not_summed(self: Any, ct: Any, ans: Any, xs: Any, wanted: Any, params: dict) -> list[Any]:
    return [ct * xs[1 - i] if w else None for i, w in enumerate(wanted)]


def _widened(self: Any, ct: Any, ans: Any, xs: Any, wanted: Any, params: dict) -> list[Any]:
    return [ct.astype(np.float64) * 2 * xs[0]]


def _widened_tangent(self: Any, ans: Any, xs: Any, ts: Any, params: dict) -> Any:
    return ts[0].astype(np.float64) * 2 * xs[0]


def _in_place(self: Any, ct: Any, ans: Any, xs: Any, wanted: Any, params: dict) -> list[Any]:
    if isinstance(ct, np.ndarray):
        ct *= 1.0
        ct += 1e-3
        return [ct * ans]
    return [ct * ans]


plant_methods("missing sum over the broadcast axes", "multiply", M, X, cotangents=_not_summed)
plant_methods("the gradient is widened", "square", X.astype(np.float32), cotangents=_widened)
plant_methods("the tangent is widened", "square", X.astype(np.float32), tangent=_widened_tangent)
plant_methods("writes into the cotangent", "exp", X, cotangents=_in_place)


@functools.lru_cache(maxsize=1)
def _first_seen() -> list[Any]:
    return []


def _stale(_y: Any, x: Any) -> Any:
    seen = _first_seen()
    value = getattr(x, "underlying", x)
    if isinstance(value, np.ndarray) and value.shape == X.shape:
        seen.append(np.array(value))
        return cos(seen[0])
    return cos(x)


plant("a stale saved value", "sin", X, rules=(_stale,))

_ticks = itertools.count()


def _drifting(_y: Any, x: Any) -> Any:
    return cos(x) * (1 + 1e-6 * next(_ticks))


plant("another number every time", "sin", X, rules=(_drifting,))


def _aliased(xp: Any, x: Any) -> Any:
    x[:1] = x[:1] + 1.0
    return xp.sin(x)


plant("writes into the operand", "sin", X.copy(), impl=_aliased)
plant(
    "not finite at a finite point",
    "norm2",
    np.zeros(3),
    params={"axis": (0,)},
    rules=(lambda t, ans, x, *, axis: total(t * x, axis=axis) / ans,),
)
plant("no derivative", "sin", X, rules=(0,))
