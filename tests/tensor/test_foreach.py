"""``torch._foreach_*`` is the method of each tensor, with the number that is meant for it."""

from __future__ import annotations

import pytest

import compat as torch


def tensors() -> list[torch.Tensor]:
    return [torch.tensor([3.0, 4.0]), torch.tensor([1.0, 2.0])]


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
@pytest.mark.parametrize("end", ["", "_"])
def test_a_vector_has_a_number_for_each_tensor(name: str, end: str) -> None:
    """It was multiplied with the elements of each."""
    function = getattr(torch, f"_foreach_{name}{end}")
    numbers = [2.0, 3.0]
    expected = [
        getattr(x, name)(x, x + 1, value=v).tolist()
        for x, v in zip(tensors(), numbers, strict=True)
    ]
    for given in (numbers, torch.tensor(numbers)):
        for as_keyword in (False, True):
            xs, ys, zs = tensors(), tensors(), [x + 1 for x in tensors()]
            found = (
                function(xs, ys, zs, scalars=given) if as_keyword else function(xs, ys, zs, given)
            )
            assert [x.tolist() for x in found] == expected


@pytest.mark.parametrize("wrong", [2.0, [2.0], [1.0, 2.0, 3.0], [[1.0], [2.0]]])
def test_vectors_of_other_lengths_are_refused(wrong: object) -> None:
    with pytest.raises(RuntimeError, match=r"dimension 1|same number"):
        torch._foreach_addcmul(tensors(), tensors(), tensors(), torch.tensor(wrong))


def test_clone_mm_and_powsum() -> None:
    xs = tensors()
    copies = torch._foreach_clone(xs)
    copies[0].zero_()
    assert xs[0].tolist() == [3.0, 4.0]
    assert [x.item() for x in torch._foreach_powsum(xs, 3)] == [91.0, 9.0]
    assert torch._foreach_powsum(xs, dtype=torch.float64)[0].dtype is torch.float64
    (product,) = torch._foreach_mm([torch.ones(2, 3)], [torch.ones(3, 1)])
    assert product.tolist() == [[3.0], [3.0]]
