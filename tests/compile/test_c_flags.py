"""What C says about overflow and the like: what its results show, whatever vectors compute."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
import funcgrad.scipy.special as fsp
from funcgrad import lax
from funcgrad.compile import c_compiler
from funcgrad.compile.program import Program

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of its own: nothing is known from before."""
    path = tmp_path_factory.mktemp("loops")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUNCGRAD_CACHE", str(path))
        yield path


def said(f: Callable[..., Any], *args: Any) -> set[str]:
    """The warnings of the second call in C, which is C alone."""
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"), np.errstate(all="ignore"):
        compiled(*args)
        assert "kernel" in compiled.code, compiled.code
        return warned(compiled, *args)


def warned(f: Callable[..., Any], *args: Any) -> set[str]:
    with np.errstate(all="warn"), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(*args)
    return {str(w.message).partition(" encountered")[0] for w in found} - {"underflow"}


ODD = np.array([0.0, np.inf, 1.0, np.nan, -np.inf, -2.0, 3.0, 0.5] * 5)
LOUD: dict[str, tuple[Any, list[float], set[str]]] = {
    "log(0)": (lambda x: np.log(x) * 2.0, [1.0, 0.0], {"divide by zero"}),
    "log(-1)": (lambda x: np.log(x) * 2.0, [1.0, -1.0], {"invalid value"}),
    "both": (lambda x: np.log(x) * 2.0, [0.0, -1.0], {"invalid value", "divide by zero"}),
    "exp(1000)": (lambda x: np.exp(x) + x, [1.0, 1000.0], {"overflow"}),
    "1 / 0": (lambda x: 1.0 / x + x, [2.0, 0.0], {"divide by zero"}),
    "inf - inf": (lambda x: np.sin(x) * (x - x), [2.0, np.inf], {"invalid value"}),
    "a sum": (lambda x: np.sum(np.exp(x) * x), [1.0, 1000.0], {"overflow"}),
}
QUIET: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0.0) * 2.0,
    "leaky": lambda x: fnp.where(x > 0, x, 0.01 * x) * 2.0,
    "isfinite": lambda x: fnp.where(np.isfinite(x), x, 0.0) * 2.0,
    "sign": lambda x: np.sign(x) * 2.0,
    "tanh": lambda x: np.tanh(x) * 2.0,
    "arctan2": lambda x: np.arctan2(x, x + 1.0) * 2.0,
    "exp": lambda x: np.exp(-np.absolute(x)) * 2.0,
    "erf": lambda x: fsp.erf(x) * fsp.erfc(x),
    "largest": lambda x: np.max(fnp.where(np.isnan(x), 0.0, x).reshape(8, 5), axis=1) * 2.0,
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", QUIET)
def test_nothing_new_is_said_of_odd_operands(name: str, dtype: str) -> None:
    x = ODD.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QUIET[name](x)  # NumPy says nothing
    assert said(QUIET[name], x) == set()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", LOUD)
def test_what_results_show_is_said(name: str, dtype: str) -> None:
    f, values, expected = LOUD[name]
    x = np.array(values * 20, dtype)
    assert said(f, x) == expected
    assert said(f, np.stack([x, x], 1)[:, 0]) == expected  # not dense
    assert said(lambda x: f(x.reshape(8, 5)), x) == expected
    with np.errstate(all="raise"), funcgrad.config("c"), pytest.raises(FloatingPointError):
        funcgrad.jit(f)(x)


def test_warnings_name_functions() -> None:
    many = lambda x: np.log(np.exp(x) * np.sin(x) + x) - np.cosh(x) / x  # noqa: E731
    looped = lambda x: lax.fori_loop(0, 3, lambda _, y: np.exp(y) * y, x)  # noqa: E731
    for f, name in (
        (lambda x: -np.log(x) * 2.0, r"kernel0 \(log, multiply\)"),
        (many, r"kernel0 \(exp, sin, multiply, add, ...\)"),
        (looped, r"kernel0 \(exp, multiply\)"),
    ):
        with funcgrad.config("c"), pytest.warns(RuntimeWarning, match=name):
            funcgrad.jit(f)(np.array([0.0, 1000.0] * 20))


def test_what_is_not_chosen_is_not_said() -> None:
    x = np.array([-1.0, 0.0, 1000.0] * 20)
    assert said(lambda x: 1.0 / (1.0 + np.exp(x)), x) == set()
    assert said(lambda x: fnp.where(x > 0, np.log(x), x), x) == set()


def test_odd_numbers_of_the_program_are_operands() -> None:
    x = np.linspace(1.0, 2.0, 40)
    for f in (
        lambda x: fnp.maximum(fnp.where(x > 1.5, np.nan, x), 1.1),
        lambda x: fnp.clip(fnp.where(x > 1.5, np.inf, x) * 1e300, 1.0, np.inf),
    ):
        assert said(f, x) == set()


def test_results_written_over_operands() -> None:
    f = funcgrad.jit(lambda x: np.log(x) * 2.0, donate_argnums=0)
    with funcgrad.config("c"), np.errstate(all="ignore"):
        f(np.ones(40))
    with funcgrad.config("c"), pytest.warns(RuntimeWarning, match="invalid"):
        assert np.isnan(f(np.full(40, -1.0))).all()


@pytest.mark.parametrize("count", [3, 40])
def test_loops(count: int) -> None:
    """Also over more arrays than a ufunc takes, which come together (`c_wide.py`)."""

    def f(*xs: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            return [np.maximum(x, 0.5) * s for x, s in zip(state, xs, strict=True)]

        return lax.fori_loop(0, 3, step, list(xs))

    xs = [np.full(3, 2.0)] * count
    made = Program(funcgrad.make_jaxpr(f)(*xs), "c")
    assert ("arrays[i]" in made.c_source) is (count == 40)
    for first, expected in (
        (2.0, set()),
        (1e200, {"overflow"}),
        (np.nan, set()),
        (np.inf, set()),
    ):
        given = [*made.jaxpr.consts, np.array([first, 1.0, 2.0]), *xs[1:]]
        assert warned(made.run, *given) == expected
