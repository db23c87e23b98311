"""Every optimizer against PyTorch's: random options, 100 steps, saved and loaded in the middle."""

from __future__ import annotations

import copy
import importlib
import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import compat, parameters_of, torch

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

NAMES = ["SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop"]
NAMES += ["Rprop", "ASGD", "Adafactor", "Muon"]
REAL = ("Adafactor", "Muon")  # which take no complex parameters
TOLERANCE = {"float32": 1e-5, "float64": 1e-10, "complex64": 1e-5, "complex128": 1e-10}
FLAGS = ["amsgrad", "maximize", "centered", "decoupled_weight_decay"]
KINDS = (None, "original", "match_rms_adamw")
RANGES: dict[str, tuple[float, float]] = {
    "eps": (1e-6, 1e-2),
    "weight_decay": (0.0, 0.2),
    "momentum": (0.0, 0.95),
    "dampening": (0.0, 0.5),
    "lr_decay": (0.0, 0.1),
    "initial_accumulator_value": (0.0, 1.0),
    "rho": (0.5, 0.99),
    "alpha": (0.5, 0.99),
    "lambd": (0.0, 0.1),
    "t0": (1.0, 60.0),
    "momentum_decay": (0.0, 0.1),
    "beta2_decay": (-1.0, -0.5),
    "d": (1.0, 2.0),
}
PAIRS = {
    "betas": ((0.0, 0.95), (0.5, 0.999)),
    "etas": ((0.2, 0.9), (1.1, 1.6)),
    "step_sizes": ((1e-6, 1e-3), (0.05, 2.0)),
}


def number(low: float, high: float) -> Any:
    return st.one_of(st.sampled_from([low, high]), st.floats(low, high)).map(
        lambda x: round(x, 6) if abs(x) > 1e-5 else x
    )


def a_number_like(name: str, default: Any) -> Any:
    if name in FLAGS:
        return st.booleans()
    if name == "ns_steps":
        return st.integers(1, 6)
    if name == "adjust_lr_fn":
        return st.sampled_from(KINDS)
    if name in PAIRS:
        return st.tuples(*[number(*r) for r in PAIRS[name]])
    if name == "eps" and default.__class__ is tuple:
        return st.tuples(st.none() | number(1e-8, 1e-3), number(1e-3, 0.1))
    return number(*RANGES[name]) if name in RANGES else None


@st.composite
def optionses(draw: Any, name: str) -> dict[str, Any]:
    """Random values for some options of the constructor."""

    options: dict[str, Any] = {"lr": draw(number(1e-3, 0.05))}
    for p in inspect.signature(getattr(torch.optim, name)).parameters.values():
        values = a_number_like(p.name, p.default)
        if values is not None and draw(st.booleans()):
            options[p.name] = draw(values)
    if name == "SGD" and options.get("momentum", 0) > 0 and not options.get("dampening"):
        options["nesterov"] = draw(st.booleans())
    if name == "Muon":
        options["nesterov"] = draw(st.booleans())
    return options


@pytest.fixture(autouse=True)
def all_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's Muon rounds to bfloat16; here it keeps all digits, so that they can be compared."""
    if torch is not None:
        monkeypatch.setattr(torch.Tensor, "bfloat16", lambda self: self.clone())


class Run:
    """Parameters of one library with an optimizer in two groups."""

    def __init__(self, th: Any, name: str, options: dict[str, Any], dtype: str) -> None:
        rng = np.random.default_rng(3)
        shapes: list[tuple[int, ...]] = [(4, 3), (5,), (), (2, 3, 2)]
        if name == "Muon":
            shapes = [(4, 3), (2, 5), (1, 1), (3, 3)]
        self.th, self.dtype = th, dtype
        self.params = [th.tensor(_numbers(rng, s, dtype)).requires_grad_(True) for s in shapes]
        groups = [{"params": self.params[:2]}, {"params": self.params[2:], "lr": 0.02}]
        self.optimizer = getattr(th.optim, name)(groups, **options)

    def step(self, t: int) -> None:
        """A step along random gradients that lean to 1; some are zero, some are None."""
        rng = np.random.default_rng(100 + t)
        for i, p in enumerate(self.params):
            g = _numbers(rng, tuple(p.shape), self.dtype) + 0.3 * (p.detach().numpy() - 1)
            kind = rng.integers(6) if i else 5
            if kind == 1:
                g = g * 0
            p.grad = None if kind == 0 else self.th.tensor(g.astype(self.dtype))
        self.optimizer.step()

    def values(self) -> list[np.ndarray]:
        return [p.detach().numpy().copy() for p in self.params]

    def states(self) -> list[dict[str, Any]]:
        saved = self.optimizer.state_dict()["state"]
        return [{k: v for k, v in saved[i].items() if v is not None} for i in sorted(saved)]


def _numbers(rng: Any, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    x = rng.normal(size=shape)
    return np.asarray(x + 1j * rng.normal(size=shape) if dtype[0] == "c" else x, dtype)


def agree(ours: Run, theirs: Run, tolerance: float) -> None:
    for a, b in zip(ours.values(), theirs.values(), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    for one, other in zip(ours.states(), theirs.states(), strict=True):
        assert one.keys() == other.keys()
        for k, v in one.items():
            assert (str(v.dtype), tuple(v.shape)) == (str(other[k].dtype), tuple(other[k].shape)), k
            scale = 10 * tolerance * max(1.0, float(np.abs(other[k].numpy()).max(initial=0)))
            np.testing.assert_allclose(v.numpy(), other[k].numpy(), rtol=0, atol=scale)


def converted(th: Any, x: Any) -> Any:
    """A state dict with the tensors of the other library."""
    if isinstance(x, dict):
        return {k: converted(th, v) for k, v in x.items()}
    if isinstance(x, list):
        return [converted(th, v) for v in x]
    return th.tensor(x.detach().numpy().copy()) if hasattr(x, "detach") else copy.copy(x)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_trajectories(name: str, data: Any) -> None:
    """100 steps; at the 50th both take over the state of the other."""
    options = data.draw(optionses(name))
    kinds = ["float64", "float32", "complex128"] if name not in REAL else ["float64", "float32"]
    dtype = data.draw(st.sampled_from(kinds))
    ours, theirs = (Run(th, name, options, dtype) for th in (compat, torch))
    tolerance = TOLERANCE[dtype]
    for t in range(100):
        for run in (ours, theirs):
            run.step(t)
        if t in (0, 1, 49):
            agree(ours, theirs, tolerance)
        if t == 49:
            saved = [copy.deepcopy(run.optimizer.state_dict()) for run in (ours, theirs)]
            assert saved[0]["param_groups"] == saved[1]["param_groups"]
            ours.optimizer.load_state_dict(converted(compat, saved[1]))
            theirs.optimizer.load_state_dict(converted(torch, saved[0]))
    agree(ours, theirs, tolerance)


@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=2)
@given(data=st.data())
def test_numbers_follow_the_default_dtype(name: str, default: str, data: Any) -> None:
    """50 steps: the state has PyTorch's dtypes, and nothing is rounded where that does not."""
    options = data.draw(optionses(name))
    if name in ("Adam", "AdamW", "Adagrad") and data.draw(st.booleans()):
        options["fused"] = True  # which keeps single precision
    try:
        for th in (compat, torch):
            th.set_default_dtype(getattr(th, default))
        ours, theirs = (Run(th, name, options, "float64") for th in (compat, torch))
        for t in range(50):
            for run in (ours, theirs):
                run.step(t)
        # Divisions by roots near zero, and Newton-Schulz steps, enlarge what is rounded.
        agree(ours, theirs, 1e-12 if name not in ("Muon", "Adadelta") else 1e-11)
    finally:
        for th in (compat, torch):
            th.set_default_dtype(th.float32)


def _minimised(th: Any, options: dict[str, Any], dtype: str, swap: Any = None) -> list[Any]:
    """The parameters after each of some steps of L-BFGS on a curved valley."""
    rng = np.random.default_rng(5)
    x = th.tensor(_numbers(rng, (3,), dtype)).requires_grad_(True)
    y = th.tensor(_numbers(rng, (2, 2), dtype)).requires_grad_(True)
    optimizer = th.optim.LBFGS([x, y], **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((1 - x).abs() ** 2).sum() + 2 * ((x[:2] ** 2 - y).abs() ** 2).sum()
        loss.backward()
        return loss

    path = []
    for t in range(8):
        loss = optimizer.step(closure)
        path.append(
            np.concatenate(
                [loss.detach().numpy().ravel(), *[p.detach().numpy().ravel() for p in (x, y)]]
            )
        )
        if t == 3 and swap is not None:
            optimizer.load_state_dict(swap(optimizer.state_dict()))
    return path


@given(data=st.data())
def test_lbfgs(data: Any) -> None:
    options = {
        "lr": data.draw(st.sampled_from([0.05, 0.3])),
        "max_iter": data.draw(st.integers(1, 6)),
        "history_size": data.draw(st.integers(1, 5)),
        "line_search_fn": data.draw(st.sampled_from([None, "strong_wolfe"])),
    }
    dtype = data.draw(st.sampled_from(["float64", "complex128"]))
    path = _minimised(torch, options, dtype)
    other = lambda state: converted(compat, converted(torch, state))  # noqa: E731 - there and back
    np.testing.assert_allclose(_minimised(compat, options, dtype), path, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        _minimised(compat, options, dtype, other), path, rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lbfgs_for_100_steps(dtype: str, search: str | None) -> None:
    """Of one iteration each, and so slow that the valley's floor is not reached."""
    paths = []
    for th in (compat, torch):
        rng = np.random.default_rng(2)
        x = th.tensor(_numbers(rng, (4, 3), dtype)).requires_grad_(True)
        scale = th.tensor(rng.uniform(0.5, 2.0, (4, 3)).astype(dtype))
        optimizer = th.optim.LBFGS([x], lr=0.02, max_iter=1, history_size=4, line_search_fn=search)

        def closure(x: Any = x, scale: Any = scale, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (scale * (x - 1) ** 2).sum() + 0.1 * (x**4).sum()
            loss.backward()
            return loss

        path = []
        for _ in range(100):
            optimizer.step(closure)
            path.append(x.detach().numpy().copy())
        paths.append(np.stack(path))
    assert np.abs(paths[1][0] - paths[1][-1]).max() > 0.5
    np.testing.assert_allclose(*paths, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_lbfgs_state_has_the_same_names() -> None:
    states = []
    for th in (compat, torch):
        x = th.tensor([3.0, 2.0], requires_grad=True)
        optimizer = th.optim.LBFGS([x], max_iter=3)

        def closure(x: Any = x, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (x**4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        states.append(optimizer.state_dict()["state"][0])
    assert states[0].keys() == states[1].keys()
    for k in ("n_iter", "func_evals"):
        assert states[0][k] == states[1][k]


@pytest.mark.parametrize("name", [*NAMES, "LBFGS"])
def test_the_signature(name: str) -> None:
    ours, theirs = (getattr(th.optim, name).__init__ for th in (compat, torch))
    assert parameters_of(ours) == parameters_of(theirs)


# ---------------------------------------------------------------- other ways to step


@pytest.mark.parametrize("name", NAMES)
def test_a_compiled_step(name: str) -> None:
    """`compile` makes the step part of a program, with the same numbers."""
    found = []
    for wrap in (lambda f: f, compat.compile):
        w = compat.tensor(np.linspace(-1.0, 1.0, 12).reshape(4, 3), requires_grad=True)
        optimizer = getattr(compat.optim, name)([w], lr=0.01)

        def step(x: Any, w: Any = w, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = ((w - x) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        run = wrap(step)
        for _ in range(10):
            run(compat.ones(4, 3, dtype=compat.float64))
        found.append(w.detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in REAL])
def test_a_differentiable_step(name: str) -> None:
    """The derivative of two steps by what parameter and gradients were made of."""
    found = []
    for th in (compat, torch):
        q = th.tensor([1.0, -2.0, 0.5], dtype=th.float64, requires_grad=True)
        p = q * 1.5
        optimizer = getattr(th.optim, name)([p], lr=0.1, differentiable=True)
        # PyTorch cannot differentiate two steps of these: they write into what they have saved
        for factor in (2.0, 3.0)[: 1 if name in ("Adamax", "Rprop") else 2]:
            p.grad = q**2 * factor
            optimizer.step()
        (p**2).sum().backward()
        found.append(q.grad.numpy())
    np.testing.assert_allclose(*found, rtol=1e-5)  # its step counts in float32


def test_the_product_of_momenta_has_a_derivative() -> None:
    found = []
    for th in (compat, torch):
        given = [
            th.tensor([1.0, -2.0, 0.5], dtype=th.float64, requires_grad=True),
            th.tensor([0.3, 0.1, 0.2], dtype=th.float64, requires_grad=True),
            th.tensor([0.3, 0.2, 0.2], dtype=th.float64, requires_grad=True),
            th.tensor(0.9, dtype=th.float64, requires_grad=True),
        ]
        p = given[0] * 1.5
        p.grad = given[0] ** 2
        optimizer = th.optim.NAdam([p], lr=0.1, differentiable=True)
        names = ("exp_avg", "exp_avg_sq", "mu_product")
        state = {name: x.clone() for name, x in zip(names, given[1:], strict=True)}
        optimizer.state[p].update(state, step=th.tensor(4.0, dtype=th.float64))
        optimizer.step()
        product = optimizer.state[p]["mu_product"]
        slopes = th.autograd.grad((p**2).sum() + product, given)
        found.append([product.item(), *(x for slope in slopes for x in slope.reshape(-1).tolist())])
    np.testing.assert_allclose(*found, rtol=1e-6)


BAD = {
    "lr": -1.0,
    "eps": -1.0,
    "weight_decay": -1.0,
    "momentum": -1.0,
    "momentum_decay": -1.0,
    "lr_decay": -1.0,
    "initial_accumulator_value": -1.0,
    "rho": 1.5,
    "alpha": -1.0,
    "betas": (0.5, 1.0),
    "etas": (1.5, 1.2),
    "d": 0.5,
    "beta2_decay": 0.5,
    "nesterov": True,
    "no such option": 1,
}


@pytest.mark.parametrize("name", [*NAMES, "LBFGS"])
@pytest.mark.parametrize("option", BAD)
def test_options_out_of_range(name: str, option: str) -> None:
    """The same exception for the same option, or none."""
    said = []
    for th in (compat, torch):
        w = th.zeros(2, requires_grad=True)
        try:
            getattr(th.optim, name)([w], **{option: BAD[option]})
        except (ValueError, TypeError) as error:
            text = str(error) if isinstance(error, ValueError) else ""
            said.append((type(error), text))
        else:
            said.append((type(None), ""))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", NAMES)
def test_other_options_are_accepted(name: str) -> None:
    known = inspect.signature(getattr(compat.optim, name).__init__).parameters
    w = [compat.ones(1, 2, requires_grad=True) for _ in range(2)]
    for p, options in zip(w, ({}, {"foreach": True, "capturable": True}), strict=True):
        taken = {k: v for k, v in options.items() if k in known}
        optimizer = getattr(compat.optim, name)([p], **taken)
        p.grad = compat.tensor([[1.0, -2.0]])
        optimizer.step()
    np.testing.assert_array_equal(w[0].detach().numpy(), w[1].detach().numpy())
    assert w[0].detach().numpy().tolist() != [[1.0, 1.0]]


@given(start=st.floats(-3, 3), step=st.floats(0.01, 5), limit=st.integers(0, 20))
@settings(deadline=None)
def test_line_searches_of_other_packages(start: float, step: float, limit: int) -> None:
    """They call the search of `LBFGS` by its private name."""

    def found(th: Any) -> Any:
        def slope(x: Any, t: float, d: Any) -> Any:
            y = (x + t * d).requires_grad_()
            loss = (y**4 - 3 * y**2 + y).sum()
            return loss.item(), th.autograd.grad(loss, y)[0]

        x = th.tensor([start, 0.5], dtype=th.float64)
        f, g = slope(x, 0.0, x)
        search = importlib.import_module(f"{th.__name__}.optim.lbfgs")._strong_wolfe
        f, g, t, calls = search(slope, x, step, -g, f, g, -g.dot(g), max_ls=limit)
        return [f, *g.tolist(), float(t), calls]

    np.testing.assert_allclose(found(compat), found(torch), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("bounds", [None, (0.0, 0.3)])
def test_minima_of_cubics(bounds: Any) -> None:
    for points in [(0.0, 1.0, -1.0, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 0.0, 1.0, 9.0)]:
        found = []
        for th in (compat, torch):
            file = importlib.import_module(f"{th.__name__}.optim.lbfgs")
            given = [th.tensor(x, dtype=th.float64) for x in points]
            found.append(float(file._cubic_interpolate(*given, bounds)))
        assert found[0] == pytest.approx(found[1], rel=1e-12)
