"""Digits read by three networks: they learn, go on where they were, and leave their pictures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from running import load
from stopping import stop_and_go_on

import compat as torch

digits = load("digits")


@pytest.mark.parametrize(
    ("model", "epochs", "right"), [("mlp", 12, 0.9), ("lenet", 4, 0.9), ("vit", 2, 0.12)]
)
def test_a_short_run(tmp_path: Path, model: str, epochs: int, right: float) -> None:
    found = digits.main(["--model", model, "--epochs", str(epochs), "--out", str(tmp_path)])
    assert found["accuracy"] > right
    assert found["last_loss"] < found["first_loss"] - (0.01 if model == "vit" else 0.5)
    made = {path.name for path in tmp_path.iterdir()}
    endings = ".pt", "_loss.png", "_error.png", "_difficult.png"
    assert made == {f"digits_{model}{ending}" for ending in endings}


def test_an_interrupted_run_goes_on_exactly(tmp_path: Path) -> None:
    arguments = ["--model", "lenet", "--epochs", "3", "--batch", "256"]
    through, resumed = stop_and_go_on(digits, "train_epoch", 3, arguments, tmp_path)
    assert resumed == through


def test_the_split_is_of_all_digits_once() -> None:
    train, test = digits.split_digits()
    again = digits.split_digits()[1]
    assert (len(train), len(test)) == (1437, 360)
    assert torch.equal(test.tensors[0], again.tensors[0])
    found = np.concatenate([data.tensors[1].numpy() for data in (train, test)])
    assert np.bincount(found).tolist() == np.bincount(digits.load_digits().labels).tolist()


def test_shifts_move_whole_images() -> None:
    images = torch.arange(50 * 9).reshape(50, 1, 3, 3) + 1.0
    moved = digits.shifted(images).numpy()
    offsets = set()
    for before, after in zip(images[:, 0].numpy(), moved[:, 0], strict=True):
        padded = np.pad(before, 1)
        fits = [
            (y, x) for y in range(3) for x in range(3) if (padded[y:, x:][:3, :3] == after).all()
        ]
        offsets.update(fits)
        assert len(fits) == 1
    assert len(offsets) == 9


def test_the_transformer_sees_where_a_patch_is() -> None:
    model = digits.VisionTransformer(depth=1).eval()
    image = torch.rand(1, 1, 8, 8)
    with torch.no_grad():
        model.head.weight.mul_(10)
        assert (model(image) - model(image.flip(-1))).abs().max() > 1e-4


def test_an_unknown_model(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=re.escape("--model is one of mlp, lenet, vit, not cnn")):
        digits.main(["--model", "cnn", "--out", str(tmp_path)])
