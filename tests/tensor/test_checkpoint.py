"""`torch.utils.checkpoint` and `torch.autograd.profiler.record_function`.

Each test runs on `compat` and, where it is installed, on PyTorch; those named so on `compat` only.
"""

from __future__ import annotations

import contextlib
import math
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat
import compat.utils.checkpoint

Checkpoint = Callable[..., Any]


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    if request.param == "compat":
        return compat
    pytest.importorskip("torch.utils.checkpoint")
    return pytest.importorskip("torch")


@pytest.fixture(params=[False, True], ids=["recorded", "reentrant"])
def reentrant(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


class Counted:
    """A function that knows how often it ran."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.runs = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.runs += 1
        return self.f(*args, **kwargs)


# ---------------------------------------------------------------- values and gradients


def test_gradients_are_those_without(torch: Any, reentrant: bool) -> None:
    x, w = leaf(torch, [1.0, 2.0]), leaf(torch, [0.5, -0.5])
    f = Counted(lambda x, w: (x * w).sin().exp() * x)
    f(x, w).sum().backward()
    expected = x.grad.tolist(), w.grad.tolist()
    x.grad = w.grad = None
    f.runs = 0
    y = torch.utils.checkpoint.checkpoint(f, x, w, use_reentrant=reentrant)
    assert f.runs == 1
    assert torch.equal(y, f.f(x, w))
    y.sum().backward()
    assert f.runs == 2
    assert (x.grad.tolist(), w.grad.tolist()) == expected


def test_several_results_and_other_arguments(torch: Any, reentrant: bool) -> None:
    def f(x: Any, scale: float, i: Any) -> Any:
        return x[i] * scale, "name", x.cos()

    x = leaf(torch, [1.0, 2.0])
    a, name, b = torch.utils.checkpoint.checkpoint(
        f, x, 3.0, torch.tensor([1, 1]), use_reentrant=reentrant
    )
    assert name == "name"
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == pytest.approx([-math.sin(1), 6 - math.sin(2)])


def test_one_of_several_results_is_used(torch: Any, reentrant: bool) -> None:
    x = leaf(torch, 2.0)
    a, _ = torch.utils.checkpoint.checkpoint(lambda x: (x * x, x.exp()), x, use_reentrant=reentrant)
    a.backward()
    assert float(x.grad) == 4.0


def test_dict_of_results_and_keywords(torch: Any) -> None:
    x = leaf(torch, 2.0)
    out = torch.utils.checkpoint.checkpoint(
        lambda x, *, scale: {"square": x * x * scale}, x, use_reentrant=False, scale=3
    )
    out["square"].backward()
    assert float(x.grad) == 12.0


def test_what_the_function_closes_over(torch: Any, reentrant: bool) -> None:
    """Parameters get gradients, both ways: reentrance runs backward, which reaches every leaf."""
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    y = torch.utils.checkpoint.checkpoint(lambda x: x * w, x, use_reentrant=reentrant)
    y.backward()
    assert float(w.grad) == 2.0


def test_closure_alone_without_reentrance(torch: Any) -> None:
    """Without reentrance no argument has to require grad."""
    w = leaf(torch, 3.0)
    y = torch.utils.checkpoint.checkpoint(
        lambda x: (x * w).exp(), torch.tensor(2.0), use_reentrant=False
    )
    y.backward()
    assert float(w.grad) == pytest.approx(2 * math.exp(6))


def test_node_of_the_result(torch: Any) -> None:
    x = leaf(torch, 2.0)
    checkpoint = torch.utils.checkpoint.checkpoint
    assert (
        checkpoint(torch.sin, x, use_reentrant=True).grad_fn.name() == "CheckpointFunctionBackward"
    )
    assert checkpoint(torch.sin, x, use_reentrant=False).grad_fn.name() == "SinBackward0"


@pytest.mark.filterwarnings("ignore:None of the inputs")  # without recording, in the outer one
@pytest.mark.parametrize("inner", [False, True])
def test_nested(torch: Any, reentrant: bool, inner: bool) -> None:
    checkpoint = torch.utils.checkpoint.checkpoint
    small = Counted(lambda x: x.sin().exp())

    def big(x: Any, around: Checkpoint) -> Any:
        return around(small, x * 2).cos() * around(small, x)

    x = leaf(torch, [1.0, 2.0])
    big(x, lambda f, x: f(x)).sum().backward()
    expected, x.grad = x.grad.tolist(), None
    small.runs = 0

    def around(f: Any, x: Any) -> Any:
        return checkpoint(f, x, use_reentrant=inner)

    checkpoint(big, x, around, use_reentrant=reentrant).sum().backward()
    assert x.grad.tolist() == pytest.approx(expected)
    assert small.runs == 6


def test_chain_of_parts(torch: Any, reentrant: bool) -> None:
    x = y = leaf(torch, [0.3, 0.7])
    for _ in range(20):
        y = torch.utils.checkpoint.checkpoint(torch.sin, y, use_reentrant=reentrant)
    y.sum().backward()
    z = w = leaf(torch, [0.3, 0.7])
    for _ in range(20):
        w = w.sin()
    w.sum().backward()
    assert x.grad.tolist() == z.grad.tolist()


def test_second_derivative(torch: Any) -> None:
    x = leaf(torch, [1.0, 2.0])
    y = torch.utils.checkpoint.checkpoint(lambda x: x.exp() * x**2, x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == pytest.approx([math.exp(a) * (a * a + 4 * a + 2) for a in (1, 2)], 1e-5)


def test_backward_twice(torch: Any) -> None:
    """Retained, the part runs once more in every pass; freed, it cannot."""
    x = leaf(torch, [1.0, 2.0])
    f = Counted(lambda x: x.exp().sin())
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    first = x.grad.tolist()
    y.backward()
    assert f.runs == 3
    assert x.grad.tolist() == [2 * g for g in first]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_backward_inside_of_the_function(torch: Any) -> None:
    def f(x: Any) -> Any:
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return (g * x).sum()

    x = leaf(torch, [1.0, 2.0])
    torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False).backward()
    assert x.grad.tolist() == [9.0, 36.0]


def test_saved_value_is_computed_when_it_is_read(torch: Any) -> None:
    f = Counted(lambda x: x.sin().exp())
    y = torch.utils.checkpoint.checkpoint(f, leaf(torch, 0.0), use_reentrant=False)
    assert float(y.grad_fn._saved_result.detach()) == 1.0
    assert f.runs == 2


def test_custom_function_inside(torch: Any, reentrant: bool) -> None:
    class XExp(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * y * (1 + x)

    x = leaf(torch, 1.0)
    for count in (1, 2):
        y = torch.utils.checkpoint.checkpoint(
            lambda x: XExp.apply(x.sin()), x, use_reentrant=reentrant
        )
        y.backward()
        s = math.sin(1)
        assert float(x.grad) == pytest.approx(count * math.cos(1) * math.exp(s) * (1 + s))


def test_inside_other_saved_tensors_hooks(torch: Any) -> None:
    """Hooks outside get the arguments, and nothing of what the part saves."""
    packed: list[Any] = []
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(tuple(t.shape)) or t, lambda t: t
    ):
        y = torch.utils.checkpoint.checkpoint(lambda x: x.sin().exp().sum(), x, use_reentrant=False)
    assert [shape for shape in packed if shape != (0,)] == [(2,)]  # PyTorch saves an empty one too
    y.backward()
    assert x.grad.tolist() == pytest.approx([math.cos(a) * math.exp(math.sin(a)) for a in (1, 2)])


def test_where_hooks_are_disabled(torch: Any) -> None:
    x = leaf(torch, 1.0)
    with (
        torch.autograd.graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
    ):
        torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)


def test_without_recording(torch: Any, reentrant: bool) -> None:
    x = leaf(torch, 1.0)
    with torch.no_grad():
        y = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=reentrant)
    assert not y.requires_grad


def test_batch_of_cotangents(torch: Any) -> None:
    x = leaf(torch, [0.0, 1.0])
    y = torch.utils.checkpoint.checkpoint(lambda x: (x * x).sin(), x, use_reentrant=False)
    (jac,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
    assert jac.tolist() == [[0.0, 0.0], [0.0, pytest.approx(2 * math.cos(1))]]


# ---------------------------------------------------------------- memory


def test_compat_intermediates_are_dropped_and_come_back(reentrant: bool) -> None:
    alive: list[weakref.ref[Any]] = []

    def f(x: Any) -> Any:
        y = x.exp()
        alive.append(weakref.ref(y._array))
        return y * y

    x = leaf(compat, [1.0, 2.0])
    plain = f(x)
    assert alive.pop()() is not None
    y = compat.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant)
    assert alive.pop()() is None
    y.sum().backward()
    assert alive.pop()() is None
    got, x.grad = x.grad, None
    plain.sum().backward()
    assert compat.equal(got, x.grad)


def test_compat_nothing_survives(reentrant: bool) -> None:
    """No reference cycles: what is kept dies with the graph, whether backward ran or not."""

    class Held:
        def __call__(self, x: Any) -> Any:
            return x.sin().exp()

    for runs in (False, True):
        x, f = leaf(compat, [1.0, 2.0]), Held()
        refs = [weakref.ref(f), weakref.ref(x), weakref.ref(x._array)]
        y = compat.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant).sum()
        if runs:
            y.backward()
        del x, y, f
        assert [r() for r in refs] == [None] * 3


# ---------------------------------------------------------------- random numbers


@pytest.mark.parametrize("preserve", [False, True])
def test_preserve_rng_state(torch: Any, reentrant: bool, preserve: bool) -> None:
    x = torch.ones(64, requires_grad=True)
    torch.manual_seed(0)
    y = torch.utils.checkpoint.checkpoint(
        lambda x: x * x * torch.rand(64),
        x,
        use_reentrant=reentrant,
        preserve_rng_state=preserve,
    )
    state = torch.get_rng_state()
    y.sum().backward()
    assert torch.equal(x.grad, 2 * y.detach()) is preserve
    assert torch.equal(state, torch.get_rng_state()) is preserve


def test_dropout_in_a_module(torch: Any, reentrant: bool) -> None:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 50), torch.nn.Dropout(0.5))
    x = torch.ones(1, 3, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=reentrant)
    y.sum().backward()
    kept = (y.detach() != 0).to(torch.float32)[0]
    assert torch.equal(model[0].bias.grad, 2 * kept)


# ---------------------------------------------------------------- early stop, contexts


def test_early_stop(torch: Any) -> None:
    """The second run ends once all is there; the argument and the context manager say whether."""
    checkpoint, stop = torch.utils.checkpoint.checkpoint, torch.utils.checkpoint

    def ends(**options: Any) -> int:
        reached = [0]

        def f(x: Any) -> Any:
            y = x.sin()
            reached[0] += 1
            return y + 1

        x = leaf(torch, 1.0)
        checkpoint(f, x, use_reentrant=False, **options).backward()
        assert float(x.grad) == pytest.approx(math.cos(1))
        return reached[0]

    assert ends() == 1
    assert ends(early_stop=False) == 2
    with stop.set_checkpoint_early_stop(False):
        assert ends() == 2
        with stop.set_checkpoint_early_stop(True):
            assert ends(early_stop=False) == 1
    assert ends() == 1


def test_compat_early_stop_passes_the_users_handlers() -> None:
    def f(x: Any) -> Any:
        with contextlib.suppress(Exception):
            x = x.sin()
        return x.tanh()

    x = leaf(compat, 1.0)
    compat.utils.checkpoint.checkpoint(f, x, use_reentrant=False).backward()
    assert float(x.grad) == pytest.approx(math.cos(1) * (1 - math.tanh(math.sin(1)) ** 2))


def test_errors_of_the_second_run_come_through(torch: Any, reentrant: bool) -> None:
    def f(x: Any) -> Any:
        if runs.append(0) or len(runs) > 1:
            raise KeyError("second run")
        return x.sin()

    runs: list[int] = []
    y = torch.utils.checkpoint.checkpoint(f, leaf(torch, 1.0), use_reentrant=reentrant)
    with pytest.raises(KeyError, match="second run"):
        y.backward()


def test_contexts_of_the_runs(torch: Any) -> None:
    log: list[str] = []

    @contextlib.contextmanager
    def noting(name: str) -> Any:
        log.append(f"{name} begins")
        yield
        log.append(f"{name} ends")

    y = torch.utils.checkpoint.checkpoint(
        lambda x: log.append("run") or x.sin(),
        leaf(torch, 1.0),
        use_reentrant=False,
        early_stop=False,
        context_fn=lambda: (noting("first"), noting("second")),
    )
    y.backward()
    assert log == ["first begins", "run", "first ends", "second begins", "run", "second ends"]


# ---------------------------------------------------------------- errors and warnings


def test_use_reentrant_should_be_given(torch: Any) -> None:
    x = leaf(torch, 1.0)
    module = torch.utils.checkpoint
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        y = module.checkpoint(torch.sin, x)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        module.checkpoint_sequential([torch.sin, torch.cos], 2, x)


def test_nothing_requires_grad(torch: Any) -> None:
    x = torch.tensor(1.0)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        y = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True)
    assert not y.requires_grad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use_reentrant": True, "scale": 2}, "Unexpected keyword arguments: scale"),
        ({"use_reentrant": True, "debug": True}, "only supported when use_reentrant=False"),
        ({"use_reentrant": True, "context_fn": tuple}, "only supported when use_reentrant=False"),
        (
            {"use_reentrant": False, "determinism_check": "x"},
            r"determinism_check should be one of \['default', 'none'\], but got x",
        ),
    ],
)
def test_options_that_are_refused(torch: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        torch.utils.checkpoint.checkpoint(torch.sin, leaf(torch, 1.0), **options)


def test_reentrance_knows_only_backward(torch: Any) -> None:
    x = leaf(torch, 1.0)
    for ask in (
        lambda y: torch.autograd.grad(y, x),
        lambda y: y.backward(inputs=[x]),
    ):
        y = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True)
        with pytest.raises(
            RuntimeError, match=r"When use_reentrant=True, torch\.utils\.checkpoint is"
        ):
            ask(y)


def test_reentrant_part_that_is_constant(torch: Any) -> None:
    y = torch.utils.checkpoint.checkpoint(
        lambda x: x.detach() * 1, leaf(torch, 1.0), use_reentrant=True
    )
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.backward()


def changing(*steps: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that does something else in every run."""
    left = list(steps)
    return lambda x: left.pop(0)(x)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            (lambda x: x.sin().exp().cos(), lambda x: x.sin()),
            "A different number of tensors was saved during the original forward and recomputation",
        ),
        (
            (lambda x: x.sin(), lambda x: x.sin().exp().cos()),
            "trying to save more tensors during recomputation than during the original forward",
        ),
        (
            (lambda x: x.sin(), lambda x: x[:1].sin()),
            "different metadata than during the forward pass.\ntensor at position 0",
        ),
        (
            (lambda x: x.sin(), lambda x: x.double().sin()),
            "different metadata than during the forward pass.\ntensor at position 0",
        ),
    ],
)
def test_second_run_does_something_else(
    torch: Any, steps: tuple[Callable[[Any], Any], ...], message: str
) -> None:
    x = leaf(torch, [1.0, 2.0])
    y = torch.utils.checkpoint.checkpoint(
        changing(*steps), x, use_reentrant=False, early_stop=False
    )
    with pytest.raises(torch.utils.checkpoint.CheckpointError, match=message):
        y.sum().backward()


def test_without_checks_anything_goes(torch: Any) -> None:
    x = leaf(torch, [1.0, 2.0])
    y = torch.utils.checkpoint.checkpoint(
        changing(lambda x: x.sin(), lambda x: x.double().sin()),
        x,
        use_reentrant=False,
        determinism_check="none",
    )
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([math.cos(1), math.cos(2)])


def test_compat_values_that_are_missing() -> None:
    x = leaf(compat, [1.0, 2.0])
    y = compat.utils.checkpoint.checkpoint(
        changing(lambda x: x.sin(), lambda x: x),
        x,
        use_reentrant=False,
        determinism_check="none",
    )
    with pytest.raises(compat.utils.checkpoint.CheckpointError, match="value number 0 was not"):
        y.sum().backward()


def test_argument_that_was_written(torch: Any, reentrant: bool) -> None:
    x = leaf(torch, [1.0, 2.0]) * 1
    y = torch.utils.checkpoint.checkpoint(lambda x: x.sin(), x, use_reentrant=reentrant)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_compat_value_that_was_written_inside() -> None:
    """PyTorch takes the value as it is then, and its gradient is wrong."""

    def f(x: Any) -> Any:
        y = x.exp()
        z = y.sin()
        y.add_(1)
        return z

    def grad(**options: Any) -> Any:
        x = leaf(compat, 1.0)
        y = compat.utils.checkpoint.checkpoint(f, x, use_reentrant=False, **options)
        return compat.autograd.grad(y, x)[0]

    assert float(grad()) == pytest.approx(math.cos(math.e) * math.e)  # ends before the write
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*test_checkpoint.py"):
        grad(early_stop=False)


def test_compat_under_transforms(reentrant: bool) -> None:
    """PyTorch refuses; here the transforms see through."""

    def f(x: Any) -> Any:
        return compat.utils.checkpoint.checkpoint(
            lambda x: x.sin().exp(), x, use_reentrant=reentrant
        ).sum()

    x = compat.tensor([1.0, 2.0])
    s, c = np.sin([1.0, 2.0]), np.cos([1.0, 2.0])
    assert compat.func.grad(f)(x).tolist() == pytest.approx((c * np.exp(s)).tolist(), 1e-5)
    hess = np.diag((c * c - s) * np.exp(s))
    np.testing.assert_allclose(compat.func.hessian(f)(x).numpy(), hess, 1e-5)
    with compat.autograd.forward_ad.dual_level():
        dual = compat.autograd.forward_ad.make_dual(x, compat.ones(2))
        tangent = compat.autograd.forward_ad.unpack_dual(f(dual)).tangent
    assert float(tangent) == pytest.approx(float((c * np.exp(s)).sum()))


# ---------------------------------------------------------------- sequences, helpers


@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_sequential(torch: Any, reentrant: bool, segments: int) -> None:
    layers = [Counted(f) for f in (torch.sin, torch.exp, torch.cos, torch.tanh, torch.sin)]
    x = leaf(torch, [0.1, 0.2])
    y = torch.utils.checkpoint.checkpoint_sequential(layers, segments, x, use_reentrant=reentrant)
    y.sum().backward()
    last = 5 - (5 // segments) * (segments - 1)
    assert [f.runs for f in layers[5 - last :]] == [1] * last
    assert all(f.runs in (1, 2) for f in layers)
    got, x.grad = x.grad, None
    z = x
    for f in layers:
        z = f(z)
    z.sum().backward()
    assert torch.equal(y, z) and torch.equal(got, x.grad)


def test_sequential_module(torch: Any, reentrant: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    x = leaf(torch, [[1.0, 2.0]])
    y = torch.utils.checkpoint.checkpoint_sequential(
        model, 3, x, use_reentrant=reentrant, preserve_rng_state=False
    )
    y.sum().backward()
    got = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(got, model.parameters(), strict=True))


def test_sequential_that_is_refused(torch: Any) -> None:
    sequential = torch.utils.checkpoint.checkpoint_sequential
    x = leaf(torch, 1.0)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        sequential([torch.sin], 1, x, use_reentrant=False, scale=2)
    with pytest.raises(ValueError):
        sequential([torch.sin, torch.cos], 3, x, use_reentrant=False)


def test_detach_variable(torch: Any) -> None:
    x, y = leaf(torch, [1.0]), torch.ones(2)
    a, b, c = torch.utils.checkpoint.detach_variable((x * 2, y, 3))
    assert a.is_leaf and a.requires_grad and not b.requires_grad and c == 3
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        torch.utils.checkpoint.detach_variable([x])


# ---------------------------------------------------------------- record_function


def test_record_function(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with torch.autograd.profiler.record_function("square") as part:
        y = x * x
    assert part.name == "square" and part.args is None

    @torch.autograd.profiler.record_function("cube", "x")
    def cube(x: Any) -> Any:
        """The cube."""
        return x**3

    assert cube.__name__ == "cube" and cube.__doc__ == "The cube."
    (y + cube(x)).backward()
    assert float(x.grad) == 16.0
    with pytest.raises(KeyError), torch.autograd.profiler.record_function("fails"):
        raise KeyError
