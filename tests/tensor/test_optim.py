"""Optimizers: against the algorithms written out here, and step by step against PyTorch."""

from __future__ import annotations

import copy
import importlib
import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

LIBRARIES = [pytest.param(compat, id="compat")]
if torch is not None:
    LIBRARIES.append(pytest.param(torch, id="torch"))


@pytest.fixture(params=LIBRARIES)
def th(request: pytest.FixtureRequest) -> Any:
    return request.param


OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.001, "momentum": 0.5, "maximize": True}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "betas": (0.5, 0.8), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "amsgrad": True}),
    ("Adam", {"lr": 0.001, "maximize": True, "decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True}),
]
NAMED = [f"{name}({', '.join(f'{k}={v}' for k, v in o.items())})" for name, o in OPTIONS]


# ---------------------------------------------------------------- the algorithms


def sgd(x: float, slopes: list[float], lr: float, **o: Any) -> list[float]:
    """The textbook's loop over one number, whose gradient at step t is ``slopes[t] * x``."""
    path, b = [], None
    for s in slopes:
        g = s * x * (-1 if o.get("maximize") else 1) + o.get("weight_decay", 0) * x
        mu = o.get("momentum", 0)
        if mu:
            b = g if b is None else mu * b + (1 - o.get("dampening", 0)) * g
            g = g + mu * b if o.get("nesterov") else b
        x -= lr * g
        path.append(x)
    return path


def adam(x: float, slopes: list[float], lr: float, **o: Any) -> list[float]:
    path, m, v, largest = [], 0.0, 0.0, 0.0
    b1, b2 = o.get("betas", (0.9, 0.999))
    decay = o.get("weight_decay", 0)
    for t, s in enumerate(slopes, 1):
        g = s * x * (-1 if o.get("maximize") else 1)
        if o.get("decoupled_weight_decay"):
            x -= lr * decay * x
        else:
            g += decay * x
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        largest = max(largest, v) if o.get("amsgrad") else v
        x -= lr * (m / (1 - b1**t)) / (math.sqrt(largest / (1 - b2**t)) + o.get("eps", 1e-8))
        path.append(x)
    return path


def adamw(x: float, slopes: list[float], lr: float, **o: Any) -> list[float]:
    return adam(x, slopes, lr, **{"weight_decay": 0.01, **o, "decoupled_weight_decay": True})


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=NAMED)
def test_the_algorithm(th: Any, name: str, options: dict[str, Any]) -> None:
    slopes = np.random.default_rng(0).uniform(0.5, 2.0, 30).tolist()
    x = th.tensor([3.0], dtype=th.float64, requires_grad=True)
    optimizer = getattr(th.optim, name)([x], **options)
    path = []
    for s in slopes:
        optimizer.zero_grad()
        (s * x * x / 2).sum().backward()
        optimizer.step()
        path.append(x.item())
    expected = {"SGD": sgd, "Adam": adam, "AdamW": adamw}[name](3.0, slopes, **options)
    np.testing.assert_allclose(path, expected, rtol=1e-12)


# ---------------------------------------------------------------- trajectories


def _weights(dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = [(5, 3), (5,), (1, 5), (1,)]
    return [np.asarray(rng.normal(size=s) * 0.5, dtype) for s in shapes]


def _train(th: Any, name: str, options: dict[str, Any], dtype: str, steps: int = 50) -> list[Any]:
    """The parameters after each step of a small regression."""
    rng = np.random.default_rng(2)
    x = th.from_numpy(rng.normal(size=(16, 3)).astype(dtype))
    y = th.from_numpy(rng.normal(size=(16, 1)).astype(dtype))
    m = th.nn.Sequential(th.nn.Linear(3, 5), th.nn.Tanh(), th.nn.Linear(5, 1))
    m.to(getattr(th, dtype))
    with th.no_grad():
        for p, w in zip(m.parameters(), _weights(dtype), strict=True):
            p.copy_(th.from_numpy(w))
    optimizer = getattr(th.optim, name)(
        [{"params": m[0].parameters()}, {"params": m[2].parameters(), "lr": options["lr"] / 2}],
        **options,
    )
    loss = th.nn.MSELoss()
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss(m(x), y).backward()
        optimizer.step()
        path.append([p.detach().numpy().copy() for p in m.parameters()])
    return path


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=NAMED)
def test_steps_as_in_torch(name: str, options: dict[str, Any], dtype: str) -> None:
    # Steps by the sign of a small gradient enlarge how BLAS rounds, which depends on the processor: a
    # hundred times within five steps of Adam.
    steps, tolerance = (20, 2e-5) if dtype == "float32" else (50, 1e-10)
    ours, theirs = (_train(th, name, options, dtype, steps) for th in (compat, torch))
    for a, b in zip(ours, theirs, strict=True):
        for p, q in zip(a, b, strict=True):
            assert p.dtype == q.dtype == np.dtype(dtype)
            np.testing.assert_allclose(p, q, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_complex_parameters(th: Any, name: str) -> None:
    """A complex number moves as its two parts do."""
    options = {"lr": 0.1, **({"momentum": 0.9} if name == "SGD" else {"amsgrad": True})}
    z = th.tensor([1.0 + 2.0j], requires_grad=True)
    parts = [th.tensor([1.0], requires_grad=True), th.tensor([2.0], requires_grad=True)]
    for params, loss in (
        ([z], lambda: ((z.real**2) + 3 * z.imag**2).sum()),
        (parts, lambda: (parts[0] ** 2 + 3 * parts[1] ** 2).sum()),
    ):
        optimizer = getattr(th.optim, name)(params, **options)
        for _ in range(5):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
    found = z.detach().numpy()
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found.real, parts[0].detach().numpy(), rtol=1e-5)
    np.testing.assert_allclose(found.imag, parts[1].detach().numpy(), rtol=1e-5)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=NAMED)
def test_long_parameters(th: Any, name: str, options: dict[str, Any], transposed: bool) -> None:
    """What is computed in blocks is what is computed at once."""
    start = np.linspace(-1, 1, 7)
    found = []
    for copies in (1, 6_000):
        values = np.ascontiguousarray(np.tile(start, (copies, 1)))
        x = th.from_numpy(values.T if transposed else values).requires_grad_()
        optimizer = getattr(th.optim, name)([x], **options)
        for _ in range(3):
            optimizer.zero_grad()
            (x**3).sum().backward()
            optimizer.step()
        result = x.detach().numpy()
        found.append(result.T if transposed else result)
        assert (np.shares_memory(values, result) and x._version == 3) or th is not compat
    np.testing.assert_allclose(found[1], np.tile(found[0], (6_000, 1)), rtol=1e-14)


# ---------------------------------------------------------------- what a step does


def _stepped(th: Any, name: str = "SGD", **options: Any) -> tuple[Any, Any]:
    x = th.tensor([1.0, 2.0], requires_grad=True)
    optimizer = getattr(th.optim, name)([x], lr=0.1, **options)
    (x * x).sum().backward()
    optimizer.step()
    return x, optimizer


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_a_step_is_in_place_and_not_recorded(th: Any, name: str) -> None:
    x = th.tensor([1.0, 2.0], requires_grad=True)
    shared = x.detach()
    optimizer = getattr(th.optim, name)([x], lr=0.1)
    before = x._version
    y = (x * x).sum()
    y.backward(retain_graph=True)
    assert optimizer.step() is None
    assert x._version > before and x.is_leaf and x.requires_grad and x.grad_fn is None
    assert th.equal(x.detach(), shared) and x[0].item() < 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_only_what_has_a_gradient_moves(th: Any) -> None:
    x, y = th.ones(1, requires_grad=True), th.ones(1, requires_grad=True)
    optimizer = th.optim.Adam([x, y], lr=0.1)
    x.sum().backward()
    optimizer.step()
    assert y.item() == 1 and x.item() < 1 and list(optimizer.state) == [x]


def test_zero_grad(th: Any) -> None:
    x, optimizer = _stepped(th)
    grad = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is grad and grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert x.grad is None
    before = x.tolist()
    optimizer.step()
    assert x.tolist() == before


def test_closure(th: Any) -> None:
    x = th.tensor([2.0], requires_grad=True)
    optimizer = th.optim.SGD([x], lr=0.25)

    def closure() -> Any:
        assert th.is_grad_enabled()
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with th.no_grad():
        assert optimizer.step(closure).item() == 4
    assert x.item() == 1


def test_learning_rates_may_change(th: Any) -> None:
    x, y = th.zeros(1, requires_grad=True), th.zeros(1, requires_grad=True)
    optimizer = th.optim.SGD([{"params": [x], "lr": 1.0}, {"params": y}], lr=0.5)
    optimizer.add_param_group({"params": [th.zeros(1, requires_grad=True)]})
    assert [g["lr"] for g in optimizer.param_groups] == [1.0, 0.5, 0.5]
    (x + y).sum().backward()
    optimizer.step()
    assert (x.item(), y.item()) == (-1.0, -0.5)
    optimizer.param_groups[0]["lr"] = th.tensor(3.0)
    optimizer.step()
    assert (x.item(), y.item()) == (-4.0, -1.0)
    assert x.dtype == th.float32


CHANGES: dict[str, Any] = {
    "alpha": 0.6,
    "betas": (0.6, 0.7),
    "dampening": 0.2,
    "eps": 5.0,
    "etas": (0.3, 1.5),
    "lambd": 0.2,
    "lr": 0.2,
    "lr_decay": 0.3,
    "maximize": True,
    "momentum": 0.4,
    "momentum_decay": 0.1,
    "nesterov": True,
    "rho": 0.5,
    "step_sizes": (0.01, 0.02),
    "weight_decay": 0.3,
}
CHANGEABLE = ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax"]
CHANGEABLE += ["Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"]
CHANGED = [
    (name, option)
    for name in CHANGEABLE
    for option in inspect.signature(getattr(compat.optim, name)).parameters
    if option in CHANGES and (name, option) not in (("Rprop", "lr"), ("ASGD", "alpha"))
]


@pytest.mark.parametrize(("name", "option"), CHANGED, ids=lambda x: x)
def test_any_option_may_change(th: Any, name: str, option: str) -> None:
    """What has stepped before goes on as an optimizer that has not, with its state, does."""
    momentum = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    found = []
    for is_new, is_changed in ((False, True), (True, True), (False, False)):
        x = th.tensor([1.5, -2.0], dtype=th.float64, requires_grad=True)
        optimizer = getattr(th.optim, name)([x], lr=0.05, **momentum)
        for i in range(9):
            if i == 2 and is_new:
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = getattr(th.optim, name)([x], lr=0.05, **momentum)
                optimizer.load_state_dict(saved)
            if i == 2 and is_changed:
                optimizer.param_groups[0][option] = CHANGES[option]
            optimizer.zero_grad()
            ((x**4).sum() / 4 - x.sum()).backward()
            optimizer.step()
        found.append(x.detach().numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7)  # loading widens NAdam's product
    assert abs(found[0] - found[2]).max() > 1e-5


def test_the_first_buffer_is_not_the_gradient(th: Any) -> None:
    x = th.tensor([0.0, 0.0], requires_grad=True)
    optimizer = th.optim.SGD([x], lr=1.0, momentum=0.5)
    (x * 4).sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    assert optimizer.state[x]["momentum_buffer"].tolist() == [4.0, 4.0]
    optimizer.step()
    assert x.tolist() == [-6.0, -6.0]


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_memory_that_is_read_only_is_not_written(name: str) -> None:
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    x = compat.from_numpy(array).requires_grad_()
    x.grad = compat.ones(3)
    optimizer = getattr(compat.optim, name)([x], lr=0.1)
    with pytest.raises(RuntimeError, match="read-only"):
        optimizer.step()
    assert array.tolist() == [1.0, 1.0, 1.0]


def test_a_loss_without_curvature(th: Any) -> None:
    """The differences of gradients are 0, so L-BFGS goes on along the gradient."""
    x, slopes = th.zeros(2, requires_grad=True), th.tensor([1.0, -3.0])
    optimizer = th.optim.LBFGS([x], lr=0.5, max_iter=3, max_eval=9)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x * slopes).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    first = 0.5 / 4  # by the sum of absolute values
    assert x.tolist() == [-(first + 1.0), 3 * (first + 1.0)]


def test_names(th: Any) -> None:
    m = th.nn.Linear(1, 1)
    optimizer = th.optim.SGD(m.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"] == [m.weight, m.bias]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


# ---------------------------------------------------------------- saving and loading


@pytest.mark.parametrize(("name", "keys"), [
    ("SGD", ["momentum_buffer"]),
    ("Adam", ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]),
])  # fmt: skip
def test_state(th: Any, name: str, keys: list[str]) -> None:
    options = {"momentum": 0.9} if name == "SGD" else {"amsgrad": True}
    x, optimizer = _stepped(th, name, **options)
    saved = optimizer.state_dict()
    assert list(saved) == ["state", "param_groups"] and list(saved["state"]) == [0]
    assert list(saved["state"][0]) == keys and saved["param_groups"][0]["params"] == [0]
    assert saved["param_groups"][0]["lr"] == 0.1
    for key in keys:
        value = saved["state"][0][key]
        assert value is optimizer.state[x][key] and not value.requires_grad
        assert value.shape == (() if key == "step" else (2,)) and value.dtype == th.float32
    if name == "Adam":
        assert saved["state"][0]["step"].item() == 1

    y = th.tensor([1.0, 2.0], dtype=th.float64, requires_grad=True)
    other = getattr(th.optim, name)([y], lr=9.0)
    other.load_state_dict(copy.deepcopy(saved))
    assert other.param_groups[0]["lr"] == 0.1 and other.param_groups[0]["params"][0] is y
    assert other.state[y][keys[-1]].dtype == th.float64
    with th.no_grad():
        y.copy_(x)
    for p, o in ((x, optimizer), (y, other)):
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
    np.testing.assert_allclose(x.tolist(), y.tolist(), rtol=1e-6)


@pytest.mark.parametrize("wide", [False, True], ids=["narrower", "wider"])
@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=NAMED)
def test_a_state_of_another_dtype_keeps_it(name: str, options: dict[str, Any], wide: bool) -> None:
    """As after `model.double()` in the middle; PyTorch refuses some of these."""
    start = np.random.default_rng(0).normal(size=5)

    def trained(changed: bool) -> tuple[Any, Any]:
        a = compat.tensor(start, requires_grad=True, dtype=compat.float32)
        optimizer = getattr(compat.optim, name)([a], **options)
        for i in range(4):
            if i == 2 and changed:
                if not wide:
                    a.data, a.grad = a.data.double(), None
                for k, v in optimizer.state[a].items() if wide else ():
                    if isinstance(v, compat.Tensor) and v.dim():
                        optimizer.state[a][k] = v.double()
            a.grad = a.detach() ** 3
            optimizer.step()
        return a, optimizer.state[a]

    (a, state), (b, plain) = trained(True), trained(False)
    assert a.dtype is (compat.float32 if wide else compat.float64)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5)
    for k, v in state.items():
        if isinstance(v, compat.Tensor) and v.dim():
            assert v.dtype is (compat.float64 if wide else compat.float32)
            np.testing.assert_allclose(v.numpy(), plain[k].numpy(), rtol=1e-5)


def test_a_state_of_another_shape_is_refused(th: Any) -> None:
    """It would broadcast, and stand for the state of every element."""
    a = th.ones(3, requires_grad=True)
    optimizer = th.optim.Adam([a])
    a.grad = th.ones(3)
    optimizer.step()
    optimizer.state[a]["exp_avg"] = th.ones(1)
    with pytest.raises((RuntimeError, ValueError), match="shape"):
        optimizer.step()


def test_numbers_of_parameters_go_on_through_the_groups(th: Any) -> None:
    params = [th.full((2,), float(i), requires_grad=True) for i in range(3)]
    groups = [{"params": params[:2]}, {"params": params[2:]}]
    optimizer, other = (th.optim.Adam(copy.copy(g) for g in groups) for _ in range(2))
    sum((i + 1) * p.sum() for i, p in enumerate(params)).backward()
    optimizer.step()
    saved = optimizer.state_dict()
    assert [g["params"] for g in saved["param_groups"]] == [[0, 1], [2]]
    other.load_state_dict(saved)
    for p in params:
        assert th.equal(other.state[p]["exp_avg"], optimizer.state[p]["exp_avg"])


def test_what_is_loaded_has_the_dtype_of_the_parameter_but_for_the_count(th: Any) -> None:
    x = th.ones(2, dtype=th.float64, requires_grad=True)
    optimizer = th.optim.Adam([x])
    x.sum().backward()
    optimizer.step()
    dtypes = {k: v.dtype for k, v in optimizer.state[x].items()}
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert {k: v.dtype for k, v in optimizer.state[x].items()} == dtypes
    assert dtypes == {"step": th.float32, "exp_avg": th.float64, "exp_avg_sq": th.float64}


def test_the_state_of_adam_does_not_couple_the_decay_of_adamw(th: Any) -> None:
    x = th.ones(2, requires_grad=True)
    optimizer = th.optim.AdamW([x], lr=0.1)
    optimizer.load_state_dict(th.optim.Adam([x], lr=0.1, weight_decay=0.5).state_dict())
    x.grad = th.zeros(2)
    optimizer.step()
    np.testing.assert_allclose(x.detach().numpy(), 1 - 0.1 * 0.5, rtol=1e-6)


def test_loaded_state_is_a_copy() -> None:
    x, optimizer = _stepped(compat, "Adam")
    saved = optimizer.state_dict()
    y = compat.ones(2, requires_grad=True)
    other = compat.optim.Adam([y])
    other.load_state_dict(saved)
    assert other.state[y]["exp_avg"] is not saved["state"][0]["exp_avg"]
    (y * 5).sum().backward()
    other.step()
    assert optimizer.state[x]["step"].item() == 1 and other.state[y]["step"].item() == 2


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_state_of_torch_can_be_loaded() -> None:
    theirs, optimizer = _stepped(torch, "Adam")
    saved = optimizer.state_dict()
    saved["state"][0] = {k: compat.tensor(v.numpy()) for k, v in saved["state"][0].items()}
    ours = compat.tensor(theirs.detach().numpy(), requires_grad=True)
    other = compat.optim.Adam([ours])
    other.load_state_dict(saved)
    for p, o in ((theirs, optimizer), (ours, other)):
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
    np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-6)


def test_loading_what_does_not_fit(th: Any) -> None:
    _, optimizer = _stepped(th)
    a, b = (th.ones(1, requires_grad=True) for _ in range(2))
    with pytest.raises(ValueError, match="different number of parameter groups"):
        th.optim.SGD([{"params": a}, {"params": b}]).load_state_dict(optimizer.state_dict())
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        th.optim.SGD([a, b]).load_state_dict(optimizer.state_dict())


def test_copies_and_pickles(th: Any) -> None:
    _, optimizer = _stepped(th, "Adam")
    optimizer.zero_grad()
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        (p,) = other.param_groups[0]["params"]
        assert other.state[p]["step"].item() == 1 and repr(other) == repr(optimizer)
        (p * p).sum().backward()
        other.step()
        assert other.state[p]["step"].item() == 2
    assert next(iter(optimizer.state.values()))["step"].item() == 1


def test_repr(th: Any) -> None:
    optimizer = th.optim.SGD([th.ones(1, requires_grad=True)], lr=0.1)
    assert repr(optimizer) == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n"
        "    fused: None\n    lr: 0.1\n    maximize: False\n    momentum: 0\n    nesterov: False\n"
        "    weight_decay: 0\n)"
    )
    groups = [{"params": [th.ones(1, requires_grad=True)], "lr": lr} for lr in (0.1, 0.2)]
    shown = repr(th.optim.Adadelta(groups))
    assert shown.startswith("Adadelta (\nParameter Group 0\n    capturable: False\n")
    assert "    weight_decay: 0\n\nParameter Group 1\n" in shown


# ---------------------------------------------------------------- hooks, own optimizers


def test_hooks(th: Any) -> None:
    x = th.ones(1, requires_grad=True)
    optimizer, seen = th.optim.SGD([x], lr=0.1), []
    before = optimizer.register_step_pre_hook(lambda o, a, k: seen.append(("pre", o, x.item())))
    optimizer.register_step_post_hook(lambda o, a, k: seen.append(("post", o, x.item())))
    x.sum().backward()
    optimizer.step()
    assert [s[0] for s in seen] == ["pre", "post"] and seen[0][1] is optimizer
    assert seen[0][2] == 1 and seen[1][2] == pytest.approx(0.9)
    before.remove()
    optimizer.step()
    assert [s[0] for s in seen] == ["pre", "post", "post"]
    optimizer.register_step_pre_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


def test_state_dict_hooks(th: Any) -> None:
    _, optimizer = _stepped(th, momentum=0.5)
    seen: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda _o: seen.append("save"))
    optimizer.register_state_dict_post_hook(lambda _o, state: {**state, "more": 1})
    optimizer.register_state_dict_post_hook(lambda _o, _s: seen.append("first"), prepend=True)
    saved = optimizer.state_dict()
    assert saved["more"] == 1 and seen == ["save", "first"]
    optimizer.register_load_state_dict_pre_hook(lambda _o, state: {**state, "state": {}})
    optimizer.register_load_state_dict_post_hook(lambda _o: seen.append("loaded"))
    optimizer.load_state_dict(saved)
    assert seen[2:] == ["loaded"] and not optimizer.state


def test_an_optimizer_of_ones_own(th: Any) -> None:
    class Signs(th.optim.Optimizer):
        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        @th.no_grad()
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad.sign(), alpha=-group["lr"])
                    self.state[p]["steps"] = self.state[p].get("steps", 0) + 1

    x = th.tensor([2.0, -3.0], requires_grad=True)
    optimizer, seen = Signs([x], 0.5), []
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    (x * x).sum().backward()
    optimizer.step()
    assert x.tolist() == [1.5, -2.5] and seen == [1]
    assert optimizer.state_dict()["state"] == {0: {"steps": 1}}


def test_an_optimizer_around_another_need_not_call_the_constructor(th: Any) -> None:
    class Twice(th.optim.Optimizer):
        def __init__(self, inner: Any) -> None:
            self.inner = inner
            self.param_groups, self.state = inner.param_groups, inner.state

        def step(self, closure: Any = None) -> None:
            self.inner.step()
            self.inner.step()

    x = th.tensor([2.0], requires_grad=True)
    optimizer = Twice(th.optim.SGD([x], lr=0.5))
    x.sum().backward()
    optimizer.step()
    assert x.tolist() == [1.0]


def test_a_step_can_be_differentiated(th: Any) -> None:
    """d loss(x - lr g) / d lr, through the step."""
    start = th.tensor([3.0], requires_grad=True)
    lr = th.tensor(0.1, requires_grad=True)
    x = start.clone()
    x.retain_grad()
    optimizer = th.optim.SGD([x], lr=lr, differentiable=True)
    (g,) = th.autograd.grad((x * x).sum(), x, create_graph=True)
    x.grad = g
    optimizer.step()
    optimizer.zero_grad()
    assert x.item() == pytest.approx(2.4)
    d_lr, d_start = th.autograd.grad((x * x).sum(), [lr, start])
    assert d_lr.item() == pytest.approx(2 * 2.4 * -6)
    assert d_start.item() == pytest.approx(2 * 2.4 * 0.8)


def test_training_under_a_transform() -> None:
    """Whole training loops, one for each learning rate, by `vmap`."""

    def trained(lr: Any) -> Any:
        x = compat.tensor([3.0], dtype=compat.float64, requires_grad=True)
        optimizer = compat.optim.SGD([x], lr=lr, momentum=0.5)
        for _ in range(3):
            optimizer.zero_grad()
            (x * x).sum().backward()
            optimizer.step()
        return x.detach()

    rates = compat.tensor([0.1, 0.2], dtype=compat.float64)
    found = compat.func.vmap(trained)(rates)
    for rate, x in zip(rates.tolist(), found.tolist(), strict=True):
        assert x == pytest.approx(trained(rate).tolist())


# ---------------------------------------------------------------- errors


ERRORS = [
    ("SGD([], lr=0.1)", ValueError, "optimizer got an empty parameter list"),
    ("SGD(t, lr=0.1)", TypeError, "should be an iterable of Tensors or dicts"),
    ("SGD([3], lr=0.1)", TypeError, "one of the params is int"),
    ("SGD([t], lr=-1)", ValueError, "Invalid learning rate: -1"),
    ("SGD([t], lr=th.ones(2))", ValueError, "Tensor lr must be 1-element"),
    ("SGD([t], momentum=-1)", ValueError, "Invalid momentum value: -1"),
    ("SGD([t], weight_decay=-1)", ValueError, "Invalid weight_decay value: -1"),
    ("SGD([t], nesterov=True)", ValueError, "Nesterov momentum requires a momentum"),
    ("SGD([t * 2])", ValueError, "can't optimize a non-leaf Tensor"),
    ("SGD([{'params': {t}}])", TypeError, "need to be organized in ordered collections"),
    ("SGD([{'params': t}, {'params': t}])", ValueError, "appear in more than one parameter group"),
    ("SGD([('a', t), t])", ValueError, "Some param names are missing"),
    ("SGD([t]).add_param_group(3)", TypeError, "param_group must be a dict"),
    ("SGD([t]).add_param_group({'params': [('a', s)]})", ValueError, "with/without names"),
    ("SGD([t], fused=True, foreach=True)", RuntimeError, "cannot be `True` together"),
    ("Adam([t], betas=(1.0, 0.9))", ValueError, "Invalid beta parameter at index 0: 1.0"),
    ("Adam([t], betas=(0.9, 1.0))", ValueError, "Invalid beta parameter at index 1: 1.0"),
    ("Adam([t], lr=th.ones(1), foreach=True)", ValueError, "lr as a Tensor is not supported"),
    (
        "AdamW([t], betas=(th.ones(1) / 2, th.ones(1) / 2), foreach=True)",
        ValueError,
        "betas[0] as a Tensor is not supported for capturable=False and foreach=True",
    ),
    ("Adam([t], eps=-1)", ValueError, "Invalid epsilon value: -1"),
    ("Adam([t], weight_decay=-1)", ValueError, "Invalid weight_decay value: -1"),
    ("Optimizer([t], {}).step()", NotImplementedError, ""),
]


@pytest.mark.parametrize(("code", "kind", "words"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(th: Any, code: str, kind: type[Exception], words: str) -> None:
    t, s = th.ones(2, requires_grad=True), th.ones(2, requires_grad=True)
    with pytest.raises(kind) as caught:
        eval(f"optim.{code}", {"optim": th.optim, "t": t, "s": s, "th": th})
    assert words in str(caught.value)


def test_duplicates_warn(th: Any) -> None:
    x = th.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        th.optim.SGD([x, x], lr=0.1)


def test_options_of_adam() -> None:
    """What the constructor looks at got into the groups, as `name` and `value`."""
    for cls in (compat.optim.Adam, compat.optim.AdamW):
        plain, each = (cls([compat.nn.Parameter(compat.ones(1))], foreach=f) for f in (None, True))
        assert plain.param_groups[0].keys() == each.param_groups[0].keys()
