"""examples/nn/dcgan.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running import load
from stopping import stop_and_go_on

import compat as torch
from compat.utils.data import TensorDataset

dcgan = load("dcgan")

SMALL = ["--size", "8", "--width", "16", "--noise", "8"]


def test_learns_and_leaves_files(tmp_path: Path) -> None:
    arguments = [*SMALL, "--epochs", "4", "--lr", "2e-3", "--batch", "32", "--out", str(tmp_path)]
    figures = dcgan.main(arguments)
    assert figures["distance"] < figures["first"] / 2
    assert {f.name for f in tmp_path.iterdir()} == {"dcgan.pt", "dcgan.png", "dcgan_samples.png"}


def test_goes_on_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = torch.rand(40, 1, 8, 8)
    few = TensorDataset(images, torch.zeros(40))
    monkeypatch.setattr(dcgan, "split_digits", lambda: (few, few))
    arguments = [*SMALL, "--epochs", "4", "--batch", "8"]
    through, resumed = stop_and_go_on(dcgan, "save_images", 3, arguments, tmp_path)
    assert through == resumed


@pytest.mark.parametrize("size", [8, 16, 32, 64])
def test_networks_fit_each_other(size: int) -> None:
    images = dcgan.generator(5, 4, size)(torch.randn(2, 5, 1, 1))
    assert images.shape == (2, 1, size, size)
    assert images.abs().max() <= 1
    assert dcgan.discriminator(4, size)(images).shape == (2,)


def test_refuses_other_sizes(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--size is 8, 16"):
        dcgan.main(["--size", "12", "--out", str(tmp_path)])


def test_generator_learns_from_its_own_loss_only() -> None:
    torch.manual_seed(0)
    game = dcgan.Game(5, 4, 8, 1e-3)
    game.judges_optimizer.param_groups[0]["lr"] = 0.0
    images = torch.rand(6, 1, 8, 8)
    state = torch.get_rng_state()
    fakes = game.draws(torch.randn(6, 5, 1, 1))
    loss = game.judged(fakes, 1.0)
    expected = torch.autograd.grad(loss, list(game.draws.parameters()))
    torch.set_rng_state(state)
    game.step(images)
    for p, e in zip(game.draws.parameters(), expected, strict=True):
        assert torch.allclose(p.grad, e, atol=1e-7)
        assert e.abs().max() > 1e-5


def test_distance() -> None:
    real = np.random.default_rng(0).random((50, 4, 4))
    assert dcgan.distance(real, real) == 0
    assert dcgan.distance(real, real + 0.25) == pytest.approx(0.25)
    assert dcgan.distance(real, np.zeros((50, 4, 4))) > 0.7
