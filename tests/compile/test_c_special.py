"""SciPy's special functions in C are SciPy's, and loops over them are C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import lax
from funcgrad.compile import c_compiler, c_special

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
special = pytest.importorskip("scipy.special")

OPS = "".join(p.read_text() for p in Path(funcgrad.ops.__file__).parent.glob("*.py"))
UFUNCS = [n for n in dir(special) if isinstance(getattr(special, n), np.ufunc) and f'"{n}"' in OPS]
NAMES = [n for n in UFUNCS if c_special.is_special(getattr(special, n))]
NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -0.5,
    3.25,
    -2.75,
    30.0,
    1e-9,
    1e9,
    np.inf,
    -np.inf,
    np.nan,
]


def test_most_are_known() -> None:
    assert len(NAMES) > 60
    assert {"gammaln", "digamma", "betaln", "ndtri", "log_ndtr", "gammainc", "jv"} <= {*NAMES}
    assert not c_special.is_special(np.sin) and not c_special.is_special(special.airy)
    assert not c_special.is_special(special.bdtr)  # which warns of numbers that are not whole


@pytest.fixture(scope="module")
def loops() -> Any:
    """A function in C for each, of numbers in memory, in double and single precision."""
    lines = []
    for name in NAMES:
        count = getattr(special, name).nin
        for kind, suffix in (("double", ""), ("float", "f")):
            texts = [f"x[{i}]" for i in range(count)]
            called = c_special.call(getattr(special, name), texts, suffix)
            lines.append(f"void of_{name}{suffix}({kind} *x, {kind} *y) {{ *y = {called}; }}")
    text = "\n".join(lines)
    library = c_compiler.library_of(c_special.declared(text) + text)
    assert library is not None
    c_special.bind(library, text)
    return library


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_numbers(name: str, loops: Any, data: Any) -> None:
    f = getattr(special, name)
    numbers = st.sampled_from(NUMBERS) | st.floats(-50, 50)
    xs = [data.draw(numbers) for _ in range(f.nin)]
    for dtype, suffix in ((np.float64, ""), (np.float32, "f")):
        given, found = np.array(xs, dtype), np.empty((), dtype)
        getattr(loops, f"of_{name}{suffix}")(
            *(ctypes.c_void_p(a.ctypes.data) for a in (given, found))
        )
        with np.errstate(all="ignore"):
            expected = f(*given.astype(float)).astype(dtype)
        np.testing.assert_array_equal(found, expected)


def scanned(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: lax.scan(lambda c, v: (0.5 * c + f(v, c), f(v, v)), 0.3, x)[0]


X = np.linspace(0.2, 2.5, 20)
LOOPS: dict[str, Callable[..., Any]] = {
    "gammaln": lambda v, c: special.gammaln(v + c * c),
    "betaln": lambda v, c: special.betaln(v, 1 + c * c),
    "ndtri": lambda v, c: special.ndtri(special.expit(v * c)),
    "log_ndtr": lambda v, c: special.log_ndtr(v - c),
    "gammainc": lambda v, c: special.gammainc(1.5, v + c * c),
    "i0e": lambda v, c: special.i0e(v * c),
    "xlogy": lambda v, c: special.xlogy(v, 1 + c * c),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.grad], ids=["value", "grad"])
def test_loops(name: str, transform: Callable[..., Any]) -> None:
    f = transform(scanned(LOOPS[name]))
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        found = compiled(X)
    np.testing.assert_allclose(found, f(X), rtol=1e-12)
    assert "kernel0(" in compiled.code and "for i" not in compiled.code


def test_arrays_that_are_large_are_left_to_scipy() -> None:
    """Its loop is as fast, and what is beside it stays vectors."""

    def f(x: Any) -> Any:
        return (np.exp(x) * special.gammaln(x)).sum()

    for n, is_call in ((100, False), (100_000, True)):
        compiled = funcgrad.jit(f)
        with funcgrad.config("c"):
            found = compiled(np.linspace(1.0, 2.0, n))
        np.testing.assert_allclose(found, f(np.linspace(1.0, 2.0, n)), rtol=1e-12)
        assert ("gammaln(" in compiled.code.split("kernel")[0]) == is_call, compiled.code
