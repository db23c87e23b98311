"""What derivatives are where there is a choice: at kinks, jumps, ties, poles and empty branches.

`KINKS` has a row or more for every primitive whose docstring does not call it smooth; `CONVENTIONS`
has what users see of it through NumPy's names. A gradient is that of the sum of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from funcgrad import numpy as fnp
from funcgrad.scipy import special

INF, NAN = float("inf"), float("nan")
BIG = 1e3


class Kink(NamedTuple):
    """Operands, the gradient with respect to each that is a list or a float, and parameters."""

    args: tuple[Any, ...]
    gradients: tuple[Any, ...]
    params: dict[str, Any] = {}  # noqa: RUF012  (nobody writes into it)


ROW = {"axis": (0,)}
SCAN = {"axis": 0, "reverse": False}

KINKS: dict[str, list[Kink]] = {
    # arithmetic
    "absolute": [Kink((0.0,), (0.0,)), Kink((0j,), (0j,))],
    "copysign": [Kink((0.0, 2.0), (0.0, 0.0))],
    "divide": [Kink((1.0, 0.0), (INF, -INF))],
    "fmod": [Kink((3.0, 2.0), (1.0, -1.0)), Kink((4.0, 2.0), (1.0, -2.0))],
    "hypot": [Kink((0.0, 0.0), (0.0, 0.0))],
    "nextafter": [Kink((1.0, 2.0), (1.0, 0.0))],
    "power": [
        Kink((0.0, 0.0), (0.0, 0.0)),
        Kink((0.0, 2.0), (0.0, 0.0)),
        Kink((-2.0, 2.0), (-4.0, 0.0)),
    ],
    "reciprocal": [Kink((0.0,), (-INF,))],
    "remainder": [Kink((3.0, 2.0), (1.0, -1.0)), Kink((4.0, 2.0), (1.0, -2.0))],
    # exponential
    "cbrt": [Kink((0.0,), (INF,))],
    "log": [Kink((0.0,), (INF,))],
    "log10": [Kink((0.0,), (INF,))],
    "log1p": [Kink((-1.0,), (INF,))],
    "log2": [Kink((0.0,), (INF,))],
    "logaddexp": [Kink((-INF, -INF), (0.0, 0.0)), Kink((0.0, 0.0), (0.5, 0.5))],
    "logaddexp2": [Kink((-INF, -INF), (0.0, 0.0)), Kink((0.0, 0.0), (0.5, 0.5))],
    "sqrt": [Kink((0.0,), (INF,))],
    "xlog1py": [Kink((0.0, -1.0), (0.0, 0.0))],
    "xlogy": [Kink((0.0, 0.0), (0.0, 0.0))],
    # trigonometric
    "arccos": [Kink((1.0,), (-INF,)), Kink((-1.0,), (-INF,))],
    "arccosh": [Kink((1.0,), (INF,))],
    "arcsin": [Kink((1.0,), (INF,)), Kink((-1.0,), (INF,))],
    "arctan2": [Kink((0.0, 0.0), (0.0, 0.0))],
    "arctanh": [Kink((1.0,), (INF,)), Kink((-1.0,), (INF,))],
    "tan": [Kink((0.0,), (1.0,))],
    # choosing
    "clip": [
        Kink(([0.0, 1.0, 0.5], 0.0, 1.0), ([1.0, 1.0, 1.0], 0.0, 0.0)),
        Kink(([-1.0, 2.0], 0.0, 1.0), ([0.0, 0.0], 1.0, 1.0)),
    ],
    "fmax": [Kink((1.0, 1.0), (0.5, 0.5)), Kink((NAN, 1.0), (0.0, 1.0))],
    "fmin": [Kink((1.0, 1.0), (0.5, 0.5)), Kink((NAN, 1.0), (0.0, 1.0))],
    "maximum": [Kink((1.0, 1.0), (0.5, 0.5)), Kink((NAN, 1.0), (0.0, 0.0))],
    "minimum": [Kink((1.0, 1.0), (0.5, 0.5)), Kink((NAN, 1.0), (0.0, 0.0))],
    "nan_to_num": [
        Kink(
            ([1.0, NAN, INF, -INF],),
            ([1.0, 0.0, 0.0, 0.0],),
            {"nan": 0.0, "posinf": 1.0, "neginf": -1.0},
        )
    ],
    "relu": [Kink(([0.0, 1.0, -1.0],), ([0.0, 1.0, 0.0],))],
    # reductions and scans
    "cummax": [Kink(([1.0, 1.0, 0.0],), ([3.0, 0.0, 0.0],), SCAN)],
    "cummin": [Kink(([0.0, 0.0, 1.0],), ([3.0, 0.0, 0.0],), SCAN)],
    "logcumsumexp": [Kink(([-INF, -INF],), ([0.0, 0.0],), SCAN)],
    "logsumexp": [
        Kink(([-INF, -INF],), ([0.0, 0.0],), ROW),
        Kink(([INF, 0.0],), ([1.0, 0.0],), ROW),
    ],
    "max": [
        Kink(([1.0, 1.0, 0.0],), ([0.5, 0.5, 0.0],), ROW),
        Kink(([NAN, 1.0],), ([NAN, NAN],), ROW),
    ],
    "min": [
        Kink(([1.0, 0.0, 0.0],), ([0.0, 0.5, 0.5],), ROW),
        Kink(([NAN, 1.0],), ([NAN, NAN],), ROW),
    ],
    "norm2": [Kink(([0.0, 0.0],), ([0.0, 0.0],), ROW)],
    "prod": [
        Kink(([0.0, 2.0, 3.0],), ([6.0, 0.0, 0.0],), ROW),
        Kink(([0.0, 0.0, 3.0],), ([0.0, 0.0, 0.0],), ROW),
    ],
    "std": [Kink(([1.0, 1.0],), ([0.0, 0.0],), {"axis": (0,), "correction": 0})],
    "softmax": [Kink(([-INF, -INF],), ([NAN, NAN],), ROW)],
    "log_softmax": [Kink(([-INF, -INF],), ([NAN, NAN],), ROW)],
    "sort": [Kink(([1.0, 1.0, 0.0],), ([1.0, 1.0, 1.0],), {"axis": 0})],
    # special
    "entr": [Kink((0.0,), (INF,))],
    "erfinv": [Kink((1.0,), (INF,)), Kink((-1.0,), (INF,))],
    "exp_below": [Kink((1.0, 1.0), (1.0, -1.0))],
    "i0e": [Kink((0.0,), (0.0,))],
    "i1e": [Kink((0.0,), (0.5,))],
    "logit": [Kink((0.0,), (INF,)), Kink((1.0,), (INF,))],
    "ndtri": [Kink((0.0,), (INF,)), Kink((1.0,), (INF,))],
    "rel_entr": [Kink((0.0, 0.0), (0.0, 0.0))],
}


class Convention(NamedTuple):
    """A function of one array, where it is differentiated, and its gradient there."""

    f: Callable[[Any], Any]
    x: Any
    gradient: Any


def square_root_below(x: Any) -> Any:
    return fnp.where(x < 1, x, fnp.sqrt(x))


CONVENTIONS: dict[str, Convention] = {
    "abs": Convention(fnp.abs, 0.0, 0.0),
    "complex abs": Convention(fnp.abs, 0j, 0j),
    "sqrt": Convention(fnp.sqrt, 0.0, INF),
    "norm": Convention(fnp.linalg.norm, [0.0, 0.0], [0.0, 0.0]),
    "norm squared": Convention(lambda x: fnp.linalg.norm(x) ** 2, [0.0, 0.0], [0.0, 0.0]),
    "std": Convention(fnp.std, [1.0, 1.0], [0.0, 0.0]),
    "maximum": Convention(lambda x: fnp.maximum(x, 0.0), 0.0, 0.5),
    "max": Convention(fnp.max, [1.0, 1.0, 0.0], [0.5, 0.5, 0.0]),
    "clip": Convention(lambda x: fnp.clip(x, 0, 1), [0.0, 1.0, 0.5], [1.0, 1.0, 1.0]),
    "x**0": Convention(lambda x: x**0.0, 0.0, 0.0),
    "0**y at 2": Convention(lambda y: 0.0**y, 2.0, 0.0),
    "0**y at 0": Convention(lambda y: 0.0**y, 0.0, 0.0),
    "where": Convention(square_root_below, 0.0, NAN),
    "prod with a zero": Convention(fnp.prod, [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    "prod with two zeros": Convention(fnp.prod, [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    "cumprod": Convention(lambda x: fnp.sum(fnp.cumprod(x)), [2.0, 0.0, 3.0], [1.0, 8.0, 0.0]),
    "logaddexp": Convention(lambda x: fnp.logaddexp(x, 0.0), 0.0, 0.5),
    "arctan2": Convention(lambda x: fnp.arctan2(x, 0.0), 0.0, 0.0),
    "hypot": Convention(lambda x: fnp.hypot(x, 0.0), 0.0, 0.0),
    "sinc": Convention(fnp.sinc, 0.0, 0.0),
    "xlogy": Convention(lambda x: special.xlogy(x, 0.0), 0.0, 0.0),
    "median": Convention(fnp.median, [1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 0.5, 0.0]),
    "sort": Convention(
        lambda x: fnp.sum(fnp.sort(x) * fnp.array([1.0, 2.0, 3.0])),
        [1.0, 1.0, 0.0],
        [2.0, 3.0, 1.0],
    ),
    "arcsin": Convention(fnp.arcsin, 1.0, INF),
    "sign": Convention(fnp.sign, 0.0, 0.0),
    "round": Convention(fnp.round, 0.5, 0.0),
    "floor": Convention(fnp.floor, 1.0, 0.0),
    "mod": Convention(lambda x: fnp.mod(x, 2.0), 3.0, 1.0),
    "mod by the divisor": Convention(lambda y: fnp.mod(3.0, y), 2.0, -1.0),
}
