"""The dtype that is asked for is that of `out`; operators in place give way; boolean factors."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import compat


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


REDUCTIONS: dict[str, Any] = {
    "sum": lambda t, x, **o: t.sum(x, dim=0, **o),
    "nansum": lambda t, x, **o: t.nansum(x, dim=0, **o),
    "prod": lambda t, x, **o: t.prod(x, dim=0, **o),
    "mean": lambda t, x, **o: t.mean(x, dim=0, **o),
    "nanmean": lambda t, x, **o: t.nanmean(x, dim=0, **o),
    "cumsum": lambda t, x, **o: t.cumsum(x, dim=0, **o),
    "cumprod": lambda t, x, **o: t.cumprod(x, dim=0, **o),
    "vector_norm": lambda t, x, **o: t.linalg.vector_norm(x, dim=0, **o),
    "matrix_norm": lambda t, x, **o: t.linalg.matrix_norm(x, **o),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_dtype_that_is_not_that_of_out_is_refused(torch: Any, name: str) -> None:
    f, x = REDUCTIONS[name], torch.ones(3, 3)
    wanted = f(torch, x, dtype=torch.float64)
    with pytest.raises(RuntimeError):
        f(torch, x, dtype=torch.float64, out=torch.empty(wanted.shape))
    out = torch.empty(wanted.shape, dtype=torch.float64)
    assert f(torch, x, dtype=torch.float64, out=out) is out
    assert torch.equal(out, wanted)


EXACT: dict[str, Any] = {
    "logcumsumexp": lambda t: t.logcumsumexp(t.ones(2).double(), 0, out=t.empty(2)),
    "nonzero_static": lambda t: t.nonzero_static(t.tensor([8]), size=1, out=t.empty(1, 1)),
    "quantile": lambda t: t.quantile(t.ones(3), 0.5, out=t.empty(()).double()),
    "abs": lambda t: t.abs(t.ones(2), out=t.empty(2).double()),
}


@pytest.mark.parametrize("name", EXACT)
def test_out_has_the_dtype_of_the_result(torch: Any, name: str) -> None:
    with pytest.raises(RuntimeError):
        EXACT[name](torch)


@pytest.mark.parametrize("dtype", ["complex64", "float64"])
def test_the_modulus_of_complex_numbers_goes_into_wider_ones(torch: Any, dtype: str) -> None:
    out = torch.empty(1, dtype=getattr(torch, dtype))
    assert torch.abs(torch.tensor([3 + 4j]), out=out).tolist() == [5]


class Answers:
    """It answers every reflected operator."""


OPERATORS = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "matmul",
]
for _name in OPERATORS:
    setattr(Answers, f"__r{_name}__", lambda self, other, _name=_name: _name)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_give_way_to_what_is_no_operand(torch: Any, name: str) -> None:
    x = torch.ones(2, dtype=torch.int64)
    if name != "matmul":
        assert getattr(x, f"__i{name}__")(object()) is NotImplemented
    assert getattr(x, f"__r{name}__")(object()) is NotImplemented
    f = getattr(operator, f"i{name}")
    assert f(x, Answers()) == name
    with pytest.raises(TypeError):
        f(x, "a")


def test_a_boolean_alpha_is_for_booleans(torch: Any) -> None:
    for f in (torch.add, torch.sub, torch.Tensor.add_, torch.Tensor.sub_):
        with pytest.raises(RuntimeError, match="Boolean alpha"):
            f(torch.ones(2), 1, alpha=True)
    yes = torch.ones(2, dtype=torch.bool)
    for other in (True, yes):
        assert torch.add(yes, other, alpha=True).dtype is torch.bool
    for factors in ({"alpha": True}, {"beta": True}):
        with pytest.raises(RuntimeError):
            torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), **factors)


def test_infinities_in_running_complex_sums(torch: Any) -> None:
    inf = math.inf
    x = torch.tensor(
        [complex(-inf, 4), complex(-inf, 1), 1 + 2j, complex(inf, 0), 1j, complex(inf)]
    )
    y = torch.logcumsumexp(x, 0)
    assert y.real.tolist() == [-inf, -inf, 1, inf, inf, inf]
    assert y.imag.tolist() == [0, 0, 2, 0, 0, 0]


def test_differences_pass_over_the_sample_between(torch: Any) -> None:
    x = np.array([2, -2, np.inf, np.inf, -np.inf, 3.0, -np.inf, 2, np.nan, 3, 1, 0])
    for order in (1, 2):
        (found,) = torch.gradient(torch.tensor(x), edge_order=order)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(found.numpy(), np.gradient(x, edge_order=order))


def test_differences_over_complex_distances(torch: Any) -> None:
    x = torch.arange(5.0, dtype=torch.float64) ** 2
    (real,) = torch.gradient(x, spacing=2.0)
    for spacing in (2j, [2j], [2j * torch.arange(5.0).to(torch.complex128)]):
        (found,) = torch.gradient(x, spacing=spacing)
        assert found.dtype is torch.complex128
        torch.testing.assert_close(found, -1j * real)
    (found,) = torch.gradient(x.float(), spacing=[2 * torch.arange(5.0).double()])
    torch.testing.assert_close(found, real)


def test_the_largest_of_half_precision_is_finite(torch: Any) -> None:
    pytest.importorskip("ml_dtypes")
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        x = torch.tensor([math.nan, math.inf, -math.inf, 1.0], dtype=dtype)
        largest = torch.finfo(dtype).max
        assert torch.nan_to_num(x, 2.0).tolist() == [2.0, largest, -largest, 1.0]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_bytes_are_read_in_the_dtype(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    for storage in (x.untyped_storage(), x.storage()):
        assert torch.tensor(storage, dtype=torch.float32).tolist() == [1.0, 2.0, 3.0]
    assert torch.equal(torch.tensor(x.untyped_storage(), dtype=torch.int32), x.view(torch.int32))
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        torch.tensor(x.storage(), dtype=torch.float64)


def test_elements_that_lie_across_one_another_are_refused(torch: Any) -> None:
    x = np.ndarray((3,), np.float64, bytearray(32), 0, (3,))
    with pytest.raises(ValueError, match="strides not a multiple"):
        torch.from_numpy(x)


def test_numbers_of_three_tensors(torch: Any) -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert x.map2_(y, y, lambda a, b, c: a + b * c) is x
    assert x.tolist() == [10.0, 18.0]
    with pytest.raises(TypeError):
        x.map2_(y, y.double(), lambda a, b, c: a)
    with pytest.raises(RuntimeError):
        x.map_(torch.ones(3, 2), lambda a, b: a)


REFUSED: dict[str, Any] = {
    "sections of floats": (RuntimeError, lambda t: t.tensor_split(t.ones(3), t.tensor([1.0]))),
    "a matrix of places": (RuntimeError, lambda t: t.tensor_split(t.ones(3), t.tensor([[1]]))),
    "too large": (RuntimeError, lambda t: t.empty(2**31, 2**31, 2**31)),
    "too large beside none": (RuntimeError, lambda t: t.zeros(0, 4, 2**61)),
    "a flag of 1": (TypeError, lambda t: t.use_deterministic_algorithms(False, warn_only=1)),
    "kthvalue of nothing": (IndexError, lambda t: t.kthvalue(t.empty(2, 0), 1, dim=1)),
    "trapezoids over booleans": (RuntimeError, lambda t: t.trapezoid(t.ones(3), dx=True)),
    "trapezoids that do not fit": (
        RuntimeError,
        lambda t: t.trapezoid(t.ones(2, 3), t.ones(3, 3)),
    ),
    "a shape of floats": (RuntimeError, lambda t: t.broadcast_shapes(1.5)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(torch: Any, case: str) -> None:
    error, f = REFUSED[case]
    with pytest.raises(error):
        f(torch)


def test_a_norm_of_complex_numbers_is_of_the_real_dtype(torch: Any) -> None:
    x, out = torch.ones(2, 2, dtype=torch.complex64), torch.empty((), dtype=torch.float64)
    assert torch.linalg.norm(x, dtype=torch.complex128, out=out) is out
    assert out.item() == 2.0


@pytest.mark.parametrize("pivots", [[0, 1], [3, 1], [-1, 1]], ids=str)
def test_pivots_that_are_no_rows_are_refused(torch: Any, pivots: list[int]) -> None:
    p = torch.tensor(pivots, dtype=torch.int32)
    with pytest.raises(RuntimeError):
        torch.linalg.lu_solve(torch.eye(2), p, torch.ones(2, 1))
    with pytest.raises(RuntimeError):
        torch.lu_unpack(torch.eye(2), p)
    for wide in (torch.tensor([1, 2]), torch.tensor([1.0, 2.0])):
        with pytest.raises(RuntimeError):
            torch.linalg.lu_solve(torch.eye(2), wide, torch.ones(2, 1))


def test_einsum_of_nothing(torch: Any) -> None:
    with pytest.raises(ValueError, match="at least one operand"):
        torch.einsum("", [])


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_a_tensor_shows_other_memory(torch: Any) -> None:
    y = torch.arange(6.0).reshape(2, 3)
    for source in (y, y.storage(), y.untyped_storage()):
        x = torch.zeros(3)
        assert x.set_(source, 1, (2, 2), (2, 1)) is x
        assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        x[0, 0] = 9.0
        assert y[0, 1] == 9.0
        y[0, 1] = 1.0
        x.set_(source)
        assert x.data_ptr() == y.data_ptr() and x.numel() == 6
        assert x.set_(source, 2, (2, 2)).stride() == (2, 1)
        assert x.set_().shape == (0,)
    leaf = torch.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError):
        leaf.set_(y)
    with torch.no_grad():
        leaf.set_(y)
    assert leaf.requires_grad and leaf.shape == (2, 3)
    for wide in (y.double(), y.double().storage()):
        with pytest.raises(RuntimeError):
            torch.zeros(3).set_(wide)


@pytest.mark.parametrize("rcond", [-1.0, 0.4, 0.6, 1.0, 1.5, None], ids=str)
@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
def test_shares_of_the_largest_singular_value(torch: Any, driver: str, rcond: float) -> None:
    a, b = torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), torch.ones(3, 1)
    found = torch.linalg.lstsq(a, b, rcond=rcond, driver=driver).solution.squeeze(1).tolist()
    above = 0.0 if rcond is None or rcond < 0 else rcond
    if driver == "gelsd" and above >= 1:
        above = 0.0
    assert found == pytest.approx([0.5 * (above < 1), 1.0 * (above < 0.5), 0.0])


def test_cutoffs_are_real(torch: Any) -> None:
    for f in (torch.linalg.pinv, torch.linalg.matrix_rank):
        for name in ("atol", "rtol"):
            with pytest.raises(RuntimeError, match="complex"):
                f(torch.eye(2), **{name: torch.tensor(1j)})
