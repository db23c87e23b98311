"""Reductions, norms, medians, quantiles, covariances, counts: against differences and PyTorch."""

from __future__ import annotations

import importlib
import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from harness import B, C, Call, Distinct, Draw, F, I, call, check
from hypothesis import given, settings
from hypothesis import strategies as st

import compat
from compat.ops import return_types

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
nan, inf = math.nan, math.inf


def With(values: Any, *, grad: bool = True) -> Draw:
    """These numbers."""
    return Draw(lambda _: np.array(values), grad)


DIMS: list[dict[str, Any]] = [
    {},
    {"dim": 1},
    {"dim": -1, "keepdim": True},
    {"dim": (0, 2)},
    {"dim": (-1, 0), "keepdim": True},
    {"dim": ()},
    {"dim": None, "keepdim": True},
]
ONE_DIM: list[dict[str, Any]] = [{"dim": 1}, {"dim": -1, "keepdim": True}, {"dim": 0}]
SPREADS: list[dict[str, Any]] = [{}, {"correction": 0}, {"unbiased": False}, {"correction": 0.5}]

CALLS = [
    *(call(f, F(2, 3, 4), **d) for f in ("sum", "nansum", "mean", "nanmean") for d in DIMS),
    *(call(f, Distinct(2, 3, 4), **d) for f in ("amax", "amin", "norm") for d in DIMS),
    *(
        call(f, F(2, 3, 4), **d)
        for f in ("var", "std", "var_mean", "std_mean")
        for d in DIMS
        if d != {"dim": ()}
    ),
    *(call(f, F(2, 3), **d) for f in ("var", "std", "var_mean", "std_mean") for d in SPREADS),
    *(call(f, C(2, 3), **d) for f in ("var", "std", "std_mean") for d in SPREADS),
    *(call(f, C(2, 3), 1) for f in ("sum", "mean", "prod", "norm")),
    *(call(f, F()) for f in ("sum", "mean", "prod", "amax", "max", "median", "norm", "nansum")),
    *(call(f, F(), 0) for f in ("sum", "mean", "prod", "amax", "max", "median", "mode")),
    *(call(f, F(0, 3), 0) for f in ("sum", "prod", "nansum")),
    *(call(f, F(0, 3), 1) for f in ("sum", "prod", "mean", "amax", "max", "median", "mode", "var")),
    *(call(f, F(0)) for f in ("sum", "prod", "nansum", "norm")),
    call("prod", F(2, 3)),
    *(call("prod", F(2, 3, 4), **d) for d in ONE_DIM),
    call("prod", With([0.0, 2.0, 3.0])),
    call("prod", With([0.0, 0.0, 3.0])),
    call("var", F(2, 3), 1, True),
    call("std", F(2, 3), 1, False, True),
    call("var_mean", F(2, 3), False),
    call(".var", F(2, 3), 0),
    call(".std", F(2, 3), unbiased=False),
    call("mean", I(2, 3), dtype="torch.float64"),
    *(call(f, Distinct(2, 3, 4), **d) for f in ("max", "min") for d in [{}, *ONE_DIM]),
    *(call(f, Distinct(2, 3), Distinct(3)) for f in ("max", "min")),
    *(call(f, Distinct(2, 3, 4), **d) for f in ("argmax", "argmin") for d in [{}, *ONE_DIM]),
    call("argmax", Distinct(2, 3), keepdim=True),
    call(".aminmax", Distinct(2, 3)),
    *(call("aminmax", Distinct(2, 3, 4), **d) for d in ONE_DIM),
    *(call(f, I(2, 3, 4, high=2), **d) for f in ("all", "any") for d in DIMS),
    *(call(f, B(2, 3)) for f in ("all", "any", "sum", "prod", "count_nonzero")),
    *(call("count_nonzero", I(2, 3, 4, high=2), dim=d) for d in (None, 1, (0, -1))),
    *(call(f, I(2, 3)) for f in ("sum", "prod", "amax", "max", "median", "argmin", "nansum")),
    *(call(f, I(2, 3), 1) for f in ("sum", "prod", "amax", "max", "argmin", "cumsum")),
    # norms
    *(call("norm", Distinct(2, 3), p) for p in (0, 0.5, 1, 1.5, 2, 3, inf, -inf, -1, -2, "fro")),
    *(call("norm", Distinct(2, 3), p, 1, True) for p in (1, 2, 3, inf, "fro")),
    *(call("norm", C(2, 3), p) for p in (0, 1, 2, 3, inf)),
    call("norm", F(3, 2), "nuc"),
    call("norm", F(2, 3, 2), "nuc", (0, 2), True),
    call("norm", F(3, 2), None),
    call(".norm", F(3, 2), 1),
    *(call("dist", F(2, 3), F(3), p) for p in (1, 2, 2.5, inf)),
    *(call("pairwise_distance", F(2, 3), F(3), p) for p in (1, 2, 2.5, inf)),
    call("pairwise_distance", F(2, 1, 3), F(4, 3), keepdim=True),
    *(call("cosine_similarity", F(2, 3), F(2, 3), d) for d in (0, 1, -1)),
    call("cosine_similarity", F(2, 1, 3), F(4, 1), -1),
    call("cosine_similarity", F(), F(), 0),
    *(call("renorm", F(3, 4), p, d, 1.5) for p in (1, 2, 3, inf) for d in (0, -1)),
    call(".renorm_", F(3, 4), 2, 0, 0.5),
    # places
    *(call(f, Distinct(2, 3, 4)) for f in ("median", "nanmedian")),
    *(call(f, Distinct(2, 3, 4), **d) for f in ("median", "nanmedian", "mode") for d in ONE_DIM),
    *(call("kthvalue", Distinct(2, 3, 4), 2, **d) for d in ONE_DIM),
    call("kthvalue", F(), 1),
    # quantiles
    *(
        call(f, Distinct(3, 4), 0.3, interpolation=how)
        for f in ("quantile", "nanquantile")
        for how in ("linear", "lower", "higher", "midpoint", "nearest")
    ),
    *(call("quantile", Distinct(2, 3, 4), F(3, low=0.1, high=0.9), **d) for d in [{}, *ONE_DIM]),
    call("quantile", Distinct(2, 3), F(low=0.1, high=0.9), 1),
    call("nanquantile", Distinct(2, 3), F(2, low=0.1, high=0.9), 1),
    # covariances
    *(call("cov", F(3, 5), correction=k) for k in (0, 1, 2)),
    call("cov", F(5)),
    call("cov", C(2, 4)),
    call(".corrcoef", F(3, 5)),
    call("corrcoef", F(5)),
    call("corrcoef", C(2, 4)),
]

# Where differences say nothing, PyTorch says what the gradient is.
AT_KINKS = [
    call("mean", F(0), 0),
    call("mode", With([3.0, 1.0, 3.0, 1.0, 2.0])),
    call("norm", With([0.0, 0.0])),
    *(call("norm", With([0.0, 0.0]), p) for p in (1, 1.5, 3, inf)),
    *(call("norm", With([0.0, 2.0, -1.0]), p) for p in (0.5, 1, 1.5, 3, -1)),
    call("norm", With([-2.0, 2.0, 0.0]), inf),
    call("norm", With([-2.0, 2.0, 2.0]), -inf),
    call("dist", With([1.0, 2.0]), With([1.0, 2.0])),
    call("std", With([1.0, 1.0])),
    *(call(f, With([1.0, 1.0, 0.0, 0.0])) for f in ("max", "min", "amax", "amin", "aminmax")),
    *(call(f, With([1.0, 1.0, 0.0, 0.0]), dim=0) for f in ("max", "min", "amax", "aminmax")),
    *(call(f, With([1.0, 1.0]), With([1.0, 0.0])) for f in ("max", "min")),
    *(call(f, With([2.0, 2.0, 1.0, 3.0, 2.0])) for f in ("median", "nanmedian")),
    call("nanmedian", With([2.0, nan, 2.0, 1.0])),
    *(call(f, With([[nan, 1.0, 3.0], [2.0, 1.0, 5.0]]), 1) for f in ("nansum", "nanmean")),
    *(call(f, With([[nan, 1.0], [2.0, 1.0]]), 0) for f in ("max", "min", "median", "nanmedian")),
    call("median", With([[nan, 1.0, nan], [nan, nan, nan]]), 1),
    call("nanmedian", With([[nan, 1.0, nan], [nan, nan, nan]]), 1),
    *(
        call(f, With([[nan, 1.0, 2.0], [3.0, 2.0, 1.0]]), 0.25, 1)
        for f in ("quantile", "nanquantile")
    ),
    call("quantile", With([1.0, 2.0, 3.0]), 0.5),
    *(
        call(f, With([2.0, 2.0, 1.0, 3.0, 2.0]), q, interpolation=how)
        for f in ("quantile", "nanquantile")
        for q in (0.3, 0.6)
        for how in ("linear", "midpoint")
    ),
    call("renorm", With([[0.0, 0.0], [3.0, 4.0]]), 2, 0, 1.0),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@pytest.mark.parametrize("c", AT_KINKS, ids=repr)
def test_at_kinks(c: Call) -> None:
    check(c, kinked=True)


def test_kinks_in_numbers() -> None:
    """The table of kinks, also where PyTorch is not installed."""
    for f, values, expected in [
        (compat.norm, [0.0, 0.0], [0, 0]),
        (compat.std, [1.0, 1.0], [0, 0]),
        (compat.max, [1.0, 1.0, 0.0], [0.5, 0.5, 0]),
        (lambda x: compat.max(x, 0).values, [1.0, 1.0, 0.0], [1, 0, 0]),
        (compat.prod, [0.0, 2.0, 3.0], [6, 0, 0]),
        (compat.prod, [0.0, 0.0, 3.0], [0, 0, 0]),
        (compat.median, [1.0, 2.0, 3.0, 4.0], [0, 1, 0, 0]),
    ]:
        x = compat.tensor(values, requires_grad=True)
        f(x).backward()
        assert x.grad.tolist() == expected


# ---------------------------------------------------------------- random shapes


@st.composite
def shapes_and_dims(draw: Any) -> tuple[tuple[int, ...], Any]:
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    n = len(shape)
    axes = draw(st.lists(st.integers(0, max(n - 1, 0)), unique=True, max_size=n))
    return shape, tuple(a - n if draw(st.booleans()) else a for a in axes)


@settings(deadline=None, max_examples=60)
@given(shapes_and_dims(), st.booleans(), st.integers(0, 2**16))
def test_sums_of_any_shape(drawn: Any, keepdim: bool, seed: int) -> None:
    shape, dims = drawn
    x = np.random.default_rng(seed).normal(size=shape)
    axes = dims or tuple(range(len(shape)))
    t = compat.from_numpy(x.copy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of the mean of nothing
        for ours, theirs in (
            (compat.sum, np.sum),
            (compat.mean, np.mean),
            (lambda x, **k: compat.norm(x, 2, **k), None),
        ):
            found = ours(t, dim=dims, keepdim=keepdim).numpy()
            if theirs is None:
                expected = np.sqrt((x * x).sum(axis=axes, keepdims=keepdim))
            else:
                expected = theirs(x, axis=axes, keepdims=keepdim)
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=7), st.integers(1, 7))
def test_ranks_with_ties(values: list[int], k: int) -> None:
    x = compat.tensor([float(v) for v in values], requires_grad=True)
    ordered = sorted(values)
    found = compat.median(x, 0)
    assert found.values.item() == ordered[(len(values) - 1) // 2]
    assert values[found.indices.item()] == found.values.item()
    most = compat.mode(x)
    counts = {v: values.count(v) for v in values}
    best = min(v for v in counts if counts[v] == max(counts.values()))
    assert most.values.item() == best
    assert most.indices.item() == len(values) - 1 - values[::-1].index(best)
    if k <= len(values):
        kth = compat.kthvalue(x, k)
        assert kth.values.item() == ordered[k - 1] == values[kth.indices.item()]


# ---------------------------------------------------------------- dtypes, results, errors

VALUES = [
    ("sum", [[1, 2], [3, 4]], "int32", {}),
    ("sum", [[1, 2], [3, 4]], "uint8", {"dtype": "uint8"}),
    ("sum", [200.0, 100.0], "float32", {"dtype": "int32"}),
    ("sum", [0.5, 0.5], "float32", {"dtype": "int64"}),
    ("sum", [True, True], "bool", {"dtype": "bool"}),
    ("prod", [1, 2], "int32", {}),
    ("mean", [1.0, 2.0], "float32", {"dtype": "float64"}),
    ("nanmean", [1.0, nan], "float32", {}),
    ("all", [1, 0], "uint8", {}),
    ("any", [1.0, 0.0], "float32", {}),
    ("logsumexp", [1, 2], "int64", {"dim": 0}),
    ("var", [1.0, 3.0], "float32", {}),
    ("std", [1 + 1j, 2], "complex64", {}),
    ("norm", [3.0, 4.0], "float32", {}),
    ("norm", [3.0, 4.0], "float32", {"p": 3}),
    ("norm", [3.0, 4.0], "float32", {"dtype": "float64"}),
    ("sum", [3.0, 4.0], "float32", {"dtype": "float64"}),
    ("norm", [3 + 4j, 0], "complex64", {"p": 3}),
    ("median", [3, 1, 2], "int32", {"dim": 0}),
    ("quantile", [3.0, 1.0, 2.0], "float32", {"q": 0.3}),
    ("quantile", [3.0, 1.0, 2.0], "float32", {"q": 1}),
    ("argmax", [3.0, nan, 2.0], "float32", {}),
    ("cov", [[1, 2], [3, 5]], "int64", {}),
    ("corrcoef", [[1.0, 2.0, 4.0], [3.0, 5.0, 0.0]], "float32", {}),
    ("cov", [[1.0, 2.0], [3.0, 5.0]], "float32", {"correction": 3}),
    ("var", [1.0], "float32", {}),
    ("var", [1.0, 2.0], "float32", {"correction": 3}),
    ("var", [], "float32", {}),
    ("median", [], "float32", {}),
    ("mean", [], "float32", {}),
    ("histc", [1.0, 2.0, 1.0, nan], "float32", {"bins": 4, "min": 0, "max": 3}),
    ("histc", [1.0, 2.0, 1.0], "float64", {"bins": 4}),
    ("histc", [1.0, 1.0], "float32", {"bins": 4}),
    ("histc", [], "float32", {"bins": 4}),
    ("histogram", [1.0, 2.0, 1.0], "float32", {"bins": 2}),
    ("histogram", [1.0, 2.0, 1.0], "float32", {"bins": 3, "range": (0.0, 3.0), "density": True}),
    ("bincount", [1, 2, 1], "int64", {"minlength": 5}),
    ("bincount", [], "int64", {"minlength": 2}),
]


def _made(module: Any, values: Any, dtype: str, options: dict[str, Any]) -> tuple[Any, Any]:
    options = {k: getattr(module, v) if k == "dtype" else v for k, v in options.items()}
    return module.tensor(values, dtype=getattr(module, dtype)), options


@needs_torch
@pytest.mark.parametrize("name, values, dtype, options", VALUES, ids=repr)
def test_values_and_dtypes(name: str, values: Any, dtype: str, options: dict[str, Any]) -> None:
    results = []
    for module in (compat, torch):
        x, given = _made(module, values, dtype, options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = getattr(module, name)(x, **given)
        found = found if isinstance(found, tuple) else (found,)
        results.append([y.numpy() for y in found])
    for ours, theirs in zip(*results, strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@needs_torch
def test_weights_of_observations() -> None:
    f, a = [1, 2, 3], [0.5, 1.0, 0.25]
    for options in ({"fweights": f}, {"aweights": a}, {"fweights": f, "aweights": a}):
        found = []
        for module in (compat, torch):
            x = module.tensor([[1.0, 2.0, 4.0], [3.0, 5.0, 0.0]], requires_grad=True)
            given = {k: module.tensor(v) for k, v in options.items()}
            y = module.cov(x, **given)
            (y * module.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
            found.append((y.detach().numpy(), x.grad.numpy()))
        for ours, theirs in zip(*found, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_weights_of_a_count_are_differentiable() -> None:
    w = compat.tensor([0.5, 1.0, 2.0], requires_grad=True)
    y = compat.bincount(compat.tensor([1, 2, 1]), w)
    (y * compat.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert y.tolist() == [0.0, 2.5, 1.0] and w.grad.tolist() == [2.0, 3.0, 2.0]


ERRORS: list[tuple[str, Any, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ("sum", [[1.0]], (2,), {}, IndexError, "Dimension out of range"),
    ("sum", [[1.0]], ((0, 0),), {}, RuntimeError, "appears multiple times"),
    ("sum", [[1.0]], (1.5,), {}, TypeError, "integer"),
    ("mean", [1, 2], (), {}, RuntimeError, "could not infer output dtype"),
    ("nanmean", [1, 2], (), {}, RuntimeError, "floating point or complex"),
    ("nansum", [1j], (), {}, RuntimeError, "does not support complex"),
    ("prod", [[1.0]], ((0, 1),), {}, TypeError, "integer"),
    ("var", [1, 2], (), {}, RuntimeError, "only support floating point and complex"),
    ("var", [1.0], (0,), {"unbiased": True, "correction": 0}, TypeError, "invalid combination"),
    ("max", [], (), {}, RuntimeError, "Expected reduction dim to be specified"),
    ("max", [], (0,), {}, IndexError, "to have non-zero size"),
    ("argmin", [], (), {}, IndexError, "Expected reduction dim to be specified"),
    ("argmax", [True], (), {}, RuntimeError, "does not support bool input"),
    ("argmax", [1j], (), {}, RuntimeError, "does not support complex input"),
    ("max", [1j], (0,), {}, RuntimeError, "does not support complex input"),
    ("amin", [1j], (0,), {}, NotImplementedError, "not implemented for 'ComplexFloat'"),
    ("aminmax", [], (), {}, RuntimeError, "has no identity"),
    ("norm", [1, 2], (), {}, RuntimeError, "Expected a floating point or complex tensor"),
    ("norm", [1.0], (), {"dtype": "float16"}, RuntimeError, "without narrowing"),
    ("norm", [[1.0]], ("foo",), {}, RuntimeError, "Order foo not supported"),
    ("norm", [], (inf,), {}, RuntimeError, "does not have an identity"),
    ("norm", [[[1.0]]], ("nuc",), {}, RuntimeError, "must be a 2-tuple"),
    ("renorm", [1.0], (2, 0, 1.0), {}, RuntimeError, "at least 2 dimensions"),
    ("renorm", [[1.0]], (-2, 0, 1.0), {}, RuntimeError, "non-positive-norm not supported"),
    ("renorm", [[1.0]], (2, 0, -1.0), {}, RuntimeError, "expected maxnorm to be >= 0"),
    ("median", [], (0,), {}, IndexError, "to have non-zero size"),
    ("kthvalue", [1.0], (2,), {}, RuntimeError, "selected number k out of range"),
    ("quantile", [1.0], (1.5,), {}, RuntimeError, "q must be in the range"),
    ("quantile", [1], (0.5,), {}, RuntimeError, "either float or double"),
    ("quantile", [], (0.5,), {}, RuntimeError, "must be non-empty"),
    ("quantile", [1.0], (0.5,), {"interpolation": "foo"}, RuntimeError, "interpolation must be"),
    ("cov", [[[1.0]]], (), {}, RuntimeError, "two or fewer dimensions"),
    ("bincount", [1.0], (), {}, NotImplementedError, "not implemented for 'Float'"),
    ("bincount", [-1], (), {}, RuntimeError, "1-d non-negative integral inputs"),
    ("bincount", [1], (), {"minlength": -1}, RuntimeError, "minlength should be >= 0"),
    ("histc", [1], (), {}, NotImplementedError, "not implemented for 'Long'"),
    ("histc", [1.0], (4, 3, 0), {}, RuntimeError, "max must be larger than min"),
    ("histc", [1.0, inf], (), {}, RuntimeError, "is not finite"),
]


@pytest.mark.parametrize("name, values, args, options, cls, words", ERRORS, ids=repr)
def test_errors(
    name: str, values: Any, args: Any, options: Any, cls: type[Exception], words: str
) -> None:
    for module in (compat, torch) if torch is not None else (compat,):
        with pytest.raises(cls, match=words if module is compat else None):
            given = {k: getattr(module, v) if k == "dtype" else v for k, v in options.items()}
            getattr(module, name)(module.tensor(values), *args, **given)


def test_errors_of_several_tensors() -> None:
    x, q = compat.tensor([1.0, 2.0]), compat.tensor(0.5, dtype=compat.float64)
    with pytest.raises(RuntimeError, match="same dtype"):
        compat.quantile(x, q)
    with pytest.raises(RuntimeError, match="values must be in the range"):
        compat.quantile(x, compat.tensor([0.5, 1.5]))
    with pytest.raises(RuntimeError, match="scalar or 1D"):
        compat.quantile(x, compat.tensor([[0.5]]))
    with pytest.raises(RuntimeError, match="must match the size"):
        compat.dist(x, compat.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(RuntimeError, match="same length as input"):
        compat.bincount(compat.tensor([1, 2]), compat.tensor([1.0]))
    for name, w, words in [
        ("fweights", [1.0, 2.0], "integral dtype"),
        ("aweights", [1, 2], "floating point dtype"),
        ("fweights", [1, 2, 3], "same numel"),
        ("aweights", [-1.0, 2.0], "cannot be negative"),
        ("aweights", [[1.0, 2.0]], "one or fewer dimensions"),
    ]:
        with pytest.raises(RuntimeError, match=words):
            compat.cov(x, **{name: compat.tensor(w)})
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        compat.sum([1.0])


def test_no_freedom_is_a_warning() -> None:
    for f in (compat.var, compat.std, compat.var_mean):
        with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
            f(compat.tensor([1.0]))


def test_named_results() -> None:
    x = compat.tensor([[1.0, 3.0], [4.0, 2.0]])
    found = compat.max(x, 1)
    values, indices = found
    assert values is found.values is found[0] and indices is found.indices
    assert repr(found).startswith("torch.return_types.max(\nvalues=tensor(")
    assert isinstance(found, tuple) and type(found) is return_types.max
    plain = return_types.max(1, 2)
    assert pickle.loads(pickle.dumps(plain)) == plain == (1, 2)
    assert repr(plain) == "torch.return_types.max(\nvalues=1,\nindices=2)"
    assert compat.aminmax(x).max.item() == 4.0 and compat.aminmax(x).min.item() == 1.0


def test_out() -> None:
    x = compat.tensor([[1.0, 3.0], [4.0, 2.0]])
    out = compat.tensor([0.0, 0.0])
    assert compat.sum(x, 1, out=out) is out and out.tolist() == [4.0, 6.0]
    places = compat.tensor([0, 0])
    found = compat.max(x, 1, out=(out, places))
    assert found.values is out and found.indices is places
    assert out.tolist() == [3.0, 4.0] and places.tolist() == [1, 0]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        compat.sum(x.requires_grad_(), 1, out=out)


def test_results_are_no_views() -> None:
    x = compat.tensor([[1.0, 3.0], [4.0, 2.0]], requires_grad=True)
    for y, name in [
        (x.sum(), "SumBackward0"),
        (x.sum(1, keepdim=True), "SumBackward1"),
        (x.mean(1), "MeanBackward1"),
        (x.max(), "MaxBackward1"),
        (x.max(0, keepdim=True).values, "MaxBackward0"),
        (x.median(), "MedianBackward0"),
        (x.median(1).values, "MedianBackward1"),
        (x.norm(), "LinalgVectorNormBackward0"),
        (x.norm(3, 1, True), "LinalgVectorNormBackward0"),
        (x.std(1), "StdBackward0"),
        (compat.var_mean(x)[0], "VarMeanBackward0"),
        (compat.dist(x, x.detach(), 3), "DistBackward0"),
    ]:
        assert y.grad_fn.name() == name
        assert not y._is_view()
    y = x.std(1, keepdim=True)
    with compat.no_grad():
        y.mul_(2)  # the node has saved what it shares memory with
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_inside_transforms() -> None:
    """Named results, places and quantiles under `vmap` are those of every row."""
    x = np.random.default_rng(0).normal(size=(3, 5))

    def f(row: Any) -> Any:
        top = row.max(0).values + row.median(0).values + row.median()
        return top + row.quantile(0.3) + row.norm(3) + row.std() + row.mode(0).values

    t = compat.from_numpy(x)
    found = compat.vmap(f)(t)
    expected = [f(compat.from_numpy(row)).item() for row in x]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("interpolation", ["linear", "midpoint", "lower", "higher", "nearest"])
def test_quantiles_beside_infinities(interpolation: str) -> None:
    """What is exactly at a place is that element; between it and inf is inf."""
    inf = math.inf
    for row, share, expected in (
        ([1.0, 2.0, inf], 0.5, 2.0),
        ([-inf, 2.0, inf], 0.5, 2.0),
        ([-inf, -inf, 1.0], 0.25, -inf),
        ([1.0, inf, inf], 0.75, inf),
    ):
        x = compat.tensor(row)
        assert compat.quantile(x, share, interpolation=interpolation).item() == expected
        assert compat.nanquantile(x, share, interpolation=interpolation).item() == expected


@pytest.mark.parametrize("dtype", [compat.uint8, compat.int32, compat.int64])
def test_medians_of_no_integers(dtype: Any) -> None:
    for f in (compat.median, compat.nanmedian):
        found = f(compat.zeros(0, dtype=dtype))
        assert found.dtype == dtype and found.item() == compat.iinfo(dtype).min


def test_what_has_overflowed_is_seen() -> None:
    x = compat.tensor([[math.inf, 1.0, 2.0]])
    for f in (compat.softmax, compat.log_softmax):
        assert f(x, 1).isnan().any()
    for label in range(3):
        assert compat.nn.functional.cross_entropy(x, compat.tensor([label])).isnan()
    assert compat.softmax(-x, 1)[0, 0] == 0 and compat.logsumexp(x, 1).item() == math.inf


def test_classes_that_cannot_be_do_not_warn() -> None:
    x = compat.tensor([[-math.inf, 1.0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compat.nn.functional.cross_entropy(x, compat.tensor([1]))
    assert found.item() == pytest.approx(1.3132617)
