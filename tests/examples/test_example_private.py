"""DP-SGD: gradients of single images, their clipping, and what the accountant says."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from running import load
from scipy.integrate import quad
from stopping import stop_and_go_on

import compat as torch
import compat.nn.functional as F

private = load("private")

SHORT = ["--steps", "30", "--batch", "128"]


def batch_of(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = private.split_digits()[0].tensors
    return images[:n].double(), labels[:n]


@pytest.fixture
def model() -> torch.nn.Module:
    torch.manual_seed(0)
    return private.network().double()


@pytest.mark.parametrize("way", private.WAYS)
def test_gradients_of_single_images_are_a_loops(model: torch.nn.Module, way: str) -> None:
    images, labels = batch_of(9)
    found = private.WAYS[way](model, images, labels)
    assert all(p.grad is None for p in model.parameters())
    assert list(found) == [name for name, _ in model.named_parameters()]
    for n in range(len(labels)):
        model.zero_grad()
        F.cross_entropy(model(images[n : n + 1]), labels[n : n + 1]).backward()
        for name, p in model.named_parameters():
            np.testing.assert_allclose(found[name][n].numpy(), p.grad.numpy(), atol=1e-13)


def test_clipped_gradients(model: torch.nn.Module) -> None:
    gradients = private.functional_gradients(model, *batch_of(64))
    flat = np.concatenate([g.flatten(1).numpy() for g in gradients.values()], axis=1)
    lengths = np.linalg.norm(flat, axis=1)
    bound = float(np.median(lengths))
    found, norms = private.clipped(gradients, bound)
    np.testing.assert_allclose(norms.numpy(), lengths, rtol=1e-12)
    shorter = np.concatenate([g.flatten(1).numpy() for g in found.values()], axis=1)
    now = np.linalg.norm(shorter, axis=1)
    assert (now <= bound * (1 + 1e-12)).all()
    np.testing.assert_allclose(now, np.minimum(lengths, bound), rtol=1e-12)
    np.testing.assert_allclose(shorter / now[:, None], flat / lengths[:, None], atol=1e-12)


def test_a_gradient_of_nothing_stays_zero() -> None:
    found, _ = private.clipped({"w": torch.zeros(2, 3)}, 1.0)
    assert torch.equal(found["w"], torch.zeros(2, 3))


def test_noise_in_a_step() -> None:
    """The blur has the promised size, beside a mean of zeros."""
    model = torch.nn.Linear(200, 100)
    before = model.weight.detach().clone()
    zeros = {name: torch.zeros(7, *p.shape) for name, p in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    private.private_step(model, optimizer, zeros, bound=0.5, noise=3.0, expected=10)
    moved = (model.weight.detach() - before).numpy()
    assert moved.std() == pytest.approx(3.0 * 0.5 / 10, rel=0.03)
    assert abs(moved.mean()) < 5 * moved.std() / math.sqrt(moved.size)


@pytest.mark.parametrize("order", [2, 5, 16])
@pytest.mark.parametrize(("rate", "noise"), [(0.01, 1.1), (0.2, 0.8), (1.0, 2.0)])
def test_divergence_against_its_integral(order: int, rate: float, noise: float) -> None:
    """E over N(0, noise^2) of the likelihood ratio's power, which the sum is a closed form of."""

    def density(z: float) -> float:
        ratio = (1 - rate) + rate * math.exp((2 * z - 1) / (2 * noise**2))
        return math.exp(
            order * math.log(ratio)
            - z * z / (2 * noise**2)
            - math.log(noise * (2 * math.pi) ** 0.5)
        )

    moment = quad(density, -20 * noise, order + 20 * noise, points=[0, order], limit=500)[0]
    expected = math.log(moment) / (order - 1)
    assert private.divergence(order, rate, noise) == pytest.approx(expected, rel=1e-6)


def test_epsilon_of_the_gaussian_mechanism() -> None:
    """One step on all data, against the exact delta (B. Balle and Y. Wang, 2018)."""
    noise, delta = 3.0, 1e-5
    epsilon = private.spent(1, 1.0, noise, delta)

    def normal(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    def exact(epsilon: float) -> float:
        a, b = 1 / (2 * noise), epsilon * noise
        return normal(a - b) - math.exp(epsilon) * normal(-a - b)

    assert exact(epsilon) <= delta  # what is promised holds,
    assert exact(0.85 * epsilon) > delta  # and is not far from the truth


def test_more_steps_and_less_noise_spend_more() -> None:
    steps = [private.spent(n, 0.1, 1.5, 1e-4) for n in (0, 1, 10, 100)]
    noises = [private.spent(50, 0.1, s, 1e-4) for s in (4.0, 2.0, 1.0)]
    assert steps == sorted(set(steps)) and noises == sorted(set(noises))
    assert steps[0] == 0
    found = private.noise_for(3.0, 50, 0.1, 1e-4)
    assert private.spent(50, 0.1, found, 1e-4) <= 3.0 < private.spent(50, 0.1, 0.99 * found, 1e-4)


def test_short_runs(tmp_path: Path) -> None:
    whole, resumed = stop_and_go_on(private, "private_step", 25, SHORT, tmp_path)
    assert resumed == whole
    assert whole["accuracy"] > 0.5
    assert 7.9 < whole["epsilon"] <= 8
    made = {path.name for path in (tmp_path / "stopped").iterdir()}
    assert made == {"private.pt", "private.png", "private_lengths.png"}
    other = private.main([*SHORT, "--way", "backward", "--out", str(tmp_path / "other")])
    # The other way differs by rounding only, which may change the answer to a digit or two.
    assert other["accuracy"] == pytest.approx(whole["accuracy"], abs=0.02)


def test_an_unknown_way(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=re.escape("--way is one of functional, backward, not x")):
        private.main(["--way", "x", "--out", str(tmp_path)])
