"""examples/nn/lstm_lm.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import load
from stopping import stop_and_go_on

import compat as torch

lstm_lm = load("lstm_lm")
text = load("text")

SMALL = ["--batch", "8", "--window", "12", "--embedded", "16", "--hidden", "32", "--write", "20"]


@pytest.fixture(autouse=True)
def short_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of eight windows for each stream, so that runs come to its end and start again."""
    whole = text.Text()
    whole.train, whole.test = whole.train[:800], whole.train[800:1600]
    monkeypatch.setattr(lstm_lm, "Text", lambda: whole)


def model_and_characters() -> tuple[Any, Any]:
    torch.manual_seed(0)
    return lstm_lm.LanguageModel(20, 8, 16, 2), torch.randint(20, (3, 14))


def test_learns_and_leaves_files(tmp_path: Path) -> None:
    arguments = [*SMALL, "--steps", "60", "--lr", "1e-2", "--out", str(tmp_path)]
    figures = lstm_lm.main(arguments)
    assert figures["first"] == pytest.approx(4.56, abs=0.1)  # log(96): nothing is known
    assert figures["loss"] < 3.6
    assert {f.name for f in tmp_path.iterdir()} == {"lstm_lm.pt", "lstm_lm.png"}


@pytest.mark.parametrize("stop", [4, 11], ids=["within the text", "after its end"])
def test_goes_on_exactly_with_the_state(tmp_path: Path, stop: int) -> None:
    arguments = [*SMALL, "--steps", "12", "--evaluate", "3"]
    through, resumed = stop_and_go_on(lstm_lm, "training_step", stop, arguments, tmp_path)
    assert through == resumed


def test_streams_are_in_order() -> None:
    inputs, targets = lstm_lm.streams(torch.arange(23), 3)
    assert inputs.tolist() == [list(range(7 * i, 7 * i + 7)) for i in range(3)]
    assert torch.equal(targets, inputs + 1)


def test_carried_state_is_that_of_one_long_window() -> None:
    model, x = model_and_characters()
    whole, _ = model(x)
    first, state = model(x[:, :9])
    second, _ = model(x[:, 9:], lstm_lm.detached(state))
    assert torch.allclose(torch.cat([first, second], dim=1), whole, atol=1e-6)
    forgotten, _ = model(x[:, 9:])
    assert (forgotten - second).abs().max() > 1e-3


def test_gradients_end_at_the_window() -> None:
    model, x = model_and_characters()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    window = x[:, :6], x[:, 1:7]
    _, state = lstm_lm.training_step(model, optimizer, window, None, 1.0)
    assert not any(part.requires_grad for part in state)
    _, attached = model(x[:, :6])
    with pytest.raises(RuntimeError, match="second time"):
        for _ in range(2):
            model(x[:, 6:12], attached)[0].sum().backward()
