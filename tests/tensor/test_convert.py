"""Changing dtype, promotion, Python's and NumPy's protocols, memory shared with other libraries."""

from __future__ import annotations

import itertools
import math
import operator
import re
from typing import Any

import numpy as np
import outcomes
import pytest
from elementwise import needs_torch, outcome
from harness import C, Call, F, call, check
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from outcomes import Row, both, module, rows

import compat

FLOATS = ["float32", "float64", "float16", "complex64", "complex128"]
NAMES = [*FLOATS, "int64", "int32", "int16", "int8", "uint8", "bool"]
BFLOAT16 = hasattr(compat, "bfloat16")
ALL = [*NAMES, "bfloat16"] if BFLOAT16 else NAMES
needs_bfloat16 = pytest.mark.skipif(not BFLOAT16, reason="ml_dtypes is not installed")

drops_imaginary_parts = pytest.mark.filterwarnings("ignore:Casting complex values to real")
copies_for_numpy = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept")


@both()
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return module(request.param)


@pytest.mark.parametrize("row", rows("convert"), ids=str)
def test_transcript(torch: Any, row: Row) -> None:
    outcomes.check(torch, row)


# ---------------------------------------------------------------- derivatives

CALLS = [
    call(".double", F(2, 3)),
    call(".cdouble", F(2, 3)),
    call(".cdouble", C(2)),
    call(".to", F(), dtype="torch.complex128"),
    call(".to", F(0, 2), dtype="torch.complex128"),
    call(".type", F(2), dtype="torch.complex128"),
    call(".type_as", F(2), C(3)),
    call(".cpu", F(2, 3)),
    call(".to", C(2, 3), dtype="torch.float64"),
    call(".double", C()),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
@drops_imaginary_parts
def test_derivatives(c: Call) -> None:
    check(c)


@pytest.mark.parametrize("low", ["float16", "float32", "complex64"])
def test_the_gradient_has_the_dtype_of_the_leaf(torch: Any, low: str) -> None:
    x = torch.ones(3, dtype=getattr(torch, low), requires_grad=True)
    y = x.to(torch.complex128)
    (y.real * torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)).sum().backward()
    assert str(x.grad.dtype) == f"torch.{low}" and x.grad.real.tolist() == [1.0, 2.0, 4.0]
    assert y.grad_fn.name() == "ToCopyBackward0"


@drops_imaginary_parts
def test_imaginary_parts_that_are_dropped_warn(torch: Any) -> None:
    x = torch.tensor([1 + 2j], requires_grad=True)
    if torch is compat:
        with pytest.warns(UserWarning, match="Casting complex values to real discards the imag"):
            x.float()
    (x.float() * 3).sum().backward()
    assert x.grad.tolist() == [3.0]
    x.bool()  # whether it is zero: nothing is dropped


def test_integers_cut_the_graph(torch: Any) -> None:
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    for y in (x.int(), x.long(), x.bool(), x.to(torch.uint8)):
        assert not y.requires_grad and y.is_leaf and y.grad_fn is None
    assert not x.int().float().requires_grad


# ---------------------------------------------------------------- dtypes


@needs_torch
@pytest.mark.parametrize("a", ALL)
def test_promotion_as_in_pytorch(a: str) -> None:
    for b in ALL:

        def typed(m: Any, n: str, *shape: int) -> Any:
            return m.zeros(shape, dtype=getattr(m, n))

        questions = {
            "promote_types": lambda m, b=b: m.promote_types(getattr(m, a), getattr(m, b)),
            "can_cast": lambda m, b=b: m.can_cast(getattr(m, a), getattr(m, b)),
            "1-d, 1-d": lambda m, b=b: m.result_type(typed(m, a, 1), typed(m, b, 1)),
            "0-d, 1-d": lambda m, b=b: m.result_type(typed(m, a), typed(m, b, 1)),
            "0-d, 0-d": lambda m, b=b: m.result_type(typed(m, a), typed(m, b)),
            "x + y": lambda m, b=b: (typed(m, a) + typed(m, b, 1)).dtype,
        }
        for name, f in questions.items():
            ours, theirs = repr(outcome(compat, f)), repr(outcome(None, f))
            # There is no complex32 here.
            assert ours == theirs.replace("complex32", "complex64"), (name, a, b)


@needs_torch
@pytest.mark.parametrize("a", ALL)
@pytest.mark.parametrize("number", [True, 1, 1.5, 1j, np.float64(1), np.int8(1)], ids=repr)
def test_promotion_with_numbers_as_in_pytorch(a: str, number: Any) -> None:
    for n in (0, 1):

        def question(m: Any, n: int = n) -> Any:
            return m.result_type(m.zeros((1,) * n, dtype=getattr(m, a)), number)

        ours, theirs = outcome(compat, question), outcome(None, question)
        assert repr(ours) == repr(theirs).replace("complex32", "complex64")


@pytest.mark.parametrize("a", ALL)
@pytest.mark.parametrize(
    "scalar",
    [np.float64(1.5), np.float16(2), np.longdouble(2), np.int64(3), np.uint8(3), np.bool_(True)],
    ids=repr,
)
def test_scalars_of_numpy_count_as_numbers(a: str, scalar: Any) -> None:
    """Left of an operator too, where NumPy is asked first."""
    x = compat.ones(3, dtype=getattr(compat, a))
    number = {"b": bool, "i": int, "u": int, "f": float}[scalar.dtype.kind](scalar)
    names = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne"
    for f in (getattr(operator, name) for name in names.split()):
        for flipped in (False, True):
            ours, expected = (_outcome(f, n, x, flipped) for n in (scalar, number))
            assert type(ours) is type(expected), f
            if type(ours) is compat.Tensor:
                assert ours.dtype is expected.dtype and compat.equal(ours, expected), f


def _outcome(f: Any, number: Any, x: Any, flipped: bool) -> Any:
    try:
        return f(x, number) if flipped else f(number, x)
    except (RuntimeError, TypeError) as e:
        return e


def test_promotion_is_a_join() -> None:
    """Commutative, associative and idempotent; a result can hold both."""
    every = [getattr(compat, name) for name in ALL]
    for a, b in itertools.product(every, every):
        join = compat.promote_types(a, b)
        assert compat.promote_types(a, a) is a and compat.promote_types(b, a) is join
        assert compat.can_cast(a, join) and compat.can_cast(b, join)
        assert compat.promote_types(join, a) is join
    if not BFLOAT16:
        for a, b, c in itertools.product(every, every, every):
            left = compat.promote_types(compat.promote_types(a, b), c)
            assert left is compat.promote_types(a, compat.promote_types(b, c))


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_constants(torch: Any, name: str) -> None:
    d = getattr(torch, name)
    assert repr(d) == str(d) == f"torch.{name}"
    assert isinstance(d, torch.dtype) and d == getattr(torch, name) and d != name
    assert len({d, getattr(torch, name)}) == 1
    x = torch.zeros(2, dtype=d)
    assert x.dtype is d and x.element_size() == d.itemsize == x.numpy().dtype.itemsize
    assert x.is_floating_point() == d.is_floating_point == torch.is_floating_point(x)
    assert x.is_complex() == d.is_complex == torch.is_complex(x)
    assert x.is_signed() == d.is_signed
    assert d.to_real().to_real() is d.to_real()


def test_limits_are_those_of_numpy(torch: Any) -> None:
    for name in FLOATS:
        d = getattr(torch, name)
        ours, numpy = torch.finfo(d), np.finfo(str(d.to_real())[6:])
        assert (ours.bits, ours.eps, ours.max) == (numpy.bits, numpy.eps, numpy.max)
        assert (ours.min, ours.tiny) == (numpy.min, numpy.tiny)
        assert ours.smallest_normal == numpy.smallest_normal
        assert math.isclose(ours.resolution, float(numpy.resolution), rel_tol=1e-3)
        assert {ours: 1}[torch.finfo(d)] == 1 if torch is compat else True
    for name in NAMES[5:-1]:
        found, expected = torch.iinfo(getattr(torch, name)), np.iinfo(name)
        assert (found.bits, found.min, found.max) == (expected.bits, expected.min, expected.max)
        assert found.dtype == name


NAMED = [
    "uint16",
    "uint32",
    "uint64",
    "complex32",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
]


@needs_torch
@pytest.mark.parametrize("name", NAMED)
def test_dtypes_that_are_only_names(name: str) -> None:
    """Packages compare with them and ask for their limits; there are no tensors of them."""
    if name.startswith("float8"):
        pytest.importorskip("ml_dtypes")
    import torch

    ours, theirs = getattr(compat, name), getattr(torch, name)
    for d, limits in ((ours, compat), (theirs, torch)):
        assert isinstance(d, limits.dtype) and d is not limits.float32
    for what in ("itemsize", "is_floating_point", "is_complex", "is_signed"):
        assert getattr(ours, what) == getattr(theirs, what), what
    of = "iinfo" if name[0] == "u" else "finfo"
    a, b = (getattr(th, of)(d) for th, d in ((compat, ours), (torch, theirs)))
    shown = ("bits", "min", "max") if name[0] == "u" else ("bits", "min", "max", "eps", "tiny")
    assert [getattr(a, k) for k in shown] == [getattr(b, k) for k in shown]
    assert repr(ours) == repr(theirs)
    for make in (
        lambda: compat.zeros(2, dtype=ours),
        lambda: compat.tensor([1], dtype=ours),
        lambda: compat.ones(2).to(ours),
        lambda: compat.nn.Linear(2, 2).to(ours),
        lambda: compat.from_numpy(np.zeros(2, ours.numpy)),
        lambda: compat.set_default_dtype(ours),
    ):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(TypeError, match=f"no tensors of torch.{name} here"):
        compat.zeros(2, dtype=ours)


@pytest.mark.parametrize("name", ["float64", "float16"])
def test_the_default_dtype_decides_for_numbers(torch: Any, name: str) -> None:
    d = getattr(torch, name)
    torch.set_default_dtype(d)
    try:
        assert torch.get_default_dtype() is d
        assert torch.tensor([1.0]).dtype is torch.rand(1).dtype is d
        assert (torch.tensor([1]) + 1.5).dtype is torch.tensor([1]).sqrt().dtype is d
        assert torch.result_type(torch.tensor([1]), 1.0) is d
        assert torch.finfo().bits == d.itemsize * 8
        assert repr(torch.tensor([1.5])) == "tensor([1.5000])"
        assert "dtype=torch.float32" in repr(torch.tensor([1.5], dtype=torch.float32))
    finally:
        torch.set_default_dtype(torch.float32)


@drops_imaginary_parts
@pytest.mark.parametrize("b", NAMES)
@pytest.mark.parametrize("a", NAMES)
def test_every_dtype_converts_to_every_other(torch: Any, a: str, b: str) -> None:
    low, high = getattr(torch, a), getattr(torch, b)
    x = torch.tensor([[0, 1, 3], [1, 0, 2]]).to(low)
    found = x.to(high)
    assert found.dtype is high and found.shape == (2, 3)
    assert (found is x) == (a == b)
    expected = x.numpy().real if not high.is_complex and low.is_complex else x.numpy()
    np.testing.assert_array_equal(found.numpy(), expected.astype(b))
    assert torch.equal(x.type(high), found) and torch.equal(x.type_as(found), found)
    assert torch.equal(x.to(found), found) and torch.equal(x.to("cpu", high), found)
    copied = x.to(high, copy=True)
    assert copied is not x and copied.data_ptr() != x.data_ptr() and torch.equal(copied, found)


SHORT = {
    "bool": "bool",
    "byte": "uint8",
    "cdouble": "complex128",
    "cfloat": "complex64",
    "char": "int8",
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}


@pytest.mark.parametrize("method", SHORT)
def test_short_forms(torch: Any, method: str) -> None:
    x = torch.tensor([0.0, 1.75])
    found = getattr(x, method)()
    assert torch.equal(found, x.to(getattr(torch, SHORT[method])))
    assert getattr(found, method)() is found


@needs_bfloat16
def test_bfloat16(torch: Any) -> None:
    d = torch.bfloat16
    x = torch.tensor([0.1, 300.0], requires_grad=True)
    y = x.bfloat16()
    assert y.dtype is d and y.type() == "torch.BFloat16Tensor" and y.element_size() == 2
    assert y.tolist() == [0.10009765625, 300.0] and y[0].item() == 0.10009765625
    assert repr(y) == (
        "tensor([1.0010e-01, 3.0000e+02], dtype=torch.bfloat16,\n       grad_fn=<ToCopyBackward0>)"
    )
    (y * 3).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [3.0, 3.0]
    assert y.long().tolist() == [0, 300] and y.cfloat().tolist() == [0.10009765625, 300]
    info = torch.finfo(d)
    assert (info.bits, info.eps, info.resolution) == (16, 0.0078125, 0.01)
    assert (d.itemsize, d.is_floating_point, d.to_complex()) == (2, True, torch.complex64)


# ---------------------------------------------------------------- NumPy


@copies_for_numpy
def test_arrays_share_memory(torch: Any) -> None:
    x = torch.zeros(2, 3)
    a = x.numpy()
    a[0, 1] = 5
    x[1, 2] = 7
    assert x[0, 1] == 5 and a[1, 2] == 7
    assert np.shares_memory(a, x.t().numpy()) and x.t().numpy().strides == (4, 12)
    assert np.shares_memory(a, np.asarray(x)) and not np.shares_memory(a, np.array(x))
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.shares_memory(a, x.detach().numpy()) and np.shares_memory(a, x.data.numpy())
    assert np.shares_memory(a, x.cpu().numpy()) and np.shares_memory(a, x[1:].numpy())
    if torch is compat:
        with pytest.raises(ValueError):
            np.array(x, dtype=np.float64, copy=False)


def test_tensors_share_the_memory_of_arrays(torch: Any) -> None:
    a = np.zeros((2, 3))
    for make in (torch.from_numpy, torch.as_tensor, torch.from_dlpack):
        x = make(a)
        x[0, 0] += 1
        assert x.dtype is torch.float64 and x.data_ptr() == a.ctypes.data
    assert a[0, 0] == 3
    assert torch.from_numpy(a.T).stride() == (1, 3)
    assert torch.as_tensor(a, dtype=torch.float32).data_ptr() != a.ctypes.data
    assert torch.tensor(a).data_ptr() != a.ctypes.data


@given(
    arrays.arrays(
        st.sampled_from([np.dtype(n) for n in NAMES]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    )
)
def test_arrays_survive(a: np.ndarray) -> None:
    for x in (compat.from_numpy(a), compat.from_dlpack(a), compat.tensor(a), compat.as_tensor(a)):
        assert x.numpy().dtype == a.dtype and x.shape == a.shape
        np.testing.assert_array_equal(x.numpy(), a)
        np.testing.assert_array_equal(np.from_dlpack(x), a)
        np.testing.assert_array_equal(np.array(x.tolist(), a.dtype).reshape(a.shape), a)


@copies_for_numpy
def test_numpy_of_a_tensor_that_requires_grad(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    for f in (torch.Tensor.numpy, np.asarray, np.array, lambda t: t.__array__()):
        with pytest.raises(RuntimeError, match=re.escape("Use tensor.detach().numpy() instead")):
            f(x)
    assert np.shares_memory(x.numpy(force=True), x.detach().numpy())


def test_the_refusal_says_where_the_tensor_was_made() -> None:
    x = compat.ones(2, requires_grad=True)  # this line
    with pytest.raises(RuntimeError, match=r"made at test_convert\.py:\d+: .*# this line"):
        x.numpy()


# ---------------------------------------------------------------- DLPack


@needs_torch
@pytest.mark.parametrize("name", NAMES)
def test_memory_is_shared_with_pytorch(name: str) -> None:
    theirs_module = module("torch")
    ours = compat.tensor([[1, 0], [1, 1], [0, 0]], dtype=getattr(compat, name)).t()
    theirs = theirs_module.from_dlpack(ours)
    assert theirs.data_ptr() == ours.data_ptr() and theirs.stride() == ours.stride()
    assert str(theirs.dtype) == str(ours.dtype) and theirs.tolist() == ours.tolist()
    back = compat.from_dlpack(theirs)
    theirs[0, 0] = 0
    assert not back[0, 0] and not ours[0, 0] and back.shape == (2, 3)


def test_dlpack_options(torch: Any) -> None:
    x = torch.zeros(2)
    assert torch.from_dlpack(x).data_ptr() == x.data_ptr()
    assert torch.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    assert torch.from_dlpack(x, copy=False, device="cpu").data_ptr() == x.data_ptr()
    assert [int(n) for n in x.__dlpack_device__()] == [1, 0]
    assert torch.from_dlpack(x[1:]).data_ptr() == x.data_ptr() + 4
    assert torch.from_dlpack(torch.zeros(0, 3)).shape == (0, 3)
    assert not torch.from_dlpack(x.clone().requires_grad_().detach()).requires_grad


def test_tensors_inside_transforms_have_no_memory_to_share() -> None:
    def shares(x: Any) -> Any:
        with pytest.raises(RuntimeError, match="Cannot access data pointer of Tensor"):
            x.data_ptr()
        with pytest.raises(TypeError, match="inside a transform cannot be exported"):
            x.__dlpack__()
        return (x.double() * 2).float().sum()

    assert compat.func.grad(shares)(compat.ones(2)).tolist() == [2.0, 2.0]
    assert compat.func.vmap(shares)(compat.ones(2, 3)).tolist() == [6.0, 6.0]


# ---------------------------------------------------------------- Python


def test_data_shares_memory_and_cuts_the_graph(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    d = x.data
    d[0] = 5
    assert x.tolist() == [5.0, 1.0] and not d.requires_grad
    x.data = torch.zeros(3)
    assert x.shape == (3,) and x.requires_grad and x.is_leaf
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0] * 3
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        x.data = 3


def test_iterating_keeps_the_graph(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (first, second), rest = zip(*x, strict=True)
    (first * second + sum(rest)).backward()
    assert x.grad.tolist() == [[3.0, 1.0], [1.0, 1.0]]


def test_apply_and_map(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0]])
    assert x.apply_(lambda a: a + 1) is x and x.tolist() == [[2.0, 3.0]]
    assert x.map_(torch.tensor([[10.0], [20.0]])[0], lambda a, b: a * b) is x
    assert x.tolist() == [[20.0, 30.0]]
    assert torch is not compat or x._version == 2
    assert torch.zeros(0).apply_(lambda a: a).shape == (0,)
    with pytest.raises(TypeError):
        x.map_(torch.tensor([1]), lambda a, b: a)
    i = torch.tensor([1, 2]).apply_(lambda a: a * 1.75)
    assert i.tolist() == [1, 3]


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_are_exact(n: int) -> None:
    x = compat.tensor(n)
    assert x.item() == int(x) == x.tolist() == x.__index__() == n and bool(x) == bool(n)
    assert (n in x.reshape(1)) and f"{x}" == str(n) and f"{x:,}" == f"{n:,}"


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_floats_are_exact(a: float, b: float) -> None:
    x = compat.tensor([a, b], dtype=compat.float64)
    assert x.tolist() == [a, b] == [float(v) for v in x] and x[0].item() == a
    assert bool(x[1]) == bool(b) and (a in x) and f"{x[0]:.3e}" == f"{a:.3e}"
    z = compat.tensor(complex(a, b), dtype=compat.complex128)
    assert complex(z) == z.item() == complex(a, b)


# ---------------------------------------------------------------- the order of elements in memory


def test_memory_formats(torch: Any) -> None:
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    last = x.to(memory_format=torch.channels_last)
    assert last.stride() == (24, 1, 8, 2) and last.tolist() == x.tolist()
    assert last.to(memory_format=torch.channels_last) is last
    assert last.to(memory_format=torch.preserve_format) is last
    assert x.to(memory_format=torch.contiguous_format) is x
    assert last.to(memory_format=torch.contiguous_format).stride() == x.stride()
    assert last.to(torch.float64).stride() == last.stride()
    assert last.to(torch.float64, memory_format=torch.contiguous_format).stride() == x.stride()
    assert x.to(last, memory_format=torch.channels_last).stride() == last.stride()
    for name in ("byte", "char", "float", "cpu"):
        found = getattr(x, name)(memory_format=torch.channels_last)
        assert found.stride() == last.stride() and found.tolist() == x.tolist(), name
    deep = torch.zeros(1, 2, 3, 4, 5).to(memory_format=torch.channels_last_3d)
    assert deep.stride() == (120, 1, 40, 10, 2)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.zeros(2, 3).byte(memory_format=torch.channels_last)
    with pytest.raises(TypeError, match="memory_format"):
        x.to(memory_format="channels_last")


def test_copies_in_a_memory_format(torch: Any) -> None:
    x = torch.arange(48.0).reshape(2, 2, 3, 4)
    last = x.contiguous(memory_format=torch.channels_last)
    assert last.stride() == (24, 1, 8, 2) and last.tolist() == x.tolist()
    assert last.is_contiguous(memory_format=torch.channels_last) and not last.is_contiguous()
    assert x.is_contiguous(memory_format=torch.contiguous_format)
    assert not x.is_contiguous(memory_format=torch.channels_last)
    assert not x[0].is_contiguous(memory_format=torch.channels_last)
    assert last.contiguous(memory_format=torch.channels_last) is last
    assert last.contiguous().stride() == x.stride()
    assert last.clone().stride() == last.stride()
    assert last.clone(memory_format=torch.contiguous_format).stride() == x.stride()
    assert x.clone(memory_format=torch.channels_last).stride() == last.stride()
    for make in (torch.empty_like, torch.zeros_like, torch.ones_like):
        assert make(x, memory_format=torch.channels_last).stride() == last.stride()
        assert make(last, memory_format=torch.preserve_format).stride() == last.stride()
    assert torch.empty(2, 2, 3, 4, memory_format=torch.channels_last).stride() == last.stride()
    for f in (torch.clone, torch.empty_like, lambda x, **k: x.contiguous(**k)):
        with pytest.raises(
            RuntimeError, match="required rank 4 tensor to use channels_last format"
        ):
            f(torch.ones(2, 3), memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="preserve"):
        last.contiguous(memory_format=torch.preserve_format)
    y = x.double().requires_grad_()
    (y.contiguous(memory_format=torch.channels_last) * x).sum().backward()
    assert y.grad.tolist() == x.tolist()


def test_another_order_of_elements_is_recorded(torch: Any) -> None:
    x = torch.ones(1, 2, 3, 4, requires_grad=True)
    y = x.to(memory_format=torch.channels_last)
    assert y.grad_fn.name() == "ToCopyBackward0"
    (y * torch.arange(24.0).reshape(1, 2, 3, 4)).sum().backward()
    assert x.grad.flatten().tolist() == list(range(24))


def test_one_tensor_has_one_number(torch: Any) -> None:
    x = torch.ones(2)
    assert x._cdata == x._cdata != x.clone()._cdata
