"""The public strategies: each gives what it promises, and shrinks to something small and simple."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import tree
from funcgrad.errors import ArgumentError
from funcgrad.testing import strategies as fs

DTYPES = [np.float64, np.float32, np.float16, np.complex128, np.complex64, np.int64, np.uint8, bool]
dtypes = st.sampled_from(DTYPES)


def smallest(strategy: Any, condition: Any = lambda _: True) -> Any:
    """The example that shrinking ends at, where there are enough attempts to find one."""
    return find(strategy, condition, settings=settings(max_examples=2000, database=None))


# ---------------------------------------------------------------- domains


@pytest.mark.parametrize(
    ("domain", "inside"),
    [
        (fs.floats(-3, 3), lambda x: (x >= -3) & (x <= 3)),
        (fs.floats(0.7, 250.0), lambda x: (x >= 0.7) & (x <= 250)),
        (fs.positive(), lambda x: (x >= 0.1) & (x <= 4)),
        (fs.unit(), lambda x: (x >= 0.05) & (x <= 0.95)),
        (fs.away_from(0.0, -2.0, margin=0.2), lambda x: (abs(x) >= 0.2) & (abs(x + 2) >= 0.2)),
        (fs.complexes(0.5, 1.5), lambda x: (abs(x) >= 0.5) & (abs(x) <= 1.5)),
        (fs.complexes(angle=1.0), lambda x: (abs(np.angle(x)) <= 1) & (x.imag != 0)),
    ],
)
def test_domain(domain: Any, inside: Any) -> None:
    """Within its bounds, with enough different values, exact in single precision."""
    assert domain.ndim == 1 and np.all(inside(domain))
    assert 80 <= np.unique(domain).size == domain.size
    single = np.complex64 if domain.dtype.kind == "c" else np.float32
    assert np.array_equal(domain.astype(single), domain)
    parts = np.abs(np.concatenate([domain.real, domain.imag]))
    assert np.all((parts == 0) | (parts > 1e-3)), "subnormal, or nearly"


@pytest.mark.parametrize("dtype", DTYPES)
def test_domain_for_dtype(dtype: Any) -> None:
    assert fs.domain_for(dtype).dtype == dtype


def test_no_domain_for_text() -> None:
    with pytest.raises(ArgumentError, match="no numbers of dtype"):
        fs.domain_for("U3")


# ---------------------------------------------------------------- arrays


@given(st.data(), dtypes, fs.shapes())
def test_arrays_have_shape_dtype_and_elements_of_the_domain(
    data: Any, dtype: Any, shape: Any
) -> None:
    x = data.draw(fs.arrays(shape, dtype))
    assert (x.shape, x.dtype) == (shape, dtype)
    assert np.all(np.isin(x, fs.domain_for(dtype)))
    domain = [fs.positive(), fs.complexes()]
    y = data.draw(fs.arrays(st.just(shape), domain=domain))
    assert y.shape == shape and any(np.all(np.isin(y, d)) for d in domain)
    assert data.draw(fs.arrays(2)).shape == (2,)
    assert 0 not in data.draw(fs.arrays()).shape


def test_arrays_are_writeable_and_their_own() -> None:
    @given(fs.arrays((2, 2)), fs.well_separated((2, 2)))
    def check(x: Any, y: Any) -> None:
        x += 1.0
        y += 1.0
        assert np.all(np.isin(x - 1.0, fs.floats(-3, 3)))

    check()


@given(st.data(), fs.shapes(side=(0, 5)), st.sampled_from([0.125, 0.3, 1.0]))
def test_well_separated(data: Any, shape: Any, margin: float) -> None:
    x = data.draw(fs.well_separated(shape, margin=margin))
    assert x.shape == shape
    assert np.all(np.diff(np.sort(x.ravel())) >= margin * (1 - 1e-12))
    z = data.draw(fs.well_separated((3, 2), domain=fs.complexes()))
    assert np.unique(z).size == 6


def test_well_separated_needs_enough_values() -> None:
    with pytest.raises(ArgumentError, match="domain of 2 values cannot fill the shape"):
        find(fs.well_separated((3,), domain=fs.booleans()), lambda _: True)


@given(st.data(), st.sampled_from([np.float64, np.complex128, np.float32]))
def test_spd(data: Any, dtype: Any) -> None:
    a = data.draw(fs.spd(lead=fs.shapes(ndim=(0, 1), side=(0, 2)), dtype=dtype))
    assert a.dtype == dtype and a.shape[-1] == a.shape[-2]
    np.testing.assert_array_equal(a, a.swapaxes(-1, -2).conj())
    if a.size:
        values = np.linalg.eigvalsh(a)
        n = a.shape[-1]
        assert np.all(values >= 1 - 1e-4) and np.all(values <= 1 + 4 * n**2 + 1e-4)


@given(st.data(), st.integers(0, 5), st.sampled_from([np.float64, np.complex128]))
def test_orthogonal(data: Any, n: int, dtype: Any) -> None:
    q = data.draw(fs.orthogonal(n, dtype=dtype))
    assert q.dtype == dtype
    np.testing.assert_allclose(q @ q.conj().T, np.eye(n), atol=1e-13)


@given(st.data())
def test_directions(data: Any) -> None:
    like = data.draw(fs.pytrees(dtypes.flatmap(lambda d: fs.arrays(dtype=d))))
    found = data.draw(fs.directions(like))
    leaves, treedef = tree.flatten(like)
    directions, same = tree.flatten(found)
    assert treedef == same
    for x, t in zip(leaves, directions, strict=True):
        assert t.shape == x.shape and np.all(np.abs(t) <= 1)
        assert t.dtype == (x.dtype if x.dtype.kind in "fc" else np.float64)


@given(st.data())
def test_directions_fit_jvp(data: Any) -> None:
    x = data.draw(fs.arrays())
    t = data.draw(fs.directions(x))
    np.testing.assert_allclose(funcgrad.jvp(np.square, (x,), (t,))[1], 2 * x * t)


# ---------------------------------------------------------------- shapes and axes


@given(fs.shapes(ndim=(1, 4), side=(2, 3)))
def test_shapes(shape: Any) -> None:
    assert 1 <= len(shape) <= 4 and set(shape) <= {2, 3}


@given(st.integers(1, 4).flatmap(fs.broadcastable))
def test_broadcastable(found: Any) -> None:
    np.broadcast_shapes(*found)


@given(st.data(), st.integers(1, 4))
def test_axis_and_axes(data: Any, ndim: int) -> None:
    assert 0 <= data.draw(fs.axis(ndim)) < ndim
    assert -ndim <= data.draw(fs.axis(ndim, negative=True)) < ndim
    least = data.draw(st.integers(0, ndim))
    found = data.draw(fs.axes(ndim, least=least))
    assert list(found) == sorted(set(found)) and len(found) >= least
    mixed = data.draw(fs.axes(ndim, least=least, negative=True))
    assert len({a % ndim for a in mixed}) == len(mixed) >= least


@given(fs.signature("(m, k), (k, n) -> (m, n)"))
def test_signature_of_matmul(found: fs.Signature) -> None:
    a, b = map(np.ones, found.operands)
    assert (np.matmul(a, b).shape,) == found.results


@given(fs.signature("(m?,k),(k,n?)->(m?,n?)", side=(1, 3)))
def test_signature_with_missing_axes(found: fs.Signature) -> None:
    core = [s[-2:] for s in found.operands]
    assert all(len(s) >= 1 for s in core)


@given(fs.signature("(3),(),(n)->(n,3),()", ndim=(1, 2)))
def test_signature_with_numbers_and_several_results(found: fs.Signature) -> None:
    (*lead, three), other, (*_, n) = found.operands
    whole = np.broadcast_shapes(tuple(lead), other, found.operands[2][:-1])
    assert three == 3 and found.results == ((*whole, n, 3), whole)


@pytest.mark.parametrize("text", ["", "(m)", "m->m", "(m)->(m", "(m),->(m)"])
def test_no_signature(text: str) -> None:
    with pytest.raises(ArgumentError, match="is no signature"):
        find(fs.signature(text), lambda _: True)


@settings(max_examples=100)
@given(fs.einsum_specs())
def test_einsum_specs(call: fs.Einsum) -> None:
    expected = np.einsum(call.spec, *call.operands)
    found = funcgrad.numpy.einsum(call.spec, *call.operands)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "kind",
    [
        lambda call: "->" not in call.spec,
        lambda call: "..." in call.spec,
        lambda call: call.spec.startswith("aa"),
        lambda call: len(call.operands) == 3,
        lambda call: (out := call.spec.partition("->")[2]) and list(out) != sorted(out),
    ],
)
def test_einsum_specs_are_of_every_kind(kind: Any) -> None:
    assert kind(smallest(fs.einsum_specs(), kind))


# ---------------------------------------------------------------- indices


@settings(max_examples=200)
@given(st.data(), fs.shapes(ndim=(0, 4)))
def test_indices_are_taken_by_numpy(data: Any, shape: Any) -> None:
    numbers = np.arange(math.prod(shape)).reshape(shape)
    _ = numbers[data.draw(fs.indices(shape))]
    once = numbers[data.draw(fs.indices(shape, duplicates=False))]
    assert np.unique(once).size == np.size(once)
    part = numbers[data.draw(fs.indices(shape, basic=True))]
    assert np.ndim(part) == 0 or not part.size or np.shares_memory(part, numbers)


def entries(index: Any) -> list[Any]:
    return list(index) if isinstance(index, tuple) else [index]


@pytest.mark.parametrize(
    "kind",
    [
        lambda e: e is None,
        lambda e: e is ...,
        lambda e: isinstance(e, int),
        lambda e: isinstance(e, int) and e < 0,
        lambda e: isinstance(e, slice) and (e.step or 1) < 0,
        lambda e: isinstance(e, np.ndarray) and e.dtype == bool and e.ndim == 2,
        lambda e: isinstance(e, np.ndarray) and e.dtype == np.int32 and e.ndim == 2,
    ],
)
@pytest.mark.parametrize("duplicates", [False, True])
def test_indices_are_of_every_kind(kind: Any, duplicates: bool) -> None:
    smallest(
        fs.indices((2, 3, 2), duplicates=duplicates),
        lambda index: any(kind(e) for e in entries(index)),
    )


def test_indices_with_several_arrays() -> None:
    def has_two(index: Any) -> bool:
        return sum(isinstance(e, np.ndarray) for e in entries(index)) == 2

    smallest(fs.indices((2, 3, 2)), has_two)
    smallest(fs.indices((2, 3, 2), duplicates=False), has_two)


# ---------------------------------------------------------------- trees


@given(fs.pytrees(fs.arrays(), most=4))
def test_pytrees(found: Any) -> None:
    leaves, treedef = tree.flatten(found)
    assert 1 <= len(leaves) <= 4
    assert all(isinstance(x, np.ndarray) for x in leaves)
    rebuilt = tree.flatten(tree.unflatten(treedef, leaves))[0]
    assert all(a is b for a, b in zip(leaves, rebuilt, strict=True))


@pytest.mark.parametrize("kind", [dict, list, tuple, np.ndarray])
def test_pytrees_are_of_every_kind(kind: type) -> None:
    assert isinstance(smallest(fs.pytrees(fs.arrays()), lambda t: isinstance(t, kind)), kind)


# ---------------------------------------------------------------- shrinking


def test_arrays_shrink_to_simple_numbers() -> None:
    assert smallest(fs.arrays()).tolist() == 1.0
    assert smallest(fs.arrays((2,)), lambda x: x[0] < 0).tolist() == [-1.0, 1.0]
    assert smallest(fs.arrays((2,)), lambda x: abs(x[0]) != 1).tolist() == [0.5, 1.0]
    assert smallest(fs.arrays((2,), domain=fs.unit())).tolist() == [0.5, 0.5]
    assert smallest(fs.arrays((1,), np.int64)).tolist() == [0]
    assert smallest(fs.arrays((), domain=fs.complexes())).item() == 1 + 1j


def test_shapes_shrink_to_small_ones() -> None:
    assert smallest(fs.arrays(), lambda x: x.ndim == 2).tolist() == [[1.0]]
    assert smallest(fs.broadcastable(3)) == ((), (), ())
    assert smallest(fs.broadcastable(2), lambda s: s[0] != s[1]) in (((0,), (1,)), ((1,), (0,)))
    assert smallest(fs.broadcastable(2), lambda s: len(s[0]) < len(s[1])) == ((), (0,))
    assert smallest(fs.axes(3)) == ()
    assert smallest(fs.signature("(m,k),(k,n)->(m,n)", side=(1, 3))).operands == ((1, 1), (1, 1))


def test_separated_elements_shrink_to_the_simplest() -> None:
    assert smallest(fs.well_separated((4,))).tolist() == [1.0, -1.0, 0.5, -0.5]


def test_matrices_shrink_to_simple_ones() -> None:
    assert smallest(fs.orthogonal(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert smallest(fs.spd(1)).tolist() == [[2.0]]


def test_indices_shrink_to_nothing() -> None:
    assert smallest(fs.indices((2, 3))) == ()
    assert smallest(fs.indices((2, 3), basic=True), lambda i: np.ones((2, 3))[i].ndim == 0) == (
        0,
        0,
    )


# ---------------------------------------------------------------- without Hypothesis

CODE = """
import sys
sys.modules["hypothesis"] = None
import funcgrad.testing
print("hypothesis" not in [k for k, v in sys.modules.items() if v is not None])
try:
    import funcgrad.testing.{module}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("module", ["strategies", "programs"])
def test_without_hypothesis(module: str) -> None:
    run = [sys.executable, "-c", CODE.format(module=module)]
    found = subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()
    assert found[0] == "True"
    assert "pip install hypothesis" in found[1] and "funcgrad[test]" in found[1]
