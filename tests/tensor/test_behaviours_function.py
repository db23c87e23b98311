"""Section 6 of the table of behaviours: `autograd.Function`.

One test per row; its docstring has the row: what is tried, then what is expected. Each runs on
`compat` and, where it is installed, on PyTorch. The differences are in `test_behaviours.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat
import funcgrad


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


def my_pow(torch: Any) -> Any:
    """A hand-written power, ``forward(ctx, x, q)``."""

    class MyPow(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, q: Any) -> Any:
            result = x**q
            ctx.save_for_backward(x, q, result)
            return result

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, q, result = ctx.saved_tensors
            return g * q * x ** (q - 1), g * result * torch.log(x)

    return MyPow


def my_pow_split(torch: Any, **members: Any) -> Any:
    """The same as ``forward(x, q)`` and ``setup_context(ctx, inputs, output)``."""

    def forward(x: Any, q: Any) -> Any:
        return x**q

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def backward(ctx: Any, g: Any) -> Any:
        x, q = ctx.saved_tensors
        return g * q * x ** (q - 1), g * x**q * torch.log(x)

    found = {"forward": forward, "setup_context": setup_context, "backward": backward}
    found = {k: staticmethod(f) for k, f in found.items()}
    return type("MyPow", (torch.autograd.Function,), {**found, **members})


def function(
    torch: Any, backward: Callable[..., Any], forward: Callable[..., Any] | None = None
) -> Any:
    """A Function named F; it doubles unless `forward` is given."""
    members = {"forward": forward or (lambda ctx, x: x * 2), "backward": backward}
    return type("F", (torch.autograd.Function,), {k: staticmethod(f) for k, f in members.items()})


# ---------------------------------------------------------------- the two forms


@pytest.mark.parametrize("make", [my_pow, my_pow_split])
def test_hand_written_power(torch: Any, make: Callable[[Any], Any]) -> None:
    """MyPow.apply(x, q) at 5, 3, then log: q.grad 1.6094, x.grad 0.6: the same as **."""
    grads = []
    for power in (make(torch).apply, lambda x, q: x**q):
        x, q = leaf(torch, 5.0), leaf(torch, 3.0)
        y = power(x, q)
        assert y.item() == 125.0
        torch.log(y).backward()
        grads.append((x.grad.item(), q.grad.item(), x.grad.dtype))
    assert grads[0][:2] == pytest.approx((0.6, np.log(5.0)))
    assert grads[0][:2] == pytest.approx(grads[1][:2])
    assert grads[0][2] == torch.float32


@pytest.mark.parametrize("make", [my_pow, my_pow_split])
def test_node_of_a_function_prints(torch: Any, make: Callable[[Any], Any]) -> None:
    """grad_fn prints <MyPowBackward object ...>, the tensor grad_fn=<MyPowBackward>."""
    y = make(torch).apply(leaf(torch, 5.0), torch.tensor(3.0))
    assert str(y) == "tensor(125., grad_fn=<MyPowBackward>)"
    assert re.fullmatch(
        r"<(torch\.autograd\.function\.)?MyPowBackward object at 0x\w+>", repr(y.grad_fn)
    )
    assert y.grad_fn.name() == "MyPowBackward"
    assert y.grad_fn.next_functions[1] == (None, 0)


@pytest.mark.parametrize("make", [my_pow, my_pow_split])
def test_second_derivative_of_a_function(torch: Any, make: Callable[[Any], Any]) -> None:
    """What was saved has its place in the graph: second derivatives as for **."""
    x, q = leaf(torch, 5.0), leaf(torch, 3.0)
    y = make(torch).apply(x, q)
    gx, gq = torch.autograd.grad(y, (x, q), create_graph=True)
    assert (gx.item(), gq.item()) == pytest.approx((75.0, 125 * np.log(5.0)))
    found = torch.autograd.grad(gx, (x, q), retain_graph=True)
    mixed = 25 + 75 * np.log(5.0)
    assert [g.item() for g in found] == pytest.approx([30.0, mixed])
    found = torch.autograd.grad(gq, (x, q))
    assert [g.item() for g in found] == pytest.approx([mixed, 125 * np.log(5.0) ** 2])


def test_apply_without_a_graph(torch: Any) -> None:
    """Nothing requires grad, or under no_grad: the value alone; a second backward raises."""
    MyPow = my_pow(torch)
    x, q = leaf(torch, 5.0), torch.tensor(3.0)
    with torch.no_grad():
        assert not MyPow.apply(x, q).requires_grad
    assert MyPow.apply(q, q).grad_fn is None
    y = MyPow.apply(x, q)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


# ---------------------------------------------------------------- the ctx


def test_needs_input_grad(torch: Any) -> None:
    """ctx.needs_input_grad: per argument, False for those that are no tensors."""
    seen = []

    def backward(ctx: Any, g: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return g, None, None

    F = function(torch, backward, lambda ctx, a, b, n: a * b * n)
    F.apply(leaf(torch, 1.0), torch.tensor(2.0), 3).backward()
    assert seen == [(True, False, False)]


def test_attributes_of_the_ctx(torch: Any) -> None:
    """Constants are kept on ctx as attributes, and can be read from the node."""

    def forward(ctx: Any, x: Any, n: int) -> Any:
        ctx.n = n
        return x * n

    F = function(torch, lambda ctx, g: (g * ctx.n, None), forward)
    x = leaf(torch, 1.0)
    y = F.apply(x, 7)
    assert y.grad_fn.n == 7
    y.backward()
    assert x.grad.item() == 7.0


def test_mark_dirty(torch: Any) -> None:
    """mark_dirty: the input comes back as the same object, with the new history; a leaf raises."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    F = function(torch, lambda ctx, g: g * 2, forward)
    a = leaf(torch, [1.0, 2.0])
    b = a * 1
    c = F.apply(b)
    assert c is b
    assert b.grad_fn.name() == "FBackward"
    assert b._version > 0
    b.sum().backward()
    assert (b.tolist(), a.grad.tolist()) == ([2.0, 4.0], [2.0, 2.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in"):
        F.apply(a)


def test_mark_non_differentiable(torch: Any) -> None:
    """mark_non_differentiable: that output needs no gradient."""

    def forward(ctx: Any, x: Any) -> Any:
        order = x.argsort()
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        return x[order], order

    def backward(ctx: Any, g: Any, _: Any) -> Any:
        out = torch.zeros_like(g)
        out[ctx.saved_tensors[0]] = g
        return out

    x = leaf(torch, [3.0, 1.0, 2.0])
    y, order = function(torch, backward, forward).apply(x)
    assert (y.requires_grad, order.requires_grad, order.grad_fn) == (True, False, None)
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert (order.tolist(), x.grad.tolist()) == ([1, 2, 0], [100.0, 1.0, 10.0])


def test_unused_outputs(torch: Any) -> None:
    """One of several outputs unused: its gradient arrives as zeros (materialised)."""
    seen = []

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        seen.append((g.tolist(), h.tolist(), h.dtype))
        return g * 2 + h * 3

    a = leaf(torch, [1.0, 2.0])
    first, second = function(torch, backward, lambda ctx, x: (x * 2, x.double() * 3)).apply(a)
    assert (first.grad_fn is second.grad_fn, second.output_nr) == (True, 1)
    first.sum().backward()
    assert seen == [([1.0, 1.0], [0.0, 0.0], torch.float64)]
    assert (a.grad.tolist(), a.grad.dtype) == ([2.0, 2.0], torch.float32)


def test_set_materialize_grads(torch: Any) -> None:
    """ctx.set_materialize_grads(False): it arrives as None."""
    seen = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        seen.append(h)
        return g * 2

    function(torch, backward, forward).apply(leaf(torch, [1.0]))[0].sum().backward()
    assert seen == [None]


def test_once_differentiable(torch: Any) -> None:
    """once_differentiable: the first derivative works, the second raises."""
    once = torch.autograd.function.once_differentiable
    F = function(torch, once(lambda ctx, g: g * 2))
    x = leaf(torch, [1.0])
    (g,) = torch.autograd.grad(F.apply(x).sum(), x, create_graph=True)
    assert g.tolist() == [2.0]
    (g,) = torch.autograd.grad((F.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        g.sum().backward()


def test_forward_returns_an_input(torch: Any) -> None:
    """Forward returns an input as it is: a new object, backward applied."""
    F = function(torch, lambda ctx, g: g * 10, lambda ctx, x: x)
    a = leaf(torch, [1.0, 2.0])
    out = F.apply(a)
    assert out is not a
    assert out.grad_fn.name() == "FBackward"
    assert np.shares_memory(out.detach().numpy(), a.detach().numpy())
    out.sum().backward()
    assert a.grad.tolist() == [10.0, 10.0]


# ---------------------------------------------------------------- what backward returns


def run_backward(torch: Any, backward: Callable[..., Any]) -> Any:
    a = leaf(torch, [1.0, 2.0])
    function(torch, backward).apply(a).sum().backward()
    return a.grad


@pytest.mark.parametrize("count", [0, 2])
def test_wrong_number_of_gradients(torch: Any, count: int) -> None:
    """The wrong number raises "returned an incorrect number of gradients"."""
    message = (
        rf"function FBackward returned an incorrect number of gradients \(expected 1, got {count}"
    )
    with pytest.raises(RuntimeError, match=message):
        run_backward(torch, lambda ctx, g: (g,) * count)


def test_wrong_shape_of_a_gradient(torch: Any) -> None:
    """The wrong shape raises "returned an invalid gradient at index 0 - got [3] but expected..."."""
    message = re.escape(
        "returned an invalid gradient at index 0 - got [3] but expected shape compatible with [2]"
    )
    with pytest.raises(RuntimeError, match=message):
        run_backward(torch, lambda ctx, g: torch.ones(3))


@pytest.mark.parametrize("wrong", [3.0, "g", np.ones(2)])
def test_gradient_that_is_no_tensor(torch: Any, wrong: Any) -> None:
    """A non-tensor raises TypeError (PyTorch: RuntimeError; ours is both)."""
    with pytest.raises(RuntimeError, match="expected Variable or None") as caught:
        run_backward(torch, lambda ctx, g: wrong)
    if torch is compat:
        assert isinstance(caught.value, TypeError)


def test_extra_trailing_nones(torch: Any) -> None:
    """Extra trailing Nones are fine; so is None for an input, and a gradient that broadcasts."""
    assert run_backward(torch, lambda ctx, g: (g, None, None)).tolist() == [1.0, 1.0]
    assert run_backward(torch, lambda ctx, g: None) is None
    assert run_backward(torch, lambda ctx, g: torch.ones(3, 2)).tolist() == [3.0, 3.0]
    assert run_backward(torch, lambda ctx, g: g.double()).dtype == torch.float32


# ---------------------------------------------------------------- functional transforms


def transformed(torch: Any, apply: Callable[..., Any]) -> dict[str, Any]:
    """What the transforms give for x**3 and its gradient at 1, 2, 3."""
    f = torch.func
    q = torch.tensor(3.0)
    xs = torch.tensor([1.0, 2.0, 3.0])

    def cube(x: Any) -> Any:
        return apply(x, q)

    return {
        "grad": f.grad(cube)(xs[1]).tolist(),
        "vmap": f.vmap(cube)(xs).tolist(),
        "vmap of grad": f.vmap(f.grad(cube))(xs).tolist(),
        "grad of grad": f.grad(f.grad(cube))(xs[1]).tolist(),
        "jvp": f.jvp(cube, (xs[1],), (q,))[1].tolist(),
    }


EXPECTED = {
    "grad": 12.0,
    "vmap": [1.0, 8.0, 27.0],
    "vmap of grad": [3.0, 12.0, 27.0],
    "grad of grad": 12.0,
    "jvp": 36.0,
}


def assert_expected(found: dict[str, Any]) -> None:
    assert found.keys() == EXPECTED.keys()
    for name, value in found.items():
        assert value == pytest.approx(EXPECTED[name], rel=1e-5), name


def jvp(ctx: Any, x_dot: Any, q_dot: Any) -> Any:
    """The tangent of x**q by x, by a hand that knows q to be constant."""
    x, q = ctx.saved_tensors
    return x_dot * q * x ** (q - 1)


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # of its first jvp
def test_transforms_with_the_rules_that_pytorch_wants(torch: Any) -> None:
    """jvp, generate_vmap_rule, save_for_forward: under torch.func.grad, vmap, jvp."""
    MyPow = my_pow_split(torch, jvp=staticmethod(jvp), generate_vmap_rule=True)
    assert_expected(transformed(torch, MyPow.apply))


def test_hand_written_vmap(torch: Any) -> None:
    """vmap(info, in_dims, *args) is called under torch.func.vmap."""
    seen = []

    def forward(x: Any) -> Any:
        return x * 2

    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, in_dims, tuple(x.shape)))
        return x * 2 + 1, 0  # not the same, so that it shows

    members = {
        "forward": forward,
        "setup_context": lambda ctx, inputs, output: None,
        "backward": lambda ctx, g: g * 2,
        "vmap": vmap,
    }
    F = type("F", (torch.autograd.Function,), {k: staticmethod(f) for k, f in members.items()})
    out = torch.func.vmap(F.apply)(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert seen == [(3, (0,), (3, 2))]
    assert out.tolist() == [[3.0, 5.0], [7.0, 9.0], [11.0, 13.0]]


@pytest.mark.parametrize("make", [my_pow, my_pow_split])
def test_transforms_with_no_extra_method(make: Callable[[Any], Any]) -> None:
    """The same Function under torch.func.grad, vmap, jvp works with no extra method (ours only)."""
    assert_expected(transformed(compat, make(compat).apply))


@pytest.mark.parametrize("make", [my_pow, my_pow_split])
def test_functions_inside_funcgrad(make: Callable[[Any], Any]) -> None:
    """Inside funcgrad.grad, vmap and jvp, too (ours only)."""
    MyPow = make(compat)

    def cube(x: Any) -> Any:
        return MyPow.apply(compat.tensor(x), compat.tensor(3.0, dtype=compat.float64))._array

    assert funcgrad.grad(cube)(2.0) == pytest.approx(12.0)
    assert funcgrad.grad(funcgrad.grad(cube))(2.0) == pytest.approx(12.0)
    xs = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(funcgrad.vmap(cube)(xs), xs**3)
    np.testing.assert_allclose(funcgrad.vmap(funcgrad.grad(cube))(xs), 3 * xs**2)
    np.testing.assert_allclose(funcgrad.jvp(cube, (2.0,), (3.0,))[1], 36.0)


def test_forward_may_be_any_callable(torch: Any) -> None:
    """forward is an object with __call__ (tests put a mock there); then it is called all the same."""

    class Doubled:
        def __call__(self, ctx: Any, x: Any) -> Any:
            return 2 * x

    members = {"forward": Doubled(), "backward": staticmethod(lambda ctx, g: 2 * g)}
    x = leaf(torch, [1.0])
    type("F", (torch.autograd.Function,), members).apply(x).backward()
    assert x.grad.tolist() == [2.0]


def test_only_inputs_are_marked_dirty(torch: Any) -> None:
    """ctx.mark_dirty of what is no input: a warning, and the result is an ordinary one."""

    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = 3 * x
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * g

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="was not an input"):
        y = Tripled.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
