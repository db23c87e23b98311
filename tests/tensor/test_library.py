"""`torch.library.custom_op`: functions that are called as they are, with registered derivatives.

Run with PyTorch as well where it is installed; the names of operators are its own then.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import compat
from compat import Tensor

_numbers = itertools.count()


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def _operator(torch: Any, function: Any, mutates: Any = (), results: Any = "Tensor") -> Any:
    """The operator of a function whose annotations name types of that module, as strings."""
    types = {"Tensor": torch.Tensor, "Sequence": Sequence[torch.Tensor], "float": float}
    types["Pair"] = tuple[torch.Tensor, torch.Tensor]
    given = {**function.__annotations__, "return": results}
    function.__annotations__ = {k: types.get(v, v) for k, v in given.items()}
    name = f"funcgrad_tests::op{next(_numbers)}"
    return torch.library.custom_op(name, mutates_args=mutates)(function)


def _sine(torch: Any) -> Any:
    def sine(x: Tensor) -> Any:
        return torch.from_numpy(np.sin(x.numpy()))

    return _operator(torch, sine)


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def test_a_derivative_is_what_was_registered(torch: Any) -> None:
    sine = _sine(torch)
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        sine(x).sum().backward()
    sine.register_autograd(lambda ctx, g: g * ctx.saved_tensors[0].cos(), setup_context=_setup)
    assert torch.autograd.gradcheck(sine, (x,))
    assert torch.autograd.gradgradcheck(sine, (x,))
    with torch.no_grad():
        assert not sine(x).requires_grad


def test_operators_have_names(torch: Any) -> None:
    sine = _sine(torch)
    named = getattr(torch.ops.funcgrad_tests, sine._qualname.partition("::")[2])
    for op in (named, named.default):
        np.testing.assert_allclose(op(torch.tensor([0.5])), np.sin([0.5]), rtol=1e-6)
    torch.library.register_autograd(sine._qualname, lambda ctx, g: g * 7)
    x = torch.tensor([0.5], requires_grad=True)
    named(x).backward()
    assert x.grad.tolist() == [7.0]


def test_sequences_of_tensors(torch: Any) -> None:
    def mixed(x: Tensor, ws: Sequence, k: float = 2.0) -> Any:
        return x * sum(w.clone() for w in ws) * k

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        x, ws, ctx.k = inputs
        ctx.save_for_backward(x, *ws)

    def backward(ctx: Any, g: Any) -> Any:
        x, *ws = ctx.saved_tensors
        return g * sum(ws) * ctx.k, [g * x * ctx.k for _ in ws], None

    op = _operator(torch, mixed)
    op.register_autograd(backward, setup_context=setup)
    x, *ws = (torch.tensor([a, a + 1], requires_grad=True) for a in (1.0, 3.0, 5.0))
    op(x, ws, 6.0).sum().backward()
    assert x.grad.tolist() == [48.0, 60.0]
    assert [w.grad.tolist() for w in ws] == [[6.0, 12.0]] * 2


def test_arguments_by_name_only(torch: Any) -> None:
    def scaled(x: Tensor, *, s: float = 1.0) -> Any:
        return x * s

    def setup(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        assert len(inputs) == 1
        ctx.s = keyword_only_inputs["s"]

    op = _operator(torch, scaled)
    op.register_autograd(lambda ctx, g: g * ctx.s, setup_context=setup)
    x = torch.ones(2, requires_grad=True)
    (op(x, s=3.0) + op(x)).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_several_results(torch: Any) -> None:
    def both(x: Tensor) -> Any:
        return x * 2, x * 3

    op = _operator(torch, both, results="Pair")
    op.register_autograd(lambda ctx, a, b: a * 2 + b * 3)
    x = torch.ones(2, requires_grad=True)
    a, b = op(x)
    (a + 2 * b).sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]


def test_operators_that_write(torch: Any) -> None:
    def doubled(x: Tensor) -> None:
        x.numpy()[...] *= 2

    op = _operator(torch, doubled, mutates=("x",), results=None)
    x = torch.ones(2)
    before = x._version
    assert op(x) is None
    assert x.tolist() == [2.0, 2.0] and x._version > before
    with pytest.raises(RuntimeError, match="Cannot register autograd formula"):
        op.register_autograd(lambda ctx, g: g)


def test_results_are_new_tensors(torch: Any) -> None:
    def same(x: Tensor) -> Any:
        return x

    def shown(x: Tensor) -> Any:
        return x.view(-1)

    def written(x: Tensor) -> Any:
        return x.mul_(2)

    def twice(x: Tensor) -> Any:
        y = x * 2
        return y, y

    for f in (same, shown):
        with pytest.raises(RuntimeError, match=r"input to this custom operator|may not alias"):
            _operator(torch, f)(torch.ones(2))
    with pytest.raises(RuntimeError, match=r"input to this custom operator|may not alias"):
        _operator(torch, written, mutates=("x",))(torch.ones(2))
    with pytest.raises(RuntimeError, match=r"input to this custom operator|may not alias"):
        _operator(torch, twice, results="Pair")(torch.ones(2))


@pytest.mark.parametrize(
    "by_list", [lambda g: [g], lambda g: g, lambda g: (g, g), lambda g: [g, g, g]], ids="abcd"
)
def test_gradients_by_a_sequence_have_its_structure(torch: Any, by_list: Any) -> None:
    """One too few had been given to the wrong argument, without a word."""

    def product(ws: Sequence, x: Tensor) -> Any:  # type: ignore[type-arg]
        return ws[0] * ws[1] * x

    op = _operator(torch, product)
    op.register_autograd(lambda ctx, g: (by_list(g), g))
    a, b, x = (torch.ones(2, requires_grad=True) for _ in range(3))
    with pytest.raises(RuntimeError, match="structure"):
        op([a, b], x).sum().backward()
    assert a.grad is b.grad is x.grad is None


def test_tensors_by_name_only(torch: Any) -> None:
    """Backward returns no gradient for these, which had been a cut."""

    def product(x: Tensor, *, y: Tensor) -> Any:
        return x * y

    with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
        _operator(torch, product)(torch.ones(2), y=torch.ones(2, requires_grad=True))


def test_rules_for_vmap(torch: Any) -> None:
    sine = _sine(torch)
    seen = []

    def rule(info: Any, in_dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, in_dims))
        return sine(x), in_dims[0]

    sine.register_vmap(rule)
    found = torch.func.vmap(sine)(torch.tensor([[0.5], [1.0]]))
    np.testing.assert_allclose(found, np.sin([[0.5], [1.0]]), rtol=1e-6)
    assert seen == [(2, (0,))]


def test_compiled_and_replaced() -> None:
    sine = _sine(compat)
    sine.register_fake(compat.empty_like)
    x = compat.tensor([0.5])
    assert compat.compile(lambda x: sine(x) * 2)(x).tolist() == (sine(x) * 2).tolist()
    compat.library.register_kernel(sine, "cpu", lambda x: x + 1)
    assert sine(x).tolist() == [1.5]


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match="must be 'namespace::name'"):
        compat.library.custom_op("bare", mutates_args=())(lambda x: x)
    with pytest.raises(ValueError, match="has 'y', which is no argument"):
        compat.library.custom_op("funcgrad_tests::y", mutates_args=["y"])(lambda x: x)
    with pytest.raises(ValueError, match="must be names"):
        compat.library.custom_op("funcgrad_tests::s", mutates_args="x")(lambda x: x)
    with pytest.raises(ValueError, match="'index' is taken"):
        compat.library.custom_op("index::s", mutates_args=())(lambda x: x)
    with pytest.raises(RuntimeError, match="no operator of this name"):
        compat.library.register_fake("funcgrad_tests::none", lambda x: x)
    sine = _sine(compat)
    sine.register_autograd(lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="2 gradients for 1 arguments"):
        sine(compat.ones(1, requires_grad=True)).backward()

    def tripled(x: Any) -> None:
        x.mul_(3)

    op = _operator(compat, tripled, mutates="unknown")
    x = compat.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="has no derivative"):
        op(x)
    assert x.tolist() == [1.0, 1.0]
    with compat.no_grad():
        op(x)
    assert x.tolist() == [3.0, 3.0]
