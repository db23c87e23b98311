"""Loops in C give what NumPy gives: special values, every layout, compilers that fail."""

from __future__ import annotations

import functools
import math
import os
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.scipy.special as fsp
from funcgrad.compile import c_compiler, c_source, program
from funcgrad.core import aval_of
from funcgrad.testing.programs import Program, programs

RNG = np.random.default_rng(0)
needs_compiler = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
CACHED = (c_compiler.compiler, c_compiler._prelude)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache folder for all tests here, which is empty at first."""
    path = tmp_path_factory.mktemp("loops")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUNCGRAD_CACHE", str(path))
        forget()
        yield path
    forget()


def forget() -> None:
    """What is known of the compiler."""
    for f in CACHED:
        f.cache_clear()


def in_c(f: Callable[..., Any], *args: Any, needed: bool = True) -> Any:
    """The results of `f`, compiled as C; `needed`: a loop must have been made."""
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        found = compiled(*args)
        assert "kernel" in compiled.code or not needed, compiled.code
    return found


# ---------------------------------------------------------------- every function

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 3.7, 1e-8, 1e-320]
SPECIAL += [-5e-324, 2.2250738585072014e-308, 1e-300, -1e-30, 1e30, -1e300, 1.7e308, 1e-45, 3e38]
SPECIAL += [0.1, 0.9999999, 1.0000001, 20.0, -20.0, 88.0, 709.0, -745.0, 1e5, math.pi, 2.5, 1.5]
SPECIAL += [*np.linspace(-3.3, 3.3, 45).tolist()]
INTEGERS = [0, 1, -1, 2, -2, 3, 7, -7, 100, 2**31 - 1, -(2**31)]


def values(dtype: str) -> Any:
    kind = np.dtype(dtype).kind
    kinds: dict[str, list[Any]] = {"b": [True, False] * 8, "f": SPECIAL}
    with np.errstate(all="ignore"):
        return np.array(kinds.get(kind, INTEGERS)).astype(dtype)


EITHER_ZERO = ("maximum", "minimum", "fmax", "fmin")  # of 0.0 and -0.0, as in NumPy
FUNCTIONS = sorted(
    {
        *(*c_source._INFIX, *c_source._LIBRARY, *c_source._TEMPLATES, *c_source._BITWISE),
        np.bitwise_count,
    },
    key=lambda f: f.__name__,
)
DTYPES = ["float64", "float32", "int64", "int32", "uint64", "uint32", "uint8", "bool"]


def assert_close(name: str, found: Any, expected: Any, ulps: float, args: Any) -> None:
    """Within so many units in the last place; NaNs where NaNs are, and the sign of zeros."""
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype), name
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, err_msg=name)
        return
    with np.errstate(all="ignore"):
        good = (found == expected) | (np.isnan(found) & np.isnan(expected))
        good |= np.abs(found - expected) <= ulps * np.spacing(np.abs(expected))
        if name not in EITHER_ZERO:
            good &= (np.signbit(found) == np.signbit(expected)) | np.isnan(expected) | (found != 0)
    shown = [tuple(np.broadcast_to(x, good.shape)[~good].tolist()) for x in args]
    assert good.all(), f"{name}{shown}: {found[~good]} against {expected[~good]}"


@functools.cache
def function_results(dtype: str, arity: int) -> dict[str, tuple[Any, Any, Any]]:
    """Of every function that NumPy has for a dtype: what C gives, what NumPy gives, the arguments."""
    x = values(dtype)
    args = (x,) if arity == 1 else tuple(v.ravel().copy() for v in np.meshgrid(x, x))
    usable, found = [], {}
    with np.errstate(all="ignore"):
        for f in [f for f in FUNCTIONS if f.nin == arity]:
            try:
                f(*args)
                usable.append(f)
            except (TypeError, ValueError):  # NumPy does not have it for this dtype
                continue
        for start in range(0, len(usable), 12):
            chunk = usable[start : start + 12]
            outs = in_c(
                lambda *xs, chunk=chunk: [f(*xs) * 1.5 for f in chunk],
                *args,
                needed=x.dtype.kind == "f",
            )
            for f, y in zip(chunk, outs, strict=True):
                found[f.__name__] = y, f(*args) * 1.5, args
    return found


@needs_compiler
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_function(f: Any, dtype: str) -> None:
    results = function_results(dtype, f.nin)
    if f.__name__ not in results or (f is np.fabs and dtype in ("bool", "uint8")):  # float64
        pytest.skip("not of this dtype")
    assert_close(f.__name__, *results[f.__name__][:2], 6.0, results[f.__name__][2])


@needs_compiler
@pytest.mark.parametrize("name", sorted(c_source._SPECIAL))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_function_of_scipy(name: str, dtype: str) -> None:
    special = pytest.importorskip("scipy.special")
    x = values(dtype)
    found = in_c(lambda x: getattr(fsp, name)(x) * 1.5, x)
    assert_close(name, found, getattr(special, name)(x) * x.dtype.type(1.5), 16.0, (x,))


# ---------------------------------------------------------------- arrays of every sort


BASE = np.arange(24.0).reshape(4, 6) / 7.0 - 1.0
READ_ONLY = BASE.copy()
READ_ONLY.flags.writeable = False
LAYOUTS: dict[str, Any] = {
    "plain": BASE,
    "transposed": BASE.T,
    "Fortran": np.asfortranarray(BASE),
    "backwards": BASE[::-1, ::-2],
    "strided": BASE[:, ::3],
    "overlapping": np.lib.stride_tricks.as_strided(np.arange(10.0), (4, 6), (8, 8)),
    "broadcast": np.broadcast_to(BASE[0], (4, 6)),
    "read-only": READ_ONLY,
    "unaligned": np.frombuffer(b"\0" + BASE.tobytes(), np.uint8)[1:].view(float).reshape(4, 6),
    "no rows": np.zeros((0, 6)),
    "no columns": np.zeros((4, 0)),
    "big-endian": BASE.astype(">f8"),
    "0-d": np.array(1.5),
    "scalar": np.float64(1.5),
    **{t: np.array([[1, 2, 0], [3, 1, 1]], t) for t in "?bhilBHILefdgFDG"},
}
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "times two": lambda x: x * 2,
    "times two point": lambda x: x * 2.0,
    "squares": lambda x: x * x + x,
    "roots": lambda x: np.sqrt(np.abs(x)) / 3,
    "sums": lambda x: (np.sum(x), np.sum(x, axis=0) if x.ndim else x + x),
    "mean": lambda x: x - np.mean(x),
    "power": lambda x: x**2 if x.dtype != bool else x,
    "compare": lambda x: x == 1,
    "where": lambda x: np.where(x != 0, x, 1.5),
    "exp": lambda x: np.exp(abs(x) * -0.5) * x,
    "views": lambda x: (x, x.T, x.reshape(-1), x[..., None]),
    "parts": lambda x: (x.real, x.imag),
}


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("code", ["numpy", "auto", pytest.param("c", marks=needs_compiler)])
def test_layouts(layout: str, code: str) -> None:
    x = LAYOUTS[layout]
    before = np.array(x)
    with funcgrad.config(code), np.errstate(all="ignore"):
        for name, f in OPERATIONS.items():
            compiled = funcgrad.jit(f)
            for _ in range(2):
                found = compiled(x)
                leaves, expected = funcgrad.tree.flatten(found)[0], f(x)
                for a, b in zip(leaves, funcgrad.tree.flatten(expected)[0], strict=True):
                    eps = float(np.finfo(a.dtype).eps) if a.dtype.kind in "fc" else 0.0
                    kinds = [(y.shape, y.dtype.newbyteorder("=")) for y in (a, b)]
                    assert kinds[0] == kinds[1], name
                    np.testing.assert_allclose(a, b, rtol=8 * eps, atol=8 * eps)
                owned_apart(leaves, [x])
    np.testing.assert_array_equal(x, before)


def owned_apart(results: list[Any], others: list[Any]) -> None:
    """Results may be written into, and share memory with nothing."""
    for i, y in enumerate(results):
        if np.ndim(y):
            assert y.flags.writeable
            assert not any(np.may_share_memory(y, z) for z in (*others, *results[:i]))


# ---------------------------------------------------------------- groups

V = np.linspace(-2.0, 3.0, 24).reshape(4, 6)
GROUPS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "where": (lambda x, y: np.where(x > y, x * 2, y - 1), (V, V[::-1])),
    "where of numbers": (lambda x: np.where(x > 0, 1.0, 0) + np.where(x < 1, x, -0.0), (V,)),
    "where of float32": (lambda x: np.where(x > 0, x, 0.1) * 2, (V.astype("f4"),)),
    "flags": (lambda x: ((x > 0) & (x < 1)) | ~(x == 0), (V,)),
    "flags in and out": (lambda x, b: (x * b + 1, b & (x > 0), ~b), (V, V > 1)),
    "casts": (lambda x: x.astype("i4").astype("f8") * 1.5 + x.astype("f4"), (V,)),
    "cast to bool": (lambda x: x.astype(bool).astype(float) * 3 + 1, (np.trunc(V),)),
    "signs of zeros that were integers": (
        lambda x: [
            np.copysign(1, (x * 0.3).astype(i).astype(f) * 1.5)
            for i in ("i4", "i8")
            for f in ("f4", "f8")
        ],
        (V,),
    ),
    "truth values of short rows": (
        lambda x: (
            np.any(x, axis=1),
            np.all(x, axis=1),
            np.max((x != 0).astype("i4"), axis=1) * 2,
            np.min((x != 0).astype("i4"), axis=1) * 2,
        ),
        ((np.arange(33 * 8) % 9).reshape(33, 8).astype("f4"),),
    ),
    "numbers as truth values": (
        lambda x: (
            np.logical_and(x, 0.5) + x,
            np.logical_and(x, 1e300) * x,
            np.logical_or(x.astype(int), np.nan) + x,
            np.logical_xor(x > 0, 0.1) * x,
        ),
        (V,),
    ),
    "mixed types": (lambda x, n: (x * n + n * n, n + 1), (V.astype("f4"), np.arange(6))),
    "int overflow": (lambda n: n * n + n, (np.array([2**31 - 1, -(2**31)], "i4"),)),
    "row": (lambda x, r: (x - r) * r + 1, (V, V[0])),
    "column": (lambda x, c: (x - c) * c + 1, (V, V[:, :1])),
    "0-d": (lambda x, a: (x - a) * a + 1, (V, np.array(2.0))),
    "number": (lambda x, a: (x - a) * a + 1, (V, 2.0)),
    "outer": (lambda r, c: np.exp(r * c) + r, (V[0], V[:, :1])),
    "sums": (lambda x: (np.sum(x * x), np.sum(np.exp(x)), x * 2 + 1), (V,)),
    "sum used": (lambda x: np.exp(x) / np.sum(np.exp(x)) * x, (V,)),
    "two shapes": (lambda x, y: (np.exp(x) * 2, np.sin(y) * 2 + 1), (V, V[:2])),
    "constant array": (lambda x: (x * V + V) * 2, (V[::-1],)),
    "not finite": (lambda x: (x * np.inf, x + np.nan, x * -0.0 + 0 * x), (V,)),
    "empty": (lambda x: (np.sum(x * x + 1), np.exp(x) * 2), (np.zeros((0, 3)),)),
    "integers summed": (lambda n: np.sum(n * n + 1), (np.arange(10),)),
    "truths summed": (lambda x: np.sum((x > 0) & (x < 2)), (V,)),
}


@needs_compiler
@pytest.mark.parametrize("name", GROUPS)
def test_group(name: str) -> None:
    f, args = GROUPS[name]
    before = [np.array(x) for x in args]
    with np.errstate(all="ignore"):
        expected = funcgrad.tree.flatten(f(*args))[0]
        found = funcgrad.tree.flatten(in_c(f, *args, needed=False))[0]
        for a, b in zip(found, expected, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            eps = float(np.finfo(b.dtype).eps) if b.dtype.kind == "f" else 0
            np.testing.assert_allclose(a, b, rtol=8 * eps, atol=8 * eps)
    owned_apart(found, list(args))
    for x, old in zip(args, before, strict=True):
        np.testing.assert_array_equal(x, old)


@needs_compiler
@pytest.mark.parametrize("n", [0, 1, 2, 1023, 1024, 1025, 1_000_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("step", [1, -1, 3])
def test_sums_are_accurate(n: int, dtype: str, step: int) -> None:
    """Against the exact sum: sums in blocks have errors of a few units, not of `n` units."""
    x = (np.random.default_rng(n).random(n * abs(step)) + 0.1).astype(dtype)[::step]
    # One number is no sum, and a million may be run block by block.
    found = in_c(lambda x: np.sum(x * x), x, needed=n in (2, 1023, 1024, 1025))
    assert found.dtype == x.dtype and found.shape == ()
    exact = math.fsum((x * x).tolist())
    assert abs(float(found) - exact) <= 64 * np.finfo(dtype).eps * exact


@pytest.mark.parametrize("code", ["numpy", pytest.param("c", marks=needs_compiler)])
@pytest.mark.parametrize("shape", [(3, 2), (700, 600)])  # as one function, and in blocks or threads
def test_sums_that_keep_their_axes(code: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=shape)

    def f(x: Any) -> Any:
        weights = np.exp(x - np.max(x, keepdims=True))
        total = np.sum(weights, axis=(0, 1), keepdims=True)
        return weights / total, total, np.sum(x * x * 2.0, keepdims=True)

    with funcgrad.config(code):
        found = funcgrad.jit(f)(x)
    for a, b in zip(found, f(x), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-12)


@needs_compiler
@settings(max_examples=12)
@given(p=programs(dtypes=(np.float64, np.float32), most=8), data=st.data())
def test_random_programs(p: Program, data: Any) -> None:
    def total(*xs: Any) -> Any:
        ys = p(*xs)
        return sum(np.sum(np.real(np.cos(y) * y)) for y in (ys if isinstance(ys, tuple) else (ys,)))

    f = data.draw(st.sampled_from([p, funcgrad.grad(total, argnums=tuple(range(len(p.args))))]))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = funcgrad.tree.flatten(in_c(f, *p.args, needed=False))[0]
        expected = funcgrad.tree.flatten(f(*p.args))[0]
    single = any(aval.dtype == np.float32 for aval in map(aval_of, p.args))  # then on the way, too
    for a, b in zip(found, expected, strict=True):
        eps = float(np.finfo(np.float32 if single else b.dtype).eps) if b.dtype.kind in "fc" else 0
        size = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e3 * eps, atol=1e3 * eps * size)


# ---------------------------------------------------------------- compilers that fail

CHECK = """
import os, sys, warnings
import numpy as np
warnings.simplefilter("error")
import funcgrad
from funcgrad.compile import c_compiler
c_compiler.SECONDS = float(os.environ.get("SECONDS_GIVEN", "60"))
x = np.linspace(0.0, 1.0, 50)
tiny = np.array([5e-324, 1e-310])
before = np.geterr()
f = funcgrad.jit(lambda x: np.exp(-x) * x + 1.0)
with funcgrad.config("c"):
    np.testing.assert_allclose(f(x), np.exp(-x) * x + 1.0, rtol=1e-14)
    np.testing.assert_allclose(funcgrad.grad(lambda x: np.sum(f(x)))(x), np.exp(-x) * (1 - x))
assert np.geterr() == before
assert (tiny * 1.0 == tiny).all() and tiny[0] / 1.0 > 0 and (tiny * 0.5)[1] > 0
assert 1.0 + 2.0**-53 == 1.0 and 1.0 + 2.0**-52 + 2.0**-53 == 1.0 + 2.0**-51
with funcgrad.config("c"):
    print("loops" if "kernel" in f.code else "numpy")
"""


def run_check(cache: Path | str, check: str = CHECK, **environment: str) -> subprocess.Popen[str]:
    given = {**os.environ, "FUNCGRAD_CACHE": str(cache), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", check],
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def disguised(folder: Path, script: str) -> str:
    """A script in front of the compiler."""
    path = folder / "cc"
    path.write_text(script.format(compiler=c_compiler.compiler()[0]))  # type: ignore[index]
    path.chmod(0o755)
    return str(path)


CLANG = """#!/bin/sh
case "$*" in
  --version) echo "Apple clang version 16.0.0" ;;
  *-fno-tree-sink* | *-fno-thread-jumps* | *-march=native*) exit 1 ;;
  *) exec {compiler} $(echo "$*" | sed s/-mcpu=native//) ;;
esac
"""


@needs_compiler
def test_a_compiler_that_takes_fewer_flags(tmp_path: Path) -> None:
    """Clang, as on macOS; it gets no declarations of functions for vectors."""
    check = CHECK.replace("np.exp(-x) * x + 1.0", "np.exp(-x) * x + x // 0.3 + x % 0.3")
    check = check.replace("(1 - x))", "(1 - x) + 1)") + "print(c_compiler.has_vector_functions())"
    found = run_check(tmp_path / "cache", check, CC=disguised(tmp_path, CLANG))
    out, err = found.communicate(timeout=120)
    assert out.split() == ["loops", "False"], err


OLD = """#!/bin/sh
case "$*" in
  --version) echo "gcc (GCC) 7.5.0" ;;
  *prefer-vector-width*) exit 1 ;;
  *) exec {compiler} "$@" ;;
esac
"""


@needs_compiler
def test_a_compiler_of_former_days(tmp_path: Path) -> None:
    """GCC 7 refuses to be told how long vectors are to be."""
    found = run_check(tmp_path / "cache", CHECK, CC=disguised(tmp_path, OLD))
    out, err = found.communicate(timeout=120)
    assert out.split() == ["loops"], err


VECTORS = """
import numpy as np, funcgrad
from funcgrad.compile import c_compiler
c_compiler.FLAGS[:] = [f.replace("native", "{machine}") for f in c_compiler.FLAGS]
x, n = np.linspace(-1, 1, 100), np.arange(100)
with funcgrad.config("c"):
    print(*funcgrad.jit({function})(x)[:1])
"""


@needs_compiler
@pytest.mark.parametrize("machine", ["native", "x86-64-v3"])
@pytest.mark.parametrize(
    "function",
    [
        "lambda x: np.where(x > 0, 0.5, np.exp(x))",
        "lambda x: np.where(x == 0, 1.0, np.sin(x) / x)",
        "funcgrad.grad(lambda x: np.sum(np.logaddexp(x, 0.0)))",
        "funcgrad.grad(lambda x: np.sum(np.exp(np.maximum(x, 1 - x) * x)))",
        "lambda x: x * n - np.exp(x)",
    ],
)
def test_functions_stay_vectors(function: str, machine: str, tmp_path: Path) -> None:
    """Calls are not moved into the branch of a selection; numbers from integers and truth values too.

    AVX2 has no conversion of long integers, with which the calls beside it would be no vectors.
    """
    given = {**os.environ}

    def libraries(code: str, name: str) -> bytes:
        given["FUNCGRAD_CACHE"] = str(tmp_path / name)
        text = VECTORS.format(function=code, machine=machine)
        subprocess.run([sys.executable, "-c", text], env=given, check=True, capture_output=True)
        found = [f.read_bytes() for f in (tmp_path / name).glob("*.so")]
        return b"".join(x for x in found if b"kernel0" in x)

    if b"_ZGV" not in libraries("lambda x: np.exp(x) * 2.0", "plain"):
        pytest.skip("the C library has no functions of vectors")
    assert b"_ZGV" in libraries(function, "selected")


def answer(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert not err
    return out.strip()


def script(folder: Path, text: str) -> str:
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{textwrap.dedent(text)}")
    path.chmod(0o755)
    return str(path)


COMPILERS: dict[str, str | None] = {
    "none": None,
    "that fails": "exit 1",
    "that only knows its version": 'test "$1" = --version',
    "that writes rubbish": """
        while test "$1" != -o; do test -n "$1" || exit 0; shift; done
        echo rubbish > "$2"
    """,
    "that takes too long": 'test "$1" = --version || exec sleep 30',
}


@pytest.mark.skipif(os.name != "posix", reason="shell scripts")
@pytest.mark.parametrize("name", COMPILERS)
def test_compiler(name: str, tmp_path: Path) -> None:
    text = COMPILERS[name]
    path = "/no/such/compiler" if text is None else script(tmp_path, text)
    assert answer(run_check(tmp_path / "cache", CC=path, SECONDS_GIVEN="0.5")) == "numpy"


@pytest.mark.skipif(os.name != "posix", reason="shell scripts")
def test_compilers_that_take_too_long_leave_nothing_running(tmp_path: Path) -> None:
    """Neither themselves nor what they have started, nor temporary files that they delete in time."""
    began, half = tmp_path / "began", tmp_path / "half"
    text = f"""
        test "$1" = --version && exit
        trap 'rm {half}; exit 1' TERM
        echo half > {half}
        sleep 300 &
        echo $! >> {began}
        wait
    """
    path = script(tmp_path, text)
    assert answer(run_check(tmp_path / "cache", CC=path, SECONDS_GIVEN="0.5")) == "numpy"
    deadline = time.monotonic() + 20
    while any(map(is_running, began.read_text().split())):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not half.exists()


def is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    state = Path("/proc", process, "stat")  # one that has ended may wait for its parent
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


@needs_compiler
def test_what_was_compiled_is_used_again_and_mended(tmp_path: Path) -> None:
    """Two processes at once; a third without much time; files that are broken."""
    processes = [run_check(tmp_path) for _ in range(2)]
    assert [answer(p) for p in processes] == ["loops", "loops"]
    files = sorted(tmp_path.glob("*.so"))
    assert files and not [f for f in tmp_path.iterdir() if f not in files]
    times = [f.stat().st_mtime_ns for f in files]
    assert answer(run_check(tmp_path)) == "loops"
    assert [f.stat().st_mtime_ns for f in files] == times
    for f in files:
        f.unlink()
        f.write_bytes(b"rubbish")
    assert answer(run_check(tmp_path, TMPDIR=str(tmp_path))) == "loops"


@needs_compiler
@needs_compiler
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no Linux")
def test_constants_are_in_memory(folder: Path) -> None:
    """Where no element takes a constant, none is loaded: each masked read of it is a fault then."""
    x = RNG.uniform(1.0, 2.0, 1000)
    in_c(lambda x: np.log(np.where(x < 0.987654321, 3.1415, x)) * x, x)
    sizes = []
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if " r--p " in line:
            is_ours = str(folder) in line
        elif line.startswith("Size:"):
            size = line.split()[1]
        elif line.startswith("Rss:") and is_ours:
            sizes.append((line.split()[1], size))
        elif "-" in line.split()[0] and " r--p " not in line:
            is_ours = False
    assert sizes and all(there == size for there, size in sizes)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert answer(run_check(tmp_path / "file" / "cache", TMPDIR=str(tmp_path))) == "loops"


@needs_compiler
@pytest.mark.parametrize("slow", [False, True])
def test_the_faster_code_stays(monkeypatch: pytest.MonkeyPatch, slow: bool) -> None:
    x = np.ones(3)
    made = program.Program(funcgrad.make_jaxpr(lambda x: np.sin(x) * x)(x), "auto")
    given = made._numpy

    def in_numpy(*args: Any) -> Any:
        time.sleep(0.002)
        return given(*args)

    def use_c() -> None:
        def in_c(*args: Any) -> Any:
            time.sleep(0.01 if slow else 0.0)
            return given(*args)

        made.c_source, made.source, made.run = "in C", "calls C", in_c

    monkeypatch.setattr(made, "_use_c", use_c)
    monkeypatch.setattr(program, "LONG", 0.0)
    monkeypatch.setattr(made, "_numpy", in_numpy)
    made.run(x)
    while made.c_source == "":
        time.sleep(0.001)
    for _ in range(program.TRIALS + 1):
        time.sleep(0.001)
        assert made.run(x)[0].tolist() == (np.sin(x) * x).tolist()
    assert made.c_source == ("" if slow else "in C")
    assert (made.run is in_numpy) == slow


def test_a_compiler_that_is_wrong(monkeypatch: Any) -> None:
    """The first results in C are compared with NumPy's; what is written into comes out right too."""
    made = program.Program(
        funcgrad.make_jaxpr(lambda x, y: (np.sin(x), y * 2.0))(np.ones(3), np.ones(3)), "auto",
        ((1, 1),),
    )  # fmt: skip
    given = made._numpy

    def use_c() -> None:
        def in_c(*args: Any) -> Any:
            found = given(*args)
            found[0][1] = 0.0
            return found

        made.c_source, made.source, made.run = "in C", "calls C", in_c

    monkeypatch.setattr(made, "_use_c", use_c)
    monkeypatch.setattr(program, "LONG", 0.0)
    x, y = np.ones(3), np.ones(3)
    made.run(x, y)
    while made.c_source == "":
        time.sleep(0.001)
    with pytest.warns(RuntimeWarning, match="gives other numbers than NumPy's"):
        found = made.run(x, y)
    assert found[0].tolist() == np.sin(x).tolist() and y.tolist() == [4.0] * 3
    assert made.run is given and made.c_source == ""


@needs_compiler
def test_rounding_is_no_fault(monkeypatch: Any) -> None:
    """A chaotic system goes other ways after a rounding; C is not wrong for that."""
    monkeypatch.setattr(program, "LONG", 0.0)

    @funcgrad.jit
    def walked(x: Any) -> Any:
        step = lambda c, _: (3.99 * c * (1 - c) + 1e-3 * np.sin(c), None)  # noqa: E731
        return funcgrad.lax.scan(step, x, None, length=300)[0]

    x = np.linspace(0.1, 0.9, 50)
    first = walked(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while "kernel" not in walked.code:
            time.sleep(0.01)
            walked(x)
        for _ in range(2 * program.TRIALS):
            assert walked(x).shape == first.shape


@needs_compiler
@pytest.mark.parametrize("shape", [(6, 1, 1), (4, 1, 1, 1), (28,), (28, 1), ()])
def test_operands_that_are_repeated_along_axes(shape: tuple[int, ...]) -> None:
    """NumPy hands them to loops as numbers, as rows, or repeated in a buffer."""
    x, b, c = RNG.normal(size=(4, 6, 28, 28)), RNG.normal(size=shape), RNG.normal(size=(6, 1, 1))

    def f(x: Any, b: Any, c: Any) -> Any:
        y = np.maximum(x + b, 0.0)
        return y * c, y > 0.5

    for found, expected in zip(in_c(f, x, b, c), f(x, b, c), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint64", "int64"])
@pytest.mark.parametrize("k", [-1, 3, 2**40])
def test_arguments_that_no_element_can_be(dtype: str, k: int) -> None:
    """NumPy compares a Python number as it is; an argument was cast to the dtype of the array."""
    x = np.array([0, 5, np.iinfo(dtype).max], dtype)
    for compare in (np.greater, np.equal, np.less_equal):

        def f(x: Any, k: Any) -> Any:
            return np.where(compare(x, k), 1.0, 2.0) * 3.0  # noqa: B023

        with funcgrad.config("c"):
            np.testing.assert_array_equal(funcgrad.jit(f)(x, k), f(x, k))


def test_sums_over_no_axis() -> None:
    """They convert only."""
    for dtype in (np.int32, np.uint8, bool, np.float32):
        x = np.arange(3).astype(dtype)
        with funcgrad.config("c"):
            found = funcgrad.jit(lambda x: np.sum(x, axis=()) * 2)(x)
            mapped = funcgrad.jit(funcgrad.vmap(lambda v: np.sum(v) * 2))(x)
        expected = np.sum(x, axis=()) * 2
        for y in (found, mapped):
            np.testing.assert_array_equal(y, expected)
            assert y.dtype == expected.dtype
