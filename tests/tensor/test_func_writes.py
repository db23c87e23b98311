"""Writes inside `compat.func`: into arguments, into what is outside, and by way of `detach()`."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any

import pytest

import compat
from compat.utils._pytree import tree_leaves

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def numbers(x: Any) -> Any:
    return [numbers(y) for y in x] if isinstance(x, tuple | list) else x.tolist()


# ---------------------------------------------------------------- arguments

# An expression of `x` = [1, 2, 3] and `X` = [[1, 2, 3], [4, 5, 6]], and what they are afterwards.
ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
WRITTEN = {
    "F.vmap(lambda a: a.mul_(2))(x)": ([2, 4, 6], ROWS),
    "F.vmap(lambda a: a.mul_(2))(x[1:])": ([1, 4, 6], ROWS),
    "F.vmap(lambda a: a.mul_(2), chunk_size=2)(x)": ([2, 4, 6], ROWS),
    "F.vmap(lambda a, b: (a.add_(b), b)[1])(x, T.ones(3))": ([2, 3, 4], ROWS),
    "F.vmap(lambda a: a[1:].mul_(2))(X)": ([1, 2, 3], [[1, 4, 6], [4, 10, 12]]),
    "F.vmap(lambda a: a.add_(T.arange(2.)), 1, 1)(X)": ([1, 2, 3], [[1, 2, 3], [5, 6, 7]]),
    "F.vmap(lambda a: a.add_(T.arange(2.)), -1)(X)": ([1, 2, 3], [[1, 2, 3], [5, 6, 7]]),
    "F.vmap(lambda d: d['a'].mul_(2))({'a': x})": ([2, 4, 6], ROWS),
    "F.vmap(lambda a, b: a * b.mul_(2), (0, None))(T.ones(3), x)": ([2, 4, 6], ROWS),
    "F.vmap(lambda a, b: a * b.mul_(2))(T.ones(3), b=x)": ([2, 4, 6], ROWS),
    "F.vmap(F.vmap(lambda a: a.mul_(2)))(X)": ([1, 2, 3], [[2, 4, 6], [8, 10, 12]]),
    "F.vmap(F.grad(lambda a, b: a * b.mul_(2)))(T.ones(3), x)": ([2, 4, 6], ROWS),
    "F.grad(lambda a, b: (a * b.mul_(2)).sum())(T.ones(3), x)": ([2, 4, 6], ROWS),
    "F.grad(lambda a, b: (b.mul_(a)).sum())(2 * T.ones(3), b=x)": ([2, 4, 6], ROWS),
    "F.jvp(lambda a: a.mul_(2), (x,), (T.ones(3),))": ([2, 4, 6], ROWS),
    "F.jacfwd(lambda a: a.mul_(2))(x)": ([2, 4, 6], ROWS),
    "F.jacrev(lambda a, b: a * b.mul_(2))(T.ones(3), x)": ([2, 4, 6], ROWS),
    "F.functionalize(lambda a: a.add_(1))(x)": ([2, 3, 4], ROWS),
    "F.functionalize(lambda a, b: (a.add_(1), b * 1)[1])(x, x)": ([2, 3, 4], ROWS),
}


@pytest.mark.parametrize("expression", WRITTEN)
def test_arguments_that_are_written(torch: Any, expression: str) -> None:
    x, X = torch.tensor(ROWS[0]), torch.tensor(ROWS)
    eval(expression, {"T": torch, "F": torch.func, "x": x, "X": X})
    assert (x.tolist(), X.tolist()) == WRITTEN[expression]


def test_arguments_with_a_history_that_are_written(torch: Any) -> None:
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        torch.func.vmap(lambda a: a.mul_(2))(leaf)
    y = leaf * 1
    torch.func.vmap(lambda a, b: a.mul_(b))(y, torch.tensor([3.0, 4.0]))
    y.sum().backward()
    assert leaf.grad.tolist() == [3.0, 4.0]


def test_a_write_counts_as_one(torch: Any) -> None:
    """What was saved for backward before is found to be modified."""
    w, x = torch.ones(2, requires_grad=True), torch.ones(2)
    y = w * x
    torch.func.grad(lambda a, b: (a * b.mul_(2)).sum())(torch.ones(2), x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_writes_that_have_no_place(torch: Any) -> None:
    x, vmap = torch.ones(3), torch.func.vmap
    for f in (lambda a, b: b.mul_(a), lambda a, b: (b.mul_(a), a)[1]):
        with pytest.raises(RuntimeError):
            vmap(f, (0, None))(torch.ones(3), x)
    assert x.tolist() == [1.0, 1.0, 1.0]
    if torch is compat:
        with pytest.raises(RuntimeError, match="another argument shares its memory"):
            vmap(lambda a, b: (a.mul_(2), b * 1)[1])(x, x)
        with pytest.raises(RuntimeError, match=r"unsqueeze_ at test_func_writes\.py"):
            vmap(lambda a: a.unsqueeze_(0))(x)
        buffer = compat.zeros(2, 3)
        vmap(lambda a, b: a.add_(b + 1))(buffer[0], buffer[1])
        assert buffer.tolist() == [[1.0] * 3, [0.0] * 3]


# ---------------------------------------------------------------- what is outside


@pytest.mark.parametrize("part", [lambda c: c, lambda c: c[1:], lambda c: c.detach()])
def test_examples_are_not_left_outside(torch: Any, part: Callable[[Any], Any]) -> None:
    c = torch.ones(3)
    with pytest.raises(RuntimeError):
        torch.func.vmap(lambda a: part(c).add_(a))(torch.ones(2))
    assert c.tolist() == [1.0, 1.0, 1.0]
    assert (c + 1).tolist() == [2.0, 2.0, 2.0]


def test_an_error_leaves_nothing_outside(torch: Any) -> None:
    c = torch.ones(2)

    def f(a: Any) -> Any:
        c.add_(a)
        raise KeyError("mine")

    with pytest.raises((KeyError, RuntimeError)):
        torch.func.grad(f)(torch.tensor(1.0))
    assert c.tolist() == [1.0, 1.0]


def test_what_grad_writes_outside_is_numbers() -> None:
    """PyTorch refuses it."""
    c = compat.ones(2)
    view = c[1:]
    found = compat.func.grad(lambda a: (view.mul_(a) * a).sum() + c.sum())(compat.tensor(3.0))
    assert found.item() == 2 * 3.0 + 1.0
    assert (c.tolist(), view.tolist()) == ([1.0, 3.0], [3.0])
    mapped = compat.func.vmap(
        lambda y: compat.func.grad(lambda a: (c.clone().mul_(a)).sum())(y * 2)
    )(compat.ones(2))
    assert mapped.tolist() == [4.0, 4.0]
    w = compat.ones(2, requires_grad=True)
    total = compat.zeros(())
    compat.func.grad(lambda a: (total.add_((a * w).sum()), (a * w).sum())[1])(compat.ones(2))
    total.backward()
    assert w.grad.tolist() == [1.0, 1.0]


def test_backward_of_a_graph_from_outside(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y, parts = x**2, torch.split(x * 2, 1)
    rows = torch.eye(3)

    def pulled(v: Any) -> Any:
        return torch.autograd.grad(y, x, v, retain_graph=True)[0]

    expected = [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    assert torch.func.vmap(pulled)(rows).tolist() == expected
    assert torch.func.jacfwd(pulled)(torch.ones(3)).tolist() == expected
    one = torch.func.vmap(lambda v: torch.autograd.grad(parts[1], x, v)[0])(torch.ones(1, 1))
    assert one.tolist() == [[0.0, 2.0, 0.0]]
    with pytest.raises(RuntimeError, match=r"backward\(\).*inside a"):
        torch.func.vmap(lambda v: (y.backward(v), v)[1])(rows)
    assert x.grad is None


# ---------------------------------------------------------------- detach


def in_place(torch: Any, x: Any) -> Any:
    y = x * 1
    y.detach_()
    return x * y


def by_detach(torch: Any, x: Any) -> Any:
    y = x * 1
    y.detach().mul_(3)
    y.data.add_(1)
    return y * x


def then_read(torch: Any, x: Any) -> Any:
    y = x * 1
    z = y.detach()
    y.mul_(x)
    return z * x + y


def with_a_derivative_of_its_own(torch: Any, x: Any) -> Any:
    y = x * 1
    z = y.detach()
    z.mul_(x)
    return z * 2 + y


def by_a_part(torch: Any, x: Any) -> Any:
    y = x * 1
    z = y[:1].detach()
    y.mul_(x)
    z.add_(1)
    return y * x + z


def by_two(torch: Any, x: Any) -> Any:
    y = x * 1
    a, b = y.detach(), y.detach()
    a.add_(1)
    b.mul_(2)
    return y * x + a + b


def of_a_repeated_part(torch: Any, x: Any) -> Any:
    y = x * 1
    z = y[:1].expand(2).detach()
    y.mul_(x)
    return z * x


def by_a_constant(torch: Any, x: Any) -> Any:
    y = torch.ones(2)
    z = y.detach()
    y.add_(x)
    return y * x + z


DETACHED = [
    in_place, by_detach, then_read, with_a_derivative_of_its_own, by_a_part, by_two,
    of_a_repeated_part, by_a_constant,
]  # fmt: skip


@pytest.mark.parametrize("f", DETACHED)
def test_memory_that_detached_tensors_share(torch: Any, f: Callable[..., Any]) -> None:
    """As on the tape, where the numbers are in one place."""
    F, x = torch.func, torch.tensor([2.0, 3.0])
    expected = f(torch, x).tolist()
    leaf = x.clone().requires_grad_()
    value = F.grad_and_value(lambda x: f(torch, x).sum())(x)
    assert value[1].item() == sum(expected)
    assert F.jvp(lambda x: f(torch, x), (x,), (torch.ones(2),))[0].tolist() == expected
    assert F.vjp(lambda x: f(torch, x), x)[0].tolist() == expected
    try:
        f(torch, leaf).sum().backward()
    except RuntimeError:  # what the tape has saved was written
        leaf.grad = None
    if leaf.grad is not None:
        assert value[0].tolist() == leaf.grad.tolist()
        assert F.jacfwd(lambda x: f(torch, x).sum())(x).tolist() == leaf.grad.tolist()
    if torch is compat:
        assert F.vmap(lambda x: f(torch, x))(torch.stack([x, x])).tolist() == [expected] * 2
        grads = F.vmap(F.grad(lambda x: f(torch, x).sum()))(torch.stack([x, x]))
        assert grads.tolist() == [value[0].tolist()] * 2


def test_detach_in_place_of_what_has_views() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        part = y[:1]
        y.detach_()
        part.add_(1)
        return (x * y).sum() + part.sum()

    grad, value = compat.func.grad_and_value(f)(compat.tensor([2.0, 3.0]))
    assert value.item() == 2 * 3.0 + 3 * 3.0 + 3.0
    assert grad[1].item() == 3.0


def test_nothing_needs_the_garbage_collector() -> None:
    F, w = compat.func, compat.ones(3, requires_grad=True)

    def f(a: Any) -> Any:
        b = a * w
        b.detach().mul_(2)
        return b.sum()

    for transform in (F.grad, F.vmap, F.jacfwd, F.vmap):
        x = compat.ones(2, 3) if transform is F.vmap else compat.ones(3)
        gc.collect()
        gc.disable()
        try:
            transform(f)(x)
            assert gc.collect() == 0
        finally:
            gc.enable()


# ---------------------------------------------------------------- no_grad


def product(torch: Any, x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
    return (x * y).sum()


def written(torch: Any, x: Any) -> Any:
    y = x * 1
    with torch.no_grad():
        y.mul_(3)
    return (x * y).sum()


def slope(torch: Any, x: Any) -> Any:
    with torch.no_grad():
        return torch.func.grad(lambda y: (y**3).sum())(x).sum()


NO_GRAD: dict[Any, tuple[Any, Any, Any]] = {  # gradient, directional derivative, Hessian at [2, 3]
    product: ([4.0, 6.0], 20.0, [[2.0, 0.0], [0.0, 2.0]]),
    written: ([8.0, 12.0], 30.0, [[4.0, 0.0], [0.0, 4.0]]),
    slope: ([0.0, 0.0], 30.0, [[0.0, 0.0], [0.0, 0.0]]),
}


@pytest.mark.parametrize("f", NO_GRAD)
def test_no_grad_is_about_reverse_mode(torch: Any, f: Callable[..., Any]) -> None:
    F, x = torch.func, torch.tensor([2.0, 3.0])
    gradient, slope, curvature = NO_GRAD[f]

    def g(x: Any) -> Any:
        return f(torch, x)

    assert F.jvp(g, (x,), (torch.ones(2),))[1].item() == slope
    assert F.jacfwd(g)(x).sum().item() == slope
    assert F.vmap(F.jacfwd(g))(x[None])[0].sum().item() == slope
    assert F.jvp(F.vmap(g), (x[None],), (torch.ones(1, 2),))[1].item() == slope
    if any(gradient) or torch is compat:  # PyTorch wants a result with a derivative
        assert F.grad(g)(x).tolist() == gradient
        assert F.vmap(F.grad(g))(x[None])[0].tolist() == gradient
        assert F.hessian(g)(x).tolist() == curvature


def test_no_grad_in_forward_in_reverse_mode() -> None:
    """The tangents are constants for the reverse mode around; those of `jacfwd` cannot be."""
    F, x = compat.func, compat.tensor([2.0, 3.0])

    def pushed(x: Any) -> Any:
        return F.jvp(lambda x: product(compat, x), (x,), (compat.ones(2),))[1]

    assert F.grad(pushed)(x).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match=r"no_grad\(\) in a function of jacfwd"):
        F.jacrev(F.jacfwd(lambda x: product(compat, x)))(x)


COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.clone() * x.detach() / x.detach(),
    "reshape": lambda x: x.expand(2, 2).T.reshape(4)[0].clone(),
    "select": lambda x: x.view(1)[0].clone(),
}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "view": lambda y: y.view(1, 1),
    "itself": lambda y: y.view(()),
    "ellipsis": lambda y: y[...],
    "squeeze": lambda y: y.squeeze(),
    "permute": lambda y: y.permute(()),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("copy", COPIES)
def test_views_of_tensors_without_axes_are_written(torch: Any, copy: str, view: str) -> None:
    """A traced value without axes may stand for a number, which has no views; a tensor does not."""

    def written(x: Any) -> Any:
        y = COPIES[copy](x)
        VIEWS[view](y).sin_()
        return y

    x = torch.tensor(2.0, dtype=torch.float64)
    expected = math.cos(2.0)
    assert torch.func.grad(written)(x).item() == pytest.approx(expected)
    value, tangent = torch.func.jvp(written, (x,), (torch.ones_like(x),))
    assert value.item() == pytest.approx(math.sin(2.0))
    assert tangent.item() == pytest.approx(expected)
    assert torch.func.vmap(written)(x[None]).item() == pytest.approx(math.sin(2.0))


# ---------------------------------------------------------------- a transform in another one

NESTED_WRITES = {
    "whole": lambda base, view, y: base.copy_(y),
    "product": lambda base, view, y: base.mul_(y),
    "part": lambda base, view, y: base[0].add_(y[1]),
    "index": lambda base, view, y: base.__setitem__(0, y[1]),
    "order": lambda base, view, y: base.T.copy_(y),
    "view": lambda base, view, y: view.mul_(y[1]),
}


def inner(f: Callable[..., Any], which: str, y: Any) -> Any:
    func = compat.func
    if which == "jvp":
        return func.jvp(f, (y,), (y.cos(),))
    if which == "vmap":
        return func.vmap(f)(compat.stack([y, -y]))
    out, pull = func.vjp(f, y)
    return out, pull(tuple(o.sin() for o in out))


def outer(f: Callable[..., Any], which: str, x: Any) -> Any:
    func = compat.func
    if which == "jvp":
        return func.jvp(f, (x,), (x.cos(),))
    if which == "vmap":
        return func.vmap(f)(compat.stack([x, -x]))
    if which == "vjp":
        out, pull = func.vjp(lambda x: compat.stack([*map(compat.sum, tree_leaves(f(x)))]), x)
        return out, pull(out.sin())
    leaf = x.clone().requires_grad_()
    out = compat.stack([*map(compat.sum, tree_leaves(f(leaf)))])
    return out, compat.autograd.grad(out.sin().sum(), leaf)


@pytest.mark.parametrize("write", NESTED_WRITES)
@pytest.mark.parametrize("within", ["jvp", "vjp", "vmap"])
@pytest.mark.parametrize("without", ["jvp", "vjp", "vmap", "tape"])
def test_a_view_shows_what_an_inner_transform_writes_into_its_base(
    without: str, within: str, write: str
) -> None:
    """The base and the view are the outer transform's, or the tape's outside, what is written is the
    inner one's. The view is what is read at its place afterwards."""

    def results(read_again: bool) -> Any:
        def f(x: Any, y: Any) -> Any:
            base = x * 1
            view = base[0]
            NESTED_WRITES[write](base, view, y)
            return (base[0] if read_again else view) * 2, base

        x = compat.tensor([[1.0, 2.0], [3.0, 5.0]])
        y = compat.tensor([[0.5, -1.0], [2.0, 0.25]])
        return outer(lambda x: inner(lambda y: f(x, y), within, y), without, x)

    assert str(results(False)) == str(results(True))


def test_a_parameter_s_values_are_written_by_a_transform() -> None:
    """What was computed of tensors that require grad outside, inside of the transform, may be
    written with what it differentiates: both derivatives are right."""
    w = compat.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def f(x: Any) -> Any:
        y = w * 2
        y.mul_(x)
        y[0] = x[1]
        return (y * y).sum()

    x = compat.tensor([0.5, -1.0, 2.0])
    slope = compat.func.grad(f)(x)
    assert slope.tolist() == [0.0, -34.0, 144.0]  # 2 x[1] + 8 w[1]^2 x[1], 8 w[2]^2 x[2]
    (slope.sum() / 16).backward()
    assert w.grad.tolist() == [0.0, -2.0, 6.0]


def _scaled(w: Any, x: Any) -> Any:
    y = compat.zeros(3)
    y.copy_(w)
    return y * x


def _filled(w: Any, x: Any) -> Any:
    y = compat.zeros(3)
    part = y[:2]
    part += w[:2]
    y[2] = w.sum()
    return part.sum() * y * x


def _unrecorded(w: Any, x: Any) -> Any:
    y = compat.ones(3)
    y.mul_(w)
    with compat.no_grad():
        y.add_(1)
    return y * x


def _shown(w: Any, x: Any) -> Any:
    y = w * 2
    part = y[:2]
    part[0] = y.sum()
    return part.sum() * x


def _detached(w: Any, x: Any) -> Any:
    y = x * 1
    other = y.detach()
    y.mul_(w.sum())
    return y * y + other.cos()


@pytest.mark.parametrize("f", [_scaled, _filled, _unrecorded, _shown, _detached])
@pytest.mark.parametrize("within", ["jvp", "vjp", "vmap", "grad"])
def test_parameters_from_outside_are_written_into_what_is_made_inside(
    within: str, f: Callable[..., Any]
) -> None:
    """The derivative by a parameter that the transform closes over had been lost without a word; it
    is that by an argument of the transform outside."""
    x = compat.tensor([0.5, -1.0, 2.0])

    def value(w: Any) -> Any:
        if within == "grad":
            return compat.func.grad(lambda x: f(w, x).sin().sum())(x).sum()
        return sum(t.sum() for t in tree_leaves(inner(lambda x: (f(w, x),), within, x)))

    w = compat.tensor([1.0, 2.0, 3.0], requires_grad=True)
    value(w).backward()
    compat.testing.assert_close(w.grad, compat.func.grad(value)(w.detach()))
