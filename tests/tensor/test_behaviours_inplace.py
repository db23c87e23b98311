"""Section 4 of the table of behaviours: in-place operations, views, versions.

One test per row; its docstring has the row: what is tried, then what is expected. Each runs on
`compat` and, where it is installed, on PyTorch. The differences (two rows of this section: writing
to one place twice, and writing through `.data`) are in `test_behaviours.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat

ON_LEAF = "^a leaf Variable that requires grad is being used in an in-place operation"
ON_VIEW = "^a view of a leaf Variable that requires grad is being used in an in-place operation"
ON_ITEM = "leaf Variable that requires grad is being used in an in-place operation"
MODIFIED = "modified by an inplace operation"
SECOND = "Trying to backward through the graph a second time"


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


# ---------------------------------------------------------------- leaves


def add_in_place(a: Any) -> None:
    a.add_(1)


def augmented(a: Any) -> None:
    a += 5


def item(a: Any) -> None:
    a[0] = 7


def through_view(a: Any) -> None:
    a.view(1, 2).add_(1)


@pytest.mark.parametrize(
    ("write", "message"),
    [(add_in_place, ON_LEAF), (augmented, ON_LEAF), (item, ON_ITEM), (through_view, ON_VIEW)],
)
def test_writing_into_a_leaf(torch: Any, write: Callable[[Any], None], message: str) -> None:
    """a.add_(1), a += 5, x[0]=1, a.view(1,2).add_(1) on a leaf requiring grad raise."""
    a = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match=message):
        write(a)
    assert a.tolist() == [1.0, 2.0]
    assert a._version == 0
    plain = torch.tensor([1.0, 2.0])
    write(plain)
    assert plain._version == 1
    with torch.no_grad():
        write(a)
    assert a.tolist() == plain.tolist() != [1.0, 2.0]
    assert (a.is_leaf, a.requires_grad, a._version) == (True, True, 1)


# ---------------------------------------------------------------- versions


def test_writing_what_was_saved(torch: Any) -> None:
    """b=a*2; c=b**2; b.add_(1); c.sum().backward() raises "modified by an inplace operation"."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 2
    c = b**2
    b.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED) as caught:
        c.sum().backward()
    text = str(caught.value)
    assert "[torch.FloatTensor [2]]" in text
    assert "is at version 1; expected version 0" in text
    if torch is compat:
        assert "saved by PowBackward0" in text
    assert a.grad is None


def test_versions_that_were_saved_later(torch: Any) -> None:
    """The same at later versions, in float64: "is at version 3; expected version 2"."""
    a = torch.tensor([[1.0], [2.0]], dtype=torch.float64, requires_grad=True)
    b = a * 2
    b.add_(1)
    b.mul_(2)
    c = b * b
    b.sub_(1)
    with pytest.raises(RuntimeError, match=MODIFIED) as caught:
        c.sum().backward()
    assert "[torch.DoubleTensor [2, 1]]" in str(caught.value)
    assert "is at version 3; expected version 2" in str(caught.value)


def test_writing_a_saved_result(torch: Any) -> None:
    """b=a.exp(); b.add_(1); b.sum().backward() raises."""
    b = leaf(torch, [1.0, 2.0]).exp()
    b.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        b.sum().backward()


def test_writing_what_was_not_saved(torch: Any) -> None:
    """b=a*1; d=b+b; b+=1; d.sum().backward() is legal, [2,2]: add saves nothing."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 1
    d = b + b
    b += 1
    d.sum().backward()
    assert a.grad.tolist() == [2.0, 2.0]
    assert b.tolist() == [2.0, 3.0]


def test_second_backward_needs_what_was_saved(torch: Any) -> None:
    """y=a+a twice is legal, 4.0; y=a*a twice raises; (s+1), (s+2) over s=a*a raises."""
    a = leaf(torch, 3.0)
    y = a + a
    y.backward()
    y.backward()
    assert a.grad.item() == 4.0
    y = a * a
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND):
        y.backward()
    s = a * a
    (s + 1).backward()
    with pytest.raises(RuntimeError, match=SECOND):
        (s + 2).backward()
    assert a.grad.item() == 4.0 + 6.0 + 6.0


def test_writing_a_leaf_after_it_was_saved(torch: Any) -> None:
    """with no_grad: a.add_(1) after y=(a*a).sum(): backward raises."""
    a = leaf(torch, [1.0, 2.0])
    y = (a * a).sum()
    with torch.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.backward()
    assert a.grad is None


# ---------------------------------------------------------------- views


def test_writing_through_a_view(torch: Any) -> None:
    """b=a*1; v=b[0]; v.mul_(5); b.sum().backward(): a.grad [5,1]."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 1
    v = b[0]
    assert v.mul_(5) is v
    assert b.tolist() == [5.0, 2.0]
    assert b._version == v._version == 1
    assert type(b.grad_fn).__name__ == "CopySlices"
    b.sum().backward()
    assert a.grad.tolist() == [5.0, 1.0]


def test_writing_under_a_view(torch: Any) -> None:
    """b=a*1; v=b[0:1]; b.mul_(5); (v*1).sum().backward(): a.grad [5,0]; v shows 5."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 1
    v = b[0:1]
    b.mul_(5)
    assert v.tolist() == [5.0]
    (v * 1).sum().backward()
    assert a.grad.tolist() == [5.0, 0.0]


def test_views_of_views(torch: Any) -> None:
    """A view of a view of b, written: b, and the other views of it, have the history."""
    a = leaf(torch, [[1.0, 2.0], [3.0, 4.0]])
    b = a * 1
    row = b[1]
    column = b.t()[1]
    row[1:].mul_(2)
    assert column.tolist() == [2.0, 8.0]
    b.sum().backward(retain_graph=True)
    assert a.grad.tolist() == [[1.0, 1.0], [1.0, 2.0]]
    a.grad = None
    column.sum().backward()
    assert a.grad.tolist() == [[0.0, 1.0], [0.0, 2.0]]


def no_grad_view(torch: Any, base: Any) -> Any:
    with torch.no_grad():
        return base[:1]


def test_writing_through_a_view_made_under_no_grad(torch: Any) -> None:
    """Whatever its base is, if that needs a gradient: raises; inside no_grad it is a constant write."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 1
    for view in (no_grad_view(torch, a), no_grad_view(torch, b), no_grad_view(torch, b)[:1]):
        with pytest.raises(RuntimeError, match="created in no_grad mode"):
            view.mul_(5)
    plain = torch.zeros(2)
    no_grad_view(torch, plain).add_(1)
    assert plain.tolist() == [1.0, 0.0]
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        no_grad_view(torch, plain).mul_(a[0])
    with torch.no_grad():
        b[:1].mul_(5)
    b.sum().backward()
    assert (b.tolist(), a.grad.tolist()) == ([5.0, 2.0], [1.0, 1.0])


def first_of(torch: Any, x: Any) -> Any:
    """A view of `x` from a `Function` whose backward says that the derivative is 10."""

    class First(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[:1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return torch.cat([g * 10, g * 0])

    return First.apply(x)


@pytest.mark.parametrize("make", [no_grad_view, first_of])
@pytest.mark.parametrize("recorded", [True, False])
def test_writing_under_a_view_that_has_no_place_in_the_graph(
    torch: Any, make: Any, recorded: bool
) -> None:
    """b=a*1; v=b[:1] made in no_grad or by a Function; b.mul_(5): using v raises but in no_grad."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 1
    v = make(torch, b)
    with torch.set_grad_enabled(recorded):
        b.mul_(5)
    with torch.no_grad():
        assert (v * 2).tolist() == [10.0]
    assert v.tolist() == [5.0] and "tensor([5.]" in repr(v)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
            (v * 1).sum().backward()
    plain = torch.zeros(2)
    v = make(torch, plain)
    plain.add_(1)
    assert (v * 1).tolist() == [1.0]  # nothing needs a gradient
    plain.mul_(a)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
        v * 1


SHAPES_IN_PLACE = ["t_", "squeeze_", "unsqueeze_", "transpose_", "swapaxes_", "as_strided_"]


@pytest.mark.parametrize("name", SHAPES_IN_PLACE)
def test_another_shape_in_place(torch: Any, name: str) -> None:
    """Refused where a write would be: leaves, views of them, views made in no_grad, split views."""
    given = {"unsqueeze_": (0,), "as_strided_": ((1,), (1,))}
    args = given.get(name, () if name in ("t_", "squeeze_") else (0, 1))
    a = leaf(torch, [[1.0, 2.0]])
    b = a * 1
    refused = {
        "leaf Variable": [a, a[:1]],
        "created in no_grad mode": [no_grad_view(torch, a), no_grad_view(torch, b)],
        "returns multiple views": [b.split(1)[0], b.unbind(1)[0][None]],
    }
    for message, tensors in refused.items():
        for x in tensors:
            with pytest.raises(RuntimeError, match=message):
                getattr(x, name)(*args)
    for x in (b, b[:1], torch.ones(1, 2), no_grad_view(torch, torch.ones(1, 2))):
        version = x._version
        assert getattr(x, name)(*args) is x
        assert x._version == version + 1


def test_resizing_to_the_same_shape_writes_nothing(torch: Any) -> None:
    x = torch.ones(2, 3)
    assert x.resize_(2, 3) is x and x._version == 0


@pytest.mark.parametrize("name", ["split", "chunk", "unbind"])
@pytest.mark.parametrize("recorded", [True, False])
def test_writing_under_several_views_made_in_no_grad(torch: Any, name: str, recorded: bool) -> None:
    b = leaf(torch, [1.0, 2.0]) * 1
    with torch.no_grad():
        v = getattr(b, name)(*(() if name == "unbind" else (1,)))[0]
    with torch.set_grad_enabled(recorded):
        b.mul_(5)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        v * 1


def test_writing_through_a_view_of_what_became_a_leaf(torch: Any) -> None:
    """v=b[:1]; b.requires_grad_(); v.add_(1) raises as for any view of a leaf."""
    b = torch.zeros(3)
    v = b[:1]
    b.requires_grad_()
    with pytest.raises(RuntimeError, match=ON_VIEW):
        v.add_(1)


def test_writing_into_zeros(torch: Any) -> None:
    """z=zeros(3); z[1]=a; z[2]=a*a; z.sum().backward() at a=2: a.grad 5; z is a non-leaf."""
    a = leaf(torch, 2.0)
    z = torch.zeros(3)
    assert z.is_leaf
    z[1] = a
    z[2] = a * a
    assert z.tolist() == [0.0, 2.0, 4.0]
    assert (z.is_leaf, z.requires_grad) == (False, True)
    z.sum().backward()
    assert a.grad.item() == 5.0


def test_reading_a_place_twice(torch: Any) -> None:
    """a[[0,0,1]].sum(): [2,1,0]."""
    a = leaf(torch, [1.0, 2.0, 3.0])
    a[[0, 0, 1]].sum().backward()
    assert a.grad.tolist() == [2.0, 1.0, 0.0]


def test_writing_into_an_expanded_tensor(torch: Any) -> None:
    """In-place on an expanded tensor raises "more than one element of the written-to tensor..."."""
    message = "more than one element of the written-to tensor refers to a single memory location"
    plain = torch.ones(2).expand(3, 2)
    recorded = (leaf(torch, [1.0, 2.0]) * 1).expand(3, 2)
    for x in (plain, recorded):
        with pytest.raises(RuntimeError, match=message):
            x.add_(1)
        assert x._version == 0
    assert plain.tolist() == [[1.0, 1.0]] * 3
    plain.clone().add_(1)


# Ways to put one number into places.
FILLS: dict[str, Any] = {
    "fill_": lambda torch, x, v: x.fill_(v),
    "fill_ of a part": lambda torch, x, v: x[1:].fill_(v),
    "masked_fill_": lambda torch, x, v: x.masked_fill_(x > 2, v),
    "index_fill_": lambda torch, x, v: x.index_fill_(0, torch.tensor([0, 1]), v),
    "all": lambda torch, x, v: x.__setitem__(slice(None), v),
    "a row": lambda torch, x, v: x.__setitem__(1, v),
    "where a mask holds": lambda torch, x, v: x.__setitem__(x > 2, v),
}


@pytest.mark.parametrize("name", FILLS)
def test_a_number_is_read_before_it_is_overwritten(torch: Any, name: str) -> None:
    """x.fill_(x[0]), x[x > 2] = x[1, 0]: as with a clone of the number, which is then overwritten."""
    fill = FILLS[name]
    for place in ((0, 0), (1, 0), (1, 1)):
        found = []
        for copied in (False, True):
            a = leaf(torch, [[1.0, 4.0], [3.0, 2.0]])
            for x in (a.detach().clone(), a * 1):
                number = x[place]
                fill(torch, x, number.clone() if copied else number)
            (g,) = torch.autograd.grad((x**3).sum(), a, create_graph=True)
            (h,) = torch.autograd.grad(g.sum(), a)
            found.append([y.tolist() for y in (x, g, h)])
        assert found[0] == found[1]
    x = torch.ones(2, 2)
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        x.mul_(x[0, 0])  # no number that is put there


def test_version_is_view_and_base(torch: Any) -> None:
    """t._version, t._is_view(), t._base."""
    t = torch.zeros(2, 3)
    assert (t._version, t._is_view(), t._base) == (0, False, None)
    v = t[0]
    w = v[1:]
    assert v._is_view()
    assert w._is_view()
    assert v._base is t
    assert w._base is t
    w.add_(1)
    t.mul_(2)
    assert t._version == v._version == w._version == 2
    assert t.tolist() == [[0.0, 2.0, 2.0], [0.0, 0.0, 0.0]]
    copy = t + 0
    assert (copy._version, copy._is_view()) == (0, False)
    assert (t.detach()._is_view(), t.detach()._version) == (False, 2)


# ---------------------------------------------------------------- parameters


def test_parameters_are_initialised_in_place(torch: Any) -> None:
    """with no_grad: p.copy_(...), nn.init.*_(p): the same object, so an optimizer sees it."""
    layer = torch.nn.Linear(2, 1)
    w, b = layer.weight, layer.bias
    memory = w.detach()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    with torch.no_grad():
        assert w.copy_(torch.tensor([[1.0, 2.0]])) is w
    assert torch.nn.init.constant_(b, 3.0) is b
    assert layer.weight is w
    assert w.requires_grad
    assert memory.tolist() == [[1.0, 2.0]]
    assert b.tolist() == [3.0]
    layer(torch.tensor([[10.0, 20.0]])).sum().backward()
    optimizer.step()
    assert layer.weight.tolist() == [[1.0 - 5.0, 2.0 - 10.0]]
    assert memory.tolist() == [[-4.0, -8.0]]
    assert layer.bias.tolist() == [2.5]


@pytest.mark.parametrize(
    "name", ["zeros_", "ones_", "uniform_", "normal_", "xavier_uniform_", "kaiming_normal_"]
)
def test_initialisers_write_the_same_object(torch: Any, name: str) -> None:
    """nn.init.*_(p) with p requiring grad: no error, the same leaf, one more version or several."""
    p = torch.nn.Parameter(torch.full((3, 4), 7.0))
    before = p._version
    assert getattr(torch.nn.init, name)(p) is p
    assert (p.is_leaf, p.requires_grad) == (True, True)
    assert p._version > before
    values = p.detach().numpy()
    assert not np.any(values == 7.0)
    if name in ("zeros_", "ones_"):
        assert np.all(values == (name == "ones_"))
