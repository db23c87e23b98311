"""The choices in `kinks.py` are what every mode gives, and every choice is on record there.

Rows of primitives that are no elementwise function are here, in `OF_ARRAYS`.
"""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest
from kinks import KINKS, LIMIT, SPLIT, Kink, at, inf, nan
from test_registry import HIGHER_ORDER

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.algebra import Constant, Elementwise, General
from funcgrad.core import REGISTRY, Primitive
from funcgrad.ops import (
    cumulative,
    decompose,
    determinants,
    groups,
    pool,
    reduce,
    rounding,
    softmax,
    solve,
)

NO_SUM = "no share in a sum of nothing"
FIRST = "the one met first"
UNDEFINED = "there is no value"
TRACE = "the sum is smooth, although each value is not"

OF_ARRAYS = [
    Kink(
        "cummax",
        lambda fnp, x: cumulative.cummax(x, axis=0, reverse=False),
        at([1.0, 1.0, 0.0]),
        0,
        [3.0, 0.0, 0.0],
        FIRST,
    ),
    Kink(
        "cummin from behind",
        lambda fnp, x: cumulative.cummin(x, axis=0, reverse=True),
        at([1.0, 0.0, 0.0]),
        0,
        [0.0, 0.0, 3.0],
        FIRST,
    ),
    Kink(
        "group_max",
        lambda fnp, x: groups.group_max(x, np.array([0, 0, 2]), count=3)[np.array([0, 2])],
        at([1.0, 1.0, 0.0]),
        0,
        [0.5, 0.5, 1.0],
        SPLIT,
    ),
    Kink(
        "group_min at NaN",
        lambda fnp, x: groups.group_min(x, np.array([0, 0, 1]), count=2),
        at([nan, 1.0, 0.0]),
        0,
        [nan, nan, 1.0],
        UNDEFINED,
    ),
    Kink(
        "logcumsumexp",
        lambda fnp, x: cumulative.logcumsumexp(x, axis=0, reverse=False),
        at([-inf, -inf]),
        0,
        [0.0, 0.0],
        NO_SUM,
    ),
    Kink(
        "logsumexp",
        lambda fnp, x: softmax.logsumexp(x, axis=(0,)),
        at([-inf, -inf]),
        0,
        [0.0, 0.0],
        NO_SUM,
    ),
    Kink(
        "logsumexp of infinity",
        lambda fnp, x: softmax.logsumexp(x, axis=(0,)),
        at([inf, 0.0]),
        0,
        [1.0, 0.0],
        LIMIT,
    ),
    Kink(
        "softmax of nothing",
        lambda fnp, x: softmax.softmax(x, axis=(0,)),
        at([-inf, -inf]),
        0,
        [nan, nan],
        UNDEFINED,
    ),
    Kink(
        "log_softmax of nothing",
        lambda fnp, x: softmax.log_softmax(x, axis=(0,)),
        at([-inf, -inf]),
        0,
        [nan, nan],
        UNDEFINED,
    ),
    Kink(
        "max of nan", lambda fnp, x: reduce.max(x, axis=(0,)), at([nan, 1.0]), 0, [nan, nan], SPLIT
    ),
    Kink(
        "min of nan", lambda fnp, x: reduce.min(x, axis=(0,)), at([nan, 1.0]), 0, [nan, nan], SPLIT
    ),
    Kink(
        "max_pool",
        lambda fnp, x: pool.max_pool(x, window=(2,), strides=(1,), padding=((0, 0),)),
        at([1.0, 1.0, 0.0]),
        0,
        [1.0, 1.0, 0.0],
        FIRST,
    ),
    Kink(
        "det of a singular matrix",
        lambda fnp, x: determinants.det(x),
        at([[1.0, 2.0], [2.0, 4.0]]),
        0,
        [[4.0, -2.0], [-2.0, 1.0]],
        "a polynomial",
    ),
    Kink("eigvalsh", lambda fnp, x: decompose.eigvalsh(x), at(np.eye(2)), 0, np.eye(2), TRACE),
    Kink("svdvals", lambda fnp, x: decompose.svdvals(x), at(np.eye(2)), 0, np.eye(2), TRACE),
    Kink(
        "pinv",
        lambda fnp, x: solve.pinv(x, rcond=1e-12),
        at([[1.0, 0.0], [0.0, 0.0]]),
        0,
        [[-1.0, 1.0], [1.0, 0.0]],
        "at constant rank",
    ),
    Kink("nextafter", lambda fnp, x: rounding.nextafter(x, 2.0), at(1.0), 0, 1.0, "x, rounded"),
    Kink("exp_below", lambda fnp, x: softmax.exp_below(x, 1.0), at(1.0), 0, 1.0, "as if below"),
]

ROWS = [*KINKS, *OF_ARRAYS]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def by_grad(f: Any, x: Any) -> Any:
    return funcgrad.grad(lambda x: fnp.sum(f(x)))(x)


def by_vjp(f: Any, x: Any) -> Any:
    y, pull = funcgrad.vjp(f, x)
    return pull(np.ones_like(y))[0]


def by_jvp(f: Any, x: Any) -> Any:
    """The derivative along every axis of `x` alone."""
    slopes = []
    for i in range(np.size(x)):
        t = np.zeros_like(x).reshape(-1)
        t[i] = 1
        slopes.append(np.sum(funcgrad.jvp(f, (x,), (t.reshape(np.shape(x)),))[1]))
    return np.reshape(slopes, np.shape(x))


@pytest.mark.parametrize("mode", [by_grad, by_vjp, by_jvp])
@every_row
def test_the_derivative_is_the_one_on_record(row: Kink, mode: Any) -> None:
    def f(x: Any) -> Any:
        return row.function(fnp, *row.args[: row.argnum], x, *row.args[row.argnum + 1 :])

    if mode is by_jvp and np.any(np.isnan(row.expected)):
        return  # forward mode may pick the branch where reverse mode adds 0 * inf
    x = row.args[row.argnum]
    with warnings.catch_warnings():
        if not np.all(np.isfinite(row.expected)):
            warnings.simplefilter("ignore", RuntimeWarning)
        found = mode(f, x)
    np.testing.assert_allclose(found, row.expected, rtol=1e-12, err_msg=row.note)


@np.errstate(all="ignore")
@pytest.mark.parametrize("name,part", [("eigh", 1), ("svd", 0), ("svd", 2)])
def test_repeated_values_warn(name: str, part: int) -> None:
    with pytest.warns(UserWarning, match="gap of 0"):
        found = funcgrad.grad(lambda x: fnp.sum(REGISTRY[name](x)[part]))(np.eye(2))
    assert not np.all(np.isfinite(found))


WARNING = {"eigh", "svd", "gap_divide"}


def square_root_below(x: Any) -> Any:
    return fnp.where(x < 1, x, fnp.sqrt(x))


@np.errstate(all="ignore")
def test_strong_zeros_skip_the_branch_not_taken() -> None:
    assert float(funcgrad.grad(square_root_below, strong_zeros=True)(0.0)) == 1.0
    with funcgrad.strong_zeros():
        assert float(funcgrad.grad(square_root_below)(0.0)) == 1.0
        assert float(funcgrad.grad(funcgrad.grad(square_root_below))(0.0)) == 0.0
        assert float(funcgrad.jvp(square_root_below, (0.0,), (1.0,))[1]) == 1.0
    assert np.isnan(funcgrad.grad(square_root_below)(0.0))


@np.errstate(all="ignore")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: fnp.sqrt(fnp.maximum(x, 0.0)),
        lambda x: fnp.sqrt(fnp.fmax(x, 0.0)),
        lambda x: fnp.sqrt(-fnp.minimum(-x, 0.0)),
        lambda x: fnp.sqrt(fnp.clip(x, 0.0, 9.0)),
        lambda x: fnp.log(REGISTRY["relu"](x)),
        lambda x: fnp.sqrt(fnp.max(x) - 4.0),
        lambda x: 1.0 / fnp.nan_to_num(fnp.where(x < 0, np.nan, x)),
    ],
)
def test_what_is_not_taken_gets_nothing(f: Any) -> None:
    """The cotangent is infinite where the operand was not taken."""
    x = np.array([-1.0, 4.0])
    slope = funcgrad.grad(lambda x: fnp.sum(f(x)))
    for found in (slope(x), funcgrad.jit(slope)(x), funcgrad.vmap(slope)(x[None])[0]):
        assert found[0] == 0.0 and not np.isnan(found[1])
    assert not np.any(np.isnan(funcgrad.grad(lambda x: fnp.sum(slope(x)))(x)[:1]))


# ---------------------------------------------------------------- every choice has a row


def derivative_section(prim: Primitive) -> str:
    text = inspect.getdoc(prim.impl) or ""
    found = re.search(r"Derivative:(.*?)(?=\n[A-Z]\w+:|\n\n|\Z)", text, re.DOTALL)
    return found[1] if found else ""


def makes_a_choice(prim: Primitive) -> bool:
    """Whether a primitive can have a kink, and its docstring does not call it smooth."""
    if isinstance(prim, Constant) or prim.name in HIGHER_ORDER:
        return False
    if isinstance(prim, Elementwise) and not any(map(callable, prim.rules)):
        return False
    curved = isinstance(prim, Elementwise | General)
    return curved and not re.search(r"\bsmooth\b|\bas `\w+`", derivative_section(prim))


@pytest.fixture(scope="module")
def recorded() -> set[str]:
    """The primitives in the programs of the rows."""
    found = set(WARNING)
    for row in ROWS:
        program = funcgrad.make_jaxpr(lambda *xs, row=row: row.function(fnp, *xs))(*row.args)
        found |= {eqn.prim.name for eqn in program.eqns}
    return found


@pytest.mark.parametrize("name", sorted(n for n, prim in REGISTRY.items() if makes_a_choice(prim)))
def test_every_choice_is_on_record(name: str, recorded: set[str]) -> None:
    assert name in recorded, "add a row to kinks.py, or say 'smooth' in the docstring"
