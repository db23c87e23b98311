"""Kernels of CUDA give what NumPy gives: on the host through a shim, on a device where there is one.

Many functions are made one program, so that their kernels are compiled at once.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import fakecupy
import numpy as np
import pytest
import samples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from test_c import FUNCTIONS, GROUPS, assert_close, values
from test_registry import NOT_ON_CUPY

import funcgrad
from funcgrad.compile import c_source, cuda_run, cuda_source
from funcgrad.compile.lower import lower
from funcgrad.compile.simplify import simplify
from funcgrad.core import REGISTRY
from funcgrad.errors import DeviceError
from funcgrad.testing import strategies as fs
from funcgrad.testing.forms import FORMS
from funcgrad.testing.programs import programs

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
needs_compiler = pytest.mark.skipif(
    fakecupy.host_compiler() is None, reason="no C++ compiler that the shim knows"
)
SAMPLES = samples.collect()
NAMES = sorted((SAMPLES.keys() & REGISTRY.keys()) - NOT_ON_CUPY.keys())
OF_PROGRAMS = [name for name in FORMS if name not in NOT_ON_CUPY]
EXAMPLES = max(settings().max_examples // 8, 2)
# Examples that are many programs at once are expensive to shrink.
batches = settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))


class OnDevice:
    """A function of arrays, compiled for arrays of a device that are like these."""

    def __init__(self, f: Callable[..., Any], args: Sequence[Any]) -> None:
        jaxpr = simplify(funcgrad.make_jaxpr(f)(*args))
        self.consts = jaxpr.consts
        self.program = cuda_run.DeviceProgram(lower(jaxpr))

    @property
    def kernels(self) -> int:
        return self.program.cuda.count('extern "C"')

    def __call__(self, xp: ModuleType, args: Sequence[Any]) -> list[Any]:
        return list(self.program.run(*upload(xp, self.consts), *upload(xp, args)))


def upload(xp: ModuleType, args: Sequence[Any]) -> list[Any]:
    """The arrays on the device, with their strides."""
    if xp.ndarray is fakecupy.ndarray:
        return [fakecupy.ndarray(x) if isinstance(x, np.ndarray) else x for x in args]
    return [xp.asarray(x) if isinstance(x, np.ndarray) else x for x in args]


def results(f: Callable[..., Any], args: Sequence[Any]) -> list[Any]:
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in funcgrad.tree.flatten(f(*args))[0]]


def on_host(ys: Sequence[Any]) -> list[Any]:
    """Copies of the arrays of a device; numbers that do not depend on it may be NumPy's."""
    return [y.get() if hasattr(y, "get") else np.asarray(y) for y in ys]


def assert_same(
    found: Sequence[Any], expected: Sequence[Any], units: float = 1e3, least_eps: float = 0.0
) -> None:
    """The same types, and the same numbers up to rounding, of at least `least_eps`."""
    assert len(found) == len(expected)
    for k, (a, b) in enumerate(zip(on_host(found), expected, strict=True)):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), k
        if b.dtype.kind not in "fc":
            np.testing.assert_array_equal(a, b, err_msg=str(k))
            continue
        eps = max(float(np.finfo(b.dtype).eps), least_eps)
        size = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
        np.testing.assert_allclose(a, b, rtol=units * eps, atol=units * eps * size, err_msg=str(k))


# ---------------------------------------------------------------- many functions at once


class Joined:
    """Functions with their arguments as one function of all arguments."""

    def __init__(self, parts: Sequence[tuple[Callable[..., Any], Sequence[Any]]]) -> None:
        self.parts = parts
        self.args = [x for _, xs in parts for x in xs]

    def __call__(self, *args: Any) -> list[Any]:
        found, at = [], 0
        for f, xs in self.parts:
            found.append(f(*args[at : at + len(xs)]))
            at += len(xs)
        return funcgrad.tree.flatten(found)[0]


def applied(f: Any, x: Any) -> Any:
    """A function of NumPy with a step after it, and its arguments: all values, or all pairs."""
    args = (x,) if f.nin == 1 else tuple(v.ravel().copy() for v in np.meshgrid(x, x))
    return (lambda *xs: f(*xs) * 1.5), args


@functools.cache
def functions(dtype: str) -> dict[str, tuple[Any, Any]]:
    """All functions that can be printed, of a dtype, with their arguments."""
    found = {}
    for f in FUNCTIONS:
        if f is np.fabs and dtype == "bool":  # funcgrad's gives float64
            continue
        call, args = applied(f, values(dtype))
        try:
            results(call, args)
        except (TypeError, ValueError):  # NumPy does not have it for this dtype
            continue
        found[f.__name__] = (call, args)
    return found


def strange(x: Any) -> Any:
    """The same numbers in memory that is not dense."""
    if not isinstance(x, np.ndarray) or x.ndim == 0:
        return x
    wide = np.repeat(x.T, 2, axis=0)[::2].T if x.ndim > 1 else np.repeat(x, 2)[::2]
    return wide[::-1].copy()[::-1] if x.ndim > 1 else wide


INTEGERS = np.array([2**31 - 1, -(2**31), 0, 5], "i4")
CASES = {
    **GROUPS,
    "wrapped": (lambda n: (n + 1 > n, n - 1 < n, -n * 2, n * n - n), (INTEGERS,)),
}
del CASES["empty"], CASES["constant array"]  # which have no kernels, or captured arrays


@functools.cache
def program(name: str) -> tuple[Joined, OnDevice]:
    """The programs whose kernels are tested: the functions of one dtype, or the groups."""
    if name == "groups":
        joined = Joined(list(CASES.values()))
    else:
        joined = Joined(list(functions(name).values()))
    return joined, OnDevice(joined, joined.args)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool"])
def test_functions(dtype: str, cupy: ModuleType) -> None:
    joined, compiled = program(dtype)
    assert compiled.kernels >= {"f": 40, "i": 3, "b": 0}[np.dtype(dtype).kind]
    found = on_host(compiled(cupy, joined.args))
    expected = results(joined, joined.args)
    for (name, (_, args)), a, b in zip(functions(dtype).items(), found, expected, strict=True):
        assert_close(name, a, b, 6.0, args)


@needs_compiler
@pytest.mark.parametrize("name", sorted(c_source._SPECIAL))
def test_functions_of_scipy(name: str, cupy: ModuleType) -> None:
    f = REGISTRY[name]
    x = values("float64")
    compiled = OnDevice(lambda x: f(x) * 1.5, [x])
    assert compiled.kernels == 1
    assert_close(name, on_host(compiled(cupy, [x]))[0], f(x) * 1.5, 16.0, (x,))


@pytest.fixture(params=[False, True], ids=["forwards", "backwards"])
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order in which the threads of a kernel run."""
    monkeypatch.setattr(fakecupy.RawModule, "backwards", request.param)


@needs_compiler
@pytest.mark.parametrize("layout", [lambda x: x, strange], ids=["dense", "strided"])
def test_groups(layout: Callable[[Any], Any], cupy: ModuleType, order: None) -> None:
    joined, compiled = program("groups")
    args = [layout(x) for x in joined.args]
    expected = results(joined, joined.args)
    with fakecupy.no_sync():
        found = compiled(cupy, args)
    assert_same(found, expected, units=8)


# ---------------------------------------------------------------- sums


def terms(x: Any) -> tuple[Any, Any]:
    y = x > False if x.dtype == bool else x * 3
    return y, y == x if x.dtype == bool else y + x


def two_sums(x: Any) -> list[Any]:
    """That are made in one kernel."""
    return [np.sum(y) for y in terms(x)]


@needs_compiler
def test_sums(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """In several blocks of several turns; accurate, and to the last bit the same in any order."""
    monkeypatch.setattr(cuda_source, "MOST_PARTS", 3)
    sizes = [1, 2, 31, 33, 255, 256, 257, 512, 769, 5000]
    rng = np.random.default_rng(0)
    args = [
        (rng.random(n) * 8 + 0.1).astype(t) for n in sizes for t in ("f8", "f4", "i8", "i4", "?")
    ]
    joined = Joined([(two_sums, [x]) for x in args])
    compiled = OnDevice(joined, args)
    assert compiled.kernels > len(args)
    found = []
    for backwards in (False, True):
        monkeypatch.setattr(fakecupy.RawModule, "backwards", backwards)
        found.append(on_host(compiled(cupy, args)))
    exact = [math.fsum(y.tolist()) for x in args for y in terms(x)]
    for a, b, sum_ in zip(*found, exact, strict=True):
        bound = 16 * np.finfo(a.dtype).eps * sum_ if a.dtype.kind == "f" else 0
        assert a == b and a.shape == () and abs(float(a) - sum_) <= bound


# ---------------------------------------------------------------- random programs


def broadcast_case(data: Any) -> tuple[Callable[..., Any], list[Any]]:
    shapes = data.draw(fs.broadcastable(3, ndim=(1, 4), side=(1, 5)))
    layouts = data.draw(st.lists(st.sampled_from([lambda x: x, strange]), min_size=3, max_size=3))
    xs = [layout(data.draw(fs.arrays(s))) for layout, s in zip(layouts, shapes, strict=True)]

    def f(x: Any, y: Any, z: Any) -> Any:
        w = np.exp(x * y - z) * np.where(x > y, z, x)
        return w * 2.0, np.sum(w), np.sum(w, keepdims=True), w - np.mean(w)

    return f, xs


@needs_compiler
def test_every_broadcast(cupy: ModuleType) -> None:
    """An operand may have or lack any of the group's axes."""
    shape = (2, 3, 1, 4)
    whole = np.arange(24.0).reshape(shape)
    parts = []
    for kept in itertools.product([False, True], repeat=4):
        small = tuple(n if k else 1 for n, k in zip(shape, kept, strict=True))
        x = np.cos(np.arange(float(np.prod(small)))).reshape(small)
        other = x[0] if small[0] == 1 else strange(x)
        parts += [(lambda x, y: (x + y) * y - x, [whole, own]) for own in (x, other)]
    joined = Joined(parts)
    compiled = OnDevice(joined, joined.args)
    assert compiled.kernels == len(parts)
    assert_same(compiled(cupy, joined.args), results(joined, joined.args), units=4)


@needs_compiler
@batches
@given(data=st.data())
def test_broadcasts(data: Any, cupy: ModuleType) -> None:
    joined = Joined([broadcast_case(data) for _ in range(12)])
    compiled = OnDevice(joined, joined.args)
    assert compiled.kernels
    assert_same(compiled(cupy, joined.args), results(joined, joined.args))


@needs_compiler
@batches
@given(
    ps=st.lists(
        programs(dtypes=(np.float64, np.float32), most=8, only=OF_PROGRAMS),
        min_size=10,
        max_size=10,
    )
)
def test_random_programs(ps: Any, cupy: ModuleType) -> None:
    """And their gradients."""

    def total(p: Any) -> Callable[..., Any]:
        return lambda *xs: sum(
            np.sum(np.cos(y.real) * y.real) for y in funcgrad.tree.flatten(p(*xs))[0]
        )

    slopes = [funcgrad.grad(total(p), argnums=tuple(range(len(p.args)))) for p in ps]
    joined = Joined([(f, p.args) for p, g in zip(ps, slopes, strict=True) for f in (p, g)])
    compiled = OnDevice(joined, joined.args)
    found = compiled(cupy, joined.args)
    for f, args in joined.parts:
        expected = results(f, args)
        # What is computed in single precision on the way to a double has its rounding.
        eps = max(float(np.finfo(x.dtype).eps) for x in args)
        assert_same(found[: len(expected)], expected, least_eps=eps)
        found = found[len(expected) :]
    assert not found


def primitive_case(data: Any, name: str) -> tuple[Callable[..., Any], list[Any]]:
    """A primitive as a function of its arrays, and the arrays."""
    args, params = data.draw(SAMPLES[name], label="sample")
    places = [i for i, x in enumerate(args) if isinstance(x, np.ndarray)]

    def f(*xs: Any) -> Any:
        full = list(args)
        for i, x in zip(places, xs, strict=True):
            full[i] = x
        return REGISTRY[name](*full, **params)

    return f, [args[i] for i in places]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_primitive_without_kernels(name: str, data: Any, cupy: ModuleType) -> None:
    """What CuPy's functions make of the program is what they make of the function."""
    f, args = primitive_case(data, name)
    compiled = OnDevice(f, args)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_source, "is_worth_it", lambda group: False)
        compiled = OnDevice(f, args)
    assert_same(compiled(cupy, args), on_host(results_there(f, cupy, args)))


def results_there(f: Callable[..., Any], cupy: ModuleType, args: Sequence[Any]) -> list[Any]:
    with np.errstate(all="ignore"):
        return funcgrad.tree.flatten(f(*upload(cupy, args)))[0]


@needs_compiler
def test_primitives_in_kernels(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups may be of one step here."""
    monkeypatch.setattr(cuda_source, "is_worth_it", lambda g: g.outs and math.prod(g.shape) > 0)
    kernels = 0

    @batches
    @given(data=st.data())
    def check(data: Any) -> None:
        nonlocal kernels
        joined = Joined([primitive_case(data, name) for name in NAMES])
        compiled = OnDevice(joined, joined.args)
        kernels += compiled.kernels
        assert_same(compiled(cupy, joined.args), results(joined, joined.args), units=1e4)

    check()
    assert kernels > 15


# ---------------------------------------------------------------- programs


def rows(x: Any, ys: Any) -> Any:
    """A loop whose carry is an array and a number, and swaps them for new ones."""

    def step(carry: Any, y: Any) -> Any:
        a, b, total = carry
        c = np.tanh(a * y + b) * 0.5
        return (b, c, total + np.sum(c * y)), (c * total, a)

    return funcgrad.lax.scan(step, (x, x, 2.0), ys, reverse=True)


@needs_compiler
@pytest.mark.parametrize("length", [0, 1, 5])
def test_loops(length: int, cupy: ModuleType) -> None:
    rng = np.random.default_rng(0)
    args = [rng.normal(size=3), rng.normal(size=(length, 2, 3))[:, 1]]
    slope = funcgrad.grad(lambda *xs: sum(map(np.sum, funcgrad.tree.leaves(rows(*xs)))), (0, 1))
    joined = Joined([(rows, args), (slope, args)])
    compiled = OnDevice(joined, joined.args)
    assert compiled.kernels and "for i" in compiled.program.text
    with fakecupy.no_sync():
        found = compiled(cupy, joined.args)
    assert_same(found, results(joined, joined.args))


def test_results_share_nothing(cupy: ModuleType) -> None:
    """With arguments, constants, and each other."""
    constant = np.arange(3.0)
    x = constant + 1

    def f(x: Any) -> Any:
        y = np.cumsum(x)
        last, _ = funcgrad.lax.scan(lambda carry, row: (row, carry), x[:1], x.reshape(3, 1))
        return x, x, x.reshape(3, 1), y, y[::-1], constant, x + 1, last, np.float64(2.0)

    compiled = OnDevice(f, [x])
    given_arrays = upload(cupy, [x])
    found = [compiled.program.run(*upload(cupy, compiled.consts), *given_arrays) for _ in range(2)]
    arrays = [y._host for y in (*found[0], *found[1], *given_arrays) if hasattr(y, "get")]
    assert len(arrays) == 17
    for k, a in enumerate(arrays):
        assert not any(np.may_share_memory(a, b) for b in (*arrays[:k], constant))
    assert_same(found[0], results(f, [x]))


def test_no_array_is_moved(cupy: ModuleType) -> None:
    compiled = OnDevice(lambda x, y: x * y, [np.ones(3), np.ones(3)])
    with pytest.raises(DeviceError, match="two modules"):
        compiled.program.run(cupy.ones(3), np.ones(3))
    assert cuda_run.on_device([1.0, np.ones(3), cupy.ones(3)])
    assert not cuda_run.on_device([1.0, np.ones(3), np.float64(1), object()])


# ---------------------------------------------------------------- the shim

WRONG = """
extern "C" __global__ void shifted(const double *x, double *y) {
  __shared__ double seen[64];
  seen[threadIdx.x] = x[threadIdx.x];
  %s;
  y[threadIdx.x] = seen[(threadIdx.x + 1) %% 64];
}
"""
BARRIERS = {"__syncthreads()": True, "": False, "if (threadIdx.x) __syncthreads()": None}


@needs_compiler
@pytest.mark.parametrize("barrier", BARRIERS)
def test_the_shim_tells_races(barrier: str, cupy: ModuleType) -> None:
    """A kernel without its barrier gives something else, and one that waits for ever is an error."""
    kernel = cupy.RawModule(code=WRONG % barrier).get_function("shifted")
    x, y = cupy.arange(64.0), cupy.zeros(64)
    if BARRIERS[barrier] is None:
        with pytest.raises(RuntimeError, match="wait for threads that have ended"):
            kernel((1,), (64,), (x, y))
        return
    kernel((1,), (64,), (x, y))
    assert np.array_equal(y.get(), np.roll(x.get(), -1)) == BARRIERS[barrier]


# ---------------------------------------------------------------- the real compiler


def nvrtc() -> Any:
    """NVIDIA's compiler, if its wheel is installed."""
    try:
        spec = importlib.util.find_spec("nvidia.cuda_nvrtc")
    except ModuleNotFoundError:
        spec = None
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).glob("lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    pytest.skip("NVIDIA's compiler is not installed")


def compile_for_device(code: str) -> str:
    """What the compiler says against a source, for sm_90; "" if nothing."""
    library, made, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    options = [o.encode() for o in ("--gpu-architecture=sm_90", *cuda_source.OPTIONS)]
    library.nvrtcCreateProgram(ctypes.byref(made), code.encode(), b"kernels.cu", 0, None, None)
    failed = library.nvrtcCompileProgram(made, len(options), (ctypes.c_char_p * 9)(*options))
    library.nvrtcGetProgramLogSize(made, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(made, log)
    library.nvrtcDestroyProgram(ctypes.byref(made))
    return log.value.decode() if failed else ""


SOURCES = ["float64", "float32", "int64", "int32", "groups"]


@pytest.mark.parametrize("name", SOURCES)
def test_compiler_takes_the_kernels(name: str) -> None:
    code = program(name)[1].program.cuda
    assert code.count('extern "C"') > 2
    assert not compile_for_device(code)


def test_compiler_refuses_rubbish() -> None:
    assert "error" in compile_for_device('extern "C" __global__ void f() { rubbish; }')


@batches
@given(data=st.data())
def test_compiler_takes_random_kernels(data: Any) -> None:
    joined = Joined([broadcast_case(data) for _ in range(4)])
    assert not compile_for_device(OnDevice(joined, joined.args).program.cuda)


# ---------------------------------------------------------------- a device


@pytest.fixture
def device() -> ModuleType:
    """CuPy, where it and a device are."""
    found = pytest.importorskip("cupy")
    if "fake" in found.__version__:
        pytest.skip("the stand-in for CuPy is in use; run the tests of devices alone")
    try:
        found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError:
        pytest.skip("no CUDA device")
    return found


def strange_there(xp: ModuleType, x: Any) -> Any:
    """The same numbers in memory of the device that is not dense."""
    return xp.repeat(x, 2, axis=-1)[..., ::2] if hasattr(x, "get") and x.ndim else x


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_on_a_device(dtype: str, device: ModuleType) -> None:
    joined, compiled = program(dtype)
    found = on_host(compiled(device, joined.args))
    expected = results(joined, joined.args)
    for (name, (_, args)), a, b in zip(functions(dtype).items(), found, expected, strict=True):
        assert_close(name, a, b, 16.0, args)


@pytest.mark.gpu
@pytest.mark.parametrize("layout", [lambda xp, x: x, strange_there], ids=["dense", "strided"])
def test_groups_on_a_device(layout: Callable[..., Any], device: ModuleType) -> None:
    joined, compiled = program("groups")
    args = [layout(device, x) for x in upload(device, joined.args)]
    found = compiled.program.run(*upload(device, compiled.consts), *args)
    assert_same(found, results(joined, joined.args))


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 257, 10_000_019])
def test_sums_on_a_device(n: int, device: ModuleType) -> None:
    """Accurate, and to the last bit the same at every run."""
    x = np.random.default_rng(0).random(n)
    compiled = OnDevice(lambda x: np.sum(x * 3 + 1), [x])
    found = [float(compiled(device, [x])[0]) for _ in range(4)]
    exact = math.fsum((x * 3 + 1).tolist())
    assert len(set(found)) == 1
    assert abs(found[0] - exact) <= 64 * np.finfo(float).eps * exact
