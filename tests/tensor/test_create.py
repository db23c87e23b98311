"""Making tensors: what expressions print and raise, whose memory results share, random data."""

from __future__ import annotations

import array
import copy
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import permutations
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import outcomes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import Row, both, module, rows

import compat


@both()
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return module(request.param)


@pytest.mark.parametrize("row", rows("create"), ids=str)
def test_transcript(torch: Any, row: Row) -> None:
    outcomes.check(torch, row)


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("size", [(2, 3, 4), (3, 0, 2), (1, 4, 1)], ids=str)
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_axes_in_another_order(torch: Any, order: tuple[int, ...], size: tuple[int, ...]) -> None:
    """Seen in the order of memory, the tensor is one that `empty` makes."""
    x = torch.empty_permuted(size, order, dtype=torch.float64, requires_grad=True)
    assert tuple(x.shape) == size and x.dtype is torch.float64 and x.requires_grad
    in_memory = x.permute(order)
    assert in_memory.stride() == torch.empty([size[i] for i in order]).stride()
    assert in_memory.is_contiguous()


@pytest.mark.parametrize("order", [(0,), (0, 2), (0, 0), (0, -1), (0, 1, 2)], ids=str)
def test_no_order_of_the_axes(torch: Any, order: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError):
        torch.empty_permuted((2, 3), order)


def test_tensors_share_the_memory_of_arrays_or_have_their_own(torch: Any) -> None:
    a = np.array([1.0, 2.0], np.float32)
    shared = [torch.from_numpy(a), torch.as_tensor(a), torch.asarray(a), torch.Tensor(a)]
    own = [torch.tensor(a), torch.asarray(a, copy=True), torch.as_tensor(a, dtype=torch.float64)]
    a[0] = 5
    assert [float(x[0]) for x in shared] == [5.0] * 4
    assert [float(x[0]) for x in own] == [1.0] * 3
    shared[0][1] = 7
    assert a[1] == 7


def test_buffers_are_shared(torch: Any) -> None:
    data = bytearray(b"abcd")
    x = torch.frombuffer(data, dtype=torch.uint8)
    x[0] = ord("z")
    assert data == b"zbcd"
    numbers = array.array("f", [1.0, 2.0])
    y = torch.asarray(numbers)
    y[1] = 5
    assert numbers[1] == 5.0


def test_tensors_of_tensors_share_memory_and_counter(torch: Any) -> None:
    x = torch.zeros(2)
    y = torch.Tensor(x)
    y.add_(1)
    assert x.tolist() == [1.0, 1.0] and x._version == 1
    assert y._is_view() and y is not x


def test_sizes_and_sequences_without_numbers(torch: Any) -> None:
    """A size without axes is that of a number, a sequence without numbers an axis without length."""
    of_size = [torch.Tensor(torch.Size([])), torch.ones(2).new(torch.Size([]))]
    of_sequence = [torch.Tensor(()), torch.Tensor([]), torch.Tensor(), torch.ones(2).new()]
    assert [x.shape for x in of_size] == [()] * 2
    assert [x.shape for x in of_sequence] == [(0,)] * 4


def test_copies_warn(torch: Any) -> None:
    """PyTorch's UserWarnings, which come every time here and once there."""
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        torch.tensor(torch.ones(2))
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        torch.ones(2).new_tensor(torch.ones(2))


def test_memory_that_cannot_be_written_warns_and_raises_when_it_is() -> None:
    with pytest.warns(UserWarning, match="NumPy array is not writable"):
        x = compat.from_numpy(np.broadcast_to(np.arange(3.0), (2, 3)))
    with pytest.raises((RuntimeError, ValueError)):
        x.add_(1)
    with pytest.warns(UserWarning, match="buffer is not writable"):
        compat.frombuffer(b"ab", dtype=compat.uint8)


WRITES: list[Any] = [
    lambda x: x.sub_(1.0),
    lambda x: x[1:].mul_(2),
    lambda x: x.__setitem__(0, 1.0),
    lambda x: x.data.zero_(),
    lambda x: x.index_fill_(0, compat.tensor([0]), 1.0),
    lambda x: compat.add(x, 1, out=x),
    lambda x: x.normal_(),
    lambda x: _a_step(compat.nn.Parameter(x)),
]


def _a_step(p: Any) -> None:
    p.grad = compat.ones_like(p)
    compat.optim.Adam([p]).step()


@pytest.mark.parametrize("place", range(len(WRITES)))
@pytest.mark.parametrize("window", [slice(None), slice(None, None, 2), slice(2, 3)])
def test_writes_say_that_the_memory_is_read_only(place: int, window: slice) -> None:
    """And not that elements are there several times, which is said of windows that overlap."""
    array = np.arange(6.0, dtype=np.float32)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = compat.from_numpy(array[window])
    if window == slice(2, 3) and place == 1:
        return  # nothing is written
    with pytest.raises(RuntimeError, match=r"read-only NumPy array \(shape .*array\.copy\(\)"):
        WRITES[place](x)
    assert array.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="more than one element"):
        compat.arange(4.0).unfold(0, 2, 1).add_(1)


@pytest.mark.parametrize("part", [lambda w: w[0], lambda w: w[:, :1], lambda w: w.diagonal()])
def test_writes_say_that_windows_overlap(part: Any) -> None:
    with pytest.raises(RuntimeError, match="part of windows that overlap"):
        part(compat.arange(6.0).unfold(0, 2, 1)).mul_(2)


def test_deprecated_functions_warn() -> None:
    with pytest.warns(UserWarning, match=re.escape("torch.range is deprecated")):
        assert compat.range(1, 3).tolist() == [1.0, 2.0, 3.0]
    try:
        with pytest.warns(UserWarning, match="is deprecated as of PyTorch 2.1"):
            compat.set_default_tensor_type("torch.DoubleTensor")
        assert compat.tensor(1.0).dtype is compat.float64
    finally:
        compat.set_default_dtype(compat.float32)


def test_the_default_dtype(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        made = [torch.tensor(1.0), torch.zeros(1), torch.Tensor([1]), torch.linspace(0, 1, 2)]
        made += [torch.arange(1.0), torch.full((1,), 1.0), torch.scalar_tensor(1), torch.eye(1)]
        assert all(x.dtype is torch.float64 for x in made)
        assert torch.tensor(1j).dtype is torch.complex128
        assert torch.tensor(1).dtype is torch.int64
        assert torch.tensor([], dtype=torch.float32).dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_tensors_remember_where_they_were_made() -> None:
    x = compat.zeros(2, requires_grad=True)  # this line
    with pytest.raises(RuntimeError, match=r"made at test_create\.py:\d+: .*# this line"):
        x.add_(1)


def test_arrays_of_other_libraries() -> None:
    class Foreign:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array([1.5, 2.5])

    assert repr(compat.tensor(Foreign())) == "tensor([1.5000, 2.5000], dtype=torch.float64)"
    assert compat.as_tensor(Foreign(), dtype=compat.float32).dtype is compat.float32


def test_foreign_strides_are_kept() -> None:
    """PyTorch refuses negative strides."""
    a = np.arange(6.0).reshape(2, 3)
    x = compat.from_numpy(a[::-1, ::2])
    x.mul_(2)
    assert a.tolist() == [[0.0, 1.0, 4.0], [6.0, 4.0, 10.0]]


# ---------------------------------------------------------------- classes


class Tagged(compat.Tensor):
    """A subclass with a constructor of its own."""

    tag: str

    def __new__(cls, data: Any, tag: str) -> Any:
        out = super().__new__(cls, data)
        out.tag = tag
        return out

    def __init__(self, data: Any, tag: str) -> None:
        pass


def test_subclasses_of_tensors() -> None:
    x = Tagged([1.0, 2.0], "left")
    assert isinstance(x, compat.Tensor) and x.tag == "left"
    x.requires_grad_()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert repr(x) == "Tagged([1., 2.], requires_grad=True)"
    assert copy.copy(x).tag == "left"


def test_a_protocol_that_is_not_called_is_named() -> None:
    with pytest.warns(UserWarning, match="Logged.__torch_function__ is not called here"):

        class Logged(compat.Tensor):
            @classmethod
            def __torch_function__(
                cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                raise AssertionError

    assert type(compat.ones(2).as_subclass(Logged) + 1) is compat.Tensor


def test_as_subclass_is_recorded(torch: Any) -> None:
    class Named(torch.Tensor):
        pass

    x = torch.ones(2, requires_grad=True)
    y = x.as_subclass(Named)
    (y * 2).sum().backward()
    assert type(y) is Named and x.grad.tolist() == [2.0, 2.0]


# ---------------------------------------------------------------- against PyTorch, at random

numbers = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.booleans(),
    st.floats(width=32, allow_nan=False),
    st.complex_numbers(max_magnitude=1e6, allow_nan=False),
)


@st.composite
def nested(draw: Any) -> Any:
    """Numbers in lists and tuples, all rows of one length."""
    shape = draw(st.lists(st.integers(0, 3), max_size=3))

    def rows(depth: int) -> Any:
        if depth == len(shape):
            return draw(numbers)
        made = [rows(depth + 1) for _ in range(shape[depth])]
        return tuple(made) if draw(st.booleans()) else made

    return rows(0)


@given(nested())
def test_nested_data_as_in_pytorch(data: Any) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = compat.tensor(data), torch.tensor(data)
    assert repr(ours.dtype) == repr(theirs.dtype) and ours.shape == theirs.shape
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@given(nested(), st.sampled_from(["float32", "int8", "int64", "uint8", "bool", "complex128"]))
def test_nested_data_in_a_dtype_as_in_pytorch(data: Any, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    try:
        theirs = torch.tensor(data, dtype=getattr(torch, dtype))
    except (RuntimeError, TypeError) as error:
        with pytest.raises(type(error)):
            compat.tensor(data, dtype=getattr(compat, dtype))
        return
    ours = compat.tensor(data, dtype=getattr(compat, dtype))
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


limits = st.floats(-1000, 1000).map(lambda x: round(x, 3))


@given(
    limits, limits, st.floats(0.1, 50), st.sampled_from(["float32", "float64", "int32", "int64"])
)
def test_ranges_as_in_pytorch(start: float, end: float, step: float, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    step = step if end >= start else -step
    if dtype == "int64" and (not int(step) or (int(end) - int(start)) * int(step) < 0):
        return
    theirs = torch.arange(start, end, step, dtype=getattr(torch, dtype))
    ours = compat.arange(start, end, step, dtype=getattr(compat, dtype))
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=3e-7, atol=1e-4)


@given(
    limits, limits, st.integers(0, 40), st.sampled_from(["float32", "float64", "int32", "int64"])
)
def test_numbers_between_as_in_pytorch(start: float, end: float, steps: int, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.linspace(start, end, steps, dtype=getattr(torch, dtype))
    ours = compat.linspace(start, end, steps, dtype=getattr(compat, dtype))
    assert ours.shape == theirs.shape
    # What is an integer but for rounding is cut off by PyTorch as its processor rounds it.
    exact = np.linspace(int(start), int(end), steps)
    same = ~((abs(exact - exact.round()) < 1e-3) & dtype.startswith("int"))
    np.testing.assert_allclose(ours.numpy()[same], theirs.numpy()[same], rtol=3e-7, atol=1e-4)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1 + 1e-4)
    theirs = torch.logspace(start / 300, end / 300, steps, dtype=torch.float64)
    ours = compat.logspace(start / 300, end / 300, steps, dtype=compat.float64)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_ends_that_are_mapped(name: str, dtype: str, steps: int) -> None:
    """Each example's numbers are those that its ends give by themselves."""
    made = getattr(compat, dtype)
    first, last = compat.tensor([0.0, 1.2, -2.5]), compat.tensor([3, 4, -1])
    if dtype == "complex128":
        first = first * (1 + 2j)

    def f(a: Any, b: Any) -> Any:
        return getattr(compat, name)(a, b, steps, dtype=made)

    expected = compat.stack([f(a, b) for a, b in zip(first, last, strict=True)])
    found = compat.func.vmap(f)(first, last)
    assert found.dtype is made and found.shape == (3, steps)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    one = compat.func.vmap(f, in_dims=(None, 0))(2, last)
    np.testing.assert_allclose(one[1].numpy(), f(2, 4).numpy(), rtol=1e-6)


def test_ends_get_no_gradient_as_in_pytorch() -> None:
    a = compat.tensor(1.0, requires_grad=True)
    for f in (compat.linspace, compat.logspace):
        assert not f(a, 2.0, 3).requires_grad
        rows = compat.func.vmap(lambda b, f=f: f(a, b, 3))(compat.tensor([2.0, 3.0]))
        assert not rows.requires_grad
        slope = compat.func.vmap(compat.func.grad(lambda b, f=f: f(b, 3.0, 3).sum()))
        assert not slope(compat.tensor([2.0, 3.0])).any()


# ---------------------------------------------------------------- devices


class _Device:
    def __init__(self, index: int) -> None:
        self.id = index

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


@pytest.fixture
def gpu(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The stand-in for CuPy, with one GPU."""
    runtime = SimpleNamespace(getDeviceCount=lambda: 1, getDevice=lambda: 0)
    cuda = SimpleNamespace(runtime=runtime, Device=_Device)
    monkeypatch.setitem(vars(cupy), "cuda", cuda)
    yield cupy


ON_GPU = [
    "torch.tensor([1.0, 2.0], device=D)",
    "torch.zeros(2, device=D)",
    "torch.ones(2, dtype=torch.int64, device=D)",
    "torch.full((2,), 3.0, device=D)",
    "torch.eye(2, device=D)",
    "torch.arange(3, device=D)",
    "torch.linspace(0, 1, 3, device=D)",
    "torch.logspace(0, 1, 3, device=D)",
    "torch.scalar_tensor(1, device=D)",
    "torch.empty_strided((2, 3), (1, 2), device=D)",
    "torch.zeros_like(z, device=D)",
    "torch.zeros(2, device=D).new_ones(3)",
    "torch.ones_like(torch.zeros(2, device=D))",
    "torch.as_tensor([1.0], device=D)",
    "torch.as_tensor(np.ones(2), device=D)",
    "z.to(D)",
    "z.cuda()",
    "z.to(torch.zeros(1, device=D))",
    "z.to(D, torch.float64)",
    "torch.rand(2, device=D)",
    "torch.randint(3, (2,), device=D)",
    "torch.rand_like(torch.zeros(2, device=D))",
    "torch.zeros(2, device=D).uniform_()",
    "torch.normal(torch.zeros(2, device=D), 1.0)",
    "torch.bernoulli(torch.zeros(2, device=D))",
    "torch.multinomial(torch.ones(2, device=D), 1)",
]


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
@pytest.mark.parametrize("expression", ON_GPU)
def test_on_the_gpu(gpu: ModuleType, expression: str, device: str) -> None:
    x = outcomes.evaluated(compat, expression, D=device)
    assert isinstance(x._array, gpu.ndarray)
    assert x.is_cuda and x.get_device() == 0 and repr(x.device) == "device(type='cuda', index=0)"
    assert "device='cuda:0'" in repr(x)
    host = x.cpu()
    assert type(host._array) is np.ndarray and host.shape == x.shape and host.dtype is x.dtype
    assert repr(host) in outcomes.shown(x).replace(", device='cuda:0'", "")


def test_the_default_device(gpu: ModuleType) -> None:
    with compat.device("cuda"):
        assert compat.zeros(2).is_cuda
        assert not compat.zeros(2, device="cpu").is_cuda
    assert not compat.zeros(2).is_cuda
    compat.set_default_device("cuda")
    try:
        assert compat.tensor([1.0]).is_cuda and str(compat.get_default_device()) == "cuda"
    finally:
        compat.set_default_device(None)
    assert compat.tensor([1.0]).is_cpu


def test_a_gpu_that_is_there(gpu: ModuleType) -> None:
    assert compat.cuda.is_available() and compat.cuda.device_count() == 1
    assert compat.device(0) == compat.device("cuda:0") and compat.cuda.current_device() == 0
    x = compat.zeros(2, device="cuda")
    assert x.type() == "torch.cuda.FloatTensor" and x.cuda() is x
    with pytest.raises(RuntimeError, match="not recorded"):
        compat.ones(2, requires_grad=True).cuda()


def test_classes_of_tensors_on_a_gpu(gpu: ModuleType) -> None:
    on_gpu, on_cpu = compat.cuda.LongTensor, compat.LongTensor
    x = compat.ones(2).type(on_gpu)
    assert x.is_cuda and isinstance(x, on_gpu) and not isinstance(x, on_cpu)
    assert on_gpu([1, 2]).is_cuda and x.type("torch.cuda.FloatTensor").is_cuda
    assert x.type(on_cpu).is_cpu and not isinstance(x.type(on_cpu), on_gpu)
    with pytest.warns(UserWarning), pytest.raises(TypeError, match="set_default_device"):
        compat.set_default_tensor_type(on_gpu)


def test_no_gpu_without_cupy() -> None:
    code = (
        "import sys; sys.modules['cupy'] = None; import compat as t; print(t.cuda.is_available())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
    assert not compat.cuda.is_initialized() or compat.cuda.is_available()
    compat.cuda.manual_seed(0)
    compat.cuda.empty_cache()
