"""Copies, deep copies and pickles of tensors, of what shares memory, and of what describes tensors."""

from __future__ import annotations

import copy
import io
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from outcomes import both, module

import compat

NAMES = ["float32", "float64", "float16", "complex64", "complex128"]
NAMES += ["int64", "int32", "int16", "int8", "uint8", "bool"]
if hasattr(compat, "bfloat16"):
    NAMES.append("bfloat16")


@both()
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return module(request.param)


def pickled(x: Any) -> Any:
    return pickle.loads(pickle.dumps(x))


duplicates = pytest.mark.parametrize("duplicate", [pickled, copy.deepcopy])
every_copy = pytest.mark.parametrize("duplicate", [pickled, copy.deepcopy, copy.copy])


class Tagged(compat.Tensor):
    """A subclass that pickles find."""


# ---------------------------------------------------------------- leaves


@every_copy
@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_dtype(torch: Any, name: str, duplicate: Callable[[Any], Any]) -> None:
    x = torch.tensor([[0, 1, 2], [3, 0, 5]]).to(getattr(torch, name))
    for original in (x, x[1], x[1, 2], x[:0], x.t(), x[:, ::2]):
        y = duplicate(original)
        assert y is not original and type(y) is torch.Tensor and y.dtype is original.dtype
        assert y.shape == original.shape and torch.equal(y, original)
        assert y.is_leaf and not y.requires_grad and y.grad is None
        shares = original.numel() and duplicate is copy.copy
        assert (y.data_ptr() == original.data_ptr()) == bool(shares or not original.numel())


@given(
    arrays.arrays(
        st.sampled_from([np.dtype(n) for n in ("f4", "f8", "c16", "i8", "?")]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    ),
    st.integers(0, pickle.HIGHEST_PROTOCOL),
)
def test_every_protocol(a: np.ndarray, protocol: int) -> None:
    x = compat.from_numpy(a)
    y = pickle.loads(pickle.dumps(x, protocol))
    assert y.dtype is x.dtype
    np.testing.assert_array_equal(y.numpy(), a)
    y.fill_(1)  # memory of its own, which can be written


@duplicates
def test_a_leaf_that_requires_grad(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    x.tag = ["left"]
    y = duplicate(x)
    assert y.requires_grad and y.is_leaf and y.grad_fn is None and y.tag == ["left"]
    assert y.tag is not x.tag
    if duplicate is copy.deepcopy:
        assert y.grad.tolist() == [2.0, 4.0] and y.grad is not x.grad
        y.grad = None
    assert y.grad is None  # pickles do not have it, as in PyTorch
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0] and x.grad.tolist() == [2.0, 4.0]
    with torch.no_grad():
        y.add_(1)
    assert x.tolist() == [1.0, 2.0]


def test_a_shallow_copy_shares_memory_and_attributes(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.tag = ["left"]
    (x * 1).sum().backward()
    y = copy.copy(x)
    assert y is not x and y.requires_grad and y.is_leaf and y.tag is x.tag and y.grad is None
    with torch.no_grad():
        y.add_(1)
    assert x.tolist() == [2.0, 3.0]


def test_writing_into_a_shallow_copy_counts() -> None:
    x = compat.ones(2)
    y = copy.copy(x)
    y.add_(1)
    assert x._version == y._version == 1


def test_the_gradient_is_one_object_in_a_deep_copy(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    y, g = copy.deepcopy((x, x.grad))
    assert y.grad is g and g is not x.grad


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_gradient_with_a_graph_is_not_copied(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x)
    assert pickled(x).tolist() == [1.0, 1.0]


# ---------------------------------------------------------------- results of operations


def test_a_deep_copy_of_a_result_raises(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 2
    words = (
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"
    )
    for x in (y, [y], {"y": (y, 3)}):
        with pytest.raises(RuntimeError, match=re.escape(words)):
            copy.deepcopy(x)
    assert copy.deepcopy(y.detach()).tolist() == [2.0, 2.0]


def test_the_refusal_says_what_to_do() -> None:
    y = compat.ones(2, requires_grad=True).exp()
    with pytest.raises(RuntimeError, match=r"Copy x\.detach\(\) instead"):
        copy.deepcopy(y)


@pytest.mark.parametrize("duplicate", [pickled, copy.copy])
def test_other_copies_of_results_are_leaves(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    x = torch.ones(2, requires_grad=True)
    y = duplicate(x * 2)
    assert y.requires_grad and y.is_leaf and y.grad_fn is None and y.tolist() == [2.0, 2.0]
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0] and x.grad is None


@duplicates
def test_what_is_detached_from_a_graph(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    x = torch.ones(2, requires_grad=True)
    y = duplicate((x * 2).detach())
    assert y.is_leaf and not y.requires_grad and y.tolist() == [2.0, 2.0]


@duplicates
@pytest.mark.filterwarnings("ignore:backward hook .* on tensor will not be serialized")
def test_hooks_stay_behind(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 10)
    y = duplicate(x)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


@duplicates
def test_leaves_of_a_deep_graph(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1
    copied = duplicate(x)
    assert copied.requires_grad
    if duplicate is pickled:
        assert duplicate(y).item() == 20_001


# ---------------------------------------------------------------- shared memory


@duplicates
def test_one_tensor_twice_is_one_copy(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    x = torch.ones(2, requires_grad=True)
    a, b = duplicate([x, x])
    assert a is b
    memo: dict[int, Any] = {}
    assert copy.deepcopy(x, memo) is copy.deepcopy(x, memo)


def test_views_share_memory_in_a_deep_copy(torch: Any) -> None:
    x = torch.arange(6.0)
    a, b, c = copy.deepcopy([x, x[2:], x.reshape(2, 3).t()])
    b[0] = 9
    assert a.tolist() == [0.0, 1.0, 9.0, 3.0, 4.0, 5.0] and c[2, 0] == 9 and c.stride() == (1, 3)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    a, b = copy.deepcopy([x[:4], x[2:]])  # without the base
    a[2] = 7
    assert b.tolist() == [7.0, 3.0, 4.0, 5.0]
    x = torch.ones(2, requires_grad=True)
    leaf, data = copy.deepcopy([x, x.data])
    data[0] = 5
    assert leaf.tolist() == [5.0, 1.0] and leaf.requires_grad


def test_copies_that_share_memory_share_their_counter() -> None:
    x = compat.arange(6.0)
    a, b = copy.deepcopy([x, x[2:]])
    b.add_(1)
    assert a._version == b._version == 1


def test_a_graph_over_copies_watches_their_memory() -> None:
    x = compat.ones(3)
    a, b = copy.deepcopy([x, x[:1]])
    w = compat.ones(3, requires_grad=True)
    y = (a * w).sum()
    b.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_the_same_memory_in_one_pickle() -> None:
    """PyTorch's pickles copy it."""
    x = compat.ones(2, requires_grad=True)
    leaf, data = pickled([x, x.data])
    data[0] = 5
    assert leaf.tolist() == [5.0, 1.0]


def test_expanded_tensors_keep_their_shape(torch: Any) -> None:
    x = torch.ones(2, 1).expand(2, 3)
    for y in (pickled(x), copy.deepcopy(x)):
        assert y.shape == (2, 3) and torch.equal(x, y)


def test_a_copy_of_an_array_is_its_own(torch: Any) -> None:
    a = np.zeros(3)
    for y in (copy.deepcopy(torch.from_numpy(a)), pickled(torch.from_numpy(a))):
        y[0] = 1
    assert a.tolist() == [0.0] * 3


# ---------------------------------------------------------------- classes


@every_copy
def test_parameters(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    for wanted in (True, False):
        p = torch.nn.Parameter(torch.tensor([1.0, 2.0]), requires_grad=wanted)
        q = duplicate(p)
        assert type(q) is torch.nn.Parameter and q is not p and q.requires_grad == wanted
        assert q.tolist() == [1.0, 2.0] and q.is_leaf and repr(q) == repr(p)
    a, b = duplicate([p, p])
    assert a is b


@every_copy
def test_modules(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    m = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.BatchNorm1d(2))
    m[0].tied = m[0].weight
    x = torch.arange(12.0).reshape(4, 3)
    m(x)
    n = duplicate(m)
    assert repr(n) == repr(m) and n[0].tied is n[0].weight
    assert torch.equal(n.eval()(x), m.eval()(x))
    assert (n[0].weight is m[0].weight) == (duplicate is copy.copy)
    for (k, a), (j, b) in zip(m.state_dict().items(), n.state_dict().items(), strict=True):
        assert k == j and torch.equal(a, b)


@every_copy
def test_subclasses(duplicate: Callable[[Any], Any]) -> None:
    x = compat.tensor([1.0, 2.0]).as_subclass(Tagged)
    x.tag = {"a": 1}
    y = duplicate(x)
    assert type(y) is Tagged and y.tag == {"a": 1} and repr(y) == "Tagged([1., 2.])"
    assert (y.tag is x.tag) == (duplicate is copy.copy)


@duplicates
def test_a_tensor_that_holds_itself(duplicate: Callable[[Any], Any]) -> None:
    x = compat.ones(2)
    x.me = [x]
    y = duplicate(x)
    assert y.me[0] is y and y is not x


@duplicates
def test_inference_tensors(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    y = duplicate(x)
    assert not y.is_inference() and y.requires_grad_().requires_grad


def test_a_stream_of_several(torch: Any) -> None:
    file = io.BytesIO()
    for n in range(3):
        pickle.dump(torch.full((2,), float(n)), file)
    file.seek(0)
    assert [pickle.load(file).tolist() for _ in range(3)] == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


# ---------------------------------------------------------------- small values


@every_copy
def test_constants_stay_themselves(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    for name in NAMES:
        assert duplicate(getattr(torch, name)) is getattr(torch, name)
    for x in (torch.strided, torch.contiguous_format, torch.preserve_format, torch.channels_last):
        assert duplicate(x) is x
    assert duplicate(torch.Tensor) is torch.Tensor and duplicate(torch.add) is torch.add


@every_copy
def test_values(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    for x in (
        torch.device("cpu"),
        torch.device("cuda", 1),
        torch.Size([2, 3]),
        torch.Size([]),
    ):
        y = duplicate(x)
        assert type(y) is type(x) and y == x and repr(y) == repr(x)


@every_copy
def test_results_with_names(torch: Any, duplicate: Callable[[Any], Any]) -> None:
    found = torch.tensor([[1.0, 3.0], [4.0, 2.0]]).max(1)
    again = duplicate(found)
    assert type(again) is type(found) and again.indices.tolist() == [1, 0]


@every_copy
def test_limits(duplicate: Callable[[Any], Any]) -> None:
    for x in (compat.finfo(compat.float32), compat.iinfo(compat.int8)):
        assert duplicate(x) == x and repr(duplicate(x)) == repr(x)


# ---------------------------------------------------------------- what cannot be copied


def test_tensors_inside_transforms() -> None:
    def pickles(x: Any) -> Any:
        with pytest.raises(TypeError, match="inside a transform cannot be pickled"):
            pickle.dumps(x)
        return x.sum()

    compat.func.vmap(pickles)(compat.ones(2, 3))
    compat.func.grad(pickles)(compat.ones(3))


def test_nodes_do_not_pickle(torch: Any) -> None:
    with pytest.raises((TypeError, pickle.PicklingError)):
        pickle.dumps((torch.ones(2, requires_grad=True) * 2).grad_fn)
