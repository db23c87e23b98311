"""What functions and modules do with unusual arguments, and hooks of everything: here as in PyTorch."""

from __future__ import annotations

import copy
import importlib
import math
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from outcomes import Row, both, check, module, rows

import compat


@both()
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield module(request.param)


@pytest.mark.parametrize("row", rows("arguments"), ids=str)
def test_transcript(torch: Any, row: Row) -> None:
    check(torch, row)


# ---------------------------------------------------------------- hooks


def test_a_backward_hook_returns_one_gradient_for_each(torch: Any) -> None:
    m = torch.nn.ReLU()
    m.register_full_backward_hook(lambda m, gi, go: gi[0] * 2)
    with pytest.raises(RuntimeError, match=r"invalid number of grad_input, got 2, but expected 1"):
        m(torch.ones(2, requires_grad=True)).sum().backward()


def test_none_from_a_backward_pre_hook_is_zeros(torch: Any) -> None:
    m = torch.nn.ReLU()
    m.register_full_backward_pre_hook(lambda m, go: (None,))
    x = torch.ones(2, requires_grad=True)
    m(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_a_backward_hook_is_for_gradients_of_results(torch: Any) -> None:
    """A later pass that comes to the arguments by another way is none of its business."""

    class Kept(torch.nn.Module):  # type: ignore[name-defined]
        def forward(self, x: Any) -> Any:
            self.inside = x * 2
            return self.inside * 3

    m, seen = Kept(), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append(go[0].item()) or (gi[0] * 10,))
    x = torch.ones(1, requires_grad=True)
    y = m(x)
    for root, expected in ((y, 60.0), (m.inside, 2.0), (y, 60.0)):
        x.grad = None
        root.sum().backward(retain_graph=True)
        assert x.grad.item() == expected
    assert seen == [1.0, 1.0]


def test_hooks_of_all_modules(torch: Any) -> None:
    hooks = importlib.import_module(f"{torch.__name__}.nn.modules.module")
    log: list[Any] = []

    def note(what: str) -> Any:
        return lambda m, *rest: log.append((what, type(m).__name__))

    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    layers = pickle.loads(pickle.dumps(copy.deepcopy(layers)))
    layers[0].register_forward_hook(note("own"))
    handles = [
        hooks.register_module_forward_pre_hook(note("before")),
        hooks.register_module_forward_hook(note("after")),
        hooks.register_module_full_backward_pre_hook(note("back")),
        hooks.register_module_full_backward_hook(note("through")),
    ]
    layers(torch.ones(1, 2, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    assert log == [
        ("before", "Sequential"),
        ("before", "Linear"),
        ("after", "Linear"),
        ("own", "Linear"),
        ("before", "ReLU"),
        ("after", "ReLU"),
        ("after", "Sequential"),
        ("back", "Sequential"),
        ("back", "ReLU"),
        ("through", "ReLU"),
        ("back", "Linear"),
        ("through", "Linear"),
        ("through", "Sequential"),
    ]
    del log[:]
    layers(torch.ones(1, 2))
    assert log == [("own", "Linear")]


def test_hooks_of_all_registrations(torch: Any) -> None:
    hooks = importlib.import_module(f"{torch.__name__}.nn.modules.module")
    seen: list[str] = []
    kinds = ("parameter", "buffer", "module")
    handles = [
        getattr(hooks, f"register_module_{kind}_registration_hook")(
            lambda m, name, x, kind=kind: seen.append(f"{kind} {name}")
        )
        for kind in kinds
    ]
    torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.BatchNorm1d(1, affine=False))
    for handle in handles:
        handle.remove()
    names = ["running_mean", "running_var", "num_batches_tracked"]
    expected = ["parameter weight", *(f"buffer {name}" for name in names), "module 0", "module 1"]
    assert seen == expected


def test_hooks_of_all_optimizers(torch: Any) -> None:
    optimizer = importlib.import_module(f"{torch.__name__}.optim.optimizer")
    log: list[Any] = []
    p = torch.ones(1, requires_grad=True)
    p.grad = torch.ones(1)
    mine = torch.optim.SGD([p], lr=0.5)
    mine.register_step_pre_hook(lambda o, args, kwargs: ((args[0], lambda: 7), kwargs))
    mine.register_step_post_hook(lambda o, args, kwargs: log.append(len(args)))
    first = optimizer.register_optimizer_step_pre_hook(
        lambda o, args, kwargs: log.append(args == (o,))
    )
    last = optimizer.register_optimizer_step_post_hook(lambda o, args, kwargs: log.append("end"))
    assert mine.step() == 7
    first.remove()
    last.remove()
    mine.step()
    assert log == [True, 2, "end", 2] and p.tolist() == [0.0]


def test_hooks_of_all_are_seen_by_a_compiled_function() -> None:
    hooks = importlib.import_module("compat.nn.modules.module")
    layer, seen = compat.nn.Linear(1, 1), []
    step = compat.compile(lambda x: layer(x))
    for _ in range(3):
        step(compat.ones(1))
    assert step.explain().startswith("1 programs")
    with hooks.register_module_forward_hook(lambda m, args, out: seen.append(out)):
        for _ in range(3):
            step(compat.ones(1))
    assert len(seen) == 3


# ---------------------------------------------------------------- modules and optimizers


def test_averages_of_integers_are_cut_off(torch: Any) -> None:
    utils = torch.optim.swa_utils
    for multi in (None, utils.get_ema_multi_avg_fn(0.7)):
        m = torch.nn.BatchNorm1d(2)
        average = utils.AveragedModel(m, multi_avg_fn=multi, use_buffers=True)
        counts = []
        for i in range(4):
            for _ in range(3 + i):
                m(torch.ones(3, 2))
            average.update_parameters(m)
            counts.append(average.module.num_batches_tracked.item())
        assert counts == ([3, 5, 7, 9] if multi is None else [3, 4, 6, 9])


def test_a_vector_of_one_is_loaded_into_a_number(torch: Any) -> None:
    m = torch.nn.Module()
    m.p = torch.nn.Parameter(torch.tensor(1.0))
    m.load_state_dict({"p": torch.tensor([3.0])})
    assert m.p.shape == () and m.p.item() == 3.0


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3, math.inf, -math.inf])
def test_clipping_by_any_norm(torch: Any, order: float) -> None:
    p, q = torch.zeros(3, requires_grad=True), torch.zeros(2, requires_grad=True)
    p.grad, q.grad = torch.tensor([3.0, -4.0, 0.0]), torch.tensor([1.0, 2.0])
    found = torch.nn.utils.clip_grad_norm_([p, q], 1.0, norm_type=order)
    expected = {0: 2.0, 0.5: 37.7766, 1: 10.0, 2: 5.4772, 3: 4.6416, math.inf: 4.0, -math.inf: 0.0}
    assert math.isclose(found.item(), expected[order], rel_tol=1e-4)
    assert math.isclose(q.grad[0].item(), min(1.0, 1.0 / (found.item() + 1e-6)), rel_tol=1e-5)


def test_parameter_dict_as_a_dict(torch: Any) -> None:
    d = torch.nn.ParameterDict({"b": torch.ones(1), "a": torch.zeros(2)})
    e = torch.nn.ParameterDict([("z", torch.ones(3)), ("a", torch.ones(1))])
    assert (
        list(d | e) == ["a", "b", "z"] and list(d) == ["a", "b"] and list(reversed(d)) == ["b", "a"]
    )
    d |= e
    assert d["a"] is e["a"] and list(d.copy()) == ["a", "b", "z"]
    assert d.setdefault("a") is e["a"] and d.setdefault("q", torch.ones(1)).requires_grad
    assert d.popitem()[0] == "q" and list(d.fromkeys(["u", "v"], 1).items()) == [("u", 1), ("v", 1)]
    d.clear()
    assert len(d) == 0 and not list(d.parameters())


def test_more_examples_than_were_said_warn(torch: Any) -> None:
    class Four(torch.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            return iter(range(4))

        def __len__(self) -> int:
            return 3

    loader = torch.utils.data.DataLoader(Four())
    assert len(list(loader)) == 4 and len(loader) == 3
    with pytest.warns(UserWarning, match="was reported to be 3"):
        assert len(list(loader)) == 4


def test_module_in_memory_and_compiled() -> None:
    m = compat.nn.Sequential(compat.nn.Linear(2, 2), compat.nn.BatchNorm1d(2)).eval()
    x = compat.ones(3, 2)
    expected = m(x)
    m.compile()
    for _ in range(3):
        assert compat.allclose(m(x), expected)
    assert m.forward.explain() == "1 programs"
    other = copy.deepcopy(m)
    with compat.no_grad():
        other[0].weight.zero_()
    assert "forward" not in vars(other) and not compat.equal(other(x), expected)
    weight = m[0].weight
    assert m.to_empty(device="cpu") is m and m[0].weight is weight and weight.shape == (2, 2)


def test_bfloat16_module(torch: Any) -> None:
    if torch is compat:
        pytest.importorskip("ml_dtypes")
    m = torch.nn.BatchNorm1d(2).bfloat16()
    assert m.weight.dtype == torch.bfloat16 and m.num_batches_tracked.dtype == torch.int64


def test_numbers_of_two_types_are_not_close(torch: Any) -> None:
    with pytest.raises(AssertionError, match=r"do not match|dtype"):
        torch.testing.assert_close(1, 1.0)
    torch.testing.assert_close(1, 1.0, check_dtype=False)


def test_arguments_of_schedules(torch: Any) -> None:
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1)
    with pytest.raises(TypeError, match="lr_lambda should be a function, but got int"):
        torch.optim.lr_scheduler.MultiplicativeLR(optimizer, [1])
    assert torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 0).get_last_lr() == [0.1]


def test_arguments_of_loaders(torch: Any) -> None:
    with pytest.raises(AssertionError):
        list(torch.utils.data.DataLoader([1], timeout=5))
    with pytest.raises(ValueError, match="positive integer value, but got num_samples=0"):
        torch.utils.data.DataLoader([], shuffle=True)


# ---------------------------------------------------------------- integers, dtypes and shapes

_BY_AXIS = "sum mean prod amax argmax max median logsumexp softmax cumsum cummax sort argsort topk"
_AXES_ALONE = "unbind unsqueeze squeeze any all nansum kthvalue count_nonzero"


@pytest.mark.parametrize("name", f"{_BY_AXIS} {_AXES_ALONE}".split())
def test_true_is_no_axis(torch: Any, name: str) -> None:
    """It was meant for `keepdim`, or another flag."""
    before = (1,) if name in ("topk", "kthvalue") else ()
    x = torch.zeros(2, 3)
    with pytest.raises(TypeError):
        getattr(x, name)(*before, dim=True)
    if before:
        with pytest.raises(TypeError):
            getattr(x, name)(True)


@pytest.mark.parametrize(
    "name", ["neg", "negative", "trunc", "fix", "round", "sign", "sgn", "frac", "conj_physical"]
)
def test_out_of_the_same_dtype(torch: Any, name: str) -> None:
    x, out = torch.tensor([1.5]), torch.zeros(1)
    assert torch.equal(getattr(torch, name)(x, out=out), getattr(torch, name)(x))
    with pytest.raises(RuntimeError):
        getattr(torch, name)(x, out=torch.zeros(1, dtype=torch.float64))


def test_out_of_signbit_is_boolean(torch: Any) -> None:
    with pytest.raises(RuntimeError):
        torch.signbit(torch.tensor([-1.0]), out=torch.zeros(1))


def test_nonzero_writes_no_tuple(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="as_tuple is True"):
        torch.nonzero(torch.ones(2), as_tuple=True, out=torch.zeros(2, dtype=torch.int64))


def test_bytes_are_masks_of_index_put(torch: Any) -> None:
    mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
    values = torch.tensor([5.0, 6.0])
    with pytest.warns(UserWarning, match="uint8 is now deprecated"):
        found = torch.zeros(3).index_put((mask,), values)
    assert torch.equal(found, torch.zeros(3).index_put((mask.bool(),), values))


@pytest.mark.parametrize("accumulate", [False, True])
def test_values_of_index_put_have_no_axes_too_many(torch: Any, accumulate: bool) -> None:
    """Unlike those of ``x[at] = values``."""
    at = torch.tensor([0, 1])
    for values in (torch.ones(1, 2), torch.ones(1, 1)):
        with pytest.raises(RuntimeError, match="shape mismatch"):
            torch.zeros(3).index_put((at,), values, accumulate)
        x = torch.zeros(3)
        x[at] = values
        assert x.tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("shape", [(1.0, 2.0), None, "ab"])
def test_unravel_index_wants_integers(torch: Any, shape: Any) -> None:
    with pytest.raises(TypeError):
        torch.unravel_index(torch.tensor([1]), shape)
    with pytest.raises(TypeError):
        torch.unravel_index(torch.tensor([0.5]), (2, 2))


@pytest.mark.parametrize("name", ["arange", "range", "linspace", "logspace"])
def test_numbers_in_order_go_into_views(torch: Any, name: str) -> None:
    """An `out` with room for just as many keeps its shape: it may be a view, whose base is written."""
    ends = {"arange": (0, 4), "range": (0, 3)}.get(name, (0, 3, 4))
    x = torch.zeros(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch wants to be rid of `range`
        expected = getattr(torch, name)(*ends)
        found = getattr(torch, name)(*ends, out=x.narrow(1, 1, 2))
    assert torch.equal(found, expected.reshape(2, 2).to(found.dtype))
    assert torch.equal(x[:, 1:], found) and not x[:, 0].any()


def test_integers_of_many_bits_are_floats(torch: Any) -> None:
    for dtype in (torch.float64, torch.float32, torch.complex128):
        found = torch.tensor([2**65, -(2**64), 1], dtype=dtype)
        assert found.tolist() == [2.0**65, -(2.0**64), 1.0]
    assert torch.tensor([2**65, 0], dtype=torch.bool).tolist() == [True, False]
    for dtype in (None, torch.int64):
        with pytest.raises((ValueError, RuntimeError)):
            torch.tensor([2**65], dtype=dtype)


def test_a_list_in_itself_is_no_tensor(torch: Any) -> None:
    rows: list[Any] = [0]
    rows.append(rows)
    for make in (torch.tensor, torch.as_tensor):
        with pytest.raises(TypeError, match="self-referential"):
            make(rows)


def test_empty_vectors_have_any_axis(torch: Any) -> None:
    empty = torch.zeros(0)
    assert torch.cat([empty, empty], 1).shape == (0,)


@pytest.mark.parametrize("high", [2049, 5000, 32752])
def test_random_integers_of_halves_stay_below(torch: Any, high: int) -> None:
    """Integers of more bits than a half has are rounded, but not up to `high`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that they are rounded
        x = torch.empty(20000, dtype=torch.float16).random_(high - 40, high)
    assert high - 40 - 16 <= x.min().item() and x.max().item() < high


@pytest.mark.parametrize("returned", [None, "1", 1j, [1.0]], ids=repr)
def test_apply_wants_real_numbers(torch: Any, returned: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    with pytest.raises(TypeError):
        x.apply_(lambda a: returned)
    with pytest.raises(TypeError):
        x.map_(x.clone(), lambda a, b: returned)
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("at", [0, 1])
def test_sizes_are_no_floating_tensors(torch: Any, at: int) -> None:
    size: list[Any] = [2, 3]
    size[at] = torch.tensor(3.0)
    with pytest.raises(TypeError):
        torch.ones(tuple(size))
    with pytest.raises(TypeError):
        torch.ones(*size)
    with pytest.raises(TypeError):
        torch.ones(6).reshape(*size)


def test_sobol_points_have_the_default_dtype(torch: Any) -> None:
    engine = torch.quasirandom.SobolEngine(2)
    assert engine.draw(2).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert engine.draw(2).dtype is torch.float64
        assert engine.draw(2, dtype=torch.float32).dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_what_deterministic_algorithms_were_told(torch: Any) -> None:
    for told in [(False, True), (True, False), (True, True), (False, False)]:
        torch.use_deterministic_algorithms(told[0], warn_only=told[1])
        assert torch.are_deterministic_algorithms_enabled() is told[0]
        assert torch.is_deterministic_algorithms_warn_only_enabled() is told[1]


def test_subclasses_are_those_of_tensors(torch: Any) -> None:
    with pytest.raises(TypeError):
        torch.ones(2).as_subclass(object)


def test_new_by_size(torch: Any) -> None:
    assert torch.ones(2, dtype=torch.int64).new(size=(3, 4)).shape == (3, 4)
