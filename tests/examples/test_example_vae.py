"""examples/nn/vae.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running import load
from stopping import stop_and_go_on

import compat as torch

vae = load("vae")


def test_learns_and_leaves_files(tmp_path: Path) -> None:
    figures = vae.main(["--epochs", "10", "--batch", "32", "--out", str(tmp_path)])
    assert figures["loss"] < figures["first"] - 2
    assert figures["loss"] < 26
    assert figures["loss"] == pytest.approx(figures["cross_entropy"] + figures["divergence"])
    pictures = {"vae.png", "vae_reconstructions.png", "vae_samples.png"}
    assert {f.name for f in tmp_path.iterdir()} == {"vae.pt", *pictures}


def test_goes_on_exactly(tmp_path: Path) -> None:
    arguments = ["--epochs", "4", "--batch", "256", "--hidden", "20"]
    through, resumed = stop_and_go_on(vae, "train_epoch", 3, arguments, tmp_path)
    assert through == resumed


def test_draws_have_the_mean_and_variance_and_pass_gradients() -> None:
    torch.manual_seed(0)
    mean = torch.full((4000,), 2.0, requires_grad=True)
    log_variance = torch.full((4000,), 2 * float(np.log(0.5)), requires_grad=True)
    points = vae.VAE.draw(mean, log_variance)
    assert points.mean().item() == pytest.approx(2.0, abs=0.04)
    assert points.std().item() == pytest.approx(0.5, abs=0.03)
    points.sum().backward()
    assert torch.equal(mean.grad, torch.ones(4000))
    # d(mean + exp(v / 2) noise)/dv is half of what was added.
    assert torch.allclose(log_variance.grad, (points - mean) / 2, atol=1e-5)


def test_divergence_is_that_of_the_definition() -> None:
    """E[log q - log p] over draws of q."""
    model = vae.VAE(64, 16, 3)
    with torch.no_grad():
        for layer, bias in ((model.mean, [0.5, -1.0, 0.0]), (model.log_variance, [0.3, -0.6, 0.0])):
            layer.weight.zero_()
            layer.bias.copy_(torch.tensor(bias))
        _, divergence = vae.parts_of_loss(model, torch.rand(1, 1, 8, 8))
    mean, variance = np.array([0.5, -1.0, 0.0]), np.exp([0.3, -0.6, 0.0])
    z = mean + np.sqrt(variance) * np.random.default_rng(0).normal(size=(200_000, 3))
    log_ratio = -0.5 * (np.log(variance) + (z - mean) ** 2 / variance - z**2).sum(1)
    assert divergence.item() == pytest.approx(log_ratio.mean(), abs=0.02)
