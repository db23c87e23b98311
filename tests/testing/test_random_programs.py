"""Random programs: all that holds for every program holds for them.

`PROGRAMS` in the environment: how many of them every test draws, in place of the profile's number.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import funcgrad
from funcgrad.core import REGISTRY
from funcgrad.jaxpr import check_jaxpr, eval_jaxpr
from funcgrad.testing import check_all
from funcgrad.testing.forms import FORMS
from funcgrad.testing.programs import Program, programs
from funcgrad.testing.recipes import LARGEST

COUNT = int(os.environ.get("PROGRAMS", 0)) or settings().max_examples
many = settings(max_examples=COUNT)
SINGLE = (np.float32, np.complex64, np.float64)
SHRINK = settings(max_examples=300, database=None)


def outputs(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


# ---------------------------------------------------------------- what is promised


@many
@given(programs(dtypes=(np.float64, np.complex128, np.float32)))
def test_program_is_well_typed_and_bounded(p: Program) -> None:
    check_jaxpr(p.jaxpr)
    values = outputs(p(*p.args))
    assert 1 <= len(values) == len(p.jaxpr.outs) <= 2
    for y, aval in zip(values, p.jaxpr.out_avals, strict=True):
        assert (y.shape, y.dtype) == (aval.shape, aval.dtype) and y.dtype.kind in "fc"
        assert np.all(np.abs(y) < LARGEST)


@many
@given(programs(dtypes=(np.float64, np.complex128, np.float32)))
def test_evaluating_the_jaxpr_is_calling_the_program(p: Program) -> None:
    for a, b in zip(eval_jaxpr(p.jaxpr, *p.args), outputs(p(*p.args)), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_of_a_primitive_and_applied(name: str) -> None:
    assert name in REGISTRY
    found = find(programs(most=1, only=[name]), lambda p: f" = {name}" in str(p), settings=SHRINK)
    check_jaxpr(found.jaxpr)


# What the samples of its family covers: functions of SciPy's with narrow domains, windows and parts
# that share memory, eigenvectors whose phases jump, forms of matrices that have no derivative, groups,
# calls of Python.
SPECIAL = {
    *(
        "airy",
        "bessel",
        "bessel_orders",
        "beta",
        "callbacks",
        "collectives",
        "distance",
        "gamma",
        "groups",
        "harmonics",
        "hypergeometric",
        "hypergeometric_parameters",
        "implicit",
    ),
    *(
        "integrals",
        "inverses",
        "lu",
        "matrix_functions",
        "polynomials",
        "reduced",
        "strided",
        "struve",
    ),
}
SAMPLED = {
    "as_complex",
    "as_number",
    "as_real",
    "eig",
    "eigvals",
    "geqrf",
    "qr_complete",
    "svd_complete",
}


def test_most_differentiable_primitives_have_a_form() -> None:
    names = {  # but for those that take programs or functions
        name
        for name, prim in REGISTRY.items()
        if prim.differentiable
        and prim.forward is None
        and prim.impl.__module__.rpartition(".")[2] not in SPECIAL
    } - SAMPLED
    assert len(names & FORMS.keys()) >= 0.85 * len(names), sorted(names - FORMS.keys())


def test_only_chooses_the_primitives() -> None:
    @given(programs(only=["sin", "multiply"]))
    def check(p: Program) -> None:
        assert {e.prim.name for e in p.jaxpr.eqns} <= {"sin", "multiply"}

    check()


# ---------------------------------------------------------------- derivatives


@many
@given(programs(), st.integers(0, 10**6))
def test_every_check_of_gradients(p: Program, seed: int) -> None:
    report = check_all(p, p.args, seed=seed)
    assert report.ok, str(report)


EXACT = ["types", "deterministic", "transpose", "program", "own memory", "repeatable", "vmap"]


@many
@given(programs(dtypes=SINGLE), st.integers(0, 10**6))
def test_algebra_in_single_precision(p: Program, seed: int) -> None:
    report = check_all(p, p.args, only=EXACT, seed=seed)
    assert report.ok, str(report)


@many
@given(programs(), st.data())
def test_mapping_is_looping(p: Program, data: Any) -> None:
    axes = [data.draw(st.sampled_from([0, -1, None])) for _ in p.args]
    if all(a is None for a in axes):
        axes[0] = 0
    rows = [[x * factor for factor in (1.0, 0.96)] for x in p.args]
    stacked = [row[0] if a is None else np.stack(row, a) for row, a in zip(rows, axes, strict=True)]
    found = outputs(funcgrad.vmap(p, in_axes=tuple(axes))(*stacked))
    runs = [
        outputs(p(*[row[0 if a is None else k] for row, a in zip(rows, axes, strict=True)]))
        for k in (0, 1)
    ]
    for y, column in zip(found, zip(*runs, strict=True), strict=True):
        np.testing.assert_allclose(y, np.stack(column), rtol=1e-9, atol=1e-9)


@many
@given(programs(most=5))
def test_differentiating_the_jaxpr_is_differentiating_the_program(p: Program) -> None:
    def replayed(*xs: Any) -> Any:
        return tuple(eval_jaxpr(p.jaxpr, *xs))

    cts = tuple(np.ones(a.shape, a.dtype) for a in p.jaxpr.out_avals)
    expected = funcgrad.vjp(lambda *xs: tuple(outputs(p(*xs))), *p.args)[1](cts)
    for a, b in zip(funcgrad.vjp(replayed, *p.args)[1](cts), expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


# ---------------------------------------------------------------- the tests can fail


def test_a_wrong_rule_is_found_and_shrinks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault in one primitive shows itself in a program of few equations."""
    sinh = REGISTRY["sinh"]
    right = sinh.tangent
    monkeypatch.setattr(sinh, "tangent", lambda *args: right(*args) * 1.01)

    def is_wrong(p: Program) -> bool:
        return not check_all(p, p.args, only=["transpose", "numerical"]).ok

    found = find(programs(only=["sin", "sinh", "cosh", "add", "sum"]), is_wrong, settings=SHRINK)
    assert "sinh" in str(found) and len(found.jaxpr.eqns) <= 2


@pytest.mark.parametrize("name", ["cumsum", "sort", "where", "matmul", "softmax"])
def test_shrinking_ends_at_few_equations(name: str) -> None:
    few = {"cumsum": 2, "sort": 2, "where": 3, "matmul": 7, "softmax": 2}
    enough = settings(max_examples=2000, database=None)
    tries = []  # a search ends where no single step leads on, now and then early or with nothing
    for seed in range(3):
        with contextlib.suppress(NoSuchExample):
            one = find(
                programs(), lambda p: f"= {name}" in str(p), settings=enough, random=Random(seed)
            )
            tries.append(one)
    found = min(tries, key=lambda p: len(p.jaxpr.eqns))
    assert len(found.jaxpr.eqns) <= few[name], str(found)
    assert all(np.size(x) <= 4 for x in found.args)


@many
@given(p=programs(dtypes=(np.float64,), most=5), several=st.booleans())
def test_hessians_are_the_same_both_ways(p: Any, several: bool) -> None:
    """Backwards twice for a number and forwards over backwards; one by one for few columns."""

    def f(*xs: Any) -> Any:
        ys = [y.real for y in funcgrad.tree.leaves(p(*xs))]
        return ys if several else sum(np.sum(np.sin(y)) for y in ys)

    places = tuple(range(len(p.args)))
    inner = funcgrad.jacrev(f, places)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = funcgrad.tree.leaves(funcgrad.hessian(f, places)(*p.args))
        expected = funcgrad.tree.leaves(funcgrad.jacfwd(inner, places)(*p.args))
    size = max(1.0, *(float(np.max(np.abs(x), initial=0.0)) for x in expected))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * size)
