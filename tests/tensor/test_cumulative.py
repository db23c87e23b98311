"""Running sums, products and extremes, differences, integrals: against differences and PyTorch."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from harness import B, C, Call, Distinct, Draw, F, I, call, check
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

MODULES = (compat,) if torch is None else (compat, torch)
nan = math.nan


def With(values: Any, *, grad: bool = True) -> Draw:
    """These numbers."""
    return Draw(lambda _: np.array(values), grad)


RUNNING = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")

CALLS = [
    *(call(f, Distinct(2, 3, 4), d) for f in RUNNING for d in (0, 1, -1)),
    *(call(f, F(), 0) for f in RUNNING),
    *(call(f, F(2, 0), d) for f in RUNNING for d in (0, 1)),
    *(call(f, C(2, 3), 1) for f in ("cumsum", "cumprod")),
    *(call(f, I(2, 3), 1) for f in ("cumsum", "cumprod", "cummax", "cummin")),
    *(call(f, B(4), 0) for f in ("cumsum", "cumprod", "cummax")),
    *(call(f, F(2, 3), 1) for f in (".cumsum_", ".cumprod_", ".cummax", ".logcumsumexp")),
    call("cumsum", I(2, 3), 1, dtype="torch.float64"),
    call("cumprod", I(2, 3), 1, dtype="torch.int32"),
    call("cumprod", With([2.0, 0.0, 3.0]), 0),
    call("cumprod", With([0.0, 0.0, 3.0]), 0),
    call("logcumsumexp", With([1000.0, 1000.0, -1000.0]), 0),
    *(call("diff", F(2, 5), n) for n in (0, 1, 2, 5, 6)),
    *(call("diff", F(3, 4, 2), dim=d) for d in (0, 1, -1)),
    call("diff", F(2, 3), 2, 1, F(2, 1), F(2, 2)),
    call(".diff", F(2, 3), prepend=None, append=None),
    call("diff", C(4)),
    call("diff", I(4)),
    call("diff", B(4)),
    call("diff", B(4), 2),
    call("diff", F(0)),
    *(
        call(f, F(2, 4, 3), dim=d)
        for f in ("trapezoid", "cumulative_trapezoid")
        for d in (0, 1, -1)
    ),
    *(call(f, F(2, 4), dx=0.5) for f in ("trapezoid", "trapz", "cumulative_trapezoid")),
    *(call(f, F(2, 4), F(4)) for f in ("trapezoid", "trapz", "cumulative_trapezoid")),
    *(call(f, F(4, 2), F(4), dim=0) for f in ("trapezoid", "cumulative_trapezoid")),
    *(call(f, F(2, 4, 3), F(4, 3), dim=1) for f in ("trapezoid", "cumulative_trapezoid")),
    *(call(f, F(2, 4), F(2, 4), dim=0) for f in ("trapezoid", "cumulative_trapezoid")),
    *(call(f, C(4)) for f in ("trapezoid", "cumulative_trapezoid")),
    *(call(f, I(4)) for f in ("trapezoid", "cumulative_trapezoid")),
    *(call(f, I(4), I(4)) for f in ("trapezoid", "cumulative_trapezoid")),
    *(call(f, F(n)) for f in ("trapezoid", "cumulative_trapezoid") for n in (0, 1)),
    call("logcumsumexp", C(5), 0),
    call("logcumsumexp", C(2, 3), 1),
    call("logcumsumexp", C(), 0),
    call("logcumsumexp", C(2, 0), 1),
    call("gradient", F(3, 4)),
    call("gradient", F(3, 4), edge_order=2),
    call("gradient", F(3, 4), spacing=0.5, dim=1),
    call("gradient", F(3, 4), spacing=[0.5, 2.0]),
    call("gradient", F(3, 4), spacing=[2.0], dim=-1),
    call("gradient", F(5), spacing=2, edge_order=2),
    call("gradient", C(4)),
    call("gradient", F()),
]

# Of equal elements the last so far is shown; NaN stay. PyTorch says what the gradient is.
AT_KINKS = [
    *(call(f, With([1.0, 1.0, 2.0, 2.0, nan, 1.0, nan]), 0) for f in ("cummax", "cummin")),
    *(call(f, With([[2.0, 1.0], [2.0, 0.0], [1.0, 1.0]]), 0) for f in ("cummax", "cummin")),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@pytest.mark.parametrize("c", AT_KINKS, ids=repr)
def test_at_kinks(c: Call) -> None:
    check(c, kinked=True)


def test_products_with_zeros() -> None:
    x = compat.tensor([2.0, 0.0, 3.0], requires_grad=True)
    y = compat.cumprod(x, 0)
    assert y.grad_fn.name() == "CumprodBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1, 8, 0]


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_running_extremes_of_any_list(values: list[int]) -> None:
    x = compat.tensor(values, dtype=compat.float32)
    for f, best in ((compat.cummax, max), (compat.cummin, min)):
        found = f(x, 0)
        for i in range(len(values)):
            far = values[: i + 1]
            assert found.values.tolist()[i] == best(far)
            assert found.indices.tolist()[i] == i - far[::-1].index(best(far))


def test_dtypes() -> None:
    for f in (compat.cumsum, compat.cumprod):
        assert f(compat.tensor([1, 2], dtype=compat.int32), 0).dtype is compat.int64
        assert f(compat.tensor([True]), 0).dtype is compat.int64
        assert f(compat.tensor([1.0]), 0).dtype is compat.float32
        assert f(compat.tensor([1.0]), 0, dtype=compat.int16).dtype is compat.int16
    assert compat.trapezoid(compat.tensor([1, 2])).dtype is compat.float32
    assert compat.diff(compat.tensor([1, 2], dtype=compat.uint8)).dtype is compat.uint8


def test_difference_of_order_zero_is_a_copy() -> None:
    for x in (compat.tensor([1.0, 2.0]), compat.tensor([True, False])):
        y = compat.diff(x, 0)
        assert y is not x and y.tolist() == x.tolist() and y.dtype is x.dtype
        assert not np.shares_memory(x.numpy(), y.numpy())


ERRORS: list[tuple[str, Any, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ("cumsum", [1.0], (1,), {}, IndexError, "Dimension out of range"),
    ("cumsum", [1.0], (), {}, TypeError, "missing 1 required positional"),
    ("cummax", [1j], (0,), {}, NotImplementedError, "not implemented for 'ComplexFloat'"),
    ("logcumsumexp", [1], (0,), {}, NotImplementedError, "not implemented for 'Long'"),
    ("diff", 1.0, (), {}, RuntimeError, "at least one-dimensional"),
    ("diff", [1.0], (-1,), {}, RuntimeError, "order must be non-negative"),
    ("trapezoid", 1.0, (), {}, IndexError, "tensor has no dimensions"),
    ("trapezoid", [True], (), {}, RuntimeError, "bool is not supported"),
]


@pytest.mark.parametrize("name, values, args, options, cls, words", ERRORS, ids=repr)
def test_errors(
    name: str, values: Any, args: Any, options: Any, cls: type[Exception], words: str
) -> None:
    for module in MODULES:
        with pytest.raises(cls, match=words if module is compat else None):
            getattr(module, name)(module.tensor(values), *args, **options)


def test_errors_of_several_tensors() -> None:
    for m in MODULES:
        x, y = m.tensor([[1.0, 2.0]]), m.tensor([1.0])
        with pytest.raises(RuntimeError, match="same dimension as input"):
            m.diff(x, prepend=y)
        with pytest.raises(RuntimeError, match="except along the differencing dimension"):
            m.diff(x, append=m.tensor([[1.0], [2.0]]))
        with pytest.raises(RuntimeError, match="one `x` value for each sample point"):
            m.trapezoid(x, y)
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            m.trapezoid(x, x, dx=1.0)


def test_under_vmap() -> None:
    x = np.random.default_rng(0).normal(size=(3, 5))
    t = compat.from_numpy(x)
    found = compat.vmap(lambda r: compat.cummax(r, 0).values)(t).numpy()
    np.testing.assert_array_equal(found, np.maximum.accumulate(x, 1))
    found = compat.vmap(compat.trapezoid)(t).numpy()
    np.testing.assert_allclose(found, np.trapezoid(x, axis=1))


@pytest.mark.parametrize("size", [0.5, 3.0, 20.0])
def test_angles_of_sums_follow_the_larger_term(size: float) -> None:
    """The imaginary part is not cut off at a half turn."""
    rng = np.random.default_rng(0)
    for module in MODULES:
        x = rng.normal(size=(7, 4)) + 1j * size * rng.normal(size=(7, 4))
        y = module.logcumsumexp(module.tensor(x), 0).numpy()
        np.testing.assert_allclose(np.exp(y), np.cumsum(np.exp(x), 0), rtol=1e-12)
        larger = np.where(y[:-1].real >= x[1:].real, y[:-1], x[1:])
        assert (abs((y[1:] - larger).imag) <= np.pi + 1e-12).all()
