"""Schedules of learning rates against PyTorch's: 200 epochs with random options, saved in between."""

from __future__ import annotations

import collections
import copy
import inspect
import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import compat, parameters_of, torch

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

EPOCHS = 200


class Fading:
    """A factor of the epoch, with an attribute that a state dict keeps."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, epoch: float) -> float:
        return 1 - self.rate * (epoch % 7) / 10


unit = st.floats(0.05, 0.95)
fading = st.builds(Fading, unit)
few = st.integers(1, 30)
OPTIONS: dict[str, dict[str, Any]] = {
    "LambdaLR": {"lr_lambda": fading | st.tuples(fading, fading).map(list)},
    "MultiplicativeLR": {"lr_lambda": st.builds(Fading, st.floats(0.0, 0.2))},
    "StepLR": {"step_size": few, "gamma": st.floats(0.5, 1.1)},
    "MultiStepLR": {"milestones": st.lists(st.integers(1, 150), max_size=6).map(sorted), "gamma": unit},
    "ConstantLR": {"factor": unit, "total_iters": few},
    "LinearLR": {"start_factor": unit, "end_factor": unit, "total_iters": few},
    "ExponentialLR": {"gamma": st.floats(0.9, 1.01)},
    "PolynomialLR": {"total_iters": st.integers(2, 300), "power": st.floats(0.5, 3.0)},
    "CosineAnnealingLR": {"T_max": few, "eta_min": st.floats(0, 0.05)},
    "CosineAnnealingWarmRestarts": {
        "T_0": few,
        "T_mult": st.integers(1, 3),
        "eta_min": st.floats(0, 0.05),
    },
    "CyclicLR": {
        "base_lr": unit | st.lists(unit, min_size=2, max_size=2),
        "max_lr": unit,
        "step_size_up": few,
        "step_size_down": st.none() | few,
        "mode": st.sampled_from(["triangular", "triangular2", "exp_range"]),
        "gamma": st.floats(0.9, 1.0),
        "scale_fn": st.none() | st.builds(Fading, unit),
        "scale_mode": st.sampled_from(["cycle", "iterations"]),
        "cycle_momentum": st.booleans(),
        "base_momentum": unit,
        "max_momentum": unit,
    },
    "OneCycleLR": {
        "max_lr": unit | st.lists(unit, min_size=2, max_size=2),
        "total_steps": st.integers(EPOCHS + 1, 300),
        "pct_start": st.floats(0.1, 0.45),
        "anneal_strategy": st.sampled_from(["cos", "linear"]),
        "cycle_momentum": st.booleans(),
        "base_momentum": unit,
        "max_momentum": unit,
        "div_factor": st.floats(2, 30),
        "final_div_factor": st.floats(2, 100),
        "three_phase": st.booleans(),
    },
    "SWALR": {
        "swa_lr": unit | st.lists(unit, min_size=2, max_size=2),
        "anneal_epochs": st.integers(0, 30),
        "anneal_strategy": st.sampled_from(["cos", "linear"]),
    },
    "ReduceLROnPlateau": {
        "mode": st.sampled_from(["min", "max"]),
        "factor": unit,
        "patience": st.integers(0, 4),
        "threshold": st.floats(0, 0.1),
        "threshold_mode": st.sampled_from(["rel", "abs"]),
        "cooldown": st.integers(0, 3),
        "min_lr": st.floats(0, 0.01) | st.lists(st.floats(0, 0.01), min_size=2, max_size=2),
    },
}  # fmt: skip
SIMPLE = ["StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "CosineAnnealingLR"]
REQUIRED = {"lr_lambda", "total_steps", "swa_lr"}


def class_of(th: Any, name: str) -> Any:
    return getattr(th.optim.swa_utils if name == "SWALR" else th.optim.lr_scheduler, name)


def an_optimizer(th: Any, kind: str = "SGD", lr: Any = 0.1) -> Any:
    w = [th.zeros(2, requires_grad=True) for _ in range(2)]
    return getattr(th.optim, kind)([{"params": w[:1]}, {"params": w[1:], "lr": 0.03}], lr=lr)


@st.composite
def optionses(draw: Any, name: str) -> dict[str, Any]:
    known = inspect.signature(class_of(torch, name)).parameters
    return {
        k: draw(v)
        for k, v in OPTIONS[name].items()
        if k in REQUIRED or known[k].default is inspect.Parameter.empty or draw(st.booleans())
    }


def numbers_of(optimizer: Any) -> list[float]:
    found = []
    for group in optimizer.param_groups:
        for k in ("lr", "momentum", "betas"):
            found += np.ravel(group.get(k, 0.0)).tolist()
    return found


def run(optimizer: Any, scheduler: Any, epochs: int = EPOCHS) -> list[list[float]]:
    """Rates and momenta of all epochs; metrics for those that want one."""
    metrics = np.random.default_rng(0).normal(size=epochs).cumsum()
    found = []
    for metric in metrics:
        optimizer.step()
        found.append([*numbers_of(optimizer), *map(float, scheduler.get_last_lr())])
        if type(scheduler).__name__ == "ReduceLROnPlateau":
            scheduler.step(metric)
        else:
            scheduler.step()
    return found


def same(a: Any, b: Any) -> bool:
    """Whether two state dicts say the same."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return bool(np.isclose(a, b, rtol=1e-10, atol=1e-14))
    return bool(a == b)


@pytest.mark.parametrize("name", OPTIONS)
@given(data=st.data())
def test_the_rates(name: str, data: Any) -> None:
    options = data.draw(optionses(name))
    kind = data.draw(st.sampled_from(["SGD", "Adam"]))
    pairs = []
    for th in (compat, torch):
        optimizer = an_optimizer(th, kind)
        pairs.append((optimizer, class_of(th, name)(optimizer, **copy.deepcopy(options))))
    half = [run(*pair, epochs=EPOCHS // 2) for pair in pairs]
    np.testing.assert_allclose(*half, rtol=1e-10, atol=1e-14)
    saved = [copy.deepcopy(scheduler.state_dict()) for _, scheduler in pairs]
    assert same(*saved)
    for (_, scheduler), state in zip(pairs, reversed(saved), strict=True):
        scheduler.load_state_dict(state)
    np.testing.assert_allclose(
        *[run(*p, epochs=EPOCHS // 2) for p in pairs], rtol=1e-10, atol=1e-14
    )


@given(data=st.data())
def test_one_after_the_other_and_at_once(data: Any) -> None:
    names = data.draw(st.lists(st.sampled_from(SIMPLE), min_size=1, max_size=3))
    options = [data.draw(optionses(name)) for name in names]
    cuts = st.lists(
        st.integers(1, 150), min_size=len(names) - 1, max_size=len(names) - 1, unique=True
    )
    milestones = sorted(data.draw(cuts))
    is_chain = data.draw(st.booleans())
    found, states = [], []
    for th in (compat, torch):
        optimizer, lib = an_optimizer(th), th.optim.lr_scheduler
        parts = [getattr(lib, n)(optimizer, **o) for n, o in zip(names, options, strict=True)]
        whole = (
            lib.ChainedScheduler(parts)
            if is_chain
            else lib.SequentialLR(optimizer, parts, milestones)
        )
        found.append(run(optimizer, whole))
        states.append(whole.state_dict())
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-14)
    assert same(*states)


def joined(lib: Any, optimizer: Any, kind: str) -> Any:
    part = lambda name, *args, **options: getattr(lib, name)(optimizer, *args, **options)  # noqa: E731
    rise, fall, last = part("LinearLR", 0.1), part("ExponentialLR", 0.5), part("ConstantLR", 0.25)
    if kind == "a chain, then another":
        return part("SequentialLR", [lib.ChainedScheduler([rise, fall]), last], [4])
    if kind == "the second at once":
        return part("SequentialLR", [rise, fall], [0])
    if kind == "in a sequence":
        return part("SequentialLR", [part("SequentialLR", [rise, fall], [3]), last], [6])
    assert kind == "flat"
    return part("SequentialLR", [rise, fall, last], [3, 6])


# That one made of others begins in its constructor is taken for a step, in both libraries.
TOO_EARLY = pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")


@TOO_EARLY
@pytest.mark.parametrize("kind", ["a chain, then another", "the second at once"])
def test_joined_schedules_in_sequence(kind: str) -> None:
    found = []
    for th in (compat, torch):
        optimizer = an_optimizer(th)
        found.append(run(optimizer, joined(th.optim.lr_scheduler, optimizer, kind), 12))
    np.testing.assert_allclose(*found, rtol=1e-10)


@TOO_EARLY
def test_a_sequence_in_a_sequence_is_one() -> None:
    """PyTorch's begins one epoch too early."""
    found = []
    for kind in ("in a sequence", "flat"):
        optimizer = an_optimizer(compat)
        found.append(run(optimizer, joined(compat.optim.lr_scheduler, optimizer, kind), 12))
    np.testing.assert_allclose(*found, rtol=1e-10)


@pytest.mark.parametrize("name", [*OPTIONS, "SequentialLR", "ChainedScheduler"])
def test_the_signature(name: str) -> None:
    ours, theirs = (class_of(th, name).__init__ for th in (compat, torch))
    assert parameters_of(ours) == parameters_of(theirs)


def test_all_are_there() -> None:
    assert set(torch.optim.lr_scheduler.__all__) <= set(compat.optim.lr_scheduler.__all__)
    assert set(torch.optim.swa_utils.__all__) == set(compat.optim.swa_utils.__all__)
    for name in torch.optim.lr_scheduler.__all__:
        getattr(compat.optim.lr_scheduler, name)


CALLS = {
    "an epoch": lambda s, o: (o.step(), s.step(), s.step(5)),
    "before the optimizer": lambda s, o: s.step(),
    "get_lr": lambda s, o: s.get_lr(),
    "overridden": lambda s, o: (setattr(o, "step", lambda: None), s.step()),
    "as it should be": lambda s, o: (o.step(), s.step(), s.step()),
}


@pytest.mark.parametrize("call", CALLS)
def test_warnings(call: str) -> None:
    found = []
    for th in (compat, torch):
        optimizer = an_optimizer(th)
        scheduler = th.optim.lr_scheduler.LinearLR(optimizer)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            CALLS[call](scheduler, optimizer)
        found.append([(w.category, str(w.message)[:30]) for w in caught])
        found[-1].append(optimizer.param_groups[0]["lr"])  # type: ignore[arg-type]
    assert found[0] == found[1]


BAD: dict[str, Any] = {
    "no optimizer": lambda lib, o: lib.StepLR(3, 1),
    "too many functions": lambda lib, o: lib.LambdaLR(o, [abs] * 3),
    "nothing to resume": lambda lib, o: lib.StepLR(o, 3, last_epoch=2),
    "no steps": lambda lib, o: lib.OneCycleLR(o, 0.1),
    "negative steps": lambda lib, o: lib.OneCycleLR(o, 0.1, total_steps=-1),
    "negative epochs": lambda lib, o: lib.OneCycleLR(o, 0.1, epochs=-2, steps_per_epoch=3),
    "share": lambda lib, o: lib.OneCycleLR(o, 0.1, 20, pct_start=2),
    "strategy": lambda lib, o: lib.OneCycleLR(o, 0.1, 20, anneal_strategy="x"),
    "mode": lambda lib, o: lib.CyclicLR(o, 0.1, 0.2, mode="x"),
    "lengths": lambda lib, o: lib.CyclicLR(o, [0.1], 0.2),
    "factor": lambda lib, o: lib.ReduceLROnPlateau(o, factor=1.0),
    "better": lambda lib, o: lib.ReduceLROnPlateau(o, mode="x"),
    "threshold": lambda lib, o: lib.ReduceLROnPlateau(o, threshold_mode="x"),
    "least": lambda lib, o: lib.ReduceLROnPlateau(o, min_lr=[1, 2, 3]),
    "no schedulers": lambda lib, o: lib.SequentialLR(o, [], []),
    "milestones": lambda lib, o: lib.SequentialLR(o, [lib.StepLR(o, 2)] * 2, []),
    "a plateau": lambda lib, o: lib.ChainedScheduler([lib.ReduceLROnPlateau(o)]),
    "constant": lambda lib, o: lib.ConstantLR(o, 2),
    "linear": lambda lib, o: lib.LinearLR(o, 0),
    "linear's end": lambda lib, o: lib.LinearLR(o, 0.5, 2),
    "period": lambda lib, o: lib.CosineAnnealingWarmRestarts(o, 0),
    "growth": lambda lib, o: lib.CosineAnnealingWarmRestarts(o, 2, 0),
    "negative epoch": lambda lib, o: lib.CosineAnnealingWarmRestarts(o, 2).step(-1),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_errors(case: str) -> None:
    said = []
    for th in (compat, torch):
        with pytest.raises(Exception) as info:
            BAD[case](th.optim.lr_scheduler, an_optimizer(th))
        said.append((info.type, str(info.value)[:60]))
    assert said[0] == said[1]


def test_a_rate_in_a_tensor_stays_the_same_object() -> None:
    rates = []
    for th in (compat, torch):
        lr = th.tensor(0.5)
        optimizer = th.optim.Adam([th.zeros(2, requires_grad=True)], lr=lr)
        scheduler = th.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        for _ in range(3):
            optimizer.step()
            scheduler.step()
        assert optimizer.param_groups[0]["lr"] is lr
        rates.append([lr.item(), *map(float, scheduler.get_last_lr())])
    np.testing.assert_allclose(*rates)


def test_a_schedule_can_be_pickled() -> None:
    optimizer = an_optimizer(compat)
    scheduler = compat.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.5, 3)
    run(optimizer, scheduler, 5)
    twin = pickle.loads(pickle.dumps(scheduler))
    assert run(twin.optimizer, twin, 9) == run(optimizer, scheduler, 9)


TENSORS: dict[str, Any] = {
    "CyclicLR": ["base_lr", "max_lr", "base_momentum", "max_momentum"],
    "OneCycleLR": ["max_lr", "base_momentum", "max_momentum"],
    "SWALR": ["swa_lr"],
}


@pytest.mark.parametrize("name", TENSORS)
def test_options_in_tensors_are_those_of_the_beginning(name: str) -> None:
    """They may be the optimizer's own rate, which steps change in place."""
    rates = []
    for th in (compat, torch):
        lr = th.tensor(0.5)
        optimizer = th.optim.SGD([th.zeros(2, requires_grad=True)], lr=lr, momentum=0.9)
        where = th.optim.swa_utils if name == "SWALR" else th.optim.lr_scheduler
        more = {"total_steps": 8} if name == "OneCycleLR" else {}
        given = dict.fromkeys(TENSORS[name], lr)
        scheduler = getattr(where, name)(optimizer, **given, **more)
        found = []
        for _ in range(6):
            optimizer.step()
            scheduler.step()
            found.append(lr.item())
        rates.append(found)
    np.testing.assert_allclose(*rates, rtol=1e-6)


def test_the_state_of_every_schedule_can_be_saved() -> None:
    for by, reader in ((compat, compat), (torch, compat), (compat, torch)):
        optimizer = an_optimizer(by)
        state = by.optim.lr_scheduler.MultiStepLR(optimizer, [2, 2, 5]).state_dict()
        file = io.BytesIO()
        by.save(state, file)
        file.seek(0)
        read = reader.load(file)
        assert read == state and type(read["milestones"]) is collections.Counter


# ---------------------------------------------------------------- averages


AVERAGES: dict[str, Any] = {
    "plain": lambda swa: {},
    "ema": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.7)},
    "ema, one by one": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.7)},
    "swa": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "swa, one by one": lambda swa: {"avg_fn": swa.get_swa_avg_fn(), "use_buffers": True},
}


@pytest.mark.parametrize("kind", AVERAGES)
def test_averages(kind: str) -> None:
    found = []
    for th in (compat, torch):
        rng = np.random.default_rng(0)
        model = th.nn.Sequential(th.nn.Linear(3, 4), th.nn.BatchNorm1d(4))
        average = th.optim.swa_utils.AveragedModel(model, **AVERAGES[kind](th.optim.swa_utils))
        for _ in range(4):
            with th.no_grad():
                for p in model.parameters():
                    p.copy_(th.tensor(rng.normal(size=tuple(p.shape)).astype("f")))
            model(th.tensor(rng.normal(size=(5, 3)).astype("f")))
            average.update_parameters(model)
        batches = [th.tensor(rng.normal(size=(6, 3)).astype("f")) for _ in range(3)]
        states = [{k: v.numpy().copy() for k, v in average.state_dict().items()}]
        th.optim.swa_utils.update_bn([[b, None] for b in batches], average)
        states.append({k: v.numpy() for k, v in average.state_dict().items()})
        states.append({"out": average.eval()(batches[0]).detach().numpy()})
        found.append(states)
    for ours, theirs in zip(*found, strict=True):
        assert ours.keys() == theirs.keys()
        for k in ours:
            np.testing.assert_allclose(ours[k], theirs[k], rtol=1e-5, atol=1e-6, err_msg=k)


@pytest.mark.parametrize("is_training", [False, True])
def test_only_statistics_are_made_anew(is_training: bool) -> None:
    """They are the means over all batches alike; the momentum and the mode stay what they were."""
    rng = np.random.default_rng(0)
    batches = [rng.normal(size=(n, 2)).astype("f") for n in (3, 5, 4)]
    norm = compat.nn.BatchNorm1d(2, momentum=0.3)
    model = compat.nn.Sequential(norm, compat.nn.Dropout(0.5)).train(is_training)
    norm(compat.ones(4, 2))
    compat.optim.swa_utils.update_bn(map(compat.tensor, batches), model)
    mean, var = (np.mean([f(b) for b in batches], axis=0) for f in (_mean, _unbiased))
    np.testing.assert_allclose(norm.running_mean.numpy(), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(norm.running_var.numpy(), var, rtol=1e-5)
    assert norm.momentum == 0.3 and norm.num_batches_tracked.item() == 3
    assert [m.training for m in model.modules()] == [is_training] * 3


def _mean(batch: Any) -> Any:
    return batch.mean(axis=0)


def _unbiased(batch: Any) -> Any:
    return batch.var(axis=0, ddof=1)


# ---------------------------------------------------------------- what schedules say of themselves


WITH_CLOSED_FORMS: dict[str, dict[str, Any]] = {
    "StepLR": {"step_size": 3, "gamma": 0.5},
    "MultiStepLR": {"milestones": [2, 5, 5, 9], "gamma": 0.3},
    "ConstantLR": {"factor": 0.4, "total_iters": 4},
    "LinearLR": {"start_factor": 0.2, "end_factor": 0.9, "total_iters": 6},
    "ExponentialLR": {"gamma": 0.9},
    "PolynomialLR": {"total_iters": 7, "power": 2.0},
    "CosineAnnealingLR": {"T_max": 12, "eta_min": 0.01},
}


@pytest.mark.filterwarnings("ignore:The epoch parameter:UserWarning")
@pytest.mark.parametrize("name", WITH_CLOSED_FORMS)
def test_an_epoch_by_its_number_has_the_rate_of_so_many_steps(name: str) -> None:
    optimizer, other = an_optimizer(compat), an_optimizer(compat)
    by_steps = class_of(compat, name)(optimizer, **WITH_CLOSED_FORMS[name])
    by_number = class_of(compat, name)(other, **WITH_CLOSED_FORMS[name])
    for epoch in range(1, 12):
        optimizer.step(), other.step()
        by_steps.step()
        by_number.step(epoch)
        np.testing.assert_allclose(numbers_of(optimizer), numbers_of(other), rtol=1e-12)


def test_every_cycle_is_half_as_high() -> None:
    optimizer = an_optimizer(compat)
    scheduler = compat.optim.lr_scheduler.CyclicLR(
        optimizer, 0.1, 0.5, step_size_up=2, mode="triangular2", cycle_momentum=False
    )
    rates = []
    for _ in range(12):
        optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
        scheduler.step()
    expected = [0.1 + 0.4 * h * s for h in (1.0, 0.5, 0.25) for s in (0.0, 0.5, 1.0, 0.5)]
    np.testing.assert_allclose(rates, expected, rtol=1e-12)
