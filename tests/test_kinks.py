"""The choices in `kinks.py` are what both modes give, and every choice is on record."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from kinks import CONVENTIONS, KINKS, Kink, square_root_below
from test_registry import HIGHER_ORDER

import funcgrad
from funcgrad.algebra import Constant, Elementwise, General
from funcgrad.core import REGISTRY, Primitive

ROWS = [(name, row) for name, rows in KINKS.items() for row in rows]


@pytest.mark.parametrize("name,row", ROWS, ids=[f"{name}-{row.args}" for name, row in ROWS])
@np.errstate(all="ignore")
def test_gradients_at_a_kink(name: str, row: Kink) -> None:
    args = [np.asarray(x) for x in row.args]

    def f(*xs: Any) -> Any:
        return REGISTRY[name](*xs, **row.params)

    outs, pull = funcgrad.vjp(f, *args)
    for i, (g, expected) in enumerate(zip(pull(np.ones_like(outs)), row.gradients, strict=True)):
        np.testing.assert_allclose(g, expected, rtol=1e-12)
        if args[i].ndim == 0:
            of_one = lambda x, i=i: f(*args[:i], x, *args[i + 1 :])  # noqa: E731
            _, tangent = funcgrad.jvp(of_one, (args[i],), (np.ones_like(args[i]),))
            np.testing.assert_allclose(np.sum(tangent), expected, rtol=1e-12)


@pytest.mark.parametrize("name", CONVENTIONS)
@np.errstate(all="ignore")
def test_conventions(name: str) -> None:
    f, x, gradient = CONVENTIONS[name]
    x = np.asarray(x)
    np.testing.assert_array_equal(funcgrad.grad(f)(x), gradient)
    if x.dtype == float:
        np.testing.assert_array_equal(funcgrad.jacfwd(f)(x), gradient)


@np.errstate(all="ignore")
def test_strong_zeros_skip_the_branch_not_taken() -> None:
    assert float(funcgrad.grad(square_root_below, strong_zeros=True)(0.0)) == 1.0
    with funcgrad.strong_zeros():
        assert float(funcgrad.grad(square_root_below)(0.0)) == 1.0
        assert float(funcgrad.grad(funcgrad.grad(square_root_below))(0.0)) == 0.0
        assert float(funcgrad.jvp(square_root_below, (0.0,), (1.0,))[1]) == 1.0
    assert np.isnan(funcgrad.grad(square_root_below)(0.0))


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


def test_every_choice_is_on_record() -> None:
    needed = {name for name, prim in REGISTRY.items() if makes_a_choice(prim)}
    assert needed - KINKS.keys() == set(), "add a row to kinks.py, or say 'smooth' in the docstring"
    assert KINKS.keys() - REGISTRY.keys() == set()
