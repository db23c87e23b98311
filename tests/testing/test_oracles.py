"""Random programs have the same values and derivatives in JAX and PyTorch, where installed.

`PROGRAMS` in the environment: how many of them the test draws, in place of the profile's number.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import JAX, TORCH, TORCH_ROUGH, Table, jax_derivatives, torch_derivatives

import funcgrad
from funcgrad.core import REGISTRY
from funcgrad.testing.forms import FORMS
from funcgrad.testing.programs import Program, programs

COUNT = int(os.environ.get("PROGRAMS", 0)) or settings().max_examples
TOLERANCE, ROUGH = 1e-9, 1e-6  # of the largest number at hand
COMPARISONS = {"less", "less_equal", "greater", "greater_equal"}  # which `where` puts in programs

# PyTorch scripts some of its rules when it first needs them.
pytestmark = pytest.mark.filterwarnings(r"ignore:`torch.jit:DeprecationWarning")

Arrays = Sequence[Any]
Derivatives = Callable[[Any, Program, Arrays, Arrays], dict[str, list[Any]]]


class Oracle(NamedTuple):
    """A library's counterparts, and how to compute with them."""

    table: Table
    derivatives: Derivatives
    few: int  # programs for each primitive: JAX compiles every one
    rough: Collection[str] = ()  # primitives of which some derivative is less exact there


ORACLES = {
    "jax": Oracle(JAX, jax_derivatives, 2),
    "torch": Oracle(TORCH, torch_derivatives, 8, TORCH_ROUGH),
}
Compare = Callable[[Program, int], None]


@pytest.fixture(scope="module", params=ORACLES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def compare(name: str) -> Iterator[Compare]:
    """`assert_same` for a library, or a skipped test where it is not installed."""
    with warnings.catch_warnings():
        # Either warns of deprecations in its dependencies while it is being imported.
        warnings.simplefilter("ignore")
        library = pytest.importorskip(name)
        if name == "jax":
            importlib.import_module("jax.scipy.special")
    with library.enable_x64(True) if name == "jax" else contextlib.nullcontext():
        yield functools.partial(assert_same, ORACLES[name], library)


def our_derivatives(p: Program, weights: Arrays, directions: Arrays) -> dict[str, list[Any]]:
    """What the oracles' functions of this name give, from our transforms."""

    def f(*xs: Any) -> Any:
        found = p(*xs)
        return found if isinstance(found, tuple) else (found,)

    def gradient(*xs: Any) -> Any:
        ys, back = funcgrad.vjp(f, *xs)
        return ys, back(tuple(weights))

    (ys, grads), (tangents, turns) = funcgrad.jvp(gradient, p.args, tuple(directions))
    found = {"value": ys, "gradient": grads, "tangent": tangents, "second": turns}
    return {key: list(arrays) for key, arrays in found.items()}


def of_type(rng: Any, aval: Any) -> Any:
    """A random array of the shape and kind."""
    x = rng.normal(size=aval.shape)
    return x + 1j * rng.normal(size=aval.shape) if aval.dtype.kind == "c" else x


def assert_same(oracle: Oracle, library: Any, p: Program, seed: int) -> None:
    """Values, the gradient of a random weighting of them, and both ones' derivatives, agree."""
    rng = np.random.default_rng(seed)
    weights = [of_type(rng, a) for a in p.jaxpr.out_avals]
    directions = [of_type(rng, x) for x in p.args]
    ours = our_derivatives(p, weights, directions)
    theirs = oracle.derivatives(library, p, weights, directions)
    is_rough = any(step.primitive in oracle.rough for step in p.steps)
    assert ours.keys() == theirs.keys()
    for key, arrays in ours.items():
        for a, b in zip(arrays, theirs[key], strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{key} of {p!r}: {a!r}, {b!r}"
            scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
            atol = scale * (ROUGH if is_rough else TOLERANCE)
            np.testing.assert_allclose(a, b, rtol=0, atol=atol, err_msg=f"{key} of {p!r}")


@functools.cache
def examples(primitive: str) -> list[Program]:
    """Programs that apply the primitive; those drawn last vary most."""
    found: list[Program] = []
    dtypes = [{"f": np.float64, "c": np.complex128}[kind] for kind in FORMS[primitive].kinds]

    @settings(max_examples=30, derandomize=True, database=None)
    @given(programs(most=2, only=[primitive], dtypes=dtypes))
    def draw(p: Program) -> None:
        if any(step.primitive == primitive for step in p.steps):
            found.append(p)

    draw()
    return found


# ---------------------------------------------------------------- what agrees


@settings(max_examples=COUNT)
@given(p=programs(most=6), seed=st.integers(0, 10**6))
def test_programs_agree(compare: Compare, p: Program, seed: int) -> None:
    compare(p, seed)


@pytest.mark.parametrize("primitive", FORMS)
def test_every_primitive_agrees(compare: Compare, name: str, primitive: str) -> None:
    found = examples(primitive)
    assert len(found) >= 2
    for p in found[-ORACLES[name].few :]:
        compare(p, 0)


@pytest.mark.parametrize("library", ORACLES)
def test_every_primitive_has_a_counterpart(library: str) -> None:
    """A new form needs an entry in either table; its definition will do."""
    used = FORMS.keys() | COMPARISONS
    assert used == ORACLES[library].table.keys(), used ^ ORACLES[library].table.keys()
    assert FORMS.keys() >= set(ORACLES[library].rough)


# ---------------------------------------------------------------- the tests can fail


@pytest.mark.parametrize("primitive", ["sinh", "matmul", "sort"])
def test_a_wrong_rule_is_found(
    compare: Compare, primitive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = examples(primitive)[-1]
    compare(p, 0)
    wrong = REGISTRY[primitive]
    right = wrong.tangent
    monkeypatch.setattr(wrong, "tangent", lambda *args: right(*args) * 1.0001)
    with pytest.raises(AssertionError, match=r"(gradient|tangent|second) of "):
        compare(p, 0)
