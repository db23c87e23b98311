"""Every primitive against the algebra that its kind promises, on operands from `samples/`.

Nothing here knows a derivative. A check draws a sample, runs the primitive in two ways that must
agree, and is run for every primitive of the registry.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import pkgutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import fakecupy
import numpy as np
import pytest
import samples
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.lax
import funcgrad.ops
from funcgrad import algebra
from funcgrad.algebra import Bilinear, Linear, _OneRule
from funcgrad.core import REGISTRY, Aval, Primitive, aval_of
from funcgrad.jaxpr import check_jaxpr, eval_jaxpr
from funcgrad.testing import check_all
from funcgrad.testing.subject import direction, largest
from funcgrad.transforms import vmap as batching
from funcgrad.transforms.transpose import cotangents

for _module in pkgutil.iter_modules(funcgrad.ops.__path__):
    importlib.import_module(f"funcgrad.ops.{_module.name}")
SAMPLES = samples.collect()

# ---------------------------------------------------------------- what is excepted, and why

# Primitives that have no samples: they take functions or programs; `test_transforms.py` has them.
HIGHER_ORDER: dict[str, str] = {
    "checkpoint_call": "takes a program",
    **dict.fromkeys(["cond", "scan", "while_loop", "while_derivative"], "take programs"),
    "custom_call": "takes a function and its rules",
    "jit_call": "takes a program",
    **dict.fromkeys(["all_examples", "own_of_sum"], "need a named batch"),
    **dict.fromkeys(["python_call", "python_effect"], "call what they are given"),
}
# Primitives whose derivative is zero by declaration, although differences are not.
DECLARED_CONSTANT: dict[str, str] = {
    "stop_gradient": "that is its purpose",
    "random_log_gamma": "funcgrad.random moves it as the inverse distribution function does",
    "random_binomial": "it jumps, anywhere",
}
# Primitives for which `vmap` runs a loop.
WITHOUT_BATCH_RULE: dict[str, str] = {}
# Primitives that do not run on CuPy.
NOT_ON_CUPY: dict[str, str] = {
    **dict.fromkeys(
        ["jv", "yv", "iv", "ive", "kv", "kve", "spherical_jn"], "CuPy has orders 0 and 1 only"
    ),
    **dict.fromkeys(["ellipk", "ellipkm1"], "their derivatives need ellipe"),
    **dict.fromkeys(
        ["jacobi_sn", "jacobi_cn", "jacobi_dn", "jacobi_am"], "their derivatives by m need elliprd"
    ),
    **dict.fromkeys(["logm", "logm_frechet", "sqrtm", "stable_subspace"], "CuPy has no Schur form"),
    "riemann_zeta": "CuPy has it above 1 only",
    "sparse_product": "its matrices are SciPy's",
    **dict.fromkeys(["schur", "rsf2csf", "hessenberg"], "CuPy does not have it"),
    **dict.fromkeys(
        [
            "airy_ai",
            "airy_aip",
            "airy_bi",
            "airy_bip",
            "betaincc",
            "cosine_integral",
            "dawsn",
            "ellipe",
            "ellipeinc",
            "ellipem1",
            "ellipkinc",
            "elliptic_moment",
            "erfi",
            "eval_chebyt",
            "eval_chebyu",
            "eval_gegenbauer",
            "eval_genlaguerre",
            "eval_hermite",
            "eval_hermitenorm",
            "eval_jacobi",
            "eval_laguerre",
            "eval_legendre",
            "fresnel_cosine",
            "fresnel_sine",
            "hyp0f1",
            "hyp1f1",
            "hyp2f1",
            "hyperbolic_cosine_integral",
            "hyperbolic_sine_integral",
            "hyperu",
            "kummer_by_parameters",
            "lambertw",
            "modstruve",
            "ndtri_exp",
            "owens_t",
            "powm1",
            "sine_integral",
            "spence",
            "sph_harm_y",
            "struve",
            "wofz",
            "wrightomega",
        ],
        "CuPy does not have it",
    ),
}
# Primitives that read numbers back from the device, which waits for it.
BOUNDS, SINGULAR = "indices out of bounds raise", "singular operands raise"
WAITS_FOR_CUPY: dict[str, str] = {
    **dict.fromkeys(["gather", "gather_last"], BOUNDS),
    **dict.fromkeys(["scatter_add", "scatter_last", "scatter_set"], BOUNDS),
    **dict.fromkeys(["group_max", "group_min"], BOUNDS),
    **dict.fromkeys(
        ["cholesky", "inv", "matrix_solve", "triangular_solve", "pinv", "qr"], SINGULAR
    ),
    **dict.fromkeys(["banded_solve", "lu_factor", "polar", "sylvester"], SINGULAR),
    **dict.fromkeys(["expm", "expm_frechet"], "the size of the matrices decides"),
    **dict.fromkeys(["det", "slogdet", "cofactor", "adjugate_along"], SINGULAR),
    **dict.fromkeys(["hyp0f1_by_v", "kve_moment"], "how many terms are needed"),
    **dict.fromkeys(["eigh", "eigvalsh", "svd", "svdvals", "gap_divide"], "repeated values warn"),
    "svd_complete": "CuPy gives NaN where NumPy raises",
    **dict.fromkeys(["eig", "eigvals"], "the type of NumPy's depends on the values"),
    **dict.fromkeys(
        ["random_log_gamma", "random_poisson", "random_binomial"], "what is rejected is drawn again"
    ),
}

NAMES = sorted(REGISTRY.keys() - HIGHER_ORDER.keys())
SAMPLED = [name for name in NAMES if name in SAMPLES]
SINGLE = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
every_primitive = pytest.mark.parametrize("name", SAMPLED)
drawn = given(data=st.data())


# ---------------------------------------------------------------- cases


@dataclass(frozen=True)
class Case:
    """A primitive with operands, a random generator, and the places of the floating operands."""

    prim: Primitive
    args: tuple[Any, ...]
    params: dict[str, Any]
    rng: np.random.Generator

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(i for i, x in enumerate(self.args) if is_floating(x))

    def subsets(self) -> list[tuple[int, ...]]:
        """Every non-empty set of floating operands, or the small and the whole ones of many."""
        n = len(self.places)
        sizes = range(1, n + 1) if n <= 3 else (1, 2, n)
        return [s for size in sizes for s in itertools.combinations(self.places, size)]

    def at(self, places: Sequence[int]) -> list[Any]:
        return [self.args[i] for i in places]

    def function(self, places: Sequence[int]) -> Callable[..., list[Any]]:
        """The floating results as a function of the operands in these places."""

        def f(*xs: Any) -> list[Any]:
            args = list(self.args)
            for i, x in zip(places, xs, strict=True):
                args[i] = x
            return floating(self.run(*args))

        return f

    def run(self, *args: Any) -> tuple[Any, ...]:
        return as_tuple(self.prim, self.prim(*args, **self.params))

    def directions(self, xs: Sequence[Any]) -> list[Any]:
        return [direction(self.rng, x) for x in xs]

    def cast(self, dtypes: dict[Any, Any], places: Sequence[int] | None = None) -> Case:
        """The same case with operands (of these places) of other dtypes."""
        args = [
            x.astype(dtypes.get(x.dtype, x.dtype))
            if isinstance(x, np.ndarray) and (places is None or i in places)
            else x
            for i, x in enumerate(self.args)
        ]
        return Case(self.prim, tuple(args), self.params, self.rng)


def draw_case(data: Any, name: str) -> Case:
    args, params = data.draw(SAMPLES[name], label="sample")
    seed = data.draw(st.integers(0, 99), label="seed")
    return Case(REGISTRY[name], args, params, np.random.default_rng(seed))


def is_floating(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def floating(outs: Sequence[Any]) -> list[Any]:
    return [y for y in outs if y.dtype.kind in "fc"]


def as_tuple(prim: Primitive, out: Any) -> tuple[Any, ...]:
    return tuple(out) if prim.multiple else (out,)


def coarsest(arrays: Sequence[Any]) -> float:
    """The largest machine epsilon among the arrays' dtypes."""
    return max((float(np.finfo(a.dtype).eps) for a in arrays if a.dtype.kind in "fc"), default=0.0)


def assert_close(found: Sequence[Any], expected: Sequence[Any], rtol: float) -> None:
    """Equal up to `rtol` of the largest number in sight."""
    assert [np.shape(a) for a in found] == [np.shape(b) for b in expected]
    atol = rtol * max(largest(expected), 1e-3) if np.isfinite(largest(expected)) else 0.0
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


# ---------------------------------------------------------------- values


@every_primitive
@drawn
def test_result_has_the_declared_type(name: str, data: Any) -> None:
    case = draw_case(data, name).cast(data.draw(st.sampled_from([{}, SINGLE])))
    before = [np.array(x, copy=True) for x in case.args]
    outs = case.run(*case.args)
    declared = case.prim.aval(*map(aval_of, case.args), **case.params)
    hash(tuple(case.params.items()))
    for y, aval in zip(outs, as_tuple(case.prim, declared), strict=True):
        assert (y.shape, y.dtype) == (aval.shape, aval.dtype)
    for x, copy in zip(case.args, before, strict=True):
        assert np.asarray(x).tobytes() == copy.tobytes(), "an operand was changed"
    arrays = [x for x in case.args if isinstance(x, np.ndarray)]
    shared = any(np.may_share_memory(x, y) for x in arrays for y in outs)
    # What cannot be written into may share memory; what can must not, unless it is a view.
    writeable = any(getattr(y.flags, "writeable", False) for y in outs)
    assert case.prim.is_view or not (shared and writeable), "the result aliases an operand"


@every_primitive
@drawn
def test_program_gives_the_same_values(name: str, data: Any) -> None:
    case = draw_case(data, name)
    places = [i for i, x in enumerate(case.args) if isinstance(x, np.ndarray)]

    def f(*xs: Any) -> Any:
        args = list(case.args)
        for i, x in zip(places, xs, strict=True):
            args[i] = x
        return case.run(*args)

    program = funcgrad.make_jaxpr(f)(*case.at(places))
    check_jaxpr(program)
    assert name in str(program) or not places
    found = eval_jaxpr(program, *case.at(places))
    expected = case.run(*case.args)
    for typed in (program.out_avals, found):
        assert [(y.shape, y.dtype) for y in typed] == [(y.shape, y.dtype) for y in expected]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@every_primitive
@drawn
def test_linear_kinds_are_linear(name: str, data: Any) -> None:
    case = draw_case(data, name)
    prim = case.prim
    if not isinstance(prim, Linear | Bilinear):
        return
    jointly = isinstance(prim, Linear)
    rules = prim.rules if not (jointly and prim.variadic) else [prim.variadic] * len(case.args)
    linear = [i for i, r in enumerate(rules[: len(case.args)]) if r is not None]
    xs = [np.asarray(x, float) if np.asarray(x).dtype == bool else x for x in case.args]
    ys = [_other(case.rng, x) for x in xs]
    groups = [linear] if jointly else [[i] for i in linear]
    for group in groups:

        def at(operand: Callable[[int], Any], group: list[int] = group) -> Any:
            return case.run(*[operand(i) if i in group else x for i, x in enumerate(xs)])

        fx, fy = at(lambda i: xs[i]), at(lambda i: ys[i])
        found = at(lambda i: 2 * xs[i] + (-3) * ys[i])
        expected = [2 * a + (-3) * b for a, b in zip(fx, fy, strict=True)]
        assert_close(found, expected, 1e3 * coarsest(expected))


def _other(rng: np.random.Generator, x: Any) -> Any:
    """Another operand of the type of `x`."""
    if np.asarray(x).dtype.kind in "iu":
        return rng.integers(-5, 5, np.shape(x)) if isinstance(x, np.ndarray) else 4
    return direction(rng, x) if isinstance(x, np.ndarray) else 0.7


# ---------------------------------------------------------------- first derivatives


FIRST_ORDER = ["types", "transpose", "linear", "own memory", "repeatable", "numerical"]
OTHERS = ["second order", "checkpoint", "vmap"]
# The kit's checks of sizes are for functions of any size, and primitives have parameters.


def passes(case: Case, places: Sequence[int], only: Sequence[str]) -> None:
    """The function of the operands in these places passes the kit's checks."""
    f = case.function(places)
    if places and f(*case.at(places)):
        report = check_all(f, case.at(places), only=only, seed=int(case.rng.integers(1000)))
        assert report.ok, str(report)


@every_primitive
@drawn
def test_first_derivatives(name: str, data: Any) -> None:
    """By every set of operands: what a rule reads depends on which are wanted."""
    case = draw_case(data, name)
    only = [check for check in FIRST_ORDER if check != "numerical" or name not in DECLARED_CONSTANT]
    for places in case.subsets():
        passes(case, places, only)


@every_primitive
@settings(max_examples=settings().max_examples // 2)
@drawn
def test_second_derivatives_and_transforms(name: str, data: Any) -> None:
    passes(case := draw_case(data, name), case.places, OTHERS)


@every_primitive
@drawn
def test_single_precision(name: str, data: Any) -> None:
    """A gradient has the dtype of its operand, also where the others have another one."""
    case = draw_case(data, name)
    for places in case.subsets():
        mixed = case.cast(SINGLE, places)
        passes(mixed, mixed.places, ["types", "transpose"])


@every_primitive
@drawn
def test_strong_zeros_change_nothing_that_is_finite(name: str, data: Any) -> None:
    case = draw_case(data, name)
    xs = case.at(case.places)
    f = case.function(case.places)
    outs = f(*xs)
    if not xs or not outs:
        return
    ts = case.directions(xs)
    cts = [c * (case.rng.random(c.shape) < 0.5) for c in case.directions(outs)]
    _, tangents = funcgrad.jvp(f, tuple(xs), tuple(ts))
    found = funcgrad.vjp(f, *xs)[1](cts)
    with funcgrad.strong_zeros():
        _, strong_tangents = funcgrad.jvp(f, tuple(xs), tuple(ts))
        strong = funcgrad.vjp(f, *xs)[1](cts)
    assert_close(strong_tangents, tangents, 1e-13)
    assert_close(strong, found, 1e-13)


# ---------------------------------------------------------------- batches


@every_primitive
@drawn
def test_vmap_is_the_stacked_loop(name: str, data: Any) -> None:
    case = draw_case(data, name)
    size = data.draw(st.integers(1, 3), label="batch size")
    places = [i for i, x in enumerate(case.args) if isinstance(x, np.ndarray)]
    batching._warned.discard(name)
    for axes in itertools.product((None, 0, -1), repeat=len(places)):
        if all(a is None for a in axes):
            continue
        runs = [list(case.args) for _ in range(size)]
        inputs = []
        for i, a in zip(places, axes, strict=True):
            examples = [variant(case.args[i], k if a is not None else 0) for k in range(size)]
            for run, x in zip(runs, examples, strict=True):
                run[i] = x
            inputs.append(examples[0] if a is None else np.stack(examples, axis=a))

        def f(*xs: Any) -> Any:
            args = list(case.args)
            for i, x in zip(places, xs, strict=True):
                args[i] = x
            return case.run(*args)

        with warnings.catch_warnings():
            if name in WITHOUT_BATCH_RULE:
                warnings.simplefilter("ignore", UserWarning)
            found = funcgrad.vmap(f, in_axes=axes)(*inputs)
        columns = zip(*[case.run(*run) for run in runs], strict=True)
        expected = [np.stack(column) for column in columns]
        assert [y.dtype for y in found] == [y.dtype for y in expected]
        assert_close(found, expected, 1e3 * coarsest(expected))


def variant(x: np.ndarray, k: int) -> np.ndarray:
    """The `k`-th of several operands of one type, each valid where `x` is."""
    if x.dtype.kind in "fc":
        return x * (1.0, 0.95, 0.97)[k]
    return np.roll(x, k)


# ---------------------------------------------------------------- what a rule reads


class Poison:
    """Only a type: it stands for an argument that a rule declares not to read."""

    __slots__ = ("dtype", "ndim", "shape", "size", "weak")
    __class__ = Aval  # type: ignore[assignment]  # the engine asks for the class of a bare type

    def __init__(self, x: Any) -> None:
        aval = aval_of(x)
        self.shape, self.dtype, self.weak = aval.shape, aval.dtype, aval.weak
        self.ndim, self.size = aval.ndim, aval.size

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a rule reads .{name} of an argument that it declares unread")

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError("a rule computes with an argument that it declares unread")

    __bool__ = __len__ = __float__ = __getitem__ = __eq__ = __array__ = __iter__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _refuse
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __abs__ = __mod__ = __invert__ = _refuse
    __hash__ = None  # type: ignore[assignment]


@every_primitive
@drawn
def test_unread_arguments_are_unread(name: str, data: Any) -> None:
    case = draw_case(data, name)
    prim, args, params = case.prim, case.args, case.params
    if not prim.differentiable or not case.places:
        return
    ans = prim(*args, **params)
    cts = [direction(case.rng, y) if y.dtype.kind in "fc" else None for y in as_tuple(prim, ans)]
    if all(ct is None for ct in cts):
        return
    ct = cts if prim.multiple else cts[0]
    for places in case.subsets():
        wanted = [i in places for i in range(len(args))]
        reads_ans, reads = prim.saves(wanted)
        poisoned = [x if read else Poison(x) for x, read in zip(args, reads, strict=True)]
        if prim.multiple:
            poisoned_ans: Any = ans if reads_ans else tuple(map(Poison, ans))
        else:
            poisoned_ans = ans if reads_ans else Poison(ans)
        found = cotangents(prim, ct, poisoned_ans, poisoned, wanted, params)
        expected = cotangents(prim, ct, ans, list(args), wanted, params)
        assert [g is None for g in found] == [g is None for g in expected]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["concatenate", "stack_arrays"])
def test_one_rule_for_many_operands_is_asked_once(name: str, monkeypatch: Any) -> None:
    asked = []
    read = algebra.arguments_read
    monkeypatch.setattr(algebra, "arguments_read", lambda *args: asked.append(1) or read(*args))
    places = tuple(i % 3 == 1 for i in range(211))
    assert REGISTRY[name].saves(places) == REGISTRY[name].saves(places)
    assert len(asked) <= 1
    assert REGISTRY[name].saves((False,) * 211) == (False, (False,) * 211)


# ---------------------------------------------------------------- another array module


@every_primitive
@drawn
def test_cupy_gives_the_same_numbers(name: str, cupy: ModuleType, data: Any) -> None:
    if name in NOT_ON_CUPY:
        pytest.skip(NOT_ON_CUPY[name])
    case = draw_case(data, name)
    there = Case(case.prim, upload(cupy, case.args), case.params, case.rng)
    places = case.places
    f, g = case.function(places), there.function(places)
    ts = case.directions(case.at(places))
    cts = case.directions(f(*case.at(places)))
    with contextlib.nullcontext() if name in WAITS_FOR_CUPY else fakecupy.no_sync():
        outs = there.run(*there.args)
        if places and cts:
            _, tangents = funcgrad.jvp(g, tuple(there.at(places)), upload(cupy, ts))
            found = funcgrad.vjp(g, *there.at(places))[1](list(upload(cupy, cts)))
    assert_close(download(outs), case.run(*case.args), 1e-13)
    if places and cts:
        _, expected = funcgrad.jvp(f, tuple(case.at(places)), tuple(ts))
        assert_close(download(tangents), expected, 1e-12)
        assert_close(download(found), funcgrad.vjp(f, *case.at(places))[1](cts), 1e-12)


def upload(cupy: ModuleType, arrays: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(cupy.asarray(x) if isinstance(x, np.ndarray) else x for x in arrays)


def download(arrays: Sequence[Any]) -> list[Any]:
    assert all(type(a) is fakecupy.ndarray for a in arrays), "a result left the device"
    return [a.get() for a in arrays]


# ---------------------------------------------------------------- completeness


def test_registry_is_complete() -> None:
    assert len(NAMES) >= 120
    assert not set(NAMES) - SAMPLES.keys(), "primitives without samples"
    assert not SAMPLES.keys() - set(NAMES), "samples of primitives that do not exist"


def test_exceptions_are_needed() -> None:
    tables = (
        HIGHER_ORDER,
        DECLARED_CONSTANT,
        WITHOUT_BATCH_RULE,
        NOT_ON_CUPY,
        WAITS_FOR_CUPY,
    )
    for table in tables:
        assert not table.keys() - REGISTRY.keys()
    assert not [n for n in NAMES if (n in WITHOUT_BATCH_RULE) == has_batch_rule(REGISTRY[n])]


def has_batch_rule(prim: Primitive) -> bool:
    method = type(prim).batch
    if method is _OneRule.batch:
        return prim._batch is not None  # type: ignore[attr-defined]
    return method is not Primitive.batch


@pytest.mark.parametrize("name", NAMES)
def test_docstring(name: str) -> None:
    text = inspect.getdoc(REGISTRY[name].impl) or ""
    sections = ("Shapes:", "Dtypes:", "Derivative:", "Raises:", "Source:", ">>> ")
    assert [s for s in sections if s not in text] == []
    assert text.splitlines()[0].endswith("."), "the first line is one sentence of mathematics"
