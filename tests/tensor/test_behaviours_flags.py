"""Section 1 of the table of behaviours: flags, leaves, `grad_fn`, and what a first session prints.

One test per row; its docstring has the row: what is tried, then what is expected. Each runs on
`compat` and, where it is installed, on PyTorch. The differences are in `test_behaviours.py`.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import compat

AT = r"0x[0-9a-f]+"


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


def state(x: Any) -> tuple[Any, ...]:
    """The flags, without the warning that reading `.grad` of a non-leaf gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = x.grad
    name = None if x.grad_fn is None else x.grad_fn.name()
    return x.requires_grad, x.is_leaf, name, grad, x.retains_grad


def same_memory(a: Any, b: Any) -> bool:
    return np.shares_memory(a.detach().numpy(), b.detach().numpy())


# ---------------------------------------------------------------- the first session


def test_nothing_is_recorded_without_requires_grad(torch: Any) -> None:
    """x=tensor(5.), y=x**3, z=log(y): leaves without grad or grad_fn; 5, 125, 4.8283."""
    x = torch.tensor(5.0)
    y = x**3
    z = torch.log(y)
    for tensor in (x, y, z):
        assert state(tensor) == (False, True, None, None, False)
        assert tensor.grad is None  # no warning: warnings are errors here
    assert (x.item(), y.item()) == (5.0, 125.0)
    assert z.item() == pytest.approx(4.8283, abs=5e-5)
    assert str(z) == "tensor(4.8283)"


def test_operations_on_a_leaf_are_recorded(torch: Any) -> None:
    """The same with x=t(5.): x is a leaf; y, z are not and have PowBackward0, LogBackward0."""
    x = leaf(torch, 5.0)
    y = x**3
    z = torch.log(y)
    assert state(x) == (True, True, None, None, False)
    assert state(y) == (True, False, "PowBackward0", None, False)
    assert state(z) == (True, False, "LogBackward0", None, False)
    assert re.fullmatch(rf"<PowBackward0 object at {AT}>", repr(y.grad_fn))
    assert re.fullmatch(rf"<LogBackward0 object at {AT}>", repr(z.grad_fn))
    assert (y.item(), y.dtype, z.dtype) == (125.0, torch.float32, torch.float32)


def test_print_and_format(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """print(x), print(y), f"{y}": with requires_grad, with grad_fn, the number alone."""
    x = leaf(torch, 5.0)
    y = x**3
    print(x)
    print(y)
    assert capsys.readouterr().out == (
        "tensor(5., requires_grad=True)\ntensor(125., grad_fn=<PowBackward0>)\n"
    )
    assert f"{y}" == "125.0"
    assert f"{y:.1f}" == "125.0"


def test_gradient_of_a_leaf(torch: Any) -> None:
    """z.backward(): x.grad 0.6 in float32; y.grad and z.grad are None."""
    x = leaf(torch, 5.0)
    y = x**3
    z = torch.log(y)
    assert z.backward() is None
    assert x.grad.item() == 0.6000000238418579
    assert x.grad.dtype == torch.float32
    assert str(x.grad) == "tensor(0.6000)"
    for tensor in (y, z):
        with pytest.warns(UserWarning, match="not a leaf Tensor"):
            assert tensor.grad is None


def test_reading_the_gradient_of_a_non_leaf_warns_once_per_place(torch: Any) -> None:
    """.grad of a non-leaf that retains none: `UserWarning`, "not a leaf Tensor", once per place."""
    y = leaf(torch, 5.0) * 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            y.grad  # noqa: B018
        y.grad  # noqa: B018
    assert [w.category for w in caught] == [UserWarning, UserWarning]
    assert all("not a leaf Tensor" in str(w.message) for w in caught)
    assert {w.filename for w in caught} == {__file__}
    assert caught[1].lineno == caught[0].lineno + 1
    y.retain_grad()
    assert y.grad is None  # no warning


def test_second_backward(torch: Any) -> None:
    """A second z.backward() raises "Trying to backward through the graph a second time"."""
    x = leaf(torch, 5.0)
    z = torch.log(x**3)
    z.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        z.backward()
    assert x.grad.item() == 0.6000000238418579


def test_gradients_add_up_in_place(torch: Any) -> None:
    """z.backward(retain_graph=True), z.backward(): 0.6, then 1.2, in the same .grad object."""
    x = leaf(torch, 5.0)
    z = torch.log(x**3)
    z.backward(retain_graph=True)
    first = x.grad
    assert first.item() == pytest.approx(0.6)
    memory = first.numpy()
    z.backward()
    assert x.grad is first
    assert first.item() == pytest.approx(1.2)
    assert memory == pytest.approx(1.2)


@pytest.mark.parametrize("how", ["zero_", "None"])
def test_gradient_is_reset(torch: Any, how: str) -> None:
    """Between the two x.grad.zero_() or x.grad = None: 0.6 again."""
    x = leaf(torch, 5.0)
    z = torch.log(x**3)
    z.backward(retain_graph=True)
    if how == "zero_":
        x.grad.zero_()
        assert x.grad.item() == 0.0
    else:
        x.grad = None
        assert x.grad is None
    z.backward()
    assert x.grad.item() == pytest.approx(0.6)


def test_gradients_that_cannot_be_added_to(torch: Any) -> None:
    """x.grad = g, which is expanded or an inference tensor, then backward(): raises."""
    with torch.inference_mode():
        inference = torch.ones(3)
    expanded = torch.ones(1).expand(3)
    for g, words in (
        (expanded, "refers to a single memory location"),
        (inference, "InferenceMode"),
    ):
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        x.grad = g
        with pytest.raises(RuntimeError, match=words):
            (x * x).sum().backward()
        assert expanded.tolist() == [1.0, 1.0, 1.0]
    x.grad = torch.zeros(6)[:3]
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_retain_grad(torch: Any) -> None:
    """y.retain_grad(); z.retain_grad(): retains_grad True on both; y.grad 0.008, z.grad 1.0."""
    x = leaf(torch, 5.0)
    y = x**3
    z = torch.log(y)
    y.retain_grad()
    z.retain_grad()
    assert y.retains_grad
    assert z.retains_grad
    assert not x.retains_grad
    z.backward()
    assert y.grad.item() == pytest.approx(0.008)
    assert z.grad.item() == 1.0
    assert x.grad.item() == pytest.approx(0.6)


def test_two_paths_add(torch: Any) -> None:
    """w=x**2; z=log(y)+sqrt(w): x.grad 1.6, AddBackward0."""
    x = leaf(torch, 5.0)
    y = x**3
    w = x**2
    z = torch.log(y) + torch.sqrt(w)
    assert z.grad_fn.name() == "AddBackward0"
    z.backward()
    assert x.grad.item() == pytest.approx(1.6)


def test_exponent_that_requires_grad(torch: Any) -> None:
    """q=t(3.), y=x**q: PowBackward1; q.grad 1.6094 (= ln 5), x.grad 0.6."""
    x, q = leaf(torch, 5.0), leaf(torch, 3.0)
    y = x**q
    assert re.fullmatch(rf"<PowBackward1 object at {AT}>", repr(y.grad_fn))
    torch.log(y).backward()
    assert q.grad.item() == pytest.approx(np.log(5.0))
    assert str(q.grad) == "tensor(1.6094)"
    assert x.grad.item() == pytest.approx(0.6)


# ---------------------------------------------------------------- nodes


def test_only_inputs_that_need_a_gradient_cost_anything(torch: Any) -> None:
    """a*b with a requiring grad and b not: the node keeps b and not a."""
    a, b = leaf(torch, [1.0, 2.0]), torch.tensor([3.0, 4.0])
    node = (a * b).grad_fn
    assert node._saved_self is None
    assert same_memory(node._saved_other, b)
    out = (a * b).sum()
    with torch.no_grad():
        a.add_(1)  # legal: a was not saved
    out.backward()
    assert a.grad.tolist() == [3.0, 4.0]
    out = (a * b).sum()
    b.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_saved_tensors(torch: Any) -> None:
    """y=x.pow(2): y.grad_fn._saved_self is x; for exp `_saved_result` shares y's values."""
    x = leaf(torch, [1.0, 2.0])
    y = x.pow(2)
    assert y.grad_fn._saved_self is x
    assert y.grad_fn._saved_self.tolist() == [1.0, 2.0]
    for exponent in (2, 3, 2.5, -1, 17, 0.3):
        saved = (x**exponent).grad_fn._saved_exponent
        assert (saved, type(saved)) == (exponent, type(exponent))
    z = x.exp()
    result = z.grad_fn._saved_result
    assert result is not z
    assert result.grad_fn is z.grad_fn
    assert same_memory(result, z)
    assert result.tolist() == z.tolist()


def test_freed_values_cannot_be_read(torch: Any) -> None:
    """After backward `_saved_self` raises, too: "after they have already been freed"."""
    y = leaf(torch, 3.0).pow(2)
    y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_self  # noqa: B018


def test_next_functions(torch: Any) -> None:
    """grad_fn.next_functions: (node, output_nr); AccumulateGrad at leaves, (None, 0) if no need."""
    x, b = leaf(torch, [1.0, 2.0]), torch.tensor([3.0, 4.0])
    y = x * b
    assert y.grad_fn.name() == "MulBackward0"
    (at_leaf, nr), other = y.grad_fn.next_functions
    assert other == (None, 0)
    assert nr == 0
    assert type(at_leaf).__name__ == "AccumulateGrad"
    assert at_leaf.variable is x
    assert (y + x).grad_fn.next_functions[0] == (y.grad_fn, 0)
    assert (y + x).grad_fn.next_functions[1] == (at_leaf, 0)

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g * 2 + h * 3

    parts = Two.apply(x)
    assert [p.output_nr for p in parts] == [0, 1]
    found = [(p * 1).grad_fn.next_functions[0] for p in parts]
    assert found == [(parts[0].grad_fn, 0), (parts[0].grad_fn, 1)]


def test_integers_cannot_require_grad(torch: Any) -> None:
    """tensor([1,2], requires_grad=True) raises "Only Tensors of floating point and complex..."."""
    message = "Only Tensors of floating point and complex dtype can require gradients"
    with pytest.raises(RuntimeError, match=message):
        torch.tensor([1, 2], requires_grad=True)
    with pytest.raises(RuntimeError, match="nly Tensors of floating point"):
        torch.tensor([1, 2]).requires_grad_()
    assert torch.tensor([1j], requires_grad=True).requires_grad


@pytest.mark.parametrize("how", ["method", "attribute"])
def test_flag_of_a_non_leaf(torch: Any, how: str) -> None:
    """b=a*2; b.requires_grad_(False), b.requires_grad=False raise "you can only change...".

    Switching it on, which it is, is allowed.
    """
    b = leaf(torch, [1.0]) * 2
    with pytest.raises(
        RuntimeError, match="you can only change requires_grad flags of leaf variables"
    ):
        if how == "method":
            b.requires_grad_(False)
        else:
            b.requires_grad = False
    assert b.requires_grad
    assert b.requires_grad_() is b


# ---------------------------------------------------------------- what is recorded when


def test_graph_starts_where_a_gradient_is_needed(torch: Any) -> None:
    """a, b plain, c requiring grad: out1=a*b is a leaf, out2=out1+c is not."""
    a, b, c = torch.tensor(2.0), torch.tensor(3.0), leaf(torch, 4.0)
    out1 = a * b
    out2 = out1 + c
    assert (out1.is_leaf, out1.requires_grad) == (True, False)
    assert (out2.is_leaf, out2.requires_grad) == (False, True)
    out2.backward()
    assert (a.grad, b.grad, c.grad.item()) == (None, None, 1.0)


def test_retain_grad_serves_the_next_backward(torch: Any) -> None:
    """All three requiring: grads 3, 2, 1; out1.retain_grad() after the fact: the next backward."""
    a, b, c = (leaf(torch, v) for v in (2.0, 3.0, 4.0))
    out1 = a * b
    out2 = out1 + c
    out2.backward(retain_graph=True)
    assert [x.grad.item() for x in (a, b, c)] == [3.0, 2.0, 1.0]
    out1.retain_grad()
    assert out1.grad is None
    out2.backward()
    assert out1.grad.item() == 1.0
    assert [x.grad.item() for x in (a, b, c)] == [6.0, 4.0, 2.0]


def test_requires_grad_spreads(torch: Any) -> None:
    """x+y with neither requiring grad, then +z with z requiring: False, then True."""
    x, y = torch.ones(5, 5), torch.ones(5, 5)
    z = torch.ones((5, 5), requires_grad=True)
    a = x + y
    assert a.requires_grad is False
    assert (a + z).requires_grad is True


def test_flag_switched_on_later(torch: Any) -> None:
    """(a*3)/(a-1) without grad, then a.requires_grad_(True): False to True, SumBackward0."""
    a = torch.tensor([[2.0, 3.0], [4.0, 5.0]])
    assert ((a * 3) / (a - 1)).requires_grad is False
    assert a.requires_grad is False
    assert a.requires_grad_(True) is a
    assert a.requires_grad is True
    assert ((a * 3) / (a - 1)).requires_grad is True
    b = (a * a).sum()
    assert re.fullmatch(rf"<SumBackward0 object at {AT}>", repr(b.grad_fn))


def test_variable(torch: Any) -> None:
    """Variable(ones(2,2), requires_grad=True): a Tensor; x+2 and (y*y*3).mean() print exactly."""
    Variable = torch.autograd.Variable
    x = Variable(torch.ones(2, 2), requires_grad=True)
    assert isinstance(x, torch.Tensor)
    assert type(x) is torch.Tensor
    assert isinstance(x, Variable)
    assert str(x) == "tensor([[1., 1.],\n        [1., 1.]], requires_grad=True)"
    y = x + 2
    assert str(y) == "tensor([[3., 3.],\n        [3., 3.]], grad_fn=<AddBackward0>)"
    out = (y * y * 3).mean()
    assert str(out) == "tensor(27., grad_fn=<MeanBackward0>)"
    out.backward()
    assert str(x.grad) == "tensor([[4.5000, 4.5000],\n        [4.5000, 4.5000]])"


def test_backward_with_a_gradient(torch: Any) -> None:
    """y.backward(ones(2,2), retain_graph=True): x.grad all ones."""
    x = torch.ones(2, 2, requires_grad=True)
    y = x + 2
    y.backward(torch.ones(2, 2), retain_graph=True)
    assert x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    y.backward(torch.ones(2, 2))
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_backward_without_a_gradient(torch: Any) -> None:
    """(a*2).backward() for shape (2,) raises "grad can be implicitly..."; (1,) is allowed."""
    a = leaf(torch, [1.0, 2.0])
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        (a * 2).backward()
    assert a.grad is None
    one = leaf(torch, [1.0])
    (one * 2).backward()
    assert one.grad.tolist() == [2.0]


def test_scalar_tensor_and_conversions(torch: Any) -> None:
    """scalar_tensor(2, device=..., requires_grad=True), .item(), .numpy(), .tolist()."""
    s = torch.scalar_tensor(2, device="cpu", requires_grad=True)
    assert str(s) == "tensor(2., requires_grad=True)"
    assert (s.dtype, tuple(s.shape), s.device.type) == (torch.float32, (), "cpu")
    assert (s.item(), type(s.item()), s.tolist(), type(s.tolist())) == (2.0, float, 2.0, float)
    x = torch.tensor([[1, 2], [3, 4]])
    assert x.tolist() == [[1, 2], [3, 4]]
    assert type(x.tolist()[0][0]) is int
    with pytest.raises(
        RuntimeError, match="a Tensor with 4 elements cannot be converted to Scalar"
    ):
        x.item()
    assert x.numpy().dtype == np.int64
    x.numpy()[0, 0] = 7  # the memory is shared
    assert x[0, 0].item() == 7


def test_numpy_of_a_tensor_that_requires_grad(torch: Any) -> None:
    """.numpy() of a tensor requiring grad raises and names `.detach().numpy()`."""
    x = leaf(torch, [1.0, 2.0])
    for tensor in (x, x * 2):
        with pytest.raises(RuntimeError, match=r"requires grad.*detach\(\)\.numpy\(\)"):
            tensor.numpy()
        with pytest.raises(RuntimeError, match=r"detach\(\)\.numpy\(\)"):
            np.asarray(tensor)
    assert x.detach().numpy().tolist() == [1.0, 2.0]
