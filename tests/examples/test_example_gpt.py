"""examples/nn/text.py and gpt.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import load
from stopping import stop_and_go_on

import compat as torch

text, gpt = load("text"), load("gpt")

SMALL = ["--layers", "2", "--width", "32", "--heads", "2", "--context", "16", "--warm-up", "4"]
SMALL += ["--lr", "1e-2", "--write", "20"]


@pytest.fixture(autouse=True)
def short_test_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The held-out text is long; its beginning will do."""
    whole = text.Text()

    def short() -> Any:
        whole.test = whole.test[:600]
        return whole

    monkeypatch.setattr(gpt, "Text", short)


def small_gpt(dropout: float = 0.0) -> Any:
    torch.manual_seed(0)
    return gpt.GPT(20, 8, 16, 2, 2, dropout)


def test_text_is_numbered_and_split() -> None:
    t = text.Text()
    assert len(t) == 96
    assert t.decode(t.encode("for x in y:\n    z")) == "for x in y:\n    z"
    assert len(t.train) > 300_000
    assert len(t.test) == pytest.approx(len(t.train) / 9, rel=0.01)
    assert int(t.train.max()) < 96


def test_batches_are_followed_by_the_next_character() -> None:
    data = torch.arange(50)
    x, y = text.random_batch(data, 40, 7)
    assert x.shape == (40, 7)
    assert torch.equal(y, x + 1)
    assert len({row[0] for row in x.tolist()}) > 10
    x, y = text.in_order(data, 7)
    assert torch.equal(x.flatten(), torch.arange(49))
    assert torch.equal(y, x + 1)


def test_learns_and_leaves_files(tmp_path: Path) -> None:
    steps = ["--steps", "40", "--evaluate", "40"]
    figures = gpt.main([*SMALL, *steps, "--out", str(tmp_path)])
    assert figures["first"] == pytest.approx(4.56, abs=0.1)  # log(96): nothing is known
    assert figures["loss"] < 3.5
    assert {f.name for f in tmp_path.iterdir()} == {"gpt.pt", "gpt.png"}


@pytest.mark.parametrize("dropout", ["0.0", "0.1"])
def test_goes_on_exactly(tmp_path: Path, dropout: str) -> None:
    arguments = [*SMALL, "--steps", "10", "--evaluate", "4", "--dropout", dropout]
    through, resumed = stop_and_go_on(gpt, "random_batch", 7, arguments, tmp_path)
    assert through == resumed


def test_no_place_sees_what_comes_later() -> None:
    model = small_gpt()
    x = torch.arange(8)[None]
    other = x.clone()
    other[0, 5] = 19
    change = (model(x) - model(other)).abs().amax(dim=(0, 2))
    assert change[:5].max() < 1e-6
    assert change[5:].min() > 1e-5


def test_decays_matrices_only() -> None:
    model = small_gpt()
    decayed, kept = gpt.groups(model, 0.1)
    assert {p.dim() for p in decayed["params"]} == {2}
    assert {p.dim() for p in kept["params"]} == {1}
    assert len(decayed["params"]) + len(kept["params"]) == len(list(model.parameters()))


def test_rate_warms_up_and_falls() -> None:
    factor = gpt.warm_up_and_cosine(10, 110)
    found = [factor(i) for i in (0, 9, 10, 60, 110, 200)]
    assert found == pytest.approx([0.1, 1.0, 1.0, 0.55, 0.1, 0.1])


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_step_compiles(dropout: float) -> None:
    x = torch.arange(16).reshape(2, 8)
    losses = []
    for compiled in (False, True):
        model = small_gpt(dropout)
        optimizer = torch.optim.AdamW(gpt.groups(model, 0.1), lr=torch.tensor(1e-2))
        step = gpt.training_step(model, optimizer, 1.0)
        step = torch.compile(step) if compiled else step
        losses.append([step(x, x + 1).item() for _ in range(5)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert all(values[-1] < values[0] - 0.3 for values in losses)
    assert "1 programs" in step.explain()


def test_compiled_run_reports_both_times(tmp_path: Path) -> None:
    arguments = [*SMALL, "--steps", "16", "--evaluate", "16", "--out", str(tmp_path)]
    compiled = gpt.main([*arguments, "--compile", "1"])
    eager = gpt.main(arguments)
    assert compiled["loss"] == pytest.approx(eager["loss"], rel=1e-3)
    assert compiled["compiled_ms"] > 0 < compiled["eager_ms"]
