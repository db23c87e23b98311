"""`torch.masked`: against PyTorch, differences, and the functions without a mask."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch
from harness import B, C, Call, Distinct, Draw, F, I, arrays_of, call, check, torch
from hypothesis import given
from hypothesis import strategies as st

import compat

# Every row of the last axis and every column has an element that is left.
KEPT = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
MASK = Draw(lambda _: KEPT.copy(), False)
REDUCTIONS = ("sum", "mean", "prod", "amax", "amin", "logsumexp")
SPREADS = ("var", "std")
PLACES = ("argmax", "argmin")
SHAPED = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin")


def masked(name: str, *args: Any, mask: Any = MASK, **kwargs: Any) -> Call:
    return call(f"masked.{name}", *args, **kwargs, mask=mask)


CALLS = [
    *(masked(f, Distinct(3, 4)) for f in (*REDUCTIONS, *SPREADS)),
    *(masked(f, Distinct(3, 4), d) for f in (*REDUCTIONS, *PLACES) for d in (0, -1)),
    *(masked(f, Distinct(3, 4), (0, 1), keepdim=True) for f in (*REDUCTIONS, *SPREADS)),
    *(masked(f, Distinct(3, 4), 1, True) for f in SPREADS),
    *(masked(f, Distinct(3, 4), 0, False, keepdim=True) for f in SPREADS),
    *(masked(f, Distinct(3, 4), 1, correction=0.5) for f in SPREADS),
    *(masked(f, Distinct(2, 3, 4), (0, 2), mask=mask) for f in REDUCTIONS for mask in (B(4), MASK)),
    *(masked(f, Distinct(3, 4), 1, mask=None) for f in (*REDUCTIONS, *PLACES, "median")),
    *(masked(f, Distinct(3, 4), 1, mask=None) for f in (*SPREADS, *SHAPED)),
    *(masked(f, C(3, 4), 1) for f in ("sum", "mean", "prod", "var", "std", "logsumexp")),
    *(masked(f, I(3, 4), 1) for f in ("sum", "prod", "amax", "amin", *PLACES)),
    *(masked(f, I(3, 4), 1, dtype="torch.float64") for f in (*REDUCTIONS[:-1], *SPREADS)),
    *(masked(f, F(), mask=B()) for f in ("sum", "prod", "amax", "logsumexp")),
    *(masked(f, F(0, 4), 0, mask=B(0, 4)) for f in ("sum", "prod", "logsumexp")),
    *(masked("norm", F(3, 4), p, 1) for p in (0, 0.5, 1, 2, 3.0, math.inf, -math.inf)),
    *(masked("norm", C(3, 4), p, (0, 1), keepdim=True) for p in (1, 2, math.inf)),
    *(masked("median", Distinct(3, 4), d, keepdim=d > 0) for d in (0, 1, -1)),
    *(masked(f, F(3, 4), d) for f in SHAPED for d in (0, -1)),
    *(masked(f, C(3, 4), 1) for f in ("cumsum", "cumprod")),
    *(masked(f, I(3, 4), 1) for f in ("cumsum", "cumprod")),
    *(masked(f, I(3, 4), 1, dtype="torch.float64") for f in SHAPED),
    *(masked("normalize", F(3, 4), p, 1) for p in (1, 2.0, 3, math.inf)),
    masked("normalize", F(3, 4), 2, 0, eps=5.0),
    call("masked.logaddexp", F(3, 4), F(3, 4), input_mask=MASK, other_mask=B(4)),
    call("masked.logaddexp", F(3, 4), F(3, 4), other_mask=MASK),
    call("masked.logaddexp", F(3), F(3)),
]
# What is left out keeps infinities out of the sum of squares that the check of gradients takes.
FINITE = ("log_softmax", "logaddexp")


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_against_pytorch_and_differences(c: Call) -> None:
    infinite = any(name in c.name for name in FINITE)
    check(c, kinked=infinite or not arrays_of(c, 0)[0].size)


NAMES = sorted({c.name.removeprefix("masked.") for c in CALLS} - {"logaddexp"})


def _arguments(name: str) -> tuple[Any, ...]:
    return (2, 1) if name in ("norm", "normalize") else (1,)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 999), poison=st.sampled_from([math.nan, math.inf, -math.inf, 1e300]))
def test_what_is_left_out_does_not_matter(name: str, seed: int, poison: float) -> None:
    """Neither to values nor to gradients, of which it gets none."""
    rng = np.random.default_rng(seed)
    f = getattr(compat.masked, name)
    clean = rng.permutation(12).reshape(3, 4) / 7
    found = []
    for values in (clean, np.where(KEPT, clean, poison)):
        x = compat.tensor(values, requires_grad=True)
        y = f(x, *_arguments(name), mask=compat.tensor(KEPT))
        found.append(y.detach().numpy())
        if y.requires_grad:
            kept = compat.where(compat.tensor(np.isfinite(found[-1])), y, 0.0)
            (kept * compat.tensor(np.arange(1.0, y.numel() + 1)).reshape(y.shape)).sum().backward()
            assert x.grad.isfinite().all() and not x.grad[~KEPT].any()
            found[-1] = np.concatenate([found[-1].ravel(), x.grad.numpy().ravel()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


@pytest.mark.parametrize("name", sorted({*REDUCTIONS, *SPREADS, "median"}))
@given(seed=st.integers(0, 999))
def test_rows_are_the_functions_of_what_is_left(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, mask = compat.tensor(rng.normal(size=(4, 6))), rng.random((4, 6)) < 0.6
    mask[np.arange(4), rng.integers(0, 5, 4)] = True
    mask[:, 5] = True
    found = getattr(compat.masked, name)(x, 1, mask=compat.tensor(mask))
    for row, here, y in zip(x, mask, found, strict=True):
        expected = getattr(compat, name)(row[compat.tensor(here)], 0)
        value = getattr(expected, "values", expected)
        if value.isfinite():
            np.testing.assert_allclose(y.item(), value.item(), rtol=1e-12)


DTYPES = ["bool", "uint8", "int8", "int64", "float16", "float32", "float64", "complex64"]


@needs_torch
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_dtypes_and_errors_are_pytorchs(name: str, dtype: str) -> None:
    half = dtype == "float16"
    numbers = np.array([[1, 0, 3], [1, 1, 0], [2, 3, 1]])

    def f(th: Any, **kwargs: Any) -> Any:
        x = th.tensor(numbers).to(getattr(th, dtype))
        return getattr(th.masked, name)(x, *_arguments(name), **kwargs)

    if name == "median" and dtype == "complex64":  # PyTorch drops the imaginary parts
        with pytest.raises(NotImplementedError):
            f(compat)
        return
    agree(f, half=half)
    for mask in ([True, False, True], [[True], [False], [True]], [[0, 0, 2]] * 3):
        agree(lambda th, mask=mask: f(th, mask=th.tensor(mask)), half=half)
    for target in ("float64", "complex128"):
        if name not in ("argmax", "argmin", "median"):
            agree(lambda th, t=target: f(th, dtype=getattr(th, t)), half=half)


MISFITS: list[Any] = [
    lambda th: th.masked.sum(th.ones(3), mask=th.ones(2, 3) > 0),
    lambda th: th.masked.sum(th.ones(3), mask=th.ones(2) > 0),
    lambda th: th.masked.mean(th.ones(3), 1),
    lambda th: th.masked.prod(th.ones(2, 3), (0, 0)),
    lambda th: th.masked.amax(th.ones(2, 0)),
    lambda th: th.masked.amin(th.ones(2, 0), mask=th.ones(2, 0) > 0),
    lambda th: th.masked.argmax(th.ones(2, 3), (0, 1)),
    lambda th: th.masked.var(th.ones(3), 0, True, correction=1),
    lambda th: th.masked.norm(th.ones(3), "fro"),
    lambda th: th.masked.median(th.ones(3).long(), mask=th.ones(3) > 1),
    lambda th: th.masked.softmax(th.ones(3), 2),
    lambda th: th.masked.cumsum(th.ones(3)),
]


@needs_torch
@pytest.mark.parametrize("f", MISFITS)
def test_what_does_not_fit(f: Any) -> None:
    with pytest.raises(Exception) as theirs:
        f(torch)
    with pytest.raises(theirs.type):
        f(compat)
    assert theirs.type is not AttributeError


def test_of_nothing() -> None:
    """Rows without an element: the neutral number, or NaN, and no gradient."""
    mask = compat.tensor([[False, False], [True, False]])
    neutral = {"sum": 0.0, "mean": math.nan, "prod": 1.0, "amax": -math.inf, "amin": math.inf}
    neutral |= {"logsumexp": -math.inf, "median": math.nan, "var": math.nan, "std": math.nan}
    for name, value in neutral.items():
        x = compat.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        found = getattr(compat.masked, name)(x, 1, mask=mask)
        np.testing.assert_equal(found[0].item(), value)
        if name not in SPREADS:
            assert found[1].item() == 3.0
            found.sum().backward()
            np.testing.assert_array_equal(x.grad.numpy(), [[0, 0], [1, 0]])


def test_medians_of_large_integers_are_exact() -> None:
    big = 2**60
    x = compat.tensor([big + 1, big + 3, big + 2, 7])
    mask = compat.tensor([True, True, True, False])
    assert compat.masked.median(x, 0, mask=mask).item() == big + 2
    with pytest.raises(RuntimeError, match="whether integers are left depends on the numbers"):
        compat.func.vmap(lambda m: compat.masked.median(x, 0, mask=m))(mask[None])


def test_deviation_of_equal_elements() -> None:
    x = compat.full((3,), 2.0, requires_grad=True)
    mask = compat.tensor([True, True, False])
    compat.masked.std(x, mask=mask).backward()
    assert not x.grad.any()
