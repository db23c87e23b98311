"""Where tensors lie in memory: parts of others that are no views of them, files, orders of axes."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import both, module

import compat


@both()
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return module(request.param)


PARTS: dict[str, Callable[[Any], Any]] = {
    "later rows": lambda x: x[2:],
    "later columns": lambda x: x[:, 1:],
    "one element": lambda x: x[1, 2],
    "turned": lambda x: x.t()[1:],
    "of a part": lambda x: x[1:][1:, 1],
    "another shape": lambda x: x.view(-1)[5:],
}


def saved(m: Any, x: Any) -> Any:
    file = io.BytesIO()
    m.save(x, file)
    file.seek(0)
    return m.load(file)


def assigned(m: Any, x: Any) -> Any:
    out = m.zeros(1, dtype=x.dtype)
    out.data = x
    return out


SAME: dict[str, Callable[[Any, Any], Any]] = {
    "detach": lambda m, x: x.detach(),
    "data": lambda m, x: x.data,
    "detach twice": lambda m, x: x.detach().detach(),
    "parameter": lambda m, x: m.nn.Parameter(x, requires_grad=False),
    "deepcopy": lambda m, x: copy.deepcopy(x),
    "deepcopy of data": lambda m, x: copy.deepcopy(x.data),
    "saved": saved,
    "data of another": assigned,
    "set_": lambda m, x: m.zeros(1, dtype=x.dtype).set_(x),
    "bits": lambda m, x: x.view(m.int64).view(m.float64),
    "view of itself": lambda m, x: x.detach()[...],
}


@pytest.mark.parametrize("same", SAME)
@pytest.mark.parametrize("part", PARTS)
def test_what_shows_a_part_knows_where_it_begins(torch: Any, part: str, same: str) -> None:
    whole = torch.arange(24.0, dtype=torch.float64).view(4, 6)
    x = PARTS[part](whole)
    y = SAME[same](torch, x)
    assert y.storage_offset() == x.storage_offset() > 0
    assert y.as_strided((2, 2), (6, 1)).tolist() == x.as_strided((2, 2), (6, 1)).tolist()
    assert y.as_strided((2, 3), (8, 3), 1).tolist() == [[1.0, 4.0, 7.0], [9.0, 12.0, 15.0]]


@given(start=st.integers(0, 4), step=st.integers(1, 3), offset=st.integers(0, 5))
def test_elements_by_strides_are_those_of_the_whole_memory(
    start: int, step: int, offset: int
) -> None:
    x = compat.arange(12.0)
    expected = np.arange(12.0)[offset::step][:2]
    for y in (x[start:].detach(), x[start::2].data, x[start:].detach()[1:]):
        np.testing.assert_array_equal(y.as_strided((2,), (step,), offset).numpy(), expected)


def test_writes_outside_of_what_was_detached_reach_the_memory_and_are_counted(torch: Any) -> None:
    x = torch.arange(4.0)
    y = x[2:].detach()
    y.as_strided((2,), (1,), 0).fill_(7.0)
    assert x.tolist() == [7.0, 7.0, 2.0, 3.0]
    assert x._version == y._version == 1


def test_an_array_from_outside_begins_at_its_own_first_element(torch: Any) -> None:
    x = torch.from_numpy(np.arange(4.0)[2:])
    assert (x.storage_offset(), x.data.storage_offset(), x[1:].data.storage_offset()) == (0, 0, 1)


def test_the_gradient_of_elements_of_a_detached_part_comes_by_the_memory(torch: Any) -> None:
    x = torch.arange(6.0)[2:].detach().requires_grad_()
    x.as_strided((2,), (2,), 3).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_elements_in_front_of_a_leaf_have_no_gradient_and_are_refused() -> None:
    x = compat.arange(6.0)[2:].detach().requires_grad_()
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.as_strided((2,), (1,), 1)
    y = compat.arange(6.0)[2:].detach()
    with pytest.raises(RuntimeError, match="not the tensor's own"):
        y.as_strided_((2,), (1,), 1)


def test_shapes_in_place_keep_where_a_part_begins(torch: Any) -> None:
    x = torch.arange(12.0).view(3, 4)[1:].detach()
    x.t_()
    assert (x.storage_offset(), x.as_strided((2,), (1,)).tolist()) == (4, [4.0, 5.0])
    leaf = torch.arange(12.0)[4:].detach()
    leaf.as_strided_((2,), (1,), 5)
    assert (leaf.storage_offset(), leaf.tolist()) == (5, [5.0, 6.0])


def test_is_set_to_compares_memory_and_shape(torch: Any) -> None:
    x = torch.zeros(2, 3)
    for y, expected in (
        (x.view(2, 3), True),
        (x.detach(), True),
        (x.view(3, 2), False),
        (x[1:], False),
        (x.t().t(), True),
        (x.clone(), False),
    ):
        assert x.is_set_to(y) is expected
    assert not torch.zeros(0).is_set_to(torch.zeros(0))


@pytest.mark.parametrize("axes", [(0, 1, 2, 3), (3, 1, 0, 2), (0, 2, 3, 1), (1, 0, 2, 3)])
@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 1), (1, 1, 1, 1)])
def test_the_order_of_axes_in_memory(sizes: Any, axes: Any) -> None:
    peer = pytest.importorskip("torch")
    orders = [
        m.zeros(sizes).permute(axes).dim_order(ambiguity_check=check)
        if not fails(m.zeros(sizes).permute(axes), check)
        else None
        for check in (False, True)
        for m in (compat, peer)
    ]
    assert orders[::2] == orders[1::2]


def fails(x: Any, check: Any) -> bool:
    try:
        x.dim_order(ambiguity_check=check)
    except RuntimeError:
        return True
    return False


def test_an_order_is_one_of_the_formats_that_are_named(torch: Any) -> None:
    formats = [torch.contiguous_format, torch.channels_last]
    assert torch.zeros(2, 3, 4, 5).dim_order(ambiguity_check=formats) == (0, 1, 2, 3)
    with pytest.raises(RuntimeError, match="does not have unique dim order"):
        torch.zeros(2, 1, 4, 5).dim_order(ambiguity_check=formats)
    for wrong in ("x", ["x"], (torch.contiguous_format,)):
        with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
            torch.zeros(2).dim_order(ambiguity_check=wrong)


def test_tensors_of_files(torch: Any, tmp_path: Path) -> None:
    name = str(tmp_path / "numbers")
    np.arange(4, dtype=np.float32).tofile(name)
    x = torch.from_file(name, size=3)
    x.fill_(9.0)
    assert torch.from_file(name, size=2, dtype=torch.int16).dtype is torch.int16
    assert np.fromfile(name, np.float32).tolist() == [0.0, 1.0, 2.0, 3.0]
    torch.from_file(name, shared=True, size=5).add_(1.0)
    assert np.fromfile(name, np.float32).tolist() == [1.0, 2.0, 3.0, 4.0, 1.0]
    with pytest.raises(RuntimeError, match="smaller than the required mapping size <40>"):
        torch.from_file(name, size=10)
    with pytest.raises(RuntimeError, match="unable to open file"):
        torch.from_file(name + "x", size=1)
    assert torch.from_file(name + "x", shared=True, size=2).tolist() == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_copies_of_storages_are_of_their_own_memory(torch: Any) -> None:
    x = torch.arange(3.0)
    for storage in (x.untyped_storage(), x.storage()):
        found = storage.clone()
        assert type(found) is type(storage)
        assert list(found.tolist()) == list(storage.tolist())
        assert found.data_ptr() != storage.data_ptr()


@pytest.mark.parametrize(
    "sizes, name", [((1, 2, 3, 4), "channels_last"), ((3, 4), "contiguous_format")]
)
@pytest.mark.parametrize("start", [(24,), (4, 6), (0,), (1, 2, 3, 4), (1, 2, 4, 3)])
def test_resizing_into_an_order_of_memory(start: Any, sizes: Any, name: str) -> None:
    peer = pytest.importorskip("torch")
    found = []
    for m in (compat, peer):
        order = getattr(m, name)
        x = m.arange(np.prod(start)).view(start)
        x.resize_(sizes, memory_format=order)
        found.append((x.stride(), x.tolist() if 0 not in start else x.shape))
        y = m.arange(np.prod(start)).view(start)
        y.resize_as_(
            m.zeros(sizes).contiguous(memory_format=order), memory_format=m.preserve_format
        )
        found[-1] += (y.stride(), y.shape)
    assert found[0] == found[1]
